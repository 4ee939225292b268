"""Two people, every operation: nothing crosses, and what is another's looks exactly like what is not there."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from recollect.interfaces.python import Recollect
from recollect.model.errors import NotAllowed, NotFound, RecollectError
from rows import every_row
from support.invariants import EVERYWHERE
from support.script import START, canonical_state, open_seeded

MISSING = "7d7d7d7d-1111-5222-8333-444444444444"
ANAS_WORDS = ("Ana keeps her savings under the blue mattress", "Ana is moving to Lisbon in spring")
OTHER_WORDS = (
    "Zoe collects antique barometers from Norway",
    "Zoe hardly ever eats breakfast",
    "Breakfast in Lisbon",
    "Savings",
)


def _fill(mem: Recollect, words: tuple[str, ...]) -> None:
    """Ana's memories in every place that is hers, then Ben's in his, the system's, and whatever else Ana has to say."""
    ana = mem.as_caller(user="ana", agent="planner", session="s-ana", projects=["apollo", "gemini"])
    ana.add(words[0], canonical_key="Savings-Place", idempotency_key="first")
    ana.add(f"{words[0]}, or so she says", canonical_key="Savings-Place", change="update")
    ana.add(words[1], scope="planner")
    ana.add(words[1], space="session", owner="s-ana")
    ana.add(words[1], space="project", owner="gemini")
    mem.archive(ana.add(f"{words[0]} no more", canonical_key="Old-News").memory.id)  # type: ignore[union-attr]
    ben = mem.as_caller(user="ben", session="s-ben")
    ben.add("Ben says hello", space="session")
    ben.add("Ben hides nothing, not even his savings", canonical_key="Savings-Place")
    ben.add("Ben likes barometers and breakfast in Lisbon")
    mem.add("Everybody speaks softly here", space="system", owner="house")
    for more in words[2:]:
        ana.add(more, kind="episodic")


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with open_seeded() as opened:
        _fill(opened, ANAS_WORDS)
        yield opened


@pytest.fixture
def ben(mem: Recollect) -> Recollect:
    return mem.as_caller(user="ben", agent="coder", session="s-ben", projects=["apollo"])


def _foreign(mem: Recollect) -> list[str]:
    everything = mem.list(status=None, include_namespaces=EVERYWHERE, limit=1_000).items
    return [memory.id for memory in everything if memory.owner in ("ana", "s-ana", "gemini")]


ON_AN_ID: dict[str, Callable[[Recollect, str], object]] = {
    "get": lambda mem, id: mem.get(id),
    "history": lambda mem, id: mem.history(id),
    "chain": lambda mem, id: mem.chain(id),
    "explain": lambda mem, id: mem.explain(id),
    "related": lambda mem, id: mem.related(id),
    "vouchers": lambda mem, id: mem.vouchers(id),
    "as_of": lambda mem, id: mem.as_of(tick=100).get(id),
    "edit": lambda mem, id: mem.edit(id, pinned=True),
    "archive": lambda mem, id: mem.archive(id),
    "forget": lambda mem, id: mem.forget(id),
    "restore": lambda mem, id: mem.restore(id),
    "resolve": lambda mem, id: mem.resolve(id, winner=id),
    "erase": lambda mem, id: mem.erase(id=id),
}


def _answer(call: Callable[[], object], id: str) -> tuple[Any, ...]:
    """Everything that an error says, with the id taken out."""
    try:
        call()
    except RecollectError as error:
        said = [str(part).replace(id, "…") for part in (error.message, error.field, error.hint)]
        return type(error), error.code, error.exit_code, *said
    raise AssertionError("this should have been refused")


@every_row("rights", [("read",), ("read", "write"), ("read", "write", "erase", "govern", "operate")])
@every_row("operation", ON_AN_ID)
def test_a_foreign_id_looks_exactly_like_a_missing_one(mem: Recollect, operation: str, rights: tuple[str, ...]) -> None:
    ben = mem.as_caller(user="ben", rights=rights)
    act, before = ON_AN_ID[operation], list(canonical_state(mem._engine))
    for id in _foreign(mem):
        for form in (id, id[:13], id.replace("-", "")[:12]):
            expected = _answer(lambda: act(ben, MISSING), MISSING)
            assert _answer(lambda form=form: act(ben, form), form) == expected  # type: ignore[misc]
    assert list(canonical_state(mem._engine)) == before


def test_a_foreign_winner_looks_exactly_like_a_missing_one(mem: Recollect) -> None:
    ben = mem.as_caller(user="ben")
    mem.add(
        "Ben hides all of it",
        owner="ben",
        canonical_key="Savings-Place",
        change="contradiction",
        authority="ai_inferred",
    )
    (waiting,) = ben.list(status="contradictory").items
    expected = _answer(lambda: ben.resolve(waiting.id, winner=MISSING), MISSING)
    for id in _foreign(mem):
        assert _answer(lambda id=id: ben.resolve(waiting.id, winner=id), id) == expected  # type: ignore[misc]


READS: dict[str, Callable[[Recollect], object]] = {
    "list": lambda mem: mem.list(status=None, include_namespaces=EVERYWHERE),
    "list of then": lambda mem: mem.as_of(tick=100).list(status=None, include_namespaces=EVERYWHERE),
    "query of then": lambda mem: mem.as_of(tick=100).query("savings bank", owner="ana"),
    "phases of ana": lambda mem: mem.phases(space="user", owner="ana"),
    "list_all": lambda mem: mem.list_all(status=None, include_namespaces=EVERYWHERE),
    "list_all of ana": lambda mem: mem.list_all(owner="ana", status=None),
    "list of ana": lambda mem: mem.list(owner="ana", status=None),
    "list of the session": lambda mem: mem.list(owner="s-ana", space="session"),
    "list of the project": lambda mem: mem.list(owner="gemini", space="project"),
    "list of planner's": lambda mem: mem.list(scope="planner"),
    "list by key": lambda mem: mem.list(key="Savings-Place", status=None),
    "query": lambda mem: mem.query("savings under the blue bed", include_namespaces=EVERYWHERE, top_k=100),
    "query of ana": lambda mem: mem.query("savings", owner="ana"),
    "query for what both say": lambda mem: mem.query("Lisbon barometers breakfast"),
    "snapshot": lambda mem: mem.snapshot_block(),
    "snapshot of ana": lambda mem: mem.snapshot_block(owner="ana"),
    "block": lambda mem: mem.memory_block("savings in Lisbon"),
    "block of ana": lambda mem: mem.memory_block("savings in Lisbon", owner="ana"),
    "header": lambda mem: mem.change_header(thread="t1"),
    "header of ana": lambda mem: mem.change_header(owner="ana", space="user", since=0),
    "recall for a turn": lambda mem: mem.recall_for(session="s-ben", user="savings in Lisbon", project="gemini"),
    "recall for ana": lambda mem: mem.recall_for(session="s-ben", user="savings in Lisbon", owner="ana"),
    "recall in ana's session": lambda mem: mem.recall_for(session="s-ana", user="savings in Lisbon"),
    "stats": lambda mem: mem.stats(),
    "own record": lambda mem: mem.history(owner="ben"),
    "record of ana": lambda mem: mem.history(owner="ana"),
    "export": lambda mem: list(mem.export(include_namespaces=EVERYWHERE, status=None)),
    "export as a vault": lambda mem: list(mem.export(format="vault", include_namespaces=EVERYWHERE, status=None)),
    "export of ana": lambda mem: list(mem.export(owner="ana", status=None)),
    "own history": lambda mem: mem.history(mem.list(key="Savings-Place").items[0].id),
    "outdated": lambda mem: mem.outdated(conflicts=True),
    "own relations": lambda mem: [mem.related(memory.id) for memory in mem.list().items],
    "query with history": lambda mem: mem.query("savings in Lisbon", history=True, top_k=100),
    "own explanation": lambda mem: mem.explain(mem.list(key="Savings-Place").items[0].id),
}
WRITES: dict[str, Callable[[Recollect], object]] = {
    "to ana": lambda mem: mem.add("Ana owes Ben money", owner="ana"),
    "a turn in ana's session": lambda mem: mem.turn(session="s-ana", user="I live in Rome. I love tea.", ai="Good."),
    "a turn about ana": lambda mem: mem.turn(session="s-ben", user="I live in Rome. I love tea.", owner="ana"),
    "a turn for ana's project": lambda mem: mem.turn(
        session="s-ben", user="Remember this for the project: the launch is on Friday.", project="gemini"
    ),
    "a turn of his own": lambda mem: mem.record(session="s-ben", user="I live in Rome. I love tea.", ai="Good."),
    "to ana's session": lambda mem: mem.add("Ana owes Ben money", owner="s-ana", space="session"),
    "to ana's project": lambda mem: mem.add("Ana owes Ben money", owner="gemini", space="project"),
    "to the system": lambda mem: mem.add("Ben rules", owner="house", space="system"),
    "to planner's scope": lambda mem: mem.add("Ben rules", scope="planner"),
    "as the operator": lambda mem: mem.add("Ben rules", source="operator"),
    "as another": lambda mem: mem.add("Ben rules", user_id="ana"),
    "under ana's key": lambda mem: mem.add("Ben moved his savings", canonical_key="Savings-Place"),
    "ana's very words": lambda mem: mem.add(ANAS_WORDS[0]),
    "many": lambda mem: mem.add_many([{"content": "Ana owes Ben money", "owner": "ana"}, {"content": "Ben is well"}]),
    "import": lambda mem: mem.import_(['{"content": "Ana owes Ben money", "owner": "ana"}']),
    "under ana's idempotency key": lambda mem: mem.add("Ben is fine", idempotency_key="first"),
    "erase ana": lambda mem: mem.erase(owner="ana"),
    "upkeep": lambda mem: mem.upkeep(),
    "link his own": lambda mem: mem.link(mem.list().items[0].id, mem.list().items[1].id),
    "unlink his own": lambda mem: mem.unlink(mem.list().items[0].id, mem.list().items[1].id),
    "reindex": lambda mem: mem.reindex("none"),
    "consolidate": lambda mem: mem.consolidate(force=True),
    "undo": lambda mem: mem.consolidate(undo=True),
    "rekey": lambda mem: mem.rekey(force=True),
    "rebuild": lambda mem: mem.rebuild(),
    "verify": lambda mem: mem.verify(),
    "doctor": lambda mem: mem.doctor(),
    "traces": lambda mem: mem.traces(),
    "explain the last turn": lambda mem: mem.explain(),
    "become ana": lambda mem: mem.as_caller(user="ana"),
    "look through the planner's eyes": lambda mem: mem.query("savings", agent="planner"),
}


def _outcome(call: Callable[[Recollect], object], mem: Recollect) -> str:
    try:
        found = call(mem)
        return repr(list(found) if isinstance(found, Iterator) else found)
    except RecollectError as error:
        return repr((type(error), error.to_dict()))


NO_LINKS = {"identity": {"flag": False}}
"""Each link of Ana's draws a salt, and how many she has depends on her words: Ben's drawn ids would differ, and say nothing."""


def _told_ben(calls: dict[str, Callable[[Recollect], object]]) -> None:
    """Compare two stores that differ in Ana's words alone: Ben cannot tell them apart, and nothing of hers moves."""
    told = []
    for words in (ANAS_WORDS, OTHER_WORDS):
        with open_seeded(policy=NO_LINKS) as mem:
            _fill(mem, words)
            mem._engine.clock.now = START + timedelta(hours=1)  # type: ignore[attr-defined]
            ben = mem.as_caller(user="ben", agent="coder", session="s-ben", projects=["apollo"])
            before = _lines_of_ana(mem)
            told.append({name: _outcome(call, ben) for name, call in calls.items()})
            assert _lines_of_ana(mem) == before
            assert mem.verify().ok
    assert told[0] == told[1], "the same to the last digit of a score"
    for name, answer in told[0].items():
        words_of_hers = [word for word in ("mattress", "spring", "Norway", "hardly") if word in answer]
        assert name == "ana's very words" or not words_of_hers, name


def test_what_ben_reads_is_the_same_whatever_ana_keeps() -> None:
    _told_ben(READS)


@pytest.mark.parametrize("name", WRITES)
def test_what_a_write_of_bens_tells_him_is_the_same_whatever_ana_keeps(name: str) -> None:
    _told_ben({name: WRITES[name]})


def _lines_of_ana(mem: Recollect) -> list[str]:
    """The canonical lines of Ana's streams, and of the system's."""
    lines, hers = [], False
    for line in canonical_state(mem._engine):
        if line.startswith('["stream"'):
            hers = any(f'"{owner}"' in line for owner in ("ana", "s-ana", "gemini", "house"))
        lines += [line] if hers else []
    return lines


REFUSED = (
    "erase ana",
    "upkeep",
    "consolidate",
    "undo",
    "rekey",
    "rebuild",
    "verify",
    "doctor",
    "traces",
    "explain the last turn",
    "become ana",
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_takes_a_right_is_refused_without_it(ben: Recollect, name: str) -> None:
    with pytest.raises(NotAllowed):
        WRITES[name](ben)


def test_writes_across_a_border_are_denied_and_say_which(ben: Recollect) -> None:
    denials = {
        "to ana": "border:not_your_space",
        "to ana's session": "border:not_your_space",
        "to ana's project": "border:not_your_space",
        "to the system": "border:not_your_space",
        "to planner's scope": "border:not_your_scope",
        "as the operator": "border:source_not_yours",
    }
    for name, code in denials.items():
        receipt: Any = WRITES[name](ben)
        assert receipt.denied and receipt.reasons == (code,)


def test_an_idempotency_key_is_the_callers_own(ben: Recollect) -> None:
    """Ana used it too. Whether she did is none of Ben's business, and must not stop him."""
    receipt = ben.add("Ben is fine", idempotency_key="first")
    assert (receipt.outcome, receipt.replayed) == ("stored", False)


def test_an_alias_does_not_betray_a_foreign_id(mem: Recollect, ben: Recollect) -> None:
    """Ben gives a memory of his an alias; it is found by it, whether or not somebody else's id begins like that."""
    foreign = _foreign(mem)[0]
    for alias in (foreign, foreign[:8], MISSING, MISSING[:8]):
        own = ben.add(f"Ben writes down {alias} for later", aliases=[alias], kind="episodic").memory
        assert own is not None
        assert ben.get(alias).id == own.id


def test_an_agent_sees_what_is_shared_and_what_is_its_own(mem: Recollect) -> None:
    for scope in ("shared", "planner", "coder"):
        mem.add(f"The {scope} drawer holds a compass", owner="cleo", scope=scope, canonical_key=f"Drawer-Of-{scope}")
    expected = {None: {"shared"}, "planner": {"shared", "planner"}, "coder": {"shared", "coder"}, "other": {"shared"}}
    for agent, scopes in expected.items():
        seen = mem.as_caller(user="cleo", agent=agent)
        assert {memory.scope for memory in seen.list(owner="cleo").items} == scopes
        assert {item.memory.scope for item in seen.query("drawer compass").items} == scopes
        assert seen.stats()["memories"] == len(scopes) + len(seen.list(space="system").items)
        for scope in ("planner", "coder"):
            hidden = mem.list(key=f"Drawer-Of-{scope}").items[0].id
            if scope not in scopes:
                with pytest.raises(NotFound):
                    seen.get(hidden)


def test_the_application_may_look_through_an_agents_eyes(mem: Recollect) -> None:
    mem.add("The planner's drawer holds a compass", owner="cleo", scope="planner")
    assert [item.memory.scope for item in mem.query("compass", owner="cleo", agent="planner").items] == ["planner"]
    assert mem.query("compass", owner="cleo", agent="coder").items == ()
    assert [item.memory.scope for item in mem.query("compass", owner="cleo").items] == ["planner"]


def test_what_many_others_have_does_not_crowd_out_what_one_may_see(mem: Recollect) -> None:
    others = [{"content": f"zebra {n}", "owner": "cleo", "scope": "coder", "kind": "episodic"} for n in range(200)]
    mem.add_many(others)
    mem.add("Somewhere in a long and winding sentence about animals there is a zebra", owner="cleo")
    assert len(mem.as_caller(user="cleo").query("zebra").items) == 1
