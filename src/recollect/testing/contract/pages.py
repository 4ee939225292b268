"""Everything that a stream holds, a page at a time: in order, none twice, none left out, and of one stream alone."""

from recollect.model.ledger import Event
from recollect.stores.protocol import TERM_COUNT, Amendment, IndexedTerm, Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import SALT, TENANT, Scribe, address, entry, memory_id


class PagesContract(Opening):
    """``ReadsPages``."""

    def test_versions_and_states_come_page_by_page(self, store: Store, scribe: Scribe) -> None:
        ids = [scribe.keep(name, terms=[name]) for name in ("tea", "coffee", "milk")]
        Scribe(store, address("ben")).keep("theirs")
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
            first, rest = reader.versions_after(stream, 0, 2), reader.versions_after(stream, 2, 2)
            assert [(one.number, one.id) for one in (*first, *rest)] == list(enumerate(ids, start=1))
            assert [one[:4] for one in (*first, *rest)] == [tuple(one) for one in reader.versions(stream)]
            states = [*reader.states_after(stream, 0, 2), *reader.states_after(stream, 2, 2)]
            assert [one.state for one in states] == [stored.state for stored in reader.states(stream)]
            assert (states[0].number, states[0].terms) == (1, "1 tea:1")
            assert not reader.versions_after(stream, 3, 2) and not reader.states_after(stream, 3, 2)

    def test_postings_come_page_by_page_behind_the_count_of_their_term(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("tea", terms=["tea", "hot", "hot"])
        scribe.keep("coffee", terms=["hot"])
        with store.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
            found: list[IndexedTerm] = []
            while page := reader.postings_after(stream, found[-1][:2] if found else None, 2):
                assert len(page) <= 2
                found += page
        assert [one[:3] for one in found] == [
            ("hot", TERM_COUNT, 2),
            ("hot", 2, 1),
            ("hot", 1, 2),
            ("tea", TERM_COUNT, 1),
            ("tea", 1, 1),
        ]

    def test_amendments_hashes_and_removals(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            for seq, event in enumerate((Event.STORED, Event.EDITED, Event.ERASED, Event.SEVERED), start=1):
                said = {"commitment": "5" * 64} if event is Event.SEVERED else {}
                writer.add_entry(stream, entry(stream, seq, memory_id("tea"), event, **said))
            for seq in (2, 3):
                writer.add_amendment(stream, seq, memory_id("tea"), f'{{"n":{seq}}}', SALT)
        with store.read(TENANT) as reader:
            assert reader.amendments_after(stream, 0, 1) == [Amendment(2, '{"n":2}', SALT, memory_id("tea"))]
            assert reader.amendments_after(stream, 2, 9) == [Amendment(3, '{"n":3}', SALT, memory_id("tea"))]
            hashes = [one.hash for one in reader.entries(stream)]
            assert reader.entry_hashes(stream, 0, 9) == hashes and reader.entry_hashes(stream, 1, 2) == hashes[1:3]
            assert reader.removals(stream) == ({memory_id("tea")}, {memory_id("tea"): ["5" * 64]})
