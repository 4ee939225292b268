"""Emit one OpenTelemetry span for each public operation, if the application has the library.

A span names the operation, its outcome and its reasons in stable codes and counts. It never holds content, names or
ids, because spans leave the machine. Without the library nothing is wrapped.
"""

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from recollect.model.errors import RecollectError
from recollect.model.receipt import ErasureReceipt, Page, Recall, Receipt, UpkeepReport, Verification
from recollect.model.record import Memory
from recollect.model.vocabulary import Namespace, Space

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from recollect.engine.ledger.documents import RecordedErasure
    from recollect.engine.lifecycle.consolidation import ConsolidationReport
    from recollect.engine.transfer.importing import ImportReport

try:
    from opentelemetry import trace
except ImportError:
    present = False
else:
    present = True

P = ParamSpec("P")
T = TypeVar("T")
C = TypeVar("C", bound=type)
Value = str | bool | int | Sequence[str]
Attributes = Mapping[str, Value]

PREFIX = "recollect."
_ENUMERATED: dict[str, frozenset[str]] = {"namespace": frozenset(Namespace), "space": frozenset(Space)}
"""Arguments that a span may show, with their allowed values: anything else could be a person's name."""


@contextmanager
def span(name: str, **attributes: Value) -> "Iterator[Span]":
    """Open a span around a block; needs the library. An error is recorded by its code: its message may name someone."""
    tracer = trace.get_tracer("recollect")
    with tracer.start_as_current_span(
        PREFIX + name, attributes=_prefix_names(attributes), record_exception=False, set_status_on_exception=False
    ) as live:
        try:
            yield live
        except BaseException as error:
            code = error.code if isinstance(error, RecollectError) else type(error).__name__
            live.set_attribute("error.type", code)
            live.set_status(trace.Status(trace.StatusCode.ERROR, code))
            raise


def trace_method(method: Callable[P, T]) -> Callable[P, T]:
    """Wrap a method in a span named after it and described by its answer; return it unchanged without the library."""
    if not present:
        return method
    op = method.__name__.rstrip("_")

    @functools.wraps(method)
    def spanned(*args: P.args, **kwargs: P.kwargs) -> T:
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return method(*args, **kwargs)  # the application has the library but no tracer provider
        with span(op, op=op, **_describe_arguments(kwargs)) as live:
            answer = method(*args, **kwargs)
            if live.is_recording():
                live.set_attributes(_prefix_names(describe_answer(answer)))
            return answer

    return spanned


def traced(of: C) -> C:
    """Wrap every public method of a class with :func:`trace_method`, except generators: their work follows the call."""
    for name, method in [*vars(of).items()]:
        if inspect.isfunction(method) and not name.startswith("_") and not inspect.isgeneratorfunction(method):
            setattr(of, name, trace_method(method))
    return of


def _prefix_names(attributes: Attributes) -> dict[str, Value]:
    return {PREFIX + name: value for name, value in attributes.items()}


def _describe_arguments(arguments: Mapping[str, Any]) -> dict[str, Value]:
    given = {name: arguments.get(name) for name in _ENUMERATED}
    return {name: str(value) for name, value in given.items() if isinstance(value, str) and value in _ENUMERATED[name]}


@functools.singledispatch
def describe_answer(answer: object) -> Attributes:
    """Return the codes and counts that describe an answer."""
    describe = _BY_NAME.get(type(answer).__name__)
    return describe(answer) if describe is not None else {}


@describe_answer.register
def _(answer: Receipt) -> Attributes:
    about = describe_answer(answer.memory) if answer.memory is not None else {}
    return {**about, "outcome": str(answer.outcome), "reasons": answer.reasons, "replayed": answer.replayed}


@describe_answer.register
def _(answer: Memory) -> Attributes:
    return {"namespace": str(answer.namespace), "space": str(answer.space), "outcome": str(answer.status)}


@describe_answer.register(Page)
@describe_answer.register(Recall)
def _(answer: Page[Any] | Recall) -> Attributes:
    return {"count": len(answer.items)}


@describe_answer.register(list)
@describe_answer.register(tuple)
def _(answer: Sequence[object]) -> Attributes:
    if type(answer).__name__ in _BY_NAME:  # a named tuple
        return _BY_NAME[type(answer).__name__](answer)
    outcomes = Counter(str(item.outcome) for item in answer if isinstance(item, Receipt))
    return {"count": len(answer), **{f"count.{outcome}": count for outcome, count in sorted(outcomes.items())}}


@describe_answer.register
def _(answer: UpkeepReport) -> Attributes:
    return {f"count.{name}": len(getattr(answer, name)) for name in ("expired", "forgotten", "purged")}


@describe_answer.register
def _(answer: ErasureReceipt) -> Attributes:
    return {"count": len(answer.removed), "count.streams": answer.streams}


def _describe_erasure(answer: "RecordedErasure") -> Attributes:
    return describe_answer(answer.receipt)


def _consolidation(answer: "ConsolidationReport") -> Attributes:
    return {"count": len(answer.steps), "outcome": "applied" if answer.applied else "proposed"}


def _import(answer: "ImportReport") -> Attributes:
    return {"count": answer.read, **{f"count.{outcome}": count for outcome, count in answer.outcomes.items()}}


@describe_answer.register
def _(answer: Verification) -> Attributes:
    return {"count": answer.entries, "outcome": "ok" if answer.ok else "broken"}


_BY_NAME: dict[str, Callable[[Any], Attributes]] = {
    "RecordedErasure": _describe_erasure,
    "ConsolidationReport": _consolidation,
    "ImportReport": _import,
}
"""Answers whose modules most programs never load, by class name."""
