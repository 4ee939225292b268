"""Regenerating shows what would change, and changes it only when asked to."""

import io
import shutil
import sys
from pathlib import Path

import pytest

from .regenerate import main, regenerate
from .scenario import FOLDER, files

ONE = FOLDER / "conflict_recency.yaml"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copy(ONE, tmp_path))


@pytest.fixture
def doctored(copied: Path) -> Path:
    text = copied.read_text(encoding="utf-8")
    copied.write_text(text.replace("rule: recency", "rule: importance"), encoding="utf-8")
    return copied


def test_the_files_are_as_they_would_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    """So that the difference which is shown is one of behaviour, never one of layout."""
    assert main([str(path) for path in files()[::8]]) == 0
    assert capsys.readouterr().out == "Every trace is as its file says.\n"


def test_without_write_a_difference_is_shown_and_nothing_changes(doctored: Path) -> None:
    before, out = doctored.read_bytes(), io.StringIO()
    assert regenerate([doctored], write=False, out=out) == 1
    assert doctored.read_bytes() == before
    lines = out.getvalue().splitlines()
    assert lines[0] == "--- conflict_recency.yaml (as it is)"
    assert [line for line in lines[2:] if line.startswith("-")] == [
        line for line in lines if "rule: importance" in line
    ]
    assert any(line.startswith("+") and "rule: recency" in line for line in lines)


def test_write_puts_it_right_and_leaves_the_situation_alone(doctored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    situation = "# why this matters\n" + doctored.read_text(encoding="utf-8")
    doctored.write_text(situation, encoding="utf-8")
    assert main(["--write", str(doctored)]) == 0
    assert "rule: recency" in capsys.readouterr().out
    assert doctored.read_text(encoding="utf-8") == "# why this matters\n" + ONE.read_text(encoding="utf-8")


def test_a_difference_is_told_to_the_shell(doctored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(doctored)]) == 1
    assert capsys.readouterr().out.endswith("1 file would change; --write changes them.\n")


def test_a_new_file_gets_its_whole_trace(copied: Path) -> None:
    situation = copied.read_text(encoding="utf-8").split("\nexpect:")[0]
    copied.write_text(f"{situation}\n", encoding="utf-8")
    assert regenerate([copied], write=True, out=io.StringIO()) == 1
    assert copied.read_text(encoding="utf-8") == ONE.read_text(encoding="utf-8")


def test_it_runs_as_a_command(doctored: Path) -> None:
    import subprocess

    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.regenerate", str(doctored)], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "+" in done.stdout and "rule: recency" in done.stdout
