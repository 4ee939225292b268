"""One memory system in a process of its own, told by the driver what to do and timing itself.

    python worker.py SYSTEM FOLDER

Each line on standard input is a JSON command, ``{"add": [texts]}``, ``{"search": [questions]}`` or ``{"fill": [texts]}``, which
adds many at once in whatever way the system has for that; each line on standard output answers with the seconds that
every single call took. Runs in ``.venv-bench``; needs no network.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

OWNER = "ana"
TOP_K = 5
DIMENSIONS = 256

os.environ.update(
    MEM0_TELEMETRY="False",
    ANONYMIZED_TELEMETRY="False",
    LANGSMITH_TRACING="false",
    HF_HUB_OFFLINE="1",
    OPENAI_API_KEY="unused: nothing is ever inferred",
)


class System(Protocol):
    """What is measured of a memory system."""

    def add(self, text: str) -> object: ...
    def search(self, question: str) -> object: ...


class StaticVectors:
    """The vectors of Recollect's default embedder: fast, offline, and the same for every system."""

    def __init__(self) -> None:
        from recollect.embed import EmbedderSettings, embedder_named

        self._embedder = embedder_named(EmbedderSettings("static"))

    def vectors(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors


class Embedder:
    """The embedder alone, to know its share of a write."""

    def __init__(self, folder: Path) -> None:
        self._embedder = StaticVectors()

    def add(self, text: str) -> object:
        return self._embedder.vectors([text])

    search = add


class Recollect:
    """Recollect under its default policy, whose embedder has the same static vectors."""

    def __init__(self, folder: Path) -> None:
        import recollect

        self._memory = recollect.open(folder / "memory.db")

    def add(self, text: str) -> object:
        return self._memory.add(text, owner=OWNER)

    def fill(self, texts: list[str]) -> None:
        self._memory.add_many([{"content": text, "owner": OWNER} for text in texts])

    def search(self, question: str) -> object:
        return self._memory.query(question, owner=OWNER, top_k=TOP_K)


class Mem0:
    """mem0 without inference: each text is embedded and kept as it is, in its default store, Qdrant in a local folder."""

    def __init__(self, folder: Path) -> None:
        os.environ["MEM0_DIR"] = str(folder)
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase
        from mem0.utils import factory

        class StaticEmbedding(EmbeddingBase):  # type: ignore[misc]
            embedder = StaticVectors()

            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return self.embedder.vectors([text])[0]

        # mem0 knows its embedders by name and accepts no others, so ours takes the place of one that is not installed.
        sys.modules["vectors_for_mem0"] = _module(StaticEmbedding)
        factory.EmbedderFactory.provider_to_class["huggingface"] = "vectors_for_mem0.StaticEmbedding"
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "huggingface", "config": {"embedding_dims": DIMENSIONS}},
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(folder / "qdrant"), "embedding_model_dims": DIMENSIONS, "on_disk": True},
                },
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, text: str) -> object:
        return self._memory.add(text, user_id=OWNER, infer=False)

    def search(self, question: str) -> object:
        return self._memory.search(question, filters={"user_id": OWNER}, top_k=TOP_K)


def _module(*classes: type) -> Any:
    from types import ModuleType

    module = ModuleType("vectors_for_mem0")
    for found in classes:
        setattr(module, found.__name__, found)
    return module


class LangGraph:
    """LangGraph's SqliteStore with a vector index, opened as its documentation does."""

    def __init__(self, folder: Path) -> None:
        from langgraph.store.sqlite import SqliteStore

        embedder = StaticVectors()
        self._opened = SqliteStore.from_conn_string(
            str(folder / "store.db"), index={"dims": DIMENSIONS, "embed": embedder.vectors, "fields": ["text"]}
        )
        self._store = self._opened.__enter__()
        self._store.setup()
        self._count = 0

    def add(self, text: str) -> object:
        self._count += 1
        return self._store.put(("memories", OWNER), str(self._count), {"text": text})

    def fill(self, texts: list[str]) -> None:
        from langgraph.store.base import PutOp

        numbered = enumerate(texts, start=self._count + 1)
        self._store.batch([PutOp(("memories", OWNER), str(number), {"text": text}) for number, text in numbered])
        self._count += len(texts)

    def search(self, question: str) -> object:
        return self._store.search(("memories", OWNER), query=question, limit=TOP_K)


class Chroma:
    """Chroma on disk, given the vectors; its own full-text index is written along."""

    def __init__(self, folder: Path) -> None:
        import chromadb

        self._embedder = StaticVectors()
        client = chromadb.PersistentClient(str(folder), settings=chromadb.Settings(anonymized_telemetry=False))
        self._collection = client.create_collection("memories", metadata={"hnsw:space": "cosine"})
        self._count = 0

    def add(self, text: str) -> object:
        return self.fill([text])

    def fill(self, texts: list[str]) -> None:
        ids = [str(self._count + number) for number in range(len(texts))]
        owners = [{"owner": OWNER} for _ in texts]
        self._collection.add(ids=ids, documents=texts, metadatas=owners, embeddings=self._embedder.vectors(texts))
        self._count += len(texts)

    def search(self, question: str) -> object:
        vectors = self._embedder.vectors([question])
        return self._collection.query(query_embeddings=vectors, n_results=TOP_K, where={"owner": OWNER})


SYSTEMS: dict[str, Callable[[Path], System]] = {
    "embedder": Embedder,
    "recollect": Recollect,
    "mem0": Mem0,
    "langgraph": LangGraph,
    "chroma": Chroma,
}


def main() -> None:
    name, folder = sys.argv[1:]
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # some systems print; the answers must stay alone
    system = SYSTEMS[name](Path(folder))
    logging.disable(logging.WARNING)  # one system reports every write, which would count against it
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        ((operation, texts),) = json.loads(line).items()
        calls = [texts] if operation == "fill" else texts
        print(json.dumps([_timed(getattr(system, operation), call) for call in calls]), file=answers, flush=True)


def _timed(call: Callable[[Any], object], given: str | list[str]) -> float:
    start = time.perf_counter()
    call(given)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
