"""When memories hold: what an edit and a replacement change of it, and which version held at a time that is asked for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.model.canonical import format_time
from recollect.model.errors import BadInput
from recollect.model.state import State
from recollect.rules.draft import Draft


def stated_validity(draft: Draft) -> dict[str, str]:
    """Return the sides of a draft's validity that are known, as a state has them."""
    known = {"valid_from": draft.valid_from, "valid_until": draft.valid_until}
    return {name: format_time(moment) for name, moment in known.items() if moment is not None}


def closed_by(start: datetime | str | None, old: State) -> dict[str, Any] | None:
    """Return the amendment by which a replacement that holds from ``start`` on ends the validity of what it replaces.

    ``None`` if the start is not known, or if the old one was over before, or only began later: then recorded time alone says
    which of the two was believed when.
    """
    if start is None:
        return None
    end = start if isinstance(start, str) else format_time(start)
    over_before = old.valid_until is not None and old.valid_until <= end
    began_later = old.valid_from is not None and old.valid_from >= end
    return None if over_before or began_later else {"set": {"valid_until": end}}


def check_validity(state: State, values: Mapping[str, Any]) -> None:
    """Refuse an edit that would make a memory end before it begins."""
    start, end = (values.get(name, getattr(state, name)) for name in ("valid_from", "valid_until"))
    if start is not None and end is not None and end <= start:
        field = "valid_until" if "valid_until" in values else "valid_from"
        other = "be after valid_from" if field == "valid_until" else "be before valid_until"
        raise BadInput(f"must {other}.", field=field, hint=f"It holds from {start[:10]} until {end[:10]} then.")
