"""What a rule of the parser is."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollect.rules.saq.phrases import third_person
from recollect.rules.saq.sentence import Sentence

Parts = tuple[str, str, str]
"""Subject, aspect and qualifier, uncut."""

Reader = Callable[[re.Match[str], Sentence], Parts | None]

_FORM_OF_BE = {"i": "am", "we": "are"}
_VERBS = re.compile(r"{([a-z|]+)}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A named way to read a statement.

    ``triggers`` are words of which a statement must have one, so that most rules cost nothing. ``allows`` are the
    uncertain words that the rule reads on purpose. ``negatable`` says whether "not" leaves the concept the same: it
    does where the object is in the key ("Ana doesn't like tea"), it does not where the value is all there is ("Ana
    doesn't live in Lisbon" must not replace where she lives).
    """

    name: str
    triggers: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    reader: Reader
    allows: frozenset[str] = frozenset()
    negatable: bool = False

    def read(self, sentence: Sentence) -> tuple[Parts, str | None] | None:
        """The parts of the key and the value that the statement gives it, or None if this rule has nothing to say.

        Where the object is in the key there is no value beside it.
        """
        if sentence.words.isdisjoint(self.triggers) or not sentence.uncertain <= self.allows:
            return None
        if sentence.negated and not self.negatable:
            return None
        for pattern in self.patterns:
            match = pattern.fullmatch(sentence.text)
            parts = self.reader(match, sentence) if match and _agrees(match) else None
            if parts is not None and match is not None:
                return parts, None if self.negatable else match.groupdict().get("v")
        return None


def rule(name: str, triggers: str, *templates: str, read: Reader, allows: str = "", negatable: bool = False) -> Rule:
    """A rule from templates, which are regular expressions with some shorthands.

    ``{s}`` is the subject and ``{v}`` the value. ``{be}`` is the form of "be", and ``{like|love}`` the form of those
    verbs, that agrees with the subject: "I like", "Ana likes".
    """
    patterns = tuple(re.compile(_pattern(template, negatable), re.IGNORECASE) for template in templates)
    return Rule(name, frozenset(triggers.split()), patterns, read, frozenset(allows.split()), negatable)


def _pattern(template: str, negatable: bool) -> str:
    if template.endswith("{v}") and not negatable:
        # A correction names the old value too: "Ana lives in Porto, not Lisbon".
        template = template.removesuffix("{v}") + r"(?P<v>.{1,80}?)(?:,? not [^,]{1,40})?"
    template = (
        template.replace("{s}", r"(?P<s>[^,:]{1,60}?)")
        .replace("{v}", r"(?P<v>.{1,80})")
        .replace("{be}", r"(?P<be>is|am|are)")
    )
    return _VERBS.sub(_verb_forms, template)


def _verb_forms(shorthand: re.Match[str]) -> str:
    third_persons = "|".join(third_person(verb) for verb in shorthand[1].split("|"))
    return f"(?:(?P<base>{shorthand[1]})|(?P<third>{third_persons}))"


def _agrees(match: re.Match[str]) -> bool:
    """Whether the verb fits the subject: "Sounds like fun" is not about somebody called Sounds."""
    groups = match.groupdict()
    subject = (groups.get("s") or "").lower()
    if groups.get("base") and subject not in _FORM_OF_BE:
        return False
    if groups.get("third") and subject in _FORM_OF_BE:
        return False
    be = groups.get("be")
    return be is None or "s" not in groups or be.lower() == _FORM_OF_BE.get(subject, "is")
