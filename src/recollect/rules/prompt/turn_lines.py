"""Split long lines of an exchange into parts, and summarise lines that leave the window.

``extraction`` finds what the lines state.
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
"""How many of the lines that it summarises a summary names."""

_LONGEST_SUMMARY_LINE = 120
_BREAKS = ("\n\n", "\n", ". ", " ")


def split_parts(text: str, limit: int = MAX_CONTENT_BYTES, whole: Sequence[tuple[int, int]] = ()) -> tuple[str, ...]:
    """Split a text into pieces of at most ``limit`` bytes, between paragraphs, lines, sentences or words where
    possible.

    The places in ``whole`` are not divided if they fit into a piece: half a secret looks like none.

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
    """Return the cut, moved to the beginning of a place it would divide, or to its end if the piece begins with it."""
    for begin, end in places:
        if start < begin < cut < end:
            return begin
        if begin <= start < cut < end and len(text[start:end].encode("utf-8")) <= limit:
            return end
    return cut


def merge_places(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places in order, with overlapping ones merged.

    >>> merge_places([(9, 15), (5, 11), (20, 21)])
    [(5, 15), (20, 21)]
    """
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(places):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


class Said(NamedTuple):
    """A line of the conversation."""

    speaker: str
    text: str


def summary(earlier: str | None, lines: Sequence[Said], limit: int) -> str:
    """Return the summary of lines that left the window: a line each, dropping the oldest where it becomes too long.

    >>> summary(None, [Said("user", "We ship on Friday. Please be ready.")], 200)
    'Earlier in this session:\\nuser: We ship on Friday.'
    """
    known = earlier.split("\n")[1:] if earlier else []
    summary_lines = [*known, *(f"{_on_one_line(line.speaker)}: {_first_sentence(line.text)}" for line in lines)]
    while len(summary_lines) > 1 and len(SUMMARY_OPENING) + sum(len(line) + 1 for line in summary_lines) > limit:
        summary_lines.pop(0)
    return _clip("\n".join([SUMMARY_OPENING, *summary_lines]), limit)


def _first_sentence(text: str) -> str:
    return _clip(_on_one_line(SENTENCE_END.split(text.strip(), maxsplit=1)[0]), _LONGEST_SUMMARY_LINE)


def _on_one_line(text: str) -> str:
    """Return text without line ends and without the sign that stands for one in a summary, so that no text can forge
    another speaker's line.
    """
    return " ".join(text.split()).replace(BREAK, "↵")


def _clip(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def says(content: str, value: str) -> bool:
    """Return whether a statement contains a value as a whole: "The user lives in Porto." says "Porto", not "Port"."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", content, re.I) is not None


def replace_value(content: str, wrong: str, right: str) -> str:
    """Return the statement with one value replaced by another."""
    return re.sub(rf"(?<!\w){re.escape(wrong)}(?!\w)", lambda _: right, content, count=1, flags=re.I)
