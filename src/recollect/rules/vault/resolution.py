"""What a vault's lines amount to: each id stands where its highest version says."""

from collections.abc import Iterable, Mapping
from typing import Any

from recollect.rules.vault.memory import VaultMemory

Record = Mapping[str, Any]


def resolve(known: Mapping[str, VaultMemory], records: Iterable[Record]) -> dict[str, Record]:
    """The records, by id, that hold from now on. Of two lines of one version the later one does."""
    news: dict[str, Record] = {}
    for record in records:
        id = record["id"]
        version = version_of(record)
        before = version_of(news[id]) if id in news else known[id].version if id in known else version
        if version >= before:
            news[id] = record
    return news


def still_needed(records: Iterable[Record]) -> list[int]:
    """The numbers of the lines that a compacted file keeps, in order: of each memory that is not deleted the latest."""
    latest: dict[str, tuple[int, Record]] = {}
    for number, record in enumerate(records):
        known = latest.get(record["id"])
        if known is None or version_of(record) >= version_of(known[1]):
            latest[record["id"]] = number, record
    return sorted(number for number, record in latest.values() if not record.get("deleted_at"))


def version_of(record: Record) -> int:
    version: int = record.get("version", 1)
    return version
