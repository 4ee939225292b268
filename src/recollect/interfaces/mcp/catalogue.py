"""Which tools there are, and which of them a server was asked to serve."""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.interfaces.mcp.admin import ADMIN_TOOLS
from recollect.interfaces.mcp.reference import REFERENCE_TOOLS
from recollect.interfaces.mcp.tool import Tool
from recollect.interfaces.mcp.tools import DEFAULT_TOOLS
from recollect.model.errors import BadInput

Tools = Mapping[str, Tool[Any]]

SETS: dict[str, Sequence[Tool[Any]]] = {
    "default": DEFAULT_TOOLS,
    "admin": ADMIN_TOOLS,
    "reference": REFERENCE_TOOLS,
    "all": (*DEFAULT_TOOLS, *ADMIN_TOOLS, *REFERENCE_TOOLS),
}
TOOLS: Tools = {tool.name: tool for tool in SETS["all"]}


def choose_tools(words: str) -> Tools:
    """The tools that a comma list of sets and names asks for, in its order, each once.

    >>> list(choose_tools("query"))
    ['memory_query']
    """
    found: dict[str, Tool[Any]] = {}
    for word in (part.strip() for part in words.split(",")):
        for tool in SETS.get(word) or (_named(word),):
            found[tool.name] = tool
    return found


def _named(word: str) -> Tool[Any]:
    """One tool by its name, with or without what it begins with."""
    tool = TOOLS.get(listed_name(word)) or TOOLS.get(f"memory_{word}")
    if tool is None:
        short = [name.removeprefix("memory_") for name in TOOLS]
        raise BadInput(f"there is no tool {word!r:.80}.", field="tools", hint=f"Known: {', '.join([*SETS, *short])}.")
    return tool


def listed_name(name: str) -> str:
    """The name under which a tool is listed.

    The protocol allows dots in names, but what many clients pass them on to does not: ``memory.query`` is listed as
    ``memory_query``, and both are answered.
    """
    return name.replace(".", "_")
