"""Whoever the policy has believed most is told, whatever the question comes through: two spaces, one concept."""

from collections.abc import Callable
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect

USER_FIRST = ["user_asserted", "system_imposed", "tool_verified", "ai_inferred"]
SYSTEMS, ANAS = "The API port is 8080", "The API port is 8081"
SYSTEMS_RULE, ANAS_RULE = "Always answer in English", "Always answer in Portuguese"
RULE: dict[str, Any] = {"layer": "intent", "sublayer": "rule", "kind": "semantic"}


def by_query(mem: Recollect) -> list[str]:
    return [item.memory.content for item in mem.as_caller(user="ana").query("Which port has the API?").items]


def by_turn(mem: Recollect) -> list[str]:
    recall = mem.as_caller(user="ana", session="s1").turn(session="s1", user="Which port has the API?").recall
    assert recall is not None
    return [item.memory.content for item in recall.items]


def by_snapshot(mem: Recollect) -> list[str]:
    told = mem.snapshot_block(owner="ana").text.splitlines()
    return [line.split("] ", 1)[1] for line in told if line.startswith("- [")]


def both_say_it(order: list[str] | None, **policy: Any) -> Recollect:
    conflict = {} if order is None else {"conflict": {"authority_order": order}}
    mem = recollect.open(":memory:", embedder="none", policy={**conflict, **policy})
    for content, where in ((SYSTEMS, {"space": "system", "source": "operator"}), (ANAS, {"owner": "ana"})):
        said = mem.add(content, canonical_key="API-Port", tier="canon", **where)
        assert said.outcome == "stored"
    return mem


@pytest.mark.parametrize("told", [by_query, by_turn, by_snapshot])
@pytest.mark.parametrize(("order", "content"), [(None, SYSTEMS), (USER_FIRST, ANAS)])
def test_of_one_concept_the_policys_first_authority_is_told(
    told: Callable[[Recollect], list[str]], order: list[str] | None, content: str
) -> None:
    with both_say_it(order) as mem:
        assert [said for said in told(mem) if said in (SYSTEMS, ANAS)] == [content]


@pytest.mark.parametrize(("order", "rule"), [(None, SYSTEMS_RULE), (USER_FIRST, ANAS_RULE)])
def test_a_turn_has_room_for_the_rule_of_the_policys_first_authority(order: list[str] | None, rule: str) -> None:
    with both_say_it(order, turns={"recalled_rules": 1}) as mem:
        mem.add(SYSTEMS_RULE, canonical_key="Answer-Language-A", space="system", source="operator", **RULE)
        mem.add(ANAS_RULE, canonical_key="Answer-Language-B", owner="ana", **RULE)
        assert [said for said in by_turn(mem) if said in (SYSTEMS_RULE, ANAS_RULE)] == [rule]


@pytest.mark.parametrize(
    ("order", "first", "second"), [(None, SYSTEMS_RULE, ANAS_RULE), (USER_FIRST, ANAS_RULE, SYSTEMS_RULE)]
)
def test_a_snapshot_begins_with_the_policys_first_authority(order: list[str] | None, first: str, second: str) -> None:
    with both_say_it(order) as mem:
        mem.add(SYSTEMS_RULE, canonical_key="A", space="system", source="operator", tier="canon")
        mem.add(ANAS_RULE, canonical_key="B", owner="ana", tier="canon")
        assert [said for said in by_snapshot(mem) if said in (first, second)] == [first, second]
