"""The vault's record: twelve fields a line, and whatever else a line holds is kept."""

from collections.abc import Mapping
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.model.errors import StoreCorrupt


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
        """The record as a line has it: the vault's fields in their order, then the others."""
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


def from_line(record: Mapping[str, Any]) -> VaultMemory:
    """A record that was read from a vault file. Older files have no tier, which makes it canon, and may lack a version.

    An empty topic is none, and an empty time of deletion says that it was not deleted.
    """
    try:
        values = _values(record)
    except KeyError:  # rare enough to be worth a try: a vault has many thousand lines
        return from_line({**_ABSENT, **record})
    id, text, scope, category, tier, topic_id, tags, created_at, updated_at, source, deleted_at, version = values
    if tuple(map(type, values)) not in _SIGNATURES or (tags and not _ONLY_TEXT.issuperset(map(type, tags))):
        raise _wrong(record)
    extra = _NOTHING_ELSE if len(record) == len(_FIELDS) else {k: v for k, v in record.items() if k not in _FIELDS}
    return VaultMemory._make((
        id, text, scope, category, tier or "canon", topic_id or None, tuple(tags or ()),
        created_at or "", updated_at, source, deleted_at or None, version, extra,
    ))  # fmt: skip


def _wrong(whole: Mapping[str, Any]) -> StoreCorrupt:
    name = next((name for name, types in _TYPES.items() if type(whole[name]) not in types), "tags")
    return StoreCorrupt(
        f"the `{name}` of the memory {whole['id']} is not {_WORDS[_TYPES[name][0]]}.",
        field="vault",
        hint="Correct its latest line in the vault's file.",
    )
