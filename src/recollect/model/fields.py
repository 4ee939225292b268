"""The fields of a memory, in one table: where each is kept, how it is read back, and how far it travels.

``Candidate`` and ``Memory`` (in `record.py`) declare the same fields with their types, for editors and type checkers; a
test compares them with this table. A new field is a row here, a line in those two classes, and nothing else unless a
store filters by it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.model.canonical import format_time, parse_time
from recollect.model.vocabulary import (
    Authority,
    EventType,
    KeySource,
    Kind,
    Layer,
    Namespace,
    Source,
    Space,
    Status,
    Tier,
)


class Kept(StrEnum):
    """Where the present value of a field is read from."""

    VERSION = "version"
    """The body of the version, which never changes."""
    STATE = "state"
    """The state, which ledger entries change. A version may start it."""
    WORKED_OUT = "worked out"
    """Neither: it is computed from several places when a memory is read."""


class Reach(StrEnum):
    """How far a given value goes with its memory."""

    STAYS = "stays"
    """It holds for this store alone, or is decided anew wherever the memory goes."""
    EXPORTED = "exported"
    """It is part of an export, and an import takes it over."""
    PROMOTED = "promoted"
    """It goes along in an export, and into another space of the same store as well."""


class Field(NamedTuple):
    """One row of the table."""

    name: str
    kept: Kept
    reach: Reach
    read: Callable[[Any], Any]
    """Converts the stored value, ``None`` if it is missing, into the one that callers see."""
    required: bool = False
    """Whether every version has it as text, so that one without it is damaged."""
    words: frozenset[str] = frozenset()
    """Its closed list of values, if it has one."""
    sort: str = "json"
    """The type of its stored value, by a name of ``_TYPES``; another name stands for any value of JSON."""


def _keep(value: Any) -> Any:
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: () if value is None else tuple(value),
    "time": lambda value: parse_time(value) if value else None,
}
_NOTHING = type(None)
_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str, _NOTHING),
    "time": (str, _NOTHING),
    "list": (list,),
    "object": (dict,),
    "object?": (dict, _NOTHING),
    "flag": (bool,),
    "count": (int,),
    "count?": (int, _NOTHING),
    "number": (int, float, _NOTHING),
}
"""What the stored value of each sort is; any other sort is any value of JSON."""
_CHOICES: dict[str, type[StrEnum]] = {
    "namespace": Namespace,
    "space": Space,
    "kind": Kind,
    "event_type": EventType,
    "layer": Layer,
    "tier": Tier,
    "source": Source,
    "authority": Authority,
    "status": Status,
}

# A name ending in "!" is in every version. "choice" is a closed list of words.
_TABLE = """
    namespace!           version     exported   choice
    space!               version     exported   choice
    owner!               version     exported   text
    scope!               version     promoted   text
    content!             version     promoted   text
    content_hash!        version     stays      text
    fingerprint!         version     stays      text
    canonical_key!       state       exported   text
    key_digest           state       stays      text
    topic_id             version     promoted   text
    kind!                version     promoted   choice
    event_type!          version     promoted   choice
    layer!               version     promoted   choice
    sublayer!            version     promoted   text
    tier                 version     promoted   choice
    category             state       promoted   text
    tags                 state       promoted   list
    entities             version     promoted   list
    relationships        version     promoted   list
    artifact_ref         version     promoted   object?
    context              version     promoted   object?
    meta                 worked_out  stays      object
    author               worked_out  exported   json
    source!              version     stays      choice
    authority!           state       exported   choice
    authority_reason     state       exported   text
    user_id              version     promoted   text
    agent_id             version     promoted   text
    run_id               version     promoted   text
    thread_id            version     promoted   text
    actor_id             version     promoted   text
    role                 version     promoted   text
    parent_refs          worked_out  exported   list
    vouchers             worked_out  stays      list
    signature            version     exported   text
    confidence           version     promoted   number
    aliases              version     stays      list
    status               state       stays      choice
    version              state       stays      json
    supersedes_id        state       stays      text
    superseded_by_id     state       stays      text
    related_memory_ids   state       stays      list
    conflict_ids         state       stays      list
    pinned               state       exported   flag
    importance           state       exported   count
    importance_reason    state       stays      list
    access_count         worked_out  stays      json
    last_accessed        worked_out  stays      time
    created_at!          version     stays      time
    last_modified        state       stays      time
    tick                 version     stays      count
    phase_id             version     stays      text
    expires_at           state       exported   time
    expires_at_tick      state       stays      count?
    valid_from           state       exported   time
    valid_until          state       exported   time
    deleted_at           state       stays      time
    purge_at             state       stays      time
"""


def _make_choice(name: str) -> Callable[[Any], Any]:
    words = _CHOICES[name]
    return lambda value: None if value is None else words(value)


def _parse_row(line: str) -> Field:
    name, kept, reach, sort = line.split()
    required, name = name.endswith("!"), name.rstrip("!")
    read = _make_choice(name) if sort == "choice" else _READERS.get(sort, _keep)
    words = frozenset(map(str, _CHOICES[name])) if sort == "choice" else frozenset[str]()
    return Field(name, Kept[kept.upper()], Reach[reach.upper()], read, required, words, sort)


FIELDS: dict[str, Field] = {field.name: field for field in map(_parse_row, _TABLE.strip().splitlines())}

EXPORTED = tuple(name for name, field in FIELDS.items() if field.reach is not Reach.STAYS)
"""The fields of an exported memory that an import takes over; the rest is decided anew."""
PROMOTED = tuple(name for name, field in FIELDS.items() if field.reach is Reach.PROMOTED)
"""The fields that a promotion takes into another space as they are."""
REQUIRED = tuple(field for field in FIELDS.values() if field.required)
ATTACHED = ("meta", "context", "entities", "relationships", "artifact_ref", "confidence")
"""What a speaker attaches to a statement, as opposed to who said it, where, and in which words."""

_UNSEEN = {
    "key_source": "text", "slot": "text", "subject_value": "text", "relation_type": "text", "salts": "object", "set": "object",
    "strength": "number", "neighbours": "list", "cut": "list",
}  # fmt: skip
"""What versions and amendments hold in addition to the fields, and no caller sees."""
_STORED = {name: field.sort for name, field in FIELDS.items()} | _UNSEEN
STORED_TYPES = {name: _TYPES[sort] for name, sort in _STORED.items() if sort in _TYPES}
"""The types of stored values by name. One that is missing may be any value of JSON, or one of ``STORED_WORDS``."""
STORED_TIMES = frozenset(name for name, sort in _STORED.items() if sort == "time")
STORED_WORDS = {field.name: field.words for field in REQUIRED if field.words}
KEY_SOURCES = frozenset(map(str, KeySource))
"""The values of ``key_source``, by which a version says what named its concept."""

_FROM_VERSION = tuple((name, field.read) for name, field in FIELDS.items() if field.kept is Kept.VERSION)
_FROM_STATE = tuple((name, field.read) for name, field in FIELDS.items() if field.kept is Kept.STATE)


def read_fields(body: Mapping[str, Any], state: object) -> dict[str, Any]:
    """Read every field that is kept as it is, from the body of a version and from its state."""
    values = {name: read(body.get(name)) for name, read in _FROM_VERSION}
    values |= {name: read(getattr(state, name)) for name, read in _FROM_STATE}
    return values


def written(value: Any) -> Any:
    """Return a value as the body of a version keeps it: times as canonical text, and lists for tuples."""
    if isinstance(value, tuple):
        return list(value)
    return format_time(value) if isinstance(value, datetime) else value
