"""Frames of sentences that no rule reads: the sentence with one blank, where a measure stands.

A template is all the words of a sentence but those of its value, so it meets only a sentence that says the same in the same
words: "We heat the nursery to 19 degrees" and "… to 21 degrees". The value is the only measure after the verb: a number, an
amount, a time, a version, a code, an address.

Lists of verbs that take one object or one place, and "V is the N of Y", were tried as well. They gained nothing on sentences
that nobody had seen.
"""

import re

from recollect.rules.language.marks import unit_named
from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build
from recollect.rules.statements.frame import Frame, Tense, ValueKind
from recollect.rules.statements.open_verbs import APPROXIMATELY
from recollect.rules.statements.phrases import (
    DAYS,
    FILLER,
    MONTHS,
    NOW,
    PERIODS,
    SEASONS,
    Tail,
    content,
    is_possessive,
    join,
)
from recollect.rules.statements.tagger import CLAUSE_OPENERS, FINITE, Word

_OF_MANY = tables.words("verbs", "of_many") | tables.words("verbs", "suits_many") | tables.words("verbs", "intent")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d(?:am|pm|h)?|\d{1,2}(?:am|pm)|noon|midnight", re.I)
_WITH_DIGIT = re.compile(r"[^\s]*\d[^\s]*|[^\s@]+@[^\s@]+")
_BETWEEN = frozenset(
    "at on to from until till and - – / x by of , per a an each every once twice times o'clock".split()
)
_RATE = frozenset("daily weekly monthly yearly nightly hourly annually once twice".split())


def read_template(context: Context) -> Frame | None:
    """Return the frame of a sentence with one blank; None where nothing says that one value fills it."""
    if context.negated or context.stated_tense is not Tense.NOW or not context.rest or not context.sure:
        return None
    joined = any(word.tag == "CJC" or word.text in ("(", ";") for word in context.rest)
    return None if joined else _read_measure(context)


def template_words(words: list[Word]) -> list[str]:
    """Return the canonical words of a template: fillers and "now" say nothing of it."""
    return [word for word in content([w for w in words if w.lower not in NOW and w.lower not in FILLER]) if word]


def _read_measure(context: Context) -> Frame | None:
    """ "We heat the nursery to 19 degrees", "Flight 12 boards at B14", "Rent on the studio comes to 900 euros"."""
    rest, verb = context.rest, context.verb
    runs = measures(rest)
    if len(runs) != 1 or verb.lemma in _OF_MANY or any(w.tag in CLAUSE_OPENERS or w.tag in FINITE for w in rest):
        return None
    start, end = runs[0]
    before, value, after = rest[:start], rest[start:end], rest[end:]
    if verb.passive and before[-1:] and before[-1].lower == "by":
        return None  # "is affected by BUG-118": who or what does it is no measure
    kind = _kind_of_measure(value)
    hour = before[-1:] and before[-1].lower in ("at", "until", "till") and value[-1].text.isdecimal()
    timed = kind in (ValueKind.CLOCK, ValueKind.DATE) or bool(hour)
    definite = any(w.tag == "DPS" or w.lower == "the" or is_possessive(w) or w.is_name for w in before)
    one_of_some = any(word.lower in ("a", "an", "another") for word in before)
    on_a_date = any(word.lower in MONTHS or word.tag == "ORD" for word in value)
    some = one_of_some or (verb.lemma == "have" and not definite and not on_a_date)
    if (one_of_some and kind is ValueKind.NAME) or (timed and some):
        return None  # "has a lesson at 9", "has training on Tuesday", "has a v1 endpoint": there may be another one
    if context.is_self and not definite and (timed or not before):
        return None
    if timed and not before:
        return None
    attribute = join("be" if verb.passive else "", verb.lemma, *template_words(before), "_", *template_words(after))
    return build(context, attribute, Tail(value), "template:measure", one=True, value_kind=kind)


def measures(words: list[Word]) -> list[tuple[int, int]]:
    """Return where the measures of a phrase stand: runs of numbers, units, dates and codes, with what joins them."""
    marked = [_is_measure(words, at) for at in range(len(words))]
    runs: list[tuple[int, int]] = []
    end = 0
    for start in range(len(words)):
        if start < end or not marked[start]:
            continue
        end = start + 1
        while end < len(words) and (marked[end] or _joins_measure(words, marked, end)):
            end += 1
        while start and words[start - 1].lower in APPROXIMATELY and words[start - 1].tag != "PRP":
            start -= 1
        runs.append((start, end))
    return runs


def _is_measure(words: list[Word], at: int) -> bool:
    word, before = words[at], words[at - 1] if at else None
    after_digit = before is not None and any(map(str.isdigit, before.text))
    if before is not None and before.is_noun and not after_digit and before.lower not in DAYS | MONTHS:
        return False  # "unit 4B", "Model 3": the number is part of a name
    if word.tag == "CRD" or _WITH_DIGIT.fullmatch(word.text) or _CLOCK.fullmatch(word.lower):
        return True
    if word.lower in DAYS or (word.lower in MONTHS and word.text[0].isupper()):
        return True
    counted = after_digit or (before is not None and before.tag == "CRD")
    return counted and bool(unit_named(word.lower) or word.lower in ("percent", "million", "thousand", "k"))


def _joins_measure(words: list[Word], marked: list[bool], at: int) -> bool:
    """Whether a word belongs to the measure before it: "9 May at 10", "500 mg twice a day", "18.5 degrees"."""
    word = words[at]
    if word.lower in _RATE or (word.lower in SEASONS and words[at - 1].lower in DAYS | {"every", "each"}):
        return True
    if word.lemma in PERIODS and words[at - 1].lower in ("a", "an", "per", "each", "every"):
        return True
    follows = next((n for n in range(at + 1, min(at + 3, len(words))) if words[n].lower not in _BETWEEN), None)
    if word.lower not in _BETWEEN or follows is None:
        return False
    rate = word.lower in ("a", "an", "per", "each", "every") and words[at + 1].lemma in PERIODS
    return rate or (marked[follows] and word.lower not in ("and", ",", "by", "of"))


def _kind_of_measure(value: list[Word]) -> ValueKind:
    if any(_CLOCK.fullmatch(word.lower) for word in value[:1]):
        return ValueKind.CLOCK
    if any(word.lower in DAYS or word.lower in MONTHS for word in value):
        return ValueKind.DATE
    first = next((word for word in value if word.lower not in APPROXIMATELY), value[0])
    return ValueKind.QUANTITY if first.tag == "CRD" and not first.text[-1:].isalpha() else ValueKind.NAME
