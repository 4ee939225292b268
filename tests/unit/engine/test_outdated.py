"""Pairs that may be outdated: which are listed, to whom, in which order, and how one is decided."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.engine.read.meaning import vector_of
from recollect.engine.transaction import StreamWriter
from recollect.model.ledger import Event
from recollect.model.receipt import OutdatedPair
from recollect.model.vocabulary import MAY_UPDATE, Status
from recollect.stores.protocol import Relation

UNLINKED = {"relations": {"neighbours": 0}, "identity": {"offer": False}}
"""A policy under which writing links nothing, so that the links are those that a test makes."""


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(place, policy=UNLINKED) as opened:
        yield opened


def add(mem: recollect.Recollect, content: str, **fields: object) -> str:
    receipt = mem.add(content, **{"owner": "ana", **fields})
    assert receipt.memory is not None, receipt.reasons
    return str(receipt.memory.id)


def pair(mem: recollect.Recollect, strength: float = 1.0) -> tuple[str, str]:
    """Two memories of which the later may have replaced the earlier: ``(earlier, later)``."""
    earlier = add(mem, "The nightly build runs on CircleCI", title="Nightly build")
    later = add(mem, "CircleCI is gone, everything runs on Buildkite", title="Buildkite")
    mem.link(later, earlier, relation_type=MAY_UPDATE, strength=strength)
    return earlier, later


def listed(found: list[OutdatedPair]) -> list[tuple[str, str, str]]:
    return [(one.reason, one.earlier.id if one.earlier else "", one.later.id) for one in found]


def test_a_pair_says_what_both_say_since_when_and_who_said_it(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem, 0.75)
    (found,) = mem.outdated()
    assert (found.reason, found.strength) == ("stated", 0.75)
    assert found.earlier is not None
    assert (found.earlier.id, found.earlier.content) == (earlier, "The nightly build runs on CircleCI")
    assert (found.later.id, found.later.content) == (later, "CircleCI is gone, everything runs on Buildkite")
    assert found.later.author == mem.get(later).author.name
    assert found.later.created_at >= found.earlier.created_at
    assert mem.outdated(owner="ben") == ()


def test_only_active_memories_are_listed(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    mem.archive(earlier)
    assert mem.outdated() == ()
    mem.restore(earlier)
    assert len(mem.outdated()) == 1
    mem.forget(later)
    assert mem.outdated() == ()


def test_the_strongest_comes_first_then_the_newest(mem: recollect.Recollect) -> None:
    ids = [add(mem, f"Note {n} about the {word}", title=f"Note {word}") for n, word in enumerate("abcd")]
    for later, strength in ((1, 0.5), (2, 0.9), (3, 0.5)):
        mem.link(ids[later], ids[0], relation_type=MAY_UPDATE, strength=strength)
    assert [one.later.id for one in mem.outdated()] == [ids[2], ids[3], ids[1]]
    assert [one.later.id for one in mem.outdated(limit=1)] == [ids[2]]
    with pytest.raises(recollect.BadInput, match="limit"):
        mem.outdated(limit=0)


def test_reasons_come_in_their_order_and_nearness_alone_is_none(mem: recollect.Recollect) -> None:
    earlier = add(mem, "The nightly build runs on CircleCI", title="Nightly build")
    reasons = ("near", "same_kind_of_value", "announced_change", "mentions_old_value", "contested_slot")
    for number, reason in enumerate(reasons):
        write_with_reason(mem, earlier, reason, 0.9 - number / 10)
    expected = ["contested_slot", "announced_change", "mentions_old_value", "same_kind_of_value"]
    assert [one.reason for one in mem.outdated()] == expected
    waiting = [step for step in mem.consolidate().steps if step.action == "outdated"]
    assert [step.detail.split(":")[0] for step in waiting] == expected


def test_what_is_stated_by_hand_comes_before_nearness(mem: recollect.Recollect) -> None:
    earlier = add(mem, "The nightly build runs on CircleCI", title="Nightly build")
    write_with_reason(mem, earlier, "near", 0.9)
    (later,) = [one.id for one in mem.list().items if one.id != earlier]
    assert mem.outdated() == ()
    assert mem.link(later, earlier, relation_type=MAY_UPDATE, strength=0.25).strength == 0.25
    for _ in range(2):
        assert [(one.reason, one.strength) for one in mem.outdated()] == [("stated", 0.25)]
        mem.rebuild()


def write_with_reason(mem: recollect.Recollect, earlier: str, reason: str, strength: float) -> None:
    """Write a memory whose version states why it may replace an earlier one, and the relation that follows from it."""
    engine = mem.engine
    with engine.write() as writer:
        old = writer.by_ids(engine.tenant, [earlier])[earlier]
        assert old.body is not None
        stream_writer = StreamWriter(engine, writer, writer.locked_stream(engine.tenant, old.stream), engine.now())
        said = {"content": f"It is different now: {reason}", "canonical_key": f"Now-{reason}".replace("_", "-")}
        stated = {"neighbours": [[earlier, strength, reason]], "created_at": stream_writer.at}
        id, commitment = stream_writer.new_version(
            {**old.body, **said, **stated}, [], vector_of(engine, said["content"], writer)
        )
        stream_writer.record(Event.STORED, id, rule="identity:new", to=Status.ACTIVE, commitment=commitment)
        ends = (old.stream, stream_writer.number(id)), (old.stream, old.number)
        stream_writer.writer.put_relations(
            engine.tenant, [Relation(*ends, MAY_UPDATE, strength, stream_writer.at, reason)]
        )
        stream_writer.finish()


def test_consolidate_lists_them_and_carries_nothing_out(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    before = mem.state_hash()
    for report in (mem.consolidate(), mem.consolidate(force=True)):
        assert [(step.action, step.id, step.other) for step in report.steps] == [("outdated", later, earlier)]
        assert not report.applied and "Buildkite" in report.diff[0]
    assert mem.state_hash() == before


def test_doctor_counts_them(mem: recollect.Recollect) -> None:
    assert mem.doctor() == ()
    pair(mem)
    (problem,) = mem.doctor()
    assert "1 pair of memories may be outdated" in problem.what


def test_if_the_later_one_wins_it_supersedes_the_earlier_one(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    assert mem.resolve(later, winner=later).id == later
    assert (mem.get(earlier).status, mem.get(earlier).superseded_by_id) == ("superseded", later)
    assert (mem.get(later).status, mem.get(later).supersedes_id, mem.get(later).version) == ("active", earlier, 2)
    assert [link.id for link in mem.chain(later)] == [earlier, later]
    assert mem.outdated() == ()
    check_rebuild(mem)


def test_if_the_earlier_one_wins_both_stay_and_the_pair_is_not_listed_again(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    mem.resolve(later, winner=earlier)
    assert {mem.get(id).status for id in (earlier, later)} == {"active"}
    assert mem.outdated() == ()
    assert {one.relation_type for one in mem.related(later)} <= {"related_to"}
    assert mem.history(later)[-1].meta["rule"] == "relation:dismissed"
    check_rebuild(mem)
    assert mem.outdated() == ()
    with pytest.raises(recollect.WrongState):
        mem.resolve(later, winner=earlier)


def check_rebuild(mem: recollect.Recollect) -> None:
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_a_listed_pair_survives_a_rebuild(mem: recollect.Recollect) -> None:
    pair(mem)
    before = mem.outdated()
    check_rebuild(mem)
    assert mem.outdated() == before


def test_either_side_names_the_pair(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    other = add(mem, "The release build runs on CircleCI", title="Release build")
    mem.link(later, other, relation_type=MAY_UPDATE)
    with pytest.raises(recollect.BadInput, match="several pairs"):
        mem.resolve(later, winner=later)
    mem.resolve(earlier, winner=later)
    mem.resolve(other, winner=other)
    assert (mem.get(earlier).status, mem.get(other).status) == ("superseded", "active")
    assert mem.outdated() == ()


def test_a_winner_outside_the_pair_is_refused(mem: recollect.Recollect) -> None:
    _, later = pair(mem)
    stranger = add(mem, "The cat sleeps all day", title="Cat")
    with pytest.raises(recollect.BadInput, match="neither side"):
        mem.resolve(later, winner=stranger)


def test_a_memory_with_versions_of_its_own_archives_the_earlier_one(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    newer = add(mem, "Everything runs on Buildkite agents now", title="Buildkite", change="update")
    assert [one.later.id for one in mem.outdated()] == [newer], "a link by hand goes on with the new version"
    mem.resolve(newer, winner=newer)
    assert mem.get(earlier).status == "archived"
    assert [link.id for link in mem.chain(newer)] == [later, newer]
    check_rebuild(mem)


def test_a_new_version_of_the_earlier_memory_is_not_outdated(mem: recollect.Recollect) -> None:
    pair(mem)
    add(mem, "The nightly build runs on Buildkite", title="Nightly build", change="update")
    assert mem.outdated() == ()


def test_across_owners_the_earlier_one_is_archived(mem: recollect.Recollect) -> None:
    earlier = add(mem, "The office is in Rome", owner="ben", title="Office")
    later = add(mem, "The office moved to Milan", title="Office")
    mem.link(later, earlier, relation_type=MAY_UPDATE)
    mem.resolve(later, winner=later)
    assert (mem.get(earlier).status, mem.get(later).supersedes_id) == ("archived", None)
    check_rebuild(mem)


def test_contradictions_that_wait_come_first(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    believed = add(mem, "The cache is enabled", title="Cache", source="user")
    agent = mem.as_caller(user="ana", agent="planner")
    waiting = agent.add("The cache is not enabled", title="Cache", change="contradiction").memory
    assert waiting is not None and waiting.status == "contradictory"
    expected = [("contradicts", believed, waiting.id), ("stated", earlier, later)]
    assert listed(mem.outdated(conflicts=True)) == expected
    assert listed(mem.outdated()) == expected[1:]
    assert listed(mem.outdated(conflicts=True, limit=1)) == expected[:1]


def test_another_owners_memory_is_not_shown(mem: recollect.Recollect) -> None:
    earlier = add(mem, "The office is in Rome", owner="ben", title="Office")
    later = add(mem, "The office moved to Milan", title="Office")
    mem.link(later, earlier, relation_type=MAY_UPDATE)
    assert len(mem.outdated()) == 1
    ana = mem.as_caller(user="ana")
    assert ana.outdated() == mem.as_caller(user="ben").outdated() == ()
    with pytest.raises(recollect.WrongState):
        ana.resolve(later, winner=later)


def test_an_agents_list_hides_a_side(tmp_path: Path) -> None:
    policy = {"agents": {"allowlists": {"planner": ["general"]}}}
    with recollect.open(tmp_path / "memory.db", policy=policy) as mem:
        earlier = add(mem, "The account is at the Rome bank", title="Bank", category="money")
        later = add(mem, "The account moved to Milan", title="Account")
        mem.link(later, earlier, relation_type=MAY_UPDATE)
        everything = {"rights": ("read", "write", "govern")}
        planner, person = mem.as_caller(user="ana", agent="planner", **everything), mem.as_caller(user="ana")
        assert planner.outdated() == () and planner.consolidate().steps == ()
        with pytest.raises(recollect.WrongState):
            planner.resolve(later, winner=later)
        assert [one.later.id for one in person.outdated()] == [later]


def test_an_agent_needs_the_right_to_govern(mem: recollect.Recollect) -> None:
    earlier, later = pair(mem)
    with pytest.raises(recollect.NotAllowed):
        mem.as_caller(user="ana", agent="planner").resolve(later, winner=later)
    mem.as_caller(user="ana", agent="planner", rights=("read", "write", "govern")).resolve(later, winner=later)
    assert mem.get(earlier).status == "superseded"
