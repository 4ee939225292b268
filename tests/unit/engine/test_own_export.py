"""A person's own export: it is one person's, and importing it where it comes from changes nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect

SAID = "I live in Porto and I am allergic to peanuts."
EVERYWHERE = {"owner": None, "space": ["user", "session"], "limit": 100, "status": None}


@pytest.fixture
def mem(place: Any) -> Iterator[Any]:
    with recollect.open(place) as opened:
        yield opened


def contents(mem: Any) -> list[tuple[str, str, str]]:
    return sorted((one.space, one.canonical_key, one.content) for one in mem.list(**EVERYWHERE).items)


@pytest.mark.parametrize("owner", [None, "ana"])
def test_importing_it_where_it_comes_from_doubles_nothing(mem: Any, owner: str | None) -> None:
    mem.turn(session="s1", owner=owner, user=SAID, ai="Noted")
    before = contents(mem)
    lines = list(mem.export(owner=owner or "default"))
    assert len(lines) == len(before), "the sessions are in it"
    for options in ({"owner": owner}, {"believe": ["place"]}):
        mem.import_(lines, **options)
        assert contents(mem) == before, options


def test_sessions_in_it_are_the_persons_and_no_second_owner(mem: Any) -> None:
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted")
    lines = list(mem.export(owner="ana"))
    assert mem.as_caller(user="ana").import_(lines).outcomes.keys() <= {"already_there", "reinforced"}
    mem.turn(session="s2", owner="ben", user="I live in Faro.", ai="Noted")
    both = [*lines, *mem.export(owner="ben")]
    with pytest.raises(recollect.BadInput, match="several owners"):
        mem.import_(both)
    with pytest.raises(recollect.BadInput, match="bound to 'ana'"):
        mem.as_caller(user="ana").import_(both)


def test_several_facts_of_one_field_stay_apart_elsewhere(mem: Any) -> None:
    for text in ("I am allergic to peanuts.", "I am allergic to cats."):
        mem.turn(session="s1", owner="ana", user=text, ai="Noted")
    lines = [line for line in mem.export(owner="ana") if '"space":"user"' in line.replace('": "', '":"')]
    with recollect.open(":memory:") as elsewhere:
        elsewhere.import_(lines, owner="ana")
        found = {one.content for one in elsewhere.list(owner="ana").items}
    assert {"The user is allergic to peanuts.", "The user is allergic to cats."} <= found
