"""The statement reader: frames of plain statements, and what two frames are to one another.

A frame says which subject has which value for which attribute, within which scope. It is read with a part-of-speech
tagger, so subjects and values are open; attributes come from grammar ("the X of Y is V"), from a predicate table
(``predicates.toml``), or from open rules (quantities, clock times, versions). Data flows one way:

- ``tagger`` cuts a sentence into words with their parts of speech; ``phrases`` reads noun phrases and where a value ends;
  ``clause`` finds how a sentence begins, its subject and its verb.
- ``reader`` takes a text apart into sentences of a known form, and ``clause_rules`` asks the rules for frames, in order:
  ``roles`` and ``changes`` (what changed or ended), ``named_values``, ``predicates`` (the table), ``descriptions`` ("X is V"),
  ``open_verbs`` (any other verb), ``instructions``; ``german`` reads German. ``building`` is what the rules share.
- ``relate`` says what a new ``frame`` is to a stored one.

    >>> frame, = read_statement("The rent is 900 euros")
    >>> frame.slot, frame.value, frame.single
    ('rent', '900 euros', True)
    >>> relate(frame, read_statement("The rent was raised to 950 euros")[0])
    <Relation.CHANGED: 'changed'>
"""

from functools import lru_cache

from recollect.rules.statements.frame import ChangeMark, Frame, Relation, Tense, ValueKind
from recollect.rules.statements.relate import changes_in_same_words, compare, relate
from recollect.rules.statements.tagger import TAGGER_SHA256

__all__ = [
    "READER_VERSION",
    "TAGGER_SHA256",
    "ChangeMark",
    "Frame",
    "Relation",
    "Tense",
    "ValueKind",
    "changes_in_same_words",
    "compare",
    "read_statement",
    "relate",
]

READER_VERSION = 8
"""Raise it when a change of the rules moves slots, values or names of frames."""


@lru_cache(maxsize=512)  # a write reads the same few statements several times
def read_statement(text: str, speaker: str = "Self", language: str | None = None) -> tuple[Frame, ...]:
    """Read one plain statement.

    Return its frames, the main one first; an empty tuple if it is not read (questions, stories, several sentences, an
    unknown language). ``speaker`` is who "I", "we" and "the user" stand for. ``language`` is "en" or "de"; it is
    detected if it is not given.
    """
    from recollect.rules.statements.reader import read  # it loads the tables, which the command line's help must not

    return read(text, speaker, language)
