"""Commands that serve: mcp."""

import os
from contextlib import nullcontext
from typing import Annotated

import typer

from recollect.interfaces.cli.session import IfMissing, of
from recollect.model.errors import BadInput
from recollect.model.extras import how_to_install

KEY = "RECOLLECT_KEY"

Http = Annotated[
    str | None, typer.Option(metavar="HOST:PORT", help="Serve over HTTP there, instead of standard input and output.")
]
Tools = Annotated[
    str,
    typer.Option(help="Which tools: default, admin, reference, all, or names of tools, with commas between them."),
]


def register(app: typer.Typer) -> None:
    app.command()(mcp)


def mcp(context: typer.Context, http: Http = None, tools: Tools = "default") -> None:
    """Serve this memory to clients of the Model Context Protocol, until they leave or the process is told to end."""
    _require_the_package()
    import anyio

    from recollect.interfaces.mcp import build_server, choose_tools, listen, serve_http, serve_stdio

    chosen, key = choose_tools(tools), os.environ.get(KEY) or None
    # What is wrong with the options is said before a store is opened or made.
    with listen(http, key) if http else nullcontext() as listener, of(context).memory(IfMissing.MAKE) as memory:
        server = build_server(memory, chosen)
        if listener is None:
            anyio.run(serve_stdio, server)
        else:
            anyio.run(serve_http, server, listener, key)


def _require_the_package() -> None:
    try:
        import mcp.server
    except ModuleNotFoundError as missing:
        raise BadInput(f"the package {missing.name} is not installed.", hint=how_to_install("mcp")) from missing
    assert mcp.server, "importing it is all that was wanted"
