"""A small house to look at: people, a conversation, a contradiction, proposals, sources, phases and refusals."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import recollect
from models.server import MODEL, serving
from models.test_pairs import LISBON, PORTO, judge
from recollect import Memory, Recollect
from support.determinism import SeededRandomness, SteppingClock


@dataclass
class House:
    """A filled store, and the ids of what the tests look for."""

    memory: Recollect
    kind: str
    home: str
    port: str
    guess: str
    report: str
    summary: str
    rejected: str
    proposal: str
    forgotten: str


def fill(memory: Recollect) -> House:
    """Fill an empty store."""
    said = _Saying(memory)
    said("Ana lives in Lisbon")
    home = said("Ana now lives in Porto")
    said("Ana prefers tea over coffee", tags=["food", "morning"])
    said("Ana is allergic to peanuts", importance=5)
    said("The greenhouse opens at 9 am", owner="garden", space="project")
    port = said("The API port is 8080", title="api port")
    guess = said("The API port is 9090", title="api port", source="agent", author="planner")
    report = said("The March report counts 1,240 visitors", source="tool")
    summary = said("Visitors rose by a tenth in March", parent_refs=[report.content_hash], source="agent")
    said("Spring was a success", parent_refs=[summary.content_hash], source="agent")
    said("Backups run on Borg and take about 40 minutes")
    said("Nightly copies go through Restic (about 9 min); Borg is gone")
    wrong = said("Ana owns a red Volvo")
    memory.reject(wrong.id, "she never had a car")
    forgotten = said("The plumber comes on Tuesday")
    memory.forget(forgotten.id)
    agent = memory.as_caller(agent="planner", user="ana")
    agent.add("Ana's preferred name is Annie", kind="profile", key="preferred_name", owner="ana")
    proposal = memory.consent()[0]
    memory.add("My password is hunter2-Zx9Q", owner="ana")
    memory.turn(session="s1", user="I moved to Porto, and I like fado", ai="Noted, Porto it is.", owner="ana")
    memory.turn(session="s1", user="What do I like to drink?", ai="Tea.", owner="ana")
    memory.start_phase(name="spring", space="session", owner="s1")
    memory.turn(session="s1", user="I like green tea best", ai="Good choice.", owner="ana")
    memory.vouch(home.id, by="planner", confidence=0.9)
    said(LISBON, owner="villa")
    said(PORTO, owner="villa")
    memory.upkeep(job="consolidate", owner="villa")
    memory.checkpoint()
    kind = "postgres" if str(memory.stats()["store"]).startswith("postgres") else "sqlite"
    ids = (home.id, port.id, guess.id, report.id, summary.id, wrong.id, proposal.id, forgotten.id)
    return House(memory, kind, *ids)


class _Saying:
    def __init__(self, memory: Recollect) -> None:
        self._memory = memory

    def __call__(self, words: str, **fields: object) -> Memory:
        given = {"owner": "ana", "source": "user", **fields}
        receipt = self._memory.add(words, **given)  # type: ignore[arg-type]
        assert receipt.memory is not None, receipt
        return receipt.memory


@contextmanager
def opened(where: str) -> Iterator[Recollect]:
    """Open a store that keeps every trace, with a language model that takes each of two alike for an update of the other."""
    clock = SteppingClock(datetime(2026, 3, 2, 9, tzinfo=UTC), timedelta(minutes=7))
    with serving(judge("update")) as server:
        model = {"endpoint": server.endpoint, "name": MODEL, "max_retries": 0}
        policy = {"traces": {"keep": "all"}, "model": model}
        with recollect.open(where, policy=policy, clock=clock, randomness=SeededRandomness(7)) as memory:
            yield memory
