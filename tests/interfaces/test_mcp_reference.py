"""The nine tools of the reference memory server: its requests, its answers, and our gates behind them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.interfaces.mcp.catalogue import choose_tools
from recollect.rules import knowledge_graph as graph
from recollect.rules.knowledge_graph import Entity, Graph, Relation
from rows import every_row

from .mcp_servers import HttpServer, over_http

ENTITY = {"name": "string", "entityType": "string", "observations": ["string"]}
RELATION = {"from": "string", "to": "string", "relationType": "string"}
GRAPH = {"entities": [ENTITY], "relations": [RELATION]}
DONE = {"success": "boolean", "message": "string"}

SHAPES: dict[str, tuple[Any, Any]] = {
    "create_entities": ({"entities": [ENTITY]}, {"entities": [ENTITY]}),
    "create_relations": ({"relations": [RELATION]}, {"relations": [RELATION]}),
    "add_observations": (
        {"observations": [{"entityName": "string", "contents": ["string"]}]},
        {"results": [{"entityName": "string", "addedObservations": ["string"]}]},
    ),
    "delete_entities": ({"entityNames": ["string"]}, DONE),
    "delete_observations": ({"deletions": [{"entityName": "string", "observations": ["string"]}]}, DONE),
    "delete_relations": ({"relations": [RELATION]}, DONE),
    "read_graph": ({}, GRAPH),
    "search_nodes": ({"query": "string"}, GRAPH),
    "open_nodes": ({"names": ["string"]}, GRAPH),
}
"""What the reference server takes and gives, every field required, as its documentation and source have it."""


def shape(schema: dict[str, Any], whole: dict[str, Any]) -> Any:
    """A schema as in the table above; a field that may be left out would show."""
    if "$ref" in schema:
        return shape(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if schema["type"] == "array":
        return [shape(schema["items"], whole)]
    if schema["type"] != "object":
        return schema["type"]
    fields = schema.get("properties", {})
    assert set(schema.get("required", ())) == set(fields)
    return {name: shape(inner, whole) for name, inner in fields.items()}


def test_requests_and_answers_have_the_reference_s_shapes() -> None:
    tools = {name: tool.definition() for name, tool in choose_tools("reference").items()}
    assert list(tools) == list(SHAPES)
    for name, (request, answer) in SHAPES.items():
        listed = tools[name]
        assert shape(listed.input_schema, listed.input_schema) == request, name
        assert listed.output_schema is not None and shape(listed.output_schema, listed.output_schema) == answer, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graph")


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[HttpServer]:
    with over_http(folder, tools="reference") as server:
        yield server


@pytest.fixture
def server(running: HttpServer) -> HttpServer:
    """The server with an empty graph."""
    names = [entity["name"] for entity in running.call("read_graph").structured_content["entities"]]
    running.call("delete_entities", {"entityNames": names})
    assert running.call("read_graph").structured_content == {"entities": [], "relations": []}
    return running


def entity(name: str, *observations: str, type: str = "person") -> dict[str, Any]:
    return {"name": name, "entityType": type, "observations": list(observations)}


def relation(start: str, end: str, type: str) -> dict[str, str]:
    return {"from": start, "to": end, "relationType": type}


def test_a_graph_is_made_read_and_taken_apart(server: HttpServer) -> None:
    john = entity("John_Smith", "Speaks fluent Spanish", "Graduated in 2019")
    firm = entity("Anthropic", type="organization")
    made = server.call("create_entities", {"entities": [john, firm, john]})
    assert made.structured_content == {"entities": [john, firm]}
    assert json.loads(made.content[0].text) == [john, firm] and made.content[0].text.startswith("[\n  {\n")
    works = relation("John_Smith", "Anthropic", "works_at")
    assert server.call("create_relations", {"relations": [works, works]}).structured_content == {"relations": [works]}
    said = {"entityName": "John_Smith", "contents": ["Speaks fluent Spanish", "Prefers morning meetings"]}
    added = server.call("add_observations", {"observations": [said]}).structured_content
    assert added == {"results": [{"entityName": "John_Smith", "addedObservations": ["Prefers morning meetings"]}]}
    john["observations"].append("Prefers morning meetings")
    whole = {"entities": [john, firm], "relations": [works]}
    assert server.call("read_graph").structured_content == whole
    assert json.loads(server.call("read_graph").content[0].text) == whole
    address = "memory://knowledge-graph"
    assert json.loads(server.ask(lambda client: client.read_resource(address)).contents[0].text) == whole

    for query in ("MORNING", "john_", "person"):
        assert server.call("search_nodes", {"query": query}).structured_content == {**whole, "entities": [john]}
    assert server.call("search_nodes", {"query": "nobody"}).structured_content == {"entities": [], "relations": []}
    assert server.call("open_nodes", {"names": ["Anthropic", "x"]}).structured_content == {**whole, "entities": [firm]}

    gone = {"deletions": [{"entityName": "John_Smith", "observations": ["Graduated in 2019"]}]}
    done = server.call("delete_observations", gone)
    assert done.structured_content == {"success": True, "message": "Observations deleted successfully"}
    assert done.content[0].text == done.structured_content["message"]
    assert "0 of 1" in server.call("delete_observations", gone).structured_content["message"]
    john["observations"].remove("Graduated in 2019")
    assert server.call("delete_relations", {"relations": [works]}).structured_content["success"] is True
    assert server.call("read_graph").structured_content == {"entities": [john, firm], "relations": []}
    server.call("create_relations", {"relations": [works]})
    done = server.call("delete_entities", {"entityNames": ["John_Smith", "Nobody"]}).structured_content
    assert done["success"] is True and "1 of 2" in done["message"] and "Nobody" in done["message"]
    assert server.call("read_graph").structured_content == {"entities": [firm], "relations": []}
    assert server.call("create_entities", {"entities": [entity("John_Smith")]}).structured_content["entities"]
    assert server.call("open_nodes", {"names": ["John_Smith"]}).structured_content["entities"] == [entity("John_Smith")]


def test_names_and_words_are_taken_exactly(server: HttpServer) -> None:
    two = [
        entity("Ana", "Lives in Lisbon"),
        entity("ana", "Lives in Lisbon"),
        entity("Ána ✨ 'x' %_", "Lives in Porto"),
    ]
    assert server.call("create_entities", {"entities": two}).structured_content == {"entities": two}
    more = {"entityName": "Ana", "contents": ["Lives in Porto", "lives in Lisbon"]}
    assert server.call("add_observations", {"observations": [more]}).structured_content["results"][0][
        "addedObservations"
    ] == ["Lives in Porto", "lives in Lisbon"], "two observations stand side by side, as in the reference server"
    read = server.call("open_nodes", {"names": ["Ana"]}).structured_content["entities"]
    assert read == [entity("Ana", "Lives in Lisbon", "Lives in Porto", "lives in Lisbon")]


def test_what_a_gate_refuses_is_left_out_and_said(server: HttpServer) -> None:
    made = server.call("create_entities", {"entities": [entity("Vault", "Is blue", "Its password is hunter2-Zx9Q")]})
    assert made.structured_content == {"entities": [entity("Vault", "Is blue")]} and not made.is_error
    assert "privacy_deny_sensitive" in made.content[1].text and "hunter2" not in made.content[1].text
    typed = entity("Chest", "Is green", type="password: hunter2-Zx9Q")
    assert server.call("create_entities", {"entities": [typed]}).structured_content == {"entities": []}
    server.call("create_entities", {"entities": [entity("Chest")]})
    read = server.call("open_nodes", {"names": ["Chest"]}).structured_content["entities"]
    assert read == [entity("Chest")], "an entity that was refused left nothing behind"
    said = {"entityName": "Vault", "contents": ["Opens with AKIAIOSFODNN7EXAMPL3 and wJalrXUtnFEMI/K7MDENG"]}
    added = server.call("add_observations", {"observations": [said]})
    assert added.structured_content == {"results": [{"entityName": "Vault", "addedObservations": []}]}
    assert len(added.content) == 2


def test_the_graph_is_governed_memory(server: HttpServer, folder: Path) -> None:
    server.call("create_entities", {"entities": [entity("Otto", "Builds sundials", "Sings bass")]})
    server.call("delete_observations", {"deletions": [{"entityName": "Otto", "observations": ["Sings bass"]}]})
    with recollect.open(folder / "recollect.db") as mem:
        found = mem.query("who builds sundials").items[0]
        assert found.memory.content == "Otto: Builds sundials" and found.memory.authority == "ai_inferred"
        (gone,) = (m for m in mem.list(status="soft_deleted").items if "Sings bass" in m.content)
        mem.restore(gone.id)
        assert mem.verify().ok
    assert server.call("open_nodes", {"names": ["Otto"]}).structured_content["entities"][0]["observations"] == [
        "Builds sundials",
        "Sings bass",
    ]


@every_row(
    ("tool", "arguments", "code", "field"),
    [
        (
            "add_observations",
            {"observations": [{"entityName": "Nemo", "contents": ["x"]}]},
            "not_found",
            "observations",
        ),
        ("create_relations", {"relations": [relation("Nemo", "Nobody", "knows")]}, "not_found", "relations"),
        ("create_entities", {"entities": [{"name": "A", "entityType": "b"}]}, "bad_input", "entities.0.observations"),
        ("create_entities", {"entities": "A"}, "bad_input", "entities"),
        ("create_entities", {}, "bad_input", "entities"),
        ("create_entities", {"entities": [entity("nul \0")]}, "bad_input", "entities.0"),
        ("create_entities", {"entities": [entity("B"), entity("A", "x" * 100_000)]}, "bad_input", "entities.1"),
        ("delete_entities", {"entityNames": [7]}, "bad_input", "entityNames.0"),
        ("search_nodes", {"query": "x" * 100_000}, "bad_input", "query"),
    ],
)
def test_errors_are_tool_errors(
    running: HttpServer, tool: str, arguments: dict[str, Any], code: str, field: str
) -> None:
    refused = running.call(tool, arguments)
    assert refused.is_error
    error = refused.structured_content["error"]
    assert (error["code"], error["field"]) == (code, field) and len(refused.content[0].text) < 1_000


words = st.text(min_size=1, max_size=40)


@given(st.lists(words, unique=True, min_size=2, max_size=8))
def test_other_words_have_another_key_of_the_right_form(names: list[str]) -> None:
    keys = {graph.entity_key(name) for name in names} | {graph.observation_key(names[0], name) for name in names}
    assert len(keys) == 2 * len(names) and all(len(key) <= 30 and key.isascii() for key in keys)
    ends = Relation(names[0], names[1], "x"), Relation(names[1], names[0], "x")
    assert graph.relation_key(ends[0]) != graph.relation_key(ends[1])


def test_a_search_is_around_what_it_finds() -> None:
    one, two = Entity("Ana", "person", ("Likes Tea",)), Entity("Ben", "person")
    known, other = Relation("Ana", "Ben", "knows"), Relation("Ben", "Ben", "likes")
    whole = Graph((one, two), (known, other))
    assert whole.search("tea") == Graph((one,), (known,)) and whole.search("") == whole
    assert whole.around(["Cid"]) == Graph()
