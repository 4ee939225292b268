"""A file of JSON lines that several processes append to without ever losing an acknowledged line.

    with log.turn():              # a lock file: processes and threads wait in line
        log.catch_up(apply)       # read what others appended since the last call
        log.append([…])           # write and sync before returning

A crash may leave half a line at the end. The next turn moves it into the file ``….torn``, then cuts it off; a last line that
only lacks its line end is completed. The lock is a file of its own, because ``rewrite`` replaces the journal.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from recollect.formats.vault import read_memories, read_version
from recollect.model.errors import StoreClosed, StoreCorrupt, StoreUnavailable
from recollect.rules.collector import collector_paused
from recollect.stores import files
from recollect.stores.journal.lines import (
    MAX_LINE_BYTES,
    Record,
    classify_end,
    describe_encoding,
    find_torn_start,
    places,
    read_line,
    read_lines,
    strip_rows,
)
from recollect.stores.sqlite.queue import WriterQueue

BATCH, BATCH_BYTES = 250, 8 * 1_048_576
"""About how many lines, or bytes, are parsed at once: few enough to stay in the processor's cache if lines are short."""

LAST_BYTES = 65_536
"""How much of the last line is kept, to recognise it."""

Apply = Callable[[Iterator[list[Record]], bool], None]
"""Applies new records, in batches. ``True``: the file is read from its beginning, and what was known before is void."""


class Rewritten(NamedTuple):
    lines_before: int
    lines_after: int


class Position(NamedTuple):
    """Up to where the file was read: the byte, the number of lines, and the end of the last line."""

    to: int = 0
    lines: int = 0
    last: bytes = b""

    def advance(self, lines: Sequence[bytes]) -> "Position":
        """Return the position after more lines, given without their line ends."""
        to = self.to + sum(map(len, lines)) + len(lines)
        return Position(to, self.lines + len(lines), lines[-1][-LAST_BYTES:] + b"\n")


class JournalLog:
    """An append-only file of records. Call everything but ``catch_up`` inside a ``turn``.

    With ``rows=False`` the rows of a store's lines are left out, which saves most of the parsing.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        timeout_s: float = 30.0,
        warn: Callable[[str], None] = lambda _: None,
        rows: bool = True,
    ) -> None:
        self.path = Path(path).resolve()
        self.torn_path = Path(f"{self.path}.torn")
        self._draft_path = Path(f"{self.path}.compacting")
        self._warn = warn
        self._prepare = (lambda line: line) if rows else strip_rows
        self._queue = WriterQueue(f"{self.path}.lock", timeout_s)
        self._file: int | None = None
        self._closed = False
        self._reset()

    @property
    def seen(self) -> Position:
        """Up to where the file was read."""
        return self._seen

    def torn_bytes(self) -> int:
        """Return how many bytes were ever moved into the torn file."""
        return self.torn_path.stat().st_size if self.torn_path.exists() else 0

    @contextmanager
    def turn(self, patience_s: float | None = None) -> Iterator[None]:
        """Take the lock, and make sure that the file ends in a whole line."""
        self.check_open()
        self._reset_after_fork()
        with _store_errors(self.path), self._queue.turn(patience_s):
            self._draft_path.unlink(missing_ok=True)  # of a rewrite that never finished
            self._repair_end()
            yield

    def check_open(self) -> None:
        """Raise if the log was closed: otherwise its files would be opened again, and never closed."""
        if self._closed:
            raise StoreClosed(str(self.path))

    def close(self) -> None:
        self._closed = True
        self._queue.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._reading = threading.Lock()
        self._seen, self._afresh = Position(), True

    def _reset_after_fork(self) -> None:
        """Begin anew in a child process, which shares its parent's lock and perhaps an unfinished read."""
        if self._pid != os.getpid():
            self._queue.start_afresh()
            self._reset()

    def catch_up(self, apply: Apply, resume: Callable[[int], Position | None] = lambda file: None) -> None:
        """Apply what was appended since the last call; an unfinished line is left for later.

        Before a file is read from its beginning, ``resume`` may return a position from which reading is enough. The position
        advances only after ``apply`` returned: after an interrupt the same lines come again.
        """
        self.check_open()
        self._reset_after_fork()
        with _store_errors(self.path), self._reading:
            file = self._open_current()
            if not self._afresh and not self._ends_unchanged(file):
                self._seen, self._afresh = Position(), True
            if self._afresh or os.fstat(file).st_size > self._seen.to:
                with collector_paused():
                    progress = [(resume(file) if self._afresh else None) or self._seen]
                    apply(self._read_new(file, progress), self._afresh)
                self._seen, self._afresh = progress[-1], False

    def _ends_unchanged(self, file: int) -> bool:
        """Return whether the last line read is unchanged: a failed write removes its line, and people use editors."""
        last = self._seen.last
        return os.pread(file, len(last), self._seen.to - len(last)) == last

    def _read_new(self, file: int, progress: list[Position]) -> Iterator[list[Record]]:
        """Yield the new records in batches; append the position after each to ``progress``."""
        for lines in _batches(_pieces(file, progress[-1].to)):
            records = self._records(lines, progress[-1].lines)
            progress.append(progress[-1].advance(lines))
            yield records

    def _records(self, lines: Sequence[bytes], before: int) -> list[Record]:
        """Return the records of some lines. If one is damaged they are read one by one, to say which."""
        overlong = max(map(len, lines)) > MAX_LINE_BYTES
        read = None if overlong else read_lines([self._prepare(line) for line in lines if line and not line.isspace()])
        if read is not None:
            return read
        return [self._record(number, line) for number, line in enumerate(lines, start=before + 1) if line.strip()]

    def _record(self, number: int, line: bytes) -> Record:
        if len(line) > MAX_LINE_BYTES:
            raise self._report_damaged(number, f"it is longer than {MAX_LINE_BYTES:,} bytes")
        try:
            return read_line(line)
        except ValueError as error:
            raise self._report_damaged(number, str(error)) from None

    def _report_damaged(self, number: int, what: str) -> StoreCorrupt:
        hint = "Repair that line, or move it into another file, and open the vault again."
        if number == 1:
            imports = f"recollect --store memory.db import jsonl {self.path.name}"
            hint = f"If it is no vault, bring it into a store: `{imports}`. {hint}"
        return StoreCorrupt(f"line {number:,} is no memory: {what}.", field=str(self.path), hint=hint)

    def lines_of(self, ids: Set[str]) -> dict[str, int]:
        """Return the number of the line that holds the latest version of each of these memories, counted from 1."""
        found: dict[str, tuple[int, int]] = {}
        for number, line in enumerate(_lines_from(self._lock_current(), 0), start=1):
            for record in read_memories([read_line(self._prepare(line))]) if line.strip() else ():
                id, version = record["id"], read_version(record)
                if id in ids and version >= found.get(id, (version, 0))[0]:
                    found[id] = version, number
        return {id: number for id, (_, number) in found.items()}

    def _open_current(self) -> int:
        """Return the file that the path names now. If it was replaced, all of it is unread."""
        if self._file is None or not files.is_at(self._file, self.path):
            old, self._afresh = self._file, True
            self._file, self._seen = files.open_or_make(self.path), Position()
            if old is not None:
                os.close(old)
        return self._file

    def append(self, lines: Sequence[bytes]) -> None:
        """Append lines and sync them. If that fails, or is interrupted, none of them stays."""
        file = self._lock_current()
        before = os.fstat(file).st_size
        try:
            files.write_all(file, b"".join(lines))
            os.fsync(file)
        except BaseException:
            os.ftruncate(file, before)
            raise

    def mark_read(self, line: bytes) -> None:
        """Advance the position past a line that this process just appended, if nothing else was appended since."""
        file = self._lock_current()
        with self._reading:
            advanced = self._seen.advance([line.removesuffix(b"\n")])
            if not self._afresh and self._ends_unchanged(file) and os.fstat(file).st_size == advanced.to:
                self._seen = advanced

    def rewrite(self, keep: Callable[[Iterator[Record]], Iterable[int]], more: Sequence[bytes] = ()) -> Rewritten:
        """Replace the file by one with the lines whose numbers ``keep`` returns, byte for byte, followed by ``more``.

        ``keep`` gets every record in order; the first is number 0. If this is interrupted, the file is either the old one or
        the new one, and whole.
        """
        file = self._lock_current()
        mode = os.fstat(file).st_mode & 0o777
        filled = [(number, line) for number, line in enumerate(_lines_from(file, 0), start=1) if line.strip()]
        records = (self._record(number, line) for number, line in filled)
        chosen = [*(filled[place][1] + b"\n" for place in keep(records)), *more]
        files.write_whole(self._draft_path, b"".join(chosen), mode)
        self._draft_path.replace(self.path)
        files.sync(self.path.parent)
        return Rewritten(len(filled), len(chosen))

    def _lock_current(self) -> int:
        with self._reading:
            return self._open_current()

    def _repair_end(self) -> None:
        file = self._lock_current()
        size = os.fstat(file).st_size
        if size == 0 or os.pread(file, 1, size - 1) == b"\n":
            return
        start = max(0, size - 2 * MAX_LINE_BYTES)
        last = places(os.pread(file, size - start, start), start)[1 if start else 0 :]
        end = classify_end(last) if last else "foreign"  # a line that begins further back is longer than any of ours
        if end == "foreign":
            raise self._find_damage(file, last[-1].line if last else b"")
        if end == "torn":
            self._move_torn_end(file, find_torn_start(last), size)
        else:
            files.write_all(file, b"\n")
            os.fsync(file)

    def _move_torn_end(self, file: int, start: int, size: int) -> None:
        """Copy the torn end into the torn file, then cut it off: in that order, so that no byte is lost."""
        torn = os.pread(file, size - start, start)
        files.append_beside(self.torn_path, torn + b"\n")
        os.ftruncate(file, start)
        os.fsync(file)
        self._warn(f"{self.path} had a torn end of {len(torn):,} bytes; it was moved to {self.torn_path}.")

    def _find_damage(self, file: int, end: bytes) -> StoreCorrupt:
        """Return the error for a file whose end we did not write: it names the first line that is no record."""
        number = 0
        for number, line in enumerate(_lines_from(file, 0), start=1):
            if line.strip():
                try:
                    self._record(number, line)
                except StoreCorrupt as damaged:
                    return damaged
        what = describe_encoding(end) or "it is neither a record nor the beginning of one"
        return self._report_damaged(number + 1, what)


def _lines_from(file: int, offset: int) -> Iterator[bytes]:
    """Return the lines from an offset on, without their ends; an overlong line is returned in part."""
    return chain.from_iterable(_pieces(file, offset))


def _pieces(file: int, offset: int) -> Iterator[list[bytes]]:
    """Yield the lines from an offset on, in lists of as many as one read of the file brings."""
    begun: list[bytes] = []  # the parts of an unfinished line
    while chunk := os.pread(file, files.CHUNK_BYTES, offset):
        offset += len(chunk)
        ended, end, rest = chunk.rpartition(b"\n")
        if end:
            yield b"".join([*begun, ended]).split(b"\n")
            begun = []
        begun.append(rest)
        if sum(map(len, begun)) > MAX_LINE_BYTES:
            yield [b"".join(begun)]
            return


def _batches(pieces: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    """Yield the same lines in lists of about ``BATCH`` lines."""
    batch: list[bytes] = []
    size = 0
    for lines in pieces:
        batch += lines
        size += sum(map(len, lines))
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    """Translate errors of the operating system into store errors that name the file and the next step."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"{error.strerror or error}.", field=str(path), hint="Check the path, its permissions and the disk's space."
        ) from error
