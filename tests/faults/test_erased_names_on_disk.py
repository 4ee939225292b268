"""The name of an erased person is in no table and no file, whatever it was the name of; what holds it still is in the receipt."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.langgraph import RecollectSaver
from support.postgres_server import PostgresServer, binaries

from .remains import remains
from .soundness import assert_sound

NAME = "Xerophytia"
POLICY = {"traces": {"keep": "all"}}
PASSWORD = "password = hunter2xyz"
Holds = Callable[[], bool]
"""Whether any table or file of the store holds the name."""


@pytest.fixture(params=["memory.db", "vault.jsonl", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.getfixturevalue("server_store") if request.param == "postgres" else tmp_path / request.param


@pytest.fixture
def holds(place: Any, request: pytest.FixtureRequest) -> Holds:
    if isinstance(place, Path):
        return lambda: bool(remains(place, [NAME]))
    server: PostgresServer = request.getfixturevalue("postgres")

    def on_disk() -> bool:
        server.execute("CHECKPOINT")
        return any(NAME.encode() in file.read_bytes() for file in server.table_files(place))

    return on_disk


@contextmanager
def opened(place: Any) -> Iterator[Any]:
    with recollect.open(place, policy=POLICY) as mem:
        yield mem


def leave_a_name_everywhere(mem: Any) -> None:
    """Everything that a person does to a store in a day, with the name wherever one can be given."""
    names = {"session": NAME, "ai_profile": NAME}
    own = mem.as_caller(user=NAME, projects=[NAME, "lab"], **names)
    fields = {"thread_id": NAME, "run_id": NAME, "role": NAME, "actor_id": NAME, "category": "general", "tags": [NAME]}
    own.add("Something about granite", idempotency_key=f"once {NAME}", aliases=[NAME], **fields)
    own.add("Copper wires need greasing", owner="lab", space="project", **fields)
    own.add("Their project is secret", owner=NAME, space="project")
    for where in ({}, {"owner": "lab", "space": "project"}, {"owner": "ben"}):
        assert own.add(PASSWORD, **where).denied
    own.turn(session=NAME, user="My password is hunter2xyz9", ai="No.")
    own.turn(session=NAME, user="I like copper wires", ai="Noted")
    own.start_phase(owner=NAME, space="session", name=f"p-{NAME}")
    own.query("where are the rods?", thread=NAME)
    own.query("where are the rods?", thread=f"t-{NAME}")
    mem.query("where are the rods?", owner=NAME, thread=f"t2-{NAME}")
    elsewhere = mem.as_caller(user=NAME, session=f"s-{NAME}")
    assert elsewhere.add(PASSWORD).denied  # all that ever happened in this session
    agent = mem.as_caller(user=NAME, agent="planner", projects=["lab"])
    agent.add("Iron rods are stored upstairs", owner="lab", space="project", thread_id=NAME, run_id=NAME)
    mem.add("Rods were counted twice", owner="lab", space="project", actor_id=NAME, source="agent")
    mem.add("Zinc came by mail", owner="ben", author=NAME)
    mem.add("Lead is heavy", owner="ben", source="agent", thread_id=NAME, run_id=NAME)
    mem.vouch(mem.add("Tin melts early", owner="ben").memory.id, by=f"user:{NAME}")
    ben = mem.as_caller(user="ben", session=NAME)
    assert ben.add(PASSWORD).denied


def leave_a_thread(mem: Any, user: str) -> None:
    with RecollectSaver(mem) as saver:
        config = {"configurable": {"thread_id": NAME, "checkpoint_ns": "", "user_id": user}}
        said = {"v": 1, "id": "1ef", "ts": "2026-01-01T00:00:00+00:00", "channel_values": {"said": NAME}}
        saved = saver.put(config, {**said, "channel_versions": {}, "versions_seen": {}}, {"run_id": NAME}, {})  # type: ignore[arg-type,typeddict-unknown-key]
        saver.put_writes(saved, [("said", NAME)], NAME)


def test_no_table_and_no_file_holds_the_name(
    place: Any, holds: Holds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do the lists of erasures, of which there is one beside each backup; the receipt names the backups themselves."""
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    with opened(place) as mem:
        leave_a_name_everywhere(mem)
        leave_a_thread(mem, NAME)
        assert mem.as_caller(user="ben", session="s1").add(PASSWORD).denied
        assert holds(), "the search must find what is there"
        mem.backup(tmp_path / "nightly")
        receipt = mem.erase(owner=NAME)
        assert not holds()
        lists = [*tmp_path.glob("*.erased")]
        assert tmp_path / "nightly.erased" in lists
        assert [one for one in lists if NAME in one.read_text() or not one.stat().st_size] == []
        assert any("backup" in sentence for sentence in receipt.beyond_reach)
        assert not any("their name" in sentence for sentence in receipt.beyond_reach)
        assert [event["session"] for event in mem.traces(type="memory_denied")] == ["s1"], (
            "only ben's own refusal stays"
        )
        assert "Iron rods are stored upstairs" in [
            m.content for m in mem.list(space="project", owner=None, status=None).items
        ]
        assert_sound(mem)
    assert not holds()


def test_a_copy_from_before_forgets_somebody_who_was_only_ever_refused(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "copy"
    with opened(path) as mem:
        mem.add("Ben plays chess", owner="ben")
        assert mem.as_caller(user=NAME, session=f"s-{NAME}").add(PASSWORD).denied
    shutil.copy(path, copy)
    assert remains(path, [NAME])
    with opened(path) as mem:
        assert mem.erase(owner=NAME).traces_removed
    assert not remains(path, [NAME])
    shutil.copy(copy, path)
    with opened(path) as mem:
        assert [m.content for m in mem.list(owner="ben").items] == ["Ben plays chess"]
    assert not remains(path, [NAME])


def test_where_somebody_else_uses_the_name_the_receipt_says_so(place: Any, holds: Holds) -> None:
    with opened(place) as mem:
        mem.add("Something about granite", owner=NAME)
        mem.add("For an agent of that name alone", owner="ben", scope=NAME)
        leave_a_thread(mem, "ben")
        receipt = mem.erase(owner=NAME)
        (said,) = (sentence for sentence in receipt.beyond_reach if sentence.startswith("their name, where"))
        for column in ("versions.body", "memories.scope", "graph_threads.thread_id", "graph_checkpoints.run_id"):
            assert column in said
        for one in receipt.derived:
            mem.erase(id=one.id)
        with RecollectSaver(mem) as saver:
            saver.delete_thread(NAME)
        mem.erase(owner=NAME)
        assert not holds()


@pytest.mark.parametrize("path", [f"of {NAME.upper()}/nightly", f"{NAME.lower()}_2026.bak"])
def test_where_the_path_of_a_backup_has_the_name_the_receipt_says_so(
    place: Any, holds: Holds, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store has to remember that path: what is erased is noted beside the backup."""
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    (tmp_path / path).parent.mkdir(exist_ok=True)
    with opened(place) as mem:
        mem.add("Something about granite", owner=NAME)
        mem.add("Something about iron", owner=NAME[:4])
        mem.backup(tmp_path / "nightly.bak")
        assert not any("the path of a backup" in sentence for sentence in mem.erase(owner=NAME[:4]).beyond_reach)
        mem.backup(tmp_path / path)
        theirs = mem.as_caller(user=NAME, rights=["erase"]).erase(owner=NAME)
        assert not any("the path of a backup" in sentence for sentence in theirs.beyond_reach), "it is the operator's"
        receipt = mem.erase(owner=NAME)
        assert any(sentence.startswith("their name in the path of a backup") for sentence in receipt.beyond_reach)
        assert NAME.lower() not in " ".join(receipt.beyond_reach).lower(), "which is not told again"


PLANTED = {
    "memory.db": """
        CREATE TABLE notes (body);
        CREATE TRIGGER copier AFTER INSERT ON versions BEGIN INSERT INTO notes VALUES (new.body); END;
    """,
    "postgres": """
        CREATE TABLE recollect.notes (body text);
        CREATE FUNCTION recollect.copy_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
        CREATE TRIGGER copier AFTER INSERT ON recollect.versions FOR EACH ROW EXECUTE FUNCTION recollect.copy_row();
    """,
}


@pytest.mark.parametrize("which", PLANTED)
def test_a_planted_trigger_and_an_unknown_table_are_named(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place: Any = tmp_path / which if which != "postgres" else request.getfixturevalue("server_store")
    with opened(place) as mem:
        mem.add("Something about granite", owner=NAME)
        assert not [one for one in mem.doctor() if "copies" in one.what]
    if which == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        server.execute(PLANTED[which], place)
    else:
        with closing(sqlite3.connect(place)) as db:
            db.executescript(PLANTED[which])
    try:
        with opened(place) as mem:
            named = [one.where for one in mem.doctor() if "copies" in one.what]
            assert {"table 'notes'", "trigger 'copier' on 'versions'"} <= set(named)
            beyond = " ".join(mem.erase(owner=NAME).beyond_reach)
            assert "table 'notes'" in beyond and "trigger 'copier' on 'versions'" in beyond
    finally:
        if which == "postgres":
            server.execute("DROP TABLE recollect.notes; DROP FUNCTION recollect.copy_row CASCADE", place)
