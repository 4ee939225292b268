"""Judge the signatures of imported entries, and add vouches that an entry gained elsewhere after it was imported.

Such vouches are one ledger entry with their values; no actor of this store made them, and they are exported as they came.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from recollect.engine import operations
from recollect.engine.context import Engine, find
from recollect.engine.read.assemble import to_memory
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import StreamWriter
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


class ImportedSignatures:
    """Judges and counts the signatures of an import's candidates. Keys are read once, when the first one is met."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.entries: Counter[str] = Counter()
        self.vouches: Counter[str] = Counter()

    def fault(self, candidate: Candidate) -> str | None:
        """Return why an entry is refused, if it is: this store knows that its key does not count, or is another's.

        A key that nobody registered here is admitted: its holder may be registered later. A vouch under a key that no longer
        counts is kept as it came, and weighs nothing; one under another's key is a forgery.
        """
        body = _signed_body(candidate)
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

    def grant_authority(self, candidate: Candidate) -> Candidate:
        """Return a candidate with the authority that its author's signature earns here, if it earns any.

        The policy names the signers and the authority that each earns; a lower one that the file claims is kept. A signature
        covers content, author, time and parents, so that it grants nothing else that the file claims.
        """
        signers = {as_principal(name): earns for name, earns in self._engine.policy.trust.signers.items()}
        order = self._engine.policy.conflict.authority_order
        body = _signed_body(candidate) if signers and self._engine.caller.trusted else None
        own = self._signers.of_version(body) if body is not None else None
        if own is None or own.word != Standing.GOOD or own.name not in signers:
            return candidate
        claimed = candidate.meta.get(CLAIMED, {}).get("authority")
        stated = [Authority(claimed)] if claimed in set(Authority) else []
        lowest = max((signers[own.name], *stated), key=order.index)
        return candidate.model_copy(update={"authority": lowest, "authority_reason": f"signed_by:{own.name}"})

    @cached_property
    def _signers(self) -> Signers:
        with self._engine.read() as reader:
            return signers_in(reader, self._engine.tenant)


def _signed_body(candidate: Candidate) -> Mapping[str, Any] | None:
    """Return the fields that signatures cover; ``None`` if there is certainly no signature."""
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
    """How many ``vouches`` were added; or the code of the reason why none were, and what is wrong."""

    vouches: int
    reason: str | None = None
    detail: str | None = None


def add_later_vouches(
    engine: Engine, here: Memory, vouchers: Sequence[Voucher], signatures: ImportedSignatures
) -> Added:
    """Add to a memory the vouches from elsewhere that are new here, each once; all, or none.

    Only an application may: other callers do not speak for the vouchers.
    """
    new = _find_new(here, vouchers)
    if not new or not engine.caller.trusted:
        return Added(0)
    try:
        checked = _check_vouchers(engine, here, new, signatures)
    except BadInput as error:
        return Added(0, "bad_input", f"vouchers: {error.message}")
    return checked if isinstance(checked, Added) else Added(_record(engine, here.id, checked))


def _find_new(here: Memory, vouchers: Sequence[Voucher]) -> list[Voucher]:
    """Return the vouchers who neither wrote a memory nor vouch for it already, here or where it comes from."""
    known = {here.author.id, *(one["id"] for one in (*_imported_vouchers(here), *here.vouchers))}
    known = {as_principal(id) for id in known}
    return [one for one in vouchers if as_principal(one["id"]) not in known]


def _imported_vouchers(here: Memory) -> Sequence[Voucher]:
    return tuple(origin_in({"meta": here.meta}).get("vouchers", ()))


def _check_vouchers(
    engine: Engine, here: Memory, new: Sequence[Voucher], signatures: ImportedSignatures
) -> list[Voucher] | Added:
    """Return new vouchers after the checks that those of a new memory go through, or why none is added."""
    every = [*_imported_vouchers(here), *new]
    if len(every) > MAX_VOUCHERS:
        raise BadInput(f"with those that are here already they are more than {MAX_VOUCHERS:,}.")
    _make_candidate(engine, here.content, every)
    if (fault := signatures.fault(_make_candidate(engine, here.content, new))) is not None:
        return Added(0, "signature", fault)
    vouchers_alone = _make_candidate(engine, "The memory itself was looked at when it came", new)
    passed = privacy_gate(Draft(vouchers_alone), Context(engine.policy, engine.caller, engine.clock(), False))
    if isinstance(passed, Rejection):
        return Added(0, passed.code, f"vouchers: {passed.detail}")
    return list(passed.candidate.meta[ENTRY_ORIGIN]["vouchers"])


def _make_candidate(engine: Engine, content: str, vouchers: Sequence[Voucher]) -> Candidate:
    return parse_candidate(engine, {"content": content, "meta": {ENTRY_ORIGIN: {"vouchers": list(vouchers)}}})


@operations.failures_noted(Node.HOTPATH, Op.LINK)
@again_on_conflict
def _record(engine: Engine, id: str, vouchers: Sequence[Voucher]) -> int:
    """Record one entry for all of these vouches, which does not age the stream; return how many were new.

    A voucher who withdrew a vouch here is left out: an old file does not bring it back.
    """
    with engine.write() as writer:
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id).stream)
        stored = find(engine, writer, id)
        entries = writer.entries_about(engine.tenant, id)
        actors = {entry.actor for entry in entries if entry.event is Event.VOUCH_WITHDRAWN}
        withdrew = set(writer.names_of(engine.tenant, sorted(actors)).values())
        new = [one for one in vouchers if as_principal(one["id"]) not in withdrew]
        new = _find_new(to_memory(stored), new) if stored.body is not None else []
        if not new:
            return 0
        stream_writer = StreamWriter(engine, writer, stream, engine.now(), ages=False)
        stream_writer.load(stored)
        stream_writer.record(Event.VOUCHED, stored.state.id, rule="vouched:elsewhere", amendment={TOLD: new})
        stream_writer.finish()
        operations.keep(
            engine, writer, [operations.about(engine, stream_writer.stored(stored.state.id), Op.LINK, stream_writer.at)]
        )
        return len(new)
