"""Aspects that have one value at a time, the nouns that name them, and what their values look like.

A statement such as "the timeout of the API is 30 seconds" is about an aspect (timeout) of an owner (the API). All
its statements share the key ``Api-Timeout-Value``, whatever the value, so that the latest replaces the earlier.
"""

from dataclasses import dataclass
from enum import Enum

from recollect.rules.saq import values
from recollect.rules.saq.values import Check


class Owner(Enum):
    """Whose aspect it can be."""

    PERSON = "person"
    THING = "thing"


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect. ``standalone``: a team has just one, so "the package manager" needs no owner."""

    aspect: str
    qualifier: str
    nouns: str
    value: Check
    owner: Owner = Owner.THING
    standalone: bool = False


def _of_person(aspect: str, qualifier: str, nouns: str, value: Check) -> Aspect:
    return Aspect(aspect, qualifier, nouns, value, Owner.PERSON)


ASPECTS: tuple[Aspect, ...] = (
    # People
    _of_person("name", "given", "name|full name", values.name),
    _of_person("name", "first", "first name|given name", values.name),
    _of_person("name", "last", "last name|surname|family name", values.name),
    _of_person("birth", "date", "birthday|date of birth|birth date|birthdate", values.day_and_month),
    _of_person("home", "city", "home city|city of residence|place of residence", values.city),
    _of_person("age", "years", "age", values.age),
    _of_person("email", "address", "email|e-mail|mail|email address|e-mail address", values.email),
    _of_person("phone", "number", "phone|phone number|telephone number|mobile number|cell number", values.phone),
    _of_person("blood", "type", "blood type|blood group", values.blood_type),
    _of_person("time", "zone", "time zone|timezone", values.time_zone),
    _of_person("language", "native", "native language|mother tongue|first language|native tongue", values.language),
    _of_person("marital", "status", "marital status|relationship status", values.marital_status),
    _of_person("job", "title", "job title|occupation|profession|job", values.job),
    _of_person("mother", "name", "mother|mom|mum", values.name),
    _of_person("manager", "name", "manager|boss|supervisor|line manager", values.name),
    # Who answers for a thing
    Aspect("lead", "name", "lead|leader|team lead|head", values.name),
    Aspect("techlead", "name", "tech lead|technical lead", values.name),
    Aspect("owner", "name", "owner", values.name),
    Aspect("maintainer", "name", "maintainer", values.name),
    Aspect("manager", "name", "project manager|product manager", values.name),
    # Settings
    Aspect("port", "number", "port|port number|tcp port", values.port),
    Aspect("version", "number", "version|version number", values.version),
    Aspect("timeout", "value", "timeout|time-out|time out", values.duration),
    Aspect("retry", "count", "retry count|retry limit|max retries|maximum retries", values.count),
    Aspect("line", "length", "line length|max line length|maximum line length", values.count, standalone=True),
    Aspect("site", "url", "url|website|homepage|repo url", values.url),
    Aspect("config", "binding", "binding|bind address|binding address", values.address),
    # Projects
    Aspect("deadline", "date", "deadline|due date", values.date),
    Aspect("launch", "date", "launch date|launch", values.date),
    Aspect("release", "date", "release date", values.date),
    Aspect("start", "date", "start date", values.date),
    Aspect("end", "date", "end date", values.date),
    Aspect("branch", "default", "default branch", values.branch, standalone=True),
    Aspect("branch", "main", "main branch", values.branch, standalone=True),
    Aspect("database", "engine", "database|db|database engine", values.database, standalone=True),
    Aspect("language", "code", "programming language|language", values.programming_language),
    Aspect("ci", "provider", "ci|ci provider|ci system|ci service", values.ci_provider, standalone=True),
    Aspect("package", "manager", "package manager", values.package_manager, standalone=True),
)

BY_NOUN: dict[str, tuple[Aspect, ...]] = {
    noun: tuple(aspect for aspect in ASPECTS if noun in aspect.nouns.split("|"))
    for aspects in ASPECTS
    for noun in aspects.nouns.split("|")
}
"""Each noun with the aspects that it may mean."""

LONGEST_NOUN = max(len(noun.split()) for noun in BY_NOUN)
