"""What the texts of versions and amendments say. One that cannot be read is damage, which is a value and no exception: a
reader goes on without it, and whoever asked is told which memory it is."""

import json
import re
from collections.abc import Mapping
from typing import Any

from recollect.model.vocabulary import EventType, Kind, Layer, Namespace, Source, Space


def body_from(text: str | None) -> tuple[dict[str, Any] | None, bool]:
    """The body of a version from its text, ``None`` once removed; and whether it is one that was ever written."""
    if text is None:
        return None, True
    try:
        body = json.loads(text) if isinstance(text, str) else None
        return (body, True) if _is_whole(body) else (None, False)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None, False


def values_from(text: str) -> dict[str, Any] | None:
    """The values of an amendment from its text; ``None`` if they cannot be read."""
    try:
        values = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


_TEXTS = """
    authority canonical_key content content_hash created_at event_type fingerprint kind layer namespace owner scope source space
    sublayer
""".split()
_CHOICES = {
    "namespace": Namespace,
    "space": Space,
    "kind": Kind,
    "event_type": EventType,
    "layer": Layer,
    "source": Source,
}
_WORDS = {name: frozenset(map(str, words)) for name, words in _CHOICES.items()}
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{6}Z")


def _is_whole(body: Mapping[str, Any]) -> bool:
    """Whether a body has what every body has. What it says may still be altered: ``verify`` tells that."""
    return (
        all(type(body[name]) is str for name in _TEXTS)
        and all(body[name] in words for name, words in _WORDS.items())
        and TIME.fullmatch(body["created_at"]) is not None
        and type(body["tick"]) is int
        and type(body.get("meta", {})) is dict
        and type(body["decisions"]) is list
        and {"id", "name"} <= body["author"].keys()
    )
