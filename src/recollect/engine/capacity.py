"""Room: how many memories may be active at once."""

from recollect.engine.pen import Pen
from recollect.model.vocabulary import Namespace
from recollect.rules.draft import Rejection
from recollect.stores.protocol import Selection


def no_room(pen: Pen) -> Rejection | None:
    """The refusal if production holds as many active memories as the policy allows. Test data takes no room."""
    limit = pen.engine.policy.capacity.max_active
    if limit is None or pen.stream.address is None or pen.stream.address.namespace is not Namespace.PROD:
        return None
    streams = pen.writer.streams_of(pen.stream.tenant)
    prod = tuple(s.number for s in streams if s.address is not None and s.address.namespace is Namespace.PROD)
    active = pen.writer.count(pen.stream.tenant, Selection(prod, equal={"status": "active"}, unexpired_at=pen.at))
    if active < limit:
        return None
    return Rejection("capacity", "capacity_full", f"The policy allows {limit:,} active memories. Forget some first.")
