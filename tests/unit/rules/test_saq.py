"""The SAQ parser: held to the table of labelled statements, and to what no table can list."""

import doctest
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules import saq
from recollect.rules.keys import identity, parsed_key
from recollect.rules.saq import parse
from recollect.rules.saq.aspects import ASPECTS

BENCH = Path(__file__).parents[3] / "bench" / "keys.py"


def _bench() -> ModuleType:
    """The benchmark's own arithmetic, so that the floors here are the figures that it prints."""
    spec = importlib.util.spec_from_file_location("bench_keys", BENCH)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = _bench()
STATEMENTS = bench.load()


def key(text: str, **options: str) -> str | None:
    parsed = parse(text, **options)
    return parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text if parsed else None


def test_the_table_is_large_and_a_third_of_it_was_held_out() -> None:
    held_out = [statement for statement in STATEMENTS if statement.held_out]
    assert len(STATEMENTS) >= 220
    assert len(held_out) * 3 > len(STATEMENTS)
    assert len({statement.text for statement in STATEMENTS}) == len(STATEMENTS)


@pytest.mark.parametrize("part", ["all", "tuned", "held-out"])
def test_precision_and_recall_stay_above_their_floors(part: str) -> None:
    chosen = [s for s in STATEMENTS if part == "all" or s.held_out == (part == "held-out")]
    figures = bench.measure(chosen)
    assert figures.precision >= 0.98, [
        (a.text, b.text) for a, b in bench.pairs_sharing_key(chosen) if a.concept != b.concept
    ]
    assert figures.recall >= 0.70
    assert figures.shared > 100


def test_no_two_concepts_of_the_table_share_a_key() -> None:
    wrong = [(a.text, b.text) for a, b in bench.pairs_sharing_key(STATEMENTS) if a.concept != b.concept]
    assert wrong == []


def test_what_must_have_no_key_has_none() -> None:
    assert [(s.text, s.key) for s in STATEMENTS if s.concept is None and s.key is not None] == []


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if s.expected_key], ids=lambda s: s.text)
def test_promised_keys(statement: object) -> None:
    assert statement.key == identity(statement.expected_key)  # type: ignore[attr-defined]


def test_the_rule_that_named_the_key_is_told() -> None:
    parsed = parse("Never use emojis in replies")
    assert parsed == saq.SaqKey("Self", "limit", "emojis", "limit.use")


def test_every_rule_has_a_name_of_its_own_and_is_needed_by_the_table() -> None:
    names = [rule.name for rule in saq.RULES]
    assert len(set(names)) == len(names)
    used = {parsed.rule for statement in STATEMENTS if (parsed := parse(statement.text))}
    assert set(names) - used == set(), "a rule without a statement in the table is a rule without proof"


def test_every_aspect_is_needed_by_the_table() -> None:
    used = {(parsed.aspect, parsed.qualifier) for statement in STATEMENTS if (parsed := parse(statement.text))}
    assert [aspect.nouns for aspect in ASPECTS if (aspect.aspect, aspect.qualifier) not in used] == []


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I live in Lisbon", "Ben-Home-City"),
        ("My favorite color is blue", "Ben-Favorite-Color"),
        ("My wife lives in Madrid", "Ben-Spouse-Home-City"),
        ("I prefer dark mode", "Ben-Theme-Mode"),
        ("Ana lives in Lisbon", "Ana-Home-City"),
        ("The user lives in Lisbon", "User-Home-City"),
        ("Never use emojis", "Self-Limit-Emojis"),
    ],
)
def test_i_is_whoever_speaks(said: str, meant: str) -> None:
    assert key(said, speaker="Ben") == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Lisbon",
        "Ana lives in Lisbon\nBen lives in Porto",
        "Ana lives in Lisbon. Ben lives in Porto.",
        "Ana lives in Lisbon. She loves it there!",
        "Ana lives in Lisbon; she moved there in May",
        "“Ana lives in Lisbon”",
        "- Ana lives in Lisbon\n- Ben lives in Porto",
        "Ana lives in Lisbon (I think)",
        "Ana lives in Lisbon, because she found work there",
        "if True: print('Ana lives in Lisbon')",
        "Ana lives in Lisbon " + "and so on " * 50,
        "x" * 10_240,
        "a b " * 2_500,
        "Ana lives in " * 800,
        "\x00\ud800 lives in Lisbon",
    ],
)
def test_anything_but_one_plain_statement_has_no_key(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Thanks! Ana lives in Lisbon.",
        "By the way, Ana lives in Lisbon now",
        "FYI: Ana lives in Lisbon",
        "Please remember that Ana lives in Lisbon!",
        "Correction: Ana lives in Lisbon",
        "Hi Tom, Ana currently lives in Lisbon these days",
        "Ana   lives\tin Lisbon",
    ],
)
def test_what_only_frames_a_statement_is_looked_through(text: str) -> None:
    assert key(text) == "Ana-Home-City"


NAMES = st.sampled_from(["Ana", "Ben", "Chloé", "Dmitri", "Ann Marie", "O Brien", "Wei", "Anna"])
THINGS = st.sampled_from(["tea", "green tea", "tennis", "old maps", "jazz", "hiking", "running", "bread", "rye bread"])
SERVERS = st.sampled_from(["server", "staging server", "billing API", "old server", "API", "Apollo", "apollo2"])


@given(NAMES, NAMES, THINGS, THINGS)
def test_many_valued_statements_share_a_key_only_for_one_subject_and_one_object(
    one: str, other: str, this: str, that: str
) -> None:
    same = one == other and this == that
    likes, allergic = key(f"{one} likes {this}"), key(f"{one} is allergic to {this}")
    assert None not in (likes, allergic)
    assert (likes == key(f"{other} hates {that}")) == same
    assert (allergic == key(f"{other} is not allergic to {that}")) == same


@given(NAMES, NAMES, st.sampled_from(["Lisbon", "Porto"]))
def test_one_valued_statements_share_a_key_for_one_subject_whatever_the_value(one: str, other: str, city: str) -> None:
    assert (key(f"{one} lives in Rome") == key(f"{other} moved to {city}")) == (one == other)


@given(SERVERS, SERVERS, st.integers(10, 65535))
def test_settings_belong_to_their_owner(one: str, other: str, port: int) -> None:
    spoken = [f"The {one} listens on port {port}", f"The {other}'s port is 8080", f"The port of the {other} is 80"]
    first, *others = [key(text) for text in spoken]
    assert first is not None
    assert all((first == later) == (one == other) for later in others)


@given(st.text(max_size=300))
def test_any_text_is_read_without_failing(text: str) -> None:
    parsed = parse(text)
    assert parsed is None or parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text


SALAD = """I my we the Ana Ana's server port is are lives in Lisbon to 8080 never always use no emojis not likes tea of
for favorite color deadline May 5 , : 's called me prefers over dark mode works at Google as a nurse was moved Name is
Based in has does = Keep short if and"""
WORDS = st.sampled_from(SALAD.split())


@given(st.lists(WORDS, max_size=14))
def test_word_salad_is_read_without_failing(words: list[str]) -> None:
    parsed = parse(" ".join(words))
    assert parsed is None or parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text


def test_keys_do_not_depend_on_the_hash_seed() -> None:
    script = (
        "from recollect.rules.saq import parse; import sys;print([parse(line.rstrip('\\n')) for line in sys.stdin])"
    )
    texts = "\n".join(statement.text for statement in STATEMENTS)
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=texts,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_the_examples_in_the_docstrings_run() -> None:
    results = doctest.testmod(saq)
    assert results.failed == 0
    assert results.attempted > 0
