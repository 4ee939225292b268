"""A trace as a scenario file shows it: memories by short names, the policy by what is special about it."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from recollect.model.policy import Policy

POLICY_KEYS = ("policy", "policy_snapshot")
IN_FORCE = "in force"
AS_RECALLED = "of what was recalled"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EVENT_WIDTH, _WIDTH = 190, 104
_ENDLESS = 1_000_000
_FAST = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Names:
    """Memories in the order in which a trace first names them: ``m1``, ``m2`` and so on."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def note(self, value: Any) -> None:
        """Learn every id inside a value."""
        self.shown(value)

    def id(self, name: str) -> str:
        place = int(name.removeprefix("m")) - 1 if re.fullmatch(r"m[1-9]\d*", name) else len(self._ids)
        if place >= len(self._ids):
            raise KeyError(f"no memory is called {name!r} yet; there are {len(self._ids)}")
        return self._ids[place]

    def shown(self, value: Any) -> Any:
        """The same value with names in the place of ids."""
        if isinstance(value, Mapping):
            return {key: self.shown(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.shown(inner) for inner in value]
        return self._name(value) if isinstance(value, str) and _ID.fullmatch(value) else value

    def _name(self, id: str) -> str:
        if id not in self._ids:
            self._ids.append(id)
        return f"m{self._ids.index(id) + 1}"


def readable(policy: Mapping[str, Any], steps: Iterable[tuple[str, str | None, Sequence[Mapping[str, Any]]]]) -> Any:
    """What a file expects: how the policy in force differs, then each step's verb with its events, or with its refusal."""
    teller, default = _Teller(policy), json.loads(json.dumps(Policy().expanded()))
    shown: list[dict[str, Any]] = []
    for number, (verb, refused, events) in enumerate(steps, start=1):
        said = {"events": [teller.event(event) for event in events]} if events or not refused else {}
        told = ({"refused": refused} if refused else {}) | said
        shown.append({"step": f"{number} {verb}", **told})
    return {"policy": difference(policy, default), "trace": shown}


def difference(policy: Mapping[str, Any], default: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy says that the default does not."""
    found: dict[str, Any] = {}
    for key, value in policy.items():
        usual = default.get(key)
        if isinstance(value, dict) and isinstance(usual, dict):
            inner = difference(value, usual)
            found |= {key: inner} if inner else {}
        elif value != usual:
            found[key] = value
    return found


class _Teller:
    """Shows events one after the other; what was shown before need not be shown whole again."""

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self._policy, self._names = policy, Names()
        self._written: dict[str, dict[str, Any]] = {}

    def event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        return {key: self._value(event, key, value) for key, value in event.items()}

    def _value(self, event: Mapping[str, Any], key: str, value: Any) -> Any:
        if key in POLICY_KEYS and value == self._policy:
            return IN_FORCE
        if key == "deterministic_hash" and value == recalled_hash(event["recalled"]):
            return AS_RECALLED
        if key in ("written", "recalled"):
            return [self._item(item) for item in value]
        return self._names.shown(value)

    def _item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """An item whole, the first time; later what differs from then. What an item has lost is shown as lost."""
        shown = self._names.shown(item)
        shown["meta"] = dict(sorted(shown["meta"].items()))
        before = self._written.setdefault(shown["id"], shown)
        if before is shown:
            return shown
        lost = sorted(before["meta"].keys() - shown["meta"].keys())
        return {"id": shown["id"], "like": "before", **({"lost": lost} if lost else {}), **difference(shown, before)}


def recalled_hash(recalled: Iterable[Mapping[str, Any]]) -> str:
    """The hash that the page about traces promises, worked out without the code that makes it."""
    pairs = ",".join(f'["{item["kind"]}","{item["id"]}"]' for item in recalled)
    return hashlib.sha256(f"[{pairs}]".encode()).hexdigest()


class _Dumper(yaml.SafeDumper):
    """Short mappings and lists on one line, long texts as blocks, nothing by reference."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _on_one_line(data: Any) -> bool:
    text = yaml.dump(data, Dumper=_FAST, default_flow_style=True, width=_ENDLESS, allow_unicode=True)
    return len(text) <= (_EVENT_WIDTH if "type" in data or "like" in data else _WIDTH)


_Dumper.add_representer(
    dict,
    lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=_on_one_line(data)),
)
_Dumper.add_representer(
    list,
    lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=_on_one_line(data)),
)


def to_yaml(value: Any) -> str:
    """A value as a scenario file has it."""
    text: str = yaml.dump(value, Dumper=_Dumper, width=_ENDLESS, allow_unicode=True, sort_keys=False, indent=2)
    return text
