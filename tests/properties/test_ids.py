"""Ids as people type them: whole, short, in capitals, without dashes, or by the name they had elsewhere."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from recollect.interfaces.python import Recollect
from recollect.model.errors import AmbiguousId, NotFound
from recollect.model.record import Memory
from support.script import open_seeded

MANY = 700


@pytest.fixture(scope="module")
def mem() -> Iterator[Recollect]:
    with open_seeded(seed=5) as opened:
        notes = [{"content": f"Note number {n}", "owner": "ana", "kind": "episodic"} for n in range(MANY)]
        opened.add_many(notes)
        opened.add("Ben plays the violin", owner="ben", aliases=["ticket-7", "100 %"])
        yield opened


def _all(mem: Recollect) -> list[Memory]:
    return list(mem.list(limit=1_000).items)


def test_every_memory_is_found_by_every_form_of_its_id(mem: Recollect) -> None:
    for memory in _all(mem)[::50]:
        bare = memory.id.replace("-", "")
        for form in (memory.id, memory.id.upper(), bare, bare.upper(), memory.short_id, bare[:16], memory.id[:14]):
            assert mem.get(form).id == memory.id, form


def test_a_short_id_has_twelve_digits(mem: Recollect) -> None:
    assert all(
        len(memory.short_id) == 12 and memory.id.replace("-", "").startswith(memory.short_id) for memory in _all(mem)
    )


def test_an_ambiguous_beginning_names_those_that_it_fits(mem: Recollect) -> None:
    alike: dict[str, list[str]] = defaultdict(list)
    for memory in _all(mem):
        alike[memory.id[:4]].append(memory.id)
    start, ids = max(alike.items(), key=lambda pair: len(pair[1]))
    assert len(ids) > 1, "with this seed two memories begin alike"
    with pytest.raises(AmbiguousId) as caught:
        mem.get(start)
    assert caught.value.field == "id"
    assert all(id in caught.value.message for id in ids[:5])
    assert caught.value.exit_code == 1


def test_somebody_elses_ids_make_nothing_ambiguous() -> None:
    """For a bound caller a beginning is only as ambiguous as what it may see."""
    with open_seeded(seed=5) as mem:
        for owner in ("ana", "ben"):
            mem.add_many([{"content": f"Note {n}", "owner": owner, "kind": "episodic"} for n in range(MANY)])
        by_start: dict[str, list[Memory]] = defaultdict(list)
        for memory in mem.list(limit=1_000).items + mem.list(owner="ana", limit=1_000).items:
            by_start[memory.id[:4]].append(memory)
        shared = [start for start, found in by_start.items() if {m.owner for m in found} == {"ana", "ben"}]
        for start in shared[:20]:
            own = {m.id for m in by_start[start] if m.owner == "ben"}
            if len(own) == 1:
                assert mem.as_caller(user="ben").get(start).id in own


def test_an_alias_is_taken_literally(mem: Recollect) -> None:
    assert mem.get("ticket-7").owner == "ben"
    assert mem.get("100 %").owner == "ben"
    for near in ("ticket-", "ticket-77", "Ticket-7", "100 _", "ticket-7 "):
        with pytest.raises(NotFound):
            mem.get(near)


@pytest.mark.parametrize("typed", ["", "a", "ab", "abc"])
def test_too_few_digits_name_nothing(mem: Recollect, typed: str) -> None:
    with pytest.raises(NotFound):
        mem.get(typed)


def test_an_alias_may_be_shorter_than_any_part_of_an_id(mem: Recollect) -> None:
    kept = mem.add("Cleo keeps bees", owner="cleo", aliases=["7"]).memory
    assert kept is not None and mem.get("7").id == kept.id


def test_an_alias_of_several_versions_means_the_one_that_holds(mem: Recollect) -> None:
    for city in ("Lisbon", "Porto"):
        mem.add(f"Ana lives in {city}", owner="ana", canonical_key="Ana-Home", aliases=["row-9"])
    assert mem.get("row-9").content == "Ana lives in Porto"
    mem.add("Ben lives in Faro", owner="ben", canonical_key="Ben-Home", aliases=["row-9"])
    with pytest.raises(AmbiguousId):
        mem.get("row-9")
