"""Vouching: by others, once each, without touching the memory; and what it weighs when somebody asks."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.model.record import Memory
from recollect.rules.trust.vouch_weight import ENOUGH
from rows import every_row

PLAIN = {"preset": "entry", "ranking": {"newest_first": False, "meaning": 0}}
"""Where it is about vouches that the better of two answers comes first, and not the newer."""


@pytest.fixture
def mem(place: str) -> Iterator[recollect.Recollect]:
    with recollect.open(place, policy=PLAIN) as opened:
        yield opened


@pytest.fixture
def quick() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:", policy=PLAIN) as opened:
        yield opened


def add(mem: recollect.Recollect, content: str, **fields: Any) -> Memory:
    found = mem.add(content, **{"owner": "lab", "space": "project", "author": "babel", **fields}).memory
    assert found is not None
    return found


def agent(mem: recollect.Recollect, name: str) -> recollect.Recollect:
    return mem.as_caller(agent=name, projects=["lab"])


def names(memory: Memory) -> list[str]:
    return [one["name"] for one in memory.vouchers]


def test_a_vouch_is_shown_and_leaves_the_memory_as_it_was(mem: recollect.Recollect) -> None:
    before = add(mem, "Trust needs a chain of tellers")
    after = agent(mem, "TrustBot").vouch(before.id, confidence=0.9, says="accurate")
    (voucher,) = after.vouchers
    assert voucher["timestamp"] > before.created_at.isoformat()[:19]
    assert {name: voucher[name] for name in ("id", "name", "confidence", "says")} == {
        "id": "agent:TrustBot",
        "name": "TrustBot",
        "confidence": 0.9,
        "says": "accurate",
    }
    unchanged = {name: value for name, value in after.to_dict().items() if name != "vouchers"}
    assert unchanged == {name: value for name, value in before.to_dict().items() if name != "vouchers"}
    assert mem.get(before.id).vouchers == after.vouchers
    assert [event.event for event in mem.history(before.id)] == ["ADD", "LINK"]
    assert mem.history(before.id)[1].actor == "agent:TrustBot"


def test_a_vouch_survives_rebuilding_and_goes_with_withdrawal(mem: recollect.Recollect) -> None:
    it = add(mem, "Trust needs a chain of tellers")
    for name in ("ana", "ben", "cat"):
        agent(mem, name).vouch(it.id)
    agent(mem, "ben").withdraw_vouch(it.id)
    assert names(mem.get(it.id)) == ["ana", "cat"]
    mem.rebuild()
    assert names(mem.get(it.id)) == ["ana", "cat"]
    assert agent(mem, "ben").vouch(it.id).vouchers[-1]["id"] == "agent:ben"
    assert [event.meta["operation"] for event in mem.history(it.id)] == [
        "stored",
        *["vouched"] * 3,
        "vouch_withdrawn",
        "vouched",
    ]
    assert mem.verify().ok


def test_whoever_is_erased_vouches_for_nothing_any_more(mem: recollect.Recollect) -> None:
    it = add(mem, "Trust needs a chain of tellers")
    ana = mem.as_caller(user="ana", projects=["lab"])
    ana.add("I am Ana")
    ana.vouch(it.id)
    assert names(mem.get(it.id)) == ["ana"]
    mem.erase(owner="ana")
    assert mem.get(it.id).vouchers == ()
    assert mem.verify().ok and mem.rebuild() and mem.get(it.id).vouchers == ()


def test_vouches_feed_ranking_in_the_eyes_of_whoever_asks(mem: recollect.Recollect) -> None:
    first = add(mem, "Paint dries in four hours", canonical_key="Paint-A", author="mia")
    second = add(mem, "Paint dries in three hours", canonical_key="Paint-B", author="max")
    asked = {"owner": "lab", "space": "project", "top_k": 2}

    def order(of: recollect.Recollect) -> list[str]:
        return [item.memory.id for item in of.query("how many hours until paint dries", **asked).items]

    ana, stranger = agent(mem, "ana"), agent(mem, "stranger")
    assert order(ana) == order(stranger) == [first.id, second.id]
    ana.vouch(second.id)
    assert order(ana) == [second.id, first.id]
    assert order(stranger) == [first.id, second.id]
    top = ana.query("how many hours until paint dries", **asked).items[0]
    assert top.memory.vouchers[0]["id"] == "agent:ana"
    ana.withdraw_vouch(second.id)
    assert order(ana) == [first.id, second.id]


def test_trust_is_passed_on_through_what_others_vouched_for(mem: recollect.Recollect) -> None:
    bens, cats = add(mem, "Ben knows paint", author="ben"), add(mem, "Cat knows glue", author="cat")
    it = add(mem, "Glue sets overnight", author="dan")
    agent(mem, "ana").vouch(bens.id)
    agent(mem, "ben").vouch(cats.id)
    agent(mem, "cat").vouch(it.id)
    found = agent(mem, "ana").vouchers(it.id)
    assert (found.weight, found.vouchers[0]["weight"], found.relied_upon[0]) == (0.25, 0.25, "agent:ana")
    assert agent(mem, "ben").vouchers(it.id).weight == 0.5
    assert agent(mem, "eve").vouchers(it.id).weight == 0
    agent(mem, "ben").withdraw_vouch(cats.id)
    assert agent(mem, "ana").vouchers(it.id).weight == 0


def test_nobody_vouches_for_their_own_words(quick: recollect.Recollect) -> None:
    it = agent(quick, "babel").add("I said it", owner="lab", space="project").memory
    assert it is not None and it.author.id == "agent:babel"
    with pytest.raises(recollect.NotAllowed, match="their own words"):
        agent(quick, "babel").vouch(it.id)
    with pytest.raises(recollect.NotAllowed):
        quick.vouch(it.id, by="babel")
    written_for_ana = add(quick, "Ana said it", author="ana", agent_id="scribe")
    with pytest.raises(recollect.NotAllowed):
        quick.vouch(written_for_ana.id, by="scribe")
    with pytest.raises(recollect.NotAllowed):
        quick.as_caller(agent="helper", user="ana", projects=["lab"]).vouch(written_for_ana.id)
    quick.as_caller(agent="helper", user="ben", projects=["lab"]).vouch(written_for_ana.id)


def test_an_identity_vouches_once(quick: recollect.Recollect) -> None:
    it = add(quick, "Trust needs a chain")
    agent(quick, "ana").vouch(it.id)
    with pytest.raises(recollect.WrongState, match="already"):
        agent(quick, "ana").vouch(it.id, confidence=0.1)
    with pytest.raises(recollect.WrongState, match="already"):
        quick.vouch(it.id, by="ana")
    assert names(quick.get(it.id)) == ["ana"]


def test_only_ones_own_vouch_is_taken_back(quick: recollect.Recollect) -> None:
    it = add(quick, "Trust needs a chain")
    agent(quick, "ana").vouch(it.id)
    with pytest.raises(recollect.WrongState, match="does not vouch"):
        agent(quick, "ben").withdraw_vouch(it.id)
    assert names(quick.get(it.id)) == ["ana"]


def test_an_application_says_for_whom_it_vouches_and_others_cannot(quick: recollect.Recollect) -> None:
    it = add(quick, "Trust needs a chain")
    with pytest.raises(recollect.BadInput, match="say who vouches"):
        quick.vouch(it.id)
    with pytest.raises(recollect.NotAllowed, match="as itself"):
        agent(quick, "ana").vouch(it.id, by="ben")
    assert names(quick.vouch(it.id, by="ben")) == ["ben"]


@every_row(
    ("given", "field"),
    [
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"confidence": "0.5"}, "confidence"),
        ({"says": "wonderful"}, "says"),
        ({"by": ""}, "by"),
        ({"by": "x" * 300}, "by"),
    ],
)
def test_bad_values_are_refused_by_name(quick: recollect.Recollect, given: dict[str, Any], field: str) -> None:
    it = add(quick, "Trust needs a chain")
    with pytest.raises(recollect.BadInput) as error:
        quick.vouch(it.id, **{"by": "ana", **given})
    assert error.value.field == field and quick.get(it.id).vouchers == ()


def test_only_what_may_be_seen_can_be_vouched_for(quick: recollect.Recollect) -> None:
    hidden = add(quick, "The doctor's note", scope="doctor")
    others = add(quick, "Ben's diary", owner="ben", space="user")
    for it in (hidden, others):
        with pytest.raises(recollect.NotFound):
            agent(quick, "ana").vouch(it.id)
        with pytest.raises(recollect.NotFound):
            agent(quick, "ana").withdraw_vouch(it.id)
    with pytest.raises(recollect.NotFound):
        quick.vouch(hidden.id, by="ana")
    reader = quick.as_caller(agent="ana", projects=["lab"], rights=["read"])
    with pytest.raises(recollect.NotAllowed, match="may not vouch"):
        reader.vouch(add(quick, "Seen but not signed").id)


def test_the_current_version_is_vouched_for_and_no_other(quick: recollect.Recollect) -> None:
    old = add(quick, "The port is 80", canonical_key="Port")
    agent(quick, "ana").vouch(old.id)
    new = add(quick, "The port is 443", canonical_key="Port", change="update")
    assert names(quick.get(old.id)) == ["ana"] and new.vouchers == ()
    with pytest.raises(recollect.WrongState, match="superseded"):
        agent(quick, "ben").vouch(old.id)
    assert names(agent(quick, "ana").withdraw_vouch(old.id)) == []
    quick.forget(new.id)
    with pytest.raises(recollect.WrongState, match="soft_deleted"):
        agent(quick, "ben").vouch(new.id)


def test_vouching_wears_nothing_out(quick: recollect.Recollect) -> None:
    brief = add(quick, "Pay attention for a while", ttl_ticks=2)
    it = add(quick, "Trust needs a chain")
    for _ in range(5):
        agent(quick, "ana").vouch(it.id)
        agent(quick, "ana").withdraw_vouch(it.id)
    assert quick.get(brief.id).status == "active" and quick.verify().ok


def test_an_erased_memory_takes_its_vouches_along(quick: recollect.Recollect) -> None:
    it = add(quick, "Trust needs a chain")
    agent(quick, "ana").vouch(it.id)
    quick.erase(id=it.id)
    assert quick.verify().ok and quick.rebuild() == 1 and quick.verify().ok
    with pytest.raises(recollect.NotFound):
        agent(quick, "ben").vouch(it.id)


def test_the_past_shows_who_vouched_then(quick: recollect.Recollect) -> None:
    it = add(quick, "Trust needs a chain")
    agent(quick, "ana").vouch(it.id)
    then = quick.get(it.id).vouchers[0]["timestamp"]
    agent(quick, "ben").vouch(it.id)
    past = quick.as_of(time=then)
    assert names(past.get(it.id)) == ["ana"]
    (listed,) = past.list(owner="lab").items
    assert names(listed) == ["ana"]


def test_those_whom_the_policy_names_are_relied_upon_by_everybody() -> None:
    with recollect.open(":memory:", policy={"preset": "entry", "trust": {"seeds": ["TrustBot"]}}) as mem:
        it = add(mem, "Trust needs a chain")
        agent(mem, "TrustBot").vouch(it.id, confidence=0.8)
        assert mem.vouchers(it.id).weight == agent(mem, "anyone").vouchers(it.id).weight == 0.8


def test_an_application_that_asks_for_an_owner_sees_with_that_owners_eyes(quick: recollect.Recollect) -> None:
    it = add(quick, "Ana's plan", owner="ana", space="user", author="planner")
    quick.as_caller(user="ana").vouch(it.id)
    assert quick.vouchers(it.id).weight == 1.0


def test_vouches_on_what_may_not_be_seen_lend_no_weight(quick: recollect.Recollect) -> None:
    secret = add(quick, "Ben's note to the doctor", author="ben", scope="doctor")
    it = add(quick, "Trust needs a chain", author="dan")
    doctor = agent(quick, "doctor")
    doctor.vouch(secret.id)
    agent(quick, "ben").vouch(it.id)
    assert doctor.vouchers(it.id).weight == 0.5
    with recollect.open(":memory:", policy={"preset": "entry", "trust": {"seeds": ["doctor"]}}) as mem:
        secret, it = add(mem, "Ben's note", author="ben", scope="doctor"), add(mem, "Trust needs a chain", author="dan")
        agent(mem, "doctor").vouch(secret.id)
        agent(mem, "ben").vouch(it.id)
        assert agent(mem, "ana").vouchers(it.id).weight == 0
        assert mem.vouchers(it.id).weight == 0.5


def test_a_crowd_of_one_actor_does_not_win(quick: recollect.Recollect) -> None:
    """Mallory once said something useful. Two hundred identities then vouch for each other and for a lie."""
    useful = add(quick, "Mallory fixed the door", author="mallory")
    agent(quick, "ana").vouch(useful.id)
    truth = add(quick, "The key hangs behind the door", canonical_key="Key-A", author="ben")
    lie = add(quick, "The key hangs behind the stove", canonical_key="Key-B", author="sock0")
    agent(quick, "ana").vouch(truth.id)
    agent(quick, "mallory").vouch(lie.id)
    for number in range(1, 200):
        own = add(quick, f"Sock number {number} is reliable", author=f"sock{number}")
        agent(quick, "mallory").vouch(own.id)
        agent(quick, f"sock{number}").vouch(lie.id)
    weights = {one.id: agent(quick, "ana").vouchers(one.id).weight for one in (truth, lie)}
    assert weights == {truth.id: 1.0, lie.id: 0.5}
    assert len(quick.get(lie.id).vouchers) == 200 and weights[lie.id] < ENOUGH
    asked = agent(quick, "ana").query("where does the key hang", owner="lab", space="project", top_k=2).items
    assert [item.memory.id for item in asked] == [truth.id, lie.id]


def test_test_data_lends_no_trust_to_production(quick: recollect.Recollect) -> None:
    tested = add(quick, "Ben passes the test", author="ben", namespace="test")
    it = add(quick, "Trust needs a chain", author="dan")
    agent(quick, "ana").vouch(tested.id)
    agent(quick, "ben").vouch(it.id)
    assert agent(quick, "ana").vouchers(it.id).weight == 0
