"""StoreUnderTest a PostgreSQL store: what is made, what is refused, and what is never shown."""

import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.model.errors import BadInput, StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable, WrongState
from recollect.stores.postgres import PostgresStore, init
from recollect.testing.stores import Scribe
from support.postgres_server import PostgresServer

STORE_ID = "11111111-1111-4111-8111-111111111111"
SECRET = "zanzibarquartz"
TABLES = """
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
"""


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    shared = postgres.url("plain_store")
    postgres.empty_database(shared)
    return shared


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(url, fresh_store_id=STORE_ID)
    yield opened
    opened.close()


class TestOpening:
    def test_a_store_has_as_many_partitions_as_it_was_made_with(self, postgres: PostgresServer, empty: str) -> None:
        init(empty, fresh_store_id=STORE_ID, partitions=2)
        parts = "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname = 'memories'"
        assert postgres.execute(parts, empty) == [(2,)]
        assert init(empty, fresh_store_id="other", partitions=2) == STORE_ID
        with pytest.raises(WrongState, match="2 partitions"):
            init(empty, fresh_store_id=STORE_ID, partitions=4)

    def test_a_later_schema_is_refused(self, postgres: PostgresServer, empty: str) -> None:
        init(empty, fresh_store_id=STORE_ID)
        postgres.execute("INSERT INTO recollect.migrations VALUES (99, '0099_later.sql', 'x')", empty)
        with pytest.raises(StoreTooNew):
            PostgresStore(empty, fresh_store_id=STORE_ID)

    def test_a_schema_that_another_release_built_is_refused(self, postgres: PostgresServer, empty: str) -> None:
        init(empty, fresh_store_id=STORE_ID)
        postgres.execute("UPDATE recollect.migrations SET sha256 = 'x' WHERE number = 1", empty)
        with pytest.raises(StoreCorrupt, match=r"0001_core\.sql"):
            PostgresStore(empty, fresh_store_id=STORE_ID)

    def test_somebody_elses_schema_is_left_alone(self, postgres: PostgresServer, empty: str) -> None:
        postgres.execute("CREATE SCHEMA recollect", empty)
        postgres.execute("CREATE TABLE recollect.store (theirs int)", empty)
        with pytest.raises(StoreError):
            PostgresStore(empty, fresh_store_id=STORE_ID)
        assert postgres.execute(TABLES, empty) == [("store",)]

    def test_many_may_open_a_new_store_at_once(self, empty: str) -> None:
        def opened(number: int) -> str:
            store = PostgresStore(empty, fresh_store_id=str(number))
            store.close()
            return store.store_id

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(opened, range(4)))) == 1


class TestSecrets:
    @pytest.mark.parametrize(
        "written",
        [
            "postgresql://ana:hunter2@localhost:1/db",
            "postgresql://ana:hunter2@localhost:1,localhost:2/db?sslmode=disable",
            "postgresql://ana@localhost:1/db?password=hunter2",
            "postgresql://ana:hunter2%40x@localhost:1/db?connect_timeout=2&sslpassword=hunter2",
        ],
    )
    def test_a_password_is_never_shown(self, written: str) -> None:
        with pytest.raises(StoreUnavailable) as caught:
            PostgresStore(written, fresh_store_id=STORE_ID, timeout_s=2)
        assert "hunter2" not in str(caught.value)
        assert "ana@localhost:1" in str(caught.value)

    @pytest.mark.parametrize(
        "written", ["postgresql://ana:hunter2@x:port/db", "postgresql://ana:hun@ter2@h/db?x", "hunter2"]
    )
    def test_not_even_when_the_url_makes_no_sense(self, written: str) -> None:
        with pytest.raises((BadInput, StoreUnavailable)) as caught:
            PostgresStore(written, fresh_store_id=STORE_ID, timeout_s=2)
        assert "hun" not in str(caught.value)

    def test_a_refused_row_is_not_quoted(self, store: PostgresStore, caplog: pytest.LogCaptureFixture) -> None:
        """The server's own message would name the key, and with it the person."""
        Scribe(store).keep("one", canonical_key=SECRET, body_fields={"scope": SECRET})
        with pytest.raises(StoreError) as caught:
            Scribe(store).keep("two", canonical_key=SECRET, body_fields={"scope": SECRET})
        told = "".join(traceback.format_exception(caught.value))
        assert "Key (" not in told and "Key (" not in caplog.text
        assert SECRET not in str(caught.value)

    def test_the_store_says_what_its_settings_mean(self, url: str) -> None:
        for setting in ("recollect_connections=0", "recollect_connections=many", "recollect_prepare=maybe"):
            with pytest.raises(BadInput, match=setting.split("=")[0]):
                PostgresStore(f"{url}&{setting}", fresh_store_id=STORE_ID)
        store = PostgresStore(f"{url}&recollect_prepare=off&recollect_connections=2", fresh_store_id=STORE_ID)
        for number in range(8):
            Scribe(store).keep(f"tea {number}", terms=["tea"])
        store.close()
