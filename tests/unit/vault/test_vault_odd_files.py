"""Files that other tools wrote, and files that nobody should have written: loaded as they are, or refused by name and line."""

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import RecollectError, StoreCorrupt, StoreUnavailable
from recollect.stores.files import CHUNK_BYTES
from recollect.vault import MemoryVault
from rows import every_row

from .conftest import OpenVault

TEN_GIGABYTES = 10 * 2**30


def line(**fields: Any) -> bytes:
    record = {"id": "0f3a9c2b1d4e", "text": "The creator builds bridges", "scope": "shared", "category": "bio"}
    return json.dumps({**record, "created_at": "2025-06-01T10:00:00", "version": 1, **fields}).encode()


def texts(vault: MemoryVault) -> list[str]:
    return sorted(memory.text for memory in vault.active())


FOREIGN = {
    "a byte order mark": b"\xef\xbb\xbf" + line() + b"\n" + line(id="bbbbbbbbbbbb", text="Owls hunt") + b"\n",
    "line ends of Windows": line() + b"\r\n\r\n" + line(id="bbbbbbbbbbbb", text="Owls hunt") + b"\r\n",
    "blank lines": b"\n  \n" + line() + b"\n\n\t\n" + line(id="bbbbbbbbbbbb", text="Owls hunt") + b"\n\n",
    "other spacing and escapes": b'{"version":1,"text":"\\u004fwls hunt" ,  "scope":"shared","category":"fact","id":"b"}\n'
    + line()
    + b"\n",
    "a key twice": b'{"id": "b", "text": "Bats", "scope": "shared", "category": "fact", "text": "Owls hunt"}\n'
    + line()
    + b"\n",
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
def test_other_peoples_lines_load_and_stay_byte_for_byte(tmp_path: Path, open_vault: OpenVault, content: bytes) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(content)
    vault = open_vault()
    assert texts(vault) == ["Owls hunt", "The creator builds bridges"]
    assert vault.update("0f3a9c2b1d4e", "The creator builds tall bridges").ok
    assert path.read_bytes().startswith(content)
    vault.compact()
    kept = [one for one in content.split(b"\n") if b"wls hunt" in one]
    assert kept[0] in path.read_bytes().split(b"\n")
    assert texts(open_vault()) == ["Owls hunt", "The creator builds tall bridges"]


@pytest.mark.parametrize("value", [True, "yes", {}, {"tables": {}}, {"also": []}, [1], None])
def test_another_tools_field_of_our_name_is_a_field_like_any_other(
    tmp_path: Path, open_vault: OpenVault, value: object
) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(line(recollect=value) + b"\n")
    vault = open_vault()
    assert vault.update("0f3a9c2b1d4e", "The creator builds tall bridges").ok
    assert json.loads(path.read_bytes().splitlines()[-1])["recollect"] == value
    assert vault.compact() == (2, 1)
    vault.close()
    with recollect.open(path) as mem:
        assert mem.get("0f3a9c2b1d4e").content == "The creator builds tall bridges"


BROKEN = {
    "deeply nested": line()[:-1] + b', "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "rows that are no rows": line(recollect={"tables": {"memories": 7}, "also": []}),
    "tables that are none": line(recollect={"tables": [], "also": []}),
    "a row too short": line(
        recollect={"tables": {"store": {"columns": ["a", "b"], "rows": [[1]], "gone": []}}, "also": []}
    ),
    "carried memories that are none": line(recollect={"tables": {}, "also": [{"text": "no id"}]}),
    "a carried list that is none": line(recollect={"tables": {}, "also": {}}),
    "a number of five thousand digits": line()[:-1] + b', "n": ' + b"9" * 5_000 + b"}",
    "half a letter": line()[:-2] + b"\xc3}",
    "another encoding": line().decode().encode("utf-16"),
}


@every_row("broken", BROKEN.values())
@every_row("opens", [MemoryVault, recollect.open])
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, opens: Callable[[Path], Any], broken: bytes) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(b"\n" + line() + b"\n" + broken + b"\n" + line(version=2) + b"\n")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match=r"line 3 is no memory") as error:
        opens(path)
    assert error.value.field == str(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        (["name", "value"], ["a", {"base64": 7}]),
        (["name", "value"], ["a", {"letters": "x"}]),
        (["name", "value"], [["a"], "b"]),
        (["name", "value"], ["a", ["b"]]),
        (["name", "value"], ["a", 2**70]),
        (["value"], ["b"]),
        ([7], ["b"]),
    ],
)
def test_rows_that_no_store_wrote_are_damage(tmp_path: Path, columns: list[Any], row: list[Any]) -> None:
    path = tmp_path / "vault.jsonl"
    tables = {"store": {"columns": columns, "rows": [row], "gone": []}}
    path.write_bytes(line(recollect={"tables": tables, "also": []}) + b"\n")
    with pytest.raises(recollect.StoreError, match=r"vault\.jsonl"):
        recollect.open(path)
    with MemoryVault(path) as vault:
        assert texts(vault) == ["The creator builds bridges"]


@pytest.mark.parametrize(
    "odd",
    ['"mood": NaN', '"mood": -Infinity', '"mood": "\\ud800"', '"mood": 1e999', '"\\ud800": 1', '"mood": [[[[]]]]'],
)
def test_odd_values_of_other_tools_do_not_stand_in_the_way(tmp_path: Path, open_vault: OpenVault, odd: str) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(line()[:-1] + b", " + odd.encode() + b"}\n")
    vault = open_vault()
    assert vault.update("0f3a9c2b1d4e", tags=["builder"]).ok
    assert vault.delete("0f3a9c2b1d4e").ok
    first, *later = [repr({name: value for name, value in json.loads(one).items() if name in ("mood", "\ud800")})
                     for one in path.read_bytes().splitlines()]  # fmt: skip
    assert later == [first, first]
    assert open_vault().vault_stats()["deleted"] == 1


def test_half_a_letter_in_a_text_can_be_replaced_and_deleted(tmp_path: Path, open_vault: OpenVault) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(line(text="half \ud83d a smile") + b"\n" + line(id="b", text="another \ud83d") + b"\n")
    vault = open_vault()
    assert vault.update("0f3a9c2b1d4e", tags=["smile"]).code == "bad_input"
    assert vault.update("0f3a9c2b1d4e", "A whole smile").ok
    assert vault.delete("b").ok
    assert texts(open_vault()) == ["A whole smile"]


@pytest.mark.parametrize("version", [0, -3])
def test_a_version_below_one_counts_if_it_is_the_only_one(tmp_path: Path, open_vault: OpenVault, version: int) -> None:
    (tmp_path / "vault.jsonl").write_bytes(line(version=version) + b"\n")
    vault = open_vault()
    assert texts(vault) == ["The creator builds bridges"]
    assert vault.update("0f3a9c2b1d4e", "The creator builds tall bridges").ok
    assert texts(open_vault()) == ["The creator builds tall bridges"]


def test_of_two_lines_of_one_version_the_later_one_counts(tmp_path: Path, open_vault: OpenVault) -> None:
    (tmp_path / "vault.jsonl").write_bytes(line(text="one") + b"\n" + line(text="two") + b"\n")
    vault = open_vault()
    assert texts(vault) == ["two"]
    vault.compact()
    assert texts(open_vault()) == ["two"]


def test_an_empty_time_of_deletion_deletes_nothing(tmp_path: Path, open_vault: OpenVault) -> None:
    (tmp_path / "vault.jsonl").write_bytes(line(deleted_at="", topic_id="", tier="register") + b"\n")
    vault = open_vault()
    (memory,) = vault.active()
    assert (memory.deleted_at, memory.topic_id) == (None, None)
    assert vault.build_snapshot() == "", "a register without a topic is in no snapshot"
    assert vault.compact() == (1, 1)


@pytest.mark.parametrize(("start", "end"), [(line() + b"\n", b""), (line()[:-1], b"\n")])
def test_ten_gigabytes_of_one_line_are_refused_and_left_alone(tmp_path: Path, start: bytes, end: bytes) -> None:
    path = tmp_path / "vault.jsonl"
    with path.open("wb") as file:
        file.write(start)
        file.seek(TEN_GIGABYTES)
        file.write(b"x" + end)
    with pytest.raises(StoreCorrupt, match=f"line {start.count(10) + 1} is no memory"):
        MemoryVault(path)
    assert path.stat().st_size == TEN_GIGABYTES + 1 + len(end)
    assert not Path(f"{path}.torn").exists()


def line_of(size: int, number: int) -> bytes:
    """A line of so many bytes, its end included."""
    short = len(line(id=f"{number:012x}", padding=""))
    return line(id=f"{number:012x}", padding="." * (size - short - 1)) + b"\n"


def test_lines_are_whole_wherever_one_look_at_the_file_ends(tmp_path: Path, open_vault: OpenVault) -> None:
    """Some end where a look ends or one byte beside, and some are longer than several looks."""
    sizes = [CHUNK_BYTES, CHUNK_BYTES - 1, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 300, 5 * CHUNK_BYTES // 2]
    lines = [line_of(size, number) for number, size in enumerate(sizes)]
    assert [len(one) for one in lines] == sizes
    path = tmp_path / "vault.jsonl"
    path.write_bytes(b"".join(lines))
    assert [memory.id for memory in open_vault().active()] == [f"{number:012x}" for number in range(len(sizes))]
    path.write_bytes(b"".join([*lines[:4], b"\n", b"damaged\n", *lines[4:]]))
    with pytest.raises(StoreCorrupt, match="line 6 is no memory"):
        open_vault()


def test_a_link_and_its_file_are_one_vault(tmp_path: Path, open_vault: OpenVault) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "vault.jsonl").symlink_to(tmp_path / "there" / "real.jsonl")
    linked, real = open_vault(), open_vault("there/real.jsonl")
    assert linked.path == real.path
    assert linked.add_memory("Owls hunt at dusk", "shared", "fact").ok
    assert real.add_memory("Owls hunt at dusk", "shared", "fact").code == "near_duplicate"
    linked.compact()
    assert (tmp_path / "vault.jsonl").is_symlink()
    assert texts(real) == texts(linked) == ["Owls hunt at dusk"]


def test_a_planted_link_is_not_written_through(tmp_path: Path, open_vault: OpenVault) -> None:
    """Beside the vault nothing is overwritten that only bears the name of a file of ours."""
    precious = tmp_path / "precious.txt"
    precious.write_text("keep me")
    for name in ("vault.jsonl.compacting", "vault.jsonl.torn"):
        (tmp_path / name).symlink_to(precious)
    vault = open_vault()
    vault.add_memory("Owls hunt at dusk", "shared", "fact")
    vault.compact()
    vault.path.write_bytes(vault.path.read_bytes() + b'{"id": "torn')
    with pytest.raises(StoreUnavailable, match=r"vault\.jsonl"):
        vault.add_memory("Bread rises overnight", "shared", "fact")
    assert precious.read_text() == "keep me"


@pytest.mark.parametrize("opens", [MemoryVault, recollect.open], ids=["as a vault", "as a store"])
def test_a_folder_of_that_name_is_named(tmp_path: Path, opens: Callable[[Path], Any]) -> None:
    (tmp_path / "vault.jsonl").mkdir()
    with pytest.raises(StoreUnavailable, match=r"vault\.jsonl"):
        opens(tmp_path / "vault.jsonl")


NOBODY = 65534


def as_an_ordinary_user(work: Callable[[], object]) -> bytes:
    """What an error says to somebody who is not root, in a process of its own."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(NOBODY)
            work()
            os.write(writing, b"nothing was refused")
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent looks at it
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()


@pytest.mark.parametrize("opens", [MemoryVault, recollect.open], ids=["as a vault", "as a store"])
@pytest.mark.parametrize("locked", ["file", "folder"])
def test_what_may_only_be_read_is_named(opens: Callable[[Path], Any], locked: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "vault.jsonl"
        path.write_bytes(line() + b"\n")
        path.chmod(0o444 if locked == "file" else 0o666)
        folder.chmod(0o777 if locked == "file" else 0o555)
        said = as_an_ordinary_user(lambda: opens(path))
        folder.chmod(0o755)
        assert said.startswith(b"StoreUnavailable") and b"Permission denied" in said and b"vault.jsonl" in said
        assert path.read_bytes() == line() + b"\n"


def test_an_open_vault_notices_another_file_under_its_name(open_vault: OpenVault) -> None:
    vault = open_vault()
    vault.add_memory("Owls hunt at dusk", "shared", "fact")
    vault.path.write_bytes(b"")
    assert texts(vault) == []
    other = vault.path.with_suffix(".other")
    other.write_bytes(line() + b"\n")
    other.replace(vault.path)
    assert texts(vault) == ["The creator builds bridges"]
    assert vault.add_memory("Owls hunt at dusk", "shared", "fact").ok
    vault.path.unlink()
    assert texts(vault) == []
    assert vault.add_memory("Owls hunt at dusk", "shared", "fact").ok


def test_a_program_that_appends_without_the_lock_is_read(open_vault: OpenVault) -> None:
    vault = open_vault()
    vault.add_memory("Owls hunt at dusk", "shared", "fact")
    with vault.path.open("ab") as file:
        file.write(line()[:40])
        file.flush()
        assert texts(vault) == ["Owls hunt at dusk"], "half a line is left for later"
        file.write(line()[40:] + b"\n")
    assert texts(vault) == ["Owls hunt at dusk", "The creator builds bridges"]


def test_every_error_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    for content in (b"{}\n", b"[]\n", line(text=7) + b"\n", b"plain words"):
        path.write_bytes(content)
        with pytest.raises(RecollectError) as error:
            MemoryVault(path)
        assert error.value.hint


TWO = (line() + b"\n" + line(id="bbbbbbbbbbbb", text="Owls hunt") + b"\n").decode()
NO_VAULTS = {
    "UTF-16": TWO.encode("utf-16"),
    "UTF-16 without a mark": TWO.encode("utf-16-le"),
    "UTF-16, big end first": TWO.encode("utf-16-be"),
    "UTF-16 without a last line end": TWO.rstrip().encode("utf-16-be"),
    "UTF-16 on one line": line().decode().encode("utf-16-le"),
    "UTF-32": TWO.encode("utf-32"),
    "UTF-32 without a mark": TWO.encode("utf-32-be"),
    "Latin-1 on one line": line(text="caf\N{LATIN SMALL LETTER E WITH ACUTE}")
    .decode("unicode_escape")
    .encode("latin-1"),
    "JSON5": b"{a: 1, 'important': true}",
    "half of JSON5": b"{a: 1, 'important': tr",
    "one JSON document": b'{"settings": {"theme": "dark"}}',
    "half a JSON document": b'{"settings": {"theme": "da',
    "a JSON document over many lines": b'{\n  "settings": {\n    "theme": "dark"\n  }\n}',
    "a JSON list": b'[{"id": "0f3a9c2b1d4e"}]',
    "half a record of somebody else": b'{"version":1,"id":"0f3a9c2b1d4e","text":"The creator bui',
    "words": b"Dear diary, today I went to the sea",
    "a number": b"42",
    "a database": b"SQLite format 3\0\x10\0\x01\x01\0" + b"\0" * 2_000 + b"\x01\x02\0\n\0\0table",
    "zeros": b"\0" * 4_096,
    "zeros on two lines": b"\0" * 4_096 + b"\n" + b"\0" * 90,
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
}


@every_row("content", NO_VAULTS.values())
@every_row("opens", [MemoryVault, recollect.open])
def test_a_file_that_is_no_vault_is_refused_and_left_alone(
    tmp_path: Path, opens: Callable[[Path], Any], content: bytes
) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match=r"line 1 is no memory") as error:
        opens(path)
    assert error.value.field == str(path)
    assert path.read_bytes() == content
    assert not Path(f"{path}.torn").exists()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_another_encoding_is_called_by_its_name(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(TWO.encode(encoding))
    with pytest.raises(StoreCorrupt, match=f"it is in {encoding[:6].upper()}, and a vault is UTF-8"):
        MemoryVault(path)


FOREIGN_ENDS = {
    "UTF-16 lines": TWO.encode("utf-16-le"),
    "UTF-16 lines with a mark": TWO.encode("utf-16"),
    "a UTF-16 line without an end": TWO.rstrip().encode("utf-16-le"),
    "words": b"remember the milk",
    "JSON5": b"{a: 1, 'important': true}",
    "half of JSON5": b"{a: 1, 'import",
    "a list": b"[1, 2",
    "a whole line in Latin-1": b'{"id": "b", "text": "caf\xe9", "scope": "shared", "category": "fact"}',
    "JSON that is no record": b'{"theme": "dark"}',
}


@pytest.mark.parametrize("end", FOREIGN_ENDS.values(), ids=FOREIGN_ENDS)
def test_what_no_crash_leaves_behind_is_never_cut_off(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_bytes(TWO.encode() + end)
    with pytest.raises(StoreCorrupt, match=r"line 3 is no memory"):
        MemoryVault(path)
    assert path.read_bytes() == TWO.encode() + end
    assert not Path(f"{path}.torn").exists()


@pytest.mark.parametrize("zeros", [0, 1, 700])
def test_the_first_line_ever_written_may_be_torn(tmp_path: Path, open_vault: OpenVault, zeros: int) -> None:
    vault = open_vault()
    vault.add_memory("The creator builds bridges — é and \\ and \N{GRINNING FACE}", "shared", "bio", tags=["a", "b"])
    vault.close()
    whole = vault.path.read_bytes()
    for cut in range(1, len(whole) - 1, 11 if zeros else 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut] + b"\0" * zeros)
        with MemoryVault(path) as torn:
            assert torn.active() == []
        assert path.read_bytes() == b""
        assert Path(f"{path}.torn").read_bytes() == whole[:cut] + b"\0" * zeros + b"\n"


def test_a_page_that_a_power_cut_left_empty_is_torn_wherever_it_is(tmp_path: Path) -> None:
    long = line_of(3 * 4_096, 7)
    for start in (0, 4_000):
        path = tmp_path / f"{start}.jsonl"
        path.write_bytes(TWO.encode() + long[:start] + b"\0" * 4_096 + long[start + 4_096 : -1])
        with MemoryVault(path) as vault:
            assert len(vault.active()) == 2
        assert path.read_bytes() == TWO.encode()


@pytest.mark.parametrize("content", [b"", b"\n", b" \t \n\n", b"  ", line() + b"\n   "])
def test_blanks_are_no_damage(tmp_path: Path, open_vault: OpenVault, content: bytes) -> None:
    (tmp_path / "vault.jsonl").write_bytes(content)
    assert open_vault().add_memory("Owls hunt at dusk", "shared", "fact").ok
    assert len(open_vault().active()) == 1 + bool(content.strip())
    assert not (tmp_path / "vault.jsonl.torn").exists()
