"""Bytes as text, in bounded memory: lines, or chunks, of strict UTF-8.

Nothing is guessed. A byte order mark of UTF-8 is taken off; any other encoding is an error that names the line, since a
memory with the wrong letters in it is worse than none.
"""

import codecs
from collections.abc import Iterator
from typing import IO, Protocol

from recollect.formats.protocol import at_line
from recollect.model.errors import BadInput

MAX_LINE_BYTES = 4 * 2**20
"""A memory has at most some tens of kilobytes, so no honest line is longer."""
CHUNK_BYTES = 2**16
_OTHERS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_SAVE_AS = "Save it as UTF-8, such as with: iconv -f {} -t UTF-8."


def byte_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """``(offset, line)`` of every line, its end included. One that is too long is an error, read no further."""
    offset, number = 0, 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise BadInput(
                f"is longer than {MAX_LINE_BYTES:,} bytes.",
                field=at_line(name, number),
                hint="A record has one line; is this another format?",
            )
        yield offset, line
        offset += len(line)


def decoded(line: bytes, number: int, name: str) -> str:
    """A line as text."""
    if number == 1:
        line = _unmarked(line, name)
    place = at_line(name, number)
    if b"\0" in line:
        raise BadInput("holds a zero byte.", field=place, hint=_SAVE_AS.format("UTF-16"))
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, place) from None


class Bytes(Protocol):
    """Something that is read in pieces."""

    def read(self, size: int, /) -> bytes: ...


def text_chunks(stream: Bytes, name: str) -> Iterator[str]:
    """A whole stream as text, a piece at a time."""
    decoder, line, first = codecs.getincrementaldecoder("utf-8")(), 1, True
    while True:
        chunk = stream.read(CHUNK_BYTES)
        if first:
            chunk, first = _unmarked(chunk, name), False
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].count(b"\n")
            raise _not_utf8(error, at_line(name, line + before)) from None
        if "\0" in text:
            before = text[: text.index("\0")].count("\n")
            raise BadInput("holds a zero byte.", field=at_line(name, line + before), hint=_SAVE_AS.format("UTF-16"))
        if text:
            yield text
        if not chunk:
            return
        line += text.count("\n")


def _unmarked(start: bytes, name: str) -> bytes:
    for mark, encoding in _OTHERS.items():
        if start.startswith(mark):
            raise BadInput(f"is {encoding}, not UTF-8.", field=at_line(name, 1), hint=_SAVE_AS.format(encoding))
    return start.removeprefix(codecs.BOM_UTF8)


def _not_utf8(error: UnicodeDecodeError, place: str) -> BadInput:
    found = f"0x{error.object[error.start]:02x}"
    return BadInput(f"holds the byte {found}, which is not UTF-8.", field=place, hint=_SAVE_AS.format("LATIN1"))
