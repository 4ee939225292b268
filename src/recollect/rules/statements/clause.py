"""The parts of a sentence: how it begins, and the leading adjunct, subject and verb group of its main clause."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from recollect.model.vocabulary import Space
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import any_of, entries, word_set
from recollect.rules.statements import tables
from recollect.rules.statements.frame import ChangeMark
from recollect.rules.statements.phrases import DEGREE, DEICTIC, FILLER, NOW
from recollect.rules.statements.tagger import CLAUSE_OPENERS, DETERMINERS, FINITE, Word

TENTATIVE = tables.words("adverbs", "tentative")

_NOT_IN_VERB_GROUP = ("up", "out", "off", "away", "down", "over")
_PARTICLES = frozenset(("up", "out", "off", "away", "down", "over", "back", "in", "on", "forward", "rid"))
_BEFORE_VERB = ("no", "longer", "also", "only", "never", "both")
_UNSURE_MODALS = frozenset(("might", "may", "could", "would", "should", "will", "shall", "'ll", "'d", "wo", "must"))


@dataclass(slots=True)
class VerbGroup:
    """A verb with its auxiliaries, negation and adverbs."""

    lemma: str = ""
    surface: str = ""
    negated: bool = False
    past: bool = False
    modal: str = ""
    passive: bool = False
    copula: bool = False
    perfect: bool = False
    progressive: bool = False
    plural: bool = False
    particle: str = ""
    change: ChangeMark = ChangeMark.NONE
    adverbs: list[str] = field(default_factory=list)

    @property
    def unsure(self) -> bool:
        """Whether the verb only says what may be."""
        return self.modal in _UNSURE_MODALS or bool(TENTATIVE & set(self.adverbs))


@dataclass(slots=True)
class Clause:
    """A main clause."""

    lead: list[Word]
    subject: list[Word]
    verb: VerbGroup
    rest: list[Word]
    apposition: list[Word] = field(default_factory=list)


def parse_clause(words: list[Word]) -> Clause | None:
    """Find subject and verb; None for a text without a finite verb or with a subject that is no plain phrase."""
    lead, words = _cut_lead(words)
    at = next((i for i, word in enumerate(words) if word.tag in FINITE and i), None)
    if at is None:
        return None
    subject = words[:at]
    verb = VerbGroup()
    while subject and (subject[-1].tag == "AV0" or subject[-1].lower in _BEFORE_VERB):
        verb.adverbs.insert(0, subject.pop().lower)
    subject, apposition = _cut_apposition(subject)
    if not subject or any(w.tag in CLAUSE_OPENERS or w.text in (",", ":", ";") or w.tag == "ITJ" for w in subject):
        return None
    rest = _read_verb(words, at, verb)
    return Clause(lead, subject, verb, rest, apposition)


def _cut_apposition(subject: list[Word]) -> tuple[list[Word], list[Word]]:
    """ "Rufus, Fiona's dog, died": the name, and what it is the name of."""
    commas = [at for at, word in enumerate(subject) if word.text == ","]
    if len(commas) == 2 and commas[1] == len(subject) - 1 and commas[0] > 0:
        return subject[: commas[0]], subject[commas[0] + 1 : commas[1]]
    return subject, []


def _cut_lead(words: list[Word]) -> tuple[list[Word], list[Word]]:
    """Separate a leading adjunct: "On Fridays, …", "Since the merger User …", "Now …"."""
    if not words:
        return [], words
    first = words[0]
    leads = first.tag in ("PRP", "CJS", "AV0", "AVQ", "ORD", "DT0", "PRF", "VVG", "VVN")
    if not leads and first.lower not in ("as", "starting"):
        return [], words
    comma = next((at for at, word in enumerate(words) if word.text == ","), None)
    if comma and comma < 12:
        return words[:comma], words[comma + 1 :]
    if first.tag == "AV0" and (first.lower in FILLER or first.lower in TENTATIVE):
        return words[:1], words[1:]
    if first.tag in ("PRP", "CJS") or first.lower in DEICTIC:
        for at, word in enumerate(words[1:], 1):
            if word.tag in FINITE:
                break
            before = words[at - 1]
            starts = word.lower in ("i", "we", "user") or (word.tag in DETERMINERS and before.is_noun)
            starts = starts or (word.is_name and before.tag in ("NN0", "NN1", "NN2") and words[1].tag in DETERMINERS)
            if starts and at > 1:
                return words[:at], words[at:]
    return [], words


def _read_verb(words: list[Word], at: int, verb: VerbGroup) -> list[Word]:
    """Read the verb group that starts at a place; return what follows it."""
    auxiliaries: list[str] = []
    while at < len(words):
        word, lower = words[at], words[at].lower
        if word.tag == "XX0" or lower == "never":
            verb.negated = True
        elif lower == "no" and at + 1 < len(words) and words[at + 1].lower in ("longer", "more"):
            verb.negated, verb.change = True, ChangeMark.STOP
            at += 1
        elif word.tag == "VM0":
            verb.modal = lower
            auxiliaries.append("modal")
        elif word.lemma == "be" and word.tag.startswith("VB"):
            auxiliaries.append("be")
            verb.past |= lower in ("was", "were")
            verb.plural |= lower in ("are", "were", "'re")
        elif word.tag.startswith("VH") and _is_perfect(words, at):
            auxiliaries.append("have")
            verb.past |= lower == "had"
            verb.perfect = True
        elif word.tag.startswith("VD") and any(
            w.tag in ("VVI", "VHI", "VVB", "VBI", "VDI") for w in words[at + 1 : at + 4]
        ):
            auxiliaries.append("do")
            verb.past |= lower == "did"
        elif _is_part_of_value(words, at, auxiliaries):
            word.tag = "AJ0"
            break
        elif (
            (word.tag == "AV0" and lower not in _NOT_IN_VERB_GROUP)
            or lower in NOW
            or lower in ("always", "also", "all")
        ):
            verb.adverbs.append(lower)
        else:
            at += word.tag.startswith("V") and _take_main_verb(word, auxiliaries, verb)
            break
        at += 1
    if verb.lemma == "get" and verb.perfect and verb.surface == "got":  # "I have got two sisters"
        verb.lemma, verb.perfect = "have", False
    if not verb.lemma:
        verb.copula = "be" in auxiliaries
        verb.lemma = "be" if verb.copula else "have" if "have" in auxiliaries else "do"
    rest = _without_negative_adverbs(words[at:], verb)
    if "longer" in verb.adverbs:
        verb.negated, verb.change = True, ChangeMark.STOP
    if "never" in verb.adverbs:
        verb.negated = True
    if rest and (rest[0].tag == "AVP" or (rest[0].tag == "AV0" and rest[0].lower in _PARTICLES)) and not verb.copula:
        verb.particle = rest[0].lower
    if NOW & set(verb.adverbs) and verb.change is ChangeMark.NONE:
        verb.change = ChangeMark.NOW
    return rest


_ADVERBS = FILLER.union(
    NOW,
    TENTATIVE,
    DEGREE,
    "never always only often rarely seldom once twice soon here there well ever yet both sometimes mostly".split(),
    "hardly least less more".split(),
)


def _is_part_of_value(words: list[Word], at: int, auxiliaries: list[str]) -> bool:
    """ "is flat white": what the model takes for an adverb after "is", and is none of the known ones, describes what follows."""
    word, after = words[at], words[at + 1] if at + 1 < len(words) else None
    if word.tag != "AV0" or auxiliaries[-1:] != ["be"] or word.lower.endswith("ly") or word.lower in _ADVERBS:
        return False
    return after is not None and after.tag in ("AJ0", "NN1", "NN0", "NP0") and word.lower not in _NOT_IN_VERB_GROUP


def _is_perfect(words: list[Word], at: int) -> bool:
    """ "has moved", "has not yet moved"; in "has a car" the verb is the main verb."""
    after = words[at + 1 : at + 4]
    if not after or after[0].is_noun or after[0].tag in DETERMINERS:
        return False
    verb = next((word.tag for word in after if word.tag not in ("AV0", "XX0")), "")
    return verb in ("VVN", "VBN", "VHN", "VDN", "VVD")


def _take_main_verb(word: Word, auxiliaries: list[str], verb: VerbGroup) -> bool:
    """Enter the main verb; False for a form that cannot follow the auxiliaries ("is run"/NN1)."""
    after_be = auxiliaries[-1:] == ["be"]
    if after_be and word.tag == "VVG":
        verb.progressive = True
    elif after_be and word.tag in ("VVN", "VVD"):
        verb.passive = True
    elif after_be:
        return False
    elif word.tag in ("VVD", "VHD", "VDD") and not auxiliaries:
        verb.past = True
    verb.lemma, verb.surface = word.lemma, word.lower
    return True


def _without_negative_adverbs(rest: list[Word], verb: VerbGroup) -> list[Word]:
    """Drop "anymore", "any more", "any longer": they say that something ended."""
    kept: list[Word] = []
    at = 0
    while at < len(rest):
        lower, following = rest[at].lower, rest[at + 1].lower if at + 1 < len(rest) else ""
        if lower == "anymore" or (lower == "any" and following in ("more", "longer")):
            if verb.negated:
                verb.change = ChangeMark.STOP
            at += lower == "any"
        elif not (lower == "longer" and not kept and verb.copula):
            kept.append(rest[at])
        at += 1
    return kept


# ---------------------------------------------------------------- how a statement begins

GREETINGS = entries("hi|hello|hey|good morning|good afternoon|good evening")
OPENING = entries(
    """yes|yeah|yep|sure|ok|okay|well|so|oh|ah|um|and|but|also|plus|thanks|thank you|great|cool|alright|right|fyi|btw
    by the way|for your information|for context|for reference|for the record|just so you know|honestly|personally
    to be honest|tbh|in fact|as you know|as you may know|quick note|note|important|reminder|please|pls|about me
    first of all|first|a bit about me|some background|in general|generally|haha|wow|anyway"""
)
"""Ways to begin that leave a statement unchanged."""

CORRECTING = entries(
    """actually|correction|update|my mistake|my bad|scratch that|i was wrong|let me correct that|let me correct myself|edit
    turns out|turns out that|it turns out|it turns out that|as it turns out|as it turned out"""
)
"""Ways to begin that correct what was said before."""

_OWN = r"(?:i|i'm|i've|my|we|we're|our)\b"
_ASKING = (
    r"(?P<polite>(?:can|could|would|will) you )?"
    r"(?:please |pls |also |and |so |i want you to |i'd like you to |i need you to )*"
)
_REMEMBER = (
    r"(?:remember|note|don't forget|do not forget|never forget|(?P<mind>(?:keep|bear) (?:this |that |it )?in mind)|memori[sz]e"
    r"|(?:make|take) (?:a )?note|save this|keep this"
    r"|(?:save|store|keep|add|put|write)(?: this| that| it)?(?: down)? (?:to|in|into) (?:your |the )?(?:memory|notes))"
)
_FOR_WHOM = r"(?: for (?P<whom>me|us|myself|later|future reference|(?:the|our|this|my) (?:project|team|repo|group)))?"
_ASKS = lazy_pattern(
    rf"{_ASKING}{_REMEMBER}(?: this| it)?{_FOR_WHOM}(?: this| it)?(?: that,? |: ?|,? (?={_OWN}))(?=\S)"
    r"|note to self ?[:,] ?(?P<self>)",
    re.I,
)
_THAT = r"(?: (?:this|that|it|all (?:of )?(?:this|that)))?"
_ASKS_FOR_THAT = lazy_pattern(rf"{_ASKING}{_REMEMBER}{_THAT}(?: down)?{_FOR_WHOM}{_THAT}(?:,? please)?[.!? ]*", re.I)
_SPEAKS_OF_ITSELF = lazy_pattern(_OWN, re.I)
_PLACED = lazy_pattern(r"for (?:the|our|this) (?:project|team|repo)[,:] (?=\S)", re.I)
_CORRECTS = lazy_pattern(
    rf"(?:{any_of(CORRECTING)})(?:[,:.!] ?| (?={_OWN}|the ))"
    rf"|(?:no|nope|sorry|oops|wait|whoops|rather|hmm)(?:[,:.!] ?| (?={_OWN}|it's ))"
    rf"|(?:i meant|i mean)[,:]? (?:that )?(?={_OWN})",
    re.I,
)
_OPENS = lazy_pattern(
    rf"(?:{any_of(GREETINGS)})(?: there| all| everyone| everybody| guys| team| again)?[,!. ] ?"
    r"|(?:hi|hello|hey|thanks|yeah|yes|sure|wow) \w+[,!.] |(?:that's|this is) why (?=i\b)"
    r"|i (?:just |recently )?(?:found out|learned|discovered)(?: recently)?(?: that)? (?=i am |i'm )"
    rf"|(?:{any_of(OPENING)})(?:[,:!.] ?| (?=(?:{_OWN}|call|please|actually|it's)\b))",
    re.I,
)
_MOST_OPENINGS = 8
_FIRST_WORDS = frozenset(phrase.split()[0] for phrase in CORRECTING | GREETINGS | OPENING) | word_set(
    """can could would will i'd remember note don't do never keep bear memorize memorise make take save store add put write
    for no nope sorry oops wait whoops rather hmm that's this"""
)
_AFTER_I = word_set("meant mean want need was just recently found learned discovered")
"""The first words of all ways to begin, and the second ones after "I": most statements are seen at once to have none."""


class Opening(NamedTuple):
    """What the beginning of a sentence says about the rest of it."""

    rest: str
    correcting: bool = False
    requested: bool = False
    politely: bool = False
    """The request was put as a question: "can you remember that …?"."""
    space: Space | None = None


def strip_openings(opening: Opening) -> Opening:
    """Take off the ways to begin, one after the other, and keep what they say."""
    for _ in range(_MOST_OPENINGS):
        then = _read_request(opening) or _read_marker(opening) if _may_open(opening.rest) else None
        if then is None:
            break
        opening = then
    return opening


def asks_to_keep_that(sentence: str) -> Opening | None:
    """Return what a sentence says that only asks to keep what was said beside it: "Remember this for the project."."""
    match = _ASKS_FOR_THAT.fullmatch(sentence)
    return None if match is None else Opening("", requested=True, space=_space_for(match["whom"]))


def _may_open(rest: str) -> bool:
    words = rest.split(maxsplit=2)
    first = words[0].lower().rstrip(",:.!") if words else ""
    if first == "i":
        return len(words) > 1 and words[1].lower().rstrip(",:") in _AFTER_I
    return first in _FIRST_WORDS


def _read_request(opening: Opening) -> Opening | None:
    """ "Please note for the project: …". "Keep in mind" asks to remember only what the speaker says of themselves."""
    match = _ASKS.match(opening.rest)
    if match is None or (match["mind"] and not _SPEAKS_OF_ITSELF.match(opening.rest, match.end())):
        return None
    space = Space.USER if match["self"] is not None else _space_for(match["whom"])
    return opening._replace(
        rest=opening.rest[match.end() :],
        requested=True,
        politely=match["polite"] is not None,
        space=space or opening.space,
    )


def _read_marker(opening: Opening) -> Opening | None:
    rest = opening.rest
    if match := _PLACED.match(rest):
        opening = opening._replace(space=Space.PROJECT)
    elif match := _CORRECTS.match(rest):
        opening = opening._replace(correcting=True)
    else:
        match = _OPENS.match(rest)
    return opening._replace(rest=rest[match.end() :]) if match else None


def _space_for(whom: str | None) -> Space | None:
    if whom is None or whom.lower() in ("later", "future reference"):
        return None
    return Space.USER if whom.lower() in ("me", "myself") else Space.PROJECT
