"""How often PostgreSQL is waited for: what a round trip costs, a network decides, so their number is what we can keep small."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from rows import every_row
from support.round_trips import Trips, counted_trips

SAID = [
    "Ana prefers tea without sugar",
    "Ana works at the harbour in Porto",
    "The backup of the wiki runs at 3 am",
    "Ben keeps two grey cats",
    "The wiki moved to the new server in May",
    "Lena plays the cello on Sundays",
]
ASKED = ["what does Ana drink?", "when does the backup of the wiki run?", "who has cats?", "what happens on Sundays?"]


@pytest.fixture
def trips() -> Iterator[Trips]:
    with counted_trips() as counted:
        yield counted


@pytest.fixture
def mem(server_store: str) -> Iterator[Any]:
    with recollect.open(server_store) as opened:
        opened.add_many([{"content": f"{text}, year {year}", "owner": "ana"} for text in SAID for year in range(8)])
        opened.query("to begin with", owner="ana")
        yield opened


def test_a_query_makes_three_round_trips(mem: Any, trips: Trips) -> None:
    """The search with the streams, the memories that are compared, and the end of the snapshot."""
    for question in ASKED:
        assert trips.of(lambda question=question: mem.query(question, owner="ana")) == 3


@every_row(
    "how",
    [
        {"budget_tokens": 200},
        {"form": "bullets", "top_k": 20},
        {"space": "user", "filters": {"importance_min": 1}},
        {"threshold": 0.1},
    ],
)
def test_so_it_does_however_it_is_asked(mem: Any, trips: Trips, how: dict[str, Any]) -> None:
    assert trips.of(lambda: mem.query(ASKED[0], owner="ana", **how)) == 3


def test_a_query_after_a_write_reads_the_new_vectors_along(mem: Any, trips: Trips, server_store: str) -> None:
    with recollect.open(server_store) as elsewhere:
        elsewhere.add("Ana now drinks coffee", owner="ana")
    found: list[Any] = []
    assert trips.of(lambda: found.append(mem.query("coffee", owner="ana"))) == 3
    assert found[0].items[0].memory.content == "Ana now drinks coffee"


def test_a_query_of_a_bound_caller(mem: Any, trips: Trips) -> None:
    """Of their own streams, the session's and the person's, whichever of them hold a key that another has, too."""
    bound = mem.as_caller(agent="helper", user="ana", session="s1")
    bound.turn(session="s1", user="I sold the boat. I live in Porto.")
    bound.query(ASKED[0])
    for question in ASKED:
        assert trips.of(lambda question=question: bound.query(question)) <= 3


def test_a_query_over_everybody(mem: Any, trips: Trips) -> None:
    for number in range(5):
        mem.add(f"Owner {number} keeps bees", owner=f"owner {number}")
    mem.query("bees")
    assert trips.of(lambda: mem.query("who keeps bees?")) == 3


def test_a_query_that_finds_nothing_does_not_look_further(mem: Any, trips: Trips) -> None:
    assert trips.of(lambda: mem.query("zyzzyva", owner="ben")) == 2


def test_an_add_makes_five_round_trips(mem: Any, trips: Trips) -> None:
    """Two before the lock, then the lock, what the memory may meet, and the commit. What resembles others costs more."""
    for text in ("The ferry to Almada leaves at noon", "Ines repairs old radios"):
        assert trips.of(lambda text=text: mem.add(text, owner="ana")) == 5
    assert trips.of(lambda: mem.add("Ana prefers tea without sugar, year 9", owner="ana")) <= 10


def test_a_turn_recalls_and_writes_in_a_few_round_trips(mem: Any, trips: Trips) -> None:
    said = ["I moved to Porto.", "What do I drink?", "My sister Lena plays the cello.", "Never use emojis."]
    for text in said:
        mem.turn(session="s1", owner="ana", user=text, ai="Understood.")
    mem.recall_for(session="s1", owner="ana", user="What do I drink?")
    recall = trips.of(lambda: mem.recall_for(session="s1", owner="ana", user="What does Lena play?"))
    assert recall == 3, "as many as a query: the lines of the session that came since the last look are passed over"
    mem.recall_for(session="s2", owner="ana", user="What do I drink?")
    assert trips.of(lambda: mem.recall_for(session="s2", owner="ana", user="What does Lena play?")) == 3
    turns = [trips.of(lambda text=text: mem.turn(session="s1", owner="ana", user=text, ai="Yes.")) for text in said]
    assert max(turns) <= 14, turns


def test_a_query_among_lines_of_conversations_and_what_was_replaced(mem: Any, trips: Trips) -> None:
    """Many of the nearest may not be told, others hold the same keys in several streams, and lines have neighbours."""
    for day in range(4):
        for text in SAID:
            mem.turn(session=f"day {day}", owner="ana", user=f"{text}, I think. I live in town {day}.", ai="Noted.")
    asked = [*ASKED, "where do I live?", "what does Lena play?"]
    mem.query(asked[0]), mem.recall_for(session="day 3", owner="ana", user=asked[0])
    for question in asked:
        assert trips.of(lambda question=question: mem.query(question)) == 3
        assert trips.of(lambda question=question: mem.query(question, owner="ana")) == 3
        recall = trips.of(lambda question=question: mem.recall_for(session="day 3", owner="ana", user=question))
        assert recall <= 4, question


def test_so_it_does_if_the_answer_took_the_place_of_another(mem: Any, trips: Trips) -> None:
    old = mem.add("CI runs on CircleCI and takes about 14 minutes", owner="ana").memory
    new = mem.add("Pipelines run in GitHub Actions (about 6 min); CircleCI is gone", owner="ana").memory
    mem.supersede(old.id, by=new.id)
    mem.query("to begin with", owner="ana")
    found: list[Any] = []
    asked = {"owner": "ana", "threshold": 0, "top_k": 1}
    assert trips.of(lambda: found.append(mem.query("What is the CI system?", **asked))) == 3
    assert found[0].items[0].memory.id == new.id


def test_so_it_does_if_something_later_may_outdate_the_best_answer(mem: Any, trips: Trips) -> None:
    """What was said to be over comes with its answer, and what comes with it is read with what is compared."""
    mem.add("The tests run on CircleCI", owner="ana")
    mem.add("CircleCI is gone", owner="ana")
    mem.query("where do the tests run?", owner="ana")
    found: list[Any] = []
    assert trips.of(lambda: found.append(mem.query("Which server runs the tests?", owner="ana", top_k=3))) == 3
    contents = [item.memory.content for item in found[0].items]
    assert contents.index("CircleCI is gone") == contents.index("The tests run on CircleCI") + 1
