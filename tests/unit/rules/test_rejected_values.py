"""Which texts claim a value that a person rejected, however many clauses they spread it over."""

from pathlib import Path

import yaml

from recollect.model.ledger import Address
from recollect.model.vocabulary import KeySource, Namespace, Space
from recollect.rules.identity.rejected_values import Claim, claimed_marks, rejected_marks
from recollect.rules.identity.restatements import MAX_RESTATED, restate
from rows import every_row

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases/identity/rejected_restated.yaml").read_text("utf-8"))


def claim(text: str, space: Space = Space.USER) -> Claim:
    address = Address("default", Namespace.PROD, space, "ana")
    return Claim(address, text, "World-Fact-General-A", KeySource.FALLBACK)


def claims(text: str, rejected: str, space: Space = Space.USER) -> bool:
    return not rejected_marks(claim(rejected, space), {}).isdisjoint(claimed_marks(claim(text, space), {}))


@every_row("rejected, text", [(one["rejected"], text) for one in CASES for text in one["refused"]])
def test_a_text_claims_what_its_clauses_say_together(rejected: str, text: str) -> None:
    assert claims(text, rejected)


@every_row("rejected, text", [(one["rejected"], text) for one in CASES for text in one["kept"]])
def test_a_text_that_names_the_same_things_may_claim_something_else(rejected: str, text: str) -> None:
    assert not claims(text, rejected)


@every_row(
    "text",
    [
        "The sister is called Lea.",
        "She is called Lea.",
        "Her name is Lea",
        "Lea is her name",
        "Sister: Lea",
        "Lea is the sister.",
    ],
)
def test_a_text_that_points_to_an_earlier_one_is_about_the_person_in_their_own_memory(text: str) -> None:
    rejected = "Ana's sister is called Lea"
    assert claims(text, rejected) and not claims(text.replace("Lea", "Mia"), rejected)
    assert not claims(text, rejected, Space.PROJECT), "a project is nobody's own"


@every_row(
    "rejected",
    [
        "I have a sister. She is called Lea.",
        "Ana has a sister whose name is Lea",
        "Ana has a sister. The sister is called Lea.",
    ],
)
def test_what_is_rejected_may_be_said_over_several_clauses_too(rejected: str) -> None:
    assert claims("Ana's sister is called Lea", rejected)
    assert not claims("Ana has a sister", rejected) and not claims("Ana has a sister called Mia", rejected)


def test_padding_does_not_hide_a_claim_and_the_work_is_bounded() -> None:
    padding = "Ben met Kim in Bergen, who has a dog. It is called Rex. " * 12
    assert claims(padding + "Ana has a sister. She is called Lea.", "Ana's sister is called Lea")
    assert len(list(restate("Ana met Kim and her friend, who has a dog. She likes the dog. " * 150))) <= MAX_RESTATED
