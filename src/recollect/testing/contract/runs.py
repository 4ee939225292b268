"""Check runs of language models: calls, sources, sums for the limits, proposals, and what removing a source leaves."""

from typing import Any

from recollect.model.run import ModelCall, StoredProposal, StoredRun
from recollect.rules.model_budget import Spent
from recollect.stores.protocol import Store
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, at, memory_id

NEWEST = ("~", "")


def run(id: str, second: int = 1, **fields: Any) -> StoredRun:
    made = StoredRun(id, "extract", 1, at(second), None, "running", "", b"key of " + id.encode())
    return made._replace(**fields)


def call(run_id: str, number: int = 1, *sources: str, **fields: Any) -> ModelCall:
    tokens: dict[str, Any] = {
        "calls": 1,
        "prompt_tokens": 100,
        "answer_tokens": 20,
        "estimated": False,
        "cost_millionths": 7,
    }
    made = ModelCall(
        run_id, number, at(number), "extract", "extract", 1, "seal", sources, "tiny", 50, 0.5, None, **tokens,
        duration_ms=9, outcome="answered",
    )  # fmt: skip
    return made._replace(**fields)


def proposal(id: str, run_id: str = "r1", **fields: Any) -> StoredProposal:
    made = StoredProposal(id, run_id, at(1), "extract", 1, "fact", "waiting", "", None, None, (), "{}")
    return made._replace(**fields)


class RunsContract(StoreUnderTest):
    """``model_runs`` and what belongs to them."""

    def test_a_run_comes_back_and_only_how_it_ended_changes(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.put_model_run(TENANT, run("r1"))
            ended = run("r1", ended_at=at(3), outcome="limited", reason="model:run_limit", secret=b"another")
            writer.put_model_run(TENANT, ended)
            writer.put_model_run(TENANT, run("r2", 2, job="insights", stream=4))
        with store.read(TENANT) as reader:
            both = [run("r2", 2, job="insights", stream=4), ended._replace(secret=b"key of r1")]
            assert reader.model_runs(TENANT, 10, NEWEST) == both
            assert reader.model_runs(TENANT, 1, NEWEST) == both[:1]
            assert reader.model_runs(TENANT, 9, (at(2), "r2")) == both[1:]
            assert reader.model_runs(TENANT, 9, NEWEST, job="insights") == both[:1]
            assert reader.model_runs(TENANT, 9, NEWEST, stream=1) == both[1:]
            assert reader.model_runs_like(TENANT, "r") == both[::-1] and reader.model_runs_like(TENANT, "%") == []
        with store.read("globex") as reader:
            assert reader.model_runs("globex", 10, NEWEST) == []

    def test_a_run_that_was_undone_stays_so(self, store: Store) -> None:
        undone = run("r1", outcome="undone")
        with store.write(TENANT) as writer:
            writer.put_model_run(TENANT, run("r1"))
            writer.put_model_run(TENANT, undone)
            writer.put_model_run(TENANT, run("r1", ended_at=at(3), outcome="done"))
            assert writer.locked_run(TENANT, "r1") == undone
            assert writer.locked_run(TENANT, "r") is None

    def test_a_call_is_settled_and_keeps_its_sources(self, store: Store) -> None:
        asked = call("r1", 1, "b", "a", outcome="asked", answer_tokens=900, estimated=True)
        with store.write(TENANT) as writer:
            writer.put_model_run(TENANT, run("r1"))
            writer.put_model_call(TENANT, asked)
        with store.read(TENANT) as reader:
            assert reader.model_calls(TENANT, "r1") == [asked._replace(source_ids=("a", "b"))]
            assert not reader.was_read_by(TENANT, "extract", "a"), "nobody knows yet what came of it"
        with store.write(TENANT) as writer:
            writer.put_model_call(TENANT, call("r1", 1))
        with store.read(TENANT) as reader:
            assert reader.model_calls(TENANT, "r1") == [call("r1", 1, "a", "b")]
            assert reader.was_read_by(TENANT, "extract", "a") and not reader.was_read_by(TENANT, "insights", "a")
            assert reader.last_model_call(TENANT, 1, "extract", at(0)) == at(1)
            assert reader.last_model_call(TENANT, 1, "extract", at(2)) is None

    def test_what_was_spent_is_summed_by_run_tenant_and_day(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.lock_spending()
            for number in (1, 2):
                writer.put_model_call(TENANT, call("r1", number))
            writer.put_model_call(TENANT, call("r2", 3))
            writer.add_spending(at(1)[:10], Spent(300, 60, 21))
            writer.add_spending(at(1)[:10], Spent(-100, -10, -1))
        with store.write("globex") as writer:
            writer.add_spending(at(1)[:10], Spent(1, 2, 3))
            sums = writer.spent("globex", "r1", at(0))
            assert sums == (Spent(), Spent(), Spent(201, 52, 23)), "everybody's day, and nobody else's calls"
        with store.read(TENANT) as reader:
            assert reader.spent(TENANT, "r1", at(2))[:2] == (Spent(200, 40, 14), Spent(200, 40, 14))

    def test_proposals_are_found_by_run_by_id_and_while_they_wait(self, store: Store) -> None:
        pair = proposal("p2", body=None, status="noted", pair="a b 0.71", job="consolidate", at=at(4))
        every = [proposal("p1", sources=("a", "b")), pair, proposal("p3", "r2", stream=2, pair="a c 0.50")]
        with store.write(TENANT) as writer:
            writer.put_model_proposals(TENANT, every)
        with store.read(TENANT) as reader:
            assert reader.proposals_of_run(TENANT, "r1") == every[:2]
            assert reader.proposals_like(TENANT, "p3") == every[2:]
            assert reader.proposals_waiting(TENANT) == [every[0], every[2]]
            assert reader.proposals_waiting(TENANT, 1) == every[:1] and reader.proposals_waiting(TENANT, 3) == []
            assert reader.count_proposals(TENANT, 1, "extract", at(0)) == 1
            assert reader.count_proposals(TENANT, 1, "extract", at(0), "applied") == 0
            assert reader.pairs_since(TENANT, 1, "consolidate", at(4)) == {"a b 0.71"}
            assert reader.pairs_since(TENANT, 1, "consolidate", at(5)) == set()
            assert reader.pairs_since(TENANT, 2, "extract", at(9)) == {"a c 0.50"}, "what waits is not compared again"

    def test_removing_a_source_leaves_counts_and_no_words(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea")
        with store.write(TENANT, [scribe.address]) as writer:
            for id in ("r1", "r2"):
                writer.put_model_run(TENANT, run(id))
            writer.put_model_call(TENANT, call("r1", 1, tea, "other"))
            writer.put_model_proposals(TENANT, [proposal("p1", sources=(tea,)), proposal("p2", sources=("other",))])
            stream = scribe.stream(writer)
            number = writer.by_ids(TENANT, [tea])[tea].number
            writer.remove_content(stream, number, tea)
        with store.read(TENANT) as reader:
            secrets = {one.id: one.secret for one in reader.model_runs(TENANT, 9, NEWEST)}
            assert secrets == {"r1": None, "r2": b"key of r2"}
            assert reader.model_calls(TENANT, "r1") == [call("r1", 1, "other")]
            assert [one.id for one in reader.proposals_waiting(TENANT)] == ["p2"]
            (erased,) = reader.proposals_like(TENANT, "p1")
            assert (erased.status, erased.reason, erased.body) == ("erased", "model:source_erased", None)
        assert tea == memory_id("tea")

    def test_old_runs_go_unless_something_waits(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            for second, id in enumerate(("r1", "r2", "r3"), start=1):
                writer.put_model_run(TENANT, run(id, second))
                writer.put_model_call(TENANT, call(id, 1, "a"))
            writer.put_model_proposals(TENANT, [proposal("p1", "r1"), proposal("p2", "r2", body=None)])
            writer.remove_runs_before(TENANT, at(3))
        with store.read(TENANT) as reader:
            assert [one.id for one in reader.model_runs(TENANT, 9, NEWEST)] == ["r3", "r1"]
            assert (reader.model_calls(TENANT, "r2"), reader.proposals_of_run(TENANT, "r2")) == ([], [])
