"""Answer a retry like the request that it repeats.

Writes of memories keep their idempotency key in the store, with the memory: a retry is answered alike after a restart, too.
Other changes lead to a state that is named, so that doing them again does no harm; this server remembers their answers for a
while, so that a client whose connection broke gets the answer that it missed.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.responses import Response

from recollect.model.errors import BadInput, RetryMismatch

KEPT_S = 600.0
MAX_KEY = 200
MOST_BYTES = 32 * 2**20
"""How much the remembered answers may take; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it goes out."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    media_type: str = "application/json"

    def response(self) -> Response:
        return Response(self.body, self.status, self.headers, self.media_type)


class Retries:
    """The answers of the last minutes, by the caller and the key that the caller drew."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()
        self._bytes = 0

    async def once(
        self, caller: str, key: str, request: bytes, work: Callable[[], Awaitable[Answered]], *, keeps: bool
    ) -> Answered:
        """Return the answer to a request under a key: the earlier one if there is one, else the one that ``work`` gives.

        With ``keeps`` the store remembers by itself, and only retries that come while it works are answered here.

        :raises RetryMismatch: if the key was used for another request.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise BadInput(f"must be text of 1 to {MAX_KEY} characters.", field="Idempotency-Key")
        digest, self_ = hashlib.sha256(request).digest(), (caller, key)
        self._forget_old()
        kept = self._kept.get(self_)
        if kept is None:
            kept = self._kept[self_] = _Kept(digest, asyncio.ensure_future(work()))
            kept.answer.add_done_callback(lambda _: self._settle(self_, keeps))
        elif kept.digest != digest:
            hint = "Draw a new key for a new request."
            raise RetryMismatch("was used before for another request.", field="Idempotency-Key", hint=hint)
        return await asyncio.shield(kept.answer)

    def clear(self) -> None:
        """Forget every answer that was given: after an erasure none of them may come again."""
        for place in [place for place, kept in self._kept.items() if kept.answer.done()]:
            self._drop(place)

    def _settle(self, place: tuple[str, str], keeps: bool) -> None:
        """Count a new answer. One that failed, or that the store remembers, is not kept here."""
        kept = self._kept.get(place)
        if kept is None:
            return
        if keeps or kept.answer.cancelled() or kept.answer.exception() is not None:
            del self._kept[place]
            return
        kept.bytes = len(kept.answer.result().body) + 500
        self._bytes += kept.bytes

    def _forget_old(self) -> None:
        until = time.monotonic() - KEPT_S
        done = [place for place, kept in self._kept.items() if kept.answer.done()]
        for place in done:
            if self._kept[place].at < until or self._bytes > MOST_BYTES:
                self._drop(place)

    def _drop(self, place: tuple[str, str]) -> None:
        self._bytes -= self._kept.pop(place).bytes


@dataclass(slots=True)
class _Kept:
    digest: bytes
    answer: "asyncio.Future[Answered]"
    at: float = field(default_factory=time.monotonic)
    bytes: int = 0
