"""The list of words that mean much alike."""

import re

from recollect.embed.static import neighbours_of, read_file
from recollect.rules.language.text import STOP_WORDS, stem, terms

LINES = read_file("neighbours.txt").decode("ascii").split("\n")


def test_words_that_people_mean_alike_are_neighbours() -> None:
    for one, other in (("allergic", "allergy"), ("mum", "mother"), ("physician", "doctor")):
        assert neighbours_of(terms(one))[stem(one)][stem(other)] >= 0.4, one
    assert stem("favourite") == stem("favorite"), "two spellings are one term, and need no list"


def test_opposites_names_and_numbers_are_not() -> None:
    assert stem("cold") not in neighbours_of([stem("hot")]).get(stem("hot"), {})
    assert neighbours_of(["monday", "two", "ana", "peter", "zzz"]) == {}


def test_no_term_that_is_asked_for_is_a_neighbour() -> None:
    assert stem("mother") not in neighbours_of([stem("mum"), stem("mother")])[stem("mum")]


def test_the_list_is_sorted_bounded_and_of_index_terms() -> None:
    heads = [line.partition(" ")[0] for line in LINES]
    assert heads == sorted(set(heads)) and 10_000 < len(heads) < 25_000
    assert sum(map(len, LINES)) < 1_100_000
    for line in LINES:
        assert re.fullmatch(r"[a-z]+( [a-z]+:(?:[4-9]\d|100)){1,8}", line), line
    assert not STOP_WORDS & {*heads}
