"""Governance items: the small view of a memory with everything else under ``meta``, one JSON object a line.

What an item has no field for, such as who may see it and who said it, travels under ``meta.recollect``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.carried_fields import parted, told, with_beyond
from recollect.formats.fields import each_line, id_of, text_of
from recollect.formats.kept_beside import beside, others
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.formats.records import was_named
from recollect.model.canonical import canonical_json
from recollect.model.fields import EXPORTED
from recollect.model.item import from_item, to_item
from recollect.model.record import Memory

NAME = "items"
_IN_AN_ITEM = frozenset("content kind event_type space owner authority authority_reason importance signature".split())
BEYOND = tuple(name for name in EXPORTED if name not in _IN_AN_ITEM)
"""What a memory has and an item has no word for."""
KNOWN = ("id", "kind", "text", "source", "created_at", "importance", "scope", "meta")


def read(source: Source, options: Options) -> Iterator[Foreign]:
    return each_line(source, source.lines(), _foreign)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (canonical_json(_item(memory)) + "\n" for memory in memories)


def _item(memory: Memory) -> dict[str, Any]:
    item = to_item(memory)
    said = told(memory, *BEYOND)
    if not was_named(memory.to_dict()):
        said.pop("canonical_key", None)
    if memory.expires_at_tick is not None:  # the item tells it, in ticks
        said.pop("expires_at", None)
    return {**item, "meta": with_beyond(item["meta"], said)}


def _foreign(number: int, place: str, item: Mapping[str, Any]) -> Foreign:
    if text_of(item.get("text")) is None:
        return Foreign(number, place, refused="has no text")
    if not isinstance(item.get("meta", {}), dict):
        return Foreign(number, place, refused="meta is not an object")
    beyond, meta = parted(item.get("meta", {}), *BEYOND)
    fields = {**from_item({**item, "meta": meta}), **beyond}
    meta = fields["meta"]
    came = origin(NAME, item, "id", "source", "created_at", earlier=meta.get(ORIGIN))
    if fields.get("source") == "import" or fields.get("source") == "promotion":
        came["source"] = fields["source"]
    meta, note = beside({**meta, ORIGIN: came}, others(item, *KNOWN))
    return Foreign(number, place, {**fields, "meta": meta}, id_of(item.get("id")), note=note)


FORMAT = Format(NAME, "governance items, JSON lines", read, write)
