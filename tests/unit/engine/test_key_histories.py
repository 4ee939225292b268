"""What became of keys, handed out as a signed document: the offline checker then knows what a signature is worth."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.engine.ledger import checkpoint_log
from recollect.engine.ledger.documents import identity_history
from recollect.engine.trust import identities
from recollect.model.errors import NotAllowed, Refused
from recollect.model.proof import Checkpoint, KeyHistory
from recollect.rules.ledger import proofs
from recollect.rules.trust.signatures import checkpoint_bytes, history_bytes, sign
from support.script import open_seeded


class Office:
    """A store with two who sign: ``auditor`` and ``clerk``."""

    def __init__(self, folder: Path) -> None:
        self.mem: Recollect = open_seeded()
        self.folder = folder
        self.keys = {name: self._made(name) for name in ("auditor", "clerk")}

    def _made(self, name: str) -> str:
        return self.mem.new_identity(name, key_file=self.folder / f"{name}.pem").key

    def signed(self, name: str, file: str | None = None) -> Checkpoint:
        self.mem.add(f"Somebody wrote note {self.mem.engine.now()}", owner="ana")
        return self.mem.checkpoint(sign_as=name, key_file=self.folder / (file or f"{name}.pem"))

    def history(self, name: str = "auditor") -> KeyHistory:
        return self.mem.identity_history(sign_as=name, key_file=self.folder / f"{name}.pem")

    def problem(self, document: Checkpoint, *names: str, history: KeyHistory | None = None) -> str | None:
        keys = [self.keys[name] for name in names]
        return proofs.check(document.text, keys, history=history or self.history()).problem


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_a_key_that_still_counts_is_believed(office: Office) -> None:
    taken = office.signed("clerk")
    assert office.problem(taken, "clerk", "auditor") is None


def test_nothing_counts_that_a_revoked_key_signed_whatever_size_it_claims(office: Office) -> None:
    before = office.signed("clerk")
    assert office.problem(before, "clerk", "auditor") is None
    office.mem.revoke_identity("clerk")
    assert "is revoked, says the key history" in str(office.problem(before, "clerk", "auditor"))
    assert proofs.check(before.text, [office.keys["clerk"]]).ok, "without the history nobody could know"
    again = office.mem.checkpoint(sign_as="auditor", key_file=office.folder / "auditor.pem")
    assert office.problem(again, "clerk", "auditor") is None, "what a good key signs still counts"


def test_a_rotated_key_counts_for_what_came_before(office: Office) -> None:
    old = office.signed("clerk")
    office.mem.rotate_identity("clerk", key_file=office.folder / "clerk.pem", to=office.folder / "next.pem")
    assert office.problem(old, "clerk", "auditor") is None
    later = office.signed("clerk", "next.pem")
    stale = sign(identities.read_key(office.folder / "clerk.pem"), checkpoint_bytes(later))
    forged = later.model_copy(update={"signatures": (stale,)})
    assert "is rotated" in str(office.problem(forged, "clerk", "auditor"))


def test_a_history_has_to_be_signed_by_a_key_that_is_trusted_and_counts(office: Office) -> None:
    taken, history = office.signed("clerk"), office.history()
    assert "not signed by the key that was given" in str(office.problem(taken, "clerk", history=history))
    by_clerk = office.history("clerk")
    office.mem.revoke_identity("clerk")
    assert office.problem(taken, "clerk", history=by_clerk) is None, "an old history knows nothing of it"
    with pytest.raises(Refused):
        office.history("clerk")
    office.mem.revoke_identity("auditor")
    assert "no longer counts" in str(office.problem(taken, "auditor", history=_resigned(office, "auditor")))


def _resigned(office: Office, name: str) -> KeyHistory:
    """What a thief of a revoked key would hand out: everything true, under a key that says of itself that it is revoked."""
    made = office.mem.new_identity("other", key_file=office.folder / "other.pem")
    true = office.mem.identity_history(key_file=made.file)
    key = identities.read_key(office.folder / f"{name}.pem")
    return true.model_copy(update={"signatures": (sign(key, history_bytes(true)),)})


def test_it_says_when_a_checkpoint_is_newer_than_the_history(office: Office) -> None:
    history = office.history()
    later = office.signed("auditor")
    answer = proofs.check(later.text, [office.keys["auditor"]], history=history)
    assert answer.ok and "a later one may say more" in answer.shows[-1]


def test_a_history_is_a_document_that_can_be_checked_itself(office: Office) -> None:
    answer = proofs.check(office.history().text, [office.keys["auditor"]])
    assert answer.ok and answer.kind == "keys" and len(answer.shows) == 2
    assert not proofs.check(office.history().text, [office.keys["clerk"]]).ok
    assert not proofs.check(office.history().text).ok


def test_nothing_in_a_history_can_be_changed(office: Office) -> None:
    office.mem.revoke_identity("clerk")
    document = json.loads(office.history().text)
    trusted = [office.keys["auditor"]]
    assert proofs.check(json.dumps(document), trusted).ok
    for changed in _changes(document):
        assert not proofs.check(json.dumps(changed), trusted).ok, changed


def _changes(document: dict[str, Any]) -> list[dict[str, Any]]:
    keys, checkpoint = document["keys"], document["checkpoint"]
    swapped = [{**keys[0], "place": keys[1]["place"]}, *keys[1:]]
    return [
        {**document, "keys": keys[:-1]},
        {**document, "keys": [*keys, keys[-1]]},
        {**document, "keys": swapped},
        {**document, "keys": keys[::-1]},
        {**document, "keys": [{**keys[0], "path": []}, *keys[1:]]},
        {**document, "keys": [{**keys[0], "leaf": {**keys[0]["leaf"], "actor": "0" * 64}}, *keys[1:]]},
        {**document, "checkpoint": {**checkpoint, "size": checkpoint["size"] + 1}},
        {**document, "checkpoint": {**checkpoint, "root": "0" * 64}},
        {**document, "signatures": []},
        {**document, "signatures": document["signatures"] * 2},
        {**document, "more": 1},
        {name: value for name, value in document.items() if name != "keys"},
    ]


def test_a_history_of_another_log_says_nothing(office: Office, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with open_seeded(seed=9) as other:
        other.new_identity("auditor", key_file=folder / "auditor.pem")
        history = other.identity_history(key_file=folder / "auditor.pem")
    taken = office.signed("auditor")
    answer = proofs.check(taken.text, [office.keys["auditor"], history.signatures[0].key], history=history)
    assert "another log" in str(answer.problem)


def test_it_takes_the_right_to_operate_and_holds_no_names(office: Office) -> None:
    assert "clerk" not in office.history().text and "auditor" not in office.history().text
    bound = office.mem.as_caller(agent="clerk").engine
    with pytest.raises(NotAllowed):
        identity_history(bound, identities.read_key(office.folder / "clerk.pem"))
    assert checkpoint_log.checkpoints(office.mem.engine)[-1] == office.history().checkpoint
