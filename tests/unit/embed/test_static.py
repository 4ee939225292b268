"""The default embedder: offline, the same everywhere, and sensible."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from recollect.embed import Embedder, EmbedderSettings, EmbedderUnavailable, embedder_named, static
from recollect.embed.static import StaticEmbedder, count_tokens
from recollect.model.errors import BadPolicy

TEXTS = ["Ana prefers dark mode", "Ana likes a dark theme", "The train to Porto leaves at nine", ""]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return embedder_named(EmbedderSettings())


def test_it_is_the_default_and_says_what_it_is(embedder: Embedder) -> None:
    assert isinstance(embedder, StaticEmbedder)
    assert (embedder.name, embedder.dimensions) == ("recollect-static-1", 256)


def test_each_text_gets_a_vector_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (4, 256)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors[:3], axis=1) == pytest.approx([1.0, 1.0, 1.0], abs=1e-6)


def test_a_text_without_words_gets_nothing(embedder: Embedder) -> None:
    assert not embedder.embed([""]).any()
    assert embedder.embed([]).shape == (0, 256)


def test_what_means_the_same_is_near(embedder: Embedder) -> None:
    dark_mode, dark_theme, train, _ = embedder.embed(TEXTS)
    assert dark_mode @ dark_theme > 0.5 > dark_mode @ train


def test_the_same_text_gets_the_same_bytes_everywhere(embedder: Embedder) -> None:
    """Pinned: another sum here means that stored vectors would have to be made anew, and the name has to change."""
    digest = hashlib.sha256(embedder.embed(TEXTS).astype("<f4").tobytes()).hexdigest()
    assert digest == "4653a9a70d2d1ae5c3f265f95633fadffdce691be687916c63a953d98b9ae611"


def test_what_else_is_embedded_makes_no_difference(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert (together == alone).all()


def test_threads_may_share_it() -> None:
    fresh = StaticEmbedder()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: fresh.embed(TEXTS).tobytes(), range(8)))
    assert len(set(found)) == 1


def test_odd_texts_are_texts(embedder: Embedder) -> None:
    odd = ["\x00", "🙂" * 50, "שלום", "a" * 10_000, "'; DROP TABLE memories; --", "\u202etxet"]
    assert np.isfinite(embedder.embed(odd)).all()


def test_it_counts_tokens() -> None:
    assert count_tokens("") == 0
    assert count_tokens("Ana prefers dark mode") == 4
    assert count_tokens("Ana prefers dark mode, unbelievably") == 10


def test_nothing_heavy_is_imported_until_a_vector_is_wanted() -> None:
    code = (
        "import sys, recollect, recollect.embed as e; e.embedder_named(e.EmbedderSettings()); "
        "e.embedder_named(e.EmbedderSettings(name='none')); "
        "print(sorted({'numpy', 'urllib.request', 'socket'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_network_library_is_ever_imported() -> None:
    code = (
        "import sys, recollect.embed as e; e.embedder_named(e.EmbedderSettings()).embed(['x']); "
        "print(sorted({'requests', 'httpx', 'urllib.request', 'socket'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_sum_is_exact_whatever_the_order(embedder: Embedder) -> None:
    words = "dark mode in the evening and light mode in the morning".split()
    assert (embedder.embed([" ".join(words)]) == embedder.embed([" ".join(reversed(words))])).all()


def test_all_of_the_table_takes_less_than_eight_megabytes() -> None:
    assert sum((static.TABLE / name).stat().st_size for name in ("vectors.int8", "vocabulary.txt")) < 8_000_000


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(static, "TABLE", tmp_path)
    with pytest.raises(EmbedderUnavailable, match=r"vectors.int8 is missing.*Install recollect anew"):
        StaticEmbedder().embed(["tea"])


def test_no_embedder_has_no_dimensions() -> None:
    none = embedder_named(EmbedderSettings(name="none"))
    assert (none.name, none.dimensions) == ("none", 0)
    assert none.embed(["a", "b"]).shape == (2, 0)


def test_an_unknown_embedder_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(BadPolicy, match=r"embedder.name: is 'magic'. It can be one of: minilm, none, openai, static."):
        embedder_named(EmbedderSettings(name="magic"))
