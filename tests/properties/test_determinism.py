"""The same operations give the same bytes: on two stores, in two processes, after a rebuild, whatever the hash seed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.engine.ledger.audit import canonical_state
from support.invariants import EVERYWHERE
from support.script import digest, open_seeded, run

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_stores_reach_the_same_state_byte_for_byte(tmp_path: Path, seed: int) -> None:
    with open_seeded(tmp_path / "a.db", seed) as a, open_seeded(tmp_path / "b.db", seed) as b:
        run(a, seed)
        run(b, seed)
        assert list(canonical_state(a._engine)) == list(canonical_state(b._engine))
        assert a.state_hash() == b.state_hash()
        assert digest(a) == digest(b), "what an export gives, but for its counters"
        assert a.verify().ok


def test_the_script_does_enough_to_prove_something() -> None:
    """Over the seeds, every status and nearly every kind of entry comes about; other seeds lead elsewhere."""
    statuses: set[str] = set()
    operations: set[str] = set()
    hashes: set[str] = set()
    for seed in SEEDS:
        with open_seeded(seed=seed) as mem:
            run(mem, seed)
            hashes.add(mem.state_hash())
            for memory in mem.list(status=None, include_namespaces=EVERYWHERE, limit=1_000).items:
                statuses.add(memory.status)
                operations |= {event.meta["operation"] for event in mem.history(memory.id)}
    assert len(hashes) == len(SEEDS)
    assert statuses >= {"active", "superseded", "archived", "soft_deleted", "contradictory"}
    assert operations >= {
        "stored",
        "reinforced",
        "superseded",
        "contradicted",
        "edited",
        "forgotten",
        "restored",
        "expired",
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_file_and_a_store_in_memory_hold_the_same(tmp_path: Path, seed: int) -> None:
    with open_seeded(tmp_path / "a.db", seed) as a, open_seeded(":memory:", seed) as b:
        run(a, seed)
        run(b, seed)
        assert digest(a) == digest(b)


@pytest.mark.parametrize("seed", SEEDS)
def test_rebuilding_every_projection_gives_the_same_state(tmp_path: Path, seed: int) -> None:
    with open_seeded(tmp_path / "a.db", seed) as mem:
        run(mem, seed)
        before, lines = digest(mem), list(canonical_state(mem._engine))
        assert mem.rebuild() > 0
        assert list(canonical_state(mem._engine)) == lines
        assert digest(mem) == before
        assert mem.verify().ok


def test_reopening_changes_nothing(tmp_path: Path) -> None:
    with open_seeded(tmp_path / "a.db", 1) as mem:
        run(mem, 1)
        before = mem.state_hash()
    with open_seeded(tmp_path / "a.db", 99) as mem:
        assert mem.state_hash() == before


def _in_a_process(*command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_nothing_depends_on_the_hash_seed_the_time_zone_or_the_locale() -> None:
    script = ("-m", "support.script", "3", "60")
    one = _in_a_process(*script, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    other = _in_a_process(*script, PYTHONHASHSEED="2", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", PYTHONUTF8="0")
    with open_seeded() as mem:
        run(mem, 3, 60)
        here = digest(mem)
    assert one == other == here


TAGS_AS_A_SET = """
from support.script import open_seeded
with open_seeded() as mem:
    print(mem.add("Ana likes tea", tags={"alpha", "beta", "gamma", "delta", "epsilon"}).memory.tags)
"""


def test_a_set_of_tags_comes_out_in_one_order() -> None:
    one = _in_a_process("-c", TAGS_AS_A_SET, PYTHONHASHSEED="1")
    other = _in_a_process("-c", TAGS_AS_A_SET, PYTHONHASHSEED="2")
    assert one == other
