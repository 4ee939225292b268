"""Memory as a block of text for a prompt."""

from recollect.interfaces.mcp.tools import THREAD
from recollect.interfaces.python import Recollect

NOTHING = "Nothing is remembered.\n"


def snapshot(memory: Recollect) -> str:
    """What always belongs in a prompt: what is canon, and the current state of each topic."""
    return memory.snapshot_block().text or NOTHING


def recalled(memory: Recollect, query: str) -> str:
    """What changed since a client last asked, and what is remembered about something."""
    return memory.memory_block(query, thread=THREAD).text or NOTHING
