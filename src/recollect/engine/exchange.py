"""Out as JSON lines, and in again through the gates."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.ingest import add_many
from recollect.engine.reading import list_memories
from recollect.formats import schema_v3
from recollect.model.errors import BadInput
from recollect.model.receipt import Plain, Receipt

CARRIED = """
    content namespace space owner scope kind canonical_key topic_id event_type layer sublayer tier category tags
    entities relationships artifact_ref context author authority authority_reason user_id agent_id run_id thread_id
    actor_id role parent_refs signature confidence pinned importance expires_at
""".split()
"""The fields of an exported memory that an import takes over; the rest is decided anew."""
BATCH = 500
FORMATS = ("recollect", "v3")


@dataclass(frozen=True, slots=True)
class ImportReport(Plain):
    """How many records came in, what became of them, and why some did not."""

    read: int
    outcomes: dict[str, int]
    refused: tuple[dict[str, Any], ...]


def export_memories(
    engine: Engine,
    *,
    owner: str | None = None,
    space: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    status: str | Sequence[str] | None = "active",
) -> Iterator[str]:
    """Every memory as one line of canonical JSON, newest first; only ``prod`` unless asked otherwise."""
    cursor: str | None = None
    while True:
        page = list_memories(
            engine,
            owner=owner,
            space=space,
            include_namespaces=include_namespaces,
            status=status,
            limit=1_000,
            cursor=cursor,
        )
        yield from (memory.to_json() for memory in page.items)
        cursor = page.next_cursor
        if cursor is None:
            return


def import_memories(engine: Engine, lines: Iterable[str], *, format: str = "recollect") -> ImportReport:
    """Bring memories in: every record through the gates, with new ids, and where it came from in ``meta``.

    ``recollect`` reads what ``export`` wrote, newest first, and stores each batch oldest first. ``v3`` reads records of
    the third schema; of several with one title the best becomes the active one.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}.", field="format", hint=f"Known: {', '.join(FORMATS)}.")
    numbered = ((number, _record(number, line)) for number, line in enumerate(lines, start=1) if line.strip())
    candidates = (
        _from_v3(numbered) if format == "v3" else ((number, _candidate_fields(record)) for number, record in numbered)
    )
    read, outcomes, refused = 0, Counter[str](), list[dict[str, Any]]()
    batch: list[tuple[int, dict[str, Any]]] = []
    for number, fields in candidates:
        read += 1
        batch.append((number, fields))
        if len(batch) >= BATCH:
            _take_in(engine, batch, outcomes, refused, newest_first=format == "recollect")
    _take_in(engine, batch, outcomes, refused, newest_first=format == "recollect")
    return ImportReport(read, dict(sorted(outcomes.items())), tuple(refused))


def _from_v3(numbered: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = {id(record): (number, record) for number, record in numbered}
    for record in schema_v3.in_order(record for _, record in lines.values()):
        yield lines[id(record)][0], schema_v3.candidate_fields(record)


def _take_in(
    engine: Engine,
    batch: list[tuple[int, dict[str, Any]]],
    outcomes: Counter[str],
    refused: list[dict[str, Any]],
    *,
    newest_first: bool,
) -> None:
    if newest_first:
        batch.reverse()
    receipts: list[Receipt] = add_many(engine, [fields for _, fields in batch])
    for (number, _), receipt in zip(batch, receipts, strict=True):
        outcomes[str(receipt.outcome)] += 1
        if receipt.denied:
            refused.append({"line": number, "reason": receipt.reasons[0], "detail": receipt.detail})
    batch.clear()


def _record(number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"is not JSON: {error.msg}.", field=f"line {number}", hint="Import one record a line.") from None
    if not isinstance(record, dict) or "content" not in record:
        raise BadInput("has no content.", field=f"line {number}", hint="Import what `recollect export` wrote.")
    return record


def _candidate_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: record[name] for name in CARRIED if record.get(name) is not None}
    meta = dict(record.get("meta") or {})
    if fields.get("kind") == "profile":
        fields["key"] = meta.pop("key", None)
        fields.pop("canonical_key", None)
    origin = {name: record[name] for name in ("id", "source", "version", "created_at") if name in record}
    fields["meta"] = {**meta, "imported_from": origin}
    if isinstance(record.get("id"), str):
        fields["aliases"] = [record["id"]]
    return {**fields, "source": "import"}
