"""Which spaces a query is about, what closes them, and which of them were only passed over."""

import pytest

from recollect.model.caller import Caller, Right
from recollect.model.vocabulary import Space
from recollect.rules.trust.borders import only_passed_over, read_refusals

ORDER = (Space.SESSION, Space.USER, Space.SYSTEM)
ANA = Caller(tenant="t", user="ana", trusted=False, rights=frozenset({Right.READ}))
NOT_YOURS, NOT_READ = "border:not_your_space", "border:not_in_read_order"


def test_a_plain_question_is_about_every_space_of_the_policy_in_its_order() -> None:
    assert list(read_refusals(ANA, None, None, ORDER).items()) == [
        (Space.SESSION, NOT_YOURS),
        (Space.USER, None),
        (Space.SYSTEM, None),
    ]


def test_named_spaces_are_asked_in_the_policys_order_and_what_it_does_not_read_comes_last() -> None:
    named = [Space.PROJECT, Space.SYSTEM, Space.USER]
    assert list(read_refusals(ANA, None, named, ORDER)) == [Space.USER, Space.SYSTEM, Space.PROJECT]
    assert read_refusals(ANA, None, named, ORDER)[Space.PROJECT] == NOT_READ


def test_somebody_elses_memories_are_refused() -> None:
    assert read_refusals(ANA, "ben", None, ORDER)[Space.USER] == NOT_YOURS
    assert read_refusals(ANA, "ana", None, ORDER)[Space.USER] is None


@pytest.mark.parametrize(
    ("owner", "named", "passed_over"),
    [(None, None, True), ("ana", None, True), ("ben", None, False), (None, [Space.SESSION], False)],
)
def test_a_space_is_passed_over_by_whoever_asks_for_their_own_and_names_none(
    owner: str | None, named: list[Space] | None, passed_over: bool
) -> None:
    refusals = read_refusals(ANA, owner, named, ORDER)
    assert only_passed_over(ANA, owner, named, refusals) is passed_over


def test_whoever_finds_every_space_closed_was_refused() -> None:
    refusals = read_refusals(ANA, None, None, (Space.SESSION,))
    assert refusals == {Space.SESSION: NOT_YOURS}
    assert not only_passed_over(ANA, None, None, refusals)
