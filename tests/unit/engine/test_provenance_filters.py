"""Memories found by content hash, author, parent, voucher and confidence, in the store, on every store."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.model.errors import AmbiguousId, BadInput, NotFound
from recollect.rules.ledger.content_ids import cid_of
from rows import every_row

LAB = {"owner": "lab", "space": "project"}
BUDS = "Frost on the north slope kills the early buds."
NORTH = "The north slope is planted two weeks later."
BEES = "Bees reach the north slope in the afternoon."


@pytest.fixture
def mem(any_place: Any) -> Iterator[Any]:
    with recollect.open(any_place, policy="entry") as opened:
        yield opened


@pytest.fixture
def slope(mem: Any) -> dict[str, Any]:
    """Three memories: the second builds upon the first, and a gardener vouches for the first."""
    buds = mem.add(BUDS, author={"id": "m-1", "name": "Moss"}, confidence=0.9, **LAB).memory
    north = mem.add(NORTH, author="iris", confidence=0.4, parent_refs=[buds.content_hash], **LAB).memory
    bees = mem.add(BEES, author="iris", **LAB).memory
    mem.vouch(buds.id, by="gardener")
    return {"buds": buds, "north": north, "bees": bees}


def contents(mem: Any, **filters: Any) -> set[str]:
    return {memory.content for memory in mem.list(**filters).items}


def test_a_content_hash_or_a_cid_names_a_memory_wherever_an_id_does(mem: Any, slope: dict[str, Any]) -> None:
    buds, north = slope["buds"], slope["north"]
    for name in (buds.content_hash, buds.content_hash.upper(), cid_of(BUDS)):
        assert mem.get(name).id == buds.id
        assert [v["name"] for v in mem.vouchers(name).vouchers] == ["gardener"]
        assert list(mem.descendants(name).distances()) == [north.id]
    assert [one.who for one in mem.credit(cid_of(NORTH))] == ["iris", "m-1"]
    assert mem.vouch(cid_of(NORTH), by="gardener").id == north.id
    assert mem.history(north.content_hash)[0].memory_id == north.id
    assert mem.parent_hashes([cid_of(BUDS), buds.content_hash, buds.id]) == (buds.content_hash,) * 3
    with pytest.raises(NotFound):
        mem.get(cid_of("nobody said this"))


def test_words_that_several_memories_have_name_none_of_them_and_the_error_lists_them(mem: Any) -> None:
    both = [mem.add(BUDS, **LAB).memory, mem.add(BUDS, owner="ana").memory]
    for call in (mem.get, mem.ancestors, lambda name: mem.vouch(name, by="gardener")):
        with pytest.raises(AmbiguousId) as refused:
            call(both[0].content_hash)
        assert all(memory.id in str(refused.value) for memory in both)
    assert mem.as_caller(user="ana").get(cid_of(BUDS)).id == both[1].id, "nobody is shown what they may not read"
    with pytest.raises(NotFound):
        mem.as_caller(user="ben").get(cid_of(BUDS))
    mem.erase(id=both[1].id)
    assert mem.get(cid_of(BUDS)).id == both[0].id


def test_a_list_is_filtered_by_where_a_memory_comes_from(mem: Any, slope: dict[str, Any]) -> None:
    assert contents(mem, author="m-1") == contents(mem, author="Moss") == {BUDS}
    assert contents(mem, author="iris") == {NORTH, BEES}
    assert contents(mem, author=["m-1", "iris"]) == {BUDS, NORTH, BEES}
    assert contents(mem, content_hash=cid_of(BEES)) == {BEES}
    assert contents(mem, parent=slope["buds"].content_hash) == contents(mem, parent=cid_of(BUDS)) == {NORTH}
    assert contents(mem, voucher="gardener") == {BUDS} and contents(mem, voucher="iris") == set()
    assert contents(mem, confidence_min=0.4) == {BUDS, NORTH} and contents(mem, confidence_min=0.41) == {BUDS}
    assert contents(mem, author="iris", confidence_min=0.1) == {NORTH}
    mem.withdraw_vouch(slope["buds"].id, by="gardener")
    assert contents(mem, voucher="gardener") == set()


def test_a_new_version_counts_the_old_one_as_its_parent(mem: Any) -> None:
    old = mem.add("The shed key hangs on the left hook.", **LAB).memory
    new = mem.update(old.id, "The shed key hangs on the right hook.").memory
    assert contents(mem, parent=old.content_hash) == {new.content}
    mem.erase(id=old.id)
    assert contents(mem, parent=old.content_hash) == set()


@every_row(
    ("filters", "expected"),
    [
        ({"author": "m-1"}, {BUDS}),
        ({"content_hash": cid_of(BEES)}, {BEES}),
        ({"parent": cid_of(BUDS)}, {NORTH}),
        ({"voucher": "gardener"}, {BUDS}),
        ({"confidence_min": 0.4}, {BUDS, NORTH}),
    ],
)
def test_a_query_is_filtered_in_the_store_and_so_is_one_of_the_past(
    mem: Any, slope: dict[str, Any], filters: dict[str, Any], expected: set[str]
) -> None:
    """As many are asked for as fit: were the best ones found first and filtered afterwards, some of these would be missing."""

    def found(asked: Any, **more: Any) -> set[str]:
        asking = {"owner": "lab", "top_k": len(expected), **more}
        return {item.memory.content for item in asked.query("north slope", **asking).items}

    assert found(mem, top_k=3) == {BUDS, NORTH, BEES}
    assert found(mem, filters=filters) == expected
    assert found(mem.as_of(tick=99), filters=filters) == expected


def test_a_filter_that_makes_no_sense_is_named(mem: Any) -> None:
    for name, value in (("parent", "abc"), ("content_hash", "b" * 59), ("confidence_min", 2), ("author", 7)):
        with pytest.raises(BadInput) as refused:
            mem.list(**{name: value})
        assert refused.value.field == name
