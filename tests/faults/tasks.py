"""What children do. Each task takes ``say`` first: ``say(ack=…)`` is an acknowledgement that a crash cannot take back."""

from collections.abc import Callable
from typing import Any

from .script import run_script

Say = Callable[..., None]


def twenty_operations(say: Say, path: str) -> None:
    """The script, with an acknowledgement after each operation."""
    run_script(path, lambda number, answer: say(ack=[number, answer]))


def warm_up() -> None:
    """Load and prepare whatever is loaded lazily, once, so that each forked child starts quickly."""
    run_script(":memory:", lambda *_: None)
