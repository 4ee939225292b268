"""The store contract: what every store must do, as a test suite that anyone can run against their own.

Subclass :class:`StoreContract` under a name that pytest collects, and say how a store is opened::

    from recollect.testing.contract import StoreContract

    class TestMyStore(StoreContract):
        def open_store(self, folder):
            return MyStore(folder / "memory")

        def open_again(self, location):
            return MyStore(location)

Each base class is one capability of :mod:`recollect.stores.protocol`, and can be run by itself. Needs pytest.
"""

from recollect.testing.contract.ledger import CheckpointLogContract, LedgerContract, PagesContract
from recollect.testing.contract.memories import MemoryContract, RemovalContract
from recollect.testing.contract.provenance import ProvenanceContract, RejectionsContract
from recollect.testing.contract.runs import RunsContract
from recollect.testing.contract.selection import SelectionContract
from recollect.testing.contract.streams import CursorsContract, StreamContract
from recollect.testing.contract.text import TextContract
from recollect.testing.contract.traces import OperationsContract, TracesContract
from recollect.testing.contract.transactions import ConcurrencyContract, TransactionContract
from recollect.testing.contract.vectors import RelationsContract, VectorsContract
from recollect.testing.contract.worker import WorkerContract
from recollect.testing.stores import StoreUnderTest

__all__ = [
    "CheckpointLogContract",
    "ConcurrencyContract",
    "CursorsContract",
    "LedgerContract",
    "MemoryContract",
    "OperationsContract",
    "PagesContract",
    "ProvenanceContract",
    "RejectionsContract",
    "RelationsContract",
    "RemovalContract",
    "RunsContract",
    "SelectionContract",
    "StoreContract",
    "StoreUnderTest",
    "StreamContract",
    "TextContract",
    "TracesContract",
    "TransactionContract",
    "VectorsContract",
    "WorkerContract",
]


class StoreContract(
    StreamContract,
    LedgerContract,
    MemoryContract,
    SelectionContract,
    TextContract,
    TracesContract,
    RemovalContract,
    TransactionContract,
    ConcurrencyContract,
    OperationsContract,
    RunsContract,
    CursorsContract,
    ProvenanceContract,
    VectorsContract,
    RelationsContract,
    RejectionsContract,
    CheckpointLogContract,
    PagesContract,
    WorkerContract,
):
    """Everything that a store must do."""
