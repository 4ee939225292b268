"""Decide what a draft is to the active memory of its key (same, update or contradiction), and which prevails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recollect.model.caller import author_of, author_principal
from recollect.model.canonical import format_time
from recollect.model.policy import Conflict, Policy
from recollect.model.record import Candidate, is_undated
from recollect.model.state import State
from recollect.model.vocabulary import Authority, Change, EventType, Kind, Outcome, Source, Tier
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.identity.change import TENTATIVE, classify_change
from recollect.rules.identity.difference import shares_nothing
from recollect.rules.identity.keys import same_concept
from recollect.rules.ledger.fold import CONFLICT_RULE
from recollect.rules.statements import ChangeMark, Frame, Relation, changes_in_same_words, compare, read_statement
from recollect.rules.trust.authority import outranks, rank


class Claim(NamedTuple):
    """What the resolver needs to know of each side."""

    authority: Authority
    source: Source
    event_type: EventType
    importance: int
    tick: int
    change: Change | None = None
    at: str = ""
    """When it was said, as canonical text; empty for a claim made now, and if nobody knows."""
    undated: bool = False
    """Whether nobody knows when it was said: it was imported without a time."""

    @property
    def is_correction(self) -> bool:
        return self.event_type is EventType.CORRECTION or self.change is Change.CORRECTION

    def is_older_than(self, other: "Claim") -> bool:
        """Return whether the claim gives an earlier time than the other; without any, it counts as older than what has one."""
        if self.undated != other.undated:
            return self.undated
        return bool(self.at) and self.at < other.at


class Verdict(NamedTuple):
    newcomer_wins: bool
    rule: str


def settle(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Decide a contradiction by the policy in force; the verdict names the rule that decided."""
    if policy.policy == "manual":
        return Verdict(False, "manual")
    if policy.policy == "latest_wins":
        return _settle_by_time(incumbent, newcomer)
    if policy.policy == "source_priority":
        return _settle_by_source(incumbent, newcomer, policy)
    return _settle_by_authority(incumbent, newcomer, policy)


def may_update(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    """Decide whether a plain update may replace the incumbent: not from a lower authority, except a person's
    correction.

    An older claim of equal authority never updates a newer one.
    """
    if policy.policy == "latest_wins":
        return _settle_by_time(incumbent, newcomer)
    older, theirs, ours = newcomer.is_older_than(incumbent), _rank(incumbent, policy), _rank(newcomer, policy)
    if _overrides(newcomer, policy) and not older:
        return Verdict(True, "correction")
    if ours == theirs and older:
        return Verdict(False, "recency")
    return Verdict(ours <= theirs, "authority")


def _settle_by_time(incumbent: Claim, newcomer: Claim) -> Verdict:
    older = newcomer.is_older_than(incumbent)
    return Verdict(not older, "recency" if older else "latest_wins")


def _settle_by_authority(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
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
    if newcomer.at > incumbent.at:  # records of one file are imported within one tick
        return Verdict(True, "recency")
    if newcomer.tick != incumbent.tick:
        return Verdict(newcomer.tick > incumbent.tick, "recency")
    return Verdict(newcomer.importance >= incumbent.importance, "importance")


def _settle_by_source(incumbent: Claim, newcomer: Claim, policy: Conflict) -> Verdict:
    theirs, ours = policy.source_order.index(incumbent.source), policy.source_order.index(newcomer.source)
    if ours != theirs:
        return Verdict(ours < theirs, "source_priority")
    return Verdict(newcomer.tick >= incumbent.tick and not newcomer.is_older_than(incumbent), "recency")


def _overrides(claim: Claim, policy: Conflict) -> bool:
    """Return whether a claim overrides a higher authority: a correction by a person or by a higher authority."""
    return claim.is_correction and _rank(claim, policy) <= rank(Authority.USER_ASSERTED, policy.authority_order)


def _rank(claim: Claim, policy: Conflict) -> int:
    return rank(claim.authority, policy.authority_order)


_MAY_BE_ANOTHER_FACT = ("value_changed", "reworded")
_SAID_OUTRIGHT = ("only_asks", "corrects_another", "said_to_be_correction", "marks_correction", "only_supposes")
"""Rules of change that the words themselves call for, whatever the statements are about."""


OLDER = "identity:older"
"""The rule by which a statement that gives an earlier time than the active one is stored as an earlier version."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome, the rule that decided, and what the rule found."""

    outcome: Outcome
    rule: str
    detail: str = ""
    change_rule: str = ""

    @property
    def conflict_rule(self) -> str:
        """The resolver's own word: authority, correction, recency, importance, manual …"""
        return self.rule.removeprefix(CONFLICT_RULE)

    @property
    def reasons(self) -> tuple[str, ...]:
        return (self.rule, self.change_rule) if self.change_rule else (self.rule,)


def judge(draft: Draft, body: Mapping[str, Any], state: State, tick: int, policy: Policy) -> Judgement | Rejection:
    """Decide whether a draft reinforces, supersedes or contradicts the active memory, or is stored as an earlier
    version.

    The same words reinforce, and so do other words without a difference that matters. A register's new state always
    updates. A change stated by the caller is believed; otherwise the rules of ``change`` decide. An update of lower
    authority is held, as are words that only ask or suppose what the incumbent states, and a contradiction is settled
    by the conflict policy.
    """
    assert draft.key is not None, "the naming gate sets the key"
    if not same_concept(draft.key, state.canonical_key, state.key_digest):
        detail = (
            f"The key {draft.key.text} is taken by another name of the same spelling. Choose a longer or other key."
        )
        return Rejection("identity", "key_collision", detail)
    if draft.fingerprint == body["fingerprint"]:
        return Judgement(Outcome.REINFORCED, "identity:same_fingerprint")
    change, rule, detail = decided = _classify(draft, body)
    if change is Change.SAME:
        return Judgement(Outcome.REINFORCED, "identity:nothing_differs", detail, f"change:{rule}")
    if rule in TENTATIVE and policy.conflict.policy != "latest_wins":
        return Judgement(Outcome.CONTRADICTED, f"{CONFLICT_RULE}tentative", detail, f"change:{rule}")
    if rule in _MAY_BE_ANOTHER_FACT and _is_held_apart(draft, body, state, policy):
        return Judgement(Outcome.CONTRADICTED, f"{CONFLICT_RULE}other_subject", detail, f"change:{rule}")
    return _weigh(draft, decided, body, state, tick, policy.conflict)


READER_RULES = {
    "same_statement": "it states the same in other words",
    "retracted": "it says that what was known no longer holds",
}
"""How the statement reader relates a draft to an older statement, where it is certain."""


def reading_of(content: str, draft: Draft) -> tuple[Relation, Frame | None, Frame | None]:
    """Return the relation of a draft to an older statement by the statement reader, with the two frames that meet."""
    if not draft.frames:
        return Relation.APART, None, None
    old = read_statement(content, draft.speaker)
    found = compare(old, draft.frames)
    same_words = (content, old), (draft.candidate.content, draft.frames)
    if found[0] is Relation.APART and old and changes_in_same_words(*same_words):
        return Relation.CHANGED, old[0], draft.frames[0]
    return found


def began_before(draft: Draft, state: State) -> bool:
    """Return whether a draft held before the active memory: "moved to Rome in 2015", after "in Porto since 2021"."""
    if draft.valid_from is None or state.valid_from is None:
        return False
    return format_time(draft.valid_from) < state.valid_from


def is_changed_by(content: str, draft: Draft) -> bool:
    """Return whether a draft plainly repeats, changes or retracts an older statement without losing the rest of it."""
    relation, met, _ = reading_of(content, draft)
    if relation not in (Relation.SAME, Relation.CHANGED, Relation.RETRACTED) or met is None:
        return False
    return relation is Relation.RETRACTED or says_only(content, draft.speaker, met)


def may_both_hold(content: str, draft: Draft) -> bool:
    """Return whether a draft and an older statement under one key may both be true.

    Contested values may, and so may two values of an attribute that can have several ("is a nurse", "is a volunteer
    firefighter") and the same rule with and without a scope ("no emojis", "no emojis in commit messages").
    """
    relation, _, _ = reading_of(content, draft)
    if relation is not Relation.APART or not draft.frames:
        return relation is Relation.CONTESTED
    old, new = next(iter(read_statement(content, draft.speaker)), None), draft.frames[0]
    if old is None or old.subject != new.subject or old.negated or new.negated:
        return False
    if old.attribute != new.attribute:
        return "be" in (old.attribute, new.attribute)
    if old.slot == new.slot and old.single and new.single:  # values of two kinds: "5,000 euros", "12 pages"
        return True
    return set(old.scope) != set(new.scope) or (old.attribute == "be" and not (old.single or new.single))


def says_only(content: str, speaker: str, frame: Frame) -> bool:
    """Return whether a statement says one thing: "works as a nurse at St. Mary's" says two, and one may change alone."""
    stated = {
        stated_frame.attribute
        for stated_frame in read_statement(content, speaker)
        if not stated_frame.rule.startswith("implied")
    }
    return stated <= {frame.attribute} and not frame.partial


def _is_held_apart(draft: Draft, body: Mapping[str, Any], state: State, policy: Policy) -> bool:
    """Return whether a text may be another fact under a title that was used for two things.

    It shares no word with the active memory, is no other number or date in its place, and does not outrank it.
    """
    assert draft.key is not None, "the naming gate sets the key"
    if policy.keys.unrelated == "replace" or policy.conflict.policy == "latest_wins" or draft.key.source != "explicit":
        return False
    if outranks(draft.authority, Authority(state.authority), policy.conflict.authority_order):
        return False
    title = draft.candidate.canonical_key or draft.candidate.title or ""
    old, new = _value_under(title, body["content"]), _value_under(title, draft.candidate.content)
    return shares_nothing(old, new)


def _value_under(title: str, content: str) -> str:
    """Return a text without the title that it repeats before a colon: "hobbies: chess" says "chess"."""
    label, colon, value = content.partition(":")
    named = set(label.casefold().split()) <= set(title.casefold().replace("-", " ").split())
    return value if colon and label.strip() and named else content


def _classify(draft: Draft, body: Mapping[str, Any]) -> tuple[Change, str, str]:
    if draft.candidate.change is not None:
        return draft.candidate.change, "stated_by_caller", ""
    if draft.candidate.tier is Tier.REGISTER:
        return Change.UPDATE, "register_moves_on", ""
    relation, _, new = reading_of(body["content"], draft)
    if relation is Relation.SAME and draft.valid_from is None and draft.valid_until is None:
        return Change.SAME, "same_statement", ""
    decided = classify_change(
        body["content"], draft.candidate.content, event_type=draft.event_type, same_speaker=_same_speaker(draft, body)
    )
    aspects = ", ".join(dict.fromkeys(str(difference.aspect) for difference in decided.differences))
    read = _change_as_read(relation, new) if decided.rule not in _SAID_OUTRIGHT else None
    if read is None and decided.rule == "reworded" and _are_values_of_one_key(body["content"], draft.candidate):
        read = Change.CONTRADICTION, "value_changed"
    return *(read or (decided.change, decided.rule)), aspects


def _are_values_of_one_key(old: str, new: Candidate) -> bool:
    """Return whether both are values of a profile key, which alone says of what: "Porto", "Braga"."""
    return new.kind is Kind.PROFILE and shares_nothing(old, new.content)


def _change_as_read(relation: Relation, new: Frame | None) -> tuple[Change, str] | None:
    """Return the change of a slot by the reader: a marked change updates, and a mere denial contradicts."""
    if new is None or relation not in (Relation.RETRACTED, Relation.CHANGED):
        return None
    marked = new.change is not ChangeMark.NONE  # "no longer", "now", "moved to", and not a bare "does not"
    if relation is Relation.RETRACTED:
        return Change.UPDATE if marked else Change.CONTRADICTION, "retracted"
    return (Change.UPDATE, "marks_change_in_time") if marked else None


def _same_speaker(draft: Draft, body: Mapping[str, Any]) -> bool | None:
    """Return whether both statements have one source and author; ``None`` if the newcomer gives no author."""
    if draft.source != body["source"]:
        return False
    candidate = draft.candidate
    if candidate.author is None:
        return None
    return author_principal(candidate.author.id, candidate.user_id, candidate.agent_id) == author_of(body)


def _weigh(
    draft: Draft, decided: tuple[Change, str, str], body: Mapping[str, Any], state: State, tick: int, policy: Conflict
) -> Judgement:
    change, rule, detail = decided
    said_at = format_time(draft.candidate.created_at) if draft.candidate.created_at else ""
    undated, was_undated = is_undated(draft.candidate.meta), is_undated(body.get("meta", {}))
    newcomer = Claim(draft.authority, draft.source, draft.event_type, draft.importance, tick, change, said_at, undated)
    of_body = Source(body["source"]), EventType(body["event_type"])
    known_at = "" if was_undated else body["created_at"]
    incumbent = Claim(
        Authority(state.authority), *of_body, state.importance, body["tick"], at=known_at, undated=was_undated
    )
    change_rule = f"change:{rule}"
    if change is Change.UPDATE:
        verdict = may_update(incumbent, newcomer, policy)
        if verdict.newcomer_wins:
            return Judgement(Outcome.SUPERSEDED, "identity:update", detail, change_rule)
    else:
        verdict = settle(incumbent, newcomer, policy)
    if not verdict.newcomer_wins and verdict.rule == "recency" and newcomer.is_older_than(incumbent):
        return Judgement(Outcome.STORED, OLDER, detail, change_rule)
    outcome = Outcome.SUPERSEDED if verdict.newcomer_wins else Outcome.CONTRADICTED
    return Judgement(outcome, f"{CONFLICT_RULE}{verdict.rule}", detail, change_rule)


TAKES_OVER = "version:takes_over"
_STATED = frozenset({"importance:as_given", "importance:edited", "importance:canon"})
"""Reasons that mark an importance as stated by a caller, not derived by a rule."""
DEFAULT_CATEGORY = "general"


def with_inheritance(draft: Draft, body: Mapping[str, Any], state: State, order: Sequence[Authority]) -> Draft:
    """Return the draft with the fields that it does not state, taken from the memory that it supersedes."""
    stated = draft.candidate.model_fields_set
    taken = inherited_fields(state, stated, draft.authority, order)
    if body.get("tier") == Tier.CANON and "tier" not in stated and _may_be_canon(draft, state, order):
        taken["tier"] = Tier.CANON
    if not taken:
        return draft
    names = ", ".join(sorted(set(taken) - {"importance_reason"}))
    weight = {name: taken.pop(name) for name in ("importance", "importance_reason") if name in taken}
    return draft.decide(TAKES_OVER, names, candidate=draft.candidate.model_copy(update=taken), **weight)


def _may_be_canon(draft: Draft, state: State, order: Sequence[Authority]) -> bool:
    """Return whether a draft may be canon: a guess may not, nor a draft outranked by the memory before."""
    outweighed = outranks(Authority(state.authority), draft.authority, order)
    return draft.authority is not Authority.AI_INFERRED and not outweighed


def inherited_fields(
    state: State, stated: set[str], authority: Authority, order: Sequence[Authority]
) -> dict[str, Any]:
    """Return the fields that a version of this authority takes over from the state of the version before."""
    taken: dict[str, Any] = {}
    if "category" not in stated and state.category != DEFAULT_CATEGORY:
        taken["category"] = state.category
    if outranks(authority, Authority(state.authority), order):
        return taken
    if "tags" not in stated and state.tags:
        taken["tags"] = tuple(state.tags)
    if outranks(Authority(state.authority), authority, order):
        return taken
    if "pinned" not in stated and state.pinned:
        taken["pinned"] = True
    if "importance" not in stated and is_stated(state.importance_reason):
        taken |= {"importance": state.importance, "importance_reason": tuple(state.importance_reason)}
    return taken


def is_stated(importance_reason: Sequence[str]) -> bool:
    """Return whether an importance was stated by a caller."""
    return not _STATED.isdisjoint(importance_reason)
