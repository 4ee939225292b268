"""What builds upon what, and who vouches for whom."""

from collections.abc import Sequence
from typing import Protocol

from recollect.stores.protocol.memories import Selection, Stored
from recollect.stores.protocol.streams import Stream


class ReadsProvenance(Protocol):
    def with_hashes(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Memories with these content hashes that fit the selection, oldest first."""
        ...

    def built_upon(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Memories that name one of these hashes as a parent and fit the selection, oldest first."""
        ...

    def tied_to(self, tenant: str, ids: Sequence[str]) -> list[Stored]:
        """Memories that name one of these, which may be ids of memories or names of people.

        A memory is named as a neighbour or as what another was made of; a person as author, user, actor, agent, as a
        voucher in another system, or as the scope that may see the memory.
        """
        ...

    def names_of(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """The names of these actors; whoever was erased has none."""
        ...

    def vouched_for(
        self, tenant: str, vouchers: Sequence[str], selection: Selection, each: int
    ) -> dict[str, tuple[str, ...]]:
        """Return by voucher the authors of what they vouch for, as principals; at most ``each`` of every voucher."""
        ...


class CutsLinks(Protocol):
    def cut_links(self, stream: Stream, number: int, memory_id: str, body: str, hashes: Sequence[str]) -> None:
        """Replace a version's body by one without some of its links, and remove what is kept elsewhere about those links.

        ``hashes`` are those of the parents that were cut: their rows in the index of parents go, the governance events that
        name them, and the answer that is kept for retries of the write.
        """
        ...
