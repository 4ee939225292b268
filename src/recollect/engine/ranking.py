"""Ranking: from the words of a question to the memories that answer it best, each with where its score comes from.

Access comes first: only what the caller may see is ever scored, so that nothing invisible lends weight or moves a score.
Everything is bounded: index entries read, candidates compared, contents loaded.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.model.canonical import parse_time
from recollect.model.policy import Ranking
from recollect.model.vocabulary import Authority, KindClass, Source, Space, Tier
from recollect.rules.fusion import (
    BY_TEXT,
    SHORTLIST,
    Evidence,
    Facts,
    Place,
    Scored,
    Weights,
    fuse,
    relevance,
    reread,
    widened,
)
from recollect.rules.newness import LOOKED_AT, newest_first, statement
from recollect.rules.question import Question, read_question
from recollect.rules.ranking import TextStatistics, bm25, inverse_frequency, plan_reading, rarest_first
from recollect.stores.protocol import Contender, Posting, Reader, Selection, Stored, Stream

NEARBY = 0.3
"""How much of the best match's words a turn must be lent by its neighbours to be told without a word of its own."""
CHUNK = 64
"""How many of the best-scored memories are checked for visibility at a time."""


class Ranked(NamedTuple):
    """A memory that answers the question: its score, what makes it up, and how sure it is to be about it at all."""

    stored: Stored
    score: float
    relevance: float
    words: float
    """Its score by its own words alone, which can be compared between rankings of the same question."""
    features: Mapping[str, float]

    @property
    def id(self) -> str:
        return self.stored.state.id


class _Text(NamedTuple):
    """What the text index says: each term's share in the score of each memory, and how much each term tells."""

    shares: Mapping[str, Mapping[Place, float]]
    idf: Mapping[str, float]

    def own(self) -> dict[Place, float]:
        """Each memory's score by its own words."""
        total: dict[Place, float] = {}
        for shares in self.shares.values():
            for place, share in shares.items():
                total[place] = total.get(place, 0.0) + share
        return total


def ranked(
    engine: Engine, reader: Reader, streams: Sequence[Stream], text: str, most: int, selection: Selection
) -> list[Ranked]:
    """The memories of these streams that answer a text best and fit the selection, best first."""
    settings = engine.policy.ranking
    question = read_question(text, engine.clock(), engine.policy.text.synonyms)
    found = _text(engine, reader, streams, question.terms)
    facts = _candidates(reader, engine.tenant, streams, found, settings, max(BY_TEXT, 2 * most), selection)
    weights = Weights(**{name: value for name, value in settings.model_dump().items() if name != "newest_first"})
    fused = fuse(question, Evidence(found.shares, {}, {}), facts, weights)
    own = found.own()
    telling = [one for one in fused if one.place in own or one.features.text >= NEARBY * weights.text]
    shortlist = telling[: max(SHORTLIST, most)]
    contents = reader.contents(engine.tenant, [one.place for one in shortlist])
    best = reread(question, [one for one in shortlist if one.place in contents], contents, weights)
    if settings.newest_first:
        best = _newest_first(question, best, facts, contents, found.idf)
    loaded = {(s.stream, s.number): s for s in reader.by_places(engine.tenant, [one.place for one in best[:most]])}
    return [_ranked(question, found, one, loaded[one.place]) for one in best[:most]]


def _ranked(question: Question, found: _Text, one: Scored, stored: Stored) -> Ranked:
    own = {term: shares[one.place] for term, shares in found.shares.items() if one.place in shares}
    features = {name: round(value, 6) for name, value in one.features._asdict().items() if value}
    return Ranked(stored, one.score, relevance(question, found.idf, own, 0.0), sum(own.values()), features)


# ── the text index ──────────────────────────────────────────────────────────────────────────────────────────────────


def _text(engine: Engine, reader: Reader, streams: Sequence[Stream], wanted: Sequence[str]) -> _Text:
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
    idf = {term: inverse_frequency(texts.documents, count) for term, count in totals.items()}
    shares: dict[str, dict[Place, float]] = defaultdict(dict)

    def add_up(stream: Stream, term: str, postings: Sequence[Posting]) -> None:
        one: dict[int, float] = {}
        bm25(one, postings, idf[term], texts.mean_length, settings.bm25_k1, settings.bm25_b)
        shares[term].update({(stream.number, number): share for number, share in one.items()})

    reading = plan_reading(rarest_first(totals, wanted), totals, settings.max_postings)
    for stream in streams:
        for term, limit in reading.find:
            if term in by_stream.get(stream.number, ()):
                add_up(stream, term, reader.postings(stream, term, limit))
    best = _best_first(_Text(shares, idf).own())[: settings.max_compared] if reading.tell_apart else []
    for stream in streams:
        numbers = [number for of, number in best if of == stream.number]
        for term in reading.tell_apart if numbers else ():
            add_up(stream, term, reader.postings_of(stream, term, numbers))
    return _Text(shares, idf)


def _best_first(scores: Mapping[Place, float]) -> list[Place]:
    return sorted(scores, key=lambda place: (-scores[place], place))


# ── who is compared ─────────────────────────────────────────────────────────────────────────────────────────────────


def _candidates(
    reader: Reader,
    tenant: str,
    streams: Sequence[Stream],
    found: _Text,
    settings: Ranking,
    count: int,
    selection: Selection,
) -> dict[Place, Facts]:
    """The best by their own words that may be seen, and their neighbours in a conversation."""
    sessions = {s.number for s in streams if s.address is not None and s.address.space is Space.SESSION}
    best: dict[Place, Facts] = {}
    for chunk in _chunks(_best_first(found.own())):
        rows = reader.candidates(tenant, chunk, selection)
        best |= {place: _facts(place, rows[place], sessions) for place in chunk if place in rows}
        if len(best) >= count:
            break
    talked = [place for place, known in best.items() if known.session != _alone(place)]
    around = [place for place in widened(talked, len(settings.lent)) if place not in best and place[1] > 0]
    rows = reader.candidates(tenant, around, selection) if around else {}
    return best | {place: _facts(place, row, sessions) for place, row in rows.items()}


def _chunks(places: Sequence[Place]) -> Iterator[Sequence[Place]]:
    for start in range(0, len(places), CHUNK):
        yield places[start : start + CHUNK]


def _facts(place: Place, row: Contender, sessions: Iterable[int]) -> Facts:
    in_session = place[0] in sessions or row.kind_class == KindClass.EVENT
    session = row.thread_id or (f"stream {place[0]}" if in_session else _alone(place))
    said_by_a_person = row.source == Source.USER
    return Facts(
        session=session,
        at=parse_time(row.created_at),
        authority=Authority(row.authority),
        speaker=(row.actor_id or row.user_id or "") if said_by_a_person else "",
        importance=row.importance,
        pinned=row.pinned,
        canon=row.tier == Tier.CANON,
    )


def _alone(place: Place) -> str:
    """The session of a memory that is no part of a conversation: nobody else's."""
    return f"{place[0]}/{place[1]}"


# ── of two statements the newer one ─────────────────────────────────────────────────────────────────────────────────


def _newest_first(
    question: Question,
    ranked: Sequence[Scored],
    facts: Mapping[Place, Facts],
    contents: Mapping[Place, str],
    idf: Mapping[str, float],
) -> list[Scored]:
    """Puts an update above what it updates, where both are only turns of a conversation. A guess updates nothing."""
    compared = [one.place for one in ranked[:LOOKED_AT] if facts[one.place].authority is not Authority.AI_INFERRED]
    statements = {
        place: statement(question, contents[place], facts[place].at, place, facts[place].speaker) for place in compared
    }
    return newest_first(question, ranked, statements, idf, {})
