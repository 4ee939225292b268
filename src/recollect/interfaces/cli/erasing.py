"""The command that removes content for good, with its receipt and the check that all is well afterwards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.documents import must_be_new, write_document
from recollect.interfaces.cli.ledger import KeyFile
from recollect.interfaces.cli.session import UserId, of
from recollect.model.errors import BadInput

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect
    from recollect.model.receipt import DerivedMemory, ErasureReceipt, Verification


MAX_SHOWN = 20
"""How many derived memories are drawn; the receipt names all of them."""
BECAME = {
    "kept": "stays, without the link or the name",
    "review": "out of recall until somebody restores or erases it",
    "erased": "erased too",
}
NAMED = "stays, and still names them: erase it too if need be"
SIGN = "give --sign-as NAME or --key-file FILE (`recollect identity new NAME` makes a key)"


def register(app: typer.Typer) -> None:
    app.command()(erase)


def erase(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Everything of this owner.")] = None,
    user_id: UserId = None,
    id: Annotated[str | None, typer.Option(help="One memory.")] = None,
    whole_chain: Annotated[bool, typer.Option("--whole-chain", help="With --id: every version of it.")] = False,
    receipt: Annotated[str | None, typer.Option(help="Write a receipt that can be checked to this file.")] = None,
    sign_as: Annotated[str | None, typer.Option(help="Sign the receipt with this one's current key.")] = None,
    key_file: KeyFile = None,
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Verify the whole store afterwards.")] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Remove content for good; a tombstone is left. There is no way back."""
    session = of(context)
    _check(owner or user_id, id, receipt, sign_as)
    if session.as_json and not yes:
        raise BadInput("there is no way back.", field="yes", hint="Add --yes to erase without being asked.")
    if not yes:
        if receipt is not None and sign_as is None and key_file is None:
            typer.echo(f"The receipt will not be signed, and cannot be signed later: {SIGN}.", err=True)
        typer.confirm(
            f"Erase {'everything of ' + (owner or user_id or '') if id is None else id} for good?", abort=True, err=True
        )
    with session.memory() as memory:
        record = None
        if receipt is None:
            done = memory.erase(owner=owner, user_id=user_id, id=id, whole_chain=whole_chain)
        else:
            done, record = memory.erase_with_record(
                owner=owner, user_id=user_id, id=id, whole_chain=whole_chain, sign_as=sign_as, key_file=key_file
            )
        if record is not None:
            write_document(record, receipt)
        found = memory.verify() if verify and _may_verify(memory) else None
    receipt = None if record is None else receipt
    signed = record is not None and bool(record.signatures)
    session.answer(_answer(done, found, receipt), lambda _: _draw(done, found, receipt, signed=signed))
    if found is not None and not found.ok:
        return 3
    return 1 if done.is_empty else 0


def _check(owner: str | None, id: str | None, receipt: str | None, sign_as: str | None) -> None:
    if (owner is None) == (id is None):
        raise BadInput("name either an owner or an id.", field="owner", hint="--owner ana, or --id 0f3a9c2b1d4e.")
    if sign_as is not None and receipt is None:
        raise BadInput("there is nothing to sign.", field="sign-as", hint="Name the receipt's file: --receipt.")
    if receipt is not None and not Path(receipt).absolute().parent.is_dir():
        raise BadInput("its folder does not exist.", field=receipt, hint="Make it, or name another file.")
    if receipt is not None:
        must_be_new(receipt)


def _may_verify(memory: "Recollect") -> bool:
    """Somebody who erases their own memories need not be allowed to walk everybody's."""
    from recollect.model.caller import Right

    return memory.caller.may(Right.OPERATE)


def _answer(done: "ErasureReceipt", found: "Verification | None", receipt: str | None) -> dict[str, object]:
    verification = found.to_dict() if found is not None else None
    return {**done.to_dict(), "verification": verification, "receipt": receipt}


def _draw(done: "ErasureReceipt", found: "Verification | None", receipt: str | None, *, signed: bool) -> None:
    from recollect.interfaces.cli import screen

    if done.is_empty:
        screen.console.print("nothing of theirs is kept here, so nothing was erased; `recollect list` shows the owners")
    else:
        _draw_erased(done)
    if receipt is not None:
        what = "signed" if signed else f"not signed, and it cannot be signed later: next time, {SIGN}"
        screen.console.print(f"receipt written to {receipt} ({what})", markup=False, soft_wrap=True)
    if found is not None:
        screen.verification(found)


def _draw_erased(done: "ErasureReceipt") -> None:
    from recollect.interfaces.cli.screen import beyond_reach, console
    from recollect.rules.plain_view import counted, memories

    console.print(
        f"erased {memories(len(done.removed))} in {counted(done.streams, 'stream')}, "
        f"{counted(done.owner_names_removed, 'owner name')}, {counted(done.actor_names_removed, 'actor name')}, "
        f"{counted(done.traces_removed, 'trace')}"
    )
    if done.authored:
        console.print(f"and {memories(len(done.authored))} that they wrote in streams of others")
    if done.derived or done.links_cut:
        _draw_derived(done)
    if done.remaining:
        others = ", ".join(id[:13] for id in done.remaining)
        console.print(f"[yellow]still there in the same chain:[/] {others} (--whole-chain)", soft_wrap=True)
    beyond_reach(done.beyond_reach)


def _stays_named(one: "DerivedMemory") -> bool:
    """Whether it only names the person, in a way that cannot be taken out of it."""
    from recollect.rules.trust.provenance import LISTED_ONLY

    return LISTED_ONLY.issuperset(one.how)


def _draw_derived(done: "ErasureReceipt") -> None:
    """What was made of the erased, or names them, and what became of it."""
    from recollect.interfaces.cli.screen import console, table
    from recollect.rules.plain_view import counted, memories
    from recollect.rules.trust.provenance import ROLES

    cut = f"{counted(done.links_cut, 'link')} {'was' if done.links_cut == 1 else 'were'} cut"
    what = "made of it" if all(ROLES.isdisjoint(one.how) for one in done.derived) else "made of it, or naming them"
    console.print(f"{what}: {memories(len(done.derived))}; {cut}")
    drawn = table("memory", "how", "what became of it")
    for one in done.derived[:MAX_SHOWN]:
        drawn.add_row(
            one.id[:13], ", ".join(one.how).replace("_", " "), NAMED if _stays_named(one) else BECAME[one.became]
        )
    if done.derived:
        console.print(drawn)
    if len(done.derived) > MAX_SHOWN:
        console.print(f"  [dim]and {len(done.derived) - MAX_SHOWN} more: --json or the receipt names them[/]")
