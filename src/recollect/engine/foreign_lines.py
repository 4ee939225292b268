"""Lines that a program has at hand, read as a file would be."""

from collections.abc import Iterable, Iterator
from typing import Any

from recollect.formats.json_elements import array_elements, begins_a_document
from recollect.formats.protocol import Document, Element, Line, at_line
from recollect.model.errors import BadInput


class ForeignLines:
    """A :class:`recollect.formats.protocol.Source` without a name: errors say in which line, and nothing else."""

    name = ""

    def __init__(self, lines: Iterable[str]) -> None:
        if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
            raise BadInput("must be lines of text.", field="lines", hint="Pass an open file, or text.splitlines().")
        self._lines = [_checked(number, line) for number, line in enumerate(lines, start=1)]
        first = next((line.strip() for line in self._lines if line.strip()), "")
        self.kind = "json" if len(self._lines) > 1 and begins_a_document(first) else "lines"

    def lines(self, *, whole: bool = False) -> Iterator[Line]:
        for number, line in enumerate(self._lines, start=1):
            if whole:
                yield Line(number, line if line.endswith("\n") else f"{line}\n")
            elif line.strip():
                yield Line(number, line.rstrip("\r\n"))

    def lines_at(self, numbers: Iterable[int]) -> Iterator[Line]:
        return (Line(number, self._lines[number - 1].rstrip("\r\n")) for number in numbers)

    def elements(self, *members: str) -> Iterator[Element]:
        text = (line.text for line in self.lines(whole=True))
        for number, cut in enumerate(array_elements(text, self.name, *members), start=1):
            yield Element(number, at_line(self.name, cut.line), cut.value, cut.member)

    def documents(self, suffix: str) -> Iterator[Document]:
        raise BadInput("is a folder, and has no lines.", field="format", hint="Use import_file.")

    def has_table_for(self, query: str) -> bool:
        return False

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        return iter(())


def _checked(number: int, line: object) -> str:
    if not isinstance(line, str):
        raise BadInput("is not text.", field=at_line("", number), hint="Give one record a line, as text.")
    return line
