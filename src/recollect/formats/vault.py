"""The vault's file: one JSON object a line, the highest version of an id being the one that counts."""

from collections.abc import Iterator, Mapping
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
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, at_line, origin
from recollect.model.caller import APPLICATION, SYSTEM, principal
from recollect.model.canonical import format_time
from recollect.model.record import Memory
from recollect.rules.language.text import sha256_hex
from recollect.rules.vault.lines import FIELD, MEMORY_ID, RESERVED_ID, VaultMemory, read_memories, written_by_a_store

NAME = "vault"
TIERS = ("canon", "register")
EXTRA = "fields"
"""Where the origin keeps the fields of a line that are not the vault's, so that they go out again."""
OWN = frozenset(VaultMemory._fields) - {"extra"} | {MEMORY_ID}
BEYOND = (
    *(name for name in PLACE if name != "scope"),
    *("kind", "author", "confidence", "pinned", "importance", "expires_at", *HOLDS, *BY_WHOM, *WITH_IT),
)
"""What a vault has no field for. A line says it only where it does not go without saying: one of an old vault never does."""
BESIDE = (*BEYOND, "key", "meta")
WEIGHED = ("importance:canon", "importance:event_type:")
"""How the reason of an importance begins that nobody gave: it is found again."""
SPOKEN_BY = {"chat": "user", "manual": "user", "operator": "user", "tool": "tool", "promotion": "promotion"}
"""The vault's words for who spoke. A file cannot speak for the operator here, but it can say that a person did."""
WORDS = {"user": "chat", "tool": "tool", "promotion": "promotion", "operator": "operator", "system": "operator"}


class _Place(NamedTuple):
    """A record and where it stands: a line of a store may carry several."""

    number: int
    place: str
    value: Any


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Read twice: once to see which record of each id is the latest, and once to take those in."""
    latest: dict[str, tuple[int, int]] = {}
    for found in _records(source):
        id, version = _version_of(found)
        if id not in latest or (version, found.number) > latest[id]:
            latest[id] = (version, found.number)
    current = {number for _, number in latest.values()}
    for found in _records(source):
        yield _foreign(found, is_latest=found.number in current)


def _records(source: Source) -> Iterator[_Place]:
    """Yield every record, numbered by its line; behind a line that carries several, those that follow count on.

    A line that says two things ends the reading. Left out alone, it would bring an older version back, or what it deleted.
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
    return written_by_a_store(line) and isinstance(line[FIELD]["also"], list) and "id" in line


def _version_of(found: _Place) -> tuple[str, int]:
    """Return a digest of the id, which may be long, and the version; a record without an id stands for itself."""
    record = found.value if isinstance(found.value, dict) else {}
    id, version = id_of(record.get("id")), record.get("version", 1)
    known = sha256_hex(id.encode("utf-8", "replace").decode())[:16] if id is not None else f"record {found.number}"
    return known, version if isinstance(version, int) else 1


def _foreign(found: _Place, *, is_latest: bool) -> Foreign:
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
    fields = _fields(record, id)
    if not isinstance(fields["meta"], dict):
        return Foreign(number, place, refused="recollect.meta is not an object")
    return Foreign(number, place, without_empty(fields), id)


def _fields(record: Mapping[str, Any], id: str | None) -> dict[str, Any]:
    spoken_by = SPOKEN_BY.get(str(record.get("source")), "import")
    said = {**record, "tier": record.get("tier") or "canon"}
    beyond, extra = split_carried({name: value for name, value in record.items() if name not in OWN}, *BESIDE)
    data = beyond.pop("meta", {})
    names = ("id", "source", "created_at", "updated_at", "version", "tier", MEMORY_ID)
    came = origin(NAME, said, *names, earlier=mapping_of(data).get(ORIGIN))
    came |= {EXTRA: extra} if extra else {}
    return {
        **beyond,
        "content": record["text"],
        "scope": record.get("scope"),
        "category": record.get("category"),
        "tier": _tier(record, spoken_by),
        "topic_id": record.get("topic_id"),
        "tags": texts_of(record.get("tags")),
        "source": spoken_by,
        **as_created_at(record.get("updated_at"), record.get("created_at")),
        "meta": {**data, ORIGIN: came} if isinstance(data, dict) else data,
        **as_alias(id),
    }


def _tier(record: Mapping[str, Any], spoken_by: str) -> Any:
    """Return the tier as far as it holds here: only a person's words are canon.

    A line without a tier is canon in the vault, which says nothing about it; the origin keeps what was said.
    """
    tier = record.get("tier") or "canon"
    return None if tier == "canon" and spoken_by != "user" else tier


def _line(memory: Memory) -> dict[str, Any]:
    """Return a memory as a vault would have written it. One without a tier is in no snapshot: a register."""
    came = memory.meta.get(ORIGIN)
    before = came if isinstance(came, dict) and came.get("format") == NAME else {}
    changed = came is None and memory.last_modified > memory.created_at  # what was imported came later than it was made
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
        "source": before.get("source") if before else WORDS.get(str(memory.source), "manual"),
        "deleted_at": None,
        "version": before.get("version") or memory.version,
        **carry_fields(_extra(before), _beyond(memory)),
    }


def _beyond(memory: Memory) -> dict[str, Any]:
    """Return what goes along under a name of its own, as far as an import would not say the same by itself."""
    said = carried_fields(memory, BEYOND, NAME)
    if memory.importance_reason and memory.importance_reason[0].startswith(WEIGHED):
        del said["importance"]
    if said.get("author", {}).get("id") in (APPLICATION, principal(SYSTEM, APPLICATION)):
        del said["author"]
    return said


def _extra(before: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a line had beside the vault's fields. Whoever wrote it into ``meta``, it can pass for nothing else."""
    extra = before.get(EXTRA)
    if not isinstance(extra, dict) or written_by_a_store(extra):
        return {}
    return {name: value for name, value in extra.items() if name not in OWN}


FORMAT = Format(NAME, "a vault's vault.jsonl", read, writes_lines(_line))
