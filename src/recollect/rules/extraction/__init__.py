"""What a person plainly says of themselves in one message to an agent.

    >>> for fact in extract("Hi, I'm Ana. I live in Lisbon and I love fado."):
    ...     print(fact.key, "|", fact.value, "|", fact.content, "|", fact.rule)
    name | Ana | The user's name is Ana. | extracted:name
    city | Lisbon | The user lives in Lisbon. | extracted:home
    likes | fado | The user loves fado. | extracted:likes

Only plain statements count. Questions, hypotheses, wishes, quotations, other people's facts, role play, jokes, code,
drafts, passing states and whatever points outside the message yield nothing: a fact that is missed can be said again, a
wrong one is believed.

Reading order: :mod:`message` takes out what is not the writer's own and cuts the rest into sentences; :mod:`clauses`
cuts a sentence into plain statements, without how they begin (``rules.statements.clause``); :mod:`facts` reads each with
the statement reader, :mod:`decisions` what was decided, corrected or asked to be remembered; :mod:`said` keeps word for
word what neither understands.
``tests/cases/extraction.yaml`` holds the messages that the rules are measured on.
"""

from collections.abc import Iterator
from typing import NamedTuple

from recollect.model.vocabulary import EventType, Kind, Space
from recollect.rules.extraction import decisions, facts
from recollect.rules.extraction.clauses import Clause, split_clauses, takes_back, without_trailing
from recollect.rules.extraction.decisions import POINTS_BACK
from recollect.rules.extraction.facts import Found
from recollect.rules.extraction.message import Sentence, own_sentences
from recollect.rules.statements.clause import asks_to_keep_that

__all__ = ["MOST_FACTS", "Extracted", "extract"]

MOST_FACTS = 20
"""A message that states more about its writer than this is a document, and the rest of it is left out."""


class Extracted(NamedTuple):
    """One fact that a person plainly stated.

    ``content`` is one sentence in the third person that stands on its own: "The user lives in Lisbon." It names the
    person as "the user", says "they" and "their" for "I" and "my", and ends in a full stop.
    """

    kind: Kind
    """``profile`` for a fact with a key, ``semantic`` for decisions, corrections and whatever was to be remembered."""
    key: str | None
    """The fact key of a profile fact, such as ``city``; None for a semantic one."""
    value: str
    """The value as it was said: "Ana", "Lisbon", "dark mode"."""
    content: str
    event_type: EventType
    rule: str
    """The reason code of the rule that found it; ``rules/reasons.toml`` says what each one means."""
    sentence: str
    """The sentence of the message that it was said in, with its blanks collapsed."""
    title: str | None = None
    """The name of the concept, where many values of one key may hold at once ("Profile taste coffee")."""
    ended: bool = False
    """It said that the fact no longer holds, or does not: "I no longer live in Porto", "I don't live in Porto"."""
    replaces: str | None = None
    """The value that it corrects: "Porto" in "it's Lisbon, not Porto"."""
    target_space: Space | None = None
    """Where the person asked to keep it: "remember this for me", "note for the project"."""

    @property
    def points_back(self) -> bool:
        """Whether it is a value alone ("no, I meant Lisbon"), which only makes sense beside what it corrects."""
        return self.content.startswith(POINTS_BACK)


def extract(text: str, *, most: int = MOST_FACTS) -> tuple[Extracted, ...]:
    """Return every fact that the writer of a message plainly states about themselves, in the order of the message.

    The same fact said twice is returned once. Nothing is scanned for secrets here: pass each ``content`` through the
    privacy gate like any other memory.
    """
    found: dict[tuple[str | None, str, bool], Extracted] = {}
    for fact in _read_message(text):
        found.setdefault((fact.key, fact.value.casefold(), fact.ended), fact)
        if len(found) == most:
            break
    return tuple(found.values())


def _read_message(text: str) -> Iterator[Extracted]:
    """Yield the facts of each sentence, unless the next one takes them back."""
    held: list[Extracted] = []
    for sentence in own_sentences(text):
        if asks_to_keep_that(sentence.text) is not None:
            continue
        if not takes_back(sentence):
            yield from held
        held = list(_read_sentence(sentence))
    yield from held


def _read_sentence(sentence: Sentence) -> Iterator[Extracted]:
    """Yield what one sentence states; a statement without a subject counts only after one that was understood."""
    found: list[Extracted] = []
    for clause in split_clauses(sentence):
        if clause.elided and not found:
            return
        found = _read_clause(clause)
        yield from found


def _read_clause(clause: Clause) -> list[Extracted]:
    """Return what a clause states; where the whole is not understood, what it states before its first comma."""
    before = without_trailing(clause)
    found = _read_whole(clause) or (_read_whole(before) if before is not None else [])
    if not found and clause.requested:
        found = list(decisions.read_request(clause))
    return [_extract_fact(fact, clause) for fact in found]


def _read_whole(clause: Clause) -> list[Found]:
    return decisions.read_decision(clause) or facts.read_facts(clause) or decisions.read_correction(clause)


def _extract_fact(found: Found, clause: Clause) -> Extracted:
    corrects = clause.correcting or found.ended or found.replaces is not None
    return Extracted(
        kind=Kind.PROFILE if found.key else Kind.SEMANTIC,
        key=found.key,
        value=found.value,
        content=found.content,
        event_type=EventType.CORRECTION if corrects else found.event_type,
        rule=found.code,
        sentence=clause.sentence.original,
        title=found.title,
        ended=found.ended,
        replaces=found.replaces,
        target_space=clause.space,
    )
