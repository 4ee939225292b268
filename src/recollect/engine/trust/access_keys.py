"""Make, list and revoke the access keys of a server's clients, and find the caller that a key stands for.

A key names its tenant and its own id, so that its row is found without reading other tenants' rows; the rest of it is 256
random bits. The store keeps a digest: it suffices to check a key, and cannot be used as one.
"""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from recollect.engine.arguments import check_kept, check_moment, check_names
from recollect.engine.context import Engine, check_caller
from recollect.model.caller import Caller, Right
from recollect.model.canonical import Plain, format_time
from recollect.model.errors import BadInput, KeyRefused, NotAllowed, NotFound, StoreCorrupt, StoreError
from recollect.model.state import list_from
from recollect.stores.protocol import KeyRow

PREFIX = "rk"
SECRET_BYTES = 32
ID_BYTES = 6
MAX_KEY = 1_000
NOTED_AFTER = timedelta(minutes=1)
"""How long after the last noted use of a key the next one is noted."""


@dataclass(frozen=True, slots=True)
class AccessKey(Plain):
    """A client's key: whom it stands for and what it may do, until when, and when it was last used. Not the key itself."""

    id: str
    name: str
    tenant: str
    user: str
    agent: str | None
    projects: tuple[str, ...]
    rights: tuple[str, ...]
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used: str | None = None


@dataclass(frozen=True, slots=True)
class NewAccessKey(Plain):
    """A key that was just made. ``key`` is shown this once: nobody can read it from the store again."""

    key: str
    about: AccessKey


def create_key(
    engine: Engine,
    name: str,
    *,
    user: str | None = None,
    agent: str | None = None,
    projects: Iterable[str] = (),
    rights: Iterable[str] = (Right.READ, Right.WRITE),
    expires_at: Any = None,
) -> NewAccessKey:
    """Make a key that stands for one caller of this tenant. Only the application that opened the store can."""
    _require_application(engine)
    check_kept(engine.policy.privacy, "name", name)
    ends = check_moment("expires_at", expires_at) or None
    if ends is not None and ends <= engine.now():
        raise BadInput("is in the past.", field="expires_at", hint="Give a later time, or leave it out.")
    caller = bound_caller(engine, user=user, agent=agent, projects=projects, rights=rights)
    key_id = engine.randomness.bytes(ID_BYTES).hex()
    secret = _encode(engine.randomness.bytes(SECRET_BYTES))
    key = f"{PREFIX}.{_encode(engine.tenant.encode())}.{key_id}.{secret}"
    assert caller.user is not None, "a bound caller has a user"
    row = KeyRow(
        key_id,
        _digest(key),
        name,
        caller.user,
        caller.agent,
        json.dumps(sorted(caller.projects)),
        json.dumps(sorted(caller.rights)),
        engine.now(),
        ends,
    )
    with engine.write() as writer:
        writer.add_access_key(engine.tenant, row)
    return NewAccessKey(key, _make_access_key(engine.tenant, row))


def bound_caller(engine: Engine, *, rights: Iterable[str], projects: Iterable[str] = (), **names: Any) -> Caller:
    """Return the caller of this tenant that these names and rights describe. Without a user it is the default owner."""
    caller = Caller(
        tenant=engine.tenant,
        projects=frozenset(check_names("projects", projects)),
        rights=frozenset(_parse_right(right) for right in rights),
        trusted=False,
        **{**names, "user": "default" if names.get("user") is None else names["user"]},
    )
    check_caller(caller, engine.policy.privacy)
    return caller


def _parse_right(name: str) -> Right:
    try:
        return Right(name)
    except ValueError:
        raise BadInput(f"there is no right {name!r}.", field="rights", hint=f"Known: {', '.join(Right)}.") from None


def access_keys(engine: Engine) -> tuple[AccessKey, ...]:
    """Return every key of this tenant's clients, oldest first, also those that have ended."""
    _require_application(engine)
    with engine.read() as reader:
        return tuple(_make_access_key(engine.tenant, row) for row in reader.access_keys(engine.tenant))


def revoke_key(engine: Engine, id: str) -> AccessKey:
    """End a key at once, by its id or its first digits. Revoking a key that has ended is no error."""
    _require_application(engine)
    with engine.write() as writer:
        named = [
            row for row in writer.access_keys(engine.tenant) if isinstance(id, str) and id and row.id.startswith(id)
        ]
        if len(named) != 1:
            said = "fits more than one key" if named else "names no key"
            raise NotFound(f"{id!r:.40} {said}.", field="id", hint="`recollect key list` shows every id.")
        writer.revoke_access_key(engine.tenant, named[0].id, engine.now())
        if not (revoked := writer.access_keys(engine.tenant, named[0].id)):
            message = f"the id of the key {named[0].name!r} is damaged, so it cannot be revoked."
            raise StoreCorrupt(message, field="id", hint="Erase whose key it is, or restore a backup.")
        return _make_access_key(engine.tenant, revoked[0])


def own_session(user: str, name: str) -> str | None:
    """Return the session that a user's client means by a name, or ``None`` if it is not one of the user's own.

    Clients of one user share a session by its name, those of two users never do: each user's sessions begin with their name.

    >>> own_session("ana", "s1"), own_session("ana", "ana/s1"), own_session("ana", "ben/s1")
    ('ana/s1', 'ana/s1', None)
    """
    if "/" not in name:
        return f"{user}/{name}"
    return name if name.rpartition("/")[0] == user else None


def caller_of_key(engine: Engine, key: str, session: str | None = None) -> Caller:
    """Return the caller that a key of any tenant stands for, in a session of its user if one is named.

    The use of the key is noted.

    :raises KeyRefused: if there is no such key, or it has ended.
    """
    tenant, key_id = _parse_key(key)
    with engine.store.read(tenant, brief=True) as reader:
        row = next(iter(reader.access_keys(tenant, key_id)), None)
    is_right = hmac.compare_digest(_digest(key), row.digest if row is not None else "")
    if row is None or not is_right or not _is_valid(row, engine.now()):
        raise _make_refusal()
    if row.last_used is None or row.last_used < format_time(engine.clock() - NOTED_AFTER):
        with suppress(StoreError), engine.store.write(tenant, patience_s=0) as writer:
            writer.note_key_use(tenant, key_id, engine.now())
    caller = Caller(
        tenant=tenant,
        user=row.user_id,
        agent=row.agent,
        session=own_session(row.user_id, session) if session is not None else None,
        projects=frozenset(list_from(row.projects, f"the key {row.id}")),
        rights=_read_rights(row),
        trusted=False,
    )
    if session is not None:
        check_caller(caller, engine.policy.privacy)
    return caller


def _make_refusal() -> KeyRefused:
    return KeyRefused("this key is not valid here.", hint="Ask whoever runs the server for a key.")


def _is_valid(row: KeyRow, now: str) -> bool:
    return row.revoked_at is None and (row.expires_at is None or now < row.expires_at)


def _parse_key(key: str) -> tuple[str, str]:
    """Return the tenant and the id that a key names. Neither may be trusted before the digest was compared."""
    parts = key.split(".") if len(key) <= MAX_KEY and key.isascii() else []
    if len(parts) != 4 or parts[0] != PREFIX or not all(parts):
        raise _make_refusal()
    try:
        tenant = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)).decode()
    except (binascii.Error, ValueError):
        raise _make_refusal() from None
    if not tenant or "\0" in tenant:
        raise _make_refusal()
    return tenant, parts[2]


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _read_rights(row: KeyRow) -> frozenset[Right]:
    try:
        return frozenset(map(Right, list_from(row.rights, f"the key {row.id}")))
    except ValueError:
        raise StoreCorrupt(f"the rights of the key {row.id} are damaged.", hint="Make another key.") from None


def _make_access_key(tenant: str, row: KeyRow) -> AccessKey:
    values: dict[str, Any] = row._asdict()
    del values["digest"]
    for name in ("projects", "rights"):
        values[name] = tuple(list_from(values[name], f"the key {row.id}"))
    return AccessKey(tenant=tenant, user=values.pop("user_id"), **values)


def _require_application(engine: Engine) -> None:
    if not engine.caller.trusted:
        raise NotAllowed("keys are made by whoever runs the server.", hint="Use `recollect key` where the store is.")
