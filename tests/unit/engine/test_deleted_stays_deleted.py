"""What was deleted stays deleted, whatever is done to the store afterwards; a sibling of it stays where it was all along."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from support.postgres_server import PostgresServer, binaries

BEES, DENTIST = "My bees live in Zanzibar.", "My dentist is Dr. Lund."
QUESTION = "Where do the bees live, and who is the dentist?"


class Ground(NamedTuple):
    """Where a store is, where a backup of it can be put back, and where an export can be taken in."""

    store: Any
    restored: Any
    elsewhere: Path


@pytest.fixture(params=["sqlite", "journal", "postgres"])
def ground(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ground]:
    if request.param != "postgres":
        yield Ground(
            tmp_path / {"sqlite": "memory.db", "journal": "vault.jsonl"}[request.param],
            tmp_path / "restored.db",
            tmp_path / "elsewhere.db",
        )
        return
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))  # pg_dump and pg_restore are the server's own
    server: PostgresServer = request.getfixturevalue("postgres")
    restored = server.new_database()
    yield Ground(request.getfixturevalue("server_store"), restored, tmp_path / "elsewhere.db")
    server.drop_database(restored)


def told(mem: Any, word: str, owner: str) -> list[str]:
    """Every way in which a prompt could be told a word: by each, what is told."""
    recalls = {
        "query": mem.query(QUESTION, owner=owner).items,
        "the same session": mem.recall_for(session=f"s-{owner}", owner=owner, user=QUESTION).items,
        "a later session": mem.recall_for(session="later", owner=owner, user=QUESTION).items,
        "the project": mem.query(QUESTION, space="project", owner="hive").items,
    }
    texts = {way: " ".join(item.memory.content for item in items) for way, items in recalls.items()}
    texts["list"] = " ".join(m.content for m in mem.list(owner=owner).items)
    texts["block"] = mem.memory_block(QUESTION, owner=owner).text
    texts["export"] = " ".join(mem.export(owner=None, space=None))
    return [way for way, text in texts.items() if word in text]


def check(mem: Any, sibling: str) -> None:
    """The bees are told nowhere; the dentist, the sibling's, is told everywhere."""
    assert told(mem, "Zanzibar", "ana") == []
    assert len(told(mem, "Lund", sibling)) == 7


def remember(mem: Any, owner: str, said: str) -> Any:
    """Something that is said in a session, settled in its owner's space, recalled, and shared with a project."""
    turn = mem.turn(session=f"s-{owner}", owner=owner, user=said, ai="Noted.", idempotency_key=f"turn of {said}")
    word = said.split()[-1].strip(".")
    (kept,) = (m for m in mem.list(owner=owner).items if word in m.content)
    assert mem.promote(kept.id, "project", owner="hive").outcome == "stored"
    assert word in mem.query(QUESTION, owner=owner).text and turn.receipts
    return kept


@pytest.mark.parametrize(("how", "sibling"), [("forget", "ana"), ("erase", "ben")])
def test_deleted_stays_deleted(ground: Ground, tmp_path: Path, how: str, sibling: str) -> None:
    delete: dict[str, Callable[[Any, str], Any]] = {
        "forget": lambda mem, id: mem.forget(id),
        "erase": lambda mem, id: mem.erase(owner="ana"),
    }
    policy = {"erasure": {"derived": "erase"}}
    with recollect.open(ground.store, policy=policy) as mem:
        bees, dentist = remember(mem, "ana", BEES), remember(mem, sibling, DENTIST)
        last_week = [*mem.export(owner=None, space=None)]
        mem.backup(tmp_path / "last-week")
        assert len(told(mem, "Zanzibar", "ana")) == 7, "every way of looking finds what is there"
        delete[how](mem, bees.id)
        mem.recall_for(session="s-ana", owner="ana", user=QUESTION)  # whose header says once that it went
        check(mem, sibling)
        mem.upkeep()
        mem.consolidate(force=True)
        mem.reindex()
        mem.rebuild()
        check(mem, sibling)
        assert mem.import_(last_week, believe="place").reasons["forgotten:here"] >= 2, "a file does not bring it back"
        check(mem, sibling)
        if how == "forget":
            mem.turn(session="s-ana", owner="ana", user=BEES, ai="Noted.", idempotency_key=f"turn of {BEES}")
            check(mem, sibling)  # the original conversation, sent again
    with recollect.open(ground.store, policy=policy) as mem:
        check(mem, sibling)
        history = [event.event for event in mem.history(bees.id)]
        assert history[0] == "ADD" and history[-1] == "DELETE"
        assert mem.get(dentist.id).status == "active" and mem.verify().ok
        lines = [*mem.export(owner=None, space=None)]
    with recollect.open(ground.elsewhere) as other:
        other.import_(lines, believe="place")
        assert not any("Zanzibar" in m.content for m in other.list(owner=None, space=None, status=None).items)
        assert any("Lund" in m.content for m in other.list(owner=None, space=None).items)
    recollect.restore_backup(tmp_path / "last-week", ground.restored)
    with recollect.open(ground.restored, policy=policy) as mem:
        mem.recall_for(session="s-ana", owner="ana", user=QUESTION)
        check(mem, sibling)
        assert mem.history(bees.id)[-1].event == "DELETE" and mem.verify().ok


def test_what_is_said_again_is_another_memory_and_what_is_restored_stays(tmp_path: Path) -> None:
    """``forget`` takes a memory away, and forbids nobody to say it again."""
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        bees = remember(mem, "ana", BEES)
        mem.forget(bees.id)
        mem.turn(session="s2", owner="ana", user=BEES, ai="Noted.")
        (again,) = (m for m in mem.list(owner="ana").items if "Zanzibar" in m.content)
        assert again.id != bees.id and mem.get(bees.id).status == "soft_deleted"
        mem.forget(again.id)
        mem.restore(bees.id)
    with recollect.open(path) as mem:
        assert mem.get(bees.id).status == "active", "the list of what was forgotten does not undo a later decision"


@pytest.mark.parametrize("ground", ["sqlite", "postgres"], indirect=True)
def test_what_a_person_asks_to_forget_in_a_turn_stays_forgotten_in_a_restored_backup(
    ground: Ground, tmp_path: Path
) -> None:
    with recollect.open(ground.store) as mem:
        mem.turn(session="s-ana", owner="ana", user=DENTIST, ai="Noted.")
        mem.turn(session="s-ana", owner="ana", user=BEES, ai="Noted.")
        mem.backup(tmp_path / "last-week")
        assert mem.turn(session="s-ana", owner="ana", user="Forget what I just said.", ai="Done.").forgotten
    recollect.restore_backup(tmp_path / "last-week", ground.restored)
    with recollect.open(ground.restored) as mem:
        kept = " ".join(m.content for space in ("user", "session") for m in mem.list(owner=None, space=space).items)
        assert "Zanzibar" not in kept and kept.count("Lund") == 3, (
            "the line, what was read from it, and its promoted copy"
        )
        assert mem.verify().ok


@pytest.mark.parametrize("ground", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("derived", ["review", "erase"])
def test_erasing_a_memory_reaches_the_line_that_it_was_read_from(ground: Ground, derived: str) -> None:
    """The other thing that was said in that line stays; a line of somebody else that a memory only names stays as well."""
    with recollect.open(ground.store, policy={"erasure": {"derived": derived}}) as mem:
        mem.turn(session="s-ben", owner="ben", user="I like figs.", ai="Noted.")
        mem.turn(session="s-ana", owner="ana", user=f"{DENTIST} {BEES}", ai="Noted.")
        (line,) = (
            m for m in mem.list(space="session", owner="s-ana").items if m.role == "user" and m.kind == "short_term"
        )
        (other,) = (
            m for m in mem.list(space="session", owner="s-ben").items if m.role == "user" and m.kind == "short_term"
        )
        (dentist, bees) = (
            next(m for m in mem.list(owner="ana").items if word in m.content) for word in ("Lund", "Zanz")
        )
        false = mem.add("Ana likes figs", owner="ana", meta={"source_turn_ids": [other.id]}).memory
        receipt = mem.erase(id=bees.id)
        assert (receipt.removed, receipt.authored) == ((bees.id,), (line.id,))
        assert (dentist.id, "kept") in [(one.id, one.became) for one in receipt.derived]
        assert "Zanzibar" not in " ".join(mem.export(owner=None, space=None))
        assert mem.get(dentist.id).status == "active"
        assert mem.erase(id=false.id).removed == (false.id,) and mem.get(other.id).content == "I like figs."
        mem.erase(id=dentist.id)
        assert "Lund" not in " ".join(mem.export(owner=None, space=None)), "nor the copy that it was promoted from"
        assert mem.verify().ok
