"""What the texts of versions and amendments say. One that cannot be read is damage, which is a value and no exception: a
reader goes on without it, and whoever asked is told which memory it is."""

import json
import re
from collections.abc import Mapping
from typing import Any

from recollect.model.fields import REQUIRED


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


_CHOICES = tuple(field for field in REQUIRED if field.words and field.name != "authority")
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{6}Z")


def _is_whole(body: Mapping[str, Any]) -> bool:
    """Whether a body has what every body has. What it says may still be altered: ``verify`` tells that."""
    return (
        all(type(body[field.name]) is str for field in REQUIRED)
        and all(body[field.name] in field.words for field in _CHOICES)
        and TIME.fullmatch(body["created_at"]) is not None
        and type(body["tick"]) is int
        and type(body.get("meta", {})) is dict
        and type(body["decisions"]) is list
        and {"id", "name"} <= body["author"].keys()
    )
