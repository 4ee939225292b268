"""The knowledge graph that the MCP reference memory server keeps: ``memory.jsonl``, an entity or a relation a line.

A graph has no place to say who may see what: an export holds what is shared, and more only where somebody asks for it.

Each entity, observation and relation becomes one memory, shaped as Recollect's own MCP server shapes them, so that the
server answers from an imported graph as from one that it wrote.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from recollect.formats.fields import mapping_of, objects_in, refusal, text_of
from recollect.formats.kept_beside import FIELDS, beside, others
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory
from recollect.rules import knowledge_graph as graph

NAME = "mcp-memory"


ENTITY = ("type", "name", "entityType", "observations")
RELATION = ("type", "from", "to", "relationType")


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Records are counted as the memories that they become: an entity with two observations is three."""
    number = 0
    for line, value in objects_in(source, source.lines()):
        for part in _parts(value):
            number += 1
            place = f"line {line.number}, {part.what}" if part.fields else f"line {line.number}"
            yield _known(number, place, part) if part.fields else Foreign(number, place, refused=part.what)


class _Part(NamedTuple):
    """A memory of a line and what it is there; or what is wrong, and nothing. ``others`` are fields that a graph has not."""

    what: str
    fields: Mapping[str, Any] = {}
    others: Mapping[str, Any] = {}


def _parts(value: Any) -> Iterator[_Part]:
    match value:
        case {"type": "entity", "name": str(name), "entityType": str(type), "observations": list(seen)} if text_of(
            name
        ):
            yield _Part("entity", graph.entity_fields(graph.Entity(name, type)), others(value, *ENTITY))
            for place, text in enumerate(seen, start=1):
                if text_of(text):
                    yield _Part(f"observation {place}", graph.observation_fields(name, text, type or None))
                else:
                    yield _Part(f"observation {place} is not text")
        case {"type": "relation", "from": str(start), "to": str(end), "relationType": str(type)} if (
            start and end and type
        ):
            fields = graph.relation_fields(graph.Relation(start, end, type))
            yield _Part("relation", fields, others(value, *RELATION))
        case _:
            yield _Part(refusal(value, "is neither an entity nor a relation"))


def _known(number: int, place: str, part: _Part) -> Foreign:
    """Who observed it, the file does not say."""
    meta, note = beside({**part.fields["meta"], ORIGIN: {"format": NAME}}, part.others)
    return Foreign(number, place, {**part.fields, "source": "import", "meta": meta}, note=note)


def write(memories: Iterable[Memory]) -> Iterator[str]:
    """Entities, then relations, as they came. What is no part of a graph becomes an observation of its owner."""
    held = list(memories)
    whole = graph.assemble(held)
    loose = [memory for memory in held if not isinstance(memory.meta.get("graph"), dict)]
    beside_them = {canonical_json(memory.meta["graph"]): _others(memory) for memory in held if _others(memory)}
    for entity in (*whole.entities, *_owners(loose)):
        more = beside_them.get(canonical_json({"entity": entity.name, "type": entity.type}), {})
        yield canonical_json({**more, "type": "entity", **entity.to_dict()}) + "\n"
    for relation in whole.relations:
        part = {"from": relation.start, "to": relation.end, "type": relation.type}
        more = beside_them.get(canonical_json(part), {})
        yield canonical_json({**more, "type": "relation", **relation.to_dict()}) + "\n"


def _others(memory: Memory) -> Mapping[str, Any]:
    """What the line of an entity or a relation had beside the fields of a graph."""
    came = mapping_of(memory.meta.get(ORIGIN))
    part = isinstance(memory.meta.get("graph"), dict) and came.get("format") == NAME
    return mapping_of(came.get(FIELDS)) if part else {}


def _owners(memories: Iterable[Memory]) -> Iterator[graph.Entity]:
    said: dict[str, list[str]] = {}
    for memory in memories:
        said.setdefault(memory.owner, []).append(memory.content)
    return (graph.Entity(owner, "owner", tuple(texts)) for owner, texts in said.items())


FORMAT = Format(NAME, "the MCP reference memory server's memory.jsonl", read, write, tells_scope=False)
