"""Where a store is: the URL as the driver takes it, and as it may be shown.

Besides what PostgreSQL's own URLs may say (several hosts, ``sslmode``, ``target_session_attrs`` …) two settings of ours
are understood: ``recollect_connections=32``, how many connections a process may have, and ``recollect_prepare=off`` for
poolers that cannot keep prepared statements.
"""

from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

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


def parse_location(url: str) -> Location:
    """Take a URL apart; nothing of one that makes no sense is repeated, since it may hold a password."""
    base, _, query = url.partition("?")
    settings = dict(parse_qsl(query, keep_blank_values=True))
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


def _check(url: str) -> None:
    try:
        known = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        known = {}
    if not known and not url.endswith("://"):
        raise BadInput(
            "is not a PostgreSQL URL.",
            field="store",
            hint="Write postgresql://user:password@host:5432/database, special characters percent-encoded.",
        )


def _joined(base: str, settings: dict[str, str]) -> str:
    return f"{base}?{urlencode(settings, safe='/,')}" if settings else base


def _without_password(base: str) -> str:
    scheme, _, rest = base.partition("://")
    place, slash, database = rest.partition("/")
    user, at, hosts = place.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{hosts}{slash}{database}"
