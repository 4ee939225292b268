"""Errors as problem details (RFC 9457), and problem details as the errors that they were."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recollect.model import errors
from recollect.model.errors import RecollectError
from recollect.model.faults import fault_of
from recollect.model.rendering import visible

MEDIA_TYPE = "application/problem+json"
ABOUT = "urn:recollect:error:"


class TooLarge(errors.BadInput):
    """A request of more bytes than the server takes."""

    code = "too_large"


def too_large() -> TooLarge:
    """Return the error for a body of too many bytes."""
    return TooLarge("the request is too large.", field="body", hint="Send less at once.")


class NoCounterpart(errors.Refused):
    """Something that another service has and Recollect has not."""

    code = "no_counterpart"


class TimedOut(errors.OutcomeUnknown):
    """The answer took longer than the server waits; the operation may still be done."""

    code = "timed_out"


class Draining(errors.StoreUnavailable):
    """The server is about to end, and takes nothing more."""

    code = "draining"


STATUS: dict[type[RecollectError], int] = {
    TooLarge: 413,
    NoCounterpart: 501,
    errors.BadInput: 400,
    errors.NotFound: 404,
    errors.KeyRefused: 401,
    errors.NotAllowed: 403,
    errors.OutOfDate: 412,
    errors.RetryMismatch: 422,
    errors.TooManyRequests: 429,
    errors.Refused: 409,
    TimedOut: 504,
    errors.StoreBusy: 503,
    errors.StoreUnavailable: 503,
    errors.OutcomeUnknown: 503,
    errors.RecollectError: 500,
}
"""The status of an error is that of the nearest class here that it belongs to."""


class ProblemDetails(BaseModel):
    """What was wrong, in the same words as everywhere: ``code`` is stable, ``field`` and ``hint`` say what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": f"{ABOUT}not_found",
                    "title": "not found",
                    "status": 404,
                    "detail": "there is no memory 'ffffffffffff'.",
                    "code": "not_found",
                    "field": "id",
                    "hint": "Take an id from what a list or a query shows.",
                }
            ]
        }
    )

    type: str = Field(description=f"{ABOUT} and the code")
    title: str
    status: int
    detail: str
    code: str = Field(description="a stable reason code")
    field: str | None = None
    hint: str | None = None


_BODY = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "It was refused: `code` says why.", "content": _BODY},
    "5XX": {"description": "The store could not do it.", "content": _BODY},
}
"""What every endpoint may answer besides its answer."""


def status_of(error: RecollectError) -> int:
    """Return the HTTP status of an error."""
    return status_of_kind(type(error))


def status_of_kind(kind: type[RecollectError]) -> int:
    """Return the HTTP status of a class of errors."""
    return next(STATUS[one] for one in kind.__mro__ if one in STATUS)


def problem_of(error: RecollectError) -> dict[str, Any]:
    """Return an error as problem details."""
    fields = error.to_dict()
    shown = {name: None if value is None else visible(str(value)) for name, value in fields.items()}
    return {
        "type": ABOUT + error.code,
        "title": error.code.replace("_", " "),
        "status": status_of(error),
        "detail": shown["message"],
        "code": error.code,
        "field": shown["field"],
        "hint": shown["hint"],
    }


def headers_of(error: RecollectError) -> dict[str, str]:
    """Return what the headers say of an error besides its body: how to identify oneself, and when to try again."""
    status = status_of(error)
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="recollect"'}
    return {"Retry-After": "1"} if status in (429, 503) else {}


BY_CODE = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RecollectError)
}
BY_CODE |= {kind.code: kind for kind in (TooLarge, NoCounterpart, TimedOut, Draining)}


def error_of(problem: Mapping[str, Any]) -> RecollectError:
    """Return the error that a problem tells of, as the method of :class:`recollect.Recollect` would have raised it."""
    kind = BY_CODE.get(str(problem.get("code")), RecollectError)
    if kind is errors.StoreClosed:
        return errors.StoreUnavailable(str(problem.get("detail")), hint=problem.get("hint"))
    return kind(str(problem.get("detail")), field=problem.get("field"), hint=problem.get("hint"))


def bad_request(error: ValidationError, where: str) -> errors.BadInput:
    """Return the error for a request that its schema refuses, which names the first wrong field, or else where it is."""
    found: list[Any] = list(error.errors(include_url=False, include_input=False))
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    field = ".".join(str(part) for part in first["loc"] if _is_a_name(part)) or where
    if first["type"] == "extra_forbidden":
        return errors.BadInput("there is no such argument.", field=field, hint="/openapi.json lists every argument.")
    if first["type"] == "json_invalid":
        return errors.BadInput("is not JSON.", field="body", hint="Send a JSON document as application/json.")
    message, hint = fault_of(first)
    return errors.BadInput(f"{message}.", field=field, hint=hint)


def _is_a_name(part: Any) -> bool:
    """Return whether a part of an error's place is a field or an index, and not the name of a type that was tried."""
    return isinstance(part, int) or (
        part.isidentifier() and part.islower() and part not in ("str", "int", "float", "bool")
    )
