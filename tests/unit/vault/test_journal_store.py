"""The journal under the store contract: whatever holds for a database file holds for a vault's file."""

from pathlib import Path

import pytest

from recollect.model.errors import StoreTooNew
from recollect.rules.vault.carried import carrying
from recollect.stores.journal import JournalStore
from recollect.stores.journal.lines import write_line
from recollect.stores.journal.rows import Change, packed, unpacked
from recollect.stores.protocol import Store
from recollect.testing.contract import StoreContract

STORE_ID = "11111111-1111-4111-8111-111111111111"


class TestJournal(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return JournalStore(folder / "vault.jsonl", fresh_store_id=STORE_ID)

    def open_again(self, location: str) -> Store:
        return JournalStore(location, fresh_store_id="22222222-2222-4222-8222-222222222222")


@pytest.mark.parametrize("change", [("dreams", ("id",)), ("store", ("name", "value", "mood"))])
def test_what_a_later_release_wrote_is_refused(tmp_path: Path, change: tuple[str, tuple[str, ...]]) -> None:
    path = tmp_path / "vault.jsonl"
    tables = packed([Change(*change, rows=[tuple("x" for _ in change[1])], gone=[])])
    path.write_bytes(write_line(carrying([], {"tables": tables})))
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=change[0]):
        JournalStore(path, fresh_store_id=STORE_ID)
    assert path.read_bytes() == before


def test_rows_survive_as_json() -> None:
    change = Change("t", ("a", "b"), [("text \u2028", b"\x00\xff"), (None, 7)], [("key", 1)])
    assert list(unpacked(packed([change]))) == [change]
