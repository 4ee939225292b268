"""Who holds a key, as far as the caller may know.

A key has one active memory that anybody may know of. What is of a category that an agent's list does not name is not there
for that agent: it neither meets it nor takes its key. What the agent writes is kept beside it, under the same key, and the
answer is what it would be if the other were not there.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.engine.context import Engine, damage_of
from recollect.model.state import State
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, KindClass, Status
from recollect.rules.authority import outranks
from recollect.rules.draft import Draft
from recollect.rules.identity import began_before, is_changed_by
from recollect.rules.keys import BY_RULE, KeySource, identity
from recollect.rules.naming import slots_of
from recollect.stores.protocol import Reader, Stored, Stream


class Held(NamedTuple):
    """The memory of a key that the caller meets, and whether others are active under it, which stay as they are."""

    incumbent: Stored | None
    by_others: bool


def holder(
    engine: Engine,
    reader: Reader,
    stream: Stream,
    scope: str,
    kind_class: KindClass,
    key_text: str,
    *,
    category: str | None = None,
) -> Held:
    """Who holds a key. Of several that the caller sees it is the one of the same ``category``, else the oldest."""
    found = reader.active_with_key(stream, scope, str(kind_class), identity(key_text))
    if broken := next((stored for stored in found if stored.damage is not None), None):
        raise damage_of(reader, broken)  # what it says, and so what becomes of it, cannot be told
    sight = engine.sight
    seen = [stored for stored in found if sight.sees(scope, stored.state.category)]
    met = min(seen, key=lambda stored: (stored.state.category != category, stored.number), default=None)
    return Held(met, len(found) > (met is not None))


SLOT_HOLDERS = 16
"""How many active memories of one slot, or of one subject and value, a statement is compared with."""


def changed_by(engine: Engine, reader: Reader, stream: Stream, draft: Draft) -> Stored | None:
    """Return the one active memory, under another key, that a plain statement repeats, changes or retracts.

    It is found by its slot ("the rent") or by whom and what it names ("sold the Volvo"). Where two memories fit, or the
    older one says more than what changed, nothing is replaced: both are linked as possibly outdated.
    """
    assert draft.key is not None, "the naming gate sets the key"
    if not draft.frames or draft.key.source not in BY_RULE:
        return None
    candidate, sight = draft.candidate, engine.sight
    found = [
        stored
        for stored in _about(reader, stream, draft)
        if stored.body is not None
        and stored.body["scope"] == candidate.scope
        and KIND_CLASS[Kind(stored.body["kind"])] is KIND_CLASS[candidate.kind]
        and sight.sees(candidate.scope, stored.state.category)
        and not _is_misnamed(engine, draft, stored)
        and not began_before(draft, stored.state)
        and is_changed_by(stored.body["content"], draft)
    ]
    return found[0] if len(found) == 1 else None


def _about(reader: Reader, stream: Stream, draft: Draft) -> list[Stored]:
    """Return the active memories that share a slot, or subject and value, with one of a draft's frames, oldest first."""
    found: dict[int, Stored] = {}
    for marks in {tuple(sorted(slots_of([frame]).items())) for frame in draft.frames}:
        known = dict(marks)
        about = (known.get("slot", ""), known.get("subject_value", ""))
        found |= {stored.number: stored for stored in reader.active_about(stream, *about, SLOT_HOLDERS)}
    return [found[number] for number in sorted(found)]


def _is_misnamed(engine: Engine, draft: Draft, stored: Stored) -> bool:
    """Whether somebody who is believed less chose the name of a memory: nobody else's words go on under it."""
    assert stored.body is not None, "an active memory has its content"
    order = engine.policy.conflict.authority_order
    chosen = KeySource(stored.body["key_source"]) not in BY_RULE
    return chosen and outranks(draft.authority, Authority(stored.state.authority), order)


class Places:
    """The keys that are taken while a stream's memories are put down again, in their order."""

    def __init__(self) -> None:
        self._taken: set[tuple[str, KindClass, str]] = set()

    def is_taken(self, state: State, body: Mapping[str, Any] | None) -> bool:
        """Whether an active memory has the key of this one, which is then kept beside it. Else it is taken from now on."""
        if body is None or state.status is not Status.ACTIVE:
            return False
        place = (body["scope"], KIND_CLASS[Kind(body["kind"])], identity(state.canonical_key))
        if place in self._taken:
            return True
        self._taken.add(place)
        return False
