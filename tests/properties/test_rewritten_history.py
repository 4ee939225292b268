"""History rewritten at random, by somebody who hashes everything anew: a checkpoint that was kept reveals each time."""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from forgery import Forger

from recollect.engine.ledger import checkpoint_log
from recollect.engine.trust import identities
from recollect.interfaces.python import Recollect
from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreError
from recollect.model.proof import Checkpoint
from recollect.model.receipt import Verification
from recollect.rules.ledger import proofs
from recollect.rules.trust.signatures import private_key, public_key
from support.script import open_seeded, run

MUTATIONS = 10_000 if os.environ.get("RECOLLECT_TORTURE") else 80
COVERED = ("nothing", "the chains", "the chains and the log")
"""What the forger puts right afterwards."""


class Kept(NamedTuple):
    path: Path
    checkpoints: tuple[Checkpoint, ...]
    key: str


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A store with a past: three checkpoints, of which the last covers everything and is signed."""
    path = tmp_path_factory.mktemp("past") / "memory.db"
    with open_seeded(path, 3) as mem:
        engine, taken = mem.engine, []
        for seed in (1, 2, 3):
            run(mem, seed, 12)
            taken.append(checkpoint_log.checkpoint(engine))
        made = identities.new_identity(engine, "auditor", path.with_name("auditor.pem"))
        _entangle(mem, made.file)
        mem.add("Ana moved to Porto", owner="ana")
        taken.append(checkpoint_log.checkpoint(engine, identities.signing_key(engine, "auditor", Path(made.file))))
        verified = mem.verify(kept=taken[-1])
        assert verified.ok and not verified.uncovered_entries
        assert all(mem.verify(kept=one).ok for one in taken)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Kept(path, tuple(taken), made.key)


def _entangle(mem: Recollect, key_file: str) -> None:
    """Parents, links made and taken back, vouches with and without a signature, edits and a phase."""
    tea = mem.add("Ana drinks green tea", owner="ana", canonical_key="Tea-Habit-Daily").memory
    assert tea is not None
    built = mem.add("Ana sleeps badly since she drinks tea", owner="ana", parent_refs=[tea.content_hash]).memory
    assert built is not None
    mem.link(built.id, tea.id, relation_type="explained_by")
    mem.unlink(built.id, tea.id)
    mem.link(built.id, tea.id)
    mem.vouch(tea.id, by="critic", confidence=0.5, says="useful")
    mem.vouch(built.id, by="critic")
    mem.withdraw_vouch(built.id, by="critic")
    mem.vouch(built.id, sign_as="auditor", key_file=key_file)
    mem.edit(built.id, tags=["sleep"], importance=4)
    mem.start_phase(name="awake", space="user", owner="ana")


def forge(path: Path, copy: Path, random: Random) -> tuple[str, str] | None:
    """A forged copy of the file: what was changed, and what was put right; ``None`` if the database itself refused."""
    shutil.copyfile(path, copy)
    covered = random.choice(COVERED)
    rewrite = random.choice(Forger.REWRITES)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("PRAGMA synchronous = OFF")
        before = _history(db)
        forger = Forger(db, random)
        try:
            rewrite(forger)
            if covered != "nothing":
                forger.cover_up_chains()
            if covered == "the chains and the log":
                forger.cover_up_log()
        except sqlite3.IntegrityError:
            return None
        db.commit()
        return (rewrite.__name__, covered) if _history(db) != before else None


def _history(db: sqlite3.Connection) -> list[list[tuple[object, ...]]]:
    tables = ("ledger", "versions", "amendments", "streams", "log_leaves", "log_checkpoints")
    return [[tuple(row) for row in db.execute(f"SELECT * FROM {table}")] for table in tables]


def verified(path: Path, kept: Checkpoint | None) -> Verification | None:
    try:
        with open_seeded(path, 9) as mem:
            return mem.verify(kept=kept)
    except StoreError:
        return None


def test_every_rewrite_is_revealed_by_a_kept_checkpoint(kept: Kept, tmp_path: Path) -> None:
    random, done, tried = Random(int(time.time()) if MUTATIONS > 1_000 else 7), 0, set()
    copy = tmp_path / "forged.db"
    while done < MUTATIONS:
        for beside in tmp_path.iterdir():
            beside.unlink()
        forged = forge(kept.path, copy, random)
        if forged is None:
            continue
        found = verified(copy, kept.checkpoints[-1])
        assert found is None or not found.ok, f"{forged} was not noticed"
        if found is not None and forged[1] == COVERED[-1]:
            assert any(p.where.startswith("the kept checkpoint") for p in found.problems), f"{forged}: seen by luck"
        done += 1
        tried.add(forged)
    assert {name for name, _ in tried} == {rewrite.__name__ for rewrite in Forger.REWRITES}, "each kind was tried"


def forged_words(kept: Kept, copy: Path) -> None:
    """Other words for a memory that was written before the first checkpoint, with everything put right."""
    shutil.copyfile(kept.path, copy)
    with closing(sqlite3.connect(copy)) as db:
        forger = Forger(db, Random(5))
        first = forger.db.execute("SELECT * FROM versions WHERE body IS NOT NULL ORDER BY stream, memory").fetchone()
        body = {**json.loads(first["body"]), "content": "Ana never said this"}
        forger.commit_version(first, canonical_json(body), first["salt"])
        forger.cover_up_chains()
        forger.cover_up_log()
        db.commit()
    with open_seeded(copy, 9) as mem:
        mem.rebuild()


def test_without_a_kept_checkpoint_a_thorough_forger_goes_unseen(kept: Kept, tmp_path: Path) -> None:
    """Which is why checkpoints are to be kept elsewhere. Were this ever to fail, the test above would prove nothing."""
    copy = tmp_path / "forged.db"
    forged_words(kept, copy)
    alone = verified(copy, None)
    assert alone is not None and alone.ok
    for one in kept.checkpoints:
        found = verified(copy, one)
        assert found is not None and [p.where for p in found.problems] == [f"the kept checkpoint of {one.size} leaves"]


@pytest.mark.parametrize("hash_too", [False, True])
def test_no_forger_signs_for_another(tmp_path: Path, hash_too: bool) -> None:
    """What was signed elsewhere is seen to be altered without any checkpoint, however thoroughly it was done."""
    path, private = tmp_path / "memory.db", private_key(bytes(32))
    with open_seeded(path, 4) as mem:
        mem.register_identity("babel", public_key(private))
        entry = identities.sign_entry(said_by_babel("Ana owes nobody anything"), private)
        mem.import_(io.StringIO(json.dumps(entry)), format="entries", whole=True)
        assert mem.verify().signed_entries == {"good": 1}
    with closing(sqlite3.connect(path)) as db:
        forger = Forger(db, Random(5))
        row = forger.db.execute("SELECT * FROM versions").fetchone()
        forged = said_by_babel("Ana owes Mallory a fortune")
        words = {"content": forged["content"]} | ({"content_hash": forged["content_hash"]} if hash_too else {})
        forger.commit_version(row, canonical_json({**json.loads(row["body"]), **words}), row["salt"])
        forger.cover_up_chains()
        forger.cover_up_log()
        db.commit()
    with open_seeded(path, 9) as mem:
        mem.rebuild()
        found = mem.verify()
    assert found.signed_entries == {"invalid": 1}
    assert [problem.what for problem in found.problems] == ["its signature does not hold"]


def said_by_babel(words: str) -> dict[str, Any]:
    author, digest = {"id": "babel", "name": "Babel"}, hashlib.sha256(words.encode()).hexdigest()
    return {"content": words, "author": author, "timestamp": "2025-02-02T16:00:00Z", "content_hash": digest}


def test_no_proof_of_a_forged_log_convinces_whoever_kept_a_checkpoint(kept: Kept, tmp_path: Path) -> None:
    copy = tmp_path / "forged.db"
    forged_words(kept, copy)
    with open_seeded(copy, 9) as mem:
        mem.add("Something new", owner="ana")
        later = checkpoint_log.checkpoint(mem.engine)
        for one in kept.checkpoints:
            proof = checkpoint_log.prove_growth(mem.engine, one.size)
            assert proofs.check(proof.text, kept=proof.first).ok, "it is sound in itself"
            assert "rewritten" in str(proofs.check(proof.text, kept=one).problem)
            grafted = proof.model_copy(update={"first": one})
            assert "other heads" in str(proofs.check(grafted.text, kept=one).problem) or one.size == later.size
            assert "not signed" in str(proofs.check(proof.text, [kept.key]).problem)


def test_what_only_grew_convinces(kept: Kept, tmp_path: Path) -> None:
    copy = tmp_path / "grown.db"
    shutil.copyfile(kept.path, copy)
    with open_seeded(copy, 9) as mem:
        run(mem, 8, 20)
        checkpoint_log.checkpoint(mem.engine)
        for one in kept.checkpoints:
            assert proofs.check(checkpoint_log.prove_growth(mem.engine, one.size).text, kept=one).ok
            assert mem.verify(kept=one).ok
