"""A random user against the simple model, on both stores. ``RECOLLECT_TORTURE=1`` lets it go on twenty times longer."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from recollect.compose import open as open_memory
from recollect.interfaces.python import Recollect
from support.machine import SqlitePlace, machine_for
from support.postgres_server import PostgresServer

LONGER = 35 if os.environ.get("RECOLLECT_TORTURE") else 1


def _story(examples: int) -> settings:
    return settings(
        max_examples=examples * LONGER,
        stateful_step_count=40,
        deadline=None,
        print_blob=True,
        phases=list(Phase) if LONGER > 1 else [Phase.explicit, Phase.generate],  # shrinking a long story takes minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


class ServerPlace:
    """A database that is emptied for each run."""

    server: PostgresServer

    def __init__(self) -> None:
        self.url = self.server.url("plain_store")
        self.server.empty_database(self.url)

    def open(self, **settings: Any) -> Recollect:
        return open_memory(self.url, **settings)

    def discard(self) -> None:
        """The next run empties it."""


TestMachineOnSqlite = machine_for(SqlitePlace).TestCase
TestMachineOnSqlite.settings = _story(8)


@pytest.mark.usefixtures("server_place")
class TestMachineOnPostgres(machine_for(ServerPlace).TestCase):  # type: ignore[misc]
    settings = _story(3)


@pytest.fixture
def server_place(postgres: PostgresServer) -> None:
    ServerPlace.server = postgres
