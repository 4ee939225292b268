"""What a record from elsewhere says of its own standing: whose memory it is, and how much it weighs.

A file can say anything. So what it says of its own standing is a claim, kept in ``meta.claimed``, and grants nothing. The
command's own options decide where records go; the person who imports may say that the file is to be believed; and the store
may trust a signature.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from recollect.model.vocabulary import SOURCE_WORDS, Authority, Source, Space, Tier

CLAIMED = "claimed"
"""Where ``meta`` keeps what a file says of its own standing."""
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
        if _is_anothers(fields.get("user_id"), place):
            claims["user_id"] = granted.pop("user_id")
    if WEIGHT not in believed:
        for name, allowed in _lowered(fields):
            if name in options:
                continue
            claims[name] = granted.pop(name)
            if allowed is not None:
                granted[name] = allowed
    return {**granted, **options}, claims


def _is_anothers(user: Any, place: Mapping[str, str]) -> bool:
    """Whether a record names another person than the one whose memory it goes to."""
    return user is not None and place["space"] == Space.USER and user != place["owner"]


def _lowered(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
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
