"""Say when each tenant's turn is, so that a worker's rounds are spread over the time between two of them."""

import hashlib
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def last_slot(tenant: str, now: datetime, every: timedelta) -> datetime:
    """Return the latest time, up to now, at which the tenant's turn came.

    A tenant's turns are ``every`` so long, shifted by an offset that its name gives: the same on every machine.

    >>> day = timedelta(days=1)
    >>> [last_slot(name, EPOCH + 9 * day, day).strftime("%d. %H:%M") for name in ("default", "acme")]
    ['09. 05:13', '09. 12:12']
    """
    digest = hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).digest()
    offset = timedelta(microseconds=every // timedelta(microseconds=1) * int.from_bytes(digest[:4], "big") >> 32)
    return EPOCH + offset + (now - EPOCH - offset) // every * every


def is_due(tenant: str, last_round: datetime | None, now: datetime, every: timedelta) -> bool:
    """Return whether a turn has come since the last round began; a tenant that had none is due at once.

    So is one whose last round is said to lie ahead by more than a turn: a clock was wrong then.
    """
    return last_round is None or last_round < last_slot(tenant, now, every) or last_round > now + every
