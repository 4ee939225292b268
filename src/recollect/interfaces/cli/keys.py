"""Commands about the keys of a server's clients: create, list, revoke."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli.session import IfMissing, calls, screen
from recollect.model.caller import Right

if TYPE_CHECKING:
    from recollect.engine.trust.access_keys import AccessKey, NewAccessKey

key = typer.Typer(no_args_is_help=True, help="Keys of programs that use this memory over HTTP: create, list, revoke.")


@key.command()
@calls("create_key", lambda made: _draw_new(made), if_missing=IfMissing.MAKE)
def create(
    name: Annotated[str, typer.Argument(help="What you call the key, such as the program that will hold it.")],
    user: Annotated[
        str | None, typer.Option(help="The person whose memory it reaches.", show_default="default")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="The agent that it stands for.")] = None,
    projects: Annotated[
        list[str] | None, typer.Option("--project", help="A project that it reaches; may be given again.")
    ] = None,
    rights: Annotated[
        list[Right] | None,
        typer.Option("--right", help="What it may do; may be given again.", show_default="read and write"),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help="When it ends, such as 2027-01-31T09:00:00Z.")] = None,
) -> None:
    """Make a key for one caller of --tenant, and print it once: the store keeps only a digest of it."""


@key.command("list")
@calls("access_keys", lambda keys: _draw_all(keys))
def list_keys() -> None:
    """List every key of --tenant: whom it stands for, what it may do, until when, and when it was last used."""


@key.command()
@calls("revoke_key", lambda one: _draw_all((one,)))
def revoke(id: Annotated[str, typer.Argument(help="The key's id, or its first digits.")]) -> None:
    """End a key at once."""


def _draw_new(made: "NewAccessKey") -> None:
    screen.say_plain(made.key)
    of_whom = f"user {made.about.user}" + (f", agent {made.about.agent}" if made.about.agent else "")
    screen.errors.print(f"key {made.about.id} for {of_whom}; it is shown this once", markup=False, soft_wrap=True)


def _draw_all(keys: "tuple[AccessKey, ...]") -> None:
    for one in keys:
        stands_for = "/".join(filter(None, (one.tenant, one.user, one.agent, *one.projects)))
        ends = f"revoked {one.revoked_at[:16]}" if one.revoked_at else f"until {(one.expires_at or 'revoked')[:16]}"
        used = f"last used {one.last_used[:16]}" if one.last_used else "never used"
        line = f"{one.id}  {one.name}  {stands_for}  {'+'.join(one.rights)}  {ends}  {used}"
        screen.say_plain(line)
