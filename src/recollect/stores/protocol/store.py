"""A store, and the two views of it: a reader with every capability to read, a writer with every capability to write too."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from recollect.model.address import Address
from recollect.stores.protocol.announcing import AnnouncesReads
from recollect.stores.protocol.carrying import ReadsRows, WritesRows
from recollect.stores.protocol.checkpoint_log import ExtendsCheckpointLog, ReadsCheckpointLog
from recollect.stores.protocol.cursors import MovesCursors, ReadsCursors
from recollect.stores.protocol.graphs import ReadsGraphs, RemovesGraphs
from recollect.stores.protocol.ledger import ExtendsLedger, ReadsLedger
from recollect.stores.protocol.memories import ReadsMemories, WritesMemories
from recollect.stores.protocol.operations import KeepsOperations, ReadsOperations
from recollect.stores.protocol.provenance import CutsLinks, ReadsProvenance
from recollect.stores.protocol.rejections import KeepsRejections, ReadsRejections
from recollect.stores.protocol.streams import ReadsStreams, WritesStreams
from recollect.stores.protocol.text import IndexesText, ReadsText
from recollect.stores.protocol.traces import KeepsTraces, ReadsTraces
from recollect.stores.protocol.vectors import KeepsRelations, KeepsVectors, ReadsRelations, ReadsVectors
from recollect.stores.protocol.walking import ReadsPages


class ReadsInAdvance(Protocol):
    def in_advance(self) -> "Writer | None":
        """A twin whose reads are sent and not answered; ``None`` where that gains nothing.

        Make the reads on it that are about to be made, and then make them: all of them take one round trip. What is
        written in between makes them ordinary reads again.
        """
        ...


class Reader(
    ReadsInAdvance,
    AnnouncesReads,
    ReadsGraphs,
    ReadsStreams,
    ReadsMemories,
    ReadsLedger,
    ReadsPages,
    ReadsText,
    ReadsTraces,
    ReadsRows,
    ReadsOperations,
    ReadsCursors,
    ReadsVectors,
    ReadsRelations,
    ReadsCheckpointLog,
    ReadsProvenance,
    ReadsRejections,
    Protocol,
):
    """A consistent view of the store."""


class Writer(
    Reader,
    WritesStreams,
    ExtendsLedger,
    WritesMemories,
    IndexesText,
    CutsLinks,
    KeepsRejections,
    KeepsVectors,
    KeepsRelations,
    KeepsTraces,
    KeepsOperations,
    MovesCursors,
    ExtendsCheckpointLog,
    RemovesGraphs,
    WritesRows,
    Protocol,
):
    """The one transaction in which an operation acts: all of it commits, or none."""


class Erased(NamedTuple):
    """One line of the list of erasures; ``what`` says what ``id`` is.

    Something was erased: a ``memory``, the owner's name of a ``stream``, the name of an ``actor``, a ``thread``. Or something
    happened to a memory that stays: it lost a ``link`` (``id`` holds its id and the link's seal), or it left recall and waits
    for ``review``.
    """

    tenant: str
    what: str
    id: str


class Store(Protocol):
    """A place to keep memories."""

    location: str
    store_id: str

    def read(self, tenant: str, *, brief: bool = False) -> AbstractContextManager[Reader]:
        """A consistent snapshot of one tenant.

        Say ``brief`` for a read that is over in well under a millisecond: a store may have a faster way for it.
        """
        ...

    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> AbstractContextManager[Writer]:
        """The one write transaction, on one tenant; the streams at these addresses are locked before anything is read.

        Waits for its turn for ``patience_s``, by default the store's timeout.
        """
        ...

    def scrub(self) -> tuple[str, ...]:
        """After an erasure: drive removed bytes out of the files; returns what lies beyond reach."""
        ...

    def scrub_due(self) -> bool:
        """Whether something was removed whose bytes may still lie in the files."""
        ...

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        """The list of what was erased, kept beside the store for replay on a restored backup.

        A server shows all of it only to the role that looks after the store, and a tenant's own to anybody.
        """
        ...

    def tenants(self) -> list[str]:
        """Everybody who has anything in the store. A server tells only a role that may see every tenant."""
        ...

    def value(self, name: str) -> str | None:
        """What the store remembers about itself under a name."""
        ...

    def set_value(self, name: str, value: str | None) -> None:
        """Remember something about the store itself under a name; ``None`` forgets it."""
        ...

    def become(self, store_id: str) -> None:
        """Take another store's identity, to hold a copy of it. Only for a store in which nothing is yet."""

    def note_erasures(self, erased: Sequence[Erased]) -> None: ...
    def back_up(self, path: Path) -> None:
        """Write a consistent copy to a file that does not exist yet, while others write."""
        ...

    def check(self) -> list[str]:
        """What the database itself says is wrong with its files; empty when sound."""
        ...

    def foreign_objects(self) -> list[str]:
        """Return each table, trigger, view or rule in the database that this release did not make: it may keep copies of rows."""
        ...

    def size_bytes(self) -> int: ...
    def close(self) -> None: ...
