"""Recollect's own records: what ``export`` writes, one canonical JSON object a line, newest first."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.entries import sound_vouchers
from recollect.formats.fields import each_line, id_of, mapping_of, named_after, said_at, text_of, texts_of
from recollect.formats.kept_beside import beside, others
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.model.fields import EXPORTED
from recollect.model.record import ENTRY_ORIGIN, Memory
from recollect.model.state import OF_THE_STORE
from recollect.rules.identity.keys import FALLBACK
from recollect.rules.language.text import sha256_hex

NAME = "recollect"
KNOWN = frozenset(Memory.__dataclass_fields__) - {"vouchers"}
"""What a memory has. Whatever else a record says is kept with where it came from. Who vouched for it there is carried as an
entry carries it, and a list of another shape is kept with the rest."""


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """The oldest first, which stands last: what came later there comes later here."""
    numbers = [line.number for line in source.lines()]
    return each_line(source, source.lines_at(reversed(numbers)), _foreign)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    return (memory.to_json() + "\n" for memory in memories)


def _foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    if text_of(record.get("content")) is None:
        return Foreign(number, place, refused="has no content")
    status = record.get("status", "active")
    if status != "active":
        return Foreign(number, place, skipped=f"is history: {status}")
    stated = record.get("content_hash")
    if stated is not None and not _has_hash(record["content"], stated):
        return Foreign(number, place, refused="its content does not have its content_hash: it was changed or damaged")
    fields = candidate_fields(record)
    if not isinstance(fields["meta"], dict):
        return Foreign(number, place, refused="meta is not an object")
    vouchers = sound_vouchers(record.get("vouchers"))
    meta, note = beside(fields["meta"], others(record, *KNOWN, *(["vouchers"] if vouchers else ())))
    if vouchers:
        meta = {**meta, ENTRY_ORIGIN: {**mapping_of(meta.get(ENTRY_ORIGIN)), "vouchers": vouchers}}
    return Foreign(number, place, {**fields, "meta": meta}, id_of(record.get("id")), note=note)


def _has_hash(content: str, stated: Any) -> bool:
    try:
        return bool(sha256_hex(content) == stated)
    except UnicodeEncodeError:
        return False


def candidate_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as ``add`` takes it."""
    fields = {name: record[name] for name in EXPORTED if record.get(name) is not None}
    meta = record.get("meta") or {}
    if not isinstance(meta, dict):
        return {**fields, "meta": meta}
    meta = {name: value for name, value in meta.items() if name not in OF_THE_STORE}
    if fields.get("kind") == "profile":
        fields["key"] = meta.pop("key", None)
    if not was_named(record):
        fields.pop("canonical_key", None)
    came = origin(NAME, record, "id", "source", "version", "created_at", earlier=meta.get(ORIGIN))
    aliases = [*named_after(id_of(record.get("id"))).get("aliases", ()), *texts_of(record.get("aliases"))]
    time = said_at(record.get("created_at"))
    return {**fields, **time, "aliases": aliases, "source": "import", "meta": {**meta, ORIGIN: came}}


def was_named(record: Mapping[str, Any]) -> bool:
    """Whether the key is a name to keep. One that stands for the place or the words of a memory is drawn anew here."""
    if record.get("kind") in ("profile", "short_term", "episodic") or record.get("tier") == "register":
        return False
    return not str(record.get("canonical_key")).startswith(f"{FALLBACK}-")


FORMAT = Format(NAME, "Recollect's own records, JSON lines", read, write)
