"""Commands about proof: checkpoints of the ledger, proofs from it, and checking them without the store."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.session import of
from recollect.model.errors import BadInput

if TYPE_CHECKING:
    from recollect.model.proof import Checkpoint, Document, ProofCheck

ledger = typer.Typer(no_args_is_help=True, help="Prove that history was not rewritten: take checkpoints, prove, check.")

SignAs = Annotated[str | None, typer.Option(help="Sign it with this one's current key.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(envvar="RECOLLECT_KEY_FILE", help="The private key's file.", show_default="beside the store"),
]
Out = Annotated[str | None, typer.Option(help="Write the document to this file.")]


def register(app: typer.Typer) -> None:
    app.add_typer(ledger, name="ledger")


@ledger.command()
def checkpoint(context: typer.Context, sign_as: SignAs = None, key_file: KeyFile = None, out: Out = None) -> None:
    """Cover what was written since the last checkpoint. Keep it somewhere else: it reveals every later rewrite."""
    from recollect.interfaces.cli.documents import must_be_new

    if out is not None:
        must_be_new(out)
    with of(context).memory() as memory:
        taken = memory.checkpoint(sign_as=sign_as, key_file=key_file)
    _handed_out(context, taken, out, lambda: _draw_checkpoints([taken]))


@ledger.command("list")
def list_checkpoints(context: typer.Context) -> None:
    """The checkpoints that were taken, oldest first."""
    with of(context).memory() as memory:
        of(context).answer(memory.checkpoints(), _draw_checkpoints)


@ledger.command()
def prove(
    context: typer.Context,
    memory: Annotated[str | None, typer.Option(help="Prove what the ledger has about this memory.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Prove that nothing was rewritten since: a checkpoint's file, or its size.")
    ] = None,
    without_content: Annotated[
        bool, typer.Option("--without-content", help="Leave out the words and their salts.")
    ] = False,
    out: Out = None,
) -> None:
    """Write a proof that anybody can check without the store."""
    from recollect.rules.plain_view import entries

    if (memory is None) == (since is None):
        raise BadInput("say what to prove.", field="memory", hint="Give either --memory or --since.")
    with of(context).memory() as opened:
        proof: Document
        if memory is not None:
            proof = opened.prove(memory, with_content=not without_content)
        else:
            proof = opened.prove_growth(_size(str(since)))
        uncovered = opened.uncovered_entries()
    _handed_out(context, proof, out)
    if uncovered:
        unsaid = f"{entries(uncovered)} that no checkpoint covers yet"
        of(context).tell(f"It says nothing of {unsaid}; `recollect ledger checkpoint` takes one.")


@ledger.command()
def check(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="A checkpoint, a proof or the receipt of an erasure; - for standard input.")
    ],
    key: Annotated[
        list[str] | None, typer.Option(help="A public key that you trust: its digits, or a file. May be repeated.")
    ] = None,
    kept: Annotated[str | None, typer.Option(help="The checkpoint that you kept.")] = None,
    keys: Annotated[str | None, typer.Option(help="With --key: a file that tells what became of keys.")] = None,
) -> int:
    """Check a document without any store: against a public key, or, unless it is a receipt, a checkpoint that was kept."""
    from recollect.interfaces.cli.documents import read_history, read_kept, read_public_key, read_text
    from recollect.rules.ledger.proofs import check_document, check_enough

    if keys is not None and not key:
        raise BadInput("a key history needs a key to believe it by.", field="keys", hint="Give --key as well.")
    text, trusted = read_text(file), [read_public_key(one) for one in key or ()]
    check_enough(text, trusted=bool(trusted), kept=kept is not None)
    answer = check_document(text, trusted, read_kept(kept), read_history(keys))
    of(context).answer(answer, _draw_check)
    return 0 if answer.ok else 1


def _size(since: str) -> int:
    """A checkpoint's size, given as a number or by the file of one that was kept."""
    from recollect.interfaces.cli.documents import read_kept

    if since.isascii() and since.isdigit() and len(since) < 19:
        return int(since)
    kept = read_kept(since)
    assert kept is not None, "a file was named"
    return kept.size


def _handed_out(
    context: typer.Context, document: "Document", out: str | None, draw: Callable[[], None] | None = None
) -> None:
    """A document goes into the file that was named. What is printed is the document too, unless it can be drawn."""
    from recollect.interfaces.cli.documents import write_document

    if out is not None:
        write_document(document, out)
    if of(context).as_json:
        write_document(document, None)
    elif draw is not None:
        draw()
    elif out is None:
        write_document(document, None)
    of(context).tell_written(out)


def _draw_checkpoints(found: "Sequence[Checkpoint]") -> None:
    from recollect.interfaces.cli import screen

    table = screen.table("size", "when", "signed by", "root")
    for one in found:
        signers = ", ".join(signature.key[:12] for signature in one.signatures) or "[dim]nobody[/]"
        table.add_row(str(one.size), one.at[:19].replace("T", " "), signers, one.root)
    if found:
        screen.uncut(table)
    else:
        screen.console.print("[dim]no checkpoint was taken[/]")


def _draw_check(answer: "ProofCheck") -> None:
    from recollect.interfaces.cli import screen

    screen.console.print(f"[green]holds[/]  {answer.kind}" if answer.ok else f"[red]refused[/]  {answer.kind}")
    for line in answer.shows:
        screen.console.print(f"  {line}", markup=False, soft_wrap=True)
    if answer.problem:
        screen.console.print(f"  {answer.problem}", markup=False, soft_wrap=True)
