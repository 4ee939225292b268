"""How the saver and the store are opened and closed, and how their async methods run the sync ones."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from recollect import Recollect

WORKERS = 4
"""How many async calls of one saver or store run at a time; more would only queue up at the database."""

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U", bound="UsesMemory")


class UsesMemory:
    """A saver or a store on a memory, which it closes only if it opened it itself. Use it as a context manager, or close it."""

    def _use(self, mem: Recollect, owns_mem: bool) -> None:
        self._mem, self._owns_mem = mem, owns_mem
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="recollect-langgraph")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what async callers began; close the memory if it was opened here."""
        self._workers.shutdown()
        if self._owns_mem:
            self._mem.close()

    def setup(self) -> None:
        """Do nothing: the tables are made when a memory is opened. Here because LangGraph's own classes have it."""

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread. A call that is cancelled may still have been carried out."""
        call = partial(contextvars.copy_context().run, partial(function, *args, **kwargs))
        return await asyncio.get_running_loop().run_in_executor(self._workers, call)


def in_background(method: Callable[Concatenate[U, P], T]) -> Callable[Concatenate[U, P], Coroutine[Any, Any, T]]:
    """Return the async twin of a method: it runs the method in a thread."""

    @wraps(method)
    async def run(self: U, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(partial(method, self), *args, **kwargs)

    return run


C = TypeVar("C", bound=UsesMemory)


class Opening(Generic[C]):
    """Something that is opened by ``with`` or by ``async with``, and closed at the end of either."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._opened: C | None = None

    def __enter__(self) -> C:
        self._opened = self._make()
        return self._opened

    def __exit__(self, *error: object) -> None:
        if self._opened is not None:
            self._opened.close()

    async def __aenter__(self) -> C:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self.__exit__, *error)
