"""Tests of what the two patches change: each fails without them."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

import recollect
from recollect.compose import open_store
from recollect.langgraph import RecollectSaver
from recollect.stores.postgres import init
from support.determinism import SeededRandomness
from support.postgres_server import PostgresServer, binaries

STORE_ID = "11111111-1111-4111-8111-111111111111"


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else str(request.getfixturevalue("server_store"))


def test_an_erasure_stays_within_its_tenant_even_where_ids_are_the_same(location: str) -> None:
    ids = {}
    for tenant in ("acme", "globex"):
        with recollect.open(location, tenant=tenant, randomness=SeededRandomness(5)) as mem:
            ids[tenant] = mem.add(f"Tea of {tenant}", owner="ana").memory.id  # type: ignore[union-attr]
    assert ids["acme"] == ids["globex"]
    with recollect.open(location, tenant="globex") as mem:
        mem.erase(id=mem.add("Gone", owner="ben").memory.id)  # type: ignore[union-attr]
    with recollect.open(location, tenant="acme") as mem:
        mem.erase(id=ids["acme"])
    with recollect.open(location, tenant="globex") as mem:
        assert [memory.content for memory in mem.list().items] == ["Tea of globex"]


def _two_tenants(file: Path) -> None:
    for tenant in ("acme", "globex"):
        with recollect.open(file, tenant=tenant) as mem:
            mem.add(f"Tea of {tenant}", owner="ana", title="tea")
            mem.erase(id=mem.add("Gone", owner="ben").memory.id)  # type: ignore[union-attr]


def test_a_tenant_that_moves_alone_takes_its_own_erasures_and_no_others(
    tmp_path: Path, postgres: PostgresServer, empty: str
) -> None:
    _two_tenants(tmp_path / "a.db")
    recollect.migrate(tmp_path / "a.db", empty, tenants=["acme"])
    assert {tenant for (tenant,) in postgres.execute("SELECT tenant FROM recollect.erasures", empty)} == {"acme"}


def test_a_login_that_owns_nothing_moves_its_erasures_too(
    tmp_path: Path, postgres: PostgresServer, server_store: str
) -> None:
    postgres.execute("CREATE ROLE rc_mover LOGIN")
    postgres.execute("GRANT recollect_app TO rc_mover")
    url = server_store.replace("postgres@", "rc_mover@")
    with recollect.open(url, tenant="acme") as mem:
        mem.add("Tea", owner="ana")
        mem.erase(id=mem.add("Gone", owner="ben").memory.id)  # type: ignore[union-attr]
    recollect.migrate(url, tmp_path / "b.db", tenants=["acme"])
    postgres.execute("DROP ROLE rc_mover")
    store = open_store(tmp_path / "b.db", "unused", 30.0)
    assert [one.what for one in store.erasures("acme")] == ["memory"]
    store.close()


def test_what_is_written_to_a_tenant_that_was_copied_already_is_noticed(tmp_path: Path) -> None:
    _two_tenants(tmp_path / "a.db")
    totals: set[int] = set()

    def writing_when_the_second_begins(done: int, total: int) -> None:
        totals.add(total)
        if len(totals) == 2:
            totals.add(-1)
            with recollect.open(tmp_path / "a.db", tenant="acme") as mem:
                mem.add("Late words", owner="ana", title="late")

    with pytest.raises(recollect.StoreConflict, match="acme"):
        recollect.migrate(tmp_path / "a.db", tmp_path / "b.db", progress=writing_when_the_second_begins)
    recollect.migrate(tmp_path / "a.db", tmp_path / "b.db")
    with recollect.open(tmp_path / "b.db", tenant="acme") as mem:
        assert "Late words" in {memory.content for memory in mem.list().items}


def test_a_checkpoint_that_is_put_meanwhile_is_noticed(tmp_path: Path) -> None:
    _two_tenants(tmp_path / "a.db")
    put: list[str] = []

    def putting(done: int, total: int) -> None:
        if not put:
            with RecollectSaver.from_conn_string(tmp_path / "a.db", tenant="acme") as saver:
                where: Any = {"configurable": {"thread_id": "late", "checkpoint_ns": ""}}
                saver.put(where, empty_checkpoint(), {}, {})
            put.append("late")

    with pytest.raises(recollect.StoreConflict, match="acme"):
        recollect.migrate(tmp_path / "a.db", tmp_path / "b.db", progress=putting)


@pytest.mark.parametrize("name", ["nobody", "", "\x00"])
def test_a_tenant_that_is_not_there_cannot_be_moved(tmp_path: Path, name: str) -> None:
    _two_tenants(tmp_path / "a.db")
    with pytest.raises(recollect.NotFound, match="there is no tenant"):
        recollect.migrate(tmp_path / "a.db", tmp_path / "b.db", tenants=[name])


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ana:hun/ter2@localhost/db",
        "postgresql://ana:hun@ter2@localhost/db",
        "host=localhost dbname=x password=hunter2",
        "postgresql:/ana:hunter2@localhost/db",
    ],
)
def test_a_place_that_is_written_wrongly_is_refused_and_not_repeated(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(recollect.BadInput) as caught:
        recollect.open(url, timeout_s=2)
    assert caught.value.field == "store" and "hun" not in str(caught.value) and "ter2" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_settings_of_the_server_may_have_blanks(server_store: str) -> None:
    with recollect.open(f"{server_store}&options=-c%20work_mem%3D8MB") as mem:
        assert "hunter2" not in repr(mem.engine.store) and mem.stats()["memories"] == 0


def test_a_backup_goes_back_where_the_role_that_made_the_store_is_unknown(
    postgres: PostgresServer, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    postgres.execute("CREATE ROLE rc_maker LOGIN SUPERUSER")
    made = postgres.new_database()
    with recollect.open(made.replace("postgres@", "rc_maker@")) as mem:
        mem.add("Tea is served", owner="ana")
        mem.backup(tmp_path / "a.dump")
    postgres.drop_database(made)
    postgres.execute("DROP ROLE rc_maker")
    assert [one.verified for one in recollect.restore_backup(tmp_path / "a.dump", empty).tenants] == [True]
    with recollect.open(empty) as mem:
        assert mem.doctor() == ()


def test_a_store_moves_into_a_database_that_was_set_up_with_partitions(
    tmp_path: Path, postgres: PostgresServer, empty: str
) -> None:
    _two_tenants(tmp_path / "a.db")
    init(empty, fresh_store_id=STORE_ID, partitions=4)
    recollect.migrate(tmp_path / "a.db", empty)
    parts = "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname = 'memories'"
    assert postgres.execute(parts, empty) == [(4,)]
    with recollect.open(tmp_path / "a.db", tenant="acme") as old, recollect.open(empty, tenant="acme") as new:
        assert old.state_hash() == new.state_hash()
        assert new.add("Coffee came later", owner="ana").outcome == "stored" and new.verify().ok
