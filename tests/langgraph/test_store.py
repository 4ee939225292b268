"""What LangGraph's own tests ask of a store: puts, gets, searches, namespaces, filters, batches."""

import asyncio
from typing import Any

import pytest
from graphs import keys, value
from langgraph.store.base import GetOp, InvalidNamespaceError, Item, ListNamespacesOp, MatchCondition, PutOp, SearchOp

import recollect
from recollect.langgraph import RecollectStore
from recollect.model.errors import BadInput
from rows import every_row


def test_put_get_update_delete(store: RecollectStore) -> None:
    namespace = ("test", "documents")
    store.put(namespace, "doc1", {"title": "Test Document", "content": "Hello, World!"})
    first = store.get(namespace, "doc1")
    assert first is not None
    assert (first.namespace, first.key) == (namespace, "doc1")
    assert first.value == {"title": "Test Document", "content": "Hello, World!"}
    store.put(namespace, "doc1", {"title": "Updated"})
    second = store.get(namespace, "doc1")
    assert second is not None and second.value == {"title": "Updated"}
    assert second.updated_at > first.updated_at and second.created_at == first.created_at
    assert store.get(("test", "other"), "doc1") is None
    store.delete(namespace, "doc1")
    assert store.get(namespace, "doc1") is None
    store.delete(namespace, "doc1")
    store.put(namespace, "doc1", {"title": "Back"})
    assert value(store, namespace, "doc1") == {"title": "Back"}


def test_keys_tell_upper_from_lower_case_and_may_be_any_text(store: RecollectStore) -> None:
    odd = [
        "Key",
        "key",
        "KEY",
        "key ",
        " key",
        "",
        "ключ",
        "k" * 1_000,
        "a/b",
        "a.b",
        "a\nb",
        "nul\x00",
        "🙂",
        "é",
        "e\u0301",
    ]
    for number, key in enumerate(odd):
        store.put(("odd",), key, {"number": number})
    for number, key in enumerate(odd):
        item = store.get(("odd",), key)
        assert item is not None and item.key == key and item.value == {"number": number}
    assert sorted(keys(store.search(("odd",), limit=100))) == sorted(odd)


def test_namespaces_do_not_meet(store: RecollectStore) -> None:
    places = [("foo",), ("foobar",), ("FOO",), ("foo", "bar"), ("foo:bar",), ("a%2Eb",), ("a\nb",), ("ф", "🙂")]
    for number, namespace in enumerate(places):
        store.put(namespace, "k", {"number": number})
    for number, namespace in enumerate(places):
        assert value(store, namespace, "k") == {"number": number}
    assert store.list_namespaces() == sorted(places)
    assert sorted(item.namespace for item in store.search(("foo",))) == [("foo",), ("foo", "bar")]


@every_row("bad", [(), ("the", "thing.about"), ("some", "fun", ""), ("langgraph", "foo"), ("nul\x00",), (1,)])
def test_bad_namespaces_are_refused(store: RecollectStore, bad: Any) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(bad, "foo", {"foo": "bar"})
    with pytest.raises(InvalidNamespaceError):
        asyncio.run(store.aput(bad, "foo", {"foo": "bar"}))


def test_operations_past_the_methods_are_checked_too(store: RecollectStore) -> None:
    for op in (
        PutOp(("a.b",), "k", {}),
        GetOp(("a.b",), "k"),
        SearchOp(("a.b",)),
        ListNamespacesOp((MatchCondition("prefix", ("a.b",)),)),
    ):
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    store.batch([PutOp(("langgraph", "foo"), "bar", {"foo": "bar"})])
    assert value(store, ("langgraph", "foo"), "bar") == {"foo": "bar"}
    with pytest.raises(BadInput, match="no operation"):
        store.batch([("put",)])  # type: ignore[list-item]


def test_a_batch_answers_in_order_and_reads_what_was_there_before_it(store: RecollectStore) -> None:
    store.put(("test", "foo"), "key1", {"data": "value1"})
    store.put(("test", "bar"), "key2", {"data": "value2"})
    results = store.batch(
        [
            PutOp(("test", "bar"), "key2", {"data": "changed"}),
            GetOp(("test", "foo"), "key1"),
            GetOp(("test", "bar"), "key2"),
            SearchOp(("test",), filter={"data": "value1"}),
            ListNamespacesOp(),
            PutOp(("test",), "key3", {"data": "value3"}),
            GetOp(("test",), "key3"),
        ]
    )
    put, one, two, found, namespaces, put_too, missing = results
    assert put is None and put_too is None and missing is None
    assert isinstance(one, Item) and one.value == {"data": "value1"}
    assert isinstance(two, Item) and two.value == {"data": "value2"}
    assert isinstance(found, list) and keys(found) == ["key1"]
    assert namespaces == [("test", "bar"), ("test", "foo")]
    assert value(store, ("test", "bar"), "key2") == {"data": "changed"}
    assert value(store, ("test",), "key3") == {"data": "value3"}


def test_of_two_puts_to_one_key_the_last_counts(store: RecollectStore, mem: recollect.Recollect) -> None:
    store.batch([PutOp(("t",), "k", {"n": 1}), PutOp(("t",), "k", {"n": 2}), PutOp(("t",), "gone", {"n": 3})])
    store.batch([PutOp(("t",), "gone", {"n": 4}), PutOp(("t",), "gone", None)])
    assert value(store, ("t",), "k") == {"n": 2} and value(store, ("t",), "gone") is None
    (memory,) = mem.list(owner="store:t").items
    assert memory.version == 1, "the first of the two was never written"


def test_an_empty_batch(store: RecollectStore) -> None:
    assert store.batch([]) == []


def test_search_by_prefix_filter_limit_and_offset(store: RecollectStore) -> None:
    store.put(("test", "docs"), "doc1", {"title": "First Doc", "author": "Alice", "tags": ["important"]})
    store.put(("test", "docs"), "doc2", {"title": "Second Doc", "author": "Bob", "tags": ["draft"]})
    store.put(("test", "images"), "img1", {"title": "Image 1", "author": "Alice", "tags": ["final"]})
    assert keys(store.search(("test",))) == ["img1", "doc2", "doc1"], "the last updated first"
    assert keys(store.search(("test", "docs"))) == ["doc2", "doc1"]
    assert keys(store.search(("test",), filter={"author": "Alice"})) == ["img1", "doc1"]
    assert keys(store.search(("test",), filter={"author": "Alice", "tags": ["final"]})) == ["img1"]
    assert keys(store.search(("test",), limit=2)) == ["img1", "doc2"]
    assert keys(store.search(("test",), offset=2)) == ["doc1"]
    assert len(store.search(())) == 3 and store.search(("nowhere",)) == [] and store.search(("test",), limit=0) == []
    assert store.search(("test",))[0].score is None
    store.put(("test", "docs"), "doc1", {"title": "Again"})
    assert keys(store.search(("test",)))[0] == "doc1"


def test_filters(store: RecollectStore) -> None:
    store.put(("f",), "a", {"n": 1, "s": "a", "flag": True, "deep": {"x": 1, "y": 2}, "list": [1, 2]})
    store.put(("f",), "b", {"n": 2.5, "s": "b", "flag": False, "deep": {"x": 2}, "list": []})
    store.put(("f",), "c", {"n": None, "s": "ä"})

    def found(**filter: Any) -> list[str]:
        return sorted(keys(store.search(("f",), filter=filter)))

    assert found(n=1) == ["a"] and found(n=1.0) == ["a"] and found(n=True) == [] and found(flag=1) == []
    assert found(n=None) == ["c"] and found(flag=None) == ["c"] and found(flag=False) == ["b"]
    assert found(n={"$eq": 2.5}) == ["b"] and found(n={"$ne": 1}) == ["b", "c"]
    assert found(n={"$gt": 1}) == ["b"] and found(n={"$gte": 1}) == ["a", "b"]
    assert found(n={"$lt": 2.5}) == ["a"] and found(n={"$lte": 2.5}) == ["a", "b"]
    assert found(n={"$gte": 1, "$lt": 2}) == ["a"] and found(s={"$gt": "a"}) == ["b", "c"] and found(s={"$gt": 1}) == []
    assert found(deep={"x": 1}) == ["a"] and found(deep={"x": {"$gt": 1}}) == ["b"]
    assert found(list=[1, 2]) == ["a"] and found(list=[1]) == [] and found(missing="x") == []
    assert found(s="x' OR '1'='1") == [] and found(**{"s') --": "a"}) == []
    with pytest.raises(BadInput, match=r"\$eq, \$ne, \$gt"):
        found(n={"$near": 1})


def test_filtering_comes_before_paging(store: RecollectStore) -> None:
    store.batch([PutOp(("many",), f"k{number}", {"n": number, "even": number % 2 == 0}) for number in range(250)])
    page = store.search(("many",), filter={"even": True}, limit=3, offset=120)
    assert [item.value["n"] for item in page] == [8, 6, 4]


def test_a_query_ranks_what_it_finds_before_the_rest(store: RecollectStore) -> None:
    store.put(("test",), "doc1", {"text": "red apple", "color": "red", "score": 4.5})
    store.put(("test",), "doc2", {"text": "red car", "color": "red", "score": 3.0})
    store.put(("test",), "doc3", {"text": "green apple", "color": "green", "score": 4.0})
    store.put(("test", "deep"), "doc4", {"text": "blue car", "color": "blue", "score": 3.5})
    assert keys(store.search(("test",), query="apple", filter={"color": "red"})) == ["doc1", "doc2"]
    assert keys(store.search(("test",), query="car", filter={"color": "red"}))[0] == "doc2"
    assert keys(store.search(("test",), query="apple", filter={"score": {"$gte": 4.0}, "color": "green"})) == ["doc3"]
    results = store.search(("test",), query="blue")
    assert results[0].key == "doc4" and len(results) == 4
    assert results[0].score > results[1].score >= results[3].score
    assert sorted(keys(store.search(("test",), query="apple", limit=2, offset=2))) == ["doc2", "doc4"]
    assert keys(store.search(("test", "deep"), query="apple")) == ["doc4"]
    assert store.search(("nowhere",), query="apple") == []


def test_odd_queries(store: RecollectStore) -> None:
    store.put(("test",), "doc1", {"text": "test document"})
    for query in ("", None, "   ", "test " * 100, "test!@#$%^&*()", 'a "quoted" OR NOT (x)', "the of and"):
        assert keys(store.search(("test",), query=query)) == ["doc1"], query


def test_an_update_is_found_by_its_new_words(store: RecollectStore) -> None:
    store.put(("test",), "doc1", {"text": "zany zebra Xerxes"})
    store.put(("test",), "doc2", {"text": "something about dogs"})
    before = store.search(("test",), query="Zany Xerxes")[0]
    assert before.key == "doc1" and before.score is not None and before.score > 0
    store.put(("test",), "doc1", {"text": "new text about dogs"})
    assert all(item.score < before.score / 2 for item in store.search(("test",), query="Zany Xerxes"))
    assert store.search(("test",), query="new text about dogs")[0].key == "doc1"


def test_what_an_item_is_found_by(store: RecollectStore) -> None:
    store.put(("test",), "all", {"title": "tea", "notes": ["green", "black"]})
    store.put(("test",), "some", {"title": "tea", "notes": ["green", "black"]}, index=["notes[*]"])
    store.put(("test",), "none", {"title": "tea", "notes": ["green", "black"]}, index=False)
    assert [(i.key, i.score > 0) for i in store.search(("test",), query="tea")] == [("all", True), ("some", False)]
    assert {i.key for i in store.search(("test",), query="green") if i.score} == {"all", "some"}
    assert sorted(keys(store.search(("test",)))) == ["all", "none", "some"]
    store.put(("test",), "none", {"title": "tea", "notes": ["green", "black"]})
    assert "none" in keys(store.search(("test",), query="tea")), "the same value, indexed now"


@every_row("wrong", [-1, 1.5, True, "ten"])
def test_pages_are_counted_in_whole_numbers(store: RecollectStore, wrong: Any) -> None:
    with pytest.raises(BadInput, match="limit"):
        store.search(("t",), limit=wrong)
    with pytest.raises(BadInput, match="offset"):
        store.list_namespaces(offset=wrong)


PLACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("admin", "users", "789"),
    ("b", "a", "f"),
    ("users", "123"),
    ("users", "456", "settings"),
]


@every_row(
    ("asked", "expected"),
    [
        ({}, PLACES),
        ({"prefix": ("a", "b")}, PLACES[:4]),
        ({"suffix": ("f",)}, [PLACES[3], PLACES[4], PLACES[6]]),
        ({"prefix": ("a",), "suffix": ("f",)}, [PLACES[3], PLACES[4]]),
        ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
        ({"max_depth": 1}, [("a",), ("admin",), ("b",), ("users",)]),
        ({"prefix": ("a", "b"), "limit": 2}, PLACES[:2]),
        ({"prefix": ("a", "b"), "offset": 2}, PLACES[2:4]),
        ({"prefix": ("a", "*", "f")}, [PLACES[3], PLACES[4]]),
        ({"suffix": ("*", "f")}, [PLACES[3], PLACES[4], PLACES[6]]),
        ({"prefix": ("users", "*")}, PLACES[7:]),
        ({"prefix": ("*", "users"), "suffix": ("*", "settings")}, []),
        ({"prefix": ("nonexistent",)}, []),
        ({"prefix": ("users", "123")}, [("users", "123")]),
        ({"suffix": ("a", "b", "c", "d")}, []),
    ],
)
def test_listing_namespaces(store: RecollectStore, asked: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    store.batch([PutOp(namespace, "k", {"data": number}) for number, namespace in enumerate(PLACES)])
    assert store.list_namespaces(**asked) == expected
    assert asyncio.run(store.alist_namespaces(**asked)) == expected


def test_an_emptied_namespace_is_not_listed(store: RecollectStore) -> None:
    assert store.list_namespaces() == []
    store.put(("a",), "k", {"n": 1})
    store.delete(("a",), "k")
    assert store.list_namespaces() == []
    with pytest.raises(BadInput, match="match_type"):
        store.put(("a",), "k", {"n": 1})
        store.batch([ListNamespacesOp((MatchCondition("middle", ("a",)),))])  # type: ignore[arg-type]


def test_async_callers_get_the_same(location: str) -> None:
    async def run() -> None:
        async with RecollectStore.from_conn_string(location) as store:
            await asyncio.gather(*(store.aput(("t", f"u{n % 3}"), f"k{n}", {"n": n}) for n in range(30)))
            found = await store.asearch(("t",), limit=100)
            assert sorted(item.value["n"] for item in found) == list(range(30))
            assert (await store.aget(("t", "u1"), "k1")).value == {"n": 1}  # type: ignore[union-attr]
            await store.adelete(("t", "u1"), "k1")
            assert await store.aget(("t", "u1"), "k1") is None
            assert len(await store.asearch(("t",), query="n", limit=100)) == 29
            assert await store.alist_namespaces() == [("t", "u0"), ("t", "u1"), ("t", "u2")]

    asyncio.run(run())


def test_search_ranks_as_a_query_does(store: RecollectStore) -> None:
    """What a question depends on is found, though it shares no word with it; the key of an item is no word of it."""
    store.put(("ana",), "limits", {"text": "I am allergic to nuts"})
    store.put(("ana",), "van", {"text": "The blue van belongs to the choir"})
    found = store.search(("ana",), query="What may I order at this restaurant?")
    assert [item.key for item in found][:1] == ["limits"]
