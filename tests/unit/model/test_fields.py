"""The table of fields says the same as the classes that callers see, and as what a store keeps."""

from dataclasses import fields

import recollect
from recollect.model.fields import ATTACHED, EXPORTED, FIELDS, Kept, Reach
from recollect.model.record import Candidate, Memory
from recollect.model.state import MUTABLE_FIELDS, State


def test_a_memory_has_exactly_the_fields_of_the_table() -> None:
    assert {"id", "tenant", *FIELDS} == {field.name for field in fields(Memory)}


def test_the_state_holds_what_the_table_says_it_holds() -> None:
    held = {name for name, field in FIELDS.items() if field.kept is Kept.STATE}
    assert held <= set(State.__slots__)
    assert set(MUTABLE_FIELDS) <= held


def test_a_candidate_can_be_given_whatever_travels() -> None:
    assert set(EXPORTED) <= set(Candidate.model_fields)
    not_theirs = set(Candidate.model_fields) - FIELDS.keys()
    assert not_theirs == {"title", "key", "supersedes", "ttl_ticks", "change", "diagnostic"}, "a field without a row"


def test_what_a_speaker_attaches_is_part_of_the_version_and_can_be_taken_off() -> None:
    assert all(FIELDS[name].kept is not Kept.STATE for name in ATTACHED)


def test_a_promotion_takes_nothing_along_that_an_export_leaves_behind() -> None:
    promoted = {name for name, field in FIELDS.items() if field.reach is Reach.PROMOTED}
    assert promoted < set(EXPORTED)
    assert not promoted & {"owner", "space", "namespace", "authority", "signature"}, (
        "these are decided by where it goes"
    )


def test_every_version_has_the_required_fields_as_text() -> None:
    with recollect.open(":memory:") as mem:
        memory = mem.add("The office is in Porto.").memory
    assert memory is not None
    for name, field in FIELDS.items():
        if field.required and field.kept is Kept.VERSION:
            assert getattr(memory, name), name
            assert not field.words or str(getattr(memory, name)) in field.words
