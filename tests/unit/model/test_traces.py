"""Governance events: all eleven, each with exactly its keys, each as its published schema and its page say."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from recollect.interfaces.cli.activity import schema_text
from recollect.interfaces.python import Recollect
from recollect.model import trace
from recollect.model.caller import Caller
from recollect.model.policy import Policy
from recollect.model.trace import MAX_QUERY_CHARACTERS, Trace, TraceType
from recollect.model.vocabulary import Authority, Kind, Space
from rows import every_row
from support import script

PAGE = Path(__file__).parents[3] / "docs" / "traces.md"
SCHEMAS = Path(trace.__file__).parent / "trace_schemas"

REQUIRED: dict[str, str] = {
    "memory_recall": "query recalled policy deterministic_hash spaces_consulted recall_counts current_phase",
    "memory_write": "written reason",
    "memory_denied": "attempted reason policy_snapshot",
    "memory_conflict": "winner_id loser_id rule dedup_key",
    "memory_forget": "memory_id reason policy_snapshot",
    "memory_border_check": "action from_space allowed reason policy_snapshot",
    "memory_promoted": "from_space to_space from_id to_id authority_used reason policy_snapshot",
    "memory_promotion_denied": "from_space to_space memory_id allowed reason policy_snapshot",
    "memory_phase_started": "space owner phase_id reason policy_snapshot",
    "memory_deleted": "space owner phase_id memory_id reason policy_snapshot",
    "memory_phase_diff": "space owner from_phase_id to_phase_id added_count deleted_count replaced_count top_changes "
    "summary_lines",
}
"""What each event must have, besides its type, the AI profile and the session."""
OPTIONAL = {"memory_recall": {"phase_counts"}, "memory_border_check": {"to_space"}}
KEPT_OF_ALL = {TraceType.RECALL: {"block"}}
"""Keys that an event has only where the policy keeps every event."""
WHEN_KEPT = {"number", "at"}

CALLER = Caller(user="ana", session="s1", ai_profile="stylist")
POLICY = Policy().expanded()
TEA, COFFEE = "0f3a9c2b-1d4e-5a6b-8c7d-9e0f1a2b3c4d", "1b2c3d4e-5f60-5718-92a3-b4c5d6e7f809"
META = {
    "event_type": "preference",
    "importance_reason": ["importance:event_type:preference"],
    "space": "user",
    "owner": "ana",
    "authority": "user_asserted",
}
ITEM: dict[str, Any] = {
    "id": TEA,
    "kind": "semantic",
    "text": "Ana likes green tea",
    "source": "user",
    "created_at": 4,
    "importance": 3,
    "scope": "session",
    "meta": META,
}
ATTEMPTED = {
    "kind": "semantic",
    "text": "[redacted: 23 characters]",
    "source": "user",
    "scope": "session",
    "meta": {"space": "user", "event_type": None, "gate": "privacy"},
}
PHASE = {"phase_id": "phase-1", "phase_name": None, "phase_started_at": 1, "phase_reason": "first_write"}
EXAMPLES: dict[TraceType, Trace] = {
    TraceType.RECALL: trace.memory_recall(
        CALLER,
        "What does Ana drink?",
        [{**ITEM, "meta": {**META, "recall_reason": ["matches_query"]}}],
        POLICY,
        ["session", "user"],
        {"session": 0, "user": 1},
        PHASE,
        {"user": {"phase-1": 1}},
    ),
    TraceType.WRITE: trace.memory_write(CALLER, ITEM),
    TraceType.DENIED: trace.memory_denied(CALLER, ATTEMPTED, "privacy_deny_sensitive", POLICY),
    TraceType.CONFLICT: trace.memory_conflict(CALLER, COFFEE, TEA, "recency", "fact:drink"),
    TraceType.FORGET: trace.memory_forget(CALLER, TEA, "ttl_expired", POLICY),
    TraceType.BORDER_CHECK: trace.memory_border_check(
        CALLER, "promote", "session", "user", True, "border:allowed", POLICY
    ),
    TraceType.PROMOTED: trace.memory_promoted(
        CALLER, "session", "user", TEA, COFFEE, "user_asserted", "promotion:said_by_the_person", POLICY
    ),
    TraceType.PROMOTION_DENIED: trace.memory_promotion_denied(
        CALLER, "project", "system", TEA, "promotion:no_path", POLICY
    ),
    TraceType.PHASE_STARTED: trace.memory_phase_started(CALLER, "user", "ana", "phase-2", "asked_for", POLICY),
    TraceType.DELETED: trace.memory_deleted(
        CALLER, TEA, {"space": "user", "owner": "ana", "phase_id": "phase-1"}, "superseded", POLICY
    ),
    TraceType.PHASE_DIFF: trace.memory_phase_diff(
        CALLER, "user", "ana", "phase-1", "phase-2", 1, 0, 1,
        [{"change": "replaced", "from_id": TEA, "to_id": COFFEE}], ["1 memory came, 1 was replaced."],
    ),
}  # fmt: skip


def schema(type: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(schema_text(TraceType(type)))
    return loaded


def check(event: Trace) -> None:
    Draft202012Validator(schema(event["type"])).validate(event)


def refused(event: Trace) -> bool:
    return not Draft202012Validator(schema(event["type"])).is_valid(event)


def test_there_is_a_schema_for_every_event_and_no_other() -> None:
    assert {file.name for file in SCHEMAS.iterdir()} == {f"{type}.json" for type in TraceType}
    assert set(EXAMPLES) == set(TraceType) and set(REQUIRED) == set(TraceType)


@every_row("type", TraceType)
def test_a_schema_is_one_and_says_what_every_key_is(type: TraceType) -> None:
    found = schema(type)
    Draft202012Validator.check_schema(found)
    assert (found["title"], found["$id"]) == (type, f"urn:recollect:trace:{type}")
    assert all(key["description"] for key in found["properties"].values())


@every_row("type", TraceType)
def test_an_event_has_exactly_its_keys(type: TraceType) -> None:
    required = {"type", "ai_profile", "session", *REQUIRED[type].split()}
    optional = OPTIONAL.get(type, set())
    assert set(schema(type)["required"]) == required
    assert set(schema(type)["properties"]) == required | optional | WHEN_KEPT | KEPT_OF_ALL.get(type, set())
    assert set(EXAMPLES[type]) == required | optional
    check(EXAMPLES[type])


@every_row("type", TraceType)
def test_nothing_may_be_missing_and_nothing_may_be_added(type: TraceType) -> None:
    event = EXAMPLES[type]
    for key in schema(type)["required"]:
        without = {**event, "type": type}
        del without[key]
        assert not Draft202012Validator(schema(type)).is_valid(without), key
    assert refused({**event, "surprise": 1})


@every_row("type", TraceType)
def test_an_event_is_who_and_where_and_plain_json(type: TraceType) -> None:
    event = EXAMPLES[type]
    assert (event["type"], event["ai_profile"], event["session"]) == (type, "stylist", "s1")
    assert json.loads(json.dumps(event)) == event


def test_optional_keys_may_be_left_out() -> None:
    short = trace.memory_recall(CALLER, "?", [], POLICY, [], {}, None)
    assert "phase_counts" not in short and short["current_phase"] is None
    check(short)


def test_only_a_read_has_no_space_to_reach() -> None:
    read = trace.memory_border_check(CALLER, "read", "user", None, False, "border:not_your_space", POLICY)
    check(read)
    assert "to_space" not in read
    assert refused({**read, "to_space": "user"})
    for action in ("write", "promote"):
        check(trace.memory_border_check(CALLER, action, "session", "user", True, "border:allowed", POLICY))
        assert refused({**read, "action": action})


def test_what_was_refused_is_never_repeated() -> None:
    assert refused({**EXAMPLES[TraceType.DENIED], "attempted": {**ATTEMPTED, "text": "password: hunter2"}})


def test_items_say_why() -> None:
    for key in ("event_type", "importance_reason", "authority"):
        meta = {name: value for name, value in META.items() if name != key}
        assert refused(trace.memory_write(CALLER, {**ITEM, "meta": meta})), key
    assert refused(trace.memory_recall(CALLER, "?", [ITEM], POLICY, [], {}, None)), "a recalled item has its reasons"


def test_the_lists_of_words_are_the_model_s() -> None:
    """A word that the model gains and a schema does not know would make a lawful event unlawful."""
    recall, promoted = schema("memory_recall"), schema("memory_promoted")
    assert recall["$defs"]["item"]["properties"]["kind"]["enum"] == list(Kind)
    assert recall["properties"]["spaces_consulted"]["items"]["enum"] == list(Space)
    assert promoted["properties"]["authority_used"]["enum"] == list(Authority)


def test_one_operation_may_write_several() -> None:
    event = trace.memory_write(CALLER, ITEM, {**ITEM, "id": COFFEE})
    check(event)
    assert [item["id"] for item in event["written"]] == [TEA, COFFEE]


def test_events_that_say_no() -> None:
    said_no = {type for type, event in EXAMPLES.items() if trace.is_refusal(event)}
    assert said_no == {TraceType.DENIED, TraceType.PROMOTION_DENIED}
    assert trace.is_refusal({**EXAMPLES[TraceType.BORDER_CHECK], "allowed": False})


def test_the_hash_is_over_these_bytes() -> None:
    items = [{"kind": Kind.SEMANTIC, "id": "a"}, {"kind": "profile", "id": "é"}]
    expected = hashlib.sha256('[["semantic","a"],["profile","é"]]'.encode()).hexdigest()
    assert trace.deterministic_hash(items) == expected
    assert trace.deterministic_hash(items[::-1]) != expected
    assert trace.deterministic_hash([]) == hashlib.sha256(b"[]").hexdigest()


def test_the_hash_is_of_what_the_event_shows() -> None:
    event = EXAMPLES[TraceType.RECALL]
    assert event["deterministic_hash"] == trace.deterministic_hash(event["recalled"])


@pytest.mark.parametrize(("length", "shown"), [(0, 0), (199, 199), (200, 200), (201, 200), (5_000, 200)])
def test_a_long_question_is_cut(length: int, shown: int) -> None:
    cut = trace.memory_recall(CALLER, "é" * length, [], POLICY, [], {}, None)["query"]
    assert len(cut) == shown <= MAX_QUERY_CHARACTERS
    assert cut.endswith("…") == (length > shown)


def opened(seed: int, **policy: Any) -> Recollect:
    return script.open_seeded(seed=seed, policy={"traces": {"keep": "all"}, **policy})


def kept(mem: Recollect) -> Iterator[Trace]:
    page = mem.traces(limit=100)
    yield from page
    while page.next_cursor is not None:
        page = mem.traces(limit=100, cursor=page.next_cursor)
        yield from page


@pytest.mark.parametrize(
    ("preset", "expected"), [("default", "write denied conflict forget deleted"), ("governed", "write denied")]
)
def test_every_event_that_the_engine_makes_fits_its_schema(preset: str, expected: str) -> None:
    seen: set[str] = set()
    for seed in range(2):
        with opened(seed, preset=preset) as mem:
            script.run(mem, seed)
            secret = mem.add("The password is hunter2-and-more-9!", owner="ana")
            events = [*secret.events, *kept(mem)]
        for event in events:
            check(event)
        seen |= {event["type"] for event in events}
    assert {f"memory_{word}" for word in expected.split()} <= seen


def test_a_kept_event_is_the_one_that_was_returned() -> None:
    with opened(1) as mem:
        made = [*mem.add("I live in Paris", owner="ana").events, *mem.add("I live in Rome", owner="ana").events]
        found = list(kept(mem))
    assert [{key: event[key] for key in event if key not in WHEN_KEPT} for event in found] == json.loads(
        json.dumps(made)
    )
    assert [event["number"] for event in found] == list(range(1, len(made) + 1))


_ROW = re.compile(r"^\| `(\w+)` \| (required|optional|when kept) \| (.+) \|$", re.MULTILINE)


def section(type: str) -> str:
    (found,) = re.findall(
        rf"^### `{type}`\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return str(found)


@every_row("type", TraceType)
def test_the_page_explains_every_key_as_the_schema_does(type: TraceType) -> None:
    found = schema(type)
    common = {"type", "ai_profile", "session", *WHEN_KEPT}
    expected = [
        (name, "required" if name in found["required"] else "optional", key["description"])
        for name, key in found["properties"].items()
        if name not in common
    ]
    assert _ROW.findall(section(type)) == expected
    assert section(type).strip().startswith(found["description"])


@every_row("type", TraceType)
def test_the_page_s_example_is_what_the_code_makes(type: TraceType) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```", section(type), re.MULTILINE | re.DOTALL)
    shown = json.loads(example)
    key = trace.policy_key(type)
    assert shown == {**EXAMPLES[type], **({key: "…"} if key in EXAMPLES[type] else {})}


def test_a_broken_event_is_found_out() -> None:
    with pytest.raises(ValidationError):
        check({**EXAMPLES[TraceType.FORGET], "reason": "felt_like_it"})
