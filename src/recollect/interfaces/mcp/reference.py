"""The nine tools of the protocol's reference memory server, over this store.

Requests and answers have its shapes, so that a client changes one line of its configuration and nothing else. What
differs is behind them: each entity, observation and relation passes the gates, is versioned and attributed, and what is
deleted can be restored. What a gate refused is not in the answer, and a note beside it says so.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from recollect.interfaces.mcp.shapes import (
    AddObservations,
    CreateEntities,
    DeleteEntities,
    DeleteObservations,
    DoneAnswer,
    EntitiesAnswer,
    EntityPart,
    GraphAnswer,
    ObservationsAnswer,
    OpenNodes,
    Part,
    ReadGraph,
    Relations,
    RelationsAnswer,
    SearchNodes,
)
from recollect.interfaces.mcp.tool import Answer, Tool, as_text
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, NotFound
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import Namespace, Outcome
from recollect.rules import knowledge_graph as graph
from recollect.rules.knowledge_graph import Entity, Graph, Relation

PAGE = 1_000
INDENT = 2
"""As the reference server writes its JSON."""


class Planned(NamedTuple):
    """A memory to write, and the field of the request that asks for it."""

    place: str
    fields: dict[str, Any]


def create_entities(memory: Recollect, request: CreateEntities) -> Answer:
    """Entities that are new, with the observations that passed. One that exists is left as it is."""
    first: dict[str, EntityPart] = {}
    for part in request.entities:
        first.setdefault(part.name, part)
    new = [part for name, part in first.items() if not _holds(memory, graph.entity_key(name))]
    plans = [_planned(part, f"entities.{request.entities.index(part)}") for part in new]
    receipts = _kept(memory, [one for plan in plans for one in plan])
    made, notes = [], _notes(receipts)
    for part, plan in zip(new, plans, strict=True):
        mine, receipts = receipts[: len(plan)], receipts[len(plan) :]
        if _new(mine[0]):
            observed = zip(dict.fromkeys(part.observations), mine[1:], strict=True)
            made.append(Entity(part.name, part.entity_type, tuple(text for text, one in observed if _new(one))))
    entities = [entity.to_dict() for entity in made]
    return Answer({"entities": entities}, as_text(entities, INDENT), notes)


def _planned(part: EntityPart, place: str) -> list[Planned]:
    """What is written for one entity: itself, then what is known of it."""
    entity = graph.entity_fields(Entity(part.name, part.entity_type))
    known = [graph.observation_fields(part.name, text, part.entity_type) for text in dict.fromkeys(part.observations)]
    return [Planned(place, fields) for fields in (entity, *known)]


def create_relations(memory: Recollect, request: Relations) -> Answer:
    """Relations that are new, between entities that exist."""
    wanted = list(dict.fromkeys(_relations(request)))
    _require(memory, (name for relation in wanted for name in (relation.start, relation.end)), "relations")
    receipts = _kept(memory, [Planned("relations", graph.relation_fields(relation)) for relation in wanted])
    made = [relation.to_dict() for relation, receipt in zip(wanted, receipts, strict=True) if _new(receipt)]
    return Answer({"relations": made}, as_text(made, INDENT), _notes(receipts))


def add_observations(memory: Recollect, request: AddObservations) -> Answer:
    """Observations that are new, about entities that exist."""
    _require(memory, (part.entity_name for part in request.observations), "observations")
    said = [(at, text) for at, part in enumerate(request.observations) for text in dict.fromkeys(part.contents)]
    planned = [
        Planned(f"observations.{at}", graph.observation_fields(request.observations[at].entity_name, text))
        for at, text in said
    ]
    receipts = _kept(memory, planned)
    kept = [pair for pair, receipt in zip(said, receipts, strict=True) if _new(receipt)]
    results = [
        {"entityName": part.entity_name, "addedObservations": [text for of, text in kept if of == at]}
        for at, part in enumerate(request.observations)
    ]
    return Answer({"results": results}, as_text(results, INDENT), _notes(receipts))


def delete_entities(memory: Recollect, request: DeleteEntities) -> Answer:
    """Entities with all that is known of them, and their relations."""
    names = list(dict.fromkeys(request.entity_names))
    missing = [name for name in names if not _forget(memory, key=graph.entity_key(name))]
    for name in names:
        _forget(memory, tags=[graph.about(name)])
    return _done("Entities", len(names) - len(missing), len(names), missing)


def delete_observations(memory: Recollect, request: DeleteObservations) -> Answer:
    """Observations by their exact words."""
    keys = {graph.observation_key(part.entity_name, text) for part in request.deletions for text in part.observations}
    deleted = sum(_forget(memory, key=key) for key in sorted(keys))
    names = dict.fromkeys(part.entity_name for part in request.deletions)
    missing = [name for name in names if not _holds(memory, graph.entity_key(name))]
    return _done("Observations", deleted, len(keys), missing)


def delete_relations(memory: Recollect, request: Relations) -> Answer:
    """Relations by their ends and their type."""
    keys = {graph.relation_key(relation) for relation in _relations(request)}
    return _done("Relations", sum(_forget(memory, key=key) for key in sorted(keys)), len(keys), ())


def read_graph(memory: Recollect, request: ReadGraph) -> Answer:
    return _shown(whole_graph(memory))


def search_nodes(memory: Recollect, request: SearchNodes) -> Answer:
    return _shown(whole_graph(memory).search(request.query))


def open_nodes(memory: Recollect, request: OpenNodes) -> Answer:
    return _shown(whole_graph(memory).around(request.names))


def whole_graph(memory: Recollect) -> Graph:
    """Everything in the graph that this server's caller may see."""
    return graph.assemble(reversed(list(_found(memory))))


def _shown(part: Graph) -> Answer:
    return Answer(part.to_dict(), as_text(part.to_dict(), INDENT))


def _done(what: str, deleted: int, asked: int, missing: Sequence[str]) -> Answer:
    message = f"{what} deleted successfully"
    if deleted != asked:
        message = f"{what} deleted: {deleted} of {asked}."
        message += f" No such entity: {', '.join(missing)}." if missing else ""
    return Answer({"success": True, "message": message}, message)


def _relations(request: Relations) -> Iterator[Relation]:
    for part in request.relations:
        yield Relation(part.start, part.to, part.relation_type)


def _found(memory: Recollect, **which: Any) -> Iterator[Memory]:
    """Memories of the graph that fit, newest first."""
    where: dict[str, Any] = {
        "owner": memory.engine.caller.user or "default",
        "space": "user",
        "category": graph.CATEGORY,
        "limit": PAGE,
        **which,
        "tags": [graph.TAG, *which.get("tags", ())],
    }
    page = memory.list(**where)
    yield from page.items
    while page.next_cursor is not None:
        page = memory.list(**where, cursor=page.next_cursor)
        yield from page.items


def _holds(memory: Recollect, key: str) -> bool:
    return any(True for _ in _found(memory, key=key))


def _require(memory: Recollect, names: Iterable[str], field: str) -> None:
    for name in dict.fromkeys(names):
        if not _holds(memory, graph.entity_key(name)):
            raise NotFound(f"there is no entity {name!r:.80}.", field=field, hint="Make it with create_entities first.")


def _forget(memory: Recollect, **which: Any) -> int:
    """Soft-delete what fits, and say how many there were."""
    return len([memory.forget(found.id) for found in list(_found(memory, **which))])


def _kept(memory: Recollect, planned: Sequence[Planned]) -> list[Receipt]:
    """Written together, or not at all; what makes no sense is named as the request names it."""
    try:
        return memory.add_many([one.fields for one in planned]) if planned else []
    except BadInput as error:
        number = re.match(r"\[(\d+)\]", error.field or "")
        raise BadInput(
            error.message, field=planned[int(number[1])].place if number else None, hint=error.hint
        ) from None


def _new(receipt: Receipt) -> bool:
    """Whether it is in the graph now and was not before."""
    kept = receipt.memory if receipt.outcome in (Outcome.STORED, Outcome.SUPERSEDED) else None
    return kept is not None and kept.namespace is Namespace.PROD


def _notes(receipts: Sequence[Receipt]) -> tuple[str, ...]:
    """What a client should know that the reference server's shapes have no place for."""
    notes = [f"Refused ({', '.join(one.reasons)}): {one.detail or ''}".strip() for one in receipts if one.denied]
    apart = [one.memory.namespace for one in receipts if one.memory and one.memory.namespace is not Namespace.PROD]
    notes += [f"Kept apart in the namespace {namespace}: it is not in the graph." for namespace in apart]
    return tuple(dict.fromkeys(notes))


def _writes(name: str, description: str, request: Any, run: Callable[..., Answer], answer: type[Part]) -> Tool[Any]:
    return Tool(name, _title(name), description, request, run, answer=answer)


def _deletes(name: str, description: str, request: Any, run: Callable[..., Answer]) -> Tool[Any]:
    return Tool(name, _title(name), description, request, run, deletes=True, repeatable=True, answer=DoneAnswer)


def _reads(name: str, description: str, request: Any, run: Callable[..., Answer]) -> Tool[Any]:
    return Tool(name, _title(name), description, request, run, reads_only=True, answer=GraphAnswer)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


REFERENCE_TOOLS: tuple[Tool[Any], ...] = (
    _writes(
        "create_entities",
        "Add entities to the knowledge graph, with what is known of them. Existing ones are left as they are.",
        CreateEntities,
        create_entities,
        EntitiesAnswer,
    ),
    _writes(
        "create_relations",
        "Relate entities of the knowledge graph to one another. Write relations in active voice.",
        Relations,
        create_relations,
        RelationsAnswer,
    ),
    _writes(
        "add_observations",
        "Note something new about entities that are in the knowledge graph.",
        AddObservations,
        add_observations,
        ObservationsAnswer,
    ),
    _deletes(
        "delete_entities",
        "Delete entities from the knowledge graph, with their observations and relations.",
        DeleteEntities,
        delete_entities,
    ),
    _deletes(
        "delete_observations",
        "Delete single observations of entities from the knowledge graph.",
        DeleteObservations,
        delete_observations,
    ),
    _deletes("delete_relations", "Delete relations from the knowledge graph.", Relations, delete_relations),
    _reads("read_graph", "Read the whole knowledge graph.", ReadGraph, read_graph),
    _reads(
        "search_nodes",
        "Find entities of the knowledge graph by text in their name, type or observations.",
        SearchNodes,
        search_nodes,
    ),
    _reads("open_nodes", "Read these entities of the knowledge graph.", OpenNodes, open_nodes),
)
