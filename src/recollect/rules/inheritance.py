"""What a new version takes over from the one that it supersedes: what was decided about the concept, not what it says.

Whoever pins a fact, files it under a category or calls it canon means the fact, whatever its value is tomorrow. A new
version that says nothing of these keeps them. One whose word counts for less than what it replaces, as ``latest_wins`` lets
it, takes over where the memory is filed, and none of its weight. One whose word counts for more takes over the category alone,
which says who may read it: nothing else that a lower authority attached becomes a higher one's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model.state import State
from recollect.model.vocabulary import Authority, Tier
from recollect.rules.authority import outranks
from recollect.rules.draft import Draft

TAKES_OVER = "version:takes_over"
_STATED = frozenset({"importance:as_given", "importance:edited", "importance:canon"})
"""Why a memory is as important as somebody said, and not as a rule makes it."""
DEFAULT_CATEGORY = "general"


def with_inheritance(draft: Draft, body: Mapping[str, Any], state: State, order: Sequence[Authority]) -> Draft:
    """The draft with what it does not say itself and the memory that it supersedes has."""
    stated = draft.candidate.model_fields_set
    taken = taken_over(state, stated, draft.authority, order)
    if body.get("tier") == Tier.CANON and "tier" not in stated and _may_be_canon(draft, state, order):
        taken["tier"] = Tier.CANON
    if not taken:
        return draft
    names = ", ".join(sorted(set(taken) - {"importance_reason"}))
    weight = {name: taken.pop(name) for name in ("importance", "importance_reason") if name in taken}
    return draft.decide(TAKES_OVER, names, candidate=draft.candidate.model_copy(update=taken), **weight)


def _may_be_canon(draft: Draft, state: State, order: Sequence[Authority]) -> bool:
    """No guess is canon, and nobody makes canon of what outweighed them."""
    outweighed = outranks(Authority(state.authority), draft.authority, order)
    return draft.authority is not Authority.AI_INFERRED and not outweighed


def taken_over(state: State, stated: set[str], authority: Authority, order: Sequence[Authority]) -> dict[str, Any]:
    """What a version of this authority, which states these fields itself, takes over from the state of the one before."""
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
    """Whether a memory is as important as somebody said."""
    return not _STATED.isdisjoint(importance_reason)
