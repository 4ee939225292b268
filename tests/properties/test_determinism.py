"""The same operations give the same bytes: on two stores, in two processes, after a rebuild, whatever the hash seed."""

import os
import subprocess
import sys
from pathlib import Path

from support.invariants import EVERYWHERE
from support.script import canonical_state, digest, open_seeded, run

SEEDS = range(40 if os.environ.get("RECOLLECT_TORTURE") else 4)


def test_a_file_a_store_in_memory_and_a_rebuild_reach_the_same_state_byte_for_byte(tmp_path: Path) -> None:
    """Over the seeds, every status and nearly every kind of entry comes about; other seeds lead elsewhere."""
    statuses: set[str] = set()
    operations: set[str] = set()
    hashes: set[str] = set()
    for seed in SEEDS:
        with open_seeded(tmp_path / f"{seed}.db", seed) as a, open_seeded(":memory:", seed) as b:
            run(a, seed)
            run(b, seed)
            lines, exported = list(canonical_state(a.engine)), digest(a)
            assert lines == list(canonical_state(b.engine)) and a.state_hash() == b.state_hash()
            assert exported == digest(b), "what an export gives, but for its counters"
            assert a.rebuild() > 0
            assert list(canonical_state(a.engine)) == lines and digest(a) == exported
            assert a.verify().ok
            hashes.add(a.state_hash())
            for memory in a.list(status=None, include_namespaces=EVERYWHERE, limit=1_000).items:
                statuses.add(memory.status)
                operations |= {event.meta["operation"] for event in a.history(memory.id)}
    assert len(hashes) == len(SEEDS)
    assert statuses >= {"active", "superseded", "archived", "soft_deleted", "contradictory"}
    assert operations >= set("stored reinforced superseded contradicted edited forgotten restored expired".split())


def test_reopening_changes_nothing(tmp_path: Path) -> None:
    with open_seeded(tmp_path / "a.db", 1) as mem:
        run(mem, 1)
        before = mem.state_hash()
    with open_seeded(tmp_path / "a.db", 99) as mem:
        assert mem.state_hash() == before


ALSO_TAGS_AS_A_SET = """
from support.script import digest, open_seeded, run
with open_seeded() as mem:
    run(mem, 3, 60)
    print(digest(mem), mem.add("Ana likes tea", tags={"alpha", "beta", "gamma", "delta", "epsilon"}).memory.tags)
"""


def _in_a_process(**environment: str) -> str:
    command = [sys.executable, "-c", ALSO_TAGS_AS_A_SET]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_nothing_depends_on_the_hash_seed_the_time_zone_or_the_locale() -> None:
    one = _in_a_process(PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    other = _in_a_process(PYTHONHASHSEED="2", TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", PYTHONUTF8="0")
    with open_seeded() as mem:
        run(mem, 3, 60)
        here = digest(mem)
    assert one == other and one.startswith(f"{here} (")
