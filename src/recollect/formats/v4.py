"""Records of the fourth memory schema, one JSON object a line, with its names and their meanings.

Its ``content_hash`` is the hash of the normalised content, which is a memory's fingerprint here, and its words for who
spoke are others. What a memory has beyond it stands under ``recollect``, which the schema allows: implementations may
store more fields.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.carried_fields import BY_WHOM, HOLDS, beyond_of, parted, with_beyond
from recollect.formats.fields import each_line, id_of, in_utc, mapping_of, named_after, said_at, text_of, without_empty
from recollect.formats.kept_beside import FIELDS, beside, others
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.formats.records import was_named
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory
from recollect.rules.identity.keys import FALLBACK
from recollect.rules.language.text import fingerprint, sha256_hex

NAME = "v4"
SPOKEN_BY = {"user_input": "user", "agent": "agent", "test_suite": "test_suite"}
"""The schema's words for who spoke. What says that it is the system's is an import: no file speaks for the operator."""
WORDS = {
    "system": "system",
    "operator": "system",
    "user": "user_input",
    "tool": "agent",
    "agent": "agent",
    "import": "import",
    "test_suite": "test_suite",
}
TAKEN_OVER = ("layer", "sublayer", "namespace", "tags", "entities", "relationships", "artifact_ref")
DECIDED_ANEW = """
    id status supersedes_id superseded_by_id related_memory_ids conflict_ids created_at last_modified access_count
    last_accessed source
""".split()
"""What holds for the store that it comes from; it is kept with where the memory came from."""
OWN = frozenset(("content", "content_hash", "canonical_key", "expires_at", *TAKEN_OVER, *DECIDED_ANEW))
BEYOND = (
    *("space", "owner", "scope", "kind", "topic_id", "event_type", "tier", "category", "context", "author"),
    *("authority", "parent_refs", "confidence", "pinned", "importance", *HOLDS, *BY_WHOM),
)
"""What a memory has and the schema has no field for."""
EXACT = "exact_hash"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def read(source: Source, options: Options) -> Iterator[Foreign]:
    return each_line(source, source.lines(), _foreign)


def _foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    if (status := record.get("status", "active")) != "active":
        return Foreign(number, place, skipped=f"is history: {status}")
    beyond, rest = parted(others(record, *OWN), *BEYOND, "key", "meta", EXACT)
    if not _is_of(record["content"], record.get("content_hash"), beyond.pop(EXACT, None)):
        why = "its normalised content does not have its content_hash: it was changed or damaged"
        return Foreign(number, place, refused=why)
    data = beyond.pop("meta", {})
    if not isinstance(data, dict):
        return Foreign(number, place, refused="recollect.meta is not an object")
    id, known_as = id_of(record.get("id")), record.get("canonical_key")
    came = origin(NAME, without_empty(record), *DECIDED_ANEW, earlier=data.get(ORIGIN))
    meta, note = beside({**data, ORIGIN: came}, rest)
    fields = {
        **{name: record.get(name) for name in TAKEN_OVER},
        "content": record["content"],
        "canonical_key": known_as if _is_a_name({**beyond, "canonical_key": known_as}) else None,
        "expires_at": in_utc(record.get("expires_at")),
        **said_at(record.get("created_at")),
        **beyond,
        "source": SPOKEN_BY.get(str(record.get("source")), "import"),
        **named_after(id),
    }
    return Foreign(number, place, {**without_empty(fields), "meta": meta}, id, note=note)


def _is_of(content: str, stated: Any, exact: Any) -> bool:
    """Whether a content is the one that was hashed. Another hash than SHA-256 cannot be checked, and is let pass.

    A store that folds synonyms, which nobody else knows, tells the hash of the exact words besides.
    """
    if not isinstance(stated, str) or not _SHA256.fullmatch(stated):
        return True
    try:
        return sha256_hex(content) == exact if exact is not None else fingerprint(content) == stated
    except UnicodeEncodeError:
        return False


def _is_a_name(record: Mapping[str, Any]) -> bool:
    """Whether the key names the concept. The schema's fallback names none, and is drawn anew."""
    return record["canonical_key"] != FALLBACK and text_of(record["canonical_key"]) is not None and was_named(record)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (canonical_json(_record(memory)) + "\n" for memory in memories)


def _record(memory: Memory) -> dict[str, Any]:
    came = mapping_of(memory.meta.get(ORIGIN))
    before = came if came.get("format") == NAME else {}
    said = beyond_of(memory, BEYOND, NAME)
    if fingerprint(memory.content) != memory.fingerprint:
        said[EXACT] = memory.content_hash
    return {
        **with_beyond(others(mapping_of(before.get(FIELDS)), *OWN), said),
        "id": memory.id,
        "content": memory.content,
        "content_hash": memory.fingerprint,
        "layer": memory.layer,
        "sublayer": memory.sublayer,
        "canonical_key": memory.canonical_key,
        "status": memory.status,
        "namespace": memory.namespace,
        "supersedes_id": memory.supersedes_id,
        "superseded_by_id": memory.superseded_by_id,
        "related_memory_ids": list(memory.related_memory_ids),
        "conflict_ids": list(memory.conflict_ids),
        "created_at": memory.created_at,
        "last_modified": memory.last_modified,
        "access_count": memory.access_count,
        "last_accessed": memory.last_accessed,
        "source": _word(memory, before),
        "expires_at": memory.expires_at,
        "tags": list(memory.tags),
        "entities": list(memory.entities),
        "relationships": list(memory.relationships),
        "artifact_ref": memory.artifact_ref,
    }


def _word(memory: Memory, before: Mapping[str, Any]) -> str:
    """Who spoke, in the schema's words: as it came, or for what was promoted, who is believed to have."""
    if memory.source == "import" and before.get("source") in WORDS.values():
        return str(before["source"])
    if memory.source == "promotion":
        return "user_input" if memory.authority == "user_asserted" else "agent"
    return WORDS[str(memory.source)]


FORMAT = Format(NAME, "records of the fourth memory schema, JSON lines", read, write)
