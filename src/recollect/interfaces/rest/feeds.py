"""Endpoints that are no single document: pages of history, the change feed, export and import."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from recollect.engine.arguments import decode_cursor, encode_cursor, refuse_cursor
from recollect.interfaces.python import Recollect
from recollect.interfaces.python.signatures import arguments_of, model_of
from recollect.interfaces.rest.access import IMPORT_PATH, Answer, Server
from recollect.interfaces.rest.answers import as_json, schema_type
from recollect.interfaces.rest.endpoints import ID, KEY_HEADER, QueryReader, add_route, parameter, without_null
from recollect.interfaces.rest.problems import PROBLEMS
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, RecollectError, TooManyRequests
from recollect.model.receipt import HistoryEvent, Page

EVENTS = "text/event-stream"
TEXT: dict[str, Any] = {"schema": {"type": "string"}}
LINES = "application/x-ndjson"
IN_MEMORY_BYTES = 2**20
LAST_EVENT = "Last-Event-ID"
NOT_OVER_HTTP = ("source", "table", "history", "columns")
"""Arguments of an import that name files, or that have no form in a query string."""


class HistoryRequest(BaseModel):
    """Which part of a history is asked for."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(100, ge=1, le=1_000, description="how many at most")
    cursor: str | None = Field(None, description="next_cursor of the page before")


class HistoryPage(BaseModel):
    """What happened to a memory, newest first."""

    items: list[HistoryEvent]
    next_cursor: str | None = None


def add_to(app: FastAPI, server: Server) -> None:
    """Add these endpoints."""
    _add_history(app, server)
    _add_changes(app, server)
    _add_export(app, server)
    _add_import(app, server)


def _add_history(app: FastAPI, server: Server) -> None:
    query = QueryReader(HistoryRequest)

    async def history(request: Request) -> Response:
        id, asked = request.path_params["id"], query.read(request)
        page = await server.call(request, lambda memory: _newest_first(memory.history(id), asked), reads=True)
        return Response(as_json(page), media_type="application/json")

    for path, name in (("/v1/memories/{id}/history", "history"), ("/memory/{id}/history", "memory_history")):
        add_route(
            app,
            history,
            path,
            parameters=[parameter("id", Annotated[str, ID]), parameter("asked", Annotated[HistoryRequest, Query()])],
            operation_id=name,
            summary="Return what happened to a memory, newest first, a page at a time.",
            responses={200: {"model": HistoryPage}, **PROBLEMS},
            tags=["memories"],
        )


def _newest_first(events: tuple[HistoryEvent, ...], asked: Any) -> Page[HistoryEvent]:
    """Return a page of a memory's history. Older events never change, so the place of one among them is its key."""
    end = len(events)
    if asked.cursor is not None:
        at, place = decode_cursor(asked.cursor)
        if not isinstance(place, int) or not 0 < place < len(events) or events[place].at != at:
            refuse_cursor()
        end = place
    start = max(0, end - asked.limit)
    more = encode_cursor(events[start].at, start) if start else None
    return Page(tuple(reversed(events[start:end])), more)


def _add_changes(app: FastAPI, server: Server) -> None:
    model = model_of("ChangesRequest", arguments_of("changes"), strict=False)
    query = QueryReader(model)

    async def changes(request: Request) -> Response:
        arguments = query.read(request).model_dump(exclude_unset=True)
        if LAST_EVENT in request.headers:
            arguments["since"] = request.headers[LAST_EVENT]
        first = await server.call(request, lambda memory: memory.changes(**arguments), reads=True)
        if "application/json" in request.headers.get("accept", ""):
            return Response(as_json(first), media_type="application/json")
        if server.open_feeds >= server.settings.feeds:
            raise TooManyRequests("as many change feeds are open as this server has.", hint="Close one, or try later.")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        events = _send_changes(server, request, arguments, first)
        return StreamingResponse(events, media_type=EVENTS, headers=headers)

    resumes = Annotated[
        str | None, Header(alias=LAST_EVENT, description="the id of the last event, as browsers send it")
    ]
    add_route(
        app,
        changes,
        "/v1/changes",
        parameters=[parameter("asked", Annotated[model, Query()]), parameter("last_event_id", resumes, None)],
        operation_id="changes",
        summary="Follow what changes, as server-sent events; `since` or `Last-Event-ID` resumes without loss.",
        description="Each event's id resumes after it. A client that accepts `application/json` gets one page instead.",
        responses={200: {"model": schema_type("changes"), "content": {EVENTS: TEXT}}, **PROBLEMS},
        tags=["changes"],
    )


async def _send_changes(server: Server, request: Request, arguments: dict[str, Any], found: Any) -> AsyncIterator[str]:
    """Yield each change as an event whose id resumes after it. The key is checked again at every look."""
    server.open_feeds += 1
    quiet_s = 0.0
    try:
        if not found.items:  # else the changes themselves say how far they go
            yield f"id: {found.cursor}\nevent: position\ndata: {{}}\n\n"
        while True:
            for change in found.items:
                yield f"id: {change.cursor}\nevent: change\ndata: {canonical_json(change.event)}\n\n"
            quiet_s = 0.0 if found.items else quiet_s
            if not found.more:
                await asyncio.sleep(server.settings.feed_poll_s)
                quiet_s += server.settings.feed_poll_s
            if quiet_s >= server.settings.feed_beat_s:
                quiet_s = 0.0
                yield ": still here\n\n"
            asked = {**arguments, "since": None, "after": found}
            found = await server.in_thread(partial(_read_changes, server, request, asked))
    except RecollectError as error:
        yield f"event: problem\ndata: {canonical_json(error.to_dict())}\n\n"
    finally:
        server.open_feeds -= 1


def _read_changes(server: Server, request: Request, asked: dict[str, Any]) -> Any:
    return server.memory_of(request).changes(**asked)


def _add_export(app: FastAPI, server: Server) -> None:
    model = model_of("ExportRequest", arguments_of("export"), strict=False)
    query = QueryReader(model)

    async def export(request: Request) -> Response:
        arguments = without_null(query.read(request).model_dump(exclude_unset=True))
        pieces = await server.call(request, lambda memory: _begin(memory.export(**arguments)), reads=True)
        return StreamingResponse(pieces, media_type=LINES)

    add_route(
        app,
        export,
        "/v1/export",
        parameters=[parameter("asked", Annotated[model, Query()])],
        operation_id="export",
        summary="Return the memories as a file of a format, piece by piece.",
        responses={200: {"content": {LINES: TEXT}}, **PROBLEMS},
        response_class=Response,
        tags=["transfer"],
    )


def _begin(pieces: Iterator[str]) -> Iterator[str]:
    """Read the first piece of an export, so that what is wrong with it is an error and not half of a file."""
    first = next(pieces, None)
    return iter(()) if first is None else chain([first], pieces)


def _add_import(app: FastAPI, server: Server) -> None:
    taken = tuple(one for one in arguments_of("import_") if one.name not in NOT_OVER_HTTP)
    model = model_of("ImportRequest", taken, strict=False)
    query = QueryReader(model)

    async def import_(request: Request) -> Response:
        arguments, digest = query.read(request).model_dump(exclude_unset=True), sha256()
        with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as body:
            async for chunk in request.stream():
                body.write(chunk)
                digest.update(chunk)

            def work(memory: Recollect) -> Answer:
                body.seek(0)
                return Answer(as_json(memory.import_(_decode_lines(body), **arguments)))

            return await server.answer(request, work, changes=digest.digest())

    add_route(
        app,
        import_,
        IMPORT_PATH,
        methods=["POST"],
        parameters=[parameter("asked", Annotated[model, Query()]), parameter("idempotency_key", KEY_HEADER, None)],
        operation_id="import",
        summary="Bring in the lines of a file, each through the gates; importing them again changes nothing.",
        responses={200: {"model": schema_type("import_")}, **PROBLEMS},
        openapi_extra={"requestBody": {"required": True, "content": dict.fromkeys((LINES, "text/plain"), TEXT)}},
        tags=["transfer"],
    )


def _decode_lines(body: Any) -> Iterator[str]:
    for number, line in enumerate(body, 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInput("is not UTF-8.", field=f"line {number}", hint="Send the text as UTF-8.") from None
