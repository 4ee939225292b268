"""Which namespaces and values a search is about, by LangGraph's rules. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langgraph.store.base import MatchCondition

from recollect.model.errors import BadInput

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}
OPERATORS = ("$eq", "$ne", *_COMPARE)


def under(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    """Whether a namespace is the one that a prefix names, or lies in it."""
    return tuple(namespace[: len(prefix)]) == tuple(prefix)


def fits_all(namespace: Sequence[str], conditions: Sequence[MatchCondition] | None) -> bool:
    """Whether a namespace begins or ends as every condition says; ``*`` stands for any one label."""
    return all(_fits(namespace, condition) for condition in conditions or ())


def _fits(namespace: Sequence[str], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type not in ("prefix", "suffix"):
        raise BadInput(f"{condition.match_type!r} is unknown.", field="match_type", hint="Known: prefix, suffix.")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def matches(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value has what a filter asks for: equal values, or what ``$eq $ne $gt $gte $lt $lte`` say of them."""
    return all(_fulfils(value.get(name), wanted) for name, wanted in (filter or {}).items())


def _fulfils(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        if any(str(name).startswith("$") for name in wanted):
            return all(_operate(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, dict) and all(_fulfils(value.get(name), inner) for name, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list) and len(value) == len(wanted)
        return same_length and all(_fulfils(one, other) for one, other in zip(value, wanted, strict=True))
    return _equal(value, wanted)


def _operate(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return _equal(value, operand)
    if operator == "$ne":
        return not _equal(value, operand)
    if operator not in _COMPARE:
        raise BadInput(f"there is no operator {operator!r}.", field="filter", hint=f"Known: {', '.join(OPERATORS)}.")
    return _comparable(value, operand) and _COMPARE[operator](value, operand)


def _equal(value: Any, wanted: Any) -> bool:
    """JSON's equality: true is not 1."""
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def _comparable(value: Any, operand: Any) -> bool:
    """Numbers have an order among themselves, and so have texts; nothing else has."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, operand))
    return numbers or (isinstance(value, str) and isinstance(operand, str))
