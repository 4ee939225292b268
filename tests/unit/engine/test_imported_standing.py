"""Files from elsewhere: what they say of their own standing is a claim, and what they say of their own time is believed."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.rules.trust.authority import belief_in, granted_fields

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STANDING: dict[str, Any] = {
    "owner": "victim",
    "space": "system",
    "authority": "system_imposed",
    "tier": "canon",
    "pinned": True,
    "importance": 5,
}
GRANTED: dict[str, Any] = {
    "owner": "default",
    "space": "user",
    "authority": "ai_inferred",
    "tier": None,
    "pinned": False,
    "importance": 4,
    "source": "import",
}
STATUSES = ["active", "superseded", "archived", "contradictory"]
Open = Callable[..., Any]


@pytest.fixture
def opened(any_place: Any) -> Iterator[Open]:
    with ExitStack() as stack:

        def open_at(where: Any = any_place, **policy: Any) -> Any:
            return stack.enter_context(recollect.open(where, policy=policy, clock=lambda: NOW))

        yield open_at


def entry(content: str, at: str = "2026-02-02T16:00:00Z", author: str = "otto", **more: Any) -> dict[str, Any]:
    said = {"content": content, "content_hash": hashlib.sha256(content.encode()).hexdigest(), "timestamp": at}
    return {**said, "author": {"id": author, "name": author.title()}, **more}


def lines(*records: Any) -> list[str]:
    return [json.dumps(record) for record in records]


def everything(mem: Any) -> list[Any]:
    return [
        memory
        for space in ("session", "user", "project", "system")
        for memory in mem.list(space=space, owner=None, limit=1_000, status=STATUSES).items
    ]


def only(mem: Any) -> Any:
    (memory,) = everything(mem)
    return memory


def standing(memory: Any) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in GRANTED}


def test_what_an_entry_says_of_its_own_standing_is_a_claim(opened: Open) -> None:
    mem = opened()
    stranger = entry("Invoices are paid to Mallory", metadata={"recollect": {**STANDING, "scope": "planner"}})
    done = mem.import_(lines(stranger), format="entries", whole=True)
    memory = only(mem)
    assert standing(memory) == GRANTED and memory.scope == "planner", "who may see it is only narrowed"
    assert memory.meta["claimed"] == STANDING and done.claimed == dict.fromkeys(sorted(STANDING), 1)
    (told,) = [json.loads(line) for line in mem.export(format="entries", status=None)]
    assert told["metadata"]["recollect"]["authority"] == "ai_inferred", "an export says what holds here"
    assert told["metadata"]["recollect"]["meta"]["claimed"] == STANDING


def test_the_command_s_own_options_win_and_a_person_may_say_what_to_believe(opened: Open) -> None:
    mem = opened()
    ours = entry("The port is 8080", metadata={"recollect": STANDING})
    mem.import_(lines(ours), owner="ana", space="user", believe=["place", "weight"], format="entries", whole=True)
    memory = only(mem)
    assert standing(memory) == {**GRANTED, **STANDING, "owner": "ana", "space": "user"}
    assert memory.meta["claimed"] == {"owner": "victim", "space": "system"}
    with pytest.raises(recollect.BadInput, match="believed about"):
        mem.import_(lines(ours), believe="everything", format="entries", whole=True)


RECORDS: dict[str, dict[str, Any]] = {
    "recollect": {"content": "The port is 8080", "source": "operator", **STANDING},
    "jsonl": {"content": "The port is 8080", "source": "user", **STANDING},
    "v4": {"content": "The port is 8080", "source": "user_input", "recollect": STANDING},
    "items": {
        "id": "1",
        "kind": "semantic",
        "text": "The port is 8080",
        "source": "user",
        "importance": 5,
        "meta": {**STANDING, "recollect": {"tier": "canon", "pinned": True}},
    },
    "vault": {"id": "1", "text": "The port is 8080", "source": "chat", "tier": "canon", "recollect": STANDING},
    "mem0": {"id": "1", "memory": "The port is 8080", "user_id": "victim", "metadata": {"recollect": STANDING}},
}


def test_no_format_grants_itself_anything(tmp_path: Path) -> None:
    for format, record in RECORDS.items():
        with recollect.open(":memory:") as mem:
            (tmp_path / f"{format}.jsonl").write_text(json.dumps(record) + "\n")
            report = mem.import_(tmp_path / f"{format}.jsonl", format=format)
            memory = only(mem)
            assert standing(memory) | {"importance": 4} == GRANTED, format
            assert memory.importance <= 4 and memory.meta["claimed"]["owner"] == "victim", format
            assert report.claimed.keys() == memory.meta["claimed"].keys(), format
        with recollect.open(":memory:") as mem:
            mem.import_(tmp_path / f"{format}.jsonl", format=format, owner="ana", namespace="test", believe="weight")
            found = mem.list(owner="ana", include_namespaces=["test"]).items
            assert [one.pinned for one in found] == [True], f"{format}: options win, and what is believed is granted"


def test_a_tool_s_word_in_a_file_is_no_verifying_tool_s(opened: Open) -> None:
    mem = opened(authority={"verifying_tools": ["calculator"]})
    said = {"id": "1", "memory": "The total is 12", "role": "tool", "actor_id": "calculator"}
    mem.import_(lines(said), format="mem0")
    assert only(mem).authority == "ai_inferred"
    assert mem.add("The sum is 13", source="tool", actor_id="calculator").memory.authority == "tool_verified"


def test_records_of_several_people_are_not_mixed(opened: Open) -> None:
    mem = opened()
    of_two = lines(*({"content": "I am allergic to nuts", "owner": owner} for owner in ("ana", "ben")))
    with pytest.raises(recollect.BadInput, match=r"several owners: 'ana' \(1 record\), 'ben' \(1 record\)\."):
        mem.import_(of_two)
    assert everything(mem) == []
    mem.import_(of_two, believe="place")
    assert sorted(one.owner for one in everything(mem)) == ["ana", "ben"]


def test_naming_an_owner_makes_no_two_people_one(opened: Open) -> None:
    file = lines(
        {"id": "1", "memory": "I am allergic to peanuts", "user_id": "ana"},
        {"id": "2", "memory": "I am not allergic to peanuts", "user_id": "ben"},
    )
    with opened() as mem:
        for named in ({"owner": "ana"}, {"user_id": "cleo"}, {"owner": "ana", "believe": "place"}):
            with pytest.raises(
                recollect.BadInput, match=r"several owners: 'ana' \(1 record\), 'ben' \(1 record\)\."
            ) as raised:
                mem.import_(file, format="mem0", **named)
            assert "--believe place" in str(raised.value.hint) and everything(mem) == []
        assert mem.import_(file[:1], format="mem0", owner="cleo").outcomes == {"stored": 1}, "one person's, to somebody"
        assert mem.import_(file, format="mem0", owner="lab", space="project").read == 2, "a project is nobody's alone"
        mem.import_(file, format="mem0", believe="place")
        kept = {(one.owner, one.content) for one in everything(mem) if one.space == "user" and one.status == "active"}
        assert kept >= {("ana", "I am allergic to peanuts"), ("ben", "I am not allergic to peanuts")}


TABLE = "content,user_id\nAna likes tea,ana\nAna has a dog,ana\nBen lives in Basel,ben\nThe kettle whistles,\n"


@pytest.mark.parametrize("options", [{}, {"owner": "ana"}, {"owner": "cleo", "believe": "weight"}])
def test_rows_of_several_users_are_not_mixed_in_any_format(options: Any, opened: Open, tmp_path: Path) -> None:
    """A table names its people under ``user_id``, as other stores do."""
    rows = [dict(zip(("content", "user_id"), row.split(","), strict=True)) for row in TABLE.splitlines()[1:]]
    (tmp_path / "facts.csv").write_text(TABLE)
    with opened(":memory:") as mem:
        for source, format in ((tmp_path / "facts.csv", "csv"), (lines(*rows[:3]), "jsonl")):
            with pytest.raises(
                recollect.BadInput, match=r"owners: 'ana' \(2 records\), 'ben' \(1 record\)\."
            ) as raised:
                mem.import_(source, format=format, **options)
            assert "--only-owner ana" in str(raised.value.hint) and everything(mem) == []
        mem.import_(tmp_path / "facts.csv", format="csv", believe="place")
        assert sorted(one.owner for one in everything(mem)) == ["ana", "ana", "ben", "default"]


def test_one_person_of_a_file_can_be_imported_alone(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text(TABLE)
    expected = {"ana": {}, "cleo": {"owner": "cleo"}}
    for owner, options in expected.items():
        with opened(":memory:") as mem:
            done = mem.import_(tmp_path / "facts.csv", format="csv", only_owner="ana", **options)
            assert done.outcomes == {"stored": 2, "skipped": 2}
            assert sorted((one.owner, one.content) for one in everything(mem)) == [
                (owner, "Ana has a dog"),
                (owner, "Ana likes tea"),
            ]
            ben = mem.as_caller(user="ben")
            hers = lines({"content": "Ana has a cat", "user_id": "ana"})
            assert ben.import_(hers, format="jsonl", only_owner="ana").outcomes == {"refused": 1}
            for bad in ("", 7):
                with pytest.raises(recollect.BadInput, match="only_owner"):
                    mem.import_(tmp_path / "facts.csv", format="csv", only_owner=bad)


def test_a_signature_grants_what_the_policy_trusts_its_signer_with(opened: Open, tmp_path: Path) -> None:
    writer = opened(":memory:")
    key = writer.new_identity("user:ana", key_file=tmp_path / "ana.key").key
    for said in ("The meter reads 12", "The valve is shut"):
        writer.add(said, author="ana", owner="ana")
    signed = [*writer.export(format="entries", status=None, sign_as="user:ana", key_file=tmp_path / "ana.key")]
    forged = entry("The meter reads 99", author="ana", metadata={"recollect": STANDING})
    mem = opened(trust={"signers": {"user:ana": "user_asserted"}})
    mem.register_identity("user:ana", key)
    mem.import_([*signed, *lines(forged)], owner="ana", format="entries", whole=True)
    believed = {one.content: (one.authority, one.authority_reason) for one in everything(mem)}
    assert believed["The valve is shut"] == ("user_asserted", "signed_by:user:ana")
    assert believed["The meter reads 99"][0] == "ai_inferred", "nobody signed it"
    assert mem.query("meter", owner="ana").items[0].memory.content == "The meter reads 12"


def test_a_signature_with_a_key_that_is_not_hers_grants_nothing(opened: Open, tmp_path: Path) -> None:
    """Nobody registered it here, it was revoked, or it is another's: the words come in as an import, or not at all."""
    standing_of: dict[str, Any] = {}
    for case in ("unregistered", "revoked", "anothers", "hers"):
        writer, mem = opened(":memory:"), opened(":memory:", trust={"signers": {"user:ana": "user_asserted"}})
        path = tmp_path / f"{case}.key"
        key = writer.new_identity("user:ana", key_file=path).key
        writer.add("The valve is shut", author="ana", owner="ana")
        signed = [*writer.export(format="entries", status=None, sign_as="user:ana", key_file=path)]
        if case != "unregistered":
            mem.register_identity("user:mallory" if case == "anothers" else "user:ana", key)
        if case == "revoked":
            mem.revoke_identity("user:ana")
        for whole in (True, False):
            mem.import_(signed, owner="ana", format="entries", whole=whole)
        standing_of[case] = {str(one.authority) for one in everything(mem)}
    assert standing_of.pop("hers") == {"user_asserted"}, "the control"
    assert standing_of == {"unregistered": {"ai_inferred"}, "revoked": set(), "anothers": set()}


@pytest.mark.parametrize("whole", [True, False])
def test_a_file_lifts_no_rejection_whoever_signed_it_and_whoever_brings_it(
    opened: Open, tmp_path: Path, whole: bool
) -> None:
    writer, mem = opened(":memory:"), opened(trust={"signers": {"user:ana": "user_asserted"}})
    mem.register_identity("user:ana", writer.new_identity("user:ana", key_file=tmp_path / "ana.key").key)
    for said in ("The valve is shut", "The pump is new"):
        writer.add(said, author="ana", owner="ana", source="user")
    signed = [*writer.export(format="entries", status=None, sign_as="user:ana", key_file=tmp_path / "ana.key")]
    ana = mem.as_caller(user="ana")
    rejection = ana.reject(ana.add("The valve is shut").memory.id)
    for brings in (mem, ana):
        done = brings.import_(signed, owner="ana", format="entries", whole=whole, believe="weight")
        assert done.reasons["rejected:value"] == 1 and [one.id for one in mem.rejections()] == [rejection.id]
    assert [one.content for one in everything(mem) if one.status == "active"] == ["The pump is new"]
    assert ana.add("The valve is shut").outcome == "stored" and mem.rejections() == (), "her own word does"


def test_a_file_archives_nothing_that_is_believed_more_than_it_is(opened: Open) -> None:
    mem = opened()
    mine, theirs = (
        mem.add(said, source=source).memory
        for said, source in (("The gate is red", "user"), ("The roof is flat", "import"))
    )
    told = [json.loads(line) for line in mem.export(format="entries", status=None)]
    gone = hashlib.sha256(b"elsewhere").hexdigest()
    mem.import_(lines(*({**one, "superseded_by": gone} for one in told)), partial=True, format="entries", whole=True)
    assert (mem.get(mine.id).status, mem.get(theirs.id).status) == ("active", "archived")


OLD, NEW = entry("The port is 8080", "2021-03-01T10:00:00Z"), entry("The port is 9090", "2026-03-01T10:00:00Z")


@pytest.mark.parametrize(
    "files", [[[NEW, OLD]], [[NEW], [OLD]], [[OLD], [NEW]]], ids=["one", "older_last", "newer_last"]
)
@pytest.mark.parametrize("way", ["entry import", "import entries", "import mem0"])
def test_a_record_s_own_time_decides_which_is_newer(files: list[list[Any]], way: str, opened: Open) -> None:
    mem, decided = opened(), []
    for file in files:
        if way == "entry import":
            decided += mem.import_(lines(*file), format="entries", whole=True).by_time
        elif way == "import entries":
            decided += mem.import_(lines(*file), format="entries").by_time
        else:
            records = [
                {"id": one["timestamp"], "memory": one["content"], "created_at": one["timestamp"]} for one in file
            ]
            decided += mem.import_(lines(*records), format="mem0").by_time
    found = {one.status: one for one in everything(mem)}
    assert {status: one.content for status, one in found.items()} == {
        "active": NEW["content"],
        "superseded": OLD["content"],
    }
    assert found["superseded"].superseded_by_id == found["active"].id
    assert [one.created_at.year for one in (found["superseded"], found["active"])] == [2021, 2026]
    assert len(decided) == 1 and ("older than" in str(decided) or "newer than" in str(decided))
    told = [json.loads(line) for line in mem.export(format="entries", status=None)]
    assert [(one["timestamp"][:4], one.get("superseded_by")) for one in told] == [
        ("2021", NEW["content_hash"]),
        ("2026", None),
    ]
    state = mem.state_hash()
    assert mem.verify().ok and mem.rebuild() and mem.state_hash() == state
    with recollect.open(":memory:", clock=lambda: NOW) as other:
        other.import_(map(json.dumps, told), format="entries", whole=True)
        assert [json.loads(line) for line in other.export(format="entries", status=None)] == told, (
            "the same provenance after a round trip"
        )


def test_a_file_s_time_outranks_no_authority_and_no_live_memory_that_is_newer(opened: Open) -> None:
    mem = opened()
    live = mem.add("The port is 7070", source="import").memory
    mem.import_(lines(NEW), format="entries", whole=True)
    assert mem.get(live.id).status == "active", "what was said here today is newer than 2026-03"
    said = mem.add("The gate is red", canonical_key="Gate-Colour", source="user", created_at="2020-01-01").memory
    later = entry("The gate is blue", metadata={"recollect": {"canonical_key": "Gate-Colour"}})
    assert mem.import_(lines(later), format="entries", whole=True).outcomes == {"contradicted": 1}
    assert mem.get(said.id).status == "active"


def test_a_time_in_the_future_is_refused(opened: Open, tmp_path: Path) -> None:
    mem = opened()
    tomorrow = entry("The port is 1", "2026-06-02T00:00:00Z")
    done = mem.import_(lines(tomorrow, NEW), format="entries", whole=True)
    assert done.outcomes == {"refused": 1, "stored": 1} and "is in the future" in done.refused[0].detail
    file = tmp_path / "mem0.jsonl"
    for when in ("2031-01-01T00:00:00Z", "9999-12-31", "9999-12-31T23:59:59-12:00", 4_000_000_000_000):
        file.write_text(json.dumps({"id": "1", "memory": "The port is 2", "created_at": when}) + "\n")
        assert mem.import_(file, format="mem0").reasons == {"bad_input": 1}, when
    with pytest.raises(recollect.BadInput, match="future"):
        mem.add("The port is 3", created_at="2026-06-02")


@pytest.mark.parametrize("unreadable", [None, "last week", "2026-02-30T10:00:00Z"])
def test_a_record_without_a_readable_time_counts_as_older_than_what_has_one(
    unreadable: str | None, opened: Open
) -> None:
    dated = {"id": "1", "memory": "Ana lives in Lisbon", "user_id": "ana", "created_at": "2021-02-02T10:00:00Z"}
    undated = {"id": "2", "memory": "Ana lives in Porto", "user_id": "ana", "created_at": unreadable}
    for files in ([[dated], [undated]], [[undated], [dated]], [[dated, undated]], [[undated, dated]]):
        with opened(":memory:") as mem:
            decided = [
                one for file in files for one in mem.import_(lines(*file), format="mem0", believe="place").by_time
            ]
            versions = {one.content: one for one in mem.list(owner="ana", status=None).items}
            assert {one.content: one.status for one in versions.values()} == {
                "Ana lives in Lisbon": "active",
                "Ana lives in Porto": "superseded",
            }
            assert versions["Ana lives in Porto"].superseded_by_id == versions["Ana lives in Lisbon"].id
            (told,) = decided
            newer = "of 2021-02-02 10:00 UTC, newer than" in told
            assert newer or "of no time that counts, so taken for older than" in told


def test_a_record_without_a_time_replaces_no_live_memory_but_the_same_file_may_correct_itself(opened: Open) -> None:
    with opened() as mem:
        live = mem.add("Ana lives in Lisbon", owner="ana", source="import").memory
        table = lines({"content": "Ana lives in Porto"}, {"content": "Ana works at Acme"})
        report = mem.import_(table, format="jsonl", owner="ana")
        assert mem.get(live.id).status == "active" and len(report.by_time) == 1 and live.id in report.by_time[0]
        corrected = lines({"content": "Ana lives in Porto"}, {"content": "Ana works at Borealis"})
        (decided,) = mem.import_(corrected, format="jsonl", owner="ana").by_time
        assert "of no time that counts, and read later than" in decided
        assert mem.query("Where does Ana work?", owner="ana").items[0].memory.content == "Ana works at Borealis"
        assert mem.add("Ana works at Cirrus", owner="ana", source="import").outcome == "superseded", (
            "said here, and now"
        )


def test_a_bound_caller_s_file_replaces_nothing_by_a_time_that_it_may_not_state(opened: Open) -> None:
    with opened() as mem:
        ana = mem.as_caller(user="ana")
        live = ana.add("I live in Lisbon").memory
        old = {"id": "1", "memory": "I live in Porto", "created_at": "2021-02-02T10:00:00Z"}
        report = ana.import_(lines(old), format="mem0")
        assert ana.get(live.id).status == "active" and live.id in str((report.by_time, report.outcomes, ana.list()))


def test_an_agent_dates_nothing_back(opened: Open) -> None:
    mem = opened()
    planner = mem.as_caller(agent="planner", user="ana")
    assert planner.add("The port is 3", created_at="2020-01-01").memory.created_at == NOW


def test_what_an_entry_builds_upon_cannot_replace_it(opened: Open) -> None:
    mem = opened()
    old = entry("The port is 8080", "2021-03-01T10:00:00Z")
    circle = entry("The port is 9090", parent_refs=[old["content_hash"]], superseded_by=old["content_hash"])
    with pytest.raises(recollect.BadInput, match="cannot replace it"):
        mem.import_(lines(old, circle), format="entries", whole=True)
    with pytest.raises(recollect.BadInput, match="cannot replace it"):
        mem.import_(lines(old, circle), format="entries")
    assert everything(mem) == []
    back = {**old, "timestamp": "2026-05-01T10:00:00Z"}
    assert mem.import_(lines(old, circle, back), format="entries", whole=True).refused == (), (
        "the same words said again later are another entry"
    )


@pytest.mark.parametrize("format", ["entries", "recollect"])
def test_imported_vouchers_are_there_and_weigh_what_their_signature_earns(
    opened: Open, tmp_path: Path, format: str
) -> None:
    writer = opened(":memory:")
    keys = {name: writer.new_identity(name, key_file=tmp_path / name).key for name in ("moss", "reed")}
    memory = writer.add("The river Fleet is tidal", author="otto").memory
    for name in keys:
        writer.vouch(memory.id, by=name, sign_as=name, key_file=tmp_path / name, confidence=0.5)
    writer.vouch(memory.id, by="sock")
    (line,) = writer.export(format="entries", status=None)
    mem = opened(trust={"seeds": ["moss", "reed", "sock"]})
    mem.register_identity("moss", keys["moss"])
    plain = entry("The river Tyburn is tidal")
    if format == "entries":
        done = mem.import_([line, *lines(plain)], format="entries", whole=True)
        assert done.signed_vouches == {"good": 1, "unknown": 1}
    else:
        (record,) = map(json.loads, writer.export(owner=None, space=None))
        forged = {**record, "id": None, "content": "The river Lea is tidal", "content_hash": None}
        rest = {"content": plain["content"], "vouchers": [{"id": "moss"}]}
        done = mem.import_(map(json.dumps, [rest, forged, record]))
        assert done.reasons == {"signature": 1} and done.outcomes == {"refused": 1, "stored": 2}, done
    (it,) = [one for one in everything(mem) if "Fleet" in one.content]
    assert [(one["id"], one["imported"]) for one in it.vouchers] == [
        (f"agent:{name}", True) for name in ("moss", "reed", "sock")
    ]
    found = {one["id"].removeprefix("agent:"): one for one in mem.vouchers(it.id).vouchers}
    assert found["moss"]["weight"] > 0 and found["moss"]["signed"] == "good"
    assert found["reed"]["weight"] == 0 and "unknown" in found["reed"]["why"]
    assert found["sock"]["weight"] == 0 and "not signed" in found["sock"]["why"]
    best = mem.query("Which river is tidal?").items[0]
    assert best.memory.id == it.id and best.breakdown["vouching"] > 0
    assert [json.loads(one) for one in mem.export(format="entries", status=None)][-1]["vouchers"] == json.loads(line)[
        "vouchers"
    ]
    mem.register_identity("reed", keys["reed"])
    assert mem.vouchers(it.id).weight > found["moss"]["weight"], "a key may be registered later"
    mem.vouch(it.id, by="moss")
    assert [one["id"] for one in mem.get(it.id).vouchers if "imported" not in one] == ["agent:moss"]
    state = mem.state_hash()
    assert mem.verify().ok and mem.rebuild() and mem.state_hash() == state


def test_what_grants_a_claim_is_named_for_every_claim() -> None:
    """Each claim that is held back without a belief goes through with the one that is named for it."""
    place = {"owner": "default", "space": "user"}
    record = {
        "content": "x", "owner": "ana", "space": "project", "user_id": "ana", "authority": "user_asserted", "source": "user",
        "authority_reason": "source:user", "tier": "canon", "pinned": True, "importance": 5,
    }  # fmt: skip
    claims = granted_fields(record, {}, place)[1]
    assert claims.keys() == record.keys() - {"content"}
    for name in claims:
        belief = belief_in(name)
        assert belief is not None and name not in granted_fields(record, {}, place, (belief,))[1]
    assert belief_in("content") is None
