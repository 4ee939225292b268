"""A language model behind OpenAI's chat protocol: OpenAI itself, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others.

Memories leave the process, so this is never a default. They are sent to the configured address and nowhere else: redirects are
not followed, proxies and passwords of the environment are not used. The key is read from an environment variable and is in no
message: errors say what happened, and never repeat what the server wrote.
"""

import json
import os
import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import httpx
from pydantic import BaseModel, BeforeValidator, Field, SecretStr, ValidationError

from recollect.embed.static import count_tokens
from recollect.llm.protocol import A, Failure, Message, ModelFailed, Prompt, Reply, Usage
from recollect.model.errors import BadPolicy
from recollect.model.policy_model import LanguageModel

MAX_ANSWER_BYTES = 1024 * 1024
"""More than any answer that was asked for here; a server that sends more is cut off."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
MOST_TOKENS = 10**9
"""More than any call takes; an account beyond it, or of no prompt at all, is none."""
QUOTED_CHARACTERS = 4_000
"""How much of an answer that does not fit is shown to the model again."""
TOKENS_PER_MESSAGE = 8
"""What servers add to each message: its role, and marks around it."""
FORMATS = ("json_schema", "json_object", "fenced")
"""How the schema is asked for. A server that refuses one form is asked in the next."""
NOT_JSON = "the answer: json_invalid"
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)

_HINTS = {
    Failure.UNREACHABLE: "Start the server, or correct model.endpoint.",
    Failure.TIMEOUT: "Raise model.timeout_s, or choose a faster model.",
    Failure.BUSY: "Try again later, or ask the provider for a higher limit.",
    Failure.SERVER_ERROR: "Try again later; the server's log says what failed.",
    Failure.REFUSED: "Check model.name, and the key in the variable that model.key_variable names.",
    Failure.REDIRECTED: "Set model.endpoint to the final address.",
    Failure.UNREADABLE: "Check that model.endpoint is that of a chat protocol, with its version, such as /v1.",
    Failure.OVERLONG: "Choose a model that keeps to max_tokens.",
    Failure.WRONG_MODEL: "Set model.name to the name that the server has for it.",
    Failure.INVALID: "Choose a model that follows a JSON schema.",
    Failure.OVER_BUDGET: "Raise model.max_call_tokens, or wait until the next day.",
}


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Counted(BaseModel):
    prompt_tokens: int = Field(ge=1, le=MOST_TOKENS)
    completion_tokens: int = Field(0, ge=0, le=MOST_TOKENS)


def _read_account(usage: Any) -> _Counted | None:
    """Return what a server says a call took, or None if nobody can believe it."""
    try:
        return _Counted.model_validate(usage)
    except ValidationError:
        return None


class _Completion(BaseModel):
    """The fields of a server's answer that are read."""

    model: str = ""
    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[_Counted | None, BeforeValidator(_read_account)] = None


class _Response(NamedTuple):
    """What one call came to: a status and a body, or why there is none."""

    failure: Failure | None = None
    status: int = 0
    body: bytes = b""
    wait_s: float = 0.0


class _Tally:
    """Counts what the calls for one prompt take, and stops them at the budget."""

    def __init__(self, asked: str, budget_tokens: int | None) -> None:
        self.usage = Usage()
        self._asked, self._budget = asked, budget_tokens

    def begin(self, prompt_tokens: int, answer_tokens: int) -> None:
        wanted = self.usage.tokens + prompt_tokens + answer_tokens
        if self._budget is not None and wanted > self._budget:
            raise self.failed(Failure.OVER_BUDGET, f"would use {wanted} tokens, and may use {self._budget}")

    def add(self, prompt_tokens: int, answer_tokens: int, *, estimated: bool) -> None:
        one = self.usage
        self.usage = Usage(
            one.calls + 1,
            one.prompt_tokens + prompt_tokens,
            one.answer_tokens + answer_tokens,
            one.estimated or estimated,
        )

    def failed(self, failure: Failure, what: str) -> ModelFailed:
        calls = f"{self.usage.calls} {'call' if self.usage.calls == 1 else 'calls'}"
        return ModelFailed(failure, f"{self._asked} {what} ({calls} made).", self.usage, hint=_HINTS[failure])


class ChatEndpoint:
    """Asks one server. A call that the server has no time for is repeated, with longer and longer waits; any other is not.

    >>> model = ChatEndpoint(LanguageModel(endpoint="http://localhost:11434/v1", name="llama3.2"))
    >>> model.name
    'llama3.2'
    >>> model.close()
    """

    def __init__(
        self,
        settings: LanguageModel,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = settings.name
        self._settings = settings
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._address = settings.endpoint.rstrip("/") + "/chat/completions"
        self._format = 0
        self._client = httpx.Client(
            auth=_Bearer(_read_key(settings)),
            timeout=settings.timeout_s,
            follow_redirects=False,
            trust_env=False,
            verify=httpx.create_ssl_context() if settings.endpoint.startswith("https") else True,
        )

    def close(self) -> None:
        self._client.close()

    def complete(self, prompt: Prompt[A]) -> Reply[A]:
        """Ask, and if the answer does not fit the schema, show the model once what is wrong and ask again."""
        tally = _Tally(f"the model {self.name} at {self._settings.endpoint}", prompt.budget_tokens)
        messages, problem = prompt.messages, ""
        for _ in range(2):
            completion = self._ask(prompt, messages, tally)
            text = completion.choices[0].message.content or ""
            answer, problem = _read_answer(text, prompt.schema)
            if answer is not None:
                return Reply(answer, tally.usage, completion.model or self.name)
            if completion.choices[0].finish_reason == "length":
                problem = f"the answer was cut off after {prompt.max_tokens} tokens; answer more briefly"
            elif problem == NOT_JSON and self._format == 0:
                self._format = 1  # the server ignores the schema that it was sent, so the model has to be told it
            messages = (*prompt.messages, *_ask_for_repair(text, problem))
        raise tally.failed(Failure.INVALID, f"gave no answer that fits the schema: {problem}")

    def _ask(self, prompt: Prompt[A], messages: Sequence[Message], tally: _Tally) -> _Completion:
        """Return what the server completes, whatever it says."""
        retries = 0
        while True:
            body = self._body(prompt, messages)
            prompt_tokens = _count_tokens(body["messages"])
            tally.begin(prompt_tokens, prompt.max_tokens)
            response = self._post(body)
            completion = _parse_completion(response)
            if completion is not None and completion.usage is not None:
                tally.add(completion.usage.prompt_tokens, completion.usage.completion_tokens, estimated=False)
            else:
                tally.add(*_estimate_usage(response, prompt_tokens, prompt.max_tokens), estimated=True)
            if completion is not None:
                return self._check_model(completion, tally)
            if response.status in (400, 422) and self._format < len(FORMATS) - 1:
                self._format += 1
            elif response.failure in (Failure.BUSY, Failure.SERVER_ERROR) and retries < self._settings.max_retries:
                self._sleep(self._wait(response, retries))
                retries += 1
            else:
                raise _describe_failure(response, tally)

    def _check_model(self, completion: _Completion, tally: _Tally) -> _Completion:
        """Refuse the answer of another model, dated and provider's names aside: "gpt-4o-mini-2024-07-18" is "gpt-4o-mini"."""
        same = rf"(?:.*/)?{re.escape(self.name.lower())}(?:[-@:](?:\d[\d.-]*|latest))?"
        if completion.model and not re.fullmatch(same, completion.model.lower()):
            raise tally.failed(Failure.WRONG_MODEL, "is not the one that answered")
        return completion

    def _body(self, prompt: Prompt[A], messages: Sequence[Message]) -> dict[str, Any]:
        format, schema = FORMATS[self._format], prompt.schema.model_json_schema()
        asked = [message._asdict() for message in messages]
        extra: dict[str, Any] = {}
        if format == "json_schema":
            named = {"name": prompt.schema.__name__, "strict": True, "schema": schema}
            extra["response_format"] = {"type": "json_schema", "json_schema": named}
        else:
            block = "" if format == "json_object" else " in a block that begins with ```json and ends with ```"
            rule = (
                f"Answer with one JSON object{block}, and nothing else. It fits this JSON schema:\n{json.dumps(schema)}"
            )
            asked.append(Message("system", rule)._asdict())
            extra |= {"response_format": {"type": "json_object"}} if format == "json_object" else {}
        extra |= {} if prompt.seed is None else {"seed": prompt.seed}
        limits = {"max_tokens": prompt.max_tokens, "temperature": prompt.temperature, "stream": False}
        return {"model": self.name, "messages": asked, **limits, **extra}

    def _post(self, body: Mapping[str, Any]) -> _Response:
        """Return what the server sends. Errors of the library hold the request, and with it the key: none is passed on."""
        ends_at = self._clock() + self._settings.timeout_s
        received = bytearray()
        try:
            with self._client.stream(
                "POST", self._address, json=body, headers={"Accept-Encoding": "identity"}
            ) as response:
                for part in response.iter_raw():
                    received += part
                    if len(received) > MAX_ANSWER_BYTES:
                        return _Response(Failure.OVERLONG, response.status_code)
                    if self._clock() > ends_at:
                        return _Response(Failure.TIMEOUT, response.status_code)
                waits = _parse_seconds(response.headers.get("Retry-After", ""))
                return _Response(_classify_status(response.status_code), response.status_code, bytes(received), waits)
        except httpx.TimeoutException:
            return _Response(Failure.TIMEOUT)
        except httpx.ConnectError:
            return _Response(Failure.UNREACHABLE)
        except httpx.HTTPError:
            return _Response(Failure.UNREADABLE)

    def _wait(self, response: _Response, retries: int) -> float:
        """Return how long to wait: as the server asks, else twice as long each time, so that many workers do not meet again."""
        own = FIRST_WAIT_S * float(2**retries) * (0.5 + self._jitter() / 2)
        return min(LONGEST_WAIT_S, max(own, response.wait_s))


class _Bearer(httpx.Auth):
    """Puts the key into each request, and shows it nowhere."""

    def __init__(self, key: SecretStr) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Any:
        if self._key.get_secret_value():
            request.headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        yield request


def _read_key(settings: LanguageModel) -> SecretStr:
    if not settings.key_variable:
        return SecretStr("")
    key, field = os.environ.get(settings.key_variable, "").strip(), "model.key_variable"
    if not key:
        raise BadPolicy(f"names {settings.key_variable}, which is not set.", field=field, hint="Export it first.")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadPolicy(f"names {settings.key_variable}, which holds no key.", field=field, hint="Export it again.")
    return SecretStr(key)


def _count_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    return sum(count_tokens(one["content"]) + TOKENS_PER_MESSAGE for one in messages)


def _classify_status(status: int) -> Failure | None:
    if status == 200:
        return None
    if 300 <= status < 400:
        return Failure.REDIRECTED
    if status == 429:
        return Failure.BUSY
    return Failure.SERVER_ERROR if status >= 500 else Failure.REFUSED


def _parse_completion(response: _Response) -> _Completion | None:
    if response.failure is not None:
        return None
    try:
        return _Completion.model_validate_json(response.body)
    except ValidationError:
        return None


def _estimate_usage(response: _Response, prompt_tokens: int, max_tokens: int) -> tuple[int, int]:
    """Return what a call counts for that the server gives no account of: what it may have read and written."""
    if response.failure is Failure.UNREACHABLE:
        return 0, 0
    turned_away = response.failure in (Failure.BUSY, Failure.REFUSED, Failure.REDIRECTED)
    return prompt_tokens, 0 if turned_away else max_tokens


def _describe_failure(response: _Response, tally: _Tally) -> ModelFailed:
    if response.failure is None:
        return tally.failed(Failure.UNREADABLE, "gave an answer that is no chat completion")
    what = {
        Failure.UNREACHABLE: "cannot be reached",
        Failure.TIMEOUT: "did not answer in time",
        Failure.OVERLONG: f"answered with more than {MAX_ANSWER_BYTES} bytes",
        Failure.UNREADABLE: "broke the connection off",
    }.get(response.failure, f"answered with HTTP status {response.status}")
    return tally.failed(response.failure, what)


def _parse_seconds(header: str) -> float:
    return float(header) if re.fullmatch(r"\d{1,6}(?:\.\d{1,3})?", header) else 0.0


def _read_answer(text: str, schema: type[A]) -> tuple[A | None, str]:
    """Return the object in an answer, or what is wrong with it, without repeating its words."""
    fenced = _FENCED.findall(text)
    problem = ""
    for candidate in (*reversed(fenced), text.strip()):
        try:
            return schema.model_validate_json(candidate), ""
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            known = first["loc"][:-1] if first["type"] == "extra_forbidden" else first["loc"]
            problem = problem or f"{'.'.join(map(str, known)) or 'the answer'}: {first['type']}"
    return None, problem


def _ask_for_repair(text: str, problem: str) -> tuple[Message, Message]:
    request = (
        f"That does not fit the schema ({problem}). Answer again, with one JSON object that fits it and nothing else."
    )
    return Message("assistant", text[:QUOTED_CHARACTERS] or "(nothing)"), Message("user", request)
