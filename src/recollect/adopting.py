"""Take over what vaults wrote into a file when it is opened as a store.

A vault's line passed the vault's gate, or another program's: noise, length, likeness and capacity were judged where it was
written, and are not judged again. The privacy gate and the borders hold wherever a line comes from.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from recollect.engine.context import Engine, PolicyInForce
from recollect.engine.lifecycle import changes
from recollect.engine.read import reading
from recollect.engine.write import ingest
from recollect.formats.vault import to_candidate
from recollect.model.errors import BadInput, Refused
from recollect.model.policy import Capacity, Length, Policy
from recollect.model.receipt import Receipt
from recollect.model.record import MAX_CONTENT_BYTES, Memory
from recollect.model.vocabulary import Outcome, Status
from recollect.rules.collector import collector_paused
from recollect.rules.vault import VaultMemory
from recollect.stores.journal import JournalStore
from recollect.stores.journal.view import SHOWN, Unadopted

ADOPTED_AT_ONCE = 100
"""How many memories are adopted in one transaction, which is one line of the file: as many as fit a batch, however long."""
LINKED_AT_MOST = 200
"""How many new memories are linked to related ones: the search for those takes longer the more there are."""
NAMED_AT_MOST = 20
"""How many memories that are left out are named one by one."""

Progress = Callable[[int, int], None]
"""Called with the number of memories that are adopted by now, and the number of all."""
LeftOut = dict[str, str]
"""Why no store can hold a memory, by the vault's ids."""

_log = logging.getLogger("recollect.vault")


def adopt_vault(engine: Engine, store: JournalStore, progress: Progress | None = None) -> None:
    """Have the engine remember what vaults wrote into the store's file since the last time.

    What the gates refuse and what no store can hold stays in the file, where a vault reads it; the log says which.
    Progress is noted after every ``ADOPTED_AT_ONCE`` memories, so that an interrupted adoption goes on there. Of several
    processes one adopts, and the others wait for it.
    """
    engine = replace(engine, in_force=PolicyInForce(_without_judging_worth(engine.policy)))
    if engine.tenant == SHOWN.tenant and store.has_unadopted():
        left_out: LeftOut = {}
        with store.adoption_lock():
            receipts = _adopt(engine, store, progress, left_out)
            refused = Counter(receipt.reasons[0] for receipt in receipts if receipt.outcome is Outcome.DENIED)
        if refused:
            _log.warning("%s: the policy refused memories that a vault wrote: %s.", store.location, dict(refused))
        if left_out:
            _log_left_out(store, left_out)
    store.show()  # only now, or it would show again what a vault has just deleted
    store.save_copy()  # not only on closing: a process that is killed would leave the next one all the reading


def _without_judging_worth(policy: Policy) -> Policy:
    """Return the policy without the gates that decide what a new memory is worth, and without comparing it with others."""
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


def _log_left_out(store: JournalStore, left_out: LeftOut) -> None:
    """Name the memories that are left out, up to a limit, by their lines."""
    lines = store.lines_of(left_out.keys())
    for id, why in list(left_out.items())[:NAMED_AT_MOST]:
        _log.warning("%s: line %d, the memory %.80r is left out of the store: %s", store.location, lines[id], id, why)
    what = "memory that a vault wrote is" if len(left_out) == 1 else "memories that a vault wrote are"
    hint = "They stay in the file, where a vault reads them; a corrected line is adopted."
    _log.warning("%s: %d %s left out of the store. %s", store.location, len(left_out), what, hint)


def _adopt(engine: Engine, store: JournalStore, progress: Progress | None, left_out: LeftOut) -> Iterator[Receipt]:
    """Adopt each memory that is new or was changed by a vault, part by part; of a long file new ones are not linked."""
    pending, lines = store.unadopted()
    strangers = [one for one in pending if _is_new(one) or one.store_id is not None]
    linked = sum(map(_is_new, strangers)) <= LINKED_AT_MOST
    total = len(strangers)
    for start in range(0, total, ADOPTED_AT_ONCE):
        _report(store, progress, start, total)
        end = start + ADOPTED_AT_ONCE
        part = strangers[start:end]
        yield from _remember_new(engine, [one.memory for one in part if _is_new(one)], linked, left_out)
        for one in part:
            yield from _follow(engine, one, left_out)
        store.record_adopted(strangers[end].line if end < total else lines)
    if pending and not strangers:  # what came has gone again
        store.record_adopted(lines)
    _report(store, progress, total, total)


def _report(store: JournalStore, progress: Progress | None, done: int, total: int) -> None:
    """Say how many are adopted, if all of them take more than a moment."""
    if total > ADOPTED_AT_ONCE:
        _log.info("%s: of %d memories that a vault wrote %d are adopted.", store.location, total, done)
        if progress is not None:
            progress(done, total)


def _is_new(one: Unadopted) -> bool:
    return one.store_id is None and one.memory.active


def _remember_new(engine: Engine, memories: Sequence[VaultMemory], linked: bool, left_out: LeftOut) -> list[Receipt]:
    """Remember memories in one transaction; leave out the ones that are bad input."""
    with collector_paused():
        try:
            return ingest.add_many(engine, [to_candidate(memory) for memory in memories], linked=linked)
        except BadInput:  # rare: which one it is is only looked for then
            sound = [memory for memory in memories if _is_sound(engine, memory, left_out)]
            return ingest.add_many(engine, [to_candidate(memory) for memory in sound], linked=linked)


def _is_sound(engine: Engine, memory: VaultMemory, left_out: LeftOut) -> bool:
    """Return whether a store can hold a memory at all; note why, if it cannot."""
    try:
        ingest.check(engine, to_candidate(memory))
    except BadInput as error:
        left_out[memory.id] = str(error)
        return False
    return True


def _follow(engine: Engine, one: Unadopted, left_out: LeftOut) -> list[Receipt]:
    """Do to a memory of the store what a vault did to it: delete it, write its next version, or edit it."""
    memory = one.memory
    known = _latest_of(engine, one.store_id) if one.store_id is not None else None
    if known is None:
        return []
    if not memory.active:
        if known.status is Status.ACTIVE:
            changes.forget(engine, known.id)
        return []
    try:
        if known.content != memory.text:
            fields = {**to_candidate(memory), "canonical_key": known.canonical_key, "aliases": [], "change": "update"}
            return [ingest.add(engine, fields)]
        if known.status is Status.ACTIVE and (known.category, known.tags) != (memory.category, memory.tags):
            changes.edit(engine, known.id, {"category": memory.category, "tags": list(memory.tags)})
    except BadInput as error:
        left_out[memory.id] = str(error)
    return []


def _latest_of(engine: Engine, id: str) -> Memory | None:
    """Return the newest version of the chain that begins with this id; ``None`` if its words were erased."""
    try:
        memory = reading.get(engine, id)
        while memory.superseded_by_id is not None:
            memory = reading.get(engine, memory.superseded_by_id)
    except Refused:
        return None
    return memory
