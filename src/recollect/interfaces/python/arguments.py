"""The arguments that several methods of :class:`recollect.Recollect` share, typed so that an editor completes them.

A closed list of words takes either the enumeration's member or its text: ``kind=Kind.PROFILE`` or ``kind="profile"``. A test
compares these types with the record, the filters and the vocabulary, so that none of them is forgotten.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

from recollect.model.record import Author
from recollect.model.vocabulary import Authority, Change, EventType, Kind, Layer, Namespace, Source, Space, Status, Tier

NamespaceName = Namespace | Literal["prod", "test", "ephemeral"]
SpaceName = Space | Literal["session", "user", "project", "system"]
KindName = Kind | Literal["short_term", "semantic", "profile", "episodic", "procedural", "insight"]
EventTypeName = EventType | Literal["preference", "decision", "fact", "correction", "execution", "context"]
LayerName = Layer | Literal["self", "world", "intent"]
TierName = Tier | Literal["canon", "register", "log"]
SourceName = (
    Source
    | Literal["system", "operator", "user", "tool", "agent", "promotion", "import", "test_suite"]
    | Literal["user_input", "chat", "manual", "ai"]
)
AuthorityName = Authority | Literal["system_imposed", "tool_verified", "user_asserted", "ai_inferred"]
StatusName = (
    Status
    | Literal["active", "superseded", "redundant", "contradictory", "archived", "soft_deleted", "pending"]
    | Literal["contradicted"]
)
ChangeName = Change | Literal["same", "update", "correction", "contradiction"]

Spaces = SpaceName | Sequence[SpaceName] | None
"""One space, several of them, or ``None`` for all that the caller may read."""
Statuses = StatusName | Sequence[StatusName] | None
"""One status, several of which one must fit, or ``None`` for every status."""
When = datetime | str
"""A time: a datetime with a zone, or ISO 8601 such as ``2026-01-31T09:00:00Z`` or ``2026-01-31``."""
Progress = Callable[[int, int], None]
"""Called with how much is done and how much there is."""


class AuthorFields(TypedDict, total=False):
    """Who is credited with the words."""

    id: Required[str]
    name: Required[str]
    platform: str | None


class MemoryFields(TypedDict, total=False):
    """Every field of a new memory besides its content; ``docs/record.md`` says what each of them means."""

    namespace: NamespaceName | None
    space: SpaceName
    owner: str
    scope: str
    kind: KindName
    canonical_key: str | None
    title: str | None
    topic_id: str | None
    key: str | None
    event_type: EventTypeName | None
    layer: LayerName | None
    sublayer: str | None
    tier: TierName | None
    category: str
    tags: Sequence[str] | set[str]
    entities: Sequence[Mapping[str, Any]]
    relationships: Sequence[Mapping[str, Any]]
    artifact_ref: Mapping[str, Any] | None
    context: Mapping[str, Any] | None
    meta: Mapping[str, Any]
    author: str | Author | AuthorFields | None
    source: SourceName | None
    authority: AuthorityName | None
    authority_reason: str | None
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    thread_id: str | None
    actor_id: str | None
    role: str | None
    parent_refs: Sequence[str] | set[str]
    signature: str | None
    confidence: float | None
    aliases: Sequence[str] | set[str]
    supersedes: str | None
    created_at: When | None
    pinned: bool
    importance: int | None
    expires_at: When | None
    valid_from: When | None
    valid_until: When | None
    ttl_ticks: int | None
    change: ChangeName | None
    diagnostic: bool


class NewMemory(MemoryFields):
    """One memory of many: its content and whatever is said about it."""

    content: Required[str]


class Edits(TypedDict, total=False):
    """The fields of a memory that can change without a new version."""

    pinned: bool
    tags: Sequence[str] | set[str]
    category: str
    importance: int
    expires_at: When | None
    valid_from: When | None
    valid_until: When | None


class Filters(TypedDict, total=False):
    """What a read may be narrowed by. Of several values one has to fit, except of ``tags``, where all have to."""

    kind: KindName | Sequence[KindName] | None
    event_type: EventTypeName | Sequence[EventTypeName] | None
    layer: LayerName | Sequence[LayerName] | None
    tier: TierName | Sequence[TierName] | None
    category: str | Sequence[str] | None
    pinned: bool | None
    topic_id: str | Sequence[str] | None
    source: SourceName | Sequence[SourceName] | None
    user_id: str | Sequence[str] | None
    agent_id: str | Sequence[str] | None
    run_id: str | Sequence[str] | None
    thread_id: str | Sequence[str] | None
    actor_id: str | Sequence[str] | None
    role: str | Sequence[str] | None
    scope: str | Sequence[str] | None
    importance_min: int | None
    importance_max: int | None
    updated_after: When | None
    updated_before: When | None
    created_after: When | None
    created_before: When | None
    tags: Sequence[str] | None
    key: str | None
    phase: str | None
    author: str | Sequence[str] | None
    content_hash: str | Sequence[str] | None
    parent: str | Sequence[str] | None
    voucher: str | Sequence[str] | None
    confidence_min: float | None


class ListFilters(Filters, total=False):
    """The filters of a list, and where it looks: at active memories in ``prod`` unless you ask for others."""

    owner: str | None
    space: Spaces
    include_namespaces: Sequence[NamespaceName]
    status: Statuses


class ToolOutput(TypedDict):
    """What a tool returned during an exchange."""

    name: str
    output: str
