"""Reading a value off the beginning of some words: "Lisbon" off "Lisbon with my two cats".

Every function returns the value as it was said, or None if the words do not plainly begin with one.
"""

import re
from collections.abc import Callable

from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY, MONTHS, WEEKDAYS
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import STOP_WORDS
from recollect.rules.language.word_lists import any_of, entries, load_table, word_set
from recollect.rules.statements import tables
from recollect.rules.statements.tables import COUNTRIES, KNOWN_PLACES

_WORDS = load_table(__package__, "words.toml")
INSTRUMENTS_AND_SPORTS = entries(_WORDS["instruments_and_sports"])
DEMONYMS = entries(_WORDS["demonyms"])
JUDGEMENTS = entries(_WORDS["judgements"])
JOBS = entries(_WORDS["jobs"])
NOT_SELF_CONTAINED = word_set(_WORDS["not_self_contained"])
NEVER_NAMES = NOT_SELF_CONTAINED.union(WEEKDAYS, MONTHS) | word_set(_WORDS["never_names"])
VAGUE_VALUES = word_set(_WORDS["vague_values"])
SUPPOSING = word_set(_WORDS["supposing"])
MADE_UP = word_set(_WORDS["made_up"])
LEADS_IN = word_set(_WORDS["leads_in"])
QUESTION_WORDS = word_set(_WORDS["question_words"])
POINTING = word_set(_WORDS["pointing"])
WITH_THE = entries(_WORDS["with_the"])
OUTSIDE = word_set(_WORDS["outside"])
NOT_A_NAME = VAGUE_VALUES | DEMONYMS | frozenset(tables.states()) | JOBS | word_set(_WORDS["not_a_name"])
UNSKILLED = word_set(_WORDS["unskilled"])
NO_PLACE = frozenset(MONTHS) | word_set(_WORDS["no_place"])
MORE_JOBS = entries(_WORDS["more_jobs"])
NO_SUBSTANCE = word_set(_WORDS["no_substance"])
CLOSINGS = entries(_WORDS["closings"])

Take = Callable[[str], str | None]

_PARTICLES = word_set("de da do dos van von der den la le del di al bin of the and & upon los las san")
_GOES_ON = word_set(
    """with since for because near where which now as and but in on at from so though although while who to by after
    before last earlier a two three four five several until like when if or doing working based currently almost about
    part-time full-time remotely right just outside close near"""
)
"""Words with which a sentence may go on after a name."""
_AFTER_NAME = word_set("and but from here with by at")
_JOBS = JOBS | MORE_JOBS
_JUDGED = JUDGEMENTS | OUTSIDE | UNSKILLED
_JOB_ENDS = lazy_pattern(
    r"[,;:(]| (?:at|for|from|in|with|who|and|but|by|so|since|because|on|specializing|working|based|living|of|that|here"
    r"|to|not)\b"
)
_ASIDE = any_of(
    word_set(
        """but so which because since especially as like though when if it it's that that's this i i'm you they they're
        he she we even not probably mainly mostly thanks just also while with no please in for at who where what how
        aiming the my to then what's there don't can could would any is are do does both hence ever from on by without
        all having being"""
    )
)
"""After a comma these begin something else than the next item of a list."""
_PHRASE_ENDS = lazy_pattern(
    r"[;:(]| (?:because|since|so|but|although|though|as|especially|particularly|even|due to|'cause)\b"
    r"| and (?:i|my|it|it's|they|the|we|am|have|that|this|you|was|can|would|hope|need|want|wanted|so)\b"
    rf"|, (?:{_ASIDE})(?: (?!\w+$|\w+ \w+$)|$)",
    re.I,
)
_SERIES = lazy_pattern(r"[^,;:()]{1,40}(?:, [^,;:()]{1,40}?)+,? (?:and|or) [^,;:()]{1,60}")
_NARROWS = lazy_pattern(
    r" (?:that|which|who|where|i|i'm|i've|they|he|she|you|we|the way|whenever|when|if|unless|while)\b", re.I
)
_HEAD_OF = lazy_pattern(
    r"(?:head|director|vp|manager|president|owner|founder|co-founder) of [\w-]+(?: [\w-]+){0,2}?(?= at | for |,|$)",
    re.I,
)
_NO_JOB = lazy_pattern(
    r"^the [\w-]+(?: [\w-]+)?$| (?:of|on|for|in) (?:this|that|these|those|the|your|it)\b| at heart\b|'s ", re.I
)
""" "The manager" of whatever was spoken of, "the author of this code": a part in a conversation, no occupation."""
_CONSONANT = lazy_pattern(r"[^aeiouAEIOU]|U[A-Z]|uni|use|eu", re.ASCII)
_MOST_WORDS = 8
_HANGING = word_set("better more best less to of for")
"""A phrase that ends in one of these compares with something unsaid, or is not complete."""
_IN_CONTEXT = lazy_pattern(
    r"^(?:number|plan|choice|variant|answer|question) [\w#]+$| for (?:the|this|that|my) "
    r"|\b(?:ideas?|suggestions?|proposals?|explanations?|answer|comment|question)$",
    re.I,
)
""" "Plan B", "blue for the header", "Ana's idea": liked in this conversation, and nothing to remember."""
_LIST = lazy_pattern(r", (?:and |or )?| and | or ")


_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_DAY_OF_MONTH = rf"(?:the )?(?:{_NTH}(?: of)? (?:{ANY_MONTH})|(?:{ANY_MONTH})\.? {_NTH})(?:,? \d{{4}})?"
_ISO_DATE = r"\d{4}-\d{2}-\d{2}"
_AM_PM = r"[ap]\.?m\.?"
_TIME = lazy_pattern(
    rf"(?:on |by )?(?:(?:(?:{ANY_WEEKDAY}),? )?{_DAY_OF_MONTH}|{_ISO_DATE}|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}|(?:{ANY_WEEKDAY})"
    rf"|(?:the )?end of (?:{ANY_MONTH})|(?:{ANY_MONTH}) \d{{4}})"
    rf"|(?:at )?(?:\d{{1,2}}[:.]\d{{2}}(?: ?{_AM_PM})?|\d{{1,2}} ?{_AM_PM}|noon|midnight)",
    re.I,
)
_DAY_AND_MONTH = lazy_pattern(rf"(?:on )?(?:{_DAY_OF_MONTH}|{_ISO_DATE})", re.I)
_PRONOUNS = lazy_pattern(r"(?:she|he|they|it|xe|ze|ey|any)/\w+(?:/\w+)?", re.I)
_LANGUAGES = tables.words("values", "languages")
_NAME_WORD = lazy_pattern(r"[^\W_][\w.+#&/-]*")
_NAME_PARTICLES = word_set("de da do dos van von der den la le del di al bin ibn el of")


def is_name(phrase: str) -> bool:
    """Return whether a phrase is a proper name of at most four words, and no nationality or faith."""
    words = phrase.split()
    if not 1 <= len(words) <= 4 or phrase.lower() in DEMONYMS or words[0].lower() in NEVER_NAMES:
        return False
    return all(
        _NAME_WORD.fullmatch(word)
        and ((word[0].isupper() and word.lower() not in NEVER_NAMES) or (at > 0 and word in _NAME_PARTICLES))
        for at, word in enumerate(words)
    )


def read_language(text: str) -> str | None:
    """Return a language by its name."""
    return text if text.lower() in _LANGUAGES else None


def read_pronouns(text: str) -> str | None:
    """Return how to speak of somebody: "they/them"."""
    return text if _PRONOUNS.fullmatch(text) else None


def read_day_and_month(text: str) -> str | None:
    """Return a birthday: "May 5", "the 9th of November"."""
    return text if _DAY_AND_MONTH.fullmatch(text) else None


def _may_follow(rest: str, allowed: frozenset[str]) -> bool:
    """Return whether the value is complete: nothing follows, or a comma, or a word that goes on with something else."""
    return not rest or rest[0] in ",;:(" or rest.split(maxsplit=1)[0].lower().rstrip(",") in allowed


def read_proper_name(text: str, most_words: int = 4) -> tuple[str, str] | None:
    """Return the capitalised words that a text begins with, and the rest."""
    taken: list[str] = []
    for word in text.split():
        bare = word.rstrip(",;:")
        if not (bare[:1].isupper() or (taken and bare.lower() in _PARTICLES)) or len(taken) == most_words:
            break
        taken.append(bare)
        if bare != word:
            break
    while taken and taken[-1].lower() in _PARTICLES and not taken[-1][:1].isupper():
        taken.pop()
    if not taken:
        return None
    name = " ".join(taken)
    return name, text[len(name) :].lstrip(" ")


def read_name(text: str) -> str | None:
    """Return a person's name in capitals: "Ana", "Ana Silva"."""
    found = read_proper_name(text, most_words=3)
    if found is None or not _may_follow(found[1], _AFTER_NAME) or found[1].startswith("("):
        return None
    if any(map(_is_no_name, re.split("[ -]", found[0]))):
        return None
    return found[0] if is_name(found[0].replace(".", "")) else None


def _is_no_name(word: str) -> bool:
    """Return whether a capitalised word is known not to name a person: "Sorry", "ADHD", "Maltese", "Bolivian"."""
    low = word.lower()
    if low in NOT_A_NAME or (len(word) > 1 and word.isupper()) or low.endswith(("ese", "ish")):
        return True
    if not low.endswith(("an", "i")) or low in COUNTRIES:
        return False
    return any(low.startswith(country[:-1]) and len(low) >= len(country) for country in COUNTRIES)


def read_given_name(text: str) -> str | None:
    """Return what follows "my name is": a name, or one word in small letters that cannot be anything else."""
    if found := read_name(text):
        return found
    word, _, rest = text.partition(" ")
    plain = word.isalpha() and word.islower() and 2 <= len(word) <= 15 and not word.endswith(("ing", "ed"))
    if not plain or word in NOT_A_NAME or word in STOP_WORDS or not _may_follow(rest, _AFTER_NAME):
        return None
    return word


def read_place(text: str, *, known: bool = False) -> str | None:
    """Return a home by its name: "Lisbon", "the Netherlands", "Austin, Texas", "lisbon"; only a ``known`` one if asked for."""
    article = "the " if text.lower().startswith("the ") else ""
    text = text[len(article) :]
    return (found := _read_known_place(text) or (None if known else _read_named_place(text))) and article + found


def _read_known_place(text: str) -> str | None:
    words = text.split()
    for size in range(min(4, len(words)), 0, -1):
        candidate = " ".join(words[:size]).rstrip(",")
        if candidate.lower() in KNOWN_PLACES and _may_follow(text[len(candidate) :].lstrip(" "), _GOES_ON):
            return candidate + _read_region(text[len(candidate) :])
    return None


def _read_named_place(text: str) -> str | None:
    found = read_proper_name(text)
    if found is None or not _may_follow(found[1], _GOES_ON) or not is_name(found[0].replace(".", "")):
        return None
    if any(word in NO_PLACE for word in found[0].lower().split()):
        return None
    return found[0] + _read_region(text[len(found[0]) :])


def _read_region(rest: str) -> str:
    """Return the region after a city: ", Portugal"."""
    if not rest.startswith(", "):
        return ""
    found = read_proper_name(rest[2:])
    is_region = found is not None and found[0].lower() in KNOWN_PLACES and _may_follow(found[1], _GOES_ON)
    return f", {found[0]}" if found and is_region else ""


def read_organisation(text: str) -> str | None:
    """Return an employer by its name: "Acme Corp", "the Red Cross"."""
    article = "the " if text.lower().startswith("the ") else ""
    found = read_proper_name(text[len(article) :], most_words=5)
    if found is None or not _may_follow(found[1], _GOES_ON):
        return None
    return article + found[0] if found[0].lower() not in DEMONYMS | NEVER_NAMES else None


def read_job(text: str) -> str | None:
    """Return an occupation after "a", "an" or "the": "software engineer", "head of marketing"."""
    if _NO_JOB.search(text):
        return None
    text = re.sub(r"^(?:an?|the) (?:\d+-year-old )?", "", text, flags=re.I)
    if headed := _HEAD_OF.match(text):
        return headed[0]
    end = _JOB_ENDS.search(text)
    head = text[: end.start()] if end else text
    words = head.lower().split()
    if not 1 <= len(words) <= 5 or words[-1] not in _JOBS or not _JUDGED.isdisjoint(words):
        return None
    return head


def read_phrase(text: str) -> str | None:
    """Return what somebody likes: a short phrase that means the same to everyone."""
    head = cut_phrase(text)
    words = head.lower().split()
    if not 1 <= len(words) <= _MOST_WORDS or not OUTSIDE.isdisjoint(words) or _NARROWS.search(head):
        return None
    if words[0] == "the":
        return head if " ".join(words[1:]) in WITH_THE else None
    if words[0] in POINTING or words[-1] in _HANGING or len(words[-1]) < 2 or _IN_CONTEXT.search(head):
        return None
    return None if _TIME.fullmatch(head) else head


def read_substance(text: str) -> str | None:
    """Return what somebody must not eat or come near: as for a taste, but "most nuts" will do."""
    found = read_phrase(re.sub(r"^(?:most|all|some|any|certain|the) ", "", text, flags=re.I))
    return cut_phrase(text) if found and found.lower().split()[0] not in NO_SUBSTANCE else None


def cut_phrase(text: str) -> str:
    """Return the text up to where its phrase ends; nothing if that is unsure."""
    end = _PHRASE_ENDS.search(text)
    head = (text[: end.start()] if end else text).strip(" ,.!")
    first, comma, rest = head.partition(", ")
    if not comma or _SERIES.fullmatch(head):
        return head
    # "cooking at home, trying things out" may be cut; "clear, measurable goals" may not.
    complete = first.endswith(("s", "ing")) or first.rpartition(" ")[2][:1].isupper()
    return first if complete or rest.partition(" ")[0].endswith("ing") else ""


def split_items(text: str) -> list[str]:
    """Return the items of a list of three or more; a pair may be one thing ("fish and chips") and stays whole."""
    return split_list(text) if "," in text else [text]


def split_list(text: str) -> list[str]:
    """Return the items of any list, pairs included."""
    return [item.strip() for item in _LIST.split(text) if item.strip()]


def is_self_contained(text: str) -> bool:
    """Return whether a longer phrase points at nothing outside itself."""
    words = text.lower().replace(",", " ").split()
    return bool(words) and "that" not in (words[0], words[-1]) and (OUTSIDE - {"that"}).isdisjoint(words)


def add_article(text: str) -> str:
    """ "nurse" as "a nurse"; what is one of its kind ("CTO", "head of design") goes without."""
    if text.isupper() or " of " in text:
        return text
    return f"a {text}" if _CONSONANT.match(text) else f"an {text}"
