"""The architecture, enforced: what is public, what is pure, and which way imports may go."""

import ast
import sys
from pathlib import Path

import pytest

import recollect

SOURCE = Path(recollect.__file__).parent
PURE = ("model", "rules", "formats")
DOES_IO = frozenset(
    """asyncio fcntl glob http io logging mmap multiprocessing os pathlib pickle random secrets select shutil signal socket
    sqlite3 ssl subprocess tempfile time urllib uuid requests httpx psycopg typer rich yaml importlib""".split()
)
MAY_IMPORT = {
    "model": {"model"},
    "rules": {"model", "rules"},
    "stores": {"model", "rules", "stores"},
    "policies": {"model", "rules", "policies"},
    "embed": {"model", "embed"},
    "engine": {"model", "rules", "embed", "stores", "formats", "engine"},
    "formats": {"model", "rules", "formats"},
    "langgraph": {"model", "rules", "engine", "stores", "policies", "compose", "interfaces", "langgraph"},
    "interfaces": {"model", "rules", "embed", "engine", "policies", "compose", "whole_stores", "interfaces"},
}

PUBLIC = """
    AmbiguousId BadInput BadPolicy Caller Candidate Memory NotAllowed NotFound Policy Recall Receipt Recollect RecollectError
    Refused RetryMismatch Right StoreBusy StoreClosed StoreConflict StoreCorrupt StoreError StoreTooNew StoreUnavailable
    Tombstone OutcomeUnknown Turn WrongState from_item migrate open restore_backup
""".split()


def modules(folder: str) -> list[Path]:
    return sorted((SOURCE / folder).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module that a file imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def test_the_public_names_are_these() -> None:
    assert sorted(recollect.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(recollect, name) is not None
    with pytest.raises(AttributeError):
        recollect.no_such_name


@pytest.mark.parametrize("folder", PURE)
def test_model_and_rules_import_nothing_that_does_io(folder: str) -> None:
    for path in modules(folder):
        roots = {name.split(".")[0] for name in imports(path)}
        assert not roots & DOES_IO, f"{path.relative_to(SOURCE)} imports {sorted(roots & DOES_IO)}"
        assert "datetime.now(" not in path.read_text(encoding="utf-8"), f"{path} reads a clock"


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_imports_go_one_way(folder: str) -> None:
    for path in modules(folder):
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("recollect.") and name.count(".") >= 1}
        layers = {name for name in ours if (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()}
        assert layers <= MAY_IMPORT[folder], f"{path.relative_to(SOURCE)} imports {sorted(layers - MAY_IMPORT[folder])}"


def test_files_stay_readable() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert max(lengths.values()) <= 800
    in_order = sorted(lengths.values())
    assert in_order[len(in_order) // 2] <= 200


def test_importing_recollect_imports_nothing_heavy() -> None:
    import subprocess

    code = (
        "import sys, recollect; print(sorted(m for m in sys.modules if m in ('pydantic', 'sqlite3', 'rich', 'typer')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_released_migrations_never_change(store: str) -> None:
    import hashlib

    folder = SOURCE / "stores" / store / "migrations"
    pinned = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())
    actual = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.glob("*.sql")}
    assert actual == pinned
