"""What a memory is: the one record, and the candidate that asks to become one.

``Candidate`` is what comes in, checked field by field. ``Memory`` is what comes out: an immutable version (address,
content, attribution) together with where it stands now (status, links, editable fields).
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from recollect.model.caller import MAX_KIND, named, short_name
from recollect.model.canonical import canonical_json, check_json, check_text, read_moment
from recollect.model.item import to_item
from recollect.model.vocabulary import (
    SHARED,
    SOURCE_WORDS,
    SUBLAYERS,
    Authority,
    Change,
    EventType,
    Kind,
    Layer,
    Namespace,
    Source,
    Space,
    Status,
    Tier,
)

MAX_CONTENT_BYTES = 10_240
"""The hard limit of any memory. Beyond it the input is wrong, whatever the policy says."""
MAX_NAME = 256
MAX_TITLE = 1_000
_TAB_OR_LINE_END = re.compile("[\t\n\r\x85\u2028\u2029]")
MAX_PARENTS = 64
MAX_JSON_BYTES = 16_384
MAX_VOUCHERS_BYTES = 393_216
"""Who vouched for an entry where it comes from: a thousand signed vouches."""
DEFAULT_CATEGORY = "general"
TITLE = "title"
"""Where ``meta`` keeps a title that the key has no room for, and the heading of a procedure."""
ORIGIN = "imported_from"
"""The key in ``meta`` of an imported record's origin: the format, and the id and the times that it had there."""
TIME_UNKNOWN = {"time": "unknown"}
"""What an origin says if nothing that counts tells when the record was said."""


def is_undated(meta: Mapping[str, Any]) -> bool:
    """Return whether a memory was imported without a time that counts."""
    origin = meta.get(ORIGIN)
    return isinstance(origin, Mapping) and TIME_UNKNOWN.items() <= origin.items()


ENTRY_ORIGIN = "entry"
"""Where a memory that came as an entry keeps, in its ``meta``, what only its first store knew."""


def _check_content(text: str) -> str:
    check_text(text)
    if not text.strip():
        raise ValueError("is empty; a memory needs at least one word")
    size = len(text.encode("utf-8"))
    if size > MAX_CONTENT_BYTES:
        raise ValueError(f"is {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}. Split or summarise it")
    return text


def name_fault(name: object, longest: int = MAX_NAME) -> str | None:
    """Return why something is no name, or ``None`` if it is one: one line of text of bounded length, without tabs.

    What can be seen of a letter is not asked: names of many languages need joiners and blanks that are not "printable",
    and which letters are depends on the release of Python. Names that a store already holds are not asked either.

    >>> name_fault("山田\u3000太郎"), name_fault("two\\nlines")
    (None, 'must be a single line without tabs')
    """
    if not isinstance(name, str):
        return "must be text"
    if not name.strip():
        return "is empty; leave it out or give it a value"
    if len(name) > longest:
        return f"is {len(name):,} characters long; the limit is {longest:,}"
    if _TAB_OR_LINE_END.search(name) is not None:
        return "must be a single line without tabs"
    try:
        check_text(name)
    except ValueError as error:
        return str(error)
    return None


def _check_principal(text: str) -> str:
    _check_name(short_name(text))
    return text


def _check_name(text: str, longest: int = MAX_NAME) -> str:
    if (fault := name_fault(text, longest)) is not None:
        raise ValueError(fault)
    return text


def _check_json_value(value: Any) -> Any:
    clean = check_json(value)
    _check_size(clean, MAX_JSON_BYTES)
    return clean


def _check_size(value: Any, limit: int, what: str = "") -> None:
    size = len(canonical_json(value).encode("utf-8"))
    if size > limit:
        raise ValueError(f"{what}is {size:,} bytes as JSON; the limit is {limit:,}")


def _check_meta(value: dict[str, Any]) -> dict[str, Any]:
    """Check the size of ``meta``. What an entry brought along is measured apart: it must not crowd out the rest."""
    clean: dict[str, Any] = check_json(value)
    origin = clean.get(ENTRY_ORIGIN)
    if not isinstance(origin, dict):
        return dict(_check_json_value(clean))
    _check_size({name: one for name, one in clean.items() if name != ENTRY_ORIGIN}, MAX_JSON_BYTES)
    rest = {name: one for name, one in origin.items() if name != "vouchers"}
    _check_size(rest, MAX_JSON_BYTES, "the metadata that came along ")
    _check_size(origin.get("vouchers"), MAX_VOUCHERS_BYTES, "the list of vouchers that came along ")
    return clean


def _check_year(moment: datetime) -> datetime:
    if not 1900 <= moment.year <= 9000:
        raise ValueError("is not between the years 1900 and 9000")
    return moment


def _sort_set(values: Any) -> Any:
    """Sort a set, which has no order of its own: the same words must give the same bytes."""
    return sorted(values) if isinstance(values, set | frozenset) else values


def _drop_repeated(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


Content = Annotated[str, Field(strict=True), AfterValidator(_check_content)]
Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_check_name)]
PrincipalId = Annotated[str, Field(max_length=MAX_NAME + MAX_KIND), AfterValidator(_check_principal)]
Title = Annotated[str, Field(max_length=MAX_TITLE), AfterValidator(partial(_check_name, longest=MAX_TITLE))]
Sentence = Annotated[str, Field(max_length=1_000), AfterValidator(check_text)]
Moment = Annotated[datetime, BeforeValidator(read_moment), AfterValidator(_check_year)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_check_json_value)]
Meta = Annotated[dict[str, Any], AfterValidator(_check_meta)]
JsonObjects = Annotated[
    tuple[dict[str, Any], ...], Field(max_length=256), AfterValidator(lambda values: tuple(_check_json_value(values)))
]
Names = Annotated[tuple[Name, ...], BeforeValidator(_sort_set), Field(max_length=64), AfterValidator(_drop_repeated)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Importance = Annotated[int, Field(ge=1, le=5, strict=True)]
Confidence = Annotated[float, Field(ge=0.0, le=1.0)]


def as_source(value: Any) -> Any:
    """Return the source that a word of another schema means; any other value as it is."""
    return str(SOURCE_WORDS[value]) if isinstance(value, str) and value in SOURCE_WORDS else value


def _as_author(value: Any) -> Any:
    return named(value) if isinstance(value, str) else value


class Author(BaseModel):
    """Who is credited with the words. A plain string stands for both id and name.

    ``id`` is a principal, such as ``user:ana``, or an id that a platform gave somebody, as a file or an application wrote it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: PrincipalId
    name: Name
    platform: Name | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "platform": self.platform}


class Candidate(BaseModel):
    """A statement to be remembered, with whatever the caller says about it.

    Only ``content`` is required. What is left out is set by rules, and the receipt says which.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    content: Content

    namespace: Namespace | None = None
    space: Space = Space.USER
    owner: Name = "default"
    scope: Name = SHARED

    kind: Kind = Kind.SEMANTIC
    canonical_key: Title | None = None
    title: Title | None = None
    topic_id: Title | None = None
    key: Title | None = Field(None, description="the fact key of a profile memory, such as preferred_name")
    event_type: EventType | None = None
    layer: Layer | None = None
    sublayer: Name | None = None
    tier: Tier | None = None
    category: Name = DEFAULT_CATEGORY
    tags: Names = ()
    entities: JsonObjects = ()
    relationships: JsonObjects = ()
    artifact_ref: JsonObject | None = None
    context: JsonObject | None = None
    meta: Meta = Field(default_factory=dict)

    author: Annotated[Author, BeforeValidator(_as_author)] | None = None
    source: Annotated[Source | None, BeforeValidator(as_source)] = None
    authority: Authority | None = None
    authority_reason: Sentence | None = None
    user_id: Name | None = None
    agent_id: Name | None = None
    run_id: Name | None = None
    thread_id: Name | None = None
    actor_id: Name | None = None
    role: Name | None = None
    parent_refs: Annotated[
        tuple[Hash, ...], BeforeValidator(_sort_set), Field(max_length=MAX_PARENTS), AfterValidator(_drop_repeated)
    ] = ()
    signature: Sentence | None = None
    confidence: Confidence | None = None
    aliases: Names = ()
    supersedes: Name | None = Field(
        None, description="the id of the active memory that this one is the next version of"
    )

    created_at: Moment | None = Field(
        None, description="when it was said; only an application may state it, and no future time"
    )
    pinned: Annotated[bool, Field(strict=True)] = False
    importance: Importance | None = None
    expires_at: Moment | None = None
    valid_from: Moment | None = Field(None, description="since when it holds; without it no beginning is known")
    valid_until: Moment | None = Field(None, description="the first moment at which it no longer holds")
    ttl_ticks: Annotated[int, Field(ge=1, le=10**9, strict=True)] | None = None

    change: Change | None = Field(None, description="how it relates to what is known, if the caller knows")
    diagnostic: bool = Field(False, description="a temporary diagnostic: goes to the ephemeral namespace")

    @model_validator(mode="after")
    def _check_together(self) -> "Candidate":
        if self.sublayer is not None:
            layer = self.layer or next((la for la, subs in SUBLAYERS.items() if self.sublayer in subs), None)
            if layer is None or self.sublayer not in SUBLAYERS[layer]:
                known = ", ".join(sub for subs in SUBLAYERS.values() for sub in subs)
                raise ValueError(f"sublayer: {self.sublayer!r} is not one of its layer's; known: {known}")
        if self.key is not None and self.kind is not Kind.PROFILE:
            raise ValueError("key: only a memory of kind 'profile' has a fact key; set kind='profile'")
        if self.kind is Kind.PROFILE and self.key is None:
            raise ValueError("key: a memory of kind 'profile' needs its fact key, such as preferred_name")
        if self.valid_from is not None and self.valid_until is not None and self.valid_until <= self.valid_from:
            raise ValueError("valid_until: must be after valid_from")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One version of one concept, as it stands now. Its values were checked when they came in, as a candidate."""

    id: str
    tenant: str
    namespace: Namespace
    space: Space
    owner: str
    scope: str

    content: str
    content_hash: str
    fingerprint: str
    canonical_key: str
    key_digest: str
    topic_id: str | None
    kind: Kind
    event_type: EventType
    layer: Layer
    sublayer: str
    tier: Tier | None
    category: str
    tags: tuple[str, ...]
    entities: tuple[dict[str, Any], ...]
    relationships: tuple[dict[str, Any], ...]
    artifact_ref: dict[str, Any] | None
    context: dict[str, Any] | None
    meta: dict[str, Any]

    author: Author
    source: Source
    authority: Authority
    authority_reason: str
    user_id: str | None
    agent_id: str | None
    run_id: str | None
    thread_id: str | None
    actor_id: str | None
    role: str | None
    parent_refs: tuple[str, ...]
    vouchers: tuple[dict[str, Any], ...]
    signature: str | None
    confidence: float | None
    aliases: tuple[str, ...]

    status: Status
    version: int
    supersedes_id: str | None
    superseded_by_id: str | None
    related_memory_ids: tuple[str, ...]
    conflict_ids: tuple[str, ...]
    pinned: bool
    importance: int
    importance_reason: tuple[str, ...]
    access_count: int
    last_accessed: datetime

    created_at: datetime
    last_modified: datetime
    tick: int
    phase_id: str | None
    expires_at: datetime | None
    expires_at_tick: int | None
    valid_from: datetime | None
    valid_until: datetime | None
    deleted_at: datetime | None
    purge_at: datetime | None

    @property
    def short_id(self) -> str:
        """The first twelve hex digits: what people type."""
        return self.id.replace("-", "")[:12]

    @property
    def revision(self) -> str:
        """Sixteen hex digits that change whenever the memory does, but not when it is read."""
        said = {name: value for name, value in self.to_dict().items() if name not in ("access_count", "last_accessed")}
        return hashlib.sha256(canonical_json(said).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values under the record's own names."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def to_item(self) -> dict[str, Any]:
        """Return the memory as a governance item; :func:`recollect.from_item` is the way back."""
        return to_item(self)

    def to_json(self) -> str:
        """Return the canonical JSON form: the same bytes for the same memory, everywhere."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """What is left of a memory whose content was removed: its id, its place in the chain, and when it was removed.

    ``removed`` is ``erased`` (a person's right), ``purged`` (past its purge date) or ``damaged`` (it cannot be read).
    """

    id: str
    removed: str
    version: int
    supersedes_id: str | None
    superseded_by_id: str | None
    at: datetime

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
