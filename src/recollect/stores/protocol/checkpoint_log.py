"""The log of a tenant's checkpoints: a tree of leaves that only grows, and signatures of its roots."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.stores.protocol.streams import Stream


class LogLeaf(NamedTuple):
    """A leaf of a tenant's log at its place: what it is about, and its canonical text."""

    place: int
    kind: str
    subject: str
    body: str


class LogCheckpoint(NamedTuple):
    """The root of the tree over the first ``size`` leaves of a log."""

    size: int
    log: str
    root: str
    at: str


class LogSignature(NamedTuple):
    """A signature of the checkpoint of that size."""

    size: int
    key: str
    signature: str


class CommittedValue(NamedTuple):
    """What the entry at ``seq`` of a stream committed to."""

    seq: int
    body: str
    salt: bytes


class ReadsCheckpointLog(Protocol):
    def log_leaves(self, tenant: str) -> list[LogLeaf]:
        """All of a tenant's leaves, in order."""
        ...

    def log_leaves_about(self, tenant: str, kind: str, subject: str | None = None) -> list[LogLeaf]:
        """The leaves of a kind, or only those about one subject, in order."""
        ...

    def last_log_leaves(self, tenant: str) -> list[LogLeaf]:
        """The last leaf about each stream that has one."""
        ...

    def log_checkpoints(self, tenant: str) -> list[LogCheckpoint]: ...
    def log_checkpoint(self, tenant: str, size: int | None = None) -> LogCheckpoint | None:
        """The checkpoint of a size, or the last one."""
        ...

    def log_signatures(self, tenant: str, size: int | None = None) -> list[LogSignature]:
        """The signatures of the checkpoint of a size, or of all checkpoints."""
        ...

    def committed_values(self, stream: Stream, number: int, memory_id: str) -> list[CommittedValue]:
        """What the entries about a memory committed to, for as long as it has content, in their order."""
        ...


class ExtendsCheckpointLog(Protocol):
    def lock_log(self, tenant: str) -> None:
        """Nobody else can append to the tenant's log until this transaction ends."""
        ...

    def extend_log(self, tenant: str, leaves: Sequence[LogLeaf]) -> None: ...
    def add_log_checkpoint(self, tenant: str, checkpoint: LogCheckpoint) -> None: ...
    def add_log_signature(self, tenant: str, signature: LogSignature) -> None:
        """A key signs a checkpoint once; a second time changes nothing."""
