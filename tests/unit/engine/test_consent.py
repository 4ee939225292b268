"""Sensitive profile fields are for the person to set: from anybody else they wait, unseen, until the person decides."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect

THEY = "Ana's pronouns are they/them"
PRONOUNS = {"kind": "profile", "key": "pronouns"}


@pytest.fixture(params=["sqlite", "postgres", "journal"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    places = {"sqlite": tmp_path / "memory.db", "journal": tmp_path / "vault.jsonl"}
    place = places.get(request.param) or request.getfixturevalue("server_store")
    with recollect.open(place, policy="default") as opened:
        yield opened


@pytest.fixture
def ana(mem: Any) -> Any:
    return mem.as_caller(user="ana", session="s1")


@pytest.fixture
def bot(mem: Any) -> Any:
    return mem.as_caller(user="ana", agent="planner", session="s1")


def test_an_agents_sensitive_field_is_pending_and_in_no_recall(mem: Any, ana: Any, bot: Any) -> None:
    receipt = bot.add(THEY, **PRONOUNS)
    assert (receipt.outcome, receipt.reasons, receipt.memory.status) == ("pending", ("consent:pending",), "pending")
    assert bot.add("Ana is brief in writing", kind="profile", key="tone").outcome == "stored"
    for seen in (ana, bot, mem):
        assert "they/them" not in seen.query("What are Ana's pronouns?").text
        assert "they/them" not in seen.snapshot_block().text + seen.memory_block("pronouns").text
        assert [one.content for one in seen.list().items] == ["Ana is brief in writing"]
        assert [one.id for one in seen.list(status="pending").items] == [receipt.memory.id]
    assert "they/them" not in ana.recall_for(session="s1", user="Which pronouns do I use?").text
    again = bot.add(THEY, **PRONOUNS)
    assert again.memory.id == receipt.memory.id and again.reasons == ("consent:said_again",)
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_the_person_accepts_or_declines_it_and_an_agent_cannot(mem: Any, ana: Any, bot: Any) -> None:
    told = bot.add(THEY, **PRONOUNS).memory
    with pytest.raises(recollect.NotAllowed, match="govern"):
        bot.resolve(told.id, winner=told.id)
    accepted = ana.resolve(told.id, winner=told.id)
    assert (accepted.status, accepted.authority) == ("active", "user_asserted")
    assert "they/them" in ana.query("What are Ana's pronouns?").text
    assert bot.add(THEY, **PRONOUNS).outcome == "reinforced"
    other = bot.add("Ana's pronouns are he/him", **PRONOUNS)
    assert other.outcome == "pending" and other.memory.conflict_ids == (told.id,)
    assert ana.resolve(other.memory.id, winner=told.id).status == "archived"
    city = bot.add("Ana lives in Porto", kind="profile", key="city").memory
    bot.archive(city.id)
    with pytest.raises(recollect.NotAllowed, match="govern"):
        bot.restore(city.id)
    ana.reject(city.id)
    assert bot.add("Ana lives in Porto", kind="profile", key="city").reasons == ("rejected:value",)
    history = [(one.event, one.meta["operation"]) for one in ana.history(told.id)]
    assert history[:3] == [("ADD", "stored"), ("UPDATE", "resolved"), ("UPDATE", "edited")] and mem.verify().ok
    assert "consent:given" in {one.meta["rule"] for one in ana.history(told.id)}


def test_no_other_name_or_way_in_sets_the_field(mem: Any, ana: Any, bot: Any) -> None:
    for fields in (
        {"kind": "profile", "key": "tone", "title": "Profile pronouns"},
        {"kind": "profile", "key": "pronouns", "source": "user"},
        {"kind": "profile", "key": "pronouns", "space": "session"},
    ):
        assert bot.add(THEY, **fields).outcome == "pending", fields
    assert mem.add(THEY, owner="ana", source="agent", **PRONOUNS).outcome == "pending"
    turn = bot.turn(session="s1", user="I live in Porto.")
    assert [one.memory.status for one in turn.receipts if one.memory.kind == "profile"] == ["pending"]
    assert turn.promoted == () and ana.list(kind="profile").items == ()


def test_what_the_person_says_needs_no_other_consent(ana: Any, mem: Any) -> None:
    assert ana.add("My pronouns are they/them", **PRONOUNS).outcome == "stored"
    assert mem.add("Ben lives in Rome", owner="ben", kind="profile", key="city").outcome == "stored"
    turn = mem.turn(session="s1", user="I live in Porto.", owner="cleo")
    assert [one.outcome for one in turn.promoted] == ["stored"]
    with recollect.open(":memory:", policy={"privacy": {"consent_keys": []}}) as free:
        assert free.as_caller(user="ana", agent="planner").add(THEY, **PRONOUNS).outcome == "stored"
