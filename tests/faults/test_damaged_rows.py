"""A flipped bit costs one memory: it is named wherever it is met, everything else reads on, and it can be removed."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.testing.contract.runs import proposal
from support.postgres_server import PostgresServer

from .soundness import assert_sound

TEA, BEES, CHESS = "Ana drinks green tea every morning", "Ana keeps bees in Zanzibar", "Ana plays chess on Sundays"
Alter = Callable[[str], None]
"""Runs a statement on the store's database, behind its back."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.getfixturevalue("server_store") if request.param == "postgres" else tmp_path / "memory.db"


@pytest.fixture
def alter(place: Any, request: pytest.FixtureRequest) -> Alter:
    if not isinstance(place, Path):
        server: PostgresServer = request.getfixturevalue("postgres")
        return lambda sql: server.execute(f"SET search_path TO recollect; {sql}", place) and None

    def on_file(sql: str) -> None:
        with closing(sqlite3.connect(place)) as db, db:
            db.execute(sql)

    return on_file


def filled(mem: Any) -> tuple[str, str]:
    """Three memories of Ana's and one of Ben's; returns the ids of the one that will be damaged, and of one that will not."""
    first = mem.add(TEA, owner="ana", canonical_key="Tea").memory
    bees = mem.add(BEES, owner="ana", aliases=["hive"]).memory
    mem.add(CHESS, owner="ana")
    mem.add("Bees need flowers all year", owner="ben", parent_refs=[first.content_hash])
    return str(first.id), str(bees.id)


DAMAGE = {
    "no JSON": "UPDATE versions SET body = replace(body, '\"content\":', '\"content\"') WHERE id = '{id}'",
    "no object": "UPDATE versions SET body = '[1]' WHERE id = '{id}'",
    "another field": "UPDATE versions SET body = replace(body, '\"scope\":', '\"scopd\":') WHERE id = '{id}'",
    "no kind": "UPDATE versions SET body = replace(body, 'semantic', 'semantjc') WHERE id = '{id}'",
    "no status": "UPDATE memories SET status = 'actjve' WHERE id = '{id}'",
    "no list": "UPDATE memories SET tags = '[' WHERE id = '{id}'",
    "no phase": "UPDATE versions SET body = replace(body, '\"phase-1\"', '\"phase)1\"') WHERE id = '{id}'",
    "no hash": "UPDATE versions SET body = replace(body, '\"content_hash\":\"', '\"content_hash\":\"Z') WHERE id = '{id}'",
    "no authority": "UPDATE memories SET authority = 'vser_asserted' WHERE id = '{id}'",
    "no such day": "UPDATE memories SET last_modified = '2026-19-39T29:00:00.000000Z' WHERE id = '{id}'",
    "no voucher": 'UPDATE memories SET vouchers = \'[{{"bctor":"a","at":"b"}}]\' WHERE id = \'{id}\'',
    "no content": "UPDATE versions SET body = NULL, salt = NULL WHERE id = '{id}'",
}
DERIVED = ("no status", "no list", "no authority", "no such day", "no voucher")
"""Damage to what is made anew from the versions and the ledger."""


NO_UTF_8 = "UPDATE versions SET body = replace(body, 'green', CAST(x'e7726565' AS TEXT)) WHERE id = '{id}'"


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_memory_is_named_and_everything_else_reads_on(place: Any, alter: Alter, how: str) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
    is_file = isinstance(place, Path)  # a server keeps no text that is not UTF-8
    alter((NO_UTF_8 if how == "no JSON" and is_file else DAMAGE[how]).format(id=id))
    with recollect.open(place) as mem:
        with pytest.raises(recollect.MemoryDamaged, match="prod/user/ana") as raised:
            mem.get(id)
        assert raised.value.field == id and f"erase --id {id}" in str(raised.value.hint)
        page = mem.list(owner="ana", status=None)
        assert {m.content for m in page.items} == {BEES, CHESS}
        if how != "no status":
            assert [one.where for one in page.damaged] == [id]
            pages = [mem.list(owner="ana", limit=1)]
            while pages[-1].next_cursor:
                pages.append(mem.list(owner="ana", limit=1, cursor=pages[-1].next_cursor))
            assert sum(len(one.items) for one in pages) == 2, "pages go on behind it"
        assert mem.get(bees).content == mem.get("hive").content == BEES
        assert BEES in mem.query("where are the bees in Zanzibar?", owner="ana").text
        assert BEES in mem.query("green tea bees", owner="ana", filters={"tags": []}).text
        assert BEES in mem.query("green tea bees", owner="ana", budget_tokens=500).text
        assert BEES in {m.content for m in mem.as_of(time=datetime.now(UTC)).list(owner="ana").items}
        assert mem.related(bees) == () and mem.preview_erasure(owner="ana")
        assert id in mem.explain(id).text and "cannot be read" in mem.explain(id).text
        assert [one.removed for one in mem.chain(id)] == ["damaged"]
        assert mem.explain(bees).text and mem.chain(bees) and mem.history(id) and mem.history(bees)
        assert [e.memory_id for e in mem.history(owner="ana")][:2] == [id, bees]
        assert sum(BEES in line for line in mem.export(owner="ana")) == 1
        assert not mem.verify().ok
        assert any(one.where == id and "erase --id" in str(one.hint) for one in mem.doctor())
        assert mem.add("Ana owns a red bicycle", owner="ana").outcome == "stored"
        mem.turn(session="s1", owner="ana", user="I like jazz and green tea.", ai="Noted.")
        if how != "no status":
            with pytest.raises(recollect.MemoryDamaged):
                mem.add("Ana drinks black tea", owner="ana", canonical_key="Tea")
        mem.rebuild()
        assert BEES in mem.query("bees in Zanzibar", owner="ana").text
        if how in DERIVED:
            assert mem.get(id).content == TEA and mem.verify().ok, "what is derived is made anew"
        assert mem.erase(id=id).removed == (id,)
        assert_sound(mem)
        assert mem.doctor() == () or all("damaged" not in one.what for one in mem.doctor())


def test_a_person_is_erased_with_what_is_damaged(place: Any, alter: Alter) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
        written = mem.as_caller(user="ana", projects=["lab"]).add("Iron rods", owner="lab", space="project").memory
        mem.edit(bees, tags=["sweet"])
    alter(DAMAGE["no JSON"].format(id=id))
    alter(DAMAGE["no JSON"].format(id=written.id))
    alter("UPDATE amendments SET body = '{' WHERE body IS NOT NULL")
    with recollect.open(place) as mem:
        assert mem.history(bees)[-1].meta["values"]["damaged"]
        receipt = mem.erase(owner="ana")
        assert {id, bees} <= set(receipt.removed)
        assert any(written.id in sentence for sentence in receipt.beyond_reach), "it names her, and cannot be read"
        mem.erase(id=written.id)
        assert [m.content for m in mem.list().items] == ["Bees need flowers all year"]
        assert_sound(mem)


def test_a_journal_reads_on_as_well(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    with recollect.open(path) as mem:
        id, bees = filled(mem)
    text = path.read_text()
    damaged = text.replace('\\"content\\":\\"Ana drinks', '\\"content\\"\\"Ana drinks')
    assert damaged != text
    path.write_text(damaged)
    with recollect.open(path) as mem:
        with pytest.raises(recollect.MemoryDamaged):
            mem.get(id)
        assert mem.get(bees).content == BEES
        assert [one.where for one in mem.list(owner="ana").damaged] == [id]
        assert id in mem.erase(owner="ana").removed
        assert_sound(mem)


AMENDED = {
    "a relation": ("relation_type", "relationWtype"),
    "its strength": ("strength", "qtrength"),
    "a day": ("purge_at", "purge_at\":\"2026-19-39T29:00:00.000000Z\",\"a"),
    "a field": ("tags", "tbgs"),
}  # fmt: skip


@pytest.mark.parametrize("what", AMENDED)
def test_a_damaged_amendment_costs_what_it_said_and_nothing_else(place: Any, alter: Alter, what: str) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
        mem.link(id, bees)
        mem.edit(bees, tags=["sweet"])
        mem.forget(id)
    alter("UPDATE amendments SET body = replace(body, '{}', '{}')".format(*AMENDED[what]))
    with recollect.open(place) as mem:
        assert not mem.verify().ok
        now = mem.as_of(time=datetime.now(UTC))
        assert now.get(bees).content == BEES and now.get(id).content == TEA
        assert BEES in now.query("bees in Zanzibar", owner="ana").text
        mem.rebuild()
        assert mem.get(bees).content == BEES and mem.get(id).content == TEA
        assert mem.history(bees) and mem.explain(id).text and mem.related(bees) is not None
        assert {id, bees} <= set(mem.erase(owner="ana").removed)
        assert_sound(mem)


@pytest.mark.parametrize("how", [("salts", "talts"), ('"salts":{"', '"salts":{"z')])
def test_a_parent_is_erased_although_the_salt_of_a_link_to_it_is_damaged(
    place: Any, alter: Alter, how: tuple[str, str]
) -> None:
    with recollect.open(place) as mem:
        id, _ = filled(mem)
        mem.add("Tea needs hot water", owner="ben", parent_refs=[mem.get(id).content_hash])
    alter("UPDATE versions SET body = replace(body, '{}', '{}')".format(*how))
    with recollect.open(place) as mem:
        assert id in mem.erase(owner="ana").removed
        assert mem.list(owner="ben").damaged or how[0] == "salts"
        mem.erase(owner="ben")
        assert_sound(mem)


ELSEWHERE: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "when it was read": ("UPDATE accesses SET last = '2026-19-39T29'", lambda mem, id: mem.get(id)),
    "an event": ("UPDATE ledger SET event = 'ddited' WHERE event = 'edited'", lambda mem, id: mem.history(id)),
    "an event, rebuilt": ("UPDATE ledger SET event = 'ddited' WHERE event = 'edited'", lambda mem, _: mem.rebuild()),
    "a policy": ("UPDATE policies SET body = '{'", lambda mem, id: (mem.explain(id), mem.traces())),
    "a trace": ("UPDATE traces SET body = '{'", lambda mem, id: (mem.explain(id), mem.traces())),
    "a rejection": ("UPDATE rejections SET secret = 'z'", lambda mem, _: mem.add("Ana owns a ship", owner="ana")),
    "its id": ("UPDATE rejections SET rejection = 'z'", lambda mem, _: mem.rejections(owner="ana")),
    "the rights of a key": ("UPDATE access_keys SET rights = '['", lambda mem, _: mem.access_keys()),
    "the projects of a key": ("UPDATE access_keys SET projects = '['", lambda mem, _: mem.access_keys()),
    "a leaf": ("UPDATE log_leaves SET body = '{'", lambda mem, _: mem.uncovered_entries()),
    "an identity": ("UPDATE log_leaves SET body = '{'", lambda mem, _: mem.identities()),
    "an answer": ("UPDATE retries SET reasons = '['", lambda mem, _: mem.add(CHESS, owner="ana", idempotency_key="k")),
    "a proposal": ("UPDATE model_proposals SET sources = '['", lambda mem, _: mem.proposals()),
    "its words": ("UPDATE model_proposals SET body = '['", lambda mem, _: mem.proposals()),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_damaged_row_of_another_table_is_passed_over_or_named(
    place: Any, alter: Alter, what: str, tmp_path: Path
) -> None:
    with recollect.open(place, policy={"traces": {"keep": "all"}}) as mem:
        id, bees = filled(mem)
        mem.get(bees)
        mem.edit(bees, tags=["sweet"])
        mem.reject(mem.add("Ana owns a boat", owner="ana").memory.id)
        mem.create_key("laptop", user="ana", projects=["apollo"])
        mem.new_identity("planner", key_file=tmp_path / "planner.pem")
        mem.checkpoint()
        mem.add(CHESS, owner="ana", idempotency_key="k")
        with mem.engine.write() as writer:
            writer.put_model_proposals("default", [proposal("p1", sources=(id,), memory_id=id, pair="a b 0.71")])
    statement, read = ELSEWHERE[what]
    alter(statement)
    with recollect.open(place, policy={"traces": {"keep": "all"}}) as mem:
        try:
            read(mem, bees)
        except recollect.StoreCorrupt as refused:
            assert refused.hint and ("damaged" in str(refused) or "knows of no rejection" in str(refused))
        assert mem.get(bees).content == BEES and mem.list(owner="ana").items
        assert isinstance(mem.verify().ok, bool)
        mem.doctor()
        assert {id, bees} <= set(mem.erase(owner="ana").removed)
