"""How a statement begins: greetings and fillers that change nothing, corrections, and requests to remember."""

import re
from typing import NamedTuple

from recollect.model.vocabulary import Space
from recollect.rules.language.word_lists import any_of, entries, word_set

GREETINGS = entries("hi|hello|hey|good morning|good afternoon|good evening")
OPENING = entries(
    """yes|yeah|yep|sure|ok|okay|well|so|oh|ah|um|and|but|also|plus|thanks|thank you|great|cool|alright|right|fyi|btw
    by the way|for your information|for context|for reference|for the record|just so you know|honestly|personally
    to be honest|tbh|in fact|as you know|as you may know|quick note|note|important|reminder|please|pls|about me
    first of all|first|a bit about me|some background|in general|generally|haha|wow|anyway"""
)
"""Ways to begin that leave a statement unchanged."""

CORRECTING = entries(
    """actually|correction|update|my mistake|my bad|scratch that|i was wrong|let me correct that|let me correct myself|edit"""
)
"""Ways to begin that correct what was said before."""

_OWN = r"(?:i|i'm|i've|my|we|we're|our)\b"
_ASKING = (
    r"(?P<polite>(?:can|could|would|will) you )?"
    r"(?:please |pls |also |and |so |i want you to |i'd like you to |i need you to )*"
)
_REMEMBER = (
    r"(?:remember|note|don't forget|do not forget|never forget|(?P<mind>keep in mind|bear in mind)|memori[sz]e"
    r"|(?:make|take) (?:a )?note|save this|keep this"
    r"|(?:save|store|keep|add|put|write)(?: this| that| it)?(?: down)? (?:to|in|into) (?:your |the )?(?:memory|notes))"
)
_FOR_WHOM = r"(?: for (?P<whom>me|us|myself|later|future reference|(?:the|our|this|my) (?:project|team|repo|group)))?"
_ASKS = re.compile(
    rf"{_ASKING}{_REMEMBER}(?: this| it)?{_FOR_WHOM}(?: this| it)?(?: that,? |: ?|,? (?={_OWN}))(?=\S)"
    r"|note to self ?[:,] ?(?P<self>)",
    re.I,
)
_THAT = r"(?: (?:this|that|it|all (?:of )?(?:this|that)))?"
_ASKS_FOR_THAT = re.compile(rf"{_ASKING}{_REMEMBER}{_THAT}(?: down)?{_FOR_WHOM}{_THAT}(?:,? please)?[.!? ]*", re.I)
_SPEAKS_OF_ITSELF = re.compile(_OWN, re.I)
_PLACED = re.compile(r"for (?:the|our|this) (?:project|team|repo)[,:] (?=\S)", re.I)
_CORRECTS = re.compile(
    rf"(?:{any_of(CORRECTING)})(?:[,:.!] ?| (?={_OWN}|the ))"
    rf"|(?:no|nope|sorry|oops|wait|whoops|rather|hmm)(?:[,:.!] ?| (?={_OWN}|it's ))"
    rf"|(?:i meant|i mean)[,:]? (?:that )?(?={_OWN})",
    re.I,
)
_OPENS = re.compile(
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


def opened(opening: Opening) -> Opening:
    """Take off the ways to begin, one after the other, and keep what they say."""
    for _ in range(_MOST_OPENINGS):
        then = _asking(opening) or _marking(opening) if _may_open(opening.rest) else None
        if then is None:
            break
        opening = then
    return opening


def asks_to_keep_that(sentence: str) -> Opening | None:
    """Return what a sentence says that only asks to keep what was said beside it: "Remember this for the project."."""
    match = _ASKS_FOR_THAT.fullmatch(sentence)
    return None if match is None else Opening("", requested=True, space=_space(match["whom"]))


def _may_open(rest: str) -> bool:
    words = rest.split(maxsplit=2)
    first = words[0].lower().rstrip(",:.!") if words else ""
    if first == "i":
        return len(words) > 1 and words[1].lower().rstrip(",:") in _AFTER_I
    return first in _FIRST_WORDS


def _asking(opening: Opening) -> Opening | None:
    """ "Please note for the project: …". "Keep in mind" asks to remember only what the speaker says of themselves."""
    match = _ASKS.match(opening.rest)
    if match is None or (match["mind"] and not _SPEAKS_OF_ITSELF.match(opening.rest, match.end())):
        return None
    space = Space.USER if match["self"] is not None else _space(match["whom"])
    return opening._replace(
        rest=opening.rest[match.end() :],
        requested=True,
        politely=match["polite"] is not None,
        space=space or opening.space,
    )


def _marking(opening: Opening) -> Opening | None:
    rest = opening.rest
    if match := _PLACED.match(rest):
        opening = opening._replace(space=Space.PROJECT)
    elif match := _CORRECTS.match(rest):
        opening = opening._replace(correcting=True)
    else:
        match = _OPENS.match(rest)
    return opening._replace(rest=rest[match.end() :]) if match else None


def _space(whom: str | None) -> Space | None:
    if whom is None or whom.lower() in ("later", "future reference"):
        return None
    return Space.USER if whom.lower() in ("me", "myself") else Space.PROJECT
