"""What a store of memories does beyond a plain one: it refuses with a reason, remembers what was, and keeps borders."""

import asyncio
from typing import Any

import pytest
from graphs import value
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import PutOp

import recollect
from recollect.langgraph import RecollectStore
from recollect.langgraph.items import canonical_key, namespace_of, owner_of, to_text, to_value
from recollect.model.errors import BadInput, Refused
from recollect.rules.language.text import fingerprint
from rows import every_row
from support.determinism import SteppingClock

NS = ("memories", "ana")
SECRET = {"note": "my password is hunter2-Zx9Q"}


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.dictionaries(
    st.text(), st.recursive(plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
)


@given(values)
def test_a_value_survives_its_text_to_the_letter(whole: dict[str, Any]) -> None:
    text = to_text(whole, "k")
    back = to_value(text)
    assert repr(back) == repr(whole), "equal, of the same types, in the same order"
    text.encode("utf-8")


@given(values, values)
def test_two_values_never_read_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = repr(one) == repr(other)
    assert (fingerprint(to_text(one, "k")) == fingerprint(to_text(other, "k"))) == same


@every_row(
    ("before", "after"),
    [
        ("a b", "a  b"),
        ("a b", "a b "),
        ("a b", "a\u00a0b"),
        ("a b", "a\tb"),
        ("a\nb", "a\r\nb"),
        ("a\nb", "a\u2028b"),
        ("é", "e\u0301"),
        ("가", "\u1100\u1161"),
        ("Å", "\u212b"),
        ("A", "a"),
        ("x", "x\x00"),
        ("x", "x\ud800"),
        ("js", "JavaScript"),
        ("e\u0301 x", "e\u0301  x"),
        ("e\u0301 \x7f", "e\u0301 \x80"),
    ],
)
def test_the_smallest_change_is_kept(store: RecollectStore, before: str, after: str) -> None:
    for text in (before, after, before):
        store.put(NS, "k", {"text": text})
        assert value(store, NS, "k") == {"text": text}


@every_row(
    ("bad", "field"),
    [
        ({"a": (1, 2)}, "value.a"),
        ({"a": [{1, 2}]}, r"value.a\[0\]"),
        ({"a": {"b": b"bytes"}}, "value.a.b"),
        ({"a": {1: "x"}}, "value.a"),
        ({1: "x"}, "value"),
        ({"a": float("nan")}, "value.a"),
        ({"a": float("-inf")}, "value.a"),
        ({"a": object()}, "value.a"),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(store: RecollectStore, bad: Any, field: str) -> None:
    with pytest.raises(BadInput, match=field):
        store.put(NS, "k", bad)
    assert store.get(NS, "k") is None


def test_the_size_limit_is_this_doors_own(store: RecollectStore) -> None:
    room = 10_240 - len('{"text": ""}')
    store.put(NS, "full", {"text": "x" * room})
    assert value(store, NS, "full") == {"text": "x" * room}
    with pytest.raises(BadInput, match=r"10,241 bytes as JSON; an item may have 10,240"):
        store.put(NS, "more", {"text": "x" * (room + 1)})
    with pytest.raises(BadInput, match="key"):
        store.put(NS, "k" * 9_000, {"n": 1})
    with pytest.raises(BadInput, match="namespace"):
        store.put(("n" * 300,), "k", {"n": 1})


@given(st.lists(st.text(min_size=1, max_size=10).filter(lambda label: "." not in label), min_size=1, max_size=4))
def test_a_namespace_is_read_back_from_its_owner(labels: list[str]) -> None:
    assert namespace_of(owner_of(labels)) == tuple(labels)


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()))
def test_two_items_never_share_a_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    keys = [canonical_key("shared", [namespace], key) for namespace, key in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)
    assert all(len(key) == 30 and key.isascii() for key in keys)


@pytest.mark.parametrize(
    ("key", "refused", "why"),
    [
        ("note", SECRET, "password"),
        ("card", {"number": "4111 1111 1111 1111"}, "payment_card"),
        ("deep", {"a": [{"api_key": "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEFGH"}]}, "api_key"),
        ("password", {"value": "hunter2-Zx9Q"}, "password"),
    ],
)
def test_a_secret_is_refused_and_the_error_says_why(
    store: RecollectStore, mem: recollect.Recollect, key: str, refused: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refused, match=f"key '{key}' in memories.ana.*privacy_deny_sensitive.*{why}") as error:
        store.put(NS, key, refused)
    assert "hunter2" not in str(error.value) and "4111" not in str(error.value)
    assert store.get(NS, key) is None
    with pytest.raises(Refused):
        asyncio.run(store.aput(NS, key, refused))


def test_a_refusal_leaves_a_trace_without_the_words(store: RecollectStore, mem: recollect.Recollect) -> None:
    for puts in ([PutOp(NS, "a", SECRET)], [PutOp(NS, "a", {"n": 1}), PutOp(NS, "b", SECRET)]):
        before = len(mem.traces())
        with pytest.raises(Refused):
            store.batch(puts)
        traces = mem.traces().items[before:]
        assert [trace["type"] for trace in traces] == ["memory_denied"] and "hunter2" not in str(traces)


def test_of_a_batch_with_a_refused_put_nothing_is_kept(store: RecollectStore) -> None:
    with pytest.raises(Refused, match="key 'bad'"):
        store.batch([PutOp(NS, "a", {"n": 1}), PutOp(NS, "bad", SECRET), PutOp(NS, "c", {"n": 3})])
    assert store.search(NS) == []


def test_what_the_application_redacts_is_refused_here(location: str) -> None:
    policy = {"privacy": {"actions": {"email": "redact", "phone": "deny"}}}
    with (
        recollect.open(location, policy=policy) as mem,
        RecollectStore(mem) as store,
    ):
        for value_ in ({"mail": "ana@example.com"}, {"ana@example.com": True}):
            with pytest.raises(Refused, match=r"privacy_deny_sensitive.*email"):
                store.put(NS, "k", value_)
    with RecollectStore.from_conn_string(location) as store:
        store.put(NS, "k", {"mail": "ana@example.com"})
        assert value(store, NS, "k") == {"mail": "ana@example.com"}


def test_the_applications_write_policy_holds_here_too(location: str) -> None:
    with (
        recollect.open(location, policy={"write": {"policy": "none"}}) as mem,
        RecollectStore(mem) as store,
        pytest.raises(Refused, match="write_policy_none"),
    ):
        store.put(NS, "k", {"n": 1})


@pytest.mark.parametrize(
    "words",
    [
        "heartbeat ok",
        "nothing to report",
        "Lorem ipsum dolor",
        "test memory",
        "unit test: this is an integration test note",
    ],
)
def test_nothing_else_is_judged_by_its_words(store: RecollectStore, words: str) -> None:
    store.put(NS, "one", {"text": words})
    store.put(NS, "two", {"text": words})
    assert value(store, NS, "one") == value(store, NS, "two") == {"text": words}
    assert len(store.search(NS)) == 2


def test_a_put_always_updates_whoever_made_it(location: str) -> None:
    with recollect.open(location) as mem:
        agent = mem.as_caller(agent="planner", user="ana", projects=["store:team"])
        with RecollectStore(mem) as person, RecollectStore(agent) as planner:
            person.put(("team",), "port", {"port": 8080})
            planner.put(("team",), "port", {"port": 9090})
            assert value(person, ("team",), "port") == {"port": 9090}


def test_every_put_is_a_version_that_can_be_explained(store: RecollectStore, mem: recollect.Recollect) -> None:
    for number in range(3):
        store.put(NS, "k", {"n": number})
    (memory,) = mem.list(owner="store:memories.ana").items
    assert [version.content for version in mem.chain(memory.id)] == ['{"n": 0}', '{"n": 1}', '{"n": 2}']
    assert memory.version == 3 and "Store-Item" in mem.explain(memory.id).text
    store.delete(NS, "k")
    mem.restore(memory.id)
    assert value(store, NS, "k") == {"n": 2}
    assert mem.verify().ok


def test_a_namespace_can_be_erased(store: RecollectStore, mem: recollect.Recollect) -> None:
    store.put(NS, "k", {"text": "Ana likes oolong"})
    store.put(("memories", "ben"), "k", {"text": "Ben likes oolong"})
    mem.erase(owner=owner_of(NS))
    assert store.get(NS, "k") is None
    assert store.list_namespaces() == [("memories", "ben")]
    assert mem.verify().ok
    store.put(NS, "k", {"text": "a new beginning"})
    assert value(store, NS, "k") == {"text": "a new beginning"}


def test_upkeep_does_not_put_items_away(location: str) -> None:
    from datetime import UTC, datetime, timedelta

    clock = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC))
    with recollect.open(location, clock=clock) as mem, RecollectStore(mem) as store:
        store.put(NS, "k", {"n": 1})
        mem.add("Ana likes tea", owner="ana", importance=1)
        clock.now += timedelta(days=400)
        assert len(mem.upkeep().forgotten) == 1
        assert value(store, NS, "k") == {"n": 1}


def test_items_survive_a_restart(location: str) -> None:
    with RecollectStore.from_conn_string(location) as store:
        store.put(NS, "k", {"n": 1})
    with RecollectStore.from_conn_string(location) as store:
        assert value(store, NS, "k") == {"n": 1}


def test_memories_and_items_share_a_database_and_do_not_mix(store: RecollectStore, mem: recollect.Recollect) -> None:
    mem.add("Ana likes oolong", owner=owner_of(NS), space="project")
    store.put(NS, "k", {"text": "oolong"})
    assert [item.key for item in store.search(NS)] == [item.key for item in store.search(NS, query="oolong")] == ["k"]
    assert len(mem.query("oolong").items) == 2
    mem.add("Only a memory", owner="store:empty", space="project")
    assert store.list_namespaces() == [NS]


def test_a_bound_caller_reaches_the_namespaces_it_was_given(location: str) -> None:
    with recollect.open(location) as mem, RecollectStore(mem) as everything:
        everything.put(("team", "red"), "k", {"n": 1})
        everything.put(("team", "blue"), "k", {"n": 2})
        red = mem.as_caller(agent="painter", user="ana", projects=[owner_of(("team", "red"))])
        with RecollectStore(red) as store:
            assert value(store, ("team", "red"), "k") == {"n": 1}
            assert store.get(("team", "blue"), "k") is None
            assert [item.namespace for item in store.search(("team",))] == [("team", "red")]
            assert store.list_namespaces() == [("team", "red")]
            store.put(("team", "red"), "mine", {"n": 3})
            with pytest.raises(Refused, match="border:not_your_space"):
                store.put(("team", "blue"), "k", {"n": 4})
            store.delete(("team", "blue"), "k")
        assert value(everything, ("team", "blue"), "k") == {"n": 2}


def test_what_one_agent_keeps_for_itself_no_other_sees(location: str) -> None:
    with recollect.open(location) as mem:
        views = {name: mem.as_caller(agent=name, user="ana", projects=["store:notes"]) for name in ("one", "two")}
        with (
            RecollectStore(views["one"], scope="one") as one,
            RecollectStore(views["two"], scope="two") as two,
            RecollectStore(views["two"], scope="one") as nosy,
            RecollectStore(views["two"]) as shared,
        ):
            one.put(("notes",), "k", {"text": "a plan"})
            two.put(("notes",), "k", {"text": "another plan"})
            shared.put(("notes",), "k", {"text": "everybody's plan"})
            assert value(one, ("notes",), "k") == {"text": "a plan"}
            assert value(two, ("notes",), "k") == {"text": "another plan"}
            assert value(shared, ("notes",), "k") == {"text": "everybody's plan"}
            for query in (None, "plan"):
                found = [s.search(("notes",), query=query) for s in (one, two, shared)]
                assert [item.value["text"] for items in found for item in items] == [
                    "a plan",
                    "another plan",
                    "everybody's plan",
                ]
                assert query is None or all(item.score for items in found for item in items)
            assert nosy.get(("notes",), "k") is None and nosy.search(("notes",)) == []
            assert nosy.search(("notes",), query="plan") == [] and nosy.list_namespaces() == []
            with pytest.raises(Refused, match="border:not_your_scope"):
                nosy.put(("notes",), "k", {"text": "mine now"})


def test_tenants_do_not_see_each_other(location: str) -> None:
    with RecollectStore.from_conn_string(location, tenant="acme") as acme:
        acme.put(NS, "k", {"text": "acme"})
    with RecollectStore.from_conn_string(location, tenant="globex") as globex:
        assert globex.get(NS, "k") is None and globex.search(()) == [] and globex.search((), query="acme") == []
        assert globex.list_namespaces() == []
        globex.put(NS, "k", {"text": "globex"})
        globex.delete(NS, "k")
    with RecollectStore.from_conn_string(location, tenant="acme") as acme:
        assert value(acme, NS, "k") == {"text": "acme"}
