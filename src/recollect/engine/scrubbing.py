"""After content was removed: driving its bytes out of the files."""

from recollect.engine.context import Engine
from recollect.model.errors import StoreError


def scrubbed(engine: Engine) -> tuple[str, ...]:
    """Rewrite the files without what was removed; returns what could not be reached.

    The removal has committed by now, so a failure here is part of its answer and no error. The store remembers that
    it is due, and the next upkeep tries again.
    """
    try:
        return engine.store.scrub()
    except StoreError as error:
        return (f"free pages of the file, which could not be rewritten ({error.message}): run `recollect upkeep`",)
