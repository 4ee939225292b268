"""Memory over HTTP: every operation of :class:`recollect.Recollect` under its own name, for programs in any language.

A thin door like the others: it parses a request, calls one method, and renders the answer. ``recollect serve`` starts it; an
application that hosts ASGI itself takes :func:`create_app`.
"""

from recollect.interfaces.rest.access import Server, Settings
from recollect.interfaces.rest.app import create_app

__all__ = ["Server", "Settings", "create_app"]
