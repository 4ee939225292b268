"""Answer a query: check access, search and rank, then choose the best within the budget."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, get_args

from recollect.embed.static import count_tokens
from recollect.engine import operations, tracing
from recollect.engine.arguments import check_moment, check_number
from recollect.engine.context import Engine
from recollect.engine.read.filters import FILTERS, check_categories, selection_of
from recollect.engine.read.matching import (
    default_top_k,
    drop_shadowed,
    find_matches,
    is_unsure,
    load_chosen,
    mark_outdated,
    measure_confidence,
    newest_phase_first,
    to_recalled,
    with_counterparts,
    with_successors,
)
from recollect.engine.read.meaning import PreparedQuestion, announce, prepare_question
from recollect.engine.read.ranking import Ranked
from recollect.engine.read.reading import Spaces, owners_in_reach, parse_spaces, readable_streams
from recollect.engine.read.validity import find_held_at, with_what_held
from recollect.engine.turns.change_header import change_header
from recollect.engine.write.relations import Seen, find_related, select_within
from recollect.model import trace
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.item import to_item
from recollect.model.ledger import FIRST_PHASE, FIRST_PHASE_ID, phase_id
from recollect.model.operation import Node, Op
from recollect.model.receipt import Earlier, Form, LeftOut, Recall, Recalled, Related, as_written
from recollect.model.rendering import envelope, visible_json
from recollect.model.vocabulary import MAY_UPDATE, Space
from recollect.rules.gates.procedures import ORDINARY_KINDS, names_procedures
from recollect.rules.prompt.change_header import ChangeHeader
from recollect.rules.ranking.selection import (
    BELOW_THRESHOLD,
    NOT_SURE,
    NOTHING_MATCHES,
    Room,
    Shares,
    best_within,
    least_relevance,
)
from recollect.rules.trust.borders import only_passed_over, read_refusals
from recollect.stores.protocol import Place, Reader, Selection, Stream

MAX_TOP_K = 1_000
MORE_THAN_HELD = 3
"""How many times more candidates are read if a time is given, since some did not hold then."""
MAX_QUERY_CHARACTERS = 10_000
"""How much of a question is read: a longer text is a document, whose beginning says what it is about."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question and the options of its answer, as :meth:`recollect.Recollect.query` takes them.

    Operators and quotes in the text are plain words. Without an owner, a bound caller's own streams are read, and a trusted
    caller's query covers the whole tenant; without a ``space``, all that the policy consults.
    """

    text: str
    owner: str | None = None
    space: Spaces = None
    include_namespaces: Sequence[str] = ("prod",)
    categories: Sequence[str] | None = None
    filters: Mapping[str, Any] | None = None
    top_k: int | None = None
    budget_tokens: int | None = None
    form: Form = "text"
    threshold: float | None = None
    share_of_best: float | None = None
    named: bool = False
    thread: str | None = None
    history: bool = False
    at: datetime | str | None = None
    left_out: bool = False


def check_arguments(unknown: Iterable[str]) -> None:
    """Raise for an argument that a query does not take, with a hint at the right one."""
    for name in unknown:
        if name == "category":
            hint = "Write categories=[…]."
        elif name in FILTERS:
            hint = f"It is a filter: write filters={{{name!r}: …}}."
        else:
            hint = f"Known: agent, {', '.join(field.name for field in fields(Query) if field.name != 'text')}."
        raise BadInput("there is no such argument.", field=name, hint=hint)


class Answer(NamedTuple):
    """A recall whose events are not stored yet, and its change header."""

    recall: Recall
    header: ChangeHeader
    kept: tuple[trace.Trace, ...]
    stream: int | None

    def keep(self, engine: Engine, block: Callable[[], tracing.PromptBlock]) -> None:
        """Store the events, with the block that the prompt received."""
        tracing.note_block(engine, self.kept[-1], block)
        tracing.keep_later(engine, self.kept, self.stream)


def block_of(recall: Recall, header: ChangeHeader, budget_tokens: int | None) -> tracing.PromptBlock:
    """Return the block that a prompt receives from a recall."""
    text = recall.text
    return tracing.PromptBlock(text, count_tokens(text), budget_tokens, list_quoted(recall.items, header))


def list_quoted(items: Iterable[Recalled], header: ChangeHeader) -> list[str]:
    """Return the ids of the memories whose words appear in a prompt: in the items, with them, and in the header."""
    quoted = [line.memory_id for line in header.lines]
    for item in items:
        quoted += [item.memory.id, *(memory.id for memory in item.earlier), *(memory.id for memory in item.related)]
    return quoted


def query(engine: Engine, request: Query) -> Recall:
    """Return the memories that answer a question best, best first, and store the events."""
    found = answer(engine, request)
    found.keep(engine, lambda: block_of(found.recall, found.header, request.budget_tokens))
    return found.recall


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def answer(engine: Engine, request: Query) -> Answer:
    """Answer a query without storing its events yet."""
    top_k = _check_wanted(engine, request)
    held_when = None if request.at is None else check_moment("at", request.at)
    prepared = prepare_question(engine, request.text[:MAX_QUERY_CHARACTERS], named_only=request.named)
    header = _header(engine, request)
    budget = _Budget(_subtract_header(header.text, request.budget_tokens), request.form)
    consulted = engine.policy.spaces.read_order
    with engine.read() as reader:
        announce(engine, reader, owners_in_reach(engine, request.owner), request.include_namespaces, prepared)
        readable = readable_streams(engine, reader, request.owner, request.space, request.include_namespaces)
        streams = [s for s in readable if s.address is not None and s.address.space in consulted]
        selection = _selection(engine, streams, request)
        found = _find_answers(engine, reader, streams, prepared, top_k, selection, held_when)
        sure = measure_confidence(engine, reader, prepared, found)
        not_sure = request.threshold is None and is_unsure(engine, prepared, sure) and bool(found)
        chosen, items, no_room = _choose(engine, reader, request, [] if not_sure else found, top_k, budget, selection)
        items = _with_history(engine, reader, items, budget) if request.history else items
        items = _with_related(engine, reader, items, chosen, select_within(engine, reader, streams, selection), budget)
        items, too_many = _trim_to_budget(items, budget)
        left_out = _explain_left_out(engine, reader, request, found, items, not_sure) if request.left_out else ()
        refusals = read_refusals(engine.caller, request.owner, parse_spaces(request.space), consulted)
        consulted_spaces = [space for space, refusal in refusals.items() if refusal is None]
        event = recall_event(engine, reader, request.text, items, streams, consulted_spaces)
    events = (*(tracing.border_check(engine, "read", *check) for check in refusals.items()), event)
    _note(engine, request, streams, items)
    kept = events if checks_are_kept(engine, request.owner, parse_spaces(request.space), refusals) else (event,)
    why = NOT_SURE if not_sure else BELOW_THRESHOLD if found else NOTHING_MATCHES
    fields = (tuple(items), events, header.text, no_room + too_many, prepared.notice, sure, why, left_out)
    return Answer(Recall(request.text, *fields), header, kept, streams[0].number if len(streams) == 1 else None)


def _header(engine: Engine, request: Query) -> ChangeHeader:
    """Return what changed since the thread last asked, in at most half of the budget, to leave room for the answer."""
    if request.thread is None:
        return ChangeHeader(0, 0)
    budget = None if request.budget_tokens is None else request.budget_tokens - count_tokens(_frame(request.form))
    return change_header(
        engine,
        thread=request.thread,
        owner=request.owner,
        space=request.space,
        include_namespaces=request.include_namespaces,
        budget_tokens=None if budget is None else max(0, budget // 2),
    )


def _subtract_header(header: str, budget_tokens: int | None) -> int | None:
    return budget_tokens - count_tokens(f"{header}\n") if budget_tokens is not None and header else budget_tokens


def _selection(engine: Engine, streams: Sequence[Stream], request: Query) -> Selection:
    """Return the selection of a query; its phase is the request's, else the policy's."""
    filters = dict(request.filters or {})
    if request.categories is not None:
        if "category" in filters:
            raise BadInput("are given twice.", field="categories", hint="Leave filters.category out.")
        filters["category"] = check_categories(engine, "categories", request.categories)
    if filters.get("kind") is None and not names_procedures(filters.get("category")):
        filters["kind"] = ORDINARY_KINDS
    phase, closed = filters.get("phase"), engine.phases_closed
    if phase is None and engine.policy.phase.recalls_current_only:
        filters["phase"] = "current"
    if phase == "any" and closed:
        hint = "The policy's phase.allow_cross_phase_recall says so."
        raise NotAllowed("this caller recalls the current phase alone.", field="phase", hint=hint)
    found = selection_of(engine, streams, filters, "active")
    return replace(found, current_phase=True) if closed else found


def _find_answers(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    prepared: PreparedQuestion,
    top_k: int,
    selection: Selection,
    held_when: str | None,
) -> list[Ranked]:
    """Return the memories that answer the question in their final order, one per concept, a few more than ``top_k``."""
    top_k = top_k if held_when is None else min(top_k * MORE_THAN_HELD, MAX_TOP_K)
    one_person = not engine.caller.trusted
    found = find_matches(engine, reader, streams, prepared, top_k, selection)
    found = with_counterparts(engine, reader, streams, found, selection, one_person=one_person)
    found = newest_phase_first(engine, found)
    found = drop_shadowed(engine, found, engine.policy.spaces.read_order, one_person=one_person)
    if held_when is not None:
        return find_held_at(engine, reader, found, held_when)
    return with_what_held(engine, reader, prepared.text, found)


def _frame(form: Form) -> str:
    """Return an answer of that form without items."""
    return envelope([]) if form == "text" else as_written([], form)


class _Budget(NamedTuple):
    """The tokens that an answer may take, and the form in which it is written."""

    tokens: int | None
    form: Form

    def room(self, items: Sequence[Recalled] = ()) -> Room:
        """Return the room left after these items."""
        written = [_frame(self.form), *(item.written(self.form) for item in items)] if self.tokens else []
        return Room(self.tokens, count_tokens, written)


def _choose(
    engine: Engine,
    reader: Reader,
    request: Query,
    found: Sequence[Ranked],
    top_k: int,
    budget: _Budget,
    selection: Selection,
) -> tuple[list[Ranked], list[Recalled], int]:
    """Return the relevant candidates that fit, their items, and how many had no room.

    Without a budget only the chosen ones are loaded.
    """
    least = least_relevance((candidate.relevance for candidate in found), request.threshold, request.share_of_best)
    about = [candidate for candidate in found if candidate.relevance >= least]
    at_hand = {} if budget.tokens is None else load_chosen(engine, reader, about)
    about = about if budget.tokens is None else [one for one in about if one.place in at_hand]  # the rest is damaged
    room = budget.room()

    def fits(candidate: Ranked) -> bool:
        return budget.tokens is None or room.takes(
            to_recalled(candidate, at_hand[candidate.place]).written(budget.form)
        )

    chosen, no_room = best_within(about, top_k, lambda candidate: candidate.row.category, share_of(engine), fits)
    if request.at is None:  # else the answer is what held then, outdated since or not
        chosen = with_successors(engine, reader, chosen, selection)[:top_k]
    at_hand = load_chosen(engine, reader, chosen, at_hand)
    items = mark_outdated(engine, chosen, at_hand)
    return [candidate for candidate, _ in items], [item for _, item in items], no_room


MAX_LEFT_OUT = 25
"""The most left-out memories that an answer lists."""


def _explain_left_out(
    engine: Engine, reader: Reader, request: Query, found: Sequence[Ranked], items: Sequence[Recalled], not_sure: bool
) -> tuple[LeftOut, ...]:
    """Return the candidates that are not in the answer, best first, each with the first reason that applies."""
    shown = {item.memory.id for item in items}
    least = least_relevance((candidate.relevance for candidate in found), request.threshold, request.share_of_best)
    top_k = request.top_k or default_top_k(engine, request.text, request.owner)

    def reason(candidate: Ranked) -> str:
        if not_sure:
            return "not_sure"
        if candidate.relevance < least:
            return "below_threshold"
        return "beyond_top_k" if len(items) >= top_k else "no_room"

    missing = [candidate for candidate in found if candidate.id not in shown][:MAX_LEFT_OUT]
    at_hand = load_chosen(engine, reader, missing)
    others = [
        LeftOut(one.id, memory["content"], reason(one), one.score, one.relevance)
        for one in missing
        if one.place in at_hand and (memory := at_hand[one.place].body) is not None
    ]
    hidden = reader.by_ids(engine.tenant, sorted({id for one in found for id in one.shadowed}))
    shadows = [LeftOut(id, one.body["content"], "shadowed") for id, one in hidden.items() if one.body is not None]
    return tuple([*shadows, *others][:MAX_LEFT_OUT])


def share_of(engine: Engine) -> Callable[[str], int | None]:
    """Return a function from a category to the most memories that an answer may have of it."""

    def share(name: str) -> int | None:
        category = engine.policy.categories.known(name)
        return category.rag_length if category is not None and category.context == "rag" else None

    return share


MAX_EARLIER = 5
"""The most older versions that come with a memory."""


def _with_history(engine: Engine, reader: Reader, items: Sequence[Recalled], budget: _Budget) -> list[Recalled]:
    """Add to each item its earlier versions that may be seen, were not erased, and fit the budget."""
    earlier = _read_earlier(engine, reader, items)
    room = budget.room(items)
    return [
        replace(
            item,
            earlier=tuple(
                version for version in earlier[item.memory.id] if room.takes(_render_along(version, budget.form))
            ),
        )
        for item in items
    ]


def _render_along(related: Earlier | Related, form: Form) -> str:
    """Return the text of an earlier version or a relation in an answer of that form."""
    if form == "text":
        return related.line
    return visible_json(canonical_json(related.line.strip() if form == "bullets" else related.to_dict()))


def _read_earlier(engine: Engine, reader: Reader, items: Sequence[Recalled]) -> dict[str, list[Earlier]]:
    earlier: dict[str, list[Earlier]] = {item.memory.id: [] for item in items}
    older = {item.memory.id: item.memory.supersedes_id for item in items}
    phases = {item.memory.id: item.memory.phase_id for item in items}
    for _ in range(MAX_EARLIER):
        found = reader.by_ids(engine.tenant, [id for id in older.values() if id])
        for newest, id in list(older.items()):
            stored = found.get(id or "")
            older[newest] = stored.state.supersedes_id if stored else None
            if stored and stored.body and engine.recalls_version(stored, phases[newest]):
                version = Earlier(
                    stored.state.id, stored.state.version, stored.body["content"], stored.body["created_at"]
                )
                earlier[newest].append(version)
    return earlier


def _with_related(
    engine: Engine, reader: Reader, items: Sequence[Recalled], chosen: Sequence[Ranked], seen: Seen, budget: _Budget
) -> list[Recalled]:
    """Add to the items their strongest relations, within the budget and the shares of their categories."""
    most = engine.policy.relations.bullets
    if not items or not most:
        return list(items)
    along: dict[Place, list[Related]] = defaultdict(list)
    room, shares = budget.room(items), Shares(share_of(engine))
    for item in items:
        shares.use(item.memory.category)
    known = {one.place: one.relations or () for one in chosen}  # the best ones' were read to rank them
    found = find_related(engine, reader, [one.place for one in chosen], seen, known, apart_from=MAY_UPDATE)
    for place, related in found[:most]:
        if not shares.is_used_up(related.category) and room.takes(_render_along(related, budget.form)):
            shares.use(related.category)
            along[place].append(related)
    if not along:
        return list(items)
    return [replace(item, related=tuple(along[one.place])) for item, one in zip(items, chosen, strict=True)]


def _trim_to_budget(items: list[Recalled], budget: _Budget) -> tuple[list[Recalled], int]:
    """Return as many items as the budget holds, and how many it does not hold.

    Items chosen one by one may take a token or two more once they are joined.
    """
    left, whole = list(items), len(items)
    while left and budget.tokens is not None and count_tokens(as_written(left, budget.form)) > budget.tokens:
        last = left.pop()
        along = [name for name in ("related", "earlier") if getattr(last, name)]
        left += [replace(last, **{name: getattr(last, name)[:-1]}) for name in along[:1]]
    return left, whole - len(left)


def _note(engine: Engine, request: Query, streams: Sequence[Stream], items: Sequence[Recalled]) -> None:
    """Count the recalled memories as used, and record the query."""
    now = engine.now()
    engine.accesses.note(engine.tenant, [item.memory.id for item in items], now)
    operations.note(engine, operations.describe_query(engine, request.owner if streams else None, now))


def checks_are_kept(
    engine: Engine, owner: str | None, spaces: Sequence[Space] | None, refusals: Mapping[Space, str | None]
) -> bool:
    """Return whether the border checks are stored with the traces, besides being returned to the caller."""
    passed_over = only_passed_over(engine.caller, owner, spaces, refusals)
    return engine.policy.traces.keep == "all" or not passed_over


def recall_event(
    engine: Engine,
    reader: Reader,
    text: str,
    items: Sequence[Recalled],
    streams: Sequence[Stream],
    consulted: Sequence[Space],
) -> trace.Trace:
    """Return the event of a recall: its items, their spaces and the reasons."""
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        phases[item.memory.space][item.memory.phase_id or "none"] += 1
    return trace.memory_recall(
        engine.caller,
        tracing.redact_query(text[:MAX_QUERY_CHARACTERS], engine.policy.privacy),
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
    """Return the phase of the session that is read, or of the only stream."""
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


def _check_wanted(engine: Engine, request: Query) -> int:
    """Return ``top_k`` after checking every field of a query."""
    if not isinstance(request.text, str):
        raise BadInput("must be text.", field="query", hint="Say what to look for, in plain words.")
    if not request.text.strip():
        raise BadInput("is empty.", field="query", hint="Say what to look for, in plain words.")
    if request.filters is not None and not isinstance(request.filters, Mapping):
        raise BadInput("must be names with values.", field="filters", hint='Such as {"category": "tasks"}.')
    top_k = default_top_k(engine, request.text, request.owner) if request.top_k is None else request.top_k
    check_number("top_k", top_k, 1, MAX_TOP_K)
    if request.budget_tokens is not None:
        check_number("budget_tokens", request.budget_tokens, 1)
    if request.form not in get_args(Form):
        raise BadInput(
            f"there is no form {request.form!r}.", field="form", hint=f"One of: {', '.join(get_args(Form))}."
        )
    _check_share("threshold", request.threshold)
    _check_share("share_of_best", request.share_of_best)
    if not isinstance(request.named, bool):
        raise BadInput("must be true or false.", field="named", hint="Leave it out for false.")
    if request.thread is not None:
        _selection(engine, (), request)  # a refused query must not advance the thread's cursor
    return top_k


def _check_share(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value <= 1):
        raise BadInput("must be between 0 and 1.", field=name, hint="Such as 0.5.")
