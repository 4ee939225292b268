"""Records of the third memory schema, as JSON lines.

Its semantic title becomes the canonical key, its test memories go to the test namespace by the ordinary rules, and of
several records with one title the best becomes the active one: the most important, then the newest. The rest are
linked behind it as earlier versions.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

_CARRIED = ("layer", "sublayer", "tags", "entities", "relationships", "artifact_ref", "confidence")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def in_order(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The worst first, so that the best of each title comes last and supersedes the others.

    Records that say the same under one title follow the best of them, and reinforce it.
    """
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((_title(record).casefold(), str(record["content"]).strip()), []).append(record)
    best_first = [sorted(group, key=_worth, reverse=True) for group in groups.values()]
    return [record for group in sorted(best_first, key=lambda group: _worth(group[0])) for record in group]


def candidate_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a candidate: what has a home gets it, the rest is kept under ``meta.imported_from``."""
    title = _title(record)
    fields = {name: record[name] for name in _CARRIED if record.get(name)}
    fields |= {"content": record["content"], "source": "import", "change": "update"}
    fields["meta"] = {"imported_from": {"schema": 3, **{k: v for k, v in record.items() if k in _ORIGIN}}}
    if title:
        fields["canonical_key"] = title
    if record.get("category"):
        fields["category"] = record["category"]
    if _importance(record):
        fields["importance"] = _importance(record)
    if isinstance(record.get("id"), str):
        fields["aliases"] = [record["id"]]
    return fields


_ORIGIN = ("id", "created_at", "timestamp", "source", "memory_type", "importance")


def _title(record: Mapping[str, Any]) -> str:
    custom = record.get("custom_metadata") or {}
    return str(custom.get("title") or record.get("title") or "")


def _worth(record: Mapping[str, Any]) -> tuple[float, datetime]:
    """What decides between records of one title: importance as it was counted there, then the moment, whatever its zone."""
    return _counted(record) or 0, _moment(record.get("created_at")) or _moment(record.get("timestamp")) or _LONG_AGO


def _importance(record: Mapping[str, Any]) -> int | None:
    """Importance from 1 to 5; the third schema counted to 10."""
    counted = _counted(record)
    return None if counted is None else math.ceil(counted / 2)


def _counted(record: Mapping[str, Any]) -> float | None:
    """Importance from 1 to 10, or none."""
    value = record.get("importance")
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 1:
        return None
    return min(value, 10)


def _moment(value: Any) -> datetime | None:
    """When a record was made: a time without a zone is UTC, a number counts seconds."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
