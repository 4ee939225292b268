"""The same small BERT as `bert`, computed by onnxruntime: less than half of the time. Installed with the extra ``onnx``.

The graph is written from the weights when they are loaded, so that nothing but the weights is kept on disk. One thread
computes one text, as in numpy.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OPSET, IR_VERSION = 20, 9
"""The first set of operators with the exact GELU, and the file format of its time."""
EPSILON = 1e-12


class OnnxBert:
    """A model as onnxruntime computes it. Safe to share between threads."""

    def __init__(self, tensors: "Mapping[str, Floats]", heads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        graph = _Graph(tensors).write_model(heads)
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def embed(self, numbers: "NDArray[np.int64]") -> "Floats":
        """Return a vector of length 1 for each row of piece numbers: the mean over its pieces in the last layer."""
        means = np.stack([self._session.run(None, {"pieces": row})[0] for row in numbers])
        found: Floats = means / np.sqrt((means * means).sum(axis=1, keepdims=True))
        return found


class _Graph:
    """Writes the model down, a node at a time; each method returns the name of its result."""

    def __init__(self, tensors: "Mapping[str, Floats]") -> None:
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def write_model(self, heads: int) -> bytes:
        """Return the whole model, for one text of any length."""
        from onnx import TensorProto, helper

        words, first = self._tensors["embeddings.word_embeddings.weight"], "embeddings"
        places = self._tensors[f"{first}.position_embeddings.weight"]
        places = places + self._tensors[f"{first}.token_type_embeddings.weight"][0]
        begin = self._constant(np.array([0]))
        hidden = self._node("Slice", self._constant(places), begin, self._node("Shape", "pieces"))
        hidden = self._node("Add", self._node("Gather", self._constant(words), "pieces"), hidden)
        hidden = self._normalise(hidden, f"{first}.LayerNorm")
        layers = 1 + max(int(name.split(".")[2]) for name in self._tensors if name.startswith("encoder.layer."))
        for number in range(layers):
            hidden = self._layer(hidden, f"encoder.layer.{number}", words.shape[1], heads)
        mean = self._node("ReduceMean", hidden, begin, keepdims=0)
        taken = helper.make_tensor_value_info("pieces", TensorProto.INT64, ["count"])
        given = helper.make_tensor_value_info(mean, TensorProto.FLOAT, [words.shape[1]])
        graph = helper.make_graph(self._nodes, "bert", [taken], [given], self._constants)
        opsets = [helper.make_opsetid("", OPSET)]
        written: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString()
        return written

    def _layer(self, hidden: str, at: str, width: int, heads: int) -> str:
        own, size = f"{at}.attention.self", width // heads
        query = self._by_head(hidden, f"{own}.query", heads, size, (1, 0, 2))
        key = self._by_head(hidden, f"{own}.key", heads, size, (1, 2, 0))
        value = self._by_head(hidden, f"{own}.value", heads, size, (1, 0, 2))
        shrink = self._constant(np.float32(1.0 / math.sqrt(size)))
        weights = self._node("Softmax", self._node("Mul", self._node("MatMul", query, key), shrink), axis=-1)
        seen = self._node("Transpose", self._node("MatMul", weights, value), perm=(1, 0, 2))
        seen = self._linear(self._reshape(seen, (-1, width)), f"{at}.attention.output.dense")
        hidden = self._normalise(self._node("Add", hidden, seen), f"{at}.attention.output.LayerNorm")
        wide = self._node("Gelu", self._linear(hidden, f"{at}.intermediate.dense"))
        narrow = self._linear(wide, f"{at}.output.dense")
        return self._normalise(self._node("Add", hidden, narrow), f"{at}.output.LayerNorm")

    def _by_head(self, hidden: str, at: str, heads: int, size: int, order: Sequence[int]) -> str:
        return self._node("Transpose", self._reshape(self._linear(hidden, at), (-1, heads, size)), perm=order)

    def _reshape(self, values: str, shape: Sequence[int]) -> str:
        return self._node("Reshape", values, self._constant(np.array(shape)))

    def _linear(self, rows: str, at: str) -> str:
        product = self._node("MatMul", rows, self._constant(self._tensors[f"{at}.weight"].T))
        return self._node("Add", product, self._constant(self._tensors[f"{at}.bias"]))

    def _normalise(self, rows: str, at: str) -> str:
        scale, shift = (self._constant(self._tensors[f"{at}.{part}"]) for part in ("weight", "bias"))
        return self._node("LayerNormalization", rows, scale, shift, axis=-1, epsilon=EPSILON)

    def _constant(self, values: Any) -> str:
        from onnx import numpy_helper

        name = f"constant {len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values).reshape(np.shape(values)), name))
        return name

    def _node(self, kind: str, *taken: str, **settings: Any) -> str:
        from onnx import helper

        name = f"value {len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(taken), [name], **settings))
        return name
