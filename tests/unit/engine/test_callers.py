"""Through somebody's eyes: what a bound caller can see, say and change, and what it cannot."""

import base64
import json
from collections.abc import Iterator
from itertools import product

import pytest

import recollect
from recollect.interfaces.python.past import through_agent
from recollect.model.errors import BadInput


@pytest.fixture
def mem() -> recollect.Recollect:
    return recollect.open(":memory:")


def test_what_is_hidden_never_crowds_out_what_is_seen(mem: recollect.Recollect) -> None:
    for number in range(120):
        mem.add(f"Alpha alpha alpha secret {number}", owner="ana", scope="critic", title=f"secret {number}")
    mem.add("One shared alpha among a great many other words about gardens and rivers", owner="ana", title="shared one")
    planner = mem.as_caller(agent="planner", user="ana")
    assert [item.memory.scope for item in planner.query("alpha").items] == ["shared"]
    assert len(list(planner.history(owner="ana"))) == 1
    assert len(list(mem.history(owner="ana"))) > 120


def test_a_request_cannot_widen_the_caller(mem: recollect.Recollect) -> None:
    mem.add("Alpha for the critic alone", owner="ana", scope="critic")
    person = mem.as_caller(user="ana")
    assert person.query("alpha").items == ()
    for asked in ("critic", "planner"):
        assert person.query("alpha", agent=asked).items == ()
        with pytest.raises(recollect.NotAllowed):
            mem.as_caller(user="ana", agent="coder").query("alpha", agent=asked)
    with pytest.raises(recollect.NotAllowed):
        person.as_caller(agent="critic", user="ana")
    assert mem.query("alpha", agent="critic").items and not mem.query("alpha", agent="planner").items


LISTS = {"planner": ["tasks", "general"], "stylist": ["style"]}


@pytest.fixture
def listed() -> Iterator[recollect.Recollect]:
    """Something in every scope and category, of two owners."""
    with recollect.open(":memory:", policy={"agents": {"allowlists": LISTS}}) as opened:
        for owner, scope, category in product(
            ("ana", "ben"), ("shared", "planner", "stylist"), ("tasks", "style", "tone")
        ):
            opened.add(
                f"Alpha {category} of {owner}, for {scope}", owner=owner, scope=scope, category=category, tier="canon",
                title=f"{owner} {scope} {category}",
            )  # fmt: skip
        yield opened


@pytest.mark.parametrize("agent", ["planner", "stylist", "nobody"])
def test_an_agent_that_a_person_s_request_names_only_narrows(listed: recollect.Recollect, agent: str) -> None:
    person = listed.as_caller(user="ana")
    expected = {f"Alpha {category} of ana, for shared" for category in LISTS.get(agent, ()) if category != "general"}

    def told(recall: recollect.Recall) -> set[str]:
        return {item.memory.content for item in recall.items}

    assert told(person.query("alpha", agent=agent, top_k=50)) == expected < told(person.query("alpha", top_k=50))
    assert told(person.as_of(tick=99).query("alpha", agent=agent, top_k=50)) == expected
    for owner, scope in (("ben", None), (None, agent), (None, "stylist")):
        assert (
            told(person.query("alpha", agent=agent, owner=owner, filters={"scope": scope} if scope else None)) == set()
        )
    blocks = (person.snapshot_block(agent=agent), person.memory_block("alpha", agent=agent))
    for block in blocks:
        assert {one.rpartition("] ")[2] for one in block.text.splitlines() if one.startswith("- [")} == expected
    assert {item.memory.content for item in person.recall_if_unsure("alpha", 0.1, agent=agent).recall.items} == expected
    with pytest.raises(recollect.NotAllowed):
        person.query("alpha", agent=agent, categories=["tone"])


def test_what_a_narrowed_request_says_is_no_person_s_and_stays_in_the_list(listed: recollect.Recollect) -> None:
    person = listed.as_caller(user="ana")
    narrowed = recollect.Recollect(through_agent(person.engine, "planner"), owns_store=False)
    assert narrowed.add("Beta is planned", category="style").reasons == ("border:category_not_yours",)
    assert narrowed.add("Beta is planned", category="tasks", scope="planner").reasons == ("border:not_your_scope",)
    assert narrowed.add("Beta is planned", category="tasks", agent_id="planner").reasons == ("border:not_your_name",)
    said = narrowed.add("Beta is planned", category="tasks", source="user").memory
    assert (said.authority, said.author.name, said.agent_id, said.scope) == ("ai_inferred", "assistant", None, "shared")
    verified = {"authority": {"verifying_tools": ["planner"]}}
    with recollect.open(":memory:", policy=verified) as mem:
        posing = recollect.Recollect(through_agent(mem.as_caller(user="ana").engine, "planner"), owns_store=False)
        assert posing.add("Gamma is measured", source="tool").memory.authority == "ai_inferred"
        mem.add("The lock is red", owner="ana", title="lock")
        guess = posing.add("The lock is blue", title="lock").memory
        with pytest.raises(recollect.NotAllowed):
            posing.resolve(guess.id, winner=guess.id)
    with pytest.raises(recollect.NotAllowed):
        narrowed.query("alpha", agent="stylist")


def test_a_narrowed_request_uses_up_nobody_s_changes(listed: recollect.Recollect) -> None:
    person, planner = listed.as_caller(user="ana"), listed.as_caller(user="ana", agent="planner")
    looks = [lambda: person.query("x", thread="T"), lambda: planner.query("x", thread="T")]
    for look in (*looks, lambda: person.query("x", thread="T", agent="planner")):
        look()
    listed.add("Delta is a task", owner="ana", category="tasks")
    listed.add("Delta has style", owner="ana", category="style")
    narrowed = person.query("x", thread="T", agent="planner").header
    assert "Delta is a task" in narrowed and "Delta has style" not in narrowed
    assert all("Delta is a task" in look().header for look in looks), "nobody's changes but its own were used up"


def test_an_agent_has_no_person_s_authority(mem: recollect.Recollect) -> None:
    mem.add("The invoice goes to Berlin", owner="ana", canonical_key="Invoice-Address-City", source="operator")
    planner = mem.as_caller(agent="planner", user="ana")
    claimed = planner.add("Actually, the invoice goes to Rome", canonical_key="Invoice-Address-City", source="user")
    assert claimed.outcome == "contradicted" and claimed.memory.authority == "ai_inferred"
    stated = planner.add("Rivers flow", authority="system_imposed")
    assert stated.memory.authority == "ai_inferred"
    relaying = mem.as_caller(agent="planner", user="ana", rights=["read", "write", "relay"])
    relayed = relaying.add("Actually, the invoice goes to Oslo", canonical_key="Invoice-Address-City", source="user")
    assert relayed.outcome == "superseded" and relayed.memory.authority == "user_asserted"


def test_an_agent_cannot_settle_or_sweep_away_what_a_person_said(mem: recollect.Recollect) -> None:
    said = mem.add("The port is 8080", owner="ana", canonical_key="Api-Port-Number").memory
    planner = mem.as_caller(agent="planner", user="ana")
    guess = planner.add("The port is 9090", canonical_key="Api-Port-Number").memory
    for attempt in (
        lambda: planner.resolve(guess.id, winner=guess.id),
        lambda: planner.forget(said.id),
        lambda: planner.archive(said.id),
        lambda: planner.edit(said.id, importance=1),
    ):
        with pytest.raises(recollect.NotAllowed):
            attempt()
    assert planner.forget(guess.id).status == "soft_deleted"
    person = mem.as_caller(user="ana")
    assert person.forget(said.id).status == "soft_deleted"
    governor = mem.as_caller(agent="planner", user="ana", rights=["read", "write", "govern"])
    assert governor.restore(said.id).status == "active"


def test_a_person_s_word_counts_though_an_agent_said_it_first(mem: recollect.Recollect) -> None:
    planner, person = mem.as_caller(agent="planner", user="ana"), mem.as_caller(user="ana")
    assert planner.add("The API port is 8080").memory.authority == "ai_inferred"
    agreed = person.add("The API port is 8080", pinned=True)
    assert agreed.outcome == "superseded" and agreed.memory.authority == "user_asserted"
    assert "identity:confirmed" in agreed.reasons and agreed.memory.pinned
    assert planner.add("The API port is 9090").outcome == "contradicted"
    assert mem.verify().ok and mem.rebuild() and mem.verify().ok


def test_idempotency_keys_are_each_caller_s_own(mem: recollect.Recollect) -> None:
    ana = mem.as_caller(agent="planner", user="ana").add(
        "Ana's own note about gardens", owner="ana", idempotency_key="k1"
    )
    ben = mem.as_caller(agent="planner", user="ben")
    assert ben.add("Ben's own note about rivers", idempotency_key="k1").outcome == "stored"
    stolen = ben.add("Ana's own note about gardens", owner="ana", idempotency_key="k1")
    assert stolen.outcome == "denied" and stolen.memory is None
    again = mem.as_caller(agent="planner", user="ana").add(
        "Ana's own note about gardens", owner="ana", idempotency_key="k1"
    )
    assert again.replayed and again.memory.id == ana.memory.id


def test_a_foreign_memory_looks_exactly_like_a_missing_one(mem: recollect.Recollect) -> None:
    id = mem.add("Ana's own note", owner="ana", aliases=["note-1"]).memory.id
    ben = mem.as_caller(agent="planner", user="ben")
    missing = "00000000-0000-0000-0000-000000000000"
    operations = {
        "get": lambda mem, id: mem.get(id),
        "history": lambda mem, id: mem.history(id),
        "chain": lambda mem, id: mem.chain(id),
        "explain": lambda mem, id: mem.explain(id),
        "edit": lambda mem, id: mem.edit(id, pinned=True),
        "resolve": lambda mem, id: mem.resolve(id, winner=id),
        "archive": lambda mem, id: mem.archive(id),
        "forget": lambda mem, id: mem.forget(id),
        "restore": lambda mem, id: mem.restore(id),
    }
    for operation in operations.values():
        for foreign in (id, id[:13], "note-1"):
            with pytest.raises(recollect.NotFound) as seen:
                operation(ben, foreign)
            with pytest.raises(recollect.NotFound) as unseen:
                operation(ben, missing)
            assert str(seen.value).replace(foreign, missing) == str(unseen.value)
    assert ben.list().items == () and ben.query("note").items == () and list(ben.export()) == []
    assert ben.stats()["memories"] == 0 and "entries" not in ben.stats()


@pytest.mark.parametrize("operation", ["verify", "rebuild", "upkeep", "doctor", "traces", "consolidate"])
def test_what_concerns_everybody_takes_a_right(mem: recollect.Recollect, operation: str) -> None:
    with pytest.raises(recollect.NotAllowed):
        getattr(mem.as_caller(user="ana"), operation)()


def test_erasing_is_bound_to_oneself(mem: recollect.Recollect) -> None:
    mem.add("Ben's note", owner="ben")
    mem.add("Ana's note", owner="ana")
    ana = mem.as_caller(user="ana", rights=["read", "write", "erase"])
    with pytest.raises(recollect.NotAllowed):
        ana.erase(owner="ben")
    assert len(ana.erase(owner="ana").removed) == 1


def test_callers_have_proper_names(mem: recollect.Recollect) -> None:
    for names in ({"user": ""}, {"user": "a\nb"}, {"agent": "\ud800"}, {"rights": ["bogus"]}):
        with pytest.raises(recollect.BadInput):
            mem.as_caller(**names)
    with pytest.raises(recollect.BadInput):
        recollect.open(":memory:", tenant="")


def test_a_view_does_not_close_the_store(mem: recollect.Recollect) -> None:
    with mem.as_caller(user="ana") as view:
        view.add("A note")
    assert mem.list(owner="ana").items
    session = mem.as_caller(user="ana", session="s1")
    assert session.add("Said in passing", space="session").memory.owner == "s1"


def test_a_made_up_cursor_does_not_tell_what_was_erased_elsewhere(mem: recollect.Recollect) -> None:
    """Whether somebody else's memory is there, was erased, or never was, the answer is the same."""
    live, erased = (mem.add(f"Zoe has secret {number}", owner="zoe").memory for number in (1, 2))
    assert live is not None and erased is not None
    mem.erase(id=erased.id)
    ana = mem.as_caller(user="ana")
    for id in (live.id, erased.id, "7d7d7d7d-1111-5222-8333-444444444444"):
        cursor = base64.urlsafe_b64encode(json.dumps(["2030-01-01T00:00:00Z", id]).encode()).decode()
        with pytest.raises(BadInput, match="cursor"):
            ana.list(cursor=cursor)
