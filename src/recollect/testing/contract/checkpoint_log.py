"""The log of what checkpoints cover: it grows in order, each tenant's for itself, and nothing in it ever changes."""

import threading

import pytest

from recollect.model.errors import StoreConflict, StoreError
from recollect.model.ledger import Event
from recollect.stores.protocol import CommittedValue, LogCheckpoint, LogLeaf, LogSignature, Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import SALT, TENANT, Scribe, address, at, entry

LOG, ROOT, KEY, SIGNATURE = "1" * 32, "2" * 64, "3" * 64, "4" * 128
APPENDS_EACH = 6


def leaf(place: int, subject: str = "ana", kind: str = "stream") -> LogLeaf:
    return LogLeaf(place, kind, subject, f'{{"about":"{subject}","é":{place}}}')


def _extend(store: Store, *leaves: LogLeaf, tenant: str = TENANT) -> None:
    with store.write(tenant) as writer:
        writer.lock_log(tenant)
        writer.extend_log(tenant, leaves)


def _append_often(store: Store, name: str) -> None:
    """Append to the end of the log so many times, wherever that is by then."""
    for _ in range(APPENDS_EACH):
        while True:
            try:
                with store.write(TENANT) as writer:
                    writer.lock_log(TENANT)
                    writer.extend_log(TENANT, [leaf(len(writer.log_leaves(TENANT)), name)])
                break
            except StoreConflict:
                continue


class CheckpointLogContract(Opening):
    """``ReadsCheckpointLog`` and ``ExtendsCheckpointLog``."""

    def test_a_log_begins_empty(self, store: Store) -> None:
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == reader.last_log_leaves(TENANT) == []
            assert reader.log_leaves_about(TENANT, "key") == []
            assert (reader.log_checkpoints(TENANT), reader.log_signatures(TENANT)) == ([], [])
            assert reader.log_checkpoint(TENANT) is None and reader.log_checkpoint(TENANT, 1) is None

    def test_leaves_come_back_in_order_as_they_were(self, store: Store) -> None:
        leaves = [leaf(0), leaf(1, "ben"), leaf(2, KEY, "key"), leaf(3), leaf(4, "ben"), leaf(5)]
        _extend(store, *leaves[:3])
        _extend(store, *leaves[3:])
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == leaves
            assert reader.log_leaves_about(TENANT, "stream", "ana") == [leaves[0], leaves[3], leaves[5]]
            assert reader.log_leaves_about(TENANT, "stream") == [*leaves[:2], *leaves[3:]]
            assert reader.log_leaves_about(TENANT, "key") == reader.log_leaves_about(TENANT, "key", KEY) == [leaves[2]]
            assert reader.log_leaves_about(TENANT, "key", "ana") == []
            assert reader.last_log_leaves(TENANT) == [leaves[4], leaves[5]]

    def test_a_place_is_taken_once(self, store: Store) -> None:
        _extend(store, leaf(0), leaf(1))
        with pytest.raises(StoreError):
            _extend(store, leaf(1, "somebody else"))
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == [leaf(0), leaf(1)]

    def test_checkpoints_and_their_signatures(self, store: Store) -> None:
        first, second = LogCheckpoint(2, LOG, ROOT, at(1)), LogCheckpoint(2**40, LOG, ROOT[::-1], at(2))
        one, two = LogSignature(2, KEY, SIGNATURE), LogSignature(2**40, KEY, SIGNATURE)
        with store.write(TENANT) as writer:
            for made in (second, first):
                writer.add_log_checkpoint(TENANT, made)
            for signature in (two, one, one._replace(signature="5" * 128)):
                writer.add_log_signature(TENANT, signature)
        with store.read(TENANT) as reader:
            assert reader.log_checkpoints(TENANT) == [first, second]
            assert reader.log_checkpoint(TENANT) == second
            assert reader.log_checkpoint(TENANT, 2) == first
            assert reader.log_checkpoint(TENANT, 3) is None
            assert reader.log_signatures(TENANT) == [one, two], "who signed once has signed"
            assert reader.log_signatures(TENANT, 2) == [one]
            assert reader.log_signatures(TENANT, 3) == []

    def test_each_tenant_has_a_log_of_its_own(self, store: Store) -> None:
        for tenant in (TENANT, "globex"):
            _extend(store, leaf(0, tenant), tenant=tenant)
            with store.write(tenant) as writer:
                writer.add_log_checkpoint(tenant, LogCheckpoint(1, LOG, ROOT, at(1)))
                writer.add_log_signature(tenant, LogSignature(1, KEY, SIGNATURE))
        _extend(store, leaf(1, "more"))
        with store.read("globex") as reader:
            assert reader.log_leaves("globex") == reader.last_log_leaves("globex") == [leaf(0, "globex")]
            assert len(reader.log_checkpoints("globex")) == len(reader.log_signatures("globex")) == 1

    def test_the_log_grows_with_its_transaction_or_not_at_all(self, store: Store) -> None:
        _extend(store, leaf(0))
        with pytest.raises(ZeroDivisionError), store.write(TENANT) as writer:
            writer.lock_log(TENANT)
            writer.extend_log(TENANT, [leaf(1)])
            writer.add_log_checkpoint(TENANT, LogCheckpoint(2, LOG, ROOT, at(1)))
            raise ZeroDivisionError
        with store.read(TENANT) as reader:
            assert (reader.log_leaves(TENANT), reader.log_checkpoints(TENANT)) == ([leaf(0)], [])

    def test_of_many_that_append_at_once_each_finds_the_end(self, store: Store, second: Store) -> None:
        """Whoever locks the log sees all that others have appended, so that no place is fought over."""
        handles = ((store, "ana"), (store, "ben"), (second, "cat"))
        writers = [threading.Thread(target=_append_often, args=handle) for handle in handles]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        with store.read(TENANT) as reader:
            leaves = reader.log_leaves(TENANT)
        assert [one.place for one in leaves] == list(range(len(handles) * APPENDS_EACH))
        assert sorted(one.subject for one in leaves) == sorted(name for _, name in handles for _ in range(APPENDS_EACH))

    def test_what_entries_committed_to_comes_back_until_it_is_removed(self, store: Store, scribe: Scribe) -> None:
        id, other = scribe.keep("one", content="Ana likes tea é"), scribe.keep("two")
        Scribe(store, address("ben")).keep("three")
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            writer.add_entry(stream, entry(stream, 3, id, Event.EDITED))
            writer.add_amendment(stream, 3, id, '{"set":{}}', SALT)
        with store.read(TENANT) as reader:
            body = reader.versions(stream)[0].body
            assert body is not None
            expected = [CommittedValue(1, body, SALT), CommittedValue(3, '{"set":{}}', SALT)]
            assert reader.committed_values(stream, 1, id) == expected
            assert [value.seq for value in reader.committed_values(stream, 2, other)] == [2]
        with store.write(TENANT) as writer:
            writer.remove_content(stream, 1, id)
        with store.read(TENANT) as reader:
            assert reader.committed_values(stream, 1, id) == []
