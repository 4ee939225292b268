"""Choices between known alternatives: "use tabs", "I prefer tabs over spaces", "keep answers short"."""

import re

from recollect.rules.saq import values
from recollect.rules.saq.choices import ANSWER_LENGTHS, ANSWER_NOUNS, CHOICES, Choice
from recollect.rules.saq.limits import is_communication
from recollect.rules.saq.phrases import SELF, TEAM, kind, person, singular
from recollect.rules.saq.rule import Parts, Rule, rule
from recollect.rules.saq.sentence import Sentence

_ALTERNATIVES: dict[str, Choice] = {alternative: choice for choice in CHOICES for alternative in choice.alternatives}
_LENGTH_OF_ANSWERS = next(choice for choice in CHOICES if "short answer" in choice.alternatives)
_ALTERNATIVE_PLACES = re.compile(r"(.+?) (?:for|in|as) (.+)", re.I)
_OVER = r"(?:,? (?:not|over|instead of|rather than|and not|to) (?P<other>.+?))?"


def _choice(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Use tabs", "I prefer tabs over spaces": the alternatives of one choice share its key."""
    groups = match.groupdict()
    chosen = _alternative(groups["v"])
    if chosen is None:
        return None
    choice, scope = chosen
    if sentence.negated and not choice.two_sided:
        return None
    other = groups.get("other")
    if other is not None and not _is_alternative(other, choice):
        return None
    if any(place and not _fits(place, choice) for place in (scope, groups.get("topic"))):
        return None
    return _of_choice(choice, groups.get("s"), sentence)


def _alternative(phrase: str) -> tuple[Choice, str] | None:
    """The choice that a phrase names an alternative of, and the place that it limits the choice to."""
    if choice := _ALTERNATIVES.get(kind(phrase) or ""):
        return choice, ""
    if (placed := _ALTERNATIVE_PLACES.fullmatch(phrase)) and (choice := _ALTERNATIVES.get(kind(placed[1]) or "")):
        return choice, placed[2]
    return None


def _is_alternative(phrase: str, choice: Choice) -> bool:
    named = kind(re.sub(r" ones?$", "", phrase))
    return any(named == known or known.startswith(f"{named} ") for known in choice.alternatives)


def _fits(place: str, choice: Choice) -> bool:
    return kind(place) in choice.scopes or is_communication(place)


def _of_choice(choice: Choice, who: str | None, sentence: Sentence) -> Parts | None:
    """Whose choice it is: another person's is kept apart from the speaker's and the team's."""
    name = person(who, sentence.speaker) if who else SELF
    if name is None:
        return None
    return (choice.subject if name in (SELF, TEAM) else name), choice.aspect, choice.qualifier


def _required(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Paths must be absolute"."""
    choice = _ALTERNATIVES.get(match["v"].lower())
    fits = choice is not None and _fits(match["s"], choice)
    return _of_choice(choice, None, sentence) if choice and fits else None


def _answer_length(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Be concise", "keep your answers short"."""
    noun = match.groupdict().get("noun") or "answers"
    if singular(noun.lower()) not in ANSWER_NOUNS or match["v"].lower() not in ANSWER_LENGTHS:
        return None
    return _of_choice(_LENGTH_OF_ANSWERS, None, sentence)


def _answer_language(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Always answer in Portuguese"."""
    return (SELF, "answer", "language") if values.language(match["v"]) else None


ALTERNATIVES: tuple[Rule, ...] = (
    rule(
        "choice",
        "use uses prefer prefers stick go indent give show display write report want wants provide return format",
        rf"(?:use|prefer|stick to|stick with|go with|indent with) (?P<v>.+?){_OVER}",
        rf"{{s}} {{use|prefer|want}} (?P<v>.+?){_OVER}",
        rf"(?:give|show|display|report|write|format) (?P<topic>.+?) (?:in|as|with) (?P<v>.+?){_OVER}",
        rf"(?:give|write|provide|return)(?: me)? (?P<v>.+?){_OVER}",
        read=_choice,
        allows="want wants",
        negatable=True,
    ),
    rule("choice.required", "must should", "{s} (?:must|should) be {v}", read=_required, negatable=True),
    rule(
        "choice.length",
        " ".join(sorted(ANSWER_LENGTHS)),
        "be {v}",
        "keep (?:your |the |all )?(?P<noun>\\w+) {v}",
        read=_answer_length,
    ),
    rule(
        "choice.language",
        "in",
        "(?:respond|reply|answer|write|speak|talk)(?: to me)? in {v}",
        "use {v} (?:for|in) (?:your |all )?(?:replies|answers|responses)",
        read=_answer_language,
    ),
)
