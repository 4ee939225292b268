"""How the suite opens the store that it examines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.stores.protocol import Store
from recollect.testing.stores import Scribe


class Opening:
    """The two things that a store's own tests supply, and the fixtures that every capability uses."""

    def open_store(self, folder: Path) -> Store:
        """A new, empty store; ``folder`` is an empty one that the store may use."""
        raise NotImplementedError("say how a store is opened")

    beyond_reach: tuple[str, ...] = ()
    """What a scrub cannot reach, and says so."""
    opens_twice = True
    """Whether a store can be opened again while it is open. Where it cannot, what needs that is no part of its
    contract: a test's ``conftest.py`` leaves it out with :func:`leave_out`."""

    def open_again(self, location: str) -> Store:
        """The store at a location once more, as another process would open it."""
        raise NotImplementedError("say how a store is opened again, or set opens_twice to False")

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        opened = self.open_store(tmp_path)
        yield opened
        opened.close()

    @pytest.fixture
    def second(self, store: Store) -> Iterator[Store]:
        """Another handle on the same store."""
        opened = self.open_again(store.location)
        yield opened
        opened.close()

    @pytest.fixture
    def scribe(self, store: Store) -> Scribe:
        return Scribe(store)


def leave_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests that ask a store to be opened twice which cannot be."""
    return [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and item.cls is not None
        and issubclass(item.cls, Opening)
        and not item.cls.opens_twice
        and "second" in item.fixturenames
    ]
