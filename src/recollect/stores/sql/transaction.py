"""The store's capabilities over named queries, the same for every SQL engine.

Each class is one capability. A transaction is all of them over one connection, which knows how to run a named query
and nothing else.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from recollect.model.address import Address
from recollect.model.bodies import values_from
from recollect.model.canonical import canonical_json
from recollect.model.ledger import GENESIS, Entry, commit_to
from recollect.model.state import State
from recollect.rules.identity.keys import identities
from recollect.rules.language.findable import Findable
from recollect.stores.protocol import (
    NO_LIMIT,
    Comparison,
    Contender,
    Later,
    Neighbour,
    Phase,
    Place,
    PlatformId,
    Posting,
    Search,
    Selection,
    Standing,
    Stored,
    Stream,
    Version,
)
from recollect.stores.sql import rows, term_notes
from recollect.stores.sql.carrying import CarriedTables
from recollect.stores.sql.checkpoint_log import CheckpointLogTables
from recollect.stores.sql.checkpoints import CheckpointTables
from recollect.stores.sql.connection import Capability
from recollect.stores.sql.cursors import CursorTables
from recollect.stores.sql.filters import check_column, where
from recollect.stores.sql.operations import OperationTables
from recollect.stores.sql.provenance import ProvenanceTables
from recollect.stores.sql.rejections import RejectionTables
from recollect.stores.sql.traces import TraceTables
from recollect.stores.sql.vectors import RelationTables, VectorTables
from recollect.stores.sql.walking import WalkedTables

FEW_STREAMS = 16
FIRST_WRITE = "phase:first_write"
"""Why the first phase began."""
DAMAGED_VALUES = {"damaged": "these values cannot be read: run `recollect doctor`"}
"""What an entry is said to have brought if its values cannot be read."""


class StreamTables(Capability):
    def stream_at(self, address: Address) -> Stream | None:
        found = self._db.rows("stream_at", **address._asdict())
        return rows.stream_from(found[0]) if found else None

    def streams_at(self, addresses: Sequence[Address]) -> list[Stream]:
        asked = [self._db.filtered_soon("stream_at", "", address._asdict()) for address in addresses]
        return [rows.stream_from(row) for answer in asked for row in answer()]

    def stream_numbered(self, tenant: str, number: int) -> Stream:
        return rows.stream_from(self._db.rows("stream_numbered", tenant=tenant, stream=number)[0])

    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]:
        if owner is not None:
            found = self._db.rows("streams_of_owner", tenant=tenant, owner=owner)
        elif space is not None:
            found = self._db.rows("streams_of_space", tenant=tenant, space=space)
        else:
            found = self._db.rows("streams_of_tenant", tenant=tenant)
        return [rows.stream_from(row) for row in found]

    def streams_within(self, tenant: str, owners: Sequence[str], space: str) -> list[Stream]:
        rows_found = self._db.rows("streams_within", tenant=tenant, owners=_once_each(owners), space=space)
        nth = {owner: place for place, owner in enumerate(owners)}
        found = sorted(rows_found, key=lambda row: (nth.get(row["owner"], len(nth)), row["stream"]))
        return [rows.stream_from(row) for row in found]

    def actor_names(self, tenant: str) -> dict[str, tuple[str | None, bytes | None]]:
        return {row["uid"]: (row["name"], row["salt"]) for row in self._db.rows("actor_names", tenant=tenant)}

    def platform_ids(self, tenant: str) -> list[PlatformId]:
        return [PlatformId(*row) for row in self._db.tuples("platform_ids", tenant=tenant)]

    def orphans(self, tenant: str) -> list[int]:
        return [row["stream"] for row in self._db.rows("orphans", tenant=tenant)]

    def locked_stream(self, tenant: str, number: int) -> Stream:
        return rows.stream_from(self._db.rows("locked_stream", tenant=tenant, stream=number)[0])

    def locked_streams(self, tenant: str) -> list[Stream]:
        self._db.rows("no_new_streams", tenant=tenant)
        return [rows.stream_from(row) for row in self._db.rows("locked_streams", tenant=tenant)]

    def add_stream(self, address: Address, uid: str) -> Stream:
        self._db.rows("no_new_streams", tenant=address.tenant)
        self._db.run("add_stream", uid=uid, head=GENESIS, **address._asdict())
        return rows.stream_from(self._db.rows("stream_at", **address._asdict())[0])

    def advance_stream(self, stream: Stream) -> None:
        self._db.run(
            "advance_stream",
            tenant=stream.tenant,
            stream=stream.number,
            tick=stream.tick,
            last_seq=stream.last_seq,
            last_memory=stream.last_memory,
            head=stream.head,
            last_at=stream.last_at,
            documents=stream.documents,
            words=stream.words,
            phase=stream.phase,
        )

    def actor_uid(self, tenant: str, name: str, fresh_salt: bytes) -> str:
        """The actor's uid; a new actor's is a commitment to its name under ``fresh_salt``."""
        found = self._db.rows("actor_named", tenant=tenant, name=name)
        if found:
            return str(found[0]["uid"])
        uid = commit_to(fresh_salt, name)
        self.add_actor(tenant, uid, name, fresh_salt)
        return uid

    def add_actor(self, tenant: str, uid: str, name: str, salt: bytes) -> None:
        self._db.run("add_actor", tenant=tenant, uid=uid, name=name, salt=salt)

    def forget_owner(self, stream: Stream) -> int:
        self._db.run("note_scrub_due")
        for query in ("forget_stream_values", "drop_rejections"):
            self._db.run(query, tenant=stream.tenant, stream=stream.number)
        return self._db.counted("forget_owner_name", tenant=stream.tenant, stream=stream.number)

    def add_platform_id(self, tenant: str, link: PlatformId) -> None:
        self._db.run("add_platform_id", tenant=tenant, **link._asdict())

    def remove_platform_id(self, tenant: str, platform: str, id: str) -> None:
        self._db.run("remove_platform_id", tenant=tenant, platform=platform, id=id)

    def forget_actor(self, tenant: str, uid: str) -> int:
        self._db.run("forget_platform_ids", tenant=tenant, uid=uid)
        return self._db.counted("forget_actor_name", tenant=tenant, uid=uid)


class LedgerTables(Capability):
    def add_version(self, stream: Stream, number: int, id: str, body: str, salt: bytes) -> None:
        self._db.run(
            "add_version", tenant=stream.tenant, stream=stream.number, memory=number, id=id, body=body, salt=salt
        )

    def add_entry(self, stream: Stream, entry: Entry) -> None:
        self._db.run("add_entry", **rows.entry_row(stream, entry))

    def add_amendment(self, stream: Stream, seq: int, memory_id: str, body: str, salt: bytes) -> None:
        self._db.run(
            "add_amendment",
            tenant=stream.tenant,
            stream=stream.number,
            seq=seq,
            memory_id=memory_id,
            body=body,
            salt=salt,
        )

    def entries(self, stream: Stream, after: int = 0, limit: int = NO_LIMIT) -> list[Entry]:
        return self.entries_soon(stream, after, limit)()

    def entries_soon(self, stream: Stream, after: int, limit: int) -> Later[list[Entry]]:
        place = {"tenant": stream.tenant, "stream": stream.number}
        answer = self._db.soon("entries_of_stream", {**place, "after": after, "limit": limit})
        return lambda: [rows.entry_of(row) for row in answer()]

    def entries_about(self, tenant: str, memory_id: str) -> list[Entry]:
        return [rows.entry_from(row) for row in self._db.rows("entries_about", tenant=tenant, id=memory_id)]

    def versions(self, stream: Stream) -> list[Version]:
        found = self._db.rows("versions_of_stream", tenant=stream.tenant, stream=stream.number)
        return [Version(row["memory"], row["id"], row["body"], row["salt"]) for row in found]

    def amendments(self, stream: Stream) -> dict[int, tuple[str | None, bytes | None]]:
        found = self._db.rows("amendments_of_stream", tenant=stream.tenant, stream=stream.number)
        return {row["seq"]: (row["body"], row["salt"]) for row in found}

    def amendments_about(self, tenant: str, memory_id: str) -> dict[int, Mapping[str, Any]]:
        found = self._db.rows("amendments_about", tenant=tenant, id=memory_id)
        return {row["seq"]: values_from(row["body"]) or DAMAGED_VALUES for row in found}

    def first_acted_in(self, tenant: str, uid: str) -> int | None:
        found = self._db.rows("first_acted_in", tenant=tenant, uid=uid)[0]["stream"]
        return None if found is None else int(found)

    def phases(self, stream: Stream) -> list[Phase]:
        first = self._db.rows("first_entry", tenant=stream.tenant, stream=stream.number)
        if not first:
            return []
        started = self._db.rows("phases", tenant=stream.tenant, stream=stream.number)
        later = [_phase(number, row) for number, row in enumerate(started, start=2)]
        return [Phase(1, None, FIRST_WRITE, first[0]["tick"], first[0]["at"]), *later]

    def consolidation_entries(self, tenant: str) -> list[tuple[int, Entry, Mapping[str, Any]]]:
        found = self._db.rows("consolidation_entries", tenant=tenant)
        read = ((row, values_from(row["body"])) for row in found)
        return [(row["stream"], rows.entry_from(row), values) for row, values in read if values is not None]


def _phase(number: int, row: Mapping[str, Any]) -> Phase:
    said = (values_from(row["body"]) if row["body"] is not None else None) or {}
    return Phase(number, said.get("name"), said.get("reason", row["rule"]), row["tick"], row["at"])


class _Postings(Capability):
    def _add_postings(self, stream: Stream, number: int, terms: Findable) -> str:
        """Add a memory's terms to the index and to the stream's statistics; returns the note that takes them out.

        A text is as long as what it says: the words of its key do not make the others weigh less.
        """
        said, keyed = Counter(terms.said), Counter(terms.keyed)
        counts, length = {**said, **keyed}, len(terms.said)
        key = (stream.tenant, stream.number)
        self._db.run_many("add_posting", [(*key, term, number, tf, length) for term, tf in counts.items()])
        self._db.run_many("count_term", [(*key, term) for term in counts])
        stream.documents += 1
        stream.words += length
        return term_notes.written(said, keyed)


SORTS = {
    "turns": "kind = 'short_term'",
    "profile": "kind = 'profile'",
    "rules": "layer = 'intent' AND authority <> 'ai_inferred'",
}
"""What the indexes of the standing memories hold."""
OF_CATEGORY = "category = :of_category AND kind NOT IN ('profile', 'short_term', 'procedural')"


class StateTables(ProvenanceTables, _Postings):
    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]:
        found = self._db.rows("memories_by_ids", tenant=tenant, ids=_once_each(ids))
        return {stored.state.id: stored for stored in self._named(tenant, found, damaged=True)}

    def by_numbers(self, stream: Stream, numbers: Sequence[int]) -> list[Stored]:
        found = self._db.rows(
            "memories_numbered", tenant=stream.tenant, stream=stream.number, numbers=_once_each(numbers)
        )
        return self._named(stream.tenant, found)

    def by_places(self, tenant: str, places: Sequence[tuple[int, int]]) -> list[Stored]:
        found = self._db.rows("memories_at", tenant=tenant, places=listed(places)) if places else []
        return self._named(tenant, found)

    def contents(self, tenant: str, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
        found = self._at_places("contents_at", tenant, places)
        return {(stream, number): content for stream, number, content in found if isinstance(content, str)}

    def entities(
        self, tenant: str, places: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], list[Mapping[str, Any]]]:
        found = self._at_places("entities_at", tenant, places)
        return {(stream, number): json.loads(entities) for stream, number, entities in found if entities is not None}

    def _at_places(self, query: str, tenant: str, places: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        """Something out of the bodies at these places; nothing out of those that cannot be read."""
        if not places:
            return []
        params = {"tenant": tenant, "places": listed(places)}
        return self._db.filtered_tuples(query, self._db.dialect.readable.format(text="v.body"), params)

    def candidates(
        self, tenant: str, places: Sequence[tuple[int, int]], selection: Selection
    ) -> dict[tuple[int, int], Contender]:
        if not places:
            return {}
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": tenant, "places": listed(places)}
        found = self._db.filtered_tuples("candidates", condition, params)
        return {row[:2]: Contender._make(row[2:]) for row in found}

    def ids_like(self, tenant: str, text: str, limit: int = 10) -> list[str]:
        """The ids that begin with these hex digits, or that go by this alias."""
        low = prefix_of(text)
        found = self._db.rows("ids_with_alias", tenant=tenant, alias=text, limit=limit)
        if low is not None:
            found += self._db.rows("ids_with_prefix", tenant=tenant, low=low, high=low + "~", limit=limit)
        return list(dict.fromkeys(row["id"] for row in found))

    def active_with_key(self, stream: Stream, scope: str, kind_class: str, key_identity: str) -> list[Stored]:
        low, end = identities(key_identity)
        found = self._db.rows(
            "active_with_key",
            tenant=stream.tenant,
            stream=stream.number,
            scope=scope,
            kind_class=kind_class,
            low=low,
            end=end,
        )
        return sorted(self._named(stream.tenant, found, damaged=True), key=lambda stored: stored.number)

    def select(self, tenant: str, selection: Selection, limit: int, *, damaged: bool = False) -> list[Stored]:
        """Newest first. A few streams are read one by one, so that a small one is not searched for in a large store."""
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": tenant, "limit": limit}
        if selection.streams is None or len(selection.streams) > FEW_STREAMS:
            found = self._db.filtered("select_memories", condition, params)
            return self._named(tenant, found, damaged=damaged)
        asked = [
            self._db.filtered_soon("select_in_stream", condition, {**params, "stream": stream})
            for stream in selection.streams
        ]
        found = [row for answer in asked for row in answer()]
        found.sort(key=lambda row: (row["created_at"], row["stream"], row["memory"]), reverse=True)
        return self._named(tenant, found[:limit], damaged=damaged)

    def active_about(self, stream: Stream, slot: str, subject_value: str, limit: int) -> list[Stored]:
        about = {"tenant": stream.tenant, "stream": stream.number, "slot": slot, "subject_value": subject_value}
        numbers = [number for (number,) in self._db.tuples("active_about", **about, limit=limit)]
        return self.by_numbers(stream, numbers) if numbers else []

    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        found = self._db.tuples(
            "key_holders",
            tenant=stream.tenant,
            stream=stream.number,
            scopes=json.dumps(list(scopes)),
            keys=json.dumps([list(key) for key in keys]),
        )
        return sorted(number for (number,) in found)

    def standing(
        self, stream: Stream, which: Standing, limit: int, selection: Selection | None = None
    ) -> Later[list[Stored]]:
        condition, params = where(selection or Selection(), self._db.dialect)
        params |= {"tenant": stream.tenant, "stream": stream.number, "limit": limit}
        answer = self._db.filtered_soon("standing", condition, params, which=which, sort=SORTS[which])
        return lambda: self._named(stream.tenant, answer())

    def standing_in(self, stream: Stream, category: str, limit: int, selection: Selection) -> Later[list[Stored]]:
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": stream.tenant, "stream": stream.number, "limit": limit, "of_category": category}
        answer = self._db.filtered_soon("standing", condition, params, which="by_category", sort=OF_CATEGORY)
        return lambda: self._named(stream.tenant, answer())

    def count(self, tenant: str, selection: Selection) -> int:
        condition, params = where(selection, self._db.dialect)
        return int(self._db.filtered("count_memories", condition, {**params, "tenant": tenant})[0]["n"])

    def count_by(self, tenant: str, column: str, selection: Selection) -> dict[str, int]:
        check_column(column)
        condition, params = where(selection, self._db.dialect)
        found = self._db.filtered("count_by", condition, {**params, "tenant": tenant}, column=column)
        return {str(row["value"]): row["n"] for row in found}

    def count_removed(self, tenant: str) -> int:
        return int(self._db.rows("count_removed", tenant=tenant)[0]["n"])

    def aliases(self, tenant: str) -> list[tuple[str, str]]:
        return [(row["alias"], row["id"]) for row in self._db.rows("aliases_of_tenant", tenant=tenant)]

    def states(self, stream: Stream) -> list[Stored]:
        found = self._db.rows("states_of_stream", tenant=stream.tenant, stream=stream.number)
        return [rows.stored_from(row) for row in found]

    def expired_ids(self, stream: Stream, now: str, tick: int) -> list[str]:
        found = self._db.rows("expired", tenant=stream.tenant, stream=stream.number, now=now, tick=tick)
        return [row["id"] for row in found]

    def unused_ids(self, stream: Stream, before: str, importance: int) -> list[str]:
        found = self._db.rows(
            "unused", tenant=stream.tenant, stream=stream.number, before=before, importance=importance
        )
        return [row["id"] for row in found]

    def purgeable_ids(self, stream: Stream, now: str) -> list[str]:
        return [row["id"] for row in self._db.rows("to_purge", tenant=stream.tenant, stream=stream.number, now=now)]

    def put_memory(
        self,
        stream: Stream,
        number: int,
        state: State,
        body: Mapping[str, Any] | None,
        terms: Findable | None,
        *,
        beside: bool = False,
    ) -> None:
        row = rows.memory_row(stream, number, state, body, beside=beside)
        if terms is not None:
            row["terms"] = self._add_postings(stream, number, terms)
        self._db.run("put_memory", **row)
        for alias in body.get("aliases", ()) if body else ():
            self._db.run("add_alias", tenant=stream.tenant, alias=alias, id=state.id)
        self._note_parents(stream, number, body)

    def move_memory(self, stream: Stream, number: int, state: State, *, beside: bool = False) -> None:
        self._db.run("move_memory", **rows.state_row(stream, number, state, beside=beside))


class TextTables(_Postings):
    def index_text(self, stream: Stream, number: int, terms: Findable) -> None:
        """Index a memory that is there already, such as one that was restored."""
        note = self._add_postings(stream, number, terms)
        self._db.run("set_terms", tenant=stream.tenant, stream=stream.number, memory=number, terms=note)

    def unindex_text(self, stream: Stream, numbers: Sequence[int]) -> None:
        """Take the terms of some memories out again; nothing happens to one that is not indexed."""
        place = (stream.tenant, stream.number)
        found = self._db.tuples("terms_of", tenant=stream.tenant, stream=stream.number, numbers=_once_each(numbers))
        terms = [(*place, term, number) for number, note in found for term in term_notes.counts_in(note)]
        self._db.run_many("remove_posting", terms)
        counts = Counter(term for _, _, term, _ in terms)
        self._db.run_many("uncount_term", [(*place, term, count) for term, count in counts.items()])
        self._db.run_many("drop_uncounted_terms", [(*place, term) for term in counts])
        for number, note in found:
            self._db.run("set_terms", tenant=stream.tenant, stream=stream.number, memory=number, terms=None)
            stream.documents -= 1
            stream.words -= term_notes.length_in(note)

    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        found = self._db.rows("term_frequencies", tenant=stream.tenant, stream=stream.number, terms=_once_each(terms))
        return {row["term"]: row["tf"] for row in found}

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        place = {"tenant": stream.tenant, "stream": stream.number}
        asked = [{**place, "term": term, "limit": limit} for term, limit in limits.items()]
        if selection is None:
            return dict(zip(limits, self._each("postings", asked), strict=True))
        condition, params = where(selection, self._db.dialect)
        fitting = (self._db.filtered_tuples("fitting_postings", condition, {**params, **one}) for one in asked)
        return dict(zip(limits, fitting, strict=True))

    def postings_of(self, stream: Stream, terms: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        place = {"tenant": stream.tenant, "stream": stream.number, "numbers": _once_each(numbers)}
        asked = [{**place, "term": term} for term in terms]
        return dict(zip(terms, self._each("postings_of", asked), strict=True))

    def _each(self, query: str, asked: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
        """The answers to one query with several parameters, all asked before the first is waited for."""
        answers = [self._db.soon(query, one) for one in asked]
        return [answer() for answer in answers]

    def sharing(
        self, stream: Stream, terms: Sequence[str], shared_min: int, after: int, limit: int, selection: Selection
    ) -> list[int]:
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": stream.tenant, "stream": stream.number, "terms": _once_each(terms)}
        params |= {"shared_min": shared_min, "after": after, "limit": limit}
        return [number for (number,) in self._db.filtered_tuples("sharing", condition, params)]

    def neighbours(
        self, stream: Stream, numbers: Sequence[int], terms: frozenset[str], shared_min: int
    ) -> list[Neighbour]:
        """Most candidates share too little, which is seen in their notes as they stand; only the rest are taken apart."""
        found = self._db.rows("texts_numbered", tenant=stream.tenant, stream=stream.number, numbers=_once_each(numbers))
        marks = [f" {term}:" for term in terms]
        said = ((row, term_notes.said_in(row["terms"])) for row in found if row["terms"])
        likely = ((row, note) for row, note in said if sum(mark in note for mark in marks) >= shared_min)
        read = (Neighbour(row["memory"], row["id"], frozenset(term_notes.counts_in(note))) for row, note in likely)
        return [one for one in read if len(one.terms & terms) >= shared_min]

    def visible(self, stream: Stream, numbers: Sequence[int], selection: Selection) -> set[int]:
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": stream.tenant, "stream": stream.number, "numbers": _once_each(numbers)}
        return {row["memory"] for row in self._db.filtered("visible_numbers", condition, params)}

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        where = {"tenant": stream.tenant, "stream": stream.number}
        seen = None if scopes is None else json.dumps(sorted(scopes))
        counts = [self._db.soon("active_between_scopes", where | gap) for gap in gaps(scopes)]
        of_categories = [{**where, **gap, "scopes": seen} for gap in gaps(categories)]
        counts += [self._db.soon("active_between_categories", gap) for gap in of_categories]
        return lambda: sum(int(answer()[0][0]) for answer in counts)


_FIRST, _LAST = "", chr(0x10FFFF)
"""Before and after every name that there can be."""


def gaps(names: Sequence[str] | None) -> list[dict[str, str]]:
    """The stretches between some names in order; none if any name will do."""
    if names is None:
        return []
    ordered = [_FIRST, *sorted(set(names)), _LAST]
    return [{"after": after, "before": before} for after, before in pairwise(ordered)]


class SideTables(Capability):
    """What lies beside the ledger: counters, retries, and the removal of content."""

    def remove_content(self, stream: Stream, number: int, memory_id: str) -> int:
        """Take away every value of a memory; ids, hashes of entries and the chain stay. Counts the traces removed."""
        place = {"tenant": stream.tenant, "stream": stream.number, "memory": number}
        self._db.run("remove_version_body", **place)
        self._db.run("note_scrub_due")
        for query in ("strip_memory", "remove_vectors", "remove_relations", "remove_parents"):
            self._db.run(query, **place)
        for query in ("remove_amendment_bodies", "remove_aliases", "remove_accesses", "remove_retries"):
            self._db.run(query, tenant=stream.tenant, id=memory_id)
        return self._db.counted("remove_traces_of_memory", tenant=stream.tenant, id=memory_id)

    def indexed_text(self, stream: Stream) -> list[tuple[str, int, int, int]]:
        return self._db.tuples("postings_of_stream", tenant=stream.tenant, stream=stream.number)

    def drop_projections(self, stream: Stream) -> None:
        for query in ("drop_memories", "drop_postings", "drop_relations", "drop_parents", "drop_rejections"):
            self._db.run(query, tenant=stream.tenant, stream=stream.number)
        stream.documents = stream.words = 0

    def count_accesses(self, tenant: str, counts: Mapping[str, tuple[int, str]]) -> None:
        self._db.run_many("count_access", [(tenant, id, *counted) for id, counted in sorted(counts.items())])

    def retry(self, tenant: str, key: str) -> dict[str, Any] | None:
        found = self._db.rows("retry", tenant=tenant, key=key)
        return {**dict(found[0]), "reasons": json.loads(found[0]["reasons"])} if found else None

    def keep_retry(self, tenant: str, key: str, answer: Mapping[str, Any]) -> None:
        reasons = canonical_json(list(answer["reasons"]))
        self._db.run("keep_retry", **{**answer, "tenant": tenant, "key": key, "reasons": reasons})


class Unannounced:
    """An engine in the same process has nothing to gain from knowing beforehand what will be read."""

    def in_advance(self) -> "Transaction | None":
        return None

    def announce_search(self, tenant: str, search: Search) -> None:
        """Do nothing."""

    def announce_comparison(self, tenant: str, comparison: Comparison) -> None:
        """Do nothing."""

    def at_hand(self, places: Sequence[Place], selection: Selection) -> Sequence[Place]:
        return places


class Transaction(
    Unannounced,
    StreamTables,
    LedgerTables,
    StateTables,
    TextTables,
    SideTables,
    TraceTables,
    CheckpointTables,
    CarriedTables,
    OperationTables,
    CursorTables,
    VectorTables,
    RelationTables,
    RejectionTables,
    CheckpointLogTables,
    WalkedTables,
):
    """All capabilities over one connection: a reader inside a snapshot, a writer inside a write transaction."""


def listed(places: Sequence[tuple[int, int]]) -> str:
    """Places as the queries take them: a JSON array of pairs."""
    return f"[{','.join(f'[{stream},{number}]' for stream, number in dict.fromkeys(places))}]"


def _once_each(values: Iterable[str | int]) -> str:
    """A list as the queries take it; a value given twice would come back twice."""
    return json.dumps(list(dict.fromkeys(values)))


def prefix_of(text: str) -> str | None:
    """An id or the beginning of one, as ids are written: ``"0f3a9c2b1d4e"`` gives ``"0f3a9c2b-1d4e"``."""
    digits = text.replace("-", "").lower()
    if not digits or len(digits) > 32 or any(c not in "0123456789abcdef" for c in digits):
        return None
    cuts = ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32))
    return "-".join(digits[a:b] for a, b in cuts if digits[a:b])
