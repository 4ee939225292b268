"""The worker's rounds as jobs of procrastinate, for a fleet of workers on one PostgreSQL store.

The queue has a schema and a role of its own in the store's database. A periodic job puts the tenants whose turn has come into the
queue, each at most once; another puts back what a worker left behind that is gone. Which process runs a round is the queue's
business; what a round does is the same as without it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import resources
from threading import Event
from typing import Any

from recollect.compose import POSTGRES, is_url
from recollect.engine.arguments import check_names
from recollect.engine.upkeep import worker
from recollect.engine.upkeep.worker import Worker
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, StoreUnavailable, how_to_install
from recollect.model.operation import Round

QUEUE = "recollect"
SCHEMA = "recollect_jobs"
"""The name of the schema and of the role that owns it."""
HOLDER = "procrastinate"
"""All of a fleet hold leases under one name: the queue sees to it that one of them at a time has a tenant."""
CONNECTIONS = 4
AT_ONCE = 2
"""How many jobs a worker runs at once, so that a long round does not keep the periodic ones waiting."""
LOCK = 0x7265636F_6A6F6273
"""The number of the lock under which one worker makes the tables, and the others wait."""


def work_from_queue(
    memory: Recollect,
    url: str,
    *,
    once: bool = False,
    stop: Event,
    each: Callable[[Round], None],
    tenants: Sequence[str] | None = None,
    jobs: Sequence[str] | None = None,
    every_hours: int = 24,
    max_minutes: int = 60,
    lease_s: int = 600,
    alive_s: float = 10.0,
    gone_s: float = 30.0,
) -> None:
    """Run rounds from the queue until ``stop`` is set; with ``once``, put every tenant in and run until the queue is empty.

    A worker shows every ``alive_s`` that it is alive, and is taken for gone after ``gone_s`` without that.
    """
    if not is_url(url) or url.split("://", 1)[0] not in POSTGRES:
        raise BadInput("procrastinate needs a store on PostgreSQL.", field="store", hint="Name a postgresql:// URL.")
    known = None if tenants is None else check_names("tenants", tenants)
    bounds = worker.check_bounds(every_hours, max_minutes, lease_s)
    settings: dict[str, Any] = {"bounds": bounds, "jobs": jobs, "stopping": stop.is_set, "holder": HOLDER}
    with worker.open_worker(memory.engine, **settings) as at_work:
        asyncio.run(_Fleet(at_work, url, known, each, stop, alive_s, gone_s).run(once))


class _Fleet:
    """One worker of a fleet: its tasks, and the connection to the queue."""

    def __init__(
        self,
        at_work: Worker,
        url: str,
        tenants: Sequence[str] | None,
        each: Callable[[Round], None],
        stop: Event,
        alive_s: float,
        gone_s: float,
    ) -> None:
        try:
            import procrastinate
        except ModuleNotFoundError as missing:
            raise StoreUnavailable(
                f"the package {missing.name} is not installed.", hint=how_to_install("procrastinate")
            ) from missing
        self._library, self._worker, self._tenants, self._each = procrastinate, at_work, tenants, each
        self._stop, self._alive_s, self._gone_s = stop, alive_s, gone_s
        _make_tables(url, procrastinate.schema.SchemaManager.get_schema())
        connector = procrastinate.PsycopgConnector(max_size=CONNECTIONS, **_connection(url))
        self._app = procrastinate.App(connector=connector)
        self._round = self._app.task(name="recollect.round", queue=QUEUE)(self._run_round)
        for task, name, cron in (
            (self._put_due, "recollect.put_due", "*/10 * * * *"),
            (self._put_back, "recollect.put_back", "* * * * *" if gone_s >= 30 else "* * * * * *"),
        ):
            made = self._app.task(name=name, queue=QUEUE, queueing_lock=name, lock=name)(task)
            self._app.periodic(cron=cron)(made)

    async def run(self, once: bool) -> None:
        async with self._app.open_async():
            if once:
                await self._put(self._all())
            running = asyncio.create_task(
                self._app.run_worker_async(
                    queues=[QUEUE],
                    wait=not once,
                    concurrency=AT_ONCE,
                    install_signal_handlers=False,
                    delete_jobs="successful",
                    update_heartbeat_interval=self._alive_s,
                    stalled_worker_timeout=self._gone_s,
                )
            )
            told = asyncio.create_task(asyncio.to_thread(self._stop.wait))
            await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
            self._stop.set()
            running.cancel()  # which lets a round end after the stream at hand
            with suppress(asyncio.CancelledError):
                await running
            await told

    async def _run_round(self, tenant: str) -> None:
        self._each(await asyncio.to_thread(worker.run_round, self._worker, tenant))

    async def _put_due(self, timestamp: int) -> None:
        """Put every tenant into the queue whose turn has come, and whose round nobody runs at the moment."""
        begun = await self._find_begun()
        due = await asyncio.to_thread(lambda: worker.find_due(self._worker, self._all()))
        begun |= await self._find_begun()  # a round may have begun or ended meanwhile
        await self._put([tenant for tenant in due if tenant not in begun])

    async def _find_begun(self) -> set[str | None]:
        jobs = await self._app.job_manager.list_jobs_async(queue=QUEUE, task=self._round.name, status="doing")
        return {job.lock for job in jobs}

    async def _put_back(self, timestamp: int) -> None:
        """Put back the jobs of workers that are gone."""
        manager = self._app.job_manager
        for job in await manager.get_stalled_jobs(queue=QUEUE, seconds_since_heartbeat=self._gone_s):
            with suppress(self._library.exceptions.ConnectorException):  # somebody else has put it back
                await manager.finish_job(job, self._library.jobs.Status.FAILED, delete_job=True)
                await self._put([str(name) for key, name in job.task_kwargs.items() if key == "tenant"])

    async def _put(self, tenants: Sequence[str]) -> None:
        for tenant in tenants:
            deferrer = self._round.configure(lock=tenant, queueing_lock=tenant)
            with suppress(self._library.exceptions.AlreadyEnqueued):
                await deferrer.defer_async(tenant=tenant)

    def _all(self) -> Sequence[str]:
        return self._worker.engine.store.tenants() if self._tenants is None else self._tenants


def _connection(url: str) -> dict[str, Any]:
    """Return how procrastinate connects: as the queue's own role, in the queue's own schema."""
    from psycopg.conninfo import conninfo_to_dict

    from recollect.stores.postgres.connections import parse_location

    place = parse_location(url).url
    said = str(conninfo_to_dict(place).get("options") or "")
    options = f"{said} -c role={SCHEMA} -c search_path={SCHEMA},pg_temp".strip()
    return {"conninfo": place, "kwargs": {"options": options, "application_name": "recollect worker"}}


def _make_tables(url: str, schema: str) -> None:
    """Make the role, the schema and procrastinate's tables in it, unless they are there."""
    from recollect.stores.postgres.connections import Connections, parse_location, translate_errors

    place = parse_location(url)
    script = resources.files("recollect.stores.postgres").joinpath("job_queue.sql").read_text(encoding="utf-8")
    with translate_errors(place.shown), Connections(place, 30.0).connect_alone() as db, db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = db.execute("SELECT to_regclass('recollect_jobs.procrastinate_jobs') IS NOT NULL AS found").fetchone()
        if found is not None and not found["found"]:
            db.execute(script)
            db.execute(schema)
