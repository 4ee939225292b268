"""Out and in again: every format that can be written brings the same facts back, however often it goes round."""

import csv
import hashlib
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect import Recollect
from recollect.engine.transfer.exporting import export_as
from recollect.engine.transfer.importing import import_source
from recollect.model.item import OF_THE_STORE
from recollect.model.record import Memory

EXAMPLES = 4
WORDS = "river ladder pillow candle mirror garden bridge violin lantern anchor saddle thimble kettle marble".split()
ODD = st.text(alphabet="abcxyz \"',;:\\\n\r\té☕—[]{}=+@#%|<&", max_size=12)
NAMES = st.sampled_from(["ana", "ben", "Zoë O'Neil", "a;b"])
SPACES = st.sampled_from(["user", "project", "session", "system"])
AUTHORS = st.sampled_from(["otto", {"id": "b7", "name": "Babel; the 2nd", "platform": "=desk"}])
EVERYWHERE = ("prod", "test")
BEFORE = {"supersedes": st.booleans(), "builds_upon_the_last": st.booleans()}
"""What a memory may have behind it: an earlier version, which stays at home, and a parent, which may go along."""
BESIDE = {
    "context": st.fixed_dictionaries({"task": ODD, "step": st.integers(0, 9)}),
    "entities": st.just([{"name": "Ana; =1", "type": "person"}]),
    "relationships": st.just([{"from": "Ana", "to": "tea", "type": "likes"}]),
    "artifact_ref": st.just({"url": "https://example.org/a;b"}),
    "expires_at": st.sampled_from(["2990-01-31T12:00:00Z", "2990-02-01T00:00:00Z"]),
    "valid_from": st.sampled_from(["2019-01-01T00:00:00Z", "2020-02-29T12:30:00Z"]),
    "valid_until": st.sampled_from(["2024-03-01T00:00:00Z", "2990-02-01T00:00:00Z"]),
    "user_id": NAMES,
    "agent_id": st.sampled_from(["planner", "x=y"]),
    "run_id": st.just("r1"),
    "thread_id": st.just("t;1"),
    "actor_id": st.just("tool 7"),
    "role": st.sampled_from(["user", "assistant"]),
    "author": AUTHORS,
    "confidence": st.sampled_from([0.25, 1.0]),
    "importance": st.integers(1, 5),
    "pinned": st.booleans(),
    "kind": st.sampled_from(["semantic", "episodic", "insight", "profile"]),
    "meta": st.dictionaries(st.sampled_from(["n", "team"]), st.integers(-(2**63), 2**63 - 1) | ODD, max_size=2),
}
"""What it may say beside its words, and every format but a graph takes along."""
Facts = list[Any]

TAGS = st.lists(st.sampled_from(["a", "b;c", "[x", "ü", "with space"]), max_size=3, unique=True)
WHOLE = st.fixed_dictionaries(
    {"title": st.sampled_from(["", "A title", "Élan — vital"])},
    optional={
        **BEFORE,
        **BESIDE,
        "owner": NAMES,
        "space": SPACES,
        "namespace": st.sampled_from(["prod", "test"]),
        "tier": st.just("canon"),
        "tags": TAGS,
        "category": st.sampled_from(["work", "home, sweet"]),
        "scope": st.sampled_from(["shared", "stylist"]),
        "event_type": st.sampled_from(["preference", "decision", "fact"]),
        "authority": st.sampled_from(["user_asserted", "ai_inferred", "system_imposed"]),
    },
)
PLAIN = st.fixed_dictionaries(
    {},
    optional={
        **BEFORE,
        **{name: drawn for name, drawn in BESIDE.items() if name not in ("user_id", "role")},
        "owner": NAMES,
        "space": SPACES,
        "namespace": st.sampled_from(["prod", "test"]),
        "scope": st.sampled_from(["shared", "stylist"]),
        "category": st.just("work"),
        "tags": TAGS,
        "event_type": st.sampled_from(["preference", "decision", "fact"]),
        "role": st.just("assistant"),
    },
)
IN_A_VAULT = st.fixed_dictionaries(
    {"source": st.sampled_from(["user", "tool", "import"])},
    optional={
        **BEFORE,
        **BESIDE,
        "scope": st.sampled_from(["shared", "orion"]),
        "owner": NAMES,
        "space": SPACES,
        "namespace": st.sampled_from(["prod", "test"]),
        "category": st.sampled_from(["bio", "goal"]),
        "tags": TAGS,
        "register": st.booleans(),
    },
)
IN_A_GRAPH = st.fixed_dictionaries({}, optional={**BEFORE, "scope": st.sampled_from(["shared", "stylist"])})
PLACE = ("content", "namespace", "space", "owner", "scope")
SAID = (*PLACE, "tags", "category", "parent_refs", *BESIDE)
EVERY_FIELD = (*SAID, "authority", "tier", "event_type", "layer", "sublayer")


def filled(said: list[tuple[str, dict[str, Any]]]) -> Recollect:
    """A memory with a different thing in each record, so that none is taken for another."""
    mem, last = recollect.open(":memory:"), ""
    for number, (odd, wanted) in enumerate(said):
        fields = {name: value for name, value in wanted.items() if value != ""}
        thing, other = WORDS[number % len(WORDS)], WORDS[(number * 5 + 3) % len(WORDS)]
        content = f"The {thing} {number * 37} {odd} belongs to the {other}"
        if "title" in fields:
            fields["title"] = f"{fields['title']} {number}"
        if fields.get("space", "user") == "user" and "user_id" in fields:
            fields["owner"] = fields["user_id"]
        if fields.get("kind") == "profile":
            fields["key"] = f"{thing} {number}"
            fields.pop("title", None)
        if fields.pop("register", False) and "key" not in fields:
            fields |= {"tier": "register", "topic_id": f"{thing} {number}"}
        if fields.pop("builds_upon_the_last", False) and last:
            fields["parent_refs"] = [last]
        if fields.pop("supersedes", False):
            fields |= {} if fields.keys() & {"title", "key", "topic_id"} else {"title": f"{thing} {number}"}
            mem.add(f"{content} or not", **without(fields, "parent_refs"))
            fields["change"] = "update"
        receipt = mem.add(content, **fields)
        last = receipt.memory.content_hash if receipt.memory is not None else last  # canon may be refused
    return mem


def carried(mem: Recollect, format: str) -> tuple[Recollect, str]:
    """The same through a file of that format, in a memory of its own; and the file."""
    text = exported(mem, format)
    new = recollect.open(":memory:")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ("out.json" if format == "mem0" else "out")
        file.write_bytes(text.encode("utf-8"))
        report = import_source(new.engine, format, file, believe=["place", "weight"])
    assert not report.refused, report.refused
    return new, text


def exported(mem: Recollect, format: str) -> str:
    return "".join(export_as(mem.engine, format, include_namespaces=EVERYWHERE))


def told(mem: Recollect, fields: tuple[str, ...]) -> list[str]:
    """These fields of every memory, whatever a file made of them in between."""
    found = mem.list(limit=1000, include_namespaces=EVERYWHERE).items
    return sorted(repr([fact(memory, name) for name in fields]) for memory in found)


def fact(memory: Memory, name: str) -> Any:
    value = getattr(memory, name)
    return without(value, "imported_from", "entry", *OF_THE_STORE) if name == "meta" else value


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


def of_records(text: str) -> Facts:
    changes = """id aliases created_at last_modified last_accessed access_count tick version source related_memory_ids
        importance_reason authority_reason phase_id conflict_ids supersedes_id superseded_by_id""".split()
    records = [json.loads(line) for line in text.splitlines()]
    for record in records:
        record["meta"] = without(record["meta"], "imported_from", "policy_tags")
        if record["kind"] == "episodic":
            del record["canonical_key"], record["key_digest"]
    return [without(record, *changes) for record in records]


def of_items(text: str) -> Facts:
    items = [json.loads(line) for line in text.splitlines()]
    changes = ("imported_from", "policy_tags", "importance_reason", "authority_reason", "source", "phase_id")
    return [{**without(item, "id", "created_at"), "meta": without(item["meta"], *changes)} for item in items]


def of_v4(text: str) -> Facts:
    changes = """id created_at last_modified last_accessed access_count related_memory_ids conflict_ids supersedes_id
        superseded_by_id""".split()
    records = [json.loads(line) for line in text.splitlines()]
    for record in records:
        if record.get("recollect", {}).get("kind") == "episodic":
            del record["canonical_key"]
    return [without(record, *changes) for record in records]


def of_vault(text: str) -> Facts:
    lines = [json.loads(line) for line in text.splitlines()]
    return [without(line, "id", "created_at", "updated_at", "version") for line in lines]


def of_mem0(text: str) -> Facts:
    return [without(result, "id", "created_at", "updated_at") for result in json.loads(text)["results"]]


def of_entries(text: str) -> Facts:
    found = [json.loads(line) for line in text.splitlines()]
    for entry in found:
        own = entry["metadata"]["recollect"]
        own["meta"] = without(own.get("meta", {}), "imported_from")
    return found


def of_lines(text: str) -> Facts:
    return [json.loads(line) for line in text.splitlines()]


def of_csv(text: str) -> Facts:
    return [without(row, "id", "created_at") for row in csv.DictReader(io.StringIO(text, newline=""))]


def of_jsonl(text: str) -> Facts:
    return [without(record, "id", "created_at") for record in of_lines(text)]


FORMATS: dict[str, tuple[Any, Callable[[str], Facts], tuple[str, ...]]] = {
    "recollect": (WHOLE, of_records, EVERY_FIELD),
    "items": (WHOLE, of_items, EVERY_FIELD),
    "v4": (WHOLE, of_v4, EVERY_FIELD),
    "csv": (WHOLE, of_csv, EVERY_FIELD),
    "jsonl": (WHOLE, of_jsonl, EVERY_FIELD),
    "vault": (IN_A_VAULT, of_vault, SAID),
    "mem0": (PLAIN, of_mem0, (*without(dict.fromkeys(SAID), "user_id"), "event_type", "layer", "sublayer")),
    "entries": (WHOLE, of_entries, EVERY_FIELD),
    "mcp-memory": (IN_A_GRAPH, of_lines, ()),
}
"""What is drawn for a format, the facts in its file, and the fields that a memory has on the other side as before."""


def in_order(facts: Facts) -> list[str]:
    return sorted(json.dumps(fact, sort_keys=True, ensure_ascii=False) for fact in facts)


@pytest.mark.parametrize("format", FORMATS)
def test_out_and_in_and_out_again_are_the_same_facts(format: str) -> None:
    fields, facts, kept = FORMATS[format]

    @settings(max_examples=EXAMPLES)
    @given(st.lists(st.tuples(ODD, fields), min_size=1, max_size=8))
    def holds(said: list[tuple[str, dict[str, Any]]]) -> None:
        mem = filled(said)
        there, first = carried(mem, format)
        back, second = carried(there, format)
        assert in_order(facts(second)) == in_order(facts(first))
        assert in_order(facts(exported(back, format))) == in_order(facts(second))
        if format == "mcp-memory":
            shared = [memory for memory in mem.list(limit=1000).items if memory.scope == "shared"]
            assert sum(len(one.get("observations", ())) for one in facts(first)) == len(shared)
        else:
            assert told(back, kept) == told(there, kept) == told(mem, kept)

    holds()


SAME_WORDS = st.sampled_from(["Ana likes tea", "Ana likes tea!", "Ana likes coffee", "The river is wide"])
SAID_TWICE = st.lists(
    st.tuples(SAME_WORDS, st.sampled_from(["otto", "babel"]), st.integers(1, 3), st.booleans()),
    min_size=2,
    max_size=6,
    unique_by=lambda one: one[:3],
)
Entry = dict[str, Any]


def entry(words: str, author: str, day: int, archived: bool) -> Entry:
    return {
        "content": words,
        "author": {"id": author, "name": author},
        "timestamp": f"2026-02-0{day}T00:00:00Z",
        "content_hash": hashlib.sha256(words.encode()).hexdigest(),
        "metadata": {"recollect": {"status": "archived"}} if archived else {},
    }


def in_lines(entries: list[Entry]) -> str:
    return "".join(json.dumps(one) + "\n" for one in entries)


def whole_from_a_stream(mem: Recollect, text: str) -> None:
    assert not mem.import_(io.StringIO(text), believe=["place", "weight"], format="entries", whole=True).refused


def from_a_file(mem: Recollect, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "entries").write_text(text)
        assert not mem.import_(Path(folder) / "entries", format="entries", believe=["place", "weight"]).refused


@pytest.mark.parametrize("take_in", [whole_from_a_stream, from_a_file])
def test_whoever_said_it_and_when_goes_round(take_in: Callable[[Recollect, str], None]) -> None:
    @settings(max_examples=EXAMPLES)
    @given(SAID_TWICE)
    def holds(said: list[tuple[str, str, int, bool]]) -> None:
        wanted = sorted((words, author, f"2026-02-0{day}T00:00:00Z") for words, author, day, _ in said)
        text = in_lines([entry(*one) for one in said])
        for _ in range(2):
            mem = recollect.open(":memory:")
            take_in(mem, text)
            take_in(mem, text)
            found = [json.loads(line) for line in mem.export(format="entries", status=None)]
            kept = sorted((one["content"], one["author"]["id"], one["timestamp"]) for one in found)
            assert kept == wanted
            text = in_lines(found)

    holds()


FORMULAS = [
    "=1+1",
    "+41 44 668",
    "-5 degrees",
    "@ana",
    "\ttabbed",
    "\rreturned",
    "'=quoted",
    "''+twice",
    "'tis fine",
    "=",
]


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_what_a_spreadsheet_would_run_goes_round_as_it_was(format: str) -> None:
    mem = recollect.open(":memory:")
    for number, formula in enumerate(FORMULAS):
        mem.add(
            f"{formula} {WORDS[number]}",
            owner=f"owner {number}",
            category=formula.strip() or "x",
            tags=[formula.strip()],
        )
    there, text = carried(mem, format)
    assert [(m.content, m.category, m.tags) for m in there.list(limit=100).items] == [
        (m.content, m.category, m.tags) for m in mem.list(limit=100).items
    ]
    if format == "csv":
        cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
        assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n")]


def test_every_format_that_can_be_written_goes_round() -> None:
    from recollect.formats.registry import FORMATS as KNOWN

    assert {format.name for format in KNOWN.values() if format.write is not None} == set(FORMATS)


def test_a_graph_comes_back_as_the_reference_server_wrote_it() -> None:
    sample = Path(__file__).parents[1] / "data" / "imports" / "mcp_memory.jsonl"
    mem = recollect.open(":memory:")
    import_source(mem.engine, "mcp-memory", sample)
    assert of_lines("".join(export_as(mem.engine, "mcp-memory"))) == of_lines(sample.read_text(encoding="utf-8"))


def test_a_vault_comes_back_with_its_ids_times_and_sources() -> None:
    sample = Path(__file__).parents[1] / "data" / "imports" / "vault.jsonl"
    mem = recollect.open(":memory:")
    import_source(mem.engine, "vault", sample, believe="weight")
    lines = {record["id"]: record for record in of_lines(sample.read_text(encoding="utf-8"))}
    del lines["d1b2c3d4e5f6"]  # it was deleted
    defaults = {"tier": "canon", "topic_id": None, "tags": [], "updated_at": None, "deleted_at": None}
    back = {record["id"]: record for record in of_lines("".join(export_as(mem.engine, "vault")))}
    assert back == {id: {**defaults, **line} for id, line in lines.items()}
