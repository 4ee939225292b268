"""Where threads stand in what changed, over named queries, as one capability of a store."""

import json
from collections.abc import Sequence

from recollect.stores.protocol import Cursor, Revision, Thread
from recollect.stores.sql.connection import Capability


class CursorTables(Capability):
    """Finding, moving and removing them. A thread's own row is the arbiter of every move of its cursors."""

    def revision(self, tenant: str, thread: Thread) -> Revision | None:
        found = self._db.rows("thread_revision", tenant=tenant, **thread._asdict())
        return Revision(**dict(found[0])) if found else None

    def cursors(self, tenant: str, thread: Thread) -> dict[int, Cursor]:
        found = self._db.rows("thread_cursors", tenant=tenant, **thread._asdict())
        return {row["stream"]: Cursor(row["stream"], row["seq"], tuple(json.loads(row["shown"]))) for row in found}

    def newest_stream(self, tenant: str) -> int:
        return int(self._db.rows("newest_stream", tenant=tenant)[0]["newest"])

    def begin_thread(self, tenant: str, thread: Thread, at: Revision, cursors: Sequence[Cursor]) -> bool:
        begun = self._db.counted("begin_thread", tenant=tenant, **thread._asdict(), **at._asdict()) == 1
        if begun:
            self._put(tenant, thread, cursors)
        return begun

    def move_thread(self, tenant: str, thread: Thread, to: Revision, cursors: Sequence[Cursor]) -> bool:
        place = {"rev": to.rev, "moves": to.moves, "round_until": to.round_until}
        moved = self._db.counted("move_thread", tenant=tenant, **thread._asdict(), **place) == 1
        if moved:
            self._put(tenant, thread, cursors)
        return moved

    def remove_cursors_naming(self, tenant: str, name: str) -> None:
        gone = self._db.counted("remove_threads_naming", tenant=tenant, name=name)
        gone += self._db.counted("remove_cursors_naming", tenant=tenant, name=name)
        if gone:
            self._db.run("note_scrub_due")

    def remove_cursors_of_thread(self, tenant: str, name: str, user: str | None = None) -> None:
        for query in ("remove_threads_named", "remove_cursors_named"):
            self._db.run(query, tenant=tenant, name=name, user=user)

    def _put(self, tenant: str, thread: Thread, cursors: Sequence[Cursor]) -> None:
        """In one order for everybody, so that two never wait for each other."""
        rows = [(tenant, *thread, one.stream, one.seq, json.dumps(one.shown)) for one in sorted(cursors)]
        self._db.run_many("put_cursor", rows)
