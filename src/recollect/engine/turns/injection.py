"""Build blocks for prompts: the standing memories, the memories for a question, and a second recall during a turn."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from recollect.embed import static
from recollect.engine import operations, tracing
from recollect.engine.arguments import check_names, check_number, check_sought, check_word
from recollect.engine.context import Engine
from recollect.engine.read.assemble import as_seen
from recollect.engine.read.filters import selection_of, whole_categories
from recollect.engine.read.matching import drop_shadowed, rank_unasked, to_recalled
from recollect.engine.read.reading import readable_streams
from recollect.engine.read.recall import Query, answer, checks_are_kept, list_quoted, query, recall_event
from recollect.engine.turns.change_header import change_header
from recollect.model.caller import Right
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput
from recollect.model.operation import Node, Op, OpStatus
from recollect.model.receipt import Recall, Recalled
from recollect.model.vocabulary import Authority, Kind, Space, Tier
from recollect.rules.gates.procedures import ORDINARY_KINDS
from recollect.rules.prompt.change_header import ChangeHeader
from recollect.rules.prompt.injection import (
    ALWAYS,
    RELEVANT,
    Block,
    CountTokens,
    block,
    block_text,
    canon_first,
    most_lines,
    sort_standing,
)
from recollect.rules.trust.borders import read_refusals
from recollect.stores.protocol import Reader, Selection, Stored, Stream

WEIGHED_ANYWAY = 1_000
"""From how many memories of a sort a snapshot chooses, however small its budget."""
MAX_ITEMS = 1_000
MAX_BUDGET_TOKENS = 1_000_000
_STANDING_KINDS = tuple(kind for kind in ORDINARY_KINDS if kind is not Kind.SHORT_TERM)
_HAS_A_TOPIC = ("topic_id", ">=", "")
_IMPORTANCES = range(5, 0, -1)
_WHATEVER_IS_ASKED = ("importance",)


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def snapshot_block(
    engine: Engine,
    *,
    owner: str | None = None,
    spaces: Sequence[str] | None = None,
    scopes: Sequence[str] | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> Block:
    """Return the standing memories: canon, registers with a topic, and the categories that the policy puts in every
    context.

    With an owner they are that owner's and the system's; with ``scopes``, only shared ones or those of an agent.
    """
    where = _Where(owner, _spaces(engine, spaces), _scopes(scopes), include_namespaces)
    most = max(WEIGHED_ANYWAY, most_lines(_budget(engine, budget_tokens), count_tokens or static.count_tokens))
    return _build_block(engine, ALWAYS, where, partial(_choose_standing, most=most), budget_tokens, count_tokens)


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def newest_block(
    engine: Engine,
    *,
    scopes: Sequence[str] | None = None,
    top_k: int | None = None,
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> Block:
    """Return a block of at most ``top_k`` memories without a question, canon first, then the newest."""
    most = _item_limit(engine, top_k)
    where = _Where(None, engine.policy.spaces.read_order, _scopes(scopes), ("prod",))
    return _build_block(engine, RELEVANT, where, partial(_newest, most=most), budget_tokens, count_tokens)


class _Where(NamedTuple):
    """What a block without a question covers."""

    owner: str | None
    order: tuple[Space, ...]
    scopes: dict[str, Any]
    """The filter by scope; empty for all scopes."""
    include_namespaces: Sequence[str]


class _Chosen(NamedTuple):
    """The memories for a block, in order, and how many more there are."""

    items: list[Recalled]
    beyond: int = 0


_Choice = Callable[[Engine, Reader, Sequence[Stream], _Where], _Chosen]


def _build_block(
    engine: Engine,
    heading: str,
    where: _Where,
    choice: _Choice,
    budget_tokens: int | None,
    count_tokens: CountTokens | None,
) -> Block:
    """Build a block like any other read without a question: traced, recorded, and its memories counted as used."""
    budget = _budget(engine, budget_tokens)
    with engine.read() as reader:
        streams = _streams(engine, reader, where)
        items, beyond = choice(engine, reader, streams, where)
        built = _block(engine, heading, items, budget, count_tokens, beyond)
        recalled = [item for item in items if item.memory.id in built.items]
        refusals = read_refusals(engine.caller, where.owner, where.order, where.order)
        consulted_spaces = [space for space, refusal in refusals.items() if refusal is None]
        event = recall_event(engine, reader, "", recalled, streams, consulted_spaces)
    events = (*(tracing.border_check(engine, "read", *check) for check in refusals.items()), event)
    now = engine.now()
    engine.accesses.note(engine.tenant, list(built.items), now)
    operations.note(engine, operations.describe_query(engine, where.owner if streams else None, now))
    tracing.note_block(engine, event, lambda: tracing.PromptBlock(built.text, built.tokens, budget, built.items))
    kept = events if checks_are_kept(engine, where.owner, where.order, refusals) else (event,)
    tracing.keep_later(engine, kept, streams[0].number if len(streams) == 1 else None)
    return replace(built, events=events)


def memory_block(
    engine: Engine,
    request: Query,
    *,
    top_k: int | None = None,
    budget_tokens: int | None = None,
    besides: Block | None = None,
    count_tokens: CountTokens | None = None,
) -> Block:
    """Return a block of at most ``top_k`` memories that answer a question best, canon first, no category beyond its
    share.

    Memories in ``besides`` (the snapshot of the same prompt) are left out. With a ``thread`` the block begins with what
    changed since that thread last asked, in at most half of the budget.
    """
    most = _item_limit(engine, top_k)
    budget = _budget(engine, budget_tokens)
    known = frozenset(besides.items if besides is not None else ())
    found = answer(engine, replace(request, top_k=min(MAX_ITEMS, most + len(known)), thread=None))
    fresh = [item for item in found.recall.items if item.memory.id not in known][:most]
    header = _header(engine, request, budget, count_tokens or static.count_tokens)
    built = _block(engine, RELEVANT, canon_first(fresh), budget, count_tokens, header=header.text.splitlines())
    quotes = list_quoted(found.recall.items, header)
    found.keep(engine, lambda: tracing.PromptBlock(built.text, built.tokens, budget, quotes))
    return replace(built, events=found.recall.events)


def _header(engine: Engine, request: Query, budget_tokens: int, count: CountTokens) -> ChangeHeader:
    """Return what changed since the thread last asked, if it fits into half the budget."""
    if request.thread is None:
        return ChangeHeader(0, 0)
    frame = count(block_text(RELEVANT, []))

    def fits(header: ChangeHeader) -> bool:
        lines = header.text.splitlines()
        return not lines or count(block_text(RELEVANT, lines)) <= frame + (budget_tokens - frame) // 2

    return change_header(
        engine,
        thread=request.thread,
        owner=request.owner,
        space=request.space,
        include_namespaces=request.include_namespaces,
        fits=fits,
    )


def _block(
    engine: Engine,
    heading: str,
    items: Sequence[Recalled],
    budget_tokens: int,
    count_tokens: CountTokens | None,
    beyond: int = 0,
    header: Sequence[str] = (),
) -> Block:
    memories = [item.memory for item in items]
    outdated = frozenset(item.memory.id for item in items if item.outdated_by is not None)
    count, characters = count_tokens or static.count_tokens, engine.policy.injection.item_characters
    share = Tier.REGISTER if heading == ALWAYS else None
    return block(heading, memories, budget_tokens, count, characters, beyond, header, share, outdated)


def _item_limit(engine: Engine, top_k: int | None) -> int:
    if top_k is None:
        return engine.policy.injection.max_items
    return check_number("top_k", top_k, 1, MAX_ITEMS)


def _budget(engine: Engine, budget_tokens: int | None) -> int:
    if budget_tokens is None:
        return engine.policy.injection.budget_tokens
    return check_number("budget_tokens", budget_tokens, 1, MAX_BUDGET_TOKENS)


def _spaces(engine: Engine, spaces: Sequence[str] | None) -> tuple[Space, ...]:
    """Return the spaces to read, in the order of the policy, which limits them."""
    consulted = engine.policy.spaces.read_order
    if spaces is None:
        return consulted
    named = {check_word("spaces", Space, space) for space in check_names("spaces", spaces)}
    return tuple(space for space in consulted if space in named)


def _scopes(scopes: Sequence[str] | None) -> dict[str, Any]:
    return {} if scopes is None else {"scope": check_names("scopes", scopes)}


def _streams(engine: Engine, reader: Reader, where: _Where) -> list[Stream]:
    found = readable_streams(engine, reader, where.owner, None, where.include_namespaces)
    if where.owner is not None:
        found += readable_streams(engine, reader, None, Space.SYSTEM, where.include_namespaces)
    one_each = {stream.number: stream for stream in found}.values()
    return [stream for stream in one_each if stream.address is not None and stream.address.space in where.order]


def _choose_standing(engine: Engine, reader: Reader, streams: Sequence[Stream], where: _Where, most: int) -> _Chosen:
    """Return the memories of a snapshot, one for each key: canon, registers with a topic, and whole categories.

    Canon comes first, then registers, then the rest (see ``sort_standing``); of each sort, as many as could fit.
    """
    found: dict[str, Stored] = {}
    beyond = 0
    for selection in _sorts(engine, streams, where):
        some, more = _select_foremost(engine, reader, selection, most)
        found |= {stored.state.id: stored for stored in some}
        beyond += more
    by_id = {item.memory.id: item for item in _drop_repeated(engine, list(found.values()), where)}
    memories = [item.memory for item in by_id.values()]
    in_order = sort_standing(memories, engine.policy.conflict.authority_order)
    return _Chosen([by_id[memory.id] for memory in in_order], beyond)


def _newest(engine: Engine, reader: Reader, streams: Sequence[Stream], where: _Where, most: int) -> _Chosen:
    """Return the newest memories, canon first, one for each key."""
    if not streams:
        return _Chosen([])
    sorts = (_selection(engine, streams, tier=Tier.CANON, **where.scopes), _selection(engine, streams, **where.scopes))
    found = [
        stored
        for selection in sorts
        for stored in as_seen(engine, reader, reader.select(engine.tenant, selection, most))
    ]
    return _Chosen(canon_first(_drop_repeated(engine, found, where))[:most])


def _drop_repeated(engine: Engine, found: Sequence[Stored], where: _Where) -> list[Recalled]:
    """Return one memory for each key, where spaces or scopes overlap."""
    by_id = {stored.state.id: stored for stored in found}
    one_person = where.owner is not None or not engine.caller.trusted
    shown = drop_shadowed(engine, list(map(rank_unasked, by_id.values())), where.order, one_person=one_person)
    return [replace(to_recalled(ranked, by_id[ranked.id]), recall_reason=_WHATEVER_IS_ASKED) for ranked in shown]


def _sorts(engine: Engine, streams: Sequence[Stream], where: _Where) -> Iterator[Selection]:
    """Yield the selections of canon, of registers with a topic, and of the whole categories that the agent may read."""
    if not streams:
        return
    yield _selection(engine, streams, tier=Tier.CANON, **where.scopes)
    topics = _selection(engine, streams, tier=Tier.REGISTER, **where.scopes)
    yield replace(topics, ranges=(*topics.ranges, _HAS_A_TOPIC))
    if names := whole_categories(engine):
        yield _selection(engine, streams, category=names, **where.scopes)


def _selection(engine: Engine, streams: Sequence[Stream], **filters: Any) -> Selection:
    phase = {"phase": "current"} if engine.policy.phase.recalls_current_only else {}
    return selection_of(engine, streams, {**filters, **phase, "kind": _STANDING_KINDS}, "active")


def _select_foremost(engine: Engine, reader: Reader, selection: Selection, most: int) -> tuple[list[Stored], int]:
    """Return the first memories in the order in which a block shows them, and how many more there are.

    No more are loaded than could fit. They are selected by authority and importance, since a flood of new guesses would
    push out what a person said.
    """
    found = reader.select(engine.tenant, selection, most + 1)
    if len(found) <= most:
        return as_seen(engine, reader, found), 0
    found = []
    for authority, importance in product(Authority, _IMPORTANCES):
        cell = replace(selection, equal={**selection.equal, "authority": authority, "importance": importance})
        found += reader.select(engine.tenant, cell, most - len(found))
        if len(found) == most:
            break
    return as_seen(engine, reader, found), reader.count(engine.tenant, selection) - len(found)


UNSURE = "on_demand:unsure"
SURE = "on_demand:sure_enough"


@dataclass(frozen=True, slots=True)
class OnDemand(Plain):
    """Whether a recall was made, by which rule, and its result; ``text`` is a block for a prompt."""

    asked: bool
    reason: str
    text: str = ""
    recall: Recall | None = None

    def bullets(self) -> list[dict[str, Any]]:
        return self.recall.bullets() if self.recall is not None else []


@dataclass(frozen=True, slots=True)
class OnDemandShare(Plain):
    """In how many turns a recall was made, of those in which it could have been. ``share`` is 0 without turns."""

    turns: int
    asked: int
    share: float


def recall_if_unsure(
    engine: Engine, request: Query, confidence: float, *, budget_tokens: int | None = None
) -> OnDemand:
    """Recall a few memories within a budget if ``confidence`` (0 to 1) is below the policy's threshold.

    Call it once a turn, however sure you are: the share of turns that needed a recall is counted from these calls.
    """
    settings = engine.policy.on_demand
    engine.require(Right.READ, "recall")
    most = settings.budget_tokens  # a call may lower the policy's budget, never raise it
    budget = most if budget_tokens is None else min(most, check_number("budget_tokens", budget_tokens, 1))
    if _check_confidence(confidence) >= settings.confidence_below:
        _note(engine, request.owner, OpStatus.SKIPPED)
        return OnDemand(False, SURE)
    found = query(engine, replace(request, top_k=settings.top_k, budget_tokens=budget))
    _note(engine, request.owner, OpStatus.OK)
    built = _block(engine, RELEVANT, found.items, budget, None)
    return OnDemand(True, UNSURE, built.text, found)


def on_demand_share(engine: Engine, *, since: datetime | str | None = None, user: str | None = None) -> OnDemandShare:
    """Return how often a recall on demand was made, by operational events; a bound caller counts its own user's."""
    counts = {
        count.status: count.count
        for count in operations.ops(engine, by="total", since=since, user=user)
        if (count.node, count.op) == (Node.CONTEXT, Op.CLASSIFY)
    }
    recalls = counts.get(OpStatus.OK, 0)
    turns = recalls + counts.get(OpStatus.SKIPPED, 0)
    return OnDemandShare(turns, recalls, round(recalls / turns, 4) if turns else 0.0)


def _note(engine: Engine, owner: str | None, status: OpStatus) -> None:
    query_event = operations.describe_query(engine, _find_known_owner(engine, owner), engine.now())
    operations.note(engine, query_event._replace(op=Op.CLASSIFY, status=status))


def _find_known_owner(engine: Engine, owner: str | None) -> str | None:
    """Return an owner who has a stream in the store: another name is not recorded, as it may be anything."""
    if owner is None or not engine.caller.trusted:
        return None
    with engine.read(brief=True) as reader:
        return owner if reader.streams_of(engine.tenant, check_sought("owner", owner)) else None


def _check_confidence(confidence: Any) -> float:
    if not isinstance(confidence, int | float) or isinstance(confidence, bool) or not 0 <= confidence <= 1:
        raise BadInput("must be a number between 0 and 1.", field="confidence", hint="1 is sure, 0 has no idea.")
    return float(confidence)
