"""Texts are cut into pieces as BERT's tokenizer cuts them. The expected numbers are the reference implementation's."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.embed import static
from recollect.embed.static import MAX_WORD_CHARS, WordPiece, shared_splitter, split_words
from rows import every_row

SAMPLE = json.loads(Path(__file__).with_name("pieces.json").read_text("utf-8"))
SMALL = ("[UNK]", "un", "##do", "##able", "!", "a")


@every_row(("text", "numbers"), SAMPLE)
def test_pieces_are_those_of_the_reference(text: str, numbers: list[int]) -> None:
    assert shared_splitter().pieces(text) == numbers


def test_the_longest_piece_comes_first() -> None:
    assert WordPiece([*SMALL, "##doable"]).pieces("undoable") == [1, 6]
    assert WordPiece(SMALL).pieces("undoable!") == [1, 2, 3, 4]


def test_a_word_with_an_unknown_end_is_unknown_as_a_whole() -> None:
    assert WordPiece(SMALL).pieces("undoing a") == [0, 5]


def test_a_word_that_is_too_long_is_unknown() -> None:
    splitter = WordPiece([*SMALL, "##a"])
    assert splitter.pieces("a" * MAX_WORD_CHARS) == [5] + [6] * (MAX_WORD_CHARS - 1)
    assert splitter.pieces("a" * (MAX_WORD_CHARS + 1)) == [0]


def test_marks_of_the_vocabulary_are_text_like_any_other() -> None:
    assert split_words("[SEP] ##a") == ["[", "sep", "]", "#", "#", "a"]


def test_what_is_remembered_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "MAX_REMEMBERED", 3)
    splitter = WordPiece(SMALL)
    for number in range(20):
        assert splitter.pieces(f"a {number} undo") == [5, 0, 1, 2]
    assert len(splitter._remembered) <= 3


def test_threads_may_share_it() -> None:
    texts = [f"undoable {number % 7}!" for number in range(50)]
    splitter = WordPiece(SMALL)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(splitter.pieces, texts)) == [[1, 2, 3, 0, 4]] * 50
