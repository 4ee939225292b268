"""The name of an erased person is in no file: not with what they wrote elsewhere, nor with what was written for them."""

from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.testing.postgres_server import PostgresServer

from .remains import remains
from .soundness import assert_sound

NAME = "Xerophytia"
POLICY = {"traces": {"keep": "all"}}


def leave_a_name_everywhere(mem: Any) -> list[str]:
    """Everything that a person does to a store in a day, and the words that are theirs."""
    mem.add("Something about granite", owner=NAME)
    member = mem.as_caller(user=NAME, projects=["lab"])
    member.add("Copper wires need greasing", owner="lab", space="project", idempotency_key=f"once {NAME}")
    member.add("password = hunter2xyz", owner="lab", space="project")
    agent = mem.as_caller(user=NAME, agent="planner", projects=["lab"])
    agent.add("Iron rods are stored upstairs", owner="lab", space="project")
    mem.add("Rods were counted twice", owner="lab", space="project", actor_id=NAME, source="agent")
    mem.add("Zinc came by mail", owner="ben", author=NAME)
    vouched = mem.add("Tin melts early", owner="ben").memory
    mem.vouch(vouched.id, by=NAME)
    session = mem.as_caller(user=NAME, session=f"s-{NAME}")
    session.turn(session=f"s-{NAME}", user="I like copper wires", ai="Noted")
    session.start_phase(owner=f"s-{NAME}", space="session", name=f"p-{NAME}")
    member.query("where are the rods?", thread=f"t-{NAME}")
    mem.query("where are the rods?", owner=NAME, thread=f"t2-{NAME}")
    return [NAME, "granite", "greasing", "copper wires"]


@pytest.mark.parametrize("file", ["memory.db", "vault.jsonl"])
def test_no_file_holds_the_name(swift: Path, file: str) -> None:
    path = swift / file
    with recollect.open(path, policy=POLICY) as mem:
        words = leave_a_name_everywhere(mem)
        assert remains(path, words), "the search must find what is there"
        receipt = mem.erase(owner=NAME)
        assert (len(receipt.authored), len(receipt.derived), receipt.links_cut) == (2, 2, 2)
        assert remains(path, words) == []
        assert_sound(mem)
    assert remains(path, words) == []


def test_a_servers_files_do_not_hold_it(postgres: PostgresServer, server_store: str) -> None:
    def holds() -> bool:
        postgres.execute("CHECKPOINT")
        return any(NAME.encode() in file.read_bytes() for file in postgres.table_files(server_store))

    with recollect.open(server_store, policy=POLICY) as mem:
        leave_a_name_everywhere(mem)
        assert holds(), "the search must find what is there"
        receipt = mem.erase(owner=NAME)
        assert (len(receipt.authored), len(receipt.derived), receipt.links_cut) == (2, 2, 2)
        assert not holds()
        assert_sound(mem)
