"""What one exchange leaves behind: which of its words are worth keeping, and how the rest is summed up.

All of it is decided by rule from the words themselves. What a person plainly says of themselves is found by
``extraction``; this module adds the plain statements about anything else, cuts long lines into parts, and makes the
summary of what leaves the window.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.model.record import MAX_CONTENT_BYTES
from recollect.rules.extraction import Extracted
from recollect.rules.extraction.message import plain_sentences
from recollect.rules.extraction.words import LEADS_IN, QUESTION_WORDS, SUPPOSING
from recollect.rules.text import terms
from recollect.rules.word_lists import word_set

SUMMARY_TITLE = "Session summary"
SUMMARY_OPENING = "Earlier in this session:"
MAX_SUMMARISED = 100
"""How many of the lines that it sums up a summary names."""

_FEWEST_TERMS = 3
_LONGEST_STATEMENT = 300
_LONGEST_SUMMARY_LINE = 120
_OPENS_NO_STATEMENT = word_set(
    """it this that these those they he she there you your thanks thank great ok okay sure yes no yeah please hi hello
    hey wow oh hmm well write make give tell show explain help create generate list find add fix update use let's lets
    summarize summarise translate describe remember note same another such so and but or also sounds perfect awesome
    nice good cool haha lol sorry can could would will should shall may might must do does did is are was were am has
    have had check delete remove restart start stop run send open close read put take get set try keep call email ask
    install build test deploy move copy rename change turn switch review refactor implement compare draft edit format
    plan schedule book order buy search look go come wait cancel print save load download upload merge commit push pull
    it's that's there's they're you're we'll gonna knowing being appreciate way"""
)
"""A sentence that opens with one of these asks, answers, or points at something outside itself."""
_POINTS_OUTSIDE = word_set("this that these those it it's they them above below here you your you're you've yours")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_BREAKS = ("\n\n", "\n", ". ", " ")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s")


def statements(message: str, facts: Sequence[Extracted], most: int) -> tuple[str, ...]:
    """The sentences of a message that plainly state something, besides those in which a fact was found already.

    >>> statements("The build server stands in Frankfurt. Could you check it?", [], 5)
    ('The build server stands in Frankfurt.',)
    """
    understood = {fact.sentence for fact in facts}
    said = dict.fromkeys(s for s in plain_sentences(message) if s not in understood and _states(s))
    return tuple(said)[:most]


def _states(sentence: str) -> bool:
    if "?" in sentence or len(sentence) > _LONGEST_STATEMENT or not sentence[:1].isalnum():
        return False
    words = [word.lower() for word in _WORD.findall(sentence)]
    opens = words[0] if words else ""
    if opens in _OPENS_NO_STATEMENT or opens in QUESTION_WORDS or opens in LEADS_IN:
        return False
    doubtful = not SUPPOSING.isdisjoint(words) or not _POINTS_OUTSIDE.isdisjoint(words)
    return not doubtful and len(set(terms(sentence))) >= _FEWEST_TERMS


def parts(text: str, limit: int = MAX_CONTENT_BYTES, whole: Sequence[tuple[int, int]] = ()) -> tuple[str, ...]:
    """A text in pieces of at most so many bytes, cut between paragraphs, lines, sentences or words where there are any.

    What stands at the places ``whole`` is not divided, if it fits into a piece: half a secret looks like none.

    >>> parts("one two three", limit=8)
    ('one two ', 'three')
    >>> parts("one two three", limit=8, whole=[(4, 12)])
    ('one ', 'two thre', 'e')
    """
    pieces, start, places = [], 0, merged(whole)
    while len(text[start:].encode("utf-8")) > limit:
        cut = _between(places, text, start, start + _cut(text[start : start + limit], limit), limit)
        pieces.append(text[start:cut])
        start = cut
    return tuple(piece for piece in (*pieces, text[start:]) if piece.strip())


def _cut(text: str, limit: int) -> int:
    fits = len(text.encode("utf-8")[:limit].decode("utf-8", "ignore"))
    for sign in _BREAKS:
        at = text.rfind(sign, fits // 2, fits)
        if at >= 0:
            return at + len(sign)
    return fits


def _between(places: Sequence[tuple[int, int]], text: str, start: int, cut: int, limit: int) -> int:
    """The cut, moved to the beginning of what it would divide, or to its end if the piece begins with it."""
    for begin, end in places:
        if start < begin < cut < end:
            return begin
        if begin <= start < cut < end and len(text[start:end].encode("utf-8")) <= limit:
            return end
    return cut


def merged(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places in order, those that overlap as one.

    >>> merged([(9, 15), (5, 11), (20, 21)])
    [(5, 15), (20, 21)]
    """
    one: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if one and begin < one[-1][1]:
            one[-1] = (one[-1][0], max(one[-1][1], end))
        else:
            one.append((begin, end))
    return one


class Said(NamedTuple):
    """One line of the conversation."""

    speaker: str
    text: str


def summary(earlier: str | None, lines: Sequence[Said], limit: int) -> str:
    """The summary of what left the window: a line each, the oldest given up first where it becomes too long.

    >>> summary(None, [Said("user", "We ship on Friday. Please be ready.")], 200)
    'Earlier in this session:\\nuser: We ship on Friday.'
    """
    known = earlier.split("\n")[1:] if earlier else []
    told = [*known, *(f"{line.speaker}: {_first_sentence(line.text)}" for line in lines)]
    while len(told) > 1 and len(SUMMARY_OPENING) + sum(len(line) + 1 for line in told) > limit:
        told.pop(0)
    return _clipped("\n".join([SUMMARY_OPENING, *told]), limit)


def _first_sentence(text: str) -> str:
    first = " ".join(_SENTENCE_END.split(text.strip(), maxsplit=1)[0].split())
    return _clipped(first, _LONGEST_SUMMARY_LINE)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def says(content: str, value: str) -> bool:
    """Whether a statement names a value as a whole: "The user lives in Porto." says "Porto", and not "Port"."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", content, re.I) is not None


def put_right(content: str, wrong: str, right: str) -> str:
    """The same statement with one value in the place of another."""
    return re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", lambda _: right, content, count=1, flags=re.I)
