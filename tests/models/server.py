"""A server on this machine that speaks the chat protocol and answers as a script says: well, badly, late, or not at all."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "tiny"
Step = Callable[["_Handler"], None]


class ScriptedServer:
    """Answers the first request with the first step, and so on; the last step answers all others. ``requests`` is what came."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.endpoint = ""


def said(content: str, *, finish: str = "stop", model: str = MODEL, usage: tuple[int, int] | None = (10, 5)) -> Step:
    """Answer with a text of the model."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    body: dict[str, Any] = {"id": "1", "object": "chat.completion", "model": model, "choices": [choice]}
    if usage is not None:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return raw(json.dumps(body).encode())


def answered(make: Callable[[dict[str, Any]], Any]) -> Step:
    """Answer with the JSON of what a function makes of the request."""

    def answer(handler: "_Handler") -> None:
        said(json.dumps(make(handler.script.requests[-1])))(handler)

    return answer


def raw(body: bytes, status: int = 200, **headers: str) -> Step:
    """Answer with these bytes."""

    def answer(handler: "_Handler") -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def dripping(parts: int, every_s: float) -> Step:
    """Begin an answer at once, and send a byte of it now and then."""

    def answer(handler: "_Handler") -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(parts))
        handler.end_headers()
        for _ in range(parts):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(every_s)

    return answer


def silent(for_s: float) -> Step:
    """Send nothing."""

    def answer(handler: "_Handler") -> None:
        time.sleep(for_s)
        handler.close_connection = True

    return answer


@contextmanager
def serving(*steps: Step) -> Iterator[ScriptedServer]:
    script = ScriptedServer(steps)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": script}))
    server.daemon_threads = True
    script.endpoint = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    script: ScriptedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.script.requests.append(body | {"path": self.path})
        self.script.keys.append(self.headers["Authorization"])
        step = self.script.steps[min(len(self.script.requests), len(self.script.steps)) - 1]
        try:
            step(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client hung up, as it should

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""
