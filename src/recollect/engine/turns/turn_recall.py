"""Recall for a turn: what changed, rules, facts, whole categories, what matches, and the recent conversation.

Every part is an index lookup with a limit, so the cost does not grow with the store.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from recollect.embed.static import count_tokens
from recollect.engine import operations, tracing
from recollect.engine.arguments import check_number
from recollect.engine.context import Engine
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.filters import whole_categories
from recollect.engine.read.matching import (
    default_top_k,
    drop_shadowed,
    find_matches,
    is_unsure,
    load_chosen,
    mark_outdated,
    measure_confidence,
    newest_phase_first,
    rank_unasked,
    read_standing,
    read_standing_in,
    with_counterparts,
    with_successors,
)
from recollect.engine.read.meaning import PreparedQuestion, announce, prepare_question
from recollect.engine.read.recall import block_of, recall_event, share_of
from recollect.engine.read.validity import with_what_held
from recollect.engine.turns.change_header import announce_glance, glance_at, look_at, read_changes, thread_of
from recollect.engine.turns.exchange import Exchange, as_session
from recollect.model.operation import Node, Op
from recollect.model.receipt import Recall, Recalled, bullet
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.model.vocabulary import Authority, Kind, Space
from recollect.rules.extraction.said import read_discretion
from recollect.rules.gates.classification import by_weight, is_standing_rule
from recollect.rules.prompt.turn_lines import split_parts
from recollect.rules.ranking.selection import NOT_SURE, NOTHING_MATCHES, Room, best_within
from recollect.rules.trust.borders import read_refusal
from recollect.stores.protocol import Later, Reader, Stored, Stream

_SEARCHED = tuple(kind for kind in Kind if kind not in (Kind.SHORT_TERM, Kind.PROCEDURAL))
"""Kinds that are searched: lines of the conversation come by recency, procedures only when asked for."""
MAX_RECALLED = 1_000
MAX_CONVERSATION_BYTES = 32_768
"""The most bytes of the conversation that a turn repeats: one long document must not fill the prompt."""
_LINES_PER_EXCHANGE = 8
"""How many lines of an exchange are read: the person's, the model's, and a few tools'."""


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def recall_for(
    engine: Engine, exchange: Exchange, *, ai_profile: str | None = None, top_k: int | None = None
) -> Recall:
    """Return what the policy has a turn recall. Its events are returned and, where the policy asks, stored."""
    engine = as_session(engine, exchange.session, ai_profile)
    recall, stream = recall_turn(engine, exchange, top_k)
    quotes = stream is not None and read_discretion(exchange.user) is None
    tracing.keep_later(engine, recall.events if quotes else tracing.drop_quotes(recall.events), stream)
    return recall


def recall_turn(engine: Engine, exchange: Exchange, top_k: int | None) -> tuple[Recall, int | None]:
    """Return the recall, and the number of the stream to store its events with: the person's, else the session's."""
    usual = default_top_k(engine, exchange.user, exchange.owner)
    top_k = usual if top_k is None else check_number("top_k", top_k, 1, MAX_RECALLED)
    refusals = _refusals(engine, exchange)
    consulted = [space for space in engine.policy.spaces.read_order if refusals.get(space, "") is None]
    prepared = prepare_question(engine, split_parts(exchange.user, MAX_CONTENT_BYTES)[0])
    addresses = [at for space in consulted if (at := exchange.address(engine.tenant, space)) is not None]
    thread = thread_of(engine, exchange.session, exchange.owner)
    with engine.read() as reader:
        announce_glance(engine, reader, thread)
        announce(engine, reader, [at.owner for at in addresses], sorted({at.namespace for at in addresses}), prepared)
        streams = reader.streams_at(addresses)
        glance = glance_at(engine, reader, thread, streams)
        items, sure = _items(engine, reader, prepared, streams, consulted, top_k)
        if top_k > engine.policy.recall.top_k and usual == top_k:  # the question asks for all that is known
            room = Room(engine.policy.injection.budget_tokens, count_tokens)
            items = [item for item in items if room.takes(bullet(item.memory))]
        event = recall_event(engine, reader, exchange.user, items, streams, consulted)
        look = look_at(engine, reader, glance, streams)
    header = read_changes(engine, thread, lambda reader: reader.streams_at(addresses), taken=look)
    lasting = [item.memory.id for item in items if item.memory.kind is not Kind.SHORT_TERM]
    engine.accesses.note(engine.tenant, lasting, engine.now())
    operations.note(engine, operations.describe_query(engine, exchange.owner if streams else None, engine.now()))
    checks = (tracing.border_check(engine, "read", space, refusal) for space, refusal in refusals.items())
    homes = {s.address.space: s.number for s in streams if s.address is not None}
    why = NOT_SURE if sure else NOTHING_MATCHES
    events = (*checks, event)
    recall = Recall(exchange.user, tuple(items), events, header.text, notice=prepared.notice, confidence=sure, why=why)
    tracing.note_block(engine, event, lambda: block_of(recall, header, None))
    return recall, homes.get(Space.USER, homes.get(Space.SESSION))


def _refusals(engine: Engine, exchange: Exchange) -> dict[Space, str | None]:
    """Return the spaces where the exchange has a stream, in reading order, each with the code of its refusal."""
    order = engine.policy.spaces.read_order
    refusals: dict[Space, str | None] = {}
    for space in (*order, *(space for space in Space if space not in order)):
        address = exchange.address(engine.tenant, space)
        if address is not None:
            refusal = read_refusal(engine.caller, address)
            refusals[space] = refusal if space in order else "border:not_in_read_order"
    return refusals


def _items(
    engine: Engine,
    reader: Reader,
    prepared: PreparedQuestion,
    streams: Sequence[Stream],
    consulted: Sequence[Space],
    top_k: int,
) -> tuple[list[Recalled], float]:
    """Return the matches, then standing rules and facts, then the conversation in order, each once; and the confidence.

    If the confidence that the matches answer the question is too low, they are left out.
    """
    settings = engine.policy.turns
    read_rules = read_standing(engine, reader, streams, "rules", _MARGIN * settings.recalled_rules)
    read_facts = read_standing(engine, reader, streams, "profile", _MARGIN * settings.recalled_facts)
    read_categories = read_standing_in(engine, reader, streams, whole_categories(engine), _MOST_OF_CATEGORIES)
    conversation = _conversation(engine, reader, streams)
    selection = replace(engine.what_is_active(), equal={"status": "active", "kind": _SEARCHED})
    matches = find_matches(engine, reader, streams, prepared, top_k, selection)
    matches = with_counterparts(engine, reader, streams, matches, selection, one_person=True)
    matches = newest_phase_first(engine, matches)
    sure = measure_confidence(engine, reader, prepared, matches)
    matches = [] if is_unsure(engine, prepared, sure) else matches
    rules_found = [one for one in read_rules() if one.body is not None and is_standing_rule(one.body)]
    rules = _most_important(engine, rules_found, settings.recalled_rules)
    facts = _most_important(engine, read_facts(), settings.recalled_facts)
    facts += _with_room(engine, read_categories())
    anyway = {stored.state.id: "importance" for stored in facts} | {stored.state.id: "active_rule" for stored in rules}
    found = {one.id: one for one in matches}
    found |= {stored.state.id: rank_unasked(stored) for stored in (*rules, *facts) if stored.state.id not in found}
    kept = drop_shadowed(engine, list(found.values()), consulted, one_person=True)
    kept = with_what_held(engine, reader, prepared.text, kept)
    matching_ids = {one.id for one in matches}
    others = [one for one in kept if one.id in matching_ids or one.id not in anyway]
    best = best_within(others, top_k, lambda one: one.row.category, share_of(engine), lambda one: True)[0]
    asked_for = {one.id for one in best}
    best = [*best, *(one for one in kept if one.id in anyway and one.id not in asked_for)]
    succeeded = with_successors(engine, reader, best, selection)
    of_question = [one for one in succeeded if one.id in asked_for or one.is_successor][:top_k]
    best = [*of_question, *(one for one in best if one.id not in asked_for)]
    at_hand = load_chosen(engine, reader, best, {(stored.stream, stored.number): stored for stored in (*rules, *facts)})
    items = [item for _, item in mark_outdated(engine, best, at_hand)]
    items = _with_reasons(items, anyway, {one.id for one in (*matches, *others)})
    recent = [Recalled(to_memory(stored), 0.0, ("recency",)) for stored in conversation()]
    return [*items, *recent], sure


def _with_reasons(items: Sequence[Recalled], anyway: Mapping[str, str], matching: Collection[str]) -> list[Recalled]:
    """Return the items with their reasons: standing, matching, or both."""
    return [
        replace(
            item,
            recall_reason=(
                *((anyway[item.memory.id],) if item.memory.id in anyway else ()),
                *(item.recall_reason if item.memory.id in matching else ()),
            ),
        )
        for item in items
    ]


_MOST_OF_CATEGORIES = 200
"""From how many of the newest memories of whole categories the most important are chosen."""
_MARGIN = 4
"""How many times more memories are read than recalled, since the most important need not be the newest."""


def _with_room(engine: Engine, found: Sequence[Stored]) -> list[Stored]:
    """Return the most important memories of whole categories that fit into a block of the policy's size."""
    room = Room(engine.policy.injection.budget_tokens, count_tokens)
    return [s for s in _most_important(engine, found, len(found)) if room.takes(bullet(to_memory(s)))]


def _most_important(engine: Engine, found: Iterable[Stored], most: int) -> list[Stored]:
    """Return the highest authority first, then the most important; ties by reading order, then the newest first."""
    order = engine.policy.conflict.authority_order
    return sorted(found, key=lambda s: by_weight(Authority(s.state.authority), s.state.importance, order))[:most]


def _conversation(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> Later[list[Stored]]:
    """Return the lines still in the window and the summary of earlier ones, oldest first."""
    sessions = [s for s in streams if s.address is not None and s.address.space is Space.SESSION]
    most = (engine.policy.turns.short_term_window + 1) * _LINES_PER_EXCHANGE
    lines = read_standing(engine, reader, sessions, "turns", most)

    def in_order() -> list[Stored]:
        limited = _limit_lines([stored for stored in lines() if _meta(stored).get("part", 1) == 1])
        return sorted(limited, key=lambda stored: ("summary_of" not in _meta(stored), stored.number))

    return in_order


def _limit_lines(lines: Sequence[Stored]) -> list[Stored]:
    """Return the newest lines within the limit, and always the summary."""
    limited, size = [], 0
    for stored in lines:
        size += len((stored.body or {})["content"].encode("utf-8"))
        if size <= MAX_CONVERSATION_BYTES or "summary_of" in _meta(stored):
            limited.append(stored)
    return limited


def _meta(stored: Stored) -> dict[str, object]:
    return dict((stored.body or {}).get("meta", {}))
