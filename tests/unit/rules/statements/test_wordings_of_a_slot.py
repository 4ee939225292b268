"""One slot in the wordings that grammar allows, and look-alike statements of which both stay true."""

from itertools import pairwise
from pathlib import Path

import yaml

from recollect.rules.statements import Relation, changes_in_same_words, compare, read_statement

CASES = Path(__file__).parents[3] / "cases" / "identity"

CHANGED = """
The treasurer of Holm Choir is Rev. Edwin Shaw. | The treasurer of Holm Choir is Rev. Paula Reck.
The toll for the Varn bridge is 4 euros. | The toll for the Varn bridge is 5 pounds.
The notice period for the lease is a month. | The notice period for the lease is six weeks.
The most popular dish at Bistro Lune is the onion soup. | The most popular dish at Bistro Lune is the plum tart.
The fence of the school is dove grey. | The fence of the school is off-white.
Ottilie's main hobby is bird watching. | Ottilie's main hobby is knitting.
The ladder is kept behind the shed. | The ladder is kept in the space under the stairs.
The home address of Felix is 14 Mill Lane. | The home address of Felix is Rosenweg 7.
The disk is encrypted with Serpent. | The disk is encrypted with Camellia.
Ottilie does the weekly shop at Fairmart. | Ottilie does the weekly shop at the village shop.
The instrument Ottilie is learning is the harp. | The instrument Ottilie is learning is the oboe.
Ottilie works as a plumber. | Ottilie works as a florist.
The captain of the Otters is Rosa Dahl. | Nils Aker captains the Otters.
The captain of the Otters is Rosa Dahl. | The Otters are now captained by Nils Aker.
The supplier of the flour is Hadley Mills. | Oakstone supplies the flour.
The warden of Varn Castle is Rosa Dahl. | Nils Aker was sworn in as warden of Varn Castle in place of Rosa Dahl.
The warden of Varn Castle is Rosa Dahl. | Nils Aker took over from Rosa Dahl as warden of Varn Castle.
The warden of Varn Castle is Rosa Dahl. | Varn Castle has found a new warden, Nils Aker.
The product owner of the wizard is Rosa Dahl. | Nils Aker took over the wizard from Rosa Dahl as product owner.
The seat of Varn County is Holm. | Parliament made Tarn the seat of Varn County.
Ottilie's code editor is Kate. | Ottilie has left Kate for Zed.
The default timeout of the importer is 20 seconds. | I changed the timeout of the importer from 20 seconds to 3 minutes.
Ottilie is learning Hindi. | Ottilie is learning Welsh instead of Hindi.
The base image of the worker is node:20-slim. | The worker uses wolfi as base image.
The current song of the choir is The Lark of Varn. | The current song of the choir is Nightfall.
The state of batch 4471 is on pause. | The state of batch 4471 is in transit.
A day pass for Varn Castle is 12 euros. | A day pass for Varn Castle is 14 euros.
Ottilie works as a cook at Bistro Lune. | Ottilie works as head chef at Bistro Lune.
Ottilie plays the position of forward. | Ottilie plays the position of goaltender.
Ottilie is a citizen of United States of America. | Ottilie is a citizen of South Africa.
The firm that produced the harp is Hadley. | The firm that produced the harp is Oakstone.
"""

NOT_CHANGED = """
Ottilie has harp training on Tuesday. | Ottilie has harp training on Friday.
Ottilie works as a cook at Bistro Lune. | Ottilie works as a part-time teacher at Bistro Lune.
Ottilie works as a cook at Bistro Lune. | Ottilie works as a teacher at Tarn School.
Ottilie works as a nurse. | Ottilie works as a volunteer firefighter.
A new book of the club is Nightfall. | A new book of the club is The Lark of Varn.
"""


def test_another_value_of_a_slot_meets_the_old_one_in_other_words() -> None:
    for old, new in (line.split(" | ") for line in CHANGED.strip().splitlines()):
        relation, former, later = compare(read_statement(old), read_statement(new))
        assert relation is Relation.CHANGED and former is not None and later is not None, (old, new)
        found = former.name == later.name or former.slot == later.slot or former.subject_value == later.subject_value
        assert found, (old, new)


def test_what_there_may_be_two_of_is_not_changed() -> None:
    for old, new in (line.split(" | ") for line in NOT_CHANGED.strip().splitlines()):
        assert compare(read_statement(old), read_statement(new))[0] in (Relation.APART, Relation.CONTESTED), (old, new)


def test_look_alike_statements_stay_apart_in_both_orders() -> None:
    names = ("fifth_apart", "sixth_apart", "seventh_apart_a", "seventh_apart_b", "eighth_apart", "ninth_apart")
    rows = [row for name in names for row in yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))]
    for row in rows:
        for old, new in ((row["a"], row["b"]), (row["b"], row["a"])):
            relation = compare(read_statement(old), read_statement(new))[0]
            assert relation in (Relation.APART, Relation.CONTESTED), (old, new)


def test_what_has_several_values_is_never_taken_for_a_slot() -> None:
    for name in ("sixth_slots_a", "sixth_slots_b", "seventh_slots_a", "seventh_slots_b", "eighth_slots", "ninth_slots"):
        relations = yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))["relations"]
        for relation in (one for one in relations if not one["single"]):
            for template in relation["templates"]:
                told = [template.format(S=relation["subjects"][0], V=value) for value in relation["values"]]
                for old, new in pairwise(read_statement(f"{text[0].upper()}{text[1:]}") for text in told):
                    assert compare(old, new)[0] in (Relation.APART, Relation.CONTESTED), (relation["name"], old, new)


SAME_WORDS = """
The director of Iron Meadow is Marcus Pell. | The director of Iron Meadow is Jun Hasegawa.
URL of our wiki: https://corvid.example.org | URL of our wiki: 10.0.4.17:8080
The founding year of the museum is 1874. | The founding year of the museum is 1902.
Tobias is the on-call engineer for site reliability. | Wei is the on-call engineer for site reliability.
"""

OTHER_SLOTS = """
The quota is 100 calls per day. | The quota is 10 calls per minute.
Mr. Holt teaches 5a in biology. | Mr. Holt teaches 6c in biology.
The invoice renderer depends on libxml2. | The invoice renderer depends on numpy.
User lives in Lisbon. | User lives in Alfama.
The director of Iron Meadow is Marcus Pell. | The director of Iron Meadow is not Marcus Pell.
The director of Iron Meadow is Marcus Pell. | The director of Iron Meadow is Marcus Pell.
The director of Iron Meadow is Marcus Pell. | The producer of Iron Meadow is Jun Hasegawa.
The twins' party is at the zoo. | The twins' party is at 3 pm.
The director of Iron Meadow is Marcus Pell. | Is Jun Hasegawa the director?
The deadline is Friday. | The deadline is 17:00.
Deadline: Friday | Deadline: tight
My shift is Monday. | My shift is 9:00.
My class is Monday. | My class is Yoga.
My customer is Acme. | My customer is 7-Eleven.
Medication: Aspirin | Medication: 5 mg
Pet: Rex | Pet: 5 years
The password policy is strict. | The password policy is 12 characters.
The database of the shop is PostgreSQL. | The database of the shop is 40GB.
The mayor of Holm is Rosa Dahl. | The mayor of Holm is 48.
The mayor of Holm is Rosa Dahl. | The mayor of Holm is a lawyer.
The mayor of Holm is Rosa Dahl. | The mayor of Holm is injured.
Ana's husband is Tom. | Ana's husband is the Mayor.
"""


def _same_words(old: str, new: str) -> bool:
    return changes_in_same_words((old, read_statement(old)), (new, read_statement(new)))


def test_the_words_around_a_value_settle_what_one_of_two_statements_is_misread_as() -> None:
    for old, new in (line.split(" | ") for line in SAME_WORDS.strip().splitlines()):
        assert _same_words(old, new) and _same_words(new, old), (old, new)


def test_the_same_words_around_another_thing_settle_nothing() -> None:
    for old, new in (line.split(" | ") for line in OTHER_SLOTS.strip().splitlines()):
        assert not _same_words(old, new) and not _same_words(new, old), (old, new)
    names = (
        "third_apart",
        "fourth_apart",
        "fifth_apart",
        "sixth_apart",
        "seventh_apart_a",
        "seventh_apart_b",
        "eighth_apart",
        "ninth_apart",
    )
    rows = [row for name in names for row in yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))]
    assert [row for row in rows if _same_words(row["a"], row["b"]) or _same_words(row["b"], row["a"])] == []
