"""The tree over a log of leaves, as RFC 6962 defines it, and the two proofs that it gives.

An *inclusion proof* shows that one leaf stands at its place in a log of a given size; a *consistency proof* shows that a
longer log begins with a shorter one. Both need a handful of hashes however long the log is. A leaf is hashed behind the
byte 0, a node behind the byte 1, so that none can pass for the other.

Hashes are SHA-256 in 64 lower-case hex digits, as everywhere in the ledger. Whatever a proof brings is checked before it
is used: a proof that is too short, too long, out of range or of the wrong type is refused with a reason, never with luck.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence

EMPTY_HEAD = hashlib.sha256(b"").hexdigest()
"""The head of a log without leaves."""
MAX_SIZE = 2**63 - 1
_HASH = re.compile(r"[0-9a-f]{64}")


class BadProof(ValueError):
    """A proof that does not hold, or that is not one. Its text says why."""


def leaf_hash(data: bytes) -> str:
    """Return the hash under which a leaf's bytes stand in the tree."""
    return hashlib.sha256(b"\x00" + data).hexdigest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """A log that grows: it remembers the heads of its full subtrees, at most one for each binary digit of its size."""

    def __init__(self) -> None:
        self.size = 0
        self._full: list[bytes] = []

    def append(self, leaf: str) -> None:
        """Add one leaf's hash. Every trailing 1 of the size so far is a full subtree that the leaf completes."""
        node, place = bytes.fromhex(leaf), self.size
        while place & 1:
            node = _node(self._full.pop(), node)
            place >>= 1
        self._full.append(node)
        self.size += 1

    @property
    def head(self) -> str:
        """The head of the log as it stands."""
        if not self._full:
            return EMPTY_HEAD
        node = self._full[-1]
        for left in reversed(self._full[:-1]):
            node = _node(left, node)
        return node.hex()


def tree_head(leaves: Iterable[str]) -> str:
    """Return the head of the log of these leaf hashes.

    >>> tree_head([]) == EMPTY_HEAD
    True
    >>> tree_head([leaf_hash(b"one")]) == leaf_hash(b"one")
    True
    """
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.head


def tree_heads(leaves: Sequence[str], sizes: Iterable[int]) -> dict[int, str]:
    """Return the heads that the log had at these sizes, in one pass; sizes that it never had are left out."""
    wanted, found, tree = set(sizes), {}, Tree()
    if 0 in wanted:
        found[0] = tree.head
    for leaf in leaves:
        tree.append(leaf)
        if tree.size in wanted:
            found[tree.size] = tree.head
    return found


def inclusion_proof(leaves: Sequence[str], place: int) -> tuple[str, ...]:
    """Return the hashes that lead from the leaf at a place to the head of the log of all these leaves, nearest first."""
    return inclusion_proofs(leaves, [place])[0]


def inclusion_proofs(leaves: Sequence[str], places: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the same for several leaves, in one pass through the tree."""
    for place in places:
        _check_place(place, len(leaves))
    level, here = [bytes.fromhex(leaf) for leaf in leaves], list(places)
    paths: list[list[str]] = [[] for _ in places]
    while len(level) > 1:
        for path, place in zip(paths, here, strict=True):
            if (beside := place ^ 1) < len(level):
                path.append(level[beside].hex())
        level = _level_above(level)
        here = [place >> 1 for place in here]
    return [tuple(path) for path in paths]


def _level_above(level: list[bytes]) -> list[bytes]:
    """Neighbours in pairs; one that is left over goes up as it is."""
    paired = [_node(level[n], level[n + 1]) for n in range(0, len(level) - 1, 2)]
    return paired + level[-1:] if len(level) % 2 else paired


def consistency_proof(leaves: Sequence[str], first: int) -> tuple[str, ...]:
    """Return the hashes that show that the log of all these leaves begins with the log of the ``first`` ones."""
    if not _is_number(first) or not 1 <= first <= len(leaves):
        raise BadProof(f"there is no log of {first!r} leaves in one of {len(leaves)}")
    return tuple(_subproof(leaves, first, whole=True))


def _subproof(leaves: Sequence[str], first: int, *, whole: bool) -> list[str]:
    """RFC 6962's SUBPROOF. ``whole``: the reader knows the head of the first ones already."""
    if first == len(leaves):
        return [] if whole else [tree_head(leaves)]
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    if first <= half:
        return [*_subproof(leaves[:half], first, whole=whole), tree_head(leaves[half:])]
    return [*_subproof(leaves[half:], first - half, whole=False), tree_head(leaves[:half])]


def check_inclusion(leaf: str, place: int, size: int, path: Sequence[str], head: str) -> None:
    """Raise :class:`BadProof` unless the path leads from this leaf at this place to the head of a log of this size."""
    _check_size(size)
    _check_place(place, size)
    node, expected = _digest(leaf, "the leaf"), _digest(head, "the head")
    here, last = place, size - 1
    for beside in _digests(path):
        if last == 0:
            raise BadProof("the path has more nodes than the tree has levels")
        if here & 1 or here == last:
            node = _node(beside, node)
            here, last = _skip_unpaired(here, last)
        else:
            node = _node(node, beside)
        here, last = here >> 1, last >> 1
    if last:
        raise BadProof("the path ends before it reaches the head")
    if node != expected:
        raise BadProof("the path leads to another head: the leaf is not in this log, or not at this place")


def check_consistency(first: int, second: int, first_head: str, second_head: str, path: Sequence[str]) -> None:
    """Raise :class:`BadProof` unless the log of the second size and head begins with that of the first."""
    _check_size(first)
    _check_size(second)
    older, newer, nodes = _digest(first_head, "the first head"), _digest(second_head, "the second head"), _digests(path)
    if first > second:
        raise BadProof(f"a log of {second} leaves cannot begin with one of {first}")
    if first == second:
        if nodes:
            raise BadProof("two logs of the same size need no path")
        if older != newer:
            raise BadProof("two logs of the same size have different heads: one of them was rewritten")
        return
    if first & (first - 1) == 0:
        nodes = [older, *nodes]  # a full subtree is its own node, and is not repeated in the path
    if not nodes:
        raise BadProof("the path has no nodes")
    if _heads_along(nodes, first, second) != (older, newer):
        raise BadProof("the path leads to other heads: the longer log does not begin with the shorter one")


def _heads_along(nodes: list[bytes], first: int, second: int) -> tuple[bytes, bytes]:
    """Return the two heads to which a consistency proof leads."""
    here, last = first - 1, second - 1
    while here & 1:
        here, last = here >> 1, last >> 1
    older = newer = nodes[0]
    for beside in nodes[1:]:
        if last == 0:
            raise BadProof("the path has more nodes than the tree has levels")
        if here & 1 or here == last:
            older, newer = _node(beside, older), _node(beside, newer)
            here, last = _skip_unpaired(here, last)
        else:
            newer = _node(newer, beside)
        here, last = here >> 1, last >> 1
    if last:
        raise BadProof("the path ends before it reaches the head")
    return older, newer


def _skip_unpaired(here: int, last: int) -> tuple[int, int]:
    """Skip the levels at which a node at the right edge has nobody beside it."""
    while here and not here & 1:
        here, last = here >> 1, last >> 1
    return here, last


def _check_size(size: int) -> None:
    if not _is_number(size) or not 1 <= size <= MAX_SIZE:
        raise BadProof(f"{size!r} is not the size of a log with leaves")


def _check_place(place: int, size: int) -> None:
    if not _is_number(place) or not 0 <= place < size:
        raise BadProof(f"{place!r} is not a place in a log of {size} leaves")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _digests(path: Sequence[str]) -> list[bytes]:
    if not isinstance(path, list | tuple):
        raise BadProof(f"a path is a list of hashes, not a {type(path).__name__}")
    return [_digest(node, f"node {number} of the path") for number, node in enumerate(path)]


def _digest(text: str, what: str) -> bytes:
    if not isinstance(text, str) or not _HASH.fullmatch(text):
        raise BadProof(f"{what} is not a hash of 64 lower-case hex digits")
    return bytes.fromhex(text)
