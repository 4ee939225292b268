"""mem0: its JSON export, the payloads of its vector store as JSON lines, its folder on disk, or its table in PostgreSQL.

In a folder, the payloads come from the local Qdrant collection and what happened to them from ``history.db``, which the
user may also name with any of the others. Such a ``history.db`` can be read alone: then the last wording of each memory
is what it says now. The entities and relations that a graph memory gives with the memories become parts of a graph, as
those of ``mcp-memory`` do.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from recollect.formats.decoding import parse_record
from recollect.formats.fields import (
    FIELDS,
    PLACE,
    SAID,
    WITH_IT,
    as_alias,
    as_created_at,
    carried_fields,
    carry_fields,
    drop_fields,
    id_of,
    keep_unknown,
    mapping_of,
    moment_of,
    read_each_line,
    read_element,
    split_carried,
    text_of,
    texts_of,
    without_empty,
)
from recollect.formats.protocol import ORIGIN, Foreign, Format, Source, at_line, origin
from recollect.model.canonical import canonical_json, format_time
from recollect.model.errors import BadInput
from recollect.model.record import Memory, name_fault
from recollect.rules import knowledge_graph as graph
from recollect.rules.identity.keys import fallback_key, read_key
from recollect.rules.language.text import fingerprint
from recollect.rules.statements import read_statement

# The history of a memory becomes its earlier versions.
# In mem0 a model rewrites memories, and a rewrite may be about something else. If the rules are sure what the last wording is
# about, only the wordings directly before it that are about the same become earlier versions, under the key of that concept;
# older ones are kept in its origin. Otherwise every wording becomes a version, under a key that nothing else has.
Change = Mapping[str, Any]
"""A row of mem0's history: the event, the old and the new words, and when."""


class Wording(NamedTuple):
    """What a memory said once, and since when."""

    text: str
    since: Any


def list_versions(last: Foreign, changes: Sequence[Change]) -> list[Foreign]:
    """Return a record with its earlier wordings before it, the oldest first, all under one name; alone if it has none."""
    said = last.fields.get("content")
    earlier = _find_earlier(changes, said) if isinstance(said, str) else []
    if not earlier or last.refused is not None or last.skipped is not None:
        return [last]
    about = _find_subject(str(said))
    alike = list(takewhile(lambda one: about in (None, _find_subject(one.text)), reversed(earlier)))[::-1]
    others = earlier[: len(earlier) - len(alike)]
    chain = [_make_earlier(last, one, number) for number, one in enumerate(alike, start=1)]
    return _give_one_name([*chain, _keep_others(last, others)], about)


def _find_earlier(changes: Sequence[Change], said: str) -> list[Wording]:
    """Return the wordings before the present one, in order and without direct repetitions."""
    wordings = [Wording(one.get("new_memory", ""), one.get("updated_at") or one.get("created_at")) for one in changes]
    if changes:  # where the history does not go back to the beginning, its first change knows one wording more
        wordings.insert(0, Wording(changes[0].get("old_memory", ""), changes[0].get("created_at")))
    found = [
        next(same) for _, same in groupby(filter(lambda one: text_of(one.text), wordings), key=lambda one: one.text)
    ]
    return found[:-1] if found and found[-1].text == said else found


def _find_subject(text: str) -> str | None:
    """Return the key of what a wording is about; None where the reader knows neither the attribute nor the verb."""
    frames = read_statement(_replace_surrogates(text))
    sure = bool(frames) and (frames[0].single or frames[0].rule.startswith(("table:", "instruction")))
    key = read_key(frames) if sure else None
    return key.text if key else None


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates: they are refused later, and must not stop the reading here."""
    return text.encode("utf-8", "replace").decode()


def _make_earlier(last: Foreign, wording: Wording, number: int) -> Foreign:
    """Return an earlier wording with the fields of the last one, except its alias, which names the last one alone."""
    came_from = last.fields["meta"][ORIGIN]
    kept = without_empty({"format": came_from["format"], "id": came_from.get("id"), "since": wording.since})
    fields = drop_fields(last.fields, "aliases")
    fields |= {"content": wording.text, "meta": {ORIGIN: kept}, **as_created_at(wording.since)}
    place, id = f"{last.place}, wording {number}", f"{last.id}@{number}"
    return replace(last, place=place, fields=fields, id=id, earlier=True)


def _keep_others(last: Foreign, others: Sequence[Wording]) -> Foreign:
    """Keep in the origin what a memory said when it was about something else."""
    if not others:
        return last
    history = [without_empty({"memory": one.text, "since": one.since}) for one in others]
    meta = last.fields["meta"]
    return replace(last, fields={**last.fields, "meta": {**meta, ORIGIN: {**meta[ORIGIN], "history": history}}})


def _give_one_name(chain: list[Foreign], about: str | None) -> list[Foreign]:
    """Put a chain under one name, in which each updates the one before. Without a subject the first wording names it."""
    if len(chain) == 1:
        return chain
    chain = _order_times(chain)
    first_words = _replace_surrogates(chain[0].fields["content"])
    name = about or fallback_key(fingerprint(first_words), shared=False).text
    first, *later = (replace(one, fields={**one.fields, "canonical_key": name}) for one in chain)
    return [first, *(replace(one, fields={**one.fields, "change": "update"}) for one in later)]


def _order_times(chain: list[Foreign]) -> list[Foreign]:
    """Return the wordings with times that do not contradict their order: none is later than the one that replaced it."""
    ordered: list[Foreign] = []
    until: str | None = None
    for one in reversed(chain):
        at = one.fields.get("created_at")
        until = min(at, until) if at is not None and until is not None else at or until
        ordered.append(replace(one, fields={**one.fields, **({"created_at": until} if until is not None else {})}))
    return ordered[::-1]


NAME = "mem0"
POINTS = {"folder": "qdrant_points", "database": "qdrant_points", "server": "pgvector_points"}
"""Where the vector store keeps its payloads, by the kind of source."""
CHANGES = "mem0_changes"
LISTS = ("results", "memories", "points", "result")
GRAPH = ("entities", "relations")
"""The lists of a graph memory, in the same document."""
SPEAKERS = {"assistant": "agent", "tool": "tool"}
"""Who speaks, where that is known. What has the role of a user may be a model's summary of what they said: an import."""
OWN = frozenset(
    "id data memory hash created_at updated_at user_id agent_id run_id actor_id role text_lemmatized score".split()
)
"""The fields of a payload that are mem0's own; the others are the user's metadata."""
BEYOND = (
    *(name for name in (*PLACE, *SAID) if name != "owner"),
    *("importance", "kind", "event_type", "layer", "sublayer", "canonical_key", *WITH_IT),
)
"""What a memory of ours says under ``metadata.recollect``; the owner is mem0's user."""
EXPIRES = "expiration_date"
MAX_TAGS = 64
MAX_HISTORY = 20
"""How many of the latest changes of one memory are kept."""
MAX_HISTORY_CHARACTERS = 2**27
"""How many characters of changes are held until their memories are read: half a million changes of usual length."""


def read(source: Source) -> Iterator[Foreign]:
    """Return every memory after its earlier wordings, if its history is there; then the deleted ones.

    Records are counted as the versions that they become: a memory that was changed twice is three.
    """
    found = _read_last_wordings(source) if _is_history_alone(source) else _read_memories(source)
    changes = _read_changes(source)
    every = (version for record in found for version in list_versions(record, changes.get(record.id or "", ())))
    return (replace(version, number=number) for number, version in enumerate(every, start=1))


def _is_history_alone(source: Source) -> bool:
    """Return whether a database, or a folder of them, holds only the history; one without that either is refused."""
    if source.kind not in ("folder", "database") or source.has_table_for(POINTS[source.kind]):
        return False
    if source.has_table_for(CHANGES):
        return True
    raise BadInput(
        "holds nothing of mem0's: expected a database with the table `points` or `history`.",
        field=source.name,
        hint="Name mem0's folder (the one with Qdrant's `collection`), its history.db, or an export.",
    )


def _read_memories(source: Source) -> Iterator[Foreign]:
    if source.kind in POINTS:
        yield from _read_points(source, POINTS[source.kind])
    elif source.kind == "json" or _is_one_document(source):
        yield from _read_document(source)
    else:
        yield from read_each_line(source, source.lines(), _to_foreign)
    for row in source.rows("mem0_deleted"):
        yield Foreign(0, "history.db", id=id_of(row["memory_id"]), skipped="was deleted")


def _is_one_document(source: Source) -> bool:
    """Return whether the first line holds the whole list."""
    first = next(source.lines(), None)
    value = parse_record(first.text, at_line(source.name, first.number)) if first is not None else None
    if not isinstance(value, dict):
        return isinstance(value, list)
    return _find_words(value) is None and any(isinstance(value.get(name), list | dict) for name in (*LISTS, *GRAPH))


def _read_document(source: Source) -> Iterator[Foreign]:
    """Yield the memories of a document, and the parts of a graph that it may hold."""
    users: set[str] = set()
    for element in source.elements(*LISTS, *GRAPH):
        if element.member not in GRAPH:
            record = read_element(element, _to_foreign)
            users |= {record.fields["owner"]} if "owner" in record.fields and len(users) < 2 else set()
            yield record
            continue
        record = read_element(element, _read_relation if element.member == "relations" else _read_entity)
        # mem0 answers with them for one person's memories, and does not repeat whose they are
        whose = {"owner": next(iter(users))} if len(users) == 1 else {}
        yield replace(record, fields={**whose, **record.fields}) if record.fields else record


def _read_relation(number: int, place: str, value: Mapping[str, Any]) -> Foreign:
    start, end = text_of(value.get("source")), text_of(value.get("target")) or text_of(value.get("destination"))
    type = text_of(value.get("relationship")) or text_of(value.get("relation"))
    if start is None or end is None or type is None:
        return Foreign(number, place, refused="is no relation: expected source, relationship and target")
    known = ("source", "target", "destination", "relationship", "relation", "user_id", "score")
    return _make_graph_record(number, place, graph.relation_fields(graph.Relation(start, end, type)), value, known)


def _read_entity(number: int, place: str, value: Mapping[str, Any]) -> Foreign:
    name = text_of(value.get("name"))
    if name is None:
        return Foreign(number, place, refused="is no entity: it has no name")
    fields = graph.entity_fields(graph.Entity(name, text_of(value.get("type")) or ""))
    return _make_graph_record(number, place, fields, value, ("name", "type", "user_id", "score"))


def _make_graph_record(
    number: int, place: str, fields: Mapping[str, Any], value: Mapping[str, Any], known: tuple[str, ...]
) -> Foreign:
    meta, note = keep_unknown({**fields["meta"], ORIGIN: {"format": NAME}}, drop_fields(value, *known))
    whose = without_empty({"owner": text_of(value.get("user_id"))})
    return Foreign(number, place, {**fields, **whose, "source": "import", "meta": meta}, note=note)


def _read_points(source: Source, query: str) -> Iterator[Foreign]:
    for number, point in enumerate(source.rows(query), start=1):
        place = f"point {number}"
        yield (
            Foreign(number, place, refused=point["problem"])
            if "problem" in point
            else _to_foreign(number, place, point)
        )


def _read_last_wordings(source: Source) -> Iterator[Foreign]:
    """Yield the last wording of each memory, from a history without the memories."""
    for number, row in enumerate(source.rows("mem0_last"), start=1):
        place = f"row {number}"
        if row["event"] == "DELETE" or row["is_deleted"]:
            yield Foreign(number, place, id=id_of(row["memory_id"]), skipped="was deleted")
        else:
            yield _to_foreign(number, place, {**row, "id": row["memory_id"], "memory": row["new_memory"]})


def _read_changes(source: Source) -> dict[str, list[dict[str, Any]]]:
    """Return the changes of each memory that was changed after it was made, by its id."""
    found: dict[str, list[dict[str, Any]]] = {}
    size = 0
    for row in source.rows(CHANGES):
        kept = found.setdefault(str(row["memory_id"]), [])
        kept.append(without_empty(row))
        size += _count_characters(kept[-1]) - sum(map(_count_characters, kept[:-MAX_HISTORY]))
        del kept[:-MAX_HISTORY]
        if size > MAX_HISTORY_CHARACTERS:
            raise BadInput(
                f"its history has more than {MAX_HISTORY_CHARACTERS:,} characters.",
                field=source.name,
                hint="Import the memories without it: as the document that get_all gives, or as payloads.",
            )
    return found


def _count_characters(change: Mapping[str, Any]) -> int:
    return sum(len(str(value)) for value in change.values())


def _to_foreign(number: int, place: str, record: Mapping[str, Any]) -> Foreign:
    """Return a record of an export, or a point with its payload."""
    payload = record.get("payload")
    values = {**payload, "id": record.get("id")} if isinstance(payload, dict) else record
    said = _find_words(values)
    if said is None:
        return Foreign(number, place, refused="has no memory")
    id = id_of(values.get("id"))
    beyond, metadata = split_carried(_read_metadata(values), *BEYOND, "key", "meta")
    data = beyond.pop("meta", {})
    if not isinstance(data, dict):
        return Foreign(number, place, refused="metadata.recollect.meta is not an object")
    came_from = origin(NAME, values, "id", "hash", "created_at", "updated_at", earlier=data.get(ORIGIN))
    came_from |= without_empty({"metadata": metadata})
    meta, note = keep_unknown({**data, ORIGIN: came_from}, _find_other_fields(values))
    names = {name: text_of(values.get(name)) for name in ("user_id", "agent_id", "run_id", "actor_id", "role")}
    tags = [
        *texts_of(beyond.pop("tags", ())),
        *(one for one in texts_of(values.get("categories")) if name_fault(one) is None),
    ]
    fields = {
        "content": said,
        "owner": names["user_id"],
        **names,
        "tags": list(dict.fromkeys(tags))[:MAX_TAGS],
        "expires_at": _read_expiry(values.get(EXPIRES)),
        **beyond,
        "source": SPEAKERS.get(str(names["role"]), "import"),
        **as_created_at(values.get("updated_at"), values.get("created_at")),
        "meta": meta,
        **as_alias(id),
    }
    return Foreign(number, place, without_empty(fields), id, note=note)


def _find_words(values: Mapping[str, Any]) -> str | None:
    payload = values.get("payload")
    if isinstance(payload, dict):
        return _find_words(payload)
    return text_of(values.get("memory")) or text_of(values.get("data")) or text_of(values.get("text"))


def _find_other_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that are neither mem0's own nor the user's metadata, such as its categories."""
    if not isinstance(values.get("metadata"), dict) and "data" in values:
        return {}  # the payloads have it all in one, and it counts as metadata
    text = ("text",) if text_of(values.get("memory")) is None else ()
    return drop_fields(values, *OWN, "metadata", "payload", *text)


def _read_expiry(value: Any) -> str | None:
    """Return when a memory expires: mem0 shows it through its last day, in UTC, and for ever if it cannot read the date."""
    if text_of(value) is None:
        return None
    try:
        is_day = len(value) <= len("2030-01-31")
        moment = moment_of(date.fromisoformat(value) + timedelta(days=1) if is_day else value)
    except (ValueError, OverflowError):
        return None
    return format_time(moment) if moment is not None else None


def _read_metadata(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's metadata: an export has it under a name of its own, a payload among its other fields."""
    if isinstance(values.get("metadata"), dict):
        return dict(values["metadata"])
    if "data" not in values:
        return {}
    return drop_fields(values, *OWN, "payload")


def write(memories: Iterable[Memory]) -> Iterator[str]:
    """Yield the document that ``get_all`` gives."""
    yield '{"results": ['
    for number, memory in enumerate(memories):
        yield (",\n" if number else "\n") + canonical_json(_to_result(memory))
    yield "\n]}\n"


def _to_result(memory: Memory) -> dict[str, Any]:
    came_from = memory.meta.get(ORIGIN)
    before = came_from if isinstance(came_from, dict) and came_from.get("format") == NAME else {}
    last_day = None if memory.expires_at is None else (memory.expires_at - timedelta(microseconds=1)).date()
    return {
        **drop_fields(mapping_of(before.get(FIELDS)), *OWN, "metadata", "payload", EXPIRES),
        "id": before.get("id") or memory.id,
        "memory": memory.content,
        "hash": hashlib.md5(memory.content.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "metadata": carry_fields(mapping_of(before.get("metadata")), carried_fields(memory, BEYOND, NAME)) or None,
        "created_at": before.get("created_at") or format_time(memory.created_at),
        "updated_at": before.get("updated_at") or format_time(memory.last_modified),
        "user_id": memory.owner,
        **without_empty({name: getattr(memory, name) for name in ("agent_id", "run_id", "actor_id", "role")}),
        **({} if last_day is None else {EXPIRES: last_day.isoformat()}),
    }


FORMAT = Format(
    NAME,
    "mem0: export JSON, payloads as JSON lines, its folder, its PostgreSQL table, or its history.db",
    read,
    write,
    table=NAME,
    history=CHANGES,
)
