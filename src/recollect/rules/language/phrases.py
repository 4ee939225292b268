"""Fixed phrases that say in several words what one word, or another phrase, says.

Written as keys (singular, present) and applied after articles are gone. The longest phrase that fits wins.
"""

from collections.abc import Iterator, Sequence

from recollect.rules.language.lexicon import NEGATIONS
from recollect.rules.language.marks import Case, Mark
from recollect.rules.language.scanning import aspect_of

_PHRASES = """
no longer = no-longer
not anymore = no-longer
any more = anymore
used to = used-to
be going to = going-to
have got = have
have got to = must
have to = must
be required to = must
be able to = can
be unable to = can not
be allowed to = may
as well = as-well
as well as = and
in order to = to
prior to = before
right now = now
at moment = now
at present = now
as of now = now
rather than = instead-of
instead of = instead-of
all of = all
both of = both
outside of = outside
take place = happen
be located in = be in
be situated in = be in
be named = be called
be employed by = work for
be employed at = work for
work at = work for
worked at = worked for
working at = working for
my name be = i be called
's name be = be called
have allergy to = be allergic to
would like to = want to
would' like to = want to
%year of age = %year old
time zone = timezone
per cent = percent
co worker = coworker
set up = setup
log in = login
back up = backup
front end = frontend
back end = backend
data base = db
code base = codebase
on regular basis = regularly
on every day basis = every day
once every = every
no one = nobody
not ever = never
do not ever = never
every and every = every
every single = every
"""

_LONGEST_FIRST: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
for _line in _PHRASES.strip().splitlines():
    _said, _meant = (tuple(side.split()) for side in _line.split(" = "))
    _LONGEST_FIRST.setdefault(_said[0], []).append((_said, _meant))
for _phrases in _LONGEST_FIRST.values():
    _phrases.sort(key=lambda phrase: -len(phrase[0]))

_NOT_AFTER_NEGATION = frozenset({("must",), ("may",)})
"""Denied, these turn into something else: "does not have to" is no "must not"."""


def fold_phrases(marks: Sequence[Mark]) -> list[Mark]:
    """The same marks with each known phrase replaced by what it means."""
    folded: list[Mark] = []
    read_to = 0
    for at, mark in enumerate(marks):
        if at < read_to:
            continue
        candidates = _LONGEST_FIRST.get(mark.key)
        found = _phrase_at(marks, at, candidates) if candidates else None
        if found is None:
            folded.append(mark)
        else:
            said, meant = found
            read_to = at + len(said)
            folded.extend(_meaning(meant, marks[at:read_to]))
    return folded


def _phrase_at(
    marks: Sequence[Mark], at: int, candidates: list[tuple[tuple[str, ...], tuple[str, ...]]]
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    after = marks[at + 1].key if at + 1 < len(marks) else ""
    for said, meant in candidates:
        if said[1] != after or tuple(mark.key for mark in marks[at : at + len(said)]) != said:
            continue
        if meant in _NOT_AFTER_NEGATION and at > 0 and marks[at - 1].key in NEGATIONS:
            continue
        return said, meant
    return None


def _meaning(meant: tuple[str, ...], said: Sequence[Mark]) -> Iterator[Mark]:
    """The marks of what is meant. Word for word where both are equally long, else the first stands for all."""
    first = said[0]
    surfaces = [mark.surface for mark in said]
    if len(meant) != len(said):
        surfaces = [" ".join(surfaces), *meant[1:]]
    for place, (key, surface) in enumerate(zip(meant, surfaces, strict=True)):
        case = first.case if place == 0 else Case.LOWER
        yield Mark(key, "", surface, aspect_of(key, None), case, first.article)
