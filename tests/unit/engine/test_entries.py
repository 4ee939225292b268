"""Entries out and in: nothing is lost on the way, nothing half imported, and no export crosses a border."""

import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.formats.entries import candidate_fields, find_problems, to_entry
from recollect.model.record import Candidate, Memory
from support.determinism import SeededRandomness

EXAMPLES = Path(__file__).parents[3] / "examples" / "entries" / "greenhouse.jsonl"


class Clock:
    """Ticks once a second. A store that is opened later has a later clock: what comes from the first is no future there."""

    began = datetime(2026, 5, 1, tzinfo=UTC)

    def __init__(self) -> None:
        self.now = Clock.began = Clock.began + timedelta(days=1)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def opened(place: str | Path = ":memory:", policy: Any = "entry", seed: int = 1) -> recollect.Recollect:
    return recollect.open(place, policy=policy, clock=Clock(), randomness=SeededRandomness(seed))


@pytest.fixture
def mem() -> Iterator[recollect.Recollect]:
    with opened() as found:
        yield found


def add(mem: recollect.Recollect, content: str, **fields: Any) -> Memory:
    receipt = mem.add(content, **fields)
    assert receipt.memory is not None, receipt
    return receipt.memory


def taken_in(mem: recollect.Recollect, text: str, **where: Any) -> Any:
    """Import a file of one's own, which is believed."""
    return mem.import_(io.StringIO(text), **{"believe": ["place", "weight"], **where}, format="entries", whole=True)


def exported(mem: recollect.Recollect, **which: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mem.export(format="entries", status=None, **which)]


def full_store(mem: recollect.Recollect) -> None:
    """Memories of every kind, with every field that an entry, or only Recollect, has."""
    a = add(mem, "The seedlings wilt at noon", author={"id": "fern", "name": "Fern", "platform": "greenhouse"})
    add(mem, "They wilt from heat", parent_refs=[a.content_hash], confidence=0.7, tags=["heat", "b"], kind="insight")
    add(
        mem, "The port is 80", canonical_key="Port", importance=4, pinned=True, category="ops", context={"x": [1, None]}
    )
    new = add(mem, "The port is 443", canonical_key="Port", change="update", meta={"note": "kept"}, signature="sig")
    mem.vouch(new.id, by="moss", confidence=0.5, says="useful")
    mem.vouch(new.id, by="reed")
    add(mem, "It rained", kind="episodic", user_id="ana", agent_id="weather", thread_id="t", run_id="r", role="tool")
    add(mem, "It rained", kind="episodic")
    add(mem, "Ana", kind="profile", key="preferred_name", owner="ana")
    add(mem, "Sprint nine", tier="register", topic_id="sprint", aliases=["ticket-1"], expires_at="2030-01-01T00:00:00Z")
    add(
        mem,
        "Only mine",
        scope="planner",
        entities=[{"name": "A"}],
        relationships=[{"a": 1}],
        artifact_ref={"path": "x"},
    )
    gone = add(mem, "An old habit")
    mem.archive(gone.id)
    mem.forget(add(mem, "Never mind").id)


def test_out_in_and_out_again_is_the_same(place: str) -> None:
    with opened() as first:
        full_store(first)
        lines = list(first.export(format="entries", status=None))
    assert len(lines) == 10 and all(find_problems(json.loads(line)) == [] for line in lines)
    with opened(place, seed=2) as second:
        report = taken_in(second, "\n".join(lines))
        assert report.refused == () and report.read == 10
        assert list(second.export(format="entries", status=None)) == lines
        assert taken_in(second, "\n".join(lines)).outcomes == {"already_there": 10}
        assert list(second.export(format="entries", status=None)) == lines and second.verify().ok


def test_a_replacement_is_a_version_here_too() -> None:
    with opened() as first, opened() as mem:
        full_store(first)
        taken_in(mem, "\n".join(first.export(format="entries", status=None)))
        (current,) = [one for one in mem.list(limit=100).items if one.content == "The port is 443"]
        assert [link.content for link in mem.chain(current.id)] == ["The port is 80", "The port is 443"]  # type: ignore[union-attr]
        (old,) = [one for one in exported(mem) if one["content"] == "The port is 80"]
    assert old["superseded_by"] == current.content_hash and current.parent_refs == (old["content_hash"],)


def test_vouches_that_come_along_unsigned_are_told_and_weigh_nothing(mem: recollect.Recollect) -> None:
    taken_in(mem, EXAMPLES.read_text(encoding="utf-8"))
    (it,) = [
        one for one in mem.list(limit=100).items if one.content.startswith("Seedlings on bench three wilt from heat")
    ]
    assert [one["name"] for one in it.vouchers if one["imported"]] == ["Moss", "Reed"]
    assert mem.vouchers(it.id).weight == 0
    (out,) = [one for one in exported(mem) if one["content_hash"] == it.content_hash]
    assert [one["name"] for one in out["vouchers"]] == ["Moss", "Reed"]
    mem.vouch(it.id, by="otter")
    (out,) = [one for one in exported(mem) if one["content_hash"] == it.content_hash]
    assert sorted(one["name"] for one in out["vouchers"]) == ["Moss", "Reed", "otter"]


def test_the_examples_come_in_whole(place: str) -> None:
    with opened(place) as mem:
        report = taken_in(mem, EXAMPLES.read_text(encoding="utf-8"), owner="greenhouse", space="project")
        assert (report.read, report.outcomes, report.refused) == (12, {"stored": 10, "superseded": 2}, ())
        active = mem.list(owner="greenhouse", limit=100).items
        assert len(active) == 10 and {one.space for one in active} == {"project"}
        (rule,) = [one for one in active if one.content.endswith("except on cloudy days.")]
        assert len(mem.ancestors(rule.id).sources) == 12
        credit = {one.who: one.share for one in mem.credit(rule.id)}
        assert sum(credit.values()) == 1 and set(credit) == {f"{n}-greenhouse-01" for n in ("fern", "moss", "reed")}
        originals = {json.loads(line)["content_hash"]: json.loads(line) for line in EXAMPLES.read_text().splitlines()}
        for one in exported(mem, owner="greenhouse"):
            came = originals[one["content_hash"]]
            assert {name: one[name] for name in came} == came


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30).filter(str.strip)
SAID = st.fixed_dictionaries(
    {"content": TEXT},
    optional={
        "author": st.fixed_dictionaries({"id": TEXT, "name": TEXT}, optional={"platform": TEXT}),
        "kind": st.sampled_from(["semantic", "episodic", "insight", "procedural"]),
        "confidence": st.floats(0, 1),
        "tags": st.lists(TEXT, max_size=3),
        "context": st.dictionaries(TEXT, st.none() | st.booleans() | TEXT | st.integers(-5, 5), max_size=2),
        "importance": st.integers(1, 5),
        "pinned": st.booleans(),
        "scope": st.sampled_from(["shared", "planner"]),
        "owner": st.sampled_from(["ana", "ben"]),
        "canonical_key": st.sampled_from(["Key-A", "Key-B"]),
    },
)


@settings(max_examples=25)
@given(st.lists(SAID, min_size=1, max_size=6), st.data())
def test_whatever_was_said_comes_back_the_same(said: list[dict[str, Any]], data: st.DataObject) -> None:
    with opened() as first, opened(seed=2) as second:
        hashes: list[str] = []
        for fields in said:
            parents = data.draw(st.lists(st.sampled_from(hashes), max_size=3)) if hashes else []
            memory = first.add(**fields, parent_refs=parents).memory
            hashes += [memory.content_hash] if memory is not None else []
        lines = list(first.export(format="entries", status=None))
        report = taken_in(second, "\n".join(lines))
        assert report.refused == ()
        assert list(second.export(format="entries", status=None)) == lines


def test_nothing_is_stored_unless_the_whole_file_is_sound(mem: recollect.Recollect) -> None:
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    lines[3] = lines[3].replace("Tomato", "Potato")
    with pytest.raises(recollect.BadInput, match=r"entry 4 \(line 4\), content_hash: is not the SHA-256"):
        taken_in(mem, "\n".join(lines))
    with pytest.raises(recollect.BadInput, match="no entry of the file has the content hash"):
        taken_in(mem, "\n".join(lines[5:]))
    assert mem.list().items == ()


def test_a_part_may_be_imported_before_the_rest(mem: recollect.Recollect) -> None:
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    taken_in(mem, "\n".join(lines[6:]), partial=True)
    (rule,) = [one for one in mem.list(limit=100).items if one.content.endswith("except on cloudy days.")]
    assert not all(source.resolved for source in mem.ancestors(rule.id).sources.values())
    taken_in(mem, "\n".join(lines[:6]), partial=True)
    assert all(source.resolved for source in mem.ancestors(rule.id).sources.values())
    assert len(mem.ancestors(rule.id).sources) == 12


def test_what_a_gate_refuses_is_reported_by_its_number() -> None:
    with opened() as first, opened() as mem:
        add(first, "Fine")
        lines = list(first.export(format="entries", status=None))
        secret = lines[0].replace("Fine", "the password is hunter2-very-secret")
        entry = json.loads(secret)
        entry["content_hash"] = hashlib.sha256(entry["content"].encode()).hexdigest()
        del entry["cid"]
        report = taken_in(mem, "".join([lines[0], json.dumps(entry)]))
    assert report.outcomes == {"refused": 1, "stored": 1}
    assert [(one.number, one.place, one.reasons[0]) for one in report.refused] == [
        (2, "line 2", "privacy_deny_sensitive")
    ]


def signed_vouches(count: int) -> list[dict[str, Any]]:
    at = "2026-01-01T00:00:00Z"
    return [{"id": f"agent {n}", "name": "A", "timestamp": at, "signature": "pgp:" + "f" * 200} for n in range(count)]


def test_what_no_memory_can_hold_refuses_its_own_entry_and_no_other(place: str) -> None:
    """Each with its number and what is wrong; what it superseded is put away, since its replacement is not here."""
    with opened() as first:
        old = add(first, "The port is 80", canonical_key="Port")
        add(first, "The port is 443", canonical_key="Port", change="update")
        for words in ("Wrong", "Crowded", "Talkative", "Fine"):
            add(first, words)
        entries = exported(first)
    entries[2]["metadata"]["recollect"]["importance"] = 9
    entries[1]["vouchers"] = entries[3]["vouchers"] = [{**one, "platform": "p" * 256} for one in signed_vouches(1_024)]
    entries[4]["metadata"]["theirs"] = "x" * 17_000
    with opened(place) as mem:
        report = taken_in(mem, "\n".join(map(json.dumps, entries)))
        assert report.outcomes == {"refused": 4, "stored": 2}
        told = {(one.number, one.place): (one.reasons[0], one.detail) for one in report.refused}
        assert told[2, "line 2"][1].startswith("meta: the list of vouchers that came along is 5")
        assert "the limit is 393,216" in told[4, "line 4"][1]
        assert told[3, "line 3"] == ("bad_input", "importance: must be at most 5.")
        assert told[5, "line 5"][1].startswith("meta: the metadata that came along is 17,")
        assert [(one.content, one.status) for one in mem.list(status=None).items] == [
            ("Fine", "active"),
            (old.content, "archived"),
        ]
        with pytest.raises(recollect.BadInput, match="space"):
            taken_in(mem, json.dumps(entries[0]), space="nowhere")


def test_a_crowd_of_signed_vouches_comes_along_whole(mem: recollect.Recollect) -> None:
    (line,) = EXAMPLES.read_text(encoding="utf-8").splitlines()[:1]
    crowded = {**json.loads(line), "vouchers": signed_vouches(1_024)}
    assert taken_in(mem, json.dumps(crowded)).outcomes == {"stored": 1}
    (entry,) = exported(mem)
    assert sorted(one["id"] for one in entry["vouchers"]) == sorted(one["id"] for one in crowded["vouchers"])
    (kept,) = mem.list().items
    large = tuple({**one, "platform": "p" * 256} for one in signed_vouches(1_024))
    told = candidate_fields(to_entry(replace(kept, meta={}, vouchers=large)))
    assert Candidate.model_validate(told), "an export says no more than an import takes in"


def test_sixty_four_parents_and_the_version_before_make_an_entry_that_is_sound(mem: recollect.Recollect) -> None:
    seen = [{"content": f"Observation {number}", "canonical_key": f"Seen-{number}"} for number in range(64)]
    named = [hashlib.sha256(one["content"].encode()).hexdigest() for one in seen]
    mem.add_many(seen)
    old = add(mem, "They are few", canonical_key="Sum")
    new = add(mem, "They are many", canonical_key="Sum", change="update", parent_refs=named)
    assert new.parent_refs == tuple(named) and new.supersedes_id == old.id
    assert len(mem.ancestors(new.id).parents[new.id]) == 65, "the version before counts all the same"
    lines = list(mem.export(format="entries", status=None))
    assert not any(find_problems(json.loads(line)) for line in lines)
    with opened(seed=2) as second:
        assert taken_in(second, "\n".join(lines)).outcomes == {"stored": 65, "superseded": 1}
        assert list(second.export(format="entries", status=None)) == lines
        (again,) = [one for one in second.list(limit=100).items if one.content == new.content]
        assert len(second.ancestors(again.id).parents[again.id]) == 65
    with opened(seed=3) as third:
        assert third.import_(mem.export()).outcomes == {"stored": 65}, "so it is in the store's own format"


def test_what_a_crowd_vouched_for_can_still_be_handed_on(mem: recollect.Recollect) -> None:
    taken_in(mem, EXAMPLES.read_text(encoding="utf-8").splitlines()[0])
    (it,) = mem.list().items
    mem.vouch(it.id, by="otter")
    (line,) = mem.export(format="entries", status=None)
    with opened() as second:
        assert taken_in(second, line).outcomes == {"stored": 1}
        assert list(second.export(format="entries", status=None)) == [line]
    crowd = tuple({"id": f"sock{n}", "name": "S", "timestamp": "2026-01-01T00:00:00Z"} for n in range(1_025))
    entry = to_entry(replace(mem.get(it.id), vouchers=crowd))
    assert find_problems(entry) == [] and len(entry["vouchers"]) == 1_024


def test_who_vouched_since_is_added_when_the_entry_comes_again(place: str) -> None:
    """By others, once each, however often it comes; told and handed on, and weighing nothing."""
    with opened() as first, opened(place, {"preset": "entry", "trust": {"seeds": ["otter", "heron"]}}) as mem:
        it = add(first, "Trust needs a chain of tellers", author="babel")
        first.vouch(it.id, by="otter")
        assert taken_in(mem, "\n".join(first.export(format="entries", status=None))).vouches_added == 0
        (here,) = mem.list().items
        mem.vouch(here.id, by="heron")
        for name in ("heron", "moss", "iris"):
            first.vouch(it.id, by=name, says="useful")
        weight, later = mem.vouchers(here.id).weight, list(first.export(format="entries", status=None))
        report = taken_in(mem, later[0])
        assert (report.outcomes, report.vouches_added, report.refused) == ({"already_there": 1}, 2, ())
        assert taken_in(mem, later[0]).vouches_added == 0
        (told,) = exported(mem)
        assert sorted(one["id"] for one in told["vouchers"]) == [
            f"agent:{name}" for name in ("heron", "iris", "moss", "otter")
        ]
        assert [one["id"] for one in mem.get(here.id).vouchers if "imported" not in one] == ["agent:heron"]
        assert mem.vouchers(here.id).weight == weight and mem.get(here.id).last_modified == here.last_modified
        mem.withdraw_vouch(here.id, by="heron")
        assert taken_in(mem, later[0]).vouches_added == 0, "what was taken back here is not brought back"
        assert mem.verify().ok and mem.rebuild() == 1 and mem.verify().ok
        assert sorted(one["name"] for one in exported(mem)[0]["vouchers"]) == ["iris", "moss", "otter"]
        assert [one.meta["rule"] for one in mem.history(here.id)][1:3] == ["vouched:by_another", "vouched:elsewhere"]
        mem.erase(id=here.id)
        assert mem.verify().ok


@pytest.mark.parametrize("format", ["recollect", "entries"])
def test_who_vouched_since_is_added_record_by_record_too(place: str, tmp_path: Path, format: str) -> None:
    """To the same words of the same author and time, under any name of the file; to those of another, never."""
    with opened(policy="default") as first, opened(place, "default") as mem:
        it = add(first, "Trust needs a chain of tellers", author="babel", owner="ana")

        def brought(owner: str, name: str, *vouchers: str) -> Any:
            for voucher in vouchers:
                first.vouch(it.id, by=voucher)
            (tmp_path / name).write_text("".join(f"{line.strip()}\n" for line in first.export(format=format)))
            return mem.import_(tmp_path / name, format=format, owner=owner)

        def vouching(owner: str) -> dict[str, list[str]]:
            found = mem.list(owner=owner, status=None).items
            return {one.author.id: sorted(voucher["name"] for voucher in one.vouchers) for one in found}

        assert brought("ana", "a.jsonl", "otter").outcomes == {"stored": 1}
        for name, added in (("a.jsonl", 2), ("b.jsonl", 0)):
            again = brought("ana", name, *(["moss", "iris"] if added else []))
            assert (again.outcomes, again.vouches_added) == ({"already_there": 1}, added)
        assert vouching("ana") == {"babel": ["iris", "moss", "otter"]}
        add(mem, it.content, author="carol", owner="ben")
        reports = [brought("ben", "c.jsonl"), brought("ben", "d.jsonl", "heron")]
        if format == "recollect":
            assert [report.outcomes for report in reports] == [{"reinforced": 1}, {"already_there": 1}]
            assert all("of another author or time" in report.notes[0] for report in reports), "and that is told"
            assert vouching("ben") == {"carol": []}
        else:
            assert [report.outcomes for report in reports] == [{"said_before": 1}, {"already_there": 1}]
            assert vouching("ben") == {"carol": [], "babel": ["heron", "iris", "moss", "otter"]}
        bound = mem.as_caller(user="ana").import_(tmp_path / "d.jsonl", format=format, owner="ana")
        assert bound.vouches_added == 0 and vouching("ana") == {"babel": ["iris", "moss", "otter"]}
        assert mem.verify().ok


def test_no_file_makes_whoever_imports_it_vouch(place: str) -> None:
    """Not even one that names the opaque uid under which they act, which proofs tell."""
    with opened(place, {"preset": "entry", "trust": {"seeds": ["system:application"]}}) as mem:
        (line,) = EXAMPLES.read_text(encoding="utf-8").splitlines()[:1]
        entry = {**json.loads(line), "vouchers": []}
        taken_in(mem, json.dumps(entry))
        with mem.engine.read() as reader:
            (uid,) = [uid for uid, (name, _) in reader.actor_names("default").items() if name == "system:application"]
        fake = {"id": "sock", "name": uid, "platform": uid, "timestamp": "2026-01-01T00:00:00Z"}
        assert taken_in(mem, json.dumps({**entry, "vouchers": [fake]})).vouches_added == 1
        other = add(mem, "Something that nobody relies upon", author="mallory")
        mem.vouch(other.id, by=entry["author"]["id"])
        found = mem.vouchers(other.id)
        assert "system:application" in found.relied_upon and found.weight == 0


def test_later_vouches_pass_the_same_checks(mem: recollect.Recollect) -> None:
    (line,) = EXAMPLES.read_text(encoding="utf-8").splitlines()[:1]
    entry = {**json.loads(line), "vouchers": []}
    taken_in(mem, json.dumps(entry))
    (it,) = mem.list().items
    secret = {"id": "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5", "name": "S", "timestamp": "2026-01-01T00:00:00Z"}
    report = taken_in(mem, json.dumps({**entry, "vouchers": [secret]}))
    assert report.vouches_added == 0 and "privacy_deny_sensitive" in report.notes[0]
    assert secret["id"] not in json.dumps(report.to_dict())
    assert taken_in(mem, json.dumps({**entry, "vouchers": signed_vouches(1_000)})).vouches_added == 1_000
    more = [{**one, "id": f"another {place}"} for place, one in enumerate(signed_vouches(25))]
    report = taken_in(mem, json.dumps({**entry, "vouchers": more}))
    assert "more than 1,024" in report.notes[0] and "bad_input" in report.notes[0]
    bound = mem.as_caller(agent="planner", user=it.owner)
    assert taken_in(bound, json.dumps({**entry, "vouchers": more[:1]})).vouches_added == 0
    assert len(exported(mem)[0]["vouchers"]) == 1_000 and mem.verify().ok


def test_an_export_holds_what_its_caller_may_see(mem: recollect.Recollect) -> None:
    add(mem, "Shared", owner="ana")
    add(mem, "The planner's own", owner="ana", scope="planner")
    add(mem, "The doctor's own", owner="ana", scope="doctor")
    add(mem, "Ben's", owner="ben")
    add(mem, "A test", owner="ana", namespace="test")
    planner = mem.as_caller(agent="planner", user="ana")
    assert [one["content"] for one in exported(planner)] == ["Shared", "The planner's own"]
    assert [one["content"] for one in exported(mem, owner="ben")] == ["Ben's"]
    assert "A test" in [one["content"] for one in exported(mem, include_namespaces=["prod", "test"])]


def test_an_export_does_not_tell_the_hash_of_a_version_that_its_caller_may_not_see() -> None:
    with opened(policy={"preset": "entry", "agents": {"allowlists": {"planner": ["general"]}}}) as mem:
        add(mem, "The port is 80", owner="ana", canonical_key="Port")
        new = add(mem, "The port is 443", owner="ana", canonical_key="Port", change="update", category="secret")
        (seen,) = exported(mem.as_caller(agent="planner", user="ana"))
        assert seen["content"] == "The port is 80" and new.content_hash not in json.dumps(seen)
        assert exported(mem)[0]["superseded_by"] == new.content_hash


def test_nobody_brings_vouchers_or_an_origin_of_their_own_making(mem: recollect.Recollect) -> None:
    forged = {"vouchers": [{"id": "boss", "name": "Boss", "timestamp": "2026-01-01T00:00:00Z"}], "timestamp": "1999"}
    mem.as_caller(agent="planner", user="ana").add("Trust me", meta={"entry": forged})
    (out,) = exported(mem)
    assert out["vouchers"] == [] and out["timestamp"].startswith("2026-")
    (line,) = EXAMPLES.read_text(encoding="utf-8").splitlines()[:1]
    refused = (
        mem.as_caller(agent="planner", user="ana").import_(io.StringIO(line), format="entries", whole=True).refused
    )
    assert [one.reasons[0] for one in refused] == ["border:not_your_name"]


def test_an_import_does_not_tell_that_something_is_here_that_its_caller_may_not_see(mem: recollect.Recollect) -> None:
    own = add(mem, "The doctor's own", owner="ana", scope="doctor", author="planner")
    (line,) = mem.export(format="entries", status=None)
    assert taken_in(mem, line).outcomes == {"already_there": 1}
    entry = json.loads(line)
    del entry["metadata"]
    told = [
        taken_in(mem.as_caller(agent="planner", user="ana"), json.dumps(one)) for one in (entry, other_words(entry))
    ]
    assert told[0].outcomes == told[1].outcomes and mem.get(own.id).status == "active"


def other_words(entry: dict[str, Any]) -> dict[str, Any]:
    content = "Nobody ever said this"
    plain = {name: value for name, value in entry.items() if name != "cid"}
    return {**plain, "content": content, "content_hash": hashlib.sha256(content.encode()).hexdigest()}


def test_what_was_forgotten_or_erased_is_not_exported(mem: recollect.Recollect) -> None:
    mem.forget(add(mem, "Forgotten").id)
    mem.erase(id=add(mem, "Erased").id)
    add(mem, "Expired", ttl_ticks=1)
    add(mem, "Kept")
    assert [one["content"] for one in exported(mem)] == ["Kept"]
    assert [*mem.export(format="entries")] == [*mem.export(format="entries", status=None)]


def said_at(content: str, author: str, at: str, **fields: Any) -> dict[str, Any]:
    digest = hashlib.sha256(content.encode()).hexdigest()
    who = {"id": author, "name": author.title()}
    return {"content": content, "author": who, "timestamp": at, "content_hash": digest, **fields}


TEA = {"recollect": {"canonical_key": "Tea"}}
OTTO = said_at("Ana likes green tea", "otto", "2026-02-02T00:00:00Z", metadata=TEA)
BABEL = said_at("Ana likes green tea", "babel", "2026-03-01T00:00:00Z", metadata=TEA)
AGAIN = said_at("Ana likes green tea", "otto", "2026-04-01T00:00:00Z", metadata=TEA)
ALIKE = said_at("Ana likes green tea!", "babel", "2026-04-02T00:00:00Z")
OLD = said_at(
    "Ben lives in Basel", "otto", "2026-02-02T00:00:00Z", superseded_by=hashlib.sha256(b"Ben moved").hexdigest()
)
NEW = said_at("Ben moved", "otto", "2026-02-03T00:00:00Z")
GONE = said_at("Cleo plays chess", "otto", "2026-02-02T00:00:00Z", metadata={"recollect": {"status": "archived"}})


def as_lines(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def who_said(mem: recollect.Recollect) -> set[tuple[str, str, str]]:
    return {(one["content"], one["author"]["id"], one["timestamp"]) for one in exported(mem)}


def by_the_file(mem: recollect.Recollect, text: str, tmp_path: Path) -> Any:
    (tmp_path / "entries.jsonl").write_text(text)
    return mem.import_(tmp_path / "entries.jsonl", format="entries")


@pytest.mark.parametrize("policy", ["assistant", "entry"])
@pytest.mark.parametrize("way", ["entry import", "import entries"])
def test_everybody_who_said_it_keeps_a_record_of_their_own(policy: str, way: str, tmp_path: Path) -> None:
    told = [OTTO, BABEL, AGAIN, ALIKE, OLD, NEW, GONE]
    mem = opened(policy=policy)

    def imported(mem: recollect.Recollect, text: str) -> Any:
        return taken_in(mem, text) if way == "entry import" else by_the_file(mem, text, tmp_path)

    report = imported(mem, as_lines(*told))
    assert not report.refused and sum(report.outcomes.values()) == len(told)
    assert report.outcomes["said_before"] >= 2
    wanted = {(one["content"], one["author"]["id"], one["timestamp"]) for one in told}
    assert who_said(mem) == wanted
    words = [memory.content for memory in mem.list().items]
    assert words.count("Ana likes green tea") == 1 and "Ben moved" in words
    assert not {"Ben lives in Basel", "Cleo plays chess"} & set(words)
    (babel,) = (one for one in exported(mem) if (one["author"]["id"], one["content"]) == ("babel", OTTO["content"]))
    assert babel["metadata"]["recollect"]["canonical_key"] == "Tea"

    before = list(mem.export(format="entries", status=None))
    imported(mem, as_lines(*told))
    assert list(mem.export(format="entries", status=None)) == before, "a second time changes nothing"
    next_one = opened(policy=policy, seed=2)
    imported(next_one, "\n".join(before))
    assert list(next_one.export(format="entries", status=None)) == before
    assert mem.verify().ok and next_one.verify().ok


def test_entries_that_supersede_each_other_are_refused(tmp_path: Path) -> None:
    def by(content: str, other: str, day: int) -> dict[str, Any]:
        at = f"2026-02-0{day}T00:00:00Z"
        return said_at(content, "otto", at, superseded_by=hashlib.sha256(other.encode()).hexdigest())

    circle = [by("Tea at two", "Tea at four", 1), by("Tea at four", "Tea at six", 2), by("Tea at six", "Tea at two", 3)]
    mem = opened()
    with pytest.raises(recollect.BadInput, match="superseded_by: is superseded by an entry that it supersedes"):
        taken_in(mem, as_lines(*circle, NEW))
    report = by_the_file(mem, as_lines(*circle, by("Tea at one", "Tea at two", 1), NEW), tmp_path)
    assert report.outcomes == {"refused": 3, "stored": 2}
    assert "superseded_by: is superseded by an entry that it supersedes" in str(report.refused[0].detail)
    back = [*circle[:2], by("Tea at six", "Tea at two", 3), said_at("Tea at two", "otto", "2026-02-09T00:00:00Z")]
    assert by_the_file(opened(), as_lines(*back), tmp_path).outcomes == {"stored": 4}
    assert not taken_in(opened(), as_lines(*back)).refused


def test_an_audit_does_not_judge_what_is_history(tmp_path: Path) -> None:
    (tmp_path / "entries.jsonl").write_text(as_lines(OLD, NEW, GONE))
    found = opened().audit_file(tmp_path / "entries.jsonl", format="entries").found
    assert (found.read, found.skipped) == (1, 2)


def test_what_is_kept_for_the_record_and_was_brought_back_stays(tmp_path: Path) -> None:
    mem = opened()
    by_the_file(mem, as_lines(GONE), tmp_path)
    (gone,) = mem.list(status="archived").items
    mem.restore(gone.id)
    assert by_the_file(mem, as_lines(GONE), tmp_path).outcomes == {"already_there": 1}
    assert [memory.id for memory in mem.list().items] == [gone.id]


def test_a_bound_caller_reinforces_and_leaves_no_record() -> None:
    mem = opened(policy="assistant")
    ana = mem.as_caller(user="ana")
    twice = as_lines(*(said_at("Ana likes green tea", "ana", f"2026-02-0{day}T00:00:00Z") for day in (1, 2)))
    assert taken_in(ana, twice).outcomes == {"reinforced": 1, "stored": 1}
    assert taken_in(ana, twice).outcomes == {"already_there": 2}
    assert len(exported(mem)) == 1
