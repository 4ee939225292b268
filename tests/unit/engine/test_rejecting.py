"""A rejection that sticks: what a person says was never true is refused by every way in, until that person says it again."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.langgraph import RecollectStore
from recollect.vault import MemoryVault
from rows import every_row
from support.machine import START
from support.postgres_server import binaries
from support.script import canonical_state

LEA = "Ana has a sister called Lea"
SPLIT = "Ana has a sister. The sister is called Lea."
TEA = "Ana likes green tea"
SECRET = "rejected:value"
Open = Callable[..., Any]


@pytest.fixture
def place(any_place: Any) -> Any:
    return any_place


@pytest.fixture
def opened(place: Any) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda **given: stack.enter_context(recollect.open(place, **given))


class Clock:
    """A clock that stands still until it is told how much later it is."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def days_later(self, days: int) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def mem(opened: Open, clock: Clock) -> Any:
    return opened(clock=clock, policy={"traces": {"keep": "all"}})


def person(mem: Any, **more: Any) -> Any:
    return mem.as_caller(user="ana", session="s1", **more)


def agent(mem: Any, *rights: str) -> Any:
    return mem.as_caller(user="ana", agent="planner", session="s1", rights=["read", "write", *rights])


def rejected(mem: Any, content: str = LEA, **fields: Any) -> Any:
    """Ana states two things and rejects the first; the other is the control that stays."""
    person(mem).add(TEA)
    told = person(mem).add(content, **fields).memory
    return person(mem).reject(told.id, "I have no sister")


@pytest.fixture
def rejecting(mem: Any) -> Any:
    rejected(mem)
    return mem


def active(mem: Any) -> list[str]:
    return sorted(one.content for space in ("user", "session") for one in mem.list(space=space, limit=1000).items)


def state_of(mem: Any) -> str:
    return "\n".join(canonical_state(mem.engine)).casefold()


def is_refused(receipt: Any) -> bool:
    return bool(receipt.denied and receipt.reasons == (SECRET,))


def test_the_value_leaves_the_active_set_and_the_same_value_is_refused(mem: Any) -> None:
    value = rejected(mem)
    assert active(mem) == [TEA] and "Lea" not in mem.query("Does Ana have a sister?", owner="ana").text
    again = agent(mem).add(LEA)
    assert is_refused(again) and value.id in again.detail and "Lea" not in again.detail
    assert agent(mem).add("Ana has a sister called Mia").outcome == "stored"
    for other in ("I think that Ana has no sister called Lea", "It is not true that Ana has a sister called Lea"):
        assert not is_refused(agent(mem).add(other)), other
    assert mem.add("Ben has a sister called Lea", owner="ben", source="agent").outcome == "stored"
    (event,) = [one for one in again.events if one["type"] == "memory_denied"]
    assert event["reason"] == SECRET and "Lea" not in json.dumps(event)


@every_row(
    "wording",
    [
        "ANA HAS A SISTER CALLED LEA!",
        "Ana  has\ta sister\ncalled   Lea.",
        "\u0410na has a sist\u0435r called L\u0435\u0430",
        "A\u200bna has a sis\u00adter called L\U000e0065e\u2063a",
        "Ａｎａ has a sister called 𝐋𝐞𝐚",
        "Ana's sister is called Lea",
        "My sister is called Lea",
        "The user has a sister called Lea.",
        "It rained. Ana's sister is called Lea. She waved.",
        "note: Ana has a sister called Lea",
        "So Ana has a sister called Lea.",
        "Well, okay, I think that Ana has a sister called Lea.",
        "The user said that Ana has a sister called Lea",
        "Remember that my sister is called Lea!",
    ],
)
def test_other_spellings_and_wordings_are_the_same_value(rejecting: Any, wording: str) -> None:
    for fields in ({}, {"title": "Something else"}, {"kind": "episodic"}, {"kind": "insight"}):
        assert is_refused(agent(rejecting).add(wording, **fields)), fields
    assert active(rejecting) == [TEA]


def test_under_a_given_key_the_value_is_the_same_only_there(mem: Any) -> None:
    value = person(mem).add("8080", title="API port").memory
    person(mem).reject(value.id)
    assert is_refused(agent(mem).add("8080", title="api PORT"))
    assert is_refused(agent(mem).add("API port: 8080", title="api PORT"))
    assert agent(mem).add("8081", title="API port").outcome == "stored"
    assert agent(mem).add("8080", title="Database port").outcome == "stored"


def test_every_way_in_refuses_it(mem: Any, tmp_path: Path) -> None:
    mine = agent(mem, "govern")
    held = mine.add("Ana's cousin is called Kim").memory
    value = rejected(mem)
    for claim in (LEA, SPLIT):
        refused_by_every_way_in(mem, mine, claim, held.id, tmp_path)
    with pytest.raises(recollect.WrongState, match=SECRET):
        mine.restore(value.memory_id)
    assert active(mem) == sorted([TEA, "Ana's cousin is called Kim"])


def refused_by_every_way_in(mem: Any, mine: Any, claim: str, held: str, tmp_path: Path) -> None:
    assert is_refused(mine.add_many([{"content": claim}])[0])
    assert is_refused(mine.update(held, claim)) and is_refused(mine.add(claim, supersedes=held))
    turn = mine.turn(session="s1", user=claim, ai=claim, tools=[{"name": "crm", "output": claim}])
    assert turn.receipts and all(is_refused(one) for one in turn.receipts), turn.receipts
    assert is_refused(mine.add(claim, space="session")) and is_refused(mem.add(claim, owner="ana", source="tool"))
    assert is_refused(mem.add(claim, owner="ana", namespace="test", source="agent"))
    for name, text, read in (
        ("jsonl", json.dumps({"content": claim, "owner": "ana", "source": "user"}), "jsonl"),
        ("mem0.json", json.dumps({"results": [{"id": "m1", "memory": claim, "user_id": "ana"}]}), "mem0"),
    ):
        (tmp_path / name).write_text(text)
        report = mem.import_(tmp_path / name, format=read, owner="ana")
        assert report.reasons == {SECRET: 1}, report


def test_a_claim_in_two_writes_is_refused_where_it_becomes_one(mem: Any) -> None:
    rejected(mem)
    assert agent(mem).add("Ana has a sister").outcome == "stored", "that alone was not rejected"
    for second in ("The sister is called Lea", "She is called Lea.", "Her name is Lea", "Sister: Lea"):
        assert is_refused(agent(mem).add(second)), second
        assert is_refused(agent(mem).add(second, space="session")), second
    assert agent(mem).add("The sister is called Mia").outcome != "denied"
    both = agent(mem).add_many([{"content": "Ana has got one sister"}, {"content": "That sister's name is Lea"}])
    assert is_refused(both[1])


def test_memories_that_say_it_over_several_clauses_leave_with_it(mem: Any) -> None:
    for text in (SPLIT, "Ana has one sister. Her name is Lea.", "Ana has a sister. The dog is called Lea."):
        agent(mem).add(text)
    assert len(rejected(mem).also_gone) == 2
    assert active(mem) == sorted([TEA, "Ana has a sister. The dog is called Lea."])


def test_the_person_lifts_it_by_saying_it_over_two_clauses(mem: Any) -> None:
    value = rejected(mem)
    assert "lifted:said_again" in person(mem).add("I have a sister. She is called Lea.").reasons
    assert value.id not in {one.id for one in mem.rejections()}


def test_other_doors_lead_to_the_same_gate(mem: Any, tmp_path: Path) -> None:
    value = rejected(mem)
    graphs = mem.as_caller(user="ana", agent="planner", projects=["store:memories.ana"])
    facts = (["Ana likes jazz", "ANA HAS A SISTER CALLED LEA"], ["Ana has a sister", "She is called Lea"])
    for wrapped in (LEA, {"text": LEA}, {"text": SPLIT}, *({"facts": one} for one in facts)):
        with pytest.raises(recollect.Refused, match=SECRET):
            RecollectStore(graphs).put(("memories", "ana"), "family", {"value": wrapped})
    RecollectStore(graphs).put(("memories", "ana"), "taste", {"value": "Ana likes jazz"})
    added = TOOLS["memory_add"].call(agent(mem), {"content": LEA, "source": "user"}).values
    assert added["reasons"] == [SECRET] and value.id in added["detail"]
    with recollect.open(tmp_path / "elsewhere.db", clock=Clock()) as elsewhere:
        entries = [elsewhere.add(text, owner="ana").memory and text for text in (LEA, "Ana plays chess")]
        lines = list(elsewhere.export(format="entries", status=None, owner="ana"))
    assert len(entries) == len(lines) == 2
    report = mem.import_(lines, owner="ana", format="entries", whole=True)
    assert [one.reasons[0] for one in report.refused] == [SECRET], report
    assert active(mem) == sorted([TEA, "Ana plays chess"])


def test_what_a_vault_writes_to_the_file_is_not_adopted(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "vault.jsonl") as mem:
        value = mem.reject(mem.add(LEA, title="Family").memory.id)
    with MemoryVault(tmp_path / "vault.jsonl") as vault:
        kept = vault.add_memory("Ana plays chess on Sundays", "shared", "general").memory
        assert vault.add_memory(f"Note: {LEA.upper()}", "shared", "general").code == SECRET
        assert vault.update(kept.id, LEA).code == SECRET
        assert vault.add_memory(SPLIT, "shared", "general").code == SECRET
    line = {**kept.to_dict(), "id": "0123456789ab", "text": LEA}
    with (tmp_path / "vault.jsonl").open("a") as file:  # as another program writes it
        file.write(json.dumps(line) + "\n")
    with recollect.open(tmp_path / "vault.jsonl") as mem:
        assert [one.content for one in mem.list().items] == ["Ana plays chess on Sundays"]
        assert len(mem.rejections()) == 1 and mem.verify().ok
        mem.lift(value.id)
    with MemoryVault(tmp_path / "vault.jsonl") as vault:
        assert vault.update(kept.id, LEA).ok


def test_what_waits_or_was_put_away_cannot_come_back_with_it(mem: Any) -> None:
    person(mem).add("Ana's bank is Alpha")
    waits = agent(mem).add("Ana's bank is Beta")
    assert waits.outcome == "contradicted"
    mine = person(mem).add("Ana's bank is Beta", kind="insight").memory
    person(mem).reject(mine.id)
    with pytest.raises(recollect.WrongState, match=SECRET):
        person(mem).resolve(waits.memory.id, winner=waits.memory.id)
    assert "Ana's bank is Alpha" in active(mem)


def test_promotion_and_consolidation_refuse_it(mem: Any) -> None:
    told = mem.add(LEA, space="session", owner="s9", user_id="ben").memory
    value = mem.add(LEA, owner="ana").memory
    mem.reject(value.id)
    receipt = mem.promote(told.id, "user", owner="ana")
    assert is_refused(receipt) and [one["type"] for one in receipt.events][-1] == "memory_promotion_denied"
    twins = [mem.add(text, owner="ben", title=title).memory for text, title in ((TEA, "One"), (TEA, "Two"))]
    assert mem.consolidate(owner="ben", force=True)
    gone = next(one for one in twins if mem.get(one.id).status == "redundant")
    mem.reject(gone.id)
    mem.consolidate(undo=True)
    assert mem.get(gone.id).status != "active" and mem.verify().ok


def test_it_survives_expiry_purge_rebuild_reindex_rekey_and_a_restart(mem: Any, opened: Open, clock: Clock) -> None:
    value = rejected(mem)
    assert "sister" in state_of(mem), "until the purge the words are there"
    clock.days_later(400)
    assert value.memory_id in mem.upkeep().purged
    with pytest.raises(recollect.NotFound):
        mem.get(value.memory_id)
    for care in (mem.rebuild, mem.reindex, lambda: mem.rekey(force=True), mem.upkeep):
        care()
        assert is_refused(agent(mem).add(LEA)), care
    (left,) = person(mem).rejections()
    assert left.id == value.id and left.content is None and left.reason is None
    assert value.id in state_of(mem) and "sister" not in state_of(mem), "what is kept is its mark, and no word of it"
    mem.close()
    assert is_refused(agent(opened(clock=clock)).add(LEA))
    assert opened(clock=clock).verify().ok


def test_it_moves_with_the_store_and_with_its_backup(
    mem: Any, place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Any
) -> None:
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    rejected(mem)
    moved = (tmp_path / "moved.db", tmp_path / "moved.jsonl", postgres.new_database())
    for target in moved:
        recollect.migrate(mem.engine.store.location, target)
    mem.backup(tmp_path / "backup")
    restored = tmp_path / "restored.db" if isinstance(place, Path) else postgres.new_database()
    recollect.restore_backup(tmp_path / "backup", restored)
    for copy in (*moved, restored):
        with recollect.open(copy, policy="default") as there:
            assert is_refused(agent(there).add(LEA)) and there.verify().ok
            assert agent(there).add("Ana speaks Danish").outcome == "stored"


def test_a_restored_backup_from_before_it_knows_it_unless_it_was_lifted(
    opened: Open, place: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Any
) -> None:
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))
    mem = opened(policy="default")
    told, kim = (person(mem).add(text).memory for text in (LEA, "Ana's cousin is called Kim"))
    copy = agent(mem).add(f"Note: {LEA}.", title="Family").memory
    mem.backup(tmp_path / "backup")
    person(mem).reject(told.id)
    person(mem).lift(person(mem).reject(kim.id).id)
    restored = tmp_path / "restored.db" if isinstance(place, Path) else postgres.new_database()
    recollect.restore_backup(tmp_path / "backup", restored)
    for _ in range(2):
        with recollect.open(restored) as there:
            assert is_refused(agent(there).add(LEA)) and there.get(copy.id).status == "soft_deleted"
            assert [one.memory_id for one in person(there).rejections()] == [told.id]
            assert there.get(kim.id).status == "active" and there.verify().ok


def test_a_record_that_names_a_person_is_held_to_what_that_person_rejected(mem: Any, tmp_path: Path) -> None:
    """When it is imported, and when it is brought back later; a bound caller does not bring in another's memory unsaid."""
    line = json.dumps({"content": LEA, "owner": "ana"})
    (tmp_path / "one.jsonl").write_text(line)
    assert mem.import_(tmp_path / "one.jsonl", format="jsonl").outcomes == {"stored": 1}
    (taken,) = mem.list(owner="default").items
    assert taken.meta["claimed"] == {"owner": "ana"}
    mem.archive(taken.id)
    rejected(mem)
    with pytest.raises(recollect.WrongState, match=SECRET):
        mem.restore(taken.id)
    ben = mem.as_caller(user="ben")
    with pytest.raises(recollect.BadInput, match="the records name the owner 'ana', and this caller is bound to 'ben'"):
        ben.import_(tmp_path / "one.jsonl", format="jsonl")
    assert ben.import_(tmp_path / "one.jsonl", format="jsonl", owner="ben").outcomes == {"stored": 1}, "his own word"
    for caller in ({"user": "ben"}, {"user": "ben", "agent": "planner"}, {"agent": "planner"}):
        stranger = mem.as_caller(**caller)
        for text in (LEA, "Ana's cousin is called Kim"):
            told = json.dumps({"content": text, "owner": "ana"})
            with pytest.raises(recollect.BadInput, match="name the owner 'ana'"):
                stranger.import_([told])
            for terms in ({"owner": "ana"}, {"believe": ["place", "weight"]}):
                assert stranger.import_([told], **terms).reasons == {"border:not_your_space": 1}, "rejected or not"


def test_an_export_does_not_bring_it_back_when_it_is_imported(mem: Any, tmp_path: Path) -> None:
    person(mem).add(TEA)
    told = person(mem).add(LEA).memory
    before = list(mem.export(status=None))
    person(mem).reject(told.id)
    assert len(before) == 2 and mem.import_(before, believe="place").reasons == {SECRET: 1}
    after = mem.import_(list(mem.export(status=None)), believe="place")
    assert after.outcomes.keys() == {"already_there", "skipped"}
    assert active(mem) == [TEA]


def test_an_erasure_of_the_owner_removes_it_and_its_key(mem: Any, place: Any) -> None:
    value = rejected(mem)
    assert mem.verify().ok
    (row, *_) = [line for line in canonical_state(mem.engine) if '"rejection"' in line]
    secret, mark = json.loads(row)[2:]
    mem.erase(owner="ana")
    left = "\n".join(canonical_state(mem.engine))
    assert secret not in left and mark not in left and mem.verify().ok and mem.rejections() == ()
    assert mem.add(LEA, owner="ana", source="agent").outcome == "stored"
    if isinstance(place, Path):
        mem.close()
        assert secret.encode() not in place.read_bytes() and mark.encode() not in place.read_bytes()
    assert value.id


def test_verify_sees_a_rejection_that_was_taken_away_or_altered(tmp_path: Path) -> None:
    for statement in (
        "DELETE FROM rejections WHERE mark = (SELECT min(mark) FROM rejections)",
        "UPDATE rejections SET secret = substr(secret, 3) || '00'",
        "UPDATE amendments SET body = replace(body, 'secret', 'sekret')",
    ):
        place = tmp_path / f"{abs(hash(statement))}.db"
        with recollect.open(place) as mem:
            rejected(mem)
            assert mem.verify().ok
        with sqlite3.connect(place) as db:
            db.execute(statement)
        db.close()
        with recollect.open(place) as mem:
            assert not mem.verify().ok, statement


def test_the_person_says_it_again_and_thereby_lifts_it(mem: Any) -> None:
    value = rejected(mem)
    receipt = person(mem).add(LEA)
    assert receipt.outcome == "stored" and "lifted:said_again" in receipt.reasons
    assert person(mem).rejections() == () and agent(mem).add(LEA).outcome == "reinforced"
    told = [(one.event, one.meta["operation"]) for one in person(mem).history(value.memory_id)]
    history = [one for one in told if one[0] != "LINK"]
    assert history == [("ADD", "stored"), ("DELETE", "rejected"), ("DELETE", "forgotten"), ("RESTORE", "lifted")]


def test_a_turn_of_the_person_lifts_it_and_an_agents_never_does(mem: Any) -> None:
    rejected(mem, "I have a sister called Lea")
    relays = agent(mem, "relay", "govern", "operate")
    relays.turn(session="s1", user="I have a sister called Lea.")
    relays.add("I have a sister called Lea", source="user")
    assert len(person(mem).rejections()) == 1
    person(mem).turn(session="s1", user="I have a sister called Lea.")
    assert person(mem).rejections() == () and "I have a sister called Lea." in active(mem)


def test_lifting_is_undoing(mem: Any) -> None:
    value = rejected(mem)
    assert person(mem).lift(value.memory_id[:13]).id == value.id
    assert person(mem).restore(value.memory_id).status == "active"
    assert agent(mem).add(LEA).outcome == "reinforced" and mem.verify().ok
    with pytest.raises(recollect.NotFound):
        person(mem).lift(value.id)


def test_an_agent_rejects_lifts_and_lists_only_with_the_right_to_govern(mem: Any) -> None:
    value = rejected(mem)
    tea = person(mem).list().items[0]
    for attempt in (lambda a: a.reject(tea.id), lambda a: a.lift(value.id), lambda a: a.rejections()):
        with pytest.raises(recollect.NotAllowed, match="govern"):
            attempt(agent(mem))
        attempt(agent(mem, "govern"))
    eve = mem.as_caller(user="eve")
    assert eve.rejections() == ()
    with pytest.raises(recollect.NotFound):
        eve.reject(tea.id)


def test_the_person_lists_it_with_its_words_and_it_explains_itself(mem: Any) -> None:
    value = rejected(mem)
    (listed,) = person(mem).rejections()
    assert (listed.content, listed.reason, listed.rejected_by) == (LEA, "I have no sister", "user:ana")
    text = person(mem).explain(value.memory_id).text
    assert value.id in text and "never true" in text
    owner = [one for one in person(mem).history(owner="ana") if one.meta["operation"] == "rejected"]
    assert [one.memory_id for one in owner] == [value.memory_id] and "values" not in owner[0].meta
    assert person(mem).reject(value.memory_id).id == value.id, "a value is rejected once"


def test_i_misspoke_rejects_the_one_statement_that_it_takes_back(mem: Any) -> None:
    mem.turn(session="s1", user="I have a sister called Lea.", ai="Nice to hear.", owner="ana")
    mem.turn(session="s1", user="I have a brother called Tim.", owner="ana")
    turn = mem.turn(session="s2", user="I misspoke, I have no sister.", owner="ana")
    assert [one.content for one in mem.rejections(owner="ana")] == ["I have a sister called Lea."]
    assert len(turn.forgotten) == 2, "the statement, and the line of the other session"
    assert not [text for text in active(mem) if "Lea" in text] and any("Tim" in text for text in active(mem))
    assert is_refused(agent(mem).add("Ana's sister is called Lea"))


def test_what_no_longer_holds_or_may_mean_two_things_is_not_rejected(mem: Any) -> None:
    mem.turn(session="s1", user="I live in Porto.", owner="ana")
    mem.turn(session="s1", user="I no longer live in Porto.", owner="ana")
    assert mem.rejections() == () and mem.add("The user lives in Porto.", owner="ana", source="agent").memory
    mem.turn(session="s1", user="I have a sister called Lea.", owner="ben")
    mem.turn(session="s1", user="I have a sister called Zoe.", owner="ben")
    mem.turn(session="s1", user="I misspoke, I have no sister.", owner="ben")
    assert mem.rejections() == ()
    agent(mem, "relay").turn(session="s1", user="I was wrong, I never lived in Porto.")
    assert mem.rejections() == ()


def test_a_rejection_in_a_project_leaves_the_persons_own_memory_alone(mem: Any) -> None:
    port = mem.add("The port is 8080", space="project", owner="apollo", user_id="ana").memory
    own = mem.add("The port is 8080", owner="ana").memory
    mem.reject(port.id)
    assert mem.get(own.id).status == "active"
    assert is_refused(mem.add("The port is 8080.", space="project", owner="apollo", source="agent"))
    assert mem.add("The port is 8080", space="project", owner="gemini", source="agent").outcome == "stored"


def test_only_the_same_words_in_the_same_place_lift_it(mem: Any) -> None:
    """Not a passing mention by the person, and not a statement of theirs in another namespace or in a team's space."""
    value = rejected(mem)
    said = [
        person(mem).add(f"It rained. {LEA}. She waved."),
        person(mem).add(LEA, namespace="test"),
        mem.add(LEA, user_id="ana", owner="team", space="project", source="user"),
    ]
    assert not any(receipt.denied for receipt in said)
    assert [one.id for one in person(mem).rejections()] == [value.id] and is_refused(agent(mem).add(LEA))
    assert person(mem).add(LEA).outcome == "stored" and person(mem).rejections() == () and mem.verify().ok


def test_words_that_no_rule_reads_are_known_in_other_letters_too(mem: Any) -> None:
    told = person(mem).add("Zanzibar again, lagoon rota, half board!").memory
    person(mem).reject(told.id)
    for spelled in (
        "zanzibar AGAIN - lagoon  rota, half board",
        "Zаnzibar аgain, lagооn rota, half board!",
        "Zan\u200bzibar again, lago\u2060on rota, half bo\u00adard!",
        "Ｚａｎｚｉｂａｒ again, lagoon rota, half board!",
        "Zanzibar again, lagoon r0ta, half board!",
    ):
        assert is_refused(agent(mem).add(spelled)), spelled
    assert agent(mem).add("Zanzibar again, lagoon rota, full board!").outcome == "stored"
