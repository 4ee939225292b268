"""Frames of what ended without naming an attribute: "sold the Volvo", "CircleCI was removed", "Ana and Tom broke up"."""

from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build
from recollect.rules.statements.frame import ANY, ChangeMark, Frame, Tense
from recollect.rules.statements.phrases import Form, Tail, noun_phrase, split_tail
from recollect.rules.statements.tagger import NOUNS, Word

STOP_VERBS = tables.words("verbs", "stop")
STOP_PARTICLES = tables.words("verbs", "stop_particle")
_PARTING = frozenset(("divorce", "separate", "split", "break-up", "split-up"))
_LINKS = frozenset("of from with out to in".split())


def read_parting(context: Context) -> list[Frame]:
    """ "User and Chris broke up", "User and Stefan divorced last year", "Ana and Tom got divorced"."""
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
    happened = verb.past or verb.perfect or verb.passive
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
    if verb.lemma in ("give", "shut", "close") and not verb.particle and verb.lemma == "give":
        return []
    return [_ended(context, context.subject, tail)]


def _ended(context: Context, subject: str, tail: Tail) -> Frame:
    bare = Tail(tail.value, [], tail.times, tail.more, tail.now)
    return build(context, ANY, bare, "stop", subject=subject, negated=True, change=ChangeMark.STOP, tense=Tense.NOW)


def _stopped_thing(context: Context, left: list[Word]) -> list[Frame]:
    """ "CircleCI was removed (from the pipeline)": the subject is the value, of the speaker or of what it was removed from."""
    value = context.subject_words
    if any(word.tag == "CJC" for word in value):
        return []
    tail = Tail(value)
    after = split_tail(left)
    frames = []
    holder = next((at for at, word in enumerate(left) if word.lower in ("from", "in", "on", "by")), None)
    if holder is not None:
        phrase = noun_phrase(split_tail(left[holder + 1 :]).value, context.speaker).whole
        if phrase:
            frames.append(_ended(context, phrase, tail))
    if context.phrase.owner and context.phrase.head:
        head = [word for word in value if word.tag not in ("POS", "DPS") and word.text != "'s"]
        owned = _words_of_head(value)
        frames.append(_ended(context, context.phrase.owner, Tail(owned or head)))
    if holder is None:
        frames.append(_ended(context, context.speaker, tail))
    if after.more:
        frames = [*frames]
    return frames


def _words_of_head(value: list[Word]) -> list[Word]:
    """The words after the last owner: "User's gym membership" gives "gym membership"."""
    for at in range(len(value) - 1, -1, -1):
        if value[at].tag in ("POS", "DPS") or value[at].text == "'s":
            return value[at + 1 :]
    return []
