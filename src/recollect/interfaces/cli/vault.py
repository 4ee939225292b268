"""Commands for a vault: each calls the method of ``recollect.vault.MemoryVault`` that it is named after."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.reading import Budget
from recollect.interfaces.cli.session import Session, calls, get_session, screen
from recollect.model.errors import BadInput, NotFound, StoreUnavailable

if TYPE_CHECKING:
    from recollect.rules.vault import Deletion, Pair
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

COLUMNS = "id, tier, v, scope, category, text"
Command = Callable[[Callable[..., None]], Callable[..., int]]


@contextmanager
def _open_vault(session: Session, options: dict[str, Any], *, make: bool = False) -> Iterator["MemoryVault"]:
    """Open the vault that the options name, ``profile`` among them. Only what writes the first memory makes a file."""
    from recollect.vault import DEFAULT_PATH, MemoryVault, check_vault_path

    narrowing = [name for name in ("as_user", "as_agent", "as_session") if getattr(session, name) is not None]
    if narrowing or session.tenant != "default":
        field, hint = (*narrowing, "tenant")[0], "--profile says what an agent sees."
        raise BadInput("a vault has neither tenants nor callers.", field=field, hint=hint)
    path = check_vault_path(session.store or DEFAULT_PATH)
    if not make and not path.exists():
        hint = "Check the path (--store or RECOLLECT_STORE); `recollect vault add` makes a vault where none is."
        raise StoreUnavailable("there is no vault.", field=str(path.absolute()), hint=hint)
    if "id" in options:
        options["memory_id"] = options.pop("id")
    with MemoryVault(path, profile=options.pop("profile"), policy=session.policy or "vault") as opened:
        yield opened


def _read_command(method: str, draw: Callable[[Any], None]) -> Command:
    """Make a command that calls a method of the vault."""
    return calls(method, draw, opened=_open_vault)


def _write_command(method: str, *, make: bool = False) -> Command:
    """Make a command whose exit code says whether the vault denied it."""
    opened = partial(_open_vault, make=make)
    return calls(method, lambda one: _draw_receipts([one]), opened=opened, exit_code=lambda one: int(not one.ok))


@vault.command()
@_write_command("add_memory", make=True)
def add(
    text: Text,
    scope: Scope,
    category: Annotated[str, typer.Argument(help="What it is about.")],
    tier: Annotated[str, typer.Option(help="canon or register.")] = "canon",
    topic_id: Topic = None,
    tags: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> None:
    """Remember something, if the write gate lets it in."""


@vault.command()
@_write_command("update_by_topic", make=True)
def topic(
    topic_id: Annotated[str, typer.Argument(help="The register's topic.")],
    scope: Scope,
    text: Text,
    category: CategoryOption = None,
    tags: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> None:
    """Write the register of a topic: its next version, or its first."""


@vault.command()
@_write_command("update")
def update(
    id: Id,
    text: Annotated[str | None, typer.Argument(help="The new words.")] = None,
    category: CategoryOption = None,
    tags: Tags = None,
    source: Source = None,
    profile: Profile = None,
) -> None:
    """Write the next version of a memory; what is not given stays as it was."""


@vault.command()
def delete(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(help="The memories: their twelve digits each.")],
    profile: Profile = None,
) -> int:
    """Delete memories: a tombstone is appended for each."""
    with _open_vault(get_session(context), {"profile": profile}) as opened:
        receipts = opened.bulk_delete(ids)
    get_session(context).answer(receipts[0] if len(receipts) == 1 else receipts, lambda _: _draw_receipts(receipts))
    return 0 if all(receipt.ok for receipt in receipts) else 1


@vault.command()
@_write_command("promote_to_canon")
def promote(
    id: Id,
    canonical_text: Annotated[str | None, typer.Argument(help="Better words, if there are any.")] = None,
    profile: Profile = None,
) -> None:
    """Make a register canon."""


@vault.command()
def compact(context: typer.Context, profile: Profile = None) -> None:
    """Rewrite the file with the latest line of each active memory."""
    with _open_vault(get_session(context), {"profile": profile}) as opened:
        before, after = opened.compact()
    get_session(context).answer({"before": before, "after": after}, screen.draw_stats)


@vault.command()
def get(context: typer.Context, id: Id, profile: Profile = None) -> None:
    """Show one memory."""
    with _open_vault(get_session(context), {"profile": profile}) as opened:
        memory = opened.get(id)
    if memory is None:
        raise NotFound(
            "no active memory has this id.", field="id", hint="`recollect vault recall` lists what there is."
        )
    get_session(context).answer(memory, screen.draw_fields)


@vault.command()
@_read_command(
    "search",
    lambda hits: _draw_table(f"score, {COLUMNS}", [[f"{hit.score:.2f}", *_to_row(hit.memory)] for hit in hits]),
)
def search(
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


@vault.command()
@_read_command("recall", lambda memories: _draw_table(COLUMNS, list(map(_to_row, memories))))
def recall(
    scopes: Scopes = None,
    limit: Limit = None,
    tier: OneTier = None,
    category: CategoryOption = None,
    topic_id: Topic = None,
    tag: OneTag = None,
    profile: Profile = None,
) -> None:
    """List active memories: canon first, then what changed last."""


@vault.command()
@_read_command("find_consolidation_candidates", lambda pairs: _draw_pairs(pairs))
def candidates(
    scope: InScope = None,
    floor: Annotated[
        float | None, typer.Option(help="How alike two memories are at least.", show_default="0.4")
    ] = None,
    profile: Profile = None,
) -> None:
    """List pairs of similar memories, for somebody to merge."""


@vault.command()
@_read_command("propose_deletions", lambda found: _draw_deletions(found))
def deletions(scope: InScope = None, profile: Profile = None) -> None:
    """List what might be deleted, and why. Nothing is deleted."""


@vault.command()
def snapshot(
    context: typer.Context, scopes: Scopes = None, budget_tokens: Budget = None, profile: Profile = None
) -> None:
    """Print canon and the maintained registers, as a block for a prompt."""
    from recollect.vault import build_snapshot_block

    with _open_vault(get_session(context), {"profile": profile}) as opened:
        text = build_snapshot_block(opened, scopes or None, budget_tokens=budget_tokens)
    get_session(context).answer({"text": text}, _print_text)


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

    with _open_vault(get_session(context), {"profile": profile}) as opened:
        text = build_memory_block(opened, scopes or None, query, max_items, budget_tokens=budget_tokens)
    get_session(context).answer({"text": text}, _print_text)


@vault.command()
@_read_command("vault_stats", lambda found: screen.draw_stats(found))
def stats(profile: Profile = None) -> None:
    """Say how full and how bloated the vault is."""


def _to_row(memory: "VaultMemory") -> list[str]:
    topic = f"{memory.topic_id}: " if memory.topic_id else ""
    return [memory.id, memory.tier, str(memory.version), memory.scope, memory.category, f"{topic}{memory.text}"]


def _draw_table(titles: str, rows: Sequence[Sequence[str]]) -> None:
    screen.print_table(titles, [list(map(screen.to_cell, row)) for row in rows], "no memories")


def _draw_pairs(pairs: "Sequence[Pair]") -> None:
    rows = [[f"{pair.score:.2f}", one.id, one.text] for pair in pairs for one in (pair.first, pair.second)]
    _draw_table("score, id, text", rows)


def _draw_deletions(found: "Sequence[Deletion]") -> None:
    rows = [[one.memory.id, one.code, one.reason, one.memory.text] for one in found]
    _draw_table("id, code, reason, text", rows)


def _draw_receipts(receipts: Sequence["VaultReceipt"]) -> None:
    for receipt in receipts:
        about = receipt.code or (f"{receipt.memory.id} v{receipt.memory.version}" if receipt.memory else "")
        line = f"{screen.colour_word(receipt.outcome)}  {screen.escape(about)}  {screen.escape(receipt.message)}"
        screen.say(line.rstrip())


def _print_text(found: dict[str, str]) -> None:
    """Print a block as it is: colours and line breaks of a terminal have no place in a prompt."""
    if found["text"]:
        print(found["text"])
