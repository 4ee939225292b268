"""Show any JSON object as lines of ``key: value``, and write numbers in sentences."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.model.rendering import visible, visible_json

_WORDS = frozenset({"none", "true", "false", "empty"})
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LIKE_A_LIST = re.compile(r"count|[0-9]+")


def plain_lines(value: Mapping[str, Any]) -> list[str]:
    """The lines of an object; none for an empty one."""
    return [f"{name}: {leaf}" for name, leaf in _object(value, "")]


def _object(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    for key in sorted(value):
        yield from _named(value[key], prefix + _key(key))


def _named(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        yield from _object(value, f"{name}.")
    elif isinstance(value, list | tuple):
        yield f"{name}.count", str(len(value))
        for nth, inner in enumerate(value, start=1):
            yield from _named(inner, f"{name}.{nth}")
    else:
        yield name, _leaf(value)


def _leaf(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return "empty"
    if isinstance(value, str):
        return _text(str(value))
    return json.dumps(value)


def _text(text: str) -> str:
    bare = text != "" and text == text.strip(" ") and text[0] != '"'
    plain = bare and visible(text) == text and {"\n", "\t"}.isdisjoint(text)
    return text if plain and text not in _WORDS and not _NUMBER.fullmatch(text) else f'"{_escaped(text)}"'


def _key(key: str) -> str:
    written = _escaped(key).replace(".", "\\.").replace(":", "\\:")
    return f"\\{written}" if _LIKE_A_LIST.fullmatch(key) else written


def _escaped(text: str) -> str:
    return visible_json(json.dumps(text, ensure_ascii=False)[1:-1])


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what is counted, in its plural unless it is one.

    >>> counted(1, "stream"), counted(2_000, "stream"), counted(0, "memory", "memories")
    ('1 stream', '2,000 streams', '0 memories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def memories(number: int) -> str:
    return counted(number, "memory", "memories")


def entries(number: int) -> str:
    return counted(number, "entry", "entries")


def leaves(number: int) -> str:
    return counted(number, "leaf", "leaves")
