"""Every format by name. A new one is a :class:`Format` in the file of its family and a line here."""

from recollect.formats import entry_files, mem0, records, tables, vault
from recollect.formats.conversations import CHATGPT_FORMAT, CLAUDE_FORMAT
from recollect.formats.memory_schemas import V3_FORMAT, V4_FORMAT
from recollect.formats.other_stores import GRAPH_FORMAT, LANGGRAPH_FORMAT, NOTES_FORMAT
from recollect.formats.protocol import Format
from recollect.model.errors import BadInput

FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        records.FORMAT,
        V3_FORMAT,
        V4_FORMAT,
        records.ITEMS_FORMAT,
        vault.FORMAT,
        entry_files.FORMAT,
        mem0.FORMAT,
        GRAPH_FORMAT,
        NOTES_FORMAT,
        LANGGRAPH_FORMAT,
        CHATGPT_FORMAT,
        CLAUDE_FORMAT,
        tables.TABLE,
        tables.LINES,
    )
}


def find_readable(name: str) -> Format:
    """Return the format of this name."""
    if name not in FORMATS:
        raise BadInput(f"there is no format {name!r:.80}.", field="format", hint=f"Known: {', '.join(FORMATS)}.")
    return FORMATS[name]


def find_writable(name: str) -> Format:
    """Return the format of this name, which can be written."""
    written = [known.name for known in FORMATS.values() if known.write is not None]
    if name not in written:
        what = f"{name} can only be read" if name in FORMATS else f"there is no format {name!r:.80}"
        raise BadInput(f"{what}.", field="format", hint=f"These can be written: {', '.join(written)}.")
    return FORMATS[name]
