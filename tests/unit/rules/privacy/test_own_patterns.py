"""Patterns of the operator's own: they refuse what they find, and cannot hold a write up."""

import time

import pytest

import recollect
from recollect.engine.write import drafting
from recollect.model.errors import BadInput
from recollect.model.policy import Privacy
from recollect.rules.privacy import gate
from recollect.rules.privacy.gate import TIME_LIMIT_S, denied_types, pattern_finds, pattern_places
from recollect.rules.privacy.gate import places as denied_places

HOSTILE = {r"(?:a|aa)+$": "a" * 60 + "b", r"(?:\w+\s?)*:$": "word " * 60, r"(x+x+)+y": "x" * 60}


def test_a_pattern_finds_every_place() -> None:
    assert list(pattern_places(r"PRJ-\d{4}", "PRJ-1234 and PRJ-5678")) == [(0, 8), (13, 21)]
    assert list(pattern_places("(?i)project zeus", "nothing of that")) == []
    assert pattern_finds(r"(?<=code )\w+", "the code name")


@pytest.mark.parametrize(("pattern", "text"), HOSTILE.items())
def test_a_pattern_that_would_run_for_years_is_stopped(pattern: str, text: str) -> None:
    began = time.monotonic()
    found = pattern_finds(pattern, text)
    assert time.monotonic() - began < 20 * TIME_LIMIT_S
    assert found in (True, False)


def test_what_could_not_be_tried_in_time_counts_as_found() -> None:
    """From where the pattern had come to: what it found before is told apart."""
    text = "aab " + "a" * 60 + "b"
    assert list(pattern_places(r"aab|(?:a|aa)+$", text)) == [(0, 3), (3, len(text))]
    settings = Privacy(deny_patterns=(r"(?:a|aa)+$",))
    assert denied_types("a" * 60 + "b", settings)
    assert denied_places("a" * 60 + "b", settings) == [(0, 61)]


def test_a_write_that_holds_up_a_pattern_is_denied() -> None:
    with recollect.open(":memory:", policy={"privacy": {"deny_patterns": [r"(?:a|aa)+$"]}}) as mem:
        receipt = mem.add("a" * 60 + "b", meta={"more": ["a" * 60 + "b"] * 20})
        assert receipt.denied and receipt.reasons[-1] == "privacy_deny_sensitive"
        assert mem.add("The deploy job runs at night").outcome == "stored"


def test_a_memory_of_many_strings_holds_up_no_write_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each string keeps a pattern just within its limit; after a second of that the rest counts as found."""
    seconds, tried = [0.0], []

    def take_long(pattern: str, text: str) -> bool:
        tried.append(text)
        seconds[0] += 0.2
        return False

    monkeypatch.setattr(gate, "pattern_finds", take_long)
    monkeypatch.setattr(drafting, "thread_time", lambda: seconds[0])
    with recollect.open(":memory:", policy={"privacy": {"deny_patterns": [r"(?:a|aa)+$"]}}) as mem:
        receipt = mem.add("The deploy job runs at night", meta={f"k{n}": "a" * 28 for n in range(100)})
        assert receipt.denied and receipt.reasons[-1] == "privacy_deny_sensitive" and len(tried) < 8
        assert mem.add("The deploy job runs at noon", tags=["a"]).outcome == "stored", (
            "each memory has a second of its own"
        )


def test_a_test_pattern_of_the_operators_own_cannot_hold_a_write_up_either() -> None:
    began = time.monotonic()
    with recollect.open(":memory:", policy={"namespaces": {"test_patterns": [r"(?:a|aa)+$", "^probe"]}}) as mem:
        mem.add("a" * 60 + "b")
        assert time.monotonic() - began < 20 * TIME_LIMIT_S
        assert mem.add("probe 7 of the deploy job").memory.namespace == "test"  # type: ignore[union-attr]
        assert mem.add("The deploy job runs at night").memory.namespace == "prod"  # type: ignore[union-attr]


NO_PATTERNS = ["(", "[a-", "(?P<a>x)(?P<a>y)(?<n", "a{99999999999999999999}"]


@pytest.mark.parametrize("setting", [("privacy", "deny_patterns"), ("namespaces", "test_patterns")])
@pytest.mark.parametrize("pattern", NO_PATTERNS, ids=lambda pattern: pattern[:10])
def test_what_is_no_pattern_is_refused_with_the_policy(pattern: str, setting: tuple[str, str]) -> None:
    with pytest.raises(BadInput, match="not a regular expression"):
        recollect.open(":memory:", policy={setting[0]: {setting[1]: [pattern]}})


@pytest.mark.parametrize("setting", [("privacy", "deny_patterns"), ("namespaces", "test_patterns")])
@pytest.mark.parametrize(
    "pattern",
    ["(((a{1,100}){1,100}){1,100})", "((((((((a?){9}){9}){9}){9}){9}){9}){9}){9}", "a{1000000}", "(?=(?:ab){10100})",
     "(?:x|y{150}?){150}", "(?>(?:a{200,}){200,})", "(a)?(?(1)b{90}|(?:c{90}){400})"],
    ids=lambda pattern: pattern[:24],
)  # fmt: skip
def test_a_pattern_whose_counts_fill_the_memory_is_refused_with_the_policy(
    pattern: str, setting: tuple[str, str]
) -> None:
    began = time.monotonic()
    with pytest.raises(BadInput, match=r"repeats too much.*Use smaller counts") as refused:
        recollect.open(":memory:", policy={setting[0]: {setting[1]: [pattern]}})
    assert ".".join(setting) in str(refused.value) and time.monotonic() - began < 1


def test_long_lists_and_sensible_counts_are_patterns() -> None:
    names = "|".join(f"customer number {number}" for number in range(2_000))
    for pattern in (names, rf"(?:{names})+", r"(?:\w{1,60}!){1,200}", "[0-9a-f]{4096}", r"(\d{4}[ -]?){3}\d{4}"):
        with recollect.open(":memory:", policy={"privacy": {"deny_patterns": [pattern]}}) as mem:
            assert mem.add("The deploy job runs at night").outcome == "stored"
