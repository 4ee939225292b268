"""After a rejection no sequence of an agent's ways in, of upkeep and of imports brings the value back."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from support.machine import SqlitePlace

LEA = "Ana has a sister called Lea"
CONTROL = "Ana has a cousin called Kim"
SPELLINGS = (
    LEA,
    "ANA HAS A SISTER CALLED LEA",
    "Ana's sister is called Lea.",
    "My sister's name is Lea",
    "\u0410na h\u0430s a sister called Le\u200ba",
    "She told me. Ana has a sister called  Lea!",
    "Ana has a sister. The sister is called Lea.",
    "Her sister's name is Lea",
)
EVERY_RIGHT_BUT_THE_PERSONS = ("read", "write", "relay", "erase")


def _ways(mem: Any, text: str, n: int) -> dict[str, Any]:
    """Each way in that an agent, a tool or a file has, by name."""
    bot = mem.as_caller(user="ana", agent="planner", session="s1", rights=EVERY_RIGHT_BUT_THE_PERSONS)
    known = [one.id for one in mem.list(status=None, owner=None, limit=1000, space=["user", "session"]).items]
    some = known[n % len(known)] if known else "ffffffff"
    return {
        "add": lambda: bot.add(text),
        "as the user": lambda: bot.add(text, source="user"),
        "titled": lambda: bot.add(text, title=f"Title {n}"),
        "as an event": lambda: bot.add(text, kind="episodic"),
        "in the session": lambda: bot.add(text, space="session"),
        "as test data": lambda: bot.add(text, namespace="test"),
        "for itself": lambda: bot.add(text, scope="planner"),
        "many": lambda: bot.add_many([{"content": text}, {"content": f"Filler number {n}"}]),
        "update": lambda: bot.update(some, text),
        "supersedes": lambda: bot.add(text, supersedes=some),
        "turn": lambda: bot.turn(session="s1", user=text, ai=text, tools=[{"name": "crm", "output": text}]),
        "restore": lambda: bot.restore(some),
        "resolve": lambda: bot.resolve(some, winner=some),
        "promote": lambda: bot.promote(some, "user"),
        "archive": lambda: bot.archive(some),
        "forget": lambda: bot.forget(some),
        "import": lambda: mem.import_([json.dumps({"content": text, "owner": "ana"})]),
        "tool": lambda: mem.add(text, owner="ana", source="tool"),
        "upkeep": mem.upkeep,
        "consolidate": lambda: mem.consolidate(force=True),
        "undo": lambda: mem.consolidate(undo=True),
        "rebuild": mem.rebuild,
    }


NAMES = tuple(_ways(recollect.open(":memory:"), LEA, 0))
steps = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(SPELLINGS), st.integers(0, 30)), max_size=12)


def _check(mem: Any, script: list[tuple[str, str, int]]) -> None:
    ana = mem.as_caller(user="ana", session="s1")
    ana.add(CONTROL)
    mem.add(LEA, owner="ana", source="agent", kind="insight")
    ana.reject(ana.add(LEA).memory.id)
    for name, text, number in script:
        with contextlib.suppress(recollect.Refused):
            _ways(mem, text, number)[name]()
    everywhere = ("prod", "test", "ephemeral")
    found = mem.list(owner=None, space=["user", "session"], include_namespaces=everywhere, limit=1000).items
    assert not [one.content for one in found if "le" in one.content.casefold() and "sister" in one.content.casefold()]
    assert len(mem.rejections()) == 1 and mem.verify().ok
    assert mem.get(ana.add(CONTROL).memory.id).status == "active", "the control can always be said"


@settings(max_examples=400 if os.environ.get("RECOLLECT_TORTURE") else 15)
@given(script=steps)
def test_no_sequence_of_an_agents_ways_in_brings_it_back(script: list[tuple[str, str, int]]) -> None:
    place = SqlitePlace()
    try:
        with place.open() as mem:
            _check(mem, script)
    finally:
        place.discard()


@pytest.mark.parametrize("where", ["server", "journal"])
def test_every_way_in_turn_on_the_other_stores(where: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue("server_store") if where == "server" else tmp_path / "vault.jsonl"
    with recollect.open(place, policy="default") as mem:
        _check(mem, [(name, SPELLINGS[n % len(SPELLINGS)], n) for n, name in enumerate(NAMES)])
    with recollect.open(place, policy="default") as mem:
        bot = mem.as_caller(user="ana", agent="planner")
        assert bot.add(LEA).reasons == ("rejected:value",) and len(mem.rejections()) == 1
