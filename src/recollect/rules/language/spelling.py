"""Bringing the spellings and forms of one word together, and no two words.

A stemmer is the wrong tool here: it equates "university" with "universe" and "worked" with "works". Only the endings
that carry no meaning of their own are folded, the plural of nouns and the third person of verbs, and words that
merely look like a plural ("news", "goods") are listed in ``words.toml``.
"""

from functools import lru_cache

from recollect.rules.language.word_lists import load_table

_LISTS = load_table(__package__, "words.toml")["spelling"]


def _pairs(name: str) -> dict[str, str]:
    return dict(pair.split("/") for pair in _LISTS[name]["listed"].split())


_NOT_A_PLURAL = frozenset(_LISTS["not_a_plural"]["listed"].split())
_IRREGULAR, _SPELLING, _SYNONYMS = _pairs("irregular"), _pairs("spelling"), _pairs("synonyms")
_IRREGULAR_PAST = _pairs("irregular_past")
_IRREGULAR_PASTS_OF: dict[str, tuple[str, ...]] = {}
for _past, _verb in _IRREGULAR_PAST.items():
    _IRREGULAR_PASTS_OF[_verb] = (*_IRREGULAR_PASTS_OF.get(_verb, ()), _past)


def _british(word: str) -> str:
    """One spelling for ``organize`` and ``organise``; short words ("prize", "size") are other words."""
    if len(word) >= 7 and "iz" in word:
        for ending in ("ize", "izes", "ized", "izing", "izer", "izers", "ization", "izations"):
            if word.endswith(ending):
                return word[: -len(ending)] + "is" + ending[2:]
    return _SPELLING.get(word, word)


def singular(word: str) -> str:
    """The word without the ``-s`` of a plural or of the third person.

    >>> singular("emojis"), singular("replies"), singular("boxes"), singular("news")
    ('emoji', 'reply', 'box', 'news')
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 3 or word[-1] != "s" or word in _NOT_A_PLURAL or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=65_536)
def read_word(word: str) -> tuple[str, str]:
    """The key of a lower-case word, and its spelling with the plural kept.

    >>> read_word("favorites")
    ('favourite', 'favourites')
    >>> read_word("repositories")
    ('repo', 'repos')
    """
    spelling = _british(word)
    key = singular(spelling)
    synonym = _SYNONYMS.get(key)
    if synonym is None:
        return key, spelling
    return synonym, synonym if key == spelling else synonym + "s"


def _undouble(stem: str) -> str:
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
    return stem[:-1] if doubled else stem


def other_tenses(word: str) -> tuple[str, ...]:
    """What the past or the present of a word may be, if it is a verb.

    >>> "move" in other_tenses("moved"), "moved" in other_tenses("move"), "went" in other_tenses("go")
    (True, True, True)
    """
    if word in _IRREGULAR_PAST:
        return (_IRREGULAR_PAST[word],)
    if word.endswith("ied"):
        return (word[:-3] + "y",)
    if word.endswith("ed"):
        return (_undouble(word[:-2]), word[:-2], word[:-1])
    regular = (word + "ed", word + "d", word + word[-1] + "ed", word[:-1] + "ied")
    return (*_IRREGULAR_PASTS_OF.get(word, ()), *regular)


def verb_of(past: str) -> str | None:
    """The verb of a regular or listed past form, guessed from its ending; None if it is no past form.

    >>> verb_of("approved"), verb_of("reviewed"), verb_of("written"), verb_of("blue")
    ('approve', 'review', 'write', None)
    """
    if past in _IRREGULAR_PAST or past.endswith("ied"):
        return other_tenses(past)[0]
    if not past.endswith("ed") or len(past) < 5:
        return None
    stem = past[:-2]
    lost_e = stem.endswith(("v", "c", "s", "z", "g", "u", "at", "ut", "ir", "ur", "dl", "bl", "tl", "pl", "id", "ud"))
    return stem + "e" if lost_e and not stem.endswith(("ss", "ng")) else _undouble(stem)


def ing_form(verb: str) -> str:
    """The ``-ing`` form of a verb: ``swim`` gives ``swimming``, ``write`` gives ``writing``."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return verb[:-1] + "ing"
    closed = len(verb) >= 3 and verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou" and verb[-3] not in "aeiou"
    one_syllable = sum(c in "aeiou" for c in verb) == 1
    return verb + verb[-1] + "ing" if closed and one_syllable else verb + "ing"


def third_person(verb: str) -> str:
    """Return the form of a verb that goes with a name: ``like`` gives ``likes``, ``have`` gives ``has``."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}s"
