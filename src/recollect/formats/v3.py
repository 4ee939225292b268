"""Records of the third memory schema, one JSON object a line.

Its semantic title becomes the canonical key, its test memories go to the test namespace by the ordinary rules, and of
several records with one title the best becomes the active one: the most important, then the newest. The rest are
linked behind it as earlier versions.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from recollect.formats.fields import (
    each_line,
    id_of,
    mapping_of,
    moment_of,
    named_after,
    objects_in,
    said_at,
    text_of,
    without_empty,
)
from recollect.formats.kept_beside import beside, others
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.rules.language.text import sha256_hex

NAME = "v3"
_CARRIED = """
    layer sublayer tags entities relationships artifact_ref confidence category owner context user_id agent_id
""".split()
_KEPT_WITH_THE_ORIGIN = ("id", "created_at", "timestamp", "source", "memory_type", "importance")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Read twice: once to see in which order, of which little has to be remembered, and once to take them in."""
    seen = [_brief(line.number, value) for line, value in objects_in(source, source.lines())]
    best = {brief.title: brief for brief in sorted(seen, key=lambda brief: brief.worth)}

    def to_foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
        title = _title(record).casefold()
        return _foreign(number, place, record, best[title].worth[1] if title else _LONG_AGO)

    return each_line(source, source.lines_at(_in_order(seen)), to_foreign)


# ── which one is the best ───────────────────────────────────────────────────────────────────────────────────────────


class _Brief(NamedTuple):
    """What the order depends on: the title and a digest of the words, and what decides between those of one title."""

    number: int
    title: str
    said: str
    worth: tuple[float, datetime]


def _brief(number: int, value: Any) -> _Brief:
    record = mapping_of(value)
    said = str(record.get("content") or "").strip()
    return _Brief(
        number, _title(record).casefold(), sha256_hex(said.encode("utf-8", "replace").decode()), _worth(record)
    )


def _in_order(briefs: Iterable[_Brief]) -> Iterator[int]:
    """The worst first, so that the best of each title comes last and supersedes the others.

    Records that say the same under one title follow the best of them, and reinforce it.
    """
    groups: dict[tuple[str, str], list[_Brief]] = {}
    for brief in briefs:
        groups.setdefault((brief.title, brief.said), []).append(brief)
    best_first = [sorted(group, key=lambda one: one.worth, reverse=True) for group in groups.values()]
    return (brief.number for group in sorted(best_first, key=lambda group: group[0].worth) for brief in group)


def _worth(record: Mapping[str, Any]) -> tuple[float, datetime]:
    """What decides between records of one title: importance as it was counted there, then the moment, whatever its zone."""
    return _counted(record) or 0, _made(record) or _LONG_AGO


def _made(record: Mapping[str, Any]) -> datetime | None:
    return moment_of(record.get("created_at")) or moment_of(record.get("timestamp"))


# ── one record ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _foreign(number: int, place: str, record: Mapping[str, Any], best: datetime) -> Foreign:
    """Read a record. None is dated later than the ``best`` of its title, which replaces it; the origin has its own time."""
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    if record.get("custom_metadata") is not None and not isinstance(record["custom_metadata"], dict):
        return Foreign(number, place, refused="custom_metadata is not an object")
    fields, note = _candidate_fields(record)
    made = _made(record)
    fields |= said_at(made if best is _LONG_AGO else min(made or best, best))
    return Foreign(number, place, fields, id_of(record.get("id")), note=note)


def _candidate_fields(record: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """A record as ``add`` takes it: what has a home gets it, the rest is kept with where it came from.

    The answer also says what could not be kept.
    """
    homes = {name: record[name] for name in _CARRIED if record.get(name) and _fits(name, record[name])}
    kept = {name: record[name] for name in _KEPT_WITH_THE_ORIGIN if name in record}
    rest = others(record, *homes, *kept, "content", "custom_metadata", *(() if _has_title(record) else ("title",)))
    custom = others(mapping_of(record.get("custom_metadata")), "title")
    meta, note = beside({ORIGIN: {"format": NAME, "schema": 3, **kept}}, {**rest, "custom_metadata": custom})
    fields = {"owner": homes.get("user_id"), **homes, "content": record["content"], "source": "import"}
    fields |= {"change": "update", "meta": meta}
    if title := _title(record):
        fields["canonical_key"] = title
    if counted := _counted(record):
        fields["importance"] = math.ceil(counted / 2)
    return {**without_empty(fields), **named_after(text_of(record.get("id")))}, note


def _fits(name: str, value: Any) -> bool:
    """Whether a field means here what it means there: a context of words, say, is no object, and is kept as it is."""
    if name == "context":
        return isinstance(value, dict)
    return name not in ("owner", "user_id", "agent_id") or text_of(value) is not None


def _has_title(record: Mapping[str, Any]) -> bool:
    return bool(mapping_of(record.get("custom_metadata")).get("title"))


def _title(record: Mapping[str, Any]) -> str:
    return str(mapping_of(record.get("custom_metadata")).get("title") or record.get("title") or "")


def _counted(record: Mapping[str, Any]) -> float | None:
    """Importance as the third schema has it, from 1 to 10, or none; here it goes from 1 to 5. Text that is a number counts."""
    value = record.get("importance")
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
        return None
    return min(value, 10)


FORMAT = Format(NAME, "records of the third memory schema, JSON lines", read)
