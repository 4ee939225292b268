"""What a memory's links may show: a link to what the caller may not see would tell that it is there, and its id.

Within one scope the versions of a concept, what contradicts it and what is nearly the same may be of categories that an
agent's list does not name.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.engine.context import Engine, visible
from recollect.model.caller import Right
from recollect.model.receipt import Receipt
from recollect.model.trace import Trace
from recollect.model.vocabulary import Outcome
from recollect.rules.borders import Sight
from recollect.stores.protocol import Reader, Stored


def as_seen(engine: Engine, reader: Reader, found: Sequence[Stored]) -> list[Stored]:
    """The same memories, each without those of its links that lead to a memory which the caller may not see.

    Versions before and after it, related memories and conflicts are all such links.
    """
    hidden = hidden_ids(engine, reader, (id for stored in found for id in _linked(stored)))
    return [_unlinked(stored, hidden) for stored in found] if hidden else list(found)


def receipt_shown(engine: Engine, receipt: Receipt) -> Receipt:
    """Return a receipt as its caller may read it. Who may write and not read is told what became of their words, no more.

    A memory that was there before, what the words resemble or contradict, and the events about all of that stay untold. So
    does the next version of a memory, which has fields of the version before it.
    """
    if engine.caller.may(Right.READ) or receipt.denied:
        return receipt
    own = receipt.memory if receipt.outcome is Outcome.STORED and not receipt.replayed else None
    shown = replace(own, related_memory_ids=()) if own is not None else None
    return Receipt(receipt.outcome, shown, receipt.reasons, replayed=receipt.replayed)


def hidden_ids(engine: Engine, reader: Reader, ids: Iterable[str]) -> frozenset[str]:
    """Those of the ids that the caller may not know of. A tombstone hides nothing, and from some nothing is hidden."""
    if engine.sight == Sight(None, None):
        return frozenset()
    asked = frozenset(ids)
    known = reader.by_ids(engine.tenant, sorted(asked)) if asked else {}
    return asked - {id for id, stored in known.items() if stored.body is None or visible(engine, reader, stored)}


def hidden_in(engine: Engine, reader: Reader, events: Iterable[Trace]) -> frozenset[str]:
    """Those of the memories whose end these events tell that the caller may not know of."""
    return hidden_ids(engine, reader, (event["memory_id"] for event in events if "memory_id" in event))


def without_hidden(events: Iterable[Trace], hidden: frozenset[str]) -> tuple[Trace, ...]:
    """The events that may be told: those that do not say what became of one of the ``hidden`` memories (``hidden_in``)."""
    return tuple(event for event in events if event.get("memory_id") not in hidden)


def _linked(stored: Stored) -> list[str]:
    state = stored.state
    either_side = [id for id in (state.supersedes_id, state.superseded_by_id) if id is not None]
    return [*either_side, *state.related_memory_ids, *state.conflict_ids]


def _unlinked(stored: Stored, hidden: frozenset[str]) -> Stored:
    if hidden.isdisjoint(_linked(stored)):
        return stored
    state = stored.state
    shown = replace(
        state,
        supersedes_id=_shown(state.supersedes_id, hidden),
        superseded_by_id=_shown(state.superseded_by_id, hidden),
        related_memory_ids=[id for id in state.related_memory_ids if id not in hidden],
        conflict_ids=[id for id in state.conflict_ids if id not in hidden],
    )
    return stored._replace(state=shown, parent_hash=None if state.supersedes_id in hidden else stored.parent_hash)


def _shown(id: str | None, hidden: frozenset[str]) -> str | None:
    return None if id in hidden else id
