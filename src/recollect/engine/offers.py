"""What a new memory may replace: the nearest active memories, offered to its writer in the receipt.

Nothing here retires a memory. The writer accepts an offer with ``supersede(old, by=new)``.
"""

from collections.abc import Sequence

from recollect.engine.context import visible
from recollect.engine.pen import Pen
from recollect.engine.relations import Neighbour
from recollect.model.receipt import Similar

OFFERED = 3
"""How many memories a receipt offers."""


def offered(pen: Pen, near: Sequence[Neighbour]) -> tuple[Similar, ...]:
    """Return what the receipt of a newly stored memory offers: the nearest active memories that the caller may read."""
    if not pen.engine.policy.identity.offer:
        return ()
    seen = [one for one in near if visible(pen.engine, pen.writer, one[0])]
    return tuple(_similar(one) for one in seen[:OFFERED])


def _similar(near: Neighbour) -> Similar:
    stored, similarity = near
    assert stored.body is not None, "an active memory has its content"
    state, body = stored.state, stored.body
    return Similar(state.id, state.canonical_key, body["content"], body["created_at"], similarity)
