"""Records that are kept and not recalled: what was superseded or archived elsewhere, and what another memory says already."""

from collections.abc import Iterable, Mapping
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.ingest import add
from recollect.engine.lifecycle import archive
from recollect.formats.entries import to_entry
from recollect.formats.entry_identity import identity_of, kept_apart
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import Status


def says_it_already(engine: Engine, memory: Memory, entry: Mapping[str, Any]) -> bool:
    """Whether a memory that an entry reinforced is another one: the same, by somebody else or of another time.

    A bound caller brings no time of its own, so that nobody could tell the next time that its entry is here already.
    """
    return engine.caller.trusted and identity_of(to_entry(memory)) != identity_of(entry)


def keep_apart(engine: Engine, entry: Mapping[str, Any], fields: Mapping[str, Any], key: str | None = None) -> Receipt:
    """Keep who said it and when in a record of its own. It is archived: what was said twice is recalled once."""
    receipt = add(engine, kept_apart(entry, fields), key)
    if receipt.memory is not None and not receipt.denied:
        archive_untouched(engine, [receipt.memory.id])
    return receipt


def archive_untouched(engine: Engine, ids: Iterable[str]) -> None:
    """Archive those of these memories that are active as they were stored; whoever brought one back since wants it."""
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, sorted(set(ids)))
        active = {id: stored for id, stored in found.items() if stored.state.status is Status.ACTIVE}
        stored_at = {id: reader.entries_about(engine.tenant, id)[0].at for id in active}
    for id, stored in active.items():
        if stored.state.last_modified == stored_at[id]:
            archive(engine, id)
