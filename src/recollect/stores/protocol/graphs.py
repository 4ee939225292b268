"""The checkpoints of graphs, as far as the engine has to do with them: erasing somebody erases their threads."""

from collections.abc import Sequence
from typing import Protocol


class ReadsGraphs(Protocol):
    def graph_thread_uids(self, tenant: str, user_id: str | None = None) -> list[str]:
        """The threads of a user's graphs, or of everybody's, by their opaque uids."""
        ...


class RemovesGraphs(Protocol):
    def remove_graph_threads(self, tenant: str, uids: Sequence[str], *, for_good: bool = False) -> None:
        """Remove threads with all their checkpoints; ``for_good`` has their bytes scrubbed from the files too."""
        ...
