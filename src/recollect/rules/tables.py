"""Data files that lie beside the rules that read them: word classes, predicates, signs."""

import pkgutil
import tomllib
from typing import Any


def load_table(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file of a package. It is part of the release, like the code that reads it."""
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{name} is not in {package}; install recollect again")
    return tomllib.loads(data.decode("utf-8"))
