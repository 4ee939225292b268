"""Where many values may hold at once, the object is part of the key; a favourite is one for each sort of thing."""

import re

from recollect.rules.saq import values
from recollect.rules.saq.phrases import gerund, is_name, kind, obj, person, thing
from recollect.rules.saq.rule import Parts, Reader, Rule, rule
from recollect.rules.saq.sentence import Sentence
from recollect.rules.saq.values import Check
from recollect.rules.word_lists import word_set

_CONTEXTUAL = re.compile(r"(?:the|your|my|our|how|when|where|what|being|having|getting|seeing) ", re.I)
_VAGUE_FAVORITES = word_set("part thing moment memory bit scene time aspect place one kind type way piece name")


def _taste(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """What somebody likes, loves, hates: "the", "your" and the like point at something outside the sentence."""
    liked = match["v"]
    if _CONTEXTUAL.match(liked):
        return None
    infinitive = re.fullmatch(r"to (\w+)(| .+)", liked)
    if infinitive:
        liked = gerund(infinitive[1].lower()) + infinitive[2]
    what = obj(liked) if values.noun_phrase(liked) else None
    who = person(match["s"], sentence.speaker) if what else None
    return (who, "likes", what) if who and what else None


def _many(aspect: str, check: Check) -> Reader:
    """A reader for what somebody may do with many things at once."""

    def read(match: re.Match[str], sentence: Sentence) -> Parts | None:
        what = obj(match["v"]) if check(match["v"]) else None
        who = person(match["s"], sentence.speaker) if what else None
        return (who, aspect, what) if who and what else None

    return read


def _dependency(match: re.Match[str], sentence: Sentence) -> Parts | None:
    what = obj(match["v"]) if values.noun_phrase(match["v"]) else None
    who = thing(match["s"], sentence.speaker) if what else None
    return (who, "depends", what) if who and what else None


def _used(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """Tools by their names alone: "we use Jira", not "we use a lot of tools"."""
    what = obj(match["v"]) if is_name(match["v"]) else None
    who = person(match["s"], sentence.speaker) or thing(match["s"], sentence.speaker) if what else None
    return (who, "uses", what) if who and what else None


def _preference(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Ana prefers tea over coffee": the pair is the concept, whichever is preferred."""
    pair = [obj(side) if values.noun_phrase(side) else None for side in (match["v"], match["other"])]
    who = person(match["s"], sentence.speaker)
    if who is None or pair[0] is None or pair[1] is None:
        return None
    return who, "prefers", " ".join(sorted(side for side in pair if side))


def _favorite(match: re.Match[str], sentence: Sentence) -> Parts | None:
    sort = kind(match["sort"], most_words=3)
    if sort == "language" and values.programming_language(match["v"]):
        sort = "programming language"
    if sort is None or sort.split()[-1] in _VAGUE_FAVORITES or not values.free(match["v"]):
        return None
    owner = match["s"].removesuffix("'s")
    who = sentence.speaker if owner.lower() == "my" else person(owner, sentence.speaker)
    return (who, match["degree"].lower().replace("ou", "o"), sort) if who else None


FAVORITES: tuple[Rule, ...] = (
    rule(
        "favorite",
        "favorite favourite preferred",
        "(?P<s>my|[^,]+'s) (?P<degree>favou?rite|preferred) (?P<sort>[^,:]+?)(?: is| ?:) {v}",
        "(?P<v>[^,]+?) is (?P<s>my|[^,]+'s) (?P<degree>favou?rite) (?P<sort>[^,:]+)",
        read=_favorite,
    ),
)

TASTES: tuple[Rule, ...] = (
    rule(
        "prefers.over",
        "prefer prefers",
        "{s} {prefer} {v} (?:over|to) (?P<other>.+)",
        read=_preference,
        negatable=True,
    ),
    rule(
        "likes",
        "like likes love loves enjoy enjoys adore adores hate hates dislike dislikes detest detests stand",
        "{s} {like|love|enjoy|adore|hate|dislike|detest} {v}",
        "{s} can stand {v}",
        read=_taste,
        negatable=True,
    ),
    rule(
        "likes.fan",
        "fan fond into keen",
        "{s} {be} (?:an? (?:big |huge |great )?fan of|fond of|into|keen on) {v}",
        read=_taste,
        negatable=True,
    ),
    rule("prefers", "prefer prefers", "{s} {prefer} {v}", read=_many("prefers", values.noun_phrase), negatable=True),
    rule(
        "speaks",
        "speak speaks fluent",
        "{s} {speak} (?:fluent )?{v}",
        "{s} can speak {v}",
        "{s} {be} fluent in {v}",
        read=_many("speaks", values.language),
        negatable=True,
    ),
    rule(
        "allergic",
        "allergic allergy",
        "{s} {be} allergic to {v}",
        "{s} {have} an? {v} allergy",
        read=_many("allergic", values.noun_phrase),
        negatable=True,
    ),
    rule(
        "learning",
        "learning studying",
        "{s} {be} (?:learning|studying) {v}",
        read=_many("learning", lambda value: values.language(value) or is_name(value)),
        negatable=True,
    ),
    rule("eats", "eat eats", "{s} {eat} {v}", read=_many("eats", values.noun_phrase), negatable=True),
    rule("drinks", "drink drinks", "{s} {drink} {v}", read=_many("drinks", values.noun_phrase), negatable=True),
    rule(
        "visited",
        "visited been",
        "{s} {have} (?:visited|been to) {v}",
        read=_many("visited", values.place),
        allows="been",
        negatable=True,
    ),
    rule(
        "depends",
        "depends depend requires",
        "{s} {depend} on {v}",
        "{s} {require} {v}",
        read=_dependency,
        negatable=True,
    ),
    rule("uses", "use uses", "{s} {use} {v}", read=_used, negatable=True),
)
