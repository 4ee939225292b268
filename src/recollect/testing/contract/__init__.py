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

from recollect.testing.contract.beside import BesideContract
from recollect.testing.contract.checkpoint_log import CheckpointLogContract
from recollect.testing.contract.concurrency import ConcurrencyContract
from recollect.testing.contract.cursors import CursorsContract
from recollect.testing.contract.ledger import LedgerContract
from recollect.testing.contract.memories import MemoryContract
from recollect.testing.contract.opening import Opening
from recollect.testing.contract.operations import OperationsContract
from recollect.testing.contract.pages import PagesContract
from recollect.testing.contract.provenance import ProvenanceContract
from recollect.testing.contract.rejections import RejectionsContract
from recollect.testing.contract.removal import RemovalContract
from recollect.testing.contract.selection import SelectionContract
from recollect.testing.contract.streams import StreamContract
from recollect.testing.contract.text import TextContract
from recollect.testing.contract.transactions import TransactionContract
from recollect.testing.contract.vectors import RelationsContract, VectorsContract

__all__ = [
    "BesideContract",
    "CheckpointLogContract",
    "ConcurrencyContract",
    "CursorsContract",
    "LedgerContract",
    "MemoryContract",
    "Opening",
    "OperationsContract",
    "PagesContract",
    "ProvenanceContract",
    "RejectionsContract",
    "RelationsContract",
    "RemovalContract",
    "SelectionContract",
    "StoreContract",
    "StreamContract",
    "TextContract",
    "TransactionContract",
    "VectorsContract",
]


class StoreContract(
    StreamContract,
    LedgerContract,
    MemoryContract,
    SelectionContract,
    TextContract,
    BesideContract,
    RemovalContract,
    TransactionContract,
    ConcurrencyContract,
    OperationsContract,
    CursorsContract,
    ProvenanceContract,
    VectorsContract,
    RelationsContract,
    RejectionsContract,
    CheckpointLogContract,
    PagesContract,
):
    """Everything that a store must do."""
