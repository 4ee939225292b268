"""Decide whether a language model's proposal is in the memories that it was made from.

A proposal makes one claim, names the memories that it is made from, and quotes the spans that support the claim. It is refused
unless the spans are in the memories word for word, and hold every name, number, date, amount and negation of the claim. A fact
may say little more than its spans; an insight may infer. Neither may be seen by anybody who does not see all of its sources.

The check is one-sided: a claim that the rules cannot follow is refused. A false memory costs more than a missing one.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import NamedTuple

from recollect.model.ledger import Address
from recollect.model.policy import Policy
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.vocabulary import SHARED, Authority, KeySource, Kind
from recollect.rules.extraction.message import SENTENCE_END, plain_sentences
from recollect.rules.extraction.values import SUPPOSING
from recollect.rules.identity.difference import what_differs
from recollect.rules.identity.outdating import signs_of
from recollect.rules.identity.rejected_values import Claim, Sealed, is_rejected
from recollect.rules.language.lexicon import FOREIGN_NEGATIONS, MODALITY, NEGATIONS, PREPOSITIONS, opposites_of
from recollect.rules.language.marks import Aspect, Case, Mark
from recollect.rules.language.reading import read
from recollect.rules.language.spelling import other_tenses
from recollect.rules.language.text import STOP_WORDS, fold, normalise, stem, terms, words
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import Frame, Tense, read_statement
from recollect.rules.statements.frame import NO_SUBJECT
from recollect.rules.time.named_times import named_times
from recollect.rules.time.stretches import Span, read_time

COVERED_MIN = 0.8
"""The share of a fact's content words that its spans have to hold."""
FACT, INFERENCE = "grounded:fact", "grounded:inference"
MAX_TIMES = 8
"""How many times of a text are read. Reading takes long, and a claim has no more."""

_CLAUSE_END = re.compile(
    r"(?<=[.!?;…])\s+|(?P<loose>, (?=(?:i|we|he|she|they|it)\b))"
    r"|,? (?:but|although|though|whereas|while|and then) |, (?=(?:and|so|while|not) )"
    r"| and (?=(?:i|we|he|she|they|it) )|,? (?=(?:who|whose|which) )"
    r"|(?P<noun> and (?=\w))",
    re.IGNORECASE,
)
_LONGEST_SUBJECT = 120
"""How many characters after an "and" are looked at for a subject and its verb."""
_BEFORE_A_TIME = re.compile(r"\b(?:in|on|at)(?: the)? $", re.IGNORECASE)
_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w+")
_HOLDS_TOGETHER = SUPPOSING | word_set("if unless whether when whenever once until because")
"""Words after which a comma does not end what they govern: "if I get the job, I will move"."""
_WE = word_set("we us our ours ourselves wir uns unser unsere")
_FIRST_PERSON = _WE | word_set("i me my mine myself ich mich mir mein meine")
_THE_SPEAKER = word_set("user person")
_THE_SPEAKERS = word_set("team")
"""What a claim in the third person calls the person who says "I", besides their name, and those who say "we"."""
_SUBJECT = word_set("i we ich wir")
_TELL_NOTHING = {stem(word) for word in word_set("user person people family team household thing currently now today")}
"""Words that a claim may add to what its spans say."""
_PARTICLE = re.compile(
    r"\b(?:am|is|are|was|were|be|been|stays?|remains?|turned|switched) (on|off|up|down|in|out)\b", re.I
)
_OTHERS = word_set("he she they it his her their its er es")
_RELATIVE = word_set("who whose which")
_DENIALS = NEGATIONS | {"no-longer"}
_WEAK_DENIALS = word_set("not no non without")
"""What any other denial implies: who never flies does not fly. "Never" and "nobody" say more, and must be said."""
_MAY_BE_LEFT_OUT = word_set(
    """always usually normally generally typically often certainly definitely surely only about exactly precisely all every any
    many much more several both enough default least"""
)
"""Words of extent or certainty without which a statement says no more than it did. "Some", "most" and "mostly" are none."""
_HEDGES = (MODALITY - _MAY_BE_LEFT_OUT) | {"will", "going-to"}
"""Words without which a statement is firmer than it was."""
_HEDGING_STEMS = {stem(word) for word in SUPPOSING | _HEDGES if len(word) > 3 and not word.endswith("ly")} - {"will"}
"""Their stems, so that "thinking of" is "think"; but "likely" is not "like", and of the short ones "may" is a month."""
_BYGONE = word_set("was had did used-to formerly previously")
_HAVING = word_set("have had own get got with my our 's mein meine unser")
_BOUNDS = word_set(
    "since until till before after by from over under above below more less most least about almost nearly up"
)
"""Words before a number or a date that say on which side of it the truth is."""
_WORDS_OF_MEANING = frozenset({Aspect.CONTENT, Aspect.NAME, Aspect.OPPOSITE, Aspect.MODALITY, Aspect.TENSE})


_UNSEEN = "\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u20d0-\u20ff\ufe00-\ufe0f\ufeff"
"""Marks that belong to the letter before them, and characters that nobody sees: a word does not end at one."""
_LEFT_OF_A_WORD, _RIGHT_OF_A_WORD = rf"(?<![\w{_UNSEEN}])", rf"(?![\w{_UNSEEN}])"
_LEFT_OF_A_NUMBER = r"(?<![-+~<>≤≥±≈])(?<!\d[.,:'’/⁄–])(?<!\d )"
_RIGHT_OF_A_NUMBER = r"(?![.,:'’/⁄–-]\d| \d{3}(?!\d)|[%‰²³¹½¼¾⅓⅔+])"
_COMPOUND = re.compile(r"\w+(?:[-–/+#]+\w+)*[+#]*")
_CALENDAR_DAY = re.compile(r"\d{1,4}([-/])\d{1,2}\1\d{1,4}")


class SourceMemory(NamedTuple):
    """A memory that a proposal is made from."""

    id: str
    text: str
    said_at: datetime
    address: Address
    """The stream in which the policy keeps what this memory states. For a line of a session whose statements go to the person's
    own memory (``turns.statements``), that is the person's stream; otherwise it is the memory's own."""
    scope: str = SHARED
    category: str = DEFAULT_CATEGORY
    speakers: tuple[str, ...] = ()
    """What the person who says "I" in it is called."""


class Quote(NamedTuple):
    """A span of a source that supports the claim."""

    source_id: str
    span: str


class Proposal(NamedTuple):
    """One claim of a model, with its evidence, and where it would be stored."""

    content: str
    quotes: tuple[Quote, ...]
    source_ids: tuple[str, ...]
    address: Address
    kind: Kind = Kind.SEMANTIC
    scope: str = SHARED
    category: str = DEFAULT_CATEGORY
    authority: Authority = Authority.AI_INFERRED


class Verdict(NamedTuple):
    """What became of a proposal: a reason code, and the words of the claim or the name of the source that it is about."""

    code: str
    about: str = ""

    @property
    def accepted(self) -> bool:
        return self.code in (FACT, INFERENCE)


def check_grounding(
    proposal: Proposal, sources: Collection[SourceMemory], policy: Policy, rejections: Collection[Sealed] = ()
) -> Verdict:
    """Accept a proposal, or return the first reason against it.

    ``sources`` are the memories as they are now, found by the ids that the proposal names. ``rejections`` are the values that
    people rejected in the proposal's stream. The ordinary gates (privacy, noise, length) run afterwards, when it is written.

    >>> from datetime import UTC
    >>> from recollect.model.vocabulary import Namespace, Space
    >>> ana = Address("default", Namespace.PROD, Space.USER, "ana")
    >>> said = SourceMemory("1", "I live in Porto.", datetime(2026, 5, 20, tzinfo=UTC), ana, speakers=("Ana",))
    >>> quotes = (Quote("1", "I live in Porto"),)
    >>> check_grounding(Proposal("Ana lives in Porto.", quotes, ("1",), ana), [said], Policy())
    Verdict(code='grounded:fact', about='')
    >>> check_grounding(Proposal("Ana lives in Faro.", quotes, ("1",), ana), [said], Policy())
    Verdict(code='ungrounded:name', about='Faro')
    """
    by_id = {one.id: one for one in sources}
    first = chain(_check_place(proposal, by_id, policy), _check_quotes(proposal, by_id))
    against = next(first, None)
    if against is None:
        evidence = _Evidence(proposal.quotes, by_id)
        against = next(_check_words(proposal, evidence), None) or _check_rejections(proposal, policy, rejections)
    return against or Verdict(INFERENCE if proposal.kind is Kind.INSIGHT else FACT)


def may_inform(source: SourceMemory, address: Address, category: str, policy: Policy) -> bool:
    """Return whether everybody who will see what is stored there for all agents may see this source as well."""
    place = Proposal("", (), (source.id,), address, category=category)
    return next(_check_place(place, {source.id: source}, policy), None) is None


def _check_place(proposal: Proposal, by_id: Mapping[str, SourceMemory], policy: Policy) -> Iterator[Verdict]:
    """Yield what would let it be believed more, or seen by more, than the memories that it is made from."""
    missing = [id for id in proposal.source_ids if id not in by_id]
    if missing or not proposal.source_ids:
        yield Verdict("ungrounded:source", missing[0] if missing else "")
        return
    sources = [by_id[id] for id in proposal.source_ids]
    if proposal.authority is not Authority.AI_INFERRED:
        yield Verdict("ungrounded:authority", proposal.authority)
    if len({one.address for one in sources}) > 1:
        yield Verdict("ungrounded:two_owners")
    if proposal.address.owner != sources[0].address.owner:
        yield Verdict("ungrounded:owner")
    if proposal.address != sources[0].address:
        yield Verdict("ungrounded:space", proposal.address.space)
    if {one.scope for one in sources} - {SHARED, proposal.scope}:
        yield Verdict("ungrounded:scope", proposal.scope)
    readable_with_it = [set(listed) for listed in policy.agents.allowlists.values() if proposal.category in listed]
    if any(one.category not in listed for one in sources for listed in readable_with_it):
        yield Verdict("ungrounded:category", proposal.category)


def _check_rejections(proposal: Proposal, policy: Policy, rejections: Collection[Sealed]) -> Verdict | None:
    claim = Claim(proposal.address, proposal.content, "", KeySource.FALLBACK, proposal.address.owner)
    return Verdict("rejected:value") if is_rejected(claim, rejections, policy.text.synonyms) else None


def _check_quotes(proposal: Proposal, by_id: Mapping[str, SourceMemory]) -> Iterator[Verdict]:
    if not proposal.quotes:
        yield Verdict("ungrounded:span")
    for quote in proposal.quotes:
        if quote.source_id not in proposal.source_ids:
            yield Verdict("ungrounded:source", quote.source_id)
        elif not _find_places(_flatten(quote.span), _flatten(by_id[quote.source_id].text)):
            yield Verdict("ungrounded:span", quote.span)


def _flatten(text: str) -> str:
    """Return a text in normal form, on one line: a span may be quoted across a line break."""
    return " ".join(normalise(text).split())


def _find_places(span: str, text: str) -> list[tuple[int, int]]:
    """Return where a span stands in a text, as whole words and numbers: "tea at 9" is not in "tea at 9:45"."""
    if not any(c.isalnum() for c in span):
        return []
    left = _LEFT_OF_A_WORD if span[0].isalnum() else ""
    right = _RIGHT_OF_A_WORD if span[-1].isalnum() else ""
    left += _LEFT_OF_A_NUMBER if span[0].isdigit() else ""
    right += _RIGHT_OF_A_NUMBER if span[-1].isdigit() else ""
    return [found.span() for found in re.finditer(left + re.escape(span) + right, text)]


def _stems(marks: Collection[Mark]) -> set[str]:
    """Return the stems of what is said; what is only quoted in it is one mark, and is compared to the letter."""
    return {stem(word)[:64] for mark in marks if not mark.key.startswith("=") for word in words(mark.surface)}


class _Clause(NamedTuple):
    """A clause of a source that a span touches."""

    text: str
    after: tuple[str, ...]
    """The words before it; "who" and "which" refer to the last."""
    speaker: str
    is_own: bool
    """Whether the person who wrote it speaks for themselves, and does not hand over a text or make believe."""
    marks: tuple[Mark, ...]
    keys: frozenset[str]
    stems: frozenset[str]

    @classmethod
    def read(cls, text: str, after: tuple[str, ...], speaker: str, is_own: bool) -> "_Clause":
        marks = read(text).marks
        stems = _stems(marks) | (set(map(stem, after)) if _RELATIVE & set(words(text)[:1]) else set())
        return cls(text, after, speaker, is_own, marks, frozenset(mark.key for mark in marks), frozenset(stems))

    def has_any(self, pronouns: Set[str]) -> bool:
        """Return whether one of these pronouns is in it, contractions taken apart; "US" is none."""
        return any(mark.key in pronouns and mark.case is not Case.UPPER for mark in self.marks)


class _Evidence:
    """What a proposal quotes, and the clauses of the sources around it."""

    def __init__(self, quotes: Sequence[Quote], by_id: Mapping[str, SourceMemory]) -> None:
        spans = [(_flatten(quote.span), by_id[quote.source_id]) for quote in quotes]
        self.text = "\n".join(span for span, _ in spans)
        self.marks = [mark for span, _ in spans for mark in read(span).marks]
        self.keys = {mark.key for mark in self.marks}
        self.stems = _stems(self.marks)
        self.words = {word for span, _ in spans for word in words(span)}
        self.times = [(source.said_at, _find_times(span, source.said_at)) for span, source in spans]
        touched = [(one, source) for span, source in spans for one in _touched_clauses(span, source)]
        self.clauses = list(dict.fromkeys(clause for clause, _ in touched))
        speaks = [source for clause, source in touched if clause.has_any(_FIRST_PERSON)]
        self.speakers = {word for source in speaks for name in source.speakers for word in words(name)}
        self.speakers |= _THE_SPEAKER if speaks else set()
        self.speakers |= _THE_SPEAKERS if any(clause.has_any(_WE) for clause in self.clauses) else set()


def _touched_clauses(span: str, source: SourceMemory) -> Iterator[_Clause]:
    """Yield the whole clauses that a span touches: what is left out of the quotation may deny it."""
    text, speaker = _flatten(source.text), (source.speakers or ("Self",))[0]
    places = _find_places(span, text)
    own = {word for sentence in plain_sentences(source.text) for word in words(sentence)}
    for start, clause in _split_clauses(text):
        if any(first < start + len(clause) and start < last for first, last in places):
            before = words(text[max(0, start - 80) : start])[-3:]
            yield _Clause.read(clause, before, speaker, not source.speakers or own.issuperset(words(clause)))


@lru_cache(maxsize=64)  # several spans of one source are looked for in the same text
def _split_clauses(text: str) -> tuple[tuple[int, str], ...]:
    """Return the clauses of a text, without what joins them, and where each begins."""
    found, start = list[tuple[int, str]](), 0
    for joint in _CLAUSE_END.finditer(text):
        if joint["loose"] and not _HOLDS_TOGETHER.isdisjoint(words(text[start : joint.start()])):
            continue
        if joint["noun"] and not _leading_nouns(SENTENCE_END.split(text[joint.end() :][:_LONGEST_SUBJECT], 1)[0]):
            continue  # "the cat and the dog" are one object, "and my daughter plays chess" is a statement
        found.append((start, text[start : joint.start()]))
        start = joint.end()
    return (*found, (start, text[start:]))


class _Said(NamedTuple):
    """A claim as it is compared with its evidence, without the times that follow from it."""

    text: str
    marks: tuple[Mark, ...]
    names: frozenset[str]
    """The words, in lower case, that open one of its sentences and are names."""
    is_event: bool
    """Whether it tells what happened, so that it is in the past whenever it was said."""

    def is_name(self, mark: Mark) -> bool:
        if mark.case is Case.START:
            return mark.surface.lower() in self.names
        written = mark.key.startswith("=") and mark.aspect is not Aspect.NUMBER
        capital = mark.is_word and mark.key != "i" and any(c.isupper() for c in mark.surface)
        return written or mark.is_name or (capital and mark.aspect in _WORDS_OF_MEANING)


def _check_words(proposal: Proposal, evidence: _Evidence) -> Iterator[Verdict]:
    claim = _strip_times(_flatten(proposal.content), evidence)
    said = _Said(claim, read(claim).marks, _leading_names(claim), proposal.kind is Kind.EPISODIC)
    for check in (_check_names, _check_dates, _check_amounts, _check_numbers, _check_negations):
        yield from check(said, evidence)
    content = [mark for mark in said.marks if _carries_meaning(mark, evidence)]
    specific = [mark for mark in said.marks if mark.aspect in (Aspect.NUMBER, Aspect.DATE)]
    open_words = [
        mark for mark in content if not (said.is_name(mark) or _is_covered(mark, evidence.keys, evidence.stems))
    ]
    least = COVERED_MIN if any(c.isupper() for c in claim) and not claim.isupper() else 1.0
    is_covered = bool(content or specific) and len(open_words) <= (1 - least) * len(content) + 1e-9
    if proposal.kind is Kind.INSIGHT and not is_covered:
        yield from (
            against for clause in _fewest_clauses(content, evidence.clauses) for against in _check_denials(said, clause)
        )
        return
    yield from _check_clauses(_flatten(proposal.content), said, [*content, *specific], evidence)
    if _reads_the_same(claim, evidence):
        return
    added = [mark for mark in open_words if not {stem(word) for word in words(mark.surface)} <= _TELL_NOTHING]
    for mark in said.marks if proposal.kind is not Kind.INSIGHT else ():  # "his shifts" are not "all shifts"
        if mark.aspect is Aspect.MODALITY and not _is_covered(mark, evidence.keys, evidence.stems):
            yield Verdict("ungrounded:words", mark.surface)
    if (added and proposal.kind is not Kind.INSIGHT) or not is_covered:
        yield Verdict("ungrounded:words", " ".join(mark.surface for mark in added or open_words))
    for _, part in _split_clauses(claim):
        keys = {mark.key for mark in read(part).marks}
        within = [mark for mark in content if mark.key in keys]
        most = max((len(_held_by(within, [clause])) for clause in evidence.clauses), default=0)
        if 2 * most <= len({mark.key for mark in within}) > 1:
            yield Verdict("ungrounded:mixed", part)


def _check_names(said: _Said, evidence: _Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if said.is_name(mark) and not _names_the_same(mark, evidence):
            yield Verdict("ungrounded:name", mark.surface)


def _names_the_same(mark: Mark, evidence: _Evidence) -> bool:
    own = words(mark.surface)
    if mark.key in evidence.keys or (own and set(own) <= evidence.speakers):
        return True
    return bool(_find_places(fold(_flatten(mark.surface)), fold(evidence.text)))


def _leading_names(claim: str) -> frozenset[str]:
    """Return the names that open a sentence. Their capital says nothing, so the tagger decides; what it does not know is one."""
    from recollect.rules.statements.tagger import is_unknown, tag_english  # it loads a model of some megabytes

    found = set()
    for sentence in SENTENCE_END.split(claim):
        tagged = tag_english(sentence)
        if tagged and (tagged[0].is_name or (tagged[0].text.isalpha() and is_unknown(tagged[0].lower))):
            found.add(tagged[0].lower)
    return frozenset(found)


def _check_amounts(said: _Said, evidence: _Evidence) -> Iterator[Verdict]:
    known = _follows_number(evidence.marks, lambda mark: mark.aspect is Aspect.UNIT, reach=1)
    for number, unit in sorted(_follows_number(said.marks, lambda mark: mark.aspect is Aspect.UNIT, reach=1)):
        if (number, unit) not in known and number in evidence.keys:
            yield Verdict("ungrounded:amount", f"{number.removeprefix('#')} {unit.removeprefix('%')}")


def _check_numbers(said: _Said, evidence: _Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if mark.aspect in (Aspect.NUMBER, Aspect.UNIT) and mark.key not in evidence.keys:
            yield Verdict("ungrounded:number", mark.surface)
    counted = _follows_number(evidence.marks, lambda mark: mark.is_word, reach=3)
    for number, thing in sorted(_follows_number(said.marks, lambda mark: mark.is_word, reach=1)):
        if thing in evidence.keys and thing not in STOP_WORDS and (number, thing) not in counted:
            yield Verdict("ungrounded:number", f"{number.removeprefix('#')} {thing}")
    limits, said_limits = _find_limits(evidence.marks), _find_limits(said.marks)
    for key, limit in said_limits.items():
        if limit - limits.get(key, set()) or (limits.get(key, set()) and not limit):
            yield Verdict("ungrounded:number", key.lstrip("#~"))


def _follows_number(marks: Sequence[Mark], wanted: Callable[[Mark], bool], reach: int) -> set[tuple[str, str]]:
    """Return each number with the marks after it that are wanted: its unit, or what is counted."""
    numbers = [place for place, mark in enumerate(marks) if mark.aspect is Aspect.NUMBER]
    return {(marks[at].key, mark.key) for at in numbers for mark in marks[at + 1 : at + 1 + reach] if wanted(mark)}


def _find_limits(marks: Sequence[Mark]) -> dict[str, set[str]]:
    """Return the words before each number or date that say on which side of it the truth is: "over 100", "until Friday"."""
    found: dict[str, set[str]] = {}
    for place, mark in enumerate(marks):
        if mark.aspect in (Aspect.NUMBER, Aspect.DATE):
            before = {one.key for one in marks[max(0, place - 2) : place]}
            before = set() if before & _OTHERS else before  # "from it every Sunday" bounds no Sunday
            found[mark.key] = found.get(mark.key, set()) | (before & _BOUNDS)
    return found


def _check_dates(said: _Said, evidence: _Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if mark.aspect is Aspect.DATE and mark.key not in evidence.keys:
            yield Verdict("ungrounded:date", mark.surface)
    for named in named_times(said.text):
        written = said.text[named.start : named.end]
        known = {mark.key for mark in read(written).marks} <= evidence.keys
        if not known and not _find_places(fold(written), fold(evidence.text)):
            yield Verdict("ungrounded:date", written)


class _Time(NamedTuple):
    """A time that a text names, with what stands before it: "since", "until"."""

    start: int
    end: int
    stretch: Span
    bounds: frozenset[str]

    def follows_from(self, other: "_Time") -> bool:
        """Return whether a time holds if another one does: the same, or a longer one around it."""
        around = self.stretch.start <= other.stretch.start and other.stretch.end <= self.stretch.end
        return around and self.bounds == other.bounds


def _find_times(text: str, at: datetime) -> list[_Time]:
    """Return the times that a text names, seen from a moment."""
    return [
        _Time(named.start, named.end, stretch, _BOUNDS.intersection(words(text[: named.start])[-2:]))
        for named in islice(named_times(text), MAX_TIMES)
        if (stretch := read_time(named, at)) is not None
    ]


def _strip_times(claim: str, evidence: _Evidence) -> str:
    """Return a claim without the times that its spans name, seen from when they were said: "yesterday" is a date."""
    for said_at, times in evidence.times:
        for one in reversed(_find_times(claim, said_at)):
            if any(one.follows_from(other) for other in times):
                claim = f"{_BEFORE_A_TIME.sub('', claim[: one.start])} {claim[one.end :]}"
    return " ".join(claim.split())


def _check_negations(said: _Said, evidence: _Evidence) -> Iterator[Verdict]:
    denied = _find_denials(evidence.marks)
    for mark in said.marks:
        if mark.key in _DENIALS and mark.key not in denied and not (denied and mark.key in _WEAK_DENIALS):
            yield Verdict("ungrounded:negation", mark.surface)
    foreign = (FOREIGN_NEGATIONS & set(words(said.text))) - evidence.words
    if foreign:
        yield Verdict("ungrounded:negation", min(foreign))


def _find_denials(marks: Collection[Mark]) -> set[str]:
    return {mark.key.rstrip("!") for mark in marks if mark.key in _DENIALS or mark.surface.lower() in FOREIGN_NEGATIONS}


def _carries_meaning(mark: Mark, evidence: _Evidence) -> bool:
    """Return whether a mark counts as a content word; the name of the person who speaks follows from who they are."""
    if not mark.is_word or mark.aspect not in _WORDS_OF_MEANING or mark.key in _DENIALS or mark.key == "'s":
        return False
    return not set(words(fold(mark.surface))) <= STOP_WORDS | evidence.speakers


def _is_covered(mark: Mark, keys: Set[str], stems: Set[str]) -> bool:
    return mark.key in keys or {stem(word)[:64] for word in words(mark.surface)} <= stems


def _check_clauses(whole: str, said: _Said, content: Sequence[Mark], evidence: _Evidence) -> Iterator[Verdict]:
    """Yield how the clauses that a claim rests on say something else: of somebody else, or of another time, or deny it."""
    yield from _check_compounds(whole, evidence)
    if any(one.aspect is Aspect.ORDER for clause in evidence.clauses for one in what_differs(clause.text, whole)):
        yield Verdict("ungrounded:order")
    about = [clause for clause in evidence.clauses if _same_subject(whole, clause)]
    rests_on = _fewest_clauses(content, about) or _fewest_clauses(content, evidence.clauses)
    for clause in rests_on:
        yield from _check_left_out(whole, said, clause)
    if _find_denials(said.marks) and not any(_find_denials(clause.marks) for clause in rests_on):
        yield Verdict("ungrounded:negation", said.text)
    if _says_has(said) and not any(clause.keys & _HAVING for clause in rests_on):
        yield Verdict("ungrounded:words", "has")
    if len(_held_by(content, about)) < len(_held_by(content, evidence.clauses)):
        yield Verdict("ungrounded:subject")
    done_to_the_speaker = (one.has_any(_FIRST_PERSON) and not one.has_any(_SUBJECT) for one in rests_on)
    if _is_of_the_speaker(whole, said, evidence) and all(done_to_the_speaker):  # "my dentist moved", "she raised me"
        yield Verdict("ungrounded:subject", said.text)


def _check_compounds(whole: str, evidence: _Evidence) -> Iterator[Verdict]:
    """Yield the words of a claim that are only parts of others in its evidence: "peanut" of "peanut-free", "C" of "C++"."""
    own = set(_COMPOUND.findall(whole.lower()))
    known = {word for clause in evidence.clauses for word in _COMPOUND.findall(clause.text.lower())}
    stems = {stem(word) for word in words(whole)}
    for word in sorted(known - own):
        parts = set(re.findall(r"\w+", word))
        is_reworded = word[-1] not in "+#" and all(stem(part) in stems for part in parts)
        if is_reworded or _CALENDAR_DAY.fullmatch(word):
            continue
        for part in sorted(parts & own - known):
            yield Verdict("ungrounded:number" if part.isdigit() else "ungrounded:words", part)


def _is_of_the_speaker(whole: str, said: _Said, evidence: _Evidence) -> bool:
    """Return whether a claim says of the person who speaks what they are or do, and not what they have or are called."""
    opening = re.match(r"(?:the )?([\w-]+)(?!['’]s)\b(?!['’]s)", whole, re.IGNORECASE)
    if opening is None or opening[1].lower() not in evidence.speakers:
        return False
    return not {mark.key for mark in said.marks} & (_HAVING | {"call", "called", "name"})


def _says_has(said: _Said) -> bool:
    """Return whether a claim says that somebody has something: a stop word, and yet all that such a claim says."""
    return any(
        mark.key == "have" and not after.surface.endswith(("ed", "en")) and after.key not in _DENIALS
        for mark, after in pairwise(said.marks)
    )


def _held_by(content: Sequence[Mark], clauses: Sequence[_Clause]) -> set[str]:
    return {mark.key for mark in content if any(_is_covered(mark, one.keys, one.stems) for one in clauses)}


def _fewest_clauses(content: Sequence[Mark], clauses: Sequence[_Clause]) -> list[_Clause]:
    """Return the clauses that hold a claim's words: the one that holds the most, then for the rest the next."""
    left, chosen = list(content), list[_Clause]()
    while left:
        held = {clause: [mark for mark in left if _is_covered(mark, clause.keys, clause.stems)] for clause in clauses}
        most = max(map(len, held.values()), default=0)
        if not most:
            break
        best = [clause for clause, marks in held.items() if len(marks) == most]
        chosen += [clause for clause in best if clause not in chosen]
        left = [mark for mark in left if not any(mark in held[clause] for clause in best)]
    return chosen


def _check_left_out(whole: str, said: _Said, clause: _Clause) -> Iterator[Verdict]:
    own = {mark.key for mark in said.marks} | {stem(word) for word in words(whole)}
    if not clause.is_own:
        yield Verdict("ungrounded:material", clause.text)
    yield from _check_denials(said, clause)
    there, here = (set(_PARTICLE.findall(text)) for text in (clause.text, whole))
    if there and here - there:
        yield Verdict("ungrounded:opposite", min(here - there))
    hedges = {mark.key for mark in clause.marks if mark.key in _HEDGES or mark.key == "?"}
    hedges |= (_HEDGING_STEMS | SUPPOSING) & {stem(word) for word in words(clause.text)}
    hedges = {hedge for hedge in hedges if hedge not in own and stem(hedge) not in own}
    if hedges - {"will"} or ("will" in hedges and _tense_of(whole, clause.speaker) is Tense.NOW):
        yield Verdict("ungrounded:hedge", min(hedges))
    of_another_time = {(Tense.PAST, Tense.NOW)} | (set() if said.is_event else {(Tense.NOW, Tense.PAST)})
    if _is_past(said, clause) or _tenses(whole, clause) in of_another_time:
        yield Verdict("ungrounded:tense", clause.text)
    if (ended := signs_of(clause.text).ends) and signs_of(whole).ends is None and not ended <= set(terms(whole)):
        yield Verdict("ungrounded:negation", clause.text)
    if _tenses(whole, clause) == (Tense.UNSURE, Tense.NOW):
        yield Verdict("ungrounded:hedge", clause.text)
    if _bound_to(said.marks, clause) or _follows_its_verb(whole, clause):
        yield Verdict("ungrounded:order", clause.text)
    if governing := _find_governing(said, clause):
        yield Verdict("ungrounded:words", governing)


def _check_denials(said: _Said, clause: _Clause) -> Iterator[Verdict]:
    if _find_denials(clause.marks) and not _find_denials(said.marks):
        yield Verdict("ungrounded:negation", clause.text)
    for mark in said.marks:
        if mark.key not in clause.keys and not clause.keys.isdisjoint(opposites_of(mark.key)):
            yield Verdict("ungrounded:opposite", mark.surface)


def _is_past(said: _Said, clause: _Clause) -> bool:
    """Return whether a claim says of today what its clause says of the past: "works" for "worked", "is" for "was"."""
    own = {mark.key for mark in said.marks}
    if (clause.keys & _BYGONE) - own and not any(
        mark.key in clause.keys and mark.key.endswith("ed") for mark in said.marks
    ):
        return True
    present = (mark for mark in said.marks if mark.has_ending and mark.key not in clause.keys)
    return any(not clause.keys.isdisjoint(other_tenses(mark.key)) for mark in present)


def _bound_to(marks: Sequence[Mark], clause: _Clause) -> bool:
    """Return whether a word follows another preposition than in the clause, or owns what it does not own there.

    "From Lisbon to Porto" is not "from Porto to Lisbon", and "Bob is my backup" does not make anybody "Bob's backup".
    """
    pairs = {(before.key, mark.key) for before, mark in pairwise(clause.marks)}
    bound = {key for before, key in pairs if before in PREPOSITIONS}
    speaker = set(words(clause.speaker))
    for before, mark in pairwise(marks):
        is_moved = before.key in PREPOSITIONS and before.key in clause.keys and mark.key in bound
        is_owner = mark.key == "'s" and before.key in clause.keys and before.key not in speaker
        if (is_moved or is_owner) and (before.key, mark.key) not in pairs:
            return True
    return False


def _follows_its_verb(claim: str, clause: _Clause) -> bool:
    """Return whether the subject of a claim stands behind the same verb in the clause, so that it is another's object there."""
    from recollect.rules.statements.tagger import tag_english

    verbs = [terms(word.text) for word in tag_english(claim) if word.tag in ("VVZ", "VVB", "VVD")]
    said = terms(clause.text)
    subjects = [terms(noun) for noun in _leading_nouns(claim)]
    if not verbs or not subjects or not verbs[0] or verbs[0][0] not in said:
        return False
    verb = said.index(verbs[0][0])
    return any(noun and noun[0] in said and said.index(noun[0]) > verb for noun in subjects)


def _find_governing(said: _Said, clause: _Clause) -> str:
    """Return the verb that a claim leaves out and that decides about the one that it keeps: "refuse" in "refuse to eat"."""
    own, stems = {mark.key for mark in said.marks}, frozenset(terms(said.text))
    for place, verb in enumerate(clause.marks):
        to = place > 0 and clause.marks[place - 1].key == "to"
        before = clause.marks[place - 1 - to] if place > to else verb
        plain = all(mark.aspect is Aspect.CONTENT and mark.is_word for mark in (before, verb))
        is_kept, is_left_out = _is_covered(verb, own, stems), not _is_covered(before, own, stems)
        joined = to or verb.surface.endswith("ing")
        if plain and joined and is_kept and is_left_out and before.surface.lower() not in STOP_WORDS:
            return before.surface
    return ""


def _same_subject(claim: str, clause: _Clause) -> bool:
    """Return whether a clause may be about whom the claim is about: by its pronoun, its first noun, and the statement reader."""
    ours, theirs = read_statement(claim, clause.speaker), read_statement(clause.text, clause.speaker)
    said, speaker = set(terms(claim)), clause.speaker.lower().split()
    first = " ".join(words(clause.text)[:1])
    if first in _RELATIVE:
        return bool(clause.after) and said.issuperset(terms(clause.after[-1]))
    if first in _OTHERS and any(_subject_of(one) == speaker for one in ours):
        return False
    nouns = _leading_nouns(clause.text)
    if nouns and not any(said.issuperset(terms(noun)) for noun in nouns):
        return False
    if clause.has_any(_WE) and any(_THE_SPEAKERS.issuperset(_subject_of(one)) for one in ours):
        return True
    names = {word.lower() for word in _CAPITALISED.findall(clause.text)}
    pairs = [(_subject_of(one), _subject_of(other)) for one in ours for other in theirs]
    return not pairs or any(_is_subject(one, other, names) or [*speaker, *one] == other for one, other in pairs)


def _leading_nouns(text: str) -> list[str]:
    """Return what a clause calls its subject, up to its verb: "sister" and "Lea"; nothing where that is a pronoun."""
    from recollect.rules.statements.tagger import FINITE, tag_english

    tagged = tag_english(text)
    verb = next((place for place, word in enumerate(tagged) if word.tag in FINITE), 0)
    nominal = [word for word in tagged[:verb] if (word.is_noun or word.tag == "PNP") and word.lower != "name"]
    if not nominal or not nominal[-1].is_noun:
        return []
    return [word.lower for word in (nominal[-2:] if nominal[-1].is_name else nominal[-1:]) if word.is_noun]


def _subject_of(frame: Frame) -> list[str]:
    return (frame.attribute if frame.subject == NO_SUBJECT else frame.subject).split()


def _is_subject(ours: Sequence[str], theirs: Sequence[str], names: Set[str]) -> bool:
    """Return whether two subjects are one: "Ana's sister" and "Lea" are "Ana's sister Lea", "Ana" is not "Ana's brother"."""
    if ours == theirs:
        return True
    named = theirs[-len(ours) :] == ours and names >= set(ours)
    return named or (len(ours) > 1 and ours == theirs[: len(ours)] and names >= set(theirs[len(ours) :]))


def _tense_of(text: str, speaker: str) -> Tense | None:
    frames = read_statement(text, speaker)
    return frames[0].tense if frames else None


def _tenses(claim: str, clause: _Clause) -> tuple[Tense | None, Tense | None]:
    return _tense_of(clause.text, clause.speaker), _tense_of(claim, clause.speaker)


def _reads_the_same(claim: str, evidence: _Evidence) -> bool:
    """Return whether the statement reader finds the claim in a clause of another language, whose words are not stemmed."""
    return any(
        _facts(read_statement(claim, clause.speaker, "de")) & _facts(read_statement(clause.text, clause.speaker, "de"))
        for clause in evidence.clauses
        if read(clause.text).language.value != "english"
    )


def _facts(frames: Sequence[Frame]) -> set[tuple[str, str, str, bool, Tense]]:
    return {(one.subject, one.attribute, one.value, one.negated, one.tense) for one in frames}
