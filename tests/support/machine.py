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
from recollect.interfaces.python import Recollect
from recollect.interfaces.python.arguments import Filters, NamespaceName
from recollect.model.errors import BadInput, NotAllowed, NotFound, WrongState
from recollect.model.record import Memory
from recollect.model.vocabulary import Kind
from support.determinism import SeededRandomness, SteppingClock
from support.invariants import EVERYWHERE, check_everything
from support.model import RESTORABLE, Model, Refusal
from support.note import EVENT_KINDS, Note, modelled, shown
from support.sayings import (
    OWNERS,
    STEPS,
    WORDLESS,
    authorities,
    candidates,
    changes,
    contents,
    durations,
    edits,
    mostly,
    picks,
)

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
        self.returned: list[Memory] = []

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

    def _try(self, act: Callable[[], object], follow: Callable[[Model], object]) -> None:
        """Do something and let the model follow; where the model refuses, so must the engine, and nothing moves."""
        expected = deepcopy(self.model)
        try:
            follow(expected)
        except Refusal:
            before = self.mem.state_hash()
            try:
                act()
            except (WrongState, NotAllowed, BadInput):
                assert self.mem.state_hash() == before
                return
            raise AssertionError("this should have been refused") from None
        answer = act()
        self.model = expected
        self.returned = [answer] if isinstance(answer, Memory) else []

    @initialize(policy=st.sampled_from(POLICIES), data=st.data())
    def start(self, policy: dict[str, Any], data: st.DataObject) -> None:
        self.reopen(policy)
        self.add_many(data)

    @rule(data=st.data(), retried=st.booleans())
    def add(self, data: st.DataObject, retried: bool) -> None:
        self._step()
        fields = data.draw(candidates(self.model.now))
        key = f"retry {len(self.model.notes)} {self.model.now}" if retried else None
        receipt = self.mem.add(**fields, idempotency_key=key)
        self.model.added([(fields, receipt)])
        self.returned = [receipt.memory] if receipt.memory else []
        if retried and not receipt.denied:
            before = self.mem.state_hash()
            again = self.mem.add(**fields, idempotency_key=key)
            assert (again.outcome, again.reasons) == (receipt.outcome, receipt.reasons)
            assert shown(again.memory) == shown(receipt.memory)
            assert again.replayed and self.mem.state_hash() == before

    @rule(data=st.data())
    def add_many(self, data: st.DataObject) -> None:
        self._step()
        many: Any = data.draw(st.lists(candidates(self.model.now), min_size=3, max_size=8))
        receipts = self.mem.add_many(many)
        self.model.added(list(zip(many, receipts, strict=True)))
        self.returned = [receipts[-1].memory] if receipts[-1].memory else []

    @precondition(lambda self: self.model.live(namespaces=EVERYWHERE))
    @rule(pick=picks, content=contents, change=st.none() | changes, authority=authorities)
    def say_otherwise(self, pick: int, content: str, change: str | None, authority: str) -> None:
        """Other words for a concept that is known, with the caller's own word on what has changed."""
        self._step()
        known = [n for n in self.model.live(namespaces=EVERYWHERE) if n.kind not in EVENT_KINDS]
        if not known:
            return
        note = known[pick % len(known)]
        namespace, space, owner = note.place
        fields: dict[str, Any] = {
            "content": STEPS[pick % len(STEPS)] if note.kind == "procedural" else content,
            "canonical_key": note.key,
            "namespace": namespace,
            "space": space,
            "owner": owner,
            "scope": note.scope,
            "kind": note.kind,
            "authority": authority,
            "event_type": "fact",
        }
        if change and not self.model.ends_next(note):  # else there is nothing left to change
            fields["change"] = change
        self.model.added([(fields, self.mem.add(**fields))])

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, changes=edits)
    def edit(self, pick: int, changes: dict[str, Any]) -> None:
        self._step()
        note = self._pick(pick)
        id, of_a_procedure = note.id, note.kind == "procedural"  # whose category stays what it is
        changes = {name: value for name, value in changes.items() if name != "category" or not of_a_procedure}
        changes = changes or {"pinned": True}
        self._try(lambda: self.mem.edit(id, **changes), lambda model: model.edit(id, changes))

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, verb=st.sampled_from(["archive", "forget", "restore"]))
    def move(self, pick: int, verb: str) -> None:
        self._step()
        id = self._pick(pick).id
        self._try(lambda: getattr(self.mem, verb)(id), lambda model: getattr(model, verb)(id))

    @precondition(lambda self: any(note.status in RESTORABLE for note in self.model.kept()))
    @rule(pick=picks)
    def bring_back(self, pick: int) -> None:
        self._step()
        away = [note.id for note in self.model.kept() if note.status in RESTORABLE]
        id = away[pick % len(away)]
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
        linked = [one for one in self.mem.related(id) if one.relation_type == "may_update"]
        if not linked:  # else there is a pair to decide, of which the model does not know
            self._try(lambda: self.mem.resolve(id, winner=winner), lambda model: model.resolve(id, winner))

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
    @rule(pick=picks, what=mostly("one", "chain", "owner"))
    def erase(self, pick: int, what: str) -> None:
        self._step()
        note = self._pick(pick)
        known = {n.id for n in self.model.notes.values() if n.removed == "erased"}
        if what == "owner":
            self._erase_owner(note.place[2])
            return
        whole_chain, removed = what == "chain", set[str]()
        self._try(
            lambda: removed.update(self.mem.erase(id=note.id, whole_chain=whole_chain).removed),
            lambda model: model.erase(note.id, whole_chain=whole_chain),
        )
        assert removed == {n.id for n in self.model.notes.values() if n.removed == "erased" and n.id not in known}

    def _erase_owner(self, owner: str) -> None:
        receipt = self.mem.erase(owner=owner)
        assert set(receipt.removed) == self.model.erase_all(n.id for n in self.model.kept() if n.place[2] == owner)
        self.model.forget_owner(owner)

    @rule(owner=st.sampled_from([None, *OWNERS]), force=mostly(True, False))
    def consolidate(self, owner: str | None, force: bool) -> None:
        self._step()
        before = self.mem.state_hash()
        proposal = self.mem.consolidate(owner=owner)
        assert self.mem.state_hash() == before, "a proposal changes nothing"
        if not force:
            return
        done = self.mem.consolidate(owner=owner, force=True)
        places = {n.place for n in self.model.notes.values() if owner in (None, n.place[2])}
        assert done.steps == proposal.steps or self.model.is_about_to_expire(places)
        self.model.consolidated([step for step in done.steps if step.action != "outdated"], done.dropped)
        if done.applied:
            left = self.mem.consolidate(owner=owner).steps
            assert all(step.action == "outdated" for step in left), "one round is enough"

    @precondition(lambda self: self.model.runs)
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
        self.mem = self._open()
        assert self.mem.state_hash() == before

    @rule(
        owner=st.sampled_from([None, *OWNERS]),
        namespaces=st.sampled_from([("prod",), ("test", "ephemeral"), EVERYWHERE]),
    )
    def list(self, owner: str | None, namespaces: tuple[NamespaceName, ...]) -> None:
        page = self.mem.list(owner=owner, include_namespaces=namespaces, limit=1_000)
        expected = self.model.live(owner=owner, namespaces=namespaces)
        assert {memory.id for memory in page.items} == {note.id for note in expected}
        moments = [memory.created_at for memory in page.items]
        assert moments == sorted(moments, reverse=True), "newest first"

    @precondition(lambda self: self.model.notes)
    @rule(pick=picks, namespaces=st.sampled_from([("prod",), EVERYWHERE]))
    def get_and_query(self, pick: int, namespaces: tuple[NamespaceName, ...]) -> None:
        """Only what is live is found; and whoever looks for a live memory's very words finds it."""
        note = self._pick(pick)
        self._get(note)
        kinds: Filters = {"kind": tuple(Kind)}  # procedures come only to those who name them
        recall = self.mem.query(note.content, include_namespaces=namespaces, top_k=1_000, filters=kinds)
        live = {n.id: n for n in self.model.live(namespaces=namespaces)}
        found = [item.memory.id for item in recall.items]
        shadowed = {id for item in recall.items for id in item.shadowed}
        self.model.read(found)
        assert {*found, *shadowed} <= live.keys()
        assert [item.score for item in recall.items] == sorted((item.score for item in recall.items), reverse=True)
        same_words = {id for id, n in live.items() if n.content == note.content and note.content != WORDLESS}
        assert same_words <= {*found, *shadowed}

    def _get(self, note: Note) -> None:
        try:
            found = self.mem.get(note.id[:13])
        except NotFound:
            assert note.removed is not None
        else:
            assert (found.id, note.removed) == (note.id, None)
            self.model.read([note.id])

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
        self.model.read(found)
        assert set(found) <= visible

    @invariant()
    def everything_holds(self) -> None:
        removed = [note.id for note in self.model.notes.values() if note.removed is not None]
        self.memories = check_everything(self.mem, removed)

    @invariant()
    def the_model_agrees(self) -> None:
        assert self.memories.keys() == {note.id for note in self.model.kept()}
        for note in self.model.kept():
            there = shown(self.memories[note.id])
            here = modelled(note) | {"status": self.model.shown_status(note)}
            differs = {name: (there[name], here[name]) for name in there if there[name] != here[name]}
            counted = self.memories[note.id].access_count
            assert note.reinforcements <= counted <= note.reinforcements + note.accesses, "counters may lag, not lead"
            assert not differs, f"{note.id}, in the store and in the model: {differs}"

    @invariant()
    def what_was_returned_is_what_is_shown(self) -> None:
        for returned in self.returned:
            read = self.memories[returned.id].to_dict()
            differs = {name for name, value in returned.to_dict().items() if value != read[name]}
            lagging = {"access_count", "last_accessed"}
            if not self.model.is_live(self.model.notes[returned.id]):
                lagging.add("status")
            assert differs <= lagging, {name: (getattr(returned, name), read[name]) for name in differs - lagging}
        self.returned = []

    @invariant()
    def the_counts_agree(self) -> None:
        stats = self.mem.stats()
        assert stats["memories"] == len(self.model.kept())
        assert stats["removed"] == len(self.model.notes) - len(self.model.kept())
        assert stats["active"] == len(self.model.live(namespaces=EVERYWHERE))


def machine_for(place_for: Callable[[], Place]) -> type[Machine]:
    """The state machine over a kind of store."""
    return type("MachineOnThisStore", (Machine,), {"place_for": staticmethod(place_for)})
