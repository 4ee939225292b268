"""The worker: rounds find their work in the ledger, share tenants by leases, and neither lose nor repeat anything."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.upkeep import worker
from recollect.model.errors import BadInput, NotAllowed, StoreCorrupt
from recollect.model.operation import JobReport, Round, RoundOutcome
from recollect.rules.time.slots import last_slot
from support.determinism import SeededRandomness

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
OWNERS = ("ana", "ben", "cat")
BOUNDS = worker.Bounds(timedelta(hours=24), timedelta(minutes=60), timedelta(minutes=10))


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(place: Any, clock: Clock, seed: int = 1, policy: Any = "default") -> recollect.Recollect:
    return recollect.open(place, clock=clock, randomness=SeededRandomness(seed), embedder="none", policy=policy)


def fill(memory: recollect.Recollect, *owners: str) -> None:
    """Give each owner two notes that mean the same, and one that is about to expire."""
    for owner in owners:
        memory.add("The deploy key is rotated every month", owner=owner, title="Deploy key", importance=5)
        memory.add("The deploy key is rotated every month.", owner=owner, title="Key of deploys", importance=5)
        memory.add("The lift is broken", owner=owner, expires_at=START + timedelta(minutes=1))


def heads(memory: recollect.Recollect) -> list[tuple[str, int, str]]:
    """Return how far each stream's ledger is, and its hash."""
    with memory.engine.read() as reader:
        return [(one.uid, one.last_seq, one.head) for one in reader.streams_of(memory.engine.tenant)]


def entries(memory: recollect.Recollect) -> Counter[str]:
    """Count what the ledger says happened."""
    with memory.engine.read() as reader:
        streams = reader.streams_of(memory.engine.tenant)
        return Counter(str(entry.event) for stream in streams for entry in reader.entries(stream))


def behind(memory: recollect.Recollect, job: str) -> int:
    with memory.engine.read() as reader:
        return len(reader.streams_behind(memory.engine.tenant, job))


def jobs_of(done: Round) -> dict[str, JobReport]:
    return {f"{one.job}:{one.by}": one for one in done.jobs}


def test_a_round_expires_consolidates_and_removes_old_events(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory:
        fill(memory, *OWNERS)
        clock.move(days=100)
        (done,) = memory.worker(once=True)
        assert done.outcome is RoundOutcome.DONE and not done.failed
        reports = jobs_of(done)
        assert reports["upkeep:rules"].changes["expired"] == len(OWNERS)
        assert reports["consolidate:rules"].changes["redundant"] == len(OWNERS)
        nodes = Counter((one.node, one.op) for one in memory.events(limit=1_000))
        assert nodes["worker", "ttl"] >= len(OWNERS) and nodes["worker", "merge"] == len(OWNERS)
        assert {one.node for one in memory.events(limit=1_000)} == {"worker"}, "events of 100 days ago are gone"


def test_a_round_removes_old_traces_and_says_how_far_it_is(place: Any, clock: Clock) -> None:
    told: list[tuple[str, str, int, int]] = []
    with opened(place, clock, policy={"traces": {"keep": "all", "keep_days": 30}}) as memory:
        fill(memory, *OWNERS)
        before = {str(event) for event in memory.traces(limit=1_000).items}
        assert before
        clock.move(days=31)
        memory.worker(once=True, progress=lambda tenant, job, done, total: told.append((tenant, job, done, total)))
        after = {str(event) for event in memory.traces(limit=1_000).items}
        assert after and not before & after, "what was kept of 31 days ago is gone, what the worker did is there"
    assert {(tenant, job) for tenant, job, _, _ in told} >= {("default", "upkeep"), ("default", "consolidate")}
    assert all(0 < done <= total for _, _, done, total in told)


def test_a_second_round_changes_nothing(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory:
        fill(memory, *OWNERS)
        clock.move(minutes=5)
        memory.worker(once=True)
        before = heads(memory)
        for _ in range(2):
            (done,) = memory.worker(once=True)
            assert all(not report.changes for report in done.jobs)
        assert heads(memory) == before
        assert behind(memory, "consolidate:rules") == 0, "what the job wrote itself was looked at and left alone"
        memory.add("Ana moved to Oslo", owner="ana")
        (done,) = memory.worker(once=True)
        assert jobs_of(done)["consolidate:rules"].waiting == 1, "only what the ledger moved is looked at"


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("crash_at", [1, 2, 4, 5, 6])
def test_a_crash_between_the_work_and_the_cursor_neither_loses_nor_repeats_work(
    crash_at: int, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    move, moves = worker.Tenure.move, 0

    def dying(*arguments: Any) -> None:
        nonlocal moves
        moves += 1
        if moves == crash_at:
            raise Crash
        move(*arguments)

    with opened(tmp_path / "whole.db", clock) as whole, opened(tmp_path / "cut.db", clock) as cut:
        for memory in (whole, cut):
            fill(memory, *OWNERS)
        clock.move(minutes=5)
        whole.worker(once=True)
        monkeypatch.setattr(worker.Tenure, "move", dying)
        monkeypatch.setattr(worker.Tenure, "renew", lambda *_: None)  # a dead process gives no lease back
        with pytest.raises(Crash):
            cut.worker(once=True)
        monkeypatch.undo()
        (refused,) = cut.worker(once=True)
        assert refused.outcome is RoundOutcome.BUSY, "the dead worker's lease still holds"
        clock.move(minutes=10)
        (again,) = cut.worker(once=True)
        assert again.outcome is RoundOutcome.DONE
        assert entries(cut) == entries(whole)
        clock.move(minutes=10)
        cut.worker(once=True)
        assert behind(cut, "consolidate:rules") == behind(cut, "upkeep:rules") == 0


def test_a_crash_before_the_work_loses_nothing(place: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def dying(*_: Any, **__: Any) -> None:
        raise Crash

    with opened(place, clock) as memory:
        fill(memory, *OWNERS)
        monkeypatch.setattr(worker.consolidation, "consolidate", dying)
        with pytest.raises(Crash):
            memory.worker(once=True)
        monkeypatch.undo()
        (done,) = memory.worker(once=True)
        assert jobs_of(done)["consolidate:rules"].changes["redundant"] == len(OWNERS)


def test_a_tenant_is_one_workers_at_a_time(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory, opened(place, clock, seed=2) as other:
        fill(memory, *OWNERS)
        meanwhile: list[Round] = []
        first = memory.worker(once=True, progress=lambda *_: meanwhile.extend(other.worker(once=True)))
        assert [one.outcome for one in first] == [RoundOutcome.DONE]
        assert meanwhile and {one.outcome for one in meanwhile} == {RoundOutcome.BUSY}
        assert [one.outcome for one in other.worker(once=True)] == [RoundOutcome.DONE], "and then the other's"


def test_a_worker_that_was_silent_too_long_is_relieved_and_moves_no_cursor(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory, opened(place, clock, seed=2) as other:
        fill(memory, *OWNERS)
        relief: list[Round] = []

        def fall_asleep(tenant: str, job: str, done: int, total: int) -> None:
            if job == "consolidate" and not relief:
                clock.move(minutes=11)
                relief.extend(other.worker(once=True))

        (first,) = memory.worker(once=True, progress=fall_asleep)
        assert [one.outcome for one in relief] == [RoundOutcome.DONE]
        assert first.outcome is RoundOutcome.TAKEN_OVER
        assert jobs_of(first)["consolidate:rules"].streams == 1
        assert entries(memory)["consolidated"] == len(OWNERS), "nothing was done twice"
        assert [one.status for one in memory.list(status="redundant", limit=50)] == ["redundant"] * len(OWNERS)
        memory.worker(once=True)
        assert behind(memory, "consolidate:rules") == 0


def test_a_clock_that_was_a_year_ahead_keeps_no_tenant_waiting(
    place: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(place, clock) as memory, opened(place, clock, seed=2) as other:
        fill(memory, *OWNERS)
        clock.move(days=365)
        memory.worker(once=True)
        clock.move(days=-365)
        with worker.open_worker(other.engine) as at_work:
            assert worker.find_due(at_work, ["default"]) == ["default"]
        clock.move(days=365)
        monkeypatch.setattr(worker, "_run_jobs", lambda _: (_ for _ in ()).throw(Crash))
        monkeypatch.setattr(worker.Tenure, "renew", lambda *_: None)  # a dead process gives no lease back
        with pytest.raises(Crash):
            memory.worker(once=True)
        monkeypatch.undo()
        clock.move(days=-365)
        assert [one.outcome for one in other.worker(once=True)] == [RoundOutcome.DONE]


def test_a_lease_is_renewed_while_there_is_progress(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory, opened(place, clock, seed=2) as other:
        fill(memory, *OWNERS)
        meanwhile: list[Round] = []

        def slowly(*_: Any) -> None:
            clock.move(minutes=8)
            meanwhile.extend(other.worker(once=True))

        (done,) = memory.worker(once=True, max_minutes=600, progress=slowly)
        assert done.outcome is RoundOutcome.DONE
        assert {one.outcome for one in meanwhile} == {RoundOutcome.BUSY}


def test_a_round_that_takes_too_long_ends_and_the_next_goes_on(place: Any, clock: Clock) -> None:
    with opened(place, clock) as memory:
        fill(memory, *OWNERS)
        clock.move(minutes=5)
        looked: list[int] = []
        for _ in range(4):
            (done,) = memory.worker(
                once=True, jobs=["consolidate"], max_minutes=1, progress=lambda *_: clock.move(minutes=2)
            )
            looked.append(jobs_of(done)["consolidate:rules"].streams)
            if done.outcome is RoundOutcome.DONE:
                break
            assert done.outcome is RoundOutcome.OUT_OF_TIME
        assert looked[:3] == [1, 1, 1]
        assert len(memory.list(status="redundant", limit=50)) == len(OWNERS)


def test_a_stream_that_fails_is_tried_again_and_keeps_nobody_waiting(
    place: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(place, clock) as memory:
        fill(memory, *OWNERS)
        consolidate = worker.consolidation.consolidate

        def failing(engine: Any, *, stream: int, force: bool) -> Any:
            if stream == 1:
                raise StoreCorrupt("its pages are damaged.", hint="Restore it.")
            return consolidate(engine, stream=stream, force=force)

        monkeypatch.setattr(worker.consolidation, "consolidate", failing)
        (done,) = memory.worker(once=True)
        report = jobs_of(done)["consolidate:rules"]
        assert done.failed and [(one.stream, one.code) for one in report.failures] == [(1, StoreCorrupt.code)]
        assert report.changes["redundant"] == len(OWNERS) - 1
        monkeypatch.undo()
        (done,) = memory.worker(once=True)
        assert jobs_of(done)["consolidate:rules"].changes["redundant"] == 1


def test_each_tenant_has_its_turn_at_a_time_of_its_own(place: Any, clock: Clock) -> None:
    tenants = ["acme", "default", "globex", "initech"]
    with opened(place, clock) as memory:
        for tenant in tenants:
            worker_view = recollect.Recollect(memory.engine.seen_by(recollect.Caller(tenant=tenant)), owns_store=False)
            fill(worker_view, "ana")
        rounds: list[Round] = []
        until = START + timedelta(days=3)

        def wait(seconds: float) -> bool:
            clock.move(seconds=max(seconds, 1))
            return clock.now >= until

        with worker.open_worker(memory.engine, bounds=BOUNDS) as at_work:
            worker.work_forever(at_work, tenants, rounds.append, wait)
        times = {name: [one.started_at for one in rounds if one.tenant == name] for name in tenants}
        for tenant, started in times.items():
            assert started[0].startswith("2026-03-01T12:00"), "a tenant that never had a round has one at once"
            slots = [last_slot(tenant, START + timedelta(days=day), BOUNDS.every) for day in (1, 2, 3)]
            assert [one[:16] for one in started[1:]] == [slot.isoformat()[:16] for slot in slots]
        assert len({started[1] for started in times.values()}) == len(tenants), "they are spread over the day"


def test_a_worker_that_is_told_to_end_gives_its_tenant_back(place: Any, clock: Clock) -> None:
    from threading import Event

    with opened(place, clock) as memory, opened(place, clock, seed=2) as other:
        fill(memory, *OWNERS)
        stop = Event()
        rounds: list[Round] = []
        assert memory.worker(stop=stop, progress=lambda *_: stop.set(), each=rounds.append) == ()
        assert [one.outcome for one in rounds] == [RoundOutcome.STOPPED]
        with worker.open_worker(other.engine) as at_work:
            assert worker.find_due(at_work, ["default"]) == ["default"], "its round has not come to its end"
        assert [one.outcome for one in other.worker(once=True)] == [RoundOutcome.DONE]


def test_what_a_worker_may_not_do_and_what_makes_no_sense_is_refused(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path / "memory.db", clock) as memory:
        for bound in (memory.as_caller(user="ana"), memory.as_caller(user="ana", rights=list(recollect.Right))):
            with pytest.raises(NotAllowed):
                bound.worker(once=True, tenants=["another"])
        for settings in (
            {"jobs": ["dance"]},
            {"every_hours": 0},
            {"max_minutes": 0},
            {"lease_s": 0},
            {"tenants": "x"},
            {"tenants": ["ghost"]},
        ):
            with pytest.raises(BadInput) as refused:
                memory.worker(once=True, **settings)
            assert refused.value.field == next(iter(settings))
