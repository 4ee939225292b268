"""Export memories as lines or as a file of another format, and back up the whole store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recollect.engine.arguments import check_path
from recollect.engine.context import Engine
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.filters import selection_of
from recollect.engine.read.reading import MAX_PAGE, current, place_of, select_exported
from recollect.engine.transfer import entries
from recollect.formats import records
from recollect.formats.entry_files import NAME as ENTRIES
from recollect.formats.registry import find_writable
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.record import Memory
from recollect.model.vocabulary import SHARED
from recollect.stores.backups import LAST_BACKUP

LeftOut = Callable[[Memory], None]
"""Called with each memory that is not exported because the format cannot say who may see it."""


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
    sign_as: str | None = None,
    key_file: Path | None = None,
) -> Iterator[str]:
    """Return the pieces of a file of that format, in order. Only ``prod``, and only what is active, unless asked otherwise.

    The oldest comes first, since most tools read a file from the top; only Recollect's own begins with the newest. If a
    format cannot say who may see a memory, those that are not shared are ``left_out``, unless ``include_private`` is set: a
    reader of the file would take them for everybody's. Only entries can be signed.
    """
    known = find_writable(format)
    assert known.write is not None, "the registry checked it"
    where: dict[str, Any] = {"owner": owner, "space": space, "include_namespaces": include_namespaces}
    if known.name == ENTRIES:
        return entries.export_entries(engine, status, **where, sign_as=sign_as, key_file=key_file)
    if sign_as is not None:
        raise BadInput("only entries are signed.", field="sign_as", hint="Export the format entries.")
    memories = every_memory(engine, status, oldest_first=known.name != records.NAME, **where)
    return known.write(memories if known.tells_scope or include_private else _select_shared(memories, left_out))


def _select_shared(memories: Iterable[Memory], left_out: LeftOut | None) -> Iterator[Memory]:
    for memory in memories:
        if memory.scope == SHARED:
            yield memory
        elif left_out is not None:
            left_out(memory)


def every_memory(
    engine: Engine, status: str | Sequence[str] | None, *, oldest_first: bool, **where: Any
) -> Iterator[Memory]:
    """Yield every memory that fits, ``where`` the caller may see it, from one snapshot, a page at a time."""
    with engine.read() as reader:
        fitting = replace(selection_of(engine, (), {}, status), **select_exported(engine, reader, **where))
        starts: list[tuple[str, int, int] | None] = [None]
        while True:
            page = reader.select(engine.tenant, replace(fitting, before=starts[-1]), MAX_PAGE)
            if not oldest_first:
                yield from map(to_memory, current(engine, reader, page))
            if len(page) < MAX_PAGE:
                break
            starts.append(place_of(page[-1]))
        for start in reversed(starts) if oldest_first else ():
            page = reader.select(engine.tenant, replace(fitting, before=start), MAX_PAGE)
            yield from map(to_memory, reversed(current(engine, reader, page)))


@dataclass(frozen=True, slots=True)
class Backup(Plain):
    """A file that restores exactly, and its erasure list, which keeps erased people erased."""

    path: str
    bytes: int
    erasures: str
    at: str


def back_up(engine: Engine, path: str | Path) -> Backup:
    """Write a consistent copy of the store, every tenant's, to a file that does not exist yet."""
    if not engine.caller.trusted:
        raise NotAllowed("a backup holds every tenant's memories.", hint="Ask the application that opened the store.")
    at, place = engine.now(), check_path("path", path)
    engine.store.back_up(place)
    engine.store.set_value(LAST_BACKUP, at)
    return Backup(str(place), place.stat().st_size, f"{place}.erased", at)
