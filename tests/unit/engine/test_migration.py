"""Moving a store: what arrives is what left, whatever interrupts it."""

from pathlib import Path

import pytest

import recollect
from recollect import migrate
from recollect.model.errors import NotFound, StoreUnavailable, WrongState
from recollect.stores.backups import beside


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A store with two tenants, chains, a contradiction, an erased person, counters, traces and a remembered retry."""
    path = tmp_path / "old.db"
    with recollect.open(path) as mem:
        first = mem.add("The staging port is 8080", owner="ana", canonical_key="Staging-Port")
        mem.add("The staging port is 9090", owner="ana", canonical_key="Staging-Port", idempotency_key="k1")
        mem.add_many([{"content": f"Fact number {n} about topic {n % 7}", "owner": "ana"} for n in range(60)])
        mem.add("Ben keeps bees", owner="ben")
        assert mem.add("my password is hunter2-Xy9!", owner="ana").denied
        mem.query("staging port", owner="ana")
        assert first.memory is not None
        mem.edit(mem.list(owner="ana").items[0].id, pinned=True)
        mem.erase(owner="ben")
    with recollect.open(path, tenant="globex") as mem:
        mem.add("Globex ships on Fridays", owner="ops")
    return path


def test_a_copy_has_the_same_history_state_and_ids(source: Path, tmp_path: Path) -> None:
    report = migrate(source, tmp_path / "new.db")
    assert [moved.tenant for moved in report.tenants] == ["default", "globex"]
    for tenant in ("default", "globex"):
        with (
            recollect.open(source, tenant=tenant) as old,
            recollect.open(tmp_path / "new.db", tenant=tenant) as new,
        ):
            assert old.state_hash() == new.state_hash()
            assert old.ledger_root() == new.ledger_root()
            assert new.verify().ok
            assert old.traces() == new.traces()
            assert old.list().items == new.list().items


def test_a_copy_goes_on_like_the_original(source: Path, tmp_path: Path) -> None:
    migrate(source, tmp_path / "new.db")
    with recollect.open(tmp_path / "new.db") as new:
        again = new.add("The staging port is 9090", owner="ana", canonical_key="Staging-Port", idempotency_key="k1")
        assert again.replayed
        assert new.add("Ben keeps bees", owner="ben").outcome == "stored"
        assert new.verify().ok


@pytest.mark.parametrize("after", [1, 30, 100, 250])
def test_an_interrupted_copy_cannot_be_opened_and_goes_on_where_it_stopped(
    source: Path, tmp_path: Path, after: int
) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(done: int, total: int) -> None:
        if done >= after:
            raise Interrupted

    with pytest.raises(Interrupted):
        migrate(source, tmp_path / "new.db", progress=interrupt)
    with pytest.raises(StoreUnavailable, match="migrate"):
        recollect.open(tmp_path / "new.db")
    seen: list[tuple[int, int]] = []
    migrate(source, tmp_path / "new.db", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    with recollect.open(source) as old, recollect.open(tmp_path / "new.db") as new:
        assert old.state_hash() == new.state_hash()
        assert new.verify().ok


def test_a_tenant_that_was_written_to_since_starts_anew(source: Path, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(source, tmp_path / "new.db", progress=interrupt)
    with recollect.open(source) as old:
        gone = old.list(owner="ana").items[3]
        old.erase(id=gone.id)
    migrate(source, tmp_path / "new.db")
    with recollect.open(source) as old, recollect.open(tmp_path / "new.db") as new:
        assert old.state_hash() == new.state_hash()
    for file in tmp_path.glob("new.db*"):
        assert gone.content.encode() not in file.read_bytes()


def test_only_named_tenants_are_carried(source: Path, tmp_path: Path) -> None:
    migrate(source, tmp_path / "new.db", tenants=["globex"])
    with recollect.open(tmp_path / "new.db") as mem:
        assert mem.list().items == ()
    with recollect.open(tmp_path / "new.db", tenant="globex") as mem:
        assert [m.content for m in mem.list().items] == ["Globex ships on Fridays"]


def test_a_target_that_holds_something_is_refused(source: Path, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "new.db") as mem:
        mem.add("I was here first")
    with pytest.raises(WrongState, match="not empty"):
        migrate(source, tmp_path / "new.db")
    with pytest.raises(WrongState, match="itself"):
        migrate(source, source)
    with pytest.raises(StoreUnavailable, match="no store"):
        migrate(tmp_path / "nothing.db", tmp_path / "other.db")
    assert not (tmp_path / "nothing.db").exists()


def test_erased_people_stay_erased_in_the_copy(source: Path, tmp_path: Path) -> None:
    migrate(source, tmp_path / "new.db")
    lists = [beside(tmp_path / f"{name}.db") for name in ("new", "old")]
    assert sorted(lists[0].read()) == sorted(lists[1].read()) != [] and lists[0].damaged() == []
    with recollect.open(tmp_path / "new.db") as mem:
        with pytest.raises(NotFound):
            mem.get("0000000000ff")
        assert mem.list(owner="ben").items == ()
    for file in tmp_path.glob("new.db*"):
        assert b"bees" not in file.read_bytes()
