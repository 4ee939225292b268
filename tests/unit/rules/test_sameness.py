"""What a model may be believed when it says that two notes say the same: other words, and nothing that matters."""

import pytest

from recollect.rules.upkeep import says_the_same
from support import load_cases

CASES = load_cases("upkeep/same")


@pytest.mark.parametrize("half", ["open", "frozen"])
def test_most_paraphrases_are_believed_and_no_look_alike_is(half: str) -> None:
    said = {
        kind: [(one, other) for one, other in pairs if says_the_same(one, other)] for kind, pairs in CASES[half].items()
    }
    assert said["other"] == []
    assert len(said["same"]) >= 0.9 * len(CASES[half]["same"])


def test_the_order_of_two_notes_does_not_matter() -> None:
    pairs = [pair for half in CASES.values() for kind in half.values() for pair in kind]
    assert [pair for pair in pairs if says_the_same(*pair) != says_the_same(*reversed(pair))] == []
