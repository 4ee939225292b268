"""What one way in refuses, every way in refuses: Python, the command line, MCP, REST, its mem0 corner, and imports."""

import json
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import recollect
from interfaces.shell import RECOLLECT
from recollect import Recollect
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.interfaces.rest import create_app

FORBIDDEN = {
    "a secret": {"content": "The password of the router is Tr0ub4dor&3x"},
    "somebody else's memory": {"content": "Ben owes Ana a hundred euros", "owner": "ben"},
    "a value that was rejected": {"content": "The dentist of Ana is in Porto"},
    "a value that was rejected, in two sentences": {"content": "Ana has a dentist. The dentist is in Porto."},
    "a name that is not one's own": {"content": "Ana agreed to everything", "agent_id": "judge"},
}


class Ways:
    """Each way to write, as ana's assistant."""

    def __init__(self, memory: Recollect, store: Path) -> None:
        self.memory, self.store = memory, store
        self.bound = memory.as_caller(user="ana", agent="assistant")
        key = memory.create_key("k", user="ana", agent="assistant").key
        self.client = TestClient(create_app(memory), headers={"Authorization": f"Bearer {key}"})

    def python(self, fields: dict[str, Any]) -> None:
        self.bound.add(**fields)

    def many(self, fields: dict[str, Any]) -> None:
        self.bound.add_many([fields])  # type: ignore[list-item]

    def command_line(self, fields: dict[str, Any]) -> None:
        more = [word for name, value in fields.items() if name != "content" for word in ("--field", f"{name}={value}")]
        told = ["--store", str(self.store), "--as-user", "ana", "--as-agent", "assistant"]
        subprocess.run([RECOLLECT, *told, "add", fields["content"], *more], capture_output=True, check=False)

    def mcp(self, fields: dict[str, Any]) -> None:
        known = {name: value for name, value in fields.items() if name in TOOLS["memory_add"].request.model_fields}
        TOOLS["memory_add"].call(self.bound, known)

    def rest(self, fields: dict[str, Any]) -> None:
        self.client.post("/v1/memories", json=fields)

    def rest_many(self, fields: dict[str, Any]) -> None:
        self.client.post("/v1/memories", json=[fields])

    def rest_import(self, fields: dict[str, Any]) -> None:
        self.client.post("/v1/import", content=json.dumps(fields) + "\n")

    def file_import(self, fields: dict[str, Any]) -> None:
        self.bound.import_([json.dumps(fields)])

    def mem0(self, fields: dict[str, Any]) -> None:
        whose = {"user_id": fields["owner"]} if "owner" in fields else {}
        whose |= {"agent_id": fields["agent_id"]} if "agent_id" in fields else {}
        said = [{"role": "assistant", "content": fields["content"]}]
        self.client.post("/compat/mem0/v3/memories/add/", json={"messages": said, **whose})


WAYS: list[Callable[[Ways, dict[str, Any]], None]] = [way for name, way in vars(Ways).items() if name[0] != "_"]


@pytest.mark.parametrize("forbidden", FORBIDDEN)
def test_every_way_in_refuses_it(forbidden: str, tmp_path: Path) -> None:
    fields, store = FORBIDDEN[forbidden], tmp_path / "memory.db"
    with recollect.open(store) as memory:
        rejected = memory.add("The dentist of Ana is in Porto", owner="ana").memory
        assert rejected is not None
        memory.reject(rejected.id)
        ways = Ways(memory, store)
        with ways.client:
            for way in WAYS:
                with suppress(recollect.RecollectError):
                    way(ways, fields)
                kept = list(memory.list_all(status=["active", "contradictory", "pending"]))
                under_that = [one for one in kept if one.content == fields["content"]]
                allowed = forbidden == "a name that is not one's own"
                assert not under_that or (allowed and {one.agent_id for one in under_that} <= {"assistant", None}), (
                    way.__name__
                )
                assert not [one for one in kept if one.owner == "ben"], way.__name__
            ways.client.post("/v1/memories", json={"content": "Ana likes tea"})
            assert [one.content for one in memory.list_all() if one.content == "Ana likes tea"], (
                "what is allowed is stored"
            )
