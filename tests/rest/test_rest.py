"""The REST server: the same operations, under the same names, with the same errors."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

import recollect
from recollect.interfaces.rest import Settings, create_app, problems
from recollect.interfaces.rest.operations import OPERATIONS

from .conftest import Connect, on_both_stores


def add(client: TestClient, content: str = "Ana prefers dark mode", **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/memories", json={"content": content, "owner": "ana", **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@on_both_stores
def test_one_memory_from_first_word_to_last(client: TestClient) -> None:
    stored = add(client)
    assert stored["outcome"] == "stored"
    here = f"/v1/memories/{stored['memory']['id']}"
    assert client.get(here).json()["content"] == "Ana prefers dark mode"
    assert client.patch(here, json={"pinned": True}).json()["pinned"] is True
    assert client.put(here, json={"content": "Ana prefers light mode"}).json()["outcome"] == "superseded"
    chain = client.get(f"{here}/chain").json()["items"]
    assert [one["status"] for one in chain] == ["superseded", "active"]
    now = f"/v1/memories/{chain[1]['id']}"
    assert client.delete(now).json()["status"] == "soft_deleted"
    assert client.post(f"{now}/restore").json()["status"] == "active"
    assert client.post(f"{now}/archive").json()["status"] == "archived"
    assert client.get("/v1/memories").json() == {"items": [], "next_cursor": None, "damaged": []}
    assert len(client.get("/v1/memories", params={"status": "null"}).json()["items"]) == 2
    assert {one["content"] for one in client.get("/v1/memories?status=archived&status=superseded").json()["items"]} == {
        "Ana prefers dark mode",
        "Ana prefers light mode",
    }


@on_both_stores
def test_many_at_once_and_page_by_page(client: TestClient) -> None:
    texts = ["Ana likes tea", "Ben likes jazz", "Cleo likes chess"]
    answer = client.post("/v1/memories", json=[{"content": text} for text in texts])
    assert [one["outcome"] for one in answer.json()["items"]] == ["stored"] * 3
    found, cursor = [], None
    while True:
        page = client.get("/v1/memories", params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
        found += [one["content"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert found == texts[::-1]


@on_both_stores
def test_a_query_as_the_tool_words_it(client: TestClient) -> None:
    add(client, category="tasks")
    request = {"agent": "planner", "query": "which theme?", "categories": ["tasks"], "filters": {"pinned": False}}
    request |= {"top_k": 3, "return": "bullets", "budget_tokens": 512, "threshold": 0.1}
    (bullet,) = client.post("/v1/query", json=request).json()["items"]
    assert set(bullet) == {"id", "category", "text"} and bullet["category"] == "tasks"
    full = client.post("/v1/query", json={**request, "return": "full", "budget_tokens": 2_000}).json()["items"][0]
    assert full["content"] == "Ana prefers dark mode" and "score" in full
    recalled = client.post("/v1/query", json={"text": "which theme?"}).json()
    assert recalled["items"][0]["memory"]["id"] == bullet["id"] and "dark mode" in recalled["text"]
    both = client.post("/v1/query", json={"text": "a", "query": "b"})
    assert (both.status_code, both.json()["field"]) == (400, "text")


@on_both_stores
def test_history_comes_newest_first_and_in_pages(client: TestClient) -> None:
    id = add(client)["memory"]["id"]
    for tags in (["a"], ["b"], ["c"]):
        client.patch(f"/v1/memories/{id}", json={"tags": tags})
    seen, cursor = [], None
    for _ in range(10):
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get(f"/memory/{id}/history", params=params).json()
        assert page == client.get(f"/v1/memories/{id}/history", params=params).json()
        seen += [one["meta"]["operation"] for one in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    assert seen == ["edited", "edited", "edited", "stored"]
    assert client.get(f"/v1/memories/{id}/history?cursor=nonsense").status_code == 400


@on_both_stores
def test_an_edit_of_what_has_changed_since_is_refused(client: TestClient) -> None:
    here = f"/v1/memories/{add(client)['memory']['id']}"
    tag = client.get(here).headers["etag"]
    first = client.patch(here, json={"tags": ["a"]}, headers={"If-Match": tag})
    assert first.status_code == 200 and first.headers["etag"] != tag
    for change in (
        lambda: client.patch(here, json={"tags": ["b"]}, headers={"If-Match": tag}),
        lambda: client.put(here, json={"content": "Ana likes coffee"}, headers={"If-Match": tag}),
        lambda: client.delete(here, headers={"If-Match": tag}),
        lambda: client.post(f"{here}/archive", headers={"If-Match": tag}),
    ):
        refused = change()
        assert (refused.status_code, refused.json()["code"]) == (412, "out_of_date")
    assert client.get(here).json()["tags"] == ["a"]
    assert client.get(here).headers["etag"] == first.headers["etag"], "reading changes nothing"


def test_the_first_key_closes_a_server_without_keys_for_good(
    client: TestClient, memory: recollect.Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.interfaces.rest.access.LOOK_FOR_KEYS_S", 0.0)
    assert client.get("/v1/memories").status_code == 200
    made = memory.create_key("first", user="ana")
    assert client.get("/v1/memories").status_code == 401
    memory.revoke_key(made.about.id)
    assert client.get("/v1/memories").status_code == 401


def test_errors_are_problem_details_with_the_codes_of_everywhere(client: TestClient) -> None:
    id = add(client)["memory"]["id"]
    cases: list[tuple[Any, int, str, str | None]] = [
        (client.get("/v1/memories/ffffffffffff"), 404, "not_found", "id"),
        (client.post("/v1/memories", json={"content": ""}), 400, "bad_input", "content"),
        (client.post("/v1/memories", json={"content": "x", "nonsense": 1}), 400, "bad_input", "nonsense"),
        (client.post("/v1/memories", json={"content": 3}), 400, "bad_input", "content"),
        (
            client.post("/v1/memories", content=b"{", headers={"content-type": "application/json"}),
            400,
            "bad_input",
            "body",
        ),
        (client.get("/v1/memories?status=nonsense"), 400, "bad_input", "status.0"),
        (client.post(f"/v1/memories/{id}/restore"), 409, "wrong_state", None),
        (client.get("/v1/nowhere"), 404, "not_found", None),
        (client.put("/v1/query"), 405, "bad_input", None),
    ]
    for answer, status, code, field in cases:
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        told = answer.json()
        assert (answer.status_code, told["status"], told["code"]) == (status, status, code), told
        assert field is None or told["field"] == field, told
        assert told["hint"], told


def test_a_refused_method_is_told_every_method_of_its_path(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    told = {}
    for path in document["paths"]:
        answer = client.request("TRACE", re.sub(r"{\w+}", "1", path))
        told[path] = (answer.status_code, answer.headers["allow"])
    assert told == {path: (405, ", ".join(sorted(map(str.upper, one)))) for path, one in document["paths"].items()}
    assert client.options("/compat/mem0/v1/ping/").headers["allow"] == "DELETE, GET, PATCH, POST, PUT"


@on_both_stores
def test_keys_bind_and_end(connect: Connect, memory: recollect.Recollect) -> None:
    ana, ben = connect("ana"), connect("ben")
    assert connect(None).get("/v1/memories").status_code == 401
    assert connect(None).get("/v1/memories").headers["www-authenticate"].startswith("Bearer")
    id = add(ana)["memory"]["id"]
    assert ben.get(f"/v1/memories/{id}").status_code == 404 and ben.get("/v1/memories").json()["items"] == []
    denied = ben.post("/v1/memories", json={"content": "Ana likes tea", "owner": "ana"}).json()
    assert denied["outcome"] == "denied"
    for right, path in (("operate", "/v1/ledger/verify"), ("govern", "/v1/traces"), ("operate", "/metrics")):
        assert ana.get(path).json()["code"] == "not_allowed"
        assert connect("ana", rights=["read", right]).get(path).status_code == 200
    assert connect("ana", rights=["read"]).post("/v1/memories", json={"content": "x"}).json()["outcome"] == "denied"
    (key, *_) = memory.access_keys()
    assert key.last_used is not None
    memory.revoke_key(key.id)
    assert ana.get("/v1/memories").json()["code"] == "key_refused"
    assert ana.get("/healthz").status_code == 200


def test_a_server_without_keys_answers_to_this_machine_alone(memory: recollect.Recollect) -> None:
    with TestClient(create_app(memory, Settings(key_required=False)), base_url="http://evil.example") as there:
        assert there.get("/v1/memories").status_code == 403
    with TestClient(create_app(memory, Settings(key_required=False)), base_url="http://localhost:8766") as here:
        assert here.get("/v1/memories").status_code == 200
        assert here.get("/v1/memories", headers={"Origin": "http://evil.example"}).status_code == 403
        assert "access-control-allow-origin" not in here.options("/v1/memories", headers={"Origin": "http://x"}).headers


def test_a_key_that_asks_too_often_waits_and_others_do_not(memory: recollect.Recollect) -> None:
    app = create_app(memory, Settings(rate_per_s=0.001, burst=3))
    with TestClient(app) as server:
        one, other = ({"Authorization": f"Bearer {memory.create_key('k', user=name).key}"} for name in ("ana", "ben"))
        assert [server.get("/v1/memories", headers=one).status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        assert server.get("/v1/memories", headers=one).headers["retry-after"] == "1"
        assert server.get("/v1/memories", headers=other).status_code == 200


def test_a_body_that_is_too_large_is_refused_however_it_comes(memory: recollect.Recollect) -> None:
    app = create_app(memory, Settings(key_required=False, max_body_bytes=1_000))
    with TestClient(app, base_url="http://127.0.0.1") as server:
        announced = server.post("/v1/memories", json={"content": "x" * 2_000})
        streamed = server.post(
            "/v1/memories", content=iter([b"x" * 600] * 3), headers={"content-type": "application/json"}
        )
        assert [(one.status_code, one.json()["code"]) for one in (announced, streamed)] == [(413, "too_large")] * 2


@on_both_stores
def test_export_and_import_are_streams_of_lines(client: TestClient) -> None:
    for text in ("Ana likes tea", "Ana speaks German"):
        add(client, text)
    lines = client.get("/v1/export", params={"owner": "ana"}).text
    assert len(lines.splitlines()) == 2
    with recollect.open(":memory:") as empty:
        app = create_app(empty, Settings(key_required=False))
        with TestClient(app, base_url="http://127.0.0.1") as other:
            report = other.post("/v1/import", content=lines, params={"owner": "ana"}).json()
            assert report["outcomes"] == {"stored": 2}
            assert other.post("/v1/import", content=b"\xff").json()["code"] == "bad_input"
            assert other.post("/v1/import?format=nonsense", content=b"").json()["field"] == "format"


@on_both_stores
def test_every_answer_fits_its_schema(client: TestClient) -> None:
    """What each read answers on a store with something in it is what OpenAPI says."""
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    id = add(client)["memory"]["id"]
    client.post("/v1/ledger/checkpoints")
    client.post("/v1/turns", json={"session": "s1", "user": "I live in Oslo.", "owner": "ana"})
    client.post("/v1/phases", json={"owner": "s1", "name": "next"})
    more = {"/v1/provenance/common-sources": {"a": id, "b": id}, "/v1/ledger/growth": {"since": 1}}
    more |= {"/v1/difference": {"since": 1}}
    more |= {"/v1/phases/diff": {"from_phase": "phase-1", "to_phase": "phase-2", "owner": "s1"}}
    for operation in [one for one in OPERATIONS if one.method == "GET" and one.name not in ("identity", "run")]:
        answer = client.get(operation.path.replace("{id}", id), params=more.get(operation.path, {}))
        assert answer.status_code == 200, (operation.path, answer.text)
        said = document["paths"][operation.path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        schema = {**said, "components": document["components"]}
        faults = [fault.message for fault in Draft202012Validator(schema).iter_errors(answer.json())]
        assert faults == [], operation.path


def test_every_request_is_shown_by_an_example_that_fits_its_schema(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    parts, without = {"components": document["components"]}, []
    for operation in [one for path in document["paths"].values() for one in path.values()]:
        asked = [
            (one.get("required"), one, one["schema"])
            for one in operation.get("parameters", ())
            if one["in"] != "header"
        ]
        for name in re.findall(r"schemas/(\w+)", str(operation.get("requestBody", "")))[:1]:
            schema = document["components"]["schemas"][name]
            asked += [(field in schema.get("required", ()), one, one) for field, one in schema["properties"].items()]
        shown = [
            (needed, about.get("examples") or schema.get("examples", []), schema) for needed, about, schema in asked
        ]
        if any(needed and not examples for needed, examples, _ in shown) or (shown and not any(e for _, e, _ in shown)):
            without.append(operation["operationId"])
        for _, examples, schema in shown:
            for example in examples if isinstance(examples, list) else [one["value"] for one in examples.values()]:
                assert Draft202012Validator({**schema, **parts}).is_valid(example), (operation["operationId"], example)
    assert without == []


def test_what_the_document_says_of_an_operation_is_for_its_callers(client: TestClient) -> None:
    """No docstring of the server's own, no markup or example of Python, and nothing twice."""
    paths = client.get("/openapi.json").json()["paths"]
    operations = {(path, method): one for path, methods in paths.items() for method, one in methods.items()}
    for named, one in operations.items():
        text = f"{one['summary']}\n{one.get('description', '')}"
        assert not re.search(r":\w+:`|``|>>>|framework", text), named
        assert one["summary"] and not one.get("description", "").startswith(one["summary"]), named


def test_the_server_says_how_it_does(client: TestClient) -> None:
    add(client)
    assert client.get("/readyz").json() == {"status": "ready"}
    counted = client.get("/metrics").text
    assert 'recollect_requests_total{operation="add",status="200"} 1.0' in counted
    assert "Ana" not in counted and "recollect_request_seconds_bucket" in counted


def test_every_code_is_documented_with_its_status() -> None:
    page = (Path(__file__).parents[2] / "docs" / "server.md").read_text("utf-8")
    rows = {
        code: int(status)
        for status, codes in re.findall(r"^\| (\d+) \| (.+) \|$", page, re.M)
        for code in re.findall(r"`(\w+)`", codes)
    }
    assert rows == {kind.code: problems.status_of_kind(kind) for kind in problems.BY_CODE.values()}


def test_a_key_without_the_right_to_read_is_refused_by_its_name(connect: Connect) -> None:
    writer = connect("ana", rights=["write"])
    assert add(writer)["outcome"] == "stored"
    for answer in (
        writer.get("/v1/memories"),
        writer.get("/v1/memories/0123456789ab"),
        writer.post("/v1/query", json={"text": "which theme?"}),
        writer.get("/v1/memories/0123456789ab/history"),
        writer.get("/v1/export"),
        writer.get("/v1/changes", headers={"Accept": "application/json"}),
    ):
        told = answer.json()
        assert (answer.status_code, told["code"]) == (403, "not_allowed") and "'read'" in told["hint"], told
