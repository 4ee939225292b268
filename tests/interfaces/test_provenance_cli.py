"""Sources, vouching and entries on the command line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text
from typer.testing import CliRunner

from recollect.interfaces.cli import screen
from recollect.interfaces.cli.app import app
from recollect.model.errors import RecollectError

from .shell import Shell as Process

EXAMPLES = Path(__file__).parents[2] / "examples" / "entries" / "greenhouse.jsonl"
RULE = "Shade before the heat comes protects seedlings better than water after it, except on cloudy days."


class Shell:
    """Runs commands in this process, which is ten times as fast as in one of their own; one test does it for real."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.errors = folder, ""

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        done = CliRunner().invoke(app, arguments, input=stdin, standalone_mode=False)
        error = done.exception
        assert error is None or isinstance(error, RecollectError), done.exc_info
        self.errors = str(error)
        assert (error.exit_code if error else done.return_value or 0) == code, f"{arguments}: {done.output} {error}"
        return done.stdout

    def json(self, *arguments: str, stdin: str = "", code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, stdin=stdin, code=code))


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path)


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.run("import", str(EXAMPLES), "--format", "entries", "--whole", "--owner", "greenhouse")
    assert len(process.run("export", "--format", "entries", "--any-status").splitlines()) >= 10


@pytest.fixture
def greenhouse(shell: Shell) -> Shell:
    (shell.folder / "policy.yaml").write_text("preset: entry\ntrust: {seeds: [otter]}\n", encoding="utf-8")
    shell.run(
        "--policy",
        "policy.yaml",
        "import",
        str(EXAMPLES),
        "--format",
        "entries",
        "--whole",
        "--owner",
        "greenhouse",
        "--space",
        "project",
    )
    return shell


def id_of(shell: Shell, content: str) -> str:
    found = shell.json("list", "--owner", "greenhouse", "--limit", "50")
    return str(next(one["id"] for one in found["items"] if one["content"] == content))


def test_the_examples_are_sound(shell: Shell) -> None:
    assert f"{EXAMPLES}: 12 entries, 0 problems" in shell.run("entry", "validate", str(EXAMPLES))
    assert shell.json("entry", "validate", str(EXAMPLES), "-", stdin="[]")["ok"]


def test_problems_are_told_with_entry_line_and_path(shell: Shell) -> None:
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2].replace('"confidence": 0.7', '"confidence": 7')
    broken = "\n".join([lines[0], "", lines[2], "{"])
    shown = shell.run("entry", "validate", "-", stdin=broken, code=1)
    assert "-: entry 2 (line 3), confidence: expected a number from 0 to 1" in shown
    assert "-: entry 3 (line 4): is not JSON at character 2" in shown
    report = shell.json("entry", "validate", "-", stdin=broken, code=1)
    assert (report["ok"], report["files"][0]["entries"], report["files"][0]["problems"]) == (False, 3, 2)
    assert report["files"][0]["findings"][0]["path"] == "confidence"
    assert "no entry of the file" in shell.run("entry", "validate", "-", stdin=lines[4], code=1)
    shell.run("entry", "validate", "--partial", "-", stdin=lines[4])


def test_a_file_that_is_not_there_or_no_text_is_told(shell: Shell) -> None:
    shell.run("entry", "validate", "nowhere.jsonl", code=2)
    assert "nowhere.jsonl: cannot be read: No such file or directory" in shell.errors
    shell.run("entry", "validate", ".", code=2)
    (shell.folder / "latin.jsonl").write_bytes(EXAMPLES.read_bytes().splitlines()[1].replace("°".encode(), b"\xb0"))
    assert "invalid UTF-8" in shell.run("entry", "validate", "latin.jsonl", code=1)
    (shell.folder / "utf16.jsonl").write_text('{"a": 1}', encoding="utf-16")
    assert "is not JSON" in shell.run("entry", "validate", "utf16.jsonl", code=1)


def test_the_schema_and_addresses_are_printed(shell: Shell) -> None:
    assert json.loads(shell.run("entry", "schema"))["title"] == "Memory entry"
    hello = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e\n"
    assert shell.run("entry", "cid", "hello world") == shell.run("entry", "cid", "-", stdin="hello world") == hello


def test_what_is_no_text_has_no_address(tmp_path: Path) -> None:
    process = Process(tmp_path)
    process.run("entry", "cid", "-", stdin="\udcff", code=2)
    assert "content: is not UTF-8." in process.errors


def test_the_namespaces_that_are_named_are_those_that_are_told_everywhere(shell: Shell) -> None:
    shell.run("add", "Rivers flow to the sea")
    shell.run("add", "Kettles boil at noon", "--namespace", "test")
    asked = ["--include-namespaces", "test"]
    assert [one["content"] for one in shell.json("list", *asked)["items"]] == ["Kettles boil at noon"]
    assert [one["content"] for one in shell.json("export", "--format", "entries", "--any-status", *asked)] == [
        "Kettles boil at noon"
    ]
    assert "Rivers" not in shell.run("export", "--format", "recollect", *asked)
    assert len(shell.json("export", "--format", "entries", "--any-status", *asked, "--include-namespaces", "prod")) == 2


def test_out_and_in_again(greenhouse: Shell) -> None:
    lines = greenhouse.run("export", "--format", "entries", "--any-status", "--owner", "greenhouse")
    assert len(lines.splitlines()) == 12
    assert len(greenhouse.json("export", "--format", "entries", "--any-status")) == 12
    assert len(greenhouse.run("export", "--format", "entries").splitlines()) == 10
    moving = ("--policy", "entry", "import", "-", "--format", "entries", "--whole", "--believe", "place")
    greenhouse.run("--store", "other.db", *moving, stdin=lines)
    assert greenhouse.run("--store", "other.db", "export", "--format", "entries", "--any-status") == lines
    again = greenhouse.json("--store", "other.db", *moving, stdin=lines)
    assert again["outcomes"] == {"already_there": 12}


def test_an_unsound_file_is_refused_whole(shell: Shell) -> None:
    lines = EXAMPLES.read_text(encoding="utf-8").replace("Tomato", "Potato")
    shell.run("import", "-", "--format", "entries", "--whole", stdin=lines, code=2)
    assert "nothing was imported" in shell.errors and "entry 4 (line 4), content_hash" in shell.errors
    assert shell.json("list")["items"] == []


def test_where_a_memory_comes_from(greenhouse: Shell) -> None:
    rule = id_of(greenhouse, RULE)
    tree = greenhouse.run("provenance", "ancestors", rule)
    assert "├──" in tree and "moss-greenhouse-01: Bench three reaches 41" in tree and "…as above" in tree
    found = greenhouse.json("provenance", "ancestors", rule)
    assert len(found["ancestors"]) == 11 and {one["distance"] for one in found["ancestors"]} == {1, 2, 3, 4, 5}
    assert greenhouse.run("provenance", "ancestors", rule, "--as", "dot").startswith("digraph provenance {")
    assert greenhouse.run("provenance", "ancestors", rule, "--as", "mermaid").startswith("graph BT")
    first = id_of(greenhouse, "Bench three reaches 41 °C between two and four in the afternoon.")
    assert len(greenhouse.json("provenance", "descendants", first)["descendants"]) >= 5
    assert "Bench three" in greenhouse.run("provenance", "common-sources", rule, first)


def test_a_backslash_at_the_end_is_one(shell: Shell) -> None:
    """Markup doubles one before a tag; in a table or a tree no tag follows."""
    root = shell.json("add", "The root \\", "--author", "C:\\")["memory"]
    child = shell.json("add", "The child \\", "--author", "D:\\", "--parent", root["id"])["memory"]["id"]
    tree = shell.run("provenance", "ancestors", child)
    assert "D:\\: The child \\  " in tree and "C:\\: The root \\  " in tree
    shown = [line.split()[-1] for line in shell.run("provenance", "credit", child).splitlines()[1:]]
    assert shown == ["C:\\", "D:\\"]
    assert "The child \\\n" in re.sub(" +\n", "\n", shell.run("list"))


@pytest.mark.parametrize("text", ["a\\", "a\\\\", "[dim]a[/]\\", "\\[b]", "a\\\\\\", "[", "a\\["])
def test_words_are_never_markup(text: str) -> None:
    for marked in (screen.escape(text), screen.style_text("dim", text), f"{screen.style_text('dim', text)}[bold]b[/]"):
        assert Text.from_markup(marked).plain.removesuffix("b") == text.removesuffix("b")


def test_who_is_credited(greenhouse: Shell) -> None:
    rule = id_of(greenhouse, RULE)
    shares = greenhouse.json("provenance", "credit", rule)
    assert {one["who"].split("-")[0] for one in shares} == {"fern", "moss", "reed"}
    assert abs(sum(one["part"] for one in shares) - 1) < 1e-5
    assert "%" in greenhouse.run("provenance", "credit", rule)


def test_vouching(greenhouse: Shell) -> None:
    rule = id_of(greenhouse, RULE)
    greenhouse.run("vouch", rule, code=2)
    assert "say who vouches" in greenhouse.errors
    greenhouse.run("vouch", rule, "--by", "fern-greenhouse-01", code=1)
    assert "their own words" in greenhouse.errors
    vouched = greenhouse.json("vouch", rule, "--by", "otter", "--confidence", "0.8", "--says", "useful")
    assert [(one["id"], one["confidence"], one["says"]) for one in vouched["vouchers"]] == [
        ("agent:otter", 0.8, "useful")
    ]
    weighed = greenhouse.json("--policy", "policy.yaml", "provenance", "vouchers", rule)
    assert (weighed["weight"], weighed["relied_upon"]) == (0.8, ["agent:otter"])
    assert "otter" in greenhouse.run("provenance", "vouchers", rule)
    assert greenhouse.json("withdraw-vouch", rule, "--by", "otter")["vouchers"] == []
    assert [event["event"] for event in greenhouse.json("history", rule)][-2:] == ["LINK", "LINK"]


def test_derivatives(greenhouse: Shell) -> None:
    copied = "Shade before the heat comes protects seedlings better than any water after it, except on cloudy days."
    greenhouse.run(
        "--policy", "entry", "add", copied, "--owner", "greenhouse", "--space", "project", "--author", "crow"
    )
    found = greenhouse.json("provenance", "derivatives", id_of(greenhouse, RULE))
    assert [(one["author"], one["direction"]) for one in found] == [("crow", "derived")]
    assert "crow" in greenhouse.run("provenance", "derivatives", id_of(greenhouse, RULE))


def test_memories_are_found_by_hash_author_parent_voucher_and_confidence(shell: Shell) -> None:
    buds = shell.json("add", "Frost kills the early buds.", "--author", "moss", "--field", "confidence=0.9")["memory"]
    hash = buds["content_hash"]
    cid = shell.json("entry", "cid", "Frost kills the early buds.")["cid"]
    late = shell.json("add", "So plant the buds late.", "--author", "iris", "--parent", cid)["memory"]
    assert shell.json("vouch", hash, "--by", "gardener")["id"] == buds["id"]
    assert shell.json("get", cid)["id"] == shell.json("get", hash)["id"] == buds["id"]
    assert shell.json("provenance", "vouchers", cid)["vouchers"][0]["name"] == "gardener"
    for options, expected in (
        (["--author", "iris"], late),
        (["--content-hash", cid], buds),
        (["--parent", hash], late),
        (["--voucher", "gardener"], buds),
        (["--confidence-min", "0.5"], buds),
        (["--where", "confidence_min=0.5"], buds),
    ):
        assert [one["id"] for one in shell.json("list", *options)["items"]] == [expected["id"]], options
        found = shell.json("query", "buds", *options)["items"]
        assert [one["memory"]["id"] for one in found] == [expected["id"]], options
    shell.run("add", "Frost kills the early buds.", "--owner", "ana")
    shell.run("get", cid, code=1)
    assert buds["id"] in shell.errors and "fits several memories" in shell.errors
