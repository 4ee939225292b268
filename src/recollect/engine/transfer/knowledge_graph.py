"""Keep a knowledge graph in the store: entities, observations about them, and relations, each a governed memory.

The graph is the caller's own, in its user's space. A part is compared with what is there inside the transaction that writes
it: if two clients make the same part at once, one makes it and the other finds it there.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from recollect.engine.context import Engine
from recollect.engine.lifecycle import changes
from recollect.engine.read.reading import MAX_PAGE, page_of
from recollect.engine.telemetry import trace_method
from recollect.engine.write import ingest
from recollect.model.errors import BadInput, NotFound, WrongState
from recollect.model.receipt import MemoryPage, Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import Namespace, Outcome
from recollect.rules import knowledge_graph as graph
from recollect.rules.knowledge_graph import Entity, Graph, Relation
from recollect.stores.protocol import Reader

LOOKS = 3
"""How often the memories to delete are looked for, while others change them."""

T = TypeVar("T")


class Observations(NamedTuple):
    """The observations about one entity."""

    entity: str
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Made(Generic[T]):
    """The new parts of the graph, and the receipts of all that was tried."""

    parts: tuple[T, ...]
    receipts: tuple[Receipt, ...]


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many parts were deleted, how many were named, and the names among them that no entity has."""

    deleted: int
    asked: int
    missing: tuple[str, ...] = ()


class _Planned(NamedTuple):
    """A memory to write, its entity, and the place in the arguments that asks for it."""

    place: str
    entity: str
    fields: dict[str, Any]


@trace_method
def create_entities(engine: Engine, entities: Sequence[Entity]) -> Made[Entity]:
    """Make new entities, with the observations that pass the gates. One that exists is left as it is."""
    first: dict[str, tuple[str, Entity]] = {}
    for number, entity in enumerate(entities):
        first.setdefault(entity.name, (f"entities.{number}", entity))
    with engine.read() as reader:
        new = [first[name] for name in _find_missing(engine, reader, first)]
    planned = []
    for place, entity in new:
        planned.append(_Planned(place, entity.name, graph.entity_fields(entity)))
        for text in dict.fromkeys(entity.observations):
            planned.append(_Planned(place, entity.name, graph.observation_fields(entity.name, text, entity.type)))
    names = [entity.name for _, entity in new]
    written = _write(engine, planned, lambda reader: _find_missing(engine, reader, names))
    by_entity: dict[str, list[Receipt]] = {}
    for plan, receipt in written:
        by_entity.setdefault(plan.entity, []).append(receipt)
    made = [_select_new(entity, by_entity[entity.name]) for _, entity in new if entity.name in by_entity]
    return Made(tuple(one for one in made if one is not None), tuple(receipt for _, receipt in written))


def _select_new(entity: Entity, receipts: Sequence[Receipt]) -> Entity | None:
    """Return an entity with its new observations, if it is new itself."""
    observed = zip(dict.fromkeys(entity.observations), receipts[1:], strict=True)
    known = tuple(text for text, receipt in observed if _is_new(receipt))
    return Entity(entity.name, entity.type, known) if _is_new(receipts[0]) else None


@trace_method
def create_relations(engine: Engine, relations: Sequence[Relation]) -> Made[Relation]:
    """Make new relations between entities that exist."""
    distinct = list(dict.fromkeys(relations))
    names = [name for relation in distinct for name in (relation.start, relation.end)]
    with engine.read() as reader:
        _require_entities(engine, reader, names, "relations")
    planned = [_Planned("relations", relation.start, graph.relation_fields(relation)) for relation in distinct]
    written = _write(engine, planned, lambda reader: _require_entities(engine, reader, names, "relations"))
    receipts = tuple(receipt for _, receipt in written)
    made = (relation for relation, receipt in zip(distinct, receipts, strict=True) if _is_new(receipt))
    return Made(tuple(made), receipts)


@trace_method
def add_observations(engine: Engine, observations: Sequence[Observations]) -> Made[Observations]:
    """Add new observations about entities that exist; return the new ones of each part of the request."""
    names = [part.entity for part in observations]
    with engine.read() as reader:
        _require_entities(engine, reader, names, "observations")
    said = [(number, text) for number, part in enumerate(observations) for text in dict.fromkeys(part.texts)]
    planned = [
        _Planned(f"observations.{number}", names[number], graph.observation_fields(names[number], text))
        for number, text in said
    ]
    written = _write(engine, planned, lambda reader: _require_entities(engine, reader, names, "observations"))
    receipts = tuple(receipt for _, receipt in written)
    added: list[list[str]] = [[] for _ in observations]
    for (number, text), receipt in zip(said, receipts, strict=True):
        if _is_new(receipt):
            added[number].append(text)
    return Made(tuple(Observations(*both) for both in zip(names, added, strict=True)), receipts)


def _write(
    engine: Engine, planned: Sequence[_Planned], entities: Callable[[Reader], Collection[str]]
) -> list[tuple[_Planned, Receipt]]:
    """Write, all or none, the planned memories of the ``entities`` that this function returns inside the transaction.

    A wrong value is an error that names its place in the arguments.
    """
    chosen: list[int] = []

    def still_wanted(reader: Reader) -> list[int]:
        names = frozenset(entities(reader))
        chosen[:] = [number for number, one in enumerate(planned) if one.entity in names]
        return chosen

    try:
        receipts = ingest.add_many(engine, [one.fields for one in planned], still_wanted=still_wanted)
    except BadInput as error:
        number = re.match(r"\[(\d+)\]", error.field or "")
        place = planned[int(number[1])].place if number else None
        raise BadInput(error.message, field=place, hint=error.hint) from None
    return list(zip((planned[number] for number in chosen), receipts, strict=True))


def _is_new(receipt: Receipt) -> bool:
    """Return whether a write added a part to the graph."""
    kept = receipt.memory if receipt.outcome in (Outcome.STORED, Outcome.SUPERSEDED) else None
    return kept is not None and kept.namespace is Namespace.PROD


@trace_method
def delete_entities(engine: Engine, names: Iterable[str]) -> Deleted:
    """Soft-delete entities with their observations and relations.

    The entities go first, so that another client cannot add to one of them meanwhile.
    """
    distinct = list(dict.fromkeys(names))
    missing = [name for name in distinct if not _forget(engine, key=graph.entity_key(name))]
    for name in distinct:
        _forget(engine, tags=[graph.about(name)])
    return Deleted(len(distinct) - len(missing), len(distinct), tuple(missing))


@trace_method
def delete_observations(engine: Engine, observations: Sequence[Observations]) -> Deleted:
    """Soft-delete observations by their exact words."""
    keys = {graph.observation_key(part.entity, text) for part in observations for text in part.texts}
    deleted = sum(_forget(engine, key=key) for key in sorted(keys))
    with engine.read() as reader:
        missing = _find_missing(engine, reader, (part.entity for part in observations))
    return Deleted(deleted, len(keys), tuple(missing))


@trace_method
def delete_relations(engine: Engine, relations: Iterable[Relation]) -> Deleted:
    """Soft-delete relations by their ends and their type."""
    keys = {graph.relation_key(relation) for relation in relations}
    return Deleted(sum(_forget(engine, key=key) for key in sorted(keys)), len(keys))


def _forget(engine: Engine, **which: Any) -> int:
    """Soft-delete the memories that match, and return how many. If another client was quicker, look again."""
    forgotten = 0
    for _ in range(LOOKS):
        with engine.read() as reader:
            found = list(_find(engine, reader, **which))
        done = 0
        for memory in found:
            with suppress(WrongState, NotFound):  # another client deleted or replaced it since it was found
                changes.forget(engine, memory.id)
                done += 1
        forgotten += done
        if done == len(found):
            break
    return forgotten


@trace_method
def whole_graph(engine: Engine) -> Graph:
    """Return everything in the graph that the caller may see."""
    with engine.read() as reader:
        return graph.assemble(reversed(list(_find(engine, reader))))


def _find_missing(engine: Engine, reader: Reader, names: Iterable[str]) -> list[str]:
    """Return those of the names that no entity has."""
    return [
        name
        for name in dict.fromkeys(names)
        if not _read_page(engine, reader, limit=1, key=graph.entity_key(name)).items
    ]


def _require_entities(engine: Engine, reader: Reader, names: Collection[str], field: str) -> Collection[str]:
    """Return the names, or raise if there is no entity of one of them."""
    for name in _find_missing(engine, reader, names):
        raise NotFound(f"there is no entity {name!r:.80}.", field=field, hint="Make it with create_entities first.")
    return names


def _find(engine: Engine, reader: Reader, **which: Any) -> Iterator[Memory]:
    """Yield the memories of the graph that match, newest first."""
    page = _read_page(engine, reader, **which)
    yield from page.items
    while page.next_cursor is not None:
        page = _read_page(engine, reader, **which, cursor=page.next_cursor)
        yield from page.items


def _read_page(
    engine: Engine, reader: Reader, *, tags: Sequence[str] = (), limit: int = MAX_PAGE, **which: Any
) -> MemoryPage:
    return page_of(
        engine,
        reader,
        owner=engine.caller.user or "default",
        space="user",
        category=graph.CATEGORY,
        tags=[graph.TAG, *tags],
        limit=limit,
        **which,
    )
