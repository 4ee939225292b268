"""Commands that say what happened: history, explain, events, ops, traces."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import Cursor, InSpaces, Namespaces, Since, UserId, calls, get_session, screen
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, NotFound
from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus, Period
from recollect.model.rendering import visible_json
from recollect.model.trace import Trace, TraceType

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect
    from recollect.model.receipt import Explanation, HistoryEvent, Page

BAR_WIDTH = 24
PAGE = 200
"""How many lines of history people see under one heading."""
EXPORT_PAGE = 1_000
"""How many traces an export reads at a time."""

User = Annotated[str | None, typer.Option(help="Only this user's.")]
Jsonl = Annotated[bool, typer.Option("--jsonl", help="Print everything that fits, one JSON document a line.")]


def history(
    context: typer.Context,
    id: Annotated[str | None, typer.Argument(help="An id, or its first twelve digits.")] = None,
    owner: Annotated[str | None, typer.Option(help="Everything of this owner instead of one memory.")] = None,
    user_id: UserId = None,
    space: InSpaces = None,
    include_namespaces: Namespaces = None,
    since: Annotated[int, typer.Option(help="After this ledger entry of each stream.")] = 0,
    limit: Annotated[int | None, typer.Option(help="How many at most.", min=1)] = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON document a line.")] = False,
) -> None:
    """Show everything that happened to a memory, or to all of an owner's, oldest first."""
    session = get_session(context)
    if (id is None) == (owner is None and user_id is None):
        raise BadInput("name either an id or an owner.", field="id", hint="0f3a9c2b1d4e, or --owner ana.")
    with session.memory() as memory:
        whole: Iterable[HistoryEvent]
        if id is not None:
            whole = memory.history(id)
        else:
            namespaces = include_namespaces or None
            whole = memory.history(
                owner=owner, user_id=user_id, space=space or None, include_namespaces=namespaces, since=since
            )
        found = islice(whole, limit)
        if jsonl:
            _write_lines(event.to_dict() for event in found)
        elif session.as_json:
            session.answer(list(found), _draw_history)
        else:
            _draw_history(found)


@calls("explain", lambda answer: _draw_explanation(answer))
def explain(
    id: Annotated[str | None, typer.Argument(help="An id, or its first twelve digits.")] = None,
    session: Annotated[str | None, typer.Option(help="The last turn of this session instead of one memory.")] = None,
    number: Annotated[int | None, typer.Option(help="The turn to which the trace of this number belongs.")] = None,
) -> None:
    """Say in plain English why a memory is as it is, or what was decided in the last turn."""


@calls("events", lambda page: _draw_events(page))
def events(
    user: User = None,
    thread: Annotated[str | None, typer.Option(help="Only of this thread.")] = None,
    node: Annotated[Node | None, typer.Option(help="Only of this part.")] = None,
    op: Annotated[Op | None, typer.Option(help="Only this operation.")] = None,
    status: Annotated[OpStatus | None, typer.Option(help="Only with this result.")] = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    cursor: Cursor = None,
) -> None:
    """Show which operations were done, for whom and when, newest first and without content."""


@calls("ops", lambda counts: _draw_counts(counts))
def ops(
    by: Annotated[Period, typer.Option(help="Count by hour, by day or in total.")] = Period.DAY,
    since: Since = None,
    user: User = None,
) -> None:
    """Count operations by node, operation and result over time."""


def traces(
    context: typer.Context,
    plain: Annotated[bool, typer.Option("--plain", help="Every detail, one `key: value` a line.")] = False,
    jsonl: Jsonl = False,
    number: Annotated[int | None, typer.Option(help="Only the event of this number.")] = None,
    session: Annotated[str | None, typer.Option(help="Only of this session.")] = None,
    type: Annotated[TraceType | None, typer.Option(help="Only of this type.")] = None,
    memory: Annotated[str | None, typer.Option(help="Only events that name this memory, by its id.")] = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(help="How many at most; --jsonl has no limit.")] = 20,
    cursor: Cursor = None,
    schema: Annotated[TraceType | None, typer.Option(help="Print the JSON Schema of this type instead.")] = None,
) -> None:
    """Show the latest governance events that policy kept, oldest first."""
    if schema is not None:
        sys.stdout.write(schema_text(schema))
        return
    if plain and jsonl:
        raise BadInput("choose one way to show them.", field="plain", hint="Leave out --plain or --jsonl.")
    wanted: dict[str, Any] = {"session": session, "type": type, "memory": memory, "since": since, "number": number}
    with get_session(context).memory() as opened:
        if jsonl:
            _write_lines(_read_every_trace(opened, wanted))
            return
        page = opened.traces(**wanted, latest=True, limit=limit, cursor=cursor)
    if number is not None and not page:
        hint = "`recollect traces` lists the events that were kept."
        raise NotFound(f"no event with number {number} fits.", field="number", hint=hint)
    get_session(context).answer(page, _draw_plain if plain else screen.draw_traces)


def schema_text(type: TraceType) -> str:
    """Return the published schema of a governance event, as its file has it."""
    folder = resources.files("recollect.model") / "trace_schemas"
    return (folder / f"{type}.json").read_text(encoding="utf-8")


def _read_every_trace(opened: "Recollect", wanted: dict[str, Any]) -> Iterator[Trace]:
    page = opened.traces(**wanted, limit=EXPORT_PAGE)
    yield from page
    while page.next_cursor is not None:
        page = opened.traces(**wanted, limit=EXPORT_PAGE, cursor=page.next_cursor)
        yield from page


def _write_lines(values: Iterable[dict[str, Any]]) -> None:
    sys.stdout.writelines(visible_json(canonical_json(one)) + "\n" for one in values)


def _draw_explanation(answer: "Explanation") -> None:
    screen.console.print(answer.text, markup=False)
    if answer.id and answer.sentences:
        lines = "\n".join(f"  {line}" for line in answer.sentences)
        screen.console.print(f"\nWhat was decided about it, from the traces that policy kept:\n{lines}", markup=False)


def _draw_history(found: "Iterable[HistoryEvent]") -> None:
    events = iter(found)
    screen.draw_history(list(islice(events, PAGE)))
    while page := list(islice(events, PAGE)):
        screen.draw_history(page)


def _draw_events(page: "Page[Operation]") -> None:
    rows = []
    for one in page:
        alike = "" if one.similarity is None else f"{one.similarity:.2f}"
        names = [one.user or "", one.thread or "", (one.memory_id or "")[:13], one.category or ""]
        cells = [one.at[:19].replace("T", " "), one.node, one.op, one.status, *names, alike]
        rows.append([screen.escape(cell) for cell in cells])
    screen.print_table("when, node, op, status, user, thread, memory, category, alike", rows, "no operations")
    screen.draw_more(page)


def _draw_counts(counts: Sequence[OperationCount]) -> None:
    rows = []
    most = max((one.count for one in counts), default=1)
    before = None
    for one in counts:
        when = one.period.replace("T", " ") or "in total"
        bar = "█" * max(1, round(BAR_WIDTH * one.count / most))
        rows.append((when if when != before else "", one.node, one.op, one.status, f"{one.count:,}", bar))
        before = when
    screen.print_table("when, node, op, status, count, ", rows, "no operations")
    if checked := sum(one.checked for one in counts):
        met = sum(one.met for one in counts)
        screen.console.print(f"[dim]writing constraints met at first: {met:,} of {checked:,} ({met / checked:.0%})[/]")


def _draw_plain(page: "Page[Trace]") -> None:
    from recollect.rules.plain_view import plain_lines

    sys.stdout.write("\n".join("".join(f"{line}\n" for line in plain_lines(event)) for event in page))
