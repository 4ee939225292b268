"""What somebody asks may hold what no store takes. It fails nobody else's write, and takes no other row with it."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.engine.waiting import TraceRow, waiting_rows
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput
from recollect.model.operation import Node, Op, Operation

POLICY = {"traces": {"keep": "all"}}
AT = "2026-01-01T12:00:00.000000Z"


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest) -> Iterator[Recollect]:
    location = ":memory:" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(location, policy=POLICY) as opened:
        yield opened


def _asked(mem: Recollect) -> list[str]:
    return [event["query"] for event in mem.traces(type="memory_recall", limit=100)]


@pytest.mark.parametrize("odd", ["\ud800", "\udcff", "\x00", "\x1b"], ids=ascii)
def test_a_question_that_cannot_be_written_is_told_as_far_as_it_can(mem: Recollect, odd: str) -> None:
    answer = mem.query(f"tea {odd}")
    assert mem.add("Ana likes tea", owner="ana").outcome == "stored"
    assert mem.query(f"tea {odd}").items, "it is still answered"
    assert _asked(mem) == ["tea \ufffd", "tea \ufffd"]
    assert answer.events[-1]["query"] == "tea \ufffd", "the caller is told what is kept"


def test_a_row_that_cannot_be_written_is_given_up_alone(mem: Recollect) -> None:
    mem.query("before")
    rows = waiting_rows(mem.engine)
    rows.note("default", TraceRow({"type": "memory_recall", "session": "\ud800"}, AT, None, None))
    rows.note("default", TraceRow({"type": "memory_recall", "query": float("nan")}, AT, None, None))
    rows.note("default", Operation(AT, "ana", "half \ud800", Node.CONTEXT, Op.SEARCH))
    mem.query("after")
    assert mem.add("Ana likes tea", owner="ana").outcome == "stored"
    assert _asked(mem) == ["before", "after"]
    searches = [one for one in mem.events(op="search", limit=100).items if one.node is Node.CONTEXT]
    assert len(searches) == 2, "of what was asked, and none twice"


def test_an_assistant_goes_by_a_name_that_can_be_written(mem: Recollect) -> None:
    with pytest.raises(BadInput) as refused:
        mem.as_caller(user="ana", ai_profile="half \ud800")
    assert refused.value.field == "ai_profile"
