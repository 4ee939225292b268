"""Plain CSV and JSON lines: a map says which column holds which field, or else the names of the columns do.

``--map content=note`` reads the content from the column ``note``; ``--map meta.team=team`` keeps a column under a name
of its own. A column that is named like a field is that field. Every other column is kept with where it came from. How far
a row is to be believed is its own word: it counts if the one who imports it has the right to state an authority.

What has no column of its own, such as data and context, stands in one that an export calls ``recollect``, as a JSON object.

In CSV a cell that a spreadsheet would take for a formula stands behind a single quote, which is taken off again.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.decoding import MAX_LINE_BYTES, find_repeated, refuse_repeated_fields
from recollect.formats.fields import (
    NAME,
    as_alias,
    as_created_at,
    has_own_name,
    id_of,
    read_each_line,
    select_stated,
    split_carried,
    text_of,
    to_plain,
    user_data,
    without_empty,
)
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source, at_line, origin
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.record import Candidate, Memory
from recollect.model.vocabulary import Authority
from recollect.model.vocabulary import Source as Spoken

CSV, JSONL = "csv", "jsonl"
CONTENT = ("content", "text", "memory", "data", "fact", "note")
"""The usual names of the column that holds the content."""
LISTS = ("tags", "aliases", "parent_refs")
NUMBERS = {"importance": int, "ttl_ticks": int, "confidence": float}
AUTHOR = {"author_id": "id", "author_name": "name", "author_platform": "platform"}
"""The columns of who said it; a table has no cell for an object."""
BY_NAME = {
    "authority": frozenset(map(str, Authority)) - {"system_imposed"},
    "source": frozenset(map(str, Spoken)) - {"system", "operator"},
}
"""The values that count in a column of this name. A row is the system's or an operator's only by a mapped column."""
NOT_MAPPED = frozenset({"authority_reason", "meta"})
KNOWN = (frozenset(Candidate.model_fields) | AUTHOR.keys()) - NOT_MAPPED
META = "meta."
QUOTE = "'"
"""What tells a spreadsheet that a cell is text."""
_FORMULA = re.compile(rf"{QUOTE}*[=+\-@\t\r\n]")
"""How a cell begins that a spreadsheet would run as a formula, which may send away what is in the others."""
WRITTEN = """
    id content owner space namespace scope kind key canonical_key topic_id event_type layer sublayer tier category tags
    importance pinned expires_at valid_from valid_until user_id agent_id run_id thread_id actor_id role created_at
    author_id author_name author_platform confidence authority parent_refs
""".split()
BEYOND = ("entities", "relationships", "artifact_ref", "context", "authority")
"""What has no cell of its own; and an authority of the system, for which the name of a column is not enough."""


def read_csv(source: Source) -> Iterator[Foreign]:
    """Read a table whose first row names the columns."""
    rows = csv.reader(lines := _Lines(source), strict=True)
    try:
        header = _name_columns(next(rows, []), source.name)
        columns = _check_columns(header, source)
        lines.begin()
        number = 0
        for row in rows:
            place = f"line {lines.first}"
            lines.begin()
            if not row:
                continue
            number += 1
            if len(row) != len(header):
                yield Foreign(number, place, refused=f"has {len(row)} columns; the first row names {len(header)}")
            else:
                cells = map(_remove_quote, row)
                yield _to_foreign(CSV, number, place, dict(zip(header, cells, strict=True)), columns)
    except csv.Error as error:
        place = at_line(source.name, lines.first)
        raise BadInput(f"is not CSV: {error}.", field=place, hint="Quote what holds commas or line ends.") from None


def _name_columns(header: list[str], name: str) -> list[str]:
    """Return the columns, each under a name of its own; one that has none is called by its place."""
    header = [column if column.strip() else f"column {place}" for place, column in enumerate(header, start=1)]
    if (column := find_repeated(header)) is not None:
        raise BadInput(
            f"the column {column!r} is there twice.", field=at_line(name, 1), hint="Rename one, or take it out."
        )
    return header


class _Lines:
    """The lines of a table, and a count of the lines and the bytes that one row takes."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.last, self.first, self._size = 0, 1, 0

    def begin(self) -> None:
        self.first, self._size = self.last + 1, 0

    def __iter__(self) -> Iterator[str]:
        for line in self._source.lines(whole=True):
            self.last, self._size = line.number, self._size + len(line.text)
            if self._size > MAX_LINE_BYTES:
                what = f"is a row of more than {MAX_LINE_BYTES:,} characters."
                raise BadInput(what, field=at_line(self._source.name, self.first), hint="Is a quote open?")
            yield line.text


def read_jsonl(source: Source) -> Iterator[Foreign]:
    columns = _check_columns(None, source)

    def to_foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
        return _to_foreign(JSONL, number, place, record, columns)

    return read_each_line(source, source.lines(), to_foreign)


def _check_columns(header: Iterable[str] | None, source: Source) -> Mapping[str, str]:
    """Return the user's map from field to column, or raise for a field or a column that does not exist."""
    for target, column in source.columns.items():
        if target not in KNOWN and not target.startswith(META):
            known = ", ".join(sorted(KNOWN))
            raise BadInput(f"there is no field {target!r}.", field="map", hint=f"Known: {known}, and meta.…")
        if header is not None and column not in header:
            raise BadInput(
                f"there is no column {column!r}.", field="map", hint=f"{source.name} has: {', '.join(header)}."
            )
    return source.columns


def _to_foreign(format: str, number: int, place: str, record: Mapping[str, Any], columns: Mapping[str, str]) -> Foreign:
    """Return a record by its columns. What has no field of its own is kept as it is."""
    targets = {column: field for field, column in columns.items()}
    fields: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    beyond, others = _split_extra(record)
    for column, value in others.items():
        target = targets.get(column) or (column if column not in columns and _is_field(column, value) else None)
        if target is None:
            rest[column] = value
        elif target.startswith(META):
            meta[target.removeprefix(META)] = value
        else:
            fields[target] = _read_cell(target, value)
    fields |= _read_author(fields)
    guessed = None
    if "content" not in fields:
        guessed = next((name for name in CONTENT if text_of(rest.get(name))), None)
        fields["content"] = rest.pop(guessed) if guessed else None
    if not text_of(fields["content"]):
        if "content" in columns:
            return Foreign(number, place, skipped="is empty")
        empty = next((name for name in CONTENT if name in record), None)
        if empty is not None and not isinstance(record[empty], str | None):
            return Foreign(number, place, refused=f"what it has in the column {empty!r} is not text")
        why = "has no content" if empty is None else f"has nothing in the column {empty!r}"
        return Foreign(number, place, refused=f"{why}; name the column of the words with --map content=…")
    id = id_of(rest.pop("id", None))
    rest = {column: value for column, value in rest.items() if column not in beyond or value != beyond[column]}
    data = beyond.pop("meta", {})
    if not isinstance(data, dict):
        return Foreign(number, place, refused=f"{NAME}.meta is not an object")
    made = fields.pop("created_at", None)
    came_from = {"id": id, "created_at": made, "columns": without_empty(rest)}
    came_from = origin(format, without_empty(came_from), *came_from, earlier=data.get(ORIGIN))
    given = {
        "source": "import",
        **as_alias(id),
        **without_empty(fields),
        **without_empty(beyond),
        **as_created_at(made),
    }
    given["meta"] = {**data, **without_empty(meta), ORIGIN: came_from}
    return Foreign(number, place, given, id, guessed=guessed)


def _split_extra(record: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that a row carries without a column of their own, and the other columns."""
    cell = record.get(NAME)
    if isinstance(cell, str) and cell.startswith("{"):
        try:
            cell = json.loads(cell, object_pairs_hook=refuse_repeated_fields)
        except (ValueError, RecursionError):
            return {}, dict(record)
    return split_carried({**record, NAME: cell} if NAME in record else record, *BEYOND, "meta")


def _is_field(column: str, value: Any) -> bool:
    """Return whether a column is the field of its name; other tools mean many things by `source`."""
    return column in KNOWN and (column not in BY_NAME or str(value) in BY_NAME[column])


def _read_author(fields: dict[str, Any]) -> dict[str, Any]:
    """Return who said it, from the columns that tell; a name without an id stands for both."""
    said = {part: value for name, part in AUTHOR.items() if text_of(value := fields.pop(name, None))}
    if fields.get("author") or not said:
        return {}
    id = said.get("id") or said.get("name")
    return {"author": {"name": id, **said, "id": id}} if id is not None else {}


def _read_cell(field: str, value: Any) -> Any:
    """Return a cell as its field has it: a list between semicolons, a number, a yes or no. What is none is refused later."""
    if not isinstance(value, str):
        return value
    if field in LISTS:
        return _read_list(value)
    if field == "pinned":
        return {"true": True, "yes": True, "1": True, "false": None, "no": None, "0": None, "": None}.get(
            value.strip().lower(), value
        )
    try:
        return NUMBERS[field](value) if field in NUMBERS and value.strip() else value
    except ValueError:
        return value


def _read_list(cell: str) -> Any:
    """Return the texts between semicolons, or a JSON list."""
    if cell.startswith("["):
        try:
            return json.loads(cell)
        except ValueError:
            return [cell]
    return [one.strip() for one in cell.split(";") if one.strip()]


def write_csv(memories: Iterable[Memory]) -> Iterator[str]:
    yield _format_row([*WRITTEN, NAME])
    for memory in memories:
        values = _to_row(memory, CSV)
        yield _format_row([_add_quote(_to_cell(values[name])) for name in (*WRITTEN, NAME)])


def write_jsonl(memories: Iterable[Memory]) -> Iterator[str]:
    for memory in memories:
        yield canonical_json(without_empty(_to_row(memory, JSONL))) + "\n"


def _to_row(memory: Memory, format: str) -> dict[str, Any]:
    """Return the fields of a memory that a table has columns for, and the rest in one."""
    values = {name: to_plain(name, getattr(memory, name)) for name in WRITTEN if name != "key" and name not in AUTHOR}
    values |= {name: getattr(memory.author, part) for name, part in AUTHOR.items()}
    values["pinned"] = memory.pinned or None
    values["key"] = memory.meta.get("key") if memory.kind == "profile" else None
    if not has_own_name(values):
        values["canonical_key"] = None
    values[NAME] = _collect_extra(memory, format)
    return {name: str(value) if hasattr(value, "value") else value for name, value in values.items()}


def _collect_extra(memory: Memory, format: str) -> dict[str, Any]:
    came_from = memory.meta.get(ORIGIN)
    others = isinstance(came_from, dict) and "columns" in came_from  # they have no place but the origin
    said = select_stated(memory, *BEYOND) | without_empty({"meta": user_data(memory, None if others else format)})
    if said["authority"] in BY_NAME["authority"]:
        del said["authority"]
    return said


def _to_cell(value: Any) -> str:
    if isinstance(value, list):
        simple = all(";" not in one and not one.startswith("[") and one == one.strip() for one in value)
        return ";".join(value) if simple else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return canonical_json(value) if value else ""
    return "" if value is None else "true" if value is True else str(value)


def _add_quote(cell: str) -> str:
    """Return a cell as a spreadsheet shows it and never runs it. One that looks as if this had been done gets another quote."""
    return f"{QUOTE}{cell}" if _FORMULA.match(cell) else cell


def _remove_quote(cell: str) -> str:
    return cell[len(QUOTE) :] if cell.startswith(QUOTE) and _FORMULA.match(cell) else cell


class _Echo:
    """Where a CSV writer writes to: it hands the row straight back."""

    def write(self, row: str) -> str:
        return row


def _format_row(cells: Iterable[str]) -> str:
    return str(csv.writer(_Echo()).writerow(list(cells)))


TABLE = Format(CSV, "a CSV file with a column map", read_csv, write_csv, mapped=True)
LINES = Format(JSONL, "JSON lines with a column map", read_jsonl, write_jsonl, mapped=True)
