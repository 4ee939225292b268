"""The main clause of a sentence: leading adjunct, subject, verb group, and what follows it."""

from dataclasses import dataclass, field

from recollect.rules.statements import tables
from recollect.rules.statements.frame import ChangeMark
from recollect.rules.statements.phrases import DEGREE, DEICTIC, FILLER, NOW
from recollect.rules.statements.tagger import CLAUSE_OPENERS, DETERMINERS, FINITE, Word

TENTATIVE = tables.words("adverbs", "tentative")

_NOT_IN_VERB_GROUP = ("up", "out", "off", "away", "down", "over")
_PARTICLES = frozenset(("up", "out", "off", "away", "down", "over", "back", "in", "on", "forward", "rid"))
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
    while subject and (
        subject[-1].tag == "AV0" or subject[-1].lower in ("no", "longer", "also", "only", "never", "both")
    ):
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
    if first.tag not in ("PRP", "CJS", "AV0", "AVQ", "ORD", "DT0", "PRF", "VVG", "VVN") and first.lower not in (
        "as",
        "starting",
    ):
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
            starts = starts or (word.is_name and before.tag in ("NN1", "NN2") and words[1].tag in DETERMINERS)
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
        elif word.tag.startswith("V"):
            if not _take_main_verb(word, auxiliaries, verb):
                break
            at += 1
            break
        else:
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


_ADVERBS = (
    FILLER
    | NOW
    | TENTATIVE
    | DEGREE
    | frozenset(
        """never always only often rarely seldom once twice soon here there well ever yet both sometimes mostly hardly least less
        more""".split()
    )
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
    for word in after:
        if word.tag in ("VVN", "VBN", "VHN", "VDN", "VVD"):
            return True
        if word.tag not in ("AV0", "XX0"):
            return False
    return False


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
    skip = False
    for at, word in enumerate(rest):
        if skip:
            skip = False
            continue
        following = rest[at + 1].lower if at + 1 < len(rest) else ""
        if word.lower == "anymore" or (word.lower == "any" and following in ("more", "longer")):
            if verb.negated:
                verb.change = ChangeMark.STOP
            skip = word.lower == "any"
            continue
        if word.lower == "longer" and not kept and verb.copula:
            continue
        kept.append(word)
    return kept
