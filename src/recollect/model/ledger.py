"""The ledger: typed, content-free transitions in one hash chain per stream; the address of a stream, and its phases."""

import hashlib
import re
from enum import StrEnum
from json.encoder import encode_basestring as quoted
from typing import NamedTuple

from recollect.model.vocabulary import ByText, Namespace, Space

RULES_VERSION = 10
"""Raised whenever keys, slots, fingerprints or index terms move. Every entry names the version that decided it.

Version 3 has the statement reader's first version, with the tagger's models that ``rules.statements.tagger`` pins; version 4
its second one, and index terms of one spelling, number and tense; version 5 its third one, which alone names statements;
version 6 its fourth one, in which each role has a noun of its own; version 8 its sixth one, without rules that no stranger's
text needed.
"""

GENESIS = "0" * 64
"""The ``prev_hash`` of a stream's first entry."""


class Event(StrEnum):
    """What happened to a memory."""

    STORED = "stored"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    RESOLVED = "resolved"
    HELD = "held"
    """It would have replaced a memory of higher authority, so it waits for a decision instead of being active."""
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
    RESTORED = "restored"
    EDITED = "edited"
    EXPIRED = "expired"
    CONSOLIDATED = "consolidated"
    REKEYED = "rekeyed"
    LINKED = "linked"
    UNLINKED = "unlinked"
    VOUCHED = "vouched"
    """Somebody other than the author vouched for it. The memory itself does not change."""
    VOUCH_WITHDRAWN = "vouch_withdrawn"
    SEVERED = "severed"
    """What it was linked to was erased, and the link with it; the commitment is the seal of the link. It moves no state."""
    PURGED = "purged"
    ERASED = "erased"
    PHASE_STARTED = "phase_started"
    """About the stream itself: a new phase of its time. It moves no memory."""
    NAME_ERASED = "name_erased"
    """About a name: that of the stream's owner, or of somebody who acted. The commitment is the uid of the stream or the actor.
    It moves no memory."""
    REJECTED = "rejected"
    """About a value: a person said that it was never true. It stands under an id of its own, names the memory that held the
    value, and moves none: the memory leaves the active set by an entry of its own."""
    LIFTED = "lifted"
    """A rejection no longer holds."""


EVENTS = ByText(Event)
BRINGS_VERSION = (Event.STORED, Event.CONTRADICTED)
"""The events that bring a new version: their commitment binds it, and all that it says."""

HISTORY_KIND = {
    Event(word): kind
    for kind, words in {
        "ADD": "stored contradicted",
        "UPDATE": "reinforced superseded resolved held archived edited rekeyed phase_started",
        "DELETE": "forgotten purged erased name_erased rejected",
        "MERGE": "consolidated",
        "LINK": "linked unlinked vouched vouch_withdrawn severed",
        "TTL": "expired",
        "RESTORE": "restored lifted",
    }.items()
    for word in words.split()
}
"""Every event as one of history's seven kinds."""

ABOUT_THE_STREAM = frozenset({Event.PHASE_STARTED, Event.NAME_ERASED, Event.REJECTED, Event.LIFTED})
"""Events under an id that is no memory's. They move no memory's state, and what they bring goes when the owner is erased."""


class Entry(NamedTuple):
    """One transition. ``stream`` and ``actor`` are opaque uids; ``commitment`` binds a version or an amendment."""

    stream: str
    seq: int
    tick: int
    event: Event
    memory_id: str
    other_id: str | None
    from_status: str | None
    to_status: str | None
    rule: str
    rules_version: int
    commitment: str | None
    actor: str
    at: str
    prev_hash: str
    hash: str = ""

    @property
    def hashed_text(self) -> str:
        """The canonical JSON of everything but the hash itself: the text that is hashed.

        Written out field by field, in the order of their names, since a walk does it for every entry there is: a third of
        the time that the general form takes.
        """
        return (
            f'{{"actor":{quoted(self.actor)},"at":{quoted(self.at)},"commitment":{_nullable(self.commitment)},'
            f'"event":{quoted(self.event)},"from_status":{_nullable(self.from_status)},'
            f'"memory_id":{quoted(self.memory_id)},"other_id":{_nullable(self.other_id)},'
            f'"prev_hash":{quoted(self.prev_hash)},"rule":{quoted(self.rule)},"rules_version":{self.rules_version},'
            f'"seq":{self.seq},"stream":{quoted(self.stream)},"tick":{self.tick},'
            f'"to_status":{_nullable(self.to_status)}}}'
        )

    def computed_hash(self) -> str:
        """Return the SHA-256 of :attr:`hashed_text`."""
        return hashlib.sha256(self.hashed_text.encode("utf-8")).hexdigest()


def _nullable(text: str | None) -> str:
    return "null" if text is None else quoted(text)


def commit_to(salt: bytes, body: str) -> str:
    """Return the commitment to a value: SHA-256 over its own random salt and its canonical text."""
    return hashlib.sha256(salt + body.encode("utf-8")).hexdigest()


class Address(NamedTuple):
    """The address of a stream, in the order by which streams are locked."""

    tenant: str
    namespace: Namespace
    space: Space
    owner: str


PHASE_ID = re.compile(r"phase-([1-9][0-9]{0,8})")
"""A phase as people write it: ``phase-1``."""
LISTED = "Phases are written as phase-1; `recollect phase list` and `mem.phases()` list them."
"""The hint of errors about phases: how to write and list them."""
FIRST_PHASE = {"phase_started_at": 1, "phase_reason": "phase:first_write"}
"""When and why every first phase begins."""


def phase_id(number: int) -> str:
    """Return the id of a stream's phase.

    >>> phase_id(3)
    'phase-3'
    """
    return f"phase-{number}"


FIRST_PHASE_ID = phase_id(1)


def phase_number(id: str | None) -> int:
    """Return the number of a phase. What was written without phases belongs to the first.

    >>> phase_number("phase-3"), phase_number(None)
    (3, 1)
    """
    return 1 if id is None else int(id.removeprefix("phase-"))
