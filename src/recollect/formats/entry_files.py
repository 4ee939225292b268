"""Entries out of a file, one after the other: JSON lines, one JSON list, or a single entry over many lines.

Nothing is held but the entry at hand, which has a size limit: a list of a billion elements, or one endless line, costs
no more memory than an honest file. What cannot be read is told with its number and line, and is no exception.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

MAX_ENTRY_CHARACTERS = 1_000_000
"""Content has 10,240 bytes at most, and what surrounds it has limits too: whatever is longer is no entry."""
CHUNK = 65_536
MAX_DIGITS = 400
_BLANK = " \t\r\n"
_SOMETHING = re.compile(r"[^ \t\r\n]")


@runtime_checkable
class Readable(Protocol):
    """An open text file, as far as it is needed here."""

    def read(self, size: int = ..., /) -> str: ...
    def readline(self, size: int = ..., /) -> str: ...


class Read(NamedTuple):
    """One entry of a file: its number from 1 on, the line it begins on, and its value, or what is wrong with it."""

    number: int
    line: int
    value: Any
    problem: str | None = None


def read_entries(stream: Readable) -> Iterator[Read]:
    """Every entry of a file in order. A broken line is told and passed over; a broken list ends where it breaks."""
    source = _Source(stream)
    first = source.peek()
    if first == "":
        return
    if first == "[":
        yield from _list_elements(source)
    elif source.is_lines():
        yield from _lines(source)
    else:
        yield from _documents(source)


class _Decoder:
    """Strict JSON: what the standard library lets pass, and others would read otherwise, is noted."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._json = json.JSONDecoder(
            object_pairs_hook=self._pairs, parse_constant=self._constant, parse_int=self._integer
        )

    def decode(self, text: str, start: int = 0) -> tuple[Any, int, str | None]:
        """A value, where it ends, and what is wrong with it although it can be read."""
        self.notes.clear()
        value, end = self._json.raw_decode(text, start)
        return value, end, self.notes[0] if self.notes else None

    def _pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            self.notes.append(f"the field {twice[:80]!r} is there twice")
        return found

    def _constant(self, word: str) -> None:
        self.notes.append(f"{word} is not JSON: expected a number")

    def _integer(self, digits: str) -> int:
        if len(digits) > MAX_DIGITS:
            self.notes.append(f"a number has {len(digits):,} digits")
            return 0
        return int(digits)


class _Source:
    """The text that was read and not used yet: what is behind ``at``, which stands on ``line``."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.text, self.at, self.line, self.ended = "", 0, 1, False
        self.more()
        self.text = self.text.removeprefix("\ufeff")

    @property
    def left(self) -> int:
        return len(self.text) - self.at

    def more(self) -> bool:
        """Read on; ``False`` at the end of the file."""
        chunk = self._stream.read(CHUNK)
        self.ended = chunk == ""
        self.text, self.at = self.text[self.at :] + chunk, 0
        return not self.ended

    def use_to(self, end: int) -> None:
        self.line += self.text.count("\n", self.at, end)
        self.at = end

    def peek(self) -> str:
        """The next character that is not blank; none at the end."""
        while True:
            found = _SOMETHING.search(self.text, self.at)
            self.use_to(found.start() if found else len(self.text))
            if found or not self.more():
                return self.text[self.at : self.at + 1]

    def is_lines(self) -> bool:
        """Whether every line is an entry: the first is one by itself, or it is broken and the second begins one."""
        while "\n" not in self.text and self.left <= MAX_ENTRY_CHARACTERS and self.more():
            pass
        line, _, rest = self.text[self.at :].partition("\n")
        try:
            return _Decoder().decode(line)[1] == len(line.rstrip(_BLANK))
        except (ValueError, RecursionError):
            return rest.lstrip(_BLANK)[:1] in ("{", "")

    def take_line(self) -> str | None:
        """The next line without its end; ``None`` if it is longer than any entry, and was passed over."""
        size, found = 0, self.text.find("\n", self.at)
        while found < 0 and not self.ended:
            if self.left > MAX_ENTRY_CHARACTERS:
                size, self.at = size + self.left, len(self.text)
            self.more()
            found = self.text.find("\n", self.at)
        end = found if found >= 0 else len(self.text)
        line = self.text[self.at : end]
        self.use_to(end)
        return line if size + len(line) <= MAX_ENTRY_CHARACTERS else None


def _lines(source: _Source) -> Iterator[Read]:
    decoder, number = _Decoder(), 0
    while source.peek():
        line, number = source.line, number + 1
        text = source.take_line()
        yield _too_long(number, line) if text is None else _from_line(decoder, number, line, text.rstrip(_BLANK))


def _from_line(decoder: _Decoder, number: int, line: int, text: str) -> Read:
    try:
        value, end, note = decoder.decode(text)
    except json.JSONDecodeError as error:
        return Read(number, line, None, f"is not JSON at character {error.pos + 1}: {error.msg}")
    except RecursionError:
        return Read(number, line, None, "is nested too deeply")
    if end != len(text):
        return Read(
            number, line, None, f"has something after its end, at character {end + 1}: expected one entry a line"
        )
    return Read(number, line, value, note)


def _list_elements(source: _Source) -> Iterator[Read]:
    """The elements of one list, and nothing after it."""
    source.use_to(source.at + 1)
    decoder, number = _Decoder(), 0
    while (following := source.peek()) != "]":
        number += 1
        if number > 1:
            if following != ",":
                yield _broken(number, source.line, "the list is not closed: expected , or ]")
                return
            source.use_to(source.at + 1)
            source.peek()
        read = _next_value(source, decoder, number)
        yield read
        if read.problem is not None and read.value is None:
            return
    source.use_to(source.at + 1)
    if source.peek():
        yield _broken(number + 1, source.line, "something follows the list")


def _documents(source: _Source) -> Iterator[Read]:
    decoder, number = _Decoder(), 0
    while source.peek():
        number += 1
        read = _next_value(source, decoder, number)
        yield read
        if read.problem is not None and read.value is None:
            return


def _next_value(source: _Source, decoder: _Decoder, number: int) -> Read:
    """The value that begins here, reading on for as long as it may only be incomplete."""
    line = source.line
    while True:
        try:
            value, end, note = decoder.decode(source.text, source.at)
            size = end - source.at
            if end < len(source.text) or not source.more():
                source.use_to(source.at + size)
                return Read(number, line, value, note)
        except json.JSONDecodeError as error:
            if source.left > MAX_ENTRY_CHARACTERS and not source.ended:
                return _too_long(number, line)
            reached = line + source.text.count("\n", source.at, error.pos)
            if not source.more():
                return _broken(number, reached, f"is not JSON: {error.msg}")
        except RecursionError:
            return _broken(number, line, "is nested too deeply")


def _too_long(number: int, line: int) -> Read:
    return Read(number, line, None, f"is longer than {MAX_ENTRY_CHARACTERS:,} characters: no entry is")


def _broken(number: int, line: int, what: str) -> Read:
    return Read(number, line, None, f"{what}. The rest of the file was not read")
