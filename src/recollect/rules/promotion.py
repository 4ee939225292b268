"""Whether a memory may cross from one space to another."""

from recollect.model.policy_governance import Path
from recollect.model.vocabulary import Authority, EventType
from recollect.rules.authority import outranks

ALLOWED = "promotion:allowed"


def promotion_refusal(
    path: Path | None, authority: Authority, event_type: EventType, order: tuple[Authority, ...]
) -> str | None:
    """The code with which the border refuses, or ``None``.

    A way that the policy does not list is closed. Otherwise the memory must carry the authority that the way asks for, and be of
    a type that it admits; types that are named as needing less take no more than a person's own word.
    """
    if path is None:
        return "promotion:path_closed"
    if path.event_types is not None and event_type not in path.event_types:
        return "promotion:event_type_not_allowed"
    needed = Authority.USER_ASSERTED if event_type in path.or_event_types else path.authority
    return "promotion:authority_too_low" if outranks(needed, authority, order) else None
