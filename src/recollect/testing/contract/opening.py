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

    def open_again(self, location: str) -> Store:
        """The store at a location once more, as another process would open it. Leave out if nobody else can."""
        pytest.skip("this store cannot be opened twice")

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
