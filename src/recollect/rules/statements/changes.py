"""Frames of what changed or ended: "the rent was raised to 980", "switched from A to B", "sold the Volvo", "they broke up"."""

from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build, describe, first_of, split_off_owner
from recollect.rules.statements.clause import VerbGroup
from recollect.rules.statements.frame import ANY, JOB_END, ChangeMark, Frame, Tense
from recollect.rules.statements.phrases import (
    CREATURES,
    DEICTIC,
    PERIODS,
    Form,
    NounPhrase,
    Tail,
    cut_period,
    dimension,
    form_of,
    noun_phrase,
    split_tail,
    text_of,
)
from recollect.rules.statements.roles import NO_VALUE, read_held_role, read_role, replace_value
from recollect.rules.statements.tagger import NOUNS, Word, index_of

CHANGE_VERBS = tables.words("verbs", "change")
_FROM_TO = frozenset("switch migrate move change convert transfer upgrade downgrade swap go rename".split())
_TRADE = frozenset("trade swap replace exchange".split())
_PLACED = frozenset("move bring push go transfer put".split())
_DIRECTIONS = ("up", "down", "back", "forward")
_TIMED = (Form.CLOCK, Form.DATE)


def read_change(context: Context) -> list[Frame]:
    """The frames of a clause that announces a change; none if it announces none."""
    if context.negated or context.tense is Tense.UNSURE:
        return []
    return first_of(context, read_role, _read_from_to, _read_trade, read_held_role, _read_new_value)


def _read_from_to(context: Context) -> list[Frame]:
    """ "switched from A to B": the old value says which attribute it is."""
    verb, rest = context.verb, context.rest
    if verb.lemma not in _FROM_TO and verb.lemma not in CHANGE_VERBS:
        return []
    from_at, to = index_of(rest, "from"), index_of(rest, "to", "onto")
    if from_at is None or to is None or from_at > to:
        return []
    tail, old = split_tail(rest[to + 1 :]), text_of(split_tail(rest[from_at + 1 : to]).value)
    if not old or tail.form in NO_VALUE:
        return []
    if from_at > 0 and not (from_at == 1 and verb.particle):
        target = [word for word in rest[:from_at] if word.tag not in ("AVP", "AV0")]
        thing = noun_phrase(target, context.speaker).whole
        described = _change_target(context, target, tail, "changed from", old)
        return [*described, *([_move_value(context, thing, tail, old)] if tail.form is Form.NAME else [])]
    if verb.passive or not (context.is_self or context.subject_words[0].is_name):
        described = _change_target(context, context.subject_words, tail, "changed from", old)
        if described and context.phrase.owner:
            return described
    return [_move_value(context, context.subject, tail, old)]


def _move_value(context: Context, subject: str, tail: Tail, old: str) -> Frame:
    change = ChangeMark.CHANGE
    return build(context, ANY, tail, "from to", subject=subject, change=change, old_value=old, tense=Tense.NOW)


def _read_trade(context: Context) -> list[Frame]:
    """ "traded in the Panda for a Dacia", "swapped coffee for tea", "replaced the old phone with a Pixel", "left A for B"."""
    verb, rest = context.verb, context.rest
    if verb.passive or not (verb.lemma in _TRADE or (verb.lemma in _LEAVES and (verb.past or verb.perfect))):
        return []
    at = index_of(rest, "for") if verb.lemma != "replace" else index_of(rest, "with", "by")
    favor = next((at for at, word in enumerate(rest[:-2]) if word.lower == "in" and rest[at + 2].lower == "of"), None)
    if favor is not None and rest[favor + 1].lower in ("favour", "favor"):
        at, rest = favor, [*rest[: favor + 1], *rest[favor + 3 :]]
    if at is None:
        return []
    left = rest[1:at] if verb.particle else rest[:at]
    old, tail = split_tail(left), split_tail(rest[at + 1 :])
    named = _is_one_name(old) and _is_one_name(tail)
    return replace_value(context, old.text, tail) if named or verb.lemma in _TRADE else []


_LEAVES = frozenset("leave drop abandon ditch desert quit sack dump forsake dismiss fire".split())


def _is_one_name(tail: Tail) -> bool:
    plain = not any(word.tag == "CJC" or word.lower in ("and", "or") for word in tail.value)
    return tail.form is Form.NAME and plain and not tail.more


def _read_new_value(context: Context) -> list[Frame]:
    """ "X was changed to V", "we changed X to V", "the rent went up to V"."""
    verb, rest = context.verb, context.rest
    happened = verb.past or verb.perfect or verb.passive or verb.change is ChangeMark.NOW
    if verb.lemma not in CHANGE_VERBS or not happened:
        return []
    places = [
        at for at, word in enumerate(rest) if word.lower in ("to", "until", "for", "at")
        and at + 1 < len(rest) and (not rest[at + 1].tag.startswith("V") or verb.lemma == "rename")
        and (word.lower == "to" or verb.lemma in ("reschedule", "postpone", "extend", "set", "delay", "put", "cap", "pin"))
    ]  # fmt: skip
    if not places:
        return []
    exact = (Form.QUANTITY, Form.CLOCK, Form.DATE, Form.NAME)
    to = next((at for at in places if split_tail(rest[at + 1 :]).form in exact), places[0])
    if verb.lemma == "rename" and rest[to + 1].tag.startswith("V"):  # "renamed to develop"
        rest = [*rest[: to + 1], Word(rest[to + 1].text, rest[to + 1].lower, "NN1"), *rest[to + 2 :]]
    tail = split_tail(rest[to + 1 :])
    target = [word for word in rest[:to] if word.tag not in ("AVP", "AV0") and word.lower not in _DIRECTIONS]
    if any(word.tag in ("CJC", "VVG", "PUN", "PRP") and word.lower not in ("of", "for") for word in target):
        return []
    measured = tail.form in (Form.QUANTITY, *_TIMED)
    if verb.lemma in ("go", "bring", "put", "drop", "fall") and not verb.particle and not measured:
        return []
    if any(word.is_noun for word in target):
        return _change_target(context, target, tail, "changed to", "")
    named = form_of(context.subject_words) in (Form.NAME, Form.PRONOUN) and not context.phrase.owner
    if context.is_self or (named and not verb.passive):
        return []
    return _change_target(context, context.subject_words, tail, "changed to", "")


def _change_target(context: Context, target: list[Word], tail: Tail, rule: str, old: str) -> list[Frame]:
    """The frame of what was changed: its own attribute, or its time where the new value is one."""
    verb, form = context.verb, tail.form
    phrase = noun_phrase(target, context.speaker)
    if not phrase.head or form in NO_VALUE:
        return []
    if form in _TIMED:
        phrase = split_off_owner(phrase, tail)
    objects = target is not context.subject_words
    possessive, measured = target[0].lower in ("its", "their", "his", "her"), form in (Form.QUANTITY, *_TIMED)
    noun = tables.predicates().by_noun.get(phrase.head)
    if possessive or (objects and noun is not None and not phrase.owner and target[0].tag != "AT0"):
        phrase = NounPhrase(context.subject, phrase.head)
    if not objects and not phrase.owner and form_of(target) is Form.NAME and not measured:
        return []
    if phrase.head.split()[-1] in CREATURES:
        return []
    if form in _TIMED and not (noun is not None and {"clock", "date"} & noun.kinds):
        subjects = [phrase.whole]
        if context.is_self and not phrase.owner:  # "we pushed the wedding back" speaks of "my wedding" as well
            subjects.append(f"{context.speaker} {phrase.head}")
        return [
            build(context, "time", tail, f"{rule} time", subject=subject, one=True, change=ChangeMark.CHANGE,
                  tense=Tense.NOW, old_value=old)
            for subject in subjects
        ]  # fmt: skip
    own = possessive and form is Form.NAME  # "moved its capital to Vesby"
    placed = verb.lemma in _PLACED and not measured and (objects or not context.phrase.owner) and not own
    if placed and not (noun is not None and noun.place and objects):
        return []
    if form is Form.QUANTITY and dimension(tail.value) in ("mass", "volume") and phrase.owner:  # a dose
        amount, period = cut_period(tail.value)
        dosed = replace(tail, value=[*amount, *period])
        return [
            build(context, f"take {phrase.head}", dosed, f"{rule} dose", subject=phrase.owner, one=True, tense=Tense.NOW,
                  change=ChangeMark.CHANGE),
            describe(context, phrase, tail, rule, tense=Tense.NOW, change=ChangeMark.CHANGE, old_value=old),
        ]  # fmt: skip
    changed = describe(context, phrase, tail, rule, tense=Tense.NOW, change=ChangeMark.CHANGE, old_value=old)
    if form is Form.QUANTITY and dimension(tail.value) == "money" and noun is None:  # "the ferry went up to 12 euros"
        price = replace(changed, subject=phrase.whole, attribute="price", key_words=("", ""), rule="implied")
        return [changed, price]
    return [changed]


# ---------------------------------------------------------------- what ended without naming an attribute

STOP_VERBS = tables.words("verbs", "stop")
AMBIGUOUS_STOPS = tables.words("verbs", "stop_ambiguous")
STOP_PARTICLES = tables.words("verbs", "stop_particle")
_PARTING = frozenset(("divorce", "separate", "split", "break-up", "split-up"))
_ENDS_BY_ITSELF = frozenset("retire close shut lapse expire disband dissolve".split())
_LINKS = frozenset("of from with out to in".split())


def read_parting(context: Context) -> list[Frame]:
    """ "Ida and Robin broke up", "Ana and Tom got divorced", "My wife and I separated"."""
    verb, subject, rest = context.verb, context.subject_words, context.rest
    joined = next((at for at, word in enumerate(subject) if word.tag == "CJC"), None)
    parted = verb.lemma in _PARTING or f"{verb.lemma}-{verb.particle}" in _PARTING
    if verb.lemma in ("get", "be") and rest and rest[0].lower in ("divorced", "separated"):
        parted, rest = True, rest[1:]
    rest = rest[1:] if verb.particle else rest
    if joined is None or not parted or context.negated or not (verb.past or verb.perfect or verb.copula):
        return []
    first, other = subject[:joined], subject[joined + 1 :]
    if [word.lower for word in other] in (["i"], ["me"]):  # "Paul and I split up"
        first, other = other, first
    who = noun_phrase(first, context.speaker).whole
    has_object = bool(rest) and rest[0].tag not in ("PRP", "CJS", "AV0") and rest[0].lower not in DEICTIC
    if not who or not other or has_object:  # "Paul and I split the bill"
        return []
    if other[0].tag == "DPS":  # "my wife" is not her name
        role = tables.predicates().by_noun.get(noun_phrase(other, context.speaker).head)
        if role is None or role.attribute not in ("partner", "spouse"):
            return []
        other = []
    return [
        build(context, attribute, Tail(other), "parted", subject=who, one=True, negated=True, change=ChangeMark.STOP,
              tense=Tense.NOW)
        for attribute in ("partner", "spouse")
    ]  # fmt: skip


def read_job_end(context: Context) -> list[Frame]:
    """ "I quit my job", "Ida got laid off last week": the employer that was known no longer is, also without its name."""
    verb = context.verb
    happened = verb.past or verb.perfect or verb.lemma == "quit"
    if context.negated or context.tense is Tense.UNSURE or not happened:
        return []
    if not (context.is_self or (context.subject_words[0].is_name and not context.phrase.owner)):
        return []
    end = next((at for at, word in enumerate(context.rest) if word.lower in DEICTIC), len(context.rest))
    said = [word.lemma for word in context.rest[:end] if word.tag not in ("DPS", "AV0")]
    if verb.passive or verb.lemma == "get":
        ends = " ".join(said if verb.lemma == "get" else [verb.lemma, *said]) in _DISMISSED
    else:
        ends = " ".join([verb.lemma, *said]) in _GAVE_UP_A_JOB
    if not ends or split_tail(context.rest[end:]).more:
        return []
    stop = ChangeMark.STOP
    return [build(context, "employer", Tail([]), JOB_END, one=True, negated=True, change=stop, tense=Tense.NOW)]


_GAVE_UP_A_JOB, _DISMISSED = tables.entries("verbs", "gave_up_a_job"), tables.entries("verbs", "dismissed")


def read_stop(context: Context) -> list[Frame]:
    """A stop verb in the past, by the value that it ended."""
    verb = context.verb
    happened = verb.past or verb.perfect
    if verb.passive and verb.surface == "gone" and not context.rest and not context.negated:
        return _read_removed(context, [])
    stops = verb.lemma in STOP_VERBS and not verb.particle
    stops = stops or f"{verb.lemma}-{verb.particle}" in STOP_PARTICLES
    if not stops or not happened or context.negated or context.tense is Tense.UNSURE:
        return []
    left = context.rest[1:] if verb.particle else context.rest
    if verb.passive or (not left and verb.lemma in _ENDS_BY_ITSELF):
        return _read_removed(context, left)
    if left and left[0].lower in _LINKS:
        left = left[1:]
    if left and left[0].tag in NOUNS and verb.lemma == "give" and not verb.particle:
        return []
    tail = split_tail(left)
    if not tail.value or tail.form in (Form.VERB, Form.CLAUSE, Form.PRONOUN, Form.CLOCK, Form.DATE, Form.QUANTITY):
        return []
    if verb.lemma in AMBIGUOUS_STOPS and not verb.particle and not tail.has_name:
        return []
    called_off = verb.lemma in ("cancel", "abolish", "scrap") or (verb.lemma, verb.particle) == ("call", "off")
    held = called_off and not tail.more and not tail.times
    event = [_read_loss(context, noun_phrase(left, context.speaker).whole)] if held else []
    return [_end_value(context, context.subject, tail), *event]


def _end_value(context: Context, subject: str, tail: Tail, attribute: str = ANY, rule: str = "stop") -> Frame:
    stop = ChangeMark.STOP
    return build(context, attribute, tail, rule, subject=subject, negated=True, change=stop, tense=Tense.NOW)


def _read_loss(context: Context, event: str) -> Frame:
    """The time of an event that was called off."""
    nothing, stop = Tail([]), ChangeMark.STOP
    return build(context, "time", nothing, "stop", subject=event, one=True, negated=True, change=stop, tense=Tense.NOW)


def _read_removed(context: Context, left: list[Word]) -> list[Frame]:
    """ "Jenkins was removed (from the pipeline)": the subject is the value, of the speaker or of what it was removed from."""
    value = context.subject_words
    if context.verb.lemma in AMBIGUOUS_STOPS and not context.verb.particle and not any(word.is_name for word in value):
        return []
    if any(word.tag == "CJC" for word in value):
        return []
    tail = split_tail(value)
    once = any(word.lower in DEICTIC or word.lower in PERIODS for word in left)  # "cancelled this week" ends no series
    frames = [] if once else [_read_loss(context, context.subject)]
    holder = index_of(left, "from", "in", "on", "by")
    if holder is not None and (held_by := noun_phrase(split_tail(left[holder + 1 :]).value, context.speaker).whole):
        frames.append(_end_value(context, held_by, tail))
    if context.phrase.owner and context.phrase.head:
        owners = [at for at, word in enumerate(value) if word.tag in ("POS", "DPS") or word.text == "'s"]
        owned = value[owners[-1] + 1 :] if owners else []  # "User's gym membership" gives "gym membership"
        head = [word for at, word in enumerate(value) if at not in owners]
        frames.append(_end_value(context, context.phrase.owner, split_tail(owned or head)))
    if holder is None:
        frames.append(_end_value(context, context.speaker, tail))
    return frames if once else [*frames[1:], frames[0]]


def read_death(context: Context, apposition: list[Word]) -> list[Frame]:
    """ "Biscuit, Greta's dog, died at Christmas": the role has lost that name, and the owner has lost one of its kind."""
    role = noun_phrase(apposition, context.speaker)
    lost = _end_life(context, role, context.subject_words)
    return [*lost, _end_value(context, role.owner, Tail(context.subject_words))] if lost else []


def read_death_by_name(context: Context) -> list[Frame]:
    """ "Our dog Rex died": the role has lost that name. "Our dog died" does not say which, and a phone dies as well."""
    words = context.subject_words
    named = next(
        (at for at, word in enumerate(words) if at and word.is_name and words[at - 1].tag == "NN1"), len(words)
    )
    if named == len(words) or not all(word.is_name for word in words[named:]):
        return []
    return _end_life(context, noun_phrase(words[:named], context.speaker), words[named:])


def _end_life(context: Context, role: NounPhrase, name: list[Word]) -> list[Frame]:
    verb = context.verb
    died = verb.lemma == "die" or (verb.lemma, verb.particle) == ("pass", "away")
    if not died or context.negated or not (verb.past or verb.perfect) or not role.owner or not role.head:
        return []
    return [_end_value(context, role.owner, Tail(name), role.head, "died")]


def read_absence(words: list[Word], speaker: str) -> list[Frame]:
    """ "There is no sauna in the gym any longer": the office, or the speaker, has it no more."""
    lowers = [word.lower for word in words]
    if lowers[:1] != ["there"] or len(words) < 5 or words[1].lemma != "be" or lowers[2] not in ("no", "n't", "not"):
        return []
    over = lowers[2] == "no" and lowers[3] in ("longer", "more")
    over = over or lowers[-1] == "anymore" or lowers[-2:] in (["any", "more"], ["any", "longer"])
    if not over:
        return []
    last = -1 if lowers[-1] == "anymore" else -2 if lowers[-2] == "any" else len(words)
    left = [word for word in words[3:last] if word.lower not in ("longer", "more", "any", "a", "an")]
    tail = split_tail(left)
    if not tail.value or tail.more:
        return []
    there = noun_phrase(words[:1], speaker)
    context = Context(speaker, words[:1], there, VerbGroup(copula=True), left, negated=True, change=ChangeMark.STOP)
    at = index_of(left, "in", "on", "at")
    frames = [_end_value(context, speaker, tail)]
    if at is not None:
        holder = noun_phrase(split_tail(left[at + 1 :]).value, speaker).whole
        frames.insert(0, _end_value(context, holder, Tail(tail.value)))
    return frames
