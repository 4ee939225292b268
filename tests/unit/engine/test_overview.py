"""What a person looks at before they decide: previews, differences, growth, what was left out, what may be done."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import recollect
from recollect import BadInput, NotAllowed, NotFound, Recollect
from recollect.embed.static import count_tokens
from support.determinism import SteppingClock

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
def memory(request: pytest.FixtureRequest) -> Iterator[Recollect]:
    """An empty store of either kind, whose clock moves on by an hour at each look."""
    where = ":memory:" if request.param == "sqlite" else request.getfixturevalue("server_store")
    clock = SteppingClock(START, timedelta(hours=1))
    with recollect.open(where, clock=clock, policy={"traces": {"keep": "all"}}) as opened:
        yield opened


def kept(memory: Recollect, words: str, **fields: object) -> recollect.Memory:
    receipt = memory.add(words, **{"owner": "ana", "source": "user", **fields})  # type: ignore[arg-type]
    assert receipt.memory is not None
    return receipt.memory


def test_an_erasure_does_what_its_preview_said(memory: Recollect) -> None:
    first = kept(memory, "Ana lives in Lisbon")
    kept(memory, "Ana now lives in Porto")
    derived = memory.add("Somebody moved", owner="ben", parent_refs=[first.content_hash], source="user").memory
    assert derived is not None
    for which in ({"id": first.id}, {"id": first.id, "whole_chain": True}, {"owner": "ana"}):
        before = memory.state_hash()
        preview = memory.preview_erasure(**which)
        assert memory.state_hash() == before
    done = memory.erase(owner="ana")
    assert (preview.removed, preview.authored, preview.derived) == (done.removed, done.authored, done.derived)
    assert (preview.links_cut, preview.remaining, preview.streams) == (done.links_cut, done.remaining, done.streams)
    assert derived.id in {one.id for one in preview.derived}
    assert memory.preview_erasure(owner="nobody").is_empty and not preview.is_empty


def test_a_preview_takes_the_right_to_erase(memory: Recollect) -> None:
    id = kept(memory, "Ana likes tea").id
    with pytest.raises(NotAllowed):
        memory.as_caller(user="ana").preview_erasure(id=id)
    with pytest.raises(BadInput):
        memory.preview_erasure()


def test_two_moments_differ_by_what_came_was_replaced_and_went(memory: Recollect) -> None:
    lisbon = kept(memory, "Ana lives in Lisbon")
    tea = kept(memory, "Ana likes tea")
    porto = kept(memory, "Ana now lives in Porto")
    memory.forget(tea.id)
    since = memory.difference(lisbon.tick, owner="ana")
    assert [(old.id, new.id) for old, new in since.replaced] == [(lisbon.id, porto.id)]
    assert since.added == since.removed == ()
    later = memory.difference(tea.tick, owner="ana", space="user")
    assert [one.content for one in later.removed] == ["Ana likes tea"]
    by_time = memory.difference("2026-01-01", tea.created_at, owner="ana")
    assert {one.id for one in by_time.added} == {lisbon.id, tea.id}
    assert memory.as_caller(user="ben").difference(0, owner="ana").added == ()
    newest = memory.difference(0, owner="ana", limit=1)
    assert [one.id for one in newest.added] == [porto.id] and newest.next_cursor is not None
    older = memory.difference(0, owner="ana", limit=10, cursor=newest.next_cursor)
    assert (older.added, older.replaced, older.removed, older.next_cursor) == ((), (), (), None)
    with pytest.raises(BadInput, match="limit"):
        memory.difference(0, owner="ana", cursor=newest.next_cursor)
    with pytest.raises(BadInput, match="cursor"):
        memory.difference(porto.tick, owner="ana", limit=1, cursor=newest.next_cursor)
    with pytest.raises(NotFound):
        memory.difference("phase-9", owner="ana")
    with pytest.raises(BadInput):
        memory.difference("last week")


def test_what_had_expired_by_a_moment_was_not_believed_then(memory: Recollect) -> None:
    parking = kept(memory, "The car is in bay 7", expires_at=START + timedelta(days=1))
    after = START + timedelta(days=2)
    memory.engine.clock.now = START + timedelta(days=3)  # type: ignore[attr-defined]
    assert [one.id for one in memory.difference(parking.tick, after, owner="ana").removed] == [parking.id]


def test_growth_counts_by_day(memory: Recollect) -> None:
    kept(memory, "Ana likes tea")
    memory.engine.clock.now = START + timedelta(days=2)  # type: ignore[attr-defined]
    kept(memory, "Ana likes jazz")
    kept(memory, "Ben likes rock", owner="ben")
    found = memory.growth(4)
    assert [(one.written, one.total) for one in found] == [(0, 0), (1, 1), (0, 1), (2, 3)]
    assert found[-1].day == "2026-03-03"
    assert [one.total for one in memory.as_caller(user="ben").growth(1)] == [1]
    with pytest.raises(BadInput):
        memory.growth(0)


def test_streams_are_those_that_the_caller_may_read(memory: Recollect) -> None:
    kept(memory, "Ana likes tea")
    kept(memory, "Ben likes rock", owner="ben")
    told = [(one.space, one.owner, one.tick, one.phase_id) for one in memory.streams()]
    assert told == [("user", "ana", 1, "phase-1"), ("user", "ben", 1, "phase-1")]
    assert [one.owner for one in memory.as_caller(user="ben").streams()] == ["ben"]


def test_a_query_says_what_it_left_out_and_why(memory: Recollect) -> None:
    for word in ("tea", "coffee", "cocoa", "milk"):
        kept(memory, f"Ana drinks {word} at breakfast")
    answer = memory.query("what does Ana drink at breakfast", owner="ana", top_k=1, left_out=True)
    assert {one.reason for one in answer.left_out} == {"beyond_top_k"} and len(answer.left_out) == 3
    strict = memory.query("breakfast in the garden", owner="ana", threshold=1.0, left_out=True)
    assert strict.items == () and {one.reason for one in strict.left_out} == {"below_threshold"}
    tight = memory.query("what does Ana drink at breakfast", owner="ana", budget_tokens=40, left_out=True)
    assert "no_room" in {one.reason for one in tight.left_out}
    assert memory.query("what does Ana drink", owner="ana").left_out == ()
    unsure = memory.query("what is the capital of Mongolia?", owner="ana", left_out=True)
    assert unsure.items == () and {one.reason for one in unsure.left_out} <= {"not_sure"}


def test_what_another_space_says_instead_is_shadowed(memory: Recollect) -> None:
    ana = memory.as_caller(user="ana", session="s1")
    ana.add("The API port is 8080", title="api port", owner="ana")
    ana.add("The API port is 9090", title="api port", space="session", owner="s1")
    answer = ana.query("which API port", left_out=True)
    assert [one.reason for one in answer.left_out if one.id in answer.items[0].shadowed] == ["shadowed"]


def test_a_policy_is_tried_on_the_last_writes(memory: Recollect) -> None:
    kept(memory, "Ana lives in Lisbon")
    kept(memory, "Ana now lives in Porto")
    mail = kept(memory, "The garage sends bills to desk@example.org")
    before = memory.state_hash()
    trial = memory.try_policy({"privacy": {"actions": {"email": "deny"}}})
    assert [(one.memory_id, one.before, one.after) for one in trial.changed] == [(mail.id, "stored", "denied")]
    assert trial.changed[0].after_reasons == ("privacy_deny_sensitive",) and trial.tried == 3
    assert memory.try_policy({"recall": {"top_k": 3}}).changed == ()
    assert len(memory.try_policy({"write": {"policy": "none"}}, limit=2).changed) == 2
    assert memory.try_policy("governed").tried == 3
    assert memory.try_policy({"preset": "governed"}) == memory.try_policy("governed") != memory.try_policy({})
    assert memory.state_hash() == before
    with pytest.raises(recollect.BadPolicy):
        memory.try_policy({"write": {"polity": "none"}})
    with pytest.raises(recollect.BadPolicy):
        memory.try_policy({"preset": "nonsense"})
    with pytest.raises(NotAllowed):
        memory.as_caller(user="ana").try_policy({})


def test_what_may_be_decided_and_vouched_for_is_what_works(memory: Recollect) -> None:
    old, new = kept(memory, "The hose is 10 m long"), kept(memory, "Ana bought a longer hose")
    ana, planner = memory.as_caller(user="ana"), memory.as_caller(agent="planner", user="ana")
    governing = memory.as_caller(agent="planner", user="ana", rights=["read", "write", "govern"])
    assert "resolve" not in ana.permitted([old.id])[old.id], "nothing is to be decided yet"
    memory.link(new.id, old.id, relation_type="may_update")
    for id in (old.id, new.id):
        assert "resolve" in ana.permitted([id])[id] and "resolve" in governing.permitted([id])[id]
        assert "resolve" not in planner.permitted([id])[id]
    with pytest.raises(NotAllowed):
        planner.resolve(old.id, winner=new.id)
    assert "vouch" in governing.permitted([new.id])[new.id]
    governing.vouch(new.id)
    assert "vouch" not in governing.permitted([new.id])[new.id], "it vouches already"
    ana.resolve(old.id, winner=new.id)
    assert "resolve" not in ana.permitted([new.id])[new.id]


def test_what_may_be_done_is_what_works(memory: Recollect) -> None:
    tea = kept(memory, "Ana likes tea")
    ana, ben = memory.as_caller(user="ana"), memory.as_caller(user="ben")
    reader = memory.as_caller(user="ana", rights=["read"])
    planner = memory.as_caller(agent="planner", user="ana")
    assert {"forget", "edit", "archive", "reject"} <= set(ana.permitted([tea.id])[tea.id])
    assert "restore" not in ana.permitted([tea.id])[tea.id] and "erase" not in ana.permitted([tea.id])[tea.id]
    assert reader.permitted([tea.id]) == planner.permitted([tea.id]) == {tea.id: ()}
    with pytest.raises(NotFound):
        ben.permitted([tea.id])
    with pytest.raises(NotAllowed):
        planner.forget(tea.id)
    ana.forget(tea.id)
    assert "restore" in ana.permitted([tea.id])[tea.id]
    ana.restore(tea.id)
    rejection = ana.reject(tea.id)
    assert ana.permitted([tea.id])[tea.id] == ("lift",)
    ana.lift(rejection.id)
    assert {"restore", "reject"} <= set(ana.permitted([tea.id])[tea.id])
    memory.erase(id=tea.id)
    assert memory.permitted([tea.id]) == {tea.id: ()}


def test_a_turn_is_told_by_any_of_its_events(memory: Recollect) -> None:
    memory.turn(session="s1", user="I live in Lisbon", ai="Noted.", owner="ana")
    memory.turn(session="s1", user="I like tea", ai="Good.", owner="ana")
    told = memory.traces(session="s1").items
    first, last = memory.explain(session="s1", number=told[0]["number"]), memory.explain(session="s1")
    assert first.events[0]["number"] == told[0]["number"] and first.sentences != last.sentences
    assert last.events[-1]["number"] == told[-1]["number"]
    assert len(first.events) + len(last.events) == len(told)
    with pytest.raises(NotFound):
        memory.explain(number=10_000)


def test_a_backup_is_remembered(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("backup")
    with recollect.open(folder / "m.db") as memory:
        assert memory.stats()["last_backup"] is None
        backup = memory.backup(folder / "copy.db")
        assert memory.stats()["last_backup"] == backup.at


def _kept_block(memory: Recollect, query: str) -> dict[str, object]:
    found = [one for one in memory.traces(type="memory_recall", latest=True).items if one["query"] == query]
    return dict(found[-1]["block"])


def test_a_kept_recall_has_the_exact_block_that_the_prompt_got(memory: Recollect) -> None:
    lisbon = kept(memory, "Ana lives in Lisbon")
    porto = kept(memory, "Ana now lives in Porto")
    tea = kept(memory, "Ana prefers tea over coffee")
    memory.change_header(thread="t", owner="ana")
    answer = memory.query("where does Ana live?", owner="ana", history=True, budget_tokens=200)
    block = _kept_block(memory, "where does Ana live?")
    assert (block["text"], block["budget_tokens"]) == (answer.text, 200) and "before" in answer.text
    assert block["tokens"] == count_tokens(answer.text)
    assert {lisbon.id, porto.id} <= set(block["quotes"])  # type: ignore[call-overload]
    told = memory.memory_block("what does Ana drink?", owner="ana", budget_tokens=90)
    assert _kept_block(memory, "what does Ana drink?") | {"quotes": 0} == {
        "text": told.text,
        "tokens": told.tokens,
        "budget_tokens": 90,
        "quotes": 0,
    }
    memory.turn(session="s1", user="Good morning", ai="Hello", owner="ana")
    kept(memory, "Ana plays the cello")
    turn = memory.turn(session="s1", user="What do I drink?", ai="Tea", owner="ana")
    assert turn.recall is not None and turn.recall.header, "the block begins with what changed"
    assert _kept_block(memory, "What do I drink?")["text"] == turn.recall.text
    snapshot = memory.snapshot_block(owner="ana")
    assert _kept_block(memory, "")["text"] == snapshot.text
    memory.erase(id=lisbon.id)
    left = [one["query"] for one in memory.traces(type="memory_recall").items]
    assert "where does Ana live?" not in left and "what does Ana drink?" in left
    memory.erase(id=tea.id)
    assert all("tea" not in str(one.get("block")) for one in memory.traces(type="memory_recall").items)


def test_a_block_is_kept_only_with_its_event() -> None:
    with recollect.open(":memory:") as memory:
        kept(memory, "Ana lives in Porto")
        assert "block" not in memory.query("where does Ana live?", owner="ana").events[-1]
