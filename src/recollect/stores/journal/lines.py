"""Lines of a journal as bytes: reading one, and writing one."""

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.rules.vault import ADOPTED, FIELD, RESERVED_ID, written_by_a_store
from recollect.stores.journal.rows import check_packed

SHORT_LINE_BYTES = 2_048
"""To read so much as a whole takes no longer than to find out what need not be read."""
_NOBODY = f'"{RESERVED_ID}"'.encode()
_ROWS, _NO_OTHERS = f', "{FIELD}": {{"tables": '.encode(), b', "also": []}}'
"""How a store's line goes on after its memory, and how it ends if it has no other. No text holds that: quotes are escaped."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""How files begin whose letters have four bytes each, or two."""
LETTERS_BYTES = 16
"""In such an encoding at least every so many bytes some are zero: the quotes, names and digits of JSON are ASCII."""
_ZEROS = re.compile(rb"\0+")

_as_text = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""Made once, where ``json.dumps`` makes another for each line. What came from a line cannot hold itself."""

Record = dict[str, Any]


class Place(NamedTuple):
    """A line and where in the file it begins."""

    offset: int
    line: bytes


def read_line(line: bytes) -> Record:
    """The object that a line holds; ``ValueError`` says what is wrong with it.

    >>> read_line(b'{"id": "0f3a9c2b1d4e", "text": "The mission is to stabilise", "version": 2}')["version"]
    2
    """
    try:
        return _checked(_parsed(line))
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def read_lines(lines: Sequence[bytes]) -> list[Record] | None:
    """The records of many lines, in half the time that they take one by one; ``None`` if one of them is none."""
    try:
        records = _parsed(b"[%s]" % b",".join(lines))
        return [_checked(record) for record in records] if len(records) == len(lines) else None
    except (ValueError, RecursionError):
        return None


def without_rows(line: bytes) -> bytes:
    """A store's line for those who read it as a vault: the rows are nearly all of it, and nothing to them.

    What is not cut this way (a short line, one with more memories in it, another tool's) is read as a whole.
    """
    at = line.find(_ROWS) if len(line) > SHORT_LINE_BYTES else -1
    if at < 0 or not line.endswith(_NO_OTHERS):
        return line
    memory = line[:at]
    return memory + (_ROWS + b"{}" + _NO_OTHERS if _NOBODY in memory else b"}")


def _parsed(text: bytes) -> Any:
    """Strict UTF-8, of which some editors put a mark at the beginning; ``json`` itself would guess other encodings."""
    try:
        return json.loads(text.removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(foreign_encoding(text) or f"it is not UTF-8 from its byte {error.start + 1:,} on") from None
    except ValueError as error:
        raise ValueError(foreign_encoding(text) or str(error)) from None


def foreign_encoding(line: bytes) -> str | None:
    """What is wrong with a line whose letters have two or four bytes each, or that begins as such files do."""
    wide = next((name for mark, name in _MARKS if line.startswith(mark)), None)
    zeros = _ZEROS.findall(line)
    if wide is None and len(zeros) > len(line) // LETTERS_BYTES:
        wide = "UTF-32" if len(max(zeros, key=len)) > 1 else "UTF-16"
    return f"it is in {wide}, and a vault is UTF-8; `iconv -f {wide} -t UTF-8` converts it" if wide else None


def _checked(record: Any) -> Record:
    if type(record) is not dict:
        raise ValueError("it is no JSON object")
    if type(record.get("id")) is not str:
        raise ValueError("it has no `id`")
    if type(record.get("version", 1)) is not int:
        raise ValueError("its `version` is no whole number")
    if FIELD in record and written_by_a_store(record):
        _check_carried(record[FIELD])
    return record


def _check_carried(payload: Mapping[str, Any]) -> None:
    """What a store's line brings along: other records, ids, and rows."""
    if type(payload["also"]) is not list:
        raise ValueError(f"its `{FIELD}.also` is no list")
    for memory in payload["also"]:
        _checked(memory)
    adopted = payload.get(ADOPTED, {})
    if type(adopted) is not dict or any(type(id) is not str for id in adopted.values()):
        raise ValueError(f"its `{FIELD}.{ADOPTED}` does not name ids")
    check_packed(payload["tables"])


def write_line(record: Mapping[str, Any] | Sequence[Any]) -> bytes:
    """A record as one line, its end included. Whatever the text holds, there is no other line end in it.

    What a line of another tool had is written as it came: half a letter (a lone surrogate) has no bytes of its own, so
    that such a line is written in escapes.
    """
    try:
        return _as_text(record).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(record).encode("ascii") + b"\n"


def places(data: bytes, offset: int) -> list[Place]:
    """The lines of a part of a file that begins at an offset; the last one is what follows the last line end."""
    found = []
    for line in data.split(b"\n"):
        found.append(Place(offset, line))
        offset += len(line) + 1
    return found
