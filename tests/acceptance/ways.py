"""Three ways into one memory, with the same few operations: Python, the command line and MCP."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
from mcp import Client
from typer.testing import CliRunner

from recollect.interfaces.cli.app import app
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.interfaces.mcp.server import build_server
from recollect.interfaces.python import Recollect
from recollect.model.errors import RecollectError

SHORT_ID = re.compile(r"· ([0-9a-f]{12})\]")


class Answer(NamedTuple):
    """What became of a write: its outcome, the first reason, and the id of the memory if there is one."""

    outcome: str
    reason: str
    id: str | None

    @property
    def was_kept(self) -> bool:
        return self.outcome in ("stored", "reinforced", "superseded")


class Refused(Exception):
    """An error of the memory, whichever way it came."""


class Way:
    """What every way can do. Owners, scopes and the like are told under one name everywhere."""

    name = ""

    def add(self, content: str, **fields: Any) -> Answer:
        """Write one memory."""
        raise NotImplementedError

    def query(self, question: str, **narrowed: Any) -> list[str]:
        """Return the contents that answer a question, best first."""
        raise NotImplementedError

    def prompt(self, question: str, **narrowed: Any) -> str:
        """Return the block that is put before a model."""
        raise NotImplementedError

    def listed(self, **narrowed: Any) -> list[str]:
        """Return the contents of a list."""
        raise NotImplementedError

    def shows(self, words: str, question: str, **narrowed: Any) -> bool:
        """Whether words reach the caller by a query, a prompt or a list."""
        told = [*self.query(question, **narrowed), self.prompt(question), *self.listed(**narrowed)]
        return any(words in one for one in told)


class ThroughPython(Way):
    name = "python"

    def __init__(self, memory: Recollect) -> None:
        self.memory = memory

    def add(self, content: str, **fields: Any) -> Answer:
        receipt = self.memory.add(content, **fields)
        return Answer(receipt.outcome, receipt.reasons[0], receipt.memory.id if receipt.memory else None)

    def query(self, question: str, **narrowed: Any) -> list[str]:
        return [item.memory.content for item in self._asked(self.memory.query, question, **narrowed).items]

    def prompt(self, question: str, **narrowed: Any) -> str:
        return str(self._asked(self.memory.memory_block, question, **narrowed).text)

    def listed(self, **narrowed: Any) -> list[str]:
        return [memory.content for memory in self._asked(self.memory.list, **narrowed).items]

    def _asked(self, operation: Any, *words: str, **narrowed: Any) -> Any:
        try:
            return operation(*words, **narrowed)
        except RecollectError as error:
            raise Refused(str(error)) from error


class ThroughTheShell(Way):
    """The command line in this process, which is ten times as fast as in one of its own."""

    name = "shell"

    def __init__(self, *options: str) -> None:
        self.options = options

    def run(self, *arguments: str) -> Any:
        """Return the JSON document that a command prints."""
        done = CliRunner().invoke(app, ["--json", *self.options, *arguments], standalone_mode=False)
        if isinstance(done.exception, RecollectError):
            raise Refused(str(done.exception))
        assert done.exception is None, done.exc_info
        return json.loads(done.stdout) if done.stdout else None

    def add(self, content: str, **fields: Any) -> Answer:
        return _receipt(self.run("add", content, *_options(fields)))

    def query(self, question: str, **narrowed: Any) -> list[str]:
        return [item["memory"]["content"] for item in self.run("query", question, *_options(narrowed))["items"]]

    def prompt(self, question: str, **narrowed: Any) -> str:
        return str(self.run("memory-block", question, *_options(narrowed))["text"])

    def listed(self, **narrowed: Any) -> list[str]:
        return [item["content"] for item in self.run("list", *_options(narrowed))["items"]]


class ThroughMcp(Way):
    """The server over the protocol, in this process."""

    name = "mcp"

    def __init__(self, memory: Recollect) -> None:
        self._server = build_server(memory, TOOLS)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured answer of a tool."""

        async def asked() -> Any:
            async with Client(self._server) as client:
                return await client.call_tool(tool, arguments)

        answer = anyio.run(asked)
        if answer.is_error:
            raise Refused(answer.content[0].text)
        return dict(answer.structured_content)

    def add(self, content: str, **fields: Any) -> Answer:
        return _receipt(self.call("memory_add", content=content, **fields))

    def query(self, question: str, **narrowed: Any) -> list[str]:
        found = self.call("memory_query", text=question, form="full", **narrowed)
        return [item["memory"]["content"] if "memory" in item else item["content"] for item in found["items"]]

    def prompt(self, question: str, **narrowed: Any) -> str:
        assert not narrowed, "the prompt takes a question alone"

        async def asked() -> Any:
            async with Client(self._server) as client:
                return await client.get_prompt("recall", {"text": question})

        return str(anyio.run(asked).messages[0].content.text)

    def listed(self, **narrowed: Any) -> list[str]:
        return [item["content"] for item in self.call("memory_list", **narrowed)["items"]]


def _receipt(answer: Mapping[str, Any]) -> Answer:
    memory = answer["memory"]
    return Answer(answer["outcome"], answer["reasons"][0], memory["id"] if memory else None)


def _options(values: Mapping[str, Any]) -> list[str]:
    """Return values as options of the command line; a list is an option given again."""
    found: list[str] = []
    for name, value in values.items():
        option = {"limit": "--limit"}.get(name, f"--{name.replace('_', '-')}")
        found += [part for one in (value if isinstance(value, list) else [value]) for part in (option, str(one))]
    return found
