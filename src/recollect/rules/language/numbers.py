"""Numbers written in words, joined with the digits around them."""

from collections.abc import Sequence

from recollect.rules.language.marks import Aspect, Mark, key_at, sign
from recollect.rules.language.word_lists import word_set

_UNDER_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_UNDER_HUNDRED = {word: value for value, word in enumerate(_UNDER_TWENTY.split())}
_UNDER_HUNDRED |= {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
_ORDINALS = {word: value for value, word in enumerate(_PLACES.split(), start=1)}
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
NUMBER_WORDS = frozenset({*_UNDER_HUNDRED, *_SCALES})
_ONE_IS_A_PRONOUN_AFTER = word_set("the this that no any every another which some")


def number(digits: str, surface: str) -> Mark:
    """A number by its digits. Leading zeros and decimals are kept: 007 is not 7, version 3.10 not 3.1."""
    return sign("#" + digits, surface, Aspect.NUMBER)


def ordinal(value: int, surface: str) -> Mark:
    """A place in an order: 1st, first."""
    return sign(f"#{value}th", surface, Aspect.NUMBER)


def ordinal_word(word: str) -> int | None:
    """The place that a word names, except ``second``, which may be a unit of time."""
    return None if word == "second" else _ORDINALS.get(word)


def join_numbers(marks: Sequence[Mark]) -> list[Mark]:
    """The same marks with runs such as ``twenty five``, ``two hundred and six`` or ``2 million`` joined into one."""
    joined: list[Mark] = []
    read_to = 0
    for at, mark in enumerate(marks):
        if at < read_to:
            continue
        value, end = None, at
        if mark.key in NUMBER_WORDS or mark.aspect is Aspect.NUMBER:
            value, end = _number_at(marks, at)
        if value is None or _is_pronoun(marks, at, end):
            joined.append(mark)
        else:
            joined.append(number(str(value), " ".join(m.surface for m in marks[at:end])))
            read_to = end
    return joined


def _is_pronoun(marks: Sequence[Mark], at: int, end: int) -> bool:
    alone = end == at + 1 and marks[at].key == "one"
    return alone and at > 0 and marks[at - 1].key in _ONE_IS_A_PRONOUN_AFTER


def _number_at(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    """The number that starts at a place, and where it ends; None if no number word takes part in it."""
    key = marks[at].key
    if _plain_digits(key):
        scale = _SCALES.get(key_at(marks, at + 1))
        return (int(key[1:]) * scale, at + 2) if scale else (None, at)
    if key in _SCALES:
        return _SCALES[key] if at and marks[at - 1].key == "a" else None, at + 1
    return _in_words(marks, at)


def _in_words(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    total, group, end = 0, 0, at
    while True:
        key = key_at(marks, end)
        value = _UNDER_HUNDRED.get(key)
        if value is not None and _fits(group, value, opens=end == at or group == 0 < total):
            group += value
        elif key in _SCALES and group:
            group *= _SCALES[key]
            if group >= 1000:
                total, group = total + group, 0
        elif not (key == "and" and _is_round(total, group) and key_at(marks, end + 1) in _UNDER_HUNDRED):
            break
        end += 1
    return (total + group, end) if end > at else (None, end)


def _fits(group: int, value: int, *, opens: bool) -> bool:
    """Whether a number word may follow what was read so far: five after twenty, not after six."""
    after_tens = group % 100 >= 20 and group % 10 == 0 and 0 < value < 10
    return opens or _is_hundreds(group) or after_tens


def _is_hundreds(group: int) -> bool:
    return group >= 100 and group % 100 == 0


def _is_round(total: int, group: int) -> bool:
    """Whether an "and" may follow: "two hundred and five", "two thousand and five"."""
    return _is_hundreds(group) or (total > 0 and group == 0)


def _plain_digits(key: str) -> bool:
    return key[0] == "#" and key[1:].isdecimal() and (key[1] != "0" or key == "#0")
