"""Grant authority by who the caller is, never by what a request or a file claims for itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from recollect.model.caller import Caller, Right
from recollect.model.policy_governance import Path
from recollect.model.vocabulary import SOURCE_WORDS, Authority, EventType, Source, Space, Tier


def grant_authority(
    source: Source, caller: Caller, stated: Authority | None, verifying_tools: tuple[str, ...], tool: str | None = None
) -> tuple[Authority, str]:
    """Return the authority of a memory and the reason for it.

    Only a trusted in-process caller may state an authority. Otherwise a person's words are ``user_asserted``, the
    operator's ``system_imposed``, a model's ``ai_inferred``, and a tool's ``tool_verified`` if the policy names that
    tool as verifying, else ``ai_inferred``. An agent speaks for a person, or for the ``tool`` that it names, only with
    the right to relay.
    """
    if stated is not None and caller.trusted:
        return stated, "stated_by_trusted_caller"
    if source in (Source.SYSTEM, Source.OPERATOR):
        return Authority.SYSTEM_IMPOSED, f"source:{source}"
    if source is Source.TOOL and (
        caller.agent in verifying_tools or (tool in verifying_tools and caller.may(Right.RELAY))
    ):
        return Authority.TOOL_VERIFIED, "verifying_tool"
    if source is Source.USER and speaks_for_a_person(caller):
        return Authority.USER_ASSERTED, "source:user"
    return Authority.AI_INFERRED, f"source:{source}"


def rank(authority: Authority, order: Sequence[Authority]) -> int:
    """Return the position of an authority in the policy's order: 0 is the highest."""
    return order.index(authority)


def outranks(one: Authority, other: Authority, order: Sequence[Authority]) -> bool:
    """Return whether ``one`` is above ``other`` in the policy's order."""
    return rank(one, order) < rank(other, order)


def speaks_for_a_person(caller: Caller) -> bool:
    """Return whether words given as a person's count as that person's: an agent needs the right to relay."""
    if caller.trusted:
        return True
    return caller.user is not None and (not caller.is_an_agent or caller.may(Right.RELAY))


CLAIMED = "claimed"
"""The key in ``meta`` of what a file claims about its own records."""
DEFAULT_OWNER = "default"
"""The owner of a memory if none is named."""
PLACE, WEIGHT = "place", "weight"
BELIEVABLE: Mapping[str, str] = {
    PLACE: "owner and space",
    WEIGHT: "authority, source, canon, pins and the highest importance",
}
"""What an import may be asked to believe of a file."""
_OF_PLACE = frozenset(("owner", "space", "user_id"))
_OF_WEIGHT = frozenset(("authority", "authority_reason", "source", "tier", "pinned", "importance"))
HIGHEST_IMPORTANCE = 4
"""The highest importance that a file may give its records. Five is for canon, and for callers here."""
_MODEST = frozenset({Source.AGENT, Source.IMPORT, Source.TEST_SUITE})
"""Sources with no more authority than an import."""


def belief_in(field: str) -> str | None:
    """Return what an import has to believe for a claim of this field to be granted; ``None`` if nothing grants it."""
    return PLACE if field in _OF_PLACE else WEIGHT if field in _OF_WEIGHT else None


def granted_fields(
    fields: Mapping[str, Any], options: Mapping[str, Any], place: Mapping[str, str], believed: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a record as an import takes them, and what the record claims beyond that.

    ``options`` are the fields given with the command, which always win; ``place`` is the owner and space that records
    go to, unless the file is ``believed`` about its place.

    >>> granted_fields({"content": "x", "owner": "ana", "pinned": True}, {}, {"owner": "default", "space": "user"})
    ({'content': 'x', 'owner': 'default', 'space': 'user'}, {'owner': 'ana', 'pinned': True})
    """
    granted, place = dict(fields), {name: options.get(name, value) for name, value in place.items()}
    claims = {name: fields[name] for name in options if fields.get(name) not in (None, options[name])}
    if PLACE not in believed:
        claims |= {name: fields[name] for name in place if fields.get(name) not in (None, place[name])}
        granted |= place
        user = fields.get("user_id")
        if user is not None and place["space"] == Space.USER and user != place["owner"]:
            claims["user_id"] = granted.pop("user_id")
    if WEIGHT not in believed:
        for name, allowed in _lowered_fields(fields):
            if name in options:
                continue
            claims[name] = granted.pop(name)
            if allowed is not None:
                granted[name] = allowed
    return {**granted, **options}, claims


def _lowered_fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each field that claims weight, with its value without the claim; ``None`` if it has none."""
    if fields.get("authority") not in (None, Authority.AI_INFERRED):
        yield "authority", None
    if fields.get("authority_reason") is not None:
        yield "authority_reason", None
    source = fields.get("source")
    if source is not None and SOURCE_WORDS.get(str(source), source) not in _MODEST:
        yield "source", str(Source.IMPORT)
    if fields.get("tier") == Tier.CANON:
        yield "tier", None
    if fields.get("pinned"):
        yield "pinned", None
    importance = fields.get("importance")
    if isinstance(importance, int) and importance > HIGHEST_IMPORTANCE:
        yield "importance", HIGHEST_IMPORTANCE


def with_claims(fields: Mapping[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with the claims in ``meta``, added to the claims of the record's origin."""
    if not claims:
        return dict(fields)
    meta = fields.get("meta") or {}
    earlier = meta.get(CLAIMED)
    before = earlier if isinstance(earlier, Mapping) else {}
    return {**fields, "meta": {**meta, CLAIMED: {**before, **claims}}}


ALLOWED = "promotion:allowed"


def promotion_refusal(
    path: Path | None, authority: Authority, event_type: EventType, order: tuple[Authority, ...]
) -> str | None:
    """Return the code with which the border refuses a promotion, or ``None``.

    A path that the policy does not list is closed. Otherwise the memory needs the authority that the path requires, and
    a type that it admits; for the types in ``or_event_types`` a person's own word is enough.
    """
    if path is None:
        return "promotion:path_closed"
    if path.event_types is not None and event_type not in path.event_types:
        return "promotion:event_type_not_allowed"
    needed = Authority.USER_ASSERTED if event_type in path.or_event_types else path.authority
    return "promotion:authority_too_low" if outranks(needed, authority, order) else None
