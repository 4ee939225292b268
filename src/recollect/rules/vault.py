"""A vault's memory, an agent's profile, and the decision on each write: the gates of every store, then topic, likeness, capacity.

1 noise  2 the log tier  3 length  4 scope, tier, category and source  5 sensitive data
6 the topic of a register: an update in place, which skips the rest  7 duplicates  8 capacity

That is the order of the ``vault`` preset, and its numbers; another policy has its own.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import combinations
from typing import Annotated, Any, NamedTuple

from pydantic import Field, ValidationError, model_validator

from recollect.model.caller import Caller
from recollect.model.canonical import check_text, format_time
from recollect.model.errors import BadInput
from recollect.model.ledger import Address
from recollect.model.policy import Policy
from recollect.model.policy_governance import Section
from recollect.model.record import Candidate
from recollect.model.vocabulary import SHARED, KeySource, Namespace, Space, Tier
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.gates.pipeline import GATES
from recollect.rules.identity.difference import what_differs
from recollect.rules.identity.likeness import Likeness, likeness
from recollect.rules.identity.rejected_values import Claim, Sealed, is_rejected
from recollect.rules.trust.authority import DEFAULT_OWNER

CANON, REGISTER, LOG = "canon", "register", "log"
TIERS = (CANON, REGISTER)
"""What can be stored. ``log`` may be asked for, and is always refused."""
AGENTS = ("orion", "elysia")
"""The agents that have a scope of their own, unless a profile names others."""
SOURCES = ("chat", "manual", "tool", "operator", "promotion")
GENERAL = "general"
CATEGORIES = (
    *"bio mission identity constraint project goal priority self_state preference relationship decision lesson fact".split(),
    GENERAL,
)
"""What a memory may be about, unless a profile names others."""


class VaultMemory(NamedTuple):
    """One memory of a vault, as its latest line has it.

    The ``id`` stays the same across versions; a memory whose ``deleted_at`` is set is a tombstone. ``extra`` holds the fields
    of the line that are not the vault's: they are carried along from version to version.
    """

    id: str
    text: str
    scope: str
    category: str
    tier: str
    topic_id: str | None
    tags: tuple[str, ...]
    created_at: str
    updated_at: str | None
    source: str | None
    deleted_at: str | None
    version: int
    extra: Mapping[str, Any] = {}

    @property
    def active(self) -> bool:
        return self.deleted_at is None

    @property
    def changed_at(self) -> str:
        """When it was last written to."""
        return self.updated_at or self.created_at

    def to_dict(self) -> dict[str, Any]:
        """Return the record as a line has it: the vault's fields in their order, then the others."""
        own = self._asdict()
        extra = own.pop("extra")
        return {**own, "tags": list(self.tags), **extra}


@dataclass(frozen=True, slots=True)
class VaultReceipt:
    """What became of a write: ``stored``, ``updated``, ``deleted``, ``promoted``, ``reinforced`` or ``denied``.

    A denied one has a stable ``code``, and a ``message`` that says what to do next. ``reinforced`` means that ``memory`` says
    the same already, and that nothing was written; only a policy whose ``near_duplicates.action`` is that answers so.
    """

    outcome: str
    memory: VaultMemory | None
    code: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome != "denied"

    def to_dict(self) -> dict[str, Any]:
        memory = self.memory.to_dict() if self.memory else None
        return {"outcome": self.outcome, "memory": memory, "code": self.code, "message": self.message}


ANOTHER_SCOPE = "Another agent's is added by the profile: memory.agents."
ANOTHER_CATEGORY = "Others are named by the profile: memory.categories."
Word = Annotated[str, Field(min_length=1, max_length=256, strict=True)]


class VaultProfile(Section):
    """The ``memory`` section of an agent's profile: whether it remembers, what it sees, and how much of that a prompt gets.

    ``scopes`` are those that this agent reads and writes (by default all of them), ``max_items`` how many memories a
    search, a recall or a block returns at most, ``similarity_threshold`` how alike the letters of two texts must be for
    the second to be a duplicate. ``agents`` and ``categories`` name what is valid in this vault.
    """

    enabled: bool = Field(True, strict=True)
    scopes: tuple[Word, ...] | None = None
    max_items: int = Field(20, ge=1, le=1_000, strict=True)
    similarity_threshold: float | None = Field(None, gt=0, le=1)
    agents: tuple[Word, ...] = AGENTS
    categories: tuple[Word, ...] = CATEGORIES

    @model_validator(mode="after")
    def _knows_its_scopes(self) -> "VaultProfile":
        for scope in self.scopes or ():
            if scope not in self.known_scopes:
                known = ", ".join(self.known_scopes)
                raise ValueError(f"scopes: there is no scope {scope!r}; known: {known}. {ANOTHER_SCOPE[:-1]}")
        return self

    @property
    def known_scopes(self) -> tuple[str, ...]:
        return (SHARED, *self.agents)

    def sees(self, scope: str) -> bool:
        """Return whether this agent sees a scope. Without a list it sees every scope, even unknown ones of older files."""
        return self.scopes is None or scope in self.scopes


def parse_profile(data: Any, field: str = "profile") -> VaultProfile:
    """Return what the ``memory`` section of a profile says; the rest of the profile is not the vault's business.

    >>> parse_profile({"name": "Orion", "memory": {"scopes": ["shared", "orion"]}}).scopes
    ('shared', 'orion')
    """
    memory = data.get("memory") if isinstance(data, Mapping) else None
    if not isinstance(memory, Mapping):
        raise BadInput("has no `memory` section.", field=field, hint="Write memory: {enabled: true, scopes: [shared]}.")
    try:
        return VaultProfile.model_validate(dict(memory))
    except ValidationError as error:
        first = error.errors()[0]
    name, known = ".".join(str(part) for part in first["loc"]), list(VaultProfile.model_fields)
    unknown = first["type"] == "extra_forbidden"
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5) if unknown else []
    said = "there is no such setting" if unknown else str(first["msg"]).removeprefix("Value error, ")
    hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
    raise BadInput(f"{said}.", field=f"{field}: memory.{name}".rstrip("."), hint=hint)


MAX_TOPIC = 256
MAX_TAGS = 64


class Proposal(NamedTuple):
    """A write that is asked for. A field that is ``None`` is not stated, or stays as it was."""

    text: str
    scope: str | None = None
    category: str | None = None
    tier: str | None = None
    topic_id: str | None = None
    tags: Sequence[str] | None = None
    source: str | None = None


def propose(fields: Any) -> Proposal | Rejection:
    """Return the write that one item of a batch asks for; its fields are the arguments of ``add_memory``."""
    if not isinstance(fields, Mapping):
        return _bad_input("It must be a mapping with text, scope and category.")
    unknown = sorted(str(name) for name in fields if name not in Proposal._fields)
    if unknown:
        return _bad_input(f"{unknown[0]}: there is no such field. Known: {', '.join(Proposal._fields)}.")
    missing = [name for name in ("text", "scope", "category") if fields.get(name) is None]
    if missing:
        return _bad_input(f"{missing[0]}: it is missing.")
    return Proposal(**{"tier": CANON, **fields})


def _bad_input(detail: str) -> Rejection:
    return Rejection("shape", "bad_input", detail)


def _check_shape(asked: Proposal) -> Rejection | None:
    """Return a refusal if a field has the wrong type or is too long."""
    if isinstance(asked.tags, str) or not isinstance(asked.tags, Sequence | None):
        return _bad_input("tags: must be a list of texts.")
    names = ("scope", "category", "tier", "topic_id", "source")
    given = [(name, value) for name in names if (value := getattr(asked, name)) is not None]
    for name, value in [("text", asked.text), *given, *(("tags", tag) for tag in asked.tags or ())]:
        if not isinstance(value, str) or not value.strip():
            return _bad_input(f"{name}: must be text of at least one word.")
        try:
            check_text(value)
        except ValueError as error:
            return _bad_input(f"{name}: it {error}.")
    if len(asked.tags or ()) > MAX_TAGS:
        return _bad_input(f"tags: there are more than {MAX_TAGS}.")
    if asked.topic_id is not None and len(asked.topic_id) > MAX_TOPIC:
        return _bad_input(f"topic_id: it is longer than {MAX_TOPIC} characters.")
    return None


_SWITCHED_OFF = Rejection("vault", "disabled", "The profile has memory switched off. Set memory.enabled to true.")
_ABOUT_THE_WORDS = frozenset({"noise", "length", "privacy"})
"""The gates that look at content alone. The others need what a vault does not have: keys, streams, retention."""
_UNREAD = datetime.max.replace(tzinfo=UTC)
"""A placeholder for the time, which none of these gates reads."""


def run_gates(asked: Proposal, policy: Policy, profile: VaultProfile) -> Proposal | Rejection:
    """Run a proposal through the gates in the order of the policy; return it, redacted where the policy says so, or a refusal."""
    tier = Tier(asked.tier) if asked.tier in (*TIERS, LOG) else Tier.CANON
    said: dict[str, Any] = {
        "content": asked.text,
        "topic_id": asked.topic_id,
        "tags": tuple(asked.tags or ()),
        "tier": tier,
    }
    draft = Draft(Candidate.model_construct(_fields_set={*said}, **said))
    context = Context(policy, Caller(), _UNREAD)
    for name in policy.gates.order:
        if name == "border" and (refusal := _check_words(asked, profile)) is not None:
            return refusal
        if name in _ABOUT_THE_WORDS:
            answer = GATES[name](draft, context)
            if isinstance(answer, Rejection):
                return answer
            draft = answer
    kept = draft.candidate
    return asked._replace(text=kept.content, topic_id=kept.topic_id, tags=None if asked.tags is None else kept.tags)


def refuse_rejected(asked: Proposal, rejected: Collection[Sealed], policy: Policy) -> Rejection | None:
    """Refuse a value that a person rejected in the store that shares the file. Only the store can lift the rejection: a vault
    does not know who writes."""
    at = Address("default", Namespace.PROD, Space.USER, DEFAULT_OWNER)
    if not is_rejected(Claim(at, asked.text, "", KeySource.FALLBACK), rejected, policy.text.synonyms):
        return None
    detail = "A person rejected it as never true. Lift the rejection in the store first."
    return Rejection("rejected", "rejected:value", detail)


def _check_words(asked: Proposal, profile: VaultProfile) -> Rejection | None:
    lists = (
        ("scope", asked.scope, profile.known_scopes, f" {ANOTHER_SCOPE}"),
        ("tier", asked.tier, TIERS, ""),
        ("category", asked.category, profile.categories, f" {ANOTHER_CATEGORY}"),
        ("source", asked.source, SOURCES, ""),
    )
    for name, word, known, more in lists:
        if word is not None and word not in known:
            detail = f"There is no {name} {word!r:.80}. Known: {', '.join(known)}.{more}"
            return Rejection("border", f"unknown_{name}", detail)
    if asked.scope is not None and not profile.sees(asked.scope):
        detail = f"The profile does not list {asked.scope!r}. Add it to memory.scopes."
        return Rejection("border", "scope_not_yours", detail)
    return None


class WriteBatch:
    """Decides writes one after another, each against the vault as the ones before it leave it.

    ``written`` holds the new versions, in order.
    """

    def __init__(
        self,
        memories: Mapping[str, VaultMemory],
        policy: Policy,
        profile: VaultProfile,
        now: datetime,
        new_id: Callable[[], str],
        *,
        rejected: frozenset[Sealed] = frozenset(),
    ) -> None:
        self.written: list[VaultMemory] = []
        self._rejected = rejected
        self._active = {id: memory for id, memory in memories.items() if memory.active}
        self._taken = set(memories)
        self._policy, self._profile, self._new_id, self._at = policy, profile, new_id, format_time(now)

    def add(self, asked: Proposal | Rejection) -> VaultReceipt:
        """Run all eight steps: a new memory, a register's next version, or a refusal."""
        asked = asked if isinstance(asked, Rejection) else self._run_gates(asked)
        if isinstance(asked, Rejection):
            return _deny(asked)
        register = self._register_of(asked)
        if register is not None:
            fields: dict[str, Any] = {"category": asked.category, "tags": asked.tags, "source": asked.source}
            stated = {name: value for name, value in fields.items() if value is not None}
            return VaultReceipt("updated", self._next_version(register, text=asked.text, **stated))
        return self._add_new(asked)

    def set_topic(self, asked: Proposal) -> VaultReceipt:
        """Write a register's next version; a new register is general unless its category is stated."""
        if asked.topic_id is None and self._profile.enabled:
            return _deny(_bad_input("topic_id: it is missing. Name the register's topic."))
        known = asked.category is not None or self._register_of(asked) is not None
        return self.add(asked if known else asked._replace(category=GENERAL))

    def update(self, memory_id: str, asked: Mapping[str, Any]) -> VaultReceipt:
        """Write a new version, all of which passes steps 1 to 5, whether it is changed or not."""
        memory = self._find(memory_id)
        if isinstance(memory, Rejection):
            return _deny(memory)
        stated = {name: value for name, value in asked.items() if value is not None}
        passed = self._run_gates(_merge(memory, stated))
        if isinstance(passed, Rejection):
            return _deny(passed)
        if not stated:
            return _deny(_bad_input("Nothing is to change. Give a text, category, tags or source."))
        return VaultReceipt(
            "updated", self._next_version(memory, **{**stated, "text": passed.text, "tags": passed.tags})
        )

    def delete(self, memory_id: str) -> VaultReceipt:
        memory = self._find(memory_id)
        if isinstance(memory, Rejection):
            return _deny(memory)
        return VaultReceipt("deleted", self._next_version(memory, deleted_at=self._at))

    def promote(self, memory_id: str, text: str | None) -> VaultReceipt:
        """Make a register canon. New words may duplicate no other memory; its own words passed when they were written."""
        memory = self._find(memory_id)
        if isinstance(memory, Rejection):
            return _deny(memory)
        if memory.tier == CANON:
            detail = f"The memory {memory.id} is canon already. Use update() to change it."
            return _deny(Rejection("vault", "already_canon", detail))
        passed = self._run_gates(_merge(memory, {} if text is None else {"text": text}))
        if isinstance(passed, Rejection):
            return _deny(passed)
        near = None if text is None else self._nearest(passed.text, memory.scope, apart_from=memory.id)
        if near is not None and self._policy.near_duplicates.action == "reject":
            return _deny(_duplicate(*near))
        return VaultReceipt("promoted", self._next_version(memory, tier=CANON, source="promotion", text=passed.text))

    def _run_gates(self, asked: Proposal) -> Proposal | Rejection:
        if not self._profile.enabled:
            return _SWITCHED_OFF
        passed = _check_shape(asked) or run_gates(asked, self._policy, self._profile)
        if isinstance(passed, Rejection):
            return passed
        return refuse_rejected(passed, self._rejected, self._policy) or passed

    def _register_of(self, asked: Proposal) -> VaultMemory | None:
        """Return the active register of the same topic and scope (step 6). Canon is never overwritten this way."""
        if asked.tier != REGISTER or asked.topic_id is None:
            return None
        wanted = (REGISTER, asked.topic_id, asked.scope)
        return next((one for one in self._active.values() if (one.tier, one.topic_id, one.scope) == wanted), None)

    def _add_new(self, asked: Proposal) -> VaultReceipt:
        """Store a new memory, unless it is a duplicate (step 7) or the vault is full (step 8)."""
        action = self._policy.near_duplicates.action
        near = self._nearest(asked.text, asked.scope)
        if near is not None and action == "reject":
            return _deny(_duplicate(*near))
        if near is not None and action == "reinforce" and not what_differs(near[0].text, asked.text):
            said = f"The memory {near[0].id} says the same; nothing was written."
            return VaultReceipt("reinforced", near[0], message=said)
        most = self._policy.capacity.max_active
        if most is not None and len(self._active) >= most:
            detail = f"The vault is full: {most:,} are active. {self._how_to_make_room}"
            return _deny(Rejection("capacity", "capacity_full", detail))
        message = (
            "" if near is None else f"It is {near[1].score:.0%} like the memory {near[0].id}, which stands as well."
        )
        return VaultReceipt("stored", self._append(self._create(asked)), message=message)

    def _nearest(self, text: str, scope: str | None, apart_from: str = "") -> tuple[VaultMemory, Likeness] | None:
        """Return the most similar memory of the scope that a text duplicates, unless the policy ignores duplicates."""
        settings = self._policy.near_duplicates
        if settings.action == "ignore":
            return None
        ratio_min = ratio_to_be_alike(self._policy, self._profile)
        others = (one for one in self._active.values() if one.scope == scope and one.id != apart_from)
        compared = [(one, likeness(one.text, text, ratio_min, settings.compare)) for one in others]
        near = [(one, alike) for one, alike in compared if alike.is_duplicate(settings.overlap_min, ratio_min)]
        return max(near, key=lambda pair: pair[1].score, default=None)

    @cached_property
    def _how_to_make_room(self) -> str:
        """Say how to make room in a full vault: a memory that might be deleted, else what else helps."""
        seen = [memory for memory in self._active.values() if self._profile.sees(memory.scope)]
        proposed = likely_deletions(seen, self._policy, self._profile)
        if proposed:
            first = proposed[0]
            return f"Delete {first.memory.id} ({first.code}); propose_deletions() names {len(proposed):,} such."
        return (
            "Update a memory that is there (update_by_topic, update), merge two (find_consolidation_candidates), delete one, "
            "or raise capacity.max_active in the policy."
        )

    def _find(self, memory_id: str) -> VaultMemory | Rejection:
        if not self._profile.enabled:
            return _SWITCHED_OFF
        memory = self._active.get(memory_id) if isinstance(memory_id, str) else None
        if memory is None or not self._profile.sees(memory.scope):
            detail = f"No active memory has the id {memory_id!r:.80}. See recall() for those there are."
            return Rejection("vault", "not_found", detail)
        return memory

    def _create(self, asked: Proposal) -> VaultMemory:
        while (id := self._new_id()) in self._taken:
            continue
        return VaultMemory(
            id=id,
            text=asked.text,
            scope=asked.scope or "",
            category=asked.category or GENERAL,
            tier=asked.tier or CANON,
            topic_id=asked.topic_id,
            tags=tuple(asked.tags or ()),
            created_at=self._at,
            updated_at=None,
            source=asked.source,
            deleted_at=None,
            version=1,
        )

    def _next_version(self, memory: VaultMemory, **stated: Any) -> VaultMemory:
        if "tags" in stated:
            stated["tags"] = tuple(stated["tags"])
        return self._append(memory._replace(updated_at=self._at, version=memory.version + 1, **stated))

    def _append(self, memory: VaultMemory) -> VaultMemory:
        self.written.append(memory)
        self._taken.add(memory.id)
        if memory.active:
            self._active[memory.id] = memory
        else:
            del self._active[memory.id]
        return memory


def ratio_to_be_alike(policy: Policy, profile: VaultProfile) -> float:
    """Return the least likeness of letters at which a text is a duplicate: the profile's number, or the policy's."""
    return profile.similarity_threshold or policy.near_duplicates.ratio_min


def _merge(memory: VaultMemory, stated: Mapping[str, Any]) -> Proposal:
    """Return a changed memory as a proposal. Words of closed lists that do not change are not judged again."""
    return Proposal(**{"text": memory.text, "topic_id": memory.topic_id, "tags": memory.tags, **stated})


def _duplicate(memory: VaultMemory, alike: Likeness) -> Rejection:
    detail = f"It is {alike.score:.0%} like the memory {memory.id}. Update that one instead."
    return Rejection("near_duplicate", "near_duplicate", detail)


def _deny(no: Rejection) -> VaultReceipt:
    return VaultReceipt("denied", None, no.code, no.detail)


class Pair(NamedTuple):
    """Two memories that say much the same, the older one first."""

    first: VaultMemory
    second: VaultMemory
    alike: Likeness

    @property
    def score(self) -> float:
        return self.alike.score

    def to_dict(self) -> dict[str, Any]:
        return {"first": self.first.to_dict(), "second": self.second.to_dict(), "score": self.score}


def similar_pairs(memories: Iterable[VaultMemory], floor: float) -> list[Pair]:
    """Return the pairs within one scope that are alike by at least ``floor``, the most alike first."""
    in_order = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    both = ((first, second) for first, second in combinations(in_order, 2) if first.scope == second.scope)
    pairs = (Pair(first, second, likeness(first.text, second.text, floor)) for first, second in both)
    return sorted((p for p in pairs if p.score >= floor), key=lambda p: (-p.score, p.first.id, p.second.id))


class Deletion(NamedTuple):
    """A memory that might go: a stable code and a sentence that says why."""

    memory: VaultMemory
    code: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"memory": self.memory.to_dict(), "code": self.code, "reason": self.reason}


def likely_deletions(memories: Sequence[VaultMemory], policy: Policy, profile: VaultProfile) -> list[Deletion]:
    """Return memories that the gates would refuse today, registers without a topic, and duplicates of other memories.

    Of two duplicates the register is returned if the other one is canon, and otherwise the older one.
    """
    found: dict[str, Deletion] = {}
    for memory in memories:
        tier = memory.tier if memory.tier in (*TIERS, LOG) else None
        asked = Proposal(memory.text, tier=tier, topic_id=memory.topic_id, tags=memory.tags)
        no = run_gates(asked, policy, profile)
        if isinstance(no, Rejection):
            reason = f"The write gate would refuse it today. {no.detail}"
            found[memory.id] = Deletion(memory, no.code, reason)
        elif memory.tier == REGISTER and memory.topic_id is None:
            reason = "No write updates it, and no snapshot shows it."
            found[memory.id] = Deletion(memory, "register_without_topic", reason)
    settings, ratio_min = policy.near_duplicates, ratio_to_be_alike(policy, profile)
    rest = [memory for memory in memories if memory.id not in found and settings.action != "ignore"]
    for pair in similar_pairs(rest, min(settings.overlap_min, ratio_min)):
        if pair.alike.is_duplicate(settings.overlap_min, ratio_min):
            first_stays = pair.first.tier == CANON != pair.second.tier
            goes, stays = (pair.second, pair.first) if first_stays else (pair.first, pair.second)
            reason = f"It is {pair.score:.0%} like the memory {stays.id}, which stays."
            found.setdefault(goes.id, Deletion(goes, "near_duplicate", reason))
    return sorted(found.values(), key=lambda one: (one.memory.created_at, one.memory.id))
