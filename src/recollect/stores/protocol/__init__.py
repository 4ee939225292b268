"""What a store can do, one capability a file.

A store knows rows and transactions, and nothing about policy. ``read()`` gives a consistent snapshot, ``write()`` the
one transaction in which an operation acts. Every SQL store is a ``Connection`` under the shared mapping in
``recollect.stores.sql``; the contract suite in ``recollect.testing`` is what makes a store a store.
"""

from recollect.stores.protocol.announcing import AnnouncesReads, Comparison, Reading, Search
from recollect.stores.protocol.asking import NO_LIMIT, Later
from recollect.stores.protocol.carrying import ReadsRows, Table, WritesRows
from recollect.stores.protocol.checkpoint_log import (
    CommittedValue,
    ExtendsCheckpointLog,
    LogCheckpoint,
    LogLeaf,
    LogSignature,
    ReadsCheckpointLog,
)
from recollect.stores.protocol.cursors import Cursor, MovesCursors, ReadsCursors, Revision, Thread
from recollect.stores.protocol.graphs import ReadsGraphs, RemovesGraphs
from recollect.stores.protocol.ledger import ExtendsLedger, Phase, ReadsLedger, Version
from recollect.stores.protocol.memories import (
    Contender,
    Damage,
    Place,
    ReadsMemories,
    Selection,
    Standing,
    Stored,
    WritesMemories,
)
from recollect.stores.protocol.operations import KeepsOperations, OperationPlace, OperationsWanted, ReadsOperations
from recollect.stores.protocol.provenance import CutsLinks, ReadsProvenance
from recollect.stores.protocol.rejections import KeepsRejections, ReadsRejections
from recollect.stores.protocol.store import Erased, Reader, Store, Writer
from recollect.stores.protocol.streams import PlatformId, ReadsStreams, Stream, WritesStreams
from recollect.stores.protocol.text import IndexesText, Neighbour, Posting, ReadsText
from recollect.stores.protocol.traces import ANY_TRACE, KeepsTraces, ReadsTraces, TracesWanted
from recollect.stores.protocol.vectors import KeepsRelations, KeepsVectors, ReadsRelations, ReadsVectors, Relation
from recollect.stores.protocol.walking import (
    TERM_COUNT,
    Amendment,
    IndexedTerm,
    ReadsPages,
    Removals,
    WalkedState,
    WalkedVersion,
)

__all__ = [
    "ANY_TRACE",
    "NO_LIMIT",
    "TERM_COUNT",
    "Amendment",
    "AnnouncesReads",
    "CommittedValue",
    "Comparison",
    "Contender",
    "Cursor",
    "CutsLinks",
    "Damage",
    "Erased",
    "ExtendsCheckpointLog",
    "ExtendsLedger",
    "IndexedTerm",
    "IndexesText",
    "KeepsOperations",
    "KeepsRejections",
    "KeepsRelations",
    "KeepsTraces",
    "KeepsVectors",
    "Later",
    "LogCheckpoint",
    "LogLeaf",
    "LogSignature",
    "MovesCursors",
    "Neighbour",
    "OperationPlace",
    "OperationsWanted",
    "Phase",
    "Place",
    "PlatformId",
    "Posting",
    "Reader",
    "Reading",
    "ReadsCheckpointLog",
    "ReadsCursors",
    "ReadsGraphs",
    "ReadsLedger",
    "ReadsMemories",
    "ReadsOperations",
    "ReadsPages",
    "ReadsProvenance",
    "ReadsRejections",
    "ReadsRelations",
    "ReadsRows",
    "ReadsStreams",
    "ReadsText",
    "ReadsTraces",
    "ReadsVectors",
    "Relation",
    "Removals",
    "RemovesGraphs",
    "Revision",
    "Search",
    "Selection",
    "Standing",
    "Store",
    "Stored",
    "Stream",
    "Table",
    "Thread",
    "TracesWanted",
    "Version",
    "WalkedState",
    "WalkedVersion",
    "Writer",
    "WritesMemories",
    "WritesRows",
    "WritesStreams",
]
