"""The data files of the statement reader: predicate classes, small word classes, and places known by name."""

import pkgutil
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recollect.rules.language.spelling import read_word
from recollect.rules.language.word_lists import load_table

_FIELDS = frozenset("values kinds state start stop deny nouns unsure place contest lasting key measures".split())
_MODES = ("state", "start", "stop", "deny")
KINDS = frozenset("name the a bare quantity clock date adjective any".split())


@dataclass(frozen=True, slots=True)
class Predicate:
    """One attribute that verb phrases state, start and stop."""

    attribute: str
    single: bool
    kinds: frozenset[str]
    place: bool
    contest: bool
    lasting: bool
    key_words: tuple[str, str]
    measures: str = ""
    """What its quantities must measure ("mass"); empty if any do."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A verb phrase of a predicate: its words, what it says (state, start, stop, deny), and whether its names are unsure."""

    words: tuple[str, ...]
    predicate: Predicate
    mode: str
    unsure: bool


@dataclass(frozen=True, slots=True)
class PredicateTable:
    """The predicates of one language, by the first words of their phrases and by the nouns that name them."""

    by_head: dict[str, tuple[Phrase, ...]]
    by_noun: dict[str, Predicate]
    predicates: tuple[Predicate, ...]

    def phrases(self) -> list[Phrase]:
        """Every phrase once."""
        return [phrase for phrases in self.by_head.values() for phrase in phrases]


class BadTable(ValueError):
    """A data file of the reader breaks its format."""


@lru_cache(maxsize=4)
def predicates(language: str = "en") -> PredicateTable:
    """The predicate table of a language."""
    name = "predicates.toml" if language == "en" else f"predicates.{language}.toml"
    by_head: dict[str, list[Phrase]] = {}
    by_noun: dict[str, Predicate] = {}
    every: list[Predicate] = []
    for attribute, row in load_table(__package__, name).items():
        predicate = _predicate(name, attribute, row)
        every.append(predicate)
        unsure = set(_split_list(row.get("unsure", "")))
        phrases = {mode: _split_list(row.get(mode, "")) for mode in _MODES}
        unknown = unsure - {phrase for listed in phrases.values() for phrase in listed}
        if unknown:
            raise BadTable(f"{name}: [{attribute}] unsure names phrases that the row does not have: {sorted(unknown)}")
        for mode, listed in phrases.items():
            for phrase in listed:
                words = tuple(phrase.split())
                head = " ".join(words[:2]) if words[0] == "be" and len(words) > 1 else words[0]
                by_head.setdefault(head, []).append(Phrase(words, predicate, mode, phrase in unsure))
        for noun in _split_list(row.get("nouns", "")):
            by_noun.setdefault(" ".join(read_word(word)[0] for word in noun.split()), predicate)
    ordered = {head: tuple(sorted(found, key=lambda p: -len(p.words))) for head, found in by_head.items()}
    return PredicateTable(ordered, by_noun, tuple(every))


def _predicate(file: str, attribute: str, row: dict[str, Any]) -> Predicate:
    if unknown := set(row) - _FIELDS:
        raise BadTable(f"{file}: [{attribute}] has unknown fields {sorted(unknown)}")
    kinds = frozenset(_split_list(row["kinds"]))
    if row["values"] not in ("one", "many") or not kinds <= KINDS:
        raise BadTable(f"{file}: [{attribute}] values must be one or many, kinds must be of {sorted(KINDS)}")
    place, contest, lasting = (row.get(name, False) for name in ("place", "contest", "lasting"))
    aspect, qualifier = row.get("key", ("", ""))
    single = row["values"] == "one"
    key_words, measures = (aspect, qualifier), row.get("measures", "")
    return Predicate(attribute.replace("-", " "), single, kinds, place, contest, lasting, key_words, measures)


def _split_list(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",") if phrase.strip()]


@lru_cache(maxsize=1)
def _word_classes() -> dict[str, Any]:
    return load_table(__package__, "words.toml")


def words(section: str, name: str) -> frozenset[str]:
    """A word class of ``words.toml``; nouns in the one spelling that phrases are compared in."""
    listed = _word_classes()[section][name].split()
    return frozenset(read_word(word)[0] for word in listed) if section == "nouns" else frozenset(listed)


def entries(section: str, name: str) -> frozenset[str]:
    """A list of ``words.toml`` whose entries may have several words: they are separated by commas."""
    return frozenset(_split_list(_word_classes()[section][name].replace("\n", " ")))


def mapping(section: str) -> dict[str, str]:
    """A section of ``words.toml`` as it is."""
    return dict(_word_classes()[section])


def states() -> dict[str, str]:
    """The adjectives of which one holds at a time, each with the attribute that it is a value of."""
    return {word: attribute for attribute, listed in mapping("states").items() for word in listed.split()}


# ---------------------------------------------------------------- places

COUNTRIES = entries("places", "countries")
PROVINCES = entries("places", "states")
CITIES = entries("places", "cities")
KNOWN_PLACES = COUNTRIES | PROVINCES | CITIES

_TOWN = re.compile(
    r"(?<=\w{3})(?:burg|burgh|berg|heim|stadt|dorf|hausen|furt|bach|feld|haven|hafen|ville|ford|bury|wick|mouth|bridge"
    r"|borough|chester|minster|shire|field|vale|holm|borg|grad|polis|pur|abad|stan|kirchen|brück|brueck|bronn|walde|ried)$"
)
"""Endings of the names of towns, for those that no list has."""


def place_name(value: str) -> str:
    """Return a place as the lists spell it: the lists have most names without accents ("Cádiz")."""
    name = value.lower().split(",")[0].strip()
    plain = _without_accents(name)
    return plain if plain in KNOWN_PLACES else name


@lru_cache(maxsize=1)
def _towns() -> dict[str, list[tuple[int, int]]]:
    """Where the towns of each name lie, in tenths of a degree (``tools/places`` makes the file)."""
    towns: dict[str, list[tuple[int, int]]] = {}
    for line in (pkgutil.get_data(__package__, "towns.tsv") or b"").decode("utf-8").splitlines()[1:]:
        name, north, east = line.split("\t")
        towns.setdefault(name, []).append((int(north), int(east)))
    return towns


_FAR_NORTH, _FAR_EAST = 6, 10
"""From how many tenths of a degree on two towns are no suburbs of one another: some 60 km."""


def are_far_apart(one: str, other: str) -> bool:
    """Return whether two names are of known towns that lie too far apart for one to be part of the other.

    >>> are_far_apart("Lisbon", "Porto"), are_far_apart("New York City", "Brooklyn"), are_far_apart("Lisbon", "Kubernetes")
    (True, False, False)
    """
    first, second = (_towns().get(_without_accents(name.lower().split(",")[0].strip()), []) for name in (one, other))
    pairs = [(a, b) for a in first for b in second]
    return bool(pairs) and all(abs(a[0] - b[0]) >= _FAR_NORTH or abs(a[1] - b[1]) >= _FAR_EAST for a, b in pairs)


def _without_accents(name: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", name) if not unicodedata.combining(char))


def is_place(value: str) -> bool:
    """Return whether a value names a known country, state or city, or ends as names of towns do."""
    name = place_name(value)
    parts = name.split()
    shorter = parts[0] if len(parts) > 1 and parts[-1] in COUNTRIES else name
    known = not KNOWN_PLACES.isdisjoint((name, " ".join(parts[:2]), shorter))
    return known or (len(parts) == 1 and bool(_TOWN.search(name)))


def place_level(value: str) -> str:
    """Return "country", "state" or "city". A city and its country hold together, so they are kept apart.

    >>> place_level("the Netherlands"), place_level("Texas"), place_level("Lisbon")
    ('country', 'state', 'city')
    """
    name = value.lower().removeprefix("the ")
    return "country" if name in COUNTRIES else "state" if name in PROVINCES else "city"
