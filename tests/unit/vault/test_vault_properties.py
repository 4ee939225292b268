"""Random operations by two agents on one file: reopened, and compacted, it is the same vault."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.rules.identity.likeness import search_score as score
from recollect.vault import MemoryVault, VaultMemory

WORDS = st.sampled_from(
    "garden violin bread comet lisbon heartbeat email river copper lamp — é \n \u2028 <b> ```".split(" ")
)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
SCOPES = st.sampled_from(["shared", "orion", "elysia", "hermes"])
WHICH = st.integers(0, 9)

OPERATIONS = st.one_of(
    st.tuples(st.just("add"), TEXTS, SCOPES, st.sampled_from(["canon", "register", "log"])),
    st.tuples(st.just("topic"), st.sampled_from(["a", "b"]), SCOPES, TEXTS),
    st.tuples(st.just("update"), WHICH, TEXTS),
    st.tuples(st.just("delete"), WHICH),
    st.tuples(st.just("promote"), WHICH),
    st.tuples(st.just("compact")),
)


def perform(vault: MemoryVault, operation: tuple[Any, ...]) -> None:
    """Carry out one operation; those that are about a memory take one that is there, or an id that is not."""
    name, *rest = operation
    if name == "add":
        vault.add_memory(rest[0], rest[1], "fact", tier=rest[2])
    elif name == "topic":
        vault.update_by_topic(*rest)
    elif name == "compact":
        vault.compact()
    else:
        ids = [memory.id for memory in vault.recall()] + ["ffffffffffff"]
        id = ids[rest[0] % len(ids)]
        {"update": vault.update, "delete": vault.delete, "promote": vault.promote_to_canon}[name](id, *rest[1:])


def state(vault: MemoryVault) -> dict[str, VaultMemory]:
    return {memory.id: memory for memory in vault.active()}


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), OPERATIONS), max_size=20))
def test_the_file_is_the_state(steps: list[tuple[bool, tuple[Any, ...]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vault.jsonl"
        with MemoryVault(path) as one, MemoryVault(path) as other:
            for first, operation in steps:
                before = path.read_bytes()
                perform(one if first else other, operation)
                assert operation[0] == "compact" or path.read_bytes().startswith(before)
                assert state(one) == state(other)
            expected, stats = state(one), one.vault_stats()
            with MemoryVault(path) as reopened:
                assert state(reopened) == expected
                assert reopened.vault_stats() == stats
                _holds_its_invariants(reopened)
                reopened.compact()
                assert state(reopened) == expected == state(one)
                assert reopened.vault_stats()["raw_lines"] == len(expected)


def _holds_its_invariants(vault: MemoryVault) -> None:
    active = vault.active()
    topics = [(m.scope, m.topic_id) for m in active if m.tier == "register" and m.topic_id]
    assert len(topics) == len(set(topics)), "one record per topic and scope"
    assert all(m.tier in ("canon", "register") and m.scope != "hermes" and "heartbeat" not in m.text for m in active)
    versions: dict[str, int] = {}
    for line in vault.path.read_text(encoding="utf-8").split("\n")[:-1]:
        record = json.loads(line)
        assert record["version"] > versions.get(record["id"], 0), "each line of an id is its next version"
        versions[record["id"]] = record["version"]


@given(TEXTS, TEXTS)
def test_a_score_lies_between_nothing_and_everything(query: str, text: str) -> None:
    assert 0 <= score(query, text) <= 1.7 + 1e-9
    assert (score(query, text) > 0) == (not _words(query).isdisjoint(_words(text)))


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in text.lower()).split())
