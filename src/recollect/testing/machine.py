"""A random user: every operation in every order, held against the simple model after each step.

``machine_for(place)`` makes a Hypothesis state machine for a kind of store. ``place()`` is called once for each run and
returns a :class:`Place`, which opens the same, at first empty, store as often as it is asked::

    TestMachine = machine_for(SqlitePlace).TestCase

A run has one writer and a clock that moves only between operations, so that the model knows what time it is.
"""

import shutil
import tempfile
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recollect.compose import open as open_memory
from recollect.engine.randomness import SeededRandomness, SteppingClock
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, NotFound, WrongState
from recollect.model.record import Memory
from recollect.testing.invariants import EVERYWHERE, check_everything
from recollect.testing.model import Model, Note, Refusal

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
POLICIES: tuple[dict[str, Any], ...] = ({}, {"keys": {"parser": False}}, {"near_duplicates": {"action": "link"}})


class Place(Protocol):
    """Somewhere to keep a store for one run."""

    def open(self, **settings: Any) -> Recollect: ...
    def discard(self) -> None: ...


class SqlitePlace:
    """A file in a folder of its own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="recollect-machine-"))

    def open(self, **settings: Any) -> Recollect:
        return open_memory(self.folder / "memory.db", **settings)

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


# ── what a random user says ─────────────────────────────────────────────────────────────────────────────────────────

OWNERS = ("ana", "ben")
SCOPES = ("shared", "planner")
SENTENCES = (
    "Ana likes green tea",
    "Ana really likes green tea",
    "Ana does not like green tea",
    "I live in Berlin",
    "I live in Hamburg",
    "Actually, I live in Madrid",
    "Never use emojis in replies",
    "No emojis",
    "The deploy port of the web service is 8080",
    "The deploy port of the web service is 9090",
    "Ben is allergic to peanuts",
    "Ana is allergic to peanuts",
    "We meet every Tuesday at ten in the small room",
    "We meet every Tuesday at ten in the small room.",
    "The small room is where we meet every Tuesday at ten",
    "Is the deploy port 8080?",
    "Кошка спит на окне",
    "🫖",
    "the password is hunter2-very-secret",
)
KEYS = ("Ana-Likes-Tea", "ana-likes-TEA", "Deploy-Port-Web", "Team-Meeting-Day")
TAGS = ("urgent", "home", "100 %")

contents = st.sampled_from(SENTENCES)
durations = st.sampled_from([timedelta(minutes=1), timedelta(days=1), timedelta(days=45), timedelta(days=400)])


def candidates(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """Something to remember: named or not, in any stream, with whatever a caller may say about it."""
    return st.one_of(_unnamed(now), _named(now))


def _where(now: datetime) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "owner": st.sampled_from(OWNERS),
        "scope": st.sampled_from(SCOPES),
        "namespace": st.sampled_from(["prod", "prod", "test", "ephemeral"]),
        "space": st.sampled_from(["user", "user", "system"]),
        "kind": st.sampled_from(["semantic", "semantic", "procedural", "insight", "episodic"]),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2),
        "importance": st.integers(1, 5),
        "pinned": st.booleans(),
        "ttl_ticks": st.integers(1, 4),
        "expires_at": durations.map(lambda duration: now + duration),
    }


def _unnamed(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"content": contents}, optional=_where(now))


def _named(now: datetime) -> st.SearchStrategy[dict[str, Any]]:
    """With an explicit key, and often with the caller's own word on what has changed and who says so."""
    optional = _where(now) | {
        "change": st.sampled_from(["same", "update", "correction", "contradiction"]),
        "authority": st.sampled_from(["system_imposed", "tool_verified", "user_asserted", "ai_inferred"]),
    }
    del optional["kind"]
    required = {"content": contents, "canonical_key": st.sampled_from(KEYS), "event_type": st.just("fact")}
    return st.fixed_dictionaries(required, optional=optional)


edits = st.fixed_dictionaries(
    {},
    optional={
        "pinned": st.booleans(),
        "importance": st.integers(1, 5),
        "category": st.sampled_from(["general", "work"]),
        "tags": st.lists(st.sampled_from(TAGS), max_size=2),
    },
).filter(bool)
picks = st.integers(0, 10_000)


class Machine(RuleBasedStateMachine):
    """The rules. A subclass says where the store is kept."""

    place_for: Callable[[], Place]

    def __init__(self) -> None:
        super().__init__()
        self.place = type(self).place_for()
        self.clock = SteppingClock(START, timedelta(0))
        self.randomness = SeededRandomness(7)
        self.policy: dict[str, Any] = {}
        self.mem = self._open()
        self.model = Model(START)
        self.memories: dict[str, Memory] = {}

    def _open(self) -> Recollect:
        return self.place.open(clock=self.clock, randomness=self.randomness, policy=self.policy)

    def teardown(self) -> None:
        self.mem.close()
        self.place.discard()

    def _step(self) -> None:
        """Every operation happens a second after the one before."""
        self.clock.now += timedelta(seconds=1)
        self.model.now = self.clock.now

    def _pick(self, number: int) -> Note:
        notes = list(self.model.notes.values())
        return notes[number % len(notes)]

    def _try(self, act: Callable[[], object], follow: Callable[[Model], None]) -> None:
        """Do something and let the model follow; where the model refuses, so must the engine, and nothing moves."""
        expected = deepcopy(self.model)
        try:
            follow(expected)
        except Refusal:
            before = self.mem.state_hash()
            try:
                act()
            except (WrongState, BadInput):
                assert self.mem.state_hash() == before
                return
            raise AssertionError("this should have been refused") from None
        act()
        self.model = expected

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

    @initialize(policy=st.sampled_from(POLICIES))
    def start(self, policy: dict[str, Any]) -> None:
        self.reopen(policy)

    @rule(data=st.data(), retried=st.booleans())
    def add(self, data: st.DataObject, retried: bool) -> None:
        self._step()
        fields = data.draw(candidates(self.model.now))
        key = f"retry {len(self.model.notes)} {self.model.now}" if retried else None
        receipt = self.mem.add(**fields, idempotency_key=key)
        self.model.added([(fields, receipt)])
        if retried and not receipt.denied:
            before = self.mem.state_hash()
            again = self.mem.add(**fields, idempotency_key=key)
            assert (again.outcome, again.memory, again.reasons) == (receipt.outcome, receipt.memory, receipt.reasons)
            assert again.replayed and self.mem.state_hash() == before

    @rule(data=st.data())
    def add_many(self, data: st.DataObject) -> None:
        self._step()
        many = data.draw(st.lists(candidates(self.model.now), min_size=2, max_size=5))
        receipts = self.mem.add_many(many)
        self.model.added(list(zip(many, receipts, strict=True)))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, changes=edits)
    def edit(self, pick: int, changes: dict[str, Any]) -> None:
        self._step()
        id = self._pick(pick).id
        self._try(lambda: self.mem.edit(id, **changes), lambda model: model.edit(id, changes))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks)
    def archive(self, pick: int) -> None:
        self._step()
        id = self._pick(pick).id
        self._try(lambda: self.mem.archive(id), lambda model: model.archive(id))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks)
    def forget(self, pick: int) -> None:
        self._step()
        id = self._pick(pick).id
        self._try(lambda: self.mem.forget(id), lambda model: model.forget(id))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks)
    def restore(self, pick: int) -> None:
        self._step()
        id = self._pick(pick).id
        self._try(lambda: self.mem.restore(id), lambda model: model.restore(id))

    @precondition(lambda self: any(note.status == "contradictory" for note in self.model.kept()))
    @rule(pick=picks, side=picks)
    def resolve(self, pick: int, side: int) -> None:
        self._step()
        waiting = [note.id for note in self.model.kept() if note.status == "contradictory"]
        id = waiting[pick % len(waiting)]
        sides = self.model.sides(id)
        winner = sides[side % len(sides)]
        self._try(lambda: self.mem.resolve(id, winner=winner), lambda model: model.resolve(id, winner))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, side=picks)
    def resolve_anything(self, pick: int, side: int) -> None:
        """Mostly nonsense, and refused as such."""
        self._step()
        id, winner = self._pick(pick).id, self._pick(side).id
        self._try(lambda: self.mem.resolve(id, winner=winner), lambda model: model.resolve(id, winner))

    # ── care ────────────────────────────────────────────────────────────────────────────────────────────────────

    @rule(duration=durations)
    def wait(self, duration: timedelta) -> None:
        self.clock.now += duration
        self.model.now = self.clock.now

    @rule()
    def upkeep(self) -> None:
        self._step()
        report, expected = self.mem.upkeep(), self.model.upkeep()
        assert {name: set(getattr(report, name)) for name in expected} == expected
        before = self.mem.state_hash()
        again = self.mem.upkeep()
        assert (again.expired, again.forgotten, again.purged) == ((), (), ())
        assert self.mem.state_hash() == before

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, whole_chain=st.booleans())
    def erase(self, pick: int, whole_chain: bool) -> None:
        self._step()
        note = self._pick(pick)
        ids = [link.id for link in self.model.chain(note)] if whole_chain else [note.id]
        receipt = self.mem.erase(id=note.id, whole_chain=whole_chain)
        assert set(receipt.removed) == self.model.erase(ids)

    @rule(owner=st.sampled_from(OWNERS))
    def erase_owner(self, owner: str) -> None:
        self._step()
        receipt = self.mem.erase(owner=owner)
        assert set(receipt.removed) == self.model.erase([n.id for n in self.model.kept() if n.place[2] == owner])
        self.model.forget_owner(owner)

    @rule(owner=st.sampled_from([None, *OWNERS]), force=st.booleans())
    def consolidate(self, owner: str | None, force: bool) -> None:
        self._step()
        before = self.mem.state_hash()
        proposal = self.mem.consolidate(owner=owner)
        assert self.mem.state_hash() == before, "a proposal changes nothing"
        if force:
            done = self.mem.consolidate(owner=owner, force=True)
            places = {n.place for n in self.model.notes.values() if owner in (None, n.place[2])}
            assert done.steps == proposal.steps or self.model.is_about_to_expire(places)
            if done.applied:
                self.model.consolidated(done.steps, places)
                assert self.mem.consolidate(owner=owner).steps == (), "one round is enough"

    @rule()
    def undo_consolidation(self) -> None:
        self._step()
        self._try(lambda: self.mem.consolidate(undo=True), lambda model: model.undone())

    @rule()
    def rebuild(self) -> None:
        before = self.mem.state_hash()
        assert self.mem.rebuild() == len(self.model.notes)
        assert self.mem.state_hash() == before

    @rule(policy=st.sampled_from(POLICIES))
    def reopen(self, policy: dict[str, Any]) -> None:
        before = self.mem.state_hash()
        self.policy = policy
        self.mem.close()
        self.model.committed()
        self.mem = self._open()
        assert self.mem.state_hash() == before

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks)
    def get(self, pick: int) -> None:
        note = self._pick(pick)
        try:
            found = self.mem.get(note.id[:13])
        except NotFound:
            assert note.removed is not None
        else:
            assert (found.id, note.removed) == (note.id, None)
            self.model.read.append(note.id)

    @rule(
        owner=st.sampled_from([None, *OWNERS]),
        namespaces=st.sampled_from([("prod",), ("test", "ephemeral"), EVERYWHERE]),
    )
    def list(self, owner: str | None, namespaces: tuple[str, ...]) -> None:
        page = self.mem.list(owner=owner, include_namespaces=namespaces, limit=1_000)
        expected = self.model.live(owner=owner, namespaces=namespaces)
        assert {memory.id for memory in page.items} == {note.id for note in expected}
        moments = [memory.created_at for memory in page.items]
        assert moments == sorted(moments, reverse=True), "newest first"

    @rule(text=contents, namespaces=st.sampled_from([("prod",), EVERYWHERE]))
    def query(self, text: str, namespaces: tuple[str, ...]) -> None:
        """Only what is live is found; and whoever looks for a live memory's very words finds it."""
        recall = self.mem.query(text, include_namespaces=namespaces, top_k=1_000)
        live = {note.id: note for note in self.model.live(namespaces=namespaces)}
        found = [item.memory.id for item in recall.items]
        shadowed = {id for item in recall.items for id in item.shadowed}
        self.model.read += found
        assert {*found, *shadowed} <= live.keys()
        assert [item.score for item in recall.items] == sorted((item.score for item in recall.items), reverse=True)
        same_words = {id for id, note in live.items() if note.content == text and text != "🫖"}
        assert same_words <= {*found, *shadowed}

    @rule(user=st.sampled_from(OWNERS), agent=st.sampled_from([None, "planner", "coder"]), text=contents)
    def look_as_somebody(self, user: str, agent: str | None, text: str) -> None:
        """A bound caller sees its own memories and the system's, in its own scope, and nothing else."""
        caller = self.mem.as_caller(user=user, agent=agent)
        scopes = ("shared", agent) if agent else ("shared",)
        own = self.model.live(space="user", owner=user, scopes=scopes)
        everyones = self.model.live(space="system", scopes=scopes)
        visible = {note.id for note in (*own, *everyones)}
        assert {memory.id for memory in caller.list(limit=1_000).items} == visible
        found = [item.memory.id for item in caller.query(text, top_k=1_000).items]
        self.model.read += found
        assert set(found) <= visible

    # ── after every step ────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def everything_holds(self) -> None:
        removed = [note.id for note in self.model.notes.values() if note.removed is not None]
        self.memories = check_everything(self.mem, removed)

    @invariant()
    def the_model_agrees(self) -> None:
        assert self.memories.keys() == {note.id for note in self.model.kept()}
        for note in self.model.kept():
            shown, modelled = _shown(self.memories[note.id]), _modelled(note)
            differs = {name: (shown[name], modelled[name]) for name in shown if shown[name] != modelled[name]}
            assert not differs, f"{note.id}, in the store and in the model: {differs}"

    @invariant()
    def the_counts_agree(self) -> None:
        stats = self.mem.stats()
        assert stats["memories"] == len(self.model.kept())
        assert stats["removed"] == len(self.model.notes) - len(self.model.kept())
        assert stats["active"] == sum(1 for note in self.model.kept() if note.status == "active")


def _shown(memory: Memory) -> dict[str, Any]:
    """A memory in the terms of the model."""
    return {
        "place": (memory.namespace, memory.space, memory.owner),
        "scope": memory.scope,
        "key": memory.canonical_key,
        "content": memory.content,
        "status": memory.status,
        "version": memory.version,
        "supersedes": memory.supersedes_id,
        "superseded_by": memory.superseded_by_id,
        "related": set(memory.related_memory_ids),
        "conflicts": set(memory.conflict_ids),
        "pinned": memory.pinned,
        "importance": memory.importance,
        "category": memory.category,
        "tags": memory.tags,
        "tick": memory.tick,
        "created_at": memory.created_at,
        "expires_at": memory.expires_at,
        "expires_at_tick": memory.expires_at_tick,
        "deleted_at": memory.deleted_at,
        "purge_at": memory.purge_at,
        "access_count": memory.access_count,
    }


def _modelled(note: Note) -> dict[str, Any]:
    same = {name: getattr(note, name) for name in vars(note) if name not in _MODEL_ONLY}
    return {**same, "access_count": note.reinforcements + note.accesses}


_MODEL_ONLY = frozenset(
    {"id", "kind", "authority", "order", "reinforcements", "accesses", "last_reinforced", "last_access", "removed"}
)


def machine_for(place_for: Callable[[], Place]) -> type[Machine]:
    """The state machine over a kind of store."""
    return type("MachineOnThisStore", (Machine,), {"place_for": staticmethod(place_for)})
