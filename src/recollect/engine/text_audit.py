"""Whether the text index of a stream holds exactly what its active memories noted when they were indexed."""

from collections.abc import Iterator

from recollect.stores.protocol import TERM_COUNT, IndexedTerm, Reader, Stream

PAGE = 10_000


class TextAudit:
    """Takes the note of every active memory, then walks through the index once.

    Notes are kept as a line of ``length term:count …``, and a posting is looked for in its memory's: taken
    apart, the notes of a large stream would fill the memory. They stand at the numbers of their memories, since there are
    millions of postings to look up.
    """

    def __init__(self, reader: Reader, stream: Stream) -> None:
        self._reader, self._stream = reader, stream
        self._notes: list[str] = []
        self._lengths: list[int | None] = []
        self._noted = self._words = self._postings = 0
        self._misstated = False

    def note(self, number: int, terms: str) -> None:
        """What an active memory noted; each is told once, in the order of their numbers. ``ValueError`` if it is nonsense."""
        length, _, said = terms.partition("\n")[0].partition(" ")
        listed = terms.replace("\n", " ").partition(" ")[2]
        self._misstated |= _count(said) != int(length) and _times(said) != int(length)
        if not_active := number - len(self._notes):
            self._notes += [""] * not_active
            self._lengths += [None] * not_active
        self._notes.append(f" {listed} ")
        self._lengths.append(int(length))
        self._noted += 1
        self._words += int(length)
        self._postings += _count(listed)

    def fault(self) -> str | None:
        """What is wrong with the index, if anything is."""
        if self._misstated or not self._matches():
            return "its postings are not those of the active memories"
        if (self._noted, self._words) != (self._stream.documents, self._stream.words):
            return "its statistics are not those of the active memories"
        return None

    def _matches(self) -> bool:
        """Every posting is noted, all that is noted is there, and each term is counted as often as it occurs."""
        notes, lengths, beyond = self._notes, self._lengths, len(self._notes)
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
                if term != counted or not 0 < number < beyond or lengths[number] != length or word not in notes[number]:
                    return False
                left -= 1
                seen += 1
        return left == 0 and seen == self._postings

    def _pages(self) -> Iterator[list[IndexedTerm]]:
        last = None
        while page := self._reader.postings_after(self._stream, last, PAGE):
            yield page
            last = page[-1][:2]


def _count(listed: str) -> int:
    """How many terms there are. Mostly each is said once, so that this is how long the text is."""
    return listed.count(" ") + 1 if listed else 0


def _times(listed: str) -> int:
    """How often they are said together, which is how long the text is."""
    return sum(int(word.rpartition(":")[2]) for word in listed.split(" ")) if listed else 0
