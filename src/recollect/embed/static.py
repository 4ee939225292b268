"""The default embedder: one fixed vector for each piece of a word, averaged over the text. Offline, and fast.

The vectors and the tokenizer are the ones inside the ``wordllama`` package. Its files are read directly: importing the
package takes a third of a second, sets up logging for the whole process, and can download.

The same text gets the same vector, bit for bit, on every machine. The weights are 16-bit floats, so that their sum in
64 bits is exact in whatever order it is taken; the length is summed exactly as well.
"""

import math
import threading
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from recollect.embed.bundled import bundled_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from recollect.embed.protocol import Vectors

_HINT = "Install it anew: pip install --force-reinstall wordllama; or choose embedder none."


class _Model(NamedTuple):
    weights: "NDArray[np.float16]"
    tokenizer: "Tokenizer"


class StaticEmbedder:
    """WordLlama's 256 dimensions, read from the package's files on first use. Safe to share between threads."""

    name = "wordllama-l2-supercat-256"
    dimensions = 256

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._model: _Model | None = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        model = self._loaded()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = _pooled(model, text)
        return vectors

    def count_tokens(self, text: str) -> int:
        """How many pieces the text has for this model's tokenizer: close enough to any other's to keep a budget by."""
        return len(_pieces(self._loaded(), text))

    def _loaded(self) -> _Model:
        with self._loading:
            if self._model is None:
                self._model = _load()
            return self._model


@cache
def shared_static_embedder() -> StaticEmbedder:
    """The one of this process: its weights are read once, however many memories are open."""
    return StaticEmbedder()


def _load() -> _Model:
    from safetensors import safe_open
    from tokenizers import Tokenizer

    weights_file = bundled_file("wordllama", "weights", "l2_supercat_256.safetensors", hint=_HINT)
    tokenizer_file = bundled_file("wordllama", "tokenizers", "l2_supercat_tokenizer_config.json", hint=_HINT)
    with safe_open(str(weights_file), framework="np") as tensors:
        weights = tensors.get_tensor("embedding.weight")
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return _Model(weights, tokenizer)


def _pieces(model: _Model, text: str) -> list[int]:
    # One text at a time: the tokenizer's batches start threads of their own, which do not survive a fork.
    return list(model.tokenizer.encode(text, add_special_tokens=False).ids)


def _pooled(model: _Model, text: str) -> "NDArray[np.float64]":
    import numpy as np

    pieces = np.minimum(np.array(_pieces(model, text), dtype=np.int64), len(model.weights) - 1)
    total: NDArray[np.float64] = model.weights[pieces].astype(np.float64).sum(axis=0)
    length = math.sqrt(math.fsum((total * total).tolist()))
    return total / length if length else total
