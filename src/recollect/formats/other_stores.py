"""Stores of other frameworks: Basic Memory's notes, the MCP reference server's graph, and LangGraph's items."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from recollect.formats.conversations import split_long_text
from recollect.formats.decoding import parse_json
from recollect.formats.fields import (
    FIELDS,
    as_created_at,
    as_utc,
    describe_refusal,
    drop_fields,
    keep_unknown,
    mapping_of,
    parse_lines,
    text_of,
    texts_of,
    without_empty,
)
from recollect.formats.protocol import ORIGIN, Document, Foreign, Format, Source, origin
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.record import Memory
from recollect.rules import knowledge_graph as graph

# Basic Memory: a folder of Markdown files, each with front matter, observations, relations and prose.
# ``- [category] words #tag (context)`` is an observation, which may leave out the category if it has a tag, and
# ``- type [[Other note]] (context)`` a relation, wherever they stand; every other paragraph is prose. Each becomes a memory that
# names its note, since alone it would not say what it is about.
NOTES_NAME = "basic-memory"
SUFFIX = ".md"
MAX_TAGS = 60
_OBSERVATION = re.compile(r"\[(?P<category>[^\[\]()]+)\]\s+(?P<text>\S.*)")
_RELATION = re.compile(r"(?P<type>[^\[\]]*)\[\[(?P<target>[^\[\]]+)\]\](?P<rest>.*)")
_BULLETS = ("- ", "* ")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s")
_TASK = re.compile(r"[xX]|[^\w]|\d{1,3}:\d\d(:\d\d)?([.,]\d{1,3})?( - \d.*)?")
"""What stands in the brackets of a task, or of a time in a transcript: neither is an observation."""
_DIRECTIVE = re.compile(r"\s#bm:links_to\s*$")
"""Says how a link is to be counted, and nothing about the matter."""


class _Part(NamedTuple):
    """Something that a note says, from a line on."""

    line: int
    fields: dict[str, Any]
    piece: int = 1


def read_notes(source: Source) -> Iterator[Foreign]:
    number = count(1)
    for document in source.documents(SUFFIX):
        path = document.path
        if document.problem:
            yield Foreign(next(number), path, refused=document.problem)
            continue
        said = [*_split_note(document.text, _About.of(document), document.first_line)]
        for part in said:
            yield Foreign(next(number), f"{path}, line {part.line}", part.fields, f"{path}#{part.line}.{part.piece}")
        if not said:
            yield Foreign(next(number), path, skipped="has no text")


@dataclass(frozen=True, slots=True)
class _About:
    """What a note is called and where it is."""

    title: str
    type: str
    tags: list[str]
    origin: dict[str, Any]

    @classmethod
    def of(cls, document: Document) -> "_About":
        front = document.front
        title = text_of(front.get("title")) or document.path.rsplit("/", 1)[-1].removesuffix(SUFFIX)
        kept = {name: front.get(name) for name in ("title", "type", "permalink", "created", "modified")}
        others = {name: value for name, value in front.items() if name not in kept and name != "tags"}
        came_from = without_empty({"format": NOTES_NAME, "note": document.path, **kept, "front_matter": others})
        return cls(title, text_of(front.get("type")) or "note", _read_tags(front.get("tags")), came_from)

    def memory(self, text: str, **more: Any) -> dict[str, Any]:
        content = text if self.title.lower() in text.lower() else f"{self.title}: {text}"
        tags = list(dict.fromkeys([*self.tags, *more.pop("tags", [])]))[:MAX_TAGS]
        came_from = {**self.origin, **more.pop("origin", {})}
        time = as_created_at(self.origin.get("modified"), self.origin.get("created"))
        fields = {"content": content, "tags": tags, "source": "import", **time, "meta": {ORIGIN: came_from}, **more}
        return without_empty({"entities": [{"name": self.title, "type": self.type}], **fields})


def _read_tags(value: Any) -> list[str]:
    given = value.split(",") if isinstance(value, str) else texts_of(value)
    return [tag.strip().removeprefix("#") for tag in given if tag.strip().removeprefix("#")]


def _split_note(text: str, about: _About, first_line: int) -> Iterator[_Part]:
    prose: list[str] = []
    began, fenced = first_line, False
    for number, line in enumerate([*text.split("\n"), ""], start=first_line):
        fenced ^= bool(_FENCE.match(line))
        said = line.strip()
        found = _read_bullet(said[2:].lstrip(), about) if not fenced and said.startswith(_BULLETS) else None
        ends = found is not None or (not fenced and (not line.strip() or bool(_HEADING.match(line))))
        if ends:
            yield from _split_prose(prose, began, about)
            prose = []
            if found is not None:
                yield _Part(number, found)
            continue
        began = number if not prose else began
        prose.append(line)
    yield from _split_prose(prose, began, about)


def _read_bullet(said: str, about: _About) -> dict[str, Any] | None:
    """Return the observation or the relation that a bullet is, if it is one."""
    said = _DIRECTIVE.sub("", said)
    match = _OBSERVATION.fullmatch(said)
    if match is not None and not _TASK.fullmatch(match["category"]):
        return _make_observation(match["text"], match["category"].strip(), about)
    return _read_relation(said, about) or _read_tagged(said, about)


def _read_tagged(said: str, about: _About) -> dict[str, Any] | None:
    """Read a bullet with a tag as an observation without a category, unless it is a task."""
    task = said.startswith("[") and _TASK.fullmatch(said[1 : max(1, said.find("]"))])
    return _make_observation(said, None, about) if _TAG.search(said) and not task and "[[" not in said else None


def _make_observation(said: str, category: str | None, about: _About) -> dict[str, Any]:
    text, context = _split_context(said)
    came_from = without_empty({"category": category, "context": context})
    return about.memory(text, tags=[*([category] if category else []), *_TAG.findall(text)], origin=came_from)


def _split_context(said: str) -> tuple[str, str | None]:
    """Return what is said, and what stands in brackets at its end."""
    begin = said.rfind(" (")
    if begin <= 0 or not said.endswith(")") or ")" in said[begin:-1]:
        return said, None
    return said[:begin].rstrip(), said[begin + 2 : -1].strip()


def _read_relation(said: str, about: _About) -> dict[str, Any] | None:
    match = _RELATION.fullmatch(said)
    rest = match["rest"].strip() if match else ""
    if match is None or (rest and not (rest.startswith("(") and rest.endswith(")"))):
        return None
    type, target = match["type"].strip().strip("\"'") or "relates to", match["target"].strip()
    edge = {"from": about.title, "to": target, "type": type}
    came_from = without_empty({"context": rest[1:-1].strip()})
    return about.memory(f"{about.title} {type.replace('_', ' ')} {target}", relationships=[edge], origin=came_from)


def _split_prose(lines: list[str], began: int, about: _About) -> Iterator[_Part]:
    text = "\n".join(lines).strip()
    room = len(f"{about.title}: ".encode())
    for number, piece in enumerate(split_long_text(text, room) if text else (), start=1):
        yield _Part(began, about.memory(piece), number)


NOTES_FORMAT = Format(NOTES_NAME, "a folder of Basic Memory's Markdown notes", read_notes)


# The MCP reference memory server: ``memory.jsonl``, an entity or a relation a line.
# A graph has no place to say who may see what: an export holds what is shared, and more only where somebody asks for it.
# Each entity, observation and relation becomes one memory, shaped as Recollect's own MCP server shapes them, so that the
# server answers from an imported graph as from one that it wrote.
GRAPH_NAME = "mcp-memory"
ENTITY = ("type", "name", "entityType", "observations")
RELATION = ("type", "from", "to", "relationType")


def read_graph(source: Source) -> Iterator[Foreign]:
    """Read a graph, and count records as the memories that they become: an entity with two observations is three."""
    parts = ((line, part) for line, value in parse_lines(source, source.lines()) for part in _read_graph_line(value))
    for number, (line, part) in enumerate(parts, start=1):
        place = f"line {line.number}, {part.what}" if part.fields else f"line {line.number}"
        yield _to_foreign(number, place, part) if part.fields else Foreign(number, place, refused=part.what)


class _GraphPart(NamedTuple):
    """A memory of a line and what it is there; or what is wrong, and nothing. ``others`` are fields that a graph has not."""

    what: str
    fields: Mapping[str, Any] = {}
    others: Mapping[str, Any] = {}


def _read_graph_line(value: Any) -> Iterator[_GraphPart]:
    match value:
        case {"type": "entity", "name": str(name), "entityType": str(type), "observations": list(seen)} if text_of(
            name
        ):
            yield _GraphPart("entity", graph.entity_fields(graph.Entity(name, type)), drop_fields(value, *ENTITY))
            for place, text in enumerate(seen, start=1):
                if text_of(text):
                    yield _GraphPart(f"observation {place}", graph.observation_fields(name, text, type or None))
                else:
                    yield _GraphPart(f"observation {place} is not text")
        case {"type": "relation", "from": str(start), "to": str(end), "relationType": str(type)} if (
            start and end and type
        ):
            fields = graph.relation_fields(graph.Relation(start, end, type))
            yield _GraphPart("relation", fields, drop_fields(value, *RELATION))
        case _:
            yield _GraphPart(describe_refusal(value, "is neither an entity nor a relation"))


def _to_foreign(number: int, place: str, part: _GraphPart) -> Foreign:
    """Return the record of a part of the graph. The file does not say who observed it."""
    meta, note = keep_unknown({**part.fields["meta"], ORIGIN: {"format": GRAPH_NAME}}, part.others)
    return Foreign(number, place, {**part.fields, "source": "import", "meta": meta}, note=note)


def write_graph(memories: Iterable[Memory]) -> Iterator[str]:
    """Write entities, then relations, as they came. A memory outside of the graph becomes an observation of its owner."""
    held = list(memories)
    whole = graph.assemble(held)
    loose = [memory for memory in held if not isinstance(memory.meta.get("graph"), dict)]
    beside_them = {
        canonical_json(memory.meta["graph"]): _find_extra_fields(memory)
        for memory in held
        if _find_extra_fields(memory)
    }
    for entity in (*whole.entities, *_group_by_owner(loose)):
        more = beside_them.get(canonical_json({"entity": entity.name, "type": entity.type}), {})
        yield canonical_json({**more, "type": "entity", **entity.to_dict()}) + "\n"
    for relation in whole.relations:
        part = {"from": relation.start, "to": relation.end, "type": relation.type}
        more = beside_them.get(canonical_json(part), {})
        yield canonical_json({**more, "type": "relation", **relation.to_dict()}) + "\n"


def _find_extra_fields(memory: Memory) -> Mapping[str, Any]:
    """Return the fields of the line of an entity or a relation that a graph has no place for."""
    came_from = mapping_of(memory.meta.get(ORIGIN))
    part = isinstance(memory.meta.get("graph"), dict) and came_from.get("format") == GRAPH_NAME
    return mapping_of(came_from.get(FIELDS)) if part else {}


def _group_by_owner(memories: Iterable[Memory]) -> Iterator[graph.Entity]:
    said: dict[str, list[str]] = {}
    for memory in memories:
        said.setdefault(memory.owner, []).append(memory.content)
    return (graph.Entity(owner, "owner", tuple(texts)) for owner, texts in said.items())


GRAPH_FORMAT = Format(
    GRAPH_NAME, "the MCP reference memory server's memory.jsonl", read_graph, write_graph, tells_scope=False
)


# LangGraph's SqliteStore and PostgresStore: items under a namespace and a key, each with a JSON value.
LANGGRAPH_NAME = "langgraph"
WORDS = ("text", "content", "memory", "data", "value")
"""Where items usually keep what they say, in the order in which it is looked for."""
MAX_DEPTH = 4
ITEMS = "langgraph_items"


def read_langgraph(source: Source) -> Iterator[Foreign]:
    if not source.has_table_for(ITEMS):
        raise BadInput(
            "is not a LangGraph store: expected an SQLite database with the table `store`.",
            field=source.name,
            hint="Name the file that SqliteStore writes, or the postgresql:// URL of a PostgresStore.",
        )
    for number, row in enumerate(source.rows(ITEMS), start=1):
        yield _read_item(number, f"item {number}", row)


def _read_item(number: int, place: str, row: Mapping[str, Any]) -> Foreign:
    namespace, key, stored = str(row["prefix"]), str(row["key"]), row["value"]
    if stored is None:
        return Foreign(number, place, refused="its value is missing, or far too long")
    try:
        text = stored.decode("utf-8", "surrogateescape") if isinstance(stored, bytes) else str(stored)
        value = parse_json(text, place)
    except BadInput as error:
        return Foreign(number, place, refused=f"its value {error.message.rstrip('.')}")
    said = find_words(value)
    if said is None:
        return Foreign(number, place, refused="its value is empty")
    labels = [label for label in namespace.split(".") if label]
    came_from = {**origin(LANGGRAPH_NAME, row, "key", "created_at", "updated_at", "expires_at"), "namespace": namespace}
    fields = {
        "content": said,
        "owner": labels[-1] if labels else None,
        "tags": [re.sub(r"\s+", " ", label) for label in labels[:-1]],
        "source": "import",
        **as_created_at(row.get("updated_at"), row.get("created_at")),
        "expires_at": as_utc(row.get("expires_at")),
        "meta": {ORIGIN: came_from | ({"value": value} if said != value else {})},
    }
    return Foreign(number, place, without_empty(fields), f"{namespace}/{key}")


def find_words(value: Any, depth: int = 0) -> str | None:
    """Return what an item says: the text under one of the usual names, or else the whole value as JSON."""
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for name in WORDS:
            said = find_words(value[name], depth + 1) if isinstance(value.get(name), str | dict) else None
            if said is not None:
                return said
    return canonical_json(value) if depth == 0 and value not in (None, {}, []) else None


LANGGRAPH_FORMAT = Format(
    LANGGRAPH_NAME,
    "LangGraph's SqliteStore, or its PostgresStore by a postgresql:// URL",
    read_langgraph,
    table="store",
)
