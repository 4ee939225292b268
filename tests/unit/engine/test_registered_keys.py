"""Keys that are held elsewhere: registered by the operator's word, judged like any other, replaced and revoked."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.trust.identities import sign_entry
from recollect.model.errors import BadInput, NotAllowed, WrongState
from recollect.model.proof import Signature
from recollect.rules.trust.signatures import holds, private_key, public_key, public_pem
from rows import every_row
from support.vouchers import sign_voucher

BABEL, NEXT, CRITIC = (private_key(bytes([number]) * 32) for number in (1, 2, 3))
THEIRS = public_key(BABEL)
SMALL_ORDER = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
)


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = str(tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store"))
    with recollect.open(place, policy={"preset": "entry"}) as opened:
        yield opened


@pytest.fixture
def quick() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:", policy={"preset": "entry"}) as opened:
        yield opened


def said(words: str, *vouchers: dict[str, Any], by: Any = BABEL) -> dict[str, Any]:
    """An entry of babel's, from another platform."""
    with recollect.open(":memory:", policy={"preset": "entry"}) as elsewhere:
        elsewhere.add(words, author="babel")
        entry = json.loads(next(elsewhere.export(format="entries", status=None)))
    return sign_entry({**entry, "vouchers": list(vouchers)}, by)


def vouched(entry: dict[str, Any], who: str = "critic", by: Any = CRITIC) -> dict[str, Any]:
    voucher = {"id": who, "name": who, "timestamp": "2026-02-03T00:00:00Z", "says": "accurate"}
    return {**entry, "vouchers": [sign_voucher(entry, voucher, by)]}


def taken_in(mem: recollect.Recollect, *entries: dict[str, Any]) -> Any:
    return mem.import_(io.StringIO("\n".join(map(json.dumps, entries))), format="entries", whole=True)


def test_what_was_signed_elsewhere_is_checked_where_it_comes_in_and_by_verify(mem: recollect.Recollect) -> None:
    early = taken_in(mem, vouched(said("Trust needs a chain of tellers")))
    assert (early.signed_entries, early.signed_vouches) == ({"unknown": 1}, {"unknown": 1})
    registered = mem.register_identity("babel", THEIRS)
    assert (registered.key, registered.replaced, registered.checkpoint.signatures) == (THEIRS, None, ())
    mem.register_identity("critic", public_pem(public_key(CRITIC)).decode())
    late = taken_in(mem, vouched(said("Tellers remember each other")))
    assert (late.signed_entries, late.signed_vouches) == ({"good": 1}, {"good": 1})
    found = mem.verify()
    assert found.ok and (found.signed_entries, found.signed_vouches) == ({"good": 2}, {"good": 2}), "whenever it came"
    (kept, *_) = [json.loads(line) for line in mem.export(format="entries", status=None)]
    also = {"id": "babel's friend", "name": "friend", "timestamp": "2026-02-04T00:00:00Z"}
    later = taken_in(mem, {**kept, "vouchers": [*kept["vouchers"], sign_voucher(kept, also, NEXT)]})
    assert later.vouches_added == 1 and mem.verify().signed_vouches == {"good": 2, "unknown": 1}
    forged = taken_in(mem, said("I owe Mallory a fortune", by=CRITIC))
    assert forged.refused[0].reasons[0] == "signature" and "somebody else" in forged.refused[0].detail
    forged = taken_in(mem, vouched(said("Mallory is honest"), by=BABEL))
    assert forged.refused[0].detail.startswith("vouchers: the key belongs to somebody else")


def test_a_key_is_replaced_by_the_operators_word_and_then_revoked(mem: recollect.Recollect) -> None:
    mem.register_identity("babel", THEIRS)
    taken_in(mem, said("Trust needs a chain of tellers"))
    with pytest.raises(WrongState, match="has a key already"):
        mem.register_identity("babel", public_key(NEXT))
    assert mem.register_identity("babel", public_key(NEXT), replace=True).replaced == THEIRS
    assert "rotated" in taken_in(mem, said("Signed too late")).refused[0].detail
    assert taken_in(mem, said("Tellers remember each other", by=NEXT)).signed_entries == {"good": 1}
    mem.revoke_identity("babel")
    assert "revoked" in taken_in(mem, said("Signed by a thief", by=NEXT)).refused[0].detail
    assert mem.verify().signed_entries == {"good": 2}, "what the log has from before still counts"
    third = public_key(private_key(bytes([9]) * 32))
    assert mem.register_identity("babel", third).replaced is None
    assert [one.current for one in mem.identity("babel").keys] == [False, False, True]


def test_every_import_refuses_what_is_signed_with_anothers_key(quick: recollect.Recollect, tmp_path: Path) -> None:
    file, entry = tmp_path / "entries.jsonl", said("I owe Mallory a fortune", by=CRITIC)
    file.write_text(json.dumps(entry), encoding="utf-8")
    quick.register_identity("critic", public_key(CRITIC))
    report = quick.import_(file, format="entries")
    assert (report.outcomes, report.reasons) == ({"refused": 1}, {"signature": 1})
    quick.revoke_identity("critic")
    file.write_text(json.dumps(vouched(said("Trust needs a chain of tellers"))), encoding="utf-8")
    assert quick.import_(file, format="entries").outcomes == {"stored": 1}, "a vouch of old comes along as it is told"
    assert quick.verify().signed_vouches == {"revoked": 1}


def test_verify_says_which_signatures_the_log_has_too_late(mem: recollect.Recollect) -> None:
    """They came in while nobody had said whose the key was, and stand in the log after it was revoked."""
    mem.register_identity("babel", THEIRS)
    mem.revoke_identity("babel")
    entry = said("Signed by a thief")
    fields = {name: entry[name] for name in ("content", "author", "signature")}
    mem.add(**fields, meta={"entry": {"timestamp": entry["timestamp"]}})
    mem.checkpoint()
    found = mem.verify()
    assert found.ok and found.signed_entries == {"revoked": 1}


def test_a_signature_over_other_words_is_a_problem(mem: recollect.Recollect) -> None:
    entry = said("Trust needs a chain of tellers")
    origin = {"timestamp": entry["timestamp"], "vouchers": vouched(said("Something else"))["vouchers"]}
    mem.add("Trust needs a chain of sellers", author="babel", signature=entry["signature"], meta={"entry": origin})
    mem.add("Told here, signed elsewhere", author="babel", signature=entry["signature"])
    found = mem.verify()
    assert not found.ok
    assert (found.signed_entries, found.signed_vouches) == ({"elsewhere": 1, "invalid": 1}, {"invalid": 1})
    assert [one.what for one in found.problems] == [
        "its signature does not hold",
        "the signature of a vouch that came along does not hold",
    ]


@pytest.mark.parametrize("origin", [{"timestamp": 7}, {"timestamp": "noon", "vouchers": [{"signature": "ed25519:x"}]}])
def test_an_origin_that_makes_no_sense_does_not_stop_the_walk(quick: recollect.Recollect, origin: Any) -> None:
    quick.add("Odd", author="babel", signature="ed25519:nonsense", meta={"entry": {**origin, "metadata": 7}})
    found = quick.verify()
    assert found.signed_entries == {"invalid": 1} and "does not hold" in found.problems[0].what


def test_what_the_policy_redacts_was_not_signed_so() -> None:
    entry = vouched(said("Write to ana@example.org about the tellers"))
    with recollect.open(":memory:", policy={"preset": "entry", "privacy": {"actions": {"email": "redact"}}}) as mem:
        assert taken_in(mem, entry).outcomes == {"stored": 1}
        (kept,) = mem.list().items
        assert "ana@" not in kept.content and kept.signature is None
        (told,) = (json.loads(line) for line in mem.export(format="entries", status=None))
        assert [one["id"] for one in told["vouchers"]] == ["critic"] and "signature" not in told["vouchers"][0]
        assert mem.verify().ok


def test_only_the_operator_says_whose_key_it_is(quick: recollect.Recollect) -> None:
    with pytest.raises(NotAllowed):
        quick.as_caller(agent="babel").register_identity("babel", THEIRS)
    assert quick.identities() == ()


def test_a_key_belongs_to_one_and_one_that_signs_here_is_rotated(quick: recollect.Recollect, tmp_path: Path) -> None:
    quick.register_identity("babel", THEIRS)
    for name in ("babel", "mallory"):
        with pytest.raises(WrongState, match="registered already"):
            quick.register_identity(name, THEIRS, replace=True)
    quick.new_identity("planner", key_file=tmp_path / "planner.pem")
    with pytest.raises(WrongState, match="signs here"):
        quick.register_identity("planner", public_key(NEXT), replace=True)
    assert quick.identity("planner").current is not None and quick.verify().ok


@every_row("key", ["", "abc", THEIRS.upper(), "g" * 64, "ff" * 32, "-----BEGIN nonsense", 7])
def test_what_is_no_key_says_so(quick: recollect.Recollect, key: Any) -> None:
    with pytest.raises(BadInput, match="not an Ed25519 public key"):
        quick.register_identity("babel", key)
    assert quick.identities() == ()


@every_row("key", SMALL_ORDER)
def test_a_key_that_anybody_can_sign_for_is_refused(quick: recollect.Recollect, key: str) -> None:
    with pytest.raises(BadInput, match="small order"):
        quick.register_identity("babel", key)


def test_such_a_key_would_have_signed_everything() -> None:
    anything = Signature(key=SMALL_ORDER[0], signature=SMALL_ORDER[0] + "00" * 32)
    assert holds(anything, b"one") and holds(anything, b"another")
