"""What the checkpointer does beyond LangGraph's own suite: users, history, durability, odd input."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from graphs import checkpoint, counting_graph, metadata, put_steps, rows, steps, thread
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import INTERRUPT
from langgraph.types import Command, interrupt

import recollect
from recollect.langgraph import RecollectSaver, Retention
from recollect.model.errors import BadInput, NotAllowed, WrongState
from rows import every_row


def found(saver: RecollectSaver, config: Any) -> CheckpointTuple:
    tuple_ = saver.get_tuple(config)
    assert tuple_ is not None
    return tuple_


def test_two_users_may_have_threads_of_one_name(saver: RecollectSaver) -> None:
    saver.put(thread(user_id="ana"), checkpoint(0, word="hers"), metadata(), {})
    saver.put(thread(user_id="ben"), checkpoint(0, word="his"), metadata(), {})
    assert found(saver, thread(user_id="ana")).checkpoint["channel_values"] == {"word": "hers"}
    assert found(saver, thread(user_id="ben")).checkpoint["channel_values"] == {"word": "his"}
    assert saver.get_tuple(thread()) is None
    assert [(head.user_id, head.thread_id) for head in saver.threads()] == [("ben", "t"), ("ana", "t")]


def test_configurations_lead_back_to_the_user(saver: RecollectSaver) -> None:
    first, second = put_steps(saver, thread(user_id="ana"), 2)
    got = found(saver, second)
    assert got.config == second and got.parent_config == first
    assert [one.config for one in saver.list(None)] == [second, first]
    assert "user_id" not in put_steps(saver, thread(), 1)[0]["configurable"]


def test_a_graph_finds_its_users_thread_again(location: str) -> None:
    for user, turns in (("ana", 1), ("ben", 1), ("ana", 2)):
        with RecollectSaver.from_conn_string(location) as saver:
            state = counting_graph(saver).invoke({"said": []}, thread(user_id=user))
            assert state["said"] == [f"turn {n}" for n in range(turns)]
    with RecollectSaver.from_conn_string(location) as saver:
        history = list(counting_graph(saver).get_state_history(thread(user_id="ana")))
        assert history[0].values == {"said": ["turn 0", "turn 1"]}
        old = next(one for one in history if one.values.get("said") == ["turn 0"] and not one.next)
        again = counting_graph(saver).invoke({"said": ["back"]}, old.config)
        assert again["said"] == ["turn 0", "back", "turn 2"]


def test_a_saver_bound_to_a_user_reaches_nobody_else(saver: RecollectSaver, location: str) -> None:
    for user in ("ana", "ben"):
        put_steps(saver, thread(user_id=user), 2, run_id="r")
    with recollect.open(location) as mem, RecollectSaver(mem, user_id="ana") as hers:
        assert len(list(hers.list(None))) == 2
        assert found(hers, thread()).config["configurable"]["user_id"] == "ana"
        with pytest.raises(NotAllowed, match="bound to the user 'ana'"):
            hers.get_tuple(thread(user_id="ben"))
        with pytest.raises(NotAllowed):
            hers.put(thread(user_id="ben"), checkpoint(0), metadata(), {})
        hers.copy_thread("t", "copy")
        hers.prune(["t"])
        hers.delete_for_runs(["r"])
        hers.delete_thread("t")
        assert hers.threads() == []
    assert [head.user_id for head in saver.threads()] == ["ben"]
    assert steps(saver, thread(user_id="ben")) == [1, 0]


def test_a_bound_caller_is_bound_here_too(location: str) -> None:
    with recollect.open(location) as mem:
        with RecollectSaver(mem.as_caller(user="ana", agent="planner")) as saver:
            put_steps(saver, thread(), 1)
            assert [head.user_id for head in saver.threads()] == ["ana"]
        with pytest.raises(NotAllowed, match="bound to another user"):
            RecollectSaver(mem.as_caller(user="ana"), user_id="ben")
        with RecollectSaver(mem.as_caller(user="ana", rights=["read"])) as reader:
            assert len(list(reader.list(None))) == 1
            for forbidden in (
                lambda: put_steps(reader, thread(), 1),
                lambda: reader.put_writes(thread(checkpoint_id="c"), [("a", 1)], "task"),
                lambda: reader.delete_thread("t"),
                lambda: reader.delete_for_runs(["r"]),
                lambda: reader.copy_thread("t", "u"),
                lambda: reader.prune(["t"]),
                lambda: reader.take_over([]),
            ):
                with pytest.raises(NotAllowed, match="write checkpoints"):
                    forbidden()
        with RecollectSaver(mem.as_caller(user="ana", rights=["write"])) as blind:
            for forbidden in (
                lambda: blind.get_tuple(thread()),
                lambda: list(blind.list(None)),
                lambda: blind.threads(),
                lambda: blind.thread_state(thread()),
            ):
                with pytest.raises(NotAllowed, match="read checkpoints"):
                    forbidden()


def test_tenants_do_not_see_each_other(location: str) -> None:
    with RecollectSaver.from_conn_string(location, tenant="acme") as saver:
        put_steps(saver, thread(), 2, run_id="r")
    with RecollectSaver.from_conn_string(location, tenant="globex") as other:
        assert other.get_tuple(thread()) is None
        assert list(other.list(None)) == [] and other.threads() == []
        other.copy_thread("t", "mine")
        other.delete_for_runs(["r"])
        other.prune(["t"], strategy="delete")
        other.delete_thread("t")
    with RecollectSaver.from_conn_string(location, tenant="acme") as saver:
        assert steps(saver, thread()) == [1, 0]


def test_what_is_told_no_user_acts_on_every_users_thread(saver: RecollectSaver) -> None:
    for user in ("ana", "ben"):
        put_steps(saver, thread(user_id=user), 2)
    saver.copy_thread("t", "copy")
    assert {(head.user_id, head.thread_id) for head in saver.threads()} == {
        (user, name) for user in ("ana", "ben") for name in ("t", "copy")
    }
    saver.delete_thread("t")
    assert {head.thread_id for head in saver.threads()} == {"copy"}
    assert steps(saver, thread("copy", user_id="ben")) == [1, 0]


def test_the_head_row_follows_the_newest_version(saver: RecollectSaver) -> None:
    configs = put_steps(saver, thread(), 3, run_id="first")
    newest = put_steps(saver, configs[-1], 1, first=3, run_id="last")[0]
    assert saver.threads()[0].checkpoint_id == newest["configurable"]["checkpoint_id"]
    saver.delete_for_runs(["last"])
    assert saver.threads()[0].checkpoint_id == configs[-1]["configurable"]["checkpoint_id"]
    assert found(saver, thread()).metadata["step"] == 2
    saver.delete_for_runs(["first"])
    assert saver.threads() == []


def test_a_value_that_does_not_change_is_kept_once(file: str) -> None:
    with RecollectSaver.from_conn_string(file) as saver:
        put_steps(saver, thread(), 20)
        assert rows(file, "graph_values") == 20 + 1
        saver.prune(["t"])
        assert rows(file, "graph_values") == rows(file, "graph_channels") == 2
        assert found(saver, thread()).checkpoint["channel_values"] == {"step": 19, "same": "x" * 100}


def test_two_branches_with_the_same_channel_versions_keep_their_own_values(saver: RecollectSaver) -> None:
    (root,) = put_steps(saver, thread(), 1)
    left = saver.put(root, checkpoint(1, word="went " * 5_000 + "lefty"), metadata(1), {"word": 2})
    right = saver.put(root, checkpoint(1, word="went " * 5_000 + "right"), metadata(1), {"word": 2})
    assert found(saver, left).checkpoint["channel_values"]["word"].endswith("lefty")
    assert found(saver, right).checkpoint["channel_values"]["word"].endswith("right")
    assert found(saver, left).parent_config == found(saver, right).parent_config == root


def test_a_checkpoint_that_is_put_again_is_replaced(saver: RecollectSaver) -> None:
    first = checkpoint(0, word="old", extra=1)
    saver.put(thread(), first, metadata(), {})
    saver.put(thread(), {**first, "channel_values": {"word": "new"}}, metadata(source="update"), {})
    got = found(saver, thread())
    assert got.checkpoint["channel_values"] == {"word": "new"} and got.metadata["source"] == "update"
    assert len(list(saver.list(thread()))) == 1


def test_writes_come_back_in_the_order_of_their_tasks(saver: RecollectSaver) -> None:
    (config,) = put_steps(saver, thread(), 1)
    saver.put_writes(config, [("a", 1), ("b", 2)], "task-1", task_path="~2")
    saver.put_writes(config, [("a", 3), ("a", 4)], "task-9", task_path="~1")
    saver.put_writes(config, [("a", 0)], "task-5")
    assert found(saver, config).pending_writes == [
        ("task-5", "a", 0),
        ("task-9", "a", 3),
        ("task-9", "a", 4),
        ("task-1", "a", 1),
        ("task-1", "b", 2),
    ]


def test_a_plain_write_is_kept_once_and_a_special_one_is_replaced(saver: RecollectSaver) -> None:
    (config,) = put_steps(saver, thread(), 1)
    saver.put_writes(config, [("a", "first"), (INTERRUPT, "stop")], "task")
    saver.put_writes(config, [("a", "second"), (INTERRUPT, "go")], "task")
    assert found(saver, config).pending_writes == [("task", INTERRUPT, "go"), ("task", "a", "first")]


def test_writes_may_arrive_before_their_checkpoint(saver: RecollectSaver) -> None:
    early = checkpoint(0)
    saver.put_writes(thread(checkpoint_id=early["id"]), [("a", 1)], "task")
    assert saver.get_tuple(thread()) is None
    saver.put(thread(), early, metadata(), {})
    assert found(saver, thread()).pending_writes == [("task", "a", 1)]


def test_an_interrupted_graph_goes_on_after_a_restart(location: str) -> None:
    from graphs import Counting
    from langgraph.graph import START, StateGraph

    def build(saver: RecollectSaver) -> Any:
        builder = StateGraph(Counting)
        builder.add_node("ask", lambda state: {"said": [interrupt("who?")]})
        builder.add_edge(START, "ask")
        return builder.compile(checkpointer=saver)

    with RecollectSaver.from_conn_string(location) as saver:
        assert "__interrupt__" in build(saver).invoke({"said": []}, thread())
    with RecollectSaver.from_conn_string(location) as saver:
        assert build(saver).get_state(thread()).next == ("ask",)
        assert build(saver).invoke(Command(resume="Ana"), thread())["said"] == ["Ana"]


def test_listing_goes_on_over_many_pages_and_holds_nothing_meanwhile(saver: RecollectSaver) -> None:
    put_steps(saver, thread(), 100)
    listing = saver.list(thread())
    assert next(listing).metadata["step"] == 99
    put_steps(saver, thread("other"), 1)
    saver.prune(["t"])
    assert [one.metadata["step"] for one in listing] == []
    put_steps(saver, thread("long"), 100)
    assert steps(saver, thread("long")) == list(reversed(range(100)))
    assert len(list(saver.list(None))) == 102
    assert list(saver.list(thread("long"), limit=0)) == []


def test_versions_are_numbered_as_the_thread_numbers_them(saver: RecollectSaver) -> None:
    assert saver.get_next_version(None, None) == 1
    assert saver.get_next_version(7, None) == 8
    theirs = f"{7:032}.{0.25:016}"
    ours = saver.get_next_version(theirs, None)
    assert isinstance(ours, str) and ours > theirs and len(ours) == len(theirs)


def test_a_thread_is_not_copied_over_another(saver: RecollectSaver) -> None:
    put_steps(saver, thread("a"), 1)
    put_steps(saver, thread("b"), 2)
    with pytest.raises(WrongState, match="'b' exists already"):
        saver.copy_thread("a", "b")
    assert steps(saver, thread("b")) == [1, 0]


def test_a_copy_lives_its_own_life(saver: RecollectSaver) -> None:
    put_steps(saver, thread("a"), 2)
    saver.copy_thread("a", "b")
    saver.delete_thread("a")
    assert found(saver, thread("b")).checkpoint["channel_values"]["same"] == "x" * 100


def test_the_four_parts_of_a_threads_state(saver: RecollectSaver) -> None:
    root = checkpoint(0, messages=["hello"], memory_context="- Ana likes tea", plan="greet")
    saver.put(thread(), root, metadata(), {})
    saver.put(thread(checkpoint_ns="researcher"), checkpoint(0, notes=["tea"]), metadata(), {})
    state = saver.thread_state(thread())
    assert state is not None
    assert state.graph_state == {"plan": "greet"}
    assert state.conversation == ["hello"]
    assert state.memory_context == "- Ana likes tea"
    assert state.agent_states == {"researcher": {"notes": ["tea"]}}
    assert saver.thread_state(thread("nowhere")) is None


@every_row(
    ("config", "field"),
    [
        ({"configurable": {}}, "thread_id"),
        (thread("nul\x00"), "thread_id"),
        (thread("x" * 513), "thread_id"),
        (thread(user_id="\ud800"), "user_id"),
        (thread(checkpoint_ns="a\x00"), "checkpoint_ns"),
        (thread(checkpoint_id="\x01"), "checkpoint_id"),
    ],
)
def test_bad_names_are_refused_by_field(saver: RecollectSaver, config: Any, field: str) -> None:
    with pytest.raises(BadInput, match=f"configurable.{field}"):
        saver.get_tuple(config)


def test_numbers_may_name_threads_and_users(saver: RecollectSaver) -> None:
    saver.put({"configurable": {"thread_id": 7, "user_id": 1}}, checkpoint(0), metadata(), {})
    assert found(saver, thread("7", user_id="1")).config["configurable"]["thread_id"] == "7"


def test_writes_need_a_checkpoint_and_pruning_a_known_strategy(saver: RecollectSaver) -> None:
    with pytest.raises(BadInput, match="checkpoint_id"):
        saver.put_writes(thread(), [("a", 1)], "task")
    with pytest.raises(BadInput, match="keep_latest, delete"):
        saver.prune(["t"], strategy="some")


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "many"])
def test_a_retention_is_checked(wrong: Any) -> None:
    with pytest.raises(BadInput, match="keep_last"):
        Retention(keep_last=wrong)
    with pytest.raises(BadInput, match="keep_days"):
        Retention(keep_days=wrong)


def test_bytes_that_would_call_a_function_call_nothing_under_a_strict_serialiser(file: str, tmp_path: Path) -> None:
    """Whoever can write to the database can put such bytes there: a constructor's name, and its argument."""
    import ormsgpack

    mark = tmp_path / "called"
    call = ormsgpack.packb(("os", "mkdir", str(mark)))
    evil = ormsgpack.packb(ormsgpack.Ext(0, call))
    with RecollectSaver.from_conn_string(file) as saver:
        saver.put(thread(), checkpoint(0, word="tame"), metadata(), {})
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE graph_values SET type = 'msgpack', value = ?", (evil,))
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    with RecollectSaver.from_conn_string(file, serde=strict) as careful:
        assert found(careful, thread()).checkpoint["channel_values"] == {"word": str(mark)}
    assert not mark.exists()


def test_async_callers_get_the_same(location: str) -> None:
    async def run() -> None:
        async with RecollectSaver.from_conn_string(location) as saver:
            graph = counting_graph(saver)
            await asyncio.gather(*(graph.ainvoke({"said": []}, thread(f"t{n}")) for n in range(8)))
            for n in range(8):
                assert (await graph.aget_state(thread(f"t{n}"))).values == {"said": ["turn 0"]}
            assert len([one async for one in saver.alist(None, limit=5)]) == 5

    asyncio.run(run())
