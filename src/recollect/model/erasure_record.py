"""The receipt of an erasure as a document that stands on its own: canonical JSON of an exact shape, signed where a key is given.

It says what was removed by opaque ids, who asked by the uid under which they act in the ledger, and which entries of the ledger
say so. It holds no name, no word, no salt and no hash of anything that was erased.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from recollect.model.proof import (
    MAX_SIGNATURES,
    Checkpoint,
    Count,
    Document,
    Hash,
    MemoryId,
    Number,
    Signature,
    Time,
    Uid,
    Word,
)


class DerivedFate(Document):
    """A memory that was made of an erased one, or names the erased person: how, and what became of it."""

    id: MemoryId
    how: tuple[
        Literal[
            "built_upon", "promoted", "summary", "taken_from", "written_for", "acted", "agent", "vouched", "thread"
        ],
        ...,
    ]
    became: Literal["kept", "review", "erased"]


class ErasureEntry(Document):
    """An entry of the ledger that is part of the erasure: ``ledger prove`` shows the same hash at the same place."""

    stream: Uid
    seq: Count
    event: Literal["erased", "severed", "archived"]
    memory: MemoryId
    hash: Hash


class ErasureRecord(Document):
    """What an erasure did. ``checkpoint`` covers its entries; ``None`` where whoever asked may not take one.

    ``authored`` stands there only where there is something in it: receipts from before it are read and signed as they were.
    """

    format: Literal["recollect-erasure/1"] = "recollect-erasure/1"
    at: Time
    asked_by: Hash | None
    policy: Literal["keep", "review", "erase"]
    removed: tuple[MemoryId, ...]
    remaining: tuple[MemoryId, ...]
    derived: tuple[DerivedFate, ...]
    streams: Number
    owner_names_removed: Number
    actor_names_removed: Number
    traces_removed: Number
    links_cut: Number
    entries: tuple[ErasureEntry, ...]
    beyond_reach: tuple[Word, ...]
    checkpoint: Checkpoint | None
    authored: tuple[MemoryId, ...] = ()
    signatures: Annotated[tuple[Signature, ...], Field(max_length=MAX_SIGNATURES)] = ()

    @model_serializer(mode="wrap")
    def _without_nothing(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = written(self)
        return {name: value for name, value in fields.items() if name != "authored" or value}
