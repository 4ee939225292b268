"""Commands that look after a store: erase, consolidate, rekey, verify, rebuild, reindex, doctor, stats, policy."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.session import (
    KeyFile,
    Owner,
    SignAs,
    UserId,
    calls,
    get_session,
    require_new_file,
    screen,
    write_json,
)
from recollect.model.caller import Right
from recollect.model.errors import BadInput

if TYPE_CHECKING:
    from recollect.model.receipt import ErasurePreview, ErasureReceipt, Verification


@calls("consolidate", "consolidation", progress="consolidate")
def consolidate(
    owner: Owner = None,
    user_id: UserId = None,
    force: Annotated[bool, typer.Option("--force", help="Carry the proposal out.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the last one back.")] = False,
) -> None:
    """Propose a deterministic clean-up and show its diff."""


@calls("rekey", "consolidation", progress="rekey")
def rekey(
    owner: Owner = None,
    user_id: UserId = None,
    force: Annotated[bool, typer.Option("--force", help="Set the new keys.")] = False,
) -> None:
    """Propose new keys by today's rules, and show which memories would share one."""


def verify(
    context: typer.Context,
    kept: Annotated[str | None, typer.Option(help="Also against this checkpoint, which you kept.")] = None,
) -> int:
    """Check every chain, version and projection, and name what is broken."""
    from recollect.interfaces.cli.ledger import read_kept

    checkpoint = read_kept(kept)
    with get_session(context).memory() as memory, screen.progress("verify") as progress:
        answer = memory.verify(progress, kept=checkpoint)
    get_session(context).answer(answer, screen.draw_verification)
    return 0 if answer.ok else 3


@calls("rebuild", "stats", progress="rebuild", name="rebuilt")
def rebuild() -> None:
    """Build every projection again from versions and ledger."""


@calls("doctor", "doctor", exit_code=lambda found: 1 if found else 0)
def doctor() -> None:
    """Look for trouble, and say what to do about it."""


@calls("reindex", "fields", progress="reindex")
def reindex(
    embedder: Annotated[
        str | None, typer.Option(help="static, none, minilm or openai; left out: the policy's, else static.")
    ] = None,
) -> None:
    """Compute again every vector that another embedder made. Run it again to go on after an interruption."""


@calls("stats", "stats")
def stats() -> None:
    """Count what is in the store."""


@calls("streams", "streams")
def streams() -> None:
    """List the streams: whose memories they hold, and their ticks and phases."""


@calls("growth", "growth")
def growth(days: Annotated[int, typer.Option(help="How many days, up to today.")] = 30) -> None:
    """Count the memories that were written on each of the last days."""


@calls("try_policy", "trial")
def try_policy(
    other: Annotated[str, typer.Argument(metavar="POLICY", help="A preset's name or a YAML file.")],
    limit: Annotated[int, typer.Option(help="How many of the last writes to try.")] = 100,
) -> None:
    """Show which of the last writes would have ended otherwise under another policy. Nothing is changed."""


def policy(context: typer.Context) -> None:
    """Show the policy in force, every setting of it."""
    from recollect.policies import load_policy

    session = get_session(context)
    session.answer(load_policy(session.policy_in_force), screen.draw_policy)


MAX_SHOWN = 20
"""How many derived memories are drawn; the receipt names all of them."""
BECAME = {
    "kept": "stays, without the link or the name",
    "review": "out of recall until somebody restores or erases it",
    "erased": "erased too",
}
NAMED = "stays, and still names them: erase it too if need be"
SIGN = "give --sign-as NAME or --key-file FILE (`recollect identity new NAME` makes a key)"


def erase(
    context: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Everything of this owner.")] = None,
    user_id: UserId = None,
    id: Annotated[str | None, typer.Option(help="One memory.")] = None,
    whole_chain: Annotated[bool, typer.Option("--whole-chain", help="With --id: every version of it.")] = False,
    receipt: Annotated[str | None, typer.Option(help="Write a receipt that can be checked to this file.")] = None,
    sign_as: SignAs = None,
    key_file: KeyFile = None,
    verify: Annotated[bool, typer.Option("--verify/--no-verify", help="Verify the whole store afterwards.")] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> int:
    """Remove content for good; a tombstone is left. There is no way back."""
    session = get_session(context)
    _check_options(owner or user_id, id, receipt, sign_as)
    if dry_run:
        with session.memory() as memory:
            preview = memory.preview_erasure(owner=owner, user_id=user_id, id=id, whole_chain=whole_chain)
        session.answer(preview, _draw_preview)
        return 1 if preview.is_empty else 0
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
            write_json(record.to_dict(), receipt)
        # a caller who may erase their own memories need not have the right to verify the whole store
        found = memory.verify() if verify and memory.caller.may(Right.OPERATE) else None
    receipt = None if record is None else receipt
    signed = record is not None and bool(record.signatures)
    verification = found.to_dict() if found is not None else None
    answer = {**done.to_dict(), "verification": verification, "receipt": receipt}
    session.answer(answer, lambda _: _draw(done, found, receipt, signed=signed))
    if found is not None and not found.ok:
        return 3
    return 1 if done.is_empty else 0


def _check_options(owner: str | None, id: str | None, receipt: str | None, sign_as: str | None) -> None:
    if (owner is None) == (id is None):
        raise BadInput("name either an owner or an id.", field="owner", hint="--owner ana, or --id 0f3a9c2b1d4e.")
    if sign_as is not None and receipt is None:
        raise BadInput("there is nothing to sign.", field="sign-as", hint="Name the receipt's file: --receipt.")
    if receipt is not None and not Path(receipt).absolute().parent.is_dir():
        raise BadInput("its folder does not exist.", field=receipt, hint="Make it, or name another file.")
    if receipt is not None:
        require_new_file(receipt)


def _draw(done: "ErasureReceipt", found: "Verification | None", receipt: str | None, *, signed: bool) -> None:
    if done.is_empty:
        screen.console.print("nothing of theirs is kept here, so nothing was erased; `recollect list` shows the owners")
    else:
        _draw_erased(done)
    if receipt is not None:
        what = "signed" if signed else f"not signed, and it cannot be signed later: next time, {SIGN}"
        screen.say_plain(f"receipt written to {receipt} ({what})")
    if found is not None:
        screen.draw_verification(found)


def _draw_preview(preview: "ErasurePreview") -> None:
    from recollect.rules.plain_view import counted, memories

    gone = len(preview.removed) + len(preview.authored)
    screen.console.print(f"would erase {memories(gone)} in {counted(preview.streams, 'stream')}; nothing was changed")
    for one in preview.derived[:MAX_SHOWN]:
        screen.console.print(f"  {one.id[:13]}  {', '.join(one.how).replace('_', ' ')}: {BECAME[one.became]}")
    screen.draw_beyond_reach(preview.beyond_reach)


def _draw_erased(done: "ErasureReceipt") -> None:
    from recollect.rules.plain_view import counted, memories

    screen.console.print(
        f"erased {memories(len(done.removed))} in {counted(done.streams, 'stream')}, "
        f"{counted(done.owner_names_removed, 'owner name')}, {counted(done.actor_names_removed, 'actor name')}, "
        f"{counted(done.traces_removed, 'trace')}"
    )
    if done.authored:
        screen.console.print(f"and {memories(len(done.authored))} that they wrote in streams of others")
    if done.derived or done.links_cut:
        _draw_derived(done)
    if done.remaining:
        others = ", ".join(id[:13] for id in done.remaining)
        screen.say(f"[yellow]still there in the same chain:[/] {others} (--whole-chain)")
    screen.draw_beyond_reach(done.beyond_reach)


def _draw_derived(done: "ErasureReceipt") -> None:
    """List the memories that were made of the erased ones, or name the person, and what became of each."""
    from recollect.rules.plain_view import counted, memories
    from recollect.rules.trust.provenance import LISTED_ONLY, ROLES

    cut = f"{counted(done.links_cut, 'link')} {'was' if done.links_cut == 1 else 'were'} cut"
    what = "made of it" if all(ROLES.isdisjoint(one.how) for one in done.derived) else "made of it, or naming them"
    screen.console.print(f"{what}: {memories(len(done.derived))}; {cut}")
    rows = []
    for one in done.derived[:MAX_SHOWN]:
        became = NAMED if LISTED_ONLY.issuperset(one.how) else BECAME[one.became]
        rows.append((one.id[:13], ", ".join(one.how).replace("_", " "), became))
    if rows:
        screen.print_table("memory, how, what became of it", rows)
    if len(done.derived) > MAX_SHOWN:
        screen.console.print(f"  [dim]and {len(done.derived) - MAX_SHOWN} more: --json or the receipt names them[/]")
