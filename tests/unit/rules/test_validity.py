"""From when until when a statement holds, as its plain words say; and the words that look alike and say nothing of the kind."""

from datetime import UTC, datetime

import pytest

from recollect.model.canonical import validity_words
from recollect.rules.time.stretches import Span
from recollect.rules.time.times import covers
from recollect.rules.time.validity import read_end, read_validity, strip_validity
from rows import every_row

NOW = datetime(2026, 5, 20, 10, tzinfo=UTC)


def day(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


@every_row(
    ("text", "start", "end"),
    [
        ("Ana has lived in Porto since 2019", "2019-01-01", None),
        ("Since 2019 Ana lives in Porto", "2019-01-01", None),
        ("Since 2019, she has lived in Porto.", "2019-01-01", None),
        ("I have been vegan since last March", "2026-03-01", None),
        ("We have used Postgres since the 1990s", "1990-01-01", None),
        ("Ana has worked at Globex since 2021-03-15", "2021-03-15", None),
        ("I've been on call since Monday", "2026-05-18", None),
        ("Ana and Ben have lived in Rome since early 2019", "2019-01-01", None),
        ("The office is in Porto from March 2024", "2024-03-01", None),
        ("From March 2024 the office is in Porto", "2024-03-01", None),
        ("The rent is 950 from July on", "2026-07-01", None),
        ("As of June 1 the office is in Porto", "2026-06-01", None),
        ("The price is 20 euros as of January 2025", "2025-01-01", None),
        ("Starting next month Ana works from Porto", "2026-06-01", None),
        ("Ana works from Porto starting next month", "2026-06-01", None),
        ("The new policy applies effective 1 July 2026", "2026-07-01", None),
        ("Ana is on leave until March", None, "2027-03-01"),
        ("Ana is on leave until June 3", None, "2026-06-03"),
        ("Ana is on leave until the end of 2026", None, "2027-01-01"),
        ("The contract runs until the end of March", None, "2027-04-01"),
        ("The freeze lasts through June", None, "2026-07-01"),
        ("No deploys until June 3", None, "2026-06-03"),
        ("Ana lived in Rome until 2021", None, "2021-01-01"),
        ("Ana lived in Rome until March", None, "2026-03-01"),
        ("I had a dog until last year", None, "2025-01-01"),
        ("User was vegetarian for ten years, stopped in 2024", "2014-01-01", "2024-01-01"),
        ("I was vegetarian for ten years and stopped in 2024.", "2014-01-01", "2024-01-01"),
        ("Ana worked at Acme for two years until March 2024", "2022-03-01", "2024-03-01"),
        ("Ana played tennis, but gave up in 2020", None, "2020-01-01"),
        ("Ana lived in Rome between 2015 and 2018", "2015-01-01", "2019-01-01"),
        ("Ana lived in Rome from 2015 to 2018", "2015-01-01", "2019-01-01"),
        ("Between March and May 2024 the office was closed", "2024-03-01", "2024-06-01"),
        ("I was vegetarian in 2012", "2012-01-01", "2013-01-01"),
        ("In 2012 I was vegetarian", "2012-01-01", "2013-01-01"),
        ("The price was 5 million in March 2012", "2012-03-01", "2012-04-01"),
        ("Ana worked at Acme in the 1990s", "1990-01-01", "2000-01-01"),
        ("Ana worked at Acme from May 2023 to June 2025", "2023-05-01", "2025-07-01"),
        ("Ana rented a flat in Graz from 2015 until 2018", "2015-01-01", "2019-01-01"),
        ("User was a member of the choir from 3 May 2023 until 9 June 2025", "2023-05-03", "2025-06-10"),
        ("My visa is valid from May 2023 to June 2027", "2023-05-01", "2027-07-01"),
        ("The lease runs from 1 May 2026 to 30 April 2027", "2026-05-01", "2027-05-01"),
        ("Ana is in Rome from June 3 to June 9", "2026-06-03", "2026-06-10"),
        ("Ana is in Rome from 3 to 9 June", "2026-06-03", "2026-06-10"),
        ("The shop is closed between 3 and 9 June 2026", "2026-06-03", "2026-06-10"),
        ("Ana lived in Rome (2015–2018).", "2015-01-01", "2019-01-01"),
        ("I lived in Rome before 2020", None, "2020-01-01"),
        ("I moved to Porto in 2020", "2020-01-01", None),
        ("In March 2020, I moved to Porto", "2020-03-01", None),
        ("Two years ago Ana moved to Porto", "2024-01-01", None),
        ("The rent was raised to 950 on 3 May 2026", "2026-05-03", None),
        ("I will live in Porto from May 2030", "2030-05-01", None),
    ],
)
def test_words_that_say_how_long_it_holds(text: str, start: str | None, end: str | None) -> None:
    read = read_validity(text, NOW)
    assert (read.start, read.end) == (day(start), day(end))
    assert read.words and read.words.casefold() in text.casefold()


@every_row(
    "text",
    [
        "Since we relocated, I walk to work",
        "Since 2019 was a good year, we celebrate",
        "Since March is coming, buy seeds",
        "Since Friday's release broke it, we roll back",
        "The API is deprecated since version 2019",
        "Wait until the tests pass",
        "Wait until Friday",
        "Don't deploy until March 3",
        "Please hold the release until June 3",
        "We must wait until March 3",
        "The release is postponed until March",
        "Three weeks until March",
        "How long until March?",
        "Was Ana on leave until March?",
        "I did not eat meat until 2021",
        "The bakery never opened until 2021",
        "The meeting is on May 3",
        "The meeting was in March",
        "The course is starting next month",
        "I was born in 1985",
        "The company was founded in 2012",
        "The bridge was built in 2012",
        "Ana visited Rome in 2012",
        "Ana will visit Rome in 2027",
        "User quit jogging in 2020",
        "The report from March 2024 is wrong",
        "I like the photo from 2012",
        "The model was trained on data from 2015 to 2018",
        "The budget is 2024 dollars",
        "As of June 1 there were 500 users",
        "The pool is open from May to September",
        "The shop is open from Monday to Friday",
        "The price went from 2019 to 2022 euros",
        "The difference between 2015 and 2018 is large",
        "Ana is away every year until March",
        "I know a man who lived in Rome until 2021",
        "Ben said that he lived in Rome until 2021",
        "User was married until 2020 and has two children",
        "Ana likes tea and has worked at Acme since 2019",
        "I live in Rome. I have worked at Acme since 2019.",
        "Ana lived in Rome until 2019, in Porto until 2021",
        "Ana lived in Rome since 2021, until 2019",
        "If the tests pass, the flag is on until March",
        "We went through 2020 together",
        "Call the bank",
        "Ana may march in the fall",
        "The port is 2019",
        "I keep the receipts from 2015 to 2018",
        "The pool is open from 1 May to 30 September",
        "I met Ana last year",
        "I like skiing in winter",
    ],
)
def test_words_that_say_nothing_of_it(text: str) -> None:
    assert not any(read_validity(text, NOW))


def test_a_long_text_is_not_read() -> None:
    assert read_validity("Ana has lived in Porto since 2019", NOW).start
    assert not any(read_validity("Ana has lived in Porto " + "with a cat " * 40 + "since 2019", NOW))


def test_of_what_was_written_elsewhere_only_times_with_their_year_are_read() -> None:
    assert not any(read_validity("Ana is on leave until March", NOW, dated_only=True))
    assert not any(read_validity("Ana works from Porto starting next month", NOW, dated_only=True))
    assert read_validity("Ana is on leave until March 2027", NOW, dated_only=True).end == day("2027-03-01")


def test_a_dated_end_closes_what_it_ends() -> None:
    assert read_end("I quit jogging in 2020", NOW) == day("2020-01-01")
    assert read_end("I no longer work at Acme", NOW) is None
    assert read_end("I moved to Porto in 2020", NOW) is None, "that holds from then on"


def test_the_words_can_be_taken_out() -> None:
    assert strip_validity("since 2019", "I live in Porto since 2019") == "I live in Porto"
    assert strip_validity("Since 2019", "Since 2019, I live in Porto.") == "I live in Porto."


def test_a_validity_covers_a_time_if_they_share_a_moment() -> None:
    year = Span(datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))
    assert covers(None, None, [year])
    assert covers(None, datetime(2022, 1, 2, tzinfo=UTC), [year])
    assert not covers(None, year.start, [year]), "it is over when the end is there"
    assert not covers(year.end, None, [year])
    assert covers(datetime(2022, 12, 31, tzinfo=UTC), None, [year])


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (None, None, ""),
        ("2019-01-01", None, "since 2019"),
        (None, "2024-03-01", "until 2024-03"),
        ("2019-05-03", "2024-01-11", "since 2019-05-03, until 2024-01-11"),
        ("2019-10-01T09:30", None, "since 2019-10-01 09:30"),
    ],
)
def test_it_is_said_in_as_few_digits_as_are_true(start: str | None, end: str | None, words: str) -> None:
    assert validity_words(day(start), day(end)) == words


@every_row(
    ("text", "start"),
    [
        ("I start at Bosch on Monday.", "2026-05-25"),
        ("We move to Bristol in June.", "2026-06-01"),
        ("In June I move to Bristol.", "2026-06-01"),
        ("I move to Bristol tomorrow.", "2026-05-21"),
        ("I'm moving to Bristol next month.", "2026-06-01"),
        ("I'll move to Bristol on 1 March.", "2027-03-01"),
        ("We'll switch the admin panel to Svelte in the summer.", "2026-06-01"),
        ("Ana joins Globex in March.", "2027-03-01"),
        ("I moved to Bristol in March.", "2026-03-01"),
        ("I moved to Bristol in June.", "2025-06-01"),
    ],
)
def test_a_change_to_come_holds_from_the_next_such_time(text: str, start: str) -> None:
    assert read_validity(text, NOW).start == day(start)
