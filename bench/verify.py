"""How long it takes to prove that nothing was rewritten, beside hashing the same bytes.

    python bench/verify.py [--quick]

A store with many memories is walked: ``checkpoint`` follows every chain, ``verify`` every chain, version and projection,
against a checkpoint that was kept. The floor is SHA-256 over exactly the bytes that the entries and versions are made of,
already in memory. The offline checker reads a proof of the oldest memory among all later entries, its worst case.
"""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import recollect
from figures import QUICK_SIZES, SIZES, Budget, machine, options, print_budgets, print_table
from filled import OWNER, working_copy
from recollect.engine import checkpoint_log
from recollect.model.canonical import canonical_json
from recollect.rules import merkle, proofs

VERIFY_S = 30.0
"""For 100,000 memories with their states, text index and relations; following the chains alone is a tenth of it."""
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
                body = entry._asdict()
                del body["hash"]
                found.append(canonical_json(body).encode())
            for version in reader.versions(stream):
                found.append((version.salt or b"") + (version.body or "").encode())
    return found


def hash_all(parts: list[bytes]) -> int:
    for part in parts:
        hashlib.sha256(part).hexdigest()
    return sum(map(len, parts))


def measured(path: Path) -> tuple[list[tuple[str, float]], int]:
    with recollect.open(path) as mem:
        parts = hashed_bytes(mem)
        floor, size = timed(lambda: hash_all(parts))
        covered, kept = timed(lambda: checkpoint_log.checkpoint(mem.engine))
        walked, answer = timed(lambda: mem.verify(kept=kept))
        assert answer.ok and not answer.uncovered_entries
        with mem.engine.read() as reader:
            first = next(v.id for s in reader.streams_of("default", OWNER) for v in reader.versions(s))
        proved, proof = timed(lambda: checkpoint_log.prove_memory(mem.engine, first))
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
    return found, answer.entries


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
        found, entries = measured(path)
    floor = found[0][1]
    rows = [(name, f"{seconds:.2f}", f"{seconds / floor:.0f} ×") for name, seconds in found]
    print_table(f"Proof ({machine()})", ("what", "s", "ratio"), rows)
    leaves = LEAVES if quick else 100 * LEAVES
    print_table(f"The tree of {leaves:,} leaves", ("what", "ms"), [(n, f"{s * 1e3:.2f}") for n, s in growing(leaves)])
    walked = dict(found)["verify against it"]
    return [Budget(f"verify, {entries:,} entries", walked, VERIFY_S, "s")]


def main() -> None:
    asked = options(__doc__).parse_args()
    print_budgets(run(asked.quick))


if __name__ == "__main__":
    main()
