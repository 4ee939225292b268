"""An audit of somebody else's file: every finding with its examples, nothing sensitive in the report, nothing stored."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from recollect import BadInput
from recollect.engine.transfer.foreign_audit import AuditedFile, audit_file
from recollect.policies import load_policy
from recollect.rules.auditing import FINDINGS

RECORDS: list[dict[str, Any]] = [
    {"content": "Ana lives in Lisbon", "owner": "ana"},
    {"content": "Ana lives in Lisbon", "owner": "ana"},
    {"content": "Ana lives in Lisbon", "owner": "ben"},
    {"content": "The nightly backup of the garden server runs at four", "owner": "ana"},
    {"content": "The nightly backup of the garden server runs at 4", "owner": "ana"},
    {"content": "The port of the gateway is 8080", "owner": "ana"},
    {"content": "The port of the gateway is 9090", "owner": "ana"},
    {"content": "Ana now lives in Porto", "owner": "ana"},
    {"content": "heartbeat ok 12:00", "owner": "ana"},
    {"content": "E2E test memory 7", "owner": "ana"},
    {"content": "Rivers flow", "tags": ["e2e"], "owner": "ana"},
    {"content": "The password is hunter2-Zx9Q", "owner": "ana"},
    {"content": "Seas rise", "owner": "ana", "note": "write to ana@example.org or call +41 44 668 18 00"},
    {"content": "", "owner": "ana"},
    {"content": "Poems are long", "kind": "poem", "owner": "ana"},
]


def audited(folder: Path, records: list[dict[str, Any]], **options: Any) -> AuditedFile:
    file = folder / "facts.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return audit_file(load_policy(None), "jsonl", file, **options)


def test_every_kind_of_finding_is_found_and_shown(tmp_path: Path) -> None:
    done = audited(tmp_path, RECORDS)
    found = done.found
    assert (done.file, found.read, found.owners) == ("facts.jsonl", 15, 2)
    assert found.counts == {
        "broken": 2,
        "noise": 1,
        "test": 2,
        "duplicate": 1,
        "near_duplicate": 1,
        "contradiction": 1,
        "outdated": 1,
        "secret": 1,
        "personal": 1,
    }
    assert found.sensitive == {"email": 1, "password": 1, "phone": 1}
    assert found.worthless == 7
    duplicate = found.examples["duplicate"][0]
    assert (duplicate.place, duplicate.beside) == ("record 2 (line 2)", "record 1 (line 1)")
    assert found.examples["contradiction"][0].beside == "record 6 (line 6)"
    assert found.examples["outdated"][0].place == "record 8 (line 8)"
    assert found.examples["near_duplicate"][0].beside == "record 4 (line 4)"
    assert {one.place for one in found.examples["broken"]} == {"record 14 (line 14)", "record 15 (line 15)"}


def test_nothing_sensitive_is_in_the_report_or_on_the_page(tmp_path: Path) -> None:
    done = audited(tmp_path, RECORDS)
    for text in (json.dumps(done.to_dict()), done.page()):
        assert "hunter2" not in text and "ana@example.org" not in text and "668 18" not in text
    assert "[redacted:password]" in done.page()


def test_the_same_words_said_twice_are_two_events(tmp_path: Path) -> None:
    said = [{"content": "Good morning to you all", "kind": "episodic"}] * 3
    assert audited(tmp_path, said).found.clean == 3


def test_a_changed_value_that_only_the_statement_reader_names_is_seen(tmp_path: Path) -> None:
    said = ["Ana works at Acme", "Ana works at Globex", "Ana works at night"]
    found = audited(tmp_path, [{"content": text, "owner": "ana"} for text in said]).found
    assert found.counts["contradiction"] + found.counts["outdated"] == 1


def test_examples_are_few_and_counts_are_all(tmp_path: Path) -> None:
    found = audited(tmp_path, [{"content": "Rivers flow to the sea"}] * 50).found
    assert found.counts["duplicate"] == 49 and len(found.examples["duplicate"]) == 10


def test_a_broken_file_is_an_error_here_too(tmp_path: Path) -> None:
    (tmp_path / "facts.jsonl").write_text("{")
    with pytest.raises(BadInput, match="line 1"):
        audit_file(load_policy(None), "jsonl", tmp_path / "facts.jsonl")


class _Read(HTMLParser):
    """What a browser would see."""

    VOID = frozenset({"meta", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words = ""
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def test_the_page_is_whole_and_fetches_nothing(tmp_path: Path) -> None:
    page = audited(tmp_path, RECORDS).page()
    read = _Read()
    read.feed(page)
    assert read.open == [] and read.tags.count("svg") == 1 + 3 + len(FINDINGS) + 3
    assert not {"script", "link", "img", "iframe", "object", "a", "form"} & set(read.tags)
    assert not any(name.startswith("on") or name in ("src", "href") for name, _ in read.attributes)
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in read.attributes
    assert "url(" not in page and "@import" not in page and not re.search(r"https?://", page)
    assert read.attributes.count(("aria-hidden", "true")) == read.tags.count("svg")


def test_every_bar_stands_beside_its_figure(tmp_path: Path) -> None:
    done = audited(tmp_path, RECORDS)
    read = _Read()
    read.feed(done.page())
    figures = {row[0]: row[1:] for row in read.rows}
    for kind, count in done.found.counts.items():
        assert figures[kind.replace("_", " ")] == [str(count), f"{count / done.found.read:.1%}"]
    for type, count in done.found.sensitive.items():
        assert figures[type][0] == str(count)
    assert (figures["clean"][0], figures["worthless"][0]) == (str(done.found.clean), str(done.found.worthless))
    assert (
        re.findall(r'<rect x="0.00" y="0" width="([\d.]+)"', done.page())[-len(done.found.sensitive) :]
        == ["100.00"] * 3
    )


def test_an_audit_of_nothing_is_a_page_too(tmp_path: Path) -> None:
    read = _Read()
    read.feed(audited(tmp_path, []).page())
    assert read.open == [] and "0.0%" in read.words


HOSTILE = [
    "<script>alert(1)</script> is what Ana said",
    '"><img src=x onerror=alert(1)> is what Ben said',
    "'-alert(1)-' </td></table></style><svg onload=alert(1)> rivers",
    "turned \u202e around \u2066 and \u200b unseen words",
    "&lt;b&gt; already escaped",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_no_word_of_a_record_becomes_part_of_the_page(tmp_path: Path, words: str) -> None:
    page = audited(tmp_path, [{"content": words, "owner": words}, {"content": words, "owner": words}]).page()
    read = _Read()
    read.feed(page)
    assert read.open == [] and read.tags.count("svg") == 1 + 3 + len(FINDINGS)
    assert not {"script", "img"} & set(read.tags) and not any(name.startswith("on") for name, _ in read.attributes)
    assert not re.search("[\u200b-\u200f\u2028-\u202e\u2060-\u206f]", page)


def test_no_name_of_a_file_becomes_part_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "<script>alert(1)<script>.jsonl"
    file.write_text('{"content": "Rivers flow"}\n')
    page = audit_file(load_policy(None), "jsonl", file).page()
    read = _Read()
    read.feed(page)
    assert "script" not in read.tags and read.open == []
