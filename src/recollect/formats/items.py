"""Governance items: the small view of a memory with everything else under ``meta``, one JSON object a line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.fields import each_line, id_of, text_of
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.model.canonical import canonical_json
from recollect.model.item import from_item, to_item
from recollect.model.record import Memory

NAME = "items"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    return each_line(source, source.lines(), _foreign)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (canonical_json(to_item(memory)) + "\n" for memory in memories)


def _foreign(number: int, place: str, item: Mapping[str, Any]) -> Foreign:
    if text_of(item.get("text")) is None:
        return Foreign(number, place, refused="has no text")
    if not isinstance(item.get("meta", {}), dict):
        return Foreign(number, place, refused="meta is not an object")
    fields = from_item(item)
    meta = fields["meta"]
    came = origin(NAME, item, "id", "source", "created_at", earlier=meta.get(ORIGIN))
    if fields.get("source") == "import" or fields.get("source") == "promotion":
        came["source"] = fields["source"]
    return Foreign(number, place, {**fields, "meta": {**meta, ORIGIN: came}}, id_of(item.get("id")))


FORMAT = Format(NAME, "governance items, JSON lines", read, write)
