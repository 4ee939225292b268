"""Every way to read, every border: nothing of what a caller may not see changes what it is told, by a single byte.

Another tenant, owner, session or project may be there or not. What lies in the caller's own stream, but in another agent's
scope or in a category that its list does not name, may say one thing or another; and it may be there or not, if it came
last: what came before it took its numbers, which a stream counts for all that it holds.
"""

import base64
import inspect
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from read_doors import (
    BORDERS,
    FILTERED,
    MARK,
    MISSING,
    ON_AN_ID,
    OTHERWISE,
    POLICY,
    READS,
    TELLING,
    House,
    furnished,
    outcome,
    told,
)
from typer.testing import CliRunner

from recollect.engine.read.filters import FILTERS
from recollect.interfaces.cli.app import app
from recollect.interfaces.mcp.catalogue import TOOLS
from recollect.interfaces.python import Recollect
from recollect.interfaces.python.past import Past
from rows import every_row
from support.postgres_server import PostgresServer
from support.script import START


class Answers(NamedTuple):
    """What was told by each read in two houses that differ behind one border, and the ids of what was hidden."""

    one: dict[str, str]
    other: dict[str, str]
    hidden: tuple[str, ...]


def _answers(
    border: str,
    words: tuple[str | None, str | None],
    *,
    early: bool,
    empty_place: Callable[[], str] = lambda: ":memory:",
) -> Answers:
    told_in, hidden = [], []
    for said in words:
        house = furnished(BORDERS[border], said, early=early, location=empty_place())
        with house.mem:
            told_in.append(told(BORDERS[border], house))
            hidden += house.hidden
    return Answers(*told_in, tuple(hidden))


_COUNTED_LATER = re.compile(
    r"""['"]?(?:access_count['"]?[=:] ?\d+|last_accessed['"]?[=:] ?(?:None|null|"[^"]*"|'[^']*'|datetime[^)]*\)))"""
)
"""Reads are counted in batches a moment later: whether the one before has been yet is a matter of time."""


def _differing(found: Answers) -> dict[str, tuple[str, str]]:
    """The reads whose answers differ, each with the place where they begin to."""
    differing = {}
    for name, answer in found.one.items():
        one, other = (_COUNTED_LATER.sub("", text) for text in (answer, found.other[name]))
        if one != other:
            at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            differing[name] = one[max(0, at - 60) : at + 40], other[max(0, at - 60) : at + 40]
    return differing


def _named(found: Answers) -> list[str]:
    """The reads that name a hidden memory, or repeat a word of one."""
    secrets = (MARK, *found.hidden)
    return [name for name, text in found.one.items() if any(secret in text for secret in secrets)]


@pytest.fixture(params=["sqlite", "postgres"])
def empty_place(request: pytest.FixtureRequest) -> Callable[[], str]:
    """Returns where a house is furnished: in memory, or on the server, whose store is emptied each time."""
    if request.param == "sqlite":
        return lambda: ":memory:"
    server: PostgresServer = request.getfixturevalue("postgres")
    url: str = request.getfixturevalue("server_store")

    def emptied() -> str:
        server.empty_database(url)
        return url

    return emptied


@pytest.mark.parametrize(
    ("border", "empty_place"),
    [*((border, "sqlite") for border in BORDERS), *((border, "postgres") for border in ("tenant", "owner", "scope"))],
    indirect=["empty_place"],
)
def test_what_is_told_is_the_same_whether_others_are_there_or_not(border: str, empty_place: Callable[[], str]) -> None:
    found = _answers(border, (TELLING, None), early=not BORDERS[border].within_the_stream, empty_place=empty_place)
    assert _differing(found) == {}
    assert _named(found) == []


@pytest.mark.parametrize("border", ["scope", "category"])
def test_what_is_told_is_the_same_whatever_others_say_beside_it(border: str, empty_place: Callable[[], str]) -> None:
    """Here they came first, too: only their words differ."""
    found = _answers(border, (TELLING, OTHERWISE), early=True, empty_place=empty_place)
    assert _differing(found) == {}
    assert _named(found) == []


_NUMBER = re.compile(r"""([a-z_]+)['"]?(?:\\?["'])?\s?[=: ]\s?(\d+)(?![\d:.\w-])""")


@pytest.mark.parametrize("border", ["scope", "category"])
def test_the_numbers_that_tell_of_hidden_writes_to_the_same_stream_are_named(
    border: str, empty_place: Callable[[], str]
) -> None:
    """What came first took its numbers. Those that show it are named in SECURITY.md, with the reason, and are all there are."""
    found = _answers(border, (TELLING, None), early=True, empty_place=empty_place)
    telling = set()
    for name in found.one.keys() - {"as_of a tick, get", "as_of a tick, list", "as_of a tick, query"}:
        one, other = (_NUMBER.findall(_COUNTED_LATER.sub("", answers[name])) for answers in found[:2])
        assert len(one) == len(other), name
        telling |= {here[0] for here, there in zip(one, other, strict=True) if here != there}
    of_the_house = {
        "created_at",
        "datetime",
        "tokens",
    }  # its clock is set by hand, and ids differ in how many tokens they are
    manual = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    assert telling - of_the_house == {"tick", "seq", "rev"}
    assert all(f"`{number}`" in manual for number in telling - of_the_house)


def test_the_answers_are_answers() -> None:
    """Were every read refused, nothing would have been tried."""
    house = furnished(BORDERS["scope, from a governor"], TELLING)
    with house.mem:
        answers = told(BORDERS["scope, from a governor"], house)
    refused = {name for name, text in answers.items() if text.startswith("Refusal")}
    operators = {"verify", "doctor", "state_hash", "ledger_root", "checkpoints", "prove", "prove_growth"}
    operators |= {"runs", "run", "mcp memory_runs", "mcp memory_run", "try_policy", "preview_erasure"}
    operators |= {"identity", "identities", "identity_history", "check_entry", "uncovered_entries"}
    elsewhere = {"query of a hidden category", "phase_diff elsewhere", "recall_for, elsewhere", "recall_for zoe"}
    assert refused <= operators | elsewhere
    for name in ("query", "memory_block", "recall_for", "as_of a tick, query", "mcp prompts", "export", "chain"):
        assert "savings of Ana" in answers[name], name
    for name in (
        "traces",
        "events",
        "ops",
        "history of ana",
        "history of ana in prod",
        "list_all",
        "stats",
        "history",
        "phases",
        "phase_diff",
    ):
        assert len(answers[name]) > 100, name


@pytest.fixture(scope="module", params=[name for name, border in BORDERS.items() if not border.open_to & {"get"}])
def held(request: pytest.FixtureRequest) -> Iterator[tuple[Recollect, House]]:
    house = furnished(BORDERS[request.param], TELLING)
    with house.mem:
        yield BORDERS[request.param].eyes(house.mem), house


@every_row("read", ON_AN_ID)
def test_a_hidden_id_looks_exactly_like_a_missing_one(held: tuple[Recollect, House], read: str) -> None:
    mem, house = held
    expected = repr(outcome(lambda: ON_AN_ID[read](mem, MISSING))).replace(MISSING, "…")
    for id in house.hidden[::3]:
        for form in (id, id.replace("-", "")[:12]):
            answer = repr(outcome(lambda form=form: ON_AN_ID[read](mem, form)))  # type: ignore[misc]
            assert answer.replace(form, "…") == expected


def test_a_cursor_at_a_hidden_memory_looks_like_one_at_a_missing_memory(held: tuple[Recollect, House]) -> None:
    mem, house = held
    everything = house.mem.list(status=None, include_namespaces=["prod", "test", "ephemeral"], limit=1)
    cursor = everything.next_cursor or ""
    hidden = [outcome(lambda id=id: mem.list(cursor=_cursor(id))) for id in house.hidden]  # type: ignore[misc]
    assert set(map(repr, hidden)) == {repr(outcome(lambda: mem.list(cursor=_cursor(MISSING))))}
    assert json.loads(_decoded(cursor)) == [everything.items[0].created_at.strftime(_TIME), everything.items[0].id]


_TIME = "%Y-%m-%dT%H:%M:%S.%fZ"


def _cursor(id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([START.strftime(_TIME), id]).encode()).decode()


def _decoded(cursor: str) -> bytes:
    return base64.urlsafe_b64decode(cursor)


@pytest.fixture(scope="module")
def entangled() -> Iterator[House]:
    """Ana's memories, of which some hang together with others of a category that her coder may not know of."""
    house = furnished(BORDERS["category"], None)
    mem, clock = house.mem, house.clock
    secret: dict[str, Any] = {"owner": "ana", "category": "health"}

    def add(content: str, **fields: Any) -> str:
        clock.now += timedelta(minutes=1)
        memory = mem.add(content, **{"owner": "ana", **fields}).memory
        assert memory is not None
        return memory.id

    hidden = house.hidden
    hidden.append(add(f"The clinic is in {MARK} street", canonical_key="Clinic-Place", **secret))
    house.own["after it"] = add("The clinic is in Lisbon", canonical_key="Clinic-Place", change="update")
    house.own["before it"] = add("The launch is at noon", canonical_key="Launch-Hour")
    hidden.append(add(f"The launch is at {MARK}", canonical_key="Launch-Hour", change="update", **secret))
    hidden.append(add(f"The savings of Zoe lie in the cellar of {MARK} bank in Lisbon", **secret))
    house.own["near it"] = add("The savings of Zoe lie in the cellar of the bank in Lisbon")
    house.own["doubted by it"] = add("The garden has three trees", canonical_key="Garden-Trees")
    hidden.append(
        add(f"The garden has {MARK} trees", canonical_key="Garden-Trees", change="contradiction",
            authority="ai_inferred", **secret)
    )  # fmt: skip
    mem.link(house.own["near it"], hidden[0], relation_type="explains")
    hidden.append(add(f"The launch in Lisbon is {MARK}"))
    clock.set(200)
    mem.edit(hidden[-1], category="health")
    clock.set(300)
    with mem:
        yield house


@every_row("read", [*READS, "at an earlier time, list", "at an earlier time, query"])
def test_no_link_chain_or_past_leads_to_the_hidden(entangled: House, read: str) -> None:
    """Versions, contradictions and near-duplicates of what may be seen, and what has become hidden since."""
    mem, earlier = BORDERS["category"].eyes(entangled.mem), START + timedelta(minutes=150)
    past = {
        "at an earlier time, list": lambda: mem.as_of(time=earlier).list(status=None, limit=1_000),
        "at an earlier time, query": lambda: mem.as_of(time=earlier).query("the launch in Lisbon", top_k=100),
    }
    text = repr(outcome(past.get(read, lambda: READS[read](mem, entangled))))
    hashes = [entangled.mem.get(id).content_hash for id in entangled.hidden]
    ids = [form for id in entangled.hidden for form in (id, id[:13])]
    assert [secret for secret in (MARK, *hashes, *ids) if secret in text] == []


def test_the_entangled_are_entangled(entangled: House) -> None:
    """The application sees every one of those links."""
    linked = set()
    for id in entangled.own.values():
        memory = entangled.mem.get(id)
        either = (memory.supersedes_id, memory.superseded_by_id)
        linked |= {*filter(None, either), *memory.related_memory_ids, *memory.conflict_ids}
    assert set(entangled.hidden[:4]) <= linked


@pytest.mark.parametrize("rights", [(), ("write",), ("read", "write"), ("read", "write", "govern", "erase", "relay")])
def test_what_tells_of_the_whole_store_is_for_its_operator(rights: tuple[str, ...]) -> None:
    house = furnished(BORDERS["owner"], TELLING)
    with house.mem:
        mem = house.mem.as_caller(user="ana", rights=rights)
        whole: list[Callable[[], object]] = [
            mem.state_hash,
            mem.ledger_root,
            mem.verify,
            mem.doctor,
            mem.uncovered_entries,
        ]
        sizes: list[Callable[[], object]] = [mem.checkpoint, mem.checkpoints, lambda: mem.prove_growth(1)]
        for read in (*whole, *sizes):
            assert "NotAllowed" in repr(outcome(read))
        operator = house.mem.as_caller(user="ana", rights=["operate"])
        assert operator.state_hash() == house.mem.state_hash()


COMMANDS = (
    ["list", "--any-status"],
    ["query", "savings and the launch in Lisbon"],
    ["get", "{hidden}"],
    ["history", "{hidden}"],
    ["chain", "{hidden}"],
    ["explain", "{hidden}"],
    ["explain", "{own}"],
    ["export"],
    ["stats"],
    ["history", "--owner", "ana"],
    ["phase", "list", "--space", "user", "--owner", "zoe"],
    ["change-header", "--owner", "ana", "--space", "user", "--since", "0"],
    ["traces"],
)


@pytest.mark.parametrize("border", ["category"])
def test_the_command_line_tells_no_more(border: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY), encoding="utf-8")
    said: list[list[str]] = []
    ids: dict[str, str] = {}
    for words in (TELLING, None):
        store = tmp_path / f"{len(said)}.db"
        house = furnished(BORDERS[border], words, early=not BORDERS[border].within_the_stream, location=str(store))
        house.mem.close()
        ids = ids or {"hidden": house.hidden[0], "own": house.own["second"]}
        eyes = ["--json", "--policy", str(tmp_path / "policy.yaml"), "--as-user", "ana", "--as-agent", "coder"]
        said.append([_shell("--store", str(store), *eyes, *(part.format(**ids) for part in c)) for c in COMMANDS])
    for command, one, other in zip(COMMANDS, *said, strict=True):
        assert one == other, command
        assert MARK not in one
        assert not one.startswith("2 "), f"there is no such command: {command}"
    assert any("savings of Ana" in text for text in said[0])


_NOW = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z?")


def _shell(*arguments: str) -> str:
    """What a command prints, or the error that it ends with; the time of day is not of interest."""
    done = CliRunner().invoke(app, arguments)
    error = done.exception
    ended = json.dumps(error.to_dict()) if hasattr(error, "to_dict") else repr(error)
    return _NOW.sub("…", f"{done.exit_code} {done.output} {ended}")


WRITES = frozenset(
    """
        add add_many update supersede edit resolve archive forget reject lift grant decline restore turn record upkeep erase
        import_ promote start_phase rebuild close as_caller backup link unlink reindex audit_file vouch withdraw_vouch
        checkpoint erasure_record erase_with_record new_identity register_identity rotate_identity revoke_identity
        link_identity unlink_identity sign_entry create_key access_keys revoke_key with_key at_revision
        apply_proposal decline_proposal undo worker once
    """.split()
)


def test_every_way_to_read_was_tried() -> None:
    """A new operation, filter or tool belongs into the tables of `read_doors`."""
    operations = {name for name, _ in inspect.getmembers(Recollect, inspect.isfunction) if name[0] != "_"} - WRITES
    tried = {re.split(r"[ ,]", name)[0] for name in READS}
    assert operations - tried == set()
    assert {name for name in FILTERS if name not in FILTERED} == set()
    of_the_past = {name for name, _ in inspect.getmembers(Past, inspect.isfunction) if name[0] != "_"}
    assert of_the_past == {name.split(", ")[1] for name in READS if name.startswith("as_of a t")}
    reading = {name for name, tool in TOOLS.items() if tool.listing["reads_only"]}
    assert reading - {name.removeprefix("mcp ") for name in READS} == set()
