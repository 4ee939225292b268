"""Borders over MCP: whatever a client asks, it learns nothing of another tenant, owner, scope, category or namespace."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp.shared.exceptions import MCPError

import recollect
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.model.errors import NotAllowed

from .mcp_servers import HttpServer, over_http

POLICY = """
agents:
  allowlists:
    planner: [general, tasks, knowledge]
    stylist: [general, style]
"""
FOREIGN = {
    "owner": {"owner": "ben"},
    "scope": {"owner": "ana", "scope": "stylist"},
    "category": {"owner": "ana", "category": "style"},
    "namespace": {"owner": "ana", "tags": ["test"]},
    "session": {"owner": "other-session", "space": "session"},
    "project": {"owner": "apollo", "space": "project"},
}


class House(NamedTuple):
    """A store with something behind every border, each memory with a word of its own."""

    folder: Path
    ids: dict[str, str]
    own: str

    @property
    def words(self) -> list[str]:
        return [f"zz{border}word" for border in (*self.ids, "tenant")]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    folder = tmp_path_factory.mktemp("house")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    ids = {}
    with recollect.open(folder / "recollect.db", policy=folder / "policy.yaml") as mem:
        for border, where in FOREIGN.items():
            receipt = mem.add(f"The zz{border}word meeting is secret", tier="canon", **where)
            assert receipt.memory is not None, receipt
            ids[border] = receipt.memory.id
        own = mem.add("The planning meeting is on Monday", owner="ana", tier="canon").memory
        assert own is not None
    with recollect.open(folder / "recollect.db", tenant="other") as elsewhere:
        foreign = elsewhere.add("The zztenantword meeting is secret", owner="ana").memory
        assert foreign is not None
        ids["tenant"] = foreign.id
    return House(folder, ids, own.id)


@pytest.fixture(scope="module")
def planner(house: House) -> Iterator[HttpServer]:
    options = ("--policy", "policy.yaml", "--as-user", "ana", "--as-agent", "planner")
    with over_http(house.folder, *options, tools="all") as server:
        yield server


@pytest.fixture(scope="module")
def application(house: House) -> Iterator[HttpServer]:
    """The application's own server: whose agents name themselves in their requests."""
    with over_http(house.folder, "--policy", "policy.yaml", tools="default,admin") as server:
        yield server


@pytest.fixture(scope="module")
def person(house: House) -> Iterator[HttpServer]:
    """Ana's own server, which is no agent."""
    with over_http(house.folder, "--policy", "policy.yaml", "--as-user", "ana") as server:
        yield server


def everything(server: HttpServer, house: House, **agent: str) -> str:
    """All that a client can get out of a server, as one text."""
    told = [
        "\n".join(part.text for part in server.call(tool, arguments | agent).content)
        for tool, arguments in [
            ("memory_query", {"text": "meeting secret", "top_k": 50}),
            ("memory_query", {"text": "meeting", "form": "full", "filters": {"scope": "stylist"}}),
            ("memory_query", {"text": " ".join(house.words), "top_k": 50, "form": "full"}),
            *(
                ("memory_query", {"text": " ".join(house.words), "form": "full", "history": True, **where})
                for where in (
                    {"owner": "ben"},
                    {"owner": "other-session", "space": "session"},
                    {"space": ["session", "project", "user"]},
                    {"include_namespaces": ["prod", "test", "ephemeral"], "filters": {"role": "nobody"}},
                )
            ),
            ("memory_consolidate", {}),
            ("memory_list", {"limit": 100}),
            ("memory_list", {"owner": "ben"}),
            ("memory_list", {"category": "leisure", "status": "active"}),
            ("memory_list", {"space": ["session", "project", "user"]}),
        ]
    ]
    return " ".join(told)


def silent(text: str, house: House) -> bool:
    return not any(word in text for word in house.words) and not any(id in text for id in house.ids.values())


def test_reads_stay_within_the_borders(planner: HttpServer, house: House) -> None:
    told = everything(planner, house)
    told += planner.call("read_graph").content[0].text
    told += planner.ask(lambda client: client.read_resource("recollect://snapshot")).contents[0].text
    told += planner.ask(lambda client: client.get_prompt("recall", {"text": "meeting"})).messages[0].content.text
    assert "planning meeting" in told and silent(told, house)


@pytest.mark.parametrize("border", ["owner", "scope", "category", "session", "project", "tenant"])
def test_a_foreign_id_looks_like_a_missing_one(planner: HttpServer, house: House, border: str) -> None:
    id, missing = house.ids[border], "ffffffff-ffff-5fff-8fff-ffffffffffff"
    expected = planner.call("memory_history", {"id": missing}).content[0].text
    for shown in (id, id.replace("-", "")[:12]):
        answer = planner.call("memory_history", {"id": shown})
        assert answer.is_error and answer.content[0].text.replace(shown, missing) == expected
    assert planner.call("memory_resolve", {"id": id, "winner": id}).structured_content["error"]["code"] == "not_found"
    with pytest.raises(MCPError) as caught:
        planner.ask(lambda client: client.read_resource(f"recollect://memory/{id}"))
    assert caught.value.data["code"] == "not_found" and "meeting" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"agent": "stylist"}, "agent"),
        ({"agent": "nobody"}, "agent"),
        ({"categories": ["style"]}, "categories"),
        ({"categories": ["tasks", "style"]}, "categories"),
        ({"filters": {"category": "style"}}, "category"),
    ],
)
def test_a_request_cannot_widen_what_its_server_may_see(
    planner: HttpServer, arguments: dict[str, Any], field: str
) -> None:
    refused = planner.call("memory_query", {"text": "meeting", **arguments})
    assert refused.is_error
    assert (refused.structured_content["error"]["code"], refused.structured_content["error"]["field"]) == (
        "not_allowed",
        field,
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"owner": "ben"}, "border:not_your_space"),
        ({"scope": "stylist"}, "border:not_your_scope"),
        ({"category": "style"}, "border:category_not_yours"),
    ],
)
def test_a_write_across_a_border_is_denied(planner: HttpServer, arguments: dict[str, str], reason: str) -> None:
    denied = planner.call("memory_add", {"content": "The planner was here", **arguments})
    assert not denied.is_error and denied.structured_content["outcome"] == "denied"
    assert denied.structured_content["reasons"] == [reason]


def test_an_agent_s_words_are_never_a_person_s(planner: HttpServer, house: House) -> None:
    said = planner.call("memory_add", {"content": "Ana plays the oboe", "source": "user"}).structured_content["memory"]
    assert (said["authority"], said["owner"]) == ("ai_inferred", "ana")
    assert planner.call("memory_consolidate").structured_content["error"]["code"] == "not_allowed"


@pytest.mark.parametrize(
    ("caller", "authority", "settled"),
    [
        ({"user": "ana", "agent": "assistant"}, "ai_inferred", False),
        ({"user": "ana"}, "user_asserted", True),
        (None, "user_asserted", True),
    ],
)
def test_whose_words_they_are_is_the_server_s_to_say(
    caller: dict[str, str] | None, authority: str, settled: bool
) -> None:
    with recollect.open(":memory:") as whole:
        memory = whole if caller is None else whole.as_caller(**caller)
        whole.add("The lock is red", owner="ana", title="lock colour")
        said = {"content": "The lock is blue", "owner": "ana", "title": "lock colour"}
        guess = TOOLS["memory_add"].call(memory, said).values["memory"]
        assert (guess["authority"], guess["status"]) == ("ai_inferred", "contradictory"), "a model's words by default"
        relayed = TOOLS["memory_add"].call(memory, {"content": "Ana rows", "owner": "ana", "source": "user"}).values
        assert relayed["memory"]["authority"] == authority
        with nullcontext() if settled else pytest.raises(NotAllowed):
            TOOLS["memory_resolve"].call(memory, {"id": guess["id"], "winner": guess["id"]})
        assert whole.get(guess["id"]).status == ("active" if settled else "contradictory")


def test_an_agent_that_a_person_s_client_names_narrows_and_opens_nothing(person: HttpServer, house: House) -> None:
    searches = [{"text": "meeting secret", "top_k": 50}, {"text": " ".join(house.words), "top_k": 50}]

    def told(**agent: str) -> str:
        answers = [person.call("memory_query", asked | agent) for asked in searches]
        return " ".join(part.text for answer in answers for part in answer.content)

    whole, planner, stylist = told(), told(agent="planner"), told(agent="stylist")
    assert "planning meeting" in whole and "zzcategoryword" in whole and "zzscopeword" not in whole
    assert "planning meeting" in planner and silent(planner, house)
    assert "zzcategoryword" in stylist and "zzscopeword" not in stylist, (
        "on its list, and not the scope that is its own"
    )
    assert "meeting" not in told(agent="nobody")
    for id in (house.ids["scope"], house.ids["owner"]):
        assert person.call("memory_history", {"id": id, "agent": "stylist"}).is_error
    assert person.call("memory_history", {"id": house.ids["category"], "agent": "planner"}).is_error
    said = {"content": "The stylist was here", "source": "user", "agent": "stylist"}
    for crossing in ({"scope": "stylist"}, {"category": "tasks"}, {"owner": "ben"}):
        assert person.call("memory_add", said | crossing).structured_content["outcome"] == "denied"
    kept = person.call("memory_add", said | {"category": "style"}).structured_content["memory"]
    assert (kept["authority"], kept["scope"]) == ("ai_inferred", "shared")


def test_an_agent_that_names_itself_sees_as_little(application: HttpServer, house: House) -> None:
    own, told = "zzcategoryword zzscopeword".split(), everything(application, house, agent="stylist")
    assert all(word in told for word in own), "the stylist's own scope and category"
    hidden = everything(application, house, agent="planner")
    assert not any(word in hidden for word in [*own, "zztenantword", "zznamespaceword"])
    assert everything(application, house, agent="nobody").count("meeting") == 0
    for id in (house.ids["scope"], house.ids["category"]):
        assert application.call("memory_history", {"id": id, "agent": "planner"}).is_error
        assert not application.call("memory_history", {"id": id, "agent": "stylist"}).is_error
    everyone = application.call("memory_query", {"text": "meeting", "top_k": 50}).structured_content["items"]
    assert house.ids["owner"] in {one["id"] for one in everyone}
    assert house.ids["tenant"] not in {one["id"] for one in everyone}
