"""What MiniLM makes of the texts: the vectors that the table is fitted to. Computed once, kept in the work folder."""

import hashlib
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from recollect.embed.bert import Bert, load_bert, read_tensors

HEADS, BEGIN, END, MAX_PIECES = 12, 101, 102, 254
AT_ONCE_PIECES = 1_024
"""So many pieces are computed at once: more do not fit the processor's caches."""
PART = 4_096
"""So many texts a file: a run that is stopped goes on where it was."""

_model: Bert | None = None


def taught(model: Path, pieces: Sequence[Sequence[int]], work: Path, processes: int) -> np.ndarray:
    """Return the teacher's vector of each text, given as piece numbers without the marks at both ends."""
    parts = [(model, pieces[at : at + PART], work) for at in range(0, len(pieces), PART)]
    with ProcessPoolExecutor(processes) as pool:
        found = []
        for number, vectors in enumerate(pool.map(_part, parts), start=1):
            found.append(vectors)
            print(f"teacher: {number} of {len(parts)} parts", file=sys.stderr, flush=True)
    return np.concatenate(found)


def _part(asked: tuple[Path, Sequence[Sequence[int]], Path]) -> np.ndarray:
    model, pieces, work = asked
    digest = hashlib.sha256(repr([list(one) for one in pieces]).encode()).hexdigest()[:20]
    kept = work / "taught" / f"{digest}.npy"
    if kept.exists():
        return np.load(kept)
    vectors = embed_all(_loaded(model), pieces)
    kept.parent.mkdir(parents=True, exist_ok=True)
    np.save(kept.with_suffix(f".{os.getpid()}.npy"), vectors)
    kept.with_suffix(f".{os.getpid()}.npy").rename(kept)
    return vectors


def embed_all(model: Bert, pieces: Sequence[Sequence[int]]) -> np.ndarray:
    """Embed texts of equal length together."""
    by_length: dict[int, list[int]] = defaultdict(list)
    for at, one in enumerate(pieces):
        by_length[min(len(one), MAX_PIECES)].append(at)
    vectors = np.zeros((len(pieces), model.pieces.shape[1]), dtype=np.float32)
    for length, places in sorted(by_length.items()):
        step = max(1, AT_ONCE_PIECES // (length + 2))
        for start in range(0, len(places), step):
            some = places[start : start + step]
            vectors[some] = model.embed(np.array([[BEGIN, *pieces[at][:MAX_PIECES], END] for at in some]))
    return vectors


def _loaded(model: Path) -> Bert:
    global _model
    if _model is None:
        _model = load_bert(read_tensors((model / "model.safetensors").read_bytes()), HEADS)
    return _model
