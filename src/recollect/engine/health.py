"""How the store is: counts, and a doctor that looks for trouble and says what to do about it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.engine.audit import verify
from recollect.engine.context import Engine
from recollect.engine.meaning import FORMER_DEFAULTS
from recollect.engine.outdated import with_a_reason
from recollect.engine.reading import readable_streams, told_damage
from recollect.model.caller import Right
from recollect.model.receipt import Problem
from recollect.model.vocabulary import Namespace
from recollect.rules.counting import counted
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stream

FOREIGN = "Recollect did not make it: it may keep copies of what an erasure removes"
FOREIGN_HINT = "Find out what it is for and what it holds, then drop it."


def stats(engine: Engine) -> dict[str, Any]:
    """What the caller may see, counted: by status, namespace, kind, layer and category. The store's own figures, such as
    its size, are the application's to know."""
    with engine.read() as reader:
        streams = readable_streams(engine, reader, None, None, tuple(Namespace))
        everything = engine.selecting(streams=tuple(stream.number for stream in streams))
        active = replace(everything, equal={"status": "active"}, unexpired_at=engine.now())
        counts = {
            "memories": reader.count(engine.tenant, everything),
            "active": reader.count(engine.tenant, active),
            "by_status": reader.count_by(engine.tenant, "status", everything),
            "by_namespace": _by_namespace(engine, reader, streams),
            "by_kind": reader.count_by(engine.tenant, "kind", active),
            "by_layer": reader.count_by(engine.tenant, "layer", active),
            "by_category": reader.count_by(engine.tenant, "category", active),
        }
        return (_store_figures(engine, reader, streams) if engine.caller.trusted else {}) | counts


def _store_figures(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> dict[str, Any]:
    return {
        "store": engine.store.location,
        "size_bytes": engine.store.size_bytes(),
        "streams": len(streams),
        "entries": sum(stream.last_seq for stream in streams),
        "removed": reader.count_removed(engine.tenant),
    }


def _by_namespace(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for namespace in Namespace:
        numbers = tuple(s.number for s in streams if s.address is not None and s.address.namespace is namespace)
        selection = engine.selecting(streams=numbers, equal={"status": "active"})
        counts[str(namespace)] = reader.count(engine.tenant, selection) if numbers else 0
    return counts


def doctor(engine: Engine) -> tuple[Problem, ...]:
    """Everything that is wrong or risky, each with the next step; empty when all is well."""
    engine.require(Right.OPERATE, "examine the store")
    problems = [Problem(what, FOREIGN, FOREIGN_HINT) for what in engine.store.foreign_objects()]
    problems += verify(engine).problems
    problems += _damaged(engine)
    problems += _waiting(engine)
    problems += _outdated(engine)
    problems += _former_vectors(engine)
    problems += _risky_policy(engine)
    return tuple(problems)


def _damaged(engine: Engine) -> list[Problem]:
    """Every memory that cannot be read: ``verify`` stops at the first of a stream."""
    with engine.read() as reader:
        found = reader.select(engine.tenant, Selection(), NO_LIMIT, damaged=True)
        return [told_damage(reader, stored) for stored in found if stored.damage is not None]


def _waiting(engine: Engine) -> list[Problem]:
    with engine.read() as reader:
        waiting = reader.count(engine.tenant, Selection(equal={"status": "contradictory"}))
    if not waiting:
        return []
    what = f"{waiting} contradictory {'memory waits' if waiting == 1 else 'memories wait'} for a decision"
    return [Problem("memories", what, "`recollect list --status contradictory`, then `recollect resolve`.")]


def _outdated(engine: Engine) -> list[Problem]:
    with engine.read() as reader:
        streams = readable_streams(engine, reader, None, None, tuple(Namespace))
        count = len(with_a_reason(engine, reader, streams))
    if not count:
        return []
    what = f"{counted(count, 'pair')} of memories may be outdated: the later one may have replaced the earlier one"
    return [Problem("memories", what, "`recollect outdated`, then `recollect resolve`.")]


def _former_vectors(engine: Engine) -> list[Problem]:
    with engine.read() as reader:
        found = sorted(FORMER_DEFAULTS.intersection(reader.embedders(engine.tenant)))
    what = "made by an earlier version's embedder, {}: queries find by words alone, and writes are refused"
    return [Problem("vectors", what.format(label), "`recollect reindex`.") for label in found]


def _risky_policy(engine: Engine) -> list[Problem]:
    policy = engine.policy
    found = []
    if policy.conflict.policy == "latest_wins":
        what = "latest_wins lets anyone's last word replace a higher authority's, the operator's included"
        found.append(Problem("policy conflict.policy", what, "Use authority unless that is what you want."))
    if policy.keys.fallback == "shared":
        what = "a shared fallback key makes unrelated facts replace one another"
        found.append(Problem("policy keys.fallback", what, "Use fingerprint unless every write names its key."))
    allowed = [t for t, action in policy.privacy.actions.items() if action == "allow"]
    if allowed:
        found.append(Problem("policy privacy.actions", f"these are stored as they are: {', '.join(sorted(allowed))}"))
    return found
