"""How the tests draw their examples, and the PostgreSQL server that they share.

Examples are the same ones every time, so that a red run means a change and not bad luck; ``RECOLLECT_TORTURE=1`` draws new
ones, and many more. The server starts when the first test asks for it, one for each process that runs tests.

Files lie on a disk in memory, where a sync costs nothing; a killed process leaves the same bytes on any file system. ``TMPDIR``
names another place.
"""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.pycache_prefix = os.environ.setdefault(
    "PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled")
)
sys.dont_write_bytecode = False
"""Processes that tests start share what one of them compiled, and the next run takes over the tests with their assertions
rewritten, also where the environment wants no such files around."""

gc.set_threshold(50_000)  # what tests and their modules are made of is no garbage, and there is much of it

pytest.register_assert_rewrite("recollect.testing", "support")  # so that a failure there shows its values

from recollect.stores.postgres import init  # noqa: E402
from support.postgres_server import MEMORY_DISK, PostgresServer, has_room, running_server  # noqa: E402

if "TMPDIR" not in os.environ and has_room(MEMORY_DISK):
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY_DISK)  # for this process, and for those that it starts

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("torture", deadline=None, max_examples=2_000, suppress_health_check=list(HealthCheck))
settings.load_profile("torture" if os.environ.get("RECOLLECT_TORTURE") else "steady")

STORE_ID = "11111111-1111-4111-8111-111111111111"


def pytest_collection_finish() -> None:
    """Take modules and tests, which live as long as the process, out of the garbage collector's sight."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests, with a store of each kind that tests take in turns."""
    with running_server() as server:
        for name, partitions in (("plain_store", 0), ("partitioned_store", 3)):
            server.execute(f"CREATE DATABASE {name}")
            init(server.url(name), fresh_store_id=STORE_ID, partitions=partitions)
        yield server


@pytest.fixture
def empty(postgres: PostgresServer) -> Iterator[str]:
    """A database without a store."""
    made = postgres.new_database()
    yield made
    postgres.drop_database(made)


@pytest.fixture
def server_store(postgres: PostgresServer) -> str:
    """A database with a store that holds nothing; the next test that asks gets it emptied again."""
    url = postgres.url("plain_store")
    postgres.empty_database(url)
    return url
