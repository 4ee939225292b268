"""A knowledge graph kept as memories: what an entity, an observation and a relation look like, and the way back.

Each is one governed memory. Its key is made from the exact words, since a graph tells ``Ana`` from ``ana`` and keeps two
observations side by side that a rule would take for two versions of one concept. Nothing here reads or writes.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recollect.model.record import Memory

CATEGORY = "knowledge"
TAG = "knowledge-graph"


@dataclass(frozen=True, slots=True)
class Entity:
    name: str
    type: str
    observations: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": list(self.observations)}


@dataclass(frozen=True, slots=True)
class Relation:
    start: str
    end: str
    type: str

    def to_dict(self) -> dict[str, Any]:
        return {"from": self.start, "to": self.end, "relationType": self.type}


@dataclass(frozen=True, slots=True)
class Graph:
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"entities": [e.to_dict() for e in self.entities], "relations": [r.to_dict() for r in self.relations]}

    def around(self, names: Iterable[str]) -> "Graph":
        """These entities, and every relation that begins or ends at one of them."""
        wanted = set(names)
        return Graph(
            tuple(entity for entity in self.entities if entity.name in wanted),
            tuple(relation for relation in self.relations if {relation.start, relation.end} & wanted),
        )

    def search(self, text: str) -> "Graph":
        """What is around the entities whose name, type or observations hold this text, whatever its case."""
        wanted = text.lower()
        return self.around(
            entity.name
            for entity in self.entities
            if any(wanted in words.lower() for words in (entity.name, entity.type, *entity.observations))
        )


def entity_key(name: str) -> str:
    return _key("Entity", name)


def observation_key(name: str, text: str) -> str:
    return _key("Observed", name, text)


def relation_key(relation: Relation) -> str:
    return _key("Relation", relation.start, relation.end, relation.type)


def about(name: str) -> str:
    """The tag of everything that goes when an entity goes."""
    return f"about-{_digest(name)}"


def entity_fields(entity: Entity) -> dict[str, Any]:
    """The memory of an entity, without its observations."""
    return _fields(
        f"{entity.name} ({entity.type})" if entity.type.strip() else entity.name,
        entity_key(entity.name),
        (entity.name,),
        {"entity": entity.name, "type": entity.type},
        entities=[{"name": entity.name, "type": entity.type}],
    )


def observation_fields(name: str, text: str, type: str | None = None) -> dict[str, Any]:
    """The memory of an observation. It names its entity, or a recall of it alone would not say who is meant.

    Made together with its entity it names the type too: a gate that refuses the one then refuses the other.
    """
    return _fields(
        text if name.lower() in text.lower() else f"{name}: {text}",
        observation_key(name, text),
        (name,),
        {"entity": name, "observation": text},
        entities=[{"name": name} if type is None else {"name": name, "type": type}],
    )


def relation_fields(relation: Relation) -> dict[str, Any]:
    """The memory of a relation."""
    return _fields(
        f"{relation.start} {relation.type} {relation.end}",
        relation_key(relation),
        (relation.start, relation.end),
        {"from": relation.start, "to": relation.end, "type": relation.type},
        relationships=[{"from": relation.start, "to": relation.end, "type": relation.type}],
    )


def _fields(content: str, key: str, names: Iterable[str], part: Mapping[str, str], **more: Any) -> dict[str, Any]:
    return {
        "content": content,
        "canonical_key": key,
        "category": CATEGORY,
        "tags": [TAG, *dict.fromkeys(about(name) for name in names)],
        "meta": {"graph": dict(part)},
        "source": "agent",
        **more,
    }


def assemble(memories: Iterable[Memory]) -> Graph:
    """The graph that these memories hold, oldest first. What is no part of one, or hangs on no entity, is left out."""
    types: dict[str, str] = {}
    observations: dict[str, list[str]] = {}
    relations: list[Relation] = []
    for memory in memories:
        match memory.meta.get("graph"):
            case {"entity": str(name), "type": str(type)}:
                types[name] = type
            case {"entity": str(name), "observation": str(text)}:
                observations.setdefault(name, []).append(text)
            case {"from": str(start), "to": str(end), "type": str(type)}:
                relations.append(Relation(start, end, type))
    entities = (Entity(name, type, tuple(observations.get(name, ()))) for name, type in types.items())
    return Graph(tuple(entities), tuple(relations))


def _key(what: str, *words: str) -> str:
    return f"Graph-{what}-{_digest(*words)[:15]}"


def _digest(*words: str) -> str:
    """Sixteen letters and digits that stand for these exact words."""
    exact = "\0".join(words).encode("utf-8", "surrogatepass")
    return base64.b32encode(hashlib.sha256(exact).digest()).decode()[:16]
