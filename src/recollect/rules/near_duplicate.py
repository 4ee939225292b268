"""Statements that are almost the same: how alike two texts are, and which words to look up to find them all."""

import difflib
import math
import re
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from recollect.rules.difference import Difference, differences_between
from recollect.rules.language.reading import Statement, read
from recollect.rules.text import terms

Compare = Literal["meaning", "literal"]
"""``meaning``: the terms of the text index and rapidfuzz. ``literal``: raw lower-cased words and difflib."""

_WORD = re.compile(r"\w+")
_ROUNDING = 1e-9
"""Floating-point noise: 0.07 × 100 is a little more than 7, and must not be taken for 8."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """How two texts compare.

    ``similar`` says that they are alike enough to look closer; ``same`` that nothing in them differs that matters.
    ``score`` is the overlap of their terms, or the likeness of their letters where only that was high enough.
    ``differences`` is empty, and says nothing, where they are not similar.
    """

    similar: bool
    same: bool
    score: float
    differences: tuple[Difference, ...] = ()


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The share of all the terms of both that both have (Jaccard): 1 for the same terms, 0 for none in common.

    >>> overlap(frozenset({"ana", "likes", "tea"}), frozenset({"ben", "likes", "tea"}))
    0.5
    """
    if not a and not b:
        return 0.0
    common = len(a & b)
    return common / (len(a) + len(b) - common)


def fewest_shared(n_terms: int, overlap: float) -> int:
    """How many of a text's distinct terms another one has at least, if they overlap by that much.

    The union is no smaller than our own set, so it is that share of it.

    >>> fewest_shared(5, 0.6)
    3
    """
    return max(1, math.ceil(overlap * n_terms - _ROUNDING))


def prefix_length(n_terms: int, overlap: float) -> int:
    """How many of a text's distinct terms to look up so that no text with that much overlap is missed.

    A text that overlaps by ``overlap`` lacks at most those that it need not share, so any one term more is bound to
    hit. Which terms are looked up makes no difference to that; the rarest find the fewest texts for nothing.

    >>> prefix_length(5, 0.6)
    3
    """
    if n_terms == 0:
        return 0
    return n_terms - fewest_shared(n_terms, overlap) + 1


def literal_terms(text: str) -> frozenset[str]:
    """The lower-cased words of a text as they stand, for the literal comparison."""
    return frozenset(_WORD.findall(text.lower()))


def sequence_ratio(a: str, b: str) -> float:
    """How alike the letters are, exactly as ``difflib`` counts on lower-cased text."""
    return difflib.SequenceMatcher(None, a.lower(), b.lower()).ratio()


def _literal_ratio(a: str, b: str, at_least: float) -> float:
    """``sequence_ratio``, or where it cannot reach ``at_least`` a cheap upper bound of it."""
    matcher = difflib.SequenceMatcher(None, a.lower(), b.lower())
    for bound in (matcher.real_quick_ratio, matcher.quick_ratio):
        if bound() < at_least:
            return bound()
    return matcher.ratio()


def _ratio(a: str, b: str, at_least: float, compare: Compare) -> float:
    if compare == "literal":
        return _literal_ratio(a, b, at_least)
    return Indel.normalized_similarity(a.lower(), b.lower(), score_cutoff=at_least)


def how_alike(
    old: str,
    new: str | Statement,
    old_terms: frozenset[str] | None = None,
    new_terms: frozenset[str] | None = None,
    *,
    overlap_min: float,
    ratio_min: float,
    compare: Compare = "meaning",
) -> NearDuplicate:
    """Whether two texts are near-duplicates, and whether they say the same thing.

    They are similar if their terms overlap by ``overlap_min`` or their letters are alike by ``ratio_min``, and the same
    if besides nothing that matters differs. A new text that is compared with many may be given as it was read. The
    terms are worked out unless they are given; given ones must be those of the comparison: ``rules.text.terms``, or
    ``literal_terms`` for the literal one.

    >>> how_alike("Ana is allergic to peanuts", "Ben is allergic to peanuts", overlap_min=0.5, ratio_min=0.7).same
    False
    """
    said = read(new) if isinstance(new, str) else new
    read_terms = literal_terms if compare == "literal" else _index_terms
    score = overlap(
        read_terms(old) if old_terms is None else old_terms, read_terms(said.text) if new_terms is None else new_terms
    )
    if score < overlap_min:
        ratio = _ratio(old, said.text, ratio_min, compare)
        if ratio < ratio_min:
            return NearDuplicate(similar=False, same=False, score=score)
        score = ratio
    differences = () if old == said.text else differences_between(read(old), said)
    return NearDuplicate(similar=True, same=not differences, score=score, differences=differences)


def _index_terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))
