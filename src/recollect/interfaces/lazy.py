"""Modules that are loaded when something of them is first used: opening a store, or asking for help, needs few of them."""

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module until something of it is used. Python's own import locks make it safe between threads."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def lazy(package: str, names: str) -> tuple[Any, ...]:
    """Return the modules of these names in a package, each loaded on first use.

    >>> (merkle,) = lazy("recollect.rules.ledger", "merkle")
    >>> merkle.tree_head([]) == merkle.EMPTY_HEAD
    True
    """
    return tuple(LazyModule(f"{package}.{name}") for name in names.split())
