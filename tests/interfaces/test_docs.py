"""Documentation that cannot drift: every command, setting, code and field is in it, and every example runs."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from recollect.interfaces.cli.app import app
from recollect.interfaces.python import Recollect
from recollect.model.policy import settings
from recollect.model.record import Candidate, Memory
from recollect.policies import PRESETS, load_policy
from recollect.rules.reasons import REASONS
from rows import every_row

from .shell import Shell

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/decisions/*.md")])
OTHER_PAGES = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md")]
"""Pages whose examples are not run, but whose links and names have to be right."""
BLOCK = re.compile(r"^```(python|sh|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[object]:
    found = []
    for page in PAGES:
        for number, (of, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), start=1):
            if of == language:
                found.append(pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}"))
    return found


def read(page: str) -> str:
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def without_blocks(page: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def headings(page: Path) -> set[str]:
    """Return the headings of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", without_blocks(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def what_is_wrong_with(line: str) -> str:
    """Return what a quoted command line names that does not exist, or an empty text."""
    command: Any = typer.main.get_command(app)
    common = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
    words = iter(shlex.split(re.split(r" \| | …", line)[0], comments=True)[1:])
    arguments = 0
    for word in words:
        if word.startswith("--"):
            name, has_value = word.partition("=")[::2]
            own = {name: option for option in command.params for name in (*option.opts, *option.secondary_opts)}
            option = own.get(name) or common.get(name)
            if option is None and name != "--help":
                return f"no option {name}"
            if option is not None and not option.is_flag and not has_value:
                next(words, None)
        elif hasattr(command, "commands"):
            if word not in command.commands:
                return f"no command {word}"
            command = command.commands[word]
        else:
            arguments += 1
    taken = [one for one in command.params if one.param_type_name == "argument"]
    return "" if arguments <= len(taken) or any(one.nargs == -1 for one in taken) else "too many arguments"


def test_generated_pages_are_what_the_code_makes() -> None:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.pages().items():
        assert read(name) == text, f"docs/{name} is stale: run `make docs`"


def test_every_command_is_documented() -> None:
    for name in typer.main.get_command(app).commands:
        assert f"\n## {name}\n" in read("cli.md")


def test_every_setting_is_documented() -> None:
    for name, meaning, _ in settings():
        assert meaning, f"{name} has no description"
        assert f"| `{name}` |" in read("policy.md")


def test_every_reason_code_is_documented() -> None:
    for code in REASONS:
        assert f"| `{code}` |" in read("reasons.md")


def test_every_field_is_documented() -> None:
    page = read("record.md")
    for name in {f.name for f in fields(Memory)} | set(Candidate.model_fields):
        assert f"`{name}`" in page, f"docs/record.md does not mention {name}"


def test_every_event_is_documented() -> None:
    from recollect.model.ledger import HISTORY_KIND

    page = read("history.md")
    for event, kind in HISTORY_KIND.items():
        assert f"| `{event}` | {kind} |" in page


@pytest.mark.parametrize("text", blocks("python"))
def test_python_examples_run(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(text, "<example>", "exec"), {})


_FOR_A_SHELL = re.compile(r"[|<>$;&`*~\\]")
"""What only a shell understands; a plain command is run without one, which is several times quicker."""


@pytest.mark.parametrize("text", blocks("sh"))
def test_shell_examples_run(text: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for line in text.splitlines():
        if line.startswith("recollect ") and not _FOR_A_SHELL.search(line):
            Shell(tmp_path).run(*shlex.split(line, comments=True)[1:])
        elif line.strip() and not line.startswith(("make ", "#")):
            done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}: {done.stderr}"


@pytest.mark.parametrize("text", blocks("yaml"))
def test_policy_examples_load(text: str, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    assert load_policy(file).preset in PRESETS


@every_row("page", [*PAGES, *OTHER_PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", without_blocks(page)):
        if "://" in target:
            continue
        file, _, heading = target.partition("#")
        aim = page.parent / file if file else page
        assert aim.exists(), f"{page.name} links to {target}"
        assert not heading or heading in headings(aim), f"{page.name} links to {target}"


@every_row("page", [*PAGES, *OTHER_PAGES])
def test_quoted_commands_exist(page: Path) -> None:
    quoted = re.findall(r"`(recollect [^`]+)`", without_blocks(page))
    for _, block in re.findall(
        r"^```(bash|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    ):
        quoted += re.findall(r"^(?:\$ )?(recollect .*)", block.replace("\\\n", " "), re.MULTILINE)
    for line in quoted:
        assert not (wrong := what_is_wrong_with(line)), f"{page.name}: {line}: {wrong}"


@every_row("page", [*PAGES, *OTHER_PAGES])
def test_methods_that_pages_name_exist(page: Path) -> None:
    named = set(re.findall(r"\bmem\.(\w+)", page.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not hasattr(Recollect, name)] == []


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(
        r"`make (\w+)`|^make (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    ):
        assert re.search(rf"^{target[0] or target[1]}:", makefile, re.MULTILINE)


def test_every_file_that_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`(src/recollect/[\w/.]+)`", text)
    assert len(named) >= 15
    assert [name for name in named if not (ROOT / name).exists()] == []
    rooms = re.findall(r"^    (\w+)/ ", text, re.MULTILINE)
    assert rooms and all(
        any((ROOT / "src/recollect" / top / room).is_dir() for top in ("rules", "engine")) for room in rooms
    )
