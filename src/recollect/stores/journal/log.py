"""One file of JSON lines that several processes append to, none of whose acknowledged lines is ever lost.

    with log.turn():              # a lock beside the file: processes and threads wait in line
        log.catch_up(fold)        # what others appended since we last looked
        log.append([…])           # written in one go, synced before it returns

A crash may leave half a line at the end. Whoever has the next turn moves it into the file ``….torn`` beside, then cuts it
off; a last line that only lacks its end is a whole line, and is given one. The lock is a file of its own, because
``rewrite`` puts another file in the place of this one.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from recollect.model.errors import StoreClosed, StoreCorrupt, StoreUnavailable
from recollect.rules.vault.lines import memories_of, version_of
from recollect.stores.collector import collector_paused
from recollect.stores.journal import files
from recollect.stores.journal.lines import (
    MAX_LINE_BYTES,
    Record,
    foreign_encoding,
    kind_of_end,
    places,
    read_line,
    read_lines,
    torn_from,
    without_rows,
)
from recollect.stores.sqlite.queue import WriterQueue

BATCH, BATCH_BYTES = 250, 8 * 1_048_576
"""About how many lines are read at once, and how much: few enough to stay in the processor's own memory, if they are short."""

LAST_BYTES = 65_536
"""How much of the last line is kept, to know it again."""

Fold = Callable[[Iterator[list[Record]], bool], None]
"""Takes new records in, all of them, some at a time. ``True``: they are all there is, and what was known before is void."""


class Rewritten(NamedTuple):
    lines_before: int
    lines_after: int


class Seen(NamedTuple):
    """How far the file was read: to which byte, how many lines, and how the last of them ended."""

    to: int = 0
    lines: int = 0
    last: bytes = b""

    def moved_on(self, lines: Sequence[bytes]) -> "Seen":
        """Return this state after more lines, given without their ends."""
        to = self.to + sum(map(len, lines)) + len(lines)
        return Seen(to, self.lines + len(lines), lines[-1][-LAST_BYTES:] + b"\n")


class JournalLog:
    """An append-only file of records. Everything but ``catch_up`` belongs inside a ``turn``.

    Whoever has no use for the rows of a store's lines (``rows=False``) is spared most of the reading.
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
        self._wanted = _as_it_is if rows else without_rows
        self._queue = WriterQueue(f"{self.path}.lock", timeout_s)
        self._file: int | None = None
        self._closed = False
        self._begin()

    @property
    def seen(self) -> Seen:
        """How far the file was read."""
        return self._seen

    def torn_bytes(self) -> int:
        """How much was ever set aside because a crash had torn it."""
        return self.torn_path.stat().st_size if self.torn_path.exists() else 0

    # ── taking turns ────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def turn(self, patience_s: float | None = None) -> Iterator[None]:
        """Wait until nobody else writes, then be the only one, with a file that ends in a whole line."""
        self.check_open()
        self._after_a_fork()
        with _translated(self.path), self._queue.turn(patience_s):
            self._draft_path.unlink(missing_ok=True)  # of a rewrite that never finished
            self._mend_the_end()
            yield

    def check_open(self) -> None:
        """Raise if it was closed: its files would be opened again otherwise, and nobody would close them."""
        if self._closed:
            raise StoreClosed(str(self.path))

    def close(self) -> None:
        self._closed = True
        self._queue.close()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._reading = threading.Lock()
        self._seen, self._afresh = Seen(), True

    def _after_a_fork(self) -> None:
        """A child shares its parent's lock, and perhaps a look that another thread was in the midst of."""
        if self._pid != os.getpid():
            self._queue.start_afresh()
            self._begin()

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    def catch_up(self, fold: Fold, resume: Callable[[int], Seen | None] = lambda file: None) -> None:
        """Hand over what was appended since the last call. Half a line, of somebody who is writing, is left for later.

        Before a file is read from its beginning ``resume`` may say that, and how far, it is known already.

        What counts as seen moves on only after ``fold`` returned, so an interrupt loses nothing: the same comes again.
        """
        self.check_open()
        self._after_a_fork()
        with _translated(self.path), self._reading:
            file = self._current_file()
            if not self._afresh and not self._still_there(file):
                self._seen, self._afresh = Seen(), True
            if self._afresh or os.fstat(file).st_size > self._seen.to:
                with collector_paused():
                    progress = [(resume(file) if self._afresh else None) or self._seen]
                    fold(self._read_on(file, progress), self._afresh)
                self._seen, self._afresh = progress[-1], False

    def _still_there(self, file: int) -> bool:
        """Return whether what we saw last is where it was: a writer that failed takes its line back, and people use editors."""
        last = self._seen.last
        return os.pread(file, len(last), self._seen.to - len(last)) == last

    def _read_on(self, file: int, progress: list[Seen]) -> Iterator[list[Record]]:
        """Yield the new records, some at a time; ``progress`` ends with how far that is."""
        for lines in _batches(_pieces(file, progress[-1].to)):
            records = self._records(lines, progress[-1].lines)
            progress.append(progress[-1].moved_on(lines))
            yield records

    def _records(self, lines: Sequence[bytes], before: int) -> list[Record]:
        """Return what the lines hold. If one is damaged they are read one by one, to say which."""
        overlong = max(map(len, lines)) > MAX_LINE_BYTES
        read = None if overlong else read_lines([self._wanted(line) for line in lines if line and not line.isspace()])
        return read if read is not None else self._one_by_one(lines, before)

    def _one_by_one(self, lines: Sequence[bytes], before: int) -> list[Record]:
        return [self._record(number, line) for number, line in enumerate(lines, start=before + 1) if line.strip()]

    def _record(self, number: int, line: bytes) -> Record:
        if len(line) > MAX_LINE_BYTES:
            raise self._damaged(number, f"it is longer than {MAX_LINE_BYTES:,} bytes")
        try:
            return read_line(line)
        except ValueError as error:
            raise self._damaged(number, str(error)) from None

    def _damaged(self, number: int, what: str) -> StoreCorrupt:
        hint = "Repair that line, or move it into another file, and open the vault again."
        if number == 1:
            imports = f"recollect --store memory.db import jsonl {self.path.name}"
            hint = f"If it is no vault, bring it into a store: `{imports}`. {hint}"
        return StoreCorrupt(f"line {number:,} is no memory: {what}.", field=str(self.path), hint=hint)

    def lines_of(self, ids: Set[str]) -> dict[str, int]:
        """Return the number of the line that says how each of these memories is now, as an editor counts them."""
        found: dict[str, tuple[int, int]] = {}
        for number, line in enumerate(_lines_from(self._file_to_change(), 0), start=1):
            for record in memories_of([read_line(self._wanted(line))]) if line.strip() else ():
                id, version = record["id"], version_of(record)
                if id in ids and version >= found.get(id, (version, 0))[0]:
                    found[id] = version, number
        return {id: number for id, (_, number) in found.items()}

    def _current_file(self) -> int:
        """Return the file that bears the name now. If that is another one than before, all of it is new."""
        if self._file is None or not files.is_at(self._file, self.path):
            old, self._afresh = self._file, True
            self._file, self._seen = files.open_or_make(self.path), Seen()
            if old is not None:
                os.close(old)
        return self._file

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

    def append(self, lines: Sequence[bytes]) -> None:
        """Append whole lines and sync them. If that fails, or is interrupted, nothing of them stays."""
        file = self._file_to_change()
        before = os.fstat(file).st_size
        try:
            files.write_all(file, b"".join(lines))
            os.fsync(file)
        except BaseException:
            os.ftruncate(file, before)
            raise

    def pass_over(self, line: bytes) -> None:
        """Count a line as seen that was just appended, if it is all that came since: whoever wrote it knows it already."""
        file = self._file_to_change()
        with self._reading:
            moved_on = self._seen.moved_on([line.removesuffix(b"\n")])
            if not self._afresh and self._still_there(file) and os.fstat(file).st_size == moved_on.to:
                self._seen = moved_on

    def rewrite(self, keep: Callable[[Iterator[Record]], Iterable[int]], more: Sequence[bytes] = ()) -> Rewritten:
        """Put a file in the place of this one that has only the lines whose numbers ``keep`` chooses, byte for byte, and more.

        ``keep`` gets every record in order, the first being number 0. Whenever this is interrupted, the file under the
        name is either the old one or the new one, and whole.
        """
        file = self._file_to_change()
        mode = os.fstat(file).st_mode & 0o777
        filled = [(number, line) for number, line in enumerate(_lines_from(file, 0), start=1) if line.strip()]
        records = (self._record(number, line) for number, line in filled)
        chosen = [*(filled[place][1] + b"\n" for place in keep(records)), *more]
        files.write_whole(self._draft_path, b"".join(chosen), mode)
        self._draft_path.replace(self.path)
        files.sync_folder(self.path.parent)
        return Rewritten(len(filled), len(chosen))

    def _file_to_change(self) -> int:
        with self._reading:
            return self._current_file()

    # ── after a crash ───────────────────────────────────────────────────────────────────────────────────────────

    def _mend_the_end(self) -> None:
        file = self._file_to_change()
        size = os.fstat(file).st_size
        if size == 0 or os.pread(file, 1, size - 1) == b"\n":
            return
        start = max(0, size - 2 * MAX_LINE_BYTES)
        last = places(os.pread(file, size - start, start), start)[1 if start else 0 :]
        end = kind_of_end(last) if last else "foreign"  # without a beginning in sight it is longer than any of ours
        if end == "foreign":
            raise self._first_damage(file, last[-1].line if last else b"")
        if end == "torn":
            self._set_aside(file, torn_from(last), size)
        else:
            files.write_all(file, b"\n")
            os.fsync(file)

    def _set_aside(self, file: int, start: int, size: int) -> None:
        """Move the torn end into the file beside, then cut it off: in that order, so that no byte is ever lost."""
        torn = os.pread(file, size - start, start)
        files.append_beside(self.torn_path, torn + b"\n")
        os.ftruncate(file, start)
        os.fsync(file)
        self._warn(f"{self.path} had a torn end of {len(torn):,} bytes; it was moved to {self.torn_path}.")

    def _first_damage(self, file: int, end: bytes) -> StoreCorrupt:
        """Return what is wrong with a file whose end is none of ours: the first line that is no record, which may be the end."""
        number = 0
        for number, line in enumerate(_lines_from(file, 0), start=1):
            if line.strip():
                try:
                    self._record(number, line)
                except StoreCorrupt as damaged:
                    return damaged
        what = foreign_encoding(end) or "it is neither a record nor the beginning of one"
        return self._damaged(number + 1, what)


def _as_it_is(line: bytes) -> bytes:
    return line


def _lines_from(file: int, offset: int) -> Iterator[bytes]:
    """Return the whole lines from an offset on, without their ends; of an overlong one no more than tells that it is."""
    return chain.from_iterable(_pieces(file, offset))


def _pieces(file: int, offset: int) -> Iterator[list[bytes]]:
    """Yield the whole lines from an offset on, as many at a time as one read of the file brings."""
    begun: list[bytes] = []  # what is there of a line whose end is still to come
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
    """Yield the same lines, about so many at a time as are read at once."""
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
def _translated(path: Path) -> Iterator[None]:
    """Turn what the operating system says into a store error that names the file and the next step."""
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(
            f"{error.strerror or error}.", field=str(path), hint="Check the path, its permissions and the disk's space."
        ) from error
