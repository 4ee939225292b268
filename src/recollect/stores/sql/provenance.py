"""What builds upon what, and who vouches for whom, over named queries, as one capability of a store."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model.principals import author_principal
from recollect.stores.protocol import Selection, Stored, Stream
from recollect.stores.sql import rows
from recollect.stores.sql.connection import Capability
from recollect.stores.sql.filters import where


class _NamesVouchers(Capability):
    def _named(self, tenant: str, found: Sequence[rows.Row], *, damaged: bool = False) -> list[Stored]:
        """Memories with the names of those who vouch for them, which most memories have not: then nothing is looked up.

        Damaged ones are left out unless they are asked for.
        """
        memories = [stored for stored in map(rows.stored_from, found) if damaged or stored.damage is None]
        uids = {one["actor"] for stored in memories for one in stored.state.vouchers}
        if not uids:
            return memories
        names = self.names_of(tenant, sorted(uids))
        return [stored._replace(actor_names=names) if stored.state.vouchers else stored for stored in memories]

    def names_of(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        found = self._db.rows("actors_with_uids", tenant=tenant, uids=json.dumps(list(uids))) if uids else []
        return {row["uid"]: row["name"] for row in found}


class ProvenanceTables(_NamesVouchers):
    """The projection of parents is kept with the row of current state, by the same calls."""

    def with_hashes(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        return self._by_hash("memories_with_hashes", tenant, hashes, selection, limit)

    def built_upon(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        return self._by_hash("built_upon", tenant, hashes, selection, limit)

    def tied_to(self, tenant: str, ids: Sequence[str]) -> list[Stored]:
        params = {"tenant": tenant, "ids": json.dumps(list(ids))}
        found = self._db.filtered("tied_to", "1 = 1", params, **self._readable("v.body", "m.vouchers")) if ids else []
        return self._named(tenant, found, damaged=True)

    def _readable(self, *texts: str) -> dict[str, str]:
        """The conditions that these texts can be read, by the names under which a statement leaves a place for them."""
        return {f"{text.rpartition('.')[2]}_readable": self._db.dialect.readable.format(text=text) for text in texts}

    def cut_links(self, stream: Stream, number: int, memory_id: str, body: str, hashes: Sequence[str]) -> None:
        self._db.run("cut_links", tenant=stream.tenant, stream=stream.number, memory=number, body=body)
        self._db.run("note_scrub_due")
        self._db.run_many("remove_parent", [(stream.tenant, one, stream.number, number) for one in hashes])
        self._db.run("remove_retries", tenant=stream.tenant, id=memory_id)
        for one in hashes:
            self._db.run("remove_traces_holding", tenant=stream.tenant, text=one)

    def vouched_for(
        self, tenant: str, vouchers: Sequence[str], selection: Selection, each: int
    ) -> dict[str, tuple[str, ...]]:
        if not vouchers:
            return {}
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": tenant, "names": json.dumps(list(dict.fromkeys(vouchers))), "each": each}
        found: dict[str, tuple[str, ...]] = {}
        for row in self._db.filtered("vouched_for", condition, params, **self._readable("v.body")):
            author = author_principal(row["author"], row["user_id"], row["agent_id"])
            found[row["voucher"]] = tuple(dict.fromkeys((*found.get(row["voucher"], ()), author)))
        return found

    def _by_hash(
        self, query: str, tenant: str, hashes: Sequence[str], selection: Selection, limit: int
    ) -> list[Stored]:
        if not hashes:
            return []
        condition, params = where(selection, self._db.dialect)
        params |= {"tenant": tenant, "hashes": json.dumps(list(dict.fromkeys(hashes))), "limit": limit}
        return self._named(tenant, self._db.filtered(query, condition, params))

    def _note_parents(self, stream: Stream, number: int, body: Mapping[str, Any] | None) -> None:
        hashes = body.get("parent_refs", ()) if body else ()
        if hashes:
            self._db.run_many(
                "add_parent", [(stream.tenant, one, stream.number, number) for one in sorted(set(hashes))]
            )
