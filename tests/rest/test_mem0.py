"""The real client of mem0's hosted service, unchanged, against `/compat/mem0`."""

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from recollect import Recollect
from recollect.interfaces.rest import Settings

from .serving import listening


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The client's module, which must neither write into our home nor call home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEM0_TELEMETRY", "False")
        patch.setenv("MEM0_DIR", str(tmp_path_factory.mktemp("mem0")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield importlib.import_module("mem0")


@pytest.fixture
def mem0(memory: Recollect, hosted: Any) -> Iterator[Any]:
    with listening(memory, Settings(burst=10_000)) as url:
        rights = ["read", "write", "relay", "govern"]
        key = memory.create_key("app", user="ana", agent="waiter", rights=rights).key
        client = hosted.MemoryClient(api_key=key, host=f"{url}/compat/mem0")
        yield client
        client.client.close()


def test_a_program_written_for_the_hosted_service_runs_unchanged(mem0: Any) -> None:
    messages = [
        {"role": "user", "content": "Ana is a vegetarian and allergic to nuts"},
        {"role": "assistant", "content": "Ana asked for a restaurant in Lisbon"},
    ]
    added = mem0.add(messages, user_id="ana", agent_id="waiter", metadata={"topic": "food"})["results"]
    assert [one["event"] for one in added] == ["ADD", "ADD"]
    id = added[0]["id"]

    found = mem0.search("what may she not eat?", filters={"user_id": "ana"}, top_k=1)["results"]
    assert [one["id"] for one in found] == [id] and 0 < found[0]["score"] <= 1
    assert (
        mem0.search("what may she not eat?", filters={"AND": [{"user_id": "ana"}, {"agent_id": "nobody"}]})["results"]
        == []
    )

    one = mem0.get(id)
    assert (one["memory"], one["user_id"], one["metadata"]) == (messages[0]["content"], "ana", {"topic": "food"})

    every = mem0.get_all(filters={"user_id": "ana"})
    assert (every["count"], every["next"], len(every["results"])) == (2, None, 2)
    pages = [mem0.get_all(filters={"user_id": "ana"}, page=n, page_size=1) for n in (1, 2)]
    assert [page["results"][0]["id"] for page in pages] == [one["id"] for one in every["results"]]
    assert pages[0]["next"] and not pages[1]["next"]

    mem0.update(id, text="Ana is a vegan and allergic to nuts")
    assert mem0.get(id)["memory"] == "Ana is a vegan and allergic to nuts", "the id stays the same across versions"
    assert [(one["event"], one["new_memory"]) for one in mem0.history(id)] == [
        ("ADD", messages[0]["content"]),
        ("UPDATE", "Ana is a vegan and allergic to nuts"),
    ]

    users = {(one["type"], one["name"]): one["total_memories"] for one in mem0.users()["results"]}
    assert users[("user", "ana")] == 2 and users[("agent", "waiter")] >= 1

    assert "deleted" in mem0.delete(id)["message"]
    assert mem0.history(id)[-1]["event"] == "DELETE"
    assert mem0.get_all(filters={"user_id": "ana"})["count"] == 1
    mem0.delete_all(user_id="ana")
    assert mem0.get_all(filters={"user_id": "ana"})["count"] == 0


def test_gates_and_borders_hold_here_as_everywhere(mem0: Any, memory: Recollect) -> None:
    theirs = memory.add("Ben lives in Oslo", owner="ben").memory
    assert theirs is not None
    for attempt in (
        lambda: mem0.get(theirs.id),
        lambda: mem0.update(theirs.id, text="Ben lives in Rome"),
        lambda: mem0.delete(theirs.id),
        lambda: mem0.history(theirs.id),
        lambda: mem0.add("Ben likes tea", user_id="ben"),
        lambda: mem0.add("the password of the server is hunter2-hunter2", user_id="ana"),
    ):
        with pytest.raises(Exception, match=r"there is no memory|not stored"):
            attempt()
    assert mem0.search("where does Ben live?", filters={"user_id": "ben"})["results"] == []
    assert mem0.get_all(filters={"user_id": "ben"})["count"] == 0
    assert memory.get(theirs.id).content == "Ben lives in Oslo"


def test_what_has_no_counterpart_says_so(mem0: Any, hosted: Any) -> None:
    for attempt in (
        lambda: mem0.get_summary(),
        lambda: mem0.create_memory_export("{}"),
        lambda: mem0.search("x", filters={"OR": [{"user_id": "ana"}]}),
        lambda: mem0.search("x", filters={"mood": "good"}),
        lambda: mem0.update("ffffffffffff", metadata={"a": 1}),
    ):
        with pytest.raises(Exception, match=r"no counterpart|no such filter|there is no memory"):
            attempt()
    with httpx.Client() as http, pytest.raises(ValueError, match="not valid here"):
        hosted.MemoryClient(api_key="rk.nonsense", host=str(mem0.client.base_url), client=http)
