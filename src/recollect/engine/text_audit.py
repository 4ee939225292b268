"""Whether the text index of a stream holds exactly what its active memories noted when they were indexed."""

from collections.abc import Iterator

from recollect.stores.protocol import TERM_COUNT, IndexedTerm, Reader, Stream

PAGE = 10_000


class TextAudit:
    """Takes the note of every active memory, then walks through the index once.

    Notes are kept as they are, a line of ``length term:count …``, and a posting is looked for in its memory's: taken
    apart, the notes of a large stream would fill the memory.
    """

    def __init__(self, reader: Reader, stream: Stream) -> None:
        self._reader, self._stream = reader, stream
        self._notes: dict[int, str] = {}
        self._lengths: dict[int, int] = {}
        self._postings = 0

    def note(self, number: int, terms: str) -> None:
        """What an active memory noted. ``ValueError`` if that cannot be read."""
        length, _, listed = terms.partition(" ")
        self._lengths[number] = int(length)
        self._notes[number] = f" {listed} "
        self._postings += listed.count(" ") + 1 if listed else 0

    def fault(self) -> str | None:
        """What is wrong with the index, if anything is."""
        if not self._matches():
            return "its postings are not those of the active memories"
        if (len(self._notes), sum(self._lengths.values())) != (self._stream.documents, self._stream.words):
            return "its statistics are not those of the active memories"
        return None

    def _matches(self) -> bool:
        """Every posting is noted, all that is noted is there, and each term is counted as often as it occurs."""
        notes, lengths = self._notes, self._lengths
        counted, often = None, None
        left, seen, word = 0, 0, ""
        for page in self._pages():
            for term, number, tf, length in page:
                if number == TERM_COUNT:
                    if left:
                        return False
                    counted, left, often = term, tf, None
                    continue
                if tf != often:
                    often, word = tf, f" {term}:{tf} "
                if term != counted or lengths.get(number) != length or word not in notes[number]:
                    return False
                left -= 1
                seen += 1
        return left == 0 and seen == self._postings

    def _pages(self) -> Iterator[list[IndexedTerm]]:
        last = None
        while page := self._reader.postings_after(self._stream, last, PAGE):
            yield page
            last = page[-1][:2]
