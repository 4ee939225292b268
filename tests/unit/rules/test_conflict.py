"""Who wins: every policy, every step of the order, and what may update whom."""

import pytest

from recollect.model.policy import Conflict
from recollect.model.vocabulary import Authority, Change, EventType, Source
from recollect.rules.identity.decision import Claim, may_update, settle
from rows import every_row

SYSTEM, TOOL, USER, AI = Authority


def claim(
    authority: Authority = USER,
    *,
    source: Source = Source.USER,
    event_type: EventType = EventType.FACT,
    importance: int = 2,
    tick: int = 1,
    change: Change | None = None,
) -> Claim:
    return Claim(authority, source, event_type, importance, tick, change)


CORRECTION = {"event_type": EventType.CORRECTION}


@every_row(
    ("incumbent", "newcomer", "wins", "rule"),
    [
        (claim(AI), claim(USER, tick=2), True, "authority"),
        (claim(USER), claim(AI, tick=2), False, "authority"),
        (claim(SYSTEM), claim(TOOL, tick=2), False, "authority"),
        (claim(SYSTEM), claim(USER, tick=2, event_type=EventType.CORRECTION), True, "correction"),
        (claim(TOOL), claim(USER, tick=2, change=Change.CORRECTION), True, "correction"),
        (claim(USER), claim(AI, tick=2, event_type=EventType.CORRECTION), False, "authority"),
        (claim(AI), claim(AI, tick=2, event_type=EventType.CORRECTION), True, "correction"),
        (claim(USER, tick=1), claim(USER, tick=2), True, "recency"),
        (claim(USER, tick=3), claim(USER, tick=2), False, "recency"),
        (claim(USER, tick=2, importance=4), claim(USER, tick=2, importance=3), False, "importance"),
        (claim(USER, tick=2, importance=3), claim(USER, tick=2, importance=3), True, "importance"),
    ],
)
def test_authority_then_correction_then_recency_then_importance(
    incumbent: Claim, newcomer: Claim, wins: bool, rule: str
) -> None:
    assert settle(incumbent, newcomer, Conflict()) == (wins, rule)


@pytest.mark.parametrize(
    ("incumbent", "newcomer", "wins", "rule"),
    [
        (claim(USER, **CORRECTION), claim(USER, tick=2), False, "correction"),
        (claim(USER, **CORRECTION), claim(USER, tick=2, **CORRECTION), True, "recency"),
        (claim(USER), claim(USER, tick=2, **CORRECTION), True, "correction"),
        (claim(SYSTEM, **CORRECTION), claim(USER, tick=2, **CORRECTION), True, "correction"),
        (claim(AI, **CORRECTION), claim(USER, tick=2), True, "authority"),
        (claim(USER), claim(USER, tick=2, importance=1), True, "recency"),
    ],
)
def test_a_correction_may_stand_against_what_is_only_newer(
    incumbent: Claim, newcomer: Claim, wins: bool, rule: str
) -> None:
    assert settle(incumbent, newcomer, Conflict(corrections_stand=True)) == (wins, rule)


def test_manual_always_waits() -> None:
    assert settle(claim(AI), claim(SYSTEM, tick=9), Conflict(policy="manual")) == (False, "manual")


def test_latest_wins_does_what_it_says() -> None:
    assert settle(claim(SYSTEM), claim(AI, tick=2), Conflict(policy="latest_wins")) == (True, "latest_wins")
    assert may_update(claim(SYSTEM), claim(AI, tick=2), Conflict(policy="latest_wins")).newcomer_wins


@pytest.mark.parametrize(
    ("old", "new", "wins"),
    [
        (Source.IMPORT, Source.USER, True),
        (Source.USER, Source.IMPORT, False),
        (Source.OPERATOR, Source.USER, False),
        (Source.USER, Source.USER, True),
    ],
)
def test_source_priority(old: Source, new: Source, wins: bool) -> None:
    policy = Conflict(policy="source_priority")
    assert settle(claim(source=old), claim(source=new, tick=2), policy).newcomer_wins is wins


@pytest.mark.parametrize(
    ("incumbent", "newcomer", "wins"),
    [
        (claim(USER), claim(USER, tick=2), True),
        (claim(USER), claim(AI, tick=2), False),
        (claim(AI), claim(USER, tick=2), True),
        (claim(SYSTEM), claim(USER, tick=2, event_type=EventType.CORRECTION), True),
        (claim(SYSTEM), claim(AI, tick=2, event_type=EventType.CORRECTION), False),
    ],
)
def test_an_update_from_below_waits(incumbent: Claim, newcomer: Claim, wins: bool) -> None:
    assert may_update(incumbent, newcomer, Conflict()).newcomer_wins is wins
    assert may_update(incumbent, newcomer, Conflict(policy="manual")).newcomer_wins is wins


def test_the_order_is_the_policy_s() -> None:
    upside_down = Conflict(authority_order=tuple(reversed(Authority)))
    assert settle(claim(SYSTEM), claim(AI, tick=2), upside_down) == (True, "authority")
