"""A budget holds for the answer in the form in which it is given, and what it has no room for is not called missing."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.embed.static import count_tokens
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput
from recollect.model.receipt import as_written
from rows import every_row
from support.script import open_seeded


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with open_seeded() as mem:  # ids of other stores take other tokens
        for number in range(12):
            mem.add(
                f"Deploy note {number}: step {number} is done by team {number}", owner="ana", title=f"Note {number}"
            )
        yield mem


def asked(mem: Recollect, **how: Any) -> Any:
    return TOOLS["memory_query"].call(mem, {"text": "deploy step", "owner": "ana", "top_k": 12, **how})


@every_row("shape", ["bullets", "full"])
@every_row("budget", [120, 900, 3_000])
@every_row("history", [False, True])
def test_the_items_of_an_answer_over_mcp_take_no_more_than_the_budget(
    mem: Recollect, shape: str, budget: int, history: bool
) -> None:
    answer = asked(mem, form=shape, budget_tokens=budget, history=history)
    assert count_tokens(answer.text) <= budget
    assert bool(answer.values["items"]) == (shape == "bullets" or budget > 120)


def test_small_records_leave_room_for_more_of_them(mem: Recollect) -> None:
    told = [len(asked(mem, form=shape, budget_tokens=2_000).values["items"]) for shape in ("bullets", "full")]
    assert told[0] > told[1] > 0


def test_too_small_a_budget_is_not_the_same_as_nothing_found(mem: Recollect) -> None:
    answer = mem.query("deploy step", owner="ana", top_k=3, budget_tokens=3)
    assert (answer.items, answer.no_room, answer.abstained) == ((), 3, False)
    nothing = mem.query("volcanoes of Iceland", owner="ana", budget_tokens=3)
    assert (nothing.items, nothing.no_room, nothing.abstained) == ((), 0, True)
    said = asked(mem, budget_tokens=3, top_k=3)
    assert said.notes == ("3 more have to do with it, for which budget_tokens has no room.",)
    assert said.values.pop("confidence") > 0.5
    assert said.values == {"items": [], "abstained": False, "no_room": 3, "header": ""}


def test_a_form_that_does_not_exist_is_refused(mem: Recollect) -> None:
    with pytest.raises(BadInput, match="form"):
        mem.query("deploy", form="poem")  # type: ignore[arg-type]


TASKS: dict[str, Any] = {"categories": {"system": [{"name": "tasks", "context": "rag", "rag_length": 1}]}}


def test_a_category_gives_no_more_than_its_share_to_a_turn_or_as_what_is_related() -> None:
    with recollect.open(":memory:", policy=TASKS) as mem:
        for number, what in enumerate(("garden", "greenhouse", "hedge")):
            text = f"Water the {what} of the house on Monday"
            mem.add(text, owner="ana", category="tasks", canonical_key=f"Water-{number}")
        told = mem.query("water on Monday", owner="ana", top_k=5).items
        assert len(told) == 1 and told[0].related == ()
        recalled = mem.recall_for(session="s1", user="What do I water on Monday?", owner="ana")
        assert len([item for item in recalled.items if item.memory.category == "tasks"]) == 1


@pytest.mark.parametrize("form", ["text", "bullets", "full"])
def test_no_budget_is_ever_exceeded(mem: Recollect, form: Any) -> None:
    """Whatever stands together, with what is told along: ids differ from store to store, and so do their tokens."""
    mem.add("Deploy note 3: step 3 is undone by team 9", owner="ana", title="Note 3", change="update")
    for budget in (*range(10, 400, 7), *range(400, 4_000, 301)):
        answer = mem.query("deploy step", owner="ana", top_k=12, budget_tokens=budget, form=form, history=True)
        assert count_tokens(as_written(answer.items, form)) <= budget
        assert len(answer.items) + answer.no_room == 12
