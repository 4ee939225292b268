"""Translate between rows and the model: one function each way, one place for each column's form."""

import json
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.ledger import EVENTS, Address, Entry, phase_number
from recollect.model.state import TIME, State, body_from, body_in_force
from recollect.model.vocabulary import KIND_CLASS, KINDS, STATUSES, Kind, Namespace, Space, Status
from recollect.rules.identity.keys import identity, identity_beside
from recollect.stores.protocol import Damage, Stored, Stream

Row = Mapping[str, Any]

NAMESPACES = {str(one): one for one in Namespace}
SPACES = {str(one): one for one in Space}
BODY_COLUMNS = """
    created_at scope content_hash kind event_type layer tier topic_id source user_id agent_id run_id thread_id actor_id role
""".split()
"""Columns of the current state that repeat a field of the immutable body, so that reads can filter by them."""
SAID_COLUMNS = (*BODY_COLUMNS, "author_id", "author_name", "confidence")
"""Those, and what the body says of its author and of how sure the author was."""


def stream_from(row: Row) -> Stream:
    address, fault = None, None
    namespace, space = NAMESPACES.get(row["namespace"]), SPACES.get(row["space"])
    if namespace is None or space is None:
        fault = f"its namespace or space is none that there is: {row['namespace']!r}, {row['space']!r}"
    elif row["owner"] is not None:
        address = Address(row["tenant"], namespace, space, row["owner"])
    return Stream(
        row["tenant"], row["stream"], row["uid"], address, row["tick"], row["last_seq"], row["last_memory"],
        row["head"], row["last_at"], row["documents"], row["words"], row["phase"],
        row["embedder"], row["generation"], row["next_embedder"], fault,
    )  # fmt: skip


def entry_from(row: Row) -> Entry:
    return Entry(
        row["uid"], row["seq"], row["tick"], EVENTS[row["event"]], row["memory_id"], row["other_id"],
        row["from_status"], row["to_status"], row["rule"], row["rules_version"], row["commitment"], row["actor"],
        row["at"], row["prev_hash"], row["hash"],
    )  # fmt: skip


def entry_of(values: Sequence[Any]) -> Entry:
    """Return an entry from columns in the order of its fields."""
    uid, seq, tick, event, *rest = values
    return Entry(uid, seq, tick, EVENTS[event], *rest)


def entry_row(stream: Stream, entry: Entry) -> dict[str, Any]:
    return {**entry._asdict(), "tenant": stream.tenant, "stream": stream.number}


_COLUMNS = {"related_memory_ids": "related", "conflict_ids": "conflicts"}
"""The columns that go by another name than the field of the state that they hold."""
_state = itemgetter(*(_COLUMNS.get(name, name) for name in State.__slots__))


def state_from(row: Row) -> State:
    return state_of(_state(row))


_LISTS = [
    State.__slots__.index(name) for name in "related_memory_ids conflict_ids importance_reason tags vouchers".split()
]
_FLAGS = {0: False, 1: True}
"""Any other number is no flag, and stays what it is: whoever compares states then sees it."""
_STATUS, _PINNED = State.__slots__.index("status"), State.__slots__.index("pinned")


def state_of(values: Sequence[Any]) -> State:
    """Return a state from columns in the order of its fields."""
    fields = list(values)
    fields[_STATUS] = STATUSES[fields[_STATUS]]
    fields[_PINNED] = _FLAGS.get(fields[_PINNED], fields[_PINNED])
    for place in _LISTS:
        fields[place] = _list_from(fields[place])
    return State(*fields)


def state_row(stream: Stream, number: int, state: State, *, beside: bool = False) -> dict[str, Any]:
    row, apart = state.to_dict(), identity_beside(state.canonical_key, number)
    row.update(
        tenant=stream.tenant,
        stream=stream.number,
        memory=number,
        status=str(state.status),
        related=_list_text(row.pop("related_memory_ids")),
        conflicts=_list_text(row.pop("conflict_ids")),
        importance_reason=_list_text(state.importance_reason),
        tags=_list_text(state.tags),
        vouchers=_list_text(state.vouchers),
        key_identity=apart if beside else identity(state.canonical_key),
        apart=apart,
        pinned=int(state.pinned),
    )
    return row


def memory_row(
    stream: Stream, number: int, state: State, body: Mapping[str, Any] | None, *, beside: bool = False
) -> dict[str, Any]:
    row = state_row(stream, number, state, beside=beside)
    row.update(zip(SAID_COLUMNS, _said(body_in_force(body, state) if body else {}), strict=True))
    row["kind_class"] = str(KIND_CLASS[Kind(body["kind"])]) if body else None
    row["phase"] = _phase_of(body)
    row["terms"] = None
    return row


def _said(body: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of ``SAID_COLUMNS`` in a body; one without words has none."""
    author = body.get("author") or {}
    return (*map(body.get, BODY_COLUMNS), author.get("id"), author.get("name"), body.get("confidence"))


def _phase_of(body: Mapping[str, Any] | None) -> int | None:
    return phase_number(body.get("phase_id")) if body else None


def stray_column(number: int, row: Sequence[Any], body: Mapping[str, Any] | None) -> str | None:
    """Return the first of these columns of current state that is not what the version's body says; ``None`` if all are."""
    if row[0] is None:
        return None  # no such row: that is for whoever compares the states to say
    if row[1] != identity(row[0]) and row[1] != identity_beside(row[0], number):
        return "key_identity"
    said = body or {}
    kind_class = KIND_CLASS[KINDS[said["kind"]]] if said else None
    expected = (kind_class, _phase_of(body), *_said(said))
    if said and said["authority"] != row[2]:  # a higher one confirmed it: what was attached counts no more
        expected = (*expected[:-1], None)
    found = tuple(row[3:]) if said else (row[3], None, None, *row[6:])
    if found == expected:
        return None
    return next(name for name, one, other in zip(REPEATED[3:], found, expected, strict=True) if one != other)


REPEATED = ("canonical_key", "key_identity", "authority", "kind_class", "phase", *SAID_COLUMNS)
"""The columns that a walk compares, in their order. When a memory was written, and in which phase, outlives its content."""


UNREADABLE_CONTENT = "its content cannot be read"
UNREADABLE_STATE = "its current state cannot be read"


def stored_from(row: Row) -> Stored:
    """A memory from its row. Rows that cannot be read are damage, which is a value: whoever reads goes on without this one."""
    keys = row.keys()
    body, is_whole = body_from(row["body"])
    state, damage = _state_if_whole(row), None
    if state is None or not is_whole:
        what = UNREADABLE_STATE if state is None else UNREADABLE_CONTENT
        body, damage = None, Damage(what, str(row["created_at"]), row["scope"])
    return Stored(
        row["tenant"],
        row["stream"],
        row["memory"],
        body_in_force(body, state) if body is not None and state is not None else body,
        state or State(row["id"], Status.ARCHIVED),
        (row["count"] or 0) if "count" in keys else 0,
        row["last"] if "last" in keys else None,
        row["parent_hash"] if "parent_hash" in keys else None,
        damage=damage,
    )


_TIMES = "last_reinforced last_modified expires_at valid_from valid_until deleted_at purge_at".split()


def _state_if_whole(row: Row) -> State | None:
    try:
        state = state_from(row)
        times = (getattr(state, name) for name in _TIMES)
        return state if all(not time or TIME.fullmatch(time) for time in times) else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _list_text(values: list[Any]) -> str:
    return canonical_json(values) if values else "[]"


def _list_from(text: str) -> list[Any]:
    return [] if text == "[]" else list(json.loads(text))


def write_term_note(said: Mapping[str, int], keyed: Mapping[str, int]) -> str:
    first = " ".join([str(sum(said.values())), *_with_counts(said)])
    return "\n".join([first, " ".join(_with_counts(keyed))]) if keyed else first


def text_length_in(note: str) -> int:
    """How long the text is: its key does not make it longer."""
    return int(note.split(maxsplit=1)[0])


def term_counts_in(note: str) -> dict[str, int]:
    """Return all terms and how often each occurs.

    >>> term_counts_in(write_term_note({"dark": 2}, {"theme": 1}))
    {'dark': 2, 'theme': 1}
    """
    pairs = (word.rpartition(":") for word in note.split()[1:])
    return {term: int(tf) for term, _, tf in pairs}


def said_terms_in(note: str) -> str:
    """Return a note of what is said alone.

    >>> term_counts_in(said_terms_in(write_term_note({"dark": 2}, {"theme": 1})))
    {'dark': 2}
    """
    return note.partition("\n")[0]


def _with_counts(counts: Mapping[str, int]) -> list[str]:
    return [f"{term}:{tf}" for term, tf in counts.items()]
