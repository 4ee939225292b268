"""Recollect's own records, as ``export`` writes them (one canonical JSON object a line, newest first), and governance items."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.entries import select_sound_vouchers
from recollect.formats.fields import (
    as_alias,
    as_created_at,
    carry_fields,
    drop_fields,
    has_own_name,
    id_of,
    keep_unknown,
    mapping_of,
    read_each_line,
    reads_lines,
    select_stated,
    split_carried,
    text_of,
    texts_of,
    writes_lines,
)
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source, origin
from recollect.model.fields import EXPORTED
from recollect.model.item import from_item, to_item
from recollect.model.record import ENTRY_ORIGIN, Memory
from recollect.model.state import OF_THE_STORE
from recollect.rules.language.text import sha256_hex

NAME = "recollect"
KNOWN = frozenset(Memory.__dataclass_fields__) - {"vouchers"}
"""The fields of a memory. Any other field of a record is kept in its origin. Vouchers are carried as an entry carries them; a
list of another shape is kept in the origin too."""


def read(source: Source) -> Iterator[Foreign]:
    """Read the file backwards: its last line is the oldest record, and has to come first here too."""
    numbers = [line.number for line in source.lines()]
    return read_each_line(source, source.lines_at(reversed(numbers)), _read_record)


def _read_record(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    status = record.get("status", "active")
    if status != "active":
        return Foreign(number, place, skipped=f"is history: {status}")
    stated = record.get("content_hash")
    if stated is not None and not _has_hash(record["content"], stated):
        return Foreign(number, place, refused="its content does not have its content_hash: it was changed or damaged")
    fields = candidate_fields(record)
    if not isinstance(fields["meta"], dict):
        return Foreign(number, place, refused="meta is not an object")
    vouchers = select_sound_vouchers(record.get("vouchers"))
    meta, note = keep_unknown(fields["meta"], drop_fields(record, *KNOWN, *(["vouchers"] if vouchers else ())))
    if vouchers:
        meta = {**meta, ENTRY_ORIGIN: {**mapping_of(meta.get(ENTRY_ORIGIN)), "vouchers": vouchers}}
    return Foreign(number, place, {**fields, "meta": meta}, id_of(record.get("id")), note=note)


def _has_hash(content: str, stated: Any) -> bool:
    try:
        return bool(sha256_hex(content) == stated)
    except UnicodeEncodeError:
        return False


def candidate_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as ``add`` takes it."""
    fields = {name: record[name] for name in EXPORTED if record.get(name) is not None}
    meta = record.get("meta") or {}
    if not isinstance(meta, dict):
        return {**fields, "meta": meta}
    meta = {name: value for name, value in meta.items() if name not in OF_THE_STORE}
    if fields.get("kind") == "profile":
        fields["key"] = meta.pop("key", None)
    if not has_own_name(record):
        fields.pop("canonical_key", None)
    came_from = origin(NAME, record, "id", "source", "version", "created_at", earlier=meta.get(ORIGIN))
    aliases = [*as_alias(id_of(record.get("id"))).get("aliases", ()), *texts_of(record.get("aliases"))]
    time = as_created_at(record.get("created_at"))
    return {**fields, **time, "aliases": aliases, "source": "import", "meta": {**meta, ORIGIN: came_from}}


FORMAT = Format(NAME, "Recollect's own records, JSON lines", read, writes_lines(Memory.to_dict))


# Governance items.
# The small view of a memory with everything else under ``meta``, one JSON object a line. What an item has no field for, such
# as who may see it and who said it, travels under ``meta.recollect``.
ITEMS_NAME = "items"
BEYOND = """
    namespace scope canonical_key topic_id layer sublayer tier category tags entities relationships artifact_ref context
    author user_id agent_id run_id thread_id actor_id role parent_refs confidence pinned expires_at
    valid_from valid_until
""".split()
"""What a memory has and an item has no word for."""
ITEM_FIELDS = ("id", "kind", "text", "source", "created_at", "importance", "scope", "meta")


def _to_item(memory: Memory) -> dict[str, Any]:
    item = to_item(memory)
    said = select_stated(memory, *BEYOND)
    if not has_own_name(memory.to_dict()):
        said.pop("canonical_key", None)
    if memory.expires_at_tick is not None:  # the item tells it, in ticks
        said.pop("expires_at", None)
    return {**item, "meta": carry_fields(item["meta"], said)}


def _read_item(number: int, place: str, item: Mapping[str, Any]) -> Foreign:
    if text_of(item.get("text")) is None:
        return Foreign(number, place, refused="has no text")
    if not isinstance(item.get("meta", {}), dict):
        return Foreign(number, place, refused="meta is not an object")
    beyond, meta = split_carried(item.get("meta", {}), *BEYOND)
    fields = {**from_item({**item, "meta": meta}), **beyond}
    meta = fields["meta"]
    came_from = origin(ITEMS_NAME, item, "id", "source", "created_at", earlier=meta.get(ORIGIN))
    if fields.get("source") == "import" or fields.get("source") == "promotion":
        came_from["source"] = fields["source"]
    meta, note = keep_unknown({**meta, ORIGIN: came_from}, drop_fields(item, *ITEM_FIELDS))
    return Foreign(number, place, {**fields, "meta": meta}, id_of(item.get("id")), note=note)


ITEMS_FORMAT = Format(ITEMS_NAME, "governance items, JSON lines", reads_lines(_read_item), writes_lines(_to_item))
