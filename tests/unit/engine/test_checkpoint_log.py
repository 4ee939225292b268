"""Checkpoints and proofs from a real store: what they cover, who may ask, what erasure leaves, and both stores alike."""

import gc
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from recollect.engine.ledger import checkpoint_log
from recollect.engine.ledger.checkpoint_log import checkpoint, checkpoints, covered_streams, prove_growth, prove_memory
from recollect.engine.transfer.migration import migrate
from recollect.engine.trust import identities
from recollect.interfaces.python import Recollect
from recollect.model.caller import Caller, Right
from recollect.model.errors import NotAllowed, NotFound, StoreCorrupt, WrongState
from recollect.model.proof import StreamLeaf
from recollect.rules.ledger import proofs
from support.script import open_seeded, run


def remember(mem: Recollect, content: str, owner: str = "ana", **fields: object) -> str:
    memory = mem.add(content, owner=owner, **fields).memory
    assert memory is not None
    return memory.id


def test_there_is_nothing_to_cover_in_an_empty_store() -> None:
    with open_seeded() as mem, pytest.raises(WrongState, match="nothing to cover"):
        checkpoint(mem.engine)


def test_one_leaf_for_each_stream_that_changed() -> None:
    with open_seeded() as mem:
        remember(mem, "Ana lives in Lisbon")
        remember(mem, "Ben plays chess", "ben")
        first = checkpoint(mem.engine)
        remember(mem, "Ana now lives in Porto")
        second = checkpoint(mem.engine)
        with mem.engine.read() as reader:
            rows = reader.log_leaves("default")
            streams = {one.uid: one for one in reader.streams_of("default")}
        leaves = [proofs.read_leaf(row.body) for row in rows]
        spans = [(one.from_seq, one.to_seq) for one in leaves if isinstance(one, StreamLeaf)]
        assert (first.size, second.size, spans) == (2, 3, [(1, 1), (1, 1), (2, 3)])
        assert leaves[2].stream == leaves[0].stream  # type: ignore[union-attr]
        assert leaves[2].head == streams[rows[2].subject].head  # type: ignore[union-attr]
        assert first.log == second.log and first.at < second.at
        assert checkpoints(mem.engine) == (first, second)


def test_where_nothing_changed_the_last_one_is_the_answer(tmp_path: Path) -> None:
    with open_seeded() as mem:
        made = identities.new_identity(mem.engine, "auditor", tmp_path / "auditor.pem")
        remember(mem, "Ana lives in Lisbon")
        first = checkpoint(mem.engine)
        assert checkpoint(mem.engine) == first and first.signatures == ()
        signed = checkpoint(mem.engine, identities.signing_key(mem.engine, "auditor", Path(made.file)))
        assert signed.model_copy(update={"signatures": ()}) == first
        assert [one.key for one in signed.signatures] == [made.key]
        assert checkpoint(mem.engine) == signed


def test_verify_says_how_much_no_checkpoint_covers() -> None:
    with open_seeded() as mem:
        remember(mem, "Ana lives in Lisbon")
        assert mem.verify().uncovered_entries == 1
        checkpoint(mem.engine)
        assert mem.verify().uncovered_entries == 0
        remember(mem, "Ana now lives in Porto")
        remember(mem, "Ben plays chess", "ben")
        verified = mem.verify()
        assert (verified.ok, verified.entries, verified.uncovered_entries) == (True, 4, 3)


def test_verify_leaves_the_search_for_garbage_as_it_was() -> None:
    with open_seeded() as mem:
        remember(mem, "Ana lives in Lisbon")
        for switch, on in ((gc.disable, False), (gc.enable, True)):
            switch()
            assert mem.verify().ok
            assert gc.isenabled() is on


def test_a_broken_chain_is_never_covered(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_seeded(path) as mem:
        remember(mem, "Ana lives in Lisbon")
        remember(mem, "Ana now lives in Porto")
    for statement in (
        "UPDATE ledger SET rule = 'forged' WHERE seq = 2",
        "UPDATE streams SET head = prev_hash FROM ledger WHERE ledger.seq = 3",
        "DELETE FROM ledger WHERE seq = 2",
    ):
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        with closing(sqlite3.connect(copy)) as db:
            db.execute(statement)
            db.commit()
        with open_seeded(copy, 1) as mem:
            with pytest.raises(StoreCorrupt, match="nothing was covered"):
                checkpoint(mem.engine)
            assert checkpoints(mem.engine) == ()
        copy.unlink()


def test_nothing_of_a_tenant_is_in_anothers_log() -> None:
    with open_seeded() as mem:
        other = Recollect(mem.engine.seen_by(Caller(tenant="globex")), owns_store=False)
        remember(mem, "Ana lives in Lisbon")
        theirs = remember(other, "Zoe lives in Rome", "zoe")
        first, second = checkpoint(mem.engine), checkpoint(other.engine)
        assert (first.size, second.size) == (1, 1) and first.log != second.log and first.root != second.root
        with mem.engine.read() as reader:
            ours = covered_streams(reader, "default").keys()
        with other.engine.read() as reader:
            assert len(ours | covered_streams(reader, "globex").keys()) == 2
        with pytest.raises(NotFound):
            prove_memory(mem.engine, theirs)


def test_proofs_of_a_long_history_hold() -> None:
    with open_seeded() as mem:
        for seed in range(4):
            run(mem, seed, 15)
            checkpoint(mem.engine)
        taken = checkpoints(mem.engine)
        for one in taken:
            assert proofs.check(prove_growth(mem.engine, one.size).text, kept=one).ok
        with mem.engine.read() as reader:
            ids = [v.id for stream in reader.streams_of("default") for v in reader.versions(stream)]
        assert len(ids) > 40
        for id in ids:
            proof = prove_memory(mem.engine, id)
            answer = proofs.check(proof.text, kept=taken[-1])
            assert answer.ok, answer


def test_what_is_not_covered_yet_cannot_be_proved() -> None:
    with open_seeded() as mem:
        remember(mem, "Ana lives in Lisbon")
        with pytest.raises(NotFound, match="no checkpoint"):
            prove_memory(mem.engine, remember(mem, "Ben plays chess", "ben"))
        checkpoint(mem.engine)
        with pytest.raises(WrongState, match="covers it yet"):
            prove_memory(mem.engine, remember(mem, "Cat sings", "cat"))
        with pytest.raises(NotFound, match="of 7 leaves"):
            prove_growth(mem.engine, 7)


def test_a_proof_carries_content_only_if_asked_and_seen() -> None:
    with open_seeded() as mem:
        id = remember(mem, "Ana lives in Lisbon", scope="planner")
        checkpoint(mem.engine)
        assert "Lisbon" in prove_memory(mem.engine, id).text
        assert "Lisbon" not in prove_memory(mem.engine, id, with_content=False).text
        keeper = mem.as_caller(agent="keeper", user="ana", rights=[Right.READ, Right.OPERATE])
        with pytest.raises(NotFound):
            prove_memory(keeper.engine, id)  # another agent's memory
        own = mem.as_caller(agent="planner", user="ana", rights=[Right.READ, Right.OPERATE])
        assert "Lisbon" in prove_memory(own.engine, id).text


def test_only_those_who_look_after_the_store_may_ask() -> None:
    with open_seeded() as mem:
        id = remember(mem, "Ana lives in Lisbon")
        size = checkpoint(mem.engine).size
        bound = mem.as_caller(user="ana").engine
        for ask in (
            lambda: checkpoint(bound),
            lambda: checkpoints(bound),
            lambda: prove_memory(bound, id),
            lambda: prove_growth(bound, size),
        ):
            with pytest.raises(NotAllowed, match="operate"):
                ask()


def test_erasure_leaves_the_log_as_it_is_and_the_kept_checkpoint_true(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_seeded(path) as mem:
        id = remember(mem, "Zanzibarquartz is the word", "zanzibarowner")
        remember(mem, "Ben plays chess", "ben")
        identities.new_identity(mem.engine, "user:zanzibarowner", tmp_path / "keys" / "ana.pem")
        kept, before = checkpoint(mem.engine), prove_memory(mem.engine, id)
        mem.erase(owner="zanzibarowner")
        after = mem.verify(kept=kept)
        assert after.ok and after.uncovered_entries == 3, (
            "the memory, and the names of its owner and of the key's holder"
        )
        assert [one.name for one in identities.identities(mem.engine)] == [None], "whose key it was is gone too"
        assert prove_memory(mem.engine, id).values == ()
        later = checkpoint(mem.engine)
        assert proofs.check(prove_growth(mem.engine, kept.size).text, kept=kept).ok
        assert proofs.check(prove_memory(mem.engine, id).text, kept=later).ok, (
            "its entries are proved without its words"
        )
    salt = bytes.fromhex(before.values[0].salt)
    for file in tmp_path.iterdir():
        if file.is_file():
            data = file.read_bytes()
            assert b"anzibar" not in data and salt not in data, file.name


def test_a_store_that_moves_takes_its_log_along(tmp_path: Path, server_store: str) -> None:
    with open_seeded(tmp_path / "memory.db") as mem, open_seeded(server_store, 1) as there:
        run(mem, 3, 15)
        identities.new_identity(mem.engine, "auditor", tmp_path / "auditor.pem")
        kept = checkpoint(mem.engine)
        migrate(mem.engine.store, there.engine.store)
    with open_seeded(server_store, 2) as moved:
        assert checkpoints(moved.engine)[-1] == kept
        assert moved.verify(kept=kept).ok
        remember(moved, "Written in the new place")
        checkpoint(moved.engine)
        assert proofs.check(prove_growth(moved.engine, kept.size).text, kept=kept).ok


def test_both_stores_come_to_the_same_log_and_the_same_signatures(empty: str, tmp_path: Path) -> None:
    taken = []
    for number, location in enumerate((tmp_path / "memory.db", empty)):
        with open_seeded(location, 4) as mem:
            run(mem, 4, 20)
            checkpoint(mem.engine)
            made = identities.new_identity(mem.engine, "auditor", tmp_path / f"{number}.pem")
            run(mem, 5, 10)
            key = identities.signing_key(mem.engine, "auditor", Path(made.file))
            checkpoint(mem.engine, key)
            identities.rotate_identity(mem.engine, "auditor", Path(made.file), tmp_path / f"{number}-next.pem")
            identities.revoke_identity(mem.engine, "auditor")
            verified = mem.verify()
            assert verified.ok and verified.uncovered_entries == 0
            taken.append(checkpoints(mem.engine))
    assert taken[0] == taken[1]


@pytest.mark.parametrize("where", ["file", "server"])
def test_many_checkpoints_at_once_make_one_log(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Writers write and checkpointers cover, all at the same time; every entry is covered exactly once."""
    location = tmp_path / "memory.db" if where == "file" else request.getfixturevalue("server_store")
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            with open_seeded(location, number) as mine:
                for step in range(5):
                    remember(mine, f"Person {number} has {step} cats", f"person{number}")
                    checkpoint_log.checkpoint(mine.engine)
        except BaseException as error:
            faults.append(error)
            raise

    with open_seeded(location) as mem:
        workers = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        assert not faults
        last = checkpoint(mem.engine)
        verified = mem.verify(kept=last)
        assert verified.ok and verified.uncovered_entries == 0
        for one in checkpoints(mem.engine):
            assert proofs.check(prove_growth(mem.engine, one.size).text, kept=one).ok
