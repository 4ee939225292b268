"""Governance events on the command line: shown, exported, explained, and told in sentences."""

import json

import pytest

import recollect
from recollect.model.trace import TraceType
from recollect.rules.plain_view import plain_lines
from rows import every_row

from .shell import Shell


@pytest.fixture
def told(shell: Shell) -> Shell:
    """Two sessions: in one a home was corrected and a password refused, in the other a home was told."""
    with recollect.open(shell.folder / "recollect.db", policy={"traces": {"keep": "all"}}) as mem:
        for person, words in (
            ("ana", "My manager is Paris"),
            ("ana", "My manager is Rome"),
            ("ana", "The password is hunter2-and-more-9!"),
            ("ben", "My manager is Oslo"),
        ):
            mem.as_caller(user=person, session=f"of-{person}").add(words)
    return shell


def types(found: list[dict[str, str]]) -> list[str]:
    return [event["type"].removeprefix("memory_") for event in found]


def test_filters_and_pages(told: Shell) -> None:
    everything = told.json("traces")["items"]
    first, again = ["border_check", "phase_started", "write"], ["border_check", "conflict", "deleted", "write"]
    assert types(everything) == [*first, *again, "border_check", "denied", *first]
    assert types(told.json("traces", "--session", "of-ben")["items"]) == first
    assert types(told.json("traces", "--type", "memory_denied")["items"]) == ["denied"]
    paris = everything[2]["written"][0]["id"]
    assert types(told.json("traces", "--memory", paris.replace("-", "")[:12])["items"]) == [
        "write",
        "conflict",
        "deleted",
    ]
    assert told.json("traces", "--since", "2199-01-01T00:00:00Z")["items"] == []
    assert told.json("traces", "--number", "5")["items"] == [everything[4]]
    assert told.json("traces", "--limit", "2")["items"] == everything[-2:]
    older = told.json("traces", "--limit", "2")["next_cursor"]
    assert told.json("traces", "--limit", "2", "--cursor", older)["items"] == everything[-4:-2]


def test_people_see_a_table(told: Shell) -> None:
    shown = told.run("traces")
    for word in ("memory_conflict", "superseded", "My manager is Oslo"):
        assert word in shown
    assert "no traces were kept" in told.run("traces", "--session", "of-nobody")


def test_the_plain_view(told: Shell) -> None:
    events = told.json("traces", "--session", "of-ana")["items"]
    shown = told.run("traces", "--session", "of-ana", "--plain")
    assert shown == "\n".join("".join(f"{line}\n" for line in plain_lines(event)) for event in events)
    assert "policy_snapshot.retention.semantic.fact.mode: never\n" in shown


def test_one_event_in_the_plain_view(told: Shell) -> None:
    lines = told.run("traces", "--plain", "--number", "3").splitlines()
    assert "written.count: 1" in lines and "written.1.text: My manager is Paris" in lines
    assert all(": " in line for line in lines)
    assert not any(line.startswith(("{", "[", "}", "]")) for line in lines)


def test_the_export_is_all_of_it_one_document_a_line(told: Shell) -> None:
    exported = [json.loads(line) for line in told.run("traces", "--jsonl").splitlines()]
    assert exported == told.json("traces", "--limit", "1000")["items"]
    some = told.run("traces", "--jsonl", "--type", "memory_write").splitlines()
    assert [json.loads(line)["number"] for line in some] == [3, 7, 12]


def test_an_export_is_longer_than_a_page(shell: Shell) -> None:
    (shell.folder / "policy.yaml").write_text("traces: {keep: all}\n", encoding="utf-8")
    lines = "".join(json.dumps({"content": f"Room {n} is painted", "title": f"room {n}"}) + "\n" for n in range(1_050))
    shell.run("--policy", "policy.yaml", "add-many", stdin=lines)
    exported = [json.loads(line) for line in shell.run("traces", "--jsonl").splitlines()]
    assert [event["number"] for event in exported] == list(range(1, len(exported) + 1))
    assert sum(event["type"] == "memory_write" for event in exported) == 1_050


@every_row("type", TraceType)
def test_every_schema_can_be_printed(shell: Shell, type: TraceType) -> None:
    assert json.loads(shell.run("traces", "--schema", type))["title"] == type


def test_why(told: Shell) -> None:
    assert told.run("explain", "--session", "of-ana").splitlines() == [
        "Wrote the fact “My manager is Paris” to ana's own space: a person said it.",
        "Wrote the fact “My manager is Rome” to ana's own space: a person said it.",
        "Refused 1 write: it holds sensitive data that the policy denies.",
        "Found a contradiction: “My manager is Rome” stands against “My manager is Paris”, since the newer is believed.",
        "Took out of the active set “My manager is Paris”: a newer version took its place.",
        "Began phase-1 in ana's own space: the first phase begins with the first write.",
        "Checked 3 borders: all open.",
    ]
    wrote = "Wrote the fact “My manager is Oslo” to ben's own space: a person said it."
    assert told.json("explain")["sentences"][0] == wrote
    oslo = told.json("traces", "--session", "of-ben")["items"][2]["written"][0]["id"]
    assert told.json("explain", oslo)["sentences"] == [wrote] and wrote in told.run("explain", oslo)


def test_no_secret_is_in_any_of_it(told: Shell) -> None:
    for command in (("explain",), ("traces",), ("traces", "--plain"), ("traces", "--jsonl")):
        assert "hunter2" not in told.run(*command) + told.errors


def test_mistakes_are_named(told: Shell) -> None:
    for arguments, field, code in (
        (("traces", "--number", "99"), "number", 1),
        (("traces", "--number", "1", "--cursor", "x"), "cursor", 2),
        (("traces", "--plain", "--jsonl"), "plain", 2),
        (("traces", "--limit", "0"), "limit", 2),
        (("traces", "--memory", "0123456789ab"), "memory", 1),
        (("explain", "0123456789ab", "--session", "of-ana"), "session", 2),
    ):
        assert told.json(*arguments, code=code)["error"]["field"] == field, arguments
    told.run("traces", "--schema", "memory_gossip", code=2)
