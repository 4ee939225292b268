"""Fitting one vector a piece, so that a text's sum of them points where the teacher's vector does."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

DIMENSIONS = 256
RARE = 1e-3
"""A piece that makes up this share of all pieces counts half at the start; rarer ones count more."""
TEMPERATURE = 0.05
SIMILARITY_WEIGHT = 2.0
DROPPED = 0.1
"""The share of pieces that are left out of a text at random while fitting."""
BATCH, EPOCHS, RATE, WARM_UP = 1_024, 5, 3e-3, 0.05
CLIPPED = 99.99
"""The percentile of all absolute values that becomes 127."""


class Targets(NamedTuple):
    """Where texts and single pieces should point, in the table's dimensions."""

    texts: np.ndarray
    pieces: np.ndarray


def project(texts: np.ndarray, pieces: np.ndarray) -> Targets:
    """Turn the teacher's vectors so that the first dimensions hold most of what it says, and keep those."""
    _, vectors = np.linalg.eigh(texts.T.astype(np.float64) @ texts.astype(np.float64))
    onto = vectors[:, ::-1][:, :DIMENSIONS]
    onto *= np.sign(onto[np.abs(onto).argmax(axis=0), np.arange(DIMENSIONS)])
    kept = texts @ onto.astype(np.float32)
    kept /= np.linalg.norm(kept, axis=1, keepdims=True)
    return Targets(kept, ((pieces - pieces.mean(axis=0)) @ onto).astype(np.float32))


def bags(pieces: Sequence[Sequence[int]], size: int) -> sparse.csr_matrix:
    """Return how often each piece occurs in each text."""
    counts = np.fromiter((len(one) for one in pieces), dtype=np.int64, count=len(pieces))
    columns = np.fromiter((number for one in pieces for number in one), dtype=np.int64, count=int(counts.sum()))
    rows = np.repeat(np.arange(len(pieces)), counts)
    return sparse.csr_matrix((np.ones(len(columns), dtype=np.float32), (rows, columns)), shape=(len(pieces), size))


def start(targets: Targets, texts: sparse.csr_matrix) -> np.ndarray:
    """Return the table before the fit: the teacher's vector of each piece alone, the common ones weakened."""
    frequency = np.asarray(texts.sum(axis=0)).ravel()
    frequency /= frequency.sum()
    table: np.ndarray = targets.pieces * (RARE / (RARE + frequency))[:, None]
    return table.astype(np.float32)


def fit(
    table: np.ndarray, texts: sparse.csr_matrix, targets: np.ndarray, seed: int, epochs: int = EPOCHS
) -> np.ndarray:
    """Return the table after so many passes over all texts."""
    drawn = np.random.default_rng(seed)
    table = table.copy()
    mean, square = np.zeros_like(table), np.zeros_like(table)
    steps = epochs * (texts.shape[0] // BATCH)
    step = 0
    for epoch in range(epochs):
        order = drawn.permutation(texts.shape[0])
        lost = 0.0
        for at in range(0, len(order) - BATCH + 1, BATCH):
            some = np.sort(order[at : at + BATCH])
            bag = _thinned(texts[some], drawn)
            loss, gradient = _loss(bag @ table, targets[some])
            lost += loss
            step += 1
            rate = RATE * min(step / (WARM_UP * steps), (steps - step) / (steps * (1 - WARM_UP)))
            _adam(table, bag, gradient, mean, square, step, rate)
        print(f"fit: epoch {epoch + 1}, loss {lost / (len(order) // BATCH):.4f}", file=sys.stderr, flush=True)
    return table


def _thinned(bag: sparse.csr_matrix, drawn: np.random.Generator) -> sparse.csr_matrix:
    kept = bag.copy()
    kept.data = kept.data * (drawn.random(len(kept.data)) >= DROPPED)
    return kept


def _loss(sums: np.ndarray, targets: np.ndarray) -> tuple[float, np.ndarray]:
    """Return how far the batch is from its targets and the slope by the sums.

    Each text should point to its target, and be like the other targets as its own target is.
    """
    lengths = np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6
    units = sums / lengths
    count = len(units)
    wanted, log_wanted = _softmax(targets @ targets.T)
    had, log_had = _softmax(units @ targets.T)
    loss = 1.0 - float((units * targets).sum()) / count
    loss += SIMILARITY_WEIGHT * float((wanted * (log_wanted - log_had)).sum()) / count
    by_unit = ((had - wanted) * (SIMILARITY_WEIGHT / TEMPERATURE) @ targets - targets) / count
    by_sum = (by_unit - (by_unit * units).sum(axis=1, keepdims=True) * units) / lengths
    return loss, by_sum


def _softmax(likeness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what share of each row's likeness falls to each column, and the logarithms."""
    scaled = likeness / TEMPERATURE
    scaled -= scaled.max(axis=1, keepdims=True)
    shares = np.exp(scaled)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total, scaled - np.log(total)


def _adam(
    table: np.ndarray,
    bag: sparse.csr_matrix,
    by_sum: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    step: int,
    rate: float,
) -> None:
    """Move the rows of the pieces that occur in the batch."""
    touched = np.unique(bag.indices)
    slope = np.asarray(bag[:, touched].T @ by_sum)
    mean[touched] = 0.9 * mean[touched] + 0.1 * slope
    square[touched] = 0.999 * square[touched] + 0.001 * slope * slope
    moved = mean[touched] / (1 - 0.9**step)
    table[touched] -= rate * moved / (np.sqrt(square[touched] / (1 - 0.999**step)) + 1e-8)


def quantise(table: np.ndarray) -> np.ndarray:
    """Return the table in whole numbers from -127 to 127, by one scale, so that sums stay sums."""
    scale = np.percentile(np.abs(table), CLIPPED) / 127
    return np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
