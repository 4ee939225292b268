"""Documents that can be checked without the store: checkpoints, proofs of the log, and receipts of erasures."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from recollect.model.canonical import canonical_json
from recollect.model.ledger import Entry

MAX_LEVELS = 64
MAX_SIGNATURES = 64

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Uid = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
MemoryId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
Time = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$")]
Word = Annotated[str, Field(min_length=1, max_length=1_000)]
Number = Annotated[int, Field(ge=0, lt=2**63)]
Count = Annotated[int, Field(ge=1, lt=2**63)]


class Document(BaseModel):
    """A record of exactly these fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump()

    @property
    def text(self) -> str:
        """Its canonical form."""
        return canonical_json(self.model_dump())


class StreamLeaf(Document):
    """One stream in a checkpoint: its entries from ``from_seq`` to ``to_seq`` end in the hash ``head``.

    ``root`` is the head of a tree over these entries, so that each of them can be shown without the others.
    """

    leaf: Literal["stream"] = "stream"
    stream: Uid
    from_seq: Count
    to_seq: Count
    head: Hash
    root: Hash


class KeyLeaf(Document):
    """What became of a public key, and for whom: ``actor`` is the opaque uid under which that one acts in the ledger."""

    leaf: Literal["key"] = "key"
    key: Hash
    event: Literal["registered", "rotated", "revoked"]
    actor: Hash
    at: Time
    next: Hash | None = None
    """The key that replaces it, if any."""


Leaf = Annotated[StreamLeaf | KeyLeaf, Field(discriminator="leaf")]


class Signature(Document):
    """An Ed25519 signature and the public key that it was made under."""

    key: Hash
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Checkpoint(Document):
    """A log as it stood: so many leaves, under this root. Kept somewhere else, it reveals every later rewrite."""

    format: Literal["recollect-checkpoint/1"] = "recollect-checkpoint/1"
    log: Uid
    size: Count
    root: Hash
    at: Time
    signatures: Annotated[tuple[Signature, ...], Field(max_length=MAX_SIGNATURES)] = ()


class ProvenEntry(Document):
    """A ledger entry, field by field."""

    stream: Uid
    seq: Count
    tick: Number
    event: Word
    memory_id: MemoryId
    other_id: MemoryId | None
    from_status: Word | None
    to_status: Word | None
    rule: Word
    rules_version: Number
    commitment: Hash | None
    actor: Hash
    at: Time
    prev_hash: Hash
    hash: Hash

    def computed_hash(self) -> str:
        """Return what its fields give, as the ledger computes it."""
        return Entry(**self.model_dump()).computed_hash()


Path = Annotated[tuple[Hash, ...], Field(max_length=MAX_LEVELS)]


class PlacedEntry(Document):
    """An entry, and its path in the tree over the entries of its leaf: its place there is its ``seq``."""

    entry: ProvenEntry
    path: Path


class Segment(Document):
    """A leaf at its place in the log, and those of its entries that are about the memory."""

    place: Number
    leaf: StreamLeaf
    path: Path
    entries: Annotated[tuple[PlacedEntry, ...], Field(min_length=1)]


class Value(Document):
    """What the entry at a place of its stream committed to: the exact text, and the salt that was hashed before it."""

    stream: Uid
    seq: Count
    body: str
    salt: Annotated[str, Field(pattern=r"^([0-9a-f]{2}){8,64}$")]


class MemoryProof(Document):
    """That the log under a checkpoint holds these entries about a memory, and that they commit to these values."""

    format: Literal["recollect-proof/1"] = "recollect-proof/1"
    kind: Literal["memory"] = "memory"
    memory: MemoryId
    checkpoint: Checkpoint
    segments: Annotated[tuple[Segment, ...], Field(min_length=1)]
    values: tuple[Value, ...] = ()


class GrowthProof(Document):
    """That the log under the second checkpoint begins with the log under the first: nothing was rewritten between them."""

    format: Literal["recollect-proof/1"] = "recollect-proof/1"
    kind: Literal["growth"] = "growth"
    first: Checkpoint
    second: Checkpoint
    path: Path


class PlacedKey(Document):
    """What became of a key, at its place in the log, with its path to the root of the checkpoint."""

    place: Number
    leaf: KeyLeaf
    path: Path


class KeyHistory(Document):
    """What became of every key up to a checkpoint, signed by somebody who answers for its completeness."""

    format: Literal["recollect-keys/1"] = "recollect-keys/1"
    checkpoint: Checkpoint
    keys: tuple[PlacedKey, ...]
    signatures: Annotated[tuple[Signature, ...], Field(min_length=1, max_length=MAX_SIGNATURES)]


class ProofCheck(Document):
    """The outcome of checking a document: what it shows, or why it is refused."""

    ok: bool
    kind: str
    shows: tuple[str, ...] = ()
    problem: str | None = None


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
    """What an erasure did. ``checkpoint`` covers its entries; ``None`` where the caller may not take one.

    ``authored`` is left out if it is empty.
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
    def _drop_empty(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = written(self)
        return {name: value for name, value in fields.items() if name != "authored" or value}
