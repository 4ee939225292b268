"""Frames of verbs that no table knows: quantities, times, versions, agents, and statements whose value is part of the key."""

import re
from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import PERIOD_ADJECTIVES, ROLE_OF_VERB, SEVERAL, Context, build
from recollect.rules.statements.frame import ChangeMark, Frame, Tense, ValueKind
from recollect.rules.statements.phrases import (
    Form,
    Tail,
    canonical,
    content,
    cut_period,
    dimension,
    form_of,
    join,
    noun_phrase,
    split_tail,
    text_of,
)
from recollect.rules.statements.tagger import NOUNS, Word, index_of

ONCE_VERBS = tables.words("verbs", "once")
MAKER_VERBS = tables.words("verbs", "maker")
PLACED_VERBS = tables.words("verbs", "placed")
TENDING_VERBS = tables.words("verbs", "tends")
KEEPING_VERBS = tables.words("verbs", "kept")
_PLACING = frozenset("in at on under with to".split())
_OF_MANY = tables.words("verbs", "of_many")
_SUITS_MANY = tables.words("verbs", "suits_many")
_MEANS = tables.words("verbs", "means")
APPROXIMATELY = tables.words("adverbs", "approximately")
_HAPPENS = frozenset("air premiere debut originate".split())
"""What happens once by itself: "premiered on NBC"."""
_CREATOR = {
    "found": "founder", "write": "author", "create": "creator", "invent": "creator", "compose": "creator",
    "design": "designer", "direct": "creator", "discover": "discoverer", "paint": "creator",
}  # fmt: skip


def read_open(context: Context) -> list[Frame]:
    """The frames of a clause whose verb is in no table."""
    context = _as_active(context)
    verb, left = context.verb, context.rest
    attribute = verb.lemma
    if verb.particle:
        attribute, left = f"{attribute} {verb.particle}", left[1:]
    preposition = ""
    dated = context.change is ChangeMark.STOP and form_of(left[1:]) is Form.DATE  # "quit jogging in 2019"
    if left and (left[0].tag in ("PRP", "PRF") or left[0].lower in ("to", "of")) and not dated:
        preposition, left = left[0].lower, left[1:]
    if verb.passive:
        attribute = f"be {attribute}"
    attribute = join(attribute, preposition)
    tail = Tail([], times=[" ".join(content(left))]) if dated else split_tail(left)
    frames = (rule(context, attribute, preposition, tail) for rule in _RULES)
    if (frame := next(filter(None, frames), None)) is not None:
        return [frame]
    says_something = tail.value or tail.scope or dated or not context.rest
    return [build(context, attribute, tail, "open")] if says_something else []


def _as_active(context: Context) -> Context:
    """ "The company was founded by two engineers" as "Two engineers founded the company"."""
    verb, rest = context.verb, context.rest
    by_one = verb.lemma in ONCE_VERBS or verb.lemma in MAKER_VERBS or verb.lemma in ROLE_OF_VERB
    if not verb.passive or not rest or rest[0].lower != "by" or (by_one and form_of(rest[1:]) is Form.NAME):
        return context
    tail = split_tail(rest[1:])
    nominal = tail.form in (Form.NAME, Form.THE, Form.A, Form.QUANTITY) and tail.value[-1].is_noun
    if not nominal or dimension(tail.value):
        return context
    after = rest[1 + len(tail.value) :]
    active = replace(verb, passive=False)
    phrase = noun_phrase(tail.value, context.speaker)
    return replace(context, subject_words=tail.value, phrase=phrase, verb=active, rest=[*context.subject_words, *after])


def agent_noun(lemma: str) -> str:
    """Who does what a verb says: "publish" gives "publisher", "operate" "operator", "captain" "captain"."""
    if lemma in ROLE_OF_VERB:
        return ROLE_OF_VERB[lemma]
    if re.search(r"[^aeiou]y$", lemma):
        return f"{lemma[:-1]}ier"
    if lemma.endswith(("ate", "ct", "dit", "vise", "vern")):
        return f"{lemma.removesuffix('e')}or"
    return canonical(Word("", f"{lemma.removesuffix('e')}er", "NN1"))


def _read_maker(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The almanac is published by Brill & Co": one publisher, whatever the tense; "The publisher of …" says the same."""
    verb = context.verb
    if preposition != "by" or not verb.passive or not _names_one(tail):
        return None
    if verb.lemma not in MAKER_VERBS and verb.lemma not in ROLE_OF_VERB:
        return None
    again = verb.past and bool(tail.times)  # "was performed by Ana in 2019" leaves room for others
    return build(context, agent_noun(verb.lemma), tail, "made by", one=True, tense=context.tense, contested=again)


def _read_place(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The cluster is deployed in eu-west-1", "Pebble is licensed under MIT": it is there, and not elsewhere."""
    verb = context.verb
    means = preposition == "with" and context.subject_words[0].lower in ("the", "my", "our") and len(tail.value) <= 3
    means = means and verb.lemma in _MEANS and (tail.form is Form.BARE or _names_one(tail)) and not tail.scope
    placed = verb.lemma in PLACED_VERBS and _names_one(tail)
    if preposition not in _PLACING or not verb.passive or not (placed or means) or tail.value[-1].tag == "NN2":
        return None
    if verb.plural or (verb.lemma in ("release", "distribute", "license") and preposition != "under"):
        return None
    if verb.past and verb.lemma not in ("educate", "bury", "incorporate"):
        return None
    where = "at" if preposition in ("in", "on") else preposition
    attribute = f"be {verb.lemma} {where}"
    if preposition == "under":  # "is licensed under V", "is released under V": both name its licence
        attribute = canonical(Word("", "license", "NN1"))
    several = verb.lemma == "educate"  # "was educated at Eton" and "at Oxford" may both be true
    return build(context, attribute, tail, "placed", one=True, tense=context.tense, open_to_others=several)


def _names_one(tail: Tail) -> bool:
    return tail.is_named and not tail.is_joined


def _read_once(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The single was recorded in Oslo", "Ada founded Acme": what happens once keeps its one value in the past."""
    verb = context.verb
    if verb.lemma not in ONCE_VERBS or context.is_self or not (verb.past or verb.perfect or verb.passive):
        return None
    named, dated = tail.is_named, tail.form is Form.DATE
    done = verb.passive or verb.lemma in _HAPPENS
    placed = preposition in ("in", "on", "at", "by", "after") or (preposition == "for" and verb.lemma == "name")
    if placed and done and (named or dated):
        again = verb.lemma in _HAPPENS and bool(tail.times)  # "premiered in Dublin in 1958" leaves room for others
        return build(
            context, join(attribute, "when" if dated else ""), tail, "once", one=True, tense=context.tense, contested=again,
            open_to_others=preposition in ("in", "at") or dated,
        )  # fmt: skip
    if not preposition and not verb.passive and named and form_of(context.subject_words) is Form.NAME:
        if tail.scope or tail.more or verb.lemma not in _CREATOR:
            return None
        thing = noun_phrase(tail.value, context.speaker).whole
        value = Tail(context.subject_words, times=tail.times)
        return build(context, _CREATOR[verb.lemma], value, "once", subject=thing, one=True, tense=context.tense)
    return None


def _read_event(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """A past event keeps all its words."""
    if context.stated_tense is not Tense.PAST:
        return None
    again = ["again"] if tail.now or "again" in context.verb.adverbs else []  # a second visit is another event
    return build(context, attribute, Tail(tail.value, [*tail.scope, *tail.times, *again], [], tail.more), "event")


def _read_time(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The gym opens at six", "The backup runs at 02:00"."""
    if preposition not in ("at", "on", "by", "until", "from", "till") or tail.form not in (Form.CLOCK, Form.DATE):
        return None
    habit = any(word.lower.endswith(("days", "ends")) for word in tail.value)
    ends = preposition in ("by", "until", "till")  # it may leave at 8 and at 9, and be over by one of them only
    own = bool(context.phrase.owner) and context.phrase.head.split()[-1] not in SEVERAL  # "Ana's alarm goes off at 6"
    one = not habit and not context.is_self
    return build(context, attribute, tail, "verb at time", one=one, open_to_others=not (ends or own))


def _read_amount(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "takes 20 mg of X", "takes X 20 mg": the amount is the value. "has 3 things": the number is the value."""
    value = [word for at, word in enumerate(tail.value) if not _approximates(tail.value, at)]
    at = next((i for i, word in enumerate(value) if word.tag == "CRD" or word.text[:1] in "$€£¥"), None)
    if at is None or context.verb.progressive or tail.is_joined:
        return None
    if tail.form is not Form.QUANTITY and not (at and value[at - 1].tag in NOUNS and at + 1 < len(value)):
        return None
    if preposition == "to" and tail.form is Form.QUANTITY and not dimension(value):
        return None
    if any(word.lower in ("other", "more", "another", "additional") for word in value):
        return None
    value, period = cut_period(value)
    of = next((i for i, word in enumerate(value) if word.tag == "PRF" or word.lower == "of"), None)
    measure = dimension(value)
    if of is not None and of > at:
        what, amount = content(value[of + 1 :]), value[at:of]
    elif at:
        what, amount = content(value[:at]), value[at:]
    elif measure:
        what, amount = [measure], value
    else:
        what, amount = content([word for word in value[1:] if word.is_noun or word.tag in ("AJ0", "VVN")]), value[:1]
    if not what:
        return build(context, attribute, tail, "quantity", one=True, value_kind=ValueKind.QUANTITY)
    amount, kind = [*amount, *period], ValueKind.QUANTITY
    counted = replace(tail, value=amount, scope=[*tail.scope, *filter(None, [" ".join(tail.times)])], times=[])
    attribute = join(attribute, *what)
    return build(context, attribute, counted, "quantity", one=True, value=text_of(amount), value_kind=kind)


def _approximates(value: list[Word], at: int) -> bool:
    """Whether a word only says that the number after it is not exact: "around 240", "just under 12,500"."""
    number = next((i for i in range(at + 1, min(at + 3, len(value))) if value[i].tag == "CRD"), None)
    return number is not None and all(word.lower in APPROXIMATELY for word in value[at:number])


def _read_leader(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "Mirela heads the payments team": the team has one leader."""
    tends = context.verb.lemma in TENDING_VERBS
    known = tends or context.verb.lemma in ROLE_OF_VERB
    if not known or context.verb.passive or context.verb.progressive or preposition:
        return None
    if tends and (tail.scope or tail.more or tail.value[-1:] == [] or tail.value[-1].tag == "NN2"):
        return None
    if tail.form not in (Form.NAME, Form.THE) or form_of(context.subject_words) is not Form.NAME:
        return None
    if any(word.tag == "DPS" and not (tends and word.lower in ("my", "our")) for word in tail.value):
        return None
    if any((word.text == "'s" and not tends) or word.tag == "CJC" for word in [*tail.value, *context.subject_words]):
        return None
    thing = noun_phrase(tail.value, context.speaker).whole
    value = replace(tail, value=context.subject_words)
    return build(context, agent_noun(context.verb.lemma), value, "agent", subject=thing, one=True)


def _read_holder(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The shop stores its data in MySQL", "Ravi rents the flat from Mr. Abel": the holder is the value."""
    rest = context.rest
    regular = len(rest) > 1 and rest[0].lower == "the" and rest[1].lower in PERIOD_ADJECTIVES and not context.verb.past
    if not (regular or context.verb.lemma in KEEPING_VERBS) or context.verb.passive or len(rest) < 4:
        return None
    if rest[0].lower not in ("its", "his", "her", "their", "the", "my", "our"):
        return None
    at = index_of(rest, "from") or next((at for at, word in enumerate(rest) if word.tag == "PRP"), 0)
    plain = all(word.is_noun or word.tag in ("AJ0", "PRP", "PRF", "AT0") for word in rest[1:at])
    if at < 2 or not plain or rest[at].lower not in ("in", "on", "at", "from", "with"):
        return None
    holder = split_tail(rest[at + 1 :])
    if not (_names_one(holder) or (regular and holder.form is Form.THE)):
        return None
    where = "at" if rest[at].lower in ("in", "on") else rest[at].lower
    return build(context, join(context.verb.lemma, *content(rest[1:at]), where), holder, "kept", one=True)


def _read_version(context: Context, attribute: str, preposition: str, tail: Tail) -> Frame | None:
    """ "The backend needs Python 3.12": the version is the value."""
    value = tail.value
    if tail.form is not Form.NAME or len(value) < 2 or value[-1].tag != "CRD" or tail.is_joined:
        return None
    if context.verb.lemma in _SUITS_MANY:
        return None  # "supports Android 12" says nothing of Android 13
    attribute, version = f"{attribute} {' '.join(content(value[:-1]))}", value[-1].text
    return build(context, attribute, tail, "version", one=True, value=version, value_kind=ValueKind.VERSION)


_RULES = (
    _read_maker, _read_place, _read_once, _read_event, _read_time, _read_holder, _read_amount, _read_leader, _read_version,
)  # fmt: skip
