"""A person who is erased is gone from streams that were never theirs: what they wrote there, and their name."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from erased import assert_sound, is_gone, told

import recollect
from recollect.engine.ledger.checkpoint_log import checkpoint, prove_memory
from recollect.engine.ledger.documents import erasure_record
from recollect.engine.trust.identities import new_identity, signing_key
from recollect.rules.ledger import proofs
from support.postgres_server import binaries

ANA = "Xerophytia"
Open = Callable[..., recollect.Recollect]


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens a store with what the policy says of derived memories."""
    is_server = request.param == "postgres"
    if is_server:
        monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    place = request.getfixturevalue("server_store") if is_server else tmp_path / request.param
    current: list[recollect.Recollect] = []

    def open_it(derived: str = "review") -> recollect.Recollect:
        current.append(recollect.open(place, policy={"erasure": {"derived": derived}}))
        return current[0]

    yield open_it
    for one in current:
        one.close()


@pytest.fixture
def mem(tmp_path: Path) -> Iterator[recollect.Recollect]:
    with recollect.open(tmp_path / "memory.db") as mem:
        yield mem


def in_the_lab(mem: recollect.Recollect, content: str, **caller: Any) -> Any:
    """What somebody writes in a project that belongs to nobody."""
    speaker = mem.as_caller(projects=["lab"], **caller) if caller else mem
    receipt = speaker.add(content, owner="lab", space="project")
    assert receipt.memory is not None, receipt.detail
    return receipt.memory


@pytest.mark.parametrize(
    ("opened", "derived"),
    [("memory.db", "keep"), ("memory.db", "erase"), ("vault.jsonl", "review"), ("postgres", "review")],
    indirect=["opened"],
)
def test_what_they_wrote_is_theirs_and_what_was_written_for_them_is_the_policys(opened: Open, derived: str) -> None:
    mem = opened(derived)
    wrote = in_the_lab(mem, "Copper wires need care", user=ANA)
    noted = in_the_lab(mem, "Iron rods are stored upstairs", user=ANA, agent="planner")
    bens = in_the_lab(mem, "Tin melts early", user="ben", agent="planner")
    before = mem.get(bens.id)
    receipt = mem.erase(owner=ANA)
    became = {"keep": "kept", "review": "review", "erase": "erased"}[derived]
    assert (receipt.removed, receipt.authored) == ((), (wrote.id,)) and not receipt.is_empty
    assert told(receipt) == {noted.id: (("written_for",), became)}
    assert is_gone(mem, wrote.id) and is_gone(mem, noted.id) == (derived == "erase")
    if derived != "erase":
        now = mem.get(noted.id)
        assert (now.content, now.user_id, now.agent_id) == (noted.content, None, "planner")
        assert now.status == {"keep": "active", "review": "archived"}[derived]
        assert not any("their name" in beyond for beyond in receipt.beyond_reach)
    assert mem.get(bens.id) == before
    assert_sound(mem)
    assert mem.erase(owner=ANA).is_empty


def test_what_was_made_of_what_they_wrote_elsewhere_is_derived(mem: recollect.Recollect) -> None:
    wrote = in_the_lab(mem, "Copper wires need care", user=ANA)
    child: Any = mem.add("Grease the wires", owner="ben", parent_refs=[wrote.content_hash]).memory
    receipt = mem.erase(owner=ANA)
    assert receipt.authored == (wrote.id,) and told(receipt) == {child.id: (("built_upon",), "review")}
    assert mem.get(child.id).parent_refs == ()
    assert_sound(mem)


def test_what_they_vouched_for_elsewhere_is_listed_and_stays(mem: recollect.Recollect) -> None:
    vouchers = [{"id": ANA, "name": ANA, "timestamp": "2026-01-01T00:00:00Z"}]
    bens: Any = mem.add("Tin melts early", owner="ben", meta={"entry": {"vouchers": vouchers}}).memory
    receipt = mem.erase(owner=ANA)
    assert told(receipt) == {bens.id: (("vouched",), "kept")} and mem.get(bens.id).status == "active"
    assert any("their name" in beyond for beyond in receipt.beyond_reach)


def test_an_agent_of_their_name_is_somebody_else(mem: recollect.Recollect) -> None:
    bens = in_the_lab(mem, "Tin melts early", user="ben", agent=ANA)
    assert told(mem.erase(owner=ANA)) == {bens.id: (("agent",), "kept")}
    assert mem.get(bens.id).status == "active"


@pytest.mark.parametrize("opened", ["memory.db", "postgres"], indirect=True)
def test_a_session_that_was_theirs_alone_loses_its_name(opened: Open) -> None:
    mem = opened()
    for session, users in {"s-" + ANA: [ANA], "s-both": [ANA, "ben"]}.items():
        for user in users:
            mem.as_caller(user=user, session=session).turn(session=session, user=f"I like wires, says {user}", ai="ok")
    mem.as_caller(user=ANA, session="s-" + ANA).start_phase(owner="s-" + ANA, space="session", name=f"p-{ANA}")
    mem.erase(owner=ANA)
    assert [one.owner for one in mem.list(space="session", status=None, limit=50).items] == ["s-both"] * 2
    with mem.engine.read() as reader:
        names = [stream.address and stream.address.owner for stream in reader.streams_of("default")]
        phases = [phase.name for stream in reader.streams_of("default") for phase in reader.phases(stream)]
    assert "s-both" in names and f"s-{ANA}" not in names and f"p-{ANA}" not in phases
    assert_sound(mem)
    mem.as_caller(user="ben", session="s-" + ANA).turn(session="s-" + ANA, user="Anybody here?", ai="no")
    assert_sound(mem)


def test_an_owner_who_is_called_like_the_application_takes_nothing_along(mem: recollect.Recollect) -> None:
    mem.add("Ana likes tea", owner="ana")
    mem.add("It runs at night", owner="application")
    receipt = mem.erase(owner="application")
    assert (len(receipt.removed), receipt.authored, receipt.derived) == (1, (), ())
    assert [one.owner for one in mem.list().items] == ["ana"]


def test_a_person_is_told_only_of_what_they_may_see(mem: recollect.Recollect) -> None:
    """They left the project: what they wrote there goes all the same."""
    wrote = in_the_lab(mem, "Copper wires need care", user=ANA)
    noted = in_the_lab(mem, "Iron rods are stored upstairs", user=ANA, agent="planner")
    mem.add("I like granite", owner=ANA)
    left = mem.as_caller(user=ANA, rights=["read", "write", "erase"])
    receipt = left.erase(owner=ANA)
    assert (receipt.authored, receipt.derived, receipt.links_cut, len(receipt.entries)) == ((), (), 0, 1)
    assert is_gone(mem, wrote.id) and mem.get(noted.id).user_id is None


def test_no_tenant_reaches_another(mem: recollect.Recollect, tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", tenant="globex") as globex:
        theirs = in_the_lab(globex, "Copper wires need care", user=ANA)
        assert mem.erase(owner=ANA).is_empty and globex.get(theirs.id).user_id == ANA


def test_the_receipt_says_so_and_what_was_proven_stays_proven(mem: recollect.Recollect) -> None:
    new_identity(mem.engine, "operator")
    key = signing_key(mem.engine, "operator")
    wrote = in_the_lab(mem, "Copper wires need care", user=ANA)
    noted = in_the_lab(mem, "Iron rods are stored upstairs", user=ANA, agent="planner")
    kept = checkpoint(mem.engine, key)
    record = erasure_record(mem.engine, mem.erase(owner=ANA), key)
    public = record.signatures[0].key
    answer = proofs.check(record.text, [public])
    assert answer.ok and any("wrote elsewhere" in line for line in answer.shows)
    assert record.authored == (wrote.id,) and ANA not in record.text
    assert not proofs.check(record.text.replace(f'"authored":["{wrote.id}"],', ""), [public]).ok
    assert mem.verify(kept=kept).problems == ()
    proof = prove_memory(mem.engine, noted.id)
    assert proofs.check(proof.text, [public]).ok and ANA not in proof.text


def test_a_receipt_from_before_there_were_any_is_read_as_it_was_signed(mem: recollect.Recollect) -> None:
    mem.add("I like granite", owner=ANA)
    record = erasure_record(mem.engine, mem.erase(owner=ANA))
    assert "authored" not in record.text and "not signed" in str(proofs.check(record.text, []).problem)


@pytest.mark.parametrize("derived", ["keep", "review"])
def test_a_restored_copy_forgets_them_again(tmp_path: Path, derived: str) -> None:
    path, policy = tmp_path / "memory.db", {"erasure": {"derived": derived}}
    with recollect.open(path, policy=policy) as mem:
        wrote = in_the_lab(mem, "Copper wires need care", user=ANA)
        noted = in_the_lab(mem, "Iron rods are stored upstairs", user=ANA, agent="planner")
        alone: Any = mem.add("For the agent of that name", owner="ben", scope=ANA).memory
        mem.as_caller(user=ANA, session="s-" + ANA).turn(session="s-" + ANA, user="I like wires", ai="ok")
    shutil.copy(path, tmp_path / "before")
    with recollect.open(path, policy=policy) as mem:
        mem.erase(owner=ANA)
    shutil.copy(tmp_path / "before", path)
    with recollect.open(path) as mem:
        status = {"keep": "active", "review": "archived"}[derived]
        assert is_gone(mem, wrote.id) and mem.get(noted.id).user_id is None
        assert (mem.get(noted.id).status, mem.get(alone.id).status) == (status, "active")
        assert_sound(mem)
        if derived == "review":
            mem.restore(noted.id)
    with recollect.open(path) as mem:
        assert mem.get(noted.id).status == mem.get(alone.id).status == "active", "what was decided stays decided"
    assert f"s-{ANA}".encode() not in path.read_bytes()
