"""Pause Python's garbage collector while many lasting objects are made."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for cycles while many objects are gathered, all of which stay until the end.

    It would go through all of them again and again and find nothing: a third of the time of reading a long journal, and of
    verifying 100,000 memories.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
