"""Frames of what ended without naming an attribute: "sold the Volvo", "Jenkins was removed", "Ana and Tom broke up"."""

from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build
from recollect.rules.statements.clause import VerbGroup
from recollect.rules.statements.frame import ANY, ChangeMark, Frame, Tense
from recollect.rules.statements.phrases import DEICTIC, PERIODS, Form, Tail, noun_phrase, split_tail
from recollect.rules.statements.tagger import NOUNS, Word

STOP_VERBS = tables.words("verbs", "stop")
AMBIGUOUS_STOPS = tables.words("verbs", "stop_ambiguous")
STOP_PARTICLES = tables.words("verbs", "stop_particle")
_PARTING = frozenset(("divorce", "separate", "split", "break-up", "split-up"))
_LINKS = frozenset("of from with out to in".split())


def read_parting(context: Context) -> list[Frame]:
    """ "Ida and Robin broke up", "Ida and Marek divorced last year", "Ana and Tom got divorced"."""
    verb, subject = context.verb, context.subject_words
    joined = next((at for at, word in enumerate(subject) if word.tag == "CJC"), None)
    parted = verb.lemma in _PARTING or f"{verb.lemma}-{verb.particle}" in _PARTING
    if verb.lemma in ("get", "be") and context.rest and context.rest[0].lower in ("divorced", "separated"):
        parted = True
    if joined is None or not parted or context.negated or not (verb.past or verb.perfect or verb.copula):
        return []
    who, other = noun_phrase(subject[:joined], context.speaker).whole, subject[joined + 1 :]
    if not who or not other:
        return []
    return [
        build(context, attribute, Tail(other), "parted", subject=who, one=True, negated=True, change=ChangeMark.STOP,
              tense=Tense.NOW)
        for attribute in ("partner", "spouse")
    ]  # fmt: skip


def read_stop(context: Context) -> list[Frame]:
    """A stop verb in the past, by the value that it ended."""
    verb = context.verb
    happened = verb.past or verb.perfect
    if verb.passive and verb.surface == "gone" and not context.rest and not context.negated:
        return _stopped_thing(context, [])
    stops = verb.lemma in STOP_VERBS and not verb.particle
    stops = stops or f"{verb.lemma}-{verb.particle}" in STOP_PARTICLES
    if not stops or not happened or context.negated or context.tense is Tense.UNSURE:
        return []
    left = context.rest[1:] if verb.particle else context.rest
    if verb.passive or (
        not left and verb.lemma in ("retire", "close", "shut", "lapse", "expire", "disband", "dissolve")
    ):
        return _stopped_thing(context, left)
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
    event = [_no_longer_held(context, noun_phrase(left, context.speaker).whole)] if held else []
    return [_ended(context, context.subject, tail), *event]


def _ended(context: Context, subject: str, tail: Tail) -> Frame:
    return build(context, ANY, tail, "stop", subject=subject, negated=True, change=ChangeMark.STOP, tense=Tense.NOW)


def _no_longer_held(context: Context, event: str) -> Frame:
    """The time of an event that was called off."""
    nothing = Tail([])
    return build(
        context, "time", nothing, "stop", subject=event, one=True, negated=True, change=ChangeMark.STOP, tense=Tense.NOW
    )


def _stopped_thing(context: Context, left: list[Word]) -> list[Frame]:
    """ "Jenkins was removed (from the pipeline)": the subject is the value, of the speaker or of what it was removed from."""
    value = context.subject_words
    if context.verb.lemma in AMBIGUOUS_STOPS and not context.verb.particle and not any(word.is_name for word in value):
        return []
    if any(word.tag == "CJC" for word in value):
        return []
    tail = split_tail(value)
    once = any(word.lower in DEICTIC or word.lower in PERIODS for word in left)  # "cancelled this week" ends no series
    frames = [] if once else [_no_longer_held(context, context.subject)]
    holder = next((at for at, word in enumerate(left) if word.lower in ("from", "in", "on", "by")), None)
    if holder is not None:
        phrase = noun_phrase(split_tail(left[holder + 1 :]).value, context.speaker).whole
        if phrase:
            frames.append(_ended(context, phrase, tail))
    if context.phrase.owner and context.phrase.head:
        head = [word for word in value if word.tag not in ("POS", "DPS") and word.text != "'s"]
        owned = _words_of_head(value)
        frames.append(_ended(context, context.phrase.owner, split_tail(owned or head)))
    if holder is None:
        frames.append(_ended(context, context.speaker, tail))
    return frames if once else [*frames[1:], frames[0]]


def _words_of_head(value: list[Word]) -> list[Word]:
    """The words after the last owner: "User's gym membership" gives "gym membership"."""
    for at in range(len(value) - 1, -1, -1):
        if value[at].tag in ("POS", "DPS") or value[at].text == "'s":
            return value[at + 1 :]
    return []


def read_death(context: Context, apposition: list[Word]) -> list[Frame]:
    """ "Biscuit, Greta's dog, died at Christmas": the role has lost that name, and the owner has lost one of its kind."""
    verb, role = context.verb, noun_phrase(apposition, context.speaker)
    died = verb.lemma == "die" or (verb.lemma, verb.particle) == ("pass", "away")
    if not died or context.negated or not (verb.past or verb.perfect) or not role.owner or not role.head:
        return []
    name = Tail(context.subject_words)
    return [
        build(
            context, role.head, name, "died", subject=role.owner, negated=True, change=ChangeMark.STOP, tense=Tense.NOW
        ),
        _ended(context, role.owner, name),
    ]


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
    context = Context(
        speaker,
        words[:1],
        noun_phrase(words[:1], speaker),
        VerbGroup(copula=True),
        left,
        Tense.NOW,
        True,
        ChangeMark.STOP,
    )
    at = next((i for i, word in enumerate(left) if word.lower in ("in", "on", "at")), None)
    frames = [_ended(context, speaker, tail)]
    if at is not None:
        holder = noun_phrase(split_tail(left[at + 1 :]).value, speaker).whole
        frames.insert(0, _ended(context, holder, Tail(tail.value)))
    return frames
