"""Bound what a request may send: the bytes of its body."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from recollect.interfaces.rest.access import Settings
from recollect.interfaces.rest.problems import MEDIA_TYPE, TooLarge, problem_of

IMPORT_PATH = "/v1/import"


class Bounded:
    """Refuse a body that is larger than the settings grant, whether it says so beforehand or not."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        settings = self._settings
        most = settings.max_import_bytes if scope["path"] == IMPORT_PATH else settings.max_body_bytes
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > most:
            await JSONResponse(problem_of(too_large()), 413, {"Connection": "close"}, MEDIA_TYPE)(scope, receive, send)
            return
        taken = 0

        async def bounded_receive() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413)  # the one sort of error that the framework's reader of bodies lets through
            return message

        await self._app(scope, bounded_receive, send)


def too_large() -> TooLarge:
    """Return the error for a body of too many bytes."""
    return TooLarge("the request is too large.", field="body", hint="Send less at once.")
