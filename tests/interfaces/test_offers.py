"""What a new memory may replace, as writers see and accept it: over MCP and on the command line."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect import Recollect
from recollect.interfaces.mcp.catalogue import TOOLS, choose_tools
from recollect.interfaces.mcp.tools import EXCERPT
from recollect.model.errors import NotAllowed, NotFound, RecollectError, WrongState

from .mcp_servers import HttpServer, over_http
from .shell import Shell

OLD = "Our retro meeting happens on Thursdays in the blue room"
NEW = "The retro moved to Mondays, still the blue room"


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with recollect.open(":memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    with over_http(tmp_path_factory.mktemp("offers")) as running:
        yield running


def call(memory: Recollect, tool: str, **arguments: Any) -> dict[str, Any]:
    return TOOLS[tool].call(memory, arguments).values


def active(memory: Recollect) -> list[str]:
    return sorted(one.content for one in memory.list().items)


def test_an_offer_comes_with_the_call_that_accepts_it(server: HttpServer) -> None:
    old = server.call("memory_add", {"content": OLD}).structured_content
    assert old["similar"] == [] and "next_step" not in old
    answer = server.call("memory_add", {"content": NEW})
    new = answer.structured_content
    assert new["outcome"] == "stored"
    (offered,) = new["similar"]
    assert (offered["id"], offered["content"]) == (old["memory"]["id"], OLD)
    assert offered["canonical_key"] == old["memory"]["canonical_key"]
    assert 0 < offered["similarity"] < 1 and offered["at"].startswith("20")
    step = f"call memory_update with id=<that id>, by={new['memory']['id']}."
    assert step in new["next_step"] and answer.content[-1].text == new["next_step"]
    assert json.loads(answer.content[0].text)["similar"] == new["similar"]

    done = server.call("memory_update", {"id": offered["id"], "by": new["memory"]["id"]}).structured_content
    assert done["outcome"] == "superseded" and done["memory"]["supersedes_id"] == old["memory"]["id"]
    assert (done["memory"]["canonical_key"], done["memory"]["version"]) == (offered["canonical_key"], 2)
    listed = server.call("memory_list").structured_content["items"]
    assert [one["content"] for one in listed] == [NEW], "no duplicate was written"


def test_an_offer_is_not_explained_by_a_tool_that_is_not_served(tmp_path: Path) -> None:
    with over_http(tmp_path, tools="query,add") as running:
        running.call("memory_add", {"content": OLD})
        answer = running.call("memory_add", {"content": NEW})
    assert answer.structured_content["similar"] and "next_step" not in answer.structured_content
    assert "memory_update" not in "".join(part.text for part in answer.content)


def test_a_long_memory_is_offered_by_its_beginning(mem: Recollect) -> None:
    said = f"{OLD}, {'where we talk about the sprint, ' * 20}and then have cake"
    mem.add(said)
    (offered,) = call(mem, "memory_add", content=f"{NEW}, where we talk about the sprint and have cake")["similar"]
    assert len(offered["content"]) == EXCERPT and said.startswith(offered["content"][:-1])


def test_update_writes_the_next_version(mem: Recollect) -> None:
    old = call(mem, "memory_add", content=OLD)["memory"]
    short = old["id"].replace("-", "")[:12]
    new = call(mem, "memory_update", id=short, content="The retro is on Fridays")
    assert new["outcome"] == "superseded" and new["memory"]["version"] == 2
    again = call(mem, "memory_update", id=new["memory"]["id"], content="The retro is on Sundays", source="user")
    assert again["outcome"] == "superseded" and again["memory"]["authority"] == "user_asserted"
    assert active(mem) == ["The retro is on Sundays"]
    assert [one.version for one in mem.chain(old["id"])] == [1, 2, 3]
    added = call(mem, "memory_add", content="There is no retro", source="user", supersedes=again["memory"]["id"])
    assert added["outcome"] == "superseded" and active(mem) == ["There is no retro"]


def test_a_memory_that_was_superseded_is_not_replaced_again(mem: Recollect) -> None:
    old, new = (call(mem, "memory_add", content=text)["memory"] for text in (OLD, NEW))
    call(mem, "memory_update", id=old["id"], by=new["id"])
    for how in ({"by": new["id"]}, {"content": "The retro is on Fridays"}):
        with pytest.raises(WrongState, match="already superseded") as caught:
            call(mem, "memory_update", id=old["id"], **how)
        assert caught.value.field == "id" and new["id"] in (caught.value.hint or "")


def test_two_agents_accept_the_same_offer_at_once(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as mem:
        old = call(mem, "memory_add", content=OLD)["memory"]["id"]
        news = [call(mem, "memory_add", content=f"{NEW} at {hour}")["memory"]["id"] for hour in ("nine", "eleven")]
    together, told = threading.Barrier(2), {}

    def accept(new: str) -> None:
        with recollect.open(tmp_path / "m.db") as own:
            agent = own.as_caller(agent=f"agent-{new[:4]}")
            together.wait()
            try:
                told[new] = call(agent, "memory_update", id=old, by=new)["outcome"]
            except WrongState as error:
                told[new] = str(error)

    threads = [threading.Thread(target=accept, args=(new,)) for new in news]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (first,) = [new for new, answer in told.items() if answer == "superseded"]
    (second,) = [answer for new, answer in told.items() if new != first]
    assert f"{old} was already superseded by {first}." in second
    with recollect.open(tmp_path / "m.db") as mem:
        assert mem.get(old).superseded_by_id == first and len(active(mem)) == 2 and mem.verify().ok


def test_an_agent_does_not_replace_what_a_person_said(mem: Recollect) -> None:
    said = mem.add(OLD, owner="ana").memory
    assert said is not None
    agent = mem.as_caller(agent="assistant", user="ana")
    guess = call(agent, "memory_add", content=NEW, source="user")
    assert [one["id"] for one in guess["similar"]] == [said.id]
    for how in ({"by": guess["memory"]["id"]}, {"content": "The retro is on Fridays", "source": "user"}):
        waits = call(agent, "memory_update", id=said.id, **how)
        assert waits["outcome"] == "contradicted" and waits["reasons"][0] == "conflict:authority"
        assert waits["memory"]["status"] == "contradictory" and waits["memory"]["conflict_ids"] == [said.id]
    with pytest.raises(NotAllowed):
        call(agent, "memory_forget", id=said.id)
    assert active(mem) == [OLD]


def test_nothing_is_offered_or_replaced_across_a_border(mem: Recollect) -> None:
    hidden = [
        mem.add(OLD, owner="ben").memory,
        mem.add(f"{OLD} again", owner="ana", scope="stylist").memory,
    ]
    agent = mem.as_caller(agent="assistant", user="ana")
    new = call(agent, "memory_add", content=NEW)
    assert new["similar"] == []
    for foreign in hidden:
        assert foreign is not None
        with pytest.raises(NotFound):
            call(agent, "memory_update", id=foreign.id, by=new["memory"]["id"])
        with pytest.raises(NotFound):
            call(agent, "memory_update", id=new["memory"]["id"], by=foreign.id)
        with pytest.raises(NotFound):
            call(agent, "memory_update", id=foreign.id, content=NEW)
        with pytest.raises(NotFound):
            call(agent, "memory_add", content=NEW, supersedes=foreign.id)
        with pytest.raises(NotFound):
            call(agent, "memory_forget", id=foreign.id)


def test_a_forgotten_memory_is_restored_by_administration(mem: Recollect) -> None:
    kept = call(mem, "memory_add", content=OLD, source="user")["memory"]
    gone = call(mem, "memory_forget", id=kept["id"])["memory"]
    assert gone["status"] == "soft_deleted" and gone["purge_at"] and active(mem) == []
    with pytest.raises(WrongState):
        call(mem, "memory_forget", id=kept["id"])
    assert call(mem, "memory_restore", id=kept["id"])["memory"]["status"] == "active"
    assert call(mem, "memory_archive", id=kept["id"])["memory"]["status"] == "archived"


def test_the_list_is_small_and_goes_on(mem: Recollect) -> None:
    for number in range(5):
        mem.add(f"Deck {number} of the ferry is {'very ' * 100}long", title=f"Ferry-Deck-{number}", tags=["ferry"])
    mem.add("Tea is green", category="drinks", kind="insight")
    first = call(mem, "memory_list", tags=["ferry"], limit=3)
    rest = call(mem, "memory_list", tags=["ferry"], limit=3, cursor=first["next_cursor"])
    assert [one["key"] for one in (*first["items"], *rest["items"])] == [f"Ferry-Deck-{n}" for n in (4, 3, 2, 1, 0)]
    assert rest["next_cursor"] is None
    for one in first["items"]:
        assert set(one) == {"id", "key", "content", "category", "at"} and len(one["content"]) == EXCERPT
    (tea,) = call(mem, "memory_list", category="drinks", kind="insight")["items"]
    assert tea["content"] == "Tea is green"
    mem.forget(tea["id"])
    assert call(mem, "memory_list", category="drinks")["items"] == []
    (gone,) = call(mem, "memory_list", status="soft_deleted")["items"]
    assert gone["status"] == "soft_deleted"


def test_add_prints_what_is_similar_and_the_command_that_accepts_it(shell: Shell) -> None:
    old = shell.json("add", OLD)
    assert old["similar"] == []
    said = shell.run("add", NEW)
    short = old["memory"]["id"].replace("-", "")[:12]
    assert f"    {short}  {old['memory']['created_at'][:10]}  {OLD}" in said
    accepted = said.split("If it replaces one of these: recollect ")[1].split()
    assert accepted[:3] == ["supersede", short, "--by"]
    assert shell.run(*accepted).startswith("superseded")
    assert [one["content"] for one in shell.json("list")["items"]] == [NEW]
    assert "already superseded" in shell.json(*accepted, code=1)["error"]["message"]


def test_the_command_line_writes_the_next_version(shell: Shell) -> None:
    id = shell.json("add", OLD, "--tag", "team")["memory"]["id"]
    second = shell.json("update", id.replace("-", "")[:12], "The retro is on Fridays", "--importance", "4")
    assert second["outcome"] == "superseded" and second["memory"]["importance"] == 4
    third = shell.json("update", second["memory"]["id"], "-", "--field", "run_id=r7", stdin="The retro is on Sundays\n")
    assert (third["memory"]["content"], third["memory"]["run_id"]) == ("The retro is on Sundays", "r7")
    fourth = shell.json("add", "There is no retro", "--supersedes", third["memory"]["id"])
    assert [one["version"] for one in shell.json("chain", fourth["memory"]["id"])] == [1, 2, 3, 4]
    agent = ("--as-user", "default", "--as-agent", "bot")
    waits = shell.json(*agent, "update", fourth["memory"]["id"], "The retro is on Mondays")
    assert waits["outcome"] == "contradicted" and waits["memory"]["status"] == "contradictory"
    for arguments, code, field in (
        (("update", "ffffffffffff", "Tea is hot"), 1, "id"),
        (("update", fourth["memory"]["id"], ""), 2, "content"),
        (("update", fourth["memory"]["id"], "x", "--importance", "9"), 2, "importance"),
        (("supersede", "ffffffffffff", "--by", fourth["memory"]["id"]), 1, "id"),
        (("supersede", fourth["memory"]["id"], "--by", fourth["memory"]["id"]), 2, "by"),
        (("add", "Tea is hot", "--supersedes", "ffffffffffff"), 1, "supersedes"),
    ):
        assert shell.json(*arguments, code=code)["error"]["field"] == field


GARBAGE: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(["", " ", "\0", "\ud800", "%", "ffffffffffff", "'; DROP TABLE memory; --", "🦕" * 300, "default"]),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=9)), max_size=3),
    st.dictionaries(st.text(max_size=9), st.one_of(st.none(), st.integers(), st.text(max_size=9)), max_size=3),
)


@pytest.mark.parametrize("tool", choose_tools("default,admin"))
def test_garbage_is_answered_or_refused_by_name(tool: str) -> None:
    """Whatever a client sends, a tool answers or raises an error of ours, which becomes a tool error."""
    names = [info.alias or name for name, info in TOOLS[tool].request.model_fields.items()]
    with recollect.open(":memory:") as mem:
        kept = mem.add(OLD).memory
        assert kept is not None

        @given(st.dictionaries(st.sampled_from([*names, "colour"]), st.one_of(GARBAGE, st.just(kept.id))))
        def sent(arguments: dict[str, Any]) -> None:
            try:
                TOOLS[tool].call(mem, arguments)
            except RecollectError as error:
                assert error.message and (error.field or error.hint)

        sent()
        assert mem.verify().ok
