"""One name for one thing: Python, the command line, MCP and REST have the operations of `docs/names.md`, and their arguments."""

import inspect
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from recollect import Recollect
from recollect.engine.lifecycle.changes import EDITABLE
from recollect.engine.read.filters import FILTERS
from recollect.interfaces.cli.app import COMMANDS, OF_EVERY_COMMAND, OTHER_WORDS, app
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.interfaces.python import arguments
from recollect.interfaces.rest.operations import OPERATIONS
from recollect.model.record import Candidate
from recollect.model.vocabulary import SOURCE_WORDS

from .shell import Shell

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "names.md").read_text(encoding="utf-8")
TABLE = re.findall(
    r"^\| (?:`([a-z_]+)`)? ?\| (?:`([a-z -]+)`)? ?\| (?:`(\w+)`)? ?\| ((?:`[A-Z]+ [^`]+`(?:, )?)*) ?\| ",
    PAGE,
    re.MULTILINE,
)
ROWS = [row[:3] for row in TABLE]
PLURAL = {"project": "projects", "right": "rights", "tag": "tags", "category": "categories", "tool": "tools"}
PLURAL |= {"job": "jobs", "only_tenant": "tenants"}
"""Options that may be repeated, and the argument that they are one value of."""
ONLY_ON_THE_COMMAND_LINE = set(
    """where field parent any_status as_of jsonl plain schema output report html map receipt verify yes out without_content
    keys key pem draw path file context pin limit dry_run procrastinate""".split()
)
"""How a command reads its values or shows its answer; ``--where`` and ``--field`` take what has no option of its own."""


def commands() -> dict[str, Any]:
    group: Any = typer.main.get_command(app)
    found = {}
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {sub}": one for sub, one in inner.items()} if inner else {name: command}
    return found


def methods() -> dict[str, Any]:
    return {name: one for name, one in inspect.getmembers(Recollect, inspect.isfunction) if not name.startswith("_")}


def test_every_operation_is_in_the_table_and_nothing_else() -> None:
    python, line, mcp = (sorted({row[place] for row in ROWS} - {""}) for place in range(3))
    assert python == sorted(methods())
    assert line == sorted(commands())
    assert mcp == sorted(name for name in TOOLS if name.startswith("memory_"))


def test_every_endpoint_is_in_the_table_beside_its_method() -> None:
    listed = {(method, path) for method, *_, paths in TABLE for path in re.findall(r"`([^`]+)`", paths)}
    made = {(one.name, f"{one.method} {one.path}") for one in OPERATIONS}
    streams = {("history", "GET /v1/memories/{id}/history"), ("history", "GET /memory/{id}/history")}
    streams |= {("changes", "GET /v1/changes"), ("export", "GET /v1/export"), ("import_", "POST /v1/import")}
    assert listed == made | streams | {("add_many", "POST /v1/memories")}


def test_every_path_that_the_server_describes_is_in_the_pages_for_its_users() -> None:
    described = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))["paths"]
    listed = {path for *_, paths in TABLE for path in re.findall(r"`([^`]+)`", paths)}
    server = (DOCS / "server.md").read_text(encoding="utf-8")
    watched = {f"GET {path}" for path in re.findall(r"`(/\w+)`", server)}
    assert {f"{method.upper()} {path}" for path, methods in described.items() for method in methods} <= listed | watched
    assert set(re.findall(r"localhost:8766(/v1/[\w-]+)", server)) <= set(described)


def parameters(name: str) -> set[str]:
    method = inspect.signature(methods()[name])
    shared = {"add": Candidate.model_fields, "update": Candidate.model_fields, "edit": EDITABLE}
    shared |= {"list": FILTERS, "query": FILTERS}
    more = {"owner", "space", "include_namespaces", "status", "user_id", "tags"} if name == "list" else set()
    return {*method.parameters, *shared.get(name, ()), *more}


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] and (row[1] or row[2])], ids=lambda row: row[0])
def test_arguments_have_the_same_names(row: tuple[str, str, str]) -> None:
    python, line, tool = row
    taken = {one for name, other, _ in ROWS if other == line and name for one in parameters(name)} | parameters(python)
    if line:
        given = {one.name for one in commands()[line].params} - OF_EVERY_COMMAND - {"help"} - ONLY_ON_THE_COMMAND_LINE
        assert {PLURAL.get(one, one) if PLURAL.get(one) in taken else one for one in given} <= taken
    if tool:
        known = {one for name, _, other in ROWS if other == tool and name for one in parameters(name)}
        assert set(TOOLS[tool].request.model_fields) - {"agent"} <= known | {"filters"}


def test_the_types_of_arguments_hold_every_field_filter_and_word() -> None:
    """An editor completes what the record has, and a type checker accepts what the engine does."""
    assert set(arguments.MemoryFields.__annotations__) == set(Candidate.model_fields) - {"content"}
    assert set(arguments.Filters.__annotations__) == set(FILTERS)
    assert set(arguments.Edits.__annotations__) == set(EDITABLE)
    for name in "Namespace Space Kind EventType Layer Tier Source Authority Status Change".split():
        members, *literals = get_args(getattr(arguments, f"{name}Name"))
        words = {word for literal in literals for word in get_args(literal)}
        other = {"Source": set(SOURCE_WORDS), "Status": {"contradicted"}}.get(name, set())
        assert words == {str(member) for member in members} | other, name


def test_results_are_tuples() -> None:
    for name, method in methods().items():
        assert not re.search(r"\b(list|List)\[", str(inspect.signature(method).return_annotation)), name


def test_help_groups_commands_by_purpose_and_a_wrong_word_leads_to_the_right_one(shell: Shell) -> None:
    shown = shell.run("--help")
    assert [purpose for purpose in COMMANDS if f"\n{purpose}:\n" in shown] == list(COMMANDS)
    for word, command in (("search", "query"), ("delete", "forget"), ("serch", "query"), ("lst", "list")):
        assert f"`{command}`" in shell.json(word, "x", code=2)["error"]["message"], word
    assert set(OTHER_WORDS.values()) <= set(typer.main.get_command(app).commands)
    assert not set(OTHER_WORDS) & set(typer.main.get_command(app).commands)
    assert "mean" not in shell.json("zzzzzz", code=2)["error"]["message"]
