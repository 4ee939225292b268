"""Commands about keys: who holds which, and signing entries with them."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.ledger import read_history, read_object, read_public_key
from recollect.interfaces.cli.session import IfMissing, KeyFile, Out, SignAs, calls, get_session, screen, write_json
from recollect.model.caller import names_shown
from recollect.model.errors import BadInput, Refused

if TYPE_CHECKING:
    from recollect.engine.trust.identities import Identity, NewKey, RegisteredKey
    from recollect.rules.trust.signed_documents import SignatureCheck

identity = typer.Typer(no_args_is_help=True, help="Keys that agents and people sign with: make, show, replace, revoke.")

Name = Annotated[str, typer.Argument(help="Who: an agent's id, or a person as user:NAME.")]
Platform = Annotated[str | None, typer.Option(help="The platform that gave the id.")]
PlatformId = Annotated[str, typer.Argument(help="The id as the other platform has it.")]


@identity.command()
@calls("new_identity", lambda made: _draw_new(made), if_missing=IfMissing.MAKE)
def new(name: Name, key_file: KeyFile = None) -> None:
    """Make a key for somebody who has none; the private half goes into a file that only you can read."""


@identity.command()
def show(
    context: typer.Context,
    name: Name,
    pem: Annotated[bool, typer.Option("--pem", help="Print the current public key as a PEM file.")] = False,
) -> None:
    """Show somebody's public keys, and what became of each."""
    from recollect.rules.trust.signatures import public_pem

    with get_session(context).memory() as memory:
        found = memory.identity(name)
    key = found.key_that_counts().key if pem else None
    if key is not None and not get_session(context).as_json:
        sys.stdout.write(public_pem(key).decode("ascii"))
    else:
        get_session(context).answer(found, lambda found: _draw([found]))


@identity.command("list")
@calls("identities", lambda found: _draw(found))
def list_identities() -> None:
    """Everybody who has or had a key."""


@identity.command("register")
def register_key(
    context: typer.Context,
    name: Name,
    key: Annotated[str, typer.Option(help="The public key: 64 hex digits, or a file that holds them or a PEM.")],
    replace: Annotated[bool, typer.Option("--replace", help="It takes over from the one registered before.")] = False,
) -> None:
    """Register the public key of somebody who signs elsewhere, so that their signatures can be checked here."""
    digits = read_public_key(key)
    with get_session(context).memory(IfMissing.MAKE) as memory:
        get_session(context).answer(memory.register_identity(name, digits, replace=replace), _draw_registered)


@identity.command()
@calls("rotate_identity", lambda made: _draw_new(made))
def rotate(
    name: Name,
    key_file: KeyFile = None,
    to: Annotated[Path | None, typer.Option(help="The new private key's file.")] = None,
) -> None:
    """Replace a key by a new one. What the old key signed so far still counts; what it signs from now on does not."""


@identity.command()
@calls("revoke_identity", lambda one: screen.console.print(f"revoked; the log has it at place {one.size - 1}"))
def revoke(
    name: Name,
    key: Annotated[str | None, typer.Option(help="An older key, by its first digits.")] = None,
    key_file: KeyFile = None,
) -> None:
    """Revoke a key that was lost or stolen: nothing that it signs from now on counts."""


@identity.command()
@calls("link_identity", lambda found: _draw([found]))
def link(name: Name, id: PlatformId, platform: Platform = None, key_file: KeyFile = None) -> None:
    """Link an id of another platform to a principal, signed with the principal's key: what it signs counts as theirs."""


@identity.command()
@calls("unlink_identity", lambda found: _draw([found]))
def unlink(name: Name, id: PlatformId, platform: Platform = None, key_file: KeyFile = None) -> None:
    """Remove the link between a principal and an id of another platform."""


@identity.command()
def history(context: typer.Context, sign_as: SignAs = None, key_file: KeyFile = None, out: Out = None) -> None:
    """Write the signed history of all keys, for those who check without the store. It holds no names."""
    with get_session(context).memory() as memory:
        found = memory.identity_history(sign_as=sign_as, key_file=key_file)
    write_json(found.to_dict(), out)
    get_session(context).tell_written(out)


@identity.command()
def sign(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="An exported entry, as JSON; - for standard input.")],
    sign_as: SignAs = None,
    key_file: KeyFile = None,
    out: Out = None,
) -> None:
    """Sign an exported entry: its content, author, time and parents."""
    entry = read_object(file)
    with get_session(context).memory() as memory:
        signed = memory.sign_entry(entry, sign_as=sign_as, key_file=key_file)
    write_json(signed, out)
    get_session(context).tell_written(out)


@identity.command()
def check(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="A signed entry, as JSON; - for standard input.")],
    key: Annotated[
        list[str] | None, typer.Option(help="Check against this public key, without the store. May be repeated.")
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Judge the key as of when this memory was written.")] = None,
    keys: Annotated[str | None, typer.Option(help="With --key: a file that tells what became of keys.")] = None,
) -> int:
    """Check who signed an exported entry, and whether their key counts."""
    from recollect.rules.trust.signed_documents import check_offline

    entry = read_object(file)
    if keys is not None and not key:
        raise BadInput("a key history is for checks without the store.", field="keys", hint="Give --key as well.")
    if key:
        with _refuse_bad_proof(keys):
            answer = check_offline(entry, [read_public_key(one) for one in key], read_history(keys))
    else:
        with get_session(context).memory() as opened:
            answer = opened.check_entry(entry, memory=memory)
    get_session(context).answer(answer, _draw_checked)
    return 0 if answer.ok else 1


@contextmanager
def _refuse_bad_proof(file: str | None) -> Iterator[None]:
    """Raise our error for a key history that does not prove what it says."""
    from recollect.rules.ledger.merkle import BadProof

    try:
        yield
    except BadProof as error:
        raise Refused(f"{error}.", field=file, hint="Ask its publisher for another.") from None


def _draw_new(made: "NewKey") -> None:
    screen.say_plain(f"{made.name}  {made.key}")
    screen.say_plain(f"  private key: {made.file}")
    screen.console.print("  Keep a copy of it somewhere safe: backups of the store do not hold it.", markup=False)


def _draw_registered(made: "RegisteredKey") -> None:
    screen.say_plain(f"{made.name}  {made.key}")
    if made.replaced is not None:
        screen.console.print(f"  takes over from {made.replaced[:12]}", markup=False)
    screen.console.print("  by your word: nothing here shows that the key is theirs", markup=False)


def _draw(found: "Sequence[Identity]") -> None:
    if not found:
        screen.console.print("[dim]nobody has a key[/]")
        return
    names = names_shown({one.name for one in found if one.name is not None})
    rows = []
    for one in found:
        for key in one.keys:
            ended = f"revoked {key.revoked_at}" if key.revoked_at else f"rotated {key.rotated_at}"
            state = "[green]current[/]" if key.current else f"[yellow]{ended[:18]}[/]"
            rows.append((screen.escape(names.get(one.name or "", "[erased]")), key.registered_at[:10], state, key.key))
    screen.print_uncut("who, since, state, public key", rows)
    for name, linked in ((one.name, linked) for one in found for linked in one.platform_ids):
        also = f"{name} is also {linked.id}{f' on {linked.platform}' if linked.platform else ''}"
        screen.say_plain(also)


def _draw_checked(answer: "SignatureCheck") -> None:
    line = f"{answer.name or 'nobody known'}, key {answer.key[:12]}"
    screen.console.print(f"[green]holds[/]  {line}" if answer.ok else f"[red]refused[/]  {line}")
    if answer.problem:
        screen.say_plain(f"  {answer.problem}")
