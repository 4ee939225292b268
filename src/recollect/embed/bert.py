"""A small BERT in numpy: what a text's pieces mean to it, as one vector of length 1.

Texts that are computed together have equally many pieces, so that nothing is padded or masked.
"""

import json
import math
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ONE_THREAD, BLOCK_ROWS = 200_000, 32
"""How many multiplications numpy's usual libraries do in the caller's own thread, and how many rows a block of a product has."""
EPSILON = np.float32(1e-12)
"""What keeps the normalisation of a layer from dividing by nothing."""


class Layer(NamedTuple):
    """One layer's weights: inputs are rows, so that each matrix stands on the right."""

    attention_in: "Floats"
    attention_in_bias: "Floats"
    attention_out: "Floats"
    attention_out_bias: "Floats"
    attention_scale: "Floats"
    attention_shift: "Floats"
    widen: "Floats"
    widen_bias: "Floats"
    narrow: "Floats"
    narrow_bias: "Floats"
    scale: "Floats"
    shift: "Floats"


class Bert(NamedTuple):
    """The weights of a model, and how many heads its attention has."""

    pieces: "Floats"
    positions: "Floats"
    scale: "Floats"
    shift: "Floats"
    layers: tuple[Layer, ...]
    heads: int

    def embed(self, numbers: "NDArray[np.int64]") -> "Floats":
        """Return a vector of length 1 for each row of piece numbers: the mean over its pieces in the last layer."""
        hidden = self.pieces[numbers] + self.positions[: numbers.shape[1]]
        hidden = _normalise(hidden, self.scale, self.shift)
        for layer in self.layers:
            hidden = _apply_layer(layer, hidden, self.heads)
        mean = hidden.mean(axis=1)
        found: Floats = mean / np.sqrt((mean * mean).sum(axis=1, keepdims=True))
        return found


def _apply_layer(layer: Layer, hidden: "Floats", heads: int) -> "Floats":
    texts, pieces, width = hidden.shape
    flat = hidden.reshape(-1, width)
    asked = (_multiply(flat, layer.attention_in) + layer.attention_in_bias).reshape(
        texts, pieces, 3, heads, width // heads
    )
    query, key, value = (asked[:, :, part].transpose(0, 2, 1, 3) for part in range(3))
    weights = query @ key.transpose(0, 1, 3, 2)
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    seen = (weights @ value).transpose(0, 2, 1, 3).reshape(-1, width)
    flat = _normalise(
        flat + (_multiply(seen, layer.attention_out) + layer.attention_out_bias),
        layer.attention_scale,
        layer.attention_shift,
    )
    wide = gelu(_multiply(flat, layer.widen) + layer.widen_bias)
    flat = _normalise(flat + (_multiply(wide, layer.narrow) + layer.narrow_bias), layer.scale, layer.shift)
    return flat.reshape(texts, pieces, width)


def _multiply(rows: "Floats", weights: "Floats") -> "Floats":
    """Return the product of two matrices, made of blocks that are small enough to be computed in the caller's own thread.

    The threads of numpy's usual libraries wait for one another by spinning: on two busy cores that took twenty times as much of
    the processor as the sums themselves.
    """
    count, inner = rows.shape
    height = min(count, BLOCK_ROWS)
    width = max(8, ONE_THREAD // (height * inner) // 8 * 8)
    found = np.empty((count, weights.shape[1]), dtype=np.float32)
    for top in range(0, count, height):
        for left in range(0, weights.shape[1], width):
            at = (slice(top, top + height), slice(left, left + width))
            np.matmul(rows[at[0]], weights[:, at[1]], out=found[at])
    return found


def _normalise(rows: "Floats", scale: "Floats", shift: "Floats") -> "Floats":
    rows = rows - rows.mean(axis=-1, keepdims=True)
    variance = (rows * rows).mean(axis=-1, keepdims=True)
    rows /= np.sqrt(variance + EPSILON)
    rows *= scale
    rows += shift
    return rows


def gelu(rows: "Floats") -> "Floats":
    """Return x · Φ(x), Φ being the normal distribution, by the error function itself.

    The usual approximation by a hyperbolic tangent would change one stored code in 25.
    """
    found = erf(rows * np.float32(math.sqrt(0.5)))
    found += np.float32(1.0)
    found *= rows
    found *= np.float32(0.5)
    return found


_ERF_ABOVE = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_ERF_BELOW = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)
"""The usual rational approximation of the error function for 32-bit floats: right to the last digit or two."""


def erf(values: "Floats") -> "Floats":
    """Return the error function of 32-bit floats, which numpy lacks."""
    values = np.clip(values, np.float32(-4.0), np.float32(4.0))
    square = values * values
    values *= _polynomial(square, _ERF_ABOVE)
    values /= _polynomial(square, _ERF_BELOW)
    return values


def _polynomial(at: "Floats", coefficients: tuple[float, ...]) -> "Floats":
    found = at * np.float32(coefficients[0])
    for coefficient in coefficients[1:-1]:
        found += np.float32(coefficient)
        found *= at
    found += np.float32(coefficients[-1])
    return found


def load_bert(tensors: "Mapping[str, Floats]", heads: int) -> Bert:
    """Build a model from its tensors, by the names that BERT's weights have everywhere."""
    first = "embeddings"
    layers = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer."))
    return Bert(
        pieces=tensors[f"{first}.word_embeddings.weight"],
        positions=tensors[f"{first}.position_embeddings.weight"] + tensors[f"{first}.token_type_embeddings.weight"][0],
        scale=tensors[f"{first}.LayerNorm.weight"],
        shift=tensors[f"{first}.LayerNorm.bias"],
        layers=tuple(_load_layer(tensors, f"encoder.layer.{number}", heads) for number in range(layers)),
        heads=heads,
    )


def _load_layer(tensors: "Mapping[str, Floats]", at: str, heads: int) -> Layer:
    """Return one layer; what divides the attention's scores is taken into the weights of its queries."""
    own = f"{at}.attention.self"
    width = tensors[f"{own}.query.bias"].shape[0]
    shrink = np.float32(1.0 / math.sqrt(width // heads))
    weights = [tensors[f"{own}.{part}.weight"].T for part in ("query", "key", "value")]
    biases = [tensors[f"{own}.{part}.bias"] for part in ("query", "key", "value")]
    weights[0], biases[0] = weights[0] * shrink, biases[0] * shrink
    return Layer(
        np.ascontiguousarray(np.concatenate(weights, axis=1)),
        np.concatenate(biases),
        *_load_linear(tensors, f"{at}.attention.output.dense"),
        *_load_norm(tensors, f"{at}.attention.output.LayerNorm"),
        *_load_linear(tensors, f"{at}.intermediate.dense"),
        *_load_linear(tensors, f"{at}.output.dense"),
        *_load_norm(tensors, f"{at}.output.LayerNorm"),
    )


def _load_linear(tensors: "Mapping[str, Floats]", at: str) -> "tuple[Floats, Floats]":
    return np.ascontiguousarray(tensors[f"{at}.weight"].T), tensors[f"{at}.bias"]


def _load_norm(tensors: "Mapping[str, Floats]", at: str) -> "tuple[Floats, Floats]":
    return tensors[f"{at}.weight"], tensors[f"{at}.bias"]


def read_tensors(content: bytes) -> "dict[str, Floats]":
    """Return the 32-bit tensors of a ``.safetensors`` file: a header in JSON, then their bytes."""
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    return {
        name: np.frombuffer(
            content,
            dtype="<f4",
            count=math.prod(known["shape"]),
            offset=8 + length + known["data_offsets"][0],
        ).reshape(known["shape"])
        for name, known in header.items()
        if name != "__metadata__" and known["dtype"] == "F32"
    }
