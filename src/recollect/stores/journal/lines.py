"""Lines of a journal as bytes: reading one, writing one, and telling a torn end from a file that is somebody else's."""

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from recollect.rules.vault.carried import ADOPTED, FIELD, RESERVED_ID, written_by_a_store
from recollect.stores.journal.rows import check_packed

SHORT_LINE_BYTES = 2_048
"""To read so much as a whole takes no longer than to find out what need not be read."""
_NOBODY = f'"{RESERVED_ID}"'.encode()
_ROWS, _NO_OTHERS = f', "{FIELD}": {{"tables": '.encode(), b', "also": []}}'
"""How a store's line goes on after its memory, and how it ends if it has no other. No text holds that: quotes are escaped."""

_as_text = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
"""Made once, where ``json.dumps`` makes another for each line. What came from a line cannot hold itself."""

Record = dict[str, Any]
End = Literal["whole", "torn", "foreign"]


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
    return json.loads(text.removeprefix(codecs.BOM_UTF8).decode("utf-8"))


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


def kind_of_end(last: Sequence[Place]) -> End:
    """What the last line is, which has no line end; the lines before it tell whose file it is.

    ``whole``: a record to which only the line end is missing, as editors leave it. ``torn``: what a crash left of one.
    ``foreign``: nothing that a vault ever wrote, so hands off.
    """
    *before, line = [place.line for place in last]
    if _is_record(line):
        return "whole"
    filled = [one for one in before if one.strip() and b"\0" not in one]
    ours = _is_record(filled[-1]) if filled else line.startswith((b"{", b"\0"))
    return "torn" if ours and not _is_json(line) else "foreign"


def _is_record(line: bytes) -> bool:
    try:
        return bool(read_line(line))
    except ValueError:
        return False


def _is_json(line: bytes) -> bool:
    try:
        _parsed(line)
    except (ValueError, RecursionError):
        return False
    return True


def torn_from(last: Sequence[Place]) -> int:
    """Where a torn end begins: at the last line, or at one before it in which a power cut left zero bytes."""
    start = last[-1].offset
    for place in reversed(last[:-1]):
        if b"\0" not in place.line:
            break
        start = place.offset
    return start


def places(data: bytes, offset: int) -> list[Place]:
    """The lines of a part of a file that begins at an offset; the last one is what follows the last line end."""
    found = []
    for line in data.split(b"\n"):
        found.append(Place(offset, line))
        offset += len(line) + 1
    return found
