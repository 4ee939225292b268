"""Vectors from a server that speaks OpenAI's embeddings protocol: OpenAI itself, Ollama, vLLM, llama.cpp and others.

The texts leave the machine, so this is never a default. Nothing is sent anywhere but to the configured address: redirects
are refused, and a key goes over the wire unencrypted only to this very machine.
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from recollect.embed.protocol import EmbedderSettings, EmbedderUnavailable
from recollect.embed.scale import LEAST_APART, Scale, measured
from recollect.model.errors import BadPolicy

if TYPE_CHECKING:
    from recollect.embed.protocol import Vectors

BATCH = 64
"""Texts in one request: small enough for every server's limit, large enough that the way there and back hardly counts."""
MAX_ANSWER_BYTES = 64 * 1024 * 1024
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class EndpointEmbedder:
    """Asks a server, in batches. Every failure names the address and what to look at; nothing is tried twice."""

    reads_context = True

    def __init__(self, settings: EmbedderSettings) -> None:
        _check_settings(settings)
        self.name = f"openai:{settings.model}:{settings.dimensions}"
        self.dimensions = settings.dimensions
        self.scale = settings.scale and Scale(*settings.scale)
        self._settings = settings
        self._address = settings.url.rstrip("/") + "/embeddings"
        self._key = _read_key(settings)
        self._opener = urllib.request.build_opener(_NoRedirects())

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed texts; measure the model's scale first, without which its cosines mean nothing."""
        if texts and self.scale is None:
            self.scale = measured(self._embed)
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        batches = [self._embed_batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        rows = np.array([row for batch in batches for row in batch], dtype=np.float64).reshape(-1, self.dimensions)
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)

    def _embed_batch(self, texts: Sequence[str]) -> list[list[float]]:
        asked = {"model": self._settings.model, "input": list(texts), "encoding_format": "float"}
        answer = self._post(json.dumps(asked).encode("utf-8"))
        try:
            rows = list(_read_rows(json.loads(answer), len(texts), self.dimensions))
        except (ValueError, KeyError, TypeError) as error:
            raise self._make_error(f"gave an answer that cannot be read ({error})") from error
        return rows

    def _post(self, body: bytes) -> bytes:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        request = urllib.request.Request(self._address, data=body, headers=headers)
        try:
            with self._opener.open(request, timeout=self._settings.timeout_s) as response:
                return bytes(response.read(MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            raise self._make_error(f"answered with HTTP status {error.code}") from error
        except (OSError, HTTPException) as error:
            raise self._make_error(f"does not answer ({error})") from error

    def _make_error(self, what: str) -> EmbedderUnavailable:
        return EmbedderUnavailable(
            f"{self._address} {what}.",
            field="embedder.url",
            hint="Check the address, the model and the key, or choose embedder static, which needs no server.",
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the texts and the key to an address that nobody configured."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _check_settings(settings: EmbedderSettings) -> None:
    address = urlsplit(settings.url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise BadPolicy("is no http or https address.", field="embedder.url", hint="E.g. http://localhost:8080/v1")
    if not settings.model:
        raise BadPolicy("is empty.", field="embedder.model", hint="Name a model that the server has.")
    if settings.dimensions < 1:
        raise BadPolicy("is missing.", field="embedder.dimensions", hint="Say how long the model's vectors are.")
    if settings.scale and not -1 <= settings.scale[0] <= settings.scale[1] - LEAST_APART <= 1 - LEAST_APART:
        raise BadPolicy(
            "is no pair of cosines, the smaller one first.",
            field="embedder.scale",
            hint="Leave it out: it is measured.",
        )
    if settings.key_variable and address.scheme == "http" and address.hostname not in LOOPBACK:
        raise BadPolicy("would send the key unencrypted.", field="embedder.url", hint="Use https.")


def _read_key(settings: EmbedderSettings) -> str:
    if not settings.key_variable:
        return ""
    key = os.environ.get(settings.key_variable, "")
    if not key:
        raise BadPolicy(
            f"names {settings.key_variable}, which is not set.", field="embedder.key_variable", hint="Export it first."
        )
    return key


def _read_rows(answer: Any, expected: int, dimensions: int) -> Iterator[list[float]]:
    """Yield the vectors of an answer in the order of the texts, each checked for its length."""
    items = sorted(answer["data"], key=lambda item: int(item["index"]))
    if [item["index"] for item in items] != list(range(expected)):
        raise ValueError(f"{expected} texts were sent and {len(items)} vectors came back")
    for item in items:
        row = [float(value) for value in item["embedding"]]
        if len(row) != dimensions:
            raise ValueError(f"a vector has {len(row)} dimensions, not {dimensions} as in embedder.dimensions")
        yield row
