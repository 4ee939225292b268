"""What somebody meets who has the command line and its README alone: messages that lead on, and values that can be copied."""

import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.cli.app import run


class Here:
    """Runs `recollect` in a folder of its own, within this process, and keeps what it said on either stream apart."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.errors = ""
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
            monkeypatch.delenv(name)

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        said, beside = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
        self._monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode()), encoding="utf-8"))
        with redirect_stdout(said), redirect_stderr(beside):
            left_with = run(arguments)
        text, self.errors = (stream.buffer.getvalue().decode() for stream in (said, beside))  # type: ignore[attr-defined]
        assert left_with == code, f"{arguments}: {left_with}\n{text}\n{self.errors}"
        return text

    def json(self, *arguments: str, stdin: str = "", code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, stdin=stdin, code=code))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    return Here(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "arguments",
    [
        *(["stats"], ["list"], ["query", "rivers"], ["get", "0f3a9c2b1d4e"], ["verify"], ["doctor"], ["export"]),
        *(["backup", "copy.db"], ["identity", "list"]),
        *(["erase", "--owner", "ana", "--yes"], ["forget", "0f3a9c2b1d4e"], ["upkeep"]),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_a_store_makes_none(shell: Here, arguments: list[str]) -> None:
    error = shell.json("--store", "mistyped.db", *arguments, code=3)["error"]
    assert error["code"] == "store_unavailable" and error["field"] == str(shell.folder / "mistyped.db")
    assert "--store" in error["hint"] and "recollect add" in error["hint"]
    assert list(shell.folder.iterdir()) == []


def test_the_first_turn_of_a_session_recalls_nothing_and_makes_nothing(shell: Here) -> None:
    assert shell.json("recall-for", "--session", "s", "--user", "hello")["items"] == []
    assert list(shell.folder.iterdir()) == []


def test_neither_does_a_vault_nor_the_default_path(shell: Here) -> None:
    assert shell.json("--store", "mistyped.jsonl", "list", code=3)["error"]["code"] == "store_unavailable"
    assert shell.json("stats", code=3)["error"]["field"] == str(shell.folder / "recollect.db")
    assert list(shell.folder.iterdir()) == []
    assert shell.json("--store", ":memory:", "stats")["memories"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        *(["add", "Rivers flow"], ["add-many"], ["turn", "--session", "s", "--user", "I like tea", "--owner", "ana"]),
        *(["import", "-", "--format", "jsonl"], ["phase", "start"], ["identity", "new", "ana"]),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_brings_something_in_makes_one(shell: Here, arguments: list[str]) -> None:
    shell.run("--store", "new.db", *arguments, stdin='{"content": "Rivers flow"}\n')
    assert (shell.folder / "new.db").is_file()


def test_a_dry_run_needs_no_store_and_makes_none(shell: Here) -> None:
    (shell.folder / "f.jsonl").write_text('{"content": "Rivers flow"}\n')
    assert shell.json("import", "f.jsonl", "--format", "jsonl", "--dry-run")["outcomes"] == {"stored": 1}
    assert [file.name for file in shell.folder.iterdir()] == ["f.jsonl"]


def test_python_opens_a_new_file_as_ever(tmp_path: Path) -> None:
    recollect.open(tmp_path / "new.db").close()
    assert (tmp_path / "new.db").is_file()


def test_lines_that_are_no_vault_are_told_to_be_imported(shell: Here) -> None:
    (shell.folder / "notes.jsonl").write_text('{"content": "Rivers flow"}\n')
    hint = shell.json("--store", "notes.jsonl", "list", code=3)["error"]["hint"]
    assert "recollect --store memory.db import jsonl notes.jsonl" in hint


@pytest.mark.parametrize(
    ("arguments", "help"),
    [
        (["add"], "recollect add --help"),
        (["query", "rivers", "--lmit", "3"], "recollect query --help"),
        (["ledger", "nonsense"], "recollect ledger --help"),
        (["phase", "diff", "phase-1"], "recollect phase diff --help"),
        (["nonsense"], "recollect --help"),
        ([], "recollect --help"),
        (["ledger"], "recollect ledger --help"),
    ],
)
def test_a_usage_error_names_the_help_of_its_own_command(shell: Here, arguments: list[str], help: str) -> None:
    error = shell.json(*arguments, code=2)["error"]
    assert help in error["hint"] and error["message"].endswith((".", "?")) and len(error["message"]) < 100


def test_no_command_shows_the_help_and_nothing_else(shell: Here) -> None:
    shell.run(code=2)
    assert shell.errors.startswith("Usage: recollect ") and not shell.errors.rstrip().endswith("`")


def test_the_outcome_s_word_lists_what_waits(shell: Here) -> None:
    shell.run("add", "The flag is on", "--canonical-key", "app-flag-state")
    shell.run("add", "The flag is off", "--canonical-key", "app-flag-state", "--source", "agent")
    found = [shell.json("list", "--status", word)["items"] for word in ("contradicted", "contradictory")]
    assert found[0] == found[1] and len(found[0]) == 1
    error = shell.json("list", "--status", "nonsense", code=2)["error"]
    assert error["field"] == "status" and "contradictory" in error["hint"]


def test_hashes_ids_keys_and_cursors_are_printed_whole(shell: Here) -> None:
    for words in ("Ana lives in Lisbon", "Ana now lives in Porto", "Ben lives in Oslo and works from an island"):
        made = shell.json("add", words, "--owner", "ana")["memory"]
    shown = shell.run("get", made["id"])
    assert f"content_hash       {made['content_hash']}\n" in shown and made["id"] in shown and "…" not in shown
    cursor = shell.json("list", "--limit", "1")["next_cursor"]
    assert f"--cursor {cursor}\n" in shell.run("list", "--limit", "1")
    after = shell.json("events", "--limit", "1")["next_cursor"]
    events = shell.run("events", "--limit", "1")
    assert f"--cursor {after}\n" in events and made["id"][:13] in events
    key = shell.json("identity", "new", "ana")["key"]
    assert key in shell.run("identity", "list") and key in shell.run("identity", "show", "ana")
    root = shell.json("ledger", "checkpoint")["root"]
    assert root in shell.run("ledger", "list")


def test_what_was_done_is_one_line(shell: Here) -> None:
    id = shell.json("add", "Ana lives in Lisbon", "--owner", "ana")["memory"]["id"]
    for command, word in (("archive", "archived"), ("restore", "restored"), ("forget", "forgotten")):
        said = shell.run(command, id)
        assert said.startswith(f"{word}  ") and "Ana-Home-City" in said and len(said.splitlines()) == 1
    shell.run("restore", id)
    assert len(shell.run("vouch", id, "--by", "ben").splitlines()) == 1
    assert len(shell.run("withdraw-vouch", id, "--by", "ben").splitlines()) == 1
    assert shell.json("edit", id, "--pinned")["content"] == "Ana lives in Lisbon", "programs get the whole record"


def test_a_file_that_was_written_is_named(shell: Here) -> None:
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    shell.run("identity", "new", "ana")
    (shell.folder / "entry.json").write_text(shell.run("export", "--format", "entries", "--any-status").splitlines()[0])
    written = {
        "all.jsonl": ["export", "--output", "all.jsonl"],
        "signed.json": ["identity", "sign", "entry.json", "--sign-as", "ana", "--out", "signed.json"],
        "keys.json": ["identity", "history", "--sign-as", "ana", "--out", "keys.json"],
    }
    for file, command in written.items():
        assert shell.run(*command) == f"written to {file}, {(shell.folder / file).stat().st_size:,} bytes\n"
    assert shell.run("--json", "export", "--output", "again.jsonl") == ""


def test_parents_are_named_by_id_or_by_hash(shell: Here) -> None:
    first = shell.json("add", "Bees need flowers")["memory"]
    other = shell.json("add", "Flowers need rain")["memory"]
    named = ("--parent", first["id"].replace("-", "")[:12], "--parent", other["content_hash"])
    child = shell.json("add", "Bees need rain", *named)["memory"]
    assert child["parent_refs"] == [first["content_hash"], other["content_hash"]]
    assert shell.json("add", "Rain is wet", "--parent", "ffffffffffff", code=1)["error"]["field"] == "parent"


def test_a_vouch_that_weighs_nothing_says_why(shell: Here) -> None:
    id = shell.json("add", "Ana lives in Lisbon", "--owner", "ana")["memory"]["id"]
    shell.run("vouch", id, "--by", "ben")
    (found,) = shell.json("provenance", "vouchers", id)["vouchers"]
    assert found["weight"] == 0 and "(user:ana)" in found["why"] and "trust.seeds" in found["why"]
    shell.run("provenance", "vouchers", id)
    assert "ben weighs nothing: no chain of vouches" in shell.errors
    shell.run("vouch", id, "--by", "user:ana")
    assert ["why" in one for one in shell.json("provenance", "vouchers", id)["vouchers"]] == [True, False]


def test_a_proof_says_what_it_is_about_and_what_it_leaves_out(shell: Here) -> None:
    id = shell.json("add", "Ana lives in Lisbon", "--owner", "ana")["memory"]["id"]
    shell.run("ledger", "checkpoint", "--out", "kept.json")
    shell.run("ledger", "prove", "--id", id, "--out", "memory.json")
    assert shell.errors == "", "everything is covered"
    shown = shell.run("ledger", "check", "memory.json", "--kept", "kept.json")
    assert id in shown and '"Ana lives in Lisbon"' in shown
    shell.run("ledger", "prove", "--id", id, "--without-content", "--out", "bare.json")
    assert "Lisbon" not in shell.run("ledger", "check", "bare.json", "--kept", "kept.json")
    shell.run("add", "Rivers flow")
    shell.run("ledger", "prove", "--since", "kept.json", "--out", "growth.json")
    assert "nothing of 1 entry that no checkpoint covers yet" in shell.errors
    assert "nothing of what was written after" in shell.run("ledger", "check", "growth.json", "--kept", "kept.json")


def test_a_receipt_is_checked_by_a_key_and_says_so(shell: Here) -> None:
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    shell.run("erase", "--owner", "ana", "--receipt", "receipt.json", stdin="y\n")
    assert "will not be signed, and cannot be signed later" in shell.errors
    for kept in ([], ["--kept", "receipt.json"]):
        error = shell.json("ledger", "check", "receipt.json", *kept, code=2)["error"]
        assert "--key" in error["hint"] and "--kept" not in error["hint"]


def test_an_import_says_what_it_counts_and_what_it_guessed(shell: Here) -> None:
    (shell.folder / "f.csv").write_text('note,who\n"Rivers flow\nand flow",ana\n,ben\nRain falls,ana\n')
    shown = shell.run("import", "f.csv", "--format", "csv", code=1)
    assert "f.csv: 3 records" in shown and "stored 2  records 1, 3" in shown and "refused 1  record 2" in shown
    assert "record 2 (line 4): malformed  has nothing in the column 'note'" in shown
    assert "the words were taken from the column 'note'" in shown
    assert shell.json("import", "f.csv", "--format", "csv", code=1)["guessed_columns"] == ["note"]
    mapped = shell.json("import", "f.csv", "--format", "csv", "--map", "content=note")
    assert mapped["guessed_columns"] == [] and mapped["outcomes"]["skipped"] == 1


def test_a_file_of_another_format_is_said_to_be_one(shell: Here) -> None:
    (shell.folder / "numbers.json").write_text("[1, 2, 3]")
    shown = shell.run("import", "numbers.json", "--format", "mem0", code=1)
    assert "is a number; a record is an object with fields" in shown and "is the file of another format?" in shown
    shell.run("add", "Rivers flow")
    hint = shell.json("export", "--format", "nonsense", code=2)["error"]["hint"]
    assert "mem0" in hint and "chatgpt" not in hint, "that one can only be read"


def test_no_entries_are_called_so(shell: Here) -> None:
    (shell.folder / "empty.jsonl").write_text("")
    assert shell.run("entry", "validate", "empty.jsonl") == "empty.jsonl: no entries, 0 problems\n"
    shell.run("add", "Rivers flow")
    (shell.folder / "one.jsonl").write_text(shell.run("export", "--format", "entries", "--any-status"))
    assert shell.run("entry", "validate", "one.jsonl") == "one.jsonl: 1 entry, 0 problems\n"


def test_one_of_a_thing_is_not_several(shell: Here) -> None:
    shell.run("add", "Rivers flow")
    assert shell.run("verify").splitlines() == [
        "ok  1 stream, 1 entry, 1 version",
        "  1 entry is covered by no checkpoint yet",
    ]
    assert json.loads(shell.run("--json", "verify"))["streams"] == 1


def test_a_vaults_file_runs_the_vault_preset_unless_a_policy_is_named(shell: Here) -> None:
    assert shell.json("--store", "vault.jsonl", "policy")["preset"] == "vault"
    assert shell.json("--store", "vault.jsonl", "--policy", "default", "policy")["preset"] == "default"
    assert shell.json("policy")["preset"] == "default"
    noise = ("add", "The heartbeat of the old clock is slow")
    assert shell.json("--store", "vault.jsonl", *noise, code=1)["reasons"] == ["noise_signal"]
    assert shell.json("--store", "vault.jsonl", "--policy", "default", *noise)["outcome"] == "stored"


def test_what_is_over_already_is_not_remembered(shell: Here) -> None:
    error = shell.json("add", "The offer is on", "--expires-at", "2020-01-01T00:00:00Z", code=2)["error"]
    assert error["field"] == "expires_at" and "2020-01-01 00:00 UTC is in the past" in error["message"]
    (shell.folder / "f.jsonl").write_text(
        '{"content": "The offer is on", "expires_at": "2020-01-01"}\n{"content": "Rivers flow"}\n'
    )
    shown = shell.json("import", "f.jsonl", "--format", "jsonl")
    assert shown["outcomes"] == {"skipped": 1, "stored": 1} and shown["numbers"]["skipped"] == "1"


def test_a_retry_is_answered_even_when_its_time_is_over() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with recollect.open(":memory:", clock=lambda: now[0]) as mem:
        said = {"expires_at": "2026-01-02", "idempotency_key": "k"}
        first = mem.add("The offer is on", **said)
        now[0] += timedelta(days=3)
        assert mem.add("The offer is on", **said).replayed and first.outcome == "stored"
        with pytest.raises(recollect.BadInput):
            mem.add("The offer is on", expires_at="2026-01-02", idempotency_key="other")


@pytest.mark.parametrize(
    "arguments",
    [
        ["add", "Rain falls", "--expires-at"],
        ["edit", "ffffffffffff", "--expires-at"],
        ["events", "--since"],
        ["ops", "--since"],
    ],
)
@pytest.mark.parametrize("written", ["1800000000", "2030-01-31T09:00", "soon"])
def test_a_time_is_written_the_same_way_everywhere(shell: Here, arguments: list[str], written: str) -> None:
    shell.run("add", "Rivers flow")
    error = shell.json(*arguments, written, code=2)["error"]
    assert "2026-01-31T09:00:00Z" in error["hint"] and "2026-01-31 for midnight UTC" in error["hint"]


def test_a_day_is_its_midnight_everywhere(shell: Here) -> None:
    made = shell.json("add", "The offer is on", "--expires-at", "2130-01-31")["memory"]
    assert made["expires_at"] == "2130-01-31T00:00:00.000000Z"
    assert len(shell.json("list", "--where", "created_after=2020-01-31")["items"]) == 1
    assert shell.json("list", "--as-of", "2020-01-31")["items"] == []
    assert shell.json("events", "--since", "2020-01-31")["items"]


@pytest.mark.parametrize("written", ["yesterday", "-1", "2026-13-01"])
def test_a_point_in_the_past_that_is_none_names_those_that_are(shell: Here, written: str) -> None:
    shell.run("add", "Rivers flow")
    error = shell.json("list", "--as-of", written, code=2)["error"]
    assert error["field"] == "as_of" and all(word in error["hint"] for word in ("tick", "Z", "phase-1", "phase list"))
    for phases in (["list", "--as-of", "phase-7"], ["phase", "diff", "phase-1", "phase-7"]):
        assert "recollect phase list" in shell.json(*phases, code=1)["error"]["hint"]


def test_values_that_make_no_sense_are_told_in_plain_words() -> None:
    said = {
        "tags": ("tea", "must be a list of texts. "),
        "parent_refs": (["x"], "must be a content hash: 64 hex digits. A memory's `content_hash` is one"),
        "kind": ("fact", "that value is unknown. Known: short_term, semantic,"),
        "tier": ("gold", "that value is unknown. Known: canon, register."),
        "content": (5, "must be text."),
    }
    with recollect.open(":memory:") as mem:
        for field, (value, told) in said.items():
            with pytest.raises(recollect.BadInput) as refused:
                mem.add_many([{"content": "Rivers flow", field: value}])
            assert told in str(refused.value) and "nput should" not in str(refused.value)


def test_the_tier_that_is_always_denied_is_not_offered(shell: Here) -> None:
    assert shell.json("add", "Rivers flow", "--tier", "gold", code=2)["error"]["hint"] == "Known: canon, register."
    assert shell.json("add", "Rivers flow", "--tier", "log", code=1)["outcome"] == "denied"


def test_an_edit_that_changes_nothing_says_so_and_writes_nothing(shell: Here) -> None:
    id = shell.json("add", "Rivers flow")["memory"]["id"]
    assert shell.run("edit", id, "--pinned").startswith("edited  ")
    before = shell.json("history", id), shell.json("events")["items"]
    assert shell.run("edit", id, "--pinned").startswith("unchanged  ")
    assert shell.json("edit", id, "--pinned")["pinned"] is True
    assert (shell.json("history", id), shell.json("events")["items"]) == before
    assert shell.run("edit", id, "--importance", "2").startswith("edited  "), "stated now, where a rule said so before"
    assert shell.run("edit", id, "--importance", "2").startswith("unchanged  ")


def test_a_whole_chain_is_not_an_owner_s(shell: Here) -> None:
    shell.run("add", "Ana lives in Lisbon", "--owner", "ana")
    error = shell.json("erase", "--owner", "ana", "--whole-chain", "--yes", code=2)["error"]
    assert error["field"] == "whole_chain" and len(shell.json("list", "--owner", "ana")["items"]) == 1


def test_too_few_digits_of_an_id_are_said_to_be(shell: Here) -> None:
    id = shell.json("add", "Rivers flow")["memory"]["id"]
    other = "0" if id[0] != "0" else "1"
    hints = [shell.json("get", digits, code=1)["error"]["hint"] for digits in (id[:3], other * 3)]
    assert hints == ["Give at least 4 digits of an id."] * 2, "whether there is one or not"


def test_a_contradiction_names_both_sides_to_choose_from(shell: Here) -> None:
    known = shell.json("add", "The API port is 8080")["memory"]["id"].replace("-", "")[:12]
    shown = shell.run("add", "The API port is 9090", "--source", "agent")
    waiting = shown.split()[1]
    assert f"recollect resolve {waiting} --winner {waiting}`" in shown
    assert f"recollect resolve {waiting} --winner {known}`" in shown
    assert "said otherwise on 2" in shown and f"(id {known}): user_asserted outranks ai_inferred." in shown
    shell.run("resolve", waiting, "--winner", known)


def test_words_of_other_schemas_for_a_source_are_understood(shell: Here) -> None:
    assert shell.json("add", "Rivers flow", "--source", "user_input")["memory"]["source"] == "user"
    refused = shell.json("add", "Rivers rise", "--source", "rumour", code=2)["error"]
    assert refused["field"] == "source" and "user_input" in refused["hint"]


def test_json_is_printed_wherever_it_is_asked_for(shell: Here) -> None:
    assert shell.json("--version") == {"version": recollect.__version__}
    assert json.loads(shell.run("--version", "--json")) == {"version": recollect.__version__}
    assert shell.run("--version") == f"{recollect.__version__}\n"
    address = shell.run("entry", "cid", "tea").strip()
    assert shell.json("entry", "cid", "tea") == {"cid": address}


def test_a_pipe_gets_whole_lines_and_nothing_beside_them(shell: Here) -> None:
    words = "Ana likes oolong tea from the high mountains of Taiwan, and drinks it every day of the year before noon"
    key = shell.json("add", words, "--owner", "ana")["memory"]["canonical_key"]
    shell.run("add", "Rain falls", "--owner", "ana")
    lines = shell.run("list").splitlines()
    assert len(lines) == 3 and lines[2].endswith(words) and key in lines[2]
    assert all(line == line.rstrip() for line in lines)
    (shell.folder / "f.jsonl").write_text('{"content": "Rivers flow"}\n')
    quiet = (
        ["verify"],
        ["import", "f.jsonl", "--format", "jsonl"],
        ["audit", "f.jsonl", "--format", "jsonl"],
        ["reindex"],
        ["rebuild"],
    )
    for command in (*quiet, ["upkeep"], ["migrate", "--from", "recollect.db", "--to", "copy.db"]):
        shell.run(*command)
        assert shell.errors == "", command


def test_what_many_lines_hold_is_told_by_file_and_line(shell: Here) -> None:
    (shell.folder / "f.jsonl").write_text('{"content": "Rivers flow"}\n\n{"words": "Rain falls"}\n')
    assert shell.json("add-many", "f.jsonl", code=2)["error"]["field"] == "f.jsonl, line 3.content"
    assert shell.json("add-many", stdin="\n{", code=2)["error"]["field"] == "standard input, line 2"
    listed = '[{"content": "Rivers flow"},\n {"content": "Rain falls"}]'
    assert [one["outcome"] for one in shell.json("add-many", stdin=listed)] == ["stored", "stored"]
    assert shell.json("add-many", stdin="[5]", code=2)["error"]["field"] == "standard input, record 1"


def test_a_folder_is_no_store(shell: Here) -> None:
    error = shell.json("--store", str(shell.folder), "list", code=3)["error"]
    assert error["message"] == "is a folder." and error["field"] == str(shell.folder)


def test_a_file_that_is_no_backup_is_named(shell: Here) -> None:
    (shell.folder / "notes.jsonl").write_text('{"content": "Rivers flow"}\n')
    error = shell.json("--store", "new.db", "restore-backup", "notes.jsonl", code=3)["error"]
    assert error["field"] == "notes.jsonl" and "backup" in error["message"]
    assert not (shell.folder / "new.db").exists()


def test_identical_records_are_duplicates_and_are_told_apart(shell: Here) -> None:
    records = [{"id": f"m{n}", "memory": "Ana likes tea", "user_id": "ana"} for n in range(2)]
    (shell.folder / "m.json").write_text(json.dumps({"results": records}))
    found = shell.json("audit", "m.json", "--format", "mem0")["found"]
    assert (found["counts"]["duplicate"], found["counts"]["near_duplicate"]) == (1, 0)
    ((place, *_, beside),) = found["examples"]["duplicate"]
    assert (place, beside) == ("record 2 (m.json, line 1, id m1)", "record 1 (m.json, line 1, id m0)")


def test_other_files_that_do_not_fit_are_told_why(shell: Here) -> None:
    (shell.folder / "f.jsonl").write_text('{"text": 5}\n')
    assert "is not text" in shell.json("import", "f.jsonl", "--format", "jsonl", code=1)["refused"][0]["detail"]
    assert shell.json("import", ".", "--format", "mem0", code=2)["error"]["field"] == str(shell.folder)
    error = shell.json("identity", "register", "bob", "--key", "zz", code=2)["error"]
    assert error["field"] == "key" and "64 hex digits" in error["message"] and "a file" in error["message"]


def test_entries_are_taken_from_a_path_from_lines_and_from_an_open_file(tmp_path: Path) -> None:
    with recollect.open(":memory:") as mem:
        mem.add("Rivers flow", owner="ana")
        lines = list(mem.export(format="entries", status=None))
    file = tmp_path / "ana.jsonl"
    file.write_text("\n".join(lines))
    for given in (str(file), file, lines, (line for line in lines)):
        with recollect.open(":memory:") as mem:
            assert mem.import_(given, format="entries", whole=True).outcomes == {"stored": 1}
    with recollect.open(":memory:") as mem, file.open() as stream:
        assert mem.import_(stream, format="entries", whole=True).outcomes == {"stored": 1}
        for wrong in (5, [5], "missing.jsonl"):
            with pytest.raises(recollect.BadInput):
                mem.import_(wrong, format="entries", whole=True)


def test_a_policy_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(recollect.BadInput) as refused:
        recollect.open(":memory:", policy=[1])  # type: ignore[arg-type]
    assert refused.value.field == "policy"


def test_an_argument_of_another_door_is_told_how_it_is_written_here() -> None:
    with recollect.open(":memory:") as mem:
        mem.add("Rivers flow")
        for ask in (mem.query, mem.as_of(tick=1).query):
            for name, hint in (("category", "categories=[…]"), ("kind", "filters={'kind': …}"), ("limit", "top_k")):
                with pytest.raises(recollect.BadInput) as refused:
                    ask("rivers", **{name: "semantic"})
                assert refused.value.field == name and hint in str(refused.value.hint)


def test_a_tool_and_a_prompt_say_what_they_take() -> None:
    from recollect.interfaces.mcp.catalogue import get_prompt
    from recollect.interfaces.mcp.tool import parse
    from recollect.interfaces.mcp.tools import Add, OneMemory, history

    with recollect.open(":memory:") as mem:
        with pytest.raises(recollect.BadInput) as refused:
            parse(Add, {"text": "x"})
        assert refused.value.field == "text" and "content" in str(refused.value.hint)
        with pytest.raises(recollect.BadInput) as refused:
            get_prompt(mem, "recall", {})
        assert str(refused.value) == "text: is missing. Give it a value."
        with pytest.raises(recollect.NotFound) as missing:
            history(mem, OneMemory(id="0f3a9c2b1d4e"))
        assert "`list`" not in str(missing.value), "there is no such tool"


def test_a_missing_extra_is_named_without_an_index() -> None:
    from recollect.model.errors import how_to_install

    assert "pip install -e '.[mcp]'" in how_to_install("mcp") and "recollect[" not in how_to_install("mcp")


def test_when_a_memory_holds_is_stated_changed_and_asked_for(shell: Here) -> None:
    stated = ("--valid-from", "2019-01-01", "--valid-until", "2024-03-01")
    id = shell.json("add", "The flat is in Rome", *stated)["memory"]["id"]
    assert shell.json("get", id)["valid_until"].startswith("2024-03-01")
    assert "(since 2019, until 2024-03)" in shell.run("list")
    assert "The flat is in Rome" in shell.run("query", "the flat", "--at", "2022-06-01")
    assert "nothing is told: " in shell.run("query", "the flat", "--at", "2025-06-01")
    shell.run("edit", id, "--valid-until", "open")
    assert "(since 2019)" in shell.run("query", "the flat", "--at", "2025-06-01")
    assert "valid_until" in shell.json("edit", id, "--valid-until", "2018-01-01", code=2)["error"]["field"]
