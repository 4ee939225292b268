"""Words that look like a query language, SQL or markup are words, in a query as in a memory."""

from collections.abc import Iterator

import pytest

from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput
from rows import every_row
from support.script import canonical_state, open_seeded


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with open_seeded() as opened:
        opened.add("Ana likes tea", owner="ana", canonical_key="Tea")
        yield opened


LOOKS_LIKE_SYNTAX = (
    '"', "'", "''", '"unclosed', "tea AND", "OR tea", "NOT tea", "tea NEAR/2 likes", "content:tea", "^tea", "tea*", "*",
    "(tea", "tea)", "{tea}", "tea -likes", "+tea", "tea;", "%", "_", "%tea%", "\\", "\\'", "'; DROP TABLE memories; --",
    "' OR '1'='1", "NULL", "$1", ":name", "?", "tea\x00likes", "tea\ud800", "\u202etea", "x" * 10_240, "tea " * 2_500,
)  # fmt: skip


@every_row("text", LOOKS_LIKE_SYNTAX)
def test_a_query_is_words_and_nothing_else(mem: Recollect, text: str) -> None:
    before = list(canonical_state(mem._engine))
    try:
        found = {item.memory.content for item in mem.query(text).items}
    except BadInput as error:
        assert error.field == "query"
    else:
        assert found <= {"Ana likes tea"}
        assert found or "tea" not in text.replace("_", " ").replace("\u202e", " ").split(), "operators are words"
    assert list(canonical_state(mem._engine)) == before


@every_row("text", LOOKS_LIKE_SYNTAX)
def test_the_same_words_can_be_remembered_or_are_refused_by_name(mem: Recollect, text: str) -> None:
    try:
        receipt = mem.add(text, owner=f"ben {LOOKS_LIKE_SYNTAX.index(text)}")
    except BadInput as error:
        assert error.field == "content"
    else:
        assert receipt.denied or (receipt.memory is not None and mem.get(receipt.memory.id).content == text)
    assert mem.verify().ok
