"""What a read may be narrowed by. Every filter goes into the store's own query, never onto its results."""

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
"""Filters that take a value, or several of which one must fit."""
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
"""What narrows a query too, under its own argument."""

_ENUMS: dict[str, Any] = {"kind": Kind, "event_type": EventType, "layer": Layer, "tier": Tier, "source": Source}
_SAID_OF_A_WRITE: dict[str, str] = {Outcome.CONTRADICTED: Status.CONTRADICTORY}
"""Statuses that a receipt has another word for: who asks with that word means them."""


def selection_of(
    engine: Engine,
    streams: Sequence[Stream],
    filters: Mapping[str, Any],
    status: str | Sequence[str] | None,
    **more: Any,
) -> Selection:
    """What of these streams fits every filter and may be seen. ``status=None`` is every status."""
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
        equal["status"] = tuple(check_word("status", Status, _SAID_OF_A_WRITE.get(word, word)) for word in many)
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
    """Return the parts of a selection that say who wrote a memory, what it builds upon and who vouches for it."""
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
    """Return the forms under which a name may be stored: as it is given, and with each kind of principal."""
    return (name,) if kind_of(name) is not None else (name, *(principal(kind, name) for kind in KINDS))


def _hashes(name: str, value: Any) -> tuple[str, ...]:
    """Return the content hashes that a filter names, each as a hash or as a CID."""
    hashes = [(given, content_hash_in(given)) for given in check_names(name, _several(value))]
    for given, found in hashes:
        if found is None:
            hint = "Take `content_hash` from the memory, or the CID that `recollect entry cid` gives."
            raise BadInput(f"{given!r:.80} is no content hash and no CID.", field=name, hint=hint)
    return tuple(found for _, found in hashes if found is not None)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set | frozenset) else [value]


def _of_users(streams: Sequence[Stream], users: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return these people with the streams of theirs: whatever lies in a person's own space is theirs, named or not."""
    at = {stream.number: stream.address for stream in streams if stream.address is not None}
    return users, tuple(number for number, one in at.items() if one.space is Space.USER and one.owner in users)


def _equal(engine: Engine, name: str, value: Any) -> Any:
    if name == "pinned":
        if not isinstance(value, bool):
            raise BadInput("must be true or false.", field=name, hint="Leave it out for both.")
        return int(value)
    values = _several(value)
    if name in _ENUMS:
        return tuple(check_word(name, _ENUMS[name], one) for one in values)
    if name == "category":
        check_categories(engine, name, values)
    return tuple(check_names(name, values))


def check_categories(engine: Engine, field: str, asked: Sequence[str]) -> tuple[str, ...]:
    """Categories that a request names: all of them must be on the agent's list, or it is refused."""
    names, known = check_names(field, asked), engine.sight.categories
    closed = [name for name in names if known is not None and name not in known]
    if closed:
        hint = "The policy's agents.allowlists says what it may."
        raise NotAllowed(f"this agent may not know of the category {closed[0]!r}.", field=field, hint=hint)
    return tuple(names)


def whole_categories(engine: Engine) -> list[str]:
    """Return the categories with ``context: all`` that the agent may read."""
    known, categories = engine.sight.categories, engine.policy.categories
    whole = [one.name for one in (*categories.system, *categories.custom) if one.context == "all"]
    return [name for name in whole if known is None or name in known]


def _phase(given: Mapping[str, Any]) -> dict[str, Any]:
    """``current`` and ``any`` are no phase of their own."""
    asked = given.get("phase")
    if asked in (None, "current", "any"):
        return {}
    number = PHASE_ID.fullmatch(asked) if isinstance(asked, str) else None
    if number is None:
        raise BadInput("must be current, any, or one such as phase-2.", field="phase", hint="`phase list` shows them.")
    return {"phase": int(number[1])}


def _key(given: Mapping[str, Any]) -> tuple[tuple[str, str, str], ...]:
    """Everything of one key."""
    if "key" not in given:
        return ()
    check_name("key", check_sought("key", given["key"]))
    low, end = identities(identity(explicit_key(given["key"]).text))
    return ("key_identity", ">=", low), ("key_identity", "<", end)


def _bound(name: str, value: Any) -> Any:
    if name.startswith("importance"):
        return check_number(name, value, 1, 5)
    return check_moment(name, value)
