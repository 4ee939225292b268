"""A server over a store in memory, and clients that hold keys of its callers."""

from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

import recollect
from recollect.interfaces.rest import Settings, create_app

Connect = Callable[..., TestClient]


on_both_stores = pytest.mark.parametrize("memory", ["sqlite", "postgres"], indirect=True)
"""What a server leans on a store for is tried on PostgreSQL as well."""


@pytest.fixture
def memory(request: pytest.FixtureRequest) -> Iterator[recollect.Recollect]:
    place = request.getfixturevalue("server_store") if getattr(request, "param", "") == "postgres" else ":memory:"
    with recollect.open(place) as opened:
        yield opened


@pytest.fixture
def client(memory: recollect.Recollect) -> Iterator[TestClient]:
    """A client on the same machine of a server that has no keys."""
    with TestClient(create_app(memory, Settings(key_required=False)), base_url="http://127.0.0.1") as opened:
        yield opened


@pytest.fixture
def connect(memory: recollect.Recollect) -> Iterator[Connect]:
    """Make clients of one server, each with a key of its own; ``user=None`` is a client without a key."""
    with TestClient(create_app(memory)) as server:

        def with_key(user: str | None = "ana", **bound: object) -> TestClient:
            headers = (
                {} if user is None else {"Authorization": f"Bearer {memory.create_key('k', user=user, **bound).key}"}
            )
            return TestClient(server.app, headers=headers)

        yield with_key
