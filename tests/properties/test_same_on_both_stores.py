"""SQLite and PostgreSQL make the same of the same operations: canonical state, ledger and answers, byte for byte."""

import os
from pathlib import Path

import pytest

import recollect
from support.postgres_server import PostgresServer
from support.script import canonical_state, digest, open_seeded, run

SCRIPTS = range(200 if os.environ.get("RECOLLECT_TORTURE") else 4)
QUESTIONS = ("green tea", "who lives in Anatown?", "dark mode port 8080", "Дмитрий", "emojis")


def _same_identity(postgres: PostgresServer, url: str, mem: recollect.Recollect) -> None:
    """Ids are drawn from the store's own, so a server's store takes the other one's."""
    store_id = mem.engine.store.store_id
    postgres.execute(f"UPDATE recollect.store SET value = '{store_id}' WHERE name = 'store_id'", url)


@pytest.mark.parametrize("seed", SCRIPTS)
def test_a_random_script_leads_to_the_same_bytes(
    tmp_path: Path, postgres: PostgresServer, server_store: str, seed: int
) -> None:
    with open_seeded(tmp_path / "a.db", seed) as file:
        _same_identity(postgres, server_store, file)
        with open_seeded(server_store, seed) as server:
            run(file, seed)
            run(server, seed)
            assert list(canonical_state(server.engine)) == list(canonical_state(file.engine))
            assert (server.ledger_root(), digest(server)) == (file.ledger_root(), digest(file))
            for question in QUESTIONS:
                ours, theirs = file.query(question, top_k=20), server.query(question, top_k=20)
                assert [(i.memory.id, i.score) for i in ours.items] == [(i.memory.id, i.score) for i in theirs.items]
            for mem in (file, server):
                mem.add("It is grown around Anatown", owner="ana", entities=[{"name": "green tea"}])
            ours, theirs = (mem.query("what about green tea?", named=True) for mem in (file, server))
            assert [(i.memory.id, i.score) for i in ours.items] == [(i.memory.id, i.score) for i in theirs.items] != []
            assert file.stats()["by_status"] == server.stats()["by_status"]
            assert server.verify().ok


@pytest.mark.parametrize("seed", SCRIPTS[:1])
def test_moving_there_and_back_changes_nothing(tmp_path: Path, postgres: PostgresServer, empty: str, seed: int) -> None:
    with open_seeded(tmp_path / "a.db", seed) as mem:
        run(mem, seed)
    with open_seeded(tmp_path / "a.db", seed) as mem:  # again: counters are written when a store is closed
        before = digest(mem)
    recollect.migrate(tmp_path / "a.db", empty)
    with open_seeded(empty, seed) as mem:
        assert digest(mem) == before
        assert mem.verify().ok
    recollect.migrate(empty, tmp_path / "b.db")
    with open_seeded(tmp_path / "b.db", seed) as mem:
        assert digest(mem) == before
