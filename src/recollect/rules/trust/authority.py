"""Grant authority by who the caller is, never by what a request or a file claims for itself."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from recollect.model.caller import Caller, Right
from recollect.model.policy_governance import Path
from recollect.model.vocabulary import SOURCE_WORDS, Authority, EventType, Source, Space, Tier


def grant_authority(
    source: Source, caller: Caller, stated: Authority | None, verifying_tools: tuple[str, ...], tool: str | None = None
) -> tuple[Authority, str]:
    """The authority of a memory and the reason for it.

    Only a trusted in-process caller may state an authority. Otherwise a person's words are ``user_asserted``, the
    operator's ``system_imposed``, a model's ``ai_inferred``, and a tool's ``tool_verified`` if policy names that tool
    as verifying, else ``ai_inferred``. An agent that says it speaks for a person, or for the ``tool`` that it names, is
    believed only with the right to.
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
    """How far from the top it stands in the policy's order: 0 is believed most."""
    return order.index(authority)


def outranks(one: Authority, other: Authority, order: Sequence[Authority]) -> bool:
    """Whether ``one`` stands above ``other`` in the policy's order."""
    return rank(one, order) < rank(other, order)


def speaks_for_a_person(caller: Caller) -> bool:
    """Whether words that are given as a person's are that person's: an agent needs the right to pass them on."""
    if caller.trusted:
        return True
    return caller.user is not None and (not caller.is_an_agent or caller.may(Right.RELAY))


CLAIMED = "claimed"
"""Where ``meta`` keeps what a file says of its own standing."""
DEFAULT_OWNER = "default"
"""Whose memory it is where nobody is named."""
PLACE, WEIGHT = "place", "weight"
BELIEVABLE: Mapping[str, str] = {
    PLACE: "owner and space",
    WEIGHT: "authority, source, canon, pins and the highest importance",
}
"""What an import may be told to believe of a file."""
HIGHEST_IMPORTANCE = 4
"""How important a file may call its records. Five is for canon, and for what somebody here says."""
_MODEST = frozenset({Source.AGENT, Source.IMPORT, Source.TEST_SUITE})
"""Sources that are believed no more than an import is."""


def granted_fields(
    fields: Mapping[str, Any], options: Mapping[str, Any], place: Mapping[str, str], believed: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a record as an import takes them, and what the record claims beyond that.

    ``options`` are the fields that the command gives, which always win; ``place`` is the owner and the space that records
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
    """Yield each field that claims weight, with the value that it has without the claim; ``None`` if it has none."""
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
    """Return the fields with the claims in ``meta``, beside what was claimed where the record came from."""
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
