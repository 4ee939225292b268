"""Commands that look after a store: upkeep, consolidate, rekey, outdated, verify, rebuild, doctor; and the demo."""

from typing import Annotated

import typer

from recollect.interfaces.cli.session import UserId, of
from recollect.model.errors import BadInput


def register(app: typer.Typer) -> None:
    for command in (upkeep, consolidate, rekey, outdated, verify, rebuild, doctor, demo):
        app.command()(command)


def upkeep(context: typer.Context) -> None:
    """Expire, put away the unused, purge what is past its date. Safe at any time."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory, screen.progress("upkeep") as progress:
        report = memory.upkeep(progress)
    of(context).answer(report, screen.upkeep)


def consolidate(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    user_id: UserId = None,
    force: Annotated[bool, typer.Option("--force", help="Carry the proposal out.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last one back.")] = False,
) -> None:
    """Propose a deterministic clean-up and show its diff."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory, screen.progress("consolidate") as progress:
        report = memory.consolidate(owner=owner, user_id=user_id, force=force, undo=undo, progress=progress)
    of(context).answer(report, screen.consolidation)


def rekey(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    user_id: UserId = None,
    force: Annotated[bool, typer.Option("--force", help="Set the new keys.")] = False,
) -> None:
    """Show which memories today's rules give another key, and what would share one."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory, screen.progress("rekey") as progress:
        report = memory.rekey(owner=owner, user_id=user_id, force=force, progress=progress)
    of(context).answer(report, screen.consolidation)


def outdated(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only this owner's.")] = None,
    user_id: UserId = None,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="List the contradictions that wait too, before the others.")
    ] = False,
    limit: Annotated[int, typer.Option(help="How many pairs.")] = 100,
) -> None:
    """List memories that a later one may have replaced, strongest reason first. `resolve` decides each pair."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        pairs = memory.outdated(owner=owner, user_id=user_id, conflicts=conflicts, limit=limit)
    of(context).answer(pairs, screen.outdated)


def verify(
    context: typer.Context,
    kept: Annotated[str | None, typer.Option(help="Also against this checkpoint, which you kept.")] = None,
) -> int:
    """Walk every chain, version and projection, and name what is broken."""
    from recollect.interfaces.cli import screen
    from recollect.interfaces.cli.documents import read_kept

    checkpoint = read_kept(kept)
    with of(context).memory() as memory, screen.progress("verify") as progress:
        answer = memory.verify(progress, kept=checkpoint)
    of(context).answer(answer, screen.verification)
    return 0 if answer.ok else 3


def rebuild(context: typer.Context) -> None:
    """Make every projection anew from versions and ledger."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory, screen.progress("rebuild") as progress:
        count = memory.rebuild(progress)
    of(context).answer({"rebuilt": count}, screen.stats)


def doctor(context: typer.Context) -> int:
    """Look for trouble, and say what to do about it."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        found = memory.doctor()
    of(context).answer(found, lambda f: screen.problems(f) if f else screen.console.print("[green]all is well[/]"))
    return 1 if found else 0


def demo(context: typer.Context) -> None:
    """A guided run on a throw-away store: what makes this different, in half a minute."""
    from recollect.interfaces.cli.demo import run

    if of(context).as_json:
        raise BadInput("the demo is for people.", field="json", hint="Leave --json out.")
    run()
