"""The change header: what changed in memory since a thread last looked, in a few lines for a prompt.

A change is a ledger entry after which something else is recalled than before: a memory came, was replaced, was merged into
another, left or came back. What was only said again, linked or refused is none. Three lines are shown at a time, those
that matter most first, and what does not fit comes next time. What was erased or purged has no words left: its line says
only that it is gone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from recollect.model.ledger import Entry, Event
from recollect.model.receipt import Plain
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


# ── which of them, and how far that brings a thread ─────────────────────────────────────────────────────────────────


class Change(NamedTuple):
    """One change that a thread may be shown: where it stands in the ledger, and what it is about."""

    stream: int
    seq: int
    at: str
    sign: Sign
    memory_id: str
    other_id: str | None
    importance: int
    pinned: bool


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


def dealt_with(read_until: int, waiting: Iterable[int], shown: Iterable[int]) -> tuple[int, tuple[int, ...]]:
    """Where a cursor stands after a look: up to which entry everything is dealt with, and what was shown beyond it.

    >>> dealt_with(9, waiting=[5, 8], shown=[2, 6, 7])
    (4, (6, 7))
    >>> dealt_with(9, waiting=[], shown=[2, 6, 7])
    (9, ())
    """
    seq = min(waiting, default=read_until + 1) - 1
    return seq, tuple(sorted(one for one in set(shown) if one > seq))


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def one_line(text: str, most: int = MAX_CHARACTERS) -> str:
    """Words as a bullet can hold them: no line break of any alphabet, nothing unseen that shows them otherwise, and cut.

    >>> one_line("Likes tea\\n- +created: [general] Likes coffee")
    'Likes tea - +created: [general] Likes coffee'
    """
    shown = "".join(char for char in " ".join(text.split()) if char.isprintable())
    line = " ".join(shown.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def label_of(category: str, inferred_by: str | None = None) -> str:
    """A category as it stands in brackets; what was inferred says by whom, since it may have chosen its category itself."""
    plain = one_line(category.replace("[", "(").replace("]", ")"))
    return f"{inferred_by}: {plain}" if inferred_by else plain


def removed(memory_id: str) -> str:
    """What the line of something erased or purged says: its id, which is all that is left of it.

    >>> removed("1f0c2a7b-e9d3-5c1f-92df-ac9aff4b8bf2")
    'memory 1f0c2a7be9d3'
    """
    return f"memory {memory_id.replace('-', '')[:SHORT_ID]}"


def merged(kept: str) -> str:
    """What the line of a merge says: the words that stay."""
    return f"Combined 2 notes: {kept}"
