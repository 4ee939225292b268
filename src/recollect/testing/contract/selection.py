"""Selections: every filter against a plain reading of it in Python, in order, by pages, and counted."""

import operator
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from recollect.model.vocabulary import Status
from recollect.stores.protocol import NO_LIMIT, Selection, Store, Stored
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at, memory_id

Keep = Callable[[Stored], bool]

_STATES: tuple[dict[str, Any], ...] = (
    {"status": Status.ACTIVE, "importance": 1, "category": "general", "tags": ["a"], "pinned": True},
    {"status": Status.ARCHIVED, "importance": 2, "category": "taste", "tags": ["a", "b"], "expires_at": at(10)},
    {"status": Status.ACTIVE, "importance": 3, "category": "100 %", "tags": [], "expires_at": at(20)},
    {"status": Status.SUPERSEDED, "importance": 4, "category": "taste", "tags": ["ab"], "expires_at_tick": 3},
    {"status": Status.ACTIVE, "importance": 5, "category": "o'clock", "tags": ["b", "a", "x y"], "expires_at_tick": 99},
    {"status": Status.SOFT_DELETED, "importance": 2, "tags": ["A"], "deleted_at": at(3), "purge_at": at(30)},
)
_SURE = tuple({"authority": "ai_inferred", "confidence": share} for share in (1, 0.4))
_ANA = {"author": {"id": "a1", "name": "O'Ana"}}
_BODIES: tuple[dict[str, Any], ...] = (
    {"scope": "shared", "kind": "semantic", "source": "user", "user_id": "ana", "created_at": at(1), **_SURE[0]},
    {
        "scope": "planner",
        "kind": "procedural",
        "source": "agent",
        "agent_id": "planner",
        "created_at": at(2),
        "confidence": 0.4,
    },
    {"scope": "shared", "kind": "insight", "event_type": "decision", "layer": "intent", "created_at": at(2), **_ANA},
    {"scope": "coder", "kind": "episodic", "run_id": "r1", "thread_id": "t1", "role": "user", "created_at": at(2)},
    {"scope": "shared", "kind": "profile", "tier": "register", "topic_id": "work", "created_at": at(3)},
    {"scope": "planner", "kind": "short_term", "actor_id": "bot", "created_at": at(0)},
)


def _body(stored: Stored, name: str) -> Any:
    assert stored.body is not None
    return stored.body[name]


def _place(stored: Stored) -> tuple[str, int, int]:
    """Return what memories are ordered by: time, then the stream, then their number in it."""
    return _body(stored, "created_at"), stored.stream, stored.number


def _in_body(name: str, *values: Any) -> Keep:
    return lambda s: _body(s, name) in values


EQUAL: tuple[tuple[str, Any, Keep], ...] = (
    ("status", "active", lambda s: s.state.status is Status.ACTIVE),
    ("status", ("archived", "superseded"), lambda s: s.state.status in ("archived", "superseded")),
    ("status", (), lambda s: False),
    ("kind", "insight", _in_body("kind", "insight")),
    ("kind_class", "event", _in_body("kind", "episodic", "short_term")),
    ("event_type", "decision", _in_body("event_type", "decision")),
    ("layer", ["intent"], _in_body("layer", "intent")),
    ("tier", "register", _in_body("tier", "register")),
    ("topic_id", "work", _in_body("topic_id", "work")),
    ("source", "agent", _in_body("source", "agent")),
    ("user_id", "ana", _in_body("user_id", "ana")),
    ("agent_id", "planner", _in_body("agent_id", "planner")),
    ("run_id", "r1", _in_body("run_id", "r1")),
    ("thread_id", "t1", _in_body("thread_id", "t1")),
    ("actor_id", "bot", _in_body("actor_id", "bot")),
    ("role", "user", _in_body("role", "user")),
    ("scope", "planner", _in_body("scope", "planner")),
    ("category", "100 %", lambda s: s.state.category == "100 %"),
    ("category", "o'clock", lambda s: s.state.category == "o'clock"),
    ("category", "' OR 1=1 --", lambda s: False),
    ("pinned", 1, lambda s: s.state.pinned),
    ("pinned", 0, lambda s: not s.state.pinned),
    ("importance", 2, lambda s: s.state.importance == 2),
    ("version", 1, lambda s: True),
    ("id", memory_id("ana 2"), lambda s: s.state.id == memory_id("ana 2")),
    ("canonical_key", "Key-2", lambda s: s.state.canonical_key == "Key-2"),
    ("key_identity", "key-2", lambda s: s.state.canonical_key == "Key-2"),
    ("memory", 2, lambda s: s.number == 2),
)
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "<>": operator.ne,
}


def _check(store: Store, selection: Selection, expected: list[Stored]) -> None:
    with store.read(TENANT) as reader:
        found = reader.select(TENANT, selection, NO_LIMIT)
        assert [s.state.id for s in found] == [s.state.id for s in expected], selection
        assert reader.count(TENANT, selection) == len(expected), selection
        by_status = Counter((str(s.state.status), s.stream) for s in expected)
        assert reader.count_by(TENANT, ["status", "stream"], selection) == dict(sorted(by_status.items()))


class SelectionContract(StoreUnderTest):
    """``ReadsMemories`` for many at once."""

    @pytest.fixture
    def everything(self, store: Store) -> list[Stored]:
        """Six memories of Ana's and six of Ben's, in the order that a selection gives; and one of another tenant."""
        for owner in ("ana", "ben"):
            for number, (state, version) in enumerate(zip(_STATES, _BODIES, strict=True)):
                fields = {"canonical_key": f"Key-{number}", **state}
                Scribe(store, address(owner)).keep(f"{owner} {number}", body_fields=version, **fields)
        Scribe(store, address(tenant="globex")).keep("theirs")
        with store.read(TENANT) as reader:
            kept = [s for stream in reader.streams_of(TENANT) for s in reader.states(stream)]
        return sorted(kept, key=_place, reverse=True)

    def test_without_filters_everything_comes_newest_first(self, store: Store, everything: list[Stored]) -> None:
        assert len(everything) == 12
        _check(store, Selection(), everything)

    def test_what_is_selected_is_whole(self, store: Store, everything: list[Stored]) -> None:
        with store.read(TENANT) as reader:
            assert reader.select(TENANT, Selection(), NO_LIMIT) == everything

    def test_a_column_has_a_value(self, store: Store, everything: list[Stored]) -> None:
        for column, wanted, keep in EQUAL:
            _check(store, Selection(equal={column: wanted}), [s for s in everything if keep(s)])

    def test_a_column_lies_in_a_range(self, store: Store, everything: list[Stored]) -> None:
        for sign, holds in COMPARE.items():
            by_importance = [s for s in everything if holds(s.state.importance, 3)]
            _check(store, Selection(ranges=(("importance", sign, 3),)), by_importance)
            by_time = [s for s in everything if holds(_body(s, "created_at"), at(2))]
            _check(store, Selection(ranges=(("created_at", sign, at(2)),)), by_time)

    def test_ranges_are_taken_together(self, store: Store, everything: list[Stored]) -> None:
        between = (("importance", ">=", 2), ("importance", "<", 4))
        _check(store, Selection(ranges=between), [s for s in everything if 2 <= s.state.importance < 4])

    def test_every_tag_is_there(self, store: Store, everything: list[Stored]) -> None:
        for tags in (("a",), ("a", "b"), ("A",), ("ab",), ("x y",), ("nothing",), ('"',)):
            _check(store, Selection(tags=tags), [s for s in everything if set(tags) <= set(s.state.tags)])

    def test_who_wrote_it_and_how_sure_they_were(self, store: Store, everything: list[Stored]) -> None:
        for authors in (("a1",), ("O'Ana",), ("a1", "application"), ("Ana",), ("' OR 1=1 --",)):
            theirs = [s for s in everything if set(_body(s, "author").values()) & set(authors)]
            _check(store, Selection(authors=authors), theirs)
        for least in (0.0, 0.4, 0.41, 1.0):
            sure = [s for s in everything if (s.body or {}).get("confidence", -1) >= least]
            _check(store, Selection(confidence_min=least), sure)

    def test_streams_and_scopes(self, store: Store, everything: list[Stored]) -> None:
        anas = Scribe(store, address("ana")).now().number
        _check(store, Selection(streams=(anas,)), [s for s in everything if s.stream == anas])
        _check(store, Selection(streams=()), [])
        scopes = ("shared", "coder")
        _check(store, Selection(scopes=scopes), [s for s in everything if _body(s, "scope") in scopes])
        _check(store, Selection(scopes=()), [])

    @pytest.mark.parametrize("now", [9, 10, 11, 20, 21])
    def test_what_has_expired_is_left_out(self, store: Store, everything: list[Stored], now: int) -> None:
        with store.write(TENANT) as writer:
            stream = Scribe(store, address("ben")).stream(writer)
            stream.tick = 2
            writer.advance_stream(stream)
        ticks = {stream.number: 2, Scribe(store, address("ana")).now().number: 6}

        def alive(stored: Stored) -> bool:
            state = stored.state
            in_time = state.expires_at is None or state.expires_at > at(now)
            in_ticks = state.expires_at_tick is None or state.expires_at_tick > ticks[stored.stream]
            return state.status is not Status.ACTIVE or (in_time and in_ticks)

        _check(store, Selection(unexpired_at=at(now)), [s for s in everything if alive(s)])

    def test_filters_are_taken_together(self, store: Store, everything: list[Stored]) -> None:
        selection = Selection(
            scopes=("shared",), equal={"status": "active"}, tags=("a",), ranges=(("importance", ">", 1),)
        )
        expected = [s for s in everything if s.state.importance == 5]
        assert len(expected) == 2
        _check(store, selection, expected)

    @pytest.mark.parametrize("size", [1, 2, 5, 12])
    def test_pages_show_everything_once_and_in_order(self, store: Store, everything: list[Stored], size: int) -> None:
        shown: list[str] = []
        before: tuple[str, int, int] | None = None
        with store.read(TENANT) as reader:
            while page := reader.select(TENANT, Selection(before=before), size):
                assert len(page) <= size
                shown += [s.state.id for s in page]
                before = _place(page[-1])
        assert shown == [s.state.id for s in everything]

    def test_a_column_that_does_not_exist_is_never_put_into_a_query(
        self, store: Store, everything: list[Stored]
    ) -> None:
        with store.read(TENANT) as reader:
            for selection in (
                Selection(equal={"1=1 OR status": "x"}),
                Selection(ranges=(("importance", "> 0 OR 1 =", 1),)),
            ):
                with pytest.raises(ValueError):
                    reader.select(TENANT, selection, 10)
            with pytest.raises(ValueError):
                reader.count_by(TENANT, ["status FROM memories m --"], Selection())

    def test_what_is_past_its_date_or_tick_and_still_active_has_expired(self, store: Store, scribe: Scribe) -> None:
        dated = scribe.keep("dated", expires_at=at(10))
        ticked = scribe.keep("ticked", expires_at_tick=5)
        scribe.keep("gone already", expires_at=at(10), expires_at_tick=5, status=Status.SOFT_DELETED)
        scribe.keep("forever")
        Scribe(store, address("ben")).keep("ben's", expires_at=at(10))
        with scribe.reading() as (reader, stream):
            assert reader.first_expiry(stream) == (at(10), 5)
            assert reader.expired_ids(stream, at(9), 4) == []
            assert reader.expired_ids(stream, at(10), 4) == [dated]
            assert reader.expired_ids(stream, at(9), 5) == [ticked]
            assert reader.expired_ids(stream, at(99), 99) == sorted([dated, ticked])

    def test_what_was_not_used_for_long_and_matters_little_is_unused(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("used since", importance=2, last_reinforced=at(50))
        old = scribe.keep("old", importance=2, last_reinforced=at(10))
        scribe.keep("matters", importance=3, last_reinforced=at(10))
        scribe.keep("pinned", importance=2, last_reinforced=at(10), pinned=True)
        scribe.keep("archived", importance=2, last_reinforced=at(10), status=Status.ARCHIVED)
        read = scribe.keep("read since", importance=2, last_reinforced=at(10))
        with store.write(TENANT) as writer:
            writer.count_accesses(TENANT, {read: (1, at(30))})
        with scribe.reading() as (reader, stream):
            assert reader.unused_ids(stream, at(10), 3) == []
            assert reader.unused_ids(stream, at(11), 3) == [old]
            assert reader.unused_ids(stream, at(30), 3) == [old]
            assert reader.unused_ids(stream, at(31), 3) == [old, read]
            assert reader.unused_ids(stream, at(31), 2) == []

    def test_what_is_past_its_purge_date_and_still_there_can_be_purged(self, scribe: Scribe) -> None:
        due = scribe.keep("due", status=Status.SOFT_DELETED, purge_at=at(10))
        scribe.keep("purged", status=Status.SOFT_DELETED, purge_at=at(10), removed="purged")
        scribe.keep("active")
        with scribe.reading() as (reader, stream):
            assert reader.purgeable_ids(stream, at(9)) == []
            assert reader.purgeable_ids(stream, at(10)) == [due]
