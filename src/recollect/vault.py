"""The memory vault: durable, scoped, append-only memory in one JSONL file that several agents share.

    from recollect.vault import MemoryVault

    vault = MemoryVault("vault.jsonl")
    vault.add_memory("The mission is to stabilise the runtime", "shared", "mission")

Every line of the file is one version of one memory, and each id stands where its highest version says. Every write passes the
write gate; what it refuses comes back as a receipt, not as an exception. Each write takes the file's lock, reads what others
appended, decides, appends, and syncs, so that two agents in two processes decide as if they took turns.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import yaml

from recollect.engine.arguments import check_names, check_number, check_path
from recollect.engine.context import Clock, Randomness, SystemRandomness, system_clock
from recollect.model.canonical import format_time
from recollect.model.errors import BadInput, NotAllowed, StoreUnavailable, WrongState
from recollect.model.policy import Policy
from recollect.policies import load_policy
from recollect.rules.prompt.injection import Block, CountTokens
from recollect.rules.vault import likeness, scoring, snapshot
from recollect.rules.vault.carried import memories_of, written_by_a_store
from recollect.rules.vault.changes import Changes, VaultReceipt
from recollect.rules.vault.deletions import Deletion, likely_deletions
from recollect.rules.vault.filters import chosen
from recollect.rules.vault.likeness import Pair
from recollect.rules.vault.memory import VaultMemory, from_line
from recollect.rules.vault.profile import ANOTHER_SCOPE, VaultProfile, parse_profile
from recollect.rules.vault.resolution import resolve, still_needed
from recollect.rules.vault.scoring import Hit
from recollect.rules.vault.statistics import statistics
from recollect.rules.vault.vocabulary import CANON, REGISTER
from recollect.rules.vault.write_gate import Situation
from recollect.rules.vault.write_request import Proposal, Refusal, propose
from recollect.stores.journal import JournalLog, Rewritten
from recollect.stores.journal.files import check_folder
from recollect.stores.journal.lines import Record, write_line

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect

__all__ = [
    "DEFAULT_PATH",
    "Deletion",
    "Hit",
    "MemoryVault",
    "Pair",
    "VaultMemory",
    "VaultProfile",
    "VaultReceipt",
    "build_memory_block",
    "build_snapshot_block",
    "load_profile",
]

DEFAULT_PATH = Path("data/memory/vault.jsonl")
ID_BYTES = 6
"""An id has twelve hex digits."""
CONSOLIDATION_FLOOR = 0.40
"""How alike two memories are to be worth a look: well below what the gate refuses."""

Write = Callable[[Changes], VaultReceipt]
"""One thing that is asked for: decided, when its turn has come, against the vault as it then is."""

_log = logging.getLogger("recollect.vault")


def load_profile(path: str | Path) -> VaultProfile:
    """The ``memory`` section of a profile, from its YAML file."""
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot be read ({error.strerror}).", field=str(path), hint="Name a YAML file.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"is not YAML: {error}", field=str(path)) from error
    return parse_profile(data, str(path))


class MemoryVault:
    """An open vault. Use it as a context manager, or close it.

    ``profile`` is a YAML file with a ``memory`` section, the same as plain values, or a :class:`VaultProfile`; without one
    everything is seen. ``policy`` is a preset, a file or plain values, by default the ``vault`` preset. The folder of a
    ``path`` must be there; that of the default one is made.
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
        self.profile = _profile(profile)
        self.policy = load_policy(policy)
        self._clock = clock
        self._randomness = randomness or SystemRandomness()
        self._memories: dict[str, VaultMemory] = {}
        self._journal = JournalLog(check_path("path", path), timeout_s=timeout_s, warn=_log.warning, rows=False)
        self.path = self._journal.path
        if self.profile.enabled:
            if Path(path) == DEFAULT_PATH:
                _make_folder(self.path.parent)
            check_folder(self.path)
            with self._journal.turn():  # what a crash tore is set aside before anything is read
                self._journal.catch_up(self._fold)

    def __enter__(self) -> "MemoryVault":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, for good. Every write was synced when it was acknowledged."""
        self._journal.close()

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

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
        """Remember many things in one pass. Each is checked on its own, also against those before it; a receipt each."""
        return self._write([_adding(propose(item)) for item in items])

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        source: str | None = None,
    ) -> VaultReceipt:
        """A new version of a memory; what is not given stays as it was. New words pass steps 1 to 5 of the gate."""
        asked = {"text": text, "category": category, "tags": tags, "source": source}
        return self._write([lambda changes: changes.update(memory_id, asked)])[0]

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
        """The register of a topic gets a new version, or is made if there is none."""
        asked = Proposal(text, scope, category, REGISTER, topic_id, tags, source)
        return self._write([lambda changes: changes.set_topic(asked)])[0]

    def delete(self, memory_id: str) -> VaultReceipt:
        """Delete a memory: a tombstone is appended, and only ``compact`` removes the words."""
        return self.bulk_delete([memory_id])[0]

    def bulk_delete(self, memory_ids: Iterable[str]) -> list[VaultReceipt]:
        """Delete many in one pass; an id that is not there gets a denied receipt, and the others are deleted."""
        return self._write([_deleting(memory_id) for memory_id in memory_ids])

    def promote_to_canon(self, memory_id: str, canonical_text: str | None = None) -> VaultReceipt:
        """Make a register canon, in its own words or better ones; its source becomes ``promotion``."""
        return self._write([lambda changes: changes.promote(memory_id, canonical_text)])[0]

    def compact(self) -> Rewritten:
        """Rewrite the file with the latest line of each memory that is not deleted. The only thing that removes lines."""
        self._journal.check_open()
        if not self.profile.enabled:
            raise NotAllowed(
                "the profile has memory switched off.", field="profile", hint="Set memory.enabled to true."
            )
        with self._journal.turn():
            return self._journal.rewrite(self._needed)

    def _needed(self, records: Iterator[Record]) -> list[int]:
        lines = list(records)
        if any(written_by_a_store(line) for line in lines):
            raise WrongState(
                "a store keeps its history in this file as well.",
                field=str(self.path),
                hint="Open it with recollect.open(); what is erased there leaves the file.",
            )
        return still_needed(lines)

    def _write(self, asked: Sequence[Write]) -> list[VaultReceipt]:
        """Decide on everything against the latest state, then append all that follows at once, in one turn.

        Where memory is switched off everything is refused, and no file is so much as made.
        """
        self._journal.check_open()
        if not self.profile.enabled:
            return self._decided(asked)[0]
        with self._journal.turn():
            self._journal.catch_up(self._fold)
            receipts, written = self._decided(asked)
            if written:
                self._journal.append([write_line(memory.to_dict()) for memory in written])
        return receipts

    def _decided(self, asked: Sequence[Write]) -> tuple[list[VaultReceipt], list[VaultMemory]]:
        changes = Changes(self._memories, self.policy, self.profile, format_time(self._clock()), self._new_id)
        return [ask(changes) for ask in asked], changes.written

    def _new_id(self) -> str:
        return self._randomness.bytes(ID_BYTES).hex()

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, memory_id: str) -> VaultMemory | None:
        """The memory of that id, if it is active and this profile sees it."""
        return next((memory for memory in self.active(None) if memory.id == memory_id), None)

    def search(
        self, query: str, scopes: Sequence[str] | None = None, *, limit: int | None = None, **filters: Any
    ) -> list[Hit]:
        """What answers a query best: word overlap + 0.3 if it holds the whole query + 0.4 × likeness of the letters.

        Without a common word there is no hit. ``filters`` are those of ``recall``.
        """
        if not isinstance(query, str):
            raise BadInput("must be text.", field="query")
        return scoring.best_hits(query, chosen(self.active(scopes), filters), self._limit(limit))

    def recall(
        self, scopes: Sequence[str] | None = None, *, limit: int | None = None, **filters: Any
    ) -> list[VaultMemory]:
        """Active memories whatever is asked, canon first. ``filters``: ``tier``, ``category``, ``topic_id``, ``tag``."""
        return scoring.standing(chosen(self.active(scopes), filters), self._limit(limit))

    def find_consolidation_candidates(self, scope: str | None = None, floor: float = CONSOLIDATION_FLOOR) -> list[Pair]:
        """Pairs of similar active memories of one scope, most alike first, for somebody to merge."""
        if isinstance(floor, bool) or not isinstance(floor, int | float) or not 0 < floor <= 1:
            raise BadInput("must be above 0 and at most 1.", field="floor")
        return likeness.similar_pairs(self.active(_listed(scope)), floor)

    def propose_deletions(self, scope: str | None = None) -> list[Deletion]:
        """What might be deleted, and why. Nothing is deleted."""
        return likely_deletions(self.active(_listed(scope)), self._situation())

    def build_snapshot(self, scope: str | None = None) -> str:
        """All canon, and every register with a topic, as compact Markdown. Empty if there is nothing to tell."""
        return snapshot.snapshot(self.active(_listed(scope)))

    def vault_stats(self) -> dict[str, Any]:
        """How full and how bloated the vault is, and how many bytes a crash ever tore; nothing if memory is switched off."""
        self._journal.check_open()
        if self.profile.enabled:
            self._journal.catch_up(self._fold)
        memories = list(self._memories.values())
        stats = statistics(memories, self._journal.seen.lines, self.policy.capacity.max_active)
        torn = self._journal.torn_bytes() if self.profile.enabled else 0
        return {**stats, "torn_bytes": torn, "torn_file": str(self._journal.torn_path) if torn else None}

    def active(self, scopes: Sequence[str] | None = None) -> list[VaultMemory]:
        """The active memories of these scopes that this profile sees; none if memory is switched off."""
        if isinstance(scopes, str):
            raise BadInput("must be a list of scopes.", field="scopes", hint=f"Write scopes=[{scopes!r}].")
        for scope in scopes or ():
            self._check_scope(scope)
        self._journal.check_open()
        if not self.profile.enabled:
            return []
        self._journal.catch_up(self._fold)
        return [
            memory
            for memory in list(self._memories.values())
            if memory.active and self.profile.sees(memory.scope) and (scopes is None or memory.scope in scopes)
        ]

    def _limit(self, limit: int | None) -> int:
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

    # ── what the file amounts to ────────────────────────────────────────────────────────────────────────────────

    def _fold(self, batches: Iterator[list[Record]], afresh: bool) -> None:
        """Take lines in. If that is interrupted they come again; and a file that is another one is exchanged as a whole."""
        memories = {} if afresh else self._memories
        news = resolve(memories, (memory for records in batches for memory in memories_of(records)))
        memories.update({id: from_line(record) for id, record in news.items()})
        self._memories = memories

    def _situation(self) -> Situation:
        return Situation(self.policy, self.profile, tuple(m for m in self._memories.values() if m.active))


def build_snapshot_block(
    vault: "MemoryVault | Recollect",
    scopes: Sequence[str] | None = None,
    *,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> str:
    """What a prompt always has: canon and maintained registers of these scopes, or of all that may be seen.

    Over a vault, or over a memory that :func:`recollect.open` opened; within ``budget_tokens``, or what the policy allows.
    """
    if not isinstance(vault, MemoryVault):
        memory = _opened(vault)
        return memory.snapshot_block(scopes=scopes, budget_tokens=budget_tokens, count_tokens=count_tokens).text
    return snapshot.snapshot(vault.active(scopes), _budget(vault, budget_tokens, count_tokens))


def build_memory_block(
    vault: "MemoryVault | Recollect",
    scopes: Sequence[str] | None = None,
    query: str | None = None,
    max_items: int | None = None,
    *,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> str:
    """What a prompt has for this query, canon first; without a query, what is recalled whatever is asked.

    Over the same as :func:`build_snapshot_block`, and within the same budget.
    """
    if not isinstance(vault, MemoryVault):
        how: dict[str, Any] = {"top_k": max_items, "budget_tokens": budget_tokens, "count_tokens": count_tokens}
        return _memory_block(_opened(vault), scopes, query, how).text
    budget = _budget(vault, budget_tokens, count_tokens)
    if query is None:
        return snapshot.relevant(vault.recall(scopes, limit=max_items), budget)
    return snapshot.relevant([hit.memory for hit in vault.search(query, scopes, limit=max_items)], budget)


def _memory_block(memory: "Recollect", scopes: Sequence[str] | None, query: str | None, how: dict[str, Any]) -> Block:
    from recollect.engine.turns.injection import newest_block

    if query is None:
        return newest_block(memory.engine, scopes=scopes, **how)
    return memory.memory_block(query, filters={} if scopes is None else {"scope": check_names("scopes", scopes)}, **how)


def _opened(store: Any) -> "Recollect":
    from recollect.interfaces.python import Recollect

    if not isinstance(store, Recollect):
        raise BadInput(
            "must be a vault or an open memory.",
            field="vault",
            hint="Such as MemoryVault(path) or recollect.open(path).",
        )
    return store


def _budget(vault: MemoryVault, budget_tokens: int | None, count_tokens: CountTokens | None) -> snapshot.Budget:
    from recollect.embed import tokens

    most = (
        vault.policy.injection.budget_tokens
        if budget_tokens is None
        else check_number("budget_tokens", budget_tokens, 1)
    )
    return snapshot.Budget(most, count_tokens or tokens.count_tokens)


def _adding(asked: Proposal | Refusal) -> Write:
    return lambda changes: changes.add(asked)


def _deleting(memory_id: str) -> Write:
    return lambda changes: changes.delete(memory_id)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{error.strerror}.", field=str(folder), hint="Name another path.") from error


def _profile(given: str | Path | Mapping[str, Any] | VaultProfile | None) -> VaultProfile:
    if given is None:
        return VaultProfile()
    if isinstance(given, VaultProfile):
        return given
    return parse_profile(given) if isinstance(given, Mapping) else load_profile(given)


def _listed(scope: str | None) -> list[str] | None:
    return None if scope is None else [scope]
