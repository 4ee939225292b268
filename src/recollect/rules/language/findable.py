"""Say by which words a memory is found: its own words, its labels, and the names that it is about."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from recollect.model.record import DEFAULT_CATEGORY, TITLE
from recollect.model.state import State, body_in_force
from recollect.model.vocabulary import KIND_CLASS, KeySource, Kind, KindClass
from recollect.rules.identity.keys import CanonicalKey, words_of
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import STOP_WORDS, fold, normalise, stem, terms, words
from recollect.rules.language.word_lists import load_table

_NAMES = ("name", "aliases")
"""Where an entity says what it is called: its name, and others that people use for it."""
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)


def entity_names(entities: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """What entities are called, aliases included.

    >>> list(entity_names([{"name": "Kubernetes", "aliases": ["k8s"]}]))
    ['Kubernetes', 'k8s']
    """
    for entity in entities:
        for field in _NAMES:
            given = entity.get(field)
            many = given if isinstance(given, list | tuple) else (given,)
            yield from (name for name in many if isinstance(name, str))


class Naming:
    """What a question names: its words in order, by their stems, so that "deployments" names a deployment.

    A name counts if it stands there whole. "What does Redis do?" names Redis, and not the Redis cluster.

    >>> asked = Naming("What's in the dead letter queue of Mara's team?")
    >>> [asked.has(name) for name in ("Mara", "dead letters", "letter queue team", "dead queue")]
    [True, True, False, False]
    """

    def __init__(self, question: str, synonyms: Mapping[str, str] | None = None) -> None:
        self._synonyms = synonyms
        self._said = self._stems(question)

    def has(self, name: str) -> bool:
        said = self._stems(name)
        return bool(said.strip()) and said in self._said

    def has_any(self, entities: Iterable[Mapping[str, Any]]) -> bool:
        """Whether it names one of these."""
        return any(map(self.has, entity_names(entities)))

    def _stems(self, text: str) -> str:
        """The stems of a text's words, each between blanks."""
        plain = _POSSESSIVE.sub("", normalise(text, self._synonyms) if self._synonyms else text)
        return f" {' '.join(map(stem, words(plain)))} "


_SEPARATORS = re.compile(r"[_\W]+")
"""What stands between the words of a name: "current_projects" has two."""


class Findable(NamedTuple):
    """The index terms of a memory."""

    said: Sequence[str]
    """What it says, in order and with repetitions. Whether two memories are alike is judged by these alone."""
    keyed: Sequence[str] = ()
    """The words of its key, title, topic and category that are not said, and its `labels`, once each."""


def findable(
    body: Mapping[str, Any], state: State, synonyms: Mapping[str, str] | None = None, said: Sequence[str] | None = None
) -> Findable:
    """The index terms of a memory under the key that it has now. What it says is worked out unless it is known.

    >>> theme = State("1", "active", canonical_key="Ana-Theme-Mode")
    >>> findable({"content": "Ana prefers dark mode", "key_source": "reader", "kind": "semantic"}, theme)
    Findable(said=['ana', 'prefer', 'dark', 'mode'], keyed=('theme',))
    """
    body = body_in_force(body, state)
    known = said_terms(body, synonyms) if said is None else said
    key = CanonicalKey(state.canonical_key, state.key_digest, KeySource(body["key_source"]))
    category = state.category if state.category != DEFAULT_CATEGORY else ""
    names = [*words_of(key), body.get("meta", {}).get(TITLE, ""), body.get("topic_id") or "", category]
    named = terms(_SEPARATORS.sub(" ", " ".join(names)), synonyms)
    return Findable(known, tuple(dict.fromkeys(term for term in (*named, *labels(body)) if term not in known)))


LIMIT, RULE, GOAL = "#limit", "#rule", "#goal"
"""Labels of memories by what sort of statement they are. No word is spelt so, so that they are found by nobody who does not
look for that sort."""
_LABELS = {"constraint": LIMIT, "anti-pattern": LIMIT, "rule": RULE, "goal": GOAL}


def labels(body: Mapping[str, Any]) -> list[str]:
    """What sort of statement a memory is, as far as questions ask for sorts; what records an event is of none.

    >>> labels({"kind": "semantic", "sublayer": "constraint"}), labels({"kind": "short_term", "sublayer": "goal"})
    (['#limit'], [])
    """
    label = _LABELS.get(body.get("sublayer", ""))
    return [label] if label and KIND_CLASS[Kind(body["kind"])] is not KindClass.EVENT else []


def said_terms(body: Mapping[str, Any], synonyms: Mapping[str, str] | None = None) -> list[str]:
    """The terms of a memory's content and, once each, of the names of its entities that it does not say itself.

    >>> said_terms({"content": "Deploys to Kubernetes", "entities": [{"name": "Kubernetes", "aliases": ["k8s"]}]})
    ['deploy', 'kubernet', 'k8s']
    """
    said = terms(body["content"], synonyms)
    named = (term for name in entity_names(body.get("entities", ())) for term in terms(name, synonyms))
    return [*said, *dict.fromkeys(term for term in named if term not in said)]


_TABLE: dict[str, Any] = load_table(__package__, "topics.toml")
_LEAVE, _WHETHER, _PAST = (
    lazy_pattern(fold(_TABLE["asks"][name].replace("\n", ""))) for name in ("leave", "whether", "past")
)
_SIGN, _PERSON, _BESIDE = (frozenset(words(_TABLE["everything"][name])) for name in ("sign", "person", "beside"))


@cache
def _topics() -> list[tuple[frozenset[str], tuple[str, ...], bool]]:
    """Return what each topic is asked by, by what memories tell of it, and whether their labels do; only questions need it."""
    return [
        (frozenset(terms(one["asked"])), tuple(dict.fromkeys(terms(one["told"]))), one.get("labels", False))
        for one in _TABLE["topics"].values()
    ]


def bearing_terms(text: str) -> tuple[str, ...]:
    """The index terms of what a question depends on, besides its own; none for most questions.

    >>> "vegetarian" in bearing_terms("What may I order at this restaurant?"), bearing_terms("When was the dinner?")
    (True, ())
    """
    plain = fold(text)
    leave = _LEAVE.search(plain) is not None
    if _PAST.search(plain) or not (leave or _WHETHER.search(plain)):
        return ()
    own = set(terms(text))
    about = [(told, labels) for asked, told, labels in _topics() if own & asked]
    found = [term for told, _ in about for term in told if term not in own]
    limits = [LIMIT, RULE] if leave and (not about or any(labels for _, labels in about)) else []
    return tuple(dict.fromkeys((*found, *limits)))


def asks_for_everything(text: str, names: Collection[str] = ()) -> bool:
    """Whether a question asks for whatever is known of the person who asks, or who is called one of these names.

    >>> [asks_for_everything(text) for text in ("What do you know about me?", "Was weißt du über mich?", "What do I eat?")]
    [True, True, False]
    >>> asks_for_everything("What do you remember about Ana?", ["ana"])
    True
    """
    said = {word.removesuffix("s") if word.removesuffix("s") in names else word for word in words(text)}
    person = _PERSON | set(names)
    return bool(said & _SIGN and said & person) and said <= person | _SIGN | _BESIDE | STOP_WORDS
