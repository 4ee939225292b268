"""What memories mean, as vectors, and how they are related, over named queries, as one capability of a store."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.model.state import values_from
from recollect.model.vocabulary import MAY_UPDATE
from recollect.stores.sql.queries import Capability, encode_places
from recollect.stores.values import Later, Place, Relation, Selection, Stream

MILLIONTHS = 1_000_000
LONGEST_CHAIN = 16
"""Over how many versions the active one is looked for."""


class VectorReads(Capability):
    """Vectors lie under the number of their memory and a generation: while another embedder's are made, both are there."""

    def embedders(self, tenant: str) -> list[str]:
        """Return whose vectors a tenant's memories have, each name once; an empty name if some have none."""
        return [row["embedder"] for row in self._db.rows("embedders", tenant=tenant)]

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        """Return memory numbers above ``after``, in order, each with its vector."""
        return self._db.tuples("vectors_after", **_generation(stream), after=after)

    def vectors_numbered(self, stream: Stream, numbers: Sequence[int]) -> dict[int, bytes]:
        found = self._db.tuples("vectors_numbered", **_generation(stream), numbers=json.dumps(list(numbers)))
        return dict(found)

    def without_vector(self, stream: Stream, generation: int, after: int, limit: int) -> list[tuple[int, str]]:
        """Return number and content, in order, of memories above ``after`` without a vector of this generation."""
        asked = {"generation": generation, "after": after, "limit": limit}
        found = self._db.tuples("without_vector", **stream.place, **asked)
        return [(number, str((values_from(body) or {}).get("content", ""))) for number, body in found]

    def stray_vectors(self, stream: Stream) -> list[int]:
        """Return the numbers of vectors whose memory has no content, or does not exist."""
        return [number for (number,) in self._db.tuples("stray_vectors", **stream.place)]

    def fitting(self, stream: Stream, selection: Selection) -> list[int]:
        """Return the numbers of a stream's memories that fit a selection, in order."""
        found = self._db.filtered("fitting_numbers", *self._narrow(selection, **stream.place))
        return [row["memory"] for row in found]


class VectorWrites(Capability):
    def set_embedder(self, stream: Stream) -> None:
        """Write back whose vectors a stream has, which generation is in use, and whose are being made."""
        vectors = {"embedder": stream.embedder, "next_embedder": stream.next_embedder}
        self._db.run("set_embedder", **_generation(stream), **vectors)

    def add_vectors(self, stream: Stream, generation: int, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add vectors, each with its memory's number; a vector that is there already stays as it is."""
        place = (stream.tenant, stream.number)
        self._db.run_many("add_vector", [(*place, number, generation, codes) for number, codes in vectors])

    def drop_vectors(self, stream: Stream, generation: int) -> None:
        self._db.run("drop_vectors", **stream.place, generation=generation)


class RelationReads(Capability):
    """Relations from one memory to another, found from either end."""

    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        """Return the relations that begin or end at one of these places, in order."""
        listed = json.dumps([list(place) for place in dict.fromkeys(places)])
        answer = self._db.soon("relations_at", {"tenant": tenant, "places": listed})
        return lambda: [relation_of(*row) for row in answer()]

    def live_versions(self, tenant: str, places: Sequence[Place]) -> dict[Place, Place]:
        """Return, for each superseded memory at these places, the active one that its chain of versions ends in.

        Only where whoever may read the active one might read the other as well: both are of one stream, scope,
        category, kind, phase and user.
        """
        asked = {"tenant": tenant, "places": encode_places(places), "longest": LONGEST_CHAIN}
        found = self._db.tuples("live_versions", **asked) if places else []
        return {(stream, memory): (of, live) for stream, memory, of, live in found}

    def updates_among(self, tenant: str, places: Sequence[Place]) -> list[Relation]:
        """Return the links by which one of these memories may make another of them outdated, in order."""
        joined = set(places)
        found = self.relations_at(tenant, places)() if len(joined) > 1 else []
        return [one for one in found if one.relation_type == MAY_UPDATE and {one.source, one.target} <= joined]

    def relations_among_active(self, stream: Stream, relation_type: str) -> list[Relation]:
        """Return the relations of one type that begin in a stream and join two active memories, in order."""
        found = self._db.tuples("relations_among_active", **stream.place, relation_type=relation_type)
        return [relation_of(*row) for row in found]


class RelationWrites(Capability):
    def put_relations(self, tenant: str, relations: Sequence[Relation]) -> None:
        """Add relations; one of the same type between the same two memories that is there already stays as it is."""
        self._db.run_many("put_relation", [(tenant, *_row(one)) for one in sorted(relations)])

    def remove_relation(self, tenant: str, one: Relation) -> None:
        ends = dict(zip(("from_stream", "from_memory", "to_stream", "to_memory"), _row(one)[:4], strict=True))
        self._db.run("remove_relation", tenant=tenant, **ends, relation_type=one.relation_type)


def _generation(stream: Stream) -> dict[str, Any]:
    return stream.place | {"generation": stream.generation}


def _row(one: Relation) -> tuple[Any, ...]:
    return (*one.source, *one.target, one.relation_type, round(one.strength * MILLIONTHS), one.created_at, one.reason)


def relation_from(row: Mapping[str, Any]) -> Relation:
    return relation_of(*(row[name] for name in _COLUMNS))


_COLUMNS = ("from_stream", "from_memory", "to_stream", "to_memory", "relation_type", "strength", "created_at", "reason")


def relation_of(
    from_stream: int, from_memory: int, to_stream: int, to_memory: int, how: str, strength: int, at: str, reason: str
) -> Relation:
    return Relation((from_stream, from_memory), (to_stream, to_memory), how, strength / MILLIONTHS, at, reason)
