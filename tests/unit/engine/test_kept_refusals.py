"""Which closed borders a query's refusals are kept of: those that somebody asked to cross, and no others."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.model.caller import Right


@pytest.fixture
def mem() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:") as opened:
        opened.add("Ana likes tea", owner="ana")
        yield opened


def _kept(mem: recollect.Recollect) -> list[str]:
    return [str(kept["from_space"]) for kept in mem.traces(type="memory_border_check")]


def test_a_space_that_nobody_named_is_passed_over(mem: recollect.Recollect) -> None:
    ana = mem.as_caller(user="ana")
    for asked in (ana.query("tea"), ana.query("tea", owner="ana")):
        assert [event["allowed"] for event in asked.events[:-1]] == [False, True, False, True], "the caller is told"
    assert _kept(mem) == []


def test_somebody_elses_memory_is_refused(mem: recollect.Recollect) -> None:
    mem.as_caller(user="ben").query("tea", owner="ana")
    assert set(_kept(mem)) == {"session", "user", "project"}


def test_a_space_that_was_named_is_refused(mem: recollect.Recollect) -> None:
    mem.as_caller(user="ana").query("tea", space="project")
    assert _kept(mem) == ["project"]


def test_whoever_may_read_nothing_is_refused(mem: recollect.Recollect) -> None:
    mem.as_caller(user="ana", rights={Right.WRITE}).query("tea")
    assert len(_kept(mem)) == 4


def test_where_every_event_is_kept_these_are_too() -> None:
    with recollect.open(":memory:", policy={"traces": {"keep": "all"}}) as mem:
        mem.as_caller(user="ana").query("tea")
        assert len(_kept(mem)) == 4
