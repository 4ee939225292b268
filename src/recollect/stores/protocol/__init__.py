"""What a store can do. The contract suite in :mod:`recollect.testing` checks every line of it.

A store knows rows and transactions, and nothing about policy. ``read()`` gives a consistent snapshot, ``write()`` the
one transaction in which an operation acts. The SQL stores share their mapping of rows in :mod:`recollect.stores.sql`.
"""

from recollect.stores.protocol.reader import Reader as Reader
from recollect.stores.protocol.rows import *  # noqa: F403
from recollect.stores.protocol.store import MIGRATING_FROM as MIGRATING_FROM
from recollect.stores.protocol.store import Store as Store
from recollect.stores.protocol.writer import Writer as Writer
