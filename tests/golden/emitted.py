"""Which codes the engine can put into an event, read from its source: what the scenarios have to cover."""

import ast
from collections.abc import Iterator
from pathlib import Path

import recollect
from recollect.rules.reasons import REASONS

_SOURCE = Path(recollect.__file__).parent
_TRACES = "recollect.model.trace"


def refusals() -> set[str]:
    """Every code with which a write, a read, a border or a promotion can be refused.

    A gate says no with ``Rejection(gate, code, …)``, or with what it has put into ``code`` before. Where there is no gate, a
    function that returns a code or ``None`` says no with the code; those stand among the rules and where the engine makes
    events.
    """
    found: set[str] = set()
    for path in (*_SOURCE.glob("rules/**/*.py"), *_SOURCE.glob("engine/**/*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= set(_rejections(tree))
        if path.is_relative_to(_SOURCE / "rules"):
            found |= {*_assigned(tree), *_returned(tree)}
        elif _makes_events(tree):
            found |= set(_returned(tree))
    return found


def _rejections(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Rejection":
            yield from _codes(node.args[1])


def _assigned(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "code":
            yield from _codes(node.value)


def _returned(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.returns and "str | None" in ast.unparse(node.returns):
            yield from _codes(node)


def _makes_events(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and any(f"{node.module}.{alias.name}" == _TRACES for alias in node.names)
        for node in ast.walk(tree)
    )


def _codes(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in REASONS:
            yield str(node.value)
