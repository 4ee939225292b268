"""Who asks: the key of a request, how often and how much it may ask, and how its work is done off the event loop."""

import asyncio
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from recollect.interfaces.listener import Place
from recollect.interfaces.python import Recollect
from recollect.interfaces.rest.problems import MEDIA_TYPE, Draining, TimedOut, problem_of, too_large
from recollect.model.caller import Right
from recollect.model.errors import KeyRefused, NotAllowed, TooManyRequests

T = TypeVar("T")
SESSION = "Recollect-Session"
IDEMPOTENCY_KEY = "Idempotency-Key"
IMPORT_PATH = "/v1/import"
MOST_BUCKETS = 10_000
"""Of how many keys it is remembered how often they asked."""


class Settings(NamedTuple):
    """What a server grants. ``key_required`` is off only where no other machine can reach it.

    A key may ask ``rate_per_s`` times a second on average, and ``burst`` times at once.
    """

    key_required: bool = True
    max_body_bytes: int = 2 * 2**20
    max_import_bytes: int = 256 * 2**20
    time_limit_s: float = 30.0
    threads: int = 16
    turn_s: float = 0.1
    """How long a request works before the next of its kind begins beside it, rather than after it."""
    rate_per_s: float = 200.0
    burst: int = 400
    feeds: int = 64
    feed_poll_s: float = 0.5
    feed_beat_s: float = 15.0


DEFAULTS = Settings()
LOOK_FOR_KEYS_S = 1.0
"""How soon a server without keys notices the first one."""


class Answer(NamedTuple):
    """The JSON document that answers a request, and the entity tag of the memory that it is."""

    body: bytes
    etag: str | None = None

    def to_text(self) -> str:
        """Return the answer as one text, under which a retry finds it."""
        return f"{self.etag or ''}\n{self.body.decode()}"

    @classmethod
    def from_text(cls, text: str) -> "Answer":
        etag, _, body = text.partition("\n")
        return cls(body.encode(), etag or None)


class Server:
    """What every endpoint works with: the memory that is open, the threads that work on it, and what is granted."""

    def __init__(self, memory: Recollect, settings: Settings) -> None:
        self.memory = memory
        self.settings = settings
        self.open_feeds = 0
        self.draining = False
        self._keyed, self._look_for_keys_at = False, 0.0
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="recollect-rest")
        self._turns = {reads: Turns(settings.turn_s) for reads in (True, False)}
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def identity(self, request: HTTPConnection) -> str:
        """Return a text that stands for the key of a request, without being it."""
        return hashlib.sha256((key_of(request) or "").encode()).hexdigest()

    def memory_of(self, request: HTTPConnection, session: str | None = None) -> Recollect:
        """Return the memory as the caller of a request may see it. It reads the store: call it in a thread.

        ``session`` is one of the caller's own that the request is about; else the header ``Recollect-Session`` may name one.

        :raises KeyRefused: if the request has no key that holds, and needs one.
        """
        key = key_of(request)
        if key is not None:
            return self.memory.with_key(key, session=session or request.headers.get(SESSION))
        if self.settings.key_required or self._has_keys():
            hint = "Send `Authorization: Bearer KEY`; `recollect key create` makes a key."
            raise KeyRefused("a key is needed.", hint=hint)
        _check_local(request)
        return self.memory

    def _has_keys(self) -> bool:
        """Return whether a key was ever made: from then on one is needed, also if it is revoked. Looks every few seconds."""
        now = time.monotonic()
        if not self._keyed and now >= self._look_for_keys_at:
            self._look_for_keys_at = now + LOOK_FOR_KEYS_S
            self._keyed = bool(self.memory.access_keys())
        return self._keyed

    async def answer(
        self,
        request: Request,
        work: Callable[[Recollect], Answer],
        *,
        session: str | None = None,
        reads: bool = False,
        changes: bytes | None = None,
    ) -> Response:
        """Answer a request with a JSON document.

        ``changes`` is the body of a request that changes something: sent under an idempotency key, it is done once, and
        answered alike each time.
        """
        key = None if changes is None else request.headers.get(IDEMPOTENCY_KEY)
        if key is None:
            answer = await self.call(request, work, session, reads=reads)
        else:
            digest = hashlib.sha256(changes or b"").hexdigest()
            said = f"{request.method} {request.url.path}?{request.url.query} {request.headers.get(SESSION)} {digest}"

            def once(memory: Recollect) -> str:
                return memory.once(key, said, lambda there: work(there).to_text())

            answer = Answer.from_text(await self.call(request, once, session))
        headers = {} if answer.etag is None else {"ETag": answer.etag}
        return Response(answer.body, headers=headers, media_type="application/json")

    async def call(
        self,
        request: HTTPConnection,
        work: Callable[[Recollect], T],
        session: str | None = None,
        *,
        reads: bool = False,
    ) -> T:
        """Do blocking work on the memory that the request's caller may see, in a thread and within the time limit.

        Work that has begun is finished, even if nobody waits for it any more. Work that only ``reads`` takes a caller who may.
        """
        self._check_rate(request)

        def do() -> T:
            memory = self.memory_of(request, session)
            if reads and not (memory.caller.may(Right.READ) or memory.caller.may(Right.OPERATE)):
                raise NotAllowed("this key may not read.", hint="It takes the right 'read'.")
            return work(memory)

        return await self.in_thread(partial(self._turns[reads].run, do))

    async def in_thread(self, work: Callable[[], T], time_limit_s: float | None = None) -> T:
        """Do blocking work in one of the server's threads."""
        if self.draining:
            raise Draining("the server is about to end.", hint="Try again in a moment.")
        doing = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            await asyncio.wait((doing,), timeout=time_limit_s or self.settings.time_limit_s)
            if doing.done():
                return doing.result()
        finally:  # nobody may be left to take an error, which would be logged as never retrieved
            doing.add_done_callback(lambda done: done.cancelled() or done.exception())
        hint = "It may still be done: repeat it under the same Idempotency-Key, or look."
        raise TimedOut("it took too long.", hint=hint)

    def _check_rate(self, request: HTTPConnection) -> None:
        who = self.identity(request)
        bucket = self._buckets.pop(who, None) or _Bucket(self.settings)
        self._buckets[who] = bucket
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        if not bucket.take():
            raise TooManyRequests("this key asks too often.", hint="Wait a second, then go on more slowly.")

    def close(self) -> None:
        """Take nothing more, and wait for the work that has begun."""
        self.draining = True
        self._threads.shutdown(wait=True)


class Turns:
    """Lets work begin when what began before it has ended or has taken long, so that slow work holds nobody up.

    Python runs one thread at a time. Work side by side ends no sooner, and each statement of a store is an occasion to
    hand over to another thread, which costs up to half of the rate.
    """

    def __init__(self, turn_s: float) -> None:
        self._turn_s = turn_s
        self._entrance = threading.Lock()
        self._began_last = threading.Event()
        self._began_last.set()

    def run(self, work: Callable[[], T]) -> T:
        """Wait for a turn, do the work, and return its answer."""
        ended = threading.Event()
        with self._entrance:
            self._began_last.wait(self._turn_s)
            self._began_last = ended
        try:
            return work()
        finally:
            ended.set()


class _Bucket:
    """How often one key may still ask: it fills with time, and each request takes one."""

    def __init__(self, settings: Settings) -> None:
        self._per_s, self._most = settings.rate_per_s, float(settings.burst)
        self._left, self._at = self._most, time.monotonic()

    def take(self) -> bool:
        now = time.monotonic()
        self._left, self._at = min(self._most, self._left + (now - self._at) * self._per_s), now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def key_of(request: HTTPConnection) -> str | None:
    """Return the key that a request was sent with; ``Token KEY`` is how some clients write it."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.lower() in ("bearer", "token") else None


def _check_local(request: HTTPConnection) -> None:
    """Raise if a request without a key comes by another name than this machine's: a web page could send such a one."""
    names = [f"//{request.headers.get('host', '')}", *request.headers.getlist("origin")]
    if not all(_is_local(name) for name in names):
        raise NotAllowed("without a key, only this machine's own names are answered to.", hint="Use 127.0.0.1.")


def _is_local(address: str) -> bool:
    with suppress(ValueError):
        return Place(urlsplit(address).hostname or "", 0).loopback
    return False


class Bounded:
    """Refuse a body that is larger than the settings grant, whether it says so beforehand or not."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        settings = self._settings
        most = settings.max_import_bytes if scope["path"] == IMPORT_PATH else settings.max_body_bytes
        announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if announced.isdigit() and int(announced) > most:
            await JSONResponse(problem_of(too_large()), 413, {"Connection": "close"}, MEDIA_TYPE)(scope, receive, send)
            return
        taken = 0

        async def bounded_receive() -> Any:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413)  # the one sort of error that the framework's reader of bodies lets through
            return message

        await self._app(scope, bounded_receive, send)
