"""What builds upon what: found by hash, refused where it makes no sense, and never shown across a border."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.trust import provenance
from recollect.model.record import Memory
from recollect.rules.trust.provenance import Lineage


@pytest.fixture
def mem(place: str) -> Iterator[recollect.Recollect]:
    with recollect.open(place, policy="entry") as opened:
        yield opened


def opened(**policy: Any) -> recollect.Recollect:
    clock = iter(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(10**6))
    return recollect.open(":memory:", policy={"preset": "entry", **policy}, clock=lambda: next(clock))


@pytest.fixture
def quick() -> Iterator[recollect.Recollect]:
    with opened() as found:
        yield found


@pytest.fixture
def keeping() -> Iterator[recollect.Recollect]:
    with opened(provenance={"unresolved": "keep"}) as found:
        yield found


def add(mem: recollect.Recollect, content: str, *parents: Memory | str, **fields: Any) -> Memory:
    refs = [one if isinstance(one, str) else one.content_hash for one in parents]
    receipt = mem.add(content, parent_refs=refs, **{"owner": "lab", "space": "project", **fields})
    assert receipt.memory is not None, receipt.reasons
    return receipt.memory


def refused(mem: recollect.Recollect, content: str, *parents: Memory | str, **fields: Any) -> str:
    refs = [one if isinstance(one, str) else one.content_hash for one in parents]
    receipt = mem.add(content, parent_refs=refs, **{"owner": "lab", "space": "project", **fields})
    assert receipt.denied and receipt.detail
    return receipt.reasons[0]


def contents(lineage: Lineage) -> list[str]:
    return [lineage.sources[key].content or key for key in lineage.distances()]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_synthesis_is_traced_credited_and_survives_a_rebuild(mem: recollect.Recollect) -> None:
    a = add(mem, "Otto asks who can be trusted", author="otto")
    b = add(mem, "Chains of tellers make a saying checkable", a, author="babel")
    c = add(mem, "Trust follows the chain of tellers", a, b, author="iris")
    for _ in range(2):
        assert contents(mem.ancestors(c.id)) == [a.content, b.content]
        assert contents(mem.descendants(a.id)) == [b.content, c.content]
        assert contents(mem.descendants(b.id)) == [c.content]
        assert [(one.source.id, one.distance_a, one.distance_b) for one in mem.common_sources(b.id, c.id)] == [
            (b.id, 0, 1),
            (a.id, 1, 1),
        ]
        shares = {one.who: one.share for one in mem.credit(c.id)}
        assert shares == {"iris": Fraction(1, 2), "otto": Fraction(3, 8), "babel": Fraction(1, 8)}
        mem.rebuild()
    assert mem.verify().ok
    assert mem.ancestors(a.id).to_dict()["ancestors"] == []


def test_superseding_is_building_upon(mem: recollect.Recollect) -> None:
    old = add(mem, "The port is 80", canonical_key="Port", author="ana")
    new = add(mem, "The port is 443", canonical_key="Port", change="update", author="ben")
    assert new.parent_refs == (old.content_hash,)
    assert contents(mem.ancestors(new.id)) == [old.content]
    assert contents(mem.descendants(old.id)) == [new.content]
    assert {one.who: one.share for one in mem.credit(new.id)} == {"ana": Fraction(1, 2), "ben": Fraction(1, 2)}


def test_what_was_erased_is_not_even_a_hash_to_those_who_built_upon_it(mem: recollect.Recollect) -> None:
    """But that there was something still counts: nobody is credited with what was another's."""
    a, b = add(mem, "Ana has a secret garden"), None
    b = add(mem, "Gardens calm people", a, author="ben")
    mem.erase(id=a.id)
    (left,) = [source for source in mem.ancestors(b.id).sources.values() if not source.resolved]
    assert (left.content_hash, left.content, left.author) == ("", None, None)
    assert left.to_dict() == {"vouchers": 0, "resolved": False}
    assert {one.who: one.share for one in mem.credit(b.id)} == {"ben": Fraction(1, 2), left.key: Fraction(1, 2)}
    assert left.key.startswith("erased:") and a.content_hash not in left.key
    with pytest.raises(recollect.NotFound):
        mem.ancestors(a.id)
    assert mem.verify().ok


def test_derivatives_are_told_with_their_overlap(mem: recollect.Recollect) -> None:
    original = add(mem, "Shade drawn before noon keeps the seedlings cool all day", author="fern")
    copied = add(mem, "Shade drawn before noon keeps seedlings cool all day long", author="moss")
    add(mem, "Shade drawn before noon keeps the seedlings cool all the day", author="fern", owner="elsewhere")
    add(mem, "Shade drawn before noon keeps all seedlings cool", original, author="reed")
    add(mem, "Compost needs turning twice a month", author="moss")
    (found,) = mem.derivatives(original.id)
    assert (found.id, found.author, found.direction) == (copied.id, "moss", "derived")
    assert 0.6 <= found.overlap <= 1
    back = mem.derivatives(copied.id)
    assert (original.id, "source") in [(one.id, one.direction) for one in back]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE parents SET hash = replace(hash, substr(hash, 1, 1), 'f')",
        "DELETE FROM parents",
        "INSERT INTO parents SELECT tenant, 'x', stream, memory FROM parents",
        "UPDATE memories SET vouchers = '[]'",
    ],
)
def test_whoever_alters_what_is_known_of_sources_is_found_out(tmp_path: Path, statement: str) -> None:
    with recollect.open(tmp_path / "m.db", policy="entry") as mem:
        child = add(mem, "So it is heavy", add(mem, "Anvils are iron"))
        mem.vouch(child.id, by="ana")
        assert mem.verify().ok
        with closing(sqlite3.connect(tmp_path / "m.db")) as db:
            assert db.execute(statement).rowcount > 0
            db.commit()
        assert not mem.verify().ok
        mem.rebuild()
        assert mem.verify().ok and mem.get(child.id).vouchers


def test_nothing_builds_upon_itself(quick: recollect.Recollect, keeping: recollect.Recollect) -> None:
    for mem in (quick, keeping):
        assert refused(mem, "I am my own proof", sha("I am my own proof")) == "provenance:self_reference"


def test_a_parent_that_is_not_there_is_refused(quick: recollect.Recollect) -> None:
    assert refused(quick, "As somebody said", sha("nobody said this")) == "provenance:unresolved"
    assert quick.list(owner="lab").items == ()


def test_a_parent_may_be_written_in_the_same_batch(quick: recollect.Recollect) -> None:
    receipts = quick.add_many([{"content": "first"}, {"content": "second", "parent_refs": [sha("first")]}])
    assert [str(receipt.outcome) for receipt in receipts] == ["stored", "stored"]


def test_a_parent_that_was_kept_unresolved_is_found_when_it_comes(keeping: recollect.Recollect) -> None:
    child = add(keeping, "Trust follows the tellers", sha("Sayings have tellers"))
    (waiting,) = keeping.ancestors(child.id).to_dict()["ancestors"]
    assert waiting == {"content_hash": sha("Sayings have tellers"), "resolved": False, "distance": 1, "vouchers": 0}
    parent = add(keeping, "Sayings have tellers", author="otto")
    assert contents(keeping.ancestors(child.id)) == [parent.content]
    assert contents(keeping.descendants(parent.id)) == [child.content]


def test_a_circle_cannot_be_closed(keeping: recollect.Recollect) -> None:
    first = add(keeping, "a", sha("c"))
    second = add(keeping, "b", first)
    assert refused(keeping, "c", second) == "provenance:cycle"
    assert refused(keeping, "c", first) == "provenance:cycle"
    assert add(keeping, "c").content == "c"
    assert contents(keeping.ancestors(second.id)) == ["a", "c"]


def test_padding_does_not_hide_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sources lie between, more than an answer would hold."""
    monkeypatch.setattr(provenance, "MAX_SOURCES", 100)
    monkeypatch.setattr(provenance, "AT_ONCE", 20)
    with recollect.open(":memory:", policy={"provenance": {"unresolved": "keep"}, "embedder": {"name": "none"}}) as mem:
        first = {"content": "a", "parent_refs": [sha("c")], "canonical_key": "First"}
        wide = [
            {"content": f"pad {n}", "parent_refs": [sha("a")], "canonical_key": f"Pad-{n}"}
            for n in range(provenance.MAX_SOURCES)
        ]
        halves = [
            {"content": f"half {n}", "parent_refs": [sha(f"pad {m}") for m in range(n, provenance.MAX_SOURCES, 20)]}
            | {"canonical_key": f"Half-{n}"}
            for n in range(20)
        ]
        hub = {"content": "hub", "parent_refs": [sha(f"half {n}") for n in range(20)], "canonical_key": "Hub"}
        assert all(r.outcome == "stored" for r in mem.add_many([first, *wide, *halves, hub]))
        last = mem.add("c", parent_refs=[sha("hub")], canonical_key="Last")
        assert last.reasons == ("provenance:cycle",)


def test_a_circle_cannot_be_closed_by_superseding(keeping: recollect.Recollect) -> None:
    add(keeping, "the old plan", sha("the new plan"), canonical_key="Plan")
    assert refused(keeping, "the new plan", canonical_key="Plan", change="update") == "provenance:cycle"


def test_the_same_words_later_are_no_circle(quick: recollect.Recollect) -> None:
    a = add(quick, "It rains", kind="episodic")
    b = add(quick, "So the ground is wet", a)
    again = add(quick, "It rains", b, kind="episodic")
    assert contents(quick.ancestors(again.id)) == [b.content, a.content]
    assert [source.id for source in quick.ancestors(b.id).sources.values()] == [b.id, a.id]
    assert quick.descendants(again.id).distances() == {}


def test_words_that_go_back_and_forth_are_versions_and_no_circle(quick: recollect.Recollect) -> None:
    for number, content in enumerate(("on", "off", "on", "off")):
        last = add(quick, content, canonical_key="Lamp", change="update" if number else None, kind="semantic")
    assert len(quick.chain(last.id)) == 4
    assert contents(quick.ancestors(last.id)) == ["on", "off", "on"]


def test_a_hash_means_the_record_of_the_same_stream_first(quick: recollect.Recollect) -> None:
    add(quick, "Water boils at 100 °C", owner="ben", author="ben")
    mine = add(quick, "Water boils at 100 °C", author="ana")
    add(quick, "Water boils at 100 °C", owner="cat", author="cat")
    child = add(quick, "So tea is brewed hot", mine)
    assert [source.author for source in quick.ancestors(child.id).sources.values()][1:] == ["agent:ana"]


def test_an_import_may_bring_the_parents_later(quick: recollect.Recollect) -> None:
    assert quick.add("from elsewhere", source="import", parent_refs=[sha("x")]).outcome == "stored"
    bound = quick.as_caller(agent="planner", user="ana")
    assert bound.add("from elsewhere", source="import", parent_refs=[sha("x")]).reasons == ("provenance:unresolved",)


def test_what_a_reinforcing_write_builds_upon_is_said_to_be_ignored(quick: recollect.Recollect) -> None:
    a = add(quick, "first")
    add(quick, "second")
    receipt = quick.add("second", owner="lab", space="project", parent_refs=[a.content_hash])
    assert receipt.outcome == "reinforced" and "parent_refs" in (receipt.detail or "")


def test_a_hidden_parent_looks_exactly_like_one_that_is_not_there(quick: recollect.Recollect) -> None:
    secret = add(quick, "Ana is pregnant", owner="ana", space="user", scope="doctor")
    told = add(quick, "Schedule fewer meetings", secret, owner="ana", space="user", author="doctor")
    planner = quick.as_caller(agent="planner", user="ana")
    lineage = planner.ancestors(told.id)
    (hidden,) = lineage.to_dict()["ancestors"]
    assert hidden == {"content_hash": secret.content_hash, "resolved": False, "distance": 1, "vouchers": 0}
    assert "doctor" not in str(hidden)
    assert {one.who for one in planner.credit(told.id)} == {"doctor", f"sha256:{secret.content_hash}"}
    known = planner.add("I build upon it", parent_refs=[secret.content_hash])
    unknown = planner.add("I build upon it", parent_refs=[sha("anything")])
    assert known.reasons == unknown.reasons == ("provenance:unresolved",)
    assert contents(quick.as_caller(agent="doctor", user="ana").ancestors(told.id)) == ["Ana is pregnant"]


def test_descendants_and_derivatives_are_only_what_the_caller_sees(quick: recollect.Recollect) -> None:
    a = add(quick, "Meetings are shorter in the morning hours", owner="ana", space="user", author="ana")
    add(quick, "Keep mornings free", a, owner="ana", space="user", scope="doctor")
    add(
        quick,
        "Meetings are shorter in the early morning hours",
        owner="ana",
        space="user",
        scope="doctor",
        author="doctor",
    )
    add(quick, "Others build upon it", a, owner="ben", space="user")
    planner = quick.as_caller(agent="planner", user="ana")
    assert planner.descendants(a.id).distances() == {} and planner.derivatives(a.id) == ()
    assert len(quick.descendants(a.id).distances()) == 2 and len(quick.derivatives(a.id)) == 1


def test_another_tenants_memories_are_no_parents(tmp_path: Path) -> None:
    with (
        recollect.open(tmp_path / "m.db", tenant="acme") as acme,
        recollect.open(tmp_path / "m.db", tenant="b") as other,
    ):
        theirs = acme.add("Acme sells anvils").memory
        assert theirs is not None
        assert other.add("So they say", parent_refs=[theirs.content_hash]).reasons == ("provenance:unresolved",)


def test_an_answer_ends_somewhere(quick: recollect.Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "MAX_SOURCES", 5)
    last = add(quick, "0")
    for number in range(1, 9):
        last = add(quick, str(number), last)
    found = quick.ancestors(last.id)
    assert found.truncated and len(found.sources) <= 7
    assert quick.descendants(quick.list(owner="lab").items[-1].id).truncated


def padded(mem: recollect.Recollect, mids: int, each: int) -> Memory:
    """A root, under so many memories of one author, under those of another, under one at the top."""
    root = add(mem, "The root of it all", author="root")

    def layer(author: str, parents: list[list[str]]) -> list[str]:
        wanted = [
            {"content": f"{author} {n}", "author": author, "parent_refs": refs, "owner": "lab", "space": "project"}
            for n, refs in enumerate(parents)
        ]
        return [one.memory.content_hash for one in mem.add_many(wanted) if one.memory is not None]

    origins = layer("origin", [[root.content_hash]] * (mids * each))
    middle = layer("mid", [origins[n * each : (n + 1) * each] for n in range(mids)])
    return add(mem, "The top", *middle, author="top")


def test_credit_goes_on_where_an_answer_ends(quick: recollect.Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever pads the graph with more sources than one answer holds does not take the credit of what lies beneath."""
    monkeypatch.setattr(provenance, "MAX_SOURCES", 20)
    top = padded(quick, mids=4, each=10)
    assert quick.ancestors(top.id).truncated
    shares = {one.who: one.share for one in quick.credit(top.id)}
    assert shares == {"top": Fraction(1, 2), "mid": Fraction(1, 4), "origin": Fraction(1, 8), "root": Fraction(1, 8)}
    assert not any(one.truncated for one in quick.credit(top.id))


def test_what_credit_does_not_follow_is_nobodys(quick: recollect.Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "MAX_CREDITED", 20)
    found = quick.credit(padded(quick, mids=5, each=8).id)
    assert {one.who: one.share for one in found} == {
        "top": Fraction(1, 2),
        "mid": Fraction(1, 4),
        "origin": Fraction(1, 8),
        "(not followed)": Fraction(1, 8),
    }
    assert [one.who for one in found if one.truncated] == ["(not followed)"]
    assert found[-1].to_dict() == {"who": "(not followed)", "share": "1/8", "part": 0.125, "truncated": True}


def test_a_long_chain_is_followed_until_only_dust_is_left(quick: recollect.Recollect) -> None:
    last = add(quick, "0", author="ben")
    for number in range(1, provenance.CREDITED_STEPS + 5):
        last = add(quick, str(number), last, author="ana")
    assert {one.who: one.share for one in quick.credit(last.id)} == {"ana": 1}


def test_many_records_of_one_content_leave_room_for_others(quick: recollect.Recollect) -> None:
    for number in range(provenance.MAX_ALIKE * 2 + 5):
        add(quick, "Hello", owner=f"owner {number}", author=f"owner {number}")
    rare, common = add(quick, "A rare thing", owner="zoe"), sha("Hello")
    child = add(quick, "Built upon both", common, rare, owner="new")
    assert sorted(contents(quick.ancestors(child.id))) == ["A rare thing", "Hello"]
