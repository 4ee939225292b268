"""The application: its commands by purpose, the options of every command, hints for typos, and what becomes of errors."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import Abort, Exit, TyperException

from recollect import __version__
from recollect.interfaces.cli.session import Session, get_session, is_typed, note_typed_option, typed_options
from recollect.model.errors import BadInput, RecollectError
from recollect.model.rendering import visible, visible_json

NAME = "recollect"

_COMMANDS = {
    "Remember": """
        writing.add writing.add-many writing.update writing.supersede writing.edit writing.promote provenance.link
        provenance.unlink
    """,
    "Recall": """
        reading.query reading.get reading.list reading.difference reading.chain provenance.related
        reading.snapshot-block reading.memory-block
    """,
    "Converse": "turns.turn turns.recall-for turns.record turns.change-header turns.phase",
    "Decide and put away": """
        provenance.outdated writing.resolve writing.reject writing.lift writing.rejections writing.consent
        upkeep.proposals writing.archive writing.forget writing.restore care.erase
    """,
    "See what happened": "activity.history activity.explain activity.events activity.ops activity.traces",
    "Move in and out": """
        transfer.import transfer.export transfer.audit transfer.entry stores.backup stores.restore-backup
        stores.migrate
    """,
    "Trust and prove": """
        care.verify ledger.ledger identity.identity provenance.vouch provenance.withdraw-vouch provenance.provenance
    """,
    "Look after the store": """
        upkeep.upkeep upkeep.runs upkeep.worker care.consolidate care.rekey care.reindex care.rebuild care.doctor
        care.stats care.streams care.growth care.policy care.try-policy stores.embedder stores.db stores.mcp
        stores.serve keys.key stores.studio stores.demo
    """,
    "Keep a vault": "vault.vault",
}
"""Every command, by what people want to do, behind the module of this folder in which its function is.

Most modules, and what their options are made of, are loaded only for the help: one run needs one command."""
COMMANDS = {purpose: {row.partition(".")[2]: row for row in rows.split()} for purpose, rows in _COMMANDS.items()}
_ALSO_CALLED = {
    "query": "search find ask recall",
    "add": "remember save store insert create",
    "forget": "delete remove rm",
    "erase": "purge",
    "get": "show read cat",
    "list": "ls",
    "history": "log changes",
    "difference": "diff",
    "explain": "why",
    "traces": "trace",
    "memory-block": "block",
    "snapshot-block": "snapshot",
    "edit": "set",
    "outdated": "conflicts contradictions waiting",
    "update": "replace",
    "chain": "versions",
    "verify": "check",
    "serve": "server",
    "import": "load",
    "export": "dump",
}
OTHER_WORDS = {word: name for name, words in _ALSO_CALLED.items() for word in words.split()}
"""Words that other tools have for a command."""
OF_EVERY_COMMAND = frozenset(field.name for field in fields(Session))
"""The names of the options that a session is made of; ``--version`` and ``--help`` are none of them."""


class Commands(Mapping[str, Any]):
    """The commands by name, each made when it is first used, with the options of every command."""

    def __init__(self, repeated: Sequence[TyperOption]) -> None:
        self._repeated = repeated
        self._homes = {name: home for commands in COMMANDS.values() for name, home in commands.items()}
        self._made: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._homes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = made = _make_command(name, self._homes[name])
            for command in (made, *_list_commands(made)):
                command.params = [*command.params, *self._repeated]
        return self._made[name]


def _make_command(name: str, home: str) -> Any:
    """Load the module of a command, and make the command of its function, or of its commands.

    The function has the command's name, and an underscore behind it if Python has something of that name.
    """
    module = import_module(f"recollect.interfaces.cli.{home.partition('.')[0]}")
    function = name.replace("-", "_")
    declared = getattr(module, function, None) or getattr(module, f"{function}_")
    around = typer.Typer(rich_markup_mode=None)
    if isinstance(declared, typer.Typer):
        around.add_typer(declared, name=name)
    else:
        around.command(name)(declared)
    return typer.main.get_group(around).commands[name]


class Application(TyperGroup):
    """The root of all commands. Each of its options may stand before or after the command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        options = [option for option in self.params if isinstance(option, TyperOption)]
        repeated = [_repeat_option(option) for option in options if option.name in OF_EVERY_COMMAND]
        self.commands = Commands(repeated)  # type: ignore[assignment]  # nobody adds one

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under what people want to do with them."""
        limit = formatter.width - 6 - max(len(name) for name in self.commands)
        for purpose, commands in COMMANDS.items():
            with formatter.section(purpose):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in commands])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that was named, or say which one was probably meant."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            alike = get_close_matches(args[0], [*self.commands, *OTHER_WORDS], cutoff=0.7)
            known = [OTHER_WORDS[args[0]]] if args[0] in OTHER_WORDS else [OTHER_WORDS.get(one, one) for one in alike]
            meant = f" Did you mean {' or '.join(f'`{name}`' for name in dict.fromkeys(known))}?" if known else ""
            ctx.fail(f"there is no command {args[0]!r:.80}.{meant}")
        return super().resolve_command(ctx, args)


def _list_commands(group: Any) -> Iterator[Any]:
    """Yield every command of a group, and of the groups in it; none of a command."""
    for command in group.commands.values() if isinstance(group, TyperGroup) else ():
        yield command
        yield from _list_commands(command)


def _repeat_option(option: TyperOption) -> TyperOption:
    """Return a copy of a global option for one command, whose function does not get it: it changes the command's session."""
    repeated = copy(option)
    repeated.expose_value = False
    repeated.callback = _override
    return repeated


def _override(context: Any, option: Any, value: Any) -> Any:
    """Let an option after the command win over the same one before it, or over its default."""
    if is_typed(context, option.name):
        note_typed_option(option.name, value)
        context.obj = replace(get_session(context), **{option.name: value})
    return value


app = typer.Typer(
    name=NAME,
    cls=Application,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Governed long-term memory for AI agents: deterministic, attributed, auditable.",
)


def _print_version(context: typer.Context, wanted: bool) -> None:
    """Print the version while options are still being read; ``run`` says in ``obj`` whether as JSON."""
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
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options of every command, and ``--version``."""
    context.obj = Session(store, as_json, policy, tenant, as_user, as_agent, as_session)
    typed_options.clear()
    for name, value in context.params.items():
        if is_typed(context, name):
            note_typed_option(name, value)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Only a bug raises."""
    as_json = "--json" in arguments
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper), "a process has real streams"
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # bad bytes are refused where they are named
    try:
        outcome = app(list(arguments), prog_name=NAME, standalone_mode=False, obj=as_json)
        return outcome if isinstance(outcome, int) else 0
    except RecollectError as error:
        if error.hint is None and isinstance(error, BadInput):
            error.add_hint(_point_to_help(arguments))
        return _fail(error, as_json)
    except Exit as leave:
        return leave.exit_code
    except Abort:
        print("recollect: nothing was done.", file=sys.stderr)
        return 1
    except TyperException as error:
        return _refuse_usage(error, as_json)
    except BrokenPipeError:
        # The reader of our output has seen enough. Python would complain about the pipe again when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _point_to_help(arguments: Sequence[str]) -> str:
    known = {name for commands in COMMANDS.values() for name in commands}
    command = next((word for word in arguments if word in known), "")
    return f"`{' '.join(filter(None, (NAME, command)))} --help` tells more."


def _refuse_usage(error: TyperException, as_json: bool) -> int:
    """Say what is wrong with the command line, and which help page says how it is right; without a command, print the help."""
    used: typer.Context | None = getattr(error, "ctx", None)
    said, command = error.format_message(), used.command_path if used is not None else NAME
    if used is not None and said == used.get_help():
        if not as_json:
            print(said, file=sys.stderr)
            return BadInput.exit_code
        said = "Missing command."
    stop = "" if said.endswith((".", "?")) else "."
    return _fail(BadInput(f"{said}{stop}", hint=f"`{command} --help` tells more."), as_json)


def _fail(error: RecollectError, as_json: bool) -> int:
    if as_json:
        print(visible_json(json.dumps({"error": error.to_dict()}, ensure_ascii=False)))
    else:
        print(f"recollect: {visible(str(error))}", file=sys.stderr)
    return error.exit_code
