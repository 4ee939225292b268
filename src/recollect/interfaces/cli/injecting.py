"""Commands for prompts: snapshot, block."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.reading import Namespaces, Owner, SpacesOption
from recollect.interfaces.cli.session import UserId, of

if TYPE_CHECKING:
    from recollect.rules.prompt.injection import Block

Agent = Annotated[str | None, typer.Option(help="As this agent sees it.")]
Budget = Annotated[int | None, typer.Option(help="How many tokens at most.", show_default="the policy's")]


def register(app: typer.Typer) -> None:
    app.command()(snapshot)
    app.command()(block)


def snapshot(
    context: typer.Context,
    owner: Owner = None,
    user_id: UserId = None,
    space: SpacesOption = None,
    include_namespaces: Namespaces = None,
    agent: Agent = None,
    budget_tokens: Budget = None,
) -> None:
    """Print what is always remembered, as a block for a prompt."""
    with of(context).memory() as memory:
        answer = memory.snapshot_block(
            agent=agent,
            owner=owner,
            user_id=user_id,
            spaces=space or None,
            include_namespaces=include_namespaces or ("prod",),
            budget_tokens=budget_tokens,
        )
    of(context).answer(answer, _print)


def block(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What the prompt is about.")],
    owner: Owner = None,
    user_id: UserId = None,
    space: SpacesOption = None,
    include_namespaces: Namespaces = None,
    agent: Agent = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category; may be given again.")] = None,
    max_items: Annotated[int | None, typer.Option(help="How many memories at most.")] = None,
    budget_tokens: Budget = None,
    thread: Annotated[str | None, typer.Option(help="Begin with what changed since this thread last asked.")] = None,
) -> None:
    """Print what is remembered about something, as a block for a prompt."""
    with of(context).memory() as memory:
        answer = memory.memory_block(
            query,
            agent=agent,
            owner=owner,
            user_id=user_id,
            space=space or None,
            include_namespaces=include_namespaces or ("prod",),
            categories=category or None,
            max_items=max_items,
            budget_tokens=budget_tokens,
            thread=thread,
        )
    of(context).answer(answer, _print)


def _print(answer: "Block") -> None:
    """The block as it is: colours and line breaks of a terminal have no place in a prompt."""
    if answer.text:
        print(answer.text)
