"""Sensitive profile fields are for the person to set: from anybody else they wait, unseen, until the person decides."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollect
from recollect.model.canonical import parse_time

THEY = "Ana's pronouns are they/them"
PRONOUNS = {"kind": "profile", "key": "pronouns"}


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def place(any_place: Any) -> Any:
    return any_place


@pytest.fixture
def mem(place: Any) -> Iterator[Any]:
    with recollect.open(place, policy="default") as opened:
        yield opened


@pytest.fixture
def ana(mem: Any) -> Any:
    return mem.as_caller(user="ana", session="s1")


@pytest.fixture
def bot(mem: Any) -> Any:
    return mem.as_caller(user="ana", agent="planner", session="s1")


def test_an_agents_sensitive_field_is_pending_and_in_no_recall(mem: Any, ana: Any, bot: Any) -> None:
    receipt = bot.add(THEY, **PRONOUNS)
    assert (receipt.outcome, receipt.reasons, receipt.memory.status) == ("pending", ("consent:pending",), "pending")
    assert bot.add("Ana is vegan", kind="profile", key="diet").outcome == "stored"
    for seen in (ana, bot, mem):
        assert "they/them" not in seen.query("What are Ana's pronouns?").text
        assert "they/them" not in seen.snapshot_block().text + seen.memory_block("pronouns").text
        assert [one.content for one in seen.list().items] == ["Ana is vegan"]
        assert [one.id for one in seen.list(status="pending").items] == [receipt.memory.id]
        assert "they/them" not in seen.recall_if_unsure("Ana's pronouns", 0.1).text
        assert "they/them" not in seen.as_of(tick=99).query("Ana's pronouns").text
        assert "vegan" in seen.query("What is Ana's diet?").text, "the control: what needs no consent is recalled"
    assert "they/them" not in ana.recall_for(session="s1", user="Which pronouns do I use?").text
    assert "they/them" not in ana.turn(session="s1", user="Which pronouns do I use?").recall.text
    again = bot.add(THEY, **PRONOUNS)
    assert again.memory.id == receipt.memory.id and again.reasons == ("consent:said_again",)
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_the_person_accepts_or_declines_it_and_an_agent_cannot(mem: Any, ana: Any, bot: Any) -> None:
    told = bot.add(THEY, **PRONOUNS).memory
    with pytest.raises(recollect.NotAllowed, match="govern"):
        bot.resolve(told.id, winner=told.id)
    accepted = ana.resolve(told.id, winner=told.id)
    assert (accepted.status, accepted.authority) == ("active", "user_asserted")
    assert "they/them" in ana.query("What are Ana's pronouns?").text
    assert bot.add(THEY, **PRONOUNS).outcome == "reinforced"
    other = bot.add("Ana's pronouns are he/him", **PRONOUNS)
    assert other.outcome == "pending" and other.memory.conflict_ids == (told.id,)
    assert ana.resolve(other.memory.id, winner=told.id).status == "archived"
    city = bot.add("Ana lives in Porto", kind="profile", key="city").memory
    bot.archive(city.id)
    with pytest.raises(recollect.NotAllowed, match="govern"):
        bot.restore(city.id)
    ana.reject(city.id)
    assert bot.add("Ana lives in Porto", kind="profile", key="city").reasons == ("rejected:value",)
    history = [(one.event, one.meta["operation"]) for one in ana.history(told.id)]
    assert history[:3] == [("ADD", "stored"), ("UPDATE", "resolved"), ("UPDATE", "edited")] and mem.verify().ok
    assert "consent:given" in {one.meta["rule"] for one in ana.history(told.id)}


def test_no_other_name_or_way_in_sets_the_field(mem: Any, ana: Any, bot: Any) -> None:
    for fields in (
        {"kind": "profile", "key": "tone", "title": "Profile pronouns"},
        {"kind": "profile", "key": "pronouns", "source": "user"},
        {"kind": "profile", "key": "pronouns", "space": "session"},
    ):
        assert bot.add(THEY, **fields).outcome == "pending", fields
    assert mem.add(THEY, owner="ana", source="agent", **PRONOUNS).outcome == "pending"
    turn = bot.turn(session="s1", user="I live in Porto.")
    assert [one.memory.status for one in turn.receipts if one.memory.kind == "profile"] == ["pending"]
    assert turn.promoted == () and ana.list(kind="profile").items == ()


def test_what_the_person_says_needs_no_other_consent(ana: Any, mem: Any) -> None:
    assert ana.add("My pronouns are they/them", **PRONOUNS).outcome == "stored"
    assert mem.add("Ben lives in Rome", owner="ben", kind="profile", key="city").outcome == "stored"
    turn = mem.turn(session="s1", user="I live in Porto.", owner="cleo")
    assert [one.outcome for one in turn.promoted] == ["stored"]
    with recollect.open(":memory:", policy={"privacy": {"consent_keys": []}}) as free:
        assert free.as_caller(user="ana", agent="planner").add(THEY, **PRONOUNS).outcome == "stored"


def test_an_agents_plain_statement_sets_no_field_and_replaces_nothing(mem: Any, ana: Any, bot: Any) -> None:
    """It is one more inference, under the agent's name: the field stays the person's, whatever an agent notes beside it."""
    field = ana.add("My pronouns are she/her", **PRONOUNS).memory
    noted = bot.add(THEY)
    assert noted.memory.kind == "semantic" and noted.memory.authority == "ai_inferred"
    assert noted.memory.author.id == "agent:planner"
    assert [one.id for one in ana.list(kind="profile").items] == [field.id] and ana.get(field.id).status == "active"
    said = ana.add("Ana lives in Porto").memory
    assert bot.add("Ana lives in Rome").outcome == "contradicted"
    assert ana.get(said.id).status == "active" and "Rome" not in ana.query("Where does Ana live?").text
    ana.reject(noted.memory.id, "no")
    assert bot.add(THEY).reasons == ("rejected:value",) and bot.add(THEY, **PRONOUNS).reasons == ("rejected:value",)


TONE = {"kind": "profile", "key": "tone"}
NAME = {"kind": "profile", "key": "preferred_name"}
WEEK = timedelta(days=7)


def rules(mem: Any, id: str) -> list[str]:
    return [one.meta["rule"] for one in mem.history(id)]


def test_the_queue_says_what_waits_for_whom_and_until_when(mem: Any, ana: Any, bot: Any) -> None:
    ana.add("My pronouns are she/her", **PRONOUNS)
    id = bot.add(THEY, created_at="2020-01-01T00:00:00Z", **PRONOUNS).memory.id
    bot.add(THEY, **PRONOUNS)
    for seen in (mem, ana, bot):
        (one,) = seen.consent()
        assert (one.id, one.key, one.owner, one.proposed_by) == (id, "pronouns", "ana", "agent:planner")
        assert (one.content, one.instead_of, one.times) == (THEY, "My pronouns are she/her", 2)
        assert parse_time(one.lapses_at) - parse_time(one.at) == WEEK and one.at > "2021"
    assert mem.as_caller(user="ben").consent() == () == mem.consent(owner="ben")
    granted = ana.grant(id)
    assert (granted.status, granted.authority, granted.content) == ("active", "user_asserted", THEY)
    assert rules(mem, id)[-2:] == ["consent:given", "consent:given"] and ana.consent() == ()
    assert "they/them" in ana.query("What are Ana's pronouns?").text and mem.verify().ok
    with pytest.raises(recollect.WrongState):
        ana.grant(id)


def test_no_agent_and_nobody_else_grants(mem: Any, ana: Any, bot: Any) -> None:
    everything = mem.as_caller(user="ana", agent="boss", rights=list(recollect.Right))
    id = bot.add(THEY, **PRONOUNS).memory.id
    for agent in (bot, everything, mem.as_caller(agent="planner", rights=["read", "write", "govern"])):
        for act in (agent.grant, lambda one, by=agent: by.resolve(one, winner=one)):
            with pytest.raises((recollect.NotAllowed, recollect.NotFound)):
                act(id)
    with pytest.raises(recollect.NotFound):
        mem.as_caller(user="ben", rights=["read", "write"]).grant(id)
    everything.archive(id)
    with pytest.raises(recollect.NotAllowed):
        everything.restore(id)
    tone = bot.add("Ana's tone is brief", **TONE)
    bot.archive(tone.memory.id)
    with pytest.raises(recollect.NotAllowed):
        bot.restore(tone.memory.id)
    city = mem.grant(bot.add("Ana lives in Porto", kind="profile", key="city").memory.id)  # by the application
    other = everything.add("Ana lives in Rome", kind="profile", key="diet").memory
    assert everything.supersede(city.id, by=other.id).outcome == "contradicted"
    assert mem.get(city.id).status == "active"
    with pytest.raises(recollect.NotAllowed):
        everything.resolve(other.id, winner=other.id)
    assert [one.content for one in ana.list(kind="profile").items] == ["Ana lives in Porto"]


def test_no_agent_takes_a_field_over_that_the_person_left_as_an_inference(place: Any) -> None:
    with recollect.open(place, policy="default") as mem:
        ana, bot = mem.as_caller(user="ana"), mem.as_caller(user="ana", agent="planner")
        city = bot.add("Ana lives in Porto", kind="profile", key="city").memory.id
        bot.archive(city)
        assert ana.restore(city).authority == "ai_inferred"
        other = bot.add("Ana lives in Rome", kind="profile", key="diet").memory.id
        with pytest.raises(recollect.NotAllowed):
            bot.supersede(city, by=other)
        assert ana.supersede(city, by=other).outcome == "superseded"
        waiting = bot.add(THEY, **PRONOUNS).memory.id
    with recollect.open(place, policy={"privacy": {"consent_keys": []}}) as mem:  # what waits is still the person's
        with pytest.raises(recollect.NotAllowed):
            mem.as_caller(user="ana", agent="planner", rights=["read", "write", "govern"]).grant(waiting)
        assert mem.as_caller(user="ana").grant(waiting).status == "active"


def test_a_governor_decides_where_nobody_is_the_person(mem: Any) -> None:
    bot = mem.as_caller(agent="planner", projects=["apollo"], rights=["read", "write"])
    id = bot.add("The project speaks English", space="project", kind="profile", key="language").memory.id
    member = mem.as_caller(user="kim", projects=["apollo"], rights=["read", "write"])
    with pytest.raises(recollect.NotAllowed, match="govern"):
        member.grant(id)
    assert (
        mem.as_caller(user="lea", projects=["apollo"], rights=["read", "write", "govern"]).grant(id).status == "active"
    )


def test_of_two_decisions_at_once_one_counts(mem: Any, ana: Any, bot: Any) -> None:
    for number in range(4):
        id = bot.add(f"Ana's preferred name is Ana{number}", **NAME).memory.id
        acts = (ana.grant, ana.decline, lambda one: mem.upkeep())
        with ThreadPoolExecutor(3) as pool:
            done = [one.exception() for one in [pool.submit(act, id) for act in acts]]
        assert [type(one) for one in done if one is not None] == [recollect.WrongState], done
        assert mem.get(id).status == ("active" if done[0] is None else "soft_deleted")
    assert mem.verify().ok


def test_a_decline_is_a_rejection(mem: Any, ana: Any, bot: Any) -> None:
    id = bot.add("Ana lives in Porto", kind="profile", key="city").memory.id
    with pytest.raises(recollect.NotAllowed):
        bot.decline(id)
    assert ana.decline(id, "never lived there").memory_id == id
    assert bot.add("Ana lives in Porto", kind="profile", key="city").reasons == ("rejected:value",)
    assert "consent:declined" in rules(mem, id) and ana.consent() == () and mem.verify().ok
    assert [one.reason for one in ana.rejections()] == ["never lived there"]
    with pytest.raises(recollect.WrongState):
        ana.decline(ana.add("Ana lives in Rome").memory.id)


def test_what_nobody_decides_lapses_and_cannot_be_granted_meanwhile(place: Any) -> None:
    clock = Clock()
    with recollect.open(place, clock=clock) as mem:
        ana, bot = mem.as_caller(user="ana"), mem.as_caller(user="ana", agent="planner")
        id, kept = (
            bot.add(THEY, **PRONOUNS).memory.id,
            bot.add("Ana lives in Porto", kind="profile", key="city").memory.id,
        )
        clock.now += timedelta(days=6)
        bot.add(THEY, **PRONOUNS)  # repeating it gives it no more time
        assert mem.upkeep().lapsed == () and ana.grant(kept).status == "active"
        clock.now += timedelta(days=1)
        assert ana.consent() == ()
        for act in (ana.grant, ana.decline, lambda one: ana.resolve(one, winner=one)):
            with pytest.raises(recollect.WrongState, match="lapsed"):
                act(id)
        again = bot.add(THEY, **PRONOUNS)  # before upkeep: a new proposal, and the old one is put away
        assert again.memory.id != id and rules(mem, id)[-1] == "consent:lapsed"
        clock.now += WEEK
        header = mem.query("pronouns", owner="ana", thread="t").header
        report = mem.upkeep()
        assert report.lapsed == (again.memory.id,) and mem.get(kept).status == "active" and not header
        assert [(one.event, one.meta["rule"]) for one in mem.history(again.memory.id)][-1] == ("TTL", "consent:lapsed")
        assert "they/them" not in (mem.query("pronouns", owner="ana", thread="t").header or "")
        before = mem.state_hash()
        mem.rebuild()
        assert mem.state_hash() == before and mem.verify().ok and mem.upkeep().lapsed == ()


def test_a_proposal_is_in_no_read_until_it_is_granted(mem: Any, ana: Any, bot: Any) -> None:
    asked = "What are Ana's pronouns?"

    def reads() -> str:
        now = mem.engine.clock()
        return "\n".join(
            [
                str(seen.query(asked, history=True, thread="t").to_dict())
                + str(seen.query(asked, at=now).to_dict())
                + str(seen.recall_if_unsure(asked, 0.1).to_dict())
                + str(seen.memory_block(asked, thread="u").to_dict())
                + str(seen.snapshot_block().to_dict())
                + str(seen.as_of(tick=100, owner="ana").query(asked).to_dict())
                + str([one.content for one in seen.as_of(tick=100, owner="ana").list().items])
                + str(seen.change_header(owner="ana", since=0).to_dict())
                + str(seen.add("Ana's pronouns matter", owner="ana").similar)
                for seen in (mem, ana, bot)
            ]
        )

    granted, declined = (
        bot.add(THEY, **PRONOUNS).memory.id,
        bot.add("Ana's name is Zed", kind="profile", key="name").memory.id,
    )
    assert "they/them" not in reads()
    ana.decline(declined)
    ana.grant(granted)
    told = reads()
    assert told.count("they/them") > 10 and "Zed" not in told


def test_a_persons_statement_is_consent_and_overtakes_the_rest(mem: Any, ana: Any, bot: Any) -> None:
    same, other = (bot.add(f"Ana's pronouns are {one}", **PRONOUNS).memory.id for one in ("they/them", "he/him"))
    said = ana.add("My pronouns are they/them", **PRONOUNS)
    assert (said.outcome, said.memory.id) == ("reinforced", same)
    assert (rules(mem, same)[1], rules(mem, other)[-1]) == ("consent:said_so", "consent:overtaken")
    assert [one.content for one in ana.list(kind="profile").items] == [said.memory.content] and ana.consent() == ()
    assert mem.verify().ok


@pytest.mark.parametrize(
    ("asked", "said", "became"),
    [
        (None, "Yes, call me Ana.", "active"),
        ("Shall I call you Ana?", "Yes, please.", "active"),
        ("Shall I call you Ana?", "No thanks.", "soft_deleted"),
        (None, "No, don't call me Ana.", "soft_deleted"),
        ("Shall I call you Ana?", "No, call me Annie.", "soft_deleted"),
        ("Did you see Ana?", "Yes.", "pending"),
        ("Shall I book the flight?", "Yes.", "pending"),
        ("Shall I call you Ana? And is it raining?", "Yes.", "pending"),
        (None, "Yes, call Ana tomorrow.", "pending"),
        (None, "Yes.", "pending"),
        ("Shall I call you Ana?", "No problem, later.", "pending"),
        ("Shall I call you Ana?", "Yes, or should you?", "pending"),
    ],
)
def test_a_plain_answer_in_a_turn_decides_the_proposal_that_it_is_about(asked: Any, said: str, became: str) -> None:
    with recollect.open(":memory:") as mem:
        ana, bot = mem.as_caller(user="ana", session="s1"), mem.as_caller(user="ana", agent="planner", session="s1")
        id = bot.add("Ana's preferred name is Ana", **NAME).memory.id
        bot.turn(session="s1", user="Hello there", ai=asked)
        relayed = mem.as_caller(user="ana", agent="x", session="s1", rights=["read", "write", "relay"])
        relayed.turn(session="s1", user=said if said in ("Yes, please.", "No thanks.") else "Hm.", ai=asked)
        assert mem.get(id).status == "pending"
        ana.turn(session="s1", user=said)
        assert mem.get(id).status == became, rules(mem, id)
        assert mem.verify().ok


def test_an_answer_that_fits_two_proposals_decides_none(mem: Any, ana: Any, bot: Any) -> None:
    first = bot.add("Ana's preferred name is Ana", **NAME).memory.id
    second = bot.add("Ana's name is Ana", kind="profile", key="name").memory.id
    ana.turn(session="s1", user="Hi", ai="Shall I call you Ana?")
    ana.turn(session="s1", user="Yes.", ai="Is your pet's name Rex?")
    assert {mem.get(one).status for one in (first, second)} == {"pending"}
    mem.turn(session="s2", user="Yes, call me Ana.", owner="ana")
    assert (mem.get(first).status, mem.get(second).status) == ("active", "pending")


def test_a_benign_field_applies_itself_when_independent_signals_agree(mem: Any, ana: Any, bot: Any) -> None:
    id = bot.add("Ana's tone is brief", **TONE).memory.id
    assert bot.add("Ana's tone is brief", **TONE).outcome == "pending"
    assert bot.add("The user's tone is brief", **TONE).outcome == "pending"  # the same session and speaker
    forged = {"thread_id": "s9", "meta": {"signal": {"speaker": "x", "session": "y"}}}
    assert bot.add("Ana's tone: brief", **TONE, **forged).outcome == "pending"
    copied = mem.as_caller(user="ana", agent="stylist", session="s2").add("Ana's tone is brief", **TONE)
    assert copied.outcome == "pending"  # the same words are no second signal
    assert (
        mem.as_caller(user="ana", agent="stylist", session="s2").add("Ana's tone is formal", **TONE).outcome
        == "pending"
    )
    applied = mem.as_caller(user="ana", agent="planner", session="s2").add("The user's tone is brief.", **TONE)
    assert (applied.outcome, applied.reasons[0], applied.memory.authority) == (
        "stored",
        "consent:corroborated",
        "ai_inferred",
    )
    assert [one.id for one in ana.list(kind="profile").items] == [applied.memory.id] == [id]
    assert [one.content for one in ana.consent()] == ["Ana's tone is formal"]
    said = ana.add("My tone is formal", **TONE)  # which the stylist had proposed: so that is granted
    assert (said.memory.content, said.memory.authority, ana.consent()) == ("Ana's tone is formal", "user_asserted", ())
    for number in (3, 4):
        said = mem.as_caller(user="ana", agent=f"a{number}", session=f"s{number}").add(
            f"Ana's tone is {'brief' if number == 3 else 'brief now'}", **TONE
        )
        assert said.outcome == "contradicted"  # agents that agree never outvote the person
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_one_insight_that_is_sure_is_enough(mem: Any, bot: Any) -> None:
    def add(by: Any, confidence: float, words: str, key: str = "tone") -> Any:
        text = f"{words} suits Ana."
        insight = by.add(text, kind="insight", confidence=confidence, source="agent").memory
        return bot.add(f"Ana's tone is {words}", kind="profile", key=key, parent_refs=[insight.content_hash])

    other = mem.as_caller(user="ana", agent="observer")
    assert add(other, 0.7, "brief").outcome == "pending"
    assert add(bot, 0.95, "warm").outcome == "pending"  # an agent's own insight
    sure = add(other, 0.85, "plain")
    assert sure.outcome == "stored" and "consent:insight" in sure.reasons
    assert add(other, 0.99, "formal", "pronouns").outcome == "pending"  # a sensitive field always waits


def test_profile_fields_take_more_to_be_one_than_other_memories() -> None:
    ghent, bruges = "Ana collects old maps of Ghent", "Ana collects old maps of Bruges"
    with recollect.open(
        ":memory:", policy={"near_duplicates": {"action": "ignore"}, "relations": {"neighbours": 0}}
    ) as mem:
        for text, key in ((ghent, "hobbies"), (bruges, "likes")):
            mem.add(text, owner="ana", kind="profile", key=key)
            mem.add(text, owner="ben")
        assert mem.consolidate(owner="ben").steps and not mem.consolidate(owner="ana").steps
