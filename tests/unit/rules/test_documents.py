"""One check for every document: it knows which kind it has before it, and what that kind is held against."""

from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import BadInput
from recollect.rules.ledger.proofs import check_document


def test_each_kind_is_held_against_what_fits_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as mem:
        key = mem.new_identity("operator").key
        lisbon: Any = mem.add("Ana lives in Lisbon", owner="ana").memory
        kept = mem.checkpoint(sign_as="operator")
        proof, history = mem.prove(lisbon.id), mem.identity_history(sign_as="operator")
        _, record = mem.erase_with_record(owner="ana", sign_as="operator")
        growth = mem.prove_growth(kept)
    assert record is not None
    documents = {"checkpoint": kept, "memory": proof, "growth": growth, "keys": history, "erasure": record}
    for kind, document in documents.items():
        found = check_document(document.text, [key])
        assert (found.ok, found.kind) == (True, kind)
        assert not check_document(document.text, ["0" * 64]).ok
    for document in (kept, proof, growth):
        assert check_document(document.text, kept=kept).ok
        assert check_document(document.text, [key], history=history).ok


@pytest.mark.parametrize("text", ["{}", '{"format": "recollect-erasure/1"}', "no JSON"])
def test_without_anything_to_hold_it_against_there_is_nothing_to_check(text: str) -> None:
    with pytest.raises(BadInput, match="nothing to hold it against"):
        check_document(text)
    assert not check_document(text, ["0" * 64]).ok


def test_a_kept_checkpoint_is_nothing_to_hold_a_receipt_against(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as mem:
        mem.add("Ana lives in Lisbon", owner="ana")
        kept, (_, record) = mem.checkpoint(), mem.erase_with_record(owner="ana")
        mem.new_identity("operator")
        history = mem.identity_history(sign_as="operator")
    assert record is not None
    with pytest.raises(BadInput, match="nothing to hold it against") as refused:
        check_document(record.text, kept=kept)
    assert "whoever signed the receipt" in str(refused.value.hint)
    assert not check_document(kept.text, kept=kept, history=history).ok, (
        "nobody says that the history is to be believed"
    )
