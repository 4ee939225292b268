"""The walls between tenants, as the database itself keeps them: whoever asks, and however."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql

from recollect.model.errors import StoreUnavailable
from recollect.stores.postgres import PostgresStore, init
from recollect.stores.protocol import Erased
from recollect.testing.stores import SALT, TENANT, Scribe, address, at, memory_id
from rows import every_row
from support.postgres_server import PostgresServer

STORE_ID = "11111111-1111-4111-8111-111111111111"
OTHER = "globex"
TABLES = """
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p')
"""
OF_TENANTS = TABLES + " AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant')"


@pytest.fixture(params=["plain_store", "partitioned_store"])
def url(postgres: PostgresServer, request: pytest.FixtureRequest) -> Iterator[str]:
    shared = postgres.url(request.param)
    postgres.empty_database(shared)
    yield shared


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(url, fresh_store_id=STORE_ID)
    yield opened
    opened.close()


@pytest.fixture
def filled(store: PostgresStore) -> PostgresStore:
    """A row of each tenant's in every table of the core."""
    for tenant in (TENANT, OTHER):
        scribe = Scribe(store, address(tenant=tenant))
        id = scribe.keep(f"{tenant}'s", body_fields={"aliases": ["ticket-7"]}, terms=["tea"])
        answer = {"digest": "d", "salt": b"s", "outcome": "stored", "memory_id": id, "reasons": (), "at": at(1)}
        with store.write(tenant) as writer:
            writer.actor_uid(tenant, "planner", SALT)
            writer.add_amendment(scribe.stream(writer), 1, id, "{}", SALT)
            writer.count_accesses(tenant, {id: (1, at(1))})
            writer.keep_trace(tenant, {"type": "memory_write"}, at(1), None, ("h" * 64, "{}"))
            writer.keep_retry(tenant, "key", answer)
    store.note_erasures([])
    return store


def _as_app(url: str, tenant: str | None) -> psycopg.Connection[tuple[object, ...]]:
    """A plain connection in the role of the application, as an injected statement would find it."""
    db = psycopg.connect(url, options="-c search_path=recollect")
    db.execute("SET ROLE recollect_app")
    if tenant is not None:
        db.execute("SELECT set_config('recollect.tenant', %s, false)", [tenant])
    return db


def _names(postgres: PostgresServer, url: str, query: str) -> list[str]:
    found = [str(name) for (name,) in postgres.execute(query, url)]
    assert found
    return found


CORE = "streams actors versions ledger amendments memories postings aliases accesses policies traces retries".split()


class TestCatalogue:
    def test_every_table_has_forced_row_level_security_and_a_policy(self, postgres: PostgresServer, url: str) -> None:
        bare = postgres.execute(
            TABLES + "AND NOT (c.relrowsecurity AND c.relforcerowsecurity"
            " AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))",
            url,
        )
        assert bare == []
        assert set(CORE) <= set(_names(postgres, url, TABLES))

    def test_every_table_of_tenants_has_the_same_wall(self, postgres: PostgresServer, url: str) -> None:
        walls = postgres.execute(
            "SELECT DISTINCT qual, with_check FROM pg_policies WHERE schemaname = 'recollect' AND policyname = 'one_tenant'",
            url,
        )
        assert len(walls) == 1 and walls[0][0] == walls[0][1]
        walled = _names(
            postgres,
            url,
            "SELECT tablename FROM pg_policies WHERE schemaname = 'recollect' AND policyname = 'one_tenant'",
        )
        assert sorted(walled) == sorted(_names(postgres, url, OF_TENANTS))

    def test_no_other_policy_lets_the_application_see_a_tenant(self, postgres: PostgresServer, url: str) -> None:
        """Policies are added up, so that one too many would open a wall."""
        found = postgres.execute(
            "SELECT tablename, policyname, cmd, 'recollect_app' = ANY (roles) OR 'public' = ANY (roles) FROM pg_policies"
            f" WHERE schemaname = 'recollect' AND policyname <> 'one_tenant' AND tablename IN ({OF_TENANTS})",
            url,
        )
        assert [row for row in found if row[3]] == []
        assert {row[:3] for row in found} <= {("erasures", "keeper", "SELECT")}

    def test_the_application_owns_nothing_and_is_nobody_special(self, postgres: PostgresServer, url: str) -> None:
        role = "rolname = 'recollect_app'"
        rights = "rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication OR rolcanlogin"
        assert postgres.execute(f"SELECT {rights} FROM pg_roles WHERE {role}", url) == [(False,)]
        owned = f"SELECT count(*) FROM pg_class WHERE relowner = (SELECT oid FROM pg_roles WHERE {role})"
        assert postgres.execute(owned, url) == [(0,)]
        belongs = f"SELECT count(*) FROM pg_auth_members WHERE member = (SELECT oid FROM pg_roles WHERE {role})"
        assert postgres.execute(belongs, url) == [(0,)]

    def test_history_can_be_added_to_and_not_changed(self, postgres: PostgresServer, url: str) -> None:
        for table in ("ledger", "erasures", "policies"):
            for right in ("UPDATE", "DELETE", "TRUNCATE"):
                assert postgres.execute(
                    f"SELECT has_table_privilege('recollect_app', 'recollect.{table}', '{right}')", url
                ) == [(False,)]
        for column in ("tenant", "stream", "memory", "id"):
            may = f"SELECT has_column_privilege('recollect_app', 'recollect.versions', '{column}', 'UPDATE')"
            assert postgres.execute(may, url) == [(False,)]

    def test_every_primary_key_begins_with_the_tenant(self, postgres: PostgresServer, url: str) -> None:
        others = postgres.execute(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
            " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]"
            " WHERE c.relnamespace = 'recollect'::regnamespace AND i.indisunique AND a.attname <> 'tenant'",
            url,
        )
        assert sorted(others) == [("migrations",), ("model_spending",), ("store",)]

    def test_text_sorts_by_code_point_and_its_values_are_kept_out_of_statistics(
        self, postgres: PostgresServer, url: str
    ) -> None:
        columns = """
            SELECT count(*), count(*) FILTER (WHERE l.collname = 'C' OR a.atttypid = 'bytea'::regtype),
                   count(*) FILTER (WHERE a.attstattarget = 0)
              FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
             WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
               AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
        """
        every, by_code_point, without_samples = postgres.execute(columns, url)[0]
        assert every == by_code_point
        content = (
            columns + "AND a.attname IN ('body', 'terms', 'term', 'owner', 'name', 'alias', 'tags', 'scope', 'salt')"
        )
        every, _, without_samples = postgres.execute(content, url)[0]
        assert every == without_samples > 0


class TestWalls:
    def test_without_a_tenant_there_are_no_rows(
        self, postgres: PostgresServer, url: str, filled: PostgresStore
    ) -> None:
        for tenant in (None, ""):
            with _as_app(url, tenant) as db:
                for table in _readable(postgres, url):
                    assert db.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone() == (
                        0,
                    )

    def test_each_tenant_sees_its_own_rows_alone(
        self, postgres: PostgresServer, url: str, filled: PostgresStore
    ) -> None:
        seen = set()
        for tenant in (TENANT, OTHER):
            with _as_app(url, tenant) as db:
                for table in _readable(postgres, url):
                    found = db.execute(
                        sql.SQL("SELECT DISTINCT tenant FROM {}").format(sql.Identifier(table))
                    ).fetchall()
                    assert found in ([], [(tenant,)])
                    seen |= {table} if found else set()
        assert set(CORE) <= seen, "every table held something to hide"

    @every_row("table", CORE)
    def test_a_row_of_another_tenant_cannot_be_written(self, url: str, filled: PostgresStore, table: str) -> None:
        with _as_app(url, TENANT) as db:
            columns = [c.name for c in db.execute(f"SELECT * FROM {table} LIMIT 0").description or ()]
            values = ", ".join("'globex'" if name == "tenant" else name for name in columns)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}")

    @every_row("table", ["streams", "memories"])
    def test_a_row_cannot_be_moved_to_another_tenant(self, url: str, filled: PostgresStore, table: str) -> None:
        with _as_app(url, TENANT) as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(f"UPDATE {table} SET tenant = 'globex'")

    @pytest.mark.parametrize("table", ["streams", "memories", "postings", "traces", "retries", "aliases"])
    def test_rows_of_another_tenant_are_neither_changed_nor_removed(
        self, postgres: PostgresServer, url: str, filled: PostgresStore, table: str
    ) -> None:
        count = f"SELECT count(*) FROM recollect.{table} WHERE tenant = 'globex'"
        before = postgres.execute(count, url)
        with _as_app(url, TENANT) as db:
            statement = f"UPDATE {table} SET uid = 'x'" if table == "streams" else f"DELETE FROM {table}"
            assert db.execute(statement).rowcount >= 1
            assert db.execute(f"{statement} WHERE tenant = 'globex'").rowcount == 0
        assert postgres.execute(count, url) == before
        assert postgres.execute("SELECT count(*) FROM recollect.streams WHERE uid = 'x'", url) <= [(1,)]

    def test_a_partition_is_walled_by_itself(self, postgres: PostgresServer, url: str, filled: PostgresStore) -> None:
        """Whoever is given a partition by mistake meets the same policy there."""
        parts = [str(name) for (name,) in postgres.execute(OF_TENANTS + " AND c.relispartition", url)]
        assert bool(parts) == ("partitioned" in _kind(postgres, url))
        with psycopg.connect(url, options="-c search_path=recollect") as db:
            for part in parts:
                db.execute(f"GRANT SELECT ON {part} TO recollect_app")
            db.execute("SET ROLE recollect_app")
            assert [db.execute(f"SELECT count(*) FROM {part}").fetchone() for part in parts] == [(0,)] * len(parts)
            db.rollback()

    def test_a_transaction_of_one_tenant_cannot_write_for_another(self, store: PostgresStore) -> None:
        with pytest.raises(StoreUnavailable, match="row-level security"), store.write(TENANT) as writer:
            writer.add_stream(address(tenant=OTHER), "1" * 32)
        with store.read(OTHER) as reader:
            assert reader.streams_of(OTHER) == []

    def test_a_reader_of_one_tenant_is_shown_nothing_of_another(self, filled: PostgresStore) -> None:
        theirs = memory_id("globex's")
        with filled.read(TENANT) as reader:
            assert reader.streams_of(OTHER) == []
            assert reader.by_ids(OTHER, [theirs]) == {}
            assert reader.ids_like(OTHER, theirs) == reader.ids_like(OTHER, memory_id("nothing")) == []
            assert reader.traces(OTHER) == []
            assert reader.retry(OTHER, "key") is None

    def test_the_tenant_ends_with_the_transaction(self, url: str) -> None:
        """The connection may be given to somebody else afterwards, by our pool or another's."""
        store = PostgresStore(f"{url}&recollect_connections=1", fresh_store_id=STORE_ID)
        Scribe(store).keep("tea")
        with store.read(OTHER) as reader:
            assert reader.streams_of(TENANT) == []
        store.close()

    def test_what_belongs_to_no_tenant_cannot_be_changed_by_the_application(
        self, url: str, store: PostgresStore
    ) -> None:
        for statement in (
            "UPDATE store SET value = 'x'",
            "DELETE FROM store",
            "INSERT INTO store VALUES ('partitions2', '7')",
            "INSERT INTO migrations VALUES (99, 'x', 'x')",
            "ALTER TABLE streams DISABLE ROW LEVEL SECURITY",
            "CREATE TABLE mine (x int)",
        ):
            with _as_app(url, TENANT) as db, pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(statement)


def _readable(postgres: PostgresServer, url: str) -> list[str]:
    return _names(postgres, url, OF_TENANTS + " AND NOT c.relispartition")


def _kind(postgres: PostgresServer, url: str) -> str:
    return "partitioned" if postgres.execute(TABLES + " AND c.relispartition", url) else "plain"


class TestRoles:
    """What each kind of role that a URL may name can do."""

    @pytest.fixture
    def roles(self, postgres: PostgresServer, empty: str) -> Iterator[None]:
        postgres.execute("CREATE ROLE rc_owner LOGIN CREATEROLE")
        postgres.execute("CREATE ROLE rc_login LOGIN NOINHERIT")
        postgres.execute("GRANT recollect_app TO rc_login; GRANT recollect_app TO rc_owner WITH ADMIN OPTION")
        postgres.execute("CREATE ROLE rc_stranger LOGIN")
        postgres.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO rc_owner").format(sql.Identifier(_database(empty))))
        yield
        for role in ("rc_owner", "rc_login", "rc_stranger"):
            postgres.execute(f"DROP OWNED BY {role} CASCADE", empty)
            postgres.execute(f"DROP ROLE {role}")

    def test_an_owner_without_special_rights_makes_the_store_and_is_bound_by_its_walls(
        self, postgres: PostgresServer, empty: str, roles: None
    ) -> None:
        owner = empty.replace("postgres@", "rc_owner@")
        store = PostgresStore(owner, fresh_store_id=STORE_ID)
        Scribe(store).keep("tea", terms=["tea"])
        assert postgres.execute("SELECT count(*) FROM recollect.memories", owner) == [(0,)]
        assert store.scrub()[0].startswith("the server's write-ahead log")
        store.set_value("a", "b")
        assert store.value("a") == "b"
        store.close()

    def test_a_login_that_owns_nothing_can_do_everything_that_operations_do(self, empty: str, roles: None) -> None:
        init(empty, fresh_store_id=STORE_ID)
        store = PostgresStore(empty.replace("postgres@", "rc_login@"), fresh_store_id="unused")
        assert store.store_id == STORE_ID
        Scribe(store).keep("tea", terms=["tea"])
        with store.write(TENANT) as writer:
            writer.forget_owner(Scribe(store).stream(writer))
        assert store.scrub_due()
        assert "whose role owns them" in store.scrub()[0]
        assert store.scrub_due(), "somebody else still has to"
        gone = Erased(TENANT, "memory", "one")
        store.note_erasures([gone])
        assert (store.erasures(TENANT), store.erasures(OTHER), store.erasures()) == ([gone], [], [])
        store.close()

    def test_who_may_not_create_is_told_what_to_run(self, empty: str, roles: None) -> None:
        with pytest.raises(StoreUnavailable, match="recollect db init"):
            PostgresStore(empty.replace("postgres@", "rc_stranger@"), fresh_store_id=STORE_ID)
        init(empty, fresh_store_id=STORE_ID)
        with pytest.raises(StoreUnavailable, match="recollect db init"):
            PostgresStore(empty.replace("postgres@", "rc_stranger@"), fresh_store_id=STORE_ID)

    def test_only_who_sees_every_tenant_can_list_them(self, empty: str, roles: None) -> None:
        store = PostgresStore(empty.replace("postgres@", "rc_owner@"), fresh_store_id=STORE_ID)
        assert store.tenants() == [], "there are none, and nothing to hide"
        Scribe(store).keep("tea")
        with pytest.raises(Exception, match="Name the tenants"):
            store.tenants()
        store.close()
        whole = PostgresStore(empty, fresh_store_id=STORE_ID)
        assert whole.tenants() == [TENANT]
        whole.close()


def _database(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
