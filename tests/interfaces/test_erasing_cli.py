"""``recollect erase`` on the command line: its table, its receipt, and the check that follows."""

import json
from pathlib import Path

from .shell import Shell


def _family(shell: Shell) -> tuple[str, str]:
    source = shell.json("add", "Ana keeps bees in Zanzibar", "--owner", "ana")["memory"]
    parents = json.dumps([source["content_hash"]])
    child = shell.json("add", "Bees need flowers", "--owner", "ben", "--field", f"parent_refs={parents}")["memory"]
    return source["id"], child["id"]


def test_it_ends_with_verify_and_a_table_of_what_was_made_of_it(shell: Shell) -> None:
    _, child = _family(shell)
    shown = shell.run("erase", "--owner", "ana", "--yes")
    assert "made of it: 1 memory; 1 link was cut" in shown and child[:13] in shown
    assert "built upon" in shown and "until somebody restores or erases it" in shown
    assert shown.rstrip().splitlines()[-1].startswith(("ok", "  "))


def test_it_tells_of_what_they_wrote_elsewhere_and_of_what_names_them(shell: Shell) -> None:
    lab = ("--owner", "lab", "--space", "project")
    shell.run("add", "Copper wires need care", *lab, "--author", "ana")
    shell.run("add", "Rods were counted", *lab, "--field", "actor_id=ana", "--source", "agent")
    shown = shell.run("erase", "--owner", "ana", "--yes")
    assert "and 1 memory that they wrote in streams of others" in shown
    assert "made of it, or naming them: 1 memory; 1 link was cut" in shown and "acted" in shown


def test_one_json_document_with_the_verification(shell: Shell) -> None:
    source, child = _family(shell)
    answer = shell.json("erase", "--id", source, "--yes")
    assert answer["verification"]["ok"] is True and answer["receipt"] is None
    assert answer["derived"] == [{"became": "review", "how": ["built_upon"], "id": child}]
    assert shell.json("erase", "--id", child, "--yes", "--no-verify")["verification"] is None


def test_a_signed_receipt_is_checked_without_the_store(shell: Shell) -> None:
    source, _ = _family(shell)
    key = shell.json("identity", "new", "operator")["key"]
    shell.json("erase", "--id", source, "--yes", "--receipt", "receipt.json", "--sign-as", "operator")
    checked = shell.json("ledger", "check", "receipt.json", "--key", key)
    assert (checked["ok"], checked["kind"]) == (True, "erasure")
    assert shell.json("ledger", "check", "receipt.json", "--key", "0" * 64, code=1)["ok"] is False
    assert shell.json("ledger", "prove", "--id", source, "--out", "proof.json")["kind"] == "memory"
    assert shell.json("ledger", "check", "proof.json", "--key", key)["ok"] is True


def test_an_unsigned_receipt_says_so(shell: Shell) -> None:
    source, _ = _family(shell)
    shown = shell.run("erase", "--id", source, "--yes", "--receipt", "receipt.json")
    assert "receipt written to receipt.json (not signed, and it cannot be signed later" in shown
    assert "--sign-as NAME" in shown and "--key-file" in shown
    refused = shell.json("ledger", "check", "receipt.json", "--key", "0" * 64, code=1)
    assert refused["problem"].startswith("it is not signed, so nobody stands for it")


def test_what_cannot_be_done_is_said_before_anything_is_erased(shell: Shell) -> None:
    source, _ = _family(shell)
    options = ["erase", "--id", source, "--yes"]
    assert shell.json(*options, "--sign-as", "operator", code=2)["error"]["field"] == "sign-as"
    assert shell.json(*options, "--receipt", "no/such/folder.json", code=2)["error"]["field"] == "no/such/folder.json"
    wrong = shell.json(*options, "--receipt", "r.json", "--sign-as", "operator", code=1)["error"]
    assert wrong["code"] == "not_found"
    assert shell.json("get", source)["content"] == "Ana keeps bees in Zanzibar"


def test_a_receipt_is_not_written_over_and_none_is_given_for_nothing(shell: Shell, tmp_path: Path) -> None:
    receipt = tmp_path / "kept.json"
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    assert "nothing was erased" in shell.run("erase", "--owner", "Ana", "--yes", "--receipt", str(receipt), code=1)
    assert not receipt.exists()
    shell.run("erase", "--owner", "ana", "--yes", "--receipt", str(receipt))
    kept = receipt.read_bytes()
    shell.run("erase", "--owner", "ana", "--yes", "--receipt", str(receipt), code=2)
    assert receipt.read_bytes() == kept
