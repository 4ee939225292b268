"""Bytes as text and JSON, in bounded memory: lines or chunks of strict UTF-8, and the elements of an array one at a time.

Nothing is guessed. A byte order mark of UTF-8 is taken off; any other encoding is an error that names the line, since a
memory with the wrong letters in it is worse than none.

JSON is only cut here, at the commas of the array that is wanted; what is between them is read by ``json``. A streaming
parser would give neither the line of an element nor a limit on how long a single string may be.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import IO, Any, NamedTuple, NoReturn, Protocol

from recollect.formats.protocol import at_line
from recollect.model.errors import BadInput

MAX_LINE_BYTES = 4 * 2**20
"""A memory has at most some tens of kilobytes, so no honest line is longer."""
CHUNK_BYTES = 2**16
WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""How files begin whose letters have four bytes each, or two."""
_SAVE_AS = "Save it as UTF-8, such as with: iconv -f {} -t UTF-8."


def byte_lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """Yield ``(offset, line)`` for every line, its end included; raise for a line that is too long without reading it whole."""
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


def decode_line(line: bytes, number: int, name: str) -> str:
    """Return a line as text."""
    if number == 1:
        line = _strip_mark(line, name)
    place = at_line(name, number)
    if b"\0" in line:
        raise BadInput("holds a zero byte.", field=place, hint=_SAVE_AS.format("UTF-16"))
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8_error(error, place) from None


class Bytes(Protocol):
    """Something that is read in pieces."""

    def read(self, size: int, /) -> bytes: ...


def read_text(stream: Bytes, name: str) -> Iterator[str]:
    """Yield a whole stream as text, a piece at a time."""
    decoder, line, first = codecs.getincrementaldecoder("utf-8")(), 1, True
    while True:
        chunk = stream.read(CHUNK_BYTES)
        if first:
            chunk, first = _strip_mark(chunk, name), False
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].count(b"\n")
            raise _not_utf8_error(error, at_line(name, line + before)) from None
        if "\0" in text:
            before = text[: text.index("\0")].count("\n")
            raise BadInput("holds a zero byte.", field=at_line(name, line + before), hint=_SAVE_AS.format("UTF-16"))
        if text:
            yield text
        if not chunk:
            return
        line += text.count("\n")


def _strip_mark(start: bytes, name: str) -> bytes:
    for mark, encoding in WIDE_MARKS.items():
        if start.startswith(mark):
            raise BadInput(f"is {encoding}, not UTF-8.", field=at_line(name, 1), hint=_SAVE_AS.format(encoding))
    return start.removeprefix(codecs.BOM_UTF8)


def _not_utf8_error(error: UnicodeDecodeError, place: str) -> BadInput:
    found = f"0x{error.object[error.start]:02x}"
    return BadInput(f"holds the byte {found}, which is not UTF-8.", field=place, hint=_SAVE_AS.format("LATIN1"))


MAX_ELEMENT_CHARACTERS = 32 * 2**20
"""A conversation of years may be long; nothing that is honest is longer."""
LONGEST_WORD = 16
"""An error so close to the end of what was read may be of a word, an escape or a number that goes on."""
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class Unreadable(ValueError):
    """What is wrong where a JSON value should be, on which line, and whether the text ends there."""

    def __init__(self, what: str, line: int, *, cut_off: bool = False) -> None:
        super().__init__(what)
        self.line, self.cut_off = line, cut_off


class JsonText:
    """JSON that comes in pieces, read a value at a time: what was read and not used yet begins at ``at``, on ``line``."""

    def __init__(self, pieces: Iterator[str], decoder: json.JSONDecoder, most_characters: int) -> None:
        self._pieces, self._decoder, self._most = pieces, decoder, most_characters
        self.text, self.at, self.line, self.ended = "", 0, 1, False

    @property
    def remaining(self) -> int:
        return len(self.text) - self.at

    def read_more(self) -> bool:
        """Read as much again as is left, so that a long value is not tried with every piece; ``False`` at the end."""
        pieces, size = [self.text[self.at :]], 0
        while size < max(1, self.remaining) and (piece := next(self._pieces, "")):
            pieces.append(piece)
            size += len(piece)
        self.text, self.at, self.ended = "".join(pieces), 0, size == 0
        return size > 0

    def advance_to(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def peek(self) -> str:
        """Return the next character that is not blank, without using it; empty at the end."""
        while True:
            found = _NOT_BLANK.search(self.text, self.at)
            self.advance_to(found.start() if found else len(self.text))
            if found or not self.read_more():
                return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """Use the value that begins here, and return it, reading on for as long as it may only be incomplete."""
        while True:
            try:
                value, end = self._decoder.raw_decode(self.text, self.at)
            except RecursionError:
                raise Unreadable("is nested too deeply", self.line) from None
            except json.JSONDecodeError as error:
                self._extend_value(error)
            except ValueError:
                raise Unreadable("holds a number that is too long", self.line) from None
            else:
                size = end - self.at
                if end < len(self.text) or not self.read_more():  # at the end a number may go on
                    self.advance_to(self.at + size)
                    return value

    def _extend_value(self, error: json.JSONDecodeError) -> None:
        """Read more of a value that may be incomplete; raise if it is broken, too long, or if there is no more."""
        line = self.line + self.text.count("\n", self.at, error.pos)
        in_text, to_end = error.msg.startswith("Unterminated"), len(self.text) - error.pos
        incomplete = in_text or to_end < LONGEST_WORD
        if incomplete and self.remaining > self._most and not self.ended:
            raise Unreadable(f"is longer than {self._most:,} characters", self.line)
        if not incomplete or not self.read_more():
            raise Unreadable(f"is not JSON: {error.msg}", line, cut_off=in_text or to_end == 0)


class Cut(NamedTuple):
    """An element's place and value, and the name of the member whose list it stands in; the document itself has none."""

    line: int
    value: Any
    member: str = ""


class PassedOver(NamedTuple):
    """Stands for a list of objects that was not asked for, so that the reader can report that it was skipped."""

    member: str


def array_elements(chunks: Iterator[str], name: str, *members: str) -> Iterator[Cut]:
    """Yield the elements of an array: the whole document, or all that stand under a member of these names.

    Such a member may stand within another. The document is read to its end: what is cut off, or follows it, is an error.
    """
    reader = _ElementReader(chunks, name)
    sign = reader.peek()
    if sign == "[":
        yield from reader.read_elements("")
    elif sign != "{" or not members:
        reader.fail_without_list(members)
    else:
        yield from reader.read_members(members)
    reader.end()


def begins_a_document(line: str) -> bool:
    """Return whether an object or a list begins on this line and ends on a later one: a document, not JSON lines.

    >>> begins_a_document("["), begins_a_document('{"content": "Ana likes tea"}')
    (True, False)
    """
    ends = {"[": "]", "{": "}"}.get(line[:1])
    return ends is not None and not line.rstrip().endswith(ends)


class Ambiguous(NamedTuple):
    """Stands for a record that has a field twice: it is refused, and the rest of the file is read."""

    why: str


def parse_json(text: str, place: str) -> Any:
    """Return a JSON text as a value; what is wrong with it is an error that names the place."""
    value = parse_record(text, place)
    if isinstance(value, Ambiguous):
        raise BadInput(f"{value.why}.", field=place, hint="Keep the one that is meant.")
    return value


def parse_record(text: str, place: str) -> Any:
    """Return one record of many as a value. If a field is there twice it is ``Ambiguous``; what is no JSON is an error."""
    try:
        return json.loads(text, object_pairs_hook=refuse_repeated_fields)
    except TwiceThere as error:
        return Ambiguous(f"is ambiguous: {error}")
    except RecursionError:
        raise BadInput("is nested too deeply.", field=place) from None
    except json.JSONDecodeError as error:
        raise BadInput(f"is not JSON: {error.msg}.", field=place, hint="Is this another format?") from None
    except ValueError:
        raise BadInput("holds a number that is too long.", field=place) from None


class TwiceThere(ValueError):
    """An object has a field twice: readers keep one of the values, and not all of them the same one."""


def refuse_repeated_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, for ``object_pairs_hook``.

    >>> refuse_repeated_fields([("content", "a"), ("content", "b")])
    Traceback (most recent call last):
    recollect.formats.decoding.TwiceThere: the field 'content' is there twice
    """
    notes: list[str] = []
    found = note_repeated_fields(notes, pairs)
    if notes:
        raise TwiceThere(notes[0])
    return found


def note_repeated_fields(notes: list[str], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, and note a field that is there twice instead of raising."""
    found = dict(pairs)
    if len(found) < len(pairs):
        notes.append(f"the field {find_repeated(name for name, _ in pairs)!r} is there twice")
    return found


def find_repeated(names: Iterable[str]) -> str | None:
    """Return the first of these names that is among them again."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name[:80]
        seen.add(name)
    return None


class _ElementReader(JsonText):
    """Cuts a document into the elements of its lists; what is wrong with it is an error that names the line."""

    def __init__(self, chunks: Iterator[str], name: str) -> None:
        self._name = name
        self._twice: list[str] = []
        decoder = json.JSONDecoder(object_pairs_hook=partial(note_repeated_fields, self._twice))
        super().__init__(chunks, decoder, MAX_ELEMENT_CHARACTERS)

    def fail(self, what: str, hint: str | None = None, line: int | None = None) -> NoReturn:
        raise BadInput(f"{what}.", field=at_line(self._name, line or self.line), hint=hint)

    def fail_without_list(self, members: tuple[str, ...]) -> NoReturn:
        wanted = " or ".join(repr(member) for member in members)
        self.fail(f"has no list{f' under {wanted}' if members else ''}", hint="Is this another format?")

    def read_members(self, members: tuple[str, ...]) -> Iterator[Cut]:
        """Yield the elements of the lists of these names, in an object and in those within it that have such a name."""
        self._expect("{")
        depth, begun, found = 1, False, False
        while depth:
            if self.peek() == "}":
                self._expect("}")
                depth, begun = depth - 1, True
                continue
            if begun:
                self._expect(",")
            key, begun = self._read_key(), True
            sign = self.peek()
            if key in members and sign == "{":
                self._expect("{")
                depth, begun = depth + 1, False
            elif key in members and sign == "[":
                found = True
                yield from self.read_elements(key)
            else:
                yield from self._skip_value(key)
        if not found:
            self.fail_without_list(members)

    def _read_key(self) -> str:
        if self.peek() != '"':
            self.fail("is not JSON: the name of a member is missing", hint="Was the file cut off?")
        key = self._read_checked()
        self._expect(":")
        return str(key)

    def _skip_value(self, key: str) -> Iterator[Cut]:
        """Skip a value that was not asked for. A list of objects may be records, so one ``PassedOver`` stands for it."""
        if self.peek() != "[":
            self._read_checked()
            return
        line, reported = self.line, False
        for cut in self.read_elements(key):
            if isinstance(cut.value, dict | Ambiguous) and not reported:
                reported = True
                yield Cut(line, PassedOver(key), key)

    def read_elements(self, member: str) -> Iterator[Cut]:
        """Yield the elements of the list that begins here."""
        self._expect("[")
        while self.peek() != "]":
            line = self.line
            yield Cut(line, self._read_checked(), member)
            if self.peek() != "]":
                self._expect(",")
                if self.peek() == "]":
                    self._read_checked()  # which is missing
        self._expect("]")

    def end(self) -> None:
        """Raise if anything follows the document: two joined files would otherwise be read as the first of them."""
        if self.peek():
            self.fail("something follows the end of the document", hint="Were two files joined? Import each by itself.")

    def _expect(self, sign: str) -> None:
        if self.peek() != sign:
            self.fail(f"is not JSON: {sign!r} is missing", hint="Was the file cut off?")
        self.advance_to(self.at + 1)

    def _read_checked(self) -> Any:
        if self.peek() in ("", ",", ":", "]", "}"):
            self.fail("is not JSON: a value is missing", hint="Was the file cut off?")
        self._twice.clear()
        try:
            value = self.value()
        except Unreadable as error:
            what, hint = ("ends within a value", "Was the file cut off?") if error.cut_off else (str(error), None)
            self.fail(what, hint, error.line)
        return Ambiguous(f"is ambiguous: {self._twice[0]}") if self._twice else value
