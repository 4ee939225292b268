"""Endpoints that are no single document: pages of history, the change feed, export and import."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from functools import partial
from itertools import chain
from typing import Annotated, Any

from fastapi import FastAPI, Header, Query, Request, Response
from pydantic import BaseModel
from starlette.responses import StreamingResponse

from recollect.engine.arguments import decode_cursor, encode_cursor, refuse_cursor
from recollect.interfaces.python.signatures import arguments_of, model_of
from recollect.interfaces.rest.access import Server
from recollect.interfaces.rest.answers import as_json, schema_type
from recollect.interfaces.rest.endpoints import ID
from recollect.interfaces.rest.limits import IMPORT_PATH
from recollect.interfaces.rest.problems import PROBLEMS
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, RecollectError, TooManyRequests
from recollect.model.receipt import HistoryEvent, Page

Limit = Annotated[int, Query(ge=1, le=1_000, description="how many at most")]
Cursor = Annotated[str | None, Query(description="next_cursor of the page before")]
EVENTS = "text/event-stream"
TEXT: dict[str, Any] = {"schema": {"type": "string"}}
LINES = "application/x-ndjson"
IN_MEMORY_BYTES = 2**20


class HistoryPage(BaseModel):
    """What happened to a memory, newest first."""

    items: list[HistoryEvent]
    next_cursor: str | None = None


def add_to(app: FastAPI, server: Server) -> None:
    """Add these endpoints."""
    _add_history(app, server)
    _add_changes(app, server)
    _add_transfer(app, server)


def _add_history(app: FastAPI, server: Server) -> None:
    async def history(request: Request, id: Annotated[str, ID], limit: Limit = 100, cursor: Cursor = None) -> Response:
        page = await server.call(request, lambda memory: _newest_first(memory.history(id), limit, cursor))
        return Response(as_json(page), media_type="application/json")

    about: dict[str, Any] = {
        "summary": "Return what happened to a memory, newest first, a page at a time.",
        "response_model": None,
        "responses": {200: {"model": HistoryPage}, **PROBLEMS},
        "tags": ["memories"],
    }
    app.add_api_route("/v1/memories/{id}/history", history, operation_id="history", **about)
    app.add_api_route("/memory/{id}/history", history, operation_id="memory_history", **about)


def _newest_first(events: tuple[HistoryEvent, ...], limit: int, cursor: str | None) -> Page[HistoryEvent]:
    """Return a page of a memory's history. Older events never change, so the place of one among them is its key."""
    end = len(events)
    if cursor is not None:
        at, place = decode_cursor(cursor)
        if (
            not isinstance(place, int) or not 0 < place <= len(events) or events[place].at != at
            if place != len(events)
            else at
        ):
            refuse_cursor()
        end = place
    start = max(0, end - limit)
    more = encode_cursor(events[start].at, start) if start else None
    return Page(tuple(reversed(events[start:end])), more)


# ── the change feed ─────────────────────────────────────────────────────────────────────────────────────────────────


def _add_changes(app: FastAPI, server: Server) -> None:
    asked = model_of("ChangesRequest", arguments_of("changes"), strict=False)

    async def changes(
        request: Request,
        asked: Annotated[asked, Query()],  # type: ignore[valid-type]
        last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", description="as a browser resumes")] = None,
    ) -> Response:
        arguments = asked.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
        if last_event_id is not None:
            arguments["since"] = last_event_id
        first = await server.call(request, lambda memory: memory.changes(**arguments))
        if "application/json" in request.headers.get("accept", ""):
            return Response(as_json(first), media_type="application/json")
        if server.open_feeds >= server.settings.feeds:
            raise TooManyRequests("as many change feeds are open as this server has.", hint="Close one, or try later.")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_told(server, request, arguments, first), media_type=EVENTS, headers=headers)

    app.add_api_route(
        "/v1/changes",
        changes,
        operation_id="changes",
        summary="Follow what changes, as server-sent events; `since` or `Last-Event-ID` resumes without loss.",
        response_model=None,
        description="Each event's id resumes after it. A client that accepts `application/json` gets one page instead.",
        responses={
            200: {"model": schema_type("changes"), "content": {EVENTS: TEXT}},
            **PROBLEMS,
        },
        tags=["changes"],
    )


async def _told(server: Server, request: Request, arguments: dict[str, Any], found: Any) -> AsyncIterator[str]:
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
            follow = partial(_follow, server, request, arguments, found)
            found = await server.in_thread(follow)
    except RecollectError as error:
        yield f"event: problem\ndata: {canonical_json(error.to_dict())}\n\n"
    finally:
        server.open_feeds -= 1


def _follow(server: Server, request: Request, arguments: dict[str, Any], found: Any) -> Any:
    return server.memory_of(request).changes(**{**arguments, "since": None, "after": found})


# ── whole records in and out ────────────────────────────────────────────────────────────────────────────────────────


def _add_transfer(app: FastAPI, server: Server) -> None:
    exported = model_of("ExportRequest", arguments_of("export"), strict=False)
    taken = tuple(one for one in arguments_of("import_") if one.name not in ("source", "table", "history", "columns"))
    imported = model_of("ImportRequest", taken, strict=False)

    async def export(request: Request, asked: Annotated[exported, Query()]) -> Response:  # type: ignore[valid-type]
        arguments = _without_null(asked.model_dump(exclude_unset=True))  # type: ignore[attr-defined]
        pieces = await server.call(request, lambda memory: _begun(memory.export(**arguments)))
        return StreamingResponse(pieces, media_type=LINES)

    async def import_(request: Request, asked: Annotated[imported, Query()]) -> Response:  # type: ignore[valid-type]
        arguments = asked.model_dump(exclude_unset=True)  # type: ignore[attr-defined]
        with tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES) as body:
            async for chunk in request.stream():
                body.write(chunk)
            body.seek(0)
            report = await server.call(request, lambda memory: memory.import_(_lines(body), **arguments))
        return Response(as_json(report), media_type="application/json")

    app.add_api_route(
        "/v1/export",
        export,
        operation_id="export",
        summary="Return the memories as a file of a format, piece by piece.",
        response_model=None,
        responses={200: {"content": {LINES: TEXT}}, **PROBLEMS},
        response_class=Response,
        tags=["transfer"],
    )
    app.add_api_route(
        IMPORT_PATH,
        import_,
        methods=["POST"],
        operation_id="import",
        summary="Bring in the lines of a file, each through the gates; importing them again changes nothing.",
        response_model=None,
        responses={200: {"model": schema_type("import_")}, **PROBLEMS},
        openapi_extra={"requestBody": {"required": True, "content": dict.fromkeys((LINES, "text/plain"), TEXT)}},
        tags=["transfer"],
    )


def _without_null(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == ["null"] else value for name, value in values.items()}


def _begun(pieces: Iterator[str]) -> Iterator[str]:
    """Return an export whose first piece is there: what is wrong with it is an error, and no half of a file."""
    first = next(pieces, None)
    return iter(()) if first is None else chain([first], pieces)


def _lines(body: Any) -> Iterator[str]:
    for number, line in enumerate(body, 1):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInput("is not UTF-8.", field=f"line {number}", hint="Send the text as UTF-8.") from None
