"""The nine tools of the protocol's reference memory server, over this store.

Requests and answers have its shapes, so that a client changes one line of its configuration and nothing else. What
differs is behind them: each entity, observation and relation passes the gates, is versioned and attributed, and what is
deleted can be restored. What a gate refused is not in the answer, and a note says so.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from recollect.engine.transfer import knowledge_graph as graph
from recollect.engine.transfer.knowledge_graph import Deleted, Observations
from recollect.interfaces.mcp.tool import Answer, Request, Tool, as_text
from recollect.interfaces.python import Recollect
from recollect.model.receipt import Receipt
from recollect.model.vocabulary import Namespace
from recollect.rules.knowledge_graph import Entity, Graph, Relation

INDENT = 2
"""As the reference server writes its JSON."""
MAX_SEARCH = 2_048


class Part(BaseModel):
    """A piece of a request or an answer. As in the reference server, what it does not know is left aside."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, alias_generator=to_camel)


class EntityPart(Part):
    name: str = Field(description="what the entity is called")
    entity_type: str = Field(description="what sort of thing it is")
    observations: list[str] = Field(description="what is known of it, one statement each")


class RelationPart(Part):
    start: str = Field(alias="from", description="the name of the entity where it begins")
    to: str = Field(description="the name of the entity where it ends")
    relation_type: str = Field(description="how the one relates to the other, in active voice")


class NewObservations(Part):
    entity_name: str = Field(description="the entity that they are about")
    contents: list[str] = Field(description="what is known of it, one statement each")


class OldObservations(Part):
    entity_name: str = Field(description="the entity that they are about")
    observations: list[str] = Field(description="the exact statements to delete")


class AddedObservations(Part):
    entity_name: str
    added_observations: list[str]


class GraphRequest(Request):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)


class CreateEntities(GraphRequest):
    entities: list[EntityPart]


class Relations(GraphRequest):
    relations: list[RelationPart]


class AddObservations(GraphRequest):
    observations: list[NewObservations]


class DeleteEntities(GraphRequest):
    entity_names: list[str] = Field(description="the names of the entities to delete")


class DeleteObservations(GraphRequest):
    deletions: list[OldObservations]


class ReadGraph(GraphRequest):
    pass


class SearchNodes(GraphRequest):
    query: str = Field(max_length=MAX_SEARCH, description="text to find in names, types and observations")


class OpenNodes(GraphRequest):
    names: list[str] = Field(description="the names of the entities to open")


class EntitiesAnswer(Part):
    entities: list[EntityPart]


class RelationsAnswer(Part):
    relations: list[RelationPart]


class ObservationsAnswer(Part):
    results: list[AddedObservations]


class GraphAnswer(Part):
    entities: list[EntityPart]
    relations: list[RelationPart]


class DoneAnswer(Part):
    success: bool
    message: str


def create_entities(memory: Recollect, request: CreateEntities) -> Answer:
    wanted = [Entity(part.name, part.entity_type, tuple(part.observations)) for part in request.entities]
    made = graph.create_entities(memory.engine, wanted)
    return _render_created("entities", [entity.to_dict() for entity in made.parts], made.receipts)


def create_relations(memory: Recollect, request: Relations) -> Answer:
    made = graph.create_relations(memory.engine, _read_relations(request))
    return _render_created("relations", [relation.to_dict() for relation in made.parts], made.receipts)


def add_observations(memory: Recollect, request: AddObservations) -> Answer:
    wanted = [Observations(part.entity_name, part.contents) for part in request.observations]
    made = graph.add_observations(memory.engine, wanted)
    added = [{"entityName": part.entity, "addedObservations": list(part.texts)} for part in made.parts]
    return _render_created("results", added, made.receipts)


def delete_entities(memory: Recollect, request: DeleteEntities) -> Answer:
    return _render_deleted("Entities", graph.delete_entities(memory.engine, request.entity_names))


def delete_observations(memory: Recollect, request: DeleteObservations) -> Answer:
    wanted = [Observations(part.entity_name, part.observations) for part in request.deletions]
    return _render_deleted("Observations", graph.delete_observations(memory.engine, wanted))


def delete_relations(memory: Recollect, request: Relations) -> Answer:
    return _render_deleted("Relations", graph.delete_relations(memory.engine, _read_relations(request)))


def read_graph(memory: Recollect, request: ReadGraph) -> Answer:
    return _render_graph(graph.whole_graph(memory.engine))


def search_nodes(memory: Recollect, request: SearchNodes) -> Answer:
    return _render_graph(graph.whole_graph(memory.engine).search(request.query))


def open_nodes(memory: Recollect, request: OpenNodes) -> Answer:
    return _render_graph(graph.whole_graph(memory.engine).around(request.names))


def _read_relations(request: Relations) -> list[Relation]:
    return [Relation(part.start, part.to, part.relation_type) for part in request.relations]


def _render_created(what: str, parts: list[dict[str, Any]], receipts: Sequence[Receipt]) -> Answer:
    return Answer({what: parts}, as_text(parts, INDENT), _describe_refusals(receipts))


def _render_graph(part: Graph) -> Answer:
    return Answer(part.to_dict(), as_text(part.to_dict(), INDENT))


def _render_deleted(what: str, done: Deleted) -> Answer:
    message = f"{what} deleted successfully"
    if done.deleted != done.asked:
        message = f"{what} deleted: {done.deleted} of {done.asked}."
        message += f" No such entity: {', '.join(done.missing)}." if done.missing else ""
    return Answer({"success": True, "message": message}, message)


def _describe_refusals(receipts: Sequence[Receipt]) -> tuple[str, ...]:
    """Return what a client should know that the reference server's shapes have no place for."""
    notes = [f"Refused ({', '.join(one.reasons)}): {one.detail or ''}".strip() for one in receipts if one.denied]
    apart = [one.memory.namespace for one in receipts if one.memory and one.memory.namespace is not Namespace.PROD]
    notes += [f"Kept apart in the namespace {namespace}: it is not in the graph." for namespace in apart]
    return tuple(dict.fromkeys(notes))


REFERENCE_TOOLS: tuple[Tool[Any], ...] = (
    Tool("create_entities", CreateEntities, create_entities, EntitiesAnswer),
    Tool("create_relations", Relations, create_relations, RelationsAnswer),
    Tool("add_observations", AddObservations, add_observations, ObservationsAnswer),
    Tool("delete_entities", DeleteEntities, delete_entities, DoneAnswer),
    Tool("delete_observations", DeleteObservations, delete_observations, DoneAnswer),
    Tool("delete_relations", Relations, delete_relations, DoneAnswer),
    Tool("read_graph", ReadGraph, read_graph, GraphAnswer),
    Tool("search_nodes", SearchNodes, search_nodes, GraphAnswer),
    Tool("open_nodes", OpenNodes, open_nodes, GraphAnswer),
)
