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
cuts a sentence into plain statements, taking off how they begin (:mod:`openings`) and bringing them into one
:mod:`wording`; the rules in :mod:`decisions`, :mod:`tastes`, :mod:`people` and :mod:`home_and_work` look at each in
turn, and the first that understands it says what it states; what none of them reads is shown to the statement reader
(:mod:`stated`). The words that they know stand in :mod:`words`.
``testing/cases/extraction.yaml`` holds the messages that the rules are measured on.
"""

from collections.abc import Iterable, Iterator

from recollect.model.vocabulary import EventType, Kind
from recollect.rules.extraction.clauses import Clause, clauses_of, takes_back, without_trailing
from recollect.rules.extraction.decisions import CORRECTIONS, DECISIONS, REQUESTED, REQUESTED_MEANING, requested
from recollect.rules.extraction.fact import Extracted
from recollect.rules.extraction.home_and_work import HOME_AND_WORK
from recollect.rules.extraction.message import Sentence, sentences
from recollect.rules.extraction.openings import asks_to_keep_that
from recollect.rules.extraction.people import PEOPLE
from recollect.rules.extraction.rule import Found, Rule
from recollect.rules.extraction.stated import STATED, STATED_MEANING, stated
from recollect.rules.extraction.tastes import TASTES

__all__ = ["MOST_FACTS", "RULES", "Extracted", "extract"]

_RULES: tuple[Rule, ...] = (*DECISIONS, *TASTES, *PEOPLE, *HOME_AND_WORK, *CORRECTIONS)

_BY_TRIGGER: dict[str, tuple[int, ...]] = {
    word: tuple(place for place, rule in enumerate(_RULES) if word in rule.triggers)
    for word in frozenset[str]().union(*(rule.triggers for rule in _RULES))
}
"""Each trigger with the places of its rules, so that a statement is shown only to rules that may read it."""

RULES: dict[str, str] = {
    **{rule.code: rule.meaning for rule in _RULES},
    REQUESTED: REQUESTED_MEANING,
    STATED: STATED_MEANING,
}
"""Every reason code that an extracted fact may carry, with its meaning in words that can follow "because"."""

MOST_FACTS = 20
"""A message that states more about its writer than this is a document, and the rest of it is left out."""


def extract(text: str, *, most: int = MOST_FACTS) -> tuple[Extracted, ...]:
    """Every fact that the writer of a message plainly states about themselves, in the order of the message.

    The same fact said twice is returned once. Nothing is scanned for secrets here: pass each ``content`` through the
    privacy gate like any other memory.
    """
    found: dict[tuple[str | None, str, bool], Extracted] = {}
    for fact in _facts(text):
        found.setdefault((fact.key, fact.value.casefold(), fact.ended), fact)
        if len(found) == most:
            break
    return tuple(found.values())


def _facts(text: str) -> Iterator[Extracted]:
    held: list[Extracted] = []
    for sentence in sentences(text):
        if asks_to_keep_that(sentence.text) is not None:
            continue
        if not takes_back(sentence):
            yield from held
        held = list(_stated(sentence))
    yield from held


def _stated(sentence: Sentence) -> Iterator[Extracted]:
    """What one sentence states; a statement without a subject counts only beside one that was understood."""
    understood = False
    for clause in clauses_of(sentence):
        if clause.elided and not understood:
            return
        facts = list(_read(clause))
        understood = bool(facts)
        yield from facts


def _read(clause: Clause) -> Iterable[Extracted]:
    """What a clause states; where no rule reads the whole, what it states before its first comma."""
    before = without_trailing(clause)
    found = _by_rule(clause) or (_by_rule(before) if before is not None else [])
    if found:
        return found
    if clause.requested:
        return [_extracted(fact, REQUESTED, clause) for fact in requested(clause)]
    return [_extracted(fact, STATED, clause) for fact in stated(before or clause)]


def _by_rule(clause: Clause) -> list[Extracted]:
    places = {place for word in clause.words if word in _BY_TRIGGER for place in _BY_TRIGGER[word]}
    for rule in (_RULES[place] for place in sorted(places)):
        if found := rule.facts(clause):
            return [_extracted(fact, rule.code, clause) for fact in found]
    return []


def _extracted(found: Found, code: str, clause: Clause) -> Extracted:
    ended = clause.ended or found.ended
    corrects = clause.correcting or ended or found.replaces is not None
    return Extracted(
        kind=Kind.PROFILE if found.key else Kind.SEMANTIC,
        key=found.key,
        value=found.value,
        content=found.content,
        event_type=EventType.CORRECTION if corrects else found.event_type,
        rule=found.code or code,
        sentence=clause.sentence.original,
        title=found.title,
        ended=ended,
        replaces=found.replaces,
        target_space=clause.space,
    )
