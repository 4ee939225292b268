"""A store in a vault's file: every transaction is a line, and a replica in memory answers reads.

A write takes the file's lock, applies what others appended, decides, appends its changes as one line, and syncs. A read applies
what was appended and needs no lock. One line is one transaction: after a crash it is there as a whole or not at all.
"""

import logging
import os
import threading
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recollect.formats.vault import ADOPTED, FIELD, REJECTIONS, carry_memories, is_store_line
from recollect.model.errors import StoreBusy, StoreCorrupt, StoreError, StoreTooNew
from recollect.model.ledger import Address
from recollect.rules.collector import collector_paused
from recollect.stores import backups, files
from recollect.stores.backups import ErasureList
from recollect.stores.journal.lines import Change, Record, check_length, pack_changes, unpack_changes, write_line
from recollect.stores.journal.log import JournalLog, Position
from recollect.stores.journal.replica import WORTH_SAVING_BYTES, Replica, Saved, SavedCopy
from recollect.stores.journal.view import NO_DIFFERENCE, SHOWN, Difference, Unadopted, VaultView
from recollect.stores.protocol import Erased, Reader, Writer
from recollect.stores.sqlite.connections import translate_errors
from recollect.stores.sqlite.queue import WriterQueue

ROWS_A_LINE = 500
"""How many rows a line has in a journal that was begun anew."""

LINES_ADOPTED = "vault_lines_adopted"
"""The name of the store's value that counts the vault lines it has adopted."""

ALTERED_LINE = (
    "what a vault reads of memory {} is not what its rows say: somebody changed the line. "
    "`recollect rebuild` shows the rows again"
)
_log = logging.getLogger("recollect.vault")


class JournalStore:
    """The store behind ``recollect.open("vault.jsonl")``.

    ``fresh_store_id`` becomes the identity of a new file, or of a vault that no store has opened yet; ``timeout_s`` bounds how
    long a write waits for other writers. ``save_copy`` saves a copy once ``worth_saving_bytes`` were added.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        fresh_store_id: str,
        timeout_s: float = 30.0,
        worth_saving_bytes: int = WORTH_SAVING_BYTES,
    ) -> None:
        self._journal = JournalLog(path, timeout_s=timeout_s, warn=_log.warning)
        self.location = str(self._journal.path)
        self._timeout_s = timeout_s
        self._erased = ErasureList(Path(f"{self.location}.erased"))
        files.check_folder(self._journal.path)
        self._pid, self._threads = os.getpid(), WriterQueue(None, timeout_s)
        self._holder: int | None = None
        self._replica: Replica | None = None
        self._view = VaultView()
        self._saved = SavedCopy(self._journal.path, worth_saving_bytes)
        self._resumed: Saved | None = None
        self._closed = False
        try:
            self.store_id = self._known_id(fresh_store_id)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self, tenant: str, *, brief: bool = False) -> Iterator[Reader]:
        """Read everything up to the last line; threads of one process take turns, since they share one replica."""
        with self._refresh() as replica:
            yield replica.transaction()

    @contextmanager
    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> Iterator[Writer]:
        """Run a write transaction; a file has one writer, so tenant and addresses only matter to other stores."""
        with self._transact(patience_s) as (_, transaction):
            yield transaction

    @contextmanager
    def _transact(self, patience_s: float | None = None) -> Iterator[tuple[Replica, Writer]]:
        """Run a transaction in the replica, which may refuse it; sync its line before the replica commits."""
        with translate_errors(self.location), self._journal.turn(patience_s), self._refresh() as replica:
            with replica.record_changes() as transaction:
                yield replica, transaction
                changes = replica.changes()
                if not changes:
                    return
                shown = self._view.compare(transaction, _ids_of_memories(changes))
                line = _line(shown, changes)
                self._journal.append([line])
            self._view.show(shown.memories)
            self._view.adopt(shown.adopted)
            self._journal.mark_read(line)

    @contextmanager
    def _refresh(self) -> Iterator[Replica]:
        """Return the replica, refreshed to the end of the journal, to one thread at a time; a nested call gets the same."""
        self._reset_after_fork()
        if self._holder == threading.get_ident():
            yield self._current()
            return
        with translate_errors(self.location), self._threads.turn():
            try:
                self._holder = threading.get_ident()
                self._journal.catch_up(self._apply_lines, self._resume)
                yield self._current()
            finally:
                self._holder = None

    def _current(self) -> Replica:
        assert self._replica is not None, "the first refresh makes the replica"
        return self._replica

    def _apply_lines(self, batches: Iterator[list[Record]], afresh: bool) -> None:
        saved, self._resumed = self._resumed if afresh else None, None
        if afresh:
            replica, view = (saved.replica, saved.view) if saved else (Replica(), VaultView())
        else:
            replica, view = self._current(), self._view
        with replica.bulk_load() if afresh and not saved else replica.begin():
            view.apply_lines(self._apply_rows(batches, replica))
        old, self._replica, self._view = self._replica, replica, view
        if old is not None and old is not replica:
            old.close()

    def _apply_rows(self, batches: Iterator[list[Record]], replica: Replica) -> Iterator[Record]:
        """Write the rows of each batch of records to the replica, then yield its records."""
        for records in batches:
            tables = (line[FIELD]["tables"] for line in records if is_store_line(line))
            with _row_errors(self.location):
                replica.apply(change for packed in tables for change in unpack_changes(packed))
            yield from records

    def _resume(self, journal: int) -> Position | None:
        """Load the saved copy of the journal, and return up to where it goes; ``None`` if there is none."""
        self._resumed = self._saved.load(journal)
        return self._resumed.seen if self._resumed else None

    def save_copy(self) -> None:
        """Save the replica for the next process that opens a long journal. A failure is only logged."""
        if self._closed or self._replica is None or not self._saved.is_due(self._journal.seen):
            return
        try:
            with (
                translate_errors(self.location),
                self._journal.turn(patience_s=0),
                self._refresh() as replica,
                collector_paused(),
            ):
                if replica.queries.value("scrub_due") is None:  # else it holds content that is to be erased
                    self._view.drop_adopted(_count_adopted(replica))
                    self._saved.save(replica, self._view, self._journal.seen)
        except StoreError as error:
            _log.warning("%s: its copy was not saved, so that opening it takes longer: %s", self.location, error)

    def _reset_after_fork(self) -> None:
        """Begin anew in a child process, in which another thread may have been using the replica."""
        if self._pid != os.getpid():
            self._pid, self._threads, self._holder = os.getpid(), WriterQueue(None, self._timeout_s), None

    def _known_id(self, fresh_store_id: str) -> str:
        known = self.value("store_id")
        if known is not None:
            return known
        with self._transact() as (replica, _):
            if replica.queries.value("store_id") is None:
                replica.queries.set_value("store_id", fresh_store_id)
            return str(replica.queries.value("store_id"))

    def value(self, name: str) -> str | None:
        with self._refresh() as replica:
            return replica.queries.value(name)

    def backup_paths(self) -> list[str]:
        with self._refresh() as replica:
            return backups.paths_in(replica.queries.value_names(backups.PLACE))

    def set_value(self, name: str, value: str | None) -> None:
        with self._transact() as (replica, _):
            replica.queries.set_value(name, value)

    def become(self, store_id: str) -> None:
        self.set_value("store_id", store_id)
        self.store_id = store_id

    def tenants(self) -> list[str]:
        with self._refresh() as replica:
            return replica.queries.tenants()

    def has_unadopted(self) -> bool:
        """Return whether vaults wrote lines that no store has adopted."""
        with self._refresh() as replica:
            return self._view.vault_lines > _count_adopted(replica)

    def unadopted(self) -> tuple[list[Unadopted], int]:
        """Return the memories that a vault wrote and no store has adopted, and the number of all vault lines."""
        with self._refresh() as replica, collector_paused():
            return self._view.unadopted(_count_adopted(replica)), self._view.vault_lines

    def lines_of(self, ids: Set[str]) -> dict[str, int]:
        """Return the numbers of the lines that hold the latest versions of these memories."""
        return self._journal.lines_of(ids)

    def show(self) -> None:
        """Append the lines that a vault should show and does not, as after a migration from another store."""
        with translate_errors(self.location), self._journal.turn(), self._refresh() as replica:
            for part in self._view.find_missing(replica.transaction()).parts(ROWS_A_LINE):
                self._journal.append([_line(part, [])])

    @contextmanager
    def adoption_lock(self) -> Iterator[None]:
        """Keep other processes from adopting the same memories, which may take minutes; they may read and write."""
        queue = WriterQueue(f"{self.location}.adopting", self._timeout_s)
        with ExitStack() as stack:
            stack.callback(queue.close)
            try:
                stack.enter_context(queue.turn())
            except StoreBusy:
                raise StoreBusy(
                    f"another process has been adopting what a vault wrote for more than {self._timeout_s:g} s.",
                    field=self.location,
                    hint="Wait until it is done, or open the store with a longer timeout_s.",
                ) from None
            yield

    def record_adopted(self, lines: int) -> None:
        """Record that the first ``lines`` vault lines were adopted."""
        self.set_value(LINES_ADOPTED, str(lines))

    def scrub(self) -> tuple[str, ...]:
        """Write the journal anew with the present rows, so that no line holds removed content.

        Vault lines that were not adopted yet stay as they are.
        """
        with translate_errors(self.location), self._journal.turn(), self._refresh() as replica:
            adopted = _count_adopted(replica)
            self._saved.remove()
            with replica.record_changes():
                replica.queries.set_value("scrub_due", None)
                replica.queries.set_value(LINES_ADOPTED, None)
                rows = [_line(NO_DIFFERENCE, [part]) for change in replica.all_rows() for part in _parts(change)]
            shown = [_line(Difference([memory], {}), []) for memory in self._view.active()]

            def keep_unadopted(records: Iterator[Record]) -> list[int]:
                return [number for number, record in enumerate(records) if not is_store_line(record)][adopted:]

            self._journal.rewrite(keep_unadopted, [*shown, *rows])
        if self._journal.torn_bytes():
            return (f"what a crash tore, in {self._journal.torn_path}: look at it, then delete it",)
        return ()

    def scrub_due(self) -> bool:
        return self.value("scrub_due") is not None

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        return [one for one in self._erased.read() if tenant in (None, one.tenant)]

    def note_erasures(self, erased: Sequence[Erased]) -> None:
        with translate_errors(self.location):
            self._erased.append(erased)
            backups.note(self.backup_paths(), erased)

    def back_up(self, path: Path) -> None:
        """Write a backup as an SQLite database, which ``restore`` reads."""
        with translate_errors(str(path)):
            backups.take(self, path, self._copy_to)

    def _copy_to(self, path: Path) -> None:
        with self._refresh() as replica:
            replica.copy_to(path)

    def check(self) -> list[str]:
        with self._refresh() as replica:
            altered = self._view.find_altered(replica.transaction())
            return [*replica.check(), *(ALTERED_LINE.format(id) for id in altered)]

    def check_erasure_lists(self) -> list[str]:
        with translate_errors(self.location):
            return [*self._erased.damaged(), *backups.examine_lists(self.backup_paths(), self._erased.read())]

    def foreign_objects(self) -> list[str]:
        """Return nothing: a file of lines has no foreign objects, and this release alone makes the replica."""
        return []

    def size_bytes(self) -> int:
        return self._journal.path.stat().st_size if self._journal.path.exists() else 0

    def close(self) -> None:
        self.save_copy()
        self._closed = True
        self._reset_after_fork()
        with self._threads.rest() as rests:
            self._journal.close()
            if self._replica is not None and rests:
                self._replica.close()


def _line(shown: Difference, changes: Sequence[Change]) -> bytes:
    """Return the line of one transaction: the memories that a vault shows differently, and the rows."""
    rejecting = any(change.table == REJECTIONS for change in changes)
    marked = {REJECTIONS: True} if rejecting else {}
    payload = {**marked, "tables": pack_changes(changes), **({ADOPTED: shown.adopted} if shown.adopted else {})}
    line = write_line(carry_memories([memory.to_dict() for memory in shown.memories], payload))
    check_length(len(line))
    return line


@contextmanager
def _row_errors(location: str) -> Iterator[None]:
    """Translate what is wrong with rows into a store error that names the file."""
    try:
        yield
    except StoreTooNew as error:
        raise StoreTooNew(error.message, field=location, hint=error.hint) from None
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        hint = "Restore the file from a backup; `recollect.vault` reads its memories without those rows."
        raise StoreCorrupt(f"a line has rows that cannot be read ({error}).", field=location, hint=hint) from error


def _parts(change: Change) -> Iterator[Change]:
    for start in range(0, len(change.rows), ROWS_A_LINE):
        yield change._replace(rows=change.rows[start : start + ROWS_A_LINE])


def _count_adopted(replica: Replica) -> int:
    """Return how many vault lines were adopted."""
    return int(replica.queries.value(LINES_ADOPTED) or 0)


def _ids_of_memories(changes: Sequence[Change]) -> list[str]:
    """Return the ids of the memories whose state changed, in the vault's tenant."""
    found = [dict(zip(one.columns, row, strict=True)) for one in changes if one.table == "memories" for row in one.rows]
    return [row["id"] for row in found if row["tenant"] == SHOWN.tenant]
