"""The rule-based SAQ parser: from a plain statement to Subject, Aspect and Qualifier.

The parser answers only when it is sure, because a key that two statements share lets the later replace the earlier.
A text that makes one plain statement ("Ana lives in Lisbon", "never use emojis") may get a key; questions, stories,
hedges, several statements at once and whatever points outside itself ("she likes it") get none.

    >>> parse("Never use emojis in replies")
    SaqKey(subject='Self', aspect='limit', qualifier='emojis', rule='limit.use', value=None)

Reading order: :mod:`sentence` finds the one statement, the rules below look at it in turn, and the first that
understands it names the key. Rules stand in :mod:`alternatives`, :mod:`limits`, :mod:`people`, :mod:`attributes`,
:mod:`projects` and :mod:`tastes`; the words that they know stand in plain lists beside them.
"""

from dataclasses import dataclass

from recollect.rules.saq.alternatives import ALTERNATIVES
from recollect.rules.saq.attributes import ATTRIBUTES
from recollect.rules.saq.limits import LIMITS
from recollect.rules.saq.people import PEOPLE
from recollect.rules.saq.phrases import SELF
from recollect.rules.saq.projects import PROJECTS
from recollect.rules.saq.rule import Rule
from recollect.rules.saq.sentence import read_sentence
from recollect.rules.saq.tastes import FAVORITES, TASTES
from recollect.rules.text import fold

__all__ = ["RULES", "SELF", "SaqKey", "parse"]

RULES: tuple[Rule, ...] = (*ALTERNATIVES, *LIMITS, *PEOPLE, *FAVORITES, *ATTRIBUTES, *PROJECTS, *TASTES)
"""Every rule in the order in which it is asked."""


@dataclass(frozen=True, slots=True)
class SaqKey:
    """What a statement is about, uncut, and the rule that read it."""

    subject: str
    aspect: str
    qualifier: str
    rule: str
    value: str | None = None

    def agrees_with(self, other: "SaqKey") -> bool:
        """Whether both statements give one concept the same value."""
        same_concept = (self.subject, self.aspect, self.qualifier) == (other.subject, other.aspect, other.qualifier)
        return same_concept and fold(self.value or "") == fold(other.value or "")


def parse(text: str, *, speaker: str = SELF) -> SaqKey | None:
    """Name the concept of a statement, or return None when unsure. ``speaker`` is who "I" stands for."""
    sentence = read_sentence(text, speaker)
    if sentence is None:
        return None
    for rule in RULES:
        found = rule.read(sentence)
        if found is not None:
            parts, value = found
            return SaqKey(*parts, rule.name, value)
    return None
