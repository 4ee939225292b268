"""What becomes of the lines of an exchange: long ones are cut into parts, and those that leave the window are summed up.

What the lines state is found by ``extraction``.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.model.record import MAX_CONTENT_BYTES
from recollect.model.rendering import BREAK
from recollect.rules.extraction.message import SENTENCE_END

SUMMARY_TITLE = "Session summary"
SUMMARY_OPENING = "Earlier in this session:"
MAX_SUMMARISED = 100
"""How many of the lines that it sums up a summary names."""

_LONGEST_SUMMARY_LINE = 120
_BREAKS = ("\n\n", "\n", ". ", " ")


def split_parts(text: str, limit: int = MAX_CONTENT_BYTES, whole: Sequence[tuple[int, int]] = ()) -> tuple[str, ...]:
    """A text in pieces of at most so many bytes, cut between paragraphs, lines, sentences or words where there are any.

    What stands at the places ``whole`` is not divided, if it fits into a piece: half a secret looks like none.

    >>> split_parts("one two three", limit=8)
    ('one two ', 'three')
    >>> split_parts("one two three", limit=8, whole=[(4, 12)])
    ('one ', 'two thre', 'e')
    """
    pieces, start, places = [], 0, merge_places(whole)
    while len(text[start:].encode("utf-8")) > limit:
        cut = _move_cut(places, text, start, start + _find_cut(text[start : start + limit], limit), limit)
        pieces.append(text[start:cut])
        start = cut
    return tuple(piece for piece in (*pieces, text[start:]) if piece.strip())


def _find_cut(text: str, limit: int) -> int:
    fits = len(text.encode("utf-8")[:limit].decode("utf-8", "ignore"))
    for sign in _BREAKS:
        at = text.rfind(sign, fits // 2, fits)
        if at >= 0:
            return at + len(sign)
    return fits


def _move_cut(places: Sequence[tuple[int, int]], text: str, start: int, cut: int, limit: int) -> int:
    """The cut, moved to the beginning of what it would divide, or to its end if the piece begins with it."""
    for begin, end in places:
        if start < begin < cut < end:
            return begin
        if begin <= start < cut < end and len(text[start:end].encode("utf-8")) <= limit:
            return end
    return cut


def merge_places(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same places in order, those that overlap as one.

    >>> merge_places([(9, 15), (5, 11), (20, 21)])
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
    told = [*known, *(f"{_on_one_line(line.speaker)}: {_first_sentence(line.text)}" for line in lines)]
    while len(told) > 1 and len(SUMMARY_OPENING) + sum(len(line) + 1 for line in told) > limit:
        told.pop(0)
    return _clip("\n".join([SUMMARY_OPENING, *told]), limit)


def _first_sentence(text: str) -> str:
    return _clip(_on_one_line(SENTENCE_END.split(text.strip(), maxsplit=1)[0]), _LONGEST_SUMMARY_LINE)


def _on_one_line(text: str) -> str:
    """Words that end no line, nor hold the sign that stands for a line's end where a summary is told: nobody brings another
    speaker along."""
    return " ".join(text.split()).replace(BREAK, "↵")


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def says(content: str, value: str) -> bool:
    """Whether a statement names a value as a whole: "The user lives in Porto." says "Porto", and not "Port"."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", content, re.I) is not None


def replace_value(content: str, wrong: str, right: str) -> str:
    """The same statement with one value in the place of another."""
    return re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", lambda _: right, content, count=1, flags=re.I)
