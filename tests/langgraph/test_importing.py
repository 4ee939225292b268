"""Threads come over from LangGraph's own savers without loss, and go on where they were."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphs import checkpoint, counting_graph, metadata, put_steps, replaying_graph, thread
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from recollect.langgraph import ImportedCheckpoints, RecollectSaver, Retention, import_checkpoints
from recollect.model.errors import NotAllowed


@pytest.fixture(params=["sqlite", "memory", "postgres"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    if request.param == "memory":
        yield InMemorySaver()
        return
    if request.param == "postgres":
        with PostgresSaver.from_conn_string(request.getfixturevalue("empty")) as theirs:
            theirs.setup()
            yield theirs
        return
    with SqliteSaver.from_conn_string(str(tmp_path / "theirs.sqlite")) as theirs:
        yield theirs


def everything(saver: BaseCheckpointSaver[Any]) -> dict[tuple[str, str, str], CheckpointTuple]:
    found = {}
    for one in saver.list(None):
        place = one.config["configurable"]
        found[place["thread_id"], place["checkpoint_ns"], place["checkpoint_id"]] = one
    return found


def test_every_checkpoint_comes_over_as_it_was(source: BaseCheckpointSaver[Any], saver: RecollectSaver) -> None:
    graph = counting_graph(source)
    for n in range(3):
        for _ in range(4):
            graph.invoke({"said": [f"hello {n}"]}, thread(f"t{n}"))
    (last, *_) = [one.config for one in source.list(thread("t0"))]
    source.put_writes(last, [("a", {"b": 1}), ("c", None)], "task-2", task_path="~1")
    source.put_writes(last, [("a", [1, 2])], "task-1", task_path="~2")
    before = everything(source)
    done = import_checkpoints(source, saver)
    assert done.threads == 3 and done.checkpoints == len(before) > 30 and done.writes > 3
    assert everything(saver) == before
    assert [write[0] for write in saver.get_tuple(last).pending_writes or ()] == ["task-2", "task-2", "task-1"]


def test_a_thread_goes_on_after_it_came_over(source: BaseCheckpointSaver[Any], saver: RecollectSaver) -> None:
    counting_graph(source).invoke({"said": []}, thread())
    import_checkpoints(source, saver)
    assert counting_graph(saver).invoke({"said": []}, thread())["said"] == ["turn 0", "turn 1"]
    assert len(list(saver.list(thread()))) > len(list(source.list(thread())))


def test_a_replayed_channel_comes_over_in_order(source: BaseCheckpointSaver[Any], saver: RecollectSaver) -> None:
    theirs, ours = replaying_graph(source), replaying_graph(saver)
    for turn in range(12):
        theirs.invoke({"said": [f"turn {turn}"]}, thread())
    import_checkpoints(source, saver)
    expected = theirs.get_state(thread()).values["said"]
    assert len(expected) == 36 and ours.get_state(thread()).values["said"] == expected
    for graph in (theirs, ours):
        graph.invoke({"said": ["more"]}, thread())
    assert ours.get_state(thread()).values == theirs.get_state(thread()).values


def test_a_thread_goes_to_the_user_whom_its_newest_run_named(
    source: BaseCheckpointSaver[Any], saver: RecollectSaver
) -> None:
    graph = counting_graph(source)
    graph.invoke({"said": []}, thread("hers"))
    graph.invoke({"said": []}, thread("hers", user_id="ana"))
    graph.invoke({"said": []}, thread("nobodys"))
    import_checkpoints(source, saver)
    assert {(head.user_id, head.thread_id) for head in saver.threads()} == {("ana", "hers"), ("default", "nobodys")}
    said = counting_graph(saver).invoke({"said": []}, thread("hers", user_id="ana"))["said"]
    assert said == ["turn 0", "turn 1", "turn 2"]


def test_everything_may_go_to_one_user(source: BaseCheckpointSaver[Any], saver: RecollectSaver) -> None:
    put_steps(source, thread(user_id="ana"), 2)
    import_checkpoints(source, saver, user_id="ben")
    assert [head.user_id for head in saver.threads()] == ["ben"]


def test_importing_twice_changes_nothing(source: BaseCheckpointSaver[Any], saver: RecollectSaver) -> None:
    counting_graph(source).invoke({"said": []}, thread())
    first, once = import_checkpoints(source, saver), everything(saver)
    assert import_checkpoints(source, saver) == first
    assert everything(saver) == once


def test_nothing_is_given_up_on_the_way(source: BaseCheckpointSaver[Any], location: str) -> None:
    put_steps(source, thread(), 120)
    with RecollectSaver.from_conn_string(location, retention=Retention(keep_last=3)) as saver:
        assert import_checkpoints(source, saver) == ImportedCheckpoints(1, 120, 0)
        assert len(list(saver.list(thread()))) == 120


def test_from_one_recollect_store_to_another(saver: RecollectSaver, tmp_path: Path) -> None:
    for user in ("ana", "ben"):
        (config,) = put_steps(saver, thread(user_id=user), 1)
        saver.put_writes(config, [("a", user)], "task")
    with RecollectSaver.from_conn_string(tmp_path / "other.db") as other:
        import_checkpoints(saver, other)
        assert list(other.list(None)) == list(saver.list(None))


def test_a_bound_saver_takes_over_for_its_user_alone(source: BaseCheckpointSaver[Any], location: str) -> None:
    source.put(thread(user_id="ben"), checkpoint(0), metadata(), {})
    with RecollectSaver.from_conn_string(location, user_id="ana") as hers:
        with pytest.raises(NotAllowed, match="bound to the user 'ana'"):
            import_checkpoints(source, hers, user_id="ben")
        import_checkpoints(source, hers)
        assert [head.user_id for head in hers.threads()] == ["ana"]
