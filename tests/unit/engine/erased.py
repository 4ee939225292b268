"""What tests of erasure ask of a memory afterwards."""

from typing import Any

import recollect


def told(receipt: Any) -> dict[str, tuple[tuple[str, ...], str]]:
    return {one.id: (one.how, one.became) for one in receipt.derived}


def is_gone(mem: recollect.Recollect, id: str) -> bool:
    try:
        mem.get(id)
    except recollect.NotFound:
        return True
    return False


def assert_sound(mem: recollect.Recollect) -> None:
    """All is proven, and the state is what the ledger folds to, before and after it is made anew."""
    assert mem.verify().problems == ()
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before
    assert mem.verify().problems == ()
