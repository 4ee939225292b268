"""What an embedder is: something that turns texts into vectors, under a name that is stored with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from recollect.model.errors import StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length.

    Vectors of different models cannot be compared, so ``name`` has to change whenever the same text would get another
    vector: another model, other weights, another way of pooling. ``dimensions`` of 0 means that there are no vectors.
    One whose cosines lie elsewhere than the static embedder's may say where, as its ``scale`` (``embed/scale.py``). One that
    reads a text as a whole, and does not add up its words, says so as ``reads_context``: its cosines then count for more.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return one row a text, in their order, each of length 1 (or 0 throughout, for a text without any words)."""


def label_of(embedder: Embedder) -> str:
    """Return how a store remembers who made its vectors: nothing if there are none."""
    return f"{embedder.name}/{embedder.dimensions}" if embedder.dimensions else ""


def reads_context(embedder: Embedder) -> bool:
    """Return whether an embedder reads a text as a whole; one that does not say so adds up its words."""
    return bool(getattr(embedder, "reads_context", False))


class EmbedderUnavailable(StoreError):
    """The embedder cannot do its work just now: an endpoint does not answer, or a model's files are damaged."""

    code = "embedder_unavailable"


@dataclass(frozen=True)
class EmbedderSettings:
    """Which embedder, and what it needs to know.

    ``name`` is ``static`` (the default), ``none``, ``minilm`` or ``openai``. The others are for ``openai``, which is any
    server that speaks that protocol: the address up to and including its version (``http://localhost:8080/v1``), the
    model, the length of the model's vectors, the environment variable that holds the key, if it wants one, and where the
    model's cosines lie (``embed/scale.py``), which is measured if it is left out.
    """

    name: str = "static"
    url: str = ""
    model: str = ""
    dimensions: int = 0
    key_variable: str = ""
    timeout_s: float = 30.0
    scale: tuple[float, float] | None = None


class NoEmbedder:
    """An embedder without vectors, so that callers need not ask whether there is one."""

    name = "none"
    dimensions = 0

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        return np.zeros((len(texts), 0), dtype=np.float32)
