"""The journal under the store contract: whatever holds for a database file holds for a vault's file."""

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.formats.vault import carry_memories, read_memories, resolve
from recollect.model.errors import StoreCorrupt, StoreTooNew
from recollect.stores.journal import JournalLog, JournalStore
from recollect.stores.journal.lines import (
    MAX_LINE_BYTES,
    READABLE_ROWS,
    Change,
    Record,
    pack_changes,
    strip_rows,
    unpack_changes,
    write_line,
)
from recollect.stores.protocol import Store
from recollect.testing.contract import StoreContract
from recollect.vault import MemoryVault

STORE_ID = "11111111-1111-4111-8111-111111111111"


class TestJournal(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return JournalStore(folder / "vault.jsonl", fresh_store_id=STORE_ID)

    def open_again(self, location: str) -> Store:
        return JournalStore(location, fresh_store_id="22222222-2222-4222-8222-222222222222")


@pytest.mark.parametrize("change", [("dreams", ("id",)), ("store", ("name", "value", "mood"))])
def test_what_a_later_release_wrote_is_refused(tmp_path: Path, change: tuple[str, tuple[str, ...]]) -> None:
    path = tmp_path / "vault.jsonl"
    tables = pack_changes([Change(*change, rows=[tuple("x" for _ in change[1])], gone=[])])
    path.write_bytes(write_line(carry_memories([], {"tables": tables})))
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=change[0]):
        JournalStore(path, fresh_store_id=STORE_ID)
    assert path.read_bytes() == before


def test_rows_survive_as_json() -> None:
    change = Change("t", ("a", "b"), [("text \u2028", b"\x00\xff"), (None, 7)], [("key", 1)])
    assert list(unpack_changes(pack_changes([change]))) == [change]


MANY = [
    {"content": f"Fact {number} is about owls, copper and bread", "title": f"fact {number}"} for number in range(40)
]


@pytest.fixture
def long_lines(tmp_path: Path) -> Path:
    """A store's file with a transaction of one memory, and one of many."""
    with recollect.open(tmp_path / "vault.jsonl", policy="default") as mem:
        mem.add("Ana lives in Lisbon")
        mem.add_many(MANY)
    return tmp_path / "vault.jsonl"


def tables_of(path: Path) -> list[Any]:
    return [json.loads(line)["recollect"]["tables"] for line in path.read_bytes().splitlines()]


def state(path: Path) -> tuple[str, str]:
    with recollect.open(path, policy="default") as mem:
        assert mem.verify().ok
        return mem.state_hash(), mem.ledger_root()


def test_the_rows_of_many_memories_are_packed_and_those_of_a_few_can_be_read(long_lines: Path) -> None:
    assert [type(tables) for tables in tables_of(long_lines)] == [dict, dict, str]
    before = state(long_lines)
    lines = [json.loads(line) for line in long_lines.read_bytes().splitlines()]
    lines[-1]["recollect"]["tables"] = json.loads(zlib.decompress(base64.b64decode(tables_of(long_lines)[-1])))
    plain = b"".join(map(write_line, lines))
    assert len(plain) > 2 * long_lines.stat().st_size
    long_lines.write_bytes(plain)  # as earlier releases wrote it
    assert state(long_lines) == before


def test_packed_rows_come_back_as_they_were() -> None:
    change = Change(
        "t", ("a", "b"), [(f"half a letter \ud800 {n}", bytes([n % 256])) for n in range(READABLE_ROWS + 1)], []
    )
    assert isinstance(pack_changes([change]), str)
    assert list(unpack_changes(pack_changes([change]))) == [change]


PACKED = {
    "cut off": zlib.compress(b"{}")[:-3],
    "something else": b"plain words",
    "no tables": zlib.compress(b"[]"),
    "rows that are none": zlib.compress(b'{"store": 7}'),
    "far too much": zlib.compress(b'{"store": "' + b"x" * MAX_LINE_BYTES + b'"}'),
}


@pytest.mark.parametrize("spoilt", PACKED.values(), ids=PACKED)
def test_packed_rows_that_no_store_wrote_are_damage(tmp_path: Path, spoilt: bytes) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(write_line(carry_memories([], {"tables": base64.b64encode(spoilt).decode()})))
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="cannot be read") as error:
        recollect.open(path, policy="default")
    assert error.value.field == str(path) and path.read_bytes() == before


def test_a_vault_shows_the_same_whether_it_reads_the_rows_or_not(long_lines: Path) -> None:
    quoted = ', "recollect": {"tables": {}, "also": []}}'
    with recollect.open(long_lines, policy="default") as mem:
        mem.add(f"Whoever writes {quoted} means nothing by it {quoted}", title="quoted")
        mem.add("Nobody else is shown", owner="ana")
    lines = long_lines.read_bytes().splitlines()
    assert [strip_rows(line) != line for line in lines] == [False, True, False, True, True]
    whole = resolve({}, read_memories([json.loads(line) for line in lines]))
    with MemoryVault(long_lines) as vault:
        shown = {memory.id: memory.to_dict() for memory in vault.active()}
        assert vault.vault_stats()["deleted"] == 0, "a line about nobody is no memory that was deleted"
    assert shown == whole and len(shown) == 42
    assert any(memory["text"].count(quoted) == 2 for memory in shown.values())


def test_another_tools_line_is_never_cut(tmp_path: Path) -> None:
    inner = {"of": "x" * 3_000, "recollect": {"tables": {"a": 1}, "also": []}}
    fields = {"id": "0f3a9c2b1d4e", "text": "Owls hunt", "scope": "shared", "category": "fact"}
    for place, tool in enumerate((inner, [inner], {"deep": inner})):
        path = tmp_path / f"{place}.jsonl"
        path.write_bytes(write_line({**fields, "tool": tool}))
        with MemoryVault(path) as vault:
            assert vault.active()[0].extra == {"tool": tool}


def test_ones_own_line_is_not_read_again_and_everybody_elses_is(tmp_path: Path) -> None:
    log, seen = JournalLog(tmp_path / "vault.jsonl"), list[str]()

    def fold(batches: Iterator[list[Record]], afresh: bool) -> None:
        seen.extend(record["id"] for records in batches for record in records)

    own, foreign = (write_line({"id": name}) for name in ("own", "foreign"))
    with log.turn():
        log.catch_up(fold)
        log.append([own])
        log.mark_read(own)
        log.catch_up(fold)
        assert seen == []
        log.append([own])
        with log.path.open("ab") as somebody:
            somebody.write(foreign)
        log.mark_read(own)
        log.catch_up(fold)
        assert seen == ["own", "foreign"]
    log.close()
