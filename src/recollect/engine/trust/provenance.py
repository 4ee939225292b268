"""Where memories come from: what each builds upon, what was built upon it, who is credited, and what looks copied.

Parents are named by content hash and looked up when somebody asks, so a parent that comes later is found without anything
being rewritten. Every answer is through the caller's eyes: a parent that it may not see is a hash, like one that is not there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

from recollect.engine.context import Engine, find, visible
from recollect.engine.read.reading import place_of, readable_streams
from recollect.engine.transaction import Pen
from recollect.formats.protocol import ORIGIN
from recollect.model.caller import author_of, names_shown
from recollect.model.errors import NotFound
from recollect.model.receipt import Plain
from recollect.model.seals import PARENT, cut_seals
from recollect.model.vocabulary import Namespace
from recollect.model.vocabulary import Source as Spoken
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.identity.likeness import fewest_shared, lookup, overlap
from recollect.rules.language.text import terms
from recollect.rules.ledger.content_ids import content_hash_in
from recollect.rules.trust import provenance as rules
from recollect.rules.trust.provenance import Lineage, Source, unresolved
from recollect.stores.protocol import Reader, Stored, Stream

MAX_SOURCES = 1_000
"""How many memories one answer holds."""
MAX_CREDITED, CREDITED_STEPS = 20_000, 130
"""How many memories are looked at to share out credit, and how far away: after so many halves only dust is left to share."""
AT_ONCE = 200
"""Of how many memories the parents are looked up together."""
MAX_ALIKE = 64
"""How many records of one content are told apart."""
MAX_POSTINGS = 2_000
MAX_STREAMS = 256
"""In how many streams derivatives are looked for, the newest first."""


def ancestors(engine: Engine, id: str) -> Lineage:
    """Everything that a memory goes back to."""
    with engine.read() as reader:
        return _up(_Sight(engine, reader), _root(engine, reader, id))


def descendants(engine: Engine, id: str) -> Lineage:
    """Everything that was built upon a memory."""
    with engine.read() as reader:
        return _down(_Sight(engine, reader), _root(engine, reader, id))


@dataclass(frozen=True, slots=True)
class CommonSource(Plain):
    """A memory that two others both go back to, and how many steps it is from each."""

    source: Source
    distance_a: int
    distance_b: int


def common_sources(engine: Engine, a: str, b: str) -> tuple[CommonSource, ...]:
    """What two memories both go back to, nearest first. A memory counts as a source of its own."""
    with engine.read() as reader:
        sight = _Sight(engine, reader)
        one, other = (_up(sight, _root(engine, reader, id, field)) for id, field in ((a, "a"), (b, "b")))
    return tuple(CommonSource(*found) for found in rules.in_common(one, other))


@dataclass(frozen=True, slots=True)
class Credit(Plain):
    """One who is credited with a memory, and for how much: exactly, as a fraction, and as a number to look at.

    ``truncated`` marks what nobody is credited with, because it lies further than credit is followed.
    """

    who: str
    share: Fraction
    truncated: bool = False

    def to_dict(self) -> dict[str, Any]:
        shown = {"who": self.who, "share": str(self.share), "part": round(float(self.share), 6)}
        return {**shown, "truncated": self.truncated}


def credit(engine: Engine, id: str) -> tuple[Credit, ...]:
    """Who is credited with a memory, most first; the shares add up to 1. The rule is :func:`rules.provenance.credit`.

    The last one may be nobody: what lies beyond :data:`MAX_CREDITED` sources is not followed, and not handed to anybody.
    """
    with engine.read() as reader:
        lineage = _up(_Sight(engine, reader), _root(engine, reader, id), MAX_CREDITED, CREDITED_STEPS)
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
    """Memories of other authors that look derived from this one, or it from them, without saying so; most alike first."""
    with engine.read() as reader:
        sight, root = _Sight(engine, reader), _root(engine, reader, id)
        related = {*_up(sight, root).sources, *_down(sight, root).sources}
        alike = [
            (share, stored)
            for stream in sight.streams_beside(root)
            for share, stored in _alike(engine, reader, stream, root)
            if stored.state.id not in related and sight.sees(stored)
        ]
    names = names_shown({_author(stored) for _, stored in alike} | {_author(root)})
    found = [
        _derivative(root, stored, share, names[_author(stored)])
        for share, stored in alike
        if _author(stored) != _author(root)
    ]
    return tuple(sorted(found, key=lambda one: (-one.overlap, one.at, one.id)))


def _derivative(root: Stored, stored: Stored, share: float, author: str) -> Derivative:
    assert stored.body is not None, "what is indexed has its content"
    direction = "derived" if place_of(stored) > place_of(root) else "source"
    at, content = stored.body["created_at"], stored.body["content"]
    return Derivative(stored.state.id, author, at, round(share, 4), direction, content)


def _alike(engine: Engine, reader: Reader, stream: Stream, root: Stored) -> list[tuple[float, Stored]]:
    """Who of a stream's active memories shares enough words, by the stream's own index."""
    assert root.body is not None, "a root has its content"
    words = frozenset(terms(root.body["content"], engine.policy.text.synonyms))
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
    """Return the content hashes of parents that are named by their hash or CID, or by a memory's id or alias."""
    with engine.read() as reader:
        return [content_hash_in(one) or _hash(_root(engine, reader, one, "parent")) for one in named]


def refusal(pen: Pen, draft: Draft, incumbent: Stored | None) -> Rejection | None:
    """Why a memory may not build upon what it names: upon itself, upon what is not there, or in a circle.

    A circle can only close through a parent that was named before it was there, and comes now.
    """
    candidate, own = draft.candidate, draft.content_hash
    if own in candidate.parent_refs:
        return _no("provenance:self_reference", "It names itself as a parent. Leave its own content hash out.")
    earlier = (incumbent.body or {}).get("parent_refs", ()) if incumbent is not None else ()
    if not candidate.parent_refs and not earlier:
        return None
    sight = _Sight(pen.engine, pen.writer)
    parents = sight.with_hashes(candidate.parent_refs)
    missing = [one for one in candidate.parent_refs if not any(_hash(stored) == one for stored in parents)]
    if missing and not _kept(pen.engine, draft):
        shown = ", ".join(one[:12] for one in missing[:3])
        return _no("provenance:unresolved", f"No memory has the content hash {shown}…. Write the parent first.")
    if _closes_a_circle(sight, own, [*parents, *([incumbent] if incumbent is not None else [])]):
        return _no("provenance:cycle", "One of its parents builds upon it. What is built upon comes first.")
    return None


def _kept(engine: Engine, draft: Draft) -> bool:
    """An application that imports may bring the parents later, whoever the file says was speaking."""
    imported = draft.source is Spoken.IMPORT or ORIGIN in draft.candidate.meta
    return (imported and engine.caller.trusted) or engine.policy.provenance.unresolved == "keep"


def _closes_a_circle(sight: "_Sight", own: str, parents: Sequence[Stored]) -> bool:
    """Whether a parent goes back to a memory that waits for this one, or to more than can be looked through for one."""
    waiting = {stored.state.id for stored in sight.built_upon([own])}
    if not waiting or sight.with_hashes([own]):
        return False  # nobody waits for it, or they mean a record that is there already
    lineages = (_up(sight, parent, MAX_CREDITED) for parent in parents)
    return any(lineage.truncated or not waiting.isdisjoint(lineage.sources) for lineage in lineages)


def _no(code: str, detail: str) -> Rejection:
    return Rejection("provenance", code, detail)


class _Sight:
    """What the caller may see of who builds upon what."""

    def __init__(self, engine: Engine, reader: Reader) -> None:
        self.engine, self.reader = engine, reader
        self._everything = engine.caller.trusted and engine.caller.agent is None
        streams = [] if self._everything else readable_streams(engine, reader, None, None, tuple(Namespace))
        self.selection = engine.selecting(streams=None if self._everything else tuple(s.number for s in streams))

    def sees(self, stored: Stored) -> bool:
        return stored.body is not None and visible(self.engine, self.reader, stored)

    def with_hashes(self, hashes: Sequence[str]) -> list[Stored]:
        """The records with these hashes. Where one hash has so many that others get no turn, each is asked for alone."""
        limit = MAX_ALIKE * max(len(hashes), 1)
        found = self._with(hashes, limit)
        return found if len(found) < limit else [one for hash in hashes for one in self._with([hash], MAX_ALIKE)]

    def _with(self, hashes: Sequence[str], limit: int) -> list[Stored]:
        return self.reader.with_hashes(self.engine.tenant, hashes, self.selection, limit)

    def built_upon(self, hashes: Sequence[str]) -> list[Stored]:
        return self.reader.built_upon(self.engine.tenant, hashes, self.selection, MAX_SOURCES)

    def by_ids(self, ids: Iterable[str | None]) -> dict[str, Stored]:
        found = self.reader.by_ids(self.engine.tenant, sorted({id for id in ids if id is not None}))
        return {id: stored for id, stored in found.items() if self.sees(stored)}

    def streams_beside(self, root: Stored) -> list[Stream]:
        """The streams of the memory's own namespace, the newest first."""
        assert root.body is not None, "a root has its content"
        streams = readable_streams(self.engine, self.reader, None, None, [root.body["namespace"]])
        return sorted(streams, key=lambda stream: -stream.number)[:MAX_STREAMS]


class _Parent(NamedTuple):
    """What a hash leads to: a record, or nothing that the caller could see. What was erased has only left a ``seal``."""

    hash: str
    stored: Stored | None
    seal: str = ""

    @property
    def source(self) -> Source:
        if self.seal:
            return rules.erased(self.seal)
        return _source(self.stored) if self.stored is not None else unresolved(self.hash)


def _up(sight: _Sight, root: Stored, limit: int | None = None, steps: int | None = None) -> Lineage:
    """What a memory goes back to, level by level, until there is more than one answer holds, or so many steps away."""
    most = MAX_SOURCES if limit is None else limit
    sources, level = {root.state.id: _source(root)}, [root]
    parents: dict[str, tuple[str, ...]] = {}
    for _ in count() if steps is None else range(steps):
        further: dict[str, Stored] = {}
        while level and len(sources) <= most:
            for child, found in _parents(sight, level[:AT_ONCE]).items():
                parents[child] = tuple(dict.fromkeys(parent.source.key for parent in found))
                new = {parent.source.key: parent for parent in found if parent.source.key not in sources}
                sources |= {key: parent.source for key, parent in new.items()}
                further |= {key: parent.stored for key, parent in new.items() if parent.stored is not None}
            level = level[AT_ONCE:]
        level += further.values()
        if not level or len(sources) > most:
            break
    unfollowed = frozenset(one.state.id for one in level if _builds_upon_others(one))
    return Lineage(root.state.id, "ancestors", sources, parents, unfollowed)


def _builds_upon_others(stored: Stored) -> bool:
    before = stored.state.supersedes_id is not None
    return before or bool(_named(stored)) or bool(cut_seals(stored.body or {}, PARENT))


def _down(sight: _Sight, root: Stored) -> Lineage:
    sources, level = {root.state.id: _source(root)}, [root]
    parents: dict[str, tuple[str, ...]] = {}
    while level and len(sources) <= MAX_SOURCES:
        keys = {stored.state.id for stored in level}
        children = {stored.state.id: stored for stored in sight.built_upon([_hash(stored) for stored in level])}
        children |= sight.by_ids(stored.state.superseded_by_id for stored in level)
        further: dict[str, Stored] = {}
        for child, found in _parents(sight, list(children.values())).items():
            named = [parent.source.key for parent in found if parent.source.key in keys]
            if named and child != root.state.id:
                parents[child] = tuple(dict.fromkeys((*parents.get(child, ()), *named)))
                if child not in sources:
                    sources[child], further[child] = _source(children[child]), children[child]
        level = list(further.values())
    return Lineage(root.state.id, "descendants", sources, parents, frozenset(stored.state.id for stored in level))


def _parents(sight: _Sight, children: Sequence[Stored]) -> dict[str, list[_Parent]]:
    """What each of these builds upon: the records that it means by its hashes, and the version that it supersedes."""
    hashes = list(dict.fromkeys(one for child in children for one in _named(child)))
    records: dict[str, list[Stored]] = {}
    for stored in sight.with_hashes(hashes):
        records.setdefault(_hash(stored), []).append(stored)
    older = sight.by_ids(child.state.supersedes_id for child in children)
    found: dict[str, list[_Parent]] = {}
    for child in children:
        before = older.get(child.state.supersedes_id or "")
        superseded = [_Parent(_hash(before), before)] if before is not None else []
        named = [one for one in _named(child) if not superseded or one != superseded[0].hash]
        erased = [_Parent("", None, seal) for seal in cut_seals(child.body or {}, PARENT)]
        found[child.state.id] = [
            *(_Parent(one, resolve_parent(child, one, records.get(one, ()))) for one in named),
            *superseded,
            *erased,
        ]
    return found


def resolve_parent(child: Stored, hash: str, records: Sequence[Stored]) -> Stored | None:
    """Which record a hash means: one of the child's own stream, if there is one, else anybody's."""
    alike = [stored for stored in records if _hash(stored) == hash and stored.state.id != child.state.id]
    near = [stored for stored in alike if stored.stream == child.stream]
    return rules.meant_by(place_of(child), [(place_of(stored), stored) for stored in near or alike])


def _root(engine: Engine, reader: Reader, id: str, field: str = "id") -> Stored:
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


def _named(stored: Stored) -> Sequence[str]:
    return tuple((stored.body or {}).get("parent_refs", ()))


def _hash(stored: Stored) -> str:
    return str((stored.body or {}).get("content_hash", ""))


def _author(stored: Stored) -> str:
    """Return the author's principal."""
    return author_of(stored.body or {})
