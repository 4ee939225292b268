"""Give the tests what they share: seeded stores, the state machine and its model, invariants, a PostgreSQL server."""

from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "cases"


def load_cases(name: str) -> Any:
    """Return the table of labelled cases in ``tests/cases/<name>.yaml``."""
    import yaml

    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))
