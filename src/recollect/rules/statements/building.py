"""Putting frames together: what every rule of the reader shares."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from recollect.rules.statements import tables
from recollect.rules.statements.clause import TENTATIVE, VerbGroup
from recollect.rules.statements.frame import NO_SUBJECT, ChangeMark, Frame, Tense, ValueKind, normal_text
from recollect.rules.statements.phrases import (
    CREATURES,
    FILLER,
    Form,
    NounPhrase,
    Tail,
    dimension,
    form_of,
    join,
    kind_of,
)
from recollect.rules.statements.tables import Predicate
from recollect.rules.statements.tagger import Word

SEVERAL = tables.words("nouns", "several")
_SLOT_MODIFIERS = tables.words("nouns", "slot_modifiers")
_ABOVE_ALL = re.compile(r"(?:best|most|least|top|highest|lowest|longest|fastest|worst)(?:-\w+)?$|\w{3,}est$")


def names_the_only_one(words: list[str]) -> bool:
    """Whether one of the words before a noun leaves one thing: "favorite", "main", "most visited", "best-selling"."""
    return any(word in _SLOT_MODIFIERS or _ABOVE_ALL.fullmatch(word) for word in words)


PROPERTY = tables.words("nouns", "property")
FORMER = tables.words("nouns", "former")
NEW = tables.words("nouns", "new")
ROLE_OF_VERB = {verb: nouns.split()[0] for verb, nouns in tables.mapping("roles").items()}
ROLES = {noun: nouns.split()[0] for nouns in tables.mapping("roles").values() for noun in nouns.split()}
"""The nouns of roles, each with the one noun that its slot has."""
PERIOD_ADJECTIVES = {
    "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year", "hourly": "hour",
}  # fmt: skip


@dataclass(slots=True)
class Context:
    """One clause while it is read: who it is about, its verb, what follows, and what limits all of it."""

    speaker: str
    subject_words: list[Word]
    phrase: NounPhrase
    verb: VerbGroup
    rest: list[Word]
    tense: Tense = Tense.NOW
    negated: bool = False
    change: ChangeMark = ChangeMark.NONE
    scope: tuple[str, ...] = ()
    sure: bool = True

    @property
    def subject(self) -> str:
        return self.phrase.whole

    @property
    def is_self(self) -> bool:
        return self.subject == self.speaker

    @property
    def stated_tense(self) -> Tense:
        """The tense of the clause: past for a past verb, else what the clause says."""
        return Tense.PAST if self.verb.past and self.tense is Tense.NOW else self.tense


def first_of(context: Context, *rules: Callable[[Context], list[Frame]]) -> list[Frame]:
    """Return the frames of the first rule that reads a clause; none if no rule does."""
    return next(filter(None, (rule(context) for rule in rules)), [])


def build(
    context: Context,
    attribute: str,
    tail: Tail,
    rule: str,
    *,
    subject: str | None = None,
    one: bool = False,
    tense: Tense | None = None,
    change: ChangeMark | None = None,
    negated: bool | None = None,
    contested: bool = False,
    old_value: str = "",
    predicate: Predicate | None = None,
    value: str | None = None,
    value_kind: ValueKind | None = None,
    open_to_others: bool = False,
) -> Frame:
    """Make a frame of a clause. What the value does not cover is scope or rest; times are scope where values are many."""
    if value is None and (typed := _split_sort(context, tail.value)):
        sort, tail = typed[0], replace(tail, value=typed[1])
        attribute, one, open_to_others = f"{attribute} {sort}", one or typed[2], False
    tense = context.stated_tense if tense is None else tense
    change = context.change if change is None else change
    if tail.now and change is ChangeMark.NONE:
        change = ChangeMark.NOW
    scope = [*context.scope, *_limiting_adverbs(context.verb), *tail.scope]
    # "works at Acme and paints", "lives in Rome and Bari": a joined value says more than one thing
    partial = bool(tail.more) or (one and any(word.tag == "CJC" for word in tail.value))
    negated = context.negated if negated is None else negated
    changed = change in (ChangeMark.START, ChangeMark.CHANGE)  # "moved to Berlin in 2015" need not be the last move
    contested = contested or _says_another(context, tail) or (changed and any(map(_YEAR.search, tail.times)))
    contested = contested and one
    denies_slot = one and negated and bool(tail.value or value)
    if _no_longer_holds(context, tail, change):
        tense = Tense.PAST
    alone = one and not partial and not contested and not denies_slot and context.sure
    single = alone and tense is Tense.NOW
    timed = " ".join(tail.times)
    stay = rule == "be in place" and tense is Tense.PAST
    if timed and (not one or stay) and change is ChangeMark.NONE:
        scope, timed = [*scope, timed], ""  # "was in Prague in April" and "in October" are two stays
    return Frame(
        subject=context.subject if subject is None else subject,
        attribute=attribute,
        value=tail.text if value is None else value,
        value_kind=kind_of(tail.value) if value_kind is None else value_kind,
        scope=tuple(scope),
        single=single,
        negated=negated,
        tense=tense,
        change=change,
        old_value=old_value,
        partial=partial,
        contested=contested,
        rule=rule,
        rest=join(timed, tail.more),
        open_to_others=open_to_others,
        denies_slot=denies_slot,
        planned=alone and context.verb.modal in ("will", "'ll") and tense is Tense.UNSURE,
        key_words=predicate.key_words if predicate else ("", ""),
    )


TYPES = tables.words("nouns", "types")
_ONE_SORT = frozenset(
    "continent religion faith denomination league party position rank county province district".split()
)
"""Sorts of which a thing has one, whatever the verb: "plays in the league of V", "follows the religion of V"."""
_ONE_OF_A_TYPE = frozenset((("associate", "sport"), ("work", "field"), ("write", "language"), ("play", "genre")))
_OF_MANY = tables.words("verbs", "of_many") - {"follow", "play"} | {"hold", "travel", "fill", "leave"}


def _split_sort(context: Context, value: list[Word]) -> tuple[str, list[Word], bool] | None:
    """Split "the city of Leeds" into the sort and the value; the last part says whether such a verb has one of that sort."""
    words = [word for word in value if word.tag != "AT0"]
    if len(words) > 3 and words[0].tag == "AJ0" and words[1].lower in TYPES:
        words = words[1:]  # "the political party of V"
    if len(words) < 3 or words[0].lower not in TYPES or words[1].lower != "of" or any(w.tag == "CJC" for w in words):
        return None
    sort, verb = words[0].lower, context.verb
    one = (verb.lemma, sort) in _ONE_OF_A_TYPE or (sort in _ONE_SORT and verb.lemma not in _OF_MANY and not verb.past)
    return sort, words[2:], one or (verb.lemma, sort) == ("hold", "rank")


_ADDING = frozenset(("also", "too", "additionally", "another", "sometimes", "occasionally", "often"))


def _says_another(context: Context, tail: Tail) -> bool:
    """Whether a statement adds a value to others: "also works at Globex", "works at Globex as well"."""
    said = {*context.verb.adverbs, *(word.lower for word in (*context.rest, *context.subject_words))}
    return not _ADDING.isdisjoint(said) or "as well" in " ".join(tail.scope)


_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def _limiting_adverbs(verb: VerbGroup) -> list[str]:
    """The adverbs of a verb that limit what it says: "rarely drinks", "only drinks"; not "now" and "also"."""
    said_elsewhere = ("no", "longer", "never", *TENTATIVE)
    return [adverb for adverb in verb.adverbs if adverb not in FILLER and adverb not in said_elsewhere]


def _no_longer_holds(context: Context, tail: Tail, change: ChangeMark) -> bool:
    """ "has lived in Porto" need not hold now; "has lived in Porto since 2019" and "has moved to Porto" do."""
    verb = context.verb
    lasts = any(time.startswith(("since ", "for ")) for time in tail.times) or "since" in tail.more.lower()
    return (
        verb.perfect
        and not verb.progressive
        and not lasts
        and change in (ChangeMark.NONE, ChangeMark.NOW)
        and context.tense is Tense.NOW
        and not context.negated
    )


def describe(context: Context, phrase: NounPhrase, tail: Tail, rule: str, **options: object) -> Frame:
    """The frame of a definite description: the owner's ``head`` has the value. Roles that come in several keep every value."""
    words = phrase.head.split()
    former = bool(FORMER & set(words)) and len(words) > 1 and (words[0] != "late" or words[-1] in CREATURES)
    renewed = bool(NEW & set(words)) and len(words) > 1
    words = [word for word in words if word not in NEW and word != "ex"] or words
    owner, head = phrase.owner, " ".join(words)
    named = head == "name"
    if head == "name" and len(owner.split()) > 1:  # "X's dog's name is V" says what "X's dog is V" says
        *before, head = owner.split()
        owner, words = " ".join(before), [head]
    value = tail.text
    if len(words) > 1 and words[0] in PERIOD_ADJECTIVES and form_of(tail.value) is Form.QUANTITY:
        value = f"{value} per {PERIOD_ADJECTIVES[words[0]]}"
        words = words[1:]
    divided = split_off_owner(NounPhrase(owner, " ".join(words)), tail)
    owner, head, words = divided.owner, divided.head, divided.head.split()
    last = words[-1] if words else ""
    attribute, predicate, subject = head, tables.predicates().by_noun.get(head), owner
    if last in ("dose", "dosage") and len(owner.split()) > 1:
        *whose, substance = owner.split()
        attribute, subject = f"take {substance}", " ".join(whose)
    elif predicate is not None and (owner or head not in ROLES):
        attribute = predicate.attribute
    elif not owner and len(words) > 1 and last in ROLES:  # "the thesis supervisor" is who supervises the thesis
        subject, attribute = " ".join(words[:-1]), ROLES[last]
    elif owner and head in ROLES:
        attribute = ROLES[head]
    of_a_thing = any(word.tag == "PRF" for word in context.rest)  # "Gary is the manager of Rovers"
    of_person = attribute == "boss" and context.subject_words[0].is_name and len(owner.split()) <= 2 and not of_a_thing
    if head in ROLES and owner and owner != context.speaker and attribute == "boss" and not of_person:
        attribute = ROLES[head]  # "Ana's manager" is whom Ana reports to; the manager of a shop runs the shop
    if predicate is not None and predicate.lasting:
        options.setdefault("tense", context.tense)  # "the founder was V" still holds
    several = last in SEVERAL and last not in PROPERTY and not names_the_only_one(words[:-1])
    several = several and not (
        named and context.subject_words[0].lower == "the"
    )  # "the name of Ana's pet": she has one
    several = several and form_of(tail.value) is not Form.QUANTITY  # a goal of 300 euros has one amount
    several = several and _CURRENT.isdisjoint(phrase.head.split()[:-1])  # "the current book of the club"
    frame = build(
        context,
        attribute,
        tail,
        rule,
        subject=subject or NO_SUBJECT,
        one=not several,
        predicate=predicate if attribute == (predicate.attribute if predicate else "") else None,
        value=value,
        **options,  # type: ignore[arg-type]
    )
    if former:
        frame = replace(frame, tense=Tense.PAST, single=False)
    if renewed and frame.change is ChangeMark.NONE:
        frame = replace(frame, change=ChangeMark.NOW)
    if predicate is not None and predicate.place and predicate.contest and frame.single:
        frame = replace(frame, open_to_others=True)
    return frame


_CURRENT = frozenset(("current", "present"))

_CHOICES = {
    name.strip(): (aspect, [one.strip() for one in listed.split(",")])
    for aspect, listed in tables.mapping("choices").items()
    for name in listed.split(",")
}


def choice_of(frame: Frame) -> Frame | None:
    """Return what a frame chooses of a few alternatives; None if it chooses none of them.

    To choose one is to turn down the others, so all share one attribute: "use spaces" says "don't use tabs".
    """
    aspect, names = _CHOICES.get(frame.value.lower(), ("", []))
    first, *rest = aspect.split() or [""]
    scope = [one for one in frame.scope if one.removeprefix("over ") not in _SINGULAR_CHOICES and first not in one]
    if not aspect or frame.partial or (frame.negated and len(names) > 2):
        return None
    value = next(name for name in names if name != frame.value.lower()) if frame.negated else frame.value
    return replace(
        frame, attribute=aspect, value=value, negated=False, single=frame.tense is Tense.NOW, scope=tuple(scope),
        key_words=(first, " ".join(rest)), rule=f"choice:{aspect}",
    )  # fmt: skip


_SINGULAR_CHOICES = {normal_text(name) for name in _CHOICES}


def split_off_owner(phrase: NounPhrase, tail: Tail) -> NounPhrase:
    """ "The thesis deadline" as the deadline of the thesis, for nouns that name a time or an amount of the table."""
    words, by_noun = phrase.head.split(), tables.predicates().by_noun
    if phrase.head in by_noun:
        return phrase
    for at in range(1, len(words)):
        predicate = by_noun.get(" ".join(words[at:]))
        if predicate is not None and predicate.kinds <= {"date", "clock", "quantity"} and fits(predicate, tail):
            return NounPhrase(join(phrase.owner, *words[:at]), " ".join(words[at:]))
    return phrase


def is_definite(words: list[Word]) -> bool:
    """Whether a phrase names one thing: it has an owner or starts with "the"."""
    owned = any(word.tag in ("POS", "DPS") or word.text == "'s" for word in words)
    return owned or (bool(words) and words[0].lower in ("the", "this"))


def fits(predicate: Predicate, tail: Tail) -> bool:
    """Whether a value is of a kind that a predicate takes."""
    kinds, form = predicate.kinds, tail.form
    if predicate.measures and dimension(tail.value) != predicate.measures:
        return False  # "down to 2" is no weight
    if "any" in kinds:
        return form not in (Form.NONE, Form.CLAUSE)
    named = form is Form.THE or (form is Form.A and tail.value[-1].is_name)
    return form.value in kinds or ("name" in kinds and named and tail.has_name)
