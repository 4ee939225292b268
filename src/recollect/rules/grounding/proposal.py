"""What a language model proposes, what it is made from, and the verdict on it."""

from datetime import datetime
from typing import NamedTuple

from recollect.model.ledger import Address
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.vocabulary import SHARED, Authority, Kind

FACT, INFERENCE = "grounded:fact", "grounded:inference"
"""The codes of a claim that is accepted."""


class SourceMemory(NamedTuple):
    """A memory that a proposal is made from."""

    id: str
    text: str
    said_at: datetime
    address: Address
    """The stream in which the policy keeps what this memory states. For a line of a session whose statements go to the person's
    own memory (``turns.statements``), that is the person's stream; otherwise it is the memory's own."""
    scope: str = SHARED
    category: str = DEFAULT_CATEGORY
    speakers: tuple[str, ...] = ()
    """What the person who says "I" in it is called."""


class Quote(NamedTuple):
    """A span of a source that supports the claim."""

    source_id: str
    span: str


class Proposal(NamedTuple):
    """One claim of a model, with its evidence, and where it would be stored."""

    content: str
    quotes: tuple[Quote, ...]
    source_ids: tuple[str, ...]
    address: Address
    kind: Kind = Kind.SEMANTIC
    scope: str = SHARED
    category: str = DEFAULT_CATEGORY
    authority: Authority = Authority.AI_INFERRED


class Verdict(NamedTuple):
    """What became of a proposal: a reason code, and the words of the claim or the name of the source that it is about."""

    code: str
    about: str = ""

    @property
    def accepted(self) -> bool:
        return self.code in (FACT, INFERENCE)
