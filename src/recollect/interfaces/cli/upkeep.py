"""Commands of upkeep: housekeeping and the jobs of a language model, its runs and proposals, and the worker that does it all."""

import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import Cursor, Owner, calls, get_session, screen
from recollect.model.operation import Round, WorkerJob
from recollect.model.rendering import one_line
from recollect.model.run import Job
from recollect.model.vocabulary import Space

if TYPE_CHECKING:
    from recollect.model.operation import JobReport
    from recollect.model.receipt import Page
    from recollect.model.run import ModelProposal, Run, Undone

RunId = Annotated[str, typer.Argument(help="The id of a run, or its first digits.")]
ProposalId = Annotated[str, typer.Argument(help="The id of a proposal, or its first digits.")]


def upkeep(
    context: typer.Context,
    job: Annotated[Job | None, typer.Option(help="Have the policy's language model do this job instead.")] = None,
    owner: Owner = None,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Of procedures: a memory that it is about.")] = None,
) -> int:
    """Expire memories, put away unused ones, purge those past their purge date. Safe at any time."""
    session = get_session(context)
    if job is None:
        with session.memory() as memory, screen.progress("upkeep") as progress:
            report = memory.upkeep(progress)
        session.answer(report, screen.draw_upkeep)
        return 0
    with session.memory() as memory:
        done = memory.upkeep(job=job, owner=owner, ids=ids or ())
    session.answer(done, _draw_runs)
    return 1 if done and done[-1].reason else 0


runs = typer.Typer(no_args_is_help=True, help="What the language model did: list, show, undo.")


@runs.command("list")
@calls("runs", lambda page: _draw_page(page))
def list_runs(
    job: Annotated[Job | None, typer.Option(help="Only runs of this job.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 20,
    cursor: Cursor = None,
) -> None:
    """List the runs of the language model, newest first: what they took, and what became of their proposals."""


@runs.command("show")
@calls("run", lambda run: _draw_run(run))
def show_run(id: RunId) -> None:
    """Show a run with every proposal: stored, waiting, or refused and why."""


@runs.command("undo")
@calls("undo", lambda undone: _draw_undone(undone))
def undo_run(id: RunId) -> None:
    """Undo a run: archive what it stored, bring back what it put away. An error names what is in the way."""


def _draw_page(page: "Page[Run]") -> None:
    _draw_runs(page.items)
    screen.draw_more(page)


def _draw_run(run: "Run") -> None:
    _draw_runs([run])
    for one in run.proposals:
        about = one.memory_id or ", ".join(id[:13] for id in one.sources)
        screen.say(f"  {one.status:<9} {one.action:<12} {one.reason}  [dim]{about}[/]")


def _draw_undone(undone: "Undone") -> None:
    counts = f"{len(undone.removed)} removed, {len(undone.restored)} restored, {len(undone.withdrawn)} withdrawn"
    screen.console.print(f"[green]undone[/] {undone.run}: {counts}")


def _draw_runs(found: "Sequence[Run]") -> None:
    rows = []
    for one in found:
        tokens = f"{one.prompt_tokens + one.answer_tokens:,}"
        ended = one.outcome if not one.reason else f"{one.outcome} ({one.reason})"
        counts = ", ".join(f"{count} {status}" for status, count in one.counts.items())
        rows.append((one.id, one.job, screen.escape(one.place), one.started_at[:16], ended, tokens, counts))
    screen.print_table("run, job, where, began, ended as, tokens, proposals", rows, "no runs")
    for problem in dict.fromkeys(one.problem for one in found if one.problem):
        screen.say(screen.escape(problem))


proposals = typer.Typer(no_args_is_help=True, help="What the language model proposes: list, apply, decline.")


@proposals.command("list")
@calls("proposals", lambda found: _draw_proposals(found))
def list_proposals(
    owner: Owner = None, space: Annotated[Space | None, typer.Option(help="Only those of this space.")] = None
) -> None:
    """List what waits for a decision, oldest first, with the words that it rests on."""


@proposals.command("apply")
@calls("apply_proposal", lambda one: _draw_proposals([one]))
def apply_proposal(id: ProposalId) -> None:
    """Carry out a proposal. What it stores stays an inference."""


@proposals.command("decline")
@calls("decline_proposal", lambda one: _draw_proposals([one]))
def decline_proposal(
    id: ProposalId,
    reason: Annotated[str | None, typer.Option(help="Why, in a few words; kept as long as the memory is.")] = None,
) -> None:
    """Decline a proposal. The value of a declined fact is refused until the person says it themselves."""


def _draw_proposals(found: "Sequence[ModelProposal]") -> None:
    for one in found:
        said = one.content or one.why or one.memory_id or ""
        screen.say(f"{one.id}  {one.status}  [bold]{one.action}[/]  {screen.escape(one_line(said))}")
        for part in one.evidence:
            screen.say(f"  {part.source_id[:13]}  “{screen.escape(one_line(part.span))}”")
    if not found:
        screen.console.print("[green]nothing waits for a decision[/]")


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
    """Look after all tenants: upkeep, consolidation, and what a language model proposes. Runs until a signal ends it."""
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
    """End at the first signal after the stream at hand, and at the second at once.

    A handler may strike while its thread holds the event's lock, so it rings a queue, which takes none, and another thread
    sets the event.
    """
    bell: SimpleQueue[None] = SimpleQueue()

    def relay() -> None:
        bell.get()
        stop.set()

    def end(number: int, frame: object) -> None:
        bell.put(None)
        signal.signal(number, before[number])

    Thread(target=relay, daemon=True).start()
    before = {int(one): signal.signal(one, end) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        bell.put(None)


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
