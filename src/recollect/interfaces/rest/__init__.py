"""Memory over HTTP: every operation of :class:`recollect.Recollect` under its own name, for programs in any language.

A thin door like the others: it parses a request, calls one method, and renders the answer. ``recollect serve`` starts it; an
application that hosts ASGI itself takes :func:`create_app`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.interfaces.rest.access import Server, Settings
    from recollect.interfaces.rest.app import create_app

__all__ = ["Server", "Settings", "create_app"]
_HOMES = {"Server": "access", "Settings": "access", "create_app": "app"}
"""The modules that define these names. They need the extra ``server``, which a client of its table of operations has not."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
