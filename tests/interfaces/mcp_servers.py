"""The MCP server in a process of its own, reached by the SDK's client or byte by byte."""

import http.client
import json
import os
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from .shell import RECOLLECT

T = TypeVar("T")


def environment(**more: str) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")} | more


def with_client(server: str | StdioServerParameters, work: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    """What this work brings, done by one client. A refusal by protocol comes out as itself, not in a group of one."""

    async def session() -> T:
        with anyio.fail_after(30):
            async with Client(server, mode=mode) as client:
                try:
                    return await work(client)
                except MCPError as error:
                    refused = error
        raise refused

    return anyio.run(session)


def over_stdio(folder: Path, *options: str, tools: str = "default") -> StdioServerParameters:
    """A server that the client starts itself."""
    return StdioServerParameters(
        command=str(RECOLLECT), args=[*options, "mcp", "--tools", tools], env=environment(), cwd=folder
    )


@contextmanager
def process(
    folder: Path, *arguments: str, program: str = str(RECOLLECT), **more: str
) -> Iterator[subprocess.Popen[str]]:
    """`recollect` with its streams open; ended if it has not ended by itself."""
    running = subprocess.Popen(
        [program, *arguments],
        cwd=folder,
        env=environment(**more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield running
    finally:
        running.terminate()
        running.communicate(timeout=20)


class HttpServer:
    """A server that listens, and a client that talks to it."""

    def __init__(self, running: subprocess.Popen[str]) -> None:
        assert running.stderr is not None
        self.process = running
        announced = running.stderr.readline()
        assert announced.startswith("recollect: MCP at http://"), announced + running.stderr.read()
        self.url = announced.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1].split("/")[0])
        self._portal: BlockingPortal | None = None
        self._client: Client | None = None

    @contextmanager
    def reached(self) -> Iterator["HttpServer"]:
        """The same while the SDK's client is connected to it."""
        with (
            start_blocking_portal() as self._portal,
            self._portal.wrap_async_context_manager(Client(self.url)) as self._client,
        ):
            yield self

    def ask(self, work: Callable[[Client], Awaitable[T]]) -> T:
        """What the client brings."""
        assert self._portal is not None and self._client is not None, "only while it is reached"
        return self._portal.call(work, self._client)

    def call(self, tool: str, arguments: dict[str, Any] | None = None) -> Any:
        """One tool, called by the client."""
        return self.ask(lambda client: client.call_tool(tool, arguments or {}))

    def post(self, body: str, **headers: str) -> tuple[int, str]:
        """One request, byte by byte."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        usual = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        connection.request("POST", "/mcp", body.encode("utf-8"), usual | headers)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8")
        connection.close()
        return answer.status, text


@contextmanager
def over_http(folder: Path, *options: str, tools: str = "default", **more: str) -> Iterator[HttpServer]:
    """A server that listens on this machine, reached by a client unless it takes a key."""
    with process(folder, *options, "mcp", "--http", "127.0.0.1:0", "--tools", tools, **more) as running:
        server = HttpServer(running)
        with nullcontext() if more else server.reached():
            yield server


def tool_call(tool: str, arguments: dict[str, Any]) -> str:
    """A request for :meth:`HttpServer.post`."""
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
