"""Convert LangGraph's items into memories and back. Nothing here reads or writes a store.

A namespace becomes the owner of a stream in the project space, so that namespaces do not wait for each other, have text
statistics of their own, and can be opened to a bound caller or erased by that name. The value becomes the memory's
content, as JSON. Its key becomes a canonical key by its digest: keys here tell upper from lower case and may be any text.
"""

import base64
import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from langgraph.store.base import Item, PutOp, SearchItem, get_text_at_path, tokenize_path

from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import BadInput
from recollect.model.record import MAX_CONTENT_BYTES, MAX_NAME, Memory
from recollect.rules.language.text import normalise, terms

Namespace = tuple[str, ...]

OWNER = "store:"
"""What the owners of namespaces begin with."""
KEY = "Store-Item-"
"""What the canonical keys of items begin with."""
KEY_DIGITS = 19
"""Base32 digits after it: 95 bits of the digest, and with them 30 characters, as long as a canonical key may be."""
TTL_TAG = "ttl-minutes:"
INDEX_TAG = "index:"
NO_INDEX = "index-none"
MAX_TTL_MINUTES = 60 * 24 * 366 * 100

_UNSTABLE = re.compile(r"[^\S ]|(?<= ) |[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What comparing texts would fold away, or a memory may not hold: odd blanks, blanks after a blank, control characters."""


class Stamped(NamedTuple):
    """An item with what LangGraph does not show of it: its memory, its lifetime, and the fields that a query looks at."""

    item: Item
    memory_id: str
    ttl_minutes: float | None
    expires_at: datetime | None
    indexed: tuple[str, ...] | None
    """Paths of the fields that a query looks at; ``None`` for all of them, empty for none."""


def owner_of(namespace: Sequence[str]) -> str:
    """Return the owner that stands for a namespace. No two namespaces share one: labels hold no period.

    >>> owner_of(("memories", "ana"))
    'store:memories.ana'
    """
    owner = OWNER + ".".join(_escape_label(label) for label in namespace)
    if len(owner) > MAX_NAME:
        raise BadInput(
            f"is {len(owner) - len(OWNER)} characters long; the limit is {MAX_NAME - len(OWNER)}.",
            field="namespace",
            hint="Use shorter labels, and keep long texts in the key or the value.",
        )
    return owner


def namespace_of(owner: str) -> Namespace:
    """Return the inverse of :func:`owner_of`."""
    return tuple(unquote(label, errors="surrogatepass") for label in owner.removeprefix(OWNER).split("."))


def _escape_label(label: str) -> str:
    """Return a label as it may stand in a name: what cannot be printed, and the escape sign itself, as ``%`` and two digits."""
    return "".join(c if c.isprintable() and c != "%" else quote(c, errors="surrogatepass") for c in label)


def canonical_key(scope: str, namespace: Sequence[str], key: str) -> str:
    """Return the canonical key of an item: the same for the same item, and never for two."""
    whole = json.dumps([scope, list(namespace), key])
    digits = base64.b32encode(hashlib.sha256(whole.encode("ascii")).digest()).decode("ascii")
    return KEY + digits[:KEY_DIGITS]


def to_text(value: Mapping[str, Any], key: str) -> str:
    """Return a value as JSON that comes back equal, or an error that says where it would not.

    Whatever the comparison of texts would fold (runs of blanks, accents written apart) is escaped, so that two values
    that differ at all have texts that differ to every rule.
    """
    _check(value, "value")
    text = _write_stable(value, readable=True)
    if normalise(text) != text:
        text = _write_stable(value, readable=False)
    size = len(text.encode("utf-8"))
    if size > MAX_CONTENT_BYTES:
        raise BadInput(
            f"is {size:,} bytes as JSON; an item may have {MAX_CONTENT_BYTES:,}.",
            field=f"value of {key!r:.80}",
            hint="Split it over several keys, or keep it elsewhere and put its address here.",
        )
    return text


def to_value(text: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(text)
    return value


def list_leaves(value: Any) -> list[str]:
    """Return the texts and numbers in a value, however deep."""
    if isinstance(value, Mapping):
        return [leaf for inner in value.values() for leaf in list_leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in list_leaves(inner)]
    return [str(value)] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def _check(value: Any, path: str) -> None:
    """Refuse what JSON would give back as something else: tuples, other types, other keys than text, NaN."""
    if isinstance(value, dict) or (path == "value" and isinstance(value, Mapping)):
        for name, inner in value.items():
            if type(name) is not str:
                raise BadInput(f"has the key {name!r:.80}, which is not text.", field=path, hint="Use text for keys.")
            _check(inner, f"{path}.{name:.40}")
    elif type(value) is list:
        for place, inner in enumerate(value):
            _check(inner, f"{path}[{place}]")
    elif type(value) not in (str, int, float, bool, type(None)):
        raise BadInput(
            f"is a {type(value).__name__}, which would not come back as it was.",
            field=path,
            hint="Use objects, lists, text, numbers, true, false and null.",
        )
    elif type(value) is float and not math.isfinite(value):
        raise BadInput("is not a finite number.", field=path, hint="JSON has no form for it; use null or text.")


def _write_stable(value: Mapping[str, Any], *, readable: bool) -> str:
    """Return JSON in which nothing is left to fold; unless ``readable``, with every letter beyond ASCII escaped."""
    text = json.dumps(dict(value), ensure_ascii=not readable, allow_nan=False, separators=(", ", ": "))
    return _UNSTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def to_candidate(put: PutOp, scope: str, now: datetime, created_at: datetime | None) -> dict[str, Any]:
    """Return what the engine is asked to remember for a put."""
    assert put.value is not None, "a put without a value is a deletion"
    key = json.dumps(put.key)
    if len(key) > 8_000:
        raise BadInput(f"is {len(put.key):,} characters long.", field="key", hint="Use a shorter key.")
    return {
        "content": to_text(put.value, put.key),
        "canonical_key": canonical_key(scope, put.namespace, put.key),
        "space": "project",
        "owner": owner_of(put.namespace),
        "scope": scope,
        "pinned": True,  # nothing that was put may be put away for not being read
        "change": "update",
        "tags": tags_of(put),
        "expires_at": compute_expiry(put.ttl, now),
        "meta": {"store_key": key, "store_created_at": format_time(created_at or now)},
    }


def tags_of(put: PutOp) -> list[str]:
    """Return an item's lifetime and index as tags, which can be changed while the value stays the same."""
    tags = [] if put.ttl is None else [f"{TTL_TAG}{float(put.ttl)!r}"]
    if put.index is False:
        return [*tags, NO_INDEX]
    return tags + [f"{INDEX_TAG}{path}" for path in put.index or ()]


def compute_expiry(ttl_minutes: float | None, now: datetime) -> datetime | None:
    """Return when an item that was touched now expires."""
    if ttl_minutes is None:
        return None
    if not 0 < ttl_minutes <= MAX_TTL_MINUTES:
        raise BadInput(f"must be above 0 and at most {MAX_TTL_MINUTES:,} minutes.", field="ttl")
    return datetime.fromtimestamp(now.timestamp() + ttl_minutes * 60, tz=now.tzinfo)


def from_memory(memory: Memory) -> Stamped:
    """Return the item that a memory holds."""
    created = memory.meta.get("store_created_at")
    item = Item(
        namespace=namespace_of(memory.owner),
        key=json.loads(memory.meta["store_key"]),
        value=to_value(memory.content),
        created_at=parse_time(created) if created else memory.created_at,
        updated_at=memory.created_at,
    )
    ttl = [float(tag.removeprefix(TTL_TAG)) for tag in memory.tags if tag.startswith(TTL_TAG)]
    return Stamped(item, memory.id, ttl[0] if ttl else None, memory.expires_at, _read_index(memory.tags))


def _read_index(tags: Sequence[str]) -> tuple[str, ...] | None:
    if NO_INDEX in tags:
        return ()
    return tuple(tag.removeprefix(INDEX_TAG) for tag in tags if tag.startswith(INDEX_TAG)) or None


def is_item(memory: Memory) -> bool:
    """Return whether a memory was put by a store: others may share its stream."""
    return memory.canonical_key.startswith(KEY) and "store_key" in memory.meta


def to_search_item(stamped: Stamped, score: float | None) -> SearchItem:
    item = stamped.item
    return SearchItem(item.namespace, item.key, item.value, item.created_at, item.updated_at, score)


def matches_query(stamped: Stamped, query: str) -> bool:
    """Return whether a query that matches an item's text does so in the fields that it is indexed by."""
    if stamped.indexed is None:
        return True
    wanted = set(terms(query))
    texts = (text for path in stamped.indexed for text in get_text_at_path(stamped.item.value, tokenize_path(path)))
    return any(wanted & set(terms(text)) for text in texts)
