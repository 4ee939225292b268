"""Every scenario gives exactly the trace that its file expects, on every store, and every event is as its schema says."""

import difflib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from recollect.model import trace
from rows import every_row

from . import scenario, stage
from .readable import POLICY_KEYS, recalled_hash, to_yaml
from .regenerate import shown
from .scenario import BadScenario, Scenario, files, load, parse
from .stage import Played, play

SCENARIOS = [load(path) for path in files()]
SCHEMAS = Path(trace.__file__).parent / "trace_schemas"
SECRETS = ("hunter2", "sk-ant", "PRJ-1234", "ana@example.org")
"""What the scenarios try to have remembered, or ask about, against their policy."""


def named(scenario: Scenario) -> str:
    return scenario.name


@cache
def on_sqlite(name: str) -> Played:
    return play(next(scenario for scenario in SCENARIOS if scenario.name == name))


def _assert_expected(scenario: Scenario, played: Played) -> None:
    actual = shown(played)
    if actual != scenario.expect:
        told = _difference(to_yaml(scenario.expect).splitlines(), to_yaml(actual).splitlines())
        pytest.fail(f"{scenario.name}: {scenario.title}\n{told}", pytrace=False)


def _difference(expected: Sequence[str], actual: Sequence[str]) -> str:
    return "\n".join(difflib.unified_diff(expected, actual, "as the file expects", "as it is", lineterm=""))


@every_row("scenario", SCENARIOS)
def test_the_trace_is_as_expected_on_sqlite(scenario: Scenario) -> None:
    _assert_expected(scenario, on_sqlite(scenario.name))


@pytest.mark.parametrize("scenario", SCENARIOS, ids=named)
def test_the_trace_is_as_expected_on_postgres(scenario: Scenario, server_store: str) -> None:
    played = play(scenario, server_store)
    _assert_expected(scenario, played)
    assert played == on_sqlite(scenario.name), "ids or hashes differ between the stores"


ON_A_JOURNAL = ("consent", "consolidation", "erase", "forget", "promote", "rejected", "retention", "snapshot", "traces")
"""Beginnings of the names of scenarios in which memories leave, move up or are put before a model."""


@every_row("scenario", [scenario for scenario in SCENARIOS if scenario.name.startswith(ON_A_JOURNAL)])
def test_the_trace_is_the_same_on_a_journal(scenario: Scenario) -> None:
    with TemporaryDirectory() as folder:
        played = play(scenario, f"{folder}/vault.jsonl", scenario.policy or "default")
    assert played == on_sqlite(scenario.name)


@cache
def _validator(type: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"{type}.json").read_text(encoding="utf-8")))


@every_row("scenario", SCENARIOS)
def test_every_event_is_as_its_schema_says(scenario: Scenario) -> None:
    for event in on_sqlite(scenario.name).events:
        _validator(event["type"]).validate(event)


def test_every_recall_has_the_hash_of_what_it_recalled() -> None:
    recalls = [e for s in SCENARIOS for e in on_sqlite(s.name).events if e["type"] == "memory_recall"]
    assert any(event["recalled"] for event in recalls)
    assert all(event["deterministic_hash"] == recalled_hash(event["recalled"]) for event in recalls)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_trace_repeats_what_the_policy_keeps_out(secret: str) -> None:
    tried = [s for s in SCENARIOS if any(secret in str(step.arguments) for step in s.steps)]
    assert tried, "a scenario tries it"
    for one in tried:
        assert secret not in json.dumps([_without_policy(event) for event in on_sqlite(one.name).events])


def _without_policy(event: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in event.items() if key not in POLICY_KEYS}


GOOD = "title: t\nsteps: [{add: {content: The sky is blue}}]\n"


@every_row(
    ("text", "told"),
    [
        (GOOD + "polcy: governed\n", "no key 'polcy'"),
        (GOOD.replace("add:", "ad:"), "no key 'ad'"),
        (GOOD.replace("{add:", "{query: {text: x}, add:"), "exactly one verb"),
        (GOOD.replace("{add: {content: The sky is blue}}", "{by: ana}"), "exactly one verb"),
        (GOOD.replace("}}]", "}, by: nobody}]"), "'nobody' is not among the callers"),
        (GOOD + "caller: {usr: ana}\n", "no key 'usr'"),
        (GOOD + "callers: {ana: {right: read}}\n", "no key 'right'"),
        ("title: t\nsteps: []\n", "no title or no steps"),
        ("- add: x\n", "must be a mapping"),
    ],
)
def test_what_a_file_says_must_be_known(text: str, told: str) -> None:
    with pytest.raises(BadScenario, match=told):
        parse("doctored", text)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("query: {text: x, txt: y}", "txt: there is no such argument"),
        ("tick: {week: 1}", "unexpected keyword"),
        ("phase: {nam: x}", "unexpected keyword"),
        ("promote: {memory: m1, to: user, reson: x}", "unexpected keyword"),
        ("add: {content: x, colour: red}", "colour"),
        ("forget: m2", "no memory is called 'm2'"),
    ],
)
def test_what_a_step_says_must_be_known(step: str, told: str) -> None:
    scenario = parse("doctored", f"title: t\nsteps: [{{add: {{content: The sky is blue}}}}, {{{step}}}]\n")
    with pytest.raises(BadScenario, match=told):
        play(scenario)


def test_every_verb_can_be_played() -> None:
    assert set(stage.VERBS) == scenario.VERBS
