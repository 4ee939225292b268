"""Every reason code comes about: in a write's decisions, in the ledger, or where a test of its own shows it."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.receipt import Receipt
from recollect.rules.reasons import REASONS
from rows import every_row
from support import load_cases

TESTS = Path(__file__).parents[2]
POLICY = {"authority": {"verifying_tools": ["crm"]}, "privacy": {"actions": {"email": "redact"}}}
LONG_NAME, ITS_SHORT_FORM = "International-Conference-Registration-Deadline-Extension", "Inter-Confe-Exten-AOJSTTSXYZ"


class Clock:
    """A clock that stands still until it is moved."""

    now = datetime(2026, 3, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mem(clock: Clock) -> Iterator[Recollect]:
    with recollect.open(":memory:", policy=POLICY, clock=clock) as opened:
        yield opened


def decided(mem: Recollect, receipt: Receipt) -> set[str]:
    """Return the codes of a write's receipt, and of the decisions that its memory keeps."""
    assert receipt.memory is not None
    return {*receipt.reasons, *(decision["rule"] for decision in mem.explain(receipt.memory.id).decisions)}


def in_the_ledger(mem: Recollect) -> set[str]:
    with mem.engine.read() as reader:
        return {entry.rule for stream in reader.streams_of(mem.engine.tenant) for entry in reader.entries(stream)}


def stored(mem: Recollect, content: str, **fields: Any) -> str:
    memory = mem.add(content, **{"owner": "ana", **fields}).memory
    assert memory is not None
    return memory.id


@every_row(
    ("codes", "content", "fields"),
    [
        ("noise:none length:within_limit privacy:clean key:reader layer:default", "Tea is hot", {}),
        ("key:fallback layer:reports_failure", "The deployment failed because the disk was full", {}),
        ("key:explicit", "8080", {"canonical_key": "Api-Port"}),
        ("key:topic", "It is open", {"tier": "register", "topic_id": "door"}),
        ("key:profile layer:says_who", "I live in Porto", {"kind": "profile", "key": "city", "source": "user"}),
        ("key:event event_type:kind_is_an_event", "Something happened today", {"kind": "episodic"}),
        ("event_type:default", "The harbour is north of the mill", {}),
        ("event_type:source_is_a_tool authority:tool_verified", "Ana pays", {"source": "tool", "actor_id": "crm"}),
        ("event_type:opens_as_correction", "Actually, the port is 9090", {}),
        ("event_type:says_decided", "We decided to use Postgres", {}),
        ("event_type:says_preference layer:says_preference", "Ana likes tea", {}),
        ("event_type:states_rule layer:states_rule", "Always run the tests before a release", {}),
        ("event_type:reports_action", "Deployed version 2 to production", {}),
        ("layer:as_given", "Tea is warm", {"layer": "world", "sublayer": "fact"}),
        ("layer:first_of_given_layer", "Tea is cold", {"layer": "intent"}),
        ("layer:names_anti_pattern", "Anti-pattern: catching every exception hides the bug", {}),
        ("layer:states_limit", "Never push to main", {}),
        ("layer:states_goal", "Our goal is to reach ten thousand users by May", {}),
        ("layer:tells_how", "To reset the router, hold the button for ten seconds", {}),
        (
            "layer:rule_needs_authority authority:ai_inferred",
            "Always trust the crow",
            {"source": "agent", "layer": "intent", "sublayer": "rule"},
        ),
        ("procedure:as_given", "1. Open the door\n2. Close it", {"kind": "procedural"}),
        ("privacy:redacted privacy:nothing_denied", "Ana's mail is ana@example.org", {}),
        ("retention:stated", "Gone soon", {"ttl_ticks": 5}),
        ("validity:as_given", "Ana rents a flat", {"valid_from": "2026-01-01"}),
    ],
)
def test_a_write_says_how_it_was_decided(codes: str, content: str, fields: dict[str, Any]) -> None:
    with recollect.open(":memory:", policy=POLICY) as mem:
        assert set(codes.split()) <= decided(mem, mem.add(content, owner="ana", **fields))


@every_row(
    ("codes", "first", "then"),
    [
        ("key:slot", {"content": "User drives a Peugeot"}, {"content": "User traded in the Peugeot for a Skoda"}),
        (
            "key:same_words",
            {"content": "Tobias is the on-call engineer for site reliability."},
            {"content": "Wei is the on-call engineer for site reliability."},
        ),
        ("key:contested", {"content": "User lives in Lisbon"}, {"content": "User lives in Alfama"}),
        ("change:retracted", {"content": "User works at Corvex"}, {"content": "User no longer works at Corvex"}),
        (
            "change:same_statement",
            {"content": "Anton is married to Solveig", "canonical_key": "Anton", "source": "agent"},
            {"content": "Anton's wife is Solveig", "canonical_key": "Anton", "source": "user"},
        ),
        (
            "change:stated_by_caller",
            {"content": "The port is 8080", "canonical_key": "Port"},
            {"content": "The port is 9090", "canonical_key": "Port", "change": "update"},
        ),
        (
            "change:register_moves_on",
            {"content": "Door is open", "tier": "register", "topic_id": "door"},
            {"content": "Door is closed", "tier": "register", "topic_id": "door"},
        ),
        (
            "near_duplicate:linked",
            {"content": "The API port of the staging server is 8080"},
            {"content": "The API port of the production server is 8080"},
        ),
    ],
)
def test_a_second_write_says_what_it_is_to_the_first(codes: str, first: dict[str, Any], then: dict[str, Any]) -> None:
    with recollect.open(":memory:", policy=POLICY) as mem:
        mem.add(owner="ana", **first)
        assert set(codes.split()) <= decided(mem, mem.add(owner="ana", **then)) | in_the_ledger(mem)


def test_a_key_goes_back_to_the_concept_of_someone_who_is_believed_more(mem: Recollect) -> None:
    """A guess may take the short form of a long name; the person who uses the long name gets the key, and the guess goes."""
    guess = stored(mem, "It ends in May", canonical_key=ITS_SHORT_FORM, source="agent")
    said = mem.add("It ends in June", canonical_key=LONG_NAME, owner="ana", source="user")
    assert said.outcome == "stored" and said.memory is not None
    assert (mem.get(guess).status, mem.get(said.memory.id).status) == ("archived", "active")
    assert mem.history(guess)[-1].meta["rule"] == "identity:key_given_back"
    assert [memory.id for memory in mem.list(owner="ana").items] == [said.memory.id]
    assert mem.verify().ok


def test_what_is_done_to_a_memory_by_hand_is_in_the_ledger(mem: Recollect, clock: Clock) -> None:
    one, two, three, four = (stored(mem, f"Shelf {n} holds jars", title=f"shelf {n}") for n in range(4))
    mem.link(one, two)
    assert "key:supersedes" in decided(mem, mem.update(one, "Shelf 0 holds plums"))
    mem.supersede(two, by=three)
    mem.edit(three, pinned=True)
    mem.vouch(three, by="crow")
    mem.withdraw_vouch(three, by="crow")
    mem.archive(three)
    mem.forget(four)
    mem.restore(four)
    mem.reject(four, "never true")
    mem.lift(four)
    stored(mem, "The port is 8080", canonical_key="Port")
    waiting = stored(mem, "The port is 9090", canonical_key="Port", change="contradiction", source="agent")
    mem.resolve(waiting, winner=waiting)
    gone = stored(mem, "Nobody needs this")
    mem.forget(gone)
    clock.now += timedelta(days=400)
    mem.upkeep()
    assert in_the_ledger(mem) >= set(
        """
        supersede:takes_key edited:by_hand vouched:withdrawn archived:by_hand restored:by_hand
        rejected:by_hand lifted:by_hand resolved:by_hand lifecycle:past_purge_date
        """.split()
    )


def test_what_is_erased_leaves_its_reasons(mem: Recollect) -> None:
    note = stored(mem, "Ana's note", owner="ana")
    kept = stored(mem, "Ben builds upon it", owner="ben", parent_refs=[mem.get(note).content_hash])
    mem.link(kept, note)
    mem.erase(owner="ana")
    assert in_the_ledger(mem) >= {"erased:name", "erased:link_cut"}


@every_row("mode", ["ttl", "decay"])
def test_a_retention_rule_is_named(mode: str) -> None:
    rules = {"semantic": {"fact": {"mode": mode, "ticks": 3}}}
    with recollect.open(":memory:", policy={"retention": {"rules": rules}}) as mem:
        told = decided(mem, mem.add("The build server stands in Frankfurt", owner="ana"))
        assert told & {"retention:ttl", "retention:decay"} == {f"retention:{mode}"}


def test_what_hangs_together_says_why(mem: Recollect) -> None:
    one, two = stored(mem, "Ana keeps bees"), stored(mem, "Ben grows rice")
    mem.link(one, two)
    mem.update(one, "Ana keeps bees and hens")
    mem.turn(session="s1", owner="ana", user="word " * 4_000)
    shared = stored(mem, "The release is on Friday", source="user", event_type="decision")
    assert mem.promote(shared, "project", owner="apollo").outcome == "stored"
    mem.forget(shared)
    assert in_the_ledger(mem) >= {
        "relation:by_hand",
        "relation:with_a_new_version",
        "turn:continues",
        "forgotten:with_its_copy",
    }


def test_what_says_that_it_is_older_becomes_an_earlier_version(mem: Recollect) -> None:
    for content, at in (("The port is 9090", "2026-02-01T10:00:00Z"), ("The port is 8080", "2026-01-01T10:00:00Z")):
        mem.import_([json.dumps({"id": at, "memory": content, "created_at": at})], format="mem0")
    assert "identity:older" in in_the_ledger(mem)


def test_consolidation_says_what_it_linked_and_what_it_took_back() -> None:
    with recollect.open(":memory:", policy={"near_duplicates": {"action": "ignore"}}) as mem:
        for place in ("staging", "production"):
            mem.add(f"The API port of the {place} server is 8080", owner="ana")
        mem.consolidate(owner="ana", force=True)
        mem.consolidate(undo=True)
        assert in_the_ledger(mem) >= {"consolidation:related", "consolidation:undone"}


SHOWN_BY_THE_GOLDEN_TRACES = (
    "allowed_by:",
    "authority:",
    "border:",
    "conflict:",
    "extracted:",
    "importance:",
    "kept_by:",
)
"""`tests/golden/test_coverage.py` asks for each of these."""
SHOWN_BY_SHORT_NAMES = ("writing:", "model:")
"""`test_writing.py`, `test_model_budget.py` and the tests of models put the prefix before each of these."""


def test_every_code_is_shown_by_a_test() -> None:
    changes = load_cases("changes")
    files = [file for file in TESTS.rglob("*") if file.suffix in (".py", ".yaml")]
    texts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    worked = {f"change:{case['rule']}" for case in changes}
    shown = {code for code in REASONS if code in texts or code in worked}
    names = ("unit/rules/test_writing.py", "unit/rules/test_model_budget.py", "models/test_endpoint.py")
    by_short_name = [TESTS / name for name in names]
    short = set(re.findall(r"\w+", " ".join(file.read_text(encoding="utf-8") for file in by_short_name).lower()))
    own = {code for code in REASONS if code.startswith(SHOWN_BY_SHORT_NAMES)}
    shown |= {code for code in own if code.partition(":")[2].removesuffix("_limit") in short}
    assert {code for code in REASONS if not code.startswith(SHOWN_BY_THE_GOLDEN_TRACES)} - shown == set()
