"""Tombstones: what a person said was never true stays refused, however it is worded, and whatever has passed since."""

import itertools
import json

from .conftest import House
from .ways import Answer, ThroughMcp, ThroughPython, ThroughTheShell, Way

UNTRUE = "Nora has a brother called Felix."
TRUE = "Nora has a brother called Anton."
ASKED = "Which brothers does Nora have?"
REFUSED = "rejected:value"


def reject(house: House) -> str:
    """Nora says something and takes it back as never true; the other brother is the control. Returns the memory's id."""
    nora = house.mem.as_caller(user="nora")
    assert nora.add(TRUE).outcome == "stored"
    told = nora.add(UNTRUE).memory
    assert told is not None
    assert all(way.shows("Felix", ASKED) for way in house.ways(user="nora")), "the control: it was believed"
    nora.reject(told.id, "never true")
    return told.id


def agents(house: House) -> list[Way]:
    return house.ways(user="nora", agent="helper")


def is_refused(answer: Answer) -> bool:
    return (answer.outcome, answer.reason) == ("denied", REFUSED)


def absent(house: House) -> None:
    for way in house.ways(user="nora"):
        assert way.shows("Anton", ASKED), f"{way.name}: the control is still there"
        assert not way.shows("Felix", ASKED), way.name


def test_a_rejected_value_is_not_laundered_by_supersede_restate_corroborate(house: House) -> None:
    reject(house)
    cousin = house.mem.as_caller(user="nora", agent="helper").add("Nora has a cousin called Kim.").memory
    assert cousin is not None
    for way in agents(house):
        assert is_refused(way.add(UNTRUE)), f"{way.name}: restated"
        assert is_refused(way.add(UNTRUE, source="user")), f"{way.name}: restated in her name"
        assert is_refused(way.add(UNTRUE, title="Family-Notes")), f"{way.name}: under another key"
        assert way.add(f"Nora has a sister called {way.name.title()}.").was_kept, f"{way.name}: the control is kept"
    python, shell, mcp = agents(house)
    assert isinstance(python, ThroughPython) and isinstance(shell, ThroughTheShell) and isinstance(mcp, ThroughMcp)
    assert python.memory.update(cousin.id, UNTRUE).reasons == (REFUSED,)
    assert shell.run("update", cousin.id, UNTRUE)["reasons"] == [REFUSED]
    assert mcp.call("memory_update", id=cousin.id, content=UNTRUE)["reasons"] == [REFUSED]
    for author in ("moss", "iris", "otto"):
        corroborated = house.mem.add(UNTRUE, owner="nora", author=author, source="tool")
        assert corroborated.reasons == (REFUSED,), "many who say so are no proof"
    absent(house)


def test_a_rejection_survives_every_expiry(house: House) -> None:
    mem, id = house.mem, reject(house)
    for days in (31, 61, 400):
        house.days_later(days)
        mem.upkeep()
        mem.consolidate(force=True)
        mem.rebuild()
        mem.reindex()
        for way in agents(house):
            assert is_refused(way.add(UNTRUE)), f"{way.name}: after {days} days more"
    assert [one.memory_id for one in mem.rejections(owner="nora")] == [id], "it is listed for as long"
    restarted = house.opened()
    assert restarted.as_caller(user="nora", agent="helper").add(UNTRUE).reasons == (REFUSED,)
    lines = [json.dumps({"content": UNTRUE, "owner": "nora", "source": "user"})]
    assert restarted.import_(lines).outcomes.get("stored") is None, "a file brings it no more than an agent does"
    said = restarted.as_caller(user="nora").add(UNTRUE)
    assert said.outcome == "stored", "the control: Nora may say it again, and thereby lifts it"
    assert restarted.rejections(owner="nora") == ()


def test_look_alike_spellings_of_a_rejected_value_are_refused(house: House) -> None:
    reject(house)
    spellings = (
        "NORA HAS A BROTHER CALLED FELIX!",
        "Nora  has\ta brother   called Felix",
        "N\u043er\u0430 has a br\u043ether called F\u0435lix.",
        "No\u200bra has a bro\u00adther called Fe\u2060lix.",
        "\uff2eora has a brother called \uff26elix.",
    )
    for spelling, way in zip(spellings, itertools.cycle(agents(house)), strict=False):
        assert is_refused(way.add(spelling)), (way.name, spelling)
    for way, name in zip(agents(house), ("Felicia", "Felipe", "Felton"), strict=True):
        assert way.add(f"Nora has a brother called {name}.").was_kept, f"{way.name}: the control is another value"
    absent(house)


def test_a_rejected_value_is_refused_in_parts_too(house: House) -> None:
    """Split over sentences, clauses, list items, or two writes in a row."""
    reject(house)
    parts = (
        "Nora has a brother. The brother is called Felix.",
        "His name is Felix. Nora has a brother.",
        "Nora has a brother whose name is Felix.",
        "Nora's brother, Felix, lives in Bergen.",
        "Nora:\n- brother: Felix",
        "Nora's brothers are Anton and Felix.",
    )
    for text, way in zip(parts, itertools.cycle(agents(house)), strict=False):
        assert is_refused(way.add(text)), (way.name, text)
    for way, first in zip(
        agents(house), ("Nora has a brother.", "There is a brother.", "Nora has family."), strict=True
    ):
        assert way.add(first).was_kept, f"{way.name}: the control, which claims nothing that was rejected"
        assert is_refused(way.add("The brother is called Felix.")), way.name
        assert way.add(f"Nora has a dog. It is called {way.name.title()}.").was_kept, f"{way.name}: the control"
    absent(house)


def test_the_same_conversation_again_does_not_bring_a_rejected_value_back(house: House) -> None:
    mem = house.mem
    conversation = ["My brother is called Felix.", "My brother is called Anton.", "I have a parrot called Rio."]
    for n, line in enumerate(conversation):
        mem.turn(session=f"s{n}", owner="nora", user=line, ai="Noted.")
    felix = next(m for m in mem.list(owner="nora").items if "Felix" in m.content)
    mem.as_caller(user="nora").reject(felix.id)
    helper = mem.as_caller(user="nora", agent="helper", session="again")
    shell = house.shell("--as-user", "nora", "--as-agent", "helper", "--as-session", "again")
    _, _, mcp = agents(house)
    for line in conversation:
        helper.turn(session="again", user="Please sum up what I told you.", ai=line)
        helper.add(line.replace("My", "The user's").replace("I have", "The user has"))
        shell.run("turn", "--session", "again", "--user", "Please sum up what I told you.", "--ai", line)
        mcp.add(line.replace("My", "Nora's").replace("I have", "Nora has"))
    active = [m.content for m in mem.list(owner="nora", limit=100).items]
    assert not [one for one in active if "Felix" in one] and [one for one in active if "Rio" in one], active
    for way in house.ways(user="nora"):
        assert way.shows("Rio", "What is my parrot called?"), f"{way.name}: the control is still there"
        assert not way.shows("Felix", "What is my brother called?"), way.name


def test_a_rejected_value_has_no_second_unit(house: House) -> None:
    """Neither the same words elsewhere of the same person, nor a second rejection of the same value."""
    id = reject(house)
    mem, nora = house.mem, house.mem.as_caller(user="nora")
    for fields in ({"kind": "episodic"}, {"kind": "insight"}, {"category": "family"}, {"namespace": "test"}):
        again = mem.add(UNTRUE, owner="nora", source="agent", **fields)
        assert again.reasons == (REFUSED,), fields
    assert mem.add("Otis has a brother called Felix.", owner="otis").outcome == "stored", "the control: another's value"
    assert len(nora.rejections()) == 1
    for way in house.ways(user="nora")[1:]:
        listed = (
            way.run("rejections") if isinstance(way, ThroughTheShell) else way.call("memory_rejections")["rejections"]
        )
        assert [one["memory_id"] for one in listed] == [id], way.name
    assert [m.content for m in mem.list(owner="nora").items] == [TRUE]
    house.shell("--as-user", "nora").run("lift", id)
    assert nora.restore(id).content == UNTRUE, "it can be undone"
