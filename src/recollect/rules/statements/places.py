"""Places that the rules know by name: countries, states, cities and towns."""

import re
import unicodedata

from recollect.rules.statements import tables

COUNTRIES = tables.entries("places", "countries")
STATES = tables.entries("places", "states")
CITIES = tables.entries("places", "cities")
KNOWN_PLACES = COUNTRIES | STATES | CITIES

_TOWN = re.compile(
    r"(?<=\w{3})(?:burg|burgh|berg|heim|stadt|dorf|hausen|furt|bach|feld|haven|hafen|ville|ford|bury|wick|mouth|bridge"
    r"|borough|chester|minster|shire|field|vale|holm|borg|grad|polis|pur|abad|stan|kirchen|brück|brueck|bronn|walde|ried)$"
)
"""Endings of the names of towns, for those that no list has."""


def place_name(value: str) -> str:
    """Return a place as the lists spell it: the lists have most names without accents ("Cádiz")."""
    name = value.lower().split(",")[0].strip()
    plain = "".join(char for char in unicodedata.normalize("NFD", name) if not unicodedata.combining(char))
    return plain if plain in KNOWN_PLACES else name


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
    return "country" if name in COUNTRIES else "state" if name in STATES else "city"
