"""Answers: what became of a write, of a read, and of the longer operations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, Literal, TypeVar

from recollect.model.canonical import Plain, canonical_json, to_plain, validity_words
from recollect.model.item import source_word
from recollect.model.record import TITLE, Memory
from recollect.model.rendering import NOTHING, envelope, one_line, visible_json
from recollect.model.vocabulary import Authority, Kind, Outcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changed(Plain):
    """One memory that a write moved, and between which statuses (``None``: it was not there before)."""

    id: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Similar(Plain):
    """An active memory that a new one may replace: what it says, since when, and how alike the two are, from 0 to 1.

    ``reason`` is why it may be outdated (``contested_slot``, ``announced_change`` …), or ``near`` if it is only alike.
    """

    id: str
    canonical_key: str
    content: str
    at: str
    similarity: float
    reason: str = "near"


@dataclass(frozen=True, slots=True)
class Receipt(Plain):
    """The answer to a write. ``denied`` is an answer too: ``reasons`` says why, ``detail`` what to do next."""

    outcome: Outcome
    memory: Memory | None
    reasons: tuple[str, ...]
    events: tuple[dict[str, Any], ...] = ()
    changed: tuple[Changed, ...] = ()
    detail: str | None = None
    replayed: bool = False
    similar: tuple[Similar, ...] = ()
    """Up to three memories that a newly stored one may replace; ``supersede(id, by=new)`` accepts one of them."""

    @property
    def denied(self) -> bool:
        return self.outcome is Outcome.DENIED


@dataclass(frozen=True, slots=True)
class Page(Plain, Generic[T]):
    """One page of a list: its ``items``, over which it iterates, and ``next_cursor`` for the next page (``None`` at the end)."""

    items: tuple[T, ...]
    next_cursor: str | None = None

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values. Governance events keep the policy that was in force: they were asked for."""
        items = [one.to_dict() if hasattr(one, "to_dict") else one for one in self.items]
        more = {f.name: to_plain(getattr(self, f.name)) for f in fields(self) if f.name != "items"}
        return {"items": items, **more}


@dataclass(frozen=True, slots=True)
class MemoryPage(Page[Memory]):
    """Some memories, newest first.

    ``damaged`` are memories that belong here and cannot be read: where each is, what is wrong, and what to do.
    """

    damaged: tuple["Problem", ...] = ()


@dataclass(frozen=True, slots=True)
class Related(Plain):
    """A memory that another one is related to: by which type, and how strongly, from 0 to 1."""

    id: str
    content: str
    relation_type: str
    strength: float
    category: str = "general"

    @property
    def line(self) -> str:
        """The line below the bullet of the memory that it is related to."""
        kind = "" if self.relation_type == "related_to" else f"{one_line(self.relation_type)}: "
        return f"  ↔ {kind}{one_line(self.content)}"


@dataclass(frozen=True, slots=True)
class Statement(Plain):
    """One side of a pair that waits for a decision: which memory, what it says, since when, and who said it."""

    id: str
    content: str
    created_at: str
    author: str


@dataclass(frozen=True, slots=True)
class OutdatedPair(Plain):
    """Two memories of which the later one may have replaced the earlier one; a person or an agent decides with ``resolve``.

    ``reason`` says why they were paired, ``strength`` how alike they are, from 0 to 1. A contradiction has the reason
    ``contradicts``: its later side is not active, and its earlier side is ``None`` if nothing active contradicts it any more.
    """

    reason: str
    strength: float
    earlier: Statement | None
    later: Statement


@dataclass(frozen=True, slots=True)
class Earlier(Plain):
    """What a memory said before: an older version of it."""

    id: str
    version: int
    content: str
    created_at: str

    @property
    def line(self) -> str:
        """The line below the bullet of the memory that replaced it."""
        return f"  before {self.created_at[:10]}: {one_line(self.content)}"


Form = Literal["text", "bullets", "full"]
"""How an answer is written down: as lines for a prompt, as small JSON objects, or as whole records."""


@dataclass(frozen=True, slots=True)
class Recalled(Plain):
    """One memory that answers a query, with its score and why it came."""

    memory: Memory
    score: float
    recall_reason: tuple[str, ...]
    shadowed: tuple[str, ...] = ()
    relevance: float = 0.0
    """How sure one can be, from 0 to 1, that it has to do with the question at all; ``threshold`` is compared with it."""
    breakdown: dict[str, float] = field(default_factory=dict)
    """What each feature adds to the score."""
    related: tuple[Related, ...] = ()
    """Related memories that are listed below it."""
    earlier: tuple[Earlier, ...] = ()
    """Its earlier versions, newest first, if the query asked for ``history``."""
    outdated_by: str | None = None
    """The id of a later memory in the same answer that may make it outdated."""
    may_update: tuple[str, ...] = ()
    """The ids of memories in the same answer that it may make outdated."""

    @property
    def bullet(self) -> str:
        """The memory as one line, with when it was said and holds, and whether a later one may make it outdated."""
        return bullet(self.memory, outdated=self.outdated_by is not None)

    @property
    def lines(self) -> list[str]:
        """Its lines in a prompt: the bullet, and below it earlier versions and related memories."""
        return [self.bullet, *(one.line for one in self.earlier), *(one.line for one in self.related)]

    def in_full(self) -> dict[str, Any]:
        """Return the whole record, with its score, the breakdown of the score, and why it came."""
        along = {name: to_plain(said) for name in ("earlier", "related") if (said := getattr(self, name))}
        return {
            **self.memory.to_dict(),
            "score": self.score,
            "relevance": self.relevance,
            "breakdown": dict(self.breakdown),
            "recall_reason": list(self.recall_reason),
            "shadowed": list(self.shadowed),
            **({"outdated_by": self.outdated_by} if self.outdated_by else {}),
            **({"may_update": list(self.may_update)} if self.may_update else {}),
            **along,
        }

    def written(self, form: Form) -> str:
        """Return the item as an answer of that form has it."""
        if form == "text":
            return "\n".join(self.lines)
        return visible_json(canonical_json(_bullet_to_dict(self) if form == "bullets" else self.in_full()))


@dataclass(frozen=True, slots=True)
class LeftOut(Plain):
    """A memory that a query considered and left out.

    ``reason`` is ``shadowed`` (the answer has another memory of the same concept), ``below_threshold``, ``not_sure`` (the
    answer would be a guess), ``beyond_top_k`` or ``no_room`` (in the token budget, or in its category's ``rag_length``).
    """

    id: str
    content: str
    reason: str
    score: float = 0.0
    relevance: float = 0.0


def as_written(items: Sequence[Recalled], form: Form) -> str:
    """Return the items as they stand in an answer of that form: lines inside the envelope, or a list of JSON."""
    written = [item.written(form) for item in items]
    if form == "text":
        return envelope(written) if written else ""
    return f"[{','.join(written)}]"


@dataclass(frozen=True, slots=True)
class Recall(Plain):
    """The answer to a query, best first. ``text`` is ready for a prompt: the header and a line for each item, fenced."""

    query: str
    items: tuple[Recalled, ...]
    events: tuple[dict[str, Any], ...] = ()
    header: str = ""
    """What changed since the thread last asked, if the query named one."""
    no_room: int = 0
    """How many more match for which the budget had no room."""
    notice: str = ""
    """A remark on how the query was answered, such as that vectors have to be made anew; mostly empty."""
    confidence: float = 0.0
    """How likely it is, from 0 to 1, that a right memory is among the first five items."""
    why: str = ""
    """Why there are no items, as a reason code."""
    left_out: tuple[LeftOut, ...] = ()
    """The memories that were considered and left out, if the query asked for them."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without events: the event of a recall repeats the items."""
        return {"query": self.query, "header": self.header, "items": to_plain(self.items), **self._about()}

    def _about(self) -> dict[str, Any]:
        about = {"confidence": self.confidence, "abstained": self.abstained, "no_room": self.no_room}
        said = {"because": self.because, "notice": self.notice, "left_out": to_plain(self.left_out)}
        return about | {name: value for name, value in said.items() if value}

    @property
    def because(self) -> str:
        """Why there are no items, as a reason code; empty if there are some."""
        return self.why if self.abstained else ""

    @property
    def text(self) -> str:
        found = [line for item in self.items for line in item.lines]
        lines = [self.header, *found] if self.header else found
        return envelope(lines) if lines else ""

    @property
    def abstained(self) -> bool:
        """Whether nothing was found that has enough to do with the question. Memories without room in the budget were found."""
        return not self.items and not self.no_room

    def bullets(self) -> list[dict[str, Any]]:
        """Return the short form for prompts: id, category and a line of text each, with earlier versions and relations."""
        return [_bullet_to_dict(item) for item in self.items]

    def in_bullets(self) -> dict[str, Any]:
        """Return the whole answer in its short form: the bullets, whether nothing was found, and what changed since last time."""
        return {"header": self.header, "items": self.bullets(), **self._about()}

    def in_full(self) -> dict[str, Any]:
        """Return the same with whole records."""
        return {**self.in_bullets(), "items": [item.in_full() for item in self.items]}


def _bullet_to_dict(item: Recalled) -> dict[str, Any]:
    """Return a memory as a bullet; ``earlier`` and ``related`` are lines that stand below it, where there are any."""
    memory = item.memory
    values = {"id": memory.id, "category": one_line(memory.category), "text": item.bullet.removeprefix("- ")}
    earlier, related = [one.line.strip() for one in item.earlier], [one.line.strip() for one in item.related]
    return values | ({"earlier": earlier} if earlier else {}) | ({"related": related} if related else {})


def bullet(memory: Memory, *, outdated: bool = False) -> str:
    """Return one memory as one line, in which nothing looks like another memory, or like a line below one.

    The last brackets are never part of its words: they say when it was said, and from or until when it holds.
    """
    words = one_line(with_heading(memory)) or NOTHING
    return f"- [{_choose_label(memory)}] {words} ({when(memory, outdated=outdated)})"


def with_heading(memory: Memory) -> str:
    """Return what a memory says; a procedure under its heading."""
    heading = memory.meta.get(TITLE) if memory.kind is Kind.PROCEDURAL else None
    return f"{heading}:\n{memory.content}" if heading else memory.content


def when(memory: Memory, *, outdated: bool = False) -> str:
    """Return the day on which a memory was said, its validity unless the content says that in the same way, and
    whether it may be ``outdated``.

    Where it holds from the day on which it was said, that day is named once.
    """
    said, doubt = f"{memory.created_at:%Y-%m-%d}", ", may be outdated" if outdated else ""
    holds = validity_words(memory.valid_from, memory.valid_until, memory.created_at)
    if not holds or holds in memory.content.casefold():
        return said + doubt
    return (holds if holds.startswith(f"since {said}") else f"said {said}, {holds}") + doubt


def holds(memory: Memory) -> str:
    """Return the validity of a memory in brackets, unless its content says so in the same way."""
    words = validity_words(memory.valid_from, memory.valid_until, memory.created_at)
    return f" ({words})" if words and words not in memory.content.casefold() else ""


def _choose_label(memory: Memory) -> str:
    """Return what stands before a memory in a prompt: who said a line of the conversation, else the category.

    What a model or a tool inferred says so before its category, which it could have chosen itself.
    """
    speaker = source_word(memory.source, memory.authority)
    if "summary_of" in memory.meta:
        return "summary"
    if memory.kind is Kind.SHORT_TERM:
        return speaker
    category = one_line(memory.category)
    return f"{speaker}: {category}" if memory.authority is Authority.AI_INFERRED else category


@dataclass(frozen=True, slots=True)
class Turn(Plain):
    """What one exchange recalled and stored. ``recall`` is ``None`` if it was only recorded.

    ``receipts`` has one receipt for each line, fact, statement and rule; ``promoted`` one for each that crossed into another
    space or was stopped at its border; ``forgotten`` names the lines that left the window and what the person took back.
    """

    session: str
    recall: Recall | None
    receipts: tuple[Receipt, ...]
    promoted: tuple[Receipt, ...] = ()
    forgotten: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class HistoryEvent(Plain):
    """One line of a memory's history, in one of seven kinds; ``meta`` says which operation it was."""

    memory_id: str
    event: str
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    at: str
    meta: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RejectedValue(Plain):
    """A value that a person said was never true, and that is refused since ``at``; ``id`` is the rejection's own.

    The rejection itself holds no words: ``content`` and ``reason`` are there while the memory is. ``also_gone`` are other
    memories that said the same and left the active set with it.
    """

    id: str
    memory_id: str
    content: str | None
    canonical_key: str | None
    namespace: str
    space: str
    owner: str
    reason: str | None
    rejected_by: str | None
    at: str
    also_gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal(Plain):
    """A profile field that somebody else than the person proposes, and that waits for consent until ``lapses_at``.

    ``instead_of`` is what holds now, if anything does; ``times`` counts how often it was proposed.
    """

    id: str
    key: str | None
    content: str
    instead_of: str | None
    namespace: str
    space: str
    owner: str
    proposed_by: str | None
    at: str
    lapses_at: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class UpkeepReport(Plain):
    """What a round of upkeep did: the ids that expired, were put away unused, were purged, and lapsed without a decision."""

    expired: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    purged: tuple[str, ...] = ()
    lapsed: tuple[str, ...] = ()
    beyond_reach: tuple[str, ...] = ()
    """Where removed bytes may still lie, if the files could not be rewritten."""
    events: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class DerivedMemory(Plain):
    """A memory that was made of an erased one, or names the erased person: how, and what became of it (``kept``, ``review`` or
    ``erased``)."""

    id: str
    how: tuple[str, ...]
    became: str


@dataclass(frozen=True, slots=True)
class LedgerPlace(Plain):
    """An entry of the ledger: the stream's uid, its place there, what it says about which memory, and its hash."""

    stream: str
    seq: int
    event: str
    memory: str
    hash: str


@dataclass(frozen=True, slots=True)
class ErasureReceipt(Plain):
    """What an erasure removed, what became of derived memories, what stays, and what is beyond its reach.

    ``derived``, ``authored`` and ``links_cut`` count what the caller may see. ``asked_by`` is the opaque uid under which the
    caller acts in the ledger, ``entries`` are the places there that say all this; neither holds a name or a word.
    """

    removed: tuple[str, ...]
    streams: int
    owner_names_removed: int
    actor_names_removed: int
    traces_removed: int
    remaining: tuple[str, ...]
    beyond_reach: tuple[str, ...]
    at: str
    derived: tuple[DerivedMemory, ...] = ()
    links_cut: int = 0
    asked_by: str | None = None
    entries: tuple[LedgerPlace, ...] = ()
    graph_threads_removed: int = 0
    authored: tuple[str, ...] = ()
    """What the person wrote in streams of others, and which is gone as well."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to erase; perhaps a name was mistyped."""
        names = self.owner_names_removed + self.actor_names_removed + self.graph_threads_removed
        return not (self.removed or self.authored or self.derived or names or self.traces_removed)


@dataclass(frozen=True, slots=True)
class ErasurePreview(Plain):
    """What an erasure would do now, in the fields of its receipt: the ids that would be removed, the memories derived from them
    and their fate, what would stay of the same chains, how many links and names would be removed, what is beyond reach."""

    removed: tuple[str, ...]
    authored: tuple[str, ...]
    derived: tuple[DerivedMemory, ...]
    remaining: tuple[str, ...]
    streams: int
    links_cut: int
    beyond_reach: tuple[str, ...]
    owner_names: int = 0
    actor_names: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to erase."""
        return not (self.removed or self.authored or self.derived or self.owner_names or self.actor_names)


@dataclass(frozen=True, slots=True)
class Problem(Plain):
    """Something that ``verify`` or ``doctor`` found: where, what, and what to do."""

    where: str
    what: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Verification(Plain):
    """The result of checking every chain, version and projection.

    ``signed_entries`` and ``signed_vouches`` count every signature that was checked, by what it is worth: ``good``,
    ``rotated`` or ``revoked`` (the log has it after its key ended), ``unknown`` (nobody registered the key), ``another's``,
    ``erased`` (its holder was), ``invalid``, and ``elsewhere`` (only the signed document can show it).
    """

    ok: bool
    streams: int
    entries: int
    versions: int
    problems: tuple[Problem, ...] = ()
    uncovered_entries: int = 0
    signed_entries: dict[str, int] = field(default_factory=dict)
    signed_vouches: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamInfo(Plain):
    """One stream: where it is, its tick, how many entries its ledger has, its current phase, and when they were written.

    A caller who may not see everything in the stream gets the tick 0, and the number of its own memories as entries.
    """

    namespace: str
    space: str
    owner: str
    tick: int
    entries: int
    phase_id: str
    began_at: str
    last_at: str


@dataclass(frozen=True, slots=True)
class Growth(Plain):
    """How many memories were written on one day, and how many there were at its end."""

    day: str
    written: int
    total: int


@dataclass(frozen=True, slots=True)
class Believed(Plain):
    """What one side of a change said: a memory that was active at one of two moments."""

    id: str
    canonical_key: str
    content: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Difference(Plain):
    """What changed between two moments: added memories, pairs of which the second replaced the first, and removed ones.

    With a ``next_cursor`` it is one page of what changed.
    """

    added: tuple[Believed, ...]
    replaced: tuple[tuple[Believed, Believed], ...]
    removed: tuple[Believed, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class TriedWrite(Plain):
    """A write of the past that another policy would have ended otherwise: its outcome and first reason under either."""

    memory_id: str
    content: str
    at: str
    before: str
    after: str
    before_reasons: tuple[str, ...]
    after_reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicyTrial(Plain):
    """What another policy would have made of the last writes; ``changed`` are the writes that would have ended otherwise.

    They come oldest first. Refused writes are not among ``tried``: their words were never kept.
    """

    tried: int
    changed: tuple[TriedWrite, ...]


@dataclass(frozen=True, slots=True)
class Explanation(Plain):
    """Why a memory is as it is, or what was decided in a turn. ``text`` is for people; the rest is for programs.

    The explanation of a turn has an empty ``id`` and no ``decisions``, ``chain`` and ``history``.
    """

    id: str
    text: str
    decisions: tuple[dict[str, str], ...] = ()
    chain: tuple[dict[str, Any], ...] = ()
    history: tuple[HistoryEvent, ...] = ()
    sentences: tuple[str, ...] = ()
    """What was decided and why, from the traces that policy kept and that the caller may read."""
    events: tuple[dict[str, Any], ...] = ()
    """The traces of the turn, if it is one that is explained."""
