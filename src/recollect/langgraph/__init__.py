"""LangGraph on Recollect: a checkpointer and a store over the same governed memory.

::


    with RecollectSaver.from_conn_string("memory.db") as saver, RecollectStore.from_conn_string("memory.db") as store:
        graph = builder.compile(checkpointer=saver, store=store)

It needs the extra ``langgraph``.
"""

from recollect.model.errors import how_to_install

try:
    import langgraph.checkpoint.base
    import langgraph.store.base  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"recollect.langgraph needs LangGraph, which is not installed. {how_to_install('langgraph')}", name=missing.name
    ) from missing

from recollect.engine.graphs import Retention
from recollect.langgraph.saver import ImportedCheckpoints, RecollectSaver, ThreadHead, ThreadState, import_checkpoints
from recollect.langgraph.store import RecollectStore

__all__ = [
    "ImportedCheckpoints",
    "RecollectSaver",
    "RecollectStore",
    "Retention",
    "ThreadHead",
    "ThreadState",
    "import_checkpoints",
]
