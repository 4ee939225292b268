"""Commands for turns: turn, recall-for, record."""

import sys
from typing import Annotated, Any

import typer

from recollect.interfaces.cli.session import IfMissing, UserId, of
from recollect.interfaces.cli.writing import named_texts

Session = Annotated[str, typer.Option(help="The session that it happens in.")]
User = Annotated[str, typer.Option(help="What the person said; - reads it from standard input.")]
Ai = Annotated[str | None, typer.Option(help="What the model answered.")]
Tool = Annotated[list[str] | None, typer.Option(help="What a tool returned, as name=output; may be given again.")]
Owner = Annotated[str | None, typer.Option(help="Whose memory it is; by default the caller's own.")]
Project = Annotated[str | None, typer.Option(help="The project that it is about.")]
Thread = Annotated[str | None, typer.Option(help="The thread that the lines belong to; by default the session.")]
Run = Annotated[str | None, typer.Option(help="The run that the lines belong to.")]
AiProfile = Annotated[str | None, typer.Option(help="The AI profile that answers.")]
TopK = Annotated[int | None, typer.Option(help="How many matching memories to recall at most.")]
Key = Annotated[str | None, typer.Option(help="Makes a retry safe.")]


def register(app: typer.Typer) -> None:
    app.command()(turn)
    app.command("recall-for")(recall_for)
    app.command()(record)


def turn(
    context: typer.Context,
    session: Session,
    user: User,
    ai: Ai = None,
    tool: Tool = None,
    owner: Owner = None,
    user_id: UserId = None,
    project: Project = None,
    thread_id: Thread = None,
    run_id: Run = None,
    ai_profile: AiProfile = None,
    top_k: TopK = None,
    idempotency_key: Key = None,
) -> None:
    """One governed exchange: recall for what the person says, then record it."""
    from recollect.interfaces.cli import screen

    said = _said(session, user, owner, user_id, project, ai_profile) | {"thread_id": thread_id, "run_id": run_id}
    with of(context).memory(IfMissing.MAKE) as memory:
        answer = memory.turn(**said, ai=ai, tools=_tools(tool), top_k=top_k, idempotency_key=idempotency_key)
    of(context).answer(answer, screen.turn)


def recall_for(
    context: typer.Context,
    session: Session,
    user: User,
    owner: Owner = None,
    user_id: UserId = None,
    project: Project = None,
    ai_profile: AiProfile = None,
    top_k: TopK = None,
) -> None:
    """What a turn is given before the model speaks: rules, facts, what matches, what was just said."""
    from recollect.interfaces.cli import screen

    with of(context).memory(IfMissing.PRETEND) as memory:
        answer = memory.recall_for(**_said(session, user, owner, user_id, project, ai_profile), top_k=top_k)
    of(context).answer(answer, screen.recall)


def record(
    context: typer.Context,
    session: Session,
    user: User,
    ai: Ai = None,
    tool: Tool = None,
    owner: Owner = None,
    user_id: UserId = None,
    project: Project = None,
    thread_id: Thread = None,
    run_id: Run = None,
    ai_profile: AiProfile = None,
    idempotency_key: Key = None,
) -> None:
    """Record an exchange whose recall was asked for with recall-for."""
    from recollect.interfaces.cli import screen

    said = _said(session, user, owner, user_id, project, ai_profile) | {"thread_id": thread_id, "run_id": run_id}
    with of(context).memory(IfMissing.MAKE) as memory:
        answer = memory.record(**said, ai=ai, tools=_tools(tool), idempotency_key=idempotency_key)
    of(context).answer(answer, screen.turn)


def _said(
    session: str, user: str, owner: str | None, user_id: str | None, project: str | None, ai_profile: str | None
) -> dict[str, Any]:
    text = sys.stdin.read().rstrip("\n") if user == "-" else user
    whose = {"owner": owner, "user_id": user_id, "project": project}
    return {"session": session, "user": text, "ai_profile": ai_profile, **whose}


def _tools(given: list[str] | None) -> list[dict[str, str]]:
    return [{"name": name, "output": output} for name, output in named_texts("tool", given)]
