"""The same memory over HTTP: :func:`connect` returns a :class:`recollect.Recollect` whose methods ask a server.

The methods are made from the table of operations, and have the arguments, answers and errors of the local methods. Every change
is sent under an idempotency key, and sent again if the connection breaks before the answer is there.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Never
from urllib.parse import quote
from uuid import uuid4

from recollect.model.errors import how_to_install

try:
    import httpx
except ModuleNotFoundError as missing:
    said = f"recollect.connect needs the package httpx, which is not installed. {how_to_install('client')}"
    raise ModuleNotFoundError(said, name=missing.name) from missing

from recollect.engine.context import Engine
from recollect.interfaces.python.memory import Recollect
from recollect.interfaces.python.past import Past
from recollect.interfaces.python.signatures import NOT_SENT, SAY_NULL
from recollect.interfaces.rest.answers import from_json
from recollect.interfaces.rest.operations import OPERATIONS
from recollect.interfaces.rest.problems import error_of
from recollect.model.caller import Caller
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput, NotAllowed, OutcomeUnknown, StoreClosed, StoreUnavailable
from recollect.model.receipt import HistoryEvent

TRIES = 3
FIRST_PAUSE_S = 0.2
PAGE = 1_000
ROWS = {one.name: [row for row in OPERATIONS if row.name == one.name and not row.fixed] for one in OPERATIONS}
"""The rows of each operation. A row with more arguments in its path comes first."""


def connect(url: str, key: str | None = None, *, timeout_s: float = 60.0) -> Recollect:
    """Open the memory that a server has at ``url``, such as ``http://127.0.0.1:8766``, as the caller of your ``key``.

    It has every method of what :func:`recollect.open` returns, except for files and keys on the server's machine.
    """
    if not url.startswith(("http://", "https://")):
        raise BadInput("must begin with http:// or https://.", field="url", hint="A file is opened by recollect.open.")
    key = None if key is None else key.strip()  # a file's last line has an end
    if key is not None and not (key.isascii() and key.isprintable()):
        raise BadInput("is no key of a server.", field="key", hint="`recollect key create` prints one.")
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return RemoteRecollect(httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout_s))


class RemoteRecollect(Recollect):
    """A memory that a server keeps. Made by :func:`connect`; use it as a context manager, or close it."""

    def __init__(self, http: httpx.Client, *, revision: str | None = None, owns: bool = True) -> None:
        self._http, self._revision, self._owns_http = http, revision, owns

    @property
    def engine(self) -> Engine:
        """There is none on this side."""
        raise NotAllowed("the engine is where the store is.", hint="Call the methods.")

    @property
    def caller(self) -> Caller:
        """The server knows whom the key stands for."""
        raise NotAllowed("the server knows whom the key stands for.", hint="`recollect key list` shows it there.")

    def close(self) -> None:
        """Close the connections."""
        if self._owns_http:
            self._http.close()

    def at_revision(self, revision: str) -> Recollect:
        return RemoteRecollect(self._http, revision=revision, owns=False)

    def as_of(self, *, owner: str | None = None, user_id: str | None = None, space: Any = None, **point: Any) -> Past:
        named = [value for value in point.values() if value is not None]
        if len(named) != 1 or not set(point) <= {"tick", "time", "phase"}:
            hint = "as_of(tick=…), as_of(time=…) or as_of(phase=…)."
            raise BadInput("name one of tick, time and phase.", field="tick", hint=hint)
        return RemotePast(self, _to_json_value(named[0]), {"owner": owner or user_id, "space": space})

    def add_many(self, memories: Sequence[Any]) -> tuple[Any, ...]:
        answer = self._ask(
            "POST", "/v1/memories", body=[_to_json_value(dict(one)) for one in memories], is_change=True
        ).json()
        return tuple(from_json("add", one) for one in answer["items"])

    def history(self, id: str | None = None, **more: Any) -> Any:
        if id is None or more:
            raise BadInput("over HTTP it is the history of one memory.", field="id", hint="history(id), or changes().")
        pages, cursor = [], None
        while True:
            given = {"limit": PAGE} | ({"cursor": cursor} if cursor else {})
            page = self._ask("GET", f"/v1/memories/{quote(id, safe='')}/history", query=given).json()
            pages += page["items"]
            if (cursor := page["next_cursor"]) is None:
                return tuple(HistoryEvent(**one) for one in reversed(pages))

    def changes(self, **asked: Any) -> Any:
        answer = self._ask("GET", "/v1/changes", query=_to_query(_check_sendable(asked)), accept="application/json")
        return from_json("changes", answer.json())

    def export(self, **asked: Any) -> Iterator[str]:
        given = _to_query(_check_sendable(asked))
        with self._http.stream("GET", "/v1/export", params=given) as answer:
            if answer.is_error:
                answer.read()
                raise _read_error(answer)
            yield from answer.iter_lines() if asked.get("format", "recollect") == "recollect" else answer.iter_text()

    def import_(self, source: Any, **asked: Any) -> Any:
        lines: Iterable[str] = (
            Path(source).read_text("utf-8").splitlines() if isinstance(source, str | Path) else source
        )
        body = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines).encode()
        answer = self._ask("POST", "/v1/import", query=_to_query(_check_sendable(asked)), content=body)
        return from_json("import_", answer.json())

    def operate(self, name: str, given: Mapping[str, Any], idempotency_key: str | None = None) -> Any:
        """Ask the server for the operation of this name, with these arguments."""
        rows, sent = ROWS[name], _check_sendable(given)
        row = next((one for one in rows if all(sent.get(part) is not None for part in one.in_path)), rows[-1])
        path = row.path.format(**{part: quote(str(sent.pop(part)), safe="") for part in row.in_path})
        how: dict[str, Any] = {"body": sent} if row.takes_body else {"query": _to_query(sent)}
        answer = self._ask(row.method, path, **how, is_change=row.changes, idempotency_key=idempotency_key)
        return from_json(name, answer.json())

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | None = None,
        is_change: bool = False,
        idempotency_key: str | None = None,
        accept: str = "*/*",
    ) -> httpx.Response:
        """Return the server's answer. A request whose answer does not come is sent again, under the same key if it changes
        something."""
        headers = {"Accept": accept, **({"Idempotency-Key": idempotency_key or uuid4().hex} if is_change else {})}
        if self._revision is not None and is_change:
            headers["If-Match"] = f'"{self._revision}"'
        if content is None and body is not None:
            content, headers["Content-Type"] = json.dumps(body, allow_nan=False).encode(), "application/json"
        for attempt in range(TRIES):
            try:
                answer = self._http.request(method, path, params=query, content=content, headers=headers)
            except httpx.TransportError as error:
                if attempt == TRIES - 1:
                    raise self._describe_lost(error, is_change) from error
            except RuntimeError:
                raise StoreClosed(str(self._http.base_url)) from None
            else:
                if answer.status_code != 503 or attempt == TRIES - 1:
                    break
            time.sleep(FIRST_PAUSE_S * 2**attempt)
        if not answer.is_success or "json" not in answer.headers.get("content-type", ""):
            raise _read_error(answer)
        return answer

    def _describe_lost(self, error: httpx.TransportError, is_change: bool) -> OutcomeUnknown | StoreUnavailable:
        where = str(self._http.base_url)
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            hint = "Is `recollect serve` running there, and is the address right, with http or https and the port?"
            return StoreUnavailable(f"no server answers there ({error}). Nothing was sent.", field=where, hint=hint)
        if is_change:
            hint = "Look, or repeat it under the same idempotency key."
            return OutcomeUnknown("the connection was lost before the answer came.", field=where, hint=hint)
        why = "it took longer than timeout_s" if isinstance(error, httpx.TimeoutException) else str(error)
        hint = "Try again, or connect with a longer timeout_s."
        return StoreUnavailable(f"no answer came ({why}).", field=where, hint=hint)


class RemotePast(Past):
    """What a server's memory was at one point."""

    def __init__(self, memory: RemoteRecollect, point: int | str, where: Mapping[str, Any]) -> None:
        self._memory, self._as_of = memory, {"as_of": point}
        self._where = {name: value for name, value in where.items() if value is not None}

    def get(self, id: str) -> Any:
        return self._memory.operate("get", {"id": id} | self._as_of)

    def list(self, **filters: Any) -> Any:
        return self._memory.operate("list", self._where | filters | self._as_of)

    def query(self, text: str, **asked: Any) -> Any:
        return self._memory.operate("query", {"text": text} | self._where | asked | self._as_of)


def _read_error(answer: httpx.Response) -> Exception:
    try:
        return error_of(answer.json())
    except (ValueError, AttributeError):
        led = f" and leads to {answer.headers['location']}" if answer.is_redirect else ""
        message = f"what answers there is no Recollect server: it says {answer.status_code}{led}."
        hint = "Give connect the address that `recollect serve` prints, without a path."
        return StoreUnavailable(message, field=str(answer.url), hint=hint)


def _to_json_value(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, set | frozenset):
        return sorted(_to_json_value(one) for one in value)
    if isinstance(value, list | tuple):
        return [_to_json_value(one) for one in value]
    if isinstance(value, Mapping):
        return {name: _to_json_value(one) for name, one in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    return json.loads(canonical_json(value))


def _check_sendable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in arguments.items():
        if name in NOT_SENT and value is not None:
            raise BadInput(
                "cannot be sent to a server.", field=name, hint="Leave it out, or call it where the store is."
            )
    return {name: _to_json_value(value) for name, value in arguments.items() if name not in NOT_SENT}


def _to_query(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments for a query string. ``None`` is left out, or written as ``null`` where that makes a difference."""
    values = {name: "null" if value is None and name in SAY_NULL else value for name, value in arguments.items()}
    return {name: value for name, value in values.items() if value is not None}


def _make_method(name: str) -> Callable[..., Any]:
    """Return the method that asks the server for an operation."""
    local = getattr(Recollect, name)
    signature = inspect.signature(local)
    unnamed = {one.name for one in signature.parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD}

    def ask(self: RemoteRecollect, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs).arguments
        del bound["self"]
        key = bound.pop("idempotency_key", None)
        fields = {field: value for one in unnamed for field, value in bound.pop(one, {}).items()}
        given = {field: value for field, value in bound.items() if value != signature.parameters[field].default}
        return self.operate(name, {**given, **fields}, key)

    ask.__name__, ask.__doc__ = name, local.__doc__
    ask.__signature__ = signature  # type: ignore[attr-defined]
    return ask


def _make_refusal(name: str) -> Callable[..., Never]:
    def refuse(self: RemoteRecollect, *args: Any, **kwargs: Any) -> Never:
        raise BadInput("cannot be done over HTTP.", field=name, hint="Do it where the store is, with recollect.open.")

    refuse.__name__ = name
    return refuse


def _add_methods() -> None:
    """Give the class a method for each of the memory's methods that it does not have by hand."""
    by_hand = {*vars(RemoteRecollect), "list_all"}
    for name, _ in inspect.getmembers(Recollect, inspect.isfunction):
        if name in by_hand or name.startswith("_"):
            continue
        setattr(RemoteRecollect, name, _make_method(name) if name in ROWS else _make_refusal(name))


_add_methods()
