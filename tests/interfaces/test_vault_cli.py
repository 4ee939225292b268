"""The vault on the command line: each command is a method of ``MemoryVault``, with its answers and its codes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.cli.app import app
from recollect.vault import MemoryVault

from .shell import Shell

Vault = Callable[..., Any]


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Vault:
    """Runs a command of the vault in a folder of its own, and returns the JSON that it prints."""
    monkeypatch.chdir(tmp_path)

    def running(*arguments: str, code: int = 0, plain: bool = False) -> Any:
        done = app(["--store", "v.jsonl", *([] if plain else ["--json"]), "vault", *arguments], standalone_mode=False)
        printed = capsys.readouterr().out
        assert (done or 0) == code, printed
        return printed if plain else json.loads(printed)

    return running


def test_a_memory_from_its_first_line_to_its_last(vault: Vault) -> None:
    added = vault("add", "The mission is to stabilise", "shared", "mission", "--tag", "core", "--source", "chat")
    assert (added["outcome"], added["memory"]["tags"], added["memory"]["source"]) == ("stored", ["core"], "chat")
    id = added["memory"]["id"]
    assert vault("update", id, "The mission is to explore")["memory"]["version"] == 2
    assert [hit["memory"]["id"] for hit in vault("search", "mission")] == [id]
    assert [memory["id"] for memory in vault("recall", "--tier", "canon")] == [id]
    assert vault("get", id)["text"] == "The mission is to explore"
    assert vault("stats")["raw_lines"] == 2
    assert vault("delete", id, "ffffffffffff", code=1)[1]["code"] == "not_found"
    assert vault("recall") == []
    assert vault("compact") == {"before": 3, "after": 0}
    assert [*Path("v.jsonl").read_bytes()] == []


def test_a_refusal_is_an_answer_with_exit_code_1(vault: Vault) -> None:
    refused = vault("add", "tick marker for burst 5", "shared", "project", code=1)
    assert (refused["outcome"], refused["code"], refused["memory"]) == ("denied", "noise_signal", None)
    said = vault("add", "tick marker for burst 5", "shared", "project", code=1, plain=True)
    assert "noise_signal" in said and "burst journal" in said


def test_registers_review_and_blocks(vault: Vault) -> None:
    made = vault("topic", "current_projects", "shared", "Projects: dashboard", "--category", "project")["memory"]
    assert vault("topic", "current_projects", "shared", "Projects: garden")["outcome"] == "updated"
    vault("add", "Lunch was soup", "orion", "general", "--tier", "register")
    (proposed,) = vault("deletions")
    assert (proposed["code"], proposed["memory"]["text"]) == ("register_without_topic", "Lunch was soup")
    assert vault("candidates", "--floor", "0.1", "shared") == []
    assert vault("promote", made["id"], "Projects are reviewed on Mondays")["outcome"] == "promoted"
    assert "Projects are reviewed" in vault("snapshot", plain=True)
    assert "Lunch" in vault("block", "orion", "--query", "lunch soup", plain=True)
    assert "Lunch was soup" in vault("recall", plain=True)


def test_it_is_the_file_that_the_class_opens_as_the_profile_allows(vault: Vault) -> None:
    Path("orion.yaml").write_text("memory: {scopes: [shared, orion]}", encoding="utf-8")
    refused = vault("add", "Elysia paints at night", "elysia", "bio", "--profile", "orion.yaml", code=1)
    assert refused["code"] == "scope_not_yours"
    assert vault("add", "Orion counts the stars", "orion", "bio", "--profile", "orion.yaml")["outcome"] == "stored"
    with MemoryVault("v.jsonl") as opened:
        assert [memory.text for memory in opened.active()] == ["Orion counts the stars"]


def test_bad_usage_is_named(shell: Shell) -> None:
    file = ("--store", "v.jsonl")
    shell.json("vault", "add", "Owls hunt at dusk", "shared", "fact", *file)
    assert shell.json("vault", "recall", "hermes", *file, code=2)["error"]["field"] == "scope"
    assert shell.json("vault", "get", "ffffffffffff", *file, code=1)["error"]["field"] == "id"
    assert "there is no vault" in shell.json("vault", "stats", "--store", "missing.jsonl", code=3)["error"]["message"]
    assert not (shell.folder / "missing.jsonl").exists()
    assert "no_such" in shell.json("vault", "stats", *file, "--policy", "no_such", code=2)["error"]["field"]
    assert shell.json("vault", "recall", *file, "--as-agent", "orion", code=2)["error"]["field"] == "as_agent"
