"""What a bound caller learns: from receipts, from short ids and aliases, and from recalls across phases."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest

import recollect

Open = Callable[..., Any]


@pytest.fixture
def opened(any_place: Any) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda **policy: stack.enter_context(recollect.open(any_place, policy=policy))


def test_a_receipt_shows_only_what_its_caller_may_read(opened: Open) -> None:
    mem = opened()
    secret = {"meta": {"note": "zzsecret"}, "tags": ["zzsecret"]}
    mem.add("Ana's bank is Alpha", owner="ana", canonical_key="Ana-Bank", **secret)
    mem.add("Ana meets the zzsecret banker in Bern on Friday", owner="ana")
    blind = mem.as_caller(user="ana", rights=["write"])
    offers: list[dict[str, Any]] = [
        {"content": "Ana's bank is Alpha", "canonical_key": "Ana-Bank"},
        {"content": "Ana's bank is Beta", "canonical_key": "Ana-Bank", "change": "contradiction", "source": "agent"},
        {"content": "Ana's bank is Gamma", "canonical_key": "Ana-Bank", "change": "update"},
        {"content": "Ana meets the zzother banker in Bern on Friday"},
    ]
    for fields in offers:
        receipt = blind.add(**fields)
        assert not receipt.denied and "zzsecret" not in str(receipt.to_dict()), fields
        assert (receipt.similar, receipt.changed, receipt.events, receipt.detail) == ((), (), (), None)
        assert (receipt.memory is not None) == (receipt.outcome == "stored"), fields
    again = mem.as_caller(user="ana").add("Ana's bank is Gamma", canonical_key="Ana-Bank")
    assert again.outcome == "reinforced" and again.memory.supersedes_id, "who may read is shown the record"


def test_a_caller_without_the_right_to_read_is_told_so(opened: Open) -> None:
    """Finding nothing would look like an empty memory; whether a memory exists is not told."""
    mem = opened()
    id = mem.add("Ana's bank is Alpha", owner="ana").memory.id
    blind, seeing = (mem.as_caller(user="ana", rights=rights) for rights in (["write"], ["read"]))
    reads = {
        "list": lambda who, id: who.list(),
        "export": lambda who, id: list(who.export()),
        "export of an owner": lambda who, id: list(who.export(owner="ana")),
        "history of an owner": lambda who, id: list(who.history(owner="ana")),
        "get": lambda who, id: who.get(id),
        "history": lambda who, id: who.history(id),
        "explain": lambda who, id: who.explain(id),
        "stats": lambda who, id: who.stats(),
        "changes": lambda who, id: who.changes(since="start").items,
        "outdated": lambda who, id: [who.outdated()],
    }
    for name, read in reads.items():
        assert read(seeing, id), name
        refusals = set()
        for asked in (id, "7d7d7d7d-1111-5222-8333-444444444444"):
            with pytest.raises(recollect.NotAllowed, match="right 'read'") as refused:
                read(blind, asked)
            refusals.add(str(refused.value))
        assert len(refusals) == 1, f"{name}: the answer tells nothing of what there is"
    closed = blind.query("Which bank?")
    assert closed.items == () and {one.get("reason") for one in closed.events[:-1]} == {"border:no_read_right"}


def test_no_change_of_a_memory_tells_a_blind_writer_whether_it_exists(opened: Open) -> None:
    mem = opened()
    id = mem.add("Ana's bank is Alpha", owner="ana", tags=["zzsecret"]).memory.id
    other = mem.add("Ana's boat lies in Ghent", owner="ana").memory.id
    blind = mem.as_caller(user="ana", rights=["write", "govern", "erase"])
    changes: dict[str, Callable[[str], Any]] = {
        "update": lambda id: blind.update(id, "Ana's bank is Delta"),
        "supersedes": lambda id: blind.add("Ana's bank is Delta", supersedes=id),
        "supersede": lambda id: blind.supersede(id, by=other),
        "edit": lambda id: blind.edit(id, pinned=True),
        "link": lambda id: blind.link(id, other),
        "vouch": lambda id: blind.vouch(id),
        "archive": lambda id: blind.archive(id),
        "restore": lambda id: blind.restore(id),
        "forget": lambda id: blind.forget(id),
        "reject": lambda id: blind.reject(id),
        "resolve": lambda id: blind.resolve(id, winner=id),
        "grant": lambda id: blind.grant(id),
        "promote": lambda id: blind.promote(id, "project"),
        "erase": lambda id: blind.erase(id=id),
        "preview_erasure": lambda id: blind.preview_erasure(id=id),
    }
    before = mem.state_hash()
    for name, change in changes.items():
        told = set()
        for asked in (id, "7d7d7d7d-1111-5222-8333-444444444444"):
            with pytest.raises(recollect.NotAllowed, match="right 'read'") as refused:
                change(asked)
            told.add(str(refused.value))
        assert len(told) == 1, name
    assert mem.state_hash() == before
    line = json.dumps({"content": "Ana's bank is Alpha"})
    report = blind.import_([line])
    assert (
        report.outcomes == {"reinforced": 1}
        and "zzsecret" not in str(report.to_dict())
        and id not in str(report.to_dict())
    )


def test_a_turn_tells_a_blind_writer_nothing(opened: Open) -> None:
    mem = opened()
    seeing = mem.as_caller(user="ana", session="s1")
    seeing.turn(session="s1", user="My bank is Alpha.", ai="Noted.")
    blind = mem.as_caller(user="ana", session="s1", rights=["write"])
    told = blind.record(session="s1", user="My bank is Alpha.")
    assert told.receipts and all(one.events == () and one.similar == () for one in told.receipts) and told.events == ()
    assert seeing.record(session="s1", user="My bank is Alpha.").events


def test_an_update_of_nothing_does_not_offer_what_is_hidden(opened: Open) -> None:
    mem = opened()
    mem.add("The cellar door is painted green", owner="ana")
    for rights, offered in ((["write"], False), (["read", "write"], True)):
        caller = mem.as_caller(user="ana", rights=rights)
        with pytest.raises(recollect.BadInput) as error:
            caller.add("The cellar door is painted red", canonical_key="Other-Key", change="update")
        assert ("green" in str(error.value)) == offered


def test_no_alias_takes_over_a_short_id(opened: Open) -> None:
    mem = opened()
    victim = mem.add("The rent is 900", owner="ana").memory
    for digits in (4, 6, 11):
        short = victim.id.replace("-", "")[:digits]
        thief = mem.add(f"The rent is {digits}000", owner="ana", canonical_key=f"Rent-{digits}", aliases=[short]).memory
        with pytest.raises(recollect.AmbiguousId) as error:
            mem.get(short)
        assert victim.id in str(error.value) and thief.id in str(error.value)
        with pytest.raises(recollect.AmbiguousId):
            mem.forget(short)
    taken = victim.id.replace("-", "")[:12]
    mem.add("The rent is void", owner="ana", canonical_key="Rent-12", aliases=[taken])
    assert mem.get(taken).id == victim.id, "twelve digits are the short id itself"
    assert mem.get(victim.id).id == victim.id


def test_an_alias_matches_as_a_whole_and_a_vaults_keeps_working(opened: Open) -> None:
    mem = opened()
    from_a_vault = mem.add("Tea is at four", owner="ana", aliases=["0123456789ab", "ticket-77"]).memory
    assert mem.get("0123456789ab").id == mem.get("ticket-77").id == from_a_vault.id
    for part in ("012345", "ticket", "0123456789a", "ticket-7"):
        with pytest.raises(recollect.NotFound):
            mem.get(part)


def test_a_summary_carries_no_words_into_the_next_phase(opened: Open) -> None:
    mem = opened(preset="governed", turns={"short_term_window": 1})

    def say(words: str) -> None:
        mem.turn(session="s1", user=words, ai="Noted.", owner="ana")

    for words in ("The zzfirst crate is here.", "The second crate is here."):
        say(words)
    mem.start_phase(space="session", owner="s1")
    for words in ("The third crate is here.", "The fourth crate is here."):
        say(words)
    now = mem.recall_for(session="s1", user="Which crates are here?", owner="ana").text
    assert "third crate" in now and "zzfirst" not in now and "second crate" not in now


def test_a_bound_caller_does_not_ask_its_way_into_an_earlier_phase(opened: Open) -> None:
    mem = opened()
    mem.add("The sprint goal is the login page", owner="ana", canonical_key="Sprint-Goal")
    mem.add("The sprint has a zzold budget", owner="ana")
    mem.start_phase(space="user", owner="ana")
    mem.add("The sprint goal is the search page", owner="ana", canonical_key="Sprint-Goal", change="update")
    planner = mem.as_caller(agent="planner", user="ana")

    def told(caller: Any, **how: Any) -> str:
        return str(caller.query("sprint goal budget", form="full", **how).to_dict())

    with pytest.raises(recollect.NotAllowed, match="current phase"):
        told(planner, filters={"phase": "any"})
    for how in ({}, {"filters": {"phase": "phase-1"}}, {"history": True}, {"at": "2020-01-01"}):
        assert "login" not in told(planner, **how) and "zzold" not in told(planner, **how), how
    assert "search" in told(planner, filters={"phase": "phase-2"})
    assert "zzold" in told(mem, owner="ana", filters={"phase": "any"}), "an application may ask for it"
    assert "login" in told(mem, owner="ana", history=True)


@pytest.mark.parametrize(("phase", "found"), [({}, False), ({"allow_cross_phase_recall": True}, True)])
def test_the_permission_alone_opens_earlier_phases(opened: Open, phase: dict[str, Any], found: bool) -> None:
    mem = opened(phase=phase)
    mem.add("The sprint goal is the login page", owner="ana")
    mem.start_phase(space="user", owner="ana")
    planner = mem.as_caller(agent="planner", user="ana")
    assert bool(planner.query("sprint goal").items) == found
    if found:
        assert planner.query("sprint goal", filters={"phase": "any"}).items
        assert planner.query("sprint goal", filters={"phase": "current"}).items == ()


def test_a_mode_that_is_named_decides_what_a_recall_sees_by_itself(opened: Open) -> None:
    mem = opened(phase={"mode": "current_only", "allow_cross_phase_recall": True})
    mem.add("The sprint goal is the login page", owner="ana")
    mem.start_phase(space="user", owner="ana")
    planner = mem.as_caller(agent="planner", user="ana")
    assert planner.query("sprint goal").items == ()
    assert planner.query("sprint goal", filters={"phase": "any"}).items, "it may be asked for"


def test_cursors_of_events_do_not_count_what_others_did(opened: Open) -> None:
    mem = opened()
    ana = mem.as_caller(user="ana")
    for number in range(4):
        ana.add(f"Crate {number} is here", kind="episodic")
        mem.add(f"Barrel {number} is there", owner="ben")
    everything, paged, numbers, after = ana.events(limit=100).items, [], [], None
    while True:
        page = ana.events(limit=1, cursor=after)
        paged += page.items
        if (after := page.next_cursor) is None:
            break
        numbers.append(json.loads(base64.urlsafe_b64decode(after)))
    assert tuple(paged) == everything and len(paged) >= 4, "pages go on where they ended"
    apart = [abs(b[1] - a[1]) for a, b in pairwise(numbers) if a[0] != b[0]]
    assert apart and min(apart) > 1_000_000
