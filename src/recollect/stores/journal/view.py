"""The vault that a store's file also is: what its lines show, and how a transaction changes that.

Shown are the memories of one stream, the default owner's: scopes are the only border that a vault knows, so nobody else's
memories may be in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model.address import Address
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.vault.carried import memories_of, written_by_a_store
from recollect.rules.vault.memory import VaultMemory, from_line
from recollect.rules.vault.resolution import resolve
from recollect.rules.vault.translation import MEMORY_ID, shows_the_same, to_vault
from recollect.stores.journal.lines import Record
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored

SHOWN = Address("default", Namespace.PROD, Space.USER, "default")
ID_DIGITS = 12


class VaultView:
    """What the file shows as a vault, and the lines in it that no store wrote."""

    def __init__(self, left_out: int = 0) -> None:
        self.memories: dict[str, VaultMemory] = {}
        self.strangers: list[Record] = []
        """Lines that a vault wrote, in order, after so many first ones that were adopted long ago."""
        self.left_out = left_out
        self._vault_ids: dict[str, str] = {}

    def take_in(self, records: Sequence[Record]) -> None:
        self.strangers += [record for record in records if not written_by_a_store(record)]
        self.show(memories_of(records))

    def show(self, records: Sequence[Mapping[str, Any]]) -> None:
        for id, record in resolve(self.memories, records).items():
            memory = self.memories[id] = from_line(record)
            if MEMORY_ID in memory.extra:
                self._vault_ids[memory.extra[MEMORY_ID]] = id

    @property
    def strangers_ever(self) -> int:
        return self.left_out + len(self.strangers)

    def pending(self, adopted: int) -> list[Record]:
        """The lines of a vault after so many that a store has adopted."""
        return self.strangers[adopted - self.left_out :]

    def leave_out(self, adopted: int) -> None:
        """Nobody will ask for the first so many lines of a vault again."""
        self.strangers, self.left_out = self.pending(adopted), adopted

    def changes(self, reader: Reader, touched: Sequence[str]) -> list[VaultMemory]:
        """How these memories of the store, by their ids, change what is shown.

        Whoever is erased takes the name of their stream along: what is shown of it is known by its ids.
        """
        if not touched:
            return []
        stream = reader.stream_at(SHOWN)
        number = stream.number if stream is not None else None
        found = reader.by_ids(SHOWN.tenant, touched).values()
        near = [stored for stored in found if stored.stream == number or _is_nameless(reader, stored)]
        ends = [_ends(reader, stored) for stored in near]
        chains = {r.state.id: (r, head) for r, head in ends if r.stream == number or r.state.id in self._vault_ids}
        news = (self._as_shown(root, head) for root, head in chains.values())
        return [memory for memory in news if memory is not None]

    def missing(self, reader: Reader) -> list[VaultMemory]:
        """What should be shown and is not: rows that came from another store came table by table, not by transactions."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return []
        wanted = Selection(streams=(stream.number,), equal={"status": "active"})
        shown = sum(memory.active and MEMORY_ID in memory.extra for memory in self.memories.values())
        if reader.count(SHOWN.tenant, wanted) == shown:
            return []
        found = reader.select(SHOWN.tenant, wanted, NO_LIMIT)
        return self.changes(reader, [stored.state.id for stored in found])

    def _as_shown(self, root: Stored, head: Stored) -> VaultMemory | None:
        """A chain as the vault shows it, or ``None`` if that is what it shows already, or its words are still to come."""
        if head.body is None and head.state.removed is None:
            return None
        id = self._vault_ids.get(root.state.id) or _vault_id(root)
        known = self.memories.get(id)
        created_at = (root.body or {}).get("created_at", head.state.last_modified)
        memory = to_vault(id, root.state.id, created_at, head.body, head.state, known)
        unchanged = not memory.active if known is None else MEMORY_ID in known.extra and shows_the_same(memory, known)
        return None if unchanged else memory


def _is_nameless(reader: Reader, stored: Stored) -> bool:
    return reader.stream_numbered(stored.tenant, stored.stream).address is None


def _vault_id(root: Stored) -> str:
    """The id under which a vault has written it, or else its own first digits."""
    aliases: Sequence[str] = (root.body or {}).get("aliases", ())
    return next((alias for alias in aliases if _is_vault_id(alias)), root.state.id.replace("-", "")[:ID_DIGITS])


def _is_vault_id(alias: str) -> bool:
    return len(alias) == ID_DIGITS and all(digit in "0123456789abcdef" for digit in alias)


def _ends(reader: Reader, stored: Stored) -> tuple[Stored, Stored]:
    """The first and the last version of the chain that a memory is part of."""
    return _end(reader, stored, "supersedes_id"), _end(reader, stored, "superseded_by_id")


def _end(reader: Reader, stored: Stored, link: str) -> Stored:
    while (next_id := getattr(stored.state, link)) is not None:
        found = reader.by_ids(stored.tenant, [next_id])
        if next_id not in found:
            break
        stored = found[next_id]
    return stored
