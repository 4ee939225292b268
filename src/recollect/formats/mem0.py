"""mem0: its export as JSON, the payloads of its vector store as JSON lines, or the folder that it keeps on disk.

In a folder, the payloads come from the local Qdrant collection and what happened to them from ``history.db``. Such a
``history.db`` can also be read alone: then the last wording of each memory is taken.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.fields import each_element, each_line, id_of, named_after, text_of, without_empty
from recollect.formats.json_elements import parsed
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source, origin
from recollect.model.canonical import canonical_json, format_time
from recollect.model.record import Memory

NAME = "mem0"
LISTS = ("results", "memories", "points", "result")
SPEAKERS = {"assistant": "agent", "tool": "tool"}
"""Who speaks, where that is known. What has the role of a user may be a model's summary of what they said: an import."""
OWN = frozenset(
    "id data memory hash created_at updated_at user_id agent_id run_id actor_id role text_lemmatized score".split()
)
"""What mem0 itself puts beside a memory; the rest of a payload is the user's own metadata."""
MAX_HISTORY = 20
"""How many changes of one memory are carried along, the latest."""
Changes = Mapping[str, list[dict[str, Any]]]


def read(source: Source, options: Options) -> Iterator[Foreign]:
    if source.kind == "folder":
        return _of_folder(source)
    if source.kind == "database":
        return _of_history(source)
    if source.kind == "json" or _is_one_document(source):
        return each_element(source, LISTS, _foreign)
    return each_line(source, source.lines(), _foreign)


def _is_one_document(source: Source) -> bool:
    """Whether the first line holds the whole list."""
    first = next(source.lines(), None)
    value = parsed(first.text, f"{source.name}, line {first.number}") if first is not None else None
    return isinstance(value, list) or (isinstance(value, dict) and any(isinstance(value.get(n), list) for n in LISTS))


def _of_folder(source: Source) -> Iterator[Foreign]:
    changes = _changes(source)
    count = 0
    for number, point in enumerate(source.rows("qdrant_points"), start=1):
        count = number
        if "problem" in point:
            yield Foreign(number, f"point {number}", refused=point["problem"])
        else:
            yield _foreign(number, f"point {number}", point, changes)
    for number, row in enumerate(source.rows("mem0_deleted"), start=count + 1):
        yield Foreign(number, "history.db", id=id_of(row["memory_id"]), skipped="was deleted")


def _changes(source: Source) -> Changes:
    """What happened to the memories that were changed after they were made."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in source.rows("mem0_changes"):
        kept = found.setdefault(str(row["memory_id"]), [])
        kept.append(without_empty({name: row[name] for name in ("event", "old_memory", "new_memory", "updated_at")}))
        del kept[:-MAX_HISTORY]
    return found


def _of_history(source: Source) -> Iterator[Foreign]:
    changes = _changes(source)
    for number, row in enumerate(source.rows("mem0_last"), start=1):
        place = f"row {number}"
        if row["event"] == "DELETE" or row["is_deleted"]:
            yield Foreign(number, place, id=id_of(row["memory_id"]), skipped="was deleted")
        else:
            yield _foreign(number, place, {**row, "id": row["memory_id"], "memory": row["new_memory"]}, changes)


def _foreign(number: int, place: str, record: Mapping[str, Any], changes: Changes | None = None) -> Foreign:
    """A record of an export, or a point with its payload."""
    payload = record.get("payload")
    values = {**payload, "id": record.get("id")} if isinstance(payload, dict) else record
    said = text_of(values.get("memory")) or text_of(values.get("data")) or text_of(values.get("text"))
    if said is None:
        return Foreign(number, place, refused="has no memory")
    id = id_of(values.get("id"))
    came = origin(NAME, values, "id", "hash", "created_at", "updated_at")
    came |= without_empty({"metadata": _own_metadata(values), "history": (changes or {}).get(str(id))})
    names = {name: text_of(values.get(name)) for name in ("user_id", "agent_id", "run_id", "actor_id", "role")}
    fields = {
        "content": said,
        "owner": names["user_id"],
        **names,
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
        "metadata": before.get("metadata"),
        "created_at": before.get("created_at") or format_time(memory.created_at),
        "updated_at": before.get("updated_at") or format_time(memory.last_modified),
        "user_id": memory.owner,
        **without_empty({name: getattr(memory, name) for name in ("agent_id", "run_id", "actor_id", "role")}),
    }


FORMAT = Format(NAME, "mem0: export JSON, payloads as JSON lines, its folder, or its history.db", read, write)
