"""Finding the same words under another key.

Candidates come from the index: whoever shares at least ``overlap_min`` of the words also shares one of the rarest,
so only those are looked up. The search runs before the lock; inside it only newer memories are looked at again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.engine.pen import Pen
from recollect.model.policy import NearDuplicates
from recollect.model.vocabulary import KIND_CLASS, KindClass
from recollect.rules.candidates import lookup
from recollect.rules.draft import Draft
from recollect.rules.keys import BY_RULE
from recollect.rules.language.reading import Statement, read
from recollect.rules.near_duplicate import fewest_shared, how_alike, overlap
from recollect.stores.protocol import Reader, Selection, Stored, Stream

MAX_LINKS = 3
"""How many near-duplicates one new memory is linked to."""


MAX_JUDGED = 20
"""How many of the most alike are read closely. Whoever says the same shares nearly all words, so it is among them."""
MAX_POSTINGS = 2_000
"""How many index entries a search reads, unless even the fewest lists that it needs hold more."""


class Search(NamedTuple):
    """What was found before the lock, and the last memory that was looked at."""

    found: tuple["Alike", ...]
    seen_to: int


class Alike(NamedTuple):
    """A memory that overlaps enough; the most alike come first, the older of two that are equally so."""

    negated_overlap: float
    number: int
    id: str


class Near(NamedTuple):
    stored: Stored
    same: bool
    score: float


NOTHING = Search((), 0)


def search(engine: Engine, reader: Reader, stream: Stream, draft: Draft) -> Search:
    """Look for near-duplicates: in a snapshot, so that the lock is not held meanwhile."""
    if not wanted(engine, draft):
        return NOTHING
    return Search(tuple(_overlapping(engine, reader, stream, draft, after=0)), stream.last_memory)


def recheck(pen: Pen, draft: Draft, earlier: Search) -> list[Near]:
    """Inside the lock: what was found before and is still active, and what has come since. Best first."""
    if not wanted(pen.engine, draft):
        return []
    alike = [*earlier.found]
    if pen.stream.last_memory > earlier.seen_to:
        pen.flush()
        alike += _overlapping(pen.engine, pen.writer, pen.stream, draft, after=earlier.seen_to)
    if not alike:
        return []
    said = read(draft.candidate.content)
    judged = [near for stored in _closest(pen, draft, alike) if (near := _judged(pen.engine, said, stored)) is not None]
    return sorted(judged, key=lambda near: (not near.same, -near.score, near.stored.number))[:MAX_LINKS]


def _closest(pen: Pen, draft: Draft, alike: Sequence[Alike]) -> Sequence[Stored]:
    """The most alike of those that the caller may know of: in the literal reading all of them."""
    literal, sight = pen.engine.policy.near_duplicates.compare == "literal", pen.engine.sight
    most = None if literal else MAX_JUDGED
    ids = [one.id for one in (sorted(alike)[:most] if sight.categories is None else sorted(alike))]
    found = pen.writer.by_ids(pen.stream.tenant, ids)
    known = (found[id] for id in ids if id in found)
    return [stored for stored in known if sight.sees(draft.candidate.scope, stored.state.category)][:most]


def wanted(engine: Engine, draft: Draft) -> bool:
    """An explicit key always wins over likeness, and events are never merged."""
    assert draft.key is not None, "the naming gate sets the key"
    if engine.policy.near_duplicates.action == "ignore" or not draft.terms:
        return False
    if KIND_CLASS[draft.candidate.kind] is KindClass.EVENT:
        return False
    literal = engine.policy.near_duplicates.compare == "literal"
    return draft.key.source in BY_RULE or (literal and draft.key.source != "topic")


def _overlapping(engine: Engine, reader: Reader, stream: Stream, draft: Draft, after: int) -> Iterable[Alike]:
    settings = engine.policy.near_duplicates
    if settings.compare == "literal":
        return _everyone_in_scope(engine, reader, stream, draft, after)
    words = frozenset(draft.terms)
    numbers = _sharing_enough(reader, stream, words, settings, after, _comparable(engine, stream, draft))
    if not numbers:
        return ()
    alike = reader.neighbours(stream, numbers, words, fewest_shared(len(words), settings.overlap_min))
    scored = [Alike(-overlap(words, n.terms), n.number, n.id) for n in alike]
    return [one for one in scored if -one.negated_overlap >= settings.overlap_min]


def _everyone_in_scope(engine: Engine, reader: Reader, stream: Stream, draft: Draft, after: int) -> Iterable[Alike]:
    """Likeness of letters shares no rare word for certain, so in the literal reading everybody is compared."""
    selection = replace(_comparable(engine, stream, draft), ranges=(("memory", ">", after),))
    found = reader.select(stream.tenant, selection, engine.policy.near_duplicates.max_candidates)
    return [Alike(0.0, stored.number, stored.state.id) for stored in found]


def _sharing_enough(
    reader: Reader, stream: Stream, words: frozenset[str], settings: NearDuplicates, after: int, comparable: Selection
) -> Sequence[int]:
    """Who shares enough of the rarest words to be worth comparing: few, and nobody who matters is left out."""
    frequencies = reader.term_frequencies(stream, sorted(words))
    looked_up, shared_min = lookup(words, frequencies, settings.overlap_min, MAX_POSTINGS)
    if len(looked_up) < shared_min:
        return ()
    return reader.sharing(stream, looked_up, shared_min, after, settings.max_candidates, comparable)


def _comparable(engine: Engine, stream: Stream, draft: Draft) -> Selection:
    """Who may say the same: of the same scope and sort, and nobody of whom the writer may not know."""
    return Selection(
        streams=(stream.number,),
        scopes=(draft.candidate.scope,),
        categories=engine.sight.categories,
        equal={"status": "active", "kind_class": str(KIND_CLASS[draft.candidate.kind])},
    )


def _judged(engine: Engine, said: Statement, stored: Stored) -> Near | None:
    if stored.body is None or stored.state.status != "active":
        return None
    settings = engine.policy.near_duplicates
    answer = how_alike(
        stored.body["content"],
        said,
        overlap_min=settings.overlap_min,
        ratio_min=settings.ratio_min,
        compare=settings.compare,
    )
    return Near(stored, answer.same, answer.score) if answer.similar else None
