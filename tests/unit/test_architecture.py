"""The architecture, enforced: what is public, what is pure, which way imports may go, and that no statement stands twice."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_args

import pytest

import recollect
from recollect.stores.protocol import Standing
from recollect.stores.sql.queries import load_all_queries, load_queries

SOURCE = Path(recollect.__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PURE = ("model", "rules", "formats")
DOES_IO = frozenset(
    """asyncio fcntl glob http io logging mmap multiprocessing os pathlib pickle random secrets select shutil signal socket
    sqlite3 ssl subprocess tempfile time urllib uuid requests httpx psycopg typer rich yaml importlib""".split()
)
MAY_IMPORT = {
    "model": {"model"},
    "rules": {"model", "rules"},
    "stores": {"model", "rules", "formats", "stores"},
    "policies": {"model", "rules", "policies"},
    "embed": {"model", "embed"},
    "llm": {"model", "embed", "llm"},
    "engine": {"model", "rules", "embed", "llm", "stores", "formats", "engine"},
    "formats": {"model", "rules", "formats"},
    "langgraph": {"model", "rules", "engine", "stores", "policies", "compose", "interfaces", "langgraph"},
    "interfaces": {
        "model",
        "rules",
        "embed",
        "llm",
        "engine",
        "policies",
        "compose",
        "job_queue",
        "whole_stores",
        "vault",
        "interfaces",
    },
}

PUBLIC = """
    AmbiguousId AsyncRecollect BadInput BadPolicy Caller Candidate Filters KeyRefused Memory MemoryDamaged MemoryFields NewMemory
    NotAllowed NotFound OutOfDate Page TooManyRequests
    Policy Recall Receipt Recollect
    RecollectError Refused RetryMismatch Right StoreBusy StoreClosed StoreConflict StoreCorrupt StoreError StoreTooNew
    StoreUnavailable Tombstone OutcomeUnknown Turn WrongState connect from_item migrate open restore_backup
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


def test_langgraph_knows_stores_by_their_protocol_alone() -> None:
    taken = {name for path in modules("langgraph") for name in imports(path) if name.startswith("recollect.stores")}
    assert taken and all(name.startswith("recollect.stores.protocol") for name in taken)


FROM_THE_ENGINE = {
    "cli": {
        "recollect.engine.transfer.entries.validate",
        "recollect.engine.transfer.foreign_audit.audit_file",
    },
    "mcp": {
        "recollect.engine.read.filters.FILTERS",
        "recollect.engine.transfer.knowledge_graph",
        "recollect.engine.transfer.knowledge_graph.Deleted",
        "recollect.engine.transfer.knowledge_graph.Observations",
        "recollect.engine.transfer.knowledge_graph.whole_graph",
    },
    "rest": {
        "recollect.engine.arguments.decode_cursor",
        "recollect.engine.arguments.encode_cursor",
        "recollect.engine.arguments.refuse_cursor",
    },
    "studio": set(),
}
"""What an interface takes from the engine besides types: commands that look at a file and open no store, the names of
filters, the reference server's tools, which only the MCP server has, and the form of cursors."""


@pytest.mark.parametrize("interface", FROM_THE_ENGINE)
def test_interfaces_call_the_python_door(interface: str) -> None:
    """What `Recollect` does not do cannot be done on the command line either, and nothing is done in two ways."""
    taken: set[str] = set()
    for path in modules(f"interfaces/{interface}"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        taken |= {name for name in run_time_imports(tree) if name.startswith("recollect.engine")}
        inside = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "engine"]
        assert interface == "mcp" or not inside, f"{path.relative_to(SOURCE)} reaches behind the door"
    assert taken == FROM_THE_ENGINE[interface]


def run_time_imports(tree: ast.AST) -> set[str]:
    """Every name that is imported when the code runs, in full; what only a type checker reads is left out."""
    if isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING":
        return set()
    if isinstance(tree, ast.Import):
        return {alias.name for alias in tree.names}
    if isinstance(tree, ast.ImportFrom):
        return {f"{tree.module}.{alias.name}" for alias in tree.names}
    return {name for node in ast.iter_child_nodes(tree) for name in run_time_imports(node)}


def test_authorities_are_ranked_by_the_policy_and_nowhere_by_the_order_of_their_names() -> None:
    """``list(Authority)`` is the default order. Who ranks by it does not hear what the policy says."""
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE)
        if where.parts[0] != "model" and where != Path("rules", "trust", "authority.py"):
            code = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
            found = re.findall(r"\b(?:list|tuple|enumerate|sorted|reversed)\(Authority\b[,)]", code)
            assert not found, f"{where} ranks by {found}; rules.trust.authority.rank takes the policy's order"


def test_files_stay_readable() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert max(lengths.values()) <= 800
    in_order = sorted(lengths.values())
    assert in_order[len(in_order) // 2] <= 200


def test_no_folder_is_a_heap() -> None:
    """A stranger reads the names of a folder in one go; beyond about twenty they look for another way in."""
    counts = Counter(path.parent for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
    assert {str(where.relative_to(SOURCE)): n for where, n in counts.items() if n > 20} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports that run when a module is loaded have no cycle; those inside functions and for type checkers do not count."""
    names = {_dotted(path): path for path in SOURCE.rglob("*.py")}
    graph = {name: {_home(one, names) for one in _at_load(path)} & names.keys() for name, path in names.items()}
    order = TopologicalSorter({name: taken - {name} for name, taken in graph.items()})
    order.prepare()  # raises CycleError, which names the modules of a cycle


def _dotted(path: Path) -> str:
    return ".".join(("recollect", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


def _home(name: str, modules: Collection[str]) -> str:
    """The module that an imported name is taken from."""
    return name if name in modules else name.rpartition(".")[0]


def _at_load(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name for node in tree.body if not isinstance(node, FUNCTIONS) for name in run_time_imports(node)}


HEAVY = frozenset(
    """HanTa asyncio cryptography dateparser fastapi httpx jinja2 jsonschema numpy phonenumbers psycopg pydantic rapidfuzz regex
    rich sqlite3 ssl stdnum typer uvicorn yaml""".split()
)
"""What takes long to load: 5 to 120 ms each."""

RUN = "from recollect.interfaces.cli.app import run; run(sys.argv[1:])"
STARTS = {
    "import": ("import recollect", "", "", ""),
    "open": ("import recollect; recollect.open(sys.argv[2]).close()", "", "pydantic sqlite3", ""),
    "help": (RUN, "--help", "typer", None),
    "add": (
        RUN,
        "add Ana-lives-in-Lisbon",
        "HanTa numpy pydantic rich sqlite3 typer",
        "app screen session writing",
    ),
    "query": (
        RUN,
        "query Where-does-Ana-live",
        "numpy pydantic rich sqlite3 typer",
        "app reading screen session writing",
    ),
}
"""Ways to start: the code, its arguments, and what may be loaded of :data:`HEAVY` and of the command line."""


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_that_it_can_do_without(start: str, tmp_path: Path) -> None:
    """A deferred import is undone by one that is not: whatever is loaded here is time before every command."""
    code, arguments, heavy, commands = STARTS[start]
    store = str(tmp_path / "memory.db")
    recollect.open(store).close()
    told = "; print('loaded', *sys.modules)"
    words = [word.replace("-", " ") if word[:2] != "--" else word for word in arguments.split()]
    command = [sys.executable, "-c", f"import sys; {code}{told}", "--store", store, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split("loaded ")[-1].split())
    assert loaded & HEAVY == set(heavy.split())
    if commands is not None:
        of_commands = {name.removeprefix("recollect.interfaces.cli.") for name in loaded if ".cli." in name}
        assert of_commands == set(commands.split())


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_released_migrations_never_change(store: str) -> None:
    import hashlib

    folder = SOURCE / "stores" / store / "migrations"
    pinned = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())
    actual = {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in folder.glob("*.sql")}
    assert actual == pinned


def test_a_statement_that_engines_word_alike_stands_once_where_they_share_it() -> None:
    shared, sqlite, postgres = statements("sql"), statements("sqlite"), statements("postgres")
    assert [name for name in sqlite if sqlite[name] == shared.get(name)] == []
    assert [name for name in postgres if postgres[name] == shared.get(name)] == []
    assert [name for name in sqlite if sqlite[name] == postgres.get(name)] == []
    assert sorted(shared.keys() & sqlite.keys() & postgres.keys()) == [], "shared by nobody: each engine has its own"


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_no_statement_is_there_that_nothing_runs(store: str) -> None:
    standing = {f"newest_{which}" for which in get_args(Standing)}
    named = texts("sql") | texts(store) | standing
    assert sorted(statements("sql").keys() - named) == []
    assert sorted(statements(store).keys() - named) == []


def test_nothing_is_left_of_looking_after_postgres_that_nothing_runs() -> None:
    assert sorted(load_queries("recollect.stores.postgres", "keeping.sql").keys() - texts("postgres")) == []


def statements(store: str) -> dict[str, str]:
    """What a folder of stores has of its own, in words that line breaks do not tell apart."""
    found = load_all_queries(f"recollect.stores.{store}", apart_from="keeping.sql")
    return {name: " ".join(sql.split()) for name, sql in found.items()}


def texts(store: str) -> set[str]:
    """Every text in the code of a folder of stores: queries are run by their names."""
    nodes = (
        node for path in modules(f"stores/{store}") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )
    return {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
