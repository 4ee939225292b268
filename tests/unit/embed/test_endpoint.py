"""The endpoint embedder against a real server on this machine, well-behaved and otherwise."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from recollect.embed import Embedder, EmbedderSettings, EmbedderUnavailable, embedder_named
from recollect.embed.endpoint import BATCH
from recollect.embed.scale import ALIKE, OURS, scale_of
from recollect.model.errors import BadPolicy

Reply = tuple[int, dict[str, str], bytes]


class Server:
    """An embeddings server: remembers what it was asked and answers as it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.reply: Callable[[dict[str, Any]], Reply] = embeddings
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.settings = EmbedderSettings(
            name="openai",
            url=f"http://127.0.0.1:{self._http.server_port}/v1/",
            model="tiny",
            dimensions=2,
            timeout_s=5,
            scale=(0.0, 0.5),
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, dict(self.headers), body))
                status, headers, answer = server.reply(body)
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(answer))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Keep the test's output clean."""

        return Handler

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def embeddings(body: dict[str, Any]) -> Reply:
    """A vector of each text's length and a three, last text first, as the protocol allows."""
    data = [{"index": i, "embedding": [len(text), 3]} for i, text in enumerate(body["input"])]
    return 200, {}, json.dumps({"data": data[::-1]}).encode()


def answering(status: int, answer: bytes, **headers: str) -> Callable[[dict[str, Any]], Reply]:
    return lambda _: (status, headers, answer)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def embedder(server: Server) -> Embedder:
    return embedder_named(server.settings)


def test_vectors_come_back_in_the_order_of_the_texts_and_of_length_one(server: Server, embedder: Embedder) -> None:
    vectors = embedder.embed(["four", ""])
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[pytest.approx(0.8), pytest.approx(0.6)], [0.0, 1.0]]
    path, headers, body = server.asked[0]
    assert path == "/v1/embeddings"
    assert body == {"model": "tiny", "input": ["four", ""], "encoding_format": "float"}
    assert "Authorization" not in headers


def test_it_says_what_it_is(embedder: Embedder) -> None:
    assert (embedder.name, embedder.dimensions) == ("openai:tiny:2", 2)


def test_many_texts_go_in_batches(server: Server, embedder: Embedder) -> None:
    texts = ["x" * (number % 7) for number in range(2 * BATCH + 1)]
    vectors = embedder.embed(texts)
    assert [len(body["input"]) for _, _, body in server.asked] == [BATCH, BATCH, 1]
    assert (vectors[:, 0] > 0).tolist() == [bool(text) for text in texts]


def test_a_model_is_measured_once_before_its_first_text(server: Server) -> None:
    embedder = embedder_named(replace(server.settings, scale=None))
    assert embedder.embed([]).shape == (0, 2) and server.asked == []
    embedder.embed(["four"])
    embedder.embed(["five"])
    assert [body["input"] for _, _, body in server.asked] == [
        [text for pair in ALIKE for text in pair],
        ["four"],
        ["five"],
    ]
    assert scale_of(embedder) == OURS, "lengths of texts tell nothing of what they mean"


def test_a_scale_that_was_given_is_not_measured(server: Server, embedder: Embedder) -> None:
    embedder.embed(["four"])
    assert len(server.asked) == 1 and scale_of(embedder) == (0.0, 0.5)


def test_a_model_that_could_not_be_measured_is_measured_the_next_time(server: Server) -> None:
    embedder = embedder_named(replace(server.settings, scale=None))
    server.reply = answering(500, b"oops")
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["four"])
    server.reply = embeddings
    embedder.embed(["four"])
    assert len(server.asked) == 3


def test_nothing_is_asked_for_nothing(server: Server, embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, 2)
    assert server.asked == []


def test_the_key_comes_from_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "a-key")
    embedder_named(replace(server.settings, key_variable="MY_KEY")).embed(["x"])
    assert server.asked[0][1]["Authorization"] == "Bearer a-key"


def test_a_key_that_is_not_set_is_named(server: Server) -> None:
    with pytest.raises(BadPolicy, match=r"embedder\.key_variable: names NO_SUCH_KEY, which is not set"):
        embedder_named(replace(server.settings, key_variable="NO_SUCH_KEY"))


def test_a_key_is_not_sent_unencrypted_to_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "a-key")
    settings = EmbedderSettings("openai", "http://models.internal/v1", "tiny", 2, "MY_KEY")
    with pytest.raises(BadPolicy, match="unencrypted"):
        embedder_named(settings)
    assert embedder_named(replace(settings, url="https://models.internal/v1")).dimensions == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (answering(500, b"oops"), "answered with HTTP status 500"),
        (answering(401, b"{}"), "answered with HTTP status 401"),
        (answering(200, b"<html>"), "cannot be read"),
        (answering(200, b"[]"), "cannot be read"),
        (answering(200, b'{"data": []}'), "1 texts were sent and 0 vectors came back"),
        (answering(200, b'{"data": [{"index": 0, "embedding": [1]}]}'), "a vector has 1 dimensions, not 2"),
        (answering(200, b'{"data": [{"index": 0, "embedding": ["a", 1]}]}'), "cannot be read"),
        (answering(200, b"{", **{"Content-Length": "99"}), "does not answer|cannot be read"),
    ],
)
def test_a_server_that_misbehaves_is_named(server: Server, embedder: Embedder, reply: Any, says: str) -> None:
    server.reply = reply
    with pytest.raises(EmbedderUnavailable, match=says) as caught:
        embedder.embed(["x"])
    assert server.settings.url in str(caught.value)
    assert caught.value.hint


def test_a_redirect_is_not_followed(server: Server, embedder: Embedder) -> None:
    server.reply = answering(302, b"", Location=f"{server.settings.url}elsewhere")
    with pytest.raises(EmbedderUnavailable, match="302"):
        embedder.embed(["x"])
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_named(server: Server, embedder: Embedder) -> None:
    server.close()
    with pytest.raises(EmbedderUnavailable, match="does not answer"):
        embedder.embed(["x"])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "file:///etc/passwd"}, "embedder.url"),
        ({"url": "http://"}, "embedder.url"),
        ({"model": ""}, "embedder.model"),
        ({"dimensions": 0}, "embedder.dimensions"),
        ({"scale": (0.5, 0.5)}, "embedder.scale"),
        ({"scale": (0.9, 1.1)}, "embedder.scale"),
        ({"scale": (float("nan"), 1.0)}, "embedder.scale"),
    ],
)
def test_settings_that_make_no_sense_are_named(server: Server, change: dict[str, Any], field: str) -> None:
    with pytest.raises(BadPolicy) as caught:
        embedder_named(replace(server.settings, **change))
    assert caught.value.field == field
