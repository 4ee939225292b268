"""Commands that say what was done: events, ops, and the history of one memory or of everything an owner has."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer

from recollect.interfaces.cli.session import UserId, of
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.operation import Node, Op, Operation, OperationCount, OperationPage, OpStatus, Period
from recollect.model.receipt import HistoryEvent
from recollect.model.rendering import visible_json

BAR_WIDTH = 24
PAGE = 200
"""How many lines of history people are shown under one heading."""

Since = Annotated[str | None, typer.Option(help="From this time on, such as 2026-01-31T09:00:00Z.")]
User = Annotated[str | None, typer.Option(help="Only this user's.")]


def register(app: typer.Typer) -> None:
    for command in (events, ops, history):
        app.command()(command)


def events(
    context: typer.Context,
    user: User = None,
    thread: Annotated[str | None, typer.Option(help="Only of this thread.")] = None,
    node: Annotated[Node | None, typer.Option(help="Only of this part.")] = None,
    op: Annotated[Op | None, typer.Option(help="Only this operation.")] = None,
    status: Annotated[OpStatus | None, typer.Option(help="Only with this result.")] = None,
    since: Since = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(help="Continue a page.")] = None,
) -> None:
    """Show what was done, for whom and when, newest first and without content."""
    with of(context).memory() as memory:
        page = memory.events(
            user=user, thread=thread, node=node, op=op, status=status, since=since, limit=limit, after=after
        )
    of(context).answer(page, _draw_events)


def ops(
    context: typer.Context,
    by: Annotated[Period, typer.Option(help="Count by hour, by day or in total.")] = Period.DAY,
    since: Since = None,
    user: User = None,
) -> None:
    """Count what was done, by node, operation and result over time."""
    with of(context).memory() as memory:
        counts = memory.ops(by=by, since=since, user=user)
    of(context).answer(counts, _draw_counts)


def history(
    context: typer.Context,
    id: Annotated[str | None, typer.Argument(help="An id, or its first twelve digits.")] = None,
    owner: Annotated[str | None, typer.Option(help="Everything of this owner instead of one memory.")] = None,
    user_id: UserId = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="Print one JSON document a line.")] = False,
) -> None:
    """Show everything that happened to a memory, or to all of an owner's, oldest first."""
    session = of(context)
    if (id is None) == (owner is None and user_id is None):
        raise BadInput("name either an id or an owner.", field="id", hint="0f3a9c2b1d4e, or --owner ana.")
    with session.memory() as memory:
        found: Iterable[HistoryEvent]
        found = memory.history(id) if id is not None else memory.history(owner=owner, user_id=user_id)
        if jsonl:
            sys.stdout.writelines(visible_json(canonical_json(event.to_dict())) + "\n" for event in found)
        elif session.as_json:
            session.answer(list(found), _draw_history)
        else:
            _draw_history(found)


# ── for people ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _draw_events(page: OperationPage) -> None:
    from recollect.interfaces.cli.screen import console, escape, table

    drawn = table("when", "node", "op", "status", "user", "thread", "memory", "category", "alike")
    for one in page.items:
        drawn.add_row(*(escape(cell) for cell in _cells(one)))
    console.print(drawn if page.items else "[dim]nothing was done[/]")
    if page.next_cursor:
        console.print(f"[dim]more: --after {page.next_cursor}[/]", soft_wrap=True)


def _cells(one: Operation) -> list[str]:
    alike = "" if one.similarity is None else f"{one.similarity:.2f}"
    names = [one.user or "", one.thread or "", (one.memory_id or "")[:13], one.category or ""]
    return [_when(one.at), one.node, one.op, one.status, *names, alike]


def _draw_counts(counts: Sequence[OperationCount]) -> None:
    from rich.table import Table

    from recollect.interfaces.cli.screen import console

    table = Table("when", "node", "op", "status", "count", "", box=None, pad_edge=False)
    most = max((one.count for one in counts), default=1)
    before = None
    for one in counts:
        when = one.period.replace("T", " ") or "in total"
        table.add_row(
            when if when != before else "", one.node, one.op, one.status, f"{one.count:,}", bar(one.count, most)
        )
        before = when
    console.print(table if counts else "[dim]nothing was done[/]")
    if checked := sum(one.checked for one in counts):
        met = sum(one.met for one in counts)
        console.print(f"[dim]writing constraints met at first: {met:,} of {checked:,} ({met / checked:.0%})[/]")


def bar(count: int, most: int) -> str:
    """A bar as long as the count is large beside the largest; anything at all is seen."""
    return "█" * max(1, round(BAR_WIDTH * count / most))


def _draw_history(found: Iterable[HistoryEvent]) -> None:
    from recollect.interfaces.cli import screen

    pages = _in_pages(iter(found))
    screen.history(next(pages, []))
    for page in pages:
        screen.history(page)


def _in_pages(events: Iterator[HistoryEvent]) -> Iterator[list[HistoryEvent]]:
    page: list[HistoryEvent] = []
    for event in events:
        page.append(event)
        if len(page) == PAGE:
            yield page
            page = []
    if page:
        yield page


def _when(at: str) -> str:
    return at[:19].replace("T", " ")
