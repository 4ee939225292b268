"""Values that were rejected, over named queries, as one capability of a store."""

from collections.abc import Iterable

from recollect.model.address import Address
from recollect.rules.identity.rejected_values import Sealed
from recollect.stores.protocol import Stream
from recollect.stores.sql.connection import Capability


class RejectionTables(Capability):
    def rejection_secrets(self, address: Address, person: str | None) -> dict[int, str]:
        found = self._db.tuples(
            "rejection_secrets",
            tenant=address.tenant,
            space=address.space,
            owner=address.owner,
            person=person or "",
        )
        return dict(found)

    def rejecting_streams(self, tenant: str) -> list[int]:
        return [stream for (stream,) in self._db.tuples("rejecting_streams", tenant=tenant)]

    def rejections_with(self, tenant: str, stream: int, marks: Iterable[str]) -> list[str]:
        place = {"tenant": tenant, "stream": stream}
        asked = [self._db.soon("rejections_with_mark", {**place, "mark": mark}) for mark in sorted(marks)]
        return sorted({id for answer in asked for (id,) in answer()})

    def rejections(self, stream: Stream) -> list[Sealed]:
        found = self._db.tuples("rejections_of_stream", tenant=stream.tenant, stream=stream.number)
        return [Sealed(*row) for row in found]

    def add_rejections(self, stream: Stream, sealed: Iterable[Sealed]) -> None:
        rows = [(stream.tenant, stream.number, one.mark, one.id, one.secret) for one in sorted(sealed)]
        self._db.run_many("add_rejection", rows)

    def remove_rejection(self, stream: Stream, id: str) -> None:
        self._db.run("remove_rejection", tenant=stream.tenant, stream=stream.number, rejection=id)
