"""Answering a query: access first, then the text index, then the best that may be seen."""

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
    drop_shadowed,
    find_matches,
    is_unsure,
    load_chosen,
    mark_outdated,
    newest_phase_first,
    to_recalled,
    with_counterparts,
)
from recollect.engine.read.meaning import Asked, announce, as_asked
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
    confidence,
    least_relevance,
)
from recollect.rules.trust.borders import only_passed_over, read_refusals
from recollect.stores.protocol import Place, Reader, Selection, Stream

MAX_TOP_K = 1_000
MORE_THAN_HELD = 3
"""How many times as many are looked at if a time is given, since some did not hold then."""
MAX_QUERY_CHARACTERS = 10_000
"""How much of a question is read: what is longer is a document, and its beginning says what it is about."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and what its answer is about. Operators and quotes in the text are words like any other.

    Without an owner, a bound caller's own streams are read, and a trusted caller's query spans the whole tenant;
    ``space`` is one space or several, by default all that the policy has consulted.
    ``categories`` and ``filters`` narrow what is looked at, ``threshold`` (0 to 1) leaves out what has too little to do
    with the text, ``share_of_best`` (0 to 1) what has much less to do with it than the best of them has, ``named`` what
    it does not name: a memory stays if one of its entities' names stands in the text, whole. ``budget_tokens`` leaves out
    what would not fit any more, once the answer is written down in its ``form``. With a ``thread`` the answer
    begins with what changed since that thread last asked; with ``history`` each memory comes with what it said before.
    With ``at``, a time, it is told what held then, whether it was replaced since or not. With ``left_out`` the answer also says
    which of the memories that it looked at it does not tell, and why.
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
    """Refuse what a query does not take, and say what was probably meant."""
    for name in unknown:
        if name == "category":
            hint = "Write categories=[…]."
        elif name in FILTERS:
            hint = f"It is a filter: write filters={{{name!r}: …}}."
        else:
            hint = f"Known: agent, {', '.join(field.name for field in fields(Query) if field.name != 'text')}."
        raise BadInput("there is no such argument.", field=name, hint=hint)


class Answer(NamedTuple):
    """A recall whose events are still to be kept, and the header that it begins with."""

    recall: Recall
    header: ChangeHeader
    kept: tuple[trace.Trace, ...]
    stream: int | None

    def keep(self, engine: Engine, block: Callable[[], tracing.PromptBlock]) -> None:
        """Keep the events, with the block that the prompt got of this answer."""
        tracing.note_block(engine, self.kept[-1], block)
        tracing.keep_later(engine, self.kept, self.stream)


def block_of(recall: Recall, header: ChangeHeader, budget_tokens: int | None) -> tracing.PromptBlock:
    """Return what a prompt gets of a recall: its text."""
    text = recall.text
    return tracing.PromptBlock(text, count_tokens(text), budget_tokens, list_quoted(recall.items, header))


def list_quoted(items: Iterable[Recalled], header: ChangeHeader) -> list[str]:
    """Return the ids of the memories whose words stand in a prompt: of the items, what is told along, and the header."""
    told = [line.memory_id for line in header.lines]
    for item in items:
        told += [item.memory.id, *(one.id for one in item.earlier), *(one.id for one in item.related)]
    return told


def query(engine: Engine, wanted: Query) -> Recall:
    """The memories that answer a question best, best first."""
    found = answer(engine, wanted)
    found.keep(engine, lambda: block_of(found.recall, found.header, wanted.budget_tokens))
    return found.recall


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def answer(engine: Engine, wanted: Query) -> Answer:
    """The same, before anything is kept of it."""
    top_k = _check_wanted(engine, wanted)
    held_when = None if wanted.at is None else check_moment("at", wanted.at)
    asked = as_asked(engine, wanted.text[:MAX_QUERY_CHARACTERS], named_only=wanted.named)
    header = _header(engine, wanted)
    budget = _Budget(_subtract_header(header.text, wanted.budget_tokens), wanted.form)
    consulted = engine.policy.spaces.read_order
    with engine.read() as reader:
        announce(engine, reader, owners_in_reach(engine, wanted.owner), wanted.include_namespaces, asked)
        readable = readable_streams(engine, reader, wanted.owner, wanted.space, wanted.include_namespaces)
        streams = [s for s in readable if s.address is not None and s.address.space in consulted]
        selection = _selection(engine, streams, wanted)
        found = _find_answers(engine, reader, streams, asked, top_k, selection, held_when)
        sure = confidence([one.support for one in found])
        not_sure = wanted.threshold is None and is_unsure(engine, asked, sure) and bool(found)
        chosen, items, no_room = _chosen(engine, reader, wanted, [] if not_sure else found, top_k, budget)
        items = _with_history(engine, reader, items, budget) if wanted.history else items
        items = _with_related(engine, reader, items, chosen, select_within(engine, reader, streams, selection), budget)
        items, too_many = _trim_to_budget(items, budget)
        left_out = _explain_left_out(engine, reader, wanted, found, items, not_sure) if wanted.left_out else ()
        refusals = read_refusals(engine.caller, wanted.owner, parse_spaces(wanted.space), consulted)
        open_ones = [space for space, refusal in refusals.items() if refusal is None]
        event = recall_event(engine, reader, wanted.text, items, streams, open_ones)
    events = (*(tracing.border_check(engine, "read", *check) for check in refusals.items()), event)
    _note(engine, wanted, streams, items)
    kept = events if checks_are_kept(engine, wanted.owner, parse_spaces(wanted.space), refusals) else (event,)
    why = NOT_SURE if not_sure else BELOW_THRESHOLD if found else NOTHING_MATCHES
    said = (tuple(items), events, header.text, no_room + too_many, asked.notice, sure, why, left_out)
    return Answer(Recall(wanted.text, *said), header, kept, streams[0].number if len(streams) == 1 else None)


def _header(engine: Engine, wanted: Query) -> ChangeHeader:
    """What changed since the thread last asked, in at most half of the budget: the question is to be answered, too."""
    if wanted.thread is None:
        return ChangeHeader(0, 0)
    budget = None if wanted.budget_tokens is None else wanted.budget_tokens - count_tokens(_frame(wanted.form))
    return change_header(
        engine,
        thread=wanted.thread,
        owner=wanted.owner,
        space=wanted.space,
        include_namespaces=wanted.include_namespaces,
        budget_tokens=None if budget is None else max(0, budget // 2),
    )


def _subtract_header(header: str, budget_tokens: int | None) -> int | None:
    return budget_tokens - count_tokens(f"{header}\n") if budget_tokens is not None and header else budget_tokens


def _selection(engine: Engine, streams: Sequence[Stream], wanted: Query) -> Selection:
    """What the request narrows the query to. Without a phase of its own it is what the policy has recalled."""
    asked = dict(wanted.filters or {})
    if wanted.categories is not None:
        if "category" in asked:
            raise BadInput("are given twice.", field="categories", hint="Leave filters.category out.")
        asked["category"] = check_categories(engine, "categories", wanted.categories)
    if asked.get("kind") is None and not names_procedures(asked.get("category")):
        asked["kind"] = ORDINARY_KINDS
    phase, closed = asked.get("phase"), engine.phases_closed
    if phase is None and engine.policy.phase.recalls_current_only:
        asked["phase"] = "current"
    if phase == "any" and closed:
        hint = "The policy's phase.allow_cross_phase_recall says so."
        raise NotAllowed("this caller recalls the current phase alone.", field="phase", hint=hint)
    found = selection_of(engine, streams, asked, "active")
    return replace(found, current_phase=True) if closed else found


def _find_answers(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    asked: Asked,
    top_k: int,
    selection: Selection,
    held_when: str | None,
) -> list[Ranked]:
    """What answers it, one item a concept, in the order in which it is told; a few more than ``top_k``."""
    top_k = top_k if held_when is None else min(top_k * MORE_THAN_HELD, MAX_TOP_K)
    one_person = not engine.caller.trusted
    found = find_matches(engine, reader, streams, asked, top_k, selection)
    found = with_counterparts(engine, reader, streams, found, selection, one_person=one_person)
    found = newest_phase_first(engine, found)
    found = drop_shadowed(engine, found, engine.policy.spaces.read_order, one_person=one_person)
    if held_when is not None:
        return find_held_at(engine, reader, found, held_when)
    return with_what_held(engine, reader, asked.text, found)


def _frame(form: Form) -> str:
    """Return what stands around the items of an answer of that form."""
    return envelope([]) if form == "text" else as_written([], form)


class _Budget(NamedTuple):
    """How many tokens the answer may take, and the form in which it is written down."""

    tokens: int | None
    form: Form

    def room(self, told: Sequence[Recalled] = ()) -> Room:
        """What is left once these are told."""
        written = [_frame(self.form), *(item.written(self.form) for item in told)] if self.tokens else []
        return Room(self.tokens, count_tokens, written)


def _chosen(
    engine: Engine, reader: Reader, wanted: Query, found: Sequence[Ranked], top_k: int, budget: _Budget
) -> tuple[list[Ranked], list[Recalled], int]:
    """Those that have enough to do with it and fit, what they say, and how many had no room.

    Without a budget no others are loaded.
    """
    least = least_relevance((one.relevance for one in found), wanted.threshold, wanted.share_of_best)
    about = [one for one in found if one.relevance >= least]
    at_hand = {} if budget.tokens is None else load_chosen(engine, reader, about)
    about = about if budget.tokens is None else [one for one in about if one.place in at_hand]  # the rest is damaged
    room = budget.room()

    def fits(one: Ranked) -> bool:
        return budget.tokens is None or room.takes(to_recalled(one, at_hand[one.place]).written(budget.form))

    chosen, no_room = best_within(about, top_k, lambda one: one.row.category, share_of(engine), fits)
    items = mark_outdated(engine, chosen, load_chosen(engine, reader, chosen, at_hand))
    return [one for one, _ in items], [item for _, item in items], no_room


MAX_LEFT_OUT = 25
"""How many of the memories that an answer leaves out it names."""


def _explain_left_out(
    engine: Engine, reader: Reader, wanted: Query, found: Sequence[Ranked], items: Sequence[Recalled], not_sure: bool
) -> tuple[LeftOut, ...]:
    """Return what was looked at and is not told, best first, each with the reason, which the order of the steps decides."""
    told = {item.memory.id for item in items}
    least = least_relevance((one.relevance for one in found), wanted.threshold, wanted.share_of_best)
    top_k = wanted.top_k or engine.policy.recall.top_k

    def reason(one: Ranked) -> str:
        if not_sure:
            return "not_sure"
        if one.relevance < least:
            return "below_threshold"
        return "beyond_top_k" if len(items) >= top_k else "no_room"

    missing = [one for one in found if one.id not in told][:MAX_LEFT_OUT]
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
    """Of how many memories of a category an answer may consist."""

    def share(name: str) -> int | None:
        category = engine.policy.categories.known(name)
        return category.rag_length if category is not None and category.context == "rag" else None

    return share


MAX_EARLIER = 5
"""How many older versions of each memory are told."""


def _with_history(engine: Engine, reader: Reader, items: Sequence[Recalled], budget: _Budget) -> list[Recalled]:
    """The same with what each said before, as far as it may be seen, was not erased, and the budget has room for it."""
    earlier = _earlier(engine, reader, items)
    room = budget.room(items)
    return [
        replace(item, earlier=tuple(one for one in earlier[item.memory.id] if room.takes(_along(one, budget.form))))
        for item in items
    ]


def _along(one: Earlier | Related, form: Form) -> str:
    """What is told along with a memory, as it stands in an answer of that form."""
    if form == "text":
        return one.line
    return visible_json(canonical_json(one.line.strip() if form == "bullets" else one.to_dict()))


def _earlier(engine: Engine, reader: Reader, items: Sequence[Recalled]) -> dict[str, list[Earlier]]:
    earlier: dict[str, list[Earlier]] = {item.memory.id: [] for item in items}
    older = {item.memory.id: item.memory.supersedes_id for item in items}
    phases = {item.memory.id: item.memory.phase_id for item in items}
    for _ in range(MAX_EARLIER):
        found = reader.by_ids(engine.tenant, [id for id in older.values() if id])
        for newest, id in list(older.items()):
            stored = found.get(id or "")
            older[newest] = stored.state.supersedes_id if stored else None
            if stored and stored.body and engine.recalls_version(stored, phases[newest]):
                said = Earlier(stored.state.id, stored.state.version, stored.body["content"], stored.body["created_at"])
                earlier[newest].append(said)
    return earlier


def _with_related(
    engine: Engine, reader: Reader, items: Sequence[Recalled], chosen: Sequence[Ranked], seen: Seen, budget: _Budget
) -> list[Recalled]:
    """The same with what they have to do with: the strongest relations, within what the budget and their categories leave."""
    most = engine.policy.relations.bullets
    if not items or not most:
        return list(items)
    along: dict[Place, list[Related]] = defaultdict(list)
    room, shares = budget.room(items), Shares(share_of(engine))
    for item in items:
        shares.use(item.memory.category)
    known = {one.place: one.relations for one in chosen if one.relations is not None}
    found = find_related(engine, reader, [one.place for one in chosen], seen, known, apart_from=MAY_UPDATE)
    for place, related in found[:most]:
        if not shares.is_used_up(related.category) and room.takes(_along(related, budget.form)):
            shares.use(related.category)
            along[place].append(related)
    if not along:
        return list(items)
    return [replace(item, related=tuple(along[one.place])) for item, one in zip(items, chosen, strict=True)]


def _trim_to_budget(items: list[Recalled], budget: _Budget) -> tuple[list[Recalled], int]:
    """As many as the budget really has room for, and how many of them it has none for.

    What was chosen piece by piece may take a token or two more once it stands together.
    """
    left, whole = list(items), len(items)
    while left and budget.tokens is not None and count_tokens(as_written(left, budget.form)) > budget.tokens:
        last = left.pop()
        along = [name for name in ("related", "earlier") if getattr(last, name)]
        left += [replace(last, **{name: getattr(last, name)[:-1]}) for name in along[:1]]
    return left, whole - len(left)


def _note(engine: Engine, wanted: Query, streams: Sequence[Stream], items: Sequence[Recalled]) -> None:
    """What was told counts as used, and the query is counted."""
    now = engine.now()
    engine.accesses.note(engine.tenant, [item.memory.id for item in items], now)
    operations.note(engine, operations.describe_query(engine, wanted.owner if streams else None, now))


def checks_are_kept(
    engine: Engine, owner: str | None, spaces: Sequence[Space] | None, refusals: Mapping[Space, str | None]
) -> bool:
    """Whether the checks of the borders are kept with the traces, and not only told to the caller."""
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
    """The event that says what came, from where, and why."""
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        phases[item.memory.space][item.memory.phase_id or "none"] += 1
    return trace.memory_recall(
        engine.caller,
        tracing.redact_query(text, engine.policy.privacy),
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


def _check_wanted(engine: Engine, wanted: Query) -> int:
    """How many are asked for, once everything that was given makes sense."""
    if not isinstance(wanted.text, str):
        raise BadInput("must be text.", field="query", hint="Say what to look for, in plain words.")
    if not wanted.text.strip():
        raise BadInput("is empty.", field="query", hint="Say what to look for, in plain words.")
    if wanted.filters is not None and not isinstance(wanted.filters, Mapping):
        raise BadInput("must be names with values.", field="filters", hint='Such as {"category": "tasks"}.')
    top_k = engine.policy.recall.top_k if wanted.top_k is None else wanted.top_k
    check_number("top_k", top_k, 1, MAX_TOP_K)
    if wanted.budget_tokens is not None:
        check_number("budget_tokens", wanted.budget_tokens, 1)
    if wanted.form not in get_args(Form):
        raise BadInput(f"there is no form {wanted.form!r}.", field="form", hint=f"One of: {', '.join(get_args(Form))}.")
    _check_share("threshold", wanted.threshold)
    _check_share("share_of_best", wanted.share_of_best)
    if not isinstance(wanted.named, bool):
        raise BadInput("must be true or false.", field="named", hint="Leave it out for false.")
    if wanted.thread is not None:
        _selection(engine, (), wanted)  # what is refused must not use up what changed for the thread
    return top_k


def _check_share(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value <= 1):
        raise BadInput("must be between 0 and 1.", field=name, hint="Such as 0.5.")
