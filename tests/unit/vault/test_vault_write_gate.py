"""The eight steps of the write gate, one by one and in their order."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import BadInput
from recollect.policies import load_policy
from recollect.rules.vault import parse_profile
from recollect.vault import MemoryVault, VaultReceipt

from .conftest import OpenVault

SIGNALS = (
    "tick marker",
    "runtime snapshot",
    "check-in",
    "heartbeat",
    "burst tick",
    "no changes",
    "nothing to report",
    "status unchanged",
    "routine scan",
    "ephemeral",
)
SECRET = "The admin password: Tr0ub4dor&3"
UNLIKE = [
    "Gardens need water in summer",
    "Astronomers chart distant galaxies",
    "Violins are tuned in fifths",
    "Bread dough rises overnight",
]


def add(vault: MemoryVault, text: str, scope: str = "shared", category: str = "fact", **more: object) -> VaultReceipt:
    return vault.add_memory(text, scope, category, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("signal", SIGNALS)
def test_1_a_journal_signal_anywhere_is_refused(vault: MemoryVault, signal: str) -> None:
    refused = add(vault, f"The {signal.upper()} of today was fine")
    assert (refused.outcome, refused.code, refused.memory) == ("denied", "noise_signal", None)
    assert signal in refused.message
    assert vault.vault_stats()["raw_lines"] == 0


def test_2_the_log_tier_is_refused(vault: MemoryVault) -> None:
    assert add(vault, "The mission is to stabilise", tier="log").code == "tier_log"


def test_3_more_than_1200_characters_are_refused(vault: MemoryVault) -> None:
    long = ("word " * 240)[:1200]
    assert add(vault, long).ok
    refused = add(vault, long + "s")
    assert refused.code == "too_long"
    assert "Compress or split it first" in refused.message


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"scope": "hermes"}, "unknown_scope"),
        ({"tier": "gold"}, "unknown_tier"),
        ({"category": "gossip"}, "unknown_category"),
        ({"source": "rumour"}, "unknown_source"),
    ],
)
def test_4_unknown_words_are_refused(vault: MemoryVault, fields: dict[str, str], code: str) -> None:
    refused = add(vault, "The mission is to stabilise", **fields)
    assert refused.code == code
    assert "Known: " in refused.message


@pytest.mark.parametrize(
    ("scope", "source"),
    [
        ("shared", "chat"),
        ("orion", "manual"),
        ("elysia", "tool"),
        ("shared", "operator"),
        ("orion", "promotion"),
        ("elysia", None),
    ],
)
def test_4_known_words_pass(vault: MemoryVault, scope: str, source: str | None) -> None:
    assert add(vault, "The mission is to stabilise", scope, source=source).ok


@pytest.mark.parametrize(
    "text",
    [
        "My SSN is 536-90-4399",
        "Pay with 4111 1111 1111 1111",
        SECRET,
        "Use the API key sk-proj-4f8Jk2LmN9pQ7rS1tU3vW5xY6zA8bC0dE2fG4hI6jK8lM0nO",
    ],
)
def test_5_sensitive_data_is_blocked(vault: MemoryVault, text: str) -> None:
    refused = add(vault, text)
    assert refused.code == "privacy_deny_sensitive"
    assert text not in refused.message
    assert vault.path.read_bytes() == b""


def test_5_tags_and_topics_are_scanned_too(vault: MemoryVault) -> None:
    assert add(vault, "The card", tags=["4111 1111 1111 1111"]).code == "privacy_deny_sensitive"
    named = add(vault, "hunter2-Zx9Q", tier="register", topic_id="admin_password")
    assert named.code == "privacy_deny_sensitive"


def test_5_what_the_policy_redacts_is_redacted(open_vault: OpenVault) -> None:
    vault = open_vault(policy={"preset": "vault", "privacy": {"actions": {"email": "redact"}}})
    stored = add(vault, "Write to ana@example.org on Mondays", tags=["ana@example.org"]).memory
    assert stored and stored.text == "Write to [redacted:email] on Mondays"
    assert vault.update(stored.id, "Write to ben@example.org").ok
    assert "example.org" not in vault.path.read_text()


def test_6_a_known_topic_is_updated_in_place(vault: MemoryVault) -> None:
    first = add(vault, "Projects: dashboard, memory upgrade", tier="register", topic_id="current_projects")
    second = add(
        vault, "Projects: dashboard, memory upgrade, email integration", tier="register", topic_id="current_projects"
    )
    assert first.memory and second.memory
    assert (first.outcome, second.outcome) == ("stored", "updated")
    assert second.memory.id == first.memory.id
    assert (second.memory.version, second.memory.created_at) == (2, first.memory.created_at)
    assert second.memory.updated_at is not None
    assert [m.text for m in vault.recall()] == ["Projects: dashboard, memory upgrade, email integration"]


def test_6_a_topic_belongs_to_its_scope(vault: MemoryVault) -> None:
    for scope in ("shared", "orion"):
        assert (
            add(vault, "Projects: dashboard", scope, tier="register", topic_id="current_projects").outcome == "stored"
        )


def test_6_a_register_never_overwrites_canon_of_the_same_topic(vault: MemoryVault) -> None:
    canon = add(vault, "The mission is to stabilise the runtime", tier="canon", topic_id="mission")
    register = add(vault, "Today we bake bread together", tier="register", topic_id="mission")
    assert register.outcome == "stored"
    assert canon.memory in vault.recall()


def test_6_an_update_in_place_asks_neither_for_novelty_nor_for_room(open_vault: OpenVault) -> None:
    vault = open_vault(policy={"preset": "vault", "capacity": {"max_active": 1}})
    add(vault, "Projects: dashboard", tier="register", topic_id="current_projects")
    assert add(vault, "Projects: dashboard", tier="register", topic_id="current_projects").outcome == "updated"


def test_7_sixty_percent_of_common_words_is_a_duplicate(vault: MemoryVault) -> None:
    stored = add(vault, "alpha bravo charlie delta")
    refused = add(vault, "delta charlie bravo zulu")  # 3 of 5 words, letters in another order
    assert stored.memory and refused.code == "near_duplicate"
    assert stored.memory.id in refused.message
    assert add(vault, "delta charlie yankee zulu").ok  # 2 of 6


def test_7_seventy_percent_alike_in_letters_is_a_duplicate(vault: MemoryVault) -> None:
    add(vault, "stabilizing runtimes")
    assert add(vault, "stabilising runtime").code == "near_duplicate"  # no word in common


LONG = (
    "stabilising bridges flooding harbours gathering lanterns painting ceilings measuring glaciers mending violins " * 3
)


@pytest.mark.parametrize("opens", [MemoryVault, partial(recollect.open, policy="vault")], ids=["vault", "store"])
def test_7_letters_are_compared_in_long_texts_too(tmp_path: Path, opens: Callable[[Path], Any]) -> None:
    """``difflib`` leaves out the frequent letters of a text of 200 characters or more, unless it is told not to."""
    words = LONG.split()
    other = [f"{word}es" for word in words]
    unlike = " ".join(sorted(word[::-1] for word in words))
    with opens(tmp_path / "vault.jsonl") as place:
        say = partial(add, place) if isinstance(place, MemoryVault) else place.add
        assert str(say(" ".join(words)).outcome) == "stored"
        refused = say(" ".join(other))
        assert (str(refused.outcome), refused.code if isinstance(refused, VaultReceipt) else refused.reasons[0]) == (
            "denied",
            "near_duplicate",
        )
        assert str(say(unlike).outcome) == "stored"


@pytest.mark.parametrize(
    ("action", "said", "outcome"),
    [
        ("reject", "The creator lives in Lisbon today", "denied"),
        ("ignore", "The creator lives in Lisbon", "stored"),
        ("link", "The creator lives in Lisbon", "stored"),
        ("reinforce", "The creator lives in Lisbon.", "reinforced"),
        ("reinforce", "The creator lives in Porto", "stored"),
    ],
)
def test_7_the_policy_says_what_becomes_of_a_duplicate(
    open_vault: OpenVault, action: str, said: str, outcome: str
) -> None:
    vault = open_vault(policy={"preset": "vault", "near_duplicates": {"action": action}})
    known = add(vault, "The creator lives in Lisbon").memory
    answer = add(vault, said)
    assert known and (answer.outcome, answer.ok) == (outcome, outcome != "denied")
    assert vault.vault_stats()["raw_lines"] == (2 if outcome == "stored" else 1)
    assert (known.id in answer.message) == (action != "ignore"), "it is named, unless nobody looked"
    assert outcome != "reinforced" or answer.memory == known
    assert vault.find_consolidation_candidates() or outcome != "stored"


def test_7_only_within_the_scope(vault: MemoryVault) -> None:
    assert add(vault, "The creator lives in Lisbon").ok
    assert add(vault, "The creator lives in Lisbon", "orion").ok
    assert add(vault, "The creator lives in Lisbon", "orion").code == "near_duplicate"


def test_7_a_new_register_is_compared_as_well(vault: MemoryVault) -> None:
    add(vault, "The creator lives in Lisbon")
    assert add(vault, "The creator lives in Lisbon", tier="register", topic_id="home").code == "near_duplicate"


def test_7_what_was_deleted_is_no_duplicate(vault: MemoryVault) -> None:
    stored = add(vault, "The creator lives in Lisbon").memory
    assert stored and vault.delete(stored.id).ok
    assert add(vault, "The creator lives in Lisbon").ok


def test_8_a_full_vault_takes_no_more(open_vault: OpenVault) -> None:
    vault = open_vault(policy={"preset": "vault", "capacity": {"max_active": 2}})
    stored = [add(vault, text, scope).memory for text, scope in zip(UNLIKE, ("shared", "orion"), strict=False)]
    assert add(vault, UNLIKE[2]).code == "capacity_full"
    assert stored[0] and vault.delete(stored[0].id).ok
    assert add(vault, UNLIKE[2]).ok


def test_8_a_full_vault_names_what_could_go(open_vault: OpenVault) -> None:
    vault = open_vault(policy={"preset": "vault", "capacity": {"max_active": 2}})
    add(vault, UNLIKE[0])
    lunch = add(vault, UNLIKE[1], "orion", tier="register").memory
    assert lunch and lunch.id in add(vault, UNLIKE[2]).message, "what propose_deletions() would name"
    elysia = open_vault(policy=vault.policy, profile={"memory": {"scopes": ["shared", "elysia"]}})
    assert lunch.id not in add(elysia, UNLIKE[2]).message, "of what another agent wrote nothing is told"
    vault.delete(lunch.id)
    add(vault, UNLIKE[1])
    nothing_to_go = add(vault, UNLIKE[2]).message
    assert "propose_deletions" not in nothing_to_go, "where it has nothing to propose it is no help"
    assert "update_by_topic" in nothing_to_go and "capacity.max_active" in nothing_to_go


def test_8_a_hundred_by_default(vault: MemoryVault) -> None:
    assert vault.vault_stats()["max"] == 100


def test_the_steps_come_in_their_order(open_vault: OpenVault) -> None:
    """A text that fails every step fails the first; each fault that is taken away shows the next."""
    vault = open_vault(policy={"preset": "vault", "capacity": {"max_active": 1}})
    add(vault, UNLIKE[0])
    padding = " tide" * 300
    faults = [
        (f"heartbeat {SECRET}{padding}", "log", "hermes", "noise_signal"),
        (f"{SECRET}{padding}", "log", "hermes", "tier_log"),
        (f"{SECRET}{padding}", "canon", "hermes", "too_long"),
        (SECRET, "canon", "hermes", "unknown_scope"),
        (SECRET, "canon", "shared", "privacy_deny_sensitive"),
        (UNLIKE[0], "canon", "shared", "near_duplicate"),
        (UNLIKE[1], "canon", "shared", "capacity_full"),
    ]
    for text, tier, scope, code in faults:
        assert add(vault, text, scope, tier=tier).code == code


def test_the_order_of_steps_1_to_5_is_the_policys(open_vault: OpenVault) -> None:
    steps = {
        "noise": "noise_signal",
        "length": "too_long",
        "border": "unknown_scope",
        "privacy": "privacy_deny_sensitive",
    }
    order = load_policy("vault").gates.order
    assert [name for name in order if name in steps] == list(steps)
    last = [name for name in order if name not in ("noise", "length")] + ["length", "noise"]
    vault = open_vault(policy={"preset": "vault", "gates": {"order": last}})
    text = f"heartbeat {SECRET}{' tide' * 300}"
    assert [add(vault, text, "hermes").code, add(vault, text).code] == ["unknown_scope", "privacy_deny_sensitive"]
    assert [add(vault, text.replace(SECRET, "")).code, add(vault, "heartbeat").code] == ["too_long", "noise_signal"]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": 7},
        {"text": "   "},
        {"text": "a\x00b"},
        {"text": "a\ud800b"},
        {"text": None},
        {"tags": "one"},
        {"tags": [1]},
        {"tags": ["tag"] * 65},
        {"topic_id": "x" * 257},
        {"category": 3},
        {"colour": "red"},
    ],
)
def test_what_has_the_wrong_shape_is_refused(vault: MemoryVault, fields: dict[str, object]) -> None:
    refused = vault.bulk_add([{"text": "The mission", "scope": "shared", "category": "fact", **fields}])[0]
    assert refused.code == "bad_input"
    assert next(iter(fields)) in refused.message
    assert vault.vault_stats()["raw_lines"] == 0


def test_every_refusal_has_a_documented_code() -> None:
    page = (Path(__file__).parents[3] / "docs" / "vault.md").read_text(encoding="utf-8")
    codes = """
        disabled bad_input noise_signal tier_log too_long unknown_scope scope_not_yours unknown_tier unknown_category
        unknown_source privacy_deny_sensitive rejected:value near_duplicate capacity_full not_found already_canon
    """.split()
    for code in codes:
        assert f"| `{code}` |" in page


@pytest.mark.parametrize("topic", [None, "", "  "])
def test_a_topic_is_needed_to_update_by_one(vault: MemoryVault, topic: str | None) -> None:
    refused = vault.update_by_topic(topic, "shared", "Fresh words about the garden")  # type: ignore[arg-type]
    assert (refused.outcome, refused.code) == ("denied", "bad_input")
    assert "topic_id" in refused.message
    assert vault.active() == []


def test_whoever_misses_a_scope_or_a_category_is_told_where_they_come_from(vault: MemoryVault) -> None:
    refused = vault.add_memory("Plans are made on Mondays", "planner", "fact")
    assert refused.message == (
        "There is no scope 'planner'. Known: shared, orion, elysia. Another agent's is added by the profile: memory.agents."
    )
    assert "memory.categories" in vault.add_memory("Plans are made on Mondays", "shared", "plan").message
    with pytest.raises(BadInput, match=r"memory\.agents"):
        vault.recall(["planner"])
    with pytest.raises(BadInput, match=r"memory\.agents"):
        parse_profile({"memory": {"scopes": ["planner"]}})
    assert parse_profile({"memory": {"agents": ["planner"], "scopes": ["planner"]}}).scopes == ("planner",)
