"""The vault's file: one JSON object a line, the highest version of an id being the one that counts."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.fields import each_line, id_of, named_after, objects_in, text_of, texts_of, without_empty
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.model.canonical import canonical_json, format_time
from recollect.model.record import Memory
from recollect.rules.text import sha256_hex

NAME = "vault"
TIERS = ("canon", "register")
SPOKEN_BY = {"chat": "user", "manual": "user", "operator": "user", "tool": "tool", "promotion": "promotion"}
"""The vault's words for who spoke. A file cannot speak for the operator here, but it can say that a person did."""
WORDS = {"user": "chat", "tool": "tool", "promotion": "promotion", "operator": "operator", "system": "operator"}


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Read twice: once to see which line of each id is the latest, and once to take those in."""
    latest: dict[str, tuple[int, int]] = {}
    for line, record in objects_in(source, source.lines()):
        id, version = _place_of(record, line.number)
        if (version, line.number) > latest.get(id, (0, 0)):
            latest[id] = (version, line.number)
    current = {number for _, number in latest.values()}
    for found in each_line(source, source.lines(), _foreign):
        older = found.refused is None and found.number not in current
        yield Foreign(found.number, found.place, skipped="is an older version of a later line") if older else found


def _place_of(record: Any, number: int) -> tuple[str, int]:
    """A digest of the id, which may be long, and the version; a line without an id stands for itself."""
    record = record if isinstance(record, dict) else {}
    id, version = id_of(record.get("id")), record.get("version", 1)
    known = sha256_hex(id.encode("utf-8", "replace").decode())[:16] if id is not None else f"line {number}"
    return known, version if isinstance(version, int) else 1


def _foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("text")) is None:
        return Foreign(number, place, refused="has no text")
    if record.get("deleted_at"):
        return Foreign(number, place, skipped="was deleted")
    id, spoken_by = id_of(record.get("id")), SPOKEN_BY.get(str(record.get("source")), "import")
    came = origin(NAME, record, "id", "source", "created_at", "updated_at", "version", "tier")
    fields = {
        "content": record["text"],
        "scope": record.get("scope"),
        "category": record.get("category"),
        "tier": _tier(record, spoken_by),
        "topic_id": record.get("topic_id"),
        "tags": texts_of(record.get("tags")),
        "source": spoken_by,
        "meta": {ORIGIN: came},
        **named_after(id),
    }
    return Foreign(number, place, without_empty(fields), id)


def _tier(record: Mapping[str, Any], spoken_by: str) -> Any:
    """The tier as far as it holds here: only a person's words are canon, and only a topic makes a register.

    A line without a tier is canon in the vault, which says nothing about it; the origin keeps what was said.
    """
    tier = record.get("tier") or "canon"
    if tier == "register":
        return tier if text_of(record.get("topic_id")) else None
    return None if tier == "canon" and spoken_by != "user" else tier


def write(memories: Iterable[Memory]) -> Iterator[str]:
    """A line for each memory, as the vault would have written it."""
    return (canonical_json(_line(memory)) + "\n" for memory in memories)


def _line(memory: Memory) -> dict[str, Any]:
    came = memory.meta.get(ORIGIN)
    before = came if isinstance(came, dict) and came.get("format") == NAME else {}
    changed = memory.last_modified > memory.created_at
    return {
        "id": before.get("id") or memory.short_id,
        "text": memory.content,
        "scope": memory.scope,
        "category": memory.category,
        "tier": str(memory.tier) if memory.tier in TIERS else before.get("tier", "canon"),
        "topic_id": memory.topic_id,
        "tags": list(memory.tags),
        "created_at": before.get("created_at") or format_time(memory.created_at),
        "updated_at": before.get("updated_at") or (format_time(memory.last_modified) if changed else None),
        "source": before.get("source") or WORDS.get(str(memory.source), "manual"),
        "deleted_at": None,
        "version": before.get("version") or memory.version,
    }


FORMAT = Format(NAME, "a vault's vault.jsonl", read, write)
