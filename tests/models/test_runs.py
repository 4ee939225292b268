"""Runs: what is kept of them, how erasing a source reaches them, how they are taken back, and the other two jobs."""

import json
from typing import Any

import pytest

import recollect
from recollect.model.errors import AmbiguousId, NotFound, WrongState

from .conftest import Clock, Opened
from .server import answered
from .test_extract import MOVED, RUNS, VET, YACHT, facts, say, stored_by

TRUST = "The user trusts answers more when mistakes are admitted openly."
OPENLY = "I trust you more when you admit mistakes openly."
PUMP = "First I closed the main valve. Then I drained the pump and opened the main valve again."


def rows(mem: Any, table: str) -> list[dict[str, Any]]:
    """Return every row of a table, by column."""
    with mem.engine.read() as reader:
        (found,) = [one for one in reader.tables() if one.name == table]
        return [dict(zip(found.columns, row, strict=True)) for row in reader.rows_after("default", found, None, 1_000)]


def insight(summary: str = TRUST, span: str = "trust you more when you admit mistakes openly") -> dict[str, Any]:
    return {
        "summary": summary,
        "tags": ["trust"],
        "importance": 2,
        "confidence": 0.7,
        "quotes": [{"source": "N1", "span": span}],
    }


def test_a_run_keeps_what_it_took_and_no_words(opened: Opened, clock: Clock) -> None:
    priced = {"prompt_price": 1.0, "answer_price": 2.0}
    with opened(facts(MOVED, YACHT), model=priced) as (mem, _):
        line = say(mem)
        (run,) = mem.upkeep(job="extract")
        assert (run.calls, run.prompt_tokens, run.answer_tokens, run.cost_millionths) == (1, 10, 5, 20)
        assert mem.runs().items[0].counts == mem.run(run.id[:6]).counts == {"applied": 1, "refused": 1}
        (call,) = rows(mem, "model_calls")
        assert (call["template"], call["template_version"], call["outcome"], call["seed"]) == (
            "extract",
            3,
            "answered",
            0,
        )
        assert [one["memory_id"] for one in rows(mem, "model_call_sources")] == [line]
        kept = json.dumps([rows(mem, name) for name in ("model_runs", "model_calls", "model_proposals")], default=repr)
        assert "vet" not in kept.lower() and "yacht" not in kept
        for missing in ("ffff", "f"):
            with pytest.raises(NotFound):
                mem.run(missing)
        clock.move(days=91)
        mem.upkeep()
        assert mem.runs().items == () and rows(mem, "model_calls") == []


def test_runs_are_paged_and_an_id_must_be_clear(opened: Opened) -> None:
    with opened(facts()) as (mem, _):
        for number in range(3):
            say(mem, VET.replace("4", str(number + 1)), f"s{number}")
        mem.upkeep(job="extract")
        first = mem.runs(limit=2)
        rest = mem.runs(limit=2, cursor=first.next_cursor)
        ids = [one.id for one in (*first.items, *rest.items)]
        assert len(set(ids)) == 3 and rest.next_cursor is None
        assert mem.runs(job="insights").items == ()
        with mem.engine.write() as writer:
            row = writer.model_runs_like("default", ids[0])[0]
            writer.put_model_run("default", row._replace(id=row.id[:-1] + ("0" if row.id[-1] != "0" else "1")))
        with pytest.raises(AmbiguousId):
            mem.run(ids[0][:8])


@pytest.mark.parametrize("how", ["by id", "by owner"])
def test_erasing_a_source_erases_what_was_derived_and_the_meaning_of_the_seals(opened: Opened, how: str) -> None:
    with opened(facts(MOVED, RUNS)) as (mem, _):
        line = say(mem)
        (run,) = mem.upkeep(job="extract")
        derived = stored_by(mem, run)
        assert derived and rows(mem, "model_runs")[0]["secret"] is not None
        receipt = mem.erase(id=line) if how == "by id" else mem.erase(owner="ana")
        gone = {*receipt.removed, *(one.id for one in receipt.derived if one.became == "erased")}
        assert {one.id for one in derived} <= gone
        assert rows(mem, "model_runs")[0]["secret"] is None and rows(mem, "model_call_sources") == []
        assert mem.run(run.id).prompt_tokens == 10, "what it cost is still known"
        bodies = {one["id"]: one["body"] for one in rows(mem, "versions")}
        assert all(bodies[one.id] is None for one in derived)
        assert "Mill Lane" not in json.dumps(rows(mem, "model_proposals"), default=repr)
        assert mem.verify().ok


def test_erasing_one_of_two_sources_erases_what_was_derived_from_both(opened: Opened) -> None:
    cello = "The cello lessons made the evenings calm."
    both = insight("The user trusts calm answers.")
    both["quotes"] = [{"source": "N1", "span": "evenings calm"}, {"source": "N2", "span": "trust you more"}]
    with opened({"insights": [both]}) as (mem, _):
        for text in (OPENLY, cello):
            say(mem, text)
        (run,) = mem.upkeep(job="insights", owner="ana")
        (stored,) = stored_by(mem, run)
        one, other = run.proposals[0].sources[:2]
        receipt = mem.erase(id=one)
        assert stored.id in {*receipt.removed, *(each.id for each in receipt.derived if each.became == "erased")}
        assert mem.get(other).content, "the other source stays"
        assert "calm answers" not in json.dumps(rows(mem, "versions"), default=repr)
        assert mem.verify().ok


def test_erasing_a_source_takes_what_a_waiting_proposal_says(opened: Opened) -> None:
    steps = [
        {"step": "Close the main valve", "source": "N1", "span": "I closed the main valve"},
        {"step": "Drain the pump", "source": "N1", "span": "I drained the pump"},
    ]
    with opened({"title": "Drain the pump", "steps": steps}) as (mem, _):
        note = mem.add(PUMP, owner="ana").memory.id
        mem.upkeep(job="procedures", ids=[note])
        (waits,) = mem.proposals(owner="ana")
        mem.erase(id=note)
        assert mem.proposals() == ()
        assert [(one.status, one.reason) for one in mem.run(waits.run).proposals] == [("erased", "model:source_erased")]
        assert "pump" not in json.dumps(rows(mem, "model_proposals"), default=repr)
        with pytest.raises(WrongState, match="erased"):
            mem.apply_proposal(waits.id)


def test_what_a_run_stored_leaves_and_what_it_replaced_comes_back(opened: Opened) -> None:
    later = VET.replace("Lane 4", "Lane 9")
    moved = {"content": MOVED["content"].replace("4", "9"), "quotes": ["The vet moved to Mill Lane 9 in May"]}
    with opened(facts(MOVED), facts(moved)) as (mem, _):
        say(mem)
        mem.upkeep(job="extract")
        say(mem, later, "s2")
        before = {one.id: (one.status, one.canonical_key, one.superseded_by_id) for one in all_of(mem)}
        (run,) = mem.upkeep(job="extract")
        (new,) = stored_by(mem, run)
        undone = mem.undo(run.id)
        assert undone.removed == (new.id,) and mem.get(new.id).status == "archived"
        after = {
            one.id: (one.status, one.canonical_key, one.superseded_by_id) for one in all_of(mem) if one.id != new.id
        }
        assert after == before
        assert mem.run(run.id).outcome == "undone" and mem.run(run.id).counts == {"undone": 1}
        assert mem.upkeep(job="extract") == (), "what was taken back is not proposed again from the same line"
        assert mem.verify().ok


def all_of(mem: Any) -> list[Any]:
    return list(mem.list(owner="ana", status=None, limit=1_000).items)


def test_later_work_is_in_the_way_and_is_named(opened: Opened) -> None:
    with opened(facts(MOVED)) as (mem, _):
        say(mem)
        (run,) = mem.upkeep(job="extract")
        (fact,) = stored_by(mem, run)
        built = mem.add("Mill Lane has a vet now", owner="ana", parent_refs=[fact.content_hash]).memory.id
        with pytest.raises(WrongState, match=built):
            mem.undo(run.id)
        mem.archive(built)
        mem.edit(fact.id, pinned=True)
        with pytest.raises(WrongState, match="edited"):
            mem.undo(run.id)
        assert mem.get(fact.id).status == "active"


def test_a_fact_that_somebody_put_away_already_is_no_obstacle(opened: Opened) -> None:
    with opened(facts(MOVED)) as (mem, _):
        say(mem)
        (run,) = mem.upkeep(job="extract")
        mem.archive(stored_by(mem, run)[0].id)
        assert mem.undo(run.id).removed == ()


def test_an_insight_is_stored_as_the_policy_of_insights_says(opened: Opened, clock: Clock) -> None:
    with opened({"insights": [insight()]}) as (mem, server):
        mem.turn(session="s1", owner="ana", user=OPENLY)
        (run,) = mem.upkeep(job="insights", owner="ana")
        (stored,) = stored_by(mem, run)
        assert (stored.kind, stored.category, stored.importance, stored.pinned) == (
            "insight",
            "relationship_dynamic",
            2,
            False,
        )
        assert (stored.confidence, stored.tags, stored.authority) == (0.7, ("trust",), "ai_inferred")
        assert server.requests[0]["max_tokens"] == 220 and server.requests[0]["temperature"] == 0
        mem.turn(session="s1", owner="ana", user="The harbour was loud last night, and I slept badly again.")
        assert mem.upkeep(job="insights", owner="ana") == (), "not within 24 hours"
        clock.move(hours=25)
        assert len(mem.upkeep(job="insights", owner="ana")) == 1
        clock.move(hours=25)
        assert mem.upkeep(job="insights", owner="ana") == (), "nothing new has come"


def test_an_insight_never_comes_before_what_the_person_said(opened: Opened) -> None:
    with opened({"insights": [insight("The user trusts answers more when mistakes are admitted.")]}) as (mem, _):
        mem.turn(session="s1", owner="ana", user=OPENLY)
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert run.counts == {"applied": 1}
        own = mem.add("I trust people who admit mistakes", owner="ana").memory.id
        found = mem.query("Do I trust answers more when mistakes are admitted?", owner="ana", top_k=5).items
        ids = [one.memory.id for one in found]
        assert ids.index(own) < ids.index(stored_by(mem, run)[0].id)


def test_an_insight_in_the_words_of_a_note_is_known_already(opened: Opened) -> None:
    note = "The user feels understood when mistakes are admitted."
    told = {**insight(note, span=note), "quotes": [{"source": "N1", "span": note}]}
    with opened({"insights": [told]}) as (mem, _):
        mem.add(note, owner="ana")
        before = mem.state_hash()
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert [(one.status, one.reason) for one in run.proposals] == [("noted", "model:known")]
        assert mem.state_hash() == before


def test_nothing_is_stored_if_nothing_comes_back_or_it_is_made_up(opened: Opened) -> None:
    made_up = [insight("Rui trusts Ana since 2019."), insight(span="words that nobody said")]
    with opened({"insights": made_up}) as (mem, _):
        mem.turn(session="s1", owner="ana", user=OPENLY)
        before = mem.state_hash()
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert (run.counts, mem.state_hash()) == ({"refused": 2}, before)


@pytest.mark.parametrize(
    "summary",
    [
        f"The user trusts answers more when mistakes are admitted openly{', openly' * 40}.",
        "She trusts answers more when mistakes are admitted openly.",
        "The user trusts me more when I admit mistakes openly.",
        "trusts answers",
        "The user trusts answers. The user likes that. The user admits mistakes.",
    ],
    ids=["too long", "a pronoun", "about the assistant", "no sentence", "three sentences"],
)
def test_an_insight_that_is_badly_written_is_refused(summary: str, opened: Opened) -> None:
    with opened({"insights": [insight(summary)]}) as (mem, _):
        mem.turn(session="s1", owner="ana", user=OPENLY)
        before = mem.state_hash()
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert [one.reason for one in run.proposals] == ["writing_constraints"] and mem.state_hash() == before


def test_a_model_that_repeats_the_example_of_its_prompt_stores_nothing(opened: Opened) -> None:
    """Not even beside a quotation that is in a note: the example names somebody who is in none."""

    def repeated(request: dict[str, Any]) -> dict[str, Any]:
        (shown,) = [one["content"] for one in request["messages"] if one["role"] == "assistant"]
        (told,) = json.loads(shown)["insights"]
        return {"insights": [told, told | {"quotes": insight()["quotes"]}]}

    with opened(answered(repeated)) as (mem, _):
        mem.turn(session="s1", owner="ana", user=OPENLY)
        before = mem.state_hash()
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert [one.reason for one in run.proposals] == ["ungrounded:span", "ungrounded:name"]
        assert mem.state_hash() == before


def test_what_a_prompt_for_insights_holds(opened: Opened) -> None:
    with opened({"insights": []}) as (mem, server):
        for number in range(3):
            mem.turn(session="s1", owner="ana", user=f"Line {number}: " + "the lake was calm and clear today. " * 12)
        for number in range(7):
            mem.add(f"Ana rowed lap {number} on the lake", owner="ana", kind="episodic")
            mem.add(f"Ana likes boat number {number}", owner="ana")
        (run,) = mem.upkeep(job="insights", owner="ana")
        notes = server.requests[0]["messages"][-1]["content"]
        assert (notes.count("rowed lap"), notes.count("likes boat"), notes.count("Line ")) == (5, 3, 2)
        assert run.counts == {}


def test_a_procedure_waits_with_the_evidence_of_each_step(opened: Opened) -> None:
    steps = [
        {"step": "Close the main valve", "source": "N1", "span": "I closed the main valve"},
        {"step": "Drain the pump", "source": "N1", "span": "I drained the pump"},
        {"step": "Open the main valve again", "source": "N1", "span": "opened the main valve again"},
    ]
    with opened({"title": "Drain the pump", "steps": steps}) as (mem, _):
        note = mem.add(PUMP, owner="ana").memory.id
        (run,) = mem.upkeep(job="procedures", ids=[note])
        assert run.counts == {"waiting": 1}
        (waits,) = mem.proposals(owner="ana")
        assert [one.span for one in waits.evidence] == [step["span"] for step in steps]
        assert all(PUMP[one.start :].startswith(one.span) for one in waits.evidence)
        done = mem.as_caller(user="ana").apply_proposal(waits.id)
        stored = mem.get(done.memory_id)
        assert (stored.kind, stored.category, stored.authority) == ("procedural", "procedural", "ai_inferred")
        assert stored.content == "1. Close the main valve\n2. Drain the pump\n3. Open the main valve again"


def test_a_title_that_names_nothing_is_refused_when_it_is_applied(opened: Opened) -> None:
    steps = [{"step": "Drain the pump", "source": "N1", "span": "I drained  the pump"}]
    with opened({"title": "!!!", "steps": steps}) as (mem, _):
        mem.upkeep(job="procedures", ids=[mem.add(PUMP, owner="ana").memory.id])
        (waits,) = mem.proposals(owner="ana")
        assert [(one.check, one.start) for one in waits.evidence] == [("span:normalised", None)]
        done = mem.apply_proposal(waits.id)
        assert (done.status, done.reason, mem.proposals()) == ("refused", "model:bad_input", ())


def test_a_step_that_nobody_took_is_refused(opened: Opened) -> None:
    steps = [{"step": "Call Rui at 5 pm", "source": "N1", "span": "I drained the pump"}]
    with opened({"title": "Pump", "steps": steps}) as (mem, _):
        note = mem.add(PUMP, owner="ana").memory.id
        (run,) = mem.upkeep(job="procedures", ids=[note])
        assert run.counts == {"refused": 1} and mem.proposals() == ()


def test_without_a_model_upkeep_and_consolidation_by_rule_work_as_ever() -> None:
    with recollect.open(":memory:") as mem:
        mem.add("Ana likes tea", owner="ana")
        assert mem.upkeep().expired == () and mem.consolidate().applied is False and mem.runs().items == ()
