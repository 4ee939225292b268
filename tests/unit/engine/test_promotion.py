"""Crossing from one space into another: only along the policy's paths, believed no more than before, and with every event."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import BadInput, BadPolicy, NotFound, WrongState
from rows import every_row


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["recollect.Recollect"]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(place, policy={"traces": {"keep": "all"}}) as opened:
        yield opened


def _said(mem: Any, content: str = "I prefer dark mode", **fields: Any) -> str:
    added = mem.add(content, **{"space": "session", "owner": "s1", "user_id": "ana", **fields})
    assert added.memory is not None
    return str(added.memory.id)


def test_what_a_person_said_goes_from_the_session_to_their_own_space(mem: Any) -> None:
    id = _said(mem)
    receipt = mem.promote(id, "user", reason="asked for")
    assert receipt.outcome == "stored"
    there = receipt.memory
    assert (there.space, there.owner, there.source, there.authority) == ("user", "ana", "promotion", "user_asserted")
    assert (there.meta["promoted_from"], there.meta["promotion_reason"]) == (id, "promotion:asked_for")
    assert there.canonical_key == mem.get(id).canonical_key
    assert mem.get(id).status == "active", "the original stays"
    types = [event["type"] for event in receipt.events]
    assert types == ["memory_border_check", "memory_phase_started", "memory_write", "memory_promoted"]
    promoted = receipt.events[-1]
    assert (promoted["from_id"], promoted["to_id"], promoted["authority_used"]) == (id, there.id, "user_asserted")
    assert [trace["type"] for trace in mem.traces(limit=10)][-3:].count("memory_promoted") == 1
    assert mem.verify().ok


@every_row(
    ("fields", "target", "code"),
    [
        ({"source": "agent"}, "user", "promotion:authority_too_low"),
        ({"event_type": "context"}, "user", "promotion:event_type_not_allowed"),
        ({}, "system", "promotion:path_closed"),
        ({"event_type": "fact"}, "project", "promotion:authority_too_low"),
        ({"event_type": "decision", "source": "agent"}, "project", "promotion:authority_too_low"),
    ],
)
def test_a_closed_border_says_so(mem: Any, fields: dict[str, Any], target: str, code: str) -> None:
    id = _said(mem, **fields)
    before = mem.state_hash()
    receipt = mem.promote(id, target, owner="apollo")
    assert (receipt.outcome, receipt.reasons) == ("denied", (code,))
    check, denied = receipt.events
    assert (check["type"], check["allowed"], check["reason"]) == ("memory_border_check", False, code)
    assert (denied["type"], denied["memory_id"], denied["allowed"]) == ("memory_promotion_denied", id, False)
    assert mem.state_hash() == before


@pytest.mark.parametrize(
    "fields", [{"authority": "tool_verified"}, {"event_type": "decision"}], ids=["verified by a tool", "a decision"]
)
def test_the_ways_into_a_project(mem: Any, fields: dict[str, Any]) -> None:
    receipt = mem.promote(_said(mem, **fields), "project", owner="apollo")
    assert (receipt.outcome, receipt.memory.space, receipt.memory.owner) == ("stored", "project", "apollo")


def test_from_user_to_project(mem: Any) -> None:
    own = mem.add("The release is on Friday", owner="ana").memory
    assert mem.promote(own.id, "project", owner="apollo").outcome == "stored"
    guess = mem.add("The release is in May", owner="ana", source="agent", canonical_key="Release-Guess").memory
    assert mem.promote(guess.id, "project", owner="apollo").reasons == ("promotion:authority_too_low",)


def test_what_is_known_there_already_is_reinforced_or_wins(mem: Any) -> None:
    mem.add("The theme is light", owner="ana", canonical_key="Theme", authority="system_imposed")
    id = _said(mem, "The theme is dark", canonical_key="Theme")
    receipt = mem.promote(id, "user")
    assert receipt.outcome == "contradicted", "a promotion outranks nobody"
    same = _said(mem, "Ana lives in Lisbon", owner="s2", canonical_key="Home")
    mem.add("Ana lives in Lisbon", owner="ana", canonical_key="Home")
    assert mem.promote(same, "user").outcome == "reinforced"


def test_borders_between_people_hold(mem: Any) -> None:
    id = _said(mem)
    ana = mem.as_caller(user="ana", session="s1")
    assert ana.promote(id, "user").memory.owner == "ana"
    assert ana.promote(id, "user", owner="ben").reasons == ("border:not_your_space",)
    ben = mem.as_caller(user="ben", session="s2")
    with pytest.raises(NotFound):
        ben.promote(id, "user")
    planner = mem.as_caller(user="ana", session="s1", agent="planner")
    with pytest.raises(BadInput, match="owner"):
        planner.promote(id, "project")
    claimed = planner.add("Ana owns the moon", space="user", owner="ana", source="promotion")
    assert claimed.reasons == ("border:source_not_yours",)


def test_where_the_policy_closes_a_space_only_promotion_leads_there() -> None:
    with recollect.open(":memory:", policy="governed") as mem:
        assert mem.add("I prefer dark mode", owner="ana").reasons == ("border:space_closed",)
        id = _said(mem)
        assert mem.promote(id, "user").outcome == "stored"


def test_only_what_is_active_can_be_promoted(mem: Any) -> None:
    id = _said(mem)
    mem.forget(id)
    with pytest.raises(WrongState):
        mem.promote(id, "user")
    with pytest.raises(BadInput, match="to_space"):
        mem.promote(_said(mem, "I like tea"), "moon")


@pytest.mark.parametrize(
    ("spaces", "words"),
    [
        ({"read_order": ["user", "user"]}, "twice"),
        ({"read_order": ["user"], "write_spaces": ["session"]}, "never read"),
        ({"paths": [{"from_space": "user", "to_space": "user", "authority": "user_asserted"}]}, "itself"),
        ({"paths": [{"from_space": "session", "to_space": "user", "authority": "user_asserted"}] * 2}, "two rules"),
    ],
    ids=["twice", "unread", "itself", "two rules"],
)
def test_a_policy_that_contradicts_itself_is_refused(spaces: dict[str, Any], words: str) -> None:
    with pytest.raises(BadPolicy, match=words):
        recollect.open(":memory:", policy={"spaces": spaces})


def test_a_pattern_of_the_policys_own_is_enforced() -> None:
    with recollect.open(":memory:", policy={"privacy": {"deny_patterns": [r"(?i)project\s+bluebird"]}}) as mem:
        assert mem.add("We talked about Project Bluebird").reasons == ("privacy_deny_sensitive",)
        assert mem.add("We talked", tags=["project bluebird"]).reasons == ("privacy_deny_sensitive",)
        assert mem.add("We talked about the project").outcome == "stored"


def test_a_recall_consults_the_spaces_that_the_policy_names_in_their_order() -> None:
    said = {"canonical_key": "Theme", "authority": "user_asserted"}
    for order, expected in (
        (["session", "user"], ["The theme is dark"]),
        (["user", "session"], ["The theme is light"]),
        (["user"], ["The theme is light"]),
    ):
        with recollect.open(":memory:", policy={"spaces": {"read_order": order, "write_spaces": order}}) as mem:
            if "session" in order:
                mem.add("The theme is dark", space="session", owner="s1", **said)
            mem.add("The theme is light", owner="ana", **said)
            ana = mem.as_caller(user="ana", session="s1")
            assert [item.memory.content for item in ana.query("theme").items] == expected
