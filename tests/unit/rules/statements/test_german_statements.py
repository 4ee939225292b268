"""German statements: the same frames and relations through the same table format."""

import pytest

from recollect.rules.statements import Relation, compare, read_statement
from rows import every_row

FRAMES = [
    ("Der Trainer von Union ist Karl Moser", "union trainer", "Karl Moser"),
    ("Karl Moser ist der Trainer von Union", "union trainer", "Karl Moser"),
    ("Annas Lieblingsfarbe ist Blau", "anna lieblingsfarbe", "Blau"),
    ("Ich wohne in Göteborg", "self home", "Göteborg"),
    ("Der Nutzer lebt in Graz", "self home", "Graz"),
    ("Mein Wohnort ist Graz", "self home", "Graz"),
    ("Lena ist bei Siemens beschäftigt", "lena employer", "Siemens"),
    ("Das Abo kostet 19 Euro", "abo price", "19 Euro"),
    ("Paul ist mit Ingrid verheiratet", "paul spouse", "Ingrid"),
    ("Mein Hund heißt Bruno", "self hund", "Bruno"),
]


@every_row(("text", "slot", "value"), FRAMES)
def test_a_german_statement_names_its_slot(text: str, slot: str, value: str) -> None:
    (frame,) = read_statement(text)
    assert (frame.slot, frame.value) == (slot, value)
    assert frame.single


RELATIONS = [
    (Relation.CHANGED, "Der Port von Grafana ist 3000", "Der Port von Grafana ist jetzt 3100"),
    (Relation.CHANGED, "Die Leiterin von Team Nord ist Aylin Demir", "Der Leiter von Team Nord ist Jonas Beck"),
    (Relation.CHANGED, "Ich wohne in Graz", "Ich bin von Graz nach Linz gezogen"),
    (Relation.CHANGED, "Lena arbeitet bei Siemens", "Lena arbeitet jetzt bei Bosch"),
    (Relation.RETRACTED, "Max wohnt in Hamburg", "Max wohnt nicht mehr in Hamburg"),
    (Relation.RETRACTED, "Lena arbeitet bei der Post", "Lena hat bei der Post gekündigt"),
    (Relation.RETRACTED, "Clara mag Oliven", "Clara mag keine Oliven mehr"),
    (Relation.SAME, "Clara mag keinen Fisch", "Clara mag Fisch nicht"),
    (Relation.SAME, "Max wohnt in Hamburg", "Max lebt in Hamburg"),
    (Relation.CONTESTED, "Max wohnt in Hamburg", "Max wohnt in Altona"),
    (Relation.RETRACTED, "Ich mag Pilze", "Ich hasse Pilze"),
    (Relation.RETRACTED, "Lena liebt Oliven", "Lena kann Oliven nicht ausstehen"),
    (Relation.SAME, "Clara mag Fisch nicht", "Clara kann Fisch nicht leiden"),
    (Relation.SAME, "Ich mag keine Pilze", "Ich verabscheue Pilze"),
    (Relation.APART, "Ich hasse Pilze", "Ich hasse Oliven"),
    (Relation.APART, "Ich mag Jazz", "Ich mag Oper"),
    (Relation.APART, "Ich wohne in Lissabon", "Ich wohne in einer Wohnung"),
    (Relation.APART, "Meine Chefin ist Anna Berg", "Meine Chefin ist im Urlaub"),
    (Relation.APART, "Der Port ist 8080", "Der Port ist 9090 in der Testumgebung"),
]


@every_row(("relation", "old", "new"), RELATIONS)
def test_german_statements_relate(relation: Relation, old: str, new: str) -> None:
    assert compare(read_statement(old), read_statement(new))[0] is relation


def test_both_languages_name_one_slot() -> None:
    assert compare(read_statement("Ich wohne in Graz"), read_statement("I moved to Linz"))[0] is Relation.CHANGED


@pytest.mark.parametrize("text", ["Sie wohnt in Graz", "Weil es regnet", "Er ist der Trainer von Union"])
def test_what_points_elsewhere_is_not_read(text: str) -> None:
    assert read_statement(text) == ()
