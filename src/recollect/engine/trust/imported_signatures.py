"""What comes along with entries: what their signatures are worth here, and vouches that they gained after they were taken in.

Such vouches are an entry of the ledger with their values beside it, and nobody's who acts here: they are handed on as told.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from recollect.engine import operations
from recollect.engine.context import Engine, find
from recollect.engine.read.assemble import to_memory
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import Pen
from recollect.engine.trust.identities import signers_in
from recollect.engine.write.drafting import parse_candidate
from recollect.formats.entries import MAX_VOUCHERS
from recollect.model.caller import as_principal
from recollect.model.errors import BadInput
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.record import ENTRY_ORIGIN, Candidate, Memory
from recollect.model.vocabulary import Authority
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.ledger.fold import TOLD
from recollect.rules.privacy.gate import privacy_gate
from recollect.rules.trust.authority import CLAIMED
from recollect.rules.trust.signatures import Standing
from recollect.rules.trust.signers import ELSEWHERE, Signers, origin_in
from recollect.stores.protocol import Reader


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


Voucher = Mapping[str, Any]


class Added(NamedTuple):
    """How many ``vouches`` were added; or the reason why none were, in a word, and what is wrong."""

    vouches: int
    reason: str | None = None
    detail: str | None = None


def add_later_vouches(
    engine: Engine, here: Memory, vouchers: Sequence[Voucher], signatures: ImportedSignatures
) -> Added:
    """Add to a memory those who vouch for it elsewhere and of whom nobody here has heard yet, each once; all, or none.

    Only an application brings such news: others do not speak for those who vouched.
    """
    new = _unheard_of(here, vouchers)
    if not new or not engine.caller.trusted:
        return Added(0)
    try:
        told = _passed(engine, here, new, signatures)
    except BadInput as error:
        return Added(0, "bad_input", f"vouchers: {error.message}")
    return told if isinstance(told, Added) else Added(_record(engine, here.id, told))


def _unheard_of(here: Memory, vouchers: Sequence[Voucher]) -> list[Voucher]:
    """Those who neither wrote it nor vouch for it already, here or where it comes from."""
    known = {here.author.id, *(one["id"] for one in (*_came_along(here), *here.vouchers))}
    known = {as_principal(id) for id in known}
    return [one for one in vouchers if as_principal(one["id"]) not in known]


def _came_along(here: Memory) -> Sequence[Voucher]:
    return tuple(origin_in({"meta": here.meta}).get("vouchers", ()))


def _passed(
    engine: Engine, here: Memory, new: Sequence[Voucher], signatures: ImportedSignatures
) -> list[Voucher] | Added:
    """What may be kept of new vouches: they go through the same checks as those that come along with a new memory."""
    every = [*_came_along(here), *new]
    if len(every) > MAX_VOUCHERS:
        raise BadInput(f"with those that are here already they are more than {MAX_VOUCHERS:,}.")
    _saying(engine, here.content, every)
    if (fault := signatures.fault(_saying(engine, here.content, new))) is not None:
        return Added(0, "signature", fault)
    words_apart = _saying(engine, "The memory itself was looked at when it came", new)
    passed = privacy_gate(Draft(words_apart), Context(engine.policy, engine.caller, engine.clock(), False))
    if isinstance(passed, Rejection):
        return Added(0, passed.code, f"vouchers: {passed.detail}")
    return list(passed.candidate.meta[ENTRY_ORIGIN]["vouchers"])


def _saying(engine: Engine, content: str, vouchers: Sequence[Voucher]) -> Candidate:
    return parse_candidate(engine, {"content": content, "meta": {ENTRY_ORIGIN: {"vouchers": list(vouchers)}}})


@operations.failures_noted(Node.HOTPATH, Op.LINK)
@again_on_conflict
def _record(engine: Engine, id: str, told: Sequence[Voucher]) -> int:
    """One entry for all of them. Whoever agrees with a memory elsewhere does not age its stream here."""
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id).stream)
        stored = find(engine, writer, id)
        once = _vouched_once(engine, writer, id)
        new = [one for one in told if as_principal(one["id"]) not in once]
        new = _unheard_of(to_memory(stored), new) if stored.body is not None else []
        if not new:
            return 0
        pen = Pen(engine, writer, stream, engine.now(), ages=False)
        pen.load(stored)
        pen.record(Event.VOUCHED, stored.state.id, rule="vouched:elsewhere", amendment={TOLD: new})
        pen.finish()
        operations.keep(engine, writer, [operations.about(engine, pen.stored(stored.state.id), Op.LINK, pen.at)])
        return len(new)


def _vouched_once(engine: Engine, reader: Reader, id: str) -> set[str]:
    """Those who have vouched for it here, and may have taken that back: an old file does not bring it back."""
    entries = reader.entries_about(engine.tenant, id)
    actors = {entry.actor for entry in entries if entry.event is Event.VOUCH_WITHDRAWN}
    return set(reader.names_of(engine.tenant, sorted(actors)).values())
