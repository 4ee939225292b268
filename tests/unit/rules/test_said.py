"""What a message leaves behind as it was said, its standing rules, and what a person asks not to keep.

``tests/cases/turns`` holds messages with what should become of them: the ``dev`` half was looked at while the rules were made,
the ``frozen`` half once, afterwards.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.vocabulary import Space
from recollect.rules.extraction import extract, said
from recollect.rules.extraction.message import plain_sentences
from recollect.rules.extraction.said import Kept, find_kept, read_discretion
from rows import every_row

CASES = Path(__file__).parents[2] / "cases" / "turns"
SERVER = "The build server stands in Frankfurt."


def statements(message: str, facts: Any, most: int) -> tuple[str, ...]:
    return tuple(one.text for one in find_kept(message, facts, most))


def as_wanted(case: dict[str, Any]) -> bool:
    message, facts = case["say"], extract(case["say"])
    asked = read_discretion(message)
    if asked is not None or "leaves_out" in case:
        return asked is not None and asked.leaves_out == case.get("leaves_out")
    found = find_kept(message, facts, 20)
    if "rule" in case:
        return any(one.is_rule and case["rule"] in one.text for one in found)
    texts = [*(one.text for one in found), *(fact.content for fact in facts)]
    if case["keeps"] == "nothing":
        return not texts
    told = "\n".join(texts)
    return all(word in told for word in case["keeps"]) and not any(word in told for word in case.get("drops", ()))


def wrong_in(half: str) -> tuple[list[str], int]:
    cases = yaml.safe_load((CASES / f"{half}.yaml").read_text(encoding="utf-8"))
    return [case["say"] for case in cases if not as_wanted(case)], len(cases)


def test_the_messages_that_the_rules_were_made_for_are_all_read_right() -> None:
    assert wrong_in("dev") == ([], 80)


def test_most_messages_that_the_rules_had_not_seen_are_read_right() -> None:
    """77 of 80 were when they were looked at."""
    wrong, total = wrong_in("frozen")
    assert total == 80 and len(wrong) <= 3, wrong


@pytest.mark.parametrize(
    ("message", "stated"),
    [
        (SERVER, (SERVER,)),
        (f"{SERVER} Could you check it?", (SERVER,)),
        (f"{SERVER} {SERVER}", (SERVER,)),
        (f"- {SERVER}\n- Our deploy runs every night.", (f"{SERVER} Our deploy runs every night.",)),
        (f"Thanks! {SERVER}", (SERVER,)),
        ("Müller leitet das Büro in Köln.", ("Müller leitet das Büro in Köln.",)),
        ("I think the dentist is on Mill Lane lol.", ("I think the dentist is on Mill Lane lol.",)),
    ],
    ids=[
        "plain",
        "before a question",
        "twice",
        "bullets",
        "after thanks",
        "another language",
        "with its doubt and its laugh",
    ],
)
def test_what_is_plainly_stated_is_kept(message: str, stated: tuple[str, ...]) -> None:
    assert statements(message, [], 5) == stated


TRAPS = {
    "question": "Does the build server stand in Frankfurt?",
    "question without a mark": "Could the build server stand in Frankfurt",
    "polite request": "Please restart the build server tonight.",
    "request to write": "Write a poem about build servers in Frankfurt.",
    "request to the agent": "Explain the build server in Frankfurt to Ana.",
    "doubt": "Maybe the build server stands in Frankfurt.",
    "wondering": "I wonder whether the build server stands in Frankfurt.",
    "supposing": "Suppose the build server stands in Frankfurt.",
    "thanks": "Thanks, great job on the build server.",
    "praise": "Perfect work on the build server setup.",
    "greeting": "Hello to everybody at the build server team.",
    "quotation": f'"{SERVER}"',
    "quoted speech": 'Ana said "the build server stands in Frankfurt".',
    "reported speech": "Ana wrote: the build server stands in Frankfurt.",
    "quoted line": f"> {SERVER}",
    "fenced code": f"```\n{SERVER}\n```",
    "code": "server = build(Frankfurt, stands=True)",
    "log": "2026-01-01 10:00:00 INFO build server started in Frankfurt",
    "material": f"Translate into German: {SERVER}",
    "letter": f"Dear Ana,\n{SERVER}\nKind regards,",
    "role play": f"Pretend you are a pirate. {SERVER}",
    "too long": f"The build server stands in Frankfurt {'very ' * 80}firmly.",
    "wordless": "🫖 🫖 🫖",
}


@every_row("message", TRAPS.values())
def test_what_only_looks_like_a_statement_is_not(message: str) -> None:
    assert statements(message, [], 5) == ()


@pytest.mark.parametrize(
    "order",
    [
        "Restart the build server in Frankfurt.",
        "Run the integration suite on Friday.",
        "Send Ana the monthly sales report.",
        "Delete the old backups in Frankfurt.",
        "Check the build server in Frankfurt.",
    ],
)
def test_an_order_states_nothing(order: str) -> None:
    assert statements(order, [], 5) == ()


def test_a_sentence_that_was_understood_as_a_fact_is_not_stated_again() -> None:
    message = f"I live in Porto and I work at Acme. {SERVER}"
    facts = extract(message)
    assert facts and statements(message, facts, 5) == (SERVER,)


def test_what_says_more_than_its_fact_is_kept_beside_it() -> None:
    message = "I live in Porto, right above the bakery of my cousin Rui."
    assert statements(message, extract(message), 5) == (message,)


def test_a_sentence_that_the_next_one_leans_on_goes_with_it() -> None:
    message = "My dentist is Dr. Lund. She only works on Tuesdays."
    assert extract(message) and statements(message, extract(message), 5) == (message,)


def test_a_long_message_is_kept_in_parts_and_no_more_than_asked_for() -> None:
    told = [
        f"Our server number {number} stands in Frankfurt, behind the {'very ' * 20}tall door." for number in range(8)
    ]
    parts = statements(" ".join(told), [], 20)
    assert " ".join(parts) == " ".join(told) and len(parts) > 1
    assert all(len(part) <= said.LONGEST_PART for part in parts)
    assert statements(" ".join(told), [], 2) == parts[:2] and statements(" ".join(told), [], 0) == ()


def test_a_pasted_document_is_not_what_somebody_states() -> None:
    about = [f"The bridge over river {name} was built by engineers from Ghent." for name in "abcdefghijklmnop"]
    assert statements(" ".join(about), [], 20) == ()
    mine = [f"My shelf {name} holds the books that I read in Ghent." for name in "abcdefghijklmnop"]
    assert statements(" ".join(mine), [], 20) != ()


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(one.text.strip() for one in find_kept(text, [], 5))
    asked = read_discretion(text)
    assert asked is None or len(asked.rest) <= len(text)


def test_a_rule_stands_by_itself() -> None:
    found = find_kept("The office is in Ghent. Never book a flight on a Monday. We are twelve people.", [], 5)
    assert found == (
        Kept("The office is in Ghent. We are twelve people."),
        Kept("Never book a flight on a Monday.", is_rule=True),
    )


@pytest.mark.parametrize("words", ["From now on we ship by bike.", "No more bus for me!", "Always wanted to see Rome."])
def test_what_only_opens_like_a_rule_is_a_statement(words: str) -> None:
    assert find_kept(words, [], 5) == (Kept(words),)


@pytest.mark.parametrize(
    ("request_", "space"),
    [
        ("Remember this for the project.", Space.PROJECT),
        ("Please note that down for me.", Space.USER),
        ("Remember that!", None),
    ],
)
def test_a_request_after_a_statement_says_where_to_keep_it(request_: str, space: Space | None) -> None:
    assert find_kept(f"We ship on Tuesdays. {request_}", [], 5) == (Kept("We ship on Tuesdays.", space=space),)


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("We ship on Tuesdays, note that for the project.", Kept("We ship on Tuesdays", space=Space.PROJECT)),
        ("We ship on Tuesdays - please remember this for the team", Kept("We ship on Tuesdays", space=Space.PROJECT)),
        ("The key hangs in the shed; keep that in mind for me.", Kept("The key hangs in the shed", space=Space.USER)),
        ("Our van needs oil, don't forget", Kept("Our van needs oil")),
        ("We discussed what to keep, note it or save it", Kept("We discussed what to keep, note it or save it")),
    ],
)
def test_a_request_at_the_end_of_a_statement_says_it_too(message: str, kept: Kept) -> None:
    assert find_kept(message, [], 5) == (kept,)


@pytest.mark.parametrize(
    "sentence",
    [
        "Am 3. Mai kommt der Klempner.",
        "Vom 3. bis 12. Juni sind wir in Kiel.",
        "Das Büro liegt im 4. Stock.",
        "Wir brauchen z.B. Mehl und ca. 3 Eier.",
    ],
)
def test_no_sentence_ends_at_a_german_ordinal_or_abbreviation(sentence: str) -> None:
    assert plain_sentences(sentence) == [sentence]
    assert plain_sentences(f"{sentence} Dann ist Pause.") == [sentence, "Dann ist Pause."]


def test_a_sentence_may_end_in_a_number() -> None:
    assert plain_sentences("My number is 12. We train on Monday.") == ["My number is 12.", "We train on Monday."]


@every_row(
    ("words", "is_rule"),
    [
        ("Please keep answers short.", True),
        ("Keep your replies friendly.", True),
        ("Stop using emojis.", True),
        ("Please stop calling me Bob.", True),
        ("You should always cite your sources.", True),
        ("You must never share my address.", True),
        ("I want you to always be honest with me.", True),
        ("Ask before you send anything.", True),
        ("Call me in the evenings only.", True),
        ("Only call me in the evenings.", True),
        ("Please never suggest recipes with mushrooms, I hate them.", True),
        ("Keep it short.", False),
        ("Keep the door open.", False),
        ("Stop it.", False),
        ("Stop the timer.", False),
        ("You should see a doctor.", False),
        ("You should always have seen it coming.", False),
    ],
)
def test_how_people_tell_an_assistant_what_to_do_from_now_on(words: str, is_rule: bool) -> None:
    assert any(one.is_rule for one in find_kept(words, [], 5)) is is_rule
