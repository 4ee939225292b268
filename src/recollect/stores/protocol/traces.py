"""Governance events, and the answers that are kept for those who ask again."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Protocol

from recollect.stores.protocol.streams import Stream


class TracesWanted(NamedTuple):
    """Which governance events a read is about; ``None`` is any. Those at ``since`` or later, numbered below ``before``."""

    session: str | None = None
    type: str | None = None
    memory: str | None = None
    """The whole id of a memory that is named anywhere in them."""
    since: str = ""
    before: int = 2**62


ANY_TRACE = TracesWanted()


class ReadsTraces(Protocol):
    def traces(
        self, tenant: str, after: int = 0, limit: int = 100, wanted: TracesWanted = ANY_TRACE, *, latest: bool = False
    ) -> list[dict[str, Any]]:
        """Kept events that fit, oldest first: the first ones after a number, or the ``latest``."""
        ...

    def retry(self, tenant: str, key: str) -> dict[str, Any] | None:
        """The answer that was given under an idempotency key."""
        ...


class KeepsTraces(Protocol):
    def keep_trace(
        self, tenant: str, trace: Mapping[str, Any], at: str, stream: int | None, policy: tuple[str, str] | None
    ) -> None:
        """Keep an event with the policy that it was decided under, as ``(hash, text)``; each policy is kept once."""
        ...

    def remove_traces_of_stream(self, stream: Stream) -> int: ...
    def remove_traces_naming(self, tenant: str, names: Collection[str]) -> int:
        """Remove the events that bear one of these names, whatever they are about; returns how many."""
        ...

    def remove_old_traces(self, tenant: str, before: str, max_kept: int | None) -> int:
        """Remove events from before a time, and all but the latest ``max_kept`` (``None``: no limit); returns how many."""
        ...

    def keep_retry(self, tenant: str, key: str, answer: Mapping[str, Any]) -> None:
        """Keep the answer that was given under an idempotency key."""
        ...
