"""The attacks as the YAML files tell them.

A file is a family: what is believed beforehand, who attacks, and the attacks. An attack may bring its own set-up, attacker
or policy. A step is one call: ``{add: {…}}``, ``{promote: {id: $truth, to_space: project}}``; ``by`` says who makes it,
``as`` names the memory that it leaves, ``times`` repeats it with ``{n}`` counted up, ``bad_input`` announces the field that is
refused as wrong. ``$truth`` stands for the id of the memory of that name, ``$truth.content_hash`` for another field of it.

``askers`` ask each of ``asks`` before and after the attack. ``then`` is what the others do next, with what it has to
become. Of a whole turn, what holds the ``payload`` is the attacker's.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from recollect import Recollect

from .people import Person, person

FOLDER = Path(__file__).parent / "attacks"
OPERATIONS = """
    add add_many import_ promote edit resolve archive forget restore start_phase consolidate erase upkeep as_caller turn
""".split()


@dataclass(frozen=True, slots=True)
class Step:
    """One call through one door."""

    operation: str
    arguments: Any
    by: Person
    name: str | None = None
    times: int = 1
    becomes: Mapping[str, Any] | None = None
    bad_input: str | None = None


@dataclass(frozen=True, slots=True)
class Attack:
    """What is believed, what is tried, and what is asked and done afterwards."""

    family: str
    name: str
    policy: Mapping[str, Any] | None
    attacker: Person
    believed: tuple[Step, ...]
    steps: tuple[Step, ...]
    then: tuple[Step, ...]
    askers: tuple[str, ...]
    asks: tuple[str, ...]
    payload: str | None

    def __str__(self) -> str:
        return f"{self.family}: {self.name}"


def attacks() -> list[Attack]:
    """Every attack that this version has the doors for."""
    return [attack for path in sorted(FOLDER.glob("*.yaml")) for attack in _family(path) if _has_doors(attack)]


def one_of_each_shape(every: Sequence[Attack]) -> list[Attack]:
    """Return the first attack of each shape, and of those that differ in their words alone every third.

    A shape is the family, the policy, who attacks, and the operations with the names of their fields. ``make torture`` plays
    them all.
    """
    seen: Counter[str] = Counter()
    kept = []
    for attack in every:
        shape = repr((attack.family, attack.policy, attack.attacker, [_shape(step) for step in attack.steps]))
        if seen[shape] % 3 == 0:
            kept.append(attack)
        seen[shape] += 1
    return kept


def _shape(step: Step) -> tuple[Any, ...]:
    return step.operation, step.by, step.times > 1, _fields(step.arguments)


def _fields(value: Any) -> Any:
    """Return the names of the fields of a call, at every depth."""
    if isinstance(value, Mapping):
        return sorted((name, _fields(inner)) for name, inner in value.items())
    return [_fields(inner) for inner in value] if isinstance(value, list) else None


def _has_doors(attack: Attack) -> bool:
    return all(hasattr(Recollect, step.operation) for step in attack.steps)


def _family(path: Path) -> Iterator[Attack]:
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    for entry in told["attacks"]:
        yield _attack(path.stem, {**{k: v for k, v in told.items() if k != "attacks"}, **entry})


def _attack(family: str, told: Mapping[str, Any]) -> Attack:
    attacker = person(told["by"])
    steps = told["steps"] if "steps" in told else [_only_step(told)]
    return Attack(
        family,
        told["name"],
        told.get("policy"),
        attacker,
        _steps(told.get("believed", ()), person("ana")),
        _steps(steps, attacker),
        _steps(told.get("then", ()), person("ana")),
        tuple(told.get("askers", ("ana",))),
        tuple(told["asks"]),
        told.get("payload"),
    )


def _only_step(told: Mapping[str, Any]) -> dict[str, Any]:
    """An attack of one call has the call beside its name."""
    return {key: told[key] for key in (*OPERATIONS, "times", "bad_input") if key in told}


def _steps(told: Sequence[Mapping[str, Any]], usually: Person) -> tuple[Step, ...]:
    return tuple(_step(step, usually) for step in told)


def _step(told: Mapping[str, Any], usually: Person) -> Step:
    (operation,) = (key for key in told if key in OPERATIONS)
    unknown = set(told) - {operation, "by", "as", "times", "becomes", "bad_input"}
    assert not unknown, f"a step has no {unknown}"
    return Step(
        operation,
        told[operation],
        person(told["by"]) if "by" in told else usually,
        told.get("as"),
        told.get("times", 1),
        told.get("becomes"),
        told.get("bad_input"),
    )
