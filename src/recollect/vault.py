"""The memory vault: durable, scoped, append-only memory in one JSONL file that several agents share.

    from recollect.vault import MemoryVault

    vault = MemoryVault("vault.jsonl")
    vault.add_memory("The mission is to stabilise the runtime", "shared", "mission")

Every line of the file is one version of one memory; the highest version of an id counts. Every write passes the gates of the
policy (by default the ``vault`` preset); a refusal is a receipt, not an exception. A write takes the file's lock, reads what
others appended, decides, appends and syncs, so that two agents in two processes decide as if they took turns.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from recollect.engine.arguments import check_names, check_number, check_path
from recollect.engine.context import Clock, Randomness, SystemRandomness, system_clock
from recollect.formats.vault import FIELD, REJECTIONS, from_line, is_store_line, read_memories, resolve, select_needed
from recollect.model.errors import BadInput, NotAllowed, StoreUnavailable, WrongState
from recollect.model.policy import Policy
from recollect.model.rendering import envelope, one_line
from recollect.policies import load_policy
from recollect.rules.identity.likeness import search_score
from recollect.rules.identity.rejected_values import Sealed
from recollect.rules.privacy.gate import denied_types
from recollect.rules.prompt.injection import CountTokens, choose_fitting, origin_name, render_left_out
from recollect.rules.vault import (
    ANOTHER_SCOPE,
    CANON,
    LOG,
    REGISTER,
    TIERS,
    Deletion,
    Pair,
    Proposal,
    VaultMemory,
    VaultProfile,
    VaultReceipt,
    WriteBatch,
    likely_deletions,
    parse_profile,
    propose,
    similar_pairs,
)
from recollect.rules.vault import CATEGORIES as VALID_CATEGORIES
from recollect.rules.vault import SOURCES as VALID_SOURCES
from recollect.stores.files import check_folder
from recollect.stores.journal import JournalLog, Rewritten
from recollect.stores.journal.lines import Change, Record, unpack_changes, write_line

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect

Memory = VaultMemory
VALID_SCOPES = VaultProfile().known_scopes
_PRESET = load_policy("vault")
MAX_TEXT_CHARACTERS = _PRESET.length.max_characters
MAX_ACTIVE = _PRESET.capacity.max_active
OVERLAP_MIN, RATIO_MIN = _PRESET.near_duplicates.overlap_min, _PRESET.near_duplicates.ratio_min
NOISE_SIGNALS = _PRESET.noise.signals

__all__ = [
    "CANON",
    "DEFAULT_PATH",
    "LOG",
    "MAX_ACTIVE",
    "MAX_TEXT_CHARACTERS",
    "NOISE_SIGNALS",
    "OVERLAP_MIN",
    "RATIO_MIN",
    "REGISTER",
    "TIERS",
    "VALID_CATEGORIES",
    "VALID_SCOPES",
    "VALID_SOURCES",
    "Deletion",
    "Hit",
    "Memory",
    "MemoryVault",
    "Pair",
    "VaultMemory",
    "VaultProfile",
    "VaultReceipt",
    "build_memory_block",
    "build_snapshot_block",
    "find_pii",
    "load_profile",
]

DEFAULT_PATH = Path("data/memory/vault.jsonl")
ID_BYTES = 6
"""An id has twelve hex digits."""
SNAPSHOT = "## Memory snapshot"
RELEVANT = "## Relevant memories"
HEADINGS = {CANON: "Canon", REGISTER: "Registers"}
UNSTATED = "unstated"
"""Shown as the source of a memory that names none."""
FILTERS = ("tier", "category", "topic_id", "tag")
CONSOLIDATION_FLOOR = 0.40
"""From which likeness on two memories are a pair to merge; what the gate refuses is far more alike."""

Write = Callable[[WriteBatch], VaultReceipt]
"""One write: it is decided under the file's lock, against the vault as it is then."""

_log = logging.getLogger("recollect.vault")


class Budget(NamedTuple):
    """How many tokens a block has at most, and how they are counted."""

    tokens: int
    count: CountTokens


class Hit(NamedTuple):
    """A memory that a search found, and its score."""

    memory: VaultMemory
    score: float

    def to_dict(self) -> dict[str, Any]:
        return {"memory": self.memory.to_dict(), "score": self.score}


def find_pii(text: str, policy: str | Path | dict[str, Any] | Policy = _PRESET) -> tuple[str, ...]:
    """Return the types of sensitive data in a text that the policy does not let through: the guard of step 5, by itself.

    >>> find_pii("My SSN is 536-90-4399")
    ('us_ssn',)
    """
    return tuple(sorted(denied_types(text, load_policy(policy).privacy)))


def load_profile(path: str | Path) -> VaultProfile:
    """Read the ``memory`` section of a profile from its YAML file."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", field=str(path), hint="Name a YAML file.") from error
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError) as error:
        raise BadInput(f"is not YAML: {error}", field=str(path)) from error
    return parse_profile(data, str(path))


class MemoryVault:
    """An open vault. Use it as a context manager, or close it.

    ``profile`` is a YAML file with a ``memory`` section, the same as plain values, or a :class:`VaultProfile`; without one
    everything is seen. ``policy`` is a preset, a file or plain values, by default the ``vault`` preset. The folder of a
    ``path`` must exist; that of the default path is made.
    """

    def __init__(
        self,
        path: str | Path = DEFAULT_PATH,
        *,
        profile: str | Path | Mapping[str, Any] | VaultProfile | None = None,
        policy: str | Path | dict[str, Any] | Policy = "vault",
        clock: Clock = system_clock,
        randomness: Randomness | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.profile = _read_profile(profile)
        self.policy = load_policy(policy)
        self._clock = clock
        self._randomness = randomness or SystemRandomness()
        self._memories: dict[str, VaultMemory] = {}
        self._rejected: set[Sealed] = set()
        self._journal = JournalLog(check_vault_path(path), timeout_s=timeout_s, warn=_log.warning, rows=False)
        self.path = self._journal.path
        if self.profile.enabled:
            if Path(path) == DEFAULT_PATH:
                _make_folder(self.path.parent)
            check_folder(self.path)
            with self._journal.turn():  # what a crash tore is set aside before anything is read
                self._journal.catch_up(self._apply)

    def __enter__(self) -> "MemoryVault":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Every write was synced when it was acknowledged."""
        self._journal.close()

    def add_memory(
        self,
        text: str,
        scope: str,
        category: str,
        *,
        tier: str = CANON,
        topic_id: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
    ) -> VaultReceipt:
        """Remember something, if the write gate lets it in. A register whose topic is known is updated in place."""
        fields = {"topic_id": topic_id, "tags": tags, "source": source}
        return self.bulk_add([{"text": text, "scope": scope, "category": category, "tier": tier, **fields}])[0]

    def bulk_add(self, items: Iterable[Mapping[str, Any]]) -> list[VaultReceipt]:
        """Remember many things in one pass, and return a receipt each. Each is also checked against the ones before it."""
        return self._write([partial(WriteBatch.add, asked=propose(item)) for item in items])

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
    ) -> VaultReceipt:
        """Write the next version of a memory; what is not given stays as it was. New words pass steps 1 to 5 of the gate."""
        asked = {"text": text, "category": category, "tags": tags, "source": source}
        return self._write([lambda batch: batch.update(memory_id, asked)])[0]

    def update_by_topic(
        self,
        topic_id: str,
        scope: str,
        text: str,
        *,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
    ) -> VaultReceipt:
        """Write the register of a topic: its next version, or its first if there is none."""
        asked = Proposal(text, scope, category, REGISTER, topic_id, tags, source)
        return self._write([lambda batch: batch.set_topic(asked)])[0]

    def delete(self, memory_id: str) -> VaultReceipt:
        """Delete a memory: a tombstone is appended, and only ``compact`` removes the words."""
        return self.bulk_delete([memory_id])[0]

    def bulk_delete(self, memory_ids: Iterable[str]) -> list[VaultReceipt]:
        """Delete many memories in one pass; the receipt of an unknown id is denied, and the others are deleted."""
        return self._write([partial(WriteBatch.delete, memory_id=memory_id) for memory_id in memory_ids])

    def promote_to_canon(self, memory_id: str, canonical_text: str | None = None) -> VaultReceipt:
        """Make a register canon, in its own words or better ones; its source becomes ``promotion``."""
        return self._write([lambda batch: batch.promote(memory_id, canonical_text)])[0]

    def compact(self) -> Rewritten:
        """Rewrite the file with the latest line of each active memory. Nothing else removes lines."""
        self._journal.check_open()
        if not self.profile.enabled:
            raise NotAllowed(
                "the profile has memory switched off.", field="profile", hint="Set memory.enabled to true."
            )
        with self._journal.turn():
            return self._journal.rewrite(self._select_needed)

    def _select_needed(self, records: Iterator[Record]) -> list[int]:
        lines = list(records)
        if any(is_store_line(line) for line in lines):
            hint = "Open it with recollect.open(); what is erased there leaves the file."
            raise WrongState("a store keeps its history in this file as well.", field=str(self.path), hint=hint)
        return select_needed(lines)

    def _write(self, asked: Sequence[Write]) -> list[VaultReceipt]:
        """Decide every write against the latest state, then append all new versions at once, under one lock.

        If memory is switched off, every write is refused, and no file is made.
        """
        self._journal.check_open()
        if not self.profile.enabled:
            return self._decide(asked)[0]
        with self._journal.turn():
            self._journal.catch_up(self._apply)
            receipts, written = self._decide(asked)
            if written:
                self._journal.append([write_line(memory.to_dict()) for memory in written])
        return receipts

    def _decide(self, asked: Sequence[Write]) -> tuple[list[VaultReceipt], list[VaultMemory]]:
        batch = WriteBatch(
            self._memories, self.policy, self.profile, self._clock(), self._new_id, rejected=frozenset(self._rejected)
        )
        return [write(batch) for write in asked], batch.written

    def _new_id(self) -> str:
        return self._randomness.bytes(ID_BYTES).hex()

    def get(self, memory_id: str) -> VaultMemory | None:
        """Return the memory of an id, if it is active and this profile sees it."""
        return next((memory for memory in self.active(None) if memory.id == memory_id), None)

    def search(
        self, query: str, scopes: Sequence[str] | None = None, *, limit: int | None = None, **filters: Any
    ) -> list[Hit]:
        """Find what answers a query best: word overlap + 0.3 if it holds the whole query + 0.4 × likeness of the letters.

        Without a common word there is no hit. ``filters`` are those of ``recall``.
        """
        if not isinstance(query, str):
            raise BadInput("must be text.", field="query")
        scored = [Hit(memory, search_score(query, memory.text)) for memory in self._select(scopes, filters)]
        hits = [hit for hit in scored if hit.score > 0]
        return sorted(hits, key=lambda hit: -hit.score)[: self._check_limit(limit)]

    def recall(
        self, scopes: Sequence[str] | None = None, *, limit: int | None = None, **filters: Any
    ) -> list[VaultMemory]:
        """Return active memories, canon first, then what changed last; ``filters`` are tier, category, topic_id and tag."""
        found = self._select(scopes, filters)
        return sorted(found, key=lambda memory: memory.tier != CANON)[: self._check_limit(limit)]

    def _select(self, scopes: Sequence[str] | None, filters: Mapping[str, Any]) -> list[VaultMemory]:
        """Return the active memories that fit every filter, the last changed first; a filter that is ``None`` does not count."""
        unknown = sorted(filters.keys() - {*FILTERS})
        if unknown:
            raise BadInput("there is no such filter.", field=unknown[0], hint=f"Known: {', '.join(FILTERS)}.")
        wanted = {name: value for name, value in filters.items() if value is not None}
        tag = wanted.pop("tag", None)
        same = [one for one in self.active(scopes) if all(getattr(one, name) == wanted[name] for name in wanted)]
        by_id = sorted((one for one in same if tag is None or tag in one.tags), key=lambda one: one.id)
        return sorted(by_id, key=lambda one: one.changed_at, reverse=True)

    def find_consolidation_candidates(self, scope: str | None = None, floor: float = CONSOLIDATION_FLOOR) -> list[Pair]:
        """Return pairs of similar active memories of one scope, the most alike first, for somebody to merge."""
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 < floor <= 1:
            raise BadInput("must be above 0 and at most 1.", field="floor")
        return similar_pairs(self.active(_as_list(scope)), floor)

    def propose_deletions(self, scope: str | None = None) -> list[Deletion]:
        """Return what might be deleted, and why. Nothing is deleted."""
        return likely_deletions(self.active(_as_list(scope)), self.policy, self.profile)

    def build_snapshot(self, scope: str | None = None) -> str:
        """Render all canon, and every register with a topic, as compact Markdown; empty if there are none."""
        return _render_snapshot(self.active(_as_list(scope)))

    def vault_stats(self) -> dict[str, Any]:
        """Return how full and how bloated the vault is, and how many bytes crashes tore; zeros if memory is switched off."""
        self._journal.check_open()
        if self.profile.enabled:
            self._journal.catch_up(self._apply)
        active = [memory for memory in list(self._memories.values()) if memory.active]
        most, lines = self.policy.capacity.max_active, self._journal.seen.lines
        torn = self._journal.torn_bytes() if self.profile.enabled else 0
        return {
            "active": len(active),
            "max": most,
            "utilization_pct": round(100 * len(active) / most, 1) if most else 0.0,
            "deleted": len(self._memories) - len(active),
            "raw_lines": lines,
            "bloat_ratio": round(lines / max(1, len(active)), 2),
            **{
                f"by_{name}": dict(sorted(Counter(getattr(memory, name) for memory in active).items()))
                for name in ("scope", "tier", "category")
            },
            "register_topics": len({(m.scope, m.topic_id) for m in active if m.tier == REGISTER and m.topic_id}),
            "torn_bytes": torn,
            "torn_file": str(self._journal.torn_path) if torn else None,
        }

    def active(self, scopes: Sequence[str] | None = None) -> list[VaultMemory]:
        """Return the active memories of these scopes that this profile sees; none if memory is switched off."""
        if isinstance(scopes, str):
            raise BadInput("must be a list of scopes.", field="scopes", hint=f"Write scopes=[{scopes!r}].")
        for scope in scopes or ():
            self._check_scope(scope)
        self._journal.check_open()
        if not self.profile.enabled:
            return []
        self._journal.catch_up(self._apply)
        return [
            memory
            for memory in list(self._memories.values())
            if memory.active and self.profile.sees(memory.scope) and (scopes is None or memory.scope in scopes)
        ]

    def _check_limit(self, limit: int | None) -> int:
        if limit is None:
            return self.profile.max_items
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise BadInput("must be a whole number of 1 or more.", field="limit")
        return limit

    def _check_scope(self, scope: str) -> None:
        if scope not in self.profile.known_scopes:
            known = ", ".join(self.profile.known_scopes)
            hint = f"Known: {known}. {ANOTHER_SCOPE}"
            raise BadInput(f"there is no scope {scope!r:.80}.", field="scope", hint=hint)
        if not self.profile.sees(scope):
            raise NotAllowed(f"the profile does not list {scope!r}.", field="scope", hint="Add it to memory.scopes.")

    def _apply(self, batches: Iterator[list[Record]], afresh: bool) -> None:
        """Apply lines to the state, or ``afresh`` to an empty one if the file was replaced. Lines may come twice."""
        memories, rejected = ({}, set()) if afresh else (self._memories, self._rejected)
        news = resolve(
            memories, (memory for records in _track_rejections(batches, rejected) for memory in read_memories(records))
        )
        memories.update({id: from_line(record) for id, record in news.items()})
        self._memories, self._rejected = memories, rejected


def build_snapshot_block(
    vault: "MemoryVault | Recollect",
    scopes: Sequence[str] | None = None,
    *,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> str:
    """Render what a prompt always has: canon and maintained registers of these scopes, or of all that the profile sees.

    Over a vault, or over a memory that :func:`recollect.open` opened; within ``budget_tokens``, or what the policy allows.
    """
    if not isinstance(vault, MemoryVault):
        memory = _require_memory(vault)
        return memory.snapshot_block(scopes=scopes, budget_tokens=budget_tokens, count_tokens=count_tokens).text
    return _render_snapshot(vault.active(scopes), _make_budget(vault, budget_tokens, count_tokens))


def build_memory_block(
    vault: "MemoryVault | Recollect",
    scopes: Sequence[str] | None = None,
    query: str | None = None,
    max_items: int | None = None,
    *,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> str:
    """Render what a prompt has for a query, canon first; without a query, what ``recall`` returns.

    Over the same as :func:`build_snapshot_block`, and within the same budget.
    """
    if not isinstance(vault, MemoryVault):
        from recollect.engine.turns.injection import newest_block

        memory = _require_memory(vault)
        how: dict[str, Any] = {"top_k": max_items, "budget_tokens": budget_tokens, "count_tokens": count_tokens}
        if query is None:
            return newest_block(memory.engine, scopes=scopes, **how).text
        how["filters"] = {} if scopes is None else {"scope": check_names("scopes", scopes)}
        return memory.memory_block(query, **how).text
    budget = _make_budget(vault, budget_tokens, count_tokens)
    if query is None:
        return _render(RELEVANT, vault.recall(scopes, limit=max_items), budget)
    return _render(RELEVANT, [hit.memory for hit in vault.search(query, scopes, limit=max_items)], budget)


def _require_memory(store: Any) -> "Recollect":
    from recollect.interfaces.python import Recollect

    if not isinstance(store, Recollect):
        hint = "Such as MemoryVault(path) or recollect.open(path)."
        raise BadInput("must be a vault or an open memory.", field="vault", hint=hint)
    return store


def _make_budget(vault: MemoryVault, budget_tokens: int | None, count_tokens: CountTokens | None) -> Budget:
    from recollect.embed import static

    if budget_tokens is not None:
        check_number("budget_tokens", budget_tokens, 1)
    return Budget(budget_tokens or vault.policy.injection.budget_tokens, count_tokens or static.count_tokens)


def _track_rejections(batches: Iterable[list[Record]], rejected: set[Sealed]) -> Iterator[list[Record]]:
    """Yield the same lines, and track which values the store that shares the file rejected or lifted."""
    for records in batches:
        for line in records:
            if is_store_line(line) and REJECTIONS in line[FIELD]:
                for change in unpack_changes(line[FIELD]["tables"]):
                    _apply_rejections(change, rejected)
        yield records


def _apply_rejections(change: Change, rejected: set[Sealed]) -> None:
    if change.table == REJECTIONS:
        gone = {(mark, id) for _, _, mark, id in change.gone}
        rejected -= {one for one in rejected if (one.mark, one.id) in gone}
        places = [change.columns.index(name) for name in ("rejection", "secret", "mark")]
        rejected |= {Sealed(*(row[place] for place in places)) for row in change.rows}


class _Line(NamedTuple):
    tier: str
    text: str


def _render_snapshot(memories: Iterable[VaultMemory], budget: Budget | None = None) -> str:
    """Render canon, and registers with a topic, oldest first, so that the text is stable until one of them changes."""
    shown = [one for one in memories if one.tier == CANON or (one.tier == REGISTER and one.topic_id is not None)]
    return _render(SNAPSHOT, sorted(shown, key=lambda memory: (memory.created_at, memory.id)), budget)


def _render(heading: str, memories: Sequence[VaultMemory], budget: Budget | None) -> str:
    """Render memories as Markdown, canon first, fenced as data."""
    lines = [_Line(tier, _render_line(memory)) for tier in HEADINGS for memory in memories if memory.tier == tier]
    shown, write_block = lines, partial(_render_block, heading)
    if budget is not None:
        shown = choose_fitting(lines, write_block, *budget, lambda line: heading == SNAPSHOT and line.tier == REGISTER)
    return write_block(shown, len(lines) - len(shown)) if shown else ""


def _render_block(heading: str, lines: Sequence[_Line], left_out: int) -> str:
    groups = [(title, [line.text for line in lines if line.tier == tier]) for tier, title in HEADINGS.items()]
    parts = [part for title, texts in groups if texts for part in (f"{title}:", *texts)]
    return "\n".join([heading, envelope(parts), *render_left_out(left_out)])


def _render_line(memory: VaultMemory) -> str:
    """Render one memory: its origin, which the memory's text cannot imitate, and the text."""
    place = f"{origin_name(memory.scope)}/{origin_name(memory.category)}"
    origin = " · ".join((place, *map(origin_name, (memory.source or UNSTATED, memory.changed_at[:10], memory.id))))
    topic = f"{one_line(memory.topic_id)}: " if memory.tier == REGISTER and memory.topic_id else ""
    return f"- [{origin}] {topic}{one_line(memory.text)}"


def check_vault_path(path: str | Path) -> Path:
    """Return the path of a vault's file. A URL is refused, and not repeated in the error: it may hold a password."""
    if "://" in str(path):
        raise BadInput("a vault is a file, and no server.", field="path", hint="Name a file, such as vault.jsonl.")
    return check_path("path", path)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{error.strerror}.", field=str(folder), hint="Name another path.") from error


def _read_profile(given: str | Path | Mapping[str, Any] | VaultProfile | None) -> VaultProfile:
    if isinstance(given, VaultProfile | None):
        return given or VaultProfile()
    return parse_profile(given) if isinstance(given, Mapping) else load_profile(given)


def _as_list(scope: str | None) -> list[str] | None:
    return None if scope is None else [scope]
