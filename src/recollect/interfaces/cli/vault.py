"""Commands for a vault: each calls the method of ``recollect.vault.MemoryVault`` that it is named after."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.reading import Budget
from recollect.interfaces.cli.session import of
from recollect.model.errors import BadInput, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from recollect.vault import MemoryVault, VaultMemory, VaultReceipt

vault = typer.Typer(
    no_args_is_help=True,
    help="A vault's own operations, on the JSONL file that --store names (data/memory/vault.jsonl).",
)

Profile = Annotated[str | None, typer.Option(help="A YAML file with a `memory` section: what this agent may see.")]
Id = Annotated[str, typer.Argument(help="The memory: its twelve digits.")]
Text = Annotated[str, typer.Argument(help="What to remember.")]
Scope = Annotated[str, typer.Argument(help="shared, or the agent that may see it.")]
InScope = Annotated[str | None, typer.Argument(help="Only this scope.")]
Scopes = Annotated[list[str] | None, typer.Argument(help="Only these scopes.")]
Topic = Annotated[str | None, typer.Option(help="The register's topic.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be given again.")]
Source = Annotated[str | None, typer.Option(help="chat, manual, tool, operator or promotion.")]
CategoryOption = Annotated[str | None, typer.Option(help="What it is about.")]
Limit = Annotated[int | None, typer.Option(help="How many at most.", show_default="the profile's")]
OneTier = Annotated[str | None, typer.Option("--tier", help="Only canon, or only register.")]
OneTag = Annotated[str | None, typer.Option("--tag", help="Only with this tag.")]


@contextmanager
def _opened(context: typer.Context, profile: str | None, *, make: bool = False) -> Iterator["MemoryVault"]:
    """Open the vault that the options name. Only what writes the first memory makes a file."""
    from recollect.vault import DEFAULT_PATH, MemoryVault, check_vault_path

    session = of(context)
    narrowing = [name for name in ("as_user", "as_agent", "as_session") if getattr(session, name) is not None]
    if narrowing or session.tenant != "default":
        field, hint = (*narrowing, "tenant")[0], "--profile says what an agent sees."
        raise BadInput("a vault has neither tenants nor callers.", field=field, hint=hint)
    path = check_vault_path(session.store or DEFAULT_PATH)
    if not make and not path.exists():
        hint = "Check the path (--store or RECOLLECT_STORE); `recollect vault add` makes a vault where none is."
        raise StoreUnavailable("there is no vault.", field=str(path.absolute()), hint=hint)
    with MemoryVault(path, profile=profile, policy=session.policy or "vault") as opened:
        yield opened


def _answer(context: typer.Context, receipts: Sequence["VaultReceipt"]) -> int:
    """Print a receipt, or several; the exit code says whether any was denied."""
    of(context).answer(receipts[0] if len(receipts) == 1 else receipts, lambda _: _draw_receipts(receipts))
    return 0 if all(receipt.ok for receipt in receipts) else 1


@vault.command()
def add(
    context: typer.Context,
    text: Text,
    scope: Scope,
    category: Annotated[str, typer.Argument(help="What it is about.")],
    tier: Annotated[str, typer.Option(help="canon or register.")] = "canon",
    topic_id: Topic = None,
    tag: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> int:
    """Remember something, if the write gate lets it in."""
    with _opened(context, profile, make=True) as opened:
        receipt = opened.add_memory(text, scope, category, tier=tier, topic_id=topic_id, tags=tag, source=source)
    return _answer(context, [receipt])


@vault.command()
def topic(
    context: typer.Context,
    topic_id: Annotated[str, typer.Argument(help="The register's topic.")],
    scope: Scope,
    text: Text,
    category: CategoryOption = None,
    tag: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> int:
    """Write the register of a topic: its next version, or its first."""
    with _opened(context, profile, make=True) as opened:
        receipt = opened.update_by_topic(topic_id, scope, text, category=category, tags=tag, source=source)
    return _answer(context, [receipt])


@vault.command()
def update(
    context: typer.Context,
    id: Id,
    text: Annotated[str | None, typer.Argument(help="The new words.")] = None,
    category: CategoryOption = None,
    tag: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> int:
    """Write the next version of a memory; what is not given stays as it was."""
    with _opened(context, profile) as opened:
        receipt = opened.update(id, text, category=category, tags=tag, source=source)
    return _answer(context, [receipt])


@vault.command()
def delete(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(help="The memories: their twelve digits each.")],
    profile: Profile = None,
) -> int:
    """Delete memories: a tombstone is appended for each."""
    with _opened(context, profile) as opened:
        receipts = opened.bulk_delete(ids)
    return _answer(context, receipts)


@vault.command()
def promote(
    context: typer.Context,
    id: Id,
    canonical_text: Annotated[str | None, typer.Argument(help="Better words, if there are any.")] = None,
    profile: Profile = None,
) -> int:
    """Make a register canon."""
    with _opened(context, profile) as opened:
        receipt = opened.promote_to_canon(id, canonical_text)
    return _answer(context, [receipt])


@vault.command()
def compact(context: typer.Context, profile: Profile = None) -> None:
    """Rewrite the file with the latest line of each active memory."""
    with _opened(context, profile) as opened:
        before, after = opened.compact()
    of(context).answer({"before": before, "after": after}, _draw_fields)


@vault.command()
def get(context: typer.Context, id: Id, profile: Profile = None) -> None:
    """Show one memory."""
    with _opened(context, profile) as opened:
        memory = opened.get(id)
    if memory is None:
        raise NotFound(
            "no active memory has this id.", field="id", hint="`recollect vault recall` lists what there is."
        )
    of(context).answer(memory, lambda one: _draw_fields(one.to_dict()))


@vault.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    scopes: Scopes = None,
    limit: Limit = None,
    tier: OneTier = None,
    category: CategoryOption = None,
    topic_id: Topic = None,
    tag: OneTag = None,
    profile: Profile = None,
) -> None:
    """Find what answers a query, best first."""
    filters = {"tier": tier, "category": category, "topic_id": topic_id, "tag": tag}
    with _opened(context, profile) as opened:
        hits = opened.search(query, scopes or None, limit=limit, **filters)
    rows = [[f"{hit.score:.2f}", *_row(hit.memory)] for hit in hits]
    of(context).answer(hits, lambda _: _draw_table(("score", *COLUMNS), rows))


@vault.command()
def recall(
    context: typer.Context,
    scopes: Scopes = None,
    limit: Limit = None,
    tier: OneTier = None,
    category: CategoryOption = None,
    topic_id: Topic = None,
    tag: OneTag = None,
    profile: Profile = None,
) -> None:
    """List active memories: canon first, then what changed last."""
    filters = {"tier": tier, "category": category, "topic_id": topic_id, "tag": tag}
    with _opened(context, profile) as opened:
        memories = opened.recall(scopes or None, limit=limit, **filters)
    of(context).answer(memories, lambda _: _draw_table(COLUMNS, list(map(_row, memories))))


@vault.command()
def candidates(
    context: typer.Context,
    scope: InScope = None,
    floor: Annotated[
        float | None, typer.Option(help="How alike two memories are at least.", show_default="0.4")
    ] = None,
    profile: Profile = None,
) -> None:
    """List pairs of similar memories, for somebody to merge."""
    with _opened(context, profile) as opened:
        pairs = opened.find_consolidation_candidates(scope, **({} if floor is None else {"floor": floor}))
    rows = [[f"{pair.score:.2f}", one.id, one.text] for pair in pairs for one in (pair.first, pair.second)]
    of(context).answer(pairs, lambda _: _draw_table(("score", "id", "text"), rows))


@vault.command()
def deletions(context: typer.Context, scope: InScope = None, profile: Profile = None) -> None:
    """List what might be deleted, and why. Nothing is deleted."""
    with _opened(context, profile) as opened:
        found = opened.propose_deletions(scope)
    rows = [[one.memory.id, one.code, one.reason, one.memory.text] for one in found]
    of(context).answer(found, lambda _: _draw_table(("id", "code", "reason", "text"), rows))


@vault.command()
def snapshot(
    context: typer.Context, scopes: Scopes = None, budget_tokens: Budget = None, profile: Profile = None
) -> None:
    """Print canon and the maintained registers, as a block for a prompt."""
    from recollect.vault import build_snapshot_block

    with _opened(context, profile) as opened:
        text = build_snapshot_block(opened, scopes or None, budget_tokens=budget_tokens)
    of(context).answer({"text": text}, _print_text)


@vault.command()
def block(
    context: typer.Context,
    scopes: Scopes = None,
    query: Annotated[str | None, typer.Option(help="What the prompt is about.")] = None,
    max_items: Limit = None,
    budget_tokens: Budget = None,
    profile: Profile = None,
) -> None:
    """Print what a query finds, or else what recall lists, as a block for a prompt."""
    from recollect.vault import build_memory_block

    with _opened(context, profile) as opened:
        text = build_memory_block(opened, scopes or None, query, max_items, budget_tokens=budget_tokens)
    of(context).answer({"text": text}, _print_text)


@vault.command()
def stats(context: typer.Context, profile: Profile = None) -> None:
    """Say how full and how bloated the vault is."""
    with _opened(context, profile) as opened:
        of(context).answer(opened.vault_stats(), _draw_fields)


# ── for people ──────────────────────────────────────────────────────────────────────────────────────────────────────

COLUMNS = ("id", "tier", "v", "scope", "category", "text")


def _row(memory: "VaultMemory") -> list[str]:
    topic = f"{memory.topic_id}: " if memory.topic_id else ""
    return [memory.id, memory.tier, str(memory.version), memory.scope, memory.category, f"{topic}{memory.text}"]


def _draw_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from recollect.interfaces.cli import screen

    drawn = screen.table(*titles)
    for row in rows:
        drawn.add_row(*map(screen.cell, row))
    screen.console.print(drawn if rows else "[dim]no memories[/]")


def _draw_fields(found: dict[str, Any]) -> None:
    from recollect.interfaces.cli import screen

    screen.stats(found)


def _draw_receipts(receipts: Sequence["VaultReceipt"]) -> None:
    from recollect.interfaces.cli import screen

    for receipt in receipts:
        about = receipt.code or (f"{receipt.memory.id} v{receipt.memory.version}" if receipt.memory else "")
        line = f"{screen.word(receipt.outcome)}  {screen.escape(about)}  {screen.escape(receipt.message)}"
        screen.console.print(line.rstrip(), soft_wrap=True)


def _print_text(found: dict[str, str]) -> None:
    """Print a block as it is: colours and line breaks of a terminal have no place in a prompt."""
    if found["text"]:
        print(found["text"])
