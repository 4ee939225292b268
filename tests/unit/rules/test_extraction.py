"""What a person says of themselves: held to the table of labelled messages, and to what no table can list."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.policy import CONSENT_KEYS, PROFILE_KEYS
from recollect.model.vocabulary import EventType, Kind, Space
from recollect.rules.extraction import MOST_FACTS, Extracted, extract
from recollect.rules.reasons import REASONS
from rows import every_row

RULES = {code: why for code, why in REASONS.items() if code.startswith("extracted:") and code != "extracted:procedure"}

BENCH = Path(__file__).parents[3] / "bench" / "extraction.py"


def _bench() -> ModuleType:
    """The benchmark's own arithmetic, so that the floors here are the figures that it prints."""
    spec = importlib.util.spec_from_file_location("bench_extraction", BENCH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = _bench()
CASES = bench.load()
STATING = [case.message for case in CASES if case.expected]
FOUND = [fact for message in STATING for fact in extract(message)]


def only(message: str) -> Extracted:
    facts = extract(message)
    assert len(facts) == 1, facts
    return facts[0]


def facts_of(message: str) -> list[tuple[str | None, str]]:
    return [(fact.key, fact.value) for fact in extract(message)]


# The table


def test_the_table_is_large_half_of_it_traps_and_a_third_of_it_unseen() -> None:
    assert len({case.message for case in CASES}) == len(CASES) >= 260
    assert sum(not case.expected for case in CASES) * 2 >= len(CASES)
    assert sum(case.part != "tuned" for case in CASES) * 3 >= len(CASES)


@pytest.mark.parametrize(("part", "precision", "recall"), [("all", 0.99, 0.97), ("tuned", 1, 1), ("held_out", 1, 1)])
def test_precision_and_recall_stay_above_their_floors(part: str, precision: float, recall: float) -> None:
    chosen = dict(bench.parts(CASES))[part]
    figures = bench.measure(chosen)
    assert figures.right > 50
    assert figures.precision >= precision, [(c.message, c.found - c.expected) for c in chosen if c.found - c.expected]
    assert figures.recall >= recall, [(c.message, c.expected - c.found) for c in chosen if c.expected - c.found]


def test_no_trap_yields_anything() -> None:
    assert [(case.message, case.found) for case in CASES if not case.expected and case.found] == []


def test_every_rule_is_shown_by_the_table_and_says_what_it_means() -> None:
    assert {fact.rule for fact in FOUND} == set(RULES)
    assert all(code.startswith("extracted:") and meaning.startswith("it ") for code, meaning in RULES.items())


# Where a statement stands decides whether it is one


@every_row(
    "frame",
    [
        'She said "{}"',
        "She told me: {}",
        "Translate this into French: {}",
        "Proofread this:\n{}",
        "Imagine I'm somebody else. {}",
        "Pretend that you are me: {}",
        "```\n{}\n```",
        "> {}",
        "{} /s",
        "{} Just kidding!",
        "Dear Ms. Lopez,\n{}\nSincerely,\nTom",
        "2024-05-01 12:00:01 {}",
    ],
)
def test_nothing_is_found_where_the_writer_does_not_speak_for_themselves(frame: str) -> None:
    said = [message for message in STATING if "\n" not in message and '"' not in message]
    assert len(said) > 150
    assert [(message, extract(frame.format(message))) for message in said if extract(frame.format(message))] == []


@every_row(
    "message", ["I live in Lisbon.", "I love fado.", "I'm allergic to nuts.", "My name is Ana.", "I work at Acme."]
)
@every_row("before", ["Maybe {}", "If {}", "He thinks {}", "I wish {}", "Is it true that {}", "What if {}?"])
def test_nothing_is_found_in_doubt(before: str, message: str) -> None:
    assert extract(message)
    assert extract(before.format(message.rstrip("."))) == ()


@every_row(
    ("message", "why"),
    [
        ("I'm a nurse. Haha!", "the laugh after it is about it"),
        ("Here's my bio\nI'm a nurse and I live in Leeds.", "what follows was handed over"),
        ("I live in Lisbon?", "it is a question without question words"),
        ("I live in Rome and I love tea, she said.", "all of it is hers"),
        ("At the office, I prefer tea.", "it holds only there"),
        ("In my novel, I'm a nurse.", "it is made up"),
        ("I no longer speak French.", "that a language was forgotten is no fact to keep"),
        ("I love stories I read as a kid.", "it is about some stories only"),
        ("I prefer Tuesday.", "a day is chosen, not liked"),
        ("I prefer blue for the header.", "it is liked for what is being made"),
        ("I like what I see, let's go with Flask.", "it proposes, and nothing says that it was settled"),
        ("Keep in mind that the traveler wants to see the old town.", "it is part of the task"),
        ("My goal is to fix the build by tonight.", "it is what they are doing, not what they aim for"),
    ],
)
def test_nothing_is_found_because(message: str, why: str) -> None:
    assert extract(message) == (), why


def test_a_question_after_a_statement_leaves_it_a_statement() -> None:
    assert facts_of("I live in Vienna, can you recommend a museum?") == [("city", "Vienna")]
    assert facts_of("I live in Vienna, don't I?") == []


def test_a_statement_without_a_subject_needs_one_that_was_understood() -> None:
    assert facts_of("I live in Lisbon and work at Acme.") == [("city", "Lisbon"), ("employer", "Acme")]
    assert facts_of("I want to live in Lisbon and work at Acme.") == []


def test_what_is_taken_back_is_not_kept() -> None:
    assert facts_of("I live in Porto. Wait, no, I live in Lisbon.") == [("city", "Lisbon")]
    assert facts_of("I live in Porto. Scratch that.") == []


@pytest.mark.parametrize("apostrophe", ["'", "’", "ʼ"])
def test_apostrophes_and_line_breaks_may_be_of_any_kind(apostrophe: str) -> None:
    message = f"I{apostrophe}m a nurse\r\nI don{apostrophe}t eat pork 🐷 I live in Leeds"
    assert facts_of(message) == [("role", "nurse"), ("diet", "no pork"), ("city", "Leeds")]


def test_a_title_in_quotation_marks_is_a_value() -> None:
    fact = only("My favourite film is “Alien”, of course.")
    assert (fact.value, fact.sentence) == ("Alien", 'My favourite film is "Alien", of course.')


# What a fact says of itself


@every_row(
    ("message", "content"),
    [
        ("i'm based in Graz", "The user lives in Graz."),
        ("I no longer like coffee", "The user no longer likes coffee."),
        ("I prefer tea to coffee in the morning.", "The user prefers tea to coffee."),
        ("I love camping with my kids", "The user loves camping with their kids."),
        ("I'm a UX designer", "The user is a UX designer."),
        ("I work as CTO", "The user is CTO."),
        ("I have a nut allergy", "The user has a nut allergy."),
        ("We decided to use Postgres.", "It was decided to use Postgres."),
        ("I've decided to sell my car", "The user decided to sell their car."),
        ("Remember that I've never been to Rome", "The user has never been to Rome."),
        ("Remember that I always park on level 3", "The user always parks on level 3."),
        ("Remember that my desk is mine alone", "The user's desk is theirs alone."),
        ("Sorry, it's Lisbon, not Porto.", "The user corrected an earlier statement: Lisbon, not Porto."),
    ],
)
def test_the_content_stands_alone_in_the_third_person(message: str, content: str) -> None:
    assert only(message).content == content


@every_row("fact", FOUND)
def test_the_content_is_one_sentence_about_the_user(fact: Extracted) -> None:
    assert fact.content[0].isupper() and fact.content.endswith(".") and not fact.content.endswith("..")
    assert not re.search(r"\b(?:I|I'm|my|me|mine|we|our|you|your)\b", fact.content), fact.content
    assert "  " not in fact.content and "\n" not in fact.content


@every_row("fact", FOUND)
def test_a_profile_fact_has_a_key_that_the_policy_lists_and_no_other_fact_has_one(fact: Extracted) -> None:
    assert (fact.key in PROFILE_KEYS) == (fact.kind is Kind.PROFILE)
    assert (fact.key is None) == (fact.kind is Kind.SEMANTIC)


def test_sensitive_facts_have_keys_that_need_consent_from_anybody_else() -> None:
    said = "My name is Ana. Call me Annie. I use she/her pronouns. I live in Lisbon. I speak Dutch. I'm a nurse. I love tea."
    assert [fact.key for fact in extract(said) if fact.key not in CONSENT_KEYS] == ["role", "likes"]


def test_values_that_may_hold_together_have_titles_of_their_own() -> None:
    loves, hates, other = (only(m).title for m in ("I love olives", "I hate olives", "I love capers"))
    assert loves == hates == "Profile taste olive"
    assert other == "Profile taste caper"
    assert only("I prefer tea to coffee").title == only("I prefer coffee to tea").title
    assert only("I live in Lisbon").title is None


def test_a_correction_says_what_it_replaces() -> None:
    fact = only("Oops, I live in Graz, not Vienna.")
    assert (fact.event_type, fact.value, fact.replaces) == (EventType.CORRECTION, "Graz", "Vienna")
    assert only("I live in Graz.").event_type is EventType.FACT
    assert only("Sorry, it's Lisbon, not Porto.").replaces == "Porto"


def test_a_correction_is_read_whatever_the_thing_is_called() -> None:
    assert only("Actually, the catering budget is 500 euros.").event_type is EventType.CORRECTION
    assert extract("The catering budget is 500 euros.") == extract("Actually, the catering budget is tight.") == ()


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("My optician is Ms. Varga", True),
        ("My optician is great", False),
        ("My brother's optician is Ms. Varga", False),
        ("My optician is not Ms. Varga", False),
        ("My optician was Ms. Varga", False),
        ("I weigh 63 kg today", False),
    ],
)
def test_the_statement_reader_is_believed_where_it_is_sure(message: str, kept: bool) -> None:
    assert [fact.rule for fact in extract(message)] == ["extracted:stated"] * kept


def test_what_has_ended_is_said_to_have_ended() -> None:
    fact = only("I don't live in Madrid anymore.")
    assert (fact.ended, fact.event_type, fact.value) == (True, EventType.CORRECTION, "Madrid")
    assert not only("I live in Madrid.").ended


@pytest.mark.parametrize(
    ("asked", "space"),
    [
        ("Remember this for me: ", Space.USER),
        ("Note to self: ", Space.USER),
        ("Can you please remember for the project that ", Space.PROJECT),
        ("For our team, note that ", Space.PROJECT),
        ("Remember that ", None),
    ],
)
def test_a_request_says_where_to_keep_it(asked: str, space: Space | None) -> None:
    fact = only(f"{asked}my locker is number 12")
    assert (fact.value, fact.target_space, fact.rule) == ("my locker is number 12", space, "extracted:requested")


def test_a_fact_is_found_in_its_sentence() -> None:
    fact = only("Thanks!  That   worked. By the way,   I'm a teacher. What next?")
    assert fact.sentence == "By the way, I'm a teacher."


def test_a_fact_said_twice_is_found_once() -> None:
    assert facts_of("I love tea. Really, I love Tea!") == [("likes", "tea")]


def test_no_message_yields_more_than_its_share() -> None:
    message = " ".join(f"I love tea number {number}." for number in range(50))
    assert len(extract(message)) == MOST_FACTS
    assert len(extract(message, most=3)) == 3


# One reader for keys and for facts


@pytest.mark.parametrize(
    ("message", "key", "value", "ended"),
    [
        ("Our rent is $1,400 a month.", None, "$1,400 month", False),
        ("I don't like black coffee any more.", "likes", "black coffee", True),
        ("I've gone off podcasts about crime.", "likes", "podcasts about crime", True),
        ("I'm not really into hiking.", "dislikes", "hiking", False),
        ("I recently got promoted to senior producer.", "role", "senior producer", False),
        ("I've stopped eating meat.", "diet", "no meat", False),
        ("Everyone calls me Bertie.", "preferred_name", "Bertie", False),
    ],
)
def test_a_fact_is_what_the_statement_reader_reads(message: str, key: str | None, value: str, ended: bool) -> None:
    assert [(fact.key, fact.value, fact.ended) for fact in extract(message)] == [(key, value, ended)]


@pytest.mark.parametrize(
    "message", ["I joined Cobalt Rail in October.", "I've been enjoying podcasts lately.", "We love films."]
)
def test_what_the_reader_is_not_sure_of_is_no_fact(message: str) -> None:
    assert extract(message) == ()


# Any text at all

_PIECES = st.sampled_from(
    [
        *STATING[:60],
        "I ",
        "I'm ",
        "my ",
        " and ",
        ", ",
        "not ",
        "'",
        '"',
        "`",
        "“",
        ":",
        ";",
        "?",
        "\n",
        "😂",
        "\ue000",
        "…",
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=12).map("".join)))
def test_any_text_can_be_read(text: str) -> None:
    facts = extract(text)
    assert facts == extract(text)
    plain = " ".join(text.translate(str.maketrans("’‘ʼ", "'''")).casefold().split())
    for fact in facts:
        assert fact.rule in RULES and fact.value and fact.content
        assert fact.value.casefold().removeprefix("no ").split()[0] in plain
