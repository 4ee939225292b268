"""Translate between rows and the model: one function each way, one place for each column's form."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreCorrupt
from recollect.model.ledger import EVENTS, GENESIS, Address, Entry, phase_number
from recollect.model.state import State, are_vouchers, body_from, body_in_force, is_authority, is_time
from recollect.model.vocabulary import KIND_CLASS, KINDS, STATUSES, Kind, Namespace, Space, Status
from recollect.rules.identity.keys import identity, shadow_key
from recollect.stores.values import Damage, Stored, Stream

Row = Mapping[str, Any]

NAMESPACES = {str(one): one for one in Namespace}
SPACES = {str(one): one for one in Space}
BODY_COLUMNS = """
    created_at scope content_hash kind event_type layer tier topic_id source user_id agent_id run_id thread_id actor_id role
""".split()
"""Columns of the current state that repeat a field of the immutable body, so that reads can filter by them."""
SAID_COLUMNS = (*BODY_COLUMNS, "author_id", "author_name", "confidence")
"""Those, and what the body says of its author and of how sure the author was."""


_stream = itemgetter(
    *"tenant stream uid namespace space owner tick last_seq last_memory head last_at documents words phase embedder generation"
    " next_embedder".split()
)


def stream_from(row: Row) -> Stream:
    tenant, number, uid, named_namespace, named_space, owner, *rest = _stream(row)
    address, fault = None, None
    namespace, space = NAMESPACES.get(named_namespace), SPACES.get(named_space)
    if namespace is None or space is None:
        fault = f"its namespace or space is none that there is: {named_namespace!r}, {named_space!r}"
    elif owner is not None:
        address = Address(tenant, namespace, space, owner)
    stream = Stream(tenant, number, uid, address, *rest)
    stream.fault = fault or _fault_of_counters(stream)
    return stream


def _fault_of_counters(stream: Stream) -> str | None:
    texts = (stream.uid, stream.head, stream.embedder, stream.next_embedder)
    counts = (stream.tick, stream.last_seq, stream.last_memory, stream.documents, stream.words, stream.generation)
    sound = (
        all(type(text) is str for text in texts)
        and all(type(count) is int and count >= 0 for count in counts)
        and type(stream.phase) is int
        and stream.phase > 0
        and len(stream.head) == len(GENESIS)
        and (stream.last_at == "" or is_time(stream.last_at))
    )
    return None if sound else UNREADABLE_COUNTERS


UNREADABLE_COUNTERS = "its counters, its head or its time cannot be read; reads and writes go by its ledger"


def entry_from(row: Row) -> Entry:
    return entry_of([row["uid"], *(row[name] for name in Entry._fields[1:])])


@lru_cache(maxsize=64)
def _strange_field(types: tuple[type, ...]) -> str | None:
    """Return the first field of an entry that has a type which no entry gives it."""
    numbers, may_lack = ("seq", "tick", "rules_version"), ("other_id", "from_status", "to_status", "commitment")
    for name, type_ in zip(Entry._fields, types, strict=False):
        if type_ is not (int if name in numbers else str) and not (type_ is type(None) and name in may_lack):
            return name
    return None


def entry_of(values: Sequence[Any]) -> Entry:
    """Return an entry from columns in the order of its fields; raise ``StoreCorrupt`` if one of them cannot be read."""
    uid, seq, tick, event, *rest = values
    if (field := _strange_field(tuple(map(type, values)))) is not None:
        raise damaged_entry(str(uid), seq, field)
    try:
        return Entry(uid, seq, tick, EVENTS[event], *rest)
    except ValueError:
        raise damaged_entry(uid, seq, "event") from None


def damaged_entry(uid: str, seq: object, field: str) -> StoreCorrupt:
    """Return the error for an entry of the ledger with a field that cannot be read."""
    hint = "`recollect verify` names the stream. Restore a backup; erasing its owner or its memories still works."
    return StoreCorrupt(f"entry {seq} of stream {uid[:12]} is damaged: its {field} cannot be read.", hint=hint)


def actor_from(name: object, salt: object) -> tuple[str | None, bytes | None]:
    """Return an actor's name and salt; of one that cannot be read, what no uid is a commitment to."""
    if name is None or salt is None:
        return None, None
    return (
        (name, salt)
        if isinstance(name, str) and isinstance(salt, bytes)
        else (f"\N{REPLACEMENT CHARACTER} {name!r}", b"")
    )


_COLUMNS = {"related_memory_ids": "related", "conflict_ids": "conflicts"}
"""The columns that go by another name than the field of the state that they hold."""
_STATE = tuple(_COLUMNS.get(name, name) for name in State.__slots__)


_LISTS = [
    State.__slots__.index(name) for name in "related_memory_ids conflict_ids importance_reason tags vouchers".split()
]
_FLAGS = {0: False, 1: True}
"""Any other number is no flag, and stays as it is, so that a comparison of states finds it."""
_STATUS, _PINNED = State.__slots__.index("status"), State.__slots__.index("pinned")


def state_of(values: Sequence[Any]) -> State:
    """Return a state from columns in the order of its fields."""
    fields = list(values)
    fields[_STATUS] = STATUSES[fields[_STATUS]]
    fields[_PINNED] = _FLAGS.get(fields[_PINNED], fields[_PINNED])
    for place in _LISTS:
        text = fields[place]
        fields[place] = [] if text == "[]" else list(json.loads(text))
    return State(*fields)


def state_row(stream: Stream, number: int, state: State, *, shadowed: bool = False) -> dict[str, Any]:
    row, apart = state.to_dict(), shadow_key(state.canonical_key, number)
    row.update(
        tenant=stream.tenant,
        stream=stream.number,
        memory=number,
        status=str(state.status),
        related=_to_json_list(row.pop("related_memory_ids")),
        conflicts=_to_json_list(row.pop("conflict_ids")),
        importance_reason=_to_json_list(state.importance_reason),
        tags=_to_json_list(state.tags),
        vouchers=_to_json_list(state.vouchers),
        key_identity=apart if shadowed else identity(state.canonical_key),
        apart=apart,
        pinned=int(state.pinned),
    )
    return row


def memory_row(
    stream: Stream, number: int, state: State, body: Mapping[str, Any] | None, *, shadowed: bool = False
) -> dict[str, Any]:
    row = state_row(stream, number, state, shadowed=shadowed)
    row.update(zip(SAID_COLUMNS, _read_said(body_in_force(body, state) if body else {}), strict=True))
    row["kind_class"] = str(KIND_CLASS[Kind(body["kind"])]) if body else None
    row["phase"] = _read_phase(body)
    row["terms"] = None
    return row


def _read_said(body: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of ``SAID_COLUMNS`` in a body; one without words has none."""
    author = body.get("author") or {}
    return (*map(body.get, BODY_COLUMNS), author.get("id"), author.get("name"), body.get("confidence"))


def _read_phase(body: Mapping[str, Any] | None) -> int | None:
    return phase_number(body.get("phase_id")) if body else None


def stray_column(number: int, row: Sequence[Any], body: Mapping[str, Any] | None) -> str | None:
    """Return the first of these columns of current state that is not what the version's body says; ``None`` if all are."""
    if row[0] is None:
        return None  # no such row: the comparison of states reports that
    if row[1] != identity(row[0]) and row[1] != shadow_key(row[0], number):
        return "key_identity"
    said = body or {}
    kind_class = KIND_CLASS[KINDS[said["kind"]]] if said else None
    expected = (kind_class, _read_phase(body), *_read_said(said))
    if said and said["authority"] != row[2]:  # a higher one confirmed it: what was attached counts no more
        expected = (*expected[:-1], None)
    found = tuple(row[3:]) if said else (row[3], None, None, *row[6:])
    if found == expected:
        return None
    return next(name for name, one, other in zip(REPEATED[3:], found, expected, strict=True) if one != other)


REPEATED = ("canonical_key", "key_identity", "authority", "kind_class", "phase", *SAID_COLUMNS)
"""The columns that a walk compares, in their order. When a memory was written, and in which phase, outlives its content."""


UNREADABLE_CONTENT = "its content cannot be read"
UNREADABLE_STATE = "its current state cannot be read"


_PLACED = ("tenant", "stream", "memory", "body", "created_at", "scope")
_IF_READ = ("count", "last", "parent_hash")
"""Columns that not every query reads."""
_TIMES = [
    State.__slots__.index(name)
    for name in "last_reinforced last_modified expires_at valid_from valid_until deleted_at purge_at".split()
]


@lru_cache(maxsize=256)
def _fit_a_state(types: tuple[type, ...]) -> bool:
    numbers = ("version", "pinned", "importance", "reinforcements", "expires_at_tick")
    expected = (int if name in numbers else str for name in State.__slots__)
    return all(
        found is type_ or (found is type(None) and name in _MAY_LACK)
        for name, found, type_ in zip(State.__slots__, types, expected, strict=True)
    )


_MAY_LACK = frozenset(
    "supersedes_id superseded_by_id slot subject_value expires_at expires_at_tick valid_from valid_until deleted_at purge_at"
    " removed".split()
)


def stored_from(found: Sequence[Any]) -> list[Stored]:
    """Return memories from rows of the same columns.

    Rows that cannot be read are returned as damage, so that the reader can go on without them.
    """
    if not found:
        return []
    pick = _make_picker(tuple(found[0].keys()), isinstance(found[0], dict))
    return [_make_stored(pick(row)) for row in found]


@lru_cache(maxsize=64)
def _make_picker(columns: tuple[str, ...], by_name: bool) -> Callable[[Any], tuple[Any, ...]]:
    """Return what picks the values of a memory out of a row: by place where it can, which is much quicker."""
    place: dict[str, Any] = {name: name if by_name else number for number, name in enumerate(columns)}
    picked = itemgetter(*(place[name] for name in (*_STATE, *_PLACED)))
    others = [place.get(name) for name in _IF_READ]
    return lambda row: (*picked(row), *(None if one is None else row[one] for one in others))


def _make_stored(values: tuple[Any, ...]) -> Stored:
    tenant, stream, number, text, created_at, scope, count, last, parent_hash = values[len(_STATE) :]
    body, is_whole = body_from(text)
    state, damage = _state_if_whole(values[: len(_STATE)]), None
    is_missing = text is None and state is not None and state.removed is None
    if state is None or not is_whole or is_missing:
        what = UNREADABLE_STATE if state is None else UNREADABLE_CONTENT
        body, damage = None, Damage(what, str(created_at), scope)
    in_force = body_in_force(body, state) if body is not None and state is not None else body
    state = state or State(str(values[0]), Status.ARCHIVED)
    parent_hash = parent_hash if isinstance(parent_hash, str) else None
    last = last if is_time(last) else None  # what is counted of reading costs no memory
    count = count if type(count) is int and count > 0 else 0
    return Stored(tenant, stream, number, in_force, state, count, last, parent_hash, damage=damage)


def _state_if_whole(values: Sequence[Any]) -> State | None:
    try:
        times = (values[place] for place in _TIMES)
        state = (
            state_of(values)
            if _fit_a_state(tuple(map(type, values))) and all(not time or is_time(time) for time in times)
            else None
        )
        return state if state is not None and is_authority(state.authority) and are_vouchers(state.vouchers) else None
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _to_json_list(values: list[Any]) -> str:
    return canonical_json(values) if values else "[]"


def shown_from(text: str) -> tuple[int, ...]:
    """Return the entries in the cursor of a thread; none if they cannot be read, so that some are shown once more."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return ()
    return tuple(one for one in found if type(one) is int) if isinstance(found, list) else ()


def write_term_note(said: Mapping[str, int], keyed: Mapping[str, int]) -> str:
    first = " ".join([str(sum(said.values())), *_format_counts(said)])
    return "\n".join([first, " ".join(_format_counts(keyed))]) if keyed else first


def text_length_in(note: str) -> int:
    """Return how many words a text has, without those of its key."""
    return int(note.split(maxsplit=1)[0])


def term_counts_in(note: str) -> dict[str, int]:
    """Return all terms and how often each occurs.

    >>> term_counts_in(write_term_note({"dark": 2}, {"theme": 1}))
    {'dark': 2, 'theme': 1}
    """
    pairs = (word.rpartition(":") for word in note.split()[1:])
    return {term: int(tf) for term, _, tf in pairs}


def terms_in(note: str) -> frozenset[str]:
    """Return all terms, several times as fast as with their counts.

    >>> sorted(terms_in(write_term_note({"dark": 2}, {"theme": 1})))
    ['dark', 'theme']
    """
    return frozenset(_TERM.findall(note))


_TERM = re.compile(r"\s(\S+):")


def said_terms_in(note: str) -> str:
    """Return a note of what is said alone.

    >>> term_counts_in(said_terms_in(write_term_note({"dark": 2}, {"theme": 1})))
    {'dark': 2}
    """
    return note.partition("\n")[0]


def _format_counts(counts: Mapping[str, int]) -> list[str]:
    return [f"{term}:{tf}" for term, tf in counts.items()]
