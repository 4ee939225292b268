"""The vault that a store's file also is: what its lines show, and how a transaction changes that.

Shown are the memories of one stream, the default owner's: scopes are the only border that a vault knows, so nobody else's
memories may be in it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.model.address import Address
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.vault.carried import adopted_by, memories_of, written_by_a_store
from recollect.rules.vault.memory import VaultMemory, from_line
from recollect.rules.vault.resolution import resolve, version_of
from recollect.rules.vault.translation import MEMORY_ID, shows_the_same, to_vault
from recollect.stores.journal.lines import Record, read_line, write_line
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored

SHOWN = Address("default", Namespace.PROD, Space.USER, "default")
ID_DIGITS = 12


class Part(NamedTuple):
    """Some of what is shown, as a saved copy has it: what must be known of each memory, and its line."""

    ids: list[str]
    vault_ids: dict[str, str]
    """The same ids by those that the store knows them by."""
    active: list[str]
    lines: list[bytes]


class Difference(NamedTuple):
    """How a transaction changes what is shown."""

    memories: list[VaultMemory]
    adopted: dict[str, str]
    """The vault's memories that the store has from now on and that look as they did: the store's ids, by the vault's."""

    def parts(self, size: int) -> Iterator["Difference"]:
        """The same in parts of so many memories at most."""
        ids = list(self.adopted.items())
        for start in range(0, max(len(self.memories), len(ids)), size):
            yield Difference(self.memories[start : start + size], dict(ids[start : start + size]))


NO_DIFFERENCE = Difference([], {})


class Stranger(NamedTuple):
    """A memory that a vault wrote and no store has adopted."""

    memory: VaultMemory
    line: int
    """Which of the vault's lines is the first of those that are about it."""
    store_id: str | None
    """The first of its chain in the store, if the vault changed what the store had."""


class Shown(Mapping[str, VaultMemory]):
    """The memories that are shown, by their ids. One of a saved copy stays a line until somebody asks for it."""

    def __init__(self) -> None:
        self._known: dict[str, VaultMemory | bytes] = {}

    def put(self, memories: Iterable[tuple[str, VaultMemory | bytes]]) -> None:
        self._known.update(memories)

    def __getitem__(self, id: str) -> VaultMemory:
        found = self._known[id]
        if isinstance(found, bytes):
            found = self._known[id] = from_line(read_line(found))
        return found

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def line(self, id: str) -> bytes:
        """A memory as a line, without its end."""
        found = self._known[id]
        return found if isinstance(found, bytes) else write_line(found.to_dict())[:-1]


class VaultView:
    """What the file shows as a vault, and the lines in it that no store wrote."""

    def __init__(self, left_out: int = 0) -> None:
        self.memories = Shown()
        self.strangers: list[Record] = []
        """Lines that a vault wrote, in order, after so many first ones that were adopted long ago."""
        self.left_out = left_out
        self._vault_ids: dict[str, str] = {}
        """The ids of the memories that the store knows as well, by those that the store knows them by."""
        self._store_ids: dict[str, str] = {}
        """The same the other way round."""
        self._active: set[str] = set()
        """Of the memories that the store knows as well, the ids of those that are active."""

    def take_in(self, records: Sequence[Record]) -> None:
        self.strangers += self._as_they_came(records)
        self.show([from_line(record) for record in resolve(self.memories, memories_of(records)).values()])
        for record in records:
            self.adopt(adopted_by(record))

    def _as_they_came(self, records: Sequence[Record]) -> Iterator[Record]:
        """The lines among these that a vault wrote. What the file had by then stands for one that came too late to count."""
        latest: dict[str, Record] = {}
        for record in records:
            for memory in memories_of([record]):
                before = latest.get(memory["id"]) or self._record(memory["id"])
                if before is None or version_of(memory) >= version_of(before):
                    latest[memory["id"]] = dict(memory)
            if not written_by_a_store(record):
                yield latest.get(record["id"]) or self._record(record["id"]) or record

    def _record(self, id: str) -> Record | None:
        return self.memories[id].to_dict() if id in self.memories else None

    def show(self, memories: Sequence[VaultMemory]) -> None:
        """Show these from now on: what the file says of them."""
        for memory in memories:
            id, store_id = memory.id, memory.extra.get(MEMORY_ID)
            self.memories.put([(id, memory)])
            self._active.discard(id)
            if isinstance(store_id, str):  # another tool's field of that name may hold anything
                self._vault_ids[store_id] = id
                self._store_ids.setdefault(id, store_id)
            if id in self._store_ids and memory.active:
                self._active.add(id)

    def adopt(self, store_ids: Mapping[str, str]) -> None:
        """The store knows these memories from now on: its ids, by the vault's. They are shown as they were."""
        for id, store_id in store_ids.items():
            self._vault_ids[store_id], self._store_ids[id] = id, store_id
            if id in self.memories and self.memories[id].active:
                self._active.add(id)

    def resume(self, part: Part) -> None:
        """Show again what was shown when a copy was saved."""
        self.memories.put(zip(part.ids, part.lines, strict=True))
        self._vault_ids.update(part.vault_ids)
        self._store_ids.update((id, store_id) for store_id, id in part.vault_ids.items())
        self._active.update(part.active)

    def parts(self, size: int) -> Iterator[Part]:
        """All that is shown, in the order in which it came, so many memories at a time."""
        ids = list(self.memories)
        for these in (ids[start : start + size] for start in range(0, len(ids), size)):
            vault_ids = {self._store_ids[id]: id for id in these if id in self._store_ids}
            active = [id for id in these if id in self._active]
            yield Part(these, vault_ids, active, [self.memories.line(id) for id in these])

    @property
    def strangers_ever(self) -> int:
        return self.left_out + len(self.strangers)

    def pending(self, adopted: int) -> list[Stranger]:
        """What the lines of a vault after so many that a store has adopted are about, in the order in which they name it."""
        lines = self._after(adopted)
        first: dict[str, int] = {}
        for number, record in enumerate(lines, start=adopted):
            first.setdefault(record["id"], number)
        news = resolve({}, lines)
        return [Stranger(from_line(news[id]), number, self._store_ids.get(id)) for id, number in first.items()]

    def leave_out(self, adopted: int) -> None:
        """Nobody will ask for the first so many lines of a vault again."""
        self.strangers, self.left_out = self._after(adopted), adopted

    def _after(self, adopted: int) -> list[Record]:
        return self.strangers[adopted - self.left_out :]

    def active(self) -> Iterator[VaultMemory]:
        """The memories that are shown and not deleted, each with the id that the store knows it by."""
        for memory in self.memories.values():
            store_id = self._store_ids.get(memory.id)
            if memory.active:
                named = {} if store_id is None else {MEMORY_ID: store_id}
                yield memory._replace(extra={**memory.extra, **named})

    def changes(self, reader: Reader, touched: Sequence[str]) -> Difference:
        """How these memories of the store, by their ids, change what is shown.

        Whoever is erased takes the name of their stream along: what is shown of it is known by its ids.
        """
        if not touched:
            return NO_DIFFERENCE
        stream = reader.stream_at(SHOWN)
        number = stream.number if stream is not None else None
        found = reader.by_ids(SHOWN.tenant, touched).values()
        near = [stored for stored in found if stored.stream == number or _is_nameless(reader, stored)]
        ends = [_ends(reader, stored) for stored in near]
        chains = {r.state.id: (r, head) for r, head in ends if r.stream == number or r.state.id in self._vault_ids}
        news = [(root.state.id, self._as_shown(root, head)) for root, head in chains.values()]
        there = [(store_id, memory) for store_id, memory in news if memory is not None]
        return Difference(
            [memory for _, memory in there if self._looks_different(memory)],
            {memory.id: store_id for store_id, memory in there if self._is_adopted(memory, store_id)},
        )

    def missing(self, reader: Reader) -> Difference:
        """What should be shown and is not: rows that came from another store came table by table, not by transactions."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return NO_DIFFERENCE
        wanted = Selection(streams=(stream.number,), equal={"status": "active"})
        if reader.count(SHOWN.tenant, wanted) == len(self._active):
            return NO_DIFFERENCE
        found = reader.select(SHOWN.tenant, wanted, NO_LIMIT)
        return self.changes(reader, [stored.state.id for stored in found])

    def _as_shown(self, root: Stored, head: Stored) -> VaultMemory | None:
        """A chain as the vault should show it, or ``None`` if its words are still to come."""
        if head.body is None and head.state.removed is None:
            return None
        id = self._vault_ids.get(root.state.id) or _vault_id(root)
        created_at = (root.body or {}).get("created_at", head.state.last_modified)
        return to_vault(id, root.state.id, created_at, head.body, head.state, self.memories.get(id))

    def _looks_different(self, memory: VaultMemory) -> bool:
        known = self.memories.get(memory.id)
        return memory.active if known is None else not shows_the_same(memory, known)

    def _is_adopted(self, memory: VaultMemory, store_id: str) -> bool:
        known = self.memories.get(memory.id)
        return known is not None and store_id not in self._vault_ids and shows_the_same(memory, known)


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
