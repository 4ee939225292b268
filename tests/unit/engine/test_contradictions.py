"""Statements that contradict one another: what waits, what its receipt says, and how it is settled. On every store."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, WrongState
from recollect.model.record import Memory


@pytest.fixture
def mem(place: str) -> Iterator[Recollect]:
    with recollect.open(place) as memory:
        yield memory


def kept(mem: Recollect, content: str, **fields: Any) -> Memory:
    memory = mem.add(content, **fields).memory
    assert memory is not None
    return memory


def test_a_word_in_capitals_is_the_same_word(mem: Recollect) -> None:
    first, again = mem.add("I like tea"), mem.add("I like TEA")
    assert again.outcome == "reinforced" and again.memory is not None and first.memory is not None
    assert again.memory.id == first.memory.id


def contradicted(mem: Recollect) -> tuple[Memory, recollect.Receipt]:
    known = kept(mem, "The port of the API is 8080", owner="ana", source="user", author="ana")
    return known, mem.add("The port of the API is 9090", owner="ana", source="agent")


def test_a_contradicted_write_says_who_said_otherwise_and_what_to_do(mem: Recollect) -> None:
    known, receipt = contradicted(mem)
    assert receipt.outcome == "contradicted" and receipt.memory is not None
    detail, own = receipt.detail or "", receipt.memory.short_id
    assert detail.startswith(f"user ana said otherwise on {known.created_at:%Y-%m-%d} (id {known.short_id}): ")
    assert "user_asserted outranks ai_inferred" in detail
    assert f"resolve({own}, winner={own})" in detail and f"resolve({own}, winner={known.short_id})" in detail


def test_an_agent_is_told_to_have_a_person_settle_it(mem: Recollect) -> None:
    kept(mem, "The port of the API is 8080", owner="ana", source="user")
    agent = mem.as_caller(agent="planner", user="ana", rights=["read", "write"])
    assert "have a person settle it" in (agent.add("The port of the API is 9090").detail or "")


def test_one_losing_claim_said_five_times_is_one_record(mem: Recollect) -> None:
    known, first = contradicted(mem)
    assert first.memory is not None
    port = "The port of the API is 9090"
    for said in (port, f"{port}!", "the port of the API  is 9090", "The PORT of the API is 9090"):
        again = mem.add(said, owner="ana", source="agent")
        assert again.memory is not None and (again.outcome, again.memory.id) == ("contradicted", first.memory.id), said
        assert "conflict:said_again" in again.reasons and again.detail
        assert [event["type"] for event in again.events if event["type"] != "memory_border_check"] == [
            "memory_conflict"
        ]
    waiting = mem.list(status="contradictory").items
    assert [(one.id, one.access_count) for one in waiting] == [(first.memory.id, 4)]
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.get(first.memory.id).access_count == 4
    assert mem.verify().ok
    assert mem.get(known.id).conflict_ids == (first.memory.id,)


@pytest.mark.parametrize(
    ("known", "first", "again"),
    [
        (
            "The port of the API is 8080",
            "The port of the API is 9090",
            (
                "The API port is 9090",
                "The API listens on port 9090",
                "Port of the API: 9090",
                "The API port is now 9090",
            ),
        ),
        (
            "Ana lives in Lisbon",
            "Ana lives in Porto",
            ("Ana resides in Porto", "Ana moved to Porto", "Ana is based in Porto"),
        ),
        ("The gym opens at 8 am", "The gym opens at 9 am", ("The gym opens at 09:00", "The gym now opens at 9 am")),
    ],
)
def test_so_it_is_in_other_words(mem: Recollect, known: str, first: str, again: tuple[str, ...]) -> None:
    kept(mem, known, owner="ana", source="user")
    claim = mem.add(first, owner="ana", source="agent").memory
    assert claim is not None
    for said in again:
        receipt = mem.add(said, owner="ana", source="agent")
        assert receipt.memory is not None and receipt.memory.id == claim.id, said
        assert "conflict:said_again" in receipt.reasons
    assert [one.access_count for one in mem.list(status="contradictory").items] == [len(again)]
    denied = mem.add(f"It is not true that {first[0].lower()}{first[1:]}", owner="ana", source="agent")
    assert denied.memory is None or denied.memory.id != claim.id


def test_another_claim_or_another_claimant_waits_apart(mem: Recollect) -> None:
    _, first = contradicted(mem)
    other = mem.add("The port of the API is 7070", owner="ana", source="agent")
    someone = mem.add("The port of the API is 9090", owner="ana", source="import")
    ids = {receipt.memory.id for receipt in (first, other, someone) if receipt.memory is not None}
    assert len(ids) == 3 and {receipt.outcome for receipt in (other, someone)} == {"contradicted"}


def test_a_claim_is_counted_on_when_the_memory_that_it_contradicts_changes(mem: Recollect) -> None:
    _, first = contradicted(mem)
    newer = kept(mem, "The port of the API is 8443 now", owner="ana", source="user")
    again = mem.add("The port of the API is 9090", owner="ana", source="agent")
    assert again.memory is not None and first.memory is not None and again.memory.id == first.memory.id
    assert newer.id in again.memory.conflict_ids and first.memory.id in mem.get(newer.id).conflict_ids
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before


def test_a_superseded_version_cannot_win(mem: Recollect) -> None:
    old, first = contradicted(mem)
    newer = kept(mem, "The port of the API is 8443 now", owner="ana", source="user")
    assert first.memory is not None and mem.get(old.id).status == "superseded"
    with pytest.raises(WrongState) as refused:
        mem.resolve(first.memory.id, winner=old.id)
    assert refused.value.field == "winner" and "superseded" in refused.value.message
    assert newer.id in (refused.value.hint or "") and old.id not in (refused.value.hint or "")
    assert mem.get(first.memory.id).status == "contradictory" and mem.get(newer.id).status == "active"
    assert mem.resolve(first.memory.id, winner=newer.id).status == "archived"


@pytest.mark.parametrize("change", ["update", "correction"])
@pytest.mark.parametrize("named", [{}, {"title": "harbour"}])
def test_an_update_of_nothing_is_refused(mem: Recollect, change: str, named: dict[str, str]) -> None:
    with pytest.raises(BadInput) as refused:
        mem.add("The harbour is north of the mill", change=change, **named)
    assert refused.value.field == "change" and "supersedes=<id>" in (refused.value.hint or "")
    with pytest.raises(BadInput) as refused:
        mem.add_many([{"content": "Rivers flow"}, {"content": "The harbour is north of the mill", "change": change}])
    assert refused.value.field == "[1].change"
    assert not mem.list().items


def test_an_update_of_something_supersedes_it(mem: Recollect) -> None:
    kept(mem, "The port of the API is 8080")
    assert mem.add("The port of the API is 9090", change="update").outcome == "superseded"
    assert mem.add("The port of the API is 7070", change="correction").outcome == "superseded"


@pytest.mark.parametrize("preset", ["default", "assistant"])
@pytest.mark.parametrize(
    ("old", "new"),
    [("chess", "sailing"), ("hobbies: chess", "hobbies: sailing"), ("Ana plays chess", "Ben sails")],
)
def test_a_text_that_has_nothing_to_do_with_its_title_waits(place: str, preset: str, old: str, new: str) -> None:
    with recollect.open(place, policy=preset) as mem:
        first = kept(mem, old, title="hobbies")
        second = mem.add(new, title="hobbies")
        assert second.outcome == "contradicted" and "conflict:other_subject" in second.reasons
        assert first.short_id in (second.detail or "")
        assert 'Use another title for another fact, or change="update"' in (second.detail or "")
        assert mem.get(first.id).status == "active"
        assert mem.add(new, title="hobbies", change="update").outcome == "superseded"


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        ("The port is 8080", "The port is 9090", {"title": "port"}),
        ("8080", "9090", {"title": "port"}),
        ("The editor is vim", "The editor is emacs", {"canonical_key": "Ana-Editor"}),
        ("chess", "sailing", {"topic_id": "hobbies", "tier": "register"}),
        ("chess", "sailing", {"kind": "profile", "key": "hobbies"}),
        ("chess", "No, sailing", {"title": "hobbies"}),
    ],
)
def test_another_value_under_a_title_still_replaces_the_old(
    mem: Recollect, old: str, new: str, fields: dict[str, str]
) -> None:
    kept(mem, old, **fields)
    assert mem.add(new, **fields).outcome == "superseded"


def test_a_person_replaces_a_guess_under_the_same_title(mem: Recollect) -> None:
    kept(mem, "chess", title="hobbies", source="agent")
    assert mem.add("sailing", title="hobbies", source="user").outcome == "superseded"


@pytest.mark.parametrize("preset", ["governed", "entry", "store"])
def test_literal_presets_take_any_text_for_the_new_value(place: str, preset: str) -> None:
    space = {"space": "session"} if preset == "governed" else {}
    with recollect.open(place, policy=preset) as mem:
        kept(mem, "chess", title="hobbies", **space)
        assert mem.add("sailing", title="hobbies", **space).outcome == "superseded"
