"""Who wins when two memories of one concept contradict each other. One resolver, four policies."""

from typing import NamedTuple

from recollect.model.policy import Conflict
from recollect.model.vocabulary import Authority, Change, EventType, Source
from recollect.rules.authority import rank


class Claim(NamedTuple):
    """What the resolver needs to know of each side."""

    authority: Authority
    source: Source
    event_type: EventType
    importance: int
    tick: int
    change: Change | None = None

    @property
    def is_correction(self) -> bool:
        return self.event_type is EventType.CORRECTION or self.change is Change.CORRECTION


class Verdict(NamedTuple):
    newcomer_wins: bool
    rule: str


def settle(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Decide a contradiction by the policy in force; the verdict names the rule that decided."""
    if policy.policy == "manual":
        return Verdict(False, "manual")
    if policy.policy == "latest_wins":
        return Verdict(True, "latest_wins")
    if policy.policy == "source_priority":
        return _by_source(incumbent, newcomer, policy)
    return _by_authority(incumbent, newcomer, policy)


def may_update(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Whether a plain update may replace the incumbent: not from below, unless it is the person's own correction."""
    if policy.policy == "latest_wins":
        return Verdict(True, "latest_wins")
    if _overrides(newcomer, policy):
        return Verdict(True, "correction")
    return Verdict(_rank(newcomer, policy) <= _rank(incumbent, policy), "authority")


def _by_authority(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    theirs, ours = _rank(incumbent, policy), _rank(newcomer, policy)
    if ours < theirs:
        return Verdict(True, "authority")
    if ours > theirs:
        overrides = _overrides(newcomer, policy)
        return Verdict(overrides, "correction" if overrides else "authority")
    if policy.corrections_stand and incumbent.is_correction != newcomer.is_correction:
        return Verdict(newcomer.is_correction, "correction")
    if newcomer.is_correction and not policy.corrections_stand:
        return Verdict(True, "correction")
    if newcomer.tick != incumbent.tick:
        return Verdict(newcomer.tick > incumbent.tick, "recency")
    return Verdict(newcomer.importance >= incumbent.importance, "importance")


def _by_source(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    theirs, ours = policy.source_order.index(incumbent.source), policy.source_order.index(newcomer.source)
    if ours != theirs:
        return Verdict(ours < theirs, "source_priority")
    return Verdict(newcomer.tick >= incumbent.tick, "recency")


def _overrides(claim: Claim, policy: Conflict) -> bool:
    """A correction overrides a higher authority if a person (or something higher) made it."""
    return claim.is_correction and _rank(claim, policy) <= rank(Authority.USER_ASSERTED, policy.authority_order)


def _rank(claim: Claim, policy: Conflict) -> int:
    return rank(claim.authority, policy.authority_order)
