"""Work out drawings: word differences, bars of scores, the chart of growth, and the graph of where a memory comes from.

Everything here turns values into places and sizes; templates make SVG of them.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from recollect.model.receipt import Growth
from recollect.model.rendering import one_line
from recollect.rules.trust.provenance import Lineage, label

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
MAX_TOKENS = 1_500
"""Longer texts are not compared word by word: that takes time in the square of their length."""


class Piece(NamedTuple):
    """A part of two texts that are compared: ``same``, ``gone`` or ``new``."""

    kind: str
    text: str


def word_diff(old: str, new: str) -> list[Piece]:
    """Return the words of two texts in one line, each marked as in both, gone or new.

    >>> [tuple(one) for one in word_diff("lives in Lisbon", "lives in Porto")]
    [('same', 'lives in '), ('gone', 'Lisbon'), ('new', 'Porto')]
    """
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(before), len(after)) > MAX_TOKENS:
        return [Piece("gone", old), Piece("new", new)]
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(before[a:b])))
        else:
            pieces += [
                Piece(kind, text)
                for kind, text in (("gone", "".join(before[a:b])), ("new", "".join(after[c:d])))
                if text
            ]
    return pieces


def marked(text: str, start: int | None, span: str) -> list[Piece]:
    """Return a text in pieces, of which the quoted span is ``new``; the span alone if it stands there only in other letters."""
    if start is None:
        return [Piece("new", span)]
    end = start + len(span)
    pieces = (Piece("same", text[:start]), Piece("new", text[start:end]), Piece("same", text[end:]))
    return [piece for piece in pieces if piece.text]


WIDTH = 400
COLOURS = ("nearest_words", "meaning", "text", "authority", "names", "importance", "relation")
"""Features that have a colour of their own, by its number; all others share the last one."""


class Part(NamedTuple):
    """One feature's share of a bar: where it begins and how wide it is, of ``WIDTH``."""

    name: str
    value: float
    x: float
    width: float
    colour: int


def score_bar(breakdown: Mapping[str, float], best: float) -> list[Part]:
    """Return the parts of a bar as long as the score is, compared with the best one; what takes away has no width."""
    parts, x = [], 0.0
    for name in sorted(breakdown, key=lambda one: -breakdown[one]):
        value = breakdown[name]
        width = max(0.0, value) / best * WIDTH if best > 0 else 0.0
        width = min(width, WIDTH - x)
        if abs(value) >= 0.005:
            colour = COLOURS.index(name) if name in COLOURS else len(COLOURS)
            parts.append(Part(name, value, round(x, 1), round(width, 1), colour))
        x += width
    return parts


CHART = (560, 120)
GAP = 2


class Bar(NamedTuple):
    """One day of the chart."""

    day: Growth
    x: float
    y: float
    width: float
    height: float


def growth_bars(days: Sequence[Growth]) -> list[Bar]:
    """Return a bar for each day, the highest as high as the chart."""
    width, height = CHART
    most = max((one.written for one in days), default=0) or 1
    step = width / max(1, len(days))
    bars = []
    for place, day in enumerate(days):
        tall = day.written / most * (height - 4)
        tall = max(tall, 2.0) if day.written else 0.0
        bars.append(Bar(day, round(place * step, 1), round(height - tall, 1), round(step - GAP, 1), round(tall, 1)))
    return bars


NODE = (184, 46)
SPACING = (216, 60)
MARGIN = 8
MOST_IN_A_COLUMN = 8
MOST_COLUMNS = 4
LINE = 27
"""How many characters fit on one line of a node."""


class Node(NamedTuple):
    """A memory in the drawing."""

    key: str
    id: str | None
    x: int
    y: int
    lines: tuple[str, ...]
    is_root: bool


class Graph(NamedTuple):
    """The drawing: sources to the left, what was made of it to the right."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: tuple[str, ...]
    """Lines from a source to what was made of it, as SVG paths."""
    left_out: int


def provenance_graph(ancestors: Lineage, descendants: Lineage) -> Graph:
    """Return the nearest sources of a memory and what was made of it, in columns by distance."""
    columns: dict[int, list[str]] = {0: [ancestors.root]}
    for lineage, side in ((ancestors, -1), (descendants, 1)):
        for key, distance in lineage.distances().items():
            columns.setdefault(side * distance, []).append(key)
    sources = {**descendants.sources, **ancestors.sources}
    shown = {at: keys[:MOST_IN_A_COLUMN] for at, keys in columns.items() if abs(at) <= MOST_COLUMNS}
    first, tallest = min(shown), max(len(keys) for keys in shown.values())
    nodes: dict[str, Node] = {}
    for at, keys in shown.items():
        offset = (tallest - len(keys)) * SPACING[1] // 2
        for place, key in enumerate(keys):
            x, y = MARGIN + (at - first) * SPACING[0], MARGIN + offset + place * SPACING[1]
            lines = _two_lines(label(sources[key]))
            nodes.setdefault(key, Node(key, sources[key].id, x, y, lines, key == ancestors.root))
    pairs = {
        (parent, child)
        for lineage in (ancestors, descendants)
        for child, parents in lineage.parents.items()
        for parent in parents
        if parent in nodes and child in nodes
    }
    edges = tuple(_edge(nodes[parent], nodes[child]) for parent, child in sorted(pairs))
    width = MARGIN * 2 + (max(shown) - first) * SPACING[0] + NODE[0]
    height = MARGIN * 2 + (tallest - 1) * SPACING[1] + NODE[1]
    return Graph(width, height, tuple(nodes.values()), edges, len(sources) - len(nodes))


def _two_lines(text: str) -> tuple[str, ...]:
    text = one_line(text, 2 * LINE)
    if len(text) <= LINE:
        return (text,)
    cut = text.rfind(" ", LINE // 2, LINE + 1)
    cut = cut if cut > 0 else LINE
    return (text[:cut], one_line(text[cut:], LINE))


def _edge(parent: Node, child: Node) -> str:
    (wide, tall), half = NODE, (SPACING[0] - NODE[0]) // 2
    x1, y1, x2, y2 = parent.x + wide, parent.y + tall // 2, child.x, child.y + tall // 2
    return f"M{x1} {y1} C{x1 + half} {y1} {x2 - half} {y2} {x2} {y2}"
