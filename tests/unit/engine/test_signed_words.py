"""Entries and vouches that are signed: made, checked where they come in, and worth what their key was worth then."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.transfer.entries import validate
from recollect.model.errors import AmbiguousId, BadInput, NotAllowed, NotFound
from recollect.model.record import Memory
from support.vouchers import check_voucher


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = str(tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store"))
    with recollect.open(place, policy={"preset": "entry"}) as opened:
        yield opened


@pytest.fixture
def quick() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:", policy={"preset": "entry"}) as opened:
        yield opened


def note(mem: recollect.Recollect, content: str = "Trust needs a chain of tellers", **fields: Any) -> Memory:
    found = mem.add(content, **{"owner": "lab", "space": "project", "author": "babel", **fields}).memory
    assert found is not None
    return found


def keyed(mem: recollect.Recollect, folder: Path, *names: str) -> None:
    for name in names:
        mem.new_identity(name, key_file=folder / f"{name}.pem")


def exported(mem: recollect.Recollect, **how: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mem.export(format="entries", status=None, **how)]


def read(*entries: dict[str, Any]) -> io.StringIO:
    return io.StringIO("\n".join(json.dumps(entry) for entry in entries))


def told(*entries: dict[str, Any]) -> list[str]:
    found: list[str] = []
    validate(read(*entries), lambda one: found.append(str(one)))
    return found


def test_a_signed_vouch_says_so_and_travels_with_its_signature(mem: recollect.Recollect, tmp_path: Path) -> None:
    keyed(mem, tmp_path, "critic")
    mem.vouch(note(mem).id, confidence=0.9, says="useful", sign_as="critic", key_file=tmp_path / "critic.pem")
    (entry,) = exported(mem)
    (voucher,) = entry["vouchers"]
    assert voucher["signature"].startswith("ed25519:")
    assert check_voucher(mem.engine, entry, voucher).ok
    assert not check_voucher(mem.engine, entry, {**voucher, "says": "accurate"}).ok
    assert mem.verify().ok


def test_a_key_that_was_revoked_counts_for_vouches_before_and_none_after(
    mem: recollect.Recollect, tmp_path: Path
) -> None:
    """Before or after is the place in the log, whatever the dates say."""
    keyed(mem, tmp_path, "critic")
    id, file = note(mem).id, tmp_path / "critic.pem"
    mem.vouch(id, sign_as="critic", key_file=file)
    asking = mem.as_caller(agent="critic", projects=["lab"])
    assert asking.vouchers(id).weight > 0 and asking.vouchers(id).vouchers[0]["signed"] == "good"
    mem.revoke_identity("critic")
    assert asking.vouchers(id).vouchers[0]["signed"] == "good", "the log has the vouch before the revocation"
    assert asking.vouchers(id).weight > 0
    other = note(mem, "A chain is as strong as its weakest teller").id
    with pytest.raises(recollect.Refused):
        mem.vouch(other, sign_as="critic", key_file=file)


def test_a_rotated_key_signs_no_more_vouches_and_the_next_one_does(mem: recollect.Recollect, tmp_path: Path) -> None:
    keyed(mem, tmp_path, "critic")
    mem.rotate_identity("critic", key_file=tmp_path / "critic.pem", to=tmp_path / "next.pem")
    with pytest.raises(BadInput, match="holds another key"):
        mem.vouch(note(mem).id, sign_as="critic", key_file=tmp_path / "critic.pem")
    mem.vouch(note(mem).id, sign_as="critic", key_file=tmp_path / "next.pem")
    assert mem.vouchers(note(mem).id).vouchers[0]["signed"] == "good"


def test_where_the_policy_asks_for_signatures_nobody_vouches_without(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    with recollect.open(store, policy={"preset": "entry"}) as mem:
        unsigned, signed = note(mem).id, note(mem, "Tellers remember each other").id
        mem.vouch(unsigned, by="critic")
    with recollect.open(store, policy={"preset": "entry", "trust": {"signed_only": True}}) as mem:
        asking = mem.as_caller(agent="critic", projects=["lab"])
        assert asking.vouchers(unsigned).weight == 0.0, "what was never signed weighs nothing here"
        with pytest.raises(NotFound, match="has no key"):
            mem.vouch(signed, by="critic")
        mem.new_identity("critic")
        mem.vouch(signed, by="critic")
        assert asking.vouchers(signed).weight > 0
        assert mem.verify().ok


def test_only_whoever_vouches_signs_it(quick: recollect.Recollect, tmp_path: Path) -> None:
    keyed(quick, tmp_path, "critic", "babel")
    id = note(quick).id
    with pytest.raises(BadInput, match="signs it too"):
        quick.vouch(id, by="critic", sign_as="babel", key_file=tmp_path / "babel.pem")
    with pytest.raises(BadInput, match="holds another key"):
        quick.vouch(id, sign_as="critic", key_file=tmp_path / "babel.pem")
    with pytest.raises(NotAllowed):
        quick.as_caller(agent="critic", projects=["lab"]).vouch(id, sign_as="babel", key_file=tmp_path / "babel.pem")
    with pytest.raises(NotAllowed):
        quick.vouch(id, sign_as="babel", key_file=tmp_path / "babel.pem")


def test_an_export_signs_what_its_author_wrote_and_nothing_else(quick: recollect.Recollect, tmp_path: Path) -> None:
    keyed(quick, tmp_path, "babel")
    note(quick)
    note(quick, "Somebody else said this", author="critic")
    signed = exported(quick, sign_as="babel", key_file=tmp_path / "babel.pem")
    assert [("signature" in entry) for entry in signed] == [True, False]
    assert quick.check_entry(signed[0]).ok
    assert not told(*signed)


def test_a_bare_name_means_the_one_that_has_a_key_and_never_leaves_another_unsigned_unseen(
    mem: recollect.Recollect, tmp_path: Path
) -> None:
    mem.new_identity("user:ana", key_file=tmp_path / "user.pem")
    note(mem, author="user:ana")
    (signed,) = exported(mem, sign_as="ana", key_file=tmp_path / "user.pem")
    assert mem.check_entry(signed).name == "user:ana"
    note(mem, "Agents tell as well", author="agent:ana")
    with pytest.raises(AmbiguousId, match="user:ana or agent:ana") as error:
        exported(mem, sign_as="ana", key_file=tmp_path / "user.pem")
    assert error.value.field == "sign_as"
    assert ["signature" in one for one in exported(mem, sign_as="user:ana", key_file=tmp_path / "user.pem")] == [
        True,
        False,
    ]
    mem.new_identity("agent:ana", key_file=tmp_path / "agent.pem")
    with pytest.raises(AmbiguousId, match="agent:ana or user:ana"):
        mem.checkpoint(sign_as="ana", key_file=tmp_path / "user.pem")


def test_validation_finds_a_signature_that_does_not_hold(quick: recollect.Recollect, tmp_path: Path) -> None:
    keyed(quick, tmp_path, "babel", "critic")
    quick.vouch(note(quick).id, sign_as="critic", key_file=tmp_path / "critic.pem")
    (entry,) = exported(quick, sign_as="babel", key_file=tmp_path / "babel.pem")
    assert not told(entry)
    (voucher,) = entry["vouchers"]
    later = {**entry, "timestamp": "2020-01-01T00:00:00Z"}
    assert told(later) == [
        "entry 1 (line 1), signature: does not hold: it was made of something else, or by another key"
    ]
    assert "vouchers[0].signature: does not hold" in told({**entry, "vouchers": [{**voucher, "confidence": 0.1}]})[0]
    assert "expected ed25519:" in told({**entry, "signature": "ed25519:nonsense"})[0]
    assert not told({**entry, "signature": "pgp: by word of mouth"}), "another scheme is another's to check"


def test_an_import_takes_only_what_is_signed_with_a_key_that_counts(quick: recollect.Recollect, tmp_path: Path) -> None:
    keyed(quick, tmp_path, "babel")
    note(quick)
    (entry,) = exported(quick, sign_as="babel", key_file=tmp_path / "babel.pem")
    with pytest.raises(BadInput, match="does not hold"):
        quick.import_(read({**entry, "timestamp": "2020-01-01T00:00:00Z"}), format="entries", whole=True)
    with recollect.open(":memory:", policy={"preset": "entry"}) as elsewhere:
        assert elsewhere.import_(read(entry), format="entries", whole=True).outcomes == {"stored": 1}, (
            "nobody has said there whose key it is"
        )
    with recollect.open(":memory:", policy={"preset": "entry"}) as here:
        key = tmp_path / "here.pem"
        here.new_identity("babel", key_file=key)
        signed = here.sign_entry({name: value for name, value in entry.items() if name != "signature"}, key_file=key)
        as_critic = here.sign_entry({**entry, "author": {"id": "critic", "name": "Critic"}}, key_file=key)
        done = here.import_(read(as_critic), format="entries", whole=True)
        assert done.refused[0].reasons[0] == "signature" and "somebody else" in done.refused[0].detail
        here.revoke_identity("babel")
        done = here.import_(read(signed), format="entries", whole=True)
        assert done.outcomes == {"refused": 1} and "revoked" in done.refused[0].detail


@pytest.mark.parametrize("names_it", [True, False])
def test_a_signature_still_holds_when_its_entry_supersedes_another(
    quick: recollect.Recollect, tmp_path: Path, names_it: bool
) -> None:
    """What a signed entry builds upon is what its author signed, though the old one says that it was superseded."""
    keyed(quick, tmp_path, "babel")
    old, new = note(quick), note(quick, "Trust needs a chain of known tellers")
    before, after = ({k: v for k, v in one.items() if k not in ("metadata", "cid")} for one in exported(quick))
    after = quick.sign_entry(
        {**after, "parent_refs": [old.content_hash] if names_it else []}, key_file=tmp_path / "babel.pem"
    )
    with recollect.open(":memory:", policy={"preset": "entry"}) as elsewhere:
        elsewhere.import_(read({**before, "superseded_by": new.content_hash}, after), format="entries", whole=True)
        assert [one.content for one in elsewhere.list(limit=10).items] == [new.content]
        first, second = exported(elsewhere)
        assert not told(first, second)
        assert first["superseded_by"] == new.content_hash and second["signature"] == after["signature"]


def test_a_signature_still_holds_where_its_entry_happens_to_supersede_another(
    quick: recollect.Recollect, tmp_path: Path
) -> None:
    """By its key, say: what it superseded here is not among the parents that its author signed."""
    keyed(quick, tmp_path, "babel")
    with recollect.open(":memory:", policy={"preset": "entry"}) as elsewhere:
        old = note(elsewhere, "The port is 80", canonical_key="Port")
        note(quick, "The port is 443", canonical_key="Port")
        (entry,) = exported(quick, sign_as="babel", key_file=tmp_path / "babel.pem")
        assert elsewhere.import_(read(entry), believe=["place", "weight"], format="entries", whole=True).outcomes == {
            "superseded": 1
        }
        (new,) = elsewhere.list().items
        assert new.supersedes_id == old.id and old.id in elsewhere.ancestors(new.id).sources
        assert not told(*exported(elsewhere))
