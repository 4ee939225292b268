"""What comes first: what is believed most, and of what is believed alike the most important."""

from recollect.model.vocabulary import Authority
from recollect.rules.gates.classification import by_weight

SAID, GUESSED = Authority.USER_ASSERTED, Authority.AI_INFERRED


def test_no_importance_lifts_a_memory_above_one_that_is_believed_more() -> None:
    found = [(GUESSED, 5), (SAID, 1), (GUESSED, 4), (SAID, 3)]
    in_order = sorted(found, key=lambda one: by_weight(*one, tuple(Authority)))
    assert in_order == [(SAID, 3), (SAID, 1), (GUESSED, 5), (GUESSED, 4)]
    upside_down = sorted(found, key=lambda one: by_weight(*one, tuple(reversed(Authority))))
    assert upside_down == [(GUESSED, 5), (GUESSED, 4), (SAID, 3), (SAID, 1)]
