"""Records of the third and the fourth memory schema, one JSON object a line."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from recollect.formats.fields import (
    BY_WHOM,
    FIELDS,
    HOLDS,
    as_alias,
    as_created_at,
    as_utc,
    carried_fields,
    carry_fields,
    drop_fields,
    has_own_name,
    id_of,
    keep_unknown,
    mapping_of,
    moment_of,
    parse_lines,
    read_each_line,
    reads_lines,
    split_carried,
    text_of,
    without_empty,
    writes_lines,
)
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source, origin
from recollect.model.record import Memory
from recollect.rules.identity.keys import FALLBACK
from recollect.rules.language.text import fingerprint, sha256_hex

# The third schema.
# Its semantic title becomes the canonical key, its test memories go to the test namespace by the ordinary rules, and of
# several records with one title the best becomes the active one: the most important, then the newest. The rest are
# linked behind it as earlier versions.
V3_NAME = "v3"
_CARRIED = """
    layer sublayer tags entities relationships artifact_ref confidence category owner context user_id agent_id
""".split()
_KEPT_WITH_THE_ORIGIN = ("id", "created_at", "timestamp", "source", "memory_type", "importance")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def read_v3(source: Source) -> Iterator[Foreign]:
    """Read twice: once to find the order of the records, which takes little memory, and once to import them."""
    seen = [_summarise(line.number, value) for line, value in parse_lines(source, source.lines())]
    best = {brief.title: brief for brief in sorted(seen, key=lambda brief: brief.worth)}

    def to_foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
        title = _find_title(record).casefold()
        return _read_v3_record(number, place, record, best[title].worth[1] if title else None)

    return read_each_line(source, source.lines_at(_order_by_worth(seen)), to_foreign)


class _Brief(NamedTuple):
    """What the order depends on: the title and a digest of the words, and what decides between those of one title."""

    number: int
    title: str
    said: str
    worth: tuple[float, datetime]
    """Importance as it was counted there, then the moment, whatever its zone."""


def _summarise(number: int, value: Any) -> _Brief:
    record = mapping_of(value)
    said = str(record.get("content") or "").strip().encode("utf-8", "replace").decode()
    worth = _read_importance(record) or 0, _find_time(record) or _LONG_AGO
    return _Brief(number, _find_title(record).casefold(), sha256_hex(said), worth)


def _order_by_worth(briefs: Iterable[_Brief]) -> Iterator[int]:
    """Order records from worst to best, so that the best of each title comes last and supersedes the others.

    Records that say the same under one title follow the best of them, and reinforce it.
    """
    groups: dict[tuple[str, str], list[_Brief]] = {}
    for brief in briefs:
        groups.setdefault((brief.title, brief.said), []).append(brief)
    best_first = [sorted(group, key=lambda one: one.worth, reverse=True) for group in groups.values()]
    return (brief.number for group in sorted(best_first, key=lambda group: group[0].worth) for brief in group)


def _find_time(record: Mapping[str, Any]) -> datetime | None:
    return moment_of(record.get("created_at")) or moment_of(record.get("timestamp"))


def _read_v3_record(number: int, place: str, record: Mapping[str, Any], best: datetime | None) -> Foreign:
    """Read a record. None is dated later than the ``best`` of its title, which replaces it; the origin has its own time.

    If the best has no time that can be read, none of them has one.
    """
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    if record.get("custom_metadata") is not None and not isinstance(record["custom_metadata"], dict):
        return Foreign(number, place, refused="custom_metadata is not an object")
    fields, note = _candidate_fields(record)
    made = _find_time(record)
    dated = made if best is None else min(made or best, best)
    fields |= as_created_at(None if dated is _LONG_AGO else dated)
    return Foreign(number, place, fields, id_of(record.get("id")), note=note)


def _candidate_fields(record: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return a record as ``add`` takes it: what has a home gets it, the rest is kept with where it came from.

    The answer also says what could not be kept.
    """
    homes = {name: record[name] for name in _CARRIED if record.get(name) and _has_same_meaning(name, record[name])}
    kept = {name: record[name] for name in _KEPT_WITH_THE_ORIGIN if name in record}
    custom = mapping_of(record.get("custom_metadata"))
    known = ("content", "custom_metadata", *(() if custom.get("title") else ("title",)))
    rest, custom = drop_fields(record, *homes, *kept, *known), drop_fields(custom, "title")
    meta, note = keep_unknown({ORIGIN: {"format": V3_NAME, "schema": 3, **kept}}, {**rest, "custom_metadata": custom})
    fields = {"owner": homes.get("user_id"), **homes, "content": record["content"], "source": "import"}
    fields |= {"change": "update", "meta": meta}
    if title := _find_title(record):
        fields["canonical_key"] = title
    if counted := _read_importance(record):
        fields["importance"] = math.ceil(counted / 2)
    return {**without_empty(fields), **as_alias(text_of(record.get("id")))}, note


def _has_same_meaning(name: str, value: Any) -> bool:
    """Return whether a field means here what it means there: a context of words, say, is no object, and is kept as it is."""
    if name == "context":
        return isinstance(value, dict)
    return name not in ("owner", "user_id", "agent_id") or text_of(value) is not None


def _find_title(record: Mapping[str, Any]) -> str:
    return str(mapping_of(record.get("custom_metadata")).get("title") or record.get("title") or "")


def _read_importance(record: Mapping[str, Any]) -> float | None:
    """Return the importance as the third schema counts it, from 1 to 10, or ``None``. Text that is a number counts."""
    value = record.get("importance")
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
        return None
    return min(value, 10)


V3_FORMAT = Format(V3_NAME, "records of the third memory schema, JSON lines", read_v3)


# The fourth schema, with its names and their meanings.
# Its ``content_hash`` is the hash of the normalised content, which is a memory's fingerprint here, and its words for who
# spoke are others. What a memory has beyond it stands under ``recollect``, which the schema allows: implementations may
# store more fields.
V4_NAME = "v4"
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


def _read_v4_record(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    if (status := record.get("status", "active")) != "active":
        return Foreign(number, place, skipped=f"is history: {status}")
    beyond, rest = split_carried(drop_fields(record, *OWN), *BEYOND, "key", "meta", EXACT)
    if not _matches_hash(record["content"], record.get("content_hash"), beyond.pop(EXACT, None)):
        why = "its normalised content does not have its content_hash: it was changed or damaged"
        return Foreign(number, place, refused=why)
    data = beyond.pop("meta", {})
    if not isinstance(data, dict):
        return Foreign(number, place, refused="recollect.meta is not an object")
    id, known_as = id_of(record.get("id")), record.get("canonical_key")
    came_from = origin(V4_NAME, without_empty(record), *DECIDED_ANEW, earlier=data.get(ORIGIN))
    meta, note = keep_unknown({**data, ORIGIN: came_from}, rest)
    fields = {
        **{name: record.get(name) for name in TAKEN_OVER},
        "content": record["content"],
        "canonical_key": known_as if _names_concept({**beyond, "canonical_key": known_as}) else None,
        "expires_at": as_utc(record.get("expires_at")),
        **as_created_at(record.get("created_at")),
        **beyond,
        "source": SPOKEN_BY.get(str(record.get("source")), "import"),
        **as_alias(id),
    }
    return Foreign(number, place, {**without_empty(fields), "meta": meta}, id, note=note)


def _matches_hash(content: str, stated: Any, exact: Any) -> bool:
    """Return whether a content is the one that was hashed. Another hash than SHA-256 cannot be checked, and is let pass.

    A store that folds synonyms, which no other store knows, adds the hash of the exact words.
    """
    if not isinstance(stated, str) or not _SHA256.fullmatch(stated):
        return True
    try:
        return sha256_hex(content) == exact if exact is not None else fingerprint(content) == stated
    except UnicodeEncodeError:
        return False


def _names_concept(record: Mapping[str, Any]) -> bool:
    """Return whether the key names the concept. The schema's fallback names none, and is drawn anew."""
    return record["canonical_key"] != FALLBACK and text_of(record["canonical_key"]) is not None and has_own_name(record)


def _to_v4(memory: Memory) -> dict[str, Any]:
    came_from = mapping_of(memory.meta.get(ORIGIN))
    before = came_from if came_from.get("format") == V4_NAME else {}
    said = carried_fields(memory, BEYOND, V4_NAME)
    if fingerprint(memory.content) != memory.fingerprint:
        said[EXACT] = memory.content_hash
    return {
        **carry_fields(drop_fields(mapping_of(before.get(FIELDS)), *OWN), said),
        **{name: getattr(memory, name) for name in OWN},
        "content_hash": memory.fingerprint,
        "source": _choose_source(memory, before),
    }


def _choose_source(memory: Memory, before: Mapping[str, Any]) -> str:
    """Return who spoke, in the schema's words: as it came, or for what was promoted, who is believed to have."""
    if memory.source == "import" and before.get("source") in WORDS.values():
        return str(before["source"])
    if memory.source == "promotion":
        return "user_input" if memory.authority == "user_asserted" else "agent"
    return WORDS[str(memory.source)]


V4_FORMAT = Format(
    V4_NAME, "records of the fourth memory schema, JSON lines", reads_lines(_read_v4_record), writes_lines(_to_v4)
)
