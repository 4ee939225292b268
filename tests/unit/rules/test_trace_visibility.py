"""Which governance events a bound caller may be told of."""

from typing import Any

from recollect.rules.trust.borders import may_be_told, named_ids
from rows import every_row

SEEN, HIDDEN = "7d7d7d7d-1111-5222-8333-444444444444", "8e8e8e8e-1111-5222-8333-444444444444"


def _event(session: str | None = "theirs", type: str = "memory_write", **fields: Any) -> dict[str, Any]:
    return {"type": type, "session": session, **fields}


def test_an_id_is_found_wherever_it_stands() -> None:
    event = _event(written=[{"id": SEEN, "meta": {"promoted_from": HIDDEN}}], summary_lines=[f"+ {SEEN}"], count=3)
    assert set(named_ids(event)) == {SEEN, HIDDEN}


@every_row(
    ("event", "told"),
    [
        (_event("mine"), True),
        (_event("mine", memory_id=SEEN), True),
        (_event("mine", memory_id=HIDDEN), False),
        (_event("mine", recalled=[{"id": SEEN}, {"id": HIDDEN}]), False),
        (_event(memory_id=SEEN), True),
        (_event(winner_id=SEEN, loser_id=HIDDEN), False),
        (_event(), False),
        (_event(None, type="memory_denied"), False),
        (_event(type="memory_recall", query="what do they ask?", recalled=[{"id": SEEN}]), False),
        (_event("mine", type="memory_recall", query="what do I ask?", recalled=[]), True),
    ],
)
def test_only_what_is_ones_own_or_may_be_seen_is_told(event: dict[str, Any], told: bool) -> None:
    assert may_be_told(event, "mine", {HIDDEN}) is told


def test_who_is_in_no_session_shares_none_with_others_who_are_in_none() -> None:
    assert not may_be_told(_event(None), None, set())
