"""Twenty operations that touch everything, the same bytes every time: what the crash and power-loss tests run."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import recollect
from support.determinism import SeededRandomness, SteppingClock

START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = {"traces": {"keep": "all"}}
"""Every event is kept, so that traces are part of what must be whole."""

Memory = Any
Look = Callable[[], None]


class Operation(NamedTuple):
    """One step: its name, the day on which it runs, and what it does. ``look`` is called after each of its commits."""

    name: str
    day: float
    run: Callable[[Any, dict[str, str], Look], Any]


def open_at(path: Path | str, day: float, seed: int = 1) -> Any:
    """The store, with the clock standing still on a day of the script."""
    clock = SteppingClock(START + timedelta(days=day), step=timedelta(0))
    return recollect.open(path, policy=POLICY, clock=clock, randomness=SeededRandomness(seed), timeout_s=10)


def run_script(path: Path | str, ack: Callable[[int, Any], None], look: Callable[[Any], None] | None = None) -> None:
    """Run every operation in turn, acknowledging each with what it answered. ``look`` is shown the store on the way."""
    clock = SteppingClock(START, step=timedelta(0))
    mem = recollect.open(path, policy=POLICY, clock=clock, randomness=SeededRandomness(1), timeout_s=10)
    known: dict[str, str] = {}
    show: Look = (lambda: look(mem)) if look is not None else (lambda: None)
    for number, operation in enumerate(OPERATIONS, start=1):
        clock.now = START + timedelta(days=operation.day)
        answer = operation.run(mem, known, show)
        show()
        ack(number, json.loads(json.dumps(answer, default=str)))
    mem.close()


def picture(mem: Any) -> str:
    """Everything that a crash could damage, as one comparable text: canonical state and kept traces."""
    return str(mem.state_hash()) + json.dumps(mem.traces(limit=1000), sort_keys=True, default=str)


def _add(content: str, as_: str, **fields: Any) -> Callable[[Any, dict[str, str], Look], Any]:
    def run(mem: Any, known: dict[str, str], _: Look) -> Any:
        receipt = mem.add(content, **{"owner": "ana", **fields})
        known[as_] = receipt.memory.id
        return {"outcome": receipt.outcome, "memory": receipt.memory.to_dict()}

    return run


def _on(verb: str, name: str, **arguments: Any) -> Callable[[Any, dict[str, str], Look], Any]:
    def run(mem: Any, known: dict[str, str], _: Look) -> Any:
        given = {key: known.get(value, value) if isinstance(value, str) else value for key, value in arguments.items()}
        return getattr(mem, verb)(known[name], **given).to_dict()

    return run


def _add_many(mem: Any, known: dict[str, str], _: Look) -> Any:
    receipts = mem.add_many(
        [
            {"content": "Ben works at the harbour office", "owner": "ben", "canonical_key": "Ben-Employer-Current"},
            {"content": "Ben plays the cello on Sundays", "owner": "ben", "canonical_key": "Ben-Hobby-Cello"},
            {"content": "Smoke probe wrote this line", "owner": "ana", "namespace": "test"},
            {"content": "My password is hunter2-Zebra!77", "owner": "ana"},
            {"content": "The build cache sits on disk four", "owner": "ana", "diagnostic": True},
            {"content": "Carla reviews every invoice", "owner": "carla", "meta": {"pages": "word " * 1200}},
        ]
    )
    known.update({f"batch-{i}": r.memory.id for i, r in enumerate(receipts) if r.memory is not None})
    return [{"outcome": r.outcome, "id": r.memory.id if r.memory else None} for r in receipts]


def _twins(mem: Any, known: dict[str, str], _: Look) -> Any:
    same = "The office door code changes every Monday morning"
    receipts = mem.add_many(
        [{"content": same, "owner": "ben", "canonical_key": f"Door-Code-{which}"} for which in ("One", "Two")]
    )
    known["twin"] = receipts[1].memory.id
    return [r.memory.to_dict() for r in receipts]


def _consolidate(mem: Any, _: dict[str, str], __: Look) -> Any:
    report = mem.consolidate(force=True)
    assert report.applied and report.steps, "the script must give consolidation something to do"
    return report.to_dict()


def _undo(mem: Any, _: dict[str, str], __: Look) -> Any:
    return mem.consolidate(undo=True).to_dict()


def _read_and_add(mem: Any, known: dict[str, str], look: Look) -> Any:
    """Reading counts accesses, which the next write carries along. The query's trace is committed before that write."""
    found = [item.memory.id for item in mem.query("harbour office cello").items]
    assert found
    look()
    return [found, _add("Ana speaks Portuguese at home", "language")(mem, known, look)]


def _upkeep(mem: Any, _: dict[str, str], look: Look) -> Any:
    report = mem.upkeep(progress=lambda *_: look())
    return {"expired": report.expired, "forgotten": report.forgotten, "purged": report.purged}


def _erase(mem: Any, known: dict[str, str], _: Look) -> Any:
    return mem.erase(id=known["moved"]).to_dict()


CITY = "Ana-City-Home"
PORT = "Service-Port-Main"

OPERATIONS = (
    Operation("add: stored", 0, _add("Ana lives in Lisbon", "home", canonical_key=CITY)),
    Operation("add: reinforced", 1, _add("Ana lives in Lisbon", "home-again", canonical_key=CITY)),
    Operation("add: superseded", 2, _add("Ana lives in Porto", "moved", canonical_key=CITY, change="update")),
    Operation(
        "add: retried", 3, _add("The service listens on port 8080", "port", canonical_key=PORT, idempotency_key="one")
    ),
    Operation(
        "add: contradicted",
        4,
        _add("It is port 9090", "other-port", canonical_key=PORT, change="contradiction", authority="ai_inferred"),
    ),
    Operation("add_many", 5, _add_many),
    Operation("edit", 6, _on("edit", "port", tags=["network", "urgent"], pinned=True, importance=5)),
    Operation("forget", 7, _on("forget", "batch-0")),
    Operation("restore", 8, _on("restore", "batch-0")),
    Operation("archive", 9, _on("archive", "batch-1")),
    Operation("resolve: the incumbent wins", 10, _on("resolve", "other-port", winner="port")),
    Operation(
        "add: contradicted again",
        11,
        _add("It is port 7070", "third-port", canonical_key=PORT, change="contradiction", authority="ai_inferred"),
    ),
    Operation("resolve: the newcomer wins", 12, _on("resolve", "third-port", winner="third-port")),
    Operation("add_many: the same under two keys", 13, _twins),
    Operation("consolidate --force", 14, _consolidate),
    Operation("consolidate --undo", 15, _undo),
    Operation("query, then add", 16, _read_and_add),
    Operation("erase by id", 17, _erase),
    Operation("upkeep: the unused is put away", 120, _upkeep),
    Operation("upkeep: what was put away is purged", 160, _upkeep),
)
assert len(OPERATIONS) == 20
