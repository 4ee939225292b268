"""The stretches of time that questions name, and how near to them a memory is."""

import re
from datetime import UTC, datetime, timedelta
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.rules.language.text import words
from recollect.rules.time import named_times
from recollect.rules.time.times import MAX_TIMES, TALK_DAYS, Span, nearness, read_times
from rows import every_row

ASKED = datetime(2023, 10, 22, 9, 55, tzinfo=UTC)  # a Sunday


EVER, NOW_ON = "0001-01-01", "9999-12-31"


def days(question: str, asked_at: datetime = ASKED) -> list[tuple[str, str]]:
    return [(str(span.start.date()), str(span.end.date())) for span in read_times(question, asked_at).spans]


@every_row(
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


WEDNESDAY = datetime(2026, 5, 20, 10, tzinfo=UTC)


@every_row(
    ("words", "start", "end"),
    [
        # days, and parts of a day
        ("today", "2026-05-20", "2026-05-21"),
        ("this morning", "2026-05-20", "2026-05-21"),
        ("tonight", "2026-05-20", "2026-05-21"),
        ("last night", "2026-05-19", "2026-05-20"),
        ("the day before yesterday", "2026-05-18", "2026-05-19"),
        ("on Friday, 3 April 2026", "2026-04-03", "2026-04-04"),
        ("on 2026-03-05", "2026-03-05", "2026-03-06"),
        ("last Friday", "2026-05-15", "2026-05-16"),
        ("this Friday", "2026-05-22", "2026-05-23"),
        ("yesterday morning", "2026-05-19", "2026-05-20"),
        ("on the 5th", "2026-05-05", "2026-05-06"),
        ("since the 5th", "2026-05-05", NOW_ON),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("on March 5, 2025", "2025-03-05", "2025-03-06"),
        ("on 5.3.2025", "2025-03-05", "2025-03-06"),
        ("on 03/05/2025", "2025-03-05", "2025-03-06"),
        ("on 13/05/2025", "2025-05-13", "2025-05-14"),
        ("on Christmas Eve", "2025-12-24", "2025-12-25"),
        # weeks and weekends
        ("this week", "2026-05-18", "2026-05-25"),
        ("last weekend", "2026-05-16", "2026-05-18"),
        ("this weekend", "2026-05-23", "2026-05-25"),
        ("two weekends ago", "2026-05-09", "2026-05-11"),
        ("the week of 5 May", "2026-05-04", "2026-05-11"),
        ("in the second week of April", "2026-04-08", "2026-04-15"),
        ("in the last week of March 2026", "2026-03-25", "2026-04-01"),
        ("the first weekend of May", "2026-05-02", "2026-05-04"),
        ("the last weekend of April", "2026-04-25", "2026-04-27"),
        ("the first Monday of March", "2026-03-02", "2026-03-03"),
        ("the last Monday in March", "2026-03-30", "2026-03-31"),
        ("in the first week of last month", "2026-04-01", "2026-04-08"),
        ("on the last day of March 2025", "2025-03-31", "2025-04-01"),
        ("in the last week of 2025", "2025-12-25", "2026-01-01"),
        # months, quarters, seasons, years, holidays
        ("this month", "2026-05-01", "2026-06-01"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("last May", "2025-05-01", "2025-06-01"),
        ("last March", "2026-03-01", "2026-04-01"),
        ("in march", "2026-03-01", "2026-04-01"),
        ("in Mar 2026", "2026-03-01", "2026-04-01"),
        ("in Q1 2026", "2026-01-01", "2026-04-01"),
        ("in Q4", "2025-10-01", "2026-01-01"),
        ("in the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("last quarter", "2026-01-01", "2026-04-01"),
        ("this quarter", "2026-04-01", "2026-07-01"),
        ("last spring", "2025-03-01", "2025-06-01"),
        ("this spring", "2026-03-01", "2026-06-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("this winter", "2025-12-01", "2026-03-01"),
        ("in the summer of 2021", "2021-06-01", "2021-09-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("last Christmas", "2025-12-25", "2025-12-26"),
        ("earlier this year", "2026-01-01", "2027-01-01"),
        ("since last summer", "2025-06-01", NOW_ON),
        ("around Christmas 2024", "2024-12-22", "2024-12-29"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("in the 2010s", "2010-01-01", "2020-01-01"),
        ("in the nineties", "1990-01-01", "2000-01-01"),
        ("in the '90s", "1990-01-01", "2000-01-01"),
        ("in the twenties", "2020-01-01", "2030-01-01"),
        # a finer name within a coarser one
        ("in March last year", "2025-03-01", "2025-04-01"),
        ("in march last year", "2025-03-01", "2025-04-01"),
        ("in March of last year", "2025-03-01", "2025-04-01"),
        ("last year in March", "2025-03-01", "2025-04-01"),
        ("in January last year", "2025-01-01", "2025-02-01"),
        ("in March two years ago", "2024-03-01", "2024-04-01"),
        ("in December this year", "2026-12-01", "2027-01-01"),
        ("on 5 March last year", "2025-03-05", "2025-03-06"),
        ("on 31 December last year", "2025-12-31", "2026-01-01"),
        ("in the first week of March last year", "2025-03-01", "2025-03-08"),
        ("on the 5th of last month", "2026-04-05", "2026-04-06"),
        ("on Monday last week", "2026-05-11", "2026-05-12"),
        ("last week on Monday", "2026-05-11", "2026-05-12"),
        ("last week Monday", "2026-05-11", "2026-05-12"),
        ("on Sunday last week", "2026-05-17", "2026-05-18"),
        ("on Tuesday two weeks ago", "2026-05-05", "2026-05-06"),
        ("on Friday this week", "2026-05-22", "2026-05-23"),
        ("in spring last year", "2025-03-01", "2025-06-01"),
        ("last year's summer", "2025-06-01", "2025-09-01"),
        ("in January last winter", "2026-01-01", "2026-02-01"),
        ("in the fall last year", "2025-09-01", "2025-12-01"),
        ("in Q3 last year", "2025-07-01", "2025-10-01"),
        ("last year at work, in Sept 2025", "2025-09-01", "2025-10-01"),
        # of which there are several in it
        ("on a Monday in March", "2026-03-01", "2026-04-01"),
        ("on a Monday last year", "2025-01-01", "2026-01-01"),
        ("at Christmas in the nineties", "1990-01-01", "2000-01-01"),
        # a part of it
        ("early in March", "2026-03-01", "2026-03-11"),
        ("in mid-April 2025", "2025-04-11", "2025-04-21"),
        ("in mid-2025", "2025-05-02", "2025-09-01"),
        ("late last year", "2025-09-01", "2026-01-01"),
        ("at the end of last month", "2026-04-21", "2026-05-01"),
        ("since early March", "2026-03-01", NOW_ON),
        ("late last night", "2026-05-19", "2026-05-20"),
        # yet to come
        ("tomorrow", "2026-05-21", "2026-05-22"),
        ("by next Friday", "2026-05-22", "2026-05-23"),
        ("this coming Friday", "2026-05-22", "2026-05-23"),
        ("next week", "2026-05-25", "2026-06-01"),
        ("on Monday next week", "2026-05-25", "2026-05-26"),
        ("next March", "2027-03-01", "2027-04-01"),
        ("next summer", "2026-06-01", "2026-09-01"),
        ("this December", "2026-12-01", "2027-01-01"),
        ("two weeks from today", "2026-05-31", "2026-06-07"),
        # counted from now
        ("twenty days ago", "2026-04-30", "2026-05-01"),
        ("twenty-one days ago", "2026-04-29", "2026-04-30"),
        ("a few days ago", "2026-05-15", "2026-05-19"),
        ("a fortnight ago", "2026-05-04", "2026-05-11"),
        ("half a year ago", "2025-11-01", "2025-12-01"),
        ("two Mondays ago", "2026-05-11", "2026-05-12"),
        ("the week before last", "2026-05-04", "2026-05-11"),
        ("the weekend before last", "2026-05-09", "2026-05-11"),
        ("the month before last", "2026-03-01", "2026-04-01"),
        ("this time last year", "2025-05-01", "2025-06-01"),
        ("a couple of weeks ago", "2026-05-04", "2026-05-11"),
        ("five years ago", "2021-01-01", "2022-01-01"),
        ("in the last two weeks", "2026-05-06", "2026-05-21"),
        ("over the past month", "2026-04-20", "2026-05-21"),
        ("the last 3 days", "2026-05-17", "2026-05-21"),
        # counted from a time
        ("two weeks before 14 March 2026", "2026-02-25", "2026-03-04"),
        ("three days after 1 May 2026", "2026-05-04", "2026-05-05"),
        ("two months before March 2026", "2026-01-01", "2026-02-01"),
        ("a year after 2020", "2021-01-01", "2022-01-01"),
        ("the week before 16 November 2025", "2025-11-09", "2025-11-16"),
        ("the month after March", "2026-04-01", "2026-05-01"),
        ("the weekend before 5 May 2026", "2026-05-02", "2026-05-04"),
        ("the weekend after 5 May 2026", "2026-05-09", "2026-05-11"),
        ("two weeks before Christmas", "2025-12-08", "2025-12-15"),
        ("two weeks before the big meeting on 14 March 2026", "2026-02-25", "2026-03-04"),
        ("the Sunday before 14 March 2026", "2026-03-08", "2026-03-09"),
        ("the Friday after 14 March 2026", "2026-03-20", "2026-03-21"),
        # with one end
        ("before March 2026", EVER, "2026-03-01"),
        ("before the meeting on 14 March 2026", EVER, "2026-03-14"),
        ("until 5 May", EVER, "2026-05-06"),
        ("since March", "2026-03-01", NOW_ON),
        ("since the 3rd of May", "2026-05-03", NOW_ON),
        ("after 3 May 2026", "2026-05-04", NOW_ON),
        ("after his trip in August 2025", "2025-08-01", NOW_ON),
        # with two ends
        ("between March and May 2026", "2026-03-01", "2026-06-01"),
        ("between march and may 2025", "2025-03-01", "2025-06-01"),
        ("between November and February", "2025-11-01", "2026-03-01"),
        ("from 3 to 9 July 2025", "2025-07-03", "2025-07-10"),
        ("from last week to yesterday", "2026-05-11", "2026-05-20"),
        ("from Monday to Wednesday", "2026-05-11", "2026-05-14"),
        ("March–May 2025", "2025-03-01", "2025-06-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("from March last year to May", "2025-03-01", "2026-06-01"),
        ("between last week and next Friday", "2026-05-11", "2026-05-23"),
    ],
)
def test_each_way_to_name_a_time_is_read(words: str, start: str, end: str) -> None:
    assert days(f"What did Ana do {words}?", WEDNESDAY) == [(start, end)]


@every_row(
    "question",
    [
        "What does Ana like?",
        "What may she like?",
        "May I ask what she likes?",
        "Did they march for it?",
        "How many days a week do I work?",
        "What is the name of his one-year-old child?",
        "How many weeks did it take?",
        "What does she do every Sunday?",
        "What does she want for Christmas?",
        "Did the prices fall?",
        "What can I get for $2000?",
        "What happened on 31 February 2026?",
        "What happened on the 31st of February last year?",
        "What happened on 29 February 2025?",
        "Did the sun shine?",
        "Did they march on?",
        "Does she buy second-hand?",
        "When was the last time?",
        "Who painted the last supper?",
        "Who came on the first day?",
        "Will she be famous one day?",
        "Was it done in no time?",
        "Are they open 24/7?",
        "What is in his top 10?",
        "Does it need version 2019?",
        "Who lives on the 5th floor?",
        "Is he in his nineties?",
        "Did we meet at Jan's?",
        "",
    ],
)
def test_a_question_without_a_time_names_none(question: str) -> None:
    assert days(question) == []


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Where was she two weeks before 14 March?", "Where was she two weeks before ?"),
        ("Where was she the Sunday before 14 March?", "Where was she the Sunday before ?"),
        ("Where was she on 14 March?", "Where was she on 14 March?"),
        ("Where was she since March?", "Where was she since March?"),
    ],
)
def test_a_time_that_is_only_counted_from_is_not_looked_for(question: str, rest: str) -> None:
    assert read_times(question, ASKED).rest == rest


def test_where_a_date_is_given_what_is_said_from_there_is_not_seen_from_now() -> None:
    assert days("What worried her last week, as she said on 6 October 2023?") == [("2023-10-06", "2023-10-07")]


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        ("in 2019 and 2020", ["2019-01-01", "2020-01-01"]),
        ("in March and April last year", ["2025-03-01", "2025-04-01"]),
        ("on Monday and on Tuesday last week", ["2026-05-11", "2026-05-12"]),
        ("in March, April or May 2021", ["2021-03-01", "2021-04-01", "2021-05-01"]),
    ],
)
def test_what_is_listed_is_of_the_same_year_or_week(words: str, starts: list[str]) -> None:
    assert [start for start, _ in days(f"What did Ana do {words}?", WEDNESDAY)] == starts


@pytest.mark.parametrize("question", ["Did the prices fall last year?", "Where did I meet Jan last year?"])
def test_a_verb_or_a_person_is_no_part_of_a_year(question: str) -> None:
    assert days(question, WEDNESDAY) == [("2025-01-01", "2026-01-01")]


@every_row("year", [1, 1099, 1100, 1101, 7999, 8000, 9999])
@every_row("when", ["999 years before", "999 years after", "the week before", "around", "in March"])
def test_wherever_in_the_calendar_it_is_asked_nothing_fails(year: int, when: str) -> None:
    asked_at = datetime(year, 12, 31, 23, tzinfo=UTC)
    for time in ("999 years ago", "last March", "next winter", "Monday last week", "the early nineties", "next year"):
        assert len(days(f"What happened {when} {time}?", asked_at)) <= 2


def test_the_last_day_of_a_number_may_be_in_the_month_before() -> None:
    asked_at = datetime(2026, 5, 3, 10, tzinfo=UTC)
    assert days("What did Ana do on the 5th?", asked_at) == [("2026-04-05", "2026-04-06")]
    assert days("What did Ana do on the 31st?", asked_at) == [("2026-03-31", "2026-04-01")]


def test_two_times_are_two_stretches() -> None:
    assert days("What happened on 3 June, 2023 and on 9 July, 2023?") == [
        ("2023-06-03", "2023-06-04"),
        ("2023-07-09", "2023-07-10"),
    ]


PIECES = st.sampled_from(
    "in on last ago 99999999 0 999 years weeks weekend 31 February may 2023 2099 1900 Aug 15th : / - , ' \x00 🗓 before"
    " after since between from to and of the first quarter Q1 winter this Sunday Christmas two next early around half a"
    " year month 5th 1990s".split()
)


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=12))
def test_any_question_can_be_read(pieces: list[str]) -> None:
    for span in read_times(" ".join(pieces), ASKED).spans:
        assert span.start < span.end


def test_of_a_text_full_of_dates_only_the_first_few_are_read() -> None:
    assert len(days(", ".join(f"3 June {year}" for year in range(2000, 2023)))) <= MAX_TIMES


@every_row(
    "piece",
    [
        *["a ", "two weeks before the ", "the a b c on ", "between 3 and ", "1/", "this last ", "20"],
        *["first week of ", "may ", "the 5th ", "early in the ", "twenty-", "Monday last week of "],
    ],
)
def test_a_long_question_takes_time_in_proportion(piece: str) -> None:
    """Each step costs a bounded number of tries: a hundred thousand characters are read in less than a second,
    and a tired machine gets five."""
    start = perf_counter()
    read_times(piece * (100_000 // len(piece)), ASKED)
    assert perf_counter() - start < 5.0


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


WAYS = [re.compile(pattern, re.IGNORECASE) for kind, pattern in named_times._PATTERNS.items() if kind != "nth"]
"""But for "the first week": that is a time only within another one."""


@given(st.sampled_from(WAYS).flatmap(lambda way: st.from_regex(way, fullmatch=True)))
def test_every_way_to_name_a_time_has_a_telltale(text: str) -> None:
    """Or it would not be looked for where the text has none."""
    assert not named_times._TELLTALE.isdisjoint(words(text)) or named_times._DIGIT.search(text)
