"""Every error that Recollect raises, as one tree.

::

    RecollectError
    ├── BadInput             the request makes no sense: it names the field              (exit code 2)
    │   ├── BadPolicy        a policy file or setting is wrong: it names the setting
    │   └── EmbedderMismatch the store's vectors are another embedder's: it names the command to run
    ├── Refused              the request makes sense, and the answer is no               (exit code 1)
    │   ├── NotFound         no such memory, or none that this caller may know of
    │   ├── AmbiguousId      a short id that fits more than one memory
    │   ├── NotAllowed       a border, or a right that the caller lacks
    │   │   └── KeyRefused   no such key, or one that has ended
    │   ├── WrongState       the memory is not in a state in which this can be done
    │   │   └── OutOfDate    the memory has changed since the caller last looked
    │   ├── TooManyRequests  the caller asks more often than it may
    │   └── RetryMismatch    an idempotency key was used again for another request
    └── StoreError           the store could not do its work                              (exit code 3)
        ├── StoreUnavailable missing, unreadable, read-only, or the disk is full
        │   └── StoreClosed  the program that opened it has closed it
        ├── StoreBusy        another writer held the store for longer than the timeout
        │   └── StoreConflict another writer came first, also at every retry
        ├── OutcomeUnknown   the connection was lost while a write was being committed
        ├── StoreCorrupt     not a Recollect database, or a damaged one
        │   └── MemoryDamaged one memory's rows cannot be read; everything else can
        └── StoreTooNew      written by a later release

A denied write is not an error: it is an answer, and comes back as a receipt.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class RecollectError(Exception):
    """The root: ``code`` is stable, ``message`` says what is wrong, ``hint`` says what to do next.

    ``events`` are the governance events of a refusal, such as the check of a closed border.
    """

    code: ClassVar[str] = "recollect_error"
    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        self.message = message
        self.field = field
        self.hint = hint
        self.events: tuple[Mapping[str, Any], ...] = ()
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.field}: " if self.field else ""
        advice = f" {self.hint}" if self.hint else ""
        return f"{place}{self.message}{advice}"

    def add_hint(self, hint: str) -> None:
        """Add a sentence to the hint."""
        self.hint = " ".join(part for part in (self.hint, hint) if part)
        self.args = (str(self),)

    def to_dict(self) -> dict[str, Any]:
        """Return the error as plain values, as every interface reports it."""
        return {"code": self.code, "message": self.message, "field": self.field, "hint": self.hint}


class BadInput(RecollectError):
    code = "bad_input"
    exit_code = 2


class BadPolicy(BadInput):
    code = "bad_policy"


class EmbedderMismatch(BadInput):
    code = "embedder_mismatch"


class Refused(RecollectError):
    code = "refused"
    exit_code = 1


class NotFound(Refused):
    code = "not_found"


class AmbiguousId(Refused):
    code = "ambiguous_id"


class NotAllowed(Refused):
    code = "not_allowed"


class KeyRefused(NotAllowed):
    """No such key, or one that has expired or was revoked; the error does not say which."""

    code = "key_refused"


class WrongState(Refused):
    code = "wrong_state"


class OutOfDate(WrongState):
    code = "out_of_date"


class TooManyRequests(Refused):
    code = "too_many_requests"


class RetryMismatch(Refused):
    code = "retry_mismatch"


class StoreError(RecollectError):
    code = "store_error"


class StoreUnavailable(StoreError):
    code = "store_unavailable"


class StoreClosed(StoreUnavailable):
    code = "store_closed"

    def __init__(self, location: str) -> None:
        super().__init__("it is closed; open it again.", field=location)


class StoreBusy(StoreError):
    code = "store_busy"


class StoreConflict(StoreBusy):
    """Another writer came first. The engine retries the operation, so a caller sees this only if every retry failed."""

    code = "store_conflict"


class OutcomeUnknown(StoreError):
    code = "outcome_unknown"


class StoreCorrupt(StoreError):
    code = "store_corrupt"


class MemoryDamaged(StoreCorrupt):
    """The rows of one memory cannot be read. ``field`` is its id; everything else can be read."""

    code = "memory_damaged"


class StoreTooNew(StoreError):
    code = "store_too_new"


def how_to_install(extra: str) -> str:
    """Return what to do where a package of an extra is missing. No index is named: the name there may be somebody else's.

    >>> how_to_install("mcp")
    "Install the extra `mcp`: pip install -e '.[mcp]' in Recollect's folder."
    """
    return f"Install the extra `{extra}`: pip install -e '.[{extra}]' in Recollect's folder."
