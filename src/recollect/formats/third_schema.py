"""Records of the third memory schema, read in the order in which the best of each title becomes the active one."""

from collections.abc import Iterator, Mapping
from typing import Any

from recollect.formats.fields import each_line, id_of, objects_in, text_of
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.formats.schema_v3 import candidate_fields, in_order
from recollect.rules.text import sha256_hex

NAME = "v3"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Read twice: once to see in which order, of which little has to be remembered, and once to take them in."""
    seen = (_brief(line.number, value) for line, value in objects_in(source, source.lines()))
    return each_line(source, source.lines_at(one["number"] for one in in_order(seen)), _foreign)


def _brief(number: int, record: Any) -> dict[str, Any]:
    """What the order depends on, a digest in place of the words."""
    if not isinstance(record, dict):
        return {"number": number, "content": ""}
    said = str(record.get("content") or "").strip()
    kept = {name: record.get(name) for name in ("importance", "created_at", "timestamp", "title")}
    title = _object(record.get("custom_metadata")).get("title")
    return {
        **kept,
        "custom_metadata": {"title": title},
        "content": sha256_hex(said.encode("utf-8", "replace").decode()),
        "number": number,
    }


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    if record.get("custom_metadata") is not None and not isinstance(record["custom_metadata"], dict):
        return Foreign(number, place, refused="custom_metadata is not an object")
    fields = candidate_fields(record)
    fields["meta"] = {ORIGIN: {"format": NAME, **fields["meta"][ORIGIN]}}
    return Foreign(number, place, fields, id_of(record.get("id")))


FORMAT = Format(NAME, "records of the third memory schema, JSON lines", read)
