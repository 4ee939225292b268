"""A small embedder whose vectors can be worked out in the head: a text means the topics that its words belong to."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.embed.protocol import Vectors

_WORD = re.compile(r"\w+")


class TopicEmbedder:
    """One dimension a topic: how many of the topic's words a text has. ``listening`` hears of every batch.

    >>> TopicEmbedder("tea coffee drink", "train bus").embed(["Tea in the train, coffee in the bus"]).round(2).tolist()
    [[0.71, 0.71]]
    """

    def __init__(
        self, *topics: str, name: str = "topics", listening: Callable[[Sequence[str]], object] | None = None
    ) -> None:
        self.name = name
        self.dimensions = len(topics)
        self._topics = [frozenset(topic.split()) for topic in topics]
        self._listening = listening

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if self._listening is not None:
            self._listening(texts)
        counts = np.array([self._counted(text) for text in texts], dtype=np.float32).reshape(-1, self.dimensions)
        lengths = np.sqrt((counts * counts).sum(axis=1, keepdims=True))
        return np.asarray(counts / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)

    def _counted(self, text: str) -> list[int]:
        words = _WORD.findall(text.lower())
        return [sum(word in topic for word in words) for topic in self._topics]
