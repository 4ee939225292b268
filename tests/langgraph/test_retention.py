"""A thread's history is bounded, and what a kept version needs stays with it."""

from datetime import UTC, datetime, timedelta

from graphs import checkpoint, metadata, put_steps, replaying_graph, rows, steps, thread

import recollect
from recollect.engine.graphs import all_but_latest, find_outdated
from recollect.langgraph import RecollectSaver, Retention
from recollect.stores.protocol import GraphVersion
from support.determinism import SteppingClock

NOW = datetime(2026, 1, 31, tzinfo=UTC)
NOTHING = lambda version: set[str]()  # noqa: E731


def version(
    id: str, ns: str = "", parent: str | None = None, day: int = 31, rebuilt: tuple[str, ...] = ()
) -> GraphVersion:
    return GraphVersion(ns, id, parent, None, f"2026-01-{day:02}T00:00:00.000000Z", rebuilt)


def ids(versions: list[GraphVersion]) -> list[str]:
    return [one.id for one in versions]


def test_the_last_so_many_stay() -> None:
    history = [version(id) for id in "abcde"]
    assert ids(find_outdated(history, Retention(keep_last=2), NOW, NOTHING)) == ["a", "b", "c"]
    assert find_outdated(history, Retention(keep_last=5), NOW, NOTHING) == []
    assert find_outdated(history, Retention(keep_last=None), NOW, NOTHING) == []


def test_what_is_too_old_goes_but_never_the_newest() -> None:
    history = [version("a", day=1), version("b", day=20), version("c", day=30)]
    assert ids(find_outdated(history, Retention(None, keep_days=7), NOW, NOTHING)) == ["a", "b"]
    assert ids(find_outdated(history[:2], Retention(None, keep_days=7), NOW, NOTHING)) == ["a"]


def test_each_lasting_subgraph_has_its_own_history() -> None:
    history = [version(id) for id in "cde"] + [version(id, "agent") for id in "ab"]
    assert ids(find_outdated(history, Retention(keep_last=1), NOW, NOTHING)) == ["c", "d", "a"]


def test_a_subgraph_of_one_step_goes_with_its_step() -> None:
    history = [version("b"), version("d"), version("c", "node:1"), version("e", "node:2")]
    assert ids(find_outdated(history, Retention(keep_last=1), NOW, NOTHING)) == ["b", "c"]
    assert all_but_latest(history, NOTHING) == [version("b")]


def test_what_a_version_is_rebuilt_from_stays() -> None:
    chain = [version("a"), version("b", parent="a"), version("c", parent="b", rebuilt=("said",))]
    chain.append(version("d", parent="c", rebuilt=("said",)))
    assert ids(all_but_latest(chain, lambda one: {"said"} if one.id == "b" else set())) == ["a"]
    assert all_but_latest(chain, NOTHING) == []
    assert ids(find_outdated(chain, Retention(keep_last=1), NOW, lambda one: {"said"})) == ["a", "b"]


def test_a_long_thread_stays_small(file: str) -> None:
    with RecollectSaver.from_conn_string(file, retention=Retention(keep_last=10)) as saver:
        made = put_steps(saver, thread(), 60)
        saver.put_writes(made[-1], [("a", 1)], "task")
        saver.put_writes(made[0], [("late", 1)], "task")
        put_steps(saver, made[-1], 1, first=60)
        assert steps(saver, thread()) == list(range(60, 50, -1))
    for table, left in (("graph_checkpoints", 10), ("graph_channels", 20), ("graph_values", 11), ("graph_writes", 1)):
        assert rows(file, table) == left, table


def test_versions_are_given_up_many_at_a_time(location: str) -> None:
    with RecollectSaver.from_conn_string(location, retention=Retention(keep_last=40)) as saver:
        config, most = thread(), set()
        for step in range(100):
            (config,) = put_steps(saver, config, 1, first=step)
            most.add(len(steps(saver, thread())) if step > 50 else 40)
        assert most == {40, 41, 42}


def test_age_counts_by_the_stores_clock(location: str) -> None:
    clock = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC), timedelta(0))
    with recollect.open(location, clock=clock) as mem, RecollectSaver(mem, retention=Retention(None, 7)) as saver:
        made = put_steps(saver, thread(), 3)
        clock.now += timedelta(days=6)
        made += put_steps(saver, made[-1], 1, first=3)
        assert steps(saver, thread()) == [3, 2, 1, 0]
        clock.now += timedelta(days=2)
        put_steps(saver, made[-1], 1, first=4)
        assert steps(saver, thread()) == [4, 3]


def test_the_policy_says_how_much_is_kept(location: str) -> None:
    with recollect.open(location, policy={"checkpoints": {"keep_last": 3}}) as mem, RecollectSaver(mem) as saver:
        put_steps(saver, thread(), 10)
        assert steps(saver, thread()) == [9, 8, 7]


def test_by_default_history_is_bounded(location: str) -> None:
    assert Retention().keep_last is not None
    with recollect.open(location) as mem:
        assert mem.engine.policy.checkpoints.keep_last == Retention().keep_last


def test_a_replayed_channel_survives_retention_and_pruning(location: str) -> None:
    with RecollectSaver.from_conn_string(location, retention=Retention(keep_last=2)) as saver:
        graph = replaying_graph(saver)
        expected: list[str] = []
        for turn in range(25):
            graph.invoke({"said": [f"turn {turn}"]}, thread())
            expected.append(f"turn {turn}")
            expected += [f"left {len(expected)}", f"right {len(expected)}"]
            assert graph.get_state(thread()).values["said"] == expected, f"turn {turn}"
        kept = len(list(saver.list(thread())))
        assert 2 <= kept < 40, kept
        saver.prune(["t"])
        assert graph.get_state(thread()).values["said"] == expected


def test_the_retention_of_one_thread_leaves_others_alone(location: str) -> None:
    with RecollectSaver.from_conn_string(location, retention=Retention(keep_last=2)) as saver:
        put_steps(saver, thread("quiet"), 2)
        put_steps(saver, thread("busy"), 30)
        saver.put(thread("quiet", checkpoint_ns="agent"), checkpoint(0, notes=1), metadata(), {})
        assert steps(saver, thread("quiet")) == [1, 0]
