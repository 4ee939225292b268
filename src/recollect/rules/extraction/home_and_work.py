"""Where somebody lives, what they do for a living, and what they learned."""

import re
from collections.abc import Iterable

from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.rule import Found, Rule, one, rule
from recollect.rules.statements.places import place_level

_EMPLOYER = "extracted:employer"
_PLACE_KEYS = {"city": "city", "country": "country", "state": "location"}
_DEGREE = r"(?:PhD|doctorate|master's(?: degree)?|bachelor's(?: degree)?|degree|MBA|BSc|MSc|BA|MA|diploma)"


def _lives(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    return _home(values.place(match["v"]), clause)


def _moved(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    return _home(values.known_place(match["v"]), clause)


def _home(where: str | None, clause: Clause) -> Iterable[Found]:
    if where is None:
        return
    level = place_level(where)
    unnamed = where.lower().startswith("the ") and level == "city"
    verb = "no longer lives" if clause.ended else "lives"
    key = "location" if unnamed else _PLACE_KEYS[level]
    yield Found(where, f"The user {verb} in {where}.", key, replaces=clause.instead_of)


def _employer(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "I work at Siemens as a mechanical engineer"."""
    where = values.organisation(match["v"])
    if where is None:
        return
    ended = clause.ended or "left" in match.groupdict()
    verb = "no longer works" if ended else "works"
    yield Found(where, f"The user {verb} at {where}.", "employer", replaces=clause.instead_of, ended=ended)
    beside = re.match(r",? as (an? .+)", match["v"][len(where) :], re.I)
    if beside and not ended:
        yield from _job_found(beside[1])


def _role(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "I'm a software engineer at Stripe"."""
    found = list(_job_found(match["v"], clause.ended))
    yield from found
    if found and not clause.ended:
        rest = match["v"].partition(found[0].value)[2]
        beside = re.match(r" (?:at|for|of) ([^\W\d_a-z].*|the [^\W\d_a-z].*)", rest)
        where = values.organisation(beside[1]) if beside else None
        if where:
            yield Found(where, f"The user works at {where}.", "employer", code=_EMPLOYER)


def _job_found(text: str, ended: bool = False) -> Iterable[Found]:
    job = values.job(text)
    if job:
        verb = "is no longer" if ended else "is"
        yield Found(job, f"The user {verb} {values.with_article(job)}.", "role", code="extracted:role")


def _time_zone(text: str) -> str | None:
    text = re.split(r"[,;]| so | and | but ", re.sub(r"^the ", "", text, flags=re.I))[0]
    short = re.sub(r" ?time ?zone$", "", text, flags=re.I)
    return short if values.TIME_ZONE.fullmatch(short) else None


def _degree(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    subject = re.split(r" (?:from|at|and) |,", match["v"])[0]
    if len(subject.split()) <= 4 and values.self_contained(subject):
        degree = f"{match['degree']} in {subject}"
        yield Found(
            degree, f"The user has {values.with_article(degree)}.", "education", title=f"Profile education {degree}"
        )


HOME_AND_WORK: tuple[Rule, ...] = (
    rule(
        "home",
        "it said where they live",
        "live reside living residing based lived home",
        "(?:i|we) (?:live|reside) in {v}",
        "(?:i|we) (?:am|are) (?:living|residing|based) (?:in|out of) {v}",
        "(?:i|we) have (?:been living|lived|been based) in (?P<v>.+ (?:since|for) .+)",
        "my home is in {v}",
        read=_lives,
        endable=True,
    ),
    rule(
        "moved",
        "it said where they moved to",
        "moved relocated",
        "(?:i|we) (?:have )?(?:moved|relocated) (?:from .{1,40}? )?(?:back )?to {v}",
        read=_moved,
    ),
    rule(
        "employer",
        "it said whom they work for",
        "work working employed job started joined quit left",
        "i (?:work|am working|am employed) (?:at|for|by) {v}",
        "i (?:have )?started (?:working |work |out )?(?:at|for) {v}",
        "i (?:have )?(?:got|landed|accepted|took|started) an? (?:new )?(?:job|role|position) (?:at|with) {v}",
        "i (?:have )?(?:quit|left) (?P<left>my job) (?:at|with) {v}",
        "my employer is {v}",
        read=_employer,
        endable=True,
    ),
    rule(
        "role",
        "it said what they do for a living",
        "am work working job profession occupation title role",
        "i am (?P<v>(?:an?|the) .+)",
        "i (?:work|am working|am employed) (?:part-time |full-time |(?:at|for|in) .{1,60}? )?as (?P<v>.+)",
        "my (?:job|profession|occupation|job title|title|role|current role) is {v}",
        read=_role,
        endable=True,
    ),
    rule(
        "time_zone",
        "it said which time zone they are in",
        "zone timezone time on in",
        "my (?:time ?zone|local time ?zone) is {v}",
        "i am (?:in|on) {v}",
        read=one("time_zone", "The user's time zone is {}.", _time_zone),
    ),
    rule(
        "education",
        "it said what they studied",
        "phd doctorate master's bachelor's degree mba bsc msc ba ma diploma",
        rf"i (?:have|hold|got|earned) (?:an? |my )(?P<degree>{_DEGREE}) in {{v}}",
        read=_degree,
    ),
)
