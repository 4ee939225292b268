"""Commands for phases: start, list, diff."""

from typing import Annotated

import typer

from recollect.interfaces.cli.session import IfMissing, UserId, of

phase = typer.Typer(no_args_is_help=True, help="The chapters of a space: start one, list them, compare two.")

InSpace = Annotated[str, typer.Option("--space", help="session, user, project or system.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Whose; by default the caller's own.")]


def register(app: typer.Typer) -> None:
    app.add_typer(phase, name="phase")


@phase.command()
def start(
    context: typer.Context,
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    reason: Annotated[str, typer.Option(help="Why it begins, in a few words.")] = "requested",
    space: InSpace = "user",
    owner: Owner = None,
    user_id: UserId = None,
) -> None:
    """Begin a new phase; from now on a recall there sees what is written in it."""
    from recollect.interfaces.cli import screen

    with of(context).memory(IfMissing.MAKE) as memory:
        started = memory.start_phase(name=name, reason=reason, space=space, owner=owner, user_id=user_id)
    of(context).answer(started, lambda answer: screen.phases([answer.phase]))


@phase.command("list")
def list_phases(context: typer.Context, space: InSpace = "user", owner: Owner = None, user_id: UserId = None) -> None:
    """The phases of a space, oldest first."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        of(context).answer(memory.phases(space=space, owner=owner, user_id=user_id), screen.phases)


@phase.command()
def diff(
    context: typer.Context,
    from_phase: Annotated[str, typer.Argument(help="Such as phase-1.")],
    to_phase: Annotated[str, typer.Argument(help="Such as phase-2.")],
    space: InSpace = "user",
    owner: Owner = None,
    user_id: UserId = None,
) -> None:
    """What was added, deleted and replaced between the ends of two phases."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        found = memory.phase_diff(from_phase, to_phase, space=space, owner=owner, user_id=user_id)
    of(context).answer(found, screen.phase_diff)
