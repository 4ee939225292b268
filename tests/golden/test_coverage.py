"""What the scenarios have to show between them: every event, every code that a trace can carry, every setting of governance."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.model.errors import BadPolicy
from recollect.model.policy import settings
from recollect.model.trace import TraceType
from recollect.rules.reasons import REASONS
from rows import every_row

from .emitted import refusals
from .readable import POLICY_KEYS
from .scenario import BadScenario, Scenario
from .stage import Event, Played, play
from .test_golden import SCENARIOS, on_sqlite

FEWEST = 40
SECTIONS = "write promotion retention spaces turns phase privacy conflict authority traces".split()
GOVERNED = [name for name, _, _ in settings() if name.split(".")[0] in SECTIONS]
NO_EVENT = {"conflict:consolidation", "conflict:upkeep", "phase:beyond_max"}
"""These decide entries of the ledger. What leaves with a phase is traced as ``decay``; a link moves nobody."""


def _events(type: str | None = None) -> Iterator[Event]:
    for scenario in SCENARIOS:
        yield from (e for e in on_sqlite(scenario.name).events if type in (None, e["type"]))


def _reasons(type: str) -> set[str]:
    return {event["reason"] for event in _events(type)}


def _coded(*prefixes: str) -> set[str]:
    return {code for code in REASONS if code.startswith(prefixes)} - NO_EVENT


def _metas() -> Iterator[dict[str, Any]]:
    for event in _events():
        yield from (item["meta"] for item in (*event.get("written", ()), *event.get("recalled", ())))


def _listed(key: str) -> set[str]:
    return {code for meta in _metas() for code in meta.get(key, ())}


def test_there_are_enough_scenarios_each_about_something_else() -> None:
    assert len(SCENARIOS) >= FEWEST
    assert len({scenario.title for scenario in SCENARIOS}) == len(SCENARIOS)


def test_every_event_is_shown() -> None:
    assert {event["type"] for event in _events()} == set(TraceType)


def test_every_refusal_that_the_engine_knows_is_shown() -> None:
    known = refusals()
    assert {"write_policy_none", "privacy_deny_sensitive", "border:not_in_read_order", "promotion:path_closed"} <= known
    shown = {
        *_reasons("memory_denied"),
        *_reasons("memory_promotion_denied"),
        *(event["reason"] for event in _events("memory_border_check") if not event["allowed"]),
    }
    assert shown == known


def test_every_border_is_shown_open_and_closed() -> None:
    checks = {(e["action"], e["from_space"], e["allowed"]) for e in _events("memory_border_check")}
    spaces = ("session", "user", "project", "system")
    wanted = {(action, space, open) for action in ("read", "write") for space in spaces for open in (True, False)}
    assert wanted <= checks
    assert _coded("border:") <= _reasons("memory_border_check")


def test_every_way_from_space_to_space_is_shown_open_and_closed() -> None:
    open = {(e["from_space"], e["to_space"]) for e in _events("memory_promoted")}
    closed = {(e["from_space"], e["to_space"]) for e in _events("memory_promotion_denied")}
    usual = {("session", "user"), ("session", "project"), ("user", "project")}
    assert usual <= open
    assert usual | {("project", "system")} <= closed


def test_every_reason_of_an_event_is_shown() -> None:
    assert _reasons("memory_write") == {"interaction_recorded"}
    assert _reasons("memory_forget") == {"ttl_expired", "decay"}
    gone = {"expired", "superseded", "forgotten:by_hand", "forgotten:said_so"}
    gone |= {"erased:for_review", "erased:by_right", "erased:with_its_source"}
    gone |= {"consolidation:redundant"}
    gone |= {"rejected:said_so", "rejected:same_value"}
    assert _reasons("memory_deleted") == gone
    assert _coded("phase:") <= _reasons("memory_phase_started")
    rules = {f"conflict:{event['rule']}" for event in _events("memory_conflict")}
    assert rules == _coded("conflict:") - {"conflict:said_again"}  # which says what became of the loser, not who won


def test_every_reason_of_an_item_is_shown() -> None:
    assert _listed("recall_reason") == {
        "matches_query",
        "near_a_match",
        "has_similar_words",
        "means_alike",
        "related_to_a_match",
        "bears_on_query",
        "about_the_person",
        "recency",
        "importance",
        "active_rule",
    }
    assert _listed("policy_tags") == _coded("allowed_by:", "kept_by:")
    assert _listed("importance_reason") == _coded("importance:")
    assert {meta["authority"] for meta in _metas()} == {code.split(":")[1] for code in _coded("authority:")} - {
        "raised"
    }


def test_every_reason_for_a_promotion_is_shown() -> None:
    told = {meta["promotion_reason"] for meta in _metas() if "promotion_reason" in meta}
    said = told | _reasons("memory_border_check") | _reasons("memory_promotion_denied")
    assert _coded("promotion:") <= said


def test_every_rule_that_reads_what_people_say_is_shown() -> None:
    assert {meta["extracted_by"] for meta in _metas() if "extracted_by" in meta} == _coded("extracted:")


@every_row("setting", GOVERNED)
def test_every_setting_changes_a_trace(setting: str) -> None:
    """A scenario names it, and gives another trace without it."""
    naming = [scenario for scenario in SCENARIOS if _says(scenario.policy, setting)]
    assert naming, f"no scenario's policy names {setting}"
    assert any(_matters(scenario, setting) for scenario in naming), f"{setting} changes no trace of {naming}"


def _says(policy: Any, setting: str) -> bool:
    section, key = setting.split(".")
    return isinstance(policy, Mapping) and key in policy.get(section, {})


def _matters(scenario: Scenario, setting: str) -> bool:
    section, key = setting.split(".")
    without = copy.deepcopy(scenario.policy)
    del without[section][key]
    try:
        return _told(play(scenario, policy=without)) != _told(on_sqlite(scenario.name))
    except (BadPolicy, BadScenario):
        return True  # without it the policy contradicts itself, or a memory that a later step names does not come about


def _told(played: Played) -> list[Any]:
    """Everything but the snapshots of the policy, which differ in any case."""
    return [
        (step.refused, [{k: v for k, v in event.items() if k not in POLICY_KEYS} for event in step.events])
        for step in played.steps
    ]
