"""PostgreSQL under the store contract, in plain tables and in partitioned ones; its locks, backups and plans."""

import json
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from recollect.model.errors import StoreBusy, StoreError, StoreUnavailable, WrongState
from recollect.stores.postgres import PostgresStore, restore
from recollect.stores.postgres.transactions import QUERIES
from recollect.stores.postgres.upkeep import BEYOND_REACH
from recollect.stores.protocol import Erased, Store
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.store import QUERIES as SQLITE_QUERIES
from recollect.testing.contract import (
    ConcurrencyContract,
    RemovalContract,
    SelectionContract,
    StoreContract,
    StreamContract,
    TextContract,
)
from recollect.testing.contract.memories import SECRET, keep_secret, remove_secret
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at
from rows import every_row
from support.postgres_server import PostgresServer, binaries

STORE_ID = "11111111-1111-4111-8111-111111111111"


class OnAServer(StoreUnderTest):
    """Each test has this database to itself, emptied."""

    database = "plain_store"

    @pytest.fixture(autouse=True)
    def _database(self, postgres: PostgresServer) -> Iterator[None]:
        self.server = postgres
        self.url = postgres.url(self.database)
        postgres.empty_database(self.url)
        yield

    def open_store(self, folder: Path) -> Store:
        return PostgresStore(self.url, fresh_store_id=STORE_ID)

    def open_again(self, location: str) -> Store:
        return PostgresStore(location, fresh_store_id="22222222-2222-4222-8222-222222222222")


class ScrubbedOnAServer(OnAServer):
    def test_after_a_scrub_no_file_holds_the_content(self, store: Store, scribe: Scribe, tmp_path: Path) -> None:
        """In the server's files, statistics included; its log is beyond reach, and the answer says so."""
        id = keep_secret(store, scribe)
        self.server.execute("ANALYZE", self.url)
        remove_secret(store, scribe, id)
        self.server.execute("CHECKPOINT")
        assert any(SECRET.encode() in file.read_bytes() for file in self.server.table_files(self.url)), (
            "or this proves nothing"
        )
        assert store.scrub_due()
        assert store.scrub() == BEYOND_REACH
        assert not store.scrub_due()
        self.server.execute("CHECKPOINT")
        holding = [file.name for file in self.server.table_files(self.url) if SECRET.encode() in file.read_bytes()]
        assert holding == []


class TestPlain(ScrubbedOnAServer, StoreContract):
    def test_the_database_refuses_a_second_active_memory_of_a_key(self, store: Store, scribe: Scribe) -> None:
        """Whoever writes, and however: plain SQL on the table meets the same index."""
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        columns = [
            name
            for (name,) in self.server.execute(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = 'recollect.memories'::regclass AND attnum > 0",
                self.url,
            )
        ]
        values = ", ".join({"memory": "99", "id": "'other'"}.get(column, column) for column in columns)
        with pytest.raises(Exception, match="memories_one_active"):
            self.server.execute(
                f"INSERT INTO recollect.memories ({', '.join(columns)}) SELECT {values} FROM recollect.memories",
                self.url,
            )


class TestPartitioned(
    ScrubbedOnAServer, StreamContract, SelectionContract, TextContract, RemovalContract, ConcurrencyContract
):
    database = "partitioned_store"


class TestTables(OnAServer):
    def test_the_tables_of_tenants_are_the_same_as_in_sqlite(self, store: Store) -> None:
        """Or a tenant could not be carried from one to the other."""
        other = SqliteStore(":memory:", fresh_store_id=STORE_ID)
        with store.read(TENANT) as reader, other.read(TENANT) as theirs:
            assert reader.tables() == theirs.tables()
        other.close()

    def test_every_statement_is_there_that_sqlite_has(self) -> None:
        of_a_file = {"scrub_done", "set_store_value", "remove_store_value", "tenants"}
        of_loose_types = {"column_types", "is_mistyped", "mistyped"}  # a server refuses a value of another type
        assert set(SQLITE_QUERIES) - set(QUERIES) <= of_a_file | of_loose_types

    def test_traces_that_were_brought_are_followed_by_new_numbers(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            traces = next(table for table in writer.tables() if table.name == "traces")
            brought = {
                "tenant": TENANT,
                "number": 77,
                "at": at(1),
                "type": "memory_write",
                "body": '{"type":"memory_write"}',
            }
            writer.put_rows(traces, [[brought.get(column) for column in traces.columns]])
            writer.keep_trace(TENANT, {"type": "memory_write"}, at(2), None, None)
        with store.write(TENANT) as writer:
            assert [trace["number"] for trace in writer.traces(TENANT)] == [77, 78]
            for table in writer.tables():
                writer.clear_rows(TENANT, table)
            assert writer.traces(TENANT) == []


class TestLocks(OnAServer):
    """Many writers: each stream has one at a time, and different streams do not wait for each other."""

    def test_writers_of_different_streams_do_not_wait(self, store: Store, scribe: Scribe) -> None:
        other = Scribe(store, address("ben"))
        scribe.keep("one"), other.keep("two")
        with store.write(TENANT, [scribe.address]):
            other.keep("three")

    def test_a_second_writer_of_a_stream_waits_its_patience_and_no_longer(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one")
        with store.write(TENANT, [scribe.address]):
            for patience_s in (0, 0.3):
                began = time.monotonic()
                with (
                    pytest.raises(StoreBusy),
                    store.write(TENANT, [scribe.address], patience_s=patience_s),
                ):
                    pass
                assert patience_s <= time.monotonic() - began < patience_s + 2

    def test_while_all_streams_are_held_none_is_made(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one")
        with store.write(TENANT) as writer:
            assert [s.address for s in writer.locked_streams(TENANT)] == [scribe.address]
            with pytest.raises(StoreBusy), store.write(TENANT, [address("new")], patience_s=0) as second:
                second.add_stream(address("new"), "f" * 32)
            with store.write("globex", patience_s=0) as elsewhere:
                elsewhere.add_stream(address(tenant="globex"), "f" * 32)

    def test_a_locked_stream_is_the_one_that_the_last_writer_left(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one")
        number, seen = scribe.now().number, []

        def wait_for_it() -> None:
            with store.write(TENANT) as writer:
                seen.append(writer.locked_stream(TENANT, number).last_memory)

        with store.write(TENANT, [scribe.address]) as writer:
            waiting = threading.Thread(target=wait_for_it)
            waiting.start()
            time.sleep(0.2)
            scribe.keep_in(writer, "two")
        waiting.join()
        assert seen == [2]

    def test_named_in_any_order_streams_never_deadlock(self, store: Store) -> None:
        places = [address(f"owner {number}") for number in range(6)]
        failures: list[StoreError] = []

        def write(order: list[int]) -> None:
            for _ in range(10):
                try:
                    with store.write(TENANT, [places[number] for number in order]) as writer:
                        for number in order:
                            Scribe(store, places[number]).stream(writer)
                except StoreError as error:
                    failures.append(error)

        orders = ([0, 1, 2, 3], [3, 2, 1, 0], [5, 0, 4, 1], [1, 4, 0, 5])
        threads = [threading.Thread(target=write, args=(order,)) for order in orders]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert failures == []

    def test_an_error_of_a_statement_nobody_waited_for_still_fails_the_write(
        self, store: Store, scribe: Scribe
    ) -> None:
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            scribe.keep_in(writer, "two", canonical_key="Ana-Likes-Tea")
        scribe.keep("three")
        with store.read(TENANT) as reader:
            assert len(reader.states(scribe.seen_by(reader))) == 2

    def test_a_full_pool_is_a_bounded_wait(self, store: Store) -> None:
        small = PostgresStore(f"{self.url}&recollect_connections=1", fresh_store_id=STORE_ID, timeout_s=1)
        with (
            small.read(TENANT),
            pytest.raises(StoreBusy, match="recollect_connections"),
            small.read(TENANT),
        ):
            pass
        small.close()

    def test_erasures_are_kept_even_if_the_erasure_fails(self, store: Store) -> None:
        one = Erased(TENANT, "memory", "one")
        with pytest.raises(RuntimeError), store.write(TENANT):
            store.note_erasures([one])
            raise RuntimeError("power cut")
        assert store.erasures() == [one]

    def test_a_scrub_says_so_when_an_open_transaction_still_sees_the_rows(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one")
        hasty = PostgresStore(self.url, fresh_store_id=STORE_ID, timeout_s=0.3)
        with store.write(TENANT) as writer:
            writer.forget_owner(scribe.stream(writer))
        with store.read(TENANT) as reader:
            reader.streams_of(TENANT)
            assert "an open transaction" in hasty.scrub()[0]
        assert hasty.scrub_due()
        assert hasty.scrub() == BEYOND_REACH
        hasty.close()


class TestBackups(OnAServer):
    def test_a_backup_under_load_is_one_moment_of_the_store_and_keeps_its_walls(
        self, store: Store, scribe: Scribe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
        scribe.keep("first", terms=["tea"])
        done = threading.Event()

        def write() -> None:
            for number in count():
                if done.is_set():
                    return
                scribe.keep(f"tea {number}", terms=["tea"])

        writer = threading.Thread(target=write)
        writer.start()
        try:
            store.back_up(tmp_path / "backup")
        finally:
            done.set()
            writer.join()
        elsewhere = self.server.new_database()
        try:
            assert restore(elsewhere, tmp_path / "backup") == STORE_ID
            with pytest.raises(WrongState):
                restore(elsewhere, tmp_path / "backup")
            self._check_copy(store, elsewhere)
        finally:
            self.server.drop_database(elsewhere)

    def _check_copy(self, store: Store, url: str) -> None:
        copy = PostgresStore(url, fresh_store_id="unused")
        with store.read(TENANT) as reader, copy.read(TENANT) as restored:
            stream = restored.streams_of(TENANT)[0]
            entries = restored.entries(stream)
            assert len(entries) == len(restored.states(stream)) == stream.last_seq >= 1
            assert entries == reader.entries(stream)[: len(entries)]
        with copy.read("globex") as reader:
            assert reader.streams_of(TENANT) == []
        assert copy.check() == []
        Scribe(copy).keep("after the restore")
        copy.close()

    def test_without_the_program_the_error_says_what_to_install(
        self, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RECOLLECT_PG_BIN", str(tmp_path))
        with pytest.raises(StoreUnavailable, match="RECOLLECT_PG_BIN"):
            store.back_up(tmp_path / "backup")
        assert list(tmp_path.iterdir()) == []


class TestPlans(OnAServer):
    """How the server goes about it, under row-level security and as the application's role."""

    @pytest.fixture
    def filled(self, store: Store) -> Store:
        self.server.execute(
            "INSERT INTO recollect.postings SELECT 'acme', s, 'term' || t, -m, 1, 9 FROM generate_series(1, 5) s,"
            " generate_series(1, 40) t, generate_series(1, 100) m",
            self.url,
        )
        self.server.execute(
            "INSERT INTO recollect.postings SELECT 'acme', s, 'term' || t, -9223372036854775807, 100, 0"
            " FROM generate_series(1, 5) s, generate_series(1, 40) t",
            self.url,
        )
        self.server.execute("VACUUM (ANALYZE) recollect.postings", self.url)
        return store

    @pytest.fixture
    def many_memories(self, store: Store, scribe: Scribe) -> Store:
        scribe.keep("one")
        for table in ("memories", "versions"):
            self._multiply(table, 5_000)
        self.server.execute(  # since the server last looked, so that its plans do not reckon with them
            f"INSERT INTO recollect.accesses SELECT '{TENANT}', i::text, 1, '' FROM generate_series(1, 4000) i",
            self.url,
        )
        return store

    @pytest.fixture
    def many_relations(self, store: Store, scribe: Scribe) -> Store:
        scribe.keep("one")
        self.server.execute(
            "INSERT INTO recollect.relations SELECT 'acme', 1, i, 1, i + 1, 'related_to', 1, '', ''"
            " FROM generate_series(1, 30000) i",
            self.url,
        )
        self.server.execute("VACUUM (ANALYZE) recollect.relations", self.url)
        return store

    @every_row(
        ("query", "params"),
        [
            ("postings", {"term": "term7", "limit": 50}),
            ("postings_of", {"term": "term7", "numbers": "[3, 4]"}),
            ("fitting_postings", {"term": "term7", "limit": 50}),
            ("term_frequencies", {"terms": '["term7", "term8"]'}),
            ("sharing", {"terms": '["term7", "term8"]', "after": 0, "shared_min": 1, "limit": 9}),
        ],
    )
    def test_text_is_searched_in_the_index_alone(self, filled: Store, query: str, params: dict[str, object]) -> None:
        plan = self._plan(QUERIES[query].replace("{filters}", "m.status = 'active'"), stream=3, **params)
        assert "Index Only Scan using postings_pkey" in plan, plan
        assert "Heap Fetches: 0" in plan and "Seq Scan on postings" not in plan, plan

    @every_row(
        ("query", "params"),
        [
            ("memories_by_ids", {"ids": '["7", "8"]'}),
            ("memories_numbered", {"numbers": "[7, 8]"}),
            ("memories_at", {"places": "[[1, 7], [1, 8]]"}),
            (
                "announced_memories",
                {
                    "places": "[[1, 7], [1, 8]]",
                    "streams": "[1]",
                    "scopes": '["shared"]',
                    "kind_class": "event",
                    "rankings": "[[2, [[1, 7], [1, 8], [1, 9]]]]",
                    "sessions": "[]",
                    "reach": 3,
                    "longest": 16,
                },
            ),
            ("live_versions", {"places": "[[1, 7], [1, 8]]", "longest": 16}),
            ("texts_numbered", {"numbers": "[7, 8]"}),
            ("visible_numbers", {"numbers": "[7, 8]"}),
            ("select_in_stream", {"limit": 10}),
            ("select_memories", {"limit": 10}),
            ("active_with_key", {"scope": "shared", "kind_class": "semantic", "low": "7", "end": "7$"}),
            ("active_about", {"slot": "rent of ana", "subject_value": "ana 950", "limit": 16}),
            ("key_holders", {"scopes": '["shared"]', "keys": '[["semantic", "7"]]'}),
            ("fitting_postings", {"term": "tea", "limit": 50}),
            ("sharing", {"terms": '["tea"]', "after": 0, "shared_min": 1, "limit": 9}),
        ],
    )
    def test_memories_are_found_through_an_index(
        self, many_memories: Store, query: str, params: dict[str, object]
    ) -> None:
        sql = QUERIES[query].replace("{filters}", "m.status = 'active'").replace("{links}", "true")
        plan = self._plan(sql, stream=1, **params)
        assert "Seq Scan on memories" not in plan and "Seq Scan on versions" not in plan, plan
        assert "rows=4000" not in plan, plan

    def test_a_search_that_was_announced_reads_the_index_alone(self, filled: Store) -> None:
        Scribe(filled, address("ana")).keep("one")
        search = {"owners": '["ana"]', "namespaces": '["prod"]', "terms": '["term7", "term8"]', "most": 200}
        plan = self._plan(QUERIES["announced_text"].replace("{owned}", QUERIES["owned_by"]), **search)
        assert plan.count("Index Only Scan using postings_pkey") == 2, plan
        assert "Heap Fetches: 0" in plan and "Seq Scan on postings" not in plan, plan

    @every_row("query", ["relations_at", "announced_memories"])
    def test_relations_are_found_through_an_index(self, many_relations: Store, query: str) -> None:
        """Once they are many: a list of places must not make the planner read all of them."""
        places = [[1, number] for number in range(1, 50)]
        holders = {"streams": "[]", "scopes": "[]", "kind_class": "event"}
        holders |= {"rankings": "[]", "sessions": "[]", "reach": 3, "longest": 16}
        sql = QUERIES[query].replace("{filters}", "m.status = 'active'").replace("{links}", "true")
        plan = self._plan(sql, places=json.dumps(places), **(holders if query == "announced_memories" else {}))
        assert "rows=30000" not in plan and "Seq Scan on relations" not in plan, plan

    def _multiply(self, table: str, times: int) -> None:
        """Copies of a table's one row, under other numbers, ids and keys."""
        names = self.server.execute(
            f"SELECT attname::text FROM pg_attribute WHERE attrelid = 'recollect.{table}'::regclass AND attnum > 0",
            self.url,
        )
        changed = {"memory": "i", "id": "i::text", "key_identity": "i::text"}
        columns = [name for (name,) in names]
        values = ", ".join(changed.get(column, column) for column in columns)
        self.server.execute(
            f"INSERT INTO recollect.{table} ({', '.join(columns)})"
            f" SELECT {values} FROM recollect.{table}, generate_series(2, {times}) i",
            self.url,
        )
        self.server.execute(f"VACUUM (ANALYZE) recollect.{table}", self.url)

    def _plan(self, query: str, **params: object) -> str:
        with psycopg.connect(self.url, options="-c search_path=recollect") as db:
            db.execute("SET ROLE recollect_app")
            db.execute("SET recollect.tenant = 'acme'")
            found = db.execute(f"EXPLAIN (ANALYZE) {query}", {"tenant": TENANT, **params})
            return "\n".join(str(row[0]) for row in found)
