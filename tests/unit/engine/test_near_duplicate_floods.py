"""Many memories that are almost alike: the one that says the same is still found, and the rest stay apart."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.rules.identity.difference import differences_between


@pytest.fixture(scope="module")
def flooded() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:") as mem:
        mem.add_many([{"content": f"The value of sensor {n} is high today", "owner": "ana"} for n in range(150)])
        assert len(mem.list(owner="ana", limit=1_000).items) == 150
        yield mem


def test_the_same_statement_is_found_among_hundreds_that_differ_by_a_number(flooded: recollect.Recollect) -> None:
    for number in (0, 3, 77, 149):
        again = flooded.add(f"The value of sensor {number} is high today!", owner="ana")
        assert (again.outcome, again.memory and again.memory.content) == (
            "reinforced",
            f"The value of sensor {number} is high today",
        )
    assert flooded.add("The value of sensor 150 is high today", owner="ana").outcome == "stored"


def test_a_write_reads_only_the_closest_few(flooded: recollect.Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def counting(*args: object) -> object:
        compared.append(args)
        return differences_between(*args)  # type: ignore[arg-type]

    monkeypatch.setattr("recollect.rules.identity.likeness.differences_between", counting)
    flooded.add("The value of sensor 900 is high today", owner="ana")
    assert 0 < len(compared) <= 20
