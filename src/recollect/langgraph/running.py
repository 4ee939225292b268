"""How the doors to LangGraph are opened and closed, and how their async methods run the sync ones."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Generic, ParamSpec, Protocol, TypeVar

WORKERS = 4
"""How many async calls of one door run at a time; the others wait. More would only queue up at the store."""

P = ParamSpec("P")
T = TypeVar("T")


class Background:
    """A few threads that work for async callers. A call that is cancelled may still have been carried out."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(WORKERS, thread_name_prefix="recollect-langgraph")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function returns, without keeping the event loop waiting."""
        call = partial(contextvars.copy_context().run, partial(function, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def close(self) -> None:
        self._threads.shutdown()


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Opening(Generic[C]):
    """Something that is opened by ``with`` or by ``async with``, and closed at the end of either."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._opened: C | None = None

    def __enter__(self) -> C:
        self._opened = self._make()
        return self._opened

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._opened is not None:
            self._opened.close()

    async def __aenter__(self) -> C:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, at)
