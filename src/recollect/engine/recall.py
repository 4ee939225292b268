"""Answering a query: access first, then the text index, then the best that may be seen."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.engine import operations, tracing
from recollect.engine.assemble import to_memory
from recollect.engine.context import Engine
from recollect.engine.reading import readable_streams
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.errors import BadInput
from recollect.model.item import FIRST_PHASE, to_item
from recollect.model.operation import Node, Op
from recollect.model.receipt import Recall, Recalled
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, KindClass, Namespace, Space
from recollect.rules.authority import outranks
from recollect.rules.borders import read_refusal
from recollect.rules.keys import identity
from recollect.rules.ranking import TextStatistics, bm25, inverse_frequency, plan_reading, rarest_first
from recollect.rules.text import terms
from recollect.stores.protocol import Posting, Reader, Selection, Standing, Stored, Stream

CHUNK = 64
"""How many of the best-scored memories are checked for visibility at a time."""
SHADOW_MARGIN = 8
"""How many more than asked for are looked at, since some may shadow others."""
NEARLY_AS_WELL = 0.5
"""The share of the best score from which something that is believed more gets a place before guesses."""


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def query(
    engine: Engine,
    text: str,
    *,
    owner: str | None = None,
    space: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    top_k: int | None = None,
) -> Recall:
    """The memories that answer a text best, best first. Operators and quotes in it are words like any other.

    Without an owner, a bound caller's own streams are read, and a trusted caller's query spans the whole tenant.
    """
    top_k = engine.policy.recall.top_k if top_k is None else top_k
    _check(text, top_k)
    with engine.read() as reader:
        readable = readable_streams(engine, reader, owner, space, include_namespaces)
        consulted = engine.policy.spaces.read_order
        streams = [s for s in readable if s.address is not None and s.address.space in consulted]
        one_person = not engine.caller.trusted
        found = matching(engine, reader, streams, text, top_k)
        found = with_counterparts(engine, reader, streams, found, one_person=one_person)
        found = newest_phase_first(engine, found)
        items = shadowed(found, top_k, engine.caller.agent, consulted, one_person=one_person)
        checks = _border_checks(engine, owner, space)
        event = recall_event(engine, reader, text, items, streams, [s for s, no in checks.items() if no is None])
    events = (*(read_check(engine, *check) for check in checks.items()), event)
    now = engine.now()
    engine.accesses.note(engine.tenant, [item.memory.id for item in items], now)
    operations.note(engine, operations.queried(engine, owner if streams else None, now))
    tracing.keep_later(engine, events, streams[0].number if len(streams) == 1 else None)
    return Recall(text, tuple(items), events)


def _border_checks(engine: Engine, owner: str | None, space: str | None) -> dict[Space, str | None]:
    """Each space that the query is about, in the order in which it is consulted, with the code that closes it."""
    caller, order = engine.caller, engine.policy.spaces.read_order
    asked = [Space(space)] if space is not None else list(order)
    own = {Space.USER: caller.user, Space.SESSION: caller.session, Space.PROJECT: min(caller.projects, default=None)}
    checks: dict[Space, str | None] = {}
    for one in asked:
        name = owner or own.get(one, "default")
        address = Address(caller.tenant, Namespace.PROD, one, name or "")
        checks[one] = read_refusal(caller, address) if one in order else "border:not_in_read_order"
    return checks


def read_check(engine: Engine, space: Space, refusal: str | None) -> trace.Trace:
    """The event of a space that was, or was not, looked into."""
    code = refusal or "border:read_allowed"
    return trace.memory_border_check(
        engine.caller, "read", space, None, refusal is None, code, engine.in_force.expanded
    )


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
        return {"phase_id": "phase-1", "phase_name": None, **FIRST_PHASE}
    began = next((phase for phase in reversed(reader.phases(stream)) if phase.number == stream.phase), None)
    return {
        "phase_id": f"phase-{stream.phase}",
        "phase_name": began.name if began else None,
        "phase_started_at": began.started_tick if began else None,
        "phase_reason": began.reason if began else None,
    }


def matching(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    text: str,
    top_k: int,
    kinds: Sequence[Kind] | None = None,
) -> list[tuple[Stored, float]]:
    """The memories of these streams that match a text best and may be seen, with their scores; a few more than ``top_k``.

    However many guesses match better, some places are kept for what is believed more and matches nearly as well: a flood
    of guesses must not wash away what a person said.
    """
    scored = _scores(engine, reader, streams, terms(text, engine.policy.text.synonyms))
    by_number, selection = {s.number: s for s in streams}, _selection(engine, kinds)
    found = _best_visible(reader, by_number, scored, top_k + SHADOW_MARGIN, selection)
    places = top_k // 2
    if sum(_is_a_guess(stored) for stored, _ in found[:top_k]) <= top_k - places:
        return found
    selection = replace(selection, equal={**selection.equal, "authority": _BELIEVED_MORE})
    floor = found[0][1] * NEARLY_AS_WELL
    believed = [one for one in _best_visible(reader, by_number, scored, places, selection) if one[1] >= floor]
    return _with_places(found, believed, top_k)


def _with_places(
    found: Sequence[tuple[Stored, float]], believed: Sequence[tuple[Stored, float]], top_k: int
) -> list[tuple[Stored, float]]:
    """The same with these among the first ``top_k``, in the places of the guesses that match least."""
    first = {stored.state.id for stored, _ in found[:top_k]}
    late = [one for one in believed if one[0].state.id not in first]
    guesses = [stored.state.id for stored, _ in found[:top_k] if _is_a_guess(stored)]
    out = set(guesses[len(guesses) - len(late) :]) | {stored.state.id for stored, _ in late}
    head = sorted([*(one for one in found[:top_k] if one[0].state.id not in out), *late], key=lambda one: -one[1])
    return [*head, *(one for one in found[top_k:] if one[0].state.id not in out)]


_BELIEVED_MORE = tuple(authority for authority in Authority if authority is not Authority.AI_INFERRED)


def _is_a_guess(stored: Stored) -> bool:
    return stored.state.authority == Authority.AI_INFERRED


def with_counterparts(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    found: Sequence[tuple[Stored, float]],
    *,
    one_person: bool,
) -> list[tuple[Stored, float]]:
    """What was found, each followed by what is believed more of the same concept elsewhere, though its words may not match.

    Without it, somebody could say the same in the words of the question and be told instead.
    """
    by_key: dict[tuple[str, str], list[tuple[Stored, float]]] = defaultdict(list)
    for one in found:
        if (key := _concept(one[0])) is not None:
            by_key[key].append(one)
    more: dict[str, list[tuple[Stored, float]]] = defaultdict(list)
    for stream in streams if by_key else ():
        for other in _holders(engine, reader, stream, by_key):
            for stored, score in by_key[_concept(other) or ("", "")]:
                if (one_person or stored.stream == other.stream) and _outranks(engine, other, stored):
                    more[stored.state.id].append((other, score))
    known = {stored.state.id for stored, _ in found}
    told: dict[str, tuple[Stored, float]] = {}
    for one in found:
        told[one[0].state.id] = one
        told |= {o.state.id: (o, score) for o, score in more[one[0].state.id] if o.state.id not in (*known, *told)}
    return list(told.values())


def _holders(
    engine: Engine, reader: Reader, stream: Stream, by_key: Mapping[tuple[str, str], Sequence[tuple[Stored, float]]]
) -> list[Stored]:
    """The active memories of a stream that have one of these keys and may be seen."""
    selection = _selection(engine, None)
    own = {str((stored.body or {})["scope"]) for group in by_key.values() for stored, _ in group}
    numbers = reader.key_holders(stream, selection.scopes or sorted({"shared", *own}), sorted(by_key))
    seen = reader.visible(stream, numbers, selection) if numbers else set()
    return reader.by_numbers(stream, sorted(seen)) if seen else []


def _concept(stored: Stored) -> tuple[str, str] | None:
    """What it is about, as the database tells concepts apart; an event is about nothing but itself."""
    assert stored.body is not None, "an active memory has its content"
    kind_class = KIND_CLASS[stored.body["kind"]]
    return None if kind_class is KindClass.EVENT else (str(kind_class), identity(stored.state.canonical_key))


def _outranks(engine: Engine, one: Stored, other: Stored) -> bool:
    order = engine.policy.conflict.authority_order
    return outranks(Authority(one.state.authority), Authority(other.state.authority), order)


def newest_phase_first(engine: Engine, found: Sequence[tuple[Stored, float]]) -> list[tuple[Stored, float]]:
    """The best of each phase, the newest phase first, where the policy has earlier phases recalled at all."""
    if not engine.policy.phase.enabled or engine.policy.phase.recalls_current_only:
        return list(found)
    return sorted(found, key=lambda pair: -_phase_number(pair[0]))


def _phase_number(stored: Stored) -> int:
    return int((stored.body or {}).get("phase_id", "phase-1").removeprefix("phase-"))


def standing(
    engine: Engine, reader: Reader, stream: Stream, which: Standing, most: int, kinds: Sequence[Kind] | None = None
) -> list[Stored]:
    """The newest memories of a sort that is read whatever is asked and that may be seen, newest first."""
    numbers = reader.newest(stream, which, most) if most else []
    seen = reader.visible(stream, numbers, _selection(engine, kinds)) if numbers else set()
    found = reader.by_numbers(stream, [number for number in numbers if number in seen]) if seen else []
    return sorted(found, key=lambda stored: -stored.number)


def _selection(engine: Engine, kinds: Sequence[Kind] | None) -> Selection:
    return engine.selecting(
        equal={"status": "active"} | ({} if kinds is None else {"kind": tuple(kinds)}),
        current_phase=engine.policy.phase.recalls_current_only,
        unexpired_at=engine.now(),
    )


def _check(text: str, top_k: int) -> None:
    if not isinstance(text, str) or not text.strip():
        raise BadInput("is empty; say what to look for.", field="query")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_CONTENT_BYTES:
        raise BadInput(f"is longer than {MAX_CONTENT_BYTES:,} bytes.", field="query", hint="Shorten it.")
    if not isinstance(top_k, int) or not 1 <= top_k <= 1_000:
        raise BadInput("must be between 1 and 1,000.", field="top_k")


def _scores(
    engine: Engine, reader: Reader, streams: Sequence[Stream], wanted: Sequence[str]
) -> dict[int, dict[int, float]]:
    """BM25 over the streams taken together, the rarest words first, within the policy's budget of index entries.

    Words beyond the budget are looked up for the best memories only.
    """
    settings = engine.policy.recall
    by_stream = {s.number: reader.term_frequencies(s, sorted(set(wanted))) for s in streams if s.documents}
    totals: dict[str, int] = defaultdict(int)
    for frequencies in by_stream.values():
        for term, count in frequencies.items():
            totals[term] += count
    texts = TextStatistics(sum(s.documents for s in streams), sum(s.words for s in streams))
    scores: dict[int, dict[int, float]] = {s.number: {} for s in streams}
    reading = plan_reading(rarest_first(totals, wanted), totals, settings.max_postings)

    def add_up(stream: Stream, term: str, postings: Sequence[Posting]) -> None:
        idf = inverse_frequency(texts.documents, totals[term])
        bm25(scores[stream.number], postings, idf, texts.mean_length, settings.bm25_k1, settings.bm25_b)

    for stream in streams:
        for term, limit in reading.find:
            if term in by_stream.get(stream.number, ()):
                add_up(stream, term, reader.postings(stream, term, limit))
    best = _best(scores, settings.max_compared) if reading.tell_apart else []
    for stream in streams:
        numbers = [number for _, of, number in best if of == stream.number]
        for term in reading.tell_apart if numbers else ():
            add_up(stream, term, reader.postings_of(stream, term, numbers))
    return scores


def _best(scores: dict[int, dict[int, float]], count: int) -> list[tuple[float, int, int]]:
    """The best-scored memories as ``(score negated, stream, number)``, best first, ties by the older one."""
    ranked = [(-score, of, number) for of, found in scores.items() for number, score in found.items()]
    return heapq.nsmallest(count, ranked)


def _best_visible(
    reader: Reader,
    streams: dict[int, Stream],
    scores: dict[int, dict[int, float]],
    most: int,
    selection: Selection,
) -> list[tuple[Stored, float]]:
    """The best-scored memories that may be seen. The store's own query decides which those are."""
    ranked = [(-score, of, number) for of, found in scores.items() for number, score in found.items()]
    heapq.heapify(ranked)
    visible: list[tuple[float, int, int]] = []
    while ranked and len(visible) < most:
        chunk = [heapq.heappop(ranked) for _ in range(min(CHUNK, len(ranked)))]
        visible += _visible(reader, streams, chunk, selection)
    return _loaded(reader, streams, visible[:most])


def _visible(
    reader: Reader, streams: dict[int, Stream], ranked: Sequence[tuple[float, int, int]], selection: Selection
) -> list[tuple[float, int, int]]:
    seen: set[tuple[int, int]] = set()
    for of in sorted({of for _, of, _ in ranked}):
        numbers = [number for _, stream, number in ranked if stream == of]
        seen |= {(of, number) for number in reader.visible(streams[of], numbers, selection)}
    return [place for place in ranked if place[1:] in seen]


def _loaded(
    reader: Reader, streams: dict[int, Stream], places: Sequence[tuple[float, int, int]]
) -> list[tuple[Stored, float]]:
    found: dict[tuple[int, int], Stored] = {}
    for of in sorted({of for _, of, _ in places}):
        numbers = [number for _, stream, number in places if stream == of]
        found |= {(of, stored.number): stored for stored in reader.by_numbers(streams[of], numbers)}
    return [(found[of, number], -score) for score, of, number in places]


def shadowed(
    found: Sequence[tuple[Stored, float]], top_k: int, agent: str | None, order: Sequence[Space], *, one_person: bool
) -> list[Recalled]:
    """One item per key where spaces or scopes overlap: by authority, then the space's order, then own over shared.

    The application reads everybody's memories, and nobody's shadow another's; ``one_person`` says that all belong to one.
    """
    groups: dict[tuple[str, str], list[tuple[Stored, float]]] = defaultdict(list)
    for stored, score in found:
        assert stored.body is not None, "an active memory has its content"
        groups[str(KIND_CLASS[stored.body["kind"]]), stored.state.canonical_key.lower()].append((stored, score))
    hidden: dict[str, list[str]] = defaultdict(list)
    gone: set[str] = set()
    for group in groups.values():
        best = min(group, key=lambda pair: _precedence(pair[0], agent, order))[0]
        for stored, _ in group:
            if stored.state.id != best.state.id and (best.stream == stored.stream or one_person):
                hidden[best.state.id].append(stored.state.id)
                gone.add(stored.state.id)
    kept = [(stored, score) for stored, score in found if stored.state.id not in gone][:top_k]
    return [
        Recalled(to_memory(stored), round(score, 6), ("matches_query",), tuple(sorted(hidden[stored.state.id])))
        for stored, score in kept
    ]


def _precedence(stored: Stored, agent: str | None, order: Sequence[Space]) -> tuple[int, int, bool, int, int]:
    assert stored.body is not None, "an active memory has its content"
    return (
        list(Authority).index(Authority(stored.state.authority)),
        order.index(stored.body["space"]),
        stored.body["scope"] != agent,
        stored.stream,
        stored.number,
    )
