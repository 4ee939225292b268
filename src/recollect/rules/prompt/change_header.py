"""The change header: what changed in memory since a thread last looked, in a few lines for a prompt.

A change is a ledger entry after which something else is recalled than before: a memory came, was replaced, was merged into
another, left or came back. What was only said again, linked or refused is none. Three lines are shown at a time, those
that matter most first, and what does not fit comes next time. What was erased or purged has no words left: its line says
only that it is gone.

However often a memory changed since the thread last looked, it has one line, which says what holds now: its versions count
as one memory, so does what was merged into it, and what came and went again unseen is not told at all.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from recollect.model.ledger import Entry, Event
from recollect.model.receipt import Plain
from recollect.model.rendering import one_line
from recollect.model.vocabulary import Kind, Status

MAX_LINES = 3
SHORT_ID = 12
MAX_CHARACTERS = 160
"""How much of a memory's words a line repeats: enough to know it by, too little to fill a prompt."""

UNTOLD_KINDS = frozenset({Kind.SHORT_TERM, Kind.PROCEDURAL})
"""Lines of the conversation, which a thread has itself, and procedures, which come only when they are asked for."""


class Sign(StrEnum):
    """What happened, as its line begins."""

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
    """What an entry changed in what is recalled; ``None`` if it changed nothing.

    A new version is one change, not two: the entry that brings it counts, and the one that puts the old version away
    does not. What was purged or erased is news where it was recalled, or could have been restored.
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
    """What happened to one memory, all its versions together, in the order in which it happened."""

    memory_id: str
    """The version that came last."""
    signs: list[Sign] = field(default_factory=list)
    seqs: list[int] = field(default_factory=list)
    at: str = ""
    merged: list[str] = field(default_factory=list)
    """What was merged into it."""


def by_memory(happened: Iterable[tuple[Entry, Sign]], came: set[str], tellable: Collection[str]) -> list[MemoryChanges]:
    """Gather what happened by memory. A new version goes on where the one that it replaces was; what was merged goes where it
    is remembered now, if that is ``tellable``. ``came`` holds the memories that came earlier and were not told of; it grows.
    """
    gathered: dict[str, MemoryChanges] = {}
    for entry, sign in happened:
        replaced = entry.other_id if sign is Sign.UPDATED else None
        into = entry.other_id if sign is Sign.MERGED and entry.other_id in tellable else None
        one = gathered.setdefault(into or entry.memory_id, MemoryChanges(into or entry.memory_id))
        earlier = gathered.pop(replaced or "", None) or (gathered.pop(entry.memory_id, None) if into else None)
        if earlier is not None:
            one.seqs += earlier.seqs
            one.signs += earlier.signs if replaced else []
        if not one.signs and came & {one.memory_id, replaced}:
            one.signs.append(Sign.CREATED)
        if into is not None:
            one.merged.append(entry.memory_id)
        one.signs.append(sign)
        one.seqs.append(entry.seq)
        one.at = entry.at
        if one.signs[0] is Sign.CREATED:
            came.add(one.memory_id)
    return list(gathered.values())


_LEAVES = frozenset({Sign.DELETED, Sign.SOFT_DELETED})
_GONE = frozenset({Status.ARCHIVED, Status.SOFT_DELETED, Status.REDUNDANT})


def net_sign(signs: Sequence[Sign], status: Status | None) -> Sign | None:
    """What all that happened to a memory comes to, given its status now (``None``: erased); ``None`` if to nothing that holds.

    A line tells what holds now. Where the last that was read does not lead there, what does lies further on, and is told then.

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
    went = (status is None or status in _GONE) and last in (*_LEAVES, Sign.MERGED)
    return last if went and first not in _MAKES_ACTIVE.values() else None


class Change(NamedTuple):
    """What a memory's changes come to, as a thread may be shown it: where they stand in the ledger, and what they are about."""

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
    """Of a merge, how many say the same now."""
    content_hash: str = ""

    def seqs_in(self, stream: int) -> list[int]:
        return [seq for of, seq in self.places if of == stream]


def without_copies(changes: Sequence[Change]) -> list[Change]:
    """The changes, with what was copied from one stream to another told once: a fact of a session that is a person's, too.

    Of a new memory and an update that say the same, the update is told.
    """
    told: list[Change] = []
    for change in sorted(changes, key=lambda one: (one.sign is Sign.CREATED, *_rank(one))):
        alike = (place for place, one in enumerate(told) if one.content_hash == change.content_hash != "")
        copied = next((place for place in alike if not told[place].seqs_in(change.stream)), None)
        if copied is None:
            told.append(change)
        else:
            told[copied] = told[copied]._replace(places=(*told[copied].places, *change.places))
    return told


class Choice(NamedTuple):
    """What is shown now, what waits, and where the current round ends."""

    shown: tuple[Change, ...]
    waiting: tuple[Change, ...]
    round_until: str


def choose(pending: Sequence[Change], round_until: str, most: int = MAX_LINES) -> Choice:
    """The changes to show now. Within a round the most important come first, then what is pinned, then the oldest.

    A round is what had happened when the last one was over. It is finished before the next begins, so that however much
    that matters more keeps happening, nothing waits for ever.
    """
    ranked = sorted(pending, key=lambda change: (change.at > round_until, *_rank(change)))
    shown, waiting = ranked[:most], ranked[most:]
    if not any(change.at <= round_until for change in waiting):
        round_until = max([round_until, *(change.at for change in pending)])
    return Choice(tuple(shown), tuple(waiting), round_until)


def choose_oldest(pending: Sequence[Change]) -> Choice:
    """The oldest changes of one stream, for a reader who remembers nothing but how far it was."""
    in_order = sorted(pending, key=lambda change: change.seq)
    shown = sorted(in_order[:MAX_LINES], key=_rank)
    return Choice(tuple(shown), tuple(in_order[MAX_LINES:]), "")


def _rank(change: Change) -> tuple[int, bool, str, int, int]:
    return (-change.importance, not change.pinned, change.at, change.stream, change.seq)


def advance_cursor(read_until: int, waiting: Iterable[int], shown: Iterable[int]) -> tuple[int, tuple[int, ...]]:
    """Where a cursor stands after a look: up to which entry everything is dealt with, and what was shown beyond it.

    >>> advance_cursor(9, waiting=[5, 8], shown=[2, 6, 7])
    (4, (6, 7))
    >>> advance_cursor(9, waiting=[], shown=[2, 6, 7])
    (9, ())
    """
    seq = min(waiting, default=read_until + 1) - 1
    return seq, tuple(sorted(one for one in set(shown) if one > seq))


@dataclass(frozen=True, slots=True)
class ChangeLine(Plain):
    """One change as it is told. ``label`` is the category, ``content`` a memory's words on one line, cut if long."""

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

    ``more`` says how many wait for next time; ``at_least`` that there may be more than were counted.
    """

    since: int
    rev: int
    lines: tuple[ChangeLine, ...] = ()
    more: int = 0
    at_least: bool = False

    @property
    def text(self) -> str:
        """A heading and its bullets, to stand before everything else in a prompt."""
        if not self.lines:
            return ""
        floor = "at least " if self.at_least else ""
        more = f" (+{floor}{self.more:,} more)" if self.more or self.at_least else ""
        return "\n".join([f"Memory updates since rev {self.since}{more}:", *(line.text for line in self.lines)])


def label_of(category: str, inferred_by: str | None = None) -> str:
    """A category as it stands in brackets; what was inferred says by whom, since it may have chosen its category itself."""
    plain = one_line(category, MAX_CHARACTERS)
    return f"{inferred_by}: {plain}" if inferred_by else plain


def describe_removed(memory_id: str) -> str:
    """What the line of something erased or purged says: its id, which is all that is left of it.

    >>> describe_removed("1f0c2a7b-e9d3-5c1f-92df-ac9aff4b8bf2")
    'memory 1f0c2a7be9d3'
    """
    return f"memory {memory_id.replace('-', '')[:SHORT_ID]}"


def describe_merged(notes: int, kept: str) -> str:
    """What the line of a merge says: the words that stay."""
    return f"Combined {notes} notes: {kept}"
