"""The data files keep their format, the tagger is the pinned one, and no text makes the reader fail."""

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.rules.statements import READER_VERSION, TAGGER_SHA256, Frame, Relation, compare, read_statement, tables
from recollect.rules.statements import tagger as tagger_module
from rows import every_row


@pytest.mark.parametrize("language", ["en", "de"])
def test_predicate_tables_are_valid(language: str) -> None:
    table = tables.predicates(language)
    for phrase in table.phrases():
        assert phrase.words and all(word == word.strip().lower() for word in phrase.words)
    modes = {phrase.words: set() for phrase in table.phrases()}  # type: ignore[var-annotated]
    for phrase in table.phrases():
        modes[phrase.words].add(phrase.mode)
    clashes = {words for words, found in modes.items() if len(found & {"state", "stop"}) == 2}
    assert not clashes


def test_the_english_table_is_as_large_as_it_says() -> None:
    table = tables.predicates("en")
    assert len(table.predicates) >= 50
    assert len(table.phrases()) >= 300


def test_german_attributes_are_english_ones() -> None:
    english = {predicate.attribute for predicate in tables.predicates("en").predicates}
    assert {predicate.attribute for predicate in tables.predicates("de").predicates} <= english


def test_a_table_that_breaks_its_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in (
        {"values": "some", "kinds": "name"},
        {"values": "one", "kinds": "colour"},
        {"values": "one", "kinds": "name", "x": 1},
    ):
        monkeypatch.setattr(tables, "load_table", lambda package, name, row=row: {"home": row})
        tables.predicates.cache_clear()
        with pytest.raises(tables.BadTable, match=r"\[home\]"):
            tables.predicates("en")
    monkeypatch.undo()
    tables.predicates.cache_clear()


def test_role_nouns_of_several_are_about_a_hundred() -> None:
    assert len(tables.words("nouns", "several")) >= 100


def test_another_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tagger_module.TAGGER_SHA256, "en", "0" * 64)
    tagger_module.load_tagger.cache_clear()
    with pytest.raises(tagger_module.WrongTaggerModel, match="install HanTa"):
        tagger_module.load_tagger("en")
    monkeypatch.undo()
    tagger_module.load_tagger.cache_clear()
    assert tagger_module.load_tagger("en")


def test_versions_are_stated() -> None:
    assert READER_VERSION >= 1
    assert all(len(digest) == 64 for digest in TAGGER_SHA256.values())


def test_importing_the_package_loads_no_tagger() -> None:
    code = "import sys, recollect.rules.statements; print('HanTa' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == "False"


WORDS = """User I the a my Ana's is was not no longer moved to from lives in works at Porto Acme 12 9:15 and , . : ' " of for
because if never please don't stopped selling was replaced by as new took over than more any anymore Ich wohne nicht mehr
in der ist von there emojis on May last 3.10 ( ) - than""".split()

statement_like = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


def check(text: str) -> None:
    frames = read_statement(text)
    assert all(isinstance(frame, Frame) for frame in frames)
    assert read_statement.__wrapped__(text) == frames
    for frame in frames:
        assert frame.slot == frame.slot.lower()
        assert frame.subject and frame.attribute and frame.rule
        assert all(isinstance(part, str) for part in frame.name)
        assert not (frame.single and (frame.partial or frame.contested))
    relation, *_ = compare(frames, frames)
    assert relation in Relation


@settings(max_examples=100, deadline=None)
@given(statement_like)
def test_any_order_of_words_is_read_or_left(text: str) -> None:
    check(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read_or_left(text: str) -> None:
    check(text)


@every_row(
    "text",
    ["", " ", "....", "?!", "'", '"', "\x00", "\ud800", "a" * 290, "," * 300, "a, " * 90, "User " * 50, "((((" * 70, "is " * 90,
     "of " * 90, "'s " * 90, "1 " * 140, "x" * 10_000, "word " * 2_000, "😀" * 200, "ﬁ İ ß"],
)  # fmt: skip
def test_odd_texts_are_read_or_left_quickly(text: str) -> None:
    read_statement("User lives in Porto")
    start = time.perf_counter()
    check(text)
    assert time.perf_counter() - start < 2
