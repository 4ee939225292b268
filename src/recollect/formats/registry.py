"""Every format by name. A new one is a file of its own and a line here."""

from recollect.formats import (
    basic_memory,
    chatgpt,
    claude,
    entry_format,
    items,
    langgraph_store,
    mcp_memory,
    mem0,
    records,
    tables,
    v3,
    v4,
    vault,
)
from recollect.formats.protocol import Format
from recollect.model.errors import BadInput

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        records.FORMAT,
        v3.FORMAT,
        v4.FORMAT,
        items.FORMAT,
        vault.FORMAT,
        entry_format.FORMAT,
        mem0.FORMAT,
        mcp_memory.FORMAT,
        basic_memory.FORMAT,
        langgraph_store.FORMAT,
        chatgpt.FORMAT,
        claude.FORMAT,
        tables.TABLE,
        tables.LINES,
    )
}


def to_read(name: str) -> Format:
    """The format of this name."""
    if name not in FORMATS:
        raise BadInput(f"there is no format {name!r:.80}.", field="format", hint=f"Known: {', '.join(FORMATS)}.")
    return FORMATS[name]


def to_write(name: str) -> Format:
    """The format of this name, which can be written."""
    written = [known.name for known in FORMATS.values() if known.write is not None]
    if name not in written:
        what = f"{name} can only be read" if name in FORMATS else f"there is no format {name!r:.80}"
        raise BadInput(f"{what}.", field="format", hint=f"These can be written: {', '.join(written)}.")
    return FORMATS[name]
