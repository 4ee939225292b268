"""Commands for other tools' files: import, export, and audit, which only looks."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from recollect.interfaces.cli.reading import Namespaces, Owner, SpaceOption
from recollect.interfaces.cli.session import IfMissing, UserId, of, write_out
from recollect.interfaces.cli.writing import named_texts
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.vocabulary import Namespace, Space

OWN_FORMAT = "recollect"
MODE = 0o600
"""What is exported is as private as the store."""

FormatArgument = Annotated[
    str,
    typer.Argument(
        help="recollect, entries, v3, v4, items, vault, mem0, mcp-memory, basic-memory, langgraph, chatgpt, claude, csv or jsonl."
    ),
]
PathArgument = Annotated[
    str,
    typer.Argument(
        help="A file, a folder or a zip archive; - is standard input; for mem0 and langgraph also a postgresql:// URL."
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map", metavar="FIELD=COLUMN", help="For csv and jsonl: which column holds a field; may be repeated."
    ),
]
Table = Annotated[
    str | None, typer.Option(help="For a postgresql:// URL: the table, if it is not mem0's or LangGraph's own.")
]
History = Annotated[str | None, typer.Option(help="For mem0: its history.db, if it does not lie in the folder.")]
Believe = Annotated[
    list[str] | None,
    typer.Option(
        help="Grant what the file says of its records' place (owner, space) or weight (authority, source, canon, pins, the "
        "highest importance); may be repeated. Otherwise it is kept as a claim."
    ),
]
Output = Annotated[str | None, typer.Option(help="A file that does not exist yet, instead of standard output.")]


def register(app: typer.Typer) -> None:
    app.command("import")(import_file)
    app.command()(export)
    app.command()(audit)


def import_file(
    context: typer.Context,
    format: FormatArgument,
    path: PathArgument,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and store nothing.")] = False,
    columns: Map = None,
    table: Table = None,
    history: History = None,
    owner: Annotated[str | None, typer.Option(help="Whose memories they are, whatever the file says.")] = None,
    user_id: UserId = None,
    space: Annotated[Space | None, typer.Option(help="Their space, whatever the file says.")] = None,
    namespace: Annotated[Namespace | None, typer.Option(help="Their namespace, whatever the file says.")] = None,
    scope: Annotated[str | None, typer.Option(help="Their scope, whatever the file says.")] = None,
    category: Annotated[str | None, typer.Option(help="Their category, whatever the file says.")] = None,
    believe: Believe = None,
    report: Annotated[
        str | None, typer.Option(help="Write what became of each record to this new file, as JSON lines.")
    ] = None,
) -> int:
    """Bring another tool's memories in, each through the gates. Run it again to go on after an interruption."""
    from recollect.interfaces.cli import screen

    session = of(context)
    options = {"owner": owner, "user_id": user_id, "space": space, "namespace": namespace, "scope": scope}
    options["category"] = category
    store = session.memory(IfMissing.PRETEND if dry_run else IfMissing.MAKE)
    with store as memory, _each_written_to(report) as each, screen.progress("import") as progress:
        done = memory.import_file(
            format,
            path,
            dry_run=dry_run,
            columns=dict(named_texts("map", columns)),
            table=table,
            history=history,
            progress=progress,
            each=each,
            believe=believe or (),
            **{name: value for name, value in options.items() if value is not None},
        )
    session.answer(done, _draw_import)
    session.tell_written(report)
    return 1 if done.outcomes.get("refused") else 0


def export(
    context: typer.Context,
    format: Annotated[
        str, typer.Argument(help="recollect, entries, v4, items, vault, mem0, mcp-memory, csv or jsonl.")
    ] = OWN_FORMAT,
    output: Output = None,
    owner: Owner = None,
    user_id: UserId = None,
    space: SpaceOption = None,
    include_namespaces: Namespaces = None,
    any_status: Annotated[bool, typer.Option("--any-status", help="History too, not only what is active.")] = False,
    include_private: Annotated[
        bool, typer.Option("--include-private", help="For mcp-memory: what is not shared too, which it cannot say.")
    ] = False,
) -> None:
    """Write memories as a file that this or another tool reads."""
    session = of(context)
    private: list[str] = []
    with session.memory() as memory:
        pieces = memory.export_as(
            format,
            owner=owner,
            user_id=user_id,
            space=space,
            include_namespaces=include_namespaces or ("prod",),
            status=None if any_status else "active",
            include_private=include_private,
            left_out=lambda one: private.append(one.id),
        )
        if session.as_json and output is None and format == OWN_FORMAT:
            write_out("[" + ",\n".join(piece.rstrip("\n") for piece in pieces) + "]\n")
            return
        with _written_to(output) as write:
            for piece in pieces:
                write(piece)
    if private:
        typer.echo(_left_out(format, len(private)), err=True)
    session.tell_written(output)


def _left_out(format: str, count: int) -> str:
    from recollect.rules.plain_view import counted

    held = f"{counted(count, 'memory', 'memories')} with a scope of {'its' if count == 1 else 'their'} own"
    return f"left out: {held}; {format} cannot say who may see a memory. --include-private exports all of them."


def audit(
    context: typer.Context,
    format: FormatArgument,
    path: PathArgument,
    columns: Map = None,
    table: Table = None,
    history: History = None,
    html: Annotated[str | None, typer.Option(help="Draw it as a page into this new file, too.")] = None,
) -> None:
    """Look at another tool's memories without importing them: duplicates, contradictions, secrets, test data, noise."""
    from recollect.engine.transfer.foreign_audit import audit_file
    from recollect.engine.transfer.foreign_files import Beside
    from recollect.interfaces.cli import screen
    from recollect.policies import load_policy

    session = of(context)
    with screen.progress("audit") as progress:
        done = audit_file(
            load_policy(session.policy),
            format,
            path,
            columns=dict(named_texts("map", columns)),
            beside=Beside(table, Path(history) if history is not None else None),
            progress=progress,
        )
    if html is not None:
        with _written_to(html) as write:
            write(done.page())
    session.answer(done, _draw_audit)
    session.tell_written(html)


# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _written_to(output: str | None) -> Iterator[Callable[[str], Any]]:
    """Where text goes to: a new file that only its owner reads, or standard output."""
    if output is None:
        yield write_out
        return
    try:
        number = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, MODE)
    except OSError as error:
        raise BadInput(
            f"cannot be made ({error.strerror}).", field=output, hint="Name a file that is not there."
        ) from error
    with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
        yield file.write


@contextmanager
def _each_written_to(report: str | None) -> Iterator[Callable[[Any], None] | None]:
    if report is None:
        yield None
        return
    with _written_to(report) as write:
        yield lambda taken: write(canonical_json(taken.to_dict()) + "\n") and None


# ── what people see ─────────────────────────────────────────────────────────────────────────────────────────────


def _draw_import(done: Any) -> None:
    from recollect.interfaces.cli.screen import console, escape, styled, word
    from recollect.rules.plain_view import counted

    said = "what would become of them" if done.dry_run else "what became of them"
    console.print(f"{escape(done.file)}: {counted(done.read, 'record')}, and {said}", soft_wrap=True)
    for outcome, count in done.outcomes.items():
        which = f"{'record' if count == 1 else 'records'} {_cut(done.numbers[outcome])}"
        console.print(f"  {word(outcome)} {count:,}  {styled('dim', which)}", soft_wrap=True)
    for one in done.refused[:20]:
        where = f"record {one.number:,} ({one.place}): {one.reasons[0]}"
        console.print(f"  {word('denied')} {escape(where)}  {escape(one.detail or '')}", soft_wrap=True)
    if len(done.refused) > 20:
        console.print("  [dim]more: --json, or --report FILE[/]")
    for column in done.guessed_columns:
        console.print(f"  the words were taken from the column {escape(repr(column))}; --map content=… names another")
    for name, count in done.claimed.items():
        console.print(
            f"  {counted(count, 'record')} claimed {name}, which was not granted; see meta.claimed, and --believe"
        )
    for case in done.by_time[:20]:
        console.print(f"  {escape(case)}", soft_wrap=True)
    for note in done.notes[:20]:
        console.print(f"  {escape(note)}", soft_wrap=True)
    if done.all_malformed:
        console.print(f"  not one is a record of {escape(done.format)}: is the file of another format?")


def _draw_audit(done: Any) -> None:
    from rich.table import Table

    from recollect.interfaces.cli.screen import cell, console, escape
    from recollect.rules.plain_view import counted

    found = done.found
    table = Table("found", "records", "such as", box=None, pad_edge=False)
    for kind, count in found.counts.items():
        example = found.examples[kind][0] if found.examples[kind] else None
        such_as = f"{example.place}: {example.text or example.why}" if example else ""
        table.add_row(kind.replace("_", " "), f"{count:,}", cell(_cut(such_as)))
    console.print(table)
    console.print(
        f"{escape(done.file)}: {found.worthless:,} of {counted(found.read, 'record')} say nothing worth keeping"
    )


def _cut(text: str, length: int = 100) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
