"""What memories mean and how they are related: vectors by generation, relations from both ends, and neither without content."""

from typing import Any

from recollect.stores.protocol import NO_LIMIT, Comparison, Place, Relation, Selection, Store, Stream
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at, memory_id

CODES = {number: bytes([number, 255 - number, 0, 128]) for number in range(1, 10)}
"""A small vector for each memory's number, with bytes that are no text."""


def _fill(scribe: Scribe, count: int) -> Stream:
    """So many memories, named by their numbers."""
    for number in range(1, count + 1):
        scribe.keep(f"{scribe.address.owner} {number}", content=f"Ana likes tea {number}")
    return scribe.now()


def _add(store: Store, stream: Stream, generation: int, *numbers: int) -> None:
    with store.write(stream.tenant) as writer:
        writer.add_vectors(stream, generation, [(number, CODES[number]) for number in numbers])


def _remove(store: Store, scribe: Scribe, number: int) -> None:
    with store.write(TENANT) as writer:
        writer.remove_content(scribe.stream(writer), number, memory_id(f"{scribe.address.owner} {number}"))


class VectorsContract(StoreUnderTest):
    """``ReadsVectors`` and ``KeepsVectors``."""

    def test_vectors_come_back_byte_for_byte_and_in_order(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 4)
        _add(store, stream, 0, 3, 1, 4)
        with store.read(TENANT) as reader:
            found = [(number, bytes(codes)) for number, codes in reader.vectors_after(stream, 0)]
            assert found == [(1, CODES[1]), (3, CODES[3]), (4, CODES[4])]
            assert [number for number, _ in reader.vectors_after(stream, 3)] == [4]
            assert reader.vectors_after(stream, 4) == []
            numbered = reader.vectors_numbered(stream, [4, 2, 1, 99])
            assert {number: bytes(codes) for number, codes in numbered.items()} == {1: CODES[1], 4: CODES[4]}
            assert reader.vectors_numbered(stream, []) == {}

    def test_a_vector_that_is_there_stays(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 1)
        _add(store, stream, 0, 1)
        with store.write(TENANT) as writer:
            writer.add_vectors(stream, 0, [(1, b"another")])
        with store.read(TENANT) as reader:
            assert [bytes(codes) for _, codes in reader.vectors_after(stream, 0)] == [CODES[1]]

    def test_generations_lie_beside_each_other(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 2)
        _add(store, stream, 0, 1, 2)
        _add(store, stream, 1, 2)
        with store.read(TENANT) as reader:
            assert [number for number, _ in reader.vectors_after(stream, 0)] == [1, 2]
        with store.write(TENANT) as writer:
            stream.embedder, stream.generation = "small/4", 1
            writer.set_embedder(stream)
            writer.drop_vectors(stream, 0)
        with scribe.reading() as (reader, stream):
            assert (stream.embedder, stream.generation, stream.next_embedder) == ("small/4", 1, "")
            assert [number for number, _ in reader.vectors_after(stream, 0)] == [2]
            assert reader.without_vector(stream, 0, 0, NO_LIMIT) != [], "the old ones are gone"

    def test_those_without_a_vector_are_told_with_their_content(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 5)
        _add(store, stream, 0, 2)
        with store.read(TENANT) as reader:
            assert reader.without_vector(stream, 0, 0, 2) == [(1, "Ana likes tea 1"), (3, "Ana likes tea 3")]
            assert [number for number, _ in reader.without_vector(stream, 0, 3, NO_LIMIT)] == [4, 5]
            assert [number for number, _ in reader.without_vector(stream, 1, 0, NO_LIMIT)] == [1, 2, 3, 4, 5]

    def test_content_that_goes_takes_its_vectors_along(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 3)
        _add(store, stream, 0, 1, 2, 3)
        _add(store, stream, 1, 1, 2)
        _remove(store, scribe, 2)
        with store.read(TENANT) as reader:
            assert [number for number, _ in reader.vectors_after(stream, 0)] == [1, 3]
            assert reader.stray_vectors(stream) == []
            assert [number for number, _ in reader.without_vector(stream, 1, 0, NO_LIMIT)] == [3]

    def test_a_vector_without_content_is_a_stray(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 2)
        _remove(store, scribe, 1)
        _add(store, stream, 0, 1, 2, 7)
        with store.read(TENANT) as reader:
            assert reader.stray_vectors(stream) == [1, 7]

    def test_a_tenant_has_the_embedders_of_streams_with_memories(self, store: Store, scribe: Scribe) -> None:
        def name(scribe: Scribe, embedder: str) -> None:
            with store.write(scribe.address.tenant) as writer:
                stream = scribe.stream(writer)
                stream.embedder, stream.next_embedder = embedder, "next/9"
                writer.set_embedder(stream)

        ben, empty, other = (Scribe(store, address(owner)) for owner in ("ben", "empty", "cat"))
        for each in (scribe, ben, other):
            _fill(each, 1)
        for each, embedder in ((scribe, "b/2"), (ben, "a/1"), (other, "b/2"), (empty, "unused/1")):
            name(each, embedder)
        globex = Scribe(store, address(tenant="globex"))
        _fill(globex, 1)
        with store.read(TENANT) as reader:
            assert reader.embedders(TENANT) == ["a/1", "b/2"]
        with store.read("globex") as reader:
            assert reader.embedders("globex") == [""]
        with store.read("nobody") as reader:
            assert reader.embedders("nobody") == []

    def test_those_that_fit_a_selection_are_found_by_number(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("1", category="tea")
        scribe.keep("2", category="work")
        scribe.keep("3", category="tea")
        Scribe(store, address("ben")).keep("4", category="tea")
        with store.read(TENANT) as reader:
            assert reader.fitting(scribe.seen_by(reader), Selection(equal={"category": "tea"})) == [1, 3]
            assert reader.fitting(scribe.seen_by(reader), Selection(equal={"category": "none"})) == []

    def test_vectors_are_their_streams_and_tenants_own(self, store: Store, scribe: Scribe) -> None:
        ben, globex = Scribe(store, address("ben")), Scribe(store, address(tenant="globex"))
        streams = [_fill(each, 2) for each in (scribe, ben, globex)]
        for stream, number in zip(streams, (1, 2, 2), strict=True):
            _add(store, stream, 0, number)
        with store.write(TENANT) as writer:
            writer.drop_vectors(streams[1], 0)
        with store.read(TENANT) as reader:
            assert [number for number, _ in reader.vectors_after(streams[0], 0)] == [1]
            assert reader.vectors_after(streams[1], 0) == []
        with store.read("globex") as reader:
            assert [number for number, _ in reader.vectors_after(streams[2], 0)] == [2]


def _relation(source: Place, target: Place, how: str = "related_to", strength: float = 0.75) -> Relation:
    return Relation(source, target, how, strength, at(1))


def _put(store: Store, *relations: Relation, tenant: str = TENANT) -> None:
    with store.write(tenant) as writer:
        writer.put_relations(tenant, relations)


def _at(store: Store, *places: Place, tenant: str = TENANT) -> list[Relation]:
    with store.read(tenant) as reader:
        return reader.relations_at(tenant, places)()


class RelationsContract(StoreUnderTest):
    """``ReadsRelations`` and ``KeepsRelations``."""

    def test_a_relation_is_found_from_both_ends(self, store: Store) -> None:
        one, two = _relation((1, 1), (1, 2)), _relation((1, 3), (2, 1), "explains", 0.123457)
        _put(store, two, one)
        assert _at(store, (1, 1)) == _at(store, (1, 2)) == [one]
        assert _at(store, (2, 1)) == [two]
        assert _at(store, (1, 1), (1, 2), (1, 3), (1, 1)) == [one, two], "each once, in order"
        assert _at(store, (2, 2)) == _at(store) == []

    def test_none_is_noted_twice(self, store: Store) -> None:
        first = _relation((1, 1), (1, 2))
        _put(store, first)
        _put(store, first, first._replace(strength=0.9))
        assert _at(store, (1, 1)) == [first]
        back, other = _relation((1, 2), (1, 1)), _relation((1, 1), (1, 2), "explains")
        _put(store, back, other)
        assert _at(store, (1, 1)) == [other, first, back], "another type, and the other direction, are others"

    def test_those_of_one_type_between_active_memories_are_found_by_their_stream(
        self, store: Store, scribe: Scribe
    ) -> None:
        here = _fill(scribe, 3).number
        other = Scribe(store, address("ben"))
        there = _fill(other, 1).number
        scribe.keep("replaced", status="superseded")
        found = [_relation((here, 2), (here, 1), "may_update"), _relation((here, 3), (there, 1), "may_update")]
        _put(store, *reversed(found), _relation((here, 3), (here, 1)), _relation((there, 1), (here, 1), "may_update"))
        _put(store, _relation((here, 3), (here, 4), "may_update"), _relation((here, 4), (here, 2), "may_update"))
        with store.read(TENANT) as reader:
            assert reader.relations_among_active(scribe.seen_by(reader), "may_update") == found
            assert reader.relations_among_active(scribe.seen_by(reader), "explains") == []
            assert reader.updates_among(TENANT, [(here, 1), (here, 2), (there, 1)]) == [
                found[0],
                _relation((there, 1), (here, 1), "may_update"),
            ], "both ends are among them"
            assert reader.updates_among(TENANT, [(here, 3)]) == []

    def test_the_active_end_of_a_chain_is_found_from_every_version(self, store: Store, scribe: Scribe) -> None:
        other = Scribe(store, address("ben"))
        ids = [memory_id(name) for name in ("first", "second", "third", "of ben")]
        gone: dict[str, Any] = {"status": "superseded"}
        scribe.keep("first", superseded_by_id=ids[1], **gone)
        scribe.keep("second", superseded_by_id=ids[2], **gone)
        scribe.keep("third")
        scribe.keep("of another category", superseded_by_id=ids[2], category="work", **gone)
        scribe.keep("of another scope", superseded_by_id=ids[2], body_fields={"scope": "planner"}, **gone)
        scribe.keep("of another person", superseded_by_id=ids[2], body_fields={"user_id": "cai"}, **gone)
        scribe.keep("of another stream", superseded_by_id=ids[3], **gone)
        other.keep("of ben")
        scribe.keep("of nothing", superseded_by_id=memory_id("nobody"), **gone)
        scribe.keep("archived", superseded_by_id=ids[2], status="archived")
        scribe.keep("in a circle", superseded_by_id=memory_id("in a circle"), **gone)
        here = scribe.now().number
        with store.read(TENANT) as reader:
            every = [(here, number) for number in range(1, 12)]
            assert reader.live_versions(TENANT, every) == {(here, 1): (here, 3), (here, 2): (here, 3)}
            assert reader.live_versions(TENANT, []) == {}
            reader.announce_comparison(TENANT, Comparison(every, Selection(equal={"status": "active"})))
            assert reader.live_versions(TENANT, every) == {(here, 1): (here, 3), (here, 2): (here, 3)}
            assert reader.live_versions(TENANT, every[:1]) == {(here, 1): (here, 3)}
        with store.read("globex") as reader:
            assert reader.live_versions("globex", every) == {}

    def test_one_is_removed_and_the_rest_stay(self, store: Store) -> None:
        related, explains = _relation((1, 1), (1, 2)), _relation((1, 1), (1, 2), "explains")
        _put(store, related, explains)
        with store.write(TENANT) as writer:
            writer.remove_relation(TENANT, related._replace(strength=0.1))
        assert _at(store, (1, 1)) == [explains]

    def test_a_streams_own_are_those_that_begin_there(self, store: Store, scribe: Scribe) -> None:
        stream = _fill(scribe, 3)
        here = stream.number
        inside, out = _relation((here, 2), (here, 1)), _relation((here, 3), (here + 1, 1))
        _put(store, out, inside, _relation((here + 1, 1), (here, 1)))
        with store.read(TENANT) as reader:
            assert reader.relations_between(stream, 0, NO_LIMIT) == [inside, out]

    def test_a_memory_that_goes_takes_its_relations_along(self, store: Store, scribe: Scribe) -> None:
        here = _fill(scribe, 3).number
        stays = _relation((here, 3), (here, 1))
        _put(store, _relation((here, 2), (here, 1)), _relation((here, 3), (here, 2)), stays)
        _put(store, _relation((here + 1, 2), (here, 2)))
        _remove(store, scribe, 2)
        assert _at(store, (here, 1), (here, 2), (here, 3), (here + 1, 2)) == [stays]

    def test_relations_are_a_tenants_own(self, store: Store) -> None:
        here, there = _relation((1, 1), (1, 2)), _relation((1, 1), (1, 3))
        _put(store, here)
        _put(store, there, tenant="globex")
        with store.write(TENANT) as writer:
            writer.remove_relation(TENANT, there)
        assert _at(store, (1, 1)) == [here]
        assert _at(store, (1, 1), tenant="globex") == [there]
