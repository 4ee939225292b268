"""What a client can read without a tool: the snapshot, a memory's page, and the knowledge graph."""

from collections.abc import Callable
from urllib.parse import unquote

import mcp_types as wire

from recollect.engine.transfer.knowledge_graph import whole_graph
from recollect.interfaces.mcp import blocks
from recollect.interfaces.mcp.catalogue import Tools
from recollect.interfaces.mcp.reference import INDENT
from recollect.interfaces.mcp.tool import as_text, plain
from recollect.interfaces.python import Recollect
from recollect.model.errors import NotFound

SNAPSHOT = "recollect://snapshot"
PAGE = "recollect://memory/"
GRAPH = "memory://knowledge-graph"
"""The reference server's own address, for clients that read it there."""

MARKDOWN, JSON = "text/markdown", "application/json"


def listed(tools: Tools) -> list[wire.Resource]:
    """The resources that have an address of their own. The graph is there where its tools are."""
    found = [
        wire.Resource(
            uri=SNAPSHOT,
            name="snapshot",
            title="Memory snapshot",
            description="What always belongs in a prompt: what is canon, and the current state of each topic.",
            mime_type=MARKDOWN,
        )
    ]
    if "read_graph" in tools:
        found.append(
            wire.Resource(
                uri=GRAPH,
                name="knowledge-graph",
                title="Knowledge graph",
                description="Every entity and relation.",
                mime_type=JSON,
            )
        )
    return found


def templates() -> list[wire.ResourceTemplate]:
    """Resources whose address holds an id."""
    return [
        wire.ResourceTemplate(
            uri_template=f"{PAGE}{{id}}",
            name="memory",
            title="A memory's page",
            description="One memory with where it came from, why it is as it is, its versions and its history.",
            mime_type=JSON,
        )
    ]


def read(memory: Recollect, uri: str) -> wire.TextResourceContents:
    """What stands at an address. What the caller may not see looks exactly like what is not."""
    mime_type, text = _reader(uri)(memory)
    return wire.TextResourceContents(uri=uri, mime_type=mime_type, text=text)


def _reader(uri: str) -> Callable[[Recollect], tuple[str, str]]:
    if uri == SNAPSHOT:
        return lambda memory: (MARKDOWN, blocks.snapshot(memory))
    if uri == GRAPH:
        return lambda memory: (JSON, as_text(whole_graph(memory.engine).to_dict(), INDENT))
    if uri.startswith(PAGE):
        return lambda memory: (JSON, _page(memory, unquote(uri.removeprefix(PAGE))))
    raise NotFound("there is no such resource.", field="uri", hint=f"Known: {SNAPSHOT}, {PAGE}ID.")


def _page(memory: Recollect, id: str) -> str:
    """As JSON: whatever a memory says, it cannot be taken for a part of the page."""
    explanation = memory.explain(id)
    versions = {version.id: plain(version) for version in memory.chain(explanation.id)}
    return as_text(
        {
            "memory": versions[explanation.id],
            "explanation": explanation.text,
            "chain": list(versions.values()),
            "history": plain(explanation.history),
        }
    )
