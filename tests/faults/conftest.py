"""Fixtures of the fault tests: one shim and one warm worker for the whole session."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .disk import build_shim
from .nursery import Nursery, open_nursery
from .reference import Reference, undisturbed

MEMORY_DISK = Path("/dev/shm")

# The shim, the capabilities and /proc are Linux's; the store itself is not.
collect_ignore_glob = [] if sys.platform == "linux" else ["test_*.py"]


@pytest.fixture(scope="session")
def torture() -> bool:
    """Whether everything is run (``RECOLLECT_TORTURE=1``), or an evenly spread sample of it."""
    return os.environ.get("RECOLLECT_TORTURE") == "1"


@pytest.fixture
def swift(tmp_path: Path) -> Iterator[Path]:
    """A folder in which a sync costs nothing: a killed process leaves the same bytes on any file system."""
    if not os.access(MEMORY_DISK, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="recollect-", dir=MEMORY_DISK) as folder:
        yield Path(folder)


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
