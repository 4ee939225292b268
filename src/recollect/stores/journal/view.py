"""The vault that a store's file also is: what its lines show, and how a transaction changes that.

Shown are the memories of one stream, the default owner's: scopes are the only border that a vault knows, so nobody else's
memories may be in it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from sys import intern
from typing import Any, NamedTuple

from recollect.model.ledger import Address
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.vault.lines import (
    MEMORY_ID,
    VaultMemory,
    adopted_by,
    from_line,
    memories_of,
    resolve,
    shows_the_same,
    to_vault,
    written_by_a_store,
)
from recollect.stores.journal.lines import Record, write_line
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
        """Yield the same in parts of so many memories at most."""
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
            found = self._known[id] = from_saved(found)
        return found

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def line(self, id: str) -> bytes:
        """Return a memory as a line of a saved copy."""
        found = self._known[id]
        return found if isinstance(found, bytes) else to_saved(found)


class VaultView:
    """What the file shows as a vault, and the lines in it that no store wrote."""

    def __init__(self, left_out: int = 0) -> None:
        self.memories = Shown()
        self.left_out = left_out
        """How many of the lines that a vault wrote were adopted long ago: the first ones."""
        self._named: list[str] = []
        """Which memory each of the others is about, in order."""
        self._said: dict[str, VaultMemory] = {}
        """What the file said of each of these memories when the last of those lines had come."""
        self._vault_ids: dict[str, str] = {}
        """The ids of the memories that the store knows as well, by those that the store knows them by."""
        self._store_ids: dict[str, str] = {}
        """The same the other way round."""
        self._active: set[str] = set()
        """Of the memories that the store knows as well, the ids of those that are active."""

    def take_in(self, records: Iterable[Record]) -> None:
        """Take lines in as they come, those of vaults and those of stores by turns.

        Which of them vaults wrote is noted at the end, since lines that could not all be read come again.
        """
        named: list[str] = []
        said: dict[str, VaultMemory] = {}
        for of_a_store, lines in groupby(records, key=written_by_a_store):
            if of_a_store:
                self._take_in_from_stores(lines)
            else:
                ids = self._take_in_from_vaults(lines)
                said.update((id, self.memories[id]) for id in dict.fromkeys(ids))
                named += ids
        self._named += named
        self._said.update(said)

    def _take_in_from_stores(self, lines: Iterable[Record]) -> None:
        for line in lines:
            self._show_latest(memories_of([line]))
            self.adopt(adopted_by(line))

    def _take_in_from_vaults(self, lines: Iterable[Record]) -> list[str]:
        """Return the ids of the memories that the lines are about, one for each line."""
        ids: list[str] = []
        self._show_latest(_noting_ids(lines, ids))
        return ids

    def _show_latest(self, records: Iterable[Mapping[str, Any]]) -> None:
        self.show([from_line(record) for record in resolve(self.memories, records).values()])

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
        """Yield all that is shown, in the order in which it came, so many memories at a time."""
        ids = list(self.memories)
        for these in (ids[start : start + size] for start in range(0, len(ids), size)):
            vault_ids = {self._store_ids[id]: id for id in these if id in self._store_ids}
            active = [id for id in these if id in self._active]
            yield Part(these, vault_ids, active, [self.memories.line(id) for id in these])

    def strangers(self) -> Iterator[VaultMemory]:
        """What the lines that a vault wrote are about: one memory for each line, as the file had it after the last of them."""
        return (self._said[id] for id in self._named)

    def resume_strangers(self, strangers: Iterable[VaultMemory]) -> None:
        """The same again, as a copy has it."""
        for memory in strangers:
            self._named.append(memory.id)
            self._said[memory.id] = memory

    @property
    def strangers_ever(self) -> int:
        return self.left_out + len(self._named)

    def pending(self, adopted: int) -> list[Stranger]:
        """What the lines of a vault after so many that a store has adopted are about, in the order in which they name it."""
        first: dict[str, int] = {}
        for number, id in enumerate(self._after(adopted), start=adopted):
            first.setdefault(id, number)
        return [Stranger(self._said[id], number, self._store_ids.get(id)) for id, number in first.items()]

    def leave_out(self, adopted: int) -> None:
        """Nobody will ask for the first so many lines of a vault again."""
        self._named, self.left_out = self._after(adopted), adopted
        self._said = {id: self._said[id] for id in self._named}

    def _after(self, adopted: int) -> list[str]:
        return self._named[adopted - self.left_out :]

    def active(self) -> Iterator[VaultMemory]:
        """Yield the memories that are shown and not deleted, each with the id that the store knows it by."""
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
        """Return what should be shown and is not: rows that came from another store came table by table, not by transactions."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return NO_DIFFERENCE
        wanted = Selection(streams=(stream.number,), equal={"status": "active"})
        if reader.count(SHOWN.tenant, wanted) == len(self._active):
            return NO_DIFFERENCE
        found = reader.select(SHOWN.tenant, wanted, NO_LIMIT)
        return self.changes(reader, [stored.state.id for stored in found])

    def altered(self, reader: Reader) -> list[str]:
        """Return the vault's ids of what the lines tell otherwise than the rows, which the ledger commits to."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return []
        found = reader.select(SHOWN.tenant, Selection(streams=(stream.number,), equal={"status": "active"}), NO_LIMIT)
        return [memory.id for memory in self.changes(reader, [stored.state.id for stored in found]).memories]

    def _as_shown(self, root: Stored, head: Stored) -> VaultMemory | None:
        """Return a chain as the vault should show it, or ``None`` if its words are still to come."""
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


def to_saved(memory: VaultMemory) -> bytes:
    """Return a memory as a line of a saved copy, without its end: its values alone, which are written in half the time."""
    return write_line(memory)[:-1]


def from_saved(line: bytes) -> VaultMemory:
    memory = VaultMemory._make(json.loads(line))
    return memory._replace(tags=tuple(memory.tags))


def _noting_ids(lines: Iterable[Record], ids: list[str]) -> Iterator[Record]:
    """Yield the same lines; the id of each is added to a list. A hundred thousand lines may have no more than a hundred ids."""
    for line in lines:
        ids.append(intern(line["id"]))
        yield line


def _is_nameless(reader: Reader, stored: Stored) -> bool:
    return reader.stream_numbered(stored.tenant, stored.stream).address is None


def _vault_id(root: Stored) -> str:
    """Return the id under which a vault has written it, or else its own first digits."""
    aliases: Sequence[str] = (root.body or {}).get("aliases", ())
    return next((alias for alias in aliases if _is_vault_id(alias)), root.state.id.replace("-", "")[:ID_DIGITS])


def _is_vault_id(alias: str) -> bool:
    return len(alias) == ID_DIGITS and all(digit in "0123456789abcdef" for digit in alias)


def _ends(reader: Reader, stored: Stored) -> tuple[Stored, Stored]:
    """Return the first and the last version of the chain that a memory is part of."""
    return _end(reader, stored, "supersedes_id"), _end(reader, stored, "superseded_by_id")


def _end(reader: Reader, stored: Stored, link: str) -> Stored:
    while (next_id := getattr(stored.state, link)) is not None:
        found = reader.by_ids(stored.tenant, [next_id])
        if next_id not in found:
            break
        stored = found[next_id]
    return stored
