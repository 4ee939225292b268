"""Frames of instructions: what to use or leave out, what always or never to do, what is allowed."""

from dataclasses import replace

from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, choice_of
from recollect.rules.statements.frame import SELF, ChangeMark, Frame, Tense, ValueKind, normal_text
from recollect.rules.statements.phrases import FILLER, NOW, Form, Tail, content, form_of, kind_of, split_tail, text_of
from recollect.rules.statements.tagger import FINITE, Word, index_of

_USE = tables.words("rules", "use")
_FORBID = tables.words("rules", "forbid")
_FORBIDDEN = tables.words("rules", "forbidden")
_ALLOWED = tables.words("rules", "allowed")
_DEFAULT_SCOPE = tables.words("rules", "default_scope")
_SCOPE_OWNERS = tables.words("rules", "default_scope_owner")
_DEFAULT_DOING = tables.words("rules", "default_doing")
_NOT_AN_ORDER = frozenset("thank thanks let see look guess hope wish wonder miss love congrat hang imagine".split())
_TAKEN_FOR_NOUNS = frozenset(("answer", "reply"))
"""Orders that the model takes for nouns: "Answer in French"."""
_LIMIT = "limit"
_RULED = SELF.lower()
"""Rules for the agent are of one subject, whoever gives them."""
_KEY_SPELLINGS = tables.mapping("key_spellings")


def read_order(words: list[Word], speaker: str) -> list[Frame]:
    """The frame of an imperative or of "No emojis (in …)"; none if the words give no order."""
    now = ChangeMark.NOW if words and words[0].lower in NOW else ChangeMark.NONE
    says_nothing = ("please", "kindly", "also")
    words = _without_default_clause(words)
    words = [w for at, w in enumerate(words) if w.lower not in says_nothing and not (at < 2 and w.lower in (*NOW, ","))]
    finite = any(word.tag in FINITE for word in words[1:])
    if words and (words[0].lower == "use" or (words[0].lower in _TAKEN_FOR_NOUNS and not finite)):
        words[0] = Word(words[0].text, words[0].lower, "VVB")
        if len(words) > 1 and words[1].tag == "VVZ":  # "use tabs in Makefiles"
            words[1] = Word(words[1].text, words[1].lemma, "NN2")
    return [replace(f, change=now) if f.change is ChangeMark.NONE else f for f in _read_order(words, speaker)]


def _without_default_clause(words: list[Word]) -> list[Word]:
    """Leave out a clause that only says that the assistant is writing: "when you answer me", "when replying"."""
    start = index_of(words, "when", "whenever")
    if start is None:
        return words
    after = [at for at in range(start + 1, len(words)) if words[at].lower not in ("you", "to", "me", "us", "back")]
    if not after or words[after[0]].lower not in _DEFAULT_DOING:
        return words
    end = after[1] if len(after) > 1 else len(words)
    whole = end == len(words) if start else words[end : end + 1] and words[end].text == ","
    return [*words[:start], *words[end:]] if whole else words


def _read_order(words: list[Word], speaker: str) -> list[Frame]:
    if len(words) < 2:
        return []
    if words[0].lower == "no" and words[1].tag in ("NN0", "NN1", "NN2", "AJ0", "NP0", "VVG"):
        if any(word.tag in FINITE for word in words[2:]):
            return []
        return _read_limit(words[1:], negated=True)
    negated, said, left = _order_words(words)
    if not left or left[0].lemma in _NOT_AN_ORDER or not _is_order(left, said):
        return []
    verb, after = left[0].lemma, left[1:]
    if verb not in _FORBID or negated:
        return _read_verb_rule(left, speaker, negated=negated)
    if after[0].lower in ("from", "out"):
        after = after[1:]
    if after and after[0].tag == "VVG":
        return _read_verb_rule(after, speaker, negated=True)
    return _read_limit(after, negated=True) if after and verb in ("avoid", "omit", "skip") else []


def _order_words(words: list[Word]) -> tuple[bool, bool, list[Word]]:
    """Whether an order is a prohibition, whether it says so (never, always, do not), and the words from its verb on."""
    first = words[0].lower
    if first == "never":
        return True, True, words[1:]
    if first == "always":
        return False, True, words[1:]
    if first == "do" and len(words) > 2 and words[1].tag == "XX0":
        rest = words[2:]
        return True, True, rest[1:] if rest[0].lower == "ever" else rest
    return False, False, words if words[0].tag in ("VVB", "VVI") else []


def _is_order(left: list[Word], said: bool) -> bool:
    """An imperative has no other finite verb before a subordinate clause, and more than its verb."""
    if len(left) < 2 or any(word.lower in ("i", "you", "we") for word in left[1:3]):
        return False
    for word in left[1:]:
        if word.tag in ("CJS", "AVQ", "DTQ", "PNQ", "CJT") or word.lower in ("when", "if", "unless", "before"):
            break
        if word.tag in FINITE and word.tag != "VVB":
            return False
    return said or left[0].tag in ("VVB", "VVI")


def _read_verb_rule(left: list[Word], speaker: str, *, negated: bool) -> list[Frame]:
    """The frame of a verb and what follows it: a limit for "use" and its like, else a rule named by the verb."""
    verb, after = left[0], left[1:]
    if not after:
        return []
    uses = verb.lemma in _USE
    if not negated and not uses and (chosen := _read_choice(verb, after, speaker)) is not None:
        return [chosen]
    if not negated and (counted := _read_numbered_rule(verb, after)) is not None:
        return [counted]
    if uses:
        return _read_limit(after, negated=negated)
    return [_build_frame(_RULED, f"rule {verb.lemma}", split_tail(after), after, negated=negated, rule="instruction")]


def _read_choice(verb: Word, after: list[Word], speaker: str) -> Frame | None:
    """ "Answer me in French", "Call me Jon": what the answers' language and the speaker's name are to be."""
    left = [word for word in after if word.lower not in ("me", "to", "always", "only") and word.lower not in NOW]
    if verb.lemma in ("answer", "reply", "respond", "write", "speak") and len(left) == 2 and left[0].lower == "in":
        aspect, value, who = ("answer", "language"), left[1:], _RULED
    elif verb.lemma in ("call", "address") and after[0].lower == "me" and len(left) == 1:
        aspect, value, who = ("preferred", "name"), left, speaker
    else:
        return None
    if not value[0].is_name:
        return None
    frame = _build_frame(who, " ".join(aspect), Tail(value), value, negated=False, rule="instruction:choice")
    return replace(frame, single=True, key_words=aspect, change=ChangeMark.NOW if len(after) > 3 else ChangeMark.NONE)


def _read_numbered_rule(verb: Word, after: list[Word]) -> Frame | None:
    """ "Wrap lines at 80 characters": the number is the value, all other words are the rule."""
    numbers = [word for word in after if word.tag == "CRD"]
    joined = any(word.tag in ("CJC", "CJS", "AVQ") or word.text == "," for word in after)
    if len(numbers) != 1 or joined or not numbers[0].text[0].isalnum():
        return None
    now = any(word.lower in NOW for word in after)
    said = " ".join(content([word for word in after if word.tag != "CRD" and word.lower not in NOW]))
    attribute = f"rule {verb.lemma} {said}"
    frame = _build_frame(_RULED, attribute, Tail(numbers), numbers, negated=False, rule="instruction:number")
    return replace(frame, single=True, change=ChangeMark.NOW if now else ChangeMark.NONE)


def _read_limit(what: list[Word], *, negated: bool) -> list[Frame]:
    what = [  # "add emojis to commit messages": what follows "to" is a place, not what to do
        Word(word.text, word.lower, "PRP") if word.tag == "TO0"
        else Word(word.text, word.lower, "NN1") if at and what[at - 1].tag == "TO0" else word
        for at, word in enumerate(what)
    ]  # fmt: skip
    tail = split_tail([word for word in _without_instead(what) if word.lower not in ("any", "more")])
    if not tail.value or tail.form in (Form.VERB, Form.CLAUSE, Form.PRONOUN, Form.PREPOSITION):
        return []
    frame = _build_frame(_RULED, _LIMIT, tail, what, negated=negated, rule="instruction:limit")
    if (chosen := choice_of(frame)) is not None:
        return [chosen]
    named = " ".join(_KEY_SPELLINGS.get(word, word) for word in normal_text(frame.value).split())
    return [replace(frame, key_words=(_LIMIT, named))]


def _without_instead(words: list[Word]) -> list[Word]:
    """Leave out what is turned down by name: "spaces instead of tabs for indentation"."""
    places = range(len(words) - 2)
    at = next((at for at in places if words[at].lower == "instead" and words[at + 1].lower == "of"), None)
    if at is None:
        return words
    end = next((n for n in range(at + 2, len(words)) if words[n].tag == "PRP"), len(words))
    return [*words[:at], *words[end:]]


def _build_frame(subject: str, attribute: str, tail: Tail, words: list[Word], *, negated: bool, rule: str) -> Frame:
    value = tail.text or " ".join(content(words))
    scope = [*tail.scope, *tail.times] if tail.value else []
    return Frame(
        subject=subject,
        attribute=attribute,
        value=value,
        value_kind=kind_of(tail.value) if tail.value else ValueKind.OTHER,
        scope=tuple(s for s in scope if s not in ("to", "to me") and not is_default_scope(s)),
        negated=negated,
        change=ChangeMark.NOW if tail.now else ChangeMark.NONE,
        partial=bool(tail.more),
        rule=rule,
        rest=tail.more,
    )


def is_default_scope(scope: str) -> bool:
    """Whether a scope is simply where an assistant writes: "in your answers", "in messages to me"."""
    words = [word for word in scope.split() if word not in _SCOPE_OWNERS]
    return len(words) == 2 and words[0] in ("in", "into", "within", "from", "with", "to") and words[1] in _DEFAULT_SCOPE


def read_permission(context: Context) -> list[Frame]:
    """ "Smoking is not allowed on the balcony", "Global variables must not be used", "Secrets must never be logged"."""
    verb, rest = context.verb, context.rest
    word = verb.surface if verb.passive else rest[0].lower if verb.copula and rest else ""
    after = rest if verb.passive else rest[1:]
    subject = [w for w in context.subject_words if w.lower not in FILLER]
    if context.is_self or context.tense is Tense.PAST or verb.past:
        return []
    if word in _FORBIDDEN or (word in _ALLOWED and word not in ("ok", "okay", "fine")):
        return _read_permission(context, subject, after, negated=(word in _FORBIDDEN) != context.negated)
    if verb.passive and verb.modal in ("must", "may", "should", "can", "ca") and context.negated and verb.lemma in _USE:
        return _read_permission(context, subject, after, negated=True)
    return []


def _read_permission(context: Context, subject: list[Word], after: list[Word], *, negated: bool) -> list[Frame]:
    """The frame of what may or may not be; a gerund is the verb of a rule."""
    if any(word.tag in ("PNP", "PNI") for word in subject) or (after and after[0].lower == "to"):
        return []
    if subject[0].tag == "VVG" and len(subject) > 1:
        frames = _read_verb_rule([*subject, *after], context.speaker, negated=negated)
    else:
        frames = _read_limit([*subject, *after], negated=negated)
    if form_of(subject) is Form.PRONOUN or not text_of(subject):
        return []
    scope, change = [one for one in context.scope if one != "can"], context.change
    return [
        replace(frame, scope=(*scope, *frame.scope), change=frame.change if change is ChangeMark.NONE else change)
        for frame in frames
    ]
