"""Which words to look up so that no near-duplicate is missed, and as few others as possible are found."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from recollect.rules.near_duplicate import overlap, prefix_length

MAX_SHARED = 3
"""More shared words than this are not asked for: the lists that it would take are long, and the gain is small."""


def rarest_of(words: Iterable[str], frequencies: Mapping[str, int]) -> list[str]:
    """The words in the order in which they are looked up: those that fewest others have first, ties by the word itself."""
    return sorted(words, key=lambda word: (frequencies.get(word, 0), word))


def lookup(
    words: Collection[str], frequencies: Mapping[str, int], overlap_min: float, max_postings: int
) -> tuple[list[str], int]:
    """The words to look up, and how many of them a candidate must share.

    Among the fewest words that must be looked up a near-duplicate shares at least one, and with each word more at
    least one more. More words mean longer lists to read but fewer candidates, so they are added for as long as the
    lists stay within the budget. Words that nobody else has cost nothing and can be shared with nobody.

    >>> lookup(["ana", "allergi", "peanut"], {"ana": 9, "allergi": 2, "peanut": 1}, 0.6, 100)
    (['allergi', 'ana', 'peanut'], 2)
    """
    rarest = rarest_of(words, frequencies)
    fewest = prefix_length(len(rarest), overlap_min)
    chosen, shared_min = rarest[:fewest], 1
    for shared in range(2, min(len(rarest) - fewest + 1, MAX_SHARED) + 1):
        wider = rarest[: fewest + shared - 1]
        if sum(frequencies.get(word, 0) for word in wider) > max_postings:
            break
        chosen, shared_min = wider, shared
    return sorted(word for word in chosen if frequencies.get(word)), shared_min


def similar_pairs(texts: Sequence[frozenset[str]], overlap_min: float) -> Iterator[tuple[int, int]]:
    """The places of any two texts whose words overlap by so much, the earlier place first.

    Two such texts share one of the few rarest words of each, so only whoever does is compared.

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
