"""What tells entries apart, and the keys of those that have no name of their own here."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.record import ENTRY_ORIGIN

_DRAWN = re.compile(r"Entry-Version-[0-9a-f]{12}", re.IGNORECASE)
Identity = tuple[str, str, str]
"""What makes two entries the same: words, author and time."""


def identity_of(entry: Mapping[str, Any]) -> Identity:
    return entry["content_hash"], entry["author"]["id"], entry["timestamp"]


def version_key(content_hash: str) -> str:
    """A key for an entry that has no name, and for its later versions. It outlives the first, so it holds no part of its hash.

    It is told to nobody: whoever takes the versions in again draws it anew.
    """
    return f"Entry-Version-{hashlib.sha256(content_hash.encode()).hexdigest()[:12]}"


def is_drawn(key: str) -> bool:
    """Whether a key is one of these: no name, and told to nobody."""
    return _DRAWN.fullmatch(key) is not None


def kept_apart(entry: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an entry that is kept for the record, under a key that nothing else has: it meets no other memory.

    Its own name is kept with where it came from, and told again.
    """
    identity = canonical_json(identity_of(entry))
    origin = {**fields["meta"][ENTRY_ORIGIN], **{name: fields[name] for name in ("canonical_key",) if name in fields}}
    others = {name: value for name, value in fields.items() if name != "change"}
    return {**others, "canonical_key": version_key(identity), "meta": {**fields["meta"], ENTRY_ORIGIN: origin}}
