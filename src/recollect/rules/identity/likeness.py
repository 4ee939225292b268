"""Compare statements for near-duplicates, choose the words to look them up by, and propose consolidations."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from recollect.model.canonical import Plain
from recollect.model.vocabulary import Authority
from recollect.rules.gates.classification import by_weight
from recollect.rules.identity.difference import Difference, differences_between, what_differs
from recollect.rules.language.marks import Aspect
from recollect.rules.language.reading import Statement, read
from recollect.rules.language.text import fold, terms

Compare = Literal["meaning", "literal"]
"""``meaning``: the terms of the text index and rapidfuzz. ``literal``: raw lower-cased words and difflib."""

_WORD = re.compile(r"\w+")
_ROUNDING = 1e-9
"""Floating-point noise: 0.07 × 100 is a little more than 7, and must not count as 8."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """How two texts compare.

    ``similar`` says that they are similar enough to look closer; ``same`` that no difference matters. ``score`` is the
    overlap of their terms, or the similarity of their letters where only that was high enough. ``differences`` is empty
    where they are not similar.
    """

    similar: bool
    same: bool
    score: float
    differences: tuple[Difference, ...] = ()


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Return the Jaccard index of two sets of terms: 1 for the same terms, 0 for none in common.

    >>> overlap(frozenset({"ana", "likes", "tea"}), frozenset({"ben", "likes", "tea"}))
    0.5
    """
    if not a and not b:
        return 0.0
    common = len(a & b)
    return common / (len(a) + len(b) - common)


def fewest_shared(n_terms: int, overlap: float) -> int:
    """Return the fewest of a text's distinct terms that another text shares if they overlap by ``overlap``.

    The union is no smaller than the text's own set, so it is that share of the set.

    >>> fewest_shared(5, 0.6)
    3
    """
    return max(1, math.ceil(overlap * n_terms - _ROUNDING))


def prefix_length(n_terms: int, overlap: float) -> int:
    """Return how many of a text's distinct terms to look up so that no text with that overlap is missed.

    An overlapping text lacks at most the terms it need not share, so one term more is bound to match. Any terms would
    do; the rarest find the fewest texts in vain.

    >>> prefix_length(5, 0.6)
    3
    """
    return n_terms - fewest_shared(n_terms, overlap) + 1 if n_terms else 0


def literal_terms(text: str) -> frozenset[str]:
    """Return the lower-cased words of a text, for the literal comparison."""
    return frozenset(_WORD.findall(text.lower()))


def sequence_ratio(a: str, b: str, at_least: float = 0.0) -> float:
    """Return how similar the letters of two texts are: ``difflib``'s ratio of the lower-cased texts, counting every
    letter.

    ``difflib`` itself ignores the frequent letters of a text of 200 characters or more (``autojunk``), which are nearly
    all. A ratio below ``at_least`` is returned as 0, and given up as soon as that is certain, since matching long texts
    takes milliseconds: the blocks that ``difflib`` matches are a common subsequence, so the longest one is an upper
    bound.
    """
    from rapidfuzz.distance import LCSseq  # takes 6 ms to import, and most texts have nothing near them

    a, b = a.lower(), b.lower()
    if a == b:
        return 1.0
    letters, matched, pending = len(a) + len(b), 0, [(a, b)]
    possible = {(a, b): LCSseq.similarity(a, b)}
    while pending:
        if 2.0 * (matched + sum(possible[pair] for pair in pending)) / letters < at_least:
            return 0.0
        one, other = pending.pop()
        in_one, in_other, size = _longest_match(one, other)
        matched += size
        ends = ((one[:in_one], other[:in_other]), (one[in_one + size :], other[in_other + size :]))
        for pair in ends if size else ():
            if possible.setdefault(pair, LCSseq.similarity(*pair)):
                pending.append(pair)
    return 2.0 * matched / letters


_FEW = 100
"""The length up to which parts are searched in the other text directly, without cutting it into parts first."""


def _longest_match(a: str, b: str) -> tuple[int, int, int]:
    """Return where the longest common part begins in each text, and its length; the earliest in ``a``, then in ``b``.

    >>> _longest_match("lighthouse", "house lights")
    (0, 6, 5)
    """
    start, size, too_long = 0, 0, min(len(a), len(b)) + 1
    while size + 1 < too_long:
        size_tried = min(2 * size + 1, (size + too_long) // 2)  # most common parts are short
        parts = b if len(a) < _FEW else {b[i : i + size_tried] for i in range(len(b) - size_tried + 1)}
        found = next((i for i in range(len(a) - size_tried + 1) if a[i : i + size_tried] in parts), None)
        if found is None:
            too_long = size_tried
        else:
            start, size = found, size_tried
    return start, b.index(a[start : start + size]), size


class Likeness(NamedTuple):
    """The similarity of two texts by both measures; ``ratio`` is 0 where it is below the minimum."""

    overlap: float
    ratio: float

    @property
    def score(self) -> float:
        return max(self)

    def is_duplicate(self, overlap_min: float, ratio_min: float) -> bool:
        return self.overlap >= overlap_min or self.ratio >= ratio_min


def likeness(old: str, new: str, ratio_min: float, compare: Compare = "literal") -> Likeness:
    """Compare two texts by both measures. The order counts: ``difflib``'s ratio is not symmetric."""
    return Likeness(overlap(_terms(old, compare), _terms(new, compare)), _ratio(old, new, ratio_min, compare))


PHRASE_BONUS = 0.3
RATIO_WEIGHT = 0.4


def search_score(query: str, text: str) -> float:
    """Return how well a text answers a query, by its words, the phrase itself and its letters; 0 without a common word.

    Both are folded first, so that "CAFE" finds "café".

    >>> round(search_score("dark mode", "Dark mode"), 6)
    1.7
    """
    query, text = fold(query), fold(text)
    query_terms, text_terms = literal_terms(query), literal_terms(text)
    if query_terms.isdisjoint(text_terms):
        return 0.0
    bonus = PHRASE_BONUS if query.strip() in text else 0.0
    return overlap(query_terms, text_terms) + bonus + RATIO_WEIGHT * sequence_ratio(query, text)


def _ratio(a: str, b: str, at_least: float, compare: Compare) -> float:
    if compare == "literal":
        return sequence_ratio(a, b, at_least)
    from rapidfuzz.distance import Indel  # see sequence_ratio

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
    """Return whether two texts are near-duplicates, and whether they say the same thing.

    They are similar if their terms overlap by ``overlap_min`` or their letters match by ``ratio_min``, and the same if
    also no difference matters. A new text that is compared with many may be passed as read. Terms are computed unless
    given; given ones must fit the comparison: ``rules.text.terms``, or ``literal_terms`` for the literal one.

    >>> how_alike("Ana is allergic to peanuts", "Ben is allergic to peanuts", overlap_min=0.5, ratio_min=0.7).same
    False
    """
    statement = read(new) if isinstance(new, str) else new
    before = _terms(old, compare) if old_terms is None else old_terms
    score = overlap(before, _terms(statement.text, compare) if new_terms is None else new_terms)
    if score < overlap_min:
        ratio = _ratio(old, statement.text, ratio_min, compare)
        if ratio < ratio_min:
            return NearDuplicate(similar=False, same=False, score=score)
        score = ratio
    differences = () if old == statement.text else differences_between(read(old), statement)
    return NearDuplicate(similar=True, same=not differences, score=score, differences=differences)


def _terms(text: str, compare: Compare) -> frozenset[str]:
    return literal_terms(text) if compare == "literal" else frozenset(terms(text))


MAX_SHARED = 3
"""The most shared words to require: the lists would be long, and the gain is small."""
FEW = 32
"""The number of candidates up to which all are compared: reading longer lists would cost more than it saves."""


def rarest_of(words: Iterable[str], frequencies: Mapping[str, int]) -> list[str]:
    """Return the words in lookup order, rarest first, ties by the word itself."""
    return sorted(words, key=lambda word: (frequencies.get(word, 0), word))


def lookup(
    words: Collection[str], frequencies: Mapping[str, int], overlap_min: float, max_postings: int
) -> tuple[list[str], int]:
    """Return the words to look up, and how many of them a candidate must share.

    Of the fewest words that must be looked up a near-duplicate shares at least one, and with each further word one
    more. More words mean longer lists but fewer candidates, so where candidates are many, words are added while the
    lists stay within the budget. Words that no other text has cost nothing and find nothing.

    >>> lookup(["ana", "allergi", "peanut"], {"ana": 90, "allergi": 40, "peanut": 1}, 0.6, 200)
    (['allergi', 'ana', 'peanut'], 2)
    """
    rarest = rarest_of(words, frequencies)
    fewest = prefix_length(len(rarest), overlap_min)
    chosen, shared_min = rarest[:fewest], 1
    for shared in range(2, min(len(rarest) - fewest + 1, MAX_SHARED) + 1):
        wider = rarest[: fewest + shared - 1]
        if _postings_of(chosen, frequencies) <= FEW or _postings_of(wider, frequencies) > max_postings:
            break
        chosen, shared_min = wider, shared
    return sorted(word for word in chosen if frequencies.get(word)), shared_min


def _postings_of(words: Iterable[str], frequencies: Mapping[str, int]) -> int:
    return sum(frequencies.get(word, 0) for word in words)


def similar_pairs(texts: Sequence[frozenset[str]], overlap_min: float) -> Iterator[tuple[int, int]]:
    """Yield the places of any two texts whose words overlap enough, the earlier place first.

    Two such texts share one of the few rarest words of each, so only texts that do are compared.

    >>> list(similar_pairs([frozenset({"ana", "tea"}), frozenset({"bees"}), frozenset({"ana", "tea"})], 0.6))
    [(0, 2)]
    """
    frequencies = Counter(word for words in texts for word in words)
    holders: dict[str, list[int]] = defaultdict(list)
    for later, words in enumerate(texts):
        rare = rarest_of(words, frequencies)[: prefix_length(len(words), overlap_min)]
        for earlier in sorted({place for word in rare for place in holders[word]}):
            if overlap(texts[earlier], words) >= overlap_min:
                yield earlier, later
        for word in rare:
            holders[word].append(later)


_DENIES = (Aspect.NEGATION, Aspect.OPPOSITE)
"""Memories with different keys contradict each other only if nothing but these sets them apart: another name or number
makes another fact."""


@dataclass(frozen=True, slots=True)
class Step(Plain):
    """A step that consolidation would take or, for ``outdated``, that a person has to decide.

    ``redundant``: it says the same as ``other``, which is better. ``related``, ``conflict``: the two are linked.
    ``rekey``: it gets the key that today's rules give. ``slot``: it keeps its key, and is found by the slot that
    today's rules read in it. ``contested``: today's rules give it and ``other`` one key, so they are linked as possibly
    outdated. ``move``: it is test data and goes to the namespace ``test``. ``outdated``: it may have replaced
    ``other``.
    """

    action: str
    id: str
    other: str | None
    detail: str


class Compared(NamedTuple):
    """An active memory as consolidation compares it."""

    id: str
    content: str
    authority: Authority
    importance: int
    number: int
    """Its place in the stream: the higher, the newer."""
    group: tuple[str | None, ...] = ()
    """Only memories of the same group are compared: none becomes redundant because of one hidden from its readers."""
    related: Collection[str] = ()
    conflicts: Collection[str] = ()
    """The memories it is linked to already."""


def preference_key(memory: Compared, order: Sequence[Authority]) -> tuple[tuple[int, int], int, str]:
    """Return the sort key that puts the best first: by authority, importance, recency and id."""
    return by_weight(memory.authority, memory.importance, order), -memory.number, memory.id


def propose_steps(
    best_first: Sequence[Compared],
    overlap_min: float,
    synonyms: Mapping[str, str],
    advance: Callable[[int], None] = lambda compared: None,
) -> list[Step]:
    """Return a step for each pair that shares enough words and is not linked yet. A redundant memory is not compared
    again.

    ``advance`` receives the number of memories compared so far.
    """
    words = [frozenset(terms(memory.content, synonyms)) for memory in best_first]
    steps: list[Step] = []
    redundant: set[str] = set()
    for better, worse in similar_pairs(words, overlap_min):
        advance(worse)
        best, other = best_first[better], best_first[worse]
        if best.group == other.group and redundant.isdisjoint((best.id, other.id)) and (step := compare(best, other)):
            steps.append(step)
            redundant |= {step.id} if step.action == "redundant" else set()
    return steps


def compare(best: Compared, other: Compared) -> Step | None:
    """Return the step for the lesser of two similar memories; ``None`` if they are linked already.

    >>> best = Compared("a", "The cache is enabled", Authority.USER_ASSERTED, 2, 1)
    >>> compare(best, best._replace(id="b", content="The cache is not enabled")).action
    'conflict'
    """
    differences = what_differs(best.content, other.content)
    if not differences:
        action, linked = "redundant", False
    elif all(difference.aspect in _DENIES for difference in differences):
        action, linked = "conflict", best.id in other.conflicts
    else:
        action, linked = "related", best.id in other.related
    return None if linked else Step(action, other.id, best.id, f"{other.content!r} ~ {best.content!r}")
