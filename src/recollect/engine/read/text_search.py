"""Search the text index: BM25 over all streams of a question, within the policy's budget of postings."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.model.policy import Recall as RecallPolicy
from recollect.rules.ranking.bm25 import (
    FOR_NEIGHBOURS,
    Reading,
    TextStatistics,
    bm25,
    inverse_frequency,
    more_by_neighbours,
    plan_reading,
    rarest_first,
)
from recollect.stores.protocol import Later, Place, Posting, Reader, Selection, Stream

Postings = Mapping[tuple[int, str], Sequence[Posting]]
"""The postings of a term in a stream."""


def partly_hidden(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> Later[dict[int, int]]:
    """Return the streams with active memories hidden from the caller, each with the number of visible ones."""
    scopes, categories = engine.sight
    if scopes is None and categories is None:
        return dict
    beyond = [(stream, reader.count_beyond(stream, scopes, categories)) for stream in streams]
    return lambda: {s.number: max(s.documents - hidden, 0) for s, count in beyond if (hidden := count())}


def select_visible_postings(engine: Engine, reader: Reader, partly: Mapping[int, int], postings: Postings) -> Postings:
    """Return the postings without those of hidden memories."""
    selection = engine.selecting(equal={"status": "active"})
    return {
        (number, term): _select_visible(reader, engine, number, of_term, selection) if number in partly else of_term
        for (number, term), of_term in postings.items()
    }


def _select_visible(
    reader: Reader, engine: Engine, number: int, of_term: Sequence[Posting], selection: Selection
) -> Sequence[Posting]:
    stream = reader.stream_numbered(engine.tenant, number)
    seen = reader.visible(stream, [posting[0] for posting in of_term], selection) if of_term else set()
    return [posting for posting in of_term if posting[0] in seen]


def count_visible(
    streams: Sequence[Stream], partly: Mapping[int, int], postings: Postings, counted: Mapping[int, Mapping[str, int]]
) -> tuple[TextStatistics, dict[str, int]]:
    """Return the number and length of the visible texts, and how many have each term.

    In a partly hidden stream the visible postings are counted one by one. A term too common to be read there counts as
    if every text had it. The length of texts is estimated from those that were read.
    """
    documents = {s.number: partly.get(s.number, s.documents) for s in streams}
    totals: dict[str, int] = {}
    for number, frequencies in counted.items():
        for term, count in frequencies.items():
            seen = len(postings[number, term]) if (number, term) in postings else documents[number]
            totals[term] = totals.get(term, 0) + (seen if number in partly else count)
    words = sum(_estimate_words(s, documents[s.number], postings) if s.number in partly else s.words for s in streams)
    return TextStatistics(sum(documents.values()), words), {term: count for term, count in totals.items() if count}


def _estimate_words(stream: Stream, documents: int, postings: Postings) -> int:
    lengths = {entry[0]: entry[2] for (number, _), of in postings.items() if number == stream.number for entry in of}
    return round(documents * sum(lengths.values()) / len(lengths)) if lengths else documents


Neighbours = Mapping[str, Mapping[str, float]]
"""For each term of a question, terms of similar meaning with their cosines."""
MOSTLY_ENOUGH = 64
"""How many of the best by words are sorted at first; more are seldom read."""


class TextScores:
    """The BM25 scores of memories in some streams, and the share of each term in them.

    The shares of a term are computed once, for all memories that it finds.
    """

    def __init__(self, idf: Mapping[str, float], mean_length: float, settings: RecallPolicy, *, complete: bool) -> None:
        self.idf = idf
        self.complete = complete
        """Whether every memory with one of the words was found, and not only those with the rarest words."""
        self._mean_length, self._settings = mean_length, settings
        self._scores: dict[int, dict[int, float]] = defaultdict(dict)
        self._shares: dict[tuple[str, int], Mapping[int, float]] = {}
        self._widened: dict[tuple[str, int], Mapping[int, float]] = {}

    @property
    def max_compared(self) -> int:
        return self._settings.max_compared

    def again(self, *, complete: bool) -> "TextScores":
        """Return empty scores with the same statistics, comparable with these."""
        return TextScores(self.idf, self._mean_length, self._settings, complete=complete)

    def __len__(self) -> int:
        """Return how many memories were found."""
        return sum(map(len, self._scores.values()))

    def add(self, stream: int, term: str, postings: Sequence[Posting]) -> None:
        shares = self._shares[term, stream] = self._shares_in(postings, self.idf[term])
        self._add_up(stream, shares)

    def widen(
        self, stream: int, term: str, near: Mapping[str, float], postings: Mapping[str, Sequence[Posting]]
    ) -> None:
        """Count the neighbours of a term as the term with less weight; add what exceeds the term's own share."""
        others = []
        for other, cosine in near.items():
            idf = min(self.idf[term], self.idf.get(other, 0.0))
            others.append((self._settings.similar_words * cosine, self._shares_in(postings.get(other, ()), idf)))
        more = self._widened[term, stream] = more_by_neighbours(self._shares.get((term, stream), {}), others)
        self._add_up(stream, more)

    def _shares_in(self, postings: Iterable[Posting], idf: float) -> dict[int, float]:
        return bm25(postings, idf, self._mean_length, self._settings.bm25_k1, self._settings.bm25_b)

    def _add_up(self, stream: int, shares: Mapping[int, float]) -> None:
        scores = self._scores[stream]
        if scores:
            for number, share in shares.items():
                scores[number] = scores.get(number, 0.0) + share
        else:
            scores.update(shares)

    def score(self, place: Place) -> float:
        """Return a memory's score by its own words."""
        return self._scores.get(place[0], {}).get(place[1], 0.0)

    def best_first(self) -> Iterator[Place]:
        """Yield all found memories, best first, ties by the older one."""
        best = self._reached_by(MOSTLY_ENOUGH)
        for low, high in ((best, math.inf), (0.0, best)):
            found = [(-s, of, n) for of, scores in self._scores.items() for n, s in scores.items() if low <= s < high]
            yield from [(of, number) for _, of, number in sorted(found)]

    def _reached_by(self, count: int) -> float:
        """Return the score of the ``count``-th best; 0 if few more were found."""
        scores = [score for of_stream in self._scores.values() for score in of_stream.values()]
        return sorted(scores)[-count] if len(scores) > 4 * count else 0.0

    def shares(self, places: Iterable[Place]) -> dict[str, dict[Place, float]]:
        """Return what each term adds to the scores of these memories."""
        return _select_places(self._shares, places)

    def widened(self, places: Iterable[Place]) -> dict[str, dict[Place, float]]:
        """Return what the neighbours of each term add to these scores."""
        return _select_places(self._widened, places)


def _select_places(
    every: Mapping[tuple[str, int], Mapping[int, float]], places: Iterable[Place]
) -> dict[str, dict[Place, float]]:
    """Return the shares of each term in the scores of these memories."""
    memories = list(places)
    shares: dict[str, dict[Place, float]] = defaultdict(dict)
    for (term, of), of_term in every.items():
        shares[term].update({place: of_term[place[1]] for place in memories if place[0] == of and place[1] in of_term})
    return shares


class _Plan(NamedTuple):
    """Which postings are read: of the terms of a question, and whole lists of their neighbours."""

    own: Reading
    near: tuple[tuple[str, int], ...]
    whole: bool
    """Whether no posting is left out."""

    @property
    def find(self) -> tuple[tuple[str, int], ...]:
        return (*self.own.find, *self.near)


def search_text(
    engine: Engine, reader: Reader, streams: Sequence[Stream], terms: Sequence[str], similar: Neighbours
) -> TextScores:
    """Score the memories that have these terms or neighbours of them, reading the rarest terms first."""
    settings = engine.policy.recall
    hidden = partly_hidden(engine, reader, streams)
    either = _with_neighbours(terms, similar)
    counted = {s.number: reader.term_frequencies(s, either) for s in streams if s.documents}
    totals = _sum_frequencies(counted.values())
    plan = _plan_search(totals, terms, similar, settings.max_postings)
    partly = hidden()
    texts = TextStatistics(sum(s.documents for s in streams), sum(s.words for s in streams))
    if partly and not plan.whole:
        visible = engine.selecting(equal={"status": "active"})
        everything = _read_fitting(reader, streams, either, dict.fromkeys(partly, visible), settings.max_postings)
        plan, postings = _choose_postings(everything, terms, similar, settings.max_postings)
        rare = {at: of_term for at, of_term in everything.items() if len(of_term) <= settings.max_postings}
        texts, totals = count_visible(streams, partly, rare, counted)
    else:
        postings = {
            (stream.number, term): of_term
            for stream in streams
            for term, of_term in _postings(reader, stream, plan.find, counted.get(stream.number, {})).items()
        }
        if partly:
            postings = select_visible_postings(engine, reader, partly, postings)
            texts, totals = count_visible(streams, partly, postings, counted)
    idf = {term: inverse_frequency(texts.documents, totals.get(term, 0)) for term in either}
    found = TextScores(idf, texts.mean_length, settings, complete=plan.own.whole)
    return _fill_scores(found, reader, streams, plan, postings, similar)


def search_among(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    terms: Sequence[str],
    similar: Neighbours,
    found: TextScores,
    selection: Selection,
) -> TextScores:
    """Score again only memories that fit a selection, where others used up the budget; scores stay comparable."""
    most = engine.policy.recall.max_postings
    narrowed = {stream.number: selection for stream in streams}
    everything = _read_fitting(reader, streams, _with_neighbours(terms, similar), narrowed, most)
    plan, postings = _choose_postings(everything, terms, similar, most)
    return _fill_scores(found.again(complete=plan.own.whole), reader, streams, plan, postings, similar)


def _with_neighbours(terms: Sequence[str], similar: Neighbours) -> list[str]:
    return sorted({*terms, *(other for near in similar.values() for other in near)})


def _fill_scores(
    found: TextScores, reader: Reader, streams: Sequence[Stream], plan: _Plan, postings: Postings, similar: Neighbours
) -> TextScores:
    near: dict[int, dict[str, Sequence[Posting]]] = defaultdict(dict)
    of_neighbours = {term for term, _ in plan.near}
    for (number, term), of_term in postings.items():
        if term in of_neighbours:
            near[number][term] = of_term
        else:
            found.add(number, term, of_term)
    best = list(islice(found.best_first(), found.max_compared)) if plan.own.tell_apart else []
    for stream in streams:
        numbers = [number for of, number in best if of == stream.number]
        of_best = reader.postings_of(stream, plan.own.tell_apart, numbers) if numbers else {}
        for term, of_term in of_best.items():
            found.add(stream.number, term, of_term)
    for number, of_stream in near.items():
        for term, others in similar.items():
            found.widen(number, term, others, of_stream)
    return found


def _postings(
    reader: Reader, stream: Stream, find: Iterable[tuple[str, int]], frequencies: Mapping[str, int]
) -> dict[str, list[Posting]]:
    limits = {term: limit for term, limit in find if term in frequencies}
    return reader.postings(stream, limits) if limits else {}


def _read_fitting(
    reader: Reader, streams: Sequence[Stream], terms: Sequence[str], selections: Mapping[int, Selection], most: int
) -> Postings:
    """Read the postings of all terms that fit their stream's selection, up to one more than ``most`` of each."""
    limits = dict.fromkeys(sorted(set(terms)), most + 1)
    return {
        (stream.number, term): of_term
        for stream in streams
        for term, of_term in reader.postings(stream, limits, selections.get(stream.number)).items()
    }


def _plan_search(totals: Mapping[str, int], terms: Sequence[str], similar: Neighbours, most: int) -> _Plan:
    """Return which postings to read, by their number; those of a neighbour are read all or not at all."""
    own = plan_reading(rarest_first(totals, terms), totals, most)
    neighbours = (other for near in similar.values() for other in near)
    near = plan_reading(rarest_first(totals, neighbours), totals, most // FOR_NEIGHBOURS)
    return _Plan(own, tuple(entry for entry in near.find if entry[1] == totals[entry[0]]), own.whole and near.whole)


def _choose_postings(
    everything: Postings, terms: Sequence[str], similar: Neighbours, most: int
) -> tuple[_Plan, Postings]:
    """Return the plan for postings that were read already, and those that it uses."""
    totals = _sum_frequencies({term: len(of_term)} for (_, term), of_term in everything.items())
    plan = _plan_search(totals, terms, similar, most)
    limits = dict(plan.find)
    return plan, {at: of_term[: limits[at[1]]] for at, of_term in everything.items() if at[1] in limits}


def _sum_frequencies(by_stream: Iterable[Mapping[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = defaultdict(int)
    for frequencies in by_stream:
        for term, count in frequencies.items():
            totals[term] += count
    return totals
