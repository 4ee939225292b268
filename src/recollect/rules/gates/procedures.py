"""Handle procedures: how something is done, as numbered steps in the imperative.

A memory of kind ``procedural`` holds its steps as its content, one a line, ``1.`` to ``N.``. It is made only when a
caller asks for that kind, or a person says "How to …:" and then the steps. Its category is ``procedural``, and a read
returns it only if it names that category or that kind.

A step is recognised as imperative by how it begins. A requested procedure refuses a step only if it is certainly none
("The server restarts", "I open the file"); a detected procedure accepts a step only if it certainly is one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recollect.model.record import Candidate
from recollect.model.vocabulary import Kind
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.language.word_lists import load_table, word_set

CATEGORY = "procedural"
ORDINARY_KINDS = tuple(kind for kind in Kind if kind is not Kind.PROCEDURAL)
"""The kinds of a read that does not ask for procedures."""
NUMBERED = "procedure:numbered"
AS_GIVEN = "procedure:as_given"
DETECTED = "extracted:procedure"

_FEWEST_DETECTED = 2
_LONGEST_TITLE = 80
_MOST_CLAUSES = 8
"""How many parts of a sentence are searched for its verb."""
_HINT = 'Write one step a line, as in "1. Open the valve".'


class Procedure(NamedTuple):
    """A procedure: its title if it has one, and the steps without their numbers."""

    title: str | None
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """The steps as they are stored."""
        return "\n".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))


def names_procedures(categories: str | Iterable[str] | None) -> bool:
    """Return whether a read that names these categories asks for procedures."""
    return CATEGORY in ((categories,) if isinstance(categories, str) else categories or ())


def place_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Put a procedure into the category of procedures, by which agents ask for it and their allowlists admit it.

    The border gate reads the category, so this gate comes first.
    """
    candidate = draft.candidate
    if candidate.kind is not Kind.PROCEDURAL or candidate.category == CATEGORY:
        return draft
    if "category" in candidate.model_fields_set:
        if not context.policy.procedures.steps_required or context.promoting:
            return draft
        where = f"Procedures are kept in the category {CATEGORY!r}. Leave the category out, or use tags."
        return Rejection("procedure", "procedure_category", where)
    return draft._replace(candidate=candidate.model_copy(update={"category": CATEGORY}))


def steps_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Require numbered steps of a procedure; number plain lines that certainly are instructions.

    A promoted memory was a procedure already.
    """
    candidate, settings = draft.candidate, context.policy.procedures
    if candidate.kind is not Kind.PROCEDURAL or not settings.steps_required or context.promoting:
        return draft
    found = read_steps(candidate.content, settings.max_steps)
    if isinstance(found, Rejection):
        return found
    rule = AS_GIVEN if found.text == candidate.content else NUMBERED
    return draft.decide(rule, f"{len(found.steps)} steps", candidate=_apply_steps(candidate, found))


def _apply_steps(candidate: Candidate, found: Procedure) -> Candidate:
    named = candidate.canonical_key or candidate.title or candidate.topic_id
    title = {"title": found.title} if found.title and not named else {}
    return candidate.model_copy(update={"content": found.text, **title})


_STEP = re.compile(r"\s{0,8}(?:step )?([0-9]{1,3}) ?(?:[.):] {1,4}|[.)](?=[^\W\d]))(\S.*)", re.I)
_BULLET = re.compile(r"\s{0,8}[-*•] +(\S.*)")
_HOW_TO = re.compile(r"(?:here(?:'|’| i)s |this is |remember )?how to (\S[^:?\n]*):\s*", re.I)


def read_steps(text: str, max_steps: int) -> Procedure | Rejection:
    """Return the steps of a text given as a procedure, or what is wrong with it.

    >>> read_steps("How to water the plants:\\n1) Fill the can\\n2) Pour slowly", 30)
    Procedure(title='water the plants', steps=('Fill the can', 'Pour slowly'))
    >>> read_steps("Fill the can\\nPour slowly", 30).text
    '1. Fill the can\\n2. Pour slowly'
    >>> read_steps("The plants like water", 30).code
    'procedure_not_numbered'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    opening = _HOW_TO.fullmatch(lines[0]) if lines else None
    title, lines = (_read_title(opening), lines[1:]) if opening else (None, lines)
    steps = _read_numbered(lines)
    if steps is None and (below := _read_numbered(lines[1:])) and (heading := _read_heading(lines[0])) is not None:
        title, steps = heading, below
    if steps is None:
        steps = _read_plain(lines)
    if not steps:
        return Rejection("procedure", "procedure_not_numbered", f"A procedure is numbered steps from 1 on. {_HINT}")
    if len(steps) > max_steps:
        limit = f"It has {len(steps)} steps; the policy allows {max_steps}. Make it two procedures."
        return Rejection("procedure", "procedure_too_many_steps", limit)
    for number, step in enumerate(steps, start=1):
        if _is_no_instruction(step):
            what = f"Step {number} does not say what to do. Begin it with a verb, as in 'Open the valve'."
            return Rejection("procedure", "procedure_not_imperative", what)
    return Procedure(title, tuple(steps))


def detect(message: str, max_steps: int) -> tuple[Procedure | None, str]:
    """Return a procedure that a message certainly states, if any, and the message without it.

    It needs a line "How to …:" and right after it two or more steps, numbered from 1, each beginning with an imperative
    verb. A quotation or code does not count.

    >>> detect("FYI\\nHow to water the plants:\\n1. Fill the can\\n2. Pour slowly\\nThanks!", 30)
    (Procedure(title='water the plants', steps=('Fill the can', 'Pour slowly')), 'FYI\\nThanks!')
    >>> detect("How to water plants:\\n1. Cans\\n2. Water", 30)
    (None, 'How to water plants:\\n1. Cans\\n2. Water')
    """
    lines = message.splitlines()
    for start, opening in _find_openings(lines):
        end = start + 1
        while end < len(lines) and _STEP.fullmatch(lines[end]):
            end += 1
        steps = _read_numbered(lines[start + 1 : end]) or []
        if _FEWEST_DETECTED <= len(steps) <= max_steps and all(_is_instruction(step) for step in steps):
            return Procedure(_read_title(opening), tuple(steps)), "\n".join((*lines[:start], *lines[end:]))
    return None, message


def _find_openings(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    in_code = False
    for place, line in enumerate(lines):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        opening = _HOW_TO.fullmatch(line)
        if opening is not None and not in_code and _read_title(opening) is not None:
            yield place, opening


def _read_title(opening: re.Match[str] | None) -> str | None:
    title = opening[1].strip() if opening is not None else ""
    return title if 0 < len(title) <= _LONGEST_TITLE else None


def _read_heading(line: str) -> str | None:
    """Return a line as the heading of the steps below it, if it can be one."""
    if _STEP.fullmatch(line) or _BULLET.fullmatch(line):
        return None
    heading = line.strip(" #*_").removesuffix(":").strip(" *_")
    return heading if 0 < len(heading) <= _LONGEST_TITLE else None


def _read_numbered(lines: Sequence[str]) -> list[str] | None:
    """Return the steps of lines numbered from 1; an indented line continues the step before it."""
    steps: list[str] = []
    for line in lines:
        step = _STEP.fullmatch(line)
        if step is not None and int(step[1]) == len(steps) + 1:
            steps.append(step[2].strip())
        elif step is None and steps and line[:2].isspace():
            steps[-1] = f"{steps[-1]} {line.strip()}"
        else:
            return None
    return steps


def _read_plain(lines: Sequence[str]) -> list[str] | None:
    """Return lines without numbers as steps, if each of them certainly is an instruction."""
    bare = [bullet[1].strip() if (bullet := _BULLET.fullmatch(line)) else line.strip() for line in lines]
    return bare if all(_is_instruction(line) for line in bare) else None


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_TABLE = load_table(__package__, "words.toml")["instructions"]
_OPENERS, _CLAUSES = word_set(_TABLE["openers"]), word_set(_TABLE["clauses"])
_VERBS, _NO_VERBS, _FINITE = word_set(_TABLE["verbs"]), word_set(_TABLE["no_verbs"]), word_set(_TABLE["finite"])
_IN_ING, _IN_ED = word_set(_TABLE["in_ing"]), word_set(_TABLE["in_ed"])


def _is_instruction(step: str) -> bool:
    words = _from_the_verb(step)
    return bool(words) and words[0] in _VERBS and not _goes_on_as_statement(words)


def _is_no_instruction(step: str) -> bool:
    words = _from_the_verb(step)
    if not words or step[0] in "`$":  # a command to type, or words of another script
        return False
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in _NO_VERBS or _goes_on_as_statement(words):
        return True
    if first in _VERBS:
        return False
    tells_who_does = second.endswith("s") and not _VERBS.isdisjoint({second[:-1], second[:-2]})
    inflected = (first.endswith("ing") and first not in _IN_ING) or (first.endswith("ed") and first not in _IN_ED)
    return tells_who_does or inflected  # "opening", "opened": it reports an action


def _goes_on_as_statement(words: Sequence[str]) -> bool:
    return len(words) > 1 and words[1] in _FINITE


def _from_the_verb(step: str) -> list[str]:
    """Return the words of a step from where its verb should stand up to the next comma."""
    words: list[str] = []
    for part in step.split(",", _MOST_CLAUSES):
        words = _without_openers([word.lower().replace("’", "'") for word in _WORD.findall(part)])
        if not words or words[0] not in _CLAUSES:
            break
    return words


def _without_openers(words: list[str]) -> list[str]:
    """Drop what comes before a verb: openers, adverbs, "do not"."""
    while len(words) > 1:
        is_adverb = words[0].endswith("ly") and words[0] not in _VERBS
        if not is_adverb and words[0] not in _OPENERS and words[:2] != ["do", "not"]:
            break
        words = words[2 if words[0] == "do" else 1 :]
    return words
