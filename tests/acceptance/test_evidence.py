"""Evidence: what a model is shown leads back to something that somebody said, and goes when that goes."""

from pathlib import Path

import pytest

import recollect

from .conftest import House
from .ways import SHORT_ID

SAID = "I moved to Coimbra last spring and I'm allergic to walnuts."


def test_every_line_of_a_prompt_resolves_to_a_surviving_source(house: House) -> None:
    mem = house.mem
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.")
    mem.turn(session="s1", owner="ben", user="I'm allergic to bees.", ai="Noted.")
    for way in house.ways(user="ana"):
        block = way.prompt("What is Ana allergic to, and where does she live?")
        lines = [line for line in block.splitlines() if SHORT_ID.search(line)]
        assert any("walnuts" in line for line in lines), f"{way.name}: the control is in the prompt"
        for line in lines:
            memory = mem.get(SHORT_ID.findall(line)[0])
            assert memory.status == "active" and memory.content in line
            sources = [mem.get(id) for id in memory.meta.get("source_turn_ids", ())]
            assert [one.content for one in sources] == [SAID], f"{way.name}: it was said in a turn that is still there"
            assert mem.history(memory.id)[0].event == "ADD"
    with pytest.raises(recollect.NotFound):
        mem.get("0123456789ab")
    assert mem.verify().ok


def test_deleting_a_source_reaches_everything_derived(house: House) -> None:
    mem = house.mem
    lab = {"owner": "lab", "space": "project"}
    frost = mem.add("Frost came on the ninth of May.", author="moss", **lab).memory
    bees = mem.add("Bees came on the third of May.", author="moss", **lab).memory
    assert frost is not None and bees is not None
    late = mem.add("So plant the beans after the ninth.", author="iris", parent_refs=[frost.content_hash], **lab).memory
    assert late is not None
    mem.add("So do not wait for beans at all.", author="otto", parent_refs=[late.content_hash], **lab)
    mem.add("So open the hives in April.", author="iris", parent_refs=[bees.content_hash], **lab)
    assert len(mem.list(owner="lab").items) == 5
    Path("policy.yaml").write_text("erasure: {derived: erase}", encoding="utf-8")
    house.shell("--policy", "policy.yaml").run("erase", "--id", frost.id, "--yes")
    for way in house.ways():
        left = ["Bees came on the third of May.", "So open the hives in April."]
        assert sorted(way.listed(owner="lab")) == left, f"{way.name}: what has another source stays"
        assert not way.shows("beans", "When are beans planted?"), way.name
    house.opened(policy={"erasure": {"derived": "keep"}}).erase(id=bees.id)
    assert [m.content for m in mem.list(owner="lab").items] == left[1:], "the control: it is the policy that takes it"
    assert mem.verify().ok


def test_derived_state_rebuilds_from_what_is_kept(house: House) -> None:
    mem = house.mem
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.")
    mem.add("The kiln is fired on Fridays.", owner="ana", tags=["kiln"])
    mem.add("The kiln is fired on Mondays now.", owner="ana")
    before, question = mem.state_hash(), "When is the kiln fired?"
    answers = [way.query(question, owner="ana") for way in house.ways()]
    assert answers[0] and "Mondays" in answers[0][0]
    mem.rebuild()
    mem.reindex()
    house.shell().run("rebuild")
    assert mem.state_hash() == before and mem.verify().ok
    assert [way.query(question, owner="ana") for way in house.ways()] == answers
    mem.add("The wheel squeaks.", owner="ana")
    assert mem.state_hash() != before, "the control: the hash sees a change"
