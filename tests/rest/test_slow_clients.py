"""Clients that send half a header, half a body, or take nothing: the others are served all the same."""

import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from recollect import Recollect
from recollect.interfaces.listener import Limits
from recollect.interfaces.rest import Settings

from .serving import listening

HEADER = b"POST /v1/memories HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = HEADER + b"1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
FEED = b"GET /v1/changes HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", HEADER, BODY, FEED], ids=["nothing", "half a header", "half a body", "a feed"])
def test_a_crowd_that_says_little_starves_nobody(memory: Recollect, sent: bytes) -> None:
    limits = Limits(connections=40, per_address=40, header_s=1.0, body_s=1.0)
    with (
        listening(memory, Settings(key_required=False, feeds=8, feed_poll_s=0.05), limits) as url,
        ExitStack() as crowd,
    ):
        place = urlsplit(url)
        for _ in range(60 if sent != FEED else 20):
            one = crowd.enter_context(socket.create_connection((place.hostname, place.port), timeout=5))
            one.sendall(sent)
        for number in range(5):
            begun = time.monotonic()
            answer = httpx.post(f"{url}/v1/memories", json={"content": f"Town {number} has a harbour"}, timeout=10)
            assert answer.status_code == 200 and time.monotonic() - begun < 5
