"""What counts as a change, which changes are shown first, how far that brings a thread, and what a line may hold."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.model.ledger import RULES_VERSION, Entry, Event
from recollect.model.vocabulary import Status
from recollect.rules.prompt.change_header import (
    MAX_LINES,
    Change,
    ChangeHeader,
    ChangeLine,
    Sign,
    advance_cursor,
    choose,
    choose_oldest,
    label_of,
    net_sign,
    sign_of,
    without_copies,
)
from rows import every_row


def entry(event: str, before: str | None, after: str | None, other: str | None = None) -> Entry:
    return Entry("s", 1, 1, Event(event), "m", other, before, after, "rule", RULES_VERSION, None, "a", "t", "0")


@every_row(
    ("happened", "sign"),
    [
        (entry("stored", None, "active"), "+created"),
        (entry("stored", None, "active", "old"), "↑updated"),
        (entry("stored", None, "pending"), None),
        (entry("contradicted", None, "contradictory", "other"), None),
        (entry("resolved", "contradictory", "active", "old"), "↑updated"),
        (entry("resolved", "contradictory", "active"), "+created"),
        (entry("resolved", "contradictory", "archived"), None),
        (entry("superseded", "active", "superseded", "new"), None),
        (entry("edited", "active", "active"), "↑updated"),
        (entry("edited", "archived", "archived"), None),
        (entry("consolidated", "active", "redundant", "best"), "↔merged"),
        (entry("archived", "active", "archived"), "−deleted"),
        (entry("archived", "contradictory", "archived"), None),
        (entry("forgotten", "active", "soft_deleted"), "↓soft_deleted"),
        (entry("forgotten", "archived", "soft_deleted"), None),
        (entry("expired", "active", "soft_deleted"), "↓soft_deleted"),
        (entry("restored", "soft_deleted", "active"), "↺restored"),
        (entry("reinforced", "active", "active"), None),
        (entry("linked", "active", "active", "other"), None),
        (entry("unlinked", "active", "active", "other"), None),
        (entry("rekeyed", "active", "active"), None),
        (entry("purged", "soft_deleted", "soft_deleted"), "−deleted"),
        (entry("erased", "active", "active"), "−deleted"),
        (entry("erased", "soft_deleted", "soft_deleted"), "−deleted"),
        (entry("erased", "superseded", "superseded"), None),
        (entry("erased", "archived", "archived"), None),
        (entry("phase_started", None, None), None),
    ],
)
def test_a_change_is_what_changes_what_is_recalled(happened: Entry, sign: str | None) -> None:
    assert sign_of(happened) == sign


def test_every_event_is_either_a_change_or_none() -> None:
    for event in Event:
        assert sign_of(entry(event, "active", "active")) in (None, *Sign)


@every_row(
    ("signs", "status", "told"),
    [
        ("+created ↑updated", "active", "+created"),
        ("↑updated ↑updated", "active", "↑updated"),
        ("↓soft_deleted ↺restored", "active", "↺restored"),
        ("↺restored ↑updated", "active", "↺restored"),
        ("↔merged", "active", "↔merged"),
        ("↔merged ↑updated", "active", "↑updated"),
        ("+created ↔merged", "active", "+created"),
        ("+created", "superseded", None),
        ("+created", "contradictory", None),
        ("+created ↓soft_deleted", "soft_deleted", None),
        ("↺restored −deleted", "archived", None),
        ("↑updated −deleted", "archived", "−deleted"),
        ("↔merged", "redundant", "↔merged"),
        ("−deleted", None, "−deleted"),
        ("+created −deleted", None, None),
        ("↓soft_deleted", "active", None),
        ("↑updated", "soft_deleted", None),
    ],
)
def test_what_happened_comes_to_what_holds_now(signs: str, status: str | None, told: str | None) -> None:
    assert net_sign([Sign(sign) for sign in signs.split()], Status(status) if status else None) == told


def test_a_copy_in_another_stream_is_no_second_line() -> None:
    one, two = (change(1, stream=stream)._replace(content_hash="same") for stream in (1, 2))
    (told,) = without_copies([one, two._replace(sign=Sign.UPDATED)])
    assert told.sign is Sign.UPDATED and told.places == ((2, 1), (1, 1))
    assert len(without_copies([one, one._replace(seq=2, places=((1, 2),))])) == 2, "two memories of one stream"


def change(seq: int, importance: int = 2, *, at: str = "", pinned: bool = False, stream: int = 1) -> Change:
    return Change(stream, seq, at or f"{seq:03}", Sign.CREATED, f"m{seq}", importance, pinned, ((stream, seq),))


def seqs(changes: tuple[Change, ...]) -> list[int]:
    return [one.seq for one in changes]


def test_the_most_important_come_first_then_the_pinned_then_the_oldest() -> None:
    pending = [change(1), change(2, 5), change(3), change(4, pinned=True), change(5, 3)]
    shown, waiting, until = choose(pending, "")
    assert (seqs(shown), seqs(waiting)) == ([2, 5, 4], [1, 3])
    assert until == "005", "all of them are this round"


def test_what_waits_is_shown_before_what_came_later_however_important() -> None:
    first = choose([change(seq) for seq in range(1, 6)], "")
    second = choose([*first.waiting, change(6, 5), change(7, 5)], first.round_until)
    assert (seqs(second.shown), seqs(second.waiting)) == ([4, 5, 6], [7])


def test_nothing_waits_for_ever() -> None:
    """Four important changes come between any two looks; the dull one is shown at the second all the same."""
    first = choose([change(1, 1), *(change(number, 5, stream=2) for number in range(2, 6))], "")
    assert 1 in seqs(first.waiting)
    second = choose([*first.waiting, *(change(number, 5, stream=2) for number in range(6, 10))], first.round_until)
    assert 1 in seqs(second.shown)


CHANGES = st.lists(
    st.builds(change, st.integers(1, 40), st.integers(1, 5), pinned=st.booleans(), stream=st.integers(1, 3)),
    unique_by=lambda one: (one.stream, one.seq),
)


@given(CHANGES, st.integers(0, 45))
def test_each_is_shown_or_waits_and_nothing_is_passed_over(pending: list[Change], until: int) -> None:
    shown, waiting, after = choose(pending, f"{until:03}")
    assert sorted([*shown, *waiting]) == sorted(pending)
    assert len(shown) == min(MAX_LINES, len(pending))
    assert after >= f"{until:03}"
    in_round = [one for one in pending if one.at <= f"{until:03}"]
    assert len([one for one in shown if one in in_round]) == min(MAX_LINES, len(in_round))
    for here in shown:
        assert all(
            there.importance <= here.importance for there in waiting if (there in in_round) == (here in in_round)
        )


@given(st.lists(CHANGES, min_size=1, max_size=6))
def test_whatever_keeps_coming_everything_is_shown_once(batches: list[list[Change]]) -> None:
    until = ""
    pending: list[Change] = []
    shown: list[Change] = []
    everything: list[Change] = []
    for number, batch in enumerate(batches):
        fresh = [one._replace(seq=one.seq + 100 * number, at=f"{one.seq + 100 * number:03}") for one in batch]
        everything += fresh
        choice = choose([*pending, *fresh], until)
        pending, until = list(choice.waiting), choice.round_until
        shown += choice.shown
    while pending:
        choice = choose(pending, until)
        pending, until = list(choice.waiting), choice.round_until
        shown += choice.shown
    assert sorted(shown) == sorted(everything)


def test_a_reader_without_memory_gets_the_oldest_the_best_of_them_first() -> None:
    shown, waiting, _ = choose_oldest([change(4, 5), change(1), change(3, 4), change(2)])
    assert (seqs(shown), seqs(waiting)) == ([3, 1, 2], [4])


@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)))
def test_a_cursor_loses_nothing_and_repeats_nothing(waiting: set[int], shown: set[int]) -> None:
    shown -= waiting
    seq, ahead = advance_cursor(30, waiting, shown)
    assert {one for one in range(1, 31) if one > seq and one not in ahead} >= waiting
    assert {one for one in shown if one > seq} == set(ahead)
    assert list(ahead) == sorted(ahead)
    assert seq == 30 if not waiting else seq + 1 == min(waiting)


def line(sign: Sign, content: str, **fields: Any) -> ChangeLine:
    plain: dict[str, Any] = {"memory_id": "m", "label": "personal", "importance": 2, "at": "t"}
    return ChangeLine(sign=sign, content=content, **{**plain, **fields})


def test_the_header_reads_as_it_should() -> None:
    lines = (
        line(Sign.CREATED, "Preferred name is Ana"),
        line(Sign.UPDATED, "Ship v1 by Sep", label="goals"),
        line(Sign.MERGED, "Combined 2 notes: Lactose intolerant", label="health"),
    )
    assert ChangeHeader(4, 7, lines).text == (
        "Memory updates since rev 4:\n"
        "- +created: [personal] Preferred name is Ana (imp=2)\n"
        "- ↑updated: [goals] Ship v1 by Sep\n"
        "- ↔merged: [health] Combined 2 notes: Lactose intolerant"
    )
    assert ChangeHeader(4, 7, lines, 2).text.startswith("Memory updates since rev 4 (+2 more):\n")
    assert ChangeHeader(4, 7, lines, 1997, True).text.startswith("Memory updates since rev 4 (+at least 1,997 more):\n")


def test_without_changes_there_is_no_header() -> None:
    assert ChangeHeader(4, 4).text == ""
    assert ChangeHeader(4, 4).to_dict() == {"since": 4, "rev": 4, "lines": [], "more": 0, "at_least": False}


def test_a_category_cannot_close_its_bracket() -> None:
    assert label_of("general] Ana said so [x") == "general］ Ana said so ［x"
    assert label_of("goals", "ai") == "ai: goals"
