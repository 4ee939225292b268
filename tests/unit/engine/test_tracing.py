"""Keeping governance events and reading them back: which, for how long, for whom, and without what must not be kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollect
from recollect.compose import open_store
from recollect.engine import tracing
from recollect.engine.context import AccessCounter, Engine, PolicyInForce, fresh_uuid
from recollect.engine.read.meaning import Meanings
from recollect.engine.read.recall import MAX_QUERY_CHARACTERS
from recollect.engine.tracing import keep, redact_query, traces
from recollect.interfaces.python import Recollect
from recollect.model import trace
from recollect.model.caller import Caller, Right
from recollect.model.policy import Policy, Privacy, parse_policy
from recollect.model.trace import Trace
from rows import every_row
from support.determinism import SeededRandomness

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
CARD = "4111 1111 1111 1111"


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(clock: Clock, **settings: Any) -> Recollect:
    return recollect.open(":memory:", clock=clock, policy={"traces": {"keep": "all", **settings}})


def types(found: tuple[Trace, ...]) -> list[str]:
    return [event["type"].removeprefix("memory_") for event in found]


def texts(found: tuple[Trace, ...]) -> list[str]:
    return [event["written"][0]["text"] for event in found if event["type"] == "memory_write"]


def one_of_each(policy: Policy) -> list[Trace]:
    who, whole = Caller(session="s1"), policy.expanded()
    body = {"space": "user", "owner": "ana"}
    return [
        trace.memory_recall(who, "?", [], whole, [], {}, None),
        trace.memory_denied(who, {"text": "[redacted: 1 characters]"}, "noise_signal", whole),
        trace.memory_border_check(who, "read", "user", None, True, "border:allowed", whole),
        trace.memory_border_check(who, "read", "system", None, False, "border:not_your_space", whole),
        trace.memory_promotion_denied(who, "project", "system", "m", "no_path", whole),
        trace.memory_deleted(who, "m", body, "superseded", whole),
        trace.memory_conflict(who, "a", "b", "recency", "fact:x"),
    ]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("none", []),
        ("denied", ["denied", "border_check", "promotion_denied"]),
        ("all", ["recall", "denied", "border_check", "border_check", "promotion_denied", "deleted", "conflict"]),
    ],
)
def test_the_policy_says_what_is_kept(clock: Clock, setting: str, expected: list[str]) -> None:
    policy = parse_policy({"traces": {"keep": setting}})
    randomness = SeededRandomness(0)
    store = open_store(":memory:", fresh_uuid(randomness), 5.0)
    engine = Engine(store, PolicyInForce(policy), clock, randomness, AccessCounter(store), Meanings(None, 0))
    made = one_of_each(policy)
    with engine.write() as writer:
        keep(engine, writer, made)
    found = traces(engine)
    engine.close()
    assert types(found) == expected
    for event in found:
        fresh = {key: value for key, value in event.items() if key not in ("number", "at")}
        assert fresh in made, "a kept event is the one that was made, its policy included"


@every_row(
    ("query", "settings", "shown"),
    [
        ("Which tea?", {}, "Which tea?"),
        (f"Is {CARD} mine?", {}, "Is [redacted:payment_card] mine?"),
        ("Who is ana@example.org?", {}, "Who is ana@example.org?"),
        ("Who is ana@example.org?", {"actions": {"email": "redact"}}, "Who is [redacted:email]?"),
        ("Who is ana@example.org?", {"actions": {"email": "deny"}}, "Who is [redacted:email]?"),
        (f"Is {CARD} mine?", {"actions": {"payment_card": "allow"}}, f"Is {CARD} mine?"),
        ("What is Project Zeus?", {"deny_patterns": ["(?i)project zeus"]}, "What is [redacted:deny_pattern]?"),
    ],
)
def test_a_question_is_shown_without_what_may_not_be_kept(query: str, settings: dict[str, Any], shown: str) -> None:
    assert redact_query(query, Privacy(**settings)) == shown


def test_a_secret_is_found_before_the_question_is_cut() -> None:
    """Cut in half it would no longer look like one."""
    query = "x" * (trace.MAX_QUERY_CHARACTERS - 8) + " " + CARD
    assert "4111" not in trace.truncated(redact_query(query, Privacy()))


def test_of_a_long_question_no_more_is_scanned_than_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned: list[int] = []
    plain_scan = tracing.privacy.scan
    monkeypatch.setattr(tracing.privacy, "scan", lambda text: scanned.append(len(text)) or plain_scan(text))
    with recollect.open(":memory:") as mem:
        mem.query(f"Is {CARD} mine? " + "word " * 10_000)
    assert scanned and max(scanned) <= MAX_QUERY_CHARACTERS


def test_upkeep_removes_what_is_too_old(clock: Clock) -> None:
    with opened(clock, keep_days=10) as mem:
        mem.add("Rivers flow", owner="ana")
        clock.now += timedelta(days=9)
        mem.add("Trees grow", owner="ana")
        mem.upkeep()
        assert texts(mem.traces()) == ["Rivers flow", "Trees grow"]
        clock.now += timedelta(days=2)
        mem.upkeep()
        assert texts(mem.traces()) == ["Trees grow"]


def test_upkeep_removes_the_oldest_beyond_the_limit(clock: Clock) -> None:
    with opened(clock, max_kept=3) as mem:
        for number in range(5):
            mem.add(f"Room {number} is painted", owner="ana", title=f"room {number}")
        everything = mem.traces()
        assert len(texts(everything)) == 5
        mem.upkeep()
        assert mem.traces().items == everything.items[-3:]


def test_without_a_limit_nothing_is_too_much(clock: Clock) -> None:
    with opened(clock, max_kept=None) as mem:
        mem.add("Rivers flow", owner="ana")
        mem.upkeep()
        assert texts(mem.traces()) == ["Rivers flow"]


def test_erasing_somebody_erases_what_was_said_of_them(clock: Clock) -> None:
    with opened(clock) as mem:
        mem.add("My manager is Paris", owner="ana")
        mem.add("My manager is Rome", owner="ana")
        mem.add("Trees grow", owner="ben")
        mem.erase(owner="ana")
        assert texts(mem.traces()) == ["Trees grow"]


def test_filters_narrow_alone_and_together(clock: Clock) -> None:
    with opened(clock) as mem:
        ana, ben = (mem.as_caller(user=name, session=f"of {name}") for name in ("ana", "ben"))
        paris = ana.add("My manager is Paris").memory
        clock.now += timedelta(hours=1)
        ana.add("My manager is Rome")
        ben.add("My manager is Oslo")
        assert paris is not None
        assert types(mem.traces(session="of ana")) == [
            "border_check",
            "phase_started",
            "write",
            "border_check",
            "conflict",
            "deleted",
            "write",
        ]
        assert texts(mem.traces(session="of ben")) == ["My manager is Oslo"]
        assert types(mem.traces(memory=paris.id)) == ["write", "conflict", "deleted"]
        assert types(mem.traces(memory=paris.short_id)) == ["write", "conflict", "deleted"]
        assert texts(mem.traces(type="memory_write", since=START + timedelta(hours=1))) == [
            "My manager is Rome",
            "My manager is Oslo",
        ]
        assert types(mem.traces(memory=paris.id, session="of ana", since="2026-01-01T13:00:00Z")) == [
            "conflict",
            "deleted",
        ]


def test_pages(clock: Clock) -> None:
    with opened(clock) as mem:
        for number in range(1, 8):
            mem.add(f"Room {number} is painted", owner="ana", title=f"room {number}")
        forwards, backwards = pages(mem, latest=False), pages(mem, latest=True)
        assert len(forwards) == len(backwards) > 2 and all(len(page) == 3 for page in forwards[:-1])
        in_order = [event for page in forwards for event in page]
        assert in_order == [event for page in reversed(backwards) for event in page] and len(texts(in_order)) == 7
        (last,) = mem.traces(number=in_order[-1]["number"])
        assert last == in_order[-1]
        with pytest.raises(recollect.BadInput, match="a page returned"):
            mem.traces(cursor=forwards[0].next_cursor, latest=True)


def pages(mem: Recollect, *, latest: bool) -> list[Any]:
    found = [mem.traces(latest=latest, limit=3)]
    while found[-1].next_cursor is not None:
        found.append(mem.traces(latest=latest, limit=3, cursor=found[-1].next_cursor))
    return found


@every_row(
    ("arguments", "error", "field"),
    [
        ({"type": "memory_gossip"}, recollect.BadInput, "type"),
        ({"session": ""}, recollect.BadInput, "session"),
        ({"since": "yesterday"}, recollect.BadInput, "since"),
        ({"since": datetime(2026, 1, 1)}, recollect.BadInput, "since"),
        ({"number": 0}, recollect.BadInput, "number"),
        ({"limit": 10_001}, recollect.BadInput, "limit"),
        ({"memory": "0123456789ab"}, recollect.NotFound, "memory"),
    ],
)
def test_what_cannot_be_meant_is_refused(clock: Clock, arguments: Any, error: type[Exception], field: str) -> None:
    with opened(clock) as mem, pytest.raises(error) as refused:
        mem.traces(**arguments)
    assert isinstance(refused.value, recollect.RecollectError) and refused.value.field == field


def test_traces_are_for_those_who_govern(clock: Clock) -> None:
    with opened(clock) as mem:
        plain = mem.as_caller(user="ana", rights=[Right.READ, Right.WRITE])
        for read in (plain.traces, plain.explain):
            with pytest.raises(recollect.NotAllowed):
                read()


def test_why_tells_a_session_or_a_memory(clock: Clock) -> None:
    with opened(clock) as mem:
        ana, ben = (mem.as_caller(user=name, session=f"of {name}") for name in ("ana", "ben"))
        ana.add("My manager is Paris")
        rome = ana.add("My manager is Rome").memory
        ben.add("My manager is Oslo")
        assert rome is not None
        assert mem.explain(rome.id).sentences == (
            "Wrote the fact “My manager is Rome” to ana's own space: a person said it.",
            "Found a contradiction: “My manager is Rome” stands against memory "
            f"{mem.list(status='superseded').items[0].short_id}, since the newer is believed.",
        )
        assert mem.explain(session="of ben").sentences == (
            "Wrote the fact “My manager is Oslo” to ben's own space: a person said it.",
            "Began phase-1 in ben's own space: the first phase begins with the first write.",
            "Checked 1 border: open.",
        )
        assert mem.explain().sentences == mem.explain(session="of ben").sentences, (
            "with neither, the session that spoke last"
        )
        assert "traces.keep" in mem.explain(session="of nobody").sentences[0]
        with pytest.raises(recollect.BadInput):
            mem.explain(rome.id, session="of ana")
