"""Operational events: noted wherever something is done, without content, for those who may see them, and erasable."""

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.context import FLUSH_AFTER_S
from recollect.interfaces.python import Recollect
from recollect.stores.sqlite import SqliteStore
from rows import every_row
from support import script
from support.determinism import SeededRandomness
from support.invariants import all_memories

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def wait(self, **duration: float) -> None:
        self.now += timedelta(**duration)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mem(clock: Clock) -> Iterator[Recollect]:
    with recollect.open(":memory:", clock=clock) as opened:
        yield opened


def done(mem: Recollect, **which: Any) -> list[tuple[str, str, str]]:
    """What was done, oldest first, as (node, op, status)."""
    return [(one.node, one.op, one.status) for one in reversed(mem.events(**which).items)]


def since(mem: Recollect, act: Callable[[], object]) -> list[tuple[str, str, str]]:
    """What an act adds to what was done before it."""
    before = len(mem.events(limit=1_000).items)
    act()
    return done(mem, limit=1_000)[before:]


def written(*ops: str, node: str = "hotpath") -> list[tuple[str, str, str]]:
    return [(node, op, "ok") for op in ops]


def test_every_outcome_of_a_write_is_noted(mem: Recollect) -> None:
    lisbon = "Ana lives in Lisbon"
    assert since(mem, lambda: mem.add(lisbon)) == written("classify", "search", "create")
    assert since(mem, lambda: mem.add(lisbon)) == written("classify", "search", "merge")
    assert since(mem, lambda: mem.add("Ana now lives in Porto")) == written("classify", "search", "update")
    guess = {"content": "Ana moved to Rome", "source": "agent"}
    assert since(mem, lambda: mem.add(**guess)) == written("classify", "search", "update")
    assert since(mem, lambda: mem.add("my password is hunter2-Zx9Q")) == [("hotpath", "classify", "skipped")]


@pytest.mark.parametrize("kind", ["episodic", "short_term"])
def test_events_of_a_conversation_have_a_node_of_their_own(mem: Recollect, kind: str) -> None:
    said = mem.add("We talked about tea", kind=kind).memory
    assert said is not None
    assert done(mem) == written("classify", "create", node="episodic")
    assert since(mem, lambda: mem.forget(said.id)) == written("delete", node="episodic")


def test_a_batch_notes_each_of_its_memories(mem: Recollect) -> None:
    mem.add_many([{"content": "Tea is hot"}, {"content": "heartbeat"}, {"content": "We met", "kind": "episodic"}])
    assert done(mem) == [
        *written("classify", "search", "create"),
        ("hotpath", "classify", "skipped"),
        *written("classify", "create", node="episodic"),
    ]


def test_the_best_neighbour_s_likeness_is_told(mem: Recollect) -> None:
    mem.add("Ana is allergic to roasted peanuts")
    act = lambda: mem.add("Ben is allergic to roasted peanuts")  # noqa: E731
    assert since(mem, act) == written("classify", "search", "create", "link")
    link, created, search, classify = mem.events(limit=4).items
    assert search.similarity == link.similarity and 0.6 <= float(search.similarity or 0) < 1
    assert created.similarity is classify.similarity is None
    mem.add("Ben is allergic to roasted peanuts")
    assert mem.events(op="search", limit=1).items[0].similarity == 1.0


def test_a_refused_near_duplicate_says_how_near() -> None:
    with recollect.open(":memory:", policy="vault") as mem:
        mem.add("The deploy target is the blue cluster", title="Deploy target")
        mem.add("The deploy target is the blue cluster!", title="Where to deploy")
        search, classify = mem.events(limit=2).items
        assert (classify.op, classify.status) == ("classify", "skipped")
        assert (search.op, search.memory_id) == ("search", None) and float(search.similarity or 0) > 0.7


def test_what_people_do_is_noted(mem: Recollect) -> None:
    tea, other = (mem.add(words).memory.id for words in ("Tea is hot", "Ink is blue"))  # type: ignore[union-attr]
    for act, op in (
        (lambda: mem.edit(tea, category="drinks"), "update"),
        (lambda: mem.archive(tea), "update"),
        (lambda: mem.restore(tea), "update"),
        (lambda: mem.forget(tea), "delete"),
    ):
        assert since(mem, act) == written(op)
    mem.erase(id=other)
    assert done(mem)[-1:] == written("delete")
    assert [one.category for one in mem.events(op="update").items] == ["drinks", "drinks", "drinks"]


def test_settling_a_contradiction_is_noted(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon")
    guess = mem.add("Ana moved to Rome", source="agent").memory
    assert guess is not None
    assert since(mem, lambda: mem.resolve(guess.id, winner=guess.id)) == written("update")
    assert mem.events(limit=1).items[0].memory_id == guess.id


def test_upkeep_is_the_worker_s(mem: Recollect, clock: Clock) -> None:
    mem.add("Lunch is at noon", expires_at="2026-03-02T00:00:00Z")
    mem.add("Ink is blue", importance=1)
    clock.wait(days=2)
    assert since(mem, mem.upkeep) == written("ttl", node="worker")
    clock.wait(days=59)
    mem.upkeep()
    assert done(mem, node="worker") == written("ttl", "delete", node="worker"), "one unused, one purged"
    assert [one.memory_id is None for one in mem.events(node="worker").items] == [True, False]


def test_a_write_notes_what_it_finds_expired(mem: Recollect, clock: Clock) -> None:
    mem.add("Lunch is at noon", expires_at="2026-03-02T00:00:00Z")
    clock.wait(days=2)
    assert since(mem, lambda: mem.add("Ink is blue"))[0] == ("worker", "ttl", "ok")


def test_consolidation_is_the_worker_s(mem: Recollect) -> None:
    for title, words in (
        ("a one", "The build server stands in the old hall in Frankfurt"),
        ("b two", "The build server stands in the old hall in Frankfurt."),
        ("c three", "The test server stands in the old hall in Frankfurt"),
    ):
        mem.add(words, title=title)
    assert since(mem, lambda: mem.consolidate()) == []
    assert set(since(mem, lambda: mem.consolidate(force=True))) == set(written("link", "merge", node="worker"))
    assert set(since(mem, lambda: mem.consolidate(undo=True))) == set(written("link", "update", node="worker"))


def test_a_query_is_noted_without_waiting_for_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.add("Tea is hot", owner="ana")
        with busy(path):
            started = time.monotonic()
            assert mem.query("tea", owner="ana").items
            assert done(mem, node="context") == [], "nobody waits for it to be written"
            assert time.monotonic() - started < 1
        assert eventually(lambda: done(mem, node="context", user="ana") == [("context", "search", "ok")])


def test_what_waits_is_written_in_time_and_when_closing(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.query("tea")
        assert eventually(lambda: len(rows(path)) == 1)
        mem.query("tea")
    assert len(rows(path)) == 2


def test_no_query_is_lost_or_counted_twice(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as mem:
        threads = [threading.Thread(target=lambda: [mem.query("tea") for _ in range(25)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            mem.ops()
        assert eventually(lambda: [one.count for one in mem.ops(by="total")] == [100])


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_leaves_what_waits_to_its_parent(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as mem:
        mem.query("tea")
        child = os.fork()
        if child == 0:
            mem.query("tea in the child")
            mem.close()
            os._exit(0)
        mem.add("Meanwhile in the parent")
        assert os.waitpid(child, 0)[1] == 0
        assert eventually(lambda: len(mem.events(node="context").items) == 2)


def test_a_store_that_fails_leaves_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path, timeout_s=0.05) as mem:
        id = mem.add("Tea is hot").memory.id  # type: ignore[union-attr]
        ana = mem.as_caller(user="ana", session="s1", rights=["read", "write", "operate", "govern", "erase"])
        with busy(path):
            for act in (
                lambda: ana.add("Ink is blue"),
                lambda: mem.forget(id),
                lambda: mem.edit(id, pinned=True),
                lambda: mem.upkeep(),
                lambda: mem.erase(owner="ben"),
            ):
                with pytest.raises(recollect.StoreBusy):
                    act()
        assert eventually(lambda: len(mem.events(status="error").items) == 5)
        failed = mem.events(status="error").items
        assert [(one.node, one.op) for one in reversed(failed)] == [
            ("hotpath", "create"), ("hotpath", "delete"), ("hotpath", "update"), ("worker", "ttl"), ("hotpath", "delete")
        ]  # fmt: skip
        assert (failed[-1].user, failed[-1].thread) == ("ana", "s1")


def test_a_bug_leaves_an_error_and_comes_out_as_it_is() -> None:
    class Broken(SeededRandomness):
        def bytes(self, count: int) -> bytes:
            if self.broken:
                raise ZeroDivisionError
            return super().bytes(count)

        broken = False

    randomness = Broken(1)
    with recollect.open(":memory:", randomness=randomness) as mem:
        randomness.broken = True
        with pytest.raises(ZeroDivisionError):
            mem.add("Tea is hot")
        assert done(mem) == [("hotpath", "create", "error")]


def test_a_refusal_is_no_error(mem: Recollect) -> None:
    for act in (lambda: mem.get("00000000"), lambda: mem.forget("00000000"), lambda: mem.add("x", colour="red")):
        with pytest.raises((recollect.NotFound, recollect.BadInput)):
            act()
    assert done(mem) == []


def test_user_and_thread_come_from_the_memory_then_from_the_caller(mem: Recollect) -> None:
    ana = mem.as_caller(user="ana", session="s1", projects=["apollo"])
    for act, expected in (
        (lambda: mem.add("One", owner="apollo", space="project", user_id="zoe", thread_id="t9"), ("zoe", "t9")),
        (lambda: mem.add("Two", owner="ben"), ("ben", None)),
        (lambda: mem.add("Three", space="project", owner="apollo"), (None, None)),
        (lambda: ana.add("Four", space="project", owner="apollo"), ("ana", "s1")),
        (lambda: ana.add("Five", thread_id="t2"), ("ana", "t2")),
        (lambda: ana.query("Five"), ("ana", "s1")),
        (lambda: mem.query("Two", owner="ben"), ("ben", None)),
        (lambda: mem.query("Two"), (None, None)),
        (lambda: mem.query("Two", owner="nobody we know"), (None, None)),
        (lambda: ana.query("Two", owner="ben"), ("ana", "s1")),
    ):
        act()
        newest = mem.events(limit=1).items[0]
        assert (newest.user, newest.thread) == expected


def test_what_was_refused_is_not_repeated(tmp_path: Path) -> None:
    secret = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS4tU6" * 2
    with recollect.open(tmp_path / "m.db") as mem:
        for fields in ({"category": secret}, {"user_id": secret}, {"thread_id": secret}, {"owner": secret}):
            assert mem.add("Tea is hot", **fields).denied
        assert done(mem) == [("hotpath", "classify", "skipped")] * 4
        assert mem.add("my password is hunter2-Zx9Q", owner="ana", thread_id="t1").denied
        newest = mem.events(limit=1).items[0]
        assert (newest.user, newest.thread) == ("ana", "t1"), "an ordinary name may be told"
    assert secret.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_a_bound_caller_cannot_write_into_another_s_events(mem: Recollect) -> None:
    ben = mem.as_caller(user="ben")
    assert ben.add("Ana owes me money", owner="ana", user_id="ana", thread_id="ana's").denied
    assert [one.user for one in mem.events().items] == ["ben"]


def test_a_bound_caller_sees_its_own_user_s(mem: Recollect) -> None:
    ana, ben = mem.as_caller(user="ana"), mem.as_caller(user="ben")
    ana.add("Tea is hot")
    ben.add("Ink is blue")
    mem.add("Grass is green", space="system", owner="house")
    assert {one.user for one in ana.events().items} == {"ana"} and len(ana.events(user="ana").items) == 3
    assert sum(one.count for one in ana.ops()) == sum(one.count for one in ana.ops(user="ana")) == 3
    for act in (lambda: ana.events(user="ben"), lambda: ana.ops(user="ben")):
        with pytest.raises(recollect.NotAllowed):
            act()
    operator = mem.as_caller(user="ops", rights=["read", "operate"])
    assert len(operator.events().items) == 9 and len(operator.events(user="ben").items) == 3
    with pytest.raises(recollect.NotAllowed):
        mem.as_caller(user="ana", rights=["write"]).events()


def test_what_another_agent_alone_sees_is_not_told(mem: Recollect) -> None:
    planner, critic = (mem.as_caller(user="ana", agent=agent, session="s1") for agent in ("planner", "critic"))
    for n in range(5):
        critic.add(f"Remark number {n}", kind="episodic")
        planner.add(f"Secret step {n}", kind="episodic", scope="planner")
    seen = critic.events(limit=1_000).items
    assert len(seen) == 10 and len(planner.events(limit=1_000).items) == 20
    pages, cursor = list(critic.events(limit=2).items), critic.events(limit=2).next_cursor
    while cursor is not None:
        page = critic.events(limit=2, cursor=cursor)
        pages, cursor = pages + list(page.items), page.next_cursor
    assert pages == list(seen), "what is hidden leaves no gap in the pages"


def test_pages_and_times(mem: Recollect, clock: Clock) -> None:
    for n in range(4):
        mem.add(f"Number {n} is {n * n}", kind="episodic")
        clock.wait(hours=1)
    first = mem.events(limit=5)
    rest = mem.events(limit=5, cursor=first.next_cursor)
    assert rest.next_cursor is None
    assert [*first.items, *rest.items] == list(mem.events().items)
    for moment in (START + timedelta(hours=2), "2026-03-01T11:00:00Z", "2026-03-01T12:00:00+01:00"):
        assert len(mem.events(since=moment).items) == 4
    assert [(one.period, one.count) for one in mem.ops(by="hour") if one.op == "create"] == [
        (f"2026-03-01T{9 + n:02d}", 1) for n in range(4)
    ]
    assert [(one.period, one.count) for one in mem.ops(since=START + timedelta(hours=3))] == [("2026-03-01", 1)] * 2
    assert [(one.period, one.op, one.count) for one in mem.ops(by="total")] == [("", "classify", 4), ("", "create", 4)]


@every_row(
    ("field", "value"),
    [
        ("limit", 0), ("limit", 1_001), ("limit", "5"), ("user", ""), ("user", 5), ("thread", "\x00"), ("node", "kitchen"),
        ("op", "guess"), ("status", "fine"), ("since", "yesterday"), ("since", "2026-01-01T00:00:00"), ("since", 5),
        ("since", datetime(2026, 1, 1)), ("cursor", "nonsense"), ("cursor", ""), ("cursor", "WzEsMiwzXQ=="), ("cursor", 7),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_named(mem: Recollect, field: str, value: Any) -> None:
    with pytest.raises(recollect.BadInput) as raised:
        mem.events(**{field: value})
    assert raised.value.field == field
    with pytest.raises(recollect.BadInput):
        mem.ops(by="fortnight")


def test_keeping_none_changes_nothing_else() -> None:
    states = []
    for policy in ({}, {"operations": {"keep": False}}):
        with script.open_seeded(policy=policy) as mem:
            script.run(mem, seed=3, steps=60)
            states.append(script.digest(mem))
            assert bool(mem.events().items) is (policy == {})
            assert mem.verify().ok
    assert states[0] == states[1]


def test_the_old_are_removed_by_upkeep(clock: Clock) -> None:
    with recollect.open(":memory:", clock=clock, policy={"operations": {"keep_days": 10}}) as mem:
        mem.add("Tea is hot", importance=5)
        clock.wait(days=9)
        mem.add("Ink is blue", importance=5)
        mem.upkeep()
        assert len(mem.events().items) == 6
        clock.wait(days=2)
        mem.upkeep()
        assert len(mem.events().items) == 3


@pytest.mark.parametrize("seed", [3])
def test_what_is_about_a_memory_bears_the_time_of_one_of_its_entries(seed: int) -> None:
    """Erasure finds rows by it; and what was erased or purged is named nowhere."""
    with script.open_seeded(seed=seed) as mem:
        script.run(mem, seed, steps=150)
        times = {id: {event.at for event in mem.history(id)} for id in all_memories(mem)}
        noted = [one for one in mem.events(limit=1_000).items if one.memory_id in times]
        assert noted and all(one.at in times[str(one.memory_id)] for one in noted)
        assert {one.memory_id for one in mem.events(limit=1_000).items} - {None} <= all_memories(mem).keys()


def test_an_erased_person_is_named_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.as_caller(user="ana-quartz", session="ana-quartz").add("Ana went to Zanzibar", thread_id="topaz-thread")
        mem.add("What she told Ben", owner="bens", space="project", user_id="ana-quartz")
        mem.add("Ben stayed", owner="ben")
        mem.query("Zanzibar", owner="ana-quartz")
    shutil.copy(path, tmp_path / "backup")
    with recollect.open(path) as mem:
        mem.query("Zanzibar", owner="ana-quartz")
        mem.as_caller(user="ana-quartz", rights=["read", "erase"]).erase(owner="ana-quartz")
        assert {one.user for one in mem.events().items} == {"ben", None}
        assert done(mem, op="delete") == [("hotpath", "delete", "ok")] * 2
    with closing(sqlite3.connect(path)) as db:
        assert b"ana-quartz" not in repr(db.execute("SELECT * FROM operations").fetchall()).encode()
    shutil.copy(tmp_path / "backup", path)
    with recollect.open(path) as mem:
        assert {one.user for one in mem.events().items} == {"ben"}, "a restored copy forgets again"
    (tmp_path / "backup").unlink()
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"topaz-thread" not in left and b"ana-quartz" not in left


def test_what_waits_does_not_slip_in_behind_an_erasure(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.add("Ana went to Zanzibar", owner="ana")
        mem.query("Zanzibar", owner="ana")
        erasing = threading.Thread(target=lambda: mem.erase(owner="ana"))
        reading = threading.Thread(target=lambda: mem.events())
        with busy(path):
            erasing.start()
            time.sleep(0.1)
            reading.start()
            time.sleep(0.1)
        erasing.join()
        reading.join()
        mem.add("Ben stayed", owner="ben")
        assert {one.user for one in mem.events().items} == {"ben", None}


def test_an_erased_memory_takes_its_events_along(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as mem:
        kept = mem.add("Tea is hot", owner="ana").memory
        gone = mem.add("Zinc is grey", owner="ana", category="amethyst", user_id="ana", thread_id="jade").memory
        assert kept is not None and gone is not None
        mem.add("Zinc is grey", owner="ana", thread_id="onyx-thread")
        mem.edit(gone.id, category="beryl-category")
        mem.erase(id=gone.id)
        assert {one.memory_id for one in mem.events(limit=1_000).items} == {kept.id, None}
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not [word for word in (b"amethyst", b"opal-user", b"onyx-thread", b"beryl-category") if word in left]


def test_an_owner_s_history_is_everything_in_order(mem: Recollect, clock: Clock) -> None:
    expected = []
    for n, where in enumerate(({}, {"namespace": "test"}, {"space": "session"}, {})):
        id = mem.add(f"Chapter {n} has {n} pages", owner="ana", **where).memory.id  # type: ignore[union-attr]
        clock.wait(seconds=1)
        mem.edit(id, tags=[f"t{n}"])
        expected += [(id, "ADD"), (id, "UPDATE")]
        mem.add("Noise", owner="ben")
        clock.wait(seconds=1)
    told = [event for event in mem.history(owner="ana") if event.event != "LINK"]
    assert [(event.memory_id, event.event) for event in told] == expected
    assert [event.meta["namespace"] for event in told[::2]] == ["prod", "test", "prod", "prod"]
    assert told[1].meta["values"] == {"set": {"tags": ["t0"]}} and told[1].actor == "system:application"
    assert list(mem.history(owner="nobody")) == []


def test_a_long_history_comes_whole_and_stops_where_it_stood(mem: Recollect) -> None:
    mem.add_many([{"content": f"Word {n}", "owner": "ana", "kind": "episodic"} for n in range(450)])
    told = mem.history(owner="ana")
    first = next(told)
    mem.add("Said while it was being told", owner="ana", kind="episodic")
    assert [event.meta["seq"] for event in (first, *told)] == list(range(1, 451))


def test_an_owner_s_history_keeps_to_the_borders(mem: Recollect) -> None:
    ana = mem.as_caller(user="ana", agent="critic")
    ana.add("For all to see")
    mem.add("For the planner", owner="ana", scope="planner")
    assert [event.event for event in ana.history(owner="ana")] == ["ADD"]
    assert list(mem.as_caller(user="ben").history(owner="ana")) == []
    for arguments in ({}, {"id": "00000000", "owner": "ana"}):
        with pytest.raises(recollect.BadInput):
            mem.history(**arguments)


@contextmanager
def busy(path: Path) -> Iterator[None]:
    """Somebody else is writing, and takes long."""
    with closing(SqliteStore(path, fresh_store_id="unused")) as other, other.write("default"):
        yield


def eventually(true: Callable[[], bool]) -> bool:
    """Whether it comes true in good time: the store may be busy at the very moment when what waits is to be written."""
    deadline = time.monotonic() + 10 * FLUSH_AFTER_S
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return true()


def rows(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM operations").fetchall()
