"""No vectors: memories are found by their words alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.embed.protocol import Vectors


class NoEmbedder:
    """Stands where an embedder would, so that nobody has to ask whether there is one."""

    name = "none"
    dimensions = 0

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        return np.zeros((len(texts), 0), dtype=np.float32)
