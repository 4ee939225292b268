"""Which memory another one may replace: an active one, of the same place and the same sort."""

from collections.abc import Mapping
from typing import Any

from recollect.model.errors import BadInput, WrongState
from recollect.model.vocabulary import KIND_CLASS, Kind, Status
from recollect.stores.protocol import Stored


def check_active(stored: Stored, field: str) -> None:
    """Raise unless a memory, as the caller sees it, is active: only what is active can be replaced."""
    state = stored.state
    if state.status is Status.SUPERSEDED:
        by = f" by {state.superseded_by_id}" if state.superseded_by_id else ""  # none where the caller may not see it
        hint = f"Name the current version instead: {state.superseded_by_id}." if by else "Its key has a newer version."
        raise WrongState(f"{state.id} was already superseded{by}.", field=field, hint=hint)
    if state.status is not Status.ACTIVE or stored.body is None:
        what = state.removed or str(state.status)
        raise WrongState(f"{state.id} is {what}, not active.", field=field, hint="Only an active memory is replaced.")


def check_same_place(older: Stored, stream: int, newer: Mapping[str, Any], field: str) -> None:
    """Raise unless the newer memory has the stream, the scope and the sort of the one that it replaces."""
    assert older.body is not None, "an active memory has its content"
    body = older.body
    if older.stream != stream or body["scope"] != newer["scope"]:
        where = f"{body['namespace']}/{body['space']}/{body['owner']}, scope {body['scope']}"
        hint = "A memory is replaced in its own place; update(id, content) writes there."
        raise BadInput(f"{older.state.id} is in another place: {where}.", field=field, hint=hint)
    if KIND_CLASS[Kind(body["kind"])] is not KIND_CLASS[Kind(newer["kind"])]:
        hint = "A memory is replaced by one of the same kind."
        raise BadInput(f"{older.state.id} is of kind {body['kind']}.", field=field, hint=hint)
