"""The canonical form: one value, one sequence of bytes; what goes in comes out; and every part of an entry counts."""

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.interfaces.python import Recollect
from recollect.model.canonical import canonical_json, check_json, check_text, format_time, parse_time
from recollect.model.ledger import GENESIS, Entry, Event
from recollect.model.record import Candidate
from recollect.model.state import State
from recollect.model.vocabulary import Status
from rows import every_row
from support.script import open_seeded

clean_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | clean_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(clean_text, inner, max_size=4),
    max_leaves=12,
)
moments = st.datetimes(
    datetime(1000, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC) | st.just(timezone(timedelta(hours=5.5)))
)


@given(values)
def test_what_goes_in_comes_out(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert check_json(value) == json.loads(json.dumps(value))


@given(values)
def test_the_form_of_the_form_is_the_form(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text


@given(st.dictionaries(clean_text, values, min_size=2, max_size=5))
def test_the_order_in_which_keys_were_written_does_not_count(value: dict[str, Any]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert canonical_json(backwards) == canonical_json(value)
    keys = list(json.loads(canonical_json(value)))
    assert keys == sorted(keys), "by code point"


@given(values)
def test_the_form_is_compact_and_plain(value: Any) -> None:
    text = canonical_json({"v": value})
    assert text.encode("utf-8").decode("utf-8") == text
    assert "\\u00e9" not in canonical_json({"é": "é"})
    assert json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False, separators=(",", ":")) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), {1: 2}, {"a": {1, 2}}, object(), b"x"])
def test_what_has_no_canonical_form_is_refused_when_it_comes_in(value: Any) -> None:
    with pytest.raises(ValueError):
        check_json(value)


@given(moments)
def test_a_moment_comes_back_and_always_looks_the_same(moment: datetime) -> None:
    text = format_time(moment)
    assert parse_time(text) == moment
    assert len(text) == 27 and text.endswith("Z")


@given(moments, moments)
def test_moments_sort_as_text(one: datetime, other: datetime) -> None:
    assert (format_time(one) < format_time(other)) == (one < other)


@given(st.text(max_size=50))
def test_checked_text_can_be_stored_anywhere(text: str) -> None:
    try:
        checked = check_text(text)
    except ValueError:
        return
    assert checked == text
    assert "\x00" not in text
    text.encode("utf-8")


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=10)
states = st.builds(
    State,
    id=names,
    status=st.sampled_from(Status),
    version=st.integers(1, 9),
    supersedes_id=st.none() | names,
    related_memory_ids=st.lists(names, max_size=3),
    tags=st.lists(clean_text, max_size=3),
    pinned=st.booleans(),
    importance=st.integers(1, 5),
    expires_at_tick=st.none() | st.integers(1, 99),
    purge_at=st.none() | moments.map(format_time),
    removed=st.none() | st.sampled_from(["erased", "purged"]),
)
candidates = st.fixed_dictionaries(
    {"content": st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60).filter(str.strip)},
    optional={
        "owner": names,
        "scope": names,
        "tags": st.lists(names, max_size=4),
        "meta": st.dictionaries(names, values, max_size=3),
        "context": st.dictionaries(names, values, max_size=2),
        "entities": st.lists(st.dictionaries(names, clean_text, max_size=2), max_size=2),
        "author": st.fixed_dictionaries({"id": names, "name": names}),
        "confidence": st.floats(0, 1),
        "importance": st.integers(1, 5),
        "aliases": st.lists(names, max_size=2),
        "kind": st.sampled_from(["semantic", "episodic", "procedural", "insight"]),
    },
)


@given(states)
def test_a_state_survives_its_own_canonical_form(state: State) -> None:
    read = json.loads(canonical_json(state.to_dict()))
    assert State(**{**read, "status": Status(read["status"])}) == state


@given(candidates)
def test_a_candidate_survives_its_own_canonical_form(given_fields: dict[str, Any]) -> None:
    candidate = Candidate.model_validate(given_fields)
    text = canonical_json(candidate.model_dump(mode="json", exclude_unset=True))
    assert Candidate.model_validate(json.loads(text)) == candidate


@pytest.fixture(scope="module")
def mem() -> Any:
    with open_seeded() as opened:
        yield opened


@given(given_fields=candidates)
def test_a_stored_memory_says_what_was_said_and_hashes_alike(mem: Recollect, given_fields: dict[str, Any]) -> None:
    """Whatever a candidate holds comes back from the store, and the memory's own JSON is canonical."""
    receipt = mem.add(**{**given_fields, "kind": "episodic"})
    if receipt.memory is None:
        return
    memory = mem.get(receipt.memory.id)
    assert memory.content == given_fields["content"]
    assert list(memory.tags) == list(dict.fromkeys(given_fields.get("tags", [])))
    assert {k: v for k, v in memory.meta.items() if k != "policy_tags"} == given_fields.get("meta", {})
    assert memory.context == (given_fields.get("context") or None)
    assert list(memory.aliases) == list(dict.fromkeys(given_fields.get("aliases", [])))
    text = memory.to_json()
    assert canonical_json(json.loads(text)) == text


ENTRY = Entry(
    stream="a" * 32,
    seq=1,
    tick=1,
    event=Event.STORED,
    memory_id="m",
    other_id=None,
    from_status=None,
    to_status="active",
    rule="identity:new",
    rules_version=1,
    commitment="c" * 64,
    actor="b" * 32,
    at="2026-01-01T00:00:00.000000Z",
    prev_hash=GENESIS,
)


@every_row("name", [name for name in ENTRY._fields if name != "hash"])
def test_every_field_of_an_entry_is_in_its_hash(name: str) -> None:
    value = getattr(ENTRY, name)
    other: Any = value + 1 if isinstance(value, int) else Event.EDITED if name == "event" else f"{value}x"
    assert ENTRY._replace(**{name: other}).computed_hash() != ENTRY.computed_hash()


def test_the_hash_of_an_entry_does_not_hash_itself() -> None:
    assert ENTRY._replace(hash="x").computed_hash() == ENTRY.computed_hash()


def test_every_field_of_a_state_is_in_its_canonical_form() -> None:
    state = State("m", Status.ACTIVE)
    assert set(state.to_dict()) == {f.name for f in fields(State)}
    assert canonical_json(state.to_dict()) != canonical_json(replace(state, version=2).to_dict())
