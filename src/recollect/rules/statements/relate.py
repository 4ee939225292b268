"""What a new frame is to a stored one: the same, a change, a retraction, contested, or something else."""

import re
from collections.abc import Sequence
from itertools import takewhile

from recollect.rules.language.calendar import SHORT_WEEKDAYS, WEEKDAYS
from recollect.rules.language.word_lists import any_of, word_set
from recollect.rules.statements.frame import (
    ANY,
    NO_SUBJECT,
    ChangeMark,
    Frame,
    Relation,
    Tense,
    ValueKind,
    dimension_of,
    names_in,
    normal_value,
)
from recollect.rules.statements.predicates import SECOND_JOB
from recollect.rules.statements.tables import CITIES, COUNTRIES, PROVINCES, are_far_apart, place_name

_STRENGTH = (Relation.APART, Relation.CONTESTED, Relation.SAME, Relation.CHANGED, Relation.RETRACTED)

_NOT_ENDED_BY_VALUE = frozenset(
    """like|fear|origin|speak|allergy|be|visit|birth place|birth date|death place|founded|founder
author|creator|time""".replace("\n", "|").split("|")
)
"""Attributes that no "sold", "left" or "removed" ends: who likes a Volvo may sell one."""

_LEFT_OR_QUIT = frozenset(("member", "employer", "school", "home", "job", "location"))
"""What "left the …" and "quit the …" end where the value is no name."""

_NOT_HELD = frozenset(("event", "intent", "be", "instruction", "instruction:limit", "once"))


def relate(old: Frame, new: Frame) -> Relation:
    """Relate a new frame to a stored one."""
    only_then = new.negated and _AT_AN_HOUR.search(new.rest.lower())
    if only_then and normal_value(new.rest) != normal_value(old.rest):
        return Relation.APART
    found = _relate(old, new)
    # A stored statement with more clauses would lose them; a new one with more clauses is no plain replacement.
    loses = found in (Relation.CHANGED, Relation.RETRACTED) and old.partial and bool(old.rest)
    unsure = (found is Relation.CHANGED or new.change is not ChangeMark.STOP) and new.partial and bool(new.rest)
    return Relation.CONTESTED if loses or (found in (Relation.CHANGED, Relation.RETRACTED) and unsure) else found


def _relate(old: Frame, new: Frame) -> Relation:
    if new.tense is Tense.UNSURE and old.slot != new.slot:
        return Relation.APART
    if new.attribute == ANY or old.attribute == ANY:
        return _relate_by_value(old, new)
    if old.slot == new.slot and (found := _relate_in_slot(old, new)) is not Relation.APART:
        return found
    if old.subject == new.subject and _changes_named_value(old, new):
        return Relation.CHANGED
    if old.subject == new.subject and new.change is ChangeMark.STOP and new.negated and not old.negated:
        return _relate_end(old, new)
    return Relation.APART


def _changes_named_value(old: Frame, new: Frame) -> bool:
    """Whether a change names the old value, and both name the attribute by one noun: "the timeout" is the default timeout."""
    plain = old.single and new.single and not old.negated and not new.negated and old.scope == new.scope
    if not plain or not new.old_value or normal_value(new.old_value) != normal_value(old.value).partition(" per ")[0]:
        return False
    return old.attribute.split()[-1] == new.attribute.split()[-1] and _are_comparable(old, new)


def compare(old: Sequence[Frame], new: Sequence[Frame]) -> tuple[Relation, Frame | None, Frame | None]:
    """The strongest relation between the frames of two statements, with the two frames that meet."""
    best: tuple[Relation, Frame | None, Frame | None] = (Relation.APART, None, None)
    for former in old:
        for later in new:
            relation = relate(former, later)
            if _STRENGTH.index(relation) > _STRENGTH.index(best[0]):
                best = relation, former, later
    relation, before, after = best
    if relation is Relation.CONTESTED and before and after and _is_other_job(before, after):
        return (Relation.CHANGED if _employers(old) == _employers(new) != set() else relation), before, after
    return best


def _is_other_job(old: Frame, new: Frame) -> bool:
    """Return whether two jobs are contested only because somebody may have another one elsewhere."""
    plain = old.single and new.single and not old.partial and not new.partial
    second = any(not SECOND_JOB.isdisjoint(frame.value.lower().split()) for frame in (old, new))
    return old.attribute == new.attribute == "job" and plain and not second and not _refines(old, new)


def _employers(frames: Sequence[Frame]) -> set[str]:
    return {normal_value(frame.value) for frame in frames if frame.attribute == "employer"}


def changes_in_same_words(old: tuple[str, Sequence[Frame]], new: tuple[str, Sequence[Frame]]) -> bool:
    """Return whether two statements have the same words around another value of one single-valued attribute.

    Each side is a text with its frames. The words that both share settle what the tagger misreads in one of them: after "The
    director of Iron Meadow is Marcus Pell", the "Jun Hasegawa" in that place is a name and no month. Both values are of one
    sort, two names, years or codes: a weekday and an hour, or a name and a description, may both hold.

    >>> from recollect.rules.statements import read_statement
    >>> texts = "The director of Iron Meadow is Marcus Pell.", "The director of Iron Meadow is Jun Hasegawa."
    >>> changes_in_same_words(*((text, read_statement(text)) for text in texts))
    True
    """
    spans = _differing_spans(old[0], new[0])
    if spans is None or not old[1] or not new[1]:
        return False
    (before, *_), (after, *_) = old[1], new[1]
    one_slot = before.slot == after.slot
    judged = before.value_kind is after.value_kind if one_slot else before.single and after.single
    several = one_slot and not (before.single and after.single)
    if judged or several or any(_may_have_others(frame) or frame.negated for frame in (before, after)):
        return False
    naming = (*_NAMES_ITS_ATTRIBUTE, "table:") if one_slot else _NAMES_ITS_ATTRIBUTE
    told = list(zip(spans, (before, after), strict=True))
    if not any(frame.single and frame.rule.startswith(naming) and _fills(span, frame) for span, frame in told):
        return False
    return any(all(is_sort(span, frame) for span, frame in told) for is_sort in (_is_name, _is_year, _is_one_code))


def _is_name(span: Sequence[str], frame: Frame) -> bool:
    """Return whether a value is written as a name: "Jun Hasegawa", "the Velvet Lanterns".

    What a captain is called changes with the captain; that the captain is a lawyer, or injured, does not replace the name.
    """
    words = span[1:] if span[0].lower() == "the" else span
    if frame.value_kind is ValueKind.ADJECTIVE or not all(word[:1].isupper() for word in words):
        return False
    names_a_day = any(_AT_AN_HOUR.search(word.lower()) for word in words)
    unsure = frame.value_kind is ValueKind.DATE or len(words) < len(span)  # "June" or "the Mayor", by itself
    return not names_a_day and len(words) >= (2 if unsure else 1)


def _is_year(span: Sequence[str], _: Frame) -> bool:
    """Return whether a value is a year and nothing else."""
    return len(span) == 1 and _YEAR.fullmatch(span[0]) is not None


def _is_one_code(span: Sequence[str], frame: Frame) -> bool:
    """Return whether a value is one long word with digits or an address, and no amount, date or time."""
    timed = frame.value_kind in (ValueKind.DATE, ValueKind.CLOCK)
    return len(span) == 1 and not timed and _LONG_CODE.fullmatch(span[0]) is not None


_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_LONG_CODE = re.compile(r"\w+://\S+|(?!\d[\d.]*[^\W\d_]*$)(?=\D*\d)[\w#./:+-]{4,}")
"""An address, or a word with a digit that is neither a number nor a number with its unit ("40GB")."""

_NAMES_ITS_ATTRIBUTE = ("nominal", "label", "swapped", "relative")
"""The rules by which words other than the value name an attribute; others infer it from the value ("is at noon")."""


def _may_have_others(frame: Frame) -> bool:
    """Return whether another value need not replace this one, or the statement says more than a value."""
    unsure = frame.contested or frame.partial or frame.tense is Tense.UNSURE
    return unsure or frame.open_to_others or frame.change is ChangeMark.STOP


def _fills(span: Sequence[str], frame: Frame) -> bool:
    """Return whether a run of words is the value of a frame or a part of it."""
    return f" {normal_value(' '.join(span))} " in f" {normal_value(frame.value)} "


_MOST_SWAPPED = 6
"""How many words a value has at most that takes the place of another one in the same words."""
_CLAUSE_WORDS = word_set("and or but not no never if because which that who is are was were has have")


def _differing_spans(old: str, new: str) -> tuple[list[str], list[str]] | None:
    """Return the one run of words in which two texts differ, of each; None if they differ in more, or in nothing."""
    first, second = ([word.strip(".,;:!?") for word in text.split()] for text in (old, new))
    start = _count_shared(first, second)
    end = _count_shared(first[start:][::-1], second[start:][::-1])
    spans = first[start : len(first) - end], second[start : len(second) - end]
    short = all(0 < len(span) <= _MOST_SWAPPED for span in spans)
    return spans if short and _CLAUSE_WORDS.isdisjoint(word.lower() for span in spans for word in span) else None


def _count_shared(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the words that two texts begin with in common."""
    shared = takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), zip(first, second, strict=False))
    return sum(1 for _ in shared)


def _relate_by_value(old: Frame, new: Frame) -> Relation:
    """A frame without an attribute meets what has its subject and value."""
    if new.attribute != ANY or old.attribute == ANY or not _names_the_same(old, new):
        return Relation.APART
    if new.negated:
        return Relation.RETRACTED
    return Relation.CHANGED if new.old_value else Relation.APART


def _names_the_same(old: Frame, new: Frame) -> bool:
    """Whether what a frame ends or replaces is what another one holds, by subject and value."""
    same = old.subject_value is not None and old.subject_value == new.subject_value
    return same and _is_held(old) and _same_thing(old, new)


def _is_held(frame: Frame) -> bool:
    """Whether a frame states something that can end."""
    ends = frame.attribute not in _NOT_ENDED_BY_VALUE and frame.rule not in _NOT_HELD
    return ends and frame.tense is Tense.NOW and not frame.negated


def _same_thing(old: Frame, new: Frame) -> bool:
    """Whether an ended value is the one that was held: "the house" need not be the one in Spain, "the Redis cache" not Redis."""
    ended = new.old_value or new.value
    named = names_in(ended)
    limits = [scope for scope in old.scope if not scope.startswith(("every ", "on ", "daily", "weekly"))]
    elsewhere = bool(limits) and not named and old.attribute in ("own", "member", "use")
    if sorted(new.scope) != sorted(old.scope) and (new.scope or elsewhere):
        return False
    head = normal_value(ended).split()[-1:]
    return not named or head[0] in named.split() or head[0] in normal_value(old.value).split()


def _relate_end(old: Frame, new: Frame) -> Relation:
    """A statement that something ended, against one with another scope or another attribute of the same value."""
    if old.tense is not Tense.NOW:
        return Relation.APART
    if old.attribute == new.attribute and not new.scope and new.value and _agree(old, new) and _same_thing(old, new):
        return Relation.RETRACTED
    activity = new.rule == "open" and not new.value and not new.scope and _is_bare(old)
    if activity and (old.attribute == new.attribute or old.attribute.startswith(f"{new.attribute} ")):
        return Relation.RETRACTED
    if new.contested:
        plain = old.attribute in _LEFT_OR_QUIT or bool(names_in(new.value))
        return Relation.RETRACTED if plain and _names_the_same(old, new) else Relation.APART
    return Relation.APART


def _is_bare(frame: Frame) -> bool:
    """Whether an activity has no object: who stopped drinking may still drink tea."""
    habit = frame.value.split()[:1] in (["every"], ["each"], ["daily"], ["weekly"])
    return not frame.value or habit or frame.value_kind is ValueKind.ADJECTIVE


def _agree(old: Frame, new: Frame) -> bool:
    """Whether two values are one: equal, or the names of one are among the names of the other."""
    if normal_value(old.value) == normal_value(new.value):
        return True
    mine, theirs = set(names_in(old.value).split()), set(names_in(new.value).split())
    return bool(theirs) and theirs <= mine  # "no longer lives in Berlin Mitte" leaves the rest of Berlin


def _relate_in_slot(old: Frame, new: Frame) -> Relation:
    """Two statements about one attribute of one subject in one scope."""
    if normal_value(old.value) == normal_value(new.value):
        return _same_value(old, new)
    if new.negated:
        named = bool(new.value) and _agree(old, new) and _same_thing(old, new)
        ends = new.change is ChangeMark.STOP and (named or (not new.value and (old.single or _is_bare(old))))
        return Relation.RETRACTED if ends and not old.negated else Relation.APART
    if old.negated:
        return Relation.CHANGED if old.single and new.single and not old.value else Relation.APART
    replaces = bool(new.old_value) and normal_value(new.old_value) == normal_value(old.value)
    if not replaces and (not (old.single or old.contested) or not (new.single or new.contested)):
        return Relation.APART
    if not _are_comparable(old, new):
        return Relation.APART
    if (
        replaces
        or _other_version(old, new)
        or (_is_code(old) and _is_code(new) and " " in old.value and " " in new.value)
    ):
        return Relation.CHANGED
    if old.contested or new.contested or _contains(old, new):
        return Relation.CONTESTED
    of_two_sorts = _is_code(old) != _is_code(new) and ValueKind.QUANTITY not in (old.value_kind, new.value_kind)
    of_two_sorts = of_two_sorts and not (old.rule == new.rule == "nominal" and old.subject != NO_SUBJECT)
    if new.change is ChangeMark.NONE and (of_two_sorts or _refines(old, new)):  # "the casing is IP65", "is green"
        return Relation.CONTESTED
    open_to_others = old.open_to_others or new.open_to_others
    if open_to_others and new.change is ChangeMark.NONE and not _in_two_towns(old, new):
        return Relation.CONTESTED
    return Relation.CHANGED


_NUMBER = re.compile(r"v?\d[\d.]*")


def _other_version(old: Frame, new: Frame) -> bool:
    """Whether two values are versions of one thing: "PostgreSQL 14" and "PostgreSQL 16"."""
    before, now = (_NUMBER.sub("#", frame.value.lower()) for frame in (old, new))
    return before == now and before.endswith(" #")


_AT_AN_HOUR = re.compile(rf"~\d|\d\s?(?:am|pm)\b|\d:\d\d|\b(?:{any_of((*WEEKDAYS, *SHORT_WEEKDAYS))})s?\b")

"""What binds an end to an hour or a day: "stopped drinking coffee after 4 pm" leaves that of the morning."""
_CONTINENTS = frozenset(
    ("africa", "antarctica", "asia", "europe", "north america", "south america", "oceania", "australia")
)
_IN_ONE_PLACE = frozenset(("headquarters", "location", "home"))
_IN_SEVERAL = re.compile(
    r"\bbe (?:film|shoot|air|manufacture|record|perform|produce|make|release|launch|publish|develop|broadcast) "
)


def _in_two_towns(old: Frame, new: Frame) -> bool:
    """Whether a thing that is in one place is said to be in two towns or countries, neither of which is part of the other."""
    places = [place_name(frame.value) for frame in (old, new)]
    known = any(listed.issuperset(places) for listed in (COUNTRIES, _CONTINENTS))
    known = known or are_far_apart(*places) or (CITIES.issuperset(places) and _BOROUGHS.isdisjoint(places))
    began = new.rule == "once" and not _IN_SEVERAL.search(f"{new.attribute} ")
    return known and (new.attribute in _IN_ONE_PLACE or began)


_BOROUGHS = frozenset(("bronx", "brooklyn", "manhattan", "queens"))
"""Parts of a city that are often named instead of it."""


def _same_value(old: Frame, new: Frame) -> Relation:
    if old.negated == new.negated:
        says_more = old.partial or new.partial or normal_value(old.rest) != normal_value(new.rest)
        if says_more or old.contested or new.contested:
            return Relation.APART
        return Relation.SAME
    if new.negated:
        return Relation.RETRACTED
    return Relation.APART if new.partial else Relation.CHANGED


_WORDS = frozenset((ValueKind.NAME, ValueKind.NOUN, ValueKind.ADJECTIVE, ValueKind.OTHER))
_NUMBERS = frozenset((ValueKind.QUANTITY, ValueKind.VERSION))


def _are_comparable(old: Frame, new: Frame) -> bool:
    """Whether one value can take the place of the other: a weekday is no other calendar day, a number no other name."""
    if _is_code(old) and _is_code(new):
        return True
    if old.value_kind is not new.value_kind:
        return {old.value_kind, new.value_kind} <= _WORDS or {old.value_kind, new.value_kind} <= _NUMBERS
    if old.value_kind is ValueKind.DATE:
        return _date_sort(old.value) == _date_sort(new.value)
    if old.value_kind is ValueKind.QUANTITY:
        first, second = _counted_things(old.value), _counted_things(new.value)
        rates = {rate for rate in (_rate_of(old.value), _rate_of(new.value)) if rate}
        return (not first or not second or bool(first & second)) and len(rates) < 2
    return True


_CODE = re.compile(r"\d+|\d+[A-Z]|[A-Z]{1,3}-?\d+[A-Z]?|\d+(?:-\d+)+|\d+(?: [A-Z]\w*)+")
_CODE_PART = re.compile(r"[A-Z0-9][A-Z0-9+#/.:-]*|\+\d[\d-]*")


def _is_code(frame: Frame) -> bool:
    """Whether a value is the number or code of a thing and no amount: "14C", "B7", "555-0101", "12 Elm Street"."""
    if frame.value_kind not in (ValueKind.NAME, ValueKind.QUANTITY, ValueKind.OTHER, ValueKind.NOUN):
        return False
    parts = frame.value.split()
    marked = len(parts) <= 3 and any(map(str.isdigit, frame.value)) and any(not part.isdecimal() for part in parts)
    return bool(_CODE.fullmatch(frame.value)) or (marked and all(map(_CODE_PART.fullmatch, parts)))


def _counted_things(value: str) -> frozenset[str]:
    """What a quantity counts: the dimension of its unit, or the counted words."""
    words = [word for word in normal_value(value).split() if not word.startswith(("#", "~"))]
    until = words.index("per") if "per" in words else len(words)
    measured = frozenset(dimension_of(word.removeprefix("%")) for word in words[:until])
    return measured | {"money"} if "pound" in words else measured  # of weight or of money


def _rate_of(value: str) -> str:
    """Return what a quantity is counted by: "4 euros per month" is no new price for "89 euros per seat"."""
    return normal_value(value).partition(" per ")[2]


def _date_sort(value: str) -> str:
    """What a date is written as: digits for letters, so that two dates of one form compare."""
    normal = normal_value(value)
    if normal.lstrip("#~").isdecimal():
        return "year"
    if any(char.isdigit() for char in normal):
        return "day"
    return "week day" if normal.startswith("~") else "words"


def _refines(old: Frame, new: Frame) -> bool:
    """Whether one value only says more than the other: "Ana" and "Ana Ruiz", "9 May" and "9 May 1988"."""
    first, second = (frozenset(normal_value(frame.value).replace("~", "").split()) for frame in (old, new))
    if first <= second or second <= first:
        return True
    if old.value_kind is not ValueKind.DATE or len(first) != 1 or len(second) != 1:
        return False
    (one,), (other,) = first, second
    return one.endswith(f"-{other}") or other.endswith(f"-{one}")


def _contains(old: Frame, new: Frame) -> bool:
    """Whether one place is a country or state and the other is not: both may hold."""
    wide = [frame.value.lower() in COUNTRIES or frame.value.lower() in PROVINCES for frame in (old, new)]
    return wide[0] != wide[1] and old.value_kind is ValueKind.NAME and not are_far_apart(old.value, new.value)
