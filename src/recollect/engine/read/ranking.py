"""Rank the memories that answer a question best, each with the features that make up its score.

Access comes first: only memories that the caller may see are scored, so that no hidden memory lends weight or moves a
score. Everything is bounded: postings read, candidates compared, contents loaded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, NamedTuple

from recollect.embed.protocol import reads_context
from recollect.embed.static import shared_static_embedder
from recollect.engine.context import Engine
from recollect.engine.read.meaning import Likeness, PreparedQuestion, likeness
from recollect.engine.read.text_search import MOSTLY_ENOUGH, TextScores, TextSearch
from recollect.engine.trust.vouching import weights_of
from recollect.engine.write.relations import Edges, edges, strongest
from recollect.model.canonical import format_time, parse_time
from recollect.model.vocabulary import SHARED, Authority, Kind, KindClass, Source, Space, Tier
from recollect.rules.language.findable import Naming, asks_for_everything
from recollect.rules.language.text import stem, words
from recollect.rules.language.text import terms as index_terms
from recollect.rules.ranking.closeness import RERANKED
from recollect.rules.ranking.fusion import (
    BY_MEANING,
    BY_TEXT,
    DIGITS,
    Evidence,
    Facts,
    Place,
    Scored,
    add_neighbours,
    add_up,
    fuse,
    is_of_then,
    members_first,
    recall_reason,
    relevance,
    score_contents,
    text_terms,
    worth_reading,
)
from recollect.rules.ranking.nearest_words import nearest_words
from recollect.rules.ranking.newness import LOOKED_AT, order_in_time, statement
from recollect.rules.ranking.question import Question
from recollect.rules.ranking.selection import Concept, Holder, support
from recollect.rules.time.times import Span
from recollect.stores.protocol import Comparison, Contender, Reader, Relation, Selection, Stored, Stream

LEADING = 10
"""How many of the best by words lend weight to related memories, and half as many by meaning."""
BY_BEARING = 16
"""How many candidates come in because they are about what the question depends on."""
BEARS = 0.5
"""The relevance of such a candidate."""
IMPORTANT = 4
"""The importance from which a memory about a person comes before others."""
OTHERWISE_KNOWN = 0.5
"""The share of a memory about a person that is no profile fact, not canon and not pinned."""
NEARLY_ALIKE = 128
"""Among how many of the nearest by meaning the store looks at once for visible ones."""
NAMES_READ = 200
"""How many memories at a time have their names read, where only named memories are recalled."""


class Ranked(NamedTuple):
    """A memory that answers the question, and why it ranks where it does."""

    place: Place
    space: Space
    row: Contender
    score: float = 0.0
    """How well it answers, compared with others for the same question: the sum of ``features``."""
    relevance: float = 0.0
    """The likelihood, from 0 to 1, that it is about the question at all; compared with a threshold."""
    words: float = 0.0
    """Its score by its own words alone, comparable between rankings of the same question."""
    features: Mapping[str, float] = MappingProxyType({})
    reason: str = ""
    """The reason code of its recall."""
    shadowed: tuple[str, ...] = ()
    """The ids of memories of the same concept that it replaces in the answer."""
    relations: Sequence[Relation] | None = None
    """Its relations to other memories; ``None`` if they were not read."""
    updates: tuple[Place, ...] = ()
    """The other memories of the answer that it may outdate."""
    is_successor: bool = False
    """Whether it is in the answer only since it may outdate a memory there, for a stated reason."""
    support: float = 0.0
    """How much it supports an answer, from 0 to 1: whether it has both the names asked about and what is asked."""
    asks_what_holds: bool = False
    """Whether the question asks for the present state, which an update answers better than what it updates."""

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def is_a_guess(self) -> bool:
        return self.row.authority == Authority.AI_INFERRED

    @property
    def holder(self) -> Holder:
        """What decides whether it or another memory of the same concept is recalled."""
        row = self.row
        return Holder(row.id, concept(row), _AUTHORITIES[row.authority], self.space, row.scope, self.place)


def concept(row: Contender) -> Concept:
    """Return the concept of a memory: only others of the same concept can replace it in an answer."""
    return row.kind_class, row.key_identity


class Former:
    """The superseded versions near a question, by the active memory that took their place.

    "Pipelines run in GitHub Actions, CircleCI is gone" hardly answers what the CI system is, but the memory that it replaced
    did. So a superseded version that is near a question speaks for the active one of its chain: its cosine, its words and
    its terms count as that one's own where they are nearer. The version itself is not returned, and nothing is stored for it.
    """

    def __init__(self, reader: Reader, tenant: str, near: Sequence[Place]) -> None:
        live_versions = reader.live_versions(tenant, near)
        self.contents = reader.contents(tenant, sorted(live_versions)) if live_versions else {}
        """What they say."""
        self._of: dict[Place, list[Place]] = {}
        for superseded in sorted(self.contents):
            self._of.setdefault(live_versions[superseded], []).append(superseded)

    @property
    def successors(self) -> Sequence[Place]:
        """The active memories that took their place."""
        return list(self._of)

    def with_own(self, place: Place) -> Sequence[Place]:
        """Return a memory, followed by those whose place it took."""
        return place, *self._of.get(place, ())

    def terms(self, place: Place) -> frozenset[str]:
        """Return the index terms of those whose place a memory took."""
        return frozenset(term for former in self._of.get(place, ()) for term in index_terms(self.contents[former]))

    def cosines(self, meaning: Likeness, places: Iterable[Place]) -> dict[Place, float]:
        """Return the cosine of each memory that has a vector, or that of a nearer one whose place it took."""
        versions = {place: self.with_own(place) for place in places}
        found = meaning.cosines([*dict.fromkeys(one for each in versions.values() for one in each)])
        known = {place: [found[one] for one in each if one in found] for place, each in versions.items()}
        return {place: max(likes) for place, likes in known.items() if likes}

    def nearest(self, shares: Mapping[str, Mapping[Place, float]], places: Iterable[Place]) -> dict[Place, Place]:
        """Return for each memory whose words are nearest to the question: its own, or of one whose place it took.

        ``shares`` says what each word of the question adds to each of them.
        """
        return {
            place: max(self.with_own(place), key=lambda one: sum(of_word.get(one, 0.0) for of_word in shares.values()))
            for place in places
        }


class _Search(NamedTuple):
    """A question to the memories of some streams, with its text scores, its vectors and the reader of candidates."""

    engine: Engine
    reader: Reader
    streams: Sequence[Stream]
    prepared: PreparedQuestion
    text_search: TextSearch
    text: TextScores
    meaning: Likeness | None
    candidates: "_CandidateReader"
    most: int
    named: Mapping[Place, Facts] | None
    """The memories that the question names, if only these are recalled."""
    topic: Sequence[tuple[Place, float]]
    """The memories about what the question depends on, best first, with their text scores."""

    @property
    def question(self) -> Question:
        return self.prepared.question


class _Candidates(NamedTuple):
    """The candidates and their facts, the relations of the few best, and the strength of each relation."""

    text: TextScores
    """The text scores that finally found them."""
    facts: dict[Place, Facts]
    relations: Edges
    related: Mapping[Place, float]
    former: Former


def rank_memories(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    prepared: PreparedQuestion,
    most: int,
    selection: Selection,
) -> list[Ranked]:
    """Return the memories of these streams that answer a question best and fit the selection, best first."""
    question = prepared.question
    text_search = TextSearch(engine, reader, streams, question.terms, prepared.similar)
    text = text_search.scores()
    if prepared.named_only and not text.complete:
        text = text_search.among(text, selection)
    meaning = likeness(engine, reader, streams, prepared)
    candidates = _CandidateReader(reader, engine.tenant, streams, selection)
    named = _find_named(engine, reader, candidates, text.best_first(), prepared.text) if prepared.named_only else None
    topic = _find_on_topic(engine, reader, candidates, question) if named is None else []
    search = _Search(engine, reader, streams, prepared, text_search, text, meaning, candidates, most, named, topic)
    text, facts, relations, related, former = _gather_candidates(search)
    bearing, asked_for = _find_bearing(search), _find_asked_for(search)
    facts |= candidates.at((*bearing, *asked_for))
    facts |= _weigh_vouchers(search, facts)
    cosines = former.cosines(meaning, facts) if meaning else {}
    idf = {term: text.idf[term] for term in question.terms if term in text.idf}
    in_context = reads_context(prepared.embedder)
    evidence = Evidence(text.shares(facts), cosines, related, idf, text.widened(facts), bearing, asked_for, in_context)
    best = _score_candidates(search, evidence, facts, former)
    ranked = [_to_ranked(question, text.idf, evidence, item, candidates) for item in best[:most]]
    supports = _measure_support(search, evidence, ranked, former)
    return [
        item._replace(relations=relations.get(item.place), support=value, asks_what_holds=question.asks_what_holds)
        for item, value in zip(ranked, supports, strict=True)
    ]


def _measure_support(search: _Search, evidence: Evidence, ranked: Sequence[Ranked], former: Former) -> list[float]:
    """Return how much each memory supports an answer: by the question's words it has, and by cosine where there are
    vectors.

    A memory that belongs to everything asked for, or bears on the question, supports it whatever its words are.
    """
    question, aspect, like = search.question, search.prepared.aspect, {}
    if search.meaning is not None:
        asked = None if aspect is None else search.prepared._replace(codes=aspect)
        meaning = likeness(search.engine, search.reader, search.streams, asked) if asked else None
        like = former.cosines(meaning or search.meaning, [item.place for item in ranked])
    idf, anyway = search.text.idf, {**evidence.bearing, **evidence.asked_for}
    return [
        max(
            support(question, idf, _find_matched_terms(question, evidence, former, item), like.get(item.place, 0.0)),
            anyway.get(item.place, 0.0),
        )
        for item in ranked
    ]


def _find_matched_terms(question: Question, evidence: Evidence, former: Former, item: Ranked) -> set[str]:
    """Return the terms of the question that a memory or one whose place it took has, and the names in the question that
    are its speaker's.
    """
    speaker = {stem(word) for word in words(item.row.actor_id or item.row.user_id or "")}
    found = {term for term, having in evidence.text.items() if item.place in having} | (question.named & speaker)
    return found | former.terms(item.place).intersection(question.terms)


def _gather_candidates(search: _Search) -> _Candidates:
    """Return the best by words and by meaning, the memories related to them, and their neighbours in a conversation.

    Where only named memories are recalled, they are searched by words alone.
    """
    engine, reader, candidates, text = search.engine, search.reader, search.candidates, search.text
    settings = engine.policy.ranking
    ranking = text.best_first() if search.named is None else iter(search.named)
    near = _nearest(search.meaning, BY_MEANING, settings.meaning_min) if search.named is None else []
    by_words = max(BY_TEXT, 2 * search.most)
    likely_read = list(islice(ranking, max(by_words, MOSTLY_ENOUGH)))
    first, ranking = likely_read[:by_words], chain(likely_read, ranking)
    topic = [place for place, _ in search.topic[:BY_BEARING]]
    further = _nearest(search.meaning, NEARLY_ALIKE, settings.meaning_min) if near else []
    candidates.announce(
        (*first, *near, *topic),
        [(by_words, likely_read), (BY_MEANING, further)],
        len(settings.lent),
        engine.sight.scopes or (SHARED,),
        versions=bool(search.question.spans),
    )
    likely = edges(engine, reader, [*dict.fromkeys((*first[:LEADING], *near[: LEADING // 2]))])
    candidates.at((*first, *near))  # mostly enough, and announced above
    facts = candidates.first(ranking, by_words)
    if len(facts) < min(by_words, len(text)) and not text.complete:  # hidden memories used up the budget of postings
        text = search.text_search.among(text, candidates.selection)
        facts = candidates.first(text.best_first(), by_words)
    facts |= candidates.most_alike(search.meaning, near, settings.meaning_min)
    former = Former(reader, engine.tenant, near if engine.policy.identity.found_by_former else [])
    facts |= candidates.at(former.successors)
    if search.question.asks_for_a_time and search.named is None:
        facts |= candidates.within(search.question.spans, by_words)
    relations = _read_relations(engine, reader, _select_few_best(text, search.meaning, facts), likely())
    related = strongest(relations)
    facts |= candidates.at(place for place in related if place not in facts)
    facts |= candidates.around(facts, len(settings.lent))
    return _Candidates(text, facts, relations, related, former)


def _names(streams: Sequence[Stream]) -> tuple[str, ...]:
    """Return the words of the owner's name if the streams belong to one person."""
    owners = {s.address.owner for s in streams if s.address is not None and s.address.space is Space.USER}
    return words(next(iter(owners))) if len(owners) == 1 else ()


def _find_on_topic(
    engine: Engine, reader: Reader, candidates: "_CandidateReader", question: Question
) -> list[tuple[Place, float]]:
    """Return the memories with words of what the question depends on, best first."""
    terms = question.depends_on
    if not terms:
        return []
    text_search = TextSearch(engine, reader, candidates.streams, terms, {})
    found = text_search.scores()
    if not found.complete:
        found = text_search.among(found, candidates.selection)
    return [(place, found.score(place)) for place in found.best_first()]


def _find_bearing(search: _Search) -> dict[Place, float]:
    """Return the memories about what the question depends on, and how much, up to 1."""
    scores = dict(search.topic)
    bearing = search.candidates.first(iter(scores), BY_BEARING)
    best = max((scores[place] for place in bearing), default=0.0)
    return {place: round(scores[place] / best, DIGITS) for place in bearing}


def _find_asked_for(search: _Search) -> dict[Place, float]:
    """Return the memories about a person where everything known is asked for, and how much each belongs to it."""
    most, candidates = search.most, search.candidates
    asks_for_all = asks_for_everything(search.prepared.text, _names(search.streams))
    if search.question.spans or search.named is not None or not asks_for_all:
        return {}
    sorts = {"kind": Kind.PROFILE}, {"pinned": 1}, {"tier": Tier.CANON}
    found = dict.fromkeys((place for sort in sorts for place in candidates.newest_of(most, **sort)), 1.0)
    for least, share in ((IMPORTANT, OTHERWISE_KNOWN), (1, OTHERWISE_KNOWN / 2)):
        more = candidates.newest_of(most, least) if len(found) < most else []
        found |= {place: share for place in more if place not in found}
    return found


def _weigh_vouchers(search: _Search, facts: Mapping[Place, Facts]) -> dict[Place, Facts]:
    """Return the facts of the candidates that have vouchers, with the weight of these."""
    rows = search.candidates.rows
    vouchers = {place: row.vouchers for place, row in rows.items() if row.vouchers != "[]" and place in facts}
    weights = weights_of(search.engine, search.reader, search.streams, vouchers)
    return {place: facts[place]._replace(vouchers=weight) for place, weight in weights.items()}


def _score_candidates(
    search: _Search, evidence: Evidence, facts: Mapping[Place, Facts], former: Former
) -> list[Scored]:
    """Score all candidates by their facts, then a shortlist again by its contents; return them best first."""
    settings, question, named = search.engine.policy.ranking, search.question, search.named
    scored = fuse(question, evidence, facts, settings, settings.meaning_min)
    scored = scored if named is None else [item for item in scored if item.place in named]
    by_vectors = search.meaning is not None and bool(settings.nearest_words)
    shortlist = worth_reading(scored, max(search.most, LOOKED_AT), settings, by_vectors=by_vectors)
    contents = search.reader.contents(search.engine.tenant, [item.place for item in shortlist])
    nearest = _nearest_words(search, facts, contents, former) if by_vectors else {}
    best = score_contents([item for item in shortlist if item.place in contents], contents, settings, nearest)
    if settings.newest_first and question.time_decides:
        best = _order_by_time(search, best, facts, contents)
    if question.asks_for_members and all(facts[item.place].session == _own_session(item.place) for item in best):
        best = members_first(question, best, contents)
    return best


def _nearest_words(
    search: _Search, facts: Mapping[Place, Facts], contents: Mapping[Place, str], former: Former
) -> dict[Place, float]:
    """Return how near the words of these contents are to those of the question."""
    asked = text_terms(search.question, facts.values())
    idf = {term: search.text.idf[term] for term in asked if term in search.text.idf}
    read = {**former.contents, **contents}
    found = nearest_words(search.prepared.text, idf, list(read.values()), shared_static_embedder().word_vectors)
    shares = {word: dict(zip(read, of_word, strict=True)) for word, of_word in found.items()}
    nearest = former.nearest(shares, contents)
    each = ({place: of_word[best] for place, best in nearest.items()} for of_word in shares.values())
    return add_up(each, {place: facts[place] for place in contents}, search.engine.policy.ranking.lent)


def _find_named(
    engine: Engine, reader: Reader, candidates: "_CandidateReader", ranking: Iterator[Place], text: str
) -> dict[Place, Facts]:
    """Return the visible memories of a ranking that the text names, in order.

    The names of an entity are indexed words, so every named memory is in the ranking, however low.
    """
    naming = Naming(text, engine.policy.text.synonyms)
    named: dict[Place, Facts] = {}
    while chunk := list(islice(ranking, NAMES_READ)):
        about = reader.entities(engine.tenant, chunk)
        named |= candidates.at(place for place in chunk if naming.has_any(about.get(place, ())))
    return named


def _select_few_best(found: TextScores, meaning: Likeness | None, facts: Mapping[Place, Facts]) -> list[Place]:
    """Return the memories whose relations count: the best by words and the best by meaning."""
    like = meaning.cosines(list(facts)) if meaning else {}
    by_words = nsmallest(LEADING, [(-score, place) for place in facts if (score := found.score(place))])
    by_meaning = nsmallest(LEADING // 2, [(-cosine, place) for place, cosine in like.items()])
    return sorted({place for _, place in (*by_words, *by_meaning)})


def _read_relations(engine: Engine, reader: Reader, places: Sequence[Place], known: Edges) -> Edges:
    """Return the relations of these memories, reading only unknown ones."""
    more = edges(engine, reader, [place for place in places if place not in known])()
    return {place: (known if place in known else more)[place] for place in places}


def _to_ranked(
    question: Question, idf: Mapping[str, float], evidence: Evidence, item: Scored, candidates: "_CandidateReader"
) -> Ranked:
    own = {term: of_term[item.place] for term, of_term in evidence.text.items() if item.place in of_term}
    features = {name: round(value, 9) for name, value in item.features._asdict().items() if value}
    row, space = candidates.rows[item.place], candidates.spaces[item.place[0]]
    of_then, by_words = is_of_then(question, parse_time(row.created_at)), sum(own.values())
    sure = relevance(question, idf, own, max(evidence.meaning.get(item.place, 0.0), 0.0), of_then=of_then)
    sure = max(sure, evidence.asked_for.get(item.place, 0.0), BEARS * evidence.bearing.get(item.place, 0.0))
    reason = recall_reason(by_words, features, of_then=of_then)
    return Ranked(item.place, space, row, item.score, sure, by_words, features, reason)


class _CandidateReader:
    """Reads the candidates of some streams that fit the selection."""

    def __init__(self, reader: Reader, tenant: str, streams: Sequence[Stream], selection: Selection) -> None:
        self._reader, self._tenant, self.streams, self.selection = reader, tenant, streams, selection
        self.spaces = {stream.number: stream.address.space for stream in streams if stream.address is not None}
        self.rows: dict[Place, Contender] = {}
        """The candidates that were read and fit."""
        self._known: dict[Place, Facts | None] = {}

    def at(self, places: Iterable[Place]) -> dict[Place, Facts]:
        """Return the facts of the memories at these places, leaving out other streams."""
        reachable = [place for place in places if place[0] in self.spaces and place[1] > 0]
        self._look_up([place for place in reachable if place not in self._known])
        return {place: facts for place in reachable if (facts := self._known[place]) is not None}

    def announce(
        self,
        places: Sequence[Place],
        rankings: Sequence[tuple[int, Sequence[Place]]],
        reach: int,
        scopes: Sequence[str],
        *,
        versions: bool,
    ) -> None:
        """Announce what will be read: these places, the first of each ranking that fit, and what belongs to them.

        That is their neighbours in a conversation, other memories that may hold their keys and, if asked for,
        ``versions``.
        """
        streams = [stream.number for stream in self.streams]
        hidden = self.selection.scopes is not None or self.selection.categories is not None
        comparison = Comparison(
            [*dict.fromkeys(places)],
            self.selection,
            rankings,
            reach,
            sessions=[number for number, space in self.spaces.items() if space is Space.SESSION],
            streams=streams if len(streams) > 1 or len(scopes) > 1 else (),
            scopes=scopes,
            links=versions or hidden,
        )
        self._reader.announce_comparison(self._tenant, comparison)

    def _look_up(self, places: Sequence[Place]) -> None:
        rows = self._reader.candidates(self._tenant, places, self.selection) if places else {}
        facts = {place: _facts(place, row, self.spaces[place[0]]) for place, row in rows.items()}
        self._known |= dict.fromkeys(places) | facts
        self.rows |= {place: row for place, row in rows.items() if facts[place] is not None}

    def first(self, ranking: Iterator[Place], count: int) -> dict[Place, Facts]:
        """Return the first ``count`` visible memories of a ranking, in ever larger chunks where few are visible."""
        best: dict[Place, Facts] = {}
        waiting: list[Place] = []
        size = count
        while len(best) < count and (waiting or (waiting := list(islice(ranking, size)))):
            chunk = self._reader.at_hand(waiting, self.selection) or waiting
            best |= islice(self.at(chunk).items(), count - len(best))
            waiting, size = waiting[len(chunk) :], size * 2
        return best

    def most_alike(self, meaning: Likeness | None, near: Sequence[Place], least: float) -> dict[Place, Facts]:
        """Return the nearest by meaning. If few of them are visible, compare all visible memories instead."""
        best = self.first(iter(near), BY_MEANING)
        if meaning is None or len(best) == BY_MEANING or len(near) < BY_MEANING:
            return best
        nearest = _nearest(meaning, RERANKED, least)
        best = self.first(iter(nearest), BY_MEANING)
        if len(best) >= BY_MEANING or len(nearest) < RERANKED or len(meaning) <= RERANKED:
            return best
        fitting = [(s.number, n) for s in meaning.streams for n in self._reader.fitting(s, self.selection)]
        return self.at(place for place, _ in meaning.nearest_of(fitting, BY_MEANING, least))

    def within(self, spans: Sequence[Span], count: int) -> dict[Place, Facts]:
        """Return the newest memories of each span of time, ``count`` for each."""
        numbers = tuple(stream.number for stream in self.streams)
        found: list[Stored] = []
        for span in spans:
            ranges = (("created_at", ">=", format_time(span.start)), ("created_at", "<", format_time(span.end)))
            then = replace(self.selection, streams=numbers, ranges=(*self.selection.ranges, *ranges))
            found += self._reader.select(self._tenant, then, count)
        return self.at((stored.stream, stored.number) for stored in found)

    def newest_of(self, count: int, least_important: int = 1, **sort: Any) -> list[Place]:
        """Return the newest memories of a sort that are important enough, without lines of a conversation."""
        equal = dict(self.selection.equal)
        kinds = equal.get("kind", tuple(Kind))
        equal["kind"] = tuple(kind for kind in kinds if kind not in (Kind.SHORT_TERM, Kind.EPISODIC))
        for name, value in sort.items():
            given = equal.get(name, value)
            if value not in (given if isinstance(given, tuple) else (given,)):
                return []
            equal[name] = value
        numbers = tuple(stream.number for stream in self.streams)
        matters = (("importance", ">=", least_important),) if least_important > 1 else ()
        these = replace(self.selection, streams=numbers, equal=equal, ranges=(*self.selection.ranges, *matters))
        found = self._reader.select(self._tenant, these, count)
        return [(stored.stream, stored.number) for stored in found]

    def around(self, facts: Mapping[Place, Facts], reach: int) -> dict[Place, Facts]:
        """Return the neighbours of these memories in a conversation."""
        spoken = [place for place, known in facts.items() if known.session != _own_session(place)]
        return self.at(place for place in add_neighbours(spoken, reach) if place not in facts)


def _nearest(meaning: Likeness | None, count: int, least: float) -> list[Place]:
    return [place for place, _ in meaning.nearest(count, least)] if meaning else []


_AUTHORITIES = {str(authority): authority for authority in Authority}


def _facts(place: Place, row: Contender, space: Space) -> Facts | None:
    """Return what is known of a memory; ``None`` if its row is damaged, which `list` and `doctor` tell."""
    if row.authority not in _AUTHORITIES or not isinstance(row.importance, int):
        return None
    try:
        at, valid_from, valid_until = (
            parse_time(time) if time else None for time in (row.created_at, row.valid_from, row.valid_until)
        )
    except (ValueError, TypeError):  # no time
        return None
    if at is None:
        return None
    in_session = space is Space.SESSION or row.kind_class == KindClass.EVENT
    session = row.thread_id or (f"stream {place[0]}" if in_session else _own_session(place))
    said_by_a_person = row.source == Source.USER
    return Facts(
        session=session,
        at=at,
        authority=_AUTHORITIES[row.authority],
        speaker=(row.actor_id or row.user_id or "") if said_by_a_person else "",
        importance=row.importance,
        pinned=bool(row.pinned),
        canon=row.tier == Tier.CANON,
        valid_from=valid_from,
        valid_until=valid_until,
        is_insight=row.kind_class == KindClass.INSIGHT,
    )


def _own_session(place: Place) -> str:
    """Return the session of a memory outside a conversation, which it shares with no other."""
    return f"{place[0]}/{place[1]}"


def _order_by_time(
    search: _Search, ranked: Sequence[Scored], facts: Mapping[Place, Facts], contents: Mapping[Place, str]
) -> list[Scored]:
    """Move an update above the line it updates, or the earliest above the best. Guesses and lapsed memories do not
    count.

    Only lines of a conversation are compared here: other memories are linked when written, and the links order them.
    """
    question, idf, meaning = search.question, search.text.idf, search.meaning
    compared = [
        item.place
        for item in ranked[:LOOKED_AT]
        if facts[item.place].authority is not Authority.AI_INFERRED and not item.features.not_then
    ]
    if not question.asks_for_the_first:
        compared = [place for place in compared if facts[place].session != _own_session(place)]
    statements = {
        place: statement(question, contents[place], facts[place].at, place, facts[place].speaker) for place in compared
    }
    like = meaning.between(compared) if meaning else {}
    return order_in_time(question, ranked, statements, idf, like)
