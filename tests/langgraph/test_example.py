"""The worked example: a supervisor and two agents that remember across restarts, each within its borders."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import recollect
from recollect.langgraph import RecollectSaver, RecollectStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "langgraph_supervisor.py"


def in_a_new_process(location: str, user: str, said: str) -> str:
    command = [sys.executable, str(EXAMPLE), location, user, said]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("langgraph_supervisor", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_it_remembers_across_processes(file: str) -> None:
    assert "stored" in in_a_new_process(file, "ana", "I live in Lisbon")
    assert "Lisbon" in in_a_new_process(file, "ana", "Where do I live?")


def test_agents_and_users_stay_within_their_borders(location: str, example: ModuleType) -> None:
    example.turn(location, "ana", "I live in Lisbon")
    for times in (1, 2):
        assert f"asked {times} time" in example.turn(location, "ana", "compare oolong and sencha")
    assert "asked 1 time" in example.turn(location, "ben", "compare oolong and sencha")
    assert "Lisbon" not in example.turn(location, "ben", "I live in Rome")
    with recollect.open(location) as mem:
        views = {
            name: mem.as_caller(agent=name, user="ana", projects=["store:notes.ana"])
            for name in ("concierge", "researcher")
        }
        assert [memory.content for memory in mem.as_caller(user="ana").list().items] == ["I live in Lisbon"]
        with (
            RecollectStore(views["researcher"], scope="researcher") as own,
            RecollectStore(views["concierge"], scope="researcher") as nosy,
        ):
            assert len(own.search(("notes",))) == 1 and nosy.search(("notes",)) == []


def test_the_checkpointer_keeps_the_four_parts(location: str, example: ModuleType) -> None:
    for said in ("I live in Lisbon", "compare oolong and sencha", "Where do I live?"):
        example.turn(location, "ana", said)
    with recollect.open(location) as mem, RecollectSaver(mem) as saver:
        state = saver.thread_state({"configurable": {"thread_id": "conversation", "user_id": "ana"}})
        assert [(head.user_id, head.thread_id) for head in saver.threads()] == [("ana", "conversation")]
    assert state is not None
    assert state.conversation[::2] == ["I live in Lisbon", "compare oolong and sencha", "Where do I live?"]
    assert "Lisbon" in state.memory_context
    assert state.graph_state["user"] == "ana" and state.graph_state["to"] == "concierge"
    assert state.agent_states["concierge"]["done"] == ["I live in Lisbon", "Where do I live?"]
    assert state.agent_states["researcher"]["done"] == ["compare oolong and sencha"]
