"""Commands about proof: checkpoints of the ledger, proofs from it, and checking them without the store."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recollect.interfaces.cli.session import (
    KeyFile,
    Out,
    SignAs,
    calls,
    check_object,
    get_session,
    parse_json,
    read_text,
    require_new_file,
    screen,
    write_json,
)
from recollect.model.errors import BadInput, Refused

if TYPE_CHECKING:
    from recollect.model.proof import Checkpoint, Document, KeyHistory, ProofCheck

T = TypeVar("T")
_KEY = re.compile(r"[0-9a-f]{64}")

ledger = typer.Typer(no_args_is_help=True, help="Prove that history was not rewritten: take checkpoints, prove, check.")


@ledger.command()
def checkpoint(context: typer.Context, sign_as: SignAs = None, key_file: KeyFile = None, out: Out = None) -> None:
    """Take a checkpoint of everything written so far. Keep it somewhere else: it reveals every later rewrite."""
    if out is not None:
        require_new_file(out)
    with get_session(context).memory() as memory:
        taken = memory.checkpoint(sign_as=sign_as, key_file=key_file)
    _hand_out(context, taken, out, lambda: _draw_checkpoints([taken]))


@ledger.command("list")
@calls("checkpoints", lambda found: _draw_checkpoints(found))
def list_checkpoints() -> None:
    """The checkpoints that were taken, oldest first."""


@ledger.command()
def prove(
    context: typer.Context,
    id: Annotated[str | None, typer.Option(help="Prove what the ledger has about this memory.")] = None,
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

    if (id is None) == (since is None):
        raise BadInput("say what to prove.", field="id", hint="Give either --id or --since.")
    with get_session(context).memory() as opened:
        growth = None if since is None else opened.prove_growth(_read_size(since))
        proof: Document | None = growth if id is None else opened.prove(id, with_content=not without_content)
        assert proof is not None, "one of the two was given"
        uncovered = opened.uncovered_entries()
    _hand_out(context, proof, out)
    if uncovered:
        unsaid = f"{entries(uncovered)} that no checkpoint covers yet"
        get_session(context).tell(f"It says nothing of {unsaid}; `recollect ledger checkpoint` takes one.")


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
    from recollect.rules.ledger.proofs import check_document, check_enough

    if keys is not None and not key:
        raise BadInput("a key history needs a key to believe it by.", field="keys", hint="Give --key as well.")
    text, trusted = read_text(file), [read_public_key(one) for one in key or ()]
    check_enough(text, trusted=bool(trusted), kept=kept is not None)
    answer = check_document(text, trusted, read_kept(kept), read_history(keys))
    get_session(context).answer(answer, _draw_check)
    return 0 if answer.ok else 1


def _read_size(since: str) -> int:
    """Return a checkpoint's size, given as a number or by the checkpoint's file."""
    if since.isascii() and since.isdigit() and len(since) < 19:
        return int(since)
    kept = read_kept(since)
    assert kept is not None, "a file was named"
    return kept.size


def _hand_out(
    context: typer.Context, document: "Document", out: str | None, draw: Callable[[], None] | None = None
) -> None:
    """Write a document to the file that was named, and print it or draw it."""
    if out is not None:
        write_json(document.to_dict(), out)
    if draw is not None and not get_session(context).as_json:
        draw()
    elif out is None or get_session(context).as_json:
        write_json(document.to_dict(), None)
    get_session(context).tell_written(out)


def _draw_checkpoints(found: "Sequence[Checkpoint]") -> None:
    if not found:
        screen.console.print("[dim]no checkpoint was taken[/]")
        return
    signers = [", ".join(signature.key[:12] for signature in one.signatures) or "[dim]nobody[/]" for one in found]
    rows = [(str(c.size), c.at[:19].replace("T", " "), by, c.root) for c, by in zip(found, signers, strict=True)]
    screen.print_uncut("size, when, signed by, root", rows)


def _draw_check(answer: "ProofCheck") -> None:
    screen.console.print(f"[green]holds[/]  {answer.kind}" if answer.ok else f"[red]refused[/]  {answer.kind}")
    for line in answer.shows:
        screen.say_plain(f"  {line}")
    if answer.problem:
        screen.say_plain(f"  {answer.problem}")


def read_object(file: str) -> dict[str, Any]:
    """Return the one JSON object that a file holds."""
    return check_object(file, parse_json(file, read_text(file)))


def read_kept(file: str | None) -> "Checkpoint | None":
    """Return the checkpoint in a file; ``None`` if no file is named."""
    from recollect.rules.ledger.proofs import read_checkpoint

    return _read_document(file, read_checkpoint, "checkpoint", "Name the file that was kept.")


def read_history(file: str | None) -> "KeyHistory | None":
    """Return the history of keys in a file; ``None`` if no file is named."""
    from recollect.rules.ledger.proofs import read_key_history

    return _read_document(file, read_key_history, "key history", "`recollect identity history` writes one.")


def _read_document(file: str | None, read: Callable[[str], T], what: str, hint: str) -> T | None:
    from recollect.rules.ledger.merkle import BadProof

    try:
        return None if file is None else read(read_text(file))
    except BadProof as error:
        raise Refused(f"it is no {what}: {error}.", field=file, hint=hint) from None


def read_public_key(given: str) -> str:
    """Return a public key, given as 64 hex digits or as a file that holds them or a PEM."""
    from recollect.rules.trust.signatures import public_from_pem

    if not _KEY.fullmatch(given) and given != "-" and not Path(given).exists():
        raise BadInput(
            f"{given!r:.80} is neither 64 hex digits nor a file that holds a public key.",
            field="key",
            hint="`recollect identity show NAME` prints a key, with --pem as a PEM.",
        )
    text = given if _KEY.fullmatch(given) else read_text(given).strip()
    if _KEY.fullmatch(text):
        return text
    try:
        return public_from_pem(text.encode("utf-8"))
    except ValueError as error:
        hint = "Give 64 hex digits, or a PEM file: `recollect identity show NAME --pem` prints one."
        raise BadInput(f"it is not an Ed25519 public key: {error}.", field=given, hint=hint) from None
