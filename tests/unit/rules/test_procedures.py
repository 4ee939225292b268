"""Procedures: what counts as numbered steps in the imperative, where they are kept, and who comes upon them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.record import MAX_CONTENT_BYTES
from recollect.rules.gates.draft import Rejection
from recollect.rules.gates.procedures import Procedure, detect, read_steps
from rows import every_row

WATERING = "1. Fill the can\n2. Pour slowly"


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with recollect.open(":memory:") as opened:
        yield opened


@every_row(
    ("text", "steps"),
    [
        (WATERING, ("Fill the can", "Pour slowly")),
        ("1) Fill the can\n2) Pour slowly", ("Fill the can", "Pour slowly")),
        ("Step 1: Fill the can\nStep 2: Pour slowly", ("Fill the can", "Pour slowly")),
        ("1.Fill the can\n\n2.Pour slowly\n", ("Fill the can", "Pour slowly")),
        ("1. Fill the can\n   to the brim\n2. Pour slowly", ("Fill the can to the brim", "Pour slowly")),
        ("1. Run `make`", ("Run `make`",)),
        ("1. `make test`\n2. $ git push", ("`make test`", "$ git push")),
        ("Fill the can\nPour slowly", ("Fill the can", "Pour slowly")),
        ("- Fill the can\n* Pour slowly", ("Fill the can", "Pour slowly")),
        ("To reset the boiler, hold the red button", ("To reset the boiler, hold the red button",)),
        ("1. Öffne das Ventil\n2. Schließe es wieder", ("Öffne das Ventil", "Schließe es wieder")),
        ("1. 開く\n2. 閉じる", ("開く", "閉じる")),
    ],
)
def test_steps_are_read_from_every_usual_form(text: str, steps: tuple[str, ...]) -> None:
    assert read_steps(text, 30) == Procedure(None, steps)


@every_row(
    ("heading", "title"),
    [
        ("How to water the plants:", "water the plants"),
        ("Watering the plants", "Watering the plants"),
        ("Releasing the app:", "Releasing the app"),
        ("## Schlüssel tauschen", "Schlüssel tauschen"),
        ("**Rotate the keys**", "Rotate the keys"),
    ],
)
def test_the_line_above_the_steps_is_their_heading(heading: str, title: str) -> None:
    assert read_steps(f"{heading}\n{WATERING}", 30) == Procedure(title, ("Fill the can", "Pour slowly"))


@every_row(
    "step",
    [
        "Open the valve",
        "Please open the valve",
        "Then carefully open the valve",
        "Do not open the valve",
        "Don’t open the valve",
        "Never open the valve",
        "Do the dishes",
        "If the light is red, open the valve",
        "When it beeps, and only then, open the valve",
        "For each file, open it",
        "In the portal, choose Year 10",
        "Feed the cat",
        "Bring the key",
        "Frobnicate the widget",
    ],
)
def test_an_instruction_is_accepted_however_it_opens(step: str) -> None:
    assert read_steps(f"1. {step}", 30) == Procedure(None, (step,))


@every_row(
    "step",
    [
        "The valve is open",
        "I open the valve",
        "You should open the valve",
        "Ana waters the plants",
        "Opening the valve",
        "Opened the valve",
        "Mail goes to Eve",
        "It depends",
        "There is a valve",
        "Kubernetes is great",
        "If the light is red, the valve is open",
        "What to do",
    ],
)
def test_a_statement_is_no_step(step: str) -> None:
    refused = read_steps(f"1. Close the door\n2. {step}", 30)
    assert isinstance(refused, Rejection)
    assert refused.code == "procedure_not_imperative" and "Step 2" in refused.detail


@every_row(
    "text",
    [
        "Ana waters the plants",
        "The API port is 6666",
        "1. Fill the can\n3. Pour slowly",
        "2. Pour slowly",
        "0. Fill the can",
        "1. Fill the can\nand then some prose",
        "1. Fill the can\n1. Pour slowly",
        "How to water the plants:",
        "3.5 litres of water",
        "0. Fetch the can\n1. Fill the can",
        "- Fetch the can\n1. Fill the can",
        f"{'Watering ' * 10}\n1. Fill the can",
        "Watering the plants\nAna does it",
    ],
)
def test_what_does_not_count_from_one_on_is_refused(text: str) -> None:
    refused = read_steps(text, 30)
    assert isinstance(refused, Rejection)
    assert refused.code == "procedure_not_numbered" and "1. Open the valve" in refused.detail


def test_a_procedure_has_as_many_steps_as_the_policy_allows() -> None:
    text = "\n".join(f"{number}. Turn the screw" for number in range(1, 32))
    assert isinstance(read_steps(text, 31), Procedure)
    refused = read_steps(text, 30)
    assert isinstance(refused, Rejection) and refused.code == "procedure_too_many_steps"


@given(
    st.text(max_size=200), st.lists(st.sampled_from(["1. ", "2) ", "How to x:\n", "if, ", "\n", "Open it"]), max_size=9)
)
def test_any_text_is_read_or_refused_and_what_was_read_is_read_again_the_same(text: str, parts: list[str]) -> None:
    found = read_steps("".join(parts) + text, 30)
    if isinstance(found, Procedure):
        assert read_steps(found.text, 30) == Procedure(None, found.steps)


@pytest.mark.parametrize(
    "text", ["if," * 3_400, "1. " * 3_400, "please " * 1_400, "1. a\n" + "  b\n" * 2_500, "how to " * 1_400]
)
def test_the_longest_text_is_read_to_its_end(text: str) -> None:
    assert len(text) <= MAX_CONTENT_BYTES
    assert isinstance(read_steps(text, 30), Procedure | Rejection)
    assert detect(text, 30) == (None, text)


def test_a_message_that_says_how_to_and_then_the_steps_holds_a_procedure() -> None:
    message = f"Morning!\nHere's how to water the plants:\n{WATERING}\nThanks, Ana"
    assert detect(message, 30) == (
        Procedure("water the plants", ("Fill the can", "Pour slowly")),
        "Morning!\nThanks, Ana",
    )


@every_row(
    "message",
    [
        WATERING,
        f"Do you know how to water the plants?\n{WATERING}",
        f"How to water the plants?\n{WATERING}",
        f"I wonder how to water the plants:\n{WATERING}",
        "How to water the plants:\n1. Fill the can",
        "How to water the plants:\n1. Fill the can\n3. Pour slowly",
        "How to water the plants:\n1. Frobnicate the can\n2. Pour slowly",
        "How to water the plants:\n1. The can is full\n2. Pour slowly",
        "How to water the plants:\n- Fill the can\n- Pour slowly",
        f"> How to water the plants:\n> {WATERING}",
        f"```\nHow to water the plants:\n{WATERING}\n```",
        f"How to water the plants:\n\n{WATERING}",
        f"How to {'water ' * 40}:\n{WATERING}",
    ],
)
def test_a_message_that_leaves_any_doubt_holds_none(message: str) -> None:
    assert detect(message, 30) == (None, message)


def test_a_turn_keeps_the_procedure_and_makes_no_fact_of_its_steps(mem: Recollect) -> None:
    said = f"How to water the plants:\n{WATERING}\nThe greenhouse in the back garden needs most of the water."
    turn = mem.turn(session="s1", owner="ana", user=said)
    kept = [(r.memory.kind, r.memory.content) for r in turn.receipts if r.memory is not None]
    assert kept == [
        ("short_term", said),
        ("procedural", WATERING),
        ("semantic", "The greenhouse in the back garden needs most of the water."),
    ]
    procedure = turn.receipts[1].memory
    assert (
        procedure is not None and procedure.canonical_key == "Water-The-Plants" and procedure.category == "procedural"
    )
    assert procedure.meta["extracted_by"] == "extracted:procedure" and procedure.meta["source_turn_ids"]
    again = mem.recall_for(session="s1", owner="ana", user="how do I water the plants?")
    assert "procedural" not in {item.memory.kind for item in again.items}


def test_a_procedure_is_kept_as_steps_in_its_own_category(mem: Recollect) -> None:
    fields: dict[str, Any] = {
        "user_id": "ana",
        "agent_id": "planner",
        "run_id": "r1",
        "tags": ["garden"],
        "importance": 4,
        "pinned": True,
    }
    kept = mem.add("How to water the plants:\n1) Fill the can\n2) Pour slowly", kind="procedural", **fields).memory
    assert kept is not None
    assert (kept.content, kept.category, kept.canonical_key) == (WATERING, "procedural", "Water-The-Plants")
    shown = {name: getattr(kept, name) for name in fields}
    assert {**shown, "tags": list(kept.tags)} == fields and kept.created_at == kept.last_accessed
    assert "procedure:numbered" in {one["rule"] for one in mem.explain(kept.id).decisions}


def test_a_procedure_has_no_category_but_its_own(mem: Recollect) -> None:
    """Else an agent would read it through a category that its list allows, and not through the one it asks for."""
    refused = mem.add(WATERING, kind="procedural", category="garden", owner="ben")
    assert refused.reasons == ("procedure_category",) and "tags" in (refused.detail or "")
    kept = mem.add(WATERING, kind="procedural", owner="ben").memory
    assert kept is not None
    with pytest.raises(BadInput, match="category"):
        mem.edit(kept.id, category="garden")
    assert mem.edit(kept.id, tags=["garden"]).category == "procedural"


def test_prose_is_refused_with_its_code_and_the_next_step_and_leaves_none_of_its_words(mem: Recollect) -> None:
    refused = mem.add("Ana waters the plants", kind="procedural")
    assert refused.outcome == "denied" and refused.reasons == ("procedure_not_numbered",)
    assert refused.detail is not None and "1. Open the valve" in refused.detail
    assert "waters" not in str(mem.traces())


def test_a_better_procedure_supersedes_and_never_replaces_a_fact(mem: Recollect) -> None:
    fact = mem.add("Plants need water", title="water the plants").memory
    first = mem.add(WATERING, kind="procedural", title="water the plants")
    better = mem.add(f"{WATERING}\n3. Wipe the floor", kind="procedural", title="water the plants")
    assert (first.outcome, better.outcome) == ("stored", "superseded")
    assert fact is not None and mem.get(fact.id).status == "active"


@pytest.mark.parametrize("preset", ["v4", "entry", "store"])
def test_presets_that_judge_no_words_take_any(preset: str) -> None:
    with recollect.open(":memory:", policy=preset) as mem:
        kept = mem.add("Ana waters the plants", kind="procedural").memory
        assert kept is not None and (kept.content, kept.category) == ("Ana waters the plants", "procedural")


def test_what_was_a_procedure_in_one_space_is_one_in_the_next(tmp_path: Path) -> None:
    prose: dict[str, Any] = {
        "content": "Ana waters the plants",
        "kind": "procedural",
        "space": "session",
        "owner": "s1",
        "event_type": "fact",
    }
    with recollect.open(tmp_path / "memory.db", policy={"procedures": {"steps_required": False}}) as mem:
        kept = mem.add(**prose).memory
    with recollect.open(tmp_path / "memory.db") as mem:
        assert kept is not None and mem.promote(kept.id, "user", owner="ana").outcome == "stored"
        assert mem.add(**prose).outcome == "denied"


def test_a_border_comes_before_the_steps(mem: Recollect) -> None:
    answer = mem.as_caller(agent="planner", user="ana").add("prose", kind="procedural", owner="ben")
    assert answer.reasons == ("border:not_your_space",)


ASKED: list[dict[str, Any]] = [
    {"categories": ["procedural"]},
    {"filters": {"category": "procedural"}},
    {"filters": {"kind": "procedural"}},
]


@pytest.mark.parametrize("asked", ASKED)
def test_only_who_asks_for_procedures_comes_upon_them(mem: Recollect, asked: dict[str, Any]) -> None:
    mem.add(WATERING, kind="procedural", owner="ana", title="water the plants")
    mem.add("The jug stands in the shed", owner="ana")
    question = "where is the shed, and how do I pour slowly?"
    assert [item.memory.kind for item in mem.query(question, owner="ana").items] == ["semantic"]
    assert [item.memory.kind for item in mem.query(question, owner="ana", **asked).items] == ["procedural"]


def test_an_agent_whose_list_does_not_name_them_gets_none_by_any_way() -> None:
    lists = {"planner": ["general", "procedural"], "stylist": ["general"]}
    with recollect.open(":memory:", policy={"agents": {"allowlists": lists}}) as mem:
        id = mem.add(WATERING, kind="procedural", owner="ana").memory.id  # type: ignore[union-attr]
        planner, stylist = (mem.as_caller(agent=name, user="ana") for name in lists)
        assert planner.query("pour", categories=["procedural"]).items
        assert not stylist.query("pour", filters={"kind": "procedural"}).items
        assert not stylist.list(kind="procedural").items
        with pytest.raises(NotAllowed):
            stylist.query("pour", categories=["procedural"])
        with pytest.raises(recollect.NotFound):
            stylist.get(id)
        assert stylist.add(WATERING, kind="procedural").reasons == ("border:category_not_yours",)
