"""Check documents of a store without the store: checkpoints, proofs of a memory and of growth, erasure receipts."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

from recollect.model.errors import BadInput
from recollect.model.ledger import GENESIS, Event, commit_to
from recollect.model.proof import (
    Checkpoint,
    Document,
    ErasureRecord,
    GrowthProof,
    KeyHistory,
    KeyLeaf,
    Leaf,
    MemoryProof,
    ProofCheck,
    ProvenEntry,
    Segment,
    StreamLeaf,
    Value,
)
from recollect.model.seals import committed_text
from recollect.rules.ledger.merkle import BadProof, Tree, check_consistency, check_inclusion, leaf_hash
from recollect.rules.plain_view import counted, entries, leaves, memories
from recollect.rules.trust.signatures import Standing, checkpoint_bytes, erasure_bytes
from recollect.rules.trust.signed_documents import check_history, check_signers, worth_of


def entry_leaf(hash: str) -> str:
    """Return an entry in the tree over the entries of its leaf."""
    return leaf_hash(bytes.fromhex(hash))


class Covering:
    """A walk along the leaves of a stream, in their order; each entry is shown to it once, in its order.

    What is wrong is told as soon as it is known, and :attr:`entries` is how far the leaves reach.
    """

    def __init__(self, leaves: Sequence[StreamLeaf]) -> None:
        self.entries = leaves[-1].to_seq if leaves else 0
        self._waiting: Iterator[StreamLeaf] = iter(leaves)
        self._leaf = next(self._waiting, None)
        self._reached, self._tree = 0, Tree()

    def fault_at(self, seq: int, hash: str) -> str | None:
        """Show it the next entry; what is wrong there, if anything is."""
        leaf = self._leaf
        if leaf is None:
            return None
        if self._tree.size == 0 and (fault := self._out_of_order(leaf)):
            return fault
        self._tree.append(entry_leaf(hash))
        if seq != leaf.to_seq:
            return None
        if hash != leaf.head:
            return f"entry {leaf.to_seq} is not the one that a checkpoint covers: history was rewritten"
        if self._tree.head != leaf.root:
            return f"entries {leaf.from_seq} to {leaf.to_seq} are not those that a checkpoint covers"
        self._reached, self._tree, self._leaf = leaf.to_seq, Tree(), next(self._waiting, None)
        return None

    def fault_at_end(self, entries: int) -> str | None:
        """Return what is wrong when the walk ends after so many entries."""
        if self._leaf is None:
            return None
        cut_off = f"a checkpoint covers {self._leaf.to_seq} entries, and {entries} are there: its end was cut off"
        return self._out_of_order(self._leaf) or cut_off

    def _out_of_order(self, leaf: StreamLeaf) -> str | None:
        if leaf.from_seq == self._reached + 1 and leaf.to_seq >= leaf.from_seq:
            return None
        return f"its leaves do not follow each other: one covers entries {leaf.from_seq} to {leaf.to_seq}"


KINDS: Mapping[tuple[str, str | None], type[Document]] = {
    ("recollect-checkpoint/1", None): Checkpoint,
    ("recollect-proof/1", "memory"): MemoryProof,
    ("recollect-proof/1", "growth"): GrowthProof,
    ("recollect-keys/1", None): KeyHistory,
    ("recollect-erasure/1", None): ErasureRecord,
}
MAX_QUOTED = 300
"""How many characters of a memory an answer repeats."""
_BRINGS_A_VERSION = (Event.STORED, Event.CONTRADICTED)
_leaf: TypeAdapter[StreamLeaf | KeyLeaf] = TypeAdapter(Leaf)
D = TypeVar("D", bound=Document)


class Trust(NamedTuple):
    """What a reader holds documents against: public keys, what is known to have become of them, and a kept checkpoint."""

    keys: Collection[str] = ()
    kept: Checkpoint | None = None
    history: KeyHistory | None = None


def check_document(
    text: str, keys: Collection[str] = (), kept: Checkpoint | None = None, history: KeyHistory | None = None
) -> ProofCheck:
    """Return what a checkpoint, a proof, a key history or the receipt of an erasure shows, or why it is refused.

    It is held against public ``keys`` that the reader trusts or, unless it is a receipt, a checkpoint that the reader
    ``kept``: anybody can build a tree. With a ``history``, which one of the keys has signed, other documents' keys count no
    longer than they should.
    """
    check_enough(text, trusted=bool(keys), kept=kept is not None)
    return check(text, keys, kept, history)


def check(
    text: str, keys: Collection[str] = (), kept: Checkpoint | None = None, history: KeyHistory | None = None
) -> ProofCheck:
    """Return the same; a document that nothing was given to hold against is refused like any other that does not hold."""
    kind = "unreadable"
    try:
        document = read_document(text)
        kind = _kind(document)
        if history is not None and not isinstance(document, ErasureRecord):
            check_history(history, keys)
        return ProofCheck(ok=True, kind=kind, shows=tuple(_show(document, Trust(keys, kept, history))))
    except BadProof as error:
        return ProofCheck(ok=False, kind=kind, problem=str(error))


RECEIPT_NEEDS = "Give --key: the public key of whoever signed the receipt. `recollect identity show NAME` prints it."


def check_enough(text: str, *, trusted: bool, kept: bool) -> None:
    """Refuse to look at a document if there is neither a ``trusted`` key nor a ``kept`` checkpoint to hold it against."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    is_receipt = isinstance(found, dict) and found.get("format") == "recollect-erasure/1"
    if not trusted and (is_receipt or not kept):
        hint = RECEIPT_NEEDS if is_receipt else "Give --key, or --kept."
        raise BadInput("there is nothing to hold it against.", field="key", hint=hint)


def _kind(document: Document) -> str:
    if isinstance(document, MemoryProof | GrowthProof):
        return document.kind
    return {KeyHistory: "keys", ErasureRecord: "erasure"}.get(type(document), "checkpoint")


def _show(document: Document, trust: Trust) -> list[str]:
    if isinstance(document, GrowthProof):
        return _check_growth(document, trust)
    if isinstance(document, MemoryProof):
        return _check_memory(document, trust)
    if isinstance(document, ErasureRecord):
        return _check_erasure(document, trust.keys)
    if isinstance(document, KeyHistory):
        check_history(document, trust.keys)
        return [f"key {one.leaf.key[:12]} was {one.leaf.event} at {one.leaf.at}" for one in document.keys]
    assert isinstance(document, Checkpoint), "every kind of document is one of these"
    return _explain_trust(document, trust, "the checkpoint")


def read_document(text: str) -> Document:
    """Return a checkpoint or a proof, of exactly the shape that it says it has."""
    found = _parse(text)
    if not isinstance(found, dict):
        raise BadProof("it is not a JSON object")
    form, kind = found.get("format"), found.get("kind")
    known = KINDS.get((form, kind)) if isinstance(form, str) and isinstance(kind, str | None) else None
    if known is None:
        raise BadProof(f"format: {_shorten(form)} with kind {_shorten(kind)} is no document that this release knows")
    return read_as(known, text)


def read_as(kind: type[D], text: str) -> D:
    """Return a document of exactly this shape."""
    found = _parse(text)
    try:
        document = kind.model_validate_json(text)
    except ValidationError as error:
        raise BadProof(_first_fault(error)) from None
    if json.loads(document.text) != found:
        raise BadProof("a field is missing: every one has to be there, even where it is empty")
    return document


def read_checkpoint(text: str) -> Checkpoint:
    """Return a checkpoint that somebody kept."""
    document = read_document(text)
    if not isinstance(document, Checkpoint):
        raise BadProof("it is a proof, and not a checkpoint")
    return document


def read_key_history(text: str) -> KeyHistory:
    """Return what became of keys, as somebody published it."""
    document = read_document(text)
    if not isinstance(document, KeyHistory):
        raise BadProof("it is no key history")
    return document


def read_leaf(text: str) -> StreamLeaf | KeyLeaf:
    """Return a leaf from its canonical text; any other text, even of the same meaning, would hash to another leaf."""
    try:
        leaf = _leaf.validate_json(text)
    except ValidationError as error:
        raise BadProof(_first_fault(error)) from None
    if leaf.text != text:
        raise BadProof("it is not in canonical form")
    return leaf


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_refuse_repeated)
    except json.JSONDecodeError as error:
        raise BadProof(f"line {error.lineno}: it is not JSON: {error.msg}") from None
    except RecursionError:
        raise BadProof("it is nested too deeply") from None
    except BadProof:
        raise
    except ValueError:
        raise BadProof("a number in it has too many digits") from None


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise BadProof(f"the field {next(n for n in names if names.count(n) > 1)!r} is given twice")
    return found


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}…"


def _explain_trust(checkpoint: Checkpoint, trust: Trust, what: str) -> list[str]:
    """Return why a checkpoint is to be believed: it is the one that was kept, or a trusted key signed it."""
    if not trust.keys and trust.kept is None:
        raise BadProof("there is nothing to hold it against: give a public key, or a checkpoint that was kept")
    signers = check_signatures(checkpoint, what)
    said = []
    if trust.kept is not None:
        _check_kept(checkpoint, trust.kept, what)
        said.append(f"{what} is the one that was kept: {leaves(checkpoint.size)}")
    if trust.keys:
        found = sorted(set(trust.keys) & set(signers))
        if not found:
            raise BadProof(f"{what} is not signed by the key that was given")
        counts = found[0] if trust.history is None else _find_counting_key(checkpoint, found, trust.history, what)
        said.append(f"{what} of {leaves(checkpoint.size)} is signed by {counts[:12]}")
        if trust.history is not None and checkpoint.size > (ends := trust.history.checkpoint.size):
            said.append(f"the key history ends at {leaves(ends)}, before {what}: a later one may say more")
    return said


def _find_counting_key(checkpoint: Checkpoint, keys: Sequence[str], history: KeyHistory, what: str) -> str:
    """Return the first of these keys whose signature counts, by what became of it."""
    worth = {key: worth_of(history, key, checkpoint) for key in keys}
    good = [key for key, found in worth.items() if found is Standing.GOOD]
    if not good:
        raise BadProof(f"{what}: the key {keys[0][:12]} that signed it is {worth[keys[0]]}, says the key history")
    return good[0]


def check_signatures(checkpoint: Checkpoint, what: str = "the checkpoint") -> list[str]:
    """Return the keys that signed a checkpoint."""
    return check_signers(checkpoint, checkpoint_bytes(checkpoint), what)


def _check_kept(checkpoint: Checkpoint, kept: Checkpoint, what: str) -> None:
    check_signatures(kept, "the checkpoint that was kept")
    if checkpoint.log != kept.log:
        raise BadProof(f"{what} is of another log than the one that was kept")
    if checkpoint.size != kept.size:
        raise BadProof(
            f"{what} has {leaves(checkpoint.size)} and the one that was kept {kept.size}: ask for a proof of growth"
        )
    if checkpoint.root != kept.root:
        raise BadProof(f"{what} has another root than the one that was kept: the log was rewritten")
    if checkpoint.at != kept.at:
        raise BadProof(f"{what} has another time than the one that was kept")


def _check_growth(proof: GrowthProof, trust: Trust) -> list[str]:
    """Hold the first checkpoint against the kept one, and the second against the keys; one of the two is enough."""
    if proof.first.log != proof.second.log:
        raise BadProof("its two checkpoints are of different logs")
    if proof.first.at > proof.second.at:
        raise BadProof("its first checkpoint is later than its second")
    first = trust if trust.kept is None else Trust(kept=trust.kept)
    said = _explain_trust(proof.first, first, "the first checkpoint")
    said += _explain_trust(proof.second, trust._replace(kept=None), "the second checkpoint") if trust.keys else []
    check_signatures(proof.second, "the second checkpoint")
    check_consistency(proof.first.size, proof.second.size, proof.first.root, proof.second.root, proof.path)
    grown = proof.second.size - proof.first.size
    return [
        *said,
        f"the log only grew between them, by {leaves(grown)}: nothing before was changed",
        f"it says nothing of what was written after the second checkpoint, at {proof.second.at}",
    ]


def _check_memory(proof: MemoryProof, trust: Trust) -> list[str]:
    said = _explain_trust(proof.checkpoint, trust, "the checkpoint")
    places = [segment.place for segment in proof.segments]
    if places != sorted(set(places)):
        raise BadProof("segments: they are not in the order of their places, once each")
    for number, segment in enumerate(proof.segments):
        _check_segment(segment, proof, f"segments.{number}")
    shown = [placed.entry for segment in proof.segments for placed in segment.entries]
    entries = {(one.stream, one.seq): one for one in shown}
    about = sorted(shown, key=lambda one: (one.at, one.seq))
    values = [_check_value(value, entries, proof.memory, f"values.{n}") for n, value in enumerate(proof.values)]
    if len(set(values)) != len(values):
        raise BadProof("values: the same entry's value is given twice")
    said += [f"it is about the memory {proof.memory}", *_quote_words(proof, entries)]
    said += [f"entry {one.seq} of stream {one.stream[:12]}: {one.event} at {one.at}" for one in about]
    ones = "is included, and is the one" if len(values) == 1 else "are included, and are the ones"
    included = f"{len(values)} of the values that these entries commit to {ones}"
    said.append(included if values else "the words are not included, only that these entries stand in the ledger")
    return [*said, f"it says nothing of what was written after the checkpoint, at {proof.checkpoint.at}"]


def _quote_words(proof: MemoryProof, entries: Mapping[tuple[str, int], ProvenEntry]) -> list[str]:
    """Return what the memory says, where the proof carries it. The values have been checked: a version is what they say it is."""
    versions = [one for one in proof.values if entries[one.stream, one.seq].event in _BRINGS_A_VERSION]
    return [f"its words: {_quote(str(json.loads(one.body).get('content')))}" for one in versions]


def _quote(words: str) -> str:
    """On one line, and no longer than a few."""
    text = json.dumps(words, ensure_ascii=False)
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}… ({len(words):,} characters)"


def _check_segment(segment: Segment, proof: MemoryProof, where: str) -> None:
    """The leaf is in the log, and the entries are in the leaf, each at its own place."""
    leaf, checkpoint = segment.leaf, proof.checkpoint
    with _naming_place(f"{where}.path"):
        check_inclusion(leaf_hash(leaf.text.encode()), segment.place, checkpoint.size, segment.path, checkpoint.root)
    for number, placed in enumerate(segment.entries):
        with _naming_place(f"{where}.entries.{number}"):
            _check_entry(placed.entry, leaf, proof.memory)
            place, size = placed.entry.seq - leaf.from_seq, leaf.to_seq - leaf.from_seq + 1
            check_inclusion(entry_leaf(placed.entry.hash), place, size, placed.path, leaf.root)
    _check_neighbours([placed.entry for placed in segment.entries], where)


def _check_entry(entry: ProvenEntry, leaf: StreamLeaf, memory: str) -> None:
    if entry.hash != entry.computed_hash():
        raise BadProof("its fields do not give its hash")
    if entry.stream != leaf.stream or not leaf.from_seq <= entry.seq <= leaf.to_seq:
        raise BadProof("it is not one of those that the leaf covers")
    if memory not in (entry.memory_id, entry.other_id):
        raise BadProof("it is not about the memory")
    if (entry.seq == 1) != (entry.prev_hash == GENESIS):
        raise BadProof("only the first entry of a stream follows nothing")
    if entry.seq == leaf.to_seq and entry.hash != leaf.head:
        raise BadProof("it is not the one in which the leaf ends")


def _check_neighbours(entries: Sequence[ProvenEntry], where: str) -> None:
    """Entries stand in their order, once each; what stands beside another follows it in the chain too."""
    for number, (before, after) in enumerate(pairwise(entries), start=1):
        if after.seq <= before.seq:
            raise BadProof(f"{where}.entries.{number}: it is not in its order")
        if after.seq == before.seq + 1 and after.prev_hash != before.hash:
            raise BadProof(f"{where}.entries.{number}: it does not follow the entry before it")


@contextmanager
def _naming_place(where: str) -> Iterator[None]:
    """What is wrong, and where in the document."""
    try:
        yield
    except BadProof as error:
        raise BadProof(f"{where}: {error}") from None


def _check_value(
    value: Value, entries: Mapping[tuple[str, int], ProvenEntry], memory: str, where: str
) -> tuple[str, int]:
    entry = entries.get((value.stream, value.seq))
    if entry is None or entry.memory_id != memory:
        raise BadProof(f"{where}: the proof has no entry about the memory that could bring it")
    if entry.commitment != commit_to(bytes.fromhex(value.salt), _commit_text(value, entry, where)):
        raise BadProof(f"{where}: it is not what entry {entry.seq} committed to")
    return value.stream, value.seq


def _commit_text(value: Value, entry: ProvenEntry, where: str) -> str:
    """Return the text that an entry commits to: of a version with its links under seals, of anything else as it is."""
    if entry.event not in _BRINGS_A_VERSION:
        return value.body
    try:
        return committed_text(value.body)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadProof(f"{where}: it is no version: {error}") from None


def _check_erasure(record: ErasureRecord, keys: Collection[str]) -> list[str]:
    _check_itself(record)
    signers = check_signers(record, erasure_bytes(record), "it")
    if not signers:
        raise BadProof("it is not signed, so nobody stands for it; `erase --sign-as` signs the next one")
    trusted = sorted(set(keys) & set(signers))
    if not trusted:
        raise BadProof("it is not signed by a key that was given")
    return [f"signed by {trusted[0][:12]}", *_describe_record(record)]


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


def _describe_record(record: ErasureRecord) -> list[str]:
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
