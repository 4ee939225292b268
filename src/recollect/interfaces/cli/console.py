"""The terminal: colours, tables that fit it, progress; and stored words that cannot pass for markup or move a cursor."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleDimensions, ConsoleOptions
from rich.segment import Segment
from rich.table import Table

from recollect.model.rendering import BREAK, visible

COPIED = frozenset({"id", "memory", "when", "public key", "root", "ledger root", "state hash"})
"""Columns whose values people copy: they are neither folded nor cut."""

_BRACKETS = re.compile(r"(\\*)\[([a-z#/@][^[]*?\])?")
"""A bracket, with the backslashes before it, and the rest of the tag that it would be."""

BOUNDLESS = 100_000
"""Wider than any table here."""


class _Visible(Console):
    """A console on which stored words move no cursor and hide nothing, however they came to be printed."""

    def render(self, renderable: Any, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


class _Wide(_Visible):
    """A console that cuts and folds only for a terminal: a pipe or a file has no width."""

    @property  # type: ignore[misc]  # nobody sets it
    def size(self) -> ConsoleDimensions:
        return super().size if self.is_terminal else ConsoleDimensions(BOUNDLESS, super().size.height)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print without the blanks with which a table fills its last column."""
        if self.is_terminal:
            super().print(*objects, **how)
            return
        with self.capture() as captured:
            super().print(*objects, **how)
        self.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))


console = _Wide(highlight=False)
_boundless = _Visible(highlight=False, width=BOUNDLESS)
"""A terminal folds what it cannot show, and copies it whole."""
errors = _Visible(stderr=True, highlight=False)

COLOURS = {
    "stored": "green",
    "reinforced": "cyan",
    "superseded": "yellow",
    "contradicted": "magenta",
    "denied": "red",
    "active": "green",
    "contradictory": "magenta",
    "soft_deleted": "red",
    "archived": "blue",
    "redundant": "blue",
    "pending": "yellow",
}


def colour_word(text: str) -> str:
    """Return a status or outcome in its colour."""
    return style_text(COLOURS.get(text, "white"), text)


def escape(text: str) -> str:
    """Return visible words for a line of markup, nothing of which is markup. Directly before a tag ``styled`` is needed.

    Rich's own ``escape`` doubles a backslash at the very end, which is shown twice unless a tag follows.
    """
    return _BRACKETS.sub(_escape_bracket, visible(text))


def to_cell(text: str) -> str:
    """Return stored words as one line of markup, so that none of them begins a row of its own."""
    return escape(join_lines(text))


def join_lines(text: str) -> str:
    return f" {BREAK} ".join(line for line in visible(text).split("\n") if line.strip())


def _escape_bracket(found: re.Match[str]) -> str:
    backslashes, tag = found.groups()
    return f"{backslashes}{backslashes}\\[{tag}" if tag else f"{backslashes}{backslashes[:1]}["


def style_text(style: str, text: str) -> str:
    """Return the same in a colour. Backslashes before the tag that ends it count double."""
    backslashes = "\\" * (len(text) - len(text.rstrip("\\")))
    return f"[{style}]{escape(text)}{backslashes}[/]"


def make_table(titles: str, rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of markup; commas separate the titles of its columns."""
    made = Table(box=None, pad_edge=False)
    for title in titles.split(", "):
        made.add_column(title, no_wrap=title in COPIED)
    for row in rows:
        made.add_row(*row)
    return made


def print_table(titles: str, rows: Iterable[Sequence[str]], nothing: str = "") -> None:
    """Print a table, or a dim line where there is nothing to put into it."""
    made = make_table(titles, rows)
    console.print(made if made.row_count or not nothing else f"[dim]{nothing}[/]")


def print_uncut(titles: str, rows: Iterable[Sequence[str]]) -> None:
    """Print a table as wide as it is, for values that no terminal of the usual width has room for."""
    _boundless.print(make_table(titles, rows))


def print_pairs(values: Mapping[str, str]) -> None:
    """Print names and values, one line each, without cutting them, so that they can be copied."""
    width = max(map(len, values), default=0) + 2
    for name, value in values.items():
        shown = escape(value).replace("\n", "\n" + " " * width)
        console.print(f"[dim]{name:<{width}}[/]{shown}".rstrip(), soft_wrap=True)


@contextmanager
def progress(title: str) -> Iterator[Any]:
    """Return a function of ``(done, total)`` and a title that draws a bar on the error stream, if that is a terminal."""
    if not errors.is_terminal:
        yield lambda done, total, title=title: None
        return
    from rich.progress import Progress

    with Progress(console=errors, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total, title=title: bar.update(task, completed=done, total=total, description=title)
