"""Which record a hash means, who is credited, and what drawings look like."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.trust.provenance import (
    DUST,
    MAX_DEPTH,
    NOT_FOLLOWED,
    Lineage,
    Source,
    as_tree,
    credit,
    find_common,
    find_referenced,
    label,
    on_a_cycle,
    to_dot,
    to_mermaid,
    unresolved_source,
)


def lineage(root: str, parents: dict[str, str], towards: str = "ancestors", **authors: str) -> Lineage:
    """A graph of one-letter memories: ``{"c": "ab"}`` builds c upon a and b. A capital is not known here."""
    keys = sorted({root, *parents, *"".join(parents.values())})
    sources = {
        key: unresolved_source(key)._replace(key=key)
        if key.isupper()
        else Source(key, key * 64, key, authors.get(key, f"author {key}"), "2026", "active", f"words of {key}")
        for key in keys
    }
    return Lineage(root, towards, sources, {child: tuple(found) for child, found in parents.items()})


def test_a_hash_means_the_last_record_before_whoever_names_it() -> None:
    assert find_referenced(5, [(1, "first"), (4, "last before"), (9, "later")]) == "last before"


def test_where_none_was_there_before_it_means_the_first_that_came() -> None:
    assert find_referenced(5, [(9, "second"), (7, "first")]) == "first"
    assert find_referenced(5, []) is None


def test_words_that_come_again_are_no_cycle() -> None:
    """A, then B upon A, then A again upon B: three records, and each means the one before it."""
    assert on_a_cycle({"a1": [], "b": ["a1"], "a2": ["b"]}) == []


@pytest.mark.parametrize(
    ("parents", "found"),
    [
        ({"a": ["a"]}, {"a"}),
        ({"a": ["b"], "b": ["a"]}, {"b"}),
        ({"a": ["b"], "b": ["c"], "c": ["b"], "d": ["e"], "e": []}, {"c"}),
        ({"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []}, set()),
        ({"a": ["missing"]}, set()),
    ],
)
def test_cycles_are_found(parents: dict[str, list[str]], found: set[str]) -> None:
    assert set(on_a_cycle(parents)) == found


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=13))
def test_a_cycle_is_found_exactly_where_following_parents_comes_back(graph: dict[int, list[int]]) -> None:
    def comes_back(start: int) -> bool:
        seen, level = set[int](), [start]
        while level:
            level = [parent for node in level for parent in graph.get(node, ())]
            if start in level:
                return True
            level = [node for node in dict.fromkeys(level) if node not in seen]
            seen.update(level)
        return False

    assert bool(on_a_cycle(graph)) == any(comes_back(node) for node in graph)


def test_a_chain_of_a_hundred_thousand_is_walked() -> None:
    assert on_a_cycle({number: [number + 1] for number in range(100_000)}) == []


def test_whoever_says_something_new_has_all_the_credit() -> None:
    assert credit(lineage("a", {})) == {"author a": 1}


def test_whoever_builds_upon_others_keeps_half_and_shares_the_rest_equally() -> None:
    found = credit(lineage("c", {"c": "ab", "b": "a"}))
    assert found == {"author c": Fraction(1, 2), "author a": Fraction(3, 8), "author b": Fraction(1, 8)}
    assert list(found) == ["author c", "author a", "author b"]


def test_building_upon_oneself_gains_nothing_over_saying_it_at_once() -> None:
    assert credit(lineage("b", {"b": "a"}, a="ana", b="ana")) == {"ana": 1}


def test_what_is_not_known_keeps_its_share_under_its_hash() -> None:
    assert credit(lineage("c", {"c": "aX"})) == {
        "author c": Fraction(1, 2),
        "X": Fraction(1, 4),
        "author a": Fraction(1, 4),
    }


def test_a_circle_is_not_followed_round() -> None:
    found = credit(lineage("a", {"a": "b", "b": "a"}))
    assert sum(found.values()) == 1


@given(st.dictionaries(st.sampled_from("bcdefghi"), st.text("abcdefghiXYZ", max_size=5), max_size=8), st.data())
def test_shares_add_up_to_exactly_one(parents: dict[str, str], data: st.DataObject) -> None:
    downwards = {child: "".join(dict.fromkeys(p for p in found if p < child)) for child, found in parents.items()}
    who = data.draw(st.dictionaries(st.sampled_from("abcdefghi"), st.sampled_from(["ana", "ben"])))
    found = credit(lineage("i", downwards, **who))
    assert sum(found.values()) == 1
    assert all(share > 0 for share in found.values())


def test_a_long_chain_keeps_its_exact_sum() -> None:
    sources = {str(n): Source(str(n), "", str(n), f"author {n}") for n in range(1_000)}
    parents = {str(n): (str(n + 1),) for n in range(999)}
    found = credit(Lineage("0", "ancestors", sources, parents))
    assert sum(found.values()) == 1 and found["author 127"] == DUST


def test_dust_is_not_divided() -> None:
    """Fractions of a graph of a thousand layers would have denominators of thousands of digits."""
    keys = [str(n) for n in range(1_000)]
    sources = {key: Source(key, key, key, key) for key in keys}
    found = credit(Lineage("0", "ancestors", sources, {child: (parent,) for child, parent in itertools.pairwise(keys)}))
    assert sum(found.values()) == 1 and len(found) == 130
    assert max(share.denominator for share in found.values()) <= 2 / DUST


def test_what_was_not_followed_goes_to_nobody() -> None:
    found = credit(replace(lineage("c", {"c": "ab"}), unfollowed=frozenset("b")))
    halves = {"author c": Fraction(1, 2), "author a": Fraction(1, 4), "author b": Fraction(1, 8)}
    assert found == {**halves, NOT_FOLLOWED: Fraction(1, 8)}


def test_distances_are_the_shortest_ways() -> None:
    assert lineage("d", {"d": "ca", "c": "b", "b": "a"}).distances() == {"c": 1, "a": 1, "b": 2}
    assert lineage("a", {"d": "ca", "c": "b", "b": "a"}, "descendants").distances() == {"b": 1, "d": 1, "c": 2}


def test_what_two_have_in_common_comes_nearest_first() -> None:
    one, other = lineage("c", {"c": "b", "b": "a"}), lineage("d", {"d": "ba"})
    assert [(source.key, a, b) for source, a, b in find_common(one, other)] == [("b", 1, 1), ("a", 2, 1)]
    assert [source.key for source, _, _ in find_common(lineage("a", {}), one)] == ["a"]
    assert find_common(lineage("a", {}), lineage("b", {})) == []


def test_a_tree_draws_each_memory_out_once() -> None:
    tree = as_tree(lineage("c", {"c": "ab", "b": "a"}))
    assert [(one.source.key, one.again) for one in tree.branches] == [("a", False), ("b", False)]
    assert [(one.source.key, one.again) for one in tree.branches[1].branches] == [("a", True)]


def test_a_very_deep_tree_ends_somewhere() -> None:
    sources = {str(n): Source(str(n), "", str(n)) for n in range(2 * MAX_DEPTH)}
    tree = as_tree(Lineage("0", "ancestors", sources, {str(n): (str(n + 1),) for n in range(2 * MAX_DEPTH - 1)}))
    depth = 0
    while tree.branches:
        tree, depth = tree.branches[0], depth + 1
    assert depth == MAX_DEPTH + 1 and tree.again


def test_graphviz_gets_an_arrow_from_each_memory_to_what_it_builds_upon() -> None:
    drawn = to_dot(lineage("b", {"b": "aX"}))
    assert drawn.startswith("digraph provenance {") and drawn.endswith("}\n")
    assert '  m1 [label="author a: words of a"];' in drawn and '[label="unresolved X", style=dashed];' in drawn
    assert "  m2 -> m1;" in drawn and "  m2 -> m0;" in drawn


def test_words_cannot_break_out_of_a_drawing() -> None:
    nasty = 'x"];evil[label="<script>\\'
    source = Source("a", "a" * 64, "a", nasty, content=nasty)
    one = Lineage("a", "ancestors", {"a": source})
    assert '\\"］;evil［label=\\"' in to_dot(one) and "\\\\" in to_dot(one)
    drawn = to_mermaid(one)
    assert "<" not in drawn and drawn.count('"') == 2 and "#34;" in drawn


def test_a_label_is_one_short_line() -> None:
    long = Source("a", "a" * 64, "a", "ana", content="many\nwords " * 40)
    assert "\n" not in label(long) and len(label(long)) <= 60 and label(long).endswith("…")
    assert label(unresolved_source("f" * 64)) == "unresolved ffffffffffff"
