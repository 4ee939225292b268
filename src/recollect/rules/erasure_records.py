"""Checking the receipt of an erasure without the store: its shape, that it agrees with itself, and who signed it."""

import json
from collections import Counter
from collections.abc import Collection

from recollect.model.erasure_record import ErasureRecord
from recollect.model.proof import ProofCheck
from recollect.rules.counting import counted, entries, leaves, memories
from recollect.rules.merkle import BadProof
from recollect.rules.proofs import check_signatures, read_as
from recollect.rules.signatures import erasure_bytes, holds

FORMAT, KIND = "recollect-erasure/1", "erasure"


def is_record(text: str) -> bool:
    """Whether a text says that it is the receipt of an erasure."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("format") == FORMAT


def check_record(text: str, keys: Collection[str]) -> ProofCheck:
    """What a receipt shows to somebody who trusts these public keys, or why it is refused."""
    try:
        record = read_as(ErasureRecord, text)
        _check_itself(record)
        return ProofCheck(ok=True, kind=KIND, shows=(*_signed(record, keys), *_told(record)))
    except BadProof as error:
        return ProofCheck(ok=False, kind=KIND, problem=str(error))


def _check_itself(record: ErasureRecord) -> None:
    """Every memory that it says is gone has one entry that says so, and no entry is about any other."""
    derived = {one.id: one.became for one in record.derived}
    gone = Counter([*record.removed, *record.authored, *(id for id, became in derived.items() if became == "erased")])
    if Counter(one.memory for one in record.entries if one.event == "erased") != gone:
        raise BadProof("entries: they are not one for each memory that it says was erased")
    aside = Counter(id for id, became in derived.items() if became == "review")
    if Counter(one.memory for one in record.entries if one.event == "archived") != aside:
        raise BadProof("entries: they are not one for each memory that it says waits for review")
    if len(derived) != len(record.derived) or max(gone.values(), default=1) > 1:
        raise BadProof("the same memory is named twice")
    if sum(one.event == "severed" for one in record.entries) != record.links_cut:
        raise BadProof("entries: they are not one for each link that it says was cut")
    if len({(one.stream, one.seq) for one in record.entries}) != len(record.entries):
        raise BadProof("entries: two have the same place")
    if record.checkpoint is not None:
        check_signatures(record.checkpoint)


def _signed(record: ErasureRecord, keys: Collection[str]) -> list[str]:
    message, signers = erasure_bytes(record), [one.key for one in record.signatures]
    if not signers:
        raise BadProof("it is not signed, so nobody stands for it; `erase --sign-as` signs the next one")
    if len(set(signers)) != len(signers):
        raise BadProof("it is signed twice by the same key")
    for signature in record.signatures:
        if not holds(signature, message):
            raise BadProof(f"the signature of {signature.key[:12]} does not hold")
    trusted = sorted(set(keys) & set(signers))
    if not trusted:
        raise BadProof("it is not signed by a key that was given")
    return [f"signed by {trusted[0][:12]}"]


def _told(record: ErasureRecord) -> list[str]:
    fates = Counter(one.became for one in record.derived)
    made = ", ".join(f"{count} {became}" for became, count in sorted(fates.items())) or "none"
    covered = record.checkpoint
    return [
        f"erased at {record.at}: {memories(len(record.removed))} in {counted(record.streams, 'stream')}, "
        f"{counted(record.owner_names_removed, 'owner name')}, {counted(record.actor_names_removed, 'actor name')}",
        *([f"wrote elsewhere, and erased too: {memories(len(record.authored))}"] if record.authored else []),
        f"made of them (policy {record.policy}): {made}; {counted(record.links_cut, 'link')} cut",
        f"the ledger says so in {entries(len(record.entries))}, "
        + (f"covered by the checkpoint of {leaves(covered.size)}" if covered else "which no checkpoint covers yet"),
    ]
