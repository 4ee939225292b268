"""The closed lists of words that a memory is described with.

Every enumeration is a ``StrEnum``: its members *are* the strings that users write, that the store keeps and that
exports carry. Where the order of a list means something (authority, source, space), the order written here is that
meaning, highest first.
"""

from enum import StrEnum
from typing import TypeVar

E = TypeVar("E", bound=StrEnum)


class ByText(dict[str, E]):
    """The members of an enumeration by their text. Looking one up is far faster than a call, which counts over many rows.

    An unknown text raises the same ``ValueError`` as a call.
    """

    def __init__(self, members: type[E]) -> None:
        super().__init__((str(one), one) for one in members)
        self._members = members

    def __missing__(self, text: str) -> E:
        return self._members(text)


SHARED = "shared"
"""The scope of a memory that everybody sees who may read its stream; any other scope is the name of the one agent."""

MAY_UPDATE = "may_update"
"""The type of a relation from a later memory to an earlier one that it may make outdated."""


class Namespace(StrEnum):
    """What a memory is for: production, tests, or a temporary purpose."""

    PROD = "prod"
    TEST = "test"
    EPHEMERAL = "ephemeral"


class Space(StrEnum):
    """Whose memory it is, in the order in which reads consult the spaces."""

    SESSION = "session"
    USER = "user"
    PROJECT = "project"
    SYSTEM = "system"


class Kind(StrEnum):
    """What sort of thing is remembered."""

    SHORT_TERM = "short_term"
    SEMANTIC = "semantic"
    PROFILE = "profile"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"
    INSIGHT = "insight"


KINDS = ByText(Kind)


class KindClass(StrEnum):
    """Kinds that may replace one another share a class; across classes nothing ever replaces anything."""

    EVENT = "event"
    SEMANTIC = "semantic"
    PROFILE = "profile"
    PROCEDURAL = "procedural"
    INSIGHT = "insight"


KIND_CLASS: dict[Kind, KindClass] = {
    Kind.SHORT_TERM: KindClass.EVENT,
    Kind.EPISODIC: KindClass.EVENT,
    Kind.SEMANTIC: KindClass.SEMANTIC,
    Kind.PROFILE: KindClass.PROFILE,
    Kind.PROCEDURAL: KindClass.PROCEDURAL,
    Kind.INSIGHT: KindClass.INSIGHT,
}


class EventType(StrEnum):
    """What the statement is: a preference, a decision, a fact, a correction, an action or context."""

    PREFERENCE = "preference"
    DECISION = "decision"
    FACT = "fact"
    CORRECTION = "correction"
    EXECUTION = "execution"
    CONTEXT = "context"


class Layer(StrEnum):
    """The three layers of the taxonomy."""

    SELF = "self"
    WORLD = "world"
    INTENT = "intent"


SUBLAYERS: dict[Layer, tuple[str, ...]] = {
    Layer.SELF: ("identity", "preference", "constraint"),
    Layer.WORLD: ("fact", "failure", "method"),
    Layer.INTENT: ("rule", "goal", "anti-pattern"),
}


class Tier(StrEnum):
    """The vault's tiers. ``log`` may be asked for and is always denied."""

    CANON = "canon"
    REGISTER = "register"
    LOG = "log"


class Source(StrEnum):
    """Who or what the words came from, in order of priority, highest first."""

    SYSTEM = "system"
    OPERATOR = "operator"
    USER = "user"
    TOOL = "tool"
    AGENT = "agent"
    PROMOTION = "promotion"
    IMPORT = "import"
    TEST_SUITE = "test_suite"


SOURCE_WORDS: dict[str, Source] = {
    "user_input": Source.USER,
    "chat": Source.USER,
    "manual": Source.USER,
    "ai": Source.AGENT,
}
"""Words that other schemas have for a source, and the source that each of them means."""


class Authority(StrEnum):
    """How much weight the words carry, highest first."""

    SYSTEM_IMPOSED = "system_imposed"
    TOOL_VERIFIED = "tool_verified"
    USER_ASSERTED = "user_asserted"
    AI_INFERRED = "ai_inferred"


class Status(StrEnum):
    """The status of a version. Only ``active`` memories are recalled."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    REDUNDANT = "redundant"
    CONTRADICTORY = "contradictory"
    ARCHIVED = "archived"
    SOFT_DELETED = "soft_deleted"
    PENDING = "pending"


STATUSES = ByText(Status)


class Outcome(StrEnum):
    """What became of a write."""

    STORED = "stored"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    CONTRADICTED = "contradicted"
    DENIED = "denied"
    PENDING = "pending"


class Change(StrEnum):
    """How a statement relates to what was known about the same concept."""

    SAME = "same"
    UPDATE = "update"
    CORRECTION = "correction"
    CONTRADICTION = "contradiction"


_CHOICES = (Namespace, Space, Kind, KindClass, EventType, Layer, Tier, Source, Authority, Status, Outcome, Change)
OWN_WORDS = frozenset({SHARED, "default", *(str(word) for words in _CHOICES for word in words)})
"""Words that stand in the tables of every store."""


class KeySource(StrEnum):
    """What named the concept."""

    EXPLICIT = "explicit"
    TOPIC = "topic"
    PROFILE = "profile"
    READER = "reader"
    CHAIN = "chain"
    FALLBACK = "fallback"
    EVENT = "event"
