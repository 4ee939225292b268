"""Moving out: memories as lines, or as a file of another format, as they all were at one moment."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.reading import MAX_PAGE, page_of
from recollect.formats import records
from recollect.formats.registry import to_write
from recollect.model.record import Memory
from recollect.model.vocabulary import SHARED

LeftOut = Callable[[Memory], None]
"""Is told of each memory that does not go along because the format cannot say who may see it."""


def export_as(
    engine: Engine,
    format: str,
    *,
    owner: str | None = None,
    space: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    status: str | Sequence[str] | None = "active",
    include_private: bool = False,
    left_out: LeftOut | None = None,
) -> Iterator[str]:
    """The pieces of a file of that format, in order. Only ``prod``, and only what is active, unless asked otherwise.

    The oldest comes first, since most tools read a file from the top; only Recollect's own begins with the newest. Where a
    format cannot say who may see a memory, one that is not shared is ``left_out``, unless the caller will ``include_private``
    ones: whoever reads the file would take them for everybody's.
    """
    known = to_write(format)
    assert known.write is not None, "the registry checked it"
    which: dict[str, Any] = {"owner": owner, "space": space, "include_namespaces": include_namespaces, "status": status}
    memories = every_memory(engine, oldest_first=known.name != records.NAME, **which)
    return known.write(memories if known.tells_scope or include_private else _shared(memories, left_out))


def export_lines(engine: Engine, **which: Any) -> Iterator[str]:
    """What ``export_as`` writes in Recollect's own format, a memory to a line, without the line's end."""
    return (line.removesuffix("\n") for line in export_as(engine, records.NAME, **which))


def _shared(memories: Iterable[Memory], left_out: LeftOut | None) -> Iterator[Memory]:
    for memory in memories:
        if memory.scope == SHARED:
            yield memory
        elif left_out is not None:
            left_out(memory)


def every_memory(engine: Engine, *, oldest_first: bool = False, **which: Any) -> Iterator[Memory]:
    """Every memory that fits and that the caller may see, from one snapshot, a page at a time."""
    with engine.read() as reader:
        cursors: list[str | None] = [None]
        while True:
            page = page_of(engine, reader, limit=MAX_PAGE, cursor=cursors[-1], **which)
            if not oldest_first:
                yield from page.items
            if page.next_cursor is None:
                break
            cursors.append(page.next_cursor)
        for cursor in reversed(cursors) if oldest_first else ():
            yield from reversed(page_of(engine, reader, limit=MAX_PAGE, cursor=cursor, **which).items)
