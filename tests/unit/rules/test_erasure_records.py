"""The receipt of an erasure: believed only whole, only from a key that is trusted, and shown again by the ledger's own proof."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from recollect.engine.ledger.checkpoint_log import prove_memory
from recollect.engine.ledger.documents import erasure_record
from recollect.engine.trust.identities import new_identity, signing_key
from recollect.model.proof import ErasureRecord
from recollect.rules.ledger import proofs
from recollect.rules.ledger.proofs import check
from recollect.rules.trust.signatures import erasure_bytes, private_key, public_key, sign

STRANGER = private_key(b"s" * 32)


class Handed(NamedTuple):
    record: ErasureRecord
    unsigned: ErasureRecord
    key: str
    mem: recollect.Recollect


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Handed]:
    path: Path = tmp_path_factory.mktemp("receipt") / "memory.db"
    with recollect.open(path) as mem:
        made = new_identity(mem.engine, "operator")
        key = signing_key(mem.engine, "operator")
        source: Any = mem.add("Ana keeps bees in Zanzibar", owner="ana").memory
        mem.add("Bees need flowers", owner="ben", parent_refs=[source.content_hash])
        receipt = mem.erase(owner="ana")
        yield Handed(erasure_record(mem.engine, receipt, key), erasure_record(mem.engine, receipt), made.key, mem)


def resigned(record: ErasureRecord, **changes: object) -> str:
    """What a liar with a key of their own would hand out."""
    changed = record.model_copy(update={**changes, "signatures": ()})
    return changed.model_copy(update={"signatures": (sign(STRANGER, erasure_bytes(changed)),)}).text


def problem(text: str, *keys: str) -> str:
    answer = check(text, keys)
    assert not answer.ok and answer.problem is not None
    return answer.problem


def changes_of(value: Any) -> Iterator[Any]:
    """Every change of one thing in a document: a field left out or added, an element dropped or repeated, a value altered."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            yield from ({**value, name: changed} for changed in changes_of(inner))
        yield {**value, "more": 1}
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield value[:place] + value[place + 1 :]
            yield [*value[: place + 1], *value[place:]]
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in changes_of(inner))
    elif isinstance(value, str):
        yield from (value + "0", value[:-1] + ("0" if value[-1] != "0" else "1"), None, 7)
    else:
        yield from (1 if value is None else value + 1, "0", [])


def test_it_says_what_was_done(handed: Handed) -> None:
    answer = check(handed.record.text, [handed.key])
    assert (answer.ok, answer.kind) == (True, "erasure")
    told = "\n".join(answer.shows)
    assert f"signed by {handed.key[:12]}" in told and "1 memory in 1 stream, 1 owner name" in told
    assert "policy review): 1 review; 1 link cut" in told and "covered by the checkpoint" in told


def test_nothing_in_it_can_be_changed(handed: Handed) -> None:
    original, tried = json.loads(handed.record.text), 0
    for changed in changes_of(original):
        assert not check(json.dumps(changed), [handed.key]).ok, f"{changed} was believed"
        tried += 1
    assert tried > 100


def test_only_a_key_that_is_trusted_counts(handed: Handed) -> None:
    stranger = public_key(STRANGER)
    assert problem(handed.unsigned.text, handed.key).startswith("it is not signed, so nobody stands for it")
    assert (
        problem(handed.record.text)
        == problem(handed.record.text, stranger)
        == "it is not signed by a key that was given"
    )
    assert problem(resigned(handed.record), handed.key) == "it is not signed by a key that was given"
    assert check(resigned(handed.record), [stranger]).ok


def test_it_has_to_agree_with_itself_whoever_signed_it(handed: Handed) -> None:
    record, key = handed.record, public_key(STRANGER)
    assert "each memory that it says was erased" in problem(resigned(record, entries=record.entries[1:]), key)
    assert "each link that it says was cut" in problem(resigned(record, links_cut=2), key)
    assert "waits for review" in problem(resigned(record, derived=()), key)
    twice = resigned(record, removed=record.removed * 2, entries=(*record.entries, record.entries[0]))
    assert "named twice" in problem(twice, key)
    with_other = record.entries[0].model_copy(update={"memory": record.derived[0].id})
    assert "was erased" in problem(resigned(record, entries=(with_other, *record.entries[1:])), key)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": "recollect-erasure/1"}', "[" * 100_000])
def test_what_is_no_receipt_is_refused(text: str) -> None:
    assert problem(text, "a" * 64)


def test_the_ledger_shows_the_same_entries(handed: Handed) -> None:
    """Whoever doubts a receipt asks for the proof of a memory that it names, and finds the entry at its place."""
    proof = prove_memory(handed.mem.engine, handed.record.removed[0])
    assert proofs.check(proof.text, [handed.key]).ok
    erased = next(one for one in handed.record.entries if one.event == "erased")
    text = proof.text
    assert erased.hash in text and f'"seq":{erased.seq}' in text and '"event":"erased"' in text
    assert handed.record.checkpoint is not None and proof.checkpoint.size >= handed.record.checkpoint.size


def test_nothing_is_erased_where_it_cannot_be_signed_for(handed: Handed) -> None:
    mem = handed.mem
    back: Any = mem.add("Ana is back", owner="ana").memory
    ana = mem.as_caller(user="ana", rights=["read", "write", "erase"])
    ana.new_identity("ana")
    with pytest.raises(recollect.NotFound):
        mem.erase_with_record(id=back.id, sign_as="nobody")
    with pytest.raises(recollect.NotAllowed):
        ana.erase_with_record(id=back.id, sign_as="ana")
    assert mem.get(back.id).content == "Ana is back"
    receipt, record = ana.erase_with_record(id=back.id)
    assert receipt.removed == (back.id,) and record is not None and record.signatures == ()
    receipt, record = mem.erase_with_record(owner="nobody")
    assert receipt.is_empty and record is None


def test_somebody_without_the_right_to_operate_gets_it_unsigned(handed: Handed) -> None:
    ana = handed.mem.as_caller(user="ana", rights=["read", "write", "erase"])
    back: Any = handed.mem.add("Ana is back", owner="ana").memory
    receipt = ana.erase(id=back.id)
    record = erasure_record(ana.engine, receipt)
    assert (record.checkpoint, record.signatures) == (None, ())
    with pytest.raises(recollect.NotAllowed):
        erasure_record(ana.engine, receipt, STRANGER)
    with pytest.raises(recollect.NotAllowed):
        erasure_record(handed.mem.engine, receipt, STRANGER)


def test_who_asked_is_told_by_an_opaque_uid(handed: Handed) -> None:
    assert handed.record.asked_by is not None
    assert not any(word in handed.record.text for word in ("ana", "Ana", "Zanzibar", "application", "operator"))
