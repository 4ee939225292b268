"""The command line against a server: setting up, moving, backing up; two tenants; and no password in anything printed."""

import json
import os
import re
import sys
from collections.abc import Iterable
from contextlib import closing, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import typer

import recollect
from recollect.compose import open_store
from recollect.interfaces.cli.app import app, run
from recollect.stores.protocol import NO_LIMIT
from support.postgres_server import PostgresServer, binaries
from support.script import open_seeded

ACME, GLOBEX = "acme", "globex"
SECRET = "zanzibarquartz"
"""A word in everything that Globex wrote, and in nothing that Acme says or asks."""
PASSWORD = "hunter2-Zx9Q"


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """``pg_dump`` and ``pg_restore`` are on the path, as docs/operations.md asks."""
    monkeypatch.setenv("PATH", str(binaries()), prepend=":")


def fill(location: str | Path, tenant: str, word: str) -> None:
    with open_seeded(location, seed=len(word), tenant=tenant) as mem:
        mem.add(f"Savings of {word} are in the bank", owner="ana", title="savings", idempotency_key="first")
        mem.add(f"Savings of {word} are gone", owner="ana", title="savings", source="agent")
        mem.add(f"My password is {word}-Zx9Q", owner="ana")
        mem.query(f"savings of {word}", owner="ana")
        gone = mem.add(f"Nothing of {word} stays", owner="ben").memory
        untrue = mem.add(f"The dentist of {word} is in Porto", owner="ana").memory
        assert gone is not None and untrue is not None
        mem.reject(untrue.id)
        mem.erase(id=gone.id)


def rows_of(location: str, tenant: str) -> dict[str, list[Any]]:
    """Every row that a tenant has in any table, as it lies."""
    with closing(open_store(location, "unused", 30.0)) as store, store.read(tenant) as reader:
        return {table.name: reader.rows_after(tenant, table, None, NO_LIMIT) for table in reader.tables()}


class Here:
    """Runs `recollect` within this process, in a folder of its own: quick enough to try every command."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
            monkeypatch.delenv(name)

    def said(self, *arguments: str, stdin: str = "") -> tuple[int, str]:
        """The exit code, and whatever was printed on either stream."""
        printed = BytesIO()
        both = TextIOWrapper(printed, encoding="utf-8", write_through=True)
        self._monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode()), encoding="utf-8"))
        with redirect_stdout(both), redirect_stderr(both):
            code = run(arguments)
        return code, printed.getvalue().decode()

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        left_with, printed = self.said(*arguments, stdin=stdin)
        assert left_with == code, f"{arguments}: {left_with}\n{printed}"
        return printed

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, code=code))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


COMMANDS: dict[str, list[str]] = {
    **{name: ["ID"] for name in ("get", "chain", "explain", "archive", "forget", "restore", "history")},
    "reject": ["ID", "--reason", "never true"],
    "lift": ["ID"],
    "rejections": ["--owner", "ana"],
    "consent": ["list", "--owner", "ana"],
    "edit": ["ID", "--pinned"],
    "promote": ["ID", "project", "--owner", "apollo"],
    "phase": ["list", "--owner", "ana"],
    "resolve": ["ID", "--winner", "ID"],
    "link": ["ID", "ID", "--relation-type", "explains"],
    "unlink": ["ID", "ID"],
    "related": ["ID"],
    "vouch": ["ID", "--by", "crow"],
    "withdraw-vouch": ["ID", "--by", "crow"],
    "provenance": ["ancestors", "ID"],
    "entry": ["schema"],
    "ledger": ["checkpoint"],
    "identity": ["list"],
    "list": ["--any-status", "--limit", "1000"],
    "query": ["savings bank", "--top-k", "100"],
    "turn": ["--session", "s1", "--user", "I live in Acme", "--ai", "Good.", "--owner", "ana"],
    "snapshot-block": ["--owner", "ana"],
    "memory-block": ["savings bank", "--owner", "ana"],
    "change-header": ["--owner", "ana", "--space", "user", "--since", "0"],
    "recall-for": ["--session", "s1", "--user", "savings bank", "--owner", "ana"],
    "record": ["--session", "s1", "--user", "I love tea", "--tool", "kettle=it boils", "--owner", "ana"],
    "export": ["--any-status"],
    "traces": ["--limit", "1000"],
    "events": ["--limit", "1000"],
    "ops": ["--by", "total"],
    "stats": [],
    "policy": [],
    "add": ["Acme is well", "--owner", "ana", "--idempotency-key", "first", "--field", "tenant=globex"],
    "add-many": [],
    "import": ["-"],
    "audit": ["-"],
    "upkeep": [],
    "consolidate": ["--force"],
    "update": ["ID", "Acme says otherwise"],
    "supersede": ["ID", "--by", "ID"],
    "rekey": ["--force"],
    "outdated": ["--conflicts"],
    "verify": [],
    "rebuild": [],
    "reindex": ["--embedder", "none"],
    "doctor": [],
    "key": ["list"],
    "growth": [],
    "streams": [],
    "difference": ["0", "--owner", "ana"],
    "try-policy": ["governed"],
    "runs": ["list"],
    "proposals": ["list", "--owner", "ana"],
    "worker": ["--once", "--only-tenant", ACME, "--job", "upkeep"],
    "erase": ["--id", "ID", "--yes"],
}
WHOLE_STORES = {"migrate", "backup", "restore-backup", "db", "demo", "mcp", "serve", "studio", "embedder", "vault"}
"""Commands that take or make a store as a whole, a throw-away one, a file of their own, or none: they name no tenant."""
LINES = json.dumps({"content": "Acme reaches out", "tenant": GLOBEX, "owner": "ana"}) + "\n"
VARIES = re.compile(
    r'"(?:number|size_bytes|store|tokens)": [^\n]+|\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f-]{32,64}\b|\b[0-9a-f]{12}\b'
)
"""What differs between two runs whoever else is there: times, drawn ids and hashes, the tokens of a block that shows such
ids, and figures of the store as a whole."""


def test_every_command_is_tried() -> None:
    group: Any = typer.main.get_command(app)
    assert set(COMMANDS) | WHOLE_STORES == set(group.commands)


def test_nothing_crosses_between_tenants(tmp_path: Path, shell: Here) -> None:
    """Acme is told the same whether or not Globex is in the store, and no row of Globex's moves."""
    location = str(tmp_path / "shared.db")
    fill(location, GLOBEX, SECRET)
    with recollect.open(location, tenant=GLOBEX) as mem:
        ids = [memory.id for memory in mem.list(status=None).items]
    before = rows_of(location, GLOBEX)
    beside = _every_command(shell, location, ids[0])
    assert rows_of(location, GLOBEX) == before
    alone = _every_command(shell, str(tmp_path / "alone.db"), ids[0])
    for name in COMMANDS:
        assert VARIES.sub("…", beside[name]) == VARIES.sub("…", alone[name])
        assert SECRET not in beside[name]
        assert not any(id in beside[name] for id in ids[1:])
    assert alone["get"].startswith("1 ") and "not_found" in alone["get"]
    assert all("acme" in alone[name] for name in ("list", "query", "rejections"))
    assert {name for name, text in alone.items() if text.startswith("2 ")} == {"add", "add-many"}, "they name a tenant"


def _every_command(shell: Here, location: str, foreign_id: str) -> dict[str, str]:
    fill(location, ACME, "acme")
    opening = ["--store", location, "--tenant", ACME, "--json"]
    return {
        name: "{} {}".format(*shell.said(*opening, name, *_naming(foreign_id, rest), stdin=LINES))
        for name, rest in COMMANDS.items()
    }


def _naming(foreign_id: str, arguments: Iterable[str]) -> list[str]:
    return [foreign_id if argument == "ID" else argument for argument in arguments]


@pytest.mark.parametrize("tenant", ["", " ", "a\nb", "\x00", "x" * 257, "\ud800"])
def test_a_tenant_must_be_a_name(shell: Here, server_store: str, tenant: str) -> None:
    refused = shell.json("--store", server_store, "--tenant", tenant, "stats", code=2)
    assert refused["error"]["field"] == "tenant"


@pytest.mark.parametrize(
    "tenant", ["' OR ''='", "globex'; DROP SCHEMA recollect CASCADE; --", "%", "glob_x", "GLOBEX", "ɢʟᴏʙᴇx", '"', "\\"]
)
def test_a_tenants_name_is_a_name_and_nothing_else(shell: Here, server_store: str, tenant: str) -> None:
    """Whatever it looks like to a database, it is somebody else's name, and finds nothing of Globex's."""
    fill(server_store, GLOBEX, SECRET)
    before = rows_of(server_store, GLOBEX)
    opening = ["--store", server_store, "--tenant", tenant]
    shell.run(*opening, "add", "Ours")
    shown = shell.run(*opening, "list", "--any-status")
    assert "Ours" in shown and SECRET not in shown
    assert rows_of(server_store, GLOBEX) == before


def test_a_database_is_set_up_with_partitions(shell: Here, postgres: PostgresServer, empty: str) -> None:
    made = shell.json("--store", empty, "db", "init", "--partitions", "3")
    assert made["partitions"] == 3
    parts = "SELECT count(*) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relname = 'memories'"
    assert postgres.execute(parts, empty) == [(3,)]
    assert shell.json("--store", empty, "db", "init", "--partitions", "3") == made
    refused = shell.json("--store", empty, "db", "init", "--partitions", "4", code=1)["error"]
    assert (refused["code"], refused["field"]) == ("wrong_state", "partitions") and "migrate" in refused["hint"]
    assert shell.json("--store", empty, "add", "Ana likes tea")["outcome"] == "stored"
    assert shell.json("--store", empty, "verify")["ok"]


def test_setting_up_says_what_is_wrong(shell: Here, empty: str) -> None:
    assert shell.json("--store", "memory.db", "db", "init", code=2)["error"]["field"] == "store"
    assert shell.json("--store", empty, "db", "init", "--partitions", "x", code=2)["error"]["code"] == "bad_input"
    assert list(shell.folder.iterdir()) == []


def test_a_store_moves_to_a_server_and_back(shell: Here, empty: str) -> None:
    for tenant, word in ((ACME, "acme"), (GLOBEX, SECRET)):
        fill(shell.folder / "memory.db", tenant, word)
    there = shell.json("migrate", "--from", "memory.db", "--to", empty)
    back = shell.json("migrate", "--from", empty, "--to", "back.db")
    assert there["tenants"] == back["tenants"] and [one["tenant"] for one in back["tenants"]] == [ACME, GLOBEX]
    again = shell.json("migrate", "--from", "memory.db", "--to", empty, code=1)["error"]
    assert (again["code"], again["field"]) == ("wrong_state", "to")
    assert rows_of(str(shell.folder / "back.db"), GLOBEX) == rows_of(str(shell.folder / "memory.db"), GLOBEX)
    assert shell.json("--store", empty, "--tenant", ACME, "verify")["ok"]


def test_one_tenant_moves_alone(shell: Here, postgres: PostgresServer, empty: str) -> None:
    """Nothing of anybody else's goes along, not even a word in a file of the server's."""
    for tenant, word in ((ACME, "acme"), (GLOBEX, SECRET)):
        fill(shell.folder / "memory.db", tenant, word)
    moved = shell.json("migrate", "--from", "memory.db", "--to", empty, "--only-tenant", ACME)
    assert [one["tenant"] for one in moved["tenants"]] == [ACME]
    assert not any(rows_of(empty, GLOBEX).values())
    postgres.execute("CHECKPOINT")
    assert not [file for file in postgres.table_files(empty) if SECRET.encode() in file.read_bytes()]


def test_moving_says_what_is_wrong(shell: Here, server_store: str) -> None:
    fill(shell.folder / "memory.db", ACME, "acme")
    fill(server_store, GLOBEX, SECRET)
    assert shell.json("migrate", "--from", "no.db", "--to", "x.db", code=3)["error"]["field"] == "no.db"
    other = shell.json("migrate", "--from", "memory.db", "--to", server_store, code=1)["error"]
    assert (other["code"], other["field"]) == ("wrong_state", "to")
    assert not (shell.folder / "x.db").exists()


def test_a_backup_is_put_back_and_forgets_again(shell: Here, server_store: str, empty: str, programs: None) -> None:
    fill(server_store, ACME, "acme")
    fill(server_store, GLOBEX, SECRET)
    made = shell.json("--store", server_store, "backup", "nightly.dump")
    assert made["bytes"] > 0 and (shell.folder / "nightly.dump.erased").exists()
    shell.json("--store", server_store, "--tenant", GLOBEX, "erase", "--owner", "ana", "--yes")
    restored = shell.json("--store", empty, "restore-backup", "nightly.dump")
    assert [(one["tenant"], one["verified"]) for one in restored["tenants"]] == [(ACME, True), (GLOBEX, True)]
    roots = {one["tenant"]: one["ledger_root"] for one in restored["tenants"]}
    with recollect.open(server_store, tenant=ACME) as mem:
        assert mem.ledger_root() == roots[ACME]
    assert shell.json("--store", empty, "--tenant", GLOBEX, "list", "--any-status")["items"] == []
    refused = shell.json("--store", empty, "restore-backup", "nightly.dump", code=1)["error"]
    assert refused["code"] == "wrong_state"
    assert "is there already" in shell.json("--store", empty, "backup", "nightly.dump", code=3)["error"]["message"]


def test_backing_up_says_what_is_wrong(
    shell: Here, server_store: str, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = shell.json("--store", server_store, "--as-user", "ana", "backup", "copy.dump", code=1)["error"]
    assert refused["code"] == "not_allowed"
    assert shell.json("--store", empty, "restore-backup", "no.dump", code=3)["error"]["field"] == "no.dump"
    monkeypatch.setenv("PATH", str(shell.folder))
    without = shell.json("--store", server_store, "backup", "copy.dump", code=3)["error"]
    assert without["message"] == "pg_dump was not found." and "RECOLLECT_PG_BIN" in without["hint"]
    assert list(shell.folder.iterdir()) == []


def test_what_is_no_backup_is_refused_and_leaves_nothing(
    shell: Here, postgres: PostgresServer, empty: str, programs: None
) -> None:
    (shell.folder / "letter.txt").write_text("Dear Ana")
    refused = shell.json("--store", empty, "restore-backup", "letter.txt", code=3)["error"]
    assert refused["code"] == "store_unavailable" and "pg_restore failed" in refused["message"]
    assert postgres.execute("SELECT to_regnamespace('recollect') IS NULL", empty) == [(True,)]


def _with_password(url: str) -> str:
    return url.replace("postgres@", f"postgres:{PASSWORD}@")


def test_no_command_prints_the_password(shell: Here, server_store: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither as JSON nor, which every third shows, to people."""
    fill(server_store, ACME, "acme")
    opening = ["--store", _with_password(server_store), "--tenant", ACME]
    for number, (name, rest) in enumerate(COMMANDS.items()):
        form = [] if number % 3 == 0 else ["--json"]
        assert PASSWORD not in shell.said(*opening, *form, name, *rest, stdin=LINES)[1]
    assert PASSWORD not in caplog.text


def test_a_vault_is_a_file_and_no_server(shell: Here) -> None:
    url = f"postgresql://ana:{PASSWORD}@localhost:1/memory"
    for command in (["stats"], ["add", "Ana likes tea", "shared", "preference"]):
        printed = shell.run("--json", "--store", url, "vault", *command, code=2)
        assert json.loads(printed)["error"]["field"] == "path" and PASSWORD not in printed
    assert list(shell.folder.iterdir()) == []


def test_whole_stores_are_named_without_their_password(
    shell: Here, server_store: str, empty: str, programs: None
) -> None:
    fill(server_store, ACME, "acme")
    printed = shell.run("--json", "--store", _with_password(server_store), "backup", "copy.dump")
    printed += shell.run("--store", _with_password(empty), "restore-backup", "copy.dump")
    printed += shell.run("migrate", "--from", _with_password(empty), "--to", "copy.db")
    printed += shell.run("--store", _with_password(empty), "db", "init", "--partitions", "7", code=1)
    assert "postgresql://postgres@" in printed and PASSWORD not in printed


WRONG = {
    f"postgresql://ana:{PASSWORD}@localhost:1/memory": (3, "store_unavailable"),
    f"postgresql://localhost:1/memory?user=ana&password={PASSWORD}": (3, "store_unavailable"),
    f"postgresql://ana:{PASSWORD}@localhost:port:1/memory?x": (2, "bad_input"),
    f"mysql://ana:{PASSWORD}@localhost/memory": (2, "bad_input"),
    f"postgresql+psycopg://ana:{PASSWORD}@localhost/memory": (2, "bad_input"),
    f"postgresql://ana:{PASSWORD}@localhost:1/memory?recollect_connections=none": (2, "bad_input"),
}


@pytest.mark.parametrize("url", WRONG)
def test_a_url_that_does_not_work_is_an_error_without_its_password(shell: Here, url: str) -> None:
    code, kind = WRONG[url]
    printed = shell.run("--json", "--store", url, "stats", code=code)
    error = json.loads(printed)["error"]
    assert error["code"] == kind and error["field"] and error["message"]
    assert PASSWORD not in printed


@pytest.mark.parametrize("place", ["no_such_database", "role"])
def test_a_server_that_refuses_is_an_error_without_the_password(
    shell: Here, postgres: PostgresServer, place: str
) -> None:
    url = postgres.url("nowhere") if place == "no_such_database" else postgres.url(user="nobody_at_all")
    printed = shell.run("--store", re.sub(r"//(\w+)@", rf"//\1:{PASSWORD}@", url), "stats", code=3)
    assert printed.startswith("recollect: postgresql://") and "does not exist" in printed
    assert PASSWORD not in printed
