"""Settle memories that wait for a decision: make one active, and say when a proposal may be granted or has lapsed."""

from collections.abc import Sequence

from recollect.engine.context import Engine
from recollect.engine.lifecycle.rejecting import check_may_decide
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.validity import closed_by
from recollect.engine.transaction import Pen, refuse_agents, soft_delete, tell_gone
from recollect.engine.write.incumbents import Held, holder
from recollect.engine.write.relations import carry_links_on
from recollect.model.errors import WrongState
from recollect.model.ledger import Event
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Status
from recollect.rules.identity.consent import GIVEN, LAPSED, lapses_at
from recollect.rules.identity.decision import DEFAULT_CATEGORY, TAKES_OVER, inherited_fields, is_stated
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Reader, Stored


def expect(stored: Stored, allowed: Sequence[Status], verb: str, hint: str) -> None:
    """Raise unless a memory has one of these statuses."""
    if stored.state.status not in allowed:
        raise WrongState(f"cannot {verb} a memory that is {stored.state.status}.", field="id", hint=hint)


def held(pen: Pen, stored: Stored) -> Held:
    """Return who holds the key of a memory that is not active."""
    assert stored.body is not None, "a memory that is moved has its content"
    kind_class, state = KIND_CLASS[stored.body["kind"]], stored.state
    where = pen.writer, pen.stream, stored.body["scope"], kind_class
    return holder(pen.engine, *where, state.canonical_key, category=state.category)


def make_active(
    pen: Pen, stored: Stored, incumbent: Stored | None, *, beside: bool, rule: str = "resolved:by_hand"
) -> None:
    """Make a waiting memory active, and supersede the one that holds its key."""
    other = None
    if beside:
        pen.keep_beside(stored.state.id)
    if incumbent is not None and incumbent.body is not None:
        other = incumbent.state.id
        pen.load(incumbent)
        tell_gone(pen, incumbent, "superseded")
        content = (stored.body or {}).get("content", "")
        closing = closed_by(stored.state.valid_from, content, incumbent)
        winner = stored.state.id
        pen.record(Event.SUPERSEDED, other, rule=rule, to=Status.SUPERSEDED, other=winner, amendment=closing)
    pen.record(Event.RESOLVED, stored.state.id, rule=rule, to=Status.ACTIVE, other=other)
    if incumbent is not None and other is not None:
        carry_links_on(pen, incumbent, stored.state.id)
        _take_over(pen, stored, incumbent)


def _take_over(pen: Pen, winner: Stored, loser: Stored) -> None:
    """What was decided about the concept holds for the one that is believed now, where it says nothing else.

    A person chose it, so that it counts for no less than the one before.
    """
    state, order = winner.state, pen.engine.policy.conflict.authority_order
    stated = {name for name in ("pinned", "tags") if getattr(state, name)}
    stated |= {"category"} if state.category != DEFAULT_CATEGORY else set()
    stated |= {"importance"} if is_stated(state.importance_reason) else set()
    taken = inherited_fields(loser.state, stated, Authority(loser.state.authority), order)
    if taken:
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in taken.items()}
        pen.record(Event.EDITED, state.id, rule=TAKES_OVER, amendment={"set": values})


def shown_after(pen: Pen, id: str) -> Memory:
    """Return a memory as the caller sees it after the change."""
    pen.flush()
    return to_memory(*as_seen(pen.engine, pen.writer, [pen.stored(id)]))


def check_may_grant(pen: Pen, stored: Stored) -> None:
    """Raise unless the caller is the person, or governs and is no agent, and the proposal has not lapsed."""
    refuse_agents(pen.engine, "give consent")
    assert pen.stream.address is not None, "a memory with content has an owner"
    check_may_decide(pen.engine, pen.stream.address, "give consent")
    check_not_lapsed(pen.engine, pen.writer, stored)


def check_not_lapsed(engine: Engine, reader: Reader, stored: Stored) -> None:
    """Raise if a proposal has waited longer than the policy lets it, whether upkeep has put it away or not."""
    if has_lapsed(engine, reader, stored.state.id):
        hint = "It has to be proposed again, or the person can say it themselves."
        raise WrongState("nobody decided about it in time, and it lapsed.", field="id", hint=hint)


def has_lapsed(engine: Engine, reader: Reader, id: str) -> bool:
    """Say whether a proposal has waited longer than the policy lets it."""
    return lapses_at(proposed_at(engine, reader, id), engine.policy.consent) <= engine.now()


def proposed_at(engine: Engine, reader: Reader, id: str) -> str:
    """Return when a proposal was first made, by its ledger entry: its own ``created_at`` may be anybody's claim."""
    return reader.entries_about(engine.tenant, id)[0].at


def note_consent(pen: Pen, stored: Stored, rule: str = GIVEN) -> None:
    """Note that a person consented to what was proposed: it counts as theirs from now on."""
    order = pen.engine.policy.conflict.authority_order
    if outranks(Authority.USER_ASSERTED, Authority(stored.state.authority), order):
        given = {"authority": str(Authority.USER_ASSERTED), "authority_reason": rule}
        pen.record(Event.EDITED, stored.state.id, rule=rule, amendment={"set": given})


def lapse(pen: Pen, stored: Stored) -> None:
    """Archive a proposal that was not decided in time."""
    pen.load(stored)
    soft_delete(pen, stored.state.id, Event.EXPIRED, LAPSED)
