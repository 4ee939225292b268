"""Keys and whose they are: made, rotated, revoked; signatures judged by where the log has them, not by what they claim."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from recollect.engine.ledger import checkpoint_log
from recollect.engine.trust import identities
from recollect.engine.trust.identities import (
    check_entry,
    identity,
    new_identity,
    place_of_memory,
    read_key,
    revoke_identity,
    rotate_identity,
    sign_entry,
    signing_key,
    write_key,
)
from recollect.interfaces.python import Recollect
from recollect.model.caller import Right
from recollect.model.errors import AmbiguousId, BadInput, NotAllowed, NotFound, WrongState
from recollect.rules.trust.signatures import Standing, checkpoint_bytes, private_key, public_key, sign
from recollect.rules.trust.signed_documents import check_offline
from recollect.stores.protocol import LogSignature
from support.script import open_seeded
from support.vouchers import check_voucher, sign_voucher

WORDS = "Trust needs attribution"


def entry(author: str = "planner", content: str = WORDS, **fields: Any) -> dict[str, Any]:
    made = {
        "content": content,
        "author": {"id": author, "name": author.title()},
        "timestamp": "2026-02-02T16:00:00Z",
        "content_hash": hashlib.sha256(content.encode()).hexdigest(),
        "parent_refs": [],
    }
    return {**made, **fields}


@pytest.fixture
def mem(place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A server has no folder that keys could lie in by themselves: here they lie where a file's would."""
    if not isinstance(place, Path):
        keys = tmp_path / "memory.db.keys"
        monkeypatch.setattr(identities, "default_file", lambda _, key: keys / f"{key[:16]}.pem")
    with open_seeded(place) as opened:
        yield opened


def signed_by(mem: Recollect, name: str, **fields: Any) -> dict[str, Any]:
    return sign_entry(entry(name, **fields), signing_key(mem.engine, name))


def kept_as_memory(mem: Recollect, signed: dict[str, Any]) -> str:
    """A signed entry that arrives: from then on the ledger has it, with its signature."""
    memory = mem.add(signed["content"], author=signed["author"], signature=signed["signature"], owner="ana").memory
    assert memory is not None
    return memory.id


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_new_key_lies_beside_the_store_for_its_owner_alone(mem: Recollect, tmp_path: Path) -> None:
    made = new_identity(mem.engine, "planner")
    file = Path(made.file)
    assert file.parent == tmp_path / "memory.db.keys" and "planner" not in file.name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert public_key(read_key(file)) == made.key
    found = identity(mem.engine, "planner")
    assert [key.key for key in found.keys] == [made.key] and found.key_that_counts().current
    assert [one.key for one in made.checkpoint.signatures] == [made.key], (
        "whoever registers a key shows that it is theirs"
    )


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_no_private_key_is_in_the_database(mem: Recollect, tmp_path: Path) -> None:
    made = new_identity(mem.engine, "planner")
    seed = read_key(Path(made.file)).private_bytes_raw()
    rotate_identity(mem.engine, "planner")
    mem.close()
    for file in tmp_path.glob("memory.db*"):
        if file.is_file():
            assert seed not in file.read_bytes() and seed.hex().encode() not in file.read_bytes(), file.name


def test_somebody_has_one_key_at_a_time(mem: Recollect, tmp_path: Path) -> None:
    new_identity(mem.engine, "planner")
    with pytest.raises(WrongState, match="rotate"):
        new_identity(mem.engine, "planner", tmp_path / "second.pem")
    assert not (tmp_path / "second.pem").exists(), "a key that was not registered leaves no file"


def test_a_key_file_is_never_overwritten(mem: Recollect, tmp_path: Path) -> None:
    file = tmp_path / "mine.pem"
    file.write_text("precious")
    with pytest.raises(WrongState, match="is there"):
        new_identity(mem.engine, "planner", file)
    assert file.read_text() == "precious" and identities.identities(mem.engine) == ()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o755])
def test_a_key_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    write_key(file, private_key(bytes(32)))
    os.chmod(file, mode)
    with pytest.raises(NotAllowed, match="chmod 600"):
        read_key(file)


def test_a_file_that_is_no_key_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no such key file"):
        read_key(tmp_path / "missing.pem")
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    nonsense.chmod(0o600)
    with pytest.raises(BadInput, match="not an Ed25519 private key"):
        read_key(nonsense)
    with pytest.raises(BadInput, match="cannot be read"):
        read_key(tmp_path)


def test_a_store_that_is_no_file_needs_to_be_told_where(tmp_path: Path) -> None:
    with open_seeded() as mem:
        with pytest.raises(BadInput, match="Name a file"):
            new_identity(mem.engine, "planner")
        assert new_identity(mem.engine, "planner", tmp_path / "planner.pem").key


def test_rotation_takes_the_old_key_and_both_sign(mem: Recollect, tmp_path: Path) -> None:
    first = new_identity(mem.engine, "planner")
    second = rotate_identity(mem.engine, "planner")
    old, new = identity(mem.engine, "planner").keys
    assert (old.key, old.rotated_to, new.key, old.current, new.current) == (
        first.key,
        second.key,
        second.key,
        False,
        True,
    )
    assert {one.key for one in second.checkpoint.signatures} == {first.key, second.key}
    with pytest.raises(BadInput, match="another key"):
        rotate_identity(mem.engine, "planner", Path(first.file), tmp_path / "third.pem")
    assert mem.verify().ok


def test_a_revoked_key_is_replaced_by_a_new_one(mem: Recollect) -> None:
    first = new_identity(mem.engine, "planner")
    revoke_identity(mem.engine, "planner")
    with pytest.raises(WrongState, match="no key that counts"):
        revoke_identity(mem.engine, "planner")
    with pytest.raises(WrongState, match="revoked already"):
        revoke_identity(mem.engine, "planner", first.key[:12])
    second = new_identity(mem.engine, "planner")
    found = identity(mem.engine, "planner")
    assert [key.revoked_at is not None for key in found.keys] == [
        True,
        False,
    ] and found.key_that_counts().key == second.key
    with pytest.raises(NotFound):
        revoke_identity(mem.engine, "planner", "0" * 12)
    with pytest.raises(NotFound):
        revoke_identity(mem.engine, "planner", "")
    assert mem.verify().ok


def test_a_prefix_that_fits_two_keys_is_ambiguous(mem: Recollect) -> None:
    keys = (identities.IdentityKey("ab" + "0" * 62, 0, ""), identities.IdentityKey("ac" + "0" * 62, 1, ""))
    found = identities.Identity("planner", "1" * 64, keys)
    with pytest.raises(AmbiguousId):
        identities.find_key(found, "a")


def test_who_may_look_after_whose_keys(mem: Recollect, tmp_path: Path) -> None:
    planner = mem.as_caller(agent="planner", user="ana").engine
    assert new_identity(planner, "planner", tmp_path / "own.pem").key
    for act in (
        lambda: new_identity(planner, "critic", tmp_path / "critic.pem"),
        lambda: revoke_identity(planner, "critic"),
        lambda: rotate_identity(planner, "critic"),
    ):
        with pytest.raises(NotAllowed, match="another's keys"):
            act()
    keeper = mem.as_caller(agent="keeper", user="ana", rights=[Right.OPERATE]).engine
    assert new_identity(keeper, "critic", tmp_path / "critic.pem").key


def test_a_key_that_does_not_count_signs_no_checkpoint(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana")
    with pytest.raises(NotAllowed, match="is unknown"):
        checkpoint_log.checkpoint(mem.engine, private_key(bytes(32)))
    assert checkpoint_log.checkpoints(mem.engine) == (), "all of it, or nothing"
    new_identity(mem.engine, "planner")
    key = signing_key(mem.engine, "planner")
    revoke_identity(mem.engine, "planner")
    with pytest.raises(NotAllowed, match="is revoked"):
        checkpoint_log.checkpoint(mem.engine, key)
    mem.add("Ben plays chess", owner="ben")
    with pytest.raises(NotAllowed, match="is revoked"):
        checkpoint_log.checkpoint(mem.engine, key)
    first = new_identity(mem.engine, "planner")
    old = signing_key(mem.engine, "planner", Path(first.file))
    rotate_identity(mem.engine, "planner")
    with pytest.raises(NotAllowed, match="is rotated"):
        checkpoint_log.checkpoint(mem.engine, old)


def test_verify_sees_a_revoked_keys_signature_under_its_own_revocation(mem: Recollect) -> None:
    new_identity(mem.engine, "planner")
    stolen = signing_key(mem.engine, "planner")
    last = revoke_identity(mem.engine, "planner")
    late = sign(stolen, checkpoint_bytes(last))
    with mem.engine.write() as writer:
        writer.add_log_signature("default", LogSignature(last.size, late.key, late.signature))
    assert [problem.what for problem in mem.verify().problems] == [
        f"the key {late.key[:12]} that signed it was revoked"
    ]


def test_an_entry_signed_by_its_author_holds(mem: Recollect) -> None:
    made = new_identity(mem.engine, "planner")
    signed = signed_by(mem, "planner")
    found = check_entry(mem.engine, signed)
    assert (found.ok, found.name, found.key, found.standing) == (True, "agent:planner", made.key, Standing.GOOD)
    assert check_offline(signed, [made.key]).ok
    assert check_offline(signed, ["0" * 64]).problem == "the key that made it is not known"
    assert not check_entry(mem.engine, {**signed, "timestamp": "2026-02-02T16:00:01Z"}).ok


def test_nobody_signs_for_somebody_else(mem: Recollect) -> None:
    for name in ("planner", "critic"):
        new_identity(mem.engine, name)
    forged = sign_entry(entry("planner"), signing_key(mem.engine, "critic"))
    found = check_entry(mem.engine, forged)
    assert not found.ok and found.name == "agent:critic" and "belongs to somebody else" in str(found.problem)
    stranger = sign_entry(entry("planner"), private_key(bytes(32)))
    assert check_entry(mem.engine, stranger).standing is Standing.UNKNOWN


def test_borders_hold_for_keys_too(mem: Recollect) -> None:
    """Who else has a key, and whose a key is, is not for everybody; nor is where the log has what one may not see."""
    for name in ("user:ana", "user:ben"):
        new_identity(mem.engine, name)
    hidden = kept_as_memory(mem, signed_by(mem, "user:ana"))
    ben = mem.as_caller(user="ben").engine
    assert identity(ben, "ben").name == "user:ben"
    for ask in (lambda: identity(ben, "user:ana"), lambda: identities.identities(ben), lambda: identity(ben, "nobody")):
        with pytest.raises(NotAllowed):
            ask()
    assert check_entry(ben, signed_by(mem, "user:ana")).ok, "what ana signed as ana, anybody can check"
    forged = check_entry(ben, sign_entry(entry("user:ben"), signing_key(mem.engine, "user:ana")))
    assert not forged.ok and forged.name is None and "ana" not in str(forged)
    with pytest.raises(NotFound):
        place_of_memory(ben, hidden)
    with pytest.raises(NotAllowed):
        check_entry(mem.as_caller(user="ben", rights=()).engine, signed_by(mem, "user:ana"))


def test_what_was_signed_before_a_rotation_still_counts_and_later_does_not(mem: Recollect) -> None:
    first = new_identity(mem.engine, "planner")
    old = signing_key(mem.engine, "planner")
    before = signed_by(mem, "planner")
    id = kept_as_memory(mem, before)
    rotate_identity(mem.engine, "planner")
    after = sign_entry(entry("planner", "Written later, dated earlier", timestamp="2020-01-01T00:00:00Z"), old)
    late = kept_as_memory(mem, after)
    checkpoint_log.checkpoint(mem.engine)
    assert check_entry(mem.engine, before, place_of_memory(mem.engine, id)).ok
    found = check_entry(mem.engine, after, place_of_memory(mem.engine, late))
    assert not found.ok and found.standing is Standing.ROTATED and found.key == first.key
    assert check_entry(mem.engine, signed_by(mem, "planner")).ok, "the new key counts"


def test_what_was_signed_after_a_revocation_does_not_count_whatever_its_date(mem: Recollect) -> None:
    new_identity(mem.engine, "planner")
    stolen = signing_key(mem.engine, "planner")
    before = signed_by(mem, "planner")
    id = kept_as_memory(mem, before)
    assert place_of_memory(mem.engine, id) is None, "the log does not have it yet"
    revoke_identity(mem.engine, "planner")
    assert place_of_memory(mem.engine, id) is not None, "but has it before the revocation, by then"
    backdated = sign_entry(entry("planner", "I owe Mallory a fortune", timestamp="2020-01-01T00:00:00Z"), stolen)
    late = kept_as_memory(mem, backdated)
    assert check_entry(mem.engine, before, place_of_memory(mem.engine, id)).ok
    for _ in range(2):
        found = check_entry(mem.engine, backdated, place_of_memory(mem.engine, late))
        assert not found.ok and found.standing is Standing.REVOKED
        checkpoint_log.checkpoint(mem.engine)


def test_a_voucher_is_signed_by_whoever_vouches(mem: Recollect) -> None:
    new_identity(mem.engine, "critic")
    said = {"id": "critic", "name": "Critic", "timestamp": "2026-02-03T00:00:00Z", "confidence": 0.9}
    signed = sign_voucher(entry(), said, signing_key(mem.engine, "critic"))
    assert check_voucher(mem.engine, entry(), signed).ok
    assert not check_voucher(mem.engine, entry(), {**signed, "confidence": 1.0}).ok
    assert not check_voucher(mem.engine, entry("planner", "Other words"), signed).ok
    assert not check_voucher(mem.engine, entry(), {**signed, "id": "planner"}).ok


def test_what_is_not_signed_or_not_a_signature_says_so(mem: Recollect) -> None:
    with pytest.raises(NotFound, match="not signed"):
        check_entry(mem.engine, entry())
    for nonsense in ("nonsense", "ed25519:00:00", "ed25519:" + "0" * 64 + ":" + "g" * 128):
        with pytest.raises(BadInput, match="not a signature"):
            check_entry(mem.engine, entry(signature=nonsense))
    with pytest.raises(BadInput, match="content_hash"):
        sign_entry(entry(content_hash="0" * 64), private_key(bytes(32)))
    with pytest.raises(BadInput, match="say who signs"):
        signing_key(mem.engine)


def test_an_erased_persons_key_belongs_to_nobody_anybody_can_name(mem: Recollect) -> None:
    new_identity(mem.engine, "user:ana")
    mem.as_caller(user="ana").add("Ana lives in Lisbon")
    signed = signed_by(mem, "user:ana")
    mem.erase(owner="ana")
    found = check_entry(mem.engine, signed)
    assert not found.ok and found.name is None and found.problem == "whose key it was has been erased"
    with pytest.raises(NotFound):
        identity(mem.engine, "user:ana")
    assert mem.verify().ok
