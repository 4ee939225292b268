"""Reading one English statement: its language, its sentence form, and the clause in it."""

import re
from dataclasses import replace
from itertools import pairwise

from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.statements import tables
from recollect.rules.statements.building import PROPERTY, SEVERAL, Context, build
from recollect.rules.statements.changes import read_absence, read_death, read_death_by_name, read_parting
from recollect.rules.statements.clause import Opening, VerbGroup, parse_clause, strip_openings
from recollect.rules.statements.clause_rules import context_of, read_clause
from recollect.rules.statements.descriptions import read_label
from recollect.rules.statements.frame import NO_SUBJECT, ChangeMark, Frame
from recollect.rules.statements.german import read_german
from recollect.rules.statements.instructions import read_order, read_permission
from recollect.rules.statements.phrases import Form, NounPhrase, canonical, content, head_of, noun_phrase, split_tail
from recollect.rules.statements.tagger import CLAUSE_OPENERS, FINITE, Word, tag_english

MAX_LENGTH = 300
"""Longer texts are stories, not statements."""
_ENGLISH = tables.words("language", "english")
_GERMAN = tables.words("language", "german")
_OTHER = tables.words("language", "other")
_NO_STATEMENT = lazy_pattern(r"[\n?;{}<>\[\]|\\]|==|\(\)|=>|^\W*[-*#@$/]")
"""Questions, several lines, code, lists: no plain statement."""
_WORDS = lazy_pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?…])[\"')\]]?\s+(?=[\"'(]?[A-Z0-9À-Þ])")
_ABBREVIATION = lazy_pattern(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|no|vs|etc|approx|ca|inc|ltd|a\.m|p\.m|e\.g|i\.e|z\.b)|\b[A-Z])\.$", re.I
)
_NAME_ALONE = lazy_pattern(r"(?:[A-ZÀ-Þ][\w'’-]*[ .!]*){1,3}$")
_CORRECTION = lazy_pattern(r"^(?:(?:no longer true|fix)\s*[:,–-]\s*|(?:it )?turns out(?: that)? )(.+)$", re.I)
_NOTE = lazy_pattern(
    r"(?:prefers|likes|dislikes|loves|hates|enjoys|lives|works|uses|speaks|drinks|eats|plays|owns|knows|moved to|relocated to) ",
    re.I,
)
"""How notes about the user begin that leave the user out: "Prefers composition over inheritance"."""
_NOT_THAT = lazy_pattern(
    r"^(.{8,}?)(?:,\s+(?:and\s+)?(?:not|no longer|instead of|rather than)|\s+instead of)\s+([^,]{1,60})$", re.I
)
_AND_THEN = lazy_pattern(r"^(.{8,}?),?\s+(?:and\s+)?(?:then|later)\s+(\w+.*)$", re.I)
"""What was before, and what came after it: "lived in Rome until 2021 and then moved to Bari". The later one holds."""
_AND_NOW = lazy_pattern(r"^(.{6,}?),?\s+(?:and|so)\s+((?=.*\bnow\b|became\b)[^,]{8,})$", re.I)
"""What happened, and what holds since: "left and works for Globex now". What holds is read."""
_AFTER_ALL = lazy_pattern(r",? after all(?=[.!]*$)", re.I)
_RATHER = lazy_pattern(r"(?: would|'d) rather have (.+?) than ", re.I)
_CALLED = lazy_pattern(r"^(?:you can|everyone|everybody|people|(?:my )?friends) (?:just )?calls? me (\w+)\W*$", re.I)
_LABEL = lazy_pattern(r"^([^:=\n]{2,60}?)\s*:\s+(\S.*)$")
_NOT_A_LABEL = lazy_pattern(
    r"\b(?:is|are|was|were|said|says|note|reminder|todo|warning|tip|example|hi|hey|hello|thanks)\b", re.I
)
_POINTING = frozenset(
    """it that this these those you your yours he she they his her hers their its one something everything everyone someone
    there what who which here him them anything nothing anyone nobody everybody somebody others""".split()
)


def read(text: str, speaker: str, language: str | None) -> tuple[Frame, ...]:
    """The frames of a statement, the main one first; none if it is no plain statement of a known language."""
    opening = strip_openings(Opening(text.strip()))
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
    plain = [word for word in _WORDS.findall(text) if not word[0].isupper()]  # a name may have any letters
    return "en" if words and (english or all(map(str.isascii, plain or words))) else None


def _has_sentences(text: str) -> bool:
    """Whether a text has several sentences. A name alone is none: "is Rev. Hilary Stokes" goes on after its abbreviation."""
    return any(
        not _ABBREVIATION.search(text[: match.start()]) and not _NAME_ALONE.match(text, match.end())
        for match in _SENTENCE_END.finditer(text)
    )


def _read_english(text: str, speaker: str, *, corrects: bool) -> list[Frame]:
    if correction := _CORRECTION.match(text):
        text, corrects = correction[1], True
    if _NOTE.match(text):
        text = f"User {text[0].lower()}{text[1:]}"
    denied = ""
    if contrast := _NOT_THAT.match(text):
        text, denied = contrast[1], contrast[2].rstrip(".! ")
    frames = _read_sentence(text, speaker)
    if not corrects and not denied:
        return frames
    return [
        frame
        if frame.change is ChangeMark.STOP
        else replace(frame, change=ChangeMark.CHANGE, old_value=denied or frame.old_value)
        for frame in frames
    ]


def _read_sentence(text: str, speaker: str) -> list[Frame]:
    text = _RATHER.sub(r" prefer \1 over ", _AFTER_ALL.sub("", text))
    if called := _CALLED.match(text):
        text = f"Call me {called[1]}"
    label = _LABEL.match(text)
    if label and not _NOT_A_LABEL.search(label[1]):
        return _read_labelled(label[1], label[2], speaker)
    if (then := _AND_THEN.match(text)) and (began := parse_clause(tag_english(then[1]))) and began.verb.past:
        return _read_sentence(f"{' '.join(word.text for word in began.subject)} {then[2]}", speaker)
    if (so := _AND_NOW.match(text)) and (now := _read_result(so[1], so[2], speaker)):
        return now
    words = tag_english(text)
    if len(words) > 60:
        return []
    if relative := _read_relative(words, speaker):
        return relative
    if order := read_order(words, speaker):
        return order
    clause = parse_clause(words)
    if clause is None:
        return read_absence(words, speaker)
    context = context_of(clause, speaker)
    if permission := read_permission(context):
        return permission
    if _points_elsewhere(clause.subject):
        parted = read_parting(context) if [word.lower for word in clause.subject[-2:]] == ["and", "i"] else []
        return parted or read_absence(words, speaker)
    if clause.apposition:
        return read_death(context, clause.apposition)
    return [frame for frame in (*read_clause(context), *read_death_by_name(context)) if frame.subject]


def _read_result(happened: str, result: str, speaker: str) -> list[Frame]:
    """Read what holds after an event; its subject is that of the event unless it has its own."""
    began = parse_clause(tag_english(happened))
    if began is None or not (began.verb.past or began.verb.perfect) or began.verb.unsure:
        return []
    subject = " ".join(word.text for word in began.subject).replace(" 's", "'s")
    clause = parse_clause(tag_english(result))
    if clause is None or _points_elsewhere(clause.subject) or clause.subject[0].tag in ("AV0", "VVN"):
        clause = parse_clause(tag_english(f"{subject} {result}"))
    if clause is None or _points_elsewhere(clause.subject):
        return []
    return [frame for frame in read_clause(context_of(clause, speaker)) if frame.subject]


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
    valued = described or tail.form in (Form.NAME, Form.BARE, Form.THE)
    if not valued or tail.more or tail.scope or not _is_relative(description):
        return []
    for clause in filter(None, map(parse_clause, _fill_clause(description, tail.value))):
        frame = next(iter(read_clause(context_of(clause, speaker))), None)
        if frame is not None and frame.single and not frame.contested:
            change = ChangeMark.NOW if tail.now else frame.change
            return [replace(frame, change=change, open_to_others=False)]
    noun = head_of(description[: _clause_at(description)])
    several = noun is None or (canonical(noun) in SEVERAL and canonical(noun) not in PROPERTY)
    several = several or any(word.lemma in _OF_MANY and noun.lower not in _SORTS for word in description if noun)
    # "that Ana is learning"
    now = any(word.tag == "VVG" and before.lemma == "be" for before, word in pairwise(description))
    several = several and not above_all and not now
    if several or (tail.form is Form.THE and not tail.has_name and not above_all and not now):
        return []
    said = (speaker if word.lower in _FIRST_PERSON else " ".join(content([word])) for word in description)
    phrase = NounPhrase("", " ".join(filter(None, said)))
    context = Context(speaker, description, phrase, VerbGroup(copula=True), [])
    return [build(context, phrase.head, tail, "relative", subject=NO_SUBJECT, one=True)]


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


def _fill_clause(description: list[Word], value: list[Word]) -> list[list[Word]]:
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
    if not name or not given or len(name) > 9 or _points_elsewhere(name) or any(mark in value for mark in "()=\"'"):
        return []
    if name[0].tag in ("VVB", "AV0", "PNP", "ITJ") and len(name) == 1:
        return []
    if any(word.tag in FINITE and word.tag != "VVB" for word in name) or any(word.tag in FINITE for word in given):
        return []
    context = Context(speaker, name, noun_phrase(name, speaker), VerbGroup(copula=True), given)
    return read_label(name, given, context)


def _points_elsewhere(subject: list[Word]) -> bool:
    """Whether a subject stands for something said before: "she", "his rent", "it"."""
    if any(word.lower in _POINTING and not word.is_name for word in subject):
        return True
    return any(word.lower in ("i", "we") for word in subject[1:]) or (
        subject[0].tag in ("ITJ", "VVG", "PNX") and not (len(subject) > 2 and subject[1].lower in ("for", "of"))
    )
