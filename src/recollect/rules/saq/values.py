"""What a value of each sort looks like.

A statement names a fact only if it gives a value of the right sort: "the port is 8080" does, "the port is busy" does
not. Each function takes the words after "is" and answers whether they are such a value.
"""

import re
from collections.abc import Callable

from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY
from recollect.rules.saq import names, places
from recollect.rules.saq.phrases import is_name
from recollect.rules.saq.words import NOT_SELF_CONTAINED, VAGUE_VALUES

Check = Callable[[str], bool]

_MONTH = ANY_MONTH
_DAY = f"(?:{ANY_WEEKDAY})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_DAY_OF_MONTH = rf"(?:the )?(?:{_NTH}(?: of)? (?:{_MONTH})|(?:{_MONTH})\.? {_NTH})(?:,? \d{{4}})?"
_ISO_DATE = r"\d{4}-\d{2}-\d{2}"
_DATE = (
    rf"(?:(?:{_DAY},? )?{_DAY_OF_MONTH}|{_ISO_DATE}|\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}}|{_DAY}"
    rf"|(?:the )?end of (?:{_MONTH})|(?:{_MONTH}) \d{{4}}|q[1-4](?: \d{{4}})?)"
)
_AM_PM = r"[ap]\.?m\.?"
_AMOUNT = r"\d+(?:[.,]\d+)*"
_TIME_UNIT = "ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?|months?|years?|milliseconds?"
_CLAUSE = re.compile(
    r"[,:]|\b(?:to|that|when|where|who|which|because|so|as|with|than|like|not|in|at|on|by|from)\b", re.I
)


def _like(pattern: str) -> Check:
    compiled = re.compile(pattern, re.I)
    return lambda value: compiled.fullmatch(value) is not None


def _one_of(known: frozenset[str]) -> Check:
    return lambda value: value.lower() in known


date = _like(rf"(?:on |by )?{_DATE}")
day_and_month = _like(rf"(?:on )?(?:{_DAY_OF_MONTH}|{_ISO_DATE})")
clock_time = _like(
    rf"(?:at )?(?:\d{{1,2}}[:.]\d{{2}}(?: ?{_AM_PM})?|\d{{1,2}} ?{_AM_PM}|noon|midnight)(?: [A-Z]{{2,4}})?"
)
duration = _like(rf"{_AMOUNT} ?(?:{_TIME_UNIT})")
count = _like(r"\d[\d,]*")
age = _like(r"(?:[1-9]\d?|1[01]\d)(?: years old)?")
port = _like(r"\d{2,5}")
version = _like(r"v?\d+(?:\.\d+)*(?:[.-]?(?:alpha|beta|rc|dev|post|b|a)[.-]?\d*)?")
email = _like(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
phone = _like(r"\+?\d[\d /.-]{5,18}\d")
url = _like(r"https?://\S+|www\.\S+|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|eu|de|uk)(?:/\S*)?")
address = _like(r"(?:(?:\d{1,3}\.){3}\d{1,3}|localhost|\[?[0-9a-f]*:[0-9a-f:]+\]?)(?::\d{2,5})?(?: only)?")
time_zone = _like(
    r"(?:the )?(?:(?:utc|gmt)(?: ?[+-] ?\d{1,2}(?::\d{2})?)?"
    r"|cest|cet|eest|eet|west|wet|bst|msk|trt|ist|[ecmp][sd]t|akst|hst|jst|kst|sgt|hkt|a[ecw][sd]t|nz[sd]t|brt|sast"
    r"|[a-z]+/[a-z_]+|(?:eastern|central|mountain|pacific)(?: standard| daylight)?(?: time)?)(?: time ?zone)?"
)
pronouns = _like(r"(?:she|he|they|it|xe|ze|ey|any)/\w+(?:/\w+)?")
blood_type = _like(r"(?:a|b|ab|o)(?:[+-]| (?:positive|negative))")

database = _one_of(names.DATABASES)
programming_language = _one_of(names.PROGRAMMING_LANGUAGES)
ci_provider = _one_of(names.CI_PROVIDERS)
package_manager = _one_of(names.PACKAGE_MANAGERS)
language = _one_of(names.LANGUAGES)
marital_status = _one_of(names.MARITAL_STATUSES)
known_place = _one_of(places.CITIES | places.COUNTRIES | places.STATES)


def branch(value: str) -> bool:
    """A branch of a repository: a usual name, or one that looks like an identifier."""
    return value.lower() in names.BRANCHES or re.fullmatch(r"\w+(?:[/_-]\w+)+", value) is not None


def diet(value: str) -> bool:
    """ "vegan", "a vegetarian"."""
    return value.lower().removeprefix("a ").removeprefix("an ") in names.DIETS


def job(value: str) -> bool:
    """ "a nurse", "senior data engineer": at most four words that end in an occupation."""
    words = value.lower().split()
    words = words[1:] if words[:1] in (["a"], ["an"], ["the"]) else words
    if not 1 <= len(words) <= 4 or words[-1] not in names.JOBS:
        return False
    return not any(word in names.JUDGEMENTS or word in VAGUE_VALUES or word in NOT_SELF_CONTAINED for word in words)


def name(value: str) -> bool:
    """A proper name of at most four words, and not a nationality or a faith."""
    return is_name(value, most_words=4) and value.lower() not in names.DEMONYMS


def place(value: str) -> bool:
    """A place by its name, with or without its region: "Lisbon", "Lisbon, Portugal"."""
    if known_place(value):
        return True
    parts = value.split(", ")
    return len(parts) <= 2 and all(name(part.removeprefix("the ")) for part in parts)


def place_level(value: str) -> str:
    """Of what sort a place is. A city and its country are both true at once, so they don't share a key."""
    low = value.lower().removeprefix("the ")
    return "country" if low in places.COUNTRIES else "state" if low in places.STATES else "city"


def city(value: str) -> bool:
    """A place that is no country and no state."""
    return place(value) and place_level(value) == "city"


def noun_phrase(value: str) -> bool:
    """A short phrase that stands on its own: no clause, no pronoun."""
    words = value.lower().split()
    if not 1 <= len(words) <= 5 or _CLAUSE.search(value):
        return False
    return not any(word in NOT_SELF_CONTAINED for word in words)


def free(value: str) -> bool:
    """A noun phrase that gives a value, and no mere judgement: "blue", not "great"."""
    return noun_phrase(value) and value.lower().split()[-1] not in VAGUE_VALUES
