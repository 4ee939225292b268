"""A long random script of operations that is the same for the same seed, to compare what two stores make of it.

``python -m support.script SEED STEPS`` runs one in memory and prints the hash of the state that it leads to,
so that two processes can be compared too.
"""

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, cast

from recollect.compose import open as open_memory
from recollect.engine.context import Engine
from recollect.engine.ledger.audit import state_lines
from recollect.interfaces.python import Recollect
from recollect.interfaces.python.arguments import NewMemory, ToolOutput
from recollect.model.errors import Refused
from support.determinism import SeededRandomness, SteppingClock
from support.invariants import EVERYWHERE, all_memories

START = datetime(2026, 1, 1, 12, tzinfo=UTC)

PEOPLE = ("Ana", "Ben", "Chloé", "Дмитрий")
THINGS = ("green tea", "dark mode", "emojis in commits", "the port 8080", "Tuesdays", "naïve café ☕", "peanuts")
PATTERNS = (
    "{person} likes {thing}",
    "{person} does not like {thing}",
    "{person} no longer likes {thing}",
    "I live in {person}town",
    "Never mention {thing}",
    "We decided that {person} takes care of {thing}",
    "{thing}",
    "Actually, {person} is fond of {thing}",
)


def open_seeded(location: Any = ":memory:", seed: int = 0, **settings: Any) -> Recollect:
    """A memory whose clock and randomness are the same for the same seed."""
    clock = SteppingClock(START, timedelta(milliseconds=1_700))
    return open_memory(location, clock=clock, randomness=SeededRandomness(seed), **settings)


def canonical_state(engine: Engine) -> Iterator[str]:
    """Yield the tenant's whole state, a canonical line each."""
    with engine.read() as reader:
        yield from state_lines(reader, engine.tenant)


def run(mem: Recollect, seed: int, steps: int = 60) -> None:
    """Do ``steps`` random things. What is refused is refused the same way every time."""
    random = Random(seed)
    for _ in range(steps):
        act = random.choices([act for act, _ in ACTS], [weight for _, weight in ACTS])[0]
        try:
            act(mem, random)
        except Refused:
            continue


def _fields(random: Random) -> dict[str, Any]:
    words = random.choice(PATTERNS).format(person=random.choice(PEOPLE), thing=random.choice(THINGS))
    fields: dict[str, Any] = {"content": words, "owner": random.choice(("ana", "ana", "ben"))}
    extras: dict[str, Callable[[], Any]] = {
        "scope": lambda: random.choice(("shared", "planner")),
        "namespace": lambda: random.choice(("prod", "test", "ephemeral")),
        "space": lambda: random.choice(("user", "session", "project")),
        "kind": lambda: random.choice(("semantic", "episodic", "procedural", "insight")),
        "canonical_key": lambda: random.choice(("Tea-Habit-Daily", "Port", "Ein sehr langer Name für ein Konzept")),
        "tags": lambda: random.sample(("b", "a", "ü", "c d"), 3),
        "meta": lambda: {"z": random.random(), "a": [1, None, "é"], "b": {"y": 1, "x": 2}},
        "source": lambda: random.choice(("user", "agent", "tool", "operator")),
        "importance": lambda: random.randint(1, 5),
        "ttl_ticks": lambda: random.randint(1, 20),
        "author": lambda: {"id": "u1", "name": "Ana B.", "platform": "chat"},
    }
    for name in random.sample(sorted(extras), random.randint(0, 4)):
        fields[name] = extras[name]()
    if fields.get("kind") == "procedural":
        fields["content"] = f"1. Remember: {words}"
    return fields


def _any_id(mem: Recollect, random: Random) -> str:
    return random.choice(sorted(all_memories(mem)) or ["00000000"])


def _resolve(mem: Recollect, random: Random) -> None:
    waiting = mem.list(status="contradictory", include_namespaces=EVERYWHERE).items
    if waiting:
        chosen = random.choice(waiting)
        mem.resolve(chosen.id, winner=random.choice((chosen.id, *chosen.conflict_ids)))


def _lift(mem: Recollect, random: Random) -> None:
    rejected = mem.rejections()
    if rejected:
        mem.lift(random.choice(rejected).id)


TOOLS: tuple[tuple[ToolOutput, ...], ...] = ((), ({"name": "search", "output": "nothing found"},))


def _turn(mem: Recollect, random: Random) -> None:
    said = ". ".join(_fields(random)["content"] for _ in range(2))
    mem.turn(
        session=random.choice(("s1", "s2")),
        owner=random.choice(("ana", "ben")),
        project="apollo",
        user=f"{said}. I live in {random.choice(('Lisbon', 'Porto', 'Łódź'))}. I love {random.choice(THINGS)}.",
        ai=random.choice((None, "Noted.", "Tell me more about that.")),
        tools=random.choice(TOOLS),
    )


ACTS: tuple[tuple[Callable[[Recollect, Random], object], int], ...] = (
    (lambda mem, random: mem.add(**_fields(random)), 40),
    (lambda mem, random: mem.add_many(cast(list[NewMemory], [_fields(random) for _ in range(4)])), 8),
    (lambda mem, random: mem.add(**_fields(random), idempotency_key=str(random.randint(0, 20))), 4),
    (_turn, 8),
    (lambda mem, random: mem.promote(_any_id(mem, random), random.choice(("user", "project")), owner="ana"), 4),
    (lambda mem, random: mem.start_phase(name="next", space="user", owner=random.choice(("ana", "ben"))), 2),
    (lambda mem, random: mem.edit(_any_id(mem, random), tags=["edited"], pinned=True), 5),
    (lambda mem, random: mem.archive(_any_id(mem, random)), 4),
    (lambda mem, random: mem.forget(_any_id(mem, random)), 6),
    (lambda mem, random: mem.restore(_any_id(mem, random)), 6),
    (_resolve, 6),
    (lambda mem, random: mem.reject(_any_id(mem, random), random.choice((None, "never said"))), 4),
    (_lift, 2),
    (lambda mem, random: mem.query(random.choice(THINGS)), 6),
    (lambda mem, random: mem.get(_any_id(mem, random)), 4),
    (lambda mem, random: mem.upkeep(), 3),
    (lambda mem, random: mem.consolidate(force=True), 2),
    (lambda mem, random: mem.consolidate(undo=True), 2),
    (lambda mem, random: mem.erase(id=_any_id(mem, random)), 2),
    (lambda mem, random: mem.erase(owner=random.choice(("ben", "nobody"))), 1),
)


_COUNTER = re.compile(r'"(?:access_count|last_accessed)":(?:\d+|null|"[^"]*"),?')
"""Counters move when they are written, off the read path: they are no part of the state."""


def digest(mem: Recollect) -> str:
    """The hash of the state and of everything that an export gives but its counters, as one line."""
    exported = "\n".join(_COUNTER.sub("", line) for line in mem.export(include_namespaces=EVERYWHERE, status=None))
    return f"{mem.state_hash()} {hashlib.sha256(exported.encode()).hexdigest()}"


if __name__ == "__main__":
    with open_seeded() as memory:
        run(memory, int(sys.argv[1]), int(sys.argv[2]))
        print(digest(memory))
