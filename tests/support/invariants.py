"""What must hold of every memory at any moment, checked through the public operations alone."""

from collections import Counter
from collections.abc import Iterable, Mapping

from recollect.interfaces.python import Recollect
from recollect.model.receipt import HistoryEvent
from recollect.model.record import Memory, Tombstone
from recollect.model.vocabulary import KIND_CLASS, Namespace

EVERYWHERE = tuple(Namespace)
WRITTEN_WITH = "relation:when_written"
"""The rule of links that have no entry of their own: they came with the entry of the memory that brought them."""


def check_everything(mem: Recollect, removed: Iterable[str] = ()) -> dict[str, Memory]:
    """Check every invariant; ``removed`` names the memories whose content is known to be gone. Returns the others."""
    memories = all_memories(mem)
    gone = set(removed)
    check_one_active_per_concept(memories.values())
    for id in (*memories, *gone):
        check_chain(mem, id)
        check_history(mem.history(id), memories.get(id))
    check_links(memories, gone)
    verification = mem.verify()
    assert verification.ok, verification.problems
    return memories


def all_memories(mem: Recollect) -> dict[str, Memory]:
    """Every memory that still has content, whatever its status and namespace, by id."""
    found: dict[str, Memory] = {}
    cursor = None
    while True:
        page = mem.list(status=None, include_namespaces=EVERYWHERE, limit=1_000, cursor=cursor)
        found |= {memory.id: memory for memory in page.items}
        cursor = page.next_cursor
        if cursor is None:
            return found


def check_one_active_per_concept(memories: Iterable[Memory]) -> None:
    """One concept, one live memory: by stream, scope, class of kind, and key without regard to case."""
    active = Counter(
        (m.tenant, m.namespace, m.space, m.owner, m.scope, KIND_CLASS[m.kind], m.canonical_key.lower())
        for m in memories
        if m.status == "active"
    )
    twice = [concept for concept, count in active.items() if count > 1]
    assert not twice, f"more than one active memory of {twice}"


def check_chain(mem: Recollect, id: str) -> None:
    """Versions are numbered 1 to n without a gap, each names its neighbours, and only the last may be active."""
    chain = mem.chain(id)
    ids = [link.id for link in chain]
    assert id in ids, f"{id} is not in its own chain"
    assert [link.version for link in chain] == list(range(1, len(chain) + 1)), f"gap in the chain of {id}: {chain}"
    assert [link.supersedes_id for link in chain] == [None, *ids[:-1]], f"links back are wrong in the chain of {id}"
    assert [link.superseded_by_id for link in chain] == [*ids[1:], None], f"links ahead are wrong in the chain of {id}"
    for link in chain[:-1]:
        assert isinstance(link, Tombstone) or link.status == "superseded", (
            f"{link.id} was superseded and is {link.status}"
        )


def check_links(memories: Mapping[str, Memory], removed: set[str]) -> None:
    """If one memory names another as related or in conflict, the other names it too, unless it was removed."""
    for memory in memories.values():
        for name in ("related_memory_ids", "conflict_ids"):
            links = getattr(memory, name)
            assert len(set(links)) == len(links), f"{memory.id} names the same {name} twice"
            assert memory.id not in links, f"{memory.id} is linked to itself"
            for other in links:
                assert other in removed or memory.id in getattr(memories[other], name), (
                    f"{memory.id} names {other} in {name}, and not the other way round"
                )


def check_history(events: tuple[HistoryEvent, ...], memory: Memory | None) -> None:
    """History begins with the memory's coming, moves from status to status without a jump, and ends where it stands.

    What has expired is shown as soft-deleted at once; its entry comes with the next write to its stream.
    """
    assert events, "a memory has a history"
    assert events[0].event == "ADD"
    numbers = [event.meta["seq"] for event in events]
    assert numbers == sorted(numbers), "history is in order"
    entries = [event.meta["seq"] for event in events if event.meta.get("rule") != WRITTEN_WITH]
    assert len(set(entries)) == len(entries), "each entry is told once; links that came with one have its number"
    ticks = [event.meta["tick"] for event in events]
    assert ticks == sorted(ticks), "ticks never run backwards"
    status = "new"
    for event in events:
        if "status" in event.meta:
            before, after = event.meta["status"].split(" → ")
            assert before == status, f"history jumps from {status} to {before}"
            status = after
    operations = [event.meta["operation"] for event in events]
    removed = [place for place, operation in enumerate(operations) if operation in ("erased", "purged")]
    if memory is None:
        assert len(removed) == 1, "content goes only by erasure or purge, and once"
        after = {event.event for event in events[removed[0] + 1 :]}
        assert after <= {"LINK"}, f"only another's link can still change after a removal: {after}"
        return
    assert not removed, "what has content was never removed"
    has_expired = memory.status == "soft_deleted" and memory.deleted_at is None
    stands = "active" if has_expired else memory.status
    assert status == stands, f"history ends at {status}, the memory is {stands}"
