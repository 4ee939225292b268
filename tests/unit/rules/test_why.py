"""The sentences that events are told in: each kind by an example, and the turn that they are told of."""

import json
from typing import Any

from recollect.model import trace
from recollect.model.caller import Caller
from recollect.model.trace import Trace, TraceType
from recollect.rules.reasons import MAX_NAMED, NOTHING, QUOTED_CHARACTERS, RECENT, last_turn, sentences
from rows import every_row

ANA = Caller(user="ana", session="s1")
BEN = Caller(user="ben", session="s2")
POLICY: dict[str, Any] = {}


def id_of(number: int) -> str:
    return f"0000000{number:x}-0000-5000-8000-000000000000"


def item(text: str, number: int = 1, kind: str = "semantic", **meta: Any) -> dict[str, Any]:
    shown = {"event_type": "preference", "authority": "user_asserted", "space": "user", "owner": "ana", **meta}
    return {"id": id_of(number), "kind": kind, "text": text, "meta": shown}


def recalled(text: str, number: int, *reasons: str) -> dict[str, Any]:
    return item(text, number, recall_reason=list(reasons))


def recall(query: str, *items: dict[str, Any], caller: Caller = ANA) -> Trace:
    return trace.memory_recall(caller, query, items, POLICY, ["user"], {"user": len(items)}, None)


def denied(reason: str) -> Trace:
    return trace.memory_denied(ANA, {"kind": "semantic", "text": "[redacted: 9 characters]"}, reason, POLICY)


def border(action: str, to_space: str | None, allowed: bool, reason: str = "border:allowed") -> Trace:
    return trace.memory_border_check(ANA, action, "session", to_space, allowed, reason, POLICY)


def deleted(number: int, reason: str) -> Trace:
    return trace.memory_deleted(ANA, id_of(number), {"space": "user", "owner": "ana"}, reason, POLICY)


def conflict(rule: str) -> Trace:
    return trace.memory_conflict(ANA, id_of(2), id_of(1), rule, "fact:drink")


def promoted(reason: str, to_space: str = "user") -> Trace:
    return trace.memory_promoted(ANA, "session", to_space, id_of(1), id_of(2), "user_asserted", reason, POLICY)


TEA, COFFEE = item("Ana likes tea", 1), item("Ana likes coffee", 2)

CASES: dict[str, tuple[list[Trace], list[str]]] = {
    "nothing was kept": ([], [NOTHING]),
    "several reasons, the commonest first": (
        [
            recall(
                "which drink?",
                recalled("a", 1, "matches_query"),
                recalled("b", 2, "matches_query", "recency"),
                recalled("c", 3, "active_rule"),
            )
        ],
        ["Recalled 3 memories for the question “which drink?”: 2 matched the words, 1 is an active rule, 1 is recent."],
    ),
    "what the question depends on, and what is known of a person": (
        [recall("dinner?", recalled("a", 1, "bears_on_query"), recalled("b", 2, "about_the_person"))],
        [
            "Recalled 2 memories for the question “dinner?”: 1 is what is known of the person, "
            "1 is about what the question depends on."
        ],
    ),
    "one memory": (
        [recall("tea?", recalled("a", 1, "importance"))],
        ["Recalled 1 memory for the question “tea?”: 1 is important."],
    ),
    "a reason that is new here": (
        [recall("tea?", recalled("a", 1, "by_magic"), recalled("b", 2, "by_magic"))],
        ["Recalled 2 memories for the question “tea?”: 2 by_magic."],
    ),
    "nothing came": ([recall("tea?")], ["Recalled nothing for the question “tea?”."]),
    "a fact of a person": (
        [trace.memory_write(ANA, TEA)],
        ["Wrote the preference “Ana likes tea” to ana's own space: a person said it."],
    ),
    "a model's guess about the project": (
        [
            trace.memory_write(
                ANA, item("It uses Go", event_type="fact", authority="ai_inferred", space="project", owner="p1")
            )
        ],
        ["Wrote the fact “It uses Go” to the project p1: a model inferred it, or nothing vouches for it."],
    ),
    "the turn itself is only counted": (
        [trace.memory_write(ANA, item("Hi", 1, "short_term"), item("Hello", 2, "short_term"), TEA)],
        [
            "Kept 2 lines of the conversation in short-term memory.",
            "Wrote the preference “Ana likes tea” to ana's own space: a person said it.",
        ],
    ),
    "refusals of one kind are counted": (
        [denied("privacy_deny_sensitive"), denied("noise_signal"), denied("privacy_deny_sensitive")],
        [
            "Refused 2 writes: it holds sensitive data that the policy denies.",
            "Refused 1 write: it is a journal entry, not a memory.",
        ],
    ),
    "a contradiction that was settled, and what left because of it": (
        [conflict("recency"), deleted(1, "superseded"), trace.memory_write(ANA, COFFEE)],
        [
            "Wrote the preference “Ana likes coffee” to ana's own space: a person said it.",
            "Found a contradiction: “Ana likes coffee” stands against memory 000000010000, since the newer is believed.",
            "Took out of the active set memory 000000010000: a newer version took its place.",
        ],
    ),
    "a contradiction that waits": (
        [conflict("manual")],
        [
            "Found a contradiction: memory 000000020000 stands against memory 000000010000, "
            "since a person has yet to decide."
        ],
    ),
    "moved, and why": (
        [promoted("authority:user_asserted"), trace.memory_write(ANA, COFFEE)],
        [
            "Wrote the preference “Ana likes coffee” to ana's own space: a person said it.",
            "Moved “Ana likes coffee” from the session to ana's own space: a person said it.",
        ],
    ),
    "moved for a reason that is new here": (
        [promoted("by_magic", "project")],
        ["Moved memory 000000020000 from the session to the project: a person said it."],
    ),
    "not moved": (
        [trace.memory_promotion_denied(ANA, "project", "system", id_of(1), "border:not_your_space", POLICY)],
        [
            "Did not move memory 000000010000 from the project to the system's space: "
            "the space or owner is not the caller's."
        ],
    ),
    "forgotten and deleted are one thing": (
        [trace.memory_forget(ANA, id_of(1), "ttl_expired", POLICY), deleted(1, "expired")],
        ["Forgot memory 000000010000: it was past its date or tick."],
    ),
    "several forgotten": (
        [
            trace.memory_forget(ANA, id_of(1), "decay", POLICY),
            trace.memory_forget(ANA, id_of(2), "decay", POLICY),
            trace.memory_write(ANA, TEA),
        ],
        [
            "Wrote the preference “Ana likes tea” to ana's own space: a person said it.",
            "Forgot “Ana likes tea” and memory 000000020000: it was long ago that it was last said or used.",
        ],
    ),
    "phases": (
        [
            trace.memory_phase_started(ANA, "user", "ana", "phase-2", "asked_for", POLICY),
            trace.memory_phase_diff(ANA, "user", "ana", "phase-1", "phase-2", 3, 1, 2, [], []),
        ],
        [
            "Began phase-2 in ana's own space: asked_for.",
            "Compared phase-1 with phase-2 in ana's own space: 3 added, 1 deleted, 2 replaced.",
        ],
    ),
    "one open border": ([border("read", None, True)], ["Checked 1 border: open."]),
    "open borders": ([border("read", None, True), border("write", "session", True)], ["Checked 2 borders: all open."]),
    "closed borders": (
        [
            border("read", None, True),
            border("write", "system", False, "border:not_your_space"),
            border("promote", "system", False, "border:not_your_space"),
            border("read", None, False, "border:no_write_right"),
        ],
        [
            "Checked 4 borders: 3 closed.",
            "Stopped writing to the system's space: the space or owner is not the caller's.",
            "Stopped moving something to the system's space: the space or owner is not the caller's.",
            "Stopped reading the session: the caller has no right to write.",
        ],
    ),
}


@every_row("case", CASES)
def test_examples(case: str) -> None:
    traces, told = CASES[case]
    assert list(sentences(traces)) == told


def test_every_kind_of_event_is_told() -> None:
    """An event that nobody tells would be passed over in silence."""
    told_alone: dict[str, tuple[str, ...]] = {}
    for traces, _ in CASES.values():
        for event in traces:
            told_alone[event["type"]] = sentences([event])
    assert set(told_alone) == set(TraceType)
    assert all(told != (NOTHING,) for told in told_alone.values())


def test_kept_events_are_told_as_fresh_ones_are() -> None:
    for traces, told in CASES.values():
        kept = [
            {**event, "number": place, "at": "2026-01-01T00:00:00.000000Z"} for place, event in enumerate(traces, 1)
        ]
        assert list(sentences(json.loads(json.dumps(kept)))) == told


def test_many_writes_are_few_sentences() -> None:
    told = sentences([trace.memory_write(ANA, *(item(f"fact {n}", n) for n in range(1, 9)))])
    assert len(told) == MAX_NAMED + 1 and told[-1] == "Wrote 3 more memories."


def test_many_forgotten_are_one_sentence() -> None:
    (told,) = sentences([trace.memory_forget(ANA, id_of(n), "decay", POLICY) for n in range(1, 9)])
    assert told.count("memory 0000") == MAX_NAMED and told.endswith(
        " and 3 more: it was long ago that it was last said or used."
    )


def test_long_words_are_cut_and_lines_joined() -> None:
    (told,) = sentences([trace.memory_write(ANA, item("one\ntwo  " + "x" * 500))])
    quoted = told.partition("“")[2].partition("”")[0]
    assert quoted.startswith("one ⏎ two x") and quoted.endswith("…") and len(quoted) == QUOTED_CHARACTERS


READ, WRITE = border("read", None, True), trace.memory_write(ANA, TEA)


def test_a_turn_begins_with_its_recall_and_the_reads_before_it() -> None:
    first = [READ, recall("one"), WRITE]
    second = [READ, READ, recall("two"), border("write", "session", True), WRITE]
    assert last_turn([*first, *second]) == second
    assert last_turn(first) == first


def test_the_session_that_spoke_last_is_told_alone() -> None:
    theirs = [recall("theirs", caller=BEN), trace.memory_write(BEN, COFFEE)]
    ours = [recall("ours"), WRITE]
    mixed = [theirs[0], ours[0], theirs[1], ours[1]]
    assert last_turn(mixed) == ours
    assert last_turn([*mixed, theirs[1]]) == [*theirs, theirs[1]]


def test_without_a_recall_the_last_few_are_told() -> None:
    assert last_turn([]) == []
    many = [denied(f"code_{n}") for n in range(RECENT + 5)]
    assert last_turn(many) == many[5:]
