"""What to do when a transaction loses against another one: run the operation again, a few times, then say so.

An operation does nothing outside its transaction, so running it again is safe. Losing a connection during the commit
is another matter: whether it took place is unknown, and only an idempotency key can tell.
"""

import functools
import random
import time
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from recollect.engine.context import Engine
from recollect.model.errors import StoreConflict

TRIES = 8
FIRST_PAUSE_S = 0.005

P = ParamSpec("P")
T = TypeVar("T")


def again_on_conflict(operation: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[Engine, P], T]:
    """Run the operation again when it lost against another writer; each pause is about twice the one before."""

    @functools.wraps(operation)
    def patient(engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(TRIES - 1):
            try:
                return operation(engine, *args, **kwargs)
            except StoreConflict:
                time.sleep(FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1.5))
        return operation(engine, *args, **kwargs)

    return patient
