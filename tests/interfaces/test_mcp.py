"""The MCP server as its clients see it: the SDK's own client, real processes, hostile bytes."""

import json
import re
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as wire
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import recollect
from recollect.interfaces.listener import parse_place
from recollect.interfaces.mcp.catalogue import TOOLS, choose_tools
from recollect.interfaces.mcp.server import INSTRUCTIONS
from recollect.interfaces.mcp.tool import parse
from recollect.interfaces.mcp.tools import REPLACE
from recollect.interfaces.mcp.transports import listen
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.rendering import envelope
from rows import every_row

from .mcp_servers import HttpServer, over_http, over_stdio, process, tool_call, with_client
from .shell import Shell

DEFAULT = ["memory_query", "memory_list", "memory_add", "memory_update", "memory_forget", "memory_history"]
ADMIN = [
    "memory_resolve",
    "memory_consolidate",
    "memory_archive",
    "memory_restore",
    "memory_reject",
    "memory_lift",
    "memory_rejections",
    "memory_consent",
    "memory_grant",
    "memory_decline",
    "memory_proposals",
    "memory_apply_proposal",
    "memory_decline_proposal",
    "memory_runs",
    "memory_run",
    "memory_undo",
]
LISTING_BYTES = 8_414
"""What the listing of the default tools took when it had five of them. Every client pays for it in every conversation."""
KEY = "correct-horse-battery-staple"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[HttpServer]:
    """One server for the tests that need nothing special of it."""
    with over_http(folder, tools="default,admin") as running:
        yield running


def read(server: HttpServer, uri: str) -> Any:
    return server.ask(lambda client: client.read_resource(uri)).contents[0]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_memory_s_life_over_stdio(tmp_path: Path, mode: str) -> None:
    async def life(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == DEFAULT
        first = (await client.call_tool("memory_add", {"content": "The API port is 8080"})).structured_content
        assert (first["outcome"], first["memory"]["canonical_key"]) == ("stored", "Api-Port-Number")
        second = (await client.call_tool("memory_add", {"content": "The API port is 9090"})).structured_content
        assert second["outcome"] == "superseded"
        found = await client.call_tool("memory_query", {"text": "api port", "top_k": 1})
        (item,) = items = json.loads(found.content[0].text)
        assert (item["id"], item["category"]) == (second["memory"]["id"], "general")
        assert re.fullmatch(r"\[ai: general\] The API port is 9090 \(20\d\d-\d\d-\d\d\)", item["text"])
        assert found.structured_content.pop("confidence") > 0.3
        assert found.structured_content == {"items": items, "abstained": False, "no_room": 0, "header": ""}
        await client.call_tool("memory_add", {"content": "The API port is 7070"})
        news = await client.call_tool("memory_query", {"text": "api port", "top_k": 1})
        header = "Memory updates since rev 0:\n- ↑updated: [ai: general] The API port is 7070"
        assert news.structured_content["header"] == header and news.content[0].text == envelope([header])
        assert json.loads(news.content[1].text) == news.structured_content["items"]
        events = await client.call_tool("memory_history", {"id": first["memory"]["id"]})
        assert [event["event"] for event in events.structured_content["events"]] == ["ADD", "UPDATE"]

    with_client(over_stdio(tmp_path), life, mode)
    with recollect.open(tmp_path / "recollect.db") as mem:
        assert mem.verify().ok and [m.content for m in mem.list().items] == ["The API port is 7070"]


def test_a_source_of_another_schema_and_a_contradiction_are_explained(server: HttpServer) -> None:
    def add(content: str, source: str) -> dict[str, Any]:
        return dict(server.call("memory_add", {"content": content, "source": source}).structured_content)

    known = add("The port of the lighthouse is 8080", "user_input")
    guess = add("The port of the lighthouse is 9090", "ai")
    assert (known["outcome"], guess["outcome"]) == ("stored", "contradicted")
    assert f"(id {known['memory']['id'].replace('-', '')[:12]})" in guess["detail"] and "resolve(" in guess["detail"]


def test_the_query_takes_the_whole_request(server: HttpServer) -> None:
    for number in range(3):
        server.call("memory_add", {"content": f"Deployment step {number} of the zeppelin", "category": "tasks"})
    server.call("memory_add", {"content": "The zeppelin deployment is a hobby", "category": "leisure"})
    request = {
        "agent": "planner",
        "text": "zeppelin deployment",
        "categories": ["tasks", "projects"],
        "filters": {"pinned": False, "importance_min": 1, "importance_max": 5, "updated_after": "2025-07-01",
                    "updated_before": None},
        "top_k": 2,
        "form": "bullets",
        "budget_tokens": 512,
    }  # fmt: skip
    bullets = server.call("memory_query", request).structured_content["items"]
    assert len(bullets) == 2
    assert all({"id", "category", "text"} <= set(one) <= {"id", "category", "text", "related"} for one in bullets)
    assert {one["category"] for one in bullets} == {"tasks"}
    full = server.call("memory_query", request | {"form": "full", "budget_tokens": 4_000}).structured_content["items"]
    assert [one["id"] for one in full] == [one["id"] for one in bullets]
    assert full[0]["content"].startswith("Deployment step") and full[0]["authority"] == "ai_inferred"
    assert full[0]["score"] >= full[1]["score"] and full[0]["recall_reason"]
    assert round(sum(full[0]["breakdown"].values()), 4) == round(full[0]["score"], 4)
    assert full[0]["shadowed"] == [] and 0 < full[0]["relevance"] <= 1
    none = server.call("memory_query", {"text": "quantum pancakes", "threshold": 0.99})
    assert none.structured_content["items"] == [] and none.structured_content["abstained"] and not none.is_error
    assert none.structured_content["because"] in ("abstained:threshold", "abstained:nothing_matches")
    assert none.content[0].text == "[]" and none.content[1].text.startswith("Nothing is told: ")
    server.call("memory_add", {"content": "Noor is Ana's daughter."})
    guess = server.call("memory_query", {"text": "How old is Noor?"})
    assert "would be a guess" in guess.content[-1].text and "threshold=0" in guess.content[-1].text
    assert server.call("memory_query", {"text": "How old is Noor?", "threshold": 0}).structured_content["items"]
    assert server.call("memory_query", request | {"filters": {"role": "nobody"}}).structured_content["abstained"]
    tight = server.call("memory_query", request | {"top_k": 5, "budget_tokens": 140}).structured_content["items"]
    assert 1 <= len(tight) < 3


def test_the_query_says_where_to_look(server: HttpServer, folder: Path) -> None:
    with recollect.open(folder / "recollect.db") as mem:
        for owner, space, namespace in (
            ("ana", "user", "prod"), ("ben", "user", "prod"), ("s1", "session", "prod"), ("ana", "user", "test"),
        ):  # fmt: skip
            mem.add(f"An {namespace} okapi of {owner}", owner=owner, space=space, namespace=namespace, title="okapi")
        mem.add("The okapi of Ana moved", owner="ana", title="okapi", change="update")

    def found(**where: Any) -> list[str]:
        asked = {"text": "okapi", "form": "full", "top_k": 9, "threshold": 0.5, **where}
        items = server.call("memory_query", asked).structured_content["items"]
        return sorted(f"{one['namespace']} {one['space']} {one['owner']}" for one in items)

    ana, ben, session, test = "prod user ana", "prod user ben", "prod session s1", "test user ana"
    assert found() == sorted([ana, ben, session]) and found(owner="ana") == [ana]
    assert found(space="session") == [session] and found(space=["session", "project"]) == [session]
    assert found(owner="ana", include_namespaces=["test", "prod"]) == [ana, test]
    moved = {"text": "Which okapi moved?", "space": ["session", "user"]}
    assert len(found(**moved)) == 3 and found(**moved, share_of_best=0.9) == [ana]
    assert found(**moved, named=True) == []  # none of them has an entity
    about = {"content": "An animal of the forest", "owner": "zoe", "entities": [{"name": "Okapi"}]}
    assert server.call("memory_add", about).structured_content["outcome"] == "stored"
    assert found(named=True) == ["prod user zoe"]
    told = server.call("memory_query", {"text": "okapi", "owner": "ana", "history": True}).structured_content
    assert [line.split(": ", 1)[1] for line in told["items"][0]["earlier"]] == ["An prod okapi of ana"]


def test_lists_and_queries_are_filtered_by_where_a_memory_comes_from(server: HttpServer) -> None:
    toad = server.call("memory_add", {"content": "The toad sleeps under the third stone", "source": "user"})
    id = toad.structured_content["memory"]["id"]
    record = json.loads(read(server, f"recollect://memory/{id}").text)["memory"]
    by_hash = json.loads(read(server, f"recollect://memory/{record['content_hash']}").text)
    assert by_hash["memory"]["id"] == id
    for filters, expected in (
        ({"author": record["author"]["id"], "content_hash": record["content_hash"]}, [id]),
        ({"author": "nobody", "content_hash": record["content_hash"]}, []),
        ({"confidence_min": 0.1, "content_hash": record["content_hash"]}, []),
    ):
        listed = server.call("memory_list", {"filters": filters}).structured_content["items"]
        queried = server.call("memory_query", {"text": "toad", "filters": filters}).structured_content["items"]
        assert [one["id"] for one in listed] == [one["id"] for one in queried] == expected


def test_both_names_of_a_tool_are_answered(server: HttpServer) -> None:
    dotted = server.call("memory.query", {"text": "anything"})
    assert dotted.structured_content == server.call("memory_query", {"text": "anything"}).structured_content


def test_contradictions_wait_and_are_resolved(server: HttpServer) -> None:
    said = {"title": "gate state", "source": "user"}
    server.call("memory_add", {"content": "The gate is open", **said})
    guess = server.call("memory_add", {"content": "The gate is closed", **said, "source": "agent"}).structured_content
    assert guess["outcome"] == "contradicted" and guess["reasons"][0] == "conflict:authority"
    id = guess["memory"]["id"]
    resolved = server.call("memory_resolve", {"id": id, "winner": id}).structured_content["memory"]
    assert (resolved["status"], resolved["content"]) == ("active", "The gate is closed")


def test_consolidation_only_proposes(server: HttpServer) -> None:
    for title in ("first copy", "second copy"):
        server.call("memory_add", {"content": "Marmalade keeps for a year in the cellar", "title": title})
    proposal = server.call("memory_consolidate").structured_content
    assert proposal["applied"] is False and "redundant" in {step["action"] for step in proposal["steps"]}
    assert server.call("memory_consolidate").structured_content["steps"] == proposal["steps"]
    refused = server.call("memory_consolidate", {"force": True})
    assert refused.is_error and refused.structured_content["error"]["field"] == "force"


def test_a_denied_write_is_an_answer(server: HttpServer) -> None:
    denied = server.call("memory_add", {"content": "My password is hunter2-Zx9Q"})
    assert not denied.is_error and denied.structured_content["outcome"] == "denied"
    assert denied.structured_content["reasons"] == ["privacy_deny_sensitive"] and denied.structured_content["detail"]
    assert "hunter2" not in denied.content[0].text


def test_a_retry_is_answered_from_the_first(server: HttpServer) -> None:
    once = {"content": "The lighthouse has 199 steps", "idempotency_key": "lighthouse"}
    first, again = (server.call("memory_add", once).structured_content for _ in range(2))
    assert (first["replayed"], again["replayed"]) == (False, True) and first["memory"]["id"] == again["memory"]["id"]


@every_row(
    ("tool", "arguments", "code", "field"),
    [
        ("memory_query", {}, "bad_input", "text"),
        ("memory_query", {"text": 7}, "bad_input", "text"),
        ("memory_query", {"text": "x", "top_k": "three"}, "bad_input", "top_k"),
        ("memory_query", {"text": "x", "top_k": 0}, "bad_input", "top_k"),
        ("memory_query", {"text": "x", "form": "poem"}, "bad_input", "form"),
        ("memory_query", {"text": "x", "filters": {"colour": "red"}}, "bad_input", "colour"),
        ("memory_query", {"text": "x", "filters": ["pinned"]}, "bad_input", "filters"),
        ("memory_query", {"text": "x", "categories": "tasks"}, "bad_input", "categories"),
        ("memory_query", {"text": "x", "filters": {"owner": "ana"}}, "bad_input", "owner"),
        ("memory_query", {"text": "x", "space": ["attic"]}, "bad_input", "space"),
        ("memory_query", {"text": "x", "share_of_best": 2}, "bad_input", "share_of_best"),
        ("memory_query", {"text": "x", "rights": ["operate"]}, "bad_input", "rights"),
        ("memory_add", {"content": ""}, "bad_input", "content"),
        ("memory_add", {"content": "nul \0 byte"}, "bad_input", "content"),
        ("memory_add", {"content": "x" * 100_000}, "bad_input", "content"),
        ("memory_add", {"content": "x", "kind": "nonsense"}, "bad_input", "kind"),
        ("memory_add", {"content": "x", "importance": 9}, "bad_input", "importance"),
        ("memory_add", {"content": "x", "source": "operator"}, "bad_input", "source"),
        ("memory_add", {"content": "x", "authority": "system_imposed"}, "bad_input", "authority"),
        ("memory_history", {"id": "ffffffffffff"}, "not_found", "id"),
        ("memory_history", {"id": "'; DROP TABLE memories; --"}, "not_found", "id"),
        ("memory_history", {"id": "%"}, "not_found", "id"),
        ("memory_resolve", {"id": "ffffffffffff", "winner": "ffffffffffff"}, "not_found", "id"),
        ("memory_consolidate", {"owner": ["ana"]}, "bad_input", "owner"),
        ("memory_archive", {"id": "ffffffffffff"}, "not_found", "id"),
        ("memory_restore", {"id": ""}, "not_found", "id"),
        ("memory_reject", {"id": "ffffffffffff"}, "not_found", "id"),
        ("memory_lift", {"id": "ffffffffffff"}, "not_found", "id"),
        ("memory_update", {}, "bad_input", "id"),
        ("memory_update", {"id": "ffffffffffff"}, "bad_input", "content"),
        ("memory_update", {"id": "ffffffffffff", "by": "x", "content": "y"}, "bad_input", "content"),
        ("memory_update", {"id": "ffffffffffff", "by": "x", "source": "user"}, "bad_input", "source"),
        ("memory_update", {"id": "ffffffffffff", "by": "eeeeeeeeeeee"}, "not_found", "by"),
        ("memory_update", {"id": "ffffffffffff", "content": "Tea is hot"}, "not_found", "id"),
        ("memory_update", {"id": 7, "content": "Tea is hot"}, "bad_input", "id"),
        ("memory_update", {"id": "%", "content": "nul \0 byte"}, "not_found", "id"),
        ("memory_update", {"id": "x", "content": "Tea is hot", "authority": "system"}, "bad_input", "authority"),
        ("memory_add", {"content": "Tea is hot", "supersedes": "ffffffffffff"}, "not_found", "supersedes"),
        ("memory_add", {"content": "Tea is hot", "supersedes": 7}, "bad_input", "supersedes"),
        ("memory_forget", {"id": "ffffffffffff"}, "not_found", "id"),
        ("memory_forget", {"id": None}, "bad_input", "id"),
        ("memory_forget", {}, "bad_input", "id"),
        ("memory_list", {"limit": 0}, "bad_input", "limit"),
        ("memory_list", {"limit": "many"}, "bad_input", "limit"),
        ("memory_list", {"cursor": "garbage"}, "bad_input", "cursor"),
        ("memory_list", {"cursor": "\0"}, "bad_input", "cursor"),
        ("memory_list", {"kind": "nonsense"}, "bad_input", "kind"),
        ("memory_list", {"status": "lost"}, "bad_input", "status"),
        ("memory_list", {"space": ["attic"]}, "bad_input", "space"),
        ("memory_list", {"colour": "red"}, "bad_input", "colour"),
        ("memory_list", {"filters": {"colour": "red"}}, "bad_input", "colour"),
        ("memory_list", {"filters": {"owner": "ben"}}, "bad_input", "owner"),
    ],
)
def test_errors_say_code_field_and_next_step(
    server: HttpServer, tool: str, arguments: dict[str, Any], code: str, field: str
) -> None:
    status, text = server.post(tool_call(tool, arguments))
    result = json.loads(text.split("data: ", 1)[1])["result"]
    assert status == 200 and result["isError"] is True
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    error = result["structuredContent"]["error"]
    assert (error["code"], error["field"]) == (code, field) and error["message"]
    assert set(error) == {"code", "message", "field", "hint"} and len(text) < 2_000


@every_row(
    "query", ["a\0b", "'; DROP TABLE memory; --", 'NEAR("x" AND', "*" * 500, "שלום \u202e עולם", "🦕" * 50, "%_\\"]
)
def test_a_hostile_query_is_an_ordinary_query(server: HttpServer, query: str) -> None:
    assert not server.call("memory_query", {"text": query}).is_error


def test_bytes_that_are_no_request_harm_nobody(server: HttpServer) -> None:
    assert server.post("garbage")[0] == 400
    assert server.post(tool_call("memory_add", {"content": "\ud800"}))[0] == 400
    assert server.post("[" * 50_000)[0] == 400
    assert server.post(tool_call("memory_add", {"content": "x" * 5_000_000}))[0] == 413
    assert server.post(tool_call("memory_query", {"text": "x"}), Host="evil.example")[0] == 421
    assert server.post(tool_call("memory_query", {"text": "x"}), Origin="http://evil.example")[0] == 403
    assert not server.call("memory_query", {"text": "still here"}).is_error


def test_an_unknown_tool_prompt_or_resource_is_a_protocol_error(server: HttpServer) -> None:
    with pytest.raises(MCPError, match=r"no tool 'create_entities'.*memory_query"):
        server.call("create_entities", {"entities": []})
    for uri in ("recollect://memory/ffffffffffff", "recollect://secrets", "file:///etc/passwd"):
        with pytest.raises(MCPError) as caught:
            read(server, uri)
        assert caught.value.data["code"] == "not_found"
    for name, arguments in (("nonsense", {}), ("recall", {}), ("snapshot", {"text": "x"})):
        with pytest.raises(MCPError) as caught:
            server.ask(lambda client, n=name, a=arguments: client.get_prompt(n, a))
        assert caught.value.data["hint"]


def test_a_memory_has_a_page(server: HttpServer) -> None:
    for content in ("The harbour depth is 12 metres", "The harbour depth is 14 metres"):
        id = server.call("memory_add", {"content": content, "title": "harbour depth"}).structured_content["memory"][
            "id"
        ]
    page = json.loads(read(server, f"recollect://memory/{id.replace('-', '')[:12]}").text)
    assert page["memory"]["content"] == "The harbour depth is 14 metres" and page["memory"]["source"] == "agent"
    assert [version["version"] for version in page["chain"]] == [1, 2]
    assert "How it was decided" in page["explanation"] and page["history"]
    assert (
        server.ask(lambda client: client.list_resource_templates()).resource_templates[0].uri_template.endswith("{id}")
    )


def test_prompts_and_the_snapshot_bring_memory_into_a_conversation(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "recollect.db") as mem:
        mem.add("Ana is the captain", tier="canon", title="captain name")
        mem.add("The ship sails on Friday", tier="register", topic_id="departure")
        mem.add("The cook likes thyme", title="cook herb")

    async def ask(client: Client) -> None:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recall", "snapshot"]
        assert [one.uri for one in (await client.list_resources()).resources] == ["recollect://snapshot"]
        recalled = (await client.get_prompt("recall", {"text": "cook thyme"})).messages[0]
        assert recalled.role == "user" and "The cook likes thyme" in recalled.content.text
        snapshot = (await client.read_resource("recollect://snapshot")).contents[0].text
        assert "captain" in snapshot and "Friday" in snapshot and "thyme" not in snapshot
        assert (await client.get_prompt("snapshot")).messages[0].content.text == snapshot

    with_client(over_stdio(tmp_path, tools="query"), ask)


def test_two_clients_at_once(server: HttpServer) -> None:
    async def both() -> list[set[str]]:
        outcomes: list[set[str]] = [set(), set()]

        async def write(mine: set[str], name: str) -> None:
            async with Client(server.url) as client:
                for number in range(12):
                    content = f"{name} keeps parrot number {number} in room {number}"
                    receipt = await client.call_tool("memory_add", {"content": content, "title": f"{name} {number}"})
                    mine.add(receipt.structured_content["memory"]["id"])

        async with anyio.create_task_group() as group:
            group.start_soon(write, outcomes[0], "Gustav")
            group.start_soon(write, outcomes[1], "Hedwig")
        return outcomes

    first, second = anyio.run(both)
    assert len(first) == len(second) == 12 and not first & second
    found = server.call("memory_query", {"text": "parrot", "top_k": 100}).structured_content["items"]
    assert first | second <= {one["id"] for one in found}


def test_a_write_that_waits_holds_up_nobody(server: HttpServer, folder: Path) -> None:
    answered: list[str] = []

    async def both(client: Client) -> None:
        async def write() -> None:
            receipt = await client.call_tool("memory_add", {"content": "The ferry leaves at noon"})
            answered.append(receipt.structured_content["outcome"])

        blocker = sqlite3.connect(folder / "recollect.db", isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        async with anyio.create_task_group() as group:
            group.start_soon(write)
            for _ in range(20):
                await client.call_tool("memory_query", {"text": "ferry"})
            answered.append("queries")
            blocker.execute("ROLLBACK")
        blocker.close()

    with_client(server.url, both)
    assert answered == ["queries", "stored"]


def test_a_server_on_stdio_ends_with_its_input_and_says_nothing_else(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    with process(tmp_path, "mcp") as running:
        assert running.stdin is not None and running.stdout is not None
        lines = [
            "garbage",
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
            json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            tool_call("memory_add", {"content": "\ud800"}),
            tool_call("memory_query", {"text": "x"}),
        ]
        running.stdin.write("".join(f"{line}\n" for line in lines))
        running.stdin.flush()
        answers = [json.loads(running.stdout.readline()) for _ in range(2)]
        rest, errors = running.communicate(timeout=20)
    assert [answer["id"] for answer in answers] == [0, 1] and not answers[1]["result"]["isError"]
    assert running.returncode == 0 and rest == "" and "Traceback" not in errors


def test_a_key_is_asked_of_everybody_and_a_server_ends_cleanly(tmp_path: Path) -> None:
    with over_http(tmp_path, RECOLLECT_KEY=KEY) as server:
        write = tool_call("memory_add", {"content": "Tides turn twice a day"})
        assert server.post(write)[0] == 401
        for wrong in (f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer ", f"Basic {KEY}", KEY, "Bearer \xff"):
            assert server.post(write, Authorization=wrong)[0] == 401
        for request in (write, tool_call("memory_query", {"text": "tides"})):
            status, text = server.post(request, Authorization=f"Bearer {KEY}")
            assert status == 200 and "Tides turn twice a day" in text and '"isError":false' in text
        server.process.send_signal(signal.SIGTERM)
        _, errors = server.process.communicate(timeout=20)
        assert server.process.returncode == 0 and "Traceback" not in errors and KEY not in errors
    with recollect.open(tmp_path / "recollect.db") as mem:
        (only,) = mem.list().items
        assert only.access_count == 1, "what was only counted was written when the server ended"


def test_what_must_not_be_served_is_refused_before_a_store_is_made(shell: Shell) -> None:
    error = shell.json("mcp", "--http", "0.0.0.0:0", code=1)["error"]
    assert (error["code"], error["field"]) == ("not_allowed", "http") and "RECOLLECT_KEY" in error["hint"]
    assert not (shell.folder / "recollect.db").exists()


def test_places_to_listen() -> None:
    assert [parse_place(text).loopback for text in ("127.0.0.1:1", "127.8.8.8:1", "[::1]:1", "localhost:1")] == [
        True
    ] * 4
    assert [parse_place(text).loopback for text in ("0.0.0.0:1", "[::]:1", "10.0.0.1:1", "localhost.evil:1")] == [
        False
    ] * 4
    for text in ("8765", "host:", ":8765", "host:-1", "host:65536", "host:٣", ""):
        with pytest.raises(BadInput):
            parse_place(text)
    for text in ("0.0.0.0:0", "[::]:0", "192.0.2.1:8765", "memory.example:8765"):
        with pytest.raises(NotAllowed, match="RECOLLECT_KEY"):
            listen(text, None)
    with pytest.raises(BadInput, match="16 characters"):
        listen("127.0.0.1:0", "short")
    with listen("127.0.0.1:0", None) as taken, pytest.raises(BadInput, match="cannot listen"):
        listen(f"127.0.0.1:{taken.getsockname()[1]}", None)


def test_tools_are_chosen_by_set_and_by_name() -> None:
    assert list(choose_tools("default")) == DEFAULT and list(choose_tools("admin")) == ADMIN
    assert len(choose_tools("reference")) == 9 and set(choose_tools("all")) == set(TOOLS)
    assert list(choose_tools("query")) == list(choose_tools("memory.query")) == ["memory_query"]
    assert list(choose_tools("add, query,add,read_graph")) == ["memory_add", "memory_query", "read_graph"]
    assert set(choose_tools("default,admin,reference")) == set(TOOLS)
    for wrong in ("", "nonsense", "query,"):
        with pytest.raises(BadInput):
            choose_tools(wrong)


def test_consent_is_listed_for_an_agent_and_granted_by_the_person_alone() -> None:
    tools = choose_tools("admin")
    with recollect.open(":memory:") as mem:
        ana, bot = mem.as_caller(user="ana"), mem.as_caller(user="ana", agent="planner")
        ids = [
            bot.add(text, kind="profile", key="city").memory.id for text in ("Ana lives in Porto", "Ana lives in Rome")
        ]
        listed = tools["memory_consent"].call(bot, {}).values["proposals"]
        assert [one["id"] for one in listed] == ids
        for memory, agent in ((bot, {}), (ana, {"agent": "planner"})):
            with pytest.raises(NotAllowed):
                tools["memory_grant"].call(memory, {"id": ids[0], **agent})
        assert tools["memory_grant"].call(ana, {"id": ids[0]}).values["memory"]["status"] == "active"
        assert (
            tools["memory_decline"].call(ana, {"id": ids[1], "reason": "no"}).values["rejection"]["memory_id"] == ids[1]
        )
        assert tools["memory_consent"].call(ana, {}).values["proposals"] == []


def test_names_and_schemas_suit_every_client() -> None:
    for name, tool in TOOLS.items():
        listed = tool.definition()
        assert name.replace("_", "").isalnum() and name.isascii() and len(name) <= 64
        assert listed.input_schema["type"] == "object" and listed.description
        assert listed.annotations is not None and listed.annotations.read_only_hint is tool.listing["reads_only"]
        assert listed.description.endswith(".") and listed.title


def test_the_default_listing_stays_small() -> None:
    listing = wire.ListToolsResult(tools=[tool.definition() for tool in choose_tools("default").values()])
    assert len(listing.model_dump_json(by_alias=True, exclude_none=True).encode()) <= LISTING_BYTES


def test_the_query_tool_names_the_category_of_procedures() -> None:
    assert "categories=['procedural']" in TOOLS["memory_query"].listing["description"]


def test_what_is_listed_is_what_a_model_needs() -> None:
    """Titles, nulls and the agent that a server is bound to anyway are noise in a listing; all are still accepted."""
    for tool in choose_tools("default,admin").values():
        schema = tool.definition().input_schema
        text = json.dumps(schema)
        assert "anyOf" not in text and "null" not in text and '"title": "' not in text, tool.name
        assert "agent" not in schema["properties"] and "agent" in tool.request.model_fields, tool.name
    assert parse(TOOLS["memory_list"].request, {"agent": None, "owner": None, "cursor": None}) == parse(
        TOOLS["memory_list"].request, {}
    )


def test_every_tool_and_argument_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `memory_")]
    for tool in choose_tools("default,admin").values():
        (row,) = [row for row in rows if f"`{tool.name}`" in row.split("|")[1]]
        names = {info.alias or name for name, info in tool.request.model_fields.items()}
        told = [set(re.findall(r"`(\w+)`", column)) for column in row.split("|")[2:4]]
        listed = set(tool.definition().input_schema["properties"])
        assert (told[0] - {"id"}) | ({"id"} & names) == listed and told[1] == names - listed, tool.name


def test_descriptions_name_tools_that_exist() -> None:
    for name, tool in TOOLS.items():
        listed = tool.definition()
        texts = [listed.description or "", json.dumps(listed.input_schema), REPLACE, INSTRUCTIONS]
        named = {word for text in texts for word in re.findall(r"\bmemory_\w+", text)}
        assert named <= set(TOOLS), name
