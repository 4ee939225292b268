"""The stretches of time that questions name, and how near to them a memory is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.rules.times import MAX_TIMES, TALK_DAYS, Span, nearness, spans_in

ASKED = datetime(2023, 10, 22, 9, 55, tzinfo=UTC)  # a Sunday


def days(question: str) -> list[tuple[str, str]]:
    return [(str(span.start.date()), str(span.end.date())) for span in spans_in(question, ASKED)]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did she paint on October 13, 2023?", "2023-10-13", "2023-10-14"),
        ("What did they give him when they met on Aug 15th?", "2023-08-15", "2023-08-16"),
        ("Where did they go in July 2022?", "2022-07-01", "2022-08-01"),
        ("When did she attend a parade in August?", "2023-08-01", "2023-09-01"),
        ("When did she move in December?", "2022-12-01", "2023-01-01"),
        ("What did she find last week?", "2023-10-09", "2023-10-16"),
        ("What certificate did I get last month?", "2023-09-01", "2023-10-01"),
        ("Where did he go last year?", "2022-01-01", "2023-01-01"),
        ("What happened two weeks ago?", "2023-10-02", "2023-10-09"),
        ("What did I eat yesterday?", "2023-10-21", "2023-10-22"),
        ("What happened in 2021?", "2021-01-01", "2022-01-01"),
    ],
)
def test_a_time_in_a_question_is_a_stretch_of_days(question: str, start: str, end: str) -> None:
    assert days(question) == [(start, end)]


@pytest.mark.parametrize(
    "question",
    [
        "What does Ana like?",
        "What may she like?",
        "Did they march for it?",
        "How many days a week do I work?",
        "What is the name of his one-year-old child?",
        "How many weeks did it take?",
        "",
    ],
)
def test_a_question_without_a_time_names_none(question: str) -> None:
    assert days(question) == []


def test_two_times_are_two_stretches() -> None:
    assert days("What changed between 3 June, 2023 and 9 July, 2023?") == [
        ("2023-06-03", "2023-06-04"),
        ("2023-07-09", "2023-07-10"),
    ]


PIECES = st.sampled_from(
    "in on last ago 99999999 0 years weeks 31 February 2023 2099 1900 Aug 15th : / - , ' \x00 🗓 before after and of the".split()
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12))
def test_any_question_can_be_read(pieces: list[str]) -> None:
    for span in spans_in(" ".join(pieces), ASKED):
        assert span.start < span.end


def test_of_a_text_full_of_dates_only_the_first_few_are_read() -> None:
    assert len(days(", ".join(f"3 June {year}" for year in range(2000, 2023)))) <= MAX_TIMES


def test_nearness_fades_after_the_stretch_and_is_nothing_before_it() -> None:
    span = Span(datetime(2023, 8, 1, tzinfo=UTC), datetime(2023, 9, 1, tzinfo=UTC))
    assert nearness(span.start - timedelta(seconds=1), [span]) == 0.0
    assert nearness(span.start, [span]) == 1.0
    assert nearness(span.end + timedelta(days=TALK_DAYS / 2), [span]) == 0.5
    assert nearness(span.end + timedelta(days=TALK_DAYS), [span]) == 0.0
    assert nearness(span.start, []) == 0.0


def test_the_nearest_of_several_stretches_counts() -> None:
    early = Span(datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC))
    late = Span(datetime(2023, 1, 1, tzinfo=UTC), datetime(2023, 2, 1, tzinfo=UTC))
    assert nearness(datetime(2023, 1, 5, tzinfo=UTC), [early, late]) == 1.0
