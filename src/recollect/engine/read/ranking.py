"""Ranking: from the words of a question to the memories that answer it best, each with where its score comes from.

Access comes first: only what the caller may see is ever scored, so that nothing invisible lends weight or moves a score.
Everything is bounded: index entries read, candidates compared, contents loaded.
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
from recollect.engine.read.meaning import Asked, Likeness, likeness
from recollect.engine.read.text_search import MOSTLY_ENOUGH, Neighbours, TextScores, search_among, search_text
from recollect.engine.trust.vouching import weights_of
from recollect.engine.write.relations import Edges, edges, strongest
from recollect.model.canonical import format_time, parse_time
from recollect.model.vocabulary import SHARED, Authority, Kind, KindClass, Source, Space, Tier
from recollect.rules.language.findable import Naming, asks_for_everything
from recollect.rules.language.text import stem, words
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
"""How many of the best by their words lend weight to what is related to them, and half as many by meaning."""
BY_BEARING = 16
"""How many are candidates because they are about what the question depends on."""
BEARS = 0.5
"""How sure one can be that such a memory has to do with the question."""
IMPORTANT = 4
"""From which importance on a memory is told of a person before others."""
OTHERWISE_KNOWN = 0.5
"""How much a memory belongs to what is told of a person that is no profile fact, not canon and not pinned."""
NEARLY_ALIKE = 128
"""Among how many of the nearest in meaning a store looks at once for those that may be told."""
NAMES_READ = 200
"""Of how many at a time the names are read, where only what the question names is told."""


class Ranked(NamedTuple):
    """A memory that answers the question, and why it stands where it does."""

    place: Place
    space: Space
    row: Contender
    score: float = 0.0
    """How well it answers, compared with others for the same question: the sum of ``features``."""
    relevance: float = 0.0
    """How likely it is, from 0 to 1, that it has to do with the question at all: what a threshold is compared with."""
    words: float = 0.0
    """Its score by its own words alone, which can be compared between rankings of the same question."""
    features: Mapping[str, float] = MappingProxyType({})
    reason: str = ""
    """What brought it."""
    shadowed: tuple[str, ...] = ()
    """What it is told instead of: others of the same concept."""
    relations: Sequence[Relation] | None = None
    """What it has to do with others; ``None`` if that was not looked up."""
    updates: tuple[Place, ...] = ()
    """Those others of the answer that it may make outdated."""
    support: float = 0.0
    """How much it supports an answer, from 0 to 1: whether it has both whom the question names and what it asks of them."""
    asks_what_holds: bool = False
    """Whether the question asks for something as it is now, so that an update answers it better than what it updates."""

    @property
    def id(self) -> str:
        return self.row.id

    @property
    def is_a_guess(self) -> bool:
        return self.row.authority == Authority.AI_INFERRED

    @property
    def holder(self) -> Holder:
        """What decides whether it is told, or another of the same concept instead."""
        row = self.row
        return Holder(row.id, concept(row), _AUTHORITIES[row.authority], self.space, row.scope, self.place)


def concept(row: Contender) -> Concept:
    """What a memory is about: only others of the same concept can be told instead of it."""
    return row.kind_class, row.key_identity


class _Sought(NamedTuple):
    """A question, and what finds its answers: its words, its meaning, and where to look."""

    question: Question
    similar: Neighbours
    text: TextScores
    meant: Likeness | None
    looking: "_Looking"
    most: int
    named: Mapping[Place, Facts] | None
    """Those that the question names, where no others are told."""
    topic: Sequence[tuple[Place, float]]
    """Those that are about what the question depends on, best first, with their scores by its words."""


class _Gathered(NamedTuple):
    """Who is compared and what their rows say, what the few best of them have to do with others, and how closely."""

    text: TextScores
    """What finally found them by their words."""
    facts: dict[Place, Facts]
    relations: Edges
    related: Mapping[Place, float]


def rank_memories(
    engine: Engine, reader: Reader, streams: Sequence[Stream], asked: Asked, most: int, selection: Selection
) -> list[Ranked]:
    """The memories of these streams that answer a question best and fit the selection, best first."""
    question, similar = asked.question, asked.similar
    text = search_text(engine, reader, streams, question.terms, similar)
    if asked.named_only and not text.complete:
        text = search_among(engine, reader, streams, question.terms, similar, text, selection)
    meant = likeness(engine, reader, streams, asked)
    looking = _Looking(reader, engine.tenant, streams, selection)
    named = _find_named(engine, reader, looking, text.best_first(), asked.text) if asked.named_only else None
    topic = _on_topic(engine, reader, looking, question) if named is None else []
    sought = _Sought(question, similar, text, meant, looking, most, named, topic)
    text, facts, relations, related = _gather_candidates(engine, reader, sought)
    bearing, asked_for = _find_bearing(sought), _find_asked_for(sought, asked.text)
    facts |= looking.at((*bearing, *asked_for))
    facts |= _weigh_vouchers(engine, reader, streams, looking, facts)
    cosines = meant.cosines(list(facts)) if meant else {}
    idf = {term: text.idf[term] for term in question.terms if term in text.idf}
    in_context = reads_context(asked.embedder)
    evidence = Evidence(text.shares(facts), cosines, related, idf, text.widened(facts), bearing, asked_for, in_context)
    best = _score_candidates(engine, reader, sought, asked.text, evidence, facts)
    told = [_to_ranked(question, text.idf, evidence, one, looking) for one in best[:most]]
    supports = _supports(engine, reader, streams, sought, asked, evidence, told)
    return [
        one._replace(relations=relations.get(one.place), support=of_it, asks_what_holds=question.asks_what_holds)
        for one, of_it in zip(told, supports, strict=True)
    ]


def _supports(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    sought: _Sought,
    asked: Asked,
    evidence: Evidence,
    told: Sequence[Ranked],
) -> list[float]:
    """How much each supports an answer: by what of the question's words it has, and by likeness where there are vectors.

    What is asked for as a whole, or bears on the question, supports it whatever its words are.
    """
    question, like = sought.question, {}
    if sought.meant is not None:
        aspect = None if asked.aspect is None else likeness(engine, reader, streams, asked._replace(codes=asked.aspect))
        like = (aspect or sought.meant).cosines([one.place for one in told])
    idf, anyway = sought.text.idf, {**evidence.bearing, **evidence.asked_for}
    return [
        max(support(question, idf, _had(question, evidence, one), like.get(one.place, 0.0)), anyway.get(one.place, 0.0))
        for one in told
    ]


def _had(question: Question, evidence: Evidence, one: Ranked) -> set[str]:
    """Those of a question's terms that a memory has, and those of its names that are the speaker's."""
    speaker = {stem(word) for word in words(one.row.actor_id or one.row.user_id or "")}
    return {term for term, having in evidence.text.items() if one.place in having} | (question.named & speaker)


def _gather_candidates(engine: Engine, reader: Reader, sought: _Sought) -> _Gathered:
    """The best by their words and by meaning, what the best of those are related to, and their neighbours in a conversation.

    Where only what the question names is told, it is looked for by nothing but its words.
    """
    settings, looking, text = engine.policy.ranking, sought.looking, sought.text
    ranking = text.best_first() if sought.named is None else iter(sought.named)
    near = _nearest(sought.meant, BY_MEANING, settings.meaning_min) if sought.named is None else []
    by_words = max(BY_TEXT, 2 * sought.most)
    likely_read = list(islice(ranking, max(by_words, MOSTLY_ENOUGH)))
    first, ranking = likely_read[:by_words], chain(likely_read, ranking)
    topic = [place for place, _ in sought.topic[:BY_BEARING]]
    further = _nearest(sought.meant, NEARLY_ALIKE, settings.meaning_min) if near else []
    looking.announce(
        (*first, *near, *topic),
        [(by_words, likely_read), (BY_MEANING, further)],
        len(settings.lent),
        engine.sight.scopes or (SHARED,),
        versions=bool(sought.question.spans),
    )
    likely = edges(engine, reader, [*dict.fromkeys((*first[:LEADING], *near[: LEADING // 2]))])
    looking.at((*first, *near))  # mostly enough, and asked for at once
    facts = looking.first(ranking, by_words)
    if len(facts) < min(by_words, len(text)) and not text.complete:  # others used up what may be read of the index
        text = search_among(
            engine, reader, looking.streams, sought.question.terms, sought.similar, text, looking.selection
        )
        facts = looking.first(text.best_first(), by_words)
    facts |= looking.most_alike(sought.meant, near, settings.meaning_min)
    if sought.question.asks_for_a_time and sought.named is None:
        facts |= looking.within(sought.question.spans, by_words)
    relations = _among(engine, reader, _few_best(text, sought.meant, facts), likely())
    related = strongest(relations)
    facts |= looking.at(place for place in related if place not in facts)
    facts |= looking.around(facts, len(settings.lent))
    return _Gathered(text, facts, relations, related)


def _names(streams: Sequence[Stream]) -> tuple[str, ...]:
    """What the person is called whose memories are read, if it is one person's."""
    owners = {s.address.owner for s in streams if s.address is not None and s.address.space is Space.USER}
    return words(next(iter(owners))) if len(owners) == 1 else ()


def _on_topic(engine: Engine, reader: Reader, looking: "_Looking", question: Question) -> list[tuple[Place, float]]:
    """Those that have words of what the question depends on, best first."""
    wanted = question.depends_on
    if not wanted:
        return []
    found = search_text(engine, reader, looking.streams, wanted, {})
    if not found.complete:
        found = search_among(engine, reader, looking.streams, wanted, {}, found, looking.selection)
    return [(place, found.score(place)) for place in found.best_first()]


def _find_bearing(sought: _Sought) -> dict[Place, float]:
    """Those that are about what the question depends on, and how much, up to 1."""
    scores = dict(sought.topic)
    told = sought.looking.first(iter(scores), BY_BEARING)
    best = max((scores[place] for place in told), default=0.0)
    return {place: round(scores[place] / best, DIGITS) for place in told}


def _find_asked_for(sought: _Sought, text: str) -> dict[Place, float]:
    """What is told of a person where all that is known is asked for, and how much each belongs to it."""
    most, looking = sought.most, sought.looking
    if sought.question.spans or sought.named is not None or not asks_for_everything(text, _names(looking.streams)):
        return {}
    sorts = {"kind": Kind.PROFILE}, {"pinned": 1}, {"tier": Tier.CANON}
    found = dict.fromkeys((place for sort in sorts for place in looking.newest_of(most, **sort)), 1.0)
    for least, share in ((IMPORTANT, OTHERWISE_KNOWN), (1, OTHERWISE_KNOWN / 2)):
        more = looking.newest_of(most, least) if len(found) < most else []
        found |= {place: share for place in more if place not in found}
    return found


def _weigh_vouchers(
    engine: Engine, reader: Reader, streams: Sequence[Stream], looking: "_Looking", facts: Mapping[Place, Facts]
) -> dict[Place, Facts]:
    """Those of them that somebody vouches for, with what the vouches weigh."""
    vouchers = {place: row.vouchers for place, row in looking.rows.items() if row.vouchers != "[]" and place in facts}
    weights = weights_of(engine, reader, streams, vouchers)
    return {place: facts[place]._replace(vouchers=weight) for place, weight in weights.items()}


def _score_candidates(
    engine: Engine, reader: Reader, sought: _Sought, text: str, evidence: Evidence, facts: Mapping[Place, Facts]
) -> list[Scored]:
    """Everybody scored by what is known of them, then the best again by what they say; best first."""
    settings, question, named = engine.policy.ranking, sought.question, sought.named
    telling = fuse(question, evidence, facts, settings, settings.meaning_min)
    telling = telling if named is None else [one for one in telling if one.place in named]
    by_vectors = sought.meant is not None and bool(settings.nearest_words)
    shortlist = worth_reading(telling, max(sought.most, LOOKED_AT), settings, by_vectors=by_vectors)
    contents = reader.contents(engine.tenant, [one.place for one in shortlist])
    nearest = _nearest_words(sought, text, facts, contents, settings.lent) if by_vectors else {}
    best = score_contents([one for one in shortlist if one.place in contents], contents, settings, nearest)
    if settings.newest_first and question.time_decides:
        best = _in_time(question, best, facts, contents, sought.text.idf, sought.meant)
    if question.asks_for_members and all(facts[one.place].session == _alone(one.place) for one in best):
        best = members_first(question, best, contents)
    return best


def _nearest_words(
    sought: _Sought, text: str, facts: Mapping[Place, Facts], contents: Mapping[Place, str], lent: Sequence[float]
) -> dict[Place, float]:
    """Return how near the words of these contents are to those of the question."""
    asked = text_terms(sought.question, facts.values())
    telling = {term: sought.text.idf[term] for term in asked if term in sought.text.idf}
    found = nearest_words(text, telling, list(contents.values()), shared_static_embedder().word_vectors)
    read = {place: facts[place] for place in contents}
    return add_up((dict(zip(contents, shares, strict=True)) for shares in found.values()), read, lent)


def _find_named(
    engine: Engine, reader: Reader, looking: "_Looking", ranking: Iterator[Place], text: str
) -> dict[Place, Facts]:
    """Those of a ranking that may be told and that the text names, in their order.

    The names of an entity are words of the index, so that whoever is named stands in the ranking, however far behind.
    """
    naming = Naming(text, engine.policy.text.synonyms)
    named: dict[Place, Facts] = {}
    while chunk := list(islice(ranking, NAMES_READ)):
        about = reader.entities(engine.tenant, chunk)
        named |= looking.at(place for place in chunk if naming.has_any(about.get(place, ())))
    return named


def _few_best(found: TextScores, meant: Likeness | None, facts: Mapping[Place, Facts]) -> list[Place]:
    """Whose relations count: the best by their own words, and the best by meaning."""
    like = meant.cosines(list(facts)) if meant else {}
    by_words = nsmallest(LEADING, [(-score, place) for place in facts if (score := found.score(place))])
    by_meaning = nsmallest(LEADING // 2, [(-cosine, place) for place, cosine in like.items()])
    return sorted({place for _, place in (*by_words, *by_meaning)})


def _among(engine: Engine, reader: Reader, wanted: Sequence[Place], known: Edges) -> Edges:
    """The relations of those that are wanted: as they are known, or looked up."""
    more = edges(engine, reader, [place for place in wanted if place not in known])()
    return {place: (known if place in known else more)[place] for place in wanted}


def _to_ranked(
    question: Question, idf: Mapping[str, float], evidence: Evidence, one: Scored, looking: "_Looking"
) -> Ranked:
    own = {term: of_term[one.place] for term, of_term in evidence.text.items() if one.place in of_term}
    features = {name: round(value, 9) for name, value in one.features._asdict().items() if value}
    row, space = looking.rows[one.place], looking.spaces[one.place[0]]
    of_then, by_words = is_of_then(question, parse_time(row.created_at)), sum(own.values())
    sure = relevance(question, idf, own, max(evidence.meaning.get(one.place, 0.0), 0.0), of_then=of_then)
    sure = max(sure, evidence.asked_for.get(one.place, 0.0), BEARS * evidence.bearing.get(one.place, 0.0))
    reason = recall_reason(by_words, features, of_then=of_then)
    return Ranked(one.place, space, row, one.score, sure, by_words, features, reason)


class _Looking:
    """Looks memories up in some streams, those that fit the selection and no others."""

    def __init__(self, reader: Reader, tenant: str, streams: Sequence[Stream], selection: Selection) -> None:
        self._reader, self._tenant, self.streams, self.selection = reader, tenant, streams, selection
        self.spaces = {stream.number: stream.address.space for stream in streams if stream.address is not None}
        self.rows: dict[Place, Contender] = {}
        """Those that were looked up and fit."""
        self._known: dict[Place, Facts | None] = {}

    def at(self, places: Iterable[Place]) -> dict[Place, Facts]:
        """What the rows at these places say; places in other streams are passed over."""
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
        """Announce what will be looked up: these places, the first that fit of some rankings, and what belongs to them.

        That is their neighbours in a conversation, other memories that may have their keys and, if asked for, ``versions``.
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
        """The first so many that may be told. Where few of them may be, ever more are looked up at a time."""
        best: dict[Place, Facts] = {}
        waiting: list[Place] = []
        size = count
        while len(best) < count and (waiting or (waiting := list(islice(ranking, size)))):
            chunk = self._reader.at_hand(waiting, self.selection) or waiting
            best |= islice(self.at(chunk).items(), count - len(best))
            waiting, size = waiting[len(chunk) :], size * 2
        return best

    def most_alike(self, meant: Likeness | None, near: Sequence[Place], least: float) -> dict[Place, Facts]:
        """The nearest in meaning. Where few of them may be told, all that may be told are compared instead."""
        best = self.first(iter(near), BY_MEANING)
        if meant is None or len(best) == BY_MEANING or len(near) < BY_MEANING:
            return best
        nearest = _nearest(meant, RERANKED, least)
        best = self.first(iter(nearest), BY_MEANING)
        if len(best) >= BY_MEANING or len(nearest) < RERANKED or len(meant) <= RERANKED:
            return best
        fitting = [(s.number, n) for s in meant.streams for n in self._reader.fitting(s, self.selection)]
        return self.at(place for place, _ in meant.nearest_of(fitting, BY_MEANING, least))

    def within(self, spans: Sequence[Span], count: int) -> dict[Place, Facts]:
        """The newest of some stretches of time, so many of each."""
        numbers = tuple(stream.number for stream in self.streams)
        found: list[Stored] = []
        for span in spans:
            ranges = (("created_at", ">=", format_time(span.start)), ("created_at", "<", format_time(span.end)))
            then = replace(self.selection, streams=numbers, ranges=(*self.selection.ranges, *ranges))
            found += self._reader.select(self._tenant, then, count)
        return self.at((stored.stream, stored.number) for stored in found)

    def newest_of(self, count: int, least_important: int = 1, **sort: Any) -> list[Place]:
        """The newest that are of a sort, matter enough, and are no lines of a conversation."""
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
        """Their neighbours in a conversation."""
        talked = [place for place, known in facts.items() if known.session != _alone(place)]
        return self.at(place for place in add_neighbours(talked, reach) if place not in facts)


def _nearest(meant: Likeness | None, count: int, least: float) -> list[Place]:
    return [place for place, _ in meant.nearest(count, least)] if meant else []


_AUTHORITIES = {str(authority): authority for authority in Authority}


def _facts(place: Place, row: Contender, space: Space) -> Facts | None:
    """What is known of a memory; ``None`` if its row is damaged, which `list` and `doctor` tell."""
    try:
        return _read_facts(place, row, space)
    except (ValueError, TypeError, LookupError):
        return None


def _read_facts(place: Place, row: Contender, space: Space) -> Facts:
    in_session = space is Space.SESSION or row.kind_class == KindClass.EVENT
    session = row.thread_id or (f"stream {place[0]}" if in_session else _alone(place))
    said_by_a_person = row.source == Source.USER
    return Facts(
        session=session,
        at=parse_time(row.created_at),
        authority=_AUTHORITIES[row.authority],
        speaker=(row.actor_id or row.user_id or "") if said_by_a_person else "",
        importance=row.importance,
        pinned=bool(row.pinned),
        canon=row.tier == Tier.CANON,
        valid_from=parse_time(row.valid_from) if row.valid_from else None,
        valid_until=parse_time(row.valid_until) if row.valid_until else None,
        is_insight=row.kind_class == KindClass.INSIGHT,
    )


def _alone(place: Place) -> str:
    """The session of a memory that is no part of a conversation: nobody else's."""
    return f"{place[0]}/{place[1]}"


def _in_time(
    question: Question,
    ranked: Sequence[Scored],
    facts: Mapping[Place, Facts],
    contents: Mapping[Place, str],
    idf: Mapping[str, float],
    meant: Likeness | None,
) -> list[Scored]:
    """Puts an update above what it updates, or the earliest above the best. Neither a guess nor what did not hold is one.

    Only lines of a conversation update one another here: memories are linked when they are written, and the links order them.
    """
    compared = [
        one.place
        for one in ranked[:LOOKED_AT]
        if facts[one.place].authority is not Authority.AI_INFERRED and not one.features.not_then
    ]
    if not question.asks_for_the_first:
        compared = [place for place in compared if facts[place].session != _alone(place)]
    statements = {
        place: statement(question, contents[place], facts[place].at, place, facts[place].speaker) for place in compared
    }
    like = meant.between(compared) if meant else {}
    return order_in_time(question, ranked, statements, idf, like)
