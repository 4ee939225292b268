"""Vouches that an entry gained where it comes from, after it was taken in here: told like those that came along at first.

They are an entry of the ledger with their values beside it, and nobody's who acts here: they weigh nothing, and are handed on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.engine import operations
from recollect.engine.assemble import to_memory
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine, find
from recollect.engine.drafting import parse_candidate
from recollect.engine.imported_signatures import ImportedSignatures
from recollect.engine.pen import Pen
from recollect.formats.entries import MAX_VOUCHERS
from recollect.model.errors import BadInput
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.principals import as_principal
from recollect.model.record import ENTRY_ORIGIN, Candidate, Memory
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.fold import TOLD
from recollect.rules.privacy_gate import privacy_gate
from recollect.rules.signers import origin_in
from recollect.stores.protocol import Reader

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
