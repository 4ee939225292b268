"""Out as JSON lines, and in again through the gates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.drafting import parse_candidate
from recollect.engine.exporting import every_memory
from recollect.engine.ingest import add_many
from recollect.formats import schema_v3
from recollect.formats.json_elements import parsed
from recollect.formats.records import candidate_fields
from recollect.model.errors import BadInput
from recollect.model.receipt import Plain, Receipt

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
    """Every memory as one line of canonical JSON, newest first, as they all were at one moment.

    Only ``prod``, and only what is active, unless asked otherwise.
    """
    every = every_memory(engine, owner=owner, space=space, include_namespaces=include_namespaces, status=status)
    return (memory.to_json() for memory in every)


def import_memories(engine: Engine, lines: Iterable[str], *, format: str = "recollect") -> ImportReport:
    """Bring memories in: every record through the gates, with new ids, and where it came from in ``meta``.

    ``recollect`` reads what ``export`` wrote, newest first, and stores the oldest first; what was not active there is
    history, and is counted as skipped. ``v3`` reads records of the third schema; of several with one title the best
    becomes the active one. Everything is read and checked before anything is stored.
    """
    if format not in FORMATS:
        raise BadInput(f"there is no format {format!r}.", field="format", hint=f"Known: {', '.join(FORMATS)}.")
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise BadInput("must be lines of JSON.", field="lines", hint="Pass an open file, or text.splitlines().")
    numbered = [(n, _record(n, line)) for n, line in enumerate(lines, start=1) if line != "" and not _blank(line)]
    wanted = _from_v3(numbered) if format == "v3" else _from_export(numbered)
    for number, fields in wanted:
        _checked(engine, number, fields)
    outcomes: Counter[str] = Counter(skipped=len(numbered) - len(wanted))
    refused: list[dict[str, Any]] = []
    for start in range(0, len(wanted), BATCH):
        _take_in(engine, wanted[start : start + BATCH], outcomes, refused)
    kept = {outcome: count for outcome, count in sorted(outcomes.items()) if count}
    return ImportReport(len(numbered), kept, tuple(refused))


def _from_export(numbered: Sequence[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    active = [(number, record) for number, record in numbered if record.get("status", "active") == "active"]
    return [(number, candidate_fields(record)) for number, record in reversed(active)]


def _checked(engine: Engine, number: int, fields: Mapping[str, Any]) -> None:
    try:
        parse_candidate(engine, fields)
    except BadInput as error:
        raise BadInput(error.message, field=f"line {number}.{error.field}", hint=error.hint) from None


def _from_v3(numbered: Sequence[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    lines = {id(record): number for number, record in numbered}
    ordered = schema_v3.in_order(record for _, record in numbered)
    return [(lines[id(record)], schema_v3.candidate_fields(record)) for record in ordered]


def _take_in(
    engine: Engine,
    batch: Sequence[tuple[int, dict[str, Any]]],
    outcomes: Counter[str],
    refused: list[dict[str, Any]],
) -> None:
    receipts: list[Receipt] = add_many(engine, [fields for _, fields in batch])
    for (number, _), receipt in zip(batch, receipts, strict=True):
        outcomes[str(receipt.outcome)] += 1
        if receipt.denied:
            refused.append({"line": number, "reason": receipt.reasons[0], "detail": receipt.detail})


def _blank(line: object) -> bool:
    return isinstance(line, str) and not line.strip()


def _record(number: int, line: str) -> dict[str, Any]:
    if not isinstance(line, str):
        raise BadInput("is not text.", field=f"line {number}", hint="Import one record a line.")
    record = parsed(line, f"line {number}")
    if not isinstance(record, dict) or "content" not in record:
        raise BadInput("has no content.", field=f"line {number}", hint="Import what `recollect export` wrote.")
    return record
