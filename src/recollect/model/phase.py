"""Phases by number and by id, and how the first one begins."""

import re

PHASE_ID = re.compile(r"phase-([1-9][0-9]{0,8})")
"""How people write a phase."""
LISTED = "Phases are written as phase-1; `recollect phase list` and `mem.phases()` list them."
"""Where somebody finds the phases that there are."""
FIRST_PHASE = {"phase_started_at": 1, "phase_reason": "phase:first_write"}
"""How the first phase begins, everywhere."""


def phase_id(number: int) -> str:
    """The id of a stream's phase.

    >>> phase_id(3)
    'phase-3'
    """
    return f"phase-{number}"


FIRST_PHASE_ID = phase_id(1)


def phase_number(id: str | None) -> int:
    """The number of a phase. What was written without phases belongs to the first.

    >>> phase_number("phase-3"), phase_number(None)
    (3, 1)
    """
    return 1 if id is None else int(id.removeprefix("phase-"))
