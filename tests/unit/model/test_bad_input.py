"""Bad input of every kind, to every operation: an error that names the field and says what is wrong, and nothing changes."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, NotFound, RecollectError
from recollect.model.record import Candidate
from rows import every_row
from support.script import canonical_state, open_seeded

SURROGATE = "lone \ud800 surrogate"
NUL = "nul \x00 here"
BELL = "bell \x07 here"
LONG = "x" * 100_000
DEEP: Any = []
for _ in range(50):
    DEEP = [DEEP]

Call = Callable[[Any], object]
"""What is wrong is wrong for the type checker too, so here the memory is anything."""


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with open_seeded() as opened:
        opened.add("Ana likes tea", owner="ana", canonical_key="Tea", tags=["hot"], aliases=["ticket-7"])
        opened.add("Ana hates tea", owner="ana", canonical_key="Tea", change="contradiction", authority="ai_inferred")
        opened.add("Ben plays the violin", owner="ben", aliases=["stranger"])
        yield opened


def _refused(mem: Recollect, call: Call, *classes: type[RecollectError]) -> RecollectError:
    """Make a call that must fail, and hold the store against what it was before."""
    before = list(canonical_state(mem._engine))
    with pytest.raises(classes) as caught:
        call(mem)
    assert list(canonical_state(mem._engine)) == before, "a refused call changes nothing"
    assert len(str(caught.value)) < 2_000, "an error does not repeat what was wrong with it at length"
    return caught.value


FIELDS = tuple(Candidate.model_fields)


def _takes(field: str, value: Any) -> bool:
    base = {"content": "Ana likes tea", **({"kind": "profile"} if field == "key" else {})}
    try:
        Candidate.model_validate({**base, field: value})
    except ValueError:
        return False
    return True


TEXT_FIELDS = tuple(field for field in FIELDS if _takes(field, "semantic") and field not in ("kind", "author"))
LIST_FIELDS = tuple(field for field in FIELDS if _takes(field, ["abc"]))
JSON_FIELDS = tuple(field for field in FIELDS if _takes(field, {"a": 1}))
ENUM_FIELDS = "namespace space kind event_type layer sublayer tier source authority change".split()


def _adding(field: str, value: Any) -> Call:
    fields = {"content": "Ben likes cocoa", "owner": "ben", field: value}
    if field == "key":
        fields["kind"] = "profile"
    return lambda mem: mem.add(**fields)


def test_the_fields_are_what_this_table_takes_them_for() -> None:
    assert {"content", "owner", "scope", "canonical_key", "category", "run_id", "role", "signature"} <= set(TEXT_FIELDS)
    assert set(LIST_FIELDS) == {"tags", "aliases"}
    assert set(JSON_FIELDS) == {"meta", "context", "artifact_ref"}


WRONG = [object(), 3.5, b"\xff\xfe", [[["deep"]]], {1: 2}]


@every_row(
    ("field", "value"),
    [(field, value) for field in FIELDS for value in WRONG if not _takes(field, value)],
)
def test_a_value_of_the_wrong_type(mem: Recollect, field: str, value: Any) -> None:
    error = _refused(mem, _adding(field, value), BadInput)
    assert (error.field or "").split(".")[0] == field


@every_row("field", [*TEXT_FIELDS, "author"])
@every_row("value", [SURROGATE, NUL, BELL, "\x1b[31mred"])
def test_text_that_cannot_be_stored(mem: Recollect, field: str, value: str) -> None:
    error = _refused(mem, _adding(field, value), BadInput)
    assert (error.field or "").split(".")[0] == field
    assert "U+" in error.message or "unicode" in error.message, "it says what is wrong with it"


@every_row("field", LIST_FIELDS)
@every_row("value", [[SURROGATE], [NUL], [""], [" "], ["a\nb"], [5], [None], [LONG], ["x"] * 10_000])
def test_lists_that_cannot_be_stored(mem: Recollect, field: str, value: Any) -> None:
    if value == ["x"] * 10_000:
        value = [f"tag {n}" for n in range(10_000)]
    error = _refused(mem, _adding(field, value), BadInput)
    assert (error.field or "").split(".")[0] == field


@every_row("field", JSON_FIELDS)
@every_row(
    "value",
    [
        {"deep": DEEP},
        {"nan": float("nan")},
        {"inf": [float("inf")]},
        {"big": 2**70},
        {"set": {1}},
        {1: "number as key"},
        {"nested": {2: "number as key"}},
        {SURROGATE: 1},
        {"text": SURROGATE},
        {"text": {"deeper": [NUL]}},
        {"long": LONG},
    ],
)
def test_json_that_cannot_be_stored(mem: Recollect, field: str, value: Any) -> None:
    error = _refused(mem, _adding(field, value), BadInput)
    assert (error.field or "").split(".")[0] == field


def test_json_that_contains_itself(mem: Recollect) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    assert _refused(mem, _adding("meta", endless), BadInput).field == "meta"


@every_row("field", ENUM_FIELDS)
@every_row("value", ["nonsense", "", "PROD ", "Semantic"])
def test_a_word_that_is_not_on_the_list(mem: Recollect, field: str, value: str) -> None:
    error = _refused(mem, _adding(field, value), BadInput)
    assert error.field == field


ADD: dict[str, tuple[dict[str, Any], str]] = {
    "no words": ({"content": ""}, "content"),
    "only blanks": ({"content": " \t\n "}, "content"),
    "one byte too many": ({"content": "x" * 10_241}, "content"),
    "too many bytes in few characters": ({"content": "é" * 5_121}, "content"),
    "no text at all": ({"content": None}, "content"),
    "a key of a hundred thousand characters": ({"canonical_key": LONG}, "canonical_key"),
    "a title of a hundred thousand characters": ({"title": LONG}, "title"),
    "a key without a letter": ({"canonical_key": "---"}, "canonical_key"),
    "a title without a letter": ({"title": "?!"}, "title"),
    "an owner of a hundred thousand characters": ({"owner": LONG}, "owner"),
    "an owner on two lines": ({"owner": "ana\nben"}, "owner"),
    "an empty owner": ({"owner": ""}, "owner"),
    "a blank scope": ({"scope": "  "}, "scope"),
    "importance beyond the scale": ({"importance": 6}, "importance"),
    "importance below the scale": ({"importance": 0}, "importance"),
    "importance as text": ({"importance": "3"}, "importance"),
    "importance as truth": ({"importance": True}, "importance"),
    "pinned as a number": ({"pinned": 1}, "pinned"),
    "confidence that is no number": ({"confidence": float("nan")}, "confidence"),
    "confidence beyond certainty": ({"confidence": 1.5}, "confidence"),
    "a date without a zone": ({"expires_at": "2026-01-31T12:00:00"}, "expires_at"),
    "a date that is a number": ({"expires_at": 1800000000}, "expires_at"),
    "a date that is a number as text": ({"expires_at": "1800000000"}, "expires_at"),
    "a date that is past": ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    "tags as one text": ({"tags": "tea"}, "tags"),
    "no date at all": ({"expires_at": "tomorrow"}, "expires_at"),
    "a date beyond the calendar": ({"expires_at": "9999-12-31T23:59:59-14:00"}, "expires_at"),
    "a date before the calendar": ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at"),
    "a date in a year of three digits": ({"expires_at": "0300-01-01T00:00:00Z"}, "expires_at"),
    "no ticks": ({"ttl_ticks": 0}, "ttl_ticks"),
    "ticks beyond counting": ({"ttl_ticks": 10**30}, "ttl_ticks"),
    "a parent that is no hash": ({"parent_refs": ["abc"]}, "parent_refs"),
    "an author without a name": ({"author": {"id": "u1"}}, "author"),
    "an author with too much": ({"author": {"id": "u1", "name": "Ana", "rank": 1}}, "author"),
    "a field that does not exist": ({"colour": "red"}, "colour"),
    "a profile without its key": ({"kind": "profile"}, "key"),
    "a fact key without a profile": ({"key": "city"}, "key"),
    "a sublayer of another layer": ({"layer": "self", "sublayer": "goal"}, "sublayer"),
    "an empty idempotency key": ({"idempotency_key": ""}, "idempotency_key"),
    "an idempotency key that is too long": ({"idempotency_key": "k" * 257}, "idempotency_key"),
    "an idempotency key that is no text": ({"idempotency_key": 5}, "idempotency_key"),
    "an idempotency key that cannot be stored": ({"idempotency_key": SURROGATE}, "idempotency_key"),
}


@every_row("case", ADD)
def test_adding(mem: Recollect, case: str) -> None:
    fields, field = ADD[case]
    error = _refused(mem, lambda mem: mem.add(**{"content": "Ben likes cocoa", "owner": "ben", **fields}), BadInput)
    assert (error.field or "").split(".")[0] == field
    assert error.message and error.code == "bad_input" and error.exit_code == 2


def test_ten_thousand_two_hundred_and_forty_bytes_are_enough(mem: Recollect) -> None:
    assert not mem.add("x" * 10_240, owner="ben").denied


MANY: dict[str, tuple[Any, str | None]] = {
    "nothing": (None, None),
    "a number": (5, None),
    "a text": ("abc", None),
    "one memory": ({"content": "Ben likes cocoa"}, None),
    "texts": (["Ben likes cocoa"], "[0]"),
    "a hole": ([{"content": "Ben likes cocoa"}, None], "[1]"),
    "an empty one": ([{"content": "Ben likes cocoa"}, {}], "[1].content"),
    "the last one is wrong": ([{"content": "Ben likes cocoa"}] * 3 + [{"content": NUL}], "[3].content"),
    "too many": ([{"content": "Ben likes cocoa"}] * 2_001, None),
    "too long": ([{"content": "x" * 10_240}] * 103, None),
}


@every_row("case", MANY)
@every_row("bound", [False, True])
def test_adding_many(mem: Recollect, case: str, bound: bool) -> None:
    many, field = MANY[case]
    error = _refused(mem, lambda mem: (mem.as_caller(user="ben") if bound else mem).add_many(many), BadInput)
    if field is not None:
        assert error.field == field


BAD_IDS: dict[str, Any] = {
    "nothing": None,
    "empty": "",
    "a number": 5,
    "bytes": b"0f3a9c2b",
    "a list": ["0f3a9c2b"],
    "unknown": "00000000-0000-0000-0000-000000000000",
    "percent": "%%%%",
    "underscores": "____",
    "sql": "' OR 1=1 --",
    "blank": "    ",
    "surrogate": SURROGATE,
    "nul": NUL,
    "very long": LONG,
    "very long and hex": "a" * 100_000,
}
WITH_ID: dict[str, Callable[[Recollect, Any], object]] = {
    "get": lambda mem, id: mem.get(id),
    "history": lambda mem, id: mem.history(id),
    "chain": lambda mem, id: mem.chain(id),
    "explain": lambda mem, id: mem.explain("" if id is None else id),
    "edit": lambda mem, id: mem.edit(id, pinned=True),
    "archive": lambda mem, id: mem.archive(id),
    "forget": lambda mem, id: mem.forget(id),
    "restore": lambda mem, id: mem.restore(id),
    "resolve": lambda mem, id: mem.resolve(id, winner=id),
    "erase": lambda mem, id: mem.erase(id=id),
}


@every_row("id", BAD_IDS)
@every_row("operation", WITH_ID)
def test_an_id_that_names_nothing(mem: Recollect, operation: str, id: str) -> None:
    error = _refused(mem, lambda mem: WITH_ID[operation](mem, BAD_IDS[id]), BadInput, NotFound)
    assert error.field in ("id", "owner"), "erase without an id asks for one of the two"


@every_row("winner", BAD_IDS)
def test_a_winner_that_names_nothing(mem: Recollect, winner: str) -> None:
    waiting = mem.list(status="contradictory").items[0].id
    error = _refused(mem, lambda mem: mem.resolve(waiting, winner=BAD_IDS[winner]), BadInput, NotFound)
    assert error.field == "winner"


def _cursor(value: Any) -> str:
    return base64.urlsafe_b64encode((value if isinstance(value, str) else json.dumps(value)).encode()).decode()


OTHERS: dict[str, tuple[Call, str]] = {
    "list: limit 0": (lambda mem: mem.list(limit=0), "limit"),
    "list: limit too high": (lambda mem: mem.list(limit=1_001), "limit"),
    "list: limit beyond counting": (lambda mem: mem.list(limit=10**30), "limit"),
    "list: limit as text": (lambda mem: mem.list(limit="10"), "limit"),
    "list: limit with a fraction": (lambda mem: mem.list(limit=1.5), "limit"),
    "list: no limit": (lambda mem: mem.list(limit=None), "limit"),
    "list: cursor of nonsense": (lambda mem: mem.list(cursor="nonsense"), "cursor"),
    "list: empty cursor": (lambda mem: mem.list(cursor=""), "cursor"),
    "list: cursor as a number": (lambda mem: mem.list(cursor=5), "cursor"),
    "list: cursor of something else": (lambda mem: mem.list(cursor=_cursor({"a": 1})), "cursor"),
    "list: cursor of wrong types": (lambda mem: mem.list(cursor=_cursor([None, "x", []])), "cursor"),
    "list: cursor beyond counting": (lambda mem: mem.list(cursor=_cursor(["2026", 10**30, 1])), "cursor"),
    "list: cursor of infinity": (lambda mem: mem.list(cursor=_cursor('["2026", 1e999, 1]')), "cursor"),
    "list: cursor without end": (lambda mem: mem.list(cursor=_cursor("[" * 100_000)), "cursor"),
    "list: unknown filter": (lambda mem: mem.list(colour="red"), "colour"),
    "list: unknown status": (lambda mem: mem.list(status="alive"), "status"),
    "list: status as a number": (lambda mem: mem.list(status=5), "status"),
    "list: unknown kind": (lambda mem: mem.list(kind="nonsense"), "kind"),
    "list: unknown source": (lambda mem: mem.list(source="nobody"), "source"),
    "list: unknown layer": (lambda mem: mem.list(layer="moon"), "layer"),
    "list: unknown event type": (lambda mem: mem.list(event_type="party"), "event_type"),
    "list: unknown tier": (lambda mem: mem.list(tier="top"), "tier"),
    "list: pinned as text": (lambda mem: mem.list(pinned="no"), "pinned"),
    "list: unknown space": (lambda mem: mem.list(space="moon"), "space"),
    "list: unknown namespace": (lambda mem: mem.list(include_namespaces=["moon"]), "include_namespaces"),
    "list: no namespaces": (lambda mem: mem.list(include_namespaces=None), "include_namespaces"),
    "list: owner as a number": (lambda mem: mem.list(owner=5), "owner"),
    "list: owner that cannot be": (lambda mem: mem.list(owner=SURROGATE), "owner"),
    "list: tags as a text": (lambda mem: mem.list(tags="hot"), "tags"),
    "list: tags as a number": (lambda mem: mem.list(tags=5), "tags"),
    "list: tags that cannot be": (lambda mem: mem.list(tags=[SURROGATE]), "tags"),
    "list: importance as text": (lambda mem: mem.list(importance_min="3"), "importance_min"),
    "list: importance beyond counting": (lambda mem: mem.list(importance_max=10**30), "importance_max"),
    "list: importance that is no number": (lambda mem: mem.list(importance_min=float("nan")), "importance_min"),
    "list: key as a number": (lambda mem: mem.list(key=5), "key"),
    "list: key without a letter": (lambda mem: mem.list(key="--"), "key"),
    "list: category that cannot be": (lambda mem: mem.list(category=SURROGATE), "category"),
    "query: nothing": (lambda mem: mem.query(None), "query"),
    "query: empty": (lambda mem: mem.query(""), "query"),
    "query: blanks": (lambda mem: mem.query(" \n\t"), "query"),
    "query: bytes": (lambda mem: mem.query(b"tea"), "query"),
    "query: a number": (lambda mem: mem.query(5), "query"),
    "query: threshold above 1": (lambda mem: mem.query("tea", threshold=1.1), "threshold"),
    "query: threshold as text": (lambda mem: mem.query("tea", threshold="high"), "threshold"),
    "query: budget 0": (lambda mem: mem.query("tea", budget_tokens=0), "budget_tokens"),
    "query: an unknown filter": (lambda mem: mem.query("tea", filters={"colour": "red"}), "colour"),
    "query: a phase that is none": (lambda mem: mem.query("tea", filters={"phase": "last"}), "phase"),
    "query: categories as one word": (lambda mem: mem.query("tea", categories="tasks"), "categories"),
    "query: top_k 0": (lambda mem: mem.query("tea", top_k=0), "top_k"),
    "query: top_k too high": (lambda mem: mem.query("tea", top_k=1_001), "top_k"),
    "query: top_k as text": (lambda mem: mem.query("tea", top_k="3"), "top_k"),
    "query: unknown space": (lambda mem: mem.query("tea", space="moon"), "space"),
    "query: unknown namespace": (lambda mem: mem.query("tea", include_namespaces=("moon",)), "include_namespaces"),
    "query: owner as a number": (lambda mem: mem.query("tea", owner=5), "owner"),
    "query: agent as a number": (lambda mem: mem.query("tea", agent=5), "agent"),
    "history: since as text": (lambda mem: mem.history(owner="ana", since="x"), "since"),
    "history: since beyond counting": (lambda mem: mem.history(owner="ana", since=10**30), "since"),
    "history: owner as a number": (lambda mem: mem.history(owner=5), "owner"),
    "history: unknown namespace": (
        lambda mem: mem.history(owner="ana", include_namespaces=["moon"]),
        "include_namespaces",
    ),
    "traces: limit below zero": (lambda mem: mem.traces(limit=-1), "limit"),
    "traces: cursor as text": (lambda mem: mem.traces(cursor="x"), "cursor"),
    "traces: number as text": (lambda mem: mem.traces(number="x"), "number"),
    "edit: nothing": (lambda mem: mem.edit("ticket-7"), ""),
    "edit: content": (lambda mem: mem.edit("ticket-7", content="Ana likes gin"), "content"),
    "edit: unknown field": (lambda mem: mem.edit("ticket-7", colour="red"), "colour"),
    "edit: importance off the scale": (lambda mem: mem.edit("ticket-7", importance=9), "importance"),
    "edit: importance taken away": (lambda mem: mem.edit("ticket-7", importance=None), "importance"),
    "edit: tags taken away": (lambda mem: mem.edit("ticket-7", tags=None), "tags"),
    "edit: tags that cannot be": (lambda mem: mem.edit("ticket-7", tags=[NUL]), "tags"),
    "edit: pinned as a number": (lambda mem: mem.edit("ticket-7", pinned=1), "pinned"),
    "edit: blank category": (lambda mem: mem.edit("ticket-7", category=" "), "category"),
    "edit: date without a zone": (lambda mem: mem.edit("ticket-7", expires_at="2026-01-31T09:00"), "expires_at"),
    "edit: date beyond time": (lambda mem: mem.edit("ticket-7", expires_at="9999-12-31T23:59:59-14:00"), "expires_at"),
    "resolve: a stranger wins": (
        lambda mem: mem.resolve(mem.list(status="contradictory").items[0].id, winner="stranger"),
        "winner",
    ),
    "erase: nothing": (lambda mem: mem.erase(), "owner"),
    "erase: an owner's whole chain": (lambda mem: mem.erase(owner="ana", whole_chain=True), "whole_chain"),
    "erase: two things": (lambda mem: mem.erase(owner="ana", id="ticket-7"), "owner"),
    "erase: owner as a number": (lambda mem: mem.erase(owner=5), "owner"),
    "erase: empty owner": (lambda mem: mem.erase(owner=""), "owner"),
    "erase: owner that cannot be": (lambda mem: mem.erase(owner=SURROGATE), "owner"),
    "consolidate: force as text": (lambda mem: mem.consolidate(force="false"), "force"),
    "consolidate: undo as text": (lambda mem: mem.consolidate(undo="false"), "undo"),
    "rekey: force as text": (lambda mem: mem.rekey(force="false"), "force"),
    "erase: whole chain as text": (lambda mem: mem.erase(id="ticket-7", whole_chain="false"), "whole_chain"),
    "query: history as a number": (lambda mem: mem.query("tea", history=0), "history"),
    "prove: with content as text": (lambda mem: mem.prove("ticket-7", with_content="false"), "with_content"),
    "import: dry run as text": (lambda mem: mem.import_("x.jsonl", format="jsonl", dry_run="false"), "dry_run"),
    "export: private ones as text": (
        lambda mem: [*mem.export(format="mcp-memory", include_private="no")],
        "include_private",
    ),
    "consolidate: owner as a number": (lambda mem: mem.consolidate(owner=5), "owner"),
    "export: unknown status": (lambda mem: list(mem.export(status="alive")), "status"),
    "export: unknown namespace": (lambda mem: list(mem.export(include_namespaces=["moon"])), "include_namespaces"),
    "export: unknown choice": (lambda mem: list(mem.export(colour="red")), "colour"),
    "import: a number": (lambda mem: mem.import_(5), "lines"),
    "import: numbers": (lambda mem: mem.import_([5]), "line 1"),
    "import: no JSON": (lambda mem: mem.import_(['{"content": "Ben likes cocoa"}', "{"]), "line 2"),
    "import: no content": (lambda mem: mem.import_(["", "{}"]), "line 2"),
    "import: changed words": (lambda mem: mem.import_(['{"content": "x", "content_hash": "0"}']), "line 1"),
    "import: a key without a letter": (
        lambda mem: mem.import_(['{"content": "y"}', '{"content": "x", "canonical_key": "--"}']),
        "line 2.canonical_key",
    ),
    "import: titles as a number": (
        lambda mem: mem.import_(['{"content": "x", "custom_metadata": 5}'], format="v3"),
        "line 1",
    ),
    "import: a format of folders": (lambda mem: mem.import_(["# Tea"], format="basic-memory"), "format"),
    "import: half a line": (lambda mem: mem.import_(['{"content": "Ben likes cocoa"}', '{"con']), "line 2"),
    "import: a list": (lambda mem: mem.import_(["[]"]), "line 1"),
    "import: JSON without end": (lambda mem: mem.import_(["[" * 100_000]), "line 1"),
    "import: content as a number": (lambda mem: mem.import_(['{"content": 5}']), "line 1"),
    "import: meta as a number": (lambda mem: mem.import_(['{"content": "Ben likes cocoa", "meta": 5}']), "line 1"),
    "import: the second of three": (
        lambda mem: mem.import_(
            ['{"content": "Ben likes cocoa"}', '{"content": "x", "kind": "moon"}', '{"content": "y"}']
        ),
        "line 2",
    ),
    "import: unknown format": (lambda mem: mem.import_([], format="xml"), "format"),
    "as_caller: unknown right": (lambda mem: mem.as_caller(user="ana", rights=["rule"]), "rights"),
    "as_caller: rights as a text": (lambda mem: mem.as_caller(user="ana", rights="read"), "rights"),
    "as_caller: projects as a text": (lambda mem: mem.as_caller(user="ana", projects="apollo"), "projects"),
    "as_caller: user as a number": (lambda mem: mem.as_caller(user=5), "user"),
    "as_caller: empty user": (lambda mem: mem.as_caller(user=""), "user"),
    "as_caller: blank agent": (lambda mem: mem.as_caller(user="ana", agent=" "), "agent"),
    "as_caller: user that cannot be": (lambda mem: mem.as_caller(user=SURROGATE), "user"),
}


@every_row("case", OTHERS)
def test_other_operations(mem: Recollect, case: str) -> None:
    call, field = OTHERS[case]
    error = _refused(mem, call, BadInput, NotFound)
    assert (error.field or "").startswith(field)


def test_a_long_import_that_fails_late_brings_nothing_in(mem: Recollect) -> None:
    lines = [json.dumps({"content": f"Ben owns book number {n}", "kind": "episodic"}) for n in range(700)] + ["{"]
    assert _refused(mem, lambda mem: mem.import_(lines), BadInput).field == "line 701"
