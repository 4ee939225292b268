"""Turns: what one exchange writes and with what attribution, what leaves the window, and whose words reach whose memory."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import recollect
from processes import forked
from recollect.engine.context import Engine
from recollect.engine.turns import exchange
from recollect.engine.turns.exchange import MAX_TURN_BYTES
from recollect.model.errors import BadInput, NotAllowed, RetryMismatch
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.stores.sql.memories import SORTS
from recollect.stores.sql.queries import load_queries
from rows import every_row
from support.made_up_keys import fake

KEEP_ALL = {"traces": {"keep": "all"}}
SERVER = "The build server stands in Frankfurt."
TOKEN = "ghp_" + fake(36)
Open = Callable[..., Any]


@pytest.fixture
def opened(place: Any) -> Iterator[Open]:
    """Opens the store under a policy; every event is kept."""
    with ExitStack() as stack:
        yield lambda **policy: stack.enter_context(recollect.open(place, policy={**KEEP_ALL, **policy}))


@pytest.fixture
def mem(opened: Open) -> Any:
    return opened()


def say(mem: Any, user: str, session: str = "s1", owner: str | None = "ana", **more: Any) -> Any:
    """One exchange; a bound caller's owner is its own."""
    return mem.turn(session=session, user=user, **({"owner": owner} if owner else {}), **more)


def written(turn: Any, kind: str) -> list[Any]:
    return [r.memory for r in turn.receipts if r.memory is not None and r.memory.kind == kind]


def known(mem: Any, owner: str = "ana", space: str = "user", **filters: Any) -> dict[str, str]:
    """What is active, by its fact key or its canonical key."""
    items = mem.list(owner=owner, space=space, status="active", limit=1_000, **filters).items
    return {m.meta.get("key") or m.canonical_key: m.content for m in items if m.kind != "short_term"}


def lines(mem: Any, session: str = "s1") -> list[Any]:
    """The lines of a session that are still in the window, oldest first, without their summary."""
    found = mem.list(owner=session, space="session", kind="short_term", status="active", limit=1_000).items
    return sorted((m for m in found if "summary_of" not in m.meta), key=lambda m: m.tick)


def files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


def test_each_line_is_kept_with_who_spoke_and_how_far_they_are_believed(opened: Open) -> None:
    mem = opened(authority={"verifying_tools": ["crm"]})
    tools = [{"name": "crm", "output": "Plan: premium."}, {"name": "web", "output": "Rain."}]
    turn = say(mem, "Hello there!", ai="Hi, how can I help?", tools=tools, ai_profile="concierge", run_id="r7")
    said = [(m.content, m.source, m.authority, m.authority_reason, m.author.id) for m in written(turn, "short_term")]
    assert said == [
        ("Hello there!", "user", "user_asserted", "source:user", "user:ana"),
        ("Plan: premium.", "tool", "tool_verified", "verifying_tool", "tool:crm"),
        ("Rain.", "tool", "ai_inferred", "source:tool", "tool:web"),
        ("Hi, how can I help?", "agent", "ai_inferred", "source:agent", "agent:concierge"),
    ]
    for memory in written(turn, "short_term"):
        assert (memory.space, memory.owner, memory.user_id) == ("session", "s1", "ana")
        assert (memory.event_type, memory.importance_reason) == ("context", ("importance:event_type:context",))
    spoken = [(m.role, m.actor_id, m.thread_id, m.run_id) for m in written(turn, "short_term")]
    assert spoken == [
        ("user", "ana", "s1", "r7"),
        ("tool", "crm", "s1", "r7"),
        ("tool", "web", "s1", "r7"),
        ("assistant", "concierge", "s1", "r7"),
    ]
    (elsewhere,) = written(say(mem, "And now?", thread_id="t9"), "short_term")
    assert (elsewhere.thread_id, elsewhere.run_id) == ("t9", None)


@pytest.mark.parametrize(
    ("message", "key", "content", "event_type", "importance"),
    [
        ("I live in Porto.", "city", "The user lives in Porto.", "fact", 4),
        ("Call me Bea.", "preferred_name", "The user wants to be called Bea.", "fact", 4),
        ("I like green tea.", "likes", "The user likes green tea.", "preference", 3),
        ("Actually, I live in Porto.", "city", "The user lives in Porto.", "correction", 4),
    ],
)
def test_a_fact_carries_its_type_weight_origin_and_key(
    mem: Any, message: str, key: str, content: str, event_type: str, importance: int
) -> None:
    turn = say(mem, message, ai="Noted.")
    (line, _), (fact,) = written(turn, "short_term"), written(turn, "profile")
    assert (fact.content, fact.event_type, fact.meta["key"]) == (content, event_type, key)
    assert fact.importance_reason[0] == f"importance:event_type:{event_type}" and fact.importance >= 2
    assert (fact.authority, fact.authority_reason, fact.source) == ("user_asserted", "source:user", "user")
    assert fact.meta["source_turn_ids"] == [line.id]
    assert fact.to_item()["meta"]["dedup_key"] == f"fact:{key}"
    assert fact.meta["extracted_by"].startswith("extracted:")
    (promoted,) = turn.promoted
    assert (promoted.memory.space, promoted.memory.owner, promoted.memory.content) == ("user", "ana", content)
    assert promoted.memory.meta["promoted_from"] == fact.id
    assert promoted.memory.meta["promotion_reason"] == "promotion:at_once"
    assert promoted.memory.meta["source_turn_ids"] == [line.id]
    assert (fact.importance >= importance) == (promoted.memory.importance >= importance)


def test_another_statement_is_kept_once_in_the_persons_own_memory(mem: Any) -> None:
    turn = say(mem, f"{SERVER} Is it cold there?")
    (snippet,) = written(turn, "semantic")
    assert (snippet.content, snippet.event_type, snippet.space, snippet.owner) == (SERVER, "fact", "user", "ana")
    assert (snippet.source, snippet.authority, snippet.role, snippet.actor_id) == (
        "user",
        "user_asserted",
        "user",
        "ana",
    )
    assert snippet.meta["source_turn_ids"] == [written(turn, "short_term")[0].id]
    assert snippet.to_item()["meta"]["dedup_key"] == f"fact:semantic:{snippet.canonical_key.lower()}"
    assert turn.promoted == () and known(mem, "s1", "session") == {}
    checks = [(e["from_space"], e["to_space"], e["allowed"]) for e in turn.events if e.get("action") == "write"]
    assert checks == [("session", "session", True), ("user", "user", True)]
    later = mem.recall_for(session="s2", owner="ana", user="Where does the build server stand?")
    assert SERVER in later.text and mem.query("build server", owner="ana").items[0].memory.content == SERVER


@pytest.mark.parametrize("preset", ["governed", "v4", "entry", "store"])
def test_the_presets_to_the_letter_keep_a_statement_in_the_session(tmp_path: Path, preset: str) -> None:
    with recollect.open(tmp_path / "memory.db", policy=preset) as mem:
        turn = say(mem, SERVER)
        assert [m.space for m in written(turn, "semantic")] == ["session"] and turn.promoted == ()


def test_without_an_owner_nothing_leaves_the_session(mem: Any) -> None:
    turn = say(mem, f"I live in Porto. {SERVER} Remember for me: the key hangs in the shed.", owner=None)
    told = [r for r in turn.receipts if r.memory.kind != "short_term"]
    assert {r.memory.space for r in told} == {"session"} and turn.promoted == ()
    assert all("turn:nobody_named" in r.reasons and "owner" in r.detail for r in told)
    assert "Frankfurt" not in mem.recall_for(session="s2", user="Where does the build server stand?").text


def test_all_that_an_exchange_writes_to_a_stream_shares_one_tick(mem: Any) -> None:
    turn = say(mem, f"I live in Porto. {SERVER}", ai="Noted.")
    assert {r.memory.tick for r in (*turn.receipts, *turn.promoted)} == {1}
    assert {r.memory.tick for r in say(mem, "Hello again!", ai="Hi.").receipts} == {2}
    assert mem.verify().ok


def test_a_turn_is_a_recall_and_a_record(mem: Any, tmp_path: Path) -> None:
    say(mem, "I live in Porto.")
    whole = say(mem, "Where do I live?", ai="In Porto.")
    with recollect.open(tmp_path / "other.db", policy=KEEP_ALL) as other:
        say(other, "I live in Porto.")
        recall = other.recall_for(session="s1", owner="ana", user="Where do I live?")
        recorded = other.record(session="s1", owner="ana", user="Where do I live?", ai="In Porto.")
        assert recall.text == whole.recall.text and recorded.recall is None
        types = [event["type"] for event in (*recall.events, *recorded.events)]
        assert types == [event["type"] for event in whole.events]
        assert other.explain(session="s1").sentences == mem.explain(session="s1").sentences


def test_what_leaves_the_window_is_forgotten_and_summed_up(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 2})
    first = say(mem, "We ship on Friday? Be ready.", ai="Sure. I am.")
    assert first.forgotten == () and say(mem, "Second message?").forgotten == ()
    third = say(mem, "Third message?")
    gone = tuple(m.id for m in written(first, "short_term"))
    assert third.forgotten == gone
    reasons = [(e["type"], e["memory_id"], e["reason"]) for e in third.events if e.get("memory_id") in gone]
    assert reasons == [
        pair for id in gone for pair in (("memory_forget", id, "decay"), ("memory_deleted", id, "expired"))
    ]
    summary = third.receipts[-1].memory
    assert summary.content == "Earlier in this session:\nuser: We ship on Friday?\nai: Sure."
    assert (summary.meta["summary_of"], summary.kind, summary.authority) == (list(gone), "short_term", "ai_inferred")
    assert [m.content for m in lines(mem)] == ["Second message?", "Third message?"]
    fourth = say(mem, "Fourth message?")
    assert fourth.receipts[-1].memory.supersedes_id == summary.id
    assert fourth.receipts[-1].memory.meta["summary_of"] == [*gone, *fourth.forgotten]
    summary, second, *_ = fourth.recall.text.splitlines()[2:]
    assert summary.startswith("- [summary] Earlier in this session: ⏎ user: We ship on Friday? ⏎ ai: Sure. (20")
    assert second.startswith("- [user] Second")
    assert mem.verify().ok


def test_a_policy_without_summaries_makes_none(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 1, "summarise": False})
    say(mem, "First message?")
    assert len(say(mem, "Second message?").forgotten) == 1
    assert [item.memory.content for item in mem.recall_for(session="s1", owner="ana", user="?!").items] == [
        "Second message?"
    ]


def test_a_summary_keeps_within_the_policys_limit(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 1, "summary_characters": 100})
    for number in range(6):
        turn = say(mem, f"Message number {number} " + "goes on and on " * 12)
    assert len(turn.receipts[-1].memory.content) <= 100


def test_a_long_line_is_kept_as_linked_parts(mem: Any) -> None:
    text = "\n".join(f"Paragraph {number}: " + "ü" * 3_000 for number in range(5))
    parts = written(say(mem, text, ai="Long!"), "short_term")[:-1]
    assert "".join(m.content for m in parts) == text
    assert [(m.meta["part"], m.meta["parts"]) for m in parts] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    assert len(parts) > 2 and all(len(m.content.encode()) <= MAX_CONTENT_BYTES for m in parts)
    for earlier, later in pairwise(parts):
        assert earlier.id in mem.get(later.id).related_memory_ids
    assert mem.verify().ok


SECRETS = {
    "token": f"/{TOKEN}",
    "card": " 4111 1111 1111 1111",
    "private key": "\n-----BEGIN RSA PRIVATE KEY-----\n" + f"{fake(64)}\n" * 26 + "-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_that_a_cut_divides_is_refused_all_the_same(mem: Any, secret: str) -> None:
    """Half a secret looks like none, so a long line is looked at as a whole."""
    text = "y" * (MAX_CONTENT_BYTES - len(secret) // 2) + secret
    say(mem, text)
    say(mem, "Go on?", ai=text, tools=[{"name": "web", "output": text}])
    third = len(secret) // 3
    assert not [m.content[-40:] for m in lines(mem) if secret[:third] in m.content or secret[-third:] in m.content]


SPREAD = {
    "a token in a long result": (f"{'y' * 1_980}/{TOKEN} and more", TOKEN[:12]),
    "a password on a line of its own": (
        "The old password was\nhunter2-very-secret until the office moved to Berlin.",
        "hunter2-very-secret",
    ),
    "a card over two lines": ("The card is 4111 1111\n1111 1111 belongs to the office in Berlin.", "1111 1111"),
    "a key among statements": (f"{SERVER} The deploy token of the server is {TOKEN}. I live in Porto.", TOKEN),
}


@pytest.mark.parametrize(("text", "secret"), SPREAD.values(), ids=SPREAD)
def test_no_fact_or_snippet_holds_a_part_of_what_was_refused(opened: Open, text: str, secret: str) -> None:
    """A line is refused as a whole, so what is taken from it must not be looked at by itself alone."""
    mem = opened(write={"policy": "aggressive"}, authority={"verifying_tools": ["crm"]})
    turn = say(mem, text, ai=text, tools=[{"name": "crm", "output": text}])
    kept = [r.memory.content for r in (*turn.receipts, *turn.promoted) if r.memory is not None]
    assert not [content for content in kept if secret in content]
    assert secret not in str(turn.events) and secret not in str(mem.traces(limit=100))


@pytest.mark.parametrize("field", ["session", "owner", "project", "ai_profile", "agent", "tools"])
def test_no_name_brings_a_secret_in(place: Any, opened: Open, tmp_path: Path, field: str) -> None:
    mem = opened()
    named = {"tools": [{"name": TOKEN, "output": "Rain."}]} if field == "tools" else {field: TOKEN}
    exchange = {"session": "s1", "owner": "ana", "user": "Remember for the project: we ship on Friday.", **named}
    try:
        turn = mem.turn(**exchange)
    except BadInput as refused:
        assert str(refused.field).startswith(field) and TOKEN not in str(refused)
    else:
        assert TOKEN not in str([r.memory for r in (*turn.receipts, *turn.promoted)])
    assert TOKEN not in str(mem.traces(limit=100)) and TOKEN not in str(mem.events(limit=100))
    assert TOKEN.encode() not in files(tmp_path)


def test_a_correction_replaces_what_was_believed(mem: Any) -> None:
    say(mem, "I live in Lisbon.")
    turn = say(mem, "Actually, I live in Porto.")
    assert [r.outcome for r in (*turn.receipts[1:], *turn.promoted)] == ["superseded", "superseded"]
    assert known(mem) == {"city": "The user lives in Porto."}
    conflicts = [e for e in turn.events if e["type"] == "memory_conflict"]
    assert [(e["rule"], e["dedup_key"]) for e in conflicts] == [("correction", "fact:city")] * 2


def test_a_correction_overrides_even_what_a_higher_authority_said(mem: Any) -> None:
    mem.add("The user lives in Lisbon.", kind="profile", key="city", owner="ana", authority="system_imposed")
    say(mem, "Actually, I live in Porto.")
    assert known(mem)["city"] == "The user lives in Porto."


def test_a_value_alone_puts_the_right_fact_right(mem: Any) -> None:
    say(mem, "I live in Porto. I work at Acme. My name is Ana.")
    turn = say(mem, "it's Braga, not Porto", session="s2")
    assert written(turn, "profile")[0].meta["key"] == "city"
    assert known(mem) == {
        "city": "The user lives in Braga.",
        "employer": "The user works at Acme.",
        "name": "The user's name is Ana.",
    }


def test_a_value_that_puts_nothing_or_too_much_right_stays_with_the_session(mem: Any) -> None:
    say(mem, "I live in Porto. I work at Porto.")
    before = known(mem)
    assert len(before) == 2
    for message in ("it's Braga, not Porto", "it's Braga, not Madrid"):
        turn = say(mem, message)
        assert (written(turn, "profile"), turn.promoted) == ([], ())
    assert known(mem) == before


def test_one_of_many_values_is_put_right_in_its_place(mem: Any) -> None:
    say(mem, "I love Paris. I love Rome.")
    say(mem, "no, I meant London, not Paris")
    assert sorted(m.content for m in mem.list(owner="ana", status="active").items) == [
        "The user loves London.",
        "The user loves Rome.",
    ]


def test_what_has_ended_ends_only_what_is_believed(mem: Any) -> None:
    say(mem, "I live in Porto.")
    line, said = say(mem, "I no longer live in Madrid.").receipts
    assert said.memory.content == line.memory.content and said.memory.kind == "semantic", "kept as it was said"
    assert known(mem, kind="profile") == {"city": "The user lives in Porto."}
    say(mem, "I no longer live in Porto.")
    assert known(mem, kind="profile") == {"city": "The user no longer lives in Porto."}
    assert known(mem, "s1", "session") == {"city": "The user no longer lives in Porto."}


@pytest.mark.parametrize(
    ("known", "ending", "believed"),
    [
        ("I work at Bosch.", "I quit Bosch in March.", "The user no longer works at Bosch."),
        ("I work at Bosch.", "I left Bosch last week.", "The user no longer works at Bosch."),
        ("I live in Ghent.", "I left Ghent.", "The user no longer lives in Ghent."),
        ("I play the cello.", "I gave up the cello.", "The user no longer plays cello."),
        ("I play the cello.", "I gave up the flute.", "The user plays cello."),
        ("I work at Bosch.", "I quit Mensa.", "The user works at Bosch."),
        ("I live in Ghent.", "I left Ghent for a holiday in Rome.", "The user lives in Ghent."),
        ("I live in Ghent.", "I left Rotterdam yesterday.", "The user lives in Ghent."),
    ],
)
def test_leaving_or_quitting_ends_what_it_names_and_nothing_else(
    mem: Any, known: str, ending: str, believed: str
) -> None:
    say(mem, known)
    say(mem, ending, session="s2")
    profile = [one.content for one in mem.list(space="user", owner="ana").items if one.kind == "profile"]
    assert profile == [believed]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I'm a nurse.", "I'm also a volunteer firefighter."),
        ("I work as a nurse.", "I'm a volunteer firefighter."),
        ("I'm a teacher.", "I'm a part-time photographer."),
    ],
)
def test_a_second_job_stands_beside_the_first(mem: Any, first: str, second: str) -> None:
    say(mem, first)
    say(mem, second, session="s2")
    profile = {one.content for one in mem.list(space="user", owner="ana").items if one.kind == "profile"}
    assert profile >= {f"The user is a {first.split()[-1]}"} and len(profile) <= 2


def test_a_denial_ends_what_is_believed_and_nothing_else(mem: Any) -> None:
    for words in ("I'm allergic to nuts.", "I'm vegetarian.", "I work at Corvex.", "I live in Porto."):
        say(mem, words)
    believed = known(mem, kind="profile")
    for words in ("I'm not allergic to cats.", "I'm not vegan.", "I don't work at Meta.", "I don't live in Graz."):
        say(mem, words)
    assert known(mem, kind="profile") == believed
    said = say(mem, "Turns out I'm not allergic to nuts after all, the test was wrong. I'm not vegetarian.")
    assert [r.outcome for r in said.promoted if r.memory.kind == "profile"] == ["superseded", "superseded"]
    say(mem, "I don't work at Corvex. I don't live in Porto.")
    assert set(known(mem, kind="profile").values()) == {
        "The user is not allergic to nuts.",
        "The user is not vegetarian.",
        "The user does not work at Corvex.",
        "The user does not live in Porto.",
    }


@pytest.mark.parametrize(
    "words", ["I quit my job.", "I got laid off last week.", "I was let go.", "I've just retired!"]
)
def test_a_job_ends_without_its_employer_being_named(mem: Any, words: str) -> None:
    say(mem, words)
    assert not known(mem, kind="profile")  # nothing was believed, so nothing ends
    say(mem, "I work at Corvex.")
    say(mem, words, session="s2")
    assert set(known(mem, kind="profile").values()) == {"The user has left their job."}


def test_somebody_elses_job_and_other_things_left_end_no_job(mem: Any) -> None:
    say(mem, "I work at Corvex.")
    for words in (
        "Bo got laid off.",
        "I left work early.",
        "I let go of the rope.",
        "I retired my laptop.",
        "I quit smoking.",
    ):
        say(mem, words)
    assert set(known(mem, kind="profile").values()) == {"The user works at Corvex."}


def test_a_number_without_its_unit_is_no_weight(mem: Any) -> None:
    say(mem, "I weigh 82 kilos.")
    for words in ("I'm down to 2 now.", "I'm down to 3 cigarettes a day."):
        say(mem, words)
        assert "The user weighs 82 kilos." in known(mem).values()
    say(mem, "I'm down to 78 kilos now.")
    assert "The user weighs 78 kilos." in known(mem).values()
    assert "The user weighs 82 kilos." not in known(mem).values()


def test_who_asks_says_for_whom_it_is_kept(mem: Any) -> None:
    own = say(mem, "Remember for me: the spare key hangs in the shed.", project="apollo")
    shared = say(mem, "Remember for the project: the release is on Friday.", project="apollo")
    for turn, where, event_type in ((own, ("user", "ana"), "fact"), (shared, ("project", "apollo"), "decision")):
        (kept,) = turn.promoted
        assert (kept.memory.space, kept.memory.owner) == where
        assert (kept.memory.event_type, kept.memory.meta["promotion_reason"]) == (event_type, "promotion:said_so")
    after = say(mem, "The demo is on Monday. Remember this for the project.", project="apollo")
    assert [(r.memory.content, r.memory.space) for r in after.promoted] == [("The demo is on Monday.", "project")]
    aside = say(mem, "The demo takes an hour, note that for the project.", project="apollo")
    assert [(r.memory.content, r.memory.space) for r in aside.promoted] == [("The demo takes an hour", "project")]
    for message in (
        "Remember for the project: the demo is on Monday.",
        "The demo is on Monday, please note that for the project.",
        "The demo is on Monday. Note that for the project.",
    ):
        nowhere = say(mem, message, session="s2")
        (stays,) = [r for r in nowhere.receipts if r.memory.kind == "semantic"]
        assert nowhere.promoted == () and stays.memory.space == "session"
        assert stays.reasons[-1] == "turn:no_project" and "project" in stays.detail


SENSITIVE = (
    "My name is Ana. My pronouns are she/her. I live in Porto. My native language is Portuguese. I speak French."
)
KEYS = {"name", "pronouns", "city", "language", "languages"}


@pytest.mark.parametrize("policy", ["normal", "aggressive"])
def test_sensitive_facts_come_from_the_persons_own_words_alone(opened: Open, policy: str) -> None:
    mem = opened(write={"policy": policy}, authority={"verifying_tools": ["crm"]})
    tools = [{"name": "crm", "output": SENSITIVE}, {"name": "web", "output": SENSITIVE}]
    turn = say(mem, "What do you know about me?", ai=f"You told me: {SENSITIVE}", tools=tools)
    assert written(turn, "profile") == [] and turn.promoted == () and known(mem) == {}
    say(mem, SENSITIVE)
    assert known(mem).keys() == KEYS


def test_an_agent_passes_on_a_persons_words_only_with_the_right_to(mem: Any) -> None:
    agent = {"agent": "planner", "user": "ana", "session": "s1"}
    guess = say(mem.as_caller(**agent), SENSITIVE, owner=None)
    assert {m.authority for m in written(guess, "profile")} == {"ai_inferred"}
    assert {m.status for m in written(guess, "profile")} == {"pending"} and guess.promoted == () and known(mem) == {}
    relayed = say(mem.as_caller(**agent, rights=["read", "write", "relay"]), SENSITIVE, owner=None)
    assert {m.authority for m in written(relayed, "profile")} == {"user_asserted"}
    assert known(mem).keys() == KEYS


def test_a_tool_that_an_agent_names_is_believed_only_with_the_right_to(opened: Open) -> None:
    mem = opened(authority={"verifying_tools": ["crm"]})
    tools = [{"name": "crm", "output": "Ana pays monthly."}]
    for rights, authority in ((["read", "write"], "ai_inferred"), (["read", "write", "relay"], "tool_verified")):
        caller = mem.as_caller(agent="planner", user="ana", session="s1", rights=rights)
        turn = caller.turn(session="s1", user="How do I pay?", tools=tools)
        assert written(turn, "short_term")[1].authority == authority
        assert [m.event_type for m in written(turn, "semantic")] == ["execution"]


def test_a_bound_caller_stays_in_its_session(mem: Any) -> None:
    ana = mem.as_caller(user="ana", session="s1")
    for call in (ana.turn, ana.recall_for, ana.record):
        with pytest.raises(NotAllowed, match="session"):
            call(session="s2", user="Hello there!")
    with pytest.raises(NotAllowed, match="session"):
        mem.as_caller(user="ana").turn(session="s1", user="Hello there!")


def test_a_turn_about_somebody_else_learns_and_changes_nothing_of_theirs(mem: Any) -> None:
    say(mem, "I live in Porto.", session="private")
    ben = mem.as_caller(user="ben", session="s9")
    answers: dict[str, list[Any]] = {"it's Lisbon, not {}": [], "I no longer live in {}.": []}
    for words, told in answers.items():
        for city in ("Porto", "Madrid"):
            turn = ben.turn(session="s9", user=words.format(city), owner="ana", project="apollo")
            told.append([(r.outcome, r.memory.kind, r.memory.content.replace(city, "…")) for r in turn.receipts])
            assert not [i for i in turn.recall.items if i.memory.owner != "s9"]
            assert not [r for r in turn.promoted if not r.denied]
    assert all(right == wrong for right, wrong in answers.values()), "whoever guesses right must not find out"
    assert known(mem) == {"city": "The user lives in Porto."}


TALK = {
    "user": f"I live in Porto. I like tea. {SERVER}",
    "ai": "Porto has many bridges.",
    "tools": [{"name": "crm", "output": "Ana pays monthly."}, {"name": "web", "output": "Rain in Porto today."}],
}


@pytest.mark.parametrize(
    ("policy", "profile", "semantic", "denied"),
    [
        ("none", [], [], {"write_policy_none"}),
        ("minimal", ["likes"], [], {"write_policy_minimal"}),
        ("normal", ["city", "likes"], [SERVER, "Ana pays monthly."], set()),
        ("aggressive", ["city", "likes"], [SERVER, "Ana pays monthly.", "Rain in Porto today.", TALK["ai"]], set()),
    ],
)
def test_what_each_write_policy_has_a_turn_keep(
    opened: Open, policy: str, profile: list[str], semantic: list[str], denied: set[str]
) -> None:
    mem = opened(write={"policy": policy}, authority={"verifying_tools": ["crm"]})
    turn = mem.turn(session="s1", owner="ana", **TALK)
    assert [m.meta["key"] for m in written(turn, "profile")] == profile
    assert [m.content for m in written(turn, "semantic")] == semantic
    assert {r.reasons[0] for r in turn.receipts if r.denied} == denied
    assert len(written(turn, "short_term")) == (0 if policy == "none" else 4)
    stated = [m.canonical_key for m in written(turn, "semantic") if m.content == SERVER]
    assert sorted(known(mem)) == sorted([*profile, *stated])


def test_without_at_once_only_what_was_asked_for_crosses(opened: Open) -> None:
    mem = opened(promotion={"at_once": False})
    turn = say(mem, "I live in Porto. Remember for me: the spare key hangs in the shed.")
    assert [r.memory.content for r in turn.promoted] == ["The spare key hangs in the shed."]
    assert known(mem, "s1", "session")["city"] == "The user lives in Porto."


def test_after_a_phase_began_a_turn_recalls_that_phase_alone(mem: Any) -> None:
    say(mem, f"I live in Porto. {SERVER}", ai="Noted.")
    mem.start_phase(space="session", owner="s1", name="second")
    recall = mem.recall_for(session="s1", owner="ana", user="Where does the build server stand?")
    assert [(i.memory.space, i.memory.content) for i in recall.items] == [
        ("user", SERVER),
        ("user", "The user lives in Porto."),
    ]
    assert recall.events[-1]["current_phase"]["phase_id"] == "phase-2"
    say(mem, "What about the new server?")
    recall = mem.recall_for(session="s1", owner="ana", user="server?")
    assert {i.memory.phase_id for i in recall.items if i.memory.space == "session"} == {"phase-2"}


@pytest.mark.parametrize("which", ["turns", "profile", "rules"])
def test_what_every_turn_reads_comes_from_an_index_of_its_own(tmp_path: Path, which: str) -> None:
    """Else each turn would walk through all that the person ever said."""
    recollect.open(tmp_path / "memory.db").close()
    query = load_queries("recollect.stores.sqlite")["standing"]
    for word, value in {"which": which, "sort": SORTS[which], "filters": "1 = 1"}.items():
        query = query.replace("{" + word + "}", value)
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {query}", {"tenant": "default", "stream": 1, "limit": 40}).fetchall()
    steps = [step for *_, step in plan if "memories" in step]
    assert f"INDEX memories_{which} " in steps[0] and all("SEARCH" in step for step in steps), plan


def test_a_retry_is_answered_and_not_done_again(mem: Any) -> None:
    first = say(mem, "I live in Porto.", ai="Noted.", idempotency_key="k1")
    state = mem.state_hash()
    again = say(mem, "I live in Porto.", ai="Noted.", idempotency_key="k1")
    assert again.replayed and mem.state_hash() == state
    assert again.receipts[0].memory.id == first.receipts[0].memory.id
    for other in ({"ai": "Fine."}, {"ai": "Noted.", "tools": [{"name": "web", "output": "Rain."}]}):
        with pytest.raises(RetryMismatch, match="idempotency_key"):
            say(mem, "I live in Porto.", idempotency_key="k1", **other)
    assert mem.state_hash() == state


def test_a_retry_is_not_done_again_though_the_first_line_was_refused(mem: Any) -> None:
    for _ in range(2):
        say(mem, f"The deploy token is {TOKEN}.", ai="Better keep that to yourself.", idempotency_key="k1")
    assert [m.content for m in lines(mem)] == ["Better keep that to yourself."]


def test_an_erasure_takes_what_was_said_in_every_session(mem: Any, tmp_path: Path) -> None:
    for session in ("s1", "s2"):
        say(mem, "Does Zanzibarland exist?", session=session, ai="Quuxlandia does not.")
        say(mem, "I live in Oberammergau.", session=session)
        mem.recall_for(session=session, owner="ana", user="Is Kamchatkovia far?")
    mem.recall_for(session="s3", owner="ana", user="Is Mozambiqua near?")
    say(mem, "I live in Hamburg.", session="s4", owner="ben")
    mem.erase(owner="ana")
    for session in ("s1", "s2", "s3"):
        left = str(mem.traces(session=session, limit=1_000))
        assert not [word for word in ("Zanzib", "Quuxl", "Oberamm", "Kamchat", "Mozamb") if word in left]
        assert lines(mem, session) == []
    assert known(mem) == {} and known(mem, "ben") == {"city": "The user lives in Hamburg."}
    if (tmp_path / "memory.db").exists():
        left_over = files(tmp_path)
        assert not [w for w in (b"Zanzib", b"Quuxl", b"berammerg", b"Kamchat", b"Mozamb") if w in left_over]
    assert mem.verify().ok


def test_an_erasure_leaves_no_summary_of_what_the_person_said_in_company(opened: Open) -> None:
    mem = opened(turns={"short_term_window": 1})
    for owner, words in (("ana", "Tea?"), ("ben", "Zanzibarland?"), ("ana", "Coffee?"), ("ana", "Milk?")):
        say(mem, words, owner=owner)
    mem.erase(owner="ben")
    found = mem.list(owner="s1", space="session", status=None, limit=100).items
    assert not [m.content for m in found if "Zanzibarland" in m.content]


@every_row(
    ("field", "given"),
    [
        ("user", {"user": " \n"}),
        ("user", {"user": None}),
        ("user", {"user": "tea\x00"}),
        ("user", {"user": "tea \ud800"}),
        ("user", {"user": "x" * (MAX_TURN_BYTES + 1)}),
        ("ai", {"ai": ""}),
        ("ai", {"ai": "ü" * (MAX_TURN_BYTES // 2 + 1)}),
        ("session", {"session": ""}),
        ("owner", {"owner": "x" * 300}),
        ("project", {"project": " "}),
        ("tools", {"tools": {"name": "crm", "output": "x"}}),
        ("tools", {"tools": "crm"}),
        ("tools", {"tools": [{"name": "crm", "output": "x"}] * 65}),
        ("tools[1]", {"tools": [{"name": "crm", "output": "x"}, {"name": "crm"}]}),
        ("tools[0]", {"tools": [{"name": "crm", "output": "x", "more": 1}]}),
        ("tools[0].name", {"tools": [{"name": "", "output": "x"}]}),
        ("tools[0].output", {"tools": [{"name": "crm", "output": "\x00"}]}),
        ("ai_profile", {"ai_profile": ""}),
        ("idempotency_key", {"idempotency_key": ""}),
        ("top_k", {"top_k": 0}),
        ("top_k", {"top_k": "many"}),
    ],
)
def test_bad_input_names_its_field_and_changes_nothing(field: str, given: dict[str, Any]) -> None:
    with recollect.open(":memory:") as mem:
        before = mem.state_hash()
        with pytest.raises(BadInput) as refused:
            mem.turn(**{"session": "s1", "user": "Hello there!", "owner": "ana", **given})
        assert refused.value.field == field and refused.value.message
        assert mem.state_hash() == before


@pytest.mark.parametrize("way", ["turn", "record"])
def test_a_turn_that_says_too_much_is_refused_before_it_is_scanned_or_locks_anything(
    mem: Any, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def touched(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was scanned, or locked a stream")

    megabyte = [{"name": "crm", "output": "x" * 1_000_000}]
    say(mem, "Tea?", tools=[{"name": "crm", "output": "x" * 20_000}])
    with monkeypatch.context() as patched:
        patched.setattr(exchange, "check_kept", touched)
        patched.setattr(Engine, "write", touched)
        patched.setattr(Engine, "read", touched)
        with pytest.raises(
            BadInput, match=r"tools\[1\]\.output: makes the turn longer than 1,048,576 bytes\. Record it in"
        ):
            getattr(mem, way)(session="s1", user="Tea?", owner="ana", tools=megabyte * 64)
    assert say(mem, "Tea again?").receipts


def talk(place: str, name: str, count: int) -> None:
    with recollect.open(place, policy={"turns": {"short_term_window": 3}}) as mem:
        for number in range(count):
            mem.turn(session="s1", owner="ana", user=f"{name} asks {number}?", ai=f"Answer {number} for {name}.")


def test_two_processes_talk_in_one_session_at_once(place: Any) -> None:
    recollect.open(place).close()
    count = 8
    writers = [forked.Process(target=talk, args=(str(place), name, count)) for name in ("ana", "ben")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(timeout=120)
    assert [writer.exitcode for writer in writers] == [0, 0]
    with recollect.open(place) as mem:
        every = mem.list(owner="s1", space="session", kind="short_term", status=None, limit=1_000).items
        told = sorted(m.content for m in every if "summary_of" not in m.meta)
        asked = [f"{name} asks {number}?" for name in ("ana", "ben") for number in range(count)]
        answered = [f"Answer {number} for {name}." for name in ("ana", "ben") for number in range(count)]
        assert told == sorted(asked + answered)
        window = lines(mem)
        assert len({m.tick for m in window}) == 3 and len(window) == 6, "whole exchanges, the last three"
        summaries = [m for m in every if "summary_of" in m.meta and m.status == "active"]
        assert len(summaries) == 1 and len(summaries[0].meta["summary_of"]) == len(told) - len(window)
        assert mem.verify().ok


@pytest.mark.parametrize(
    ("told", "asked", "left"),
    [
        ("My friend Elena is getting married in Bitola.", "Please forget about Elena getting married.", False),
        ("I told Ida the rent, my rent is 900.", "Forget my rent.", False),
        ("Tom owes me 40 euros.", "Please don't remember anything about Tom.", False),
        ("Tom owes me 40 euros.", "Scrap what I said about Tom.", False),
        ("My friend Elena is getting married in Bitola.", "Forget what I told you about Elena's wedding.", True),
        ("Tom owes me 40 euros.", "Forget my last suggestion, let's go by train.", True),
    ],
)
def test_a_request_to_forget_is_obeyed_or_says_that_nothing_is_known(
    mem: Any, told: str, asked: str, left: bool
) -> None:
    say(mem, told)
    answer = say(mem, asked, session="s2")
    assert bool(known(mem)) is left
    reasons = {reason for receipt in answer.receipts for reason in receipt.reasons}
    assert ("turn:nothing_to_forget" in reasons) is ("Elena's wedding" in asked)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("Don't tell Hannah I've bought her a ring.", True),
        ("Never mention the operation to my mum.", True),
        ("Don't tell anyone but I'm leaving my job.", False),
    ],
)
def test_what_is_told_in_confidence_is_no_rule_for_every_prompt(mem: Any, told: str, kept: bool) -> None:
    say(mem, told)
    assert bool(known(mem)) is kept
    assert not any(
        "active_rule" in one.recall_reason for one in mem.recall_for(session="s2", user="Hi", owner="ana").items
    )


@pytest.mark.parametrize(
    ("rule", "reversal"),
    [
        ("Please don't use bullet points with me.", "Actually you can use bullet points, I've come round to them."),
        ("No emojis please.", "Emojis are fine after all."),
        ("Answer in French please.", "Back to English please."),
        ("Answer in French please.", "Stop answering in French."),
        ("Never call me before nine.", "You can call me before nine now."),
    ],
)
def test_the_reversal_of_a_rule_stands_above_it_in_every_later_session(mem: Any, rule: str, reversal: str) -> None:
    say(mem, rule)
    say(mem, reversal, session="s2")
    found = [one.memory.content for one in mem.recall_for(session="s3", user="What is a kestrel?", owner="ana").items]
    assert found[0] == reversal


def test_a_first_word_that_can_be_an_order_may_name_a_thing(mem: Any) -> None:
    for words in ("Book club is on Tuesdays.", "Call with Graham is at 4 on Monday.", "Order 88231 arrives Friday."):
        say(mem, words)
        assert words in known(mem).values()
    before = known(mem)
    for words in (
        "Check what is wrong.",
        "Tell Bob dinner is at 8.",
        "Make sure everything is fine.",
        "Show me where it is.",
    ):
        say(mem, words)
    assert known(mem) == before


@pytest.mark.parametrize(
    "words",
    [
        "Can you suggest lunch? I'm diabetic.",
        "What can I cook for Otis, who's allergic to nuts?",
        "Did I tell you I've got a sister called Beth?",
        "Make sure you know I'm diabetic.",
    ],
)
def test_what_stands_beside_a_question_or_an_order_is_kept(mem: Any, words: str) -> None:
    say(mem, words)
    assert known(mem)


@pytest.mark.parametrize(
    ("told", "correction"),
    [
        ("The dentist is on Thursday at 3", "oops, Friday"),
        ("The dentist is on Thursday at 3", "Friday I mean"),
        ("The twins' birthday is 14 May.", "Sorry, 15 May I meant."),
        ("My flight's at 7:40 from Gatwick.", "Sorry, 17:40, not 7:40."),
    ],
)
def test_a_short_correction_stands_behind_what_it_corrects(mem: Any, told: str, correction: str) -> None:
    say(mem, told)
    say(mem, correction)
    assert list(known(mem).values()) == [f"{told.removesuffix('.')}. {correction}"]
    say(mem, "Oops, I forgot the milk.")
    assert len(known(mem)) == 2
