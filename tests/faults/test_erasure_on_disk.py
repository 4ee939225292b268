"""What was erased or purged is gone from every file: no part of a word, no hash, no name, however pages were shared."""

import random
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect

from .disk import Fault, How
from .nursery import Nursery
from .reference import at_point, spread
from .remains import coined, hashes_of, parts_in, remains
from .script import open_at
from .soundness import assert_sound, every_memory, kept
from .tasks import ERASED_OWNER as OWNER

Memory = Any
POLICY = {"traces": {"keep": "all"}}


@pytest.fixture
def words() -> Callable[[], str]:
    """A source of words that nobody uses."""
    rng = random.Random(7)
    return lambda: coined(rng)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def mem(path: Path) -> Iterator[Any]:
    """A store with hundreds of other memories, so that whatever is erased shares its pages with them."""
    with recollect.open(path, policy=POLICY, timeout_s=2) as mem:
        mem.add_many(
            [
                {"content": f"Shelf {n} in hall {n % 7} holds crate {n * 3}", "owner": ("ana", "ben")[n % 2]}
                for n in range(300)
            ]
        )
        yield mem


def everything_about(word: Callable[[], str], owner: str) -> tuple[dict[str, Any], list[str]]:
    """A memory with a coined word in every field that takes one, and the list of those words."""
    used = [owner]

    def new() -> str:
        used.append(word())
        return used[-1]

    fields = {
        "content": f"The {new()} near the {new()} belongs to {owner}",
        "owner": owner,
        "title": f"{new()} place",
        "topic_id": new(),
        "category": new(),
        "tags": [new(), new()],
        "meta": {new(): {"deep": [new()]}},
        "context": {"said": new()},
        "artifact_ref": {"uri": new()},
        "author": {"id": new(), "name": new(), "platform": new()},
        "aliases": [new()],
        "authority_reason": new(),
        "signature": new(),
        "idempotency_key": new(),
        "user_id": owner,
        **{name: new() for name in ("agent_id", "run_id", "thread_id", "actor_id", "role")},
    }
    return fields, used


def test_nothing_of_an_erased_owner_is_left(mem: Any, path: Path, words: Callable[[], str]) -> None:
    owner = words()
    fields, used = everything_about(words, owner)
    first = mem.add(**fields).memory
    city, town = words(), words()
    chain = [mem.add(f"{owner} lives in {place}", owner=owner, canonical_key="Home").memory for place in (city, town)]
    said = mem.as_caller(user=owner).add(f"I keep a {words()} in the shed").memory
    gone = mem.add(f"{owner} sold the {words()}", owner=owner).memory
    tag = words()
    mem.edit(first.id, tags=[tag])
    mem.forget(gone.id)
    mem.query(f"{city} {town}")
    assert remains(path, used), "the search must find what is there"
    receipt = mem.erase(owner=owner)
    memories = [first, *chain, said, gone]
    assert set(receipt.removed) == {memory.id for memory in memories}
    everything = [*used, tag, *(word for memory in memories for word in memory.content.split() if len(word) == 10)]
    assert remains(path, everything, [value for memory in memories for value in hashes_of(memory)]) == []
    assert_sound(mem)


@pytest.mark.parametrize("which", ["the older", "the newer", "both"])
@pytest.mark.parametrize("change", ["update", "contradiction", None])
def test_nothing_of_an_erased_version_is_left(
    which: str, change: str | None, mem: Any, path: Path, words: Callable[[], str]
) -> None:
    """Its neighbours in the chain stay, and must not quote it, hash it, or name it."""
    places = words(), words()
    older, newer = (
        mem.add(f"Ana lives in {place}", owner="ana", canonical_key="Ana-City-Home", change=said).memory
        for place, said in zip(places, (None, change), strict=True)
    )
    erased = {"the older": [older], "the newer": [newer], "both": [older, newer]}[which]
    mem.erase(id=erased[0].id, whole_chain=which == "both")
    lost = [place for place, memory in zip(places, (older, newer), strict=True) if memory in erased]
    hashes = [bytes.fromhex(hash) for memory in erased for hash in (memory.content_hash, memory.fingerprint)]
    assert remains(path, lost, hashes) == []
    assert_sound(mem)


def test_nothing_of_an_erased_contradiction_is_left(mem: Any, path: Path, words: Callable[[], str]) -> None:
    believed, lost = words(), words()
    mem.add(f"The capital is {believed}", owner="ana", canonical_key="Land-Capital-City")
    waiting = mem.add(
        f"The capital is {lost}",
        owner="ana",
        canonical_key="Land-Capital-City",
        change="contradiction",
        authority="ai_inferred",
    )
    assert waiting.outcome == "contradicted"
    mem.erase(id=waiting.memory.id)
    hashes = [bytes.fromhex(hash) for hash in (waiting.memory.content_hash, waiting.memory.fingerprint)]
    assert remains(path, [lost], hashes) == []


def test_nothing_of_a_purged_memory_is_left(path: Path, words: Callable[[], str]) -> None:
    lost = [words() for _ in range(20)]
    with open_at(path, 0) as mem:
        mem.add_many(
            [{"content": f"Shelf {n} holds crate {n * 3}", "owner": "ana", "pinned": True} for n in range(300)]
        )
        memories = [mem.add(f"The {word} is on loan", owner="ana", tags=[word]).memory for word in lost]
        for memory in memories:
            mem.forget(memory.id)
    with open_at(path, 31, seed=2) as mem:
        assert remains(path, lost)
        assert set(mem.upkeep().purged) == {memory.id for memory in memories}
        assert remains(path, lost, [value for memory in memories for value in hashes_of(memory)]) == []
        assert_sound(mem)


def test_random_erasures_in_random_order(tmp_path: Path, torture: bool) -> None:
    """Hundreds of memories of three owners, half of them erased one by one while others are written and moved."""
    for seed in range(20 if torture else 1):
        path = tmp_path / f"{seed}.db"
        with at_point(f"seed {seed}"), recollect.open(path, policy=POLICY) as mem:
            lost = erase_at_random(mem, random.Random(seed))
            stays = parts_in(memory.to_json().encode() for memory in every_memory(mem))
            hashes = [bytes.fromhex(memory.content_hash) for memory in lost]
            assert remains(path, [memory.content for memory in lost], hashes, apart_from=stays) == []
            assert_sound(mem)


def erase_at_random(mem: Any, rng: random.Random) -> list[Memory]:
    def write() -> dict[str, Any]:
        size = rng.choice((1, 3, 60))
        content = " ".join(["Crate with", *(coined(rng) for _ in range(size))])
        return {"content": content, "owner": rng.choice(("ana", "ben", "carla")), "tags": [coined(rng)]}

    alive = [receipt.memory for receipt in mem.add_many([write() for _ in range(200)]) if receipt.memory]
    lost: list[Memory] = []
    for _ in range(60):
        lost.append(alive.pop(rng.randrange(len(alive))))
        mem.erase(id=lost[-1].id)
        alive.append(mem.add(**write()).memory)
        mem.forget(alive.pop(rng.randrange(len(alive))).id)
    return lost


def test_a_restored_backup_forgets_again(path: Path, words: Callable[[], str]) -> None:
    """The copy of yesterday is put back; the list beside the store says what must not come back with it."""
    owner, one = words(), words()
    with recollect.open(path, policy=POLICY) as mem:
        other = kept(mem.add("Ana keeps the key", owner="ana"))
        single = kept(mem.add(f"The {one} is broken", owner="ana"))
        fields, used = everything_about(words, owner)
        personal = kept(mem.add(**fields))
        said = kept(mem.as_caller(user=owner).add(f"I keep a {words()} in the shed"))
    backup = path.with_name("backup")
    shutil.copy(path, backup)
    with recollect.open(path, policy=POLICY) as mem:
        mem.erase(owner=owner)
        mem.erase(id=single.id)
    shutil.copy(backup, path)
    assert remains(path, [one, *used])
    with recollect.open(path, policy=POLICY) as mem:
        assert mem.get(other.id) == other
        assert_sound(mem)
    values = [value for memory in (single, personal, said) for value in hashes_of(memory)]
    assert remains(path, [one, *used, *said.content.split()[3:4]], values) == []


def test_what_is_written_while_an_owner_is_erased_has_an_owner_or_is_gone(nursery: Nursery, path: Path) -> None:
    """Somebody writes to an owner's memory all the while: nothing may outlive its owner's name."""
    with recollect.open(path, policy=POLICY) as mem:
        mem.add("The shed is blue", owner=OWNER)
        writer = nursery.start("write_to_the_erased", path=str(path), count=150)
        writer.wait_for("ack")
        for _ in range(10):
            mem.erase(owner=OWNER)
        acks = writer.wait().acks
        listed = {memory.id for memory in mem.list(owner=OWNER, status=None, limit=1_000).items}
        assert len(acks) == 150
        assert all(id in listed or is_gone(mem, id) for id in acks)
        mem.erase(owner=OWNER)
        assert all(is_gone(mem, id) for id in acks)
        assert_sound(mem)
        assert remains(path, [OWNER]) == []


def is_gone(mem: Any, id: str) -> bool:
    try:
        mem.get(id)
    except recollect.NotFound:
        return True
    return False


def test_an_erasure_under_a_reader_is_finished_later(mem: Any, path: Path, words: Callable[[], str]) -> None:
    """A reader holds an old snapshot: the receipt says what could not be reached, and its advice works."""
    lost = words()
    memory = mem.add(f"The {lost} is blue", owner="ana").memory
    reading, finish = threading.Event(), threading.Event()

    def read_slowly() -> None:
        with mem._engine.read() as reader:
            reader.streams_of("default")
            reading.set()
            finish.wait()

    thread = threading.Thread(target=read_slowly)
    thread.start()
    reading.wait()
    try:
        receipt = mem.erase(id=memory.id)
    finally:
        finish.set()
        thread.join()
    assert any("upkeep" in beyond for beyond in receipt.beyond_reach)
    mem.upkeep()
    assert remains(path, [lost], hashes_of(memory)) == []


def test_a_commit_alone_overwrites_what_it_removes(path: Path, words: Callable[[], str]) -> None:
    """Whoever copies the file before it was rewritten finds no erased text on the pages that came free."""
    content = " ".join(words() for _ in range(900))
    middle = content[4_000:4_060].encode()
    with recollect.open(path) as mem:
        memory = kept(mem.add(content))
    assert middle in path.read_bytes(), "the search must find what is there"
    with recollect.open(path) as mem, mem._engine.write() as writer:
        stored = writer.by_ids(memory.tenant, [memory.id])[memory.id]
        writer.remove_content(writer.stream_numbered(memory.tenant, stored.stream), stored.number, memory.id)
    assert not path.with_name(f"{path.name}-wal").exists(), "closing empties the log into the file"
    assert middle not in path.read_bytes()


@pytest.mark.parametrize("owner", ["ana", "ben", "carla", "dora", "emil", "fritz"])
def test_an_erasure_cut_off_before_the_files_were_rewritten(
    owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after the commit: the next opening owes the files what this one could not do."""
    path = tmp_path / "memory.db"
    rng = random.Random(13)
    with open_at(path, 0) as mem:
        owners = ["ana", "ben", "carla", "dora", "emil", "fritz"] * 40
        rng.shuffle(owners)
        written = mem.add_many([{"content": f"Crate with {coined(rng)} and {coined(rng)}", "owner": o} for o in owners])
        lost = [receipt.memory.content for receipt in written if receipt.memory.owner == owner]
        mem.upkeep()
        monkeypatch.setattr(mem._engine.store, "scrub", cut_off)
        with pytest.raises(InterruptedError):
            mem.erase(owner=owner)
    with open_at(path, 1, seed=2) as mem:
        stays = parts_in(memory.to_json().encode() for memory in every_memory(mem))
        assert_sound(mem)
    assert remains(path, lost, apart_from=stays) == []


def cut_off() -> None:
    raise InterruptedError


@pytest.mark.parametrize("task", ["erase_an_id", "erase_an_owner", "purge"])
def test_a_crash_during_an_erasure(task: str, nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    """Whenever it struck: after the next opening the memory is either whole, or gone from every file."""
    base = tmp_path / "base.db"
    lost = prepare_to_erase(base)
    total = nursery.run(task, path=str(copied(base, tmp_path / "counted.db")), fault=Fault()).calls
    for call in spread(total, None if torture else 12):
        path = copied(base, tmp_path / f"{call}.db")
        ending = nursery.run(task, path=str(path), fault=Fault(How.DIE_BEFORE, call))
        with at_point(f"died before change {call} of {total}"):
            assert ending.killed
            with open_at(path, 40, seed=3) as mem:
                whole = bool(mem.list(owner=OWNER, status=None).items)
                assert_sound(mem)
            name = [OWNER] if task == "erase_an_owner" else []
            assert whole or remains(path, [*lost, *name]) == []


def prepare_to_erase(path: Path) -> list[str]:
    rng = random.Random(11)
    lost = [coined(rng) for _ in range(10)]
    with open_at(path, 0) as mem:
        mem.add_many([{"content": f"Shelf {n} holds crate {n * 3}", "owner": "ana", "pinned": True} for n in range(60)])
        memory = mem.add(" ".join(["The keeper of", *lost]), owner=OWNER, canonical_key="Keeper").memory
        mem.add_many([{"content": f"Hall {n} has door {n * 5}", "owner": "ana", "pinned": True} for n in range(60)])
        mem.forget(memory.id)
    return lost


def copied(base: Path, path: Path) -> Path:
    shutil.copy(base, path)
    return path
