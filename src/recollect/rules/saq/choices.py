"""Choices between known alternatives: naming one of them settles the choice, so all of them share a key.

Scopes are what may follow "for" or "in" without narrowing the choice: "tabs for indentation" is still all tabs.
"""

from dataclasses import dataclass
from itertools import product

from recollect.rules.word_lists import word_set

_ANSWERS = ("answer", "reply", "response", "explanation")


def _pairs(adjectives: str, nouns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{adjective} {noun}" for adjective, noun in product(adjectives.split(), nouns))


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to settle. Alternatives and scopes are written in the singular.

    ``two_sided``: turning one alternative down chooses the other, so "never use tabs" settles it too.
    """

    subject: str
    aspect: str
    qualifier: str
    alternatives: tuple[str, ...]
    scopes: tuple[str, ...] = ()
    two_sided: bool = True


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
        ("tab", "space", "hard tab"),
        ("indentation", "indent", "indenting"),
    ),
    Choice(
        "dev",
        "indent",
        "width",
        _pairs("2 4 8 two four eight 2-space 4-space", ("space", "indentation")),
        ("indentation", "indent", "indenting"),
        two_sided=False,
    ),
    Choice("dev", "quote", "style", _pairs("single double", ("quote", "quotation mark")), ("string",)),
    Choice("dev", "newline", "style", ("lf", "crlf", "unix line ending", "windows line ending"), ("line ending",)),
    Choice("dev", "merge", "method", ("squash merge", "merge commit", "rebase merge"), two_sided=False),
    Choice("self", "theme", "mode", _pairs("dark light", ("mode", "theme")), ("theme",)),
    Choice(
        "self",
        "unit",
        "system",
        ("metric", "imperial", *_pairs("metric imperial", ("unit", "system", "measurement"))),
        ("unit", "measurement"),
    ),
    Choice("self", "unit", "temperature", ("celsius", "fahrenheit"), ("temperature",)),
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

ANSWER_LENGTHS = word_set("short brief concise terse succinct long detailed verbose thorough")
ANSWER_NOUNS: frozenset[str] = frozenset(_ANSWERS)
