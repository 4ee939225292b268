"""The copy in memory, saved beside a long journal, so that whoever opens it next need not read every line again.

It is derived, and may be deleted at any time. It counts only if the journal still begins with the very bytes that it is the
copy of; else it is deleted, since words may be in it that the journal no longer has. Whoever takes words out of a
journal deletes it first.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from recollect.stores.journal import files
from recollect.stores.journal.log import Seen
from recollect.stores.journal.replica import Replica, same_schema
from recollect.stores.journal.view import Part, VaultView, from_saved, to_saved
from recollect.stores.sql.queries import load_queries

QUERIES = load_queries(__package__, "saved_copy.sql")
WORTH_SAVING_BYTES = 4 * 1_048_576
"""A journal that is shorter is read in half a second, even if it is one of many memories packed together."""
GROWN_BY = 4
"""A copy is saved anew when a quarter has been added, so that all saving together costs no more than a few readings."""
LINES_A_ROW = 1_000


class Saved(NamedTuple):
    """What a copy holds: the rows, what a vault is shown, and how far in the journal that is."""

    replica: Replica
    view: VaultView
    seen: Seen


class SavedCopy:
    """The file ``….copy`` beside a journal. Everything but ``load`` belongs inside a turn of the journal."""

    def __init__(self, journal: Path, worth_saving_bytes: int = WORTH_SAVING_BYTES) -> None:
        self.path = Path(f"{journal}.copy")
        self._journal, self._draft = journal, Path(f"{journal}.copying")
        self._worth_saving_bytes, self._covers = worth_saving_bytes, 0

    def is_due(self, seen: Seen) -> bool:
        """Whether so much has come that the next one to open the journal should be spared it."""
        return seen.to - self._covers >= max(self._worth_saving_bytes, self._covers // GROWN_BY)

    def load(self, journal: int) -> Saved | None:
        """What was saved of the journal that is open, or ``None`` if that is nothing, or not of this one."""
        if not self.path.exists():
            return None
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
                saved = _read(copy, journal)
        except (sqlite3.Error, ValueError, TypeError):
            saved = None  # half of one, or none at all: it is made again
        if saved is None:
            self.remove()
        else:
            self._covers = saved.seen.to
        return saved

    def save(self, replica: Replica, view: VaultView, seen: Seen) -> None:
        """Save the copy of a journal up to where it was seen. Whenever this is interrupted, the old one stays, or none."""
        with self._journal.open("rb") as journal:
            files.write_whole(self._draft, b"", os.fstat(journal.fileno()).st_mode & 0o777)
            digest = files.digest_of(journal.fileno(), seen.to)
        replica.save_to(self._draft)
        with closing(sqlite3.connect(self._draft, isolation_level=None)) as copy:
            _note(copy, {**seen._asdict(), "digest": digest, "adopted": view.left_out}, view)
        files.sync(self._draft)
        self._draft.replace(self.path)
        files.sync_folder(self.path.parent)
        self._covers = seen.to

    def remove(self) -> None:
        self._covers = 0
        for path in (self.path, self._draft):
            path.unlink(missing_ok=True)


def _note(copy: sqlite3.Connection, facts: dict[str, object], view: VaultView) -> None:
    copy.execute(QUERIES["no_journal"])
    copy.execute(QUERIES["table_of_facts"])
    copy.execute(QUERIES["table_of_lines"])
    copy.execute(QUERIES["note_facts"], facts)
    shown = ((part.lines, part._replace(lines=[])) for part in view.parts(LINES_A_ROW))
    strangers = ([to_saved(memory)] for memory in view.strangers())
    copy.executemany(QUERIES["note_lines"], _packed("shown", shown))
    copy.executemany(QUERIES["note_lines"], _packed("stranger", ((lines, ()) for lines in strangers)))


def _packed(kind: str, parts: Iterable[tuple[list[bytes], Sequence[object]]]) -> Iterator[dict[str, object]]:
    for place, (lines, about) in enumerate(parts):
        known, joined = json.dumps(about).encode("ascii"), b"\n".join(lines)
        yield {"kind": kind, "place": place, "heads": known, "lines": joined, "digest": _digest(known, joined)}


def _digest(heads: bytes, lines: bytes) -> str:
    return hashlib.sha256(heads + b"\n" + lines).hexdigest()


def _read(copy: sqlite3.Connection, journal: int) -> Saved | None:
    """The copy, if this release made it and the journal begins with the bytes that it is the copy of.

    A long journal is hashed while the copy is read, since each of them takes as long as the other.
    """
    facts = copy.execute(QUERIES["facts"]).fetchone()
    if facts is None or not same_schema(copy.execute(QUERIES["schema"]).fetchall()):
        return None
    digest, to, lines, last, adopted = facts
    with ThreadPoolExecutor(max_workers=1) as beside:
        found = beside.submit(files.digest_of, journal, to)
        view = _view(copy, adopted)
        replica = Replica(copy, [QUERIES["forget_facts"], QUERIES["forget_lines"]])
        if found.result() == digest:
            return Saved(replica, view, Seen(to, lines, last))
    replica.close()
    return None


def _view(copy: sqlite3.Connection, adopted: int) -> VaultView:
    view = VaultView(left_out=adopted)
    for about, lines in _unpacked(copy, "shown"):
        ids, vault_ids, active, _ = json.loads(about)
        view.resume(Part(ids, vault_ids, active, lines))
    strangers = (line for _, lines in _unpacked(copy, "stranger") for line in lines)
    view.resume_strangers(map(from_saved, strangers))
    return view


def _unpacked(copy: sqlite3.Connection, kind: str) -> Iterator[tuple[bytes, list[bytes]]]:
    for heads, lines, digest in copy.execute(QUERIES["lines"], {"kind": kind}):
        if _digest(heads, lines) != digest:
            raise sqlite3.DatabaseError("the lines of a saved copy are damaged")
        yield heads, lines.split(b"\n")
