"""Commands for files: import, export, audit, and entry … for files of entries."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from typing import Annotated, Any

import typer

from recollect.interfaces.cli.session import (
    PRIVATE,
    IfMissing,
    InSpace,
    KeyFile,
    Namespaces,
    Owner,
    UserId,
    drop_missing,
    get_session,
    screen,
    split_pairs,
    write_out,
)
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.rendering import visible
from recollect.model.vocabulary import Namespace, Space

OWN_FORMAT = "recollect"

FORMATS = (
    "recollect, entries, v3, v4, items, vault, mem0, mcp-memory, basic-memory, langgraph, chatgpt, claude, csv or jsonl"
)
ReadFormat = Annotated[str, typer.Option("--format", help=f"{FORMATS}.")]
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
Partial = Annotated[bool, typer.Option("--partial", help="Parents may be elsewhere: the file is a part of something.")]
Output = Annotated[str | None, typer.Option(help="A file that does not exist yet, instead of standard output.")]


def import_(
    context: typer.Context,
    path: PathArgument,
    format: ReadFormat = OWN_FORMAT,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen, and store nothing.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="For entries: store nothing unless the whole file is sound; chain versions.")
    ] = False,
    partial: Partial = False,
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
    only_owner: Annotated[
        str | None, typer.Option(help="Import the records of this person alone, and skip everybody else's.")
    ] = None,
    report: Annotated[
        str | None, typer.Option(help="Write what became of each record to this new file, as JSON lines.")
    ] = None,
) -> int:
    """Bring another tool's memories in, each through the gates. Run it again to go on after an interruption."""
    options = drop_missing(
        **{name: value for name, value in locals().items() if name not in ("context", "path", "report")}
    )
    options["columns"] = dict(split_pairs("map", columns))
    session = get_session(context)
    store = session.memory(IfMissing.PRETEND if dry_run else IfMissing.MAKE)
    with store as memory, _open_report(report) as each, screen.progress("import") as progress:
        source = sys.stdin if whole and path == "-" else path
        done = memory.import_(source, progress=progress, each=each, **options)
    session.answer(done, _draw_import)
    session.tell_written(report)
    return 1 if done.refused else 0


def export(
    context: typer.Context,
    format: Annotated[
        str, typer.Option(help="recollect, entries, v4, items, vault, mem0, mcp-memory, csv or jsonl.")
    ] = OWN_FORMAT,
    output: Output = None,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
    include_namespaces: Namespaces = None,
    any_status: Annotated[bool, typer.Option("--any-status", help="History too, not only what is active.")] = False,
    include_private: Annotated[
        bool, typer.Option("--include-private", help="For mcp-memory: what is not shared too, which it cannot say.")
    ] = False,
    sign_as: Annotated[str | None, typer.Option(help="For entries: sign what this author wrote.")] = None,
    key_file: KeyFile = None,
) -> None:
    """Write memories as a file that this or another tool reads."""
    session = get_session(context)
    private: list[str] = []
    with session.memory() as memory:
        pieces = memory.export(
            **drop_missing(
                format=format, owner=owner, user_id=user_id, space=space, include_namespaces=include_namespaces
            ),
            status=None if any_status else "active",
            include_private=include_private,
            left_out=lambda one: private.append(one.id),
            sign_as=sign_as,
            key_file=key_file if sign_as is not None else None,
        )
        if session.as_json and output is None and format in (OWN_FORMAT, "entries"):
            write_out("[" + ",\n".join(piece.rstrip("\n") for piece in pieces) + "]\n")
            return
        with _open_output(output) as write:
            for piece in pieces:
                write(piece)
    if private:
        from recollect.rules.plain_view import memories

        held = f"{memories(len(private))} with a scope of {'its' if len(private) == 1 else 'their'} own"
        message = f"left out: {held}; {format} cannot say who may see a memory. --include-private exports all of them."
        typer.echo(message, err=True)
    session.tell_written(output)


def audit(
    context: typer.Context,
    path: PathArgument,
    format: ReadFormat = OWN_FORMAT,
    columns: Map = None,
    table: Table = None,
    history: History = None,
    html: Annotated[str | None, typer.Option(help="Draw it as a page into this new file, too.")] = None,
) -> None:
    """Look at another tool's memories without importing them: duplicates, contradictions, secrets, test data, noise."""
    from recollect.engine.transfer.foreign_audit import audit_file
    from recollect.policies import load_policy

    session = get_session(context)
    with screen.progress("audit") as progress:
        named: dict[str, Any] = {"columns": dict(split_pairs("map", columns)), "table": table, "history": history}
        done = audit_file(load_policy(session.policy), format, path, **named, progress=progress)
    if html is not None:
        with _open_output(html) as write:
            write(done.page())
    session.answer(done, _draw_audit)
    session.tell_written(html)


@contextmanager
def _open_output(output: str | None) -> Iterator[Callable[[str], Any]]:
    """Return the function that writes text to a new file that only its owner reads, or to standard output."""
    if output is None:
        yield write_out
        return
    try:
        number = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        raise BadInput(
            f"cannot be made ({error.strerror}).", field=output, hint="Name a file that is not there."
        ) from error
    with os.fdopen(number, "w", encoding="utf-8", newline="") as file:
        yield file.write


@contextmanager
def _open_report(report: str | None) -> Iterator[Callable[[Any], None] | None]:
    if report is None:
        yield None
        return
    with _open_output(report) as write:
        yield lambda taken: write(canonical_json(taken.to_dict()) + "\n") and None


entry = typer.Typer(no_args_is_help=True, help="Check files of entries, and print their schema or a content address.")

Files = Annotated[list[str], typer.Argument(help="Files of JSON or JSON lines; - is standard input.")]
SHOWN = 1_000
"""How many findings a JSON document holds; people see all of them, as they are found."""


@entry.command()
def validate(context: typer.Context, files: Files, partial: Partial = False) -> int:
    """Check files of entries: each by itself, and whether their parents are there and form no circle."""
    from recollect.engine.transfer.entries import validate as check
    from recollect.rules.plain_view import counted, entries

    session, reports = get_session(context), []
    for file in files:
        findings: list[Any] = []

        def tell(finding: Any, file: str = file, findings: list[Any] = findings) -> None:
            if not session.as_json:
                print(visible(f"{file}: {finding}"))
            elif len(findings) < SHOWN:
                findings.append(finding.to_dict())

        found = check(sys.stdin if file == "-" else file, tell, partial=partial)
        reports.append({"file": file, "ok": found.ok, **found.to_dict(), "findings": findings})
        if not session.as_json:
            read = entries(found.entries) if found.entries else "no entries"
            print(visible(f"{file}: {read}, {counted(found.problems, 'problem')}"))
    ok = all(report["ok"] for report in reports)
    session.answer({"ok": ok, "files": reports}, lambda _: None)
    return 0 if ok else 1


@entry.command()
def schema() -> None:
    """Print the JSON Schema of an entry."""
    sys.stdout.write(schema_text())


@entry.command()
def cid(
    context: typer.Context, content: Annotated[str, typer.Argument(help="The content; - reads it from standard input.")]
) -> None:
    """Print the content address of a text: its SHA-256 as a CIDv1."""
    from recollect.rules.ledger.content_ids import cid_of

    text = sys.stdin.read() if content == "-" else content
    try:
        found = cid_of(text)
    except UnicodeEncodeError:
        raise BadInput("is not UTF-8.", field="content", hint="Only text has a content address here.") from None
    get_session(context).answer({"cid": found}, lambda answer: print(answer["cid"]))


def schema_text() -> str:
    """Return the published schema, as its file has it."""
    return (resources.files("recollect.formats") / "memory-entry-schema.json").read_text(encoding="utf-8")


def _draw_import(done: Any) -> None:
    say, escape, styled, word = screen.say, screen.escape, screen.style_text, screen.colour_word
    from recollect.rules.plain_view import counted
    from recollect.rules.trust.authority import belief_in

    said = "what would become of them" if done.dry_run else "what became of them"
    say(f"{escape(done.file)}: {counted(done.read, 'record')}, and {said}")
    for outcome, count in done.outcomes.items():
        which = f"{'record' if count == 1 else 'records'} {_shorten(done.numbers[outcome])}"
        say(f"  {word(outcome)} {count:,}  {styled('dim', which)}")
    for one in done.refused[:20]:
        where = f"record {one.number:,} ({one.place}): {one.reasons[0]}"
        say(f"  {word('denied')} {escape(where)}  {escape(one.detail or '')}")
    if len(done.refused) > 20:
        say("  [dim]more: --json, or --report FILE[/]")
    for column in done.guessed_columns:
        say(f"  the words were taken from the column {escape(repr(column))}; --map content=… names another")
    for name, count in done.claimed.items():
        belief = belief_in(name)
        how = f": `--believe {belief}` grants it where no option says otherwise" if belief else ""
        say(f"  {counted(count, 'record')} claimed {name}, which was not granted and is kept in meta.claimed{how}")
    for line in (*done.by_time[:20], *done.notes[:20]):
        say(f"  {escape(line)}")
    if done.all_malformed:
        say(f"  not one is a record of {escape(done.format)}: is the file of another format?")


def _draw_audit(done: Any) -> None:
    from recollect.rules.plain_view import counted

    found, rows = done.found, []
    for kind, count in found.counts.items():
        example = found.examples[kind][0] if found.examples[kind] else None
        such_as = f"{example.place}: {example.text or example.why}" if example else ""
        rows.append((kind.replace("_", " "), f"{count:,}", screen.to_cell(_shorten(such_as))))
    screen.print_table("found, records, such as", rows)
    worthless = f"{found.worthless:,} of {counted(found.read, 'record')} say nothing worth keeping"
    screen.console.print(f"{screen.escape(done.file)}: {worthless}")


def _shorten(text: str, length: int = 100) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
