"""What a format is: how somebody else's file is read as records, and how memories are written as such a file.

A format is pure. It never opens anything: it asks a :class:`Source` for the lines, elements, documents or rows of what
the user named, and says of each record what ``add`` would be given for it, or why it is no memory. Every record gets a
:class:`Foreign`: nothing is dropped without a word.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from recollect.model.record import ORIGIN as ORIGIN
from recollect.model.record import Memory

FIRST = "first"
"""The key in an origin of the origin before it."""


class Line(NamedTuple):
    """A line of text; ``number`` counts from 1, blank lines too."""

    number: int
    text: str


def at_line(name: str, number: int) -> str:
    """Return a line as errors name it: with the file in which it stands, if it stands in one.

    >>> at_line("facts.jsonl", 7), at_line("", 7)
    ('facts.jsonl, line 7', 'line 7')
    """
    return f"{name}, line {number}" if name else f"line {number}"


class Element(NamedTuple):
    """An element of a JSON array, the place where it begins, and the name of the member that holds the array, if one does."""

    number: int
    place: str
    value: Any
    member: str = ""


class Document(NamedTuple):
    """A Markdown file in a folder, under its path within it; ``problem`` says why it could not be read.

    ``front`` is its front matter, and ``text`` what follows, from ``first_line`` on.
    """

    path: str
    text: str
    front: Mapping[str, Any]
    first_line: int = 1
    problem: str | None = None


class Source(Protocol):
    """What the user named, opened for reading. Each method reads from the beginning, in bounded memory."""

    @property
    def name(self) -> str:
        """The file's name, without its folder; empty if it is no file, and lines were given."""

    @property
    def kind(self) -> str:
        """``lines``, ``json``, ``folder``, ``database`` or ``server``: what its name and its first bytes say that it is."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Which column holds which field, where the user said so: some formats do not."""

    def lines(self, *, whole: bool = False) -> Iterator[Line]:
        """Return every line that is not blank, without its end; or, if they are wanted ``whole``, every line as it stands."""

    def lines_at(self, numbers: Iterable[int]) -> Iterator[Line]:
        """Return these lines, in this order; ``lines`` must have been read to the end before."""

    def elements(self, *members: str) -> Iterator[Element]:
        """Return the elements of a JSON array: the document itself, or what stands under one of the ``members``.

        One ``PassedOver`` stands for each other list of objects.
        """

    def documents(self, suffix: str) -> Iterator[Document]:
        """Return the text files of a folder, by path."""

    def has_table_for(self, query: str) -> bool:
        """Return whether there is a database with the table that a query needs."""

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """Return the rows of a query, by its name, from whatever database belongs to it; none if that has no such table."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """One record of a foreign file: what ``add`` would be given for it, or why it is not taken in.

    ``number`` counts the records of the file. ``refused`` says that it is broken, ``skipped`` that it should not
    come along, such as one that was deleted there. ``earlier`` says that it is an older version of one that
    follows, ``put_away`` that it is kept for the record only, and archived. ``entry`` is a record that is kept even where
    another memory says the same already. ``guessed`` names the column whose words were taken for the content, where
    nobody said which it is. ``note`` says what of it could not be kept.
    """

    number: int
    place: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    refused: str | None = None
    skipped: str | None = None
    earlier: bool = False
    put_away: bool = False
    entry: Mapping[str, Any] | None = None
    guessed: str | None = None
    note: str | None = None


Reads = Callable[[Source], Iterator[Foreign]]
Writes = Callable[[Iterable[Memory]], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format by the name that people type. Without ``write`` it can only be read."""

    name: str
    title: str
    read: Reads
    write: Writes | None = None
    files: str | None = None
    """A pattern for the names of the files that are read where the user names a folder or a zip archive."""
    mapped: bool = False
    """Whether columns may be mapped."""
    table: str | None = None
    """What its table is usually called where the user names a PostgreSQL server; such a format can be read from one."""
    tells_scope: bool = True
    """Whether what it writes can say who may see a memory. If not, what is not shared stays out of it."""
    history: str | None = None
    """The name of the query that reads a history of changes, if the format keeps one in another file."""


def origin(format: str, record: Mapping[str, Any], *names: str, earlier: Any = None) -> dict[str, Any]:
    """Return what ``meta.imported_from`` says: the format, and these fields of the record as they were.

    What was imported before keeps its ``first`` origin: each move would otherwise hide the one before it.
    """
    kept = {"format": format, **{name: record[name] for name in names if record.get(name) is not None}}
    if isinstance(earlier, Mapping) and earlier:
        kept[FIRST] = earlier.get(FIRST, earlier)
    return kept
