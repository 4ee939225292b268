"""Items: every field that governance names, as a view of the one record, and back into another store without loss."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect import from_item
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput
from recollect.model.item import MAX_DEDUP_CHARACTERS, dedup_key
from recollect.model.policy import PROFILE_KEYS
from recollect.model.vocabulary import Authority, EventType, Source
from rows import every_row
from support.sayings import SENTENCES
from support.script import open_seeded

FIELDS = {"id", "kind", "text", "source", "created_at", "importance", "scope", "meta"}
ALWAYS = {
    "event_type", "importance_reason", "space", "owner", "dedup_key", "authority", "authority_reason", "policy_tags",
    "expires_at", "phase_id", "phase_started_at", "phase_reason",
}  # fmt: skip
OF_THE_STORE = {
    "policy_tags", "importance_reason", "phase_id", "phase_name", "phase_started_at", "phase_reason",
}  # fmt: skip


@pytest.fixture
def mem() -> Iterator[Any]:
    with recollect.open(":memory:", policy={"turns": {"short_term_window": 1}}) as opened:
        yield opened


def turned(mem: Any, user: str, **more: Any) -> Any:
    return mem.turn(session="s1", owner="ana", user=user, **more)


def test_every_item_has_every_field_and_what_always_applies(mem: Any) -> None:
    first = turned(mem, "I live in Porto. The build server stands in Frankfurt.", ai="Noted.")
    then = turned(mem, "Where do I live?")
    items = [r.memory.to_item() for turn in (first, then) for r in (*turn.receipts, *turn.promoted)]
    for event in (*first.events, *then.events):
        items += [*event.get("written", ()), *event.get("recalled", ())]
    assert {item["kind"] for item in items} == {"short_term", "semantic", "profile"}
    for item in items:
        assert item.keys() == FIELDS and item["scope"] == "session"
        assert item["source"] in {"user", "ai", "tool", "system"}
        assert isinstance(item["created_at"], int) and isinstance(item["importance"], int)
        assert item["meta"].keys() >= ALWAYS and item["meta"]["importance_reason"]


def test_what_applies_to_some_is_on_those(mem: Any) -> None:
    first = turned(mem, "I live in Porto.")
    line, fact = (r.memory for r in first.receipts)
    assert fact.to_item()["meta"] | {"key": "city", "source_turn_ids": [line.id]} == fact.to_item()["meta"]
    promoted = first.promoted[0].memory.to_item()["meta"]
    assert (promoted["promoted_from"], promoted["promotion_reason"]) == (fact.id, "promotion:at_once")
    summary = turned(mem, "Where?").receipts[-1].memory.to_item()["meta"]
    assert summary["summary_of"] == [line.id]
    mem.start_phase(space="session", owner="s1", name="second", reason="asked")
    named = turned(mem, "Now?").receipts[0].memory.to_item()["meta"]
    assert (named["phase_id"], named["phase_name"], named["phase_reason"]) == ("phase-2", "second", "phase:asked")
    lasting = mem.add("The lift is out of order", owner="ana", ttl_ticks=5).memory.to_item()
    assert lasting["meta"]["expires_at"] == lasting["created_at"] + 5


def test_what_is_recalled_says_why_and_how_well_it_fits_and_is_stored_without(mem: Any) -> None:
    turned(mem, "I live in Porto.")
    recall = turned(mem, "Do I live in Porto?").recall
    (event,) = [e for e in recall.events if e["type"] == "memory_recall"]
    for item, shown in zip(recall.items, event["recalled"], strict=True):
        assert shown["meta"]["recall_reason"] == list(item.recall_reason)
        assert shown["meta"]["score"] == item.score
        assert not {"recall_reason", "score"} & mem.get(item.memory.id).to_item()["meta"].keys()
    assert {reason for item in recall.items for reason in item.recall_reason} == {
        "importance",
        "matches_query",
        "recency",
    }


def test_ids_and_counters_are_the_same_for_the_same_turns() -> None:
    def told() -> list[dict[str, Any]]:
        with open_seeded(seed=7) as mem:
            return [r.memory.to_item() for words in ("I live in Porto.", "Hello?") for r in turned(mem, words).receipts]

    assert told() == told()


@pytest.mark.parametrize(
    ("event_type", "content", "key", "expected"),
    [
        ("fact", "Dark  Mode\nplease", None, "fact:dark mode please"),
        ("preference", "CAFE\u0301", None, "preference:café"),
        ("fact", "The user lives in Porto.", "city", "fact:city"),
    ],
)
def test_a_dedup_key_is_the_type_and_the_words_or_the_fact(
    event_type: str, content: str, key: str | None, expected: str
) -> None:
    assert dedup_key(event_type, content, "ab12", key) == expected


def test_long_texts_that_begin_alike_have_keys_of_their_own() -> None:
    long = "x" * (MAX_DEDUP_CHARACTERS + 1)
    assert dedup_key("fact", long, "one", None) != dedup_key("fact", long, "two", None)
    assert dedup_key("fact", long[:-1], "one", None) == dedup_key("fact", long[:-1], "two", None)


words = st.sampled_from([s for s in SENTENCES if "password" not in s]) | st.text(
    alphabet="abé日 .", min_size=1, max_size=60
).filter(str.strip)
sources = st.sampled_from([s for s in Source if s is not Source.TEST_SUITE])
extras = st.fixed_dictionaries(
    {},
    optional={
        "source": sources,
        "event_type": st.sampled_from(EventType),
        "importance": st.integers(1, 5),
        "authority": st.sampled_from(Authority),
        "authority_reason": st.sampled_from(["badge shown", "source:user"]),
        "space": st.sampled_from(["user", "session", "project", "system"]),
        "owner": st.sampled_from(["ana", "ben"]),
        "ttl_ticks": st.integers(1, 100),
        "meta": st.dictionaries(
            st.sampled_from(["source_turn_ids", "summary_of", "promoted_from", "promotion_reason", "color"]),
            st.lists(st.sampled_from(["a", "b"]), max_size=2),
            max_size=3,
        ),
    },
)


@st.composite
def memories(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["short_term", "semantic", "profile"]))
    named = {"key": draw(st.sampled_from(PROFILE_KEYS)), "event_type": "fact"} if kind == "profile" else {}
    return {**draw(extras), **named, "content": draw(words), "kind": kind}


def told_alike(item: dict[str, Any]) -> dict[str, Any]:
    """An item without what holds for its own store alone: id, ticks, phase, and by which of its rules it was judged."""
    meta = {name: value for name, value in item["meta"].items() if name not in OF_THE_STORE}
    lives = meta.pop("expires_at")
    return {
        **{name: value for name, value in item.items() if name not in ("id", "created_at")},
        "meta": meta,
        "lives": lives and lives - item["created_at"],
    }


def added(mem: Recollect, fields: dict[str, Any]) -> dict[str, Any]:
    receipt = mem.add(**fields)
    assert receipt.memory is not None, (receipt.reasons, fields)
    return receipt.memory.to_item()


@settings(max_examples=30)
@given(memories(), st.booleans())
def test_an_item_comes_out_of_another_store_as_it_went_in(fields: dict[str, Any], later: bool) -> None:
    with recollect.open(":memory:") as one, recollect.open(":memory:") as other:
        item = added(one, fields)
        if later:
            other.add(
                "Somebody was here before", owner=fields.get("owner", "default"), space=fields.get("space", "user")
            )
        taken_in = added(other, from_item(item))
        assert told_alike(taken_in) == told_alike(item)
        assert taken_in["meta"]["importance_reason"] == ["importance:as_given"]


def test_an_item_of_a_turn_comes_out_as_it_went_in(mem: Any) -> None:
    turned(mem, "I live in Porto. The build server stands in Frankfurt.", ai="Noted.")
    turn = turned(mem, "Actually, I live in Braga.", tools=[{"name": "crm", "output": "Ana pays monthly."}])
    for receipt in (*turn.receipts, *turn.promoted):
        with recollect.open(":memory:") as other:
            item = receipt.memory.to_item()
            assert told_alike(added(other, from_item(item))) == told_alike(item)
            assert other.get(item["id"]).content == item["text"], "the old id is an alias"


def test_a_small_item_is_enough_and_foreign_importance_is_fitted_in() -> None:
    with recollect.open(":memory:") as mem:
        plain = added(mem, from_item({"text": "Ana likes tea"}))
        assert (plain["kind"], plain["source"]) == ("semantic", "user")
        for given_importance, kept in ((0.2, 1), (2.6, 3), (99, 5), (-3, 1)):
            item = {"text": f"Room {given_importance} is free", "importance": given_importance, "source": "ai"}
            taken = added(mem, from_item(item))
            assert (taken["importance"], taken["source"]) == (kept, "ai")


@every_row(
    ("item", "field"),
    [
        (None, "item"),
        ("Ana likes tea", "item"),
        ([], "item"),
        ({"text": "tea", "meta": None}, "item"),
        ({"text": "tea", "meta": ["key"]}, "item"),
        ({"kind": "semantic"}, "item.text"),
        ({"text": None}, "item.text"),
        ({"text": 5}, "content"),
        ({"text": ""}, "content"),
        ({"text": "tea\x00"}, "content"),
        ({"text": "tea", "kind": "rumour"}, "kind"),
        ({"text": "tea", "kind": 5}, "kind"),
        ({"text": "tea", "kind": "profile"}, "key"),
        ({"text": "tea", "source": "nobody"}, "source"),
        ({"text": "tea", "source": ["user"]}, "source"),
        ({"text": "tea", "importance": "high"}, "importance"),
        ({"text": "tea", "importance": math.nan}, "importance"),
        ({"text": "tea", "importance": math.inf}, "importance"),
        ({"text": "tea", "id": 7}, "aliases.0"),
        ({"text": "tea", "meta": {"space": "moon"}}, "space"),
        ({"text": "tea", "meta": {"owner": 5}}, "owner"),
        ({"text": "tea", "meta": {"event_type": "gossip"}}, "event_type"),
        ({"text": "tea", "meta": {"authority": "divine"}}, "authority"),
        ({"text": "tea", "meta": {"color": {1, 2}}}, "meta"),
        ({"text": "tea", "created_at": 0, "meta": {"expires_at": 10**12}}, "ttl_ticks"),
    ],
)
def test_garbage_is_refused_by_the_name_of_its_field(item: Any, field: str) -> None:
    with recollect.open(":memory:") as mem:
        before = mem.state_hash()
        with pytest.raises(BadInput) as refused:
            mem.add(**from_item(item))
        assert refused.value.field == field
        assert mem.state_hash() == before


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=50)
@given(st.fixed_dictionaries({"text": st.just("tea")}, optional=dict.fromkeys(sorted(FIELDS - {"text"}), anything)))
def test_any_item_is_taken_in_or_refused_by_name(item: dict[str, Any]) -> None:
    with recollect.open(":memory:") as mem:
        try:
            mem.add(**from_item(item))
        except BadInput as refused:
            assert refused.field
