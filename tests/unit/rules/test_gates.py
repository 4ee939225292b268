"""Each gate by itself: what it lets through, what it refuses, and with which code."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from recollect.model.caller import Caller, Right
from recollect.model.errors import BadPolicy
from recollect.model.policy import Policy, parse_policy
from recollect.model.record import Candidate
from recollect.model.vocabulary import Authority, EventType, Kind, Namespace, Source
from recollect.policies import load_policy
from recollect.rules.gates.classification import (
    classify_event,
    classify_layer,
    event_type_refusal,
    is_standing_rule,
    weigh,
)
from recollect.rules.gates.content import assign_namespace, length_gate, namespace_gate, noise_signal
from recollect.rules.gates.draft import Context, Decision, Draft, Rejection
from recollect.rules.gates.pipeline import GATES, pass_gates
from recollect.rules.privacy.gate import privacy_gate
from recollect.rules.trust.authority import grant_authority
from recollect.rules.trust.borders import border_gate, may_read, sees
from rows import every_row

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOUND = Caller(
    user="ana",
    agent="planner",
    session="s1",
    projects=frozenset({"apollo"}),
    rights=frozenset({Right.READ, Right.WRITE}),
    trusted=False,
)


def context(policy: dict[str, object] | None = None, caller: Caller | None = None) -> Context:
    return Context(parse_policy(policy or {}), caller or Caller(), NOW)


def draft(content: str = "Rivers flow to the sea", **fields: object) -> Draft:
    return Draft(Candidate.model_validate({"content": content, **fields}))


def refused(answer: Draft | Rejection) -> str | None:
    return answer.code if isinstance(answer, Rejection) else None


@every_row(
    ("fields", "namespace", "rule"),
    [
        ({"source": "test_suite"}, "test", "namespace:test:source"),
        ({"source": "test_suite", "namespace": "prod"}, "test", "namespace:test:source"),
        ({"tags": ["Test"]}, "test", "namespace:test:tag"),
        ({"tags": ["latest"]}, "prod", "namespace:prod:default"),
        ({"category": "test"}, "test", "namespace:test:category"),
        ({"content": "Integration test entry 12"}, "test", "namespace:test:pattern"),
        ({"content": "Test memory"}, "test", "namespace:test:pattern"),
        ({"content": "e2e-test: login works"}, "test", "namespace:test:pattern"),
        ({"content": "Lorem ipsum dolor sit amet"}, "test", "namespace:test:pattern"),
        ({"content": "Elefante E2E Test Memory 1718"}, "test", "namespace:test:pattern"),
        ({"content": "This is just a test entry, please ignore"}, "test", "namespace:test:pattern"),
        ({"content": "[test] Ana likes tea"}, "test", "namespace:test:pattern"),
        ({"content": "This is a test"}, "test", "namespace:test:pattern"),
        ({"content": "foo bar baz"}, "test", "namespace:test:pattern"),
        ({"content": "The sample bar in Foo Street is closed"}, "prod", "namespace:prod:default"),
        ({"content": "test 123"}, "test", "namespace:test:pattern"),
        ({"content": "Our integration tests write to the staging database"}, "prod", "namespace:prod:default"),
        ({"content": "The integration test entry point is tests/run.py"}, "prod", "namespace:prod:default"),
        ({"content": "Test entry point: tests/run.py"}, "prod", "namespace:prod:default"),
        ({"content": "Test records are deleted every night"}, "prod", "namespace:prod:default"),
        ({"content": "Use test data from tests/fixtures"}, "prod", "namespace:prod:default"),
        ({"content": "Test entry-level candidates with a small task"}, "prod", "namespace:prod:default"),
        ({"content": "Unit test data lives in tests/data"}, "prod", "namespace:prod:default"),
        ({"content": "Lorem ipsum is the placeholder text of the mockups"}, "prod", "namespace:prod:default"),
        ({"content": "Ana passed her driving test"}, "prod", "namespace:prod:default"),
        ({"content": "Integration tests run on every merge"}, "prod", "namespace:prod:default"),
        ({"content": "The unit test suite uses pytest"}, "prod", "namespace:prod:default"),
        ({"diagnostic": True}, "ephemeral", "namespace:ephemeral:flagged"),
        ({"diagnostic": True, "namespace": "prod"}, "ephemeral", "namespace:ephemeral:flagged"),
        ({"namespace": "ephemeral"}, "ephemeral", "namespace:as_asked"),
    ],
)
def test_namespace(fields: dict[str, object], namespace: str, rule: str) -> None:
    candidate = Candidate.model_validate({"content": "Rivers flow", **fields})
    assert assign_namespace(candidate, Policy().namespaces) == (Namespace(namespace), rule)


def test_an_explicit_date_is_kept_in_every_namespace() -> None:
    answer = namespace_gate(draft(source="test_suite", expires_at="2030-01-01T00:00:00Z"), context())
    assert isinstance(answer, Draft) and answer.expires_at == datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["Session 4 of the pottery course started", "finished", "School started", "The lease ended"]
)
def test_states_of_other_things_are_facts(text: str) -> None:
    assert noise_signal(text, Policy().noise) is None


@every_row(
    ("fields", "code"),
    [
        ({"owner": "ana"}, None),
        ({"owner": "ben"}, "border:not_your_space"),
        ({"space": "session", "owner": "s1"}, None),
        ({"space": "session", "owner": "s2"}, "border:not_your_space"),
        ({"space": "project", "owner": "apollo"}, None),
        ({"space": "project", "owner": "gemini"}, "border:not_your_space"),
        ({"space": "system", "owner": "x"}, "border:not_your_space"),
        ({"owner": "ana", "scope": "planner"}, None),
        ({"owner": "ana", "scope": "executor"}, "border:not_your_scope"),
        ({"owner": "ana", "source": "operator"}, "border:source_not_yours"),
        ({"owner": "ana", "source": "system"}, "border:source_not_yours"),
        ({"owner": "ana", "source": "user"}, None),
        ({"owner": "ana", "author": "planner"}, None),
        ({"owner": "ana", "author": "mallory"}, "border:not_your_name"),
        ({"owner": "ana", "agent_id": "executor"}, "border:not_your_name"),
        ({"owner": "ana", "user_id": "ben"}, "border:not_your_name"),
        ({"owner": "ana", "author": {"id": "planner", "name": "Ana's planner"}}, None),
        ({"owner": "ana", "author": {"id": "planner", "name": "A\u200dna"}}, "border:not_your_name"),
        ({"owner": "ana", "author": {"id": "planner", "name": "the ro\u034fot"}}, "border:not_your_name"),
        ({"owner": "ana", "source": "tool", "actor_id": "web-search"}, None),
        ({"owner": "ana", "source": "tool", "actor_id": "root"}, "border:not_your_name"),
    ],
)
def test_a_bound_caller_writes_only_within_its_borders(fields: dict[str, object], code: str | None) -> None:
    assert refused(border_gate(draft(**fields), context(caller=BOUND))) == code
    assert refused(border_gate(draft(**fields), context())) is None


def test_a_caller_without_the_right_writes_nothing() -> None:
    reader = Caller(user="ana", rights=frozenset({Right.READ}), trusted=False)
    assert refused(border_gate(draft(owner="ana"), context(caller=reader))) == "border:no_write_right"


def test_what_a_caller_sees() -> None:
    from recollect.model.ledger import Address
    from recollect.model.vocabulary import Space

    ours = Address("default", Namespace.PROD, Space.USER, "ana")
    assert sees(BOUND, ours, "shared") and sees(BOUND, ours, "planner")
    assert not sees(BOUND, ours, "executor")
    assert not sees(BOUND, ours._replace(owner="ben"), "shared")
    assert not sees(BOUND, ours._replace(tenant="other"), "shared")
    assert not sees(BOUND, None, "shared")
    assert may_read(BOUND, ours._replace(space=Space.SYSTEM, owner="any"))


@every_row(
    ("source", "caller", "stated", "authority"),
    [
        (Source.USER, Caller(), None, Authority.USER_ASSERTED),
        (Source.AGENT, Caller(), None, Authority.AI_INFERRED),
        (Source.OPERATOR, Caller(), None, Authority.SYSTEM_IMPOSED),
        (Source.TOOL, Caller(agent="calculator"), None, Authority.TOOL_VERIFIED),
        (Source.TOOL, Caller(agent="search"), None, Authority.AI_INFERRED),
        (Source.AGENT, Caller(), Authority.TOOL_VERIFIED, Authority.TOOL_VERIFIED),
        (Source.AGENT, BOUND, Authority.SYSTEM_IMPOSED, Authority.AI_INFERRED),
        (Source.USER, Caller(agent="a", trusted=False), None, Authority.AI_INFERRED),
        (Source.USER, BOUND, None, Authority.AI_INFERRED),
        (Source.USER, Caller(user="ana", trusted=False), None, Authority.USER_ASSERTED),
        (Source.USER, replace(BOUND, rights=frozenset({Right.RELAY})), None, Authority.USER_ASSERTED),
    ],
)
def test_authority_is_granted_and_not_claimed(
    source: Source, caller: Caller, stated: Authority | None, authority: Authority
) -> None:
    assert grant_authority(source, caller, stated, ("calculator",))[0] is authority


@every_row(
    ("content", "event_type", "sublayer"),
    [
        ("Ana prefers dark mode", "preference", "preference"),
        ("No emojis", "preference", "constraint"),
        ("Always use absolute paths", "preference", "rule"),
        ("We decided to use Postgres", "decision", "fact"),
        ("Actually, the port is 9090", "correction", "fact"),
        ("Deployed version 1.2 to staging", "execution", "fact"),
        ("My name is Ana", "fact", "identity"),
        ("The nightly build failed on Windows", "fact", "failure"),
        ("To reset the cache, restart the worker", "fact", "method"),
        ("The goal is to ship in May", "fact", "goal"),
        ("Water boils at 100 degrees", "fact", "fact"),
    ],
)
def test_statements_are_classified(content: str, event_type: str, sublayer: str) -> None:
    candidate = Candidate(content=content)
    assert classify_event(candidate, Source.USER)[0] == event_type
    assert classify_layer(candidate)[1] == sublayer


def test_what_the_caller_says_of_a_statement_is_believed() -> None:
    candidate = Candidate(content="No emojis", event_type="decision", sublayer="goal", importance=1)
    assert classify_event(candidate, Source.USER) == ("decision", "event_type:as_given")
    assert classify_layer(candidate) == ("intent", "goal", "layer:of_given_sublayer")
    assert weigh(candidate, EventType.DECISION, "goal") == (1, ("importance:as_given",))


@pytest.mark.parametrize(
    ("content", "event_type", "sublayer", "importance"),
    [
        ("x", EventType.FACT, "fact", 2),
        ("x", EventType.PREFERENCE, "preference", 3),
        ("x", EventType.FACT, "identity", 4),
        ("This is critical", EventType.FACT, "fact", 3),
        ("This is critical", EventType.DECISION, "fact", 5),
        ("x", EventType.CONTEXT, "fact", 1),
    ],
)
def test_importance(content: str, event_type: EventType, sublayer: str, importance: int) -> None:
    assert weigh(Candidate(content=content), event_type, sublayer)[0] == importance


@pytest.mark.parametrize(
    ("write", "event_type", "code"),
    [
        ({"policy": "none"}, "fact", "write_policy_none"),
        ({"policy": "minimal"}, "fact", "write_policy_minimal"),
        ({"policy": "minimal"}, "decision", None),
        ({"policy": "normal"}, "context", None),
        ({"deny_event_types": ["fact"]}, "fact", "event_type_denied"),
        ({"allow_event_types": ["fact"]}, "decision", "event_type_not_allowed"),
        ({"policy": "minimal", "allow_event_types": ["fact"]}, "fact", None),
    ],
)
def test_write_policy(write: dict[str, object], event_type: str, code: str | None) -> None:
    assert event_type_refusal(Kind.SEMANTIC, EventType(event_type), parse_policy({"write": write})) == code


@every_row(
    "text",
    [
        "heartbeat",
        "Heartbeat OK 12:00",
        "tick marker for burst 5",
        "No changes.",
        "nothing to report today",
        "check-in",
        "routine scan: nothing to report",
        "Status unchanged, no changes since 09:15.",
        "[INFO] worker 3 idle",
        "Session started.",
        "all systems nominal, continuing",
        "Everything as expected: heartbeat received at 12:00:01 UTC",
    ],
)
def test_journal_entries_are_noise(text: str) -> None:
    assert noise_signal(text, Policy().noise) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Hotel check-in at 3 pm",
        "Heartbeat interval is 30 seconds",
        "Check-in is at 15:00",
        "A heartbeat is sent every 30 seconds",
        "The heartbeat interval is 30 seconds for Kafka",
        "Ana wants no changes to the contract",
        "Ephemeral ports start at 49152",
    ],
)
def test_facts_that_mention_a_signal_are_not(text: str) -> None:
    assert noise_signal(text, Policy().noise) is None
    assert noise_signal(text, parse_policy({"noise": {"match": "substring"}}).noise) is not None
    assert noise_signal(text, parse_policy({"noise": {"match": "never"}}).noise) is None


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"content": "x" * 1_200, "tier": "canon"}, None),
        ({"content": "x" * 1_201, "tier": "canon"}, "too_long"),
        ({"content": "x" * 1_201}, None),
        ({"content": "x" * 281, "kind": "insight", "source": "agent"}, "too_long"),
        ({"content": "x" * 281, "kind": "insight", "source": "user"}, None),
        ({"content": "x" * 281, "meta": {"summary_of": []}, "source": "agent"}, "too_long"),
    ],
)
def test_length(fields: dict[str, object], code: str | None) -> None:
    made = draft(**fields)
    assert refused(length_gate(made._replace(source=made.candidate.source or Source.USER), context())) == code


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


@every_row(
    "fields",
    [
        {"content": f"token {SECRET}"},
        {"tags": [SECRET]},
        {"title": SECRET},
        {"owner": SECRET},
        {"category": SECRET},
        {"meta": {"deep": [{"er": SECRET}]}},
        {"meta": {SECRET: 1}},
        {"meta": {"password": "hunter2-Zx9Q"}},
        {"content": "hunter2-Zx9Q", "title": "admin password"},
        {"content": "hunter2-Zx9Q", "canonical_key": "Admin-Login-Password"},
        {"context": {"k": SECRET}},
        {"entities": [{"name": SECRET}]},
        {"author": {"id": "x", "name": SECRET}},
        {"run_id": SECRET},
        {"artifact_ref": {"url": SECRET}},
        {"aliases": [SECRET]},
    ],
)
def test_a_secret_in_any_field_is_denied_and_never_repeated(fields: dict[str, object]) -> None:
    answer = privacy_gate(draft(**{"content": "clean words", **fields}), context())
    assert isinstance(answer, Rejection) and answer.code == "privacy_deny_sensitive"
    assert SECRET not in answer.detail and "hunter2" not in answer.detail


@every_row(
    "fields",
    [
        {"author": "root"},
        {"author": {"id": "admin", "name": "admin"}},
        {"entities": [{"name": "postgres"}]},
        {"meta": {"name": "oracle", "label": "oracle"}},
    ],
)
def test_a_name_is_no_password_of_the_thing_that_it_names(fields: dict[str, object]) -> None:
    """A known user's name right behind itself reads as a user and a password, which one thing under its name is not."""
    assert isinstance(privacy_gate(draft(content="clean words", **fields), context()), Draft)
    login = {"name": "admin", "value": "admin"}
    assert refused(privacy_gate(draft(content="clean words", meta=login), context())) == "privacy_deny_sensitive"


def test_policy_redacts_what_it_is_told_to() -> None:
    policy = {"privacy": {"actions": {"email": "redact"}}}
    made = draft("Write to ana@example.com", tags=["ana@example.com"], meta={"to": ["ana@example.com"]})
    answer = privacy_gate(made, context(policy))
    assert isinstance(answer, Draft)
    assert answer.candidate.content == "Write to [redacted:email]"
    assert answer.candidate.tags == ("[redacted:email]",)
    assert answer.candidate.meta == {"to": ["[redacted:email]"]}
    assert refused(privacy_gate(made, context({"privacy": {"actions": {"email": "deny"}}}))) == "privacy_deny_sensitive"
    kept = privacy_gate(made, context())
    assert isinstance(kept, Draft) and kept.candidate is made.candidate


def test_profile_keys_are_allow_listed() -> None:
    made = draft("42", kind="profile", key="shoe_size")
    assert refused(privacy_gate(made, context())) == "privacy_profile_key_not_allowed"
    assert refused(privacy_gate(made, context({"privacy": {"profile_keys": None}}))) is None
    assert refused(privacy_gate(made, context({"privacy": {"profile_keys": ["shoe_size"]}}))) is None


def test_the_gates_run_in_order_and_the_first_no_ends_it() -> None:
    expected = (
        "place namespace border classify write_policy retention steps noise writing length privacy validity naming"
    )
    assert list(GATES) == list(Policy().gates.order) == expected.split()
    assert all(gate.__name__ == f"{name}_gate" for name, gate in GATES.items())
    everything_wrong = draft("tick marker " + SECRET + " x" * 1_000, tier="canon")
    answer = pass_gates(everything_wrong, context({"noise": {"match": "substring"}, "write": {"policy": "none"}}))
    assert refused(answer) == "write_policy_none"
    assert refused(pass_gates(everything_wrong, context({"noise": {"match": "substring"}}))) == "noise_signal"
    assert refused(pass_gates(everything_wrong, context())) == "too_long"


def test_the_order_of_the_gates_is_the_policys() -> None:
    everything_wrong = draft("tick marker " + SECRET + " x" * 1_000, tier="canon")
    vault = load_policy("vault")
    assert vault.gates.order[:2] == ("noise", "length")
    overrides = {**vault.to_dict(), "write": {"policy": "none"}}
    assert refused(pass_gates(everything_wrong, context(overrides))) == "noise_signal"
    for wrong, why in (
        (["privacy"], "each of these once"),
        ([name for name in GATES if name != "privacy"] + ["border"], "each of these once"),
        (["naming", *(name for name in GATES if name != "naming")], "must come before naming"),
    ):
        with pytest.raises(BadPolicy, match=why):
            load_policy({"gates": {"order": wrong}})


def test_a_draft_says_what_decided_it() -> None:
    answer = pass_gates(draft("No emojis"), context())
    assert isinstance(answer, Draft)
    assert {d.gate for d in answer.decisions} >= {
        "namespace",
        "border",
        "classify",
        "write_policy",
        "noise",
        "privacy",
        "key",
    }
    for decision in answer.decisions:
        assert Decision.unpacked(decision.packed()) == decision


def test_a_rule_for_every_turn_is_a_semantic_memory_in_the_sublayer_of_rules() -> None:
    rule = {"layer": "intent", "sublayer": "rule", "kind": "semantic"}
    assert is_standing_rule(rule)
    assert not any(is_standing_rule(rule | other) for other in ({"layer": "self"}, {"sublayer": "goal"}))
    assert not is_standing_rule(rule | {"kind": "procedural"})
    assert not is_standing_rule({})
