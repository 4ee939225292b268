"""Keeping governance events where policy asks, and making the one that says no without repeating what was refused."""

from collections.abc import Iterable

from recollect.engine.context import Engine
from recollect.model import trace
from recollect.model.record import Candidate
from recollect.rules.draft import Rejection
from recollect.stores.protocol import Writer


def denied_trace(engine: Engine, candidate: Candidate, no: Rejection) -> trace.Trace:
    """What was attempted, with every free text left out: a refused secret must not live on in its refusal."""
    attempted = {
        "kind": candidate.kind,
        "text": f"[redacted: {len(candidate.content)} characters]",
        "source": candidate.source or engine.caller.speaks_as,
        "scope": "session",
        "meta": {"space": candidate.space, "event_type": candidate.event_type, "gate": no.gate},
    }
    return trace.memory_denied(engine.caller, attempted, no.code, engine.in_force.expanded)


def keep(engine: Engine, writer: Writer, events: Iterable[trace.Trace], stream: int | None = None) -> None:
    """Keep the events that the policy asks for, each with a reference to the policy that was in force."""
    wanted = engine.policy.traces.keep
    for event in events:
        if wanted == "all" or (wanted == "denied" and event["type"] == "memory_denied"):
            slim = {name: value for name, value in event.items() if name != "policy_snapshot"}
            snapshot = engine.in_force.snapshot if "policy_snapshot" in event else None
            writer.keep_trace(engine.tenant, slim, engine.now(), stream, snapshot)
