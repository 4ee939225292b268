"""Which of those that hold one concept is told, and who gets a place among many guesses."""

from typing import NamedTuple

import pytest

from recollect.model.vocabulary import Authority, Space
from recollect.rules.ranking.selection import Holder, Precedence, make_room_for, shadows

DEFAULT = Precedence(tuple(Authority), (Space.SESSION, Space.USER, Space.SYSTEM), agent="planner")
TEA = Holder("tea", ("fact", "ana-drink"), Authority.USER_ASSERTED, Space.USER, "shared", (1, 1))


def told(first: Holder, second: Holder, precedence: Precedence = DEFAULT, *, one_person: bool = True) -> list[str]:
    """Who is told of two, in whichever order they were found."""
    answers = [shadows(found, precedence, one_person=one_person) for found in ([first, second], [second, first])]
    assert answers[0] == answers[1]
    gone = {id for ids in answers[0].values() for id in ids}
    assert gone.isdisjoint(answers[0])
    return [one.id for one in (first, second) if one.id not in gone]


@pytest.mark.parametrize(
    "better",
    [
        {"authority": Authority.SYSTEM_IMPOSED, "space": Space.SYSTEM},
        {"space": Space.SESSION},
        {"scope": "planner"},
        {"place": (0, 9)},
    ],
)
def test_authority_decides_then_the_space_then_the_own_scope_then_age(better: dict[str, object]) -> None:
    assert told(TEA, TEA._replace(id="other", **{"place": (1, 2), **better})) == ["other"]


def test_authority_comes_before_the_space_and_the_space_before_the_scope() -> None:
    guess_at_hand = {"authority": Authority.AI_INFERRED, "space": Space.SESSION, "scope": "planner"}
    assert told(TEA, TEA._replace(id="other", **guess_at_hand)) == ["tea"]
    assert told(TEA, TEA._replace(id="other", space=Space.SYSTEM, scope="planner")) == ["tea"]


def test_the_policys_orders_count_and_not_those_of_the_names() -> None:
    system = TEA._replace(id="system", authority=Authority.SYSTEM_IMPOSED, space=Space.SYSTEM)
    assert told(TEA, system) == ["system"]
    assert told(TEA, system, DEFAULT._replace(authorities=tuple(reversed(Authority)))) == ["tea"]
    session = TEA._replace(id="session", space=Space.SESSION)
    assert told(TEA, session, DEFAULT._replace(spaces=(Space.USER, Space.SESSION))) == ["tea"]


def test_another_concept_is_never_shadowed() -> None:
    assert told(TEA, TEA._replace(id="other", concept=("procedure", "ana-drink"))) == ["tea", "other"]
    assert told(TEA, TEA._replace(id="other", concept=("fact", "ana-food"))) == ["tea", "other"]


def test_whoever_reads_everybodys_memories_is_told_each_persons_own() -> None:
    bens = TEA._replace(id="bens", authority=Authority.AI_INFERRED, place=(2, 1))
    assert told(TEA, bens, one_person=False) == ["tea", "bens"]
    assert told(TEA, bens, one_person=True) == ["tea"]
    same_stream = bens._replace(place=(1, 2))
    assert told(TEA, same_stream, one_person=False) == ["tea"]


def test_the_one_that_is_told_names_all_others() -> None:
    others = [TEA._replace(id=id, authority=Authority.AI_INFERRED, place=(1, n)) for n, id in enumerate("ba", start=2)]
    assert shadows([*others, TEA], DEFAULT, one_person=True) == {"tea": ("a", "b")}
    assert shadows([TEA], DEFAULT, one_person=True) == {}


class Found(NamedTuple):
    id: str
    is_a_guess: bool = True


GUESSES = [Found(f"guess {n}") for n in range(6)]
SAID = Found("said", is_a_guess=False)


def test_what_is_believed_takes_the_place_of_the_guess_that_matches_least() -> None:
    assert make_room_for(GUESSES, [SAID], 4) == [*GUESSES[:3], SAID, *GUESSES[4:]]


def test_what_is_believed_and_came_later_comes_once() -> None:
    assert make_room_for([*GUESSES, SAID], [SAID], 4) == [*GUESSES[:3], SAID, *GUESSES[4:]]


def test_what_has_a_place_already_keeps_it() -> None:
    found = [SAID, *GUESSES]
    assert make_room_for(found, [SAID], 4) == found
    also = Found("also said", is_a_guess=False)
    assert make_room_for(found, [SAID, also], 4) == [SAID, *GUESSES[:2], also, *GUESSES[3:]]
