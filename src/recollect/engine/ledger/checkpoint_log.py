"""Keep checkpoints of the ledger in a log that only grows, give proofs from it, and audit it."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from recollect.engine.context import Engine, find
from recollect.engine.retries import again_on_conflict
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed, NotFound, StoreCorrupt, WrongState
from recollect.model.ledger import GENESIS
from recollect.model.proof import (
    Checkpoint,
    GrowthProof,
    KeyLeaf,
    MemoryProof,
    PlacedEntry,
    ProvenEntry,
    Segment,
    Signature,
    StreamLeaf,
    Value,
)
from recollect.model.receipt import Problem
from recollect.rules.ledger import merkle
from recollect.rules.ledger.proofs import check_signatures, entry_leaf, read_leaf
from recollect.rules.trust.signatures import Placed, Standing, checkpoint_bytes, public_key, sign, standing
from recollect.rules.trust.signers import Signers
from recollect.stores.protocol import LogCheckpoint, LogLeaf, LogSignature, Reader, Stored, Stream, Writer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENTRIES_AT_A_TIME = 5_000
LOG_UID_BYTES = 16


@again_on_conflict
def checkpoint(engine: Engine, key: "Ed25519PrivateKey | None" = None) -> Checkpoint:
    """Cover what was written since the last checkpoint, and sign it if a key is given; keep the answer elsewhere.

    Each chain is followed before it is covered, so that no checkpoint covers a broken chain. If nothing was written since,
    the last checkpoint is returned, with the key's signature added to it.
    """
    engine.require(Right.OPERATE, "take a checkpoint")
    reached = follow_chains(engine)
    with engine.write() as writer:
        writer.lock_log(engine.tenant)
        return extend_log(engine, writer, (), () if key is None else (key,), reached)


class Reached(NamedTuple):
    """How far a chain was followed, the hash that it had there, and the tree over the entries since its last leaf."""

    seq: int
    hash: str
    tree: merkle.Tree


def follow_chains(engine: Engine) -> dict[str, Reached]:
    """Follow every chain beyond its last leaf, before the log is locked and others have to wait."""
    with engine.read() as reader:
        return {uid: point for uid, (_, point) in _find_uncovered(reader, engine.tenant, {}).items()}


def extend_log(
    engine: Engine,
    writer: Writer,
    keys: Sequence[KeyLeaf],
    signers: "Sequence[Ed25519PrivateKey]",
    reached: Mapping[str, Reached],
) -> Checkpoint:
    """Append leaves for uncovered entries, then for changes of keys; return the checkpoint over them, signed.

    The transaction has locked the log; chains are followed from where they were ``reached`` before.
    """
    leaves: list[StreamLeaf | KeyLeaf] = [
        StreamLeaf(stream=uid, from_seq=covered + 1, to_seq=point.seq, head=point.hash, root=point.tree.head)
        for uid, (covered, point) in _find_uncovered(writer, engine.tenant, reached).items()
    ]
    leaves += keys
    last = writer.log_checkpoint(engine.tenant)
    if leaves:
        last = _append_leaves(engine, writer, leaves, last)
    elif last is None:
        raise WrongState("there is nothing to cover yet.", hint="Remember something first.")
    changed = {leaf.key for leaf in keys}
    for signer in signers:
        _sign(engine, writer, last, signer, last.size - 1 if public_key(signer) in changed else None)
    return _with_signatures(writer, engine.tenant, last)


def _append_leaves(
    engine: Engine, writer: Writer, leaves: Sequence[StreamLeaf | KeyLeaf], last: LogCheckpoint | None
) -> LogCheckpoint:
    there = writer.log_leaves(engine.tenant)
    if len(there) != (last.size if last else 0):
        raise _corrupt_chain("its log does not end where its last checkpoint does")
    new = [
        LogLeaf(place, leaf.leaf, leaf.stream if isinstance(leaf, StreamLeaf) else leaf.key, leaf.text)
        for place, leaf in enumerate(leaves, start=len(there))
    ]
    log = last.log if last else engine.randomness.bytes(LOG_UID_BYTES).hex()
    root = merkle.tree_head(hashes_of([*there, *new]))
    made = LogCheckpoint(len(there) + len(new), log, root, max(engine.now(), last.at if last else ""))
    writer.extend_log(engine.tenant, new)
    writer.add_log_checkpoint(engine.tenant, made)
    return made


def hashes_of(leaves: Sequence[LogLeaf]) -> list[str]:
    """Return the hashes of leaves in the tree."""
    return [merkle.leaf_hash(leaf.body.encode("utf-8")) for leaf in leaves]


def _sign(engine: Engine, writer: Writer, made: LogCheckpoint, signer: "Ed25519PrivateKey", place: int | None) -> None:
    """Sign a checkpoint with a key that counts at this place of the log; ``None`` is now."""
    key = public_key(signer)
    check_may_sign(key, key_history(writer, engine.tenant, key), place)
    signature = sign(signer, checkpoint_bytes(document_of(made)))
    writer.add_log_signature(engine.tenant, LogSignature(made.size, *signature.model_dump().values()))


def check_may_sign(key: str, history: Sequence[Placed], place: int | None = None) -> None:
    """Raise unless a key with this history counts at this place of the log; ``None`` is now."""
    worth = standing(history, place)
    if worth is not Standing.GOOD:
        hint = "`recollect identity list` shows the keys that may."
        raise NotAllowed(f"the key {key[:12]} is {worth}, and may not sign.", field="key", hint=hint)


def document_of(made: LogCheckpoint, signatures: Sequence[LogSignature] = ()) -> Checkpoint:
    """Return a checkpoint as it is handed out."""
    signed = tuple(Signature(key=one.key, signature=one.signature) for one in signatures)
    try:
        return Checkpoint(**made._asdict(), signatures=signed)
    except ValidationError as error:
        what = f"checkpoint {made.size} is damaged: its {error.errors()[0]['loc'][0]} cannot be read."
        raise StoreCorrupt(what, hint="One that was kept elsewhere still counts. Restore a backup.") from None


def _with_signatures(reader: Reader, tenant: str, made: LogCheckpoint) -> Checkpoint:
    return document_of(made, reader.log_signatures(tenant, made.size))


def _find_uncovered(reader: Reader, tenant: str, reached: Mapping[str, Reached]) -> dict[str, tuple[int, Reached]]:
    """Return, for each stream with entries beyond its last leaf, where that leaf ends and where the chain ends now."""
    covered = covered_streams(reader, tenant)
    found = {}
    for stream in sorted(reader.streams_of(tenant), key=lambda one: one.number):
        leaf, point = covered.get(stream.uid), reached.get(stream.uid)
        seq, head = (leaf.to_seq, leaf.head) if leaf else (0, GENESIS)
        if stream.last_seq > seq:
            if point is None or point.seq - point.tree.size != seq:  # another checkpoint was taken meanwhile
                point = Reached(seq, head, merkle.Tree())
            found[stream.uid] = seq, _follow_chain(reader, stream, point)
    return found


def covered_streams(reader: Reader, tenant: str) -> dict[str, StreamLeaf]:
    """Return the last leaf about each stream, by its uid."""
    leaves = (_read_leaf(one) for one in reader.last_log_leaves(tenant))
    return {leaf.stream: leaf for leaf in leaves if isinstance(leaf, StreamLeaf)}


def _read_leaf(one: LogLeaf) -> StreamLeaf | KeyLeaf:
    try:
        return read_leaf(one.body)
    except merkle.BadProof as error:
        what = f"leaf {one.place} of the checkpoint log is damaged: {error}."
        raise StoreCorrupt(what, hint="`recollect verify` says what is wrong.") from None


def _follow_chain(reader: Reader, stream: Stream, point: Reached) -> Reached:
    """Follow a chain from a point to its end, entry by entry."""
    while point.seq < stream.last_seq:
        entries = reader.entries(stream, point.seq, min(ENTRIES_AT_A_TIME, stream.last_seq - point.seq))
        if not entries:
            raise _corrupt_chain(f"entry {point.seq + 1} of stream {stream.uid[:12]} is missing")
        for entry in entries:
            if (entry.seq, entry.prev_hash) != (point.seq + 1, point.hash) or entry.hash != entry.computed_hash():
                where = f"entry {entry.seq} of stream {entry.stream[:12]}"
                raise _corrupt_chain(f"{where} does not follow the one before it")
            point.tree.append(entry_leaf(entry.hash))
            point = Reached(entry.seq, entry.hash, point.tree)
    if point.hash != stream.head:
        raise _corrupt_chain(f"the chain of stream {stream.uid[:12]} does not end in its head")
    return point


def _corrupt_chain(what: str) -> StoreCorrupt:
    return StoreCorrupt(f"{what}, so nothing was covered.", hint="`recollect verify` says what is wrong.")


def checkpoints(engine: Engine) -> tuple[Checkpoint, ...]:
    """Return every checkpoint of the tenant, oldest first, with its signatures."""
    engine.require(Right.OPERATE, "read the log of checkpoints")
    with engine.read() as reader:
        signed = groupby(reader.log_signatures(engine.tenant), key=lambda one: one.size)
        signatures = {size: list(found) for size, found in signed}
        return tuple(document_of(made, signatures.get(made.size, ())) for made in reader.log_checkpoints(engine.tenant))


def uncovered_entries(engine: Engine) -> int:
    """Return how many entries no checkpoint covers yet, and no proof can show."""
    engine.require(Right.OPERATE, "count what no checkpoint covers")
    with engine.read() as reader:
        covered = {uid: leaf.to_seq for uid, leaf in covered_streams(reader, engine.tenant).items()}
        streams = reader.streams_of(engine.tenant)
    return sum(max(0, stream.last_seq - covered.get(stream.uid, 0)) for stream in streams)


def key_history(reader: Reader, tenant: str, key: str | None = None) -> list[Placed]:
    """Return the events of a key, or of all keys, in the order of the log."""
    placed = ((one.place, _read_leaf(one)) for one in reader.log_leaves_about(tenant, "key", key))
    return [Placed(place, leaf) for place, leaf in placed if isinstance(leaf, KeyLeaf)]


def place_of(reader: Reader, tenant: str, stream_uid: str, seq: int) -> int | None:
    """Return the place of the leaf that covers an entry; ``None`` while none does."""
    for one in reader.log_leaves_about(tenant, "stream", stream_uid):
        leaf = _read_leaf(one)
        if isinstance(leaf, StreamLeaf) and leaf.from_seq <= seq <= leaf.to_seq:
            return one.place
    return None


def prove_growth(engine: Engine, since: int) -> GrowthProof:
    """Prove that the log, up to its last checkpoint, begins with the leaves that the checkpoint of size ``since`` covered."""
    engine.require(Right.OPERATE, "prove what the log holds")
    with engine.read() as reader:
        first, second = checkpoint_of(reader, engine.tenant, since), checkpoint_of(reader, engine.tenant, None)
        leaves = hashes_of(reader.log_leaves(engine.tenant))[: second.size]
        return GrowthProof(first=first, second=second, path=merkle.consistency_proof(leaves, first.size))


def prove_memory(engine: Engine, id: str, *, with_content: bool = True) -> MemoryProof:
    """Prove that the log, up to its last checkpoint, holds the entries about a memory.

    Each entry comes with its path in the tree over its leaf's entries, so that no other entry has to be shown. The values
    that they committed to are included with their salts, if the memory still has content. It takes the right to operate:
    the place of an entry reveals how much was written to its stream.
    """
    engine.require(Right.OPERATE, "prove what the log holds")
    with engine.read() as reader:
        stored = find(engine, reader, id)
        last = checkpoint_of(reader, engine.tenant, None)
        segments = _find_segments(reader, engine.tenant, stored.state.id, last.size)
        values = _read_values(reader, stored, segments) if with_content else ()
        return MemoryProof(memory=stored.state.id, checkpoint=last, segments=segments, values=values)


def checkpoint_of(reader: Reader, tenant: str, size: int | None) -> Checkpoint:
    """Return the checkpoint of a size, or the last one."""
    found = reader.log_checkpoint(tenant, size)
    if found is None:
        which = "" if size is None else f" of {size} leaves"
        hint = "`recollect ledger list` shows the checkpoints that exist."
        raise NotFound(f"there is no checkpoint{which}.", field="since", hint=hint)
    return _with_signatures(reader, tenant, found)


def _find_segments(reader: Reader, tenant: str, id: str, size: int) -> tuple[Segment, ...]:
    about: dict[str, list[int]] = {}
    for entry in reader.entries_about(tenant, id):
        about.setdefault(entry.stream, []).append(entry.seq)
    streams = {stream.uid: stream for stream in reader.streams_of(tenant)}
    hashes = hashes_of(reader.log_leaves(tenant))[:size]
    found = [one for uid, seqs in about.items() for one in _make_segments(reader, streams[uid], seqs, hashes)]
    if not found:
        raise WrongState("no checkpoint covers it yet.", field="id", hint="`recollect ledger checkpoint` takes one.")
    return tuple(sorted(found, key=lambda one: one.place))


def _make_segments(reader: Reader, stream: Stream, seqs: Sequence[int], hashes: Sequence[str]) -> list[Segment]:
    """Return, for each leaf that covers any of these entries, the leaf with its path and the entries with theirs."""
    found = []
    for one in reader.log_leaves_about(stream.tenant, "stream", stream.uid):
        leaf = _read_leaf(one)
        assert isinstance(leaf, StreamLeaf), "the store was asked for leaves about streams"
        covered = [seq for seq in seqs if leaf.from_seq <= seq <= leaf.to_seq]
        if covered and one.place < len(hashes):
            entries = _place_entries(reader, stream, leaf, covered)
            found.append(
                Segment(place=one.place, leaf=leaf, path=merkle.inclusion_proof(hashes, one.place), entries=entries)
            )
    return found


def _place_entries(reader: Reader, stream: Stream, leaf: StreamLeaf, seqs: Sequence[int]) -> tuple[PlacedEntry, ...]:
    """Return some entries of a leaf, each with its path in the tree over all of them."""
    size = leaf.to_seq - leaf.from_seq + 1
    tree = [entry_leaf(hash) for hash in reader.entry_hashes(stream, leaf.from_seq - 1, size)]
    if merkle.tree_head(tree) != leaf.root:
        what = f"the entries of stream {stream.uid[:12]} are not those that a checkpoint covers"
        raise StoreCorrupt(f"{what}, so nothing can be proven.", hint="`recollect verify` says what is wrong.")
    paths = merkle.inclusion_proofs(tree, [seq - leaf.from_seq for seq in sorted(seqs)])
    entries = [reader.entries(stream, seq - 1, 1)[0] for seq in sorted(seqs)]
    return tuple(
        PlacedEntry(entry=ProvenEntry(**{**entry._asdict(), "event": str(entry.event)}), path=path)
        for entry, path in zip(entries, paths, strict=True)
    )


def _read_values(reader: Reader, stored: Stored, segments: Sequence[Segment]) -> tuple[Value, ...]:
    stream = reader.stream_numbered(stored.tenant, stored.stream)
    shown = (placed.entry for segment in segments for placed in segment.entries)
    proven = {entry.seq for entry in shown if entry.stream == stream.uid}
    return tuple(
        Value(stream=stream.uid, seq=one.seq, body=one.body, salt=one.salt.hex())
        for one in reader.committed_values(stream, stored.number, stored.state.id)
        if one.seq in proven
    )


HINT = "Restore the store from a backup, and find out who wrote to the file."
CUT_HINT = (
    "If the store was restored from an older backup, keep a new checkpoint. If not, find out who wrote to the file."
)
LOG = "the checkpoint log"

PlacedLeaf = tuple[int, StreamLeaf]
"""A leaf about a stream, and its place in the log."""
Actors = Mapping[str, tuple[str | None, bytes | None]]
"""The name and salt of every actor, by uid."""


class LogAudit(NamedTuple):
    """What is wrong with the log, its leaves about each stream by the stream's uid, and the keys that it has."""

    problems: list[Problem]
    leaves: dict[str, list[PlacedLeaf]]
    signers: Signers

    def of_stream(self, uid: str) -> Sequence[PlacedLeaf]:
        """Return the leaves about a stream, in order."""
        return self.leaves.get(uid, ())


class _Log(NamedTuple):
    rows: list[LogLeaf]
    leaves: list[StreamLeaf | KeyLeaf]
    checkpoints: list[LogCheckpoint]
    signatures: list[LogSignature]


def audit_log(
    reader: Reader, tenant: str, streams: Collection[str], actors: Actors, kept: Checkpoint | None = None
) -> LogAudit:
    """Check the log's leaves, the roots over them and their signatures. ``streams`` and ``actors`` are the known ones."""
    rows = reader.log_leaves(tenant)
    try:
        leaves = [_parse_leaf(place, row) for place, row in enumerate(rows)]
    except merkle.BadProof as error:
        return LogAudit([_problem(LOG, str(error))], {}, Signers((), {}))
    log = _Log(rows, leaves, reader.log_checkpoints(tenant), reader.log_signatures(tenant))
    sizes = {made.size for made in log.checkpoints} | ({kept.size} if kept else set())
    heads = merkle.tree_heads(hashes_of(rows), sizes)
    history = [Placed(place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, KeyLeaf)]
    found = [*_check_checkpoints(log, heads), *_check_signers(log, history), *_check_leaves(log, streams, actors)]
    if kept is not None:
        found += _check_kept(log, heads, kept)
    by_stream: dict[str, list[PlacedLeaf]] = {}
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, StreamLeaf):
            by_stream.setdefault(leaf.stream, []).append((place, leaf))
    names = {uid: name for uid, (name, _) in actors.items()}
    links = reader.platform_ids(tenant)
    signers = Signers(history, names, links)
    found += [
        _problem(f"platform id {one.id!r}", fault) for one in links if (fault := signers.link_fault(one)) is not None
    ]
    return LogAudit(found, by_stream, signers)


def _parse_leaf(place: int, row: LogLeaf) -> StreamLeaf | KeyLeaf:
    if row.place != place:
        raise merkle.BadProof(f"leaf {place} is missing")
    try:
        leaf = read_leaf(row.body)
    except merkle.BadProof as error:
        raise merkle.BadProof(f"leaf {place} was altered: {error}") from None
    subject = leaf.stream if isinstance(leaf, StreamLeaf) else leaf.key
    if (row.kind, row.subject) != (leaf.leaf, subject):
        raise merkle.BadProof(f"leaf {place} is filed under another subject than its own")
    return leaf


def _check_checkpoints(log: _Log, heads: dict[int, str]) -> list[Problem]:
    found = [
        _problem(f"checkpoint {made.size}", "its root is not that of the leaves before it: they were altered")
        for made in log.checkpoints
        if heads.get(made.size) != made.root
    ]
    last = log.checkpoints[-1].size if log.checkpoints else 0
    if len(log.rows) != last:
        found.append(_problem(LOG, f"it has {len(log.rows)} leaves, and its last checkpoint covers {last}"))
    if len({made.log for made in log.checkpoints}) > 1:
        found.append(_problem(LOG, "its checkpoints are of different logs"))
    return found


def _check_signers(log: _Log, history: Sequence[Placed]) -> list[Problem]:
    made = {one.size: one for one in log.checkpoints}
    return [
        _problem(f"checkpoint {one.size}", fault)
        for one in log.signatures
        if (fault := _signature_fault(one, made.get(one.size), history)) is not None
    ]


def _signature_fault(signature: LogSignature, made: LogCheckpoint | None, history: Sequence[Placed]) -> str | None:
    if made is None:
        return "it was signed, and is not there"
    try:
        check_signatures(document_of(made, [signature]))
    except ValueError:
        return f"the signature of {signature.key[:12]} does not hold"
    worth = standing([one for one in history if one.leaf.key == signature.key], made.size - 1)
    return None if worth is Standing.GOOD else f"the key {signature.key[:12]} that signed it was {worth}"


def _check_leaves(log: _Log, streams: Collection[str], actors: Collection[str]) -> list[Problem]:
    """Return a problem for each stream or actor that the log names and the store has no longer."""
    covered = {leaf.stream for leaf in log.leaves if isinstance(leaf, StreamLeaf)}
    holders = {leaf.actor for leaf in log.leaves if isinstance(leaf, KeyLeaf)}
    found = [
        _problem(f"stream {uid[:12]}", "a checkpoint covers it, and it is gone")
        for uid in sorted(covered - set(streams))
    ]
    return found + [
        _problem(f"actor {uid[:12]}", "it holds a key, and is gone") for uid in sorted(holders - set(actors))
    ]


def _check_kept(log: _Log, heads: dict[int, str], kept: Checkpoint) -> list[Problem]:
    """Return a problem unless the log still begins with the leaves that a kept checkpoint covers."""
    where = f"the kept checkpoint of {kept.size} leaves"
    try:
        check_signatures(kept)
    except merkle.BadProof as error:
        return [_problem(where, f"it was altered itself: {error}")]
    if not log.checkpoints or log.checkpoints[-1].log != kept.log:
        return [_problem(where, "this store has another log: it is another store, or its log was made anew")]
    if kept.size not in heads:
        return [Problem(where, f"the log has {len(log.rows)} leaves: its end was cut off", CUT_HINT)]
    if heads[kept.size] != kept.root:
        return [_problem(where, "the log gives another root: history was rewritten")]
    return []


def _problem(where: str, what: str) -> Problem:
    return Problem(where, what, HINT)
