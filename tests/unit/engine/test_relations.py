"""Relations: what a new memory is linked to, links by hand, and what is told along with a match, to whom."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.embed.static import count_tokens
from recollect.engine.write.relations import CARRIED
from recollect.model.errors import BadInput, NotAllowed, NotFound, WrongState
from recollect.model.receipt import Related, as_written
from recollect.stores.protocol import NO_LIMIT
from rows import every_row
from support.topics import TopicEmbedder

DRINKS, TRAVEL, MONEY = "tea coffee cocoa juice", "train bus ferry tram", "rent wage bank loan"
MEANING = TopicEmbedder(DRINKS, TRAVEL, MONEY)


@pytest.fixture
def both(place: str) -> Iterator[recollect.Recollect]:
    with opened(place) as mem:
        yield mem


@pytest.fixture
def mem() -> Iterator[recollect.Recollect]:
    with opened(":memory:") as mem:
        yield mem


def opened(place: str, **settings: Any) -> recollect.Recollect:
    return recollect.open(place, embedder=MEANING, **settings)


def add(mem: recollect.Recollect, content: str, **fields: Any) -> str:
    """A memory of its own concept, whatever its words are like."""
    receipt = mem.add(content, **{"owner": "ana", "canonical_key": f"Note-{hash_of(content)}", **fields})
    assert receipt.memory is not None, receipt.reasons
    return str(receipt.memory.id)


def hash_of(content: str) -> str:
    return "".join(word.capitalize() for word in content.split())


def edges(mem: recollect.Recollect, owner: str = "ana") -> set[tuple[str, str, str, float]]:
    """Every relation that begins in an owner's streams, by content."""
    with mem.engine.read() as reader:
        streams = reader.streams_of(mem.engine.tenant, owner)
        found = [one for stream in streams for one in reader.relations_between(stream, 0, NO_LIMIT)]
        places = {place for one in found for place in (one.source, one.target)}
        said = reader.contents(mem.engine.tenant, sorted(places))
    return {(said[one.source], said[one.target], one.relation_type, one.strength) for one in found}


def ids(found: list[Related]) -> list[str]:
    return [one.id for one in found]


def test_a_new_memory_is_linked_to_the_nearest_with_how_like_they_are(both: recollect.Recollect) -> None:
    add(both, "tea")
    add(both, "tea train")
    add(both, "rent")
    newest = add(both, "coffee")
    assert edges(both) == {
        ("tea train", "tea", "related_to", 0.707107),
        ("coffee", "tea", "related_to", 1.0),
        ("coffee", "tea train", "related_to", 0.707107),
    }
    assert [one.strength for one in both.related(newest)] == [1.0, 0.707107]
    assert both.verify().ok


def test_at_most_so_many_and_none_that_is_less_alike(both: recollect.Recollect) -> None:
    for content in ("tea one", "tea two", "tea three", "tea four", "train bus tea"):
        add(both, content)
    linked = {(source, target) for source, target, _, _ in edges(both) if source == "tea four"}
    assert linked == {("tea four", "tea one"), ("tea four", "tea two"), ("tea four", "tea three")}
    assert not any(source == "train bus tea" for source, *_ in edges(both)), "0.447 is below link_min"


def test_how_many_and_how_alike_are_settings() -> None:
    with opened(":memory:", policy={"relations": {"neighbours": 1, "link_min": 0.4}}) as mem:
        for content in ("tea one", "tea two", "train bus tea"):
            add(mem, content)
        assert {(source, target) for source, target, _, _ in edges(mem)} == {
            ("tea two", "tea one"),
            ("train bus tea", "tea one"),
        }
    with opened(":memory:", policy={"relations": {"neighbours": 0}}) as mem:
        add(mem, "tea one")
        add(mem, "tea two")
        assert edges(mem) == set()


def test_an_update_is_linked_anew_and_not_to_what_it_replaces(both: recollect.Recollect) -> None:
    add(both, "tea here")
    old = add(both, "coffee every day", canonical_key="Ana-Drink")
    new = add(both, "cocoa every day", canonical_key="Ana-Drink", change="update")
    assert both.get(new).supersedes_id == old
    assert {(source, target) for source, target, _, _ in edges(both)} == {
        ("coffee every day", "tea here"),
        ("cocoa every day", "tea here"),
    }
    assert both.verify().ok


def test_many_old_versions_do_not_stand_before_what_is_active(mem: recollect.Recollect) -> None:
    """However many of the nearest were superseded, the nearest that is active is found."""
    for number in range(40):
        add(mem, f"tea in cup {number}", canonical_key="Ana-Cup", change="update" if number else None)
    add(mem, "tea coffee train")
    newest = add(mem, "juice")
    found = {one.content: one.strength for one in mem.related(newest)}
    assert found == {"tea in cup 39": 1.0, "tea coffee train": pytest.approx(0.894, abs=0.01)}


def test_only_what_is_known_for_good_is_linked(mem: recollect.Recollect) -> None:
    add(mem, "user: tea", kind="short_term", canonical_key=None)
    add(mem, "user: tea again", kind="episodic", canonical_key=None)
    assert edges(mem) == set()
    add(mem, "tea")
    assert edges(mem) == set(), "nor is it linked to the lines of a conversation"


def test_nothing_is_linked_across_scopes_that_may_not_see_it(mem: recollect.Recollect) -> None:
    add(mem, "tea of planner", scope="planner")
    add(mem, "tea of all")
    add(mem, "tea of coder", scope="coder")
    assert {(source, target) for source, target, _, _ in edges(mem)} == {("tea of coder", "tea of all")}


def test_nothing_is_linked_across_categories_where_agents_have_allowlists() -> None:
    with opened(":memory:", policy={"agents": {"allowlists": {"coder": ["tasks"]}}}) as mem:
        add(mem, "tea at home")
        add(mem, "tea at work", category="tasks")
        add(mem, "coffee at work", category="tasks")
        assert {(source, target) for source, target, _, _ in edges(mem)} == {("coffee at work", "tea at work")}
        coder = mem.as_caller(user="ana", agent="coder")
        assert "tea at work" in repr(coder.query("tea coffee")) and "at home" not in repr(coder.query("tea coffee"))


def test_what_is_said_again_gets_no_second_relation(both: recollect.Recollect) -> None:
    add(both, "tea here")
    add(both, "coffee here")
    before = edges(both)
    for _ in range(2):
        add(both, "coffee here")
    assert edges(both) == before and len(before) == 1


def test_a_batch_is_linked_like_one_after_the_other(mem: recollect.Recollect) -> None:
    contents = ["tea one", "train", "tea train", "coffee", "bus coffee", "tram", "juice", "rent"]
    rows = [{"content": c, "owner": "ana", "canonical_key": f"Note-{hash_of(c)}"} for c in contents]
    mem.add_many(rows)
    with opened(":memory:") as other:
        for content in contents:
            add(other, content)
        assert edges(mem) == edges(other) != set()


def test_writers_at_once_give_the_relations_of_their_order(place: str) -> None:
    """Whoever is compared before the lock is compared again with whatever came first."""
    start = threading.Barrier(4)

    def write(writer: int) -> None:
        with opened(place) as mem:
            start.wait()
            for number in range(5):
                add(mem, f"tea {writer} {number} {'train' * (number % 2)}")

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with opened(place) as mem, opened(":memory:") as serial:
        written = sorted(mem.list(owner="ana", limit=100).items, key=lambda memory: memory.tick)
        assert len(written) == 20
        for memory in written:
            add(serial, memory.content)
        assert edges(mem) == edges(serial)
        assert mem.verify().ok


def test_a_link_by_hand_is_seen_from_both_ends_until_it_is_taken_back(both: recollect.Recollect) -> None:
    rent, tea = add(both, "rent is due"), add(both, "tea is gone")
    linked = both.link(rent, tea, relation_type="explains", strength=0.25)
    assert (linked.id, linked.content, linked.relation_type, linked.strength) == (tea, "tea is gone", "explains", 0.25)
    assert both.related(rent) == (linked,)
    (back,) = both.related(tea)
    assert (back.id, back.content, back.relation_type, back.strength) == (rent, "rent is due", "explains", 0.25)
    assert both.verify().ok
    assert both.unlink(rent, tea) == 1
    assert both.related(rent) == both.related(tea) == () and both.unlink(rent, tea) == 0
    assert both.verify().ok


def test_a_link_by_hand_goes_on_with_a_new_version_of_either_end(both: recollect.Recollect) -> None:
    add(both, "tea", canonical_key="Tea-Note")
    rent = add(both, "rent", canonical_key="Rent-Note")
    far = add(both, "coffee", owner="ben")
    both.link(add(both, "bank", canonical_key="Bank-Note"), rent, relation_type="pays", strength=0.5)
    both.link(rent, both.query("tea").items[0].memory.id, relation_type="explains", strength=0.75)
    both.link(far, rent, relation_type="part_of")
    newer = add(both, "rent and loan", canonical_key="Rent-Note", change="update")
    assert {edge for edge in edges(both) if "rent and loan" in edge and edge[2] != "related_to"} == {
        ("rent and loan", "tea", "explains", 0.75),
        ("bank", "rent and loan", "pays", 0.5),
    }
    assert ("coffee", "rent", "part_of", 1.0) in edges(both, "ben"), "it begins elsewhere, and stays as it was made"
    add(both, "tea with juice", canonical_key="Tea-Note", change="update")
    (told,) = [one for one in both.related(newer) if one.relation_type == "explains"]
    assert (told.content, told.strength) == ("tea with juice", 0.75)
    again = add(both, "rent and wage", canonical_key="Rent-Note", change="update")
    assert [one.content for one in both.related(again) if one.relation_type == "explains"] == ["tea with juice"]
    assert [event.meta["rule"] for event in both.history(again) if event.event == "LINK"].count(CARRIED) == 2
    before = edges(both)
    assert both.verify().ok
    both.rebuild()
    assert edges(both) == before and both.verify().ok
    assert both.unlink(again, told.id) == 1
    assert not [one for one in both.related(again) if one.relation_type == "explains"]


def test_a_link_by_hand_goes_on_when_a_contradiction_is_resolved(mem: recollect.Recollect) -> None:
    old = add(mem, "The port is 8080", canonical_key="Api-Port", source="operator")
    mem.link(old, add(mem, "tea"), relation_type="explains")
    rival = add(mem, "The port is 9090", canonical_key="Api-Port", source="agent")
    assert mem.related(rival) == ()
    mem.resolve(rival, winner=rival)
    assert [(one.content, one.relation_type) for one in mem.related(rival)] == [("tea", "explains")]
    assert mem.verify().ok


def test_a_link_is_made_once(mem: recollect.Recollect) -> None:
    rent, tea = add(mem, "rent is due"), add(mem, "tea is gone")
    mem.link(rent, tea, strength=0.5)
    entries = mem.stats()["entries"]
    assert mem.link(rent, tea, strength=0.9).strength == 0.5, "it says what is there"
    assert mem.stats()["entries"] == entries
    mem.link(rent, tea, relation_type="part_of")
    assert mem.unlink(rent, tea) == 2


def test_what_was_linked_by_likeness_can_be_unlinked_for_good(both: recollect.Recollect) -> None:
    tea, coffee = add(both, "tea"), add(both, "coffee")
    assert both.unlink(coffee, tea) == 1
    assert both.related(coffee) == () and both.verify().ok
    both.rebuild()
    assert both.related(coffee) == () and both.verify().ok
    both.link(coffee, tea, strength=0.5)
    assert both.related(coffee)[0].strength == 0.5 and both.verify().ok


@every_row(
    ("given", "field"),
    [
        ({"relation_type": "Not a word"}, "relation_type"),
        ({"relation_type": ""}, "relation_type"),
        ({"relation_type": None}, "relation_type"),
        ({"strength": 1.01}, "strength"),
        ({"strength": -0.1}, "strength"),
        ({"strength": float("nan")}, "strength"),
        ({"strength": True}, "strength"),
        ({"strength": "1"}, "strength"),
    ],
)
def test_a_link_that_makes_no_sense_is_refused(mem: recollect.Recollect, given: dict[str, Any], field: str) -> None:
    rent, tea = add(mem, "rent is due"), add(mem, "tea is gone")
    with pytest.raises(BadInput) as refused:
        mem.link(rent, tea, **given)
    assert refused.value.field == field


def test_a_memory_is_not_linked_to_itself_nor_to_what_is_gone(mem: recollect.Recollect) -> None:
    rent, tea = add(mem, "rent is due"), add(mem, "tea is gone")
    with pytest.raises(BadInput, match="same memory"):
        mem.link(rent, rent)
    mem.erase(id=tea)
    with pytest.raises(NotFound) as no:
        mem.link(rent, tea)
    assert no.value.field == "other"
    with pytest.raises(WrongState):
        mem.link(tea, rent)
    with pytest.raises(NotFound):
        mem.link(rent, "00000000-0000-0000-0000-000000000000")


def test_whoever_may_not_see_an_end_cannot_link_it(mem: recollect.Recollect) -> None:
    his = add(mem, "tea of ben", owner="ben")
    planners = add(mem, "loan of planner", scope="planner")
    ana, coder = mem.as_caller(user="ana"), mem.as_caller(user="ana", agent="coder")
    hers, coders = add(ana, "rent of ana"), add(coder, "wage of ana", source="agent")
    for caller, own, other in ((ana, hers, his), (coder, coders, planners), (coder, coders, his)):
        for call in (
            lambda c=caller, a=own, b=other: c.link(a, b),
            lambda c=caller, a=own, b=other: c.link(b, a),
            lambda c=caller, a=own, b=other: c.unlink(a, b),
            lambda c=caller, b=other: c.related(b),
        ):
            with pytest.raises(NotFound):
                call()
    assert not {("wage of ana", "loan of planner")} & {pair[:2] for pair in edges(mem)}


def test_whoever_may_not_change_a_memory_cannot_link_it(mem: recollect.Recollect) -> None:
    said = add(mem, "rent is due", source="operator")
    tea = add(mem, "tea is gone")
    with pytest.raises(NotAllowed):
        mem.as_caller(user="ana").link(said, tea)
    mem.as_caller(user="ana").link(tea, said)


def test_what_is_related_and_may_not_be_seen_is_not_told(mem: recollect.Recollect) -> None:
    hers, planners = add(mem, "rent of ana"), add(mem, "loan of planner", scope="planner")
    his = add(mem, "tea of ben", owner="ben")
    mem.link(hers, planners)
    mem.link(hers, his)
    ana, coder = mem.as_caller(user="ana"), mem.as_caller(user="ana", agent="coder")
    planner = mem.as_caller(user="ana", agent="planner")
    assert set(ids(mem.related(hers))) == {planners, his}
    assert ids(planner.related(hers)) == [planners]
    assert coder.related(hers) == ()
    for caller in (coder, ana):
        told = repr(caller.query("rent").items)
        assert "tea of ben" not in told and his not in told
    assert "loan" not in repr(coder.query("rent").items)
    for look in (coder.history, coder.explain, coder.get, coder.chain):
        seen = repr(look(hers))
        assert planners not in seen and his not in seen, "not even that there is one"


@pytest.mark.parametrize("end", ["source", "target"])
def test_a_relation_goes_with_either_end(both: recollect.Recollect, end: str) -> None:
    tea, coffee, rent = add(both, "tea"), add(both, "coffee"), add(both, "rent")
    both.link(tea, rent)
    both.link(coffee, rent, relation_type="explains")
    gone = coffee if end == "source" else rent
    both.erase(id=gone)
    assert all(gone not in ids(both.related(id)) for id in {tea, coffee, rent} - {gone})
    assert len(edges(both)) == 1
    before = edges(both)
    assert both.verify().ok
    both.rebuild()
    assert edges(both) == before and both.verify().ok


def test_what_is_purged_takes_its_relations_along(tmp_path: Path) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    with opened(str(tmp_path / "m.db"), clock=lambda: now[0]) as mem:
        tea, coffee = add(mem, "tea"), add(mem, "coffee")
        mem.forget(tea)
        assert mem.related(coffee) == (), "what is forgotten is not told"
        assert len(edges(mem)) == 1
        mem.restore(tea)
        assert ids(mem.related(coffee)) == [tea]
        mem.forget(tea)
        now[0] += timedelta(days=400)
        assert mem.upkeep().purged == (tea,)
        assert edges(mem) == set() and mem.verify().ok


def test_relations_are_rebuilt_from_versions_and_ledger(both: recollect.Recollect) -> None:
    for content in ("tea one", "tea two", "train", "tea train", "rent"):
        add(both, content)
    rent, tea = (both.list(key=f"Note-{name}").items[0].id for name in ("Rent", "TeaOne"))
    both.link(rent, tea, relation_type="explains", strength=0.3)
    other = add(both, "loan of ben", owner="ben")
    both.link(rent, other)
    before = edges(both)
    both.rebuild()
    assert edges(both) == before and len(before) >= 5
    assert both.verify().ok


def test_a_relation_that_nobody_made_is_found_by_verify(both: recollect.Recollect) -> None:
    rent, tea = add(both, "rent is due"), add(both, "tea is gone")
    both.link(rent, tea)
    with both.engine.write() as writer:
        (stream,) = writer.streams_of(both.engine.tenant)
        (one,) = writer.relations_between(stream, 0, NO_LIMIT)
        writer.remove_relation(both.engine.tenant, one)
        writer.put_relations(both.engine.tenant, [one._replace(strength=0.2)])
    assert "relations" in repr(both.verify().problems)
    both.rebuild()
    assert both.verify().ok


def test_what_is_related_to_a_match_is_told_below_it(both: recollect.Recollect) -> None:
    rent, wall = add(both, "The landlord raised it"), add(both, "Mould is on the north wall")
    both.link(rent, wall, relation_type="explains", strength=0.9)
    answer = both.query("landlord", owner="ana")
    told = {item.memory.id: item for item in answer.items}
    assert "related_to_a_match" in told[wall].recall_reason or told[rent].related
    assert "north wall" in answer.text


def test_what_is_related_is_lifted_above_what_matches_as_well(both: recollect.Recollect) -> None:
    best = add(both, "The garden party is planned for June in the garden")
    for number in range(14):
        add(both, f"A garden chair {number} is in the shed")
    plain = [item.memory.id for item in both.query("garden party", owner="ana", top_k=20).items]
    behind = plain[-1]
    both.link(best, behind, relation_type="part_of")
    items = both.query("garden party", owner="ana", top_k=20).items
    assert [item.memory.id for item in items][:2] == [best, behind]
    assert items[1].breakdown["relation"] > 0


@pytest.mark.parametrize("bullets", [0, 1, 3])
def test_no_more_related_bullets_than_the_policy_allows(bullets: int) -> None:
    policy = {"relations": {"bullets": bullets, "neighbours": 0}}
    with opened(":memory:", policy=policy) as mem:
        best = add(mem, "The landlord raised it")
        for number in range(4):
            mem.link(best, add(mem, f"Mould number {number} grows", kind="semantic"), strength=0.5 + number / 10)
        items = mem.query("landlord", owner="ana", top_k=1).items
        told = [one.content for item in items for one in item.related]
        assert told == [f"Mould number {number} grows" for number in (3, 2, 1)][:bullets]


def test_related_bullets_keep_to_the_budget() -> None:
    with opened(":memory:", policy={"relations": {"neighbours": 0}}) as mem:
        best = add(mem, "The landlord raised it")
        mem.link(best, add(mem, "Mould grows " + "very " * 30 + "fast"), strength=0.9)
        mem.link(best, add(mem, "Damp walls"), strength=0.5)
        for budget in range(5, 80):
            items = mem.query("landlord", owner="ana", top_k=1, budget_tokens=budget).items
            assert count_tokens(as_written(items, "text")) <= budget
        roomy = mem.query("landlord", owner="ana", top_k=1, budget_tokens=43)
        assert [one.content for one in roomy.items[0].related] == ["Damp walls"], "the long one would not fit"


def test_an_answer_tells_what_was_said_before_where_that_is_asked_for(both: recollect.Recollect) -> None:
    old = [add(both, f"The port is {port}", canonical_key="Api-Port") for port in (80, 81, 82)]
    plain, told = both.query("port", owner="ana"), both.query("port", owner="ana", history=True)
    assert [item.earlier for item in plain.items] == [()]
    (item,) = told.items
    assert [(one.id, one.version, one.content) for one in item.earlier] == [
        (old[1], 2, "The port is 81"),
        (old[0], 1, "The port is 80"),
    ]
    assert "before" in told.text and "81" in told.text
    both.erase(id=old[1])
    assert [one.content for one in both.query("port", owner="ana", history=True).items[0].earlier] == ["The port is 80"]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"owner": "ben"}, {}),
        ({"namespace": "test"}, {}),
        ({"kind": "procedural", "content": "1. Open the hood\n2. Check the oil"}, {}),
        ({"category": "secret"}, {"categories": ["general"]}),
        ({"tags": ["old"]}, {"filters": {"tags": ["new"]}}),
    ],
    ids=["owner", "namespace", "kind", "category", "tag"],
)
def test_what_is_told_along_is_within_what_the_question_is_about(
    mem: recollect.Recollect, fields: dict[str, Any], asked: dict[str, Any]
) -> None:
    car = add(mem, "Ana drives a red car", tags=["new"])
    other = add(mem, **{"content": "It stands in garage seven", **fields})
    fitting = add(mem, "It was washed on Sunday", tags=["new"])
    mem.link(car, other, strength=1.0)
    mem.link(car, fitting, strength=0.5)
    (item,) = mem.query("red car", owner="ana", top_k=1, **asked).items
    assert [one.id for one in item.related] == [fitting]
    assert other in {one.id for one in mem.related(car)}, "who asks for what it is related to is told"


def test_what_waits_is_linked_too_once_it_is_believed(both: recollect.Recollect) -> None:
    add(both, "coffee in the morning")
    add(both, "tea at noon", canonical_key="Drink-Noon")
    waiting = both.add("no tea at noon", owner="ana", canonical_key="Drink-Noon", source="agent")
    assert waiting.outcome == "contradicted" and waiting.memory is not None
    both.resolve(waiting.memory.id, winner=waiting.memory.id)
    assert [one.content for one in both.related(waiting.memory.id)] == ["coffee in the morning"]
