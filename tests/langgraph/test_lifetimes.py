"""How long an item lives, by LangGraph's rules and by the store's clock."""

from datetime import timedelta

import pytest
from graphs import keys, value

import recollect
from recollect.langgraph import RecollectStore
from recollect.model.errors import BadInput
from rows import every_row
from support.determinism import SteppingClock


def test_an_item_lives_as_long_as_it_was_given(store: RecollectStore, clock: SteppingClock) -> None:
    store.put(("t",), "short", {"v": "apple"}, ttl=1)
    store.put(("t",), "long", {"v": "apple"}, ttl=10)
    store.put(("gone",), "short", {"v": "apple"}, ttl=1)
    store.put(("t",), "ever", {"v": "apple"}, ttl=None)
    clock.now += timedelta(minutes=2)
    assert store.get(("t",), "short") is None
    assert sorted(keys(store.search(("t",), refresh_ttl=False))) == ["ever", "long"]
    assert sorted(keys(store.search(("t",), query="apple", refresh_ttl=False))) == ["ever", "long"]
    assert store.list_namespaces() == [("t",)]
    clock.now += timedelta(minutes=9)
    assert keys(store.search(("t",))) == ["ever"]


def test_reading_prolongs_a_life(store: RecollectStore, clock: SteppingClock) -> None:
    for key in ("got", "found", "left", "unread"):
        store.put(("t",), key, {"key": key}, ttl=10)
    clock.now += timedelta(minutes=6)
    store.get(("t",), "got")
    store.search(("t",), filter={"key": "found"})
    store.get(("t",), "left", refresh_ttl=False)
    store.search(("t",), filter={"key": "left"}, refresh_ttl=False)
    clock.now += timedelta(minutes=6)
    assert sorted(keys(store.search(("t",), refresh_ttl=False))) == ["found", "got"]
    clock.now += timedelta(minutes=6)
    assert store.search(("t",)) == []


def test_reading_does_not_move_when_an_item_was_updated(store: RecollectStore, clock: SteppingClock) -> None:
    store.put(("t",), "k", {"n": 1}, ttl=10)
    first = store.get(("t",), "k")
    clock.now += timedelta(minutes=5)
    store.get(("t",), "k")
    again = store.get(("t",), "k")
    assert first is not None and again is not None and again.updated_at == first.updated_at


def test_reading_often_does_not_write_often(
    store: RecollectStore, mem: recollect.Recollect, clock: SteppingClock
) -> None:
    store.put(("t",), "k", {"n": 1}, ttl=10)
    (memory,) = mem.list(owner="store:t").items
    for _ in range(50):
        store.get(("t",), "k")
    assert len(mem.history(memory.id)) == 1
    clock.now += timedelta(minutes=1)
    store.get(("t",), "k")
    assert len(mem.history(memory.id)) == 2


def test_the_stores_own_lifetimes(mem: recollect.Recollect, clock: SteppingClock) -> None:
    with RecollectStore(mem, ttl={"default_ttl": 5, "refresh_on_read": False}) as store:
        store.put(("t",), "default", {"n": 1})
        store.put(("t",), "own", {"n": 2}, ttl=1)
        store.put(("t",), "ever", {"n": 3}, ttl=None)
        clock.now += timedelta(minutes=2)
        assert sorted(keys(store.search(("t",)))) == ["default", "ever"]
        clock.now += timedelta(minutes=4)
        assert keys(store.search(("t",))) == ["ever"], "reading did not prolong it"


def test_a_put_sets_the_lifetime_anew_even_with_the_same_value(store: RecollectStore, clock: SteppingClock) -> None:
    store.put(("t",), "k", {"n": 1}, ttl=1)
    store.put(("t",), "k", {"n": 1}, ttl=30)
    clock.now += timedelta(minutes=5)
    assert value(store, ("t",), "k") == {"n": 1}
    store.put(("t",), "k", {"n": 1})
    clock.now += timedelta(minutes=500)
    assert value(store, ("t",), "k") == {"n": 1}
    store.put(("t",), "k", {"n": 1}, ttl=1)
    clock.now += timedelta(minutes=5)
    assert store.get(("t",), "k") is None
    store.put(("t",), "k", {"n": 1})
    assert value(store, ("t",), "k") == {"n": 1}


@every_row("wrong", [0, -1, float("inf"), float("nan"), 1e12])
def test_a_lifetime_is_checked(store: RecollectStore, wrong: float) -> None:
    with pytest.raises(BadInput, match="ttl"):
        store.put(("t",), "k", {"n": 1}, ttl=wrong)
