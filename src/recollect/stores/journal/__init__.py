"""The vault's file as a durable log: one JSON object a line, appended under a lock, read again where one left off."""

from recollect.stores.journal.log import JournalLog, Rewritten
from recollect.stores.journal.store import JournalStore

__all__ = ["JournalLog", "JournalStore", "Rewritten"]
