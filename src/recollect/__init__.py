"""Governed long-term memory for AI agents: deterministic, attributed, auditable. One file to start, PostgreSQL to grow.

The names below are the public ones. They are imported when first used, so that ``import recollect`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.compose import open
    from recollect.interfaces.asynchronous import AsyncRecollect
    from recollect.interfaces.python import Recollect
    from recollect.interfaces.python.arguments import Filters, MemoryFields, NewMemory
    from recollect.interfaces.remote import connect
    from recollect.model.caller import Caller, Right
    from recollect.model.errors import (
        AmbiguousId,
        BadInput,
        BadPolicy,
        KeyRefused,
        MemoryDamaged,
        NotAllowed,
        NotFound,
        OutcomeUnknown,
        OutOfDate,
        RecollectError,
        Refused,
        RetryMismatch,
        StoreBusy,
        StoreClosed,
        StoreConflict,
        StoreCorrupt,
        StoreError,
        StoreTooNew,
        StoreUnavailable,
        TooManyRequests,
        WrongState,
    )
    from recollect.model.item import from_item
    from recollect.model.policy import Policy
    from recollect.model.receipt import Page, Recall, Receipt, Turn
    from recollect.model.record import Candidate, Memory, Tombstone
    from recollect.whole_stores import migrate, restore_backup

__version__ = "0.1.0"

__all__ = [
    "AmbiguousId",
    "AsyncRecollect",
    "BadInput",
    "BadPolicy",
    "Caller",
    "Candidate",
    "Filters",
    "KeyRefused",
    "Memory",
    "MemoryDamaged",
    "MemoryFields",
    "NewMemory",
    "NotAllowed",
    "NotFound",
    "OutOfDate",
    "OutcomeUnknown",
    "Page",
    "Policy",
    "Recall",
    "Receipt",
    "Recollect",
    "RecollectError",
    "Refused",
    "RetryMismatch",
    "Right",
    "StoreBusy",
    "StoreClosed",
    "StoreConflict",
    "StoreCorrupt",
    "StoreError",
    "StoreTooNew",
    "StoreUnavailable",
    "Tombstone",
    "TooManyRequests",
    "Turn",
    "WrongState",
    "connect",
    "from_item",
    "migrate",
    "open",
    "restore_backup",
]

_HOMES = {
    "compose": "open",
    "interfaces.asynchronous": "AsyncRecollect",
    "interfaces.python": "Recollect",
    "interfaces.python.arguments": "Filters MemoryFields NewMemory",
    "interfaces.remote": "connect",
    "model.caller": "Caller Right",
    "model.item": "from_item",
    "model.policy": "Policy",
    "model.receipt": "Page Recall Receipt Turn",
    "model.record": "Candidate Memory Tombstone",
    "whole_stores": "migrate restore_backup",
}
"""The modules that define these names; every other name is an error, in ``model.errors``."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from recollect.rules.collector import collector_paused

    home = next((module for module, names in _HOMES.items() if name in names.split()), "model.errors")
    with collector_paused():  # modules and their tables all stay
        return getattr(import_module(f"recollect.{home}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
