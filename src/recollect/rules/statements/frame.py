"""What one plain statement says: the types that the statement reader returns."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.rules.statements.values import names_in, normal_text, normal_value

SELF = "Self"
"""Who speaks, in a memory that is one person's own. Rules for the agent are of this subject whoever gives them."""

ANY = "*"
"""The attribute of a frame that names a value and no attribute: "sold the Volvo"."""

NO_SUBJECT = "-"
"""The subject of a definite description without an owner: "The port is 8080"."""


IMPLIED_AGENT = "implied agent"
"""The rule of a frame that says who does what a verb says: "Ana reviews the report" makes Ana a reviewer, not the only one."""


class ValueKind(StrEnum):
    """What sort of thing a value is."""

    NAME = "name"
    QUANTITY = "quantity"
    DATE = "date"
    CLOCK = "clock"
    VERSION = "version"
    NOUN = "noun"
    ADJECTIVE = "adjective"
    OTHER = "other"
    NONE = "none"


class Tense(StrEnum):
    """When a statement holds. UNSURE: planned, reported, possible."""

    NOW = "now"
    PAST = "past"
    UNSURE = "unsure"


class ChangeMark(StrEnum):
    """What a statement says about a change."""

    NONE = "none"
    NOW = "now"
    START = "start"
    CHANGE = "change"
    STOP = "stop"


class Relation(StrEnum):
    """What a new statement is to a stored one."""

    SAME = "same"
    CHANGED = "changed"
    RETRACTED = "retracted"
    CONTESTED = "contested"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Frame:
    """One statement: a subject has a value for an attribute, within a scope.

    ``single``: the attribute has one value at a time, the statement holds now and says nothing else, so its key leaves
    the value out. ``contested``: the value may belong to another attribute ("moved to Kubernetes"), so the frame meets the
    slot and never supersedes. ``partial``: more clauses follow. ``rest`` holds the words that are neither value nor scope.
    """

    subject: str
    attribute: str
    value: str = ""
    value_kind: ValueKind = ValueKind.NONE
    scope: tuple[str, ...] = ()
    single: bool = False
    negated: bool = False
    tense: Tense = Tense.NOW
    change: ChangeMark = ChangeMark.NONE
    old_value: str = ""
    partial: bool = False
    contested: bool = False
    rule: str = ""
    rest: str = ""
    open_to_others: bool = False
    """A second value without a change marker is contested, because both may hold ("lives in Lisbon", "lives in Alfama")."""
    denies_slot: bool = False
    """The frame denies one value of a single-valued attribute ("doesn't live in Lisbon"): others may still hold."""
    planned: bool = False
    """The value that a single-valued attribute will have: a fact from the day on that the statement names, if it names one."""
    key_words: tuple[str, str] = ("", "")
    """Aspect and qualifier of the key, where they are not the attribute itself."""

    @property
    def slot(self) -> str:
        """The text that a single-valued statement shares with its successors: subject, attribute, scope, tense.

        Subject and attribute are one run of words, so that "the code for Ana's gate" and "Ana's gate code" are one slot.
        """
        who = "" if self.subject == NO_SUBJECT else self.subject
        parts = [f"{who} {self.attribute}".strip(), *sorted(self.scope)]
        if self.tense is not Tense.NOW:
            parts.append(f"({self.tense.value})")
        return " | ".join(parts)

    @property
    def subject_value(self) -> str | None:
        """The text by which a retraction finds its target: the subject and the value it ends; None without a value.

        Where a value holds names, only the names count: "sold the Volvo" ends "drives a red Volvo".
        """
        value = self.old_value or self.value
        ended = names_in(value) or normal_value(value)
        return f"{self.subject} | {ended}" if ended else None

    @property
    def name(self) -> tuple[str, str, str]:
        """Subject, aspect and qualifier for a canonical key. The value is part of it unless the frame is single-valued."""
        aspect, qualifier = self.key_words
        where = " ".join(sorted(self.scope))
        if self.tense is not Tense.NOW:
            where = f"{where} {self.tense.value}".strip()
        if self.single:
            return self.subject, aspect or self.attribute, f"{qualifier} {where}".strip()
        if self.rule.startswith("instruction"):
            said = qualifier or normal_text(self.value)
        else:
            said = f"not {normal_text(self.value)}" if self.denies_slot else normal_text(self.value)
        said = f"{said} {where}".strip()
        if self.partial or self.rest:
            said = f"{said} {normal_text(self.rest)}".strip()
        return self.subject, aspect or self.attribute, said
