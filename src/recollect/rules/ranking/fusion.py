"""Score how well a memory answers a question: one score, fused from named features.

The engine provides little, so that a few hundred candidates cost a few milliseconds: for each candidate the share that
each word of the question adds to its text score, its cosine, and the `Facts` of its row. Only a shortlist of the best
is scored again with its content (`score_contents`).

The weights of the features are the policy's ``ranking`` section (`model/policy.py`).

Scores are comparable within one question only: the best text match counts as 1 whatever it is. Whether a memory answers
the question at all is measured by `relevance`.

Everything passed in must be visible to the caller: a hidden neighbour must not lend its words.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from recollect.model.policy import Ranking
from recollect.model.vocabulary import Authority
from recollect.rules.language.text import stem, terms, words
from recollect.rules.ranking.question import Question
from recollect.rules.time.times import Span, covers, nearness
from recollect.rules.trust.vouch_weight import ENOUGH

Place: TypeAlias = tuple[int, int]
"""A stream and a number in it. Within a stream, a higher number was written later."""

DIGITS = 6
"""Scores are rounded before they are compared, so that a processor's last bit never decides an order."""

BY_TEXT = 32
BY_MEANING = 16
"""How many of the best by words and by meaning are candidates; twice as many gain nothing on the public sets."""
NEARBY = 0.3
"""The share of the best match's words that its neighbours must lend a turn without a word of its own."""
IN_CONTEXT = 2.0
"""The weight of a cosine from a model that reads a text as a whole: it tells "he quit the bank" from "he works at the
bank", which a sum of words cannot."""
NOT_THEN = 0.5
"""The share of its score that a memory loses if it did not hold at the time asked about, so that one that did and
answers nearly as well comes first."""
SAME_MEMBER = 0.4
"""The share of its words that an answer must have in common with a better one to name the same member of a list."""
LEAST_COVERED = 0.3
"""The weighted share of the question's words that the best match needs to count fully: words tell little where no
memory has more than "go" and "out" of a question.
"""
SHORTLIST = 40
"""How many of the best are scored again with their content."""


class Facts(NamedTuple):
    """What a candidate's row says. ``session`` is shared by its neighbours in a conversation."""

    session: str
    at: datetime
    authority: Authority
    speaker: str = ""
    entities: tuple[str, ...] = ()
    importance: int = 2
    vouchers: float = 0.0
    """The weight of its vouchers; 1 is the whole word of one relied upon."""
    pinned: bool = False
    canon: bool = False
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    is_insight: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The speaker, and the entities it is about."""
        return (self.speaker, *self.entities)

    @property
    def is_bounded(self) -> bool:
        """Whether it is known since when, or until when, it holds."""
        return self.valid_from is not None or self.valid_until is not None

    def held(self, spans: Sequence[Span]) -> bool:
        """Return whether it held in one of the spans, where its bounds are known."""
        return covers(self.valid_from, self.valid_until, spans)


class Evidence(NamedTuple):
    """What the indexes say, by place. A missing value counts as nothing."""

    text: Mapping[str, Mapping[Place, float]]
    """For each term of the question, what it adds to the BM25 score of the memories that contain it."""
    meaning: Mapping[Place, float]
    """Cosines."""
    relation: Mapping[Place, float]
    """The strongest relation to one of the best matches."""
    idf: Mapping[str, float] = MappingProxyType({})
    """The weight of each term of the question, including terms that no memory has."""
    similar: Mapping[str, Mapping[Place, float]] = MappingProxyType({})
    """For each term of the question, what words of similar meaning add."""
    bearing: Mapping[Place, float] = MappingProxyType({})
    """How much each memory is about what the question depends on, up to 1."""
    asked_for: Mapping[Place, float] = MappingProxyType({})
    """Where the question asks for everything known about a person: how much each memory belongs to that, up to 1."""
    reads_context: bool = False
    """Whether the cosines come from a model that reads a text as a whole."""


class Features(NamedTuple):
    """What each feature adds to the score, weights included. Their sum is the score."""

    text: float = 0.0
    similar_words: float = 0.0
    meaning: float = 0.0
    names: float = 0.0
    time: float = 0.0
    authority: float = 0.0
    importance: float = 0.0
    vouching: float = 0.0
    relation: float = 0.0
    pinned: float = 0.0
    canon: float = 0.0
    nearest_words: float = 0.0
    asks: float = 0.0
    bearing: float = 0.0
    asked_for: float = 0.0
    newness: float = 0.0
    earliness: float = 0.0
    not_then: float = 0.0
    insight: float = 0.0
    repeats: float = 0.0


def recall_reason(words: float, features: Mapping[str, float], *, of_then: bool = False) -> str:
    """Return the reason code of a recall: its words, the time asked for, a neighbour in the conversation, words of
    similar meaning, a relation to a match, or its meaning alone.
    """
    if features.get("asked_for"):
        return "about_the_person"
    if words or of_then:
        return "matches_query"
    if features.get("bearing"):
        return "bears_on_query"
    if features.get("text"):
        return "near_a_match"
    if features.get("similar_words"):
        return "has_similar_words"
    return "related_to_a_match" if features.get("relation") else "means_alike"


class Scored(NamedTuple):
    """A candidate with its score and the features that make it up."""

    place: Place
    score: float
    features: Features


def score_place(place: Place, features: Features) -> Scored:
    return Scored(place, round(sum(features), DIGITS), features)


def sort_scored(found: Iterable[Scored]) -> list[Scored]:
    """Return the candidates best first, ties by the older one."""
    return sorted(found, key=lambda item: (-item.score, item.place))


def add_neighbours(places: Iterable[Place], reach: int) -> list[Place]:
    """Return the places with all their possible neighbours, some of which may not exist or be of another session."""
    return sorted({(stream, number + step) for stream, number in places for step in range(-reach, reach + 1)})


def fuse(
    question: Question,
    evidence: Evidence,
    facts: Mapping[Place, Facts],
    weights: Ranking | None = None,
    meaning_min: float | None = None,
) -> list[Scored]:
    """Score the candidates in ``facts`` by everything but their content, and return them best first.

    Without vectors, words get the weight of vectors, so that what does not depend on the question (authority,
    importance) weighs no more than elsewhere. With a ``meaning_min``, a candidate is left out if it has no word of the
    question, no neighbours that lend enough of theirs, no cosine that high, no relation to a match, and is not of the
    only time asked for.
    """
    weights = weights or Ranking()
    own = text_scores(question, evidence.text, facts, weights.lent)
    texts = own
    if evidence.similar:
        texts = text_scores(question, _add_similar(evidence.text, evidence.similar), facts, weights.lent)
    named = {who: names_any(question, who) for who in {known.named for known in facts.values()}}
    counts_authority = not question.asks_the_assistant
    best = max(texts.values(), default=0.0) or 1.0
    instead = 0.0 if evidence.meaning else weights.meaning + weights.nearest_words
    by_meaning = weights.meaning * (IN_CONTEXT if evidence.reads_context else 1.0)
    counts = (weights.text + instead) * min(1.0, _share_covered(evidence) / LEAST_COVERED)
    if meaning_min is not None:
        nearby = {place for place, text in texts.items() if text / best >= NEARBY}
        alike = {place for place, cosine in evidence.meaning.items() if cosine >= meaning_min}
        then = {place for place, known in facts.items() if is_of_then(question, known.at)}
        more = evidence.relation, evidence.bearing, evidence.asked_for
        kept_places = nearby.union(alike, then, *more, *evidence.text.values())
        facts = {place: known for place, known in facts.items() if place in kept_places}
    found = (
        score_place(
            place,
            Features(
                text=counts * own.get(place, 0.0) / best,
                similar_words=counts * (texts.get(place, 0.0) - own.get(place, 0.0)) / best,
                meaning=by_meaning * max(evidence.meaning.get(place, 0.0), 0.0),
                names=weights.names * named[known.named],
                time=weights.time * timeliness(question, known) if question.spans else 0.0,
                authority=weights.authority * (counts_authority and known.authority is not Authority.AI_INFERRED),
                importance=weights.importance * ((known.importance - 1) / 4),
                vouching=weights.vouching * (min(known.vouchers, ENOUGH) / ENOUGH),
                relation=weights.relation * evidence.relation.get(place, 0.0),
                pinned=weights.pinned * known.pinned,
                canon=weights.canon * known.canon,
                bearing=weights.bearing * evidence.bearing.get(place, 0.0),
                asked_for=weights.asked_for * evidence.asked_for.get(place, 0.0),
                insight=weights.insight * known.is_insight,
            ),
        )
        for place, known in facts.items()
    )
    return sort_scored(_apply_not_then(question, item, facts[item.place]) for item in found)


def timeliness(question: Question, known: Facts) -> float:
    """Return 1 for a memory that held at a time the question names; if unknown, how near to it it was written."""
    return float(known.held(question.spans)) if known.is_bounded else nearness(known.at, question.spans)


def _apply_not_then(question: Question, item: Scored, known: Facts) -> Scored:
    """Return the candidate with a lower score, if it is known not to have held at the time asked about."""
    if not known.is_bounded or not question.asked_about or known.held(question.asked_about):
        return item
    return score_place(item.place, item.features._replace(not_then=-NOT_THEN * max(item.score, 0.0)))


def is_of_then(question: Question, at: datetime) -> bool:
    """Return whether a memory is of the time that a question asks for, if it asks for nothing else."""
    return question.asks_for_a_time and nearness(at, question.spans) == 1.0


def _share_covered(evidence: Evidence) -> float:
    """Return the largest weighted share of the question's words that one memory has; a similar word counts half.

    Without weights it is 1.
    """
    whole = sum(evidence.idf.values())
    if not whole:
        return 1.0
    had: dict[Place, float] = {}
    for term, idf in evidence.idf.items():
        own, similar = evidence.text.get(term, {}), evidence.similar.get(term, {})
        for place in {**own, **similar}:
            had[place] = had.get(place, 0.0) + (idf if place in own else idf / 2)
    return max(had.values(), default=0.0) / whole


def text_scores(
    question: Question, text: Mapping[str, Mapping[Place, float]], facts: Mapping[Place, Facts], lent: Sequence[float]
) -> dict[Place, float]:
    """Return the text scores of the candidates, counting the words of their neighbours in the session.

    In a conversation the words of a question are often spread over a few turns: one asks "how was Lisbon?", the next
    says "wonderful". So a word in a nearby turn counts for a turn as its own, only less, and once however many
    neighbours say it.
    """
    return add_up((text.get(term, {}) for term in text_terms(question, facts.values())), facts, lent)


def add_up(
    each: Iterable[Mapping[Place, float]], facts: Mapping[Place, Facts], lent: Sequence[float]
) -> dict[Place, float]:
    """Return the sum of what each word adds to each candidate, where neighbours in a conversation lend theirs."""
    total: dict[Place, float] = {}
    for shares in each:
        for place, share in _with_neighbours(shares, facts, lent).items():
            total[place] = total.get(place, 0.0) + share
    return total


def _add_similar(
    text: Mapping[str, Mapping[Place, float]], similar: Mapping[str, Mapping[Place, float]]
) -> dict[str, dict[Place, float]]:
    total = {term: dict(shares) for term, shares in text.items()}
    for term, shares in similar.items():
        of_term = total.setdefault(term, {})
        for place, share in shares.items():
            of_term[place] = of_term.get(place, 0.0) + share
    return total


def text_terms(question: Question, candidates: Iterable[Facts]) -> tuple[str, ...]:
    """Return the question's terms without the names of the speakers.

    In a talk between Ana and Ben, "Ana" is what Ben says: her name in a text points away from what she said. Speakers'
    names are a feature of their own.
    """
    speakers = {known.speaker for known in candidates}
    spoken = {stem(word) for speaker in speakers for word in words(speaker)}
    return tuple(term for term in question.terms if term not in spoken) or question.terms


def _with_neighbours(
    shares: Mapping[Place, float], facts: Mapping[Place, Facts], lent: Sequence[float]
) -> dict[Place, float]:
    best = {place: share for place, share in shares.items() if place in facts}
    for (stream, number), share in shares.items():
        lender = facts.get((stream, number))
        if lender is None:
            continue
        for distance, part in enumerate(lent, start=1):
            for neighbour in ((stream, number - distance), (stream, number + distance)):
                known = facts.get(neighbour)
                if known and known.session == lender.session and best.get(neighbour, 0.0) < part * share:
                    best[neighbour] = part * share
    return best


def names_any(question: Question, named: Sequence[str]) -> bool:
    """Return whether the question contains one of the names as a whole."""
    return any(name_words and question.words.issuperset(name_words) for name_words in map(words, named))


def relevance(
    question: Question, idf: Mapping[str, float], own_terms: Iterable[str], cosine: float, *, of_then: bool = False
) -> float:
    """Return how likely it is, from 0 to 1, that a memory is about the question at all: a measure for a threshold.

    It is the weighted share of the question's words that the memory has itself, or its cosine, whichever is greater;
    and 1 for a memory of the only time that the question asks for.

    >>> from datetime import UTC
    >>> from recollect.rules.ranking.question import read_question
    >>> asked = read_question("gluten diet", datetime(2024, 5, 3, tzinfo=UTC))
    >>> relevance(asked, {"gluten": 3.0, "diet": 1.0}, ["gluten"], cosine=0.2)
    0.75
    """
    if of_then:
        return 1.0
    total = sum(idf.get(term, 0.0) for term in question.terms)
    had = sum(idf.get(term, 0.0) for term in {*own_terms} & {*question.terms})
    return round(max(had / total if total else 0.0, cosine), DIGITS)


def worth_reading(ranked: Sequence[Scored], wanted: int, weights: Ranking, *, by_vectors: bool = False) -> list[Scored]:
    """Return the candidates that may be among the best ``wanted`` once their content is scored, `SHORTLIST` at most.

    A candidate further behind than content can make up for is left out. Without vectors content adds little.
    """
    nearest = weights.nearest_words if by_vectors else 0.0
    reach = abs(weights.asks) + nearest + 10**-DIGITS
    last = ranked[wanted - 1].score if len(ranked) > wanted else -math.inf
    return [item for item in ranked[: max(SHORTLIST, wanted)] if item.score >= last - reach]


def score_contents(
    best: Sequence[Scored],
    contents: Mapping[Place, str],
    weights: Ranking | None = None,
    nearest: Mapping[Place, float] = MappingProxyType({}),
) -> list[Scored]:
    """Score the best again with their content, and return them best first.

    ``nearest`` holds how near the words of each are to those of the question (`nearest_words`).
    """
    weights = weights or Ranking()
    return sort_scored(
        score_place(
            item.place,
            item.features._replace(
                nearest_words=weights.nearest_words * nearest.get(item.place, 0.0),
                asks=weights.asks * asks(contents[item.place]),
            ),
        )
        for item in best
    )


def members_first(question: Question, best: Sequence[Scored], contents: Mapping[Place, str]) -> list[Scored]:
    """Return the ranking with memories that only repeat a better one moved behind the others.

    A question for all members of something ("which cities?") needs a new member from each of the first answers. Two
    answers that share most of their words, the question's aside, name the same member. The best stays the best.
    """
    asked = frozenset(question.terms)
    own_terms = {item.place: frozenset(terms(contents[item.place])) - asked for item in best}
    kept: list[Scored] = []
    repeated: list[Scored] = []
    for item in best:
        own = own_terms[item.place]
        again = any(len(own & own_terms[other.place]) >= SAME_MEMBER * len(own) for other in kept)
        (repeated if again else kept).append(item)
    if not repeated:
        return list(best)
    floor = kept[-1].score - 10**-DIGITS
    behind = (item._replace(features=item.features._replace(repeats=min(floor - item.score, 0.0))) for item in repeated)
    return sort_scored([*kept, *(score_place(item.place, item.features) for item in behind)])


def asks(content: str) -> float:
    """Return 1 if a text ends with a question: the answer is what follows it."""
    return float(content.rstrip().endswith("?"))
