"""Frames of who or what holds a role: "Nora took over as coach of Y", "Y has a new coach, Nora", "Y uses V as its N"."""

from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build, describe, first_of
from recollect.rules.statements.frame import ANY, ChangeMark, Frame, Tense
from recollect.rules.statements.phrases import (
    DEICTIC,
    SCOPE_PREPOSITIONS,
    Form,
    NounPhrase,
    Tail,
    form_of,
    noun_phrase,
    split_tail,
    text_of,
)
from recollect.rules.statements.tagger import Word, index_of

APPOINT_VERBS = tables.words("verbs", "appoint")
NO_VALUE = (Form.VERB, Form.CLAUSE, Form.PREPOSITION, Form.PRONOUN, Form.GERUND, Form.NONE)


def _role_after(words: list[Word], context: Context) -> tuple[NounPhrase, Tail]:
    """A role ("head coach of Harriers") at the start of some words, and what follows it."""
    end = next((at for at in range(len(words)) if _ends_role(words, at)), len(words))
    role = [word for word in words[:end] if word.lower not in ("now", "the", "its", "their")]
    return noun_phrase(role, context.speaker), split_tail(words[end:])


def _ends_role(words: list[Word], at: int) -> bool:
    """Whether a word begins what follows a role; "of", "for", and "at" or "in" after a noun belong to it."""
    word = words[at]
    if word.lower in DEICTIC:
        return True
    belongs = word.lower in ("of", "for") or (word.lower in ("at", "in") and at > 0 and words[at - 1].tag == "NN1")
    ends = word.tag in ("PRP", "CJS", "CJC", "DTQ") or word.lower in SCOPE_PREPOSITIONS or word.text in (",", ";")
    return ends and not belongs


def _describe_role(
    context: Context, role: NounPhrase, value: list[Word], after: Tail, rule: str, old: str = ""
) -> list[Frame]:
    pointing = any(word.tag in ("PNP", "DTQ", "PNQ") for word in value)
    if not role.head or not value or form_of(value) in NO_VALUE or pointing:
        return []
    tail, change = replace(after, value=value), ChangeMark.CHANGE
    return [describe(context, role, tail, rule, tense=Tense.NOW, change=change, old_value=old, negated=False)]


def _read_replacement(context: Context) -> list[Frame]:
    """ "A was replaced by B as N of Y", "we replaced A with B"."""
    verb, rest = context.verb, context.rest
    if verb.lemma not in ("replace", "succeed"):
        return []
    as_at = index_of(rest, "as")
    if verb.passive:
        by = index_of(rest, "by", "with")
        if by is None:
            return []
        old, new = text_of(context.subject_words), split_tail(rest[by + 1 :])
        if as_at is None:
            return replace_value(context, old, new)
        role, after = _role_after(rest[as_at + 1 :], context)
        return _describe_role(context, role, new.value, after, "replaced as", old)
    with_at = index_of(rest, "with", "by")
    if as_at is None and with_at is not None and with_at > 0:
        return replace_value(context, text_of(split_tail(rest[:with_at]).value), split_tail(rest[with_at + 1 :]))
    return []


def _read_role_phrase(context: Context) -> list[Frame]:
    """ "B was sworn in as N of Y", "B takes over from A as N of Y", "B replaced A as N of Y", "Y hired B as its N".

    What follows "as" says which role it is, whatever the verb; only verbs of leaving and of mere opinion say otherwise.
    """
    verb, rest = context.verb, context.rest
    as_at = index_of(rest, "as")
    if as_at is None or as_at + 1 >= len(rest) or verb.lemma in _NOT_INTO_ROLE or verb.progressive or verb.copula:
        return []
    follows, happened = rest[as_at + 1].lower, verb.past or verb.perfect or verb.passive
    if f"{verb.lemma}-{verb.particle}" in _OUT_OF_ROLE or follows in ("a", "an", "one", "if", "though", "well"):
        return []
    if not happened and verb.lemma not in ("take", "step", "replace", "succeed", "follow"):
        return []
    own = follows in ("its", "their")
    role, after = _role_after(rest[as_at + 1 :], context)
    instead, after = _instead_of(after)
    given = [word for word in rest[:as_at] if word.tag not in ("AVP", "AV0", "PRP")]
    before = rest[:as_at]
    from_at = index_of(before, "from", "for")
    if verb.lemma in APPOINT_VERBS and not verb.passive:
        person = split_tail(before)
        owner = role.owner or (context.subject if own or context.phrase.whole else "")
        return _describe_role(context, NounPhrase(owner, role.head), person.value, after, "appointed", instead)
    if verb.lemma == "take" and not role.owner and from_at and index_of(before, "over") == 0:
        thing = split_tail(before[1:from_at])  # "took over the chat widget from Ana as product owner"
        role = NounPhrase(noun_phrase(thing.value, context.speaker).whole, role.head)
    if not role.owner or form_of(context.subject_words) is not Form.NAME:
        return []
    if verb.lemma in _DISPLACES and not verb.passive:
        instead = text_of(split_tail(before).value)
    elif from_at is not None:
        instead = text_of(split_tail(before[from_at + 1 :]).value)
    elif not verb.passive and any(word.is_noun for word in given) and verb.lemma != "make":
        return []
    return _describe_role(context, role, context.subject_words, after, "as role", instead)


_NOT_INTO_ROLE = tables.words("verbs", "not_into_role")
_OUT_OF_ROLE = frozenset(("step-down", "stand-down", "step-back", "bow-out", "go-down", "come-across", "stand-out"))
_DISPLACES = frozenset("replace succeed follow overtake displace unseat supplant relieve beat oust depose".split())


def _instead_of(after: Tail) -> tuple[str, Tail]:
    """Take "in place of A", "instead of A", "from A" out of what limits a change: it names the old value."""
    for scope in after.scope:
        for words in ("in place of ", "instead of ", "from "):
            if scope.startswith(words):
                return scope.removeprefix(words), replace(after, scope=[one for one in after.scope if one != scope])
    return "", after


def replace_value(context: Context, old: str, tail: Tail) -> list[Frame]:
    """A frame that names the old and the new value and no attribute; it meets what the speaker had."""
    if not old or tail.form in NO_VALUE:
        return []
    subject = context.subject if not context.verb.passive else context.speaker
    return [
        build(context, ANY, tail, "replaced", subject=subject, change=ChangeMark.CHANGE, old_value=old, tense=Tense.NOW)
    ]


def _read_appointment(context: Context) -> list[Frame]:
    """ "Harriers appointed Nora as head coach", "Tore Lie was elected mayor of Granvik", "Astana became the capital of …"."""
    verb, rest = context.verb, context.rest
    if verb.lemma == "become":
        return _read_subject_role(context, rest, "became")
    if verb.lemma not in APPOINT_VERBS:
        return []
    if verb.passive:
        return _read_subject_role(context, rest[1:] if rest and rest[0].lower == "as" else rest, "appointed")
    as_at = index_of(rest, "as", "its", "their")
    the = index_of(rest, "the")
    if as_at is None and the and (verb.past or verb.perfect) and all(word.is_name for word in rest[:the]):
        role, after = _role_after(rest[the:], context)  # "made Port Kerrin the capital of the Twin Isles"
        return _describe_role(context, role, rest[:the], after, "appointed") if role.owner else []
    if as_at is None or as_at == 0 or not (verb.past or verb.perfect):
        return []
    role, after = _role_after(rest[as_at + 1 :] if rest[as_at].lower == "as" else rest[as_at:], context)
    owner = role.owner.removeprefix("its").removeprefix("their").strip() or context.subject
    if not role.head or (rest[as_at + 1 : as_at + 2] and rest[as_at + 1].lower in ("a", "an")):
        return []
    return _describe_role(context, NounPhrase(owner, role.head), split_tail(rest[:as_at]).value, after, "appointed")


def _read_subject_role(context: Context, words: list[Word], rule: str) -> list[Frame]:
    """The frame of a name that now holds the role at the start of some words."""
    role, after = _role_after(words, context)
    if not role.owner or words[0].lower in ("a", "an") or form_of(context.subject_words) is not Form.NAME:
        return []
    return _describe_role(context, role, context.subject_words, after, rule)


def _read_takeover(context: Context) -> list[Frame]:
    """ "Nora Blyth took over as head coach of Harriers", "Fatima took over the billing service from Lukas"."""
    verb, rest = context.verb, context.rest
    if verb.lemma != "take" or (verb.particle != "over" and index_of(rest, "over") != 0):
        return []
    as_at, from_at = index_of(rest, "as"), index_of(rest, "from")
    old = text_of(split_tail(rest[from_at + 1 :]).value) if from_at is not None else ""
    if as_at is not None:
        role, after = _role_after(rest[as_at + 1 :], context)
        after.scope = [scope for scope in after.scope if not scope.startswith("from ")]
        return _describe_role(context, role, context.subject_words, after, "took over", old)
    thing = split_tail(rest[1:from_at])
    if not thing.value or not old:
        return []
    return [
        build(context, attribute, Tail(context.subject_words), "took over", one=True, tense=Tense.NOW,
              subject=noun_phrase(thing.value, context.speaker).whole, change=ChangeMark.CHANGE, old_value=old)
        for attribute in ("owner", "maintainer", "leader")
    ]  # fmt: skip


def _read_use(context: Context) -> list[Frame]:
    """ "The team uses Linear as its tracker": the value of the role that "as" names."""
    verb, rest = context.verb, context.rest
    if verb.lemma not in ("use", "have", "choose", "pick", "adopt", "make", "keep") or verb.passive:
        return []
    end = index_of(rest, "as")
    start = None if end is None else end + 1
    if end is None and verb.lemma in ("make", "choose"):
        start = end = index_of(rest, "its", "their") or None
    if start is None or start >= len(rest):
        return []
    owned = rest[start].lower in ("its", "their", "his", "her", "my", "our", "the")
    bare = rest[start].tag in ("NN1", "AJ0") and verb.lemma in ("use", "have")
    if not owned and not bare:
        return []
    role, after = _role_after(rest[start + owned :], context)
    value = split_tail(rest[:end]).value
    if not role.head or role.owner or not value or (form_of(value) in NO_VALUE and len(value) > 1):
        return []
    tail = replace(after, value=value)
    change = context.change if verb.lemma in ("use", "have", "keep") else ChangeMark.CHANGE
    tense = context.stated_tense if verb.lemma in ("use", "have", "keep") else Tense.NOW
    return [describe(context, NounPhrase(context.subject, role.head), tail, "used as", change=change, tense=tense)]


def _read_owned_role(context: Context) -> list[Frame]:
    """ "Norland has its capital in Vesby": the place of what is owned is its value."""
    verb, rest = context.verb, context.rest
    if verb.lemma != "have" or verb.past or verb.perfect or len(rest) < 4 or rest[0].tag != "DPS":
        return []
    at = index_of(rest, "in", "at")
    if at is None or not all(word.is_noun or word.tag == "AJ0" for word in rest[1:at]):
        return []
    role, tail = noun_phrase(rest[1:at], context.speaker), split_tail(rest[at + 1 :])
    if not role.head or tail.form is not Form.NAME:
        return []
    return [describe(context, NounPhrase(context.subject, role.head), tail, "has its")]


def _read_new_role(context: Context) -> list[Frame]:
    """ "User has a new GP, Dr. Byrne", "Harrow elected a new mayor, Ana Ruiz", "found a new publisher in Astra"."""
    verb, rest = context.verb, context.rest
    if verb.lemma not in ("have", "get", "find") and verb.lemma not in APPOINT_VERBS:
        return []
    if verb.passive or (verb.past and verb.lemma == "have"):
        return []
    new = index_of(rest, "new")
    mark = index_of(rest, ",", ":", "named", "called")
    if mark is None and verb.lemma == "find":
        mark = index_of(rest, "in")
    if new is None or mark is None or new > 1 or mark <= new + 1 or (new == 1 and rest[0].tag not in ("AT0", "DPS")):
        return []
    named = rest[new + 1 : mark]
    until = next((at for at, word in enumerate(named) if word.lower in DEICTIC), len(named))
    role, tail = noun_phrase(named[:until], context.speaker), split_tail(rest[mark + 1 :])
    product = tail.form is Form.A and tail.has_name
    if not role.head or not (tail.form is Form.NAME or product) or any(word.tag == "PRP" for word in named[:until]):
        return []
    owner = role.owner or context.subject
    return [describe(context, NounPhrase(owner, role.head), tail, "has new", tense=Tense.NOW, change=ChangeMark.CHANGE)]


def read_role(context: Context) -> list[Frame]:
    """Return the frames of a clause that gives a role to somebody or something; none if it gives none."""
    return first_of(context, _read_replacement, _read_role_phrase, _read_appointment, _read_takeover)


def read_held_role(context: Context) -> list[Frame]:
    """Return the frames of what somebody has or uses in a role; none if there is none."""
    return first_of(context, _read_use, _read_owned_role, _read_new_role)
