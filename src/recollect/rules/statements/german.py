"""Reading German statements: definite descriptions, home, employer, likes, and what the German predicate table has.

The German model's tags are mapped onto the English ones, so that phrases and frames are built by the same code.
"""

import re
from dataclasses import replace
from itertools import islice

from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import tables
from recollect.rules.statements.building import Context, build, fits
from recollect.rules.statements.clause import VerbGroup
from recollect.rules.statements.frame import NO_SUBJECT, ChangeMark, Frame, Tense
from recollect.rules.statements.phrases import Form, NounPhrase, Tail, form_of, join
from recollect.rules.statements.tables import Phrase, is_place
from recollect.rules.statements.tagger import Word, as_one_token, cut, load_tagger

_TAGS = {
    "NN": "NN1", "NE": "NP0", "ART": "AT0", "PPOSAT": "DPS", "APPR": "PRP", "APPRART": "PRP", "VVFIN": "VVZ",
    "VAFIN": "VBZ", "VMFIN": "VVZ", "VVPP": "VVN", "VAPP": "VBN", "VVINF": "VVI", "PTKNEG": "XX0", "ADV": "AV0",
    "ADJA": "AJ0", "ADJD": "AJ0", "CARD": "CRD", "PPER": "PNP", "KON": "CJC", "KOUS": "CJS", "PRELS": "DTQ",
    "PTKVZ": "AVP", "FM": "NP0", "XY": "NP0", "TRUNC": "NN1", "PIS": "PNI", "PIAT": "DT0", "PDAT": "DT0",
}  # fmt: skip
_SPEAKER = word_set("ich wir nutzer nutzerin mich uns benutzer benutzerin")
_SPEAKER_OWNS = word_set("mein meine meinen meinem meiner unser unsere unseren unserem unserer")
_ARTICLES = word_set("der die das den dem des ein eine einen einem einer")
_NO = word_set("kein keine keinen keinem keiner")
_NOW = word_set("jetzt nun aktuell inzwischen mittlerweile neuerdings derzeit nunmehr seitdem ab sofort")
_SMALL = word_set("auch sehr gerne gern ja doch noch immer so")
_PREPOSITIONS = {"im": "in", "ins": "in", "am": "an", "beim": "bei", "zum": "zu", "zur": "zu", "vom": "von"}
_BE = word_set("ist war sind bin waren")
_HAVE = word_set("hat habe haben hatte")
_POINTING = word_set(
    "er sie es du ihr das dies dieser diese dieses sein seine ihre dein deine man jemand niemand alles"
)


def tag_german(text: str) -> list[Word]:
    """The tagged words of a German sentence."""
    tokens = cut(text)
    if not tokens:
        return []
    words = []
    for at, (_, lemma, tag) in enumerate(load_tagger("de").tag_sent([as_one_token(t) for t in tokens])):
        plain = tag.replace("(", "").replace(")", "")
        mapped = "PUN" if plain.startswith("$") else _TAGS.get(plain, plain)
        text_, lower = tokens[at], tokens[at].lower()
        if re.fullmatch(r"[€$]?\d[\d.,:/]*\w{0,3}", text_):
            mapped = "CRD"
        elif lower in _BE:
            mapped, lemma = "VBZ", "sein"
        elif lower in _HAVE:
            mapped, lemma = "VHZ", "haben"
        elif " " in text_ or (mapped == "NN1" and text_.isupper() and len(text_) > 1):
            mapped = "NP0"
        words.append(Word(text_, lemma.lower() if mapped != "NP0" else lower, mapped))
    return words


def read_german(text: str, speaker: str) -> list[Frame]:
    """The frames of a German main clause with the verb in second place; none for anything else."""
    words = [word for word in tag_german(text) if word.text not in (".", "!", ",")]
    at = next((i for i, word in enumerate(words) if i and word.tag in ("VVZ", "VBZ", "VHZ")), None)
    if at is None or any(word.tag in ("CJS", "DTQ") for word in words):
        return []
    subject, verb, rest = words[:at], words[at], words[at + 1 :]
    phrase = _noun_phrase(subject, speaker)
    pointing = any(word.lower in _POINTING and word.tag != "AT0" for word in subject)
    if not phrase.head or subject[0].tag in ("AV0", "PRP") or pointing:
        return []
    negated = any(word.tag == "XX0" or word.lower in _NO for word in rest)
    stopped = negated and any(word.lower == "mehr" for word in rest)
    now = any(word.lower in _NOW for word in rest)
    says_nothing = _NO | _NOW | _SMALL | ({"mehr"} if stopped else set())
    rest = [word for word in rest if word.tag != "XX0" and word.lower not in says_nothing]
    lemma, rest, past = _main_verb(verb, rest)
    change = ChangeMark.STOP if stopped else ChangeMark.NOW if now else ChangeMark.NONE
    tense = Tense.PAST if verb.lower in ("war", "waren", "hatte") else Tense.NOW
    group = VerbGroup(lemma=lemma, copula=lemma == "sein", past=tense is Tense.PAST, perfect=past)
    context = Context(speaker, subject, phrase, group, rest, tense, negated, change)
    return _read_predicate(context, lemma, past) or (_read_description(context) if lemma == "sein" else [])


def _main_verb(verb: Word, rest: list[Word]) -> tuple[str, list[Word], bool]:
    """The lemma of the main verb, what is left of the rest, and whether it is a participle of what happened."""
    employed = ("beschäftigt", "angestellt", "tätig", "verheiratet", "geschieden")
    if verb.tag == "VBZ" and rest and rest[-1].lower in employed:
        return f"{rest[-1].lower} sein", rest[:-1], False
    if verb.tag == "VBZ" and rest and rest[0].lower in ("verheiratet", "geschieden"):
        return f"{rest[0].lower} sein", rest[1:], False
    if verb.tag in ("VBZ", "VHZ") and rest and rest[-1].tag == "VVN":
        return rest[-1].lemma, rest[:-1], True
    if verb.lemma == "können" and rest and rest[-1].lower in ("leiden", "ausstehen"):
        return f"{rest[-1].lower}können", rest[:-1], False
    if rest and rest[-1].tag == "AVP":
        return rest[-1].lower + verb.lemma, rest[:-1], False
    return verb.lemma, rest, False


def _noun_phrase(words: list[Word], speaker: str) -> NounPhrase:
    """ "der X von Y", "Ys X", "mein X": owner first."""
    words = [word for word in words if not (word.tag == "AT0" or word.lower in _ARTICLES)]
    if not words:
        return NounPhrase("", "")
    if len(words) == 1 and words[0].lower in _SPEAKER:
        return NounPhrase("", speaker)
    if words[0].lower in _SPEAKER_OWNS and len(words) > 1:
        return NounPhrase(speaker, _role_words(words[1:]))
    of = next((at for at, word in enumerate(words) if at and word.lower in ("von", "vom")), None)
    if of is not None and of + 1 < len(words):
        owner = _noun_phrase(words[of + 1 :], speaker)
        return NounPhrase(owner.whole, _role_words(words[:of]))
    first = words[0]
    if len(words) > 1 and first.is_name and first.text.endswith("s") and not words[1].is_name:
        name = first.lemma if first.lemma != first.lower else first.lower[:-1]
        return NounPhrase(name, _role_words(words[1:]))
    return NounPhrase("", " ".join(word.lower if word.is_name else word.lemma for word in words))


def _role_words(words: list[Word]) -> str:
    """The words of a role, in the form without "-in" for both sexes: "Leiterin" and "Leiter" are one role."""
    lemmas = (word.lemma.lower() for word in words if word.lower not in ("neue", "neuer", "neues"))
    return " ".join(re.sub(r"(?<=er|or|st|ar|ef)in$", "", lemma) for lemma in lemmas)


def _split_tail(words: list[Word]) -> Tail:
    """The value up to the next preposition or conjunction; the rest is scope."""
    words = [word for word in words if word.tag != "PUN"]
    cut_at = next((at for at, word in enumerate(words) if at and word.tag in ("PRP", "CJC", "CJS")), len(words))
    value = [word for word in words[:cut_at] if word.lower not in _ARTICLES or word.is_name]
    after = words[cut_at:]
    if after and after[0].tag == "CJC":
        return Tail(value, more=" ".join(word.text for word in after))
    scope = " ".join(word.lower for word in after if word.lower not in _ARTICLES)
    return Tail(value, [scope] if scope else [])


def _read_predicate(context: Context, lemma: str, past: bool) -> list[Frame]:
    rest = context.rest
    old = ""
    if len(rest) > 3 and rest[0].lower in ("von", "vom", "aus"):  # "von Graz nach Linz gezogen"
        to = next((at for at, word in enumerate(rest) if at > 1 and word.tag == "PRP"), None)
        if to is not None:
            old = " ".join(word.text for word in rest[1:to] if word.lower not in _ARTICLES)
            rest = rest[to:]
    preposition = ""
    if rest and rest[0].tag == "PRP":
        preposition, rest = _PREPOSITIONS.get(rest[0].lower, rest[0].lower), rest[1:]
    said = join(lemma, preposition)
    phrases = (phrase for phrase in tables.predicates("de").phrases() if " ".join(phrase.words) == said)
    frames = (_build_frame(context, phrase, _split_tail(rest), old, past) for phrase in phrases)
    return list(islice(filter(None, frames), 1))


def _build_frame(context: Context, phrase: Phrase, tail: Tail, old: str, past: bool) -> Frame | None:
    predicate = phrase.predicate
    no_name = predicate.kinds == {"name"} and tail.form not in (Form.NAME, Form.BARE)
    fitting = fits(predicate, tail) or "any" in predicate.kinds
    if not tail.value or no_name or not fitting or (past and phrase.mode == "state"):
        return None
    change, negated = context.change, context.negated
    if phrase.mode == "stop":
        change, negated = ChangeMark.STOP, True
    elif phrase.mode == "deny" and negated:
        return None
    elif phrase.mode == "deny":
        negated = True
    elif phrase.mode == "start" and not negated:
        change = ChangeMark.START
    if predicate.attribute == "name" and context.phrase.owner:
        return _describe(context, tail)
    contested = phrase.unsure and not (predicate.place and is_place(tail.text)) and not old
    return build(
        context, predicate.attribute, tail, f"table.de:{predicate.attribute}", one=predicate.single, tense=context.tense,
        change=change, negated=negated, contested=contested, old_value=old, predicate=predicate,
        open_to_others=predicate.contest and phrase.mode == "state",
    )  # fmt: skip


def _read_description(context: Context) -> list[Frame]:
    """ "Der Trainer von Union ist V", "V ist der Trainer von Union"."""
    rest, subject = context.rest, context.subject_words
    if not rest or rest[0].tag in ("PRP", "AV0"):
        return []
    swapped = _noun_phrase(rest, context.speaker)
    named = form_of(subject) is Form.NAME and not context.phrase.owner
    if named and rest[0].lower in ("der", "die", "das") and swapped.owner:
        return [_describe(replace(context, phrase=swapped), Tail(subject))]
    if rest[0].lower.startswith("ein") or not (rest[0].text[0].isupper() or rest[0].tag in ("CRD", "AT0")):
        return []  # "ist schön", "ist ein Bayer": no value
    tail = _split_tail(rest)
    definite = bool(context.phrase.owner) or subject[0].lower in ("der", "die", "das")
    if not definite or not tail.value or tail.form not in (Form.NAME, Form.QUANTITY, Form.CLOCK, Form.DATE, Form.BARE):
        return []
    return [_describe(context, tail)]


def _describe(context: Context, tail: Tail) -> Frame:
    phrase = context.phrase
    predicate = tables.predicates("de").by_noun.get(phrase.head)
    attribute = predicate.attribute if predicate is not None and phrase.owner else phrase.head
    return build(
        context, attribute, tail, "nominal.de", subject=phrase.owner or NO_SUBJECT, one=True,
        open_to_others=predicate is not None and predicate.place,
    )  # fmt: skip
