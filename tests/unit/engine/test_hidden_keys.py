"""Writing where something is that the writer may not know of: it stays as it is, and the answer says nothing of it.

An agent's list does not name the category of what is hidden. Everything that the agent does is done in several stores that
differ in what is hidden there, and every answer must be the same in all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.errors import RecollectError, WrongState
from support.script import open_seeded

POLICY: dict[str, Any] = {
    "agents": {"allowlists": {"planner": ["tasks", "general", "profile"], "chief": ["tasks", "secret"]}},
    "turns": {"short_term_window": 1},
    "traces": {"keep": "all"},
}
HIDDEN: dict[str, dict[str, Any]] = {
    "elsewhere": {},
    "other words": {"salary": "Ana's salary is 91234 euros", "vault": "The vault code of Ana house is kept by notary Dias"},
    "the same words, imposed": {"salary": "Ana's salary is 5 euros", "authority": "system_imposed",
                                "vault": "The vault code of Ana house is kept with notary Gomes"},
    "nearly the same, a guess": {"salary": "Ana's salary is 5.00 euros", "authority": "ai_inferred",
                                 "vault": "The vault code of the Ana house is kept with the notary Gomes"},
}  # fmt: skip
OTHERWISE = {
    "salary": "Whales sing in winter",
    "vault": "Copper bends before it breaks",
    "soon gone": "Trams stop at midnight",
    "desk": "Nine lamps burn by the harbour",
    "car": "Paper boats sink slowly",
}


class Place(NamedTuple):
    """Where stores are made anew, and how many of the days are tried there."""

    empty: Callable[[], str]
    days: int


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param == "sqlite":
        return Place(lambda: ":memory:", len(HIDDEN))
    server = request.getfixturevalue("postgres")
    url: str = request.getfixturevalue("server_store")

    def emptied() -> str:
        server.empty_database(url)
        return url

    return Place(emptied, 2)


def _planner(mem: Recollect) -> Recollect:
    return mem.as_caller(agent="planner", user="ana", session="s1", rights=["read", "write", "govern", "relay"])


def _hide(mem: Recollect, what: dict[str, Any], name: str, key: str | None, **fields: Any) -> str:
    """Something that the planner may not know of: of the planner's concept where ``what`` has words for it, or of another."""
    words = what.get(name, OTHERWISE[name])
    named = {"canonical_key": key if name in what else f"Other-{name}"} if key is not None else {}
    stated = {"authority": what["authority"]} if "authority" in what else {}
    receipt = mem.add(words, owner="ana", category="secret", source="user", **named, **stated, **fields)
    assert receipt.memory is not None and receipt.memory.category == "secret", receipt
    return receipt.memory.id


def _told(call: Callable[[], Any]) -> str:
    try:
        return repr(call())
    except RecollectError as error:
        return repr((type(error).__name__, error.to_dict()))


def _day(mem: Recollect, what: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What the planner is told of all that it does, and the ids of what was hidden meanwhile."""
    planner, said = _planner(mem), []

    def ask(call: Callable[[], Any]) -> Any:
        said.append(_told(call))

    def add(words: str, **fields: Any) -> str:
        receipt = planner.add(words, category="tasks", **fields)
        said.append(repr(receipt))
        assert receipt.memory is not None, receipt
        return receipt.memory.id

    hidden = [
        _hide(mem, what, "salary", "Ana-Salary"),
        _hide(mem, what, "vault", None),
        _hide(mem, what, "soon gone", "Soon-Gone", ttl_ticks=1),
    ]
    first = add("Ana's salary is 5 euros", canonical_key="Ana-Salary", idempotency_key="r1")
    add("Ana's salary is 5 euros", canonical_key="Ana-Salary", idempotency_key="r1")
    add("Ana's salary is 5 euros", canonical_key="Ana-Salary")
    second = add("Ana's salary is 6 euros", canonical_key="Ana-Salary", change="update")
    add("The vault code of Ana house is kept with notary Gomes")
    for id in (first, second):
        for look in (planner.get, planner.history, planner.chain, planner.explain, planner.related):
            ask(lambda look=look, id=id: look(id))  # type: ignore[misc]
    ask(lambda: planner.list(key="Ana-Salary", status=None))
    ask(lambda: planner.query("salary euros"))
    ask(lambda: planner.edit(second, pinned=True))
    ask(lambda: planner.archive(second))
    ask(lambda: planner.restore(second))
    away = add("The desk of Ana is in the hall", canonical_key="Ana-Desk")
    planner.archive(away)
    hidden.append(_hide(mem, {"desk": "The desk of Ana is in the attic"} if what else {}, "desk", "Ana-Desk"))
    ask(lambda: planner.restore(away))
    ask(lambda: planner.get(away))
    ours = mem.add("The car of Ana is red", owner="ana", category="tasks", canonical_key="Ana-Car", source="user")
    waiting = add("The car of Ana is blue", canonical_key="Ana-Car", change="contradiction")
    assert ours.memory is not None and planner.get(waiting).status == "contradictory"
    mem.archive(ours.memory.id)
    hidden.append(_hide(mem, {"car": "The car of Ana is green"} if what else {}, "car", "Ana-Car"))
    ask(lambda: planner.resolve(waiting, winner=hidden[0][:12]))
    ask(lambda: planner.resolve(waiting, winner=away))
    ask(lambda: planner.resolve(waiting, winner=waiting))
    town = {"town": "Ana lives in Lisbon"} if what else {}
    for space, owner in (("user", "ana"), ("session", "s1")):
        profile = {"key": "city" if what else "pronouns", "kind": "profile", "space": space, "owner": owner}
        kept = mem.add(town.get("town", "Ana goes by she and her"), category="secret", source="user", **profile).memory
        assert kept is not None
        hidden.append(kept.id)
    for words in ("I live in Porto.", "I no longer live in Lisbon.", "I like tea."):
        ask(lambda words=words: planner.turn(session="s1", user=words, ai="Noted."))  # type: ignore[misc]
    ask(planner.consolidate)
    ask(lambda: planner.traces(limit=1_000))
    ask(lambda: planner.events(limit=1_000))
    ask(lambda: planner.list(status=None, limit=1_000))
    assert not [id for id in hidden if id in "".join(said)], "no answer names what is hidden"
    return said, hidden


def test_every_answer_is_the_same_whatever_is_hidden(place: Place) -> None:
    answers = {}
    for name, what in [*HIDDEN.items()][: place.days]:
        with open_seeded(place.empty(), policy=POLICY) as mem:
            answers[name], hidden = _day(mem, what)
            _is_unharmed(mem, hidden)
    for name, told in answers.items():
        for one, other in zip(answers["elsewhere"], told, strict=True):
            assert one == other, name


def _is_unharmed(mem: Recollect, hidden: Sequence[str]) -> None:
    """What is hidden stands as it did, and the store is sound, also when what is derived is made anew."""
    stood = [one for id in hidden if (one := mem.get(id)).status != "soft_deleted"]
    assert len(stood) == len(hidden) - 1, "all but the one that expired"
    assert all(one.status == "active" and one.version == 1 and not one.conflict_ids for one in stood)
    live, state = mem.list(owner="ana", limit=1_000).items, mem.state_hash()
    assert mem.verify().ok
    mem.rebuild()
    assert mem.verify().ok and mem.state_hash() == state
    assert {one.id for one in mem.as_of(tick=10_000).list(owner="ana", limit=1_000).items} == {one.id for one in live}


@pytest.fixture
def mem(place: Place) -> Iterator[Recollect]:
    with recollect.open(place.empty(), policy=POLICY) as opened:
        yield opened


def test_whoever_sees_both_meets_the_one_of_its_category_and_is_told_one(mem: Recollect) -> None:
    chief = mem.as_caller(agent="chief", user="ana", rights=["read", "write"])
    secret = chief.add("Ana's salary is 91234 euros", category="secret", canonical_key="Ana-Salary").memory
    guess = _planner(mem).add("Ana's salary is 5 euros", category="tasks", canonical_key="Ana-Salary").memory
    assert secret is not None and guess is not None and guess.canonical_key == secret.canonical_key
    assert {one.id for one in chief.list(key="Ana-Salary").items} == {secret.id, guess.id}
    (told,) = mem.query("salary", owner="ana").items
    assert {told.memory.id, *told.shadowed} == {secret.id, guess.id}
    six = chief.add("Ana's salary is 6 euros", category="tasks", canonical_key="Ana-Salary", change="update").memory
    assert six is not None and six.supersedes_id == guess.id
    assert chief.get(secret.id).status == "active"


def test_what_is_kept_beside_another_is_met_again_when_the_other_is_gone(mem: Recollect) -> None:
    hidden = mem.add("Ana's salary is 91234 euros", owner="ana", category="secret", canonical_key="Ana-Salary").memory
    guess = _planner(mem).add("Ana's salary is 5 euros", category="tasks", canonical_key="Ana-Salary").memory
    assert hidden is not None and guess is not None
    mem.archive(hidden.id)
    said = mem.add(
        "Ana's salary is 6 euros", owner="ana", category="tasks", canonical_key="Ana-Salary", change="update"
    )
    assert said.memory is not None and said.memory.supersedes_id == guess.id
    with pytest.raises(WrongState, match="taken"):
        mem.restore(hidden.id)


def test_a_retry_is_not_told_what_was_hidden_since(mem: Recollect) -> None:
    planner = _planner(mem)
    asked = {"content": "Ana's salary is 5 euros", "category": "tasks", "idempotency_key": "r1"}
    first = planner.add(**asked).memory
    assert first is not None
    mem.edit(first.id, category="secret")
    again = planner.add(**asked)
    assert again.replayed and again.memory is None


def test_the_summary_of_a_session_holds_no_lines_that_its_readers_may_not_know_of(mem: Recollect) -> None:
    def line(words: str, **fields: Any) -> None:
        mem.add(words, kind="short_term", space="session", owner="s1", source="user", **fields)

    line("The notary is called Gomes", category="secret")
    line("The tea is green")
    for words in ("Good morning", "How are you?"):
        mem.turn(session="s1", owner="ana", user=words, ai="Fine.")
    (summary,) = [one for one in mem.list(owner="s1", space="session").items if "summary_of" in one.meta]
    assert "green" in summary.content and "Gomes" not in summary.content


def test_consolidation_takes_nothing_from_those_who_may_not_know_of_what_is_better(mem: Recollect) -> None:
    mem.add("The vault code of Ana house is kept with notary Gomes", owner="ana", category="secret", importance=5)
    _planner(mem).add("The vault code of the Ana house is kept with the notary Gomes", category="tasks")
    assert mem.consolidate().steps == ()


def test_no_answer_to_a_write_links_to_what_was_hidden(mem: Recollect) -> None:
    planner, named = _planner(mem), {"owner": "ana", "canonical_key": "Ana-Salary", "source": "user"}
    old = mem.add("Ana's salary is 91234 euros", category="secret", **named).memory
    new = mem.add("Ana's salary is 5 euros", category="tasks", change="update", **named).memory
    assert old is not None and new is not None and new.supersedes_id == old.id
    waiting = planner.add("Ana's salary is 6 euros", category="tasks", canonical_key="Ana-Salary").memory
    assert waiting is not None and waiting.conflict_ids == (new.id,)
    told = [
        repr(planner.add("Ana's salary is 5 euros", category="tasks", canonical_key="Ana-Salary")),
        repr(planner.edit(new.id, pinned=True)),
    ]
    mem.edit(new.id, category="secret")
    told += [_told(lambda: planner.resolve(waiting.id, winner=new.id)), repr(planner.edit(waiting.id, pinned=True))]
    other = planner.add("The desk of Ana is in the hall", category="tasks").memory
    assert other is not None
    told.append(_told(lambda: planner.resolve(waiting.id, winner=other.id)))
    assert "neither side" in told[-1] and waiting.id in told[-1]
    told.append(repr(planner.resolve(waiting.id, winner=waiting.id)))
    for hidden in (old.id, old.content_hash):
        assert hidden not in "".join(told)
    assert new.id not in "".join(told[3:]), "nor after it was hidden"
    assert mem.get(new.id).status == "active" and mem.verify().ok
