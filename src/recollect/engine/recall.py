"""Answering a query: access first, then the text index, then the best that may be seen."""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from recollect.engine import operations
from recollect.engine.assemble import to_memory
from recollect.engine.context import Engine
from recollect.engine.reading import readable_streams, scopes_for
from recollect.model.caller import Caller
from recollect.model.errors import BadInput
from recollect.model.operation import Node, Op
from recollect.model.receipt import Recall, Recalled
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.model.vocabulary import KIND_CLASS, Authority, Space
from recollect.rules.ranking import TextStatistics, bm25, inverse_frequency, plan_reading, rarest_first
from recollect.rules.text import terms
from recollect.stores.protocol import Posting, Reader, Selection, Stored, Stream

CHUNK = 64
"""How many of the best-scored memories are checked for visibility at a time."""
SHADOW_MARGIN = 8
"""How many more than asked for are looked at, since some may shadow others."""


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
        scored = _scores(engine, reader, streams, terms(text, engine.policy.text.synonyms))
        found = _best_visible(engine, reader, {s.number: s for s in streams}, scored, top_k)
    items = _shadowed(found, top_k, engine.caller, consulted)
    now = engine.now()
    engine.accesses.note(engine.tenant, [item.memory.id for item in items], now)
    operations.note(engine, operations.queried(engine, owner if streams else None, now))
    return Recall(text, tuple(items))


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
    engine: Engine,
    reader: Reader,
    streams: dict[int, Stream],
    scores: dict[int, dict[int, float]],
    top_k: int,
) -> list[tuple[Stored, float]]:
    """The best-scored memories that may be seen. The store's own query decides which those are."""
    selection = Selection(
        scopes=scopes_for(engine),
        equal={"status": "active"},
        current_phase=engine.policy.phase.recalls_current_only,
        unexpired_at=engine.now(),
    )
    wanted = top_k + SHADOW_MARGIN
    ranked = [(-score, of, number) for of, found in scores.items() for number, score in found.items()]
    heapq.heapify(ranked)
    visible: list[tuple[float, int, int]] = []
    while ranked and len(visible) < wanted:
        chunk = [heapq.heappop(ranked) for _ in range(min(CHUNK, len(ranked)))]
        visible += _visible(reader, streams, chunk, selection)
    return _loaded(reader, streams, visible[:wanted])


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


def _shadowed(
    found: Sequence[tuple[Stored, float]], top_k: int, caller: Caller, order: Sequence[Space]
) -> list[Recalled]:
    """One item per key where spaces or scopes overlap: by authority, then the space's order, then own over shared."""
    groups: dict[tuple[str, str], list[tuple[Stored, float]]] = defaultdict(list)
    for stored, score in found:
        assert stored.body is not None, "an active memory has its content"
        groups[str(KIND_CLASS[stored.body["kind"]]), stored.state.canonical_key.lower()].append((stored, score))
    hidden: dict[str, list[str]] = defaultdict(list)
    gone: set[str] = set()
    for group in groups.values():
        best = min(group, key=lambda pair: _precedence(pair[0], caller.agent, order))[0]
        for stored, _ in group:
            if stored.state.id != best.state.id and (best.stream == stored.stream or _one_person(caller)):
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


def _one_person(caller: Caller) -> bool:
    """Whether all that is read belongs to one principal. The application reads everybody's, and nobody shadows another."""
    return not caller.trusted
