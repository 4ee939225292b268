"""Keys that the statement reader names: what is promised, what is looked through, and whose they are."""

import pytest

from recollect.rules.identity.keys import read_key
from recollect.rules.statements import Relation, compare, read_statement
from rows import every_row


def key(text: str, speaker: str = "Self") -> str | None:
    named = read_key(read_statement(text, speaker))
    return named.text if named else None


@pytest.mark.parametrize(
    "text",
    [
        "No emojis.",
        "no emoji",
        "Please never put emojis into your answers.",
        "Don't use emoji in replies",
        "Avoid emojis",
        "Never use emojis when you answer",
        "No emojis when you write to me",
        "When replying to me, don't use emojis",
        "Whenever you answer me, no emojis please",
    ],
)
def test_one_rule_about_emojis_has_one_key(text: str) -> None:
    assert key(text) == key(text, speaker="Ben") == "Self-Limit-Emojis"


@pytest.mark.parametrize(
    "text",
    [
        "Thanks! Ana lives in Lisbon.",
        "By the way, Ana lives in Lisbon now",
        "FYI: Ana lives in Lisbon",
        "Please remember that Ana lives in Lisbon!",
        "Correction: Ana lives in Lisbon",
        "Ana   lives\tin Lisbon",
    ],
)
def test_what_only_opens_a_statement_is_looked_through(text: str) -> None:
    assert key(text) == "Ana-Home-City"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("I live in Lisbon", "Ben-Home-City"),
        ("Lives in Lisbon", "Ben-Home-City"),
        ("I prefer dark mode", "Ben-Theme-Mode"),
        ("Call me Al", "Ben-Preferred-Name"),
        ("Ana's manager is Ines Prado", "Ana-Manager-Name"),
        ("Ana reports to Ines Prado", "Ana-Manager-Name"),
        ("The API listens on port 8080", "Api-Port-Number"),
    ],
)
def test_a_key_says_whose_fact_it_is(text: str, named: str) -> None:
    assert key(text, speaker="Ben") == named


@every_row(
    ("old", "new", "relation"),
    [
        ("Use spaces", "Don't use tabs", Relation.SAME),
        ("Use tabs for indentation.", "Use spaces instead of tabs for indentation.", Relation.CHANGED),
        ("Use British spelling.", "Use American spelling from now on.", Relation.CHANGED),
        ("Use tabs", "Use tabs in Makefiles", Relation.APART),
        ("Ana prefers tea over coffee", "Ana prefers coffee over tea", Relation.CHANGED),
        ("Ana prefers tea", "Ana prefers coffee", Relation.APART),
        ("No emojis", "No emojis when you write emails", Relation.APART),
        ("No emojis", "No emojis when you answer customers", Relation.APART),
        ("I like tea", "I no longer like tea", Relation.RETRACTED),
        ("Ana likes green", "Ana likes greens", Relation.APART),
    ],
)
def test_choices_and_tastes(old: str, new: str, relation: Relation) -> None:
    assert compare(read_statement(old), read_statement(new))[0] is relation
