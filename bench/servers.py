"""Give the benchmarks the PostgreSQL server that the tests start, and the count of its round trips."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.postgres_server import running_server
from support.round_trips import counted_trips

__all__ = ["counted_trips", "running_server"]
