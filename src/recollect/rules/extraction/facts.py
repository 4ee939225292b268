"""Facts that somebody plainly states of themselves, read with the statement reader.

A clause in the first person is read into a frame, and the table below says which fact about the user the frame's attribute is:
its key, its sentence, and how much of what was said is its value. What has no row of its own is kept if the reader is sure that
it has one value at a time ("my optician is Ms. Varga").
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recollect.model.vocabulary import EventType
from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause, tell_in_third_person, to_third_person
from recollect.rules.extraction.values import INSTRUMENTS_AND_SPORTS
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.spelling import third_person
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import ChangeMark, Frame, Tense, ValueKind, read_statement
from recollect.rules.statements.frame import ANY, JOB_END, normal_text
from recollect.rules.statements.tables import KNOWN_PLACES, place_level
from recollect.rules.statements.tagger import is_only_a_state
from recollect.rules.time.validity import announces


class Found(NamedTuple):
    """What was read in a clause. A ``key`` makes it a profile fact."""

    code: str
    value: str
    content: str
    key: str | None = None
    event_type: EventType = EventType.FACT
    title: str | None = None
    replaces: str | None = None
    ended: bool = False
    """It says that what was believed no longer holds, or never did."""


class Said(NamedTuple):
    """A clause as it was said, with what the reader read in it."""

    text: str
    frame: Frame

    @property
    def ended(self) -> bool:
        """Whether it says that something no longer holds."""
        return self.frame.negated and self.frame.change is ChangeMark.STOP

    @property
    def denied(self) -> bool:
        """Whether it says that something does not hold, and not that it ended: "I'm not allergic to nuts"."""
        return self.frame.negated and not self.ended

    @property
    def is_unsure(self) -> bool:
        """Whether the value may be of another sort ("joined Mensa"), or it ended for a while ("left Ghent for a week").

        What ended is of the sort of what it ends: "left Bosch" ends only what is known.
        """
        return bool(self.frame.scope) if self.ended else self.frame.contested

    @property
    def no_longer(self) -> str:
        return "no longer " if self.ended else ""

    @property
    def is_not(self) -> str:
        """What stands between "is" and what the person is not, or is not any more."""
        return "not " if self.denied else self.no_longer

    def does(self, verb: str, third: str) -> str:
        """Return the verb of the fact: "lives", "no longer lives", "does not live"."""
        return f"no longer {third}" if self.ended else f"does not {verb}" if self.denied else third

    @property
    def instead_of(self) -> str | None:
        """What the value stands in the place of: "Porto" in "Lisbon, not Porto"."""
        return self.frame.old_value or None

    @property
    def start(self) -> int:
        """Where the value begins in the text, with the article or possessive before it; -1 if it is not there as it is."""
        start = self.text.find(self.frame.value.split()[0]) if self.frame.value else -1
        while start > 0 and (before := self.text[:start].split()[-1]).lower() in _DETERMINERS:
            start = self.text.rfind(before, 0, start)
        return start

    def from_value(self) -> str:
        """Return what was said from the value on, without what only ends it."""
        return _ENDS.sub("", self.text[self.start :] if self.start >= 0 else self.frame.value)


_DETERMINERS = word_set("the a an my our your this that these those his her their its some any no all most")
_ENDS = lazy_pattern(r" (?:anymore|any more|any longer)$| after all(?=,|$)|, (?:and )?not [^,]{1,40}$", re.I)


_TASTE_VERB = lazy_pattern(r"\b(like|love|enjoy|adore|hate|dislike|detest|loathe|despise)\b", re.I)
_FOR_NOW = lazy_pattern(r"\b(?:enjoying|loving|liking)\b| than ", re.I)
""" "I've been enjoying podcasts lately", "more into series than films": no plain liking."""
_DISLIKING = word_set("hate dislike detest loathe despise")
_OVER = lazy_pattern(r",? (?:over|rather than|instead of|more than|than) ", re.I)
_EMPTY_INFINITIVES = word_set(
    """to think see hear know say be have get do help ask make point mention understand add note clarify try use keep
    start explore discuss focus learn start thank share move continue go remain stay not brag"""
)
_VAGUE_SORTS = word_set(
    "part thing moment memory bit scene time aspect one kind type way piece name ones things parts far"
)
_FAVORITE = lazy_pattern(
    r"\b(?:my|our) (?:all-time )?favou?rite (?P<sort>[a-z][a-z -]{1,40}?)(?: (?:is|are|has) |$)", re.I
)
_PURPOSE = lazy_pattern(r" to (?:[a-z]+ly )?[a-z]+(?: .*)?$")
_AT_HAND = lazy_pattern(r"\b(?:the|today|tonight|tomorrow)\b", re.I)
""" "Fix the build" is what somebody is doing, not what they aim for in life."""


def _read_taste(said: Said) -> Iterable[Found]:
    verb = _TASTE_VERB.search(said.text[: max(said.start, 0)])
    if _FOR_NOW.search(said.text):
        return
    dislikes = said.frame.negated and not said.ended
    plain = verb[1].lower() if verb and (verb[1].lower() in _DISLIKING) == dislikes else None
    does = third_person(plain or ("dislike" if dislikes else "like"))
    infinitive = "to " if said.frame.attribute.endswith(" to") else ""
    for what in _split_liked(infinitive + said.from_value()):
        key = "dislikes" if dislikes else "likes"
        content = f"The user {said.no_longer}{does} {to_third_person(what)}."
        yield Found(f"extracted:{key}", what, content, key, EventType.PREFERENCE, _taste_title(what))


def _taste_title(what: str) -> str:
    """Likes and dislikes of one thing are one concept, so that the later replaces the earlier."""
    return f"Profile taste {normal_text(what) or what.lower()}"


def _split_liked(text: str) -> list[str]:
    whole = values.read_phrase(text)
    if whole is None:
        return []
    found = [values.read_phrase(item) for item in values.split_items(whole)]
    return [item for item in found if item and not _is_empty(item)] if all(found) else []


def _is_empty(phrase: str) -> bool:
    """ "to think so", "to say": words that introduce something else."""
    words = phrase.lower().split()
    return words[0] == "to" and (len(words) < 2 or words[1] in _EMPTY_INFINITIVES)


def _read_preference(said: Said) -> Iterable[Found]:
    """ "I prefer tea to coffee": whichever is preferred, the pair is the concept."""
    pair = said.frame.attribute not in ("prefer", "prefer to") and said.frame.rule == "table:prefer"
    infinitive = "to " if said.frame.attribute == "prefer to" else ""
    text, *rest = _OVER.split(infinitive + said.from_value(), maxsplit=1)
    pair = pair or any(one.startswith("to ") for one in said.frame.scope)
    if pair and not rest:
        text, _, second = text.partition(" to ")
        rest = [second]
    what = values.read_phrase(text if pair or text.startswith("to ") else _PURPOSE.sub("", text))
    other = values.read_phrase(re.split(r" (?:for|in|on|at|when|due) ", rest[0])[0]) if rest and rest[0] else None
    if what is None or _is_empty(what) or (rest and other is None) or (said.frame.negated and not said.ended):
        return
    title = _taste_title(what)
    if other:
        title = f"Profile prefers {' '.join(sorted(normal_text(side) or side.lower() for side in (what, other)))}"
    to = f" to {to_third_person(other)}" if other else ""
    content = f"The user {said.no_longer}prefers {to_third_person(what)}{to}."
    yield Found("extracted:preference", what, content, "likes", EventType.PREFERENCE, title)


def _read_favorite(said: Said) -> Iterable[Found]:
    match = _FAVORITE.search(said.text)
    if match is None or said.frame.negated or match["sort"].lower().split()[-1] in _VAGUE_SORTS:
        return
    sort = match["sort"].lower()
    what = said.frame.value if said.frame.rule == "swapped" else values.read_phrase(said.from_value())
    if what is None:
        return
    color = sort in ("color", "colour")
    title = None if color else f"Profile favorite {normal_text(sort) or sort}"
    content = f"The user's favorite {sort} is {to_third_person(what)}."
    key = "favorite_color" if color else "likes"
    yield Found("extracted:favorite", what, content, key, EventType.PREFERENCE, title, said.instead_of)


def _read_allergies(said: Said) -> Iterable[Found]:
    text = said.from_value()
    whole = said.frame.value if re.search(r"(?:allergy|intolerant)$", text) else values.read_substance(text)
    for what in values.split_list(whole) if whole else ():
        content = f"The user is {said.is_not}allergic to {to_third_person(what)}."
        if text.endswith("intolerant"):
            content = f"The user is {said.is_not}{what} intolerant."
        elif text.endswith("allergy"):
            content = f"The user {said.does('have', 'has')} {values.add_article(f'{what} allergy')}."
        title = f"Profile allergy {normal_text(what) or what.lower()}"
        yield Found("extracted:allergies", what, content, "allergies", title=title)


def _read_diet(said: Said) -> Iterable[Found]:
    if said.frame.rule == "state":
        diet = said.frame.value
        yield Found("extracted:diet", diet, f"The user is {said.is_not}{diet.lower()}.", "diet")


def _read_not_eaten(said: Said) -> Iterable[Found]:
    if not said.frame.negated:
        return
    whole = values.read_substance(said.from_value())
    for what in values.split_list(whole) if whole else ():
        content = f"The user does not {said.frame.attribute} {what}."
        title = f"Profile diet {normal_text(what) or what.lower()}"
        yield Found("extracted:diet", f"no {what}", content, "diet", title=title)


def _read_hobby(said: Said) -> Iterable[Found]:
    played = said.frame.attribute == "play"
    for what in values.split_list(said.frame.value):
        if played and (what.lower() not in INSTRUMENTS_AND_SPORTS or (said.frame.negated and not said.ended)):
            continue
        content = (
            f"The user {said.no_longer}plays {what}." if played else f"A hobby of the user is {to_third_person(what)}."
        )
        yield Found("extracted:hobbies", what, content, "hobbies", title=f"Profile hobby {what.lower()}")


def _read_given_up(said: Said) -> Iterable[Found]:
    """ "I gave up the cello" ends "plays the cello"."""
    for what in values.split_list(said.frame.value) if said.ended else ():
        if what.lower() in INSTRUMENTS_AND_SPORTS:
            content = f"The user no longer plays {what}."
            yield Found("extracted:hobbies", what, content, "hobbies", title=f"Profile hobby {what.lower()}")


def _read_goal(said: Said) -> Iterable[Found]:
    goal = said.text.partition(" to ")[2]
    if goal and values.is_self_contained(goal) and len(goal.split()) <= 20 and not _AT_HAND.search(goal):
        content = f"The user's goal is to {to_third_person(goal)}."
        yield Found("extracted:goals", goal, content, "goals", title=f"Profile goal {goal.lower()}")


_PRONOUNS_USED = lazy_pattern(r"i (?:use|go by) (\w+/\w+(?:/\w+)?)(?: pronouns)?$", re.I)
_PLACE_KEYS = {"city": "city", "country": "country", "state": "location"}
_SECOND_JOB = lazy_pattern(
    r"\b(?:also|as well|too|on the side|besides|volunteer|part-time|freelance|amateur|weekend)\b", re.I
)
""" "I'm also a volunteer firefighter" says nothing of the first job."""
_ALSO_A_JOB = lazy_pattern(r"(?:, \d{1,2}(?: years old)?)?, ((?:an? |the ).+)")


def _read_one_value(code: str, key: str, content: str, take: values.Take) -> "Reader":
    """Return a reader of a fact with one value; ``content`` has ``{}`` for the value that ``take`` reads."""

    def read(said: Said) -> Iterable[Found]:
        value = None if said.frame.negated else take(said.frame.value)
        if value:
            yield Found(f"extracted:{code}", value, content.format(value), key, replaces=said.instead_of)

    return read


def _read_name(said: Said) -> Iterable[Found]:
    """ "I'm Ana", "my name is Ana", "I'm Ben, a teacher from Leeds", "I'm a data engineer at Acme"."""
    text = said.from_value()
    plain = said.frame.attribute.endswith("name") or said.frame.subject == "self name"
    name = None if said.frame.negated else (values.read_given_name if plain else values.read_name)(text)
    if name is None or (not plain and is_only_a_state(name)):  # "I'm Starving"
        if not plain:
            yield from _read_role(said)
        return
    yield Found("extracted:name", name, f"The user's name is {name}.", "name", replaces=said.instead_of)
    beside = _ALSO_A_JOB.match(text[len(name) :])
    job = values.read_job(beside[1]) if beside else None
    if job:
        yield Found("extracted:role", job, f"The user is {values.add_article(job)}.", "role")


def _read_role(said: Said) -> Iterable[Found]:
    """ "I'm a software engineer at Stripe", "I work as a nurse"."""
    text = said.from_value()
    indefinite = said.frame.attribute == "job" or text.lower().startswith(("a ", "an ", "the "))
    job = values.read_job(text) if indefinite else None
    if job is None:
        return
    content = f"The user is {said.is_not}{values.add_article(job)}."
    beside_another = f"Profile role {job.lower()}" if _SECOND_JOB.search(said.text) else None
    yield Found("extracted:role", job, content, "role", title=beside_another)
    beside = re.match(r" (?:at|for|of) ([^\W\d_a-z].*|the [^\W\d_a-z].*)", text.partition(job)[2])
    where = values.read_organisation(beside[1]) if beside and not said.frame.negated else None
    if where:
        yield Found("extracted:employer", where, f"The user works at {where}.", "employer")


def _read_home(said: Said) -> Iterable[Found]:
    """ "I live in Lisbon", "I moved to Porto": people also move to Kubernetes, so that must be a known place."""
    text, started = said.from_value(), said.frame.change is ChangeMark.START
    where = values.read_place(text, known=started)
    if where is None or said.is_unsure:
        return
    level = place_level(where)
    unnamed = where.lower().startswith("the ") and level == "city"
    content = f"The user {said.does('live', 'lives')} in {where}."
    key = "location" if unnamed else _PLACE_KEYS[level]
    yield Found("extracted:home", where, content, key, replaces=said.instead_of)
    if said.ended and said.frame.contested:  # "left Bosch": no known place, so it may be a job
        yield from _read_employer(said)


def _read_employer(said: Said) -> Iterable[Found]:
    """ "I work at Siemens as a mechanical engineer", "I quit my job at Acme", "I got laid off"."""
    if said.frame.rule == JOB_END:
        yield Found("extracted:employer", "", "The user has left their job.", "employer")
        return
    text = said.frame.value if said.ended else said.from_value()
    where = values.read_organisation(text)
    if where is None or said.is_unsure:
        return
    content = f"The user {said.does('work', 'works')} at {where}."
    yield Found("extracted:employer", where, content, "employer", replaces=said.instead_of)
    beside = re.match(r",? as (an? .+)", text[len(where) :], re.I)
    job = values.read_job(beside[1]) if beside and not said.frame.negated else None
    if job:
        yield Found("extracted:role", job, f"The user is {values.add_article(job)}.", "role")


def _read_languages(said: Said) -> Iterable[Found]:
    well = not said.frame.negated and set(said.frame.scope) <= {"can"}  # not "barely"
    for language in values.split_list(said.from_value()) if well else ():
        if values.read_language(language):
            content = f"The user speaks {language}."
            yield Found("extracted:languages", language, content, "languages", title=f"Profile speaks {language}")


Reader = Callable[[Said], Iterable[Found]]

_OWN_LANGUAGE = _read_one_value("native_language", "language", "The user's own language is {}.", values.read_language)
_PREFERRED_NAME = _read_one_value(
    "preferred_name", "preferred_name", "The user wants to be called {}.", values.read_name
)
_READERS: dict[str, Reader] = {
    "like": _read_taste,
    "like to": _read_taste,
    "love to": _read_taste,
    "prefer": _read_preference,
    "prefer to": _read_preference,
    "allergy": _read_allergies,
    "diet": _read_diet,
    "eat": _read_not_eaten,
    "drink": _read_not_eaten,
    "play": _read_hobby,
    "use": _read_given_up,
    ANY: _read_given_up,
    "hobby": _read_hobby,
    "be": _read_name,
    "name": _read_name,
    "first name": _read_name,
    "full name": _read_name,
    "nickname": _PREFERRED_NAME,
    "preferred name": _PREFERRED_NAME,
    "pronoun": _read_one_value("pronouns", "pronouns", "The user's pronouns are {}.", values.read_pronouns),
    "native language": _OWN_LANGUAGE,
    "mother tongue": _OWN_LANGUAGE,
    "first language": _OWN_LANGUAGE,
    "speak": _read_languages,
    "birth date": _read_one_value("birthday", "birthday", "The user's birthday is {}.", values.read_day_and_month),
    "home": _read_home,
    "employer": _read_employer,
    "job": _read_role,
}
"""By attribute of the frame: how its fact is read."""

_DENIABLE = frozenset(("allergy", "diet", "home", "employer", "job", "be"))
"""Attributes of which a denial ("I'm not allergic to nuts") ends what was believed, and is no fact of its own."""
_LASTING_IN_PASSING = frozenset(("birth date", "goal"))
_OF_ONE = lazy_pattern(r"(?:i|i'm|i've|i'd|my|(?:.+ )?calls? me) ", re.I)
_OF_ALL = lazy_pattern(r"(?:we|we're|we've|our) ", re.I)


_INTRODUCES = lazy_pattern(
    r"(?:hi|hey|hello|hiya|good (?:morning|afternoon|evening))(?: (?:there|again|all|everyone|everybody))?[,.!]? "
    r"(?:(?:it's|it is|this is) (?P<name>[^,.!?;:]{2,40}?)(?: (?:here|again|speaking))?"
    r"|(?P<who>[^,.!?;:]{2,40}?) here)(?=[,.!?;:]|$)",
    re.I,
)
""" "Hey, it's Paul", "Hi there, Emil here": who greets gives a name; "it's Paul" alone may be anybody's."""


def _read_introduction(clause: Clause) -> list[Found]:
    greeted = _INTRODUCES.match(clause.sentence.text) if clause.instead_of is None else None
    said = (greeted["name"] or greeted["who"]) if greeted else ""
    name = values.read_name(said)
    if name is None or name != said or name not in clause.said or name.lower() in KNOWN_PLACES or is_only_a_state(name):
        return []
    return [Found("extracted:name", name, f"The user's name is {name}.", "name")]


def read_facts(clause: Clause) -> list[Found]:
    """Return what a clause in the first person states of its speaker; nothing if that is not plain."""
    return _read_introduction(clause) or _read_statement(clause)


def _read_statement(clause: Clause) -> list[Found]:
    text = clause.sentence.spoken(clause.said)
    frame = next(iter(read_statement(text, language="en")), None)
    if frame is None or frame.tense is not Tense.NOW or announces(text):
        return []  # "we move to Bristol in June" is kept as it was said, with its date
    said = Said(text, frame)
    if clause.passing and frame.attribute not in _LASTING_IN_PASSING and "goal" not in frame.subject:
        return []
    ended = said.ended and frame.attribute not in ("eat", "drink")  # who stopped eating meat eats none
    ended = ended or (said.denied and frame.attribute in _DENIABLE)
    return [one._replace(ended=ended) for one in _with_reader(said)] or list(_stated(said, clause))


def _with_reader(said: Said) -> Iterator[Found]:
    """Read a frame with the reader of its attribute, if it is about the speaker."""
    frame = said.frame
    if frame.subject == "self goal":
        yield from _read_goal(said)
    elif frame.subject == "self name":  # "my name is ana"
        yield from _read_name(said)
    elif used := _PRONOUNS_USED.match(said.text):
        yield Found("extracted:pronouns", used[1], f"The user's pronouns are {used[1]}.", "pronouns")
    elif frame.subject != "self":
        return
    elif frame.attribute.startswith("favourite "):
        yield from _read_favorite(said)
    elif frame.attribute.startswith("prefer ") or frame.rule.startswith("choice:"):
        yield from _read_preference(said)
    elif _OF_ONE.match(said.text) or (frame.attribute == "home" and _OF_ALL.match(said.text)):
        yield from _READERS[frame.attribute](said) if frame.attribute in _READERS else ()


_NAMED = frozenset((ValueKind.NAME, ValueKind.QUANTITY, ValueKind.CLOCK, ValueKind.DATE))
_NOT_SURE_OF = frozenset(_READERS) | word_set("origin whereabouts religion member time arrives")
"""Attributes that have a reader above, or that are not sure enough in a conversation."""


def _stated(said: Said, clause: Clause) -> Iterable[Found]:
    """Read what has one value at a time, so that a later statement replaces it: "I weigh 63 kg"."""
    plain = (
        said.text.lower().startswith(("i ", "i'm ", "i've ", "my ", "our "))
        and "'s " not in said.text
        and ", " not in said.text
    )
    if not plain or not values.is_self_contained(said.text) or clause.elided or clause.correcting:
        return
    if said.frame.subject == "self" and (_is_sure(said.frame) or _must_not_have(said)):
        weighs = said.frame.attribute == "weight"  # "I'm down to 78 kilos" does not say of what
        told = f"The user weighs {said.from_value()}." if weighs else tell_in_third_person(said.text)
        yield Found("extracted:stated", said.frame.value, told)


def _is_sure(frame: Frame) -> bool:
    """Return whether a frame gives a plain value to one attribute, now and without more clauses."""
    known = frame.rule == "nominal" or frame.rule.startswith("table:")
    holds = frame.change in (ChangeMark.NONE, ChangeMark.NOW)
    told = frame.single and not frame.negated and not frame.partial and not frame.contested
    named = frame.attribute not in _NOT_SURE_OF and not frame.attribute.endswith("name")
    return known and holds and told and named and frame.value_kind in _NAMED


def _must_not_have(said: Said) -> bool:
    """Return whether it says what somebody cannot have: "I can't have celery"."""
    denied = re.match(r"i can(?:'t| ?not) have ", said.text, re.I) is not None
    noun = said.frame.value_kind is ValueKind.NOUN and len(said.frame.value.split()) <= 2
    return denied and noun and said.frame.attribute == "have" and said.frame.negated
