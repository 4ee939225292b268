"""Endpoints, made from the table of operations: parse a request, call the method of its name, render the answer."""

import inspect
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from fastapi import Body, FastAPI, Header, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter, ValidationError

from recollect.interfaces.python import Recollect
from recollect.interfaces.python.arguments import NewMemory
from recollect.interfaces.python.past import Past, point_named
from recollect.interfaces.python.signatures import Argument, arguments_of, as_json_type, has_argument, model_of
from recollect.interfaces.rest.access import IDEMPOTENCY_KEY, Answer, Server
from recollect.interfaces.rest.answers import as_json, etag_of, schema_type
from recollect.interfaces.rest.operations import OPERATIONS, Operation
from recollect.interfaces.rest.problems import PROBLEMS, bad_request
from recollect.model.errors import BadInput
from recollect.model.receipt import Recall, Receipt
from recollect.model.record import Memory

ID = Path(description="an id, its first 12 digits, an alias, a content hash or a CID", examples=["0123456789ab"])
KEY_HEADER = Annotated[
    str | None,
    Header(alias=IDEMPOTENCY_KEY, description="a text of your own; a retry with the same one gets the same answer"),
]
IF_MATCH = "If-Match"
MATCH_HEADER = Annotated[str | None, Header(alias=IF_MATCH, description="the ETag that the memory must still have")]
AS_OF = Argument("as_of", int | str | None, None)


class Call(NamedTuple):
    """A method of the memory, its arguments, and how its answer is rendered if not as it is."""

    name: str
    arguments: dict[str, Any]
    revision: str | None = None
    shown_as: str | None = None


def add_to(app: FastAPI, server: Server) -> None:
    """Add an endpoint for each operation."""
    for operation in OPERATIONS:
        summary, description = describe_method(operation.name)
        add_route(
            app,
            Endpoint(server, operation).answer,
            operation.path,
            methods=[operation.method],
            parameters=_parameters(operation),
            operation_id=operation.id,
            summary=summary,
            description=description,
            tags=[operation.path.split("/")[2]],
            responses={200: {"model": _answer_type(operation)}, **PROBLEMS},
        )


def describe_method(name: str) -> tuple[str, str]:
    """Return the first line of a method's docstring and the rest of it as Markdown, without its example.

    >>> describe_method("restore")
    ('Bring back a memory that was archived, forgotten, expired or redundant.', '')
    """
    text = (inspect.getdoc(getattr(Recollect, name)) or "").partition("\n\n>>>")[0]
    summary, _, description = re.sub(r"(?::\w+:)?(``?)([^`]+)\1", r"`\2`", text).partition("\n")
    return summary, description.strip()


Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def add_route(app: FastAPI, handler: Handler, path: str, *, parameters: list[inspect.Parameter], **about: Any) -> None:
    """Add an endpoint whose handler parses its requests itself; ``parameters`` describe them in the OpenAPI document.

    The framework's own parser takes longer than the rest of the server does.
    """

    def described() -> None:  # stands for the handler where the framework looks for parameters
        pass

    described.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]

    class Route(APIRoute):
        def get_route_handler(self) -> Handler:
            return handler

    app.router.add_api_route(path, described, route_class_override=Route, response_model=None, **about)


def parameter(name: str, kind: Any, default: Any = ...) -> inspect.Parameter:
    """Return a parameter of an endpoint, as the framework wants it."""
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=given)


def _arguments(operation: Operation) -> tuple[Argument, ...]:
    """Return the arguments that come as query or as body."""
    named = {*dict(operation.fixed), *operation.in_path}
    own = tuple(one for one in arguments_of(operation.name) if one.name not in named)
    return (*own, AS_OF) if operation.past else own


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    arguments = _arguments(operation)
    found = [parameter(name, Annotated[str, ID]) for name in operation.in_path]
    if arguments and operation.takes_body:
        is_needed = any(one.required for one in arguments)
        kind = _body_type(operation, arguments)
        found.append(
            parameter("asked", Annotated[kind if is_needed else kind | None, Body()], ... if is_needed else None)
        )
    elif arguments:
        found.append(parameter("asked", Annotated[_query_model(operation, arguments), Query()]))
    if operation.changes:
        found.append(parameter("idempotency_key", KEY_HEADER, None))
    if operation.etag and operation.changes:
        found.append(parameter("if_match", MATCH_HEADER, None))
    return found


def _query_model(operation: Operation, arguments: tuple[Argument, ...]) -> type[BaseModel]:
    return model_of(operation.request_title, arguments, strict=False)


def _body_type(operation: Operation, arguments: tuple[Argument, ...]) -> Any:
    if operation.name == "query":
        words = (Argument("query", str | None, None), Argument("return", Literal["bullets", "full"] | None, None))
        rest = [Argument(one.name, one.type, None) if one.name == "text" else one for one in arguments]
        arguments = (*rest, *words)
    made = model_of(operation.request_title, arguments)
    return made | list[as_json_type(NewMemory)] if operation.name == "add" else made  # type: ignore[misc]


def _answer_type(operation: Operation) -> Any:
    if operation.name == "add":
        return Receipt | _Receipts
    return schema_type(operation.name) if operation.name != "query" else Recall | _Items


class _Receipts(BaseModel):
    """A receipt for each of many memories, in their order."""

    items: list[Receipt]


class _Items(BaseModel):
    """A recall in bullets, or with whole records."""

    header: str
    items: list[dict[str, Any]]


class Endpoint:
    """Answers the requests for one operation."""

    def __init__(self, server: Server, operation: Operation) -> None:
        self._server, self._operation = server, operation
        arguments = _arguments(operation)
        self._is_needed = any(one.required for one in arguments)
        self._body = TypeAdapter(_body_type(operation, arguments)) if arguments and operation.takes_body else None
        self._query = None
        if arguments and not operation.takes_body:
            self._query = QueryReader(_query_model(operation, arguments))
        self._keeps_key = has_argument(operation.name, "idempotency_key")

    async def answer(self, request: Request) -> Response:
        """Parse a request, and answer it."""
        body = await request.body() if self._operation.takes_body else b""
        call = self._parse_call(request, body)
        keeps_key = self._keeps_key and call.name == self._operation.name
        key = request.headers.get(IDEMPOTENCY_KEY) if self._operation.changes else None
        if keeps_key and key is not None:
            call.arguments["idempotency_key"] = key
        return await self._server.answer(
            request,
            lambda memory: self._work(memory, call),
            session=call.arguments.get("session"),
            reads=not self._operation.changes,
            changes=None if keeps_key or not self._operation.changes else body,
        )

    def _parse_call(self, request: Request, body: bytes) -> Call:
        """Return the call that a request asks for."""
        operation = self._operation
        asked = self._parse_arguments(request, body)
        if isinstance(asked, list):
            return Call("add_many", {"memories": [one.model_dump(exclude_unset=True) for one in asked]})
        arguments = {name: request.path_params[name] for name in operation.in_path} | dict(operation.fixed)
        if asked is not None:
            arguments |= without_null(asked.model_dump(exclude_unset=True))
        tag = request.headers.get(IF_MATCH) if operation.etag and operation.changes else None
        call = Call(operation.name, arguments, tag and tag.removeprefix("W/").strip('"'))
        return _use_method_names(call) if operation.name == "query" else call

    def _parse_arguments(self, request: Request, body: bytes) -> Any:
        if self._query is not None:
            return self._query.read(request)
        if self._body is None or not (body or self._is_needed):
            return None
        kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if kind != "application/json" and not kind.endswith("+json"):
            raise BadInput("is not JSON.", field="body", hint="Send a JSON document as application/json.")
        if not self._is_needed and body.strip() == b"null":
            return None
        try:
            return self._body.validate_json(body)
        except ValidationError as error:
            raise bad_request(error, "body") from None

    def _work(self, memory: Recollect, call: Call) -> Answer:
        """Call the method and render its answer. It blocks: it runs in a thread."""
        arguments, caller = call.arguments, memory.caller
        if call.revision is not None and call.revision != "*":
            memory = memory.at_revision(call.revision)
        if caller.session and "session" in arguments:
            arguments = {**arguments, "session": caller.session}
        answer = getattr(_at_point(memory, arguments), call.name)(**arguments)
        etag = etag_of(answer) if isinstance(answer, Memory) else None
        if isinstance(answer, Recall) and call.shown_as is not None:
            answer = answer.in_full() if call.shown_as == "full" else answer.in_bullets()
        return Answer(as_json(answer), etag)


def _at_point(memory: Recollect, arguments: dict[str, Any]) -> Recollect | Past:
    """Return the memory, or what it was at the point that ``as_of`` names, which is taken from the arguments."""
    value = arguments.pop("as_of", None)
    if value is None:
        return memory
    space = arguments.get("space")
    where: dict[str, Any] = {"owner": arguments.get("owner"), "space": space if isinstance(space, str) else None}
    return memory.as_of(**point_named(value), **where)


def _use_method_names(call: Call) -> Call:
    """Return a query under the names of the method: a request may say ``query`` for ``text`` and ``return`` for ``form``."""
    arguments = dict(call.arguments)
    text, shown_as = arguments.pop("query", None), arguments.pop("return", None)
    if (text is None) == (arguments.get("text") is None):
        raise BadInput("give either text or query.", field="text", hint="They are two names for one thing.")
    if text is not None:
        arguments["text"] = text
    if shown_as is not None:
        arguments.setdefault("form", shown_as)
    return call._replace(arguments=arguments, shown_as=shown_as)


class QueryReader:
    """Reads the query string of a request as a model; a list is the same name again."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        kinds = {name: field.annotation for name, field in model.model_fields.items()}
        self._lists = {n for n, kind in kinds.items() if any(get_origin(k) is list for k in (kind, *get_args(kind)))}

    def read(self, request: Request) -> BaseModel:
        given: dict[str, Any] = {}
        for name, value in request.query_params.multi_items():
            given[name] = [*given.get(name, ()), value] if name in self._lists else value
        try:
            return self._model.model_validate(given)
        except ValidationError as error:
            raise bad_request(error, "query") from None


def without_null(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a request; ``null`` is how a query string says that there is no value, such as no status."""
    return {name: None if value == ["null"] else value for name, value in values.items()}
