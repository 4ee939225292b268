"""A user, an agent and a tool of one name are three principals: in history, keys, vouches, authors and erasure."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect

LAB = {"owner": "lab", "space": "project"}
IN_LAB = {"projects": ["lab"]}


@pytest.fixture
def mem(any_place: Any) -> Iterator[Any]:
    with recollect.open(any_place, policy="entry") as opened:
        yield opened


def signed_entry(author: dict[str, str], content: str = "Trust needs attribution") -> dict[str, Any]:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return {"content": content, "author": author, "timestamp": "2026-02-02T16:00:00Z", "content_hash": digest}


def test_an_agent_does_not_end_the_key_of_a_user_of_its_name(mem: Any, tmp_path: Path) -> None:
    file = tmp_path / "ana.pem"
    ana, eve = mem.as_caller(user="ana"), mem.as_caller(user="eve", agent="ana")
    made = ana.new_identity("ana", key_file=file)
    assert made.name == "user:ana"
    for ends in (lambda: eve.revoke_identity("ana"), lambda: eve.rotate_identity("ana", to=tmp_path / "x.pem")):
        with pytest.raises(recollect.NotFound, match="agent:ana"):
            ends()
    with pytest.raises(recollect.NotAllowed, match="another's keys"):
        eve.revoke_identity("user:ana", key_file=file)
    assert eve.new_identity("ana", key_file=tmp_path / "eve.pem").name == "agent:ana"
    assert [one.name for one in mem.identities()] == ["user:ana", "agent:ana"]
    assert mem.identity("user:ana").key_that_counts().key == made.key


def test_ending_a_key_takes_the_key_or_the_right_to_operate(mem: Any, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.pem" for number in range(3)]
    ana = mem.as_caller(user="ana")
    ana.new_identity("ana", key_file=files[0])
    with pytest.raises(recollect.NotAllowed, match="the key itself"):
        ana.revoke_identity("ana")
    with pytest.raises(recollect.NotAllowed, match="the key itself"):
        ana.rotate_identity("ana", to=files[1])
    ana.rotate_identity("ana", key_file=files[0], to=files[1])
    ana.revoke_identity("ana", key_file=files[1])
    ana.new_identity("ana", key_file=files[2])
    mem.as_caller(user="root", rights=["operate"]).revoke_identity("user:ana")
    assert mem.identity("user:ana").current is None and mem.verify().ok


def test_a_user_does_not_sign_or_vouch_as_the_agent_of_its_name(mem: Any, tmp_path: Path) -> None:
    user, agent = mem.as_caller(user="planner", **IN_LAB), mem.as_caller(agent="planner", user="ben", **IN_LAB)
    user.new_identity("planner", key_file=tmp_path / "user.pem")
    forged = mem.sign_entry(signed_entry({"id": "planner", "name": "Planner"}), key_file=tmp_path / "user.pem")
    assert not mem.check_entry(forged).ok and "somebody else" in mem.check_entry(forged).problem
    own = mem.sign_entry(signed_entry({"id": "user:planner", "name": "planner"}), key_file=tmp_path / "user.pem")
    assert mem.check_entry(own).ok and mem.check_entry(own).name == "user:planner"
    it = mem.add("Glue sets overnight", author="dan", **LAB).memory
    user.vouch(it.id, sign_as="planner", key_file=tmp_path / "user.pem")
    both = agent.vouch(it.id).vouchers
    assert [(one["id"], one["name"]) for one in both] == [("user:planner", "planner"), ("agent:planner", "planner")]
    assert [one.actor for one in mem.history(it.id)] == ["system:application", "user:planner", "agent:planner"]
    user.withdraw_vouch(it.id)
    assert [one["id"] for one in mem.get(it.id).vouchers] == ["agent:planner"] and mem.verify().ok


def test_trust_flows_to_the_agent_and_not_to_the_user_of_its_name(mem: Any) -> None:
    bens = mem.as_caller(agent="ben", **IN_LAB).add("Ben knows paint", **LAB).memory
    assert (bens.author.id, bens.author.name) == ("agent:ben", "ben")
    it = mem.add("Glue sets overnight", author="dan", **LAB).memory
    ana = mem.as_caller(agent="ana", **IN_LAB)
    ana.vouch(bens.id)
    mem.as_caller(user="ben", **IN_LAB).vouch(it.id)
    assert ana.vouchers(it.id).weight == 0
    mem.as_caller(agent="ben", **IN_LAB).vouch(it.id)
    assert ana.vouchers(it.id).weight == 0.5


def test_no_caller_is_credited_under_another_kind(mem: Any) -> None:
    eve = mem.as_caller(user="eve", agent="ana", **IN_LAB)
    for claim in ({"author": "user:ana"}, {"user_id": "ana"}, {"author": {"id": "user:ana", "name": "ana"}}):
        assert eve.add("Ana owes Eve a fortune", **LAB, **claim).reasons[0] == "border:not_your_name"
    named = mem.as_caller(user="agent:planner", **IN_LAB).add("The plan is void", author="agent:planner", **LAB).memory
    assert named.author.id == "user:agent:planner"
    tool = mem.as_caller(agent="eve", **IN_LAB).add("It rains", source="tool", actor_id="planner", **LAB).memory
    assert tool.author.id == "tool:planner"
    assert eve.add("The glue is dry", author="ana", **LAB).memory.author.id == "agent:ana"


def test_erasing_a_user_leaves_the_agent_of_its_name(mem: Any) -> None:
    user, agent = mem.as_caller(user="ana", **IN_LAB), mem.as_caller(agent="ana", user="ben", **IN_LAB)
    hers = user.add("The door sticks", **LAB).memory
    plan = agent.add("The plan has four steps", **LAB).memory
    private = mem.add("For the agent alone", owner="ben", scope="ana").memory
    it = mem.add("Glue sets overnight", author="dan", **LAB).memory
    for caller in (user, agent):
        caller.vouch(it.id)
    agent.query("what is planned?", thread="t")
    receipt = mem.erase(owner="ana")
    assert receipt.authored == (hers.id,) and receipt.actor_names_removed == 1
    assert mem.get(plan.id).author.id == "agent:ana" and mem.get(private.id).status == "active"
    assert [one["id"] for one in mem.get(it.id).vouchers] == ["agent:ana"]
    assert [one.actor for one in mem.history(it.id)] == ["system:application", None, "agent:ana"]
    assert mem.verify().ok


def test_a_principal_links_ids_of_other_platforms_by_its_own_signature(mem: Any, tmp_path: Path) -> None:
    file, other = tmp_path / "babel.pem", tmp_path / "eve.pem"
    babel, eve = mem.as_caller(agent="babel", **IN_LAB), mem.as_caller(agent="eve", **IN_LAB)
    babel.new_identity("babel", key_file=file)
    eve.new_identity("eve", key_file=other)
    elsewhere = {"id": "babel-001", "name": "Babel", "platform": "agora"}
    signed = mem.sign_entry(signed_entry(elsewhere), key_file=file)
    assert not mem.check_entry(signed).ok
    with pytest.raises(recollect.BadInput, match="another key"):
        babel.link_identity("babel", "babel-001", platform="agora", key_file=other)
    for id, platform in (("babel-001", "agora"), ("@babel", "harbour"), ("b-7", None)):
        babel.link_identity("babel", id, platform=platform, key_file=file)
    assert mem.check_entry(signed).ok and mem.check_entry(signed).name == "agent:babel"
    here = mem.add(signed["content"], author=elsewhere, **LAB).memory
    with pytest.raises(recollect.NotAllowed, match="own words"):
        babel.vouch(here.id)
    eve.vouch(here.id)
    for taken, platform in (("babel-001", "agora"), ("babel", None), ("user:ana", None)):
        with pytest.raises((recollect.WrongState, recollect.BadInput)):
            eve.link_identity("eve", taken, platform=platform, key_file=other)
    forged = mem.sign_entry(signed_entry(elsewhere), key_file=other)
    assert not mem.check_entry(forged).ok
    with pytest.raises(recollect.NotAllowed, match="the key itself"):
        babel.unlink_identity("babel", "babel-001", platform="agora")
    left = babel.unlink_identity("babel", "babel-001", platform="agora", key_file=file)
    assert [(one.platform, one.id) for one in left.platform_ids] == [("", "b-7"), ("harbour", "@babel")]
    assert not mem.check_entry(signed).ok and mem.verify().ok


def test_linked_ids_go_with_the_person_and_a_revoked_key_links_nothing(mem: Any, tmp_path: Path) -> None:
    file = tmp_path / "ana.pem"
    mem.add("Ana paints doors", owner="ana")
    mem.as_caller(user="ana").new_identity("ana", key_file=file)
    mem.link_identity("user:ana", "ana-77", platform="agora", key_file=file)
    signed = mem.sign_entry(signed_entry({"id": "ana-77", "name": "Ana", "platform": "agora"}), key_file=file)
    assert mem.check_entry(signed).ok
    mem.erase(owner="ana")
    with mem.engine.read() as reader:
        assert reader.platform_ids("default") == []
    mem.new_identity("ben", key_file=tmp_path / "ben.pem")
    mem.link_identity("ben", "ben-1", key_file=tmp_path / "ben.pem")
    assert mem.verify().ok
    mem.rotate_identity("ben", key_file=tmp_path / "ben.pem", to=tmp_path / "next.pem")
    signed = mem.sign_entry(signed_entry({"id": "ben-1", "name": "Ben"}), key_file=tmp_path / "next.pem")
    assert mem.check_entry(signed).ok, "a key that was rotated was its holder's when it linked the id"
    first = mem.identity("ben").keys[0].key
    mem.revoke_identity("ben", key=first)
    assert not mem.check_entry(signed).ok and mem.verify().ok
