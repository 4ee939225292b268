"""The command line as people and programs use it: real processes, real exit codes, one JSON document."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from recollect.interfaces.cli.app import OF_EVERY_COMMAND, app

from .shell import Shell


def test_a_memory_s_life(shell: Shell) -> None:
    first = shell.json("add", "The API port is 8080", "--owner", "ana", "--tag", "net", "--meta", '{"n": 1}')
    assert (first["outcome"], first["memory"]["canonical_key"]) == ("stored", "Api-Port-Number")
    assert first["memory"]["tags"] == ["net"] and first["memory"]["meta"]["n"] == 1
    second = shell.json("add", "The API port is 9090", "--owner", "ana")
    assert second["outcome"] == "superseded"
    id = second["memory"]["id"]
    short = id.replace("-", "")[:12]
    assert shell.json("get", short)["content"] == "The API port is 9090"
    assert [v["version"] for v in shell.json("chain", short)] == [1, 2]
    assert [e["event"] for e in shell.json("history", first["memory"]["id"])] == ["ADD", "UPDATE"]
    assert shell.json("query", "api port")["items"][0]["memory"]["id"] == id
    assert shell.json("edit", short, "--pinned", "--importance", "5")["pinned"] is True
    assert shell.json("forget", short)["status"] == "soft_deleted"
    assert shell.json("query", "api port")["items"] == []
    assert shell.json("restore", short)["status"] == "active"
    assert shell.json("archive", short)["status"] == "archived"
    assert len(shell.json("list", "--any-status")["items"]) == 2
    assert shell.json("stats")["by_status"] == {"archived": 1, "superseded": 1}
    assert len(shell.json("history", "--owner", "ana", "--since", "1")) > 3
    assert shell.json("verify")["ok"] is True
    assert shell.json("doctor") == []
    assert shell.json("rebuild") == {"rebuilt": 2}
    assert shell.json("upkeep")["purged"] == []
    assert shell.json("erase", "--owner", "ana", code=2)["error"]["field"] == "yes"
    receipt = shell.json("erase", "--owner", "ana", "--yes")
    assert len(receipt["removed"]) == 2
    assert shell.json("get", short, code=1)["error"]["code"] == "not_found"
    assert shell.json("verify")["ok"] is True


def test_the_options_of_every_command_stand_before_it_or_after_it(shell: Shell) -> None:
    made = json.loads(shell.run("add", "Ana likes tea", "--json", "--store", "other.db", "--tenant", "acme"))["memory"]
    assert json.loads(shell.run("--store", "other.db", "get", made["id"], "--tenant", "acme", "--json")) == made
    assert shell.json("--store", "no-such.db", "stats", "--store", "other.db", "--tenant", "acme")["memories"] == 1
    assert (
        json.loads(shell.run("ledger", "--tenant", "acme", "checkpoint", "--store", "other.db", "--json"))["size"] == 1
    )
    assert (
        json.loads(shell.run("get", "ffffffffffff", "--store", "other.db", "--json", code=1))["error"]["field"] == "id"
    )


def test_no_command_uses_the_name_of_an_option_of_every_command_for_something_else() -> None:
    def below(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, command in getattr(group, "commands", {}).items():
            yield (*path, name), command
            yield from below(command, *path, name)

    commands = dict(below(typer.main.get_command(app)))
    assert {("add",), ("ledger", "checkpoint")} <= set(commands)
    for path, command in commands.items():
        names = [option.name for option in command.params]
        flags = [flag for option in command.params for flag in (*option.opts, *option.secondary_opts)]
        assert set(names) >= OF_EVERY_COMMAND, path
        assert (len(names), len(flags)) == (len(set(names)), len(set(flags))), path


def test_every_field_and_filter_is_reachable(shell: Shell) -> None:
    made = shell.json(
        "add",
        "Rivers flow",
        "--field",
        "run-id=r7",
        "--field",
        'entities=[{"name": "river"}]',
        "--field",
        "confidence=0.5",
    )["memory"]
    assert (made["run_id"], made["entities"], made["confidence"]) == ("r7", [{"name": "river"}], 0.5)
    assert len(shell.json("list", "--where", "run_id=r7")["items"]) == 1
    assert shell.json("list", "--where", "run_id=r8")["items"] == []
    assert shell.json("add", "x", "--field", "nonsense", code=2)["error"]["field"] == "field"
    assert shell.json("add", "x", "--field", "colour=red", code=2)["error"]["field"] == "colour"
    assert shell.json("list", "--where", "kind=nonsense", code=2)["error"]["field"]


def test_contradictions_are_resolved(shell: Shell) -> None:
    shell.run("add", "The flag is on", "--canonical-key", "app-flag-state")
    waiting = shell.json("add", "The flag is off", "--canonical-key", "app-flag-state", "--source", "agent")
    assert waiting["outcome"] == "contradicted"
    assert "contradictory" in shell.run("doctor", code=1)
    id = waiting["memory"]["id"]
    assert shell.json("resolve", id, "--winner", id)["status"] == "active"


def test_a_denied_write_is_an_answer_with_exit_code_1(shell: Shell) -> None:
    receipt = shell.json("add", "My password is hunter2-Zx9Q", code=1)
    assert receipt["outcome"] == "denied" and receipt["reasons"] == ["privacy_deny_sensitive"]
    assert [t["type"] for t in shell.json("traces")["items"]] == ["memory_denied"]
    assert "hunter2" not in shell.run("traces") + shell.errors


def test_errors_are_one_json_document_with_the_right_exit_code(shell: Shell) -> None:
    shell.run("add", "Rivers flow")
    assert shell.json("get", "ffffffffffff", code=1)["error"]["code"] == "not_found"
    assert shell.json("add", "", code=2)["error"]["field"] == "content"
    assert shell.json("add", "x", "--importance", "9", code=2)["error"]["field"] == "importance"
    assert shell.json("add", "x", "--kind", "nonsense", code=2)["error"]["code"] == "bad_input"
    assert shell.json("add", "x", "--meta", "{", code=2)["error"]["field"] == "meta"
    assert shell.json("no-such-command", code=2)["error"]["code"] == "bad_input"
    assert shell.json("--policy", "no-such-policy", "stats", code=2)["error"]["code"] == "bad_policy"
    (shell.folder / "text.db").write_text("this is not a database, " * 100)
    assert shell.json("--store", "text.db", "stats", code=3)["error"]["code"] == "store_corrupt"
    assert shell.json("--store", "no/such/folder/x.db", "stats", code=3)["error"]["code"] == "store_unavailable"
    assert shell.json("--store", "mysql://x", "stats", code=2)["error"]["field"] == "store"


def test_errors_for_people_say_what_to_do(shell: Shell) -> None:
    shell.run("add", "Rivers flow")
    shell.run("get", "ffffffffffff", code=1)
    assert shell.errors.startswith("recollect: id: there is no memory 'ffffffffffff'.") and "list" in shell.errors


def test_lines_in_and_lines_out(shell: Shell) -> None:
    lines = "\n".join(
        json.dumps({"content": f"Fact number {n} about rivers", "title": f"river {n}"}) for n in range(20)
    )
    assert len(shell.json("add-many", stdin=lines)) == 20
    exported = shell.run("export")
    assert len(exported.splitlines()) == 20
    assert len(shell.json("export")) == 20
    (shell.folder / "out.jsonl").write_text(exported)
    report = shell.json("--store", "other.db", "import", "out.jsonl", "--format", "recollect")
    assert report["outcomes"] == {"stored": 20} and report["refused"] == []
    again = shell.json("--store", "other.db", "import", "-", "--format", "recollect", stdin=exported)
    assert again["outcomes"] == {"already_there": 20}
    found = shell.json("--store", "other.db", "list", "--limit", "5")
    assert len(found["items"]) == 5 and found["next_cursor"]
    assert (
        len(shell.json("--store", "other.db", "list", "--limit", "50", "--cursor", found["next_cursor"])["items"]) == 15
    )
    assert (
        shell.json("import", "-", "--format", "recollect", stdin="nonsense", code=2)["error"]["field"]
        == "standard input, line 1"
    )


def test_borders_hold_on_the_command_line(shell: Shell) -> None:
    id = shell.json("--as-user", "ana", "add", "Ana's own note about gardens")["memory"]["id"]
    assert shell.json("--as-user", "ana", "get", id)["owner"] == "ana"
    foreign = shell.json("--as-user", "ben", "get", id, code=1)
    missing = shell.json("--as-user", "ben", "get", "ffffffff-ffff-ffff-ffff-ffffffffffff", code=1)
    assert foreign["error"]["code"] == missing["error"]["code"] == "not_found"
    assert shell.json("--as-user", "ben", "query", "gardens")["items"] == []
    assert shell.json("--as-user", "ben", "verify", code=1)["error"]["code"] == "not_allowed"
    assert shell.json("--as-user", "ben", "erase", "--owner", "ana", "--yes", code=1)["error"]["code"] == "not_allowed"


def test_consolidation_is_proposed_applied_and_undone(shell: Shell) -> None:
    shell.run("add", "The build server is in Frankfurt", "--title", "a one")
    shell.run("add", "The build server is in Frankfurt.", "--title", "b two")
    assert [s["action"] for s in shell.json("consolidate")["steps"]] == ["redundant"]
    assert len(shell.json("list")["items"]) == 2
    assert shell.json("consolidate", "--force")["applied"] is True
    assert len(shell.json("list")["items"]) == 1
    shell.run("consolidate", "--undo")
    assert len(shell.json("list")["items"]) == 2
    assert shell.json("consolidate", "--undo", code=1)["error"]["code"] == "wrong_state"
    assert shell.json("verify")["ok"] is True


def test_erase_asks_first(shell: Shell) -> None:
    id = shell.json("add", "Something to lose")["memory"]["id"]
    shell.run("erase", "--id", id, stdin="n\n", code=1)
    assert shell.json("get", id)["status"] == "active"
    shell.run("erase", "--id", id, stdin="y\n")
    shell.run("get", id, code=1)


def test_the_demo_shows_everything(shell: Shell) -> None:
    shown = shell.run("demo")
    for word in ("reinforced", "superseded", "contradicted", "denied", "found in 0", "0 hits by default", "broken at"):
        assert word in shown
    assert list(shell.folder.iterdir()) == []


@pytest.mark.parametrize("command", ["add", "list", "get", "query", "history", "explain", "policy", "consolidate"])
def test_every_command_has_help(shell: Shell, command: str) -> None:
    assert "Usage:" in shell.run(command, "--help")


def test_tables_for_people(shell: Shell) -> None:
    shown = shell.run("add", "Ana likes tea")
    assert "stored" in shown and "Ana-Likes-Tea" in shown
    assert "Ana likes tea" in shell.run("list")
    assert "Ana likes tea" in shell.run("query", "tea")
    assert "conflict.policy" in shell.run("policy")
    assert shell.run("--version").strip()
