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
from recollect.model.receipt import Receipt
from recollect.model.vocabulary import Namespace, Space

if TYPE_CHECKING:
    from opentelemetry.trace import Span

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


def describe_answer(answer: object) -> Attributes:
    """Return the codes and counts that describe an answer."""
    found = (_DESCRIBE.get(one.__name__) for one in type(answer).__mro__)
    describe = next(filter(None, found), None)
    return describe(answer) if describe is not None else {}


def _describe_receipt(answer: Receipt) -> Attributes:
    about = describe_answer(answer.memory) if answer.memory is not None else {}
    return {**about, "outcome": str(answer.outcome), "reasons": answer.reasons, "replayed": answer.replayed}


def _describe_several(answer: Sequence[object]) -> Attributes:
    outcomes = Counter(str(item.outcome) for item in answer if isinstance(item, Receipt))
    return {"count": len(answer), **{f"count.{outcome}": count for outcome, count in sorted(outcomes.items())}}


def _count_items(answer: Any) -> Attributes:
    return {"count": len(answer.items)}


_DESCRIBE: dict[str, Callable[[Any], Attributes]] = {
    "Receipt": _describe_receipt,
    "Memory": lambda one: {"namespace": str(one.namespace), "space": str(one.space), "outcome": str(one.status)},
    "Page": _count_items,
    "Recall": _count_items,
    "list": _describe_several,
    "tuple": _describe_several,
    "UpkeepReport": lambda one: {
        f"count.{name}": len(getattr(one, name)) for name in ("expired", "forgotten", "purged")
    },
    "ErasureReceipt": lambda one: {"count": len(one.removed), "count.streams": one.streams},
    "RecordedErasure": lambda one: describe_answer(one.receipt),
    "ConsolidationReport": lambda one: {"count": len(one.steps), "outcome": "applied" if one.applied else "proposed"},
    "ImportReport": lambda one: {"count": one.read, **{f"count.{name}": n for name, n in one.outcomes.items()}},
    "Verification": lambda one: {"count": one.entries, "outcome": "ok" if one.ok else "broken"},
}
"""How each answer is described, by the name of its class: most programs never load some of their modules."""
