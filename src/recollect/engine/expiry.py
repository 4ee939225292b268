"""What is past its date or tick leaves the active set at the start of the next write to its stream."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from recollect.engine import operations
from recollect.engine.context import Engine
from recollect.engine.pen import Pen
from recollect.model import trace
from recollect.model.canonical import format_time, parse_time
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.vocabulary import Status
from recollect.rules.retention import expiry_reason
from recollect.stores.protocol import Stored


def expire_due(pen: Pen) -> list[trace.Trace]:
    """Put away everything in the pen's stream that has expired; returns the events that say so."""
    ids = pen.writer.expired_ids(pen.stream, pen.at, pen.tick)
    if not ids:
        return []
    engine, noted = pen.engine, []
    events: list[trace.Trace] = []
    found = pen.writer.by_ids(pen.stream.tenant, ids)
    for id in ids:
        stored = found[id]
        pen.load(stored)
        reason = _reason(pen, stored)
        soft_delete(pen, id, Event.EXPIRED, reason)
        events += forgotten(engine, id, stored.body, reason)
        if stored.body is not None:
            noted.append(operations.about(engine, stored, Op.TTL, pen.at, Node.WORKER))
    pen.flush()
    operations.keep(engine, pen.writer, noted, pen.stream.tenant)
    return events


def _reason(pen: Pen, stored: Stored) -> str:
    """``decay`` if its ticks ran out since it was last said, else ``ttl_expired``."""
    at_tick = stored.state.expires_at_tick
    mode = (stored.body or {}).get("retention", {}).get("mode")
    return expiry_reason(mode, by_tick=at_tick is not None and at_tick <= pen.tick)


def forgotten(engine: Engine, id: str, body: Mapping[str, Any] | None, reason: str) -> list[trace.Trace]:
    """The events of a memory whose time was over: forgotten for a reason, and gone from the active set."""
    caller, policy = engine.caller, engine.in_force.expanded
    gone = [] if body is None else [trace.memory_deleted(caller, id, body, "expired", policy)]
    return [trace.memory_forget(caller, id, reason, policy), *gone]


def soft_delete(pen: Pen, id: str, event: Event, rule: str, reason: str | None = None) -> None:
    """Take it out of every read, brought back by ``restore``, removed for good after its purge date.

    ``reason`` is what the person said of it; it is kept as long as the memory is.
    """
    days = pen.engine.policy.lifecycle.purge_after_days
    purge_at = format_time(parse_time(pen.at) + timedelta(days=days))
    said = {"reason": reason} if reason is not None else {}
    pen.record(event, id, rule=rule, to=Status.SOFT_DELETED, amendment={"purge_at": purge_at, **said})
