"""Answering a query: access first, then the text index, then the best that may be seen."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.embed.tokens import count_tokens
from recollect.engine import operations, tracing
from recollect.engine.arguments import check_number
from recollect.engine.assemble import to_memory
from recollect.engine.change_header import change_header
from recollect.engine.context import Engine
from recollect.engine.filters import check_categories, selection_of
from recollect.engine.matching import as_told, loaded, matching, newest_phase_first, shadowed, with_counterparts
from recollect.engine.meaning import as_asked
from recollect.engine.ranking import Ranked
from recollect.engine.reading import Spaces, asked_spaces, readable_streams
from recollect.engine.relations import Seen, told_with, within
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.errors import BadInput
from recollect.model.item import to_item
from recollect.model.operation import Node, Op
from recollect.model.phase import FIRST_PHASE, FIRST_PHASE_ID, phase_id
from recollect.model.receipt import Earlier, Recall, Recalled, Related, bullet
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.borders import read_refusal
from recollect.rules.procedures import ORDINARY_KINDS, names_procedures
from recollect.stores.protocol import Place, Reader, Selection, Stored, Stream

MAX_TOP_K = 1_000
MAX_QUERY_CHARACTERS = 10_000
"""How much of a question is read: what is longer is a document, and its beginning says what it is about."""


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def query(
    engine: Engine,
    text: str,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    categories: Sequence[str] | None = None,
    filters: Mapping[str, Any] | None = None,
    top_k: int | None = None,
    budget_tokens: int | None = None,
    threshold: float | None = None,
    share_of_best: float | None = None,
    named: bool = False,
    thread: str | None = None,
    history: bool = False,
) -> Recall:
    """The memories that answer a text best, best first. Operators and quotes in it are words like any other.

    Without an owner, a bound caller's own streams are read, and a trusted caller's query spans the whole tenant;
    ``space`` is one space or several, by default all that the policy has consulted.
    ``categories`` and ``filters`` narrow what is looked at, ``threshold`` (0 to 1) leaves out what has too little to do
    with the text, ``share_of_best`` (0 to 1) what has much less to do with it than the best of them has, ``named`` what
    it does not name: a memory stays if one of its entities' names stands in the text, whole. ``budget_tokens`` leaves out
    what would not fit any more. With a ``thread`` the answer begins with what changed
    since that thread last asked; with ``history`` each memory comes with what it said before.
    """
    top_k = engine.policy.recall.top_k if top_k is None else top_k
    _check(text, filters, top_k, budget_tokens)
    _check_shares(threshold=threshold, share_of_best=share_of_best)
    if not isinstance(named, bool):
        raise BadInput("must be true or false.", field="named")
    if thread is not None:
        _selection(engine, (), categories, filters or {})  # what is refused must not use up what changed for the thread
    asked = as_asked(engine, text[:MAX_QUERY_CHARACTERS], named_only=named)
    header = "" if thread is None else _header(engine, thread, owner, space, include_namespaces, budget_tokens)
    if budget_tokens is not None and header:
        budget_tokens -= count_tokens(f"{header}\n")
    with engine.read() as reader:
        readable = readable_streams(engine, reader, owner, space, include_namespaces)
        consulted = engine.policy.spaces.read_order
        streams = [s for s in readable if s.address is not None and s.address.space in consulted]
        selection = _selection(engine, streams, categories, filters or {})
        one_person = not engine.caller.trusted
        found = matching(engine, reader, streams, asked, top_k, selection)
        found = with_counterparts(engine, reader, streams, found, selection, one_person=one_person)
        found = newest_phase_first(engine, found)
        told = shadowed(found, engine.caller.agent, consulted, one_person=one_person)
        least = _least(told, threshold, share_of_best)
        about = [one for one in told if one.relevance >= least]
        at_hand = {} if budget_tokens is None else loaded(engine, reader, about)
        chosen = _within(engine, about, top_k, budget_tokens, at_hand)
        at_hand = loaded(engine, reader, chosen, at_hand)
        items = [as_told(one, at_hand[one.place]) for one in chosen]
        items = _with_history(engine, reader, items, budget_tokens) if history else items
        related = within(engine, reader, streams, selection)
        items = _with_related(engine, reader, items, chosen, related, budget_tokens)
        checks = _border_checks(engine, owner, space)
        event = recall_event(engine, reader, text, items, streams, [s for s, no in checks.items() if no is None])
    events = (*(tracing.border_check(engine, "read", *check) for check in checks.items()), event)
    now = engine.now()
    engine.accesses.note(engine.tenant, [item.memory.id for item in items], now)
    operations.note(engine, operations.queried(engine, owner if streams else None, now))
    kept = events if _is_kept(engine, checks, owner, space) else (event,)
    tracing.keep_later(engine, kept, streams[0].number if len(streams) == 1 else None)
    return Recall(text, tuple(items), events, header)


def _header(
    engine: Engine,
    thread: str,
    owner: str | None,
    space: Spaces,
    include_namespaces: Sequence[str],
    budget_tokens: int | None,
) -> str:
    """What changed, in at most half of the budget: the question is to be answered, too."""
    return change_header(
        engine,
        thread=thread,
        owner=owner,
        space=space,
        include_namespaces=include_namespaces,
        budget_tokens=None if budget_tokens is None else budget_tokens // 2,
    ).text


def _selection(
    engine: Engine, streams: Sequence[Stream], categories: Sequence[str] | None, filters: Mapping[str, Any]
) -> Selection:
    """What the request narrows the query to. Without a phase of its own it is what the policy has recalled."""
    asked = dict(filters)
    if categories is not None:
        if "category" in asked:
            raise BadInput("are given twice.", field="categories", hint="Leave filters.category out.")
        asked["category"] = check_categories(engine, "categories", categories)
    if asked.get("kind") is None and not names_procedures(asked.get("category")):
        asked["kind"] = ORDINARY_KINDS
    if asked.get("phase") is None and engine.policy.phase.recalls_current_only:
        asked["phase"] = "current"
    return selection_of(engine, streams, asked, "active")


def _least(told: Sequence[Ranked], threshold: float | None, share_of_best: float | None) -> float:
    """How much something must have to do with the question to be told."""
    best = max((one.relevance for one in told), default=0.0)
    return max(threshold or 0.0, (share_of_best or 0.0) * best)


def _within(
    engine: Engine, about: Sequence[Ranked], top_k: int, budget_tokens: int | None, at_hand: Mapping[Place, Stored]
) -> list[Ranked]:
    """The best within their category's share, the number asked for, and the budget, for which they must be at hand."""
    chosen: list[Ranked] = []
    counts: Counter[str] = Counter()
    spent = 0
    for one in about:
        category = engine.policy.categories.known(one.row.category)
        full = category is not None and category.context == "rag" and counts[category.name] >= category.rag_length
        if len(chosen) == top_k:
            break
        if full:
            continue
        cost = 0 if budget_tokens is None else _tokens(bullet(to_memory(at_hand[one.place])), first=not chosen)
        if budget_tokens is not None and spent + cost > budget_tokens:
            continue
        spent += cost
        counts[one.row.category] += 1
        chosen.append(one)
    return chosen


MAX_EARLIER = 5
"""How many older versions of each memory are told."""


def _tokens(line: str, *, first: bool = False) -> int:
    """What a line takes of a budget, with the line end before it unless it is the first."""
    return count_tokens(line if first else f"\n{line}")


class _Room:
    """What a budget leaves for what is told along with the items."""

    def __init__(self, items: Sequence[Recalled], budget_tokens: int | None) -> None:
        self._limited = budget_tokens is not None
        told = count_tokens("\n".join(line for item in items for line in item.lines)) if self._limited else 0
        self._left = (budget_tokens or 0) - told

    def takes(self, line: str) -> bool:
        """Whether there is room for one line more, which it then takes up."""
        cost = _tokens(line) if self._limited else 0
        if self._limited and cost > self._left:
            return False
        self._left -= cost
        return True


def _with_history(
    engine: Engine, reader: Reader, items: Sequence[Recalled], budget_tokens: int | None
) -> list[Recalled]:
    """The same with what each said before, as far as it may be seen, was not erased, and the budget has room for it."""
    earlier = _earlier(engine, reader, items)
    room = _Room(items, budget_tokens)
    return [
        replace(item, earlier=tuple(one for one in earlier[item.memory.id] if room.takes(one.line))) for item in items
    ]


def _earlier(engine: Engine, reader: Reader, items: Sequence[Recalled]) -> dict[str, list[Earlier]]:
    earlier: dict[str, list[Earlier]] = {item.memory.id: [] for item in items}
    older = {item.memory.id: item.memory.supersedes_id for item in items}
    for _ in range(MAX_EARLIER):
        found = reader.by_ids(engine.tenant, [id for id in older.values() if id])
        for newest, id in list(older.items()):
            stored = found.get(id or "")
            older[newest] = stored.state.supersedes_id if stored else None
            if stored and stored.body and engine.sight.sees(stored.body["scope"], stored.state.category):
                said = Earlier(stored.state.id, stored.state.version, stored.body["content"], stored.body["created_at"])
                earlier[newest].append(said)
    return earlier


def _with_related(
    engine: Engine,
    reader: Reader,
    items: Sequence[Recalled],
    chosen: Sequence[Ranked],
    seen: Seen,
    budget_tokens: int | None,
) -> list[Recalled]:
    """The same with what they have to do with: the strongest relations, within what the budget leaves."""
    most = engine.policy.relations.bullets
    if not items or not most:
        return list(items)
    told: dict[Place, list[Related]] = defaultdict(list)
    room = _Room(items, budget_tokens)
    known = {one.place: one.relations for one in chosen if one.relations is not None}
    for place, related in told_with(engine, reader, [one.place for one in chosen], seen, known)[:most]:
        if room.takes(related.line):
            told[place].append(related)
    if not told:
        return list(items)
    return [replace(item, related=tuple(told[one.place])) for item, one in zip(items, chosen, strict=True)]


def _border_checks(engine: Engine, owner: str | None, space: Spaces) -> dict[Space, str | None]:
    """Each space that the query is about, in the order in which it is consulted, with the code that closes it."""
    caller, order = engine.caller, engine.policy.spaces.read_order
    named = asked_spaces(space)
    asked = order if named is None else [*(s for s in order if s in named), *(s for s in named if s not in order)]
    own = {Space.USER: caller.user, Space.SESSION: caller.session, Space.PROJECT: min(caller.projects, default=None)}
    checks: dict[Space, str | None] = {}
    for one in asked:
        name = owner or own.get(one, "default")
        address = Address(caller.tenant, Namespace.PROD, one, name or "")
        checks[one] = read_refusal(caller, address) if one in order else "border:not_in_read_order"
    return checks


def _is_kept(engine: Engine, checks: Mapping[Space, str | None], owner: str | None, space: Spaces) -> bool:
    """Whether the checks are kept where refusals are. A closed space is refused to whoever named it, or somebody else, or
    finds all of them closed. To others it is only passed over: two such rows a query would wash the refusals away."""
    caller = engine.caller
    own = {caller.user, caller.session, *caller.projects, None}
    passed_over = space is None and owner in own and None in checks.values()
    return engine.policy.traces.keep == "all" or not passed_over


def recall_event(
    engine: Engine,
    reader: Reader,
    text: str,
    items: Sequence[Recalled],
    streams: Sequence[Stream],
    consulted: Sequence[Space],
) -> trace.Trace:
    """The event that says what came, from where, and why."""
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        phases[item.memory.space][item.memory.phase_id or "none"] += 1
    return trace.memory_recall(
        engine.caller,
        tracing.shown_query(text, engine.policy.privacy),
        [to_item(item.memory, item.recall_reason, item.score) for item in items],
        engine.in_force.expanded,
        consulted,
        {space: sum(phases[space].values()) for space in consulted},
        _current_phase(engine, reader, streams),
        {space: dict(sorted(counts.items())) for space, counts in phases.items() if counts}
        if engine.policy.phase.enabled
        else None,
    )


def _current_phase(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> dict[str, Any] | None:
    """The phase of the session that is read, or of the one stream that is."""
    sessions = [s for s in streams if s.address is not None and s.address.space is Space.SESSION]
    only = [streams[0]] if len(streams) == 1 and engine.caller.session is None else []
    stream = next(iter(sessions or only), None)
    if stream is None or not engine.policy.phase.enabled:
        return None
    if stream.phase == 1:
        return {"phase_id": FIRST_PHASE_ID, "phase_name": None, **FIRST_PHASE}
    began = next((phase for phase in reversed(reader.phases(stream)) if phase.number == stream.phase), None)
    return {
        "phase_id": phase_id(stream.phase),
        "phase_name": began.name if began else None,
        "phase_started_at": began.started_tick if began else None,
        "phase_reason": began.reason if began else None,
    }


def _check(text: Any, filters: Any, top_k: Any, budget_tokens: int | None) -> None:
    if not isinstance(text, str):
        raise BadInput("must be text.", field="query", hint="Say what to look for, in plain words.")
    if not text.strip():
        raise BadInput("is empty; say what to look for.", field="query")
    if filters is not None and not isinstance(filters, Mapping):
        raise BadInput("must be names with values.", field="filters", hint='Such as {"category": "tasks"}.')
    check_number("top_k", top_k, 1, MAX_TOP_K)
    if budget_tokens is not None:
        check_number("budget_tokens", budget_tokens, 1)


def _check_shares(**shares: float | None) -> None:
    for name, value in shares.items():
        if value is not None and not (
            isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
        ):
            raise BadInput("must be between 0 and 1.", field=name)
