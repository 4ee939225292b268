"""Check current memories: found by id, number and key, one active memory for each key, and removal of their content."""

import json
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recollect.model.errors import StoreError
from recollect.model.ledger import Event
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.stores.protocol import NO_LIMIT, Erased, Selection, Store
from recollect.testing.stores import SALT, TENANT, Scribe, StoreUnderTest, address, at, body, entry, memory_id, state

ID = "0f3a9c2b-1d4e-5f60-8a7b-9c0d1e2f3a4b"
SIBLING = "0f3a9c2b-1d4e-5f60-8a7b-9c0d1e2f3a4c"
COUSIN = "0f3a9c2b-ffff-5f60-8a7b-9c0d1e2f3a4b"
TYPED_IDS = {
    ID: [ID],
    ID.upper(): [ID],
    ID.replace("-", ""): [ID],
    "0f3a9c2b1d4e": [ID, SIBLING],
    "0f3a9c2b-1d4e": [ID, SIBLING],
    "0f3a9c2b1": [ID, SIBLING],
    "0f3a9c2b": [ID, SIBLING, COUSIN],
    "0": [ID, SIBLING, COUSIN],
    "1": [],
    "": [],
    "%": [],
    "0f3a%": [],
    "0f3a_c2b": [],
    "0f3a9c2b-1d4e-5f60-8a7b-9c0d1e2f3a4b0": [],
    "ticket-7": [COUSIN],
    "Ticket-7": [],
    "100 %": [ID],
    "' OR '1'='1": [],
}
"""What people type for an id, and the ids that it may be."""


def _everything_set(id: str) -> State:
    """Return a state in which no field has its default, so that a column that is lost shows."""
    return State(
        id=id,
        status=Status.CONTRADICTORY,
        version=3,
        supersedes_id=memory_id("before"),
        superseded_by_id=memory_id("after"),
        related_memory_ids=[memory_id("r2"), memory_id("r1")],
        conflict_ids=[memory_id("c")],
        canonical_key="Ana-Likes-Tea",
        key_digest="d" * 64,
        slot="5" * 32,
        subject_value="6" * 32,
        pinned=True,
        importance=5,
        importance_reason=["importance:edited", "naïve"],
        authority="tool_verified",
        authority_reason="verifying_tool",
        category="taste",
        tags=["b", "a", "100 %", "🫖"],
        reinforcements=4,
        last_reinforced=at(5),
        last_modified=at(6),
        expires_at=at(90),
        expires_at_tick=12,
        valid_from=at(3),
        valid_until=at(80),
        deleted_at=at(7),
        purge_at=at(8),
        vouchers=[{"actor": "b" * 64, "at": at(9), "confidence": 0.5, "says": "accurate"}],
        removed=None,
    )


class MemoryContract(StoreUnderTest):
    """``ReadsMemories`` for single memories, and the writes that go with it."""

    def test_every_field_of_a_state_comes_back(self, store: Store, scribe: Scribe) -> None:
        put = _everything_set(memory_id("tea"))
        untouched = {f.name for f in fields(State) if getattr(put, f.name) == getattr(state("x"), f.name)}
        assert untouched == {"removed"}, "this test must set every field"
        scribe.keep("tea", **{name: value for name, value in put.to_dict().items() if name != "id"})
        with store.read(TENANT) as reader:
            found = reader.by_ids(TENANT, [put.id])[put.id]
        assert found.state == put
        assert (found.tenant, found.number, found.accesses, found.last_access) == (TENANT, 1, 0, None)
        assert found.body == body()

    def test_moving_a_memory_changes_every_field_of_its_state_and_nothing_of_its_body(
        self, store: Store, scribe: Scribe
    ) -> None:
        id = scribe.keep("tea")
        moved = _everything_set(id)
        with store.write(TENANT) as writer:
            writer.move_memory(scribe.stream(writer), 1, moved)
        with store.read(TENANT) as reader:
            found = reader.by_ids(TENANT, [id])[id]
        assert (found.state, found.body) == (moved, body())

    def test_a_memory_is_found_by_id_number_and_stream(self, store: Store, scribe: Scribe) -> None:
        ids = [scribe.keep(name) for name in ("one", "two", "three")]
        Scribe(store, address("ben")).keep("ben's")
        with scribe.reading() as (reader, stream):
            assert set(reader.by_ids(TENANT, [ids[0], ids[2], memory_id("nothing")])) == {ids[0], ids[2]}
            assert reader.by_ids("globex", ids) == {}
            assert reader.by_ids(TENANT, []) == {}
            assert {s.state.id for s in reader.by_numbers(stream, [1, 3, 99])} == {ids[0], ids[2]}
            assert [s.state.id for s in reader.states(stream)] == ids
            assert [s.number for s in reader.states(stream)] == [1, 2, 3]

    def test_nearby_are_the_active_ones_of_some_numbers_with_what_a_link_needs(self, scribe: Scribe) -> None:
        one = scribe.keep("one", canonical_key="One", slot="5" * 32)
        scribe.keep("gone", canonical_key="Two", status=Status.SUPERSEDED)
        three = scribe.keep("three", canonical_key="Three", category="work")
        with scribe.reading() as (reader, stream):
            stored = reader.by_ids(TENANT, [one, three])
            bodies = {id: memory.body or {} for id, memory in stored.items()}
            found = {near.number: near for near in reader.nearby(stream, [3, 1, 2, 99])}
            assert reader.nearby(stream, []) == []
        assert {number: near.id for number, near in found.items()} == {1: one, 3: three}
        assert {near.id: (near.content, near.created_at, near.scope) for near in found.values()} == {
            id: (body["content"], body["created_at"], body["scope"]) for id, body in bodies.items()
        }
        assert (found[1].canonical_key, found[1].slot, found[3].category) == ("One", "5" * 32, "work")

    def test_what_is_active_is_found_by_its_slot_and_by_whom_and_what_it_names(
        self, store: Store, scribe: Scribe
    ) -> None:
        slot, named = "5" * 32, "6" * 32
        scribe.keep("one", canonical_key="One", slot=slot, subject_value=named)
        scribe.keep("two", canonical_key="Two", subject_value=named)
        scribe.keep("gone", canonical_key="Three", status=Status.SUPERSEDED, slot=slot, subject_value=named)
        Scribe(store, address("ben")).keep("ben's", slot=slot, subject_value=named)
        with store.read(TENANT) as reader:
            about = partial(reader.active_about, scribe.seen_by(reader))
            found = [
                about(slot, "", 9),
                about("", named, 9),
                about(slot, named, 9),
                about(slot, named, 1),
                about("", "", 9),
            ]
        numbers = [[one.number for one in some] for some in found]
        assert numbers == [[1], [1, 2], [1, 2], [1], []]

    def test_an_id_belongs_to_one_memory(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea")
        with pytest.raises(StoreError):
            Scribe(store, address("ben")).keep("tea", canonical_key="Another")

    @pytest.mark.parametrize("key", ["Ana-Likes-Tea", "ANA-likes-TEA"], ids=["same key", "other case"])
    def test_a_second_active_memory_of_a_key_is_refused_by_the_store_itself(
        self, store: Store, scribe: Scribe, key: str
    ) -> None:
        first = scribe.keep("one", canonical_key="Ana-Likes-Tea")
        with pytest.raises(StoreError):
            scribe.keep("two", canonical_key=key)
        with store.read(TENANT) as reader:
            assert [s.state.id for s in reader.states(scribe.seen_by(reader))] == [first]

    def test_moving_to_active_is_refused_while_the_key_is_taken(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        waiting = scribe.keep("two", canonical_key="Ana-Likes-Tea", status=Status.CONTRADICTORY)
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.move_memory(scribe.stream(writer), 2, state(waiting, canonical_key="Ana-Likes-Tea"))
        with store.read(TENANT) as reader:
            assert reader.by_ids(TENANT, [waiting])[waiting].state.status is Status.CONTRADICTORY

    @pytest.mark.parametrize(
        ("version", "fields"),
        [
            ({"scope": "planner"}, {}),
            ({"kind": "procedural"}, {}),
            ({}, {"canonical_key": "Ana-Likes-Coffee"}),
            *(({}, {"status": status}) for status in Status if status is not Status.ACTIVE),
        ],
        ids=lambda value: "/".join(map(str, value.values())) if value else "-",
    )
    def test_memories_that_differ_in_scope_kind_key_or_status_live_side_by_side(
        self, store: Store, scribe: Scribe, version: dict[str, Any], fields: dict[str, Any]
    ) -> None:
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        scribe.keep("two", body_fields=version, **{"canonical_key": "Ana-Likes-Tea", **fields})
        with store.read(TENANT) as reader:
            assert len(reader.states(scribe.seen_by(reader))) == 2

    def test_the_same_key_may_be_active_in_every_stream(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        Scribe(store, address("ben")).keep("two", canonical_key="Ana-Likes-Tea")
        Scribe(store, address(tenant="globex")).keep("three", canonical_key="Ana-Likes-Tea")

    def test_the_active_memory_of_a_key_is_found(self, store: Store, scribe: Scribe) -> None:
        old = scribe.keep("old", canonical_key="Ana-Likes-Tea", status=Status.SUPERSEDED)
        new = scribe.keep("new", canonical_key="Ana-Likes-Tea")
        mine = scribe.keep("mine", canonical_key="Ana-Likes-Tea", body_fields={"scope": "planner"})
        Scribe(store, address("ben")).keep("ben's", canonical_key="Ben-Likes-Tea")
        with scribe.reading() as (reader, stream):
            (shared,) = reader.active_with_key(stream, "shared", "semantic", "ana-likes-tea")
            (own,) = reader.active_with_key(stream, "planner", "semantic", "ana-likes-tea")
            assert (shared.state.id, own.state.id) == (new, mine)
            assert shared.body == body()
            assert reader.active_with_key(stream, "shared", "procedural", "ana-likes-tea") == []
            assert reader.active_with_key(stream, "shared", "semantic", "ben-likes-tea") == []
        with store.write(TENANT) as writer:
            writer.move_memory(stream, 2, state(new, canonical_key="Ana-Likes-Tea", status=Status.ARCHIVED))
            assert writer.active_with_key(stream, "shared", "semantic", "ana-likes-tea") == []
        assert old != new

    def test_a_shadowed_key_may_be_active_beside_another_and_stays_so(self, scribe: Scribe) -> None:
        key: dict[str, Any] = {"canonical_key": "Ana-Likes-Tea"}
        ids = [scribe.keep("one", **key)]
        scribe.keep("of a longer key", canonical_key="Ana-Likes-Tea-Too")
        ids += [scribe.keep("three", status=Status.ARCHIVED, **key), scribe.keep("four", status=Status.ARCHIVED, **key)]
        with scribe.writing() as (writer, stream):
            writer.move_memory(stream, 3, state(ids[1], **key), shadowed=True)
            writer.move_memory(stream, 4, state(ids[2], **key), shadowed=True)
        with scribe.writing() as (writer, stream):
            writer.move_memory(stream, 3, state(ids[1], pinned=True, **key))
        with scribe.reading() as (reader, stream):
            found = reader.active_with_key(stream, "shared", "semantic", "ana-likes-tea")
            assert [stored.state.id for stored in found] == ids
            holders = reader.key_holders(stream, ["shared"], [("semantic", "ana-likes-tea")])
            assert sorted(holders) == [1, 3, 4], "a shadowed key is of the same concept"
            rows = reader.candidates(TENANT, [(stream.number, number) for number in holders], Selection())
            assert {row.key_identity for row in rows.values()} == {"ana-likes-tea"}
            for version in reader.versions_after(stream, 0, 10):
                assert reader.stray_column(version, json.loads(version.body or "{}")) is None

    def test_what_memories_are_about_is_read_of_those_that_say_so(self, store: Store, scribe: Scribe) -> None:
        about = [{"name": "Zoë", "aliases": ["the boss"]}]
        scribe.keep("one", body_fields={"entities": about})
        scribe.keep("two", content='It says "entities": [] and means nothing by it')
        scribe.keep("three", body_fields={"entities": []})
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader).number
            found = reader.entities(TENANT, [(stream, number) for number in (3, 2, 1, 99)])
            assert found == {(stream, 1): about, (stream, 3): []}
            assert reader.entities(TENANT, []) == {} == reader.entities("another", [(stream, 1)])

    def test_ids_are_found_by_their_first_digits_or_an_alias(self, store: Store, scribe: Scribe) -> None:
        with scribe.writing() as (writer, stream):
            aliases = {ID: ["100 %"], SIBLING: [], COUSIN: ["ticket-7", "ticket-7"]}
            for number, (id, names) in enumerate(aliases.items(), start=1):
                writer.add_version(stream, number, id, "{}", b"salt")
                writer.put_memory(stream, number, state(id, canonical_key=f"K-{number}"), body(aliases=names), None)
        with store.read(TENANT) as reader:
            for typed, found in TYPED_IDS.items():
                assert reader.ids_like(TENANT, typed) == found, typed
                assert reader.ids_like(TENANT, typed, limit=1) == found[:1], typed
                assert reader.ids_like("globex", typed) == [], typed

    def test_aliases_are_listed_with_the_memories_that_have_them(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea", body_fields={"aliases": ["ticket-7", "a"]})
        coffee = scribe.keep("coffee", body_fields={"aliases": ["ticket-7"]})
        Scribe(store, address(tenant="globex")).keep("theirs", body_fields={"aliases": ["ticket-7"]})
        with store.read(TENANT) as reader:
            assert reader.aliases(TENANT) == [("a", tea), *sorted([("ticket-7", tea), ("ticket-7", coffee)])]
            assert reader.aliases("nowhere") == []

    def test_a_sound_store_repeats_its_versions_and_has_no_orphans(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=["tea"], body_fields={"scope": "planner", "kind": "insight", "user_id": "ana"})
        scribe.keep("coffee", status=Status.ARCHIVED, body_fields={"authority": "ai_inferred"})
        with store.read(TENANT) as reader:
            for version in reader.versions_after(scribe.seen_by(reader), 0, 10):
                body = json.loads(version.body or "")
                assert reader.stray_column(version, body) is None
                for column, other in (
                    ("scope", {"scope": "elsewhere"}),
                    ("kind_class", {"kind": "profile"}),
                    ("author_id", {"author": {"id": "eve", "name": "application"}}),
                    ("author_name", {"author": {"id": "application", "name": "eve"}}),
                    ("confidence" if body["authority"] == "ai_inferred" else None, {"confidence": 0.25}),
                ):
                    assert reader.stray_column(version, {**body, **other}) == column
            assert reader.orphans(TENANT) == []


SECRET = "zanzibarquartz"


def keep_secret(store: Store, scribe: Scribe) -> str:
    """Return a memory whose secret stands wherever content can stand."""
    id = scribe.keep(
        "secret",
        content=f"The word is {SECRET}",
        body_fields={"aliases": [f"alias-{SECRET}"], "user_id": SECRET, "scope": SECRET, "topic_id": SECRET},
        terms=("word", SECRET),
        canonical_key=f"Key-{SECRET}",
        tags=[SECRET],
        category=SECRET,
    )
    scribe.keep("other", terms=("word",))
    with scribe.writing() as (writer, stream):
        writer.add_amendment(stream, 9, id, f'{{"set":{{"tags":["{SECRET}"]}}}}', SALT)
        writer.keep_trace(TENANT, {"type": "memory_write", "memory_id": id, "x": SECRET}, at(1), None, None)
        answer = {"digest": SECRET, "salt": b"s", "outcome": "stored", "memory_id": id, "reasons": (), "at": at(1)}
        writer.keep_retry(TENANT, "key", answer)
        writer.count_accesses(TENANT, {id: (1, at(2))})
    return id


def remove_secret(store: Store, scribe: Scribe, id: str) -> int:
    with scribe.writing() as (writer, stream):
        writer.unindex_text(stream, [1])
        writer.add_entry(stream, entry(stream, 3, id, Event.ERASED))
        writer.move_memory(stream, 1, State(id, Status.SOFT_DELETED, removed="erased", deleted_at=at(3)))
        writer.advance_stream(stream)
        return writer.remove_content(stream, 1, id)


class RemovalContract(StoreUnderTest):
    """What an erasure or a purge asks of a store."""

    def test_every_value_goes_and_the_place_stays(self, store: Store, scribe: Scribe) -> None:
        id = keep_secret(store, scribe)
        assert remove_secret(store, scribe, id) == 1, "the number of traces that went"
        with scribe.reading() as (reader, stream):
            version = reader.versions(stream)[0]
            assert (version.number, version.id, version.body, version.salt) == (1, id, None, None)
            assert reader.amendments(stream)[9] == (None, None)
            assert reader.amendments_about(TENANT, id) == {}
            assert [one.event for one in reader.entries_about(TENANT, id)] == [Event.STORED, Event.ERASED]
            found = reader.by_ids(TENANT, [id])[id]
            assert found.body is None
            assert (found.state.removed, found.state.tags, found.state.canonical_key) == ("erased", [], "")
            assert (found.accesses, found.last_access) == (0, None)
            assert reader.ids_like(TENANT, f"alias-{SECRET}") == []
            assert reader.retry(TENANT, "key") is None
            assert reader.traces(TENANT) == []
            assert reader.term_frequencies(stream, ["word", SECRET]) == {"word": 1}

    def test_what_was_removed_is_counted_and_never_selected(self, store: Store, scribe: Scribe) -> None:
        id = keep_secret(store, scribe)
        remove_secret(store, scribe, id)
        with store.read(TENANT) as reader:
            assert id not in {s.state.id for s in reader.select(TENANT, Selection(), NO_LIMIT)}
            assert reader.count(TENANT, Selection()) == 1
            assert reader.count_removed(TENANT) == 1
            assert reader.count_removed("globex") == 0

    def test_removing_twice_is_harmless(self, store: Store, scribe: Scribe) -> None:
        id = keep_secret(store, scribe)
        remove_secret(store, scribe, id)
        with store.write(TENANT) as writer:
            assert writer.remove_content(scribe.stream(writer), 1, id) == 0

    def test_after_a_scrub_no_file_holds_the_content(self, store: Store, scribe: Scribe, tmp_path: Path) -> None:
        id = keep_secret(store, scribe)
        remove_secret(store, scribe, id)
        assert store.scrub() == self.beyond_reach
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file.name

    def test_a_scrub_leaves_the_rest_alone(self, store: Store, scribe: Scribe) -> None:
        id = keep_secret(store, scribe)
        remove_secret(store, scribe, id)
        with scribe.reading() as (reader, stream):
            before = (stream, reader.entries(stream), reader.versions(stream), reader.states(stream))
        store.scrub()
        with scribe.reading() as (reader, stream):
            assert (stream, reader.entries(stream), reader.versions(stream), reader.states(stream)) == before

    def test_the_list_of_erasures_is_kept_for_a_restored_copy(self, store: Store, second: Store) -> None:
        assert store.erasures() == []
        store.note_erasures([])
        one, two = Erased(TENANT, "memory", "one"), Erased("globex", "stream", "two")
        three = Erased(TENANT, "actor", "three")
        store.note_erasures([one, two])
        store.note_erasures([three])
        assert second.erasures() == store.erasures() == [one, two, three]
