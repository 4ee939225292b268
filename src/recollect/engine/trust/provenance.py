"""Trace where memories come from: their ancestors and descendants, who is credited, and what looks copied.

Parents are named by content hash and resolved when a caller asks, so that a parent that is imported later is found without
rewriting anything. A parent that the caller may not see is shown as a hash, like one that is missing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from recollect.engine.context import Engine, find, visible
from recollect.engine.read.reading import place_of, readable_streams
from recollect.engine.transaction import StreamWriter
from recollect.formats.protocol import ORIGIN
from recollect.model.caller import author_of, names_shown
from recollect.model.canonical import Plain
from recollect.model.errors import NotFound
from recollect.model.seals import PARENT, cut_seals
from recollect.model.vocabulary import Namespace
from recollect.model.vocabulary import Source as Spoken
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.identity.likeness import fewest_shared, lookup, overlap
from recollect.rules.language.text import terms
from recollect.rules.ledger.content_ids import content_hash_in
from recollect.rules.trust import provenance as rules
from recollect.rules.trust.provenance import Lineage, Source, unresolved_source
from recollect.stores.protocol import Reader, Stored, Stream

MAX_SOURCES = 1_000
"""How many memories one answer holds."""
MAX_CREDITED, CREDITED_STEPS = 20_000, 130
"""How many memories share credit, and how many steps away: after so many halvings nothing of note is left."""
AT_ONCE = 200
"""Of how many memories the parents are looked up together."""
MAX_ALIKE = 64
"""How many records of one content hash are read."""
MAX_POSTINGS = 2_000
MAX_STREAMS = 256
"""In how many streams derivatives are looked for, the newest first."""


def ancestors(engine: Engine, id: str) -> Lineage:
    """Return everything that a memory was built upon, directly or not."""
    with engine.read() as reader:
        return _find_ancestors(_Sight(engine, reader), _find_root(engine, reader, id))


def descendants(engine: Engine, id: str) -> Lineage:
    """Return everything that was built upon a memory, directly or not."""
    with engine.read() as reader:
        return _find_descendants(_Sight(engine, reader), _find_root(engine, reader, id))


@dataclass(frozen=True, slots=True)
class CommonSource(Plain):
    """A common ancestor of two memories, and how many steps it is from each."""

    source: Source
    distance_a: int
    distance_b: int


def common_sources(engine: Engine, a: str, b: str) -> tuple[CommonSource, ...]:
    """Return the common ancestors of two memories, nearest first. A memory counts as its own ancestor."""
    with engine.read() as reader:
        sight = _Sight(engine, reader)
        one, other = (
            _find_ancestors(sight, _find_root(engine, reader, id, field)) for id, field in ((a, "a"), (b, "b"))
        )
    return tuple(CommonSource(*found) for found in rules.find_common(one, other))


@dataclass(frozen=True, slots=True)
class Credit(Plain):
    """A principal credited with a memory, and the share: as an exact fraction, and as a rounded number.

    ``truncated`` marks the share of sources that lie further than credit is followed.
    """

    who: str
    share: Fraction
    truncated: bool = False

    def to_dict(self) -> dict[str, Any]:
        shown = {"who": self.who, "share": str(self.share), "part": round(float(self.share), 6)}
        return {**shown, "truncated": self.truncated}


def credit(engine: Engine, id: str) -> tuple[Credit, ...]:
    """Return who is credited with a memory, most first; the shares add up to 1. The rule is :func:`rules.provenance.credit`.

    The last share may be nobody's: beyond :data:`MAX_CREDITED` sources credit is not followed.
    """
    with engine.read() as reader:
        lineage = _find_ancestors(_Sight(engine, reader), _find_root(engine, reader, id), MAX_CREDITED, CREDITED_STEPS)
    shares = rules.credit(lineage)
    beyond = shares.pop(rules.NOT_FOLLOWED, None)
    names = names_shown({source.author for source in lineage.sources.values() if source.author is not None})
    found = [Credit(names.get(who, who), share) for who, share in shares.items()]
    return (*found, *([Credit("(not followed)", beyond, truncated=True)] if beyond is not None else []))


@dataclass(frozen=True, slots=True)
class Derivative(Plain):
    """Another author's memory of much the same words, where neither names the other.

    ``direction`` is ``derived`` if it came later than the memory asked about, and ``source`` if it was there before.
    """

    id: str
    author: str
    at: str
    overlap: float
    direction: str
    content: str


def derivatives(engine: Engine, id: str) -> tuple[Derivative, ...]:
    """Return memories of other authors that look derived from this one, or it from them, unstated; most alike first."""
    with engine.read() as reader:
        sight, root = _Sight(engine, reader), _find_root(engine, reader, id)
        related = {*_find_ancestors(sight, root).sources, *_find_descendants(sight, root).sources}
        streams = readable_streams(engine, reader, None, None, [(root.body or {})["namespace"]])
        newest = sorted(streams, key=lambda stream: -stream.number)[:MAX_STREAMS]
        alike = [
            (share, stored)
            for stream in newest
            for share, stored in _find_alike(engine, reader, stream, root)
            if stored.state.id not in related and sight.sees(stored)
        ]
    names = names_shown({_author(stored) for _, stored in alike} | {_author(root)})
    found = [
        Derivative(
            stored.state.id,
            names[_author(stored)],
            stored.body["created_at"],
            round(share, 4),
            "derived" if place_of(stored) > place_of(root) else "source",
            stored.body["content"],
        )
        for share, stored in alike
        if stored.body is not None and _author(stored) != _author(root)
    ]
    return tuple(sorted(found, key=lambda one: (-one.overlap, one.at, one.id)))


def _find_alike(engine: Engine, reader: Reader, stream: Stream, root: Stored) -> list[tuple[float, Stored]]:
    """Return the active memories of a stream that share enough words with a memory, each with its overlap."""
    words = frozenset(terms((root.body or {})["content"], engine.policy.text.synonyms))
    least = engine.policy.provenance.derivative_overlap_min
    if not words or not stream.documents:
        return []
    frequencies = reader.term_frequencies(stream, sorted(words))
    looked_up, shared_min = lookup(words, frequencies, least, MAX_POSTINGS)
    if len(looked_up) < shared_min:
        return []
    most, visible = engine.policy.near_duplicates.max_candidates, engine.selecting(equal={"status": "active"})
    numbers = reader.sharing(stream, looked_up, shared_min, 0, most, visible)
    near = reader.neighbours(stream, numbers, words, fewest_shared(len(words), least)) if numbers else []
    shares = {one.number: overlap(words, one.terms) for one in near}
    enough = [number for number, share in shares.items() if share >= least]
    return [(shares[stored.number], stored) for stored in reader.by_numbers(stream, enough)]


def parent_hashes(engine: Engine, named: Sequence[str]) -> list[str]:
    """Return the content hashes of parents that are given as hashes, CIDs, ids or aliases."""
    with engine.read() as reader:
        return [content_hash_in(one) or _hash(_find_root(engine, reader, one, "parent")) for one in named]


def refusal(stream_writer: StreamWriter, draft: Draft, incumbent: Stored | None) -> Rejection | None:
    """Return why a memory may not have these parents: itself, a missing one, or one that closes a cycle.

    A cycle can only close through a memory that others named as their parent before it was written.
    """
    candidate, own = draft.candidate, draft.content_hash
    if own in candidate.parent_refs:
        return _reject("provenance:self_reference", "It names itself as a parent. Leave its own content hash out.")
    earlier = (incumbent.body or {}).get("parent_refs", ()) if incumbent is not None else ()
    if not candidate.parent_refs and not earlier:
        return None
    sight = _Sight(stream_writer.engine, stream_writer.writer)
    parents = sight.with_hashes(candidate.parent_refs)
    missing = [one for one in candidate.parent_refs if not any(_hash(stored) == one for stored in parents)]
    imported = draft.source is Spoken.IMPORT or ORIGIN in candidate.meta
    # an application that imports may bring the parents later
    may_be_missing = (imported and sight.engine.caller.trusted) or sight.engine.policy.provenance.unresolved == "keep"
    if missing and not may_be_missing:
        shown = ", ".join(one[:12] for one in missing[:3])
        return _reject("provenance:unresolved", f"No memory has the content hash {shown}…. Write the parent first.")
    if _closes_cycle(sight, own, [*parents, *([incumbent] if incumbent is not None else [])]):
        return _reject("provenance:cycle", "One of its parents builds upon it. What is built upon comes first.")
    return None


def _closes_cycle(sight: "_Sight", own: str, parents: Sequence[Stored]) -> bool:
    """Return whether a parent descends from a memory that names this one as its parent, or has too many ancestors to check."""
    waiting = {stored.state.id for stored in sight.built_upon([own])}
    if not waiting or sight.with_hashes([own]):
        return False  # nobody waits for it, or they mean a record that is there already
    lineages = (_find_ancestors(sight, parent, MAX_CREDITED) for parent in parents)
    return any(lineage.truncated or not waiting.isdisjoint(lineage.sources) for lineage in lineages)


def _reject(code: str, detail: str) -> Rejection:
    return Rejection("provenance", code, detail)


class _Sight:
    """Reads the memories that the caller may see."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self.engine, self.reader = engine, reader
        self._everything = engine.caller.trusted and engine.caller.agent is None
        streams = [] if self._everything else readable_streams(engine, reader, None, None, tuple(Namespace))
        self.selection = engine.selecting(streams=None if self._everything else tuple(s.number for s in streams))

    def sees(self, stored: Stored) -> bool:
        return stored.body is not None and visible(self.engine, self.reader, stored)

    def with_hashes(self, hashes: Sequence[str]) -> list[Stored]:
        """Return the records with these hashes. If one hash has so many that others get no turn, read each hash alone."""
        limit, read = MAX_ALIKE * max(len(hashes), 1), partial(self.reader.with_hashes, self.engine.tenant)
        found = read(hashes, self.selection, limit)
        if len(found) < limit:
            return found
        return [one for hash in hashes for one in read([hash], self.selection, MAX_ALIKE)]

    def built_upon(self, hashes: Sequence[str]) -> list[Stored]:
        return self.reader.built_upon(self.engine.tenant, hashes, self.selection, MAX_SOURCES)

    def by_ids(self, ids: Iterable[str | None]) -> dict[str, Stored]:
        found = self.reader.by_ids(self.engine.tenant, sorted({id for id in ids if id is not None}))
        return {id: stored for id, stored in found.items() if self.sees(stored)}


class _Parent(NamedTuple):
    """A parent's hash and its record, if the caller can see one. An erased parent has left only a ``seal``."""

    hash: str
    stored: Stored | None
    seal: str = ""

    @property
    def source(self) -> Source:
        if self.seal:
            return rules.erased_source(self.seal)
        return _source(self.stored) if self.stored is not None else unresolved_source(self.hash)


def _find_ancestors(sight: _Sight, root: Stored, most: int | None = None, steps: int | None = None) -> Lineage:
    """Return the ancestors of a memory, level by level, up to so many sources or steps."""
    most = MAX_SOURCES if most is None else most
    sources, level = {root.state.id: _source(root)}, [root]
    parents: dict[str, tuple[str, ...]] = {}
    for _ in count() if steps is None else range(steps):
        further: dict[str, Stored] = {}
        while level and len(sources) <= most:
            for child, found in _find_parents(sight, level[:AT_ONCE]).items():
                parents[child] = tuple(dict.fromkeys(parent.source.key for parent in found))
                new = {parent.source.key: parent for parent in found if parent.source.key not in sources}
                sources |= {key: parent.source for key, parent in new.items()}
                further |= {key: parent.stored for key, parent in new.items() if parent.stored is not None}
            level = level[AT_ONCE:]
        level += further.values()
        if not level or len(sources) > most:
            break
    unfollowed = frozenset(
        one.state.id
        for one in level
        if one.state.supersedes_id is not None or _parent_refs(one) or cut_seals(one.body or {}, PARENT)
    )
    return Lineage(root.state.id, "ancestors", sources, parents, unfollowed)


def _find_descendants(sight: _Sight, root: Stored) -> Lineage:
    sources, level = {root.state.id: _source(root)}, [root]
    parents: dict[str, tuple[str, ...]] = {}
    while level and len(sources) <= MAX_SOURCES:
        keys = {stored.state.id for stored in level}
        children = {stored.state.id: stored for stored in sight.built_upon([_hash(stored) for stored in level])}
        children |= sight.by_ids(stored.state.superseded_by_id for stored in level)
        further: dict[str, Stored] = {}
        for child, found in _find_parents(sight, list(children.values())).items():
            named = [parent.source.key for parent in found if parent.source.key in keys]
            if named and child != root.state.id:
                parents[child] = tuple(dict.fromkeys((*parents.get(child, ()), *named)))
                if child not in sources:
                    sources[child], further[child] = _source(children[child]), children[child]
        level = list(further.values())
    return Lineage(root.state.id, "descendants", sources, parents, frozenset(stored.state.id for stored in level))


def _find_parents(sight: _Sight, children: Sequence[Stored]) -> dict[str, list[_Parent]]:
    """Return the parents of each of these: the records that its hashes stand for, and the version that it supersedes."""
    hashes = list(dict.fromkeys(one for child in children for one in _parent_refs(child)))
    records: dict[str, list[Stored]] = {}
    for stored in sight.with_hashes(hashes):
        records.setdefault(_hash(stored), []).append(stored)
    older = sight.by_ids(child.state.supersedes_id for child in children)
    found: dict[str, list[_Parent]] = {}
    for child in children:
        before = older.get(child.state.supersedes_id or "")
        superseded = [_Parent(_hash(before), before)] if before is not None else []
        named = [one for one in _parent_refs(child) if not superseded or one != superseded[0].hash]
        erased = [_Parent("", None, seal) for seal in cut_seals(child.body or {}, PARENT)]
        found[child.state.id] = [
            *(_Parent(one, resolve_parent(child, one, records.get(one, ()))) for one in named),
            *superseded,
            *erased,
        ]
    return found


def resolve_parent(child: Stored, hash: str, records: Sequence[Stored]) -> Stored | None:
    """Return the record that a parent hash stands for: one of the child's own stream, if there is one, else any."""
    alike = [stored for stored in records if _hash(stored) == hash and stored.state.id != child.state.id]
    near = [stored for stored in alike if stored.stream == child.stream]
    return rules.find_referenced(place_of(child), [(place_of(stored), stored) for stored in near or alike])


def _find_root(engine: Engine, reader: Reader, id: str, field: str = "id") -> Stored:
    stored = find(engine, reader, id, field)
    if stored.body is None:
        hint = "`history` and `chain` show what is left of it."
        raise NotFound(f"the content of {id!r} was {stored.state.removed}.", field=field, hint=hint)
    return stored


def _source(stored: Stored) -> Source:
    body = stored.body or {}
    return Source(
        stored.state.id,
        _hash(stored),
        stored.state.id,
        _author(stored),
        body["created_at"],
        str(stored.state.status),
        body["content"],
        len(stored.actor_names),
    )


def _parent_refs(stored: Stored) -> Sequence[str]:
    return tuple((stored.body or {}).get("parent_refs", ()))


def _hash(stored: Stored) -> str:
    return str((stored.body or {}).get("content_hash", ""))


def _author(stored: Stored) -> str:
    """Return the author's principal."""
    return author_of(stored.body or {})
