"""The same memory for asyncio programs: each method runs in one of a few threads, and the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from recollect.interfaces.python.arguments import ListFilters
from recollect.interfaces.python.memory import Recollect
from recollect.model.record import Memory

P = ParamSpec("P")
T = TypeVar("T")
AT_ONCE = 8
"""How many calls are answered at the same time; more would only wait for the same store."""
END = object()


def _in_thread(
    method: Callable[Concatenate[Recollect, P], T],
) -> Callable[Concatenate[AsyncRecollect, P], Coroutine[Any, Any, T]]:
    """Return the method as one that is awaited."""

    @wraps(method)
    async def call(self: AsyncRecollect, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.in_thread(partial(getattr(self.memory, method.__name__), *args, **kwargs))

    return call


class AsyncRecollect:
    """A memory whose methods are awaited. Give it what ``recollect.open`` or ``recollect.connect`` returned; it closes that.

    A call that is cancelled may still be done: a write that has begun is finished, and its idempotency key settles a retry.
    """

    def __init__(self, memory: Recollect, *, at_once: int = AT_ONCE) -> None:
        self.memory = memory
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="recollect-async")

    async def __aenter__(self) -> AsyncRecollect:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do blocking work in one of the threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def close(self) -> None:
        """Finish what has begun, and close the memory."""
        await self.in_thread(self.memory.close)
        self._threads.shutdown(wait=False)

    async def list_all(self, **filters: Unpack[ListFilters]) -> AsyncIterator[Memory]:
        """Yield every memory that fits, newest first."""
        async for memory in self._each(lambda: self.memory.list_all(**filters)):
            yield memory

    async def export(self, **asked: Any) -> AsyncIterator[str]:
        """Yield the text of a file piece by piece; see :meth:`recollect.Recollect.export`."""
        async for piece in self._each(lambda: self.memory.export(**asked)):
            yield piece

    async def _each(self, begin: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        found = await self.in_thread(begin)
        while (one := await self.in_thread(lambda: next(found, END))) is not END:
            yield one  # type: ignore[misc]

    access_keys = _in_thread(Recollect.access_keys)
    add = _in_thread(Recollect.add)
    add_many = _in_thread(Recollect.add_many)
    ancestors = _in_thread(Recollect.ancestors)
    apply_proposal = _in_thread(Recollect.apply_proposal)
    archive = _in_thread(Recollect.archive)
    audit_file = _in_thread(Recollect.audit_file)
    backup = _in_thread(Recollect.backup)
    chain = _in_thread(Recollect.chain)
    change_header = _in_thread(Recollect.change_header)
    changes = _in_thread(Recollect.changes)
    check_entry = _in_thread(Recollect.check_entry)
    checkpoint = _in_thread(Recollect.checkpoint)
    checkpoints = _in_thread(Recollect.checkpoints)
    common_sources = _in_thread(Recollect.common_sources)
    consent = _in_thread(Recollect.consent)
    consolidate = _in_thread(Recollect.consolidate)
    create_key = _in_thread(Recollect.create_key)
    credit = _in_thread(Recollect.credit)
    decline = _in_thread(Recollect.decline)
    decline_proposal = _in_thread(Recollect.decline_proposal)
    derivatives = _in_thread(Recollect.derivatives)
    descendants = _in_thread(Recollect.descendants)
    difference = _in_thread(Recollect.difference)
    doctor = _in_thread(Recollect.doctor)
    edit = _in_thread(Recollect.edit)
    erase = _in_thread(Recollect.erase)
    erase_with_record = _in_thread(Recollect.erase_with_record)
    erasure_record = _in_thread(Recollect.erasure_record)
    events = _in_thread(Recollect.events)
    explain = _in_thread(Recollect.explain)
    forget = _in_thread(Recollect.forget)
    get = _in_thread(Recollect.get)
    grant = _in_thread(Recollect.grant)
    growth = _in_thread(Recollect.growth)
    history = _in_thread(Recollect.history)
    identities = _in_thread(Recollect.identities)
    identity = _in_thread(Recollect.identity)
    identity_history = _in_thread(Recollect.identity_history)
    import_ = _in_thread(Recollect.import_)
    ledger_root = _in_thread(Recollect.ledger_root)
    lift = _in_thread(Recollect.lift)
    link = _in_thread(Recollect.link)
    link_identity = _in_thread(Recollect.link_identity)
    list = _in_thread(Recollect.list)
    memory_block = _in_thread(Recollect.memory_block)
    new_identity = _in_thread(Recollect.new_identity)
    on_demand_share = _in_thread(Recollect.on_demand_share)
    ops = _in_thread(Recollect.ops)
    outdated = _in_thread(Recollect.outdated)
    parent_hashes = _in_thread(Recollect.parent_hashes)
    permitted = _in_thread(Recollect.permitted)
    phase_diff = _in_thread(Recollect.phase_diff)
    phases = _in_thread(Recollect.phases)
    policy = _in_thread(Recollect.policy)
    preview_erasure = _in_thread(Recollect.preview_erasure)
    promote = _in_thread(Recollect.promote)
    proposals = _in_thread(Recollect.proposals)
    prove = _in_thread(Recollect.prove)
    prove_growth = _in_thread(Recollect.prove_growth)
    query = _in_thread(Recollect.query)  # type: ignore[arg-type]
    rebuild = _in_thread(Recollect.rebuild)
    recall_for = _in_thread(Recollect.recall_for)
    recall_if_unsure = _in_thread(Recollect.recall_if_unsure)
    record = _in_thread(Recollect.record)
    register_identity = _in_thread(Recollect.register_identity)
    reindex = _in_thread(Recollect.reindex)
    reject = _in_thread(Recollect.reject)
    rejections = _in_thread(Recollect.rejections)
    rekey = _in_thread(Recollect.rekey)
    related = _in_thread(Recollect.related)
    resolve = _in_thread(Recollect.resolve)
    restore = _in_thread(Recollect.restore)
    revoke_identity = _in_thread(Recollect.revoke_identity)
    revoke_key = _in_thread(Recollect.revoke_key)
    rotate_identity = _in_thread(Recollect.rotate_identity)
    run = _in_thread(Recollect.run)
    runs = _in_thread(Recollect.runs)
    sign_entry = _in_thread(Recollect.sign_entry)
    snapshot_block = _in_thread(Recollect.snapshot_block)
    start_phase = _in_thread(Recollect.start_phase)
    state_hash = _in_thread(Recollect.state_hash)
    stats = _in_thread(Recollect.stats)
    streams = _in_thread(Recollect.streams)
    supersede = _in_thread(Recollect.supersede)
    traces = _in_thread(Recollect.traces)
    try_policy = _in_thread(Recollect.try_policy)
    turn = _in_thread(Recollect.turn)
    uncovered_entries = _in_thread(Recollect.uncovered_entries)
    undo = _in_thread(Recollect.undo)
    unlink = _in_thread(Recollect.unlink)
    unlink_identity = _in_thread(Recollect.unlink_identity)
    update = _in_thread(Recollect.update)
    upkeep = _in_thread(Recollect.upkeep)
    verify = _in_thread(Recollect.verify)
    vouch = _in_thread(Recollect.vouch)
    vouchers = _in_thread(Recollect.vouchers)
    withdraw_vouch = _in_thread(Recollect.withdraw_vouch)
    worker = _in_thread(Recollect.worker)
