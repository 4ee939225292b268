"""The options of every command: ``recollect --json add …`` and ``recollect add … --json`` are the same."""

from collections.abc import Iterator
from copy import copy
from dataclasses import fields, replace
from typing import Any

from typer.core import TyperGroup, TyperOption

from recollect.interfaces.cli.session import Session, of

OF_EVERY_COMMAND = frozenset(field.name for field in fields(Session))
"""What the application's options are called that a session is made of; ``--version`` and ``--help`` are none of them."""


class Application(TyperGroup):
    """The root of all commands. It hands its options on to them, so that each may be said before or after the command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        options = [option for option in self.params if isinstance(option, TyperOption)]
        repeated = [_repeated(option) for option in options if option.name in OF_EVERY_COMMAND]
        for command in _below(self):
            command.params = [*command.params, *repeated]


def _below(group: TyperGroup) -> Iterator[Any]:
    """Every command of a group, and of the groups in it."""
    for command in group.commands.values():
        yield command
        if isinstance(command, TyperGroup):
            yield from _below(command)


def _repeated(option: TyperOption) -> TyperOption:
    """The same option for a command: no argument of its function, but a change of the session that it runs in."""
    repeated = copy(option)
    repeated.expose_value = False
    repeated.callback = _override
    return repeated


def _override(context: Any, option: Any, value: Any) -> Any:
    """What was said after the command counts; what it would be by default was settled before it."""
    source = context.get_parameter_source(option.name)
    if source is not None and source.name == "COMMANDLINE":
        context.obj = replace(of(context), **{option.name: value})
    return value
