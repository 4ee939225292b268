"""Turns under random policies: every event whole, nothing refused left anywhere, no border crossed, the same bytes again."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from recollect.interfaces.cli.activity import schema_text
from recollect.interfaces.python import Recollect
from recollect.model.canonical import canonical_json
from recollect.model.policy_governance import PATHS
from recollect.model.trace import Trace, TraceType
from recollect.model.vocabulary import Authority, EventType, Kind, Space
from recollect.policies import load_policy
from support import load_cases
from support.invariants import EVERYWHERE, all_memories
from support.made_up_keys import fake
from support.postgres_server import PostgresServer
from support.sayings import SENTENCES, mostly
from support.script import canonical_state, open_seeded

TORTURE = bool(os.environ.get("RECOLLECT_TORTURE"))
EXAMPLES = 1_000 if TORTURE else 8
ON_THE_SERVER = 150 if TORTURE else 4

_CASES = load_cases("extraction")
MESSAGES = [case["message"] for case in _CASES]
STATING = [case["message"] for case in _CASES if case["facts"]]
PLANTED = (
    "I live in Berlin",
    "Never use emojis in replies",
    "The deploy port of the web service is 8080",
    *STATING[:6],
)
"""What somebody else said, in the same words, so that every search would find it if it looked there."""


def some(words: Any, least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([str(word) for word in words]), min_size=least, unique=True)


@st.composite
def writes(draw: st.DrawFn) -> dict[str, Any]:
    denied = draw(mostly([], ["execution"], ["fact", "correction"], ["context"]))
    allowed = draw(mostly(None, [str(e) for e in EventType if e not in denied][:3]))
    kind = draw(mostly("normal", "none", "minimal", "aggressive", "aggressive"))
    return {"policy": kind, "allow_event_types": allowed, "deny_event_types": denied}


@st.composite
def spaces(draw: st.DrawFn) -> dict[str, Any]:
    order = draw(st.permutations([str(space) for space in Space]))[draw(mostly(0, 1, 2, 3)) :]
    open_to_writes = draw(mostly(list(order), list(order)[:1], []))
    paths = [p.model_dump(mode="json") for p in PATHS if draw(mostly(True, False))]
    for path in paths:
        path["authority"] = draw(mostly("user_asserted", *(str(a) for a in Authority)))
    return {"read_order": list(order), "write_spaces": open_to_writes, "paths": paths}


rules = st.one_of(
    st.just({"mode": "never"}),
    st.builds(lambda mode, ticks: {"mode": mode, "ticks": ticks}, st.sampled_from(["ttl", "decay"]), st.integers(1, 4)),
)
phases = st.one_of(
    st.just({"enabled": False}),
    st.fixed_dictionaries({"max_phases": st.none() | st.integers(1, 2), "diff_enabled": st.booleans()}),
    st.just({"mode": "newest_first", "allow_cross_phase_recall": True}),
)
actions = st.sampled_from(["deny", "redact", "allow"])
policies = st.fixed_dictionaries(
    {"traces": st.just({"keep": "all"})},
    optional={
        "write": writes(),
        "spaces": spaces(),
        "phase": phases,
        "retention": st.fixed_dictionaries(
            {"forget_policy": st.sampled_from(["never", "ttl", "decay"])},
            optional={
                "rules": st.dictionaries(
                    st.sampled_from([str(k) for k in Kind]),
                    st.dictionaries(st.sampled_from([str(e) for e in EventType]), rules, max_size=2),
                    max_size=2,
                )
            },
        ),
        "promotion": st.fixed_dictionaries(
            {"at_once": mostly(True, False)}, optional={"semantic": some(EventType, 3), "profile": some(EventType, 3)}
        ),
        "turns": st.fixed_dictionaries(
            {"short_term_window": st.integers(1, 3)},
            optional={
                "summarise": st.booleans(),
                "summary_characters": st.integers(100, 400),
                "max_facts": st.sampled_from([0, 1, 20]),
                "recalled_facts": st.sampled_from([0, 2, 10]),
                "recalled_rules": st.sampled_from([0, 2, 10]),
            },
        ),
        "privacy": st.fixed_dictionaries(
            {"actions": st.fixed_dictionaries({"email": actions, "phone": actions})},
            optional={
                "deny_patterns": st.just(["(?i)project\\s+bluebird"]),
                "profile_keys": st.none() | some(["city", "name", "likes"]),
            },
        ),
        "conflict": st.fixed_dictionaries(
            {"policy": st.sampled_from(["authority", "manual", "latest_wins", "source_priority"])},
            optional={"authority_order": st.permutations([str(a) for a in Authority])},
        ),
        "authority": st.just({"verifying_tools": ["crm"]}),
        "near_duplicates": st.fixed_dictionaries(
            {"action": st.sampled_from(["ignore", "reinforce", "link", "reject"])}
        ),
        "capacity": st.just({"max_active": 3 * len(PLANTED) + 6}),
        "keys": st.just({"fallback": "shared"}) | st.just({"parser": False}),
        "recall": st.fixed_dictionaries({"top_k": st.integers(1, 6)}),
        "operations": st.just({"keep": False}),
    },
)


EMAIL, PHONE = "zelvakin.brunost@fjordkassen.example", "+49 30 901820 77"
SECRETS = (
    f"ghp_{fake(36)}",
    f"AKIA{fake(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}",
    "hunter2-very-secret",
    "4111 1111 1111 1111",
    "536-90-4399",
    "DE89 3704 0044 0532 0130 00",
)
"""Refused by every policy here."""
SENSITIVE = (
    f"The deploy token is {SECRETS[0]}.",
    f"I live in Porto. Remember for me: the key is {SECRETS[1]}",
    f"the password is {SECRETS[2]}",
    f"My card is {SECRETS[3]}, call me Ana.",
    f"My SSN is {SECRETS[4]}.",
    f"Remember for the project: the account is {SECRETS[5]}.",
    f"My email is {EMAIL}.",
    f"Call me at {PHONE} tomorrow. I like tea.",
    "Remember for the project: we work on Project Bluebird.",
)
MOVES = (
    "I live in Lisbon.",
    "Actually, I live in Porto.",
    "it's Braga, not Porto",
    "I no longer live in Lisbon.",
    "Remember for the project: the release is on Friday.",
    "Where do I live? The build server stands in Frankfurt.",
)
"""They meet, correct and end each other."""
texts = st.sampled_from(MOVES) | st.one_of(*map(st.sampled_from, (SENTENCES, STATING, MESSAGES, SENSITIVE)))
utterances = st.lists(texts, min_size=1, max_size=2).map(" ".join)
exchanges = st.fixed_dictionaries(
    {
        "session": st.sampled_from(["s1", "s1", "s2"]),
        "user": utterances,
        "owner": st.just("ana"),
        "project": mostly("apollo", None),
    },
    optional={
        "ai": utterances,
        "tools": st.lists(
            st.fixed_dictionaries({"name": st.sampled_from(["crm", "web"]), "output": utterances}), max_size=2
        ),
        "ai_profile": st.just("concierge"),
    },
)
talks = st.lists(exchanges, min_size=4, max_size=7)


def unwanted(policy: Mapping[str, Any]) -> list[str]:
    """What this policy lets be kept nowhere."""
    privacy = policy.get("privacy", {})
    named = {"email": EMAIL, "phone": PHONE}
    cut = [value for name, value in named.items() if privacy.get("actions", {}).get(name, "allow") != "allow"]
    return [*SECRETS, *cut, *(["Bluebird"] if "deny_patterns" in privacy else [])]


@contextmanager
def opened(location: Any, policy: Mapping[str, Any]) -> Iterator[Recollect]:
    """A store in which somebody else's memories lie already, whatever the policy under which the person talks."""
    with open_seeded(location, 3, policy={"traces": {"keep": "all"}}) as mem:
        for where in ({"owner": "ben"}, {"space": "session", "owner": "s9"}, {"space": "project", "owner": "zeus"}):
            mem.add_many([{"content": words, "tags": ["planted"], **where} for words in PLANTED])
    with open_seeded(location, 4, policy=dict(policy)) as mem:
        yield mem


def hold(mem: Recollect, talk: Sequence[Mapping[str, Any]]) -> list[Any]:
    """The turns of a talk; in the middle the first session begins a new phase."""
    turns = []
    for number, exchange in enumerate(talk):
        turns.append(mem.turn(**exchange))
        if number == 1 and mem.engine.policy.phase.enabled:
            mem.start_phase(space="session", owner="s1", name="second")
    return turns


@cache
def validator(type: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema_text(TraceType(type))))


def check_events(events: Sequence[Trace]) -> None:
    for event in events:
        wrong = [error.message[:200] for error in validator(event["type"]).iter_errors(event)]
        assert not wrong, (event["type"], wrong)


def everything_kept(mem: Recollect) -> str:
    """All that a store gives out again: memories, traces, operational events and exports."""
    return "\n".join(
        [
            *(memory.to_json() for memory in all_memories(mem).values()),
            *(canonical_json(event) for event in mem.traces(limit=10_000)),
            canonical_json(mem.events(limit=1_000).to_dict()),
            *mem.export(include_namespaces=EVERYWHERE, status=None),
        ]
    )


def files(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.name.startswith(path.name))


def check_borders(mem: Recollect, talk: Sequence[Mapping[str, Any]], turns: Sequence[Any]) -> None:
    order = mem.engine.policy.spaces.read_order
    for exchange, turn in zip(talk, turns, strict=True):
        own = {"session": exchange["session"], "user": "ana", "project": exchange.get("project"), "system": "default"}
        for item in turn.recall.items:
            assert item.memory.space in order
            assert item.memory.owner == own[item.memory.space]
            assert "planted" not in item.memory.tags


def others(mem: Recollect) -> list[tuple[str, str]]:
    """What lies in the streams of everybody but the person who talks."""
    found = all_memories(mem).values()
    return sorted((m.id, m.status) for m in found if m.owner not in {"ana", "s1", "s2", "apollo", "default"})


@settings(max_examples=EXAMPLES)
@given(policies, talks)
def test_every_event_is_whole_nothing_refused_is_left_and_no_border_is_crossed(
    policy: dict[str, Any], talk: list[dict[str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "m.db", policy) as mem:
        before = others(mem)
        turns = hold(mem, talk)
        check_events([event for turn in turns for event in turn.events])
        check_events(mem.traces(limit=10_000))
        check_borders(mem, talk, turns)
        assert others(mem) == before
        told = everything_kept(mem) + canonical_json([turn.events for turn in turns])
        on_disk = files(Path(folder) / "m.db")
        for secret in unwanted(policy):
            assert secret not in told and secret.encode() not in on_disk, secret
        assert mem.verify().ok


def as_told(mem: Recollect) -> tuple[list[str], str, list[str]]:
    return list(canonical_state(mem.engine)), mem.ledger_root(), list(map(canonical_json, mem.traces(limit=10_000)))


@settings(max_examples=EXAMPLES)
@given(policies, talks)
def test_the_same_turns_give_the_same_bytes(policy: dict[str, Any], talk: list[dict[str, Any]]) -> None:
    told = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "m.db", policy) as mem:
            answers = canonical_json([turn.to_dict() for turn in hold(mem, talk)])
            told.append((*as_told(mem), answers))
    assert told[0] == told[1]


def test_a_server_makes_the_same_of_the_same_turns(postgres: PostgresServer, server_store: str) -> None:
    @settings(max_examples=ON_THE_SERVER)
    @given(policies, talks)
    def check(policy: dict[str, Any], talk: list[dict[str, Any]]) -> None:
        postgres.empty_database(server_store)
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "m.db", policy) as file:
            store_id = file.engine.store.store_id
            postgres.execute(f"UPDATE recollect.store SET value = '{store_id}' WHERE name = 'store_id'", server_store)
            with opened(server_store, policy) as server:
                turns = hold(server, talk)
                check_borders(server, talk, turns)
                assert [turn.to_dict() for turn in turns] == [turn.to_dict() for turn in hold(file, talk)]
                assert as_told(server) == as_told(file)

    check()


@settings(max_examples=40)
@given(policies)
def test_every_policy_drawn_here_is_a_policy(policy: dict[str, Any]) -> None:
    """Else a talk would be held under fewer policies than it seems."""
    in_force = load_policy(policy)
    assert in_force.traces.keep == "all"


def test_the_checks_find_what_they_look_for() -> None:
    """The proof has teeth: an allowed secret is found in all that is kept and on the disk, and a missing key is noticed."""
    allowing = {"traces": {"keep": "all"}, "privacy": {"actions": {"api_key": "allow"}}}
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "m.db", allowing) as mem:
        (turn,) = hold(mem, [{"session": "s1", "owner": "ana", "user": SENSITIVE[0]}])
        assert SECRETS[0] in everything_kept(mem) and SECRETS[0].encode() in files(Path(folder) / "m.db")
        for event in turn.events:
            assert not validator(event["type"]).is_valid({k: v for k, v in event.items() if k != "session"})
        assert mem.query("deploy port", owner="ben").items, "what was planted can be found where it lies"
