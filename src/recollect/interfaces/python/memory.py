"""The class that an application works with: an open store, seen by one caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from recollect.engine.context import Engine
from recollect.engine.retries import once
from recollect.engine.trust.access_keys import bound_caller, caller_of_key
from recollect.engine.waiting import waiting_rows
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.activity import Activity
from recollect.interfaces.python.care import Care
from recollect.interfaces.python.reading import Reading
from recollect.interfaces.python.trust import Trust
from recollect.interfaces.python.turns import Turns
from recollect.interfaces.python.writing import Writing
from recollect.model.caller import Caller, Right
from recollect.model.errors import NotAllowed

_BOUND_RIGHTS = frozenset({Right.READ, Right.WRITE})


if TYPE_CHECKING:
    from recollect.engine.lifecycle import erasure
else:
    (erasure,) = lazy("recollect.engine.lifecycle", "erasure")


class Recollect(Writing, Reading, Turns, Activity, Care, Trust):
    """An open memory store, made by :func:`recollect.open`. Use it as a context manager, or close it.

    Methods that take an ``id`` also take its first digits (twelve are always enough), an alias, or the content hash or CID
    of a memory whose words no other memory has.
    """

    def __init__(self, engine: Engine, *, owns_store: bool = True) -> None:
        self._engine = engine
        self._owns_store = owns_store
        self._closed = False
        self._tenants = {engine.tenant}

    @property
    def engine(self) -> Engine:
        """The engine that every method calls, for those who build another interface."""
        return self._engine

    @property
    def caller(self) -> Caller:
        """The caller whose rights and borders hold for every method."""
        return self._engine.caller

    def __enter__(self) -> Recollect:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write pending counters and traces, and close the store. A view made by ``as_caller`` has nothing to close.

        Every later call, of this or of such a view, raises :class:`recollect.StoreClosed`.
        """
        if self._owns_store and not self._closed:
            self._closed = True
            waiting_rows(self._engine).close()
            self._engine.close()

    def as_caller(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        ai_profile: str | None = None,
        projects: Iterable[str] = (),
        rights: Iterable[str] = _BOUND_RIGHTS,
    ) -> Recollect:
        """Return the same store as one caller may see it: borders hold, and authority comes from who the caller is.

        Without a ``user`` the agent works with the memory of the owner ``default``.
        """
        if not self._engine.caller.trusted:
            raise NotAllowed("a bound caller cannot become another.", hint="Ask the application that opened the store.")
        caller = bound_caller(
            self._engine,
            agent=agent,
            user=user,
            session=session,
            ai_profile=ai_profile,
            projects=projects,
            rights=rights,
        )
        return Recollect(self._engine.seen_by(caller), owns_store=False)

    def at_revision(self, revision: str) -> Recollect:
        """Return the same store for one change of one memory, refused if that memory's ``revision`` is no longer this one.

        So if two people edit a memory at once, the second gets :class:`recollect.OutOfDate` and overwrites nothing.
        """
        return Recollect(replace(self._engine, revision=revision), owns_store=False)

    def once(self, idempotency_key: str, request: str, work: Callable[[Recollect], str]) -> str:
        """Make a change under an idempotency key, and return its answer, or the kept one if the same request was made before.

        For servers: ``request`` is all that was asked, ``work`` makes the change with the store that it is given. The key is the
        caller's own, and holds after a restart and in every process. The same key for another request is
        :class:`recollect.RetryMismatch`.
        """
        return once(self._engine, idempotency_key, request, lambda engine: work(Recollect(engine, owns_store=False)))

    def with_key(self, key: str, *, session: str | None = None) -> Recollect:
        """Return the same store as the caller that a key stands for may see it; the key may be another tenant's.

        For servers: what a request says of itself can then only narrow what its key may see. A ``session`` belongs to the key's
        user: with ana's key ``s1`` is the session ``ana/s1``, and ``ben/s1`` is out of reach.
        """
        if not self._engine.caller.trusted:
            raise NotAllowed("a bound caller cannot become another.", hint="Ask the application that opened the store.")
        caller = caller_of_key(self._engine, key, session)
        if caller.tenant not in self._tenants:
            erasure.replay_erasures(self._engine.seen_by(Caller(tenant=caller.tenant)))
            self._tenants.add(caller.tenant)
        return Recollect(self._engine.seen_by(caller), owns_store=False)
