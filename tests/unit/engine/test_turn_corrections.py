"""What a person puts right in their next message is kept with what it puts right."""

from typing import Any

import pytest

import recollect
from rows import every_row


@pytest.fixture
def mem(place: Any) -> Any:
    with recollect.open(place) as opened:
        yield opened


def say(mem: Any, user: str, session: str = "s1", owner: str = "ana") -> Any:
    return mem.turn(session=session, owner=owner, user=user, ai="Noted.")


def kept(mem: Any, owner: str = "ana") -> list[str]:
    return sorted(memory.content for memory in mem.list(owner=owner))


def test_a_correction_becomes_the_next_version_of_what_it_corrects(mem: Any) -> None:
    say(mem, "Pottery moved to Thursdays, same time.")
    say(mem, "No wait, it's Wednesdays. Thursday is the painting course.")
    right = "Pottery moved to Thursdays, same time. No wait, it's Wednesdays."
    assert kept(mem) == [right, "Thursday is the painting course."]
    answer = mem.recall_for(session="later", owner="ana", user="On which day is my pottery class?")
    assert answer.items[0].memory.content == right
    chain = mem.chain(answer.items[0].memory.id)
    assert [version.content for version in chain] == ["Pottery moved to Thursdays, same time.", right]
    assert mem.verify().ok


@every_row(
    ("before", "correction"),
    [
        ("The painter comes on Tuesday.", "No wait, Monday."),
        ("The painter comes on Tuesday.", "No, I meant Monday."),
        ("The car is in bay 7.", "Sorry, it's bay 9."),
        ("I weigh 68 kilos.", "No wait, 63."),
    ],
)
def test_it_is_understood_in_these_words(before: str, correction: str) -> None:
    with recollect.open(":memory:") as mem:
        say(mem, before)
        say(mem, correction)
        (only,) = kept(mem)
        assert only.endswith(f". {correction}")


@every_row(
    ("before", "after"),
    [
        ("The painter comes on Tuesday.", "No wait, what about Monday?"),
        ("The painter comes on Tuesday.", "Actually, I live in Porto."),
        ("The painter comes on Tuesday.", "No emojis."),
        ("Can you find me a painter?", "No wait, it's Monday."),
        ("My cousin is allergic to soy.", "Make it 4500 euros, the budget I mean."),
    ],
)
def test_whatever_says_something_by_itself_corrects_nothing(before: str, after: str) -> None:
    with recollect.open(":memory:") as mem:
        say(mem, before)
        known = kept(mem)
        say(mem, after)
        assert set(known) <= set(kept(mem))


def test_it_corrects_the_same_persons_last_message_in_the_session_alone(mem: Any) -> None:
    say(mem, "The painter comes on Tuesday.")
    say(mem, "No wait, it's Monday.", session="s2")
    say(mem, "The plumber comes on Friday.", owner="ben")
    say(mem, "No wait, it's Monday.", session="s1")
    assert "The plumber comes on Friday." in kept(mem, "ben")
