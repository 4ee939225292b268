"""The knowledge graph that the MCP reference memory server keeps: ``memory.jsonl``, an entity or a relation a line.

A graph has no place to say who may see what: an export holds what is shared, and more only where somebody asks for it.

Each entity, observation and relation becomes one memory, shaped as Recollect's own MCP server shapes them, so that the
server answers from an imported graph as from one that it wrote.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.formats.fields import objects_in, refusal, text_of
from recollect.formats.protocol import ORIGIN, Foreign, Format, Options, Source
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory
from recollect.rules import knowledge_graph as graph

NAME = "mcp-memory"


def read(source: Source, options: Options) -> Iterator[Foreign]:
    """Records are counted as the memories that they become: an entity with two observations is three."""
    number = 0
    for line, value in objects_in(source, source.lines()):
        for what, fields in _parts(value):
            number += 1
            place = f"line {line.number}, {what}" if fields else f"line {line.number}"
            yield Foreign(number, place, _known(fields)) if fields else Foreign(number, place, refused=what)


def _parts(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The memories of a line, each with what it is there; or what is wrong, and nothing."""
    match value:
        case {"type": "entity", "name": str(name), "entityType": str(type), "observations": list(seen)} if text_of(
            name
        ):
            yield "entity", graph.entity_fields(graph.Entity(name, type))
            for place, text in enumerate(seen, start=1):
                if text_of(text):
                    yield f"observation {place}", graph.observation_fields(name, text, type or None)
                else:
                    yield f"observation {place} is not text", {}
        case {"type": "relation", "from": str(start), "to": str(end), "relationType": str(type)} if (
            start and end and type
        ):
            yield "relation", graph.relation_fields(graph.Relation(start, end, type))
        case _:
            yield refusal(value, "is neither an entity nor a relation"), {}


def _known(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Who observed it, the file does not say."""
    return {**fields, "source": "import", "meta": {**fields["meta"], ORIGIN: {"format": NAME}}}


def write(memories: Iterable[Memory]) -> Iterator[str]:
    """Entities, then relations, as they came. What is no part of a graph becomes an observation of its owner."""
    held = list(memories)
    whole = graph.assemble(held)
    loose = [memory for memory in held if not isinstance(memory.meta.get("graph"), dict)]
    for entity in (*whole.entities, *_owners(loose)):
        yield canonical_json({"type": "entity", **entity.to_dict()}) + "\n"
    for relation in whole.relations:
        yield canonical_json({"type": "relation", **relation.to_dict()}) + "\n"


def _owners(memories: Iterable[Memory]) -> Iterator[graph.Entity]:
    said: dict[str, list[str]] = {}
    for memory in memories:
        said.setdefault(memory.owner, []).append(memory.content)
    return (graph.Entity(owner, "owner", tuple(texts)) for owner, texts in said.items())


FORMAT = Format(NAME, "the MCP reference memory server's memory.jsonl", read, write, tells_scope=False)
