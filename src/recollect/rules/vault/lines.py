"""The vault's file: its record, which line of an id counts, and the translation to and from a store's memory.

A line is one version of one memory. A transaction of a store is one line too, however many memories it changed: such a line
has a field ``recollect``. The line itself is then the first of the memories, or a tombstone under a reserved id if the
transaction changed none that a vault shows; the others are in ``recollect.also``. ``recollect.adopted`` names the vault's
memories that the store has from now on and that look as they did: the store's ids, by the vault's.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.model.errors import StoreCorrupt
from recollect.model.state import State
from recollect.model.vocabulary import SHARED

CANON, REGISTER, LOG = "canon", "register", "log"
Record = Mapping[str, Any]

FIELD = "recollect"
ADOPTED = "adopted"
REJECTIONS = "rejections"
RESERVED_ID = "000000000000"
MEMORY_ID = "memory_id"
"""The field in which a line names the memory of the store that it shows: the first version of its chain."""


class VaultMemory(NamedTuple):
    """One memory of a vault, as its latest line has it.

    The ``id`` stays the same across versions; a memory whose ``deleted_at`` is set is a tombstone. ``extra`` holds the fields
    of the line that are not the vault's: they are carried along from version to version.
    """

    id: str
    text: str
    scope: str
    category: str
    tier: str
    topic_id: str | None
    tags: tuple[str, ...]
    created_at: str
    updated_at: str | None
    source: str | None
    deleted_at: str | None
    version: int
    extra: Mapping[str, Any] = {}

    @property
    def active(self) -> bool:
        return self.deleted_at is None

    @property
    def changed_at(self) -> str:
        """When it was last written to."""
        return self.updated_at or self.created_at

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a line has it: the vault's fields in their order, then the others."""
        own = self._asdict()
        extra = own.pop("extra")
        return {**own, "tags": list(self.tags), **extra}


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
_WORDS = {str: "text", list: "a list of texts", int: "a whole number"}
_FIELDS = _TYPES.keys()
_ABSENT: Mapping[str, Any] = {**dict.fromkeys(_FIELDS), "version": 1}
_NOTHING_ELSE: Mapping[str, Any] = {}

_ONLY_TEXT = frozenset(_TEXT)
_values = itemgetter(*_FIELDS)
_SIGNATURES = frozenset(product(*_TYPES.values()))
"""The types that the twelve values may have together: one look for all of them, since a vault has many thousand lines."""


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
        f"the `{name}` of the memory {whole['id']} is not {_WORDS[_TYPES[name][0]]}.",
        field="vault",
        hint="Correct its latest line in the vault's file.",
    )


# ── which line of an id counts ──────────────────────────────────────────────────────────────────────────────────────


def resolve(known: Mapping[str, VaultMemory], records: Iterable[Record]) -> dict[str, Record]:
    """Return the records that replace what is known, by id: the highest version, and of one version the later line."""
    news: dict[str, Record] = {}
    for record in records:
        id = record["id"]
        version = version_of(record)
        before = version_of(news[id]) if id in news else known[id].version if id in known else version
        if version >= before:
            news[id] = record
    return news


def select_needed(records: Iterable[Record]) -> list[int]:
    """Return the numbers of the lines that a compacted file keeps, in order: the latest of each memory that is active."""
    latest: dict[str, tuple[int, Record]] = {}
    for number, record in enumerate(records):
        known = latest.get(record["id"])
        if known is None or version_of(record) >= version_of(known[1]):
            latest[record["id"]] = number, record
    return sorted(number for number, record in latest.values() if not record.get("deleted_at"))


def version_of(record: Record) -> int:
    version: int = record.get("version", 1)
    return version


# ── lines of a store ────────────────────────────────────────────────────────────────────────────────────────────────

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


def written_by_a_store(line: Record) -> bool:
    """Return whether a store wrote a line. Another tool's field of the same name is a field like any other."""
    found = line.get(FIELD)
    return type(found) is dict and found.keys() >= _PARTS


def carry_memories(memories: Sequence[Record], payload: Record) -> dict[str, Any]:
    """Return one record that carries these memories, and what else the store has to know."""
    first, *also = memories or [_NONE]
    return {**first, FIELD: {**payload, "also": also}}


def read_adopted(line: Record) -> Mapping[str, str]:
    """Return the memories of the vault that a store's line adopts as they are: the store's ids, by the vault's."""
    adopted: Mapping[str, str] = line[FIELD].get(ADOPTED, {}) if written_by_a_store(line) else {}
    return adopted


def read_memories(records: Sequence[Record]) -> list[Record]:
    """Return the memories that lines are about: each line itself, unless a store wrote it."""
    return [memory for line in records for memory in (_read_carried(line) if FIELD in line else (line,))]


def _read_carried(line: Record) -> Iterator[Record]:
    if not written_by_a_store(line):
        yield line
        return
    if line["id"] != RESERVED_ID:
        yield {name: value for name, value in line.items() if name != FIELD}
    yield from line[FIELD]["also"]


# ── a vault's memory in a store, and a store's in a vault ───────────────────────────────────────────────────────────

_SOURCES = {"tool": "tool", "operator": "operator", "promotion": "promotion"}
_VAULT_SOURCES = {
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
        "source": _SOURCES.get(memory.source or "", "user"),
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
        source=_VAULT_SOURCES[said.get("source", "user")],
        deleted_at=None if state.status == "active" else state.last_modified,
        version=known.version + 1 if known else 1,
        extra={**(known.extra if known else {}), MEMORY_ID: root},
    )


def shows_the_same(one: VaultMemory, other: VaultMemory) -> bool:
    """Return whether a reader of the vault sees no difference. The time of a write or a deletion is none."""
    if not one.active and not other.active and bool(one.text) == bool(other.text):
        return True
    unseen: dict[str, Any] = {"version": 0, "updated_at": None, "created_at": "", "extra": {}}
    return _as_a_store_has_it(one)._replace(**unseen) == _as_a_store_has_it(other)._replace(**unseen)


def _as_a_store_has_it(memory: VaultMemory) -> VaultMemory:
    """Return a memory with the store's word for its source: a vault has several words for one of them."""
    return memory._replace(source=_SOURCES.get(memory.source or "", "user"))
