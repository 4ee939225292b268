"""Who may read and write where. Checked in the engine before anything is retrieved, whichever interface asked."""

import re
from typing import NamedTuple

from recollect.model.address import Address
from recollect.model.caller import Caller, Right
from recollect.model.policy import Policy
from recollect.model.record import Author, Candidate
from recollect.model.vocabulary import SHARED, Source, Space
from recollect.rules.authority import speaks_for_a_person
from recollect.rules.draft import Context, Draft, Rejection

_OPERATOR_SOURCES = (Source.SYSTEM, Source.OPERATOR)


def border_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """May this caller write here, for this agent, and in this role?

    A user's caller writes to that user's own memory, to its session's, and to the projects that it belongs to. Only
    an operator writes to the system's. An agent writes what everybody may see or what it alone sees, never what
    another agent alone sees. Words may be given as the operator's only by an operator.
    """
    candidate, caller = draft.candidate, context.caller
    address = Address(caller.tenant, draft.namespace, candidate.space, candidate.owner)
    source = candidate.source or caller.speaks_as
    code = write_refusal(caller, address, candidate.scope, source)
    if code is None and not context.promoting:
        code = _borrowed_name(caller, candidate) or _only_by_promotion(candidate, source, context)
    if code is None and not sight_of(caller, context.policy).sees(candidate.scope, candidate.category):
        code = "border:category_not_yours"
    if code is not None:
        return Rejection("border", code, _DETAIL[code])
    if not (caller.trusted or context.promoting):
        draft = draft._replace(candidate=_without_the_stores_own(candidate))
    return draft.decide("border:allowed", source=_honest(source, caller))


_NOTED_BY_THE_STORE = frozenset("summary_of source_turn_ids promoted_from promotion_reason turn entry".split())


def _without_the_stores_own(candidate: Candidate) -> Candidate:
    """What the store itself notes in ``meta`` (that this sums up, that it was promoted) cannot be claimed."""
    if _NOTED_BY_THE_STORE.isdisjoint(candidate.meta):
        return candidate
    kept = {name: value for name, value in candidate.meta.items() if name not in _NOTED_BY_THE_STORE}
    return candidate.model_copy(update={"meta": kept})


def _honest(source: Source, caller: Caller) -> Source:
    """An agent that may not pass on a person's words has said them itself."""
    return Source.AGENT if source is Source.USER and not speaks_for_a_person(caller) else source


def _only_by_promotion(candidate: Candidate, source: Source, context: Context) -> str | None:
    if candidate.space not in context.policy.spaces.write_spaces:
        return "border:space_closed"
    return "border:source_not_yours" if source is Source.PROMOTION and not context.caller.trusted else None


def write_refusal(caller: Caller, address: Address, scope: str, source: Source) -> str | None:
    """The code of the border that a write would cross, or ``None``."""
    if caller.trusted:
        return None
    if Right.WRITE not in caller.rights:
        return "border:no_write_right"
    if not _owns(caller, address, writing=True):
        return "border:not_your_space"
    if scope not in visible_scopes(caller):
        return "border:not_your_scope"
    if source in _OPERATOR_SOURCES and Right.OPERATE not in caller.rights:
        return "border:source_not_yours"
    return None


def phase_refusal(caller: Caller, address: Address) -> str | None:
    """The same for a new phase, which hides what was known: that is for a person, or for an agent that governs."""
    refusal = write_refusal(caller, address, SHARED, Source.USER)
    governs = caller.agent is None or caller.trusted or Right.GOVERN in caller.rights
    return refusal if refusal is not None or governs else "border:no_govern_right"


def _borrowed_name(caller: Caller, candidate: Candidate) -> str | None:
    """Who is credited: a bound caller may sign as itself or as its user, not as anybody else."""
    if caller.trusted:
        return None
    own = {caller.agent, caller.user, None}
    author = candidate.author
    if not {author.id if author else None, candidate.user_id} <= own or candidate.agent_id not in (caller.agent, None):
        return "border:not_your_name"
    return "border:not_your_name" if author is not None and _sounds_higher(author, caller) else None


_HIGHER_NAMES = frozenset("system operator administrator admin root".split())


def _sounds_higher(author: Author, caller: Caller) -> bool:
    """Whether a name would be taken for the operator's, or an agent's own for its user's."""
    if author.name == author.id:
        return False
    name = author.name.casefold()
    is_the_users = caller.agent is not None and name == (caller.user or "").casefold()
    return is_the_users or not _HIGHER_NAMES.isdisjoint(re.findall(r"[^\W_]+", name))


def may_read(caller: Caller, address: Address) -> bool:
    """Whether a caller may know of anything in this stream."""
    return read_refusal(caller, address) is None


def read_refusal(caller: Caller, address: Address) -> str | None:
    """The code of the border that a read would cross, or ``None``."""
    if caller.trusted:
        return None
    if Right.READ not in caller.rights:
        return "border:no_read_right"
    return None if _owns(caller, address, writing=False) else "border:not_your_space"


def visible_scopes(caller: Caller) -> tuple[str, ...]:
    """The scopes whose memories a bound caller sees: what is shared, and its own agent's."""
    return (SHARED, caller.agent) if caller.agent else (SHARED,)


class Sight(NamedTuple):
    """What a caller sees of the streams that it may read: these scopes and these categories, ``None`` for all."""

    scopes: tuple[str, ...] | None
    categories: tuple[str, ...] | None

    def sees(self, scope: str | None, category: str | None) -> bool:
        in_scope = self.scopes is None or scope in self.scopes
        return in_scope and (self.categories is None or category in self.categories)


def sight_of(caller: Caller, policy: Policy) -> Sight:
    """The application itself sees everything; an agent what is shared or its own, in the categories of its list."""
    scopes = None if caller.trusted and caller.agent is None else visible_scopes(caller)
    return Sight(scopes, policy.agents.categories(caller.agent))


def sees(caller: Caller, address: Address | None, scope: str | None) -> bool:
    """Whether this one memory exists, as far as the caller can tell."""
    if caller.trusted and caller.agent is None:
        return True
    if address is None or scope not in visible_scopes(caller):
        return False
    return may_read(caller, address)


def _owns(caller: Caller, address: Address, *, writing: bool) -> bool:
    if address.tenant != caller.tenant:
        return False
    if address.space is Space.USER:
        return caller.user is not None and address.owner == caller.user
    if address.space is Space.SESSION:
        return caller.session is not None and address.owner == caller.session
    if address.space is Space.PROJECT:
        return address.owner in caller.projects
    return not writing or Right.OPERATE in caller.rights


_DETAIL = {
    "border:space_closed": "The policy lets this space be reached by promotion alone. Write to the session and promote.",
    "border:no_write_right": "This caller may not write. Ask for the write right.",
    "border:not_your_space": "The memory belongs to another owner or space. Write to the caller's own.",
    "border:not_your_scope": "Only the agent itself may write what it alone sees. Use scope 'shared' or the own id.",
    "border:category_not_yours": "The agent's list does not name this category. See agents.allowlists.",
    "border:not_your_name": "A caller may sign as itself or as its user. Leave author, agent_id and user_id out.",
    "border:source_not_yours": "Only an operator may give words as the operator's or the system's.",
}
