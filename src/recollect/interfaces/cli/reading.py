"""Commands that read: get, list, query, difference, chain, and snapshot-block and memory-block for a prompt."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.session import (
    Agent,
    Cursor,
    Id,
    InSpace,
    InSpaces,
    Namespaces,
    Owner,
    UserId,
    calls,
    drop_missing,
    expect_few_texts,
    get_session,
)
from recollect.interfaces.cli.writing import named_values
from recollect.model.vocabulary import EventType, Kind, Layer, Status, Tier

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect
    from recollect.interfaces.python.past import Past
    from recollect.rules.prompt.injection import Block


class Form(StrEnum):
    """How much of each memory an answer shows."""

    FULL = "full"
    BULLETS = "bullets"


AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        help="As it stood after a tick (12), at a time (2026-01-31, 2026-01-31T09:00:00Z), or at the end of a phase (phase-1).",
    ),
]
Categories = Annotated[list[str] | None, typer.Option("--category", help="Only this category; may be given again.")]
Budget = Annotated[int | None, typer.Option(help="How many tokens at most.", show_default="the policy's")]
Where = Annotated[list[str] | None, typer.Option(help="Any other filter, as name=value.")]

Author = Annotated[str | None, typer.Option(help="Only what this author wrote, by id or name.")]
ContentHash = Annotated[str | None, typer.Option(help="Only what has this content hash or CID.")]
Parent = Annotated[str | None, typer.Option(help="Only what builds upon the memory with this content hash or CID.")]
Voucher = Annotated[str | None, typer.Option(help="Only what this agent or person vouches for.")]
ConfidenceMin = Annotated[float | None, typer.Option(help="From 0 to 1: only what its author is at least so sure of.")]


PROVENANCE = ("author", "content_hash", "parent", "voucher", "confidence_min")
"""The filters of a query that have an option of their own."""


def _filter_takes(name: str) -> tuple[str, ...]:
    """Return which kinds of JSON a filter takes: most of them text, or several texts of which one must fit."""
    if name == "pinned":
        return ("boolean",)
    if name in ("importance_min", "importance_max", "limit"):
        return ("integer",)
    if name == "confidence_min":
        return ("number",)
    return ("string", "array", "null") if name.endswith(("_after", "_before")) else ("string", "array")


def _at_point(memory: "Recollect", as_of: str | None) -> "Recollect | Past":
    """Return the memory, or what it was at the point that the option names."""
    if as_of is None:
        return memory
    from recollect.interfaces.python.past import point_named

    return memory.as_of(**point_named(as_of))


def get(context: typer.Context, id: Id, as_of: AsOf = None) -> None:
    """Show one memory."""
    with get_session(context).memory() as memory:
        get_session(context).answer(_at_point(memory, as_of).get(id), "memory")


def list_(
    context: typer.Context,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpaces = None,
    include_namespaces: Namespaces = None,
    status: Annotated[
        list[str] | None, typer.Option(help=f"Instead of active: {', '.join(list(Status)[1:])}; may be given again.")
    ] = None,
    any_status: Annotated[bool, typer.Option("--any-status", help="Whatever the status.")] = False,
    kind: Annotated[Kind | None, typer.Option(help="Only this kind.")] = None,
    event_type: Annotated[EventType | None, typer.Option(help="Only this event type.")] = None,
    layer: Annotated[Layer | None, typer.Option(help="Only this layer.")] = None,
    tier: Annotated[Tier | None, typer.Option(help="Only this tier.")] = None,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    scope: Annotated[str | None, typer.Option(help="Only this scope.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag; may be given again.")] = None,
    key: Annotated[str | None, typer.Option(help="Only this canonical key.")] = None,
    importance_min: Annotated[int | None, typer.Option(help="At least this important.")] = None,
    pinned: Annotated[bool | None, typer.Option("--pinned/--unpinned", help="Only pinned, or only not.")] = None,
    author: Author = None,
    content_hash: ContentHash = None,
    parent: Parent = None,
    voucher: Voucher = None,
    confidence_min: ConfidenceMin = None,
    where: Where = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    cursor: Cursor = None,
    as_of: AsOf = None,
) -> None:
    """List memories, newest first."""
    options = {
        name: value for name, value in locals().items() if name not in ("context", "any_status", "where", "as_of")
    }
    filters = drop_missing(**options) | ({"status": None} if any_status else {})
    with get_session(context).memory() as memory:
        page = _at_point(memory, as_of).list(**filters, **named_values("where", where, _filter_takes))
    get_session(context).answer(page, "page")


def query(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to look for.")],
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpaces = None,
    include_namespaces: Namespaces = None,
    agent: Agent = None,
    categories: Categories = None,
    author: Author = None,
    content_hash: ContentHash = None,
    parent: Parent = None,
    voucher: Voucher = None,
    confidence_min: ConfidenceMin = None,
    where: Where = None,
    top_k: Annotated[int | None, typer.Option(help="How many at most.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="As much as fits into so many tokens.")] = None,
    threshold: Annotated[float | None, typer.Option(help="From 0 to 1: leave out what has less to do with it.")] = None,
    share_of_best: Annotated[
        float | None, typer.Option(help="From 0 to 1: leave out what has much less to do with it than the best has.")
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="Only what it names: an entity's name or alias stands in it, whole.")
    ] = False,
    thread: Annotated[
        str | None, typer.Option(help="Begin with what changed since this thread last asked; not with --as-of.")
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Also what each said before.")] = False,
    at: Annotated[str | None, typer.Option(help="What held at this time, replaced since or not: 2022-06-01.")] = None,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="Also what it looked at and does not tell, and why.")
    ] = False,
    form: Annotated[Form, typer.Option(help="full: the memories; bullets: one line each, for a prompt.")] = Form.FULL,
    as_of: AsOf = None,
) -> None:
    """Find the memories that answer a text best."""
    options = {
        name: value for name, value in locals().items() if name not in ("context", "text", "where", "form", "as_of")
    }
    filters = {name: options.pop(name) for name in PROVENANCE} | named_values("where", where, _filter_takes)
    shown = form.value if get_session(context).as_json else "text"
    expect_few_texts()
    with get_session(context).memory() as memory:
        answer = _at_point(memory, as_of).query(text, **drop_missing(**options, filters=filters, form=shown))
        if form is Form.BULLETS:
            get_session(context).answer(answer.in_bullets(), "bullets")
        else:
            get_session(context).answer(answer, "recall")


@calls("difference", "difference")
def difference(
    since: Annotated[str, typer.Argument(help="A tick (12), a time (2026-01-31) or a phase (phase-1).")],
    until: Annotated[str | None, typer.Argument(help="The later moment, in the same ways.", show_default="now")] = None,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
) -> None:
    """Show what was added, replaced and removed between two moments."""


@calls("chain", "chain")
def chain(id: Id) -> None:
    """Show every version of a memory's concept."""


def _print_block(answer: "Block") -> None:
    """Print the block as it is: colours and line breaks of a terminal have no place in a prompt."""
    if answer.text:
        print(answer.text)


@calls("snapshot_block", _print_block)
def snapshot_block(
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpaces = None,
    include_namespaces: Namespaces = None,
    agent: Agent = None,
    budget_tokens: Budget = None,
) -> None:
    """Print what is always remembered, as a block for a prompt."""


@calls("memory_block", _print_block)
def memory_block(
    text: Annotated[str, typer.Argument(help="What the prompt is about.")],
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpaces = None,
    include_namespaces: Namespaces = None,
    agent: Agent = None,
    categories: Categories = None,
    top_k: Annotated[int | None, typer.Option(help="How many memories at most.")] = None,
    budget_tokens: Budget = None,
    thread: Annotated[str | None, typer.Option(help="Begin with what changed since this thread last asked.")] = None,
) -> None:
    """Print what is remembered about something, as a block for a prompt."""
