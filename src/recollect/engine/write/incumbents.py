"""Find what a new memory meets: the holder of its key, an equal waiting claim, a near-duplicate, or the capacity."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from recollect.engine.context import Engine, damage_of
from recollect.engine.read.assemble import hidden_ids, to_memory
from recollect.engine.transaction import StreamWriter
from recollect.model.caller import Right
from recollect.model.errors import BadInput, WrongState
from recollect.model.ledger import Event
from recollect.model.record import Memory
from recollect.model.state import State
from recollect.model.vocabulary import KIND_CLASS, Authority, KeySource, Kind, KindClass, Namespace, Source, Status
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.gates.naming import slots_of
from recollect.rules.identity.decision import began_before, is_changed_by, reading_of
from recollect.rules.identity.difference import what_differs
from recollect.rules.identity.keys import BY_RULE, identity
from recollect.rules.identity.likeness import fewest_shared, how_alike, lookup, overlap
from recollect.rules.language.reading import Statement, read
from recollect.rules.statements import Relation
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Reader, Selection, Stored, Stream


class Held(NamedTuple):
    """The visible holder of a key, and whether other active memories, which stay as they are, hold it too."""

    incumbent: Stored | None
    by_others: bool


def holder(
    engine: Engine,
    reader: Reader,
    stream: Stream,
    scope: str,
    kind_class: KindClass,
    key_text: str,
    *,
    category: str | None = None,
) -> Held:
    """Return the holder of a key: of several visible ones, that of the same ``category``, else the oldest."""
    found = reader.active_with_key(stream, scope, str(kind_class), identity(key_text))
    if broken := next((stored for stored in found if stored.damage is not None), None):
        raise damage_of(reader, broken)  # without its content, the outcome cannot be decided
    sight = engine.sight
    seen = [stored for stored in found if sight.sees(scope, stored.state.category)]
    visible_holder = min(seen, key=lambda stored: (stored.state.category != category, stored.number), default=None)
    return Held(visible_holder, len(found) > (visible_holder is not None))


SLOT_HOLDERS = 16
"""How many active memories of one slot, or of one subject and value, a statement is compared with."""


def find_changed(engine: Engine, reader: Reader, stream: Stream, draft: Draft) -> Stored | None:
    """Return the one active memory, under another key, that a plain statement repeats, changes or retracts.

    It is found by its slot ("the rent") or by its subject and value ("sold the Volvo"). If two memories match, or the
    older one says more than what changed, nothing is replaced, and both are linked as possibly outdated.
    """
    assert draft.key is not None, "the naming gate sets the key"
    if not draft.frames or draft.key.source not in BY_RULE:
        return None
    candidate, sight = draft.candidate, engine.sight
    found = [
        stored
        for stored in _find_about(reader, stream, draft)
        if stored.body is not None
        and stored.body["scope"] == candidate.scope
        and KIND_CLASS[Kind(stored.body["kind"])] is KIND_CLASS[candidate.kind]
        and sight.sees(candidate.scope, stored.state.category)
        and _is_changed(engine, draft, stored)
    ]
    return found[0] if len(found) == 1 else None


def changed_among(engine: Engine, draft: Draft, alike: Sequence["Near"]) -> Stored | None:
    """Return the one memory of nearly the same words that a plain statement changes, if its words alone show it."""
    if draft.key is None or draft.key.source not in BY_RULE:
        return None
    found = [near.stored for near in alike if _is_changed(engine, draft, near.stored)]
    return found[0] if len(found) == 1 else None


def _is_changed(engine: Engine, draft: Draft, stored: Stored) -> bool:
    if stored.body is None or _is_misnamed(engine, draft, stored) or began_before(draft, stored.state):
        return False
    return is_changed_by(stored.body["content"], draft)


def _find_about(reader: Reader, stream: Stream, draft: Draft) -> list[Stored]:
    """Return the active memories that share a slot, or subject and value, with a frame of the draft, oldest first."""
    found: dict[int, Stored] = {}
    for marks in {tuple(sorted(slots_of([frame]).items())) for frame in draft.frames}:
        known = dict(marks)
        about = (known.get("slot", ""), known.get("subject_value", ""))
        found |= {stored.number: stored for stored in reader.active_about(stream, *about, SLOT_HOLDERS)}
    return [found[number] for number in sorted(found)]


def _is_misnamed(engine: Engine, draft: Draft, stored: Stored) -> bool:
    """Return whether a lower authority chose the key of a memory: a higher one's words must not continue under it."""
    assert stored.body is not None, "an active memory has its content"
    order = engine.policy.conflict.authority_order
    chosen = KeySource(stored.body["key_source"]) not in BY_RULE
    return chosen and outranks(draft.authority, Authority(stored.state.authority), order)


class Places:
    """The keys taken so far while the memories of a stream are rebuilt in order."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, KindClass, str]] = set()

    def is_taken(self, state: State, body: Mapping[str, Any] | None) -> bool:
        """Return whether an active memory already has this one's key, which is then shadowed; else take the key."""
        if body is None or state.status is not Status.ACTIVE:
            return False
        place = (body["scope"], KIND_CLASS[Kind(body["kind"])], identity(state.canonical_key))
        if place in self._taken:
            return True
        self._taken.add(place)
        return False


SAID_AGAIN = "conflict:said_again"
MOST_COMPARED = 100
"""How many waiting claims a new one is compared with, the latest first."""
_MOST_VERSIONS = 10
"""How many versions of the active memory are searched for claims that wait against them."""


def find_waiting_claim(stream_writer: StreamWriter, draft: Draft, incumbent: Stored) -> Stored | None:
    """Return the visible claim that waits against the incumbent and says the same as the draft.

    Only a claim of the same source and authority counts: a person who repeats a guess makes a claim of their own.
    """
    ids = _conflicts_of_versions(stream_writer, incumbent)[:MOST_COMPARED]
    hidden = hidden_ids(stream_writer.engine, stream_writer.writer, ids)
    known = stream_writer.writer.by_ids(stream_writer.stream.tenant, ids) if ids else {}
    found = (known[id] for id in ids if id in known and id not in hidden)
    return next((stored for stored in found if _is_same_claim(stream_writer, draft, stored)), None)


def _conflicts_of_versions(stream_writer: StreamWriter, incumbent: Stored) -> list[str]:
    """Return the ids that conflict with the incumbent or an earlier version of it, the latest first."""
    ids: dict[str, None] = {}
    version: Stored | None = incumbent
    for _ in range(_MOST_VERSIONS):
        if version is None:
            break
        ids |= dict.fromkeys(reversed(version.state.conflict_ids))
        before = version.state.supersedes_id
        version = stream_writer.writer.by_ids(stream_writer.stream.tenant, [before]).get(before) if before else None
    return list(ids)


def _is_same_claim(stream_writer: StreamWriter, draft: Draft, stored: Stored) -> bool:
    body, state = stored.body, stored.state
    if body is None or state.status is not Status.CONTRADICTORY or stored.stream != stream_writer.stream.number:
        return False
    assert draft.key is not None, "the naming gate sets the key"
    one_slot = (
        body["scope"] == draft.candidate.scope
        and KIND_CLASS[body["kind"]] is KIND_CLASS[draft.candidate.kind]
        and identity(state.canonical_key) == identity(draft.key.text)
        and state.key_digest == draft.key.digest
    )
    if not one_slot or (body["source"], state.authority) != (str(draft.source), str(draft.authority)):
        return False
    if body["fingerprint"] == draft.fingerprint or not what_differs(body["content"], draft.candidate.content):
        return True
    of_one_value = state.subject_value is not None and state.subject_value == slots_of(draft.frames).get(
        "subject_value"
    )
    timeless = draft.valid_from is None and draft.valid_until is None
    return of_one_value and timeless and reading_of(body["content"], draft)[0] is Relation.SAME


def count_again(stream_writer: StreamWriter, claim: Stored, incumbent: Stored) -> None:
    """Count a waiting claim once more, and link it to the memory that it now contradicts."""
    stream_writer.load(claim)
    stream_writer.record(Event.REINFORCED, claim.state.id, rule=SAID_AGAIN)
    if incumbent.state.id not in claim.state.conflict_ids:
        stream_writer.record(Event.LINKED, claim.state.id, rule=SAID_AGAIN, other=incumbent.state.id)


def explain(
    stream_writer: StreamWriter, loser_id: str, incumbent: Stored, authority: Authority, conflict_rule: str
) -> str:
    """Explain who made the statement that prevails, why it does, and what the writer can do next.

    The caller may read the incumbent, so its author may be named.
    """
    against = to_memory(incumbent)
    said_before = f"{_speaker(against)} said otherwise on {against.created_at:%Y-%m-%d} (id {against.short_id})"
    why = _WHY.get(conflict_rule, "that stands").format(theirs=against.authority, ours=authority)
    return f"{said_before}: {why}. {_next_step(stream_writer, loser_id, against, conflict_rule)}"


def _speaker(memory: Memory) -> str:
    name = memory.author.name
    return str(memory.source) if name == memory.source else f"{memory.source} {name}"


_WHY = {
    "authority": "{theirs} outranks {ours}",
    "correction": "that was a correction",
    "recency": "that is newer",
    "importance": "that matters more",
    "manual": "the policy has a person decide",
    "source_priority": "the policy prefers that source",
    "tentative": "this only asks or supposes",
    "other_subject": "the two share no word, so this may be about something else",
}


def _next_step(stream_writer: StreamWriter, loser_id: str, against: Memory, conflict_rule: str) -> str:
    if stream_writer.engine.policy.conflict.losing_newcomer == "leave":
        return "It left the active memories at once, as the policy says, and is kept in history."
    if conflict_rule == "other_subject":
        return 'Use another title for another fact, or change="update" if it replaces that one.'
    own, other = to_memory(stream_writer.stored(loser_id)).short_id, against.short_id
    settle = f"resolve({own}, winner={own}) believes this, resolve({own}, winner={other}) keeps that"
    ask = "Ask the person" if against.source is Source.USER else "Ask who said it"
    may_settle = not stream_writer.engine.caller.is_an_agent or stream_writer.engine.caller.may(Right.GOVERN)
    return f"{ask}, then {'settle it' if may_settle else 'have a person settle it'}: {settle}."


def check_active(stored: Stored, field: str) -> None:
    """Raise unless a memory, as the caller sees it, is active: only an active memory can be replaced."""
    state = stored.state
    if state.status is Status.SUPERSEDED:
        by = f" by {state.superseded_by_id}" if state.superseded_by_id else ""  # none if the caller may not see it
        hint = f"Name the current version instead: {state.superseded_by_id}." if by else "Its key has a newer version."
        raise WrongState(f"{state.id} was already superseded{by}.", field=field, hint=hint)
    if state.status is not Status.ACTIVE or stored.body is None:
        what = state.removed or str(state.status)
        raise WrongState(f"{state.id} is {what}, not active.", field=field, hint="Only an active memory is replaced.")


def check_same_place(older: Stored, stream: int, newer: Mapping[str, Any], field: str) -> None:
    """Raise unless the newer memory has the stream, the scope and the kind of the one it replaces."""
    assert older.body is not None, "an active memory has its content"
    body = older.body
    if older.stream != stream or body["scope"] != newer["scope"]:
        where = f"{body['namespace']}/{body['space']}/{body['owner']}, scope {body['scope']}"
        hint = "A memory is replaced in its own place; update(id, content) writes there."
        raise BadInput(f"{older.state.id} is in another place: {where}.", field=field, hint=hint)
    if KIND_CLASS[Kind(body["kind"])] is not KIND_CLASS[Kind(newer["kind"])]:
        hint = "A memory is replaced by one of the same kind."
        raise BadInput(f"{older.state.id} is of kind {body['kind']}.", field=field, hint=hint)


MAX_LINKS = 3
"""How many near-duplicates one new memory is linked to."""


MAX_JUDGED = 20
"""How many of the most similar are compared closely. A duplicate shares nearly all words, so it is among them."""
MAX_POSTINGS = 600
"""How many postings a search reads, unless the fewest lists it needs hold more."""


class Search(NamedTuple):
    """The result of a search before the lock, and the last memory it covered."""

    found: tuple["Alike", ...]
    seen_to: int


class Alike(NamedTuple):
    """A memory with enough overlap; sorts by similarity, then by age."""

    negated_overlap: float
    number: int
    id: str


class Near(NamedTuple):
    stored: Stored
    same: bool
    score: float


NOTHING = Search((), 0)


def search(engine: Engine, reader: Reader, stream: Stream, drafts: Sequence[Draft]) -> list[Search]:
    """Search for near-duplicates of each draft in a snapshot, without holding the lock."""
    is_searched = [may_merge(engine, draft) for draft in drafts]
    words = {term for draft, searched in zip(drafts, is_searched, strict=True) if searched for term in draft.terms}
    literal = engine.policy.near_duplicates.compare == "literal"
    frequencies = reader.term_frequencies(stream, sorted(words)) if words and not literal else {}
    return [
        Search(tuple(_find_overlapping(engine, reader, stream, draft, 0, frequencies)), stream.last_memory)
        if searched
        else NOTHING
        for draft, searched in zip(drafts, is_searched, strict=True)
    ]


def recheck(stream_writer: StreamWriter, draft: Draft, earlier: Search) -> list[Near]:
    """Return, inside the lock, the found memories that are still active and those stored since, best first."""
    if not may_merge(stream_writer.engine, draft):
        return []
    alike = [*earlier.found]
    if earlier.seen_to == stream_writer.own_after and stream_writer.engine.policy.near_duplicates.compare != "literal":
        alike += _find_overlapping_own(stream_writer, draft)
    elif stream_writer.stream.last_memory > earlier.seen_to:
        stream_writer.flush()
        frequencies = stream_writer.writer.term_frequencies(stream_writer.stream, sorted(set(draft.terms)))
        alike += _find_overlapping(
            stream_writer.engine, stream_writer.writer, stream_writer.stream, draft, earlier.seen_to, frequencies
        )
    if not alike:
        return []
    statement = read(draft.candidate.content)
    judged = [
        near
        for stored in _select_closest(stream_writer, draft, alike)
        if (near := _judge(stream_writer.engine, statement, stored)) is not None
    ]
    return sorted(judged, key=lambda near: (not near.same, -near.score, near.stored.number))[:MAX_LINKS]


def _select_closest(stream_writer: StreamWriter, draft: Draft, alike: Sequence[Alike]) -> Sequence[Stored]:
    """Return the most similar visible memories; in the literal comparison all."""
    literal, sight = stream_writer.engine.policy.near_duplicates.compare == "literal", stream_writer.engine.sight
    most = None if literal else MAX_JUDGED
    ids = [item.id for item in (sorted(alike)[:most] if sight.categories is None else sorted(alike))]
    found = stream_writer.writer.by_ids(stream_writer.stream.tenant, ids)
    known = (found[id] for id in ids if id in found)
    return [stored for stored in known if sight.sees(draft.candidate.scope, stored.state.category)][:most]


def may_merge(engine: Engine, draft: Draft) -> bool:
    """Return whether a draft may be merged: an explicit key overrides similarity, and events are never merged."""
    assert draft.key is not None, "the naming gate sets the key"
    if engine.policy.near_duplicates.action == "ignore" or not draft.terms:
        return False
    if KIND_CLASS[draft.candidate.kind] is KindClass.EVENT:
        return False
    literal = engine.policy.near_duplicates.compare == "literal"
    return draft.key.source in BY_RULE or (literal and draft.key.source != "topic")


def _find_overlapping(
    engine: Engine, reader: Reader, stream: Stream, draft: Draft, after: int, frequencies: Mapping[str, int]
) -> Iterable[Alike]:
    """Return the memories above a number that overlap enough. ``frequencies`` counts the memories with each term."""
    settings = engine.policy.near_duplicates
    if settings.compare == "literal":
        return _select_comparable(engine, reader, stream, draft, after)
    words = frozenset(draft.terms)
    looked_up, shared_min = lookup(words, frequencies, settings.overlap_min, MAX_POSTINGS)
    if len(looked_up) < shared_min:
        return ()
    comparable = _comparable(engine, stream, draft)
    numbers = reader.sharing(stream, looked_up, shared_min, after, settings.max_candidates, comparable)
    if not numbers:
        return ()
    alike = reader.neighbours(stream, numbers, words, fewest_shared(len(words), settings.overlap_min))
    scored = [Alike(-overlap(words, n.terms), n.number, n.id) for n in alike]
    return [item for item in scored if -item.negated_overlap >= settings.overlap_min]


def _find_overlapping_own(stream_writer: StreamWriter, draft: Draft) -> Iterator[Alike]:
    """Yield the overlapping memories that this transaction itself has stored, without reading the store."""
    words, sight, least = (
        frozenset(draft.terms),
        stream_writer.engine.sight,
        stream_writer.engine.policy.near_duplicates.overlap_min,
    )
    place = (draft.candidate.scope, KIND_CLASS[draft.candidate.kind])
    for id, terms in stream_writer.own_sharing(words, fewest_shared(len(words), least)):
        score, stored = overlap(words, terms), stream_writer.stored(id)
        if score < least or stored.body is None or stored.state.status is not Status.ACTIVE:
            continue
        if place == (stored.body["scope"], KIND_CLASS[stored.body["kind"]]) and sight.sees(
            place[0], stored.state.category
        ):
            yield Alike(-score, stored.number, id)


def _select_comparable(engine: Engine, reader: Reader, stream: Stream, draft: Draft, after: int) -> Iterable[Alike]:
    """Return all comparable memories: similarity by letters guarantees no shared rare word to search by."""
    comparable = _comparable(engine, stream, draft)
    selection = replace(comparable, streams=(stream.number,), ranges=(("memory", ">", after),))
    found = reader.select(stream.tenant, selection, engine.policy.near_duplicates.max_candidates)
    return [Alike(0.0, stored.number, stored.state.id) for stored in found]


def _comparable(engine: Engine, stream: Stream, draft: Draft) -> Selection:
    """Return the selection of comparable memories: same scope and kind, and visible to the writer."""
    kind_class = str(KIND_CLASS[draft.candidate.kind])
    equal = {"stream": stream.number, "scope": draft.candidate.scope, "status": "active", "kind_class": kind_class}
    return Selection(categories=engine.sight.categories, equal=equal)


def _judge(engine: Engine, statement: Statement, stored: Stored) -> Near | None:
    if stored.body is None or stored.state.status != "active":
        return None
    settings = engine.policy.near_duplicates
    answer = how_alike(
        stored.body["content"],
        statement,
        overlap_min=settings.overlap_min,
        ratio_min=settings.ratio_min,
        compare=settings.compare,
    )
    return Near(stored, answer.same, answer.score) if answer.similar else None


def no_room(stream_writer: StreamWriter) -> Rejection | None:
    """Return the refusal if production holds as many active memories as the policy allows; test data does not count."""
    limit = stream_writer.engine.policy.capacity.max_active
    if (
        limit is None
        or stream_writer.stream.address is None
        or stream_writer.stream.address.namespace is not Namespace.PROD
    ):
        return None
    streams = stream_writer.writer.streams_of(stream_writer.stream.tenant)
    prod = tuple(s.number for s in streams if s.address is not None and s.address.namespace is Namespace.PROD)
    active = stream_writer.writer.count(
        stream_writer.stream.tenant, Selection(prod, equal={"status": "active"}, unexpired_at=stream_writer.at)
    )
    if active < limit:
        return None
    what_helps = "Update one that is there, forget some, or raise capacity.max_active in the policy."
    return Rejection("capacity", "capacity_full", f"{active:,} of {limit:,} memories are active. {what_helps}")
