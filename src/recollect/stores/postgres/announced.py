"""Reads that were announced: they are sent at once, and answered from what came with another read's round trip.

Inside a snapshot the same read gives the same answer at any time, so an answer that came early is as good. Whatever was
not announced, or not just so, is read as if nothing had been.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.stores.protocol import Contender, Later, Place, Posting, Relation, Search, Selection, Stored, Stream
from recollect.stores.sql.filters import where
from recollect.stores.sql.transaction import Transaction, listed

_contender = itemgetter(*("lower_key" if name == "key_identity" else name for name in Contender._fields))
_Rows = Mapping[Place, Mapping[str, Any]]
_Text = Mapping[str, tuple[int, list[Posting] | None]]
"""How many memories have each term, and its postings if the search reads them whole."""


class _Searched(NamedTuple):
    terms: frozenset[str]
    streams: Later[Mapping[int, _Text]]
    vectors: Mapping[tuple[int, int, int], Later[list[tuple[Any, ...]]]]


class _Compared(NamedTuple):
    places: frozenset[Place]
    selection: Selection
    rows: Later[_Rows]
    """The rows at these places, and of what is related to them."""
    relations: Later[list[Relation]]

    def has(self, place: Place) -> bool:
        return place in self.places or place in self.rows()


class AnnouncedReads(Transaction):
    """A reader of one snapshot that keeps the answers to what was announced."""

    _searched: _Searched | None = None
    _compared: tuple[_Compared, ...] = ()

    # ── a search ────────────────────────────────────────────────────────────────────────────────────────────────

    def announce_search(self, tenant: str, search: Search) -> None:
        words = {"owners": search.owners, "namespaces": search.namespaces, "terms": dict.fromkeys(search.terms)}
        params = {name: json.dumps([str(one) for one in values]) for name, values in words.items()}
        found = self._db.soon("announced_text", {**params, "tenant": tenant, "most": search.max_postings})
        vectors = {
            (stream, generation, after): cache(
                self._db.soon(
                    "vectors_after", {"tenant": tenant, "stream": stream, "generation": generation, "after": after}
                )
            )
            for stream, generation, after in search.vectors_at_hand
        }
        self._searched = _Searched(frozenset(search.terms), cache(lambda: _texts(found())), vectors)

    def _text_of(self, stream: Stream, terms: Sequence[str] | Mapping[str, int]) -> _Text | None:
        """What the search that was announced says of a stream; ``None`` if it is not about it, or not about these terms."""
        searched = self._searched
        if searched is None or not searched.terms.issuperset(terms):
            return None
        return searched.streams().get(stream.number)

    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        text = self._text_of(stream, terms)
        if text is None:
            return super().term_frequencies(stream, terms)
        return {term: text[term][0] for term in terms if term in text}

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        text = self._text_of(stream, limits) if selection is None else None
        known = {term: text.get(term, (0, []))[1] for term in limits} if text is not None else {}
        whole = {term: postings[: limits[term]] for term, postings in known.items() if postings is not None}
        return whole if len(whole) == len(limits) else super().postings(stream, limits, selection)

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        known = self._searched.vectors if self._searched is not None else {}
        answer = known.get((stream.number, stream.generation, after))
        return super().vectors_after(stream, after) if answer is None else answer()

    # ── memories that are compared ──────────────────────────────────────────────────────────────────────────────

    def announce_memories(self, tenant: str, places: Sequence[Place], selection: Selection) -> None:
        if not places:
            return
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": tenant, "places": listed(places)}
        found = self._db.filtered_soon("announced_memories", condition, params)
        relations = super().relations_at(tenant, places)
        rows = cache(lambda: {(row["stream"], row["memory"]): row for row in found()})
        self._compared += (_Compared(frozenset(places), selection, rows, cache(relations)),)

    def _rows_at(self, places: Sequence[Place], selection: Selection | None = None) -> _Rows | None:
        """The rows at these places that are there; ``None`` unless all of the places were announced."""
        known = [one for one in self._compared if selection in (None, one.selection)]
        found: dict[Place, Mapping[str, Any]] = {}
        for place in places:
            announced = next((one for one in known if one.has(place)), None)
            if announced is None:
                return None
            if place in announced.rows():
                found[place] = announced.rows()[place]
        return found

    def candidates(self, tenant: str, places: Sequence[Place], selection: Selection) -> dict[Place, Contender]:
        known = self._rows_at(places, selection)
        if known is None:
            return super().candidates(tenant, places, selection)
        return {place: Contender._make(_contender(row)) for place, row in known.items() if row["fits"]}

    def contents(self, tenant: str, places: Sequence[Place]) -> dict[Place, str]:
        known = self._rows_at(places)
        if known is None:
            return super().contents(tenant, places)
        bodies = {place: row["body"] for place, row in known.items()}
        return {place: json.loads(body)["content"] for place, body in bodies.items() if body is not None}

    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        known = self._rows_at(places)
        return super().by_places(tenant, places) if known is None else self._named(tenant, list(known.values()))

    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        ends = frozenset(places)
        known = [one for one in self._compared if not ends.isdisjoint(one.places)]
        if not ends.issubset(place for one in known for place in one.places):
            return super().relations_at(tenant, places)
        return lambda: sorted(
            {link for one in known for link in one.relations() if link.source in ends or link.target in ends}
        )


def _texts(found: Sequence[tuple[Any, ...]]) -> Mapping[int, _Text]:
    texts: dict[int, dict[str, tuple[int, list[Posting] | None]]] = {}
    for stream, term, count, numbers, tfs, lengths in found:
        of_stream = texts.setdefault(stream, {})
        if term is not None:
            of_stream[term] = (count, None if numbers is None else list(zip(numbers, tfs, lengths, strict=True)))
    return texts
