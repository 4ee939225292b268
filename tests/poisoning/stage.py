"""Where an attack is played: set-up, attack, and what memory looks like before and after."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import recollect
from recollect import Recollect
from recollect.model.receipt import Recall, Receipt
from recollect.model.record import Memory
from support.invariants import all_memories

from .library import Attack, Step
from .people import ONLOOKERS, PEOPLE, Person

IN_A_TURN = "a model in a turn"
MOST_AT_ONCE = 5
"""How many memories a question gets, as by default."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Memory at one moment: all of it, what onlookers see of it, and what each asker is told."""

    memories: dict[str, Memory]
    seen: dict[str, dict[str, Memory]]
    told: dict[str, Recall]


def play(mem: Recollect, attack: Attack, names: dict[str, str]) -> tuple[Sight, Sight]:
    """Set up, look, attack, look again. ``names`` is filled with the memories that the steps name."""
    for step in attack.believed:
        _establish(mem, step, names)
    before = look(mem, attack)
    for step in attack.steps:
        _try(mem, step, names)
    return before, look(mem, attack)


def carry_on(mem: Recollect, attack: Attack, names: dict[str, str]) -> dict[str, Memory]:
    """What those who were attacked do next, each step with the outcome that it has to have; then all memories."""
    for step in attack.then:
        _expect(mem, step, names)
    return all_memories(mem) if attack.then else {}


def look(mem: Recollect, attack: Attack) -> Sight:
    """Everybody asks everything at once, and is told as much as if they had asked one thing after the other."""
    text, most = "; ".join(attack.asks), MOST_AT_ONCE * len(attack.asks)
    told = {name: PEOPLE[name].view(mem).query(text, top_k=most) for name in attack.askers}
    told[IN_A_TURN] = _given(mem, PEOPLE[attack.askers[0]], text, most)
    return Sight(all_memories(mem), {name: all_memories(PEOPLE[name].view(mem)) for name in ONLOOKERS}, told)


def _given(mem: Recollect, whose: Person, text: str, most: int) -> Recall:
    """What a model would be given if the person who is attacked said this now."""
    assert whose.session is not None, "whoever is attacked is in a session"
    return mem.recall_for(session=whose.session, owner=whose.user, project=whose.projects[0], user=text, top_k=most)


def _establish(mem: Recollect, step: Step, names: dict[str, str]) -> None:
    """Set-up has to work, or the attack would prove nothing."""
    answer = _call(mem, step, names, 0)
    assert not (isinstance(answer, Receipt) and answer.denied), f"set-up was refused: {step.arguments}: {answer}"
    _note(step, answer, names)


def _try(mem: Recollect, step: Step, names: dict[str, str]) -> None:
    """Being refused is a fine end of an attack; being mistyped is not, so wrong input must be announced."""
    for n in range(step.times):
        try:
            _note(step, _call(mem, step, names, n), names)
        except recollect.BadInput as error:
            assert step.bad_input == error.field, f"mistyped: {step}: {error}"
        except (recollect.NotAllowed, recollect.NotFound, recollect.WrongState):
            continue


def _expect(mem: Recollect, step: Step, names: dict[str, str]) -> None:
    """What is done afterwards by those who were attacked still works as if nothing had happened."""
    answer = _call(mem, step, names, 0)
    _note(step, answer, names)
    for field, wanted in (step.becomes or {}).items():
        shown = _field(answer, field)
        assert shown == wanted, f"afterwards: {step.operation} {step.arguments}: {field} is {shown!r}, not {wanted!r}"


def _field(answer: Any, field: str) -> Any:
    if isinstance(answer, Receipt) and not hasattr(answer, field):
        return getattr(answer.memory, field, None)
    return getattr(answer, field)


def _note(step: Step, answer: Any, names: dict[str, str]) -> None:
    if step.name is not None:
        memory = answer.memory if isinstance(answer, Receipt) else answer
        names[step.name] = getattr(memory, "id", "0" * 12)


def _call(mem: Recollect, step: Step, names: Mapping[str, str], n: int) -> Any:
    return DOORS.get(step.operation, _plain)(step.by.view(mem), step, _filled(mem, step.arguments, names, n))


def _plain(view: Recollect, step: Step, arguments: Any) -> Any:
    """Most doors take an id and keywords."""
    return getattr(view, step.operation)(**({"id": arguments} if isinstance(arguments, str) else arguments))


def _import(view: Recollect, step: Step, arguments: Any) -> Any:
    records = arguments["records"]
    how = {name: arguments[name] for name in ("format", "believe") if name in arguments}
    return view.import_([json.dumps(record) for record in records], **how)


def _turn(view: Recollect, step: Step, arguments: Any) -> Any:
    """A turn of Ana's, in which she asks something harmless unless it says otherwise."""
    usual = {"session": "s1", "owner": "ana", "project": "apollo", "user": "Could you look that up?"}
    return view.turn(**{**usual, **arguments})


DOORS: dict[str, Callable[[Recollect, Step, Any], Any]] = {
    "add_many": lambda view, step, memories: view.add_many(memories),
    "import_": _import,
    "turn": _turn,
}


def _filled(mem: Recollect, value: Any, names: Mapping[str, str], n: int) -> Any:
    """Arguments with the names of memories replaced by what they stand for, and ``{n}`` by the count."""
    if isinstance(value, Mapping):
        return {key: _filled(mem, inner, names, n) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(mem, inner, names, n) for inner in value]
    if isinstance(value, str):
        return _named(mem, value.replace("{n}", str(n)), names)
    return value


def _named(mem: Recollect, text: str, names: Mapping[str, str]) -> str:
    name, _, field = text.removeprefix("$").partition(".")
    if not text.startswith("$") or name not in names:
        return text
    if not field:
        return names[name]
    return str(getattr(all_memories(mem)[names[name]], field))
