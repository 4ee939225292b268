"""What others built upon an erased memory holds nothing of it: in a database, a journal, a server's files and the receipt."""

import base64
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.engine.ledger.documents import erasure_record
from recollect.engine.trust.identities import new_identity, signing_key
from recollect.rules.ledger.content_ids import cid_of_hash
from support.postgres_server import PostgresServer

from .disk import Fault, How
from .nursery import Nursery
from .reference import at_point, spread
from .remains import coined, hashes_of, remains
from .soundness import assert_sound
from .tasks import ERASED_OWNER as OWNER
from .test_erasure_on_disk import copied

POLICY = {"traces": {"keep": "all"}, "relations": {"link_min": 0.1}, "erasure": {"derived": "keep"}}


@pytest.fixture(params=["memory.db", "vault.jsonl"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


@pytest.fixture
def word() -> Iterator[str]:
    rng = random.Random(23)
    return iter(lambda: coined(rng), "")


def built_upon(mem: Any, word: Iterator[str]) -> tuple[Any, list[bytes], list[str]]:
    """A memory that others name, sign for, promote from and lie near to; with every value that could give it away."""
    words = [next(word) for _ in range(3)]
    source = mem.add(f"The {words[0]} near the {words[1]} is broken", owner="ana", tags=[words[2]]).memory
    near = mem.add("The window near the door is broken too", owner="ana").memory
    child = mem.add(
        "Doors want mending before winter",
        owner="ben",
        parent_refs=[source.content_hash],
        signature="signed over the parents: 5ca1ab1e",
        idempotency_key="written once",
    ).memory
    assert child.parent_refs and mem.related(near.id), "there must be links to cut"
    return source, values_of(mem, source, child, near), words


def values_of(mem: Any, source: Any, *others: Any) -> list[bytes]:
    """Hashes of the words in every spelling, their salt, and the salts of the links that lead to them."""
    with mem.engine.read() as reader:
        stored = reader.by_ids("default", [source.id, *(one.id for one in others)])
        salts = {v.id: v.salt for s in reader.streams_of("default") for v in reader.versions(s)}
    links = [salt for one in others for of in stored[one.id].body["salts"].values() for salt in of]
    cid = cid_of_hash(source.content_hash).encode()
    return [*hashes_of(source), cid[2:], cid[:20], salts[source.id], *map(bytes.fromhex, links)]


def test_no_file_holds_anything_of_it(path: Path, word: Iterator[str]) -> None:
    with recollect.open(path, policy=POLICY) as mem:
        source, values, words = built_upon(mem, word)
        mem.query(source.content)
        assert remains(path, words, values[:1]), "the search must find what is there"
        receipt = mem.erase(id=source.id)
        assert receipt.links_cut == 3, "a parent, the signature over it, and a neighbour"
        assert remains(path, words, values) == []
        assert b"5ca1ab1e" not in b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())
        assert_sound(mem)
        exported = "\n".join(memory.to_json() for memory in mem.list(status=None, limit=100).items)
        assert source.content_hash not in exported
    assert remains(path, words, values) == []


def test_the_signed_receipt_holds_nothing_of_it(tmp_path: Path, word: Iterator[str]) -> None:
    path, owner = tmp_path / "memory.db", next(word)
    with recollect.open(path, policy=POLICY) as mem:
        new_identity(mem.engine, "operator")
        key = signing_key(mem.engine, "operator")
        said: Any = mem.as_caller(user=owner).add("I keep bees in Zanzibar").memory
        mem.add("Bees need flowers", owner="ben", parent_refs=[said.content_hash])
        values = values_of(mem, said)
        record = erasure_record(mem.engine, mem.erase(owner=owner), key)
    (tmp_path / "memory.db.receipt.json").write_text(record.text)
    assert remains(path, [owner, "Zanzibar"], values) == []


def test_a_servers_files_hold_nothing_of_it(postgres: PostgresServer, server_store: str, word: Iterator[str]) -> None:
    def holding(values: list[bytes]) -> list[bytes]:
        postgres.execute("CHECKPOINT")
        files = [file.read_bytes() for file in postgres.table_files(server_store)]
        forms = [form for value in values for form in (value, value.hex().encode(), base64.b64encode(value)[:-2])]
        return [form for form in forms if any(form in file for file in files)]

    with recollect.open(server_store, policy=POLICY) as mem:
        source, values, words = built_upon(mem, word)
        values += [one.encode() for one in words]
        assert holding(values[:1]), "the search must find what is there"
        mem.erase(id=source.id)
        assert holding(values) == []
        assert_sound(mem)


def test_a_crash_while_links_are_cut(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    """Whenever it struck: after the next opening the link is whole with its parent, or both are gone from every file."""
    base, rng = tmp_path / "base.db", random.Random(29)
    word = coined(rng)
    with recollect.open(base, policy=POLICY) as mem:
        source: Any = mem.add(f"The {word} is broken", owner=OWNER).memory
        child: Any = mem.add("Doors want mending", owner="ben", parent_refs=[source.content_hash]).memory
    total = nursery.run("erase_an_owner", path=str(copied(base, tmp_path / "counted.db")), fault=Fault()).calls
    for call in spread(total, None if torture else 6):
        path = copied(base, tmp_path / f"{call}.db")
        ending = nursery.run("erase_an_owner", path=str(path), fault=Fault(How.DIE_BEFORE, call))
        with at_point(f"died before change {call} of {total}"):
            assert ending.killed
            with recollect.open(path, policy=POLICY) as mem:
                parents = mem.get(child.id).parent_refs
                whole = bool(mem.list(owner=OWNER, status=None).items)
                assert bool(parents) == whole, "the link goes with what it leads to, and not before"
                assert_sound(mem)
            assert whole or remains(path, [word], [bytes.fromhex(source.content_hash)]) == []
