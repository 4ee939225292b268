"""What the signatures on entries that come in are worth, by the keys that are registered here."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.identities import signers_in
from recollect.model.principals import as_principal
from recollect.model.record import Candidate
from recollect.model.vocabulary import Authority
from recollect.rules.signatures import Standing
from recollect.rules.signers import ELSEWHERE, Signers
from recollect.rules.standing import CLAIMED


class ImportedSignatures:
    """Judges each candidate of an import, and counts. Keys are read once, when the first signature is met."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.entries: Counter[str] = Counter()
        self.vouches: Counter[str] = Counter()

    def fault(self, candidate: Candidate) -> str | None:
        """Why an entry may not come in, if so: this store knows that its key does not count, or is another's.

        A key that nobody registered here is neither: who holds it may be said later. A vouch under a key that no longer counts
        is told as it came, and weighs nothing; one under another's key is a forgery.
        """
        body = _said(candidate)
        if body is None:
            return None
        own = self._signers.of_version(body)
        if own is not None and own.word not in (Standing.GOOD, Standing.UNKNOWN, ELSEWHERE):
            return own.problem
        vouches = [*self._signers.of_vouchers(body)]
        forged = next((vouch for vouch in vouches if vouch.is_forged), None)
        if forged is not None:
            return f"vouchers: {forged.problem}"
        self.entries.update([own.word] if own is not None else ())
        self.vouches.update(vouch.word for vouch in vouches)
        return None

    def believed(self, candidate: Candidate) -> Candidate:
        """Return a candidate with the authority that its author's signature earns here."""
        return candidate.model_copy(update=self.believed_fields(candidate))

    def believed_fields(self, candidate: Candidate) -> dict[str, Any]:
        """Return the authority that the signature of an entry's author earns here, as fields; none if it earns nothing.

        The policy says who is believed, and how far; a file that claims less for an entry is believed in that. A signature
        is over words, author, time and parents, so that it grants nothing else that the file says of it.
        """
        signers = {as_principal(name): earns for name, earns in self._engine.policy.trust.signers.items()}
        order = self._engine.policy.conflict.authority_order
        body = _said(candidate) if signers and self._engine.caller.trusted else None
        own = self._signers.of_version(body) if body is not None else None
        if own is None or own.word != Standing.GOOD or own.name not in signers:
            return {}
        claimed = candidate.meta.get(CLAIMED, {}).get("authority")
        stated = [Authority(claimed)] if claimed in set(Authority) else []
        lowest = max((signers[own.name], *stated), key=order.index)
        return {"authority": lowest, "authority_reason": f"signed_by:{own.name}"}

    @cached_property
    def _signers(self) -> Signers:
        with self._engine.read() as reader:
            return signers_in(reader, self._engine.tenant)


def _said(candidate: Candidate) -> Mapping[str, Any] | None:
    """What a signature may be over; ``None`` if there is certainly none."""
    if candidate.signature is None and not candidate.meta:
        return None
    return {
        "signature": candidate.signature,
        "content": candidate.content,
        "author": candidate.author.to_dict() if candidate.author is not None else {},
        "parent_refs": candidate.parent_refs,
        "meta": candidate.meta,
    }
