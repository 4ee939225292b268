"""The application: global options, the commands, and what becomes of errors."""

import json
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Annotated

import typer
from typer.exceptions import Abort, Exit, TyperException

from recollect import __version__
from recollect.interfaces.cli import (
    care,
    embedders,
    entries,
    erasing,
    identity,
    importing,
    injecting,
    ledger,
    operations,
    phases,
    provenance,
    reading,
    relating,
    serving,
    tracing,
    turns,
    vault,
    whole_stores,
    writing,
)
from recollect.interfaces.cli.everywhere import Application
from recollect.interfaces.cli.session import Session
from recollect.model.errors import BadInput, RecollectError
from recollect.model.rendering import visible, visible_json

NAME = "recollect"

app = typer.Typer(
    name=NAME,
    cls=Application,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Governed long-term memory for AI agents: deterministic, attributed, auditable.",
)


def _version(context: typer.Context, wanted: bool) -> None:
    """Printed while the options are still being read, so that whether it is to be JSON is known from ``run``."""
    if wanted:
        typer.echo(json.dumps({"version": __version__}) if context.obj is True else __version__)
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    store: Annotated[
        str | None,
        typer.Option(
            envvar="RECOLLECT_STORE", help="The store: a file, or a postgresql:// URL.", show_default="recollect.db"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    policy: Annotated[
        str | None, typer.Option(envvar="RECOLLECT_POLICY", help="A preset's name or a YAML file.")
    ] = None,
    tenant: Annotated[
        str, typer.Option(envvar="RECOLLECT_TENANT", help="Whose memories within the store.")
    ] = "default",
    as_user: Annotated[str | None, typer.Option(help="See the memory through this user's eyes.")] = None,
    as_agent: Annotated[str | None, typer.Option(help="See the memory through this agent's eyes.")] = None,
    as_session: Annotated[str | None, typer.Option(help="Within this session.")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The options of every command, and ``--version``."""
    context.obj = Session(
        store=store,
        as_json=as_json,
        policy=policy,
        tenant=tenant,
        as_user=as_user,
        as_agent=as_agent,
        as_session=as_session,
    )


COMMANDS = (
    *(
        writing,
        reading,
        injecting,
        turns,
        care,
        importing,
        whole_stores,
        phases,
        operations,
        relating,
        embedders,
        tracing,
        serving,
        vault,
    ),
    *(ledger, identity, entries, provenance, erasing),
)
for commands in COMMANDS:
    commands.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing here raises but a bug."""
    as_json = "--json" in arguments
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper), "a process has real streams"
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # bad bytes are refused where they are named
    try:
        outcome = app(list(arguments), prog_name=NAME, standalone_mode=False, obj=as_json)
        return outcome if isinstance(outcome, int) else 0
    except RecollectError as error:
        if error.hint is None and isinstance(error, BadInput):
            error.add_hint(_where_help_is(arguments))
        return _failed(error, as_json)
    except Exit as leave:
        return leave.exit_code
    except Abort:
        print("recollect: nothing was done.", file=sys.stderr)
        return 1
    except TyperException as error:
        return _misused(error, as_json)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python would complain about the pipe again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _where_help_is(arguments: Sequence[str]) -> str:
    known = getattr(typer.main.get_command(app), "commands", {})
    command = next((word for word in arguments if word in known), "")
    return f"`{' '.join(filter(None, (NAME, command)))} --help` tells more."


def _misused(error: TyperException, as_json: bool) -> int:
    """Say what is wrong with the command line, and whose help says how it is right; no command at all is shown the help."""
    used: typer.Context | None = getattr(error, "ctx", None)
    said, command = error.format_message(), used.command_path if used is not None else NAME
    if used is not None and said == used.get_help():
        if not as_json:
            print(said, file=sys.stderr)
            return BadInput.exit_code
        said = "Missing command."
    stop = "" if said.endswith((".", "?")) else "."
    return _failed(BadInput(f"{said}{stop}", hint=f"`{command} --help` tells more."), as_json)


def _failed(error: RecollectError, as_json: bool) -> int:
    if as_json:
        print(visible_json(json.dumps({"error": error.to_dict()}, ensure_ascii=False)))
    else:
        print(f"recollect: {visible(str(error))}", file=sys.stderr)
    return error.exit_code
