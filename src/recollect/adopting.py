"""What vaults wrote into a file, taken over by the store that the same file is.

A vault's line went through the vault's gate, or another program wrote it: each new memory passes the gates of the policy in
force, as if it had been said just now.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recollect.engine import ingest, lifecycle, reading
from recollect.engine.context import Engine
from recollect.model.errors import Refused
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import Outcome, Status
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.translation import to_candidate
from recollect.stores.journal import JournalStore
from recollect.stores.journal.log import collector_at_rest
from recollect.stores.journal.view import SHOWN

ADOPTED_AT_ONCE = 500
"""How many memories are adopted in one transaction, which is one line of the file."""

LINKED_AT_MOST = 200
"""How many new memories are linked to those that they have to do with: to look for them takes longer the more there are."""

_log = logging.getLogger("recollect.vault")


def adopt_vault(engine: Engine, store: JournalStore) -> Counter[Outcome]:
    """Have the engine remember what vaults wrote into the store's file since the last time; how many came to what.

    Each goes through the engine's gates. What they refuse stays in the file as it is, for those who read it as a vault.
    The memories of a long file, which nobody has opened as a store before, are not linked to one another.
    """
    store.show()
    memories, lines = store.strangers()
    wanted = memories if engine.tenant == SHOWN.tenant else []
    outcomes, refused = _tallied(_adopted(engine, wanted))
    if wanted:
        store.note_adopted(lines)
    if refused:
        _log.warning("%s: the policy refused memories that a vault wrote: %s.", store.location, dict(refused))
    store.save_copy()  # not only when it is closed: whoever is killed then would leave the next one all the reading
    return outcomes


def _tallied(receipts: Iterable[Receipt]) -> tuple[Counter[Outcome], Counter[str]]:
    """How many came to what, and why the others were refused. Nobody keeps the receipts: there may be many thousand."""
    outcomes: Counter[Outcome] = Counter()
    refused: Counter[str] = Counter()
    for receipt in receipts:
        outcomes[receipt.outcome] += 1
        refused.update(receipt.reasons[:1] if receipt.outcome is Outcome.DENIED else ())
    return outcomes, refused


def _adopted(engine: Engine, memories: Sequence[VaultMemory]) -> Iterator[Receipt]:
    """A receipt for each memory that is new or says something else now."""
    found = _known(engine, memories)
    new = [memory for memory in memories if memory.active and found[memory.id] is None]
    linked = len(new) <= LINKED_AT_MOST
    for start in range(0, len(new), ADOPTED_AT_ONCE):
        part = [to_candidate(memory) for memory in new[start : start + ADOPTED_AT_ONCE]]
        with collector_at_rest():
            receipts = ingest.add_many(engine, part, linked=linked)
        yield from receipts
    for memory in memories:
        known = found[memory.id]
        if known is not None:
            yield from _follow(engine, memory, known)


def _follow(engine: Engine, memory: VaultMemory, known: Memory) -> list[Receipt]:
    """Do to a memory of the store what a vault did to it."""
    if not memory.active:
        if known.status is Status.ACTIVE:
            lifecycle.forget(engine, known.id)
        return []
    if known.content != memory.text:
        fields = {**to_candidate(memory), "canonical_key": known.canonical_key, "aliases": [], "change": "update"}
        return [ingest.add(engine, fields)]
    if known.status is Status.ACTIVE and (known.category, known.tags) != (memory.category, memory.tags):
        lifecycle.edit(engine, known.id, {"category": memory.category, "tags": list(memory.tags)})
    return []


def _known(engine: Engine, memories: Sequence[VaultMemory]) -> dict[str, Memory | None]:
    """What the store has of these memories already, by the vault's ids. In one that is empty nobody has to look."""
    with engine.read() as reader:
        empty = not reader.streams_of(engine.tenant)
    return {memory.id: None if empty else _latest_of(engine, memory.id) for memory in memories}


def _latest_of(engine: Engine, vault_id: str) -> Memory | None:
    """The newest version of the memory that a vault calls so."""
    try:
        memory = reading.get(engine, vault_id)
        while memory.superseded_by_id is not None:
            memory = reading.get(engine, memory.superseded_by_id)
    except Refused:
        return None
    return memory
