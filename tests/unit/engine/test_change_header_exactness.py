"""Exactness: whatever happens in whatever order, and whoever writes and reads at once, each change is shown once."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from processes import forked
from recollect.engine.turns.change_header import LOOKS, change_header
from recollect.rules.prompt.change_header import MAX_LINES, ChangeHeader, Sign
from recollect.stores.protocol import Store, Writer


def look(mem: recollect.Recollect, owner: str | None = "ana") -> ChangeHeader:
    return change_header(mem.engine, thread="chat", owner=owner)


def add(mem: recollect.Recollect, content: str, **fields: Any) -> str:
    memory = mem.add(content, **{"owner": "ana", **fields}).memory
    assert memory is not None
    return str(memory.id)


STEP = st.one_of(
    st.tuples(st.just("add"), st.integers(1, 5), st.sampled_from(["shared", "critic"])),
    st.tuples(st.sampled_from(["update", "edit", "forget", "restore", "archive"]), st.integers(0, 5)),
    st.tuples(st.just("look"), st.sampled_from(["planner", "critic"])),
)


class Model:
    """What each thread believes, and which memories have changed since it was told of them."""

    def __init__(self, mem: recollect.Recollect) -> None:
        self.mem = mem
        self.agents = {agent: mem.as_caller(agent=agent, user="ana") for agent in ("planner", "critic")}
        self.believed: dict[str, set[int]] = {agent: set() for agent in self.agents}
        self.changed: dict[str, set[int]] = {agent: set() for agent in self.agents}
        self.memories: list[tuple[str, str, str]] = []
        self.edits = 0
        for caller in self.agents.values():
            look(caller, owner=None)

    def expect(self, number: int) -> None:
        """A thread waits for what holds now, and for what it believes and is gone; not for what went unseen."""
        id, _, scope = self.memories[number]
        active = self.mem.get(id).status == "active"
        for agent, changed in self.changed.items():
            if scope in ("shared", agent) and (active or number in self.believed[agent]):
                changed.add(number)
            else:
                changed.discard(number)

    def add(self, importance: int, scope: str) -> None:
        number = len(self.memories)
        key = f"Thing-{number}-Name"
        id = add(self.mem, f"Thing {key} is new", canonical_key=key, importance=importance, scope=scope)
        self.memories.append((id, key, scope))
        self.expect(number)

    def act(self, verb: str, which: int) -> None:
        """Do something to a memory, if it is in a state for it."""
        if not self.memories:
            return
        number = which % len(self.memories)
        id, key, scope = self.memories[number]
        active = self.mem.get(id).status == "active"
        if active != (verb != "restore"):
            return
        if verb == "update":
            new = add(self.mem, f"Thing {key} follows {id}", canonical_key=key, change="update", scope=scope)
            self.memories[number] = new, key, scope
        elif verb == "edit":
            self.edits += 1
            self.mem.edit(id, importance=1 + which % 5, tags=[f"edit-{self.edits}"])
        else:
            getattr(self.mem, verb)(id)
        self.expect(number)

    def look(self, agent: str) -> int:
        header, changed = look(self.agents[agent], owner=None), self.changed[agent]
        assert len(header.lines) == min(MAX_LINES, len(changed)) == header.rev - header.since
        for line in header.lines:
            number = next(n for n, (id, _, _) in enumerate(self.memories) if id == line.memory_id)
            changed.remove(number)  # it was waiting, and waits no longer
            gone = line.sign in (Sign.DELETED, Sign.SOFT_DELETED)
            memory = self.mem.get(line.memory_id)
            assert gone == (memory.status != "active") and line.content == memory.content
            (self.believed[agent].discard if gone else self.believed[agent].add)(number)
        assert header.more == len(changed)
        return len(header.lines)


@settings(max_examples=40)
@given(st.lists(STEP, max_size=40))
def test_whatever_happens_each_thread_is_shown_exactly_what_it_waits_for(steps: list[tuple[Any, ...]]) -> None:
    with recollect.open(":memory:") as mem:
        model = Model(mem)
        for verb, *args in steps:
            if verb in ("add", "look"):
                getattr(model, verb)(*args)
            else:
                model.act(verb, *args)
        for agent, changed in model.changed.items():
            while model.look(agent):
                pass
            assert not changed


class Interrupted:
    """A store on which something else happens just before a write: between a look and its move."""

    def __init__(self, store: Store, times: int, happens: Callable[[], object]) -> None:
        self._store = store
        self._times = times
        self._happens = happens

    def write(self, *args: Any, **kwargs: Any) -> AbstractContextManager[Writer]:
        if self._times:
            self._times -= 1
            self._happens()
        return self._store.write(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def look_interrupted(mem: recollect.Recollect, happens: Callable[[], object], times: int = 1) -> ChangeHeader:
    engine = replace(mem.engine, store=Interrupted(mem.engine.store, times, happens))
    return change_header(engine, thread="chat", owner="ana")


def test_of_two_that_look_at_once_one_is_shown_it(place: str) -> None:
    with recollect.open(place) as mem:
        others: list[ChangeHeader] = []
        first = look_interrupted(mem, lambda: others.append(look(mem)))
        assert first == others.pop() == ChangeHeader(0, 0), "both began the thread, and it began once"
        id = add(mem, "Ana likes tea")
        mine = look_interrupted(mem, lambda: others.append(look(mem)))
        assert mine == ChangeHeader(1, 1)
        assert [line.memory_id for line in others[0].lines] == [id]


def test_who_always_comes_late_is_shown_nothing_and_nothing_is_lost(place: str) -> None:
    with recollect.open(place) as mem:
        look(mem)
        add(mem, "Thing 0 is new", title="thing 0")
        others: list[ChangeHeader] = []

        def quicker() -> None:
            others.append(look(mem))
            add(mem, f"Thing {len(others)} is new", title=f"thing {len(others)}")

        late = look_interrupted(mem, quicker, times=LOOKS)
        assert late.lines == () and late.since == late.rev
        shown = [line.content for header in (*others, look(mem)) for line in header.lines]
        assert shown == [f"Thing {number} is new" for number in range(LOOKS + 1)]


def test_what_is_erased_between_look_and_answer_is_not_in_it(place: str) -> None:
    with recollect.open(place) as mem:
        look(mem)
        id = add(mem, "Ana lives in Zanzibar")
        add(mem, "The sky is blue")
        header = look_interrupted(mem, lambda: mem.erase(id=id))
        assert [line.content for line in header.lines] == ["The sky is blue"]


WRITERS, READERS, ROUNDS = 3, 2, 4


def write_all(place: str, writer: int, made: Any) -> None:
    """Each round three new memories: what changes more than once may be told once, depending on who looks when."""
    with recollect.open(place) as mem:
        for number in range(ROUNDS):
            for colour in ("amber", "teal", "plum"):
                id = add(mem, f"Lamp {writer}.{number} is {colour}", canonical_key=f"Lamp-{writer}-{number}-{colour}")
                made.put(("+created", id))


def read_all(place: str, over: Any, shown: Any) -> None:
    """Read one thread until the writers are done and nothing is left."""
    with recollect.open(place) as mem:
        while True:
            last = over.is_set()
            header = look(mem)
            shown.put((header.since, header.rev, [(str(line.sign), line.memory_id) for line in header.lines]))
            if last and not header.lines:
                return


def test_of_many_writers_and_two_readers_each_change_is_in_exactly_one_answer(place: str) -> None:
    with recollect.open(place) as mem:
        look(mem)
    with forked.Manager() as manager:
        made, shown, over = manager.Queue(), manager.Queue(), manager.Event()
        writers = [forked.Process(target=write_all, args=(place, writer, made)) for writer in range(WRITERS)]
        readers = [forked.Process(target=read_all, args=(place, over, shown)) for _ in range(READERS)]
        for process in (*readers, *writers):
            process.start()
        for process in writers:
            process.join(120)
        over.set()
        for process in readers:
            process.join(120)
        assert [process.exitcode for process in (*writers, *readers)] == [0] * (WRITERS + READERS)
        changes = [made.get() for _ in range(made.qsize())]
        answers = sorted(shown.get() for _ in range(shown.qsize()))
    assert len(changes) == WRITERS * ROUNDS * 3
    assert Counter(one for _, _, lines in answers for one in lines) == Counter(changes)
    told_something = [(since, rev) for since, rev, lines in answers if lines]
    assert [since for since, _ in told_something] == [0, *(rev for _, rev in told_something[:-1])]
    assert told_something[-1][1] == len(changes), "the revision rose by one with every change, and without a gap"
