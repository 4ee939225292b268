"""What ``verify`` asks of the checkpoint log: that it is whole, and that a checkpoint kept elsewhere is still in it."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from recollect.engine.checkpoint_log import document_of, hashes_of
from recollect.model.proof import Checkpoint, KeyLeaf, StreamLeaf
from recollect.model.receipt import Problem
from recollect.rules.merkle import BadProof, tree_heads
from recollect.rules.proofs import check_signatures, read_leaf
from recollect.rules.signatures import Placed, Standing, standing
from recollect.rules.signers import Signers
from recollect.stores.protocol import LogCheckpoint, LogLeaf, LogSignature, Reader

HINT = "Restore the store from a backup, and find out who wrote to the file."
CUT_HINT = (
    "If the store was restored from an older backup, keep a new checkpoint. If not, find out who wrote to the file."
)
LOG = "the checkpoint log"


PlacedLeaf = tuple[int, StreamLeaf]
"""What the log says of a stream, and at which place."""
Actors = Mapping[str, tuple[str | None, bytes | None]]
"""Name and salt of everybody who acted, by uid."""


class LogAudit(NamedTuple):
    """What is wrong with the log, what it covers of each stream by the stream's uid, and whose keys it has."""

    problems: list[Problem]
    leaves: dict[str, list[PlacedLeaf]]
    signers: Signers

    def of_stream(self, uid: str) -> Sequence[PlacedLeaf]:
        """What the log says of a stream, in its order."""
        return self.leaves.get(uid, ())


class _Log(NamedTuple):
    rows: list[LogLeaf]
    leaves: list[StreamLeaf | KeyLeaf]
    checkpoints: list[LogCheckpoint]
    signatures: list[LogSignature]


def audit_log(
    reader: Reader, tenant: str, streams: Collection[str], actors: Actors, kept: Checkpoint | None = None
) -> LogAudit:
    """Walk the log: its leaves, the roots over them, and who signed those. Streams and actors are those that are there."""
    rows = reader.log_leaves(tenant)
    try:
        leaves = [_leaf(place, row) for place, row in enumerate(rows)]
    except BadProof as error:
        return LogAudit([_problem(LOG, str(error))], {}, Signers((), {}))
    log = _Log(rows, leaves, reader.log_checkpoints(tenant), reader.log_signatures(tenant))
    heads = _heads(log, kept)
    found = [*_about_checkpoints(log, heads), *_about_signatures(log), *_about_leaves(log, streams, actors)]
    if kept is not None:
        found += _about_kept(log, heads, kept)
    by_stream: dict[str, list[PlacedLeaf]] = {}
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, StreamLeaf):
            by_stream.setdefault(leaf.stream, []).append((place, leaf))
    names = {uid: name for uid, (name, _) in actors.items()}
    links = reader.platform_ids(tenant)
    signers = Signers(_keys_in(log), names, links)
    found += [
        _problem(f"platform id {one.id!r}", fault) for one in links if (fault := signers.link_fault(one)) is not None
    ]
    return LogAudit(found, by_stream, signers)


def _leaf(place: int, row: LogLeaf) -> StreamLeaf | KeyLeaf:
    if row.place != place:
        raise BadProof(f"leaf {place} is missing")
    try:
        leaf = read_leaf(row.body)
    except BadProof as error:
        raise BadProof(f"leaf {place} was altered: {error}") from None
    subject = leaf.stream if isinstance(leaf, StreamLeaf) else leaf.key
    if (row.kind, row.subject) != (leaf.leaf, subject):
        raise BadProof(f"leaf {place} is filed under another subject than its own")
    return leaf


def _heads(log: _Log, kept: Checkpoint | None) -> dict[int, str]:
    sizes = {made.size for made in log.checkpoints} | ({kept.size} if kept else set())
    return tree_heads(hashes_of(log.rows), sizes)


def _about_checkpoints(log: _Log, heads: dict[int, str]) -> list[Problem]:
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


def _about_signatures(log: _Log) -> list[Problem]:
    made = {one.size: one for one in log.checkpoints}
    history = _keys_in(log)
    return [
        _problem(f"checkpoint {one.size}", fault)
        for one in log.signatures
        if (fault := _signature_fault(one, made.get(one.size), history)) is not None
    ]


def _keys_in(log: _Log) -> list[Placed]:
    """What became of everybody's keys."""
    return [Placed(place, leaf) for place, leaf in enumerate(log.leaves) if isinstance(leaf, KeyLeaf)]


def _signature_fault(signature: LogSignature, made: LogCheckpoint | None, history: Sequence[Placed]) -> str | None:
    if made is None:
        return "it was signed, and is not there"
    try:
        check_signatures(document_of(made, [signature]))
    except ValueError:
        return f"the signature of {signature.key[:12]} does not hold"
    worth = standing([one for one in history if one.leaf.key == signature.key], made.size - 1)
    return None if worth is Standing.GOOD else f"the key {signature.key[:12]} that signed it was {worth}"


def _about_leaves(log: _Log, streams: Collection[str], actors: Collection[str]) -> list[Problem]:
    """What the log speaks of is still there."""
    covered = {leaf.stream for leaf in log.leaves if isinstance(leaf, StreamLeaf)}
    holders = {leaf.actor for leaf in log.leaves if isinstance(leaf, KeyLeaf)}
    found = [
        _problem(f"stream {uid[:12]}", "a checkpoint covers it, and it is gone")
        for uid in sorted(covered - set(streams))
    ]
    return found + [
        _problem(f"actor {uid[:12]}", "it holds a key, and is gone") for uid in sorted(holders - set(actors))
    ]


def _about_kept(log: _Log, heads: dict[int, str], kept: Checkpoint) -> list[Problem]:
    """Whether the log still begins with what somebody kept a checkpoint of."""
    where = f"the kept checkpoint of {kept.size} leaves"
    try:
        check_signatures(kept)
    except BadProof as error:
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
