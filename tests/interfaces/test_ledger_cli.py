"""Proof on the command line: checkpoints and keys from a store, and checking in a folder that has none."""

import hashlib
import json
import stat
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.interfaces.cli.app import app
from recollect.model.errors import RecollectError

from .shell import Shell

HANDED_OUT = ("kept.json", "signed.json", "memory.json", "growth.json", "auditor.pem")


class Desk:
    """Runs commands in a folder of its own as :class:`Shell` does, but in this process: starting one takes a second."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        with chdir(self.folder):
            done = CliRunner().invoke(app, arguments, input=stdin, standalone_mode=False)
        failed = done.exception
        if failed is not None and not isinstance(failed, RecollectError):
            raise failed
        self.errors = str(failed)
        found = failed.exit_code if failed is not None else done.return_value or 0
        assert found == code, f"{arguments}: {found}\n{done.output}\n{self.errors}"
        return done.stdout

    def json(self, *arguments: str, stdin: str = "", code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, stdin=stdin, code=code))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A store with checkpoints, signed and not, and what was handed out from it."""
    shell = Desk(tmp_path_factory.mktemp("store"))
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    shell.run("ledger", "checkpoint", "--out", "kept.json")
    shell.run("identity", "new", "auditor")
    added = shell.json("add", "Ana now lives in Porto", "--owner", "ana")
    shell.run("ledger", "checkpoint", "--sign-as", "auditor", "--out", "signed.json")
    shell.run("ledger", "prove", "--id", added["memory"]["id"][:13], "--out", "memory.json")
    shell.run("ledger", "prove", "--since", "kept.json", "--out", "growth.json")
    (shell.folder / "auditor.pem").write_text(shell.run("identity", "show", "auditor", "--pem"))
    return shell


@pytest.fixture
def elsewhere(told: Desk, tmp_path: Path) -> Desk:
    """A folder that holds what was handed out, and no store."""
    for name in HANDED_OUT:
        (tmp_path / name).write_text((told.folder / name).read_text())
    return Desk(tmp_path)


def test_proofs_are_checked_without_the_store(elsewhere: Desk) -> None:
    for name in ("signed.json", "memory.json"):
        assert elsewhere.json("ledger", "check", name, "--key", "auditor.pem")["ok"]
    answer = elsewhere.json("ledger", "check", "growth.json", "--kept", "kept.json")
    assert answer["kind"] == "growth" and "only grew" in answer["shows"][-2]
    assert "holds" in elsewhere.run("ledger", "check", "memory.json", "--key", "auditor.pem")
    assert {file.name for file in elsewhere.folder.iterdir()} == set(HANDED_OUT), "no store was made"


def test_in_a_process_of_its_own(elsewhere: Desk) -> None:
    shell = Shell(elsewhere.folder)
    proof = (elsewhere.folder / "memory.json").read_text()
    assert shell.json("ledger", "check", "-", "--key", "auditor.pem", stdin=proof)["ok"]
    forged = proof.replace("Porto", "Paris")
    assert not shell.json("ledger", "check", "-", "--key", "auditor.pem", stdin=forged, code=1)["ok"]


def test_a_proof_comes_in_by_standard_input_and_a_key_by_its_digits(told: Desk, elsewhere: Desk) -> None:
    key = told.json("identity", "show", "auditor")["keys"][0]["key"]
    proof = (elsewhere.folder / "memory.json").read_text()
    assert elsewhere.json("ledger", "check", "-", "--key", key, stdin=proof)["ok"]
    other = "0" * 64
    assert elsewhere.json("ledger", "check", "-", "--key", other, "--key", key, stdin=proof)["ok"]
    refused = elsewhere.json("ledger", "check", "-", "--key", other, stdin=proof, code=1)
    assert refused["problem"] == "the checkpoint is not signed by the key that was given"


def test_a_forged_proof_is_refused_with_exit_code_1(elsewhere: Desk) -> None:
    file = elsewhere.folder / "memory.json"
    file.write_text(file.read_text().replace("Porto", "Paris"))
    answer = elsewhere.json("ledger", "check", "memory.json", "--key", "auditor.pem", code=1)
    assert not answer["ok"] and "committed to" in answer["problem"]
    assert "refused" in elsewhere.run("ledger", "check", "memory.json", "--key", "auditor.pem", code=1)
    file.write_text("{}")
    assert elsewhere.json("ledger", "check", "memory.json", "--key", "auditor.pem", code=1)["kind"] == "unreadable"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("check", "signed.json"), 2, "Give --key, or --kept"),
        (("check", "missing.json", "--key", "auditor.pem"), 2, "cannot be read"),
        (("check", "signed.json", "--key", "signed.json"), 2, "not an Ed25519 public key"),
        (("check", "signed.json", "--kept", "growth.json"), 1, "not a checkpoint"),
        (("prove",), 2, "Give either --id or --since"),
        (("prove", "--id", "x", "--since", "1"), 2, "Give either"),
        (("prove", "--since", "9"), 1, "no checkpoint of 9 leaves"),
        (("checkpoint", "--sign-as", "nobody"), 1, "has no key"),
        (("checkpoint", "--key-file", "missing.pem"), 1, "no such key file"),
        (("checkpoint", "--out", "no/such/folder/file.json"), 2, "cannot be written"),
    ],
)
def test_errors_say_what_to_do(told: Desk, arguments: tuple[str, ...], code: int, words: str) -> None:
    told.run("ledger", *arguments, code=code)
    assert words in told.errors


def test_verify_against_a_kept_checkpoint(told: Desk, tmp_path: Path) -> None:
    answer = told.json("verify", "--kept", "kept.json")
    assert answer["ok"] and answer["uncovered_entries"] == 0
    forged = json.loads((told.folder / "kept.json").read_text()) | {"root": "0" * 64}
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    answer = told.json("verify", "--kept", str(tmp_path / "forged.json"), code=3)
    assert "rewritten" in answer["problems"][0]["what"]


def test_checkpoints_are_listed(told: Desk) -> None:
    sizes = [(one["size"], len(one["signatures"])) for one in told.json("ledger", "list")]
    assert sizes == [(1, 0), (2, 1), (3, 1)]
    assert "nobody" in told.run("ledger", "list")


def test_the_life_of_a_key(desk: Desk) -> None:
    made = desk.json("identity", "new", "planner", "--key-file", "planner.pem")
    assert stat.S_IMODE((desk.folder / "planner.pem").stat().st_mode) == 0o600
    assert desk.json("identity", "rotate", "planner", "--key-file", "planner.pem")["key"] != made["key"]
    desk.run("identity", "revoke", "planner")
    (found,) = desk.json("identity", "list")
    assert [bool(key["rotated_at"]) for key in found["keys"]] == [True, False]
    assert [bool(key["revoked_at"]) for key in found["keys"]] == [False, True]
    drawn = desk.run("identity", "list")
    assert "rotated" in drawn and "revoked" in drawn
    desk.run("identity", "show", "planner", "--pem", code=1)
    assert "no key that counts" in desk.errors
    assert desk.json("verify")["ok"]


def test_a_key_from_elsewhere_is_registered_replaced_and_revoked(desk: Desk) -> None:
    desk.run("--store", "theirs.db", "identity", "new", "babel")
    theirs = desk.json("--store", "theirs.db", "identity", "show", "babel")["keys"][0]["key"]
    desk.run("--store", "theirs.db", "add", "Trust needs attribution", "--author", "babel")
    (desk.folder / "signed.jsonl").write_text(
        desk.run("--store", "theirs.db", "export", "--format", "entries", "--any-status", "--sign-as", "babel")
    )
    (desk.folder / "babel.pem").write_text(desk.run("--store", "theirs.db", "identity", "show", "babel", "--pem"))
    assert theirs in desk.run("identity", "register", "babel", "--key", "babel.pem")
    assert desk.json("import", "signed.jsonl", "--format", "entries", "--whole")["signed_entries"] == {"good": 1}
    assert "1 signed entry: 1 good" in desk.run("verify")
    other = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    desk.run("identity", "register", "babel", "--key", other, code=1)
    assert "--replace" in desk.errors
    assert "takes over from" in desk.run("identity", "register", "babel", "--key", other, "--replace")
    desk.run("identity", "revoke", "babel")
    assert [bool(key["revoked_at"]) for key in desk.json("identity", "show", "babel")["keys"]] == [False, True]


def test_an_entry_is_signed_and_checked(desk: Desk) -> None:
    desk.run("identity", "new", "planner")
    entry = {
        "content": "Ana likes tea",
        "author": {"id": "planner", "name": "Planner"},
        "timestamp": "2026-02-02T16:00:00Z",
        "content_hash": "3bb9c12ca43d8d7fc6ee2ad2c3b93aa0e6b0ed1e5d7e0dd8b4ea2f3cd0bf0a3c",
    }
    desk.run("identity", "sign", "-", "--sign-as", "planner", stdin=json.dumps(entry), code=2)
    assert "not the hash of the content" in desk.errors
    entry["content_hash"] = hashlib.sha256(b"Ana likes tea").hexdigest()
    desk.run("identity", "sign", "-", "--sign-as", "planner", "--out", "signed.json", stdin=json.dumps(entry))
    assert desk.json("identity", "check", "signed.json")["ok"]
    (desk.folder / "planner.pem").write_text(desk.run("identity", "show", "planner", "--pem"))
    assert desk.json("identity", "check", "signed.json", "--key", "planner.pem")["ok"]
    desk.run("identity", "revoke", "planner")
    assert desk.json("identity", "check", "signed.json", code=1)["standing"] == "revoked"


def test_a_revoked_key_is_known_to_whoever_has_the_history(desk: Desk) -> None:
    desk.run("add", "Ana lives in Lisbon", "--owner", "ana")
    for name in ("auditor", "clerk"):
        desk.run("identity", "new", name)
        (desk.folder / f"{name}.pem").write_text(desk.run("identity", "show", name, "--pem"))
    assert "bytes" in desk.run("ledger", "checkpoint", "--sign-as", "clerk", "--out", "signed.json")
    asked = ("ledger", "check", "signed.json", "--key", "clerk.pem", "--key", "auditor.pem")
    desk.run("identity", "history", "--sign-as", "auditor", "--out", "keys.json")
    assert "holds" in desk.run(*asked, "--keys", "keys.json")
    desk.run("identity", "revoke", "clerk")
    desk.run("identity", "history", "--sign-as", "auditor", "--out", "later.json")
    assert desk.json(*asked, "--keys", "later.json", code=1)["problem"].endswith("is revoked, says the key history")
    assert "holds" in desk.run(*asked), "without it nobody could know"
    assert "revoked" in desk.run("ledger", "check", "later.json", "--key", "auditor.pem")


def test_a_history_needs_a_key_and_a_file_that_is_one(desk: Desk, told: Desk) -> None:
    told.run("ledger", "check", "signed.json", "--kept", "signed.json", "--keys", "kept.json", code=2)
    assert "Give --key" in told.errors
    told.run("ledger", "check", "signed.json", "--key", "auditor.pem", "--keys", "kept.json", code=1)
    assert "no key history" in told.errors


def test_vouches_and_entries_are_signed_with_the_same_option(desk: Desk) -> None:
    desk.run("identity", "new", "babel")
    desk.run("identity", "new", "critic")
    where = ("--owner", "lab", "--space", "project")
    added = desk.json("add", "Trust needs attribution", *where, "--author", "babel")
    assert desk.json("vouch", added["memory"]["id"], "--sign-as", "critic")["vouchers"][0]["signature"]
    assert "good" in desk.run("provenance", "vouchers", added["memory"]["id"])
    (desk.folder / "entry.json").write_text(
        desk.run("export", "--format", "entries", "--any-status", "--sign-as", "babel")
    )
    assert "holds" in desk.run("identity", "check", "entry.json")
    desk.run("entry", "validate", "entry.json")
    desk.run("identity", "history", "--sign-as", "critic", "--out", "keys.json")
    (desk.folder / "babel.pem").write_text(desk.run("identity", "show", "babel", "--pem"))
    (desk.folder / "critic.pem").write_text(desk.run("identity", "show", "critic", "--pem"))
    offline = ("identity", "check", "entry.json", "--key", "babel.pem", "--key", "critic.pem", "--keys")
    assert "holds" in desk.run(*offline, "keys.json")
    desk.run("identity", "revoke", "babel")
    desk.run("identity", "history", "--sign-as", "critic", "--out", "later.json")
    assert "revoked" in desk.run(*offline, "later.json", code=1)
    desk.run("identity", "check", "entry.json", "--key", "babel.pem", "--keys", "later.json", code=1)
    assert "not signed by the key" in desk.errors
