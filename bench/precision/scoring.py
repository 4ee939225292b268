"""How good the answers are: precision and recall of what a question brings up, and why a case is not wholly right."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from precision.cases import Belief, Case
from recollect.rules.language.text import terms


@dataclass(frozen=True)
class Answer:
    """What was told, part by part; the prelude as its texts. A way of asking that has no parts leaves the others out."""

    case: Case
    relevant: tuple[str, ...]
    pinned: tuple[str, ...] | None = None
    questions: tuple[str, ...] = ()
    prelude: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        return self.case.relevant.is_met_by(self.relevant) and not self.unmet_parts

    @property
    def unmet_parts(self) -> tuple[str, ...]:
        """The parts that are told whatever is asked and are not as the case wants them."""
        if self.pinned is None:
            return ()
        met = {
            "pinned": self.case.pinned.is_met_by(self.pinned),
            "open questions": self.case.questions.is_met_by(self.questions),
            "prelude": self.case.prelude.is_met_by(self.prelude),
        }
        return tuple(part for part, is_met in met.items() if not is_met)


class Figures(NamedTuple):
    """Of some answers taken together. ``None`` where nothing was told, or nothing was to be told."""

    precision: float | None
    recall: float | None
    right: int
    cases: int


def figures(answers: Sequence[Answer]) -> Figures:
    """Counted over what the questions brought up, in those cases that say what that is."""
    judged = [(answer, answer.case.relevant.only) for answer in answers]
    told = sum(len(answer.relevant) for answer, wanted in judged if wanted is not None)
    wanted_in_all = sum(len(wanted) for _, wanted in judged if wanted is not None)
    both = sum(len(wanted.intersection(answer.relevant)) for answer, wanted in judged if wanted is not None)
    return Figures(
        both / told if told else None,
        both / wanted_in_all if wanted_in_all else None,
        sum(answer.is_right for answer in answers),
        len(answers),
    )


def why_wrong(answer: Answer) -> Iterator[str]:
    """A line for each thing that is amiss: what is missing, what should not be there, and the words that it hangs on."""
    case = answer.case
    known = {belief.id: belief for belief in case.beliefs}
    wanted = case.relevant.only if case.relevant.only is not None else frozenset(answer.relevant) - case.relevant.lacks
    for id in sorted(wanted.difference(answer.relevant)):
        yield f"missing: {id} ({_shared(case, known[id])})"
    for id in answer.relevant:
        if id not in wanted:
            yield f"too much: {id} ({_shared(case, known[id])})"
    yield from (f"not as wanted: {part}" for part in answer.unmet_parts)


def _shared(case: Case, belief: Belief) -> str:
    """What a question and a belief have in common, by the belief's words and by its names."""
    asked = set(terms(case.text))
    said = asked.intersection(terms(belief.content))
    named = asked.intersection(terms(" ".join((belief.name.replace("_", " "), *belief.aliases))))
    return f"shares {_listed(said)} of its words, {_listed(named - said)} more of its names"


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words)) or "none"
