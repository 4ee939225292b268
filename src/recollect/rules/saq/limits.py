"""Rules that somebody gives: what to leave out, what always or never to do."""

import re

from recollect.rules.saq.phrases import SELF, obj, singular
from recollect.rules.saq.rule import Parts, Rule, rule
from recollect.rules.saq.sentence import Sentence
from recollect.rules.saq.words import COMMUNICATION, NOT_SELF_CONTAINED, STYLE_MATTERS, STYLE_THINGS
from recollect.rules.word_lists import word_set

_VERBS = word_set(
    """apologize ask assume back commit copy delete deploy disable document drop edit enable encrypt expose
    force-push format guess hardcode install invent lint log merge mention mock modify overwrite print publish push
    rebase release remove rename reveal review rewrite run sanitize send share sign skip speculate squash store swear
    tag test translate truncate upload validate verify"""
)
_INTRANSITIVE = word_set("apologize guess speculate swear")
_USE = "use|include|insert|add|put"
_HOLD = f"{_USE}|contain|have"
_AGENT = "(?:you|the (?:assistant|agent|model|bot|ai)|agents|assistants)"
_SCOPE = re.compile(r"(.+?) (?:in|from|within|to) (.+)", re.I)
_ENUMERATION = re.compile(r",? (?:or|and|nor) |, ", re.I)
_SCOPE_OWNERS = word_set("your my our the any all commit chat pr code review pull request")
_ANSWERS = word_set("reply replies response responses answer answers message messages output outputs")
_ANSWER_OWNERS = word_set("your my our the any all")
_ARTICLES = word_set("the a an any")
_BEFORE_DOING = re.compile(r" before \w+ing\b", re.I)


def _limit(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """What to use or leave out. The place only counts if it is not simply where an agent writes."""
    return _limited(match["v"])


def _limited(phrase: str) -> Parts | None:
    """The key of a limit on one thing; an enumeration of things is several rules."""
    what, place = phrase, ""
    if scoped := _SCOPE.fullmatch(phrase):
        what = scoped[1]
        place = "" if all(map(_is_answer, _ENUMERATION.split(scoped[2]))) else scoped[2]
    named, where = obj(what), obj(place) if place else ""
    if named is None or where is None or _ENUMERATION.search(f"{what} {place}"):
        return None
    return SELF, "limit", f"{named} in {where}" if where else named


def _is_answer(place: str) -> bool:
    """Whether a place is simply what an agent says to its user. A rule for commits, code or emails is a rule of its own."""
    words = place.lower().removesuffix(" to me").split()
    return words[-1] in _ANSWERS and all(word in _ANSWER_OWNERS for word in words[:-1])


def is_communication(place: str) -> bool:
    """Whether a place is simply where an agent writes: "your replies", "commit messages"."""
    words = place.lower().split()
    return words[-1] in COMMUNICATION and all(word in _SCOPE_OWNERS for word in words[:-1])


def _permission(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Emojis are not allowed in replies"."""
    return _limited(match["v"] + (match["place"] or ""))


def _style_limit(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "No emojis": only of what an agent writes, since "no pets" is no rule."""
    what = _SCOPE.sub(r"\1", match["v"].lower())
    head = what.split()[-1]
    is_style = singular(head) in STYLE_MATTERS or (singular(head) in STYLE_THINGS and singular(head) != head)
    return _limited(match["v"]) if is_style else None


def _commanded_limit(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Never use ..." needs no list of things; a bare "use ..." does."""
    return _limit(match, sentence) if sentence.commanded else _style_limit(match, sentence)


def _command(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Never deploy on Fridays", "always ask before deleting files": verb and all that follows are the concept."""
    if not (sentence.commanded or match["must"] or _BEFORE_DOING.search(match["v"])):
        return None
    words = match["v"].lower().replace("force push", "force-push").split()
    return _ruled(words)


def _ruled(words: list[str]) -> Parts | None:
    """The key of a rule, if its verb is one that an agent is told to do or not to do."""
    verb, rest = singular(words[0]), [singular(word) for word in words[1:] if word not in _ARTICLES]
    if verb not in _VERBS or len(rest) > 7 or not (rest or verb in _INTRANSITIVE):
        return None
    if any(word in NOT_SELF_CONTAINED or "," in word for word in rest):
        return None
    return SELF, "rule", " ".join((verb, *rest))


LIMITS: tuple[Rule, ...] = (
    rule("limit.no", "no", "no (?:more )?{v}", read=_style_limit, allows="or and nor", negatable=True),
    rule(
        "limit.use",
        "use include add insert put",
        rf"(?:{_USE}) {{v}}",
        read=_commanded_limit,
        allows="or and nor",
        negatable=True,
    ),
    rule(
        "limit.avoid",
        "avoid using free",
        "(?:avoid(?: using| the use of)?|stop using|quit using|refrain from using) {v}",
        "keep (?:your |the |all )?(?:replies|responses|answers|messages) free (?:of|from) {v}",
        read=_limit,
        allows="or and nor",
        negatable=True,
    ),
    rule(
        "limit.must",
        "must should may can shall",
        rf"{_AGENT} (?:must|shall|may) (?:{_USE}) {{v}}",
        rf"(?:the (?:assistant|agent|model|bot|ai)|agents|assistants) (?:should|can) (?:{_USE}) {{v}}",
        r"(?:your |the |all )?(?:replies|responses|answers|messages) (?:must|should|may|can)"
        rf" (?:{_HOLD}) {{v}}",
        read=_limit,
        allows="may shall or and nor",
        negatable=True,
    ),
    rule(
        "limit.allowed",
        "allowed forbidden banned prohibited permitted",
        "(?:the )?(?:use of )?(?P<v>.+?)(?: use| usage)? {be} (?:allowed|forbidden|banned|prohibited|permitted)"
        "(?P<place> (?:in|from) .+)?",
        read=_permission,
        allows="or and nor",
        negatable=True,
    ),
    rule(
        "limit.wanted", "want", "i want (?:any |no )?{v}", read=_style_limit, allows="want or and nor", negatable=True
    ),
    rule(
        "rule",
        " ".join(sorted((*_VERBS, "apologise", "sanitise", "force"))),
        rf"(?:(?P<must>{_AGENT} (?:must|shall)) )?{{v}}",
        read=_command,
        allows="shall",
        negatable=True,
    ),
)
