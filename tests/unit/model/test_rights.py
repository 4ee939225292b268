"""What a caller may do: what it was given the right to, and everything if it is the application itself."""

import pytest

from recollect.model.caller import ALL_RIGHTS, Caller, Right


@pytest.mark.parametrize("right", Right)
def test_a_bound_caller_may_do_what_it_has_the_right_to(right: Right) -> None:
    assert Caller(rights=frozenset({right}), trusted=False).may(right)
    assert not Caller(rights=ALL_RIGHTS - {right}, trusted=False).may(right)


@pytest.mark.parametrize("right", Right)
def test_the_application_may_do_everything(right: Right) -> None:
    assert Caller(rights=frozenset()).may(right)
