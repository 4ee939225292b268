"""Where a store is: the URL as the driver takes it, and as it may be shown.

Besides what PostgreSQL's own URLs may say (several hosts, ``sslmode``, ``target_session_attrs`` …) two settings of ours
are understood: ``recollect_connections=32``, how many connections a process may have, and ``recollect_prepare=off`` for
poolers that cannot keep prepared statements.
"""

from typing import NamedTuple
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from recollect.model.errors import BadInput

DEFAULT_CONNECTIONS = 16
PREPARE_AFTER = 5
"""How often a statement is run before the server is asked to remember it."""
_SECRETS = frozenset(("password", "sslpassword"))


class Location(NamedTuple):
    url: str
    """With the password: for the driver alone."""
    shown: str
    """Without it."""
    connections: int
    prepare_after: int | None

    def __repr__(self) -> str:
        """What a debugger or a crash report shows of it."""
        return f"Location({self.shown!r})"


def parse_location(url: str) -> Location:
    """Take a URL apart; nothing of one that makes no sense is repeated, since it may hold a password."""
    base, _, query = url.partition("?")
    settings = _settings(query)
    connections = settings.pop("recollect_connections", str(DEFAULT_CONNECTIONS))
    prepare = settings.pop("recollect_prepare", "on")
    if not (connections.isascii() and connections.isdigit() and int(connections) > 0):
        raise BadInput("must be a number above 0.", field="recollect_connections")
    if prepare not in ("on", "off"):
        raise BadInput("must be on or off.", field="recollect_prepare")
    clean = _joined(base, settings)
    _check(clean)
    public = {name: value for name, value in settings.items() if name not in _SECRETS}
    shown = _joined(_without_password(base), public)
    return Location(clean, shown, int(connections), PREPARE_AFTER if prepare == "on" else None)


def _settings(query: str) -> dict[str, str]:
    """What follows the question mark, as libpq reads it: a plus sign is a plus sign."""
    pairs = (one.partition("=") for one in query.split("&") if one)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def _check(url: str) -> None:
    try:
        known = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        known = {}
    if (not known and not url.endswith("://")) or _misread(url, str(known.get("port") or "")):
        raise BadInput(
            "is not a PostgreSQL URL.",
            field="store",
            hint="Write postgresql://user:password@host:5432/database, special characters percent-encoded.",
        )


def _misread(url: str, ports: str) -> bool:
    """Whether a bare ``/`` or ``@`` in a password made a piece of it pass for a host, a port or a database."""
    place, _, database = url.partition("?")[0].partition("://")[2].partition("/")
    return place.count("@") > 1 or "@" in database or not all(port.isdigit() for port in ports.split(",") if port)


def _joined(base: str, settings: dict[str, str]) -> str:
    said = (f"{quote(name, safe='')}={quote(value, safe='/,')}" for name, value in settings.items())
    return f"{base}?{'&'.join(said)}" if settings else base


def _without_password(base: str) -> str:
    scheme, _, rest = base.partition("://")
    place, slash, database = rest.partition("/")
    user, at, hosts = place.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{hosts}{slash}{database}"
