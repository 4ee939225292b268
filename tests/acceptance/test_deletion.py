"""Deletion: what was deleted is absent from every answer, after everything that could bring it back."""

import json

import recollect

from .conftest import House

GONE = "Pablo's locker holds a tin of marzipan."
KEPT = "Pablo's locker stands next to the stairs."
ASKED = "What is there to know about Pablo's locker?"


def absent(house: House, but_for: str = KEPT) -> None:
    """Whether no way shows what was deleted, while every way shows what was not."""
    for way in house.ways(user="pablo"):
        assert way.shows(but_for, ASKED), f"{way.name}: the control is still there"
        assert not way.shows("marzipan", ASKED), way.name


def test_deleted_stays_deleted_after_reindex_restart_and_export(house: House) -> None:
    mem, person = house.mem, house.mem.as_caller(user="pablo")
    kept, gone = person.add(KEPT).memory, person.add(GONE).memory
    assert kept is not None and gone is not None
    assert all(way.shows("marzipan", ASKED) for way in house.ways(user="pablo")), "the control: it was there"
    person.forget(gone.id)
    absent(house)
    for work in (
        mem.upkeep,
        mem.reindex,
        mem.rebuild,
        lambda: mem.consolidate(force=True),
        lambda: mem.rekey(force=True),
    ):
        work()
        assert not person.query(ASKED).abstained and "marzipan" not in person.query(ASKED).text
    absent(house)
    restarted = house.opened()
    assert [m.content for m in restarted.list(owner="pablo").items] == [KEPT]
    lines = list(mem.export(owner="pablo"))
    assert [json.loads(line)["content"] for line in lines] == [KEPT]
    with recollect.open(":memory:") as elsewhere:
        elsewhere.import_(lines)
        assert [m.content for m in elsewhere.list(limit=100).items] == [KEPT]
    assert [event.event for event in mem.history(gone.id)][-1] == "DELETE"
    house.shell().run("erase", "--id", gone.id, "--yes")
    house.days_later(40)
    mem.upkeep()
    mem.rebuild()
    absent(house)
    assert GONE not in "".join(mem.export(owner="pablo", status=None)) and mem.verify().ok


def test_deletion_reaches_shared_copies(house: House) -> None:
    mem = house.mem
    said = mem.add(
        "Pablo says the marzipan recipe is his.", owner="s1", space="session", user_id="pablo", source="user"
    )
    assert said.memory is not None
    own = mem.promote(said.memory.id, "user", owner="pablo").memory
    assert own is not None
    assert mem.promote(own.id, "project", owner="bakery").outcome == "stored"
    mem.add("Rosa runs the bakery on Sundays.", owner="bakery", space="project", user_id="rosa", author="rosa")
    assert len([m for m in mem.list(limit=100).items if "marzipan" in m.content]) == 3, "the control: three copies"
    house.shell().run("erase", "--owner", "pablo", "--yes")
    assert [m.content for m in mem.list(limit=100).items] == ["Rosa runs the bakery on Sundays."]
    for way in house.ways():
        assert not way.shows("marzipan", "Whose is the marzipan recipe?"), way.name
        assert way.query("Who runs the bakery on Sundays?") == ["Rosa runs the bakery on Sundays."], way.name
    assert mem.verify().ok
