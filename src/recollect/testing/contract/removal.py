"""Removing content: every value of a memory goes, its place in the chain stays, and a restored copy is told again."""

from pathlib import Path

from recollect.model.ledger import Event
from recollect.model.state import State
from recollect.model.vocabulary import Status
from recollect.stores.protocol import NO_LIMIT, Erased, Selection, Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import SALT, TENANT, Scribe, at, entry

SECRET = "zanzibarquartz"


def _keep_secret(store: Store, scribe: Scribe) -> str:
    """A memory whose secret stands wherever content can stand."""
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
    with store.write(TENANT) as writer:
        stream = scribe.stream(writer)
        writer.add_amendment(stream, 9, id, f'{{"set":{{"tags":["{SECRET}"]}}}}', SALT)
        writer.keep_trace(TENANT, {"type": "memory_write", "memory_id": id, "x": SECRET}, at(1), None, None)
        answer = {"digest": SECRET, "salt": b"s", "outcome": "stored", "memory_id": id, "reasons": (), "at": at(1)}
        writer.keep_retry(TENANT, "key", answer)
        writer.count_accesses(TENANT, {id: (1, at(2))})
    return id


def _remove(store: Store, scribe: Scribe, id: str) -> int:
    with store.write(TENANT) as writer:
        stream = scribe.stream(writer)
        writer.unindex_text(stream, [1])
        writer.add_entry(stream, entry(stream, 3, id, Event.ERASED))
        writer.move_memory(stream, 1, State(id, Status.SOFT_DELETED, removed="erased", deleted_at=at(3)))
        writer.advance_stream(stream)
        return writer.remove_content(stream, 1, id)


class RemovalContract(Opening):
    """What an erasure or a purge asks of a store."""

    def test_every_value_goes_and_the_place_stays(self, store: Store, scribe: Scribe) -> None:
        id = _keep_secret(store, scribe)
        assert _remove(store, scribe, id) == 1, "the number of traces that went"
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
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
        id = _keep_secret(store, scribe)
        _remove(store, scribe, id)
        with store.read(TENANT) as reader:
            assert id not in {s.state.id for s in reader.select(TENANT, Selection(), NO_LIMIT)}
            assert reader.count(TENANT, Selection()) == 1
            assert reader.count_removed(TENANT) == 1
            assert reader.count_removed("globex") == 0

    def test_removing_twice_is_harmless(self, store: Store, scribe: Scribe) -> None:
        id = _keep_secret(store, scribe)
        _remove(store, scribe, id)
        with store.write(TENANT) as writer:
            assert writer.remove_content(scribe.stream(writer), 1, id) == 0

    def test_after_a_scrub_no_file_holds_the_content(self, store: Store, scribe: Scribe, tmp_path: Path) -> None:
        id = _keep_secret(store, scribe)
        _remove(store, scribe, id)
        assert store.scrub() == self.beyond_reach
        for file in tmp_path.rglob("*"):
            assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file.name

    def test_a_scrub_leaves_the_rest_alone(self, store: Store, scribe: Scribe) -> None:
        id = _keep_secret(store, scribe)
        _remove(store, scribe, id)
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
            before = (stream, reader.entries(stream), reader.versions(stream), reader.states(stream))
        store.scrub()
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
            assert (stream, reader.entries(stream), reader.versions(stream), reader.states(stream)) == before

    def test_the_list_of_erasures_is_kept_for_a_restored_copy(self, store: Store, second: Store) -> None:
        assert store.erasures() == []
        store.note_erasures([])
        one, two = Erased(TENANT, "memory", "one"), Erased("globex", "stream", "two")
        three = Erased(TENANT, "actor", "three")
        store.note_erasures([one, two])
        store.note_erasures([three])
        assert second.erasures() == store.erasures() == [one, two, three]
