"""LangGraph's SqliteStore and PostgresStore: items under a namespace and a key, each with a JSON value."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.fields import in_utc, said_at, text_of, without_empty
from recollect.formats.json_elements import parsed
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput

NAME = "langgraph"
WORDS = ("text", "content", "memory", "data", "value")
"""Where items usually keep what they say, in the order in which it is looked for."""
MAX_DEPTH = 4
ITEMS = "langgraph_items"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    if not source.has_table_for(ITEMS):
        raise BadInput(
            "is not a LangGraph store: expected an SQLite database with the table `store`.",
            field=source.name,
            hint="Name the file that SqliteStore writes, or the postgresql:// URL of a PostgresStore.",
        )
    for number, row in enumerate(source.rows(ITEMS), start=1):
        yield _foreign(number, f"item {number}", row)


def _foreign(number: int, place: str, row: Mapping[str, Any]) -> Foreign:
    namespace, key = str(row["prefix"]), str(row["key"])
    if row["value"] is None:
        return Foreign(number, place, refused="its value is missing, or far too long")
    try:
        value = parsed(_as_text(row["value"]), place)
    except BadInput as error:
        return Foreign(number, place, refused=f"its value {error.message.rstrip('.')}")
    said = words_of(value)
    if said is None:
        return Foreign(number, place, refused="its value is empty")
    labels = [label for label in namespace.split(".") if label]
    came = {**origin(NAME, row, "key", "created_at", "updated_at", "expires_at"), "namespace": namespace}
    fields = {
        "content": said,
        "owner": labels[-1] if labels else None,
        "tags": [_tag(label) for label in labels[:-1]],
        "source": "import",
        **said_at(row.get("updated_at"), row.get("created_at")),
        "expires_at": in_utc(row.get("expires_at")),
        "meta": {ORIGIN: came | ({"value": value} if said != value else {})},
    }
    return Foreign(number, place, without_empty(fields), f"{namespace}/{key}")


def words_of(value: Any, depth: int = 0) -> str | None:
    """What an item says: the text under one of the usual names, or else the whole value as JSON."""
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name in WORDS:
            said = words_of(value[name], depth + 1) if isinstance(value.get(name), str | dict) else None
            if said is not None:
                return said
    return canonical_json(value) if depth == 0 and value not in (None, {}, []) else None


def _as_text(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def _tag(label: str) -> str:
    return re.sub(r"\s+", " ", label)


FORMAT = Format(NAME, "LangGraph's SqliteStore, or its PostgresStore by a postgresql:// URL", read, table="store")
