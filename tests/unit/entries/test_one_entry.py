"""One entry: what is wrong with it is told by its path, and the published schema agrees."""

import hashlib
import json
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formats.entries import MEMORY_TYPES, find_problems
from recollect.rules.ledger.content_ids import cid_of
from rows import every_row

SCHEMA = json.loads((resources.files("recollect.formats") / "memory-entry-schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def entry(content: str = "Shade protects seedlings", **fields: Any) -> dict[str, Any]:
    """A sound entry with every field, but for what is given; ``...`` leaves a field out."""
    plain = {
        "content": content,
        "author": {"id": "fern-01", "name": "Fern", "platform": "greenhouse"},
        "timestamp": "2026-02-02T16:00:00Z",
        "content_hash": sha(content),
        "cid": cid_of(content) if content.isprintable() else ...,
        "memory_type": "insight",
        "parent_refs": [sha("a"), sha("b")],
        "vouchers": [{"id": "moss-01", "name": "Moss", "timestamp": "2026-02-02T17:00:00Z", "confidence": 0.9}],
        "confidence": 0.7,
        "tags": ["shade"],
        "context": {"bench": 3},
        "superseded_by": sha("c"),
        "signature": "minisign:AAAA",
        "metadata": {"tool": {"name": "x"}},
    }
    return {name: value for name, value in {**plain, **fields}.items() if value is not ...}


def test_a_sound_entry_has_no_problems() -> None:
    assert find_problems(entry()) == []
    VALIDATOR.validate(entry())


def test_the_schema_itself_is_sound() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_four_fields_are_enough() -> None:
    least = {name: entry()[name] for name in ("content", "author", "timestamp", "content_hash")}
    least["author"] = {"id": "x", "name": "X"}
    assert find_problems(least) == []
    VALIDATOR.validate(least)


@pytest.mark.parametrize("name", ["content", "author", "timestamp", "content_hash"])
def test_required_fields_are_required(name: str) -> None:
    without = {field: value for field, value in entry().items() if field != name}
    assert [tuple(problem) for problem in find_problems(without)] == [(name, "is missing")]


def test_a_voucher_may_have_a_clock_that_is_slow() -> None:
    assert find_problems(entry(vouchers=[{"id": "m", "name": "M", "timestamp": "2026-02-02T15:59:59Z"}])) == []


@pytest.mark.parametrize("kind", MEMORY_TYPES)
def test_memory_types(kind: str) -> None:
    assert find_problems(entry(memory_type=kind)) == []


WRONG: dict[str, tuple[Any, str, str]] = {
    "no object": (["content"], "", "expected an object, found a list"),
    "null": (None, "", "expected an object, found null"),
    "content that is no text": (entry(content="x") | {"content": 7}, "content", "expected text, found a number"),
    "content of blanks": (entry(content="  \n "), "content", "at least one word"),
    "content over ten kilobytes": (entry("é" * 5_121), "content", "is 10,242 bytes: expected at most 10,240"),
    "a control character": (entry("a\x00b"), "content", "U+0000"),
    "a lone surrogate": (entry("a") | {"content": "a\udc80"}, "content", "invalid UTF-8"),
    "an author that is a name": (entry(author="Fern"), "author", "expected an object, found text"),
    "an author without id": (entry(author={"name": "Fern"}), "author.id", "is missing"),
    "an author without name": (entry(author={"id": "fern"}), "author.name", "is missing"),
    "an author with more": (
        entry(author={"id": "a", "name": "b", "key": 1}),
        "author.key",
        "known: id, name, platform",
    ),
    "an empty name": (entry(author={"id": " ", "name": "b"}), "author.id", "1 to 256 characters"),
    "a name of two lines": (entry(author={"id": "a\nb", "name": "b"}), "author.id", "expected one line"),
    "a date without a time": (entry(timestamp="2026-02-02"), "timestamp", "with a zone"),
    "a time without a zone": (entry(timestamp="2026-02-02T16:00:00"), "timestamp", "with a zone"),
    "a day that is not": (entry(timestamp="2026-02-30T16:00:00Z"), "timestamp", "no time that there is"),
    "an hour that is not": (entry(timestamp="2026-02-02T25:00:00Z"), "timestamp", "no time that there is"),
    "a time long ago": (entry(timestamp="0001-01-01T00:00:00Z"), "timestamp", "between the years 1900 and 9000"),
    "seconds since 1970": (entry(timestamp=1_700_000_000), "timestamp", "with a zone"),
    "a hash cut short": (entry(content_hash="a1b2c3"), "content_hash", "64 lower-case hex digits, found 6 characters"),
    "a hash in capitals": (entry(content_hash="A" * 64), "content_hash", "lower-case"),
    "another content's hash": (
        entry(content_hash=sha("b")),
        "content_hash",
        f"expected {sha('Shade protects seedlings')}",
    ),
    "another content's address": (entry(cid=cid_of("b")), "cid", "not the address of the content"),
    "an address of another kind": (entry(cid="Qm"), "cid", "no CIDv1"),
    "an unknown type": (entry(memory_type="opinion"), "memory_type", "one of episodic, semantic, procedural, insight"),
    "a type that cannot be looked up": (entry(memory_type=["insight"]), "memory_type", "expected one of"),
    "a parent that is no list": (entry(parent_refs=sha("a")), "parent_refs", "expected a list, found text"),
    "a parent that is no hash": (entry(parent_refs=[sha("a"), "x"]), "parent_refs[1]", "64 lower-case hex digits"),
    "a parent twice": (entry(parent_refs=[sha("a"), sha("a")]), "parent_refs[1]", "expected each once"),
    "itself as a parent": (entry(parent_refs=[sha("a"), sha("Shade protects seedlings")]), "parent_refs[1]", "itself"),
    "itself as replacement": (entry(superseded_by=sha("Shade protects seedlings")), "superseded_by", "itself"),
    "too many parents": (entry(parent_refs=[sha(str(n)) for n in range(65)]), "parent_refs", "65 elements"),
    "confidence above one": (entry(confidence=1.1), "confidence", "from 0 to 1"),
    "confidence that is true": (entry(confidence=True), "confidence", "expected a number, found true or false"),
    "confidence in words": (entry(confidence="high"), "confidence", "expected a number, found text"),
    "a tag that is a number": (entry(tags=["a", 7]), "tags[1]", "expected text, found a number"),
    "a context that is a list": (entry(context=[1]), "context", "expected an object, found a list"),
    "a context beyond its size": (entry(context={"x": "y" * 17_000}), "context", "at most 16,384"),
    "a field of one's own": (entry(mood="sunny"), "mood", "there is no such field"),
    "the author as voucher": (
        entry(vouchers=[{"id": "fern-01", "name": "Fern", "timestamp": "2026-02-02T17:00:00Z"}]),
        "vouchers[0].id",
        "the author, who cannot vouch for it",
    ),
    "one voucher twice": (
        entry(vouchers=[{"id": "m", "name": n, "timestamp": "2026-02-02T17:00:00Z"} for n in "ab"]),
        "vouchers[1].id",
        "an identity vouches once",
    ),
    "a voucher who says something else": (
        entry(vouchers=[{"id": "m", "name": "M", "timestamp": "2026-02-02T17:00:00Z", "says": "nice"}]),
        "vouchers[0].says",
        "one of accurate, useful, valid",
    ),
    "a voucher without a time": (entry(vouchers=[{"id": "m", "name": "M"}]), "vouchers[0].timestamp", "is missing"),
    "metadata nested too deeply": (
        entry(metadata=json.loads('{"a":' * 20 + "1" + "}" * 20)),
        "metadata",
        "nested deeper",
    ),
}
BEYOND_A_SCHEMA = """
    content of blanks|content over ten kilobytes|a control character|a lone surrogate|a day that is not|an hour that is not
    a time long ago|another content's hash|another content's address|itself as a parent|itself as replacement
    a context beyond its size|the author as voucher|one voucher twice|metadata nested too deeply
""".strip().replace("\n    ", "|").split("|")  # fmt: skip


@every_row("case", WRONG)
def test_what_is_wrong_is_told_by_its_path(case: str) -> None:
    wrong, path, message = WRONG[case]
    assert any(problem.path == path and message in problem.message for problem in find_problems(wrong)), find_problems(
        wrong
    )


@every_row("case", WRONG)
def test_the_schema_agrees_as_far_as_a_schema_can(case: str) -> None:
    assert VALIDATOR.is_valid(WRONG[case][0]) == (case in BEYOND_A_SCHEMA)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from([sha("a"), 0.5, "id"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "timestamp"]), inner),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*entry(), "other"]), VALUES, max_size=4))
def test_what_passes_the_validator_passes_the_schema(changes: dict[str, Any]) -> None:
    made = {**entry(), **changes}
    if not find_problems(made):
        VALIDATOR.validate(made)


@given(VALUES)
def test_nothing_makes_the_validator_fail(value: Any) -> None:
    assert isinstance(find_problems(value), list)
