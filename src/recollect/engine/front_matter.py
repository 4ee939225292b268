"""The YAML at the head of a Markdown file: plain values only, and none that stands for another."""

from datetime import date, datetime
from typing import Any

import yaml

from recollect.model.errors import BadInput

FENCE = "---"
MAX_BYTES = 16_384


class _Loader(yaml.SafeLoader):
    """Reads no aliases: a few lines of them unfold into more than any memory can hold."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def split(text: str, name: str) -> tuple[dict[str, Any], str, int]:
    """The front matter, the text after it, and the number of that text's first line."""
    lines = text.split("\n")
    if lines[0].strip() != FENCE:
        return {}, text, 1
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.strip() == FENCE), None)
    if end is None:
        return {}, text, 1
    return _values("\n".join(lines[1:end]), name), "\n".join(lines[end + 1 :]), end + 2


def _values(text: str, name: str) -> dict[str, Any]:
    if len(text) > MAX_BYTES:
        raise BadInput(f"has front matter of more than {MAX_BYTES:,} characters.", field=name)
    try:
        values = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise BadInput("has front matter that is not plain YAML.", field=name) from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BadInput("has front matter that is no mapping.", field=name)
    return {str(key): _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    """As JSON has it: dates as text."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | set | tuple) else value
