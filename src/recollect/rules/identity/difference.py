"""Decide whether two statements say the same thing and, if not, in what they differ.

The result decides whether a new statement repeats an old one, so in doubt they differ. Two statements say the same only
if they come to the same marks in the same order, once empty words are dropped, notations are unified, and a few safe
rewordings are undone (see ``rules.language``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.rules.language import lexicon
from recollect.rules.language.marks import Aspect, Case, Mark
from recollect.rules.language.reading import Language, Statement, read
from recollect.rules.language.rewriting import turn_around
from recollect.rules.language.spelling import other_tenses
from recollect.rules.language.text import normalise, terms
from recollect.rules.language.word_lists import word_set

_REPORTED = (
    Aspect.NUMBER, Aspect.DATE, Aspect.UNIT, Aspect.NAME, Aspect.NEGATION, Aspect.MODALITY, Aspect.TENSE, Aspect.CONTENT,
)  # fmt: skip
_VERB_FOLLOWS = word_set("be was have had will can must should may might would 's and not never")

_OF_A_KIND = word_set("not! no! no never avoid without any like love enjoy hate dislike prefer")
_TAKES_A_KIND = word_set("eat drink allergic adore detest fond")
"""Words whose object is a kind of thing, though nothing else in their sentence need be: "eats eggs with her child"."""
_TERSE = 5
"""The most marks of a text that is read as English without a sign of it: "Dark mode preferred"."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One aspect in which two statements differ, with the words of each side (empty where a side has none)."""

    aspect: Aspect
    old: str
    new: str


def what_differs(old: str, new: str) -> tuple[Difference, ...]:
    """Return every difference that matters between two statements; empty if they say the same thing.

    >>> what_differs("Don't deploy on Fridays", "On Fridays, please do not deploy!")
    ()
    >>> [(d.aspect.value, d.old, d.new) for d in what_differs("The port is 8080", "The port is 9090")]
    [('number', '8080', '9090')]
    >>> [d.aspect.value for d in what_differs("Ana manages Ben", "Ben manages Ana")]
    ['order']
    """
    if old == new:
        return ()
    return differences_between(read(old), read(new))


def differences_between(old: Statement, new: Statement) -> tuple[Difference, ...]:
    """Return ``what_differs`` for statements that were read already, so that one can be compared with many."""
    if not _are_readable(old, new):
        return _compare_to_the_letter(old.text, new.text)
    aligned = _align(old, new)
    if aligned:
        sure = Language.ENGLISH in {old.language, new.language}
        return tuple(
            _find_small_differences(*aligned, of_a_kind=_places_of_a_kind(old, aligned[0]) if sure else range(0))
        )
    return tuple(_find_differences(old, new)) or (Difference(Aspect.ORDER, old.text, new.text),)


def shares_nothing(old: str, new: str) -> bool:
    """Return whether two texts have no content word in common and hold no values of one kind, such as two numbers.

    >>> shares_nothing("Ana plays chess", "Ben sails"), shares_nothing("The port is 8080", "The port is 9090")
    (True, False)
    >>> shares_nothing("8080", "9090"), shares_nothing("chess", "sailing")
    (False, True)
    """
    before, after = terms(old), terms(new)
    if not before or not after or not set(before).isdisjoint(after):
        return False
    both = {d.aspect for d in what_differs(old, new) if d.old and d.new}
    return both.isdisjoint({Aspect.NUMBER, Aspect.DATE, Aspect.UNIT, Aspect.OPPOSITE})


def _align(old: Statement, new: Statement) -> tuple[Sequence[Mark], Sequence[Mark]] | None:
    """Return forms of both statements that agree mark by mark, if there are any."""
    if _keys(old.marks) == _keys(new.marks):
        return old.marks, new.marks
    if _keys(old.normal) == _keys(new.normal):
        return old.normal, new.normal
    if sorted(_keys(old.normal)) != sorted(_keys(new.normal)):
        return None
    turned = ((turn_around(old.normal), new.normal), (old.normal, turn_around(new.normal)))
    return next((forms for forms in turned if _keys(forms[0]) == _keys(forms[1])), None)


def _are_readable(old: Statement, new: Statement) -> bool:
    """Return whether neither text is foreign and one shows a sign of English; a few words need no sign."""
    if not old.marks or not new.marks:
        return False
    languages = {old.language, new.language}
    terse = len(old.marks) <= _TERSE and len(new.marks) <= _TERSE
    return Language.OTHER not in languages and (Language.ENGLISH in languages or terse)


def _keys(marks: Iterable[Mark]) -> list[str]:
    return [mark.key for mark in marks]


def _compare_to_the_letter(old: str, new: str) -> tuple[Difference, ...]:
    """Compare unreadable texts letter by letter, ignoring only blanks and capitals."""
    if normalise(old).casefold().split() == normalise(new).casefold().split():
        return ()
    return (Difference(Aspect.CONTENT, old, new),)


def _places_of_a_kind(statement: Statement, marks: Sequence[Mark]) -> range:
    """Return where singular and plural mean the same: "no emoji", "likes tabs", "eats eggs"; but not "has a cat".

    The first word is never such a place: its ending may make it someone else's action.
    """
    if not _OF_A_KIND.isdisjoint(_keys(statement.normal)):
        return range(1, len(marks))
    verb = next((place for place, mark in enumerate(marks) if mark.key in _TAKES_A_KIND), len(marks))
    start = verb + 2 if _keys(marks[verb + 1 : verb + 2]) in (["to"], ["of"]) else verb + 1
    ends = lexicon.PREPOSITIONS | lexicon.CLAUSE_WORDS
    after = (place for place in range(start, len(marks)) if marks[place].key in ends or not marks[place].is_word)
    return range(start, next(after, len(marks)))


def _find_small_differences(old: Sequence[Mark], new: Sequence[Mark], *, of_a_kind: range) -> Iterator[Difference]:
    """Yield differences that the keys fold away: capitals that make a name, singular or plural, "a" or "the"."""
    for place, (one, other) in enumerate(zip(old, new, strict=True)):
        if one == other:
            continue
        if one.case is not other.case and _capitals_matter(one, other):
            yield Difference(Aspect.NAME, one.surface, other.surface)
        elif (
            one.has_ending != other.has_ending
            and (one.spelling and other.spelling)
            and (place not in of_a_kind or _ending_matters(one, other))
        ):
            yield Difference(_aspect_of_ending(one, other), one.surface, other.surface)
        elif {one.article, other.article} == {"a", "the"}:
            yield Difference(Aspect.CONTENT, f"{one.article} {one.surface}", f"{other.article} {other.surface}")


def _aspect_of_ending(one: Mark, other: Mark) -> Aspect:
    """Return the aspect of an ending: number, name, or (where a sentence starts) perhaps someone else's action."""
    if one.is_name or other.is_name:
        return Aspect.NAME
    return Aspect.NUMBER if Case.LOWER in {one.case, other.case} else Aspect.CONTENT


def _capitals_matter(one: Mark, other: Mark) -> bool:
    """Return whether capitals matter: "Apple" within a sentence and "US" differ; "TEA" is "tea" with emphasis."""
    if one.key in lexicon.CASE_FREE or one.key in lexicon.EMPHASISED:
        return False
    cases = {one.case, other.case}
    if Case.NONE in cases:
        return one.key in lexicon.COMMON_AND_NAME and cases != {Case.NONE, Case.LOWER}
    if Case.UPPER in cases and Case.TITLE not in cases and _is_emphasis(one.key):
        return False
    return Case.UPPER in cases or cases == {Case.TITLE, Case.LOWER}


def _is_emphasis(key: str) -> bool:
    """Return whether a common word in capitals is that word, and no acronym or name; two letters always may be."""
    return len(key) > 2 and key.isalpha() and key not in lexicon.ACRONYM_AND_WORD and key not in lexicon.COMMON_AND_NAME


def _ending_matters(one: Mark, other: Mark) -> bool:
    """Return whether an ending matters: "the servers" and "Roberts" differ from the singular; "no emojis" does not."""
    plainly_a_word = Case.LOWER in {one.case, other.case} or Case.NONE in {one.case, other.case}
    return not plainly_a_word or bool(one.article or other.article) or one.key in lexicon.STUFF_OR_THINGS


def _find_differences(old: Statement, new: Statement) -> Iterator[Difference]:
    """Yield the marks that only one side has, grouped by aspect; nothing if both have the same marks."""
    only_old, only_new = _only_in(old.normal, new.normal), _only_in(new.normal, old.normal)
    yield from _take_out(Aspect.OPPOSITE, lexicon.opposites_of, only_old, only_new)
    yield from _take_out(Aspect.TENSE, other_tenses, only_old, only_new)
    _name_subjects(old.normal, only_old, new.normal, only_new)
    for aspect in _REPORTED:
        one = [mark for mark in only_old if mark.aspect is aspect]
        other = [mark for mark in only_new if mark.aspect is aspect]
        if one or other:
            yield Difference(aspect, _surfaces(one), _surfaces(other))


def _only_in(marks: Sequence[Mark], others: Sequence[Mark]) -> list[Mark]:
    """Return the marks that the other side lacks, in order, counting repetitions."""
    left = Counter(_keys(others))
    only: list[Mark] = []
    for mark in marks:
        if left[mark.key]:
            left[mark.key] -= 1
        else:
            only.append(mark)
    return only


def _surfaces(marks: Iterable[Mark]) -> str:
    return " ".join(mark.surface for mark in marks)


def _take_out(
    aspect: Aspect, related: Callable[[str], tuple[str, ...]], only_old: list[Mark], only_new: list[Mark]
) -> Iterator[Difference]:
    """Remove related words from both lists and yield them as differences of that aspect."""
    if not only_old or not only_new:
        return
    by_key = {mark.key: mark for mark in only_new}
    for one in tuple(only_old):
        other = next((by_key[key] for key in related(one.key) if key in by_key), None)
        if other is not None:
            del by_key[other.key]
            only_old.remove(one)
            only_new.remove(other)
            yield Difference(aspect, one.surface, other.surface)


def _name_subjects(old: Sequence[Mark], only_old: list[Mark], new: Sequence[Mark], only_new: list[Mark]) -> None:
    """Mark two different first words with a verb after them as names: "Ana is …", "Ben is …"."""
    if only_old and only_new and _may_name(old, only_old[0]) and _may_name(new, only_new[0]):
        only_old[0] = only_old[0]._replace(aspect=Aspect.NAME)
        only_new[0] = only_new[0]._replace(aspect=Aspect.NAME)


def _may_name(marks: Sequence[Mark], mark: Mark) -> bool:
    if mark.is_name or mark.aspect is not Aspect.CONTENT or mark.key in lexicon.PRONOUNS:
        return mark.is_name
    place = _keys(marks).index(mark.key)
    after = marks[place + 1] if place + 1 < len(marks) else None
    verb_follows = after is not None and (after.key in _VERB_FOLLOWS or after.has_ending)
    return mark.case is Case.START and not mark.has_ending and not mark.article and verb_follows
