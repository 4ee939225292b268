"""Current memories, their text index, their provenance, and rejected values, over named queries."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from recollect.model.caller import USER, author_principal, principal
from recollect.model.ledger import Address
from recollect.model.state import State
from recollect.rules.identity.keys import identities
from recollect.rules.identity.rejected_values import Sealed
from recollect.rules.language.findable import Findable
from recollect.stores.sql import rows
from recollect.stores.sql.queries import Capability, check_column, encode_list, encode_places, where
from recollect.stores.sql.rows import said_terms_in, term_counts_in, terms_in, text_length_in, write_term_note
from recollect.stores.values import (
    TERM_COUNT,
    Contender,
    Later,
    Nearby,
    Neighbour,
    Place,
    Posting,
    Selection,
    Standing,
    Stored,
    Stream,
)

MOST_SOUGHT = 8
"""How many ids are looked for as mere text, before what is found is read as JSON, which takes four times as long."""
_NAMES_OTHERS = ("v.body", "coalesce(m.vouchers, '')")
_NAMING_COLUMNS = ("user_id", "agent_id", "actor_id", "scope", "thread_id", "run_id")
"""The columns that name somebody also where the body is damaged."""
_STANDS_AS_IT_IS = re.compile(r"[A-Za-z0-9_:.-]+")
"""Names that JSON writes without an escape, so that a search of the text cannot miss them."""


MARKS_WORTH_SEARCHING = 48
"""Up to how many terms it is faster to search a note for each than to parse it, however long the note is."""


class _NamesVouchers(Capability):
    def _add_voucher_names(self, tenant: str, found: Sequence[rows.Row], *, damaged: bool = False) -> list[Stored]:
        """Return memories with the names of their vouchers; damaged memories only on request.

        Most memories have no vouchers: then no names are looked up.
        """
        memories = [stored for stored in rows.stored_from(found) if damaged or stored.damage is None]
        uids = {one["actor"] for stored in memories for one in stored.state.vouchers}
        if not uids:
            return memories
        names = self.names_of(tenant, sorted(uids))
        return [stored._replace(actor_names=names) if stored.state.vouchers else stored for stored in memories]

    def names_of(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """Return the names of these actors; an erased actor has none."""
        found = self._db.rows("actors_with_uids", tenant=tenant, uids=json.dumps(list(uids))) if uids else []
        return {row["uid"]: row["name"] for row in found if isinstance(row["name"], str)}


class ProvenanceReads(_NamesVouchers):
    def with_hashes(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Return the memories with these content hashes that fit the selection, oldest first."""
        return self._select_by_hash("memories_with_hashes", tenant, hashes, selection, limit)

    def built_upon(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Return the memories that name one of these hashes as a parent and fit the selection, oldest first."""
        return self._select_by_hash("built_upon", tenant, hashes, selection, limit)

    def places_naming(self, tenant: str, name: str) -> list[Place]:
        """Return where the memories are that name this person as their user, actor or author."""
        return self._db.tuples("places_naming", tenant=tenant, name=name, principal=principal(USER, name))

    def tied_to(self, tenant: str, ids: Sequence[str]) -> list[Stored]:
        """Return the memories that name one of these, which may be ids of memories or names of people.

        A memory is named as a neighbour or as what another was made of; a person as author, user, actor, agent, as a
        voucher in another system, or as the scope that may see the memory.
        """
        plain = len(ids) <= MOST_SOUGHT and all(_STANDS_AS_IT_IS.fullmatch(id) for id in ids)
        sought = {f"id_{nth}": id for nth, id in enumerate(ids)} if plain else {}
        holds = [self._db.dialect.holds.format(text=text, part=f":{name}") for name in sought for text in _NAMES_OTHERS]
        params = {"tenant": tenant, "ids": json.dumps(list(ids)), **sought}
        named = [self._db.dialect.one_of_texts.format(column=f"m.{column}", list=":ids") for column in _NAMING_COLUMNS]
        mentioned = f"({' OR '.join([*holds, *named])})" if holds else "1 = 1"
        found = (
            self._db.filtered("tied_to", mentioned, params, **self._readable_conditions("v.body", "m.vouchers"))
            if ids
            else []
        )
        return self._add_voucher_names(tenant, found, damaged=True)

    def _readable_conditions(self, *texts: str) -> dict[str, str]:
        """Return the conditions that these texts can be read, by the names under which a statement leaves a place for them."""
        return {f"{text.rpartition('.')[2]}_readable": self._db.dialect.readable.format(text=text) for text in texts}

    def vouched_for(
        self, tenant: str, vouchers: Sequence[str], selection: Selection, each: int
    ) -> dict[str, tuple[str, ...]]:
        """Return by voucher the authors of what they vouch for, as principals; at most ``each`` of every voucher."""
        if not vouchers:
            return {}
        found: dict[str, tuple[str, ...]] = {}
        narrowed = self._narrow(selection, tenant=tenant, names=encode_list(vouchers), each=each)
        for row in self._db.filtered("vouched_for", *narrowed):
            author = author_principal(row["author"], row["user_id"], row["agent_id"])
            found[row["voucher"]] = tuple(dict.fromkeys((*found.get(row["voucher"], ()), author)))
        return found

    def _select_by_hash(
        self, query: str, tenant: str, hashes: Sequence[str], selection: Selection, limit: int
    ) -> list[Stored]:
        if not hashes:
            return []
        narrowed = self._narrow(selection, tenant=tenant, hashes=encode_list(hashes), limit=limit)
        return self._add_voucher_names(tenant, self._db.filtered(query, *narrowed))


class ProvenanceWrites(Capability):
    def cut_links(self, stream: Stream, number: int, memory_id: str, body: str, hashes: Sequence[str]) -> None:
        """Replace a version's body by one without some of its links, and remove what is kept elsewhere about those links.

        ``hashes`` are those of the parents that were cut: their rows in the index of parents go, the governance events that
        name them, and the answer that is kept for retries of the write.
        """
        self._db.run("cut_links", **stream.place, memory=number, body=body)
        self._db.run("note_scrub_due")
        self._db.run_many("remove_parent", [(stream.tenant, one, stream.number, number) for one in hashes])
        self._db.run("remove_retries", tenant=stream.tenant, id=memory_id)
        for one in hashes:
            self._db.run("remove_traces_holding", tenant=stream.tenant, text=one)


FEW_STREAMS = 16


class _Postings(Capability):
    def _add_postings(self, stream: Stream, number: int, terms: Findable) -> str:
        """Add a memory's terms to the index and to the stream's statistics; returns the note that takes them out.

        A text is as long as what it says: the words of its key do not make the others weigh less.
        """
        said, keyed = Counter(terms.said), Counter(terms.keyed)
        counts, length = {**said, **keyed}, len(terms.said)
        key = (stream.tenant, stream.number)
        added = [(*key, term, -number, tf, length) for term, tf in counts.items()]
        self._db.run_many("add_postings", added + [(*key, term, -TERM_COUNT, 1, 0) for term in counts])
        stream.documents += 1
        stream.words += length
        return write_term_note(said, keyed)


SORTS = {
    "turns": "kind = 'short_term'",
    "profile": "kind = 'profile'",
    "rules": "layer = 'intent' AND authority <> 'ai_inferred'",
}
"""What the indexes of the standing memories hold."""


OF_CATEGORY = "category = :of_category AND kind NOT IN ('profile', 'short_term', 'procedural')"


class StateReads(ProvenanceReads):
    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]:
        found = self._db.rows("memories_by_ids", tenant=tenant, ids=encode_list(ids))
        return {stored.state.id: stored for stored in self._add_voucher_names(tenant, found, damaged=True)}

    def by_numbers(self, stream: Stream, numbers: Sequence[int]) -> list[Stored]:
        found = self._db.rows("memories_numbered", **stream.place, numbers=encode_list(numbers))
        return self._add_voucher_names(stream.tenant, found)

    def nearby(self, stream: Stream, numbers: Sequence[int]) -> list[Nearby]:
        """Return those of these memories that are active and of kind ``semantic``; what cannot be read is left out."""
        params = {**stream.place, "numbers": encode_list(numbers)}
        readable = self._db.dialect.readable.format(text="v.body")
        found = self._db.filtered_tuples("nearby", readable, params) if numbers else []
        return [Nearby._make(row) for row in found if isinstance(row[-1], str)]

    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        """Return the memories at these places, in the order of the places."""
        found = self._db.rows("memories_at", tenant=tenant, places=encode_places(places)) if places else []
        return self._add_voucher_names(tenant, found)

    def contents(self, tenant: str, places: Sequence[Place]) -> dict[Place, str]:
        """Return the content alone of the memories at these places, which is quicker than reading them whole."""
        found = self._read_at_places("contents_at", tenant, places)
        return {(stream, number): content for stream, number, content in found if isinstance(content, str)}

    def entities(self, tenant: str, places: Sequence[Place]) -> dict[Place, list[Mapping[str, Any]]]:
        """Return the entities that the memories at these places are about; a memory that names none is left out."""
        found = self._read_at_places("entities_at", tenant, places)
        return {(stream, number): json.loads(entities) for stream, number, entities in found if entities is not None}

    def _read_at_places(self, query: str, tenant: str, places: Sequence[Place]) -> list[tuple[Any, ...]]:
        """Return a part of the bodies at these places, without the bodies that cannot be read."""
        if not places:
            return []
        params = {"tenant": tenant, "places": encode_places(places)}
        return self._db.filtered_tuples(query, self._db.dialect.readable.format(text="v.body"), params)

    def candidates(self, tenant: str, places: Sequence[Place], selection: Selection) -> dict[Place, Contender]:
        """Return what ranking needs of those memories at these places that fit the selection."""
        if not places:
            return {}
        narrowed = self._narrow(selection, tenant=tenant, places=encode_places(places))
        return {row[:2]: Contender._make(row[2:]) for row in self._db.filtered_tuples("candidates", *narrowed)}

    def ids_like(self, tenant: str, text: str, limit: int = 10) -> list[str]:
        """Return the ids that begin with these hex digits, or that go by this alias."""
        low = as_id_prefix(text)
        found = self._db.rows("ids_with_alias", tenant=tenant, alias=text, limit=limit)
        if low is not None:
            found += self._db.rows("ids_with_prefix", tenant=tenant, low=low, high=low + "~", limit=limit)
        return list(dict.fromkeys(row["id"] for row in found))

    def active_with_key(self, stream: Stream, scope: str, kind_class: str, key_identity: str) -> list[Stored]:
        """Return the active memories of a key, oldest first. There is at most one, apart from those with a shadowed key.

        :meth:`Writer.put_memory` says what a shadowed key is.
        """
        low, end = identities(key_identity)
        asked = {"scope": scope, "kind_class": kind_class, "low": low, "end": end}
        found = self._db.rows("active_with_key", **stream.place, **asked)
        return sorted(self._add_voucher_names(stream.tenant, found, damaged=True), key=lambda stored: stored.number)

    def select(self, tenant: str, selection: Selection, limit: int, *, damaged: bool = False) -> list[Stored]:
        """Return the memories that fit the selection, newest first; ``damaged`` ones only on request.

        A few streams are read one by one, so that a small stream is not searched for in a large store.
        """
        condition, params = self._narrow(selection, tenant=tenant, limit=limit)
        if selection.streams is None or len(selection.streams) > FEW_STREAMS:
            found = self._db.filtered("select_memories", condition, params)
            return self._add_voucher_names(tenant, found, damaged=damaged)
        asked = [
            self._db.filtered_soon("select_in_stream", condition, {**params, "stream": stream})
            for stream in selection.streams
        ]
        found = [row for answer in asked for row in answer()]
        found.sort(key=lambda row: (row["created_at"], row["stream"], row["memory"]), reverse=True)
        return self._add_voucher_names(tenant, found[:limit], damaged=damaged)

    def active_about(self, stream: Stream, slot: str, subject_value: str, limit: int) -> list[Stored]:
        """Return the active memories of a slot, and those with the same subject and value, oldest first; "" finds none."""
        about = {"slot": slot, "subject_value": subject_value, "limit": limit}
        numbers = [number for (number,) in self._db.tuples("active_about", **stream.place, **about)]
        return self.by_numbers(stream, numbers) if numbers else []

    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        """Return the numbers of active memories in these scopes that hold one of these ``(kind class, key identity)``."""
        asked = {"scopes": json.dumps(list(scopes)), "keys": json.dumps([list(key) for key in keys])}
        found = self._db.tuples("key_holders", **stream.place, **asked)
        return sorted(number for (number,) in found)

    def standing(
        self, stream: Stream, which: Standing, limit: int, selection: Selection | None = None
    ) -> Later[list[Stored]]:
        """Take the newest ``limit`` active memories of one standing, and return those that fit the selection, newest first."""
        narrowed = self._narrow(selection or Selection(), **stream.place, limit=limit)
        answer = self._db.filtered_soon("standing", *narrowed, which=which, sort=SORTS[which])
        return lambda: self._add_voucher_names(stream.tenant, answer())

    def standing_in(self, stream: Stream, category: str, limit: int, selection: Selection) -> Later[list[Stored]]:
        """Take the newest ``limit`` searchable active memories of a category, and return those that fit the selection."""
        narrowed = self._narrow(selection, **stream.place, limit=limit, of_category=category)
        answer = self._db.filtered_soon("standing", *narrowed, which="by_category", sort=OF_CATEGORY)
        return lambda: self._add_voucher_names(stream.tenant, answer())

    def count(self, tenant: str, selection: Selection) -> int:
        return int(self._db.filtered("count_memories", *self._narrow(selection, tenant=tenant))[0]["n"])

    def count_by(self, tenant: str, columns: Sequence[str], selection: Selection) -> dict[tuple[Any, ...], int]:
        """Return how many memories fit the selection, for each combination of the values of some columns, in order."""
        for column in columns:
            check_column(column)
        named = ", ".join(f"m.{column}" for column in columns)
        ordered = ", ".join(f"m.{column} NULLS FIRST" for column in columns)
        narrowed = self._narrow(selection, tenant=tenant)
        found = self._db.filtered("count_by", *narrowed, columns=named, ordered=ordered)
        return {tuple(row[column] for column in columns): row["n"] for row in found}

    def count_by_day(self, tenant: str, selection: Selection) -> dict[str, int]:
        """Count the selected memories that are still there by the day on which each was written."""
        found = self._db.filtered("count_by_day", *self._narrow(selection, tenant=tenant))
        return {row["day"]: row["n"] for row in found if isinstance(row["day"], str)}

    def count_removed(self, tenant: str) -> int:
        return int(self._db.rows("count_removed", tenant=tenant)[0]["n"])

    def aliases(self, tenant: str) -> list[tuple[str, str]]:
        """Return every ``(alias, memory id)``, in order."""
        return [(row["alias"], row["id"]) for row in self._db.rows("aliases_of_tenant", tenant=tenant)]

    def states(self, stream: Stream) -> list[Stored]:
        return rows.stored_from(self._db.rows("states_of_stream", **stream.place))

    def first_expiry(self, stream: Stream) -> tuple[str | None, int | None]:
        """Return when the first of a stream's active memories expires, and at which tick; ``None`` if none does."""
        ((at, tick),) = self._db.tuples("first_expiry", **stream.place) or [(None, None)]
        return at, tick

    def expired_ids(self, stream: Stream, now: str, tick: int) -> list[str]:
        """Return the ids of active memories whose time to live has run out, by the clock or by the stream's tick."""
        return [row["id"] for row in self._db.rows("expired", **stream.place, now=now, tick=tick)]

    def unused_ids(self, stream: Stream, before: str, importance: int) -> list[str]:
        """Return the ids of active, unpinned memories below this importance, neither read nor reinforced since ``before``."""
        found = self._db.rows("unused", **stream.place, before=before, importance=importance)
        return [row["id"] for row in found]

    def purgeable_ids(self, stream: Stream, now: str) -> list[str]:
        """Return the ids of memories whose content is due to be removed by now."""
        return [row["id"] for row in self._db.rows("to_purge", **stream.place, now=now)]


class StateWrites(ProvenanceWrites, _Postings):
    def put_memory(
        self,
        stream: Stream,
        number: int,
        state: State,
        body: Mapping[str, Any] | None,
        terms: Findable | None,
        *,
        shadowed: bool = False,
    ) -> None:
        """Add the row that holds a memory's current state; with ``terms``, index its text under them too.

        A key has at most one active memory, and a second one is a conflict. A memory put with ``shadowed=True`` is exempt: it
        may be active under a key that another holds, for a writer who must not learn that there is another. The exemption
        lasts for as long as the memory has this key.

        If the row exists already, only the user and the actor that ``body`` names are written to it, and ``terms`` must be
        ``None``.
        """
        row = rows.memory_row(stream, number, state, body, shadowed=shadowed)
        if terms is not None:
            row["terms"] = self._add_postings(stream, number, terms)
        self._db.run("put_memory", **row)
        for alias in body.get("aliases", ()) if body else ():
            self._db.run("add_alias", tenant=stream.tenant, alias=alias, id=state.id)
        parents = sorted(set(body.get("parent_refs", ()))) if body else []
        self._db.run_many("add_parent", [(stream.tenant, one, stream.number, number) for one in parents])

    def move_memory(self, stream: Stream, number: int, state: State, *, shadowed: bool = False) -> None:
        """Write a memory's new state to its row. ``shadowed`` is as in :meth:`put_memory`."""
        self._db.run("move_memory", **rows.state_row(stream, number, state, shadowed=shadowed))


class TextReads(Capability):
    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        """Return how many memories of a stream have each of these terms; a term that none has is left out."""
        found = self._db.rows("term_frequencies", **stream.place, terms=encode_list(terms))
        return {row["term"]: row["tf"] for row in found}

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        """Return the postings of each term, newest memory first; ``limits`` says for each term how many at most.

        With a selection, only those of memories that fit it.
        """
        asked = [{**stream.place, "term": term, "limit": limit} for term, limit in limits.items()]
        if selection is None:
            return dict(zip(limits, self._ask_each("postings", asked), strict=True))
        condition, params = where(selection, self._db.dialect)
        fitting = (self._db.filtered_tuples("fitting_postings", condition, {**params, **one}) for one in asked)
        return dict(zip(limits, fitting, strict=True))

    def postings_of(self, stream: Stream, terms: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """Return the postings of each term that belong to these memories."""
        place = {**stream.place, "numbers": encode_list(numbers)}
        asked = [{**place, "term": term} for term in terms]
        return dict(zip(terms, self._ask_each("postings_of", asked), strict=True))

    def _ask_each(self, query: str, asked: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
        """Return the answers to one query with several parameters, all asked before the first is waited for."""
        answers = [self._db.soon(query, one) for one in asked]
        return [answer() for answer in answers]

    def sharing(
        self, stream: Stream, terms: Sequence[str], shared_min: int, after: int, limit: int, selection: Selection
    ) -> list[int]:
        """Return the numbers above ``after`` of fitting memories with at least ``shared_min`` of the terms, most shared first."""
        asked = {"terms": encode_list(terms), "shared_min": shared_min, "after": after, "limit": limit}
        narrowed = self._narrow(selection, **stream.place, **asked)
        return [number for (number,) in self._db.filtered_tuples("sharing", *narrowed)]

    def neighbours(
        self, stream: Stream, numbers: Sequence[int], terms: frozenset[str], shared_min: int
    ) -> list[Neighbour]:
        """Return those of these memories that are active and say at least ``shared_min`` of the terms.

        The notes of the candidates are searched as text first: most share too little, and only the rest are parsed. For the
        many terms of a long text, parsing a note is faster than searching it for each.
        """
        found = self._db.rows("texts_numbered", **stream.place, numbers=encode_list(numbers))
        marks = [f" {term}:" for term in terms] if len(terms) <= MARKS_WORTH_SEARCHING else []
        said = ((row, said_terms_in(row["terms"])) for row in found if row["terms"])
        likely = ((row, note) for row, note in said if not marks or sum(map(note.__contains__, marks)) >= shared_min)
        read = (Neighbour(row["memory"], row["id"], terms_in(note)) for row, note in likely)
        return [one for one in read if len(one.terms & terms) >= shared_min]

    def visible(self, stream: Stream, numbers: Sequence[int], selection: Selection) -> set[int]:
        """Return those of these numbers whose memories fit the selection."""
        narrowed = self._narrow(selection, **stream.place, numbers=encode_list(numbers))
        return {row["memory"] for row in self._db.filtered("visible_numbers", *narrowed)}

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        """Return how many active memories have a scope or a category that is not listed; ``None`` lists every one."""
        seen = {"scopes": None if scopes is None else json.dumps(sorted(scopes))}
        counts = [self._db.soon("active_between_scopes", stream.place | gap) for gap in find_gaps(scopes)]
        of_categories = [stream.place | gap | seen for gap in find_gaps(categories)]
        counts += [self._db.soon("active_between_categories", gap) for gap in of_categories]
        return lambda: sum(int(answer()[0][0]) for answer in counts)


class TextWrites(_Postings):
    def index_text(self, stream: Stream, number: int, terms: Findable) -> None:
        """Index a memory that is there already, such as one that was restored."""
        note = self._add_postings(stream, number, terms)
        self._db.run("set_terms", **stream.place, memory=number, terms=note)

    def unindex_text(self, stream: Stream, numbers: Sequence[int]) -> None:
        """Take the terms of some memories out of the index; nothing happens to one that is not in it."""
        place = (stream.tenant, stream.number)
        found = self._db.tuples("terms_of", **stream.place, numbers=encode_list(numbers))
        terms = [(*place, term, number) for number, note in found for term in term_counts_in(note)]
        self._db.run_many("remove_posting", terms)
        counts = Counter(term for _, _, term, _ in terms)
        self._db.run_many("uncount_term", [(*place, term, count) for term, count in counts.items()])
        self._db.run_many("drop_uncounted_terms", [(*place, term) for term in counts])
        for number, note in found:
            self._db.run("set_terms", **stream.place, memory=number, terms=None)
            stream.documents -= 1
            stream.words -= text_length_in(note)


_FIRST, _LAST = "", chr(0x10FFFF)
"""Before and after every name that there can be."""


def find_gaps(names: Sequence[str] | None) -> list[dict[str, str]]:
    """Return the stretches between some names in order; none if any name will do."""
    if names is None:
        return []
    ordered = [_FIRST, *sorted(set(names)), _LAST]
    return [{"after": after, "before": before} for after, before in pairwise(ordered)]


def as_id_prefix(text: str) -> str | None:
    """Return an id or the beginning of one, as ids are written: ``"0f3a9c2b1d4e"`` gives ``"0f3a9c2b-1d4e"``."""
    digits = text.replace("-", "").lower()
    if not digits or len(digits) > 32 or any(c not in "0123456789abcdef" for c in digits):
        return None
    cuts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    return "-".join(digits[a:b] for a, b in cuts if digits[a:b])


class RejectionReads(Capability):
    def rejection_secrets(self, address: Address, person: str | None) -> dict[int, str]:
        """Return the keys of the streams with rejections that a write to this address must respect, by stream number.

        Those are the streams of the same space and owner in any namespace, and the user space of the ``person``.
        """
        place = {"tenant": address.tenant, "space": address.space, "owner": address.owner}
        return dict(self._db.tuples("rejection_secrets", **place, person=person or ""))

    def rejecting_streams(self, tenant: str) -> list[int]:
        """Return the numbers of the tenant's streams that have rejections, in order."""
        return [stream for (stream,) in self._db.tuples("rejecting_streams", tenant=tenant)]

    def rejections_with(self, tenant: str, stream: int, marks: Iterable[str]) -> list[str]:
        """Return the ids of a stream's rejections that have one of these marks, in order."""
        place = {"tenant": tenant, "stream": stream}
        asked = [self._db.soon("rejections_with_mark", {**place, "mark": mark}) for mark in sorted(marks)]
        return sorted({id for answer in asked for (id,) in answer()})

    def rejections(self, stream: Stream) -> list[Sealed]:
        """Return every mark of a stream's rejections, by rejection."""
        return [Sealed(*row) for row in self._db.tuples("rejections_of_stream", **stream.place)]


class RejectionWrites(Capability):
    def add_rejections(self, stream: Stream, sealed: Iterable[Sealed]) -> None:
        rows = [(stream.tenant, stream.number, one.mark, one.id, one.secret) for one in sorted(sealed)]
        self._db.run_many("add_rejection", rows)

    def remove_rejection(self, stream: Stream, id: str) -> None:
        self._db.run("remove_rejection", **stream.place, rejection=id)
