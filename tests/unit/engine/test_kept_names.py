"""Names are stored, so a name that is a secret is refused, on every store and through every way in."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.model.errors import BadInput
from rows import every_row
from support.made_up_keys import fake

SECRET = "ghp_" + fake(36)


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest) -> Iterator[recollect.Recollect]:
    where = ":memory:" if request.param == "sqlite" else request.getfixturevalue("empty")
    with recollect.open(where) as opened:
        yield opened


@every_row("field", ["user", "agent", "session", "ai_profile"])
def test_a_caller_is_not_named_after_a_secret(mem: recollect.Recollect, field: str) -> None:
    with pytest.raises(BadInput) as refusal:
        mem.as_caller(**{field: SECRET})
    assert refusal.value.field == field and SECRET not in str(refusal.value)


def test_a_thread_an_identity_and_a_voucher_are_not_either(mem: recollect.Recollect) -> None:
    memory = mem.add("The deploy job runs at night", owner="ana").memory
    assert memory is not None
    for field, give in (
        ("thread", lambda: mem.query("Which job?", owner="ana", thread=SECRET)),
        ("name", lambda: mem.new_identity(SECRET)),
        ("by", lambda: mem.vouch(memory.id, by=SECRET)),
    ):
        with pytest.raises(BadInput) as refusal:
            give()
        assert refusal.value.field == field
    assert not mem.identities()


def test_the_policy_decides_what_a_name_may_be() -> None:
    """An address is allowed by default; where the policy denies addresses, nobody is named after one."""
    with recollect.open(":memory:") as mem:
        assert mem.as_caller(user="ana@example.org").add("I prefer dark mode").outcome == "stored"
    with (
        recollect.open(":memory:", policy={"privacy": {"actions": {"email": "deny"}}}) as mem,
        pytest.raises(BadInput, match="user"),
    ):
        mem.as_caller(user="ana@example.org")
