"""Pairs that once merged and must stay apart: a property for a value, a plan for a fact, a part for the whole, one more."""

import pytest

from recollect.rules.statements import Relation, compare, read_statement
from rows import every_row

APART = """
Tom works at Acme | Tom quit the Acme newsletter
Tom lives in Rome | Tom left the Rome conference
I live in Berlin | I left the Berlin office
I work at Acme | I stopped working at Acme's Berlin office
I drink coffee | I stopped drinking coffee after 4pm
I drink coffee | I no longer drink coffee after 4 pm
We deploy on Fridays | We stopped deploying on Fridays after 5pm
User has a meeting on Monday | User no longer has a meeting on Friday
User lives in Berlin | User no longer lives in Berlin Mitte
I live in Berlin | I am moving to Oslo next year
I work at Acme | I also work at Globex
The API listens on port 8080 | The API also listens on port 9090
Our office is in Berlin | Our office is also in Munich
The shop closes at 18:00 | The shop also closes at noon
The capital of France is Paris | The capital of France is beautiful
My name is Bob | My name is long
My favorite food is ramen | My favorite food is now cheaper
The head coach of Arsenal is Arteta | The head coach of Arsenal is a Spaniard
The primary database is Postgres | The primary database is a mess
Die Hauptstadt von Frankreich ist Paris | Die Hauptstadt von Frankreich ist schön
Der Trainer von Bayern ist Kompany | Der Trainer von Bayern ist krank
Der Chef von Siemens ist Busch | Der Chef von Siemens ist ein Bayer
Deployment step 0 of the bridge | Deployment step 1 of the bridge
I practice Buddhism | I am practicing guitar
User visits the city of Rome | User visits the city of Bari
The enclosure is IP67 | The enclosure is brushed aluminium
The price is 40 euros per seat | The yearly fee is 300 euros
"""


@every_row("pair", [line for line in APART.splitlines() if line])
def test_both_hold(pair: str) -> None:
    old, new = pair.split(" | ")
    assert compare(read_statement(old), read_statement(new))[0] in (Relation.APART, Relation.CONTESTED)


@pytest.mark.parametrize(
    "pair", ["The rent is 900 euros | The rent is 950 euros per month", "The gate is B7 | The gate is C12"]
)
def test_a_new_value_of_the_same_sort_still_replaces(pair: str) -> None:
    old, new = pair.split(" | ")
    assert compare(read_statement(old), read_statement(new))[0] is Relation.CHANGED
