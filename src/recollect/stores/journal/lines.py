"""The lines of a journal: how changed rows are packed into them, how lines are read and written, and how a torn end looks.

Rows are plain JSON, with bytes in base 64. The rows of a few memories can be read in the file; those of a transaction that
changes many are packed, since they would be most of the file, and a reader of the vault has to pass over them.

Only what a crash can leave of a line may be cut off: the beginning of a record, and pages of zeros that a power cut left
where the rest of it should be. It follows a whole record, or it is the very first line that we ever wrote.
"""

import base64
import codecs
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from recollect.formats.decoding import WIDE_MARKS
from recollect.formats.vault import ADOPTED, FIELD, RESERVED_ID, is_store_line
from recollect.model.errors import StoreError
from recollect.stores.values import Table

MAX_LINE_BYTES = 64 * 1_048_576
"""The longest line that is written or read. A transaction may change thousands of rows; a longer line is taken for damage."""
READABLE_ROWS = 250
"""Up to so many rows are written as plain JSON, which people can read; more are packed. A memory has some twenty-five."""
FASTEST = 1
"""How hard to squeeze: the next step up saves a tenth, and takes more than twice the time."""

_BYTES = "base64"


class Change(NamedTuple):
    """Changed rows of one table: their values now, and the keys of the removed ones."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    gone: list[tuple[Any, ...]]


class FinalRows:
    """The last values of some rows of one table, after any number of changes."""

    def __init__(self, table: Table, columns: tuple[str, ...]) -> None:
        self.table, self.columns = table, columns
        self._key = itemgetter(*(columns.index(column) for column in table.key))
        self._rows: dict[Any, tuple[Any, ...] | None] = {}

    def add(self, change: Change) -> None:
        for key in change.gone:
            self._rows[key if len(key) > 1 else key[0]] = None
        for row in change.rows:
            self._rows[self._key(row)] = row

    def split(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Return the rows that exist, and the keys of the removed ones."""
        gone = [key if type(key) is tuple else (key,) for key, row in self._rows.items() if row is None]
        return [row for row in self._rows.values() if row is not None], gone


def pack_changes(changes: Sequence[Change]) -> dict[str, Any] | str:
    """Return the changes of one transaction, by table; if they are many, compressed into one text."""
    tables = {
        change.table: {
            "columns": list(change.columns),
            "rows": [row if bytes not in map(type, row) else tuple(map(_encode_bytes, row)) for row in change.rows],
            "gone": [list(key) for key in change.gone],
        }
        for change in changes
    }
    return tables if sum(len(change.rows) for change in changes) <= READABLE_ROWS else _compress(tables)


def _compress(tables: Mapping[str, Any]) -> str:
    text = json.dumps(tables).encode("ascii")
    check_length(len(text))
    return base64.b64encode(zlib.compress(text, FASTEST)).decode("ascii")


def _decompress(text: str) -> Any:
    """Return the tables of a compressed text, up to the size of a line: a few bytes may expand to gigabytes."""
    reader = zlib.decompressobj()
    try:
        found = json.loads(reader.decompress(base64.b64decode(text, validate=True), MAX_LINE_BYTES))
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"packed rows are damaged: {error}") from None
    if not reader.eof:
        raise ValueError("packed rows are not whole")
    check_tables(found)
    return found


def check_length(size: int) -> None:
    """Raise if a line would have more bytes than a line may have."""
    if size > MAX_LINE_BYTES:
        raise StoreError(
            f"the changes of one transaction are {size:,} bytes; a journal's line may have {MAX_LINE_BYTES:,}.",
            hint="Write less at once, or use a database file.",
        )


def check_tables(tables: Any) -> None:
    """Raise ``ValueError`` if the rows of a line have the wrong shape. Compressed rows are checked when they are read."""
    if type(tables) is str:
        return
    if type(tables) is not dict:
        raise ValueError("its rows are not by table")
    for table, found in tables.items():
        try:
            columns, rows, gone = found["columns"], found["rows"], found["gone"]
            whole = all(len(row) == len(columns) for row in rows) and all(type(key) is list for key in gone)
        except (TypeError, KeyError):
            whole = False
        if not whole:
            raise ValueError(f"its rows of {table!r:.80} are not whole")


def unpack_changes(tables: Mapping[str, Any] | str) -> Iterator[Change]:
    """Yield the changes that ``pack_changes`` wrote into a line."""
    found = _decompress(tables) if isinstance(tables, str) else tables
    for table, of in found.items():
        rows = [tuple(row) if dict not in map(type, row) else tuple(map(_decode_bytes, row)) for row in of["rows"]]
        yield Change(table, tuple(of["columns"]), rows, [tuple(key) for key in of["gone"]])


def _encode_bytes(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _decode_bytes(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value


SHORT_LINE_BYTES = 2_048
"""A shorter line is parsed as fast as its rows are cut out of it."""
_NOBODY = f'"{RESERVED_ID}"'.encode()
_ROWS, _NO_OTHERS = f', "{FIELD}": {{"tables": '.encode(), b', "also": []}}'
"""How a store's line goes on after its memory, and how it ends if it has no other. No text holds that: quotes are escaped."""

LETTERS_BYTES = 16
"""In UTF-16 and UTF-32 at least one byte of so many is zero: the quotes, names and digits of JSON are ASCII."""
_ZEROS = re.compile(rb"\0+")

_as_text = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""Made once; ``json.dumps`` would make one for each line. Values that came from a line have no cycles to check for."""

Record = dict[str, Any]


class Place(NamedTuple):
    """A line and where in the file it begins."""

    offset: int
    line: bytes


def read_line(line: bytes) -> Record:
    """Return the object that a line holds; ``ValueError`` says what is wrong with it.

    >>> read_line(b'{"id": "0f3a9c2b1d4e", "text": "The mission is to stabilise", "version": 2}')["version"]
    2
    """
    try:
        return _check_record(_parse(line))
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def read_lines(lines: Sequence[bytes]) -> list[Record] | None:
    """Return the records of many lines, twice as fast as one by one; ``None`` if one of them is no record."""
    try:
        records = _parse(b"[%s]" % b",".join(lines))
        return [_check_record(record) for record in records] if len(records) == len(lines) else None
    except (ValueError, RecursionError):
        return None


def strip_rows(line: bytes) -> bytes:
    """Return a store's line without its rows, which readers of a vault do not need.

    Any other line (a short one, one with more memories in it, another tool's) is returned as it is.
    """
    at = line.find(_ROWS) if len(line) > SHORT_LINE_BYTES else -1
    if at < 0 or not line.endswith(_NO_OTHERS):
        return line
    memory = line[:at]
    return memory + (_ROWS + b"{}" + _NO_OTHERS if _NOBODY in memory else b"}")


def _parse(text: bytes) -> Any:
    """Parse JSON in strict UTF-8, with or without a byte order mark; ``json`` itself would guess other encodings."""
    try:
        return json.loads(text.removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(describe_encoding(text) or f"it is not UTF-8 from its byte {error.start + 1:,} on") from None
    except ValueError as error:
        raise ValueError(describe_encoding(text) or str(error)) from None


def describe_encoding(line: bytes) -> str | None:
    """Return what is wrong with a line in UTF-16 or UTF-32; ``None`` if it is in neither."""
    wide = next((name for mark, name in WIDE_MARKS.items() if line.startswith(mark)), None)
    zeros = _ZEROS.findall(line)
    if wide is None and len(zeros) > len(line) // LETTERS_BYTES:
        wide = "UTF-32" if len(max(zeros, key=len)) > 1 else "UTF-16"
    return f"it is in {wide}, and a vault is UTF-8; `iconv -f {wide} -t UTF-8` converts it" if wide else None


def _check_record(record: Any) -> Record:
    if type(record) is not dict:
        raise ValueError("it is no JSON object")
    if type(record.get("id")) is not str:
        raise ValueError("it has no `id`")
    if type(record.get("version", 1)) is not int:
        raise ValueError("its `version` is no whole number")
    if FIELD in record and is_store_line(record):
        _check_payload(record[FIELD])
    return record


def _check_payload(payload: Mapping[str, Any]) -> None:
    """Check what a store's line carries: other records, ids and rows."""
    if type(payload["also"]) is not list:
        raise ValueError(f"its `{FIELD}.also` is no list")
    for memory in payload["also"]:
        _check_record(memory)
    adopted = payload.get(ADOPTED, {})
    if type(adopted) is not dict or any(type(id) is not str for id in adopted.values()):
        raise ValueError(f"its `{FIELD}.{ADOPTED}` does not name ids")
    check_tables(payload["tables"])


def write_line(record: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """Return a record as one line, its end included. Whatever the text holds, there is no other line end in it.

    A line of another tool may hold a lone surrogate, which UTF-8 has no bytes for; it is written in ASCII, with escapes.
    """
    try:
        return _as_text(record).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record).encode("ascii") + b"\n"


def places(data: bytes, offset: int) -> list[Place]:
    """Return the lines of a part of a file that begins at an offset; the last one is what follows the last line end."""
    found = []
    for line in data.split(b"\n"):
        found.append(Place(offset, line))
        offset += len(line) + 1
    return found


End = Literal["whole", "torn", "foreign"]

SECTOR_BYTES = 512
"""The least that a disk writes or loses at once. Letters of another encoding have zero bytes far more often than that."""

_OPENING = re.compile(rb'\{"id": "[0-9a-f]{12}", "text": "')
"""How every line begins that a vault or a store writes into an empty file."""
_AN_OPENING = f'{{"id": "{RESERVED_ID}", "text": "'.encode()
_HOLES = re.compile(rb"\0+")
_CUT_SHORT = re.compile(
    r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|N|Na|-?(I|In|Inf|Infi|Infin|Infini|Infinit)?|[.eE][+-]?|,\s*"
)
"""What may stand where JSON stops making sense because it was cut there: nothing, half a word, half a number, a comma."""
_HALF_AN_ESCAPE = 6


def classify_end(last: Sequence[Place]) -> End:
    """Classify the last line of a file, which has no line end; the lines before it tell whether the file is ours.

    ``whole``: a record to which only the line end is missing, as editors leave it, or blanks. ``torn``: what a crash left
    of a record. ``foreign``: nothing that a vault ever wrote, and never to be cut off.
    """
    line = last[-1].line
    if not line.strip() or _is_record(line):
        return "whole"
    before = [place.line for place in last[:-1] if place.line.strip()]
    while before and _has_holes(before[-1]) and _may_be_partial_line(before[-1]):
        before.pop()
    if before:
        return "torn" if _is_record(before[-1]) and _may_be_partial_line(line) else "foreign"
    alone = last[0].offset == 0 and all(not place.line.strip() for place in last[:-1])
    return "torn" if alone and _begins_like_our_lines(line) else "foreign"


def find_torn_start(last: Sequence[Place]) -> int:
    """Return where a torn end begins: at the last line, or at one before it that has zero bytes from a power cut."""
    start = last[-1].offset
    for place in reversed(last[:-1]):
        if not _has_holes(place.line):
            break
        start = place.offset
    return start


def _begins_like_our_lines(line: bytes) -> bool:
    """Return whether a text is the beginning of a line as we write them, possibly followed by zeros."""
    said = line.rstrip(b"\0")
    if not said or b"\0" in said:
        return False
    if len(said) <= len(_AN_OPENING):
        return _OPENING.fullmatch(said + _AN_OPENING[len(said) :]) is not None
    return _OPENING.match(said) is not None and _is_partial_object(said)


def _may_be_partial_line(line: bytes) -> bool:
    """Return whether a line may be the beginning of a JSON object, or what follows the zeros of a power cut."""
    said = line.partition(b"\0")[0]
    if b"\0" in line and not _has_holes(line):
        return False
    return not said or _is_partial_object(said)


def _has_holes(line: bytes) -> bool:
    """Return whether a line has zero bytes as a power cut leaves them: few runs, each of many zeros."""
    return 0 < len(_HOLES.findall(line)) <= 1 + len(line) // SECTOR_BYTES


def _is_partial_object(line: bytes) -> bool:
    """Return whether a text is the beginning of a JSON object and not the whole of it."""
    text = line.decode("utf-8", errors="replace")  # a letter may be cut as well
    if not text.startswith("{"):
        return False
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        escape = error.msg.startswith("Invalid \\") and len(rest) <= _HALF_AN_ESCAPE
        return escape or error.msg.startswith("Unterminated string") or _CUT_SHORT.fullmatch(rest) is not None
    except (ValueError, RecursionError):
        return False
    return False


def _is_record(line: bytes) -> bool:
    try:
        return bool(read_line(line))
    except ValueError:
        return False
