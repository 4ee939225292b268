"""The write gate: eight steps in their order. The first no ends it, and says what to do instead.

1. journal noise  2. the log tier  3. length  4. scope, tier, category and source  5. sensitive data
6. a register's topic: an update in place, which skips the rest  7. duplicates  8. capacity

The rules themselves are those of every store, under the ``vault`` preset. After step 5 a value is refused that somebody rejected
in a store that shares the file.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recollect.model.address import Address
from recollect.model.policy import Policy
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.gates.content import noise_signal
from recollect.rules.identity.keys import KeySource
from recollect.rules.identity.rejected_values import Claim, Sealed, claimed_marks, seal
from recollect.rules.privacy.gate import denied_types
from recollect.rules.trust.authority import DEFAULT_OWNER
from recollect.rules.vault.likeness import duplicate_of
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.profile import ANOTHER_CATEGORY, ANOTHER_SCOPE, VaultProfile
from recollect.rules.vault.vocabulary import LOG, REGISTER, SOURCES, TIERS
from recollect.rules.vault.write_request import Proposal, Refusal, wrong_shape

CODES = {
    "disabled": "the profile has memory switched off",
    "bad_input": "a field has the wrong shape",
    "noise_signal": "step 1: a journal-only signal stands in the text",
    "tier_log": "step 2: the log tier is never stored",
    "too_long": "step 3: the text has more characters than the policy allows",
    "unknown_scope": "step 4: there is no such scope",
    "scope_not_yours": "step 4: the profile does not list this scope",
    "unknown_tier": "step 4: there is no such tier",
    "unknown_category": "step 4: there is no such category",
    "unknown_source": "step 4: there is no such source",
    "privacy_deny_sensitive": "step 5: it holds sensitive data",
    "rejected:value": "a person rejected it as never true, in the store that shares the file",
    "near_duplicate": "step 7: a memory of the same scope says nearly the same",
    "capacity_full": "step 8: as many memories are active as the policy allows",
    "not_found": "no active memory that this profile sees has this id",
    "already_canon": "only a register can be promoted",
}
"""Every reason for which a vault says no."""


class Situation(NamedTuple):
    """What the gate may know: the policy, the profile, and every active memory of the vault."""

    policy: Policy
    profile: VaultProfile
    active: Sequence[VaultMemory] = ()
    rejected: frozenset[Sealed] = frozenset()
    """The values that were rejected in the store that shares the file."""

    @property
    def ratio_min(self) -> float:
        return self.profile.similarity_threshold or self.policy.near_duplicates.ratio_min


Step = Callable[[Proposal, Situation], Refusal | None]


def no_noise(proposal: Proposal, situation: Situation) -> Refusal | None:
    signal = noise_signal(proposal.text, situation.policy.noise)
    if signal is None:
        return None
    return Refusal("noise_signal", f"It has the journal-only signal {signal!r}. Keep it in the burst journal.")


def no_log_tier(proposal: Proposal, situation: Situation) -> Refusal | None:
    if proposal.tier != LOG:
        return None
    return Refusal("tier_log", "The log tier is never stored. Keep it in the burst journal.")


def short_enough(proposal: Proposal, situation: Situation) -> Refusal | None:
    limits = situation.policy.length
    most, size = limits.max_characters or limits.tier_max_characters, len(proposal.text)
    if size <= most:
        return None
    return Refusal("too_long", f"It has {size:,} characters; {most:,} are allowed. Compress or split it first.")


def valid_words(proposal: Proposal, situation: Situation) -> Refusal | None:
    profile = situation.profile
    lists = (
        ("scope", proposal.scope, profile.known_scopes),
        ("tier", proposal.tier, TIERS),
        ("category", proposal.category, profile.categories),
        ("source", proposal.source, SOURCES),
    )
    for name, word, known in lists:
        if word is not None and word not in known:
            more = {"scope": f" {ANOTHER_SCOPE}", "category": f" {ANOTHER_CATEGORY}"}.get(name, "")
            return Refusal(f"unknown_{name}", f"There is no {name} {word!r:.80}. Known: {', '.join(known)}.{more}")
    if proposal.scope is not None and not profile.sees(proposal.scope):
        return Refusal("scope_not_yours", f"The profile does not list {proposal.scope!r}. Add it to memory.scopes.")
    return None


def no_sensitive_data(proposal: Proposal, situation: Situation) -> Refusal | None:
    """Every string is scanned, and the text also together with its topic: under "password" a plain word is one."""
    topic = (proposal.topic_id or "").replace("_", " ").replace("-", " ")
    texts = [proposal.text, proposal.topic_id or "", f"{topic}: {proposal.text}", *(proposal.tags or ())]
    found = denied_types(texts, situation.policy.privacy)
    if not found:
        return None
    return Refusal("privacy_deny_sensitive", f"It holds {', '.join(sorted(found))}. Remove that and try again.")


def not_rejected(proposal: Proposal, situation: Situation) -> Refusal | None:
    """Only the person lifts a rejection, in the store: a vault does not know who writes."""
    if not situation.rejected:
        return None
    at = Address("default", Namespace.PROD, Space.USER, DEFAULT_OWNER)
    claimed = claimed_marks(Claim(at, proposal.text, "", KeySource.FALLBACK), situation.policy.text.synonyms)
    kept: dict[str, set[str]] = {}
    for one in situation.rejected:
        kept.setdefault(one.secret, set()).add(one.mark)
    if all(marks.isdisjoint(seal(secret, mark) for mark in claimed) for secret, marks in kept.items()):
        return None
    return Refusal("rejected:value", "A person rejected it as never true. Lift the rejection in the store first.")


def no_duplicate(proposal: Proposal, situation: Situation) -> Refusal | None:
    settings = situation.policy.near_duplicates
    found = duplicate_of(
        proposal.text,
        proposal.scope or "",
        situation.active,
        overlap_min=settings.overlap_min,
        ratio_min=situation.ratio_min,
    )
    if found is None:
        return None
    memory, alike = found
    return Refusal("near_duplicate", f"It is {alike:.0%} like the memory {memory.id}. Update that one instead.")


def room_left(proposal: Proposal, situation: Situation) -> Refusal | None:
    most = situation.policy.capacity.max_active
    if most is None or len(situation.active) < most:
        return None
    return Refusal("capacity_full", f"The vault is full: {most:,} are active. Delete some; see propose_deletions().")


ABOUT_THE_WORDS: tuple[Step, ...] = (no_noise, no_log_tier, short_enough, valid_words, no_sensitive_data)
"""Steps 1 to 5, which every text passes, new or changed."""
ABOUT_THE_VAULT: tuple[Step, ...] = (no_duplicate, room_left)
"""Steps 7 and 8, which only a new memory passes."""


def refused_words(proposal: Proposal, situation: Situation) -> Refusal | None:
    """Return the first no of steps 1 to 5, or what was rejected; else ``None``."""
    if not situation.profile.enabled:
        return Refusal("disabled", "The profile has memory switched off. Set memory.enabled to true.")
    no = wrong_shape(proposal) or first_no(ABOUT_THE_WORDS, proposal, situation)
    return no or not_rejected(proposal, situation)


def decide(proposal: Proposal, situation: Situation) -> Refusal | VaultMemory | None:
    """All eight steps: a refusal, the register to update instead, or ``None`` for a memory of its own."""
    refusal = refused_words(proposal, situation)
    if refusal is not None:
        return refusal
    return register_of(proposal, situation.active) or first_no(ABOUT_THE_VAULT, proposal, situation)


def register_of(proposal: Proposal, active: Sequence[VaultMemory]) -> VaultMemory | None:
    """Step 6: the active register of the same topic and scope. Canon is never overwritten this way."""
    if proposal.tier != REGISTER or proposal.topic_id is None:
        return None
    wanted = (REGISTER, proposal.topic_id, proposal.scope)
    return next((one for one in active if (one.tier, one.topic_id, one.scope) == wanted), None)


def first_no(steps: Sequence[Step], proposal: Proposal, situation: Situation) -> Refusal | None:
    """What the first of the steps that says no says."""
    return next((no for step in steps if (no := step(proposal, situation)) is not None), None)
