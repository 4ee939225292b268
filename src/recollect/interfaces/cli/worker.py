"""The command that looks after a store's tenants by itself, until it is told to end."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import get_session, screen
from recollect.model.operation import Round, WorkerJob

if TYPE_CHECKING:
    from recollect.model.operation import JobReport


def worker(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="One round for every tenant, now; for cron.")] = False,
    only_tenant: Annotated[list[str] | None, typer.Option(help="Only this one; may be given several times.")] = None,
    job: Annotated[list[WorkerJob] | None, typer.Option(help="Only this job; may be given several times.")] = None,
    every_hours: Annotated[int, typer.Option(help="Hours from one round of a tenant to the next.")] = 24,
    max_minutes: Annotated[int, typer.Option(help="Minutes after which a round ends; the next one goes on.")] = 60,
    lease_s: Annotated[
        int, typer.Option(help="Seconds after which another worker takes over a silent one's tenant.")
    ] = 600,
    procrastinate: Annotated[
        bool, typer.Option("--procrastinate", help="Take the rounds from a queue in PostgreSQL, shared by a fleet.")
    ] = False,
) -> int:
    """Look after all tenants: upkeep, consolidation, and what a language model proposes. Runs until it is told to end."""
    session, stop, outcomes, failed = get_session(context), Event(), Counter[str](), list[str]()

    def tell(round: Round) -> None:
        outcomes[round.outcome] += 1
        failed.extend([round.tenant] if round.failed else [])
        for line in describe_round(round):
            session.tell(line)

    settings: dict[str, Any] = {
        "tenants": only_tenant,
        "jobs": job,
        "every_hours": every_hours,
        "max_minutes": max_minutes,
        "lease_s": lease_s,
        "each": tell,
    }
    with session.memory() as memory, stop_on_signals(stop), screen.progress("worker") as bar:
        progress = lambda tenant, job, done, total: bar(done, total, f"{tenant} {job}")  # noqa: E731
        if procrastinate:
            from recollect.job_queue import work_from_queue

            work_from_queue(memory, session.location, once=once, stop=stop, **settings)
            rounds: tuple[Round, ...] = ()
        else:
            rounds = memory.worker(once=once, stop=stop, progress=progress, **settings)
    answer = {"outcomes": dict(sorted(outcomes.items())), "failed": failed, "rounds": [one.to_dict() for one in rounds]}
    session.answer(answer, lambda _: None)
    return 1 if failed else 0


@contextmanager
def stop_on_signals(stop: Event) -> Iterator[None]:
    """End at the first signal after the stream at hand, and at the second at once."""

    def end(number: int, frame: object) -> None:
        stop.set()
        signal.signal(number, before[number])

    before = {int(one): signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def describe_round(round: Round) -> list[str]:
    """Return what a round did, for people: a line for the tenant, and one for each job that had something to do."""
    started = round.started_at[:19].replace("T", " ")
    return [
        f"{started}  {round.tenant}: {round.outcome}".replace("_", " "),
        *filter(None, map(_describe_job, round.jobs)),
    ]


def _describe_job(report: "JobReport") -> str:
    did = [f"{name} {count:,}".replace("_", " ") for name, count in report.changes.items()]
    did += [f"failed {len(report.failures):,} ({report.failures[0].message})"] if report.failures else []
    did += [report.problem or report.reason] if report.reason not in ("", "model:none") else []
    by = "" if report.by == "rules" else ", by the model"
    return f"  {report.job}{by}: {report.streams:,} of {report.waiting:,} streams; {', '.join(did)}" if did else ""
