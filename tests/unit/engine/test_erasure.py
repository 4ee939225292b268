"""What erasure takes, what it leaves, and that it stays gone."""

import shutil
import sqlite3
from pathlib import Path

import pytest

import recollect
from recollect.rules.language.text import sha256_hex


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


def test_an_erased_version_leaves_neither_words_nor_hash_in_its_successor(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", policy={"traces": {"keep": "all"}}) as mem:
        old = mem.add("Ana lives in Zanzibar", owner="ana", canonical_key="ana-home-city").memory
        new = mem.add("Ana lives in Porto", owner="ana", canonical_key="ana-home-city").memory
        assert new.parent_refs == (sha256_hex("Ana lives in Zanzibar"),)
        receipt = mem.erase(id=old.id)
        assert receipt.removed == (old.id,) and receipt.remaining == (new.id,)
        assert mem.get(new.id).parent_refs == ()
        assert "Zanzibar" not in mem.explain(new.id).text
        assert mem.verify().ok and mem.rebuild() == 2 and mem.verify().ok
    left = everything(tmp_path)
    for trace in (
        b"Zanzibar",
        b"anzib",
        old.content_hash.encode(),
        old.fingerprint.encode(),
        bytes.fromhex(old.fingerprint),
    ):
        assert trace not in left


def test_a_restored_backup_forgets_words_and_names_again(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.as_caller(user="ana-unique-name").add("Ana went to Zanzibar")
        mem.add("Ben stayed at home", owner="ben")
    shutil.copy(path, tmp_path / "backup")
    with recollect.open(path) as mem:
        mem.erase(owner="ana-unique-name")
    shutil.copy(tmp_path / "backup", path)
    with recollect.open(path) as mem:
        assert [m.content for m in mem.list().items] == ["Ben stayed at home"]
        assert mem.verify().ok
    (tmp_path / "backup").unlink()
    assert b"Zanzibar" not in everything(tmp_path) and b"ana-unique-name" not in everything(tmp_path)


def test_nothing_written_meanwhile_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    mem, other = recollect.open(path), recollect.open(path)
    mem.add("First", owner="ana")
    other.add("Second, just in time", owner="ana")
    assert len(mem.erase(owner="ana").removed) == 2
    assert other.list(owner="ana").items == ()
    mem.close(), other.close()


def test_a_failed_scrub_is_told_in_the_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recollect.model.errors import StoreUnavailable

    with recollect.open(tmp_path / "m.db") as mem:
        id = mem.add("Zanzibar").memory.id

        def full() -> tuple[str, ...]:
            raise StoreUnavailable("the disk is full.")

        monkeypatch.setattr(mem._engine.store, "scrub", full)
        assert any("could not be rewritten" in what for what in mem.erase(id=id).beyond_reach)
        with pytest.raises(recollect.NotFound):
            mem.get(id)


TAMPERINGS = [
    "UPDATE memories SET scope = 'shared' WHERE scope = 'critic'",
    "UPDATE memories SET kind = 'insight'",
    "UPDATE memories SET created_at = '2020-01-01T00:00:00.000000Z'",
    "UPDATE memories SET importance = 5",
    "UPDATE postings SET tf = tf + 1 WHERE place < 0",
    "UPDATE postings SET length = 99 WHERE length > 0",
    "UPDATE streams SET owner = 'mallory'",
    "UPDATE streams SET namespace = 'test'",
    "UPDATE streams SET tick = tick + 5",
    "UPDATE streams SET last_memory = 99",
    "UPDATE streams SET documents = 99",
    "DELETE FROM streams",
    "UPDATE aliases SET alias = 'stolen'",
    "INSERT INTO aliases SELECT tenant, 'forged', id FROM memories",
    "UPDATE actors SET name = 'mallory'",
    "DELETE FROM actors",
    "UPDATE versions SET body = replace(body, 'Lisbon', 'London')",
    "UPDATE versions SET salt = zeroblob(16)",
    "UPDATE ledger SET rule = 'identity:update' WHERE seq = 1",
    "UPDATE ledger SET at = '2020-01-01T00:00:00.000000Z' WHERE seq = 1",
    "DELETE FROM ledger WHERE seq = 1",
    "DELETE FROM ledger WHERE seq = (SELECT max(seq) FROM ledger)",
    "DELETE FROM versions",
    "DELETE FROM amendments",
    "UPDATE amendments SET body = replace(body, 'true', 'false')",
    "DELETE FROM memories",
    "DELETE FROM postings WHERE term = 'ana'",
]


@pytest.mark.parametrize("sql", TAMPERINGS)
def test_tampering_is_seen(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "m.db"
    with recollect.open(path) as mem:
        mem.add("Ana lives in Lisbon", owner="ana", aliases=["a1"])
        id = mem.add("A secret of the critic", owner="ana", scope="critic").memory.id
        mem.edit(id, pinned=True)
        assert mem.verify().ok
    raw = sqlite3.connect(path)
    assert raw.execute(sql).rowcount != 0
    raw.commit()
    raw.close()
    with recollect.open(path) as mem:
        found = mem.verify()
        assert not found.ok and found.problems[0].where and found.problems[0].hint
