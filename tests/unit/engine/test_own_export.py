"""What a store exported comes back into it as what it is, and one person's export goes into another store as one person's."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import BadInput
from recollect.stores.protocol import NO_LIMIT

FORMATS = ("recollect", "items", "entries")


def contents(mem: Any) -> list[tuple[str, str, str]]:
    """Every memory of the store, in any status: whose it is, its kind and its words."""
    with mem.engine.read() as reader:
        found = reader.select("default", mem.engine.selecting(), NO_LIMIT)
    return sorted((one.state.canonical_key, one.body["owner"], one.body["content"]) for one in found)


def test_importing_a_stores_own_export_of_a_turn_changes_nothing(any_place: Any) -> None:
    with recollect.open(any_place, policy="default") as mem:
        mem.record(session="s1", user="My favourite colour is green.", ai="Nice!", owner="ana")
        mem.record(session="s2", user="My dentist is Dr. Lund.", ai="Noted.")
        before = contents(mem)
        for format in FORMATS:
            for which, terms in (
                ({"owner": "ana"}, {}),
                ({"owner": "ana"}, {"believe": ["place"]}),
                ({}, {"believe": ["place"]}),
                ({"space": "user"}, {"owner": "ana"}),
            ):
                report = mem.import_(list(mem.export(format=format, **which)), format=format, **terms)
                assert report.outcomes == {"already_there": report.read} and report.read, (format, which, terms)
        assert contents(mem) == before


def test_an_own_record_is_copied_to_the_place_that_the_command_names(any_place: Any) -> None:
    with recollect.open(any_place, policy="default") as mem:
        kept = mem.add("The bees live in the orchard", owner="ana").memory
        report = mem.import_(list(mem.export(owner="ana")), owner="ben")
        assert report.outcomes == {"stored": 1}
        assert [m.content for m in mem.list(owner="ben").items] == [kept.content]


def test_an_edited_record_of_the_stores_own_is_taken_in(any_place: Any) -> None:
    with recollect.open(any_place, policy="default") as mem:
        mem.add("The bees live in the orchard", owner="ana", canonical_key="Bees-Place-General")
        lines = [
            line.replace("orchard", "garden").replace('"content_hash"', '"old_hash"')
            for line in mem.export(owner="ana")
        ]
        assert mem.import_(lines, owner="ana").outcomes == {"contradicted": 1}


def test_a_persons_export_with_their_sessions_is_one_persons(any_place: Any, tmp_path: Path) -> None:
    with recollect.open(any_place, policy="default") as mem:
        for session in ("s1", "s2"):
            mem.record(
                session=session, user=f"My favourite colour is green, I said in {session}.", ai="Nice!", owner="ana"
            )
        exported = {format: list(mem.export(format=format, owner="ana")) for format in FORMATS}
    for format, lines in exported.items():
        with recollect.open(tmp_path / f"{format}.db") as other:
            report = other.import_(lines, format=format)
            assert report.read == len(lines) and "refused" not in report.outcomes, format


def test_sessions_of_two_people_or_of_nobody_known_are_not_made_one_persons(tmp_path: Path) -> None:
    def session(owner: str, **more: str) -> str:
        return json.dumps({"content": f"Said in {owner}", "space": "session", "owner": owner, **more})

    with recollect.open(tmp_path / "memory.db") as mem:
        for lines in (
            [session("s1", user_id="ana"), session("s2", user_id="ben")],
            [session("s1"), session("s2")],
            [session("s1", user_id="ana"), session("s2")],
        ):
            with pytest.raises(BadInput, match="several"):
                mem.import_(lines)
