"""A scenario file: a situation in steps, and the whole trace that it must give.

.. code-block:: yaml

    title: A person corrects what a tool verified
    about: Corrections with user_asserted authority can override higher-authority items.
    policy: {authority: {verifying_tools: [crm]}}     # overrides, a preset's name, or left out for the default policy
    caller: {user: ana, session: s1}                  # whose eyes all steps are seen through; left out: the application's
    callers:                                          # others, for a step's `by`; `application` is always known
      planner: {agent: planner, user: ana, session: s1}
    steps:
      - turn: {session: s1, user: Hello, ai: Hi}      # exactly one verb; its arguments are those of the Python door
        by: planner
    expect: …                                         # written by `regenerate`, read by people, compared by the tests

Memories go by the order in which the trace first names them: ``m1``, ``m2`` and so on, in steps as in events. A policy
snapshot that is the policy in force says ``in force``, and ``expect.policy`` says once how that differs from the default.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "scenarios"
EXPECT = "\nexpect:"
VERBS = frozenset(
    """turn record recall query add add_many edit phase phase_diff promote tick forget grant decline erase consolidate snapshot
    resolve upkeep traces""".split(),
)
"""The methods of the Python door, ``recall`` being ``recall_for``, ``phase`` ``start_phase`` and ``snapshot`` ``snapshot_block``.
``tick`` lets days, or writes to one space, go by; ``traces`` reads back what the policy kept."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEYS = frozenset("title about policy caller callers steps expect".split())
_CALLER = frozenset("agent user session ai_profile projects rights".split())


class BadScenario(ValueError):
    """A file that is not a scenario: the message names the file and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done, and by whom (``None``: whoever does everything in this scenario)."""

    verb: str
    arguments: Any
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One file."""

    name: str
    title: str
    steps: tuple[Step, ...]
    policy: Any = None
    caller: Mapping[str, Any] | None = None
    callers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    expect: Any = None


def files() -> list[Path]:
    return sorted(FOLDER.glob("*.yaml"))


def load(path: Path) -> Scenario:
    return parse(path.stem, path.read_text(encoding="utf-8"))


def parse(name: str, text: str) -> Scenario:
    """The scenario in a text; everything that it says must be known, or a typing error would prove nothing."""
    data = yaml.load(text, Loader=_LOADER)
    if not isinstance(data, dict):
        raise BadScenario(f"{name}: must be a mapping with a title and steps.")
    _only(name, data, _KEYS)
    if not data.get("title") or not data.get("steps"):
        raise BadScenario(f"{name}: has no title or no steps.")
    callers = data.get("callers", {})
    for who, caller in ({"caller": data.get("caller") or {}} | callers).items():
        _only(f"{name}: {who}", caller, _CALLER)
    return Scenario(
        name=name,
        title=data["title"],
        steps=tuple(_step(f"{name}: step {n}", step, callers) for n, step in enumerate(data["steps"], start=1)),
        policy=data.get("policy"),
        caller=data.get("caller"),
        callers=callers,
        expect=data.get("expect"),
    )


def _step(where: str, data: Any, callers: Mapping[str, Any]) -> Step:
    if not isinstance(data, dict):
        raise BadScenario(f"{where}: must be a mapping with a verb.")
    _only(where, data, VERBS | {"by"})
    verbs = [key for key in data if key in VERBS]
    by = data.get("by")
    if len(verbs) != 1:
        raise BadScenario(f"{where}: must have exactly one verb of {', '.join(sorted(VERBS))}.")
    if by not in (None, "application", *callers):
        raise BadScenario(f"{where}: {by!r} is not among the callers.")
    return Step(verbs[0], data[verbs[0]], by)


def _only(where: str, data: Mapping[str, Any], known: frozenset[str]) -> None:
    for key in data:
        if key not in known:
            raise BadScenario(f"{where}: there is no key {key!r}; known: {', '.join(sorted(known))}.")
