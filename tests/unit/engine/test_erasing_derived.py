"""What was made of an erased memory: found in every stream, told as far as the caller may see, dealt with by policy."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from erased import assert_sound, is_gone, told

import recollect
from recollect.model.canonical import canonical_json
from recollect.model.ledger import Entry, commit_to
from recollect.model.record import Memory
from recollect.model.seals import links_of, without
from recollect.whole_stores import restore_backup
from support.postgres_server import binaries

Open = Callable[..., recollect.Recollect]


@pytest.fixture(params=["memory.db", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    is_server = request.param == "postgres"
    if is_server:
        monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    return str(request.getfixturevalue("server_store") if is_server else tmp_path / request.param)


on_every_store = pytest.mark.parametrize("place", ["memory.db", "vault.jsonl", "postgres"], indirect=True)


@pytest.fixture
def opened(place: str) -> Iterator[Open]:
    """Opens the store anew, with what the policy says of derived memories; one at a time."""
    current: list[recollect.Recollect] = []

    def open_anew(derived: str = "review", **sections: Any) -> recollect.Recollect:
        while current:
            current.pop().close()
        current.append(recollect.open(place, policy={"erasure": {"derived": derived}, **sections}))
        return current[0]

    yield open_anew
    while current:
        current.pop().close()


def add(mem: recollect.Recollect, content: str, owner: str, *upon: Memory, **fields: Any) -> Memory:
    receipt = mem.add(content, owner=owner, parent_refs=[one.content_hash for one in upon], **fields)
    assert receipt.memory is not None, receipt.detail
    return receipt.memory


def test_keep_lists_them_and_cuts_the_link(opened: Open) -> None:
    mem = opened("keep")
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    child = add(mem, "Bees need flowers all year", "ben", source, tags=["bees"])
    receipt = mem.erase(owner="ana")
    assert told(receipt) == {child.id: (("built_upon",), "kept")} and receipt.links_cut == 1
    now = mem.get(child.id)
    assert (now.status, now.content, now.tags, now.parent_refs) == ("active", child.content, ("bees",), ())
    assert mem.query("which flowers for bees?").items[0].memory.id == child.id
    assert [event.meta["operation"] for event in mem.history(child.id)] == ["stored", "severed"]
    assert_sound(mem)


@on_every_store
def test_review_takes_them_out_of_recall_until_somebody_decides(opened: Open) -> None:
    mem = opened()
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    child = add(mem, "Bees need flowers all year", "ben", source)
    further = add(mem, "Plant clover for them", "carla", child)
    other = add(mem, "Clover is green", "carla")
    receipt = mem.erase(id=source.id)
    assert told(receipt) == {one.id: (("built_upon",), "review") for one in (child, further)}
    assert {mem.get(one.id).status for one in (child, further)} == {"archived"} and receipt.links_cut == 1
    assert mem.get(further.id).parent_refs == (child.content_hash,), "its source is there, and may be restored"
    assert mem.get(other.id).status == "active"
    assert child.id not in [item.memory.id for item in mem.query("which flowers for bees?").items]
    assert "waits for somebody" in mem.explain(child.id).text
    assert mem.restore(child.id).status == "active"
    assert_sound(mem)


@on_every_store
def test_erase_takes_everything_that_was_made_of_it(opened: Open) -> None:
    mem = opened("erase")
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    child = add(mem, "Bees need flowers all year", "ben", source)
    further = add(mem, "Plant clover for them", "carla", child)
    other = add(mem, "Clover is green", "carla")
    receipt = mem.erase(owner="ana")
    assert receipt.removed == (source.id,)
    assert told(receipt) == {child.id: (("built_upon",), "erased"), further.id: (("built_upon",), "erased")}
    assert all(is_gone(mem, one.id) for one in (source, child, further)) and not is_gone(mem, other.id)
    assert [event.meta["operation"] for event in mem.history(further.id)] == ["stored", "erased"]
    assert_sound(mem)


def test_what_was_promoted_says_the_same_words_and_is_found_however_far_it_went(opened: Open) -> None:
    ways = [("user", "project"), ("project", "system")]
    paths = [{"from_space": one, "to_space": other, "authority": "ai_inferred"} for one, other in ways]
    mem = opened(spaces={"paths": paths})
    source = add(mem, "We deploy on Fridays, says Zanzibar", "ana")
    in_project: Any = mem.promote(source.id, "project", owner="apollo").memory
    in_system: Any = mem.promote(in_project.id, "system").memory
    receipt = mem.erase(owner="ana")
    assert told(receipt) == {one.id: (("promoted",), "review") for one in (in_project, in_system)}
    assert {mem.get(one.id).status for one in (in_project, in_system)} == {"archived"}
    assert_sound(mem)


def test_the_next_version_is_no_derivative_even_if_it_names_the_one_before(opened: Open) -> None:
    mem = opened()
    old = add(mem, "Ana lives in Zanzibar", "ana", canonical_key="Ana-City-Home")
    new = add(mem, "Ana lives in Porto", "ana", old, canonical_key="Ana-City-Home", change="update")
    last = add(mem, "Ana lives in Braga", "ana", canonical_key="Ana-City-Home", change="update")
    receipt = mem.erase(id=old.id)
    assert (receipt.derived, receipt.links_cut, set(receipt.remaining)) == ((), 1, {new.id, last.id})
    assert mem.get(last.id).status == "active"
    middle = mem.erase(id=new.id)
    assert (middle.derived, middle.remaining) == ((), (last.id,))
    assert_sound(mem)


def test_where_somebody_else_said_the_same_words_the_link_may_be_theirs(opened: Open) -> None:
    mem = opened()
    said_by_ana = add(mem, "The bridge is closed", "ana")
    said_by_ben = add(mem, "The bridge is closed", "ben")
    bens = add(mem, "Take the ferry instead", "ben", said_by_ben)
    receipt = mem.erase(owner="ana")
    assert (receipt.derived, receipt.links_cut) == ((), 0)
    assert mem.get(bens.id).parent_refs == (said_by_ana.content_hash,)
    assert_sound(mem)


@on_every_store
def test_neighbours_only_lose_how_near_they_were(opened: Open) -> None:
    mem = opened(relations={"link_min": 0.1}, identity={"flag": False})
    one = add(mem, "The red bicycle stands in the shed", "ana")
    two = add(mem, "The blue bicycle stands in the shed too", "ana")
    assert [link.id for link in mem.related(two.id)] == [one.id]
    receipt = mem.erase(id=one.id)
    assert (receipt.derived, receipt.links_cut) == ((), 1)
    assert mem.get(two.id).status == "active" and mem.related(two.id) == ()
    assert_sound(mem)


def test_the_receipt_tells_a_person_nothing_of_what_they_may_not_see(opened: Open) -> None:
    mem = opened("erase")
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    bens = add(mem, "Bees need flowers all year", "ben", source)
    mine = add(mem, "My bees like clover", "ana", source)
    ana = mem.as_caller(user="ana", rights=["read", "write", "erase"])
    receipt = ana.erase(id=source.id)
    assert told(receipt) == {mine.id: (("built_upon",), "erased")}
    assert bens.id not in str(receipt) and receipt.streams == 1
    assert is_gone(mem, bens.id), "the right goes over the border all the same"


@pytest.mark.parametrize("derived", ["review", "erase"])
def test_it_tells_the_same_whether_or_not_there_is_something_to_hide(opened: Open, derived: str) -> None:
    mem = opened(derived, traces={"keep": "all"})
    ana = mem.as_caller(user="ana", rights=["read", "write", "erase"])
    answers = []
    for upon in (False, True):
        source = add(mem, f"Ana keeps bees in Zanzibar, hive {upon}", "ana")
        if upon:
            add(mem, "Bees need flowers all year", "ben", source)
        receipt = ana.erase(id=source.id)
        answers.append(
            (receipt.derived, receipt.links_cut, receipt.streams, receipt.beyond_reach, len(receipt.entries))
        )
    assert answers[0] == answers[1]


def test_no_tenant_reaches_another(opened: Open, place: str) -> None:
    mem = opened("erase")
    with recollect.open(place, tenant="globex", policy={"provenance": {"unresolved": "keep"}}) as globex:
        source = add(mem, "Ana keeps bees in Zanzibar", "ana")
        theirs: Any = globex.add("Bees need flowers", owner="ana", parent_refs=[source.content_hash]).memory
        assert mem.erase(owner="ana").derived == ()
        assert globex.get(theirs.id) == theirs


def test_nobody_builds_upon_what_goes_while_it_goes(place: str, opened: Open) -> None:
    """Somebody else names it all the while: whatever came in time lost the link, and what came later was refused."""
    mem = opened("keep")
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    written, refused, started = [], [], threading.Event()

    def build() -> None:
        with recollect.open(place) as other:
            for number in range(1_000):
                answer = other.add(f"Hive {number} needs care", owner="ben", parent_refs=[source.content_hash])
                started.set()
                if answer.memory is None:
                    refused.append(answer.reasons)
                    return
                written.append(answer.memory.id)

    builder = threading.Thread(target=build)
    builder.start()
    started.wait()
    receipt = mem.erase(owner="ana")
    builder.join()
    assert refused == [("provenance:unresolved",)] and set(told(receipt)) == set(written)
    assert all(mem.get(id).parent_refs == () for id in written)
    assert mem.verify().problems == ()


def test_a_link_is_not_revived_by_the_same_words_said_again(opened: Open) -> None:
    """Also where the parent was named before it was there, and was found when it came."""
    mem = opened("keep", provenance={"unresolved": "keep"})
    content = "Ana keeps bees in Zanzibar"
    with recollect.open(":memory:") as elsewhere:
        wanted = add(elsewhere, content, "ana")
    child = add(mem, "Bees need flowers all year", "ben", wanted)
    source = add(mem, content, "ana")
    assert list(mem.ancestors(child.id).distances()) == [source.id]
    assert told(mem.erase(owner="ana")) == {child.id: (("built_upon",), "kept")}
    again = add(mem, content, "ana")
    assert again.id not in mem.ancestors(child.id).sources and mem.get(child.id).parent_refs == ()
    assert mem.erase(owner="ana").derived == ()
    assert mem.erase(owner="ana").removed == ()
    assert_sound(mem)


@pytest.mark.parametrize(
    ("place", "derived"),
    [("memory.db", "keep"), ("memory.db", "review"), ("memory.db", "erase"), ("postgres", "review")],
    indirect=["place"],
)
def test_a_restored_backup_forgets_the_links_too(
    place: str, opened: Open, tmp_path: Path, derived: str, request: Any
) -> None:
    """As it was done then, whatever the policy says by the time that it is restored."""
    target: Any = request.getfixturevalue("empty") if place.startswith("postgresql") else tmp_path / "restored.db"
    mem = opened(derived)
    source = add(mem, "Ana keeps bees in Zanzibar", "ana")
    child = add(mem, "Bees need flowers all year", "ben", source)
    backup = mem.backup(tmp_path / "nightly.bak")
    mem.erase(owner="ana")
    restore_backup(backup.path, target)
    with recollect.open(target) as restored:
        assert is_gone(restored, source.id)
        if derived == "erase":
            assert is_gone(restored, child.id)
        else:
            now = restored.get(child.id)
            assert (now.status, now.parent_refs) == ({"keep": "active", "review": "archived"}[derived], ())
        assert_sound(restored)
        if derived == "review":
            restored.restore(child.id)
    with recollect.open(target) as restored:
        assert derived == "erase" or restored.get(child.id).status == "active", "what was decided stays decided"


def test_a_link_to_a_parent_that_the_backup_never_had_is_cut_again(tmp_path: Path) -> None:
    """It was restored without its parent, so that only the seal on the list tells which link it was."""
    path, policy = tmp_path / "memory.db", {"provenance": {"unresolved": "keep"}}
    with recollect.open(":memory:") as elsewhere:
        wanted = add(elsewhere, "Ana keeps bees in Zanzibar", "ana")
        stays = add(elsewhere, "Water is wet", "ana")
    with recollect.open(path, policy=policy) as mem:
        child = add(mem, "Bees need flowers all year", "ben", wanted, stays)
    shutil.copy(path, tmp_path / "before")
    with recollect.open(path, policy=policy) as mem:
        add(mem, wanted.content, "ana")
        mem.erase(owner="ana")
    shutil.copy(tmp_path / "before", path)
    with recollect.open(path, policy=policy) as mem:
        assert mem.get(child.id).parent_refs == (stays.content_hash,)
        assert_sound(mem)
    assert wanted.content_hash.encode() not in path.read_bytes()


def test_a_link_that_was_cut_behind_the_ledgers_back_is_seen(tmp_path: Path) -> None:
    """The commitment would hold: it is the missing entry that gives it away."""
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        child = add(mem, "Bees need flowers all year", "ben", add(mem, "Ana keeps bees", "ana"))
    with closing(sqlite3.connect(path)) as db:
        (text,) = db.execute("SELECT body FROM versions WHERE id = ?", (child.id,)).fetchone()
        body = json.loads(text)
        db.execute(
            "UPDATE versions SET body = ? WHERE id = ?", (canonical_json(without(body, links_of(body))), child.id)
        )
        db.execute("DELETE FROM parents")
        db.execute("DELETE FROM relations")
        db.commit()
    with recollect.open(path) as mem:
        (problem,) = mem.verify().problems
        assert child.id in problem.what and "links" in problem.what


def test_a_version_of_an_earlier_release_is_named_as_beyond_reach(tmp_path: Path) -> None:
    """Its commitment covers the parent's hash itself, which so cannot be taken out of it."""
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        source = add(mem, "Ana keeps bees", "ana")
        child = add(mem, "Bees need flowers all year", "ben", source)
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM versions WHERE id = ?", (child.id,)).fetchone()
        text = canonical_json({k: v for k, v in json.loads(row["body"]).items() if k != "salts"})
        (stream,) = db.execute("SELECT uid FROM streams WHERE stream = ?", (row["stream"],)).fetchone()
        said = dict(db.execute("SELECT * FROM ledger WHERE memory_id = ?", (child.id,)).fetchone())
        fields = {name: said[name] for name in Entry._fields if name not in ("stream", "hash")}
        entry = Entry(stream=stream, **fields)._replace(commitment=commit_to(row["salt"], text))
        db.execute("UPDATE versions SET body = ? WHERE id = ?", (text, child.id))
        db.execute(
            "UPDATE ledger SET commitment = ?, hash = ? WHERE memory_id = ?",
            (entry.commitment, entry.computed_hash(), child.id),
        )
        db.execute("UPDATE streams SET head = ? WHERE stream = ?", (entry.computed_hash(), row["stream"]))
        db.commit()
    with recollect.open(path) as mem:
        assert mem.verify().problems == ()
        receipt = mem.erase(owner="ana")
        assert told(receipt) == {child.id: (("built_upon",), "review")}
        assert any("earlier release" in what for what in receipt.beyond_reach)
        assert_sound(mem)
