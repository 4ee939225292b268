"""The worker's cursors and leases, over named queries."""

from recollect.stores.protocol import Behind, Lease
from recollect.stores.sql.queries import Capability


class WorkerTables(Capability):
    """Finding what a job has to look at, and sharing tenants between workers. One statement is the arbiter of each change."""

    def streams_behind(self, tenant: str, job: str, since: str = "") -> list[Behind]:
        return [Behind(*row) for row in self._db.tuples("streams_behind", tenant=tenant, job=job, since=since)]

    def move_worker_cursor(self, tenant: str, lease: Lease, job: str, found: Behind, seq: int, at: str) -> bool:
        place = {"stream": found.stream, "job": job, "found": found.seq, "seq": seq, "at": at}
        held = {"holder": lease.holder, "number": lease.number}
        return self._db.counted("move_worker_cursor", tenant=tenant, **place, **held) == 1

    def lease(self, tenant: str) -> Lease | None:
        found = self._db.rows("lease", tenant=tenant)
        return Lease(**dict(found[0])) if found else None

    def take_lease(self, tenant: str, holder: str, now: str, until: str) -> Lease | None:
        taken = self._db.counted("take_lease", tenant=tenant, holder=holder, now=now, until=until) == 1
        return self.lease(tenant) if taken else None

    def renew_lease(self, tenant: str, lease: Lease) -> bool:
        return self._db.counted("renew_lease", tenant=tenant, **lease._asdict()) == 1
