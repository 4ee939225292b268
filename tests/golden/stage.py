"""Where a scenario is played: a fresh store under its policy, with a clock and randomness that are always the same."""

import json
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import recollect
from recollect import Recollect

from .readable import POLICY_KEYS, Names
from .scenario import BadScenario, Scenario, Step

IDENTITY = UUID("11111111-1111-4111-8111-111111111111")
"""Ids are drawn from the store's own, so every store on which a scenario is played has this one."""
FILLER = "Time went by."

Event = dict[str, Any]


class _Identified:
    """The same bytes every time; the first are the identity of the store that is made."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._identity: bytes | None = IDENTITY.bytes

    def bytes(self, count: int) -> bytes:
        identity, self._identity = self._identity, None
        return identity or self._random.randbytes(count)


class _Calendar:
    """A clock that moves by a millisecond whenever it is read, and by days when a scenario says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@dataclass(frozen=True, slots=True)
class Took:
    """What one step led to: its events, or the code with which it was refused."""

    verb: str
    events: tuple[Event, ...] = ()
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """The policy that was in force, expanded, and what each step led to."""

    policy: dict[str, Any]
    steps: tuple[Took, ...]

    @property
    def events(self) -> list[Event]:
        return [event for step in self.steps for event in step.events]


def play(scenario: Scenario, location: str = ":memory:", policy: Any = None) -> Played:
    """Take every step; ``policy`` instead of the scenario's own shows what that one changes."""
    calendar, chosen = _Calendar(), scenario.policy if policy is None else policy
    with recollect.open(location, policy=chosen, clock=calendar, randomness=_Identified()) as mem:
        stage = _Stage(mem, scenario, calendar)
        return Played(stage.policy, tuple(stage.take(step) for step in scenario.steps))


class _Stage:
    """One scenario under way."""

    def __init__(self, mem: Recollect, scenario: Scenario, calendar: _Calendar) -> None:
        self._mem, self._scenario, self._calendar = mem, scenario, calendar
        self._names = Names()
        self.policy: dict[str, Any] = _plain(mem.engine.policy.expanded())

    def take(self, step: Step) -> Took:
        try:
            answer = VERBS[step.verb](self, self._view(step), step.arguments)
        except (recollect.NotAllowed, recollect.NotFound, recollect.WrongState) as error:
            return Took(step.verb, tuple(self._told(dict(event)) for event in error.events), error.code)
        except (recollect.BadInput, TypeError) as error:  # a mistyped step must not pass for a refused one
            raise BadScenario(f"{self._scenario.name}: {step.verb}: {error}") from error
        return Took(step.verb, tuple(self._told(event) for event in _events(answer)))

    def _told(self, event: Event) -> Event:
        """An event as plain values. The policy in force, which is most of it, was made plain already."""
        rest = _plain({key: value for key, value in event.items() if key not in POLICY_KEYS})
        self._names.note(rest)
        policies = {key: self._snapshot(event[key]) for key in POLICY_KEYS if key in event}
        return {key: (rest | policies)[key] for key in event}

    def _snapshot(self, policy: Mapping[str, Any]) -> dict[str, Any]:
        return self.policy if policy == self.policy else dict(_plain(policy))

    def _view(self, step: Step) -> Recollect:
        named = self._scenario.caller if step.by is None else self._scenario.callers.get(step.by)
        return self._mem if named is None else self._mem.as_caller(**named)

    def memory(self, name: str) -> str:
        try:
            return self._names.id(name)
        except KeyError as error:
            raise BadScenario(f"{self._scenario.name}: {error.args[0]}") from None

    def tick(self, view: Recollect, arguments: Mapping[str, Any]) -> tuple[Event, ...]:
        """Let days or writes go by. Of the writes only what they set off is shown, not what they are."""
        return self._passing(view, **arguments)

    def _passing(
        self, view: Recollect, *, writes: int = 0, days: int = 0, space: str = "session", owner: str = "s1"
    ) -> tuple[Event, ...]:
        self._calendar.now += timedelta(days=days)
        events: list[Event] = []
        for _ in range(writes):
            receipt = view.add(FILLER, kind="episodic", space=space, owner=owner)
            assert receipt.memory is not None, f"time could not pass: {receipt.reasons}"
            events += [event for event in receipt.events if not _of_filler(event)]
        return tuple(events)


def _events(answer: Any) -> Iterable[Event]:
    """What an answer says: events as they are, those of several receipts, those of a receipt; a memory says none."""
    if isinstance(answer, tuple) and all(isinstance(one, Mapping) for one in answer):
        return answer
    receipts = answer if isinstance(answer, tuple | list) else [answer]
    return (event for receipt in receipts for event in getattr(receipt, "events", ()))


def _of_filler(event: Event) -> bool:
    written = [item["text"] for item in event.get("written", ())]
    return written == [FILLER] or (event["type"] == "memory_border_check" and event["allowed"])


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _add(stage: _Stage, view: Recollect, arguments: Any) -> Any:
    return view.add(**({"content": arguments} if isinstance(arguments, str) else arguments))


def _promote(stage: _Stage, view: Recollect, arguments: Mapping[str, Any]) -> Any:
    rest = dict(arguments)
    return view.promote(stage.memory(rest.pop("memory")), rest.pop("to"), **rest)


def _edit(stage: _Stage, view: Recollect, arguments: Mapping[str, Any]) -> Any:
    rest = dict(arguments)
    return view.edit(stage.memory(rest.pop("memory")), **rest)


def _resolve(stage: _Stage, view: Recollect, arguments: Mapping[str, Any]) -> Any:
    given = {key: stage.memory(name) for key, name in arguments.items()}
    return view.resolve(given.pop("memory"), **given)


def _phase_diff(stage: _Stage, view: Recollect, arguments: Mapping[str, Any]) -> Any:
    rest = dict(arguments)
    return view.phase_diff(rest.pop("from"), rest.pop("to"), **rest)


def _traces(stage: _Stage, view: Recollect, arguments: Mapping[str, Any]) -> Any:
    given: dict[str, Any] = {k: stage.memory(value) if k == "memory" else value for k, value in arguments.items()}
    after = given.pop("after", 0)
    found = [event for event in view.traces(**given) if event["number"] > after]
    return tuple({key: value for key, value in event.items() if key != "at"} for event in found)


VERBS: dict[str, Callable[[_Stage, Recollect, Any], Any]] = {
    "turn": lambda stage, view, arguments: view.turn(**arguments),
    "record": lambda stage, view, arguments: view.record(**arguments),
    "recall": lambda stage, view, arguments: view.recall_for(**arguments),
    "query": lambda stage, view, arguments: view.query(**arguments),
    "add": _add,
    "add_many": lambda stage, view, memories: view.add_many(memories),
    "edit": _edit,
    "phase": lambda stage, view, arguments: view.start_phase(**arguments),
    "phase_diff": _phase_diff,
    "promote": _promote,
    "tick": _Stage.tick,
    "forget": lambda stage, view, name: view.forget(stage.memory(name)),
    "erase": lambda stage, view, arguments: view.erase(**arguments),
    "consolidate": lambda stage, view, arguments: view.consolidate(**arguments),
    "snapshot": lambda stage, view, arguments: view.snapshot_block(**arguments),
    "resolve": _resolve,
    "grant": lambda stage, view, name: view.grant(stage.memory(name)),
    "decline": lambda stage, view, name: view.decline(stage.memory(name)),
    "upkeep": lambda stage, view, arguments: view.upkeep(**arguments),
    "traces": _traces,
}
