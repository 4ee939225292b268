"""What the checkpoint log says of one stream, held against the stream's entries as somebody walks along them."""

from collections.abc import Iterator, Sequence

from recollect.model.proof import StreamLeaf
from recollect.rules.merkle import Tree, leaf_hash


def entry_leaf(hash: str) -> str:
    """An entry in the tree over the entries of its leaf."""
    return leaf_hash(bytes.fromhex(hash))


class Covering:
    """A walk along the leaves of a stream, in their order; each entry is shown to it once, in its order.

    What is wrong is told as soon as it is known, and :attr:`entries` is how far the leaves reach.
    """

    def __init__(self, leaves: Sequence[StreamLeaf]) -> None:
        self.entries = leaves[-1].to_seq if leaves else 0
        self._waiting: Iterator[StreamLeaf] = iter(leaves)
        self._leaf = next(self._waiting, None)
        self._reached, self._tree = 0, Tree()

    def fault_at(self, seq: int, hash: str) -> str | None:
        """Show it the next entry; what is wrong there, if anything is."""
        leaf = self._leaf
        if leaf is None:
            return None
        if self._tree.size == 0 and (leaf.from_seq != self._reached + 1 or leaf.to_seq < leaf.from_seq):
            return f"its leaves do not follow each other: one covers entries {leaf.from_seq} to {leaf.to_seq}"
        self._tree.append(entry_leaf(hash))
        return self._ended(leaf, hash) if seq == leaf.to_seq else None

    def _ended(self, leaf: StreamLeaf, hash: str) -> str | None:
        if hash != leaf.head:
            return f"entry {leaf.to_seq} is not the one that a checkpoint covers: history was rewritten"
        if self._tree.head != leaf.root:
            return f"entries {leaf.from_seq} to {leaf.to_seq} are not those that a checkpoint covers"
        self._reached, self._tree, self._leaf = leaf.to_seq, Tree(), next(self._waiting, None)
        return None

    def fault_at_end(self, entries: int) -> str | None:
        """What is wrong when the walk ends after so many entries."""
        if self._leaf is None:
            return None
        if self._leaf.from_seq != self._reached + 1 or self._leaf.to_seq < self._leaf.from_seq:
            return (
                f"its leaves do not follow each other: one covers entries {self._leaf.from_seq} to {self._leaf.to_seq}"
            )
        return f"a checkpoint covers {self._leaf.to_seq} entries, and {entries} are there: its end was cut off"
