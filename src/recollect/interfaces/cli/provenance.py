"""Commands about where memories come from and who stands for them: provenance …, vouch, withdraw-vouch."""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.identity import KeyFile
from recollect.interfaces.cli.reading import Id
from recollect.interfaces.cli.session import of
from recollect.model.rendering import visible

if TYPE_CHECKING:
    from rich.tree import Tree

    from recollect.rules.trust.provenance import Branch, Lineage

provenance = typer.Typer(no_args_is_help=True, help="Where memories come from, and who is credited with them.")


class Drawing(StrEnum):
    TREE = "tree"
    DOT = "dot"
    MERMAID = "mermaid"


Draw = Annotated[Drawing, typer.Option("--as", help="How to draw it.")]
By = Annotated[str | None, typer.Option(help="The agent that vouches, where the application speaks for it.")]


def register(app: typer.Typer) -> None:
    app.add_typer(provenance, name="provenance")
    app.command()(vouch)
    app.command("withdraw-vouch")(withdraw_vouch)


@provenance.command()
def ancestors(context: typer.Context, id: Id, draw: Draw = Drawing.TREE) -> None:
    """What a memory builds upon, as far back as it goes."""
    with of(context).memory() as memory:
        of(context).answer(memory.ancestors(id), lambda lineage: _drawn(lineage, draw))


@provenance.command()
def descendants(context: typer.Context, id: Id, draw: Draw = Drawing.TREE) -> None:
    """What was built upon a memory."""
    with of(context).memory() as memory:
        of(context).answer(memory.descendants(id), lambda lineage: _drawn(lineage, draw))


@provenance.command()
def common(context: typer.Context, a: Id, b: Id) -> None:
    """What two memories both go back to, nearest first."""
    from recollect.rules.trust.provenance import label

    with of(context).memory() as memory:
        found = memory.common_sources(a, b)
    rows = [(str(one.distance_a), str(one.distance_b), label(one.source)) for one in found]
    of(context).answer(found, lambda _: _table(("steps from a", "steps from b", "source"), rows))


@provenance.command()
def credit(context: typer.Context, id: Id) -> None:
    """Who is credited with a memory, and for how much."""
    with of(context).memory() as memory:
        found = memory.credit(id)
    rows = [(f"{float(one.share):.1%}", str(one.share), one.who) for one in found]
    of(context).answer(found, lambda _: _table(("credit", "exactly", "who"), rows))
    if any(one.truncated for one in found):
        of(context).tell("It goes back to more memories than are followed; nobody is credited with what lies beyond.")


@provenance.command()
def derivatives(context: typer.Context, id: Id) -> None:
    """Other authors' memories of much the same words, where neither names the other."""
    with of(context).memory() as memory:
        found = memory.derivatives(id)
    rows = [(f"{one.overlap:.0%}", one.direction, one.id[:13], one.author, one.content) for one in found]
    of(context).answer(found, lambda _: _table(("overlap", "it is", "id", "author", "content"), rows))


@provenance.command()
def vouchers(context: typer.Context, id: Id) -> None:
    """Who vouches for a memory, and what that weighs in the eyes of whoever asks."""
    with of(context).memory() as memory:
        found = memory.vouching(id)
    rows = [
        (f"{one['weight']:.2f}", one["name"], one.get("says", ""), one["timestamp"][:10], one["signed"] or "no")
        for one in found.vouchers
    ]
    total = (f"{found.weight:.2f}", "together", "", "", "")
    of(context).answer(found, lambda _: _table(("weight", "who", "says", "since", "signed"), [*rows, total]))
    for one in found.vouchers:
        if "why" in one:
            of(context).tell(f"{one['name']} weighs nothing: {one['why']}.")


def vouch(
    context: typer.Context,
    id: Id,
    confidence: Annotated[float | None, typer.Option(help="How sure they are, from 0 to 1.")] = None,
    says: Annotated[str | None, typer.Option(help="accurate, useful or valid.")] = None,
    by: By = None,
    sign_as: Annotated[
        str | None, typer.Option(help="The same as --by, and sign it with this one's current key.")
    ] = None,
    key_file: KeyFile = None,
) -> None:
    """Stand for a memory that another wrote, once. The memory itself does not change."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        vouched = memory.vouch(id, confidence=confidence, says=says, by=by, sign_as=sign_as, key_file=key_file)
    of(context).answer(vouched, lambda one: screen.changed(one, "vouched for"))
    of(context).tell(f"`recollect provenance vouchers {vouched.short_id}` tells what it weighs.")


def withdraw_vouch(context: typer.Context, id: Id, by: By = None) -> None:
    """Take back one's own vouch. History still shows that there was one."""
    from recollect.interfaces.cli import screen

    with of(context).memory() as memory:
        withdrawn = memory.withdraw_vouch(id, by=by)
    of(context).answer(withdrawn, lambda one: screen.changed(one, "no longer vouched for"))


# ── drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _drawn(lineage: "Lineage", draw: Drawing) -> None:
    from recollect.interfaces.cli import screen
    from recollect.rules.trust.provenance import as_tree, to_dot, to_mermaid

    if draw is Drawing.TREE:
        screen.console.print(_tree(as_tree(lineage)))
        if lineage.truncated:
            screen.console.print("[dim]there is more than is shown[/]")
    else:
        sys.stdout.write(visible(to_dot(lineage) if draw is Drawing.DOT else to_mermaid(lineage)))


def _tree(branch: "Branch", under: "Tree | None" = None) -> "Tree":
    from rich.tree import Tree

    from recollect.interfaces.cli.screen import escape, styled
    from recollect.rules.trust.provenance import label

    source = branch.source
    text = escape(label(source)) if source.resolved else styled("dim", label(source))
    if source.resolved:
        text += f"  [dim]{(source.id or '')[:13]}{'' if source.status == 'active' else f' {source.status}'}[/]"
    text += "  [dim]…as above[/]" if branch.again else ""
    node = Tree(text) if under is None else under.add(text)
    for further in branch.branches:
        _tree(further, node)
    return node


def _table(titles: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    from recollect.interfaces.cli import screen

    table = screen.table(*titles)
    for row in rows:
        table.add_row(*(screen.escape(str(cell)) for cell in row))
    screen.console.print(table if rows else "[dim]none[/]")
