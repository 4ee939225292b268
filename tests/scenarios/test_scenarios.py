"""Every scenario file states situations and their outcomes; this runs them.

A file is a list of scenarios. Each opens a fresh store under a policy and takes its steps in order:

- ``add``: a candidate; ``becomes``: what its receipt must say (fields of the receipt or of its memory)
- ``do``: an operation on a named memory; ``becomes``: fields of the memory it returns, or ``refused: code``
- ``ask``: a query, with ``finds``: the contents that come back, in order
- ``list``: filters, with ``shows``: the contents
- ``export``: options, with ``shows``: the contents
- ``chain``: a named memory, with ``shows``: ``[version, status, content]`` each
- ``history``: a named memory, with ``shows``: the kinds of its events
- ``days``: let so many days pass
- ``upkeep``: with ``reports``: how many expired, were forgotten, were purged

``as`` names the memory that a step made, for later steps.
"""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

import recollect
from support.determinism import SeededRandomness

HERE = Path(__file__).parent


def scenarios() -> list[Any]:
    found = []
    for file in sorted(HERE.glob("*.yaml")):
        for scenario in yaml.safe_load(file.read_text(encoding="utf-8")):
            found.append(pytest.param(scenario, id=f"{file.stem}: {scenario['scenario']}"))
    return found


class Stage:
    """One scenario under way."""

    def __init__(self, location: str, policy: Any) -> None:
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)
        self.memory = recollect.open(location, policy=policy, clock=self.tick, randomness=SeededRandomness(1))
        self.names: dict[str, str] = {}

    def tick(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def take(self, step: dict[str, Any]) -> None:
        verb = next(iter(step))
        getattr(self, f"step_{verb}")(step)

    def step_add(self, step: dict[str, Any]) -> None:
        fields = dict(step["add"]) if isinstance(step["add"], dict) else {"content": step["add"]}
        receipt = self.memory.add(**fields)
        if receipt.memory is not None and "as" in step:
            self.names[step["as"]] = receipt.memory.id
        shown = {**(receipt.memory.to_dict() if receipt.memory else {}), **receipt.to_dict()}
        shown["events"] = [event["type"] for event in receipt.events]
        self.expect(step["becomes"], shown)

    def step_do(self, step: dict[str, Any]) -> None:
        operation, name, options = step["do"], self.names[step["to"]], dict(step.get("with", {}))
        options = {key: self.names.get(value, value) if key == "winner" else value for key, value in options.items()}
        try:
            result = getattr(self.memory, operation)(name, **options)
        except recollect.RecollectError as error:
            assert step["becomes"] == {"refused": error.code}, error
            return
        self.expect(step["becomes"], result.to_dict())

    def step_get(self, step: dict[str, Any]) -> None:
        self.expect(step["is"], self.memory.get(self.names[step["get"]]).to_dict())

    def step_ask(self, step: dict[str, Any]) -> None:
        found = self.memory.query(step["ask"], **{"threshold": 0.35, **step.get("with", {})})
        assert [item.memory.content for item in found.items] == step["finds"]

    def step_list(self, step: dict[str, Any]) -> None:
        page = self.memory.list(**step["list"])
        assert [memory.content for memory in page.items] == step["shows"]

    def step_export(self, step: dict[str, Any]) -> None:
        lines = list(self.memory.export(**step["export"]))
        assert [json.loads(line)["content"] for line in lines] == step["shows"]

    def step_chain(self, step: dict[str, Any]) -> None:
        links = [link.to_dict() for link in self.memory.chain(self.names[step["chain"]])]
        shown = [[link["version"], str(link.get("status", link.get("removed"))), link.get("content")] for link in links]
        assert shown == step["shows"]

    def step_history(self, step: dict[str, Any]) -> None:
        assert [event.event for event in self.memory.history(self.names[step["history"]])] == step["shows"]

    def step_days(self, step: dict[str, Any]) -> None:
        self.now += timedelta(days=step["days"])

    def step_upkeep(self, step: dict[str, Any]) -> None:
        report = self.memory.upkeep()
        counts = {"expired": len(report.expired), "forgotten": len(report.forgotten), "purged": len(report.purged)}
        assert counts == {"expired": 0, "forgotten": 0, "purged": 0, **step["reports"]}

    def expect(self, wanted: dict[str, Any], shown: dict[str, Any]) -> None:
        for name, value in wanted.items():
            actual = self.plain(shown[name])
            if name in ("reasons", "events") and isinstance(value, str):
                assert value in actual, f"{name}: {value} is not in {actual}"
            else:
                assert actual == value, f"{name}: {actual!r} is not {value!r}"

    def plain(self, value: Any) -> Any:
        """Values as a scenario writes them: ids by the names that it gave them, times as text."""
        back = {id: name for name, id in self.names.items()}
        if isinstance(value, list | tuple):
            return [self.plain(inner) for inner in value]
        if isinstance(value, datetime):
            return value.strftime("%Y-%m-%d")
        if isinstance(value, str):
            return back.get(str(value), str(value))
        return value


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of either kind."""
    return str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.mark.parametrize("scenario", scenarios())
def test_scenario(scenario: dict[str, Any], location: str) -> None:
    stage = Stage(location, scenario.get("policy"))
    for number, step in enumerate(scenario["steps"], start=1):
        try:
            stage.take(step)
        except AssertionError as error:
            raise AssertionError(f"step {number} {step}: {error}") from error
    assert stage.memory.verify().ok
    before = stage.memory.state_hash()
    stage.memory.rebuild()
    assert stage.memory.state_hash() == before
    assert stage.memory.verify().ok
    stage.memory.close()
