"""What a turn prints for people: what was recalled and why, what it left behind and where, and what was taken back."""

import os
import subprocess
import sys
from pathlib import Path

from .shell import Shell


def said(shell: Shell, user: str, *more: str) -> str:
    return str(shell.run("turn", "--session", "s1", "--user", user, *more))


def test_it_says_what_was_kept_where_and_once(shell: Shell) -> None:
    printed = said(shell, "I love fado. The build server stands in Frankfurt.", "--ai", "Noted.", "--owner", "ana")
    assert printed.count("The user loves fado.") == 1, "not once for the session and once for the person"
    assert "user ana" in printed and "2 lines of the conversation kept in session s1" in printed
    again = said(shell, "No emojis, please.", "--owner", "ana")
    assert "it matters whatever is asked" in again, "it says why each is recalled"


def test_it_says_what_was_forgotten_and_what_left_the_window(shell: Shell) -> None:
    said(shell, "Our van is parked behind the brewery.", "--owner", "ana")
    printed = said(shell, "Forget what I just said.", "--owner", "ana")
    assert "2 memories forgotten, as the person said" in printed and "window" not in printed
    assert printed.count("the person asked not to keep what was said") == 1


def test_it_says_why_something_stays_in_the_session(shell: Shell) -> None:
    assert "name an `owner`" in said(shell, "I like tea")
    kept = said(shell, "Remember this for the project: we use Postgres.", "--owner", "ana")
    assert "name the `project`" in kept


def test_python_runs_the_command_line_by_the_name_of_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "recollect", "--store", str(tmp_path / "memory.db"), "add", "Ana likes tea"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert done.returncode == 0 and "stored" in done.stdout, done.stderr


def test_a_new_version_says_which_one_it_takes_the_place_of(shell: Shell) -> None:
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    assert "Ana-Home-City v2, in place of v1" in shell.run("add", "Ana now lives in Porto", "--owner", "ana")
