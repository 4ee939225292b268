"""A selection as the part of a query that follows WHERE. Column names come from here, never from a request."""

import json
from typing import Any, NamedTuple

from recollect.stores.protocol import Selection

COLUMNS = frozenset(
    """
        id status kind kind_class event_type layer tier category pinned importance authority topic_id source user_id agent_id
        run_id thread_id actor_id role scope key_identity canonical_key created_at last_modified last_reinforced
        expires_at valid_from valid_until deleted_at purge_at version stream memory phase
    """.split()
)
NUMBERS = frozenset(("stream", "memory", "phase", "importance", "pinned", "version"))
_OPERATORS = frozenset(("<", "<=", ">", ">=", "=", "<>"))


class Dialect(NamedTuple):
    """The pieces of a condition that engines write differently. ``{list}`` is a JSON array, as a parameter."""

    one_of_texts: str
    one_of_numbers: str
    tagged: str


def where(selection: Selection, dialect: Dialect) -> tuple[str, dict[str, Any]]:
    """The condition and its parameters; ``1 = 1`` when everything is wanted."""
    parts: list[str] = []
    params: dict[str, Any] = {}

    def bind(value: Any) -> str:
        name = f"f{len(params)}"
        params[name] = value
        return f":{name}"

    def one_of(column: str, values: Any) -> str:
        form = dialect.one_of_numbers if column in NUMBERS else dialect.one_of_texts
        return form.format(column=f"m.{column}", list=bind(json.dumps(list(values))))

    if selection.streams is not None:
        parts.append(one_of("stream", selection.streams))
    if selection.scopes is not None:
        parts.append(one_of("scope", selection.scopes))
    if selection.categories is not None:
        parts.append(one_of("category", selection.categories))
    for column, wanted in selection.equal.items():
        check_column(column)
        many = isinstance(wanted, list | tuple | set | frozenset)
        parts.append(one_of(column, sorted(wanted)) if many else f"m.{column} = {bind(wanted)}")
    if selection.of_users is not None:
        users, owned = selection.of_users
        parts.append(f"({one_of('user_id', users)} OR {one_of('stream', owned)})")
    for column, operator, value in selection.ranges:
        check_column(column)
        if operator not in _OPERATORS:
            raise ValueError(f"no operator {operator!r}")
        parts.append(f"m.{column} {operator} {bind(value)}")
    for tag in selection.tags:
        parts.append(dialect.tagged.format(tags="m.tags", tag=bind(tag)))
    if selection.current_phase:
        parts.append("m.phase = (SELECT s.phase FROM streams s WHERE s.tenant = m.tenant AND s.stream = m.stream)")
    if selection.unexpired_at is not None:
        parts.append(
            f"(m.status <> 'active' OR ((m.expires_at IS NULL OR m.expires_at > {bind(selection.unexpired_at)})"
            " AND (m.expires_at_tick IS NULL OR m.expires_at_tick > "
            "(SELECT s.tick FROM streams s WHERE s.tenant = m.tenant AND s.stream = m.stream))))"
        )
    if selection.before is not None:
        at, stream, number = map(bind, selection.before)
        parts.append(f"(m.created_at, m.stream, m.memory) < ({at}, {stream}, {number})")
    return " AND ".join(parts) or "1 = 1", params


def check_column(column: str) -> None:
    """Only columns from the list above ever stand in a query."""
    if column not in COLUMNS:
        raise ValueError(f"no column {column!r}")
