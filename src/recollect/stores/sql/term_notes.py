"""What an indexed memory notes of its terms, so that they can be taken out again, and compared without the index.

The first line is ``length term:count …`` for what it says; where its key has other words, a second has those.
"""

from collections.abc import Mapping


def written(said: Mapping[str, int], keyed: Mapping[str, int]) -> str:
    first = " ".join([str(sum(said.values())), *_counted(said)])
    return "\n".join([first, " ".join(_counted(keyed))]) if keyed else first


def length_in(note: str) -> int:
    """How long the text is: its key does not make it longer."""
    return int(note.split(maxsplit=1)[0])


def counts_in(note: str) -> dict[str, int]:
    """All terms and how often each occurs.

    >>> counts_in(written({"dark": 2}, {"theme": 1}))
    {'dark': 2, 'theme': 1}
    """
    pairs = (word.rpartition(":") for word in note.split()[1:])
    return {term: int(tf) for term, _, tf in pairs}


def said_in(note: str) -> str:
    """A note of what is said alone.

    >>> counts_in(said_in(written({"dark": 2}, {"theme": 1})))
    {'dark': 2}
    """
    return note.partition("\n")[0]


def _counted(counts: Mapping[str, int]) -> list[str]:
    return [f"{term}:{tf}" for term, tf in counts.items()]
