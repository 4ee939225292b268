"""Messages of exported conversations, however the export writes them down.

Every message becomes one event: who said it, in which conversation, and when. What is longer than a memory may be is
kept in parts, cut where no secret is divided, since half a secret looks like none.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.formats.fields import said_at, without_empty
from recollect.formats.protocol import ORIGIN, Foreign
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.rules.privacy import scan
from recollect.rules.prompt.turn_lines import parts
from recollect.rules.trust.provenance import on_a_cycle

SPOKEN_BY = {"user": "user", "human": "user", "assistant": "agent", "tool": "tool"}
"""Who said it. What an export gives as the system's was the service's, not this operator's: an import."""

MAX_MESSAGE_CHARACTERS = 2**18
"""A longer message is a file that was pasted, and no memory."""
OTHER_BRANCH = "is on a branch that was left: another answer was asked for, or the question was changed"
_SURROGATE = re.compile("[\ud800-\udfff]")


def circle(parents: Mapping[str, Any]) -> str | None:
    """What is wrong with messages that follow each other in a circle: which came first, nobody can tell."""
    known = {id: [parent] if isinstance(parent, str) and parent in parents else [] for id, parent in parents.items()}
    found = sorted(on_a_cycle(known))
    if not found:
        return None
    shown = ", ".join(f"{id[:40]!r}" for id in found[:3])
    return f"its messages follow each other in a circle ({shown}): expected a first one that follows none"


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``skipped`` says why it does not come along; ``refused`` that it is broken."""

    role: str
    text: str = ""
    id: str | None = None
    at: Any = None
    besides: dict[str, Any] = field(default_factory=dict)
    """What else it had, such as the names of files."""
    skipped: str | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation's own id and name."""

    format: str
    place: str
    id: str | None
    title: str | None


class Counting:
    """Numbers the messages of all conversations of a file."""

    def __init__(self) -> None:
        self._number = 0

    def foreign(self, talk: Conversation, place: int | str, message: Message) -> Iterator[Foreign]:
        """A message as one record, or as one for each of its parts."""
        where = f"{talk.place}, message {place}"
        refused = message.refused or unfit(message.text)
        skipped = message.skipped or (None if message.text.strip() else "has no text")
        if refused or skipped:
            yield Foreign(self._next(), where, id=message.id, skipped=None if refused else skipped, refused=refused)
            return
        pieces = pieces_of(message.text)
        for count, piece in enumerate(pieces, start=1):
            part = {"part": count, "parts": len(pieces)} if len(pieces) > 1 else {}
            said = f"{where}, part {count} of {len(pieces)}" if part else where
            id = f"{message.id}#{count}" if part and message.id else message.id
            yield Foreign(self._next(), said, _fields(talk, message, piece, part), id)

    def plain(self, place: str, fields: dict[str, Any]) -> Foreign:
        """A record that is no message."""
        return Foreign(self._next(), place, fields)

    def broken(self, place: str, why: str) -> Foreign:
        return Foreign(self._next(), place, refused=why)

    def _next(self) -> int:
        self._number += 1
        return self._number


def pieces_of(text: str, room: int = 0) -> tuple[str, ...]:
    """A text in parts that are no longer than a memory may be, with ``room`` bytes to spare."""
    limit = max(MAX_CONTENT_BYTES - room, MAX_CONTENT_BYTES // 2)
    if len(text.encode("utf-8")) <= limit:
        return (text,)
    return parts(text, limit, whole=[(hit.start, hit.end) for hit in scan(text)])


def unfit(text: str) -> str | None:
    """Why what was said cannot be kept."""
    if len(text) > MAX_MESSAGE_CHARACTERS:
        return f"is longer than {MAX_MESSAGE_CHARACTERS:,} characters"
    return "holds a lone surrogate (invalid UTF-8)" if _SURROGATE.search(text) else None


def _fields(talk: Conversation, message: Message, text: str, part: dict[str, int]) -> dict[str, Any]:
    came = without_empty(
        {
            "format": talk.format,
            "id": message.id,
            "conversation": talk.id,
            "title": talk.title,
            "created_at": message.at,
            **message.besides,
        }
    )
    fields = {
        "content": text,
        "kind": "episodic",
        "source": SPOKEN_BY.get(message.role, "import"),
        "role": message.role,
        "thread_id": talk.id,
        **said_at(message.at),
        "meta": {**part, ORIGIN: came},
    }
    return without_empty(fields)
