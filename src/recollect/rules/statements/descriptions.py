"""Frames of the copula: definite descriptions with a value, states, ages, places, times, and everything else that "is"."""

import re
from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import (
    NEW,
    PROPERTY,
    ROLES,
    Context,
    build,
    describe,
    is_definite,
    names_the_only_one,
)
from recollect.rules.statements.frame import ChangeMark, Frame, Tense, ValueKind
from recollect.rules.statements.named_values import read_color
from recollect.rules.statements.phrases import (
    CREATURES,
    DEGREE,
    DEICTIC,
    PERIODS,
    Form,
    Tail,
    canonical,
    content,
    dimension,
    form_of,
    is_possessive,
    noun_phrase,
    split_tail,
)
from recollect.rules.statements.predicates import read_predicate
from recollect.rules.statements.tagger import Word, is_unknown

STATES = tables.states()
_NOT_VALUES = tables.words("nouns", "not_values")
_NOT_A_ROLE = frozenset("one part kind type sort product best same first last only most reason result example".split())
_MEASURES = {
    "tall": "height", "high": "height", "long": "length", "wide": "width", "deep": "depth", "thick": "thickness",
    "heavy": "weight",
}  # fmt: skip
_NOT_ONE_THING = frozenset("one some part another each every this that these those other all both many most".split())
_PLURAL_ONLY = (["pronoun"], ["hour"], ["initial"], ["coordinate"], ["headquarters"])
"""Plurals that have one value: "her pronouns are she/her"."""
_SAYS_NOTHING = frozenset("like gonna such no nothing one".split())
_STATUS_NOUNS = frozenset("status state mode condition stage phase".split())


def read_swapped(context: Context) -> list[Frame]:
    """ "NAME is the N of Y", "NAME is my N": the subject is the value."""
    rest, subject = context.rest, context.subject_words
    if context.verb.lemma in ("serve", "act") and rest and rest[0].lower == "as" and not context.verb.past:
        rest = rest[1:]  # "serves as principal of Tarn School"
    elif not context.verb.copula:
        return []
    if not rest or any(is_possessive(w) or w.tag == "DPS" for w in subject):
        return []
    indefinite = [word.lower for word in rest[:2]] == ["one", "of"]
    if indefinite or context.is_self or subject[0].lower in ("the", "this", "that", "a", "an", "it", "there"):
        return []
    role, after = _split_role(rest)
    if role is None:
        return []
    phrase = noun_phrase(role, context.speaker)
    head = phrase.head.split()
    special = len(head) > 1 and names_the_only_one(head)
    if not (phrase.owner or special) or not head or head[0] in _NOT_A_ROLE:
        return []
    if form_of(subject) not in ((Form.NAME, Form.BARE, Form.ADJECTIVE) if special else (Form.NAME,)):
        return []
    return [describe(context, phrase, replace(after, value=subject), "swapped")]


def _split_role(rest: list[Word]) -> tuple[list[Word] | None, Tail]:
    """The definite description at the start of a predicate, and what follows it."""
    start = next((at for at, word in enumerate(rest) if word.lower not in ("now", "currently", "also", "still")), 0)
    now = any(word.lower == "now" for word in rest[:start])
    rest = rest[start:]
    if not rest:
        return None, Tail([])
    links = ("of", "for", "in", "at", "behind")
    of = next((at for at, word in enumerate(rest) if word.tag == "PRF" or word.lower in links), None)
    first = split_tail(rest)
    owned = rest[0].tag == "DPS" or any(is_possessive(word) for word in first.value)
    if owned and not (of and of <= len(first.value)):
        role, after = first.value, first
    elif of and (rest[0].lower == "the" or owned or rest[0].tag in ("NN1", "NN0", "NP0") or _is_titled(rest[:of])):
        after = split_tail(rest[of + 1 :])
        role = [*rest[: of + 1], *after.value]
    elif rest[0].lower == "the" and names_the_only_one([canonical(word) for word in first.value]):
        role, after = first.value, first
    else:
        return None, Tail([])
    if any(word.tag == "CJC" for word in role) or role[-1].tag == "AJ0" or rest[0].lower in ("a", "an"):
        return None, Tail([])
    after.now = after.now or now
    return role, after


def _is_titled(words: list[Word]) -> bool:
    """ "prime minister of", "first secretary of": an office with an adjective and no article."""
    return len(words) > 1 and words[0].tag in ("AJ0", "ORD") and words[-1].tag in ("NN0", "NN1")


def read_copula(context: Context) -> list[Frame]:
    """Frames of "X is …"."""
    rest = context.rest
    if not rest:
        return []
    if rest[0].tag == "PRP" and rest[0].lower not in ("about", "around"):
        return [_read_preposition(context)]
    tail = split_tail(rest)
    if not tail.value:
        return []
    if tail.value[-1].lower == "intolerant" and len(tail.value) == 2:
        return [replace(build(context, "allergy", Tail(tail.value[:1]), "state"), key_words=("allergic", ""))]
    if state := _read_state(context, tail):
        return state
    if (color := read_color(context, tail)) is not None:
        return [color]
    if (measure := _read_measure(context, tail)) is not None:
        return [measure]
    if timed := _read_bare_time(context, tail):
        return timed
    if _is_slot(context, tail):
        return [describe(context, context.phrase, tail, "nominal")]
    return [build(context, "be", tail, "be")]


def read_status(context: Context) -> list[Frame]:
    """ "The status of the order is on hold": what follows is a state, and no place."""
    rest = context.rest
    if not context.verb.copula or not 1 < len(rest) <= 3 or rest[0].tag != "PRP" or not _is_status(context):
        return []
    return (
        []
        if rest[0].lower in ("about", "around")
        else [describe(context, context.phrase, Tail(rest), "nominal status")]
    )


def _is_status(context: Context) -> bool:
    return not _STATUS_NOUNS.isdisjoint(context.phrase.head.split()[-1:])


def _read_preposition(context: Context) -> Frame:
    """ "The office is in Graz", "The retro is on Friday", "The ticket is on level 12"."""
    preposition, tail = context.rest[0].lower, split_tail(context.rest[1:])
    form = tail.form
    noun = tables.predicates().by_noun.get(context.phrase.head)
    if form in (Form.CLOCK, Form.DATE):
        if noun is not None and {"clock", "date"} & noun.kinds:
            return describe(context, context.phrase, tail, "nominal time")
        habit = any(w.lower.endswith(("days", "ends")) for w in tail.value)  # of "on Tuesdays" there may be several
        return build(context, "time", tail, "be at time", one=not habit)
    if preposition in ("in", "at", "on") and form is Form.NAME:
        if noun is not None and noun.place:
            return describe(context, context.phrase, tail, "nominal place")
        attribute = "whereabouts" if context.is_self else "location"
        return build(context, attribute, tail, "be in place", one=not context.is_self, open_to_others=True)
    if form is Form.QUANTITY and preposition == "at" and dimension(tail.value):
        return build(context, f"be at {dimension(tail.value)}", tail, "be at quantity", one=True)
    if form is Form.QUANTITY and tail.value[0].tag == "ORD" and len(tail.value) > 1 and preposition in ("in", "on"):
        return build(context, f"be {preposition} {canonical(tail.value[-1])}", tail, "ordinal", one=True)
    if form in (Form.NAME, Form.BARE, Form.THE) and len(tail.value) == 2 and tail.value[1].tag == "CRD":
        return build(context, f"be {preposition} {canonical(tail.value[0])}", tail, "numbered", one=True)
    return build(context, f"be {preposition}", tail, "be prep")


def _read_bare_time(context: Context, tail: Tail) -> list[Frame]:
    """ "Curfew is 10 pm", "Practice is Tuesday": the same as "is at 10 pm" and "is on Tuesday"."""
    words, form = context.subject_words, tail.form
    bare = len(words) == 1 and words[0].tag in ("NN0", "NN1") and words[0].lower not in DEICTIC | PERIODS
    if not bare or form not in (Form.CLOCK, Form.DATE):
        return []
    preposition = "at" if form is Form.CLOCK else "on"
    return read_predicate(replace(context, rest=[Word(preposition, preposition, "PRP"), *context.rest]))


_DUTIES = ("on call for", "on duty for", "in charge of", "responsible for", "care of")


def read_duty(context: Context) -> list[Frame]:
    """ "Priya is on call for the payments team": the team has one who is; this week's and next week's are two."""
    said = " ".join(word.lower for word in (context.rest[:3] if context.verb.copula else context.rest[:2]))
    duty = next((duty for duty in _DUTIES if said.startswith(duty)), "")
    if context.verb.copula == (duty == "care of") or form_of(context.subject_words) is not Form.NAME or not duty:
        return []
    if duty == "care of" and (context.verb.lemma != "take" or context.verb.past):
        return []
    thing = split_tail(context.rest[len(duty.split()) :])
    if not thing.value or thing.form not in (Form.NAME, Form.THE, Form.BARE):
        return []
    value = Tail(context.subject_words, [*thing.scope, *thing.times], [], thing.more, thing.now)
    return [build(context, duty, value, "duty", subject=noun_phrase(thing.value, context.speaker).whole, one=True)]


def _read_state(context: Context, tail: Tail) -> list[Frame]:
    """ "User is vegetarian", "The pool is closed": adjectives that exclude one another."""
    words = [w for w in tail.value if w.lower not in ("a", "an")]
    if len(words) != 1 or words[0].lower not in STATES or tail.scope or tail.more or _is_status(context):
        return []
    word = words[0].lower
    if context.phrase.head == STATES[word]:
        return []  # "Ana's diet is vegan" names the attribute
    frame = build(context, STATES[word], tail, "state", one=True)
    if frame.single and word in ("divorced", "single", "widowed") and not frame.negated:
        gone = replace(frame, value="", value_kind=ValueKind.NONE, negated=True, rule="implied", change=ChangeMark.STOP)
        return [frame, *(replace(gone, attribute=attribute) for attribute in ("spouse", "partner"))]
    return [frame]


def _read_measure(context: Context, tail: Tail) -> Frame | None:
    """ "Anna is 34", "I am 182 cm tall", "The desk is 70 cm wide", "The puppy was 7.5 kg"."""
    if tail.form is not Form.QUANTITY:
        return None
    lowers = [word.lower for word in tail.value]
    if lowers[-1] == "old" or (len(tail.value) == 1 and _is_person(context) and lowers[0].isdecimal()):
        return build(context, "age", replace(tail, value=tail.value[:1]), "age", one=True)
    if lowers[-1] in _MEASURES:
        return build(context, _MEASURES[lowers[-1]], replace(tail, value=tail.value[:-1]), "measure", one=True)
    if dimension(tail.value) == "mass" and _is_person(context):
        return build(context, "weight", tail, "measure", one=True)
    return None


def _is_person(context: Context) -> bool:
    words = context.subject_words
    plain_name = words[0].is_name and len(words) <= 2 and not context.phrase.owner
    return context.is_self or plain_name or context.phrase.head in CREATURES


def _is_slot(context: Context, tail: Tail) -> bool:
    """Whether "X is V" gives a definite description its value. "Is on vacation" and "is very strict" are no values."""
    phrase, words, form = context.phrase, context.subject_words, tail.form
    head = phrase.head.split()
    if not head or (context.verb.plural and head[-1:] not in _PLURAL_ONLY) or words[0].lower in _NOT_ONE_THING:
        return False
    if head[0] in _NOT_ONE_THING and not (head[0] == "most" and is_definite(words)):  # "the most visited sight"
        return False
    if DEGREE & set(context.verb.adverbs) or context.rest[0].lower in DEGREE:
        return False
    first = tail.value[0]
    empty = canonical(first) in _NOT_VALUES or first.lower in _SAYS_NOTHING
    if empty and form is not Form.QUANTITY and not first.is_name:
        return False
    noun = tables.predicates().by_noun.get(" ".join(word for word in head if word not in NEW))
    place = next((at for at, word in enumerate(head) if at and word in ("in", "on", "at")), len(head))
    head = head[:place]  # "position on the field" is a position
    if (head[-1] == "name" and form is not Form.NAME) or tail.value[0].tag in ("AJC", "AJS"):
        return False
    definite = is_definite(words) or bool(phrase.owner)
    short = len(tail.value) <= 2 and not _is_participle(tail, head)
    if head[-1] in PROPERTY and short and form is not Form.PREPOSITION:
        return definite
    if not definite and not _is_label(context, tail):
        return False
    special = names_the_only_one(head[:-1])
    joined = any(w.tag == "PRF" for w in tail.value) and not tail.value[0].is_name
    if joined and form in (Form.NAME, Form.BARE) and _names_a_person(head):
        return False  # "The mayor is patron of Tarn School" says what the mayor is besides
    if form in (Form.NAME, Form.QUANTITY, Form.CLOCK):
        return not tail.is_joined or form is Form.QUANTITY
    if form is Form.DATE:
        return tail.value[0].tag in ("CRD", "NP0", "ORD", "AT0", "NN1")
    if form is Form.BARE:
        return len(tail.value) <= 3 and not _is_participle(tail, head)
    if form is Form.ADJECTIVE:
        return (special or head[-1] in PROPERTY) and short
    if form is Form.THE and noun is not None and "the" in noun.kinds and len(tail.value) <= 4:
        return True
    if form in (Form.A, Form.THE):
        product = len(tail.value) > 1 and tail.value[-1].tag in ("NP0", "CRD") and tail.has_name
        product = product and not _names_a_person(head)
        liked = bool({"favorite", "preferred", "go-to", "chosen"} & set(head[:-1]))
        special = liked if form is Form.A else special
        stands_for = head[-1] in PROPERTY and len(tail.value) <= 4
        return (special or product or stands_for) and not any(w.tag == "PRF" for w in tail.value)
    return form is Form.GERUND and special


def _names_a_person(head: list[str]) -> bool:
    """ "The coach is a Spaniard" says what the coach is, and not who."""
    return head[-1] in CREATURES or head[-1] in ROLES or bool(_ROLE.search(head[-1]))


_ROLE = re.compile(r"(?:er|or|ist|ian|ant|coach|boss|chief|head|wife|husband)$")


def _is_participle(tail: Tail, head: list[str]) -> bool:
    """ "The branch is protected": a participle says what was done, unless the noun is a status."""
    first = tail.value[0]
    if first.text[0].isupper() or head[-1] in _STATUS_NOUNS or is_unknown(first.lower):
        return False
    return len(first.lower) > 3 and first.lower.endswith("ed") and first.tag in ("VVN", "VVD", "AJ0")  # not "red"


def _is_label(context: Context, tail: Tail) -> bool:
    """ "Max line length is 120": a bare compound noun that names a setting."""
    words = context.subject_words
    if context.is_self or len(words) < 2 or words[-1].tag not in ("NN0", "NN1") or any(w.tag == "CJC" for w in words):
        return False
    if words[0].tag in ("PNP", "DT0", "PNI", "VVG", "CRD") or words[0].lower in ("a", "an"):
        return False
    return tail.form in (Form.NAME, Form.QUANTITY, Form.CLOCK, Form.DATE)


def read_label(label: list[Word], value: list[Word], context: Context) -> list[Frame]:
    """ "Wi-Fi password: heron-lake-7", "Max retries = 3"."""
    phrase = noun_phrase(label, context.speaker)
    tail = split_tail(value)
    if not phrase.head or not tail.value or tail.form in (Form.CLAUSE, Form.VERB, Form.PRONOUN, Form.NONE):
        return []
    if tail.is_joined:
        tail.more = tail.more or " ".join(content(tail.value))
    return [describe(context, phrase, tail, "label", tense=Tense.NOW)]
