"""Reading noun phrases: who or what a statement is about, and the object that it names.

Every function returns the words for the key in lower case, or None if the phrase does not stand on its own.
"""

import re

from recollect.rules.language.lexicon import STUFF_OR_THINGS
from recollect.rules.saq.words import NEVER_NAMES, NOT_SELF_CONTAINED, UNIQUE_RELATIONS
from recollect.rules.word_lists import word_set

SELF = "Self"
TEAM = "Team"

_WORD = re.compile(r"[^\W_][\w.+#&/'-]*")
_THE_USER = frozenset(("the user", "user"))
_FIRST_PERSON_PLURAL = frozenset(("we", "us", "the team", "our team"))
_OWNER = re.compile(r"(my|our|[^']+(?:'s|s')) (.+)", re.I)
_DEFINITE = re.compile(r"^(?:the|our) ", re.I)
_ARTICLE = re.compile(r"^(?:the|an?|any|some|our) ")
_FUNCTION_WORDS = NOT_SELF_CONTAINED | word_set(
    """a an the i me my we us our is are am be to in on at of for from by with without into as than so too very not no
    like likes have has do does let lets"""
)
_NAME_PARTICLES = word_set("de da do dos van von der den la le del di al bin ibn el of")

_ALWAYS_PLURAL_OR_NAME = word_set(
    """news series species jeans physics mathematics economics politics gymnastics kubernetes postgres jenkins aws
    pandas keras rails windows ios macos sass less css dns sms sas dos https js always christmas tennis swiss
    athletics analytics ethics linguistics statistics genetics robotics graphics chess bus gas class glass grass"""
)
_ENDING_IN_IE = word_set("movie cookie zombie selfie hoodie brownie smoothie calorie rookie pie tie lie indie")
_SPELLINGS = dict(
    pair.split("=")
    for pair in """colour=color favourite=favorite neighbour=neighbor humour=humor flavour=flavor organisation=organization
    licence=license grey=gray programme=program theatre=theater apologise=apologize summarise=summarize
    optimise=optimize sanitise=sanitize emoji=emojis emoticon=emojis smiley=emojis application=app repository=repo
    repositorie=repo travelling=traveling""".split()
)
"""One spelling for each word: American, short, and for emojis the plural that everyone uses."""


def person(phrase: str, speaker: str) -> str | None:
    """Someone: the speaker, a name, or the one wife, father or manager of either."""
    low = phrase.lower()
    if low == "i":
        return speaker
    if low in _THE_USER:
        return SELF if speaker == SELF else "user"
    if low in _FIRST_PERSON_PLURAL:
        return TEAM
    if owned := _OWNER.fullmatch(phrase):
        owner, relation = possessor(owned[1], speaker), UNIQUE_RELATIONS.get(owned[2].lower())
        return f"{owner} {relation}" if owner and relation else None
    return low if is_name(phrase) else None


def possessor(owner: str, speaker: str) -> str | None:
    """Who a possessive means: "my", "Ana's", "the user's"."""
    low = owner.lower()
    if low == "my":
        return speaker
    if low == "our":
        return TEAM
    return person(re.sub(r"'s?$", "", owner), speaker)


def thing(phrase: str, speaker: str) -> str | None:
    """Something with settings of its own: "the staging server", "our billing API", "Apollo"."""
    phrase, owner = _DEFINITE.sub("", phrase), ""
    if phrase.lower().startswith("my "):
        phrase, owner = phrase[3:], f"{speaker} "
    words = phrase.lower().replace("'s ", " ").split()
    if not 1 <= len(words) <= 4 or not all(_WORD.fullmatch(word) for word in words):
        return None
    if any(word in _FUNCTION_WORDS or word in NEVER_NAMES for word in words):
        return None
    return owner + " ".join(spelled(word) for word in words)


def is_name(phrase: str, most_words: int = 3) -> bool:
    """Whether a phrase is a proper name: every word capitalised, none of them a pronoun or a month."""
    words = phrase.split()
    if not 1 <= len(words) <= most_words or not all(_WORD.fullmatch(word) for word in words):
        return False
    return (
        "'" not in phrase
        and words[0].lower() not in NEVER_NAMES
        and all(
            (word[0].isupper() and word.lower() not in NEVER_NAMES) or (at > 0 and word in _NAME_PARTICLES)
            for at, word in enumerate(words)
        )
    )


def obj(phrase: str) -> str | None:
    """The object of a statement, so that "the emojis", "any emoji" and "emojis" are one: singular, no articles.

    Where the plural is another thing it stays: who likes greens as well as green likes two things.
    """
    words = _noun_phrase(phrase, most_words=4)
    return " ".join(map(_one_thing, words)) if words else None


def kind(phrase: str, most_words: int = 4) -> str | None:
    """A sort of thing, named by one or by several: "24-hour time" and "24-hour times", whatever else a plural may mean."""
    words = _noun_phrase(phrase, most_words)
    return " ".join(map(singular, words)) if words else None


def _noun_phrase(phrase: str, most_words: int) -> list[str]:
    """The words of a phrase without its article; none if it is too long or points at something outside itself."""
    words = _ARTICLE.sub("", phrase.lower()).replace("'s", "").split()
    stands_alone = all(_WORD.fullmatch(word) and word not in NOT_SELF_CONTAINED for word in words)
    return words if len(words) <= most_words and stands_alone else []


def _one_thing(word: str) -> str:
    one = singular(word)
    return word if one in STUFF_OR_THINGS else one


def spelled(word: str) -> str:
    """One spelling for a word that has several."""
    return _SPELLINGS.get(word, word)


def singular(word: str) -> str:
    """The singular of a lower-case English word, by its ending; good enough to compare two words."""
    return spelled(_singular(word))


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word in _ALWAYS_PLURAL_OR_NAME:
        return word
    if word.endswith("ies") and word[:-1] not in _ENDING_IN_IE:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "ches", "shes", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def third_person(verb: str) -> str:
    """The form of a lower-case English verb that goes with a name: like, likes; have, has."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search("[^aeiou]y$", verb) else f"{verb}s"


def gerund(verb: str) -> str:
    """The -ing form of a lower-case English verb, by its spelling."""
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
        return f"{verb[:-1]}ing"
    if re.fullmatch(r"[^aeiou]*[aeiou][^aeiouwxy]", verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb}ing"
