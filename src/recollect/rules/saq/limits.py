"""Rules that somebody gives: what to leave out, what always or never to do, and which alternative to choose."""

import re

from recollect.rules.saq.choices import ANSWER_LENGTHS, ANSWER_NOUNS, CHOICES, Choice
from recollect.rules.saq.phrases import SELF, TEAM, gerund, obj, person, singular
from recollect.rules.saq.rule import Parts, Rule, rule
from recollect.rules.saq.sentence import Sentence
from recollect.rules.saq.words import COMMUNICATION, NOT_SELF_CONTAINED, STYLE_MATTERS, STYLE_THINGS

_ALTERNATIVES: dict[str, Choice] = {
    alternative: choice for choice in CHOICES for alternative in choice.alternatives
}
_LENGTH_OF_ANSWERS = next(choice for choice in CHOICES if "short answer" in choice.alternatives)

_VERBS = frozenset(
    """apologize ask assume back commit copy delete deploy disable document drop edit enable encrypt expose
    force-push format guess hardcode install invent lint log merge mention mock modify overwrite print publish push
    rebase release remove rename reveal review rewrite run sanitize send share sign skip speculate squash store swear
    tag test translate truncate upload validate verify""".split()
)
_INTRANSITIVE = frozenset("apologize guess speculate swear".split())
_GERUNDS = {gerund(verb): verb for verb in sorted(_VERBS)} | {"force-pushing": "force-push", "apologising": "apologize"}
_USE = "use|include|insert|add|put|contain|have"
_AGENT = "(?:you|the (?:assistant|agent|model|bot|ai)|agents|assistants)"
_SCOPE = re.compile(r"(.+?) (?:in|from|within) (.+)", re.I)
_SCOPE_OWNERS = frozenset("your my our the any all commit chat pr code review pull request".split())
_ARTICLES = frozenset("the a an any".split())
_BEFORE_DOING = re.compile(r" before \w+ing\b", re.I)
_ALTERNATIVE_PLACES = re.compile(r"(.+?) (?:for|in|as) (.+)", re.I)


def _limit(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """What to use or leave out. The place only counts if it is not simply where an agent writes."""
    return _limited(match["v"])


def _limited(phrase: str) -> Parts | None:
    what, place = phrase, ""
    if scoped := _SCOPE.fullmatch(phrase):
        what = scoped[1]
        place = "" if _is_communication(scoped[2]) else scoped[2]
    named, where = obj(what), obj(place) if place else ""
    if named is None or where is None:
        return None
    return SELF, "limit", f"{named} in {where}" if where else named


def _is_communication(place: str) -> bool:
    words = place.lower().split()
    return words[-1] in COMMUNICATION and all(word in _SCOPE_OWNERS for word in words[:-1])


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


def _stopped(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Stop apologizing", "avoid committing secrets"."""
    words = match["v"].lower().replace("force pushing", "force-pushing").split()
    verb = _GERUNDS.get(words[0])
    return _ruled([verb, *words[1:]]) if verb else None


def _ruled(words: list[str]) -> Parts | None:
    verb, rest = singular(words[0]), [singular(word) for word in words[1:] if word not in _ARTICLES]
    if verb not in _VERBS or len(rest) > 7 or not (rest or verb in _INTRANSITIVE):
        return None
    if any(word in NOT_SELF_CONTAINED or "," in word for word in rest):
        return None
    return SELF, "rule", " ".join((verb, *rest))


def _choice(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Use tabs", "I prefer tabs over spaces": the alternatives of one choice share its key."""
    groups = match.groupdict()
    chosen = _alternative(groups["v"])
    if chosen is None:
        return None
    choice, scope = chosen
    other = groups.get("other")
    if other is not None and not _is_alternative(other, choice):
        return None
    if any(place and not _fits(place, choice) for place in (scope, groups.get("topic"))):
        return None
    return _of_choice(choice, groups.get("s"), sentence)


def _alternative(phrase: str) -> tuple[Choice, str] | None:
    """The choice that a phrase names an alternative of, and the place that it limits the choice to."""
    if choice := _ALTERNATIVES.get(obj(phrase) or ""):
        return choice, ""
    if (placed := _ALTERNATIVE_PLACES.fullmatch(phrase)) and (choice := _ALTERNATIVES.get(obj(placed[1]) or "")):
        return choice, placed[2]
    return None


def _is_alternative(phrase: str, choice: Choice) -> bool:
    named = obj(re.sub(r" ones?$", "", phrase))
    return any(named == known or known.startswith(f"{named} ") for known in choice.alternatives)


def _fits(place: str, choice: Choice) -> bool:
    return obj(place) in choice.scopes or _is_communication(place)


def _of_choice(choice: Choice, who: str | None, sentence: Sentence) -> Parts | None:
    """Whose choice it is: another person's is kept apart from the speaker's and the team's."""
    name = person(who, sentence.speaker) if who else SELF
    if name is None:
        return None
    return (choice.subject if name in (SELF, TEAM) else name), choice.aspect, choice.qualifier


def _required(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Paths must be absolute"."""
    choice = _ALTERNATIVES.get(match["v"].lower())
    fits = choice is not None and _fits(match["s"], choice)
    return _of_choice(choice, None, sentence) if choice and fits else None


def _answer_length(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Be concise", "keep your answers short"."""
    noun = match.groupdict().get("noun") or "answers"
    if singular(noun.lower()) not in ANSWER_NOUNS or match["v"].lower() not in ANSWER_LENGTHS:
        return None
    return _of_choice(_LENGTH_OF_ANSWERS, None, sentence)


_OVER = r"(?:,? (?:not|over|instead of|rather than|and not|to) (?P<other>.+?))?"

LIMITS: tuple[Rule, ...] = (
    rule(
        "choice",
        "use uses prefer prefers stick go indent give show display write report want wants",
        rf"(?:use|prefer|stick to|stick with|go with|indent with) (?P<v>.+?){_OVER}",
        rf"{{s}} {{use|prefer|want}} (?P<v>.+?){_OVER}",
        rf"(?:give|show|display|report|write|format) (?P<topic>.+?) (?:in|as|with) (?P<v>.+?){_OVER}",
        rf"(?:give|write)(?: me)? (?P<v>.+?){_OVER}",
        read=_choice,
        allows="want wants",
        negatable=True,
    ),
    rule("choice.better", "better more", "{s} {like|love} {v} (?:better|more)", read=_choice),
    rule(
        "choice.favorite",
        "preferred favorite favourite",
        "(?:my|our|the) (?:preferred|favou?rite) (?P<topic>.+?) is {v}",
        read=_choice,
    ),
    rule("choice.required", "must should", "{s} (?:must|should) be {v}", read=_required, negatable=True),
    rule(
        "choice.length",
        " ".join(sorted(ANSWER_LENGTHS)),
        "be {v}",
        "keep (?:your |the |all )?(?P<noun>\\w+) {v}",
        read=_answer_length,
    ),
    rule("limit.no", "no", "no (?:more )?{v}", read=_style_limit, negatable=True),
    rule(
        "limit.use",
        "use using include add insert put avoid",
        rf"(?:{_USE}) {{v}}",
        read=_commanded_limit,
        negatable=True,
    ),
    rule(
        "limit.avoid",
        "avoid using",
        "(?:avoid(?: using| the use of)?|stop using|quit using|refrain from using) {v}",
        read=_limit,
        negatable=True,
    ),
    rule(
        "limit.must",
        "must should may can shall",
        rf"{_AGENT} (?:must|shall|may) (?:{_USE}) {{v}}",
        rf"(?:the (?:assistant|agent|model|bot|ai)|agents|assistants) (?:should|can) (?:{_USE}) {{v}}",
        r"(?:your |the |all )?(?:replies|responses|answers|commit messages|messages) (?:must|should|may|can)"
        rf" (?:{_USE}) {{v}}",
        read=_limit,
        allows="may shall",
        negatable=True,
    ),
    rule(
        "limit.allowed",
        "allowed forbidden banned prohibited permitted",
        "{v} {be} (?:strictly )?(?:allowed|forbidden|banned|prohibited|permitted)(?: in (?:your |my )?(?:replies|answers|responses))?",
        read=_limit,
        negatable=True,
    ),
    rule("limit.wanted", "want", "i want (?:any |no )?{v}", read=_style_limit, allows="want", negatable=True),
    rule("rule.stop", "stop avoid", "(?:stop|avoid|quit) {v}", read=_stopped, negatable=True),
    rule(
        "rule",
        " ".join(sorted((*_VERBS, "apologise", "sanitise", "force"))),
        rf"(?:(?P<must>{_AGENT} (?:must|shall)) )?{{v}}",
        read=_command,
        allows="shall",
        negatable=True,
    ),
)
