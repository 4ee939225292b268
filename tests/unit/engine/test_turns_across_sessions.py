"""What a person states in one session: found in their later ones, by nobody else, and not kept where they ask for that."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import recollect
from rows import every_row

KEEP_ALL = {"traces": {"keep": "all"}}
VAN = "Our van is parked behind the old brewery in Ghent."
WHERE = "Where is the van parked?"
Open = Callable[..., Any]


@pytest.fixture
def opened(place: Any) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda **policy: stack.enter_context(recollect.open(place, policy={**KEEP_ALL, **policy}))


@pytest.fixture
def mem(opened: Open) -> Any:
    return opened()


def say(mem: Any, user: str, session: str = "s1", owner: str | None = "ana", **more: Any) -> Any:
    return mem.turn(session=session, user=user, **({"owner": owner} if owner else {}), **more)


def told(mem: Any, question: str = WHERE, session: str = "later", owner: str | None = "ana", **more: Any) -> str:
    whose = {"owner": owner} if owner else {}
    return str(mem.recall_for(session=session, user=question, **whose, **more).text)


def active(mem: Any) -> list[str]:
    """Everything that is active anywhere, the system's included."""
    found = []
    for space in ("session", "user", "project"):
        found += mem.list(space=space, owner=None, status="active", limit=1_000).items
    return sorted(m.content for m in found)


def denied(turn: Any) -> list[str]:
    return [receipt.reasons[0] for receipt in (*turn.receipts, *turn.promoted) if receipt.denied]


def test_a_later_session_finds_it_by_every_way_of_asking(mem: Any) -> None:
    say(mem, VAN)
    assert VAN in told(mem)
    assert VAN in say(mem, WHERE, session="s2").recall.text
    assert VAN in mem.query(WHERE, owner="ana").text


@pytest.mark.parametrize("rule", ["No emojis.", "Do not give legal advice.", "Always answer in metric units."])
def test_a_rule_holds_in_every_later_session_of_its_owner(mem: Any, rule: str) -> None:
    say(mem, rule)
    recall = mem.recall_for(session="later", owner="ana", user="Good morning!")
    assert [i.memory.content for i in recall.items if "active_rule" in i.recall_reason] == [rule]
    assert rule not in told(mem, owner="ben") and rule not in told(mem, session="s9", owner=None)


def test_said_again_it_is_one_memory_and_changed_it_is_the_next_version(mem: Any) -> None:
    first, again = say(mem, "My dentist is Dr. Lund."), say(mem, "My dentist is Dr. Lund.", session="s2")
    say(mem, "The shop opens at nine.")
    assert [r.outcome for r in again.receipts][1:] == ["reinforced"] or first.promoted
    changed = say(mem, "The shop now opens at ten.", session="s3")
    assert "superseded" in [r.outcome for r in changed.receipts]
    assert "nine" not in told(mem, "When does the shop open?")


def test_another_person_finds_nothing_of_it(mem: Any) -> None:
    say(mem, VAN)
    assert VAN not in told(mem, owner="ben") and VAN not in told(mem, owner=None)
    ben = mem.as_caller(user="ben", session="s9")
    for owner in ("ana", "ben", None):
        assert "brewery" not in told(ben, session="s9", owner=owner)
    assert mem.query(WHERE, owner="ben").items == () and ben.query(WHERE).items == ()


def test_two_people_in_one_session_keep_their_own(mem: Any) -> None:
    say(mem, VAN)
    say(mem, "My allotment is number forty on the canal.", owner="ben")
    mem.start_phase(space="session", owner="s1", name="after")  # so that the lines of the session are gone
    assert VAN in told(mem, session="s1") and VAN not in told(mem, session="s1", owner="ben")
    assert "allotment" not in told(mem, "Which allotment?", session="s1")


def test_what_is_for_one_project_is_not_found_in_another(mem: Any) -> None:
    say(mem, "Deploys go out on Tuesdays. Remember this for the project.", project="apollo")
    asked = "When do deploys go out?"
    assert "Tuesdays" in told(mem, asked, owner="ben", project="apollo")
    assert "Tuesdays" not in told(mem, asked, owner="ben", project="zeus") and "Tuesdays" not in told(mem, asked)
    say(mem, VAN, project="apollo")
    assert VAN in told(mem, project="zeus"), "what a person states is theirs, whatever they work on"
    assert VAN not in told(mem, owner="ben", project="apollo")


def test_a_new_phase_of_the_person_begins_without_it(mem: Any) -> None:
    say(mem, VAN)
    mem.start_phase(space="user", owner="ana", name="second")
    assert VAN not in told(mem)
    say(mem, VAN, session="s2")
    assert VAN in told(mem)


def test_another_tenant_finds_nothing_of_it(place: Any, mem: Any) -> None:
    say(mem, VAN)
    with recollect.open(place, tenant="other") as other:
        assert told(other) == "" and other.query(WHERE, owner="ana").items == ()


def test_an_agent_keeps_and_finds_what_its_list_names(opened: Open) -> None:
    mem = opened(agents={"allowlists": {"planner": ["goals"], "clerk": ["general", "profile"]}})
    say(mem, VAN)
    rights = ["read", "write", "relay"]
    planner = mem.as_caller(agent="planner", user="ana", session="s2", rights=rights)
    clerk = mem.as_caller(agent="clerk", user="ana", session="s3", rights=rights)
    assert VAN not in told(planner, session="s2", owner=None) and VAN in told(clerk, session="s3", owner=None)
    refused = say(planner, "Our boat lies in Ostend.", session="s2", owner=None)
    assert set(denied(refused)) == {"border:category_not_yours"}
    assert denied(say(clerk, "Our boat lies in Ostend.", session="s3", owner=None)) == []
    assert "Ostend" in told(mem, "Where does the boat lie?")


def test_an_agent_without_the_right_to_relay_takes_nothing_across(mem: Any) -> None:
    agent = mem.as_caller(agent="planner", user="ana", session="s1")
    turn = say(agent, f"{VAN} No emojis.", owner=None)
    assert denied(turn) == ["promotion:authority_too_low"] * 2
    kept = [r.memory for r in turn.receipts if r.memory.kind == "semantic"]
    assert [(m.space, m.authority, m.role, m.actor_id) for m in kept] == [
        ("session", "ai_inferred", "assistant", "planner")
    ] * 2
    assert VAN not in told(mem)


@pytest.mark.parametrize(
    ("named", "caller", "code"),
    [
        ("ana", {"user": "ben", "session": "s1"}, "border:not_your_space"),
        (None, {"user": "ana", "session": "s1", "rights": ["read"]}, "border:no_write_right"),
    ],
)
def test_whoever_may_not_write_there_does_not(mem: Any, named: str | None, caller: dict[str, Any], code: str) -> None:
    turn = say(mem.as_caller(**caller), VAN, owner=named)
    assert set(denied(turn)) == {code} and VAN not in told(mem)


def test_a_person_who_is_bound_needs_no_name(mem: Any) -> None:
    ana = mem.as_caller(user="ana", session="s1")
    (snippet,) = [r.memory for r in say(ana, VAN, owner=None).receipts if r.memory.kind == "semantic"]
    assert (snippet.space, snippet.owner) == ("user", "ana")
    assert VAN in told(mem.as_caller(user="ana", session="s2"), session="s2", owner=None)


def test_an_agent_that_works_for_nobody_in_particular_takes_nothing_across(mem: Any) -> None:
    anybody = mem.as_caller(agent="planner", session="s1", rights=["read", "write", "relay"])
    (kept,) = [r for r in say(anybody, VAN, owner=None).receipts if r.memory.kind == "semantic"]
    assert kept.memory.space == "session" and "turn:nobody_named" in kept.reasons


def test_a_closed_path_keeps_it_in_the_session_and_says_so(opened: Open) -> None:
    mem = opened(spaces={"paths": []})
    turn = say(mem, VAN)
    assert denied(turn) == ["promotion:path_closed"]
    assert [r.memory.space for r in turn.receipts if r.memory.kind == "semantic"] == ["session"]
    types = [event["type"] for event in turn.events]
    assert "memory_promotion_denied" in types and VAN not in told(mem)


def test_a_space_that_takes_promotions_alone_gets_a_promotion(opened: Open) -> None:
    mem = opened(spaces={"write_spaces": ["session"]})
    turn = say(mem, VAN)
    assert [(r.memory.space, r.memory.source) for r in turn.promoted] == [("user", "promotion")]
    assert VAN in told(mem)


def test_it_expires_by_the_policys_rule(opened: Open) -> None:
    mem = opened(retention={"rules": {"semantic": {"fact": {"mode": "ttl", "ticks": 1}}}})
    say(mem, VAN)
    say(mem, "My sister sells tiles in Mechelen.", session="s2")
    assert VAN not in told(mem)


def test_an_erasure_takes_it_along(mem: Any, tmp_path: Path) -> None:
    say(mem, "The zanzibarmobile stands in Oberammergau.")
    mem.erase(owner="ana")
    assert told(mem, "zanzibarmobile?") == ""
    left = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert b"anzibarmobil" not in left and mem.verify().ok


def test_a_secret_does_not_cross_with_what_stands_beside_it(mem: Any) -> None:
    say(mem, "The van key is in the drawer. My password is hunter2-Zx9Q, by the way.")
    assert "hunter2" not in str(active(mem)) and "van key" in told(mem, "Where is the van key?")


def test_what_is_off_the_record_is_kept_nowhere(mem: Any, tmp_path: Path) -> None:
    words = "I live in Xanadumont and we may sell the boat. Don't write that down."
    mem.recall_for(session="s1", owner="ana", user=words)
    turn = say(mem, words, ai="Xanadumont is lovely.", tools=[{"name": "map", "output": "Xanadumont: 4 km"}])
    assert {r.reasons for r in turn.receipts} == {("turn:off_the_record",)} and len(turn.receipts) == 3
    assert active(mem) == [] and "Xanadumont" not in str(mem.traces(limit=1_000))
    mem.close()
    assert b"Xanadumont" not in b"".join(f.read_bytes() for f in tmp_path.iterdir() if f.is_file())


def test_the_last_message_is_forgotten_wherever_it_went(mem: Any) -> None:
    say(mem, "My sister sells tiles in Mechelen.", ai="Nice.")
    before = active(mem)
    said = say(mem, f"I live in Porto. {VAN} Remember for the project: we ship on Friday.", project="apollo", ai="Ok.")
    kept = {r.memory.id for r in (*said.receipts, *said.promoted)}
    turn = say(mem, "Forget what I just said.", project="apollo", ai="Done, Porto is forgotten.")
    assert active(mem) == before and set(turn.forgotten) == kept
    gone = [(e["type"], e["reason"]) for e in turn.events if e.get("memory_id") in kept]
    assert gone == [("memory_deleted", "forgotten:said_so")] * len(kept)
    for id in kept:
        assert mem.get(id).status == "soft_deleted" and "forgotten:said_so" in str(mem.history(id))
    assert mem.verify().ok


def test_what_was_known_before_and_only_said_again_stays(mem: Any) -> None:
    say(mem, "I live in Porto.")
    say(mem, "I live in Porto.", session="s2")
    say(mem, "Forget what I just said.", session="s2")
    assert "Porto" in told(mem, "Where do I live?")


def test_the_rest_of_the_message_counts(mem: Any) -> None:
    say(mem, "I live in Porto.")
    say(mem, "Forget what I just said. I live in Braga.")
    assert "Braga" in told(mem, "Where do I live?") and "Porto" not in str(active(mem))


def test_everything_that_was_said_in_the_session_is_forgotten(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 1})
    say(mem, "My aunt is Irma.", session="s0")
    before = active(mem)
    for words in (VAN, "I live in Porto.", "My sister sells tiles in Mechelen."):
        say(mem, words, ai="Noted.")
    say(mem, "Forget everything I told you today.")
    assert active(mem) == before


def test_what_was_said_of_something_is_forgotten_in_every_session(mem: Any) -> None:
    say(mem, "I switched to green tea because of my blood pressure.", ai="Your blood pressure will thank you.")
    say(mem, "The blood test is on Friday, and the tyre pressure is 2.4 bar.")
    say(mem, "My doctor wrote down my blood pressure: 140 to 90.", session="s2")
    say(mem, "My blood pressure is fine.", owner="ben", session="s3")
    mem.add("Ana's blood pressure matters for the study", space="project", owner="apollo")
    asked = say(mem, "Please forget what I told you about my blood pressure. Dinner is at eight.", session="s2")
    left = str(active(mem))
    assert "green tea" not in left and "140 to 90" not in left and "thank you" not in left
    assert "tyre pressure" in left and "the study" in left and "Dinner is at eight" in left
    assert "is fine" in told(mem, "How is my blood pressure?", owner="ben") and len(asked.forgotten) >= 3
    assert "blood" not in told(mem, "What about my blood pressure?", session="s4").replace("blood test", "")
    assert mem.verify().ok


@every_row(
    ("words", "obeyed"),
    [
        ("Forget what I told you about my knee, that's private.", True),
        ("Please forget what I told you about my knee because nobody needs to know.", True),
        ("Forget that I have a knee problem.", True),
        ("Please forget about my knee.", True),
        ("Please forget everything about my knee.", True),
        ("Don't forget that I have a knee problem.", False),
        ("Delete the file about my knee.", False),
    ],
)
def test_a_request_to_forget_is_understood_with_what_trails_behind_it(words: str, obeyed: bool) -> None:
    with recollect.open(":memory:") as mem:
        say(mem, "I have a knee problem.")
        assert bool(say(mem, words, session="s2").forgotten) is obeyed
        mem.recall_for(session="s3", owner="ana", user="Hello")
        heads = mem.recall_for(session="s2", owner="ana", user="How are you?").text
        assert not obeyed or "knee problem" not in heads, "the next prompt does not bring it up"


@every_row(
    ("words", "asks"),
    [
        ("Forget everything about me.", True),
        ("Delete all my data.", True),
        ("Erase everything you know about me, please.", True),
        ("Can you delete everything you have saved about me?", True),
        ("Delete all my old drafts.", False),
    ],
)
def test_who_asks_to_be_forgotten_is_told_of_the_erasure_that_does_it(words: str, asks: bool) -> None:
    with recollect.open(":memory:") as mem:
        say(mem, VAN)
        turn = say(mem, words)
        assert (turn.receipts[0].reasons == ("turn:asks_for_erasure",)) is asks
        assert VAN in told(mem), "nothing leaves unasked by whoever may erase"


PRESSURE = "Forget what I told you about my blood pressure."


def test_what_ranks_above_the_person_stays_when_they_ask_to_forget_it(mem: Any) -> None:
    mem.add("Ana's blood pressure is checked before any dose", owner="ana", source="operator")
    mem.add("Ana's blood pressure is 140 by the monitor", owner="ana", source="tool", authority="tool_verified")
    mem.add("My blood-pressure tablets are white", owner="ana", source="user")
    assert len(say(mem, PRESSURE).forgotten) == 1
    assert "any dose" in str(active(mem)) and "monitor" in str(active(mem)) and "tablets" not in str(active(mem))


def test_what_waits_for_a_decision_is_forgotten_with_what_it_contradicts(mem: Any) -> None:
    mem.add("Ana's blood pressure is high", owner="ana", source="user")
    waiting = mem.add("Ana's blood pressure is not high", owner="ana", source="agent").memory
    assert waiting.status == "contradictory"
    say(mem, PRESSURE)
    assert mem.get(waiting.id).status == "soft_deleted" and mem.verify().ok


def test_only_the_person_reaches_what_was_said_in_their_other_sessions(mem: Any) -> None:
    say(mem, "My blood pressure is bad.", ai="Your blood pressure is noted.")
    before = active(mem)
    for rights in (["read", "write"], ["read"]):
        assert (
            say(mem.as_caller(agent="planner", user="ana", session="s2", rights=rights), PRESSURE, "s2", None).forgotten
            == ()
        )
    assert say(mem.as_caller(user="ana", session="s2", rights=["read"]), PRESSURE, "s2", None).forgotten == ()
    assert active(mem) == before
    say(mem.as_caller(user="ana", session="s2"), PRESSURE, "s2", None)
    assert [told for told in active(mem) if "pressure" in told] == []


def test_an_agent_takes_back_nothing_that_a_closed_phase_hides_from_it(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db", policy="governed") as mem:
        say(mem, "My blood pressure is bad.", ai="Your blood pressure is noted.")
        mem.start_phase(name="two", space="session", owner="s1")
        agent = mem.as_caller(agent="planner", user="ana", session="s1")
        assert say(agent, PRESSURE, owner=None).forgotten == ()
        assert len(say(mem.as_caller(user="ana", session="s1"), PRESSURE, owner=None).forgotten) > 1
        assert [told for told in active(mem) if "pressure" in told] == []


def test_what_is_pasted_or_quoted_takes_nothing_back(mem: Any) -> None:
    say(mem, "My blood pressure is bad.")
    for message in (f"```\n{PRESSURE}\n```", f"Translate: {PRESSURE}", f"The log:\nuser: {PRESSURE}", f"> {PRESSURE}"):
        assert say(mem, message, "s2").forgotten == (), message
    say(mem, "Mein Blutdruck ist heute 140.")
    assert say(mem, 'Forget what I told you about my "blood pressure".', "s2").forgotten != ()
    assert say(mem, "Vergiss bitte alles, was ich dir über meinen Blutdruck erzählt habe.", "s2").forgotten != ()


def test_each_thing_that_is_named_is_forgotten(mem: Any) -> None:
    for words in (
        "My knee hurts at night.",
        "My salary is too low.",
        "My boat is red.",
        "The salt and the pepper are in the drawer.",
    ):
        say(mem, words)
    say(
        mem,
        "Forget what I told you about my knee and my salary. And forget what I told you about the boat.",
        session="s2",
    )
    say(mem, "Forget what I told you about salt and sugar.", session="s2")
    say(mem, "Forget what I told you about how my pepper and my sugar met.", session="s2")
    left = str(active(mem))
    assert "pepper" in left and not any(word in left for word in ("knee", "salary", "boat"))


def test_a_summary_loses_the_lines_of_the_person_who_asks_and_no_others(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 1, "statements": "session"})
    say(mem, "Ben here, my blood pressure is low.", "room", "ben")
    say(mem, "My blood pressure is bad too.", "room")
    say(mem, "What is there for dinner?", "room", "ben")
    say(mem, "I like pasta with olives.", "room", "ben")
    mem.add("The blood pressure cuff lies in the drawer", space="session", owner="room")
    say(mem, PRESSURE, "room")
    (summary,) = [told for told in active(mem) if told.startswith("Earlier")]
    assert "bad too" not in str(active(mem)) and "Ben here" in summary and "dinner" in summary
    assert "cuff" in str(active(mem)) and mem.verify().ok


def test_nobody_unnamed_reaches_into_another_session(mem: Any) -> None:
    mem.turn(session="a", user="I have a bad knee.", ai="Noted.")
    mem.add("The knee specialist is Dr. Amadi", owner="default")
    turn = mem.turn(session="b", user="Forget what I said about my knee.", ai="Done.")
    assert turn.forgotten == () and "bad knee" in str(active(mem)) and "Amadi" in str(active(mem))
    assert "bad knee" not in str(
        mem.turn(session="a", user="Forget what I said about my knee.", ai="Done.") and active(mem)
    )


def test_what_only_points_at_something_names_nothing(mem: Any) -> None:
    say(mem, VAN)
    for words in ("Forget about it.", "Forget what I said about that.", "Did you forget what I said about the van?"):
        assert VAN in told(mem), (words, say(mem, words))


def test_nobody_takes_back_what_another_said(mem: Any) -> None:
    say(mem, VAN)
    say(mem, "Forget what I just said.", owner="ben")
    agent = mem.as_caller(agent="planner", user="ana", session="s1")
    assert say(agent, "Forget what I just said.", owner=None).forgotten == ()
    assert VAN in told(mem)


@pytest.mark.parametrize("preset", ["governed", "default"])
def test_a_request_is_obeyed_under_every_policy(tmp_path: Path, preset: str) -> None:
    with recollect.open(tmp_path / "memory.db", policy=preset) as mem:
        say(mem, VAN)
        say(mem, "Please forget my last message.")
        say(mem, "Off the record, we may move to Xanadumont.")
        assert active(mem) == []


def test_what_one_message_says_twice_outdates_nothing_of_itself(mem: Any) -> None:
    say(mem, "My boss is Karin.")
    say(mem, "Karin left, my new boss is Ahmed.", session="s2")
    assert "Ahmed" in told(mem, "Who is my boss?")
    assert [line for line in told(mem, "Who is my boss?").splitlines() if "Ahmed" in line and "outdated" in line] == []


def test_the_next_prompt_does_not_repeat_what_was_taken_back(mem: Any) -> None:
    say(mem, "My blood pressure is 140 over 90.")
    told(mem, "Hello", session="s2")
    say(mem, PRESSURE)
    prompt = told(mem, "What do you know about me?", session="s2")
    assert "↓soft_deleted: [general] memory " in prompt and "140" not in prompt


def test_what_one_message_says_and_takes_back_is_not_kept_and_nothing_else_is_forgotten(mem: Any) -> None:
    say(mem, "I'm allergic to penicillin, found out the hard way as a kid.", ai="Important.")
    before = active(mem)
    turn = say(mem, "I told my sister Nell that I hate her new haircut. Forget that I said that. We meet at nine.")
    assert turn.forgotten == () and turn.receipts[0].reasons == ("turn:off_the_record",)
    assert active(mem) == sorted([*before, "We meet at nine."])


def test_of_a_message_only_the_sentences_about_it_are_forgotten(mem: Any) -> None:
    say(mem, "My knee hurts on stairs. It has for weeks. The vet is on Mill Lane.")
    said = next(memory for memory in mem.list(owner="ana") if memory.kind == "semantic")
    assert said.id in say(mem, "Please forget what I told you about my knee.", session="s2").forgotten
    (left,) = mem.list(owner="ana").items
    assert (left.content, left.created_at) == ("The vet is on Mill Lane.", said.created_at)
    assert (left.authority, left.meta["source_turn_ids"]) == (said.authority, said.meta["source_turn_ids"])
    assert "knee" not in str(active(mem)) and "Mill Lane" in told(mem, "Where is the vet?", session="s3")
    assert mem.verify().ok


@every_row("words", ["Oh no, delete that.", "Please erase that.", "Forget that.", "Forget that I said that."])
def test_a_message_may_take_itself_back_in_these_words(words: str) -> None:
    with recollect.open(":memory:") as mem:
        say(mem, VAN)
        assert say(mem, f"I kissed my boss. {words}").forgotten == ()
        assert "boss" not in str(active(mem)) and VAN in active(mem)
        say(mem, "Delete that.")
        assert VAN in active(mem), "alone it may be about a file"
