"""Commands about how memories are related, and about their vectors: link, unlink, related, reindex."""

from typing import Annotated

import typer

from recollect.interfaces.cli.session import of


def register(app: typer.Typer) -> None:
    for command in (link, unlink, related, reindex):
        app.command()(command)


Id = Annotated[str, typer.Argument(help="The memory, by its id or the first digits of it.")]
Other = Annotated[str, typer.Argument(help="What it has to do with, by id.")]


def link(
    context: typer.Context,
    id: Id,
    other: Other,
    relation_type: Annotated[
        str, typer.Option("--type", help="How: related_to, explains, part_of, or any other short word.")
    ] = "related_to",
    strength: Annotated[float, typer.Option(help="From 0 to 1.")] = 1.0,
) -> None:
    """Note that one memory has to do with another."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        answer = memory.link(id, other, relation_type=relation_type, strength=strength)
    of(context).answer(answer, screen.fields)


def unlink(context: typer.Context, id: Id, other: Other) -> None:
    """Take back what relates one memory to another."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        count = memory.unlink(id, other)
    of(context).answer({"unlinked": count}, screen.stats)


def related(context: typer.Context, id: Id) -> None:
    """What a memory is related to, strongest first."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        found = memory.related(id)
    of(context).answer(found, screen.related)


def reindex(
    context: typer.Context,
    embedder: Annotated[
        str | None, typer.Option(help="static, none, minilm or openai; left out: the policy's, else static.")
    ] = None,
) -> None:
    """Make every vector anew that is not this embedder's. Goes on where it was if it is stopped."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory, screen.progress("reindex") as progress:
        report = memory.reindex(embedder, progress)
    of(context).answer(report, screen.fields)
