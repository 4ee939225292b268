"""Read a claim, and the clauses of the sources that it quotes: who says them, and where each begins and ends."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from recollect.rules.extraction.message import SENTENCE_END, plain_sentences
from recollect.rules.extraction.values import SUPPOSING
from recollect.rules.grounding.proposal import Quote, SourceMemory
from recollect.rules.grounding.quoting import find_places, flatten
from recollect.rules.language.marks import Aspect, Case, Mark
from recollect.rules.language.reading import read
from recollect.rules.language.text import stem, words
from recollect.rules.language.word_lists import word_set
from recollect.rules.time.named_times import named_times
from recollect.rules.time.stretches import Span, read_time

MAX_TIMES = 8
"""How many times of a text are read. Reading takes long, and a claim has no more."""
_CLAUSE_END = re.compile(
    r"(?<=[.!?;…])\s+|, (?=(?:i|we|he|she|they|it)\b)"
    r"|(?P<but>,? but )|,? (?:although|(?<!\bas )though|whereas|while|and then) |, (?=(?:and|so|while|not) )"
    r"| and (?=(?:i|we|he|she|they|it) )|,? (?=(?:who|whose|which) )"
    r"|(?P<noun> and (?=\w)|, (?=(?:my|our|his|her|their|its|the|(?-i:[A-Z])\w*) ))",
    re.IGNORECASE,
)
QUANTIFIERS = word_set("all every each none no everything everybody everyone anything anybody anyone nothing nobody")
_QUOTATION = re.compile(r"""["“„«][^"”“»]*+["”“»]|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w))*+'(?!\w)""")
_SPEAKS = re.compile(r"((?-i:[A-Z])[\w-]+): ")
_LONGEST_SUBJECT = 120
"""How many characters after an "and" are looked at for a subject and its verb."""
_HOLDS_TOGETHER = SUPPOSING | word_set("case provided if unless whether when whenever once until because")
"""Words after which a comma does not end what they govern: "if I get the job, I will move"."""
WE = word_set("we us our ours ourselves wir uns unser unsere")
FIRST_PERSON = WE | word_set("i me my mine myself ich mich mir mein meine")
THE_SPEAKER = word_set("user person")
THE_SPEAKERS = word_set("team")
"""What a claim in the third person calls the person who says "I", besides their name, and those who say "we"."""
RELATIVE = word_set("who whose which")
BOUNDS = word_set(
    "since until till before after by from over under above below more less most least about almost nearly up"
)
"""Words before a number or a date that say on which side of it the truth is."""
WORDS_OF_MEANING = frozenset({Aspect.CONTENT, Aspect.NAME, Aspect.OPPOSITE, Aspect.MODALITY, Aspect.TENSE})


def _stems(marks: Collection[Mark]) -> set[str]:
    """Return the stems of what is said; what is only quoted in it is one mark, and is compared to the letter."""
    return {stem(word)[:64] for mark in marks if not mark.key.startswith("=") for word in words(mark.surface)}


class Clause(NamedTuple):
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
    def read(cls, text: str, after: tuple[str, ...], speaker: str, is_own: bool) -> "Clause":
        marks = read(text).marks
        stems = _stems(marks) | (set(map(stem, after)) if RELATIVE & set(words(text)[:1]) else set())
        return cls(text, after, speaker, is_own, marks, frozenset(mark.key for mark in marks), frozenset(stems))

    def has_any(self, pronouns: Set[str]) -> bool:
        """Return whether one of these pronouns is in it, contractions taken apart; "US" is none."""
        return any(mark.key in pronouns and mark.case is not Case.UPPER for mark in self.marks)


class Evidence:
    """What a proposal quotes, and the clauses of the sources around it."""

    def __init__(self, quotes: Sequence[Quote], by_id: Mapping[str, SourceMemory]) -> None:
        spans = [(flatten(quote.span), by_id[quote.source_id]) for quote in quotes]
        self.text = "\n".join(span for span, _ in spans)
        self.marks = [mark for span, _ in spans for mark in read(span).marks]
        self.keys = {mark.key for mark in self.marks}
        self.stems = _stems(self.marks)
        self.words = {word for span, _ in spans for word in words(span)}
        self.times = [(source.said_at, find_times(span, source.said_at)) for span, source in spans]
        touched = [(one, source) for span, source in spans for one in _touched_clauses(span, source)]
        self.clauses = list(dict.fromkeys(clause for clause, _ in touched))
        speaks = [source for clause, source in touched if clause.has_any(FIRST_PERSON)]
        self.speakers = {word for source in speaks for name in source.speakers for word in words(name)}
        self.speakers |= THE_SPEAKER if speaks else set()
        self.speakers |= THE_SPEAKERS if any(clause.has_any(WE) for clause in self.clauses) else set()


def _touched_clauses(span: str, source: SourceMemory) -> Iterator[Clause]:
    """Yield the whole clauses that a span touches: what is left out of the quotation may deny it."""
    text, speaker = flatten(source.text), (source.speakers or ("Self",))[0]
    places = find_places(span, text)
    own = {word for sentence in plain_sentences(source.text) for word in words(sentence)}
    is_own = not source.speakers or not _is_of_another(places, text, source.speakers)
    for start, clause in split_clauses(text):
        if any(first < start + len(clause) and start < last for first, last in places):
            before = words(text[max(0, start - 80) : start])[-3:]
            is_plain = not source.speakers or own.issuperset(words(clause))
            yield Clause.read(clause, before, speaker, is_own and is_plain)


def _is_of_another(places: Sequence[tuple[int, int]], text: str, speakers: Sequence[str]) -> bool:
    """Return whether a span stands only within quotation marks, or in a line under another's name: "Marta: I hate it"."""
    from recollect.rules.statements.tagger import tag_english

    quoted = [found.span() for found in _QUOTATION.finditer(text)]
    named = _SPEAKS.match(text)
    is_script = named is not None and named[1] not in speakers and tag_english(named[1])[0].is_name
    return is_script or all(any(start < first and last < end for start, end in quoted) for first, last in places)


@lru_cache(maxsize=64)  # several spans of one source are looked for in the same text
def split_clauses(text: str) -> tuple[tuple[int, str], ...]:
    """Return the clauses of a text, without what joins them, and where each begins."""
    found, start = list[tuple[int, str]](), 0
    for joint in _CLAUSE_END.finditer(text):
        if joint[0].startswith(", ") and not _HOLDS_TOGETHER.isdisjoint(words(text[start : joint.start()])):
            continue
        if joint["but"] and is_exception(text[start : joint.start()], text[joint.end() :]):
            continue
        if joint["noun"] and not leading_nouns(SENTENCE_END.split(text[joint.end() :][:_LONGEST_SUBJECT], 1)[0]):
            continue  # "the cat and the dog" are one object, "and my daughter plays chess" is a statement
        found.append((start, text[start : joint.start()]))
        start = joint.end()
    return (*found, (start, text[start:]))


def is_exception(before: str, after: str) -> bool:
    """Return whether a "but" excepts what follows it, as in "everything but olives", and begins no other clause."""
    from recollect.rules.statements.tagger import FINITE, tag_english

    after = SENTENCE_END.split(after[:_LONGEST_SUBJECT], 1)[0]
    excepts = not QUANTIFIERS.isdisjoint(words(before)) and not after.lower().startswith("not ")
    return excepts and (words(before)[-1] in QUANTIFIERS or all(word.tag not in FINITE for word in tag_english(after)))


class Said(NamedTuple):
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
        return written or mark.is_name or (capital and mark.aspect in WORDS_OF_MEANING)


def leading_names(claim: str) -> frozenset[str]:
    """Return the names that open a sentence. Their capital says nothing, so the tagger decides; what it does not know is one."""
    from recollect.rules.statements.tagger import is_unknown, tag_english  # it loads a model of some megabytes

    found = set()
    for sentence in SENTENCE_END.split(claim):
        tagged = tag_english(sentence)
        if tagged and (tagged[0].is_name or (tagged[0].text.isalpha() and is_unknown(tagged[0].lower))):
            found.add(tagged[0].lower)
    return frozenset(found)


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


def find_times(text: str, at: datetime) -> list[_Time]:
    """Return the times that a text names, seen from a moment."""
    return [
        _Time(named.start, named.end, stretch, BOUNDS.intersection(words(text[: named.start])[-2:]))
        for named in islice(named_times(text), MAX_TIMES)
        if (stretch := read_time(named, at)) is not None
    ]


def leading_nouns(text: str) -> list[str]:
    """Return what a clause calls its subject, up to its verb: "sister" and "Lea"; nothing where that is a pronoun."""
    from recollect.rules.statements.tagger import FINITE, tag_english

    tagged = tag_english(text)
    verb = next((place for place, word in enumerate(tagged) if word.tag in FINITE), 0)
    nominal = [word for word in tagged[:verb] if (word.is_noun or word.tag == "PNP") and word.lower != "name"]
    if not nominal or not nominal[-1].is_noun:
        return []
    return [word.lower for word in (nominal[-2:] if nominal[-1].is_name else nominal[-1:]) if word.is_noun]
