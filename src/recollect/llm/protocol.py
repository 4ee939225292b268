"""What a language model is: something that answers messages with an object of a given schema, and says what that took."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from recollect.model.errors import RecollectError


class Message(NamedTuple):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Answer(BaseModel):
    """The base of every schema that a model is asked to fill: a field that is not in it, or of another type, is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class Prompt(Generic[A]):
    """What a model is asked.

    ``max_tokens`` is the length of one answer, ``budget_tokens`` what all calls for this prompt may use together: retries, and
    the attempt to repair an answer that does not fit the schema.
    """

    messages: tuple[Message, ...]
    schema: type[A]
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    budget_tokens: int | None = None


class Usage(NamedTuple):
    """What the calls for one prompt took, failed ones included.

    ``estimated``: the server did not say what some call took, so its prompt was counted, and where it may have been answering,
    its longest answer.
    """

    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    estimated: bool = False

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


class Reply(NamedTuple, Generic[A]):
    """A valid answer, what it took, and which model the server says has given it."""

    answer: A
    usage: Usage
    model: str


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str: ...

    def complete(self, prompt: Prompt[A]) -> Reply[A]:
        """Return the model's answer; raise ``ModelFailed`` if there is no valid one."""

    def close(self) -> None:
        """Give up connections."""


class Failure(StrEnum):
    """Why there is no answer."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    BUSY = "busy"
    SERVER_ERROR = "server_error"
    REFUSED = "refused"
    REDIRECTED = "redirected"
    UNREADABLE = "unreadable"
    OVERLONG = "overlong"
    WRONG_MODEL = "wrong_model"
    INVALID = "invalid"
    OVER_BUDGET = "over_budget"


class ModelFailed(RecollectError):
    """There is no valid answer. ``usage`` counts all the same; neither prompt nor answer nor key is in the message."""

    code = "model_failed"

    def __init__(self, failure: Failure, message: str, usage: Usage, *, hint: str | None = None) -> None:
        self.failure = failure
        self.usage = usage
        super().__init__(message, field="model.endpoint", hint=hint)
