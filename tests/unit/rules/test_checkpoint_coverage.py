"""A stream's leaves held against its entries: what each covers, in order, and nothing else."""

import hashlib

from recollect.model.proof import StreamLeaf
from recollect.rules.ledger.merkle import tree_head
from recollect.rules.ledger.proofs import Covering, entry_leaf
from rows import every_row

HASHES = [hashlib.sha256(bytes([number])).hexdigest() for number in range(7)]


def leaf(first: int, last: int, **changed: object) -> StreamLeaf:
    covered = HASHES[first - 1 : last]
    said = {"from_seq": first, "to_seq": last, "head": covered[-1], "root": tree_head(map(entry_leaf, covered))}
    return StreamLeaf(**{"stream": "0" * 32, **said, **changed})


def fault(leaves: list[StreamLeaf], hashes: list[str]) -> str | None:
    covering = Covering(leaves)
    for seq, hash in enumerate(hashes, start=1):
        if (found := covering.fault_at(seq, hash)) is not None:
            return found
    return covering.fault_at_end(len(hashes))


def test_leaves_that_cover_the_entries_in_order_are_right() -> None:
    assert fault([], HASHES) is None
    assert fault([leaf(1, 3), leaf(4, 4), leaf(5, 7)], HASHES) is None
    assert fault([leaf(1, 3)], HASHES) is None, "what is not covered yet is no fault"
    assert Covering([leaf(1, 3), leaf(4, 6)]).entries == 6 and Covering([]).entries == 0


@every_row(
    ("leaves", "hashes", "found"),
    [
        ([leaf(2, 3)], HASHES, "do not follow"),
        ([leaf(1, 3), leaf(5, 6)], HASHES, "do not follow"),
        ([leaf(1, 3), leaf(3, 4)], HASHES, "do not follow"),
        ([leaf(1, 3), leaf(5, 6)], HASHES[:3], "do not follow"),
        ([leaf(1, 3, to_seq=9, from_seq=10)], HASHES, "do not follow"),
        ([leaf(1, 5)], HASHES[:4], "cut off"),
        ([leaf(1, 3, head="0" * 64)], HASHES, "entry 3 is not the one"),
        ([leaf(1, 3, root="0" * 64)], HASHES, "entries 1 to 3 are not those"),
        ([leaf(1, 3)], [HASHES[1], HASHES[0], *HASHES[2:]], "entries 1 to 3 are not those"),
        ([leaf(1, 3)], [HASHES[0], HASHES[2], HASHES[1]], "entry 3 is not the one"),
    ],
)
def test_anything_else_is_told(leaves: list[StreamLeaf], hashes: list[str], found: str) -> None:
    assert found in str(fault(leaves, hashes))
