"""What lies beside the ledger: traces with their policy, answers kept for retries, and counters of reading."""

import pytest

from recollect.model.errors import StoreError
from recollect.stores.protocol import Store, TracesWanted
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT, Scribe, at, memory_id

POLICY = ("f" * 64, '{"preset":"default"}')


class BesideContract(Opening):
    """``ReadsTraces``, the counters, and the writes that go with them."""

    def test_traces_come_back_in_order_each_with_its_policy(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.keep_trace(TENANT, {"type": "memory_denied", "n": 1}, at(1), None, POLICY)
            writer.keep_trace(TENANT, {"type": "memory_write", "n": 2, "memory_id": "m"}, at(2), 1, None)
            writer.keep_trace(TENANT, {"type": "memory_denied", "n": 3}, at(3), None, POLICY)
        with store.write("globex") as writer:
            writer.keep_trace("globex", {"type": "memory_denied", "n": 4}, at(4), None, POLICY)
        with store.read(TENANT) as reader:
            found = reader.traces(TENANT)
            assert [(trace["n"], trace["at"]) for trace in found] == [(1, at(1)), (2, at(2)), (3, at(3))]
            assert found[0]["policy_snapshot"] == found[2]["policy_snapshot"] == {"preset": "default"}
            assert "policy_snapshot" not in found[1]
            assert [trace["n"] for trace in reader.traces(TENANT, limit=2)] == [1, 2]
            assert [trace["n"] for trace in reader.traces(TENANT, after=found[0]["number"])] == [2, 3]
        with store.read("globex") as reader:
            assert [trace["n"] for trace in reader.traces("globex")] == [4]

    def test_traces_are_found_by_session_type_memory_and_time(self, store: Store) -> None:
        tea, coffee = memory_id("tea"), memory_id("coffee")
        with store.write(TENANT) as writer:
            for second, session, type, about in (
                (1, "s1", "memory_write", {"written": [{"id": tea}]}),
                (2, "s2", "memory_write", {"written": [{"id": coffee}]}),
                (3, None, "memory_forget", {"memory_id": tea}),
                (4, "s1", "memory_conflict", {"winner_id": coffee, "loser_id": tea}),
            ):
                writer.keep_trace(
                    TENANT, {"type": type, "session": session, "n": second, **about}, at(second), None, None
                )
        with store.read(TENANT) as reader:
            for wanted, expected in (
                (TracesWanted(session="s1"), [1, 4]),
                (TracesWanted(session='s1"'), []),
                (TracesWanted(type="memory_write"), [1, 2]),
                (TracesWanted(memory=tea), [1, 3, 4]),
                (TracesWanted(since=at(3)), [3, 4]),
                (TracesWanted(session="s1", type="memory_conflict", memory=coffee, since=at(2)), [4]),
            ):
                for latest in (False, True):
                    found = reader.traces(TENANT, 0, 10, wanted, latest=latest)
                    assert [trace["n"] for trace in found] == expected, wanted

    def test_pages_of_traces_lead_both_ways(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            for second in range(1, 8):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": second}, at(second), None, None)
        with store.read(TENANT) as reader:
            numbers = {trace["n"]: trace["number"] for trace in reader.traces(TENANT)}
            before = TracesWanted(before=numbers[6])
            assert [trace["n"] for trace in reader.traces(TENANT, limit=2, latest=True)] == [6, 7]
            assert [trace["n"] for trace in reader.traces(TENANT, 0, 2, before, latest=True)] == [4, 5]
            assert [trace["n"] for trace in reader.traces(TENANT, numbers[4], 9, before)] == [5]

    def test_a_recall_has_its_policy_under_its_own_name(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.keep_trace(TENANT, {"type": "memory_recall"}, at(1), None, POLICY)
        with store.read(TENANT) as reader:
            (found,) = reader.traces(TENANT)
            assert found["policy"] == {"preset": "default"} and "policy_snapshot" not in found

    def test_old_traces_go_and_so_do_those_beyond_the_limit(self, store: Store) -> None:
        with store.write("globex") as writer:
            writer.keep_trace("globex", {"type": "memory_write", "n": 0}, at(1), None, None)
        with store.write(TENANT) as writer:
            for second in range(1, 8):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": second}, at(second), None, None)
            assert writer.remove_old_traces(TENANT, at(3), None) == 2
            assert writer.remove_old_traces(TENANT, at(3), 5) == 0
            assert writer.remove_old_traces(TENANT, at(4), 2) == 3
            assert [trace["n"] for trace in writer.traces(TENANT)] == [6, 7]
            assert writer.remove_old_traces(TENANT, at(9), 2) == 2
        with store.read("globex") as reader:
            assert [trace["n"] for trace in reader.traces("globex")] == [0]

    def test_the_traces_of_a_stream_can_be_removed(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            for number, of in enumerate((stream.number, stream.number + 1, None)):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": number}, at(1), of, None)
            assert writer.remove_traces_of_stream(stream) == 1
        with store.read(TENANT) as reader:
            assert [trace["n"] for trace in reader.traces(TENANT)] == [1, 2]

    def test_an_answer_is_kept_for_its_retry(self, store: Store) -> None:
        answer = {
            "digest": "d" * 64,
            "salt": bytes([0, 255]),
            "outcome": "stored",
            "memory_id": memory_id("tea"),
            "reasons": ("identity:new", "naïve"),
            "at": at(1),
        }
        with store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key ' 1", answer)
        with store.read(TENANT) as reader:
            found = reader.retry(TENANT, "key ' 1")
            assert found is not None
            kept = {name: answer[name] for name in ("digest", "salt", "outcome", "memory_id")}
            assert {name: found[name] for name in kept} == kept
            assert list(found["reasons"]) == ["identity:new", "naïve"]
            assert reader.retry(TENANT, "Key ' 1") is None
            assert reader.retry("globex", "key ' 1") is None

    def test_a_retry_key_is_kept_once(self, store: Store) -> None:
        answer = {"digest": "d", "salt": b"s", "outcome": "stored", "memory_id": "m", "reasons": (), "at": at(1)}
        with store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key", answer)
        with store.write("globex") as writer:
            writer.keep_retry("globex", "key", answer)
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key", {**answer, "digest": "e"})
        with store.read(TENANT) as reader:
            found = reader.retry(TENANT, "key")
        assert found is not None and found["digest"] == "d"

    def test_accesses_are_added_up_and_the_last_one_is_the_latest(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = scribe.keep("tea"), scribe.keep("coffee")
        with store.write(TENANT) as writer:
            writer.count_accesses(TENANT, {tea: (2, at(20)), coffee: (1, at(20))})
            writer.count_accesses(TENANT, {tea: (1, at(10))})
            writer.count_accesses(TENANT, {})
        with store.write("globex") as writer:
            writer.count_accesses("globex", {tea: (1, at(30))})
        with store.read(TENANT) as reader:
            found = reader.by_ids(TENANT, [tea, coffee])
            assert (found[tea].accesses, found[tea].last_access) == (3, at(20))
            assert (found[coffee].accesses, found[coffee].last_access) == (1, at(20))

    def test_counting_accesses_moves_no_state(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea")
        with store.read(TENANT) as reader:
            before = (scribe.seen_by(reader), [s.state for s in reader.states(scribe.seen_by(reader))])
        with store.write(TENANT) as writer:
            writer.count_accesses(TENANT, {tea: (1, at(20))})
        with store.read(TENANT) as reader:
            assert (scribe.seen_by(reader), [s.state for s in reader.states(scribe.seen_by(reader))]) == before
