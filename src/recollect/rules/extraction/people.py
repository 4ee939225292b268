"""Who somebody is: what they are called, how to speak of them and to them, and who belongs to them."""

import re
from collections.abc import Iterable

from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.rule import Found, Reader, Rule, one, rule
from recollect.rules.extraction.words import COUNTS, FAMILY, LANGUAGES, MARITAL_STATUSES, PETS
from recollect.rules.word_lists import any_of

_ALSO_A_JOB = re.compile(r"(?:, \d{1,2}(?: years old)?)?, ((?:an? |the ).+)")
_LITTLE = re.compile(
    r"(?:a (?:little|bit of|little bit of)|some|basic|fluent|native|good|conversational)(?: bit of)? ", re.I
)
_SPEAKS_BADLY = re.compile(r"(?:a (?:little|bit of|little bit of)|some|basic|broken)\b", re.I)


def _introduced(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "I'm Ana", "I'm Ben, a teacher from Leeds"."""
    said = clause.sentence.spoken(match["v"])
    called = values.name(said)
    if called is None:
        return
    yield Found(called, f"The user's name is {called}.", "name", replaces=clause.instead_of)
    beside = _ALSO_A_JOB.match(said[len(called) :])
    job = values.job(beside[1]) if beside else None
    if job:
        yield Found(job, f"The user is {values.with_article(job)}.", "role", code="extracted:role")


def _greeting(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Hello, this is Jonas from accounting": without the greeting it may be anybody on a photo."""
    return _introduced(match, clause) if clause.greeted else ()


def _languages(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """Each language that is spoken well enough to say so."""
    for item in values.listed(re.sub(r" (?:fluently|well|at home)$", "", match["v"])):
        language = _LITTLE.sub("", item)
        if language.lower() in LANGUAGES and not _SPEAKS_BADLY.match(item):
            yield Found(language, f"The user speaks {language}.", "languages", title=f"Profile speaks {language}")


def _language(text: str) -> str | None:
    return text if text.lower() in LANGUAGES else None


def _pronouns(text: str) -> str | None:
    return text if values.PRONOUNS.fullmatch(text) else None


def _birthday(text: str) -> str | None:
    text = re.sub(r"^on ", "", text, flags=re.I)
    return text if values.DAY_AND_MONTH.fullmatch(text) else None


def _email(text: str) -> str | None:
    return text if values.EMAIL.fullmatch(text) else None


def _belongs(key: str) -> Reader:
    def read(match: re.Match[str], clause: Clause) -> Iterable[Found]:
        what = clause.sentence.spoken(match["v"])
        yield Found(what, f"The user has {what}.", key, title=f"Profile {key} {what}")

    return read


def _status(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    status = match["v"].lower()
    if status in MARITAL_STATUSES - {"separated", "engaged", "single"}:
        no_longer = "no longer " if clause.ended else ""
        yield Found(match["v"], f"The user is {no_longer}{status}.", "family", title="Profile marital status")


_PET = any_of(PETS)
_RELATIVE = any_of(FAMILY)

PEOPLE: tuple[Rule, ...] = (
    rule(
        "preferred_name",
        "it said how they want to be called",
        "call calls called go nickname preferred",
        "(?:please |just )?call me {v}",
        "you (?:can|may|should) (?:just )?call me {v}",
        "(?:everyone|everybody|people|my friends|friends|they all|most people) (?:just )?calls? me {v}",
        "i (?:would rather be|prefer to be|like to be|prefer being|want to be) called {v}",
        "i go by (?:the name )?{v}",
        "my (?:preferred name|nickname) is {v}",
        read=one("preferred_name", "The user wants to be called {}.", values.name),
    ),
    rule(
        "pronouns",
        "it said which pronouns they use",
        "pronouns go pronoun",
        "my pronouns are {v}",
        "i use (?P<v>.+) pronouns",
        "i go by {v}",
        read=one("pronouns", "The user's pronouns are {}.", _pronouns),
    ),
    rule(
        "name",
        "it said what they are called",
        "name called",
        "my (?:full |first |given |real )?name is {v}",
        "i am (?:called|named) {v}",
        read=one("name", "The user's name is {}.", values.given_name),
    ),
    rule("name", "it said what they are called", "am", "i am {v}", read=_introduced),
    rule("name", "it said what they are called", "this", "this is {v}", read=_greeting),
    rule(
        "native_language",
        "it said which language is their own",
        "language tongue speaker",
        "my (?:native|first|main|mother|preferred|primary) (?:language|tongue) is {v}",
        "i am a native (?P<v>.+) speaker",
        read=one("language", "The user's own language is {}.", _language),
    ),
    rule(
        "languages",
        "it said which languages they speak",
        "speak fluent",
        "i (?:can )?speak {v}",
        "i am (?:fluent|bilingual) in {v}",
        read=_languages,
    ),
    rule(
        "birthday",
        "it said when their birthday is",
        "birthday born",
        "my birthday is {v}",
        "my birthday is on {v}",
        "i was born on {v}",
        read=one("birthday", "The user's birthday is {}.", _birthday),
        lasting=False,
    ),
    rule(
        "email",
        "it said where to write to them",
        "email e-mail mail",
        "my (?:email|e-mail|mail)(?: address)? is {v}",
        read=one("email", "The user's e-mail address is {}.", _email),
    ),
    rule(
        "pets",
        "it said which pets they have",
        " ".join(PETS),
        rf"i (?:have|own) (?P<v>(?:{COUNTS}) (?:[a-z]+ ){{0,2}}(?:{_PET})(?: (?:named|called) [^\W\d_]\w*)?)",
        read=_belongs("pets"),
    ),
    rule(
        "family",
        "it said who belongs to their family",
        " ".join(FAMILY),
        rf"i have (?P<v>(?:{COUNTS}) (?:(?:little|older|younger|young|small|grown|twin|big) )?(?:{_RELATIVE}))",
        read=_belongs("family"),
    ),
    rule(
        "marital_status",
        "it said whether they are married",
        " ".join(MARITAL_STATUSES),
        "i am {v}",
        read=_status,
        endable=True,
    ),
)
