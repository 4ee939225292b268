"""Frames of values that come with the noun they are a value of: "runs version 2.1", "the Pro plan", "a budget of 900 euros"."""

from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import PROPERTY, SEVERAL, Context, build, describe, names_the_only_one
from recollect.rules.statements.frame import Frame, normal_text
from recollect.rules.statements.phrases import (
    PERIODS,
    Form,
    NounPhrase,
    Tail,
    canonical,
    content,
    form_of,
    join,
    noun_phrase,
    split_tail,
)
from recollect.rules.statements.tagger import Word

COLORS = tables.words("nouns", "colors")
_SHADES = tables.words("nouns", "shades")
_COLORED = tables.words("nouns", "colored")
_NUMBERED = tables.words("nouns", "numbered")
_CHOSEN = tables.words("nouns", "one_of_a_choice")
_HAVING = frozenset("be run use have hold wear take work log play".split())
"""Verbs that only say that somebody has the value: "is on version 2" and "runs version 2" say one thing."""
_NOT_ONE = tables.words("verbs", "of_many") - {"use", "play", "wear", "take", "make"} | tables.words(
    "verbs", "suits_many"
)
_REACH = frozenset("reach email e-mail phone call contact text message find".split())
LANGUAGES = tables.words("values", "languages")
_HELD_BY_ONE = frozenset("record title trophy cup chair copyright patent crown belt keys mortgage lease".split())
_OWN = tables.words("verbs", "own")
_RIDES = frozenset("go get travel come commute drive ride".split())


def read_named_value(context: Context) -> list[Frame]:
    """The frame of a clause whose value is told together with the noun that says what it is; none if there is none."""
    if context.verb.past or context.verb.perfect or context.verb.progressive or not context.rest:
        return []
    for rule in (
        _amount_of,
        _numbered,
        _one_of_a_choice,
        _colored,
        _on_floor,
        _how_often,
        _contact,
        _bought_from,
        _in_language,
        _held,
        _ride_taken,
        _used_for,
        _seen_for,
        _owned,
        _made_by,
    ):
        frame = rule(context)
        if frame is not None:
            return [frame]
    return []


def reached(words: list[Word]) -> list[Word]:
    """ "You can reach Ana at V" as "Ana can be reached at V"; the words as they are if they say nothing of that sort."""
    if len(words) < 6 or [word.lower for word in words[:2]] != ["you", "can"] or words[2].lower not in _REACH:
        return words
    at = next(
        (at for at, word in enumerate(words) if word.lower in ("at", "on", "in", "under", "behind") and at > 3), None
    )
    if at is None:
        return words
    lemma = words[2].lower
    passive = [
        Word("can", "can", "VM0"),
        Word("be", "be", "VBI"),
        Word("found" if lemma == "find" else lemma, lemma, "VVN"),
    ]
    return [*words[3:at], *passive, *words[at:]]


def _object(context: Context) -> tuple[str, list[Word]]:
    """The preposition after a verb, and what follows it."""
    rest = context.rest
    return (rest[0].lower, rest[1:]) if rest[0].tag == "PRP" else ("", rest)


def _attribute(context: Context, preposition: str, noun: str) -> str:
    """The noun alone where the verb says no more than that somebody has it."""
    if context.verb.lemma in _HAVING and not context.verb.passive:
        return noun
    return join("be" if context.verb.passive else "", context.verb.lemma, preposition, noun)


def _numbered(context: Context) -> Frame | None:
    """ "wears size 38", "is on version 2.1", "leaves from gate B7", "uses the address ana@x.org"."""
    preposition, left = _object(context)
    if context.verb.lemma in _NOT_ONE or context.verb.plural or (context.verb.passive and context.verb.lemma == "hold"):
        return None
    if context.verb.copula and not preposition:
        return None
    tail = split_tail(left)
    words = [word for word in tail.value if word.tag != "AT0"]
    at = next((at for at, word in enumerate(words[:-1]) if canonical(word) in _NUMBERED), None)
    if (
        at is None
        or words[at].tag in ("NN2", "NP0")
        or not all(word.is_noun or word.tag == "AJ0" for word in words[:at])
    ):
        return None
    value = words[at + 1 :]
    if len(value) > 3 or any(word.tag not in ("NP0", "CRD", "ORD") and not word.text.isupper() for word in value):
        return None
    attribute = _attribute(context, preposition, " ".join(content(words[: at + 1])))
    return build(context, attribute, replace(tail, value=value), "numbered", one=not tail.times)


def _one_of_a_choice(context: Context) -> Frame | None:
    """ "is on the Pro plan", "works the night shift", "uses the MIT licence": which of the few that there are."""
    preposition, left = _object(context)
    if context.verb.lemma in _NOT_ONE or context.verb.plural or not left:
        return None
    if context.verb.copula and not preposition:
        of = next((at for at, word in enumerate(left[:-1]) if word.lower == "of"), None)
        left = left[of + 1 :] if of and canonical(left[of - 1]) == "member" else []
    tail = split_tail(left)
    words = [word for word in tail.value if word.tag != "AT0"]
    if (
        not left
        or left[0].lower not in ("the", "a", "an")
        or not 2 <= len(words) <= 4
        or any(w.tag in ("CJC", "PRF") for w in words)
    ):
        return None
    party = words[-1].lower == "party" and (context.verb.lemma == "belong" or context.verb.copula)
    if (
        canonical(words[-1]) not in _CHOSEN
        or (words[-1].tag in ("NP0", "NN2") and not party)
        or words[0].tag in ("AJC", "AJS")
    ):
        return None
    noun = canonical(words[-1])
    return build(
        context,
        _attribute(context, preposition, noun),
        replace(tail, value=words if party else words[:-1]),
        "choice",
        one=not tail.times,
    )


def _amount_of(context: Context) -> Frame | None:
    """ "has a budget of 900 euros", "has the rank of major"."""
    rest = context.rest
    if context.verb.lemma != "have" or rest[0].tag != "AT0":
        return None
    of = next((at for at, word in enumerate(rest) if word.lower == "of"), 0)
    named = rest[1:of]
    if not 1 <= len(named) <= 3 or not named[-1].is_noun or named[-1].tag == "NN2" or canonical(named[-1]) in SEVERAL:
        return None
    tail = split_tail(rest[of + 1 :])
    quantity = tail.form in (Form.QUANTITY, Form.CLOCK)
    if not quantity and not (rest[0].lower == "the" and tail.form in (Form.NAME, Form.BARE)):
        return None
    return describe(context, NounPhrase(context.subject, " ".join(content(named))), tail, "amount of")


def colored(context: Context, tail: Tail) -> Frame | None:
    """ "The door is dark blue", "Ana's eyes are green": one colour at a time."""
    if not _is_color(tail.value) or tail.scope or tail.more or not (context.phrase.owner or _is_definite(context)):
        return None
    head = context.phrase.head.split()
    if PROPERTY & set(head) or names_the_only_one(head):
        return None
    return build(context, "color", tail, "color", one=True)


def _is_definite(context: Context) -> bool:
    return context.subject_words[0].lower in ("the", "this", "my", "our")


def _is_color(value: list[Word]) -> bool:
    words = [word.text for word in value]  # "Orange" is no colour
    if not words or len(words) > 3 or words[-1].rpartition("-")[2] not in COLORS:
        return False
    shade = len(words) == 2 and value[0].tag in ("NN1", "AJ0") and words[0].islower()  # "dove grey"
    return shade or all(word in COLORS | _SHADES for word in words[:-1])


def _colored(context: Context) -> Frame | None:
    """ "has auburn hair", "has a grey coat"."""
    words = [word for word in context.rest if word.tag != "AT0"]
    if (
        context.verb.lemma != "have"
        or len(words) < 2
        or canonical(words[-1]) not in _COLORED
        or not _is_color(words[:-1])
    ):
        return None
    part = join(context.subject, canonical(words[-1]))
    return build(context, "color", Tail(words[:-1]), "color", subject=part, one=True)


def read_ride(context: Context) -> list[Frame]:
    """ "goes to work by bike", "commutes by tram"."""
    rest = context.rest
    if context.verb.past or context.verb.progressive:
        return []
    at = next((at for at, word in enumerate(rest) if word.lower == "by"), None)
    if context.verb.lemma not in _RIDES or at is None or context.verb.particle:
        return []
    where = content(rest[:at])
    if (where[:1] != ["to"] or len(where) > 4) if where else context.verb.lemma != "commute":
        return []
    tail = split_tail(rest[at + 1 :])
    if tail.form not in (Form.BARE, Form.NAME) or len(tail.value) > 2:
        return []
    return [build(context, join(context.verb.lemma, *where, "by"), tail, "by what", one=True)]


def _how_often(context: Context) -> Frame | None:
    """ "runs every two days", "is watered every week"."""
    rest = context.rest
    if rest[0].lower not in ("every", "each") or len(rest) not in (2, 3) or context.is_self:
        return None
    if rest[-1].lemma not in PERIODS or context.verb.copula:
        return None
    attribute = join("be" if context.verb.passive else "", context.verb.lemma, "every")
    amount = rest[1:] if rest[1].tag == "CRD" else [Word("1", "1", "CRD"), *rest[1:]]
    return build(context, attribute, Tail(amount), "how often", one=True)


def _contact(context: Context) -> Frame | None:
    """ "can be reached at 555-0100", "is reachable at ana@x.org"."""
    verb, rest = context.verb, context.rest
    if verb.copula and rest[0].lower in ("reachable", "available"):
        rest = rest[1:]
    elif not (verb.passive and verb.modal == "can" and verb.lemma in _REACH):
        return None
    if verb.lemma == "find":
        where = split_tail(rest[1:])
        hidden = rest[0].tag == "PRP" and where.form is Form.THE and not where.has_name and not where.scope
        return build(replace(context, scope=()), "store", where, "contact", one=True) if hidden else None
    if len(rest) < 2 or rest[0].lower not in ("at", "on", "under"):
        return None
    tail = split_tail(rest[1:])
    if len(tail.value) != 1 or (not any(map(str.isdigit, tail.value[0].text)) and "@" not in tail.value[0].text):
        return None
    plain = replace(context, scope=())
    return build(
        plain, join("reach", "by email" if verb.lemma in ("email", "e-mail") else ""), tail, "contact", one=True
    )


def _bought_from(context: Context) -> Frame | None:
    """ "buys its flour from V": what is one's own has one source."""
    rest = context.rest
    at = next((at for at, word in enumerate(rest) if word.lower in ("from", "at", "with")), 0)
    if context.verb.lemma not in _OWN or at < 2 or rest[0].tag != "DPS":
        return None
    holder = split_tail(rest[at + 1 :])
    if not (holder.form is Form.NAME or (holder.form is Form.THE and holder.has_name)) or not all(
        word.is_noun or word.tag == "AJ0" for word in rest[1:at]
    ):
        return None
    return build(context, join(context.verb.lemma, *content(rest[1:at]), "from"), holder, "kept", one=True)


def _in_language(context: Context) -> Frame | None:
    """ "is taught in Dutch", "The manual is in Finnish"."""
    verb, rest = context.verb, context.rest
    written = verb.passive and verb.lemma in ("teach", "write", "draft", "print", "hold")
    stated = verb.copula or written or verb.lemma in ("teach", "broadcast")
    if not stated or context.is_self or len(rest) < 2 or rest[0].lower != "in":
        return None
    tail = split_tail(rest[1:])
    if len(tail.value) != 1 or tail.value[0].lower not in LANGUAGES or verb.plural:
        return None
    return build(context, join("be" if verb.passive else "", verb.lemma, "in language"), tail, "in language", one=True)


def _held(context: Context) -> Frame | None:
    """ "Ana holds the record of the Glen Marathon": the record has one holder."""
    rest = context.rest
    at = next((at for at, word in enumerate(rest) if word.lower in ("of", "for", "in")), 0)
    held = content(rest[:at])
    if context.verb.lemma != "hold" or not held or rest[0].lower != "the" or held[-1] not in _HELD_BY_ONE:
        return None
    thing = split_tail(rest[at + 1 :])
    if form_of(context.subject_words) is not Form.NAME or thing.form not in (Form.NAME, Form.THE) or thing.scope:
        return None
    subject = noun_phrase(thing.value, context.speaker).whole
    value = replace(thing, value=context.subject_words)
    return build(context, join(*held, "holder"), value, "held", subject=subject, one=True)


def _on_floor(context: Context) -> Frame | None:
    """ "lives on the third floor", "is in the second row"."""
    preposition, left = _object(context)
    tail = split_tail(left)
    words = [word for word in tail.value if word.tag != "AT0"]
    if (
        preposition not in ("in", "on")
        or len(words) != 2
        or words[0].tag != "ORD"
        or canonical(words[1]) not in _NUMBERED
    ):
        return None
    if context.verb.lemma not in ("be", "live", "work", "sit", "reside") or words[1].tag == "NN2":
        return None
    attribute = join(context.verb.lemma, preposition, canonical(words[1]))
    return build(context, attribute, tail, "ordinal", one=True)


def _ride_taken(context: Context) -> Frame | None:
    """ "takes the bus to work"."""
    rest = context.rest
    if context.verb.lemma not in ("take", "ride", "catch") or len(rest) < 4 or rest[0].lower != "the":
        return None
    to = next((at for at, word in enumerate(rest) if word.lower == "to"), 0)
    where = content(rest[to + 1 :])
    if not 2 <= to <= 3 or where not in (["work"], ["school"], ["office"], ["university"], ["college"], ["campus"]):
        return None
    return build(context, join("go to", *where, "by"), Tail(rest[1:to]), "by what", one=True)


def _used_for(context: Context) -> Frame | None:
    """ "uses Obsidian for notes": the one tool that a purpose has."""
    rest = context.rest
    at = next((at for at, word in enumerate(rest) if word.lower == "for"), 0)
    purpose = rest[at + 1 :]
    if context.verb.lemma != "use" or not at or context.verb.plural or context.negated:
        return None
    tail = split_tail(rest[:at])
    plain = all(word.is_noun or word.tag in ("AJ0", "DPS", "AT0", "VVG") for word in purpose)
    if tail.form is not Form.NAME or tail.scope or not purpose or not plain or any(w.tag == "CJC" for w in tail.value):
        return None
    return build(
        context, "use", replace(tail, scope=[f"for {normal_text(' '.join(content(purpose)))}"]), "used for", one=True
    )


def _seen_for(context: Context) -> Frame | None:
    """ "goes to Dr. Ames for dental care": one person with a title for one need."""
    rest = context.rest
    if context.verb.lemma not in ("go", "see", "visit") or (context.verb.lemma == "go" and rest[0].lower != "to"):
        return None
    tail = split_tail(rest[1:] if context.verb.lemma == "go" else rest)
    if not tail.value or tail.more or tail.times or tail.form is not Form.NAME:
        return None
    needed = len(tail.scope) == 1 and tail.scope[0].startswith("for ")
    return build(context, "go to", tail, "seen for", one=True) if needed and tail.value[0].text in _TITLES else None


_TITLES = frozenset("Dr Dr. Mr Mr. Mrs Mrs. Ms Ms. Prof Prof. Professor Doctor".split())


def _owned(context: Context) -> Frame | None:
    """ "The bike belongs to Ana": a thing has one owner; a person belongs to several clubs."""
    rest = context.rest
    thing = (
        context.subject_words[0].lower in ("the", "this", "that", "my", "our") and not context.subject_words[-1].is_name
    )
    if context.verb.lemma != "belong" or not thing or rest[0].lower != "to" or context.verb.plural:
        return None
    tail = split_tail(rest[1:])
    plain = (
        tail.form is Form.NAME
        and all(w.is_name for w in tail.value)
        and not tail.scope
        and context.phrase.head.split()[-1] not in SEVERAL
    )
    return build(context, "owner", tail, "owned", one=True) if plain else None


def _made_by(context: Context) -> Frame | None:
    """ "The song Dusk is by Ana Ruiz"."""
    rest = context.rest
    if not context.verb.copula or rest[0].lower != "by" or context.verb.plural:
        return None
    tail = split_tail(rest[1:])
    return build(context, "creator", tail, "made by", one=True) if tail.form is Form.NAME and not tail.scope else None
