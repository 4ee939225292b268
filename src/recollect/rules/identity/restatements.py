"""Find statements that a text makes across clauses: "Ana has a sister. She is called Lea" says what her sister is
called.

Words that refer elsewhere in the text (pronouns, "the sister", "there", "who") are replaced by everything they may
refer to, and fragments (an apposition, a list item, an answer) are completed to sentences. The result is generous: it
serves to find a claim that is known to be false, where a sentence too many costs nothing.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import word_set

MAX_SENTENCES = 64
"""How many sentences of a long text are read."""
MAX_RESTATED = 256
"""How many sentences are made of one text: the statement reader takes half a millisecond for each."""
MAX_MENTIONS = 10
NEAR = 4
"""How many sentences before and after it a sentence may refer to."""

THE_USER, SOMEBODY = "The user", "The person"
"""The referents of a pronoun in a text that names nobody: the user, or a person from an earlier text."""
_SENTENCE = lazy_pattern(r"(?<=[.!?;…。！？])\s+|\n+")
_CLAUSE = lazy_pattern(
    r"\s*[()\[\]]\s*|\s+[-–—]+\s+|,\s*(?:and\s+|but\s+)?|:\s+|;\s*"
    r"|\s+(?:and|but|while)\s+|(?<!\bis)(?<!\bare)(?<!\bwas)\s+(?=(?:who|whose|which|named|called|working|living)\b)"
)
_COMMON = frozenset(
    """the a an this that these those there here it its he she they him her his them their who whose which what where when
    how why and but or so yes no not if as at in on of for from with by to is are was has have name note q answer lives
    works also then family""".split()
)
"""Words that are no name, even at the beginning of a sentence."""
_THEIRS = frozenset("her his their its whose".split())
_WORD = r"[^\W\d_][\w’'.-]*?"
_NAME = lazy_pattern(r"\b[^\W\d_a-zß-ÿ][\w’-]*(?:\s+[^\W\d_a-zß-ÿ][\w-]*)*")
_OWNED = lazy_pattern(
    r"(?P<owner>\b(?:(?i:my|our|his|her|their|its|whose)|(?i:the\suser)['’]s|[^\W\d_]\w*['’]s?))\s+"
    r"(?P<noun>[^\W\d_][\w-]*)(?:\s+(?P<name>[^\W\d_a-zß-ÿ]\w+))?"
)
_OF = lazy_pattern(r"\b(?P<noun>[^\W\d_][\w-]*)\s+of\s+(?P<owner>[^\W\d_a-zß-ÿ]\w*|the\suser|mine)", re.IGNORECASE)
_INDEFINITE = lazy_pattern(
    r"\b(?i:a|an|one|some|another)\s+(?:(?i:new|old|certain|big|little)\s+)?(?P<noun>[^\W\d_A-Z][\w-]*)"
)
_DEFINITE = lazy_pattern(r"\b(?i:the|this|that|said)\s+(?P<noun>(?!user\b)[^\W\d_A-Z][\w-]*)\b")
_SUBJECT = lazy_pattern(r"\b(?i:she|he|they|it|who|which|this|that)\b(?!\s+[^\W\d_A-Z]\w*\s+(?:is|was|has)\b)")
_POSSESSIVE = lazy_pattern(r"\b(?i:her|his|their|its|whose)\b")
_MALE = word_set(
    "brother son father dad husband uncle nephew boyfriend grandfather grandson stepson stepbrother boy man"
)
_FEMALE = word_set("sister daughter mother mum mom wife aunt niece girlfriend grandmother granddaughter girl woman")
_IDENTIFIES = lazy_pattern(
    r"^(?:(?i:it|this|that|he|she)|(?i:the|this|that)\s+[\w-]+)(?:['’]s|\s+(?i:is|was|are))\s+(?P<how>(?:(?i:called|named|to|in|at)\s+)?)(?P<value>.+?)[.!]*$"
)
_PLACEHOLDER = lazy_pattern(
    r"\b(?:(?i:somewhere|something|someone|somebody)|(?i:a|an|one|some)\s+(?:certain\s+)?[^\W\d_A-Z][\w-]*)\b.*$"
)
_ASKED = lazy_pattern(r"^(?i:who|what|which\s\w+|where|when)(?:\s+(?i:is|are|was)|['’]s)\s+(?P<about>.+)\?$")
_ASKED_DOING = lazy_pattern(
    r"^(?i:who|what|which\s\w+|where|when)\s+(?i:does|do)\s+(?P<who>.+?)\s+(?P<verb>[a-z]+)(?P<more>\s\w+)?\?$"
)
_LABEL = lazy_pattern(r"^[\s>*•-]*(?P<label>[^\W\d_][\w ]{0,30}?)\s*[:=]\s+(?P<value>\S.*)$")
_GOES_BY = lazy_pattern(r"(?i:\b(?:goes\sby|is\sknown\s(?:as|by)|answers\sto)(?:\sthe\sname)?(?:\sof)?\b)")
_RESTRICTS = lazy_pattern(r"(?i:who|whose|which|named|called|working|living)\b")
_BULLET = lazy_pattern(r"^[\s>*•-]+")
_DENIED = lazy_pattern(r"(?i:\b(?:not|no|never|nobody|none|false|untrue|wrong|if|whether|unless)\b|n['’]t\b)")
_VALUE_FIRST = lazy_pattern(r"^(?P<value>[\w ]+?)\s+(?i:is|was)\s+(?i:her|his|their|its|the)\s")


class _Mention(NamedTuple):
    """A thing that a text mentions: words that a possessive can follow, its noun if it has one, and its sentence."""

    words: str
    noun: str
    sentence: int


def restate(text: str) -> Iterator[str]:
    """Yield the plain statements that a text makes by references between its clauses.

    >>> "Ana's sister is called Lea." in restate("Ana has a sister. The sister is called Lea.")
    True
    >>> "Ana's sister is Lea" in restate("Ana's sister, Lea, lives in Bergen.")
    True
    """
    parts = (_BULLET.sub("", one).strip(" \t;") for one in _SENTENCE.split(_GOES_BY.sub("is called", text)))
    sentences = [one for one in parts if one][:MAX_SENTENCES]
    named = _find_mentions(sentences)
    made = dict.fromkeys(
        one
        for number, sentence in enumerate(sentences)
        for mentions in ([one for one in named if abs(one.sentence - number) <= NEAR or one.words == THE_USER],)
        for one in (
            *([sentence] if sentence not in text else ()),
            *_name_owned(sentence, mentions),
            *_complete_answer(sentence, sentences[number + 1 : number + 2]),
            *_replace_pronouns(sentence, number, mentions),
            *_complete_label(sentence, mentions),
            *_complete_clauses(sentence, number, mentions),
            *_identify(sentence, sentences),
            *_replace_there(sentence, mentions),
        )
    )
    yield from list(made)[:MAX_RESTATED]


def _find_mentions(sentences: list[str]) -> list[_Mention]:
    """Return the names and owned things of a text; "the user" if no name in it can own anything."""
    names = list(dict.fromkeys((name, number) for number, one in enumerate(sentences) for name in _names(one)))
    owners = [(name, number) for name, number in names if _can_own(name, sentences)]
    if not owners:
        owners = [(THE_USER, 0)]
        names = [*owners, (SOMEBODY, 0), *names]
    found = [_Mention(name, "", number) for name, number in names]
    for number, sentence in enumerate(sentences):
        for match in _OWNED.finditer(sentence):
            possessors = _owners(match["owner"], owners)
            found += [_Mention(f"{one}'s {match['noun']}", match["noun"].casefold(), number) for one in possessors]
        for match in _OF.finditer(sentence):
            found.append(_Mention(f"{match['owner']}'s {match['noun']}", match["noun"].casefold(), number))
        here = [name for name, where in owners if where == number] or [name for name, _ in owners]
        for match in _INDEFINITE.finditer(sentence):
            noun = match["noun"].casefold()
            found += [_Mention(f"{one}'s {noun}", noun, number) for one in here[:1] if noun not in _COMMON]
    unique = {(one.words.casefold(), one.sentence): one for one in found}
    return list(unique.values())


def _names(sentence: str) -> list[str]:
    """Return the names in a sentence: runs of capitalised words, "I" and "my" as the user."""
    found = [THE_USER] if re.search(r"\b(?:I|(?i:my|the\suser))\b", sentence) else []
    for match in _NAME.finditer(sentence):
        named = re.sub(r"['’]s?$", "", match[0]).split()
        words = [one for one in named if one.casefold() not in _COMMON and one != "I"]
        if words and words != ["User"] and words[0] not in ("My", "Our"):
            found.append(" ".join(words))
    return found


def _can_own(name: str, sentences: list[str]) -> bool:
    """Return whether a name is the subject of a clause, or an owner, and not only a value."""
    if name == THE_USER:
        return True
    owns = re.compile(rf"\b{re.escape(name)}['’]|\b(?i:of|with|for)\s+{re.escape(name)}\b")
    for sentence in sentences:
        if owns.search(sentence):
            return True
        clauses = [one for one in _CLAUSE.split(sentence) if one]
        for place, clause in enumerate(clauses):
            says_more = clause[len(name) :].strip(" .:!") or (place == 0 and len(clauses) > 1)
            if clause.startswith(name) and says_more and not _VALUE_FIRST.match(clause):
                return True
        if sentence.strip(" .:!") == name and len(sentences) > 1:
            return True
    return False


def _owners(owner: str, owners: list[tuple[str, int]]) -> list[str]:
    """Return the owners that a possessive names: its own name, or every possible referent of a pronoun."""
    word = owner.casefold()
    if word in ("my", "our") or word.startswith("the user"):
        return [THE_USER]
    if word in _THEIRS:
        return [name for name, _ in owners]
    return [re.sub(r"['’]s?$", "", owner)]


def _referents(pronoun: str, number: int, mentions: list[_Mention], *, clause: bool = False) -> list[str]:
    """Return the possible referents of a pronoun: a relative of its sex mentioned before it, or else everything."""
    word = pronoun.casefold()
    nouns = _MALE if word in ("he", "his") else _FEMALE if word in ("she", "her") else frozenset()
    before = [one for one in mentions if (one.sentence <= number if clause else one.sentence < number)]
    relatives = [one for one in before if one.noun in nouns]
    if relatives:
        last = max(one.sentence for one in relatives)
        return list(dict.fromkeys(one.words for one in relatives if one.sentence == last))
    fits = [one for one in mentions if one.noun not in (_MALE | _FEMALE if word in ("it", "its") else ())]
    if word in ("he", "his", "she", "her"):
        fits = [one for one in fits if one.noun not in _MALE | _FEMALE or one.noun in nouns]
    return list(dict.fromkeys(one.words for one in fits))[:MAX_MENTIONS]


def _replace_pronouns(sentence: str, number: int, mentions: list[_Mention], *, clause: bool = False) -> Iterator[str]:
    """Yield a sentence with its pronouns, and then its definite descriptions, replaced by their possible referents."""
    for pattern, ending in ((_POSSESSIVE, "'s"), (_SUBJECT, "")):
        match = pattern.search(sentence)
        if match and (clause or not _RESTRICTS.match(match[0])):
            for words in _referents(match[0], number, mentions, clause=clause):
                yield pattern.sub(words + ending, sentence, count=1)
    for match in _DEFINITE.finditer(sentence):
        noun = match["noun"].casefold()
        named = [one.words for one in mentions if one.noun == noun]
        owners = [one.words for one in mentions if not one.noun]
        for words in dict.fromkeys(named or [f"{one}'s {noun}" for one in owners[:MAX_MENTIONS]]):
            yield sentence[: match.start()] + words + sentence[match.end() :]


def _name_owned(sentence: str, mentions: list[_Mention]) -> Iterator[str]:
    """Yield "Ana's sister is called Lea" for "Ana's sister Lea", and for "her sister Lea"."""
    owners = [(one.words, one.sentence) for one in mentions if not one.noun]
    for match in _OWNED.finditer(sentence):
        can_own = match["owner"].casefold() not in _COMMON - _THEIRS
        if match["name"] and can_own and not _DENIED.search(sentence[: match.start()]):
            for owner in _owners(match["owner"], owners):
                yield f"{owner}'s {match['noun']} is called {match['name']}"


def _complete_clauses(sentence: str, number: int, mentions: list[_Mention]) -> Iterator[str]:
    """Yield the clauses of a sentence, each completed from the sentence before it or from the next clause."""
    parts = [one.strip(" .!") for one in _CLAUSE.split(sentence) if one and one.strip(" .!")]
    here = [one for one in mentions if one.sentence == number]
    for place, part in enumerate(parts if len(parts) > 1 else ()):
        before = " ".join(parts[:place]).casefold()
        if sentence.endswith("?") or (_RESTRICTS.match(part) and _DENIED.search(parts[place - 1])):
            continue  # "no sister called Lea" does not say that anyone is called so
        known = [one for one in here if _is_in(one, before)]
        if _POSSESSIVE.match(part) or _SUBJECT.match(part) or _DEFINITE.search(part):
            before_it = [one for one in mentions if one in known or one.sentence != number]
            yield from _replace_pronouns(part, number, before_it, clause=True)
        elif place:
            for one in known:
                yield from (f"{one.words} {part}", f"{one.words} is {part}") if one.words != part else ()
            yield f"{parts[place - 1]} is {part}"
        for one in known if re.match(r"(?i:named|called)\s", part) else ():
            yield f"{one.words} is {part}"


def _is_in(mention: _Mention, text: str) -> bool:
    words = mention.words.casefold()
    return words in text or mention.noun in text.split() if mention.noun else words in text or words == "the user"


def _complete_label(sentence: str, mentions: list[_Mention]) -> Iterator[str]:
    """Yield "Ana's sister: Lea" for an item "sister: Lea" in a text about Ana."""
    match = _LABEL.match(sentence)
    if match and not re.search(r"['’]s?\b|\bof\b|\b(?:is|has|are|have)\b", match["label"]):
        for one in mentions:
            if one.words != match["value"].strip(" .!"):
                yield f"{one.words}'s {match['label'].casefold()}: {match['value']}"


def _complete_answer(sentence: str, following: list[str]) -> Iterator[str]:
    """Yield a question and the answer that follows it as one statement."""
    for answer in following:
        value = answer.strip(" .!")
        if match := _ASKED.match(sentence):
            yield f"{match['about']} is {value}"
        elif match := _ASKED_DOING.match(sentence):
            yield f"{match['who']} {match['verb']}s{match['more'] or ''} {value[:1].lower()}{value[1:]}"
            yield f"{match['who']} {match['verb']}s{match['more'] or ''} {value}"


def _identify(sentence: str, sentences: list[str]) -> Iterator[str]:
    """Yield the other sentences of a text with the thing that this one identifies: "a city … The city is Oslo"."""
    match = _IDENTIFIES.match(sentence)
    for other in sentences if match else ():
        assert match is not None
        if other != sentence and (place := _PLACEHOLDER.search(other)):
            how = match["how"] if match["how"].strip().casefold() in ("to", "in", "at") else ""
            begin, value = other[: place.start()], match["value"]
            yield begin + value
            if place[0].casefold().startswith("somewhere"):
                yield f"{begin}in {value}"
            if how:
                yield f"{other.rstrip(' .!')} {how}{value}"


def _replace_there(sentence: str, mentions: list[_Mention]) -> Iterator[str]:
    """Yield "Ana lives in Oslo" for "Ana lives there" in a text that mentions Oslo."""
    if re.search(r"\bthere[.!]*$", sentence):
        for one in mentions:
            if not one.noun and one.words not in sentence:
                yield from (re.sub(r"\bthere[.!]*$", f"{where} {one.words}", sentence) for where in ("in", "at"))
