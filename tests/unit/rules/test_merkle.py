"""The tree of RFC 6962: against the RFC's own recursive definitions, against published vectors, and against forgers."""

import hashlib
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.ledger.merkle import (
    EMPTY_HEAD,
    BadProof,
    Tree,
    check_consistency,
    check_inclusion,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    tree_head,
    tree_heads,
)
from rows import every_row

LARGEST = 130
DATA = [bytes([n % 256, n // 256]) * (n % 5) + b"%d" % n for n in range(LARGEST)]
LEAVES = [leaf_hash(data) for data in DATA]
HEADS = tree_heads(LEAVES, range(LARGEST + 1))


def node_hash(left: str, right: str) -> str:
    return hashlib.sha256(b"\x01" + bytes.fromhex(left) + bytes.fromhex(right)).hexdigest()


def largest_power_below(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def mth(data: list[bytes]) -> bytes:
    if not data:
        return hashlib.sha256(b"").digest()
    if len(data) == 1:
        return hashlib.sha256(b"\x00" + data[0]).digest()
    k = largest_power_below(len(data))
    return hashlib.sha256(b"\x01" + mth(data[:k]) + mth(data[k:])).digest()


def audit_path(m: int, data: list[bytes]) -> list[bytes]:
    if len(data) == 1:
        return []
    k = largest_power_below(len(data))
    if m < k:
        return [*audit_path(m, data[:k]), mth(data[k:])]
    return [*audit_path(m - k, data[k:]), mth(data[:k])]


def proof(m: int, data: list[bytes]) -> list[bytes]:
    def subproof(m: int, data: list[bytes], b: bool) -> list[bytes]:
        if m == len(data):
            return [] if b else [mth(data)]
        k = largest_power_below(len(data))
        if m <= k:
            return [*subproof(m, data[:k], b), mth(data[k:])]
        return [*subproof(m - k, data[k:], False), mth(data[:k])]

    return subproof(m, data, True)


def in_hex(nodes: list[bytes]) -> tuple[str, ...]:
    return tuple(node.hex() for node in nodes)


@every_row("size", range(LARGEST + 1))
def test_every_head_and_proof_is_the_one_that_the_definitions_give(size: int) -> None:
    data, leaves = DATA[:size], LEAVES[:size]
    assert tree_head(leaves) == HEADS[size] == mth(data).hex()
    for place in {0, 1, size // 3, size // 2, size - 2, size - 1} & set(range(size)):
        assert inclusion_proof(leaves, place) == in_hex(audit_path(place, data))
    for first in {1, 2, size // 3, size // 2, size - 1, size} & set(range(1, size + 1)):
        assert consistency_proof(leaves, first) == in_hex(proof(first, data))


@every_row("size", [*range(1, 36), 63, 64, 65, 127, 128, LARGEST])
def test_every_proof_of_every_place_and_every_shorter_log_holds(size: int) -> None:
    leaves, head = LEAVES[:size], HEADS[size]
    for place in range(size):
        check_inclusion(leaves[place], place, size, inclusion_proof(leaves, place), head)
    for first in range(1, size + 1):
        check_consistency(first, size, HEADS[first], head, consistency_proof(leaves, first))


VECTOR = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
VECTOR_LEAVES = [leaf_hash(data) for data in VECTOR]
VECTOR_HEADS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
PATHS = {
    (0, 1): (),
    (0, 8): (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ),
    (5, 8): (
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 3): ("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",),
}
GROWTH = {
    (1, 1): (),
    (1, 8): PATHS[0, 8],
    (6, 8): (
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (2, 5): (
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ),
}


def test_the_published_heads() -> None:
    assert VECTOR_HEADS[0] == EMPTY_HEAD
    assert tuple(tree_head(VECTOR_LEAVES[:size]) for size in range(9)) == VECTOR_HEADS


@pytest.mark.parametrize(("place", "size"), PATHS)
def test_the_published_inclusion_proofs(place: int, size: int) -> None:
    assert inclusion_proof(VECTOR_LEAVES[:size], place) == PATHS[place, size]
    check_inclusion(VECTOR_LEAVES[place], place, size, PATHS[place, size], VECTOR_HEADS[size])


@pytest.mark.parametrize(("first", "second"), GROWTH)
def test_the_published_consistency_proofs(first: int, second: int) -> None:
    assert consistency_proof(VECTOR_LEAVES[:second], first) == GROWTH[first, second]
    check_consistency(first, second, VECTOR_HEADS[first], VECTOR_HEADS[second], GROWTH[first, second])


OTHER = leaf_hash(b"somebody else's")


def refused(check: Callable[[], None]) -> str:
    with pytest.raises(BadProof) as error:
        check()
    return str(error.value)


def mutated_paths(path: tuple[str, ...], random: Random) -> list[tuple[str, ...]]:
    """A path with a node changed, left out, added, repeated, and two exchanged."""
    place = random.randrange(len(path) + 1)
    changed = [(*path[:place], OTHER, *path[place:]), (*path, OTHER), (OTHER, *path)]
    for n in range(len(path)):
        changed += [(*path[:n], OTHER, *path[n + 1 :]), (*path[:n], *path[n + 1 :]), (*path[:n], path[n], *path[n:])]
    changed += [
        (*path[:n], path[n + 1], path[n], *path[n + 2 :]) for n in range(len(path) - 1) if path[n] != path[n + 1]
    ]
    return changed


@given(size=st.integers(1, LARGEST), data=st.data())
def test_a_changed_inclusion_proof_never_holds(size: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, size - 1))
    leaves, leaf, head = LEAVES[:size], LEAVES[place], HEADS[size]
    path = inclusion_proof(leaves, place)
    for changed in mutated_paths(path, data.draw(st.randoms(use_true_random=False))):
        refused(lambda changed=changed: check_inclusion(leaf, place, size, changed, head))
    refused(lambda: check_inclusion(OTHER, place, size, path, head))
    refused(lambda: check_inclusion(leaf, place, size, path, OTHER))
    for elsewhere in set(range(size)) - {place}:
        refused(lambda elsewhere=elsewhere: check_inclusion(leaf, elsewhere, size, path, head))


@given(second=st.integers(1, LARGEST), data=st.data())
def test_a_changed_consistency_proof_never_holds(second: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, second))
    older, newer = HEADS[first], HEADS[second]
    path = consistency_proof(LEAVES[:second], first)
    for changed in mutated_paths(path, data.draw(st.randoms(use_true_random=False))):
        refused(lambda changed=changed: check_consistency(first, second, older, newer, changed))
    refused(lambda: check_consistency(first, second, OTHER, newer, path))
    refused(lambda: check_consistency(first, second, older, OTHER, path))


@given(second=st.integers(2, LARGEST), data=st.data())
def test_a_rewritten_log_is_consistent_with_no_kept_head(second: int, data: st.DataObject) -> None:
    """Whoever changes a leaf that a kept head covers finds no path back to that head."""
    first = data.draw(st.integers(1, second))
    place = data.draw(st.integers(0, first - 1))
    rewritten = [*LEAVES[:place], OTHER, *LEAVES[place + 1 : second]]
    path = consistency_proof(rewritten, first)
    refused(lambda: check_consistency(first, second, HEADS[first], tree_head(rewritten), path))


@every_row("size", [1, 2, 3, 7, 8, 9])
@every_row("place", [-1, 99, True, 0.0, "0", None])
def test_a_place_that_is_none_is_refused(size: int, place: object) -> None:
    reason = refused(lambda: check_inclusion(LEAVES[0], place, size, inclusion_proof(LEAVES[:size], 0), HEADS[size]))  # type: ignore[arg-type]
    assert "is not a place" in reason
    assert "is not a place" in refused(lambda: check_inclusion(LEAVES[0], size, size, (), HEADS[size]))
    assert "is not a place" in refused(lambda: inclusion_proof(LEAVES[:size], place) and None)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, -3, True, 2.0, "2", None, 2**63])
def test_a_size_that_is_none_is_refused(size: object) -> None:
    for check in (
        lambda: check_inclusion(LEAVES[0], 0, size, (), HEADS[1]),  # type: ignore[arg-type]
        lambda: check_consistency(size, 3, HEADS[1], HEADS[3], ()),  # type: ignore[arg-type]
        lambda: check_consistency(1, size, HEADS[1], HEADS[3], ()),  # type: ignore[arg-type]
    ):
        assert "is not the size" in refused(check)


@every_row("hash", ["", "00", "g" * 64, "A" * 64, "0" * 63, "0" * 65, "0" * 64 + "\n", 7, None, b"0" * 64])
def test_what_is_not_a_hash_is_refused(hash: object) -> None:
    bad: str = hash  # type: ignore[assignment]
    path, growth = inclusion_proof(LEAVES[:5], 2), consistency_proof(LEAVES[:5], 3)
    for check in (
        lambda: check_inclusion(bad, 2, 5, path, HEADS[5]),
        lambda: check_inclusion(LEAVES[2], 2, 5, path, bad),
        lambda: check_inclusion(LEAVES[2], 2, 5, (bad, *path[1:]), HEADS[5]),
        lambda: check_consistency(3, 5, bad, HEADS[5], growth),
        lambda: check_consistency(3, 5, HEADS[3], bad, growth),
        lambda: check_consistency(3, 5, HEADS[3], HEADS[5], (*growth[:-1], bad)),
    ):
        assert "is not a hash" in refused(check)


@pytest.mark.parametrize("path", ["0" * 64, None, {"0": "0"}, 3, iter(())])
def test_a_path_of_the_wrong_type_is_refused(path: object) -> None:
    assert "list of hashes" in refused(lambda: check_inclusion(LEAVES[0], 0, 2, path, HEADS[2]))  # type: ignore[arg-type]
    assert "list of hashes" in refused(lambda: check_consistency(1, 2, HEADS[1], HEADS[2], path))  # type: ignore[arg-type]


def test_each_refusal_says_what_is_wrong() -> None:
    path = inclusion_proof(LEAVES[:6], 4)
    assert "more nodes" in refused(lambda: check_inclusion(LEAVES[4], 4, 6, (*path, OTHER), HEADS[6]))
    assert "ends before" in refused(lambda: check_inclusion(LEAVES[4], 4, 6, path[:-1], HEADS[6]))
    assert "another head" in refused(lambda: check_inclusion(LEAVES[5], 4, 6, path, HEADS[6]))
    assert "cannot begin" in refused(lambda: check_consistency(6, 5, HEADS[6], HEADS[5], ()))
    assert "no path" in refused(lambda: check_consistency(6, 6, HEADS[6], HEADS[6], (OTHER,)))
    assert "rewritten" in refused(lambda: check_consistency(6, 6, HEADS[6], OTHER, ()))
    assert "no nodes" in refused(lambda: check_consistency(3, 6, HEADS[3], HEADS[6], ()))
    growth = consistency_proof(LEAVES[:6], 3)
    assert "ends before" in refused(lambda: check_consistency(3, 6, HEADS[3], HEADS[6], growth[:-1]))
    assert "more nodes" in refused(lambda: check_consistency(3, 6, HEADS[3], HEADS[6], (*growth, OTHER)))
    assert "no log of 7" in refused(lambda: consistency_proof(LEAVES[:6], 7) and None)


def test_a_leaf_cannot_pass_for_a_node() -> None:
    """Two leaves' hashes joined are the bytes of their node, but not of a leaf."""
    both = bytes.fromhex(LEAVES[0]) + bytes.fromhex(LEAVES[1])
    assert leaf_hash(both) != node_hash(LEAVES[0], LEAVES[1])
    assert leaf_hash(b"\x01" + both) != node_hash(LEAVES[0], LEAVES[1])


def test_a_tree_that_grows_has_every_head_on_the_way() -> None:
    tree = Tree()
    for size, leaf in enumerate(LEAVES):
        assert (tree.size, tree.head) == (size, HEADS[size])
        tree.append(leaf)
    assert tree_heads(LEAVES[:3], [0, 2, 9]) == {0: EMPTY_HEAD, 2: HEADS[2]}
