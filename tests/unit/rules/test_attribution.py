"""Whose words a version holds, and in which ways it names somebody else."""

from typing import Any

import pytest

from recollect.rules.trust.provenance import is_theirs, roles_of
from rows import every_row

ANA = "ana"
IN_PROJECT = {
    "space": "project",
    "owner": "lab",
    "source": "user",
    "author": {"id": "application", "name": "application"},
}
BY_ANA = {"author": {"id": ANA, "name": ANA}}
BY_PLANNER = {"author": {"id": "planner", "name": "planner"}, "source": "agent", "agent_id": "planner"}

CASES: dict[str, tuple[dict[str, Any], bool, tuple[str, ...]]] = {
    "she wrote it": ({**BY_ANA, "user_id": ANA}, True, ()),
    "she is credited with it": ({"author": {"id": "a1", "name": ANA}, "source": "import"}, True, ()),
    "she said it, and the application wrote it down": ({"user_id": ANA}, True, ()),
    "she spoke in somebody else's conversation": ({"actor_id": ANA, "user_id": "ben"}, True, ()),
    "somebody else spoke in hers": ({"actor_id": "ben", "user_id": ANA}, False, ("written_for",)),
    "an agent wrote it for her": ({**BY_PLANNER, "user_id": ANA}, False, ("written_for",)),
    "an agent answered her in a session": ({**BY_PLANNER, "user_id": ANA, "space": "session"}, True, ()),
    "it is for an agent of her name alone": ({"scope": ANA}, False, ("agent",)),
    "she did what it tells of": ({**BY_PLANNER, "actor_id": ANA}, False, ("acted",)),
    "an agent of her name wrote it for Ben": ({**BY_ANA, "agent_id": ANA, "user_id": "ben"}, False, ("agent",)),
    "the same, in Ben's own memory": (
        {**BY_ANA, "agent_id": ANA, "source": "agent", "space": "user", "owner": "ben"},
        False,
        ("agent",),
    ),
    "an agent of her name wrote it for nobody": ({**BY_ANA, "agent_id": ANA, "source": "agent"}, False, ("agent",)),
    "she wrote it, with her kind": ({"author": {"id": "user:ana", "name": "Ana B."}}, True, ()),
    "an agent wrote it, with its kind": ({"author": {"id": "agent:ana", "name": ANA}}, False, ("agent",)),
    "a tool of her name found it for Ben": (
        {**BY_ANA, "source": "tool", "actor_id": ANA, "user_id": "ben"},
        False,
        ("agent",),
    ),
    "a model of her name answered Ben": ({**BY_ANA, "source": "agent", "user_id": "ben"}, False, ("agent",)),
    "she vouched for it elsewhere": ({"meta": {"entry": {"vouchers": [7, {"id": ANA}]}}}, False, ("vouched",)),
    "its thread bears her name": ({"thread_id": ANA}, False, ("thread",)),
    "it only speaks of her": ({"content": ANA, "meta": {"entry": {"vouchers": ANA}}}, False, ()),
}


@every_row("case", CASES)
def test_whose_it_is(case: str) -> None:
    fields, theirs, roles = CASES[case]
    body = {**IN_PROJECT, **fields}
    assert is_theirs(body, ANA) == theirs
    assert theirs or roles_of(body, [], ANA) == roles
    assert not is_theirs(body, "an") and roles_of(body, [], "an") == ()


@pytest.mark.parametrize("word", ["application", "assistant", "shared"])
def test_a_word_for_nobody_is_no_name(word: str) -> None:
    body = {**IN_PROJECT, "author": {"id": word, "name": word}, "scope": word}
    assert not is_theirs(body, word) and roles_of(body, [], word) == ()
    assert is_theirs({**body, "user_id": word}, word), "but somebody may be called so"


def test_a_voucher_that_was_heard_of_later() -> None:
    assert roles_of(IN_PROJECT, [{"id": "a1", "name": ANA}], ANA) == ("vouched",)
