"""The writes of one turn: each is decided against the vault as the ones before it leave it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.model.policy import Policy
from recollect.rules.identity.rejected_values import Sealed
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.profile import VaultProfile
from recollect.rules.vault.vocabulary import CANON, GENERAL
from recollect.rules.vault.write_gate import Situation, decide, no_duplicate, refused_words, register_of
from recollect.rules.vault.write_request import Proposal, Refusal


@dataclass(frozen=True, slots=True)
class VaultReceipt:
    """What became of a write: ``stored``, ``updated``, ``deleted``, ``promoted`` or ``denied``.

    A denied one has a stable ``code``, and a ``message`` that says what to do next.
    """

    outcome: str
    memory: VaultMemory | None
    code: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome != "denied"


class Changes:
    """What follows from the writes of one turn, in ``written``: versions to be appended, in their order."""

    def __init__(
        self,
        memories: Mapping[str, VaultMemory],
        policy: Policy,
        profile: VaultProfile,
        now: str,
        new_id: Callable[[], str],
        rejected: frozenset[Sealed] = frozenset(),
    ) -> None:
        self.written: list[VaultMemory] = []
        self._active = {id: memory for id, memory in memories.items() if memory.active}
        self._taken = memories.keys()
        self._policy, self._profile, self._now, self._new_id = policy, profile, now, new_id
        self._rejected = rejected

    def add(self, asked: Proposal | Refusal) -> VaultReceipt:
        """All eight steps: a new memory, a register's new version, or a refusal."""
        answer = asked if isinstance(asked, Refusal) else decide(asked, self._situation())
        if isinstance(asked, Refusal) or isinstance(answer, Refusal):
            return _denied(answer)
        if isinstance(answer, VaultMemory):
            return VaultReceipt("updated", self._next_version(answer, **_stated(asked)))
        return VaultReceipt("stored", self._append(self._made(asked)))

    def set_topic(self, asked: Proposal) -> VaultReceipt:
        """A register's next version; a new register is general unless its category is stated."""
        if asked.topic_id is None and self._profile.enabled:
            return _denied(Refusal("bad_input", "topic_id: it is missing. Name the register's topic."))
        known = asked.category is not None or register_of(asked, list(self._active.values())) is not None
        return self.add(asked if known else asked._replace(category=GENERAL))

    def update(self, memory_id: str, asked: Mapping[str, Any]) -> VaultReceipt:
        """A new version, which passes steps 1 to 5 as it would then stand."""
        memory = self._find(memory_id)
        if isinstance(memory, Refusal):
            return _denied(memory)
        stated = {name: value for name, value in asked.items() if value is not None}
        refusal = refused_words(_as_it_would_stand(memory, stated), self._situation())
        if not stated or refusal is not None:
            return _denied(
                refusal or Refusal("bad_input", "Nothing is to change. Give a text, category, tags or source.")
            )
        return VaultReceipt("updated", self._next_version(memory, **stated))

    def delete(self, memory_id: str) -> VaultReceipt:
        memory = self._find(memory_id)
        if isinstance(memory, Refusal):
            return _denied(memory)
        return VaultReceipt("deleted", self._next_version(memory, deleted_at=self._now))

    def promote(self, memory_id: str, text: str | None) -> VaultReceipt:
        memory = self._find(memory_id)
        refusal = memory if isinstance(memory, Refusal) else self._not_promotable(memory, text)
        if isinstance(memory, Refusal) or refusal is not None:
            return _denied(refusal)
        stated = {"tier": CANON, "source": "promotion", "text": memory.text if text is None else text}
        return VaultReceipt("promoted", self._next_version(memory, **stated))

    def _not_promotable(self, memory: VaultMemory, text: str | None) -> Refusal | None:
        """New words may repeat no other memory; its own were let in before."""
        if memory.tier == CANON:
            return Refusal("already_canon", f"The memory {memory.id} is canon already. Use update() to change it.")
        asked = _as_it_would_stand(memory, {} if text is None else {"text": text})
        others = [one for one in self._active.values() if one.id != memory.id]
        refusal = refused_words(asked, self._situation())
        if refusal is not None or text is None:
            return refusal
        return no_duplicate(asked._replace(scope=memory.scope), self._situation()._replace(active=others))

    def _find(self, memory_id: str) -> VaultMemory | Refusal:
        if not self._profile.enabled:
            return Refusal("disabled", "The profile has memory switched off. Set memory.enabled to true.")
        memory = self._active.get(memory_id) if isinstance(memory_id, str) else None
        if memory is None or not self._profile.sees(memory.scope):
            return Refusal(
                "not_found", f"No active memory has the id {memory_id!r:.80}. See recall() for those there are."
            )
        return memory

    def _situation(self) -> Situation:
        return Situation(self._policy, self._profile, list(self._active.values()), self._rejected)

    def _made(self, asked: Proposal) -> VaultMemory:
        return VaultMemory(
            id=self._fresh_id(),
            text=asked.text,
            scope=asked.scope or "",
            category=asked.category or GENERAL,
            tier=asked.tier or CANON,
            topic_id=asked.topic_id,
            tags=tuple(asked.tags or ()),
            created_at=self._now,
            updated_at=None,
            source=asked.source,
            deleted_at=None,
            version=1,
        )

    def _next_version(self, memory: VaultMemory, **stated: Any) -> VaultMemory:
        if "tags" in stated:
            stated["tags"] = tuple(stated["tags"])
        return self._append(memory._replace(updated_at=self._now, version=memory.version + 1, **stated))

    def _append(self, memory: VaultMemory) -> VaultMemory:
        self.written.append(memory)
        if memory.active:
            self._active[memory.id] = memory
        else:
            del self._active[memory.id]
        return memory

    def _fresh_id(self) -> str:
        taken = {memory.id for memory in self.written}
        while (id := self._new_id()) in self._taken or id in taken:
            continue
        return id


def _stated(asked: Proposal) -> dict[str, Any]:
    """What a register's write changes: the words, and whatever else it states."""
    fields: dict[str, Any] = {"category": asked.category, "tags": asked.tags, "source": asked.source}
    return {"text": asked.text, **{name: value for name, value in fields.items() if value is not None}}


def _as_it_would_stand(memory: VaultMemory, stated: Mapping[str, Any]) -> Proposal:
    """A changed memory for the gate. Words of closed lists that do not change are not judged again."""
    tags: Sequence[str] = stated.get("tags", memory.tags)
    return Proposal(
        stated.get("text", memory.text),
        category=stated.get("category"),
        topic_id=memory.topic_id,
        tags=tags,
        source=stated.get("source"),
    )


def _denied(no: Any) -> VaultReceipt:
    assert isinstance(no, Refusal), "whatever is denied has a reason"
    return VaultReceipt("denied", None, no.code, no.message)
