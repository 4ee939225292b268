"""Roll-back of belief: what was active at an earlier tick or time, from the chain, and nothing more than may be seen today."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from interfaces.shell import Shell
from recollect.engine.read import as_of
from recollect.interfaces.python import Recollect
from recollect.interfaces.python.past import Past
from recollect.model.ledger import Address
from recollect.model.receipt import Difference
from recollect.model.record import Memory
from rows import every_row
from support.invariants import EVERYWHERE, all_memories
from support.script import open_seeded, run

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class Calendar:
    """A clock that stands still until it is moved."""

    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Calendar:
    return Calendar()


@pytest.fixture
def mem(clock: Calendar) -> Iterator[Recollect]:
    with recollect.open(":memory:", clock=clock) as opened:
        yield opened


def contents(view: Recollect | Past, **filters: Any) -> list[str]:
    return [memory.content for memory in view.list(**filters).items]


NOT_OF_THE_LEDGER = ("access_count", "last_accessed", "parent_refs")
"""Counters are kept beside the ledger, and a parent's hash goes when the parent is erased."""
SEEDS = range(40 if os.environ.get("RECOLLECT_TORTURE") else 2)
STEPS = 40


Belief = dict[str, dict[str, Any]]


class Remembered(NamedTuple):
    """One stream after one of its ticks."""

    uid: str
    address: Address
    tick: int

    def filters(self) -> dict[str, Any]:
        _, namespace, space, owner = self.address
        return {"owner": owner, "space": space, "include_namespaces": [namespace], "limit": 1_000}


def _records(memories: tuple[Memory, ...]) -> Belief:
    return {m.id: {k: v for k, v in m.to_dict().items() if k not in NOT_OF_THE_LEDGER} for m in memories}


def _streams(mem: Recollect) -> list[Remembered]:
    with mem.engine.read() as reader:
        streams = reader.streams_of(mem.engine.tenant)
    return [Remembered(s.uid, s.address, s.tick) for s in streams if s.address is not None]


def _check_every_step(mem: Recollect, seed: int, every: int = 1) -> None:
    """Run a script, then compare what was believed after its steps, or after every so many of them, with what is shown now."""
    by_tick: dict[Remembered, Belief] = {}
    by_time: dict[datetime, Belief] = {}
    for step in range(STEPS):
        run(mem, seed * 1_000 + step, steps=1)
        moment = mem.engine.clock()
        by_tick |= {where: _records(mem.list(**where.filters()).items) for where in _streams(mem)}
        by_time[moment] = _records(mem.list(include_namespaces=EVERYWHERE, limit=1_000).items)
    left = set(all_memories(mem))
    there = {where.uid for where in _streams(mem)}
    assert len({where.tick for where in by_tick}) > 5 and len(by_time) == STEPS, "the script did something"
    for where, belief in islice(by_tick.items(), 0, None, every):
        if where.uid not in there:
            continue
        seen = _records(mem.as_of(tick=where.tick).list(**where.filters()).items)
        assert seen == {id: record for id, record in belief.items() if id in left}, where
        if where.tick % 7 == 0:
            _check_pages(mem.as_of(tick=where.tick), where, list(seen))
    _check_differences(mem, by_tick, there)
    for moment, belief in islice(by_time.items(), 0, None, every):
        view = mem.as_of(time=moment)
        listed = view.list(include_namespaces=EVERYWHERE, limit=1_000).items
        assert _records(listed) == {id: record for id, record in belief.items() if id in left}, moment
        assert [view.get(memory.id) for memory in listed[:3]] == list(listed[:3]), "one by one it is the same"


def _check_pages(view: Past, where: Remembered, whole: list[str]) -> None:
    """Page by page it is the same list as at once, for all and under a filter."""
    pages, cursor = [], None
    while True:
        page = view.list(**where.filters() | {"limit": 2}, cursor=cursor)
        pages += [memory.id for memory in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert pages == whole, where
    pinned = [memory.id for memory in view.list(**where.filters(), pinned=True).items]
    assert [memory.id for memory in view.list(**where.filters() | {"limit": 1}, pinned=True).items] == pinned[:1], where


def _check_differences(mem: Recollect, by_tick: dict[Remembered, Belief], there: set[str]) -> None:
    """What differs between neighbouring ticks, and between the first and the last, is what the two beliefs differ by."""
    for uid in there:
        ticks = sorted((where for where in by_tick if where.uid == uid), key=lambda where: where.tick)
        for old, new in [*pairwise(ticks), (ticks[0], ticks[-1]), (ticks[-1], ticks[0])]:
            namespace = [str(new.address.namespace)]
            points = [as_of.Point(tick=where.tick) for where in (old, new)]
            place = {"owner": new.address.owner, "space": new.address.space, "include_namespaces": namespace}
            found = as_of.difference(mem.engine, *points, **place)
            _check_pages_of_difference(mem, found, points, place)
            left = set(all_memories(mem))
            before, after = ({id for id in by_tick[where] if id in left} for where in (old, new))
            gone = {one.id for one in found.removed} | {one.id for one, _ in found.replaced}
            came = {one.id for one in found.added} | {one.id for _, one in found.replaced}
            assert (gone, came) == (before - after, after - before), (old, new)


def _check_pages_of_difference(
    mem: Recollect, whole: Difference, points: list[as_of.Point], place: dict[str, Any]
) -> None:
    """Page by page a difference has what it has at once, each change on one page."""
    pages = [as_of.difference(mem.engine, *points, **place, limit=3)]
    while (cursor := pages[-1].next_cursor) is not None:
        pages.append(as_of.difference(mem.engine, *points, **place, limit=3, cursor=cursor))
    for name in ("added", "replaced", "removed"):
        paged = [item for page in pages for item in getattr(page, name)]
        assert sorted(map(str, paged)) == sorted(map(str, getattr(whole, name))), name


@pytest.mark.parametrize("seed", SEEDS)
def test_every_earlier_belief_comes_back_from_a_file(tmp_path: Path, seed: int) -> None:
    with open_seeded(tmp_path / "a.db", seed) as mem:
        _check_every_step(mem, seed)


@pytest.mark.parametrize("seed", SEEDS[-1:] if len(SEEDS) < 10 else SEEDS)
def test_every_earlier_belief_comes_back_from_a_server(server_store: str, seed: int) -> None:
    with open_seeded(server_store, seed) as mem:
        _check_every_step(mem, seed, every=3)


def _ranked(view: Recollect | Past, question: str) -> list[tuple[str, float, tuple[str, ...]]]:
    return [(item.memory.id, item.score, item.shadowed) for item in view.query(question, top_k=20).items]


def test_a_question_is_answered_as_it_was_then_to_the_last_digit(mem: Recollect, clock: Calendar) -> None:
    said: list[dict[str, Any]] = [
        {"content": "Ana likes green tea", "owner": "ana"},
        {"content": "The green room is where tea is served", "owner": "ana", "ttl_ticks": 3},
        {"content": "Ben likes black tea, and tea alone", "owner": "ben"},
        {"content": "Ana no longer likes green tea", "owner": "ana"},
        {"content": "Green is the colour of the door", "owner": "ana", "space": "project"},
        {"content": "Tea comes at four", "owner": "ana", "expires_at": START + 6 * DAY},
        {"content": "The door is painted red now", "owner": "ana"},
        {"content": "Tea is over", "owner": "ana", "scope": "planner"},
    ]
    answers = []
    for number, fields in enumerate(said):
        clock.now = START + number * DAY
        mem.add(**fields)
        answers.append((clock.now, _ranked(mem, "green tea"), _ranked(mem, "door")))
    assert len({str(answer[1:]) for answer in answers}) > 5, "the answer kept changing"
    for moment, tea, door in answers:
        assert _ranked(mem.as_of(time=moment), "green tea") == tea
        assert _ranked(mem.as_of(time=moment), "door") == door


def test_an_older_version_was_the_one_believed(mem: Recollect) -> None:
    mem.add("The API port is 8080")
    new = mem.add("The API port is 9090").memory
    assert new is not None and contents(mem) == ["The API port is 9090"]
    (old,) = mem.as_of(tick=1).list().items
    assert (old.content, old.status, old.superseded_by_id) == ("The API port is 8080", "active", None)
    assert mem.as_of(tick=2).get(new.id).parent_refs == (old.content_hash,)
    assert [item.memory.id for item in mem.as_of(tick=1).query("api port").items] == [old.id]
    assert contents(mem.as_of(tick=2), status="superseded") == ["The API port is 8080"]


def test_what_was_edited_later_is_as_it_was(mem: Recollect) -> None:
    made = mem.add("Ana prefers dark mode", tags=["ui"], importance=3).memory
    assert made is not None
    mem.edit(made.id, tags=["theme"], importance=5, pinned=True, category="work")
    mem.forget(made.id)
    first, second = mem.as_of(tick=1), mem.as_of(tick=2)
    was = first.get(made.id)
    assert (was.tags, was.importance, was.pinned, was.category) == (("ui",), 3, False, "general")
    assert (second.get(made.id).tags, second.get(made.id).pinned) == (("theme",), True)
    assert mem.as_of(tick=3).get(made.id).status == "soft_deleted"
    assert contents(first, tags=["ui"]) and not contents(second, tags=["ui"])
    assert contents(second, pinned=True, importance_min=4, category="work") and not contents(first, pinned=True)


def test_before_the_first_tick_there_is_nothing(mem: Recollect) -> None:
    made = mem.add("Ana prefers dark mode").memory
    assert made is not None
    assert mem.as_of(tick=0).list(status=None).items == () and mem.as_of(tick=0).query("dark mode").items == ()
    with pytest.raises(recollect.NotFound, match="yet"):
        mem.as_of(tick=0).get(made.id)
    assert mem.as_of(time=START - DAY).list(status=None).items == ()


def test_a_point_that_is_still_to_come_is_now(mem: Recollect, clock: Calendar) -> None:
    mem.add("Ana prefers dark mode", owner="ana", expires_at=START + 2 * DAY)
    mem.add("Ana likes dark chocolate", owner="ana")
    for moment in (START, START + 3 * DAY):
        clock.now = moment
        for future in (mem.as_of(tick=99), mem.as_of(time=START + 400 * DAY)):
            assert _records(future.list(status=None).items) == _records(mem.list(status=None).items)
            assert _ranked(future, "dark") == _ranked(mem, "dark")


def test_expiry_is_judged_by_the_time_that_is_asked_for(mem: Recollect, clock: Calendar) -> None:
    made = mem.add("The guest code is tulip", expires_at=START + 2 * DAY).memory
    assert made is not None
    clock.now = START + 9 * DAY
    assert contents(mem) == []
    assert contents(mem.as_of(time=START + DAY)) == ["The guest code is tulip"]
    assert mem.as_of(time=START + DAY).query("guest code").items
    assert contents(mem.as_of(time=START + 2 * DAY)) == [], "nobody had swept it, and nobody saw it"
    assert mem.as_of(time=START + 2 * DAY).get(made.id).status == "soft_deleted"
    assert contents(mem.as_of(tick=1)) == ["The guest code is tulip"], "right after it was said"


def test_streams_that_stop_at_different_times_expire_by_their_own(mem: Recollect, clock: Calendar) -> None:
    """Ana is not at tick 2 yet, so hers is today; Ben passed it long ago, when what he knew still held."""
    mem.add("Ana's code is tulip", owner="ana", expires_at=START + 5 * DAY)
    mem.add("Ben's code is rose", owner="ben", expires_at=START + 5 * DAY)
    clock.now = START + DAY
    mem.add("Ben waters the garden", owner="ben")
    clock.now = START + 9 * DAY
    mem.add("Ben went home", owner="ben")
    view = mem.as_of(tick=2)
    assert sorted(contents(view)) == ["Ben waters the garden", "Ben's code is rose"]
    assert [item.memory.content for item in view.query("code").items] == ["Ben's code is rose"]


def test_ticks_are_each_stream_s_own(mem: Recollect) -> None:
    for owner in ("ana", "ben"):
        for number in (1, 2, 3):
            mem.add(f"Note {number} of {owner}", owner=owner, kind="episodic")
    assert sorted(contents(mem.as_of(tick=2))) == sorted(f"Note {n} of {o}" for n in (1, 2) for o in ("ana", "ben"))
    assert contents(mem.as_of(tick=2, owner="ana")) == ["Note 2 of ana", "Note 1 of ana"]
    assert contents(mem.as_of(tick=2, owner="ana"), owner="ben") == ["Note 2 of ben", "Note 1 of ben"]
    assert contents(mem.as_of(tick=2, space="project")) == []
    assert [item.memory.owner for item in mem.as_of(tick=1, owner="ben").query("note").items] == ["ben"]
    assert mem.as_of(tick=1, space="project").query("note").items == ()


def test_a_phase_is_seen_as_it_ended(mem: Recollect, clock: Calendar) -> None:
    answers = []
    for number, words in enumerate(["The plan is a red tent", "The plan is a blue tent", "A tent needs pegs"]):
        clock.now = START + number * DAY
        if number:
            mem.start_phase(owner="ana", space="project")
        mem.add(words, owner="ana", space="project", canonical_key=f"Tent-{number // 2}")
        mem.add(f"A passing thought about tent {number}", owner="ana", space="project", expires_at=clock.now + DAY / 2)
        answers.append((_records(mem.list(status=None).items), _ranked(mem, "tent")))
    mem.add("Ben sleeps in a tent", owner="ben", space="project")
    assert len({str(ranked) for _, ranked in answers}) == 3
    for number, (believed, ranked) in enumerate(answers, start=1):
        view = mem.as_of(phase=f"phase-{number}", owner="ana", space="project")
        assert (_records(view.list(status=None).items), _ranked(view, "tent")) == (believed, ranked)
    assert contents(mem.as_of(phase="phase-2"), owner="ben") == [], "Ben's time has one phase"
    assert contents(mem.as_of(phase="phase-1"), owner="ben") == ["Ben sleeps in a tent"], "and it goes on"
    clock.now += DAY
    assert "A passing thought about tent 2" not in contents(mem.as_of(phase="phase-3")), "it ends now"


def test_a_phase_that_nobody_may_know_of_is_not_found(mem: Recollect) -> None:
    mem.add("The plan is a red tent", owner="ana")
    mem.start_phase(owner="ana", space="user")
    mem.add("Ben sleeps in a tent", owner="ben")
    elsewhere: list[dict[str, Any]] = [{"owner": "ben"}, {"space": "project"}, {"owner": "nobody"}]
    for where in elsewhere:
        with pytest.raises(recollect.NotFound):
            mem.as_of(phase="phase-2", **where)
    ben = mem.as_caller(user="ben")
    for phase, owner in (("phase-2", None), ("phase-2", "ana"), ("phase-1", "ana")):
        with pytest.raises(recollect.NotFound):
            ben.as_of(phase=phase, owner=owner)
    assert contents(ben.as_of(phase="phase-1")) == ["Ben sleeps in a tent"]
    for odd in ("", 2, "x" * 300):
        with pytest.raises(recollect.BadInput):
            mem.as_of(phase=odd)  # type: ignore[arg-type]


def test_the_past_is_read_a_page_at_a_time(mem: Recollect) -> None:
    for number in range(7):
        mem.add(f"Note {number}", kind="episodic")
    view, cursor, seen = mem.as_of(tick=5), None, []
    for _ in range(3):
        page = view.list(limit=2, cursor=cursor)
        seen += [memory.content for memory in page.items]
        cursor = page.next_cursor
    assert seen == [f"Note {number}" for number in (4, 3, 2, 1, 0)] and cursor is None


def test_looking_back_leaves_no_mark(mem: Recollect) -> None:
    made = mem.add("Ana prefers dark mode").memory
    assert made is not None
    before = mem.state_hash(), mem.ledger_root()
    view = mem.as_of(tick=1)
    view.get(made.id), view.list(), view.query("dark mode")
    mem.engine.accesses.flush()
    assert (mem.state_hash(), mem.ledger_root()) == before
    assert mem.list().items[0].access_count == made.access_count
    assert len(mem.events(op="search", node="context").items) == 1, "it was a search all the same"


def test_what_was_erased_since_is_gone_from_the_past(mem: Recollect) -> None:
    old = mem.add("Ana lives in Lisbon", owner="ana").memory
    new = mem.add("Ana now lives in Porto", owner="ana").memory
    assert old is not None and new is not None
    view = mem.as_of(tick=1)
    assert contents(view) == ["Ana lives in Lisbon"]
    mem.erase(id=old.id)
    assert view.list(status=None).items == () and view.query("Ana lives Lisbon").items == ()
    with pytest.raises(recollect.NotFound, match="was erased since"):
        view.get(old.id)
    later = mem.as_of(tick=2).get(new.id)
    assert (later.content, later.parent_refs) == ("Ana now lives in Porto", ())
    mem.erase(owner="ana")
    assert mem.as_of(tick=2).list(status=None).items == () and mem.as_of(time=START).list(owner="ana").items == ()
    with pytest.raises(recollect.NotFound):
        mem.as_of(tick=2).get(new.id)


def test_what_was_purged_since_is_gone_from_the_past(mem: Recollect, clock: Calendar) -> None:
    made = mem.add("Ana lives in Lisbon").memory
    assert made is not None
    mem.forget(made.id)
    clock.now = START + 400 * DAY
    assert mem.upkeep().purged == (made.id,)
    assert mem.as_of(tick=1).list(status=None).items == ()
    with pytest.raises(recollect.NotFound, match="was purged since"):
        mem.as_of(tick=1).get(made.id)


def test_another_s_past_is_as_closed_as_their_present(mem: Recollect) -> None:
    made = mem.add("Ana keeps her savings under the mattress", owner="ana").memory
    mine = mem.add("Ana whispers to the planner", owner="ana", scope="planner").memory
    mem.add("Ben has none", owner="ben")
    assert made is not None and mine is not None
    ben, coder = mem.as_caller(user="ben"), mem.as_caller(user="ana", agent="coder")
    for view in (ben.as_of(tick=2), ben.as_of(time=START), ben.as_of(tick=2, owner="ana")):
        assert [m.owner for m in view.list(status=None, include_namespaces=EVERYWHERE).items] in ([], ["ben"])
        assert view.list(owner="ana").items == () and view.query("savings").items == ()
        assert _refusal(view, made.id) == _refusal(view, "7d7d7d7d-1111-5222-8333-444444444444")
    assert contents(coder.as_of(tick=2)) == ["Ana keeps her savings under the mattress"]
    assert [item.memory.id for item in coder.as_of(tick=2).query("whispers planner").items] == [made.id]
    with pytest.raises(recollect.NotFound):
        coder.as_of(tick=2).get(mine.id)
    assert len(mem.as_caller(user="ana", agent="planner").as_of(tick=2).list().items) == 2
    with pytest.raises(recollect.NotAllowed, match="right 'read'"):
        mem.as_caller(user="ana", rights=["write"]).as_of(tick=2).list()


def _refusal(view: Past, id: str) -> str:
    with pytest.raises(recollect.NotFound) as refused:
        view.get(id)
    return str(refused.value).replace(id, "…")


def test_a_view_can_look_through_an_agent_s_eyes_as_today(mem: Recollect) -> None:
    mem.add("The planner's drawer holds a compass", owner="ana", scope="planner")
    view = mem.as_of(tick=1)
    assert view.query("compass").items and view.query("compass", agent="planner").items
    assert view.query("compass", agent="coder").items == ()
    planner = mem.as_caller(user="ana", agent="planner").as_of(tick=1)
    assert planner.query("compass", agent="planner").items
    with pytest.raises(recollect.NotAllowed):
        planner.query("compass", agent="coder")


ODD_TICKS = (-1, True, "3")
ODD_TIMES = ("2026-03-01T12:00", datetime(2026, 3, 1), 12, "12", "yesterday")
ODD_POINTS: list[dict[str, Any]] = [{}, {"tick": 1, "time": START}, *({"tick": odd} for odd in ODD_TICKS)]


@every_row("asked", [*ODD_POINTS, *({"time": odd} for odd in ODD_TIMES)])
def test_a_point_that_makes_no_sense_is_refused(mem: Recollect, asked: dict[str, Any]) -> None:
    with pytest.raises(recollect.BadInput) as refused:
        mem.as_of(**asked)
    assert refused.value.field == ("time" if list(asked) == ["time"] else "tick")


def test_wrong_filters_are_refused_as_today(mem: Recollect) -> None:
    mem.add("Ana prefers dark mode")
    for wrong in ({"colour": "red"}, {"limit": 0}, {"space": "moon"}, {"status": "odd"}, {"cursor": "x"}):
        with pytest.raises(recollect.BadInput) as then:
            mem.as_of(tick=1).list(**wrong)
        with pytest.raises(recollect.BadInput) as now:
            mem.list(**wrong)
        assert str(then.value) == str(now.value)
    with pytest.raises(recollect.BadInput):
        mem.as_of(tick=1).query(" ")


def test_no_thread_looks_at_the_past(mem: Recollect) -> None:
    mem.add("Ana drinks tea", owner="ana")
    assert mem.query("tea", owner="ana", thread="T").header == ""
    mem.add("Ana brews tea at five", owner="ana")
    for view in (mem, mem.as_caller(user="ana")):
        with pytest.raises(recollect.BadInput, match="of today, not of the past") as refused:
            view.as_of(tick=1).query("tea", owner="ana", thread="T")
        assert refused.value.field == "thread" and refused.value.hint
    assert mem.as_of(tick=1).query("tea", owner="ana", thread=None).items
    assert "at five" in mem.query("tea", owner="ana", thread="T").header, "a refusal uses up no change"


def test_the_command_line_looks_back_too(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    with recollect.open(tmp_path / "recollect.db") as mem:
        first = mem.add("The API port is 8080", owner="ana").memory
        assert first is not None
        mem.start_phase(owner="ana", space="user")
        mem.add("The API port is 9090", owner="ana")
    then = first.created_at.isoformat()
    assert shell.json("list", "--as-of", "1")["items"][0]["content"] == "The API port is 8080"
    assert shell.json("get", first.short_id, "--as-of", then)["status"] == "active"
    found = shell.json("query", "api port", "--owner", "ana", "--as-of", "phase-1")["items"]
    assert [item["memory"]["id"] for item in found] == [first.id]
    assert shell.json("list", "--as-of", "2026-13-01", code=2)["error"]["field"] == "as_of"
