"""The application that serves a memory over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from recollect import __version__
from recollect.interfaces.listener import allowed_methods
from recollect.interfaces.python import Recollect
from recollect.interfaces.rest import endpoints, feeds, mem0, watching
from recollect.interfaces.rest.access import DEFAULTS, Bounded, Server, Settings
from recollect.interfaces.rest.problems import (
    MEDIA_TYPE,
    ProblemDetails,
    headers_of,
    problem_of,
    status_of,
    too_large,
)
from recollect.model.errors import BadInput, NotFound, RecollectError

DESCRIPTION = """\
Every endpoint is the operation of the same name in Python, with the same arguments, answers and reason codes. Times are ISO 8601
in UTC. Lists come in pages: `next_cursor` of one page is the `cursor` of the next. A change takes an `Idempotency-Key`, with
which a retry gets the same answer. Errors are problem details (RFC 9457)."""


def create_app(memory: Recollect, settings: Settings = DEFAULTS) -> FastAPI:
    """Return the ASGI application that serves an open memory. The caller, who opened the memory, closes it afterwards.

    ``app.state.server`` is the :class:`~recollect.interfaces.rest.access.Server`: pages that are mounted on the same application
    find a request's caller with it.
    """
    server = Server(memory, settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        server.close()

    app = FastAPI(
        title="Recollect",
        version=__version__,
        summary="Governed long-term memory for AI agents.",
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.server = server
    endpoints.add_to(app, server)
    feeds.add_to(app, server)
    mem0.add_to(app, server)
    watch = watching.add_to(app, server)
    app.add_exception_handler(RecollectError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_middleware(watching.Watched, watch=watch)
    app.add_middleware(Bounded, settings=settings)
    _describe(app)
    return app


def problem(error: RecollectError) -> Response:
    """Return an error as a response."""
    return JSONResponse(problem_of(error), status_of(error), headers_of(error), MEDIA_TYPE)


async def _answer_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RecollectError), "it is registered for these"
    return problem(error)


async def _answer_http_error(request: Request, error: Exception) -> Response:
    """Word the framework's own refusals like ours: no such path, no such method, a body that cannot be parsed."""
    assert isinstance(error, HTTPException), "it is registered for these"
    if error.status_code == 404:
        return problem(NotFound("there is nothing at this path.", hint="/openapi.json lists every path."))
    if error.status_code == 413:
        return problem(too_large())
    details = problem_of(BadInput(f"{error.detail}.", hint="/openapi.json describes every request."))
    headers = {"Allow": allowed_methods(request)} if error.status_code == 405 else error.headers
    return JSONResponse({**details, "status": error.status_code}, error.status_code, headers, MEDIA_TYPE)


def _describe(app: FastAPI) -> None:
    """Let the OpenAPI document say what holds for every endpoint: problem details and the bearer key."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = made()
            parts = document.setdefault("components", {})
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{"key": []}, {}]
            schemas = parts.setdefault("schemas", {})
            schemas["ProblemDetails"] = ProblemDetails.model_json_schema()
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for path in document["paths"].values():
                for one in path.values():
                    one.get("responses", {}).pop("422", None)
        return app.openapi_schema or document

    app.openapi = openapi  # type: ignore[method-assign]
