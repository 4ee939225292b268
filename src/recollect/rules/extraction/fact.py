"""What is found in a message."""

from typing import NamedTuple

from recollect.model.vocabulary import EventType, Kind, Space

POINTS_BACK = "The user corrected an earlier statement:"
"""How a correction begins that only makes sense beside what it corrects."""


class Extracted(NamedTuple):
    """One fact that a person plainly stated.

    ``content`` is one sentence in the third person that stands on its own: "The user lives in Lisbon." It names the
    person as "the user", says "they" and "their" for "I" and "my", and ends in a full stop.
    """

    kind: Kind
    """``profile`` for a fact with a key, ``semantic`` for decisions, corrections and whatever was to be remembered."""
    key: str | None
    """The fact key of a profile fact, such as ``city``; None for a semantic one."""
    value: str
    """The value as it was said: "Ana", "Lisbon", "dark mode"."""
    content: str
    event_type: EventType
    rule: str
    """The reason code of the rule that found it; ``RULES`` says what each one means."""
    sentence: str
    """The sentence of the message that it was said in, with its blanks collapsed."""
    title: str | None = None
    """The name of the concept, where many values of one key may hold at once ("Profile taste coffee")."""
    ended: bool = False
    """It said that the fact no longer holds: "I no longer live in Porto"."""
    replaces: str | None = None
    """The value that it corrects: "Porto" in "it's Lisbon, not Porto"."""
    target_space: Space | None = None
    """Where the person asked to keep it: "remember this for me", "note for the project"."""

    @property
    def points_back(self) -> bool:
        """Whether it is a value alone ("no, I meant Lisbon"), which only makes sense beside what it corrects."""
        return self.content.startswith(POINTS_BACK)
