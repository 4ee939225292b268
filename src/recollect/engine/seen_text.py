"""Text statistics of what a caller may see, in streams of which it may see only a part.

How rare a word is goes into every score. Counted over memories that are hidden from whoever asks, it would tell how
many of them have that word: one could write a word down, ask for it, and read off the score who else wrote it.

A stream counts its words as a whole, and that is what is used wherever nothing in it is hidden.
"""

from collections.abc import Mapping, Sequence

from recollect.engine.context import Engine
from recollect.rules.bm25 import TextStatistics
from recollect.stores.protocol import Later, Posting, Reader, Selection, Stream

Postings = Mapping[tuple[int, str], Sequence[Posting]]
"""The index entries of a term in a stream."""


def partly_hidden(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> Later[dict[int, int]]:
    """The streams that hold something active which the caller may not see, each with how much of it the caller sees."""
    scopes, categories = engine.sight
    if scopes is None and categories is None:
        return dict
    beyond = [(stream, reader.count_beyond(stream, scopes, categories)) for stream in streams]
    return lambda: {s.number: max(s.documents - hidden, 0) for s, count in beyond if (hidden := count())}


def seen_postings(engine: Engine, reader: Reader, partly: Mapping[int, int], postings: Postings) -> Postings:
    """The same without the entries of hidden memories."""
    selection = engine.selecting(equal={"status": "active"})
    return {
        (number, term): _seen(reader, engine, number, of_term, selection) if number in partly else of_term
        for (number, term), of_term in postings.items()
    }


def _seen(
    reader: Reader, engine: Engine, number: int, of_term: Sequence[Posting], selection: Selection
) -> Sequence[Posting]:
    stream = reader.stream_numbered(engine.tenant, number)
    seen = reader.visible(stream, [posting[0] for posting in of_term], selection) if of_term else set()
    return [posting for posting in of_term if posting[0] in seen]


def seen_statistics(
    streams: Sequence[Stream], partly: Mapping[int, int], postings: Postings, counted: Mapping[int, Mapping[str, int]]
) -> tuple[TextStatistics, dict[str, int]]:
    """How many texts there are and how long, and how many have each term, as far as they may be seen.

    Of a stream that is partly hidden a term's entries are counted one by one. A term that is too common to be read there
    counts as if everybody had it. How long its texts are is taken from those that were read.
    """
    documents = {s.number: partly.get(s.number, s.documents) for s in streams}
    totals: dict[str, int] = {}
    for number, frequencies in counted.items():
        for term, count in frequencies.items():
            seen = len(postings[number, term]) if (number, term) in postings else documents[number]
            totals[term] = totals.get(term, 0) + (seen if number in partly else count)
    words = sum(_words(s, documents[s.number], postings) if s.number in partly else s.words for s in streams)
    return TextStatistics(sum(documents.values()), words), {term: count for term, count in totals.items() if count}


def _words(stream: Stream, documents: int, postings: Postings) -> int:
    lengths = {entry[0]: entry[2] for (number, _), of in postings.items() if number == stream.number for entry in of}
    return round(documents * sum(lengths.values()) / len(lengths)) if lengths else documents
