"""The deterministic clean-up: what it proposes, what it does, and that it can be taken back."""

import pytest

import recollect


@pytest.fixture
def mem() -> recollect.Recollect:
    return recollect.open(":memory:")


def actions(report: object) -> list[str]:
    return [step.action for step in report.steps]


def test_a_proposal_changes_nothing_and_says_what_it_would_do(mem: recollect.Recollect) -> None:
    mem.add("The build server is in Frankfurt", title="a one")
    mem.add("The build server is in Frankfurt.", title="b two")
    before = mem.state_hash()
    report = mem.consolidate()
    assert actions(report) == ["redundant"] and not report.applied
    assert "Frankfurt" in report.diff[0]
    assert mem.state_hash() == before


def test_the_best_stays_the_most_important_then_the_newest(mem: recollect.Recollect) -> None:
    dull = mem.add("The build server is in Frankfurt", title="a one", importance=2).memory
    best = mem.add("The build server is in Frankfurt.", title="b two", importance=4).memory
    late = mem.add("The build server is in Frankfurt!", title="c three", importance=2).memory
    mem.consolidate(force=True)
    assert [m.id for m in mem.list().items] == [best.id]
    for redundant in (dull, late):
        after = mem.get(redundant.id)
        assert after.status == "redundant" and after.related_memory_ids == (best.id,)
    assert set(mem.get(best.id).related_memory_ids) == {dull.id, late.id}
    assert [e.event for e in mem.history(dull.id) if e.event != "LINK"] == ["ADD", "MERGE"]
    assert mem.verify().ok


def test_undo_takes_everything_back(mem: recollect.Recollect) -> None:
    mem.add("The build server is in Frankfurt", title="a one")
    mem.add("The build server is in Frankfurt.", title="b two")
    mem.add("The cache is enabled in the staging cluster", title="c three")
    mem.add("The cache is disabled in the staging cluster", title="d four")

    def shape() -> list[object]:
        return [(m.content, m.status, m.related_memory_ids, m.conflict_ids, m.canonical_key) for m in mem.list().items]

    before = shape()
    report = mem.consolidate(force=True)
    assert sorted(actions(report)) == ["conflict", "redundant"]
    assert shape() != before
    mem.consolidate(undo=True)
    assert shape() == before
    assert mem.verify().ok
    with pytest.raises(recollect.WrongState):
        mem.consolidate(undo=True)
    assert mem.consolidate(force=True).applied
    assert mem.consolidate().steps == ()


def test_facts_that_differ_in_a_name_or_number_are_only_related(mem: recollect.Recollect) -> None:
    mem.add("Ana is allergic to peanuts since childhood", title="a one")
    mem.add("Ben is allergic to peanuts since childhood", title="b two")
    report = mem.consolidate(force=True)
    assert actions(report) == ["related"]
    assert len(mem.list().items) == 2
    assert mem.consolidate().steps == ()


def test_owners_scopes_and_kinds_are_never_mixed(mem: recollect.Recollect) -> None:
    words = "The build server is in Frankfurt"
    mem.add(words, title="a one", owner="ana")
    mem.add(words, title="b two", owner="ben")
    mem.add(words, title="c three", owner="ana", scope="planner")
    mem.add(words, title="d four", owner="ana", kind="insight")
    mem.add(words, owner="ana", kind="episodic")
    assert mem.consolidate().steps == ()


def test_names_move_to_what_todays_rules_say(tmp_path: object) -> None:
    path = f"{tmp_path}/memory.db"
    with recollect.open(path, policy={"keys": {"parser": False}}) as plain:
        id = plain.add("Ana lives in Lisbon").memory.id
        named = plain.add("The sky is blue", title="mine own").memory.id
    with recollect.open(path) as mem:
        report = mem.consolidate(force=True)
        assert actions(report) == ["rekey", "slot"]
        assert mem.get(id).canonical_key == "Ana-Home-City"
        assert mem.get(named).canonical_key == "Mine-Own-General"
        assert mem.add("Ana now lives in Porto").outcome == "superseded"
        mem.consolidate(undo=True)
        assert mem.get(id).canonical_key.startswith("World-Fact-General-")
        assert mem.verify().ok


def test_an_undo_that_would_break_a_key_is_refused_whole(mem: recollect.Recollect) -> None:
    mem.add("The build server is in Frankfurt", title="a one", importance=1)
    mem.add("The build server is in Frankfurt.", title="b two")
    mem.consolidate(force=True)
    mem.add("Something else took the name meanwhile", title="a one")
    before = mem.state_hash()
    with pytest.raises(recollect.WrongState, match="taken"):
        mem.consolidate(undo=True)
    assert mem.state_hash() == before
