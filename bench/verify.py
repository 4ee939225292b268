"""How long it takes to prove that nothing was rewritten, beside hashing the same bytes.

    python bench/verify.py [--quick]

A store with many memories is walked: ``checkpoint`` follows every chain, ``verify`` every chain, version and projection,
against a checkpoint that was kept. The floor is SHA-256 over exactly the bytes that the entries and versions are made of,
already in memory. The proof is that of the oldest memory among all later entries, which was once the largest.
"""

import hashlib
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import recollect
from figures import QUICK_SIZES, SIZES, Budget, machine, options, print_budgets, print_table
from filled import OWNER, working_copy
from recollect.engine.ledger import checkpoint_log
from recollect.rules.ledger import merkle, proofs

VERIFY_S = 10.0
"""For 100,000 memories with their states, text index and relations, in seconds of the processor."""
PROOF_KB = 16.0
"""Of the oldest memory among all that was written since."""
LEAVES = 1_000
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """How long the process was busy with something, and what it gave: other work on the machine changes that least."""
    start = time.process_time()
    answer = work()
    return time.process_time() - start, answer


def hashed_bytes(mem: recollect.Recollect) -> list[bytes]:
    """What every hash of the ledger is computed over: each entry without its hash, each version behind its salt."""
    found = []
    with mem.engine.read() as reader:
        for stream in reader.streams_of("default"):
            for entry in reader.entries(stream):
                found.append(entry.hashed_text.encode())
            for version in reader.versions(stream):
                found.append((version.salt or b"") + (version.body or "").encode())
    return found


def hash_all(parts: list[bytes]) -> int:
    for part in parts:
        hashlib.sha256(part).hexdigest()
    return sum(map(len, parts))


class Measured(NamedTuple):
    """How long each part took, how many entries there were, how large the proof is, and what verify took of memory."""

    times: list[tuple[str, float]]
    entries: int
    proof_bytes: int
    verify_mb: float


def peak_mb() -> float:
    """The most memory that the process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(path: Path) -> Measured:
    with recollect.open(path) as mem:
        covered, kept = timed(lambda: checkpoint_log.checkpoint(mem.engine))
        before = peak_mb()
        walked, answer = timed(lambda: mem.verify(kept=kept))
        took_mb = peak_mb() - before
        assert answer.ok and not answer.uncovered_entries
        with mem.engine.read() as reader:
            first = next(v.id for s in reader.streams_of("default", OWNER) for v in reader.versions(s))
        proved, proof = timed(lambda: checkpoint_log.prove_memory(mem.engine, first))
        parts = hashed_bytes(mem)
        floor, size = timed(lambda: hash_all(parts))
    text = proof.text
    checked, result = timed(lambda: proofs.check(text, kept=kept))
    assert result.ok, result
    print(f"{answer.entries:,} entries, {answer.versions:,} versions, {size / 1e6:.0f} MB to hash")
    found = [
        ("SHA-256 over the same bytes", floor),
        ("checkpoint, all of it new", covered),
        ("verify against it", walked),
        ("prove the oldest memory", proved),
        ("check that proof", checked),
    ]
    return Measured(found, answer.entries, len(text), took_mb)


def growing(leaves: int) -> list[tuple[str, float]]:
    """The tree by itself: a log of so many leaves, and its proofs."""
    hashes = [merkle.leaf_hash(b"%d" % n) for n in range(leaves)]
    head_s, head = timed(lambda: merkle.tree_head(hashes))
    path_s, path = timed(lambda: merkle.inclusion_proof(hashes, 7))
    grown_s, _ = timed(lambda: merkle.consistency_proof(hashes, leaves // 3))
    check_s, _ = timed(lambda: merkle.check_inclusion(hashes[7], 7, leaves, path, head))
    return [("head", head_s), ("inclusion proof", path_s), ("consistency proof", grown_s), ("check a proof", check_s)]


def run(quick: bool) -> list[Budget]:
    size = QUICK_SIZES[-1] if quick else SIZES[-1]
    with working_copy(size) as path:
        found = measured(path)
    floor = found.times[0][1]
    rows = [(name, f"{seconds:.2f}", f"{seconds / floor:.0f} ×") for name, seconds in found.times]
    print_table(f"Proof ({machine()})", ("what", "s", "ratio"), rows)
    leaves = LEAVES if quick else 100 * LEAVES
    print_table(f"The tree of {leaves:,} leaves", ("what", "ms"), [(n, f"{s * 1e3:.2f}") for n, s in growing(leaves)])
    print(f"verify took {found.verify_mb:.0f} MB more than was in use before")
    walked = dict(found.times)["verify against it"]
    return [
        Budget(f"verify, {found.entries:,} entries", walked, VERIFY_S, "s"),
        Budget("the proof of the oldest memory", found.proof_bytes / 1e3, PROOF_KB, "kB"),
    ]


def main() -> None:
    asked = options(__doc__).parse_args()
    print_budgets(run(asked.quick))


if __name__ == "__main__":
    main()
