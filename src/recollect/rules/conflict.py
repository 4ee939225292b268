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
    at: str = ""
    """When it was said, as canonical text; a claim that says no time is made now."""

    @property
    def is_correction(self) -> bool:
        return self.event_type is EventType.CORRECTION or self.change is Change.CORRECTION

    def is_older_than(self, other: "Claim") -> bool:
        """Whether it says of itself that it is older."""
        return bool(self.at) and self.at < other.at


class Verdict(NamedTuple):
    newcomer_wins: bool
    rule: str


def settle(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Decide a contradiction by the policy in force; the verdict names the rule that decided."""
    if policy.policy == "manual":
        return Verdict(False, "manual")
    if policy.policy == "latest_wins":
        return _latest(incumbent, newcomer)
    if policy.policy == "source_priority":
        return _by_source(incumbent, newcomer, policy)
    return _by_authority(incumbent, newcomer, policy)


def may_update(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Whether a plain update may replace the incumbent: not from below, unless it is the person's own correction.

    Nothing updates what is newer and believed as much.
    """
    if policy.policy == "latest_wins":
        return _latest(incumbent, newcomer)
    older, theirs, ours = newcomer.is_older_than(incumbent), _rank(incumbent, policy), _rank(newcomer, policy)
    if _overrides(newcomer, policy) and not older:
        return Verdict(True, "correction")
    if ours == theirs and older:
        return Verdict(False, "recency")
    return Verdict(ours <= theirs, "authority")


def _latest(incumbent: Claim, newcomer: Claim) -> Verdict:
    older = newcomer.is_older_than(incumbent)
    return Verdict(not older, "recency" if older else "latest_wins")


def _by_authority(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    theirs, ours = _rank(incumbent, policy), _rank(newcomer, policy)
    if ours < theirs:
        return Verdict(True, "authority")
    if ours > theirs:
        overrides = _overrides(newcomer, policy) and not newcomer.is_older_than(incumbent)
        return Verdict(overrides, "correction" if overrides else "authority")
    if policy.corrections_stand and incumbent.is_correction != newcomer.is_correction:
        return Verdict(newcomer.is_correction, "correction")
    if newcomer.is_older_than(incumbent):
        return Verdict(False, "recency")
    if newcomer.is_correction and not policy.corrections_stand:
        return Verdict(True, "correction")
    if newcomer.at > incumbent.at:  # records of one file come in together, within one tick
        return Verdict(True, "recency")
    if newcomer.tick != incumbent.tick:
        return Verdict(newcomer.tick > incumbent.tick, "recency")
    return Verdict(newcomer.importance >= incumbent.importance, "importance")


def _by_source(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    theirs, ours = policy.source_order.index(incumbent.source), policy.source_order.index(newcomer.source)
    if ours != theirs:
        return Verdict(ours < theirs, "source_priority")
    return Verdict(newcomer.tick >= incumbent.tick and not newcomer.is_older_than(incumbent), "recency")


def _overrides(claim: Claim, policy: Conflict) -> bool:
    """A correction overrides a higher authority if a person (or something higher) made it."""
    return claim.is_correction and _rank(claim, policy) <= rank(Authority.USER_ASSERTED, policy.authority_order)


def _rank(claim: Claim, policy: Conflict) -> int:
    return rank(claim.authority, policy.authority_order)
