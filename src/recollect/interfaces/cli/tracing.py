"""Commands about governance events: trace show, trace schema, and why, which tells them in sentences."""

import sys
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import of
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, NotFound
from recollect.model.rendering import visible, visible_json
from recollect.model.trace import Trace, TraceType

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect

EXPORT_PAGE = 1_000
"""How many events an export reads at a time."""

trace = typer.Typer(no_args_is_help=True, help="Show the governance events that policy kept, or what they look like.")

OfSession = Annotated[str | None, typer.Option(help="Only of this session.")]
OfMemory = Annotated[str | None, typer.Option(help="Only those that name this memory: an id, or twelve digits of it.")]


def register(app: typer.Typer) -> None:
    app.add_typer(trace, name="trace")
    app.command()(why)


@trace.command()
def show(
    context: typer.Context,
    plain: Annotated[bool, typer.Option("--plain", help="Every detail, one `key: value` a line.")] = False,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Export all that fit, one JSON document a line.")] = False,
    number: Annotated[int | None, typer.Option(help="Only the event of this number.")] = None,
    session: OfSession = None,
    type: Annotated[TraceType | None, typer.Option(help="Only of this type.")] = None,
    memory: OfMemory = None,
    since: Annotated[str | None, typer.Option(help="From this time on, such as 2026-01-31T09:00:00Z.")] = None,
    after: Annotated[int | None, typer.Option(help="The first ones after this number, and not the latest.")] = None,
    before: Annotated[int | None, typer.Option(help="The latest before this number.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most; an export has no limit.")] = 20,
) -> None:
    """Show the latest events that fit, oldest first."""
    if plain and jsonl:
        raise BadInput("choose one way to show them.", field="plain", hint="Leave out --plain or --jsonl.")
    wanted: dict[str, Any] = {"session": session, "type": type, "memory": memory, "since": since}
    wanted |= _range(number, after, before)
    with of(context).memory() as opened:
        if jsonl:
            sys.stdout.writelines(visible_json(canonical_json(event)) + "\n" for event in _every(opened, wanted))
            return
        events = opened.traces(**wanted, latest=after is None, limit=limit)
    if number is not None and not events:
        raise NotFound(
            f"no event with number {number} fits.",
            field="number",
            hint="`recollect trace show` lists those that were kept.",
        )
    _answer(context, events, plain=plain)


@trace.command()
def schema(
    type: Annotated[TraceType, typer.Argument(help="Which event.")],
) -> None:
    """Print the JSON Schema of an event."""
    sys.stdout.write(schema_text(type))


def why(context: typer.Context, session: OfSession = None, memory: OfMemory = None) -> None:
    """Say in a few sentences what was decided and why: in a session's last turn, or about one memory."""
    with of(context).memory() as opened:
        told = opened.why(session=session, memory=memory)
    of(context).answer(told, lambda lines: sys.stdout.writelines(f"{visible(line)}\n" for line in lines))


def schema_text(type: TraceType) -> str:
    """The published schema of an event, as its file has it."""
    folder = resources.files("recollect.model") / "trace_schemas"
    return (folder / f"{type}.json").read_text(encoding="utf-8")


def _range(number: int | None, after: int | None, before: int | None) -> dict[str, Any]:
    if number is None:
        return {"after": after or 0, "before": before}
    if after is not None or before is not None:
        raise BadInput("one number is no range.", field="number", hint="Leave out --after and --before.")
    return {"after": max(number - 1, 0), "before": max(number + 1, 1)}


def _every(opened: "Recollect", wanted: dict[str, Any]) -> Iterator[Trace]:
    while page := opened.traces(**wanted, limit=EXPORT_PAGE):
        yield from page
        wanted = {**wanted, "after": page[-1]["number"]}


def _answer(context: typer.Context, events: tuple[Trace, ...], *, plain: bool) -> None:
    from recollect.interfaces.cli import screen

    of(context).answer(events, _draw_plain if plain else screen.traces)


def _draw_plain(events: tuple[Trace, ...]) -> None:
    from recollect.rules.plain_view import plain_lines

    sys.stdout.write("\n".join("".join(f"{line}\n" for line in plain_lines(event)) for event in events))
