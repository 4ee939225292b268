"""The pages' addresses, and what every answer has: who may see it, and headers that keep scripts, frames and other sites out."""

import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from recollect import __version__
from recollect.interfaces.listener import allowed_methods
from recollect.interfaces.studio import deciding, past, proving, reading, rendering
from recollect.interfaces.studio.sessions import COOKIE, Doorkeeper, Session
from recollect.interfaces.studio.visits import Answer, Figures, Goto, Handler, Page, Visit, split_address
from recollect.model.caller import Right
from recollect.model.errors import BadInput, NotAllowed, NotFound, RecollectError, StoreError

PREFIX = "/studio"
MAX_FORM_BYTES = 64 * 1024
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
STATIC = {"studio.css": "text/css", "studio.js": "text/javascript", "icon.svg": "image/svg+xml"}
STATUS: dict[type[RecollectError], int] = {BadInput: 400, NotAllowed: 403, NotFound: 404, StoreError: 503}

PAGES: dict[str, tuple[Handler, Right]] = {
    "/": (reading.home, Right.READ),
    "/memories": (reading.memories, Right.READ),
    "/memories/{id}": (reading.memory, Right.READ),
    "/conflicts": (deciding.conflicts, Right.READ),
    "/outdated": (deciding.outdated, Right.READ),
    "/rejections": (deciding.rejections, Right.READ),
    "/consent": (deciding.consent, Right.READ),
    "/proposals": (deciding.proposals, Right.READ),
    "/runs/{id}": (deciding.run, Right.OPERATE),
    "/time": (past.time, Right.READ),
    "/traces": (past.traces, Right.GOVERN),
    "/traces/{number:int}": (past.trace, Right.GOVERN),
    "/turns/{number:int}": (past.turn, Right.GOVERN),
    "/policy": (proving.policy, Right.READ),
    "/proof": (proving.proof, Right.READ),
    "/proof/progress.json": (proving.progress, Right.OPERATE),
    "/prove": (proving.prove, Right.OPERATE),
    "/proof/checkpoint.json": (proving.checkpoint, Right.OPERATE),
    "/erasure": (proving.erasure, Right.ERASE),
    "/documents/{name}": (proving.document, Right.READ),
    "/prompt": (reading.prompt, Right.READ),
}
"""What can be looked at, and the right that it takes at the least; the engine decides the rest."""
CHANGES: dict[str, Handler] = {
    "/do/{operation}": deciding.do,
    "/policy": proving.try_policy,
    "/proof/verify": proving.verify,
    "/proof/checkpoint": proving.take_checkpoint,
    "/erasure": proving.erase,
}
"""What can be changed, tried or started. Each form carries the token of its session."""


def build_studio(doorkeeper: Doorkeeper, *, hosts: frozenset[str] | None = None) -> Starlette:
    """Return the application, to be mounted at :data:`PREFIX` of another.

    ``hosts`` are the names under which it answers: on loopback those of this machine, or a web page could reach it under a
    name of its own. ``None`` answers to every name, behind a server that asks for keys.
    """
    routes = [
        Route("/enter", _make_enter(doorkeeper)),
        Route("/sign-in", _make_sign_in(doorkeeper), methods=["GET", "POST"]),
        Route("/sign-out", _make_sign_out(doorkeeper), methods=["POST"]),
        Route("/static/{name}", _serve_static),
        *(Route(path, _make_page(doorkeeper, *found)) for path, found in PAGES.items()),
        *(Route(path, _make_change(doorkeeper, handler), methods=["POST"]) for path, handler in CHANGES.items()),
    ]
    refusals = {404: _make_refusal(doorkeeper, _say_missing), 405: _make_refusal(doorkeeper, _say_wrong_method)}
    app = Starlette(routes=routes, exception_handlers=refusals)
    app.add_middleware(_Guard, hosts=hosts)
    return app


class _Guard:
    """Puts the headers on every answer, and answers under the right names alone."""

    def __init__(self, app: Any, hosts: frozenset[str] | None) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in extra if pair[0] not in known)]
            await send(message)

        host = split_address(f"//{request.headers.get('host', '')}").hostname
        if self._hosts is not None and host not in self._hosts:
            await Response("Studio does not answer under this name.", 421)(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)


Refusal = Callable[[Request], tuple[Page, int, dict[str, str]]]


def _make_refusal(doorkeeper: Doorkeeper, say: Refusal) -> Callable[[Request, Exception], Any]:
    """Return what answers a request that no page takes; whoever is signed in keeps the menu."""

    async def refuse(request: Request, _: Exception) -> Response:
        session = await run_in_threadpool(doorkeeper.session, request.cookies.get(COOKIE, ""))
        page, status, headers = say(request)
        answer = _render_page(page, session, status, request.url)
        answer.headers.update(headers)
        return answer

    return refuse


def _say_missing(request: Request) -> tuple[Page, int, dict[str, str]]:
    return Page("error.html", {"title": "Not found", "message": "There is no such page.", "hint": None}), 404, {}


def _say_wrong_method(request: Request) -> tuple[Page, int, dict[str, str]]:
    allowed = allowed_methods(request)
    said = {"title": "Not this way", "message": f"This address takes {allowed} alone.", "hint": None}
    return Page("error.html", said), 405, {"Allow": allowed}


async def _serve_static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    found = resources.files("recollect.interfaces.studio").joinpath("static", name).read_bytes()
    kept = f"{__version__}" in request.url.query
    headers = {"Cache-Control": "private, max-age=31536000, immutable"} if kept else {}
    return Response(found, media_type=STATIC[name], headers=headers)


def _make_enter(doorkeeper: Doorkeeper) -> Callable[[Request], Any]:
    async def enter(request: Request) -> Response:
        if request.method == "HEAD":
            return Response(status_code=204)  # a link preview must not use the link up
        cookie = doorkeeper.enter_by_link(request.query_params.get("token", ""))
        if cookie is None:
            said = "This link was used, or is too old. Run `recollect studio` again for a new one."
            return _sign_in_page(doorkeeper, said, 403)
        return _start_session(request, cookie)

    return enter


def _make_sign_in(doorkeeper: Doorkeeper) -> Callable[[Request], Any]:
    async def sign_in(request: Request) -> Response:
        if request.method == "GET":
            return _sign_in_page(doorkeeper)
        if not _is_own_origin(request):
            return _sign_in_page(doorkeeper, "This form came from another site.", 403)
        form = await _read_form(request)
        cookie = await run_in_threadpool(doorkeeper.enter_by_key, form.get("key", "").strip()) if form else None
        if cookie is None:
            return _sign_in_page(doorkeeper, "This is no key of this server.", 403)
        return _start_session(request, cookie)

    return sign_in


def _make_sign_out(doorkeeper: Doorkeeper) -> Callable[[Request], Any]:
    async def sign_out(request: Request) -> Response:
        form, session = (
            await _read_form(request),
            await run_in_threadpool(doorkeeper.session, request.cookies.get(COOKIE, "")),
        )
        if session is not None and form is not None and session.carries(form.get("csrf", "")):
            doorkeeper.leave(request.cookies[COOKIE])
        answer = _sign_in_page(doorkeeper, "You are signed out.")
        answer.delete_cookie(COOKIE, path=PREFIX)
        return answer

    return sign_out


def _start_session(request: Request, cookie: str) -> Response:
    answer = RedirectResponse(f"{PREFIX}/", 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, cookie, path=PREFIX, httponly=True, samesite="strict", secure=secure)
    return answer


def _sign_in_page(doorkeeper: Doorkeeper, said: str | None = None, status: int = 200) -> Response:
    return _render_page(Page("sign_in.html", {"said": said, "takes_keys": doorkeeper.takes_keys}), None, status)


def _make_page(doorkeeper: Doorkeeper, handler: Handler, right: Right) -> Callable[[Request], Any]:
    async def look(request: Request) -> Response:
        session = await run_in_threadpool(doorkeeper.session, request.cookies.get(COOKIE, ""))
        if session is None:
            return _sign_in_page(doorkeeper, None, 401)
        visit = Visit(session, request.query_params, _to_texts(request.path_params))
        try:
            if not visit.may(right):
                raise NotAllowed("this page is not for you.", hint=f"It takes the right {right.value!r}.")
            return await run_in_threadpool(lambda: _render_answer(handler(visit), session, request.url))
        except RecollectError as error:
            return _render_error(error, session, request.url)

    return look


def _make_change(doorkeeper: Doorkeeper, handler: Handler) -> Callable[[Request], Any]:
    async def change(request: Request) -> Response:
        session = await run_in_threadpool(doorkeeper.session, request.cookies.get(COOKIE, ""))
        if session is None:
            return _sign_in_page(doorkeeper, None, 401)
        form = await _read_form(request)
        if form is None or not _is_own_origin(request) or not session.carries(form.get("csrf", "")):
            no = NotAllowed(
                "this form is not one of this session's pages.", hint="Go back, load the page again, and repeat it."
            )
            return _render_error(no, session, request.url)
        visit = Visit(session, form, _to_texts(request.path_params))
        try:
            return await run_in_threadpool(lambda: _render_answer(handler(visit), session, request.url))
        except RecollectError as error:
            if "next" not in form:
                return _render_error(error, session, request.url)
            session.tell(str(error), failed=True)
            return RedirectResponse(f"{PREFIX}{deciding.next_page(visit)}", 303)

    return change


def _to_texts(params: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in params.items()}


async def _read_form(request: Request) -> dict[str, str] | None:
    """Return the fields of a form, the last of each name; nothing if it is no form or too long."""
    if not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        return None
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            return None
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=64))
    except ValueError:
        return None


def _is_own_origin(request: Request) -> bool:
    """Return whether a form was sent by a page of ours, if the browser says where it comes from."""
    origin = request.headers.get("origin")
    return origin is None or split_address(origin).netloc == request.headers.get("host")


def _render_answer(answer: Answer, session: Session, url: URL) -> Response:
    if isinstance(answer, Page):
        return _render_page(answer, session, url=url)
    if isinstance(answer, Goto):
        return RedirectResponse(f"{PREFIX}{answer.path}", 303)
    if isinstance(answer, Figures):
        return JSONResponse(answer.values)
    text = json.dumps(answer.values, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    kept = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
    return Response(text, media_type="application/json", headers=kept)


def _render_error(error: RecollectError, session: Session, url: URL) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 409)
    titles = {400: "That makes no sense", 403: "Not allowed", 404: "Not found", 503: "The store did not answer"}
    said = f"{error.field}: {error.message}" if error.field else error.message
    values = {"title": titles.get(status, "That cannot be done"), "message": said, "hint": error.hint}
    return _render_page(Page("error.html", values), session, status, url)


def _render_page(page: Page, session: Session | None, status: int = 200, url: URL | None = None) -> HTMLResponse:
    path = url.path.removeprefix(PREFIX) if url is not None else ""
    template = rendering.environment().get_template(page.template)
    shared = {
        "base": PREFIX,
        "version": __version__,
        "session": session,
        "path": path,
        "here": f"{path}?{url.query}" if url is not None and url.query else path,
        "caller": session.memory.caller if session is not None else None,
        "may": {str(right): session is not None and session.memory.caller.may(right) for right in Right},
        "notices": session.take_notices() if session is not None else [],
    }
    return HTMLResponse(template.render(**shared, **page.values), status)
