"""Two clients of one knowledge graph: whoever comes second finds what the first one made, or that it is gone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

import recollect
from recollect.engine.context import Engine
from recollect.engine.lifecycle import changes
from recollect.engine.transfer import knowledge_graph
from recollect.engine.transfer.knowledge_graph import (
    Deleted,
    Observations,
    add_observations,
    create_entities,
    create_relations,
    delete_entities,
    delete_observations,
    delete_relations,
    whole_graph,
)
from recollect.engine.write import ingest
from recollect.rules.knowledge_graph import Entity, Graph, Relation
from support.postgres_server import PostgresServer

T = TypeVar("T")
ANA, BEN = Entity("Ana", "person"), Entity("Ben", "person")
KNOWS = Relation("Ana", "Ben", "knows")
ROUNDS = 5


@pytest.fixture(params=["sqlite", "postgres"])
def clients(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    """Two clients of the same empty store, on each engine in turn."""
    location = str(tmp_path / "memory.db")
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        location = server.url("plain_store")
        server.empty_database(location)
    with ExitStack() as stack:
        one, other = (stack.enter_context(recollect.open(location)) for _ in range(2))
        yield one.engine, other.engine


def just_before(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]) -> None:
    """Have another client act after this one has looked and before it writes, once."""
    writes, acts = getattr(module, name), [act]

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        if acts:
            acts.pop()()
        return writes(*args, **kwargs)

    monkeypatch.setattr(module, name, overtaken)


def at_once(*acts: Callable[[], T]) -> list[T]:
    """What each of these returns when all of them start at the same moment."""
    start, answers = threading.Barrier(len(acts)), list[Any]([None] * len(acts))

    def run(number: int) -> None:
        start.wait()
        try:
            answers[number] = acts[number]()
        except Exception as error:  # noqa: BLE001 - the test compares it with what should have been answered
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_an_entity_that_another_made_meanwhile_is_left_as_it_is(
    clients: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = clients
    theirs = Entity("Ana", "ship", ("Sails on Friday",))
    just_before(monkeypatch, ingest, "add_many", lambda: create_entities(other, [theirs]))
    made = create_entities(one, [Entity("Ana", "person", ("Likes tea",)), Entity("Ben", "person", ("Likes milk",))])
    assert made.parts == (Entity("Ben", "person", ("Likes milk",)),) and len(made.receipts) == 2
    assert whole_graph(one) == Graph((theirs, Entity("Ben", "person", ("Likes milk",))))


def test_of_two_clients_that_make_the_same_at_once_one_makes_it(clients: tuple[Engine, Engine]) -> None:
    entities = []
    for number in range(ROUNDS):
        wanted = [Entity(f"Ana {number}", f"type {client}", (f"seen by {client}",)) for client in (1, 2)]
        made = at_once(*(lambda c=c, w=w: create_entities(c, [w]) for c, w in zip(clients, wanted, strict=True)))
        (winner,) = made[0].parts + made[1].parts
        entities.append(winner)
        assert winner in wanted and whole_graph(clients[0]) == Graph(tuple(entities))
    relations = []
    for number in range(ROUNDS):
        related = Relation("Ana 0", "Ana 1", f"knows {number}")
        linked = at_once(*(lambda c=c, r=related: create_relations(c, [r]) for c in clients))
        assert linked[0].parts + linked[1].parts == (related,)
        relations.append(related)
    assert whole_graph(clients[1]) == Graph(tuple(entities), tuple(relations))


def test_nothing_is_added_to_what_another_deleted_meanwhile(
    clients: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = clients
    acts: list[Callable[[], object]] = [
        lambda: create_relations(one, [KNOWS]),
        lambda: add_observations(one, [Observations("Ana", ["Likes tea"])]),
    ]
    for act in acts:
        create_entities(one, [ANA, BEN])
        with monkeypatch.context() as patch, pytest.raises(recollect.NotFound, match="there is no entity 'Ana'"):
            just_before(patch, ingest, "add_many", lambda: delete_entities(other, ["Ana"]))
            act()
        assert whole_graph(one) == Graph((BEN,))


def test_what_another_deleted_meanwhile_is_not_counted(
    clients: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = clients
    create_entities(one, [ANA, BEN])
    create_relations(one, [KNOWS])
    with monkeypatch.context() as patch:
        just_before(patch, changes, "forget", lambda: delete_relations(other, [KNOWS]))
        assert delete_relations(one, [KNOWS]) == Deleted(0, 1)
    with monkeypatch.context() as patch:
        just_before(patch, changes, "forget", lambda: delete_entities(other, ["Ana"]))
        assert delete_entities(one, ["Ana", "Ben"]) == Deleted(1, 2, ("Ana",))
    assert whole_graph(one) == Graph()


def test_what_changed_meanwhile_is_deleted_as_it_is_now(
    clients: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = clients
    create_entities(one, [ANA])
    changed = knowledge_graph.graph.entity_fields(Entity("Ana", "ship"))
    just_before(monkeypatch, changes, "forget", lambda: ingest.add(other, {**changed, "change": "update"}))
    assert delete_entities(one, ["Ana"]) == Deleted(1, 1)
    assert whole_graph(one) == Graph()


def test_a_graph_is_made_and_taken_apart(clients: tuple[Engine, Engine]) -> None:
    one, other = clients
    assert create_entities(one, [ANA, BEN, Entity("Ana", "ship")]).parts == (ANA, BEN)
    assert create_entities(other, [ANA]).parts == () and create_entities(other, []).parts == ()
    assert create_relations(one, [KNOWS, KNOWS]).parts == (KNOWS,)
    parts = [
        Observations("Ana", ["Likes tea", "Likes tea"]),
        Observations("Ben", []),
        Observations("Ana", ["Likes tea"]),
    ]
    assert add_observations(one, parts).parts == (("Ana", ["Likes tea"]), ("Ben", []), ("Ana", []))
    assert whole_graph(other) == Graph((Entity("Ana", "person", ("Likes tea",)), BEN), (KNOWS,))
    gone = [Observations("Ana", ["Likes tea"]), Observations("Cid", ["Sings"])]
    assert delete_observations(one, gone) == Deleted(1, 2, ("Cid",))
    assert delete_relations(one, [KNOWS]) == Deleted(1, 1)
    assert whole_graph(one) == Graph((ANA, BEN))
