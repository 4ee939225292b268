"""Run upkeep, consolidation and the jobs that ask a language model, in rounds over the tenants.

A job finds its streams by comparing the ledger with its cursor. The cursor moves after the work, so that a crash loses
nothing; jobs are idempotent, so that a stream may be visited twice. A lease keeps two workers off one tenant. It only saves
work: cursors move by compare and set, and jobs check again inside the lock what they change.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from recollect.engine.arguments import check_number, check_word
from recollect.engine.context import Engine, fresh_uuid
from recollect.engine.lifecycle import changes, consolidation
from recollect.engine.upkeep.jobs import JOBS, run_job
from recollect.engine.upkeep.running import write_alone
from recollect.llm import Model, open_model
from recollect.llm.protocol import A, Prompt, Reply
from recollect.model.caller import Right
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import NotAllowed, RecollectError, StoreError
from recollect.model.operation import FailedStream, JobReport, Round, RoundOutcome, WorkerJob
from recollect.model.receipt import UpkeepReport
from recollect.model.run import Job, RunOutcome
from recollect.model.state import is_time
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.time.slots import is_due, last_slot
from recollect.stores.protocol import Behind, Lease, Writer

LOOK_AGAIN = timedelta(minutes=1)
"""How long an idle worker sleeps at most."""
LONGEST_LEASE = timedelta(days=1)
NEW_TENANTS = timedelta(hours=1)
"""How long a worker uses its list of tenants: to list them, a store reads much of itself."""
ANSWERED_WITHIN = timedelta(days=1)
"""How long after a model call a stream is visited again: daily caps may have put work off."""
OF_ONE_RUN = frozenset({"model:run_limit", "model:call_limit"})
"""Limits that end a run and not the round: the next stream has a run of its own."""

Progress = Callable[[str, str, int, int], None]
"""Called with the tenant, the job, and how many of how many streams are done."""
Wait = Callable[[float], bool]
"""Waits for so many seconds; returns whether the worker has to end."""


class Bounds(NamedTuple):
    """The interval between a tenant's rounds, the longest time of one, and the time after which a lease ends unless renewed."""

    every: timedelta = timedelta(hours=24)
    longest: timedelta = timedelta(minutes=60)
    lease: timedelta = timedelta(minutes=10)


def check_bounds(every_hours: int, max_minutes: int, lease_s: int) -> Bounds:
    """Return the bounds, or raise an error that names the wrong one."""
    return Bounds(
        timedelta(hours=check_number("every_hours", every_hours, 1, 8_760)),
        timedelta(minutes=check_number("max_minutes", max_minutes, 1, 1_440)),
        timedelta(seconds=check_number("lease_s", lease_s, 1, LONGEST_LEASE // timedelta(seconds=1))),
    )


@dataclass(frozen=True)
class Worker:
    """What all rounds of one worker share. ``stopping`` returns whether the worker has to end."""

    engine: Engine
    bounds: Bounds
    jobs: tuple[WorkerJob, ...]
    stopping: Callable[[], bool]
    progress: Progress | None
    holder: str
    model: Model | None

    def of(self, tenant: str) -> Engine:
        return self.engine.seen_by(replace(self.engine.caller, tenant=tenant))


@contextmanager
def open_worker(
    engine: Engine,
    *,
    bounds: Bounds | None = None,
    jobs: Sequence[str] | None = None,
    stopping: Callable[[], bool] = lambda: False,
    progress: Progress | None = None,
    holder: str | None = None,
) -> Iterator[Worker]:
    """Yield a worker that asks the model which the policy configures, if any, and close that model afterwards.

    Workers of one ``holder`` share leases: the caller must see to it that only one of them works on a tenant.
    """
    engine.require(Right.OPERATE, "look after tenants")
    if not engine.caller.trusted:
        hint = "Have the application run it, or call `upkeep` for your own tenant."
        message = "a bound caller belongs to one tenant, and a worker looks after several."
        raise NotAllowed(message, field="tenants", hint=hint)
    chosen = tuple(WorkerJob) if jobs is None else tuple(WorkerJob(check_word("jobs", WorkerJob, one)) for one in jobs)
    model = open_model(engine.policy.model)
    try:
        yield Worker(
            engine, bounds or Bounds(), chosen, stopping, progress, holder or fresh_uuid(engine.randomness), model
        )
    finally:
        if model is not None:
            model.close()


def work_once(worker: Worker, tenants: Sequence[str] | None, each: Callable[[Round], None]) -> tuple[Round, ...]:
    """Run one round for each tenant, whether it is due or not."""
    rounds: list[Round] = []
    for tenant in worker.engine.store.tenants() if tenants is None else tenants:
        if worker.stopping():
            break
        rounds.append(run_round(worker, tenant))
        each(rounds[-1])
    _scrub(worker)
    return tuple(rounds)


def _scrub(worker: Worker) -> None:
    """Scrub removed bytes from the files: once for all tenants, since it takes long and blocks others."""
    if WorkerJob.UPKEEP in worker.jobs and not worker.stopping() and worker.engine.store.scrub_due():
        changes.scrub_files(worker.engine)


def work_forever(worker: Worker, tenants: Sequence[str] | None, each: Callable[[Round], None], wait: Wait) -> None:
    """Run each tenant's round when it is due, until ``wait`` returns that the worker has to end."""
    next_look: dict[str, datetime] = {}
    known = tuple(tenants or ())
    next_list = next_scrub = worker.engine.clock()
    while True:
        now = worker.engine.clock()
        if tenants is None and now >= next_list:
            known, next_list = tuple(worker.engine.store.tenants()), now + NEW_TENANTS
        for tenant in known:
            if not worker.stopping() and next_look.get(tenant, now) <= worker.engine.clock():
                next_look[tenant] = _visit(worker, tenant, each)
        if now >= next_scrub:
            _scrub(worker)
            next_scrub = now + worker.bounds.every
        left = min(next_look.values(), default=now + LOOK_AGAIN) - worker.engine.clock()
        if worker.stopping() or wait(max(0.0, min(left, LOOK_AGAIN).total_seconds())):
            return


def _visit(worker: Worker, tenant: str, each: Callable[[Round], None]) -> datetime:
    """Run a tenant's round if it is due; return when to visit the tenant next."""
    if find_due(worker, [tenant]):
        done = run_round(worker, tenant)
        each(done)
        if done.outcome in (RoundOutcome.BUSY, RoundOutcome.TAKEN_OVER):
            lease, soon = _read_lease(worker, tenant), worker.engine.clock() + LOOK_AGAIN
            return min(parse_time(lease.until), soon) if lease is not None else soon
    return last_slot(tenant, worker.engine.clock(), worker.bounds.every) + worker.bounds.every


def _read_lease(worker: Worker, tenant: str) -> Lease | None:
    with worker.of(tenant).read(brief=True) as reader:
        return reader.lease(tenant)


def find_due(worker: Worker, tenants: Sequence[str]) -> list[str]:
    """Return those of these tenants whose round is due."""
    due = []
    for tenant in tenants:
        lease = _read_lease(worker, tenant)
        last = parse_time(lease.last_round) if lease is not None and lease.last_round else None
        if is_due(tenant, last, worker.engine.clock(), worker.bounds.every):
            due.append(tenant)
    return due


class RoundEnded(Exception):
    """Ends a round before all is done."""

    def __init__(self, outcome: RoundOutcome) -> None:
        self.outcome = outcome
        super().__init__(str(outcome))


@dataclass
class Tenure:
    """A lease that is held, and the round that it is for."""

    worker: Worker
    engine: Engine
    lease: Lease
    started: datetime
    reports: list[JobReport] = field(default_factory=list)

    def check(self) -> None:
        """Raise if the round has to end; renew the lease when a third of its time is over."""
        now, bounds = self.engine.clock(), self.worker.bounds
        if self.worker.stopping():
            raise RoundEnded(RoundOutcome.STOPPED)
        if now - self.started >= bounds.longest:
            raise RoundEnded(RoundOutcome.OUT_OF_TIME)
        if parse_time(self.lease.until) - now < bounds.lease * 2 / 3:
            self.renew(now + bounds.lease)

    def renew(self, until: datetime, last_round: str | None = None) -> None:
        """Hold the lease until then; raise if somebody else holds it."""
        last = self.lease.last_round if last_round is None else last_round
        self.lease = self.lease._replace(until=format_time(until), last_round=last)
        if not write_alone(self.engine, lambda writer: writer.renew_lease(self.engine.tenant, self.lease)):
            raise RoundEnded(RoundOutcome.TAKEN_OVER)

    def move(self, job: str, found: Behind, seq: int) -> None:
        """Move a job's cursor; raise if the lease is not ours any more. Another may have moved the cursor without a lease."""
        engine, lease = self.engine, self.lease
        if not write_alone(
            engine, lambda writer: writer.move_worker_cursor(engine.tenant, lease, job, found, seq, engine.now())
        ):
            self.renew(parse_time(lease.until))


def run_round(worker: Worker, tenant: str) -> Round:
    """Run a round for one tenant, unless another worker does. Work that exceeds the bounds waits for the next round."""
    engine, started = worker.of(tenant), worker.engine.clock()
    lease = write_alone(engine, lambda writer: _take_lease(writer, worker, tenant, started))
    if lease is None:
        return Round(tenant, format_time(started), engine.now(), RoundOutcome.BUSY, ())
    tenure = Tenure(worker, engine, lease, started)
    outcome = RoundOutcome.DONE
    try:
        _run_jobs(tenure)
    except RoundEnded as ended:
        outcome = ended.outcome
    except BaseException:
        with suppress(StoreError, RoundEnded):  # the error that is on its way says more
            tenure.renew(engine.clock())
        raise
    with suppress(RoundEnded):
        is_complete = outcome in (RoundOutcome.DONE, RoundOutcome.OUT_OF_TIME)
        tenure.renew(engine.clock(), format_time(started) if is_complete else None)
    return Round(tenant, format_time(started), engine.now(), outcome, tuple(tenure.reports))


def _take_lease(writer: Writer, worker: Worker, tenant: str, now: datetime) -> Lease | None:
    """Take a tenant's lease if nobody holds it, or if its end is none: later than any may be, by a wrong clock, or damaged."""
    until = format_time(now + worker.bounds.lease)
    held = writer.lease(tenant)
    is_wrong = held is not None and (not is_time(held.until) or parse_time(held.until) - now > LONGEST_LEASE)
    return writer.take_lease(tenant, worker.holder, held.until if held and is_wrong else format_time(now), until)


class Looked(NamedTuple):
    """What a job did with a stream. ``is_through``: its cursor may move; ``reason``, ``problem``: why it stopped early."""

    changes: Mapping[str, int]
    is_through: bool = True
    reason: str = ""
    problem: str = ""


class Step(NamedTuple):
    """A job, done by rules or by the model, and the streams that it is for."""

    job: WorkerJob
    by: str
    look: Callable[[Tenure, Behind], Looked]
    spaces: frozenset[Space] = frozenset(Space)
    namespaces: frozenset[Namespace] = frozenset(Namespace)
    by_time: bool = False
    """Whether time alone makes work: then every stream is visited in every round."""

    @property
    def cursor(self) -> str:
        return f"{self.job}:{self.by}"


def _keep_up(tenure: Tenure, found: Behind) -> Looked:
    report = changes.upkeep_stream(tenure.engine, found.stream, UpkeepReport())
    return Looked({name: len(getattr(report, name)) for name in ("expired", "forgotten", "purged", "lapsed")})


def _consolidate(tenure: Tenure, found: Behind) -> Looked:
    report = consolidation.consolidate(tenure.engine, stream=found.stream, force=True)
    return Looked(Counter(step.action for step in report.steps), is_through=not report.dropped)


def _ask(job: Job, tenure: Tenure, found: Behind) -> Looked:
    """Run a job that asks the model. Its cursor moves once there is nothing to ask, and was nothing for a day."""
    engine, model = tenure.engine, tenure.worker.model
    assert model is not None, "the step is there because there is a model"
    runs = run_job(engine, job, stream=found.stream, model=Renewing(model, tenure))
    counts = Counter({"calls": sum(run.calls for run in runs)})
    counts["tokens"] = sum(run.prompt_tokens + run.answer_tokens for run in runs)
    for run in runs:
        counts.update(run.counts)
    ended_early = bool(runs) and runs[-1].outcome in (RunOutcome.LIMITED, RunOutcome.FAILED)
    since = format_time(engine.clock() - ANSWERED_WITHIN)
    with engine.read(brief=True) as reader:
        lately = reader.last_model_call(engine.tenant, found.stream, job, since)
    why = (runs[-1].reason, runs[-1].problem) if ended_early else ("", "")
    return Looked(counts, not runs and lately is None, *why)


class Renewing:
    """The model, with the lease renewed before each call: a run may ask for longer than a lease lasts."""

    def __init__(self, model: Model, tenure: Tenure) -> None:
        self._model, self._tenure = model, tenure

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, prompt: Prompt[A]) -> Reply[A]:
        self._tenure.renew(self._tenure.engine.clock() + self._tenure.worker.bounds.lease)
        return self._model.complete(prompt)

    def close(self) -> None:
        """Do nothing: the worker closes its model."""


BY_RULES = (Step(WorkerJob.UPKEEP, "rules", _keep_up, by_time=True), Step(WorkerJob.CONSOLIDATE, "rules", _consolidate))
BY_MODEL = tuple(
    Step(WorkerJob(job), "model", partial(_ask, job), frozenset(JOBS[job].spaces), frozenset({Namespace.PROD}))
    for job in (Job.EXTRACT, Job.INSIGHTS, Job.CONSOLIDATE)
)


def _run_jobs(tenure: Tenure) -> None:
    worker, refused = tenure.worker, "" if tenure.worker.model is not None else "model:none"
    for step in (*BY_RULES, *BY_MODEL):
        if step.job not in worker.jobs:
            continue
        if step.by == "model" and refused:
            tenure.reports.append(JobReport(step.job, step.by, reason=refused))
            continue
        reason = _run_step(tenure, step)
        if reason and reason not in OF_ONE_RUN:
            refused = reason
        if step.job is WorkerJob.UPKEEP:
            changes.remove_old_events(tenure.engine)


def _run_step(tenure: Tenure, step: Step) -> str:
    """Run a job on every stream that waits for it; return the reason why it ended early, if it did."""
    engine, progress = tenure.engine, tenure.worker.progress
    since = format_time(tenure.started) if step.by_time else ""
    with engine.read() as reader:
        behind = reader.streams_behind(engine.tenant, step.cursor, since)
    waiting = [one for one in behind if one.space in step.spaces and one.namespace in step.namespaces]
    total, reason, problem, done = Counter[str](), "", "", 0
    failures: list[FailedStream] = []
    try:
        for found in waiting:
            tenure.check()
            try:
                looked = step.look(tenure, found)
            except RecollectError as error:
                failures.append(FailedStream(found.stream, error.code, str(error)))
                looked = Looked({}, is_through=False)
            tenure.move(step.cursor, found, found.last_seq if looked.is_through else found.seq)
            total.update(looked.changes)
            done, reason, problem = done + 1, looked.reason or reason, looked.problem or problem
            if progress is not None:
                progress(engine.tenant, step.job, done, len(waiting))
            if looked.reason and looked.reason not in OF_ONE_RUN:
                break
    finally:
        changed = {name: count for name, count in sorted(total.items()) if count}
        tenure.reports.append(
            JobReport(step.job, step.by, done, len(waiting), changed, reason, tuple(failures), problem)
        )
    return reason
