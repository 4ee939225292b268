"""Every endpoint, asked with another tenant's or another user's ids and names: nothing is told, and nothing of theirs moves."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

import recollect
from recollect import Recollect
from recollect.interfaces.rest import Settings, create_app
from recollect.interfaces.rest.operations import OPERATIONS

SECRET = "zanzibarquartz"
"""A word in everything that is theirs, and in no request."""
ASKED: dict[str, dict[str, Any]] = {
    "add": {"content": "Acme says hello", "aliases": ["theirs"]},
    "edit": {"pinned": True},
    "update": {"content": "Acme says otherwise"},
    "resolve": {"winner": "{id}"},
    "promote": {"to_space": "project", "owner": "apollo"},
    "supersede": {"by": "{id}"},
    "query": {"text": "savings in the bank", "include_namespaces": ["prod", "test", "ephemeral"]},
    "recall_if_unsure": {"text": "savings in the bank", "confidence": 0.1},
    "memory_block": {"text": "savings in the bank"},
    "turn": {"session": "s1", "user": "Where are my savings?"},
    "recall_for": {"session": "s1", "user": "Where are my savings?"},
    "record": {"session": "s1", "user": "Where are my savings?"},
    "change_header": {"owner": "ana", "space": "user", "since": 0},
    "start_phase": {"owner": "s1", "space": "session"},
    "consolidate": {"owner": "ana", "force": True},
    "erase": {"id": "{id}", "whole_chain": True},
    "common_sources": {"a": "{id}", "b": "{id}"},
    "phase_diff": {"from_phase": "phase-1", "to_phase": "phase-1", "owner": "ana/s1"},
    "phases": {"owner": "ana/s1"},
    "prove_growth": {"since": 1},
    "get": {"as_of": 1},
    "list": {"include_namespaces": ["prod", "test", "ephemeral"], "limit": 1_000},
    "traces": {"limit": 1_000},
    "events": {"limit": 1_000},
}
FEEDS = [
    ("GET", "/v1/memories/{id}/history", {}),
    ("GET", "/memory/{id}/history", {}),
    ("GET", "/v1/changes", {"since": "start"}),
    ("GET", "/v1/changes", {"since": "start", "owner": "ana"}),
    ("GET", "/v1/export", {"owner": "ana", "status": "null"}),
    ("GET", "/v1/export", {"status": "null"}),
    ("GET", "/v1/memories/{id}", {}),
    ("GET", "/v1/memories", {"as_of": 1, "status": "null", "owner": "ana"}),
    ("POST", "/v1/query", {"text": "savings in the bank", "as_of": 1}),
    ("GET", "/compat/mem0/v1/memories/{id}/", {}),
    ("GET", "/compat/mem0/v1/memories/{id}/history/", {}),
    ("GET", "/compat/mem0/v1/entities/", {}),
    ("DELETE", "/compat/mem0/v1/memories/{id}/", {}),
    ("POST", "/compat/mem0/v3/memories/search/", {"query": "savings", "filters": {"user_id": "ana"}}),
    ("POST", "/compat/mem0/v3/memories/", {"filters": {"user_id": "ana"}}),
]
EVERY_RIGHT = list(recollect.Right)


def _filled(memory: Recollect) -> list[str]:
    """Fill the record of ana: a memory with versions, a contradiction, a session, a rejection; return every id."""
    ana = memory.as_caller(user="ana", session="ana/s1", rights=EVERY_RIGHT)
    first = ana.add(f"Savings of {SECRET} are in the bank", aliases=["theirs"]).memory
    assert first is not None
    ana.update(first.id, f"Savings of {SECRET} are under the bed")
    ana.turn(session="ana/s1", user=f"I live in {SECRET} and like tea.")
    untrue = ana.add(f"The dentist of {SECRET} is in Porto").memory
    assert untrue is not None
    ana.reject(untrue.id)
    return [one.id for one in memory.list_all(status=None, include_namespaces=["prod", "test", "ephemeral"])]


def _requests(ids: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every endpoint with every foreign id, in full and in short, and by alias."""
    names = [*ids, ids[0].replace("-", "")[:12], "theirs"]
    for method, path, asked in [*((one.method, one.path, ASKED.get(one.name, {})) for one in OPERATIONS), *FEEDS]:
        takes_id = "{id}" in path + str(asked)
        for id in names if takes_id else names[:1]:
            here = path.format(id=id, other=ids[-1], name="user:ana") if "{" in path else path
            yield method, here, {key: id if value == "{id}" else value for key, value in asked.items()}


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
@pytest.mark.parametrize("border", ["tenant", "user"])
def test_nothing_is_told_or_moved_across(
    border: str, store: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    place = tmp_path / "memory.db" if store == "sqlite" else request.getfixturevalue("server_store")
    theirs, ours = ("globex", "acme") if border == "tenant" else ("acme", "acme")
    rights = EVERY_RIGHT if border == "tenant" else ["read", "write", "relay", "govern", "erase"]
    with recollect.open(place, tenant=theirs) as memory, recollect.open(place, tenant=ours) as mine:
        ids = _filled(memory)
        before = [memory.get(id).revision for id in ids]
        user = "ana" if border == "tenant" else "ben"
        key = {"Authorization": f"Bearer {mine.create_key('k', user=user, rights=rights).key}"}
        statuses: set[int] = set()
        with TestClient(create_app(mine, Settings(burst=10**9))) as client:
            for method, path, asked in _requests(ids if store == "sqlite" else ids[:1]):
                sent = {"json": asked} if method in ("POST", "PUT", "PATCH") else {"params": asked}
                answer = client.request(method, path, headers={**key, "Accept": "application/json"}, **sent)
                assert SECRET not in answer.text, path
                assert not any(id in answer.text for id in ids if id not in path + str(asked)), path
                assert answer.status_code < 500, (path, answer.text)
                statuses.add(answer.status_code)
        assert [memory.get(id).revision for id in ids] == before
        assert {200, 404} <= statuses
