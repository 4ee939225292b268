"""Commands about how memories are connected: link, unlink, related, outdated, vouch, withdraw-vouch and provenance …"""

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.session import Id, KeyFile, Owner, UserId, calls, get_session, screen
from recollect.model.rendering import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.tree import Tree

    from recollect.engine.trust.provenance import CommonSource, Derivative
    from recollect.rules.trust.provenance import Branch, Lineage

provenance = typer.Typer(no_args_is_help=True, help="Where memories come from, and who is credited with them.")


class Drawing(StrEnum):
    TREE = "tree"
    DOT = "dot"
    MERMAID = "mermaid"


Draw = Annotated[Drawing, typer.Option("--as", help="How to draw it.")]
By = Annotated[str | None, typer.Option(help="The agent that vouches, where the application speaks for it.")]


@calls("link", "fields")
def link(
    id: Id,
    other: Id,
    relation_type: Annotated[
        str, typer.Option(help="How: related_to, explains, part_of, or any other short word.")
    ] = "related_to",
    strength: Annotated[float, typer.Option(help="From 0 to 1.")] = 1.0,
) -> None:
    """Relate one memory to another."""


@calls("unlink", "stats", name="unlinked")
def unlink(id: Id, other: Id) -> None:
    """Remove every relation of one memory to another."""


@calls("related", "related")
def related(id: Id) -> None:
    """What a memory is related to, strongest first."""


@calls("outdated", "outdated")
def outdated(
    owner: Owner = None,
    user_id: UserId = None,
    conflicts: Annotated[
        bool, typer.Option("--conflicts", help="List the contradictions that wait too, before the others.")
    ] = False,
    limit: Annotated[int, typer.Option(help="How many pairs.")] = 100,
) -> None:
    """List memories that a later one may have replaced, strongest reason first. `resolve` decides each pair."""


@provenance.command()
def ancestors(context: typer.Context, id: Id, draw: Draw = Drawing.TREE) -> None:
    """What a memory builds upon, as far back as it goes."""
    with get_session(context).memory() as memory:
        get_session(context).answer(memory.ancestors(id), lambda lineage: _draw_lineage(lineage, draw))


@provenance.command()
def descendants(context: typer.Context, id: Id, draw: Draw = Drawing.TREE) -> None:
    """What was built upon a memory."""
    with get_session(context).memory() as memory:
        get_session(context).answer(memory.descendants(id), lambda lineage: _draw_lineage(lineage, draw))


@provenance.command()
@calls("common_sources", lambda found: _draw_common_sources(found))
def common_sources(a: Id, b: Id) -> None:
    """What two memories both go back to, nearest first."""


@provenance.command()
def credit(context: typer.Context, id: Id) -> None:
    """Who is credited with a memory, and for how much."""
    with get_session(context).memory() as memory:
        found = memory.credit(id)
    rows = [(f"{float(one.share):.1%}", str(one.share), one.who) for one in found]
    get_session(context).answer(found, lambda _: _print_table("credit, exactly, who", rows))
    if any(one.truncated for one in found):
        get_session(context).tell(
            "It goes back to more memories than are followed; nobody is credited with what lies beyond."
        )


@provenance.command()
@calls("derivatives", lambda found: _draw_derivatives(found))
def derivatives(id: Id) -> None:
    """Other authors' memories of much the same words, where neither names the other."""


@provenance.command()
def vouchers(context: typer.Context, id: Id) -> None:
    """Show who vouches for a memory, and what that weighs for the caller."""
    with get_session(context).memory() as memory:
        found = memory.vouchers(id)
    rows = [
        (f"{one['weight']:.2f}", one["name"], one.get("says", ""), one["timestamp"][:10], one["signed"] or "no")
        for one in found.vouchers
    ]
    total = (f"{found.weight:.2f}", "together", "", "", "")
    get_session(context).answer(found, lambda _: _print_table("weight, who, says, since, signed", [*rows, total]))
    for one in found.vouchers:
        if "why" in one:
            get_session(context).tell(f"{one['name']} weighs nothing: {one['why']}.")


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
    """Vouch for a memory that another wrote, once. The memory itself does not change."""
    with get_session(context).memory() as memory:
        vouched = memory.vouch(id, confidence=confidence, says=says, by=by, sign_as=sign_as, key_file=key_file)
    get_session(context).answer(vouched, lambda one: screen.draw_changed(one, "vouched for"))
    get_session(context).tell(f"`recollect provenance vouchers {vouched.short_id}` tells what it weighs.")


@calls("withdraw_vouch", lambda one: screen.draw_changed(one, "no longer vouched for"))
def withdraw_vouch(id: Id, by: By = None) -> None:
    """Withdraw a vouch. History still shows that there was one."""


def _draw_lineage(lineage: "Lineage", draw: Drawing) -> None:
    from recollect.rules.trust.provenance import as_tree, to_dot, to_mermaid

    if draw is Drawing.TREE:
        screen.console.print(_make_tree(as_tree(lineage)))
        if lineage.truncated:
            screen.console.print("[dim]there is more than is shown[/]")
    else:
        sys.stdout.write(visible(to_dot(lineage) if draw is Drawing.DOT else to_mermaid(lineage)))


def _make_tree(branch: "Branch", under: "Tree | None" = None) -> "Tree":
    from rich.tree import Tree

    from recollect.rules.trust.provenance import label

    source = branch.source
    text = screen.escape(label(source)) if source.resolved else screen.style_text("dim", label(source))
    if source.resolved:
        text += f"  [dim]{(source.id or '')[:13]}{'' if source.status == 'active' else f' {source.status}'}[/]"
    text += "  [dim]…as above[/]" if branch.again else ""
    node = Tree(text) if under is None else under.add(text)
    for further in branch.branches:
        _make_tree(further, node)
    return node


def _draw_common_sources(found: "Sequence[CommonSource]") -> None:
    from recollect.rules.trust.provenance import label

    rows = [(one.distance_a, one.distance_b, label(one.source)) for one in found]
    _print_table("steps from a, steps from b, source", rows)


def _draw_derivatives(found: "Sequence[Derivative]") -> None:
    rows = [(f"{one.overlap:.0%}", one.direction, one.id[:13], one.author, one.content) for one in found]
    _print_table("overlap, it is, id, author, content", rows)


def _print_table(titles: str, rows: list[tuple[Any, ...]]) -> None:
    screen.print_table(titles, [[screen.escape(str(cell)) for cell in row] for row in rows], "none")
