"""Replacing on request: what a receipt offers, and the three ways to say that one memory takes another's place."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.model.errors import BadInput, NotAllowed, NotFound, WrongState


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(place) as opened:
        yield opened
        assert opened.verify().ok


def add(mem: recollect.Recollect, content: str, **fields: object) -> recollect.Memory:
    receipt = mem.add(content, **{"owner": "ana", **fields})
    assert receipt.memory is not None, receipt.reasons
    return receipt.memory


def active(mem: recollect.Recollect) -> set[str]:
    return {memory.content for memory in mem.list(owner="ana").items}


BANK = "The bakery banks with Moneta"
OTHER_BANK = "Bakery account: Erste took it over, overdraft included"


class TestOffers:
    def test_a_new_memory_is_offered_what_it_may_replace(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        add(mem, "Renting a bike for the day costs 450 crowns")
        offered = mem.add(OTHER_BANK, owner="ana").similar
        assert old.id in {one.id for one in offered}
        (bank,) = [one for one in offered if one.id == old.id]
        assert (bank.content, bank.canonical_key, bank.at[:4]) == (BANK, old.canonical_key, str(old.created_at.year))
        assert 0 < bank.similarity < 1

    def test_three_at_most(self, mem: recollect.Recollect) -> None:
        for number in ("one", "two", "three", "four", "five"):
            add(mem, f"Shelf {number} holds the blue paint tins")
        assert len(mem.add("The red paint tins stand on the floor", owner="ana").similar) == 3

    def test_nothing_is_offered_where_the_memory_met_another(self, mem: recollect.Recollect) -> None:
        add(mem, "The rent is 900 euros")
        assert mem.add("The rent is 900 euros", owner="ana").similar == ()
        assert mem.add("The rent is 950 euros now", owner="ana").similar == ()

    def test_what_the_caller_may_not_read_is_not_offered(self, mem: recollect.Recollect) -> None:
        add(mem, BANK, scope="bookkeeper")
        add(mem, "The bakery banks with Komerční", owner="ben")
        planner = mem.as_caller(agent="planner", user="ana")
        assert planner.add(OTHER_BANK).similar == ()
        writer = mem.as_caller(agent="bookkeeper", user="ana", rights=["write"])
        assert writer.add("Our account moved to another bank", scope="bookkeeper").similar == ()

    def test_the_policy_can_switch_it_off(self) -> None:
        with recollect.open(":memory:", policy={"identity": {"offer": False}}) as mem:
            add(mem, BANK)
            assert mem.add(OTHER_BANK, owner="ana").similar == ()


class TestSupersede:
    def test_an_accepted_offer_goes_on_with_the_old_chain(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, BANK), add(mem, OTHER_BANK)
        receipt = mem.supersede(old.id, by=new.id)
        assert (receipt.outcome, receipt.reasons) == ("superseded", ("supersede:by_hand",))
        assert receipt.memory is not None
        assert (receipt.memory.canonical_key, receipt.memory.version) == (old.canonical_key, 2)
        assert [one.content for one in mem.chain(new.id)] == [BANK, OTHER_BANK]
        assert active(mem) == {OTHER_BANK}
        assert mem.get(old.id).superseded_by_id == new.id
        assert "memory_deleted" in {event["type"] for event in receipt.events}

    def test_it_survives_a_rebuild(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, BANK), add(mem, OTHER_BANK)
        mem.supersede(old.id, by=new.id)
        before = [memory.to_json() for memory in mem.list(owner="ana", status=None).items]
        mem.rebuild()
        assert [memory.to_json() for memory in mem.list(owner="ana", status=None).items] == before

    def test_the_second_of_two_who_accept_is_told(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, BANK), add(mem, OTHER_BANK)
        mem.supersede(old.id, by=new.id)
        with pytest.raises(WrongState, match="already superseded") as told:
            mem.supersede(old.id, by=new.id)
        assert told.value.field == "id" and new.id in (told.value.hint or "")

    def test_two_threads_accept_once(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, BANK), add(mem, OTHER_BANK)
        done: list[str] = []

        def accept() -> None:
            try:
                done.append(str(mem.supersede(old.id, by=new.id).outcome))
            except WrongState:
                done.append("told")

        threads = [threading.Thread(target=accept) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(done) == ["superseded", "told", "told", "told"]

    def test_an_agent_does_not_replace_a_person(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK, source="user")
        agent = mem.as_caller(agent="planner", user="ana")
        new = agent.add(OTHER_BANK).memory
        assert new is not None
        receipt = agent.supersede(old.id, by=new.id)
        assert (receipt.outcome, receipt.reasons) == ("contradicted", ("conflict:authority",))
        assert (mem.get(old.id).status, mem.get(new.id).status) == ("active", "contradictory")
        assert mem.get(new.id).conflict_ids == (old.id,)
        assert mem.resolve(new.id, winner=new.id).status == "active"
        assert active(mem) == {OTHER_BANK}

    @pytest.mark.parametrize(
        ("fields", "what"), [({"owner": "ben"}, "another place"), ({"kind": "profile", "key": "city"}, "kind")]
    )
    def test_only_within_one_place_and_kind(self, mem: recollect.Recollect, fields: dict[str, str], what: str) -> None:
        old, new = add(mem, BANK), add(mem, OTHER_BANK, **fields)
        with pytest.raises(BadInput, match=what):
            mem.supersede(old.id, by=new.id)
        assert mem.get(old.id).status == "active"

    def test_not_itself_not_nothing(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        with pytest.raises(BadInput, match="same memory"):
            mem.supersede(old.id, by=old.id)
        with pytest.raises(NotFound):
            mem.supersede("ffffffffffff", by=old.id)

    def test_one_that_replaces_two_keeps_its_chain(self, mem: recollect.Recollect) -> None:
        first, second, new = add(mem, BANK), add(mem, "Our money is at Tatra"), add(mem, OTHER_BANK)
        mem.supersede(first.id, by=new.id)
        mem.supersede(second.id, by=new.id)
        assert active(mem) == {OTHER_BANK}
        assert mem.get(new.id).supersedes_id == first.id
        assert mem.get(second.id).superseded_by_id == new.id


class TestUpdate:
    def test_update_writes_the_next_version(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK, pinned=True, tags=["money"], scope="planner", category="finance")
        receipt = mem.update(old.id, OTHER_BANK)
        assert receipt.outcome == "superseded" and receipt.memory is not None
        new = receipt.memory
        assert (new.canonical_key, new.version, new.owner, new.scope) == (old.canonical_key, 2, "ana", "planner")
        assert (new.pinned, new.tags, new.category) == (True, ("money",), "finance")

    def test_add_with_supersedes_does_the_same(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        new = add(mem, OTHER_BANK, supersedes=old.id[:13].replace("-", ""))
        assert (new.canonical_key, new.version, new.supersedes_id) == (old.canonical_key, 2, old.id)

    def test_the_same_words_reinforce(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        assert mem.update(old.id, BANK).outcome == "reinforced"

    def test_an_agents_update_of_a_persons_statement_waits(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK, source="user")
        receipt = mem.as_caller(agent="planner", user="ana").update(old.id, OTHER_BANK)
        assert receipt.outcome == "contradicted"
        assert active(mem) == {BANK}

    def test_of_what_was_superseded_names_the_current_one(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        new = mem.update(old.id, OTHER_BANK).memory
        assert new is not None
        with pytest.raises(WrongState, match="already superseded") as told:
            mem.update(old.id, "The bakery banks with Tatra")
        assert new.id in (told.value.hint or "")

    def test_another_owner_is_another_place(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        with pytest.raises(BadInput, match="another place"):
            mem.add(OTHER_BANK, owner="ben", supersedes=old.id)

    def test_a_stranger_cannot_replace_it(self, mem: recollect.Recollect) -> None:
        old = add(mem, BANK)
        with pytest.raises(NotFound):
            mem.as_caller(agent="planner", user="ben").update(old.id, OTHER_BANK)


class TestWhoDecides:
    """An agent may say that a person's words replace its own guess, and not which of two persons' words hold."""

    def test_a_persons_words_replace_a_guess(self, mem: recollect.Recollect) -> None:
        agent = mem.as_caller(agent="planner", user="ana")
        guess = agent.add(BANK).memory
        said = add(mem, OTHER_BANK, source="user")
        assert guess is not None
        assert agent.supersede(guess.id, by=said.id).outcome == "superseded"
        assert mem.get(said.id).canonical_key == said.canonical_key, "a guess does not name a person's words"

    def test_a_guessed_name_does_not_expose_a_persons_words(self, mem: recollect.Recollect) -> None:
        said = add(mem, "I am allergic to penicillin.", source="user")
        agent = mem.as_caller(agent="planner", user="ana")
        guess = agent.add("User lives in Nowhere.").memory
        assert guess is not None
        agent.supersede(guess.id, by=said.id)
        add(mem, "I live in Rome.", source="user")
        assert mem.get(said.id).status == "active"

    def test_a_hidden_successor_is_not_named(self) -> None:
        with recollect.open(":memory:", policy={"agents": {"allowlists": {"shop": ["shopping"]}}}) as mem:
            milk = add(mem, "I buy oat milk.", category="shopping", source="agent")
            hidden = add(mem, "I buy insulin.", category="health", source="agent", supersedes=milk.id)
            shop = mem.as_caller(agent="shop", user="ana")
            with pytest.raises(WrongState) as told:
                shop.add("Ana buys rice.", category="shopping", supersedes=milk.id)
            assert hidden.id not in str(told.value) and hidden.id not in (told.value.hint or "")

    def test_a_persons_words_are_not_an_agents_to_retire(self, mem: recollect.Recollect) -> None:
        first, second = add(mem, BANK, source="user"), add(mem, OTHER_BANK, source="user")
        with pytest.raises(NotAllowed):
            mem.as_caller(agent="planner", user="ana").supersede(first.id, by=second.id)
        assert mem.get(first.id).status == "active"

    def test_the_missing_one_is_named(self, mem: recollect.Recollect) -> None:
        with pytest.raises(NotFound) as told:
            mem.supersede(add(mem, BANK).id, by="ffffffffffff")
        assert told.value.field == "by"


ASKED = "Who does the bakery bank with?"
CI, OTHER_CI = "CI runs on CircleCI and takes about 14 minutes", "Pipelines run in GitHub Actions; CircleCI is gone"


class TestFoundByWhatItReplaced:
    """A new version often says it in other words; the question still asks in those of the old one."""

    @pytest.fixture(autouse=True)
    def _others(self, mem: recollect.Recollect) -> None:
        for text in ("The designs are in Figma, Pim grants access", "main is protected and takes two approvals"):
            add(mem, text)

    def test_a_question_that_the_old_one_answered_finds_the_new_one(self, mem: recollect.Recollect) -> None:
        for old, new, question in ((BANK, OTHER_BANK, ASKED), (CI, OTHER_CI, "What is the CI system?")):
            older, newer = add(mem, old), add(mem, new)
            before = mem.query(question, owner="ana", threshold=0)
            assert before.items[0].memory.id == older.id
            mem.supersede(older.id, by=newer.id)
            after = mem.query(question, owner="ana", threshold=0)
            assert after.items[0].memory.id == newer.id
            assert old not in {item.memory.content for item in after.items}
            assert after.confidence == before.confidence, "it answers as surely as what it replaced"

    def test_in_a_later_session_too(self, mem: recollect.Recollect) -> None:
        mem.supersede(add(mem, BANK).id, by=add(mem, OTHER_BANK).id)
        found = mem.recall_for(session="next", user=ASKED, owner="ana")
        assert found.items[0].memory.content == OTHER_BANK

    def test_over_several_versions(self, mem: recollect.Recollect) -> None:
        first, second, third = add(mem, BANK), add(mem, OTHER_BANK), add(mem, "Fio has kept the till money since June")
        mem.supersede(first.id, by=second.id)
        mem.supersede(second.id, by=third.id)
        assert mem.query(ASKED, owner="ana").items[0].memory.id == third.id

    def test_not_once_the_new_one_is_forgotten(self, mem: recollect.Recollect) -> None:
        new = add(mem, OTHER_BANK)
        mem.supersede(add(mem, BANK).id, by=new.id)
        mem.forget(new.id)
        found = mem.query(ASKED, owner="ana", threshold=0)
        assert not {BANK, OTHER_BANK} & {item.memory.content for item in found.items}

    def test_not_for_whom_the_new_one_is_hidden(self, mem: recollect.Recollect) -> None:
        mem.supersede(add(mem, BANK, scope="bookkeeper").id, by=add(mem, OTHER_BANK, scope="bookkeeper").id)
        planner = mem.as_caller(agent="planner", user="ana")
        assert not {BANK, OTHER_BANK} & {item.memory.content for item in planner.query(ASKED, threshold=0).items}
        bookkeeper = mem.as_caller(agent="bookkeeper", user="ana")
        assert bookkeeper.query(ASKED).items[0].memory.content == OTHER_BANK
