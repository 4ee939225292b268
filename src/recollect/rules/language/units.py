"""Units of measure, as they are written after a number."""

from recollect.rules.language.word_lists import word_set

_UNITS = {
    "kilometre": "km kilometre kilometres kilometer kilometers",
    "metre": "metre metres meter meters",
    "centimetre": "cm centimetre centimetres centimeter centimeters",
    "millimetre": "mm millimetre millimetres millimeter millimeters",
    "mile": "mile miles mi",
    "foot": "foot feet ft",
    "inch": "inch inches",
    "kilogram": "kg kgs kilo kilos kilogram kilograms",
    "gram": "g gram grams",
    "milligram": "mg milligram milligrams",
    "microgram": "mcg µg microgram micrograms",
    "pound": "lb lbs",
    "ounce": "oz ounce ounces",
    "litre": "litre litres liter liters",
    "millilitre": "ml millilitre millilitres milliliter milliliters",
    "millisecond": "ms millisecond milliseconds",
    "second": "s sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days",
    "week": "week weeks wk wks",
    "month": "month months",
    "year": "year years yr yrs",
    "kilobyte": "kB KB kb kilobyte kilobytes",
    "megabyte": "MB mb megabyte megabytes",
    "gigabyte": "GB gb gigabyte gigabytes",
    "terabyte": "TB tb terabyte terabytes",
    "gibibyte": "GiB gibibyte gibibytes",
    "mebibyte": "MiB mebibyte mebibytes",
    "percent": "percent pct %",
    "dollar": "$ dollar dollars",
    "euro": "€ EUR eur euro euros",
    "sterling": "£ GBP gbp quid",
    "yen": "¥ JPY yen",
    "rupee": "₹ INR rupee rupees",
    "degree": "° degree degrees",
    "celsius": "°C celsius",
    "fahrenheit": "°F fahrenheit",
    "calorie": "cal calorie calories",
    "kilocalorie": "kcal kcals",
    "hertz": "Hz hz",
    "watt": "W watt watts",
    "kilowatt": "kW kilowatt kilowatts",
    "pixel": "px pixel pixels",
    "token": "token tokens",
}

UNITS = {written: unit for unit, all_written in _UNITS.items() for written in all_written.split()}
"""How a unit may be written, by exact case ("MB" is no "Mb"), and which unit it is."""

TIMES_OF_REPETITION = word_set("second minute hour day week month year night morning evening")


def unit_named(surface: str) -> str | None:
    """The unit that a word names after a number, or None.

    >>> unit_named("km"), unit_named("Kilometers"), unit_named("cats")
    ('kilometre', 'kilometre', None)
    """
    return UNITS.get(surface) or (UNITS.get(surface.lower()) if len(surface) > 3 else None)
