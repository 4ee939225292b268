"""Commands for conversations: turn, recall-for, record, change-header, and phase …"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import IfMissing, InSpace, Owner, UserId, named_texts, of, screen, text_of
from recollect.model.vocabulary import Space

if TYPE_CHECKING:
    from recollect.interfaces.python.arguments import ToolOutput

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
    said = _said(session, user, owner, user_id, project, ai_profile) | {"thread_id": thread_id, "run_id": run_id}
    with of(context).memory(IfMissing.MAKE) as memory:
        answer = memory.turn(**said, ai=ai, tools=_tools(tool), top_k=top_k, idempotency_key=idempotency_key)
    of(context).answer(answer, screen.turn)


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
    """Show what a turn is given before the model speaks: rules, facts, matches, recent lines."""
    with of(context).memory(IfMissing.PRETEND) as memory:
        answer = memory.recall_for(**_said(session, user, owner, user_id, project, ai_profile), top_k=top_k)
    of(context).answer(answer, screen.recall)


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
    """Record an exchange whose recall was made by recall-for."""
    said = _said(session, user, owner, user_id, project, ai_profile) | {"thread_id": thread_id, "run_id": run_id}
    with of(context).memory(IfMissing.MAKE) as memory:
        answer = memory.record(**said, ai=ai, tools=_tools(tool), idempotency_key=idempotency_key)
    of(context).answer(answer, screen.turn)


def _said(
    session: str, user: str, owner: str | None, user_id: str | None, project: str | None, ai_profile: str | None
) -> dict[str, Any]:
    whose = {"owner": owner, "user_id": user_id, "project": project}
    return {"session": session, "user": text_of(user), "ai_profile": ai_profile, **whose}


def _tools(options: list[str] | None) -> "list[ToolOutput]":
    return [{"name": name, "output": output} for name, output in named_texts("tool", options)]


def change_header(
    context: typer.Context,
    thread: Annotated[str | None, typer.Option(help="The thread that looks; it sees each change once.")] = None,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
    since: Annotated[int | None, typer.Option(help="Without a thread: after this ledger entry of one stream.")] = None,
) -> None:
    """Show what changed since a thread last looked: three lines at most."""
    with of(context).memory() as memory:
        found = memory.change_header(thread=thread, owner=owner, user_id=user_id, space=space, since=since)
        of(context).answer(found, screen.change_header)


# ── phases ──────────────────────────────────────────────────────────────────────────────────────────────────────────

phase = typer.Typer(no_args_is_help=True, help="Start, list and compare the phases of a space.")

PhaseSpace = Annotated[Space, typer.Option("--space", help="Which space.")]
PhaseOwner = Annotated[str | None, typer.Option("--owner", help="Whose; by default the caller's own.")]


@phase.command()
def start(
    context: typer.Context,
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    reason: Annotated[str, typer.Option(help="Why it begins, in a few words.")] = "requested",
    space: PhaseSpace = Space.USER,
    owner: PhaseOwner = None,
    user_id: UserId = None,
) -> None:
    """Begin a new phase; from now on a recall there sees what is written in it."""
    with of(context).memory(IfMissing.MAKE) as memory:
        started = memory.start_phase(name=name, reason=reason, space=space, owner=owner, user_id=user_id)
    of(context).answer(started, lambda answer: screen.phases([answer.phase]))


@phase.command("list")
def list_phases(
    context: typer.Context, space: PhaseSpace = Space.USER, owner: PhaseOwner = None, user_id: UserId = None
) -> None:
    """List the phases of a space, oldest first."""
    with of(context).memory() as memory:
        of(context).answer(memory.phases(space=space, owner=owner, user_id=user_id), screen.phases)


@phase.command()
def diff(
    context: typer.Context,
    from_phase: Annotated[str, typer.Argument(help="Such as phase-1.")],
    to_phase: Annotated[str, typer.Argument(help="Such as phase-2.")],
    space: PhaseSpace = Space.USER,
    owner: PhaseOwner = None,
    user_id: UserId = None,
) -> None:
    """Show what was added, deleted and replaced between the ends of two phases."""
    with of(context).memory() as memory:
        found = memory.phase_diff(from_phase, to_phase, space=space, owner=owner, user_id=user_id)
    of(context).answer(found, screen.phase_diff)
