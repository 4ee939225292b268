"""The copy that is saved beside a long journal: it changes how long opening takes, and nothing else."""

import json
import sqlite3
from pathlib import Path

import pytest

import recollect
from recollect.stores.journal import JournalStore
from recollect.stores.journal.lines import write_line
from recollect.stores.journal.replica import WORTH_SAVING_BYTES
from recollect.stores.journal.view import VaultView
from recollect.vault import MemoryVault

STORE_ID = "11111111-1111-4111-8111-111111111111"
SECRET = "zuvokipali"
Picture = tuple[str, str, list[str], list[str]]


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A journal with memories of a vault and of a store, some of them changed and gone."""
    path = tmp_path_factory.mktemp("journal") / "vault.jsonl"
    with MemoryVault(path) as vault:
        vault.add_memory("The mission is to stabilise", "shared", "mission", tags=["core"])
        vault.add_memory("Bread rises overnight", "orion", "fact")
    with recollect.open(path, policy="default") as mem:
        mem.add("Ana lives in Lisbon")
        mem.add("Ana now lives in Porto")
        mem.add("Ana likes tea", owner="ana")
        gone = mem.add("Violins are tuned in fifths").memory
        assert gone is not None
        mem.forget(gone.id)
    return path.read_bytes()


@pytest.fixture
def path(journal: bytes, tmp_path: Path) -> Path:
    (tmp_path / "vault.jsonl").write_bytes(journal)
    return tmp_path / "vault.jsonl"


def copy_of(path: Path) -> Path:
    return Path(f"{path}.copy")


def save_copy(path: Path) -> None:
    JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=1).close()
    assert copy_of(path).exists()


def picture(path: Path) -> Picture:
    """Everything that anybody sees of it."""
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        assert mem.verify().ok and mem.doctor() == ()
        found = [item.memory.content for item in mem.query("where does Ana live?").items]
        return mem.state_hash(), mem.ledger_root(), found, [repr(memory) for memory in vault.recall()]


def test_with_a_copy_everything_is_as_without(path: Path) -> None:
    before = picture(path)
    save_copy(path)
    assert picture(path) == before


def test_what_came_after_the_copy_is_read(path: Path) -> None:
    save_copy(path)
    saved = copy_of(path).read_bytes()
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        mem.add("Ana now lives in Rome")
        vault.add_memory("Owls hunt at dusk", "shared", "fact")
    assert copy_of(path).read_bytes() == saved
    with_copy = picture(path)
    assert "Ana now lives in Rome" in with_copy[2]
    copy_of(path).unlink()
    assert picture(path) == with_copy


def test_lines_of_a_vault_are_adopted_once(path: Path) -> None:
    with MemoryVault(path) as vault:
        vault.add_memory("Owls hunt at dusk", "shared", "fact")
    save_copy(path)  # by somebody who adopts nothing
    for _ in range(2):
        with recollect.open(path, policy="default") as mem:
            assert [memory.content for memory in mem.list().items].count("Owls hunt at dusk") == 1
    save_copy(path)
    with MemoryVault(path) as vault:
        vault.add_memory("Copper turns green by the sea", "shared", "fact")
    with recollect.open(path, policy="default") as mem:
        contents = [memory.content for memory in mem.list(limit=100).items]
        assert (contents.count("Owls hunt at dusk"), contents.count("Copper turns green by the sea")) == (1, 1)


def test_the_copy_of_another_file_counts_for_nothing_and_goes(path: Path) -> None:
    """Somebody took words out of the file by hand: they must not come back, nor stay beside it."""
    with MemoryVault(path) as vault:
        vault.add_memory(f"The word is {SECRET}", "shared", "fact")
    save_copy(path)
    assert SECRET.encode() in copy_of(path).read_bytes()
    path.write_bytes(path.read_bytes().replace(SECRET.encode(), b"x" * len(SECRET)))
    with recollect.open(path, policy="default") as mem:
        assert not any(SECRET in memory.content for memory in mem.list().items)
    assert not copy_of(path).exists()


def test_a_shorter_file_is_not_the_one_that_was_copied(path: Path) -> None:
    save_copy(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    without = picture(path)
    copy_of(path).unlink(missing_ok=True)
    assert picture(path) == without


def spoil_the_middle(copy: Path) -> None:
    content = copy.read_bytes()
    copy.write_bytes(content[: len(content) // 3])


def spoil_the_schema(copy: Path) -> None:
    with sqlite3.connect(copy) as db:
        db.execute("ALTER TABLE memories ADD COLUMN mood TEXT")


def name_it_as_it_was(copy: Path) -> None:
    with sqlite3.connect(copy) as db:
        db.execute("ALTER TABLE copy_memories RENAME TO copy_lines")


def spoil_a_line(copy: Path) -> None:
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE copy_memories SET lines = X'7B0A'")


def spoil_the_facts(copy: Path) -> None:
    with sqlite3.connect(copy) as db:
        db.execute("DELETE FROM copy_facts")


def spoil_what_is_known(copy: Path) -> None:
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE copy_memories SET heads = replace(heads, 'a', 'b')")


SPOILT = {
    "cut off": spoil_the_middle,
    "empty": lambda copy: copy.write_bytes(b""),
    "something else": lambda copy: copy.write_text("plain words"),
    "of another release": spoil_the_schema,
    "of a release that wrote memories otherwise": name_it_as_it_was,
    "a damaged line": spoil_a_line,
    "damaged ids": spoil_what_is_known,
    "of no file": spoil_the_facts,
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_spoilt_copy_is_as_good_as_none(path: Path, spoil: object) -> None:
    before = picture(path)
    save_copy(path)
    spoil(copy_of(path))  # type: ignore[operator]
    assert picture(path) == before
    assert not copy_of(path).exists()
    save_copy(path)
    assert picture(path) == before


def test_erased_words_are_in_no_file(path: Path) -> None:
    with recollect.open(path, policy="default") as mem:
        erased = mem.add(f"Ana whispers {SECRET}").memory
        assert erased is not None
    save_copy(path)
    Path(f"{path}.copying").write_bytes(copy_of(path).read_bytes())  # of one who died while saving
    with recollect.open(path, policy="default") as mem:
        mem.erase(id=erased.id)
    for file in path.parent.iterdir():
        assert SECRET.encode() not in file.read_bytes(), file.name
    save_copy(path)
    assert SECRET.encode() not in copy_of(path).read_bytes()
    assert picture(path)[2]


def test_words_that_are_to_go_are_not_saved(path: Path) -> None:
    """Between an erasure and the rewriting that it asks for, as after a crash."""
    store = JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=1)
    store.set_value("scrub_due", "now")
    store.close()
    assert not copy_of(path).exists()


def test_it_is_as_private_as_the_journal(path: Path) -> None:
    for mode in (0o600, 0o640):
        path.chmod(mode)
        copy_of(path).unlink(missing_ok=True)
        save_copy(path)
        assert copy_of(path).stat().st_mode & 0o777 == mode


def test_a_short_journal_is_not_copied(path: Path) -> None:
    recollect.open(path, policy="default").close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["vault.jsonl", "vault.jsonl.lock"]


def test_it_is_saved_anew_when_much_has_come(path: Path) -> None:
    save_copy(path)
    first = copy_of(path).read_bytes()
    with recollect.open(path, policy="default") as mem:
        mem.add("Copper turns green by the sea")
    JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=10**9).close()
    assert copy_of(path).read_bytes() == first
    with recollect.open(path, policy="default") as mem:
        mem.add_many([{"content": f"Fact {number} of many", "title": f"fact {number}"} for number in range(20)])
    save_copy(path)
    assert len(copy_of(path).read_bytes()) > len(first)
    assert json.loads(path.read_bytes().splitlines()[0])["text"] == "The mission is to stabilise"


def test_that_it_cannot_be_saved_is_told_and_no_reason_to_fail(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    Path(f"{path}.copying").mkdir()
    JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=1).close()
    assert "its copy was not saved" in caplog.text
    assert not copy_of(path).exists()


def test_while_somebody_writes_nothing_is_saved(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=1)
    other = JournalStore(path, fresh_store_id=STORE_ID, worth_saving_bytes=10**9)
    with other.write("default"):
        store.close()
    other.close()
    assert "its copy was not saved" in caplog.text
    assert not copy_of(path).exists()


def test_whoever_had_to_read_much_saves_it_at_once(path: Path) -> None:
    """Not only when the store is closed: a program that is killed never closes it."""
    with MemoryVault(path) as vault:
        owls = vault.add_memory("Owls hunt at dusk", "shared", "fact").memory
    assert owls is not None
    with path.open("ab") as file:
        file.write(write_line({**owls._replace(version=2).to_dict(), "notes": "x" * WORTH_SAVING_BYTES}))
    mem = recollect.open(path, policy="default")
    assert copy_of(path).exists()
    saved = copy_of(path).stat()
    mem.add("Copper turns green by the sea")
    mem.close()
    assert copy_of(path).stat().st_mtime_ns == saved.st_mtime_ns, "little has come since"
    with recollect.open(path, policy="default") as mem:
        assert mem.get(owls.id).content == "Owls hunt at dusk"


def test_what_is_shown_goes_on_from_the_copy(path: Path) -> None:
    save_copy(path)
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        before = next(memory for memory in vault.active() if memory.text == "Ana now lives in Porto")
        mem.add("Ana now lives in Rome")
        after = vault.get(before.id)
        assert after is not None and (after.text, after.version) == ("Ana now lives in Rome", before.version + 1)
        assert after.created_at == before.created_at


def test_nothing_of_what_is_shown_is_lost_on_the_way(journal: bytes) -> None:
    view, again = VaultView(), VaultView()
    view.apply_lines([json.loads(line) for line in journal.splitlines()])
    for part in view.parts(2):
        again.load_part(part)
    assert list(again.parts(100)) == list(view.parts(100))
    assert dict(again.memories) == dict(view.memories)


def test_whoever_is_erased_after_the_copy_was_saved_is_shown_no_more(path: Path) -> None:
    save_copy(path)
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        assert vault.active()
        mem.erase(owner="default")
        assert vault.active() == []
