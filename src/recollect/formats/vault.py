"""The vault's file: its lines, which line of an id counts, and how a vault's memories become a store's and back.

A line is one version of one memory. A transaction of a store is one line too, however many memories it changed: such a line
has a field ``recollect``. The line itself is then the first of the memories, or a tombstone under a reserved id if the
transaction changed none that a vault shows; the others are in ``recollect.also``. ``recollect.adopted`` names the vault's
memories that the store has from now on and that look as they did: the store's ids, by the vault's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.formats.decoding import parse_json
from recollect.formats.fields import (
    BY_WHOM,
    HOLDS,
    PLACE,
    WITH_IT,
    as_alias,
    as_created_at,
    carried_fields,
    carry_fields,
    id_of,
    mapping_of,
    split_carried,
    text_of,
    texts_of,
    without_empty,
    writes_lines,
)
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source, at_line, origin
from recollect.model.caller import APPLICATION, SYSTEM, principal
from recollect.model.canonical import format_time
from recollect.model.errors import StoreCorrupt
from recollect.model.record import Memory
from recollect.model.state import State
from recollect.model.vocabulary import SHARED
from recollect.rules.language.text import sha256_hex
from recollect.rules.vault import CANON, REGISTER, TIERS, VaultMemory

Record = Mapping[str, Any]

FIELD = "recollect"
ADOPTED = "adopted"
REJECTIONS = "rejections"
RESERVED_ID = "000000000000"
MEMORY_ID = "memory_id"
"""The field in which a line names the memory of the store that it shows: the first version of its chain."""


_TEXT, _MAYBE_TEXT = (str,), (str, type(None))
_TYPES: Mapping[str, tuple[type, ...]] = {
    "id": _TEXT,
    "text": _TEXT,
    "scope": _TEXT,
    "category": _TEXT,
    "tier": _MAYBE_TEXT,
    "topic_id": _MAYBE_TEXT,
    "tags": (list, type(None)),
    "created_at": _MAYBE_TEXT,
    "updated_at": _MAYBE_TEXT,
    "source": _MAYBE_TEXT,
    "deleted_at": _MAYBE_TEXT,
    "version": (int,),
}
_TYPE_NAMES = {str: "text", list: "a list of texts", int: "a whole number"}
_FIELDS = _TYPES.keys()
_ABSENT: Mapping[str, Any] = {**dict.fromkeys(_FIELDS), "version": 1}
_NOTHING_ELSE: Mapping[str, Any] = {}

_ONLY_TEXT = frozenset(_TEXT)
_values = itemgetter(*_FIELDS)
_SIGNATURES = frozenset(product(*_TYPES.values()))
"""Every combination of types that the twelve values may have, so that one lookup checks a line: a vault has thousands."""


def from_line(record: Record) -> VaultMemory:
    """Return the memory that a line holds. Older files have no tier, which makes it canon, and may lack a version.

    An empty topic is none, and an empty time of deletion says that it was not deleted.
    """
    try:
        values = _values(record)
    except KeyError:  # rare enough to be worth a try: a vault has many thousand lines
        return from_line({**_ABSENT, **record})
    id, text, scope, category, tier, topic_id, tags, created_at, updated_at, source, deleted_at, version = values
    if tuple(map(type, values)) not in _SIGNATURES or (tags and not _ONLY_TEXT.issuperset(map(type, tags))):
        raise _describe_fault(record)
    extra = _NOTHING_ELSE if len(record) == len(_FIELDS) else {k: v for k, v in record.items() if k not in _FIELDS}
    return VaultMemory._make((
        id, text, scope, category, tier or CANON, topic_id or None, tuple(tags or ()),
        created_at or "", updated_at, source, deleted_at or None, version, extra,
    ))  # fmt: skip


def _describe_fault(whole: Record) -> StoreCorrupt:
    name = next((name for name, types in _TYPES.items() if type(whole[name]) not in types), "tags")
    return StoreCorrupt(
        f"the `{name}` of the memory {whole['id']} is not {_TYPE_NAMES[_TYPES[name][0]]}.",
        field="vault",
        hint="Correct its latest line in the vault's file.",
    )


def resolve(known: Mapping[str, VaultMemory], records: Iterable[Record]) -> dict[str, Record]:
    """Return the records that replace what is known, by id: the highest version, and of one version the later line."""
    news: dict[str, Record] = {}
    for record in records:
        id = record["id"]
        version = read_version(record)
        before = read_version(news[id]) if id in news else known[id].version if id in known else version
        if version >= before:
            news[id] = record
    return news


def select_needed(records: Iterable[Record]) -> list[int]:
    """Return the numbers of the lines that a compacted file keeps, in order: the latest of each memory that is active."""
    latest: dict[str, tuple[int, Record]] = {}
    for number, record in enumerate(records):
        known = latest.get(record["id"])
        if known is None or read_version(record) >= read_version(known[1]):
            latest[record["id"]] = number, record
    return sorted(number for number, record in latest.values() if not record.get("deleted_at"))


def read_version(record: Record) -> int:
    version: int = record.get("version", 1)
    return version


_NEVER = "1970-01-01T00:00:00.000000Z"
_NONE = {
    "id": RESERVED_ID,
    "text": "",
    "scope": SHARED,
    "category": "general",
    "tier": REGISTER,
    "created_at": _NEVER,
    "deleted_at": _NEVER,
    "version": 1,
}
"""Stands for no memory: it is deleted, so a vault passes over it."""
_PARTS = frozenset({"tables", "also"})


def is_store_line(line: Record) -> bool:
    """Return whether a store wrote a line. Another tool's field of the same name is a field like any other."""
    found = line.get(FIELD)
    return type(found) is dict and found.keys() >= _PARTS


def carry_memories(memories: Sequence[Record], payload: Record) -> dict[str, Any]:
    """Return one record that carries these memories, and what else the store has to know."""
    first, *also = memories or [_NONE]
    return {**first, FIELD: {**payload, "also": also}}


def read_adopted(line: Record) -> Mapping[str, str]:
    """Return the memories of the vault that a store's line adopts as they are: the store's ids, by the vault's."""
    adopted: Mapping[str, str] = line[FIELD].get(ADOPTED, {}) if is_store_line(line) else {}
    return adopted


def read_memories(records: Sequence[Record]) -> list[Record]:
    """Return the memories that lines are about: each line itself, unless a store wrote it."""
    return [memory for line in records for memory in (_read_carried(line) if FIELD in line else (line,))]


def _read_carried(line: Record) -> Iterator[Record]:
    if not is_store_line(line):
        yield line
        return
    if line["id"] != RESERVED_ID:
        yield {name: value for name, value in line.items() if name != FIELD}
    yield from line[FIELD]["also"]


_SPOKEN_BY = {"chat": "user", "manual": "user", "tool": "tool", "operator": "operator", "promotion": "promotion"}
_WORDS = {
    "user": "chat",
    "agent": "chat",
    "tool": "tool",
    "operator": "operator",
    "system": "operator",
    "promotion": "promotion",
    "import": "manual",
    "test_suite": "tool",
}


def to_candidate(memory: VaultMemory) -> dict[str, Any]:
    """Return what a store is asked to remember. The time of writing stays in ``meta``: a store has its own clock."""
    written = {"id": memory.id, "version": memory.version, "created_at": memory.created_at}
    return {
        "content": memory.text,
        "scope": memory.scope,
        "category": memory.category,
        "tier": memory.tier,
        "topic_id": memory.topic_id,
        "tags": list(memory.tags),
        "source": _SPOKEN_BY.get(memory.source or "", "user"),
        "authority": "system_imposed" if memory.source == "operator" else "user_asserted",
        "authority_reason": "the vault's write gate let it in",
        "aliases": [memory.id],
        "canonical_key": f"Vault-Memory-{memory.id}",
        "meta": {"vault": written},
    }


def to_vault(
    vault_id: str, root: str, created_at: str, body: Record | None, state: State, known: VaultMemory | None
) -> VaultMemory:
    """Return a chain of a store as a memory of the vault: its latest version under one id. Without a body its words are gone.

    A memory without a tier becomes a register without a topic: it is found, and is in no snapshot.
    """
    said: Record = body or {}
    return VaultMemory(
        id=vault_id,
        text=said.get("content", ""),
        scope=said.get("scope", SHARED),
        category=state.category,
        tier=said.get("tier") or REGISTER,
        topic_id=said.get("topic_id"),
        tags=tuple(state.tags),
        created_at=known.created_at if known else created_at,
        updated_at=state.last_modified if known else None,
        source=_WORDS[said.get("source", "user")],
        deleted_at=None if state.status == "active" else state.last_modified,
        version=known.version + 1 if known else 1,
        extra={**(known.extra if known else {}), MEMORY_ID: root},
    )


def looks_alike(one: VaultMemory, other: VaultMemory) -> bool:
    """Return whether a reader of the vault sees no difference. The time of a write or a deletion is none."""
    if not one.active and not other.active and bool(one.text) == bool(other.text):
        return True
    unseen: dict[str, Any] = {"version": 0, "updated_at": None, "created_at": "", "extra": {}}
    return _use_store_source(one)._replace(**unseen) == _use_store_source(other)._replace(**unseen)


def _use_store_source(memory: VaultMemory) -> VaultMemory:
    """Return a memory with the store's word for its source: a vault has several words for one of them."""
    return memory._replace(source=_SPOKEN_BY.get(memory.source or "", "user"))


NAME = "vault"
EXTRA = "fields"
"""Where the origin keeps the fields of a line that are not the vault's, so that they go out again."""
OWN = frozenset(VaultMemory._fields) - {"extra"} | {MEMORY_ID}
BEYOND = (
    *(name for name in PLACE if name != "scope"),
    *("kind", "author", "confidence", "pinned", "importance", "expires_at", *HOLDS, *BY_WHOM, *WITH_IT),
)
"""What a vault has no field for. A line has these only where they differ from the default; a line of an old vault never has."""
BESIDE = (*BEYOND, "key", "meta")
WEIGHED = ("importance:canon", "importance:event_type:")
"""How the reason begins where a rule set the importance: the next store sets it again."""


class _Place(NamedTuple):
    """A record and where it stands: a line of a store may carry several."""

    number: int
    place: str
    value: Any


def read(source: Source) -> Iterator[Foreign]:
    """Read twice: once to see which record of each id is the latest, and once to take those in."""
    latest: dict[str, tuple[int, int]] = {}
    for found in _read_records(source):
        id, version = _identify(found)
        if id not in latest or (version, found.number) > latest[id]:
            latest[id] = (version, found.number)
    current = {number for _, number in latest.values()}
    for found in _read_records(source):
        yield _to_foreign(found, is_latest=found.number in current)


def _read_records(source: Source) -> Iterator[_Place]:
    """Yield every record with its number: that of its line, plus the further records of the lines before it.

    A line with a field that is there twice ends the reading: without it, an older version or a deleted memory would come back.
    """
    carried = 0
    for line in source.lines():
        place = f"line {line.number}"
        value = parse_json(line.text, at_line(source.name, line.number))
        if not isinstance(value, dict) or not _is_carrying(value):
            yield _Place(line.number + carried, place, value)
            continue
        memories = read_memories([value])
        for nth, memory in enumerate(memories or [value]):
            yield _Place(line.number + carried + nth, place if nth == 0 else f"{place}, memory {nth + 1}", memory)
        carried += max(0, len(memories) - 1)


def _is_carrying(line: Mapping[str, Any]) -> bool:
    return is_store_line(line) and isinstance(line[FIELD]["also"], list) and "id" in line


def _identify(found: _Place) -> tuple[str, int]:
    """Return a digest of the id, which may be long, and the version; a record without an id stands for itself."""
    record = found.value if isinstance(found.value, dict) else {}
    id, version = id_of(record.get("id")), record.get("version", 1)
    known = sha256_hex(id.encode("utf-8", "replace").decode())[:16] if id is not None else f"record {found.number}"
    return known, version if isinstance(version, int) else 1


def _to_foreign(found: _Place, *, is_latest: bool) -> Foreign:
    number, place, record = found
    if not isinstance(record, dict):
        return Foreign(number, place, refused="is not an object")
    if record.get("id") == RESERVED_ID and _is_carrying(record):
        return Foreign(number, place, skipped="is a store's own line; `recollect migrate` takes it along")
    if text_of(record.get("text")) is None:
        return Foreign(number, place, refused="has no text")
    if not is_latest:
        return Foreign(number, place, skipped="is an older version of a later line")
    if record.get("deleted_at"):
        return Foreign(number, place, skipped="was deleted")
    id = id_of(record.get("id"))
    fields = _to_fields(record, id)
    if not isinstance(fields["meta"], dict):
        return Foreign(number, place, refused="recollect.meta is not an object")
    return Foreign(number, place, without_empty(fields), id)


def _to_fields(record: Mapping[str, Any], id: str | None) -> dict[str, Any]:
    # a file cannot speak for the operator here, but it can say that a person did
    word, tier = record.get("source"), record.get("tier") or "canon"
    spoken_by = "user" if word == "operator" else _SPOKEN_BY.get(str(word), "import")
    beyond, extra = split_carried({name: value for name, value in record.items() if name not in OWN}, *BESIDE)
    data = beyond.pop("meta", {})
    names = ("id", "source", "created_at", "updated_at", "version", "tier", MEMORY_ID)
    came_from = origin(NAME, {**record, "tier": tier}, *names, earlier=mapping_of(data).get(ORIGIN))
    came_from |= {EXTRA: extra} if extra else {}
    return {
        **beyond,
        "content": record["text"],
        "scope": record.get("scope"),
        "category": record.get("category"),
        "tier": None if tier == "canon" and spoken_by != "user" else tier,  # only a person's words are canon here
        "topic_id": record.get("topic_id"),
        "tags": texts_of(record.get("tags")),
        "source": spoken_by,
        **as_created_at(record.get("updated_at"), record.get("created_at")),
        "meta": {**data, ORIGIN: came_from} if isinstance(data, dict) else data,
        **as_alias(id),
    }


def _to_line(memory: Memory) -> dict[str, Any]:
    """Return a memory as a vault would have written it. One without a tier is in no snapshot: a register."""
    came_from = memory.meta.get(ORIGIN)
    before = came_from if isinstance(came_from, dict) and came_from.get("format") == NAME else {}
    changed = (
        came_from is None and memory.last_modified > memory.created_at
    )  # what was imported came later than it was made
    return {
        "id": before.get("id") or memory.short_id,
        "text": memory.content,
        "scope": memory.scope,
        "category": memory.category,
        "tier": str(memory.tier) if memory.tier in TIERS else before.get("tier", "register"),
        "topic_id": memory.topic_id,
        "tags": list(memory.tags),
        "created_at": before.get("created_at") or format_time(memory.created_at),
        "updated_at": before.get("updated_at") or (format_time(memory.last_modified) if changed else None),
        "source": before.get("source") if before else _WORDS[str(memory.source)],
        "deleted_at": None,
        "version": before.get("version") or memory.version,
        **carry_fields(_foreign_fields(before), _extra_fields(memory)),
    }


def _extra_fields(memory: Memory) -> dict[str, Any]:
    """Return what a vault has no field for, except what an import would set by itself."""
    said = carried_fields(memory, BEYOND, NAME)
    if memory.importance_reason and memory.importance_reason[0].startswith(WEIGHED):
        del said["importance"]
    if said.get("author", {}).get("id") in (APPLICATION, principal(SYSTEM, APPLICATION)):
        del said["author"]
    return said


def _foreign_fields(before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a line that are not the vault's. A user may have written them into ``meta``, so they are filtered."""
    extra = before.get(EXTRA)
    if not isinstance(extra, dict) or is_store_line(extra):
        return {}
    return {name: value for name, value in extra.items() if name not in OWN}


FORMAT = Format(NAME, "a vault's vault.jsonl", read, writes_lines(_to_line))
