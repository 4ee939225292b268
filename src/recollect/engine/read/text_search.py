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


class TextSearch:
    """A search for the memories of some streams that have one of these terms, or a neighbour of one."""

    def __init__(
        self, engine: Engine, reader: Reader, streams: Sequence[Stream], terms: Sequence[str], similar: Neighbours
    ) -> None:
        self._engine, self._reader, self._streams = engine, reader, streams
        self._terms, self._similar = terms, similar
        self._either = sorted({*terms, *(other for near in similar.values() for other in near)})
        self._most = engine.policy.recall.max_postings

    def scores(self) -> TextScores:
        """Score the memories, reading the rarest terms first."""
        reader, streams, most = self._reader, self._streams, self._most
        hidden = self._partly_hidden()
        counted = {s.number: reader.term_frequencies(s, self._either) for s in streams if s.documents}
        totals = _sum_frequencies(counted.values())
        plan = self._plan(totals)
        partly = hidden()
        texts = TextStatistics(sum(s.documents for s in streams), sum(s.words for s in streams))
        if partly and not plan.whole:
            everything = self._read_fitting(dict.fromkeys(partly, self._visible()))
            plan, postings = self._choose_postings(everything)
            rare = {at: of_term for at, of_term in everything.items() if len(of_term) <= most}
            texts, totals = _count_visible(streams, partly, rare, counted)
        else:
            postings = self._read_planned(plan, counted)
            if partly:
                postings = self._select_visible(partly, postings)
                texts, totals = _count_visible(streams, partly, postings, counted)
        idf = {term: inverse_frequency(texts.documents, totals.get(term, 0)) for term in self._either}
        found = TextScores(idf, texts.mean_length, self._engine.policy.recall, complete=plan.own.whole)
        return self._fill(found, plan, postings)

    def among(self, found: TextScores, selection: Selection) -> TextScores:
        """Score again only memories that fit a selection, where others used up the budget; scores stay comparable."""
        everything = self._read_fitting({stream.number: selection for stream in self._streams})
        plan, postings = self._choose_postings(everything)
        return self._fill(found.again(complete=plan.own.whole), plan, postings)

    def _visible(self) -> Selection:
        return self._engine.selecting(equal={"status": "active"})

    def _partly_hidden(self) -> Later[dict[int, int]]:
        """Return the streams with active memories hidden from the caller, each with the number of visible ones."""
        scopes, categories = self._engine.sight
        if scopes is None and categories is None:
            return dict
        beyond = [(stream, self._reader.count_beyond(stream, scopes, categories)) for stream in self._streams]
        return lambda: {s.number: max(s.documents - hidden, 0) for s, count in beyond if (hidden := count())}

    def _plan(self, totals: Mapping[str, int]) -> _Plan:
        """Return which postings to read, by their number; those of a neighbour are read all or not at all."""
        own = plan_reading(rarest_first(totals, self._terms), totals, self._most)
        neighbours = (other for near in self._similar.values() for other in near)
        near = plan_reading(rarest_first(totals, neighbours), totals, self._most // FOR_NEIGHBOURS)
        return _Plan(own, tuple(one for one in near.find if one[1] == totals[one[0]]), own.whole and near.whole)

    def _read_planned(self, plan: _Plan, counted: Mapping[int, Mapping[str, int]]) -> Postings:
        """Read the planned postings of each stream, leaving out the terms that it has not."""
        found: dict[tuple[int, str], Sequence[Posting]] = {}
        for stream in self._streams:
            limits = {term: limit for term, limit in plan.find if term in counted.get(stream.number, ())}
            of_stream = self._reader.postings(stream, limits) if limits else {}
            found |= {(stream.number, term): of_term for term, of_term in of_stream.items()}
        return found

    def _read_fitting(self, selections: Mapping[int, Selection]) -> Postings:
        """Read the postings of all terms that fit their stream's selection, up to one more than the budget of each."""
        limits = dict.fromkeys(self._either, self._most + 1)
        return {
            (stream.number, term): of_term
            for stream in self._streams
            for term, of_term in self._reader.postings(stream, limits, selections.get(stream.number)).items()
        }

    def _choose_postings(self, everything: Postings) -> tuple[_Plan, Postings]:
        """Return the search plan that needs no more than the postings at hand, and the postings that it uses."""
        plan = self._plan(_sum_frequencies({term: len(of_term)} for (_, term), of_term in everything.items()))
        limits = dict(plan.find)
        return plan, {at: of_term[: limits[at[1]]] for at, of_term in everything.items() if at[1] in limits}

    def _select_visible(self, partly: Mapping[int, int], postings: Postings) -> Postings:
        """Return the postings without those of hidden memories."""
        visible, found = self._visible(), dict(postings)
        for (number, term), of_term in postings.items():
            if number in partly and of_term:
                stream = self._reader.stream_numbered(self._engine.tenant, number)
                seen = self._reader.visible(stream, [posting[0] for posting in of_term], visible)
                found[number, term] = [posting for posting in of_term if posting[0] in seen]
        return found

    def _fill(self, found: TextScores, plan: _Plan, postings: Postings) -> TextScores:
        near: dict[int, dict[str, Sequence[Posting]]] = defaultdict(dict)
        of_neighbours = {term for term, _ in plan.near}
        for (number, term), of_term in postings.items():
            if term in of_neighbours:
                near[number][term] = of_term
            else:
                found.add(number, term, of_term)
        best = list(islice(found.best_first(), found.max_compared)) if plan.own.tell_apart else []
        for stream in self._streams:
            numbers = [number for of, number in best if of == stream.number]
            of_best = self._reader.postings_of(stream, plan.own.tell_apart, numbers) if numbers else {}
            for term, of_term in of_best.items():
                found.add(stream.number, term, of_term)
        for number, of_stream in near.items():
            for term, others in self._similar.items():
                found.widen(number, term, others, of_stream)
        return found


def _count_visible(
    streams: Sequence[Stream], partly: Mapping[int, int], postings: Postings, counted: Mapping[int, Mapping[str, int]]
) -> tuple[TextStatistics, dict[str, int]]:
    """Return the number and length of the visible texts, and how many have each term.

    In a partly hidden stream the visible postings are counted one by one. A term too common to be read there counts as
    if every text had it. The length of all texts is estimated from the texts whose postings were read.
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


def _sum_frequencies(by_stream: Iterable[Mapping[str, int]]) -> dict[str, int]:
    totals: dict[str, int] = defaultdict(int)
    for frequencies in by_stream:
        for term, count in frequencies.items():
            totals[term] += count
    return totals
