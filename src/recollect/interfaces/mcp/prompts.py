"""Prompts that put memory before a model: what bears on a question, or what always belongs there."""

from collections.abc import Mapping

import mcp_types as wire

from recollect.interfaces.mcp import blocks
from recollect.interfaces.mcp.tool import Request, parse
from recollect.interfaces.python import Recollect
from recollect.model.errors import NotFound


class About(Request):
    query: str


class Nothing(Request):
    pass


def listed() -> list[wire.Prompt]:
    """Both prompts, with what they take."""
    return [
        wire.Prompt(
            name="recall",
            title="Recall",
            description="What is remembered about something, as a block for the conversation.",
            arguments=[wire.PromptArgument(name="query", description="What it is about.", required=True)],
        ),
        wire.Prompt(
            name="snapshot",
            title="Memory snapshot",
            description="What is canon and the current state of each topic, as a block for the conversation.",
        ),
    ]


def get(memory: Recollect, name: str, arguments: Mapping[str, str]) -> wire.GetPromptResult:
    """The message that a prompt makes."""
    if name == "recall":
        text = blocks.recalled(memory, parse(About, arguments).query)
    elif name == "snapshot":
        parse(Nothing, arguments)
        text = blocks.snapshot(memory)
    else:
        raise NotFound(f"there is no prompt {name!r:.80}.", field="name", hint="Known: recall, snapshot.")
    message = wire.PromptMessage(role="user", content=wire.TextContent(text=text))
    return wire.GetPromptResult(messages=[message])
