"""What crashes, full disks and odd files leave behind: each is mended, or is an error that says what to do next."""

import fcntl
import hashlib
import json
import re
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import BadInput, BadPolicy, RecollectError, StoreClosed, StoreCorrupt, StoreUnavailable
from recollect.stores.backups import beside
from recollect.stores.protocol import Erased
from recollect.vault import MemoryVault, load_profile
from recollect.whole_stores import migrate, restore_backup
from support.postgres_server import binaries


@pytest.fixture(params=["memory.db", "memory.jsonl", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PATH", str(binaries()), prepend=":")
    return request.getfixturevalue("server_store") if request.param == "postgres" else str(tmp_path / request.param)


def two_people(place: str) -> Any:
    mem = recollect.open(place)
    mem.add("Ana likes tea", owner="ana")
    mem.add("Ben likes coffee", owner="ben")
    return mem


def said(mem: Any) -> list[str]:
    return sorted(one.content for one in mem.list(limit=100).items)


@pytest.mark.parametrize("name", ["memory.db", "memory.jsonl"])
@pytest.mark.parametrize(
    "bad", [b"\xff\xfe\x00}", b'{"tenant": [1], "what": "memory", "id": "x"}', b'{"a":' * 3_000 + b"}"]
)
def test_a_damaged_line_closes_no_store_and_is_named_where_it_matters(tmp_path: Path, name: str, bad: bytes) -> None:
    with two_people(str(tmp_path / name)) as mem:
        mem.backup(tmp_path / "copy.db")
        mem.erase(owner="ana")
    for listed in (tmp_path / f"{name}.erased", tmp_path / "copy.db.erased"):
        listed.write_bytes(listed.read_bytes() + b"\n" + bad + b'\n{"tenant": "default", "what": "mem')
    with recollect.open(tmp_path / name) as mem:
        assert said(mem) == ["Ben likes coffee"]
        own, of_backup = [one.what for one in mem.doctor() if ".erased" in one.what]
        assert f"{name}.erased" in own and "copy.db.erased" in of_backup
        for told in (own, of_backup):
            assert "is damaged" in told and "may bring back" in told, (
                "and the torn line, which named nothing, is not told"
            )
    with pytest.raises(StoreCorrupt, match=r"line \d+ of .*copy\.db\.erased is damaged.*Put the list back from a copy"):
        restore_backup(tmp_path / "copy.db", tmp_path / "again.db")
    whole = (tmp_path / "copy.db.erased").read_bytes().replace(bad, b"")
    (tmp_path / "copy.db.erased").write_bytes(whole)
    restore_backup(tmp_path / "copy.db", tmp_path / "again.db")
    with recollect.open(tmp_path / "again.db") as mem:
        assert said(mem) == ["Ben likes coffee"]


@pytest.mark.parametrize("place", ["memory.db", "memory.jsonl", "postgres"], indirect=True)
def test_any_altered_letter_of_a_list_of_erasures_is_noticed(place: str, tmp_path: Path) -> None:
    """Whatever one letter becomes: the line says what it said, or is named. Lines of earlier releases have no checksum."""
    with two_people(place) as mem:
        mem.backup(tmp_path / "copy.db")
        mem.erase(owner="ana")
    listed = beside(tmp_path / "copy.db")
    path = tmp_path / "copy.db.erased"
    written, sound = listed.read(), path.read_bytes()
    assert {"memory", "stream"} <= {one.what for one in written} and listed.damaged() == []
    for at, letter in enumerate(sound):
        path.write_bytes(sound[:at] + bytes([letter ^ 1]) + sound[at + 1 :])
        assert listed.read() == written or listed.damaged(), f"byte {at}"
    path.write_bytes(sound.replace(b'"what": "stream"', b'"what": "thread"'))
    with pytest.raises(StoreCorrupt, match="is damaged"):
        restore_backup(tmp_path / "copy.db", tmp_path / "again.db")
    path.write_bytes(re.sub(rb', "(after|check)": "[0-9a-f]*"', b"", sound))
    assert listed.read() == written and listed.damaged() == []


@pytest.mark.parametrize("place", ["memory.db", "memory.jsonl", "postgres"], indirect=True)
def test_a_line_that_is_missing_from_a_list_of_erasures_is_noticed(place: str, tmp_path: Path) -> None:
    """By the link of the line after it, or, at the end of a list beside a backup, by the store that wrote it."""
    with two_people(place) as mem:
        mem.backup(tmp_path / "copy.db")
        mem.erase(owner="ana")
        mem.erase(owner="ben")
        listed, path = beside(tmp_path / "copy.db"), tmp_path / "copy.db.erased"
        sound = path.read_bytes()
        lines = [line for line in sound.split(b"\n") if line]
        assert len(lines) >= 4 and mem.verify().ok
        for gone in range(len(lines)):
            path.write_bytes(b"\n".join(lines[:gone] + lines[gone + 1 :]) + b"\n")
            (problem,) = mem.verify().problems
            assert str(path) in problem.what and "may bring back" in problem.what, gone
            assert bool(listed.damaged()) == (gone + 1 < len(lines))
        path.write_bytes(b"\n".join([lines[0], *lines[2:]]))
        with pytest.raises(
            StoreCorrupt, match=r"before line 2 of .*copy\.db\.erased a line is missing.* put a # at its place"
        ):
            restore_backup(tmp_path / "copy.db", tmp_path / "again.db")
        path.write_bytes(b"\n".join([lines[0], b"# lost", *lines[2:]]))
        assert listed.damaged() == [], "the operator has accepted the loss"
        unlinked = re.sub(rb', "(after|check)": "[0-9a-f]*"', b"", lines[1].replace(b'"memory"', b'"thread"'))
        path.write_bytes(b"\n".join([lines[0], unlinked, *lines[2:]]))
        assert listed.damaged(), "a line without its link is no line of an earlier release"
        path.unlink()
        assert any("lacks" in problem.what for problem in mem.doctor())


def test_a_list_of_erasures_that_an_earlier_release_began_goes_on(tmp_path: Path) -> None:
    listed, ids = beside(tmp_path / "copy.db"), ("a", "b", "c", "d")
    erased = [Erased("default", "memory", id) for id in ids]
    without = json.dumps(erased[0]._asdict())
    digest = hashlib.sha256(json.dumps(list(erased[1]), separators=(",", ":")).encode()).hexdigest()[:16]
    with_check = json.dumps({**erased[1]._asdict(), "check": digest})
    (tmp_path / "copy.db.erased").write_text(f"\n{without}\n\n{with_check}\n")
    listed.append(erased[2:3])
    listed.append(erased[3:])
    assert listed.read() == erased and listed.damaged() == []


@pytest.mark.parametrize("name", ["memory.db", "memory.jsonl"])
def test_a_list_of_erasures_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with two_people(str(tmp_path / name)) as mem:
        mem.backup(tmp_path / "copy.db")
    for listed in (tmp_path / f"{name}.erased", tmp_path / "copy.db.erased"):
        listed.unlink(missing_ok=True)
        listed.mkdir()
    with pytest.raises(StoreUnavailable, match=rf"{name}\.erased: it cannot be read: Is a directory"):
        recollect.open(tmp_path / name)
    with pytest.raises(StoreUnavailable, match=r"copy\.db\.erased: it cannot be read"):
        restore_backup(tmp_path / "copy.db", tmp_path / "again.db")


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(("name", "room"), [("memory.db", 33_000), ("memory.jsonl", 1)])
def test_an_erasure_that_waits_for_room_says_so_and_is_carried_out_once_there_is_some(
    tmp_path: Path, name: str, room: int
) -> None:
    with two_people(str(tmp_path / name)) as mem:
        id = mem.list(owner="ana").items[0].id
        mem.engine.store.note_erasures([Erased("default", "memory", id)])
    with no_room_beyond(room), pytest.raises(StoreUnavailable) as refused:
        recollect.open(tmp_path / name)
    assert "An erasure that was noted has to be carried out before the store opens" in str(refused.value)
    with recollect.open(tmp_path / name) as mem:
        assert said(mem) == ["Ben likes coffee"] and mem.verify().ok


def test_a_backup_that_was_killed_keeps_its_name_from_nobody(place: str, tmp_path: Path, request: Any) -> None:
    backup, partial = tmp_path / "nightly", tmp_path / "nightly.partial"
    with two_people(place) as mem:
        for left in ("", "-journal", "-wal"):
            Path(f"{partial}{left}").write_bytes(b"half of something" * 1_000)
        Path(f"{backup}.erased").write_text("")
        mem.close()
        with pytest.raises(StoreClosed):
            mem.backup(backup)
    with recollect.open(place) as mem:
        mem.backup(backup)
        assert not list(tmp_path.glob("nightly.partial*")) and backup.stat().st_mode & 0o777 == 0o600
        with pytest.raises(StoreUnavailable, match="is there already"):
            mem.backup(backup)
        with (tmp_path / "other.partial").open("w") as being_written:
            fcntl.flock(being_written, fcntl.LOCK_EX)
            with pytest.raises(StoreUnavailable, match=r"is being written by another process\. Wait for it"):
                mem.backup(tmp_path / "other")
        mem.backup(tmp_path / "other")
    if "postgres" not in place:
        target = tmp_path / "restored.db"
        Path(f"{target}.partial").write_bytes(b"half of a restore")
        restore_backup(backup, target)
        with recollect.open(target) as mem:
            assert said(mem) == ["Ana likes tea", "Ben likes coffee"] and mem.verify().ok


@pytest.mark.parametrize(
    "text", ["{a: " * 5_000, "[" * 5_000, "since: 2026-13-45", "a: !!timestamp x", "a: !!bool x", "a: \x00", "a: [1"]
)
def test_a_policy_or_profile_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_text(text)
    with pytest.raises(BadPolicy) as refused:
        recollect.open(":memory:", policy=file)
    assert refused.value.field == str(file) and refused.value.hint
    with pytest.raises(BadInput, match=r"odd\.yaml"):
        load_profile(file)


@pytest.mark.parametrize(
    "use",
    [
        recollect.open,
        lambda path: recollect.open(f"{path}.jsonl"),
        lambda path: recollect.open(":memory:", policy=path),
        lambda path: recollect.open(":memory:").backup(path),
        lambda path: recollect.open(":memory:").import_(path, format="mem0"),
        lambda path: restore_backup(path, "target.db"),
        lambda path: restore_backup(__file__, path),
        lambda path: migrate(path, "target.db"),
        MemoryVault,
        load_profile,
    ],
)
def test_a_zero_byte_in_a_path_is_bad_input(use: Callable[[str], Any], tmp_path: Path) -> None:
    with pytest.raises(RecollectError) as refused:
        use(str(tmp_path / "a\0b"))
    assert isinstance(refused.value, BadInput | BadPolicy) and refused.value.field


@pytest.mark.parametrize("bad", ["a\0b", "key.pem/under", "n" * 300, "/proc/nowhere/key.pem"])
def test_a_key_file_that_cannot_be_written_or_read_is_named(bad: str, tmp_path: Path) -> None:
    with recollect.open(":memory:") as mem:
        mem.new_identity("planner", key_file=tmp_path / "key.pem")
        tea = mem.add("Ana likes tea", owner="ana").memory
        uses: list[Callable[[], Any]] = [
            lambda: mem.new_identity("critic", key_file=tmp_path / bad),
            lambda: mem.rotate_identity("planner", key_file=tmp_path / "key.pem", to=tmp_path / bad),
            lambda: mem.vouch(tea.id, sign_as="planner", key_file=tmp_path / bad),
            lambda: mem.checkpoint(sign_as="planner", key_file=tmp_path / bad),
        ]
        for use in uses:
            with pytest.raises(RecollectError) as refused:
                use()
            assert refused.value.field
        assert mem.verify().ok
