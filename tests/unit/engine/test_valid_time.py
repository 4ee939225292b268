"""Valid time: when a memory holds, beside when it was recorded; on both stores."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from recollect.engine.ledger.audit import rebuild
from recollect.formats.registry import FORMATS
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput

NOW = datetime(2026, 5, 20, 10, tzinfo=UTC)
Y2021 = datetime(2021, 1, 1, tzinfo=UTC)


class Clock:
    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Recollect]:
    where = str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(where, clock=clock) as memory:
        yield memory


def told(mem: Recollect, text: str, **how: object) -> list[str]:
    return [item.memory.content for item in mem.query(text, owner="ana", **how).items]


def moved(mem: Recollect) -> tuple[str, str]:
    """Somebody who moved in 2021: the ids of where they lived, and of where they live."""
    rome = mem.add("I live in Rome", owner="ana").memory
    receipt = mem.add("I live in Porto since 2021", owner="ana")
    assert rome and receipt.memory and receipt.outcome == "superseded"
    return rome.id, receipt.memory.id


def test_it_is_kept_as_the_caller_states_it(mem: Recollect) -> None:
    memory = mem.add("Ana rents a flat", valid_from="2019-03-01", valid_until=datetime(2027, 1, 1, tzinfo=UTC)).memory
    assert memory is not None
    assert mem.get(memory.id).valid_from == datetime(2019, 3, 1, tzinfo=UTC)
    assert mem.get(memory.id).valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert "the caller said from when until when it holds" in mem.explain(memory.id).text


def test_it_is_read_from_plain_words_and_explained(mem: Recollect) -> None:
    memory = mem.add("Ana is on leave until March").memory
    assert memory is not None and memory.valid_from is None
    assert memory.valid_until == datetime(2027, 3, 1, tzinfo=UTC)
    decision = next(one for one in mem.explain(memory.id).decisions if one["rule"] == "validity:read")
    assert decision == {"gate": "validity", "rule": "validity:read", "detail": "until March"}
    assert "holds      until 2027-03" in mem.explain(memory.id).text


def test_what_the_caller_states_wins_over_the_words(mem: Recollect) -> None:
    memory = mem.add("Ana is on leave until March", valid_until="2026-06-01").memory
    assert memory is not None and memory.valid_until == datetime(2026, 6, 1, tzinfo=UTC)
    open_end = mem.add("Ben is on leave until March", valid_until=None).memory
    assert open_end is not None and open_end.valid_until is None
    both = mem.add("Cleo has lived in Porto since 2019", valid_until="2027-01-01").memory
    assert both is not None and both.valid_from == datetime(2019, 1, 1, tzinfo=UTC) and both.valid_until is not None


def test_a_line_of_a_conversation_is_not_read(mem: Recollect) -> None:
    memory = mem.add("I have lived in Porto since 2019", kind="episodic").memory
    assert memory is not None and memory.valid_from is None


@pytest.mark.parametrize("end", ["2018-12-31", "2019-01-01"])
def test_an_end_that_is_not_after_the_beginning_is_refused(mem: Recollect, end: str) -> None:
    with pytest.raises(BadInput) as refused:
        mem.add("Ana rents a flat", valid_from="2019-01-01", valid_until=end)
    assert refused.value.field == "valid_until"
    memory = mem.add("Ana rents a flat", valid_from="2019-01-01").memory
    assert memory is not None
    with pytest.raises(BadInput) as refused:
        mem.edit(memory.id, valid_until=end)
    assert refused.value.field == "valid_until"
    assert mem.edit(memory.id, valid_until="2020-01-01").valid_until is not None
    with pytest.raises(BadInput) as refused:
        mem.edit(memory.id, valid_from="2020-01-01")
    assert refused.value.field == "valid_from"


def test_an_edit_sets_it_and_opens_it_again_and_survives_a_rebuild(mem: Recollect) -> None:
    memory = mem.add("Ana rents a flat").memory
    assert memory is not None
    assert mem.edit(memory.id, valid_until="2027-01-01").version == 1
    mem.edit(memory.id, valid_from="2019-01-01")
    rebuild(mem.engine)
    assert mem.get(memory.id).valid_from == datetime(2019, 1, 1, tzinfo=UTC)
    assert mem.get(memory.id).valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert mem.edit(memory.id, valid_until=None).valid_until is None
    assert mem.verify().ok


def test_a_dated_replacement_closes_what_it_replaces(mem: Recollect) -> None:
    rome, porto = moved(mem)
    for _ in range(2):
        assert (mem.get(rome).status, mem.get(rome).valid_until) == ("superseded", Y2021)
        assert (mem.get(porto).valid_from, mem.get(porto).valid_until) == (Y2021, None)
        assert mem.verify().ok
        rebuild(mem.engine)
    assert mem.as_of(tick=1, owner="ana").get(rome).valid_until is None, "nobody knew that then"


def test_a_dated_change_closes_the_old_one_and_is_the_new_version(mem: Recollect) -> None:
    rome = mem.add("I live in Rome", owner="ana").memory
    receipt = mem.add("I moved to Porto in 2021", owner="ana")
    assert rome and receipt.memory and receipt.outcome == "superseded"
    for _ in range(2):
        assert (mem.get(rome.id).valid_until, receipt.memory.valid_from) == (Y2021, Y2021)
        rebuild(mem.engine)
    earlier = mem.add("I moved to Oslo in 2015", owner="ana")
    assert earlier.outcome == "stored", "the move of 2021 came later"
    assert mem.get(receipt.memory.id).status == "active"


def test_a_dated_end_closes_the_old_one(mem: Recollect) -> None:
    smokes = mem.add("I smoke", owner="ana").memory
    receipt = mem.add("I quit smoking in 2021", owner="ana")
    assert smokes and receipt.memory and receipt.outcome == "superseded"
    assert mem.get(smokes.id).valid_until == Y2021
    assert receipt.memory.valid_from is None, "it is no less true of the years before"
    assert told(mem, "Did I smoke in 2019?") == ["I smoke", "I quit smoking in 2021"]


def test_an_undated_one_leaves_it_open(mem: Recollect) -> None:
    rome = mem.add("I live in Rome", owner="ana").memory
    mem.add("I live in Porto now", owner="ana")
    assert rome is not None and mem.get(rome.id).valid_until is None


def test_who_says_the_same_again_and_since_when_closes_nothing(mem: Recollect) -> None:
    first = mem.add("I live in Rome", owner="ana").memory
    again = mem.add("I live in Rome since 2019", owner="ana").memory
    assert first is not None and again is not None and again.valid_from == datetime(2019, 1, 1, tzinfo=UTC)
    assert mem.get(first.id).valid_until is None


def test_a_query_at_a_time_is_answered_by_what_held_then(mem: Recollect) -> None:
    rome, porto = moved(mem)
    answer = mem.query("Where do I live?", owner="ana", at="2019-06-01")
    assert [item.memory.id for item in answer.items] == [rome]
    assert answer.text.splitlines()[2:-1] == ["- [general] I live in Rome (said 2026-05-20, until 2021)"]
    assert answer.bullets()[0]["text"] == "[general] I live in Rome (said 2026-05-20, until 2021)"
    later = mem.query("Where do I live?", owner="ana", at=datetime(2021, 1, 1, tzinfo=UTC))
    assert [item.memory.id for item in later.items] == [porto], "the end is not part of it"
    with pytest.raises(BadInput) as refused:
        mem.query("Where do I live?", at="yesterday")
    assert refused.value.field == "at"


def test_where_nothing_is_stated_recorded_time_tells_the_versions_apart(mem: Recollect, clock: Clock) -> None:
    mem.add("I live in Rome", owner="ana")
    clock.now = datetime(2026, 7, 1, tzinfo=UTC)
    mem.add("I live in Porto now", owner="ana")
    assert told(mem, "Where do I live?", at="2026-06-01") == ["I live in Rome"]
    assert told(mem, "Where do I live?", at="2026-07-02") == ["I live in Porto now"]


def test_versions_of_what_was_forgotten_are_not_told(mem: Recollect) -> None:
    _, porto = moved(mem)
    mem.forget(porto)
    assert told(mem, "Where do I live?", at="2019-06-01") == []


def test_a_question_that_names_a_time_is_answered_by_what_held_then(mem: Recollect) -> None:
    moved(mem)
    assert told(mem, "Where did I live in 2019?") == ["I live in Rome"]
    assert told(mem, "Where did I live in 2023?") == ["I live in Porto since 2021"]
    assert told(mem, "Where do I live?") == ["I live in Porto since 2021"]


def test_what_is_known_not_to_have_held_then_is_no_answer(mem: Recollect) -> None:
    mem.add("I was vegetarian from 2014 to 2024", owner="ana")
    mem.add("I quit smoking in 2019", owner="ana")
    assert "I was vegetarian from 2014 to 2024" not in told(mem, "Was I vegetarian in 2010?")
    assert told(mem, "Was I vegetarian in 2016?")[0] == "I was vegetarian from 2014 to 2024"
    assert told(mem, "Did I start being vegetarian in 2010?"), "an event is asked for: the other year answers it"
    assert told(mem, "Am I vegetarian?"), "told with its years, where no time is named"
    assert told(mem, "Did I have a habit of smoking in 2015?")[0] == "I quit smoking in 2019", "no less true of then"


def test_bounded_validity_answers_for_its_time_and_is_behind_what_holds_now(mem: Recollect) -> None:
    over = "User was vegetarian for ten years, stopped in 2024"
    mem.add("User is a flexible vegetarian now", owner="ana", canonical_key="Diet-Today")
    mem.add(over, owner="ana")
    assert told(mem, "Was the user vegetarian in 2022?")[0] == over
    assert told(mem, "Is the user vegetarian?") == ["User is a flexible vegetarian now", over]
    answer = mem.query("Is the user vegetarian?", owner="ana")
    assert "(said 2026-05-20, since 2014, until 2024)" in answer.text.splitlines()[3]
    assert answer.items[1].breakdown["not_then"] < 0
    assert told(mem, "vegetarian", at="2025-06-01") == ["User is a flexible vegetarian now"]
    assert over in told(mem, "vegetarian", at="2022-06-01")


@pytest.mark.parametrize(
    "later",
    [
        "Starting next month Ana works at Globex",
        "Ana works at Globex from 1 June",
        "Ana works at Globex starting 1 June",
        "Ana will work at Globex from June 2026",
    ],
)
def test_what_begins_later_does_not_replace_what_holds_until_then(mem: Recollect, clock: Clock, later: str) -> None:
    acme = mem.add("Ana works at Acme", owner="ana").memory
    receipt = mem.add(later, owner="ana")
    question = "Where does Ana work?"
    assert acme is not None and receipt.outcome == "superseded"
    assert mem.get(acme.id).valid_until == datetime(2026, 6, 1, tzinfo=UTC)
    assert told(mem, question) == ["Ana works at Acme", later]
    clock.now = datetime(2026, 6, 2, tzinfo=UTC)
    assert told(mem, question) == [later]


def test_a_person_who_will_move_lives_where_they_live_until_then(mem: Recollect, clock: Clock) -> None:
    mem.turn(session="s1", owner="ana", user="I live in Leeds.", ai="Noted.")
    mem.turn(session="s2", owner="ana", user="We move to Bristol in June.", ai="How nice.")
    home = ["The user lives in Leeds.", "We move to Bristol in June."]
    assert sorted(memory.content for memory in mem.list(owner="ana")) == home, "nothing says that they live in Bristol"
    assert told(mem, "Where do I live?") == home
    when = mem.query("When do we move to Bristol?", owner="ana").items[0]
    assert when.bullet == "- [general] We move to Bristol in June. (said 2026-05-20, from 2026-06)"


@pytest.mark.parametrize(
    "later", ["I move to Bristol in June", "I'll move to Bristol on 1 June", "In June I move to Bristol"]
)
def test_an_announced_move_leaves_the_present_home_until_its_day(mem: Recollect, clock: Clock, later: str) -> None:
    mem.add("I live in Leeds", owner="ana")
    mem.add(later, owner="ana")
    assert told(mem, "Where do I live?") == ["I live in Leeds", later]
    clock.now = datetime(2026, 6, 2, tzinfo=UTC)
    assert told(mem, "Where do I live?") == [later]


def test_a_turn_is_answered_in_the_same_way(mem: Recollect) -> None:
    rome, _ = moved(mem)
    turn = mem.as_caller(user="ana", session="s1").turn(session="s1", user="Where did I live in 2019?", ai="In Rome.")
    assert turn.recall is not None
    assert rome in [item.memory.id for item in turn.recall.items]


def test_a_promotion_takes_it_along(mem: Recollect) -> None:
    caller = mem.as_caller(user="ana", session="s1", rights=["read", "write", "govern"])
    memory = caller.add("The sprint board is blue", space="session", source="user", valid_until="2027-01-01").memory
    assert memory is not None
    promoted = caller.promote(memory.id, "user").memory
    assert promoted is not None and promoted.valid_until == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_bullet_says_it_once_and_others_stay_as_they_are(mem: Recollect) -> None:
    mem.add("The kettle is blue", owner="ana", valid_from="2019-01-01")
    mem.add("The piano is in Rome since 2019", owner="ana")
    mem.add("The ladder is red", owner="ana")
    lines = [mem.query(what, owner="ana", top_k=1).text.splitlines()[2] for what in ("kettle", "piano", "ladder")]
    assert lines == [
        "- [general] The kettle is blue (said 2026-05-20, since 2019)",
        "- [general] The piano is in Rome since 2019 (2026-05-20)",
        "- [general] The ladder is red (2026-05-20)",
    ]


@pytest.mark.parametrize("format", [n for n, one in FORMATS.items() if one.write is not None and n != "mcp-memory"])
def test_every_format_but_a_graph_carries_it(format: str, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("The kettle is blue", owner="ana", valid_from="2019-01-01T09:30:00Z", valid_until="2027-01-01")
    file = tmp_path / ("out.json" if format == "mem0" else "out")
    file.write_text("".join(mem.export(format=format)), encoding="utf-8", newline="")
    there = recollect.open(":memory:")
    there.import_(file, format=format)
    (memory,) = there.list().items
    assert (
        str(memory.valid_from) == "2019-01-01 09:30:00+00:00" and str(memory.valid_until) == "2027-01-01 00:00:00+00:00"
    )


def test_a_backup_and_a_migration_carry_it(tmp_path: Path, server_store: str) -> None:
    with recollect.open(tmp_path / "old.db") as mem:
        rome, _ = moved(mem)
        mem.backup(tmp_path / "copy.db")
    with recollect.open(tmp_path / "copy.db") as copy:
        assert copy.get(rome).valid_until == Y2021
    recollect.migrate(str(tmp_path / "old.db"), server_store)
    with recollect.open(server_store) as there:
        assert there.get(rome).valid_until == Y2021 and there.verify().ok
