"""Long walks without looking for garbage on the way."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the search for cycles while a walk gathers millions of objects, all of which stay until its end.

    It would go through all of them again and again and find nothing: over 100,000 memories that is a third of ``verify``.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
