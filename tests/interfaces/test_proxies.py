"""What a proxy says of a client counts if the proxy is one that was named, and otherwise not."""

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from recollect.interfaces import listener

FORWARDED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}


async def tell(request: Request) -> JSONResponse:
    return JSONResponse([request.client and request.client.host, request.url.scheme])


def served(trusted: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the application as the listener serves it."""
    kept: list[uvicorn.Config] = []

    class Kept:
        def __init__(self, config: uvicorn.Config, _: object) -> None:
            kept.append(config)

        async def serve(self, sockets: object) -> None: ...

    monkeypatch.setattr(listener, "_Leaving", Kept)
    with socket.create_server(("127.0.0.1", 0)) as at:
        asyncio.run(listener.serve_app(Starlette(routes=[Route("/", tell)]), at, trusted_proxies=trusted))
    kept[0].load()
    return kept[0].loaded_app


@pytest.mark.parametrize(
    ("trusted", "proxy", "told"),
    [
        ("", "127.0.0.1", ["127.0.0.1", "http"]),
        ("10.0.0.1", "10.0.0.2", ["10.0.0.2", "http"]),
        ("10.0.0.1", "10.0.0.1", ["203.0.113.9", "https"]),
    ],
)
def test_only_a_named_proxy_is_believed(
    trusted: str, proxy: str, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = TestClient(served(trusted, monkeypatch), client=(proxy, 50_000))
    assert client.get("/", headers=FORWARDED).json() == told
