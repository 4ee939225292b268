"""Where the tests of the LangGraph doors keep their data: a file, or a database of a PostgreSQL server."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.langgraph import RecollectSaver, RecollectStore
from recollect.stores.postgres import init
from support.determinism import SteppingClock
from support.postgres_server import PostgresServer, running_server

TEMPLATE = "graph_store"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests, with a store to copy a test's own from."""
    with running_server() as server:
        server.execute(f"CREATE DATABASE {TEMPLATE}")
        init(server.url(TEMPLATE), fresh_store_id="11111111-1111-4111-8111-111111111111")
        yield server


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A file to keep a store in, for tests that look into it."""
    return str(tmp_path / "memory.db")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, file: str) -> str:
    """A new, empty store, on each engine in turn."""
    if request.param == "sqlite":
        return file
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.new_database(like=TEMPLATE)


@pytest.fixture
def saver(location: str) -> Iterator[RecollectSaver]:
    with RecollectSaver.from_conn_string(location) as opened:
        yield opened


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock(datetime(2026, 1, 1, tzinfo=UTC), timedelta(milliseconds=1))


@pytest.fixture
def mem(location: str, clock: SteppingClock) -> Iterator[recollect.Recollect]:
    with recollect.open(location, clock=clock) as opened:
        yield opened


@pytest.fixture
def store(mem: recollect.Recollect) -> Iterator[RecollectStore]:
    with RecollectStore(mem) as opened:
        yield opened
