"""Open the source of an import: a file, standard input, a zip archive, a folder, lines, a database or a server's table."""

import lzma
import os
import re
import shutil
import stat
import sys
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import yaml

from recollect.engine.transfer import foreign_databases
from recollect.engine.transfer.foreign_databases import ForeignServer, connect, is_server
from recollect.formats.decoding import (
    CHUNK_BYTES,
    array_elements,
    begins_a_document,
    byte_lines,
    decode_line,
    read_text,
)
from recollect.formats.entry_files import Readable
from recollect.formats.protocol import Document, Element, Format, Line, at_line
from recollect.model.errors import BadInput

FENCE = "---"
MAX_BYTES = 16_384


class _Loader(yaml.SafeLoader):
    """Refuses aliases: a few lines of them can expand beyond all memory."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split(text: str, name: str) -> tuple[dict[str, Any], str, int]:
    """Return the front matter, the text after it, and the number of that text's first line."""
    lines = text.split("\n")
    if lines[0].strip() != FENCE:
        return {}, text, 1
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.strip() == FENCE), None)
    if end is None:
        return {}, text, 1
    return _parse_front_matter("\n".join(lines[1:end]), name), "\n".join(lines[end + 1 :]), end + 2


def _parse_front_matter(text: str, name: str) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise BadInput(f"has front matter of more than {MAX_BYTES:,} characters.", field=name)
    try:
        values = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        raise BadInput("has front matter that is not plain YAML.", field=name) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadInput("has front matter that is no mapping.", field=name)
    return {str(key): _plain_yaml(value) for key, value in values.items()}


def _plain_yaml(value: Any) -> Any:
    """Return a value as JSON can hold it: dates as text."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain_yaml(inner) for key, inner in value.items()}
    return [_plain_yaml(inner) for inner in value] if isinstance(value, list | set | tuple) else value


STDIN = "-"
MAX_DOCUMENT_BYTES = 2**20
"""A note is written by hand; a longer file is something else."""
MAX_FILES = 100_000
_SQLITE = b"SQLite format 3\0"
_HISTORY = "mem0 keeps it in ~/.mem0/history.db."


class Named(NamedTuple):
    """What the user named in addition to the path: the columns of fields, a server's table, and a history of changes."""

    columns: Mapping[str, str] | None = None
    table: str | None = None
    history: str | Path | None = None

    def check(self, given: object, format: Format) -> None:
        """Raise for what the format, or what is read, does not have."""
        if self.columns and not format.mapped:
            raise BadInput(f"{format.name} has no columns to map.", field="map", hint="csv and jsonl have.")
        if self.table is not None and not is_server(given):
            raise BadInput(
                "only a server has tables.", field="table", hint="Name a postgresql:// URL, or leave it out."
            )
        if self.history is not None:
            if format.history is None:
                raise BadInput(f"{format.name} has no history of its own.", field="history", hint="Leave it out.")
            if not Path(self.history).is_file():
                raise BadInput("is not a file.", field=str(self.history), hint=_HISTORY)
            if not foreign_databases.has_table_for(Path(self.history), format.history):
                raise BadInput("is not a history: it has no table `history`.", field=str(self.history), hint=_HISTORY)


@contextmanager
def open_source(
    given: str | Path | Readable | Iterable[str], format: Format, named: Named | None = None
) -> Iterator["ForeignFile | ForeignServer | ForeignLines"]:
    """Open what the user named, or the lines that a program gave, for as long as the block runs."""
    columns, table, history = named or Named()
    columns, history = columns or {}, Path(history) if history is not None else None
    if not isinstance(given, str | Path):
        yield ForeignLines(iter(given.readline, "") if isinstance(given, Readable) else given, columns)
    elif is_server(given):
        with connect(str(given), format, table, history) as server:
            yield server
    elif str(given) == STDIN:
        with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
            copy = Path(folder) / "standard input"
            with copy.open("wb") as file:  # an import reads twice, to check and to store, and a pipe only once
                shutil.copyfileobj(sys.stdin.buffer, file)
            yield ForeignFile(copy, format, columns, history)
    else:
        yield ForeignFile(Path(given), format, columns, history)


class ForeignFile:
    """A :class:`recollect.formats.protocol.Source`. Every method reads from the beginning."""

    def __init__(self, path: Path, format: Format, columns: Mapping[str, str], history: Path | None = None) -> None:
        self._path, self._format, self._history = path, format, history
        self.columns = columns
        self._offsets: array[int] = array("Q")
        self._first_seen: dict[str, tuple[int, ...]] = {}
        self.kind = self._find_kind()

    @property
    def name(self) -> str:
        return self._path.name or str(self._path.resolve())

    def _find_kind(self) -> str:
        if self._path.is_dir():
            return "folder"
        with self._stream() as stream:
            start = stream.read(CHUNK_BYTES)
        if start.startswith(_SQLITE):
            return "database"
        first, newline, _ = start.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
        is_document = newline and begins_a_document(first.decode("utf-8", "replace"))
        return "json" if is_document or self._path.suffix.lower() == ".json" else "lines"

    def lines(self, *, whole: bool = False) -> Iterator[Line]:
        with self._stream() as stream:
            offsets = array("Q")
            for number, (offset, line) in enumerate(byte_lines(stream, self.name), start=1):
                offsets.append(offset)
                text = decode_line(line, number, self.name)
                if whole:
                    yield Line(number, text)
                elif text.strip():
                    yield Line(number, text.rstrip("\r\n"))
            self._offsets = offsets

    def lines_at(self, numbers: Iterable[int]) -> Iterator[Line]:
        with self._stream() as stream:
            for number in numbers:
                stream.seek(self._offsets[number - 1])
                _, line = next(byte_lines(stream, self.name))
                yield Line(number, decode_line(line, number, self.name).rstrip("\r\n"))

    def elements(self, *names: str) -> Iterator[Element]:
        number = 0
        for name, stream in self._open_documents():
            with stream:
                for cut in array_elements(read_text(stream, name), name, *names):
                    number += 1
                    yield Element(number, at_line(name, cut.line), cut.value, cut.member)

    def _open_documents(self) -> "Iterator[tuple[str, IO[bytes] | Member]]":
        if self._path.is_dir():
            for file in self._match([one.name for one in self._path.iterdir()]):
                yield file, self._open_regular(self._path / file, follow=False)
        elif zipfile.is_zipfile(self._path):
            yield from read_members(self._path, self._match)
        else:
            yield self.name, self._stream()

    def _match(self, names: Iterable[str]) -> list[str]:
        """Return the names of files that the format reads, or raise if there is none."""
        pattern = self._format.files
        found = sorted(name for name in names if pattern and re.fullmatch(pattern, name))
        if not found:
            what = f"holds no file like {pattern}" if pattern else f"is no file, and {self._format.name} reads one"
            raise BadInput(f"{what}.", field=str(self._path), hint="Name the file itself.")
        return found

    def documents(self, suffix: str) -> Iterator[Document]:
        if not self._path.is_dir():
            raise BadInput("is not a folder.", field=str(self._path), hint=f"{self._format.name} reads a folder.")
        files = self._find_files(suffix)
        if not files:
            what, hint = f"holds no {suffix} file.", f"{self._format.name} reads a folder of them."
            raise BadInput(what, field=str(self._path), hint=hint)
        yield from map(self._read_document, files)

    def _find_files(self, suffix: str) -> list[Path]:
        """Return the files in a folder and its subfolders, by path, without hidden ones and links to folders."""
        found: list[Path] = []
        for folder, folders, files in os.walk(self._path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [Path(folder) / name for name in files if name.lower().endswith(suffix) and name[0] != "."]
            if len(found) > MAX_FILES:
                raise BadInput(f"holds more than {MAX_FILES:,} files.", field=str(self._path), hint="Import its parts.")
        return sorted(found)

    def _read_document(self, file: Path) -> Document:
        path = file.relative_to(self._path).as_posix()
        try:
            with self._open_regular(file, follow=False) as stream:
                data = stream.read(MAX_DOCUMENT_BYTES + 1)
            if len(data) > MAX_DOCUMENT_BYTES:
                return Document(path, "", {}, problem=f"is longer than {MAX_DOCUMENT_BYTES:,} bytes")
            whole = "\n".join(decode_line(one, n, path) for n, one in enumerate(data.split(b"\n"), start=1))
            front, text, first_line = split(whole, path)
        except BadInput as error:
            line = (error.field or "").removeprefix(path).removeprefix(", ")
            said = error.message.rstrip(".")
            return Document(path, "", {}, problem=f"{line} {said}" if line.startswith("line ") else said)
        return Document(path, text, front, first_line)

    def has_table_for(self, query: str) -> bool:
        return any(foreign_databases.has_table_for(file, query) for file in self._find_databases())

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        for file in self._find_databases():
            yield from foreign_databases.rows(file, query)

    def _find_databases(self) -> list[Path]:
        history = [] if self._history is None else [self._history]
        if self._path.is_dir():
            within = [file for file in sorted(self._path.rglob("*")) if file.suffix in (".db", ".sqlite")]
            return [*(file for file in within if stat.S_ISREG(file.lstat().st_mode)), *history]
        return [self._path, *history] if self.kind == "database" else history

    def _stream(self) -> IO[bytes]:
        return self._open_regular(self._path, follow=True)

    def _open_regular(self, path: Path, *, follow: bool) -> IO[bytes]:
        """Open a regular file, and refuse one that has changed since it was first opened."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
        try:
            number = os.open(path, flags)
        except ValueError:
            raise BadInput("is not a path.", field="path", hint="It holds a zero byte.") from None
        except OSError as error:
            linked = path.is_symlink()
            what = "is a symbolic link, which is not followed" if linked else f"cannot be read: {error.strerror}"
            raise BadInput(f"{what}.", field=str(path), hint="Check the path.") from None
        found = os.fstat(number)
        seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if not stat.S_ISREG(found.st_mode) or self._first_seen.setdefault(str(path), seen) != seen:
            os.close(number)
            what = "was changed while it was read" if stat.S_ISREG(found.st_mode) else "is not a file"
            raise BadInput(f"{what}.", field=str(path), hint="Import a copy that nobody writes to.")
        return os.fdopen(number, "rb")


class Member:
    """A file in an archive, unpacked as it is read: only then does damage show."""

    def __init__(self, stream: IO[bytes], place: str) -> None:
        self._stream, self._place = stream, place

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def read(self, size: int, /) -> bytes:
        with _unpacking(self._place):
            return self._stream.read(size)


def read_members(path: Path, chosen: Callable[[Iterable[str]], Iterable[str]]) -> Iterator[tuple[str, Member]]:
    """Yield every member whose name, without its folder, is one of the chosen ones, by name."""
    with _unpacking(path.name):
        archive = zipfile.ZipFile(path)
    with archive:
        found = [(one.rsplit("/", 1)[-1], one) for one in archive.namelist()]
        wanted = frozenset(chosen(name for name, _ in found))
        for name, member in sorted(one for one in found if one[0] in wanted):
            place = f"{path.name}, {name}"
            with _unpacking(place):
                stream = archive.open(member)
            yield name, Member(stream, place)


@contextmanager
def _unpacking(place: str) -> Iterator[None]:
    """Translate the errors of an archive that is encrypted, packed in an unknown way, or broken."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"cannot be unpacked: {error}.", field=place, hint="Fetch the archive again.") from None


class ForeignLines:
    """A :class:`recollect.formats.protocol.Source` of lines, without a name: errors name only the line."""

    name = ""

    def __init__(self, lines: Iterable[str], columns: Mapping[str, str]) -> None:
        self.columns = columns
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise BadInput("must be lines of text.", field="lines", hint="Pass an open file, or text.splitlines().")
        self._lines = list(lines)
        for number, line in enumerate(self._lines, start=1):
            if not isinstance(line, str):
                raise BadInput("is not text.", field=at_line("", number), hint="Give one record a line, as text.")
        first = next((line.strip() for line in self._lines if line.strip()), "")
        self.kind = "json" if len(self._lines) > 1 and begins_a_document(first) else "lines"

    def lines(self, *, whole: bool = False) -> Iterator[Line]:
        for number, line in enumerate(self._lines, start=1):
            if whole:
                yield Line(number, line if line.endswith("\n") else f"{line}\n")
            elif line.strip():
                yield Line(number, line.rstrip("\r\n"))

    def lines_at(self, numbers: Iterable[int]) -> Iterator[Line]:
        return (Line(number, self._lines[number - 1].rstrip("\r\n")) for number in numbers)

    def elements(self, *members: str) -> Iterator[Element]:
        text = (line.text for line in self.lines(whole=True))
        for number, cut in enumerate(array_elements(text, self.name, *members), start=1):
            yield Element(number, at_line(self.name, cut.line), cut.value, cut.member)

    def documents(self, suffix: str) -> Iterator[Document]:
        raise BadInput("is a folder, and has no lines.", field="format", hint="Give the path of the folder.")

    def has_table_for(self, query: str) -> bool:
        return False

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        return iter(())
