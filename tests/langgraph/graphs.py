"""Small deterministic graphs and checkpoints for the tests, and short ways to look at what was kept."""

import operator
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointMetadata, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore, Item


def thread(thread_id: str = "t", **configurable: Any) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **configurable}}


def checkpoint(number: int, /, **values: Any) -> Checkpoint:
    """A checkpoint whose channels have these values, in the version of its number."""
    made = empty_checkpoint()
    made["id"] = str(uuid6(clock_seq=number))
    made["channel_values"] = values
    made["channel_versions"] = dict.fromkeys(values, number + 1)
    return made


def metadata(step: int = 0, **more: Any) -> CheckpointMetadata:
    made: Any = {"source": "loop", "step": step, "parents": {}, **more}
    return made  # type: ignore[no-any-return]


def put_steps(
    saver: BaseCheckpointSaver[Any], config: RunnableConfig, count: int, first: int = 0, **more: Any
) -> list[RunnableConfig]:
    """A chain of checkpoints, each with the step that it is."""
    made = []
    for step in range(first, first + count):
        config = saver.put(config, checkpoint(step, step=step, same="x" * 100), metadata(step, **more), {})
        made.append(config)
    return made


def steps(saver: BaseCheckpointSaver[Any], config: RunnableConfig | None) -> list[int]:
    """The steps that a thread has, newest first."""
    return [found.metadata["step"] for found in saver.list(config)]


def rows(file: str, table: str) -> int:
    """How many rows a table of a file has."""
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def value(store: BaseStore, namespace: tuple[str, ...], key: str) -> Any:
    """What a store has under a key, or nothing."""
    item = store.get(namespace, key)
    return item.value if item is not None else None


def keys(items: Iterable[Item]) -> list[str]:
    return [item.key for item in items]


class Counting(TypedDict):
    said: Annotated[list[str], operator.add]


def counting_graph(saver: BaseCheckpointSaver[Any]) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Says one more thing at each turn."""
    builder = StateGraph(Counting)
    builder.add_node("speak", lambda state: {"said": [f"turn {len(state['said'])}"]})
    builder.add_edge(START, "speak")
    builder.add_edge("speak", END)
    return builder.compile(checkpointer=saver)


def _append(state: list[str], writes: list[Any]) -> list[str]:
    return [*state, *(one for write in writes for one in (write if isinstance(write, list) else [write]))]


class Replayed(TypedDict):
    said: Annotated[list[str], DeltaChannel(_append, snapshot_frequency=7)]


def replaying_graph(saver: BaseCheckpointSaver[Any]) -> "CompiledStateGraph[Any, Any, Any, Any]":
    """Says one more thing at each turn, in a channel that LangGraph replays from earlier writes."""
    builder = StateGraph(Replayed)
    builder.add_node("left", lambda state: {"said": [f"left {len(state['said'])}"]})
    builder.add_node("right", lambda state: {"said": [f"right {len(state['said'])}"]})
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    return builder.compile(checkpointer=saver)
