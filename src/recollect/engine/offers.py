"""What a new memory may make outdated: offered to its writer, and linked for those who read and decide.

The nearest active memories are compared with the new one. A stated reason (``rules.outdating``) says more than nearness, so
it comes first. Nothing here retires a memory: the writer accepts an offer with ``supersede(old, by=new)``, a person decides
a link with ``resolve``, and reading puts the later of two linked memories first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.engine.context import visible
from recollect.engine.pen import Pen
from recollect.engine.relations import Neighbour
from recollect.model.receipt import Similar
from recollect.rules.draft import Draft
from recollect.rules.identity import reading_of
from recollect.rules.keys import BY_RULE
from recollect.rules.naming import slots_of
from recollect.rules.outdating import NEAR, REASONS, reason_to_doubt
from recollect.rules.statements import Relation
from recollect.stores.protocol import Stored

OFFERED = 3
"""How many memories a receipt offers."""
DOUBTED = 2
"""How many memories a new one is linked to for a stated reason: of more, most are not what it updates."""


class Doubt(NamedTuple):
    """An active memory that a new one may make outdated: how alike the two are, and the reason."""

    stored: Stored
    similarity: float
    reason: str


def doubts(draft: Draft, near: Sequence[Neighbour]) -> list[Doubt]:
    """Return the nearest memories as what the draft may make outdated: the best reason first, then the most alike."""
    found = [Doubt(stored, similarity, _reason(draft, stored, similarity)) for stored, similarity in near]
    return sorted(found, key=lambda one: (REASONS.index(one.reason), -one.similarity, one.stored.number))


def _reason(draft: Draft, stored: Stored, similarity: float) -> str:
    assert stored.body is not None, "an active memory has its content"
    before, marks = stored.body["content"], slots_of(draft.frames).values()
    may_meet = stored.state.slot in marks or stored.state.subject_value in marks
    relation = reading_of(before, draft)[0] if may_meet else Relation.APART
    return reason_to_doubt(before, draft.candidate.content, similarity, relation)


def offered(pen: Pen, found: Sequence[Doubt]) -> tuple[Similar, ...]:
    """Return what the receipt of a newly stored memory offers: at most three that the caller may read."""
    if not pen.engine.policy.identity.offer:
        return ()
    seen = [one for one in found if visible(pen.engine, pen.writer, one.stored)]
    return tuple(_similar(one) for one in seen[:OFFERED])


def _similar(one: Doubt) -> Similar:
    state, body = one.stored.state, one.stored.body
    assert body is not None, "an active memory has its content"
    return Similar(state.id, state.canonical_key, body["content"], body["created_at"], one.similarity, one.reason)


def worth_linking(pen: Pen, draft: Draft, found: Sequence[Doubt]) -> list[Doubt]:
    """Return those to link as ``may_update``: two with a stated reason, and the nearest from ``identity.near_min`` on.

    Whoever named the concept has decided what it is about.
    """
    assert draft.key is not None, "the naming gate sets the key"
    settings = pen.engine.policy.identity
    if not settings.flag or draft.key.source not in BY_RULE:
        return []
    stated = [one for one in found if one.reason != NEAR][:DOUBTED]
    near = [one for one in found if one.reason == NEAR and one.similarity >= settings.near_min]
    return [*stated, *near[: settings.near_links]]
