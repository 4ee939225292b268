"""What a journal shows to readers of a vault, and how a transaction changes that.

A vault shows the memories of one stream, the default owner's: scopes are the only border that a vault knows, so nobody
else's memories may be in it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from sys import intern
from typing import Any, NamedTuple

from recollect.formats.vault import (
    MEMORY_ID,
    from_line,
    is_store_line,
    looks_alike,
    read_adopted,
    read_memories,
    resolve,
    to_vault,
)
from recollect.model.ledger import Address
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.vault import VaultMemory
from recollect.stores.journal.lines import Record, write_line
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored

SHOWN = Address("default", Namespace.PROD, Space.USER, "default")
VAULT_ID = re.compile("[0-9a-f]{12}")


class Part(NamedTuple):
    """Some of the shown memories, as a saved copy keeps them: their ids, and a line for each."""

    ids: list[str]
    vault_ids: dict[str, str]
    """The vault's ids by the store's."""
    active: list[str]
    lines: list[bytes]


class Difference(NamedTuple):
    """How a transaction changes what a vault shows."""

    memories: list[VaultMemory]
    adopted: dict[str, str]
    """The vault's memories that the store adopts without changing how they look: the store's ids, by the vault's."""

    def parts(self, size: int) -> Iterator["Difference"]:
        """Yield the same difference in parts of at most ``size`` memories."""
        ids = list(self.adopted.items())
        for start in range(0, max(len(self.memories), len(ids)), size):
            yield Difference(self.memories[start : start + size], dict(ids[start : start + size]))


NO_DIFFERENCE = Difference([], {})


class Unadopted(NamedTuple):
    """A memory that a vault wrote and no store has adopted."""

    memory: VaultMemory
    line: int
    """The number of the first vault line about it."""
    store_id: str | None
    """The id of its first version in the store, if the vault changed a memory that the store has."""


class Shown(Mapping[str, VaultMemory]):
    """The shown memories by id. A line from a saved copy is parsed when its memory is first asked for."""

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
    """What the file shows as a vault, and which of its lines no store wrote."""

    def __init__(self, adopted_lines: int = 0) -> None:
        self.memories = Shown()
        self.adopted_lines = adopted_lines
        """How many of the first vault lines were adopted and need not be kept."""
        self._named: list[str] = []
        """The id that each later vault line is about, in order."""
        self._said: dict[str, VaultMemory] = {}
        """Each of these memories as the file had it after the last vault line about it."""
        self._vault_ids: dict[str, str] = {}
        """The vault's ids of memories that the store has, by the store's ids."""
        self._store_ids: dict[str, str] = {}
        """The store's ids, by the vault's."""
        self._active: set[str] = set()
        """The vault's ids of the active memories that the store has."""

    def apply_lines(self, records: Iterable[Record]) -> None:
        """Apply lines in order, whether vaults or stores wrote them.

        Which of them vaults wrote is recorded at the end: if reading fails, the same lines come again.
        """
        named: list[str] = []
        said: dict[str, VaultMemory] = {}
        for of_a_store, lines in groupby(records, key=is_store_line):
            if of_a_store:
                for line in lines:
                    self._show_latest(read_memories([line]))
                    self.adopt(read_adopted(line))
            else:
                ids: list[str] = []
                self._show_latest(_collect_ids(lines, ids))
                said.update((id, self.memories[id]) for id in dict.fromkeys(ids))
                named += ids
        self._named += named
        self._said.update(said)

    def _show_latest(self, records: Iterable[Mapping[str, Any]]) -> None:
        self.show([from_line(record) for record in resolve(self.memories, records).values()])

    def show(self, memories: Sequence[VaultMemory]) -> None:
        """Show these memories as the file has them now."""
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
        """Note that the store has these memories: its ids, by the vault's. How they look does not change."""
        for id, store_id in store_ids.items():
            self._vault_ids[store_id], self._store_ids[id] = id, store_id
            if id in self.memories and self.memories[id].active:
                self._active.add(id)

    def load_part(self, part: Part) -> None:
        """Load a part of a saved copy."""
        self.memories.put(zip(part.ids, part.lines, strict=True))
        self._vault_ids.update(part.vault_ids)
        self._store_ids.update((id, store_id) for store_id, id in part.vault_ids.items())
        self._active.update(part.active)

    def parts(self, size: int) -> Iterator[Part]:
        """Yield all that is shown, in the order of the file, ``size`` memories at a time, for a saved copy."""
        ids = list(self.memories)
        for these in (ids[start : start + size] for start in range(0, len(ids), size)):
            vault_ids = {self._store_ids[id]: id for id in these if id in self._store_ids}
            active = [id for id in these if id in self._active]
            yield Part(these, vault_ids, active, [self.memories.line(id) for id in these])

    def unadopted_memories(self) -> Iterator[VaultMemory]:
        """Return a memory for each vault line that is kept, as the file has it after the last line about it."""
        return (self._said[id] for id in self._named)

    def load_unadopted(self, strangers: Iterable[VaultMemory]) -> None:
        """Load the memories of vault lines from a saved copy."""
        for memory in strangers:
            self._named.append(memory.id)
            self._said[memory.id] = memory

    @property
    def vault_lines(self) -> int:
        return self.adopted_lines + len(self._named)

    def unadopted(self, adopted: int) -> list[Unadopted]:
        """Return what the vault lines after the first ``adopted`` are about, in the order of the lines."""
        first: dict[str, int] = {}
        for number, id in enumerate(self._after(adopted), start=adopted):
            first.setdefault(id, number)
        return [Unadopted(self._said[id], number, self._store_ids.get(id)) for id, number in first.items()]

    def drop_adopted(self, adopted: int) -> None:
        """Forget the first ``adopted`` vault lines: a store has their memories."""
        self._named, self.adopted_lines = self._after(adopted), adopted
        self._said = {id: self._said[id] for id in self._named}

    def _after(self, adopted: int) -> list[str]:
        return self._named[adopted - self.adopted_lines :]

    def active(self) -> Iterator[VaultMemory]:
        """Yield the active memories, each with the store's id in its extra fields."""
        for memory in self.memories.values():
            store_id = self._store_ids.get(memory.id)
            if memory.active:
                named = {} if store_id is None else {MEMORY_ID: store_id}
                yield memory._replace(extra={**memory.extra, **named})

    def compare(self, reader: Reader, touched: Sequence[str]) -> Difference:
        """Return how the store's memories with these ids differ from what is shown.

        An erasure removes the name of the stream; what was shown of it is found by its ids.
        """
        if not touched:
            return NO_DIFFERENCE
        stream = reader.stream_at(SHOWN)
        number = stream.number if stream is not None else None
        found = reader.by_ids(SHOWN.tenant, touched).values()
        near = [
            stored
            for stored in found
            if stored.stream == number or reader.stream_numbered(stored.tenant, stored.stream).address is None
        ]
        ends = [[_follow(reader, one, link) for link in ("supersedes_id", "superseded_by_id")] for one in near]
        chains = {r.state.id: (r, head) for r, head in ends if r.stream == number or r.state.id in self._vault_ids}
        news = [(root.state.id, self._to_vault_memory(root, head)) for root, head in chains.values()]
        there = [(store_id, memory) for store_id, memory in news if memory is not None]
        return Difference(
            [memory for _, memory in there if self._looks_different(memory)],
            {memory.id: store_id for store_id, memory in there if self._adopts(memory, store_id)},
        )

    def find_missing(self, reader: Reader) -> Difference:
        """Return what should be shown and is not, as after a migration, which copies tables and not transactions."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return NO_DIFFERENCE
        wanted = Selection(streams=(stream.number,), equal={"status": "active"})
        if reader.count(SHOWN.tenant, wanted) == len(self._active):
            return NO_DIFFERENCE
        found = reader.select(SHOWN.tenant, wanted, NO_LIMIT)
        return self.compare(reader, [stored.state.id for stored in found])

    def find_altered(self, reader: Reader) -> list[str]:
        """Return the vault's ids of memories whose lines differ from the rows, which the ledger commits to."""
        stream = reader.stream_at(SHOWN)
        if stream is None:
            return []
        found = reader.select(SHOWN.tenant, Selection(streams=(stream.number,), equal={"status": "active"}), NO_LIMIT)
        return [memory.id for memory in self.compare(reader, [stored.state.id for stored in found]).memories]

    def _to_vault_memory(self, root: Stored, head: Stored) -> VaultMemory | None:
        """Return a chain as the vault should show it, or ``None`` if its content is not there yet."""
        if head.body is None and head.state.removed is None:
            return None
        id = self._vault_ids.get(root.state.id) or _vault_id(root)
        created_at = (root.body or {}).get("created_at", head.state.last_modified)
        return to_vault(id, root.state.id, created_at, head.body, head.state, self.memories.get(id))

    def _looks_different(self, memory: VaultMemory) -> bool:
        known = self.memories.get(memory.id)
        return memory.active if known is None else not looks_alike(memory, known)

    def _adopts(self, memory: VaultMemory, store_id: str) -> bool:
        known = self.memories.get(memory.id)
        return known is not None and store_id not in self._vault_ids and looks_alike(memory, known)


def to_saved(memory: VaultMemory) -> bytes:
    """Return a memory as a line of a saved copy: its values without their names, which takes half the time to write."""
    return write_line(memory)[:-1]


def from_saved(line: bytes) -> VaultMemory:
    memory = VaultMemory._make(json.loads(line))
    return memory._replace(tags=tuple(memory.tags))


def _collect_ids(lines: Iterable[Record], ids: list[str]) -> Iterator[Record]:
    """Yield the same lines, and append their ids to a list. Ids are interned: many lines may have few ids."""
    for line in lines:
        ids.append(intern(line["id"]))
        yield line


def _vault_id(root: Stored) -> str:
    """Return the id under which a vault wrote a memory, else the first digits of its own id."""
    aliases: Sequence[str] = (root.body or {}).get("aliases", ())
    return next(filter(VAULT_ID.fullmatch, aliases), root.state.id.replace("-", "")[:12])


def _follow(reader: Reader, stored: Stored, link: str) -> Stored:
    """Return the end of the chain that a memory is part of: its first version, or its last, by which link is followed."""
    while (next_id := getattr(stored.state, link)) is not None:
        found = reader.by_ids(stored.tenant, [next_id])
        if next_id not in found:
            break
        stored = found[next_id]
    return stored
