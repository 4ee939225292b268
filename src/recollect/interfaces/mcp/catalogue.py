"""What a server offers: the sets of tools, the resources that a client reads without a tool, and the prompts."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import mcp_types as wire

from recollect.engine.transfer.knowledge_graph import whole_graph
from recollect.interfaces.mcp.reference import INDENT, REFERENCE_TOOLS
from recollect.interfaces.mcp.tool import Request, Tool, as_text, parse
from recollect.interfaces.mcp.tools import ADMIN_TOOLS, DEFAULT_TOOLS, THREAD
from recollect.interfaces.python import Recollect
from recollect.model.canonical import to_json_values
from recollect.model.errors import BadInput, NotFound

Tools = Mapping[str, Tool[Any]]

SETS: dict[str, Sequence[Tool[Any]]] = {
    "default": DEFAULT_TOOLS,
    "admin": ADMIN_TOOLS,
    "reference": REFERENCE_TOOLS,
    "all": (*DEFAULT_TOOLS, *ADMIN_TOOLS, *REFERENCE_TOOLS),
}
TOOLS: Tools = {tool.name: tool for tool in SETS["all"]}


def choose_tools(words: str) -> Tools:
    """Return the tools that a comma list of sets and names asks for, in its order, each once.

    >>> list(choose_tools("query"))
    ['memory_query']
    """
    found: dict[str, Tool[Any]] = {}
    for word in (part.strip() for part in words.split(",")):
        for tool in SETS.get(word) or (_find_tool(word),):
            found[tool.name] = tool
    return found


def _find_tool(word: str) -> Tool[Any]:
    """Return one tool by its name, with or without what it begins with."""
    tool = TOOLS.get(normalise_name(word)) or TOOLS.get(f"memory_{word}")
    if tool is None:
        short = [name.removeprefix("memory_") for name in TOOLS]
        raise BadInput(f"there is no tool {word!r:.80}.", field="tools", hint=f"Known: {', '.join([*SETS, *short])}.")
    return tool


def normalise_name(name: str) -> str:
    """Return the name under which a tool is listed.

    The protocol allows dots in names, but what many clients pass them on to does not: ``memory.query`` is listed as
    ``memory_query``, and both are answered.
    """
    return name.replace(".", "_")


SNAPSHOT = "recollect://snapshot"
PAGE = "recollect://memory/"
GRAPH = "memory://knowledge-graph"
"""The reference server's own address, for clients that read it there."""

MARKDOWN, JSON = "text/markdown", "application/json"


_SNAPSHOT = wire.Resource(
    uri=SNAPSHOT,
    name="snapshot",
    title="Memory snapshot",
    description="What always belongs in a prompt: what is canon, and the current state of each topic.",
    mime_type=MARKDOWN,
)
_GRAPH = wire.Resource(
    uri=GRAPH,
    name="knowledge-graph",
    title="Knowledge graph",
    description="Every entity and relation.",
    mime_type=JSON,
)
RESOURCE_TEMPLATES = [
    wire.ResourceTemplate(
        uri_template=f"{PAGE}{{id}}",
        name="memory",
        title="A memory's page",
        description="One memory with where it came from, why it is as it is, its versions and its history.",
        mime_type=JSON,
    )
]
"""The resources whose address holds an id."""


def list_resources(tools: Tools) -> list[wire.Resource]:
    """Return the resources that have an address of their own. The graph is there where its tools are."""
    return [_SNAPSHOT, _GRAPH] if "read_graph" in tools else [_SNAPSHOT]


def read_resource(memory: Recollect, uri: str) -> wire.TextResourceContents:
    """Return the resource at an address. What the caller may not see looks exactly like what does not exist."""
    if uri == SNAPSHOT:
        text = _render_snapshot(memory)
    elif uri == GRAPH:
        text = as_text(whole_graph(memory.engine).to_dict(), INDENT)
    elif uri.startswith(PAGE):
        text = _render_page(memory, unquote(uri.removeprefix(PAGE)))
    else:
        raise NotFound("there is no such resource.", field="uri", hint=f"Known: {SNAPSHOT}, {PAGE}ID.")
    return wire.TextResourceContents(uri=uri, mime_type=MARKDOWN if uri == SNAPSHOT else JSON, text=text)


def _render_page(memory: Recollect, id: str) -> str:
    """Return a memory's page as JSON, so that nothing that the memory says can be taken for a part of the page."""
    explanation = memory.explain(id)
    versions = {version.id: to_json_values(version) for version in memory.chain(explanation.id)}
    return as_text(
        {
            "memory": versions[explanation.id],
            "explanation": explanation.text,
            "chain": list(versions.values()),
            "history": to_json_values(explanation.history),
        }
    )


class About(Request):
    text: str


PROMPTS = [
    wire.Prompt(
        name="recall",
        title="Recall",
        description="What is remembered about something, as a block for the conversation.",
        arguments=[wire.PromptArgument(name="text", description="What it is about.", required=True)],
    ),
    wire.Prompt(
        name="snapshot",
        title="Memory snapshot",
        description="What is canon and the current state of each topic, as a block for the conversation.",
    ),
]


def get_prompt(memory: Recollect, name: str, arguments: Mapping[str, str]) -> wire.GetPromptResult:
    """Return the message that a prompt makes."""
    if name == "recall":
        text = memory.memory_block(parse(About, arguments).text, thread=THREAD).text or NOTHING
    elif name == "snapshot":
        parse(Request, arguments)
        text = _render_snapshot(memory)
    else:
        raise NotFound(f"there is no prompt {name!r:.80}.", field="name", hint="Known: recall, snapshot.")
    message = wire.PromptMessage(role="user", content=wire.TextContent(text=text))
    return wire.GetPromptResult(messages=[message])


NOTHING = "Nothing is remembered.\n"


def _render_snapshot(memory: Recollect) -> str:
    """Return what always belongs in a prompt: what is canon, and the current state of each topic."""
    return memory.snapshot_block().text or NOTHING
