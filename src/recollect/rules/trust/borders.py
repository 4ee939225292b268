"""Decide who may read and write where, whose name a memory may carry, and which traces a caller may see."""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from recollect.model.caller import Caller, Right, as_principal, short_name
from recollect.model.ledger import Address
from recollect.model.policy import Policy
from recollect.model.record import Candidate
from recollect.model.rendering import one_line
from recollect.model.trace import TraceType
from recollect.model.vocabulary import SHARED, Namespace, Source, Space
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.privacy.disguises import as_drawn
from recollect.rules.prompt.injection import origin_name
from recollect.rules.trust.authority import speaks_for_a_person

_HIGHER_NAMES = frozenset("system operator administrator admin root".split())
_WORD = re.compile(r"[^\W_]+")
_BY_ITSELF = re.compile(r"[^\W_](?:\S*[^\W_])?")
"""Words separated by blanks. A tool may be called ``system_info``, but not ``System (verified)``."""


def signs_as_another(caller: Caller, candidate: Candidate, source: Source) -> bool:
    """Return whether a bound caller signs with a name other than its own or its user's, or one of a higher role."""
    if caller.trusted:
        return False
    author, tool = candidate.author, candidate.actor_id
    if candidate.user_id not in (caller.user, None) or candidate.agent_id not in (caller.agent, None):
        return True
    if author is not None:
        is_own = as_principal(author.id) in caller.own_principals
        return not is_own or (author.name != short_name(author.id) and _poses_as_other(author.name, caller, _WORD))
    is_credited = source is Source.TOOL and tool is not None and tool != caller.agent
    return is_credited and _poses_as_other(str(tool), caller, _BY_ITSELF)


def _poses_as_other(name: str, caller: Caller, words: re.Pattern[str]) -> bool:
    """Return whether a name would be read as the operator's or, for an agent or its tool, as its user's."""
    read = as_read(name)
    is_the_users = caller.is_an_agent and caller.user is not None and _look_alike(read, as_read(caller.user))
    return is_the_users or not _HIGHER_NAMES.isdisjoint(words.findall(read))


def _look_alike(one: str, other: str) -> bool:
    """Return whether two names look the same where they are shown, which may be cut, or differ only in signs."""
    words = _WORD.findall(one)
    return origin_name(one) == origin_name(other) or (bool(words) and words == _WORD.findall(other))


def as_read(name: str) -> str:
    """Return a name as a reader perceives it: without invisible characters, case, accents and compatibility forms, and
    with look-alike letters of different alphabets unified.

    >>> as_read("Ope\\u200br\\u0430t\\u00f6r") == as_read("ＯＰＥＲＡＴＯＲ") == "operator"
    True
    """
    return as_drawn(one_line(name)).casefold()


_OPERATOR_SOURCES = (Source.SYSTEM, Source.OPERATOR)


def border_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse a write that the caller may not make here, for this agent, or in this role.

    A user's caller writes to that user's own memory, to its session's, and to its projects. Only an operator writes to
    the system's. An agent writes shared memories or its private ones, never another agent's private ones. Only an
    operator may give words as the operator's.
    """
    candidate, caller = draft.candidate, context.caller
    address = Address(caller.tenant, draft.namespace, candidate.space, candidate.owner)
    source = candidate.source or caller.speaks_as
    code = write_refusal(caller, address, candidate.scope, source)
    if code is None and not context.promoting:
        borrowed = signs_as_another(caller, candidate, source)
        code = "border:not_your_name" if borrowed else _promotion_refusal(candidate, source, context)
    if code is None and not sight_of(caller, context.policy).sees(candidate.scope, candidate.category):
        code = "border:category_not_yours"
    if code is not None:
        return Rejection("border", code, _DETAIL[code])
    if not (caller.trusted or context.promoting):
        draft = draft._replace(candidate=_drop_store_notes(candidate))
    return draft.decide("border:allowed", source=source_of(candidate, caller))


_NOTED_BY_THE_STORE = frozenset("summary_of source_turn_ids promoted_from promotion_reason turn entry".split())


def _drop_store_notes(candidate: Candidate) -> Candidate:
    """Drop what only the store may record: that a memory is a summary, that it was promoted, when it was said."""
    if _NOTED_BY_THE_STORE.isdisjoint(candidate.meta) and candidate.created_at is None:
        return candidate
    kept = {name: value for name, value in candidate.meta.items() if name not in _NOTED_BY_THE_STORE}
    return candidate.model_copy(update={"meta": kept, "created_at": None})


def source_of(candidate: Candidate, caller: Caller) -> Source:
    """Return the source as stated, else the caller's; an agent that may not relay a person's words is the source."""
    source = candidate.source or caller.speaks_as
    return Source.AGENT if source is Source.USER and not speaks_for_a_person(caller) else source


def _promotion_refusal(candidate: Candidate, source: Source, context: Context) -> str | None:
    if candidate.space not in context.policy.spaces.write_spaces:
        return "border:space_closed"
    return "border:source_not_yours" if source is Source.PROMOTION and not context.caller.trusted else None


def write_refusal(caller: Caller, address: Address, scope: str, source: Source) -> str | None:
    """Return the code of the border that a write would cross, or ``None``."""
    if caller.trusted:
        return None
    if not caller.may(Right.WRITE):
        return "border:no_write_right"
    if not _owns(caller, address, writing=True):
        return "border:not_your_space"
    if scope not in visible_scopes(caller):
        return "border:not_your_scope"
    if source in _OPERATOR_SOURCES and not caller.may(Right.OPERATE):
        return "border:source_not_yours"
    return None


def phase_refusal(caller: Caller, address: Address) -> str | None:
    """Return the code that refuses a new phase: it hides memories, so an agent needs the govern right."""
    refusal = write_refusal(caller, address, SHARED, Source.USER)
    governs = not caller.is_an_agent or caller.may(Right.GOVERN)
    return refusal if refusal is not None or governs else "border:no_govern_right"


def may_read(caller: Caller, address: Address) -> bool:
    """Return whether a caller may know of anything in a stream."""
    return read_refusal(caller, address) is None


def read_refusal(caller: Caller, address: Address) -> str | None:
    """Return the code of the border that a read would cross, or ``None``."""
    if caller.trusted:
        return None
    if not caller.may(Right.READ):
        return "border:no_read_right"
    return None if _owns(caller, address, writing=False) else "border:not_your_space"


def read_refusals(
    caller: Caller, owner: str | None, named: Sequence[Space] | None, order: Sequence[Space]
) -> dict[Space, str | None]:
    """Return each space of a query in the order in which they are consulted, with the code that closes it.

    These are the spaces it ``named``, or else all in the policy's ``order``, which closes the others.
    """
    spaces = order if named is None else [*(s for s in order if s in named), *(s for s in named if s not in order)]
    own = {Space.USER: caller.user, Space.SESSION: caller.session, Space.PROJECT: min(caller.projects, default=None)}
    refusals: dict[Space, str | None] = {}
    for space in spaces:
        address = Address(caller.tenant, Namespace.PROD, space, owner or own.get(space, "default") or "")
        refusals[space] = read_refusal(caller, address) if space in order else "border:not_in_read_order"
    return refusals


def only_passed_over(
    caller: Caller, owner: str | None, named: Sequence[Space] | None, refusals: Mapping[Space, str | None]
) -> bool:
    """Return whether the closed spaces were merely skipped, and not refused to a caller that asked for them.

    That is so if the caller asked about its own memories, named no space, and had at least one open to it. Such a query
    skips a space or two every time; stored as refusals, these would crowd out the real ones.
    """
    asks_for_its_own = owner in {caller.user, caller.session, *caller.projects, None}
    return asks_for_its_own and named is None and None in refusals.values()


def visible_scopes(caller: Caller) -> tuple[str, ...]:
    """Return the scopes that a bound caller sees: shared memories, and its own agent's."""
    return (SHARED, caller.agent) if caller.agent else (SHARED,)


class Sight(NamedTuple):
    """The scopes and categories that a caller sees in the streams it may read; ``None`` for all."""

    scopes: tuple[str, ...] | None
    categories: tuple[str, ...] | None

    def sees(self, scope: str | None, category: str | None) -> bool:
        in_scope = self.scopes is None or scope in self.scopes
        return in_scope and (self.categories is None or category in self.categories)


def sight_of(caller: Caller, policy: Policy) -> Sight:
    """Return the sight of a caller: all for the application; for an agent shared and own memories of its categories."""
    scopes = None if caller.trusted and caller.agent is None else visible_scopes(caller)
    return Sight(scopes, policy.agents.categories(caller.agent or caller.narrowed_to))


def sees(caller: Caller, address: Address | None, scope: str | None) -> bool:
    """Return whether a memory of this scope exists from the caller's point of view."""
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
    return not writing or caller.may(Right.OPERATE)


_DETAIL = {
    "border:space_closed": "The policy lets this space be reached by promotion alone. Write to the session and promote.",
    "border:no_write_right": "This caller may not write. Ask for the write right.",
    "border:not_your_space": "The memory belongs to another owner or space. Write to the caller's own.",
    "border:not_your_scope": "Only the agent itself may write what it alone sees. Use scope 'shared' or the own id.",
    "border:category_not_yours": "The agent's list does not name this category. See agents.allowlists.",
    "border:not_your_name": "A caller may sign as itself or as its user. Leave author, agent_id and user_id out.",
    "border:source_not_yours": "Only an operator may give words as the operator's or the system's.",
}

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def named_ids(value: Any) -> Iterator[str]:
    """Yield every memory id anywhere in an event.

    >>> list(named_ids({"winner_id": "7d7d7d7d-1111-5222-8333-444444444444", "rule": "recency", "written": []}))
    ['7d7d7d7d-1111-5222-8333-444444444444']
    """
    if isinstance(value, str):
        yield from _ID.findall(value)
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for inner in inside:
        yield from named_ids(inner)


def may_be_told(event: Mapping[str, Any], session: str | None, hidden: Set[str]) -> bool:
    """Return whether an event holds nothing that a caller in this session may not know.

    An event that names a hidden memory is not shown. Of other sessions, neither is an event that names no memory, nor a
    recall: a question is its asker's own.
    """
    named = frozenset(named_ids(event))
    if not named.isdisjoint(hidden):
        return False
    is_own = session is not None and event["session"] == session
    return is_own or (bool(named) and event["type"] != TraceType.RECALL)


_NAMES = frozenset(
    {"session", "ai_profile", "owner", "user_id", "agent_id", "actor_id", "thread_id", "run_id", "phase_name"}
)
"""The keys of an event and its items whose value is a name, or was chosen by an application."""


def names_anybody(event: Any, names: Set[str]) -> bool:
    """Return whether an event, or an item in it, holds one of these names as a name and not among its words.

    >>> names_anybody({"type": "memory_denied", "session": "ana", "attempted": {"kind": "semantic"}}, {"ana"})
    True
    >>> names_anybody({"type": "memory_denied", "session": "s1", "attempted": {"kind": "semantic"}}, {"semantic"})
    False
    """
    if isinstance(event, Mapping):
        bears = any(isinstance(value, str) and value in names for key, value in event.items() if key in _NAMES)
        return bears or any(names_anybody(value, names) for value in event.values())
    return isinstance(event, list | tuple) and any(names_anybody(value, names) for value in event)
