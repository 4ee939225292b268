"""Blocks for prompts: what is always remembered, and what is remembered about a question.

Both are reads like any other: borders, scopes and the agent's categories hold, the reads are traced, and what is told
counts as used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.embed import tokens
from recollect.engine import operations, tracing
from recollect.engine.arguments import check_names, check_number, check_word
from recollect.engine.context import Engine
from recollect.engine.filters import selection_of
from recollect.engine.links import as_seen
from recollect.engine.matching import as_told, shadowed, unasked
from recollect.engine.reading import readable_streams
from recollect.engine.recall import query, recall_event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Recalled
from recollect.model.vocabulary import Kind, Space, Tier
from recollect.rules.injection import ALWAYS, RELEVANT, Block, CountTokens, block, canon_first, standing_order
from recollect.rules.procedures import ORDINARY_KINDS
from recollect.stores.protocol import Reader, Stored, Stream

MAX_STANDING = 1_000
"""How many memories a snapshot chooses from, the newest: far more than any prompt has room for."""
MAX_ITEMS = 1_000
MAX_BUDGET_TOKENS = 1_000_000
_STANDING_KINDS = tuple(kind for kind in ORDINARY_KINDS if kind is not Kind.SHORT_TERM)
_WHATEVER_IS_ASKED = ("importance",)


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def snapshot_block(
    engine: Engine,
    *,
    owner: str | None = None,
    spaces: Sequence[str] | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    budget_tokens: int | None = None,
    count_tokens: CountTokens | None = None,
) -> Block:
    """Canon, registers that have a topic, and the categories that the policy has in every context, whatever is asked.

    With an owner it is about that owner's memories and the system's, which are everybody's.
    """
    budget = _budget(engine, budget_tokens)
    order = _spaces(engine, spaces)
    with engine.read() as reader:
        streams = _streams(engine, reader, owner, order, include_namespaces)
        items = _standing(engine, reader, streams, order, one_person=owner is not None)
        told = _block(engine, ALWAYS, items, budget, count_tokens)
        recalled = [item for item in items if item.memory.id in told.items]
        event = recall_event(engine, reader, "", recalled, streams, order)
    now = engine.now()
    engine.accesses.note(engine.tenant, list(told.items), now)
    operations.note(engine, operations.queried(engine, owner if streams else None, now))
    tracing.keep_later(engine, (event,), streams[0].number if len(streams) == 1 else None)
    return replace(told, events=(event,))


def memory_block(
    engine: Engine,
    text: str,
    *,
    owner: str | None = None,
    space: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    categories: Sequence[str] | None = None,
    filters: Mapping[str, Any] | None = None,
    max_items: int | None = None,
    budget_tokens: int | None = None,
    besides: Block | None = None,
    count_tokens: CountTokens | None = None,
) -> Block:
    """What is remembered about a text: at most ``max_items``, the best ones, canon first, no category beyond its share.

    What ``besides`` tells already (the snapshot of the same prompt) is not told again.
    """
    settings = engine.policy.injection
    most = settings.max_items if max_items is None else check_number("max_items", max_items, 1, MAX_ITEMS)
    budget = _budget(engine, budget_tokens)
    known = frozenset(besides.items if besides is not None else ())
    found = query(
        engine,
        text,
        owner=owner,
        space=space,
        include_namespaces=include_namespaces,
        categories=categories,
        filters=filters,
        top_k=min(MAX_ITEMS, most + len(known)),
    )
    fresh = [item for item in found.items if item.memory.id not in known][:most]
    return replace(_block(engine, RELEVANT, canon_first(fresh), budget, count_tokens), events=found.events)


def _block(
    engine: Engine, heading: str, items: Sequence[Recalled], budget_tokens: int, count_tokens: CountTokens | None
) -> Block:
    memories = [item.memory for item in items]
    count = count_tokens or tokens.count_tokens
    return block(heading, memories, budget_tokens, count, engine.policy.injection.item_characters)


def _budget(engine: Engine, budget_tokens: int | None) -> int:
    if budget_tokens is None:
        return engine.policy.injection.budget_tokens
    return check_number("budget_tokens", budget_tokens, 1, MAX_BUDGET_TOKENS)


def _spaces(engine: Engine, spaces: Sequence[str] | None) -> tuple[Space, ...]:
    """The spaces to look into, in the order of the policy, which says what is read at all."""
    consulted = engine.policy.spaces.read_order
    if spaces is None:
        return consulted
    asked = {check_word("spaces", Space, space) for space in check_names("spaces", spaces)}
    return tuple(space for space in consulted if space in asked)


def _streams(
    engine: Engine, reader: Reader, owner: str | None, order: Sequence[Space], include_namespaces: Sequence[str]
) -> list[Stream]:
    found = readable_streams(engine, reader, owner, None, include_namespaces)
    if owner is not None:
        found += readable_streams(engine, reader, None, Space.SYSTEM, include_namespaces)
    one_each = {stream.number: stream for stream in found}.values()
    return [stream for stream in one_each if stream.address is not None and stream.address.space in order]


def _standing(
    engine: Engine, reader: Reader, streams: Sequence[Stream], order: Sequence[Space], *, one_person: bool
) -> list[Recalled]:
    """Everything that stands whatever is asked, one of each key, in the order in which it is told."""
    found = {stored.state.id: stored for stored in (*_tiers(engine, reader, streams), *_whole(engine, reader, streams))}
    one_person = one_person or not engine.caller.trusted
    shown = shadowed(list(map(unasked, found.values())), engine.caller.agent, order, one_person=one_person)
    kept = [as_told(one, found[one.id]) for one in shown]
    by_id = {item.memory.id: replace(item, recall_reason=_WHATEVER_IS_ASKED) for item in kept}
    return [by_id[memory.id] for memory in standing_order([item.memory for item in kept])]


def _tiers(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> list[Stored]:
    found = _select(engine, reader, streams, tier=[Tier.CANON, Tier.REGISTER])
    return [
        stored for stored in found if stored.body and (stored.body["tier"] == Tier.CANON or "topic_id" in stored.body)
    ]


def _whole(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> list[Stored]:
    """The categories that the policy has in every context whole, as far as the agent may know of them."""
    known, categories = engine.sight.categories, engine.policy.categories
    whole = [one.name for one in (*categories.system, *categories.custom) if one.context == "all"]
    names = [name for name in whole if known is None or name in known]
    return _select(engine, reader, streams, category=names) if names else []


def _select(engine: Engine, reader: Reader, streams: Sequence[Stream], **filters: Any) -> list[Stored]:
    if not streams:
        return []
    phase = {"phase": "current"} if engine.policy.phase.recalls_current_only else {}
    selection = selection_of(engine, streams, {**filters, **phase, "kind": _STANDING_KINDS}, "active")
    return as_seen(engine, reader, reader.select(engine.tenant, selection, MAX_STANDING))
