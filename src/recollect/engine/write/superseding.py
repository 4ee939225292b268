"""Replace one memory by another on request, under the ordinary authority rules.

``add(…, supersedes=ID)`` and ``update(ID, content)`` write the next version of a memory; ``supersede(OLD, by=NEW)``
makes a stored memory the next version of another. The newer one takes the older one's key, so that the chain of
versions continues. If the older one has the higher authority, the newer one waits for ``resolve``.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.engine.context import Engine, find
from recollect.engine.operations import failures_noted
from recollect.engine.read import reading
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep
from recollect.engine.transaction import StreamWriter, change_memory, may_overrule, refuse_agents
from recollect.engine.write.incumbents import check_active, check_same_place, explain
from recollect.engine.write.ingest import add
from recollect.engine.write.relations import carry_links_on
from recollect.model import trace
from recollect.model.errors import BadInput, WrongState
from recollect.model.item import dedup_key_of
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Changed, Receipt
from recollect.model.vocabulary import Authority, Kind, Outcome, Status
from recollect.rules.identity.consent import waiting_field
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Stored

BY_HAND = "supersede:by_hand"
OUTRANKED = "conflict:authority"
TAKES_KEY = "supersede:takes_key"
_OF_THE_CONCEPT = ("namespace", "space", "owner", "scope", "kind", "topic_id", "tier", "layer", "sublayer")
"""Fields that a new version takes from the one before, unless given."""


def update(
    engine: Engine, id: str, content: str, fields: Mapping[str, Any], idempotency_key: str | None = None
) -> Receipt:
    """Write the next version of a memory. Its address and kind stay the same unless given in ``fields``."""
    with engine.read() as reader:
        stored = find(engine, reader, id)
    if stored.body is None:
        raise WrongState(f"its content was {stored.state.removed}.", field="id", hint="Add it as a new memory.")
    if engine.revision is not None:
        engine.check_revision(reading.get(engine, id))
    kept = {name: stored.body[name] for name in _OF_THE_CONCEPT if name in stored.body}
    fact_key = stored.body.get("meta", {}).get("key")
    given = {**kept, **({"key": fact_key} if fact_key else {}), **fields, "content": content}
    return add(engine, given | {"supersedes": stored.state.id}, idempotency_key, refuse_expired=True)


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def supersede(engine: Engine, id: str, *, by: str) -> Receipt:
    """Make an active memory the next version of another one, which leaves the active set.

    A caller with less authority than the older memory cannot replace it by another's words; with words of less
    authority too, the newer memory waits for a decision.
    """
    with change_memory(engine, by, field="by", overrules=False) as (stream_writer, newer):
        older = find(engine, stream_writer.writer, id, "id")
        check_pair(stream_writer, older, newer)
        may_overrule(engine, newer if _is_outranked(stream_writer, older, newer) else older)
        return supersede_in(stream_writer, older, newer, BY_HAND)


def _is_outranked(stream_writer: StreamWriter, older: Stored, newer: Stored) -> bool:
    order = stream_writer.engine.policy.conflict.authority_order
    return outranks(Authority(older.state.authority), Authority(newer.state.authority), order)


def check_pair(stream_writer: StreamWriter, older: Stored, newer: Stored) -> None:
    """Raise unless both memories are active, of one place and of one kind."""
    if older.state.id == newer.state.id:
        raise BadInput("is the same memory.", field="by", hint="A memory does not replace itself.")
    seen_older, seen_newer = as_seen(stream_writer.engine, stream_writer.writer, [older, newer])
    check_active(seen_older, "id")
    check_active(seen_newer, "by")
    check_same_place(older, newer.stream, newer.body or {}, "by")


def supersede_in(
    stream_writer: StreamWriter,
    older: Stored,
    newer: Stored,
    rule: str,
    *,
    decided: bool = False,
    noting: Mapping[str, Any] | None = None,
) -> Receipt:
    """Make ``newer`` the next version of ``older``, or hold it if ``older`` has the higher authority.

    Nothing is held if a caller that may overrule the older memory has ``decided``. ``noting`` is stored with the entry
    by which one of them leaves the active set.
    """
    stream_writer.load(older, newer)
    if not decided and _is_outranked(stream_writer, older, newer):
        return _hold(stream_writer, older, newer, noting)
    assert older.body is not None, "an active memory has its content"
    _check_consent(stream_writer, older, newer)
    engine, old, new = stream_writer.engine, older.state.id, newer.state.id
    deleted = trace.memory_deleted(engine.caller, old, older.body, "superseded", engine.in_force.expanded)
    stream_writer.record(Event.SUPERSEDED, old, rule=rule, to=Status.SUPERSEDED, other=new, amendment=noting)
    if newer.state.supersedes_id is None and not _is_outranked(stream_writer, newer, older):
        # else it continues its own chain; and a person's words never take a key that was only guessed
        _take_key(stream_writer, older, newer)
        stream_writer.record(Event.RESOLVED, new, rule=rule, to=Status.ACTIVE, other=old)
    carry_links_on(stream_writer, older, new)
    changed = (Changed(old, "active", "superseded"), Changed(new, "active", "active"))
    return _receipt(stream_writer, Outcome.SUPERSEDED, new, (rule,), changed, deleted)


def _check_consent(stream_writer: StreamWriter, older: Stored, newer: Stored) -> None:
    """Raise if an agent would replace a profile field that only the person may set."""
    body, authority = older.body or {}, Authority(newer.state.authority)
    named = body.get("meta", {}).get("key")
    field = waiting_field(Kind(body["kind"]), older.state.canonical_key, named, authority, stream_writer.engine.policy)
    if field is not None:
        refuse_agents(stream_writer.engine, "set this profile field")


def _hold(
    stream_writer: StreamWriter, older: Stored, newer: Stored, noting: Mapping[str, Any] | None = None
) -> Receipt:
    """Hold a memory until a decision, since the one it would replace has the higher authority."""
    engine, old, new = stream_writer.engine, older.state.id, newer.state.id
    assert newer.body is not None, "an active memory has its content"
    deleted = trace.memory_deleted(engine.caller, new, newer.body, OUTRANKED, engine.in_force.expanded)
    _take_key(stream_writer, older, newer)
    stream_writer.record(Event.HELD, new, rule=OUTRANKED, to=Status.CONTRADICTORY, other=old, amendment=noting)
    conflict = trace.memory_conflict(
        engine.caller, old, new, "authority", dedup_key_of(to_memory(stream_writer.stored(old)))
    )
    changed = (Changed(new, "active", "contradictory"),)
    receipt = _receipt(stream_writer, Outcome.CONTRADICTED, new, (OUTRANKED,), changed, conflict, deleted)
    why = explain(stream_writer, new, older, Authority(newer.state.authority), "authority")
    return replace(receipt, detail=why)


def _take_key(stream_writer: StreamWriter, older: Stored, newer: Stored) -> None:
    before, now = newer.state, older.state
    if before.canonical_key != now.canonical_key or before.key_digest != now.key_digest:
        amendment = {"canonical_key": now.canonical_key, "key_digest": now.key_digest}
        stream_writer.record(Event.REKEYED, before.id, rule=TAKES_KEY, other=now.id, amendment=amendment)


def _receipt(
    stream_writer: StreamWriter,
    outcome: Outcome,
    id: str,
    reasons: tuple[str, ...],
    changed: tuple[Changed, ...],
    *events: trace.Trace,
) -> Receipt:
    keep(stream_writer.engine, stream_writer.writer, events, stream_writer.stream.number)
    stream_writer.flush()
    (shown,) = as_seen(stream_writer.engine, stream_writer.writer, [stream_writer.stored(id)])
    return Receipt(outcome, to_memory(shown), reasons, events, changed)
