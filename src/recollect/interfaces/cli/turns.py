"""Commands for conversations: turn, recall-for, record, change-header, and phase …"""

from typing import Annotated, Any

import typer

from recollect.interfaces.cli.session import (
    IfMissing,
    InSpace,
    Owner,
    UserId,
    calls,
    drop_missing,
    get_session,
    read_argument,
    screen,
    split_pairs,
)
from recollect.model.vocabulary import Space

InSession = Annotated[str, typer.Option("--session", help="The session that it happens in.")]
User = Annotated[str, typer.Option(help="What the person said; - reads it from standard input.")]
Ai = Annotated[str | None, typer.Option(help="What the model answered.")]
Tool = Annotated[list[str] | None, typer.Option(help="What a tool returned, as name=output; may be given again.")]
TurnOwner = Annotated[str | None, typer.Option("--owner", help="Whose memory it is; by default the caller's own.")]
Project = Annotated[str | None, typer.Option(help="The project that it is about.")]
Thread = Annotated[str | None, typer.Option(help="The thread that the lines belong to; by default the session.")]
Run = Annotated[str | None, typer.Option(help="The run that the lines belong to.")]
AiProfile = Annotated[str | None, typer.Option(help="The AI profile that answers.")]
TopK = Annotated[int | None, typer.Option(help="How many matching memories to recall at most.")]
Key = Annotated[str | None, typer.Option(help="Makes a retry safe.")]


def turn(
    context: typer.Context,
    session: InSession,
    user: User,
    ai: Ai = None,
    tool: Tool = None,
    owner: TurnOwner = None,
    user_id: UserId = None,
    project: Project = None,
    thread_id: Thread = None,
    run_id: Run = None,
    ai_profile: AiProfile = None,
    top_k: TopK = None,
    idempotency_key: Key = None,
) -> None:
    """Run one governed exchange: recall for what the person says, then record it."""
    _exchange(context, "turn", "turn", locals(), IfMissing.MAKE)


def recall_for(
    context: typer.Context,
    session: InSession,
    user: User,
    owner: TurnOwner = None,
    user_id: UserId = None,
    project: Project = None,
    ai_profile: AiProfile = None,
    top_k: TopK = None,
) -> None:
    """Show what a model should know before it answers: matches, rules, facts, recent lines."""
    _exchange(context, "recall_for", "given", locals(), IfMissing.PRETEND)


def record(
    context: typer.Context,
    session: InSession,
    user: User,
    ai: Ai = None,
    tool: Tool = None,
    owner: TurnOwner = None,
    user_id: UserId = None,
    project: Project = None,
    thread_id: Thread = None,
    run_id: Run = None,
    ai_profile: AiProfile = None,
    idempotency_key: Key = None,
) -> None:
    """Record an exchange for which recall-for was called before."""
    _exchange(context, "record", "turn", locals(), IfMissing.MAKE)


def _exchange(context: typer.Context, method: str, draw: str, options: dict[str, Any], if_missing: IfMissing) -> None:
    """Call a method with the options of its command, and with what the person said and what tools returned."""
    arguments = drop_missing(**{name: value for name, value in options.items() if name not in ("context", "tool")})
    if options.get("tool"):
        arguments["tools"] = [{"name": name, "output": output} for name, output in split_pairs("tool", options["tool"])]
    with get_session(context).memory(if_missing) as memory:
        answer = getattr(memory, method)(**arguments | {"user": read_argument(arguments["user"])})
    get_session(context).answer(answer, draw)


@calls("change_header", "change_header")
def change_header(
    thread: Annotated[str | None, typer.Option(help="The thread that looks; it sees each change once.")] = None,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
    since: Annotated[int | None, typer.Option(help="Without a thread: after this ledger entry of one stream.")] = None,
) -> None:
    """Show what changed since a thread last looked: three lines at most."""


phase = typer.Typer(no_args_is_help=True, help="Start, list and compare the phases of a space.")

PhaseSpace = Annotated[Space, typer.Option("--space", help="Which space.")]
PhaseOwner = Annotated[str | None, typer.Option("--owner", help="Whose; by default the caller's own.")]


@phase.command()
@calls("start_phase", lambda answer: screen.draw_phases([answer.phase]), if_missing=IfMissing.MAKE)
def start(
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    reason: Annotated[str, typer.Option(help="Why it begins, in a few words.")] = "requested",
    space: PhaseSpace = Space.USER,
    owner: PhaseOwner = None,
    user_id: UserId = None,
) -> None:
    """Begin a new phase; by default a recall there sees only memories written from now on."""


@phase.command("list")
@calls("phases", "phases")
def list_phases(space: PhaseSpace = Space.USER, owner: PhaseOwner = None, user_id: UserId = None) -> None:
    """List the phases of a space, oldest first."""


@phase.command()
@calls("phase_diff", "phase_diff")
def diff(
    from_phase: Annotated[str, typer.Argument(help="Such as phase-1.")],
    to_phase: Annotated[str, typer.Argument(help="Such as phase-2.")],
    space: PhaseSpace = Space.USER,
    owner: PhaseOwner = None,
    user_id: UserId = None,
) -> None:
    """Show what was added, deleted and replaced between the ends of two phases."""
