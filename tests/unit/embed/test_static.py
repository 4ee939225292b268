"""The default embedder: offline, the same everywhere, and sensible."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from recollect.embed import Embedder, EmbedderSettings, EmbedderUnavailable, embedder_named
from recollect.embed.bundled import bundled_file
from recollect.embed.static import StaticEmbedder
from recollect.model.errors import BadPolicy

TEXTS = ["Ana prefers dark mode", "Ana likes a dark theme", "The train to Porto leaves at nine", ""]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return embedder_named(EmbedderSettings())


def test_it_is_the_default_and_says_what_it_is(embedder: Embedder) -> None:
    assert isinstance(embedder, StaticEmbedder)
    assert (embedder.name, embedder.dimensions) == ("wordllama-l2-supercat-256", 256)


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
    assert digest == "06a8046212e8195c6326e2b46dfc29a71b13187a96d2ddad25b6526b57ed87a7"


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
    embedder = StaticEmbedder()
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("Ana prefers dark mode") < embedder.count_tokens(
        "Ana prefers dark mode in the evening"
    )


def test_nothing_heavy_is_imported_until_a_vector_is_wanted() -> None:
    code = (
        "import sys, recollect, recollect.embed as e; e.embedder_named(e.EmbedderSettings()); "
        "e.embedder_named(e.EmbedderSettings(name='none')); "
        "print(sorted({'numpy', 'wordllama', 'tokenizers', 'safetensors', 'torch', 'requests'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_neither_wordllama_nor_a_network_library_is_ever_imported() -> None:
    code = (
        "import sys, recollect.embed as e; e.embedder_named(e.EmbedderSettings()).embed(['x']); "
        "print(sorted({'wordllama', 'requests', 'huggingface_hub', 'socket'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_names_the_way_to_get_it() -> None:
    with pytest.raises(BadPolicy, match=r"no_such_package, which is not installed\. pip install it"):
        bundled_file("no_such_package", "weights", hint="pip install it")


def test_a_missing_file_is_named() -> None:
    with pytest.raises(EmbedderUnavailable, match=r"no-such-file.*is missing.*install it anew"):
        bundled_file("recollect", "no-such-file", hint="install it anew")


def test_no_embedder_has_no_dimensions() -> None:
    none = embedder_named(EmbedderSettings(name="none"))
    assert (none.name, none.dimensions) == ("none", 0)
    assert none.embed(["a", "b"]).shape == (2, 0)


def test_an_unknown_embedder_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(BadPolicy, match=r"embedder.name: is 'magic'. It can be one of: minilm, none, openai, static."):
        embedder_named(EmbedderSettings(name="magic"))
