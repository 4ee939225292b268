"""Facts about people that have one value at a time: home, name, age, work."""

import re

from recollect.rules.saq import values
from recollect.rules.saq.names import DIETS, MARITAL_STATUSES
from recollect.rules.saq.phrases import person, possessor
from recollect.rules.saq.rule import Parts, Reader, Rule, rule
from recollect.rules.saq.sentence import Sentence
from recollect.rules.saq.values import Check
from recollect.rules.saq.words import SHARED_RELATIONS, UNIQUE_RELATIONS

_RELATIONS = sorted((*UNIQUE_RELATIONS, *SHARED_RELATIONS), key=lambda word: (-len(word), word))
_RELATION = "|".join(_RELATIONS)


def _fact(aspect: str, qualifier: str, check: Check) -> Reader:
    """A reader for "somebody ... value": the value must be of its sort, the subject must be someone."""

    def read(match: re.Match[str], sentence: Sentence) -> Parts | None:
        who = person(match["s"], sentence.speaker) if check(match["v"]) else None
        return (who, aspect, qualifier) if who else None

    return read


def _place(aspect: str, check: Check) -> Reader:
    """A reader for "somebody ... place": where they live, come from or were born."""

    def read(match: re.Match[str], sentence: Sentence) -> Parts | None:
        who = person(match["s"], sentence.speaker) if check(match["v"]) else None
        return (who, aspect, values.place_level(match["v"])) if who else None

    return read


def _self_only(aspect: str, qualifier: str, check: Check) -> Reader:
    """A reader for what only the speaker can say: "call me ...", "reach me at ..."."""

    def read(match: re.Match[str], sentence: Sentence) -> Parts | None:
        return (sentence.speaker, aspect, qualifier) if check(match["v"]) else None

    return read


def _relation_name(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Eva is my wife", "my sister is called Eva"."""
    return _related(possessor(match["s"], sentence.speaker), match)


def _relation_had(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "I have a dog called Rex"."""
    return _related(person(match["s"], sentence.speaker), match)


def _related(owner: str | None, match: re.Match[str]) -> Parts | None:
    """A wife is one at a time; sisters and dogs are told apart by their names."""
    if owner is None or not values.name(match["v"]):
        return None
    relation = match["relation"].lower()
    if relation in UNIQUE_RELATIONS:
        return owner, UNIQUE_RELATIONS[relation], "name"
    return owner, relation, match["v"].lower()


PEOPLE: tuple[Rule, ...] = (
    rule(
        "home",
        "live lives living lived reside resides residing based",
        "{s} {live|reside} in {v}",
        "{s} {be} (?:living|residing|based) in {v}",
        "{s} (?:have|has) (?:been living|lived) in {v} (?:since|for) [^,]+",
        read=_place("home", values.place),
        allows="been",
    ),
    rule(
        "home.moved",
        "moved relocated",
        "{s} (?:have |has )?(?:moved|relocated) (?:from [^,]+? )?to {v}",
        read=_place("home", values.known_place),
    ),
    rule(
        "name.preferred",
        "call called go goes",
        "call me {v}",
        "i go by (?:the name )?{v}",
        "(?:i|the user) (?:prefer|prefers|like|likes) (?:to be|being) called {v}",
        read=_self_only("name", "preferred", values.name),
    ),
    rule(
        "relation.name",
        " ".join(f"{relation} {relation}'s" for relation in _RELATIONS),
        rf"(?P<s>my|[^,]+'s) (?P<relation>{_RELATION})(?:'s name)? is (?:called |named )?{{v}}",
        rf"(?P<v>[^,]+?) is (?P<s>my|[^,]+'s) (?P<relation>{_RELATION})",
        read=_relation_name,
    ),
    rule(
        "relation.has",
        "called named",
        rf"{{s}} {{have}} an? (?P<relation>{_RELATION}) (?:called|named) {{v}}",
        read=_relation_had,
    ),
    rule(
        "age",
        "old turned",
        "{s} {be} (?P<v>.+ years old)",
        "{s} (?:have |has )?turned {v}",
        read=_fact("age", "years", values.age),
    ),
    rule(
        "diet",
        " ".join(sorted(DIETS)),
        "{s} {be} {v}",
        "{s} (?:became|(?:have|has) become|turned|went) {v}",
        read=_fact("diet", "type", values.diet),
        allows="went",
    ),
    rule(
        "marital-status",
        " ".join(sorted(MARITAL_STATUSES)),
        "{s} {be} {v}",
        read=_fact("marital", "status", values.marital_status),
    ),
    rule("spouse", "married", "{s} {be} married to {v}", read=_fact("spouse", "name", values.name)),
    rule(
        "job",
        "a an",
        "{s} {be} (?P<v>an? .+)",
        "{s} (?:became|(?:have|has) become) (?P<v>an? .+)",
        read=_fact("job", "title", values.job),
    ),
)
