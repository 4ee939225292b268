"""Choices between known alternatives: naming one of them settles the choice, so all of them share a key.

A choice is ``key parts: alternatives, and the words that may follow "for" or "in" without narrowing the choice``.
"""

from dataclasses import dataclass
from itertools import product

_ANSWERS = ("answer", "reply", "response", "explanation")


def _pairs(adjectives: str, nouns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{adjective} {noun}" for adjective, noun in product(adjectives.split(), nouns))


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to settle. Alternatives and scopes are written in the singular."""

    subject: str
    aspect: str
    qualifier: str
    alternatives: tuple[str, ...]
    scopes: tuple[str, ...] = ()


CHOICES: tuple[Choice, ...] = (
    Choice(
        "dev",
        "path",
        "absolute",
        (*_pairs("absolute relative", ("path", "file path", "filepath", "import path")), "absolute", "relative"),
        ("path", "file path"),
    ),
    Choice(
        "dev",
        "indent",
        "style",
        ("tab", "space", "hard tab", "soft tab", "two space", "four space", "2 space", "4 space"),
        ("indentation", "indent", "indenting"),
    ),
    Choice("dev", "quote", "style", _pairs("single double", ("quote", "quotation mark")), ("string",)),
    Choice("dev", "newline", "style", ("lf", "crlf", "unix line ending", "windows line ending"), ("line ending",)),
    Choice("dev", "merge", "method", ("squash merge", "merge commit", "rebase merge", "rebase and merge"), ()),
    Choice("self", "theme", "mode", _pairs("dark light", ("mode", "theme")), ("theme",)),
    Choice(
        "self",
        "unit",
        "system",
        ("metric", "imperial", *_pairs("metric imperial", ("unit", "system", "measurement"))),
        ("unit", "measurement"),
    ),
    Choice("self", "unit", "temperature", ("celsius", "fahrenheit", "kelvin"), ("temperature",)),
    Choice(
        "self",
        "clock",
        "format",
        _pairs("24-hour 12-hour 24h 12h", ("clock", "time", "format", "time format")),
        ("time",),
    ),
    Choice(
        "self",
        "spelling",
        "variant",
        _pairs("british american uk us", ("english", "spelling")),
        (),
    ),
    Choice(
        "self",
        "answer",
        "length",
        _pairs("short brief concise terse succinct long detailed verbose thorough lengthy", _ANSWERS),
    ),
    Choice("self", "answer", "tone", _pairs("formal informal casual", (*_ANSWERS, "tone", "language", "style"))),
)

ANSWER_LENGTHS: frozenset[str] = frozenset("short brief concise terse succinct long detailed verbose thorough".split())
ANSWER_NOUNS: frozenset[str] = frozenset(_ANSWERS)
