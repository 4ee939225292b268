"""The log of what checkpoints cover, over named queries, as one capability of a store."""

from collections.abc import Sequence

from recollect.stores.protocol import CommittedValue, LogCheckpoint, LogLeaf, LogSignature, Stream
from recollect.stores.sql.connection import Capability


class CheckpointLogTables(Capability):
    """Reading and appending. Nothing here changes or removes what is there."""

    def lock_log(self, tenant: str) -> None:
        self._db.rows("lock_log", tenant=tenant)

    def log_leaves(self, tenant: str) -> list[LogLeaf]:
        return [LogLeaf(*row) for row in self._db.tuples("log_leaves", tenant=tenant)]

    def log_leaves_about(self, tenant: str, kind: str, subject: str | None = None) -> list[LogLeaf]:
        if subject is None:
            found = self._db.tuples("log_leaves_of_kind", tenant=tenant, kind=kind)
        else:
            found = self._db.tuples("log_leaves_about", tenant=tenant, kind=kind, subject=subject)
        return [LogLeaf(*row) for row in found]

    def last_log_leaves(self, tenant: str) -> list[LogLeaf]:
        return [LogLeaf(*row) for row in self._db.tuples("last_log_leaves", tenant=tenant)]

    def extend_log(self, tenant: str, leaves: Sequence[LogLeaf]) -> None:
        self._db.run_many("add_log_leaf", [(tenant, *leaf) for leaf in leaves])

    def log_checkpoints(self, tenant: str) -> list[LogCheckpoint]:
        return [LogCheckpoint(*row) for row in self._db.tuples("log_checkpoints", tenant=tenant)]

    def log_checkpoint(self, tenant: str, size: int | None = None) -> LogCheckpoint | None:
        if size is None:
            found = self._db.tuples("last_log_checkpoint", tenant=tenant)
        else:
            found = self._db.tuples("log_checkpoint", tenant=tenant, size=size)
        return LogCheckpoint(*found[0]) if found else None

    def add_log_checkpoint(self, tenant: str, checkpoint: LogCheckpoint) -> None:
        self._db.run("add_log_checkpoint", tenant=tenant, **checkpoint._asdict())

    def log_signatures(self, tenant: str, size: int | None = None) -> list[LogSignature]:
        if size is None:
            found = self._db.tuples("log_signatures", tenant=tenant)
        else:
            found = self._db.tuples("log_signatures_of", tenant=tenant, size=size)
        return [LogSignature(*row) for row in found]

    def add_log_signature(self, tenant: str, signature: LogSignature) -> None:
        self._db.run("add_log_signature", tenant=tenant, **signature._asdict())

    def committed_values(self, stream: Stream, number: int, memory_id: str) -> list[CommittedValue]:
        place = {"tenant": stream.tenant, "stream": stream.number, "memory": number, "id": memory_id}
        return [CommittedValue(*row) for row in self._db.tuples("committed_values", **place)]
