"""Turn the filters of a read into a selection, which the store applies in its own query, never to results."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.engine.arguments import check_moment, check_names, check_number, check_share, check_sought, check_word
from recollect.engine.context import Engine
from recollect.engine.write.drafting import check_name
from recollect.model.caller import KINDS, kind_of, principal
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.ledger import PHASE_ID
from recollect.model.vocabulary import EventType, Kind, Layer, Outcome, Source, Space, Status, Tier
from recollect.rules.identity.keys import explicit_key, identities, identity
from recollect.rules.ledger.content_ids import content_hash_in
from recollect.stores.protocol import Selection, Stream

EQUAL = """
    kind event_type layer tier category pinned topic_id source user_id agent_id run_id thread_id actor_id role scope
""".split()
"""Filters that take one value, or several of which one must match."""
RANGES: dict[str, tuple[str, str]] = {
    "importance_min": ("importance", ">="),
    "importance_max": ("importance", "<="),
    "updated_after": ("last_modified", ">="),
    "updated_before": ("last_modified", "<"),
    "created_after": ("created_at", ">="),
    "created_before": ("created_at", "<"),
}
PROVENANCE = ("author", "content_hash", "parent", "voucher", "confidence_min")
FILTERS = (*EQUAL, *RANGES, "tags", "key", "phase", *PROVENANCE)
BESIDE = frozenset({"owner", "space", "include_namespaces", "threshold", "share_of_best", "named"})
"""Arguments of a query that are not filters."""

_ENUMS: dict[str, Any] = {"kind": Kind, "event_type": EventType, "layer": Layer, "tier": Tier, "source": Source}
_STATUS_OF_OUTCOME: dict[str, str] = {Outcome.CONTRADICTED: Status.CONTRADICTORY}
"""Words of receipts that also select a status."""


def selection_of(
    engine: Engine,
    streams: Sequence[Stream],
    filters: Mapping[str, Any],
    status: str | Sequence[str] | None,
    **more: Any,
) -> Selection:
    """Return the selection of visible memories in these streams that match every filter; ``status=None`` is any."""
    for name in filters:
        if name not in FILTERS:
            hint = "It stands beside filters, not in them." if name in BESIDE else f"Known: {', '.join(FILTERS)}."
            raise BadInput("there is no such filter.", field=name, hint=hint)
    given = {name: value for name, value in filters.items() if value is not None}
    equal = {name: _equal(engine, name, given[name]) for name in EQUAL if name in given}
    if "content_hash" in given:
        equal["content_hash"] = _hashes("content_hash", given["content_hash"])
    users = equal.pop("user_id", None)
    if status is not None:
        many = [status] if isinstance(status, str) else check_names("status", status)
        equal["status"] = tuple(check_word("status", Status, _STATUS_OF_OUTCOME.get(word, word)) for word in many)
    return engine.selecting(
        streams=tuple(stream.number for stream in streams),
        equal=equal | _phase(given),
        of_users=_of_users(streams, users) if users is not None else None,
        tags=tuple(check_names("tags", given.get("tags", ()))),
        ranges=(*_key(given), *((*RANGES[name], _bound(name, given[name])) for name in RANGES if name in given)),
        current_phase=given.get("phase") == "current" or engine.phases_hidden,
        unexpired_at=engine.now() if status is not None else None,
        **_provenance(given),
        **more,
    )


def _provenance(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a selection about the author, the parents and the vouchers of a memory."""
    found: dict[str, Any] = {
        part: tuple(one for given_name in check_names(name, _several(given[name])) for one in _principals(given_name))
        for name, part in (("author", "authors"), ("voucher", "vouchers"))
        if name in given
    }
    if "parent" in given:
        found["parents"] = _hashes("parent", given["parent"])
    if "confidence_min" in given:
        found["confidence_min"] = check_share("confidence_min", given["confidence_min"])
    return found


def _principals(name: str) -> tuple[str, ...]:
    """Return the forms in which a name may be stored: as given, and with each kind of principal."""
    return (name,) if kind_of(name) is not None else (name, *(principal(kind, name) for kind in KINDS))


def _hashes(name: str, value: Any) -> tuple[str, ...]:
    """Return the content hashes that a filter names, each given as a hash or as a CID."""
    hashes = [(given, content_hash_in(given)) for given in check_names(name, _several(value))]
    for given, found in hashes:
        if found is None:
            hint = "Take `content_hash` from the memory, or the CID that `recollect entry cid` gives."
            raise BadInput(f"{given!r:.80} is no content hash and no CID.", field=name, hint=hint)
    return tuple(found for _, found in hashes if found is not None)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _of_users(streams: Sequence[Stream], users: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return these users with the streams they own: every memory in a person's own space counts as theirs."""
    at = {stream.number: stream.address for stream in streams if stream.address is not None}
    return users, tuple(
        number for number, address in at.items() if address.space is Space.USER and address.owner in users
    )


def _equal(engine: Engine, name: str, value: Any) -> Any:
    if name == "pinned":
        if not isinstance(value, bool):
            raise BadInput("must be true or false.", field=name, hint="Leave it out for both.")
        return int(value)
    values = _several(value)
    if name in _ENUMS:
        return tuple(check_word(name, _ENUMS[name], value) for value in values)
    if name == "category":
        check_categories(engine, name, values)
    return tuple(check_names(name, values))


def check_categories(engine: Engine, field: str, categories: Sequence[str]) -> tuple[str, ...]:
    """Return the categories that a request names, or raise if the agent may not know one of them."""
    names, known = check_names(field, categories), engine.sight.categories
    closed = [name for name in names if known is not None and name not in known]
    if closed:
        hint = "The policy's agents.allowlists says what it may."
        raise NotAllowed(f"this agent may not know of the category {closed[0]!r}.", field=field, hint=hint)
    return tuple(names)


def whole_categories(engine: Engine) -> list[str]:
    """Return the categories with ``context: all`` that the agent may read."""
    known, categories = engine.sight.categories, engine.policy.categories
    whole = [item.name for item in (*categories.system, *categories.custom) if item.context == "all"]
    return [name for name in whole if known is None or name in known]


def _phase(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the phase number to filter by; none for ``current`` and ``any``."""
    phase = given.get("phase")
    if phase in (None, "current", "any"):
        return {}
    number = PHASE_ID.fullmatch(phase) if isinstance(phase, str) else None
    if number is None:
        raise BadInput("must be current, any, or one such as phase-2.", field="phase", hint="`phase list` shows them.")
    return {"phase": int(number[1])}


def _key(given: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Return the range of key identities that belong to a key."""
    if "key" not in given:
        return ()
    check_name("key", check_sought("key", given["key"]))
    low, end = identities(identity(explicit_key(given["key"]).text))
    return ("key_identity", ">=", low), ("key_identity", "<", end)


def _bound(name: str, value: Any) -> Any:
    if name.startswith("importance"):
        return check_number(name, value, 1, 5)
    return check_moment(name, value)
