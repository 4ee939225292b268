"""What vaults wrote into a file, taken over by the store that the same file is.

A vault's line went through the vault's gate, or another program's: noise, length, likeness and capacity were judged where it
was written, and are not judged again. What must hold wherever it came from, the privacy gate and the borders, does.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from recollect.engine.context import Engine, PolicyInForce
from recollect.engine.lifecycle import changes
from recollect.engine.read import reading
from recollect.engine.write import ingest
from recollect.model.errors import BadInput, Refused
from recollect.model.policy import Capacity, Length, Policy
from recollect.model.receipt import Receipt
from recollect.model.record import MAX_CONTENT_BYTES, Memory
from recollect.model.vocabulary import Outcome, Status
from recollect.rules.vault import VaultMemory, to_candidate
from recollect.stores.collector import collector_paused
from recollect.stores.journal import JournalStore
from recollect.stores.journal.view import SHOWN, Stranger

ADOPTED_AT_ONCE = 500
"""How many memories are adopted in one transaction, which is one line of the file."""

LINKED_AT_MOST = 200
"""How many new memories are linked to those that they have to do with: to look for them takes longer the more there are."""

NAMED_AT_MOST = 20
"""How many memories that are left out are named one by one."""

Progress = Callable[[int, int], None]
"""Told how many memories are adopted by now, and how many there are."""

_log = logging.getLogger("recollect.vault")


def adopt_vault(engine: Engine, store: JournalStore, progress: Progress | None = None) -> Counter[Outcome]:
    """Have the engine remember what vaults wrote into the store's file since the last time; how many came to what.

    Each goes through the engine's gates. What they refuse, or what no store can hold, stays in the file as it is, for those
    who read it as a vault; the log says which.
    The memories of a long file, which nobody has opened as a store before, are not linked to one another.

    Every so many memories it is noted how far this is, so that whoever is interrupted goes on there the next time. Of several
    processes one adopts, and the others wait for it.
    """
    engine = replace(engine, in_force=PolicyInForce(as_it_was_written(engine.policy)))
    outcomes, refused = Counter[Outcome](), Counter[str]()
    left_out: list[LeftOut] = []
    if engine.tenant == SHOWN.tenant and store.has_strangers():
        with store.adopting():
            for receipt in _adopted(engine, store, progress, left_out):
                outcomes[receipt.outcome] += 1
                refused.update(receipt.reasons[:1] if receipt.outcome is Outcome.DENIED else ())
    if refused:
        _log.warning("%s: the policy refused memories that a vault wrote: %s.", store.location, dict(refused))
    if left_out:
        _tell_left_out(store, left_out)
    store.show()  # after that, or it would show again what a vault has just deleted
    store.save_copy()  # not only when it is closed: whoever is killed then would leave the next one all the reading
    return outcomes


def as_it_was_written(policy: Policy) -> Policy:
    """The policy for what is in the file already: without the gates that decide what a new memory is worth.

    Nor is a memory compared with those before it, which would take longer the more there are.
    """
    return policy.model_copy(
        update={
            "noise": policy.noise.model_copy(update={"match": "never"}),
            "length": Length(
                max_characters=None,
                tier_max_characters=MAX_CONTENT_BYTES,
                model_written_max_characters=MAX_CONTENT_BYTES,
            ),
            "near_duplicates": policy.near_duplicates.model_copy(update={"action": "ignore"}),
            "capacity": Capacity(max_active=None),
        }
    )


class LeftOut(NamedTuple):
    """A memory that a vault may hold and no store: its id in the vault, and what is wrong with it."""

    id: str
    why: str


def _tell_left_out(store: JournalStore, left_out: Sequence[LeftOut]) -> None:
    """Name each of them, up to a limit, by its line: it stays in the file, for those who read it as a vault."""
    lines = store.lines_of({one.id for one in left_out})
    for one in left_out[:NAMED_AT_MOST]:
        _log.warning(
            "%s: line %d, the memory %.80r is left out of the store: %s", store.location, lines[one.id], one.id, one.why
        )
    what = "memory that a vault wrote is" if len(left_out) == 1 else "memories that a vault wrote are"
    hint = "They stay in the file, and stay with those who read it as a vault; a corrected line is adopted."
    _log.warning("%s: %d %s left out of the store. %s", store.location, len(left_out), what, hint)


def _adopted(
    engine: Engine, store: JournalStore, progress: Progress | None, left_out: list[LeftOut]
) -> Iterator[Receipt]:
    """A receipt for each memory that is new or says something else now; what no store can hold is noted."""
    pending, lines = store.strangers()
    strangers = [one for one in pending if _is_new(one) or one.store_id is not None]
    linked = sum(map(_is_new, strangers)) <= LINKED_AT_MOST
    for start in range(0, len(strangers), ADOPTED_AT_ONCE):
        _tell(store, progress, start, len(strangers))
        end = start + ADOPTED_AT_ONCE
        yield from _remembered(engine, strangers[start:end], linked, left_out)
        store.note_adopted(strangers[end].line if end < len(strangers) else lines)
    if pending and not strangers:  # whatever came has gone again
        store.note_adopted(lines)
    _tell(store, progress, len(strangers), len(strangers))


def _tell(store: JournalStore, progress: Progress | None, done: int, total: int) -> None:
    """Say how far it is, if that takes more than a moment."""
    if total > ADOPTED_AT_ONCE:
        _log.info("%s: of %d memories that a vault wrote %d are adopted.", store.location, total, done)
        if progress is not None:
            progress(done, total)


def _remembered(engine: Engine, part: Sequence[Stranger], linked: bool, left_out: list[LeftOut]) -> Iterator[Receipt]:
    """The new ones are remembered in one transaction, then the store follows what was done to those that it has."""
    new = [one.memory for one in part if _is_new(one)]
    with collector_paused():
        try:
            receipts = ingest.add_many(engine, [to_candidate(memory) for memory in new], linked=linked)
        except BadInput:  # rare: who it is is only looked for then
            sound = [memory for memory in new if _is_sound(engine, memory, left_out)]
            receipts = ingest.add_many(engine, [to_candidate(memory) for memory in sound], linked=linked)
    yield from receipts
    for one in part:
        known = _latest_of(engine, one.store_id) if one.store_id is not None else None
        if known is not None:
            try:
                yield from _follow(engine, one.memory, known)
            except BadInput as error:
                left_out.append(LeftOut(one.memory.id, str(error)))


def _is_sound(engine: Engine, memory: VaultMemory, left_out: list[LeftOut]) -> bool:
    """Whether a store can hold it at all; else it is noted why not."""
    try:
        ingest.check(engine, to_candidate(memory))
    except BadInput as error:
        left_out.append(LeftOut(memory.id, str(error)))
        return False
    return True


def _is_new(one: Stranger) -> bool:
    return one.store_id is None and one.memory.active


def _follow(engine: Engine, memory: VaultMemory, known: Memory) -> list[Receipt]:
    """Do to a memory of the store what a vault did to it."""
    if not memory.active:
        if known.status is Status.ACTIVE:
            changes.forget(engine, known.id)
        return []
    if known.content != memory.text:
        fields = {**to_candidate(memory), "canonical_key": known.canonical_key, "aliases": [], "change": "update"}
        return [ingest.add(engine, fields)]
    if known.status is Status.ACTIVE and (known.category, known.tags) != (memory.category, memory.tags):
        changes.edit(engine, known.id, {"category": memory.category, "tags": list(memory.tags)})
    return []


def _latest_of(engine: Engine, id: str) -> Memory | None:
    """The newest version of the chain that begins so; ``None`` if its words were erased."""
    try:
        memory = reading.get(engine, id)
        while memory.superseded_by_id is not None:
            memory = reading.get(engine, memory.superseded_by_id)
    except Refused:
        return None
    return memory
