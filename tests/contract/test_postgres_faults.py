"""What only a server can do to us: it freezes, dies or restarts; and a process forks while it is connected."""

import os
import time
from collections.abc import Callable, Iterator

import pytest

from recollect.model.errors import OutcomeUnknown, StoreError, StoreUnavailable
from recollect.stores.postgres import PostgresStore
from recollect.testing.stores import TENANT, Scribe, address
from support.postgres_server import PostgresServer, running_server

STORE_ID = "11111111-1111-4111-8111-111111111111"


@pytest.fixture(scope="module")
def fragile() -> Iterator[PostgresServer]:
    """A server that is meant to be hurt."""
    with running_server() as server:
        yield server


class TestFaults:
    """A server that is frozen, killed or restarted: a bounded wait, a clear error, and then it works again."""

    @pytest.fixture
    def store(self, fragile: PostgresServer) -> Iterator[PostgresStore]:
        url = fragile.new_database()
        opened = PostgresStore(url, fresh_store_id=STORE_ID, timeout_s=1)
        Scribe(opened).keep("one")
        yield opened
        opened.close()
        fragile.drop_database(url)

    @staticmethod
    def _works(store: PostgresStore, name: str) -> None:
        Scribe(store).keep(name)
        with store.read(TENANT) as reader:
            assert Scribe(store).seen_by(reader).last_memory >= 2

    @pytest.mark.parametrize("use", ["read", "write"])
    def test_a_frozen_server(self, fragile: PostgresServer, store: PostgresStore, use: str) -> None:
        uses: dict[str, Callable[[], object]] = {"read": Scribe(store).now, "write": lambda: Scribe(store).keep("two")}
        fragile.freeze()
        try:
            for _ in range(2):
                began = time.monotonic()
                with pytest.raises(StoreUnavailable, match="Nothing was written"):
                    uses[use]()
                assert time.monotonic() - began < 6
        finally:
            fragile.thaw()
        self._works(store, "three")

    def test_a_server_that_freezes_before_it_answers_a_commit(
        self, fragile: PostgresServer, store: PostgresStore
    ) -> None:
        try:
            with pytest.raises(OutcomeUnknown, match="idempotency key"), store.write(TENANT) as writer:
                Scribe(store).keep_in(writer, "two")
                fragile.freeze()
        finally:
            fragile.thaw()
        self._works(store, "three")

    def test_a_server_that_dies_before_it_answers_a_commit(self, fragile: PostgresServer, store: PostgresStore) -> None:
        with pytest.raises(OutcomeUnknown), store.write(TENANT) as writer:
            Scribe(store).keep_in(writer, "two")
            fragile.kill()
        fragile.start()
        self._works(store, "three")

    def test_a_server_that_dies_in_the_middle(self, fragile: PostgresServer, store: PostgresStore) -> None:
        with pytest.raises(StoreUnavailable, match="Nothing was written"), store.write(TENANT) as writer:
            Scribe(store).keep_in(writer, "two")
            fragile.kill()
            writer.streams_of(TENANT)
        fragile.start()
        self._works(store, "three")

    @pytest.mark.parametrize("end", ["stop", "kill"])
    def test_a_restart_between_two_operations_is_not_noticed(
        self, fragile: PostgresServer, store: PostgresStore, end: str
    ) -> None:
        getattr(fragile, end)()
        fragile.start()
        self._works(store, "two")

    def test_no_server_is_a_bounded_wait_and_then_it_works_again(
        self, fragile: PostgresServer, store: PostgresStore
    ) -> None:
        fragile.stop()
        try:
            began = time.monotonic()
            with pytest.raises(StoreUnavailable, match="no connection"):
                Scribe(store).now()
            assert time.monotonic() - began < 5
            with pytest.raises(StoreUnavailable):
                PostgresStore(store.location, fresh_store_id=STORE_ID, timeout_s=1)
        finally:
            fragile.start()
        self._works(store, "two")

    def test_a_child_process_leaves_its_parents_connections_alone(self, store: PostgresStore) -> None:
        with store.write(TENANT) as writer:
            child = os.fork()
            if child == 0:
                os._exit(_in_the_child(store))
            assert os.waitpid(child, 0)[1] == 0
            Scribe(store).keep_in(writer, "after the fork")
        self._works(store, "later")
        with store.read(TENANT) as reader:
            assert Scribe(store).seen_by(reader).last_memory == 3

    def test_a_child_that_leaves_its_parents_transaction_changes_nothing(self, store: PostgresStore) -> None:
        child = -1
        try:
            with store.write(TENANT) as writer:
                Scribe(store).keep_in(writer, "the parent's")
                child = os.fork()
        except StoreError:
            os._exit(0 if child == 0 else 1)
        if child == 0:
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        self._works(store, "later")


def _in_the_child(store: PostgresStore) -> int:
    """Read, and write on another stream than the parent's, which the parent holds; 0 if it all worked."""
    try:
        Scribe(store).now()
        Scribe(store, address("child")).keep("the child's")
    except StoreError:
        return 1
    return 0
