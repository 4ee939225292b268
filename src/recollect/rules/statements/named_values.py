"""Frames of values that come with the noun they are a value of: "runs version 2.1", "the Pro plan", "a budget of 900 euros"."""

from dataclasses import replace
from itertools import islice

from recollect.rules.statements import tables
from recollect.rules.statements.building import PROPERTY, SEVERAL, Context, build, describe, names_the_only_one
from recollect.rules.statements.frame import Frame, normal_text
from recollect.rules.statements.phrases import Form, NounPhrase, Tail, canonical, content, join, split_tail
from recollect.rules.statements.tagger import Word, index_of

COLORS = tables.words("nouns", "colors")
_SHADES = tables.words("nouns", "shades")
_NUMBERED = tables.words("nouns", "numbered")
_CHOSEN = tables.words("nouns", "one_of_a_choice")
_HAVING = frozenset("be run use have hold wear take work log play".split())
"""Verbs that only say that somebody has the value: "is on version 2" and "runs version 2" say one thing."""
_NOT_ONE = tables.words("verbs", "of_many") - {"use", "play", "wear", "take", "make", "follow"} | tables.words(
    "verbs", "suits_many"
)
_OWN = tables.words("verbs", "own")


def read_named_value(context: Context) -> list[Frame]:
    """The frame of a clause whose value is told together with the noun that says what it is; none if there is none."""
    if context.verb.past or context.verb.perfect or context.verb.progressive or not context.rest:
        return []
    frames = (rule(context) for rule in (_read_amount, _read_numbered, _read_choice, _read_source, _read_tool))
    return list(islice(filter(None, frames), 1))


def _split_object(context: Context) -> tuple[str, list[Word]]:
    """The preposition after a verb, and what follows it."""
    rest = context.rest
    return (rest[0].lower, rest[1:]) if rest[0].tag == "PRP" else ("", rest)


def _name_attribute(context: Context, preposition: str, noun: str) -> str:
    """The noun alone where the verb says no more than that somebody has it."""
    if context.verb.lemma in _HAVING and not context.verb.passive:
        return noun
    return join("be" if context.verb.passive else "", context.verb.lemma, preposition, noun)


def _read_numbered(context: Context) -> Frame | None:
    """ "wears size 38", "is on version 2.1", "leaves from gate B7", "uses the address ana@x.org"."""
    preposition, left = _split_object(context)
    if context.verb.lemma in _NOT_ONE or context.verb.plural or (context.verb.passive and context.verb.lemma == "hold"):
        return None
    if context.verb.copula and not preposition:
        return None
    tail = split_tail(left)
    words = [word for word in tail.value if word.tag != "AT0"]
    at = next((at for at, word in enumerate(words[:-1]) if canonical(word) in _NUMBERED), None)
    code = next((at for at, word in enumerate(words) if at and _begins_code(word)), None)
    if code and context.verb.lemma == "have" and left[0].lower not in ("a", "an"):
        at = code - 1  # "has the number plate KX19 RTB", "has blood type A positive"
    if at is None or words[at].tag in ("NN2", "NP0") or not _is_nominal(words[:at]):
        return None
    value = words[at + 1 :]
    coded = _begins_code(value[0]) and all(word.is_noun or word.tag in ("CRD", "AJ0") for word in value[1:])
    plain = all(word.tag in ("NP0", "CRD", "ORD") or word.text.isupper() for word in value)
    if len(value) > 3 or not (coded or plain):
        return None
    attribute = _name_attribute(context, preposition, " ".join(content(words[: at + 1])))
    return build(context, attribute, replace(tail, value=value), "numbered", one=not tail.times)


def _is_nominal(words: list[Word]) -> bool:
    return all(word.is_noun or word.tag == "AJ0" for word in words)


def _begins_code(word: Word) -> bool:
    """Whether a word is a code: capital letters with a digit, or one or two capital letters."""
    digits = any(map(str.isdigit, word.text)) and word.text[0].isupper()
    return word.text == word.text.upper() and (digits or (len(word.text) <= 2 and word.text.isalpha()))


def _read_choice(context: Context) -> Frame | None:
    """ "is on the Pro plan", "works the night shift", "uses the MIT licence": which of the few that there are."""
    preposition, left = _split_object(context)
    if context.verb.lemma in _NOT_ONE or context.verb.plural or not left:
        return None
    if context.verb.copula and not preposition:
        of = index_of(left[:-1], "of")
        left = left[of + 1 :] if of and canonical(left[of - 1]) == "member" else []
    tail = split_tail(left)
    words = [word for word in tail.value if word.tag != "AT0"]
    if not 2 <= len(words) <= 4 or left[0].lower not in ("the", "a", "an") or words[0].tag in ("AJC", "AJS"):
        return None
    party = words[-1].lower == "party" and (context.verb.lemma == "belong" or context.verb.copula)
    one_of_several = canonical(words[-1]) in _CHOSEN and (party or words[-1].tag not in ("NP0", "NN2"))
    if not one_of_several or any(word.tag in ("CJC", "PRF") for word in words):
        return None
    attribute = _name_attribute(context, preposition, canonical(words[-1]))
    chosen = replace(tail, value=words if party else words[:-1])
    return build(context, attribute, chosen, "choice", one=not tail.times)


def _read_amount(context: Context) -> Frame | None:
    """ "has a budget of 900 euros", "has the rank of major"."""
    rest = context.rest
    if context.verb.lemma != "have" or rest[0].tag != "AT0":
        return None
    of = index_of(rest, "of") or 0
    named = rest[1:of]
    if not 1 <= len(named) <= 3 or not named[-1].is_noun or named[-1].tag == "NN2" or canonical(named[-1]) in SEVERAL:
        return None
    tail = split_tail(rest[of + 1 :])
    quantity = tail.form in (Form.QUANTITY, Form.CLOCK)
    if not quantity and not (rest[0].lower == "the" and tail.form in (Form.NAME, Form.BARE)):
        return None
    return describe(context, NounPhrase(context.subject, " ".join(content(named))), tail, "amount of")


def read_color(context: Context, tail: Tail) -> Frame | None:
    """ "The door is dark blue", "Ana's eyes are green": one colour at a time."""
    definite = context.phrase.owner or context.subject_words[0].lower in ("the", "this", "my", "our")
    if not _is_color(tail.value) or tail.scope or tail.more or not definite:
        return None
    head = context.phrase.head.split()
    if PROPERTY & set(head) or names_the_only_one(head):
        return None
    return build(context, "color", tail, "color", one=True)


def _is_color(value: list[Word]) -> bool:
    words = [word.text for word in value]  # "Orange" is no colour
    if not words or len(words) > 3 or words[-1].rpartition("-")[2] not in COLORS:
        return False
    shade = len(words) == 2 and value[0].tag in ("NN1", "AJ0") and words[0].islower()  # "dove grey"
    return shade or all(word in COLORS | _SHADES for word in words[:-1])


def _read_source(context: Context) -> Frame | None:
    """ "buys its flour from V": what is one's own has one source."""
    rest = context.rest
    at = index_of(rest, "from", "at", "with") or 0
    if context.verb.lemma not in _OWN or at < 2 or rest[0].tag != "DPS":
        return None
    holder = split_tail(rest[at + 1 :])
    if not holder.is_named or not _is_nominal(rest[1:at]):
        return None
    return build(context, join(context.verb.lemma, *content(rest[1:at]), "from"), holder, "kept", one=True)


def _read_tool(context: Context) -> Frame | None:
    """ "uses Obsidian for notes": the one tool that a purpose has."""
    rest = context.rest
    at = index_of(rest, "for") or 0
    purpose = rest[at + 1 :]
    if context.verb.lemma != "use" or not at or context.verb.plural or context.negated:
        return None
    tail = split_tail(rest[:at])
    plain = all(word.is_noun or word.tag in ("AJ0", "DPS", "AT0", "VVG") for word in purpose)
    if tail.form is not Form.NAME or tail.scope or not purpose or not plain or tail.is_joined:
        return None
    scope = [f"for {normal_text(' '.join(content(purpose)))}"]
    return build(context, "use", replace(tail, scope=scope), "used for", one=True)
