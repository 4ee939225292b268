"""Whole stores from the command line: migrate, backup, restore --backup."""

import recollect

from .shell import Shell


def _filled(shell: Shell) -> None:
    with recollect.open(shell.folder / "recollect.db") as mem:
        mem.add("Ana prefers dark mode", owner="ana")
        mem.add("Ben keeps bees", owner="ben")


def test_migrate_prints_what_both_sides_agree_on(shell: Shell) -> None:
    _filled(shell)
    answer = shell.json("migrate", "--from", "recollect.db", "--to", "new.db")
    with recollect.open(shell.folder / "new.db") as mem:
        assert [(one["tenant"], one["ledger_root"], one["state_hash"]) for one in answer["tenants"]] == [
            ("default", mem.ledger_root(), mem.state_hash())
        ]
    again = shell.json("migrate", "--from", "recollect.db", "--to", "new.db", code=1)
    assert (again["error"]["code"], again["error"]["field"]) == ("wrong_state", "to")


def test_backup_and_restore(shell: Shell) -> None:
    _filled(shell)
    shell.json("backup", "copy.bak")
    shell.run("erase", "--owner", "ben", "--yes")
    answer = shell.json("--store", "back.db", "restore-backup", "copy.bak")
    assert answer["tenants"][0]["verified"] and answer["forgotten_again"] > 0
    assert [m["owner"] for m in shell.json("--store", "back.db", "list")["items"]] == ["ana"]
    refused = shell.json("--store", "back.db", "restore-backup", "copy.bak", code=1)
    assert refused["error"]["code"] == "wrong_state"


def test_people_see_tables(shell: Shell) -> None:
    _filled(shell)
    assert "holds the same as" in shell.run("migrate", "--from", "recollect.db", "--to", "new.db")
    assert "copy.bak" in shell.run("backup", "copy.bak")
    assert "verified" in shell.run("--store", "back.db", "restore-backup", "copy.bak")


def test_restore_takes_a_memory_and_restore_backup_a_backup(shell: Shell) -> None:
    shell.run("restore", code=2)
    shell.run("restore", "0123456789ab", "--backup", "copy.bak", code=2)
    shell.run("restore-backup", code=2)
