"""Reads that were announced: they are sent at once, and answered from what came with another read's round trip.

Inside a snapshot the same read gives the same answer at any time, so an answer that came early is as good. Whatever was
not announced, or not just so, is read as if nothing had been.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import takewhile
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from recollect.model.ledger import Address
from recollect.model.state import values_from
from recollect.model.vocabulary import MAY_UPDATE, KindClass
from recollect.stores.protocol import (
    Comparison,
    Contender,
    Later,
    Place,
    Posting,
    Relation,
    Search,
    Selection,
    Stored,
    Stream,
    Writer,
)
from recollect.stores.sql.memories import find_gaps
from recollect.stores.sql.queries import encode_places
from recollect.stores.sql.queries import where as condition_of
from recollect.stores.sql.vectors import LONGEST_CHAIN, relation_of

_contender = itemgetter(*("lower_key" if name == "key_identity" else name for name in Contender._fields))
_Rows = Mapping[Place, Mapping[str, Any]]
_Text = Mapping[str, tuple[int, list[Posting] | None]]
"""How many memories have each term, and its postings if the search reads them whole."""


class _Searched(NamedTuple):
    terms: frozenset[str]
    streams: Later[Mapping[int, _Text]]
    vectors: Mapping[tuple[int, int, int], Later[list[tuple[Any, ...]]]]
    sight: tuple[Sequence[str] | None, Sequence[str] | None]
    beyond: Later[Mapping[int, int]]


class _Compared:
    """The answer to a comparison that was announced."""

    def __init__(self, comparison: Comparison, rows: Later[_Rows]) -> None:
        self.comparison, self.rows = comparison, cache(rows)

    def holders(self, stream: int, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int] | None:
        """Return the active memories of a stream with one of these keys; ``None`` unless all of them were looked for."""
        if stream not in self.comparison.streams:
            return None
        own = [row for row in self.rows().values() if row["reached"]]
        if not {*self.comparison.scopes, *(row["scope"] for row in own)}.issuperset(scopes):
            return None
        if not {(row["kind_class"], row["lower_key"]) for row in own}.issuperset(keys):
            return None
        there = (row for row in self.rows().values() if row["stream"] == stream and row["status"] == "active")
        wanted = set(keys)
        return sorted(
            row["memory"] for row in there if row["scope"] in scopes and (row["kind_class"], row["lower_key"]) in wanted
        )

    def reaches(self, place: Place) -> bool:
        """Return whether a row came with every link from it to another one that came."""
        return place in self.rows() and self.rows()[place]["reached"]

    @cached_property
    def _read(self) -> frozenset[Place]:
        """The places whose rows came if there are any."""
        comparison, rows = self.comparison, self.rows()
        talked = (
            place
            for place, row in rows.items()
            if row["compared"]
            and row["fits"]
            and (row["thread_id"] or row["kind_class"] == KindClass.EVENT or place[0] in comparison.sessions)
        )
        steps = range(-comparison.reach, comparison.reach + 1)
        around = ((stream, number + step) for stream, number in talked for step in steps)
        return frozenset((*comparison.places, *rows, *around))

    @cached_property
    def _unfit(self) -> frozenset[Place]:
        """The places in rankings that were looked at and do not fit, so that their rows did not come."""
        rows = self.rows()
        if all(rows[place]["fits"] for place in self.comparison.places if place in rows):
            return frozenset()
        passed: set[Place] = set()
        for most, ranking in self.comparison.rankings:
            fitting = 0
            for place in ranking:
                if fitting == most:
                    break
                if place in rows and rows[place]["fits"]:
                    fitting += 1
                else:
                    passed.add(place)
        return frozenset(passed)

    def knows(self, place: Place, selection: Selection | None) -> bool:
        """Return whether the answer about a place has come: its row, or whether it fits a selection."""
        if selection is None:
            return place in self._read
        return selection == self.comparison.selection and (place in self._read or place in self._unfit)


class AnnouncedReads(Writer):
    """A reader of one snapshot that keeps the answers to what was announced."""

    _streams: Mapping[tuple[str, int], Stream] = MappingProxyType({})
    _searched: _Searched | None = None
    _compared: tuple[_Compared, ...] = ()

    def stream_numbered(self, tenant: str, number: int) -> Stream:
        known = self._streams.get((tenant, number))
        return self._remember_streams([super().stream_numbered(tenant, number)])[0] if known is None else known

    def stream_at(self, address: Address) -> Stream | None:
        return next(
            iter(self._remember_streams([found] if (found := super().stream_at(address)) is not None else [])), None
        )

    def streams_at(self, addresses: Sequence[Address]) -> list[Stream]:
        return self._remember_streams(super().streams_at(addresses))

    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]:
        return self._remember_streams(super().streams_of(tenant, owner, space))

    def streams_within(self, tenant: str, owners: Sequence[str], space: str) -> list[Stream]:
        return self._remember_streams(super().streams_within(tenant, owners, space))

    def _remember_streams(self, found: list[Stream]) -> list[Stream]:
        self._streams = {**self._streams} | {(stream.tenant, stream.number): stream for stream in found}
        return found

    def announce_search(self, tenant: str, search: Search) -> None:
        where = {"tenant": tenant, "namespaces": json.dumps([str(one) for one in search.namespaces])}
        where |= {"owners": json.dumps(search.owners)} if search.owners is not None else {}
        found = [
            self._send("announced_text", {**where, "terms": json.dumps(list(dict.fromkeys(terms))), "most": most})
            for terms, most in search.readings
            if terms
        ]
        vectors = {
            (stream, generation, after): cache(
                self._db.soon(
                    "vectors_after", {"tenant": tenant, "stream": stream, "generation": generation, "after": after}
                )
            )
            for stream, generation, after in search.vectors_at_hand
        }
        sight = (search.scopes, search.categories)
        beyond = self._count_beyond(where, *sight) if sight != (None, None) else dict
        terms = frozenset(term for reading in search.readings for term in reading.terms)
        texts = cache(lambda: _group_texts([row for answer in found for row in answer()]))
        self._searched = _Searched(terms, texts, vectors, sight, beyond)

    def _send(self, query: str, params: Mapping[str, Any]) -> Later[list[tuple[Any, ...]]]:
        """Ask about the streams of the owners that are named, or of everybody."""
        return self._db.soon(query, params, owned="owned_by" if "owners" in params else "owned_by_anybody")

    def _count_beyond(
        self, where: Mapping[str, str], scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[Mapping[int, int]]:
        asked = {
            **where,
            "scopes": None if scopes is None else json.dumps(sorted(scopes)),
            "scope_gaps": json.dumps(find_gaps(scopes)),
            "category_gaps": json.dumps(find_gaps(categories)),
        }
        answer = self._send("announced_beyond", asked)
        return cache(lambda: dict(answer()))

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        searched = self._searched
        if searched is None or searched.sight != (scopes, categories) or stream.number not in searched.beyond():
            return super().count_beyond(stream, scopes, categories)
        return lambda: searched.beyond()[stream.number]

    def _find_text(self, stream: Stream, terms: Sequence[str] | Mapping[str, int]) -> _Text | None:
        """Return the text statistics that the announced search brought for a stream; ``None`` if it did not cover these terms."""
        searched = self._searched
        if searched is None or not searched.terms.issuperset(terms):
            return None
        return searched.streams().get(stream.number)

    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        text = self._find_text(stream, terms)
        if text is None:
            return super().term_frequencies(stream, terms)
        return {term: text[term][0] for term in terms if term in text}

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        text = self._find_text(stream, limits) if selection is None else None
        known = {term: text.get(term, (0, []))[1] for term in limits} if text is not None else {}
        whole = {term: postings[: limits[term]] for term, postings in known.items() if postings is not None}
        return whole if len(whole) == len(limits) else super().postings(stream, limits, selection)

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        known = self._searched.vectors if self._searched is not None else {}
        answer = known.get((stream.number, stream.generation, after))
        return super().vectors_after(stream, after) if answer is None else answer()

    def announce_comparison(self, tenant: str, comparison: Comparison) -> None:
        if not comparison.places:
            return
        condition, params = condition_of(comparison.selection, self._db.dialect)
        params |= {"tenant": tenant, "places": encode_places(comparison.places), "kind_class": str(KindClass.EVENT)}
        params |= {"rankings": json.dumps(comparison.rankings), "reach": comparison.reach, "longest": LONGEST_CHAIN}
        listed_of = ("sessions", "streams", "scopes")
        params |= {name: json.dumps(list(getattr(comparison, name))) for name in listed_of}
        links = "true" if comparison.links else "false"
        found = self._db.filtered_soon("announced_memories", condition, params, links=links)
        self._compared += (_Compared(comparison, lambda: {(row["stream"], row["memory"]): row for row in found()}),)

    def at_hand(self, places: Sequence[Place], selection: Selection) -> Sequence[Place]:
        known = (any(one.knows(place, selection) for one in self._compared) for place in places)
        return places[: sum(1 for _ in takewhile(bool, known))]

    def _rows_at(self, places: Sequence[Place], selection: Selection | None = None) -> _Rows | None:
        """Return the rows at these places; ``None`` unless all of the places were announced."""
        found: dict[Place, Mapping[str, Any]] = {}
        for place in places:
            announced = next((one for one in self._compared if one.knows(place, selection)), None)
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
        read = {place: values_from(row["body"]) or {} for place, row in known.items()}
        return {place: body["content"] for place, body in read.items() if isinstance(body.get("content"), str)}

    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        known = self._rows_at(places)
        return (
            super().by_places(tenant, places)
            if known is None
            else self._add_voucher_names(tenant, list(known.values()))
        )

    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        known = (one.holders(stream.number, scopes, keys) for one in self._compared)
        found = next((numbers for numbers in known if numbers is not None), None)
        return super().key_holders(stream, scopes, keys) if found is None else found

    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]:
        known = {row["id"]: row for one in self._compared for row in one.rows().values()}
        if not known.keys() >= set(ids):
            return super().by_ids(tenant, ids)
        found = self._add_voucher_names(tenant, [known[id] for id in dict.fromkeys(ids)], damaged=True)
        return {stored.state.id: stored for stored in found}

    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        rows = self._rows_at(places)
        if rows is None or not all(row["compared"] for row in rows.values()):
            return super().relations_at(tenant, places)
        return lambda: _relations_in(rows)

    def live_versions(self, tenant: str, places: Sequence[Place]) -> dict[Place, Place]:
        rows = self._rows_at(places)
        if rows is None or not all(row["compared"] for row in rows.values()):
            return super().live_versions(tenant, places)
        ended = {place: row for place, row in rows.items() if row["live_memory"] is not None}
        return {place: (row["live_stream"], row["live_memory"]) for place, row in ended.items()}

    def updates_among(self, tenant: str, places: Sequence[Place]) -> list[Relation]:
        rows = next((one.rows() for one in self._compared if all(map(one.reaches, places))), None)
        if rows is None:
            return super().updates_among(tenant, places)
        joined = {place: rows[place] for place in places}
        links = (one for one in _relations_in(joined) if one.relation_type == MAY_UPDATE)
        return [one for one in links if one.source in joined and one.target in joined]


def _relations_in(rows: _Rows) -> list[Relation]:
    return sorted(
        map(_parse_relation, {line for row in rows.values() for line in (row["relations"] or "").splitlines()})
    )


def _parse_relation(line: str) -> Relation:
    from_stream, from_memory, to_stream, to_memory, how, strength, at, reason = line.split(" ", 7)
    source, target = (int(from_stream), int(from_memory)), (int(to_stream), int(to_memory))
    return relation_of(*source, *target, how, int(strength), at, reason)


def _group_texts(found: Sequence[tuple[Any, ...]]) -> Mapping[int, _Text]:
    texts: dict[int, dict[str, tuple[int, list[Posting] | None]]] = {}
    for stream, term, count, numbers, tfs, lengths in found:
        of_stream = texts.setdefault(stream, {})
        if term is not None and (numbers is not None or term not in of_stream):
            of_stream[term] = (count, None if numbers is None else list(zip(numbers, tfs, lengths, strict=True)))
    return texts
