"""Commands about memories as entries: entry validate, export, import, schema, cid."""

import sys
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.interfaces.cli.identity import KeyFile
from recollect.interfaces.cli.importing import Believe
from recollect.interfaces.cli.reading import Namespaces
from recollect.interfaces.cli.session import IfMissing, UserId, of, write_out
from recollect.model.errors import BadInput
from recollect.model.rendering import visible
from recollect.model.vocabulary import Space

if TYPE_CHECKING:
    from recollect.engine.transfer.entries import Readable

entry = typer.Typer(no_args_is_help=True, help="Memories as entries: check files of them, write them, take them in.")

Files = Annotated[list[str], typer.Argument(help="Files of JSON or JSON lines; - is standard input.")]
Partial = Annotated[bool, typer.Option("--partial", help="Parents may be elsewhere: the file is a part of something.")]
Owner = Annotated[str | None, typer.Option(help="Whose memories.")]
InSpace = Annotated[Space | None, typer.Option("--space", help="Only of this space, or into it.")]
SHOWN = 1_000
"""How many findings a JSON document holds; people are shown all of them, as they are found."""


def register(app: typer.Typer) -> None:
    app.add_typer(entry, name="entry")


@entry.command()
def validate(context: typer.Context, files: Files, partial: Partial = False) -> int:
    """Check files of entries: each by itself, and whether their parents are there and form no circle."""
    from recollect.engine.transfer.entries import validate as check
    from recollect.rules.plain_view import entries

    session, reports = of(context), []
    for file in files:
        told: list[Any] = []

        def tell(finding: Any, file: str = file, told: list[Any] = told) -> None:
            if not session.as_json:
                print(visible(f"{file}: {finding}"))
            elif len(told) < SHOWN:
                told.append(finding.to_dict())

        found = check(_given(file), tell, partial=partial)
        reports.append({"file": file, "ok": found.ok, **found.to_dict(), "findings": told})
        if not session.as_json:
            print(
                visible(
                    f"{file}: {entries(found.entries) if found.entries else 'no entries'}, {_problems(found.problems)}"
                )
            )
    ok = all(report["ok"] for report in reports)
    session.answer({"ok": ok, "files": reports}, lambda _: None)
    return 0 if ok else 1


def _problems(number: int) -> str:
    from recollect.rules.plain_view import counted

    return counted(number, "problem")


@entry.command()
def export(
    context: typer.Context,
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
    include_namespaces: Namespaces = None,
    active_only: Annotated[bool, typer.Option("--active-only", help="Without the versions before.")] = False,
    sign_as: Annotated[str | None, typer.Option(help="Sign what this one wrote with their current key.")] = None,
    key_file: KeyFile = None,
) -> None:
    """Write memories as entries, one a line, the oldest first."""
    session = of(context)
    with session.memory() as memory:
        which: dict[str, Any] = {"owner": owner, "user_id": user_id, "space": space, "active_only": active_only}
        which |= {"sign_as": sign_as, "key_file": key_file}
        lines = memory.export_entries(**which, include_namespaces=include_namespaces or ("prod",))
        if session.as_json:
            write_out("[" + ",\n".join(lines) + "]\n")
            return
        for line in lines:
            write_out(line + "\n")


@entry.command("import")
def import_file(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="A file of JSON or JSON lines; - is standard input.")],
    owner: Owner = None,
    user_id: UserId = None,
    space: InSpace = None,
    scope: Annotated[str | None, typer.Option(help="shared, or the one agent that may see them.")] = None,
    partial: Partial = False,
    believe: Believe = None,
) -> int:
    """Take in entries, each through the gates. Nothing is stored unless the whole file is sound."""
    from recollect.interfaces.cli import screen

    with of(context).memory(IfMissing.MAKE) as memory:
        done = memory.import_entries(
            _given(file),
            owner=owner,
            user_id=user_id,
            space=space,
            scope=scope,
            partial=partial,
            believe=believe or (),
        )
    of(context).answer(done, screen.fields)
    return 1 if done.refused else 0


@entry.command()
def schema() -> None:
    """Print the JSON Schema of an entry."""
    sys.stdout.write(schema_text())


@entry.command()
def cid(
    context: typer.Context,
    content: Annotated[str, typer.Argument(help="The content; - reads it from standard input.")],
) -> None:
    """Print the content address of a text: its SHA-256 as a CIDv1."""
    from recollect.rules.ledger.content_ids import cid_of

    text = sys.stdin.read() if content == "-" else content
    try:
        found = cid_of(text)
    except UnicodeEncodeError:
        raise BadInput("is not UTF-8.", field="content", hint="Only text has a content address here.") from None
    of(context).answer({"cid": found}, lambda answer: print(answer["cid"]))


def schema_text() -> str:
    """The published schema, as its file has it."""
    return (resources.files("recollect.formats") / "memory-entry-schema.json").read_text(encoding="utf-8")


def _given(file: str) -> "Readable | str":
    """A file of entries by its path, or the standard input for ``-``."""
    return sys.stdin if file == "-" else file
