"""Values that were rejected, as keyed hashes of what every wording of them shares."""

from collections.abc import Iterable
from typing import Protocol

from recollect.model.address import Address
from recollect.rules.identity.rejected_values import Sealed
from recollect.stores.protocol.streams import Stream


class ReadsRejections(Protocol):
    def rejection_secrets(self, address: Address, person: str | None) -> dict[int, str]:
        """Return the keys of the streams with rejections that a write to this address must respect, by stream number.

        Those are the streams of the same space and owner in any namespace, and the user space of the ``person``.
        """
        ...

    def rejecting_streams(self, tenant: str) -> list[int]:
        """Return the numbers of the tenant's streams that have rejections, in order."""
        ...

    def rejections_with(self, tenant: str, stream: int, marks: Iterable[str]) -> list[str]:
        """Return the ids of a stream's rejections that have one of these marks, in order."""
        ...

    def rejections(self, stream: Stream) -> list[Sealed]:
        """Return every mark of a stream's rejections, by rejection."""
        ...


class KeepsRejections(Protocol):
    def add_rejections(self, stream: Stream, sealed: Iterable[Sealed]) -> None: ...
    def remove_rejection(self, stream: Stream, id: str) -> None: ...
