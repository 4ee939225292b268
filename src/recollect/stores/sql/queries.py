"""Named SQL: a file of statements, each under a line ``-- name: …``."""

import re
from importlib import resources

NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def load_queries(package: str, file: str = "queries.sql") -> dict[str, str]:
    """The statements of a package's query file, by name, without their comments."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = NAME.split(text)
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file} names a query twice")
    return {name: _without_comments(body) for name, body in zip(names, bodies, strict=True)}


def load_all_queries(package: str, *, apart_from: str = "") -> dict[str, str]:
    """The statements of every query file of a package, one for each capability; scripts have no names in them."""
    files = sorted(file.name for file in resources.files(package).iterdir() if file.name.endswith(".sql"))
    found = [pair for file in files if file != apart_from for pair in load_queries(package, file).items()]
    if len(dict(found)) != len(found):
        raise ValueError(f"{package} names a query twice")
    return dict(found)


def load_dialect(package: str, *, apart_from: str = "") -> dict[str, str]:
    """What an engine runs: the statements that all engines share, and over them those of its own package."""
    return load_all_queries(__package__) | load_all_queries(package, apart_from=apart_from)


def _without_comments(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("--")).strip()
