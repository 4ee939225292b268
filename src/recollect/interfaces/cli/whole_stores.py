"""Commands for whole stores: migrate, backup, and restore --backup."""

from typing import Annotated

import typer

from recollect.interfaces.cli.session import of


def register(app: typer.Typer) -> None:
    for command in (migrate, backup):
        app.command()(command)
    app.add_typer(db, name="db")


db = typer.Typer(no_args_is_help=True, help="Look after the database of a store on a server.")


@db.command()
def init(
    context: typer.Context,
    partitions: Annotated[int, typer.Option(help="Spread every table over so many parts, by tenant; 0 for none.")] = 0,
) -> None:
    """Make the schema that --store needs, as a role that may; the application needs no such rights afterwards."""
    from recollect.interfaces.cli import screen
    from recollect.whole_stores import init_database

    of(context).answer(init_database(of(context).location, partitions=partitions), screen.fields)


def migrate(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", help="The store to copy: a file or a URL.")],
    target: Annotated[str, typer.Option("--to", help="Where to: a file or a URL, with no store in it yet.")],
    only_tenant: Annotated[list[str] | None, typer.Option(help="Only this one; may be given several times.")] = None,
) -> None:
    """Copy a whole store to another place or engine, and compare both. Run it again to go on after an interruption."""
    from recollect.interfaces.cli import screen
    from recollect.whole_stores import migrate as move

    with screen.progress("migrate") as progress:
        report = move(source, target, tenants=only_tenant, progress=progress)
    of(context).answer(report, screen.migration)


def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="A file that does not exist yet.")],
) -> None:
    """Write a consistent copy of the whole store, while others write. `restore --backup` puts it back."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        of(context).answer(memory.backup(file), screen.fields)
