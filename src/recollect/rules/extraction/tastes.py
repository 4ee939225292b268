"""What somebody likes, dislikes, prefers, does for pleasure, eats and must not eat."""

import re
from collections.abc import Iterable

from recollect.model.vocabulary import EventType
from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.rule import Found, Reader, Rule, rule
from recollect.rules.extraction.third_person import theirs
from recollect.rules.extraction.words import DIETS, INSTRUMENTS_AND_SPORTS
from recollect.rules.language.spelling import third_person
from recollect.rules.statements.values import normal_text
from recollect.rules.word_lists import word_set

_EMPTY_INFINITIVES = word_set(
    """to think see hear know say be have get do help ask make point mention understand add note clarify try use keep
    start explore discuss focus learn start thank share move continue go remain stay not brag"""
)
_PURPOSES = word_set(
    """see keep have get make avoid reduce save understand ensure maintain manage concentrate focus work sleep relax
    stay be do go learn help start improve increase maximize minimize prevent fully use say travel eat write read
    cook play live"""
)
_VAGUE_SORTS = word_set(
    "part thing moment memory bit scene time aspect one kind type way piece name ones things parts far"
)
_COLORS = ("color", "colour")
_OTHER_DIETS = word_set("celiac coeliac keto kosher halal paleo")


_AT_HAND = re.compile(r"\b(?:the|today|tonight|tomorrow)\b", re.I)
""" "Fix the build" is what somebody is doing, not what they aim for in life."""


def _taste(key: str, verb: str) -> Reader:
    """A reader for likes or dislikes; ``verb`` is what the user does, unless the statement has a verb of its own."""

    def read(match: re.Match[str], clause: Clause) -> Iterable[Found]:
        does = third_person((match.groupdict().get("verb") or verb).lower())
        no_longer = "no longer " if clause.ended else ""
        for what in _liked(clause.sentence.spoken(match["v"])):
            if key == "likes" or not what.lower().startswith("to "):
                content = f"The user {no_longer}{does} {theirs(what)}."
                yield Found(what, content, key, EventType.PREFERENCE, _taste_title(what))

    return read


def _taste_title(what: str) -> str:
    """Likes and dislikes of one thing are one concept, so that the later replaces the earlier."""
    return f"Profile taste {normal_text(what) or what.lower()}"


def _liked(text: str) -> list[str]:
    whole = values.phrase(text)
    if whole is None:
        return []
    found = [values.phrase(item) for item in values.items(whole)]
    return [item for item in found if item and not _is_empty(item)] if all(found) else []


def _is_empty(phrase: str) -> bool:
    """ "to think so", "to say": words that introduce something else."""
    words = phrase.lower().split()
    return words[0] == "to" and (len(words) < 2 or words[1] in _EMPTY_INFINITIVES)


def _preferred(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "I prefer tea to coffee": whichever is preferred, the pair is the concept."""
    what = values.phrase(clause.sentence.spoken(match["v"]))
    if what is None or _is_empty(what):
        return
    second = _second(match, clause)
    other = values.phrase(second) if second else None
    if second and other is None:
        return
    to = f" to {theirs(other)}" if other else ""
    pair = " ".join(sorted(normal_text(side) or side.lower() for side in (what, other) if side))
    title = f"Profile prefers {pair}" if other else _taste_title(what)
    verb = "no longer prefers" if clause.ended else "prefers"
    yield Found(what, f"The user {verb} {theirs(what)}{to}.", "likes", EventType.PREFERENCE, title)


def _second(match: re.Match[str], clause: Clause) -> str | None:
    """What is liked less, if the statement compares.

    "To" may also open a purpose ("I prefer dark mode to reduce eye strain"): it compares only short names of things.
    """
    groups = match.groupdict()
    if not groups.get("other"):
        return None
    other = re.split(r" (?:for|in|on|at|when) ", clause.sentence.spoken(groups["other"]))[0]
    is_purpose = len(other.split()) > 2 or other.lower().split()[0] in _PURPOSES
    return None if groups["than"].lower() == "to" and is_purpose else other


def _favorite(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    sort = match["sort"].lower()
    what = values.phrase(clause.sentence.spoken(match["v"]))
    if what is None or sort.split()[-1] in _VAGUE_SORTS or len(sort.split()) > 4:
        return
    key = "favorite_color" if sort in _COLORS else "likes"
    title = None if sort in _COLORS else f"Profile favorite {normal_text(sort) or sort}"
    yield Found(what, f"The user's favorite {sort} is {theirs(what)}.", key, EventType.PREFERENCE, title)


def _one_favorite(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Dune is one of my favourite books"."""
    what = values.phrase(clause.sentence.spoken(match["v"]))
    if what is not None and match["sort"].lower().split()[-1] not in _VAGUE_SORTS:
        content = f"One of the user's favorite {match['sort'].lower()} is {theirs(what)}."
        yield Found(what, content, "likes", EventType.PREFERENCE, _taste_title(what))


def _allergies(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    said = values.substance(clause.sentence.spoken(match["v"]))
    for what in values.listed(said) if said else ():
        verb = "is no longer" if clause.ended else "is"
        content = f"The user {verb} allergic to {theirs(what)}."
        yield Found(what, content, "allergies", title=f"Profile allergy {normal_text(what) or what.lower()}")


def _allergy(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "I have a nut allergy"."""
    what = match["v"].lower()
    verb = "no longer has" if clause.ended else "has"
    yield Found(
        what, f"The user {verb} a {what} allergy.", "allergies", title=f"Profile allergy {normal_text(what) or what}"
    )


def _intolerance(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    what, verb = match["v"], "is no longer" if clause.ended else "is"
    yield Found(what, f"The user {verb} {what} intolerant.", "allergies", title=f"Profile allergy {what.lower()}")


def _diet(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    diet = re.sub(r"^an? ", "", match["v"], flags=re.I)
    diet = re.split(r",| so | and | but | since | because | for | by ", diet)[0]
    if diet.lower() in DIETS | _OTHER_DIETS:
        verb = "is no longer" if clause.ended else "is"
        yield Found(diet, f"The user {verb} {diet.lower()}.", "diet")


def _not_eaten(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    said = values.substance(match["v"])
    for what in values.listed(said) if said else ():
        content = f"The user does not {match['verb'].lower()} {what}."
        yield Found(f"no {what}", content, "diet", title=f"Profile diet {normal_text(what) or what.lower()}")


def _played(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    for what in values.listed(re.split(r" (?:in|with|for|at|on|every) ", match["v"])[0]):
        if what.lower().removeprefix("the ") in INSTRUMENTS_AND_SPORTS:
            verb = "no longer plays" if clause.ended else "plays"
            yield Found(what, f"The user {verb} {what}.", "hobbies", title=f"Profile hobby {what.lower()}")


def _hobbies(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    said = values.phrase(match["v"])
    for what in values.listed(said) if said else ():
        yield Found(what, f"A hobby of the user is {theirs(what)}.", "hobbies", title=f"Profile hobby {what.lower()}")


def _goal(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    goal = clause.sentence.spoken(match["v"])
    if values.self_contained(goal) and len(goal.split()) <= 20 and not _AT_HAND.search(goal):
        yield Found(goal, f"The user's goal is to {theirs(goal)}.", "goals", title=f"Profile goal {goal.lower()}")


TASTES: tuple[Rule, ...] = (
    rule(
        "preference",
        "it said what they prefer",
        "prefer rather",
        "i prefer (?P<v>.+?),? (?P<than>over|rather than|instead of|more than|to) (?P<other>.+)",
        "i would rather have (?P<v>.+?) (?P<than>than) (?P<other>.+)",
        "i prefer {v}",
        read=_preferred,
        endable=True,
    ),
    rule(
        "likes",
        "it said what they like",
        "like love enjoy adore",
        "i (?P<verb>like|love|enjoy|adore) {v}",
        read=_taste("likes", "like"),
        endable=True,
    ),
    rule(
        "likes",
        "it said what they like",
        "fan fond into keen passionate",
        "i am (?:an? (?:big |huge |great |massive )?fan of|fond of|into|keen on|passionate about) {v}",
        read=_taste("likes", "like"),
        endable=True,
    ),
    rule(
        "dislikes",
        "it said what they dislike",
        "hate dislike detest loathe despise",
        "i (?P<verb>hate|dislike|detest|loathe|despise) {v}",
        read=_taste("dislikes", "dislike"),
        endable=True,
    ),
    rule(
        "dislikes",
        "it said what they dislike",
        "like stand fan enjoy",
        "i (?:do|can) not (?:like|stand|enjoy) {v}",
        "i am not an? (?:big |huge |great )?fan of {v}",
        read=_taste("dislikes", "dislike"),
    ),
    rule(
        "favorite",
        "it said what their favourite of a kind is",
        "favorite favourite",
        "my (?:all-time )?favou?rite (?P<sort>[a-z][a-z -]{1,40}?) (?:is|are|has always been) {v}",
        "(?P<v>[^,;:]{1,60}?) is my (?:all-time )?favou?rite (?P<sort>[a-z][a-z -]{1,40})",
        read=_favorite,
    ),
    rule(
        "favorite",
        "it said what their favourite of a kind is",
        "favorite favourite",
        "(?P<v>[^,;:]{1,60}?) is one of my (?:all-time )?favou?rite (?P<sort>[a-z][a-z -]{1,40})",
        read=_one_favorite,
    ),
    rule(
        "allergies",
        "it said what they are allergic to",
        "allergic",
        "i am (?:severely |very |highly |deathly )?allergic to {v}",
        read=_allergies,
        endable=True,
    ),
    rule(
        "allergies",
        "it said what they are allergic to",
        "allergy",
        "i have an? (?:severe )?(?P<v>[a-z ]{2,30}) allergy",
        read=_allergy,
        endable=True,
    ),
    rule(
        "intolerance",
        "it said what they cannot digest",
        "intolerant",
        "i am (?P<v>[a-z]{3,20})[ -]intolerant(?:[,;]? .*)?",
        read=_intolerance,
        endable=True,
    ),
    rule(
        "diet",
        "it said how they eat",
        " ".join(DIETS | _OTHER_DIETS),
        "i am {v}",
        read=_diet,
        endable=True,
    ),
    rule(
        "diet",
        "it said how they eat",
        "eat drink",
        "i (?:do|can) not (?P<verb>eat|drink) {v}",
        "i never (?P<verb>eat|drink) {v}",
        read=_not_eaten,
    ),
    rule(
        "hobbies",
        "it said what they do for pleasure",
        "play",
        "i play (?:the )?{v}",
        read=_played,
        endable=True,
    ),
    rule(
        "hobbies",
        "it said what they do for pleasure",
        "hobby hobbies",
        "my (?:main |favou?rite )?(?:hobby is|hobbies are|hobbies include) {v}",
        read=_hobbies,
    ),
    rule(
        "goals",
        "it said what they aim for",
        "goal",
        "my (?:main |long-term |biggest |current )?goal is to {v}",
        read=_goal,
        lasting=False,
    ),
)
