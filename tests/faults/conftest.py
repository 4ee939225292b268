"""Fixtures of the fault tests: one shim and one warm worker for the whole session."""

import os
import sys
from collections.abc import Iterator

import pytest

from .disk import build_shim
from .nursery import Nursery, open_nursery
from .reference import Reference, undisturbed

# The shim, the capabilities and /proc are Linux's; the store itself is not.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture(scope="session")
def torture() -> bool:
    """Whether everything is run (``RECOLLECT_TORTURE=1``), or an evenly spread sample of it."""
    return os.environ.get("RECOLLECT_TORTURE") == "1"


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """Children on the faulty disk, which is faultless until a fault is asked for."""
    folder = tmp_path_factory.mktemp("children")
    with open_nursery(folder, build_shim(folder)) as nursery:
        yield nursery


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """The script's undisturbed run."""
    return undisturbed(tmp_path_factory.mktemp("reference"))
