"""Checking what a store handed out, without the store: checkpoints, proofs of a memory, proofs of growth.

All of it works on the document, the public keys that the reader trusts, and a checkpoint that the reader kept. A document is
read strictly: what is not exactly as it should be is refused, and the reason says where.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from recollect.model.ledger import GENESIS, commit_to
from recollect.model.proof import (
    Checkpoint,
    Document,
    GrowthProof,
    KeyLeaf,
    Leaf,
    MemoryProof,
    ProofCheck,
    ProvenEntry,
    Segment,
    StreamLeaf,
    Value,
)
from recollect.rules.identities import checkpoint_bytes, holds
from recollect.rules.merkle import BadProof, check_consistency, check_inclusion, leaf_hash

KINDS: Mapping[tuple[str, str | None], type[Document]] = {
    ("recollect-checkpoint/1", None): Checkpoint,
    ("recollect-proof/1", "memory"): MemoryProof,
    ("recollect-proof/1", "growth"): GrowthProof,
}
_leaf: TypeAdapter[StreamLeaf | KeyLeaf] = TypeAdapter(Leaf)
D = TypeVar("D", bound=Document)


def check(text: str, keys: Collection[str] = (), kept: Checkpoint | None = None) -> ProofCheck:
    """What a document shows to somebody who trusts these public keys, or kept this checkpoint; or why it is refused.

    Without either there is nothing to hold it against, and it is refused: anybody can build a tree.
    """
    kind = "unreadable"
    try:
        document = read_document(text)
        kind = _kind(document)
        return ProofCheck(ok=True, kind=kind, shows=tuple(_shown(document, keys, kept)))
    except BadProof as error:
        return ProofCheck(ok=False, kind=kind, problem=str(error))


def _kind(document: Document) -> str:
    return document.kind if isinstance(document, MemoryProof | GrowthProof) else "checkpoint"


def _shown(document: Document, keys: Collection[str], kept: Checkpoint | None) -> list[str]:
    if isinstance(document, GrowthProof):
        return _growth(document, keys, kept)
    if isinstance(document, MemoryProof):
        return _memory(document, keys, kept)
    assert isinstance(document, Checkpoint), "every kind of document is one of these"
    return _trusted(document, keys, kept, "the checkpoint")


# ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_document(text: str) -> Document:
    """A checkpoint or a proof, of exactly the shape that it says it has."""
    found = _parsed(text)
    if not isinstance(found, dict):
        raise BadProof("it is not a JSON object")
    form, kind = found.get("format"), found.get("kind")
    known = KINDS.get((form, kind)) if isinstance(form, str) and isinstance(kind, str | None) else None
    if known is None:
        raise BadProof(f"format: {_short(form)} with kind {_short(kind)} is no document that this release knows")
    document = _validated(known, text)
    if json.loads(document.text) != found:
        raise BadProof("a field is missing: every one has to be there, even where it is empty")
    return document


def read_checkpoint(text: str) -> Checkpoint:
    """A checkpoint that somebody kept."""
    document = read_document(text)
    if not isinstance(document, Checkpoint):
        raise BadProof("it is a proof, and not a checkpoint")
    return document


def read_leaf(text: str) -> StreamLeaf | KeyLeaf:
    """A leaf from its canonical text; any other text, even of the same meaning, would hash to another leaf."""
    try:
        leaf = _leaf.validate_json(text)
    except ValidationError as error:
        raise BadProof(_first_fault(error)) from None
    if leaf.text != text:
        raise BadProof("it is not in canonical form")
    return leaf


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each)
    except json.JSONDecodeError as error:
        raise BadProof(f"line {error.lineno}: it is not JSON: {error.msg}") from None
    except RecursionError:
        raise BadProof("it is nested too deeply") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise BadProof(f"the field {next(n for n in names if names.count(n) > 1)!r} is given twice")
    return found


def _validated(kind: type[D], text: str) -> D:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise BadProof(_first_fault(error)) from None


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}…"


# ── whom to believe ─────────────────────────────────────────────────────────────────────────────────────────────────


def _trusted(checkpoint: Checkpoint, keys: Collection[str], kept: Checkpoint | None, what: str) -> list[str]:
    """Why a checkpoint is to be believed: it is the one that was kept, or a trusted key signed it."""
    if not keys and kept is None:
        raise BadProof("there is nothing to hold it against: give a public key, or a checkpoint that was kept")
    signers = check_signatures(checkpoint, what)
    said = []
    if kept is not None:
        _check_kept(checkpoint, kept, what)
        said.append(f"{what} is the one that was kept: {checkpoint.size} leaves")
    if keys:
        found = sorted(set(keys) & set(signers))
        if not found:
            raise BadProof(f"{what} is not signed by the key that was given")
        said.append(f"{what} of {checkpoint.size} leaves is signed by {found[0][:12]}")
    return said


def check_signatures(checkpoint: Checkpoint, what: str = "the checkpoint") -> list[str]:
    """The keys that signed it. One signature that does not hold spoils it: nobody adds one by mistake."""
    message, keys = checkpoint_bytes(checkpoint), [one.key for one in checkpoint.signatures]
    if len(set(keys)) != len(keys):
        raise BadProof(f"{what} is signed twice by the same key")
    for signature in checkpoint.signatures:
        if not holds(signature, message):
            raise BadProof(f"{what}: the signature of {signature.key[:12]} does not hold")
    return keys


def _check_kept(checkpoint: Checkpoint, kept: Checkpoint, what: str) -> None:
    check_signatures(kept, "the checkpoint that was kept")
    if checkpoint.log != kept.log:
        raise BadProof(f"{what} is of another log than the one that was kept")
    if checkpoint.size != kept.size:
        raise BadProof(
            f"{what} has {checkpoint.size} leaves and the one that was kept {kept.size}: ask for a proof of growth"
        )
    if checkpoint.root != kept.root:
        raise BadProof(f"{what} has another root than the one that was kept: the log was rewritten")
    if checkpoint.at != kept.at:
        raise BadProof(f"{what} has another time than the one that was kept")


# ── a proof of growth ───────────────────────────────────────────────────────────────────────────────────────────────


def _growth(proof: GrowthProof, keys: Collection[str], kept: Checkpoint | None) -> list[str]:
    """The first checkpoint is held against the kept one, the second against the keys; one of the two is enough."""
    if proof.first.log != proof.second.log:
        raise BadProof("its two checkpoints are of different logs")
    if proof.first.at > proof.second.at:
        raise BadProof("its first checkpoint is later than its second")
    said = _trusted(proof.first, keys if kept is None else (), kept, "the first checkpoint")
    said += _trusted(proof.second, keys, None, "the second checkpoint") if keys else []
    check_signatures(proof.second, "the second checkpoint")
    check_consistency(proof.first.size, proof.second.size, proof.first.root, proof.second.root, proof.path)
    grown = proof.second.size - proof.first.size
    return [*said, f"the log only grew between them, by {grown} leaves: nothing before was changed"]


# ── a proof of a memory ─────────────────────────────────────────────────────────────────────────────────────────────


def _memory(proof: MemoryProof, keys: Collection[str], kept: Checkpoint | None) -> list[str]:
    said = _trusted(proof.checkpoint, keys, kept, "the checkpoint")
    _check_order(proof.segments)
    for number, segment in enumerate(proof.segments):
        _check_segment(segment, proof, f"segments.{number}")
    entries = {(one.stream, one.seq): one for segment in proof.segments for one in segment.entries}
    about = sorted((one for one in entries.values() if _is_about(one, proof.memory)), key=lambda one: (one.at, one.seq))
    values = [_check_value(value, entries, proof.memory, f"values.{n}") for n, value in enumerate(proof.values)]
    if len(set(values)) != len(values):
        raise BadProof("values: the same entry's value is given twice")
    said += [f"entry {one.seq} of stream {one.stream[:12]}: {one.event} at {one.at}" for one in about]
    return [*said, f"{len(values)} of the values that these entries commit to are included, and are the ones"]


def _is_about(entry: ProvenEntry, memory: str) -> bool:
    return memory in (entry.memory_id, entry.other_id)


def _check_order(segments: Sequence[Segment]) -> None:
    places = [segment.place for segment in segments]
    if places != sorted(set(places)):
        raise BadProof("segments: they are not in the order of their places, once each")


def _check_segment(segment: Segment, proof: MemoryProof, where: str) -> None:
    leaf, entries = segment.leaf, segment.entries
    check_chain(entries, where)
    last = entries[-1]
    if any(one.stream != leaf.stream for one in entries):
        raise BadProof(f"{where}: an entry belongs to another stream than its leaf")
    if entries[0].seq < leaf.from_seq or (last.seq, last.hash) != (leaf.to_seq, leaf.head):
        raise BadProof(f"{where}: its entries are not those that the leaf covers: they do not end in its head")
    if not _is_about(entries[0], proof.memory):
        raise BadProof(f"{where}: its first entry is not about the memory")
    if (entries[0].seq == 1) != (entries[0].prev_hash == GENESIS):
        raise BadProof(f"{where}: only the first entry of a stream follows nothing")
    try:
        check_inclusion(
            leaf_hash(leaf.text.encode()), segment.place, proof.checkpoint.size, segment.path, proof.checkpoint.root
        )
    except BadProof as error:
        raise BadProof(f"{where}.path: {error}") from None


def check_chain(entries: Sequence[ProvenEntry], where: str) -> None:
    """Raise unless every entry gives its own hash and follows the one before it."""
    for number, entry in enumerate(entries):
        if entry.hash != entry.computed_hash():
            raise BadProof(f"{where}.entries.{number}: its fields do not give its hash")
        before = entries[number - 1] if number else None
        if before is not None and (entry.seq, entry.prev_hash) != (before.seq + 1, before.hash):
            raise BadProof(f"{where}.entries.{number}: it does not follow the entry before it")


def _check_value(
    value: Value, entries: Mapping[tuple[str, int], ProvenEntry], memory: str, where: str
) -> tuple[str, int]:
    entry = entries.get((value.stream, value.seq))
    if entry is None or entry.memory_id != memory:
        raise BadProof(f"{where}: the proof has no entry about the memory that could bring it")
    if entry.commitment != commit_to(bytes.fromhex(value.salt), value.body):
        raise BadProof(f"{where}: it is not what entry {entry.seq} committed to")
    return value.stream, value.seq


# ── the log against the ledger ──────────────────────────────────────────────────────────────────────────────────────


def uncovering(leaves: Sequence[StreamLeaf], hashes: Sequence[str]) -> str | None:
    """What is wrong between a stream's leaves, in their order, and the hashes of its entries; ``None`` if nothing is."""
    reached = 0
    for leaf in leaves:
        if leaf.from_seq != reached + 1 or leaf.to_seq < leaf.from_seq:
            return f"its leaves do not follow each other: one covers entries {leaf.from_seq} to {leaf.to_seq}"
        if leaf.to_seq > len(hashes):
            return f"a checkpoint covers {leaf.to_seq} entries, and {len(hashes)} are there: its end was cut off"
        if hashes[leaf.to_seq - 1] != leaf.head:
            return f"entry {leaf.to_seq} is not the one that a checkpoint covers: history was rewritten"
        reached = leaf.to_seq
    return None
