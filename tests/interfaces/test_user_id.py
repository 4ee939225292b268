"""``user_id`` names the owner on the command line and over MCP too."""

import json
from pathlib import Path
from typing import Any

from mcp import Client

from .mcp_servers import over_stdio, with_client
from .shell import Shell


def test_the_command_line_takes_a_user_id_for_the_owner(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    stored = shell.json("add", "I'm allergic to peanuts", "--user-id", "ana")["memory"]
    assert stored["owner"] == "ana"
    shell.json("add", "I'm not allergic to peanuts", "--user-id", "ben")
    for asked in (("query", "peanuts"), ("list",)):
        (found,) = shell.json(*asked, "--user-id", "ana")["items"]
        assert found.get("memory", found)["content"] == "I'm allergic to peanuts"
    shell.json("turn", "--session", "s1", "--user", "My van is parked in Ghent.", "--user-id", "ana")
    told = shell.json("recall-for", "--session", "s2", "--user", "Where is the van?", "--user-id", "ana")
    assert "Ghent" in json.dumps(told)
    (tmp_path / "carl.jsonl").write_text('{"content": "Carl grows beets"}')
    shell.json("import", str(tmp_path / "carl.jsonl"), "--format", "jsonl", "--user-id", "carl")
    assert [one["content"] for one in shell.json("list", "--owner", "carl")["items"]] == ["Carl grows beets"]
    brought = ("import", str(tmp_path / "carl.jsonl"), "--format", "jsonl")
    for asked in (brought, ("add", "Tea"), ("query", "tea"), ("list",), ("turn", "--session", "s", "--user", "Hi")):
        refused = shell.json(*asked, "--owner", "ana", "--user-id", "ben", code=2)
        assert "owner and user_id" in refused["error"]["message"]


def test_tools_take_a_user_id_for_the_owner(tmp_path: Path) -> None:
    async def work(client: Client) -> list[Any]:
        calls = [
            ("memory_add", {"content": "Ana is allergic to peanuts", "user_id": "ana"}),
            ("memory_add", {"content": "Ben is not allergic to peanuts", "user_id": "ben"}),
            ("memory_query", {"text": "peanuts", "user_id": "ana", "form": "full"}),
            ("memory_list", {"user_id": "ben"}),
            ("memory_query", {"text": "peanuts", "user_id": "ana", "owner": "ben"}),
            ("memory_list", {"filters": {"user_id": "ben", "kind": "semantic"}}),
            ("memory_list", {"user_id": "ana", "filters": {"user_id": "ben"}}),
        ]
        return [await client.call_tool(name, given) for name, given in calls]

    added, _, asked, listed, refused, filtered, twice = with_client(over_stdio(tmp_path), work)
    assert added.structured_content["memory"]["owner"] == "ana"
    assert "Ana is allergic" in str(asked.content) and "Ben is not" not in str(asked.content)
    assert "Ben is not" in str(listed.content) and "Ana is allergic" not in str(listed.content)
    assert "owner and user_id" in str(refused.content)
    assert filtered.structured_content == listed.structured_content and "given twice" in str(twice.content)
