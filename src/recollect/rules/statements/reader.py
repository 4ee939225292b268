"""Reading one English statement: its language, its clause, and the rules that make frames of it, in order."""

import re
from dataclasses import replace
from itertools import pairwise

from recollect.rules.statements import tables
from recollect.rules.statements.building import PROPERTY, SEVERAL, Context, build, names_the_only_one
from recollect.rules.statements.changes import CHANGE_VERBS, read_change
from recollect.rules.statements.clause import TENTATIVE, Clause, VerbGroup, parse_clause
from recollect.rules.statements.descriptions import STATES, read_copula, read_duty, read_label, read_swapped
from recollect.rules.statements.frame import ANY, NO_SUBJECT, ChangeMark, Frame, Tense
from recollect.rules.statements.german import read_german
from recollect.rules.statements.instructions import read_order, read_permission
from recollect.rules.statements.named_values import reached, read_named_value, read_ride
from recollect.rules.statements.open_verbs import read_open
from recollect.rules.statements.openings import Opening, opened
from recollect.rules.statements.phrases import (
    DAYS,
    MONTHS,
    PERIODS,
    Form,
    NounPhrase,
    canonical,
    content,
    form_of,
    head_of,
    kind_of,
    noun_phrase,
    split_tail,
)
from recollect.rules.statements.predicates import read_predicate
from recollect.rules.statements.stops import read_absence, read_death, read_parting, read_stop
from recollect.rules.statements.tagger import CLAUSE_OPENERS, FINITE, Word, gerund_base, tag_english

ABILITY = "can"
"""The scope of what someone can do: who can swim need not swim."""

MAX_LENGTH = 300
"""Longer texts are stories, not statements."""

_ENGLISH = tables.words("language", "english")
_GERMAN = tables.words("language", "german")
_OTHER = tables.words("language", "other")
_DONE_AGAIN = (tables.words("verbs", "maker") | tables.words("verbs", "placed") | {"paint"}) - {"present", "sign"}
_STOP_DOING = tables.words("verbs", "stop_doing")
_START_DOING = tables.words("verbs", "start_doing")
_KEEP_DOING = tables.words("verbs", "keep_doing")
_INTENT = tables.words("verbs", "intent")
_REPORT = tables.words("verbs", "report")

_NO_STATEMENT = re.compile(r"[\n?;{}<>\[\]|\\]|==|\(\)|=>|^\W*[-*#@$/]")
"""Questions, several lines, code, lists: no plain statement."""

_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"')\]]?\s+(?=[\"'(]?[A-Z0-9À-Þ])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|no|vs|etc|approx|ca|inc|ltd|a\.m|p\.m|e\.g|i\.e|z\.b)|\b[A-Z])\.$", re.I
)
_NAME_ALONE = re.compile(r"(?:[A-ZÀ-Þ][\w'’-]*[ .!]*){1,3}$")
_CORRECTION = re.compile(
    r"^(?:(?:no longer true|fix)\s*[:,–-]\s*|(?:it )?turns out(?: that)? )(.+)$",
    re.I,
)
_NOTE = re.compile(
    r"(?:prefers|likes|dislikes|loves|hates|enjoys|lives|works|uses|speaks|drinks|eats|plays|owns|knows|moved to|relocated to) ",
    re.I,
)
"""How notes about the user begin that leave the user out: "Prefers composition over inheritance"."""
_NOT_THAT = re.compile(
    r"^(.{8,}?)(?:,\s+(?:and\s+)?(?:not|no longer|instead of|rather than)|\s+instead of)\s+([^,]{1,60})$", re.I
)
_AND_THEN = re.compile(r"^(.{8,}?),?\s+(?:and\s+)?(?:then|later)\s+(\w+.*)$", re.I)
"""What was before, and what came after it: "lived in Rome until 2021 and then moved to Bari". The later one holds."""
_AND_NOW = re.compile(r"^(.{6,}?),?\s+(?:and|so)\s+((?=.*\bnow\b|became\b)[^,]{8,})$", re.I)
"""What happened, and what holds since: "left and works for Globex now". What holds is read."""
_RATHER = re.compile(r"(?: would|'d) rather have (.+?) than ", re.I)
_CALLED = re.compile(r"^(?:you can|everyone|everybody|people|(?:my )?friends) (?:just )?calls? me (\w+)\W*$", re.I)
_LABEL = re.compile(r"^([^:=\n]{2,60}?)\s*:\s+(\S.*)$")
_NOT_A_LABEL = re.compile(
    r"\b(?:is|are|was|were|said|says|note|reminder|todo|warning|tip|example|hi|hey|hello|thanks)\b", re.I
)

_POINTING = frozenset(
    """it that this these those you your yours he she they his her hers their its one something everything everyone someone
    there what who which here him them anything nothing anyone nobody everybody somebody others""".split()
)
_NOT_ONE_THING = frozenset("some any every each a an no much many several few most all both another such".split())


def read(text: str, speaker: str, language: str | None) -> tuple[Frame, ...]:
    """The frames of a statement, the main one first; none if it is no plain statement of a known language."""
    opening = opened(Opening(text.strip()))
    text = opening.rest
    if not text or len(text) > MAX_LENGTH or _NO_STATEMENT.search(text) or _has_sentences(text):
        return ()
    language = detect_language(text) if language is None else language.lower()[:2]
    who = " ".join(speaker.lower().split()) or "self"
    if language == "de":
        return tuple(read_german(text, who))
    if language != "en":
        return ()
    return tuple(_read_english(text, who, corrects=opening.correcting))


def detect_language(text: str) -> str | None:
    """ "en" or "de" by function words; None for what looks like another language."""
    words = [word.lower().replace("’", "'") for word in _WORDS.findall(text)]
    english, german, other = (sum(word in listed for word in words) for listed in (_ENGLISH, _GERMAN, _OTHER))
    if other > max(english, german):
        return None
    if german > english:
        return "de"
    latin = sum(word.isascii() for word in words)
    return "en" if english or (words and latin == len(words)) else None


def _has_sentences(text: str) -> bool:
    """Whether a text has several sentences. A name alone is none: "is Rev. Hilary Stokes" goes on after its abbreviation."""
    return any(
        not _ABBREVIATION.search(text[: match.start()]) and not _NAME_ALONE.match(text, match.end())
        for match in _SENTENCE_END.finditer(text)
    )


def _read_english(text: str, speaker: str, *, corrects: bool) -> list[Frame]:
    correction = _CORRECTION.match(text)
    if correction:
        text = correction[1]
    if _NOTE.match(text):
        text = f"User {text[0].lower()}{text[1:]}"
    denied = ""
    if contrast := _NOT_THAT.match(text):
        text, denied = contrast[1], contrast[2].rstrip(".! ")
    frames = _read_contrast(text, speaker) or _read_sentence(text, speaker)
    if correction or corrects:
        frames = [_marked(frame, ChangeMark.CHANGE) for frame in frames]
    if denied:
        frames = [_marked(frame, ChangeMark.CHANGE, denied) for frame in frames]
    return frames


_BUT_NOW = re.compile(r"^(.+? used to .+?),? (?:but )?now it(?:'s| is) (.+?)[.!]*$", re.I)
_BUT_RATHER = re.compile(
    r"^(.+?(?: no longer | isn't | is not | doesn't | does not ).+?)(?: any ?more| any longer)? but "
    r"(?:(?:in|on|at|with|under) )?(.+?)[.!]*$",
    re.I,
)
_ANOTHER_DOES = re.compile(r"^(.+?) no longer (.+?), (?:but )?(.+?) (is|does)( now)?[.!]*$", re.I)
_HAS_CONTRAST = re.compile(r" used to | no longer | but ", re.I)


def _read_contrast(text: str, speaker: str) -> list[Frame]:
    """Read a statement that sets the new value against the old one.

    "The gym used to open at 6, now it's 7", "The app no longer runs on A but on B", "A is no longer the mayor of Y, B is".
    """
    if not _HAS_CONTRAST.search(text):
        return []
    if other := _ANOTHER_DOES.match(text):
        said = f"{other[3][0].upper()}{other[3][1:]} {'is ' if other[4] == 'is' else ''}{other[2]}"
        if other[4] == "is":
            frames = _read_sentence(said, speaker) if other[1].endswith(" is") else []
        else:
            frames = _read_sentence(said, speaker)
        return [replace(_marked(frame, ChangeMark.CHANGE), old_value=other[1].removesuffix(" is")) for frame in frames]
    contrast = _BUT_NOW.match(text) or _BUT_RATHER.match(text)
    if contrast is None:
        return []
    value = split_tail(tag_english(contrast[2]))
    before = next(iter(_read_sentence(contrast[1], speaker)), None)
    if before is None or before.partial or value.more or value.scope or not value.value or before.attribute == ANY:
        return []
    gone = before.negated or before.tense is Tense.PAST
    if not gone or not before.value or kind_of(value.value) is not before.value_kind:
        return []
    now = replace(before, value=value.text, old_value=before.value, negated=False, denies_slot=False, tense=Tense.NOW)
    return [replace(now, change=ChangeMark.CHANGE, single=before.denies_slot or before.tense is Tense.PAST)]


def _marked(frame: Frame, change: ChangeMark, old_value: str = "") -> Frame:
    if frame.change is ChangeMark.STOP:
        return frame
    return replace(frame, change=change, old_value=old_value or frame.old_value)


def _read_sentence(text: str, speaker: str) -> list[Frame]:
    text = _RATHER.sub(r" prefer \1 over ", text)
    if called := _CALLED.match(text):
        text = f"Call me {called[1]}"
    label = _LABEL.match(text)
    if label and not _NOT_A_LABEL.search(label[1]):
        return _read_labelled(label[1], label[2], speaker)
    if (then := _AND_THEN.match(text)) and (began := parse_clause(tag_english(then[1]))) and began.verb.past:
        return _read_sentence(f"{' '.join(word.text for word in began.subject)} {then[2]}", speaker)
    if so := _AND_NOW.match(text):
        now = _read_result(so[1], so[2], speaker)
        if now:
            return now
    words = reached(tag_english(text))
    if len(words) > 60:
        return []
    if relative := _read_relative(words, speaker) or _read_cleft(words, speaker):
        return relative
    order = read_order(words, speaker)
    if order:
        return order
    clause = parse_clause(words)
    if clause is None:
        return read_absence(words, speaker)
    context = _context(clause, speaker)
    permission = read_permission(context)
    if permission:
        return permission
    if _points_elsewhere(clause.subject):
        return read_absence(words, speaker)
    if clause.apposition:
        return read_death(context, clause.apposition)
    return [frame for frame in read_clause(context) if frame.subject]


def _read_result(happened: str, result: str, speaker: str) -> list[Frame]:
    """Read what holds after an event; its subject is that of the event unless it has its own."""
    began = parse_clause(tag_english(happened))
    if began is None or not (began.verb.past or began.verb.perfect) or began.verb.unsure:
        return []
    subject = " ".join(word.text for word in began.subject).replace(" 's", "'s")
    own = parse_clause(tag_english(result))
    if own is not None and not _points_elsewhere(own.subject) and own.subject[0].tag not in ("AV0", "VVN"):
        return [frame for frame in read_clause(_context(own, speaker)) if frame.subject]
    elided = parse_clause(tag_english(f"{subject} {result}"))
    if elided is None or _points_elsewhere(elided.subject):
        return []
    return [frame for frame in read_clause(_context(elided, speaker)) if frame.subject]


def _read_relative(words: list[Word], speaker: str) -> list[Frame]:
    """Read a definite description with a relative clause: "The company that makes the Corolla is Toyota".

    Its value is put into the clause ("Toyota makes the Corolla"). Where that says nothing that has one value, the description
    itself is the slot.
    """
    best = next(
        (at for at, word in enumerate(words[:-1]) if word.lower in _ABOVE_ALL and words[at + 1].lower == "is"), None
    )
    above_all = best is not None
    words = [word for at, word in enumerate(words) if at != best]
    finite = [at for at, word in enumerate(words) if word.tag in FINITE]
    if len(finite) < 2 or words[0].lower != "the" or words[finite[-1]].lower != "is":
        return []
    copula = finite[-1]
    description, tail = words[1:copula], split_tail(words[copula + 1 :])
    described = tail.form is Form.ADJECTIVE and bool(PROPERTY & {canonical(word) for word in description[:2]})
    if (
        not (described or tail.form in (Form.NAME, Form.BARE, Form.THE))
        or tail.more
        or tail.scope
        or not _is_relative(description)
    ):
        return []
    for clause in filter(None, map(parse_clause, _filled(description, tail.value))):
        frame = next(iter(read_clause(_context(clause, speaker))), None)
        if frame is not None and frame.single and not frame.contested:
            change = ChangeMark.NOW if tail.now else frame.change
            return [replace(frame, change=change, open_to_others=False)]
    noun = head_of(description[: _clause_at(description)])
    several = noun is None or (canonical(noun) in SEVERAL and canonical(noun) not in PROPERTY)
    several = several or any(word.lemma in _OF_MANY and noun.lower not in _SORTS for word in description if noun)
    now = any(
        word.tag == "VVG" and before.lemma == "be" for before, word in pairwise(description)
    )  # "that Ana is learning"
    several = several and not above_all and not now
    if several or (tail.form is Form.THE and not tail.has_name and not above_all and not now):
        return []
    said = (speaker if word.lower in _FIRST_PERSON else " ".join(content([word])) for word in description)
    phrase = NounPhrase("", " ".join(filter(None, said)))
    context = Context(speaker, description, phrase, VerbGroup(copula=True), [], Tense.NOW, False, ChangeMark.NONE)
    return [build(context, phrase.head, tail, "relative", subject=NO_SUBJECT, one=True)]


def _read_cleft(words: list[Word], speaker: str) -> list[Frame]:
    """Read "Graz is where Ana lives" as "Ana lives in Graz", if that has one value."""
    at = next((at for at, word in enumerate(words) if at and word.lower == "is"), 0)
    if not 0 < at <= 4 or len(words) < at + 4 or words[at + 1].lower not in ("where", "who", "what"):
        return []
    value, clause = words[:at], words[at + 2 :]
    if form_of(value) is not Form.NAME or clause[0].tag in FINITE:
        return []
    links = ("in", "at") if words[at + 1].lower == "where" else ("",)
    for link in links:
        filled = parse_clause([*clause, *([Word(link, link, "PRP")] if link else []), *value])
        if filled is not None and not _points_elsewhere(filled.subject):
            frame = next(iter(read_clause(_context(filled, speaker))), None)
            if frame is not None and frame.single and not frame.contested:
                return [frame]
    return []


_FIRST_PERSON = frozenset(("i", "we", "my", "our", "user"))
_OF_MANY = tables.words("verbs", "of_many")
_ABOVE_ALL = frozenset(("best", "most", "least"))
_SORTS = frozenset("type kind sort genre style position".split())
_RELATIVE_WORDS = frozenset(("that", "which", "who", "whom", "where"))


def _clause_at(description: list[Word]) -> int:
    """Where the relative clause of a description begins: at its pronoun, or at the subject that follows the noun."""
    for at, word in enumerate(description[1:], 1):
        if word.lower in _RELATIVE_WORDS or word.tag in CLAUSE_OPENERS:
            return at
        starts = word.is_name or word.tag in ("DPS", "AT0") or word.lower in _FIRST_PERSON
        if starts and description[at - 1].tag in ("NN0", "NN1"):
            return at
        if not (word.is_noun or word.tag in ("AJ0", "PRP", "PRF")):
            break
    return 0


def _is_relative(description: list[Word]) -> bool:
    at = _clause_at(description)
    pointing = any(
        word.tag in ("PNP", "DPS", "DT0") and word.lower not in _FIRST_PERSON | _RELATIVE_WORDS for word in description
    )
    return bool(at) and not pointing and any(word.tag in FINITE for word in description[at:])


def _filled(description: list[Word], value: list[Word]) -> list[list[Word]]:
    """The sentences that a relative clause makes with its value, the likeliest first."""
    at = _clause_at(description)
    pronoun = description[at].lower if description[at].lower in _RELATIVE_WORDS else ""
    clause = description[at + bool(pronoun) :]
    if not clause:
        return []
    if pronoun and clause[0].tag in FINITE:
        return [[*value, *clause]]
    if pronoun and description[at - 1].tag == "PRP":  # "the field in which X works"
        return [[*clause, description[at - 1], *value]]
    if pronoun == "where":
        return [[*clause, Word(preposition, preposition, "PRP"), *value] for preposition in ("in", "at")]
    return [[*clause, *value]]


def _read_labelled(label: str, value: str, speaker: str) -> list[Frame]:
    name, given = tag_english(label), tag_english(value)
    if (
        not name
        or not given
        or any(word.tag in FINITE and word.tag != "VVB" for word in name)
        or _points_elsewhere(name)
    ):
        return []
    if any(mark in value for mark in "()=\"'"):
        return []
    if len(name) > 6 or (name[0].tag in ("VVB", "AV0", "PNP", "ITJ") and len(name) == 1):
        return []
    if any(word.tag in FINITE for word in given):
        return []
    context = Context(
        speaker, name, noun_phrase(name, speaker), VerbGroup(copula=True), given, Tense.NOW, False, ChangeMark.NONE
    )
    return read_label(name, given, context)


def _points_elsewhere(subject: list[Word]) -> bool:
    """Whether a subject stands for something said before: "she", "his rent", "it"."""
    if any(word.lower in _POINTING and not word.is_name for word in subject):
        return True
    return any(word.lower in ("i", "we") for word in subject[1:]) or (
        subject[0].tag in ("ITJ", "VVG", "PNX") and not (len(subject) > 2 and subject[1].lower in ("for", "of"))
    )


def _context(clause: Clause, speaker: str) -> Context:
    verb = clause.verb
    scope, tense, change = [], Tense.UNSURE if verb.unsure else Tense.NOW, verb.change
    if clause.lead:
        lead = clause.lead
        if lead[0].lower in TENTATIVE or lead[0].lower == "according":
            tense = Tense.UNSURE
        if any(word.lower == "now" for word in lead) and change is ChangeMark.NONE:
            change = ChangeMark.NOW
        tail = split_tail(lead[1:]) if lead[0].tag == "PRP" else None
        named = lead[-1].tag == "NN1" and lead[-1].lemma not in PERIODS | DAYS | MONTHS  # "In the Friday meeting"
        timed = (tail is not None and tail.form in (Form.DATE, Form.CLOCK) and not named) or any(
            word.lower in ("last", "yesterday", "this", "today", "ago", "since", "after", "now") for word in lead
        )
        habit = any(word.lower in DAYS and word.lower.endswith("s") for word in lead)  # "On Sundays I get up at 9"
        if lead[0].tag in ("PRP", "CJS", "AVQ") and (habit or not timed):
            scope = [" ".join(content(lead))]
    if verb.modal in ("can", "ca", "could") and verb.negated and verb.lemma in ("stand", "bear"):
        verb.lemma, verb.negated, verb.modal = "hate", False, ""
    if verb.modal in ("can", "ca", "could"):
        scope.append(ABILITY)
    if verb.modal in ("will", "'ll") and split_tail(clause.rest[1:]).form in (Form.DATE, Form.CLOCK):
        tense = Tense.NOW  # "will now launch on 5 May" is the schedule as it stands
    if verb.modal in ("must", "should") and clause.rest[:1] and clause.rest[0].lower == "by":
        tense = Tense.NOW  # "must be handed in by 3 May" is a deadline
    subject = clause.subject
    renewed = next(
        (at for at, word in enumerate(subject) if at and word.lower == "new" and not subject[at - 1].is_noun), None
    )
    if renewed and subject[renewed - 1].tag in ("POS", "DPS") and not subject[-1].is_name:
        subject = [*subject[:renewed], *subject[renewed + 1 :]]
        change = ChangeMark.NOW if change is ChangeMark.NONE else change
    sure = subject[0].lower not in _NOT_ONE_THING and subject[0].tag not in ("DT0", "PNI")
    sure = sure or (len(subject) > 2 and subject[1].is_name and subject[-1].is_name)  # a title
    sure = sure or (
        subject[0].lower in ("a", "an") and verb.lemma == "cost" and bool(noun_phrase(subject, speaker).owner)
    )
    return Context(
        speaker,
        subject,
        noun_phrase(subject, speaker),
        verb,
        clause.rest,
        tense,
        verb.negated,
        change,
        tuple(scope),
        sure,
    )


def read_clause(context: Context) -> list[Frame]:
    """The frames of a clause by the first rules that understand it."""
    if ride := read_ride(context):
        return ride
    chained = _chained(context)
    if chained is not None:
        return chained
    for rule in (read_swapped, read_duty, read_parting):
        frames = rule(context)
        if frames:
            return frames
    verb, rest = context.verb, context.rest
    if verb.lemma == "get" and rest and rest[0].tag == "VVN" and rest[0].lemma in CHANGE_VERBS:  # "got moved to Monday"
        passive = replace(verb, lemma=rest[0].lemma, surface=rest[0].lower, passive=True)
        context = replace(context, verb=passive, rest=rest[1:])
    if verb.lemma == "cost" and rest and rest[0].lower in ("me", "us"):  # "costs me 20 euros"
        context = replace(context, rest=rest[1:])
    context = _done_again(_as_value(context))
    changed = read_change(context)
    if changed and changed[0].attribute != ANY:
        return changed
    frames = changed or read_named_value(context)
    if frames and frames[0].attribute != ANY:
        return frames
    frames = [*changed, *read_predicate(context)]
    stopped = read_stop(context) if not frames or frames[0].negated or frames[0].attribute == ANY else []
    frames += stopped
    if frames:
        return frames
    if context.verb.copula:
        return read_copula(context)
    if context.verb.passive and context.verb.surface in STATES and not context.rest:
        participle = Word(
            context.verb.surface, context.verb.surface, "AJ0"
        )  # "is divorced" is a state, not what was done
        return read_copula(replace(context, verb=replace(context.verb, copula=True, passive=False), rest=[participle]))
    return read_open(context)


def _as_value(context: Context) -> Context:
    """Read the participle of "the status is shipped", "Ana's position is left back" as the value of a property."""
    verb, head = context.verb, context.phrase.head.split()
    if verb.progressive and not verb.past and names_the_only_one(head[:-1]):  # "her main hobby is birdwatching"
        doing = Word(verb.surface, verb.surface, "NN1")
        return replace(
            context, verb=replace(verb, progressive=False, copula=True, lemma="be"), rest=[doing, *context.rest]
        )
    if not verb.passive or verb.past or not PROPERTY & set(head) or not (context.phrase.owner or head[-1] in PROPERTY):
        return context
    value = Word(verb.surface, verb.surface, "AJ0")
    return replace(context, verb=replace(verb, passive=False, copula=True, lemma="be"), rest=[value, *context.rest])


def _may_be_done_again(lemma: str, base: str) -> bool:
    return base in _DONE_AGAIN or "-" in lemma


def _done_again(context: Context) -> Context:
    """Read "was relicensed under V" as the change of what "is licensed under V" says."""
    verb = context.verb
    base, surface = (form.removeprefix("re").removeprefix("-") for form in (verb.lemma, verb.surface))
    if base == verb.lemma or not _may_be_done_again(verb.lemma, base):
        return context
    at = next((at for at, word in enumerate(context.rest) if word.lower in ("with", "in", "under", "to")), 0)
    if not verb.passive and verb.past and at and context.is_self:  # "we re-encrypted the disk with B"
        thing = context.rest[:at]
        phrase = noun_phrase(thing, context.speaker)
        passive = replace(verb, passive=True)
        context = replace(context, subject_words=thing, phrase=phrase, verb=passive, rest=context.rest[at:])
        verb = passive
    if not verb.passive or not (verb.past or verb.perfect):
        return context
    again = replace(verb, lemma=base, surface=surface, past=False, perfect=False)
    rest = context.rest
    if rest and rest[0].lower == "to":
        rest = [Word("in", "in", "PRP"), *rest[1:]]  # "redeployed to eu-west-1" is then deployed in it
    change = ChangeMark.CHANGE if context.change is ChangeMark.NONE else context.change
    return replace(context, verb=again, rest=rest, change=change)


def _chained(context: Context) -> list[Frame] | None:
    """A verb that governs another: "stopped smoking", "used to live", "wants to move", "says that …"; None if there is none."""
    verb, rest = context.verb, context.rest
    if verb.copula and len(rest) > 2 and rest[0].lower in ("able", "unable") and rest[1].lower == "to":
        able = replace(context, scope=(*context.scope, ABILITY))
        return _inner(able, rest[2:], negated=context.negated != (rest[0].lower == "unable"), change=context.change)
    if not rest or verb.copula or verb.passive:
        return None
    first = rest[0]
    given_up = rest[1:] if verb.lemma == "give" and verb.particle == "up" else []
    stopped = rest if verb.lemma in _STOP_DOING else given_up
    if doing := _gerund_phrase(stopped):
        if context.negated or context.tense is Tense.UNSURE:
            return []
        return _inner(context, doing, negated=True, change=ChangeMark.STOP)
    if verb.lemma in _START_DOING and (doing := _gerund_phrase(rest)):
        return _inner(context, doing, negated=context.negated, change=ChangeMark.START)
    to_verb = (first.tag == "TO0" and not (len(rest) > 1 and rest[1].is_name)) or (
        first.lower == "to" and len(rest) > 1 and rest[1].tag in ("VVI", "VBI", "VHI", "VVB")
    )
    if verb.lemma == "use" and verb.past and first.lower == "to" and len(rest) > 1 and rest[1].tag.startswith("V"):
        return _inner(context, rest[1:], negated=context.negated, change=ChangeMark.NONE, tense=Tense.PAST)
    if verb.lemma in _KEEP_DOING and (to_verb or first.tag == "VVG"):
        return _inner(context, rest[1:] if to_verb else rest, negated=context.negated, change=ChangeMark.NONE)
    if verb.lemma in _INTENT and to_verb:
        tail = split_tail(rest[1:])
        tail.value = rest[1:]
        tail.scope, tail.times, tail.more = [], [], ""
        return [build(context, f"{verb.lemma} to", tail, "intent")]
    if verb.lemma in _REPORT and any(word.tag in FINITE for word in rest):
        return []
    return None


def _gerund_phrase(words: list[Word]) -> list[Word]:
    """The words from a gerund on, the gerund tagged as one: the model takes "jogging" for a noun. None if there is none."""
    if not words or not words[0].lower.endswith("ing") or words[0].is_name:
        return []
    first, after = words[0], words[1] if len(words) > 1 else None
    if first.tag == "VBG" or first.tag == "VHG":
        return words
    compound = first.tag in ("NN0", "NN1") and after is not None and after.is_noun  # "stopped training sessions"
    base = "" if compound else gerund_base(first.text)
    return [Word(first.text, base, "VVG"), *words[1:]] if base else []


def _inner(
    context: Context, words: list[Word], *, negated: bool, change: ChangeMark, tense: Tense | None = None
) -> list[Frame]:
    """The frames of a governed verb phrase."""
    at = 0
    while at < len(words) and words[at].tag == "AV0":
        at += 1
    if at >= len(words):
        return []
    word, rest = words[at], words[at + 1 :]
    verb = VerbGroup(lemma=word.lemma, surface=word.lower, change=change)
    if word.lemma == "be" or word.tag.startswith("VB"):
        verb.lemma, verb.copula = "be", True
    if rest and rest[0].tag == "AVP":
        verb.particle = rest[0].lower
    inner = replace(
        context, verb=verb, rest=rest, negated=negated, change=change, tense=context.tense if tense is None else tense
    )
    return read_clause(inner)
