"""The text index: terms in, terms out, and statistics that are exact whatever came and went in between."""

from collections.abc import Sequence

import pytest

from recollect.model.vocabulary import Status
from recollect.rules.language.findable import Findable
from recollect.stores.protocol import Neighbour, Reader, Selection, Store, Stream
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at, notes_of_terms

TEA = ("ana", "like", "tea", "tea")
COFFEE = ("ben", "like", "coffe")
ANY = Selection()


def _index(reader: Reader, stream: Stream) -> tuple[object, ...]:
    """Return all that the index holds, and the statistics that ranking reads."""
    counted = reader.term_frequencies(stream, sorted({*TEA, *COFFEE, "новый", "%"}))
    return stream.documents, stream.words, counted, reader.indexed_text(stream), notes_of_terms(reader, stream).keys()


class TextContract(StoreUnderTest):
    """``ReadsText``, and the writes that go with it."""

    def test_indexed_terms_are_found_with_their_counts(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        scribe.keep("coffee", terms=COFFEE)
        with scribe.reading() as (reader, stream):
            assert (stream.documents, stream.words) == (2, 7)
            assert reader.term_frequencies(stream, ["like", "tea", "milk"]) == {"like": 2, "tea": 1}
            assert reader.term_frequencies(stream, []) == {}
            assert reader.postings(stream, {"tea": 10})["tea"] == [(1, 2, 4)]
            assert reader.postings(stream, {"milk": 10})["milk"] == []
            assert reader.indexed_text(stream) == [
                ("ana", 1, 1, 4),
                ("ben", 2, 1, 3),
                ("coffe", 2, 1, 3),
                ("like", 1, 1, 4),
                ("like", 2, 1, 3),
                ("tea", 1, 2, 4),
            ]
            assert notes_of_terms(reader, stream).keys() == {1, 2}

    def test_the_words_of_a_key_are_found_and_make_no_text_longer(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA, key_terms=["drink"])
        with scribe.writing() as (writer, stream):
            assert (stream.words, writer.postings(stream, {"drink": 9})["drink"]) == (4, [(1, 1, 4)])
            assert notes_of_terms(writer, stream) == {1: "4 ana:1 like:1 tea:2\ndrink:1"}
            writer.unindex_text(stream, [1])
            assert _index(writer, stream) == (0, 0, {}, [], set())

    def test_terms_are_counted_in_one_stream_alone(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        other = Scribe(store, address("ben"))
        other.keep("coffee", terms=COFFEE)
        with store.read(TENANT) as reader:
            assert reader.term_frequencies(scribe.seen_by(reader), ["like"]) == {"like": 1}
            assert reader.postings(other.seen_by(reader), {"tea": 10})["tea"] == []

    def test_postings_of_some_memories_are_those_that_have_the_term(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        scribe.keep("coffee", terms=COFFEE)
        scribe.keep("more tea", terms=TEA)
        with scribe.reading() as (reader, stream):
            whole = {posting[0]: posting for posting in reader.postings(stream, {"tea": 10})["tea"]}
            assert whole.keys() == {1, 3}
            assert reader.postings_of(stream, ["tea", "none"], [3, 2, 99, 3]) == {"tea": [whole[3]], "none": []}
            assert reader.postings_of(stream, ["tea"], []) == {"tea": []}
            assert reader.postings_of(stream, [], [1]) == {}

    @pytest.mark.parametrize("terms", [(), COFFEE, ("tea",) * 50, ("новый", "%", "'", "a:b", "-", "🫖")], ids=len)
    def test_any_terms_go_in_and_out_and_leave_the_statistics_as_they_were(
        self, store: Store, scribe: Scribe, terms: Sequence[str]
    ) -> None:
        scribe.keep("other", terms=TEA)
        with store.read(TENANT) as reader:
            before = _index(reader, scribe.seen_by(reader))
        scribe.keep("odd", terms=terms)
        with scribe.reading() as (reader, stream):
            assert (stream.documents, stream.words) == (2, 4 + len(terms))
            for term in set(terms) - set(TEA):
                assert reader.postings(stream, {term: 10})[term] == [(2, list(terms).count(term), len(terms))]
        with scribe.writing() as (writer, stream):
            assert _index(writer, stream) != before
            writer.unindex_text(stream, [2])
            writer.advance_stream(stream)
        with store.read(TENANT) as reader:
            assert _index(reader, scribe.seen_by(reader)) == before

    def test_taking_out_what_is_not_indexed_does_nothing(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        scribe.keep("silent")
        with scribe.writing() as (writer, stream):
            before = _index(writer, stream)
            writer.unindex_text(stream, [2])
            writer.unindex_text(stream, [99])
            assert _index(writer, stream) == before

    def test_postings_come_newest_first_and_up_to_a_limit(self, scribe: Scribe) -> None:
        for number in range(1, 6):
            scribe.keep(f"tea {number}", terms=("tea",) * number)
        with scribe.reading() as (reader, stream):
            assert reader.postings(stream, {"tea": 10})["tea"] == [
                (number, number, number) for number in (5, 4, 3, 2, 1)
            ]
            assert reader.postings(stream, {"tea": 2})["tea"] == [(5, 5, 5), (4, 4, 4)]

    def test_a_limit_counts_only_what_fits(self, scribe: Scribe) -> None:
        scribe.keep("tea of the planner", terms=TEA, body_fields={"scope": "planner"})
        for number in range(2, 6):
            scribe.keep(f"tea {number}", terms=TEA)
        planners = Selection(scopes=("planner",), equal={"status": "active"})
        with scribe.reading() as (reader, stream):
            found = reader.postings(stream, {"tea": 2, "milk": 2}, planners)
            assert found == {"tea": [(1, 2, 4)], "milk": []}
            assert reader.sharing(stream, TEA, 2, 0, 2, planners) == [1]
            assert reader.sharing(stream, TEA, 2, 0, 2, ANY) == [5, 4]

    def test_those_that_share_enough_words_are_found_most_first(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        scribe.keep("coffee", terms=COFFEE)
        scribe.keep("both", terms=(*TEA, "ben"))
        Scribe(store, address("ben")).keep("ben's", terms=TEA)
        words = ("ana", "like", "tea", "milk")
        with scribe.reading() as (reader, stream):
            assert reader.sharing(stream, words, 1, 0, 10, ANY) == [3, 1, 2]
            assert reader.sharing(stream, words, 3, 0, 10, ANY) == [3, 1]
            assert reader.sharing(stream, words, 4, 0, 10, ANY) == []
            assert reader.sharing(stream, words, 1, 1, 10, ANY) == [3, 2]
            assert reader.sharing(stream, words, 1, 0, 1, ANY) == [3]
            assert reader.sharing(stream, (), 1, 0, 10, ANY) == []

    def test_asking_twice_for_the_same_one_gives_it_once(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        with scribe.reading() as (reader, stream):
            assert [s.number for s in reader.by_numbers(stream, [1, 1])] == [1]
            assert [n.number for n in reader.neighbours(stream, [1, 1], frozenset(TEA), 1)] == [1]
            assert reader.sharing(stream, ("tea", "tea"), 2, 0, 10, ANY) == []

    def test_what_is_put_back_is_indexed_again(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        with store.read(TENANT) as reader:
            before = _index(reader, scribe.seen_by(reader))
        with scribe.writing() as (writer, stream):
            writer.unindex_text(stream, [1])
            assert _index(writer, stream) == (0, 0, {}, [], set())
            writer.index_text(stream, 1, Findable(TEA))
            writer.advance_stream(stream)
        with store.read(TENANT) as reader:
            assert _index(reader, scribe.seen_by(reader)) == before

    def test_neighbours_are_active_memories_with_their_words(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea", terms=TEA, body_fields={"scope": "planner", "kind": "procedural"})
        scribe.keep("gone", terms=COFFEE, status=Status.ARCHIVED)
        scribe.keep("silent")
        with store.read(TENANT) as reader:
            found = reader.neighbours(scribe.seen_by(reader), [1, 2, 3, 99], frozenset(TEA), 1)
        assert found == [Neighbour(1, tea, frozenset(TEA))]

    def test_neighbours_are_not_compared_by_the_words_of_their_keys(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA, key_terms=["drink", "hot"])
        with scribe.reading() as (reader, stream):
            assert reader.neighbours(stream, [1], frozenset({"tea", "drink", "hot"}), 1)[0].terms == frozenset(TEA)
            assert not reader.neighbours(stream, [1], frozenset({"tea", "drink", "hot"}), 2)

    def test_neighbours_share_at_least_as_many_terms_as_asked(self, scribe: Scribe) -> None:
        scribe.keep("odd", terms=["a:b", "tea", "cup"])
        with scribe.reading() as (reader, stream):
            shared = [(frozenset({"tea", "cup", "pot"}), 2), (frozenset({"a", "tea"}), 1), (frozenset({"a:b"}), 1)]
            short = [(frozenset({"tea", "pot"}), 2), (frozenset({"a", "tea"}), 2), (frozenset({"ea", "a:"}), 1)]
            long = frozenset(f"word{number}" for number in range(200))  # a long text is compared in another way
            for more in (frozenset[str](), long):
                assert all(reader.neighbours(stream, [1], terms | more, least) for terms, least in shared)
                assert not any(reader.neighbours(stream, [1], terms | more, least) for terms, least in short)

    def test_only_what_a_selection_admits_is_visible(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("shared")
        scribe.keep("planner's", body_fields={"scope": "planner"})
        scribe.keep("archived", status=Status.ARCHIVED)
        scribe.keep("expired", expires_at=at(5))
        Scribe(store, address("ben")).keep("ben's")
        numbers = [1, 2, 3, 4, 99]
        with scribe.reading() as (reader, stream):
            assert reader.visible(stream, numbers, Selection()) == {1, 2, 3, 4}
            assert reader.visible(stream, [2, 3], Selection()) == {2, 3}
            seen = Selection(scopes=("shared",), equal={"status": "active"}, unexpired_at=at(5))
            assert reader.visible(stream, numbers, seen) == {1}

    def test_what_lies_beyond_some_scopes_and_categories_is_counted(self, scribe: Scribe) -> None:
        for scope in ("shared", "coder", "stylist"):
            scribe.keep(f"said in {scope}", body_fields={"scope": scope}, canonical_key="Said")
            scribe.keep(f"planned in {scope}", body_fields={"scope": scope}, canonical_key="Planned", category="tasks")
        scribe.keep("put away", status=Status.ARCHIVED, body_fields={"scope": "stylist"})
        with scribe.reading() as (reader, stream):
            assert reader.count_beyond(stream, None, None)() == 0
            assert reader.count_beyond(stream, ["shared", "coder", "stylist"], ["general", "tasks"])() == 0
            assert reader.count_beyond(stream, ["shared", "coder"], None)() == 2
            assert reader.count_beyond(stream, None, ["tasks"])() == 3
            assert reader.count_beyond(stream, ["shared"], ["tasks"])() == 5
            assert reader.count_beyond(stream, None, [])() == 6

    def test_projections_can_be_dropped_and_versions_stay(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=TEA)
        other = Scribe(store, address("ben"))
        other.keep("coffee", terms=COFFEE)
        with scribe.writing() as (writer, stream):
            writer.drop_projections(stream)
            writer.advance_stream(stream)
        with scribe.reading() as (reader, stream):
            assert (stream.documents, stream.words) == (0, 0)
            assert (reader.states(stream), reader.indexed_text(stream), notes_of_terms(reader, stream)) == ([], [], {})
            assert reader.term_frequencies(stream, TEA) == {}
            assert len(reader.versions(stream)) == len(reader.entries(stream)) == 1
            assert len(reader.states(other.seen_by(reader))) == len(notes_of_terms(reader, other.seen_by(reader))) == 1
