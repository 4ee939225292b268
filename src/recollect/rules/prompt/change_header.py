"""Build the change header: what changed in memory since a thread last looked, in a few lines for a prompt.

A change is a ledger entry that alters what is recalled: a memory was added, replaced, merged into another, removed or
restored. A repetition, a link or a refusal is none. Three lines are shown at a time, the most important first; the
others come with the next look. An erased or purged memory has no words left: its line says only that it is gone.

However often a memory changed since the thread last looked, it has one line, which says what holds now: its versions
count as one memory, memories merged into it too, and a memory that was added and removed in between is not shown.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from recollect.model.canonical import Plain
from recollect.model.ledger import Entry, Event
from recollect.model.rendering import one_line
from recollect.model.vocabulary import Kind, Status

MAX_LINES = 3
SHORT_ID = 12
MAX_CHARACTERS = 160
"""How much of a memory's words a line repeats: enough to recognise it, too little to fill a prompt."""

UNTOLD_KINDS = frozenset({Kind.SHORT_TERM, Kind.PROCEDURAL})
"""Lines of the conversation, which a thread has itself, and procedures, which are shown only when asked for."""


class Sign(StrEnum):
    """The first word of a line, which says what happened."""

    CREATED = "+created"
    UPDATED = "↑updated"
    MERGED = "↔merged"
    DELETED = "−deleted"
    SOFT_DELETED = "↓soft_deleted"
    RESTORED = "↺restored"


_DONE_TO_WHAT_WAS_ACTIVE = {
    Event.ARCHIVED: Sign.DELETED,
    Event.FORGOTTEN: Sign.SOFT_DELETED,
    Event.EXPIRED: Sign.SOFT_DELETED,
    Event.CONSOLIDATED: Sign.MERGED,
    Event.EDITED: Sign.UPDATED,
}
REMOVALS = frozenset({Event.ERASED, Event.PURGED})
_COULD_COME_BACK = (Status.ACTIVE, Status.SOFT_DELETED)
_MAKES_ACTIVE = {Event.STORED: Sign.CREATED, Event.RESOLVED: Sign.CREATED, Event.RESTORED: Sign.RESTORED}


def sign_of(entry: Entry) -> Sign | None:
    """Return how an entry alters what is recalled; ``None`` if it does not.

    A new version is one change: its own entry counts, and the one that supersedes the old version does not. A purge or
    an erasure counts if the memory was recalled before, or could have been restored.
    """
    if entry.event in REMOVALS:
        return Sign.DELETED if entry.from_status in _COULD_COME_BACK else None
    if entry.from_status == Status.ACTIVE and entry.event in _DONE_TO_WHAT_WAS_ACTIVE:
        return _DONE_TO_WHAT_WAS_ACTIVE[entry.event]
    if entry.to_status != Status.ACTIVE or entry.event not in _MAKES_ACTIVE:
        return None
    replaces = entry.other_id is not None and entry.event is not Event.RESTORED
    return Sign.UPDATED if replaces else _MAKES_ACTIVE[entry.event]


@dataclass(slots=True)
class MemoryChanges:
    """What happened to a memory, all its versions together, in order."""

    memory_id: str
    """The latest version."""
    signs: list[Sign] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    at: str = ""
    rule: str = ""
    """The rule of the last one."""
    merged: list[str] = field(default_factory=list)
    """The memories merged into it."""


def by_memory(
    happened: Iterable[tuple[Entry, Sign]], stored_since: set[str], tellable: Collection[str]
) -> list[MemoryChanges]:
    """Group what happened by memory. A new version continues the one it replaces; a merged memory counts with the one
    it was merged into, if that is ``tellable``. ``stored_since`` collects memories stored since the cursor that
    were not shown yet.
    """
    gathered: dict[str, MemoryChanges] = {}
    for entry, sign in happened:
        replaced = entry.other_id if sign is Sign.UPDATED else None
        into = entry.other_id if sign is Sign.MERGED and entry.other_id in tellable else None
        changes = gathered.setdefault(into or entry.memory_id, MemoryChanges(into or entry.memory_id))
        earlier = gathered.pop(replaced or "", None) or (gathered.pop(entry.memory_id, None) if into else None)
        if earlier is not None:
            changes.seqs += earlier.seqs
            changes.signs += earlier.signs if replaced else []
        if not changes.signs and stored_since & {changes.memory_id, replaced}:
            changes.signs.append(Sign.CREATED)
        if into is not None:
            changes.merged.append(entry.memory_id)
        changes.signs.append(sign)
        changes.seqs.append(entry.seq)
        changes.at, changes.rule = entry.at, entry.rule
        if changes.signs[0] is Sign.CREATED:
            stored_since.add(changes.memory_id)
    return list(gathered.values())


_LEAVES = frozenset({Sign.DELETED, Sign.SOFT_DELETED})
TAKEN_BACK = frozenset({"forgotten:said_so", "rejected:said_so"})
"""The rules by which a memory leaves because the person took it back in a conversation."""
_GONE = frozenset({Status.ARCHIVED, Status.SOFT_DELETED, Status.REDUNDANT})


def net_sign(signs: Sequence[Sign], status: Status | None) -> Sign | None:
    """Return what the changes of a memory amount to, given its status now (``None``: erased); ``None`` if nothing
    remains.

    A line says what holds now. If the last entry read does not lead to that, a later one does, and is shown then.

    >>> net_sign([Sign.CREATED, Sign.UPDATED, Sign.UPDATED], Status.ACTIVE)
    <Sign.CREATED: '+created'>
    >>> net_sign([Sign.UPDATED, Sign.SOFT_DELETED], Status.SOFT_DELETED)
    <Sign.SOFT_DELETED: '↓soft_deleted'>
    >>> net_sign([Sign.CREATED, Sign.SOFT_DELETED], Status.SOFT_DELETED) is None
    True
    """
    first, last = signs[0], signs[-1]
    if status is Status.ACTIVE:
        return None if last in _LEAVES else first if first in (*_MAKES_ACTIVE.values(), Sign.UPDATED) else last
    left = (status is None or status in _GONE) and last in (*_LEAVES, Sign.MERGED)
    return last if left and first not in _MAKES_ACTIVE.values() else None


class Change(NamedTuple):
    """The net change of a memory as a thread may be shown it: its places in the ledger, and what it is about."""

    stream: int
    seq: int
    """The last of its entries."""
    at: str
    sign: Sign
    memory_id: str
    importance: int
    pinned: bool
    places: tuple[tuple[int, int], ...]
    """All its entries, each with its stream."""
    notes: int = 1
    """For a merge, how many memories say the same now."""
    content_hash: str = ""
    is_unsaid: bool = False
    """Whether the person took it back in a conversation: the prompt does not repeat it to them."""

    def seqs_in(self, stream: int) -> list[int]:
        return [seq for of, seq in self.places if of == stream]


def without_copies(changes: Sequence[Change]) -> list[Change]:
    """Return the changes, with a memory copied from one stream to another, such as a promoted fact, shown once.

    Of a new memory and an update that say the same, the update is shown.
    """
    distinct: list[Change] = []
    for change in sorted(changes, key=lambda other: (other.sign is Sign.CREATED, *_rank(other))):
        alike = (place for place, other in enumerate(distinct) if other.content_hash == change.content_hash != "")
        copied = next((place for place in alike if not distinct[place].seqs_in(change.stream)), None)
        if copied is None:
            distinct.append(change)
        else:
            distinct[copied] = distinct[copied]._replace(places=(*distinct[copied].places, *change.places))
    return distinct


class Choice(NamedTuple):
    """The changes shown now, those that wait, and where the current round ends."""

    shown: tuple[Change, ...]
    waiting: tuple[Change, ...]
    round_until: str


def choose(pending: Sequence[Change], round_until: str, most: int = MAX_LINES) -> Choice:
    """Return the changes to show now. Within a round the most important come first, then pinned ones, then the oldest.

    A round holds what had happened when the last one ended. It is finished before the next begins, so that nothing
    waits for ever, however many important changes keep coming.
    """
    ranked = sorted(pending, key=lambda change: (change.at > round_until, *_rank(change)))
    shown, waiting = ranked[:most], ranked[most:]
    if not any(change.at <= round_until for change in waiting):
        round_until = max([round_until, *(change.at for change in pending)])
    return Choice(tuple(shown), tuple(waiting), round_until)


def choose_oldest(pending: Sequence[Change]) -> Choice:
    """Return the oldest changes of one stream, for a reader that remembers only its position."""
    in_order = sorted(pending, key=lambda change: change.seq)
    shown = sorted(in_order[:MAX_LINES], key=_rank)
    return Choice(tuple(shown), tuple(in_order[MAX_LINES:]), "")


def _rank(change: Change) -> tuple[int, bool, str, int, int]:
    return (-change.importance, not change.pinned, change.at, change.stream, change.seq)


def advance_cursor(read_until: int, waiting: Iterable[int], shown: Iterable[int]) -> tuple[int, tuple[int, ...]]:
    """Return a cursor after a look: the entry up to which everything is handled, and the entries shown beyond it.

    >>> advance_cursor(9, waiting=[5, 8], shown=[2, 6, 7])
    (4, (6, 7))
    >>> advance_cursor(9, waiting=[], shown=[2, 6, 7])
    (9, ())
    """
    seq = min(waiting, default=read_until + 1) - 1
    return seq, tuple(sorted(seen for seen in set(shown) if seen > seq))


@dataclass(frozen=True, slots=True)
class ChangeLine(Plain):
    """A change as it is shown. ``label`` is the category, ``content`` a memory's words on one line, cut if long."""

    sign: Sign
    memory_id: str
    label: str
    content: str
    importance: int
    at: str

    @property
    def text(self) -> str:
        importance = f" (imp={self.importance})" if self.sign is Sign.CREATED else ""
        return f"- {self.sign}: [{self.label}] {self.content}{importance}"


@dataclass(frozen=True, slots=True)
class ChangeHeader(Plain):
    """What changed between two revisions. Without lines nothing did, and ``text`` is empty.

    ``more`` says how many wait for the next look; ``at_least`` that there may be more than were counted.
    """

    since: int
    rev: int
    lines: tuple[ChangeLine, ...] = ()
    more: int = 0
    at_least: bool = False

    @property
    def text(self) -> str:
        """A heading and its bullets, to put before everything else in a prompt."""
        if not self.lines:
            return ""
        floor = "at least " if self.at_least else ""
        more = f" (+{floor}{self.more:,} more)" if self.more or self.at_least else ""
        return "\n".join([f"Memory updates since rev {self.since}{more}:", *(line.text for line in self.lines)])


def label_of(category: str, inferred_by: str | None = None) -> str:
    """Return the category for a line's brackets; an inference also names its author, who may have chosen it."""
    plain = one_line(category, MAX_CHARACTERS)
    return f"{inferred_by}: {plain}" if inferred_by else plain


def describe_removed(memory_id: str) -> str:
    """Return the text of a line without the memory's words, which are erased, purged or taken back: its id.

    >>> describe_removed("1f0c2a7b-e9d3-5c1f-92df-ac9aff4b8bf2")
    'memory 1f0c2a7be9d3'
    """
    return f"memory {memory_id.replace('-', '')[:SHORT_ID]}"


def describe_merged(notes: int, kept: str) -> str:
    """Return the text of a merge's line: the words that stay."""
    return f"Combined {notes} notes: {kept}"
