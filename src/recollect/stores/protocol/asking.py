"""How reads are asked for: how much of an answer, and when it is waited for."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Later: TypeAlias = Callable[[], T]
"""An answer that has been asked for but not yet waited for: call it to get the result.

Ask everything you need first and call the results afterwards, so that a store on a server works on all of it in one round trip.
"""
NO_LIMIT = 2**31 - 1
"""The ``limit`` (or ``upto``) of a read that wants everything."""
