"""mem0: its export as JSON, the payloads of its vector store as JSON lines, the folder that it keeps on disk, or its table
in PostgreSQL.

In a folder, the payloads come from the local Qdrant collection and what happened to them from ``history.db``, which the
user may name beside any of the others. Such a ``history.db`` can also be read alone: then the last wording of each memory
is what it says now.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from recollect.formats.carried_fields import PLACE, SAID, parted, told, with_beyond
from recollect.formats.fields import each_element, each_line, id_of, mapping_of, named_after, text_of, without_empty
from recollect.formats.json_elements import parsed_record
from recollect.formats.mem0_history import versions
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, at_line, origin
from recollect.model.canonical import canonical_json, format_time
from recollect.model.errors import BadInput
from recollect.model.record import Memory

NAME = "mem0"
POINTS = {"folder": "qdrant_points", "database": "qdrant_points", "server": "pgvector_points"}
"""Where the vector store keeps its payloads, by the kind of source."""
CHANGES = "mem0_changes"
LISTS = ("results", "memories", "points", "result")
SPEAKERS = {"assistant": "agent", "tool": "tool"}
"""Who speaks, where that is known. What has the role of a user may be a model's summary of what they said: an import."""
OWN = frozenset(
    "id data memory hash created_at updated_at user_id agent_id run_id actor_id role text_lemmatized score".split()
)
"""What mem0 itself puts beside a memory; the rest of a payload is the user's own metadata."""
BEYOND = tuple(name for name in (*PLACE, *SAID, "importance") if name != "owner")
"""What a memory of ours says under ``metadata.recollect``; the owner is mem0's user."""
MAX_HISTORY = 20
"""How many changes of one memory are carried along, the latest."""
MAX_HISTORY_CHARACTERS = 2**27
"""How much of all of them is held at once, until their memories come by; half a million changes of usual length."""
Changes = Mapping[str, list[dict[str, Any]]]


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Every memory behind its earlier wordings, if its history is there; then what was deleted."""
    alone = _is_history_alone(source)
    found = _last_wordings(source) if alone else chain(_memories(source), _deleted(source))
    return _numbered(found, _changes(source))


def _is_history_alone(source: Source) -> bool:
    """Whether a database, or a folder of them, tells of memories by their history only. One that tells of none is refused."""
    if source.kind not in ("folder", "database") or source.has_table_for(POINTS[source.kind]):
        return False
    if source.has_table_for(CHANGES):
        return True
    raise BadInput(
        "holds nothing of mem0's: expected a database with the table `points` or `history`.",
        field=source.name,
        hint="Name mem0's folder (the one with Qdrant's `collection`), its history.db, or an export.",
    )


def _numbered(found: Iterable[Foreign], changes: Changes) -> Iterator[Foreign]:
    """Records are counted as the versions that they become: a memory that was changed twice is three."""
    number = 0
    for record in found:
        for version in versions(record, changes.get(record.id or "", ())):
            number += 1
            yield replace(version, number=number)


def _memories(source: Source) -> Iterator[Foreign]:
    if source.kind in POINTS:
        return _points(source, POINTS[source.kind])
    if source.kind == "json" or _is_one_document(source):
        return each_element(source, LISTS, _foreign)
    return each_line(source, source.lines(), _foreign)


def _is_one_document(source: Source) -> bool:
    """Whether the first line holds the whole list."""
    first = next(source.lines(), None)
    value = parsed_record(first.text, at_line(source.name, first.number)) if first is not None else None
    return isinstance(value, list) or (isinstance(value, dict) and any(isinstance(value.get(n), list) for n in LISTS))


def _points(source: Source, query: str) -> Iterator[Foreign]:
    for number, point in enumerate(source.rows(query), start=1):
        place = f"point {number}"
        yield Foreign(number, place, refused=point["problem"]) if "problem" in point else _foreign(number, place, point)


def _deleted(source: Source) -> Iterator[Foreign]:
    for row in source.rows("mem0_deleted"):
        yield Foreign(0, "history.db", id=id_of(row["memory_id"]), skipped="was deleted")


def _last_wordings(source: Source) -> Iterator[Foreign]:
    """A history alone: the last wording of each memory."""
    for number, row in enumerate(source.rows("mem0_last"), start=1):
        place = f"row {number}"
        if row["event"] == "DELETE" or row["is_deleted"]:
            yield Foreign(number, place, id=id_of(row["memory_id"]), skipped="was deleted")
        else:
            yield _foreign(number, place, {**row, "id": row["memory_id"], "memory": row["new_memory"]})


def _changes(source: Source) -> Changes:
    """What happened to the memories that were changed after they were made."""
    found: dict[str, list[dict[str, Any]]] = {}
    size = 0
    for row in source.rows(CHANGES):
        kept = found.setdefault(str(row["memory_id"]), [])
        kept.append(without_empty(row))
        size += _size(kept[-1]) - sum(map(_size, kept[:-MAX_HISTORY]))
        del kept[:-MAX_HISTORY]
        if size > MAX_HISTORY_CHARACTERS:
            raise BadInput(
                f"its history has more than {MAX_HISTORY_CHARACTERS:,} characters.",
                field=source.name,
                hint="Import the memories without it: as the document that get_all gives, or as payloads.",
            )
    return found


def _size(change: Mapping[str, Any]) -> int:
    return sum(len(str(value)) for value in change.values())


def _foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    """A record of an export, or a point with its payload."""
    payload = record.get("payload")
    values = {**payload, "id": record.get("id")} if isinstance(payload, dict) else record
    said = text_of(values.get("memory")) or text_of(values.get("data")) or text_of(values.get("text"))
    if said is None:
        return Foreign(number, place, refused="has no memory")
    id = id_of(values.get("id"))
    came = origin(NAME, values, "id", "hash", "created_at", "updated_at")
    beyond, metadata = parted(_own_metadata(values), *BEYOND)
    came |= without_empty({"metadata": metadata})
    names = {name: text_of(values.get(name)) for name in ("user_id", "agent_id", "run_id", "actor_id", "role")}
    fields = {
        "content": said,
        "owner": names["user_id"],
        **names,
        **beyond,
        "source": SPEAKERS.get(str(names["role"]), "import"),
        "meta": {ORIGIN: came},
        **named_after(id),
    }
    return Foreign(number, place, without_empty(fields), id)


def _own_metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the user of mem0 said about a memory: its export has it apart, its payloads beside the rest."""
    if isinstance(values.get("metadata"), dict):
        return dict(values["metadata"])
    if "data" not in values:
        return {}
    return {name: value for name, value in values.items() if name not in OWN and name != "payload"}


def write(memories: Iterable[Memory]) -> Iterator[str]:
    """The document that ``get_all`` gives."""
    yield '{"results": ['
    for number, memory in enumerate(memories):
        yield (",\n" if number else "\n") + canonical_json(_result(memory))
    yield "\n]}\n"


def _result(memory: Memory) -> dict[str, Any]:
    came = memory.meta.get(ORIGIN)
    before = came if isinstance(came, dict) and came.get("format") == NAME else {}
    return {
        "id": before.get("id") or memory.id,
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "metadata": with_beyond(mapping_of(before.get("metadata")), told(memory, *BEYOND)) or None,
        "created_at": before.get("created_at") or format_time(memory.created_at),
        "updated_at": before.get("updated_at") or format_time(memory.last_modified),
        "user_id": memory.owner,
        **without_empty({name: getattr(memory, name) for name in ("agent_id", "run_id", "actor_id", "role")}),
    }


FORMAT = Format(
    NAME,
    "mem0: export JSON, payloads as JSON lines, its folder, its PostgreSQL table, or its history.db",
    read,
    write,
    table=NAME,
    history=CHANGES,
)
