"""The virtual environment of the other systems: ``.venv-bench`` at the project's root, made when it is missing.

LangGraph's SqliteStore needs a Python whose ``sqlite3`` can load extensions, and some builds can't, so the first
interpreter that can is taken. Recollect is installed there too, so that every system runs under the same one.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".venv-bench"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
CANDIDATES = (sys.executable, "/usr/bin/python3", "python3", "python3.13", "python3.12", "python3.11")
LOADS_EXTENSIONS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"


class CannotCompare(Exception):
    """The other systems cannot be run here; the message says why."""


def interpreter() -> Path:
    """The Python of that environment, which is made first if need be."""
    python = HOME / "bin" / "python"
    ready = HOME / "ready"
    if not ready.exists() or ready.read_text("utf-8") != REQUIREMENTS.read_text("utf-8"):
        _make(python)
        ready.write_text(REQUIREMENTS.read_text("utf-8"), "utf-8")
    return python


def _make(python: Path) -> None:
    print(f"making {HOME.name} with {', '.join(_packages())} …", file=sys.stderr, flush=True)
    _run(_base(), "-m", "venv", str(HOME))
    _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS), "--editable", str(ROOT))


def _base() -> str:
    """The first interpreter that is new enough and whose SQLite loads extensions."""
    for candidate in CANDIDATES:
        found = shutil.which(candidate)
        if found and subprocess.run([found, "-c", LOADS_EXTENSIONS], check=False).returncode == 0:
            return found
    raise CannotCompare(
        "no Python here has an sqlite3 that loads extensions, which LangGraph's SqliteStore needs; "
        f"tried {', '.join(CANDIDATES)}. Debian's and Ubuntu's own python3 can."
    )


def _packages() -> list[str]:
    lines = REQUIREMENTS.read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotCompare(f"{' '.join(command)} failed: {done.stderr.strip()[-500:]}")
