"""A walk through everything that a stream holds, over named queries, as one capability of a store.

Each call reads a page, so that a walk through millions of rows takes no more memory than one through a thousand.
"""

from collections.abc import Mapping
from typing import Any

from recollect.model.ledger import Event
from recollect.stores.protocol import Amendment, IndexedTerm, Relation, Removals, Stream, WalkedState, WalkedVersion
from recollect.stores.sql import rows
from recollect.stores.sql.connection import Capability
from recollect.stores.sql.vectors import relation_from

BEFORE_ALL = -(2**63)


class WalkedTables(Capability):
    def versions_after(self, stream: Stream, after: int, limit: int) -> list[WalkedVersion]:
        found = self._db.tuples("versions_after", **_of(stream), after=after, limit=limit)
        return [WalkedVersion(number, id, body, salt, tuple(rest)) for number, id, body, salt, *rest in found]

    def stray_column(self, version: WalkedVersion, body: Mapping[str, Any] | None) -> str | None:
        return rows.stray_column(version.number, version.repeated, body)

    def amendments_after(self, stream: Stream, after: int, limit: int) -> list[Amendment]:
        return [Amendment(*row) for row in self._db.tuples("amendments_after", **_of(stream), after=after, limit=limit)]

    def states_after(self, stream: Stream, after: int, limit: int) -> list[WalkedState]:
        found = self._db.tuples("states_after", **_of(stream), after=after, limit=limit)
        return [WalkedState(row[0], row[1], rows.state_of(row[2:])) for row in found]

    def removals(self, stream: Stream) -> Removals:
        found = Removals(set(), {})
        for id, event, seal in self._db.tuples("removals", **_of(stream)):
            if event == Event.SEVERED:
                found.links.setdefault(id, []).append(seal)
            else:
                found.contents.add(id)
        return found

    def parents_between(self, stream: Stream, after: int, upto: int) -> list[tuple[int, str]]:
        return self._db.tuples("parents_between", **_of(stream), after=after, upto=upto)

    def relations_between(self, stream: Stream, after: int, upto: int) -> list[Relation]:
        return [relation_from(row) for row in self._db.rows("relations_between", **_of(stream), after=after, upto=upto)]

    def postings_after(self, stream: Stream, last: tuple[str, int] | None, limit: int) -> list[IndexedTerm]:
        term, place = ("", BEFORE_ALL) if last is None else (last[0], -last[1])
        return self._db.tuples("postings_after", **_of(stream), term=term, place=place, limit=limit)

    def entry_hashes(self, stream: Stream, after: int, limit: int) -> list[str]:
        return [hash for (hash,) in self._db.tuples("entry_hashes", **_of(stream), after=after, limit=limit)]


def _of(stream: Stream) -> dict[str, Any]:
    return {"tenant": stream.tenant, "stream": stream.number}
